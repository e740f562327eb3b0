/* Builder deepens: one configuration, a seed for each trial; a resumed run keeps the configuration that it began
   with. */
#include "toy.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static tutti_builder *make(struct toy *toy) {
  struct tutti_builder_setup setup = {.size = sizeof(setup), .host = toy->host};
  tutti_builder *builder;
  toy_put(toy, "builder", TUTTI_KIND_BUILDER, "deepens");
  TOY_OK(toy, tutti_builder_create(toy->context, toy->host, "builder", &setup, &builder));
  return builder;
}

static tutti_candidate *ask(struct toy *toy, tutti_builder *builder, uint64_t trial) {
  struct tutti_proposal proposal = {.size = sizeof(proposal)};
  TOY_OK(toy, tutti_builder_ask(toy->context, builder, trial, &proposal));
  assert_true(proposal.parent == TUTTI_NO_TRIAL);
  return proposal.candidate;
}

static void test_one_configuration_many_seeds(void **state) {
  enum { TRIALS = 6 };
  struct toy toy;
  tutti_candidate *candidates[TRIALS];
  (void)state;
  toy_create(&toy, 5, 1, 9, "x = uniform 0 1");
  tutti_builder *builder = make(&toy);
  for (uint64_t i = 0; i < TRIALS; i++) {
    candidates[i] = ask(&toy, builder, i);
    assert_true(tutti_candidate_equal(candidates[i], candidates[0]));
    /* Trial i must not start from the weights that another builder with the same run seed would use. */
    assert_true(tutti_candidate_seed(candidates[i]) != tutti_trial_seed(tutti_host_seed(toy.host), i));
    for (uint64_t j = 0; j < i; j++)
      assert_true(tutti_candidate_seed(candidates[i]) != tutti_candidate_seed(candidates[j]));
  }
  for (int i = 0; i < TRIALS; i++)
    tutti_candidate_unref(candidates[i]);
  tutti_builder_destroy(builder);
  toy_destroy(&toy);
}

static void test_what_was_adopted_goes_on(void **state) {
  struct toy toy;
  struct tutti_random random;
  tutti_candidate *recorded;
  (void)state;
  toy_create(&toy, 5, 1, 9, "x = uniform 0 1");
  tutti_builder *builder = make(&toy);
  tutti_random_init(&random, 77, "test", 0);
  TOY_OK(&toy, tutti_scope_sample(toy.context, toy.scope, &random, 1, &recorded));
  tutti_candidate *own = ask(&toy, builder, 0);
  assert_false(tutti_candidate_equal(own, recorded));
  struct tutti_proposal proposal = {.size = sizeof(proposal), .candidate = recorded, .parent = TUTTI_NO_TRIAL};
  TOY_OK(&toy, tutti_builder_adopt(toy.context, builder, 0, &proposal));
  tutti_candidate *next = ask(&toy, builder, 1);
  assert_true(tutti_candidate_equal(next, recorded));
  tutti_candidate_unref(own);
  tutti_candidate_unref(next);
  tutti_candidate_unref(recorded);
  tutti_builder_destroy(builder);
  toy_destroy(&toy);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_configuration_many_seeds),
      cmocka_unit_test(test_what_was_adopted_goes_on),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
