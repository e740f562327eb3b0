/* model.c - the chosen ensemble of a run: its members with their weights, and what they predict. */
#include "model_impl.h"

#include "core/base/file_impl.h"
#include "core/base/sized_impl.h"
#include "record_impl.h"
#include "trial_impl.h"

#include <unistd.h>
#include <tutti/safetensors.h>

/* --- members --- */

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

static enum tutti_status open_member(tutti_context *context, const tutti_view *view, uint64_t trial,
                                     struct tutti_member *member) {
  const struct tutti_experiment *experiment = view->experiment;
  const char *report;
  TUTTI_TRY(context, tutti_run_report(context, &view->pool, trial, &report));
  const tutti_candidate *candidate = view->history.records[trial].candidate;
  TUTTI_TRY(context, read_weights(context, view, trial, report, &member->weights));
  TUTTI_TRY(context,
            tutti_backend_configure(context, experiment->backend, tutti_scope_hyperparameters(experiment->scope),
                                    tutti_candidate_hyperparameters(candidate), &member->config));
  if (tutti_backend_takes_networks(experiment->backend))
    TUTTI_TRY(context, tutti_run_read_network(context, &view->pool, trial, &member->network));
  member->job = (struct tutti_job){.size = sizeof member->job,
                                   .trial = trial,
                                   .run_seed = experiment->facts.seed,
                                   .seed = tutti_candidate_seed(candidate),
                                   .task = &experiment->task,
                                   .network = member->network,
                                   .candidate = candidate,
                                   .config = tutti_config_values(member->config)};
  return TUTTI_OK;
}

static void close_member(struct tutti_member *member) {
  tutti_tensors_destroy(member->weights);
  tutti_config_destroy(member->config);
  tutti_network_destroy(member->network);
}

/* --- opening --- */

enum tutti_status tutti_view_model(tutti_context *context, tutti_view *view, const char *given, tutti_model **out) {
  enum tutti_status status;
  tutti_model *model = NULL;
  char *text = NULL;
  *out = NULL;
  TUTTI_TRY(context, tutti_view_check_data(context, view));
  TUTTI_TRY(context, tutti_experiment_need_backend(context, view->experiment));
  TUTTI_TRY_OUT(context, tutti_view_ensemble(context, view, given, &text));
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *model, &model));
  model->view = view;
  TUTTI_TRY_OUT(context, tutti_ensemble_parse(context, text, &model->ensemble));
  TUTTI_TRY_OUT(context, tutti_run_members(context, model->ensemble, &model->trials));
  TUTTI_TRY_OUT(context,
                tutti_alloc(context, tutti_ensemble_size(model->ensemble), sizeof *model->members, &model->members));
  model->count = tutti_ensemble_size(model->ensemble);
  for (size_t i = 0; i < model->count; i++)
    TUTTI_TRY_OUT(context, open_member(context, view, model->trials[i], &model->members[i]));
  *out = model;
  model = NULL;
out:
  tutti_free(text);
  tutti_model_close(model);
  return status;
}

enum tutti_status tutti_model_open(tutti_context *context, const char *directory, tutti_model **model) {
  tutti_view *view;
  *model = NULL;
  TUTTI_TRY(context, tutti_view_open(context, directory, &view));
  enum tutti_status status = tutti_view_model(context, view, NULL, model);
  if (status != TUTTI_OK) {
    tutti_view_close(view);
    return tutti_error_trace(context, status, __FILE__, __LINE__, __func__);
  }
  (*model)->owns_view = true;
  return TUTTI_OK;
}

void tutti_model_close(tutti_model *model) {
  if (!model)
    return;
  for (size_t i = 0; i < model->count; i++)
    close_member(&model->members[i]);
  tutti_free(model->members);
  tutti_free(model->trials);
  tutti_ensemble_destroy(model->ensemble);
  if (model->owns_view)
    tutti_view_close(model->view);
  tutti_free(model);
}

/* --- what it is --- */

enum tutti_task_kind tutti_model_kind(const tutti_model *model) { return model->view->experiment->task.kind; }
size_t tutti_model_outputs(const tutti_model *model) { return model->view->experiment->task.outputs; }
const char *tutti_model_output(const tutti_model *model, size_t index) { return tutti_view_output(model->view, index); }
size_t tutti_model_inputs(const tutti_model *model) { return tutti_dataset_inputs(model->view->experiment->dataset); }
const char *tutti_model_input(const tutti_model *model, size_t index) {
  return tutti_dataset_input(model->view->experiment->dataset, index);
}
size_t tutti_model_members(const tutti_model *model) { return model->count; }

/* --- predicting --- */

/* The members' predictions for a split, as a pool: members[models], epistemic[models]. */
static enum tutti_status predict_members(tutti_context *context, const struct tutti_model *model,
                                         const tutti_split *split, float **members, float **epistemic,
                                         struct tutti_pool *pool) {
  for (size_t i = 0; i < model->count; i++)
    TUTTI_TRY(context, tutti_experiment_predict(context, model->view->experiment, &model->members[i].job,
                                                model->members[i].weights, split, &members[i], &epistemic[i]));
  pool->predictions = (const float *const *)members;
  pool->epistemic = (const float *const *)epistemic;
  pool->trials = model->trials;
  return TUTTI_OK;
}

