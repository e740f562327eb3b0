/* test_cpu_orders.c - what is drawn anew and what is not while backend cpu trains: the order of rows, masks of
   dropout; and that the kept weights are those of one epoch, running statistics included. */
#include "backends/cpu/cpu.c"

#include "backends/cpu/train_impl.h"
#include "cpu_training.h"

static const struct cpu_kernels *kernels_of(const struct setting *s) {
  return ((const struct cpu_backend *)s->backend)->kernels;
}

/* --- the order of rows --- */

static void every_epoch_has_its_own_order(void **state) {
  enum { EPOCHS = 4 };
  uint32_t orders[EPOCHS][ROWS];
  struct training t;
  (void)state;
  struct setting *s = begin(TUTTI_OP_HEAD_LINEAR);
  OK(backend_cpu_training_create(s->context, kernels_of(s), &s->job, true, &t));
  for (uint32_t epoch = 0; epoch < EPOCHS; epoch++) {
    bool seen[ROWS] = {false};
    backend_cpu_shuffle_rows(&t, epoch + 1);
    memcpy(orders[epoch], t.order, sizeof orders[epoch]);
    for (size_t i = 0; i < ROWS; i++) {
      assert_true(t.order[i] < ROWS && !seen[t.order[i]]);
      seen[t.order[i]] = true;
    }
    for (uint32_t other = 0; other < epoch; other++)
      assert_memory_not_equal(orders[epoch], orders[other], sizeof orders[epoch]);
  }
  backend_cpu_shuffle_rows(&t, 2); /* whatever came before */
  assert_memory_equal(orders[1], t.order, sizeof orders[1]);
  backend_cpu_training_destroy(&t);
  end(s);
}

/* Mini-batches are of the trial, unless the recipe says that all trials share them. */
static void orders_have_the_key_that_the_recipe_says(void **state) {
  uint32_t order[ROWS];
  struct training t;
  (void)state;
  struct setting *s = begin(TUTTI_OP_HEAD_LINEAR);
  for (int shuffle = CPU_SHUFFLE_TRIAL; shuffle <= CPU_SHUFFLE_RUN; shuffle++)
    for (int changed = 0; changed < 3; changed++) { /* nothing, the run's seed, the trial's seed */
      s->values->shuffle = shuffle;
      s->job.run_seed = 2 + (changed == 1);
      s->job.seed = 3 + (changed == 2);
      OK(backend_cpu_training_create(s->context, kernels_of(s), &s->job, true, &t));
      backend_cpu_shuffle_rows(&t, 1);
      if (changed == 0)
        memcpy(order, t.order, sizeof order);
      bool same = memcmp(order, t.order, sizeof order) == 0;
      assert_int_equal(same, changed == 0 || changed == (shuffle == CPU_SHUFFLE_RUN ? 2 : 1));
      backend_cpu_training_destroy(&t);
    }
  end(s);
}

/* --- dropout --- */

/* A hidden layer, and two layers of dropout one after the other. */
static void network_with_two(struct setting *s, double rate) {
  uint32_t layer;
  tutti_network_destroy(s->network);
  OK(tutti_network_create(s->context, s->task.input, &s->network));
  OK(tutti_network_add_dense(s->context, s->network, NULL, 0, 64, TUTTI_ACTIVATION_TANH, &layer));
  OK(tutti_network_add_dropout(s->context, s->network, "first", layer, rate, &layer));
  OK(tutti_network_add_dropout(s->context, s->network, "second", layer, rate, &layer));
  OK(tutti_network_add_head(s->context, s->network, layer, &s->task));
  s->job.network = s->network;
}

/* The share of zeros in a mask, whose other entries make up for them. */
static double zeros_of(const float *mask, size_t count, double rate) {
  size_t zeros = 0;
  for (size_t i = 0; i < count; i++) {
    zeros += mask[i] == 0;
    assert_true(mask[i] == 0 || fabs((double)mask[i] - 1 / (1 - rate)) < 1e-6);
  }
  return (double)zeros / (double)count;
}

