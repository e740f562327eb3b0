/* Surrogates made of networks, and acquisition mw-ucb: what NOMU's uncertainty does (Heiss et al., ICML 2022), what the
   parts refuse, c from the mean width, refusals of proposals, and builders that resume to the same candidates. */
#include "toy.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "plugins/acquisition/mw-ucb.c"

static const char line[] = "x = uniform -1 1", plane[] = "x = uniform -1 1\ny = uniform -1 1";

/* --- surrogates --------------------------------------------------------------------------------------------------- */

static const char *const names[] = {"nomu", "deep-ensemble", "mc-dropout", "hyper-deep-ensemble"};
enum { NAMES = sizeof names / sizeof names[0] };

/* Small, so that a fit takes milliseconds. */
static void put_surrogate(struct toy *toy, const char *name, const char *units, const char *epochs) {
  toy_put(toy, "surrogate", TUTTI_KIND_SURROGATE, name);
  toy_set(toy, "surrogate", "units", units);
  if (strcmp(name, "nomu") == 0)
    toy_set(toy, "surrogate", "uncertainty_units", units);
  if (strcmp(name, "hyper-deep-ensemble") == 0)
    toy_set(toy, "surrogate", "draws", "4");
  toy_set(toy, "trainer", "epochs", epochs);
}

static tutti_surrogate *make_surrogate(struct toy *toy) {
  struct tutti_surrogate_setup setup = {.size = sizeof setup,
                                        .host = toy->host,
                                        .seed = 3,
                                        .dimension = tutti_domain_width(toy->hyperparameters),
                                        .domain = toy->hyperparameters};
  tutti_surrogate *surrogate;
  TOY_OK(toy, tutti_surrogate_create(toy->context, toy->host, "surrogate", &setup, &surrogate));
  return surrogate;
}

/* Five observations on a line, with a gap. */
static const double seen[] = {0, 0.1, 0.2, 0.9, 1}, values[] = {10, 12, 11, 15, 14};
enum { SEEN = 5, GRID = 41 };

static struct tutti_points points_of(size_t count, const double *vectors) {
  return (struct tutti_points){.size = sizeof(struct tutti_points), .count = count, .dimension = 1, .vectors = vectors};
}

static void fit_line(struct toy *toy, tutti_surrogate *surrogate) {
  struct tutti_points points = points_of(SEEN, seen);
  TOY_OK(toy, tutti_surrogate_fit(toy->context, surrogate, &points, values, NULL));
}

static void predict(struct toy *toy, tutti_surrogate *surrogate, size_t count, const double *vectors, double *mean,
                    double *deviation) {
  struct tutti_points points = points_of(count, vectors);
  TOY_OK(toy, tutti_surrogate_predict(toy->context, surrogate, &points, mean, deviation));
}

/* It meets the observations, is certain there, and less certain in the gap; the readout bounds what it says. */
static void test_nomu_is_uncertain_in_gaps(void **state) {
  static const char *const stops[] = {"connection", "none", "f-first"};
  (void)state;
  for (int which = 0; which < 3; which++) {
    struct toy toy;
    double mean[SEEN], deviation[SEEN], there, far, middle = 0.55;
    toy_create(&toy, 1, 1, 1, line);
    put_surrogate(&toy, "nomu", "64 64", "1500");
    toy_set(&toy, "trainer", "initialiser_range", "0.2");
    toy_set(&toy, "trainer", "learning_rate", "0.003");
    toy_set(&toy, "surrogate", "stop_gradient", stops[which]);
    tutti_surrogate *surrogate = make_surrogate(&toy);
    fit_line(&toy, surrogate);
    predict(&toy, surrogate, SEEN, seen, mean, deviation);
    predict(&toy, surrogate, 1, &middle, &there, &far);
    for (int i = 0; i < SEEN; i++) {
      assert_true(fabs(mean[i] - values[i]) < 0.3);
      assert_true(deviation[i] < 0.4 * far);
      assert_true(deviation[i] >= 2.5 * 0.99e-6); /* l_min, times half the range of the values */
    }
    assert_true(far < 2.5 * 2);
    tutti_surrogate_destroy(surrogate);
    toy_destroy(&toy);
  }
}

