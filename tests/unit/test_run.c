/* test_run.c - the manager: what it asks for, tells, records, and takes up again. Backend and executor are simulated,
   so that results come in the order and in the way that a test wants, at once. */
#include "core/base/json_impl.h"
#include "engine/run/run_impl.h"
#include "engine/run/trial_impl.h"
#include "simulated.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <tutti/catalogue.h>
#include <tutti/clock.h>
#include <tutti/registry.h>
#include <unistd.h>

/* --- a builder that writes down what happens to it ---------------------------------------------------------------- */

/* "a3" asked for trial 3, "t3" told it, "A3" adopted it; separated by blanks. */
static char diary[8192];
static uint64_t waits_after; /* it answers nothing for this trial until all before it were told; 0: never */
static uint64_t told_so_far;
static bool fails_at_ask;

static void note(char what, uint64_t trial) {
  size_t used = strlen(diary);
  (void)snprintf(diary + used, sizeof diary - used, "%s%c%" PRIu64, used ? " " : "", what, trial);
}

struct builder {
  const tutti_scope *scope;
  uint64_t seed;
};

static enum tutti_status create_builder(tutti_context *context, const void *config, const void *setup_, void **self) {
  const struct tutti_builder_setup *setup = setup_;
  struct builder *made;
  (void)config;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *made, &made));
  made->scope = tutti_host_scope(setup->host);
  made->seed = tutti_host_seed(setup->host);
  *self = made;
  return TUTTI_OK;
}

static enum tutti_status ask(void *self, tutti_context *context, uint64_t trial, struct tutti_proposal *proposal) {
  const struct builder *builder = self;
  struct tutti_random random;
  if (waits_after > 0 && trial == waits_after && told_so_far < waits_after)
    return TUTTI_OK;
  note('a', trial);
  if (fails_at_ask && trial == 3)
    return TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC, "the builder is at its wits' end");
  tutti_random_init(&random, builder->seed, "test", trial);
  (void)strcpy(proposal->origin, "a test");
  return tutti_scope_sample(context, builder->scope, &random, tutti_trial_seed(builder->seed, trial),
                            &proposal->candidate);
}

static char told_states[256];

static enum tutti_status tell(void *self, tutti_context *context, const struct tutti_result *result) {
  (void)self, (void)context;
  told_so_far++;
  note('t', result->trial);
  size_t used = strlen(told_states);
  (void)snprintf(told_states + used, sizeof told_states - used, "%.2s", tutti_state_name(result->state));
  return TUTTI_OK;
}

static enum tutti_status adopt(void *self, tutti_context *context, uint64_t trial,
                               const struct tutti_proposal *proposal) {
  (void)self, (void)context, (void)proposal;
  note('A', trial);
  return TUTTI_OK;
}

static const struct tutti_builder_ops builder_ops = {
    .size = sizeof builder_ops, .ask = ask, .tell = tell, .adopt = adopt};
static const struct tutti_descriptor builder = {TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_BUILDER, "diarist"),
                                                .version = "1",
                                                .summary = "A test's.",
                                                .source = "",
                                                .licence = "Apache-2.0",
                                                .params = TUTTI_NO_PARAMS,
                                                .create = create_builder,
                                                .destroy = tutti_free,
                                                .ops = &builder_ops};

/* --- runs --------------------------------------------------------------------------------------------------------- */

static struct tutti_run_progress last;
static uint64_t committed_when_waiting; /* trials in the catalogue at the last wait, -1 if that could not be read */

/* The clock of the runs here, which a test may set forward. */
static double ahead;
double tutti_clock(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec + ahead;
}

static int begin(void **state) {
  diary[0] = told_states[0] = '\0';
  waits_after = told_so_far = 0;
  fails_at_ask = false;
  last = (struct tutti_run_progress){.best_loss = NAN};
  return simulated_begin(state) || tutti_plugin_register(simulated_context, &builder) != TUTTI_OK;
}

static void see_progress(void *argument, const struct tutti_run_progress *progress) {
  (void)argument;
  last = *progress;
}

