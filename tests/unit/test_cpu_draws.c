/* test_cpu_draws.c - predictions by draws of dropout, and what of their uncertainty is the network's own: against the
   moments of the single draws, for every head; NOMU's part; open predictors; networks without dropout. */
#include "backends/cpu/cpu.c"

#include "cpu_training.h"
#include "golden.h"

enum { DRAWS = 23, NUMBERS = 3 * HELD };

/* A short training with much dropout. */
static struct setting *begin_draws(enum tutti_op head) {
  struct setting *s = begin(head);
  uint32_t layer;
  tutti_network_destroy(s->network);
  OK(tutti_network_create(s->context, s->task.input, &s->network));
  OK(tutti_network_add_dense(s->context, s->network, NULL, 0, 24, TUTTI_ACTIVATION_RELU, &layer));
  OK(tutti_network_add_dropout(s->context, s->network, NULL, layer, 0.3, &layer));
  OK(tutti_network_add_dense(s->context, s->network, NULL, layer, 20, TUTTI_ACTIVATION_RELU, &layer));
  OK(tutti_network_add_dropout(s->context, s->network, NULL, layer, 0.3, &layer));
  OK(tutti_network_add_head(s->context, s->network, layer, &s->task));
  s->job.network = s->network;
  s->values->epochs = 5;
  train(s);
  assert_int_equal(s->outcome.state, TUTTI_STATE_FINISHED);
  return s;
}

static double entropy(size_t classes, const double *p) {
  double sum = 0;
  for (size_t c = 0; c < classes; c++)
    sum -= p[c] * log(p[c]);
  return sum;
}

/* The draws one by one, from an open predictor: their predictions and, of head-nomu, its own parts. */
static float *single_draws(struct setting *s, float *parts) {
  size_t width = tutti_predictions_width(s->task.kind, s->task.outputs);
  float *all = malloc(DRAWS * HELD * width * sizeof *all);
  void *predictor;
  OK(cpu_ops.open(s->backend, s->context, &s->job, s->outcome.weights, 16, &predictor));
  for (uint64_t draw = 0; draw < DRAWS; draw++) {
    struct tutti_query query = {.size = sizeof query,
                                .rows = HELD,
                                .inputs = tutti_split_inputs(s->validation),
                                .drop = true,
                                .seed = s->job.seed,
                                .draw = draw,
                                .epistemic = parts + draw * HELD};
    OK(cpu_ops.ask(s->backend, s->context, predictor, &query, all + draw * HELD * width));
  }
  cpu_ops.close(s->backend, predictor);
  return all;
}

/* Mean, variance and own part of row i over the draws, by the law of total variance with 1 / DRAWS. */
static void moments(const struct setting *s, const float *all, const float *parts, size_t i, double *mean,
                    double *variance, double *own) {
  double square = 0, noise = 0, inner = 0;
  *mean = 0;
  for (size_t d = 0; d < DRAWS; d++) {
    const float *one = all + (d * HELD + i) * 2;
    *mean += (double)one[0] / DRAWS;
    noise += (s->task.head == TUTTI_OP_HEAD_LINEAR ? 0 : (double)one[1]) / DRAWS;
    inner += (double)parts[d * HELD + i] / DRAWS;
  }
  for (size_t d = 0; d < DRAWS; d++)
    square += pow((double)all[(d * HELD + i) * 2] - *mean, 2) / DRAWS;
  *variance = noise + square;
  *own = inner + square;
}

static void test_regression(void **state) {
  (void)state;
  static const enum tutti_op heads[] = {TUTTI_OP_HEAD_GAUSSIAN, TUTTI_OP_HEAD_LINEAR, TUTTI_OP_HEAD_NOMU};
  for (size_t h = 0; h < 3; h++) {
    struct setting *s = begin_draws(heads[h]);
    float parts[DRAWS * HELD], out[NUMBERS], own[HELD], again[NUMBERS];
    float *all = single_draws(s, parts);
    s->values->prediction_draws = DRAWS;
    assert_true(cpu_ops.tells_epistemic(s->backend, &s->job));
    OK(cpu_ops.predict_parts(s->backend, s->context, &s->job, s->outcome.weights, s->validation, out, own));
    OK(cpu_ops.predict(s->backend, s->context, &s->job, s->outcome.weights, s->validation, again));
    assert_memory_equal(out, again, 2 * HELD * sizeof *out);
    double spread = 0;
    for (size_t i = 0; i < HELD; i++) {
      double mean, variance, part;
      moments(s, all, parts, i, &mean, &variance, &part);
      assert_close((double)out[2 * i], mean, 1e-5, 1e-6);
      assert_close((double)out[2 * i + 1], variance, 1e-5, 1e-7);
      assert_close((double)own[i], part, 1e-5, 1e-7);
      assert_true(own[i] <= out[2 * i + 1]);
      spread += part / HELD;
    }
    assert_true(spread > 1e-4); /* the draws differ */
    free(all);
    end(s);
  }
}

