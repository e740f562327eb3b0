/* manager.c - the manager at work: asks the builder, has trials trained, records results and tells them. */
#include "manager_impl.h"

#include "catalogue_write.h"
#include "core/base/json_impl.h"
#include "core/base/utf8_impl.h"
#include "run_inputs.h"
#include "run_rule.h"
#include "run_times.h"
#include "run_warm.h"
#include "trial_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/clock.h>
#include <unistd.h>

/* --- the catalogue --- */

static enum tutti_status change(struct tutti_manager *manager) {
  if (manager->changed)
    return TUTTI_OK;
  TUTTI_TRY(manager->context, tutti_catalogue_begin(manager->context, manager->catalogue));
  manager->changed = true;
  manager->unrecorded = tutti_clock();
  return TUTTI_OK;
}

double tutti_manager_clock(const struct tutti_manager *manager) {
  return manager->executor ? tutti_executor_clock(manager->executor) : tutti_clock() + manager->ahead;
}

double tutti_manager_worked(const struct tutti_manager *manager) {
  return manager->before + tutti_manager_clock(manager) - manager->began;
}

static void update_progress(struct tutti_manager *manager, enum tutti_phase phase) {
  struct tutti_run_progress *progress = &manager->progress;
  const struct tutti_history *history = &manager->history;
  progress->phase = phase;
  progress->asked = history->asked;
  progress->done = history->done;
  progress->failed = history->failed;
  progress->pruned = history->pruned;
  progress->seconds = tutti_manager_clock(manager) - manager->began;
  progress->worked = tutti_manager_worked(manager);
}

void tutti_manager_report(struct tutti_manager *manager, enum tutti_phase phase) {
  update_progress(manager, phase);
  if (manager->options->progress)
    manager->options->progress(manager->options->argument, &manager->progress);
}

/* The seconds that the run will still take: what is left of its time, or of its budget at the rate so far. */
static double seconds_left(const struct tutti_manager *manager) {
  const struct tutti_run_progress *progress = &manager->progress;
  double fresh = (double)(progress->done - progress->restored);
  double left = fmax(manager->run->time - progress->worked, 0);
  if (progress->budget > 0 && fresh > 0)
    left = fmin(left, (double)(progress->budget - progress->done) * progress->seconds / fresh);
  return left;
}

/* So that time is not lost when the manager dies: the clock of another session knows nothing of this one's. */
enum tutti_status tutti_manager_record_worked(struct tutti_manager *manager) {
  char text[40];
  double worked = tutti_manager_worked(manager);
  if (isinf(manager->run->time))
    return TUTTI_OK;
  manager->noted = worked;
  (void)snprintf(text, sizeof text, "%.3f", worked);
  return tutti_catalogue_set(manager->context, manager->catalogue, TUTTI_FACT_WORKED, text);
}

static enum tutti_status commit(struct tutti_manager *manager) {
  if (!manager->changed)
    return TUTTI_OK;
  double begin = tutti_clock();
  TUTTI_TRY(manager->context, tutti_manager_record_worked(manager));
  manager->changed = false;
  TUTTI_TRY(manager->context, tutti_catalogue_commit(manager->context, manager->catalogue));
  tutti_effort_add(&manager->effort, TUTTI_EFFORT_RECORD, begin);
  tutti_manager_report(manager, TUTTI_PHASE_SEARCH);
  return TUTTI_OK;
}

/* --- ask --- */

size_t tutti_manager_workers(const struct tutti_manager *manager) {
  int64_t wanted = manager->options->workers ? manager->options->workers : manager->run->workers;
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  return wanted > 0 ? (size_t)wanted : cores > 0 ? (size_t)cores : 1;
}

/* How a trial was stopped that is trained again since its files are torn, as its report says. */
static enum tutti_status recall_stop(struct tutti_manager *manager, const struct tutti_record *record, char **stop) {
  json_t *report = record->torn ? json_loads(record->report, 0, NULL) : NULL;
  json_t *stopped = json_object_get(report, "stopped");
  enum tutti_status status = TUTTI_OK;
  *stop = NULL;
  if (stopped)
    status = tutti_json_line(manager->context, json_incref(stopped), stop);
  json_decref(report);
  return status;
}

