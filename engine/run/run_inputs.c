/* run_inputs.c - writes, maps and removes the inputs of a run's splits. */
#include "run_inputs.h"

#include "core/base/file_impl.h"
#include "core/base/json_impl.h"
#include "engine/data/fingerprint_impl.h"
#include "engine/data/prepared_impl.h"
#include "run_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Written last: whose inputs these are. */
static const char facts_name[] = "inputs.json";

static enum tutti_status path_of(tutti_context *context, const char *directory, const char *name, const char *ending,
                                 char **path) {
  char *folder;
  TUTTI_TRY(context, tutti_run_file_path(context, directory, TUTTI_RUN_FILE_INPUTS, &folder));
  enum tutti_status status = tutti_format(context, path, "%s/%s%s", folder, name, ending);
  tutti_free(folder);
  return status;
}

/* --- the manager --- */

void tutti_run_inputs_withdraw(tutti_context *context, const char *directory) {
  char *folder = NULL;
  enum tutti_status status = TUTTI_OK;
  if (!tutti_run_file_is_there(directory, TUTTI_RUN_FILE_INPUTS))
    return;
  status = tutti_run_file_path(context, directory, TUTTI_RUN_FILE_INPUTS, &folder);
  if (status == TUTTI_OK)
    tutti_run_remove_folder(folder);
  else
    tutti_error_clear(context); /* what stays there is removed when the run goes on */
  tutti_free(folder);
}

static enum tutti_status write_split(tutti_context *context, const char *directory, const tutti_split *split) {
  struct tutti_shape input = tutti_split_input(split);
  size_t shape[2] = {tutti_split_rows(split), (size_t)input.channels};
  char *path;
  if (shape[0] == 0)
    return TUTTI_OK;
  TUTTI_TRY(context, path_of(context, directory, tutti_split_name(split), ".npy", &path));
  enum tutti_status status = tutti_npy_write(context, path, TUTTI_F32, 2, shape, tutti_split_inputs(split));
  tutti_free(path);
  return status;
}

static enum tutti_status write_facts(tutti_context *context, const char *directory, const tutti_dataset *dataset) {
  char *path = NULL, *text = NULL;
  enum tutti_status status = TUTTI_OK;
  TUTTI_TRY_OUT(context, path_of(context, directory, facts_name, "", &path));
  TUTTI_TRY_OUT(context,
                tutti_format(context, &text, "{\"fingerprint\": \"%016" PRIx64 "\", \"rows\": \"%016" PRIx64 "\"}\n",
                             tutti_dataset_fingerprint(dataset), tutti_dataset_rows_fingerprint(dataset)));
  TUTTI_TRY_OUT(context, tutti_file_write_text(context, path, text));
out:
  tutti_free(path);
  tutti_free(text);
  return status;
}

static enum tutti_status write_all(tutti_context *context, const char *directory, const tutti_dataset *dataset) {
  char *folder;
  TUTTI_TRY(context, tutti_run_file_path(context, directory, TUTTI_RUN_FILE_INPUTS, &folder));
  tutti_file_group_begin(context); /* which is dropped: nothing has to last */
  enum tutti_status status = tutti_file_make_folder(context, folder);
  tutti_free(folder);
  for (size_t i = 0; status == TUTTI_OK && i < tutti_dataset_splits(dataset); i++)
    status = write_split(context, directory, tutti_dataset_split(dataset, i));
  if (status == TUTTI_OK)
    status = write_facts(context, directory, dataset);
  tutti_file_group_drop(context);
  return status;
}

/* Map the file of a split. */
static enum tutti_status map_split(tutti_context *context, const char *directory, const tutti_split *split,
                                   struct tutti_npy *array) {
  char *path;
  TUTTI_TRY(context, path_of(context, directory, tutti_split_name(split), ".npy", &path));
  enum tutti_status status = tutti_run_check_file(context, path);
  if (status == TUTTI_OK)
    status = tutti_npy_map(context, path, array);
  tutti_free(path);
  return status;
}

/* Let a data set have its inputs from the files. */
static enum tutti_status map_all(tutti_context *context, const char *directory, tutti_dataset *dataset) {
  for (size_t i = 0; i < tutti_dataset_splits(dataset); i++) {
    struct tutti_npy array;
    if (tutti_split_rows(tutti_dataset_split(dataset, i)) == 0)
      continue;
    TUTTI_TRY(context, map_split(context, directory, tutti_dataset_split(dataset, i), &array));
    TUTTI_TRY(context, tutti_dataset_map_inputs(context, dataset, i, &array));
  }
  return TUTTI_OK;
}

