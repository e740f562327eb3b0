/* test_compare.c - sign tests, the Poisson-binomial test, ranks and winning frequencies: golden numbers, brute force,
   and what is missing. */
#include "golden.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <tutti/compare.h>

/* --- sign test --------------------------------------------------------------------------------------------------- */

static void sign_tests_are_the_golden_ones(void **state) {
  json_t *golden = golden_load("agnostic_bayes"), *cases = golden_get(golden, "sign_test(ties dropped)");
  (void)state;
  assert_true(json_array_size(cases) > 0);
  for (size_t i = 0; i < json_array_size(cases); i++) {
    const json_t *one = golden_at(cases, i);
    uint64_t wins = (uint64_t)golden_number_of(one, "wins"), losses = (uint64_t)golden_number_of(one, "losses");
    assert_close(tutti_sign_test_one_sided(wins, losses), golden_number_of(one, "p_one_sided=P[Bin(n,1/2)<=losses]"),
                 1e-14, 0);
  }
  json_decref(golden);
}

/* Every sequence of `n` tosses that divides at least as unevenly as wins : losses, counted. */
static double brute_force(unsigned wins, unsigned losses) {
  unsigned n = wins + losses, uneven = wins > losses ? wins - losses : losses - wins, count = 0;
  for (unsigned tosses = 0; tosses < 1U << n; tosses++) {
    int heads = __builtin_popcount(tosses), difference = 2 * heads - (int)n;
    count += (unsigned)abs(difference) >= uneven;
  }
  return (double)count / (double)(1U << n);
}

static void sign_tests_agree_with_counting(void **state) {
  (void)state;
  for (unsigned wins = 0; wins <= 8; wins++)
    for (unsigned losses = 0; losses <= 8; losses++) {
      assert_true(tutti_sign_test(wins, losses) == brute_force(wins, losses)); /* doubles hold all of them */
      assert_true(tutti_sign_test(wins, losses) == tutti_sign_test(losses, wins));
    }
  assert_true(tutti_sign_test(0, 0) == 1);
  assert_true(tutti_sign_test(5, 0) == 0.0625);
}

static void sign_tests_of_many_pairs_neither_overflow_nor_vanish(void **state) {
  (void)state;
  /* P[Bin(n, 1/2) <= n / 2] is half of 1 + P[Bin = n / 2], for which there is an expansion. */
  for (uint64_t n = 1000; n <= 1000000; n *= 10) {
    double centre = sqrt(2 / (M_PI * (double)n)) * (1 - 1 / (4 * (double)n) + 1 / (32 * (double)n * (double)n));
    assert_close(tutti_sign_test_one_sided(n / 2, n / 2), (1 + centre) / 2, 1e-9, 0);
  }
  assert_close(tutti_sign_test_one_sided(1000, 0), pow(0.5, 1000), 1e-12, 0);
  assert_close(tutti_sign_test_one_sided(1000, 1), 1002 * pow(0.5, 1001), 1e-12, 0);
  assert_true(tutti_sign_test(5000, 0) == 0);
  assert_true(tutti_sign_test_one_sided(0, 5000) == 1);
}

/* --- Poisson-binomial test --------------------------------------------------------------------------------------- */

static void poisson_binomial_tests_are_the_golden_ones(void **state) {
  json_t *golden = golden_load("agnostic_bayes"), *test = golden_get(golden, "pb_test");
  const json_t *counts = golden_get(test, "counts(k_A_only_wrong,k_B_only_wrong,rest)");
  size_t sets;
  double *expected = golden_doubles(golden_get(test, "p_A_better_per_dataset = I_{1/2}(1+kA,1+kB)"), &sets);
  double better[16], turned[16], probability;
  tutti_context *context;
  (void)state;
  assert_int_equal(tutti_context_create(&context), TUTTI_OK);
  assert_true(sets > 0 && sets <= 16);
  for (size_t d = 0; d < sets; d++) {
    const json_t *count = golden_at(counts, d);
    uint64_t a = (uint64_t)golden_number(golden_at(count, 0)), b = (uint64_t)golden_number(golden_at(count, 1));
    better[d] = tutti_better_probability(a, b);
    turned[d] = tutti_better_probability(b, a);
    assert_close(better[d], expected[d], 1e-14, 0);
    assert_close(better[d] + turned[d], 1, 1e-15, 0);
  }
  assert_int_equal(tutti_poisson_binomial_test(context, sets, better, &probability), TUTTI_OK);
  assert_close(probability, golden_number_of(test, "Pr(rho>1/2) with Beta(1+k,1+L-k)"), 1e-13, 0);
  assert_int_equal(tutti_poisson_binomial_test(context, sets, turned, &probability), TUTTI_OK);
  assert_close(1 - probability, golden_number_of(test, "Pr(rho>1/2) with Beta(1+k,1+L-k)"), 1e-13, 0);
  free(expected);
  json_decref(golden);
  tutti_context_destroy(context);
}

