/* run_times.c - times of predictions that are kept, and those of trials that were trained before anybody asked for
   them. */
#include "run_times.h"

#include "core/base/json_impl.h"
#include "record_impl.h"
#include "trial_impl.h"

#include <inttypes.h>
#include <tutti/names.h>
#include <tutti/safetensors.h>

static json_t *time_of(const json_t *report) { return json_object_get(report, TUTTI_REPORT_MICROSECONDS); }

/* The report with another time, or none (NULL). */
static enum tutti_status replace_time(tutti_context *context, json_t *microseconds, char **report) {
  json_t *root = json_loads(*report, 0, NULL);
  char *text;
  if (microseconds)
    (void)json_object_set(root, TUTTI_REPORT_MICROSECONDS, microseconds);
  else
    (void)json_object_del(root, TUTTI_REPORT_MICROSECONDS);
  TUTTI_TRY(context, tutti_json_line(context, root, &text));
  tutti_free(*report);
  *report = text;
  return TUTTI_OK;
}

enum tutti_status tutti_run_times_keep(tutti_context *context, const char *before, char **report) {
  json_t *old = json_loads(before, 0, NULL);
  enum tutti_status status = time_of(old) ? replace_time(context, time_of(old), report) : TUTTI_OK;
  json_decref(old);
  return status;
}

/* --- measuring --- */

static bool is_missing(const struct tutti_record *record) {
  if (!record->done || !record->report ||
      !tutti_record_has(record->report, tutti_trial_file_name(TUTTI_TRIAL_FILE_WEIGHTS)))
    return false;
  json_t *report = json_loads(record->report, 0, NULL);
  bool missing = !time_of(report);
  json_decref(report);
  return missing;
}

static enum tutti_status read_weights(tutti_context *context, const char *directory, uint64_t trial,
                                      tutti_tensors **weights) {
  char *path;
  TUTTI_TRY(context, tutti_trial_file_path(context, directory, trial, TUTTI_TRIAL_FILE_WEIGHTS, &path));
  enum tutti_status status = tutti_tensors_read(context, path, weights);
  tutti_free(path);
  return status;
}

/* As a worker would after training it. */
static enum tutti_status measure(struct tutti_manager *manager, uint64_t trial) {
  tutti_context *context = manager->context;
  const char *directory = manager->options->directory;
  struct tutti_record *record = &manager->history.records[trial];
  struct tutti_training training = {0};
  enum tutti_status status = TUTTI_OK;
  char *candidate = NULL, *text = NULL;
  TUTTI_TRY_OUT(context, tutti_scope_print(context, manager->experiment->scope, record->candidate, &candidate));
  const struct tutti_request request = {
      .trial = trial, .fingerprint = tutti_experiment_fingerprint(manager->experiment), .candidate = candidate};
  TUTTI_TRY_OUT(context, tutti_request_print(context, &request, &text));
  TUTTI_TRY_OUT(context, tutti_training_begin(context, manager->experiment, directory, text, &training));
  TUTTI_TRY_OUT(context, read_weights(context, directory, trial, &training.outcome.weights));
  tutti_training_time(context, manager->experiment, &training);
  if (training.microseconds > 0) {
    json_t *microseconds = json_real(training.microseconds);
    status = replace_time(context, microseconds, &record->report);
    json_decref(microseconds);
    if (status == TUTTI_OK)
      status = tutti_manager_record(manager, trial);
  }
out:
  tutti_training_end(&training);
  tutti_free(candidate);
  tutti_free(text);
  return status;
}

enum tutti_status tutti_run_times_measure(struct tutti_manager *manager) {
  tutti_context *context = manager->context;
  uint64_t count = 0;
  for (uint64_t i = 0; manager->timed && manager->experiment->dataset && i < manager->history.asked; i++) {
    if (!is_missing(&manager->history.records[i]))
      continue;
    if (tutti_cancelled(context))
      return TUTTI_FAIL(context, TUTTI_ERROR_CANCELLED, "interrupted");
    TUTTI_TRY(context, measure(manager, i));
    count++;
  }
  if (count > 0)
    tutti_log(context, TUTTI_LOG_INFO, "what predictions take was measured of %" PRIu64 " %s that had been trained",
              count, tutti_plural((size_t)count, "trial", "trials"));
  return TUTTI_OK;
}
