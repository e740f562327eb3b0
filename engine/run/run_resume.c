/* run_resume.c - goes on with a run: is it the same one, are its files whole, and what had builder and pruner been
   told? */
#include "manager_impl.h"

#include "record_impl.h"
#include "run_rule.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- torn trials --- */

/* order[told]: which trial was told as which. */
static enum tutti_status order_of(tutti_context *context, const struct tutti_history *history, uint64_t **order) {
  TUTTI_TRY(context, tutti_alloc(context, history->told, sizeof **order, order));
  for (uint64_t i = 0; i < history->asked; i++)
    if (history->records[i].told < history->told)
      (*order)[history->records[i].told] = i;
  return TUTTI_OK;
}

/* The rules that torn trials had: a pruner of its own is told what had been told when each was asked for. */
static enum tutti_status set_rules(struct tutti_manager *manager) {
  tutti_context *context = manager->context;
  const struct tutti_history *history = &manager->history;
  enum tutti_status status;
  tutti_pruner *pruner = NULL;
  uint64_t *order = NULL, told = 0;
  TUTTI_TRY_OUT(context, tutti_run_make_pruner(context, manager->experiment, 0, &pruner));
  TUTTI_TRY_OUT(context, order_of(context, history, &order));
  for (uint64_t i = 0; pruner && i < history->asked; i++) {
    for (; told < history->records[i].asked_after; told++)
      TUTTI_TRY_OUT(context, tutti_run_tell_pruner(context, pruner, order[told], &history->records[order[told]]));
    if (history->records[i].torn)
      TUTTI_TRY_OUT(context, tutti_run_rule_print(context, pruner, i, &manager->history.records[i].rule));
  }
out:
  tutti_free(order);
  tutti_pruner_destroy(pruner);
  return status;
}

static enum tutti_status find_torn(struct tutti_manager *manager, uint64_t *count) {
  tutti_context *context = manager->context;
  const struct tutti_history *history = &manager->history;
  for (uint64_t i = 0; i < history->asked; i++) {
    char *why = NULL;
    if (history->records[i].done)
      TUTTI_TRY(context,
                tutti_record_check_report(context, manager->options->directory, i, history->records[i].report, &why));
    if (why)
      tutti_log(context, TUTTI_LOG_WARNING, "%s; trial %" PRIu64 " is trained again", why, i);
    history->records[i].torn = why != NULL;
    *count += why != NULL;
    tutti_free(why);
  }
  return TUTTI_OK;
}

/* Submit the torn trials from *next on, up to one that starts from the weights of a parent that is torn itself. */
static enum tutti_status submit_torn(struct tutti_manager *manager, uint64_t *next) {
  const struct tutti_history *history = &manager->history;
  for (; *next < history->asked; (*next)++) {
    const struct tutti_record *record = &history->records[*next];
    if (!record->torn)
      continue;
    if (manager->warm && record->parent < *next && history->records[record->parent].torn)
      return TUTTI_OK;
    TUTTI_TRY(manager->context, tutti_manager_submit(manager, *next));
  }
  return TUTTI_OK;
}

enum tutti_status tutti_manager_train_again(struct tutti_manager *manager, uint64_t count) {
  tutti_context *context = manager->context;
  uint64_t wanted = manager->progress.repaired + count, next = 0;
  if (count > 0)
    TUTTI_TRY(context, set_rules(manager));
  while (manager->progress.repaired < wanted) {
    TUTTI_TRY(context, submit_torn(manager, &next));
    tutti_manager_report(manager, TUTTI_PHASE_REPAIR);
    TUTTI_TRY(context, tutti_manager_collect(manager));
  }
  return TUTTI_OK;
}

enum tutti_status tutti_manager_repair(struct tutti_manager *manager) {
  tutti_context *context = manager->context;
  uint64_t torn = 0;
  TUTTI_TRY(context, find_torn(manager, &torn));
  TUTTI_TRY(context, tutti_manager_train_again(manager, torn));
  return tutti_run_compare_networks(context, &manager->pool);
}

/* --- replay --- */

/* Take back a recorded trial; one without a result is to be trained, by the rule that it had. */
static enum tutti_status adopt(struct tutti_manager *manager, uint64_t trial) {
  const struct tutti_record *record = &manager->history.records[trial];
  struct tutti_proposal proposal = {.size = sizeof proposal, .candidate = record->candidate, .parent = record->parent};
  memcpy(proposal.origin, record->origin, sizeof proposal.origin);
  if (manager->builder)
    TUTTI_TRY(manager->context, tutti_builder_adopt(manager->context, manager->builder, trial, &proposal));
  return record->done ? TUTTI_OK : tutti_manager_set_rule(manager, trial);
}

