/* test_cpu_lbfgs.c - training by L-BFGS on all rows: the optimum that it reaches, L2 layer by layer, how it ends, and
   what it refuses. */
#include "backends/cpu/cpu.c"

#include "cpu_training.h"
#include "golden.h"

enum { MANY = 600 }; /* rows in several blocks, the last one short */

static struct setting *begin_lbfgs(enum tutti_op head) {
  struct setting *s = begin(head);
  train_on(s, make_split(s, "train", MANY));
  s->values->optimiser = CPU_LBFGS;
  s->values->keep = CPU_KEEP_LAST;
  s->values->epochs = 200;
  s->values->learning_rate = 1e9; /* means nothing */
  return s;
}

static const float *tensor(const tutti_tensors *tensors, const char *name) {
  return tutti_tensors_find(tensors, name)->data;
}

/* The objective of what was trained. */
static double objective(struct setting *s, tutti_tensors **gradient) {
  double loss;
  OK(cpu_ops.gradient(s->backend, s->context, &s->job, s->outcome.weights, &loss, gradient));
  return loss;
}

/* --- against Newton's method --- */

enum { CLASSES = 3, WEIGHTS = (FEATURES + 1) * CLASSES };

/* Gaussian elimination of a positive definite matrix: b becomes A^-1 b. */
static void solve(size_t n, double (*a)[WEIGHTS], double *b) {
  for (size_t k = 0; k < n; k++)
    for (size_t i = k + 1; i < n; i++) {
      double factor = a[i][k] / a[k][k];
      for (size_t j = k; j < n; j++)
        a[i][j] -= factor * a[k][j];
      b[i] -= factor * b[k];
    }
  for (size_t k = n; k-- > 0;) {
    for (size_t j = k + 1; j < n; j++)
      b[k] -= a[k][j] * b[j];
    b[k] /= a[k][k];
  }
}

static double input(const tutti_split *split, size_t row, size_t feature) {
  return feature == FEATURES ? 1 : (double)tutti_split_inputs(split)[row * FEATURES + feature];
}

/* Gradient and curvature of mean cross-entropy at w[feature or bias][class]. */
static double cross_entropy(const tutti_split *split, const double *w, double *g, double (*h)[WEIGHTS]) {
  double loss = 0;
  for (size_t r = 0; r < MANY; r++) {
    double p[CLASSES] = {0}, sum = 0;
    size_t label = (size_t)tutti_split_labels(split)[r];
    for (size_t c = 0; c < CLASSES; c++) {
      for (size_t f = 0; f <= FEATURES; f++)
        p[c] += input(split, r, f) * w[f * CLASSES + c];
      sum += p[c] = exp(p[c]);
    }
    loss -= log(p[label] / sum) / MANY;
    for (size_t i = 0; i < WEIGHTS; i++) {
      double x = input(split, r, i / CLASSES) / MANY, pi = p[i % CLASSES] / sum;
      g[i] += x * (pi - (i % CLASSES == label));
      for (size_t j = 0; j < WEIGHTS; j++)
        h[i][j] += x * input(split, r, j / CLASSES) * pi * ((i % CLASSES == j % CLASSES) - p[j % CLASSES] / sum);
    }
  }
  return loss;
}

/* The least of mean cross-entropy + l2 |W|^2, from 0; biases are free, and their sum, which changes nothing, stays
   0. */
static double newton(const tutti_split *split, double l2, double *w) {
  double loss = 0;
  memset(w, 0, WEIGHTS * sizeof *w);
  for (size_t step = 0; step < 30; step++) {
    double g[WEIGHTS] = {0}, h[WEIGHTS][WEIGHTS] = {{0}};
    loss = cross_entropy(split, w, g, h);
    for (size_t i = 0; i < FEATURES * CLASSES; i++) {
      loss += l2 * w[i] * w[i];
      g[i] += 2 * l2 * w[i];
      h[i][i] += 2 * l2;
    }
    for (size_t i = FEATURES * CLASSES; i < WEIGHTS; i++)
      for (size_t j = FEATURES * CLASSES; j < WEIGHTS; j++)
        h[i][j] += 1;
    solve(WEIGHTS, h, g);
    for (size_t i = 0; i < WEIGHTS; i++)
      w[i] -= g[i];
  }
  return loss;
}