static void poisson_binomial_tests_of_nothing_and_of_certainty(void **state) {
  double sure[12] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, probability;
  tutti_context *context;
  (void)state;
  assert_int_equal(tutti_context_create(&context), TUTTI_OK);
  assert_int_equal(tutti_poisson_binomial_test(context, 0, NULL, &probability), TUTTI_OK);
  assert_true(probability == 0.5);
  for (size_t sets = 1; sets <= 12; sets++) { /* P[Beta(1 + L, 1) > 1/2] = 1 - 2^-(L + 1) */
    assert_int_equal(tutti_poisson_binomial_test(context, sets, sure, &probability), TUTTI_OK);
    assert_close(probability, 1 - pow(0.5, (double)sets + 1), 1e-15, 0);
  }
  assert_true(tutti_better_probability(0, 0) == 0.5);
  assert_close(tutti_better_probability(0, 4), 31.0 / 32, 1e-15, 0);
  assert_true(tutti_better_probability(0, 100000) == 1);
  tutti_context_destroy(context);
}

/* --- ranks, wins ------------------------------------------------------------------------------------------------- */

/* All placings[variants]. */
static void place(const struct tutti_figures *figures, struct tutti_placing *placings) {
  for (size_t v = 0; v < figures->variants; v++) {
    placings[v].size = sizeof placings[v];
    tutti_placing_of(figures, v, &placings[v]);
  }
}

static struct tutti_duel duel_of(const struct tutti_figures *figures, size_t one, size_t other) {
  struct tutti_duel duel = {.size = sizeof duel};
  tutti_duel_of(figures, one, other, &duel);
  return duel;
}

/* If the caller knows a shorter or longer struct, no other byte is written. */
static void sizes_are_honoured(void **state) {
  static const double values[] = {1, 2};
  const struct tutti_figures figures = {sizeof figures, 1, 2, values, TUTTI_BETTER_LOWER};
  struct {
    struct tutti_duel duel;
    double beyond;
  } room = {.duel = {.size = offsetof(struct tutti_duel, p), .p = 7, .p_one = 7}, .beyond = 7};
  (void)state;
  tutti_duel_of(&figures, 0, 1, &room.duel);
  assert_int_equal(room.duel.wins, 1);
  assert_true(room.duel.frequency == 1 && room.duel.p == 7 && room.duel.p_one == 7);
  room.duel.size = sizeof room;
  tutti_duel_of(&figures, 0, 1, &room.duel);
  assert_true(room.duel.p == 1 && room.beyond == 0);
}

static void ranks_and_wins_are_the_golden_ones(void **state) {
  json_t *golden = golden_load("agnostic_bayes"), *rank = golden_get(golden, "rank");
  size_t count;
  double *risks = golden_doubles(golden_get(rank, "risks[dataset][method]"), &count);
  double *wins = golden_doubles(golden_get(rank, "win_frequency(0.5 for ties)"), NULL);
  const json_t *literal = golden_get(rank, "expected_rank_literal(count <= incl. self: ties get the worst rank)"),
               *middle = golden_get(rank, "expected_rank_midrank");
  struct tutti_placing placings[4];
  const struct tutti_figures figures = {sizeof figures, count / 4, 4, risks, TUTTI_BETTER_LOWER};
  (void)state;
  place(&figures, placings);
  for (size_t v = 0; v < 4; v++) {
    double lost = 1;
    assert_int_equal(placings[v].ranked, count / 4);
    assert_close(placings[v].expected_rank, golden_number(golden_at(literal, v)), 1e-14, 0);
    assert_close(placings[v].rank, golden_number(golden_at(middle, v)), 1e-14, 0);
    for (size_t w = 0; w < 4; w++) {
      struct tutti_duel duel = duel_of(&figures, v, w);
      /* Whose entry [i][j] is the share that j has won against i is told by the ranks. */
      assert_close(duel.frequency, wins[v * 4 + w], 1e-14, 0);
      assert_int_equal(duel.wins + duel.losses + duel.ties, count / 4);
      if (w != v)
        lost += 1 - duel.frequency;
    }
    assert_close(placings[v].rank, lost, 1e-14, 0);
  }
  free(risks);
  free(wins);
  json_decref(golden);
}

