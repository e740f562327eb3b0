/* test_evaluate_classes.c - metrics and predictions of classifiers against golden numbers, definitions and
   properties. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <tutti/evaluate.h>

#include "golden.h"
#include "pools.h"

/* Golden numbers are of float64 predictions, pools hold float32: see test_metrics.c. */
static const double FLOAT32 = 2e-6;

static tutti_context *context;

static int setup(void **state) {
  (void)state;
  return tutti_context_create(&context) != TUTTI_OK;
}

static int teardown(void **state) {
  (void)state;
  tutti_context_destroy(context);
  return 0;
}

static void test_classification_golden(void **state) {
  (void)state;
  json_t *root = golden_load("metrics"), *golden = golden_get(root, "classification");
  json_t *expected = golden_get(golden, "ensemble(mean of probabilities)");
  struct pools_models models = {0};
  size_t rows, count;
  models.labels = golden_integers(golden_get(golden, "y"), &rows);
  models.values = golden_floats(golden_get(golden, "probs[model][sample][class]"), &count);
  pools_make(&models, TUTTI_TASK_CLASSIFICATION, 5, rows, count / 5 / rows);
  tutti_ensemble *ensemble = pools_equal_members(context, &models);
  tutti_evaluation *got;
  assert_int_equal(tutti_evaluate(context, &models.pool, ensemble, NULL, &got), TUTTI_OK);
  assert_close(pools_value(got, "nll"), golden_number_of(expected, "nll"), FLOAT32, 0);
  assert_close(pools_value(got, "error"), golden_number_of(expected, "error"), 1e-14, 0);
  assert_close(pools_value(got, "brier"), golden_number_of(expected, "brier_sum_over_classes"), FLOAT32, 0);
  assert_close(pools_value(got, "ece"), golden_number_of(expected, "ece15"), FLOAT32, 0);
  assert_close(pools_value(got, "oracle-nll"), golden_number_of(golden, "oracle_nll(mean_x min_k nll)"), FLOAT32, 0);
  assert_close(pools_value(got, "all-wrong"), golden_number_of(golden, "oracle_error(all models wrong)"), 1e-14, 0);
  assert_close(pools_value(got, "average-nll"), golden_number_of(golden, "average_base_learner_nll"), FLOAT32, 0);
  assert_close(pools_value(got, "average-error"), golden_number_of(golden, "average_base_learner_error"), 1e-14, 0);
  assert_close(pools_value(got, "disagreement"), golden_number_of(golden, "disagreement_mean_over_pairs"), 1e-14, 0);
  assert_close(pools_value(got, "entropy"), golden_number_of(golden, "predictive_entropy_mean"), FLOAT32, 0);
  assert_close(pools_value(got, "expected-entropy"), golden_number_of(golden, "expected_entropy_mean"), FLOAT32, 0);
  assert_close(pools_value(got, "mutual-information"), golden_number_of(golden, "mutual_information_mean"), 1e-5, 0);
  tutti_evaluation_destroy(got);
  tutti_ensemble_destroy(ensemble);
  pools_free(&models);
  json_decref(root);
}

/* The oracle takes for each row the prediction of the member with the least loss there (Zaidi et al., 3.1), so it is an
   ensemble of one whose predictions are those. */
static void test_oracle_golden(void **state) {
  (void)state;
  json_t *root = golden_load("metrics"), *golden = golden_get(root, "classification");
  struct pools_models models = {0}, oracle = {0};
  size_t rows, count;
  models.labels = golden_integers(golden_get(golden, "y"), &rows);
  oracle.labels = golden_integers(golden_get(golden, "y"), &rows);
  models.values = golden_floats(golden_get(golden, "probs[model][sample][class]"), &count);
  size_t classes = count / 5 / rows;
  oracle.values = calloc(rows * classes, sizeof(float));
  for (size_t n = 0; n < rows; n++) {
    size_t best = 0, truth = (size_t)models.labels[n];
    for (size_t k = 1; k < 5; k++)
      if (models.values[(k * rows + n) * classes + truth] > models.values[(best * rows + n) * classes + truth])
        best = k;
    memcpy(oracle.values + n * classes, models.values + (best * rows + n) * classes, classes * sizeof(float));
  }
  pools_make(&models, TUTTI_TASK_CLASSIFICATION, 5, rows, classes);
  pools_make(&oracle, TUTTI_TASK_CLASSIFICATION, 1, rows, classes);
  tutti_ensemble *all = pools_equal_members(context, &models), *one = pools_equal_members(context, &oracle);
  tutti_evaluation *got, *expected;
  assert_int_equal(tutti_evaluate(context, &models.pool, all, NULL, &got), TUTTI_OK);
  assert_int_equal(tutti_evaluate(context, &oracle.pool, one, NULL, &expected), TUTTI_OK);
  assert_close(pools_value(got, "oracle-nll"), pools_value(expected, "nll"), 1e-14, 0);
  assert_close(pools_value(got, "oracle-error"), pools_value(expected, "error"), 1e-14, 0);
  assert_close(pools_value(got, "oracle-error"), 7 / 50.0, 1e-14, 0); /* all are wrong on only 6 rows */
  assert_close(pools_value(got, "oracle-ece"), pools_value(expected, "ece"), 1e-14, 0);
  tutti_evaluation_destroy(got);
  tutti_evaluation_destroy(expected);
  tutti_ensemble_destroy(all);
  tutti_ensemble_destroy(one);
  pools_free(&models);
  pools_free(&oracle);
  json_decref(root);
}

