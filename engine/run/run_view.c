/* run_view.c - uses a run directory, after the run or during it: its state, other ensembles, metrics. */
#include "run_view_impl.h"

#include "core/base/file_impl.h"
#include "core/base/json_impl.h"
#include "core/base/sized_impl.h"
#include "record_impl.h"
#include "engine/data/split_names.h"
#include "engine/evaluation/evaluate_impl.h"
#include "run_kept.h"
#include "run_weights.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum tutti_status tutti_view_ensemble(tutti_context *context, const tutti_view *view, const char *given, char **text) {
  if (given)
    return tutti_strdup(context, given, text);
  if (!view->unnamed)
    TUTTI_TRY(context, tutti_run_read_ensemble(context, view->directory, text));
  if (!*text && tutti_run_is_locked(view->directory))
    return TUTTI_FAIL(
        context, TUTTI_ERROR_USAGE,
        "%s has no ensemble yet: it is at work; choose one of what is there with tutti select %s --json > "
        "now.json, and give it with --ensemble now.json",
        view->directory, view->directory);
  if (!*text)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s has no ensemble yet: finish the run with --resume, or choose one with tutti select",
                      view->directory);
  return TUTTI_OK;
}

/* --- status --- */

static json_t *trial_row(const struct tutti_history *history, uint64_t trial) {
  const struct tutti_record *record = &history->records[trial];
  return json_pack("{s:I, s:s, s:o, s:f, s:o, s:s, s:s}", "trial", (json_int_t)trial, "state",
                   record->done ? tutti_state_name(record->state) : "asked", "loss", tutti_json_number(record->loss),
                   "seconds", record->seconds, "at", tutti_json_number(record->at), "origin", record->origin, "failure",
                   record->failure ? record->failure : "");
}

/* Is a split one of those that the ensembles of the shifts were evaluated on? */
static bool is_of_shift(const json_t *shifts, const char *name) {
  const json_t *shift, *split;
  size_t index, i;
  json_array_foreach(shifts, index, shift) {
    json_array_foreach(json_object_get(shift, "evaluation"), i, split) {
      const char *own = json_string_value(json_object_get(split, "split"));
      if (own && name && strcmp(own, name) == 0)
        return true;
    }
  }
  return false;
}

/* Of a finished run, from its summary: `calibrated`, the splits whose metrics a calibrator changes; `shifts`, the
   ensembles that were chosen anew for each shift; and `shifted`, the ensemble itself on the splits of the shifts. Each
   is left out where it would be empty. */
static enum tutti_status add_from_summary(tutti_context *context, const tutti_view *view, json_t *root) {
  json_t *summary, *split, *calibrated = json_array(), *shifted = json_array();
  size_t index;
  enum tutti_status status = tutti_run_read_summary(context, view->directory, &summary);
  json_t *shifts = status == TUTTI_OK ? json_object_get(summary, "shifts") : NULL;
  if (status != TUTTI_OK)
    goto out;
  json_array_foreach(json_object_get(summary, "evaluation"), index, split) {
    if (json_object_get(split, "calibrated"))
      (void)json_array_append(calibrated, split);
    if (is_of_shift(shifts, json_string_value(json_object_get(split, "split"))))
      (void)json_array_append_new(shifted, json_pack("{s:O, s:O*}", "split", json_object_get(split, "split"), "metrics",
                                                     json_object_get(split, "metrics")));
  }
  if (json_array_size(calibrated) > 0)
    (void)json_object_set(root, "calibrated", calibrated);
  if (json_array_size(shifts) > 0) {
    (void)json_object_set(root, "shifts", shifts);
    (void)json_object_set(root, "shifted", shifted);
  }
out:
  json_decref(summary);
  json_decref(calibrated);
  json_decref(shifted);
  return status;
}

