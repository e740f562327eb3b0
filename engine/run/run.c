/* run.c - a run from its recipe to its summary: the directory, the plugins, the search, the end. */
#include "catalogue_write.h"
#include "manager_impl.h"
#include "run_inputs.h"
#include "run_kept.h"
#include "run_launch.h"
#include "run_plugins.h"
#include "run_rule.h"
#include "run_times.h"
#include "run_warm.h"
#include "run_weights.h"

#include "core/base/file_impl.h"
#include "engine/recipe/recipe_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/clock.h>
#include <unistd.h>
#include <tutti/names.h>

/* --- beginning and end --- */

static enum tutti_status refuse_a_second_run(const struct tutti_manager *manager) {
  const char *directory = manager->options->directory;
  if (manager->options->resume || !tutti_run_directory_has_run(directory))
    return TUTTI_OK;
  return TUTTI_FAIL(manager->context, TUTTI_ERROR_USAGE,
                    "%s already holds a run; add --resume to go on with it, or choose another directory with --out",
                    directory);
}

/* Make the directory ours. Whether it holds a run is looked at again under the lock: another manager may have begun one
   in between. */
static enum tutti_status take_directory(struct tutti_manager *manager) {
  tutti_context *context = manager->context;
  const char *directory = manager->options->directory;
  TUTTI_TRY(context, tutti_run_check_directory(context, directory));
  TUTTI_TRY(context, refuse_a_second_run(manager));
  TUTTI_TRY(context, tutti_file_make_folder(context, directory));
  TUTTI_TRY(context, tutti_run_lock(context, directory, &manager->lock));
  return refuse_a_second_run(manager);
}

/* Processes that were started together, by mistake with an executor that knows nothing of that, all want the same
   directory: one gets it. */
static enum tutti_status enter_directory(struct tutti_manager *manager) {
  const struct tutti_launch launch = tutti_launch_look();
  bool alone = launch.size == 1 || manager->ranks;
  char why[512];
  enum tutti_status status = take_directory(manager);
  if (status == TUTTI_OK && !alone)
    tutti_log(
        manager->context, TUTTI_LOG_WARNING,
        "this process is one of %d that %s started, and each is a run of its own; --set executor.plugin=mpi makes "
        "one run of them",
        launch.size, launch.by);
  if ((status != TUTTI_ERROR_BUSY && status != TUTTI_ERROR_USAGE) || alone)
    return status;
  (void)snprintf(why, sizeof why, "%s", tutti_error_message(manager->context));
  tutti_error_clear(manager->context);
  return TUTTI_FAIL(manager->context, status,
                    "%s. This process is number %d of %d that %s started, and each is a run of its own: --set "
                    "executor.plugin=mpi makes one run of them",
                    why, launch.rank, launch.size, launch.by);
}

/* Record the data's fingerprint and the files of the directory. Files that differ from the record are written again;
   they can be, since this is the same run on the same data. */
