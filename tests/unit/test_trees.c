/* test_trees.c - backend trees: what its methods learn, keep, make again and refuse. Forests themselves:
   test_random_forest, test_forest_classes. */
#include "golden.h"
#include "learning.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends/trees.c"

enum { ROWS = 240, HELD = 400, FEATURES = 3 };

static const struct grove_config usual = {.trees = 50,
                                          .min_leaf = 1,
                                          .features = 1,
                                          .bootstrap = true,
                                          .learning_rate = 0.1,
                                          .l2 = 1,
                                          .min_child = 1,
                                          .prior = 1,
                                          .folds = 5};

/* Methods that work here: two, or three with XGBoost. */
static int methods(void) {
  tutti_context *context;
  OK(tutti_context_create(&context));
  int count = grove_check_boosting(context) == TUTTI_OK ? 3 : 2;
  tutti_context_destroy(context);
  return count;
}

struct rows {
  float inputs[HELD * FEATURES], targets[HELD];
  int32_t labels[HELD];
};

/* Three classes of a checked plane; a step and a slope with noise of standard deviation .2. */
static void draw_rows(struct rows *rows, size_t count, uint64_t index) {
  struct tutti_random random;
  tutti_random_init(&random, 6, "trees rows", index);
  for (size_t i = 0; i < count; i++) {
    float *x = rows->inputs + i * FEATURES;
    for (size_t j = 0; j < FEATURES; j++)
      x[j] = (float)tutti_random_normal(&random);
    rows->labels[i] = (x[0] > 0) + (x[1] > 0.3f);
    rows->targets[i] = (x[0] > 0) + 0.5f * x[1] + 0.2f * (float)tutti_random_normal(&random);
  }
}

static enum tutti_status train(struct learning *learning, const struct grove_config *config) {
  learning_again(learning);
  learning->job.config = config;
  return backend_train_trees(NULL, learning->context, &learning->job, &learning->outcome);
}

static void finish(struct learning *learning, const struct grove_config *config) {
  OK(train(learning, config));
  assert_int_equal(learning->outcome.state, TUTTI_STATE_FINISHED);
}

static void predict(struct learning *learning, const tutti_tensors *weights, size_t rows, const float *inputs,
                    float *out) {
  tutti_split *points = learning_points(learning, rows, inputs);
  OK(backend_predict_trees(NULL, learning->context, &learning->job, weights ? weights : learning->outcome.weights,
                           points, out));
  tutti_split_destroy(points);
}

static void begin(struct learning *learning, const struct rows *rows, enum tutti_op head) {
  bool classes = head == TUTTI_OP_HEAD_SOFTMAX;
  learning_begin(learning, head, ROWS, FEATURES, classes ? 3 : 1, rows->inputs, classes ? rows->labels : NULL,
                 classes ? NULL : rows->targets);
}

static double error_of(const float *probabilities, size_t classes, const struct rows *rows) {
  size_t wrong = 0;
  for (size_t i = 0; i < HELD; i++) {
    size_t best = 0;
    double sum = 0;
    for (size_t c = 0; c < classes; c++) {
      float p = probabilities[i * classes + c];
      assert_true(p > 0 && p < 1);
      sum += (double)p;
      best = p > probabilities[i * classes + best] ? c : best;
    }
    assert_close(sum, 1, 1e-5, 0);
    wrong += best != (size_t)rows->labels[i];
  }
  return (double)wrong / HELD;
}

static void classes_are_learnt(void **state) {
  struct rows rows, held;
  struct learning learning;
  static float out[HELD * 3];
  (void)state;
  draw_rows(&rows, ROWS, 0);
  draw_rows(&held, HELD, 1);
  begin(&learning, &rows, TUTTI_OP_HEAD_SOFTMAX);
  for (int method = 0; method < methods(); method++) {
    struct grove_config config = usual;
    config.method = method;
    finish(&learning, &config);
    predict(&learning, NULL, HELD, held.inputs, out);
    assert_true(error_of(out, 3, &held) < (method == GROVE_EXTRA_TREES ? 0.12 : 0.05));
  }
  learning_end(&learning);
}

