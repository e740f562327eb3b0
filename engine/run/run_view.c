/* run_view.c - reads and uses a run directory, after the run or during it. */
#include "run_impl.h"

#include "core/base/file_impl.h"
#include "core/base/json_impl.h"
#include "core/base/sized_impl.h"
#include "record_impl.h"
#include "trial_impl.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>
#include <tutti/safetensors.h>

struct tutti_view {
  char *directory;
  struct tutti_experiment *experiment;
  struct tutti_run_pool pool;
  tutti_catalogue *catalogue;
  struct tutti_history history;
};

/* The catalogue, and the run's files, which are compared with it before they are used. */
static enum tutti_status open_record(tutti_context *context, tutti_view *view) {
  enum tutti_status status;
  char *path = NULL, *why = NULL;
  TUTTI_TRY_OUT(context, tutti_run_file_path(context, view->directory, TUTTI_RUN_FILE_CATALOGUE, &path));
  TUTTI_TRY_OUT(context, tutti_catalogue_open(context, path, false, &view->catalogue));
  TUTTI_TRY_OUT(context, tutti_run_check_files(context, view->directory, view->catalogue, &why));
  if (why)
    status = TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT,
                        "%s; go on with the run to mend it (--resume), or take the file from a copy", why);
out:
  tutti_free(path);
  tutti_free(why);
  return status;
}

static enum tutti_status open_experiment(tutti_context *context, tutti_view *view) {
  tutti_recipe *recipe;
  tutti_dataset *dataset;
  char *path;
  TUTTI_TRY(context, tutti_run_file_path(context, view->directory, TUTTI_RUN_FILE_RECIPE, &path));
  enum tutti_status status = tutti_recipe_load_recorded(context, path, 0, NULL, &recipe);
  tutti_free(path);
  TUTTI_TRY(context, status);
  status = tutti_run_dataset(context, view->directory, recipe, &dataset);
  if (status != TUTTI_OK) {
    tutti_recipe_destroy(recipe);
    return tutti_error_trace(context, status, __FILE__, __LINE__, __func__);
  }
  TUTTI_TRY(context, tutti_experiment_reopen(context, recipe, dataset, &view->experiment));
  view->pool = (struct tutti_run_pool){view->directory, view->experiment, &view->history, NULL};
  return TUTTI_OK;
}

enum tutti_status tutti_view_open(tutti_context *context, const char *directory, tutti_view **out) {
  enum tutti_status status = TUTTI_OK;
  tutti_view *view = NULL;
  *out = NULL;
  if (!tutti_run_directory_has_run(directory))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: expected a run directory (with %s in it)", directory,
                      tutti_run_file_name(TUTTI_RUN_FILE_CATALOGUE));
  TUTTI_TRY(context, tutti_run_check_layout(context, directory));
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *view, &view));
  TUTTI_TRY_OUT(context, tutti_strdup(context, directory, &view->directory));
  TUTTI_TRY_OUT(context, open_record(context, view));
  TUTTI_TRY_OUT(context, open_experiment(context, view));
  TUTTI_TRY_OUT(context, tutti_history_load(context, view->catalogue, view->experiment->scope, &view->history));
  *out = view;
  view = NULL;
out:
  tutti_view_close(view);
  return status;
}

void tutti_view_close(tutti_view *view) {
  if (!view)
    return;
  tutti_history_release(&view->history);
  tutti_catalogue_close(view->catalogue);
  tutti_experiment_destroy(view->experiment);
  tutti_free(view->directory);
  tutti_free(view);
}

static enum tutti_status check_search(tutti_context *context, const tutti_view *view) {
  if (!tutti_experiment_is_fit(view->experiment))
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "%s: its trials are repeats of one fit, so there is no ensemble; tutti status shows their metrics",
                    view->directory);
}

static enum tutti_status check_data(tutti_context *context, const tutti_view *view) {
  TUTTI_TRY(context, check_search(context, view));
  if (view->experiment->dataset)
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "%s: its backend %s works without data, so there are no predictions and nothing to evaluate; tutti "
                    "status shows its best trial",
                    view->directory, tutti_host_plugin(view->experiment->host, "backend"));
}

