/* The best of many points by bounds: the same points with the same bits as if every point had been predicted, on random
   data and in awkward cases. Without bounds, every point is predicted. */
#include "toy.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <tutti/propose.h>
#include <tutti/registry.h>

#include "plugins/surrogate/gp.c"

#undef TUTTI_PLUGIN
#define TUTTI_PLUGIN(descriptor)
#include "plugins/acquisition/ei.c"
#include "plugins/acquisition/lcb.c"
#include "plugins/acquisition/pi.c"
#include "tests/watched.h"

enum { DIMENSION = 3, SEEN_MOST = 1000, POINTS = 1500 };

struct fixture {
  struct toy toy;
  tutti_surrogate *surrogate;
  tutti_acquisition *acquisition;
  struct tutti_standing standing;
  bool without_logs; /* of ei */
  struct tutti_points seen, points;
  double x[SEEN_MOST * DIMENSION], y[SEEN_MOST], z[POINTS * DIMENSION];
  double all[POINTS], some[POINTS];
};

static int setup(void **state) {
  struct fixture *fixture = calloc(1, sizeof(*fixture));
  toy_create(&fixture->toy, 1, 1, 1, NULL);
  tutti_context *context = fixture->toy.context;
  if (tutti_plugin_register(context, &gp_descriptor) != TUTTI_OK ||
      tutti_plugin_register(context, &ei_descriptor) != TUTTI_OK ||
      tutti_plugin_register(context, &lcb_descriptor) != TUTTI_OK ||
      tutti_plugin_register(context, &pi_descriptor) != TUTTI_OK)
    return -1;
  *state = fixture;
  return 0;
}

static void close_model(struct fixture *fixture) {
  tutti_acquisition_destroy(fixture->acquisition);
  tutti_surrogate_destroy(fixture->surrogate);
  fixture->acquisition = NULL;
  fixture->surrogate = NULL;
}

static int teardown(void **state) {
  struct fixture *fixture = *state;
  close_model(fixture);
  toy_destroy(&fixture->toy);
  free(fixture);
  return 0;
}

/* Observations of a function with two valleys, and points. */
static void make_data(struct fixture *fixture, uint64_t seed, size_t count) {
  struct tutti_random random;
  tutti_random_init(&random, seed, "test bounds", 0);
  fixture->standing = (struct tutti_standing){.size = sizeof(fixture->standing), .best = INFINITY};
  for (size_t i = 0; i < count; i++) {
    double *x = fixture->x + i * DIMENSION;
    for (size_t k = 0; k < DIMENSION; k++)
      x[k] = tutti_random_uniform(&random);
    fixture->y[i] = sin(6 * x[0]) + x[1] * x[1] - cos(9 * x[2]) + 0.01 * tutti_random_normal(&random);
    fixture->standing.best = fmin(fixture->standing.best, fixture->y[i]);
  }
  for (size_t i = 0; i < POINTS * DIMENSION; i++)
    fixture->z[i] = tutti_random_uniform(&random);
  fixture->seen = (struct tutti_points){sizeof(fixture->seen), count, DIMENSION, fixture->x, NULL};
  fixture->points = (struct tutti_points){sizeof(fixture->points), POINTS, DIMENSION, fixture->z, NULL};
}

/* Hyperparameters are given, so that fits cost nothing. */
static void open_model(struct fixture *fixture, const char *length, const char *noise, const char *acquisition) {
  struct toy *toy = &fixture->toy;
  struct tutti_surrogate_setup surrogate = {.size = sizeof(surrogate), .host = toy->host, .dimension = DIMENSION};
  struct tutti_acquisition_setup of_acquisition = {.size = sizeof(of_acquisition), .host = toy->host};
  close_model(fixture);
  toy_put(toy, "surrogate", TUTTI_KIND_SURROGATE, "gp");
  toy_set(toy, "surrogate", "amplitude", "2");
  toy_set(toy, "surrogate", "length_scale", length);
  toy_set(toy, "surrogate", "noise", noise);
  toy_put(toy, "acquisition", TUTTI_KIND_ACQUISITION, acquisition);
  if (fixture->without_logs && strcmp(acquisition, "ei") == 0)
    toy_set(toy, "acquisition", "log", "no");
  TOY_OK(toy, tutti_surrogate_create(toy->context, toy->host, "surrogate", &surrogate, &fixture->surrogate));
  TOY_OK(toy, tutti_acquisition_create(toy->context, toy->host, "acquisition", &of_acquisition, &fixture->acquisition));
}

