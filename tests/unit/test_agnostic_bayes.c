/* Bootstraps, and selector agnostic-bayes: golden numbers, a plain version, ties, votes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plugins/selector/agnostic-bayes.c"

#include "golden.h"
#include "selecting.h"

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

/* --- golden ------------------------------------------------------------------------------------------------------- */

static double at(const json_t *matrix, size_t row, size_t column) {
  return json_number_value(json_array_get(json_array_get(matrix, row), column));
}

static void check_golden(const json_t *root, const char *name) {
  json_t *losses = golden_get(root, "losses[i][n]"), *part = golden_get(root, name);
  json_t *times = golden_get(part, "bootstrap_counts[k][i]"), *risks = golden_get(part, "bootstrap_risk[k][n]");
  json_t *prob = golden_get(part, "prob");
  size_t rows = json_array_size(losses), count = json_array_size(times), models = json_array_size(prob);
  uint32_t *counts = calloc(count * rows, sizeof *counts);
  double *own = calloc(models, sizeof *own), *weights = calloc(models, sizeof *weights);
  double *measured = calloc(models * count, sizeof *measured), *column = calloc(rows, sizeof *column);
  struct tutti_pool pool = {.size = sizeof pool, .models = models, .rows = rows};
  struct tournament tournament = {.pool = &pool, .own = own, .risks = measured, .weights = weights};
  for (size_t k = 0; k < count; k++)
    for (size_t i = 0; i < rows; i++)
      counts[k * rows + i] = (uint32_t)at(times, k, i);
  assert_int_equal(tutti_bootstraps_from(context, count, rows, counts, &tournament.bootstraps), TUTTI_OK);
  for (size_t m = 0; m < models; m++) {
    for (size_t i = 0; i < rows; i++)
      column[i] = at(losses, i, m);
    tutti_bootstraps_risks(tournament.bootstraps, column, measured + m * count);
    for (size_t k = 0; k < count; k++)
      assert_close(measured[m * count + k], at(risks, k, m), 1e-15, 0);
  }
  for (size_t k = 0; k < count; k++)
    judge_agnostic_bayes(&tournament, k);
  for (size_t m = 0; m < models; m++)
    assert_close(weights[m] / (double)count, json_number_value(json_array_get(prob, m)), 1e-15, 0);
  tutti_bootstraps_destroy(tournament.bootstraps);
  free(counts);
  free(own);
  free(weights);
  free(measured);
  free(column);
}

static void test_golden(void **state) {
  (void)state;
  json_t *root = golden_load("agnostic_bayes");
  check_golden(root, "essr_1");
  check_golden(root, "essr_0.5");
  json_decref(root);
}

/* --- bootstraps --------------------------------------------------------------------------------------------------- */

/* The risk of an indicator of one row is its share of the draws: the shares sum to 1, and are binomial. */
static void test_draws(void **state) {
  enum { COUNT = 400, ROWS = 12, DRAWS = 30 };
  tutti_bootstraps *bootstraps, *again;
  double shares[COUNT], others[COUNT], sum[COUNT] = {0}, mean = 0, square = 0;
  (void)state;
  assert_int_equal(tutti_bootstraps_create(context, COUNT, ROWS, DRAWS, 7, &bootstraps), TUTTI_OK);
  assert_int_equal(tutti_bootstraps_create(context, COUNT / 2, ROWS, DRAWS, 7, &again), TUTTI_OK);
  for (size_t row = 0; row < ROWS; row++) {
    double indicator[ROWS] = {0};
    indicator[row] = 1;
    tutti_bootstraps_risks(bootstraps, indicator, shares);
    tutti_bootstraps_risks(again, indicator, others);
    for (size_t k = 0; k < COUNT; k++) {
      assert_true(k >= COUNT / 2 || shares[k] == others[k]); /* bootstrap k does not depend on how many there are */
      sum[k] += shares[k];
      mean += shares[k] * DRAWS / (COUNT * ROWS);
      square += shares[k] * DRAWS * shares[k] * DRAWS / (COUNT * ROWS);
    }
  }
  for (size_t k = 0; k < COUNT; k++)
    assert_close(sum[k], 1, 1e-12, 0);
  assert_close(mean, (double)DRAWS / ROWS, 1e-12, 0);
  double variance = DRAWS * (1. / ROWS) * (1 - 1. / ROWS); /* of 4,800 numbers: a standard error of 2 % */
  assert_true(fabs(square - mean * mean - variance) < 0.1 * variance);
  tutti_bootstraps_destroy(bootstraps);
  tutti_bootstraps_destroy(again);
  assert_int_equal(tutti_bootstraps_create(context, 3, 0, 5, 1, &bootstraps), TUTTI_ERROR_USAGE);
  assert_int_equal(tutti_bootstraps_create(context, 3, 5, 0, 1, &bootstraps), TUTTI_ERROR_USAGE);
  assert_int_equal(tutti_bootstraps_create(context, 0, 5, 5, 1, &bootstraps), TUTTI_ERROR_USAGE);
  assert_null(bootstraps);
}

/* --- selection ---------------------------------------------------------------------------------------------------- */

static tutti_ensemble *choose(const struct agnostic_bayes_config *config, const struct tutti_pool *pool) {
  tutti_ensemble *ensemble;
  assert_int_equal(selecting_choose(context, tutti_plugin(), config, pool, 0, &ensemble), TUTTI_OK);
  return ensemble;
}