/* `given`, or a copy of the run's own ensemble; an error if there is neither. */
static enum tutti_status which_ensemble(tutti_context *context, const tutti_view *view, const char *given,
                                        char **text) {
  if (given)
    return tutti_strdup(context, given, text);
  TUTTI_TRY(context, tutti_run_read_ensemble(context, view->directory, text));
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

enum tutti_status tutti_view_status(tutti_context *context, tutti_view *view, char **json) {
  enum tutti_status status = TUTTI_OK;
  const struct tutti_history *history = &view->history;
  char *summary = NULL, *builder = NULL, *ensemble = NULL;
  json_t *root = NULL, *trials = json_array();
  double seconds = 0;
  TUTTI_TRY_OUT(context, tutti_run_read_ensemble(context, view->directory, &ensemble));
  TUTTI_TRY_OUT(context, tutti_run_summary(context, view->experiment, history, ensemble, NULL, NULL, &summary));
  TUTTI_TRY_OUT(context, tutti_catalogue_get(context, view->catalogue, "builder", &builder));
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
  json_object_set_new(root, "training_seconds", json_real(seconds));
  json_object_set_new(root, "builder_state", builder ? json_loads(builder, 0, NULL) : json_null());
  json_object_set(root, "all_trials", trials);
  status = tutti_json_document(context, json_incref(root), json);
out:
  json_decref(root);
  json_decref(trials);
  tutti_free(summary);
  tutti_free(builder);
  tutti_free(ensemble);
  return status;
}

/* --- select, keep, evaluate --- */

/* What select, curve, keep and evaluate read of the recipe; other overrides are refused. */
static const char *const select_reads[] = {"selector", "evaluation", "run.plugin_path", NULL};
static const char *const keep_reads[] = {"selector", "run.plugin_path", NULL};
static const char *const evaluate_reads[] = {"evaluation", NULL};

/* The run's recipe with overrides, of which only what reads[] names may be overridden. */
static enum tutti_status load_overridden(tutti_context *context, const tutti_view *view, const char *const *reads,
                                         size_t count, const char *const *overrides, tutti_recipe **recipe) {
  char *path;
  *recipe = NULL;
  TUTTI_TRY(context, tutti_run_file_path(context, view->directory, TUTTI_RUN_FILE_RECIPE, &path));
  enum tutti_status status = tutti_recipe_load_recorded(context, path, count, overrides, recipe);
  tutti_free(path);
  TUTTI_TRY(context, status);
  return tutti_recipe_refuse_unread(context, *recipe, reads);
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
  TUTTI_TRY(context, check_search(context, view));
  if (split)
    TUTTI_TRY(context, check_data(context, view));
  if (split)
    TUTTI_TRY(context, tutti_run_shift_of(context, view->experiment, split, &shift));
  TUTTI_TRY(context, load_overridden(context, view, reads, count, overrides, &trying->recipe));
  TUTTI_TRY(context, tutti_recipe_assemble(context, trying->recipe, &trying->host));
  tutti_host_set_facts(trying->host, &view->experiment->facts);
  TUTTI_TRY(context, tutti_history_finished(context, &view->history, &trying->trials, &finished));
  trying->choice = (struct tutti_choice){.source = &view->pool,
                                         .host = trying->host,
                                         .seed = view->experiment->facts.seed,
                                         .split = split ? split : "validation",
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
  if (!view->experiment->dataset)
    return choose_by_loss(context, view, choice, chosen);
  TUTTI_TRY_OUT(context, tutti_ensemble_create(context, &ensemble));
  TUTTI_TRY_OUT(context, tutti_run_choose(context, choice, ensemble));
  TUTTI_TRY_OUT(context, tutti_ensemble_print(context, ensemble, tutti_host_plugin(choice->host, "selector"),
                                              view->experiment->loss, chosen));
  TUTTI_TRY_OUT(context, tutti_run_evaluate(context, choice->source, &view->history, ensemble, choice->evaluation, NULL,
                                            evaluation));
out:
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
  status = tutti_json_document(context, root, text);
out:
  tutti_free(chosen);
  tutti_free(evaluation);
  end_trying(&trying);
  return status;
}

enum tutti_status tutti_view_keep(tutti_context *context, tutti_view *view, const char *split, size_t count,
                                  const char *const *overrides, char **summary) {
  enum tutti_status status = TUTTI_OK;
  int lock = -1;
  char *chosen = NULL, *evaluation = NULL, *shifts = NULL;
  struct trying trying = {0};
  *summary = NULL;
  TUTTI_TRY_OUT(context, tutti_run_lock(context, view->directory, &lock));
  TUTTI_TRY_OUT(context, begin_trying(context, view, split, keep_reads, count, overrides, &trying));
  TUTTI_TRY_OUT(context, choose(context, view, &trying.choice, &chosen, &evaluation));
  if (view->experiment->dataset)
    TUTTI_TRY_OUT(context, tutti_run_shifts(context, &trying.choice, &view->history, &shifts));
  TUTTI_TRY_OUT(context,
                tutti_run_summary(context, view->experiment, &view->history, chosen, evaluation, shifts, summary));
  TUTTI_TRY_OUT(context, tutti_run_write_result(context, view->directory, chosen, summary));
out:
  if (lock >= 0)
    (void)close(lock);
  tutti_free(chosen);
  tutti_free(evaluation);
  tutti_free(shifts);
  end_trying(&trying);
  return status;
}

enum tutti_status tutti_view_curve(tutti_context *context, tutti_view *view, const char *split, size_t count,
                                   const char *const *overrides, const struct tutti_curve_options *options,
                                   char **json) {
  struct trying trying = {0};
  TUTTI_TRY(context, check_data(context, view));
  enum tutti_status status = begin_trying(context, view, split, select_reads, count, overrides, &trying);
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
  char *text = NULL;
  TUTTI_TRY(context, check_data(context, view));
  TUTTI_TRY_OUT(context, load_overridden(context, view, evaluate_reads, count, overrides, &recipe));
  TUTTI_TRY_OUT(context, which_ensemble(context, view, given, &text));
  TUTTI_TRY_OUT(context, tutti_ensemble_parse(context, text, &ensemble));
  TUTTI_TRY_OUT(context, tutti_run_evaluate(context, &view->pool, &view->history, ensemble,
                                            tutti_recipe_evaluation(recipe), NULL, json));
out:
  tutti_ensemble_destroy(ensemble);
  tutti_free(text);
  tutti_recipe_destroy(recipe);
  return status;
}

/* --- predict --- */

static enum tutti_status read_weights(tutti_context *context, const tutti_view *view, uint64_t trial,
                                      const char *report, tutti_tensors **weights) {
  enum tutti_status status = TUTTI_OK;
  char *path;
  TUTTI_TRY(context, tutti_trial_file_path(context, view->directory, trial, TUTTI_TRIAL_FILE_WEIGHTS, &path));
  if (access(path, F_OK) != 0)
    TUTTI_TRY_OUT(context, TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                                      "%s is not there, and predicting needs the members' weights; was the run made "
                                      "with run.keep_weights = no?",
                                      path));
  TUTTI_TRY_OUT(context, tutti_record_check_trial(context, view->directory, trial, report, path));
  TUTTI_TRY_OUT(context, tutti_tensors_read(context, path, weights));
out:
  tutti_free(path);
  return status;
}

/* Predict with one member, as tutti_experiment_predict does: from the targets' origins. */
static enum tutti_status predict_member(tutti_context *context, tutti_view *view, uint64_t trial,
                                        const tutti_split *split, float **out, float **epistemic) {
  enum tutti_status status = TUTTI_OK;
  const struct tutti_experiment *experiment = view->experiment;
  tutti_network *network = NULL;
  tutti_config *config = NULL;
  tutti_tensors *weights = NULL;
  const char *report;
  TUTTI_TRY(context, tutti_run_report(context, &view->pool, trial, &report));
  const tutti_candidate *candidate = view->history.records[trial].candidate;
  TUTTI_TRY_OUT(context, read_weights(context, view, trial, report, &weights));
  TUTTI_TRY_OUT(context,
                tutti_backend_configure(context, experiment->backend, tutti_scope_hyperparameters(experiment->scope),
                                        tutti_candidate_hyperparameters(candidate), &config));
  if (tutti_backend_takes_networks(experiment->backend))
    TUTTI_TRY_OUT(context, tutti_run_read_network(context, &view->pool, trial, &network));
  struct tutti_job job = {.size = sizeof job,
                          .trial = trial,
                          .run_seed = experiment->facts.seed,
                          .seed = tutti_candidate_seed(candidate),
                          .task = &experiment->task,
                          .network = network,
                          .candidate = candidate,
                          .config = tutti_config_values(config)};
  TUTTI_TRY_OUT(context, tutti_experiment_predict(context, experiment, &job, weights, split, out, epistemic));
out:
  tutti_tensors_destroy(weights);
  tutti_config_destroy(config);
  tutti_network_destroy(network);
  return status;
}

static enum tutti_status load_rows(tutti_context *context, const tutti_view *view, const char *path,
                                   tutti_split **split) {
  enum tutti_status status = TUTTI_OK;
  char *description_path = NULL, *description = NULL;
  size_t bytes;
  TUTTI_TRY_OUT(context, tutti_run_file_path(context, view->directory, TUTTI_RUN_FILE_DATA, &description_path));
  TUTTI_TRY_OUT(context, tutti_file_read(context, description_path, &description, &bytes));
  status = tutti_dataset_apply(context, description, path, split);
  if (status == TUTTI_ERROR_CORRUPT)
    status = tutti_error_prefix(context, status, "%s: ", description_path);
out:
  tutti_free(description_path);
  tutti_free(description);
  return status;
}

/* The members' predictions for a split, as a pool: members[models], epistemic[models]. */
static enum tutti_status predict_members(tutti_context *context, tutti_view *view, const tutti_split *split,
                                         const uint64_t *trials, float **members, float **epistemic,
                                         struct tutti_pool *pool) {
  for (size_t i = 0; i < pool->models; i++)
    TUTTI_TRY(context, predict_member(context, view, trials[i], split, &members[i], &epistemic[i]));
  pool->predictions = (const float *const *)members;
  pool->epistemic = (const float *const *)epistemic;
  pool->trials = trials;
  return TUTTI_OK;
}

/* What the ensemble says of each row, and of what its epistemic part is made, if members tell theirs. */
static enum tutti_status combine(tutti_context *context, const tutti_view *view, const struct tutti_pool *pool,
                                 const tutti_ensemble *ensemble, struct tutti_forecast *forecast) {
  const struct tutti_evaluation_options *options = tutti_recipe_evaluation(view->experiment->recipe);
  bool told;
  TUTTI_TRY(context,
            tutti_alloc(context, pool->rows, pool->outputs * sizeof *forecast->predicted, &forecast->predicted));
  TUTTI_TRY(context, tutti_alloc(context, pool->rows, pool->outputs * sizeof *forecast->parts, &forecast->parts));
  TUTTI_TRY(context, tutti_ensemble_predict(context, pool, ensemble, options, forecast->predicted));
  TUTTI_TRY(context, tutti_ensemble_epistemic_parts(context, pool, ensemble, options, forecast->parts, &told));
  if (told)
    return TUTTI_OK;
  tutti_free(forecast->parts);
  forecast->parts = NULL;
  return TUTTI_OK;
}

/* Count predicted values from 0 again. */
static void add_origins(const tutti_split *split, struct tutti_forecast *forecast) {
  enum { OF_FLOATS = 9, OF_DOUBLES = 17 }; /* digits that tell them apart */
  forecast->digits = OF_FLOATS;
  for (size_t o = 0; forecast->kind == TUTTI_TASK_REGRESSION && o < forecast->outputs; o++) {
    double origin = tutti_split_target_origin(split, o);
    for (size_t r = 0; r < forecast->rows; r++)
      forecast->predicted[r * forecast->outputs + o].mean += origin;
    if (origin != 0)
      forecast->digits = OF_DOUBLES;
  }
}

static enum tutti_status predict_rows(tutti_context *context, tutti_view *view, const tutti_ensemble *ensemble,
                                      const tutti_split *split, struct tutti_forecast *forecast) {
  enum tutti_status status = TUTTI_OK;
  const struct tutti_task *task = &view->experiment->task;
  size_t rows = tutti_split_rows(split), models = tutti_ensemble_size(ensemble);
  struct tutti_targets targets = {.size = sizeof targets};
  tutti_split_all_targets(split, &targets);
  struct tutti_pool pool = {.size = sizeof pool,
                            .kind = task->kind,
                            .models = models,
                            .rows = rows,
                            .outputs = task->outputs,
                            .values = targets.values,
                            .labels = targets.labels};
  uint64_t *trials = NULL;
  float **members = NULL, **epistemic = NULL;
  forecast->kind = task->kind;
  forecast->rows = rows;
  forecast->outputs = task->outputs;
  TUTTI_TRY_OUT(context, tutti_run_members(context, ensemble, &trials));
  TUTTI_TRY_OUT(context, tutti_alloc(context, models, sizeof *members, &members));
  TUTTI_TRY_OUT(context, tutti_alloc(context, models, sizeof *epistemic, &epistemic));
  TUTTI_TRY_OUT(context, predict_members(context, view, split, trials, members, epistemic, &pool));
  TUTTI_TRY_OUT(context, combine(context, view, &pool, ensemble, forecast));
  add_origins(split, forecast);
  if (pool.values || pool.labels)
    TUTTI_TRY_OUT(context, tutti_run_evaluate_pool(context, view->experiment, &view->history, tutti_split_name(split),
                                                   &pool, ensemble, &forecast->evaluation));
out:
  for (size_t i = 0; i < models && members && epistemic; i++) {
    tutti_free(members[i]);
    tutti_free(epistemic[i]);
  }
  tutti_free(trials);
  tutti_free(members);
  tutti_free(epistemic);
  return status;
}

/* Is the caller's forecast of a version that has `parts`? */
static bool has_parts(const struct tutti_forecast *forecast) {
  return forecast->size >= offsetof(struct tutti_forecast, parts) + sizeof forecast->parts;
}

enum tutti_status tutti_view_predict(tutti_context *context, tutti_view *view, const char *given, const char *path,
                                     struct tutti_forecast *forecast) {
  enum tutti_status status = TUTTI_OK;
  tutti_ensemble *ensemble = NULL;
  tutti_split *split = NULL;
  char *text = NULL;
  struct tutti_forecast own = {.size = sizeof own};
  TUTTI_TRY(context, TUTTI_CHECK_SIZE(context, struct tutti_forecast, forecast, evaluation));
  TUTTI_GIVE(forecast, &own);
  TUTTI_TRY(context, check_data(context, view));
  TUTTI_TRY(context, tutti_experiment_need_backend(context, view->experiment));
  TUTTI_TRY_OUT(context, which_ensemble(context, view, given, &text));
  TUTTI_TRY_OUT(context, tutti_ensemble_parse(context, text, &ensemble));
  TUTTI_TRY_OUT(context, load_rows(context, view, path, &split));
  TUTTI_TRY_OUT(context, predict_rows(context, view, ensemble, split, &own));
  TUTTI_GIVE(forecast, &own);
  if (!has_parts(forecast))
    tutti_free(own.parts);
out:
  tutti_free(text);
  tutti_split_destroy(split);
  tutti_ensemble_destroy(ensemble);
  if (status != TUTTI_OK)
    tutti_forecast_release(&own);
  return status;
}

void tutti_forecast_release(struct tutti_forecast *forecast) {
  tutti_free(forecast->predicted);
  tutti_free(forecast->evaluation);
  forecast->predicted = NULL;
  forecast->evaluation = NULL;
  if (!has_parts(forecast))
    return;
  tutti_free(forecast->parts);
  forecast->parts = NULL;
}

const char *tutti_view_output(const tutti_view *view, size_t index) {
  const struct tutti_experiment *experiment = view->experiment;
  return experiment->task.kind == TUTTI_TASK_CLASSIFICATION ? tutti_dataset_class(experiment->dataset, index)
                                                            : tutti_dataset_target(experiment->dataset, index);
}