/* Of two classes one probability is told by XGBoost, and of many all. */
static void two_classes_are_learnt(void **state) {
  struct rows rows, held;
  struct learning learning;
  static float out[HELD * 2];
  (void)state;
  draw_rows(&rows, ROWS, 0);
  draw_rows(&held, HELD, 1);
  for (size_t i = 0; i < ROWS; i++)
    rows.labels[i] = rows.labels[i] > 0;
  for (size_t i = 0; i < HELD; i++)
    held.labels[i] = held.labels[i] > 0;
  learning_begin(&learning, TUTTI_OP_HEAD_SOFTMAX, ROWS, FEATURES, 2, rows.inputs, rows.labels, NULL);
  for (int method = 0; method < methods(); method++) {
    struct grove_config config = usual;
    config.method = method;
    finish(&learning, &config);
    predict(&learning, NULL, HELD, held.inputs, out);
    assert_true(error_of(out, 2, &held) < 0.12);
  }
  learning_end(&learning);
}

/* Counts with many zeros: in leaves of zeros alone a forest would be certain, and wrong now and then without bound. The
   extra trees that know nothing have the variance of all training rows; they do not move the mean. */
static void no_value_is_certain(void **state) {
  struct rows rows, held;
  struct learning learning;
  static float without[HELD * 2], with[HELD * 2];
  double mean = 0, variance = 0;
  size_t certain = 0;
  (void)state;
  draw_rows(&rows, ROWS, 0);
  draw_rows(&held, HELD, 1);
  for (size_t i = 0; i < ROWS; i++) {
    rows.targets[i] = rows.targets[i] > 1 ? rows.targets[i] : 0;
    mean += (double)rows.targets[i] / ROWS;
  }
  for (size_t i = 0; i < ROWS; i++)
    variance += pow((double)rows.targets[i] - mean, 2) / ROWS;
  for (int method = 0; method < GROVE_BOOSTING; method++) {
    struct grove_config config = usual;
    config.method = method;
    config.prior = 0;
    begin(&learning, &rows, TUTTI_OP_HEAD_GAUSSIAN);
    finish(&learning, &config);
    predict(&learning, NULL, HELD, held.inputs, without);
    config.prior = 2.5;
    learning.job.config = &config;
    predict(&learning, NULL, HELD, held.inputs, with);
    for (size_t i = 0; i < HELD; i++) {
      double trees = (double)config.trees, before = (double)without[2 * i + 1];
      certain += before == 0;
      assert_true(with[2 * i] == without[2 * i]);
      assert_close(with[2 * i + 1], (trees * before + 2.5 * variance) / (trees + 2.5), 1e-5, 0);
    }
    learning_end(&learning);
  }
  assert_true(certain > 0);
}

static void values_and_variances_are_learnt(void **state) {
  struct rows rows, held;
  struct learning learning;
  static float out[HELD * 2];
  (void)state;
  draw_rows(&rows, ROWS, 0);
  draw_rows(&held, HELD, 1);
  for (int method = 0; method < methods(); method++) {
    struct grove_config config = usual;
    double square = 0, variance = 0;
    config.method = method;
    begin(&learning, &rows, TUTTI_OP_HEAD_GAUSSIAN);
    finish(&learning, &config);
    predict(&learning, NULL, HELD, held.inputs, out);
    for (size_t i = 0; i < HELD; i++) {
      double error = (double)(out[2 * i] - held.targets[i]);
      square += error * error / HELD;
      variance += (double)out[2 * i + 1] / HELD;
      assert_true(method != GROVE_BOOSTING || out[2 * i + 1] == out[1]);
    }
    assert_true(square > 0.03 && square < 0.12); /* the noise's is .04 */
    assert_true(variance > square / 4 && variance < square * 2);
    learning_end(&learning);
    begin(&learning, &rows, TUTTI_OP_HEAD_LINEAR);
    finish(&learning, &config);
    predict(&learning, NULL, HELD, held.inputs, out);
    assert_true(isnan(out[1]));
    learning_end(&learning);
  }
}

