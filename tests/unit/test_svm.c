/* test_svm.c - backend svm: decisions against scikit-learn's, the conditions of optimality, sigmoids, what is kept and
   made again, and what is refused. */
#include "golden.h"
#include "learning.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends/svm.c"
#include "backends/svm/machine_impl.h"

enum { ROWS = 120, FEATURES = 2, MOST = 256 };

static const struct machine_config usual = {
    .c = 1, .gamma = 0.5, .epsilon = 0.1, .tolerance = 1e-3, .folds = 5, .cache = 10};

static enum tutti_status train(struct learning *learning, const struct machine_config *config) {
  learning_again(learning);
  learning->job.config = config;
  return backend_train_svm(NULL, learning->context, &learning->job, &learning->outcome);
}

static void finish(struct learning *learning, const struct machine_config *config) {
  OK(train(learning, config));
  assert_int_equal(learning->outcome.state, TUTTI_STATE_FINISHED);
}

/* out[rows][width], by weights or those of the last training. */
static void predict(struct learning *learning, const tutti_tensors *weights, size_t rows, const float *inputs,
                    float *out) {
  tutti_split *points = learning_points(learning, rows, inputs);
  OK(backend_predict_svm(NULL, learning->context, &learning->job, weights ? weights : learning->outcome.weights, points,
                         out));
  tutti_split_destroy(points);
}

static const struct tutti_tensor *tensor(const struct learning *learning, const char *name) {
  const struct tutti_tensor *found = tutti_tensors_find(learning->outcome.weights, name);
  assert_non_null(found);
  return found;
}

/* --- rows -------------------------------------------------------------------------------------------------------- */

struct rows {
  float inputs[ROWS * FEATURES], targets[ROWS];
  int32_t labels[ROWS];
};

/* Classes by rings with noise; a smooth function with noise of standard deviation .2. */
static void draw_rows(struct rows *rows, size_t classes) {
  struct tutti_random random;
  tutti_random_init(&random, 5, "svm rows", 0);
  for (size_t i = 0; i < ROWS; i++) {
    double x = tutti_random_normal(&random), y = tutti_random_normal(&random);
    double ring = sqrt(x * x + y * y) + 0.2 * tutti_random_normal(&random);
    rows->inputs[2 * i] = (float)x;
    rows->inputs[2 * i + 1] = (float)y;
    rows->targets[i] = (float)(sin(x) + 0.5 * y + 0.2 * tutti_random_normal(&random));
    rows->labels[i] = ring < 0.9 ? 0 : ring < 1.5 || classes == 2 ? 1 : 2;
  }
}

static void begin_classes(struct learning *learning, const struct rows *rows, size_t classes) {
  learning_begin(learning, TUTTI_OP_HEAD_SOFTMAX, ROWS, FEATURES, classes, rows->inputs, rows->labels, NULL);
}

static void begin_values(struct learning *learning, const struct rows *rows, enum tutti_op head) {
  learning_begin(learning, head, ROWS, FEATURES, 1, rows->inputs, NULL, rows->targets);
}

/* --- against formulas -------------------------------------------------------------------------------------------- */

static double kernel(const float *x, const float *y, size_t features, double gamma) {
  double sum = 0;
  for (size_t j = 0; j < features; j++)
    sum += ((double)x[j] - (double)y[j]) * ((double)x[j] - (double)y[j]);
  return exp(-gamma * sum);
}

/* The decision of pair (i, j) of classes at x, from the tensors alone. */
static double decision(const struct learning *learning, const float *x, size_t i, size_t j, size_t pair, double gamma) {
  const struct tutti_tensor *vectors = tensor(learning, "0.vectors");
  const double *coefficients = tensor(learning, "0.coefficients")->data;
  const int32_t *counts = tensor(learning, "0.counts")->data;
  size_t l = vectors->shape[0], features = vectors->shape[1], first = 0;
  double sum = -((const double *)tensor(learning, "0.rho")->data)[pair];
  for (size_t c = 0; c < tensor(learning, "0.counts")->shape[0]; first += (size_t)counts[c++])
    for (size_t v = first; (c == i || c == j) && v < first + (size_t)counts[c]; v++)
      sum += coefficients[(c == i ? j - 1 : i) * l + v] *
             kernel((const float *)vectors->data + v * features, x, features, gamma);
  return sum;
}