static size_t differences(const float *a, const float *b, size_t count) {
  size_t differ = 0;
  for (size_t i = 0; i < count; i++)
    differ += a[i] != b[i];
  return differ;
}

static void masks_differ_between_layers_steps_and_rows(void **state) {
  enum { UNITS = 64, BATCH = 32, COUNT = UNITS * BATCH };
  static const double rate = 0.3;
  float kept[2][COUNT];
  const float *masks[2], *values[2];
  struct training t;
  size_t found = 0;
  (void)state;
  struct setting *s = begin(TUTTI_OP_HEAD_LINEAR);
  network_with_two(s, rate);
  OK(backend_cpu_training_create(s->context, kernels_of(s), &s->job, true, &t));
  assert_int_equal(t.batch, BATCH);
  for (size_t i = 0; i < tutti_network_layers(s->network); i++)
    if (t.plan->nodes[i].op == TUTTI_OP_DROPOUT) {
      values[found % 2] = t.plan->nodes[i].value;
      masks[found++ % 2] = t.plan->nodes[i].mask;
    }
  assert_int_equal(found, 2);
  backend_cpu_shuffle_rows(&t, 1);
  for (uint64_t step = 0; step < 2; step++) {
    t.draws.step = step;
    (void)backend_cpu_rows_gradient(&t, BATCH, t.order, &t.draws);
    for (int m = 0; m < 2; m++) {
      /* 0.3 of 2048, give or take six deviations */
      assert_true(fabs(zeros_of(masks[m], COUNT, rate) - rate) < 6 * sqrt(rate * (1 - rate) / COUNT));
      for (size_t row = 1; row < BATCH; row++)
        assert_true(differences(masks[m], masks[m] + row * UNITS, UNITS) > 0);
      for (size_t i = 0; i < COUNT; i++) /* each row has its own */
        assert_true(masks[m][i] != 0 || values[m][i] == 0);
    }
    /* Independent masks differ in 2 * 0.3 * 0.7 of their entries. */
    double differ = (double)differences(masks[0], masks[1], COUNT) / COUNT;
    assert_true(fabs(differ - 2 * rate * (1 - rate)) < 0.07);
    for (int m = 0; m < 2 && step == 1; m++) {
      differ = (double)differences(masks[m], kept[m], COUNT) / COUNT;
      assert_true(fabs(differ - 2 * rate * (1 - rate)) < 0.07);
    }
    for (int m = 0; m < 2; m++)
      memcpy(kept[m], masks[m], sizeof kept[m]);
  }
  t.draws.step = 0; /* the same draws again: the same masks */
  (void)backend_cpu_rows_gradient(&t, BATCH, t.order, &t.draws);
  assert_true(differences(masks[0], kept[0], COUNT) > 0);
  t.draws.step = 1;
  (void)backend_cpu_rows_gradient(&t, BATCH, t.order, &t.draws);
  assert_int_equal(differences(masks[0], kept[0], COUNT), 0);
  assert_int_equal(differences(masks[1], kept[1], COUNT), 0);
  backend_cpu_training_destroy(&t);
  end(s);
}

/* A draw of a predictor is one function: the same for equal rows, and another for another draw. */
/* With steps that change no weight, the epoch's loss is that of its batches, each with the masks of its own step. */
static void masks_are_drawn_anew_in_every_step(void **state) {
  struct training t;
  double total = 0;
  (void)state;
  struct setting *s = begin(TUTTI_OP_HEAD_LINEAR);
  network_with_two(s, 0.5);
  s->values->learning_rate = 1e-30;
  s->values->epochs = 1;
  train(s);
  OK(backend_cpu_training_create(s->context, kernels_of(s), &s->job, true, &t));
  assert_true(t.batch < ROWS / 3); /* or nothing is tested */
  backend_cpu_shuffle_rows(&t, 1);
  for (size_t first = 0; first < ROWS; first += t.batch, t.draws.step++) {
    size_t count = ROWS - first < t.batch ? ROWS - first : t.batch;
    total += (double)count * backend_cpu_rows_gradient(&t, count, t.order + first, &t.draws);
  }
  assert_true(fabs(total / ROWS - s->epochs[0].train_loss) < 1e-9 * s->epochs[0].train_loss);
  backend_cpu_training_destroy(&t);
  end(s);
}