enum tutti_status tutti_manager_submit(struct tutti_manager *manager, uint64_t trial) {
  tutti_context *context = manager->context;
  const struct tutti_record *record = &manager->history.records[trial];
  enum tutti_status status = TUTTI_OK;
  char *candidate = NULL, *parent = NULL, *stop = NULL, *text = NULL;
  TUTTI_TRY_OUT(context, tutti_scope_print(context, manager->experiment->scope, record->candidate, &candidate));
  if (manager->warm)
    TUTTI_TRY_OUT(context, tutti_run_parent_print(context, &manager->history, trial, &parent));
  TUTTI_TRY_OUT(context, recall_stop(manager, record, &stop));
  const struct tutti_request request = {.trial = trial,
                                        .fingerprint = tutti_experiment_fingerprint(manager->experiment),
                                        .plugins = manager->experiment->plugins,
                                        .candidate = candidate,
                                        .rule = record->rule,
                                        .parent = parent,
                                        .stop = stop,
                                        .timed = manager->timed};
  TUTTI_TRY_OUT(context, tutti_request_print(context, &request, &text));
  TUTTI_TRY_OUT(context, tutti_executor_submit(context, manager->executor, trial, text));
out:
  tutti_free(candidate);
  tutti_free(parent);
  tutti_free(stop);
  tutti_free(text);
  return status;
}

static enum tutti_status record_asked(struct tutti_manager *manager, uint64_t trial) {
  tutti_context *context = manager->context;
  const struct tutti_record *record = &manager->history.records[trial];
  struct tutti_trial row = {.size = sizeof row,
                            .number = trial,
                            .parent = record->parent,
                            .origin = record->origin,
                            .asked_after = record->asked_after};
  char *candidate = NULL;
  enum tutti_status status = tutti_scope_print(context, manager->experiment->scope, record->candidate, &candidate);
  row.candidate = candidate;
  if (status == TUTTI_OK)
    status = change(manager);
  if (status == TUTTI_OK)
    status = tutti_catalogue_asked(context, manager->catalogue, &row);
  tutti_free(candidate);
  return status;
}

/* May the builder be asked? The window has room for a batch; or part of a batch has been asked for, which a resumed run
   goes on with. */
static bool may_ask(const struct tutti_manager *manager) {
  const struct tutti_history *history = &manager->history;
  uint64_t room = (uint64_t)manager->run->window - (history->asked - history->told);
  bool begun = history->asked > 0 && history->records[history->asked - 1].asked_after == history->told;
  return room >= (uint64_t)manager->run->batch || (begun && room > 0);
}

/* Is there budget and time for another trial? */
static bool has_means(const struct tutti_manager *manager) {
  const struct tutti_history *history = &manager->history;
  return (manager->run->budget == 0 || history->asked < (uint64_t)manager->run->budget) &&
         tutti_deadline_allows(&manager->deadline, tutti_manager_worked(manager), history->asked - history->done);
}

enum tutti_status tutti_manager_set_rule(struct tutti_manager *manager, uint64_t trial) {
  struct tutti_record *record = &manager->history.records[trial];
  if (!manager->pruner)
    return TUTTI_OK;
  tutti_free(record->rule);
  return tutti_run_rule_print(manager->context, manager->pruner, trial, &record->rule);
}

/* What is to be trained next: the builder's choice, or the next repeat of a fit, which has no builder. */
static enum tutti_status propose(struct tutti_manager *manager, uint64_t trial, struct tutti_proposal *proposal) {
  if (manager->builder)
    return tutti_builder_ask(manager->context, manager->builder, trial, proposal);
  (void)snprintf(proposal->origin, sizeof proposal->origin, "repeat");
  return tutti_scope_candidate(manager->context, manager->experiment->scope, NULL, NULL,
                               tutti_trial_seed(manager->experiment->facts.seed, trial), &proposal->candidate);
}

static bool is_exhausted(const struct tutti_manager *manager) {
  return manager->builder && tutti_builder_exhausted(manager->builder);
}

/* The cores that no trial keeps busy are the builder's while it answers: a search one by one trains its models on all
   of them. What it answers does not depend on their number. */
