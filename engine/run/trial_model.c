/* trial_model.c - the trials of a search: the candidate's network is trained, predicts, and is kept. Of a backend
   without data, only a value comes. */
#include "record_impl.h"
#include "trial_folds_impl.h"

#include "core/base/file_impl.h"
#include "core/base/json_impl.h"
#include "core/base/text_impl.h"
#include "engine/data/folds_impl.h"
#include "engine/data/split_names.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tutti/safetensors.h>
#include <tutti/sized.h>

/* --- training --- */

static bool reserve_curve(struct tutti_training *training) {
  size_t count = training->epochs, room = training->room * 2 + 64;
  if (count < training->room)
    return true;
  if (tutti_realloc(training->context, count, room, sizeof *training->curve, &training->curve) != TUTTI_OK ||
      tutti_realloc(training->context, count, room, sizeof *training->losses, &training->losses) != TUTTI_OK ||
      tutti_realloc(training->context, count, room, sizeof *training->training_losses, &training->training_losses) !=
          TUTTI_OK)
    return false;
  training->room = room;
  return true;
}

/* May it go on? After the last epoch there is nothing to save. */
static bool may_go_on(const struct tutti_training *training) {
  const struct tutti_curve curve = tutti_training_curve(training);
  return !training->rule || training->epochs >= training->most_epochs ||
         tutti_rule_allows_curve(training->rule, &curve);
}

/* Is it to stop with this epoch? */
static bool stops_here(struct tutti_training *training) {
  training->stopped =
      training->stop && training->epochs >= training->stop_after && training->epochs < training->most_epochs;
  return training->stopped;
}

static bool on_epoch(void *argument, const struct tutti_epoch *epoch) {
  struct tutti_training *training = argument;
  if (!reserve_curve(training))
    return true; /* the curve ends here; training goes on */
  struct tutti_epoch *kept = &training->curve[training->epochs];
  TUTTI_TAKE(kept, epoch);
  training->losses[training->epochs] = kept->validation_loss;
  training->training_losses[training->epochs] = kept->train_loss;
  training->epochs++;
  if (training->report)
    training->report(training->report_argument, training);
  return may_go_on(training) && !stops_here(training);
}

static void on_measure(void *argument, const char *name, double value) {
  struct tutti_training *training = argument;
  if (!training->measures)
    training->measures = json_object();
  (void)json_object_set_new(training->measures, name, tutti_json_number(value));
}

static enum tutti_status prepare(tutti_context *context, const struct tutti_experiment *experiment,
                                 struct tutti_training *training) {
  TUTTI_TRY(context,
            tutti_experiment_learner(context, experiment, training->candidate, &training->learner, &training->config));
  TUTTI_TRY(context, tutti_experiment_task(context, experiment, training->candidate, &training->task));
  if (tutti_backend_takes_networks(training->learner))
    TUTTI_TRY(context, tutti_space_decode(context, tutti_candidate_genotype(training->candidate), &training->task.task,
                                          &training->network));
  training->most_epochs = tutti_backend_epochs(training->learner, training->config);
  const tutti_dataset *dataset = experiment->dataset;
  const tutti_split *validation = dataset ? tutti_dataset_find(dataset, TUTTI_SPLIT_VALIDATION) : NULL;
  training->job = (struct tutti_job){
      .size = sizeof training->job,
      .trial = training->number,
      .run_seed = experiment->facts.seed,
      .seed = tutti_candidate_seed(training->candidate),
      .task = &training->task.task,
      .network = training->network,
      .candidate = training->candidate,
      .config = tutti_config_values(training->config),
      .train = dataset ? tutti_dataset_find(dataset, TUTTI_SPLIT_TRAIN) : NULL,
      .validation = validation && tutti_split_rows(validation) ? validation : NULL,
      .progress = on_epoch,
      .progress_argument = training,
      .measure = on_measure,
      .measure_argument = training,
  };
  TUTTI_TRY(context, tutti_training_count_network(context, training));
  TUTTI_TRY(context,
            tutti_experiment_class_weights(context, experiment, training->job.train, &training->class_weights));
  training->job.class_weights = training->class_weights;
  /* A learner that takes no weights of other networks starts as it always does. */
  training->job.warm = training->initial && tutti_backend_honours(training->learner, TUTTI_JOB_WARM);
  training->job.initial = training->job.warm ? training->initial : NULL;
  return tutti_backend_check(context, training->learner, &training->job);
}

static enum tutti_status train(tutti_context *context, const struct tutti_experiment *experiment,
                               struct tutti_training *training) {
  if (tutti_dataset_folds(experiment->dataset))
    return tutti_folds_train(context, experiment, training);
  return tutti_backend_train(context, training->learner, &training->job, &training->outcome);
}

/* --- artefacts --- */

static enum tutti_status write_text(tutti_context *context, json_t *files, const char *folder, const char *name,
                                    const char *text) {
  char *path;
  TUTTI_TRY(context, tutti_format(context, &path, "%s/%s", folder, name));
  enum tutti_status status = tutti_file_write_text(context, path, text);
  tutti_free(path);
  if (status != TUTTI_OK)
    return tutti_error_trace(context, status, __FILE__, __LINE__, __func__);
  return tutti_record_add(context, files, folder, name);
}

