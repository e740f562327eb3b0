/* test_stacking.c - the selector stacking: derivatives against finite differences, weights against closed forms, a grid
   and the conditions of a minimum on the simplex, and what it promises and refuses. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <tutti/evaluate.h>

#include "plugins/selector/stacking.c"
#include "plugins/selector/stacking/stacking_fit.c"
#include "plugins/selector/stacking/stacking_forms.c"

#include "golden.h"
#include "selecting.h"
#include "tests/watched.h"

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

/* Every form of loss, by its parameters and by the metric that is the same. */
static const struct {
  bool classes;
  int loss, density;
  enum tutti_loss minimised;
  const char *metric;
} cases[] = {{true, 1, 0, TUTTI_LOSS_NLL, "nll"},
             {true, 2, 0, TUTTI_LOSS_BRIER, "brier"},
             {false, 1, 0, TUTTI_LOSS_NLL, "nll"},
             {false, 3, 0, TUTTI_LOSS_MSE, "rmse"},
             {false, 1, 1, TUTTI_LOSS_NLL, "nll-moments"}};
enum { CASES = sizeof cases / sizeof cases[0], CONVEX = 4, ROWS = 60 };

static void random_pool(struct pools_models *models, uint64_t seed, size_t count) {
  struct tutti_random random;
  tutti_random_init(&random, seed, "test", 0);
  if (cases[seed % CASES].classes)
    pools_random_classes(models, &random, count, ROWS, 3, 1.5);
  else
    pools_random_values(models, &random, count, ROWS, 2);
}

static struct stacking_config config_of(uint64_t seed) {
  return (struct stacking_config){.growth = {.loss = cases[seed % CASES].loss, .density = cases[seed % CASES].density},
                                  .tolerance = 1e-10,
                                  .steps = 100000};
}

static tutti_ensemble *choose(const struct stacking_config *config, const struct tutti_pool *pool) {
  tutti_ensemble *ensemble;
  assert_int_equal(selecting_choose(context, tutti_plugin(), config, pool, 0, &ensemble), TUTTI_OK);
  return ensemble;
}

/* The loss of weights, evaluated from scratch. */
static double loss_of(uint64_t seed, const struct tutti_pool *pool, const tutti_ensemble *ensemble) {
  tutti_evaluation *evaluation;
  struct tutti_evaluation_options options = TUTTI_EVALUATION_DEFAULTS;
  options.epistemic = TUTTI_EPISTEMIC_POPULATION;
  assert_int_equal(tutti_evaluate(context, pool, ensemble, &options, &evaluation), TUTTI_OK);
  double value = tutti_evaluation_find(evaluation, cases[seed % CASES].metric)->value;
  tutti_evaluation_destroy(evaluation);
  return cases[seed % CASES].minimised == TUTTI_LOSS_MSE ? value * value : value;
}

static double loss_of_weights(uint64_t seed, const struct tutti_pool *pool, const double *weights) {
  tutti_ensemble *ensemble;
  assert_int_equal(tutti_ensemble_create(context, &ensemble), TUTTI_OK);
  for (size_t k = 0; k < pool->models; k++)
    if (weights[k] > 0)
      assert_int_equal(tutti_ensemble_add(context, ensemble, pool->trials[k], weights[k]), TUTTI_OK);
  double loss = loss_of(seed, pool, ensemble);
  tutti_ensemble_destroy(ensemble);
  return loss;
}

/* --- derivatives -------------------------------------------------------------------------------------------------- */

