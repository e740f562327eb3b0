/* test_evaluate.c - metrics and predictions of ensembles against golden numbers, definitions and properties. */
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

static tutti_ensemble *equal_members(const struct pools_models *models) {
  tutti_ensemble *ensemble;
  assert_int_equal(tutti_ensemble_create(context, &ensemble), TUTTI_OK);
  for (size_t k = 0; k < models->pool.models; k++)
    assert_int_equal(tutti_ensemble_add(context, ensemble, models->trials[k], 1), TUTTI_OK);
  return ensemble;
}

static void test_metric_tables(void **state) {
  (void)state;
  for (enum tutti_metric_table table = 0; table < TUTTI_METRICS_COUNT; table++) {
    const struct tutti_metric *metric;
    size_t count = 0;
    for (; (metric = tutti_metric_at(table, count)); count++) {
      assert_int_equal(metric->size, sizeof *metric);
      assert_true(metric->name[0] && metric->text[0] && isnan(metric->value));
      assert_null(strpbrk(metric->text, "|\n")); /* a cell of a table */
      assert_int_equal(tutti_better_parse(tutti_better_name(metric->better)), metric->better);
      for (size_t other = 0; other < count; other++)
        assert_string_not_equal(metric->name, tutti_metric_at(table, other)->name);
    }
    assert_true(count > 0);
    assert_null(tutti_metric_at(table, SIZE_MAX));
  }
  assert_null(tutti_metric_at(TUTTI_METRICS_COUNT, 0));
  assert_int_equal(tutti_better_parse("best"), TUTTI_BETTER_NEITHER);
  assert_int_equal(tutti_better_parse(NULL), TUTTI_BETTER_NEITHER);
}

/* What an older caller's options lack has its default. */
static void test_shorter_options(void **state) {
  (void)state;
  struct pools_models models;
  struct tutti_random random;
  struct tutti_evaluation_options options = {.size = offsetof(struct tutti_evaluation_options, bins), .bins = -1};
  tutti_evaluation *given, *preset;
  tutti_random_init(&random, 4, "test", 0);
  pools_random_classes(&models, &random, 2, 9, 3, 1);
  tutti_ensemble *ensemble = equal_members(&models);
  assert_int_equal(tutti_evaluate(context, &models.pool, ensemble, &options, &given), TUTTI_OK);
  assert_int_equal(tutti_evaluate(context, &models.pool, ensemble, NULL, &preset), TUTTI_OK);
  assert_int_equal(tutti_evaluation_count(given), tutti_evaluation_count(preset));
  for (size_t i = 0; i < tutti_evaluation_count(given); i++)
    assert_true(tutti_evaluation_metric(given, i)->value == tutti_evaluation_metric(preset, i)->value);
  assert_null(tutti_evaluation_metric(given, tutti_evaluation_count(given)));
  tutti_evaluation_destroy(given);
  tutti_evaluation_destroy(preset);
  tutti_evaluation_destroy(NULL);
  tutti_ensemble_destroy(ensemble);
  pools_free(&models);
}