/* The ECE of each golden model alone, an ensemble of one, and their mean, the average member's. */
static void test_calibration_of_single_models(void **state) {
  (void)state;
  json_t *root = golden_load("metrics"), *golden = golden_get(root, "classification");
  struct pools_models models = {0};
  size_t rows, count;
  models.labels = golden_integers(golden_get(golden, "y"), &rows);
  models.values = golden_floats(golden_get(golden, "probs[model][sample][class]"), &count);
  pools_make(&models, TUTTI_TASK_CLASSIFICATION, 5, rows, count / 5 / rows);
  double mean = 0;
  for (size_t k = 0; k < 5; k++) {
    tutti_ensemble *ensemble;
    tutti_evaluation *got;
    assert_int_equal(tutti_ensemble_create(context, &ensemble), TUTTI_OK);
    assert_int_equal(tutti_ensemble_add(context, ensemble, models.trials[k], 3), TUTTI_OK);
    assert_int_equal(tutti_evaluate(context, &models.pool, ensemble, NULL, &got), TUTTI_OK);
    assert_close(pools_value(got, "ece"), golden_number_of(golden_at(golden_get(golden, "per_model"), k), "ece15"),
                 FLOAT32, 0);
    assert_close(pools_value(got, "oracle-nll"), pools_value(got, "nll"), 1e-15, 0);
    assert_close(pools_value(got, "oracle-ece"), pools_value(got, "ece"), 1e-15, 0);
    assert_close(pools_value(got, "average-ece"), pools_value(got, "ece"), 1e-15, 0);
    mean += pools_value(got, "ece") / 5;
    assert_null(tutti_evaluation_find(got, "disagreement"));
    tutti_evaluation_destroy(got);
    tutti_ensemble_destroy(ensemble);
  }
  tutti_ensemble *ensemble = pools_equal_members(context, &models);
  tutti_evaluation *got;
  assert_int_equal(tutti_evaluate(context, &models.pool, ensemble, NULL, &got), TUTTI_OK);
  assert_close(pools_value(got, "average-ece"), mean, 1e-14, 0);
  tutti_evaluation_destroy(got);
  tutti_ensemble_destroy(ensemble);
  pools_free(&models);
  json_decref(root);
}

/* A confidence on an edge belongs to the lower bin: with 2 bins, 0.5 (right) and 0.75 (wrong) do not share one. */
static void test_bin_edges(void **state) {
  (void)state;
  struct pools_models models = {0};
  models.values = calloc(4, sizeof(float));
  models.labels = calloc(2, sizeof(int32_t));
  models.values[0] = models.values[1] = 0.5f;
  models.values[2] = 0.25f;
  models.values[3] = 0.75f;
  pools_make(&models, TUTTI_TASK_CLASSIFICATION, 1, 2, 2);
  tutti_ensemble *ensemble = pools_equal_members(context, &models);
  struct tutti_evaluation_options options = TUTTI_EVALUATION_DEFAULTS;
  tutti_evaluation *got;
  options.bins = 2;
  assert_int_equal(tutti_evaluate(context, &models.pool, ensemble, &options, &got), TUTTI_OK);
  assert_close(pools_value(got, "ece"), (0.5 + 0.75) / 2, 1e-15, 0);
  tutti_evaluation_destroy(got);
  options.bins = 1;
  assert_int_equal(tutti_evaluate(context, &models.pool, ensemble, &options, &got), TUTTI_OK);
  assert_close(pools_value(got, "ece"), 0.125, 1e-15, 0);
  tutti_evaluation_destroy(got);
  tutti_ensemble_destroy(ensemble);
  pools_free(&models);
}

