/* run_warm.c - the weights of parents, from the manager's record to the worker's file. */
#include "run_warm.h"

#include "core/base/file_impl.h"
#include "core/base/json_impl.h"
#include "engine/recipe/recipe_impl.h"
#include "record_impl.h"
#include "run_learners.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <tutti/safetensors.h>
#include <unistd.h>

/* --- can they be had? --- */

static enum tutti_status note_warm(void *visitor, tutti_context *context, const tutti_backend *learner,
                                   const tutti_config *config) {
  bool *any = visitor;
  (void)context, (void)config;
  *any = *any || tutti_backend_honours(learner, TUTTI_JOB_WARM);
  return TUTTI_OK;
}

enum tutti_status tutti_run_check_warm(tutti_context *context, const struct tutti_experiment *experiment,
                                       const tutti_builder *builder) {
  enum tutti_status status = TUTTI_OK;
  bool any = false;
  if (!builder || !tutti_builder_warm(builder))
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_run_visit_learners(context, experiment, note_warm, &any));
  const char *name = tutti_builder_descriptor(builder)->name;
  if (!any)
    status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                        "builder.warm_start: builder %s lets trainings start from the weights of other networks, which "
                        "backend %s cannot; take warm_start = no, or another backend",
                        name, tutti_backend_descriptor(experiment->backend)->name);
  else if (!tutti_recipe_run(experiment->recipe)->keep_weights)
    status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                        "builder.warm_start: builder %s lets trainings start from the weights of earlier trials, and "
                        "run.keep_weights = no keeps none; take warm_start = no, or keep_weights = yes",
                        name);
  else if (tutti_recipe_run(experiment->recipe)->weights_of == TUTTI_WEIGHTS_OF_MEMBERS)
    status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                        "builder.warm_start: builder %s lets trainings start from the weights of earlier trials, which "
                        "a longer run would miss with run.weights_of = members; take warm_start = no, or weights_of = "
                        "all",
                        name);
  return status == TUTTI_OK ? TUTTI_OK : tutti_recipe_place(context, experiment->recipe, status);
}

/* --- the manager's side --- */

/* The record of the file with a trial's weights, borrowed from its parsed report; NULL: it kept none. */
static json_t *find_weights(json_t *report) {
  size_t index;
  json_t *file;
  json_array_foreach(json_object_get(report, "files"), index, file) {
    const char *name = json_string_value(json_object_get(file, "name"));
    if (name && strcmp(name, tutti_trial_file_name(TUTTI_TRIAL_FILE_WEIGHTS)) == 0)
      return file;
  }
  return NULL;
}

enum tutti_status tutti_run_parent_print(tutti_context *context, const struct tutti_history *history, uint64_t trial,
                                         char **text) {
  uint64_t parent = history->records[trial].parent;
  *text = NULL;
  if (parent >= history->asked || !history->records[parent].report)
    return TUTTI_OK;
  json_t *report = json_loads(history->records[parent].report, 0, NULL), *file = find_weights(report);
  enum tutti_status status = TUTTI_OK;
  if (file)
    status = tutti_json_line(context,
                             json_pack("{s:I, s:O, s:O}", "trial", (json_int_t)parent, "bytes",
                                       json_object_get(file, "bytes"), "crc32", json_object_get(file, "crc32")),
                             text);
  json_decref(report);
  return status;
}

enum tutti_status tutti_run_parent_file(tutti_context *context, const char *directory, uint64_t trial,
                                        const char *request, char **path, char **name) {
  enum tutti_status status = TUTTI_OK;
  json_t *root = json_loads(request, 0, NULL);
  const json_t *parent = json_object_get(json_object_get(root, "parent"), "trial");
  *path = *name = NULL;
  if (parent) {
    TUTTI_TRY_OUT(context, tutti_trial_file_path(context, directory, (uint64_t)json_integer_value(parent),
                                                 TUTTI_TRIAL_FILE_WEIGHTS, path));
    TUTTI_TRY_OUT(context, tutti_trial_file_path(context, ".", trial, TUTTI_TRIAL_FILE_INITIAL, name));
    memmove(*name, *name + strlen("./"), strlen(*name + strlen("./")) + 1);
  }
out:
  json_decref(root);
  return status;
}

/* --- the worker's side --- */

/* Read a file of a trial, if it is the one that the manager has recorded. */
static enum tutti_status read_recorded(tutti_context *context, const char *directory, uint64_t trial,
                                       enum tutti_trial_file file, const json_t *parent, tutti_tensors **weights) {
  enum tutti_status status = TUTTI_OK;
  const char *name = tutti_trial_file_name(file);
  char *folder = NULL, *path = NULL;
  json_t *record = json_pack("[{s:s, s:O, s:O}]", "name", name, "bytes", json_object_get(parent, "bytes"), "crc32",
                             json_object_get(parent, "crc32"));
  TUTTI_TRY_OUT(context, tutti_trial_folder(context, directory, trial, &folder));
  TUTTI_TRY_OUT(context, tutti_trial_file_path(context, directory, trial, file, &path));
  TUTTI_TRY_OUT(context, tutti_run_check_trial(context, directory, trial, path));
  TUTTI_TRY_OUT(context, tutti_record_check(context, record, folder, name));
  TUTTI_TRY_OUT(context, tutti_tensors_read(context, path, weights));
out:
  json_decref(record);
  tutti_free(folder);
  tutti_free(path);
  return status;
}

/* Weights that are gone, or are not those that were recorded, cost the child and not the run. The context's error says
   which file it is. */
static enum tutti_status fail_child(tutti_context *context, uint64_t parent) {
  char why[512];
  (void)snprintf(why, sizeof why, "%s", tutti_error_message(context));
  tutti_error_clear(context);
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "the weights of its parent, trial %" PRIu64 ", are not there: %s",
                    parent, why);
}

enum tutti_status tutti_run_parent_read(tutti_context *context, const char *directory, uint64_t trial,
                                        const json_t *parent, tutti_tensors **weights) {
  json_int_t number, bytes, checksum;
  char *own;
  *weights = NULL;
  if (json_unpack((json_t *)parent, "{s:I, s:I, s:I}", "trial", &number, "bytes", &bytes, "crc32", &checksum) != 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "a request's parent is without trial, bytes and crc32");
  TUTTI_TRY(context, tutti_trial_file_path(context, directory, trial, TUTTI_TRIAL_FILE_INITIAL, &own));
  bool sent = access(own, F_OK) == 0;
  enum tutti_status status =
      sent ? read_recorded(context, directory, trial, TUTTI_TRIAL_FILE_INITIAL, parent, weights)
           : read_recorded(context, directory, (uint64_t)number, TUTTI_TRIAL_FILE_WEIGHTS, parent, weights);
  if (sent)
    (void)unlink(own);
  tutti_free(own);
  return status == TUTTI_ERROR_IO || status == TUTTI_ERROR_CORRUPT ? fail_child(context, (uint64_t)number) : status;
}
