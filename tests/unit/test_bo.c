/* Builder bo with gp, ei and the maximisers: it finds minima, resumes to the same candidates, and never repeats one. */
#include "toy.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static const char plane[] = "x = uniform -5 10\ny = uniform 0 15";

/* Branin; least value 0.397887. */
static double branin(const tutti_candidate *candidate) {
  const double *x = tutti_candidate_hyperparameters(candidate);
  double bend = x[1] - 5.1 / (4 * M_PI * M_PI) * x[0] * x[0] + 5 / M_PI * x[0] - 6;
  return bend * bend + 10 * (1 - 1 / (8 * M_PI)) * cos(x[0]) + 10;
}

static tutti_builder *make(struct toy *toy, const char *plugin) {
  struct tutti_builder_setup setup = {.size = sizeof(setup), .host = toy->host};
  tutti_builder *builder;
  if (!tutti_host_plugin(toy->host, "builder"))
    toy_put(toy, "builder", TUTTI_KIND_BUILDER, plugin);
  TOY_OK(toy, tutti_builder_create(toy->context, toy->host, "builder", &setup, &builder));
  return builder;
}

static tutti_candidate *ask(struct toy *toy, tutti_builder *builder, uint64_t trial) {
  struct tutti_proposal proposal = {.size = sizeof(proposal)};
  TOY_OK(toy, tutti_builder_ask(toy->context, builder, trial, &proposal));
  return proposal.candidate;
}

static void tell(struct toy *toy, tutti_builder *builder, uint64_t trial, const tutti_candidate *candidate,
                 double loss) {
  struct tutti_result result = {.size = sizeof(result),
                                .trial = trial,
                                .candidate = candidate,
                                .state = isnan(loss) ? TUTTI_STATE_FAILED : TUTTI_STATE_FINISHED,
                                .loss = loss,
                                .failure = isnan(loss) ? "it diverged" : ""};
  TOY_OK(toy, tutti_builder_tell(toy->context, builder, &result));
}

/* The least loss of `budget` trials, told in the order in which they were asked. */
static double minimise(const char *plugin, uint64_t seed, uint64_t budget, const char *const settings[][3]) {
  struct toy toy;
  double best = INFINITY;
  toy_create(&toy, seed, 1, 1, plane);
  toy_put(&toy, "builder", TUTTI_KIND_BUILDER, plugin);
  for (; settings && (*settings)[0]; settings++)
    toy_set(&toy, (*settings)[0], (*settings)[1], (*settings)[2]);
  tutti_builder *builder = make(&toy, plugin);
  for (uint64_t i = 0; i < budget; i++) {
    tutti_candidate *candidate = ask(&toy, builder, i);
    double loss = branin(candidate);
    best = fmin(best, loss);
    tell(&toy, builder, i, candidate, loss);
    tutti_candidate_unref(candidate);
  }
  tutti_builder_destroy(builder);
  toy_destroy(&toy);
  return best - 0.39788735772973816;
}

/* The best of 35 random points has a regret of about 0.6. A model of a smooth function in two dimensions comes to 1e-5
   with as many; the test asks for 0.05 and a twentieth of chance's, which no search that is blind to values reaches:
   the set of regret below 0.05 has a share of about 0.1 % of the square. */
static void test_beats_random_search(void **state) {
  enum { SEEDS = 3, BUDGET = 35 };
  static const char *const fast[][3] = {{"maximiser", "points", "1000"}, {"maximiser", "starts", "5"}, {NULL}};
  double model = 0, chance = 0;
  (void)state;
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    model += log(minimise("bo", seed, BUDGET, fast) + 1e-12) / SEEDS;
    chance += log(minimise("nes-rs", seed, BUDGET, NULL) + 1e-12) / SEEDS;
  }
  assert_true(model < log(0.05) && model < chance - log(20));
}

static void test_other_parts(void **state) {
  static const char *const parts[][3] = {{"builder", "maximiser", "sample"},
                                         {"builder", "acquisition", "lcb"},
                                         {"builder", "design", "random"},
                                         {"builder", "transform", "log"},
                                         {"maximiser", "incumbents", "3"},
                                         {"surrogate", "refit", "5"},
                                         {NULL}};
  static const char *const drawn[][3] = {
      {"builder", "acquisition", "thompson"}, {"maximiser", "points", "300"}, {"maximiser", "starts", "3"}, {NULL}};
  static const char *const averaged[][3] = {{"builder", "acquisition", "pi"},       {"acquisition", "xi", "0.5"},
                                            {"builder", "maximiser", "direct"},     {"maximiser", "evaluations", "300"},
                                            {"surrogate", "inference", "sampling"}, {"surrogate", "samples", "3"},
                                            {"surrogate", "burn_in", "20"},         {NULL}};
  (void)state;
  assert_true(minimise("bo", 1, 30, parts) < 0.3);
  assert_true(minimise("bo", 1, 30, drawn) < 0.3);
  assert_true(minimise("bo", 1, 30, averaged) < 0.8);
}

