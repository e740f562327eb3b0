/* Builder agebo: who is a parent, what a mutation changes, what the model learns, and the paper's ablations. */
#include "toy.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { MOST = 400 };

/* A search with everything that happened in it. */
struct search {
  struct toy toy;
  tutti_builder *builder;
  uint64_t asked;
  struct tutti_proposal proposals[MOST];
  double losses[MOST];
};

static tutti_builder *make(struct toy *toy) {
  struct tutti_builder_setup setup = {.size = sizeof(setup), .host = toy->host};
  tutti_builder *builder;
  TOY_OK(toy, tutti_builder_create(toy->context, toy->host, "builder", &setup, &builder));
  return builder;
}

static void begin(struct search *search, uint64_t seed, const char *hyperparameters, const char *const settings[][3]) {
  memset(search, 0, sizeof(*search));
  toy_create(&search->toy, seed, 1, 9, hyperparameters);
  toy_put(&search->toy, "builder", TUTTI_KIND_BUILDER, "agebo");
  toy_set(&search->toy, "acquisition", "kappa", "0.001");
  for (; (*settings)[0]; settings++)
    toy_set(&search->toy, (*settings)[0], (*settings)[1], (*settings)[2]);
  search->builder = make(&search->toy);
}

static void end(struct search *search) {
  for (uint64_t i = 0; i < search->asked; i++)
    tutti_candidate_unref(search->proposals[i].candidate);
  tutti_builder_destroy(search->builder);
  toy_destroy(&search->toy);
}

static void tell(struct search *search, tutti_builder *builder, uint64_t trial, double loss) {
  struct tutti_result result = {.size = sizeof(result),
                                .trial = trial,
                                .candidate = search->proposals[trial].candidate,
                                .state = isnan(loss) ? TUTTI_STATE_FAILED : TUTTI_STATE_FINISHED,
                                .loss = loss,
                                .failure = isnan(loss) ? "it diverged" : ""};
  TOY_OK(&search->toy, tutti_builder_tell(search->toy.context, builder, &result));
}

static const struct tutti_proposal *ask(struct search *search) {
  struct tutti_proposal *proposal = &search->proposals[search->asked];
  *proposal = (struct tutti_proposal){.size = sizeof(*proposal)};
  TOY_OK(&search->toy, tutti_builder_ask(search->toy.context, search->builder, search->asked, proposal));
  assert_non_null(proposal->candidate);
  search->asked++;
  return proposal;
}

static double depth_of(const struct tutti_proposal *proposal) {
  return tutti_genotype_point(tutti_candidate_genotype(proposal->candidate))[0];
}

static const double *values_of(const struct tutti_proposal *proposal) {
  return tutti_candidate_hyperparameters(proposal->candidate);
}

/* A loss that depends on nothing but the trial's number, every seventh a failure. */
static double scattered(uint64_t trial) {
  struct tutti_random random;
  tutti_random_init(&random, 99, "loss", trial);
  return trial % 7 == 4 ? NAN : tutti_random_uniform(&random);
}

/* With sample = population, the parent is the best of the last P that finished; failures are no members, and the first
   P have no parent. */
static void test_parents_are_the_best_of_the_latest(void **state) {
  enum { P = 5, TRIALS = 60 };
  static const char *const settings[][3] = {{"builder", "population", "5"}, {"builder", "sample", "5"}, {NULL}};
  struct search search;
  (void)state;
  begin(&search, 4, "x = uniform 0 1", settings);
  for (uint64_t i = 0; i < TRIALS; i++) {
    uint64_t best = TUTTI_NO_TRIAL;
    int members = 0;
    for (uint64_t t = i; t-- > 0 && members < P;) {
      if (isnan(search.losses[t]))
        continue;
      members++;
      if (best == TUTTI_NO_TRIAL || search.losses[t] < search.losses[best])
        best = t;
    }
    const struct tutti_proposal *proposal = ask(&search);
    if (members < P) {
      assert_true(proposal->parent == TUTTI_NO_TRIAL);
      assert_true(strncmp(proposal->origin, "random", 6) == 0);
    } else {
      assert_int_equal(proposal->parent, best);
      assert_true(strncmp(proposal->origin, "mutation", 8) == 0);
      assert_true(depth_of(proposal) != depth_of(&search.proposals[best])); /* its one variable has another value */
    }
    search.losses[i] = scattered(i);
    tell(&search, search.builder, i, search.losses[i]);
  }
  end(&search);
}

/* Where the recipe does not say, the root of the population is drawn: of 25 members 5, whose best has rank 26/6 on
   average. */