/* What trains the uncertainty does not change the mean, but without a stop. */
static void test_nomu_stops_gradients(void **state) {
  static const char *const stops[] = {"connection", "f-first", "none"};
  double means[3][GRID], deviation[GRID], grid[GRID];
  (void)state;
  for (int i = 0; i < GRID; i++)
    grid[i] = i / (GRID - 1.0);
  for (int which = 0; which < 3; which++) {
    struct toy toy;
    toy_create(&toy, 1, 1, 1, line);
    put_surrogate(&toy, "nomu", "16 16", "50");
    toy_set(&toy, "trainer", "keep", "last");
    toy_set(&toy, "surrogate", "stop_gradient", stops[which]);
    tutti_surrogate *surrogate = make_surrogate(&toy);
    fit_line(&toy, surrogate);
    predict(&toy, surrogate, GRID, grid, means[which], deviation);
    tutti_surrogate_destroy(surrogate);
    toy_destroy(&toy);
  }
  assert_memory_equal(means[0], means[1], sizeof means[0]);
  assert_memory_not_equal(means[0], means[2], sizeof means[0]);
}

/* Values times ten and moved by a thousand: so are the predictions. */
static void test_values_are_scaled(void **state) {
  double mean[2][GRID], deviation[2][GRID], grid[GRID], other[SEEN];
  (void)state;
  for (int i = 0; i < GRID; i++)
    grid[i] = i / (GRID - 1.0);
  for (int i = 0; i < SEEN; i++)
    other[i] = 1000 + 8 * values[i];
  for (int which = 0; which < NAMES; which++) {
    struct toy toy;
    toy_create(&toy, 1, 1, 1, line);
    put_surrogate(&toy, names[which], "16 16", "50");
    tutti_surrogate *surrogate = make_surrogate(&toy);
    struct tutti_points points = points_of(SEEN, seen);
    for (int k = 0; k < 2; k++) {
      TOY_OK(&toy, tutti_surrogate_fit(toy.context, surrogate, &points, k ? other : values, NULL));
      predict(&toy, surrogate, GRID, grid, mean[k], deviation[k]);
    }
    for (int i = 0; i < GRID; i++) {
      assert_true(fabs(mean[1][i] - 1000 - 8 * mean[0][i]) < 1e-3);
      assert_true(fabs(deviation[1][i] - 8 * deviation[0][i]) < 1e-3);
    }
    tutti_surrogate_destroy(surrogate);
    toy_destroy(&toy);
  }
}

static void refuses(const char *surrogate, const char *section, const char *name, const char *value, const char *part) {
  struct toy toy;
  tutti_surrogate *made = NULL;
  struct tutti_surrogate_setup setup = {.size = sizeof setup, .seed = 3};
  toy_create(&toy, 1, 1, 1, line);
  put_surrogate(&toy, surrogate, "8", "5");
  enum tutti_status status = tutti_host_set(toy.context, toy.host, section, name, value);
  setup.host = toy.host;
  setup.dimension = 1;
  setup.domain = toy.hyperparameters;
  if (status == TUTTI_OK)
    status = tutti_surrogate_create(toy.context, toy.host, "surrogate", &setup, &made);
  assert_int_not_equal(status, TUTTI_OK);
  if (!strstr(tutti_error_message(toy.context), part))
    fail_msg("expected \"%s\" in: %s", part, tutti_error_message(toy.context));
  toy_destroy(&toy);
}

static void test_refusals(void **state) {
  (void)state;
  refuses("nomu", "surrogate", "pi_sqr", "0", "expected a number > 0");
  refuses("nomu", "surrogate", "pi_exp", "-1", "expected a number > 0");
  refuses("nomu", "surrogate", "c_exp", "0", "expected a number > 0");
  refuses("nomu", "surrogate", "margin", "-0.1", "found '-0.1'");
  refuses("nomu", "surrogate", "trainer", "trees", "trainer");
  refuses("mc-dropout", "surrogate", "rate", "1", "found '1'");
}

