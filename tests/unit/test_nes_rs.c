/* Builder nes-rs, and the sets of candidates that it keeps. */
#include "toy.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>
#include <tutti/candidate_set.h>

static tutti_builder *make(struct toy *toy, const char *distinct) {
  struct tutti_builder_setup setup = {.size = sizeof(setup), .host = toy->host};
  tutti_builder *builder;
  toy_put(toy, "builder", TUTTI_KIND_BUILDER, "nes-rs");
  toy_set(toy, "builder", "distinct", distinct);
  TOY_OK(toy, tutti_builder_create(toy->context, toy->host, "builder", &setup, &builder));
  return builder;
}

/* The candidate of a trial, or NULL; the caller unrefs it. */
static tutti_candidate *ask(struct toy *toy, tutti_builder *builder, uint64_t trial) {
  struct tutti_proposal proposal = {.size = sizeof(proposal)};
  TOY_OK(toy, tutti_builder_ask(toy->context, builder, trial, &proposal));
  if (proposal.candidate) {
    assert_true(proposal.parent == TUTTI_NO_TRIAL);
    assert_string_equal(proposal.origin, "random");
    assert_true(tutti_candidate_seed(proposal.candidate) == tutti_trial_seed(tutti_host_seed(toy->host), trial));
  }
  return proposal.candidate;
}

static void test_stream_of_the_trial(void **state) {
  struct toy toy;
  (void)state;
  toy_create(&toy, 7, 4, 5, "rate = log-uniform 1e-4 1e-1");
  tutti_builder *one = make(&toy, "no"), *other = make(&toy, "no");
  tutti_candidate *first[20];
  for (uint64_t i = 0; i < 20; i++)
    first[i] = ask(&toy, one, i);
  for (uint64_t i = 10; i < 20; i++) { /* whatever was asked before */
    tutti_candidate *again = ask(&toy, other, i);
    assert_true(tutti_candidate_equal(again, first[i]));
    assert_false(tutti_candidate_equal(again, first[i - 1]));
    tutti_candidate_unref(again);
  }
  for (int i = 0; i < 20; i++)
    tutti_candidate_unref(first[i]);
  assert_false(tutti_builder_exhausted(one));
  tutti_builder_destroy(one);
  tutti_builder_destroy(other);
  toy_destroy(&toy);
}

static void test_draws_uniformly(void **state) {
  struct toy toy;
  int counts[5] = {0};
  (void)state;
  toy_create(&toy, 3, 1, 5, NULL);
  tutti_builder *builder = make(&toy, "no");
  for (uint64_t i = 0; i < 1000; i++) {
    tutti_candidate *candidate = ask(&toy, builder, i);
    counts[(int)tutti_genotype_point(tutti_candidate_genotype(candidate))[0] - 1]++;
    tutti_candidate_unref(candidate);
  }
  for (int i = 0; i < 5; i++)
    assert_in_range(counts[i], 200 - 64, 200 + 64); /* five standard deviations */
  tutti_builder_destroy(builder);
  toy_destroy(&toy);
}

/* All 30 candidates once, then nothing more; the same after a resume in the middle. */
static void test_distinct(void **state) {
  struct toy toy;
  (void)state;
  toy_create(&toy, 1, 1, 5, "width = integer 1 3\nkind = choice a b");
  tutti_builder *builder = make(&toy, "yes"), *resumed = make(&toy, "yes");
  tutti_candidate_set *set;
  TOY_OK(&toy, tutti_candidate_set_create(toy.context, &set));
  for (uint64_t i = 0; i < 30; i++) {
    bool added;
    assert_false(tutti_builder_exhausted(builder));
    tutti_candidate *candidate = ask(&toy, builder, i);
    TOY_OK(&toy, tutti_candidate_set_add(toy.context, set, candidate, &added));
    assert_true(added);
    if (i < 20) {
      struct tutti_proposal proposal = {.size = sizeof(proposal), .candidate = candidate, .parent = TUTTI_NO_TRIAL};
      TOY_OK(&toy, tutti_builder_adopt(toy.context, resumed, i, &proposal));
    } else {
      tutti_candidate *same = ask(&toy, resumed, i);
      assert_true(tutti_candidate_equal(same, candidate));
      tutti_candidate_unref(same);
    }
    tutti_candidate_unref(candidate);
  }
  assert_true(tutti_builder_exhausted(builder) && tutti_builder_exhausted(resumed));
  assert_null(ask(&toy, builder, 30));
  tutti_candidate_set_destroy(set);
  tutti_builder_destroy(builder);
  tutti_builder_destroy(resumed);
  toy_destroy(&toy);
}

/* Five hundred candidates twice each: growth, equality without seeds, references. */
static void test_sets(void **state) {
  struct toy toy;
  tutti_candidate_set *set;
  (void)state;
  toy_create(&toy, 1, 1, 500, NULL);
  TOY_OK(&toy, tutti_candidate_set_create(toy.context, &set));
  for (int round = 0; round < 2; round++)
    for (int i = 1; i <= 500; i++) {
      double point = i;
      tutti_candidate *candidate;
      bool added;
      TOY_OK(&toy, tutti_scope_from_point(toy.context, toy.scope, &point, (uint64_t)round, &candidate));
      assert_int_equal(tutti_candidate_set_has(set, candidate), round);
      TOY_OK(&toy, tutti_candidate_set_add(toy.context, set, candidate, &added));
      assert_int_equal(added, !round);
      assert_true(tutti_candidate_set_has(set, candidate));
      tutti_candidate_unref(candidate);
    }
  assert_int_equal(tutti_candidate_set_count(set), 500);
  tutti_candidate_set_destroy(set);
  toy_destroy(&toy);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_stream_of_the_trial),
      cmocka_unit_test(test_draws_uniformly),
      cmocka_unit_test(test_distinct),
      cmocka_unit_test(test_sets),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
