/* test_ensemble_loss.c - running losses against evaluation from scratch, for every loss, and the best addition against
   brute force. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <tutti/ensemble_loss.h>
#include <tutti/evaluate.h>

#include "core/score/ensemble_loss_impl.h"
#include "golden.h"
#include "pools.h"
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

struct setting {
  enum tutti_task_kind kind;
  enum tutti_loss loss;
  enum tutti_density density;
  enum tutti_epistemic epistemic;
  const char *metric;
};

static const struct setting settings[] = {
    {TUTTI_TASK_CLASSIFICATION, TUTTI_LOSS_NLL, 0, 0, "nll"},
    {TUTTI_TASK_CLASSIFICATION, TUTTI_LOSS_ERROR, 0, 0, "error"},
    {TUTTI_TASK_CLASSIFICATION, TUTTI_LOSS_BRIER, 0, 0, "brier"},
    {TUTTI_TASK_REGRESSION, TUTTI_LOSS_NLL, TUTTI_DENSITY_MIXTURE, 0, "nll"},
    {TUTTI_TASK_REGRESSION, TUTTI_LOSS_NLL, TUTTI_DENSITY_MOMENTS, TUTTI_EPISTEMIC_UNBIASED, "nll-moments"},
    {TUTTI_TASK_REGRESSION, TUTTI_LOSS_NLL, TUTTI_DENSITY_MOMENTS, TUTTI_EPISTEMIC_POPULATION, "nll-moments"},
    {TUTTI_TASK_REGRESSION, TUTTI_LOSS_NLL, TUTTI_DENSITY_MOMENTS, TUTTI_EPISTEMIC_PICKS, "nll-moments"},
    {TUTTI_TASK_REGRESSION, TUTTI_LOSS_RMSE, 0, 0, "rmse"},
};
enum { SETTINGS = sizeof settings / sizeof settings[0] };

static void random_pool(struct pools_models *models, struct tutti_random *random, const struct setting *setting) {
  size_t count = 1 + (size_t)tutti_random_below(random, 11), rows = 1 + (size_t)tutti_random_below(random, 150);
  if (setting->kind == TUTTI_TASK_CLASSIFICATION)
    pools_random_classes(models, random, count, rows, 2 + (size_t)tutti_random_below(random, 5), 2);
  else
    pools_random_values(models, random, count, rows, 1 + (size_t)tutti_random_below(random, 3));
}

static struct tutti_addition best_of(const tutti_ensemble_loss *loss, const bool *barred) {
  struct tutti_addition best = {.size = sizeof best};
  tutti_ensemble_loss_best(loss, barred, &best);
  return best;
}

static tutti_ensemble_loss *begin(const struct tutti_pool *pool, const struct setting *setting) {
  struct tutti_ensemble_loss_options options = {sizeof options, setting->loss, setting->density, setting->epistemic};
  tutti_ensemble_loss *loss;
  assert_int_equal(tutti_ensemble_loss_create(context, pool, &options, &loss), TUTTI_OK);
  return loss;
}

/* The metric of the ensemble of these models (with repetitions), computed from scratch. */
static double from_scratch(const struct tutti_pool *pool, const struct setting *setting, size_t count,
                           const size_t *models) {
  tutti_ensemble *ensemble;
  tutti_evaluation *evaluation;
  struct tutti_evaluation_options options = TUTTI_EVALUATION_DEFAULTS;
  options.epistemic = setting->epistemic;
  assert_int_equal(tutti_ensemble_create(context, &ensemble), TUTTI_OK);
  for (size_t i = 0; i < count; i++)
    assert_int_equal(tutti_ensemble_add(context, ensemble, pool->trials[models[i]], 1), TUTTI_OK);
  assert_int_equal(tutti_evaluate(context, pool, ensemble, &options, &evaluation), TUTTI_OK);
  tutti_ensemble_destroy(ensemble);
  double value = tutti_evaluation_find(evaluation, setting->metric)->value;
  tutti_evaluation_destroy(evaluation);
  return value;
}

