/* run_summary.c - the end of a run: select, evaluate, write the results. */
#include "run_impl.h"

#include "core/base/context_impl.h"
#include "core/base/json_impl.h"
#include "engine/data/folds_impl.h"
#include "engine/data/split_names.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <tutti/deal.h>

static enum tutti_status best_of(tutti_context *context, const struct tutti_experiment *experiment,
                                 const struct tutti_history *history, json_t **out) {
  uint64_t best = tutti_history_best(history);
  char *candidate;
  *out = json_null();
  if (best == TUTTI_NO_TRIAL || tutti_experiment_is_fit(experiment))
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_history_say_candidate(context, history, best, experiment->scope, &candidate));
  *out = json_pack("{s:I, s:f, s:o}", "trial", (json_int_t)best, "loss", history->records[best].loss, "candidate",
                   json_loads(candidate, 0, NULL));
  tutti_free(candidate);
  json_t *measures = tutti_run_measures(&history->records[best]);
  if (measures)
    (void)json_object_set_new(*out, "measures", measures);
  return TUTTI_OK;
}

static json_t *data_of(const struct tutti_experiment *experiment) {
  const tutti_dataset *dataset = experiment->dataset;
  if (!dataset)
    return json_null();
  json_t *rows = json_object(), *groups = json_object();
  for (size_t i = 0; i < tutti_dataset_splits(dataset); i++) {
    const tutti_split *split = tutti_dataset_split(dataset, i);
    json_object_set_new(rows, tutti_split_name(split), json_integer((json_int_t)tutti_split_rows(split)));
    const size_t count = tutti_groups_count(tutti_split_rows(split), tutti_split_groups(split));
    if (count > 0)
      json_object_set_new(groups, tutti_split_name(split), json_integer((json_int_t)count));
  }
  struct tutti_shape input = experiment->task.input;
  json_t *data = json_pack("{s:o, s:[i, i, i], s:I}", "rows", rows, "input", input.height, input.width, input.channels,
                           "outputs", (json_int_t)experiment->task.outputs);
  if (tutti_dataset_folds(dataset)) /* training and validation have the same rows then */
    (void)json_object_set_new(data, "folds", json_integer((json_int_t)tutti_dataset_folds(dataset)));
  if (json_object_size(groups) > 0)
    (void)json_object_set(data, "groups", groups);
  json_decref(groups);
  return data;
}

/* Name of the plugin in a section, or "none". */
static const char *plugin_of(const struct tutti_experiment *experiment, const char *section) {
  const char *name = tutti_host_plugin(experiment->host, section);
  return name ? name : "none";
}

/* The selector that chose the ensemble, or that will: another than the recipe's may have been kept. */
static const char *selector_of(const struct tutti_experiment *experiment, const json_t *ensemble) {
  const char *chose = json_string_value(json_object_get(ensemble, "selector"));
  bool selects = experiment->dataset && !tutti_experiment_is_fit(experiment);
  return chose ? chose : selects ? plugin_of(experiment, "selector") : "none";
}

/* The calibrator of the ensemble, or of the recipe where there is none yet. */
static const char *calibrator_of(const struct tutti_experiment *experiment, const json_t *ensemble) {
  const char *fitted = json_string_value(json_object_get(json_object_get(ensemble, "calibration"), "calibrator"));
  return fitted ? fitted : json_is_object(ensemble) ? "none" : plugin_of(experiment, "calibrator");
}

/* {"budget", "done", "failed"}; "time", if the run has one; "pruned", if some were; with "failure", what the first
   failed trial says, if one failed. */
static json_t *trials_of(const struct tutti_run_config *run, const struct tutti_history *history) {
  json_t *trials = json_pack("{s:I, s:I, s:I}", "budget", (json_int_t)run->budget, "done", (json_int_t)history->done,
                             "failed", (json_int_t)history->failed);
  if (isfinite(run->time))
    (void)json_object_set_new(trials, "time", json_real(run->time));
  if (history->pruned > 0)
    (void)json_object_set_new(trials, "pruned", json_integer((json_int_t)history->pruned));
  for (uint64_t i = 0; i < history->asked; i++)
    if (history->records[i].failure) {
      (void)json_object_set_new(trials, "failure",
                                json_pack("{s:I, s:s}", "trial", (json_int_t)i, "text", history->records[i].failure));
      break;
    }
  return trials;
}

