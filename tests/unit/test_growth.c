/* test_growth.c - the selectors greedy, forward-replace and quick-greedy, and what all share that grow an ensemble:
   golden picks, brute force, what they promise of every path, what is kept of it, and models that are passed over. */
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
#define tutti_plugin tutti_plugin_forward_replace
#include "plugins/selector/forward-replace.c"
#undef tutti_plugin
#define tutti_plugin tutti_plugin_greedy
#include "plugins/selector/greedy.c"
#undef tutti_plugin
#define tutti_plugin tutti_plugin_quick_greedy
#include "plugins/selector/quick-greedy.c"
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

/* A config that any of them can read, as theirs begin alike. */
static struct greedy_config config_of(size_t size) {
  return (struct greedy_config){.growth = {.size = (int64_t)size, .epistemic = TUTTI_EPISTEMIC_PICKS}, .max_picks = 50};
}

static tutti_ensemble *choose(const struct tutti_descriptor *plugin, const struct greedy_config *config,
                              const struct tutti_pool *pool) {
  tutti_ensemble *ensemble;
  assert_int_equal(selecting_choose(context, plugin, config, pool, 0, &ensemble), TUTTI_OK);
  return ensemble;
}

/* --- golden ------------------------------------------------------------------------------------------------------- */

/* The trace's trials and losses, and weights by multiplicity. */
static void assert_path(const struct pools_models *models, const tutti_ensemble *ensemble, const json_t *order,
                        const json_t *trace) {
  size_t picks = json_array_size(order), copies[12] = {0};
  assert_int_equal(tutti_ensemble_steps(ensemble), picks);
  for (size_t i = 0; i < picks; i++) {
    size_t model = (size_t)golden_number(golden_at(order, i));
    assert_int_equal(tutti_ensemble_step(ensemble, i)->trial, models->trials[model]);
    if (trace)
      assert_close(tutti_ensemble_step(ensemble, i)->loss, golden_number_of(golden_at(trace, i), "loss"), 1e-6, 0);
    copies[model]++;
  }
  for (size_t k = 0; k < 12; k++)
    assert_close(selecting_weight(ensemble, models->trials[k]), (double)copies[k] / (double)picks, 1e-15, 0);
}

static void test_golden(void **state) {
  (void)state;
  json_t *root = golden_load("forward_select");
  const struct {
    const struct tutti_descriptor *plugin;
    const char *name;
    size_t size;
    int accept;
    const char *end;
  } cases[] = {
      {tutti_plugin_forward_replace(), "forward_with_replacement_exactly_4_picks", 4, 0, ""},
      {tutti_plugin_greedy(), "caruana_with_replacement_early_stop(strict improvement, empty start, max 50)", 12, 0,
       "; the end: no model improves it"},
      {tutti_plugin_greedy(), "caruana_limited_to_4_unique(stop when 4 unique reached)", 4, 0, ""},
      /* Literally, the paper's loop ends with one more than K = 4. */
      {tutti_plugin_greedy(), "autodeuq_algorithm1_literal(while |unique|<=K=4, accept if <=)", 5, 1, ""},
      {tutti_plugin_quick_greedy(), "quick_greedy(NES alternative 1: sorted, add only if improves)", 4, 0, ""},
  };
  struct pools_models models;
  selecting_golden(&models, root);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    json_t *expected = golden_get(root, cases[i].name);
    struct greedy_config config = config_of(cases[i].size);
    config.accept = cases[i].accept;
    tutti_ensemble *ensemble = choose(cases[i].plugin, &config, &models.pool);
    assert_path(&models, ensemble, golden_get(expected, "order"), json_object_get(expected, "trace"));
    const struct tutti_step *last = tutti_ensemble_step(ensemble, tutti_ensemble_steps(ensemble) - 1);
    if (json_object_get(expected, "loss"))
      assert_close(last->loss, golden_number_of(expected, "loss"), 1e-6, 0);
    if (json_object_get(expected, "error"))
      assert_close(selecting_metric(context, &models.pool, ensemble, "error"), golden_number_of(expected, "error"),
                   1e-12, 0);
    assert_close(selecting_metric(context, &models.pool, ensemble, "nll"), last->loss, 1e-12, 0);
    assert_true(strlen(last->note) >= strlen(cases[i].end));
    assert_string_equal(last->note + strlen(last->note) - strlen(cases[i].end), cases[i].end);
    tutti_ensemble_destroy(ensemble);
  }
  pools_free(&models);
  json_decref(root);
}