static enum tutti_status record_directory(struct tutti_manager *manager) {
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

static enum tutti_status make_builder(struct tutti_manager *manager) {
  const struct tutti_experiment *experiment = manager->experiment;
  struct tutti_builder_setup setup = {.size = sizeof setup, .host = experiment->host, .seed = experiment->facts.seed};
  if (tutti_experiment_is_fit(experiment))
    return TUTTI_OK;
  TUTTI_TRY(manager->context,
            tutti_builder_create(manager->context, experiment->host, "builder", &setup, &manager->builder));
  manager->warm = tutti_builder_warm(manager->builder);
  return tutti_run_check_warm(manager->context, experiment, manager->builder);
}

/* The time that earlier sessions worked, and how long their trainings took. */
static enum tutti_status recall_time(struct tutti_manager *manager) {
  const struct tutti_history *history = &manager->history;
  char *worked;
  TUTTI_TRY(manager->context, tutti_catalogue_get(manager->context, manager->catalogue, TUTTI_FACT_WORKED, &worked));
  manager->before = worked ? strtod(worked, NULL) : 0;
  tutti_free(worked);
  for (uint64_t i = 0; i < history->asked; i++) {
    manager->before = fmax(manager->before, history->records[i].at); /* NaNs count as less */
    if (history->records[i].done)
      tutti_deadline_note(&manager->deadline, history->records[i].seconds);
  }
  manager->noted = manager->before;
  return TUTTI_OK;
}

static void say_used_up(const struct tutti_manager *manager) {
  if (manager->before >= manager->run->time)
    tutti_log(manager->context, TUTTI_LOG_WARNING,
              "run.time: its %g s are used up, by %.4g s of work; no training is begun. A longer time goes on: --set "
              "run.time=...",
              manager->run->time, manager->before);
}

/* A builder plans with the budget of the run's first session, whatever it is now. */
static enum tutti_status keep_plan(struct tutti_manager *manager) {
  struct tutti_experiment *experiment = manager->experiment;
  char text[24];
  (void)snprintf(text, sizeof text, "%" PRIu64, manager->plan);
  TUTTI_TRY(manager->context, tutti_catalogue_set(manager->context, manager->catalogue, TUTTI_FACT_PLAN, text));
  if (experiment->facts.budget == manager->plan)
    return TUTTI_OK;
  experiment->facts.budget = manager->plan;
  tutti_host_set_facts(experiment->host, &experiment->facts);
  tutti_builder_destroy(manager->builder);
  manager->builder = NULL;
  return make_builder(manager);
}

static enum tutti_status open_directory(struct tutti_manager *manager) {
  tutti_context *context = manager->context;
  const char *directory = manager->options->directory;
  enum tutti_status status = TUTTI_OK;
  char *path = NULL, *trials = NULL, members_from[21];
  TUTTI_TRY_OUT(context, enter_directory(manager));
  bool has_run = tutti_run_directory_has_run(directory);
  TUTTI_TRY_OUT(context, tutti_run_file_path(context, directory, TUTTI_RUN_FILE_CATALOGUE, &path));
  TUTTI_TRY_OUT(context, tutti_run_check_layout(context, directory));
  if (!has_run) {
    TUTTI_TRY_OUT(context, tutti_run_directory_check_free(context, directory));
    TUTTI_TRY_OUT(context, tutti_run_directory_make(context, directory, manager->experiment));
  }
  TUTTI_TRY_OUT(context, tutti_catalogue_open(context, path, true, &manager->catalogue));
  TUTTI_TRY_OUT(context, tutti_run_file_path(context, directory, TUTTI_RUN_FILE_TRIALS, &trials));
  if (manager->experiment->dataset) /* durable before a worker makes a folder in it */
    TUTTI_TRY_OUT(context, tutti_file_make_folder(context, trials));
  if (has_run)
    TUTTI_TRY_OUT(context, tutti_manager_check_same_run(manager));
  TUTTI_TRY_OUT(context, keep_plan(manager));
  (void)snprintf(members_from, sizeof members_from, "%" PRIu64,
                 manager->builder ? tutti_builder_members_from(manager->builder) : 0);
  TUTTI_TRY_OUT(context, tutti_catalogue_set(context, manager->catalogue, "members_from", members_from));
  TUTTI_TRY_OUT(context,
                tutti_history_load(context, manager->catalogue, manager->experiment->scope, &manager->history));
  TUTTI_TRY_OUT(context, tutti_history_reserve(context, &manager->history, (uint64_t)manager->run->budget));
  TUTTI_TRY_OUT(context, recall_time(manager));
  TUTTI_TRY_OUT(context, tutti_manager_check_extent(manager));
  say_used_up(manager);
  TUTTI_TRY_OUT(context, record_directory(manager));
  manager->progress.restored = manager->history.done;
out:
  tutti_free(trials);
  tutti_free(path);
  return status;
}

/* Create the selector and destroy it again: this reports errors before anything is trained. Without predictions only
   selectors that go by losses are used at all. One that chooses by what predictions take has that measured. */
static enum tutti_status try_selector(struct tutti_manager *manager) {
  tutti_context *context = manager->context;
  const struct tutti_experiment *experiment = manager->experiment;
  tutti_selector *selector = NULL;
  struct tutti_selector_setup setup = {.size = sizeof setup, .host = experiment->host, .seed = experiment->facts.seed};
  if (tutti_experiment_is_fit(experiment))
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_selector_create(context, experiment->host, "selector", &setup, &selector));
  manager->timed = manager->run->time_predictions || tutti_selector_needs_cost(selector, TUTTI_COST_MICROSECONDS);
  tutti_selector_destroy(selector);
  return TUTTI_OK;
}

