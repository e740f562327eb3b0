/* trial.c - the worker's side of a trial: from a request to a job, and from the outcome to artefacts and a reply. */
#include "record_impl.h"
#include "trial_impl.h"

#include "core/base/file_impl.h"
#include "core/base/json_impl.h"
#include "engine/data/cells_impl.h"
#include <tutti/sized.h>
#include "core/base/text_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tutti/clock.h>
#include <tutti/safetensors.h>

/* --- request --- */

enum tutti_status tutti_request_print(tutti_context *context, uint64_t trial, uint64_t fingerprint,
                                      const char *candidate, char **request) {
  return tutti_format(context, request, "{\"trial\": %" PRIu64 ", \"data\": \"%016" PRIx64 "\", \"candidate\": %s}",
                      trial, fingerprint, candidate);
}

static enum tutti_status read_request(tutti_context *context, const struct tutti_experiment *experiment,
                                      const char *request, struct tutti_training *training) {
  enum tutti_status status = TUTTI_OK;
  char fingerprint[17], *candidate_text = NULL;
  json_error_t error;
  json_t *root = json_loads(request, 0, &error), *candidate;
  const char *data;
  json_int_t trial;
  if (!root || json_unpack_ex(root, &error, 0, "{s:I, s:s, s:o}", "trial", &trial, "data", &data, "candidate",
                              &candidate) != 0) {
    status =
        TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "expected a request with trial, data and candidate: %s", error.text);
    goto out;
  }
  training->number = (uint64_t)trial;
  (void)snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, tutti_experiment_fingerprint(experiment));
  if (strcmp(data, fingerprint) != 0) {
    status = TUTTI_FAIL(
        context, TUTTI_ERROR_CORRUPT,
        "the data have changed since the run began: their fingerprint is %s, and that of the run's data is %s; "
        "put the old data back, or begin a new run",
        fingerprint, data);
    goto out;
  }
  TUTTI_TRY_OUT(context, tutti_json_line(context, json_incref(candidate), &candidate_text));
  TUTTI_TRY_OUT(context, tutti_scope_parse(context, experiment->scope, candidate_text, &training->candidate));
out:
  tutti_free(candidate_text);
  json_decref(root);
  return status;
}

/* --- training --- */

static bool on_epoch(void *argument, const struct tutti_epoch *epoch) {
  struct tutti_training *training = argument;
  if (training->epochs == training->room) {
    size_t room = training->room * 2 + 64;
    if (tutti_realloc(training->context, training->epochs, room, sizeof *training->curve, &training->curve) != TUTTI_OK)
      return true; /* the curve ends here; training goes on */
    training->room = room;
  }
  struct tutti_epoch *kept = &training->curve[training->epochs++];
  TUTTI_TAKE(kept, epoch);
  return true;
}

static void on_measure(void *argument, const char *name, double value) {
  struct tutti_training *training = argument;
  if (!training->measures)
    training->measures = json_object();
  (void)json_object_set_new(training->measures, name, tutti_json_number(value));
}

enum tutti_status tutti_training_begin(tutti_context *context, const struct tutti_experiment *experiment,
                                       const char *request, struct tutti_training *training) {
  training->context = context;
  training->started = tutti_clock();
  TUTTI_TRY(context, read_request(context, experiment, request, training));
  training->outcome = (struct tutti_outcome){.size = sizeof training->outcome, .value = NAN};
  if (tutti_experiment_is_fit(experiment))
    return TUTTI_OK;
  TUTTI_TRY(context,
            tutti_backend_configure(context, experiment->backend, tutti_scope_hyperparameters(experiment->scope),
                                    tutti_candidate_hyperparameters(training->candidate), &training->config));
  if (tutti_backend_takes_networks(experiment->backend))
    TUTTI_TRY(context, tutti_space_decode(context, tutti_candidate_genotype(training->candidate), &experiment->task,
                                          &training->network));
  const tutti_dataset *dataset = experiment->dataset;
  const tutti_split *validation = dataset ? tutti_dataset_find(dataset, "validation") : NULL;
  training->job = (struct tutti_job){
      .size = sizeof training->job,
      .trial = training->number,
      .run_seed = experiment->facts.seed,
      .seed = tutti_candidate_seed(training->candidate),
      .task = &experiment->task,
      .network = training->network,
      .candidate = training->candidate,
      .config = tutti_config_values(training->config),
      .train = dataset ? tutti_dataset_find(dataset, "train") : NULL,
      .validation = validation && tutti_split_rows(validation) ? validation : NULL,
      .progress = on_epoch,
      .progress_argument = training,
      .measure = on_measure,
      .measure_argument = training,
  };
  return tutti_backend_check(context, experiment->backend, &training->job);
}