/* With leaves of many rows, the noise is what their variances say, in units of the targets whatever these are. */
static void variances_of_leaves_have_the_targets_units(void **state) {
  static struct rows rows, held;
  static float out[HELD * 2];
  (void)state;
  draw_rows(&rows, ROWS, 0);
  draw_rows(&held, HELD, 1);
  for (size_t i = 0; i < ROWS; i++)
    rows.targets[i] *= 100;
  for (int method = GROVE_RANDOM_FOREST; method <= GROVE_EXTRA_TREES; method++) {
    struct learning learning;
    struct grove_config config = usual;
    double square = 0, variance = 0;
    config.method = method;
    config.min_leaf = 40;
    config.prior = 0;
    begin(&learning, &rows, TUTTI_OP_HEAD_GAUSSIAN);
    finish(&learning, &config);
    predict(&learning, NULL, HELD, held.inputs, out);
    for (size_t i = 0; i < HELD; i++) {
      double error = (double)(out[2 * i] - 100 * held.targets[i]);
      square += error * error / HELD;
      variance += (double)out[2 * i + 1] / HELD;
    }
    assert_true(variance > square / 1.5 && variance < square * 1.5);
    learning_end(&learning);
  }
}

/* One more tree that knows nothing: (trees * share + 1 / classes) / (trees + 1). */
static void probabilities_of_a_forest_are_shares(void **state) {
  static const float inputs[] = {0, 1};
  static const int32_t labels[] = {0, 2};
  struct learning learning;
  struct grove_config config = usual;
  float out[6];
  (void)state;
  config.trees = 9;
  config.bootstrap = false;
  learning_begin(&learning, TUTTI_OP_HEAD_SOFTMAX, 2, 1, 3, inputs, labels, NULL);
  finish(&learning, &config);
  predict(&learning, NULL, 2, inputs, out);
  assert_close((double)out[0], (9 + 1.0 / 3) / 10, 1e-6, 0);
  assert_close((double)out[1], 1.0 / 30, 1e-6, 0);
  assert_close((double)out[5], (9 + 1.0 / 3) / 10, 1e-6, 0);
  learning_end(&learning);
}

static void results_depend_on_the_seed_alone(void **state) {
  struct rows rows;
  struct learning learning;
  (void)state;
  draw_rows(&rows, ROWS, 0);
  begin(&learning, &rows, TUTTI_OP_HEAD_SOFTMAX);
  for (int method = 0; method < methods(); method++) {
    struct grove_config config = usual;
    config.method = method;
    config.features = 0.4;
    learning.job.seed = 11;
    finish(&learning, &config);
    tutti_tensors *first = learning.outcome.weights;
    learning.outcome.weights = NULL;
    finish(&learning, &config);
    assert_true(learning_same(first, learning.outcome.weights));
    learning.job.seed = 12;
    finish(&learning, &config);
    assert_false(learning_same(first, learning.outcome.weights));
    tutti_tensors_destroy(first);
  }
  learning_end(&learning);
}

static void kept_and_read_again_it_predicts_the_same(void **state) {
  static const enum tutti_op heads[] = {TUTTI_OP_HEAD_SOFTMAX, TUTTI_OP_HEAD_GAUSSIAN};
  struct rows rows;
  static float before[ROWS * 3], after[ROWS * 3];
  (void)state;
  draw_rows(&rows, ROWS, 0);
  for (size_t k = 0; k < 2; k++)
    for (int method = 0; method < methods(); method++) {
      struct learning learning;
      struct grove_config config = usual;
      config.method = method;
      begin(&learning, &rows, heads[k]);
      finish(&learning, &config);
      predict(&learning, NULL, ROWS, rows.inputs, before);
      tutti_tensors *again = learning_reload(&learning, learning.outcome.weights);
      predict(&learning, again, ROWS, rows.inputs, after);
      assert_memory_equal(before, after, (k == 0 ? 3 : 2) * ROWS * sizeof(float));
      tutti_tensors_destroy(again);
      learning_end(&learning);
    }
}

/* Boosting of values by the squared error: one round from 0 fits the rows' means over the leaves, shrunk by rate and
   l2. */
