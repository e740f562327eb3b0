/* Metrics of an order of rows, of single classes and of intervals, and the tables beside the metrics: by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <tutti/tutti.h>
#include <cmocka.h>

static tutti_context *context;
static tutti_evaluation *evaluation;

static int setup(void **state) {
  (void)state;
  return tutti_context_create(&context) == TUTTI_OK ? 0 : -1;
}

static int teardown(void **state) {
  (void)state;
  tutti_evaluation_destroy(evaluation);
  evaluation = NULL;
  tutti_context_destroy(context);
  return 0;
}

/* Evaluate a single model. */
static void evaluate(enum tutti_task_kind kind, size_t rows, size_t outputs, const float *predicted,
                     const double *values, const int32_t *labels) {
  const uint64_t trial = 7;
  const struct tutti_pool pool = {.size = sizeof pool,
                                  .kind = kind,
                                  .models = 1,
                                  .rows = rows,
                                  .outputs = outputs,
                                  .predictions = &predicted,
                                  .trials = &trial,
                                  .values = values,
                                  .labels = labels};
  tutti_ensemble *ensemble;
  tutti_evaluation_destroy(evaluation);
  evaluation = NULL;
  assert_int_equal(tutti_ensemble_create(context, &ensemble), TUTTI_OK);
  assert_int_equal(tutti_ensemble_add(context, ensemble, trial, 1), TUTTI_OK);
  assert_int_equal(tutti_evaluate(context, &pool, ensemble, NULL, &evaluation), TUTTI_OK);
  tutti_ensemble_destroy(ensemble);
}

static void assert_metric(const char *name, double expected) {
  const struct tutti_metric *metric = tutti_evaluation_find(evaluation, name);
  assert_non_null(metric);
  if (!(fabs(metric->value - expected) < 1e-6))
    fail_msg("%s is %.9g, expected %.9g", name, metric->value, expected);
}

static const struct tutti_evaluation_table *table_of(const char *name) {
  for (size_t i = 0; i < tutti_evaluation_tables(evaluation); i++)
    if (strcmp(tutti_evaluation_table(evaluation, i)->name, name) == 0)
      return tutti_evaluation_table(evaluation, i);
  fail_msg("no table %s", name);
  return NULL;
}

static double cell(const char *name, size_t row, const char *column) {
  const struct tutti_evaluation_table *table = table_of(name);
  size_t c = 0;
  while (c < table->columns && strcmp(table->column[c], column) != 0)
    c++;
  assert_true(c < table->columns && row < table->rows);
  return table->values[row * table->columns + c];
}

static const float two_classes[] = {0.9f, 0.1f, 0.6f, 0.4f, 0.65f, 0.35f, 0.2f, 0.8f};
static const int32_t two_labels[] = {0, 0, 1, 1};

/* p of the second class .1 .4 | .35 .8: three of four pairs are in order. The third row is wrong; in the order of doubt
   .1 .2 .35 .4 the errors so far are 0, 0, 1/3, 1/4. Its doubt is above two of three. */
static void test_order(void **state) {
  (void)state;
  evaluate(TUTTI_TASK_CLASSIFICATION, 4, 2, two_classes, NULL, two_labels);
  assert_metric("auc", 0.75);
  assert_metric("aurc", 7. / 48);
  assert_metric("auroc-error", 2. / 3);
  assert_metric("macro-f1", (4. / 5 + 2. / 3) / 2);
}

/* Rows that tie share their errors: whatever their order, 1/2 each. */
static void test_ties(void **state) {
  static const float same[] = {0.75f, 0.25f, 0.75f, 0.25f};
  static const int32_t labels[2][2] = {{0, 1}, {1, 0}};
  (void)state;
  for (size_t i = 0; i < 2; i++) {
    evaluate(TUTTI_TASK_CLASSIFICATION, 2, 2, same, NULL, labels[i]);
    assert_metric("aurc", 0.5);
    assert_metric("auc", 0.5);
    assert_metric("auroc-error", 0.5);
  }
}

