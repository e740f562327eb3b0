/* Builder smbo-ensemble: bootstraps take turns, every history gets every trial's risk on its own bootstrap. */
#include "golden.h"
#include "pools.h"
#include "toy.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <tutti/bootstraps.h>

enum { TRIALS = 24, ROWS = 30, BOOTSTRAPS = 4, INITIAL = 6 };

/* Model of trial t is the t-th of a random pool. */
static struct pools_models models;

static enum tutti_status give_pool(void *argument, tutti_context *context, const char *split, size_t count,
                                   const uint64_t *trials, struct tutti_pool *pool) {
  (void)argument, (void)context;
  assert_string_equal(split, "validation");
  assert_int_equal(count, 1);
  *pool = models.pool;
  pool->models = 1;
  pool->predictions += trials[0];
  pool->trials += trials[0];
  pool->losses += trials[0];
  return TUTTI_OK;
}

static void release_pool(void *argument, struct tutti_pool *pool) { (void)argument, (void)pool; }

static tutti_builder *make(struct toy *toy) {
  struct tutti_builder_setup setup = {.size = sizeof(setup), .host = toy->host};
  tutti_builder *builder;
  TOY_OK(toy, tutti_builder_create(toy->context, toy->host, "builder", &setup, &builder));
  return builder;
}

static void begin(struct toy *toy, const char *loss) {
  struct tutti_random random;
  tutti_random_init(&random, 3, "test", 0);
  pools_random_values(&models, &random, TRIALS, ROWS, 1);
  toy_create(toy, 5, 1, 1, "x = uniform 0 1\ny = uniform 0 1");
  toy->facts.pool = give_pool;
  toy->facts.pool_release = release_pool;
  toy->task.kind = TUTTI_TASK_REGRESSION;
  toy->task.head = TUTTI_OP_HEAD_GAUSSIAN;
  tutti_host_set_facts(toy->host, &toy->facts);
  toy_put(toy, "builder", TUTTI_KIND_BUILDER, "smbo-ensemble");
  toy_set(toy, "builder", "bootstraps", "4");
  toy_set(toy, "builder", "share", "0.5");
  toy_set(toy, "builder", "initial", "6");
  toy_set(toy, "builder", "loss", loss);
  toy_set(toy, "maximiser", "points", "100");
  toy_set(toy, "maximiser", "starts", "2");
}

static bool fails(uint64_t trial) { return trial == 5 || trial == 17; }

/* The least risk on each bootstrap over the trials that finished, from the pool as a whole. */
static void plain_best(enum tutti_loss loss, uint64_t seed, double best[BOOTSTRAPS]) {
  tutti_context *context;
  tutti_bootstraps *bootstraps;
  double losses[ROWS], risks[BOOTSTRAPS];
  assert_int_equal(tutti_context_create(&context), TUTTI_OK);
  assert_int_equal(tutti_bootstraps_create(context, BOOTSTRAPS, ROWS, ROWS / 2, seed, &bootstraps), TUTTI_OK);
  for (size_t k = 0; k < BOOTSTRAPS; k++)
    best[k] = INFINITY;
  for (uint64_t trial = 0; trial < TRIALS; trial++) {
    struct tutti_predictions predictions = {.size = sizeof predictions};
    struct tutti_targets targets = {.size = sizeof targets};
    tutti_pool_predictions(&models.pool, trial, &predictions);
    tutti_pool_targets(&models.pool, &targets);
    assert_true(tutti_row_losses(loss, &predictions, &targets, losses));
    tutti_bootstraps_risks(bootstraps, losses, risks);
    for (size_t k = 0; k < BOOTSTRAPS && !fails(trial); k++)
      best[k] = fmin(best[k], risks[k]);
  }
  tutti_bootstraps_destroy(bootstraps);
  tutti_context_destroy(context);
}

static void check_search(const char *name, enum tutti_loss loss) {
  struct toy toy;
  char *json, origin[64];
  double best[BOOTSTRAPS];
  begin(&toy, name);
  tutti_builder *builder = make(&toy);
  for (uint64_t trial = 0; trial < TRIALS; trial++) {
    struct tutti_proposal proposal = {.size = sizeof(proposal)};
    TOY_OK(&toy, tutti_builder_ask(toy.context, builder, trial, &proposal));
    (void)snprintf(origin, sizeof origin, trial < INITIAL ? "design" : "bootstrap %d, ", (int)(trial % BOOTSTRAPS));
    assert_true(strncmp(proposal.origin, origin, strlen(origin)) == 0);
    struct tutti_result result = {.size = sizeof(result),
                                  .trial = trial,
                                  .candidate = proposal.candidate,
                                  .state = fails(trial) ? TUTTI_STATE_FAILED : TUTTI_STATE_FINISHED,
                                  .loss = fails(trial) ? NAN : 1,
                                  .failure = ""};
    TOY_OK(&toy, tutti_builder_tell(toy.context, builder, &result));
    tutti_candidate_unref(proposal.candidate);
  }
  TOY_OK(&toy, tutti_builder_describe(toy.context, builder, &json));
  json_t *state = json_loads(json, 0, NULL);
  plain_best(loss, tutti_host_seed(toy.host), best);
  assert_int_equal(golden_number_of(state, "observed"), TRIALS); /* failures count as the worst */
  for (size_t k = 0; k < BOOTSTRAPS; k++)
    assert_close(golden_number(golden_at(golden_get(state, "best_of_bootstraps"), k)), best[k], 1e-13, 0);
  json_decref(state);
  tutti_free(json);
  tutti_builder_destroy(builder);
  toy_destroy(&toy);
  pools_free(&models);
}

static void test_every_history_has_its_own_risks(void **state) {
  (void)state;
  check_search("auto", TUTTI_LOSS_NLL);
  check_search("mse", TUTTI_LOSS_MSE);
}

static void refused(const char *loss, enum tutti_task_kind kind, enum tutti_status expected, const char *message) {
  struct toy toy;
  tutti_builder *builder = NULL;
  begin(&toy, loss);
  toy.task.kind = kind;
  struct tutti_builder_setup setup = {.size = sizeof(setup), .host = toy.host};
  assert_int_equal(tutti_builder_create(toy.context, toy.host, "builder", &setup, &builder), expected);
  if (!strstr(tutti_error_message(toy.context), message))
    fail_msg("\"%s\" lacks \"%s\"", tutti_error_message(toy.context), message);
  toy_destroy(&toy);
  pools_free(&models);
}

static void test_what_cannot_work_is_refused(void **state) {
  (void)state;
  refused("error", TUTTI_TASK_REGRESSION, TUTTI_ERROR_USAGE, "loss: error is not defined");
  refused("auto", TUTTI_TASK_VALUE, TUTTI_ERROR_UNSUPPORTED, "this recipe has no data");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_history_has_its_own_risks),
      cmocka_unit_test(test_what_cannot_work_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
