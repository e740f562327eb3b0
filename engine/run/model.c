/* model.c - the chosen ensemble of a run: its members with their weights, and what they predict. */
#include "model_impl.h"

#include "core/base/file_impl.h"
#include "core/base/sized_impl.h"
#include "record_impl.h"
#include "run_weights.h"
#include "core/plugin/split_impl.h"
#include "engine/data/apply_impl.h"
#include "engine/evaluation/calibrate_impl.h"
#include "trial_impl.h"

#include <math.h>
#include <unistd.h>
#include <tutti/names.h>
#include <tutti/safetensors.h>

/* --- members --- */

static enum tutti_status read_weights(tutti_context *context, const char *directory, uint64_t trial, const char *report,
                                      tutti_tensors **weights) {
  enum tutti_status status = TUTTI_OK;
  char *path;
  TUTTI_TRY(context, tutti_trial_file_path(context, directory, trial, TUTTI_TRIAL_FILE_WEIGHTS, &path));
  if (tutti_weights_removed(report))
    TUTTI_TRY_OUT(context, TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                                      "%s was removed when the run ended (run.weights_of = members), and predicting "
                                      "needs the members' weights",
                                      path));
  if (access(path, F_OK) != 0)
    TUTTI_TRY_OUT(context, TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                                      "%s is not there, and predicting needs the members' weights; was the run made "
                                      "with run.keep_weights = no?",
                                      path));
  TUTTI_TRY_OUT(context, tutti_record_check_trial(context, directory, trial, report, path));
  TUTTI_TRY_OUT(context, tutti_tensors_read(context, path, weights));
out:
  tutti_free(path);
  return status;
}

static enum tutti_status open_member(tutti_context *context, const tutti_view *view, uint64_t trial,
                                     struct tutti_member *member) {
  const uint64_t number = trial;
  const struct tutti_run_pool *own = tutti_run_pool_of(&view->pool, &trial);
  const struct tutti_experiment *experiment = own->experiment;
  const char *report;
  TUTTI_TRY(context, tutti_run_report(context, own, trial, &report));
  const tutti_candidate *candidate = own->history->records[trial].candidate;
  member->trial = number;
  member->experiment = experiment;
  TUTTI_TRY(context, read_weights(context, own->directory, trial, report, &member->weights));
  TUTTI_TRY(context, tutti_experiment_learner(context, experiment, candidate, &member->learner, &member->config));
  TUTTI_TRY(context, tutti_experiment_task(context, experiment, candidate, &member->task));
  if (tutti_backend_takes_networks(member->learner))
    TUTTI_TRY(context, tutti_run_read_network(context, own, trial, &member->network));
  member->job = (struct tutti_job){.size = sizeof member->job,
                                   .trial = trial,
                                   .run_seed = experiment->facts.seed,
                                   .seed = tutti_candidate_seed(candidate),
                                   .task = &member->task.task,
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

/* Make the backends of all its runs. */
static enum tutti_status need_backends(tutti_context *context, tutti_view *view) {
  for (size_t i = 0; i < view->part_count; i++)
    TUTTI_TRY(context, tutti_experiment_need_backend(context, view->parts[i].view->experiment));
  return view->parts ? TUTTI_OK : tutti_experiment_need_backend(context, view->experiment);
}

enum tutti_status tutti_view_model(tutti_context *context, tutti_view *view, const char *given, tutti_model **out) {
  enum tutti_status status;
  tutti_model *model = NULL;
  char *text = NULL;
  *out = NULL;
  TUTTI_TRY(context, tutti_view_check_data(context, view));
  TUTTI_TRY(context, need_backends(context, view));
  TUTTI_TRY_OUT(context, tutti_view_ensemble(context, view, given, &text));
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *model, &model));
  model->view = view;
  TUTTI_TRY_OUT(context, tutti_ensemble_parse(context, text, &model->ensemble));
  TUTTI_TRY_OUT(context, tutti_run_restore_calibration(context, view->experiment, text, &model->calibration));
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
  tutti_run_calibration_release(&model->calibration);
  tutti_ensemble_destroy(model->ensemble);
  if (model->owns_view)
    tutti_view_close(model->view);
  tutti_free(model);
}

/* --- what it is --- */

enum tutti_task_kind tutti_model_kind(const tutti_model *model) { return tutti_view_kind(model->view); }
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
  for (size_t i = 0; i < model->count; i++) {
    if (tutti_cancelled(context))
      return TUTTI_FAIL(context, TUTTI_ERROR_CANCELLED, "interrupted with %zu of %zu members asked", i, model->count);
    TUTTI_TRY(context, tutti_experiment_predict(context, model->members[i].experiment, model->members[i].learner,
                                                &model->members[i].job, model->members[i].weights, split, &members[i],
                                                &epistemic[i]));
  }
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