/* From one observation on; before the first, the message says what is missing. */
static void test_few_observations(void **state) {
  (void)state;
  for (int which = 0; which < NAMES; which++) {
    struct toy toy;
    double mean[GRID], deviation[GRID], grid[GRID];
    toy_create(&toy, 1, 1, 1, line);
    put_surrogate(&toy, names[which], "16 16", "20");
    tutti_surrogate *surrogate = make_surrogate(&toy);
    for (int i = 0; i < GRID; i++)
      grid[i] = i / (GRID - 1.0);
    struct tutti_points asked = points_of(GRID, grid);
    assert_int_not_equal(tutti_surrogate_predict(toy.context, surrogate, &asked, mean, deviation), TUTTI_OK);
    assert_non_null(strstr(tutti_error_message(toy.context), "fit was expected before a prediction"));
    for (size_t count = 1; count <= 3; count++) {
      struct tutti_points points = points_of(count, seen);
      TOY_OK(&toy, tutti_surrogate_fit(toy.context, surrogate, &points, values, NULL));
      predict(&toy, surrogate, GRID, grid, mean, deviation);
      for (int i = 0; i < GRID; i++)
        assert_true(isfinite(mean[i]) && deviation[i] >= 0);
    }
    tutti_surrogate_destroy(surrogate);
    toy_destroy(&toy);
  }
}

/* Predictions on the grid after fits to the counts from `from` to SEEN. */
static void predict_after(const char *name, const char *start, size_t from, double *mean, double *deviation) {
  struct toy toy;
  double grid[GRID];
  for (int i = 0; i < GRID; i++)
    grid[i] = i / (GRID - 1.0);
  toy_create(&toy, 1, 1, 1, line);
  put_surrogate(&toy, name, "16 16", "30");
  toy_set(&toy, "surrogate", "start", start);
  tutti_surrogate *surrogate = make_surrogate(&toy);
  for (size_t count = from; count <= SEEN; count++) {
    struct tutti_points points = points_of(count, seen);
    TOY_OK(&toy, tutti_surrogate_fit(toy.context, surrogate, &points, values, NULL));
    predict(&toy, surrogate, GRID, grid, mean, deviation);
  }
  tutti_surrogate_destroy(surrogate);
  toy_destroy(&toy);
}

/* Fits that start from the last are a function of the observations alone: it changes nothing which of them were asked
   for. They are other fits than those from scratch, which are that function, too. */
static void test_starting_from_the_last_fit(void **state) {
  (void)state;
  for (int which = 0; which < NAMES - 1; which++) {
    double mean[4][GRID], deviation[4][GRID];
    for (size_t from = 3; from <= SEEN; from++)
      predict_after(names[which], "last", from, mean[from - 3], deviation[from - 3]);
    predict_after(names[which], "scratch", SEEN, mean[3], deviation[3]);
    for (int k = 1; k < 3; k++) {
      assert_memory_equal(mean[0], mean[k], sizeof mean[0]);
      assert_memory_equal(deviation[0], deviation[k], sizeof deviation[0]);
    }
    assert_memory_not_equal(mean[0], mean[3], sizeof mean[0]);
  }
}

/* All seeds diverge: the error gives the number of observations. */
static void test_divergence(void **state) {
  (void)state;
  struct toy toy;
  double mean, deviation;
  toy_create(&toy, 1, 1, 1, line);
  put_surrogate(&toy, "deep-ensemble", "16", "50");
  toy_set(&toy, "trainer", "optimiser", "sgd");
  toy_set(&toy, "trainer", "learning_rate", "1e30");
  tutti_surrogate *surrogate = make_surrogate(&toy);
  struct tutti_points points = points_of(SEEN, seen);
  fit_line(&toy, surrogate);
  assert_int_equal(tutti_surrogate_predict(toy.context, surrogate, &points, &mean, &deviation), TUTTI_ERROR_NUMERIC);
  assert_non_null(strstr(tutti_error_message(toy.context),
                         "5 of 5 networks could not be trained on 5 observations, from 4 seeds each"));
  assert_non_null(strstr(tutti_error_message(toy.context), "diverged"));
  tutti_surrogate_destroy(surrogate);
  toy_destroy(&toy);
}

/* --- mw-ucb ------------------------------------------------------------------------------------------------------- */