static double value_of(const tutti_evaluation *evaluation, const char *name) {
  const struct tutti_metric *metric = tutti_evaluation_find(evaluation, name);
  if (!metric)
    fail_msg("no metric \"%s\"", name);
  return metric->value;
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
  tutti_ensemble *ensemble = equal_members(&models);
  tutti_evaluation *got;
  assert_int_equal(tutti_evaluate(context, &models.pool, ensemble, NULL, &got), TUTTI_OK);
  assert_close(value_of(got, "nll"), golden_number_of(expected, "nll"), FLOAT32, 0);
  assert_close(value_of(got, "error"), golden_number_of(expected, "error"), 1e-14, 0);
  assert_close(value_of(got, "brier"), golden_number_of(expected, "brier_sum_over_classes"), FLOAT32, 0);
  assert_close(value_of(got, "ece"), golden_number_of(expected, "ece15"), FLOAT32, 0);
  assert_close(value_of(got, "oracle-nll"), golden_number_of(golden, "oracle_nll(mean_x min_k nll)"), FLOAT32, 0);
  assert_close(value_of(got, "all-wrong"), golden_number_of(golden, "oracle_error(all models wrong)"), 1e-14, 0);
  assert_close(value_of(got, "average-nll"), golden_number_of(golden, "average_base_learner_nll"), FLOAT32, 0);
  assert_close(value_of(got, "average-error"), golden_number_of(golden, "average_base_learner_error"), 1e-14, 0);
  assert_close(value_of(got, "disagreement"), golden_number_of(golden, "disagreement_mean_over_pairs"), 1e-14, 0);
  assert_close(value_of(got, "entropy"), golden_number_of(golden, "predictive_entropy_mean"), FLOAT32, 0);
  assert_close(value_of(got, "expected-entropy"), golden_number_of(golden, "expected_entropy_mean"), FLOAT32, 0);
  assert_close(value_of(got, "mutual-information"), golden_number_of(golden, "mutual_information_mean"), 1e-5, 0);
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
  tutti_ensemble *all = equal_members(&models), *one = equal_members(&oracle);
  tutti_evaluation *got, *expected;
  assert_int_equal(tutti_evaluate(context, &models.pool, all, NULL, &got), TUTTI_OK);
  assert_int_equal(tutti_evaluate(context, &oracle.pool, one, NULL, &expected), TUTTI_OK);
  assert_close(value_of(got, "oracle-nll"), value_of(expected, "nll"), 1e-14, 0);
  assert_close(value_of(got, "oracle-error"), value_of(expected, "error"), 1e-14, 0);
  assert_close(value_of(got, "oracle-error"), 7 / 50.0, 1e-14, 0); /* all are wrong on only 6 rows */
  assert_close(value_of(got, "oracle-ece"), value_of(expected, "ece"), 1e-14, 0);
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
    assert_close(value_of(got, "ece"), golden_number_of(golden_at(golden_get(golden, "per_model"), k), "ece15"),
                 FLOAT32, 0);
    assert_close(value_of(got, "oracle-nll"), value_of(got, "nll"), 1e-15, 0);
    assert_close(value_of(got, "oracle-ece"), value_of(got, "ece"), 1e-15, 0);
    assert_close(value_of(got, "average-ece"), value_of(got, "ece"), 1e-15, 0);
    mean += value_of(got, "ece") / 5;
    assert_null(tutti_evaluation_find(got, "disagreement"));
    tutti_evaluation_destroy(got);
    tutti_ensemble_destroy(ensemble);
  }
  tutti_ensemble *ensemble = equal_members(&models);
  tutti_evaluation *got;
  assert_int_equal(tutti_evaluate(context, &models.pool, ensemble, NULL, &got), TUTTI_OK);
  assert_close(value_of(got, "average-ece"), mean, 1e-14, 0);
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
  tutti_ensemble *ensemble = equal_members(&models);
  struct tutti_evaluation_options options = TUTTI_EVALUATION_DEFAULTS;
  tutti_evaluation *got;
  options.bins = 2;
  assert_int_equal(tutti_evaluate(context, &models.pool, ensemble, &options, &got), TUTTI_OK);
  assert_close(value_of(got, "ece"), (0.5 + 0.75) / 2, 1e-15, 0);
  tutti_evaluation_destroy(got);
  options.bins = 1;
  assert_int_equal(tutti_evaluate(context, &models.pool, ensemble, &options, &got), TUTTI_OK);
  assert_close(value_of(got, "ece"), 0.125, 1e-15, 0);
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
  assert_close(value_of(got, "error"), 0.5, 1e-15, 0);
  assert_close(value_of(got, "ece"), (1 - 0.28 - 0.27) / 2, 1e-6, 0);
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
  tutti_ensemble *ensemble = equal_members(&models);
  assert_int_equal(tutti_evaluate(context, &models.pool, ensemble, NULL, &got), TUTTI_OK);
  assert_true(value_of(got, "error") == 0);
  assert_true(value_of(got, "disagreement") == 0);
  assert_true(value_of(got, "normalised-disagreement") == 0);
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
  tutti_ensemble *ensemble = equal_members(&models);
  assert_int_equal(tutti_evaluate(context, &models.pool, ensemble, NULL, &got), TUTTI_OK);
  assert_int_equal(tutti_ensemble_predict(context, &models.pool, ensemble, NULL, predicted), TUTTI_OK);
  for (size_t n = 0; n < ROWS; n++) {
    const struct tutti_uncertainty *row = predicted + 3 * n;
    assert_close(row[0].mean + row[1].mean + row[2].mean, 1, 1e-6, 0);
    total += row[0].total / ROWS;
    aleatoric += row[1].aleatoric / ROWS;
    epistemic += row[2].epistemic / ROWS;
  }
  assert_close(total, value_of(got, "entropy"), 1e-13, 0);
  assert_close(aleatoric, value_of(got, "expected-entropy"), 1e-13, 0);
  assert_close(epistemic, value_of(got, "mutual-information"), 1e-13, 0);
  tutti_evaluation_destroy(got);
  tutti_ensemble_destroy(ensemble);
  pools_free(&models);
}