/* Along the gradient the loss, with the same masks, rises as the gradient's length says. */
static void the_gradient_goes_through_the_masks(void **state) {
  enum { BATCH = 32 };
  struct training t;
  double square = 0, losses[2];
  (void)state;
  struct setting *s = begin(TUTTI_OP_HEAD_LINEAR);
  network_with_two(s, 0.5);
  OK(backend_cpu_training_create(s->context, kernels_of(s), &s->job, true, &t));
  backend_cpu_shuffle_rows(&t, 1);
  (void)backend_cpu_rows_gradient(&t, BATCH, t.order, &t.draws);
  size_t count = t.plan->trained;
  float *gradient = malloc(count * sizeof *gradient), *weights = malloc(count * sizeof *weights);
  assert_true(gradient && weights);
  memcpy(gradient, t.plan->gradients, count * sizeof *gradient);
  memcpy(weights, t.plan->weights, count * sizeof *weights);
  for (size_t i = 0; i < count; i++)
    square += (double)gradient[i] * (double)gradient[i];
  double step = 1e-2 / sqrt(square);
  for (int side = 0; side < 2; side++) {
    for (size_t i = 0; i < count; i++)
      t.plan->weights[i] = (float)((double)weights[i] + (side ? step : -step) * (double)gradient[i]);
    losses[side] = backend_cpu_rows_gradient(&t, BATCH, t.order, &t.draws);
  }
  double slope = (losses[1] - losses[0]) / (2 * step);
  assert_true(fabs(slope - square) < 0.01 * square);
  free(gradient);
  free(weights);
  backend_cpu_training_destroy(&t);
  end(s);
}

static void a_predictor_has_other_masks_in_other_draws(void **state) {
  enum { SAME = 5 };
  float inputs[SAME][FEATURES], out[3][SAME][2];
  struct cpu_predictor *predictor;
  (void)state;
  struct setting *s = begin(TUTTI_OP_HEAD_LINEAR);
  network_with_two(s, 0.5);
  s->values->epochs = 2;
  train(s);
  for (int i = 0; i < SAME; i++)
    for (int f = 0; f < FEATURES; f++)
      inputs[i][f] = 0.3f * (float)f - 0.2f;
  OK(backend_cpu_open(s->context, kernels_of(s), &s->job, s->outcome.weights, SAME, &predictor));
  for (int i = 0; i < 3; i++) { /* draws 0, 1, 0 */
    struct tutti_query query = {
        .size = sizeof query, .rows = SAME, .inputs = inputs[0], .drop = true, .seed = 9, .draw = (uint64_t)(i % 2)};
    OK(backend_cpu_ask(NULL, s->context, predictor, &query, out[i][0]));
    for (int r = 1; r < SAME; r++)
      assert_true(out[i][r][0] == out[i][0][0]);
  }
  assert_true(out[0][0][0] != out[1][0][0]);
  assert_true(out[0][0][0] == out[2][0][0]);
  backend_cpu_close(NULL, predictor);
  end(s);
}

/* --- the epoch that is kept --- */

/* With batch norm, a network is its weights and its running statistics: only together do they give the loss that was
   best. */