/* Workers load plugins from where the manager does, whatever the directory's own recipe says. */
static struct tutti_executor_setup set_up_executor(struct tutti_manager *manager, const tutti_host *host) {
  const char **command = manager->command;
  command[0] = manager->options->program;
  command[1] = "worker";
  command[2] = manager->options->directory;
  command[3] = manager->run->plugin_path[0] ? manager->run->plugin_path : NULL;
  manager->staged = (struct tutti_run_staging){.directory = manager->options->directory,
                                               .recipe = manager->experiment ? manager->experiment->recipe : NULL};
  manager->staging = tutti_run_staging_offer(&manager->staged);
  return (struct tutti_executor_setup){
      .size = sizeof(struct tutti_executor_setup),
      .host = host,
      .seed = (uint64_t)manager->run->seed,
      .workers = tutti_manager_workers(manager),
      .capacity = 1,
      .trial_timeout = manager->run->trial_timeout,
      .memory_limit = (uint64_t)(manager->run->memory_limit * 1048576),
      .worker_command = command,
      .directory = command[2],
      .staging = &manager->staging,
  };
}

/* Where others start all processes of the run: is this one an agent, and not the manager? Then it is one until the run
   is over, and needs no data. */
static enum tutti_status serve(struct tutti_manager *manager, const tutti_recipe *recipe, bool *served) {
  TUTTI_TRY(manager->context, tutti_recipe_assemble(manager->context, recipe, &manager->station));
  struct tutti_executor_setup setup = set_up_executor(manager, manager->station);
  return tutti_executor_serve(manager->context, manager->station, "executor", &setup, &manager->ranks, served);
}

enum tutti_status tutti_manager_make_executor(struct tutti_manager *manager) {
  struct tutti_executor_setup setup = set_up_executor(manager, manager->experiment->host);
  setup.capacity = tutti_experiment_capacity(manager->experiment);
  return tutti_executor_create(manager->context, manager->experiment->host, "executor", &setup, &manager->executor);
}

/* Workers that nobody asked for, one a core, are not started if they have nothing to do. */
static void warn_of_window(const struct tutti_manager *manager) {
  uint64_t places = manager->live.workers * manager->live.capacity, window = (uint64_t)manager->run->window;
  static const uint64_t ahead = 4; /* a quarter more is asked for than is trained */
  if (places > window)
    tutti_log(manager->context, TUTTI_LOG_WARNING,
              "run.window = %" PRIu64 " %s may be outstanding at once, so %" PRIu64 " of the %" PRIu64
              " that %zu %s can train %s nothing to do. --set run.window=%" PRIu64
              " keeps all busy; that is another search, which is why the number of workers does not set it",
              window, tutti_plural((size_t)window, "trial", "trials"), places - window, places, manager->live.workers,
              tutti_plural(manager->live.workers, "worker", "workers"),
              tutti_plural((size_t)(places - window), "has", "have"), places + places / ahead);
}

/* So many trials are told, at most, before the last one is asked for; 0: a time ends the run. */
static uint64_t known_at_last(const struct tutti_run_config *run) {
  if (run->budget == 0 || run->budget <= run->window)
    return 0;
  return (uint64_t)(run->order == TUTTI_ORDER_TRIAL ? run->budget - run->window : run->budget - 1);
}

