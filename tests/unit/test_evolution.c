/* Evolution: parents drawn by fitness, mutants of candidates, known candidates of a space, and draws of new
   candidates. */
#include "toy.h"
#include "words.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>
#include <float.h>
#include <tutti/candidate_set.h>
#include <tutti/evolution.h>

static void test_shares(void **state) {
  static const double fitness[] = {3, -1, 0.5, 7};
  double cumulative[4], mean = 9.5 / 4, squares = 0, weights[4], sum = 0, before = 0;
  (void)state;
  for (int i = 0; i < 4; i++)
    squares += (fitness[i] - mean) * (fitness[i] - mean) / 4;
  for (double spread = 0.5; spread < 5; spread *= 2) {
    sum = before = 0;
    for (int i = 0; i < 4; i++)
      sum += weights[i] = exp((fitness[i] - mean) / (spread * sqrt(squares)));
    tutti_evolution_shares(4, fitness, spread, cumulative);
    for (int i = 0; i < 4; i++) {
      assert_true(fabs(cumulative[i] - before - weights[i] / sum) < 1e-12);
      before = cumulative[i];
    }
    assert_true(cumulative[3] == 1);
  }
}

/* Equal ones, a single one, the largest and smallest numbers there are, and the array in its own place. */
static void test_awkward_fitness(void **state) {
  double equal[] = {2, 2, 2, 2}, one[] = {-5}, vast[] = {-DBL_MAX, DBL_MAX, 0}, tiny[] = {0, 5e-324};
  (void)state;
  tutti_evolution_shares(4, equal, 2, equal);
  for (int i = 0; i < 4; i++)
    assert_true(equal[i] == (i + 1) / 4.);
  tutti_evolution_shares(1, one, 2, one);
  assert_true(one[0] == 1);
  tutti_evolution_shares(3, vast, 2, vast);
  assert_true(vast[0] > 0 && vast[1] - vast[0] > vast[2] - vast[1] && vast[2] - vast[1] > vast[0] && vast[2] == 1);
  tutti_evolution_shares(2, tiny, 2, tiny);
  assert_true(tiny[0] > 0 && tiny[0] < 0.5 && tiny[1] == 1);
}

static void test_draws(void **state) {
  enum { DRAWS = 40000 };
  static const double cumulative[] = {0.1, 0.1, 0.7, 1};
  int counts[4] = {0};
  struct tutti_random random;
  (void)state;
  tutti_random_init(&random, 1, "test", 0);
  for (int i = 0; i < DRAWS; i++)
    counts[tutti_evolution_draw(&random, 4, cumulative)]++;
  assert_int_equal(counts[1], 0);
  for (int i = 0; i < 4; i++) { /* four standard deviations */
    double share = cumulative[i] - (i ? cumulative[i - 1] : 0);
    assert_true(fabs(counts[i] - DRAWS * share) <= 4 * sqrt(DRAWS * share * (1 - share)));
  }
}

static bool same_architecture(const tutti_candidate *a, const tutti_candidate *b) {
  return tutti_genotype_equal(tutti_candidate_genotype(a), tutti_candidate_genotype(b));
}

/* One variable of three changes, each as often: a graph is one. */
static void test_mutants(void **state) {
  enum { MUTANTS = 900 };
  struct toy toy;
  struct tutti_random random;
  tutti_candidate *parent, *mutant;
  int changed[3] = {0};
  (void)state;
  toy_create_in(&toy, 1, 1, &words_descriptor, "x = uniform 0 1\nkind = choice a b c");
  tutti_random_init(&random, 1, "test", 0);
  TOY_OK(&toy, tutti_scope_sample(toy.context, toy.scope, &random, 1, &parent));
  for (int i = 0; i < MUTANTS; i++) {
    TOY_OK(&toy, tutti_scope_mutate(toy.context, toy.scope, &random, parent, 77, &mutant));
    const double *x = tutti_candidate_hyperparameters(mutant), *old = tutti_candidate_hyperparameters(parent);
    bool moved[3] = {!same_architecture(mutant, parent), x[0] != old[0], x[1] != old[1]};
    assert_int_equal(moved[0] + moved[1] + moved[2], 1);
    assert_true(tutti_candidate_seed(mutant) == 77);
    for (int v = 0; v < 3; v++)
      changed[v] += moved[v];
    tutti_candidate_unref(mutant);
  }
  for (int v = 0; v < 3; v++) /* four standard deviations */
    assert_true(fabs(changed[v] - MUTANTS / 3.) < 4 * sqrt(MUTANTS * 2. / 9));
  tutti_candidate_unref(parent);
  toy_destroy(&toy);
}