static void lend_threads(struct tutti_manager *manager) {
  const struct tutti_history *history = &manager->history;
  uint64_t workers = tutti_manager_workers(manager), busy = history->asked - history->done;
  tutti_threads_set(manager->context, workers > busy ? (unsigned)(workers - busy) : 1);
}

/* Fill the window. The requests depend only on what was told, so they are the same for any number of workers. */
enum tutti_status tutti_manager_ask(struct tutti_manager *manager) {
  tutti_context *context = manager->context;
  struct tutti_history *history = &manager->history;
  while (!manager->idle && may_ask(manager) && has_means(manager) && !is_exhausted(manager)) {
    struct tutti_proposal proposal = {.size = sizeof proposal, .parent = TUTTI_NO_TRIAL};
    uint64_t trial = history->asked;
    double begin = tutti_clock();
    lend_threads(manager);
    enum tutti_status proposed = propose(manager, trial, &proposal);
    tutti_threads_set(context, 1);
    TUTTI_TRY(context, proposed);
    if (!proposal.candidate) {
      manager->idle = true;
      break;
    }
    enum tutti_status status = tutti_history_add(context, history, &proposal);
    tutti_candidate_unref(proposal.candidate);
    TUTTI_TRY(context, status);
    TUTTI_TRY(context, record_asked(manager, trial));
    TUTTI_TRY(context, tutti_manager_set_rule(manager, trial));
    TUTTI_TRY(context, tutti_manager_submit(manager, trial));
    tutti_effort_add(&manager->effort, TUTTI_EFFORT_ASK, begin);
  }
  return TUTTI_OK;
}

/* --- tell --- */

enum tutti_status tutti_manager_tell(struct tutti_manager *manager, uint64_t trial) {
  struct tutti_history *history = &manager->history;
  struct tutti_record *record = &history->records[trial];
  struct tutti_result result = {.size = sizeof result,
                                .trial = trial,
                                .candidate = record->candidate,
                                .state = record->state,
                                .loss = record->state == TUTTI_STATE_FINISHED ? record->loss : NAN,
                                .seconds = record->seconds,
                                .failure = record->failure ? record->failure : "",
                                .last_loss = record->state == TUTTI_STATE_PRUNED ? record->loss : NAN};
  if (manager->pruner)
    TUTTI_TRY(manager->context, tutti_run_tell_pruner(manager->context, manager->pruner, trial, record));
  if (manager->builder)
    TUTTI_TRY(manager->context, tutti_builder_tell(manager->context, manager->builder, &result));
  record->told = history->told++;
  manager->idle = false;
  return TUTTI_OK;
}

/* The next result to tell, or TUTTI_NO_TRIAL. */
static uint64_t next_to_tell(const struct tutti_manager *manager) {
  const struct tutti_history *history = &manager->history;
  if (manager->run->order == TUTTI_ORDER_COMPLETION)
    return history->told < manager->arrived ? manager->queue[history->told] : TUTTI_NO_TRIAL;
  return history->told < history->asked && history->records[history->told].done ? history->told : TUTTI_NO_TRIAL;
}

enum tutti_status tutti_manager_arrive(struct tutti_manager *manager, uint64_t trial) {
  if (manager->arrived == manager->queue_room) {
    uint64_t room = manager->queue_room * 2 + 64;
    TUTTI_TRY(manager->context,
              tutti_realloc(manager->context, manager->arrived, room, sizeof *manager->queue, &manager->queue));
    manager->queue_room = room;
  }
  manager->queue[manager->arrived++] = trial;
  return TUTTI_OK;
}

static enum tutti_status tell_next(struct tutti_manager *manager, uint64_t trial) {
  double begin = tutti_clock();
  TUTTI_TRY(manager->context, tutti_manager_tell(manager, trial));
  TUTTI_TRY(manager->context, change(manager));
  TUTTI_TRY(manager->context,
            tutti_catalogue_told(manager->context, manager->catalogue, trial, manager->history.records[trial].told));
  tutti_effort_add(&manager->effort, TUTTI_EFFORT_TELL, begin);
  return TUTTI_OK;
}