static void test_derivatives(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < watched_rounds(6 * CASES, CASES); seed++) {
    const double own[2] = {0};
    struct pools_models models;
    struct stacking_mixture mixture;
    random_pool(&models, seed, 2);
    assert_int_equal(stacking_mixture_init(context, &models.pool, cases[seed % CASES].minimised,
                                           cases[seed % CASES].density, own, &mixture),
                     TUTTI_OK);
    double *slopes = calloc(mixture.values, sizeof(double)), along = 0;
    mixture.form->column(&mixture, 0, mixture.mean);
    mixture.form->column(&mixture, 1, mixture.direction);
    for (size_t i = 0; i < mixture.values; i++)
      mixture.direction[i] -= mixture.mean[i];
    /* Away from the ends, where densities can be 1e-100 of others. */
    for (size_t i = 0; i < mixture.values; i++)
      mixture.mean[i] += 0.25 * mixture.direction[i];
    struct stacking_point here = stacking_mixture_at(&mixture, 0.2);
    const double step = 1e-4;
    struct stacking_point left = stacking_mixture_at(&mixture, 0.2 - step);
    struct stacking_point right = stacking_mixture_at(&mixture, 0.2 + step);
    assert_close((right.value - left.value) / (2 * step), here.slope, 1e-6, 1e-6);
    assert_close((right.slope - left.slope) / (2 * step), here.curvature, 1e-6, 1e-6);
    here = stacking_mixture_at(&mixture, 0);
    stacking_mixture_slopes(&mixture, slopes);
    for (size_t i = 0; i < mixture.values; i++)
      along += slopes[i] * mixture.direction[i];
    assert_close(along, here.slope, 1e-11, 1e-12);
    free(slopes);
    stacking_mixture_clear(&mixture);
    pools_free(&models);
  }
}

/* --- weights ------------------------------------------------------------------------------------------------------ */

/* Two models that give the truth 0.8 on a share of the rows each, and 0.2 on the other's: the mixture gives the first
   rows 0.2 + 0.6 w, which is best equal to their share, as near as it can be. */
static void test_two_classifiers_closed_form(void **state) {
  (void)state;
  for (size_t first = 0; first <= 40; first++) {
    struct pools_models models = {0};
    models.values = calloc((size_t)2 * 40 * 2, sizeof(float));
    models.labels = calloc(40, sizeof(int32_t));
    for (size_t n = 0; n < 40; n++)
      for (size_t k = 0; k < 2; k++) {
        float p = (k == 0) == (n < first) ? 0.8f : 0.2f;
        models.values[(k * 40 + n) * 2] = p;
        models.values[(k * 40 + n) * 2 + 1] = 1 - p;
      }
    pools_make(&models, TUTTI_TASK_CLASSIFICATION, 2, 40, 2);
    struct stacking_config config = config_of(0);
    config.tolerance = 0;
    tutti_ensemble *ensemble = choose(&config, &models.pool);
    double weight = fmin(fmax(((double)first / 40 - 0.2) / 0.6, 0), 1);
    assert_close(selecting_weight(ensemble, 10), weight, 0, 1e-6);
    tutti_ensemble_destroy(ensemble);
    pools_free(&models);
  }
}

/* Two means: the weight is a ratio of sums, cut off at the ends. */
static void test_two_regressors_closed_form(void **state) {
  (void)state;
  for (uint64_t seed = 3; seed < watched_rounds(40, 8) * CASES; seed += CASES) {
    struct pools_models models;
    random_pool(&models, seed, 2);
    for (size_t i = 0; i < (size_t)4 * ROWS; i++) /* some pools where one model is all there should be */
      models.values[2 * i] *= i < (size_t)2 * ROWS ? 1 : (float)(seed % 4);
    double above = 0, below = 0;
    for (size_t i = 0; i < (size_t)2 * ROWS; i++) {
      double a = (double)models.predictions[0][2 * i] - models.y[i];
      double b = (double)models.predictions[1][2 * i] - models.y[i];
      above += (b - a) * b;
      below += (b - a) * (b - a);
    }
    struct stacking_config config = config_of(seed);
    config.tolerance = 0;
    tutti_ensemble *ensemble = choose(&config, &models.pool);
    assert_close(selecting_weight(ensemble, 10), fmin(fmax(above / below, 0), 1), 0, 1e-7);
    tutti_ensemble_destroy(ensemble);
    pools_free(&models);
  }
}