/* After random additions, with repetitions, each possible next loss is that of evaluation from scratch. */
static void test_running_equals_scratch(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < watched_rounds(12 * SETTINGS, SETTINGS); seed++) {
    const struct setting *setting = &settings[seed % SETTINGS];
    struct tutti_random random;
    struct pools_models models;
    size_t picked[8];
    tutti_random_init(&random, seed, "test", 0);
    random_pool(&models, &random, setting);
    tutti_ensemble_loss *loss = begin(&models.pool, setting);
    for (size_t m = 0; m < 6; m++) {
      double losses[POOLS_MODELS_MAX];
      tutti_ensemble_loss_each(loss, losses);
      for (size_t k = 0; k < models.pool.models; k++) {
        picked[m] = k;
        assert_true(losses[k] == tutti_ensemble_loss_with(loss, k));
        assert_close(tutti_ensemble_loss_with(loss, k), from_scratch(&models.pool, setting, m + 1, picked), 1e-11,
                     1e-12);
      }
      picked[m] = (size_t)tutti_random_below(&random, models.pool.models);
      tutti_ensemble_loss_add(loss, picked[m]);
    }
    tutti_ensemble_loss_destroy(loss);
    pools_free(&models);
  }
}

/* Exhaustively: the best and the next best among the models that are not barred, the lowest number on ties. */
static void test_best_by_brute_force(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < watched_rounds(20 * SETTINGS, SETTINGS); seed++) {
    const struct setting *setting = &settings[seed % SETTINGS];
    struct tutti_random random;
    struct pools_models models;
    bool barred[POOLS_MODELS_MAX];
    tutti_random_init(&random, seed, "test", 1);
    random_pool(&models, &random, setting);
    size_t count = models.pool.models;
    tutti_ensemble_loss *loss = begin(&models.pool, setting);
    for (size_t m = 0; m < 4; m++) {
      size_t best = count, next = count;
      double losses[POOLS_MODELS_MAX];
      for (size_t k = 0; k < count; k++) {
        barred[k] = tutti_random_below(&random, 3) == 0;
        losses[k] = tutti_ensemble_loss_with(loss, k);
        if (!barred[k] && (best == count || losses[k] < losses[best]))
          best = k;
      }
      for (size_t k = 0; k < count; k++)
        if (!barred[k] && k != best && (next == count || losses[k] < losses[next]))
          next = k;
      struct tutti_addition found = best_of(loss, barred);
      assert_int_equal(found.model, best);
      assert_int_equal(found.runner_up, next);
      assert_true(best == count ? isnan(found.loss) : found.loss == losses[best]);
      assert_true(next == count ? isnan(found.runner_up_loss) : found.runner_up_loss == losses[next]);
      tutti_ensemble_loss_add(loss, best < count ? best : 0);
    }
    tutti_ensemble_loss_destroy(loss);
    pools_free(&models);
  }
}

/* A caller with an older header has a shorter struct: nothing is written after it. */
static void test_short_addition(void **state) {
  (void)state;
  struct tutti_random random;
  struct pools_models models;
  tutti_random_init(&random, 1, "test", 3);
  random_pool(&models, &random, &settings[0]);
  tutti_ensemble_loss *loss = begin(&models.pool, &settings[0]);
  struct tutti_addition found = {.size = offsetof(struct tutti_addition, runner_up_loss), .runner_up_loss = 7};
  tutti_ensemble_loss_best(loss, NULL, &found);
  assert_int_equal(found.model, best_of(loss, NULL).model);
  assert_true(found.loss == best_of(loss, NULL).loss && found.runner_up_loss == 7);
  assert_int_equal(found.size, offsetof(struct tutti_addition, runner_up_loss));
  tutti_ensemble_loss_destroy(loss);
  pools_free(&models);
}

