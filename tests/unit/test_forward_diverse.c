/* test_forward_diverse.c - selector forward-diverse against the definition, written down again, and against forward. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define tutti_plugin tutti_plugin_forward
#include "plugins/selector/forward.c"
#undef tutti_plugin
#define tutti_plugin tutti_plugin_forward_diverse
#include "plugins/selector/forward-diverse.c"
#undef tutti_plugin

#include "golden.h"
#include "selecting.h"

enum { MODELS = 9, SIZE = 5, ROWS = 60, OUTPUTS = 3 };

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

/* Mean over rows and members of |p_i - mean p|^2. */
static double plain_diversity(const struct tutti_pool *pool, size_t count, const size_t *picks) {
  size_t stride = pool->kind == TUTTI_TASK_REGRESSION ? 2 : 1;
  double sum = 0;
  for (size_t i = 0; i < pool->rows * pool->outputs; i++) {
    double mean = 0;
    for (size_t m = 0; m < count; m++)
      mean += (double)pool->predictions[picks[m]][i * stride] / (double)count;
    for (size_t m = 0; m < count; m++)
      sum += pow((double)pool->predictions[picks[m]][i * stride] - mean, 2);
  }
  return sum / (double)(count * pool->rows);
}

/* The plain version: each ensemble that a step could make is evaluated from scratch. */
static size_t plain_pick(const struct tutti_pool *pool, double lambda, size_t picks, size_t *picked) {
  size_t best = pool->models;
  double lowest = INFINITY;
  for (size_t k = 0; k < pool->models; k++) {
    bool taken = false;
    for (size_t m = 0; m < picks; m++)
      taken |= picked[m] == k;
    if (taken)
      continue;
    picked[picks] = k;
    double worth = selecting_metric_of(context, pool, picks + 1, picked, "nll") -
                   lambda * plain_diversity(pool, picks + 1, picked);
    if (worth < lowest - 1e-12) {
      lowest = worth;
      best = k;
    }
  }
  return best;
}

/* How often the choice was not that of selector forward. */
static int compare_with_plain(bool classes, double lambda, double shift) {
  int differ = 0;
  for (uint64_t seed = 0; seed < 12; seed++) {
    struct tutti_random random;
    struct pools_models models;
    tutti_ensemble *diverse, *forward;
    tutti_random_init(&random, seed, "test", 0);
    if (classes)
      pools_random_classes(&models, &random, MODELS, ROWS, OUTPUTS, 1.5);
    else
      pools_random_values(&models, &random, MODELS, ROWS, OUTPUTS);
    for (size_t i = 0; !classes && i < ROWS * OUTPUTS; i++) {
      models.y[i] += shift;
      for (size_t k = 0; k < MODELS; k++)
        models.values[2 * (k * ROWS * OUTPUTS + i)] += (float)shift;
    }
    const struct forward_diverse_config config = {.growth = {.size = SIZE}, .lambda = lambda};
    const struct forward_config plain = {.growth = {.size = SIZE}};
    const struct tutti_descriptor *plugin = tutti_plugin_forward_diverse();
    assert_int_equal(selecting_choose(context, plugin, &config, &models.pool, 0, &diverse), TUTTI_OK);
    assert_int_equal(selecting_choose(context, tutti_plugin_forward(), &plain, &models.pool, 0, &forward), TUTTI_OK);
    assert_int_equal(tutti_ensemble_size(diverse), SIZE);
    size_t picked[MODELS];
    for (size_t m = 0; m < SIZE; m++) {
      picked[m] = plain_pick(&models.pool, lambda, m, picked);
      assert_int_equal(tutti_ensemble_trial(diverse, m), models.trials[picked[m]]);
      assert_close(tutti_ensemble_weight(diverse, m), 1.0 / SIZE, 1e-15, 0);
      assert_close(tutti_ensemble_step(diverse, m)->loss,
                   selecting_metric_of(context, &models.pool, m + 1, picked, "nll"), 1e-11, 1e-11);
      double noted = atof(tutti_ensemble_step(diverse, m)->note + strlen("diversity "));
      assert_close(noted, plain_diversity(&models.pool, m + 1, picked), 0.006, 1e-4);
      differ += tutti_ensemble_trial(forward, m) != tutti_ensemble_trial(diverse, m);
    }
    tutti_ensemble_destroy(diverse);
    tutti_ensemble_destroy(forward);
    pools_free(&models);
  }
  return differ;
}

