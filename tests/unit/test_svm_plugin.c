/* test_svm_plugin.c - backend svm as a plugin: what depends on the seed, what is kept and made again, what is refused,
   what a prediction costs. */
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

/* A fold may have the only row of another class. What is left gives the shares of Laplace's rule, also where there are
   no sigmoids otherwise. */
static void rows_of_one_class_have_probabilities(void **state) {
  struct rows rows;
  float out[4 * ROWS];
  (void)state;
  draw_rows(&rows, 2);
  for (int32_t alone = 0; alone < 4; alone++)
    for (size_t classes = 2; classes <= 4; classes += 2)
      for (int64_t folds = 0; folds <= 5; folds += 5) {
        struct learning learning;
        struct machine_config config = usual;
        config.folds = folds;
        if ((size_t)alone >= classes)
          continue;
        for (size_t i = 0; i < ROWS; i++)
          rows.labels[i] = alone;
        learning_begin(&learning, TUTTI_OP_HEAD_SOFTMAX, ROWS, FEATURES, classes, rows.inputs, rows.labels, NULL);
        finish(&learning, &config);
        tutti_tensors *read = learning_reload(&learning, learning.outcome.weights);
        predict(&learning, read, ROWS, rows.inputs, out);
        for (size_t i = 0; i < ROWS * classes; i++)
          assert_close((double)out[i], (i % classes == (size_t)alone ? ROWS + 1.0 : 1.0) / (ROWS + (double)classes),
                       1e-5, classes > 2 ? 2e-3 : 0); /* libsvm couples pairs until they nearly fit */
        tutti_tensors_destroy(read);
        learning_end(&learning);
      }
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(results_depend_on_the_seed_alone),
      cmocka_unit_test(kept_and_read_again_it_predicts_the_same),
      cmocka_unit_test(what_says_nothing_gives_a_constant),
      cmocka_unit_test(classes_that_are_absent_or_rare_have_probabilities),
      cmocka_unit_test(rows_of_one_class_have_probabilities),
      cmocka_unit_test(what_cannot_be_learnt_is_refused),
      cmocka_unit_test(what_is_not_finite_is_a_failed_trial),
      cmocka_unit_test(cancelling_ends_it_between_machines),
      cmocka_unit_test(torn_weights_are_refused),
      cmocka_unit_test(costs_are_counted_by_shapes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