static void test_softmax_optimum(void **state) {
  (void)state;
  struct setting *s = begin_lbfgs(TUTTI_OP_HEAD_SOFTMAX);
  const double l2s[] = {0.001, 0.01, 1};
  for (size_t k = 0; k < 3; k++) {
    double want[WEIGHTS], least = newton(s->train, l2s[k], want);
    plain_network(s, 0, 0, TUTTI_ACTIVATION_LINEAR);
    OK(tutti_network_set_l2(s->context, s->network, "output", l2s[k]));
    s->values->lbfgs_tolerance = 1e-6;
    train(s);
    assert_int_equal(s->outcome.state, TUTTI_STATE_FINISHED);
    assert_true(s->outcome.epochs < 200); /* it knew when to stop */
    const float *w = tensor(s->outcome.weights, "output/weight"), *b = tensor(s->outcome.weights, "output/bias");
    double middle = (double)(b[0] + b[1] + b[2]) / 3;
    for (size_t i = 0; i < WEIGHTS; i++) {
      bool weight = i < FEATURES * CLASSES;
      assert_close(weight ? (double)w[i] : (double)b[i % CLASSES] - middle, want[i], 0, 5e-4);
    }
    tutti_tensors *gradient;
    assert_close(objective(s, &gradient), least, 1e-7, 0);
    tutti_tensors_destroy(gradient);
  }
  end(s);
}

/* --- against itself --- */

/* Where the objective is flat, each layer's weights stand where the loss pulls as hard as their own L2. */
static void test_l2_of_each_layer(void **state) {
  (void)state;
  struct setting *s = begin_lbfgs(TUTTI_OP_HEAD_LINEAR);
  const char *const labels[] = {"hidden0", "hidden1", "output"};
  const double l2s[] = {1e-3, 3e-3, 1e-2};
  char name[32];
  plain_network(s, 2, 6, TUTTI_ACTIVATION_TANH);
  for (size_t k = 0; k < 3; k++)
    OK(tutti_network_set_l2(s->context, s->network, labels[k], l2s[k]));
  s->values->epochs = 3000;
  s->values->lbfgs_tolerance = 1e-6;
  s->job.progress = NULL;
  train(s);
  assert_int_equal(s->outcome.state, TUTTI_STATE_FINISHED);
  for (size_t k = 0; k < 3; k++)
    OK(tutti_network_set_l2(s->context, s->network, labels[k], 0));
  tutti_tensors *gradient;
  (void)objective(s, &gradient);
  for (size_t k = 0; k < 3; k++) {
    double pull = 0;
    (void)snprintf(name, sizeof name, "%s/weight", labels[k]);
    const struct tutti_tensor *g = tutti_tensors_find(gradient, name);
    const float *w = tensor(s->outcome.weights, name);
    for (size_t i = 0; i < g->bytes / sizeof(float); i++) {
      assert_close((double)((float *)g->data)[i], -2 * l2s[k] * (double)w[i], 0, 5e-5);
      pull = fmax(pull, fabs(2 * l2s[k] * (double)w[i]));
    }
    assert_true(pull > 5e-4);
  }
  tutti_tensors_destroy(gradient);
  end(s);
}

static void test_falls(void **state) {
  (void)state;
  const enum tutti_op heads[] = {TUTTI_OP_HEAD_GAUSSIAN, TUTTI_OP_HEAD_LINEAR, TUTTI_OP_HEAD_SOFTMAX};
  const double good[] = {0.5, 0.1, 0.5};
  for (size_t h = 0; h < 3; h++) {
    struct setting *s = begin_lbfgs(heads[h]);
    plain_network(s, 2, 20, TUTTI_ACTIVATION_TANH);
    s->values->epochs = 50;
    train(s);
    assert_int_equal(s->outcome.state, TUTTI_STATE_FINISHED);
    assert_int_equal(s->seen, 50);
    assert_int_equal(s->outcome.epochs, 50);
    assert_int_equal(s->outcome.best_epoch, 50);
    assert_int_equal(s->outcome.steps, s->epochs[49].steps);
    assert_true(s->outcome.steps > 50 && s->outcome.steps < 100);
    for (size_t e = 1; e < 50; e++)
      assert_true(s->epochs[e].train_loss < s->epochs[e - 1].train_loss);
    assert_true(s->epochs[49].validation_loss < good[h]);
    /* What is kept is what the last epoch told of. */
    tutti_tensors *gradient;
    assert_close(objective(s, &gradient), s->epochs[49].train_loss, 1e-6, 0);
    tutti_tensors_destroy(gradient);
    end(s);
  }
}

/* With L2 the sum falls, be the loss what it may. */
static void test_falls_with_l2(void **state) {
  (void)state;
  struct setting *s = begin_lbfgs(TUTTI_OP_HEAD_SOFTMAX);
  double before = INFINITY;
  plain_network(s, 1, 20, TUTTI_ACTIVATION_TANH);
  s->values->l2 = 0.05;
  for (s->stop_after = 1; s->stop_after < 12; s->stop_after++) {
    tutti_tensors *gradient;
    train(s);
    assert_int_equal(s->outcome.state, TUTTI_STATE_PRUNED);
    double now = objective(s, &gradient);
    assert_true(now < before);
    before = now;
    tutti_tensors_destroy(gradient);
  }
  end(s);
}