/* Results in the order in which they arrived, as far as it is known: those that were told, then those that were not. */
static enum tutti_status arrive_again(struct tutti_manager *manager, const uint64_t *order) {
  const struct tutti_history *history = &manager->history;
  for (uint64_t i = 0; i < history->told; i++)
    TUTTI_TRY(manager->context, tutti_manager_arrive(manager, order[i]));
  for (uint64_t i = 0; i < history->asked; i++)
    if (history->records[i].done && history->records[i].told == TUTTI_NO_TRIAL)
      TUTTI_TRY(manager->context, tutti_manager_arrive(manager, i));
  return TUTTI_OK;
}

enum tutti_status tutti_manager_replay(struct tutti_manager *manager) {
  tutti_context *context = manager->context;
  struct tutti_history *history = &manager->history;
  uint64_t *order = NULL, recorded = history->told, asked = history->asked, trial = 0;
  enum tutti_status status;
  TUTTI_TRY_OUT(context, order_of(context, history, &order));
  TUTTI_TRY_OUT(context, arrive_again(manager, order));
  for (history->told = 0;;) {
    for (; trial < asked && history->records[trial].asked_after <= history->told; trial++)
      TUTTI_TRY_OUT(context, adopt(manager, trial));
    if (history->told == recorded)
      break;
    if (trial == asked)
      TUTTI_TRY_OUT(context, tutti_manager_ask(manager));
    TUTTI_TRY_OUT(context, tutti_manager_tell(manager, order[history->told]));
  }
  TUTTI_TRY_OUT(context, tutti_cancel_recall(manager));
  for (uint64_t i = 0; i < asked; i++) {
    if (history->records[i].done)
      tutti_manager_note_best(manager, i);
    else if (history->records[i].cancelled)
      TUTTI_TRY_OUT(context, tutti_manager_fail_cancelled(manager, i));
    else
      TUTTI_TRY_OUT(context, tutti_manager_submit(manager, i));
  }
out:
  tutti_free(order);
  return status;
}

/* --- is it the same run? --- */

/* The data must be those with which the run began. */
static enum tutti_status check_same_data(struct tutti_manager *manager) {
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

/* The budget with which the run began, which a builder may have planned with. */
static enum tutti_status recall_plan(struct tutti_manager *manager, int64_t recorded) {
  tutti_context *context = manager->context;
  char *plan;
  TUTTI_TRY(context, tutti_catalogue_get(context, manager->catalogue, TUTTI_FACT_PLAN, &plan));
  manager->plan = plan ? strtoull(plan, NULL, 10) : (uint64_t)recorded;
  tutti_free(plan);
  return TUTTI_OK;
}

enum tutti_status tutti_manager_check_same_run(struct tutti_manager *manager) {
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
  manager->regrown = tutti_recipe_run(recorded)->budget != manager->run->budget ||
                     tutti_recipe_run(recorded)->time != manager->run->time;
  TUTTI_TRY_OUT(context, recall_plan(manager, tutti_recipe_run(recorded)->budget));
out:
  tutti_recipe_destroy(recorded);
  tutti_free(path);
  return status;
}

enum tutti_status tutti_manager_check_extent(struct tutti_manager *manager) {
  const struct tutti_run_config *run = manager->run;
  const char *directory = manager->options->directory;
  bool fit = tutti_experiment_is_fit(manager->experiment);
  if (run->budget > 0 && manager->history.asked > (uint64_t)run->budget)
    return TUTTI_FAIL(manager->context, TUTTI_ERROR_USAGE,
                      "run.budget: %s has %" PRIu64 " %s already, and %" PRId64
                      " are asked for; ask for as many at least, or begin a new %s",
                      directory, manager->history.asked, fit ? "repeats" : "trials", run->budget, fit ? "fit" : "run");
  if (!manager->regrown || manager->before <= run->time)
    return TUTTI_OK;
  return TUTTI_FAIL(
      manager->context, TUTTI_ERROR_USAGE,
      "run.time: %s has worked for %.4g s already, and %g s are asked for; ask for more, or begin a new run", directory,
      manager->before, run->time);
}