/* Of a single member with several outputs, its own figures are the ensemble's. */
static void test_single_regressor(void **state) {
  (void)state;
  struct tutti_random random;
  struct pools_models models;
  tutti_evaluation *got;
  tutti_random_init(&random, 8, "test", 2);
  pools_random_values(&models, &random, 1, 30, 3);
  tutti_ensemble *ensemble = equal_members(&models);
  assert_int_equal(tutti_evaluate(context, &models.pool, ensemble, NULL, &got), TUTTI_OK);
  assert_close(value_of(got, "average-rmse"), value_of(got, "rmse"), 1e-13, 0);
  assert_close(value_of(got, "oracle-rmse"), value_of(got, "rmse"), 1e-13, 0);
  assert_close(value_of(got, "nll"), models.losses[0], 1e-13, 0);
  assert_close(value_of(got, "nll-moments"), models.losses[0], 1e-13, 0);
  assert_close(value_of(got, "oracle-nll"), models.losses[0], 1e-13, 0);
  assert_close(value_of(got, "crps"), value_of(got, "crps-moments"), 1e-13, 0);
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
  tutti_ensemble *ensemble = equal_members(&models);
  tutti_evaluation *got;
  assert_int_equal(tutti_evaluate(context, &models.pool, ensemble, NULL, &got), TUTTI_OK);
  /* Pairs differ on 1/2, 1, 1/2 of the rows; their mean errors are 1/4, 1/2, 3/4. */
  assert_close(value_of(got, "disagreement"), 2.0 / 3, 1e-15, 0);
  assert_close(value_of(got, "normalised-disagreement"), (2 + 2 + 2.0 / 3) / 3, 1e-15, 0);
  assert_close(value_of(got, "oracle-error"), 0, 0, 0);
  tutti_evaluation_destroy(got);
  /* A vote: shares (2/3, 1/3) and (1/3, 2/3). */
  tutti_ensemble_combine(ensemble, TUTTI_COMBINATION_VOTE);
  assert_int_equal(tutti_evaluate(context, &models.pool, ensemble, NULL, &got), TUTTI_OK);
  assert_close(value_of(got, "error"), 0.5, 1e-15, 0);
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

static void test_regression_golden(void **state) {
  (void)state;
  json_t *root = golden_load("metrics"), *golden = golden_get(root, "regression");
  struct pools_models models = {0};
  size_t rows, count;
  models.y = golden_doubles(golden_get(golden, "y"), &rows);
  double *mu = golden_doubles(golden_get(golden, "mu[model][sample]"), &count);
  double *var = golden_doubles(golden_get(golden, "var[model][sample]"), NULL);
  double *aleatoric = golden_doubles(golden_get(golden, "aleatoric=mean var"), NULL);
  double *epistemic = golden_doubles(golden_get(golden, "epistemic_ddof1(1/(K-1))"), NULL);
  double *total = golden_doubles(golden_get(golden, "total_var_ddof1"), NULL);
  double *mean = golden_doubles(golden_get(golden, "mixture_mean"), NULL);
  models.values = calloc(2 * count, sizeof(float));
  for (size_t i = 0; i < count; i++) {
    models.values[2 * i] = (float)mu[i];
    models.values[2 * i + 1] = (float)var[i];
  }
  pools_make(&models, TUTTI_TASK_REGRESSION, 5, rows, 1);
  tutti_ensemble *ensemble = equal_members(&models);
  tutti_evaluation *got;
  assert_int_equal(tutti_evaluate(context, &models.pool, ensemble, NULL, &got), TUTTI_OK);
  assert_close(value_of(got, "nll"), golden_number_of(golden, "nll_mean_exact_mixture"), FLOAT32, 0);
  assert_close(value_of(got, "nll-moments"), golden_number_of(golden, "nll_mean_moment_matched_ddof1"), FLOAT32, 0);
  assert_close(value_of(got, "rmse"), golden_number_of(golden, "rmse"), FLOAT32, 0);
  assert_close(value_of(got, "mae"), golden_number_of(golden, "mae"), FLOAT32, 0);
  assert_close(value_of(got, "r2"), golden_number_of(golden, "r2"), FLOAT32, 0);
  assert_close(value_of(got, "crps"), golden_number_of(golden, "crps_exact_mixture_mean"), FLOAT32, 0);
  assert_close(value_of(got, "crps-moments"), golden_number_of(golden, "crps_gaussian_mean_ddof1"), FLOAT32, 0);
  assert_close(value_of(got, "average-nll"), golden_number_of(golden, "average_base_learner_nll"), FLOAT32, 0);
  tutti_evaluation_destroy(got);
  struct tutti_evaluation_options options = TUTTI_EVALUATION_DEFAULTS;
  options.epistemic = TUTTI_EPISTEMIC_POPULATION;
  assert_int_equal(tutti_evaluate(context, &models.pool, ensemble, &options, &got), TUTTI_OK);
  assert_close(value_of(got, "nll-moments"), golden_number_of(golden, "nll_mean_moment_matched_ddof0"), FLOAT32, 0);
  tutti_evaluation_destroy(got);
  struct tutti_uncertainty *predicted = calloc(rows, sizeof *predicted);
  assert_int_equal(tutti_ensemble_predict(context, &models.pool, ensemble, NULL, predicted), TUTTI_OK);
  for (size_t n = 0; n < rows; n++) {
    assert_close(predicted[n].mean, mean[n], FLOAT32, 1e-7);
    assert_close(predicted[n].aleatoric, sqrt(aleatoric[n]), FLOAT32, 0);
    assert_close(predicted[n].epistemic, sqrt(epistemic[n]), FLOAT32, 0);
    assert_close(predicted[n].total, sqrt(total[n]), FLOAT32, 0);
  }
  free(mu), free(var), free(aleatoric), free(epistemic), free(total), free(mean), free(predicted);
  tutti_ensemble_destroy(ensemble);
  pools_free(&models);
  json_decref(root);
}

/* Width against coverage: one model that predicts the golden means and standard deviations. */
static void test_width_and_coverage_golden(void **state) {
  (void)state;
  json_t *root = golden_load("metrics"), *golden = golden_get(root, "nomu_auc_nll");
  struct pools_models models = {0};
  size_t rows;
  models.y = golden_doubles(golden_get(golden, "y"), &rows);
  double *mean = golden_doubles(golden_get(golden, "mean"), NULL);
  double *sigma = golden_doubles(golden_get(golden, "sigma"), NULL);
  models.values = calloc(2 * rows, sizeof(float));
  for (size_t n = 0; n < rows; n++) {
    models.values[2 * n] = (float)mean[n];
    models.values[2 * n + 1] = (float)(sigma[n] * sigma[n]);
  }
  pools_make(&models, TUTTI_TASK_REGRESSION, 1, rows, 1);
  tutti_ensemble *ensemble = equal_members(&models);
  tutti_evaluation *got;
  assert_int_equal(tutti_evaluate(context, &models.pool, ensemble, NULL, &got), TUTTI_OK);
  assert_close(value_of(got, "width-coverage-area"),
               golden_number_of(golden, "AUC_fine_grid_limit = 2*mean(sigma)*mean(|y-m|/sigma)"), 1e-5, 0);
  assert_close(value_of(got, "nll-min"),
               golden_number_of(golden, "NLLmin_exact = mean(log sigma)+log(c_opt)+1/2") + 0.5 * log(2 * M_PI), 1e-5,
               0);
  tutti_evaluation_destroy(got);
  json_t *points = golden_get(golden, "point_values");
  for (size_t i = 0; i < json_array_size(points); i++) {
    json_t *point = golden_at(points, i);
    struct tutti_evaluation_options options = TUTTI_EVALUATION_DEFAULTS;
    options.level = 2 * tutti_normal_cdf(golden_number_of(point, "c")) - 1;
    assert_int_equal(tutti_evaluate(context, &models.pool, ensemble, &options, &got), TUTTI_OK);
    assert_close(value_of(got, "coverage"), golden_number_of(point, "CP"), 1e-12, 0);
    assert_close(value_of(got, "width"), golden_number_of(point, "MW"), FLOAT32, 0);
    tutti_evaluation_destroy(got);
  }
  free(mean), free(sigma);
  tutti_ensemble_destroy(ensemble);
  pools_free(&models);
  json_decref(root);
}

/* Targets drawn from the prediction itself: coverage reaches its level and calibration error vanishes; predictions of
   half the deviation are found out. */
static void test_calibration_of_truth(void **state) {
  (void)state;
  struct tutti_random random;
  struct pools_models models;
  tutti_evaluation *got;
  tutti_random_init(&random, 5, "test", 0);
  pools_random_values(&models, &random, 1, 20000, 1);
  for (size_t n = 0; n < models.pool.rows; n++)
    models.y[n] = (double)models.values[2 * n] + sqrt((double)models.values[2 * n + 1]) * tutti_random_normal(&random);
  tutti_ensemble *ensemble = equal_members(&models);
  assert_int_equal(tutti_evaluate(context, &models.pool, ensemble, NULL, &got), TUTTI_OK);
  assert_close(value_of(got, "coverage"), 0.95, 0, 0.006); /* 4 standard errors */
  assert_close(value_of(got, "calibration-error"), 0, 0, 0.01);
  tutti_evaluation_destroy(got);
  for (size_t n = 0; n < models.pool.rows; n++)
    models.values[2 * n + 1] /= 4;
  assert_int_equal(tutti_evaluate(context, &models.pool, ensemble, NULL, &got), TUTTI_OK);
  assert_close(value_of(got, "coverage"), 2 * tutti_normal_cdf(1.959964 / 2) - 1, 0, 0.014);
  assert_true(value_of(got, "calibration-error") > 0.05);
  tutti_evaluation_destroy(got);
  tutti_ensemble_destroy(ensemble);
  pools_free(&models);
}

/* Proposition 3.1 of Zaidi et al. (2021): oracle <= ensemble <= average base learner in NLL, for any pool and
   weights. */
static void test_oracle_ensemble_average(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 60; seed++) {
    struct tutti_random random;
    struct pools_models models;
    tutti_evaluation *got;
    tutti_random_init(&random, seed, "test", 0);
    size_t count = 2 + (size_t)tutti_random_below(&random, 6), rows = 1 + (size_t)tutti_random_below(&random, 30);
    if (seed % 2)
      pools_random_classes(&models, &random, count, rows, 2 + (size_t)tutti_random_below(&random, 6), 3);
    else
      pools_random_values(&models, &random, count, rows, 1 + (size_t)tutti_random_below(&random, 3));
    tutti_ensemble *ensemble;
    assert_int_equal(tutti_ensemble_create(context, &ensemble), TUTTI_OK);
    for (size_t k = 0; k < count; k++)
      assert_int_equal(
          tutti_ensemble_add(context, ensemble, models.trials[k], seed % 3 ? 1 : 0.1 + tutti_random_uniform(&random)),
          TUTTI_OK);
    assert_int_equal(tutti_evaluate(context, &models.pool, ensemble, NULL, &got), TUTTI_OK);
    assert_true(value_of(got, "oracle-nll") <= value_of(got, "nll") + 1e-12);
    assert_true(value_of(got, "nll") <= value_of(got, "average-nll") + 1e-12);
    if (seed % 2) {
      assert_true(value_of(got, "all-wrong") <= value_of(got, "oracle-error"));
      assert_true(value_of(got, "all-wrong") <= value_of(got, "average-error"));
      assert_true(value_of(got, "mutual-information") >= 0);
      assert_close(value_of(got, "mutual-information"), value_of(got, "entropy") - value_of(got, "expected-entropy"),
                   1e-12, 1e-15);
    } else {
      assert_true(value_of(got, "oracle-rmse") <= value_of(got, "average-rmse") + 1e-12);
      assert_true(value_of(got, "rmse") <= value_of(got, "average-rmse") + 1e-12);
      assert_true(value_of(got, "crps") >= 0);
    }
    tutti_evaluation_destroy(got);
    tutti_ensemble_destroy(ensemble);
    pools_free(&models);
  }
}