/* Changes share a commit, but none waits for it longer than that: it is what a crash can cost. */
static bool is_due(const struct tutti_manager *manager) {
  static const double longest = 1;
  return manager->changed && tutti_clock() - manager->unrecorded > longest;
}

static enum tutti_status tell_and_ask(struct tutti_manager *manager) {
  uint64_t trial;
  TUTTI_TRY(manager->context, tutti_manager_ask(manager));
  while ((trial = next_to_tell(manager)) != TUTTI_NO_TRIAL) {
    if (is_due(manager))
      TUTTI_TRY(manager->context, commit(manager));
    TUTTI_TRY(manager->context, tell_next(manager, trial));
    TUTTI_TRY(manager->context, tutti_manager_ask(manager));
  }
  return TUTTI_OK;
}

/* --- results --- */

void tutti_manager_note_best(struct tutti_manager *manager, uint64_t trial) {
  const struct tutti_record *record = &manager->history.records[trial];
  if (record->state == TUTTI_STATE_FINISHED &&
      (isnan(manager->progress.best_loss) || record->loss < manager->progress.best_loss)) {
    manager->progress.best_loss = record->loss;
    manager->progress.best_trial = trial;
  }
}

static enum tutti_status facts_of(tutti_context *context, const struct tutti_reply *reply,
                                  struct tutti_reply_facts *facts) {
  if (reply->kind == TUTTI_REPLY_DONE)
    return tutti_reply_parse(context, reply->text, facts);
  *facts = (struct tutti_reply_facts){.state = TUTTI_STATE_FAILED, .loss = NAN, .seconds = reply->seconds};
  (void)snprintf(facts->failure, sizeof facts->failure, "%s", reply->text);
  tutti_text_mend(facts->failure);
  return tutti_strdup(context, "{}", &facts->report);
}

enum tutti_status tutti_manager_record(struct tutti_manager *manager, uint64_t trial) {
  const struct tutti_record *record = &manager->history.records[trial];
  struct tutti_trial row = {.size = sizeof row,
                            .number = trial,
                            .state = record->state,
                            .loss = record->loss,
                            .seconds = record->seconds,
                            .worker = record->worker,
                            .failure = record->failure ? record->failure : "",
                            .report = record->report,
                            .at = record->at};
  TUTTI_TRY(manager->context, change(manager));
  return tutti_catalogue_done(manager->context, manager->catalogue, &row);
}

/* A torn trial was trained again: what the builder was told stays, and so do when and by whom it was first trained. The
   new files should agree with it; if they do not, the report has to tell of them. */
static enum tutti_status take_repair(struct tutti_manager *manager, const struct tutti_reply *reply,
                                     struct tutti_reply_facts *facts) {
  struct tutti_record *record = &manager->history.records[reply->trial];
  bool same =
      facts->state == record->state && (facts->loss == record->loss || (isnan(facts->loss) && isnan(record->loss)));
  manager->progress.repaired++;
  record->torn = false;
  if (!same)
    tutti_log(manager->context, TUTTI_LOG_WARNING,
              "trial %" PRIu64
              " was trained again and its loss is %.17g, not %.17g as recorded: another machine or build?",
              reply->trial, facts->loss, record->loss);
  if (facts->state != record->state)
    return TUTTI_OK;
  TUTTI_TRY(manager->context, tutti_run_times_keep(manager->context, record->report, &facts->report));
  if (strcmp(facts->report, record->report) == 0)
    return TUTTI_OK;
  tutti_free(record->report);
  record->report = facts->report;
  facts->report = NULL;
  return tutti_manager_record(manager, reply->trial);
}

static enum tutti_status record_result(struct tutti_manager *manager, const struct tutti_reply *reply,
                                       struct tutti_reply_facts *facts) {
  tutti_context *context = manager->context;
  struct tutti_record *record = &manager->history.records[reply->trial];
  if (facts->failure[0])
    TUTTI_TRY(context, tutti_strdup(context, facts->failure, &record->failure));
  record->state = facts->state;
  record->loss = facts->loss;
  record->seconds = facts->seconds;
  record->worker = reply->worker;
  record->at = tutti_manager_worked(manager);
  record->report = facts->report;
  facts->report = NULL;
  record->done = true;
  tutti_free(record->rule);
  record->rule = NULL;
  manager->history.done++;
  manager->history.failed += facts->state == TUTTI_STATE_FAILED;
  manager->history.pruned += facts->state == TUTTI_STATE_PRUNED;
  if (facts->state == TUTTI_STATE_PRUNED)
    tutti_run_pruned_log(context, reply->trial, record->report);
  tutti_deadline_note(&manager->deadline, facts->seconds);
  tutti_manager_note_best(manager, reply->trial);
  TUTTI_TRY(context, tutti_manager_record(manager, reply->trial));
  return tutti_manager_arrive(manager, reply->trial);
}