/* Three models: nothing on a grid over the simplex is better. */
static void test_three_models_on_a_grid(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < watched_rounds(3 * CASES, CASES); seed++) {
    enum { GRID = 24 };
    struct pools_models models;
    random_pool(&models, seed, 3);
    struct stacking_config config = config_of(seed);
    tutti_ensemble *ensemble = choose(&config, &models.pool);
    double loss = loss_of(seed, &models.pool, ensemble), lowest = INFINITY;
    for (size_t a = 0; a <= GRID; a++)
      for (size_t b = 0; a + b <= GRID; b++) {
        const double weights[] = {(double)a, (double)b, (double)(GRID - a - b)};
        lowest = fmin(lowest, loss_of_weights(seed, &models.pool, weights));
      }
    assert_true(loss <= lowest + 1e-9);
    assert_true(loss > lowest - 0.02); /* the grid is not far from the minimum */
    tutti_ensemble_destroy(ensemble);
    pools_free(&models);
  }
}

/* The conditions of a minimum on the simplex, from losses alone: weight moved to any model, member or not, does not
   lower the loss. */
static void test_conditions_of_a_minimum(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < watched_rounds(6 * CASES, CASES); seed++) {
    enum { MODELS = 20 };
    struct pools_models models;
    double weights[MODELS], moved[MODELS], total = 0;
    random_pool(&models, seed, MODELS);
    struct stacking_config config = config_of(seed);
    tutti_ensemble *ensemble = choose(&config, &models.pool);
    double loss = loss_of(seed, &models.pool, ensemble);
    assert_in_range(tutti_ensemble_size(ensemble), 2, MODELS - 1);
    for (size_t k = 0; k < MODELS; k++)
      total += weights[k] = selecting_weight(ensemble, models.trials[k]);
    assert_close(total, 1, 1e-14, 0);
    for (size_t to = 0; to < MODELS; to++) {
      for (size_t k = 0; k < MODELS; k++)
        moved[k] = (1 - 1e-4) * weights[k] + (k == to ? 1e-4 : 0);
      assert_true(loss_of_weights(seed, &models.pool, moved) > loss - 1e-10);
    }
    assert_close(tutti_ensemble_step(ensemble, tutti_ensemble_steps(ensemble) - 1)->loss, loss, 1e-11, 1e-12);
    tutti_ensemble_destroy(ensemble);
    pools_free(&models);
  }
}

/* The gap that ends the fit is one: of two fits to different tolerances the rougher is as near as it says. */
static void test_tolerance(void **state) {
  (void)state;
  size_t shorter = 0;
  for (uint64_t seed = 0; seed < 8 * CASES; seed++) {
    struct pools_models models;
    if (seed % CASES >= CONVEX)
      continue;
    random_pool(&models, seed, 20);
    struct stacking_config fine = config_of(seed), rough = config_of(seed);
    rough.tolerance = 0.02;
    tutti_ensemble *best = choose(&fine, &models.pool), *near = choose(&rough, &models.pool);
    double lowest = loss_of(seed, &models.pool, best), loss = loss_of(seed, &models.pool, near);
    double unit = cases[seed % CASES].minimised == TUTTI_LOSS_NLL ? 1 : tutti_ensemble_step(near, 0)->loss;
    assert_true(lowest <= loss && loss <= lowest + 0.02 * unit);
    shorter += tutti_ensemble_steps(near) < tutti_ensemble_steps(best);
    assert_non_null(strstr(tutti_ensemble_step(near, tutti_ensemble_steps(near) - 1)->note, "; the end: within 0.0"));
    tutti_ensemble_destroy(best);
    tutti_ensemble_destroy(near);
    pools_free(&models);
  }
  assert_true(shorter > 10);
}

/* --- promises ----------------------------------------------------------------------------------------------------- */