/* What a trial must reach follows from the results that are known when it is asked for: maybe none ever are. */
static enum tutti_status make_pruner(struct tutti_manager *manager) {
  const struct tutti_run_config *run = manager->run;
  TUTTI_TRY(manager->context,
            tutti_run_make_pruner(manager->context, manager->experiment, known_at_last(run), &manager->pruner));
  if (manager->pruner && run->budget > 0 && run->window >= run->budget)
    tutti_log(manager->context, TUTTI_LOG_WARNING,
              "run.window = %" PRId64 ": all %" PRId64
              " trials are asked for before one result is known, so pruner %s prunes nothing; a window of a few trials "
              "for each worker lets it",
              run->window, run->budget, tutti_pruner_descriptor(manager->pruner)->name);
  return TUTTI_OK;
}

/* Where others start the processes of the run, how many there are is not the recipe's to say. */
static void warn_of_workers(const struct tutti_manager *manager, size_t workers) {
  int64_t wanted = manager->options->workers ? manager->options->workers : manager->run->workers;
  if (wanted > 0 && (uint64_t)wanted != workers)
    tutti_log(manager->context, TUTTI_LOG_WARNING,
              "%" PRId64 " workers are asked for, and executor %s has %zu: whoever starts it decides how many", wanted,
              tutti_executor_descriptor(manager->executor)->name, workers);
}

/* The executor knows how many workers it has. */
static enum tutti_status count_places(struct tutti_manager *manager) {
  static const double least = 2; /* seconds for trainings that stop: to predict, and to write files */
  size_t capacity = tutti_experiment_capacity(manager->experiment),
         workers = tutti_executor_capacity(manager->executor) / capacity;
  TUTTI_TRY(manager->context, tutti_live_begin(manager->context, &manager->live, workers, capacity));
  warn_of_workers(manager, workers);
  warn_of_window(manager);
  bool stops = manager->run->unfinished == TUTTI_UNFINISHED_STOP;
  manager->deadline = (struct tutti_deadline){.time = manager->run->time,
                                              .stops = stops,
                                              .least = stops ? least : 0,
                                              .slots = manager->live.workers * manager->live.capacity};
  return TUTTI_OK;
}

/* For those who look when each worker trained what. */
static enum tutti_status keep_capacity(struct tutti_manager *manager) {
  char text[24];
  (void)snprintf(text, sizeof text, "%zu", manager->live.capacity);
  return manager->live.capacity > 1
             ? tutti_catalogue_set(manager->context, manager->catalogue, TUTTI_FACT_CAPACITY, text)
             : TUTTI_OK;
}

static void release_manager(struct tutti_manager *manager) {
  tutti_executor_destroy(manager->executor);
  if (manager->lock >= 0)
    manager->live.there = true; /* maybe of a manager that was killed */
  tutti_live_end(manager->context, &manager->live, manager->options->directory);
  if (manager->lock >= 0)
    tutti_run_inputs_withdraw(manager->context, manager->options->directory);
  tutti_builder_destroy(manager->builder);
  tutti_pruner_destroy(manager->pruner);
  tutti_history_release(&manager->history);
  tutti_catalogue_close(manager->catalogue);
  tutti_experiment_destroy(manager->experiment);
  tutti_executor_destroy(manager->ranks);
  tutti_host_destroy(manager->station);
  tutti_free(manager->queue);
  tutti_free(manager->cancelled);
  if (manager->lock >= 0)
    (void)close(manager->lock);
}

/* Give the host the pool of this run's predictions, for builders that select from it. */
static void offer_pool(struct tutti_manager *manager) {
  struct tutti_experiment *experiment = manager->experiment;
  manager->pool = (struct tutti_run_pool){manager->options->directory, experiment, &manager->history, NULL};
  experiment->facts.pool = tutti_run_pool_open;
  experiment->facts.pool_release = tutti_run_pool_release;
  experiment->facts.pool_argument = &manager->pool;
  tutti_host_set_facts(experiment->host, &experiment->facts);
}

/* The time was over before anything could begin. */
static enum tutti_status check_begun(const struct tutti_manager *manager) {
  if (manager->history.asked > 0 || isinf(manager->run->time))
    return TUTTI_OK;
  return TUTTI_FAIL(manager->context, TUTTI_ERROR_USAGE,
                    "run.time: %g s were over before one training had begun: to start took %.3g s; give the run more "
                    "time, and resume it (--resume --set run.time=...)",
                    manager->run->time, tutti_manager_worked(manager));
}