enum tutti_status tutti_run_summary(tutti_context *context, const struct tutti_experiment *experiment,
                                    const struct tutti_history *history, const char *ensemble, const char *evaluation,
                                    const char *shifts, char **json) {
  const struct tutti_run_config *run = tutti_recipe_run(experiment->recipe);
  json_t *best;
  TUTTI_TRY(context, best_of(context, experiment, history, &best));
  json_t *chosen = ensemble ? json_loads(ensemble, 0, NULL) : json_null();
  json_t *root =
      json_pack("{s:s, s:s, s:s, s:I, s:{s:s, s:s, s:s, s:s, s:s}, s:o, s:o, s:o, s:o, s:o}", "run", run->name, "task",
                tutti_task_name(experiment->task.kind), "loss", tutti_loss_names()[experiment->loss], "seed",
                (json_int_t)run->seed, "plugins", "space", plugin_of(experiment, "space"), "backend",
                plugin_of(experiment, "backend"), "builder", plugin_of(experiment, "builder"), "selector",
                selector_of(experiment, chosen), "calibrator", calibrator_of(experiment, chosen), "data",
                data_of(experiment), "trials", trials_of(run, history), "best", best, "ensemble", chosen, "evaluation",
                evaluation ? json_loads(evaluation, 0, NULL) : json_null());
  if (tutti_experiment_is_fit(experiment)) {
    enum tutti_status status = tutti_run_describe_fit(context, experiment, history, root);
    if (status != TUTTI_OK) {
      json_decref(root);
      return status;
    }
  }
  if (ensemble && !experiment->dataset) {
    json_t *values;
    enum tutti_status status = tutti_run_describe_values(context, experiment, history, ensemble, &values);
    if (status != TUTTI_OK) {
      json_decref(root);
      return status;
    }
    json_object_set_new(root, "values", values);
  }
  if (!ensemble && !experiment->dataset && !tutti_experiment_is_fit(experiment))
    json_object_set_new(root, "no_ensemble",
                        json_sprintf("trials of backend %s have no predictions, and selector %s chooses by them",
                                     plugin_of(experiment, "backend"), plugin_of(experiment, "selector")));
  if (root && shifts)
    json_object_set_new(root, "shifts", json_loads(shifts, 0, NULL));
  return tutti_json_document(context, root, json);
}

void tutti_run_ending_release(struct tutti_run_ending *ending) {
  tutti_free(ending->chosen);
  tutti_free(ending->evaluation);
  tutti_free(ending->shifts);
}

/* Choose from the predictions of `count` trials, calibrate, evaluate. */
static enum tutti_status choose(tutti_context *context, struct tutti_run_pool *source, const tutti_host *host,
                                const struct tutti_history *history, size_t count, const uint64_t *trials,
                                struct tutti_run_ending *ending) {
  enum tutti_status status = TUTTI_OK;
  const struct tutti_experiment *experiment = source->experiment;
  struct tutti_run_calibration calibration = {.said = NULL};
  tutti_ensemble *ensemble = NULL;
  const struct tutti_choice choice = {.source = source,
                                      .host = host,
                                      .seed = experiment->facts.seed,
                                      .split = TUTTI_SPLIT_VALIDATION,
                                      .count = count,
                                      .trials = trials,
                                      .evaluation = tutti_recipe_evaluation(experiment->recipe)};
  TUTTI_TRY_OUT(context, tutti_ensemble_create(context, &ensemble));
  TUTTI_TRY_OUT(context, tutti_run_choose(context, &choice, ensemble));
  TUTTI_TRY_OUT(context, tutti_run_calibrate(context, &choice, ensemble, &calibration));
  TUTTI_TRY_OUT(context, tutti_ensemble_print(context, ensemble, tutti_host_plugin(host, "selector"), experiment->loss,
                                              calibration.said, &ending->chosen));
  TUTTI_TRY_OUT(context, tutti_run_evaluate(context, source, history, ensemble, calibration.calibrator,
                                            choice.evaluation, NULL, &ending->evaluation));
  TUTTI_TRY_OUT(context, tutti_run_shifts(context, &choice, history, &ending->shifts));
out:
  tutti_run_calibration_release(&calibration);
  tutti_ensemble_destroy(ensemble);
  return status;
}

/* Repeats of a fit are told apart by their data: nothing is chosen among them. */
enum tutti_status tutti_run_end(tutti_context *context, struct tutti_run_pool *source, const tutti_host *host,
                                const struct tutti_history *history, struct tutti_run_ending *ending) {
  const struct tutti_experiment *experiment = source->experiment;
  uint64_t *trials;
  size_t count;
  TUTTI_TRY(context, tutti_history_finished(context, history, &trials, &count));
  enum tutti_status status = count == 0 ? tutti_history_nothing(context, history) : TUTTI_OK;
  if (status == TUTTI_OK && !tutti_experiment_is_fit(experiment))
    status = experiment->dataset ? choose(context, source, host, history, count, trials, ending)
                                 : tutti_run_choose_by_loss(context, experiment, host, history, &ending->chosen);
  tutti_free(trials);
  return status;
}

enum tutti_status tutti_run_rehearse(tutti_context *context, struct tutti_run_pool *source, const tutti_host *host,
                                     const struct tutti_history *history) {
  struct tutti_run_ending ending = {NULL, NULL, NULL};
  tutti_log_function log = context->log;
  context->log = NULL; /* the end says it again */
  enum tutti_status status = tutti_run_end(context, source, host, history, &ending);
  context->log = log;
  tutti_run_ending_release(&ending);
  return status;
}

enum tutti_status tutti_run_finish(tutti_context *context, const struct tutti_run_pool *source,
                                   const struct tutti_history *history, const struct tutti_run_ending *ending,
                                   char **summary) {
  *summary = NULL;
  TUTTI_TRY(context, tutti_run_summary(context, source->experiment, history, ending->chosen, ending->evaluation,
                                       ending->shifts, summary));
  enum tutti_status status = tutti_run_write_result(context, source->directory, ending->chosen, summary);
  if (status != TUTTI_OK) {
    tutti_free(*summary);
    *summary = NULL;
  }
  return status;
}