/* What the workers of a run at work are at; NULL where that is not known. */
static json_t *live_of(tutti_context *context, const tutti_view *view) {
  char *text = NULL;
  if (!tutti_run_is_locked(view->directory) ||
      tutti_run_file_read(context, view->directory, TUTTI_RUN_FILE_LIVE, &text) != TUTTI_OK) {
    tutti_error_clear(context);
    return NULL;
  }
  json_t *live = text ? json_loads(text, 0, NULL) : NULL;
  tutti_free(text);
  if (json_is_object(live))
    return live;
  json_decref(live);
  return NULL;
}

enum tutti_status tutti_view_status(tutti_context *context, tutti_view *view, char **json) {
  enum tutti_status status = TUTTI_OK;
  const struct tutti_history *history = &view->history;
  char *summary = NULL, *builder = NULL, *ensemble = NULL;
  json_t *root = NULL, *trials = json_array(), *failures = NULL;
  double seconds = 0;
  uint64_t repeats = 0;
  if (!tutti_experiment_is_fit(view->experiment))
    TUTTI_TRY_OUT(context, tutti_history_repeats(context, history, &repeats));
  TUTTI_TRY_OUT(context, tutti_run_read_ensemble(context, view->directory, &ensemble));
  TUTTI_TRY_OUT(context, tutti_run_summary(context, view->experiment, history, ensemble, NULL, NULL, &summary));
  TUTTI_TRY_OUT(context, tutti_joined_describe(context, view, &summary));
  if (view->catalogue)
    TUTTI_TRY_OUT(context, tutti_catalogue_get(context, view->catalogue, "builder", &builder));
  TUTTI_TRY_OUT(context, tutti_history_failures(context, history, &failures));
  json_t *live = live_of(context, view);
  for (uint64_t i = 0; i < history->asked; i++) {
    json_array_append_new(trials, trial_row(history, i));
    seconds += history->records[i].seconds;
  }
  root = json_loads(summary, 0, NULL);
  if (!tutti_experiment_is_fit(view->experiment))
    (void)json_object_del(root, "evaluation");
  json_object_set_new(root, "directory", json_string(view->directory));
  json_object_set_new(root, "running", json_boolean(tutti_run_is_locked(view->directory)));
  json_object_set_new(root, "asked", json_integer((json_int_t)history->asked));
  json_object_set_new(root, "repeats", json_integer((json_int_t)repeats));
  json_object_set_new(root, "training_seconds", json_real(seconds));
  json_object_set_new(root, "builder_state", builder ? json_loads(builder, 0, NULL) : json_null());
  json_object_set(root, "failures", failures);
  if (live)
    json_object_set_new(root, "live", live);
  TUTTI_TRY_OUT(context, add_from_summary(context, view, root));
  json_object_set(root, "all_trials", trials);
  status = tutti_json_document(context, json_incref(root), json);
out:
  json_decref(root);
  json_decref(trials);
  json_decref(failures);
  tutti_free(summary);
  tutti_free(builder);
  tutti_free(ensemble);
  return status;
}

/* --- select, keep, evaluate --- */

/* What select, curve, keep and evaluate read of the recipe; other overrides are refused. */
static const char *const select_reads[] = {"selector", "calibrator", "evaluation", "run.plugin_path", NULL};
static const char *const curve_reads[] = {"selector", "evaluation", "run.plugin_path", NULL};
static const char *const keep_reads[] = {"selector", "calibrator", "evaluation.folds", "run.plugin_path", NULL};
static const char *const evaluate_reads[] = {"evaluation", NULL};

/* The run's recipe with overrides, of which only what reads[] names may be overridden. */
static enum tutti_status load_overridden(tutti_context *context, const tutti_view *view, const char *const *reads,
                                         size_t count, const char *const *overrides, tutti_recipe **recipe) {
  char *path;
  *recipe = NULL;
  TUTTI_TRY(context, tutti_run_file_path(context, tutti_view_source(view), TUTTI_RUN_FILE_RECIPE, &path));
  enum tutti_status status = tutti_recipe_load_recorded(context, path, count, overrides, recipe);
  tutti_free(path);
  TUTTI_TRY(context, status);
  return tutti_recipe_refuse_unread(context, *recipe, reads);
}