static void by_brute_force(void **state) {
  (void)state;
  assert_true(compare_with_plain(true, 1, 0) > 0);
  assert_true(compare_with_plain(true, 10, 0) > compare_with_plain(true, 1, 0) / 2);
  assert_true(compare_with_plain(false, 1, 0) > 0);
}

static void without_lambda_it_is_forward(void **state) {
  (void)state;
  assert_int_equal(compare_with_plain(true, 0, 0), 0);
  assert_int_equal(compare_with_plain(false, 0, 0), 0);
}

/* Targets far from 0 leave the choice as it is: whole numbers of 2^13 are added, which floats of 2^-8 and more bear. */
static void large_targets(void **state) {
  struct tutti_random random;
  struct pools_models models;
  tutti_ensemble *near, *far;
  (void)state;
  tutti_random_init(&random, 3, "test", 0);
  pools_random_values(&models, &random, MODELS, ROWS, OUTPUTS);
  const struct forward_diverse_config config = {.growth = {.size = SIZE, .loss = 3}, .lambda = 0.5};
  for (size_t i = 0; i < MODELS * ROWS * OUTPUTS; i++)
    models.values[2 * i] = roundf(models.values[2 * i] * 256) / 256;
  assert_int_equal(selecting_choose(context, tutti_plugin_forward_diverse(), &config, &models.pool, 0, &near),
                   TUTTI_OK);
  for (size_t i = 0; i < ROWS * OUTPUTS; i++)
    models.y[i] += 8192;
  for (size_t i = 0; i < MODELS * ROWS * OUTPUTS; i++)
    models.values[2 * i] += 8192;
  assert_int_equal(selecting_choose(context, tutti_plugin_forward_diverse(), &config, &models.pool, 0, &far), TUTTI_OK);
  for (size_t m = 0; m < SIZE; m++) {
    assert_int_equal(tutti_ensemble_trial(near, m), tutti_ensemble_trial(far, m));
    assert_string_equal(tutti_ensemble_step(near, m)->note, tutti_ensemble_step(far, m)->note);
  }
  tutti_ensemble_destroy(near);
  tutti_ensemble_destroy(far);
  pools_free(&models);
}

/* A copy adds nothing but its loss; a model that is a little worse and different is preferred to it. */
static void prefers_the_different(void **state) {
  (void)state;
  const float values[] = {0.8f,
                          0.2f,
                          0.8f,
                          0.2f,
                          /* a copy */ 0.8f,
                          0.2f,
                          0.8f,
                          0.2f,
                          /* as good in one row, worse in the other */ 0.8f,
                          0.2f,
                          0.55f,
                          0.45f};
  struct pools_models models = {0};
  models.values = calloc(12, sizeof(float));
  models.labels = calloc(2, sizeof(int32_t));
  memcpy(models.values, values, sizeof values);
  pools_make(&models, TUTTI_TASK_CLASSIFICATION, 3, 2, 2);
  for (int strong = 0; strong < 2; strong++) {
    const struct forward_diverse_config config = {.growth = {.size = 2}, .lambda = strong ? 10 : 0};
    tutti_ensemble *ensemble;
    assert_int_equal(selecting_choose(context, tutti_plugin_forward_diverse(), &config, &models.pool, 0, &ensemble),
                     TUTTI_OK);
    assert_int_equal(tutti_ensemble_trial(ensemble, 0), 10);
    assert_int_equal(tutti_ensemble_trial(ensemble, 1), strong ? 30 : 20);
    tutti_ensemble_destroy(ensemble);
  }
  pools_free(&models);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(by_brute_force),
      cmocka_unit_test(without_lambda_it_is_forward),
      cmocka_unit_test(large_targets),
      cmocka_unit_test(prefers_the_different),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