static void test_mean_width(void **state) {
  (void)state;
  struct toy toy;
  const struct mw_config config = {
      .mean_width = 0.5, .points = 2500, .doublings = 15, .delta_first = 0.0625, .delta_last = 0.01};
  double grid[2500], mean[2500], deviation[2500], sum = 0;
  void *instance;
  toy_create(&toy, 1, 1, 1, line);
  put_surrogate(&toy, "nomu", "16 16", "50");
  tutti_surrogate *surrogate = make_surrogate(&toy);
  tutti_scope *scope;
  TOY_OK(&toy, tutti_scope_create(toy.context, NULL, toy.hyperparameters, &scope));
  const struct tutti_acquisition_setup setup = {.size = sizeof setup, .seed = 9, .scope = scope};
  struct tutti_standing standing = {.size = sizeof standing, .step = SEEN, .steps = 20};
  fit_line(&toy, surrogate);
  TOY_OK(&toy, acquisition_create_mw_ucb(toy.context, &config, &setup, &instance));
  const struct mw_ucb *made = instance;
  TOY_OK(&toy, acquisition_calibrate_mw_ucb(instance, toy.context, &standing, surrogate));
  for (int i = 0; i < 2500; i++)
    grid[i] = (i + 0.5) / 2500;
  predict(&toy, surrogate, 2500, grid, mean, deviation);
  for (int i = 0; i < 2500; i++)
    sum += deviation[i] / 2500;
  assert_true(fabs(2 * made->base * sum - 0.5) < 0.02);
  double base = made->base;
  TOY_OK(&toy, acquisition_calibrate_mw_ucb(instance, toy.context, &standing, surrogate));
  assert_true(made->base == base);
  /* δ falls from here on, over the 15 steps that are left. */
  assert_true(fabs(delta_mw_ucb(made, &standing) - 0.0625 * pow(0.16, 1 / 15.0)) < 1e-15);
  standing.step = SEEN + 14;
  assert_true(fabs(delta_mw_ucb(made, &standing) - 0.01) < 1e-15);
  acquisition_destroy_mw_ucb(instance);
  tutti_scope_destroy(scope);
  tutti_surrogate_destroy(surrogate);
  toy_destroy(&toy);
}

/* δ falls from step to step; closer proposals are refused, c doubled, and back at the next step; in the end it gives
   in. */
static void test_dynamic_c(void **state) {
  (void)state;
  const struct mw_config config = {.doublings = 15, .delta_first = 1.0 / 16, .delta_last = 0.01};
  struct mw_ucb self = {.config = &config, .base = 3, .c = 3, .first = 8};
  const double known[] = {0.5, 0.5};
  double at[] = {0.5, 0.5};
  const struct tutti_points observed = {.size = sizeof observed, .count = 1, .dimension = 2, .vectors = known};
  const struct tutti_points proposal = {.size = sizeof proposal, .count = 1, .dimension = 2, .vectors = at};
  struct tutti_standing standing = {.size = sizeof standing, .step = 7, .steps = 72, .observed = &observed};
  bool accept;
  assert_true(fabs(delta_mw_ucb(&self, &standing) - 1.0 / 16) < 1e-15);
  standing.step = 71;
  assert_true(fabs(delta_mw_ucb(&self, &standing) - 0.01) < 1e-15);
  standing.step = 39;
  assert_true(fabs(delta_mw_ucb(&self, &standing) - 0.025) < 1e-15);
  at[0] = 0.5 + 0.0124; /* half of what it is in [-1, 1]^d */
  assert_int_equal(acquisition_judge_mw_ucb(&self, NULL, &standing, &proposal, 0, &accept), TUTTI_OK);
  assert_false(accept);
  assert_true(self.c == 6);
  assert_int_equal(acquisition_judge_mw_ucb(&self, NULL, &standing, &proposal, 14, &accept), TUTTI_OK);
  assert_false(accept);
  assert_int_equal(acquisition_judge_mw_ucb(&self, NULL, &standing, &proposal, 15, &accept), TUTTI_OK);
  assert_true(accept && self.c == 12);
  const double mean = 5, deviation = 0.5;
  double worth, by_mean, by_deviation;
  assert_int_equal(
      acquisition_moments_mw_ucb(&self, NULL, &standing, 1, &mean, &deviation, &worth, &by_mean, &by_deviation),
      TUTTI_OK);
  assert_true(worth == 1 && by_mean == -1 && by_deviation == 12); /* also for a search by gradients */
  at[0] = 0.5 + 0.0126;
  assert_int_equal(acquisition_judge_mw_ucb(&self, NULL, &standing, &proposal, 0, &accept), TUTTI_OK);
  assert_true(accept);
  assert_int_equal(acquisition_prepare_mw_ucb(&self, NULL, &standing, NULL), TUTTI_OK);
  assert_true(self.c == 3);
}