static void what_is_kept_gives_the_loss_that_was_best(void **state) {
  float predicted[HELD][2], targets[HELD];
  (void)state;
  for (int keep = CPU_KEEP_BEST; keep <= CPU_KEEP_LAST; keep++) {
    struct setting *s = begin(TUTTI_OP_HEAD_LINEAR);
    uint32_t layer;
    tutti_network_destroy(s->network);
    OK(tutti_network_create(s->context, s->task.input, &s->network));
    OK(tutti_network_add_dense(s->context, s->network, NULL, 0, 24, TUTTI_ACTIVATION_RELU, &layer));
    OK(tutti_network_add(s->context, s->network, TUTTI_OP_BATCH_NORM, NULL, 1, &layer,
                         TUTTI_ATTRIBUTES({"momentum", 0.3}), &layer));
    OK(tutti_network_add_head(s->context, s->network, layer, &s->task));
    s->job.network = s->network;
    s->values->learning_rate = 0.1;
    s->values->epochs = 40;
    s->values->keep = keep;
    train(s);
    uint32_t kept = s->outcome.best_epoch;
    assert_true(keep == CPU_KEEP_LAST ? kept == 40 : kept > 1 && kept < 40); /* or nothing is tested */
    for (size_t e = 0; e < s->seen && keep == CPU_KEEP_BEST; e++)
      assert_true(s->epochs[e].validation_loss >= s->epochs[kept - 1].validation_loss);
    OK(cpu_ops.predict(s->backend, s->context, &s->job, s->outcome.weights, s->validation, predicted[0]));
    memcpy(targets, tutti_split_targets(s->validation), sizeof targets);
    double loss = 0;
    for (size_t r = 0; r < HELD; r++)
      loss += pow((double)predicted[r][0] - (double)targets[r], 2) / HELD;
    assert_true(fabs(loss - s->epochs[kept - 1].validation_loss) < 1e-5 * loss);
    end(s);
  }
}

/* With full batches a training loss is that of the weights before the step: measured keeps these, best those behind it.
   They are what the training up to the step before ends with. */
static void measured_keeps_the_weights_of_the_best_training_loss(void **state) {
  (void)state;
  struct setting *s = begin(TUTTI_OP_HEAD_LINEAR);
  double loss;
  tutti_tensors *gradient;
  plain_network(s, 2, 16, TUTTI_ACTIVATION_TANH);
  s->job.validation = NULL;
  s->values->batch_size = 0;
  s->values->learning_rate = 0.3;
  s->values->epochs = 40;
  s->values->keep = CPU_KEEP_MEASURED;
  train(s);
  const uint32_t best = s->outcome.best_epoch;
  const double least = s->epochs[best - 1].train_loss;
  assert_true(best > 2 && best < 40); /* or nothing is tested */
  for (size_t e = 0; e < s->seen; e++)
    assert_true(s->epochs[e].train_loss > least || e == best - 1);
  OK(cpu_ops.gradient(s->backend, s->context, &s->job, s->outcome.weights, &loss, &gradient));
  assert_true(fabs(loss - least) < 1e-6 * least);
  tutti_tensors_destroy(gradient);
  s->values->keep = CPU_KEEP_LAST;
  s->values->epochs = (int64_t)best - 1;
  assert_true(trains_the_same(s));
  s->values->epochs = best;
  assert_false(trains_the_same(s));
  s->values->keep = CPU_KEEP_BEST;
  s->values->epochs = 40;
  assert_false(trains_the_same(s));
  end(s);
}

/* Where an epoch's loss is of several weights, or of those behind its last step, measured is best. */
static void measured_is_best_elsewhere(void **state) {
  (void)state;
  struct setting *s = begin(TUTTI_OP_HEAD_LINEAR);
  s->values->learning_rate = 0.1;
  for (int i = 0; i < 3; i++) {
    s->job.validation = i == 0 ? s->validation : NULL;
    s->values->batch_size = i == 1 ? 64 : 0;
    s->values->average = i == 2 ? 0.5 : 0;
    s->values->keep = CPU_KEEP_BEST;
    train(s);
    s->values->keep = CPU_KEEP_MEASURED;
    assert_true(trains_the_same(s));
  }
  end(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_epoch_has_its_own_order),
      cmocka_unit_test(orders_have_the_key_that_the_recipe_says),
      cmocka_unit_test(masks_differ_between_layers_steps_and_rows),
      cmocka_unit_test(masks_are_drawn_anew_in_every_step),
      cmocka_unit_test(the_gradient_goes_through_the_masks),
      cmocka_unit_test(a_predictor_has_other_masks_in_other_draws),
      cmocka_unit_test(what_is_kept_gives_the_loss_that_was_best),
      cmocka_unit_test(measured_keeps_the_weights_of_the_best_training_loss),
      cmocka_unit_test(measured_is_best_elsewhere),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