/* Every model the same: the lowest number wins, and the loss does not move. */
static void test_ties(void **state) {
  (void)state;
  for (size_t i = 0; i < SETTINGS; i++) {
    struct tutti_random random;
    struct pools_models models;
    tutti_random_init(&random, i, "test", 2);
    if (settings[i].kind == TUTTI_TASK_CLASSIFICATION)
      pools_random_classes(&models, &random, 9, 70, 3, 1);
    else
      pools_random_values(&models, &random, 9, 70, 2);
    size_t size = models.pool.rows * tutti_predictions_width(models.pool.kind, models.pool.outputs);
    for (size_t k = 1; k < 9; k++)
      memcpy(models.values + k * size, models.values, size * sizeof(float));
    tutti_ensemble_loss *loss = begin(&models.pool, &settings[i]);
    bool barred[9] = {false};
    double first = tutti_ensemble_loss_with(loss, 0);
    for (size_t m = 0; m < 8; m++) {
      struct tutti_addition found = best_of(loss, barred);
      assert_int_equal(found.model, m);
      assert_int_equal(found.runner_up, m + 1);
      assert_close(found.loss, first, 1e-13, 1e-14);
      barred[m] = true;
      tutti_ensemble_loss_add(loss, m);
    }
    tutti_ensemble_loss_destroy(loss);
    pools_free(&models);
  }
}

/* Models with NaN are passed over, whatever the loss. */
static void test_broken_models(void **state) {
  (void)state;
  for (size_t i = 0; i < SETTINGS; i++) {
    struct tutti_random random;
    struct pools_models models;
    tutti_random_init(&random, i, "test", 3);
    if (settings[i].kind == TUTTI_TASK_CLASSIFICATION)
      pools_random_classes(&models, &random, 3, 70, 3, 1);
    else
      pools_random_values(&models, &random, 3, 70, 1);
    size_t width = tutti_predictions_width(models.pool.kind, models.pool.outputs);
    for (size_t c = 0; c < width; c++)
      models.values[0 * 70 * width + 69 * width + c] = models.values[2 * 70 * width + c] = NAN;
    tutti_ensemble_loss *loss = begin(&models.pool, &settings[i]);
    assert_true(isnan(tutti_ensemble_loss_with(loss, 0)) && isnan(tutti_ensemble_loss_with(loss, 2)));
    struct tutti_addition found = best_of(loss, NULL);
    assert_int_equal(found.model, 1);
    assert_int_equal(found.runner_up, 3);
    const bool barred[] = {false, true, false};
    assert_int_equal(best_of(loss, barred).model, 3);
    tutti_ensemble_loss_destroy(loss);
    pools_free(&models);
  }
}

/* Products of probabilities that underflow many times over, with zeros among them, and an empty tail block. */
static void test_extreme_probabilities(void **state) {
  (void)state;
  enum { ROWS = 1000, MODELS = 3 };
  struct pools_models models = {0};
  models.values = calloc(MODELS * ROWS * 2, sizeof(float));
  models.labels = calloc(ROWS, sizeof(int32_t));
  for (size_t n = 0; n < ROWS; n++) {
    models.values[2 * n] = n % 3 ? 1e-30f : 0;
    models.values[2 * (ROWS + n)] = 1;
    models.values[2 * (2 * ROWS + n)] = n == 500 ? 1e-10f : 0.5f;
  }
  pools_make(&models, TUTTI_TASK_CLASSIFICATION, MODELS, ROWS, 2);
  tutti_ensemble_loss *loss = begin(&models.pool, &settings[0]);
  for (size_t k = 0; k < MODELS; k++)
    assert_close(tutti_ensemble_loss_with(loss, k), models.losses[k], 1e-13, 1e-15);
  tutti_ensemble_loss_add(loss, 0);
  const size_t picks[] = {0, 0};
  assert_close(tutti_ensemble_loss_with(loss, 0), from_scratch(&models.pool, &settings[0], 2, picks), 1e-13, 0);
  tutti_ensemble_loss_destroy(loss);
  pools_free(&models);
}

