/* run.c - the manager: asks the builder, has trials trained, records results and tells them; stops and resumes. */
#include "catalogue_write.h"
#include "run_impl.h"

#include "core/base/file_impl.h"
#include "engine/data/cells_impl.h"
#include "record_impl.h"
#include "trial_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tutti/clock.h>
#include <unistd.h>

struct manager {
  tutti_context *context;
  const struct tutti_run_options *options;
  const struct tutti_run_config *run;
  struct tutti_experiment *experiment;
  struct tutti_run_pool pool;
  tutti_catalogue *catalogue;
  tutti_builder *builder;
  tutti_executor *executor;
  const char *command[5]; /* that starts a worker; ends with NULL */
  struct tutti_history history;
  int lock;
  bool changed;     /* something waits for a commit */
  bool regrown;     /* a fit goes on with another number of repeats than it was recorded with */
  bool idle;        /* the builder answered "nothing" since the last result was told */
  uint64_t *queue;  /* results to tell in order of completion: [asked] */
  uint64_t arrived; /* ... how many came */
  uint64_t queue_room;
  struct tutti_run_progress progress;
  double began, before; /* the clock at the start; seconds of work of the run's earlier sessions */
};

enum order { ORDER_TRIAL, ORDER_COMPLETION };

/* --- the catalogue --- */

static enum tutti_status change(struct manager *manager) {
  if (!manager->changed)
    TUTTI_TRY(manager->context, tutti_catalogue_begin(manager->context, manager->catalogue));
  manager->changed = true;
  return TUTTI_OK;
}

static void report_progress(struct manager *manager, enum tutti_phase phase) {
  struct tutti_run_progress *progress = &manager->progress;
  const struct tutti_history *history = &manager->history;
  if (!manager->options->progress)
    return;
  progress->phase = phase;
  progress->asked = history->asked;
  progress->done = history->done;
  progress->failed = history->failed;
  progress->seconds = tutti_clock() - manager->began;
  manager->options->progress(manager->options->argument, progress);
}

static enum tutti_status commit(struct manager *manager) {
  if (!manager->changed)
    return TUTTI_OK;
  manager->changed = false;
  TUTTI_TRY(manager->context, tutti_catalogue_commit(manager->context, manager->catalogue));
  report_progress(manager, TUTTI_PHASE_SEARCH);
  return TUTTI_OK;
}

/* --- ask --- */

static size_t worker_count(const struct manager *manager) {
  int64_t wanted = manager->options->workers ? manager->options->workers : manager->run->workers;
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  return wanted > 0 ? (size_t)wanted : cores > 0 ? (size_t)cores : 1;
}

static enum tutti_status submit(struct manager *manager, uint64_t trial) {
  tutti_context *context = manager->context;
  enum tutti_status status = TUTTI_OK;
  char *candidate = NULL, *request = NULL;
  TUTTI_TRY_OUT(context, tutti_scope_print(context, manager->experiment->scope,
                                           manager->history.records[trial].candidate, &candidate));
  TUTTI_TRY_OUT(context, tutti_request_print(context, trial, tutti_experiment_fingerprint(manager->experiment),
                                             candidate, &request));
  TUTTI_TRY_OUT(context, tutti_executor_submit(context, manager->executor, trial, request));
out:
  tutti_free(candidate);
  tutti_free(request);
  return status;
}