enum tutti_status tutti_run_inputs_offer(tutti_context *context, const char *directory,
                                         const struct tutti_experiment *experiment) {
  static const double mib = 1 << 20;
  double least = tutti_recipe_run(experiment->recipe)->map_inputs * mib;
  size_t bytes = experiment->dataset ? tutti_dataset_input_bytes(experiment->dataset) : 0;
  tutti_run_inputs_withdraw(context, directory); /* those of a manager that was killed */
  if (bytes == 0 || (double)bytes < least || tutti_experiment_is_fit(experiment))
    return TUTTI_OK;
  enum tutti_status status = write_all(context, directory, experiment->dataset);
  if (status != TUTTI_ERROR_FULL && status != TUTTI_ERROR_IO)
    return status;
  if (status == TUTTI_ERROR_FULL) /* whose message says what to do where a run ends */
    tutti_log(context, TUTTI_LOG_WARNING,
              "%s: no room for %.1f MiB of inputs that workers would map; each worker reads the data itself", directory,
              (double)bytes / mib);
  else
    tutti_log(context, TUTTI_LOG_WARNING, "%s; each worker reads the data itself", tutti_error_message(context));
  tutti_error_clear(context);
  tutti_run_inputs_withdraw(context, directory);
  return TUTTI_OK;
}

/* Are there any? */
static enum tutti_status look_for_facts(tutti_context *context, const char *directory, bool *offered) {
  char *facts;
  TUTTI_TRY(context, path_of(context, directory, facts_name, "", &facts));
  *offered = access(facts, F_OK) == 0;
  tutti_free(facts);
  return TUTTI_OK;
}

enum tutti_status tutti_run_inputs_check(tutti_context *context, const char *directory, const tutti_dataset *dataset) {
  bool offered;
  TUTTI_TRY(context, look_for_facts(context, directory, &offered));
  if (!offered || !dataset)
    return TUTTI_OK;
  for (size_t i = 0; i < tutti_dataset_splits(dataset); i++) {
    struct tutti_npy array;
    if (tutti_split_rows(tutti_dataset_split(dataset, i)) == 0)
      continue;
    TUTTI_TRY(context, map_split(context, directory, tutti_dataset_split(dataset, i), &array));
    tutti_npy_unmap(&array);
  }
  return TUTTI_OK;
}

/* --- a worker --- */

static enum tutti_status read_facts(tutti_context *context, const char *directory, uint64_t *fingerprint,
                                    uint64_t *rows) {
  enum tutti_status status;
  const char *first, *second;
  char *path = NULL, *text = NULL;
  json_t *root = NULL;
  size_t bytes;
  TUTTI_TRY_OUT(context, path_of(context, directory, facts_name, "", &path));
  TUTTI_TRY_OUT(context, tutti_run_check_file(context, path));
  TUTTI_TRY_OUT(context, tutti_file_read(context, path, &text, &bytes));
  TUTTI_TRY_OUT(context, tutti_json_parse(context, text, 0, TUTTI_ERROR_CORRUPT, "what inputs are mapped", &root));
  if (json_unpack(root, "{s:s, s:s}", "fingerprint", &first, "rows", &second) != 0) {
    status = TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "%s: expected fingerprint and rows", path);
    goto out;
  }
  *fingerprint = strtoull(first, NULL, 16);
  *rows = strtoull(second, NULL, 16);
out:
  json_decref(root);
  tutti_free(text);
  tutti_free(path);
  return status;
}

static enum tutti_status restore(tutti_context *context, const char *directory, const tutti_recipe *recipe,
                                 tutti_dataset **dataset) {
  uint64_t fingerprint = 0, rows = 0;
  TUTTI_TRY(context, read_facts(context, directory, &fingerprint, &rows));
  TUTTI_TRY(context, tutti_run_dataset(context, directory, recipe, dataset));
  TUTTI_TRY(context, map_all(context, directory, *dataset));
  return tutti_dataset_complete(context, *dataset, fingerprint, rows);
}

enum tutti_status tutti_run_inputs_take(tutti_context *context, const char *directory, const tutti_recipe *recipe,
                                        tutti_dataset **dataset) {
  bool offered;
  *dataset = NULL;
  TUTTI_TRY(context, look_for_facts(context, directory, &offered));
  enum tutti_status status = offered ? restore(context, directory, recipe, dataset) : TUTTI_OK;
  if (status == TUTTI_OK)
    return TUTTI_OK;
  tutti_dataset_destroy(*dataset);
  *dataset = NULL;
  return status;
}
