/* trial.c - the worker's side of a trial: from a request to a job, and from the outcome to a reply. */
#include "trial_impl.h"

#include "core/base/file_impl.h"
#include "core/base/json_impl.h"
#include "core/base/text_impl.h"
#include "core/base/utf8_impl.h"
#include "record_impl.h"
#include "run_plugins.h"
#include "run_rule.h"
#include "run_warm.h"
#include "trial_folds_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tutti/clock.h>

/* --- request --- */

static void add_member(struct tutti_text *text, const char *name, const char *json) {
  if (json)
    tutti_text_add(text, ", \"%s\": %s", name, json);
}

enum tutti_status tutti_request_print(tutti_context *context, const struct tutti_request *request, char **text) {
  struct tutti_text made = tutti_text_begin(context);
  tutti_text_add(&made, "{\"trial\": %" PRIu64 ", \"data\": \"%016" PRIx64 "\"", request->trial, request->fingerprint);
  add_member(&made, "plugins", request->plugins);
  add_member(&made, "candidate", request->candidate);
  add_member(&made, "rule", request->rule);
  add_member(&made, "parent", request->parent);
  add_member(&made, "stop", request->stop);
  add_member(&made, "timed", request->timed ? "true" : NULL);
  tutti_text_add(&made, "}");
  return tutti_text_take(&made, text);
}

static bool read_stop(const json_t *stop, struct tutti_training *training) {
  if (!json_is_string(json_object_get(stop, "why")) || !json_is_boolean(json_object_get(stop, "keep")))
    return false;
  json_decref(training->stop);
  training->stop = json_incref((json_t *)stop);
  training->stop_after = (uint32_t)json_integer_value(json_object_get(stop, "epoch"));
  return true;
}

static enum tutti_status read_request(tutti_context *context, const struct tutti_experiment *experiment,
                                      const char *directory, const char *request, struct tutti_training *training) {
  enum tutti_status status = TUTTI_OK;
  char fingerprint[17], *candidate_text = NULL;
  json_error_t error;
  json_t *root = json_loads(request, 0, &error), *candidate, *rule = NULL, *parent = NULL, *stop = NULL,
         *plugins = NULL;
  const char *data;
  json_int_t trial;
  int timed = 0;
  if (!root || json_unpack_ex(root, &error, 0, "{s:I, s:s, s:o, s?o, s?o, s?o, s?o, s?b}", "trial", &trial, "data",
                              &data, "candidate", &candidate, "rule", &rule, "parent", &parent, "stop", &stop,
                              "plugins", &plugins, "timed", &timed) != 0) {
    status =
        TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "expected a request with trial, data and candidate: %s", error.text);
    goto out;
  }
  if (stop && !read_stop(stop, training)) {
    status = TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "a request's stop is without why and keep");
    goto out;
  }
  training->number = (uint64_t)trial;
  training->timed = timed;
  (void)snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, tutti_experiment_fingerprint(experiment));
  if (strcmp(data, fingerprint) != 0) {
    status = TUTTI_FAIL(
        context, TUTTI_ERROR_CORRUPT,
        "the data have changed since the run began: their fingerprint is %s, and that of the run's data is %s; "
        "put the old data back, or begin a new run",
        fingerprint, data);
    goto out;
  }
  if (plugins && experiment->plugins)
    TUTTI_TRY_OUT(context, tutti_run_plugins_check(context, plugins, experiment->plugins));
  TUTTI_TRY_OUT(context, tutti_json_line(context, json_incref(candidate), &candidate_text));
  TUTTI_TRY_OUT(context, tutti_scope_parse(context, experiment->scope, candidate_text, &training->candidate));
  if (rule)
    TUTTI_TRY_OUT(context, tutti_run_rule_parse(context, rule, &training->rule));
  if (parent)
    TUTTI_TRY_OUT(context, tutti_run_parent_read(context, directory, training->number, parent, &training->initial));
out:
  tutti_free(candidate_text);
  json_decref(root);
  return status;
}

/* --- training --- */

enum tutti_status tutti_training_begin(tutti_context *context, const struct tutti_experiment *experiment,
                                       const char *directory, const char *request, struct tutti_training *training) {
  training->context = context;
  training->started = tutti_clock();
  training->kind = tutti_experiment_is_fit(experiment) ? &tutti_trial_fit
                   : experiment->dataset               ? &tutti_trial_model
                                                       : &tutti_trial_value;
  TUTTI_TRY(context, read_request(context, experiment, directory, request, training));
  training->outcome = (struct tutti_outcome){.size = sizeof training->outcome, .value = NAN};
  return training->kind->prepare ? training->kind->prepare(context, experiment, training) : TUTTI_OK;
}