static void a_round_of_boosting_is_a_shrunken_tree(void **state) {
  static const float inputs[] = {0, 1, 2, 3}, targets[] = {-1, -1, 2, 4};
  struct learning learning;
  struct grove_config config = usual;
  float out[8];
  (void)state;
  if (methods() < 3)
    skip();
  config.method = GROVE_BOOSTING;
  config.trees = 1;
  config.max_depth = 1;
  config.learning_rate = 0.5;
  config.l2 = 1;
  learning_begin(&learning, TUTTI_OP_HEAD_LINEAR, 4, 1, 1, inputs, NULL, targets);
  finish(&learning, &config);
  predict(&learning, NULL, 4, inputs, out);
  assert_close((double)out[0], 0.5 * -2 / 3, 1e-6, 0); /* rate * sum / (count + l2) */
  assert_close((double)out[6], 0.5 * 6 / 3, 1e-6, 0);
  config.absolute = 1; /* signs in place of errors */
  finish(&learning, &config);
  predict(&learning, NULL, 4, inputs, out);
  assert_close((double)out[0], 0.5 * -2 / 3, 1e-6, 0);
  assert_close((double)out[6], 0.5 * 2 / 3, 1e-6, 0);
  config.absolute = 0.25;
  finish(&learning, &config);
  predict(&learning, NULL, 4, inputs, out);
  assert_close((double)out[6], 0.5 * (0.75 * 6 + 0.25 * 2) / 3, 1e-6, 0);
  learning_end(&learning);
}

/* A row of two classes that are as likely has the second derivative 1/4, a row of values 1. */
static void children_may_be_limited(void **state) {
  static const float inputs[] = {0, 1, 2, 3}, targets[] = {-1, -1, 2, 4};
  static const int32_t labels[] = {0, 0, 1, 1};
  struct learning learning;
  struct grove_config config = usual;
  float out[8];
  (void)state;
  if (methods() < 3)
    skip();
  config.method = GROVE_BOOSTING;
  config.trees = 1;
  config.max_depth = 1;
  config.l2 = 0;
  for (int k = 0; k < 2; k++) {
    config.min_child = k == 0 ? 0.6 : 0.4;
    learning_begin(&learning, TUTTI_OP_HEAD_SOFTMAX, 4, 1, 2, inputs, labels, NULL);
    finish(&learning, &config);
    predict(&learning, NULL, 4, inputs, out);
    assert_true(k == 0 ? out[0] == out[6] : out[0] > out[6]);
    learning_end(&learning);
    config.min_child = k == 0 ? 2.5 : 2;
    learning_begin(&learning, TUTTI_OP_HEAD_LINEAR, 4, 1, 1, inputs, NULL, targets);
    finish(&learning, &config);
    predict(&learning, NULL, 4, inputs, out);
    assert_close((double)out[0], config.learning_rate * (k == 0 ? 1 : -1), 1e-6, 0);
    assert_close((double)out[6], config.learning_rate * (k == 0 ? 1 : 3), 1e-6, 0);
    learning_end(&learning);
  }
}

/* The absolute error forgives outliers. */
static void the_absolute_error_is_robust(void **state) {
  struct rows rows;
  struct learning learning;
  struct grove_config config = usual;
  float squared[2 * ROWS], absolute[2 * ROWS];
  double one = 0, other = 0;
  (void)state;
  if (methods() < 3)
    skip();
  draw_rows(&rows, ROWS, 0);
  float clean[ROWS];
  memcpy(clean, rows.targets, sizeof clean);
  for (size_t i = 0; i < ROWS; i += 12)
    rows.targets[i] = 30;
  begin(&learning, &rows, TUTTI_OP_HEAD_LINEAR);
  config.method = GROVE_BOOSTING;
  config.max_depth = 2;
  finish(&learning, &config);
  predict(&learning, NULL, ROWS, rows.inputs, squared);
  config.absolute = 1;
  finish(&learning, &config);
  predict(&learning, NULL, ROWS, rows.inputs, absolute);
  for (size_t i = 0; i < ROWS; i++) {
    one += fabs((double)(squared[2 * i] - clean[i])) / ROWS;
    other += fabs((double)(absolute[2 * i] - clean[i])) / ROWS;
  }
  assert_true(other < one / 3);
  learning_end(&learning);
}