static enum tutti_status record_asked(struct manager *manager, uint64_t trial) {
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
static bool may_ask(const struct manager *manager) {
  const struct tutti_history *history = &manager->history;
  uint64_t room = (uint64_t)manager->run->window - (history->asked - history->told);
  bool begun = history->asked > 0 && history->records[history->asked - 1].asked_after == history->told;
  return room >= (uint64_t)manager->run->batch || (begun && room > 0);
}

/* Seconds of work of this run, over all its sessions up to the last result of each. */
static double worked(const struct manager *manager) { return manager->before + tutti_clock() - manager->began; }

static bool is_over(const struct manager *manager) {
  return isfinite(manager->run->time) && worked(manager) >= manager->run->time;
}

/* What is to be trained next: the builder's choice, or the next repeat of a fit, which has no builder. */
static enum tutti_status propose(struct manager *manager, uint64_t trial, struct tutti_proposal *proposal) {
  if (manager->builder)
    return tutti_builder_ask(manager->context, manager->builder, trial, proposal);
  (void)snprintf(proposal->origin, sizeof proposal->origin, "repeat");
  return tutti_scope_candidate(manager->context, manager->experiment->scope, NULL, NULL,
                               tutti_trial_seed(manager->experiment->facts.seed, trial), &proposal->candidate);
}

static bool is_exhausted(const struct manager *manager) {
  return manager->builder && tutti_builder_exhausted(manager->builder);
}

/* The cores that no trial keeps busy are the builder's while it answers: a search one by one trains its models on all
   of them. What it answers does not depend on their number. */
static void lend_threads(struct manager *manager) {
  const struct tutti_history *history = &manager->history;
  uint64_t workers = worker_count(manager), busy = history->asked - history->done;
  tutti_threads_set(manager->context, workers > busy ? (unsigned)(workers - busy) : 1);
}

/* Fill the window. The requests depend only on what was told, so they are the same for any number of workers. */
static enum tutti_status ask(struct manager *manager) {
  tutti_context *context = manager->context;
  struct tutti_history *history = &manager->history;
  while (!manager->idle && history->asked < (uint64_t)manager->run->budget && may_ask(manager) && !is_over(manager) &&
         !is_exhausted(manager)) {
    struct tutti_proposal proposal = {.size = sizeof proposal, .parent = TUTTI_NO_TRIAL};
    uint64_t trial = history->asked;
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
    TUTTI_TRY(context, submit(manager, trial));
  }
  return TUTTI_OK;
}

/* --- tell --- */

static enum tutti_status tell(struct manager *manager, uint64_t trial) {
  struct tutti_history *history = &manager->history;
  struct tutti_record *record = &history->records[trial];
  struct tutti_result result = {.size = sizeof result,
                                .trial = trial,
                                .candidate = record->candidate,
                                .state = record->state,
                                .loss = record->loss,
                                .seconds = record->seconds,
                                .failure = record->failure ? record->failure : ""};
  if (manager->builder)
    TUTTI_TRY(manager->context, tutti_builder_tell(manager->context, manager->builder, &result));
  record->told = history->told++;
  manager->idle = false;
  return TUTTI_OK;
}

/* The next result to tell, or TUTTI_NO_TRIAL. */
static uint64_t next_to_tell(const struct manager *manager) {
  const struct tutti_history *history = &manager->history;
  if (manager->run->order == ORDER_COMPLETION)
    return history->told < manager->arrived ? manager->queue[history->told] : TUTTI_NO_TRIAL;
  return history->told < history->asked && history->records[history->told].done ? history->told : TUTTI_NO_TRIAL;
}

static enum tutti_status arrive(struct manager *manager, uint64_t trial) {
  if (manager->arrived == manager->queue_room) {
    uint64_t room = manager->queue_room * 2 + 64;
    TUTTI_TRY(manager->context,
              tutti_realloc(manager->context, manager->arrived, room, sizeof *manager->queue, &manager->queue));
    manager->queue_room = room;
  }
  manager->queue[manager->arrived++] = trial;
  return TUTTI_OK;
}

static enum tutti_status tell_and_ask(struct manager *manager) {
  uint64_t trial;
  TUTTI_TRY(manager->context, ask(manager));
  while ((trial = next_to_tell(manager)) != TUTTI_NO_TRIAL) {
    TUTTI_TRY(manager->context, tell(manager, trial));
    TUTTI_TRY(manager->context, change(manager));
    TUTTI_TRY(manager->context,
              tutti_catalogue_told(manager->context, manager->catalogue, trial, manager->history.records[trial].told));
    TUTTI_TRY(manager->context, ask(manager));
  }
  return TUTTI_OK;
}

/* --- results --- */

static void note_best(struct manager *manager, uint64_t trial) {
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
  tutti_make_utf8(facts->failure);
  return tutti_strdup(context, "{}", &facts->report);
}

static enum tutti_status record_done(struct manager *manager, uint64_t trial, uint32_t worker) {
  const struct tutti_record *record = &manager->history.records[trial];
  struct tutti_trial row = {.size = sizeof row,
                            .number = trial,
                            .state = record->state,
                            .loss = record->loss,
                            .seconds = record->seconds,
                            .worker = worker,
                            .failure = record->failure ? record->failure : "",
                            .report = record->report,
                            .at = record->at};
  TUTTI_TRY(manager->context, change(manager));
  return tutti_catalogue_done(manager->context, manager->catalogue, &row);
}

/* A torn trial was trained again: what the builder was told stays. The new files should agree with it; if they do not,
   the report has to tell of them. */
static enum tutti_status take_repair(struct manager *manager, const struct tutti_reply *reply,
                                     struct tutti_reply_facts *facts) {
  struct tutti_record *record = &manager->history.records[reply->trial];
  bool same =
      facts->state == record->state && (facts->loss == record->loss || (isnan(facts->loss) && isnan(record->loss)));
  manager->progress.repaired++;
  if (!same)
    tutti_log(manager->context, TUTTI_LOG_WARNING,
              "trial %" PRIu64
              " was trained again and its loss is %.17g, not %.17g as recorded: another machine or build?",
              reply->trial, facts->loss, record->loss);
  if (facts->state != record->state || strcmp(facts->report, record->report) == 0)
    return TUTTI_OK;
  tutti_free(record->report);
  record->report = facts->report;
  facts->report = NULL;
  return record_done(manager, reply->trial, reply->worker);
}

static enum tutti_status record_result(struct manager *manager, const struct tutti_reply *reply,
                                       struct tutti_reply_facts *facts) {
  tutti_context *context = manager->context;
  struct tutti_record *record = &manager->history.records[reply->trial];
  if (facts->failure[0])
    TUTTI_TRY(context, tutti_strdup(context, facts->failure, &record->failure));
  record->state = facts->state;
  record->loss = facts->loss;
  record->seconds = facts->seconds;
  record->at = worked(manager);
  record->report = facts->report;
  facts->report = NULL;
  record->done = true;
  manager->history.done++;
  manager->history.failed += facts->state == TUTTI_STATE_FAILED;
  note_best(manager, reply->trial);
  TUTTI_TRY(context, record_done(manager, reply->trial, reply->worker));
  return arrive(manager, reply->trial);
}

/* Try a trial again after its worker was lost, unless that happened too often; *again says whether. */
static enum tutti_status retry(struct manager *manager, const struct tutti_reply *reply, bool *again) {
  struct tutti_record *record = &manager->history.records[reply->trial];
  *again = reply->kind == TUTTI_REPLY_LOST && record->lost++ < manager->run->retries;
  if (!*again)
    return TUTTI_OK;
  tutti_log(manager->context, TUTTI_LOG_WARNING, "trial %" PRIu64 ": %s; it is tried again", reply->trial, reply->text);
  return submit(manager, reply->trial);
}

static enum tutti_status take_reply(struct manager *manager, const struct tutti_reply *reply) {
  tutti_context *context = manager->context;
  struct tutti_reply_facts facts;
  bool again;
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
  if (status != TUTTI_OK)
    status = TUTTI_FAIL(context, status, "trial %" PRIu64 ": %s", reply->trial, facts.failure);
  else if (manager->history.records[reply->trial].done)
    status = take_repair(manager, reply, &facts);
  else
    status = record_result(manager, reply, &facts);
  tutti_free(facts.report);
  return status;
}

/* Wait for a reply, then take all others that have arrived: they share one commit. */
static enum tutti_status collect(struct manager *manager) {
  enum { MOST = 64 };
  tutti_context *context = manager->context;
  double timeout = 1; /* also the longest time that an interrupt can go unnoticed */
  for (int i = 0; i < MOST; i++, timeout = 0) {
    struct tutti_reply reply = {.size = sizeof reply};
    TUTTI_TRY(context, tutti_executor_wait(context, manager->executor, timeout, &reply));
    enum tutti_status status = take_reply(manager, &reply);
    tutti_free(reply.text);
    TUTTI_TRY(context, status);
    if (tutti_cancelled(context))
      return TUTTI_FAIL(context, TUTTI_ERROR_CANCELLED, "interrupted");
    if (reply.kind == TUTTI_REPLY_NONE)
      break;
  }
  return TUTTI_OK;
}

/* --- search --- */

static enum tutti_status search(struct manager *manager) {
  tutti_context *context = manager->context;
  struct tutti_history *history = &manager->history;
  enum tutti_status status = tell_and_ask(manager);
  while (status == TUTTI_OK && history->told < history->asked) {
    status = commit(manager);
    if (status == TUTTI_OK)
      status = collect(manager);
    if (status == TUTTI_OK)
      status = tell_and_ask(manager);
  }
  if (manager->changed && status != TUTTI_ERROR_FULL) {
    /* However the search ended, keep the known results. */
    manager->changed = false;
    enum tutti_status kept = tutti_catalogue_commit(context, manager->catalogue);
    if (kept != TUTTI_OK)
      status = kept;
  }
  return status;
}

/* --- resume --- */

/* Train trials again whose files are missing or torn. */
static enum tutti_status repair(struct manager *manager) {
  tutti_context *context = manager->context;
  struct tutti_history *history = &manager->history;
  uint64_t wanted = 0;
  for (uint64_t i = 0; i < history->asked; i++) {
    char *why = NULL;
    if (history->records[i].done)
      TUTTI_TRY(context,
                tutti_record_check_report(context, manager->options->directory, i, history->records[i].report, &why));
    if (!why)
      continue;
    tutti_log(context, TUTTI_LOG_WARNING, "%s; trial %" PRIu64 " is trained again", why, i);
    tutti_free(why);
    TUTTI_TRY(context, submit(manager, i));
    wanted++;
  }
  while (manager->progress.repaired < wanted) {
    report_progress(manager, TUTTI_PHASE_REPAIR);
    TUTTI_TRY(context, collect(manager));
  }
  return tutti_run_compare_networks(context, &manager->pool);
}

/* Bring a fresh builder to the state of the recorded one: the same asks and tells, in the same order. */
static enum tutti_status replay(struct manager *manager) {
  tutti_context *context = manager->context;
  struct tutti_history *history = &manager->history;
  uint64_t *order = NULL, told = 0, recorded = history->told;
  enum tutti_status status = TUTTI_OK;
  TUTTI_TRY_OUT(context, tutti_alloc(context, recorded, sizeof *order, &order));
  for (uint64_t i = 0; i < history->asked; i++)
    if (history->records[i].told < recorded)
      order[history->records[i].told] = i;
  history->told = 0;
  for (uint64_t i = 0; i <= history->asked; i++) {
    uint64_t before = i < history->asked ? history->records[i].asked_after : recorded;
    for (; told < before && told < recorded; told++)
      TUTTI_TRY_OUT(context, tell(manager, order[told]));
    if (i == history->asked)
      break;
    struct tutti_proposal proposal = {
        .size = sizeof proposal, .candidate = history->records[i].candidate, .parent = history->records[i].parent};
    memcpy(proposal.origin, history->records[i].origin, sizeof proposal.origin);
    if (manager->builder)
      TUTTI_TRY_OUT(context, tutti_builder_adopt(context, manager->builder, i, &proposal));
  }
  /* Results that had arrived but were not told, then trials without a result. */
  for (uint64_t i = 0; i < recorded; i++)
    TUTTI_TRY_OUT(context, arrive(manager, order[i]));
  for (uint64_t i = 0; i < history->asked; i++) {
    if (history->records[i].done && history->records[i].told == TUTTI_NO_TRIAL)
      TUTTI_TRY_OUT(context, arrive(manager, i));
    if (!history->records[i].done)
      TUTTI_TRY_OUT(context, submit(manager, i));
    if (history->records[i].done)
      note_best(manager, i);
  }
out:
  tutti_free(order);
  return status;
}

/* The data must be those with which the run began. */
static enum tutti_status check_same_data(struct manager *manager) {
  tutti_context *context = manager->context;
  const tutti_config *data = tutti_recipe_data(manager->experiment->recipe);
  enum tutti_status status = TUTTI_OK;
  char *path = NULL, *recorded = NULL, found[17];
  (void)snprintf(found, sizeof found, "%016" PRIx64, tutti_experiment_fingerprint(manager->experiment));
  TUTTI_TRY_OUT(context, tutti_catalogue_get(context, manager->catalogue, "fingerprint", &recorded));
  if (!data || !recorded || strcmp(recorded, found) == 0)
    goto out;
  TUTTI_TRY_OUT(context, tutti_config_get(context, data, "path", &path));
  status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s: the data have changed since the run in %s began: their fingerprint is %s, and that of the "
                      "run's data is %s; put the old data back, or begin a new run",
                      path[0] ? path : "[data]", manager->options->directory, found, recorded);
out:
  tutti_free(path);
  tutti_free(recorded);
  return status;
}