/* What a lost worker cannot say itself, where its log ends. */
static enum tutti_status note_loss(struct tutti_manager *manager, const struct tutti_reply *reply, bool again) {
  char *line;
  TUTTI_TRY(manager->context,
            tutti_format(manager->context, &line, "tutti: worker %u, at trial %" PRIu64 " for %.3g s: %s%s\n",
                         (unsigned)reply->worker, reply->trial, reply->seconds, reply->text,
                         again ? "; the trial is tried again" : ""));
  enum tutti_status status = tutti_run_append_log(manager->context, manager->staged.directory, line, strlen(line));
  tutti_free(line);
  return status;
}

/* A worker that was lost for a damaged file of inputs is no trial's fault, and the next one would be lost, too. */
static enum tutti_status check_inputs(struct tutti_manager *manager, const struct tutti_reply *reply) {
  tutti_context *context = manager->context;
  if (reply->kind != TUTTI_REPLY_LOST)
    return TUTTI_OK;
  enum tutti_status status = tutti_run_inputs_check(context, manager->options->directory, manager->experiment->dataset);
  if (status != TUTTI_OK)
    status = TUTTI_FAIL(context, status,
                        "trial %" PRIu64 ": %s, and a file that workers map was changed: %s; go on with "
                        "--resume, which writes it anew",
                        reply->trial, reply->text, tutti_error_message(context));
  return status;
}

/* Try a trial again after its worker was lost, unless that happened too often; *again says whether. */
static enum tutti_status retry(struct tutti_manager *manager, const struct tutti_reply *reply, bool *again) {
  struct tutti_record *record = &manager->history.records[reply->trial];
  TUTTI_TRY(manager->context, check_inputs(manager, reply));
  *again = reply->kind == TUTTI_REPLY_LOST && !record->cancelled && record->lost++ < manager->run->retries;
  if (!record->cancelled && (reply->kind == TUTTI_REPLY_LOST || reply->kind == TUTTI_REPLY_TIMED_OUT))
    TUTTI_TRY(manager->context, note_loss(manager, reply, *again));
  if (!*again)
    return TUTTI_OK;
  tutti_log(manager->context, TUTTI_LOG_WARNING, "trial %" PRIu64 ": %s; it is tried again", reply->trial, reply->text);
  return tutti_manager_submit(manager, reply->trial);
}

/* What came of a cancelled trial: a result if it had ended by itself, and else the same words whatever became of its
   worker, so that a run has the same bits. */
static enum tutti_status cancelled_facts(tutti_context *context, struct tutti_reply_facts *facts) {
  if (facts->status != TUTTI_OK || facts->state == TUTTI_STATE_FINISHED)
    return TUTTI_OK;
  facts->state = TUTTI_STATE_FAILED;
  facts->loss = NAN;
  (void)snprintf(facts->failure, sizeof facts->failure, "%s", TUTTI_CANCELLED);
  tutti_free(facts->report);
  facts->report = NULL;
  return tutti_strdup(context, "{}", &facts->report);
}

enum tutti_status tutti_manager_fail_cancelled(struct tutti_manager *manager, uint64_t trial) {
  const struct tutti_reply reply = {.size = sizeof reply, .kind = TUTTI_REPLY_LOST, .trial = trial};
  struct tutti_reply_facts facts = {.status = TUTTI_OK, .state = TUTTI_STATE_FAILED, .loss = NAN};
  TUTTI_TRY(manager->context, cancelled_facts(manager->context, &facts));
  enum tutti_status status = record_result(manager, &reply, &facts);
  tutti_free(facts.report);
  return status;
}