/* Each output learns its own target. */
static void outputs_are_learnt_apart(void **state) {
  static struct rows rows;
  static float both[2 * ROWS], out[4 * ROWS];
  (void)state;
  draw_rows(&rows, ROWS, 0);
  for (size_t i = 0; i < ROWS; i++) {
    both[2 * i] = rows.targets[i];
    both[2 * i + 1] = -3 * rows.targets[i];
  }
  for (int method = 0; method < methods(); method++) {
    struct learning learning;
    struct grove_config config = usual;
    double sums[2] = {0};
    config.method = method;
    learning_begin(&learning, TUTTI_OP_HEAD_GAUSSIAN, ROWS, FEATURES, 2, rows.inputs, NULL, both);
    finish(&learning, &config);
    predict(&learning, NULL, ROWS, rows.inputs, out);
    for (size_t i = 0; i < 2 * ROWS; i++)
      sums[i % 2] += pow((double)out[2 * i] - (double)both[i], 2) / ROWS;
    assert_true(sums[0] < 0.1 && sums[1] < 9 * 0.1);
    learning_end(&learning);
  }
}

static void constants_are_learnt(void **state) {
  struct rows rows;
  float out[2 * ROWS];
  (void)state;
  draw_rows(&rows, ROWS, 0);
  for (size_t i = 0; i < ROWS; i++)
    rows.targets[i] = 0.25f;
  for (int method = 0; method < methods(); method++) {
    struct learning learning;
    struct grove_config config = usual;
    config.method = method;
    begin(&learning, &rows, TUTTI_OP_HEAD_GAUSSIAN);
    finish(&learning, &config);
    predict(&learning, NULL, ROWS, rows.inputs, out);
    assert_close((double)out[0], 0.25, 1e-2, 0); /* boosting comes near it by a tenth a round */
    assert_true(out[1] >= 0 && out[1] < 1e-4f);
    learning_end(&learning);
  }
}

/* A fold may have the only row of another class: what is left makes that class likely, and none impossible. */
static void rows_of_one_class_are_learnt(void **state) {
  struct rows rows;
  static float out[ROWS * 3];
  (void)state;
  draw_rows(&rows, ROWS, 0);
  for (size_t i = 0; i < ROWS; i++)
    rows.labels[i] = 1;
  for (size_t classes = 2; classes <= 3; classes++) {
    struct learning learning;
    learning_begin(&learning, TUTTI_OP_HEAD_SOFTMAX, ROWS, FEATURES, classes, rows.inputs, rows.labels, NULL);
    for (int method = 0; method < methods(); method++) {
      struct grove_config config = usual;
      config.method = method;
      finish(&learning, &config);
      tutti_tensors *read = learning_reload(&learning, learning.outcome.weights);
      predict(&learning, read, ROWS, rows.inputs, out);
      for (size_t i = 0; i < ROWS * classes; i++)
        assert_true(i % classes == 1 ? out[i] > 0.9f && out[i] < 1 : out[i] >= 1e-7f && out[i] < 0.1f);
      tutti_tensors_destroy(read);
    }
    learning_end(&learning);
  }
}

static void what_cannot_be_learnt_is_refused(void **state) {
  struct rows rows;
  struct learning learning;
  (void)state;
  draw_rows(&rows, ROWS, 0);
  rows.inputs[5] = NAN;
  begin(&learning, &rows, TUTTI_OP_HEAD_LINEAR);
  OK(train(&learning, &usual));
  assert_int_equal(learning.outcome.state, TUTTI_STATE_FAILED);
  learning_end(&learning);
}

static void cancelling_ends_it_between_trees(void **state) {
  struct rows rows;
  (void)state;
  draw_rows(&rows, ROWS, 0);
  for (int method = 0; method < methods(); method++) {
    struct learning learning;
    struct grove_config config = usual;
    config.method = method;
    begin(&learning, &rows, TUTTI_OP_HEAD_SOFTMAX);
    tutti_cancel(learning.context);
    assert_int_equal(train(&learning, &config), TUTTI_ERROR_CANCELLED);
    learning_end(&learning);
  }
}

/* --- how forests are kept ---------------------------------------------------------------------------------------- */

/* Thresholds are kept as floats. Between two floats without another one between them the middle is none, and rounded
   the wrong way it would take both to the same side. */