/* Does the command fit a calibrator? */
static bool fits_calibrator(const char *const *reads, const tutti_host *host) {
  const char *calibrator = tutti_host_plugin(host, "calibrator");
  while (*reads && strcmp(*reads, "calibrator") != 0)
    reads++;
  return *reads && calibrator && strcmp(calibrator, "none") != 0;
}

/* Refuse overrides of [evaluation] that would change nothing for this task. */
static enum tutti_status refuse_idle(tutti_context *context, const tutti_view *view, bool calibrates, size_t count,
                                     const char *const *overrides) {
  static const char section[] = "evaluation.";
  for (size_t i = 0; i < count; i++) {
    char key[32] = "";
    if (strncmp(overrides[i], section, sizeof section - 1) != 0)
      continue;
    (void)snprintf(key, sizeof key, "%.*s", (int)strcspn(overrides[i] + sizeof section - 1, " ="),
                   overrides[i] + sizeof section - 1);
    const char *needed = tutti_evaluation_needs(key, view->experiment->task.kind, calibrates);
    if (needed)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "--set %s: [evaluation] %s needs %s, and there is none here",
                        overrides[i], key, needed);
  }
  return TUTTI_OK;
}

/* Trying selectors on a finished pool: the recipe with its overrides, and the objects that it defines. */
struct trying {
  tutti_recipe *recipe;
  tutti_host *host;
  uint64_t *trials;
  struct tutti_choice choice;
};

static enum tutti_status begin_trying(tutti_context *context, tutti_view *view, const char *split,
                                      const char *const *reads, size_t count, const char *const *overrides,
                                      struct trying *trying) {
  size_t finished;
  const char *shift;
  TUTTI_TRY(context, tutti_view_check_search(context, view));
  if (split)
    TUTTI_TRY(context, tutti_view_check_data(context, view));
  if (split)
    TUTTI_TRY(context, tutti_run_shift_of(context, view->experiment, split, &shift));
  TUTTI_TRY(context, load_overridden(context, view, reads, count, overrides, &trying->recipe));
  TUTTI_TRY(context, tutti_recipe_assemble(context, trying->recipe, &trying->host));
  tutti_host_set_facts(trying->host, &view->experiment->facts);
  TUTTI_TRY(context, refuse_idle(context, view, fits_calibrator(reads, trying->host), count, overrides));
  TUTTI_TRY(context, tutti_history_finished(context, &view->history, &trying->trials, &finished));
  trying->choice = (struct tutti_choice){.source = &view->pool,
                                         .host = trying->host,
                                         .seed = view->experiment->facts.seed,
                                         .split = split ? split : TUTTI_SPLIT_VALIDATION,
                                         .count = finished,
                                         .trials = trying->trials,
                                         .evaluation = tutti_recipe_evaluation(trying->recipe)};
  return finished > 0
             ? TUTTI_OK
             : tutti_error_prefix(context, tutti_history_nothing(context, &view->history), "%s: ", view->directory);
}

static void end_trying(struct trying *trying) {
  tutti_free(trying->trials);
  tutti_host_destroy(trying->host);
  tutti_recipe_destroy(trying->recipe);
}

/* Choose where trials have no predictions. */
static enum tutti_status choose_by_loss(tutti_context *context, const tutti_view *view,
                                        const struct tutti_choice *choice, char **chosen) {
  TUTTI_TRY(context, tutti_run_choose_by_loss(context, view->experiment, choice->host, &view->history, chosen));
  if (*chosen)
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "%s: trials of backend %s have no predictions, and selector %s chooses by them; --set "
                    "selector.plugin=top-m goes by losses",
                    view->directory, tutti_host_plugin(view->experiment->host, "backend"),
                    tutti_host_plugin(choice->host, "selector"));
}

