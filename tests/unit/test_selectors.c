/* test_selectors.c - the selectors forward, top-m and all: golden picks, brute force, and what they refuse. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Several plugins in one program: each exports the same one symbol. */
#define tutti_plugin tutti_plugin_forward
#include "plugins/selector/forward.c"
#undef tutti_plugin
#define tutti_plugin tutti_plugin_top_m
#include "plugins/selector/top-m.c"
#undef tutti_plugin
#define tutti_plugin tutti_plugin_all
#include "plugins/selector/all.c"
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

static void test_forward_golden(void **state) {
  (void)state;
  json_t *root = golden_load("forward_select");
  json_t *expected = golden_get(root, "forward_without_replacement(NES ForwardSelect)");
  json_t *order = golden_get(expected, "order"), *trace = golden_get(expected, "trace");
  struct pools_models models;
  selecting_golden(&models, root);
  const struct forward_config config = {.growth = {.size = 4}};
  tutti_ensemble *ensemble;
  assert_int_equal(selecting_choose(context, tutti_plugin_forward(), &config, &models.pool, 0, &ensemble), TUTTI_OK);
  assert_int_equal(tutti_ensemble_size(ensemble), 4);
  assert_int_equal(tutti_ensemble_steps(ensemble), 4);
  for (size_t m = 0; m < 4; m++) {
    const struct tutti_step *step = tutti_ensemble_step(ensemble, m);
    json_t *decision = golden_at(trace, m);
    char note[96];
    uint64_t trial = models.trials[(size_t)golden_number(golden_at(order, m))];
    assert_int_equal(tutti_ensemble_trial(ensemble, m), trial);
    assert_close(tutti_ensemble_weight(ensemble, m), 0.25, 1e-15, 0);
    assert_int_equal(step->trial, trial);
    assert_close(step->loss, golden_number_of(decision, "loss"), 1e-6, 0);
    (void)snprintf(note, sizeof note, "next best: trial %d, %.3g worse",
                   10 * ((int)golden_number_of(decision, "runner_up") + 1), golden_number_of(decision, "margin"));
    assert_string_equal(step->note, note);
  }
  assert_close(selecting_metric(context, &models.pool, ensemble, "error"), golden_number_of(expected, "error"), 1e-12,
               0);
  assert_close(selecting_metric(context, &models.pool, ensemble, "nll"), tutti_ensemble_step(ensemble, 3)->loss, 1e-12,
               0);
  tutti_ensemble_destroy(ensemble);
  pools_free(&models);
  json_decref(root);
}

static void test_top_m_golden(void **state) {
  (void)state;
  json_t *root = golden_load("forward_select"), *expected = golden_get(root, "top_M");
  struct pools_models models;
  selecting_golden(&models, root);
  double *single = golden_doubles(golden_get(root, "single_model_nll"), NULL);
  for (int loss = 0; loss < 2; loss++) {
    const struct top_m_config config = {4, loss};
    tutti_ensemble *ensemble;
    assert_int_equal(selecting_choose(context, tutti_plugin_top_m(), &config, &models.pool, 0, &ensemble), TUTTI_OK);
    assert_int_equal(tutti_ensemble_size(ensemble), 4);
    for (size_t m = 0; m < 4; m++) {
      size_t model = (size_t)golden_number(golden_at(golden_get(expected, "order"), m));
      assert_int_equal(tutti_ensemble_trial(ensemble, m), models.trials[model]);
      assert_close(tutti_ensemble_step(ensemble, m)->loss, single[model], 1e-6, 0);
    }
    assert_close(selecting_metric(context, &models.pool, ensemble, "nll"), golden_number_of(expected, "loss"), 1e-6, 0);
    assert_close(selecting_metric(context, &models.pool, ensemble, "error"), golden_number_of(expected, "error"), 1e-12,
                 0);
    tutti_ensemble_destroy(ensemble);
  }
  free(single);
  pools_free(&models);
  json_decref(root);
}

/* The plain version: every ensemble that a step could make is evaluated from scratch. */
static size_t plain_pick(const struct tutti_pool *pool, const char *metric, size_t picks, const bool *taken,
                         size_t *picked) {
  size_t best = pool->models;
  double lowest = INFINITY;
  for (size_t k = 0; k < pool->models; k++) {
    if (taken[k])
      continue;
    picked[picks] = k;
    double value = selecting_metric_of(context, pool, picks + 1, picked, metric);
    /* The two computations round differently: a difference as small as this is a tie. */
    if (value < lowest - 1e-12) {
      lowest = value;
      best = k;
    }
  }
  return best;
}