static void test_notes(void **state) {
  (void)state;
  json_t *root = golden_load("forward_select");
  struct pools_models models;
  selecting_golden(&models, root);
  struct greedy_config config = config_of(4);
  tutti_ensemble *again = choose(tutti_plugin_forward_replace(), &config, &models.pool);
  tutti_ensemble *quick = choose(tutti_plugin_quick_greedy(), &config, &models.pool);
  assert_string_equal(tutti_ensemble_step(again, 0)->note, "next best: trial 90, 0.0213 worse");
  assert_string_equal(tutti_ensemble_step(again, 3)->note, "taken again, part 2; next best: trial 70, 0.00634 worse");
  assert_string_equal(tutti_ensemble_step(quick, 0)->note, "rank 1 of 12");
  tutti_ensemble_destroy(again);
  tutti_ensemble_destroy(quick);
  pools_free(&models);
  json_decref(root);
}

/* --- brute force -------------------------------------------------------------------------------------------------- */

static const struct {
  bool classes;
  int loss, density;
  const char *metric;
} cases[] = {{true, 0, 0, "nll"},  {true, 4, 0, "error"},        {true, 2, 0, "brier"},
             {false, 0, 0, "nll"}, {false, 1, 1, "nll-moments"}, {false, 3, 0, "rmse"}};
enum { CASES = sizeof cases / sizeof cases[0], MODELS = 6, PICKS = 12 };

static void random_pool(struct pools_models *models, uint64_t seed) {
  struct tutti_random random;
  tutti_random_init(&random, seed, "test", 0);
  if (cases[seed % CASES].classes)
    pools_random_classes(models, &random, MODELS, 45, 3, 1.5);
  else
    pools_random_values(models, &random, MODELS, 45, 2);
}

static struct greedy_config random_config(uint64_t seed, size_t size) {
  struct greedy_config config = config_of(size);
  config.growth.loss = cases[seed % CASES].loss;
  config.growth.density = cases[seed % CASES].density;
  config.max_picks = PICKS;
  return config;
}

/* The two computations round differently: a difference as small as this is a tie. */
static bool lower(double a, double b) { return a < b - 1e-12; }

/* The model that makes the ensemble best, and the resulting loss, by evaluating all models except skipped ones from
   scratch. */
static size_t plain_best(const struct tutti_pool *pool, const char *metric, size_t picks, size_t *picked,
                         const bool *skip, double *loss) {
  size_t best = 0;
  *loss = INFINITY;
  for (picked[picks] = 0; picked[picks] < MODELS; picked[picks]++) {
    if (skip && skip[picked[picks]])
      continue;
    double value = selecting_metric_of(context, pool, picks + 1, picked, metric);
    if (lower(value, *loss)) {
      *loss = value;
      best = picked[picks];
    }
  }
  return best;
}

/* Picks with replacement, while the loss falls if it has to or there are not `least` different models, until `size`
   different ones or PICKS. */
static size_t plain_greedy(const struct tutti_pool *pool, const char *metric, bool improve, size_t least, size_t size,
                           size_t *picked) {
  double now = INFINITY, loss;
  size_t picks = 0, different = 0;
  bool taken[MODELS] = {false};
  while (different < size && picks < PICKS) {
    picked[picks] = plain_best(pool, metric, picks, picked, NULL, &loss);
    if (improve && !lower(loss, now) && different >= least)
      break;
    if (improve && !lower(loss, now))
      picked[picks] = plain_best(pool, metric, picks, picked, taken, &loss);
    different += !taken[picked[picks]];
    taken[picked[picks++]] = true;
    now = loss;
  }
  return picks;
}