/* A value that is clearly not a probability disqualifies the model; with equal classes the lowest wins. */
static void test_odd_probabilities(void **state) {
  (void)state;
  struct pools_models models = {0};
  models.values = calloc(4, sizeof(float));
  models.labels = calloc(1, sizeof(int32_t));
  models.values[0] = models.values[1] = 0.5f;
  models.values[2] = models.values[3] = 5;
  pools_make(&models, TUTTI_TASK_CLASSIFICATION, 2, 1, 2);
  tutti_ensemble_loss *loss = begin(&models.pool, &settings[0]), *error = begin(&models.pool, &settings[1]);
  assert_close(tutti_ensemble_loss_with(loss, 0), log(2), 1e-15, 0);
  assert_true(isnan(tutti_ensemble_loss_with(loss, 1)));
  assert_true(tutti_ensemble_loss_with(error, 0) == 0);
  tutti_ensemble_loss_destroy(error);
  models.labels[0] = 1;
  error = begin(&models.pool, &settings[1]);
  assert_true(tutti_ensemble_loss_with(error, 0) == 1);
  tutti_ensemble_loss_destroy(loss);
  tutti_ensemble_loss_destroy(error);
  pools_free(&models);
}

/* Bounds are below the losses, whatever the probabilities and the processor, and near them once there are a few
   members; and the best addition is that of all losses, though most are not computed. */
static void test_bounds(void **state) {
  (void)state;
  static const double sharpness[] = {0.3, 1, 3, 12, 40};
  for (uint64_t seed = 0; seed < watched_rounds(40, 5); seed++) {
    enum { MODELS = 60 };
    struct tutti_random random;
    struct pools_models models;
    double bounds[MODELS], losses[MODELS];
    tutti_random_init(&random, seed, "test", 6);
    size_t rows = 1 + (size_t)tutti_random_below(&random, 300);
    pools_random_classes(&models, &random, MODELS, rows, 4, sharpness[seed % 5]);
    for (size_t i = 0; seed % 3 == 0 && i < MODELS * rows; i += 7)
      models.values[i] = i % 2 ? 1.0099f : 0;
    tutti_ensemble_loss *loss = begin(&models.pool, &settings[0]);
    enum tutti_cpu widest = loss->cpu;
    for (size_t m = 1; m < 30; m++) {
      size_t best = 0, next;
      tutti_ensemble_loss_add(loss, (size_t)tutti_random_below(&random, 1 + m));
      tutti_ensemble_loss_each(loss, losses);
      for (size_t k = 1; k < MODELS; k++)
        best = losses[k] < losses[best] ? k : best;
      next = best == 0;
      for (size_t k = 1; k < MODELS; k++)
        next = k != best && losses[k] < losses[next] ? k : next;
      struct tutti_addition found = best_of(loss, NULL);
      assert_int_equal(found.model, best);
      assert_int_equal(found.runner_up, next);
      for (loss->cpu = TUTTI_CPU_BASELINE; loss->cpu <= widest; loss->cpu++) {
        loss->kind->bounds(loss, bounds);
        for (size_t k = 0; k < MODELS; k++) {
          assert_true(bounds[k] <= losses[k]);
          if (m > 5 && sharpness[seed % 5] <= 1 && seed % 3 != 0)
            assert_true(bounds[k] > losses[k] - 0.003);
        }
      }
      loss->cpu = widest;
    }
    tutti_ensemble_loss_destroy(loss);
    pools_free(&models);
  }
}

/* Means of a million with a spread of a thousandth, as of targets in odd units: no cancellation. */
static void test_moments_far_from_zero(void **state) {
  (void)state;
  struct tutti_random random;
  struct pools_models models;
  const struct setting *setting = &settings[5];
  tutti_random_init(&random, 4, "test", 4);
  pools_random_values(&models, &random, 6, 50, 1);
  for (size_t i = 0; i < 6 * 50; i++) {
    models.values[2 * i] = 1e6f + 0.0625f * (float)tutti_random_below(&random, 3);
    models.values[2 * i + 1] = 1e-6f;
  }
  for (size_t n = 0; n < 50; n++)
    models.y[n] = 1e6;
  tutti_ensemble_loss *loss = begin(&models.pool, setting);
  size_t picks[6];
  for (size_t m = 0; m < 6; m++) {
    picks[m] = m;
    assert_close(tutti_ensemble_loss_with(loss, m), from_scratch(&models.pool, setting, m + 1, picks), 1e-7, 0);
    tutti_ensemble_loss_add(loss, m);
  }
  tutti_ensemble_loss_destroy(loss);
  pools_free(&models);
}