static void test_forward_by_brute_force(void **state) {
  (void)state;
  static const struct {
    bool classes;
    int loss, density;
    const char *metric;
  } cases[] = {{true, 0, 0, "nll"},  {true, 1, 0, "nll"},          {true, 4, 0, "error"}, {true, 2, 0, "brier"},
               {false, 0, 0, "nll"}, {false, 1, 1, "nll-moments"}, {false, 3, 0, "rmse"}};
  for (uint64_t seed = 0; seed < 42; seed++) {
    struct tutti_random random;
    struct pools_models models;
    const size_t i = seed % 7, count = 8, size = 5;
    tutti_random_init(&random, seed, "test", 0);
    if (cases[i].classes)
      pools_random_classes(&models, &random, count, 65, 3, 1.5);
    else
      pools_random_values(&models, &random, count, 65, 2);
    const struct forward_config config = {
        .growth = {.size = (int64_t)size, .loss = cases[i].loss, .density = cases[i].density}};
    tutti_ensemble *ensemble;
    assert_int_equal(selecting_choose(context, tutti_plugin_forward(), &config, &models.pool, 0, &ensemble), TUTTI_OK);
    assert_int_equal(tutti_ensemble_size(ensemble), size);
    bool taken[8] = {false};
    size_t picked[5];
    for (size_t m = 0; m < size; m++) {
      picked[m] = plain_pick(&models.pool, cases[i].metric, m, taken, picked);
      taken[picked[m]] = true;
      assert_int_equal(tutti_ensemble_trial(ensemble, m), models.trials[picked[m]]);
    }
    tutti_ensemble_destroy(ensemble);
    pools_free(&models);
  }
}

/* Members are chosen by what they add: two good copies and a worse but different model. */
static void test_forward_prefers_the_different(void **state) {
  (void)state;
  const float values[] = {0.9f, 0.1f, 0.2f, 0.8f, /* a copy */ 0.9f, 0.1f, 0.2f, 0.8f, /* right where they are wrong */
                          0.3f, 0.7f, 0.9f, 0.1f};
  struct pools_models models = {0};
  models.values = calloc(12, sizeof(float));
  models.labels = calloc(2, sizeof(int32_t));
  memcpy(models.values, values, sizeof values);
  pools_make(&models, TUTTI_TASK_CLASSIFICATION, 3, 2, 2);
  const struct forward_config config = {.growth = {.size = 2}};
  const struct top_m_config top_config = {2, 0};
  tutti_ensemble *forward, *top;
  models.losses[2] = 9;
  assert_int_equal(selecting_choose(context, tutti_plugin_forward(), &config, &models.pool, 0, &forward), TUTTI_OK);
  assert_int_equal(selecting_choose(context, tutti_plugin_top_m(), &top_config, &models.pool, 0, &top), TUTTI_OK);
  assert_true(tutti_ensemble_trial(forward, 0) == 30 || tutti_ensemble_trial(forward, 1) == 30);
  assert_int_equal(tutti_ensemble_trial(top, 0), 10);
  assert_int_equal(tutti_ensemble_trial(top, 1), 20);
  tutti_ensemble_destroy(forward);
  tutti_ensemble_destroy(top);
  pools_free(&models);
}

/* More members than models, and the caller's count in place of the parameter. */
static void test_sizes(void **state) {
  (void)state;
  struct tutti_random random;
  struct pools_models models;
  tutti_random_init(&random, 1, "test", 0);
  pools_random_classes(&models, &random, 6, 20, 3, 1);
  const struct forward_config config = {.growth = {.size = 50}};
  const struct top_m_config top_config = {50, 0};
  const struct tutti_descriptor *plugins[] = {tutti_plugin_forward(), tutti_plugin_top_m(), tutti_plugin_all()};
  const void *configs[] = {&config, &top_config, NULL};
  for (size_t i = 0; i < 3; i++)
    for (size_t count = 0; count < 4; count += 3) {
      tutti_ensemble *ensemble;
      assert_int_equal(selecting_choose(context, plugins[i], configs[i], &models.pool, count, &ensemble), TUTTI_OK);
      assert_int_equal(tutti_ensemble_size(ensemble), count && i < 2 ? count : 6);
      assert_int_equal(tutti_ensemble_steps(ensemble), tutti_ensemble_size(ensemble));
      tutti_ensemble_destroy(ensemble);
    }
  pools_free(&models);
}