/* The recipe and data in the directory must be those of this run. */
static enum tutti_status check_same_run(struct manager *manager) {
  tutti_context *context = manager->context;
  const char *directory = manager->options->directory;
  enum tutti_status status = TUTTI_OK;
  tutti_recipe *recorded = NULL;
  char *path = NULL;
  TUTTI_TRY_OUT(context, tutti_run_file_path(context, directory, TUTTI_RUN_FILE_RECIPE, &path));
  TUTTI_TRY_OUT(context, tutti_recipe_load_recorded(context, path, 0, NULL, &recorded));
  status = tutti_recipe_same_run(context, recorded, manager->experiment->recipe);
  if (status != TUTTI_OK) {
    status = tutti_error_prefix(context, status, "%s holds another run: ", directory);
    goto out;
  }
  TUTTI_TRY_OUT(context, check_same_data(manager));
  manager->regrown = tutti_recipe_run(recorded)->budget != manager->run->budget;
out:
  tutti_recipe_destroy(recorded);
  tutti_free(path);
  return status;
}

/* --- beginning and end --- */

static enum tutti_status refuse_a_second_run(const struct manager *manager) {
  const char *directory = manager->options->directory;
  if (manager->options->resume || !tutti_run_directory_has_run(directory))
    return TUTTI_OK;
  return TUTTI_FAIL(manager->context, TUTTI_ERROR_USAGE,
                    "%s already holds a run; add --resume to go on with it, or choose another directory with --out",
                    directory);
}