/* A confidence of 0.28 is on the edge 7 / 25, although 25 times it rounds to more than 7: it shares a bin with 0.27. */
static void test_bin_edge_that_rounds(void **state) {
  (void)state;
  const float values[] = {1, 0,     0,     0,     0,     0.25f,       0.25f, 0.25f, 0.25f, 0, /* the other member */
                          0, 0.25f, 0.25f, 0.25f, 0.25f, 0.27777777f, 0.18f, 0.18f, 0.18f, 0.18f};
  struct pools_models models = {0};
  models.values = calloc(20, sizeof(float));
  models.labels = calloc(2, sizeof(int32_t));
  memcpy(models.values, values, sizeof values);
  models.labels[0] = 1;
  pools_make(&models, TUTTI_TASK_CLASSIFICATION, 2, 2, 5);
  tutti_ensemble *ensemble;
  tutti_evaluation *got;
  struct tutti_evaluation_options options = TUTTI_EVALUATION_DEFAULTS;
  options.bins = 25;
  assert_int_equal(tutti_ensemble_create(context, &ensemble), TUTTI_OK);
  assert_int_equal(tutti_ensemble_add(context, ensemble, models.trials[0], 0.28), TUTTI_OK);
  assert_int_equal(tutti_ensemble_add(context, ensemble, models.trials[1], 0.72), TUTTI_OK);
  assert_int_equal(tutti_evaluate(context, &models.pool, ensemble, &options, &got), TUTTI_OK);
  assert_close(pools_value(got, "error"), 0.5, 1e-15, 0);
  assert_close(pools_value(got, "ece"), (1 - 0.28 - 0.27) / 2, 1e-6, 0);
  tutti_evaluation_destroy(got);
  tutti_ensemble_destroy(ensemble);
  pools_free(&models);
}

/* Members that are the same know nothing that the others do not: mutual information 0, not a rounded less than 0; and
   members that are always right never differ. */
static void test_members_that_agree(void **state) {
  (void)state;
  enum { ROWS = 200 };
  struct tutti_random random;
  struct pools_models models;
  tutti_evaluation *got;
  struct tutti_uncertainty predicted[3 * ROWS];
  tutti_random_init(&random, 8, "test", 0);
  pools_random_classes(&models, &random, 3, ROWS, 3, 1);
  for (size_t k = 1; k < 3; k++)
    memcpy(models.values + k * ROWS * 3, models.values, ROWS * 3 * sizeof(float));
  for (size_t n = 0; n < ROWS; n++)
    for (size_t c = 0; c < 3; c++)
      if (models.values[3 * n + c] > models.values[3 * n + (size_t)models.labels[n]])
        models.labels[n] = (int32_t)c;
  tutti_ensemble *ensemble = pools_equal_members(context, &models);
  assert_int_equal(tutti_evaluate(context, &models.pool, ensemble, NULL, &got), TUTTI_OK);
  assert_true(pools_value(got, "error") == 0);
  assert_true(pools_value(got, "disagreement") == 0);
  assert_true(pools_value(got, "normalised-disagreement") == 0);
  tutti_evaluation_destroy(got);
  assert_int_equal(tutti_ensemble_predict(context, &models.pool, ensemble, NULL, predicted), TUTTI_OK);
  for (size_t i = 0; i < 3 * ROWS; i++) {
    assert_true(predicted[i].epistemic >= 0 && predicted[i].epistemic < 1e-15);
    assert_close(predicted[i].total, predicted[i].aleatoric, 1e-14, 0);
  }
  tutti_ensemble_destroy(ensemble);
  pools_free(&models);
}

/* Per row: probabilities, and the three entropies whose means evaluation tells. */
static void test_uncertainty_of_classes(void **state) {
  (void)state;
  enum { ROWS = 50 };
  struct tutti_random random;
  struct pools_models models;
  tutti_evaluation *got;
  struct tutti_uncertainty predicted[3 * ROWS];
  double total = 0, aleatoric = 0, epistemic = 0;
  tutti_random_init(&random, 8, "test", 1);
  pools_random_classes(&models, &random, 4, ROWS, 3, 2);
  tutti_ensemble *ensemble = pools_equal_members(context, &models);
  assert_int_equal(tutti_evaluate(context, &models.pool, ensemble, NULL, &got), TUTTI_OK);
  assert_int_equal(tutti_ensemble_predict(context, &models.pool, ensemble, NULL, predicted), TUTTI_OK);
  for (size_t n = 0; n < ROWS; n++) {
    const struct tutti_uncertainty *row = predicted + 3 * n;
    assert_close(row[0].mean + row[1].mean + row[2].mean, 1, 1e-6, 0);
    total += row[0].total / ROWS;
    aleatoric += row[1].aleatoric / ROWS;
    epistemic += row[2].epistemic / ROWS;
  }
  assert_close(total, pools_value(got, "entropy"), 1e-13, 0);
  assert_close(aleatoric, pools_value(got, "expected-entropy"), 1e-13, 0);
  assert_close(epistemic, pools_value(got, "mutual-information"), 1e-13, 0);
  tutti_evaluation_destroy(got);
  tutti_ensemble_destroy(ensemble);
  pools_free(&models);
}

