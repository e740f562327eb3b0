/* test_evaluate.c - evaluation of ensembles: its tables of metrics and options, inequalities for any ensemble, what is
   refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <tutti/evaluate.h>

#include "golden.h"
#include "pools.h"

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
  tutti_ensemble *ensemble = pools_equal_members(context, &models);
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
    assert_true(pools_value(got, "oracle-nll") <= pools_value(got, "nll") + 1e-12);
    assert_true(pools_value(got, "nll") <= pools_value(got, "average-nll") + 1e-12);
    if (seed % 2) {
      assert_true(pools_value(got, "all-wrong") <= pools_value(got, "oracle-error"));
      assert_true(pools_value(got, "all-wrong") <= pools_value(got, "average-error"));
      assert_true(pools_value(got, "mutual-information") >= 0);
      assert_close(pools_value(got, "mutual-information"),
                   pools_value(got, "entropy") - pools_value(got, "expected-entropy"), 1e-12, 1e-15);
    } else {
      assert_true(pools_value(got, "oracle-rmse") <= pools_value(got, "average-rmse") + 1e-12);
      assert_true(pools_value(got, "rmse") <= pools_value(got, "average-rmse") + 1e-12);
      assert_true(pools_value(got, "crps") >= 0);
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
  tutti_ensemble *thrice = pools_equal_members(context, &models), *twice;
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
    assert_close(pools_value(a, same[i]), pools_value(b, same[i]), 1e-13, 1e-15);
  tutti_evaluation_destroy(a);
  tutti_evaluation_destroy(b);
  tutti_ensemble_destroy(thrice);
  tutti_ensemble_destroy(twice);
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
  tutti_ensemble *ensemble = pools_equal_members(context, &models), *empty;
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
      cmocka_unit_test(test_oracle_ensemble_average),
      cmocka_unit_test(test_weights_are_multiplicities),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_parameters),
      cmocka_unit_test(test_metric_tables),
      cmocka_unit_test(test_shorter_options),
      cmocka_unit_test(test_ensemble_keeps_order_and_trace),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