/* Make the directory ours. Whether it holds a run is looked at again under the lock: another manager may have begun one
   in between. */
static enum tutti_status enter_directory(struct manager *manager) {
  tutti_context *context = manager->context;
  const char *directory = manager->options->directory;
  TUTTI_TRY(context, tutti_run_check_directory(context, directory));
  TUTTI_TRY(context, refuse_a_second_run(manager));
  TUTTI_TRY(context, tutti_file_make_folder(context, directory));
  TUTTI_TRY(context, tutti_run_lock(context, directory, &manager->lock));
  return refuse_a_second_run(manager);
}

/* A fit may go on with more repeats than it began with, but it keeps those that it has. */
static enum tutti_status check_repeats(const struct manager *manager) {
  if (!tutti_experiment_is_fit(manager->experiment) || manager->history.asked <= (uint64_t)manager->run->budget)
    return TUTTI_OK;
  return TUTTI_FAIL(manager->context, TUTTI_ERROR_USAGE,
                    "run.budget: %s has %" PRIu64 " repeats already, and %" PRId64
                    " are asked for; ask for as many at least, or begin a new fit",
                    manager->options->directory, manager->history.asked, manager->run->budget);
}

/* Record the data's fingerprint and the files of the directory. Files that differ from the record are written again;
   they can be, since this is the same run on the same data. */
