/* The population of aging evolution: who is in it, who leaves, and how a tournament is drawn. */
#include "toy.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>
#include <tutti/population.h>

static tutti_population *make(struct toy *toy, size_t capacity) {
  tutti_population *population;
  TOY_OK(toy, tutti_population_create(toy->context, capacity, &population));
  return population;
}

/* Add trial number `trial` with a loss; the candidate is the population's alone afterwards. */
static void add(struct toy *toy, tutti_population *population, uint64_t trial, double loss) {
  struct tutti_random random;
  tutti_candidate *candidate;
  tutti_random_init(&random, 5, "test", trial);
  TOY_OK(toy, tutti_scope_sample(toy->context, toy->scope, &random, trial, &candidate));
  TOY_OK(toy, tutti_population_add(toy->context, population, trial, candidate, loss));
  tutti_candidate_unref(candidate);
}

static void test_the_oldest_leaves(void **state) {
  struct toy toy;
  (void)state;
  toy_create(&toy, 1, 1, 9, NULL);
  tutti_population *population = make(&toy, 3);
  assert_int_equal(tutti_population_count(population), 0);
  for (uint64_t trial = 0; trial < 8; trial++) {
    assert_int_equal(tutti_population_full(population), trial >= 3);
    add(&toy, population, trial, -(double)trial); /* the best is never the oldest, and leaves all the same */
    size_t count = tutti_population_count(population);
    assert_int_equal(count, trial < 3 ? trial + 1 : 3);
    for (size_t i = 0; i < count; i++) {
      const struct tutti_individual *one = tutti_population_at(population, i);
      assert_int_equal(one->trial, trial + 1 - count + i);
      assert_true(one->loss == -(double)one->trial);
      assert_int_equal(tutti_candidate_seed(one->candidate), one->trial);
    }
  }
  tutti_population_destroy(population);
  toy_destroy(&toy);
}

/* The share of tournaments of s among n that the k-th best (from 0) wins is C(n - 1 - k, s - 1) / C(n, s). */
static void test_tournament_has_the_right_odds(void **state) {
  enum { N = 6, S = 3, DRAWS = 20000 };
  static const double shares[N] = {10. / 20, 6. / 20, 3. / 20, 1. / 20, 0, 0};
  struct toy toy;
  struct tutti_random random;
  int wins[N] = {0};
  (void)state;
  toy_create(&toy, 1, 1, 9, NULL);
  tutti_population *population = make(&toy, N);
  for (uint64_t trial = 0; trial < N; trial++)
    add(&toy, population, trial, (double)((trial + 2) % N));
  tutti_random_init(&random, 3, "test", 0);
  for (int i = 0; i < DRAWS; i++)
    wins[(int)tutti_population_tournament(population, &random, S)->loss]++;
  for (int k = 0; k < N; k++) /* five standard deviations */
    assert_true(fabs(wins[k] - shares[k] * DRAWS) <= 5 * sqrt(DRAWS * shares[k] * (1 - shares[k])));
  tutti_population_destroy(population);
  toy_destroy(&toy);
}

static void test_small_populations_and_ties(void **state) {
  struct toy toy;
  struct tutti_random random;
  (void)state;
  toy_create(&toy, 1, 1, 9, NULL);
  tutti_population *population = make(&toy, 5);
  tutti_random_init(&random, 3, "test", 0);
  add(&toy, population, 7, 2);
  assert_int_equal(tutti_population_tournament(population, &random, 4)->trial, 7); /* fewer than the sample: all */
  add(&toy, population, 3, 1);
  add(&toy, population, 9, 1);
  for (int i = 0; i < 50; i++)
    assert_int_equal(tutti_population_tournament(population, &random, 3)->trial, 3);
  tutti_population_destroy(population);
  toy_destroy(&toy);
}

static void test_no_failures_no_emptiness(void **state) {
  struct toy toy;
  tutti_population *population = NULL;
  (void)state;
  toy_create(&toy, 1, 1, 9, NULL);
  assert_int_equal(tutti_population_create(toy.context, 0, &population), TUTTI_ERROR_USAGE);
  assert_null(population);
  tutti_error_clear(toy.context);
  population = make(&toy, 2);
  assert_int_equal(tutti_population_add(toy.context, population, 4, NULL, NAN), TUTTI_ERROR_USAGE);
  assert_non_null(strstr(tutti_error_message(toy.context), "trial 4"));
  tutti_error_clear(toy.context);
  assert_int_equal(tutti_population_count(population), 0);
  tutti_population_destroy(population);
  tutti_population_destroy(NULL);
  toy_destroy(&toy);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_oldest_leaves),
      cmocka_unit_test(test_tournament_has_the_right_odds),
      cmocka_unit_test(test_small_populations_and_ties),
      cmocka_unit_test(test_no_failures_no_emptiness),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
