/* test_cpu_slopes.c - gradients of an open predictor's answers in its inputs, by finite differences: mixtures of draws
   of dropout for every head, single draws, NOMU's readouts, bounds and noise; what is allocated, and by whom. What
   every op gives is checked by tutti-conform. */
#include "backends/cpu/cpu.c"

#include "cpu_training.h"
#include "golden.h"

enum { DRAWS = 5, ASKED = 37, MOST = 3 };

/* A predictor of `rows` rows at once, and what of its answers is weighed. */
struct weighed {
  struct setting *s;
  void *predictor;
  struct tutti_query query;
  size_t width, parts;
  float by_out[ASKED * MOST], by_own[ASKED];
};

static void dropping_network(struct setting *s, enum tutti_op head) {
  static const struct tutti_attribute tame[] = {{"stable", true}, {"pi_exp", 0.1}, {"artificial", 50}, {NULL, 0}};
  uint32_t layer;
  tutti_network_destroy(s->network);
  OK(tutti_network_create(s->context, s->task.input, &s->network));
  OK(tutti_network_add_dense(s->context, s->network, NULL, 0, 24, TUTTI_ACTIVATION_GELU, &layer));
  OK(tutti_network_add_dropout(s->context, s->network, NULL, layer, 0.3, &layer));
  OK(tutti_network_add_dense(s->context, s->network, NULL, layer, 20, TUTTI_ACTIVATION_TANH, &layer));
  OK(tutti_network_add_dropout(s->context, s->network, NULL, layer, 0.3, &layer));
  s->task.head_attributes = head == TUTTI_OP_HEAD_NOMU ? tame : NULL;
  OK(tutti_network_add_head(s->context, s->network, layer, &s->task));
  s->job.network = s->network;
}

static void begin_weighed(struct weighed *w, struct setting *s, size_t rows) {
  struct tutti_random random;
  s->values->epochs = 5;
  train(s);
  if (s->outcome.state != TUTTI_STATE_FINISHED)
    fail_msg("head %d: %s", (int)s->task.head, s->outcome.failure);
  bool variance = s->task.head != TUTTI_OP_HEAD_LINEAR || s->values->prediction_draws > 0;
  *w = (struct weighed){.s = s,
                        .query = {.size = sizeof w->query, .inputs = tutti_split_inputs(s->validation)},
                        .width = tutti_predictions_width(s->task.kind, s->task.outputs),
                        .parts = tutti_epistemic_width(s->task.kind, s->task.outputs)};
  tutti_random_init(&random, 3, "weights of answers", 0);
  tutti_random_fill_normal(&random, ASKED * w->width, 0, 1, w->by_out);
  tutti_random_fill_normal(&random, ASKED, 0, 1, w->by_own);
  for (size_t i = 0; i < ASKED && !variance; i++)
    w->by_out[2 * i + 1] = 0;
  OK(cpu_ops.open(s->backend, s->context, &s->job, s->outcome.weights, rows, &w->predictor));
}

static void end_weighed(struct weighed *w) {
  cpu_ops.close(w->s->backend, w->predictor);
  end(w->s);
}

/* The weighed sum of row `row`, asked at x. */
static double sum_at(struct weighed *w, size_t row, const float *x) {
  struct setting *s = w->s;
  float out[MOST], own[1];
  struct tutti_query query = w->query;
  query.rows = 1, query.inputs = x, query.epistemic = own;
  OK(cpu_ops.ask(s->backend, s->context, w->predictor, &query, out));
  double sum = (double)w->by_own[row] * (double)own[0];
  for (size_t i = 0; i < w->width; i++)
    sum += w->by_out[row * w->width + i] == 0 ? 0 : (double)w->by_out[row * w->width + i] * (double)out[i];
  return sum;
}

/* The better of two steps: ReLUs have kinks, and the answers are floats. */
static double difference_at(struct weighed *w, size_t row, size_t k, double slope) {
  double closest = NAN;
  for (float step = 2e-2f; step > 1e-3f; step /= 3) {
    float x[FEATURES];
    memcpy(x, w->query.inputs + row * FEATURES, sizeof x);
    float at = x[k];
    volatile float high = at + step, low = at - step;
    x[k] = high;
    double above = sum_at(w, row, x);
    x[k] = low;
    double difference = (above - sum_at(w, row, x)) / ((double)high - (double)low);
    if (!(fabs(difference - slope) >= fabs(closest - slope)))
      closest = difference;
  }
  return closest;
}