static void test_same_bits(void **state) {
  (void)state;
  struct setting *s = begin_lbfgs(TUTTI_OP_HEAD_GAUSSIAN);
  plain_network(s, 2, 20, TUTTI_ACTIVATION_TANH);
  s->values->epochs = 20;
  train(s);
  assert_true(trains_the_same(s));
  s->job.trial = 77;
  s->job.run_seed = 78;
  s->values->batch_size = 7; /* means nothing */
  assert_true(trains_the_same(s));
  s->values->lbfgs_history = 2;
  assert_false(trains_the_same(s));
  s->values->lbfgs_history = 10;
  s->job.seed = 4;
  assert_false(trains_the_same(s));
  end(s);
}

static void test_no_allocation(void **state) {
  (void)state;
  struct setting *s = begin_lbfgs(TUTTI_OP_HEAD_GAUSSIAN);
  plain_network(s, 2, 20, TUTTI_ACTIVATION_TANH);
  check_no_allocation(s);
  end(s);
}

/* --- how it ends --- */

static void test_early_stopping(void **state) {
  (void)state;
  struct setting *s = begin_lbfgs(TUTTI_OP_HEAD_LINEAR);
  train_on(s, make_split(s, "train", 40));
  plain_network(s, 2, 30, TUTTI_ACTIVATION_TANH);
  s->values->early_stopping = 3;
  s->values->keep = CPU_KEEP_BEST;
  train(s);
  assert_int_equal(s->outcome.state, TUTTI_STATE_FINISHED);
  assert_int_equal(s->outcome.epochs, s->outcome.best_epoch + 3);
  end(s);
}

/* Weights that cannot be bettered come back as they are, without an iteration. */
static void test_nothing_to_do(void **state) {
  (void)state;
  struct setting *s = begin_lbfgs(TUTTI_OP_HEAD_SOFTMAX);
  plain_network(s, 0, 0, TUTTI_ACTIVATION_LINEAR);
  s->values->l2 = 0.1;
  train(s);
  tutti_tensors *initial = s->outcome.weights;
  s->outcome.weights = NULL;
  s->job.initial = initial;
  train(s);
  assert_int_equal(s->outcome.state, TUTTI_STATE_FINISHED);
  assert_int_equal(s->outcome.epochs, 0);
  assert_true(same_weights(initial, s->outcome.weights));
  tutti_tensors_destroy(initial);
  end(s);
}

static void test_cancel(void **state) {
  (void)state;
  struct setting *s = begin_lbfgs(TUTTI_OP_HEAD_LINEAR);
  plain_network(s, 1, 20, TUTTI_ACTIVATION_TANH);
  s->job.progress = cancel_now;
  forget(s);
  expect(s, cpu_ops.train(s->backend, s->context, &s->job, &s->outcome), TUTTI_ERROR_CANCELLED, "cancelled in epoch 4");
  assert_null(s->outcome.weights);
  assert_int_equal(s->outcome.epochs, 3);
  end(s);
}

static tutti_split *two_rows(struct setting *s, float x, float y) {
  const float inputs[2 * FEATURES] = {x}, targets[2] = {y};
  tutti_split *split;
  OK(tutti_split_create(s->context, "two", 2, s->task.input, 1, inputs, targets, NULL, &split));
  return split;
}

static void test_divergence(void **state) {
  (void)state;
  struct setting *s = begin_lbfgs(TUTTI_OP_HEAD_LINEAR);
  plain_network(s, 0, 0, TUTTI_ACTIVATION_LINEAR);
  const float bad[][2] = {{NAN, 1}, {1, NAN}, {1e30f, 1e30f}};
  for (size_t k = 0; k < 3; k++) {
    train_on(s, two_rows(s, bad[k][0], bad[k][1]));
    train(s);
    assert_int_equal(s->outcome.state, TUTTI_STATE_FAILED);
    assert_null(s->outcome.weights);
    assert_non_null(strstr(s->outcome.failure, "diverged: the loss, or its gradient, is "));
    assert_non_null(strstr(s->outcome.failure, "epoch 1"));
    assert_non_null(strstr(s->outcome.failure, "very large?"));
  }
  /* Validation alone. */
  train_on(s, make_split(s, "train", MANY));
  tutti_split *validation = two_rows(s, NAN, 1);
  s->job.validation = validation;
  train(s);
  assert_int_equal(s->outcome.state, TUTTI_STATE_FAILED);
  assert_non_null(strstr(s->outcome.failure, "the validation loss is nan in epoch 1"));
  tutti_split_destroy(validation);
  end(s);
}