static enum tutti_status run_it(bool data, const char *more, bool resume) {
  struct tutti_run_options options = {.size = sizeof options,
                                      .directory = "run",
                                      .program = "/bin/the-program",
                                      .resume = resume,
                                      .progress = see_progress};
  char *summary, *text;
  diary[0] = told_states[0] = '\0';
  told_so_far = 0;
  SIMULATED_OK(tutti_format(simulated_context, &text, "[builder]\nplugin = diarist\n%s", more));
  tutti_recipe *recipe = simulated_load(simulated_recipe(data, text));
  tutti_free(text);
  enum tutti_status status = tutti_run(simulated_context, recipe, &options, &summary);
  tutti_free(summary);
  return status;
}

#define RUN(data, more, resume) SIMULATED_OK(run_it(data, more, resume))

/* --- how the executor answers ------------------------------------------------------------------------------------- */

static double loss_of(uint64_t trial) { return 10 + (trial * 7) % 5; }

static void done(tutti_context *context, uint64_t trial, struct tutti_reply *reply) {
  *reply = (struct tutti_reply){.size = sizeof *reply,
                                .kind = TUTTI_REPLY_DONE,
                                .trial = trial,
                                .text = simulated_reply(context, loss_of(trial))};
}

static enum tutti_status in_order(tutti_context *context, struct tutti_reply *reply) {
  done(context, simulated.trials[simulated.answered++], reply);
  return TUTTI_OK;
}

/* The last that was submitted first. */
static enum tutti_status from_behind(tutti_context *context, struct tutti_reply *reply) {
  size_t last_one = simulated.submitted - 1;
  uint64_t trial = simulated.trials[last_one];
  char *request = simulated.requests[last_one];
  for (size_t i = last_one; i > simulated.answered; i--) {
    simulated.trials[i] = simulated.trials[i - 1];
    simulated.requests[i] = simulated.requests[i - 1];
  }
  simulated.trials[simulated.answered] = trial;
  simulated.requests[simulated.answered++] = request;
  done(context, trial, reply);
  return TUTTI_OK;
}

static size_t times_lost;
static enum tutti_reply_kind how_lost;

/* Trial 2 loses its worker so many times. */
static enum tutti_status lose_two(tutti_context *context, struct tutti_reply *reply) {
  uint64_t trial = simulated.trials[simulated.answered++];
  done(context, trial, reply);
  if (trial != 2 || times_lost == 0)
    return TUTTI_OK;
  times_lost--;
  tutti_free(reply->text);
  reply->kind = how_lost;
  return tutti_strdup(context, "the worker is gone", &reply->text);
}

static enum tutti_status stranger(tutti_context *context, struct tutti_reply *reply) {
  simulated.answered++;
  done(context, simulated.submitted, reply);
  return TUTTI_OK;
}

/* Cancelled after four answers. */
static enum tutti_status cancel_after_four(tutti_context *context, struct tutti_reply *reply) {
  if (simulated.answered == 4) {
    tutti_cancel(context);
    return TUTTI_OK;
  }
  return from_behind(context, reply);
}

static enum tutti_status count_trial(void *argument, const struct tutti_trial *trial) {
  (void)trial;
  ++*(uint64_t *)argument;
  return TUTTI_OK;
}

/* What a manager that is killed now would leave behind. */
static enum tutti_status look_then_answer(tutti_context *context, struct tutti_reply *reply) {
  tutti_catalogue *catalogue;
  committed_when_waiting = 0;
  SIMULATED_OK(tutti_catalogue_open(context, "run/catalogue.sqlite", false, &catalogue));
  SIMULATED_OK(tutti_catalogue_visit(context, catalogue, count_trial, &committed_when_waiting));
  tutti_catalogue_close(catalogue);
  assert_true(committed_when_waiting >= simulated.submitted);
  return in_order(context, reply);
}

/* --- asking and telling ------------------------------------------------------------------------------------------- */

static void results_are_told_in_the_order_of_trials(void **state) {
  (void)state;
  simulated.wait = from_behind;
  RUN(false, "[run]\nbudget = 6\nwindow = 3\n", false);
  assert_string_equal(diary, "a0 a1 a2 t0 a3 t1 a4 t2 a5 t3 t4 t5");
  assert_int_equal(simulated.submitted, 6);
  assert_int_equal(last.done, 6);
  assert_int_equal(last.budget, 6);
}

static void or_as_they_come(void **state) {
  (void)state;
  simulated.wait = from_behind;
  RUN(false, "[run]\nbudget = 5\nwindow = 3\norder = completion\n", false);
  assert_string_equal(diary, "a0 a1 a2 t2 a3 t1 a4 t0 t4 t3");
}

