/* test_svm.c - backend svm: decisions against scikit-learn's, the conditions of optimality, sigmoids, folds. What is
   kept and refused: test_svm_plugin. */
#include "golden.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backends/svm.c"
#include "backends/svm/machine_impl.h"

#include "svm_fixture.h"

enum { MOST = 256 };

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

/* 60 groups of one to four rows, scattered: each is in one fold, also after rows were left out. */
static void folds_keep_groups_whole(void **state) {
  enum { GROUPS = 60, FOLDS = 7, FEW = 100 };
  struct rows rows;
  struct learning learning;
  struct learner_rows view = {.count = ROWS, .features = FEATURES};
  uint32_t group[ROWS], fold[ROWS], of_group[ROWS], first[GROUPS] = {0};
  size_t all[FOLDS] = {0};
  (void)state;
  draw_rows(&rows, 4);
  begin_values(&learning, &rows, TUTTI_OP_HEAD_GAUSSIAN);
  for (uint32_t i = 0; i < ROWS; i++) {
    first[i * 17 % GROUPS] = first[i * 17 % GROUPS] ? first[i * 17 % GROUPS] : i + 1;
    group[i] = first[i * 17 % GROUPS] - 1;
  }
  OK(tutti_alloc(learning.context, ROWS, FEATURES * sizeof *view.inputs, &view.inputs));
  memcpy(view.inputs, rows.inputs, ROWS * FEATURES * sizeof *view.inputs);
  view.targets = rows.targets;
  view.group = group;
  for (int thinned = 0; thinned < 2; thinned++) {
    OK(learner_folds(learning.context, 1, &view, FOLDS, fold));
    memset(all, 0, sizeof all);
    for (size_t i = 0; i < view.count; i++) {
      assert_true(fold[i] < FOLDS && view.group[i] <= i);
      assert_int_equal(fold[i], fold[view.group[i]]);
      of_group[i] = view.group[i];
      all[fold[i]]++;
    }
    for (size_t k = 0; k < FOLDS; k++)
      assert_in_range(all[k], view.count / FOLDS - 3, view.count / FOLDS + 4);
    if (!thinned)
      OK(learner_rows_thin(learning.context, 1, FEW, 1, &view));
  }
  assert_int_equal(view.count, FEW);
  for (size_t i = 0; i < FEW; i++) /* a row of a group is known by its inputs */
    for (size_t r = 0; r < ROWS; r++)
      if (memcmp(view.inputs + i * FEATURES, rows.inputs + r * FEATURES, FEATURES * sizeof(float)) == 0)
        for (size_t q = 0; q < ROWS; q++)
          if (memcmp(view.inputs + of_group[i] * FEATURES, rows.inputs + q * FEATURES, FEATURES * sizeof(float)) == 0)
            assert_int_equal(group[r], group[q]);
  learner_rows_close(&view);
  learning_end(&learning);
}

/* Fewer groups than folds: a fold each. One group: its rows are dealt. Rows in order: blocks. */
static void folds_of_few_groups_and_of_rows_in_order(void **state) {
  enum { FOLDS = 7 };
  struct rows rows;
  struct learning learning;
  uint32_t group[ROWS], fold[ROWS];
  size_t all[FOLDS] = {0};
  (void)state;
  draw_rows(&rows, 5);
  begin_values(&learning, &rows, TUTTI_OP_HEAD_GAUSSIAN);
  struct learner_rows view = {.count = ROWS, .features = FEATURES, .targets = rows.targets, .group = group};
  for (uint32_t i = 0; i < ROWS; i++)
    group[i] = i % 3;
  OK(learner_folds(learning.context, 1, &view, FOLDS, fold));
  for (size_t i = 3; i < ROWS; i++)
    assert_true(fold[i] == fold[i % 3] && fold[i] < 3);
  assert_true(fold[0] != fold[1] && fold[1] != fold[2] && fold[0] != fold[2]);
  memset(group, 0, sizeof group);
  OK(learner_folds(learning.context, 1, &view, FOLDS, fold));
  for (size_t i = 0; i < ROWS; i++)
    all[fold[i]]++;
  for (size_t k = 0; k < FOLDS; k++)
    assert_in_range(all[k], ROWS / FOLDS, ROWS / FOLDS + 1);
  view.group = NULL;
  view.in_order = true;
  OK(learner_folds(learning.context, 1, &view, FOLDS, fold));
  assert_true(fold[0] == 0 && fold[ROWS - 1] == FOLDS - 1);
  for (size_t i = 1; i < ROWS; i++)
    assert_in_range(fold[i], fold[i - 1], fold[i - 1] + 1);
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
      cmocka_unit_test(folds_have_equal_shares),
      cmocka_unit_test(folds_keep_groups_whole),
      cmocka_unit_test(folds_of_few_groups_and_of_rows_in_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