/* The first step is of length 1, and would overflow; a sixty-fourth of it does not. */
static void test_overflowing_step(void **state) {
  (void)state;
  struct setting *s = begin_lbfgs(TUTTI_OP_HEAD_LINEAR);
  plain_network(s, 0, 0, TUTTI_ACTIVATION_LINEAR);
  train_on(s, two_rows(s, 1e20f, 1e18f));
  s->job.validation = NULL;
  s->values->initialiser = CPU_UNIFORM;
  s->values->initialiser_range = 1e-30;
  train(s);
  assert_int_equal(s->outcome.state, TUTTI_STATE_FINISHED);
  assert_true(s->outcome.epochs > 0);
  assert_true(s->epochs[s->seen - 1].train_loss < 0.4e36); /* of .5e36 */
  end(s);
}

/* Tutti's own memory comes from aligned_alloc, liblbfgs's from calloc. */
static void test_no_memory(void **state) {
  (void)state;
  struct setting *s = begin_lbfgs(TUTTI_OP_HEAD_LINEAR);
  plain_network(s, 1, 20, TUTTI_ACTIVATION_TANH);
  s->job.progress = NULL;
  forget(s);
  fail_c_allocations(true);
  enum tutti_status status = cpu_ops.train(s->backend, s->context, &s->job, &s->outcome);
  fail_c_allocations(false);
  if (COUNTS_ALLOCATIONS && !getenv("TUTTI_TEST_WATCHED")) /* valgrind puts its own functions in place of these */
    expect(s, status, TUTTI_ERROR_MEMORY, "no memory for 10 iterations' gradients of ");
  end(s);
}

/* --- what is refused --- */

static void test_refusals(void **state) {
  (void)state;
  struct setting *s = begin_lbfgs(TUTTI_OP_HEAD_LINEAR);
  expect(s, cpu_ops.check(s->backend, s->context, &s->job), TUTTI_ERROR_USAGE,
         "layer dropout (dropout) makes it random");
  forget(s);
  expect(s, cpu_ops.train(s->backend, s->context, &s->job, &s->outcome), TUTTI_ERROR_USAGE, "another optimiser");
  plain_network(s, 1, 4, TUTTI_ACTIVATION_TANH);
  OK(cpu_ops.check(s->backend, s->context, &s->job));
  const enum tutti_op ops[] = {TUTTI_OP_BATCH_NORM, TUTTI_OP_DROP_PATH};
  const char *const words[] = {"which rows come together", "random"};
  for (size_t k = 0; k < 2; k++) {
    const struct tutti_attribute rate[] = {{"rate", 0.1}, {NULL, 0}};
    uint32_t layer = 0;
    tutti_network_destroy(s->network);
    OK(tutti_network_create(s->context, s->task.input, &s->network));
    OK(tutti_network_add(s->context, s->network, ops[k], "it", 1, &layer, ops[k] == TUTTI_OP_DROP_PATH ? rate : NULL,
                         &layer));
    OK(tutti_network_add_head(s->context, s->network, layer, &s->task));
    s->job.network = s->network;
    expect(s, cpu_ops.check(s->backend, s->context, &s->job), TUTTI_ERROR_USAGE, words[k]);
  }
  s->task.input = (struct tutti_shape){4, 4, 1};
  uint32_t layer = 0;
  tutti_network_destroy(s->network);
  OK(tutti_network_create(s->context, s->task.input, &s->network));
  OK(tutti_network_add(s->context, s->network, TUTTI_OP_FLATTEN, NULL, 1, &layer, NULL, &layer));
  OK(tutti_network_add_head(s->context, s->network, layer, &s->task));
  s->job.network = s->network;
  s->values->augment_padding = 1;
  expect(s, cpu_ops.check(s->backend, s->context, &s->job), TUTTI_ERROR_USAGE, "leave out augment_padding");
  s->values->augment_flip = true;
  expect(s, cpu_ops.check(s->backend, s->context, &s->job), TUTTI_ERROR_USAGE, "leave out augment_flip");
  end(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_softmax_optimum),
      cmocka_unit_test(test_l2_of_each_layer),
      cmocka_unit_test(test_falls),
      cmocka_unit_test(test_falls_with_l2),
      cmocka_unit_test(test_same_bits),
      cmocka_unit_test(test_no_allocation),
      cmocka_unit_test(test_early_stopping),
      cmocka_unit_test(test_nothing_to_do),
      cmocka_unit_test(test_cancel),
      cmocka_unit_test(test_divergence),
      cmocka_unit_test(test_overflowing_step),
      cmocka_unit_test(test_no_memory),
      cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