static void batches_are_asked_for_together(void **state) {
  (void)state;
  simulated.wait = in_order;
  RUN(false, "[run]\nbudget = 6\nwindow = 4\nbatch = 2\n", false);
  assert_string_equal(diary, "a0 a1 a2 a3 t0 t1 a4 a5 t2 t3 t4 t5");
}

static void a_builder_that_waits_is_asked_again_after_a_result(void **state) {
  (void)state;
  simulated.wait = in_order;
  waits_after = 2;
  RUN(false, "[run]\nbudget = 4\nwindow = 4\n", false);
  assert_string_equal(diary, "a0 a1 t0 t1 a2 a3 t2 t3");
}

static void the_best_is_shown(void **state) {
  (void)state;
  simulated.wait = in_order;
  RUN(false, "[run]\nbudget = 9\nwindow = 2\n", false);
  assert_true(last.best_loss == 10); /* of 10 12 14 11 13 10 ...: the first of equals */
  assert_int_equal(last.best_trial, 0);
  json_t *summary;
  SIMULATED_OK(tutti_run_read_summary(simulated_context, "run", &summary));
  assert_int_equal(json_integer_value(json_object_get(json_object_get(summary, "best"), "trial")), 0);
  json_decref(summary);
}

static void what_was_asked_is_recorded_before_it_is_waited_for(void **state) {
  (void)state;
  simulated.wait = look_then_answer;
  RUN(false, "[run]\nbudget = 4\nwindow = 2\n", false);
  assert_true(committed_when_waiting == 4);
}

/* Each result takes 400 s of the clock. */
static enum tutti_status slowly(tutti_context *context, struct tutti_reply *reply) {
  ahead += 400;
  return in_order(context, reply);
}

static void after_its_time_a_run_asks_no_more(void **state) {
  (void)state;
  simulated.wait = slowly;
  RUN(false, "[run]\nbudget = 1000\nwindow = 1\ntime = 1000\n", false);
  assert_int_equal(last.asked, 3); /* at 0, 400 and 800 s */
  /* A second session has no time left. */
  RUN(false, "[run]\nbudget = 1000\nwindow = 1\ntime = 1000\n", true);
  assert_int_equal(last.asked, 3);
}

/* --- lost trials -------------------------------------------------------------------------------------------------- */

static size_t requests_of(uint64_t trial) {
  size_t count = 0;
  for (size_t i = 0; i < simulated.submitted; i++)
    count += simulated.trials[i] == trial;
  return count;
}

static void a_lost_trial_is_tried_again_as_often_as_it_may(void **state) {
  (void)state;
  simulated.wait = lose_two;
  how_lost = TUTTI_REPLY_LOST;
  times_lost = 2;
  RUN(false, "[run]\nbudget = 4\nretries = 2\n", false);
  assert_int_equal(requests_of(2), 3);
  assert_int_equal(last.failed, 0);
  assert_string_equal(told_states, "fifififi");
}

static void and_fails_after_that(void **state) {
  (void)state;
  simulated.wait = lose_two;
  how_lost = TUTTI_REPLY_LOST;
  times_lost = 3;
  RUN(false, "[run]\nbudget = 4\nretries = 2\n", false);
  assert_int_equal(requests_of(2), 3);
  assert_int_equal(last.failed, 1);
  assert_string_equal(told_states, "fififafi");
}

static void by_default_once(void **state) {
  (void)state;
  simulated.wait = lose_two;
  how_lost = TUTTI_REPLY_LOST;
  times_lost = 9;
  RUN(false, "[run]\nbudget = 4\n", false);
  assert_int_equal(requests_of(2), 2);
}

static void a_trial_that_took_too_long_is_not_tried_again(void **state) {
  (void)state;
  simulated.wait = lose_two;
  how_lost = TUTTI_REPLY_TIMED_OUT;
  times_lost = 1;
  RUN(false, "[run]\nbudget = 4\nretries = 5\n", false);
  assert_int_equal(requests_of(2), 1);
  assert_int_equal(last.failed, 1);
  json_t *summary, *failure;
  SIMULATED_OK(tutti_run_read_summary(simulated_context, "run", &summary));
  failure = json_object_get(json_object_get(summary, "trials"), "failure");
  assert_string_equal(json_string_value(json_object_get(failure, "text")), "the worker is gone");
  json_decref(summary);
}