static void assert_picks(const tutti_ensemble *ensemble, const struct tutti_pool *pool, size_t picks,
                         const size_t *picked) {
  assert_int_equal(tutti_ensemble_steps(ensemble), picks);
  for (size_t i = 0; i < picks; i++)
    assert_int_equal(tutti_ensemble_step(ensemble, i)->trial, pool->trials[picked[i]]);
}

static void test_greedy_by_brute_force(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 8 * CASES; seed++) {
    struct pools_models models;
    size_t picked[PICKS], size = 1 + seed / CASES % MODELS;
    random_pool(&models, seed);
    struct greedy_config config = random_config(seed, size);
    tutti_ensemble *ensemble = choose(tutti_plugin_greedy(), &config, &models.pool);
    size_t picks = plain_greedy(&models.pool, cases[seed % CASES].metric, true, 1, size, picked);
    assert_picks(ensemble, &models.pool, picks, picked);
    tutti_ensemble_destroy(ensemble);
    config.min_size = 3;
    ensemble = choose(tutti_plugin_greedy(), &config, &models.pool);
    picks = plain_greedy(&models.pool, cases[seed % CASES].metric, true, 3, size, picked);
    assert_picks(ensemble, &models.pool, picks, picked);
    assert_true(tutti_ensemble_size(ensemble) >= (size < 3 ? size : 3));
    tutti_ensemble_destroy(ensemble);
    pools_free(&models);
  }
}

static void test_forward_replace_by_brute_force(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 4 * CASES; seed++) {
    struct pools_models models;
    size_t picked[PICKS + 1];
    random_pool(&models, seed);
    struct greedy_config config = random_config(seed, PICKS);
    tutti_ensemble *ensemble = choose(tutti_plugin_forward_replace(), &config, &models.pool);
    size_t picks = plain_greedy(&models.pool, cases[seed % CASES].metric, false, 1, MODELS + 1, picked);
    assert_int_equal(picks, PICKS);
    assert_picks(ensemble, &models.pool, picks, picked);
    tutti_ensemble_destroy(ensemble);
    pools_free(&models);
  }
}

/* In the order of their own losses, each only if the loss from scratch falls. */
static void test_quick_greedy_by_brute_force(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 8 * CASES; seed++) {
    const char *metric = cases[seed % CASES].metric;
    struct pools_models models;
    size_t picked[MODELS], picks = 0, size = 1 + seed / CASES % MODELS;
    double now = INFINITY, own[MODELS];
    random_pool(&models, seed);
    for (size_t k = 0; k < MODELS; k++)
      own[k] = selecting_metric_of(context, &models.pool, 1, &k, metric);
    for (size_t rank = 0; rank < MODELS && picks < size; rank++) {
      size_t next = 0;
      for (size_t k = 1; k < MODELS; k++)
        if (lower(own[k], own[next]))
          next = k;
      own[next] = INFINITY;
      picked[picks] = next;
      double loss = selecting_metric_of(context, &models.pool, picks + 1, picked, metric);
      if (lower(loss, now)) {
        now = loss;
        picks++;
      }
    }
    struct greedy_config config = random_config(seed, size);
    tutti_ensemble *ensemble = choose(tutti_plugin_quick_greedy(), &config, &models.pool);
    assert_picks(ensemble, &models.pool, picks, picked);
    tutti_ensemble_destroy(ensemble);
    pools_free(&models);
  }
}

/* --- promises ----------------------------------------------------------------------------------------------------- */

/* The loss never rises along the trace, weights are multiplicities, there are at most `size` members, and fewer only if
   nothing improves the ensemble any more. */