static void fit_model(struct fixture *fixture) {
  TOY_OK(&fixture->toy,
         tutti_surrogate_fit(fixture->toy.context, fixture->surrogate, &fixture->seen, fixture->y, NULL));
}

/* Number of the `wanted` best, best first, earlier ones first among equals; NaNs are none. */
static void order(const double *worth, size_t wanted, size_t *best) {
  size_t found = 0;
  for (size_t i = 0; i < POINTS; i++) {
    size_t place = found;
    while (place > 0 && worth[i] > worth[best[place - 1]])
      place--;
    if (isnan(worth[i]) || place >= wanted)
      continue;
    found += found < wanted;
    memmove(best + place + 1, best + place, (found - 1 - place) * sizeof(*best));
    best[place] = i;
  }
  assert_int_equal(found, wanted);
}

/* Compares with the plain way; returns how many points were left out. */
static size_t check_best(struct fixture *fixture, size_t wanted) {
  size_t plain[POINTS], by_bounds[POINTS], left_out = 0;
  tutti_context *context = fixture->toy.context;
  TOY_OK(&fixture->toy, tutti_acquisition_evaluate(context, fixture->acquisition, &fixture->standing,
                                                   fixture->surrogate, &fixture->points, fixture->all));
  TOY_OK(&fixture->toy, tutti_acquisition_evaluate_best(context, fixture->acquisition, &fixture->standing,
                                                        fixture->surrogate, &fixture->points, wanted, fixture->some));
  for (size_t i = 0; i < POINTS; i++) {
    left_out += isnan(fixture->some[i]);
    assert_true(isnan(fixture->some[i]) || memcmp(&fixture->some[i], &fixture->all[i], sizeof(double)) == 0);
  }
  order(fixture->all, wanted, plain);
  order(fixture->some, wanted, by_bounds);
  assert_memory_equal(plain, by_bounds, wanted * sizeof(*plain));
  return left_out;
}

static void test_best_of_random_data(void **state) {
  struct fixture *fixture = *state;
  static const char *const lengths[] = {"0.05", "0.3", "2"}, *const noises[] = {"1e-8", "1e-2"};
  static const char *const acquisitions[] = {"ei", "lcb"};
  static const size_t counts[] = {150, 400, 1000}, wanted[] = {1, 20, 200};
  for (size_t c = 0; c < watched_rounds(3, 1); c++) {
    make_data(fixture, c, counts[c]);
    for (size_t m = 0; m < 12; m++) {
      fixture->without_logs = c == 1;
      open_model(fixture, lengths[m % 3], noises[m / 3 % 2], acquisitions[m / 6]);
      fit_model(fixture);
      assert_true(tutti_acquisition_has_bounds(fixture->acquisition, fixture->surrogate));
      for (size_t w = 0; w < 3; w++) {
        size_t left_out = check_best(fixture, wanted[w]);
        /* Most are never predicted; but expected improvements that underflow to 0 are equals. */
        if (wanted[w] == 1 || (wanted[w] == 20 && !fixture->without_logs))
          assert_true(left_out > POINTS / 2);
      }
    }
  }
}

