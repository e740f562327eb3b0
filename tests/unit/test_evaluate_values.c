/* test_evaluate_values.c - metrics and predictions of values against golden numbers, definitions and properties. */
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

/* Of a single member with several outputs, its own figures are the ensemble's. */
static void test_single_regressor(void **state) {
  (void)state;
  struct tutti_random random;
  struct pools_models models;
  tutti_evaluation *got;
  tutti_random_init(&random, 8, "test", 2);
  pools_random_values(&models, &random, 1, 30, 3);
  tutti_ensemble *ensemble = pools_equal_members(context, &models);
  assert_int_equal(tutti_evaluate(context, &models.pool, ensemble, NULL, &got), TUTTI_OK);
  assert_close(pools_value(got, "average-rmse"), pools_value(got, "rmse"), 1e-13, 0);
  assert_close(pools_value(got, "oracle-rmse"), pools_value(got, "rmse"), 1e-13, 0);
  assert_close(pools_value(got, "nll"), models.losses[0], 1e-13, 0);
  assert_close(pools_value(got, "nll-moments"), models.losses[0], 1e-13, 0);
  assert_close(pools_value(got, "oracle-nll"), models.losses[0], 1e-13, 0);
  assert_close(pools_value(got, "crps"), pools_value(got, "crps-moments"), 1e-13, 0);
  tutti_evaluation_destroy(got);
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
  tutti_ensemble *ensemble = pools_equal_members(context, &models);
  tutti_evaluation *got;
  assert_int_equal(tutti_evaluate(context, &models.pool, ensemble, NULL, &got), TUTTI_OK);
  assert_close(pools_value(got, "nll"), golden_number_of(golden, "nll_mean_exact_mixture"), FLOAT32, 0);
  assert_close(pools_value(got, "nll-moments"), golden_number_of(golden, "nll_mean_moment_matched_ddof1"), FLOAT32, 0);
  assert_close(pools_value(got, "rmse"), golden_number_of(golden, "rmse"), FLOAT32, 0);
  assert_close(pools_value(got, "mae"), golden_number_of(golden, "mae"), FLOAT32, 0);
  assert_close(pools_value(got, "r2"), golden_number_of(golden, "r2"), FLOAT32, 0);
  assert_close(pools_value(got, "crps"), golden_number_of(golden, "crps_exact_mixture_mean"), FLOAT32, 0);
  assert_close(pools_value(got, "crps-moments"), golden_number_of(golden, "crps_gaussian_mean_ddof1"), FLOAT32, 0);
  assert_close(pools_value(got, "average-nll"), golden_number_of(golden, "average_base_learner_nll"), FLOAT32, 0);
  tutti_evaluation_destroy(got);
  struct tutti_evaluation_options options = TUTTI_EVALUATION_DEFAULTS;
  options.epistemic = TUTTI_EPISTEMIC_POPULATION;
  assert_int_equal(tutti_evaluate(context, &models.pool, ensemble, &options, &got), TUTTI_OK);
  assert_close(pools_value(got, "nll-moments"), golden_number_of(golden, "nll_mean_moment_matched_ddof0"), FLOAT32, 0);
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
  tutti_ensemble *ensemble = pools_equal_members(context, &models);
  tutti_evaluation *got;
  assert_int_equal(tutti_evaluate(context, &models.pool, ensemble, NULL, &got), TUTTI_OK);
  assert_close(pools_value(got, "width-coverage-area"),
               golden_number_of(golden, "AUC_fine_grid_limit = 2*mean(sigma)*mean(|y-m|/sigma)"), 1e-5, 0);
  assert_close(pools_value(got, "nll-min"),
               golden_number_of(golden, "NLLmin_exact = mean(log sigma)+log(c_opt)+1/2") + 0.5 * log(2 * M_PI), 1e-5,
               0);
  tutti_evaluation_destroy(got);
  json_t *points = golden_get(golden, "point_values");
  for (size_t i = 0; i < json_array_size(points); i++) {
    json_t *point = golden_at(points, i);
    struct tutti_evaluation_options options = TUTTI_EVALUATION_DEFAULTS;
    options.level = 2 * tutti_normal_cdf(golden_number_of(point, "c")) - 1;
    assert_int_equal(tutti_evaluate(context, &models.pool, ensemble, &options, &got), TUTTI_OK);
    assert_close(pools_value(got, "coverage"), golden_number_of(point, "CP"), 1e-12, 0);
    assert_close(pools_value(got, "width"), golden_number_of(point, "MW"), FLOAT32, 0);
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
  tutti_ensemble *ensemble = pools_equal_members(context, &models);
  assert_int_equal(tutti_evaluate(context, &models.pool, ensemble, NULL, &got), TUTTI_OK);
  assert_close(pools_value(got, "coverage"), 0.95, 0, 0.006); /* 4 standard errors */
  assert_close(pools_value(got, "calibration-error"), 0, 0, 0.01);
  tutti_evaluation_destroy(got);
  for (size_t n = 0; n < models.pool.rows; n++)
    models.values[2 * n + 1] /= 4;
  assert_int_equal(tutti_evaluate(context, &models.pool, ensemble, NULL, &got), TUTTI_OK);
  assert_close(pools_value(got, "coverage"), 2 * tutti_normal_cdf(1.959964 / 2) - 1, 0, 0.014);
  assert_true(pools_value(got, "calibration-error") > 0.05);
  tutti_evaluation_destroy(got);
  tutti_ensemble_destroy(ensemble);
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
  tutti_ensemble *ensemble = pools_equal_members(context, &models);
  assert_int_equal(tutti_evaluate(context, &models.pool, ensemble, NULL, &got), TUTTI_OK);
  const char *known[] = {"rmse", "mae", "r2", "epistemic", "oracle-rmse", "average-rmse"};
  const char *unknown[] = {"nll",         "nll-moments",       "crps",           "crps-moments", "coverage",
                           "width",       "calibration-error", "coverage-50",    "coverage-80",  "coverage-90",
                           "coverage-95", "interval-score",    "interval-width", "aurc",         "width-coverage-area",
                           "nll-min",     "aleatoric",         "oracle-nll",     "average-nll"};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    assert_true(isfinite(pools_value(got, known[i])));
  for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
    assert_true(isnan(pools_value(got, unknown[i])));
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_single_regressor),          cmocka_unit_test(test_regression_golden),
      cmocka_unit_test(test_width_and_coverage_golden), cmocka_unit_test(test_calibration_of_truth),
      cmocka_unit_test(test_members_without_variance),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