/* Weights are rho, vectors and coefficients: the decisions that they make are those of scikit-learn. */
static void classes_are_decided_as_scikit_learn_does(void **state) {
  json_t *golden = golden_load("svm"), *cases = golden_get(golden, "classification");
  size_t inputs_count, points_count;
  float *inputs = golden_floats(golden_get(golden, "inputs"), &inputs_count);
  float *points = golden_floats(golden_get(golden, "points"), &points_count);
  int32_t *labels = golden_integers(golden_get(golden, "labels"), NULL);
  size_t rows = inputs_count / 3, count = points_count / 3;
  struct learning learning;
  float out[MOST];
  (void)state;
  learning_begin(&learning, TUTTI_OP_HEAD_SOFTMAX, rows, 3, 3, inputs, labels, NULL);
  for (size_t k = 0; k < json_array_size(cases); k++) {
    const json_t *one = golden_at(cases, k);
    struct machine_config config = usual;
    config.c = golden_number_of(one, "c");
    config.gamma = golden_number_of(one, "gamma");
    config.tolerance = 1e-11;
    config.folds = 0;
    double *decisions = golden_doubles(golden_get(one, "decisions"), NULL);
    int32_t *expected = golden_integers(golden_get(one, "labels"), NULL);
    finish(&learning, &config);
    predict(&learning, NULL, count, points, out);
    for (size_t i = 0; i < count; i++) {
      const float *x = points + 3 * i;
      assert_close(decision(&learning, x, 0, 1, 0, config.gamma), decisions[3 * i], 1e-7, 1e-8);
      assert_close(decision(&learning, x, 0, 2, 1, config.gamma), decisions[3 * i + 1], 1e-7, 1e-8);
      assert_close(decision(&learning, x, 1, 2, 2, config.gamma), decisions[3 * i + 2], 1e-7, 1e-8);
      for (int32_t c = 0; c < 3; c++) /* shares of votes: the winner has most of them; of equals it is the lowest */
        assert_true(out[3 * i + (size_t)c] < out[3 * i + (size_t)expected[i]] || c == expected[i] ||
                    (c > expected[i] && out[3 * i + (size_t)c] == out[3 * i + (size_t)expected[i]]));
    }
    free(decisions), free(expected);
  }
  learning_end(&learning);
  free(inputs), free(points), free(labels);
  json_decref(golden);
}

static void values_are_those_of_scikit_learn(void **state) {
  json_t *golden = golden_load("svm"), *cases = golden_get(golden, "regression");
  size_t inputs_count, points_count;
  float *inputs = golden_floats(golden_get(golden, "inputs"), &inputs_count);
  float *points = golden_floats(golden_get(golden, "points"), &points_count);
  float *targets = golden_floats(golden_get(golden, "targets"), NULL), out[MOST];
  struct learning learning;
  (void)state;
  learning_begin(&learning, TUTTI_OP_HEAD_LINEAR, inputs_count / 3, 3, 1, inputs, NULL, targets);
  for (size_t k = 0; k < json_array_size(cases); k++) {
    const json_t *one = golden_at(cases, k);
    struct machine_config config = usual;
    config.c = golden_number_of(one, "c");
    config.gamma = golden_number_of(one, "gamma");
    config.epsilon = golden_number_of(one, "epsilon");
    config.tolerance = 1e-11;
    double *values = golden_doubles(golden_get(one, "values"), NULL);
    finish(&learning, &config);
    predict(&learning, NULL, points_count / 3, points, out);
    for (size_t i = 0; i < points_count / 3; i++) {
      assert_close((double)out[2 * i], values[i], 1e-6, 1e-6); /* float32 */
      assert_true(isnan(out[2 * i + 1]));
    }
    free(values);
  }
  learning_end(&learning);
  free(inputs), free(points), free(targets);
  json_decref(golden);
}

/* Two points of two classes: by symmetry rho is 0 and both coefficients are 1 / (1 - K), where the decisions are +1 and
   -1. */