static void add_cell(struct tutti_text *text, const char *separator, double number) {
  tutti_text_add(text, "%s", separator);
  if (isnan(number))
    tutti_text_add(text, "nan");
  else
    tutti_text_add_number(text, number);
}

/* The learning curve as CSV; without times, so that a repeated run writes the same bytes. */
static enum tutti_status write_curve(tutti_context *context, const struct tutti_training *training, json_t *files,
                                     const char *folder) {
  struct tutti_text text = tutti_text_begin(context);
  char *curve;
  tutti_text_add(&text, "epoch,steps,learning_rate,train_loss,validation_loss\n");
  for (size_t i = 0; i < training->epochs; i++) {
    const struct tutti_epoch *epoch = &training->curve[i];
    tutti_text_add(&text, "%" PRIu32 ",%" PRIu64, epoch->epoch, epoch->steps);
    add_cell(&text, ",", epoch->learning_rate);
    add_cell(&text, ",", epoch->train_loss);
    add_cell(&text, ",", epoch->validation_loss);
    tutti_text_add(&text, "\n");
  }
  TUTTI_TRY(context, tutti_text_take(&text, &curve));
  enum tutti_status status = write_text(context, files, folder, tutti_trial_file_name(TUTTI_TRIAL_FILE_CURVE), curve);
  tutti_free(curve);
  return status;
}

static enum tutti_status write_network(tutti_context *context, const struct tutti_training *training, json_t *files,
                                       const char *folder) {
  char *text;
  if (!training->network)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_network_print(context, training->network, &text));
  enum tutti_status status = write_text(context, files, folder, tutti_trial_file_name(TUTTI_TRIAL_FILE_NETWORK), text);
  tutti_free(text);
  return status;
}

static enum tutti_status write_weights(tutti_context *context, const struct tutti_training *training, json_t *files,
                                       const char *folder) {
  const char *name = tutti_trial_file_name(TUTTI_TRIAL_FILE_WEIGHTS);
  char *path;
  TUTTI_TRY(context, tutti_format(context, &path, "%s/%s", folder, name));
  enum tutti_status status = tutti_tensors_write(context, training->outcome.weights, path);
  tutti_free(path);
  if (status != TUTTI_OK)
    return tutti_error_trace(context, status, __FILE__, __LINE__, __func__);
  return tutti_record_add(context, files, folder, name);
}

/* --- predictions --- */

/* Means and probabilities must be finite; a variance may be absent (NaN). */
static bool usable(const struct tutti_predictions *predictions) {
  size_t stride = predictions->kind == TUTTI_TASK_REGRESSION ? 2 : 1;
  size_t count = predictions->rows * tutti_predictions_width(predictions->kind, predictions->outputs);
  for (size_t i = 0; i < count; i += stride)
    if (!isfinite(predictions->values[i]))
      return false;
  return true;
}

static json_t *losses_of(const struct tutti_predictions *predictions, const struct tutti_targets *targets) {
  json_t *losses = json_object();
  for (int loss = 0; loss < TUTTI_LOSS_COUNT; loss++) {
    double value = tutti_loss_of((enum tutti_loss)loss, predictions, targets);
    if (isfinite(value))
      json_object_set_new(losses, tutti_loss_names()[loss], json_real(value));
  }
  return losses;
}

static enum tutti_status write_numbers(tutti_context *context, const char *folder, const char *name, size_t rank,
                                       const size_t *shape, const float *values, json_t *files) {
  char *path;
  TUTTI_TRY(context, tutti_format(context, &path, "%s/%s", folder, name));
  enum tutti_status status = tutti_npy_write(context, path, TUTTI_F32, rank, shape, values);
  tutti_free(path);
  TUTTI_TRY(context, status);
  return tutti_record_add(context, files, folder, name);
}

/* Write a split's predictions and, if the model tells it, what of their uncertainty is its own. */
static enum tutti_status write_predictions(tutti_context *context, const struct tutti_task *task, const char *split,
                                           size_t rows, const float *values, const float *epistemic, const char *folder,
                                           json_t *files) {
  enum tutti_status status = TUTTI_OK;
  bool moments = task->kind == TUTTI_TASK_REGRESSION;
  size_t shape[3] = {rows, task->outputs, 2};
  char *name = NULL, *parts = NULL;
  TUTTI_TRY_OUT(context, tutti_trial_predictions_name(context, split, &name));
  TUTTI_TRY_OUT(context, tutti_trial_epistemic_name(context, split, &parts));
  TUTTI_TRY_OUT(context, write_numbers(context, folder, name, moments ? 3 : 2, shape, values, files));
  if (epistemic)
    TUTTI_TRY_OUT(context, write_numbers(context, folder, parts, moments ? 2 : 1, shape, epistemic, files));
out:
  tutti_free(name);
  tutti_free(parts);
  return status;
}