/* The chosen ensemble and its metrics on all splits, as JSON texts; without predictions there are no metrics (NULL). */
static enum tutti_status choose(tutti_context *context, const tutti_view *view, const struct tutti_choice *choice,
                                char **chosen, char **evaluation) {
  enum tutti_status status = TUTTI_OK;
  tutti_ensemble *ensemble = NULL;
  struct tutti_run_calibration calibration = {.said = NULL};
  if (!view->experiment->dataset)
    return choose_by_loss(context, view, choice, chosen);
  TUTTI_TRY_OUT(context, tutti_ensemble_create(context, &ensemble));
  TUTTI_TRY_OUT(context, tutti_run_choose(context, choice, ensemble));
  TUTTI_TRY_OUT(context, tutti_run_calibrate(context, choice, ensemble, &calibration));
  TUTTI_TRY_OUT(context, tutti_ensemble_print(context, ensemble, tutti_host_plugin(choice->host, "selector"),
                                              view->experiment->loss, calibration.said, chosen));
  TUTTI_TRY_OUT(context, tutti_joined_locate(context, view, chosen));
  TUTTI_TRY_OUT(context, tutti_run_evaluate(context, choice->source, &view->history, ensemble, calibration.calibrator,
                                            choice->evaluation, NULL, evaluation));
out:
  tutti_run_calibration_release(&calibration);
  tutti_ensemble_destroy(ensemble);
  return status;
}

enum tutti_status tutti_view_select(tutti_context *context, tutti_view *view, const char *split, size_t count,
                                    const char *const *overrides, char **text) {
  enum tutti_status status = TUTTI_OK;
  struct trying trying = {0};
  char *chosen = NULL, *evaluation = NULL;
  json_t *values = NULL;
  *text = NULL;
  TUTTI_TRY_OUT(context, begin_trying(context, view, split, select_reads, count, overrides, &trying));
  TUTTI_TRY_OUT(context, choose(context, view, &trying.choice, &chosen, &evaluation));
  if (!evaluation)
    TUTTI_TRY_OUT(context, tutti_run_describe_values(context, view->experiment, &view->history, chosen, &values));
  json_t *root = json_loads(chosen, 0, NULL);
  json_object_set_new(root, evaluation ? "evaluation" : "values",
                      evaluation ? json_loads(evaluation, 0, NULL) : values);
  if (view->parts)
    json_object_set_new(root, "pools", tutti_joined_pools(view, root));
  status = tutti_json_document(context, root, text);
out:
  tutti_free(chosen);
  tutti_free(evaluation);
  end_trying(&trying);
  return status;
}

/* What a run keeps of a choice: the texts of ensemble.json and summary.json. `own`: in place of the ensemble that its
   recipe chooses, which it says. */
static enum tutti_status make_result(tutti_context *context, tutti_view *view, const char *split, size_t count,
                                     const char *const *overrides, bool own, char **chosen, char **summary) {
  enum tutti_status status = TUTTI_OK;
  char *evaluation = NULL, *shifts = NULL;
  struct trying trying = {0};
  TUTTI_TRY_OUT(context, begin_trying(context, view, split, keep_reads, count, overrides, &trying));
  TUTTI_TRY_OUT(context, choose(context, view, &trying.choice, chosen, &evaluation));
  TUTTI_TRY_OUT(context, tutti_weights_check(context, &view->pool, *chosen));
  if (own)
    TUTTI_TRY_OUT(context, tutti_kept_mark(context, split, count, overrides, chosen));
  if (view->experiment->dataset)
    TUTTI_TRY_OUT(context, tutti_run_shifts(context, &trying.choice, &view->history, &shifts));
  TUTTI_TRY_OUT(context,
                tutti_run_summary(context, view->experiment, &view->history, *chosen, evaluation, shifts, summary));
out:
  tutti_free(evaluation);
  tutti_free(shifts);
  end_trying(&trying);
  return status;
}