static void two_points_have_the_closed_form(void **state) {
  static const float inputs[] = {0, 1.5f};
  static const int32_t labels[] = {1, 0};
  struct learning learning;
  struct machine_config config = usual;
  (void)state;
  config.c = 100;
  config.folds = 0;
  config.tolerance = 1e-10;
  double k = exp(-config.gamma * 1.5 * 1.5);
  learning_begin(&learning, TUTTI_OP_HEAD_SOFTMAX, 2, 1, 2, inputs, labels, NULL);
  finish(&learning, &config);
  const double *coefficients = tensor(&learning, "0.coefficients")->data;
  const int32_t *classes = tensor(&learning, "0.classes")->data;
  assert_int_equal(classes[0], 1);                     /* as first met */
  assert_close(coefficients[0], 1 / (1 - k), 1e-7, 0); /* libsvm's kernel matrix is float32 */
  assert_close(coefficients[1], -1 / (1 - k), 1e-7, 0);
  assert_close(*(const double *)tensor(&learning, "0.rho")->data, 0, 0, 1e-9);
  learning_end(&learning);
}

/* 0 <= alpha <= C, sum of alpha y = 0; y f >= 1 where alpha is 0, <= 1 where it is C, and 1 in between. */
static void conditions_of_optimality_hold(void **state) {
  struct rows rows;
  struct learning learning;
  struct machine_config config = usual;
  double alpha[ROWS] = {0}, sum = 0;
  size_t bound = 0, within = 0;
  (void)state;
  config.folds = 0;
  config.tolerance = 1e-6;
  draw_rows(&rows, 2);
  begin_classes(&learning, &rows, 2);
  finish(&learning, &config);
  const struct tutti_tensor *vectors = tensor(&learning, "0.vectors");
  const double *coefficients = tensor(&learning, "0.coefficients")->data;
  int32_t positive = ((const int32_t *)tensor(&learning, "0.classes")->data)[0];
  for (size_t v = 0; v < vectors->shape[0]; v++)
    for (size_t i = 0; i < ROWS; i++)
      if (memcmp((const float *)vectors->data + v * FEATURES, rows.inputs + i * FEATURES, FEATURES * sizeof(float)) ==
          0)
        alpha[i] = coefficients[v] * (rows.labels[i] == positive ? 1 : -1);
  for (size_t i = 0; i < ROWS; i++) {
    double y = rows.labels[i] == positive ? 1 : -1;
    double margin = y * decision(&learning, rows.inputs + i * FEATURES, 0, 1, 0, config.gamma);
    assert_true(alpha[i] >= 0 && alpha[i] <= config.c + 1e-12);
    assert_true(alpha[i] > 1e-9 || margin >= 1 - 1e-4);
    assert_true(alpha[i] < config.c - 1e-9 || margin <= 1 + 1e-4);
    if (alpha[i] > 1e-9 && alpha[i] < config.c - 1e-9) {
      assert_close(margin, 1, 0, 1e-4);
      within++;
    }
    bound += alpha[i] >= config.c - 1e-9;
    sum += alpha[i] * y;
  }
  assert_close(sum, 0, 0, 1e-9);
  assert_true(bound > 5 && within > 5);
  learning_end(&learning);
}

/* --- probabilities and variances --------------------------------------------------------------------------------- */

/* At the optimum both derivatives of the cross-entropy with Platt's targets vanish. */
static void sigmoids_are_at_their_optimum(void **state) {
  static const double same[2] = {1, 1};
  enum { COUNT = 200 };
  double f[COUNT], y[COUNT], a, b;
  struct tutti_random random;
  (void)state;
  for (uint64_t draw = 0; draw < 20; draw++) {
    double ga = 0, gb = 0, positive = 0, scale = pow(10, (double)(draw % 5) - 2);
    tutti_random_init(&random, 3, "sigmoid", draw);
    for (size_t i = 0; i < COUNT; i++) {
      f[i] = scale * tutti_random_normal(&random);
      y[i] = tutti_random_uniform(&random) < 1 / (1 + exp(-2 * f[i] / scale + 0.7)) ? 1 : -1;
      positive += y[i] > 0;
    }
    machine_fit_sigmoid(COUNT, f, y, same, &a, &b);
    for (size_t i = 0; i < COUNT; i++) {
      double p = 1 / (1 + exp(a * f[i] + b));
      double target = y[i] > 0 ? (positive + 1) / (positive + 2) : 1 / (COUNT - positive + 2);
      ga += f[i] * (target - p);
      gb += target - p;
    }
    assert_true(a < 0); /* the more positive the decision, the more probable the class */
    assert_close(ga, 0, 0, 1e-4);
    assert_close(gb, 0, 0, 1e-4);
  }
  /* Of one label alone, and of decisions that say nothing, the prior is left. */
  for (size_t i = 0; i < COUNT; i++)
    f[i] = 0, y[i] = 1;
  machine_fit_sigmoid(COUNT, f, y, same, &a, &b);
  assert_close(1 / (1 + exp(b)), (COUNT + 1.0) / (COUNT + 2.0), 1e-5, 0);
  for (size_t i = 0; i < COUNT; i++) /* far apart: finite, and on the right sides */
    f[i] = i % 2 ? 1e6 : -1e6, y[i] = i % 2 ? 1 : -1;
  machine_fit_sigmoid(COUNT, f, y, same, &a, &b);
  assert_true(isfinite(a) && isfinite(b));
  assert_true(1 / (1 + exp(a * 1e6 + b)) > 0.98 && 1 / (1 + exp(-a * 1e6 + b)) < 0.02);
}