void tutti_training_end(struct tutti_training *training) {
  tutti_fit_release(&training->fit);
  tutti_dataset_destroy(training->dataset);
  tutti_tensors_destroy(training->outcome.weights);
  json_decref(training->measures);
  tutti_free(training->curve);
  tutti_config_destroy(training->config);
  tutti_network_destroy(training->network);
  tutti_candidate_unref(training->candidate);
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

/* Predict a split, write it, and add its losses to `metrics`. */
static enum tutti_status predict_split(tutti_context *context, const struct tutti_experiment *experiment,
                                       struct tutti_training *training, const tutti_split *split, const char *folder,
                                       json_t *files, json_t *metrics, double *loss) {
  enum tutti_status status = TUTTI_OK;
  const char *name = tutti_split_name(split);
  const struct tutti_task *task = &experiment->task;
  size_t rows = tutti_split_rows(split);
  float *values = NULL, *epistemic = NULL;
  TUTTI_TRY_OUT(context, tutti_experiment_predict(context, experiment, &training->job, training->outcome.weights, split,
                                                  &values, &epistemic));
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
  TUTTI_TRY_OUT(context, write_predictions(context, task, name, rows, values, epistemic, folder, files));
out:
  tutti_free(values);
  tutti_free(epistemic);
  return status;
}

static enum tutti_status write_artefacts(tutti_context *context, const struct tutti_experiment *experiment,
                                         const char *directory, struct tutti_training *training, json_t *files,
                                         json_t *metrics, double *loss) {
  enum tutti_status status = TUTTI_OK;
  char *folder = NULL;
  TUTTI_TRY_OUT(context, tutti_trial_folder(context, directory, training->number, &folder));
  TUTTI_TRY_OUT(context, tutti_run_check_folder(context, folder));
  TUTTI_TRY_OUT(context, tutti_file_make_folder(context, folder));
  if (tutti_experiment_is_fit(experiment)) {
    status = tutti_training_write_fit(context, experiment, folder, training, files, loss);
    goto out;
  }
  for (size_t i = 0; i < tutti_dataset_splits(experiment->dataset); i++) {
    const tutti_split *split = tutti_dataset_split(experiment->dataset, i);
    double split_loss = NAN;
    if (tutti_split_rows(split) == 0 || strcmp(tutti_split_name(split), "train") == 0)
      continue;
    TUTTI_TRY_OUT(context, predict_split(context, experiment, training, split, folder, files, metrics, &split_loss));
    if (training->outcome.state == TUTTI_STATE_FAILED)
      goto out;
    if (strcmp(tutti_split_name(split), "validation") == 0)
      *loss = split_loss;
  }
  TUTTI_TRY_OUT(context, write_network(context, training, files, folder));
  TUTTI_TRY_OUT(context, write_curve(context, training, files, folder));
  if (tutti_recipe_run(experiment->recipe)->keep_weights)
    TUTTI_TRY_OUT(context, write_weights(context, training, files, folder));
out:
  tutti_free(folder);
  return status;
}

/* --- reply --- */

/* The loss that the builder is told: of the kept weights or, if the recipe says so, at the end of the curve. */
static double objective_of(const struct tutti_experiment *experiment, const struct tutti_training *training,
                           double loss) {
  if (tutti_recipe_run(experiment->recipe)->objective == TUTTI_OBJECTIVE_KEPT || training->epochs == 0)
    return loss;
  return training->curve[training->epochs - 1].validation_loss;
}

/* Reasons that are not the candidate's fault: the run stops, and continues when they are fixed. */
static bool stops_the_run(enum tutti_status status) {
  return status == TUTTI_ERROR_FULL || status == TUTTI_ERROR_IO || status == TUTTI_ERROR_CANCELLED ||
         status == TUTTI_ERROR_CORRUPT;
}

enum tutti_status tutti_training_reply(tutti_context *context, const struct tutti_experiment *experiment,
                                       const char *directory, enum tutti_status result, struct tutti_training *training,
                                       char **reply) {
  struct tutti_outcome *outcome = &training->outcome;
  double loss = NAN, seconds = tutti_clock() - training->started;
  json_t *files = json_array(), *metrics = json_object();
  bool fit = tutti_experiment_is_fit(experiment);
  bool nothing = experiment->dataset && !fit && !outcome->weights; /* of a pruned trial, maybe */
  if (result == TUTTI_OK && outcome->state != TUTTI_STATE_FAILED && !nothing) {
    if (experiment->dataset) {
      result = write_artefacts(context, experiment, directory, training, files, metrics, &loss);
      loss = fit ? loss : objective_of(experiment, training, loss);
    } else
      loss = outcome->value;
    if (result == TUTTI_OK && outcome->state != TUTTI_STATE_FAILED && !isfinite(loss)) {
      outcome->state = TUTTI_STATE_FAILED;
      (void)snprintf(outcome->failure, sizeof outcome->failure, "the %s is not finite",
                     fit                   ? "NLL on the test rows"
                     : experiment->dataset ? "validation loss"
                                           : "value");
    }
  }
  if (result != TUTTI_OK) {
    outcome->state = TUTTI_STATE_FAILED;
    (void)snprintf(outcome->failure, sizeof outcome->failure, "%s", tutti_error_message(context));
  }
  tutti_make_utf8(outcome->failure);
  bool finished = outcome->state == TUTTI_STATE_FINISHED;
  json_t *root =
      json_pack("{s:s, s:s, s:s, s:f, s:o, s:{s:i, s:i, s:I, s:I, s:f, s:o, s:o}}", "status",
                stops_the_run(result) ? tutti_status_name(result) : "ok", "state", tutti_state_name(outcome->state),
                "failure", outcome->state == TUTTI_STATE_FAILED ? outcome->failure : "", "seconds", seconds, "loss",
                finished ? json_real(loss) : json_null(), "report", "epochs", (int)outcome->epochs, "best_epoch",
                (int)outcome->best_epoch, "steps", (json_int_t)outcome->steps, "parameters",
                (json_int_t)(training->network ? tutti_network_parameters(training->network) : 0), "flops",
                training->network ? tutti_network_flops(training->network) : 0.0, "losses", metrics, "files", files);
  if (finished && training->measures)
    (void)json_object_set(json_object_get(root, "report"), "measures", training->measures);
  return tutti_json_line(context, root, reply);
}

static enum tutti_status status_of(const char *name) {
  for (int status = TUTTI_OK; status <= TUTTI_ERROR_INTERNAL; status++)
    if (strcmp(tutti_status_name((enum tutti_status)status), name) == 0)
      return (enum tutti_status)status;
  return TUTTI_ERROR_INTERNAL;
}

/* Would the catalogue take it, and a reader take the catalogue? NULL, or what is wrong. */
static const char *wrong_in(const struct tutti_reply_facts *facts, bool state_known, const json_t *report) {
  if (!state_known)
    return "its state is none of finished, failed, pruned";
  if (facts->status == TUTTI_OK && facts->state == TUTTI_STATE_FINISHED && !isfinite(facts->loss))
    return "a finished trial has no loss";
  return json_is_object(report) ? NULL : "its report is no object";
}

enum tutti_status tutti_reply_parse(tutti_context *context, const char *reply, struct tutti_reply_facts *facts) {
  enum tutti_status status = TUTTI_OK;
  json_error_t error = {.text = ""};
  json_t *root = json_loads(reply, 0, &error), *loss, *report;
  const char *status_name, *state, *failure;
  *facts = (struct tutti_reply_facts){.loss = NAN};
  if (!root ||
      json_unpack_ex(root, &error, 0, "{s:s, s:s, s:s, s:F, s:o, s:o}", "status", &status_name, "state", &state,
                     "failure", &failure, "seconds", &facts->seconds, "loss", &loss, "report", &report) != 0) {
    status = TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "a worker's reply is not what was expected: %s", error.text);
    goto out;
  }
  facts->status = status_of(status_name);
  bool known = tutti_state_parse(state, &facts->state);
  if (json_is_number(loss))
    facts->loss = json_number_value(loss);
  (void)snprintf(facts->failure, sizeof facts->failure, "%s", failure);
  tutti_make_utf8(facts->failure); /* it may have been cut in a letter */
  const char *wrong = wrong_in(facts, known, report);
  if (wrong) {
    status = TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "a worker's reply is not what was expected: %s", wrong);
    goto out;
  }
  status = tutti_json_line(context, json_incref(report), &facts->report);
out:
  json_decref(root);
  return status;
}