/* Letting models in lowers the loss each time; members have at least the least weight; those dropped are none. */
static void test_trace_and_least(void **state) {
  (void)state;
  size_t dropped = 0;
  for (uint64_t seed = 0; seed < watched_rounds(6 * CASES, CASES); seed++) {
    struct pools_models models;
    random_pool(&models, seed, 20);
    struct stacking_config config = config_of(seed);
    config.least = 0.05;
    tutti_ensemble *ensemble = choose(&config, &models.pool);
    size_t steps = tutti_ensemble_steps(ensemble);
    assert_memory_equal(tutti_ensemble_step(ensemble, 0)->note, "the best alone; final weight ", 29);
    for (size_t i = 1; i < steps; i++) {
      const struct tutti_step *before = tutti_ensemble_step(ensemble, i - 1), *step = tutti_ensemble_step(ensemble, i);
      if (strncmp(step->note, "dropped: weight 0.0", 19) == 0) {
        assert_true(step->loss > before->loss);
        assert_true(selecting_weight(ensemble, step->trial) == 0);
        dropped++;
      } else {
        assert_memory_equal(step->note, "let in: slope -", 15);
        assert_true(step->loss < before->loss);
      }
    }
    for (size_t m = 0; m < tutti_ensemble_size(ensemble); m++)
      assert_true(tutti_ensemble_weight(ensemble, m) >= 0.05);
    assert_close(tutti_ensemble_step(ensemble, steps - 1)->loss, loss_of(seed, &models.pool, ensemble), 1e-11, 1e-12);
    tutti_ensemble_destroy(ensemble);
    pools_free(&models);
  }
  assert_true(dropped > 0);
}

/* No more members than asked for, by the parameter or by the caller; more of them are no worse. */
static void test_sizes(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < watched_rounds(2 * CASES, CASES); seed++) {
    struct pools_models models;
    double before = INFINITY;
    random_pool(&models, seed, 12);
    for (size_t size = 1; size <= 13; size++) {
      struct stacking_config config = config_of(seed);
      tutti_ensemble *ensemble, *counted;
      assert_int_equal(selecting_choose(context, tutti_plugin(), &config, &models.pool, size, &counted), TUTTI_OK);
      config.growth.size = size < 13 ? (int64_t)size : 0;
      ensemble = choose(&config, &models.pool);
      assert_in_range(tutti_ensemble_size(ensemble), 1, size);
      assert_int_equal(tutti_ensemble_size(counted), tutti_ensemble_size(ensemble));
      double loss = loss_of(seed, &models.pool, ensemble);
      if (seed % CASES < CONVEX)
        assert_true(loss <= before + 1e-10);
      if (size == 2)
        assert_non_null(strstr(tutti_ensemble_step(ensemble, 1)->note, "; the end: 2 members"));
      before = loss;
      tutti_ensemble_destroy(ensemble);
      tutti_ensemble_destroy(counted);
    }
    pools_free(&models);
  }
}

/* Densities that differ by thousands of nats: the models that are sure and wrong do not hide the others. */
static void test_extreme_densities(void **state) {
  (void)state;
  struct tutti_random random;
  struct pools_models models;
  tutti_random_init(&random, 5, "test", 0);
  pools_random_values(&models, &random, 6, ROWS, 1);
  for (size_t n = 0; n < ROWS; n++)
    for (size_t k = 0; k < 2; k++) {
      /* Each is all but certain of half of the rows, rightly, and far off on the others. */
      bool right = (n % 2 == 0) == (k == 0);
      models.values[(k * ROWS + n) * 2] = (float)models.y[n] + (right ? 0 : 10);
      models.values[(k * ROWS + n) * 2 + 1] = 1e-3f;
    }
  struct stacking_config config = config_of(2);
  tutti_ensemble *ensemble = choose(&config, &models.pool);
  assert_close(selecting_weight(ensemble, 10), 0.5, 0, 0.02);
  assert_close(selecting_weight(ensemble, 20), 0.5, 0, 0.02);
  size_t last = tutti_ensemble_steps(ensemble) - 1;
  assert_close(tutti_ensemble_step(ensemble, last)->loss, loss_of(2, &models.pool, ensemble), 1e-11, 1e-12);
  tutti_ensemble_destroy(ensemble);
  pools_free(&models);
}