/* Twelve trials, four of them outstanding at once, one of them failed. A second builder adopts what the first was
   asked, is told its results, and from then on asks for the same candidates. */
static void test_resumes_to_the_same_candidates(void **state) {
  enum { TRIALS = 24, WINDOW = 4, HALT = 15 };
  static const char *const pendings[] = {"hallucinate", "liar", "liar-batch", "none", "fantasies"};
  (void)state;
  for (int which = 0; which < 5; which++) {
    struct toy toy;
    tutti_candidate *candidates[TRIALS];
    toy_create(&toy, 5, WINDOW, 3, "x = uniform -5 10\ny = uniform 0 15\nkind = choice a b c");
    toy_put(&toy, "builder", TUTTI_KIND_BUILDER, "bo");
    toy_set(&toy, "builder", "initial", "5");
    toy_set(&toy, "builder", "pending", pendings[which]);
    toy_set(&toy, "surrogate", "refit", "3");
    toy_set(&toy, "maximiser", "points", "200");
    toy_set(&toy, "maximiser", "starts", "3");
    tutti_builder *builder = make(&toy, "bo"), *resumed = make(&toy, "bo");
    for (uint64_t i = 0; i < TRIALS; i++) {
      if (i >= WINDOW) {
        uint64_t done = i - WINDOW;
        double loss = done == 3 ? NAN : branin(candidates[done]);
        tell(&toy, builder, done, candidates[done], loss);
        tell(&toy, resumed, done, candidates[done], loss);
      }
      candidates[i] = ask(&toy, builder, i);
      if (i < HALT) {
        struct tutti_proposal proposal = {
            .size = sizeof(proposal), .candidate = candidates[i], .parent = TUTTI_NO_TRIAL};
        TOY_OK(&toy, tutti_builder_adopt(toy.context, resumed, i, &proposal));
      } else {
        tutti_candidate *again = ask(&toy, resumed, i);
        assert_true(tutti_candidate_equal(again, candidates[i]));
        assert_true(tutti_candidate_seed(again) == tutti_candidate_seed(candidates[i]));
        tutti_candidate_unref(again);
      }
      for (uint64_t j = 0; j < i; j++)
        assert_false(tutti_candidate_equal(candidates[i], candidates[j]));
    }
    for (int i = 0; i < TRIALS; i++)
      tutti_candidate_unref(candidates[i]);
    tutti_builder_destroy(builder);
    tutti_builder_destroy(resumed);
    toy_destroy(&toy);
  }
}

/* initial = 0: as many as may be outstanding at once, here random ones; then the model proposes. */
static void test_begins_with_a_window(void **state) {
  enum { WINDOW = 6 };
  struct toy toy;
  struct tutti_proposal proposals[WINDOW + 1];
  (void)state;
  toy_create(&toy, 5, WINDOW, 3, plane);
  toy_put(&toy, "builder", TUTTI_KIND_BUILDER, "bo");
  toy_set(&toy, "builder", "design", "random");
  toy_set(&toy, "builder", "initial", "0");
  tutti_builder *builder = make(&toy, "bo");
  for (uint64_t i = 0; i <= WINDOW; i++) {
    if (i == WINDOW)
      tell(&toy, builder, 0, proposals[0].candidate, 1);
    proposals[i] = (struct tutti_proposal){.size = sizeof proposals[i]};
    TOY_OK(&toy, tutti_builder_ask(toy.context, builder, i, &proposals[i]));
    assert_true(strncmp(proposals[i].origin, i < WINDOW ? "random" : "ei ", 3) == 0);
  }
  for (int i = 0; i <= WINDOW; i++)
    tutti_candidate_unref(proposals[i].candidate);
  tutti_builder_destroy(builder);
  toy_destroy(&toy);
}

/* Eighteen candidates once each, whatever becomes of them, then no more; from every failure, too. */
static void test_finite_scopes(void **state) {
  (void)state;
  for (int failing = 0; failing < 2; failing++) {
    struct toy toy;
    toy_create(&toy, 2, 1, 3, "width = integer 1 3\nkind = choice a b");
    toy_put(&toy, "builder", TUTTI_KIND_BUILDER, "bo");
    toy_set(&toy, "builder", "initial", "6");
    tutti_builder *builder = make(&toy, "bo");
    for (uint64_t i = 0; i < 18; i++) {
      tutti_candidate *candidate = ask(&toy, builder, i);
      assert_non_null(candidate);
      assert_false(tutti_builder_exhausted(builder));
      tell(&toy, builder, i, candidate, failing ? NAN : (double)(i % 4));
      tutti_candidate_unref(candidate);
    }
    assert_null(ask(&toy, builder, 18));
    assert_true(tutti_builder_exhausted(builder));
    tutti_builder_destroy(builder);
    toy_destroy(&toy);
  }
}

