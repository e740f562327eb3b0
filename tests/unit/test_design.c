/* test_design.c - the points that a search begins with: evenly spread, of the run's seed, and none twice. */
#include "toy.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include <tutti/candidate_set.h>
#include <tutti/design.h>

enum { INITIAL = 8 };

static struct tutti_design design_of(const struct toy *toy) {
  return (struct tutti_design){
      .size = sizeof(struct tutti_design), .host = toy->host, .kind = TUTTI_DESIGN_SOBOL, .initial = INITIAL};
}

/* The design's candidate for a trial; *x: its hyperparameter. */
static tutti_candidate *candidate_of(struct toy *toy, uint64_t trial, const tutti_candidate_set *known, double *x) {
  const struct tutti_design design = design_of(toy);
  tutti_candidate *candidate;
  TOY_OK(toy, tutti_design_candidate(toy->context, &design, trial, known, &candidate));
  assert_non_null(candidate);
  *x = tutti_candidate_hyperparameters(candidate)[0];
  return candidate;
}

/* The first 2^k points of a Sobol sequence, shifted or not, have one point in each 2^k-th of every dimension. */
static void points_are_evenly_spread(void **state) {
  struct toy toy;
  tutti_candidate_set *known;
  (void)state;
  for (uint64_t seed = 1; seed < 6; seed++) {
    int counts[INITIAL] = {0};
    toy_create(&toy, seed, 4, 1, "x = uniform 0 8");
    TOY_OK(&toy, tutti_candidate_set_create(toy.context, &known));
    for (uint64_t trial = 0; trial < INITIAL; trial++) {
      double x;
      tutti_candidate_unref(candidate_of(&toy, trial, known, &x));
      counts[(int)x]++;
    }
    for (int i = 0; i < INITIAL; i++)
      assert_int_equal(counts[i], 1);
    tutti_candidate_set_destroy(known);
    toy_destroy(&toy);
  }
}

static void other_seeds_have_other_points(void **state) {
  double x[2][INITIAL];
  struct toy toy;
  tutti_candidate_set *known;
  (void)state;
  for (uint64_t seed = 0; seed < 2; seed++) {
    toy_create(&toy, 5 + seed, 4, 1, "x = uniform 0 8");
    TOY_OK(&toy, tutti_candidate_set_create(toy.context, &known));
    for (uint64_t trial = 0; trial < INITIAL; trial++)
      tutti_candidate_unref(candidate_of(&toy, trial, known, &x[seed][trial]));
    tutti_candidate_set_destroy(known);
    toy_destroy(&toy);
  }
  for (int i = 0; i < INITIAL; i++)
    assert_true(x[0][i] != x[1][i]);
}

/* Where a point is known, another is taken that no other trial of the design has: of `initial` points further on. */
static void known_points_give_way_to_points_of_nobody(void **state) {
  double x, own[3 * INITIAL];
  struct toy toy;
  tutti_candidate_set *none, *known;
  (void)state;
  toy_create(&toy, 3, 4, 1, "x = uniform 0 8");
  TOY_OK(&toy, tutti_candidate_set_create(toy.context, &none));
  TOY_OK(&toy, tutti_candidate_set_create(toy.context, &known));
  for (uint64_t point = 0; point < 3 * INITIAL; point++)
    tutti_candidate_unref(candidate_of(&toy, point, none, &own[point]));
  for (uint64_t trial = 0; trial < INITIAL; trial++) {
    tutti_candidate *first = candidate_of(&toy, trial, none, &x), *second;
    TOY_OK(&toy, tutti_candidate_set_add(toy.context, known, first, NULL));
    second = candidate_of(&toy, trial, known, &x);
    assert_true(x == own[trial + INITIAL]);
    TOY_OK(&toy, tutti_candidate_set_add(toy.context, known, second, NULL));
    tutti_candidate_unref(candidate_of(&toy, trial, known, &x));
    assert_true(x == own[trial + 2 * INITIAL]);
    tutti_candidate_unref(first);
    tutti_candidate_unref(second);
  }
  tutti_candidate_set_destroy(none);
  tutti_candidate_set_destroy(known);
  toy_destroy(&toy);
}

/* Of a scope with three candidates no fourth is made up. */
static void a_scope_may_be_used_up(void **state) {
  struct toy toy;
  tutti_candidate_set *known;
  size_t made = 0;
  (void)state;
  toy_create(&toy, 3, 4, 3, "");
  TOY_OK(&toy, tutti_candidate_set_create(toy.context, &known));
  const struct tutti_design design = design_of(&toy);
  for (uint64_t trial = 0; trial < INITIAL; trial++) {
    tutti_candidate *candidate;
    bool added;
    TOY_OK(&toy, tutti_design_candidate(toy.context, &design, trial, known, &candidate));
    if (!candidate)
      continue;
    TOY_OK(&toy, tutti_candidate_set_add(toy.context, known, candidate, &added));
    assert_true(added);
    made++;
    tutti_candidate_unref(candidate);
  }
  assert_int_equal(made, 3);
  tutti_candidate_set_destroy(known);
  toy_destroy(&toy);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(points_are_evenly_spread),
      cmocka_unit_test(other_seeds_have_other_points),
      cmocka_unit_test(known_points_give_way_to_points_of_nobody),
      cmocka_unit_test(a_scope_may_be_used_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