static void test_greedy_promises(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 20 * CASES; seed++) {
    const char *metric = cases[seed % CASES].metric;
    struct pools_models models;
    size_t size = 1 + seed % 5, picked[201], copies[MODELS] = {0};
    random_pool(&models, seed + 1000 * CASES);
    struct greedy_config config = random_config(seed, size);
    config.accept = seed / CASES % 2 == 0;
    config.max_picks = 200;
    tutti_ensemble *ensemble = choose(tutti_plugin_greedy(), &config, &models.pool);
    size_t picks = tutti_ensemble_steps(ensemble);
    assert_in_range(tutti_ensemble_size(ensemble), 1, size);
    for (size_t i = 0; i < picks; i++) {
      picked[i] = tutti_pool_find(&models.pool, tutti_ensemble_step(ensemble, i)->trial);
      copies[picked[i]]++;
      if (i > 0)
        assert_true(tutti_ensemble_step(ensemble, i)->loss <= tutti_ensemble_step(ensemble, i - 1)->loss + 1e-12);
    }
    for (size_t k = 0; k < MODELS; k++)
      assert_close(selecting_weight(ensemble, models.trials[k]), (double)copies[k] / (double)picks, 1e-14, 0);
    double last = tutti_ensemble_step(ensemble, picks - 1)->loss, loss;
    assert_close(selecting_metric(context, &models.pool, ensemble, metric), strcmp(metric, "rmse") ? last : sqrt(last),
                 1e-11, 1e-12);
    if (tutti_ensemble_size(ensemble) < size && picks < 200) {
      (void)plain_best(&models.pool, metric, picks, picked, NULL, &loss);
      assert_false(lower(strcmp(metric, "rmse") ? loss : loss * loss, last));
    }
    tutti_ensemble_destroy(ensemble);
    pools_free(&models);
  }
}

/* A model alone: taking it again leaves the loss as it is. Where that is accepted, max_picks ends it, or a larger
   size. */
static void test_accept_not_worse_ends(void **state) {
  (void)state;
  struct tutti_random random;
  struct pools_models models;
  tutti_random_init(&random, 7, "test", 0);
  pools_random_values(&models, &random, 1, 30, 1);
  struct greedy_config config = config_of(5);
  for (int accept = 0; accept < 2; accept++) {
    config.accept = accept;
    tutti_ensemble *ensemble = choose(tutti_plugin_greedy(), &config, &models.pool);
    assert_int_equal(tutti_ensemble_size(ensemble), 1);
    assert_int_equal(tutti_ensemble_steps(ensemble), accept ? 50 : 1);
    tutti_ensemble_destroy(ensemble);
  }
  config.growth.size = 70;
  tutti_ensemble *ensemble = choose(tutti_plugin_greedy(), &config, &models.pool);
  assert_int_equal(tutti_ensemble_steps(ensemble), 70);
  assert_non_null(strstr(tutti_ensemble_step(ensemble, 69)->note, "; the end: as many picks as allowed"));
  tutti_ensemble_destroy(ensemble);
  pools_free(&models);
}

/* Losses that differ by rounding are equal: relative to the loss, and where likelihoods cancel, to one nat. */
static void test_rounding_is_no_difference(void **state) {
  (void)state;
  struct tutti_random random;
  struct pools_models models;
  tutti_random_init(&random, 7, "test", 0);
  pools_random_values(&models, &random, 2, 30, 1);
  for (int nll = 0; nll < 2; nll++) {
    struct greedy_config config = config_of(5);
    while (strcmp(tutti_growth_losses[config.growth.loss], nll ? "nll" : "mse") != 0)
      config.growth.loss++;
    struct tutti_growth_options options = tutti_growth_options_of(&config.growth, 0);
    tutti_growth *growth;
    assert_int_equal(tutti_growth_create(context, &options, &models.pool, &growth), TUTTI_OK);
    double now = nll ? 1e-3 : tutti_growth_own_losses(growth)[0], unit = nll ? 1 : now;
    assert_int_equal(tutti_growth_take(context, growth, 0, now, ""), TUTTI_OK);
    for (double step = 1e-14; step < 1e-11; step *= 100) {
      bool differs = step > 1e-13;
      assert_int_equal(tutti_growth_accepts(growth, TUTTI_GROWTH_ACCEPT_BETTER, now - step * unit), differs);
      assert_false(tutti_growth_accepts(growth, TUTTI_GROWTH_ACCEPT_BETTER, now + step * unit));
      assert_int_equal(tutti_growth_accepts(growth, TUTTI_GROWTH_ACCEPT_NOT_WORSE, now + step * unit), !differs);
      assert_true(tutti_growth_accepts(growth, TUTTI_GROWTH_ACCEPT_NOT_WORSE, now - step * unit));
    }
    tutti_growth_destroy(growth);
  }
  pools_free(&models);
}