/* Predict a split, write it (`folder` NULL: no), and add its losses to `metrics`. */
static enum tutti_status predict_split(tutti_context *context, const struct tutti_experiment *experiment,
                                       struct tutti_training *training, const tutti_split *split, const char *folder,
                                       json_t *files, json_t *metrics, double *loss) {
  enum tutti_status status = TUTTI_OK;
  const char *name = tutti_split_name(split);
  const struct tutti_task *task = &experiment->task;
  size_t rows = tutti_split_rows(split);
  float *values = NULL, *epistemic = NULL;
  status = tutti_experiment_predict(context, experiment, training->learner, &training->job, training->outcome.weights,
                                    split, &values, &epistemic);
  if (status == TUTTI_ERROR_IO) { /* what it predicts with is gone, as a device that was lost */
    training->outcome.state = TUTTI_STATE_FAILED;
    (void)snprintf(training->outcome.failure, sizeof training->outcome.failure, "%s", tutti_error_message(context));
    tutti_error_clear(context);
    status = TUTTI_OK;
    goto out;
  }
  TUTTI_TRY_OUT(context, status);
  struct tutti_predictions predictions = {sizeof predictions, task->kind, rows, task->outputs, values};
  if (!usable(&predictions)) {
    training->outcome.state = TUTTI_STATE_FAILED;
    (void)snprintf(training->outcome.failure, sizeof training->outcome.failure,
                   "predictions on split %s are not finite", name);
    goto out;
  }
  struct tutti_targets targets = {.size = sizeof targets};
  tutti_split_all_targets(split, &targets);
  *loss = tutti_loss_of(experiment->loss, &predictions, &targets);
  json_object_set_new(metrics, name, losses_of(&predictions, &targets));
  if (folder)
    TUTTI_TRY_OUT(context, write_predictions(context, task, name, rows, values, epistemic, folder, files));
out:
  tutti_free(values);
  tutti_free(epistemic);
  return status;
}

/* --- kinds --- */

/* The loss that the builder is told: of the kept weights or, if the recipe says so, at the end of the curve. */
static double objective_of(const struct tutti_experiment *experiment, const struct tutti_training *training,
                           double loss) {
  if (tutti_recipe_run(experiment->recipe)->objective == TUTTI_OBJECTIVE_KEPT || training->epochs == 0)
    return loss;
  return training->curve[training->epochs - 1].validation_loss;
}

/* Predict every split but the training rows; *loss is that of the validation rows. Without a folder, only these. */
static enum tutti_status predict_splits(tutti_context *context, const struct tutti_experiment *experiment,
                                        const char *folder, struct tutti_training *training, json_t *files,
                                        json_t *metrics, double *loss) {
  for (size_t i = 0; i < tutti_dataset_splits(experiment->dataset); i++) {
    const tutti_split *split = tutti_dataset_split(experiment->dataset, i);
    double split_loss = NAN;
    bool validation = strcmp(tutti_split_name(split), TUTTI_SPLIT_VALIDATION) == 0;
    if (tutti_split_rows(split) == 0 || strcmp(tutti_split_name(split), TUTTI_SPLIT_TRAIN) == 0 ||
        (!folder && !validation))
      continue;
    TUTTI_TRY(context, predict_split(context, experiment, training, split, folder, files, metrics, &split_loss));
    if (training->outcome.state == TUTTI_STATE_FAILED)
      return TUTTI_OK;
    if (validation)
      *loss = split_loss;
  }
  return TUTTI_OK;
}

static enum tutti_status write_model(tutti_context *context, const struct tutti_experiment *experiment,
                                     const char *folder, struct tutti_training *training, json_t *files,
                                     json_t *metrics, double *loss) {
  const struct tutti_run_config *run = tutti_recipe_run(experiment->recipe);
  bool pruned = training->outcome.state == TUTTI_STATE_PRUNED;
  bool kept = training->stopped && json_is_true(json_object_get(training->stop, "keep"));
  bool keeps = training->outcome.weights && (!pruned || run->keep_pruned || kept);
  if (training->outcome.weights)
    TUTTI_TRY(context, predict_splits(context, experiment, keeps ? folder : NULL, training, files, metrics, loss));
  if (training->outcome.state == TUTTI_STATE_FAILED)
    return TUTTI_OK;
  TUTTI_TRY(context, write_network(context, training, files, folder));
  TUTTI_TRY(context, write_curve(context, training, files, folder));
  if (keeps && run->keep_weights)
    TUTTI_TRY(context, write_weights(context, training, files, folder));
  *loss = objective_of(experiment, training, *loss);
  tutti_training_count_flops(context, experiment, training);
  if (keeps && training->timed)
    tutti_training_time(context, experiment, training);
  return TUTTI_OK;
}

const struct tutti_trial_kind tutti_trial_model = {
    .prepare = prepare, .train = train, .write = write_model, .has_weights = true, .number = "validation loss"};

static enum tutti_status train_value(tutti_context *context, const struct tutti_experiment *experiment,
                                     struct tutti_training *training) {
  (void)experiment;
  return tutti_backend_train(context, training->learner, &training->job, &training->outcome);
}

const struct tutti_trial_kind tutti_trial_value = {.prepare = prepare, .train = train_value, .number = "value"};