/* What the ensemble says of each row, and of what its epistemic part is made, if members tell theirs. */
static enum tutti_status combine(tutti_context *context, const struct tutti_model *model, const struct tutti_pool *pool,
                                 struct tutti_forecast *forecast) {
  const struct tutti_evaluation_options *options = tutti_recipe_evaluation(model->view->experiment->recipe);
  bool told;
  TUTTI_TRY(context,
            tutti_alloc(context, pool->rows, pool->outputs * sizeof *forecast->predicted, &forecast->predicted));
  TUTTI_TRY(context, tutti_alloc(context, pool->rows, pool->outputs * sizeof *forecast->parts, &forecast->parts));
  TUTTI_TRY(context, tutti_ensemble_predict(context, pool, model->ensemble, options, forecast->predicted));
  TUTTI_TRY(context, tutti_ensemble_epistemic_parts(context, pool, model->ensemble, options, forecast->parts, &told));
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

static enum tutti_status predict_rows(tutti_context *context, const struct tutti_model *model, const tutti_split *split,
                                      struct tutti_forecast *forecast) {
  enum tutti_status status = TUTTI_OK;
  const struct tutti_task *task = &model->view->experiment->task;
  size_t rows = tutti_split_rows(split), models = model->count;
  struct tutti_targets targets = {.size = sizeof targets};
  tutti_split_all_targets(split, &targets);
  struct tutti_pool pool = {.size = sizeof pool,
                            .kind = task->kind,
                            .models = models,
                            .rows = rows,
                            .outputs = task->outputs,
                            .values = targets.values,
                            .labels = targets.labels};
  float **members = NULL, **epistemic = NULL;
  forecast->kind = task->kind;
  forecast->rows = rows;
  forecast->outputs = task->outputs;
  TUTTI_TRY_OUT(context, tutti_alloc(context, models, sizeof *members, &members));
  TUTTI_TRY_OUT(context, tutti_alloc(context, models, sizeof *epistemic, &epistemic));
  TUTTI_TRY_OUT(context, predict_members(context, model, split, members, epistemic, &pool));
  TUTTI_TRY_OUT(context, combine(context, model, &pool, forecast));
  add_origins(split, forecast);
  if (pool.values || pool.labels)
    TUTTI_TRY_OUT(context, tutti_run_evaluate_pool(context, model->view->experiment, &model->view->history,
                                                   tutti_split_name(split), &pool, model->ensemble, NULL,
                                                   &forecast->evaluation));
out:
  for (size_t i = 0; i < models && members && epistemic; i++) {
    tutti_free(members[i]);
    tutti_free(epistemic[i]);
  }
  tutti_free(members);
  tutti_free(epistemic);
  return status;
}

/* Is the caller's forecast of a version that has `parts`? */
static bool has_parts(const struct tutti_forecast *forecast) {
  return forecast->size >= offsetof(struct tutti_forecast, parts) + sizeof forecast->parts;
}

/* Predict a split into the caller's forecast, which may be of an older version. */
static enum tutti_status predict_split(tutti_context *context, const struct tutti_model *model,
                                       const tutti_split *split, struct tutti_forecast *forecast) {
  struct tutti_forecast own = {.size = sizeof own};
  enum tutti_status status = predict_rows(context, model, split, &own);
  if (status != TUTTI_OK) {
    tutti_forecast_release(&own);
    return tutti_error_trace(context, status, __FILE__, __LINE__, __func__);
  }
  TUTTI_GIVE(forecast, &own);
  if (!has_parts(forecast))
    tutti_free(own.parts);
  return TUTTI_OK;
}

/* Make the caller's forecast empty. */
static enum tutti_status begin_forecast(tutti_context *context, struct tutti_forecast *forecast) {
  const struct tutti_forecast empty = {.size = sizeof empty};
  TUTTI_TRY(context, TUTTI_CHECK_SIZE(context, struct tutti_forecast, forecast, evaluation));
  TUTTI_GIVE(forecast, &empty);
  return TUTTI_OK;
}

enum tutti_status tutti_model_predict(tutti_context *context, tutti_model *model, const tutti_rows *rows,
                                      struct tutti_forecast *forecast) {
  tutti_split *split;
  TUTTI_TRY(context, begin_forecast(context, forecast));
  TUTTI_TRY(context, tutti_dataset_encode(context, model->view->experiment->dataset, rows, &split));
  enum tutti_status status = predict_split(context, model, split, forecast);
  tutti_split_destroy(split);
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

enum tutti_status tutti_view_predict(tutti_context *context, tutti_view *view, const char *given, const char *path,
                                     struct tutti_forecast *forecast) {
  enum tutti_status status;
  tutti_model *model = NULL;
  tutti_split *split = NULL;
  TUTTI_TRY(context, begin_forecast(context, forecast));
  TUTTI_TRY_OUT(context, tutti_view_model(context, view, given, &model));
  TUTTI_TRY_OUT(context, load_rows(context, view, path, &split));
  TUTTI_TRY_OUT(context, predict_split(context, model, split, forecast));
out:
  tutti_split_destroy(split);
  tutti_model_close(model);
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