/* The time is over: what is still in training stays without a result, and its workers end. */
static enum tutti_status give_up_rest(struct tutti_manager *manager) {
  const struct tutti_history *history = &manager->history;
  uint64_t rest = history->asked - history->done;
  if (rest == 0)
    return TUTTI_OK;
  double longest = tutti_live_longest(&manager->live, tutti_manager_clock(manager)),
         before = fmax(0, tutti_manager_worked(manager) - longest);
  TUTTI_TRY(manager->context, tutti_manager_record_worked(manager));
  manager->ahead = tutti_manager_clock(manager) - tutti_clock();
  tutti_executor_destroy(manager->executor);
  manager->executor = NULL;
  if (history->done > 0 && !(longest > 0)) {
    tutti_log(manager->context, TUTTI_LOG_WARNING,
              "run.time: %g s are over; trainings that have not begun are left out: %" PRIu64
              ". A longer time goes on with them: --resume --set run.time=...",
              manager->run->time, rest);
    return TUTTI_OK;
  }
  if (history->done > 0) {
    tutti_log(manager->context, TUTTI_LOG_WARNING,
              "run.time: %g s are over; trainings that have not ended are left out: %" PRIu64
              ", the longest after %.3g s. A longer time goes on with them: --resume --set run.time=...",
              manager->run->time, rest, longest);
    return TUTTI_OK;
  }
  if (!(longest > 0))
    return TUTTI_FAIL(
        manager->context, TUTTI_ERROR_USAGE,
        "run.time: %g s were over before one training had begun: data and workers took %.3g s; give the run "
        "more time, and resume it (--resume --set run.time=...)",
        manager->run->time, before);
  return TUTTI_FAIL(
      manager->context, TUTTI_ERROR_USAGE,
      "run.time: %g s were over before one training had ended: the longest had taken %.3g s, and what came before it "
      "(data, workers to start) %.3g s; give the run more time, and resume it (--resume --set run.time=...), or make "
      "trainings shorter",
      manager->run->time, longest, before);
}

/* A recipe that says neither how many nor how long gets the default, and is told so. */
static void say_extent(tutti_context *context, const tutti_recipe *recipe) {
  if (tutti_recipe_fit(recipe) || tutti_recipe_find(recipe, "run", "budget") ||
      tutti_recipe_find(recipe, "run", "time"))
    return;
  tutti_log(context, TUTTI_LOG_WARNING,
            "%s: neither run.budget nor run.time is given, so %" PRId64
            " networks are trained, the default; --set run.budget=N says how many, --set run.time=2h how long",
            tutti_recipe_path(recipe), tutti_recipe_run(recipe)->budget);
}