/* Weight 2 is the member twice; the order of adding does not matter to the metrics. */
static void test_weights_are_multiplicities(void **state) {
  (void)state;
  struct tutti_random random;
  struct pools_models models;
  tutti_evaluation *a, *b;
  tutti_random_init(&random, 9, "test", 0);
  pools_random_classes(&models, &random, 3, 40, 3, 2);
  memcpy(models.values + 2 * 40 * 3, models.values, 40 * 3 * sizeof(float));
  tutti_ensemble *thrice = equal_members(&models), *twice;
  assert_int_equal(tutti_ensemble_create(context, &twice), TUTTI_OK);
  assert_int_equal(tutti_ensemble_add(context, twice, models.trials[1], 1), TUTTI_OK);
  assert_int_equal(tutti_ensemble_add(context, twice, models.trials[0], 1), TUTTI_OK);
  assert_int_equal(tutti_ensemble_add(context, twice, models.trials[0], 1), TUTTI_OK);
  assert_int_equal(tutti_ensemble_size(twice), 2);
  assert_close(tutti_ensemble_weight(twice, 1), 2.0 / 3, 1e-15, 0);
  assert_int_equal(tutti_evaluate(context, &models.pool, thrice, NULL, &a), TUTTI_OK);
  assert_int_equal(tutti_evaluate(context, &models.pool, twice, NULL, &b), TUTTI_OK);
  const char *same[] = {"nll",         "error",      "brier",        "ece",         "mutual-information",
                        "average-nll", "oracle-nll", "oracle-error", "average-ece", "oracle-ece"};
  for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
    assert_close(value_of(a, same[i]), value_of(b, same[i]), 1e-13, 1e-15);
  tutti_evaluation_destroy(a);
  tutti_evaluation_destroy(b);
  tutti_ensemble_destroy(thrice);
  tutti_ensemble_destroy(twice);
  pools_free(&models);
}