static void test_ties(void **state) {
  struct fixture *fixture = *state;
  make_data(fixture, 7, 200);
  for (size_t i = POINTS / 3; i < POINTS; i++) /* each point three times */
    memcpy(fixture->z + i * DIMENSION, fixture->z + i % (POINTS / 3) * DIMENSION, DIMENSION * sizeof(double));
  open_model(fixture, "0.5", "1e-4", "ei");
  fit_model(fixture);
  for (size_t wanted = 1; wanted < 50; wanted += 6)
    assert_true(check_best(fixture, wanted) > 0);
  for (size_t i = 0; i < POINTS * DIMENSION; i++) /* all the same */
    fixture->z[i] = 0.5;
  assert_int_equal(check_best(fixture, 5), 0);
}

/* No noise, and the points are those observed: deviations are 0 or rounding errors, and logarithms of no improvement
   are as low as can be. Constant values; before there is a best one; as many points wanted as there are. */
static void test_awkward(void **state) {
  struct fixture *fixture = *state;
  make_data(fixture, 8, 300);
  memcpy(fixture->z, fixture->x, 300 * DIMENSION * sizeof(double));
  for (int acquisition = 0; acquisition < 2; acquisition++) {
    open_model(fixture, "0.2", "0", acquisition ? "lcb" : "ei");
    fit_model(fixture);
    (void)check_best(fixture, 20);
    fixture->points.count = 300;
    TOY_OK(&fixture->toy,
           tutti_acquisition_evaluate_best(fixture->toy.context, fixture->acquisition, &fixture->standing,
                                           fixture->surrogate, &fixture->points, 300, fixture->some));
    for (size_t i = 0; i < 300; i++)
      assert_false(isnan(fixture->some[i]));
    fixture->points.count = POINTS;
  }
  for (size_t i = 0; i < 300; i++)
    fixture->y[i] = 5;
  open_model(fixture, "0.2", "1e-6", "ei");
  fit_model(fixture);
  fixture->standing.best = 5;
  (void)check_best(fixture, 20);
  fixture->standing.best = INFINITY;
  (void)check_best(fixture, 20);
}

/* Bounds lie above the deviation and tighten from stage to stage, with the means as predicted, bit for bit; the same
   with pending points. */
static void test_stages(void **state) {
  struct fixture *fixture = *state;
  static double means[POINTS], deviations[POINTS], mean[POINTS], bound[POINTS], before[POINTS];
  tutti_context *context = fixture->toy.context;
  make_data(fixture, 9, 500);
  for (int pending = 0; pending < 2; pending++) {
    open_model(fixture, "0.3", "1e-8", "ei");
    fit_model(fixture);
    struct tutti_points some = fixture->points;
    some.count = 13;
    if (pending)
      TOY_OK(&fixture->toy, tutti_surrogate_hallucinate(context, fixture->surrogate, &some));
    size_t stages = tutti_surrogate_stages(fixture->surrogate);
    assert_int_equal(stages, pending ? 3 : 2); /* 64, 128 and, of 513 rows, 256 */
    TOY_OK(&fixture->toy, tutti_surrogate_predict(context, fixture->surrogate, &fixture->points, means, deviations));
    for (size_t stage = 0; stage < stages; stage++) {
      TOY_OK(&fixture->toy, tutti_surrogate_bound(context, fixture->surrogate, &fixture->points, stage, mean, bound));
      assert_memory_equal(mean, means, sizeof(means));
      for (size_t i = 0; i < POINTS; i++)
        assert_true(bound[i] >= deviations[i] && (stage == 0 || bound[i] <= before[i]));
      memcpy(before, bound, sizeof(before));
      TOY_OK(&fixture->toy, tutti_surrogate_bound(context, fixture->surrogate, &fixture->points, stage, NULL, bound));
      assert_memory_equal(bound, before, sizeof(before));
    }
    assert_true(check_best(fixture, 20) > 0);
    assert_int_equal(tutti_surrogate_bound(context, fixture->surrogate, &fixture->points, stages, mean, bound),
                     TUTTI_ERROR_UNSUPPORTED);
    assert_non_null(strstr(tutti_error_message(context), "no bounds at stage"));
    tutti_error_clear(context);
  }
}

/* Few observations, an acquisition that may fall, several models, fantasies, a drawn function: every point is
   predicted. */