enum tutti_status tutti_training_train(tutti_context *context, const struct tutti_experiment *experiment,
                                       struct tutti_training *training) {
  return training->kind->train(context, experiment, training);
}

void tutti_training_end(struct tutti_training *training) {
  tutti_fit_release(&training->fit);
  tutti_dataset_destroy(training->dataset);
  tutti_tensors_destroy(training->outcome.weights);
  tutti_folds_release(training);
  tutti_tensors_destroy(training->initial);
  json_decref(training->measures);
  json_decref(training->stop);
  tutti_free(training->curve);
  tutti_free(training->losses);
  tutti_free(training->training_losses);
  tutti_free(training->class_weights);
  tutti_rule_destroy(training->rule);
  tutti_config_destroy(training->config);
  tutti_network_destroy(training->network);
  tutti_candidate_unref(training->candidate);
}

enum tutti_status tutti_training_stop(tutti_context *context, struct tutti_training *training, const char *text) {
  json_t *stop = json_loads(text, 0, NULL);
  bool read = read_stop(stop, training);
  json_decref(stop);
  return read ? TUTTI_OK : TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "expected why and keep, found '%.60s'", text);
}

enum tutti_status tutti_training_progress(tutti_context *context, const struct tutti_training *training, char **text) {
  double loss = training->epochs > 0 ? training->curve[training->epochs - 1].validation_loss : NAN;
  return tutti_json_line(context,
                         json_pack("{s:I, s:I, s:o}", "epoch", (json_int_t)training->epochs, "epochs",
                                   (json_int_t)training->most_epochs, "loss", tutti_json_number(loss)),
                         text);
}

/* --- reply --- */

static enum tutti_status write_artefacts(tutti_context *context, const struct tutti_experiment *experiment,
                                         const char *directory, struct tutti_training *training, json_t *files,
                                         json_t *metrics, double *loss, struct tutti_file_syncing **syncing) {
  enum tutti_status status = TUTTI_OK;
  char *folder = NULL;
  TUTTI_TRY_OUT(context, tutti_trial_folder(context, directory, training->number, &folder));
  TUTTI_TRY_OUT(context, tutti_run_check_folder(context, folder));
  tutti_file_group_begin(context);
  TUTTI_TRY_OUT(context, tutti_file_make_folder(context, folder));
  TUTTI_TRY_OUT(context, training->kind->write(context, experiment, folder, training, files, metrics, loss));
  TUTTI_TRY_OUT(context, tutti_file_group_leave(context, folder, syncing));
out:
  if (status != TUTTI_OK)
    tutti_file_group_drop(context);
  tutti_free(folder);
  return status;
}

/* Reasons that are not the candidate's fault: the run stops, and continues when they are fixed. */
static bool stops_the_run(enum tutti_status status) {
  return status == TUTTI_ERROR_FULL || status == TUTTI_ERROR_IO || status == TUTTI_ERROR_CANCELLED ||
         status == TUTTI_ERROR_CORRUPT;
}

struct tutti_curve tutti_training_curve(const struct tutti_training *training) {
  return (struct tutti_curve){.size = sizeof(struct tutti_curve),
                              .trial = training->number,
                              .state = training->outcome.state,
                              .epochs = training->epochs,
                              .losses = training->losses,
                              .training = training->training_losses};
}