/* Members without a variance: metrics that need it are NaN, the others are not. */
static void test_members_without_variance(void **state) {
  (void)state;
  struct tutti_random random;
  struct pools_models models;
  tutti_evaluation *got;
  tutti_random_init(&random, 3, "test", 0);
  pools_random_values(&models, &random, 3, 10, 2);
  for (size_t i = 0; i < 60; i++)
    models.values[2 * i + 1] = NAN;
  tutti_ensemble *ensemble = equal_members(&models);
  assert_int_equal(tutti_evaluate(context, &models.pool, ensemble, NULL, &got), TUTTI_OK);
  const char *known[] = {"rmse", "mae", "r2", "epistemic", "oracle-rmse", "average-rmse"};
  const char *unknown[] = {"nll",         "nll-moments",       "crps",           "crps-moments", "coverage",
                           "width",       "calibration-error", "coverage-50",    "coverage-80",  "coverage-90",
                           "coverage-95", "interval-score",    "interval-width", "aurc",         "width-coverage-area",
                           "nll-min",     "aleatoric",         "oracle-nll",     "average-nll"};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    assert_true(isfinite(value_of(got, known[i])));
  for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
    assert_true(isnan(value_of(got, unknown[i])));
  for (size_t m = 0; m < tutti_evaluation_count(got); m++) {
    const char *name = tutti_evaluation_metric(got, m)->name;
    bool listed = false;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
      listed = listed || strcmp(name, known[i]) == 0;
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
      listed = listed || strcmp(name, unknown[i]) == 0;
    if (!listed)
      fail_msg("metric %s is neither in `known` nor in `unknown` here: can it be told without variances?", name);
  }
  tutti_evaluation_destroy(got);
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
  tutti_ensemble *ensemble = equal_members(&models);
  assert_int_equal(tutti_evaluate(context, &models.pool, ensemble, NULL, &got), TUTTI_OK);
  const char *unknown[] = {"nll",         "error",         "brier",      "ece", "entropy", "mutual-information",
                           "average-nll", "average-error", "average-ece"};
  for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
    assert_true(isnan(value_of(got, unknown[i])));
  tutti_evaluation_destroy(got);
  tutti_ensemble_destroy(ensemble);
  pools_free(&models);
}