/* Rows that count three times are as good as three rows. */
static void sigmoids_weigh_rows(void **state) {
  enum { COUNT = 40 };
  double f[3 * COUNT], y[3 * COUNT], a, b, same_a, same_b;
  size_t count = COUNT;
  struct tutti_random random;
  (void)state;
  tutti_random_init(&random, 3, "sigmoid weights", 0);
  for (size_t i = 0; i < COUNT; i++) {
    y[i] = i % 4 == 0 ? 1 : -1;
    f[i] = y[i] + 1.5 * tutti_random_normal(&random);
  }
  machine_fit_sigmoid(COUNT, f, y, (const double[]){1, 3}, &a, &b);
  for (size_t i = 0; i < COUNT; i += 4) /* the positive ones twice more */
    for (int copy = 0; copy < 2; copy++, count++)
      f[count] = f[i], y[count] = 1;
  machine_fit_sigmoid(count, f, y, (const double[]){1, 1}, &same_a, &same_b);
  assert_close(a, same_a, 1e-4, 1e-5);
  assert_close(b, same_b, 1e-4, 1e-5);
}

/* For one input whose class is drawn with a known probability, the prediction is close to it. */
static void probabilities_are_about_true(void **state) {
  enum { COUNT = 600 };
  static float inputs[COUNT];
  static int32_t labels[COUNT];
  static const float points[] = {-1, -0.5f, 0, 0.5f, 1};
  float out[10];
  struct learning learning;
  struct tutti_random random;
  struct machine_config config = usual;
  (void)state;
  config.gamma = 0.1;
  tutti_random_init(&random, 4, "svm probabilities", 0);
  for (size_t i = 0; i < COUNT; i++) {
    inputs[i] = (float)tutti_random_normal(&random);
    labels[i] = tutti_random_uniform(&random) < 1 / (1 + exp(-1.5 * (double)inputs[i]));
  }
  learning_begin(&learning, TUTTI_OP_HEAD_SOFTMAX, COUNT, 1, 2, inputs, labels, NULL);
  finish(&learning, &config);
  predict(&learning, NULL, 5, points, out);
  for (size_t i = 0; i < 5; i++) {
    assert_close((double)out[2 * i + 1], 1 / (1 + exp(-1.5 * (double)points[i])), 0, 0.07);
    assert_close((double)out[2 * i] + (double)out[2 * i + 1], 1, 0, 1e-6);
  }
  learning_end(&learning);
}

static void variances_are_those_of_rows_left_out(void **state) {
  struct rows rows;
  struct learning learning;
  struct machine_config config = usual;
  float out[2 * ROWS];
  double seen = 0;
  (void)state;
  draw_rows(&rows, 2);
  begin_values(&learning, &rows, TUTTI_OP_HEAD_GAUSSIAN);
  finish(&learning, &config);
  predict(&learning, NULL, ROWS, rows.inputs, out);
  for (size_t i = 0; i < ROWS; i++) {
    seen += (double)((out[2 * i] - rows.targets[i]) * (out[2 * i] - rows.targets[i])) / ROWS;
    assert_true(out[2 * i + 1] == out[1]);
  }
  assert_true((double)out[1] > 0.2 * 0.2 && (double)out[1] < 0.1); /* the noise, and a little for what is not known */
  assert_true(seen < (double)out[1]);
  config.folds = ROWS; /* one row left out at a time */
  finish(&learning, &config);
  learning_end(&learning);
}