static enum tutti_status record_directory(struct manager *manager) {
  tutti_context *context = manager->context;
  const char *directory = manager->options->directory;
  enum tutti_status status = TUTTI_OK;
  char *files = NULL, *why = NULL, fingerprint[17], rows[17];
  TUTTI_TRY_OUT(context, tutti_run_check_files(context, directory, manager->catalogue, &why));
  if (!why && !manager->regrown)
    goto out;
  if (why && manager->history.asked > 0)
    tutti_log(context, TUTTI_LOG_WARNING, "%s; it is written again", why);
  TUTTI_TRY_OUT(context, tutti_run_directory_make(context, directory, manager->experiment));
  TUTTI_TRY_OUT(context, tutti_run_record_files(context, directory, manager->experiment, &files));
  (void)snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, tutti_experiment_fingerprint(manager->experiment));
  (void)snprintf(rows, sizeof rows, "%016" PRIx64, tutti_experiment_rows_fingerprint(manager->experiment));
  TUTTI_TRY_OUT(context, tutti_catalogue_begin(context, manager->catalogue));
  TUTTI_TRY_OUT(context, tutti_catalogue_set(context, manager->catalogue, "fingerprint", fingerprint));
  TUTTI_TRY_OUT(context, tutti_catalogue_set(context, manager->catalogue, "rows", rows));
  TUTTI_TRY_OUT(context, tutti_catalogue_set(context, manager->catalogue, "files", files));
  TUTTI_TRY_OUT(context, tutti_catalogue_commit(context, manager->catalogue));
