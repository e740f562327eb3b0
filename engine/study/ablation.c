/* ablation.c - runs the cells of an ablation: decides which is next, with how many workers, and records the outcome.
   While at least as many cells wait as workers are free, each cell gets one worker, so nothing is wasted. Towards the
   end, free workers go to the remaining cells. A running run cannot get more workers, but it can be stopped and resumed
   with more, at the cost of the trials under way. This is done when it pays. */
#include "ablation_impl.h"

#include "core/base/file_impl.h"
#include "core/base/json_impl.h"
#include "engine/run/run_kept.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <tutti/clock.h>
#include <unistd.h>

/* Buffer size for a child's command; the exit code of an interrupted child. */
enum { MOST_ARGUMENTS = 16, EXIT_CODE_INTERRUPTED = 130 };

struct scheduler {
  tutti_context *context;
  tutti_ablation *ablation;
  const struct tutti_ablation_run_options *options;
  int64_t workers;
  int lock;
};

static void tell(const struct scheduler *scheduler, enum tutti_ablation_event event, const struct ablation_cell *cell) {
  struct tutti_ablation_progress progress = {.size = sizeof progress,
                                             .event = event,
                                             .cell = cell->name,
                                             .reason = cell->reason ? cell->reason : "",
                                             .workers = cell->workers,
                                             .cells = scheduler->ablation->count,
                                             .seconds =
                                                 cell->process.began > 0 ? tutti_clock() - cell->process.began : 0};
  for (size_t i = 0; i < progress.cells; i++) {
    progress.finished += scheduler->ablation->cells[i].state == ABLATION_FINISHED;
    progress.failed += scheduler->ablation->cells[i].state == ABLATION_FAILED;
    progress.running += scheduler->ablation->cells[i].state == ABLATION_RUNNING;
  }
  if (scheduler->options->progress)
    scheduler->options->progress(scheduler->options->argument, &progress);
}

/* --- one cell ---------------------------------------------------------------------------------------------------- */

static bool shares(const struct scheduler *scheduler, const struct ablation_cell *cell) {
  return &scheduler->ablation->cells[cell->searcher] != cell;
}

/* The command that completes a cell: a selection from its searcher's pool, or a run. */
static void command_of(const struct scheduler *scheduler, const struct ablation_cell *cell, const char *recipe,
                       const char *workers, const char *parent, const char **command) {
  const char *const run[] = {scheduler->options->program,
                             cell->fit ? "fit" : "run",
                             recipe,
                             "--out",
                             cell->directory,
                             "--resume",
                             "--quiet",
                             "--json",
                             "--workers",
                             workers,
                             "--parent",
                             parent,
                             tutti_ablation_measures(scheduler->ablation, cell->searcher) ? "--set" : NULL,
                             "run.time_predictions=yes",
                             NULL};
  const char *const select[] = {
      scheduler->options->program, "select", cell->directory, "--keep", "--json", "--parent", parent, NULL};
  if (shares(scheduler, cell))
    memcpy(command, select, sizeof select);
  else
    memcpy(command, run, sizeof run);
}

static enum tutti_status start(struct scheduler *scheduler, struct ablation_cell *cell, int64_t workers) {
  tutti_context *context = scheduler->context;
  enum tutti_status status = TUTTI_OK;
  const char *command[MOST_ARGUMENTS], *directory = scheduler->options->directory;
  char *recipe = NULL, *log = NULL, count[32], parent[32];
  (void)snprintf(count, sizeof count, "%" PRId64, workers);
  (void)snprintf(parent, sizeof parent, "%ld", (long)getpid());
  TUTTI_TRY_OUT(context, tutti_ablation_cell_path(context, directory, cell->name, ABLATION_FILE_RECIPES, &recipe));
  TUTTI_TRY_OUT(context, tutti_ablation_cell_path(context, directory, cell->name, ABLATION_FILE_LOGS, &log));
  if (shares(scheduler, cell))
    TUTTI_TRY_OUT(context, tutti_ablation_link(context, cell, &scheduler->ablation->cells[cell->searcher]));
  else
    cell->restored = tutti_run_trials_done(context, cell->directory);
  command_of(scheduler, cell, recipe, count, parent, command);
  cell->process = (struct ablation_process){.began = tutti_clock()};
  TUTTI_TRY_OUT(context, tutti_ablation_spawn(context, command, log, &cell->process));
  cell->workers = workers;
  cell->state = ABLATION_RUNNING;
  tell(scheduler, TUTTI_ABLATION_STARTED, cell);
out:
  tutti_free(recipe);
  tutti_free(log);
  return status;
}