/* The mean square of what is left, by machines that are trained here without each fold. */
static void residual_variance_is_a_mean_of_squares(void **state) {
  enum { COUNT = 12, FOLDS = 3, REST = COUNT - COUNT / FOLDS };
  struct rows rows;
  struct learning learning;
  struct machine_nodes nodes;
  double targets[COUNT], sum = 0, variance;
  uint32_t fold[COUNT];
  (void)state;
  draw_rows(&rows, 2);
  begin_values(&learning, &rows, TUTTI_OP_HEAD_GAUSSIAN);
  OK(machine_nodes_create(learning.context, COUNT, FEATURES, rows.inputs, &nodes));
  struct svm_problem problem = {.l = COUNT, .y = targets, .x = nodes.rows};
  const struct svm_parameter parameter = {
      .svm_type = EPSILON_SVR, .kernel_type = RBF, .gamma = 0.5, .C = 1, .p = 0.1, .eps = 1e-6, .cache_size = 1};
  for (size_t i = 0; i < COUNT; i++) {
    targets[i] = (double)rows.targets[i];
    fold[i] = (uint32_t)(i % FOLDS);
  }
  for (size_t k = 0; k < FOLDS; k++) {
    struct svm_node *inputs[REST];
    double values[REST];
    struct svm_problem rest = {.y = values, .x = inputs};
    struct svm_model *model;
    for (size_t i = 0; i < COUNT; i++)
      if (fold[i] != k) {
        inputs[rest.l] = nodes.rows[i];
        values[rest.l++] = targets[i];
      }
    OK(machine_train(learning.context, &rest, &parameter, &model));
    for (size_t i = k; i < COUNT; i += FOLDS)
      sum += pow(svm_predict(model, nodes.rows[i]) - targets[i], 2);
    svm_free_and_destroy_model(&model);
  }
  OK(machine_residual_variance(learning.context, &problem, &parameter, fold, FOLDS, &variance));
  assert_close(variance, sum / COUNT, 1e-6, 0);
  machine_nodes_destroy(&nodes);
  learning_end(&learning);
}

/* Two targets are two machines. */
static void targets_are_independent(void **state) {
  struct rows rows;
  struct learning one, both;
  float pairs[2 * ROWS], alone[2 * ROWS], together[4 * ROWS];
  (void)state;
  draw_rows(&rows, 2);
  for (size_t i = 0; i < ROWS; i++) {
    pairs[2 * i] = rows.inputs[2 * i] * rows.inputs[2 * i];
    pairs[2 * i + 1] = rows.targets[i];
  }
  learning_begin(&both, TUTTI_OP_HEAD_GAUSSIAN, ROWS, FEATURES, 2, rows.inputs, NULL, pairs);
  begin_values(&one, &rows, TUTTI_OP_HEAD_GAUSSIAN);
  finish(&both, &usual);
  finish(&one, &usual);
  predict(&one, NULL, ROWS, rows.inputs, alone);
  predict(&both, NULL, ROWS, rows.inputs, together);
  for (size_t i = 0; i < ROWS; i++) {
    assert_true(together[4 * i + 2] == alone[2 * i] && together[4 * i + 3] == alone[2 * i + 1]);
    assert_true(together[4 * i] != alone[2 * i]);
  }
  learning_end(&one);
  learning_end(&both);
}

/* --- the same bits ----------------------------------------------------------------------------------------------- */

static void results_depend_on_the_seed_alone(void **state) {
  struct rows rows;
  struct learning learning;
  (void)state;
  draw_rows(&rows, 3);
  begin_classes(&learning, &rows, 3);
  srand(1);
  finish(&learning, &usual);
  tutti_tensors *first = learning.outcome.weights;
  learning.outcome.weights = NULL;
  srand(77);
  for (int i = 0; i < 5; i++)
    (void)rand();
  finish(&learning, &usual);
  assert_true(learning_same(first, learning.outcome.weights));
  learning.job.seed = 12; /* folds differ, and nothing else */
  finish(&learning, &usual);
  const struct tutti_tensor *a = tensor(&learning, "0.sigmoids"), *b = tutti_tensors_find(first, "0.sigmoids");
  assert_memory_not_equal(a->data, b->data, a->bytes);
  a = tensor(&learning, "0.coefficients"), b = tutti_tensors_find(first, "0.coefficients");
  assert_memory_equal(a->data, b->data, a->bytes);
  tutti_tensors_destroy(first);
  learning_end(&learning);
}