static void test_without_bounds(void **state) {
  struct fixture *fixture = *state;
  struct toy *toy = &fixture->toy;
  struct tutti_random random;
  tutti_random_init(&random, 1, "test", 0);
  make_data(fixture, 10, 127);
  open_model(fixture, "0.3", "1e-4", "ei");
  fit_model(fixture);
  assert_int_equal(check_best(fixture, 3), 0);
  make_data(fixture, 10, 200);
  fit_model(fixture);
  assert_true(check_best(fixture, 3) > 0);
  TOY_OK(toy, tutti_surrogate_realise(toy->context, fixture->surrogate, &random));
  assert_int_equal(check_best(fixture, 3), 0);
  tutti_surrogate_release(fixture->surrogate);
  struct tutti_points pending = fixture->points;
  pending.count = 2;
  TOY_OK(toy, tutti_surrogate_fantasise(toy->context, fixture->surrogate, &pending, &random, 1));
  assert_int_equal(check_best(fixture, 3), 0);
  open_model(fixture, "0.3", "1e-4", "pi");
  fit_model(fixture);
  assert_int_equal(check_best(fixture, 3), 0);
  open_model(fixture, "0.3", "1e-4", "ei");
  toy_set(toy, "surrogate", "inference", "sampling");
  toy_set(toy, "surrogate", "samples", "2");
  toy_set(toy, "surrogate", "burn_in", "0");
  tutti_surrogate_destroy(fixture->surrogate);
  struct tutti_surrogate_setup again = {.size = sizeof(again), .host = toy->host, .dimension = DIMENSION};
  TOY_OK(toy, tutti_surrogate_create(toy->context, toy->host, "surrogate", &again, &fixture->surrogate));
  fit_model(fixture);
  assert_int_equal(check_best(fixture, 3), 0);
}

/* A maximiser that wants the best of its points from the objective, and then all of them. */
static enum tutti_status maximiser_create_double(tutti_context *context, const void *config, const void *setup_,
                                                 void **instance) {
  (void)context, (void)config;
  *instance = (void *)((const struct tutti_maximiser_setup *)setup_)->scope;
  return TUTTI_OK;
}

static void maximiser_destroy_double(void *instance) { (void)instance; }

static enum tutti_status maximiser_maximise_double(void *instance, tutti_context *context,
                                                   const struct tutti_objective *objective, tutti_candidate **candidate,
                                                   double *worth) {
  enum { MANY = 300, WANTED = 5 };
  static double vectors[MANY * DIMENSION], some[MANY], all[MANY];
  const tutti_scope *scope = instance;
  tutti_candidate *candidates[MANY];
  struct tutti_random random;
  size_t best = 0, left_out = 0;
  tutti_random_init(&random, 1, "test", objective->step);
  for (size_t i = 0; i < MANY; i++) {
    double point[DIMENSION];
    TUTTI_TRY(context, tutti_scope_sample(context, scope, &random, objective->trial_seed, &candidates[i]));
    tutti_scope_to_point(scope, candidates[i], point);
    tutti_domain_encode(tutti_scope_joint(scope), point, vectors + i * DIMENSION);
  }
  struct tutti_points points = {sizeof(points), MANY, DIMENSION, vectors, (const tutti_candidate *const *)candidates};
  assert_non_null(objective->evaluate_best);
  TUTTI_TRY(context, objective->evaluate_best(objective->argument, context, &points, WANTED, some));
  TUTTI_TRY(context, objective->evaluate(objective->argument, context, &points, all));
  for (size_t i = 0; i < MANY; i++) {
    left_out += isnan(some[i]);
    assert_true(isnan(some[i]) || some[i] == all[i]);
    best = all[i] > all[best] ? i : best;
  }
  assert_true(left_out > 0 && !isnan(some[best]));
  *candidate = tutti_candidate_ref(candidates[best]);
  *worth = all[best];
  for (size_t i = 0; i < MANY; i++)
    tutti_candidate_unref(candidates[i]);
  return TUTTI_OK;
}