out:
  tutti_free(why);
  tutti_free(files);
  return status;
}

static enum tutti_status open_directory(struct manager *manager) {
  tutti_context *context = manager->context;
  const char *directory = manager->options->directory;
  enum tutti_status status = TUTTI_OK;
  char *path = NULL, *trials = NULL, members_from[21];
  TUTTI_TRY_OUT(context, enter_directory(manager));
  bool has_run = tutti_run_directory_has_run(directory);
  TUTTI_TRY_OUT(context, tutti_run_file_path(context, directory, TUTTI_RUN_FILE_CATALOGUE, &path));
  TUTTI_TRY_OUT(context, tutti_run_check_layout(context, directory));
  if (!has_run)
    TUTTI_TRY_OUT(context, tutti_run_directory_make(context, directory, manager->experiment));
  TUTTI_TRY_OUT(context, tutti_catalogue_open(context, path, true, &manager->catalogue));
  TUTTI_TRY_OUT(context, tutti_run_file_path(context, directory, TUTTI_RUN_FILE_TRIALS, &trials));
  if (manager->experiment->dataset) /* durable before a worker makes a folder in it */
    TUTTI_TRY_OUT(context, tutti_file_make_folder(context, trials));
  if (has_run)
    TUTTI_TRY_OUT(context, check_same_run(manager));
  (void)snprintf(members_from, sizeof members_from, "%" PRIu64,
                 manager->builder ? tutti_builder_members_from(manager->builder) : 0);
  TUTTI_TRY_OUT(context, tutti_catalogue_set(context, manager->catalogue, "members_from", members_from));
  TUTTI_TRY_OUT(context,
                tutti_history_load(context, manager->catalogue, manager->experiment->scope, &manager->history));
  TUTTI_TRY_OUT(context, check_repeats(manager));
  TUTTI_TRY_OUT(context, record_directory(manager));
  manager->progress.restored = manager->history.done;
  for (uint64_t i = 0; i < manager->history.asked; i++)
    manager->before = fmax(manager->before, manager->history.records[i].at); /* NaNs count as less */
out:
  tutti_free(trials);
  tutti_free(path);
  return status;
}

static enum tutti_status make_builder(struct manager *manager) {
  const struct tutti_experiment *experiment = manager->experiment;
  struct tutti_builder_setup setup = {.size = sizeof setup, .host = experiment->host, .seed = experiment->facts.seed};
  if (tutti_experiment_is_fit(experiment))
    return TUTTI_OK;
  return tutti_builder_create(manager->context, experiment->host, "builder", &setup, &manager->builder);
}

/* Create the selector and destroy it again: this reports errors before anything is trained. Without predictions only
   selectors that go by losses are used at all. */
static enum tutti_status try_selector(tutti_context *context, const struct tutti_experiment *experiment) {
  tutti_selector *selector = NULL;
  struct tutti_selector_setup setup = {.size = sizeof setup, .host = experiment->host, .seed = experiment->facts.seed};
  if (tutti_experiment_is_fit(experiment))
    return TUTTI_OK;
  enum tutti_status status = tutti_selector_create(context, experiment->host, "selector", &setup, &selector);
  tutti_selector_destroy(selector);
  return status;
}

/* Workers load plugins from where the manager does, whatever the directory's own recipe says. */
static enum tutti_status make_executor(struct manager *manager) {
  const char **command = manager->command;
  command[0] = manager->options->program;
  command[1] = "worker";
  command[2] = manager->options->directory;
  command[3] = manager->run->plugin_path[0] ? manager->run->plugin_path : NULL;
  struct tutti_executor_setup setup = {
      .size = sizeof setup,
      .host = manager->experiment->host,
      .seed = manager->experiment->facts.seed,
      .workers = worker_count(manager),
      .capacity = manager->experiment->backend ? tutti_backend_capacity(manager->experiment->backend) : 1,
      .trial_timeout = manager->run->trial_timeout,
      .memory_limit = (uint64_t)(manager->run->memory_limit * 1048576),
      .worker_command = command,
  };
  return tutti_executor_create(manager->context, manager->experiment->host, "executor", &setup, &manager->executor);
}