static void test_classification(void **state) {
  (void)state;
  struct setting *s = begin_draws(TUTTI_OP_HEAD_SOFTMAX);
  float parts[DRAWS * HELD], out[NUMBERS], own[HELD];
  float *all = single_draws(s, parts);
  s->values->prediction_draws = DRAWS;
  OK(cpu_ops.predict_parts(s->backend, s->context, &s->job, s->outcome.weights, s->validation, out, own));
  for (size_t i = 0; i < HELD; i++) {
    double mean[3] = {0}, expected = 0;
    for (size_t d = 0; d < DRAWS; d++) {
      double p[3];
      for (size_t c = 0; c < 3; c++) {
        p[c] = (double)all[(d * HELD + i) * 3 + c];
        mean[c] += p[c] / DRAWS;
      }
      expected += entropy(3, p) / DRAWS;
    }
    for (size_t c = 0; c < 3; c++)
      assert_close((double)out[3 * i + c], mean[c], 1e-5, 1e-7);
    assert_close((double)own[i], entropy(3, mean) - expected, 1e-4, 1e-6);
  }
  free(all);
  end(s);
}

/* An open predictor answers as for a split, with draws and without, and tells the same parts; nothing is allocated. */
static void test_open(void **state) {
  (void)state;
  static const enum tutti_op heads[] = {TUTTI_OP_HEAD_GAUSSIAN, TUTTI_OP_HEAD_NOMU, TUTTI_OP_HEAD_SOFTMAX};
  for (size_t k = 0; k < 6; k++) {
    struct setting *s = begin_draws(heads[k / 2]);
    size_t width = tutti_predictions_width(s->task.kind, s->task.outputs);
    float out[NUMBERS], own[HELD], asked[NUMBERS], told[HELD];
    void *predictor;
    s->values->prediction_draws = k % 2 ? DRAWS : 0;
    assert_int_equal(cpu_ops.tells_epistemic(s->backend, &s->job), k % 2 || heads[k / 2] == TUTTI_OP_HEAD_NOMU);
    OK(cpu_ops.predict_parts(s->backend, s->context, &s->job, s->outcome.weights, s->validation, out, own));
    OK(cpu_ops.open(s->backend, s->context, &s->job, s->outcome.weights, 16, &predictor));
    struct tutti_query query = {
        .size = sizeof query, .rows = HELD, .inputs = tutti_split_inputs(s->validation), .epistemic = told};
    size_t before = allocations;
    OK(cpu_ops.ask(s->backend, s->context, predictor, &query, asked));
    assert_int_equal(allocations, before);
    for (size_t i = 0; i < HELD * width; i++)
      assert_close((double)asked[i], (double)out[i], 1e-5, 1e-6);
    for (size_t i = 0; i < HELD; i++)
      assert_close((double)told[i], (double)own[i], 1e-4, 1e-6);
    /* A query of a version without parts. */
    query.size = offsetof(struct tutti_query, epistemic);
    memset(told, 7, sizeof told);
    OK(cpu_ops.ask(s->backend, s->context, predictor, &query, asked));
    assert_memory_equal(&told[0], &told[1], sizeof told - sizeof told[0]);
    cpu_ops.close(s->backend, predictor);
    end(s);
  }
}

/* All of NOMU's uncertainty is its own; with noise, the noise is not. */
static void test_nomu_parts(void **state) {
  (void)state;
  for (int noise = TUTTI_NOMU_NOISE_NONE; noise <= TUTTI_NOMU_NOISE_KNOWN; noise++) {
    struct setting *s = begin(TUTTI_OP_HEAD_LINEAR);
    float out[NUMBERS], own[HELD];
    s->task.head = TUTTI_OP_HEAD_NOMU;
    s->task.head_attributes = TUTTI_ATTRIBUTES({"noise", noise}, {"known_noise", 0.5}, {"floor", 0.25});
    plain_network(s, 2, 16, TUTTI_ACTIVATION_RELU);
    train(s);
    OK(cpu_ops.predict_parts(s->backend, s->context, &s->job, s->outcome.weights, s->validation, out, own));
    for (size_t i = 0; i < HELD; i++) {
      double rest = (double)out[2 * i + 1] - (double)own[i];
      assert_true(own[i] > 0);
      if (noise == TUTTI_NOMU_NOISE_NONE)
        assert_true(rest == 0);
      else if (noise == TUTTI_NOMU_NOISE_KNOWN)
        assert_close(rest, 0.25, 1e-5, 0);
      else
        assert_true(rest > 0.0625 * 0.999);
    }
    end(s);
  }
}

static void test_no_dropout(void **state) {
  (void)state;
  struct setting *s = begin(TUTTI_OP_HEAD_GAUSSIAN);
  plain_network(s, 2, 16, TUTTI_ACTIVATION_RELU);
  s->values->prediction_draws = 5;
  expect(s, cpu_ops.check(s->backend, s->context, &s->job), TUTTI_ERROR_USAGE,
         "backend.prediction_draws: predictions are to be 5 draws of dropout, and this network has none");
  end(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_regression), cmocka_unit_test(test_classification), cmocka_unit_test(test_open),
      cmocka_unit_test(test_nomu_parts), cmocka_unit_test(test_no_dropout),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
