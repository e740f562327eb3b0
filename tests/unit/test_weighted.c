/* test_weighted.c - selector weighted: weights by the likelihood and by the accuracy of each model alone. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define tutti_plugin tutti_plugin_forward
#include "plugins/selector/forward.c"
#undef tutti_plugin
#define tutti_plugin tutti_plugin_weighted
#include "plugins/selector/weighted.c"
#undef tutti_plugin

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

static tutti_ensemble *choose(const struct pools_models *models, int by, size_t size, size_t count) {
  const struct weighted_config config = {.growth = {.size = (int64_t)size}, .by = by};
  tutti_ensemble *ensemble;
  assert_int_equal(selecting_choose(context, tutti_plugin_weighted(), &config, &models->pool, count, &ensemble),
                   TUTTI_OK);
  return ensemble;
}

/* The members are those of forward selection; their weights are proportional to what the definition says. */
static void check_weights(const struct pools_models *models, int by, size_t size) {
  const struct forward_config plain = {.growth = {.size = (int64_t)size}};
  tutti_ensemble *ensemble = choose(models, by, size, 0), *forward;
  double weights[POOLS_MODELS_MAX], sum = 0;
  assert_int_equal(selecting_choose(context, tutti_plugin_forward(), &plain, &models->pool, 0, &forward), TUTTI_OK);
  assert_int_equal(tutti_ensemble_size(ensemble), size);
  for (size_t m = 0; m < size; m++) {
    uint64_t trial = tutti_ensemble_trial(forward, m);
    size_t k = tutti_pool_find(&models->pool, trial);
    double alone = selecting_metric_of(context, &models->pool, 1, &k, by == BY_ACCURACY ? "error" : "nll");
    weights[m] = by == BY_ACCURACY ? 1 - alone : exp(-alone);
    sum += weights[m];
    assert_int_equal(tutti_ensemble_trial(ensemble, m), trial);
    assert_true(tutti_ensemble_step(ensemble, m)->loss == tutti_ensemble_step(forward, m)->loss);
    double noted = atof(strchr(tutti_ensemble_step(ensemble, m)->note, ' '));
    assert_close(noted, weights[m], 1e-3, 0);
  }
  for (size_t m = 0; m < size; m++)
    assert_close(tutti_ensemble_weight(ensemble, m), weights[m] / sum, 1e-12, 0);
  tutti_ensemble_destroy(ensemble);
  tutti_ensemble_destroy(forward);
}

static void weights_are_likelihoods_or_accuracies(void **state) {
  struct tutti_random random;
  struct pools_models models;
  (void)state;
  tutti_random_init(&random, 2, "test", 0);
  pools_random_classes(&models, &random, 12, 50, 4, 2);
  for (int by = 0; by < 2; by++)
    for (size_t size = 1; size <= 12; size += 11)
      check_weights(&models, by, size);
  pools_free(&models);
  pools_random_values(&models, &random, 7, 50, 2);
  check_weights(&models, BY_LIKELIHOOD, 4);
  pools_free(&models);
}

/* By hand: accuracies 1, 1/2 and 0. The last has no weight and is no member. */
static void by_hand(void **state) {
  (void)state;
  const float values[] = {0.6f, 0.4f, 0.6f, 0.4f, /* */ 0.9f, 0.1f, 0.4f, 0.6f, /* */ 0.2f, 0.8f, 0.2f, 0.8f};
  struct pools_models models = {0};
  models.values = calloc(12, sizeof(float));
  models.labels = calloc(2, sizeof(int32_t));
  memcpy(models.values, values, sizeof values);
  pools_make(&models, TUTTI_TASK_CLASSIFICATION, 3, 2, 2);
  tutti_ensemble *ensemble = choose(&models, BY_ACCURACY, 3, 0);
  assert_int_equal(tutti_ensemble_size(ensemble), 2);
  assert_close(selecting_weight(ensemble, 10), 2.0 / 3, 1e-12, 0);
  assert_close(selecting_weight(ensemble, 20), 1.0 / 3, 1e-12, 0);
  tutti_ensemble_destroy(ensemble);
  /* exp(-mean nll) is the geometric mean of the true classes' probabilities: 0.6, 0.6, 0.2. */
  ensemble = choose(&models, BY_LIKELIHOOD, 3, 0);
  assert_int_equal(tutti_ensemble_size(ensemble), 3);
  assert_close(selecting_weight(ensemble, 10), 0.6 / 1.4, 1e-6, 0);
  assert_close(selecting_weight(ensemble, 30), 0.2 / 1.4, 1e-6, 0);
  tutti_ensemble_destroy(ensemble);
  ensemble = choose(&models, BY_LIKELIHOOD, 3, 1); /* the caller's count */
  assert_int_equal(tutti_ensemble_size(ensemble), 1);
  tutti_ensemble_destroy(ensemble);
  pools_free(&models);
}

/* Likelihoods too small for a float64 still have ratios. */
static void tiny_likelihoods(void **state) {
  (void)state;
  struct pools_models models = {0};
  models.values = calloc(4, sizeof(float));
  models.y = calloc(1, sizeof(double));
  pools_make(&models, TUTTI_TASK_REGRESSION, 2, 1, 1);
  const float values[] = {60, 1, 60, 1.0001f}; /* nll near 1800 */
  memcpy(models.values, values, sizeof values);
  tutti_ensemble *ensemble = choose(&models, BY_LIKELIHOOD, 2, 0);
  assert_int_equal(tutti_ensemble_size(ensemble), 2);
  double ratio = selecting_weight(ensemble, 20) / selecting_weight(ensemble, 10);
  assert_close(log(ratio), tutti_gaussian_nll(60, 1, 0) - tutti_gaussian_nll(60, (double)1.0001f, 0), 1e-6, 0);
  tutti_ensemble_destroy(ensemble);
  pools_free(&models);
}

static void refusals(void **state) {
  (void)state;
  struct tutti_task task = {.size = sizeof task, .kind = TUTTI_TASK_REGRESSION, .outputs = 1};
  const struct tutti_selector_setup for_values = {.size = sizeof for_values, .task = &task};
  const struct weighted_config accuracy = {.growth = {.size = 2}, .by = BY_ACCURACY};
  const struct weighted_config likelihood = {.growth = {.size = 2}, .by = BY_LIKELIHOOD};
  void *self;
  assert_int_equal(selector_create_weighted(context, &accuracy, &for_values, &self), TUTTI_ERROR_USAGE);
  assert_non_null(strstr(tutti_error_message(context), "by = accuracy is not defined for regression"));
  assert_int_equal(selector_create_weighted(context, &likelihood, &for_values, &self), TUTTI_OK);
  struct tutti_random random;
  struct pools_models models;
  tutti_ensemble *ensemble;
  tutti_random_init(&random, 1, "test", 0);
  pools_random_values(&models, &random, 3, 10, 1);
  for (size_t i = 0; i < 30; i++)
    models.values[2 * i + 1] = NAN;
  assert_int_equal(selecting_choose(context, tutti_plugin_weighted(), &likelihood, &models.pool, 0, &ensemble),
                   TUTTI_ERROR_NUMERIC);
  assert_non_null(strstr(tutti_error_message(context), "none of the 2 members has a weight"));
  tutti_ensemble_destroy(ensemble);
  pools_free(&models);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(weights_are_likelihoods_or_accuracies),
      cmocka_unit_test(by_hand),
      cmocka_unit_test(tiny_likelihoods),
      cmocka_unit_test(refusals),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