static void higher_may_be_better(void **state) {
  static const double values[] = {1, 2, 3, /**/ 1, 1, 0, /**/ 5, 4, 6};
  struct tutti_figures figures = {sizeof figures, 3, 3, values, TUTTI_BETTER_HIGHER};
  struct tutti_placing placings[3];
  (void)state;
  place(&figures, placings);
  assert_close(placings[0].rank, (3 + 1.5 + 2) / 3, 1e-15, 0);
  assert_close(placings[1].rank, (2 + 1.5 + 3) / 3, 1e-15, 0);
  assert_close(placings[2].rank, (1 + 3 + 1) / 3.0, 1e-15, 0);
  assert_close(placings[0].expected_rank, (3 + 2 + 2) / 3.0, 1e-15, 0);
  struct tutti_duel duel = duel_of(&figures, 0, 1);
  assert_int_equal(duel.wins, 1);
  assert_int_equal(duel.losses, 1);
  assert_int_equal(duel.ties, 1);
  assert_true(duel.frequency == 0.5 && duel.p == 1 && duel.p_one == 0.75);
  figures.better = TUTTI_BETTER_LOWER;
  duel = duel_of(&figures, 0, 2);
  assert_int_equal(duel.wins, 2);
  assert_int_equal(duel.losses, 1);
}

static void means_and_errors_are_those_of_the_values(void **state) {
  static const double values[] = {1, 7, /**/ 2, NAN, /**/ 6, INFINITY};
  const struct tutti_figures figures = {sizeof figures, 3, 2, values, TUTTI_BETTER_LOWER};
  struct tutti_placing placings[2];
  (void)state;
  place(&figures, placings);
  assert_int_equal(placings[0].count, 3);
  assert_true(placings[0].mean == 3);
  assert_close(placings[0].error, sqrt(7.0 / 3), 1e-15, 0); /* variance (4 + 1 + 9) / 2 */
  assert_int_equal(placings[1].count, 1);
  assert_true(placings[1].mean == 7 && isnan(placings[1].error));
}

static void what_is_missing_makes_no_pair(void **state) {
  static const double values[] = {1, 2, 3, /**/ NAN, 1, 2, /**/ 3, 2, -INFINITY, /**/ 9, 8, NAN};
  const struct tutti_figures figures = {sizeof figures, 4, 3, values, TUTTI_BETTER_LOWER};
  struct tutti_placing placings[3];
  (void)state;
  place(&figures, placings);
  for (size_t v = 0; v < 3; v++) {
    assert_int_equal(placings[v].ranked, 1); /* the first block alone is whole */
    assert_true(placings[v].rank == (double)v + 1);
  }
  struct tutti_duel duel = duel_of(&figures, 0, 1);
  assert_int_equal(duel.wins, 1);
  assert_int_equal(duel.losses, 2);
  duel = duel_of(&figures, 0, 2);
  assert_int_equal(duel.wins + duel.losses + duel.ties, 1);
}

static void nothing_is_ranked_where_nothing_is_better(void **state) {
  static const double values[] = {1, 2, NAN, NAN};
  const struct tutti_figures neither = {sizeof neither, 1, 2, values, TUTTI_BETTER_NEITHER},
                             none = {sizeof none, 1, 2, values + 2, TUTTI_BETTER_LOWER};
  const struct tutti_figures *const both[] = {&neither, &none};
  (void)state;
  for (size_t i = 0; i < 2; i++) {
    struct tutti_placing placings[2];
    place(both[i], placings);
    struct tutti_duel duel = duel_of(both[i], 0, 1);
    assert_int_equal(placings[0].ranked, 0);
    assert_true(isnan(placings[0].rank) && isnan(placings[0].expected_rank));
    assert_int_equal(duel.wins + duel.losses + duel.ties, 0);
    assert_true(isnan(duel.frequency) && isnan(duel.p));
    assert_int_equal(placings[0].count, 1 - i);
    assert_int_equal(isnan(placings[0].mean), i);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sign_tests_are_the_golden_ones),
      cmocka_unit_test(sign_tests_agree_with_counting),
      cmocka_unit_test(sign_tests_of_many_pairs_neither_overflow_nor_vanish),
      cmocka_unit_test(poisson_binomial_tests_are_the_golden_ones),
      cmocka_unit_test(poisson_binomial_tests_of_nothing_and_of_certainty),
      cmocka_unit_test(sizes_are_honoured),
      cmocka_unit_test(ranks_and_wins_are_the_golden_ones),
      cmocka_unit_test(higher_may_be_better),
      cmocka_unit_test(means_and_errors_are_those_of_the_values),
      cmocka_unit_test(what_is_missing_makes_no_pair),
      cmocka_unit_test(nothing_is_ranked_where_nothing_is_better),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