enum tutti_status tutti_view_keep(tutti_context *context, tutti_view *view, const char *split, size_t count,
                                  const char *const *overrides, char **summary) {
  enum tutti_status status = TUTTI_OK;
  int lock = -1;
  char *chosen = NULL;
  tutti_view *now = NULL; /* the run may have gone on since the view was opened */
  *summary = NULL;
  if (view->unnamed)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s are no run together: an ensemble of them is kept in a new directory", view->directory);
  TUTTI_TRY_OUT(context, tutti_run_lock(context, view->directory, &lock));
  TUTTI_TRY_OUT(context, tutti_view_open(context, view->directory, &now));
  TUTTI_TRY_OUT(context, make_result(context, now, split, count, overrides, true, &chosen, summary));
  TUTTI_TRY_OUT(context, tutti_joined_describe(context, now, summary));
  TUTTI_TRY_OUT(context, tutti_run_write_result(context, now->directory, chosen, summary));
out:
  if (lock >= 0)
    (void)close(lock);
  tutti_view_close(now);
  tutti_free(chosen);
  return status;
}

enum tutti_status tutti_view_keep_to(tutti_context *context, tutti_view *view, const char *directory, const char *split,
                                     size_t count, const char *const *overrides, char **summary) {
  enum tutti_status status = TUTTI_OK;
  char *chosen = NULL;
  *summary = NULL;
  if (!view->unnamed)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s is a run of its own; its ensemble is kept there",
                      view->directory);
  TUTTI_TRY_OUT(context, make_result(context, view, split, count, overrides, false, &chosen, summary));
  TUTTI_TRY_OUT(context, tutti_joined_write(context, view, directory));
  TUTTI_TRY_OUT(context, tutti_joined_describe(context, view, summary));
  TUTTI_TRY_OUT(context, tutti_run_write_result(context, directory, chosen, summary));
out:
  tutti_free(chosen);
  return status;
}

enum tutti_status tutti_view_curve(tutti_context *context, tutti_view *view, const char *split, size_t count,
                                   const char *const *overrides, const struct tutti_curve_options *options,
                                   char **json) {
  struct trying trying = {0};
  TUTTI_TRY(context, tutti_view_check_data(context, view));
  enum tutti_status status = begin_trying(context, view, split, curve_reads, count, overrides, &trying);
  if (status == TUTTI_OK)
    status = tutti_run_curve(context, &trying.choice, &view->history, options, json);
  end_trying(&trying);
  return status;
}

enum tutti_status tutti_view_evaluate(tutti_context *context, tutti_view *view, const char *given, size_t count,
                                      const char *const *overrides, char **json) {
  enum tutti_status status = TUTTI_OK;
  tutti_recipe *recipe = NULL;
  tutti_ensemble *ensemble = NULL;
  struct tutti_run_calibration calibration = {.said = NULL};
  char *text = NULL;
  TUTTI_TRY(context, tutti_view_check_data(context, view));
  TUTTI_TRY_OUT(context, load_overridden(context, view, evaluate_reads, count, overrides, &recipe));
  TUTTI_TRY_OUT(context, refuse_idle(context, view, false, count, overrides));
  TUTTI_TRY_OUT(context, tutti_view_ensemble(context, view, given, &text));
  TUTTI_TRY_OUT(context, tutti_ensemble_parse(context, text, &ensemble));
  TUTTI_TRY_OUT(context, tutti_run_restore_calibration(context, view->experiment, text, &calibration));
  TUTTI_TRY_OUT(context, tutti_run_evaluate(context, &view->pool, &view->history, ensemble, calibration.calibrator,
                                            tutti_recipe_evaluation(recipe), NULL, json));
out:
  tutti_run_calibration_release(&calibration);
  tutti_ensemble_destroy(ensemble);
  tutti_free(text);
  tutti_recipe_destroy(recipe);
  return status;
}

enum tutti_task_kind tutti_view_kind(const tutti_view *view) { return view->experiment->task.kind; }

const char *tutti_view_output(const tutti_view *view, size_t index) {
  const struct tutti_experiment *experiment = view->experiment;
  return experiment->task.kind == TUTTI_TASK_CLASSIFICATION ? tutti_dataset_class(experiment->dataset, index)
                                                            : tutti_dataset_target(experiment->dataset, index);
}