static enum tutti_status take_reply(struct tutti_manager *manager, const struct tutti_reply *reply) {
  tutti_context *context = manager->context;
  struct tutti_reply_facts facts;
  bool again;
  tutti_live_note(&manager->live, tutti_manager_clock(manager), reply);
  if (reply->kind == TUTTI_REPLY_PROGRESS || reply->kind == TUTTI_REPLY_NONE)
    return TUTTI_OK;
  if (reply->trial >= manager->history.asked)
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN,
                      "executor %s gave a reply for trial %" PRIu64 ", which nobody asked for",
                      tutti_executor_descriptor(manager->executor)->name, reply->trial);
  TUTTI_TRY(context, retry(manager, reply, &again));
  if (again)
    return TUTTI_OK;
  TUTTI_TRY(context, facts_of(context, reply, &facts));
  enum tutti_status status = facts.status;
  if (manager->history.records[reply->trial].cancelled)
    status = cancelled_facts(context, &facts);
  if (status != TUTTI_OK)
    status = TUTTI_FAIL(context, status, "trial %" PRIu64 "%s%s: %s", reply->trial, reply->place ? " at " : "",
                        reply->place ? reply->place : "", facts.failure);
  else if (manager->history.records[reply->trial].done)
    status = take_repair(manager, reply, &facts);
  else
    status = record_result(manager, reply, &facts);
  tutti_free(facts.report);
  return status;
}

static enum tutti_status wait_for_reply(struct tutti_manager *manager, double timeout, struct tutti_reply *reply) {
  tutti_effort_end_step(&manager->effort);
  double begin = tutti_clock();
  TUTTI_TRY(manager->context, tutti_executor_wait(manager->context, manager->executor, timeout, reply));
  tutti_effort_add(&manager->effort, TUTTI_EFFORT_WAIT, begin);
  tutti_effort_begin_step(&manager->effort);
  return TUTTI_OK;
}

/* Wait for a reply, then take all others that have arrived: they share one commit. */
enum tutti_status tutti_manager_collect(struct tutti_manager *manager) {
  enum { MOST = 1024 };
  static const double tenth = 0.1;
  tutti_context *context = manager->context;
  const struct tutti_deadline *deadline = &manager->deadline;
  double worked = tutti_manager_worked(manager);
  /* Also the longest time that an interrupt can go unnoticed, or an epoch of a training that is to stop. */
  double timeout = fmax(fmin(tutti_deadline_left(deadline, worked), manager->stopping ? tenth : 1), 0);
  if (deadline->stops && !tutti_deadline_is_over(deadline, worked))
    timeout = fmin(timeout, tutti_deadline_until_over(deadline, worked));
  for (int i = 0; i < MOST; i++, timeout = 0) {
    struct tutti_reply reply = {.size = sizeof reply};
    TUTTI_TRY(context, wait_for_reply(manager, timeout, &reply));
    double begin = tutti_clock();
    enum tutti_status status = take_reply(manager, &reply);
    tutti_free(reply.text);
    tutti_effort_add(&manager->effort, TUTTI_EFFORT_REPLY, begin);
    TUTTI_TRY(context, status);
    if (tutti_cancelled(context))
      return TUTTI_FAIL(context, TUTTI_ERROR_CANCELLED, "interrupted");
    if (reply.kind == TUTTI_REPLY_NONE)
      break;
  }
  update_progress(manager, manager->progress.phase);
  double begin = tutti_clock();
  tutti_live_write(context, &manager->live, tutti_manager_clock(manager), manager->options->directory,
                   &manager->progress, seconds_left(manager));
  tutti_effort_add(&manager->effort, TUTTI_EFFORT_STATUS, begin);
  return TUTTI_OK;
}

/* --- search --- */

/* A run that has a time tries its end when half of it is over, to see how long that takes: what is chosen then is not
   kept. Twice as many trials will be there at the end, and a margin. */
