/* Builder hyperens: hyper ensembles draw at random; hyper deep ensembles train the selected again. */
#include "toy.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { BUDGET = 20, ROWS = 4 };

/* How far model of trial t is off, in standard deviations. Of the good two each is right where the other is wrong, and
   3 is a little better. */
static double offset_of(uint64_t trial, int row) {
  if (trial != 3 && trial != 7)
    return 3 + (double)trial;
  return (trial == 3) == (row < ROWS / 2) ? 0 : trial == 3 ? 2 : 2.1;
}

static enum tutti_status give_pool(void *argument, tutti_context *context, const char *split, size_t count,
                                   const uint64_t *trials, struct tutti_pool *pool) {
  float **predictions = calloc(count, sizeof *predictions);
  double *losses = calloc(count, sizeof *losses);
  uint64_t *numbers = calloc(count, sizeof *numbers);
  (void)argument, (void)context;
  assert_string_equal(split, "validation");
  for (size_t m = 0; m < count; m++) {
    predictions[m] = calloc(2 * ROWS, sizeof **predictions);
    for (int row = 0; row < ROWS; row++) {
      predictions[m][2 * row] = (float)offset_of(trials[m], row);
      predictions[m][2 * row + 1] = 1;
    }
    numbers[m] = trials[m];
    losses[m] = (double)trials[m];
  }
  *pool = (struct tutti_pool){.size = sizeof *pool,
                              .kind = TUTTI_TASK_REGRESSION,
                              .models = count,
                              .rows = ROWS,
                              .outputs = 1,
                              .predictions = (const float *const *)predictions,
                              .values = calloc(ROWS, sizeof(double)),
                              .trials = numbers,
                              .losses = losses};
  return TUTTI_OK;
}

static void release_pool(void *argument, struct tutti_pool *pool) {
  (void)argument;
  for (size_t m = 0; m < pool->models; m++)
    free((void *)(uintptr_t)pool->predictions[m]);
  free((void *)(uintptr_t)pool->predictions);
  free((void *)(uintptr_t)pool->losses);
  free((void *)(uintptr_t)pool->trials);
  free((void *)(uintptr_t)pool->values);
}

static void begin(struct toy *toy, const char *configurations, const char *initialisations) {
  toy_create(toy, 5, 4, 9, "x = uniform 0 1");
  toy->facts.budget = BUDGET;
  toy->facts.pool = give_pool;
  toy->facts.pool_release = release_pool;
  toy->task.kind = TUTTI_TASK_REGRESSION;
  tutti_host_set_facts(toy->host, &toy->facts);
  toy_put(toy, "builder", TUTTI_KIND_BUILDER, "hyperens");
  toy_set(toy, "builder", "configurations", configurations);
  toy_set(toy, "builder", "initialisations", initialisations);
}

static tutti_builder *make(struct toy *toy) {
  struct tutti_builder_setup setup = {.size = sizeof(setup), .host = toy->host};
  tutti_builder *builder;
  TOY_OK(toy, tutti_builder_create(toy->context, toy->host, "builder", &setup, &builder));
  return builder;
}

static struct tutti_proposal ask(struct toy *toy, tutti_builder *builder, uint64_t trial) {
  struct tutti_proposal proposal = {.size = sizeof(proposal)};
  TOY_OK(toy, tutti_builder_ask(toy->context, builder, trial, &proposal));
  return proposal;
}

static void tell(struct toy *toy, tutti_builder *builder, uint64_t trial, const tutti_candidate *candidate,
                 bool fails) {
  struct tutti_result result = {.size = sizeof(result),
                                .trial = trial,
                                .candidate = candidate,
                                .state = fails ? TUTTI_STATE_FAILED : TUTTI_STATE_FINISHED,
                                .loss = fails ? NAN : 1,
                                .failure = ""};
  TOY_OK(toy, tutti_builder_tell(toy->context, builder, &result));
}

/* 14 at random, then trials 3 and 7 again, three times each, whatever order their strata have; nothing is asked for
   before the random phase has been told. */