static void a_reply_that_nobody_asked_for_is_the_executors_error(void **state) {
  (void)state;
  simulated.wait = stranger;
  assert_int_equal(run_it(false, "[run]\nbudget = 1\n", false), TUTTI_ERROR_PLUGIN);
  assert_non_null(strstr(tutti_error_message(simulated_context), "trial 1, which nobody asked for"));
}

/* --- going on ----------------------------------------------------------------------------------------------------- */

static void a_run_goes_on_where_it_was(void **state) {
  static const char recipe[] = "[run]\nbudget = 8\nwindow = 4\n";
  (void)state;
  /* Answered are 3, 2, 1, 0, all but the first too early to be told; then the run is stopped. */
  simulated.wait = cancel_after_four;
  assert_int_equal(run_it(false, recipe, false), TUTTI_ERROR_CANCELLED);
  assert_string_equal(diary, "a0 a1 a2 a3 t0 a4 t1 a5 t2 a6 t3 a7");
  tutti_context_destroy(simulated_context);
  size_t before = simulated.submitted;
  assert_int_equal(before, 8);
  assert_int_equal(chdir("."), 0);
  /* A new manager has a new context. */
  assert_int_equal(tutti_context_create(&simulated_context), TUTTI_OK);
  simulated_register();
  SIMULATED_OK(tutti_plugin_register(simulated_context, &builder));
  simulated.wait = in_order;
  simulated.answered = simulated.submitted;
  RUN(false, recipe, true);
  assert_string_equal(diary, "A0 A1 A2 A3 t0 A4 t1 A5 t2 A6 t3 A7 t4 t5 t6 t7");
  /* Only what has no result was trained again. */
  assert_int_equal(simulated.submitted - before, 4);
  assert_int_equal(simulated.trials[before], 4);
  assert_int_equal(last.restored, 4);
  assert_int_equal(last.done, 8);
}

static enum tutti_status cancel_after_two(tutti_context *context, struct tutti_reply *reply) {
  if (simulated.answered == 2) {
    tutti_cancel(context);
    return TUTTI_OK;
  }
  return from_behind(context, reply);
}

static void results_that_were_not_told_yet_are_told_later(void **state) {
  static const char recipe[] = "[run]\nbudget = 5\nwindow = 4\n";
  (void)state;
  simulated.wait = cancel_after_two; /* 3 and 2 have arrived, 0 is waited for */
  assert_int_equal(run_it(false, recipe, false), TUTTI_ERROR_CANCELLED);
  assert_string_equal(diary, "a0 a1 a2 a3");
  tutti_context_destroy(simulated_context);
  assert_int_equal(tutti_context_create(&simulated_context), TUTTI_OK);
  simulated_register();
  SIMULATED_OK(tutti_plugin_register(simulated_context, &builder));
  simulated.wait = in_order;
  simulated.answered = simulated.submitted;
  size_t before = simulated.submitted;
  RUN(false, recipe, true);
  assert_string_equal(diary, "A0 A1 A2 A3 t0 a4 t1 t2 t3 t4");
  assert_int_equal(simulated.submitted - before, 3); /* 0, 1 and 4 */
  assert_int_equal(last.done, 5);
}

static void results_are_kept_when_the_builder_fails(void **state) {
  static const char recipe[] = "[run]\nbudget = 5\nwindow = 1\n";
  (void)state;
  simulated.wait = in_order;
  fails_at_ask = true;
  assert_int_equal(run_it(false, recipe, false), TUTTI_ERROR_NUMERIC);
  size_t before = simulated.submitted;
  fails_at_ask = false;
  RUN(false, recipe, true);
  assert_string_equal(diary, "A0 t0 A1 t1 A2 t2 a3 t3 a4 t4");
  assert_int_equal(simulated.submitted - before, 2);
}

static void a_directory_with_a_run_is_not_begun_anew(void **state) {
  (void)state;
  simulated.wait = in_order;
  RUN(false, "[run]\nbudget = 2\n", false);
  assert_int_equal(run_it(false, "[run]\nbudget = 2\n", false), TUTTI_ERROR_USAGE);
  assert_non_null(strstr(tutti_error_message(simulated_context), "already holds a run"));
  assert_int_equal(run_it(false, "[run]\nbudget = 2\nseed = 9\n", true), TUTTI_ERROR_USAGE);
  assert_non_null(strstr(tutti_error_message(simulated_context), "holds another run"));
}