/* --- intervals and quantiles --- */

static bool is_inside(double p) { return p > 0 && p < 1; }

static enum tutti_status check_asked(tutti_context *context, const struct tutti_forecast *forecast) {
  if (forecast->level != 0 && !is_inside(forecast->level))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "expected a level of intervals between 0 and 1, found %g",
                      forecast->level);
  for (size_t k = 0; k < forecast->quantile_count; k++)
    if (!is_inside(forecast->quantiles_at[k]))
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "expected quantiles between 0 and 1, found %g",
                        forecast->quantiles_at[k]);
  return TUTTI_OK;
}

static enum tutti_status quantiles(tutti_context *context, const struct tutti_model *model,
                                   const struct tutti_pool *pool, const struct tutti_calibrated *calibrated,
                                   size_t count, const double *at, double *out) {
  if (calibrated)
    return tutti_calibrated_quantiles(context, model->calibration.calibrator, calibrated, count, at, out);
  return tutti_combined_quantiles(context, pool, model->ensemble, count, at, out);
}

static enum tutti_status add_quantiles(tutti_context *context, const struct tutti_model *model,
                                       const struct tutti_pool *pool, const struct tutti_calibrated *calibrated,
                                       struct tutti_forecast *forecast) {
  size_t cells = pool->rows * pool->outputs, count = forecast->quantile_count;
  const double ends[2] = {0.5 - forecast->level / 2, 0.5 + forecast->level / 2};
  if (forecast->kind != TUTTI_TASK_REGRESSION)
    return TUTTI_OK;
  if (forecast->level != 0) {
    TUTTI_TRY(context, tutti_alloc(context, cells, sizeof ends, &forecast->intervals));
    TUTTI_TRY(context, quantiles(context, model, pool, calibrated, 2, ends, forecast->intervals));
  }
  if (count == 0)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_alloc(context, cells, count * sizeof(double), &forecast->quantiles));
  return quantiles(context, model, pool, calibrated, count, forecast->quantiles_at, forecast->quantiles);
}

/* Few rows to fit to cannot say how far the ends of a high level are: say so. */
static void tell_of_endless(tutti_context *context, const struct tutti_model *model, const struct tutti_pool *pool,
                            const struct tutti_forecast *forecast) {
  size_t cells = pool->rows * pool->outputs, endless = 0;
  for (size_t i = 0; forecast->intervals && i < cells; i++)
    endless += isinf(forecast->intervals[2 * i]) || isinf(forecast->intervals[2 * i + 1]);
  const long long rows = (long long)json_integer_value(json_object_get(model->calibration.said, "rows"));
  if (endless > 0)
    tutti_log(context, TUTTI_LOG_WARNING,
              "%zu of %zu %s at the level %.15g %s no end: the calibrator was fitted to %lld %s, too few to "
              "say more; ask for a lower level, or give it more rows (data.calibration, data.folds)",
              endless, cells, tutti_plural(cells, "interval", "intervals"), forecast->level,
              tutti_plural(endless, "has", "have"), rows, tutti_plural((size_t)rows, "row", "rows"));
}

/* All that is said of the rows of a pool, with the calibrator unless it is left out. */
static enum tutti_status say(tutti_context *context, const struct tutti_model *model, const struct tutti_pool *pool,
                             struct tutti_forecast *forecast) {
  const struct tutti_evaluation_options *options = tutti_recipe_evaluation(model->view->experiment->recipe);
  enum tutti_status status;
  struct tutti_calibrated calibrated = {.trials = NULL};
  bool calibrates = model->calibration.calibrator && !forecast->uncalibrated;
  TUTTI_TRY_OUT(context, combine(context, model, pool, forecast));
  if (calibrates) {
    TUTTI_TRY_OUT(context, tutti_calibrated_make(context, model->calibration.calibrator, pool, model->ensemble, options,
                                                 &calibrated));
    TUTTI_TRY_OUT(context,
                  tutti_calibrated_predict(context, &calibrated, options, forecast->predicted, forecast->parts));
  }
  TUTTI_TRY_OUT(context, add_quantiles(context, model, pool, calibrates ? &calibrated : NULL, forecast));
  if (calibrates)
    tell_of_endless(context, model, pool, forecast);
out:
  tutti_calibrated_release(&calibrated);
  return status;
}