/* A choice and an integer beside a real: the best of 6 x 4 x a line is found. */
static void test_mixed_dimensions(void **state) {
  struct toy toy;
  double best = INFINITY;
  (void)state;
  toy_create(&toy, 3, 1, 6, "kind = choice a b c d\nx = uniform 0 1");
  toy_put(&toy, "builder", TUTTI_KIND_BUILDER, "bo");
  toy_set(&toy, "maximiser", "points", "500");
  tutti_builder *builder = make(&toy, "bo");
  for (uint64_t i = 0; i < 40; i++) {
    tutti_candidate *candidate = ask(&toy, builder, i);
    double depth = tutti_genotype_point(tutti_candidate_genotype(candidate))[0];
    const double *x = tutti_candidate_hyperparameters(candidate);
    double loss = fabs(depth - 4) + (x[0] == 2 ? 0 : 1) + 10 * (x[1] - 0.3) * (x[1] - 0.3);
    best = fmin(best, loss);
    tell(&toy, builder, i, candidate, loss);
    tutti_candidate_unref(candidate);
  }
  assert_true(best < 0.01); /* a random candidate is below with probability 1/24 x .063 */
  tutti_builder_destroy(builder);
  toy_destroy(&toy);
}

static void test_describes_itself(void **state) {
  struct toy toy;
  char *json;
  (void)state;
  toy_create(&toy, 1, 4, 1, plane);
  tutti_builder *builder = make(&toy, "bo");
  tutti_candidate *first = ask(&toy, builder, 0), *second = ask(&toy, builder, 1);
  tell(&toy, builder, 0, first, 2.5);
  TOY_OK(&toy, tutti_builder_describe(toy.context, builder, &json));
  assert_non_null(strstr(json, "\"asked\": 2"));
  assert_non_null(strstr(json, "\"pending\": 1"));
  assert_non_null(strstr(json, "\"best\": 2.5"));
  assert_non_null(strstr(json, "\"surrogate\": {\"kernel\": \"matern52\""));
  assert_non_null(strstr(json, "\"length_scales\": ["));
  assert_non_null(strstr(json, "\"fitted_to\": 1"));
  tutti_free(json);
  tutti_candidate_unref(first);
  tutti_candidate_unref(second);
  tutti_builder_destroy(builder);
  toy_destroy(&toy);
}

/* More dimensions than Sobol points have: refused before anything is trained, and a random design does it. */
static void test_many_dimensions(void **state) {
  struct toy toy;
  struct tutti_builder_setup setup = {.size = sizeof(setup)};
  tutti_builder *builder = NULL;
  char many[129 * 24], *end = many;
  (void)state;
  for (int i = 0; i < 129; i++)
    end += sprintf(end, "x%d = uniform 0 1\n", i);
  toy_create(&toy, 1, 1, 1, many);
  toy_put(&toy, "builder", TUTTI_KIND_BUILDER, "bo");
  toy_set(&toy, "builder", "maximiser", "sample");
  setup.host = toy.host;
  assert_int_equal(tutti_builder_create(toy.context, toy.host, "builder", &setup, &builder), TUTTI_ERROR_USAGE);
  assert_non_null(strstr(tutti_error_message(toy.context), "130 dimensions, and Sobol points 128 at most"));
  assert_non_null(strstr(tutti_error_message(toy.context), "design = random"));
  toy_set(&toy, "builder", "design", "random");
  TOY_OK(&toy, tutti_builder_create(toy.context, toy.host, "builder", &setup, &builder));
  tutti_builder_destroy(builder);
  toy_destroy(&toy);
}

/* Losses that are infinite, equal, or of one point: none breaks the model. */
static void test_hard_losses(void **state) {
  static const double losses[][4] = {{1, 1, 1, 1}, {INFINITY, 2, -INFINITY, 1}, {1e300, -1e300, 0, 1e-300}};
  (void)state;
  for (int which = 0; which < 3; which++) {
    struct toy toy;
    toy_create(&toy, 1, 1, 1, plane);
    toy_put(&toy, "builder", TUTTI_KIND_BUILDER, "bo");
    toy_set(&toy, "builder", "initial", "2");
    toy_set(&toy, "surrogate", "noise", "0");
    toy_set(&toy, "maximiser", "points", "50");
    tutti_builder *builder = make(&toy, "bo");
    for (uint64_t i = 0; i < 12; i++) {
      tutti_candidate *candidate = ask(&toy, builder, i);
      assert_non_null(candidate);
      tell(&toy, builder, i, candidate, losses[which][i % 4]);
      tutti_candidate_unref(candidate);
    }
    tutti_builder_destroy(builder);
    toy_destroy(&toy);
  }
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_beats_random_search),
      cmocka_unit_test(test_other_parts),
      cmocka_unit_test(test_resumes_to_the_same_candidates),
      cmocka_unit_test(test_begins_with_a_window),
      cmocka_unit_test(test_finite_scopes),
      cmocka_unit_test(test_mixed_dimensions),
      cmocka_unit_test(test_describes_itself),
      cmocka_unit_test(test_many_dimensions),
      cmocka_unit_test(test_hard_losses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