/* --- what the executor is made with ------------------------------------------------------------------------------- */

static void workers_get_the_recipes_limits(void **state) {
  (void)state;
  simulated.wait = in_order;
  RUN(false, "[run]\nbudget = 1\nworkers = 3\ntrial_timeout = 12.5\nmemory_limit = 100\nplugin_path = more\n", false);
  assert_int_equal(simulated.workers, 3);
  assert_true(simulated.trial_timeout == 12.5);
  assert_true(simulated.memory_limit == UINT64_C(100) << 20);
  assert_string_equal(simulated.command[0], "/bin/the-program");
  assert_string_equal(simulated.command[1], "worker");
  assert_string_equal(simulated.command[2], "run");
  assert_non_null(strstr(simulated.command[3], "/more"));
}

/* --- with data: what is chosen, and on which rows ----------------------------------------------------------------- */

static struct tutti_experiment *experiment;

/* A worker in this process. */
static enum tutti_status train_here(tutti_context *context, struct tutti_reply *reply) {
  struct tutti_training training = {0};
  struct tutti_unsent unsent;
  uint64_t trial = simulated.trials[simulated.answered];
  const char *request = simulated.requests[simulated.answered++];
  enum tutti_status status;
  if (!experiment) {
    tutti_recipe *recipe;
    SIMULATED_OK(tutti_recipe_load_recorded(context, "run/recipe.ini", 0, NULL, &recipe));
    SIMULATED_OK(tutti_experiment_create(context, recipe, &experiment));
  }
  status = tutti_training_begin(context, experiment, ".", request, &training);
  if (status == TUTTI_OK)
    status = tutti_backend_train(context, experiment->backend, &training.job, &training.outcome);
  *reply = (struct tutti_reply){
      .size = sizeof *reply, .kind = TUTTI_REPLY_DONE, .trial = trial, .worker = (uint32_t)simulated.answered - 1};
  SIMULATED_OK(tutti_training_reply_begin(context, experiment, "run", status, &training, &unsent));
  SIMULATED_OK(tutti_training_reply_end(context, &unsent, &reply->text));
  tutti_training_end(&training);
  return TUTTI_OK;
}

/* Finished trials of a number have no result. */
static enum tutti_status fail_the_third(tutti_context *context, const struct tutti_job *job,
                                        struct tutti_outcome *outcome) {
  (void)context;
  if (job->trial == 2) {
    outcome->state = TUTTI_STATE_FAILED;
    (void)strcpy(outcome->failure, "on purpose");
  }
  return TUTTI_OK;
}

/* The mean loss of a model on a split, from its file and the rows' targets. */
static double loss_on(const char *split, uint64_t trial) {
  struct tutti_npy predicted, targets;
  char path[64];
  double sum = 0;
  (void)snprintf(path, sizeof path, "run/trials/%06" PRIu64 "/%s.npy", trial, split);
  SIMULATED_OK(tutti_npy_map(simulated_context, path, &predicted));
  (void)snprintf(path, sizeof path, "run/splits/%s-targets.npy", split);
  SIMULATED_OK(tutti_npy_map(simulated_context, path, &targets));
  for (size_t i = 0; i < targets.count; i++) {
    const float *moments = (const float *)predicted.data + 2 * i;
    double error = ((const double *)targets.data)[i] - (double)moments[0], variance = (double)moments[1];
    sum += 0.5 * error * error / variance + 0.5 * log(2 * M_PI * variance);
  }
  sum /= (double)targets.count;
  tutti_npy_unmap(&predicted);
  tutti_npy_unmap(&targets);
  return sum;
}