/* Without a row of one side there is no area; classes that nobody has or is given do not count. */
static void test_missing_classes(void **state) {
  static const float predicted[] = {0.5f, 0.25f, 0.25f, 0.25f, 0.5f, 0.25f};
  static const int32_t one[] = {0, 0}, right[] = {0, 1};
  (void)state;
  evaluate(TUTTI_TASK_CLASSIFICATION, 2, 3, predicted, NULL, one);
  assert_true(isnan(tutti_evaluation_find(evaluation, "auc")->value));
  assert_metric("macro-f1", (2. / 3 + 0) / 2);
  assert_true(isnan(cell("classes", 2, "precision")) && isnan(cell("classes", 2, "recall")));
  assert_true(cell("classes", 1, "precision") == 0 && cell("classes", 1, "support") == 0);
  evaluate(TUTTI_TASK_CLASSIFICATION, 2, 3, predicted, NULL, right);
  assert_true(isnan(tutti_evaluation_find(evaluation, "auroc-error")->value));
  assert_metric("auc", 1); /* of the first two: the third has no area */
}

static void test_class_tables(void **state) {
  double rows = 0, ece = 0;
  (void)state;
  evaluate(TUTTI_TASK_CLASSIFICATION, 4, 2, two_classes, NULL, two_labels);
  assert_true(fabs(cell("classes", 0, "precision") - 2. / 3) < 1e-12 && cell("classes", 0, "recall") == 1);
  assert_true(cell("classes", 1, "precision") == 1 && cell("classes", 1, "recall") == 0.5);
  assert_true(cell("classes", 1, "support") == 2 && fabs(cell("classes", 1, "f1") - 2. / 3) < 1e-12);
  for (size_t b = 0; b < table_of("reliability")->rows; b++) {
    double in_bin = cell("reliability", b, "rows");
    rows += in_bin;
    if (in_bin > 0)
      ece += in_bin / 4 * fabs(cell("reliability", b, "accuracy") - cell("reliability", b, "confidence"));
    else
      assert_true(isnan(cell("reliability", b, "accuracy")));
  }
  assert_true(rows == 4);
  assert_metric("ece", ece);
}

/* N(0, 1) at .5 and N(0, 4) at 3: standardised .5 and 1.5, so that the intervals of 50, 80, 90 and 95 % (.674, 1.282,
   1.645, 1.960 deviations) hold 1, 1, 2 and 2 of them. */
static void test_intervals(void **state) {
  static const float predicted[] = {0, 1, 0, 4};
  static const double values[] = {0.5, 3}, outside[] = {0.5, 5}, z = 1.959963984540054;
  (void)state;
  evaluate(TUTTI_TASK_REGRESSION, 2, 1, predicted, values, NULL);
  assert_metric("coverage-50", 0.5);
  assert_metric("coverage-80", 0.5);
  assert_metric("coverage-90", 1);
  assert_metric("coverage-95", 1);
  assert_metric("interval-width", 3 * z);
  assert_metric("interval-score", 3 * z);
  assert_metric("aurc", (0.5 + 3.5 / 2) / 2); /* the row with the least variance first */
  evaluate(TUTTI_TASK_REGRESSION, 2, 1, predicted, outside, NULL);
  assert_metric("coverage-95", 0.5);
  assert_metric("interval-score", 3 * z + 40 * (5 - 2 * z) / 2);
  assert_int_equal(table_of("reliability")->rows, 19);
  assert_true(fabs(cell("reliability", 13, "level") - 0.7) < 1e-12 && cell("reliability", 13, "below") == 0.5);
}

/* Heads without a variance have no intervals. */
static void test_no_variance(void **state) {
  static const float predicted[] = {0, NAN};
  static const double value = 1;
  (void)state;
  evaluate(TUTTI_TASK_REGRESSION, 1, 1, predicted, &value, NULL);
  assert_true(isnan(tutti_evaluation_find(evaluation, "coverage-95")->value));
  assert_true(isnan(tutti_evaluation_find(evaluation, "interval-width")->value));
  assert_true(isnan(tutti_evaluation_find(evaluation, "aurc")->value));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void) {
  const struct CMUnitTest tests[] = {TEST(test_order),        TEST(test_ties),      TEST(test_missing_classes),
                                     TEST(test_class_tables), TEST(test_intervals), TEST(test_no_variance)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