/* Of models that are the same the lowest trial is taken, by all of them, as often as it takes. */
static void test_ties(void **state) {
  (void)state;
  const struct tutti_descriptor *plugins[] = {tutti_plugin_greedy(), tutti_plugin_forward_replace(),
                                              tutti_plugin_quick_greedy()};
  struct tutti_random random;
  struct pools_models models;
  tutti_random_init(&random, 3, "test", 0);
  pools_random_classes(&models, &random, 6, 40, 3, 1);
  for (size_t k = 1; k < 6; k++)
    memcpy(models.values + k * 120, models.values, 120 * sizeof(float));
  struct greedy_config config = config_of(3);
  for (size_t i = 0; i < 3; i++) {
    tutti_ensemble *ensemble = choose(plugins[i], &config, &models.pool);
    assert_int_equal(tutti_ensemble_size(ensemble), 1);
    assert_int_equal(tutti_ensemble_trial(ensemble, 0), 10);
    tutti_ensemble_destroy(ensemble);
  }
  pools_free(&models);
}

/* The caller's count replaces the parameter: the number of members or, for forward-replace, of picks. */
static void test_counts(void **state) {
  (void)state;
  const struct tutti_descriptor *plugins[] = {tutti_plugin_greedy(), tutti_plugin_forward_replace(),
                                              tutti_plugin_quick_greedy()};
  for (uint64_t seed = 0; seed < 10; seed++)
    for (size_t i = 0; i < 3; i++) {
      struct pools_models models;
      tutti_ensemble *by_count, *by_size;
      random_pool(&models, seed);
      struct greedy_config config = random_config(seed, 50), two = random_config(seed, 2);
      assert_int_equal(selecting_choose(context, plugins[i], &config, &models.pool, 2, &by_count), TUTTI_OK);
      by_size = choose(plugins[i], &two, &models.pool);
      assert_int_equal(tutti_ensemble_steps(by_count), tutti_ensemble_steps(by_size));
      assert_in_range(tutti_ensemble_size(by_count), 1, 2);
      tutti_ensemble_destroy(by_count);
      tutti_ensemble_destroy(by_size);
      pools_free(&models);
    }
}

/* --- what is kept, and what is passed over ------------------------------------------------------------------------ */

/* All picks are traced; with keep = best those after the lowest loss are no members. */
static void test_keep_best(void **state) {
  (void)state;
  const struct tutti_descriptor *plugins[] = {tutti_plugin_forward(), tutti_plugin_forward_replace(),
                                              tutti_plugin_greedy(), tutti_plugin_quick_greedy()};
  size_t shorter = 0;
  for (uint64_t seed = 0; seed < 12 * CASES; seed++) {
    struct pools_models models;
    random_pool(&models, seed);
    struct greedy_config config = random_config(seed, MODELS);
    tutti_ensemble *last = choose(plugins[seed % 4], &config, &models.pool);
    config.growth.keep = 1;
    tutti_ensemble *best = choose(plugins[seed % 4], &config, &models.pool);
    size_t steps = tutti_ensemble_steps(last), kept = 0, found = 0;
    double copies[MODELS] = {0};
    assert_int_equal(tutti_ensemble_steps(best), steps);
    for (size_t i = 0; i < steps; i++) {
      assert_int_equal(tutti_ensemble_step(best, i)->trial, tutti_ensemble_step(last, i)->trial);
      found += strstr(tutti_ensemble_step(best, i)->note, "; not kept") != NULL;
      if (tutti_ensemble_step(last, i)->loss < tutti_ensemble_step(last, kept)->loss)
        kept = i;
    }
    kept++;
    for (size_t i = 0; i < kept; i++)
      copies[tutti_pool_find(&models.pool, tutti_ensemble_step(best, i)->trial)] += 1 / (double)kept;
    for (size_t k = 0; k < MODELS; k++)
      assert_close(selecting_weight(best, models.trials[k]), copies[k], 1e-14, 0);
    assert_int_equal(found, steps - kept);
    assert_true((kept < steps) == (strstr(tutti_ensemble_step(best, kept - 1)->note, "the best, so") != NULL));
    shorter += kept < steps;
    tutti_ensemble_destroy(last);
    tutti_ensemble_destroy(best);
    pools_free(&models);
  }
  assert_true(shorter > 0);
}