static void the_ensemble_is_chosen_on_validation_rows(void **state) {
  enum { TRIALS = 9 };
  uint64_t best = TUTTI_NO_TRIAL, best_on_test = TUTTI_NO_TRIAL;
  (void)state;
  simulated_table();
  simulated.wait = train_here;
  simulated.train = fail_the_third;
  experiment = NULL;
  RUN(true, "[run]\nbudget = 9\nseed = 4\n[selector]\nplugin = top-m\nsize = 1\n", false);
  tutti_experiment_destroy(experiment);
  for (uint64_t i = 0; i < TRIALS; i++) {
    if (i == 2)
      continue;
    best = best == TUTTI_NO_TRIAL || loss_on("validation", i) < loss_on("validation", best) ? i : best;
    best_on_test =
        best_on_test == TUTTI_NO_TRIAL || loss_on("test", i) < loss_on("test", best_on_test) ? i : best_on_test;
  }
  assert_int_not_equal(best, best_on_test); /* or nothing is tested */
  json_t *summary, *ensemble;
  SIMULATED_OK(tutti_run_read_summary(simulated_context, "run", &summary));
  ensemble = json_object_get(summary, "ensemble");
  assert_int_equal(json_array_size(json_object_get(ensemble, "members")), 1);
  assert_int_equal(
      json_integer_value(json_object_get(json_array_get(json_object_get(ensemble, "members"), 0), "trial")), best);
  /* Its metrics are of the rows that they are said to be of. */
  size_t i, k;
  json_t *part, *metric;
  json_array_foreach(json_object_get(summary, "evaluation"), i, part) {
    const char *split = json_string_value(json_object_get(part, "split"));
    json_array_foreach(json_object_get(part, "metrics"), k, metric) {
      if (strcmp(json_string_value(json_object_get(metric, "name")), "nll") == 0)
        assert_true(fabs(json_number_value(json_object_get(metric, "value")) - loss_on(split, best)) < 1e-6);
    }
  }
  assert_int_equal(json_array_size(json_object_get(summary, "evaluation")), 2);
  json_decref(summary);
}

/* All members, and no trial that failed. */
static void every_finished_trial_may_be_a_member(void **state) {
  (void)state;
  simulated_table();
  simulated.wait = train_here;
  simulated.train = fail_the_third;
  experiment = NULL;
  RUN(true, "[run]\nbudget = 6\n[selector]\nplugin = all\n", false);
  tutti_experiment_destroy(experiment);
  json_t *summary, *members;
  SIMULATED_OK(tutti_run_read_summary(simulated_context, "run", &summary));
  members = json_object_get(json_object_get(summary, "ensemble"), "members");
  assert_int_equal(json_array_size(members), 5);
  for (size_t i = 0; i < 5; i++)
    assert_int_equal(json_integer_value(json_object_get(json_array_get(members, i), "trial")), i < 2 ? i : i + 1);
  json_decref(summary);
}

static void a_torn_file_is_made_again_and_told_once(void **state) {
  static const char recipe[] = "[run]\nbudget = 3\n[selector]\nplugin = all\n";
  (void)state;
  simulated_table();
  simulated.wait = train_here;
  experiment = NULL;
  RUN(true, recipe, false);
  simulated_write("run/trials/000001/test.npy", "torn");
  size_t before = simulated.submitted;
  RUN(true, recipe, true);
  assert_string_equal(diary, "A0 A1 A2 t0 t1 t2");
  assert_int_equal(simulated.submitted - before, 1);
  assert_int_equal(last.repaired, 1);
  assert_int_equal(last.done, 3);
  assert_true(isfinite(loss_on("test", 1)));
  tutti_experiment_destroy(experiment);
}

struct seen_trial {
  uint64_t number;
  uint32_t worker;
  double at, seconds;
  char *report;
};

static enum tutti_status see_trial(void *argument, const struct tutti_trial *trial) {
  struct seen_trial *seen = argument;
  if (trial->number == seen->number) {
    seen->worker = trial->worker;
    seen->at = trial->at;
    seen->seconds = trial->seconds;
    seen->report = strdup(trial->report);
  }
  return TUTTI_OK;
}

static struct seen_trial trial_in_catalogue(uint64_t number) {
  struct seen_trial seen = {.number = number};
  tutti_catalogue *catalogue;
  SIMULATED_OK(tutti_catalogue_open(simulated_context, "run/catalogue.sqlite", false, &catalogue));
  SIMULATED_OK(tutti_catalogue_visit(simulated_context, catalogue, see_trial, &seen));
  tutti_catalogue_close(catalogue);
  return seen;
}