/* Record the outcome of a cell whose process has ended. */
static enum tutti_status settle(struct scheduler *scheduler, struct ablation_cell *cell, int how) {
  tutti_context *context = scheduler->context;
  bool stopped = WIFEXITED(how) ? WEXITSTATUS(how) == EXIT_CODE_INTERRUPTED : WTERMSIG(how) == SIGINT;
  char *log;
  if (WIFEXITED(how) && WEXITSTATUS(how) == 0 && tutti_run_directory_is_finished(cell->directory)) {
    cell->state = ABLATION_FINISHED;
    tell(scheduler, TUTTI_ABLATION_FINISHED, cell);
    return TUTTI_OK;
  }
  if (stopped && (cell->process.stopping || tutti_cancelled(context))) {
    cell->state = ABLATION_WAITING;
    return TUTTI_OK;
  }
  TUTTI_TRY(context,
            tutti_ablation_cell_path(context, scheduler->options->directory, cell->name, ABLATION_FILE_LOGS, &log));
  enum tutti_status status = tutti_ablation_reason(context, log, how, &cell->reason);
  tutti_free(log);
  cell->state = ABLATION_FAILED;
  TUTTI_TRY(context, status);
  tell(scheduler, TUTTI_ABLATION_FAILED, cell);
  return TUTTI_OK;
}

/* --- which, with how many workers -------------------------------------------------------------------------------- */

static bool can_start(const struct scheduler *scheduler, const struct ablation_cell *cell) {
  return cell->state == ABLATION_WAITING &&
         (!shares(scheduler, cell) || scheduler->ablation->cells[cell->searcher].state == ABLATION_FINISHED);
}

/* If the searcher of a cell has failed, the cell has nothing to select from. */
static enum tutti_status give_up_shares(struct scheduler *scheduler) {
  for (size_t i = 0; i < scheduler->ablation->count; i++) {
    struct ablation_cell *cell = &scheduler->ablation->cells[i];
    const struct ablation_cell *searcher = &scheduler->ablation->cells[cell->searcher];
    if (cell->state != ABLATION_WAITING || searcher->state != ABLATION_FAILED)
      continue;
    TUTTI_TRY(scheduler->context,
              tutti_format(scheduler->context, &cell->reason, "%s, whose search it shares, failed", searcher->name));
    cell->state = ABLATION_FAILED;
    tell(scheduler, TUTTI_ABLATION_FAILED, cell);
  }
  return TUTTI_OK;
}

static int64_t free_workers(const struct scheduler *scheduler) {
  int64_t left = scheduler->workers;
  for (size_t i = 0; i < scheduler->ablation->count; i++)
    if (scheduler->ablation->cells[i].state == ABLATION_RUNNING)
      left -= scheduler->ablation->cells[i].workers;
  return left;
}

/* Start as many cells as there are workers. Remaining workers are divided among them. */
static enum tutti_status start_cells(struct scheduler *scheduler) {
  tutti_ablation *ablation = scheduler->ablation;
  int64_t ready = 0, left = free_workers(scheduler);
  for (size_t i = 0; i < ablation->count; i++)
    ready += can_start(scheduler, &ablation->cells[i]);
  for (size_t i = 0; i < ablation->count && left > 0; i++) {
    struct ablation_cell *cell = &ablation->cells[i];
    if (!can_start(scheduler, cell) || ready == 0)
      continue;
    int64_t share = left / ready > 1 ? left / ready : 1;
    if (share > cell->window)
      share = cell->window;
    if (shares(scheduler, cell))
      share = 1;
    TUTTI_TRY(scheduler->context, start(scheduler, cell, share));
    left -= share;
    ready--;
  }
  return TUTTI_OK;
}