static void test_default_sample(void **state) {
  enum { P = 25, TRIALS = 225 };
  static const char *const settings[][3] = {{"builder", "population", "25"}, {NULL}};
  struct search search;
  double ranks = 0;
  (void)state;
  begin(&search, 4, "x = uniform 0 1", settings);
  for (uint64_t i = 0; i < TRIALS; i++) {
    const struct tutti_proposal *proposal = ask(&search);
    if (i >= P) {
      ranks += 1;
      for (uint64_t t = i - P; t < i; t++)
        ranks += search.losses[t] < search.losses[proposal->parent];
    }
    search.losses[i] = scattered(7 * i);
    tell(&search, search.builder, i, search.losses[i]);
  }
  assert_true(fabs(ranks / (TRIALS - P) - 26. / 6) < 1);
  end(&search);
}

/* The model marginalises the architecture, and evolution learns it: both halves come to their optimum. */
static void test_both_halves_learn(void **state) {
  enum { TRIALS = 120, LAST = 40 };
  static const char *const settings[][3] = {{"builder", "population", "20"}, {"builder", "sample", "10"}, {NULL}};
  struct search search;
  double distance = 0;
  int good_parents = 0;
  (void)state;
  begin(&search, 7, "x = uniform 0 1\nrate = log-uniform 1e-4 1", settings);
  for (uint64_t i = 0; i < TRIALS; i++) {
    const struct tutti_proposal *proposal = ask(&search);
    double x = values_of(proposal)[0], rate = log10(values_of(proposal)[1]);
    double loss = (x - 0.3) * (x - 0.3) + 0.1 * (rate + 2) * (rate + 2) + 0.02 * fabs(depth_of(proposal) - 6);
    tell(&search, search.builder, i, loss);
    if (i >= TRIALS - LAST) {
      distance += fabs(x - 0.3) / LAST;
      good_parents += fabs(depth_of(&search.proposals[proposal->parent]) - 6) <= 1;
    }
  }
  /* At random: a mean distance of .29, and 3 of 9 depths are so near. (A child never has its parent's depth here.) */
  assert_true(distance < 0.1);
  assert_true(good_parents > LAST * 6 / 10);
  end(&search);
}

/* AgE-Mixed: one variable of architecture and hyperparameters together, each as often. */
static void test_evolution_of_both(void **state) {
  enum { TRIALS = 300, FIRST = 4 };
  static const char *const settings[][3] = {
      {"builder", "hyperparameters", "evolution"}, {"builder", "population", "4"}, {"builder", "sample", "2"}, {NULL}};
  struct search search;
  int changed[3] = {0};
  (void)state;
  begin(&search, 2, "x = uniform 0 1\nrate = log-uniform 1e-4 1", settings);
  for (uint64_t i = 0; i < TRIALS; i++) {
    const struct tutti_proposal *proposal = ask(&search);
    if (i >= FIRST) {
      const struct tutti_proposal *parent = &search.proposals[proposal->parent];
      bool moved[3] = {depth_of(proposal) != depth_of(parent), values_of(proposal)[0] != values_of(parent)[0],
                       values_of(proposal)[1] != values_of(parent)[1]};
      assert_int_equal(moved[0] + moved[1] + moved[2], 1);
      for (int v = 0; v < 3; v++)
        changed[v] += moved[v];
    }
    tell(&search, search.builder, i, scattered(7 * i));
  }
  for (int v = 0; v < 3; v++) /* a third each, within four standard deviations */
    assert_true(fabs(changed[v] - (TRIALS - FIRST) / 3.) < 4 * sqrt((TRIALS - FIRST) * 2. / 9));
  end(&search);
}

/* AgE: hyperparameters that are all fixed need no model. RS-Mixed: what is told changes nothing. */
static void test_other_ablations(void **state) {
  static const char *const age[][3] = {{"builder", "population", "2"}, {"builder", "sample", "1"}, {NULL}};
  static const char *const random[][3] = {{"builder", "architecture", "random"},
                                          {"builder", "hyperparameters", "random"},
                                          {"builder", "population", "2"},
                                          {"builder", "sample", "1"},
                                          {NULL}};
  struct search search, other;
  (void)state;
  begin(&search, 1, NULL, age);
  for (uint64_t i = 0; i < 10; i++) {
    assert_int_equal(ask(&search)->parent == TUTTI_NO_TRIAL, i < 2);
    tell(&search, search.builder, i, 1);
  }
  end(&search);
  begin(&search, 1, "x = uniform 0 1", random);
  begin(&other, 1, "x = uniform 0 1", random);
  for (uint64_t i = 0; i < 20; i++) {
    const struct tutti_proposal *a = ask(&search), *b = ask(&other);
    assert_true(a->parent == TUTTI_NO_TRIAL && depth_of(a) == depth_of(b) && values_of(a)[0] == values_of(b)[0]);
    tell(&search, search.builder, i, scattered(i));
    tell(&other, other.builder, i, 1);
  }
  end(&search);
  end(&other);
}