static const struct tutti_maximiser_ops double_ops = {.size = sizeof(double_ops),
                                                      .maximise = maximiser_maximise_double};
static const struct tutti_descriptor double_descriptor = {TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_MAXIMISER, "double"),
                                                          .version = "1.0",
                                                          .summary = "for this test",
                                                          .source = "",
                                                          .licence = "Apache-2.0",
                                                          .params = TUTTI_NO_PARAMS,
                                                          .create = maximiser_create_double,
                                                          .destroy = maximiser_destroy_double,
                                                          .ops = &double_ops};

static void test_proposer(void **state) {
  struct toy toy;
  struct tutti_proposer_setup setup_of = {.size = sizeof(setup_of), .begin = 1};
  struct tutti_random random;
  tutti_proposer *proposer;
  tutti_candidate *candidate;
  double worth;
  (void)state;
  toy_create(&toy, 1, 1, 4, "a = uniform 0 1\nb = uniform 0 1");
  TOY_OK(&toy, tutti_plugin_register(toy.context, &gp_descriptor));
  TOY_OK(&toy, tutti_plugin_register(toy.context, &ei_descriptor));
  TOY_OK(&toy, tutti_plugin_register(toy.context, &double_descriptor));
  toy_put(&toy, "surrogate", TUTTI_KIND_SURROGATE, "gp");
  toy_set(&toy, "surrogate", "amplitude", "1");
  toy_set(&toy, "surrogate", "length_scale", "0.3");
  toy_set(&toy, "surrogate", "noise", "1e-4");
  toy_put(&toy, "acquisition", TUTTI_KIND_ACQUISITION, "ei");
  toy_put(&toy, "maximiser", TUTTI_KIND_MAXIMISER, "double");
  setup_of.host = toy.host;
  tutti_random_init(&random, 1, "test trials", 0);
  TOY_OK(&toy, tutti_proposer_create(toy.context, &setup_of, &proposer));
  for (uint64_t trial = 0; trial < 150; trial++) {
    TOY_OK(&toy, tutti_scope_sample(toy.context, toy.scope, &random, trial, &candidate));
    const double *x = tutti_candidate_hyperparameters(candidate);
    TOY_OK(&toy, tutti_proposer_asked(toy.context, proposer, trial, candidate));
    if (trial < 147) /* the last ones are pending */
      TOY_OK(&toy, tutti_proposer_told(toy.context, proposer, trial, candidate, sin(6 * x[0]) + x[1]));
    tutti_candidate_unref(candidate);
  }
  TOY_OK(&toy, tutti_proposer_propose(toy.context, proposer, 150, &candidate, &worth));
  assert_non_null(candidate);
  tutti_candidate_unref(candidate);
  tutti_proposer_destroy(proposer);
  toy_destroy(&toy);
}

static void test_cancelled(void **state) {
  struct fixture *fixture = *state;
  make_data(fixture, 11, 200);
  open_model(fixture, "0.3", "1e-4", "ei");
  fit_model(fixture);
  tutti_cancel(fixture->toy.context);
  assert_int_equal(tutti_acquisition_evaluate_best(fixture->toy.context, fixture->acquisition, &fixture->standing,
                                                   fixture->surrogate, &fixture->points, 3, fixture->some),
                   TUTTI_ERROR_CANCELLED);
  assert_non_null(strstr(tutti_error_message(fixture->toy.context), "1500 of 1500 candidates left"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_best_of_random_data, setup, teardown),
      cmocka_unit_test_setup_teardown(test_ties, setup, teardown),
      cmocka_unit_test_setup_teardown(test_awkward, setup, teardown),
      cmocka_unit_test_setup_teardown(test_stages, setup, teardown),
      cmocka_unit_test_setup_teardown(test_without_bounds, setup, teardown),
      cmocka_unit_test(test_proposer),
      cmocka_unit_test_setup_teardown(test_cancelled, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