/* Would a run finish much sooner with `wanted` workers? Stopping it costs about a second and the trials under way. */
static bool pays(const struct scheduler *scheduler, const struct ablation_cell *cell, int64_t wanted) {
  enum { ROUNDS = 4, SECONDS = 10 };
  uint64_t done = tutti_run_trials_done(scheduler->context, cell->directory), budget = (uint64_t)cell->budget;
  uint64_t fresh = done > cell->restored ? done - cell->restored : 0;
  double elapsed = tutti_clock() - cell->process.began, left = (double)(budget - (done < budget ? done : budget));
  return left >= (double)(ROUNDS * wanted) && elapsed / (double)(fresh ? fresh : 1) * left >= SECONDS;
}

/* If workers are free and nothing waits for them, stop the runs that would at least double theirs; they start again at
   once with their share. */
static void spread_workers(struct scheduler *scheduler) {
  tutti_ablation *ablation = scheduler->ablation;
  int64_t running = 0;
  for (size_t i = 0; i < ablation->count; i++) {
    if (can_start(scheduler, &ablation->cells[i]) || ablation->cells[i].process.stopping)
      return;
    running += ablation->cells[i].state == ABLATION_RUNNING;
  }
  for (size_t i = 0; i < ablation->count; i++) {
    struct ablation_cell *cell = &ablation->cells[i];
    if (cell->state != ABLATION_RUNNING || shares(scheduler, cell) || !cell->repeatable)
      continue;
    int64_t wanted = scheduler->workers / running;
    if (wanted > cell->window)
      wanted = cell->window;
    if (wanted < 2 * cell->workers || wanted - cell->workers > free_workers(scheduler) ||
        !pays(scheduler, cell, wanted))
      continue;
    cell->process.stopping = true;
    (void)kill(cell->process.pid, SIGINT);
    return; /* workers for the others when this one has its share */
  }
}

/* --- the loop ---------------------------------------------------------------------------------------------------- */

static bool is_running(const struct scheduler *scheduler) {
  for (size_t i = 0; i < scheduler->ablation->count; i++)
    if (scheduler->ablation->cells[i].state == ABLATION_RUNNING)
      return true;
  return false;
}

static enum tutti_status settle_ended(struct scheduler *scheduler) {
  for (size_t i = 0; i < scheduler->ablation->count; i++) {
    struct ablation_cell *cell = &scheduler->ablation->cells[i];
    int how;
    if (cell->process.pid && tutti_ablation_ended(&cell->process, &how))
      TUTTI_TRY(scheduler->context, settle(scheduler, cell, how));
  }
  return TUTTI_OK;
}

/* Pass on an interrupt, and wait until every run has closed its directory properly. */
static enum tutti_status stop_all(struct scheduler *scheduler) {
  for (size_t i = 0; i < scheduler->ablation->count; i++)
    if (scheduler->ablation->cells[i].process.pid)
      (void)kill(scheduler->ablation->cells[i].process.pid, SIGINT);
  while (is_running(scheduler)) {
    TUTTI_TRY(scheduler->context, tutti_ablation_wait(scheduler->context, scheduler->ablation, 1));
    TUTTI_TRY(scheduler->context, settle_ended(scheduler));
  }
  return TUTTI_FAIL(scheduler->context, TUTTI_ERROR_CANCELLED, "interrupted");
}

static enum tutti_status work(struct scheduler *scheduler) {
  for (;;) {
    TUTTI_TRY(scheduler->context, settle_ended(scheduler));
    if (tutti_cancelled(scheduler->context))
      return stop_all(scheduler);
    TUTTI_TRY(scheduler->context, give_up_shares(scheduler));
    TUTTI_TRY(scheduler->context, start_cells(scheduler));
    if (!is_running(scheduler))
      return TUTTI_OK;
    if (free_workers(scheduler) > 0)
      spread_workers(scheduler);
    TUTTI_TRY(scheduler->context, tutti_ablation_wait(scheduler->context, scheduler->ablation, 1));
  }
}