/* Share of the bootstraps on which a model is best, by evaluating every model on every bootstrap. */
static double plain_weight(const struct tutti_pool *pool, enum tutti_loss loss, size_t count, size_t draws,
                           uint64_t seed, size_t model) {
  tutti_bootstraps *bootstraps;
  double won = 0, *losses = calloc(pool->rows, sizeof *losses), *risks = calloc(pool->models * count, sizeof *risks);
  assert_int_equal(tutti_bootstraps_create(context, count, pool->rows, draws, seed, &bootstraps), TUTTI_OK);
  for (size_t m = 0; m < pool->models; m++) {
    struct tutti_predictions predictions = {.size = sizeof predictions};
    struct tutti_targets targets = {.size = sizeof targets};
    tutti_pool_predictions(pool, m, &predictions);
    tutti_pool_targets(pool, &targets);
    assert_true(tutti_row_losses(loss, &predictions, &targets, losses));
    tutti_bootstraps_risks(bootstraps, losses, risks + m * count);
  }
  for (size_t k = 0; k < count; k++) {
    size_t better = 0, equal = 0;
    for (size_t m = 0; m < pool->models; m++) {
      better += risks[m * count + k] < risks[model * count + k];
      equal += risks[m * count + k] == risks[model * count + k];
    }
    won += better ? 0 : 1 / (double)equal;
  }
  tutti_bootstraps_destroy(bootstraps);
  free(losses);
  free(risks);
  return won / (double)count;
}

static void test_by_brute_force(void **state) {
  static const struct {
    bool classes;
    int choice;
    enum tutti_loss loss;
  } cases[] = {{true, 0, TUTTI_LOSS_NLL},
               {true, 4, TUTTI_LOSS_ERROR},
               {true, 2, TUTTI_LOSS_BRIER},
               {false, 0, TUTTI_LOSS_NLL},
               {false, 3, TUTTI_LOSS_MSE}};
  (void)state;
  for (uint64_t seed = 0; seed < 20; seed++) {
    size_t which = seed % 5, rows = 40;
    struct pools_models models;
    struct tutti_random random;
    tutti_random_init(&random, seed, "test", 0);
    if (cases[which].classes)
      pools_random_classes(&models, &random, 7, rows, 3, 1.5);
    else
      pools_random_values(&models, &random, 7, rows, 2);
    struct agnostic_bayes_config config = {.bootstraps = 30, .share = seed % 2 ? 0.5 : 1, .loss = cases[which].choice};
    tutti_ensemble *ensemble = choose(&config, &models.pool);
    for (size_t m = 0; m < 7; m++)
      assert_close(selecting_weight(ensemble, models.trials[m]),
                   plain_weight(&models.pool, cases[which].loss, 30, seed % 2 ? rows / 2 : rows, 0, m), 1e-13, 0);
    assert_int_equal(tutti_ensemble_combination(ensemble),
                     cases[which].loss == TUTTI_LOSS_ERROR ? TUTTI_COMBINATION_VOTE : TUTTI_COMBINATION_MIXTURE);
    tutti_ensemble_destroy(ensemble);
    pools_free(&models);
  }
}

/* Equal models share what they win; a model with a NaN takes no part; without variances, squared errors decide. */
static void test_ties_and_nan(void **state) {
  struct pools_models models;
  struct tutti_random random;
  (void)state;
  tutti_random_init(&random, 1, "test", 0);
  pools_random_values(&models, &random, 4, 30, 1);
  struct agnostic_bayes_config config = {.bootstraps = 50, .share = 1};
  for (size_t i = 0; i < 60; i++) {
    models.values[60 + i] = models.values[i]; /* 1 is 0 */
    models.values[120 + i] = i % 2 ? 1e-6f : (float)models.y[i / 2];
  }
  models.values[121 + 20] = NAN; /* the best is not whole: row 10 lacks its variance */
  tutti_ensemble *ensemble = choose(&config, &models.pool);
  assert_true(selecting_weight(ensemble, models.trials[0]) == selecting_weight(ensemble, models.trials[1]));
  assert_true(selecting_weight(ensemble, models.trials[0]) > 0);
  assert_true(selecting_weight(ensemble, models.trials[2]) == 0);
  assert_non_null(strstr(tutti_ensemble_step(ensemble, tutti_ensemble_steps(ensemble) - 1)->note, "passed over"));
  tutti_ensemble_destroy(ensemble);
  for (size_t i = 1; i < 240; i += 2)
    models.values[i] = NAN;
  ensemble = choose(&config, &models.pool);
  assert_true(selecting_weight(ensemble, models.trials[2]) == 1); /* its means are the targets */
  tutti_ensemble_destroy(ensemble);
  pools_free(&models);
}

static void test_refusals(void **state) {
  struct pools_models models;
  struct tutti_random random;
  tutti_ensemble *ensemble;
  (void)state;
  tutti_random_init(&random, 1, "test", 0);
  pools_random_values(&models, &random, 2, 10, 1);
  struct agnostic_bayes_config config = {.bootstraps = 5, .share = 1, .loss = 4};
  assert_int_equal(selecting_choose(context, tutti_plugin(), &config, &models.pool, 0, &ensemble), TUTTI_ERROR_USAGE);
  assert_non_null(strstr(tutti_error_message(context), "loss = error is not defined for regression"));
  tutti_ensemble_destroy(ensemble);
  config.loss = 0;
  for (size_t i = 0; i < 40; i++)
    models.values[i] = NAN;
  assert_int_equal(selecting_choose(context, tutti_plugin(), &config, &models.pool, 0, &ensemble), TUTTI_ERROR_NUMERIC);
  assert_non_null(strstr(tutti_error_message(context), "none of the 2 models"));
  tutti_ensemble_destroy(ensemble);
  pools_free(&models);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_golden),       cmocka_unit_test(test_draws),    cmocka_unit_test(test_by_brute_force),
      cmocka_unit_test(test_ties_and_nan), cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