/* Count predicted values from 0 again. */
static void add_origins(const tutti_split *split, struct tutti_forecast *forecast) {
  enum { OF_FLOATS = 9, OF_DOUBLES = 17 }; /* digits that tell them apart */
  forecast->digits = OF_FLOATS;
  for (size_t o = 0; forecast->kind == TUTTI_TASK_REGRESSION && o < forecast->outputs; o++) {
    double origin = tutti_split_target_origin(split, o);
    for (size_t r = 0; r < forecast->rows; r++) {
      size_t cell = r * forecast->outputs + o, count = forecast->quantile_count;
      forecast->predicted[cell].mean += origin;
      for (size_t k = 0; k < 2 && forecast->intervals; k++)
        forecast->intervals[2 * cell + k] += origin;
      for (size_t k = 0; k < count; k++)
        forecast->quantiles[cell * count + k] += origin;
    }
    if (origin != 0)
      forecast->digits = OF_DOUBLES;
  }
}

static void forget(size_t count, double *values) {
  for (size_t i = 0; values && i < count; i++)
    values[i] = NAN;
}

/* Rows that could not be read have no predictions. */
static enum tutti_status leave_out_unread(tutti_context *context, const tutti_split *split,
                                          struct tutti_forecast *forecast) {
  size_t outputs = forecast->outputs, quantiles = forecast->quantile_count;
  if (!split->unread)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_alloc(context, forecast->rows, 1, &forecast->unread));
  TUTTI_TRY(context, tutti_alloc(context, forecast->rows, sizeof *forecast->reasons, &forecast->reasons));
  for (size_t r = 0; r < forecast->rows; r++) {
    forecast->unread[r] = split->unread[r] != NULL;
    if (split->unread[r])
      TUTTI_TRY(context, tutti_strdup(context, split->unread[r], &forecast->reasons[r]));
    for (size_t cell = r * outputs; split->unread[r] && cell < (r + 1) * outputs; cell++) {
      forecast->predicted[cell] = (struct tutti_uncertainty){NAN, NAN, NAN, NAN};
      if (forecast->parts)
        forecast->parts[cell] = (struct tutti_epistemic_parts){NAN, NAN};
      forget(2, forecast->intervals ? forecast->intervals + 2 * cell : NULL);
      forget(quantiles, forecast->quantiles ? forecast->quantiles + cell * quantiles : NULL);
    }
  }
  return TUTTI_OK;
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
  struct tutti_judged judged = {.predictions = NULL};
  float **members = NULL, **epistemic = NULL;
  forecast->kind = task->kind;
  forecast->rows = rows;
  forecast->outputs = task->outputs;
  TUTTI_TRY_OUT(context, tutti_alloc(context, models, sizeof *members, &members));
  TUTTI_TRY_OUT(context, tutti_alloc(context, models, sizeof *epistemic, &epistemic));
  TUTTI_TRY_OUT(context, predict_members(context, model, split, members, epistemic, &pool));
  TUTTI_TRY_OUT(context, say(context, model, &pool, forecast));
  add_origins(split, forecast);
  TUTTI_TRY_OUT(context, leave_out_unread(context, split, forecast));
  tutti_calibrator *calibrator = forecast->uncalibrated ? NULL : model->calibration.calibrator;
  TUTTI_TRY_OUT(context, tutti_judged_take(context, split, &pool, &judged));
  if (pool.values || pool.labels)
    TUTTI_TRY_OUT(context, tutti_run_evaluate_pool(context, model->view->experiment, &model->view->history,
                                                   tutti_split_name(split), &judged.pool, model->ensemble, calibrator,
                                                   &forecast->evaluation));
out:
  tutti_judged_release(&judged);
  for (size_t i = 0; i < models && members && epistemic; i++) {
    tutti_free(members[i]);
    tutti_free(epistemic[i]);
  }
  tutti_free(members);
  tutti_free(epistemic);
  return status;
}

/* Is the caller's forecast of a version that has `parts`, and has_quantiles: intervals and quantiles? */
static bool has_parts(const struct tutti_forecast *forecast) {
  return forecast->size >= offsetof(struct tutti_forecast, parts) + sizeof forecast->parts;
}
static bool has_quantiles(const struct tutti_forecast *forecast) {
  return forecast->size >= offsetof(struct tutti_forecast, quantiles) + sizeof forecast->quantiles;
}

static bool has_unread(const struct tutti_forecast *forecast) {
  return forecast->size >= offsetof(struct tutti_forecast, unread) + sizeof forecast->unread;
}

static bool has_reasons(const struct tutti_forecast *forecast) {
  return forecast->size >= offsetof(struct tutti_forecast, reasons) + sizeof forecast->reasons;
}

static void free_reasons(const struct tutti_forecast *forecast) {
  for (size_t r = 0; forecast->reasons && r < forecast->rows; r++)
    tutti_free(forecast->reasons[r]);
  tutti_free(forecast->reasons);
}