static void assert_refused(const struct tutti_pool *pool, const tutti_ensemble *ensemble,
                           const struct tutti_evaluation_options *options, const char *says) {
  tutti_evaluation *got;
  assert_int_equal(tutti_evaluate(context, pool, ensemble, options, &got), TUTTI_ERROR_USAGE);
  assert_non_null(strstr(tutti_error_message(context), says));
}

static void test_refusals(void **state) {
  (void)state;
  struct tutti_random random;
  struct pools_models models;
  tutti_random_init(&random, 3, "test", 0);
  pools_random_classes(&models, &random, 3, 5, 4, 1);
  tutti_ensemble *ensemble = equal_members(&models), *empty;
  assert_int_equal(tutti_ensemble_create(context, &empty), TUTTI_OK);
  assert_refused(&models.pool, empty, NULL, "empty");
  struct tutti_evaluation_options options = TUTTI_EVALUATION_DEFAULTS;
  options.bins = 0;
  assert_refused(&models.pool, ensemble, &options, "bin");
  options.bins = 5;
  options.level = 1;
  assert_refused(&models.pool, ensemble, &options, "level");
  struct tutti_pool pool = models.pool;
  pool.labels = NULL;
  assert_refused(&pool, ensemble, NULL, "without targets");
  pool = models.pool;
  pool.rows = 0;
  assert_refused(&pool, ensemble, NULL, "without rows");
  pool = models.pool;
  pool.models = 2;
  assert_refused(&pool, ensemble, NULL, "trial 30");
  models.labels[3] = -1;
  assert_refused(&models.pool, ensemble, NULL, "found -1");
  models.labels[3] = 4;
  assert_refused(&models.pool, ensemble, NULL, "row 3");
  pool = models.pool;
  pool.kind = TUTTI_TASK_VALUE;
  tutti_evaluation *got;
  assert_int_equal(tutti_evaluate(context, &pool, ensemble, NULL, &got), TUTTI_ERROR_UNSUPPORTED);
  assert_int_equal(tutti_ensemble_add(context, ensemble, 1, 0), TUTTI_ERROR_USAGE);
  assert_int_equal(tutti_ensemble_add(context, ensemble, 1, NAN), TUTTI_ERROR_USAGE);
  assert_int_equal(tutti_ensemble_add(context, ensemble, 1, INFINITY), TUTTI_ERROR_USAGE);
  tutti_ensemble_destroy(ensemble);
  tutti_ensemble_destroy(empty);
  tutti_ensemble_destroy(NULL);
  pools_free(&models);
}