/* Few steps end the fit where it is; the weights are still weights. */
static void test_steps(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < CASES; seed++) {
    struct pools_models models;
    random_pool(&models, seed, 12);
    struct stacking_config config = config_of(seed);
    for (config.steps = 1; config.steps < 40; config.steps += 13) {
      tutti_ensemble *ensemble = choose(&config, &models.pool);
      size_t last = tutti_ensemble_steps(ensemble) - 1;
      assert_in_range(tutti_ensemble_steps(ensemble), 1, (size_t)config.steps + 1);
      assert_close(tutti_ensemble_step(ensemble, last)->loss, loss_of(seed, &models.pool, ensemble), 1e-11, 1e-12);
      tutti_ensemble_destroy(ensemble);
    }
    pools_free(&models);
  }
}

static void test_passed_over(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < CASES; seed++) {
    struct pools_models models;
    random_pool(&models, seed, 6);
    size_t width = tutti_predictions_width(models.pool.kind, models.pool.outputs);
    struct stacking_config config = config_of(seed);
    models.values[(3 * ROWS + 7) * width + (cases[seed].classes ? (size_t)models.labels[7] : 0)] = NAN;
    tutti_ensemble *ensemble = choose(&config, &models.pool);
    const struct tutti_step *step = tutti_ensemble_step(ensemble, tutti_ensemble_steps(ensemble) - 1);
    assert_true(selecting_weight(ensemble, models.trials[3]) == 0);
    assert_int_equal(step->trial, models.trials[3]);
    assert_non_null(strstr(step->note, "passed over: its "));
    tutti_ensemble_destroy(ensemble);
    for (size_t i = 0; i < 6 * ROWS * width; i++)
      models.values[i] = NAN;
    assert_int_equal(selecting_choose(context, tutti_plugin(), &config, &models.pool, 0, &ensemble),
                     TUTTI_ERROR_NUMERIC);
    tutti_ensemble_destroy(ensemble);
    pools_free(&models);
  }
}

/* Means without variances: auto minimises the squared error. */
static void test_without_variance(void **state) {
  (void)state;
  struct pools_models models;
  random_pool(&models, 3, 8);
  for (size_t i = 0; i < (size_t)8 * ROWS * 2; i++)
    models.values[2 * i + 1] = NAN;
  struct stacking_config by_mse = config_of(3), automatic = config_of(3);
  automatic.growth.loss = 0;
  tutti_ensemble *a = choose(&automatic, &models.pool), *b = choose(&by_mse, &models.pool);
  for (size_t k = 0; k < 8; k++)
    assert_true(selecting_weight(a, models.trials[k]) == selecting_weight(b, models.trials[k]));
  tutti_ensemble_destroy(a);
  tutti_ensemble_destroy(b);
  pools_free(&models);
}

static void test_refusals(void **state) {
  (void)state;
  struct pools_models models;
  random_pool(&models, 0, 8);
  struct stacking_config config = config_of(0);
  tutti_ensemble *ensemble;
  config.growth.loss = 3;
  assert_int_equal(selecting_choose(context, tutti_plugin(), &config, &models.pool, 0, &ensemble), TUTTI_ERROR_USAGE);
  tutti_ensemble_destroy(ensemble);
  config.growth.loss = 0;
  tutti_cancel(context);
  assert_int_equal(selecting_choose(context, tutti_plugin(), &config, &models.pool, 0, &ensemble),
                   TUTTI_ERROR_CANCELLED);
  tutti_ensemble_destroy(ensemble);
  pools_free(&models);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_derivatives),
      cmocka_unit_test(test_two_classifiers_closed_form),
      cmocka_unit_test(test_two_regressors_closed_form),
      cmocka_unit_test(test_three_models_on_a_grid),
      cmocka_unit_test(test_conditions_of_a_minimum),
      cmocka_unit_test(test_tolerance),
      cmocka_unit_test(test_trace_and_least),
      cmocka_unit_test(test_sizes),
      cmocka_unit_test(test_extreme_densities),
      cmocka_unit_test(test_steps),
      cmocka_unit_test(test_passed_over),
      cmocka_unit_test(test_without_variance),
      cmocka_unit_test(test_refusals), /* last: it cancels the context */
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