static void neighbours_among_floats_are_told_apart(void **state) {
  static struct rows rows;
  static float out[2 * ROWS];
  struct learning learning;
  (void)state;
  for (size_t i = 0; i < ROWS; i++) {
    for (size_t j = 0; j < FEATURES; j++)
      rows.inputs[i * FEATURES + j] = (i % 2 ? -1 : 1) * (1 + (float)i * 0x1p-23f);
    rows.targets[i] = (float)(i * 37 % ROWS);
  }
  for (int method = GROVE_RANDOM_FOREST; method <= GROVE_EXTRA_TREES; method++) {
    struct grove_config config = usual;
    config.method = method;
    config.bootstrap = false;
    begin(&learning, &rows, TUTTI_OP_HEAD_LINEAR);
    finish(&learning, &config);
    predict(&learning, NULL, ROWS, rows.inputs, out);
    for (size_t i = 0; i < ROWS; i++)
      assert_close((double)out[2 * i], (double)rows.targets[i], 1e-3, 0);
    learning_end(&learning);
  }
}

static size_t bytes_of(const tutti_tensors *tensors) {
  size_t bytes = 0;
  for (size_t i = 0; i < tutti_tensors_count(tensors); i++)
    bytes += tutti_tensors_at(tensors, i)->bytes;
  return bytes;
}

/* Large tables have forests of millions of nodes: 12 bytes each, leaves of one row among them. */
static void a_node_takes_twelve_bytes(void **state) {
  struct rows rows;
  struct learning learning;
  struct grove_config config = usual;
  (void)state;
  draw_rows(&rows, ROWS, 0);
  config.bootstrap = false;
  begin(&learning, &rows, TUTTI_OP_HEAD_GAUSSIAN);
  finish(&learning, &config);
  size_t trees = (size_t)config.trees, nodes = trees * (2 * ROWS - 1), roots = (trees + 1) * sizeof(int64_t);
  assert_int_equal(tutti_tensors_find(learning.outcome.weights, "0.thresholds")->shape[0], nodes);
  assert_int_equal(bytes_of(learning.outcome.weights), 12 * nodes + roots + sizeof(float) + sizeof(double));
  learning_end(&learning);
}

/* --- torn weights ------------------------------------------------------------------------------------------------ */

static void expect_corrupt(struct learning *learning, const tutti_tensors *weights) {
  float input[FEATURES] = {0}, out[8];
  tutti_split *points = learning_points(learning, 1, input);
  assert_int_equal(backend_predict_trees(NULL, learning->context, &learning->job, weights, points, out),
                   TUTTI_ERROR_CORRUPT);
  tutti_error_clear(learning->context);
  tutti_split_destroy(points);
}

/* A number of a tensor, of 4 or 8 bytes, set and put back. */
static void expect_corrupt_with(struct learning *learning, const char *name, size_t index, int64_t number) {
  const struct tutti_tensor *tensor = tutti_tensors_find(learning->outcome.weights, name);
  size_t size = tensor->element == TUTTI_I64 ? 8 : 4;
  unsigned char kept[8], *place = (unsigned char *)tensor->data + index * size;
  int32_t narrow = (int32_t)number;
  memcpy(kept, place, size);
  memcpy(place, size == 8 ? (const void *)&number : (const void *)&narrow, size);
  expect_corrupt(learning, learning->outcome.weights);
  memcpy(place, kept, size);
}

static size_t first_leaf(const struct learning *learning) {
  const int32_t *columns = tutti_tensors_find(learning->outcome.weights, "0.columns")->data;
  size_t leaf = 0;
  while (columns[leaf] >= 0)
    leaf++;
  return leaf;
}

static void torn_weights_are_refused(void **state) {
  static const char *const damage[] = {"0.children", "0.columns"};
  struct rows rows;
  struct learning learning;
  (void)state;
  draw_rows(&rows, ROWS, 0);
  begin(&learning, &rows, TUTTI_OP_HEAD_SOFTMAX);
  finish(&learning, &usual);
  for (size_t i = 0; i < 2; i++) {
    expect_corrupt_with(&learning, damage[i], 0, -1);
    expect_corrupt_with(&learning, damage[i], 0, 1 << 30);
  }
  expect_corrupt_with(&learning, "0.children", 0, 0); /* would never arrive */
  expect_corrupt_with(&learning, "0.roots", 1, 0);
  expect_corrupt_with(&learning, "0.roots", 0, 1);
  expect_corrupt_with(&learning, "0.roots", 3, (int64_t)1 << 60);
  expect_corrupt_with(&learning, "0.classes", 2, 3);
  const size_t leaf = first_leaf(&learning);
  expect_corrupt_with(&learning, "0.columns", leaf, -1000000);
  expect_corrupt_with(&learning, "0.columns", leaf, INT32_MIN);
  expect_corrupt_with(&learning, "0.columns", leaf, 0);
  expect_corrupt_with(&learning, "0.children", leaf, 1 << 30);
  expect_corrupt_with(&learning, "0.children", leaf, -1);
  learning.job.task = &learning.task;
  tutti_tensors *empty;
  OK(tutti_tensors_create(learning.context, &empty));
  expect_corrupt(&learning, empty);
  if (methods() == 3) {
    struct grove_config config = usual;
    config.method = GROVE_BOOSTING;
    finish(&learning, &config);
    expect_corrupt(&learning, empty);
    learning.task.outputs = 2; /* a model of three classes */
    expect_corrupt(&learning, learning.outcome.weights);
  }
  tutti_tensors_destroy(empty);
  learning_end(&learning);
}

