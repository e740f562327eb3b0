/* run_network.c - networks of trials: as they were trained, and as their space makes them of the same candidates
   now. */
#include "core/base/file_impl.h"
#include "record_impl.h"
#include "run_impl.h"

#include <inttypes.h>
#include <string.h>

/* The text of a trial's network.json, after its check. */
static enum tutti_status read_text(tutti_context *context, const struct tutti_run_pool *source, uint64_t trial,
                                   char **path, char **text) {
  const char *report;
  size_t bytes;
  TUTTI_TRY(context, tutti_run_report(context, source, trial, &report));
  TUTTI_TRY(context, tutti_trial_file_path(context, source->directory, trial, TUTTI_TRIAL_FILE_NETWORK, path));
  TUTTI_TRY(context, tutti_record_check_trial(context, source->directory, trial, report, *path));
  return tutti_file_read(context, *path, text, &bytes);
}

/* Does the space still make this network of the trial's candidate? If not, say so. */
static bool is_made_now(tutti_context *context, const struct tutti_run_pool *source, uint64_t trial,
                        const char *trained) {
  const struct tutti_experiment *experiment = source->experiment;
  const tutti_candidate *candidate = source->history->records[trial].candidate;
  tutti_network *network = NULL;
  char *text = NULL;
  struct tutti_headed_task task;
  enum tutti_status status = tutti_experiment_task(context, experiment, candidate, &task);
  if (status == TUTTI_OK)
    status = tutti_space_decode(context, tutti_candidate_genotype(candidate), &task.task, &network);
  if (status == TUTTI_OK)
    status = tutti_network_print(context, network, &text);
  bool same = status == TUTTI_OK && strcmp(text, trained) == 0;
  if (!same)
    tutti_log(context, TUTTI_LOG_WARNING,
              "%s: of trial %" PRIu64 "'s candidate, which was trained, space %s now makes %s: %s", source->directory,
              trial, tutti_host_plugin(experiment->host, "space"),
              status == TUTTI_OK ? "another network" : "no network",
              status == TUTTI_OK ? "the plugin has changed" : tutti_error_message(context));
  if (status != TUTTI_OK)
    tutti_error_clear(context);
  tutti_network_destroy(network);
  tutti_free(text);
  return same;
}

enum tutti_status tutti_run_read_network(tutti_context *context, const struct tutti_run_pool *source, uint64_t trial,
                                         tutti_network **network) {
  enum tutti_status status = TUTTI_OK;
  char *path = NULL, *text = NULL;
  source = tutti_run_pool_of(source, &trial);
  TUTTI_TRY_OUT(context, read_text(context, source, trial, &path, &text));
  status = tutti_network_parse(context, text, network);
  if (status != TUTTI_OK)
    status = tutti_error_prefix(context, status, "%s: ", path);
  else
    (void)is_made_now(context, source, trial, text);
out:
  tutti_free(path);
  tutti_free(text);
  return status;
}

enum tutti_status tutti_run_computed_network(tutti_context *context, const struct tutti_run_pool *source,
                                             uint64_t trial, tutti_network **network) {
  const char *report;
  tutti_network *trained;
  source = tutti_run_pool_of(source, &trial);
  TUTTI_TRY(context, tutti_run_report(context, source, trial, &report));
  TUTTI_TRY(context, tutti_run_read_network(context, source, trial, &trained));
  json_t *root = json_loads(report, 0, NULL);
  const json_t *unread = json_object_get(json_object_get(root, TUTTI_REPORT_UNREAD), "inputs");
  enum tutti_status status = tutti_network_narrow(context, trained, (size_t)json_integer_value(unread), network);
  json_decref(root);
  tutti_network_destroy(trained);
  return status;
}

enum tutti_status tutti_run_compare_networks(tutti_context *context, const struct tutti_run_pool *source) {
  const struct tutti_history *history = source->history;
  const tutti_backend *backend = source->experiment->backend;
  bool same = backend && (tutti_backend_takes_networks(backend) || tutti_backend_delegates(backend)) &&
              source->experiment->dataset;
  for (uint64_t i = 0; i < history->asked && same; i++) {
    char *path = NULL, *text = NULL;
    if (!history->records[i].done || history->records[i].state != TUTTI_STATE_FINISHED)
      continue;
    enum tutti_status status = read_text(context, source, i, &path, &text);
    if (status == TUTTI_OK)
      same = is_made_now(context, source, i, text);
    else if (status == TUTTI_ERROR_CORRUPT || status == TUTTI_ERROR_IO)
      tutti_error_clear(context); /* a trial that could not be mended; whoever needs it says so */
    tutti_free(path);
    tutti_free(text);
    if (status != TUTTI_OK && status != TUTTI_ERROR_CORRUPT && status != TUTTI_ERROR_IO)
      return tutti_error_trace(context, status, __FILE__, __LINE__, __func__);
  }
  return TUTTI_OK;
}