static void test_the_selected_are_trained_again(void **state) {
  enum { RANDOM = BUDGET - 2 * 3 };
  struct toy toy;
  struct tutti_proposal proposals[BUDGET];
  (void)state;
  begin(&toy, "2", "3");
  tutti_builder *builder = make(&toy);
  assert_int_equal(tutti_builder_members_from(builder), RANDOM);
  for (uint64_t i = 0; i < RANDOM; i++) {
    proposals[i] = ask(&toy, builder, i);
    assert_string_equal(proposals[i].origin, "random");
    for (uint64_t j = 0; j < i; j++)
      assert_false(tutti_candidate_equal(proposals[i].candidate, proposals[j].candidate));
  }
  for (uint64_t i = 0; i < RANDOM; i++) {
    assert_null(ask(&toy, builder, RANDOM).candidate);
    tell(&toy, builder, i, proposals[i].candidate, i == 1);
  }
  for (uint64_t i = RANDOM; i < BUDGET; i++) {
    proposals[i] = ask(&toy, builder, i);
    uint64_t source = (i - RANDOM) % 2 == 0 ? 3 : 7;
    assert_int_equal(proposals[i].parent, source);
    assert_true(tutti_candidate_equal(proposals[i].candidate, proposals[source].candidate));
    for (uint64_t j = 0; j < i; j++)
      assert_true(tutti_candidate_seed(proposals[i].candidate) != tutti_candidate_seed(proposals[j].candidate));
    tell(&toy, builder, i, proposals[i].candidate, false);
  }
  for (uint64_t i = 0; i < BUDGET; i++)
    tutti_candidate_unref(proposals[i].candidate);
  tutti_builder_destroy(builder);
  toy_destroy(&toy);
}

/* With nothing to select from, the budget is spent at random. */
static void test_nothing_finished(void **state) {
  struct toy toy;
  (void)state;
  begin(&toy, "2", "5");
  tutti_builder *builder = make(&toy);
  for (uint64_t i = 0; i < BUDGET; i++) {
    struct tutti_proposal proposal = ask(&toy, builder, i);
    assert_string_equal(proposal.origin, "random");
    tell(&toy, builder, i, proposal.candidate, true);
    tutti_candidate_unref(proposal.candidate);
  }
  tutti_builder_destroy(builder);
  toy_destroy(&toy);
}

/* The final choice is among the strata, or among all networks. */
static void test_members_of_both_phases(void **state) {
  struct toy toy;
  (void)state;
  begin(&toy, "2", "3");
  toy_set(&toy, "builder", "members", "all");
  tutti_builder *builder = make(&toy);
  assert_int_equal(tutti_builder_members_from(builder), 0);
  tutti_builder_destroy(builder);
  toy_destroy(&toy);
}

static void test_hyper_ensembles_have_no_strata(void **state) {
  struct toy toy;
  (void)state;
  begin(&toy, "0", "5");
  tutti_builder *builder = make(&toy);
  assert_int_equal(tutti_builder_members_from(builder), 0);
  for (uint64_t i = 0; i < BUDGET; i++) {
    struct tutti_proposal proposal = ask(&toy, builder, i);
    assert_true(proposal.parent == TUTTI_NO_TRIAL && strcmp(proposal.origin, "random") == 0);
    tutti_candidate_unref(proposal.candidate);
  }
  tutti_builder_destroy(builder);
  toy_destroy(&toy);
}

static void refused(const char *configurations, const char *initialisations, enum tutti_task_kind kind,
                    enum tutti_status expected, const char *message) {
  struct toy toy;
  tutti_builder *builder = NULL;
  begin(&toy, configurations, initialisations);
  toy.task.kind = kind;
  struct tutti_builder_setup setup = {.size = sizeof(setup), .host = toy.host};
  assert_int_equal(tutti_builder_create(toy.context, toy.host, "builder", &setup, &builder), expected);
  if (!strstr(tutti_error_message(toy.context), message))
    fail_msg("\"%s\" lacks \"%s\"", tutti_error_message(toy.context), message);
  toy_destroy(&toy);
}

static void test_what_cannot_work_is_refused(void **state) {
  (void)state;
  refused("4", "5", TUTTI_TASK_REGRESSION, TUTTI_ERROR_USAGE, "20 networks leave none of the budget of 20");
  refused("2", "5", TUTTI_TASK_VALUE, TUTTI_ERROR_UNSUPPORTED, "this recipe has no data");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_selected_are_trained_again), cmocka_unit_test(test_nothing_finished),
      cmocka_unit_test(test_members_of_both_phases),         cmocka_unit_test(test_hyper_ensembles_have_no_strata),
      cmocka_unit_test(test_what_cannot_work_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