/* --- ablation.json ----------------------------------------------------------------------------------------------- */

static json_t *texts_json(size_t count, char **texts) {
  json_t *array = json_array();
  for (size_t i = 0; i < count; i++)
    json_array_append_new(array, json_string(texts[i]));
  return array;
}

static const char *label_of(const tutti_ablation *ablation, const struct ablation_cell *cell) {
  size_t r = 0;
  while (ablation->recipe[r] != cell->recipe)
    r++;
  return ablation->labels[r];
}

static json_t *cell_json(const tutti_ablation *ablation, const struct ablation_cell *cell) {
  json_t *settings = json_object();
  for (size_t s = 0; s < ablation->swap_count; s++)
    if (cell->values[s] != ABLATION_NO_VALUE)
      json_object_set_new(settings, ablation->swaps[s].key, json_string(ablation->swaps[s].values[cell->values[s]]));
  return json_pack("{s:s, s:s, s:o, s:I, s:s, s:s, s:s}", "name", cell->name, "recipe", label_of(ablation, cell),
                   "settings", settings, "seed", (json_int_t)cell->seed, "search", ablation->cells[cell->searcher].name,
                   "state", tutti_ablation_states[cell->state], "reason", cell->reason ? cell->reason : "");
}

/* The text of ablation.json; `comparison` is that of tutti_compare, or NULL. */
static enum tutti_status print(tutti_context *context, const tutti_ablation *ablation, const char *comparison,
                               char **json) {
  json_t *cells = json_array(), *swaps = json_object();
  for (size_t s = 0; s < ablation->swap_count; s++)
    json_object_set_new(swaps, ablation->swaps[s].key, texts_json(ablation->swaps[s].count, ablation->swaps[s].values));
  for (size_t i = 0; i < ablation->count; i++)
    json_array_append_new(cells, cell_json(ablation, &ablation->cells[i]));
  json_t *root =
      json_pack("{s:o, s:o, s:o, s:I, s:o, s:o}", "recipes", texts_json(ablation->recipes, ablation->recipe), "swaps",
                swaps, "set", texts_json(ablation->overrides, ablation->override), "seeds", (json_int_t)ablation->seeds,
                "cells", cells, "comparison", comparison ? json_loads(comparison, 0, NULL) : json_null());
  return tutti_json_document(context, root, json);
}

enum tutti_status tutti_ablation_describe(tutti_context *context, const tutti_ablation *ablation, char **json) {
  return print(context, ablation, NULL, json);
}

static enum tutti_status write_down(const struct scheduler *scheduler, const char *comparison, char **json) {
  tutti_context *context = scheduler->context;
  enum tutti_status status = TUTTI_OK;
  char *path = NULL;
  TUTTI_TRY_OUT(context, print(context, scheduler->ablation, comparison, json));
  TUTTI_TRY_OUT(context, tutti_ablation_path(context, scheduler->options->directory, ABLATION_FILE_REPORT, &path));
  TUTTI_TRY_OUT(context, tutti_file_write_text(context, path, *json));
out:
  tutti_free(path);
  return status;
}

static size_t count_in(const tutti_ablation *ablation, enum ablation_state state) {
  size_t count = 0;
  for (size_t i = 0; i < ablation->count; i++)
    count += ablation->cells[i].state == state;
  return count;
}

/* Compare the cells, as ablation.json lists them. */
static enum tutti_status finish(const struct scheduler *scheduler, char **json) {
  tutti_context *context = scheduler->context;
  const struct tutti_compare_options options = {.size = sizeof options};
  enum tutti_status status = TUTTI_OK;
  char *comparison = NULL;
  TUTTI_TRY_OUT(context, write_down(scheduler, NULL, json));
  if (count_in(scheduler->ablation, ABLATION_FINISHED) == 0)
    goto out;
  TUTTI_TRY_OUT(context, tutti_compare(context, 1, &scheduler->options->directory, &options, &comparison));
  tutti_free(*json);
  *json = NULL;
  TUTTI_TRY_OUT(context, write_down(scheduler, comparison, json));
out:
  tutti_free(comparison);
  return status;
}