/* Regression without variances: auto falls back to the squared error, and an explicit nll has nothing to choose. */
static void test_without_variance(void **state) {
  (void)state;
  struct tutti_random random;
  struct pools_models models;
  tutti_random_init(&random, 1, "test", 0);
  pools_random_values(&models, &random, 4, 20, 1);
  for (size_t i = 0; i < 80; i++)
    models.values[2 * i + 1] = NAN;
  struct forward_config config = {.growth = {.size = 2}};
  tutti_ensemble *ensemble, *by_mse, *none;
  assert_int_equal(selecting_choose(context, tutti_plugin_forward(), &config, &models.pool, 0, &ensemble), TUTTI_OK);
  config.growth.loss = 3;
  assert_int_equal(selecting_choose(context, tutti_plugin_forward(), &config, &models.pool, 0, &by_mse), TUTTI_OK);
  for (size_t m = 0; m < 2; m++) {
    assert_int_equal(tutti_ensemble_trial(ensemble, m), tutti_ensemble_trial(by_mse, m));
    assert_true(tutti_ensemble_step(ensemble, m)->loss == tutti_ensemble_step(by_mse, m)->loss);
  }
  config.growth.loss = 1;
  assert_int_equal(selecting_choose(context, tutti_plugin_forward(), &config, &models.pool, 0, &none),
                   TUTTI_ERROR_NUMERIC);
  assert_non_null(strstr(tutti_error_message(context), "none of the 4 models has a nll"));
  tutti_ensemble_destroy(ensemble);
  tutti_ensemble_destroy(by_mse);
  tutti_ensemble_destroy(none);
  pools_free(&models);
}

/* Models whose loss is NaN are left out by top-m and all; nothing but such models is an error. */
static void test_nan_losses(void **state) {
  (void)state;
  struct tutti_random random;
  struct pools_models models;
  tutti_random_init(&random, 1, "test", 0);
  pools_random_classes(&models, &random, 3, 20, 3, 1);
  const struct top_m_config config = {3, 0};
  const struct tutti_descriptor *plugins[] = {tutti_plugin_top_m(), tutti_plugin_all()};
  models.losses[0] = NAN;
  for (size_t i = 0; i < 2; i++) {
    tutti_ensemble *ensemble;
    assert_int_equal(selecting_choose(context, plugins[i], &config, &models.pool, 0, &ensemble), TUTTI_OK);
    assert_int_equal(tutti_ensemble_size(ensemble), 2);
    assert_true(selecting_weight(ensemble, 10) == 0);
    tutti_ensemble_destroy(ensemble);
  }
  models.losses[1] = models.losses[2] = NAN;
  for (size_t i = 0; i < 2; i++) {
    tutti_ensemble *ensemble;
    assert_int_equal(selecting_choose(context, plugins[i], &config, &models.pool, 0, &ensemble), TUTTI_ERROR_NUMERIC);
    tutti_ensemble_destroy(ensemble);
  }
  pools_free(&models);
}

static void test_refusals(void **state) {
  (void)state;
  struct tutti_random random;
  struct pools_models models;
  tutti_random_init(&random, 1, "test", 0);
  pools_random_classes(&models, &random, 3, 20, 3, 1);
  const struct forward_config config = {.growth = {.size = 3, .loss = 3}};
  const struct top_m_config top_config = {3, 3};
  tutti_ensemble *ensemble;
  assert_int_equal(selecting_choose(context, tutti_plugin_forward(), &config, &models.pool, 0, &ensemble),
                   TUTTI_ERROR_USAGE);
  tutti_ensemble_destroy(ensemble);
  assert_int_equal(selecting_choose(context, tutti_plugin_top_m(), &top_config, &models.pool, 0, &ensemble),
                   TUTTI_ERROR_USAGE);
  assert_non_null(strstr(tutti_error_message(context), "loss = mse is not defined for classification"));
  tutti_ensemble_destroy(ensemble);
  tutti_cancel(context);
  const struct forward_config sound = {.growth = {.size = 3}};
  assert_int_equal(selecting_choose(context, tutti_plugin_forward(), &sound, &models.pool, 0, &ensemble),
                   TUTTI_ERROR_CANCELLED);
  tutti_ensemble_destroy(ensemble);
  pools_free(&models);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_forward_golden),
      cmocka_unit_test(test_top_m_golden),
      cmocka_unit_test(test_forward_by_brute_force),
      cmocka_unit_test(test_forward_prefers_the_different),
      cmocka_unit_test(test_sizes),
      cmocka_unit_test(test_without_variance),
      cmocka_unit_test(test_nan_losses),
      cmocka_unit_test(test_refusals), /* last: it cancels the context */
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