/* An empty forecast that asks for what the caller's asks for. */
static struct tutti_forecast asked_by(const struct tutti_forecast *forecast) {
  struct tutti_forecast asked = {.size = sizeof asked};
  if (!has_quantiles(forecast))
    return asked;
  asked.level = forecast->level;
  asked.quantile_count = forecast->quantile_count;
  asked.quantiles_at = forecast->quantiles_at;
  asked.uncalibrated = forecast->uncalibrated;
  asked.tolerant = has_unread(forecast) && forecast->tolerant;
  return asked;
}

/* Predict a split into the caller's forecast, which may be of an older version. */
static enum tutti_status predict_split(tutti_context *context, const struct tutti_model *model,
                                       const tutti_split *split, struct tutti_forecast *forecast) {
  struct tutti_forecast own = asked_by(forecast);
  enum tutti_status status = predict_rows(context, model, split, &own);
  if (status != TUTTI_OK) {
    tutti_forecast_release(&own);
    return tutti_error_trace(context, status, __FILE__, __LINE__, __func__);
  }
  TUTTI_GIVE(forecast, &own);
  if (!has_parts(forecast))
    tutti_free(own.parts);
  if (!has_quantiles(forecast)) {
    tutti_free(own.intervals);
    tutti_free(own.quantiles);
  }
  if (!has_unread(forecast))
    tutti_free(own.unread);
  if (!has_reasons(forecast))
    free_reasons(&own);
  return TUTTI_OK;
}

/* Make the caller's forecast empty. */
static enum tutti_status begin_forecast(tutti_context *context, struct tutti_forecast *forecast) {
  TUTTI_TRY(context, TUTTI_CHECK_SIZE(context, struct tutti_forecast, forecast, evaluation));
  const struct tutti_forecast empty = asked_by(forecast);
  TUTTI_GIVE(forecast, &empty);
  return check_asked(context, &empty);
}

enum tutti_status tutti_model_predict(tutti_context *context, tutti_model *model, const tutti_rows *rows,
                                      struct tutti_forecast *forecast) {
  tutti_split *split;
  TUTTI_TRY(context, begin_forecast(context, forecast));
  TUTTI_TRY(context, tutti_dataset_encode_to(context, model->view->experiment->dataset, rows,
                                             asked_by(forecast).tolerant, &split));
  enum tutti_status status = predict_split(context, model, split, forecast);
  tutti_split_destroy(split);
  return status;
}

/* Rows of numbers[rows][columns], whose columns have no names. */
static enum tutti_status make_rows(tutti_context *context, size_t rows, size_t columns, const double *numbers,
                                   tutti_rows **made) {
  enum tutti_status status = TUTTI_OK;
  double *column = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, rows, sizeof *column, &column));
  TUTTI_TRY_OUT(context, tutti_rows_create(context, "the rows", made));
  for (size_t c = 0; c < columns; c++) {
    for (size_t r = 0; r < rows; r++)
      column[r] = numbers[r * columns + c];
    TUTTI_TRY_OUT(context, tutti_rows_add_column(context, *made, NULL));
    TUTTI_TRY_OUT(context, tutti_rows_add_numbers(context, *made, c, rows, column));
  }
out:
  tutti_free(column);
  return status;
}

enum tutti_status tutti_model_predict_numbers(tutti_context *context, tutti_model *model, size_t rows, size_t columns,
                                              const double *numbers, struct tutti_forecast *forecast) {
  tutti_rows *made = NULL;
  enum tutti_status status = make_rows(context, rows, columns, numbers, &made);
  if (status == TUTTI_OK)
    status = tutti_model_predict(context, model, made, forecast);
  tutti_rows_destroy(made);
  return status;
}

static enum tutti_status load_rows(tutti_context *context, const tutti_view *view, const char *path, bool tolerant,
                                   tutti_split **split) {
  enum tutti_status status = TUTTI_OK;
  char *description_path = NULL, *description = NULL;
  size_t bytes;
  TUTTI_TRY_OUT(context, tutti_run_file_path(context, tutti_view_source(view), TUTTI_RUN_FILE_DATA, &description_path));
  TUTTI_TRY_OUT(context, tutti_file_read(context, description_path, &description, &bytes));
  status = tutti_dataset_apply_to(context, description, path, tolerant, split);
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
  TUTTI_TRY_OUT(context, load_rows(context, view, path, asked_by(forecast).tolerant, &split));
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
  if (!has_quantiles(forecast))
    return;
  tutti_free(forecast->intervals);
  tutti_free(forecast->quantiles);
  forecast->intervals = forecast->quantiles = NULL;
  if (!has_unread(forecast))
    return;
  tutti_free(forecast->unread);
  forecast->unread = NULL;
  if (!has_reasons(forecast))
    return;
  free_reasons(forecast);
  forecast->reasons = NULL;
}