static void kept_and_read_again_it_predicts_the_same(void **state) {
  static const enum tutti_op heads[] = {TUTTI_OP_HEAD_SOFTMAX, TUTTI_OP_HEAD_GAUSSIAN, TUTTI_OP_HEAD_LINEAR};
  struct rows rows;
  (void)state;
  draw_rows(&rows, 3);
  for (size_t k = 0; k < 3; k++) {
    struct learning learning;
    float before[3 * ROWS], after[3 * ROWS];
    size_t width = k == 0 ? 3 : 2;
    if (k == 0)
      begin_classes(&learning, &rows, 3);
    else
      begin_values(&learning, &rows, heads[k]);
    finish(&learning, &usual);
    predict(&learning, NULL, ROWS, rows.inputs, before);
    tutti_tensors *again = learning_reload(&learning, learning.outcome.weights);
    predict(&learning, again, ROWS, rows.inputs, after);
    assert_memory_equal(before, after, width * ROWS * sizeof(float));
    tutti_tensors_destroy(again);
    learning_end(&learning);
  }
}

/* --- odd data ---------------------------------------------------------------------------------------------------- */

static void what_says_nothing_gives_a_constant(void **state) {
  struct rows rows;
  struct learning learning;
  struct machine_config config = usual;
  float out[2 * ROWS];
  (void)state;
  draw_rows(&rows, 2);
  for (size_t i = 0; i < ROWS; i++)
    rows.targets[i] = 0.25f;
  begin_values(&learning, &rows, TUTTI_OP_HEAD_GAUSSIAN);
  finish(&learning, &config);
  assert_int_equal(tensor(&learning, "0.vectors")->shape[0], 0);
  tutti_tensors *again = learning_reload(&learning, learning.outcome.weights); /* without support vectors, too */
  predict(&learning, again, ROWS, rows.inputs, out);
  for (size_t i = 0; i < ROWS; i++)
    assert_close((double)out[2 * i], 0.25, 0, config.epsilon + 1e-6);
  tutti_tensors_destroy(again);
  learning_end(&learning);
  draw_rows(&rows, 2);
  begin_values(&learning, &rows, TUTTI_OP_HEAD_GAUSSIAN);
  config.epsilon = 100; /* wider than all targets */
  finish(&learning, &config);
  predict(&learning, NULL, ROWS, rows.inputs, out);
  assert_true(isfinite(out[0]) && out[0] == out[2]);
  learning_end(&learning);
}

static void classes_that_are_absent_or_rare_have_probabilities(void **state) {
  struct rows rows;
  struct learning learning;
  float out[4 * ROWS];
  (void)state;
  draw_rows(&rows, 2);
  rows.labels[7] = 3; /* one row of it, and none of 2 */
  learning_begin(&learning, TUTTI_OP_HEAD_SOFTMAX, ROWS, FEATURES, 4, rows.inputs, rows.labels, NULL);
  finish(&learning, &usual);
  predict(&learning, NULL, ROWS, rows.inputs, out);
  for (size_t i = 0; i < ROWS; i++) {
    assert_close((double)out[4 * i + 2], 1e-7, 1e-5, 0);
    assert_true(out[4 * i + 3] > 0);
    assert_close((double)(out[4 * i] + out[4 * i + 1] + out[4 * i + 2] + out[4 * i + 3]), 1, 0, 1e-6);
  }
  learning_end(&learning);
}

/* --- refusals ---------------------------------------------------------------------------------------------------- */

static void expect_refusal(struct learning *learning, const struct machine_config *config, const char *text) {
  assert_int_equal(train(learning, config), TUTTI_ERROR_USAGE);
  assert_non_null(strstr(tutti_error_message(learning->context), text));
  assert_int_equal(backend_check_svm(NULL, learning->context, &learning->job), TUTTI_ERROR_USAGE);
  tutti_error_clear(learning->context);
}