/* Of a single architecture, hyperparameters alone change; of neither, nothing. */
static void test_mutants_of_little(void **state) {
  (void)state;
  for (int searched = 0; searched < 2; searched++) {
    struct toy toy;
    struct tutti_random random;
    tutti_candidate *parent, *mutant;
    toy_create(&toy, 1, 1, 1, searched ? "x = uniform 0 1" : NULL);
    tutti_random_init(&random, 1, "test", 0);
    TOY_OK(&toy, tutti_scope_sample(toy.context, toy.scope, &random, 1, &parent));
    for (int i = 0; i < 20; i++) {
      TOY_OK(&toy, tutti_scope_mutate(toy.context, toy.scope, &random, parent, 2, &mutant));
      assert_true(same_architecture(mutant, parent));
      assert_int_equal(tutti_candidate_equal(mutant, parent), !searched);
      tutti_candidate_unref(mutant);
    }
    tutti_candidate_unref(parent);
    toy_destroy(&toy);
  }
}

static void test_known(void **state) {
  static const char *const words[] = {"aaa", "abab", "eeeeee"};
  struct toy toy;
  struct tutti_random random;
  tutti_scope *marginal;
  tutti_candidate *candidate;
  (void)state;
  toy_create_in(&toy, 1, 1, &words_descriptor, "x = uniform 2 3");
  tutti_random_init(&random, 1, "test", 0);
  for (size_t i = 0; i < WORDS_KNOWN; i++) {
    TOY_OK(&toy, tutti_scope_known(toy.context, toy.scope, i, &random, 5, &candidate));
    assert_string_equal(words_letters(tutti_candidate_genotype(candidate)), words[i]);
    assert_true(tutti_candidate_hyperparameters(candidate)[0] >= 2 && tutti_candidate_seed(candidate) == 5);
    tutti_candidate_unref(candidate);
  }
  TOY_OK(&toy, tutti_scope_known(toy.context, toy.scope, WORDS_KNOWN, &random, 5, &candidate));
  assert_null(candidate);
  TOY_OK(&toy, tutti_scope_create(toy.context, NULL, toy.hyperparameters, &marginal));
  TOY_OK(&toy, tutti_scope_known(toy.context, marginal, 0, &random, 5, &candidate));
  assert_null(candidate);
  tutti_scope_destroy(marginal);
  toy_destroy(&toy);
}

/* Twelve candidates are drawn once each; then none is left. */
static void test_draws_of_what_is_new(void **state) {
  struct toy toy;
  struct tutti_random random;
  tutti_candidate_set *set;
  tutti_candidate *candidate;
  bool fresh;
  (void)state;
  toy_create(&toy, 1, 1, 4, "kind = choice a b c");
  tutti_random_init(&random, 1, "test", 0);
  TOY_OK(&toy, tutti_candidate_set_create(toy.context, &set));
  for (int i = 0; i < 12; i++) {
    TOY_OK(&toy, tutti_candidate_set_draw(toy.context, set, toy.scope, &random, 3, &candidate));
    assert_true(tutti_candidate_seed(candidate) == 3);
    TOY_OK(&toy, tutti_candidate_set_add(toy.context, set, candidate, &fresh));
    assert_true(fresh);
    tutti_candidate_unref(candidate);
  }
  TOY_OK(&toy, tutti_candidate_set_draw(toy.context, set, toy.scope, &random, 3, &candidate));
  assert_null(candidate);
  tutti_candidate_set_destroy(set);
  toy_destroy(&toy);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_shares),
      cmocka_unit_test(test_awkward_fitness),
      cmocka_unit_test(test_draws),
      cmocka_unit_test(test_mutants),
      cmocka_unit_test(test_mutants_of_little),
      cmocka_unit_test(test_known),
      cmocka_unit_test(test_draws_of_what_is_new),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
