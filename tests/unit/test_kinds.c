/* What the wrappers of builders, selectors and executors check and default: plugins that break their contracts in
   every way that can be seen.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/tutti.h>
#include <cmocka.h>

#include "kinds.h"

/* How the plugins below behave in the running test. */
static struct {
  bool nothing, exhausted, refuse;
  int candidate; /* 0 none, else the depth of the one proposed */
  struct tutti_reply reply;
  uint64_t trial;
} act;

/* --- builder --- */

static enum tutti_status ask(void *self, tutti_context *context, uint64_t trial, struct tutti_proposal *proposal) {
  (void)self, (void)context, (void)trial;
  memset(proposal->origin, 'x', sizeof proposal->origin);
  proposal->candidate = act.candidate ? kinds_candidate(act.candidate) : NULL;
  return TUTTI_OK;
}

static enum tutti_status tell(void *self, tutti_context *context, const struct tutti_result *result) {
  (void)self, (void)result;
  return act.refuse ? TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC, "I do not like it") : TUTTI_OK;
}

static bool exhausted(void *self) {
  (void)self;
  return act.exhausted;
}

static const struct tutti_builder_ops builder_ops = {
    .size = sizeof builder_ops, .ask = ask, .tell = tell, .exhausted = exhausted};

/* --- selector --- */

static enum tutti_status choose(void *self, tutti_context *context, const struct tutti_pool *pool, size_t count,
                                tutti_ensemble *ensemble) {
  (void)self, (void)pool, (void)count;
  return act.nothing ? TUTTI_OK : tutti_ensemble_add(context, ensemble, act.trial, 1);
}

static const struct tutti_selector_ops selector_ops = {.size = sizeof selector_ops, .select = choose};

/* --- executor --- */

static size_t capacity(void *self) {
  (void)self;
  return 2;
}

static enum tutti_status submit(void *self, tutti_context *context, uint64_t trial, const char *request) {
  (void)self, (void)context, (void)trial, (void)request;
  return TUTTI_OK;
}

static enum tutti_status wait_for(void *self, tutti_context *context, double timeout, struct tutti_reply *reply) {
  (void)self, (void)context, (void)timeout;
  *reply = act.reply;
  return TUTTI_OK;
}

static const struct tutti_executor_ops executor_ops = {
    .size = sizeof executor_ops, .capacity = capacity, .submit = submit, .wait = wait_for};

static const struct tutti_descriptor plugins[] = {
    KINDS_PLUGIN(TUTTI_KIND_BUILDER, "fake", &builder_ops),
    KINDS_PLUGIN(TUTTI_KIND_SELECTOR, "fake", &selector_ops),
    KINDS_PLUGIN(TUTTI_KIND_EXECUTOR, "fake", &executor_ops),
};

static int setup(void **state) {
  (void)state;
  memset(&act, 0, sizeof act);
  act.candidate = 1;
  kinds_open(plugins, sizeof plugins / sizeof plugins[0]);
  return 0;
}

/* --- builder --- */

static tutti_builder *open_builder(void) {
  tutti_builder *builder;
  struct tutti_builder_setup setup_of = {.size = sizeof setup_of, .host = toy.host};
  toy_put(&toy, "builder", TUTTI_KIND_BUILDER, "fake");
  TOY_OK(&toy, tutti_builder_create(toy.context, toy.host, "builder", &setup_of, &builder));
  return builder;
}

static void test_builder_ask(void **state) {
  (void)state;
  struct tutti_proposal proposal = {.size = sizeof proposal};
  struct tutti_result result = {.size = sizeof result};
  tutti_builder *builder = open_builder();
  TOY_OK(&toy, tutti_builder_ask(toy.context, builder, 0, &proposal));
  assert_int_equal(proposal.parent, TUTTI_NO_TRIAL);
  assert_int_equal(strlen(proposal.origin), sizeof proposal.origin - 1);
  tutti_candidate_unref(proposal.candidate);
  /* Nothing, while one is outstanding, is an answer; with none outstanding only the exhausted may give it. */
  act.candidate = 0;
  TOY_OK(&toy, tutti_builder_ask(toy.context, builder, 1, &proposal));
  assert_null(proposal.candidate);
  TOY_OK(&toy, tutti_builder_tell(toy.context, builder, &result));
  kinds_must_fail(tutti_builder_ask(toy.context, builder, 1, &proposal), TUTTI_ERROR_PLUGIN,
                  "builder fake broke its contract: ask proposed nothing for trial 1 while no trial is outstanding");
  act.exhausted = true;
  TOY_OK(&toy, tutti_builder_ask(toy.context, builder, 1, &proposal));
  assert_true(tutti_builder_exhausted(builder));
  act.refuse = true;
  kinds_must_fail(tutti_builder_tell(toy.context, builder, &result), TUTTI_ERROR_NUMERIC,
                  "builder fake: I do not like it");
  tutti_builder_destroy(builder);
}