static void what_cannot_be_learnt_is_refused(void **state) {
  struct rows rows;
  struct learning learning;
  struct machine_config config = usual;
  (void)state;
  draw_rows(&rows, 2);
  memset(rows.labels, 0, sizeof rows.labels);
  begin_classes(&learning, &rows, 2);
  expect_refusal(&learning, &usual, "two classes, and all 120 are of one");
  learning_end(&learning);
  begin_values(&learning, &rows, TUTTI_OP_HEAD_GAUSSIAN);
  config.folds = 0;
  expect_refusal(&learning, &config, "at least 2 folds");
  config.folds = 1;
  expect_refusal(&learning, &config, "found 1");
  learning.task.head = TUTTI_OP_HEAD_NOMU;
  expect_refusal(&learning, &usual, "head.kind");
  learning.task.kind = TUTTI_TASK_VALUE;
  expect_refusal(&learning, &usual, "no section [data]");
  learning_end(&learning);
  learning_begin(&learning, TUTTI_OP_HEAD_LINEAR, 0, FEATURES, 1, rows.inputs, NULL, rows.targets);
  expect_refusal(&learning, &usual, "no training rows");
  learning_end(&learning);
}

static void what_is_not_finite_is_a_failed_trial(void **state) {
  struct rows rows;
  struct learning learning;
  (void)state;
  draw_rows(&rows, 2);
  rows.targets[9] = NAN;
  begin_values(&learning, &rows, TUTTI_OP_HEAD_LINEAR);
  OK(train(&learning, &usual));
  assert_int_equal(learning.outcome.state, TUTTI_STATE_FAILED);
  assert_non_null(strstr(learning.outcome.failure, "row 9"));
  learning_end(&learning);
  rows.inputs[0] = INFINITY;
  begin_classes(&learning, &rows, 2);
  OK(train(&learning, &usual));
  assert_int_equal(learning.outcome.state, TUTTI_STATE_FAILED);
  assert_null(learning.outcome.weights);
  learning_end(&learning);
}

static void cancelling_ends_it_between_machines(void **state) {
  struct rows rows;
  struct learning learning;
  (void)state;
  draw_rows(&rows, 2);
  begin_classes(&learning, &rows, 2);
  tutti_cancel(learning.context);
  assert_int_equal(train(&learning, &usual), TUTTI_ERROR_CANCELLED);
  learning_end(&learning);
}

/* Weights that are not those of this task are refused, whatever they are. */
static void expect_corrupt(struct learning *learning, const tutti_tensors *weights, const char *text) {
  float input[FEATURES] = {0}, out[8];
  tutti_split *points = learning_points(learning, 1, input);
  assert_int_equal(backend_predict_svm(NULL, learning->context, &learning->job, weights, points, out),
                   TUTTI_ERROR_CORRUPT);
  assert_non_null(strstr(tutti_error_message(learning->context), text));
  tutti_error_clear(learning->context);
  tutti_split_destroy(points);
}

/* A copy of the weights without one tensor. */
static tutti_tensors *without(struct learning *learning, const char *name) {
  tutti_tensors *copy;
  OK(tutti_tensors_create(learning->context, &copy));
  for (size_t i = 0; i < tutti_tensors_count(learning->outcome.weights); i++) {
    const struct tutti_tensor *from = tutti_tensors_at(learning->outcome.weights, i);
    void *data;
    if (strcmp(from->name, name) == 0)
      continue;
    OK(tutti_tensors_add(learning->context, copy, from->name, from->element, from->rank, from->shape, &data));
    memcpy(data, from->data, from->bytes);
  }
  return copy;
}

static void torn_weights_are_refused(void **state) {
  static const char *const needed[] = {"0.vectors", "0.coefficients", "0.rho", "0.gamma", "0.classes", "0.counts"};
  struct rows rows;
  struct learning learning;
  void *data;
  (void)state;
  draw_rows(&rows, 3);
  begin_classes(&learning, &rows, 3);
  finish(&learning, &usual);
  for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
    tutti_tensors *torn = without(&learning, needed[i]);
    expect_corrupt(&learning, torn, needed[i]);
    tutti_tensors_destroy(torn);
  }
  tutti_tensors *torn = without(&learning, "0.rho");
  OK(tutti_tensors_add(learning.context, torn, "0.rho", TUTTI_F64, 1, (size_t[]){2}, &data));
  expect_corrupt(&learning, torn, "not of the shape");
  tutti_tensors_destroy(torn);
  OK(tutti_tensors_copy(learning.context, learning.outcome.weights, &torn));
  int32_t *counts = tutti_tensors_find(torn, "0.counts")->data, *classes = tutti_tensors_find(torn, "0.classes")->data;
  counts[0]++;
  expect_corrupt(&learning, torn, "not those of the task");
  counts[0]--;
  classes[1] = 3;
  expect_corrupt(&learning, torn, "not those of the task");
  tutti_tensors_destroy(torn);
  learning_end(&learning);
}