/* --- run --------------------------------------------------------------------------------------------------------- */

/* Write down by which recipe a cell is run, so that its status knows whether it is at its end. */
static enum tutti_status plan(const struct scheduler *scheduler, const struct ablation_cell *cell) {
  enum tutti_status status;
  tutti_context *context = scheduler->context;
  char *path;
  TUTTI_TRY(context,
            tutti_ablation_cell_path(context, scheduler->options->directory, cell->name, ABLATION_FILE_RECIPES, &path));
  status = tutti_file_write_text(context, path, cell->text);
  tutti_free(path);
  return status;
}

/* A search that has more trials than any cell that shares it asks for is not made smaller. */
static void warn_larger(const struct scheduler *scheduler, const struct ablation_cell *searcher) {
  const tutti_ablation *ablation = scheduler->ablation;
  int64_t most = 0;
  for (size_t i = 0; i < ablation->count; i++) {
    const struct ablation_cell *cell = &ablation->cells[i];
    if (&ablation->cells[cell->searcher] != searcher)
      continue;
    if (cell->budget == 0) /* the time bounds it */
      return;
    most = cell->budget > most ? cell->budget : most;
  }
  if (most == 0) /* another cell has searched */
    return;
  const uint64_t done = tutti_run_trials_done(scheduler->context, searcher->directory);
  if (done > (uint64_t)most)
    tutti_log(scheduler->context, TUTTI_LOG_WARNING,
              "%s has %llu trials, and run.budget is %lld: it stays as it is; for a smaller one, choose another "
              "directory with --out",
              searcher->name, (unsigned long long)done, (long long)most);
}

static enum tutti_status begin(struct scheduler *scheduler) {
  tutti_context *context = scheduler->context;
  char *json = NULL;
  TUTTI_TRY(context, tutti_ablation_open(context, scheduler->ablation, scheduler->options->directory,
                                         scheduler->options->resume, &scheduler->lock));
  for (size_t i = 0; i < scheduler->ablation->count; i++)
    TUTTI_TRY(context, plan(scheduler, &scheduler->ablation->cells[i]));
  enum tutti_status status = write_down(scheduler, NULL, &json);
  tutti_free(json);
  TUTTI_TRY(context, status);
  for (size_t i = 0; i < scheduler->ablation->count; i++) {
    const struct ablation_cell *cell = &scheduler->ablation->cells[i];
    if (cell->state == ABLATION_FINISHED) {
      tell(scheduler, TUTTI_ABLATION_KEPT, cell);
      warn_larger(scheduler, cell);
    } else {
      TUTTI_TRY(context, tutti_kept_warn(context, cell->directory, NULL, cell->removes));
    }
  }
  return TUTTI_OK;
}

enum tutti_status tutti_ablation_run(tutti_context *context, tutti_ablation *ablation,
                                     const struct tutti_ablation_run_options *options, size_t *failed, char **json) {
  enum tutti_status status = TUTTI_OK;
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  struct scheduler scheduler = {.context = context, .ablation = ablation, .options = options, .lock = -1};
  scheduler.workers = options->workers > 0 ? options->workers : cores > 0 ? cores : 1;
  *json = NULL;
  TUTTI_TRY_OUT(context, begin(&scheduler));
  TUTTI_TRY_OUT(context, work(&scheduler));
  TUTTI_TRY_OUT(context, finish(&scheduler, json));
  *failed = count_in(ablation, ABLATION_FAILED);
out:
  for (size_t i = 0; i < ablation->count; i++)
    tutti_ablation_kill(&ablation->cells[i].process);
  if (scheduler.lock >= 0)
    (void)close(scheduler.lock);
  if (status != TUTTI_OK) {
    tutti_free(*json);
    *json = NULL;
  }
  return status;
}