static void release(struct manager *manager) {
  tutti_executor_destroy(manager->executor);
  tutti_builder_destroy(manager->builder);
  tutti_history_release(&manager->history);
  tutti_catalogue_close(manager->catalogue);
  tutti_experiment_destroy(manager->experiment);
  tutti_free(manager->queue);
  if (manager->lock >= 0)
    (void)close(manager->lock);
}

/* Give the host the pool of this run's predictions, for builders that select from it. */
static void offer_pool(struct manager *manager) {
  struct tutti_experiment *experiment = manager->experiment;
  manager->pool = (struct tutti_run_pool){manager->options->directory, experiment, &manager->history, NULL};
  experiment->facts.pool = tutti_run_pool_open;
  experiment->facts.pool_release = tutti_run_pool_release;
  experiment->facts.pool_argument = &manager->pool;
  tutti_host_set_facts(experiment->host, &experiment->facts);
}

enum tutti_status tutti_run(tutti_context *context, tutti_recipe *recipe, const struct tutti_run_options *options,
                            char **summary) {
  enum tutti_status status = TUTTI_OK;
  struct manager manager = {.context = context, .options = options, .lock = -1, .began = tutti_clock()};
  char *state = NULL;
  *summary = NULL;
  TUTTI_TRY_OUT(context, tutti_experiment_create(context, recipe, &manager.experiment));
  manager.run = tutti_recipe_run(manager.experiment->recipe);
  manager.progress = (struct tutti_run_progress){.size = sizeof manager.progress,
                                                 .budget = (uint64_t)manager.run->budget,
                                                 .best_loss = NAN,
                                                 .best_trial = TUTTI_NO_TRIAL,
                                                 .loss = tutti_loss_names()[manager.experiment->loss]};
  offer_pool(&manager);
  TUTTI_TRY_OUT(context, tutti_experiment_check(context, manager.experiment));
  TUTTI_TRY_OUT(context, try_selector(context, manager.experiment));
  TUTTI_TRY_OUT(context, make_builder(&manager));
  TUTTI_TRY_OUT(context, make_executor(&manager));
  TUTTI_TRY_OUT(context, open_directory(&manager));
  TUTTI_TRY_OUT(context, repair(&manager));
  TUTTI_TRY_OUT(context, replay(&manager));
  TUTTI_TRY_OUT(context, search(&manager));
  if (manager.builder)
    TUTTI_TRY_OUT(context, tutti_builder_describe(context, manager.builder, &state));
  if (state)
    TUTTI_TRY_OUT(context, tutti_catalogue_set(context, manager.catalogue, "builder", state));
  report_progress(&manager, TUTTI_PHASE_SELECT);
  TUTTI_TRY_OUT(context, tutti_run_finish(context, &manager.pool, manager.experiment->host, &manager.history, summary));
  report_progress(&manager, TUTTI_PHASE_DONE);
out:
  tutti_free(state);
  release(&manager);
  return status;
}

enum tutti_status tutti_run_check(tutti_context *context, tutti_recipe *recipe, char **summary) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_run_options options = {.size = sizeof options, .directory = "."};
  struct manager manager = {.context = context, .options = &options, .lock = -1};
  *summary = NULL;
  TUTTI_TRY_OUT(context, tutti_experiment_create(context, recipe, &manager.experiment));
  manager.run = tutti_recipe_run(manager.experiment->recipe);
  offer_pool(&manager);
  TUTTI_TRY_OUT(context, tutti_experiment_check(context, manager.experiment));
  TUTTI_TRY_OUT(context, try_selector(context, manager.experiment));
  TUTTI_TRY_OUT(context, make_builder(&manager));
  TUTTI_TRY_OUT(context, tutti_run_summary(context, manager.experiment, &manager.history, NULL, NULL, NULL, summary));
out:
  release(&manager);
  return status;
}