enum tutti_status tutti_training_reply_begin(tutti_context *context, const struct tutti_experiment *experiment,
                                             const char *directory, enum tutti_status result,
                                             struct tutti_training *training, struct tutti_unsent *unsent) {
  struct tutti_outcome *outcome = &training->outcome;
  double loss = NAN, seconds = tutti_clock() - training->started;
  json_t *files = json_array(), *metrics = json_object();
  *unsent = (struct tutti_unsent){.number = training->number, .seconds = seconds};
  const struct tutti_trial_kind *kind = training->kind;
  bool pruned = outcome->state == TUTTI_STATE_PRUNED;
  bool nothing = kind->has_weights && !outcome->weights && !pruned;
  if (training->stopped && json_is_true(json_object_get(training->stop, "cancelled"))) {
    outcome->state = TUTTI_STATE_FAILED;
    (void)snprintf(outcome->failure, sizeof outcome->failure, "cancelled");
  }
  if (result == TUTTI_OK && outcome->state != TUTTI_STATE_FAILED && !nothing) {
    loss = outcome->value;
    if (kind->write)
      result = write_artefacts(context, experiment, directory, training, files, metrics, &loss, &unsent->syncing);
    if (result == TUTTI_OK && outcome->state == TUTTI_STATE_FINISHED && !isfinite(loss)) {
      outcome->state = TUTTI_STATE_FAILED;
      (void)snprintf(outcome->failure, sizeof outcome->failure, "the %s is not finite", kind->number);
    }
  }
  if (result != TUTTI_OK) {
    outcome->state = TUTTI_STATE_FAILED;
    (void)snprintf(outcome->failure, sizeof outcome->failure, "%s", tutti_error_message(context));
  }
  tutti_text_mend(outcome->failure);
  bool finished = outcome->state == TUTTI_STATE_FINISHED, failed = outcome->state == TUTTI_STATE_FAILED;
  json_t *root =
      json_pack("{s:s, s:s, s:s, s:f, s:o, s:{s:i, s:i, s:I, s:I, s:f, s:o, s:o}}", "status",
                stops_the_run(result) ? tutti_status_name(result) : "ok", "state", tutti_state_name(outcome->state),
                "failure", failed ? outcome->failure : "", "seconds", seconds, "loss",
                failed ? json_null() : tutti_json_number(loss), "report", "epochs", (int)outcome->epochs, "best_epoch",
                (int)outcome->best_epoch, "steps", (json_int_t)outcome->steps, "parameters",
                (json_int_t)training->parameters, "flops", training->flops, "losses", metrics, "files", files);
  if (finished && training->measures)
    (void)json_object_set(json_object_get(root, "report"), "measures", training->measures);
  if (training->unread > 0)
    (void)json_object_set_new(json_object_get(root, "report"), TUTTI_REPORT_UNREAD,
                              json_pack("{s:I, s:I}", "inputs", (json_int_t)training->unread, "bytes",
                                        (json_int_t)tutti_training_unread_bytes(training)));
  if (training->microseconds > 0 && !failed)
    (void)json_object_set_new(json_object_get(root, "report"), TUTTI_REPORT_MICROSECONDS,
                              json_real(training->microseconds));
  if (training->stopped && !failed)
    (void)json_object_set_new(json_object_get(root, "report"), "stopped",
                              json_pack("{s:I, s:O, s:O}", "epoch", (json_int_t)training->epochs, "why",
                                        json_object_get(training->stop, "why"), "keep",
                                        json_object_get(training->stop, "keep")));
  if (training->rule) {
    json_t *report_of = json_object_get(root, "report");
    const struct tutti_curve curve = tutti_training_curve(training);
    if (outcome->state == TUTTI_STATE_PRUNED && !training->stopped)
      (void)json_object_set_new(report_of, TUTTI_REPORT_PRUNED, tutti_run_pruned_print(training->rule, &curve));
    (void)json_object_set_new(report_of, TUTTI_REPORT_CURVE, tutti_run_curve_print(training->epochs, training->losses));
    (void)json_object_set_new(report_of, TUTTI_REPORT_TRAINING,
                              tutti_run_curve_print(training->epochs, training->training_losses));
  }
  enum tutti_status status = tutti_json_line(context, root, &unsent->reply);
  if (status != TUTTI_OK)
    tutti_unsent_drop(context, unsent);
  return status;
}

/* Files that do not last are no reason to blame the candidate: the run stops. */
static enum tutti_status print_lost_files(tutti_context *context, const struct tutti_unsent *unsent,
                                          enum tutti_status status, char **reply) {
  char why[512];
  (void)snprintf(why, sizeof why, "%s", tutti_error_message(context));
  tutti_text_mend(why);
  return tutti_json_line(context,
                         json_pack("{s:s, s:s, s:s, s:f, s:n, s:{}}", "status", tutti_status_name(status), "state",
                                   tutti_state_name(TUTTI_STATE_FAILED), "failure", why, "seconds", unsent->seconds,
                                   "loss", "report"),
                         reply);
}

enum tutti_status tutti_training_reply_end(tutti_context *context, struct tutti_unsent *unsent, char **reply) {
  enum tutti_status result = tutti_file_syncing_end(context, unsent->syncing);
  unsent->syncing = NULL;
  *reply = unsent->reply;
  unsent->reply = NULL;
  if (result == TUTTI_OK)
    return TUTTI_OK;
  tutti_free(*reply);
  return print_lost_files(context, unsent, result, reply);
}

void tutti_unsent_drop(tutti_context *context, struct tutti_unsent *unsent) {
  if (tutti_file_syncing_end(context, unsent->syncing) != TUTTI_OK)
    tutti_error_clear(context);
  tutti_free(unsent->reply);
  *unsent = (struct tutti_unsent){.reply = NULL};
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
  tutti_text_mend(facts->failure); /* it may have been cut in a letter */
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