static enum tutti_status rehearse(struct tutti_manager *manager) {
  static const double more = 2.5;
  struct tutti_history *history = &manager->history;
  double begin = tutti_clock();
  if (manager->rehearsed || isinf(manager->run->time) ||
      tutti_manager_worked(manager) < manager->before + (manager->run->time - manager->before) / 2 ||
      history->done == history->failed + history->pruned)
    return TUTTI_OK;
  manager->rehearsed = true;
  enum tutti_status status = tutti_run_rehearse(manager->context, &manager->pool, manager->experiment->host, history);
  if (status == TUTTI_ERROR_CANCELLED)
    return tutti_error_trace(manager->context, status, __FILE__, __LINE__, __func__);
  if (status != TUTTI_OK)
    tutti_error_clear(manager->context); /* at the end it may be otherwise */
  manager->deadline.finishing = more * (tutti_clock() - begin);
  return TUTTI_OK;
}

/* Have all trainings replied that were told to stop? Those that report no epochs may still end by themselves. */
static bool have_stopped(const struct tutti_manager *manager) {
  const struct tutti_live *live = &manager->live;
  for (size_t i = 0; i < live->workers * live->capacity; i++) {
    const struct tutti_live_place *place = &live->places[i];
    if (place->busy && (place->epochs == 0 || manager->history.records[place->trial].stopping))
      return false;
  }
  return true;
}

/* The trainings that are given up have no result, and are trained when the run goes on with a longer time. */
static bool is_over(const struct tutti_manager *manager) {
  return tutti_deadline_left(&manager->deadline, tutti_manager_worked(manager)) <= 0 ||
         (manager->stopping && have_stopped(manager));
}

/* When the time is over, let the trainings under way stop, if the recipe wants their results; each has until they are
   given up to get to the end of its epoch. One that has not told of an epoch yet is asked when it does. */
static enum tutti_status stop_rest(struct tutti_manager *manager) {
  static const char text[] = "{\"why\": \"run.time is over\", \"keep\": true}";
  const struct tutti_live *live = &manager->live;
  if (manager->run->unfinished != TUTTI_UNFINISHED_STOP ||
      !tutti_deadline_is_over(&manager->deadline, tutti_manager_worked(manager)))
    return TUTTI_OK;
  manager->stopping = true;
  uint64_t count = 0;
  for (size_t i = 0; i < live->workers * live->capacity; i++) {
    const struct tutti_live_place *place = &live->places[i];
    if (!place->busy || place->epochs == 0 || manager->history.records[place->trial].stopping)
      continue;
    manager->history.records[place->trial].stopping = true;
    count++;
    TUTTI_TRY(manager->context, tutti_executor_stop(manager->context, manager->executor, place->trial, text));
  }
  if (count > 0)
    tutti_log(manager->context, TUTTI_LOG_INFO,
              "run.time: %g s are over; trainings under way are told to stop with their epoch: %" PRIu64,
              manager->run->time, count);
  return TUTTI_OK;
}

/* While nothing is to be recorded, the time is, now and then. */
static enum tutti_status keep_time(struct tutti_manager *manager) {
  static const double share = 0.02;
  double unrecorded = tutti_manager_worked(manager) - manager->noted;
  bool due = isfinite(manager->run->time) && unrecorded > fmax(1, share * manager->run->time);
  return due ? tutti_manager_record_worked(manager) : TUTTI_OK;
}

static enum tutti_status step(struct tutti_manager *manager) {
  TUTTI_TRY(manager->context, commit(manager));
  TUTTI_TRY(manager->context, keep_time(manager));
  TUTTI_TRY(manager->context, rehearse(manager));
  TUTTI_TRY(manager->context, stop_rest(manager));
  TUTTI_TRY(manager->context, tutti_cancel_step(manager));
  TUTTI_TRY(manager->context, tutti_manager_collect(manager));
  return tell_and_ask(manager);
}

enum tutti_status tutti_manager_search(struct tutti_manager *manager) {
  tutti_context *context = manager->context;
  struct tutti_history *history = &manager->history;
  enum tutti_status status = tell_and_ask(manager);
  while (status == TUTTI_OK && history->told < history->asked && !is_over(manager))
    status = step(manager);
  if (manager->changed && status != TUTTI_ERROR_FULL) {
    /* However the search ended, keep the known results. */
    manager->changed = false;
    enum tutti_status kept = tutti_catalogue_commit(context, manager->catalogue);
    if (kept != TUTTI_OK)
      status = kept;
  }
  return status;
}