/* A model with a NaN somewhere is passed over and says so; nothing but such models is an error. */
static void test_passed_over(void **state) {
  (void)state;
  const struct tutti_descriptor *plugins[] = {tutti_plugin_forward(), tutti_plugin_forward_replace(),
                                              tutti_plugin_greedy(), tutti_plugin_quick_greedy()};
  for (uint64_t seed = 0; seed < 4 * CASES; seed++) {
    const struct tutti_descriptor *plugin = plugins[seed / CASES];
    struct pools_models models;
    random_pool(&models, seed);
    size_t width = tutti_predictions_width(models.pool.kind, models.pool.outputs);
    struct greedy_config config = random_config(seed, 2 * MODELS);
    float *row = models.values + (3 * 45 + 7) * width;
    for (size_t i = 0; i < width; i++)
      row[i] = NAN;
    tutti_ensemble *ensemble = choose(plugin, &config, &models.pool);
    const struct tutti_step *step = tutti_ensemble_step(ensemble, tutti_ensemble_steps(ensemble) - 1);
    assert_true(selecting_weight(ensemble, models.trials[3]) == 0);
    assert_int_equal(step->trial, models.trials[3]);
    assert_true(isnan(step->loss));
    assert_non_null(strstr(step->note, "passed over: its "));
    tutti_ensemble_destroy(ensemble);
    for (size_t i = 0; i < MODELS * 45 * width; i++)
      models.values[i] = NAN;
    assert_int_equal(selecting_choose(context, plugin, &config, &models.pool, 0, &ensemble), TUTTI_ERROR_NUMERIC);
    assert_non_null(strstr(tutti_error_message(context), "none of the 6 models has a "));
    tutti_ensemble_destroy(ensemble);
    pools_free(&models);
  }
}

/* A selector built with an older header has fewer options, and nothing after them is read. One built with a newer
   header may use a loss that this library does not know. */
static void test_other_headers(void **state) {
  (void)state;
  const struct tutti_growth_config config = {.size = 4};
  struct tutti_growth_options options = tutti_growth_options_of(&config, 0);
  struct pools_models models;
  tutti_ensemble *ensemble;
  random_pool(&models, 0);
  for (int shorter = 0; shorter < 2; shorter++) {
    options.size = shorter ? offsetof(struct tutti_growth_options, members) : sizeof options;
    assert_int_equal(tutti_ensemble_create(context, &ensemble), TUTTI_OK);
    assert_int_equal(tutti_growth_select(context, &options, &models.pool, ensemble), TUTTI_OK);
    assert_int_equal(tutti_ensemble_size(ensemble), shorter ? 1 : 4);
    tutti_ensemble_destroy(ensemble);
  }
  options.size = sizeof options;
  options.loss = 99;
  assert_int_equal(tutti_ensemble_create(context, &ensemble), TUTTI_OK);
  assert_int_equal(tutti_growth_select(context, &options, &models.pool, ensemble), TUTTI_ERROR_USAGE);
  assert_int_equal(tutti_growth_check(context, 99, TUTTI_TASK_REGRESSION), TUTTI_ERROR_USAGE);
  tutti_ensemble_destroy(ensemble);
  pools_free(&models);
}