/* A finite domain that has been tried wholly is drawn from: the search does not end, nor does it stand still. */
static void test_finite_hyperparameters(void **state) {
  static const char *const settings[][3] = {{"builder", "population", "5"}, {"builder", "sample", "2"}, {NULL}};
  struct search search;
  int seen[3] = {0};
  (void)state;
  begin(&search, 3, "optimiser = choice sgd adam nadam", settings);
  for (uint64_t i = 0; i < 60; i++) {
    const struct tutti_proposal *proposal = ask(&search);
    seen[(int)values_of(proposal)[0]]++;
    tell(&search, search.builder, i, scattered(i));
  }
  for (int i = 0; i < 3; i++)
    assert_true(seen[i] > 5);
  end(&search);
}

/* Trials that are adopted and told leave the state that asking for them left; with four outstanding, and failures. */
static void test_resumes_to_the_same_candidates(void **state) {
  enum { TRIALS = 40, WINDOW = 4, HALT = 25 };
  static const char *const pendings[] = {"liar", "liar-batch", "none"};
  (void)state;
  for (int which = 0; which < 3; which++) {
    const char *const settings[][3] = {
        {"builder", "population", "6"}, {"builder", "sample", "3"}, {"builder", "pending", pendings[which]}, {NULL}};
    struct search search;
    begin(&search, 11, "x = uniform 0 1\nkind = choice a b c", settings);
    tutti_builder *resumed = make(&search.toy);
    for (uint64_t i = 0; i < TRIALS; i++) {
      if (i >= WINDOW) {
        tell(&search, search.builder, i - WINDOW, scattered(i - WINDOW));
        tell(&search, resumed, i - WINDOW, scattered(i - WINDOW));
      }
      const struct tutti_proposal *proposal = ask(&search);
      if (i < HALT) {
        TOY_OK(&search.toy, tutti_builder_adopt(search.toy.context, resumed, i, proposal));
        continue;
      }
      struct tutti_proposal again = {.size = sizeof(again)};
      TOY_OK(&search.toy, tutti_builder_ask(search.toy.context, resumed, i, &again));
      assert_true(tutti_candidate_equal(again.candidate, proposal->candidate));
      assert_true(tutti_candidate_seed(again.candidate) == tutti_candidate_seed(proposal->candidate));
      assert_int_equal(again.parent, proposal->parent);
      assert_string_equal(again.origin, proposal->origin);
      tutti_candidate_unref(again.candidate);
    }
    tutti_builder_destroy(resumed);
    end(&search);
  }
}

/* Without numbers the population is a fifth of the budget, and a sample its root: 100 and 10 for 500, as in the
   paper. */
static void test_sizes_follow_the_budget(void **state) {
  static const struct { uint64_t budget, population; } cases[] = {{500, 100}, {50, 10}, {4, 2}};
  (void)state;
  for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
    static const char *const settings[][3] = {{"builder", "hyperparameters", "random"}, {NULL}};
    struct search search;
    begin(&search, 1, NULL, settings);
    tutti_builder_destroy(search.builder);
    search.toy.facts.budget = cases[c].budget;
    tutti_host_set_facts(search.toy.host, &search.toy.facts);
    search.builder = make(&search.toy);
    for (uint64_t i = 0; i < cases[c].population + 1; i++) {
      const struct tutti_proposal *proposal = ask(&search);
      assert_int_equal(proposal->parent == TUTTI_NO_TRIAL, i < cases[c].population);
      tell(&search, search.builder, i, (double)i);
    }
    end(&search);
  }
}

static void refused(int depths, const char *const settings[][3], const char *message) {
  struct toy toy;
  tutti_builder *builder = NULL;
  toy_create(&toy, 1, 1, depths, "x = uniform 0 1");
  toy_put(&toy, "builder", TUTTI_KIND_BUILDER, "agebo");
  for (; (*settings)[0]; settings++)
    toy_set(&toy, (*settings)[0], (*settings)[1], (*settings)[2]);
  struct tutti_builder_setup setup = {.size = sizeof(setup), .host = toy.host};
  assert_int_equal(tutti_builder_create(toy.context, toy.host, "builder", &setup, &builder), TUTTI_ERROR_USAGE);
  if (!strstr(tutti_error_message(toy.context), message))
    fail_msg("\"%s\" lacks \"%s\"", tutti_error_message(toy.context), message);
  toy_destroy(&toy);
}

static void test_what_cannot_work_is_refused(void **state) {
  static const char *const few[][3] = {{"builder", "population", "5"}, {"builder", "sample", "6"}, {NULL}};
  static const char *const none[][3] = {{NULL}};
  (void)state;
  refused(9, few, "sample: 6 is more than population, 5");
  refused(1, none, "a single architecture");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_parents_are_the_best_of_the_latest),
      cmocka_unit_test(test_default_sample),
      cmocka_unit_test(test_default_sample),
      cmocka_unit_test(test_both_halves_learn),
      cmocka_unit_test(test_evolution_of_both),
      cmocka_unit_test(test_other_ablations),
      cmocka_unit_test(test_finite_hyperparameters),
      cmocka_unit_test(test_resumes_to_the_same_candidates),
      cmocka_unit_test(test_sizes_follow_the_budget),
      cmocka_unit_test(test_what_cannot_work_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