static void torn_leaves_of_values_are_refused(void **state) {
  struct rows rows;
  struct learning learning;
  const float nothing = NAN, infinite = INFINITY, negative = -1;
  int32_t bits;
  (void)state;
  draw_rows(&rows, ROWS, 0);
  begin(&learning, &rows, TUTTI_OP_HEAD_GAUSSIAN);
  finish(&learning, &usual);
  const size_t leaf = first_leaf(&learning);
  expect_corrupt_with(&learning, "0.children", leaf, 1 << 30);
  memcpy(&bits, &nothing, sizeof bits);
  expect_corrupt_with(&learning, "0.thresholds", leaf, bits);
  expect_corrupt_with(&learning, "0.variances", 0, bits);
  memcpy(&bits, &infinite, sizeof bits);
  expect_corrupt_with(&learning, "0.thresholds", 0, bits);
  memcpy(&bits, &negative, sizeof bits);
  expect_corrupt_with(&learning, "0.variances", 0, bits);
  learning_end(&learning);
}

static void an_earlier_form_is_named(void **state) {
  struct rows rows;
  struct learning learning;
  float input[FEATURES] = {0}, out[2];
  void *moments;
  tutti_tensors *tensors;
  (void)state;
  draw_rows(&rows, ROWS, 0);
  begin(&learning, &rows, TUTTI_OP_HEAD_GAUSSIAN);
  learning.job.config = &usual;
  OK(tutti_tensors_create(learning.context, &tensors));
  OK(tutti_tensors_add(learning.context, tensors, "0.moments", TUTTI_F64, 2, (size_t[]){3, 2}, &moments));
  memset(moments, 0, 6 * sizeof(double));
  tutti_split *points = learning_points(&learning, 1, input);
  assert_int_equal(backend_predict_trees(NULL, learning.context, &learning.job, tensors, points, out),
                   TUTTI_ERROR_CORRUPT);
  assert_non_null(strstr(tutti_error_message(learning.context), "earlier version"));
  tutti_split_destroy(points);
  tutti_tensors_destroy(tensors);
  learning_end(&learning);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(classes_are_learnt),
      cmocka_unit_test(two_classes_are_learnt),
      cmocka_unit_test(values_and_variances_are_learnt),
      cmocka_unit_test(variances_of_leaves_have_the_targets_units),
      cmocka_unit_test(no_value_is_certain),
      cmocka_unit_test(probabilities_of_a_forest_are_shares),
      cmocka_unit_test(results_depend_on_the_seed_alone),
      cmocka_unit_test(kept_and_read_again_it_predicts_the_same),
      cmocka_unit_test(a_round_of_boosting_is_a_shrunken_tree),
      cmocka_unit_test(children_may_be_limited),
      cmocka_unit_test(the_absolute_error_is_robust),
      cmocka_unit_test(outputs_are_learnt_apart),
      cmocka_unit_test(constants_are_learnt),
      cmocka_unit_test(rows_of_one_class_are_learnt),
      cmocka_unit_test(what_cannot_be_learnt_is_refused),
      cmocka_unit_test(cancelling_ends_it_between_trees),
      cmocka_unit_test(neighbours_among_floats_are_told_apart),
      cmocka_unit_test(a_node_takes_twelve_bytes),
      cmocka_unit_test(torn_weights_are_refused),
      cmocka_unit_test(torn_leaves_of_values_are_refused),
      cmocka_unit_test(an_earlier_form_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