/* A plugin passes its choice of a loss as a place in the list that it was compiled with: the places of 2.0 stay. */
static void test_places_of_losses(void **state) {
  (void)state;
  static const struct {
    const char *name;
    enum tutti_loss loss;
  } of_2_0[] = {
      {"nll", TUTTI_LOSS_NLL}, {"brier", TUTTI_LOSS_BRIER}, {"mse", TUTTI_LOSS_MSE}, {"error", TUTTI_LOSS_ERROR}};
  enum tutti_loss loss;
  assert_string_equal(tutti_growth_losses[0], "auto");
  assert_false(tutti_growth_loss_of(0, &loss));
  for (int i = 1; i <= 4; i++) {
    assert_string_equal(tutti_growth_losses[i], of_2_0[i - 1].name);
    assert_true(tutti_growth_loss_of(i, &loss));
    assert_int_equal(loss, of_2_0[i - 1].loss);
  }
}

/* The message has the losses that the task has, and no others. */
static void test_names_of_losses(void **state) {
  (void)state;
  assert_int_equal(tutti_growth_check(context, 3, TUTTI_TASK_CLASSIFICATION), TUTTI_ERROR_USAGE);
  assert_non_null(strstr(tutti_error_message(context), "loss = mse is not defined for classification"));
  assert_non_null(strstr(tutti_error_message(context), "expected one of auto, nll, brier, error"));
  assert_int_equal(tutti_growth_check(context, 4, TUTTI_TASK_REGRESSION), TUTTI_ERROR_USAGE);
  assert_non_null(strstr(tutti_error_message(context), "expected one of auto, nll, mse"));
  assert_int_equal(tutti_growth_check(context, 1, TUTTI_TASK_VALUE), TUTTI_ERROR_USAGE);
  assert_int_equal(tutti_growth_check(context, 2, TUTTI_TASK_CLASSIFICATION), TUTTI_OK);
}

static void test_refusals(void **state) {
  (void)state;
  const struct tutti_descriptor *plugins[] = {tutti_plugin_forward(), tutti_plugin_forward_replace(),
                                              tutti_plugin_greedy(), tutti_plugin_quick_greedy()};
  struct pools_models models;
  random_pool(&models, 0);
  struct greedy_config mse = config_of(3), sound = config_of(3);
  tutti_ensemble *ensemble;
  mse.growth.loss = 3;
  for (size_t i = 0; i < 4; i++) {
    assert_int_equal(selecting_choose(context, plugins[i], &mse, &models.pool, 0, &ensemble), TUTTI_ERROR_USAGE);
    tutti_ensemble_destroy(ensemble);
  }
  tutti_cancel(context);
  for (size_t i = 0; i < 4; i++) {
    assert_int_equal(selecting_choose(context, plugins[i], &sound, &models.pool, 0, &ensemble), TUTTI_ERROR_CANCELLED);
    tutti_ensemble_destroy(ensemble);
  }
  pools_free(&models);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_golden),
      cmocka_unit_test(test_notes),
      cmocka_unit_test(test_greedy_by_brute_force),
      cmocka_unit_test(test_forward_replace_by_brute_force),
      cmocka_unit_test(test_quick_greedy_by_brute_force),
      cmocka_unit_test(test_greedy_promises),
      cmocka_unit_test(test_accept_not_worse_ends),
      cmocka_unit_test(test_rounding_is_no_difference),
      cmocka_unit_test(test_ties),
      cmocka_unit_test(test_counts),
      cmocka_unit_test(test_keep_best),
      cmocka_unit_test(test_passed_over),
      cmocka_unit_test(test_other_headers),
      cmocka_unit_test(test_places_of_losses),
      cmocka_unit_test(test_names_of_losses),
      cmocka_unit_test(test_refusals), /* last: it cancels the context */
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