enum tutti_status tutti_run(tutti_context *context, tutti_recipe *recipe, const struct tutti_run_options *options,
                            char **summary) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_manager manager = {.context = context, .options = options, .lock = -1, .began = tutti_clock()};
  struct tutti_run_ending ending = {NULL, NULL, NULL};
  char *state = NULL;
  bool served = false;
  *summary = NULL;
  manager.run = tutti_recipe_run(recipe);
  status = tutti_experiment_check_files(context, recipe);
  if (status == TUTTI_OK)
    status = serve(&manager, recipe, &served);
  if (status != TUTTI_OK || served) {
    release_manager(&manager);
    tutti_recipe_destroy(recipe);
    return status;
  }
  say_extent(context, recipe);
  TUTTI_TRY_OUT(context, tutti_experiment_create(context, recipe, &manager.experiment));
  TUTTI_TRY_OUT(context, tutti_run_plugins_print(context, manager.experiment->recipe, &manager.experiment->plugins));
  manager.plan = manager.experiment->facts.budget;
  manager.progress = (struct tutti_run_progress){.size = sizeof manager.progress,
                                                 .budget = (uint64_t)manager.run->budget,
                                                 .time = manager.run->time,
                                                 .best_loss = NAN,
                                                 .best_trial = TUTTI_NO_TRIAL,
                                                 .launched = manager.ranks != NULL,
                                                 .loss = tutti_loss_names()[manager.experiment->loss]};
  offer_pool(&manager);
  TUTTI_TRY_OUT(context, tutti_experiment_check(context, manager.experiment));
  TUTTI_TRY_OUT(context, try_selector(&manager));
  TUTTI_TRY_OUT(context, make_builder(&manager));
  TUTTI_TRY_OUT(context, make_pruner(&manager));
  TUTTI_TRY_OUT(context, tutti_manager_make_executor(&manager));
  TUTTI_TRY_OUT(context, count_places(&manager));
  TUTTI_TRY_OUT(context, open_directory(&manager));
  TUTTI_TRY_OUT(context, keep_capacity(&manager));
  tutti_run_say_notes(&manager);
  TUTTI_TRY_OUT(context, tutti_run_inputs_offer(context, options->directory, manager.experiment));
  TUTTI_TRY_OUT(context, tutti_manager_repair(&manager));
  TUTTI_TRY_OUT(context, tutti_run_times_measure(&manager));
  TUTTI_TRY_OUT(context, tutti_manager_replay(&manager));
  TUTTI_TRY_OUT(context, tutti_manager_search(&manager));
  tutti_cancel_forget(&manager);
  tutti_effort_log(&manager);
  TUTTI_TRY_OUT(context, check_begun(&manager));
  TUTTI_TRY_OUT(context, give_up_rest(&manager));
  if (manager.builder)
    TUTTI_TRY_OUT(context, tutti_builder_describe(context, manager.builder, &state));
  if (state)
    TUTTI_TRY_OUT(context, tutti_catalogue_set(context, manager.catalogue, "builder", state));
  tutti_manager_report(&manager, TUTTI_PHASE_SELECT);
  TUTTI_TRY_OUT(context, tutti_run_end(context, &manager.pool, manager.experiment->host, &manager.history, &ending));
  TUTTI_TRY_OUT(context, tutti_weights_restore(&manager, ending.chosen));
  TUTTI_TRY_OUT(context, tutti_kept_warn(context, options->directory, ending.chosen,
                                         manager.run->weights_of == TUTTI_WEIGHTS_OF_MEMBERS));
  TUTTI_TRY_OUT(context, tutti_run_finish(context, &manager.pool, &manager.history, &ending, summary));
  TUTTI_TRY_OUT(context, tutti_weights_remove(&manager, ending.chosen));
  TUTTI_TRY_OUT(context, tutti_manager_record_worked(&manager));
  tutti_manager_report(&manager, TUTTI_PHASE_DONE);
out:
  tutti_run_ending_release(&ending);
  tutti_free(state);
  release_manager(&manager);
  return status;
}

enum tutti_status tutti_run_check_timed(tutti_context *context, tutti_recipe *recipe, bool *timed, char **summary) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_run_options options = {.size = sizeof options, .directory = "."};
  struct tutti_manager manager = {.context = context, .options = &options, .lock = -1};
  *summary = NULL;
  *timed = false;
  status = tutti_experiment_check_files(context, recipe);
  if (status != TUTTI_OK) {
    tutti_recipe_destroy(recipe);
    goto out;
  }
  say_extent(context, recipe);
  TUTTI_TRY_OUT(context, tutti_experiment_create(context, recipe, &manager.experiment));
  manager.run = tutti_recipe_run(manager.experiment->recipe);
  offer_pool(&manager);
  TUTTI_TRY_OUT(context, tutti_experiment_check(context, manager.experiment));
  TUTTI_TRY_OUT(context, try_selector(&manager));
  TUTTI_TRY_OUT(context, make_builder(&manager));
  TUTTI_TRY_OUT(context, make_pruner(&manager));
  TUTTI_TRY_OUT(context, tutti_run_summary(context, manager.experiment, &manager.history, NULL, NULL, NULL, summary));
  *timed = manager.timed;
out:
  release_manager(&manager);
  return status;
}

enum tutti_status tutti_run_check(tutti_context *context, tutti_recipe *recipe, char **summary) {
  bool timed;
  return tutti_run_check_timed(context, recipe, &timed, summary);
}