/* The presets of [evaluation] are the defaults. */
static void test_parameters(void **state) {
  (void)state;
  const struct tutti_evaluation_options expected = TUTTI_EVALUATION_DEFAULTS, *options;
  tutti_config *config;
  assert_int_equal(tutti_params_check(context, tutti_evaluation_params()), TUTTI_OK);
  assert_int_equal(tutti_config_create(context, tutti_evaluation_params(), &config), TUTTI_OK);
  options = tutti_config_values(config);
  assert_int_equal(options->epistemic, expected.epistemic);
  assert_int_equal(options->bins, expected.bins);
  assert_true(options->level == expected.level);
  assert_int_equal(tutti_config_set(context, config, "epistemic", "population"), TUTTI_OK);
  assert_int_equal(options->epistemic, TUTTI_EPISTEMIC_POPULATION);
  assert_int_equal(tutti_config_set(context, config, "level", "1"), TUTTI_ERROR_USAGE);
  assert_int_equal(tutti_config_set(context, config, "bins", "0"), TUTTI_ERROR_USAGE);
  tutti_config_destroy(config);
}

static void test_ensemble_keeps_order_and_trace(void **state) {
  (void)state;
  tutti_ensemble *ensemble;
  assert_int_equal(tutti_ensemble_create(context, &ensemble), TUTTI_OK);
  for (uint64_t i = 0; i < 40; i++) {
    assert_int_equal(tutti_ensemble_add(context, ensemble, 100 - i, 1), TUTTI_OK);
    assert_int_equal(tutti_ensemble_trace(context, ensemble, 100 - i, (double)i, "because"), TUTTI_OK);
  }
  assert_int_equal(tutti_ensemble_size(ensemble), 40);
  assert_int_equal(tutti_ensemble_steps(ensemble), 40);
  assert_int_equal(tutti_ensemble_trial(ensemble, 17), 83);
  assert_close(tutti_ensemble_weight(ensemble, 17), 1.0 / 40, 1e-15, 0);
  assert_int_equal(tutti_ensemble_step(ensemble, 39)->trial, 61);
  assert_true(tutti_ensemble_step(ensemble, 39)->loss == 39);
  assert_string_equal(tutti_ensemble_step(ensemble, 39)->note, "because");
  assert_int_equal(tutti_ensemble_combination(ensemble), TUTTI_COMBINATION_MIXTURE);
  tutti_ensemble_destroy(ensemble);
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
      cmocka_unit_test(test_single_regressor),
      cmocka_unit_test(test_disagreement_by_hand),
      cmocka_unit_test(test_regression_golden),
      cmocka_unit_test(test_width_and_coverage_golden),
      cmocka_unit_test(test_calibration_of_truth),
      cmocka_unit_test(test_oracle_ensemble_average),
      cmocka_unit_test(test_weights_are_multiplicities),
      cmocka_unit_test(test_members_without_variance),
      cmocka_unit_test(test_nan_probabilities),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_parameters),
      cmocka_unit_test(test_metric_tables),
      cmocka_unit_test(test_shorter_options),
      cmocka_unit_test(test_ensemble_keeps_order_and_trace),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