/* --- what a prediction costs ------------------------------------------------------------------------------------- */

static double flops_of(const struct learning *learning, bool counts) {
  tutti_formula *formula;
  struct tutti_predicted_terms terms = {.size = sizeof terms};
  OK((counts ? tutti_formula_create_counting : tutti_formula_create)(learning->context, &formula));
  terms.inputs = tutti_formula_input(formula, FEATURES);
  OK(backend_formula_svm(NULL, learning->context, &learning->job, learning->outcome.weights, formula, &terms));
  OK(tutti_formula_status(formula));
  double flops = tutti_formula_flops(formula);
  tutti_formula_destroy(formula);
  return flops;
}

/* A formula that only counts costs what the whole one does. */
static void costs_are_counted_by_shapes(void **state) {
  struct rows rows;
  struct learning learning;
  (void)state;
  draw_rows(&rows, 3);
  for (int folds = 0; folds < 2; folds++) {
    struct machine_config config = usual;
    config.folds = folds ? 3 : 0; /* probabilities, or votes */
    begin_classes(&learning, &rows, 3);
    finish(&learning, &config);
    double flops = flops_of(&learning, false);
    assert_true(flops > 2.0 * FEATURES * (double)tensor(&learning, "0.vectors")->shape[0]);
    assert_true(flops_of(&learning, true) == flops);
    learning_end(&learning);
  }
}

/* --- folds ------------------------------------------------------------------------------------------------------- */

static void folds_have_equal_shares(void **state) {
  enum { FOLDS = 7 };
  struct rows rows;
  struct learning learning;
  uint32_t fold[ROWS], again[ROWS], other[ROWS];
  size_t of[FOLDS][3] = {{0}}, all[FOLDS] = {0}, classes[3] = {0};
  (void)state;
  draw_rows(&rows, 3);
  begin_classes(&learning, &rows, 3);
  struct learner_rows view = {.count = ROWS, .features = FEATURES, .labels = rows.labels};
  OK(learner_folds(learning.context, 1, &view, FOLDS, fold));
  OK(learner_folds(learning.context, 1, &view, FOLDS, again));
  OK(learner_folds(learning.context, 2, &view, FOLDS, other));
  assert_memory_equal(fold, again, sizeof fold);
  assert_memory_not_equal(fold, other, sizeof fold);
  for (size_t i = 0; i < ROWS; i++) {
    assert_true(fold[i] < FOLDS);
    of[fold[i]][rows.labels[i]]++;
    all[fold[i]]++;
    classes[rows.labels[i]]++;
  }
  for (size_t k = 0; k < FOLDS; k++) {
    assert_true(all[k] == ROWS / FOLDS || all[k] == ROWS / FOLDS + 1);
    for (size_t c = 0; c < 3; c++)
      assert_true(of[k][c] == classes[c] / FOLDS || of[k][c] == classes[c] / FOLDS + 1);
  }
  learning_end(&learning);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(classes_are_decided_as_scikit_learn_does),
      cmocka_unit_test(values_are_those_of_scikit_learn),
      cmocka_unit_test(two_points_have_the_closed_form),
      cmocka_unit_test(conditions_of_optimality_hold),
      cmocka_unit_test(sigmoids_are_at_their_optimum),
      cmocka_unit_test(sigmoids_weigh_rows),
      cmocka_unit_test(probabilities_are_about_true),
      cmocka_unit_test(variances_are_those_of_rows_left_out),
      cmocka_unit_test(residual_variance_is_a_mean_of_squares),
      cmocka_unit_test(targets_are_independent),
      cmocka_unit_test(results_depend_on_the_seed_alone),
      cmocka_unit_test(kept_and_read_again_it_predicts_the_same),
      cmocka_unit_test(what_says_nothing_gives_a_constant),
      cmocka_unit_test(classes_that_are_absent_or_rare_have_probabilities),
      cmocka_unit_test(what_cannot_be_learnt_is_refused),
      cmocka_unit_test(what_is_not_finite_is_a_failed_trial),
      cmocka_unit_test(cancelling_ends_it_between_machines),
      cmocka_unit_test(torn_weights_are_refused),
      cmocka_unit_test(costs_are_counted_by_shapes),
      cmocka_unit_test(folds_have_equal_shares),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