/* Of a trial that was trained twice: when, how long and by whom are all of the first training. */
static void a_trial_that_was_made_again_keeps_who_made_it_when(void **state) {
  static const char recipe[] = "[run]\nbudget = 3\n[selector]\nplugin = all\n";
  (void)state;
  simulated_table();
  simulated.wait = train_here;
  experiment = NULL;
  RUN(true, recipe, false);
  struct seen_trial before = trial_in_catalogue(1);
  assert_int_equal(before.worker, 1);
  simulated_write("run/trials/000001/test.npy", "torn");
  simulated.variance += 1; /* the new files differ, so that the trial is recorded again */
  RUN(true, recipe, true);
  assert_int_equal(last.repaired, 1);
  struct seen_trial after = trial_in_catalogue(1);
  assert_string_not_equal(after.report, before.report);
  assert_int_equal(after.worker, before.worker);
  assert_true(after.at == before.at && after.seconds == before.seconds);
  free(before.report);
  free(after.report);
  tutti_experiment_destroy(experiment);
}

static void other_data_are_refused(void **state) {
  static const char recipe[] = "[run]\nbudget = 3\n[selector]\nplugin = all\n";
  (void)state;
  simulated_table();
  simulated.wait = train_here;
  experiment = NULL;
  RUN(true, recipe, false);
  tutti_experiment_destroy(experiment);
  assert_int_equal(system("sed -i '24s/,/,1/' table.csv"), 0); /* a test row */
  assert_int_equal(run_it(true, recipe, true), TUTTI_ERROR_USAGE);
  assert_non_null(strstr(tutti_error_message(simulated_context), "the data have changed"));
}

static void failures_that_differ_by_numbers_are_one(void **state) {
  (void)state;
  static char *const texts[] = {
      "the loss is inf in epoch 3, after 1e+02 steps", NULL,
      "the loss is nan in epoch 3, after 100 steps",   "the loss is inf in epoch 12, after 7 steps",
      "the loss is inf in epoch 3, after 1e+02 steps", "the loss is inf in epoch 3"};
  struct tutti_record records[6] = {0};
  struct tutti_history history = {.records = records, .asked = 6, .done = 6, .failed = 5};
  json_t *failures;
  tutti_context *context;
  assert_int_equal(tutti_context_create(&context), TUTTI_OK);
  for (size_t i = 0; i < 6; i++)
    records[i].failure = texts[i];
  assert_int_equal(tutti_history_failures(context, &history, &failures), TUTTI_OK);
  json_t *expected =
      json_pack("[{s:i, s:i, s:s}, {s:i, s:i, s:s}, {s:i, s:i, s:s}]", "count", 3, "others", 1, "text", texts[0],
                "count", 1, "others", 0, "text", texts[5], "count", 1, "others", 0, "text", texts[2]);
  assert_true(json_equal(failures, expected));
  assert_int_equal(tutti_history_nothing(context, &history), TUTTI_ERROR_NUMERIC);
  assert_non_null(strstr(tutti_error_message(context), "3 trials: the loss is inf in epoch 3, after 1e+02 steps (1 of "
                                                       "them with other numbers); 1 trial: "));
  json_decref(expected);
  json_decref(failures);
  tutti_context_destroy(context);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, simulated_end)
  const struct CMUnitTest tests[] = {
      TEST(results_are_told_in_the_order_of_trials),
      TEST(or_as_they_come),
      TEST(batches_are_asked_for_together),
      TEST(a_builder_that_waits_is_asked_again_after_a_result),
      TEST(the_best_is_shown),
      TEST(what_was_asked_is_recorded_before_it_is_waited_for),
      TEST(after_its_time_a_run_asks_no_more),
      TEST(a_lost_trial_is_tried_again_as_often_as_it_may),
      TEST(and_fails_after_that),
      TEST(by_default_once),
      TEST(a_trial_that_took_too_long_is_not_tried_again),
      TEST(a_reply_that_nobody_asked_for_is_the_executors_error),
      TEST(a_run_goes_on_where_it_was),
      TEST(results_that_were_not_told_yet_are_told_later),
      TEST(results_are_kept_when_the_builder_fails),
      TEST(a_directory_with_a_run_is_not_begun_anew),
      TEST(workers_get_the_recipes_limits),
      TEST(the_ensemble_is_chosen_on_validation_rows),
      TEST(every_finished_trial_may_be_a_member),
      TEST(a_torn_file_is_made_again_and_told_once),
      TEST(a_trial_that_was_made_again_keeps_who_made_it_when),
      TEST(other_data_are_refused),
      TEST(failures_that_differ_by_numbers_are_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