/* Three members, labels 0 0 1 / 0 1 1 on two rows, truth 0 0: by hand. */
static void test_disagreement_by_hand(void **state) {
  (void)state;
  const float values[] = {0.9f, 0.1f, 0.9f, 0.1f, /* 2 */ 0.9f, 0.1f, 0.1f, 0.9f, /* 3 */ 0.1f, 0.9f, 0.1f, 0.9f};
  struct pools_models models = {0};
  models.values = calloc(12, sizeof(float));
  models.labels = calloc(2, sizeof(int32_t));
  memcpy(models.values, values, sizeof values);
  pools_make(&models, TUTTI_TASK_CLASSIFICATION, 3, 2, 2);
  tutti_ensemble *ensemble = pools_equal_members(context, &models);
  tutti_evaluation *got;
  assert_int_equal(tutti_evaluate(context, &models.pool, ensemble, NULL, &got), TUTTI_OK);
  /* Pairs differ on 1/2, 1, 1/2 of the rows; their mean errors are 1/4, 1/2, 3/4. */
  assert_close(pools_value(got, "disagreement"), 2.0 / 3, 1e-15, 0);
  assert_close(pools_value(got, "normalised-disagreement"), (2 + 2 + 2.0 / 3) / 3, 1e-15, 0);
  assert_close(pools_value(got, "oracle-error"), 0, 0, 0);
  tutti_evaluation_destroy(got);
  /* A vote: shares (2/3, 1/3) and (1/3, 2/3). */
  tutti_ensemble_combine(ensemble, TUTTI_COMBINATION_VOTE);
  assert_int_equal(tutti_evaluate(context, &models.pool, ensemble, NULL, &got), TUTTI_OK);
  assert_close(pools_value(got, "error"), 0.5, 1e-15, 0);
  assert_null(tutti_evaluation_find(got, "nll"));
  tutti_evaluation_destroy(got);
  struct tutti_uncertainty predicted[4];
  assert_int_equal(tutti_ensemble_predict(context, &models.pool, ensemble, NULL, predicted), TUTTI_OK);
  assert_close(predicted[0].mean, 2.0 / 3, 1e-15, 0);
  assert_close(predicted[3].mean, 2.0 / 3, 1e-15, 0);
  /* The entropy is that of the shares; a vote has none. */
  assert_close(predicted[0].total, log(3) - 2.0 / 3 * log(2), 1e-15, 0);
  assert_true(predicted[0].aleatoric == 0 && predicted[0].epistemic == predicted[0].total);
  /* With a weight of 4 the third member outvotes the others: (2/6, 4/6). */
  assert_int_equal(tutti_ensemble_add(context, ensemble, models.trials[2], 3), TUTTI_OK);
  assert_int_equal(tutti_ensemble_predict(context, &models.pool, ensemble, NULL, predicted), TUTTI_OK);
  assert_close(predicted[0].mean, 1.0 / 3, 1e-15, 0);
  assert_close(predicted[1].mean, 2.0 / 3, 1e-15, 0);
  /* No member has a weight of nothing, less, or without bounds. */
  static const double none[] = {0, -1, INFINITY, NAN};
  for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
    assert_int_equal(tutti_ensemble_add(context, ensemble, models.trials[0], none[i]), TUTTI_ERROR_USAGE);
  tutti_ensemble_destroy(ensemble);
  pools_free(&models);
}

static void test_nan_probabilities(void **state) {
  (void)state;
  struct tutti_random random;
  struct pools_models models;
  tutti_evaluation *got;
  tutti_random_init(&random, 3, "test", 0);
  pools_random_classes(&models, &random, 2, 5, 3, 1);
  for (size_t i = 0; i < 3; i++)
    models.values[i] = NAN;
  tutti_ensemble *ensemble = pools_equal_members(context, &models);
  assert_int_equal(tutti_evaluate(context, &models.pool, ensemble, NULL, &got), TUTTI_OK);
  const char *unknown[] = {"nll",         "error",         "brier",      "ece", "entropy", "mutual-information",
                           "average-nll", "average-error", "average-ece"};
  for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
    assert_true(isnan(pools_value(got, unknown[i])));
  tutti_evaluation_destroy(got);
  tutti_ensemble_destroy(ensemble);
  pools_free(&models);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_classification_golden),
      cmocka_unit_test(test_oracle_golden),
      cmocka_unit_test(test_calibration_of_single_models),
      cmocka_unit_test(test_bin_edges),
      cmocka_unit_test(test_bin_edge_that_rounds),
      cmocka_unit_test(test_members_that_agree),
      cmocka_unit_test(test_uncertainty_of_classes),
      cmocka_unit_test(test_disagreement_by_hand),
      cmocka_unit_test(test_nan_probabilities),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