/* Compare the gradients of ASKED rows; the answers are those of `ask`. */
static void check(struct weighed *w) {
  struct setting *s = w->s;
  float out[ASKED * MOST], own[ASKED], gradient[ASKED * FEATURES], asked[ASKED * MOST], told[ASKED];
  struct tutti_slope slope = {
      .size = sizeof slope, .by_out = w->by_out, .by_epistemic = w->by_own, .gradient = gradient};
  struct tutti_query query = w->query;
  double size = 0;
  query.rows = ASKED, query.epistemic = told;
  OK(cpu_ops.ask(s->backend, s->context, w->predictor, &query, asked));
  query.epistemic = own;
  OK(cpu_ops.ask_slope(s->backend, s->context, w->predictor, &query, &slope, out));
  for (size_t i = 0; i < ASKED * w->width; i++)
    if (!isnan(asked[i]))
      assert_close((double)out[i], (double)asked[i], 1e-5, 1e-6);
  for (size_t r = 0; r < ASKED; r++) {
    assert_close((double)own[r], (double)told[r], 1e-4, 1e-6);
    for (size_t k = 0; k < FEATURES; k++) {
      double one = (double)gradient[r * FEATURES + k];
      assert_close(difference_at(w, r, k, one), one, 1e-2, 2e-3);
      size += fabs(one) / (ASKED * FEATURES);
    }
  }
  assert_true(size > 0.02);
}

static void test_mixtures(void **state) {
  (void)state;
  static const enum tutti_op heads[] = {TUTTI_OP_HEAD_GAUSSIAN, TUTTI_OP_HEAD_LINEAR, TUTTI_OP_HEAD_NOMU,
                                        TUTTI_OP_HEAD_SOFTMAX};
  for (size_t h = 0; h < 4; h++)
    for (size_t rows = 1; rows <= 64; rows *= 8) { /* fewer at once, and more, than go backward at once */
      struct setting *s = begin(heads[h]);
      struct weighed w;
      dropping_network(s, heads[h]);
      s->values->prediction_draws = DRAWS;
      begin_weighed(&w, s, rows);
      check(&w);
      w.query.drop = true; /* a single draw, whatever prediction_draws says */
      w.query.seed = 4, w.query.draw = 2;
      memset(w.by_own, 0, sizeof w.by_own);
      if (heads[h] == TUTTI_OP_HEAD_LINEAR)
        for (size_t i = 0; i < ASKED; i++)
          w.by_out[2 * i + 1] = 0;
      check(&w);
      end_weighed(&w);
    }
}

static void test_nomu(void **state) {
  (void)state;
  for (int kind = 0; kind < 7; kind++) {
    struct setting *s = begin(TUTTI_OP_HEAD_LINEAR);
    struct weighed w;
    bool bounds = kind < 3;
    double bound = bounds ? TUTTI_NOMU_BOUNDS_LOWER + kind : TUTTI_NOMU_BOUNDS_SYMMETRIC;
    double noise = bounds ? TUTTI_NOMU_NOISE_NONE : kind < 6 ? kind - 3 : TUTTI_NOMU_NOISE_LEARNT;
    double readout = kind == 6 ? TUTTI_NOMU_READOUT_LINEAR : TUTTI_NOMU_READOUT_EXPONENTIAL;
    s->task.head = TUTTI_OP_HEAD_NOMU;
    s->task.head_attributes = TUTTI_ATTRIBUTES({"bounds", bound}, {"noise", noise}, {"readout", readout}, {"pi_exp", 2},
                                               {"c_exp", 5}, {"artificial", 50});
    plain_network(s, 2, 16, TUTTI_ACTIVATION_TANH);
    begin_weighed(&w, s, 64);
    check(&w);
    end_weighed(&w);
  }
}

/* The first gradient allocates; later ones and answers do not. A question of a version without parts leaves them. */
static void test_allocations(void **state) {
  (void)state;
  struct setting *s = begin(TUTTI_OP_HEAD_GAUSSIAN);
  struct weighed w;
  float out[ASKED * 2], gradient[ASKED * FEATURES], again[ASKED * FEATURES], told[2] = {7, 7};
  plain_network(s, 2, 16, TUTTI_ACTIVATION_RELU);
  begin_weighed(&w, s, 8);
  struct tutti_slope slope = {
      .size = offsetof(struct tutti_slope, gradient) + sizeof slope.gradient, .by_out = w.by_out, .gradient = gradient};
  w.query.rows = ASKED;
  w.query.size = offsetof(struct tutti_query, epistemic);
  w.query.epistemic = told;
  OK(cpu_ops.ask_slope(s->backend, s->context, w.predictor, &w.query, &slope, out));
  size_t before = allocations;
  slope.gradient = again;
  OK(cpu_ops.ask_slope(s->backend, s->context, w.predictor, &w.query, &slope, out));
  OK(cpu_ops.ask(s->backend, s->context, w.predictor, &w.query, out));
  assert_int_equal(allocations, before);
  assert_memory_equal(gradient, again, sizeof gradient);
  assert_true(told[0] == 7 && told[1] == 7);
  end_weighed(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_mixtures),
      cmocka_unit_test(test_nomu),
      cmocka_unit_test(test_allocations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