/* The widest instructions and the baseline give the same bits. */
static void test_same_bits_on_every_processor(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < watched_rounds(20, 2); seed++) {
    struct tutti_random random;
    struct pools_models models;
    tutti_random_init(&random, seed, "test", 5);
    pools_random_classes(&models, &random, 7, 1 + (size_t)tutti_random_below(&random, 700), 4, 4);
    tutti_ensemble_loss *loss = begin(&models.pool, &settings[0]);
    enum tutti_cpu best = loss->cpu;
    for (size_t k = 0; k < 7; k++) {
      loss->cpu = TUTTI_CPU_BASELINE;
      double baseline = tutti_ensemble_loss_with(loss, k);
      for (loss->cpu = TUTTI_CPU_BASELINE; loss->cpu <= best; loss->cpu++)
        assert_true(tutti_ensemble_loss_with(loss, k) == baseline);
      tutti_ensemble_loss_add(loss, k);
    }
    tutti_ensemble_loss_destroy(loss);
    pools_free(&models);
  }
}

static void test_find_in_pool(void **state) {
  (void)state;
  const uint64_t trials[] = {3, 5, 9, UINT64_MAX};
  for (size_t models = 0; models <= 4; models++) {
    struct tutti_pool pool = {.models = models, .trials = trials};
    for (uint64_t trial = 0; trial < 12; trial++) {
      size_t expected = trial == 3 ? 0 : trial == 5 ? 1 : trial == 9 ? 2 : models;
      assert_int_equal(tutti_pool_find(&pool, trial), expected < models ? expected : models);
    }
    assert_int_equal(tutti_pool_find(&pool, UINT64_MAX), models == 4 ? 3 : models);
  }
}

static void assert_refused(const struct tutti_pool *pool, enum tutti_loss loss, const char *says) {
  struct tutti_ensemble_loss_options options = {sizeof options, loss, 0, 0};
  tutti_ensemble_loss *made;
  assert_int_equal(tutti_ensemble_loss_create(context, pool, &options, &made), TUTTI_ERROR_USAGE);
  assert_null(made);
  assert_non_null(strstr(tutti_error_message(context), says));
}

static void test_refusals(void **state) {
  (void)state;
  struct tutti_random random;
  struct pools_models models;
  tutti_random_init(&random, 4, "test", 4);
  pools_random_classes(&models, &random, 2, 5, 3, 1);
  struct tutti_pool pool = models.pool;
  assert_refused(&pool, TUTTI_LOSS_MSE, "\"mse\" of ensembles is not defined for classification");
  assert_refused(&pool, TUTTI_LOSS_COUNT, "not defined");
  pool.labels = NULL;
  assert_refused(&pool, TUTTI_LOSS_NLL, "without targets");
  pool = models.pool;
  pool.models = 0;
  assert_refused(&pool, TUTTI_LOSS_NLL, "0 models");
  pool = models.pool;
  pool.rows = 0;
  assert_refused(&pool, TUTTI_LOSS_NLL, "0 rows");
  pool = models.pool;
  pool.kind = TUTTI_TASK_VALUE;
  assert_refused(&pool, TUTTI_LOSS_VALUE, "without data");
  tutti_ensemble_loss_destroy(NULL);
  pools_free(&models);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_running_equals_scratch), cmocka_unit_test(test_best_by_brute_force),
      cmocka_unit_test(test_short_addition),         cmocka_unit_test(test_ties),
      cmocka_unit_test(test_broken_models),          cmocka_unit_test(test_extreme_probabilities),
      cmocka_unit_test(test_odd_probabilities),      cmocka_unit_test(test_bounds),
      cmocka_unit_test(test_moments_far_from_zero),  cmocka_unit_test(test_same_bits_on_every_processor),
      cmocka_unit_test(test_find_in_pool),           cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