/* Without `adopt` the builder is asked again, and has to say the same. */
static void test_builder_adopt(void **state) {
  (void)state;
  char *json;
  tutti_builder *builder = open_builder();
  struct tutti_proposal proposal = {.size = sizeof proposal, .candidate = kinds_candidate(1)};
  TOY_OK(&toy, tutti_builder_adopt(toy.context, builder, 0, &proposal));
  act.candidate = 2;
  kinds_must_fail(tutti_builder_adopt(toy.context, builder, 1, &proposal), TUTTI_ERROR_PLUGIN,
                  "asked again for trial 1, it proposes another candidate than the one recorded");
  TOY_OK(&toy, tutti_builder_describe(toy.context, builder, &json));
  assert_null(json);
  tutti_candidate_unref(proposal.candidate);
  tutti_builder_destroy(builder);
}

static void test_trial_seed(void **state) {
  (void)state;
  assert_int_equal(tutti_trial_seed(1, 2), tutti_trial_seed(1, 2));
  assert_true(tutti_trial_seed(1, 2) != tutti_trial_seed(1, 3));
  assert_true(tutti_trial_seed(1, 2) != tutti_trial_seed(2, 2));
}

/* --- selector --- */

static enum tutti_status choose_from(size_t models, size_t *members) {
  static const uint64_t trials[] = {2, 5, 9};
  const struct tutti_pool pool = {.size = sizeof pool, .models = models, .rows = 1, .trials = trials};
  struct tutti_selector_setup setup_of = {.size = sizeof setup_of, .host = toy.host};
  tutti_selector *selector;
  tutti_ensemble *ensemble;
  toy_put(&toy, "selector", TUTTI_KIND_SELECTOR, "fake");
  TOY_OK(&toy, tutti_selector_create(toy.context, toy.host, "selector", &setup_of, &selector));
  TOY_OK(&toy, tutti_ensemble_create(toy.context, &ensemble));
  enum tutti_status status = tutti_selector_select(toy.context, selector, &pool, 0, ensemble);
  *members = tutti_ensemble_size(ensemble);
  tutti_ensemble_destroy(ensemble);
  tutti_selector_destroy(selector);
  return status;
}

static void test_selector(void **state) {
  (void)state;
  size_t members;
  static const uint64_t in[] = {2, 5, 9}, out[] = {0, 3, 6, 10, UINT64_MAX};
  for (size_t i = 0; i < 3; i++) {
    act.trial = in[i];
    TOY_OK(&toy, choose_from(3, &members));
    assert_int_equal(members, 1);
  }
  for (size_t i = 0; i < 5; i++) {
    act.trial = out[i];
    kinds_must_fail(choose_from(3, &members), TUTTI_ERROR_PLUGIN, "which is not in the pool");
  }
  act.nothing = true;
  kinds_must_fail(choose_from(3, &members), TUTTI_ERROR_PLUGIN,
                  "selector fake broke its contract: select chose no member of 3 models");
  kinds_must_fail(choose_from(0, &members), TUTTI_ERROR_USAGE, "there is nothing to select from: 0 models");
}

/* --- executor --- */

static void test_executor(void **state) {
  (void)state;
  static const char *const command[] = {"worker", NULL};
  struct tutti_executor_setup setup_of = {
      .size = sizeof setup_of, .workers = 1, .capacity = 1, .worker_command = command};
  struct tutti_reply reply = {.size = sizeof reply};
  tutti_executor *executor;
  toy_put(&toy, "executor", TUTTI_KIND_EXECUTOR, "fake");
  TOY_OK(&toy, tutti_executor_create(toy.context, toy.host, "executor", &setup_of, &executor));
  assert_int_equal(tutti_executor_capacity(executor), 2);
  TOY_OK(&toy, tutti_executor_submit(toy.context, executor, 0, "work"));
  TOY_OK(&toy, tutti_executor_wait(toy.context, executor, 0, &reply));
  act.reply = (struct tutti_reply){.kind = TUTTI_REPLY_LOST};
  kinds_must_fail(tutti_executor_wait(toy.context, executor, 0, &reply), TUTTI_ERROR_PLUGIN,
                  "executor fake broke its contract: wait gave a reply without a text");
  act.reply = (struct tutti_reply){.kind = (enum tutti_reply_kind)9};
  kinds_must_fail(tutti_executor_wait(toy.context, executor, 0, &reply), TUTTI_ERROR_PLUGIN,
                  "wait gave a reply of kind 9");
  tutti_executor_destroy(executor);
  setup_of.workers = 0;
  kinds_must_fail(tutti_executor_create(toy.context, toy.host, "executor", &setup_of, &executor), TUTTI_ERROR_INTERNAL,
                  "an executor needs workers");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, kinds_close)
int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_builder_ask), TEST(test_builder_adopt), TEST(test_trial_seed), TEST(test_selector), TEST(test_executor),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