/* --- builders ----------------------------------------------------------------------------------------------------- */

static tutti_builder *make_builder(struct toy *toy) {
  struct tutti_builder_setup setup = {.size = sizeof setup, .host = toy->host};
  tutti_builder *builder;
  TOY_OK(toy, tutti_builder_create(toy->context, toy->host, "builder", &setup, &builder));
  return builder;
}

static double bowl(const tutti_candidate *candidate) {
  const double *x = tutti_candidate_hyperparameters(candidate);
  return (x[0] - 0.3) * (x[0] - 0.3) + (x[1] + 0.2) * (x[1] + 0.2);
}

static void tell(struct toy *toy, tutti_builder *builder, uint64_t trial, const tutti_candidate *candidate) {
  struct tutti_result result = {.size = sizeof result,
                                .trial = trial,
                                .candidate = candidate,
                                .state = TUTTI_STATE_FINISHED,
                                .loss = bowl(candidate),
                                .failure = ""};
  TOY_OK(toy, tutti_builder_tell(toy->context, builder, &result));
}

/* A second builder adopts the first trials, long after c was fixed, and from then on asks for the same candidates. */
static void resume(const char *surrogate, int window) {
  enum { TRIALS = 14, HALT = 10 };
  struct toy toy;
  tutti_candidate *candidates[TRIALS];
  toy_create(&toy, 5, (size_t)window, 1, plane);
  toy_put(&toy, "builder", TUTTI_KIND_BUILDER, "bo");
  toy_set(&toy, "builder", "initial", "4");
  toy_set(&toy, "builder", "acquisition", "mw-ucb");
  toy_set(&toy, "acquisition", "points", "500");
  toy_set(&toy, "builder", "maximiser", "direct");
  toy_set(&toy, "maximiser", "evaluations", "100");
  toy_set(&toy, "builder", "surrogate", surrogate);
  if (strcmp(surrogate, "gp") != 0) {
    toy_set(&toy, "surrogate", "units", "16 16");
    toy_set(&toy, "trainer", "epochs", "40");
    if (strcmp(surrogate, "nomu") == 0)
      toy_set(&toy, "surrogate", "uncertainty_units", "16 16");
    if (strcmp(surrogate, "hyper-deep-ensemble") == 0)
      toy_set(&toy, "surrogate", "draws", "4");
  }
  tutti_builder *builder = make_builder(&toy), *resumed = make_builder(&toy);
  for (int i = 0; i < TRIALS; i++) {
    int done = i - window;
    if (done >= 0) {
      tell(&toy, builder, (uint64_t)done, candidates[done]);
      tell(&toy, resumed, (uint64_t)done, candidates[done]);
    }
    struct tutti_proposal proposal = {.size = sizeof proposal}, again = {.size = sizeof again};
    TOY_OK(&toy, tutti_builder_ask(toy.context, builder, (uint64_t)i, &proposal));
    candidates[i] = proposal.candidate;
    if (i < HALT) {
      TOY_OK(&toy, tutti_builder_adopt(toy.context, resumed, (uint64_t)i, &proposal));
      continue;
    }
    TOY_OK(&toy, tutti_builder_ask(toy.context, resumed, (uint64_t)i, &again));
    assert_true(tutti_candidate_equal(again.candidate, candidates[i]));
    assert_string_equal(again.origin, proposal.origin);
    tutti_candidate_unref(again.candidate);
  }
  for (int i = 0; i < TRIALS; i++)
    tutti_candidate_unref(candidates[i]);
  tutti_builder_destroy(builder);
  tutti_builder_destroy(resumed);
  toy_destroy(&toy);
}

static void test_resumes_to_the_same_candidates(void **state) {
  (void)state;
  resume("gp", 1);
  resume("gp", 6); /* the first proposals come before the design is known */
  for (int i = 0; i < NAMES; i++)
    resume(names[i], 1);
  resume("nomu", 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_nomu_is_uncertain_in_gaps),
      cmocka_unit_test(test_nomu_stops_gradients),
      cmocka_unit_test(test_values_are_scaled),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_few_observations),
      cmocka_unit_test(test_starting_from_the_last_fit),
      cmocka_unit_test(test_divergence),
      cmocka_unit_test(test_mean_width),
      cmocka_unit_test(test_dynamic_c),
      cmocka_unit_test(test_resumes_to_the_same_candidates),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
