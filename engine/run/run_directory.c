/* run_directory.c - creates a run directory, ensures that only one manager writes in it, and reads its data set
   back. */
#include "engine/data/folds_impl.h"
#include "engine/data/split_names.h"
#include "core/base/file_impl.h"
#include "core/base/json_impl.h"
#include "core/base/replaced_impl.h"
#include "engine/data/stored_impl.h"
#include "catalogue_write.h"
#include "record_impl.h"
#include "run_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include <zlib.h>

/* Bytes of an absolute path. SQLite has 512 for a catalogue with its journal, and files of trials need less than
   that. */
enum { LONGEST_PATH = 512 - sizeof "/catalogue.sqlite-journal" };

static enum tutti_status check_length(tutti_context *context, const char *directory) {
  char here[PATH_MAX];
  size_t length = strlen(directory);
  if (*directory != '/' && getcwd(here, sizeof here))
    length += strlen(here) + 1;
  if (length > LONGEST_PATH)
    return TUTTI_FAIL(
        context, TUTTI_ERROR_USAGE,
        "the run directory's absolute path has %zu bytes, and %zu are the most; choose a shorter one with "
        "--out: %.60s...",
        length, (size_t)LONGEST_PATH, directory);
  for (const char *name = directory; *name;) {
    size_t bytes = strcspn(name, "/");
    if (bytes > NAME_MAX)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                        "%.60s...: a folder's name has %zu bytes, and %d are the most; choose a shorter one with --out",
                        name, bytes, NAME_MAX);
    name += bytes + strspn(name + bytes, "/");
  }
  return TUTTI_OK;
}

enum tutti_status tutti_run_check_directory(tutti_context *context, const char *directory) {
  TUTTI_TRY(context, check_length(context, directory));
  if (tutti_run_directory_has_pools(directory))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s is made of several finished runs (tutti select --out), and no run goes there; choose another "
                      "directory with --out",
                      directory);
  return tutti_run_check_catalogue(context, directory);
}

enum tutti_status tutti_run_lock(tutti_context *context, const char *directory, int *lock) {
  char *path;
  enum tutti_status status = TUTTI_OK;
  *lock = -1;
  TUTTI_TRY(context, tutti_run_file_path(context, directory, TUTTI_RUN_FILE_LOCK, &path));
  int file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
  if (file < 0) {
    status = TUTTI_FAIL(context, TUTTI_ERROR_IO, "%s: cannot open: %s", path, strerror(errno));
  } else if (flock(file, LOCK_EX | LOCK_NB) != 0) {
    status = errno == EWOULDBLOCK
                 ? TUTTI_FAIL(context, TUTTI_ERROR_BUSY,
                              "%s is in use by another tutti run; wait for it, or choose another directory with --out",
                              directory)
                 : TUTTI_FAIL(context, TUTTI_ERROR_IO, "%s: cannot lock: %s", path, strerror(errno));
    (void)close(file);
  } else {
    *lock = file;
  }
  tutti_free(path);
  return status;
}

bool tutti_run_is_locked(const char *directory) {
  int folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int file = folder < 0 ? -1
                        : openat(folder, tutti_run_file_name(TUTTI_RUN_FILE_LOCK),
                                 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  bool locked = file >= 0 && flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (file >= 0)
    (void)close(file);
  if (folder >= 0)
    (void)close(folder);
  return locked;
}

static enum tutti_status write_array(tutti_context *context, const char *directory, const char *split,
                                     enum tutti_split_file file, enum tutti_element element, size_t rank,
                                     const size_t *shape, const void *data) {
  char *path;
  TUTTI_TRY(context, tutti_run_split_path(context, directory, split, file, &path));
  enum tutti_status status = tutti_npy_write(context, path, element, rank, shape, data);
  tutti_free(path);
  return status;
}

/* The folds of a split's rows, of validation alone; NULL: it has none. */
static const uint32_t *folds_of(const tutti_dataset *dataset, const tutti_split *split) {
  return strcmp(tutti_split_name(split), TUTTI_SPLIT_VALIDATION) == 0 ? tutti_dataset_fold_of_rows(dataset) : NULL;
}

/* Write row numbers and targets of a split. Together with a trial's predictions, they determine all its metrics. */
static enum tutti_status write_split(tutti_context *context, const char *directory, const tutti_split *split,
                                     const uint32_t *fold) {
  enum tutti_status status = TUTTI_OK;
  size_t rows = tutti_split_rows(split), shape[2] = {rows, tutti_split_outputs(split)};
  const uint32_t *source = tutti_split_source_rows(split);
  const char *name = tutti_split_name(split);
  int32_t *numbers = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, rows, sizeof *numbers, &numbers));
  for (size_t i = 0; i < rows && source; i++)
    numbers[i] = (int32_t)source[i];
  if (source)
    TUTTI_TRY_OUT(context, write_array(context, directory, name, TUTTI_SPLIT_FILE_ROWS, TUTTI_I32, 1, shape, numbers));
  if (tutti_split_raw_targets(split))
    TUTTI_TRY_OUT(context, write_array(context, directory, name, TUTTI_SPLIT_FILE_TARGETS, TUTTI_F64, 2, shape,
                                       tutti_split_raw_targets(split)));
  if (tutti_split_labels(split))
    TUTTI_TRY_OUT(context, write_array(context, directory, name, TUTTI_SPLIT_FILE_LABELS, TUTTI_I32, 1, shape,
                                       tutti_split_labels(split)));
  if (fold) /* small numbers, which are the same as int32 */
    TUTTI_TRY_OUT(context, write_array(context, directory, name, TUTTI_SPLIT_FILE_FOLDS, TUTTI_I32, 1, shape, fold));
  if (tutti_split_groups(split)) /* likewise */
    TUTTI_TRY_OUT(context, write_array(context, directory, name, TUTTI_SPLIT_FILE_GROUPS, TUTTI_I32, 1, shape,
                                       tutti_split_groups(split)));
out:
  tutti_free(numbers);
  return status;
}

/* A run writes its recipe first: without one, nothing else here is a run's. */
enum tutti_status tutti_run_directory_check_free(tutti_context *context, const char *directory) {
  static const struct tutti_file_kind recipe = {.name = "the recipe of a run", .begins = {"; Effective recipe"}},
                                      other = {.name = "a file of a run"};
  static const enum tutti_run_file others[] = {TUTTI_RUN_FILE_DATA, TUTTI_RUN_FILE_ENSEMBLE, TUTTI_RUN_FILE_SUMMARY};
  char *path;
  bool begun = tutti_run_file_is_there(directory, TUTTI_RUN_FILE_RECIPE);
  for (size_t i = 0; i < (begun ? 1 : sizeof others / sizeof others[0]); i++) {
    TUTTI_TRY(context, tutti_run_file_path(context, directory, begun ? TUTTI_RUN_FILE_RECIPE : others[i], &path));
    enum tutti_status status = tutti_file_check_replaced(context, path, begun ? &recipe : &other);
    tutti_free(path);
    if (status != TUTTI_OK)
      return tutti_error_prefix(context, status, "--out %s: ", directory);
  }
  return TUTTI_OK;
}

enum tutti_status tutti_run_directory_make(tutti_context *context, const char *directory,
                                           const struct tutti_experiment *experiment) {
  enum tutti_status status = TUTTI_OK;
  const tutti_dataset *dataset = experiment->dataset;
  char *text = NULL, *folder = NULL;
  TUTTI_TRY_OUT(context, tutti_recipe_print(context, experiment->recipe, &text));
  TUTTI_TRY_OUT(context, tutti_run_file_write(context, directory, TUTTI_RUN_FILE_RECIPE, text));
  if (!dataset)
    goto out;
  TUTTI_TRY_OUT(context, tutti_run_file_path(context, directory, TUTTI_RUN_FILE_SPLITS, &folder));
  TUTTI_TRY_OUT(context, tutti_file_make_folder(context, folder));
  for (size_t i = 0; i < tutti_dataset_splits(dataset); i++)
    TUTTI_TRY_OUT(context, write_split(context, directory, tutti_dataset_split(dataset, i),
                                       folds_of(dataset, tutti_dataset_split(dataset, i))));
  tutti_free(text);
  text = NULL;
  TUTTI_TRY_OUT(context, tutti_dataset_describe(context, dataset, &text));
  TUTTI_TRY_OUT(context, tutti_run_file_write(context, directory, TUTTI_RUN_FILE_DATA, text));
out:
  tutti_free(folder);
  tutti_free(text);
  return status;
}

/* --- the record of these files --- */

static enum tutti_status record_split(tutti_context *context, const char *folder, const tutti_split *split, bool folds,
                                      json_t *record) {
  const bool there[TUTTI_SPLIT_FILES] = {[TUTTI_SPLIT_FILE_ROWS] = tutti_split_source_rows(split) != NULL,
                                         [TUTTI_SPLIT_FILE_TARGETS] = tutti_split_raw_targets(split) != NULL,
                                         [TUTTI_SPLIT_FILE_LABELS] = tutti_split_labels(split) != NULL,
                                         [TUTTI_SPLIT_FILE_FOLDS] = folds,
                                         [TUTTI_SPLIT_FILE_GROUPS] = tutti_split_groups(split) != NULL};
  for (size_t i = 0; i < TUTTI_SPLIT_FILES; i++) {
    char *name;
    if (!there[i])
      continue;
    TUTTI_TRY(context, tutti_split_file_name(context, tutti_split_name(split), (enum tutti_split_file)i, &name));
    enum tutti_status status = tutti_record_add(context, record, folder, name);
    tutti_free(name);
    TUTTI_TRY(context, status);
  }
  return TUTTI_OK;
}

/* {"run": [files of the directory itself], "splits": [files of that folder]}. A recipe of several that share a
   catalogue is in none. */
enum tutti_status tutti_run_record_files(tutti_context *context, const char *directory,
                                         const struct tutti_experiment *experiment, char **json) {
  enum tutti_status status = TUTTI_OK;
  const tutti_dataset *dataset = experiment->dataset;
  json_t *run = json_array(), *splits = json_array();
  char *folder = NULL;
  *json = NULL;
  TUTTI_TRY_OUT(context, tutti_run_file_path(context, directory, TUTTI_RUN_FILE_SPLITS, &folder));
  if (!tutti_run_is_shared(directory))
    TUTTI_TRY_OUT(context, tutti_record_add(context, run, directory, tutti_run_file_name(TUTTI_RUN_FILE_RECIPE)));
  if (dataset)
    TUTTI_TRY_OUT(context, tutti_record_add(context, run, directory, tutti_run_file_name(TUTTI_RUN_FILE_DATA)));
  for (size_t i = 0; dataset && i < tutti_dataset_splits(dataset); i++)
    TUTTI_TRY_OUT(context, record_split(context, folder, tutti_dataset_split(dataset, i),
                                        folds_of(dataset, tutti_dataset_split(dataset, i)) != NULL, splits));
  TUTTI_TRY_OUT(context, tutti_json_line(context, json_pack("{s:O, s:O}", "run", run, "splits", splits), json));
out:
  json_decref(run);
  json_decref(splits);
  tutti_free(folder);
  return status;
}

/* The recipe of a run that shares the catalogue of another is in nobody's record of files. So it ends with a checksum
   of what stands before. */
static const char recipe_mark[] = "; crc32 of the lines above: ";

enum tutti_status tutti_run_write_own_recipe(tutti_context *context, const char *directory, const char *recipe) {
  char *marked;
  uint32_t sum = (uint32_t)crc32_z(0, (const Bytef *)recipe, strlen(recipe));
  TUTTI_TRY(context, tutti_format(context, &marked, "%s%s%08" PRIx32 "\n", recipe, recipe_mark, sum));
  enum tutti_status status = tutti_run_file_write(context, directory, TUTTI_RUN_FILE_RECIPE, marked);
  tutti_free(marked);
  return status;
}

static enum tutti_status check_own_recipe(tutti_context *context, const char *directory, char **why) {
  enum tutti_status status = TUTTI_OK;
  char *text = NULL;
  TUTTI_TRY(context, tutti_run_file_read(context, directory, TUTTI_RUN_FILE_RECIPE, &text));
  const char *mark = text ? strstr(text, recipe_mark) : NULL; /* ablations of an earlier Tutti have none */
  if (mark &&
      strtoul(mark + sizeof recipe_mark - 1, NULL, 16) != crc32_z(0, (const Bytef *)text, (size_t)(mark - text)))
    status = tutti_format(context, why, "%s/%s: it is not what it was: its checksum differs from that in its last line",
                          directory, tutti_run_file_name(TUTTI_RUN_FILE_RECIPE));
  tutti_free(text);
  return status;
}

static void leave_out_recipe(json_t *record) {
  for (size_t i = json_array_size(record); i-- > 0;) {
    const char *name = json_string_value(json_object_get(json_array_get(record, i), "name"));
    if (name && strcmp(name, tutti_run_file_name(TUTTI_RUN_FILE_RECIPE)) == 0)
      (void)json_array_remove(record, i);
  }
}

enum tutti_status tutti_run_record_own_recipe(tutti_context *context, const char *directory) {
  enum tutti_status status = TUTTI_OK;
  char *path = NULL, *text = NULL, *files = NULL;
  tutti_catalogue *catalogue = NULL;
  json_t *root = NULL;
  TUTTI_TRY_OUT(context, tutti_run_file_path(context, directory, TUTTI_RUN_FILE_CATALOGUE, &path));
  TUTTI_TRY_OUT(context, tutti_catalogue_open(context, path, true, &catalogue));
  TUTTI_TRY_OUT(context, tutti_catalogue_get(context, catalogue, "files", &text));
  root = text ? json_loads(text, 0, NULL) : NULL;
  json_t *run = json_object_get(root, "run");
  if (!run) /* an earlier Tutti recorded nothing */
    goto out;
  leave_out_recipe(run);
  TUTTI_TRY_OUT(context, tutti_record_add(context, run, directory, tutti_run_file_name(TUTTI_RUN_FILE_RECIPE)));
  TUTTI_TRY_OUT(context, tutti_json_line(context, json_incref(root), &files));
  TUTTI_TRY_OUT(context, tutti_catalogue_set(context, catalogue, "files", files));
out:
  tutti_catalogue_close(catalogue);
  json_decref(root);
  tutti_free(path);
  tutti_free(text);
  tutti_free(files);
  return status;
}

enum tutti_status tutti_run_check_files(tutti_context *context, const char *directory, tutti_catalogue *catalogue,
                                        char **why) {
  enum tutti_status status = TUTTI_OK;
  char *text = NULL, *folder = NULL;
  json_t *root = NULL;
  *why = NULL;
  TUTTI_TRY_OUT(context, tutti_catalogue_get(context, catalogue, "files", &text));
  root = text ? json_loads(text, 0, NULL) : NULL;
  if (!root) {
    TUTTI_TRY_OUT(context, tutti_format(context, why,
                                        "%s: the catalogue has no record of the run's files, as if it had only just "
                                        "begun, or was begun by an earlier Tutti",
                                        directory));
    goto out;
  }
  json_t *run = json_object_get(root, "run");
  if (tutti_run_is_shared(directory)) /* its recipe is not the one of the catalogue's run */
    leave_out_recipe(run);
  TUTTI_TRY_OUT(context, tutti_record_check_all(context, run, directory, why));
  TUTTI_TRY_OUT(context, tutti_run_file_path(context, directory, TUTTI_RUN_FILE_SPLITS, &folder));
  if (!*why)
    TUTTI_TRY_OUT(context, tutti_record_check_all(context, json_object_get(root, "splits"), folder, why));
  if (!*why && tutti_run_is_shared(directory))
    TUTTI_TRY_OUT(context, check_own_recipe(context, directory, why));
out:
  json_decref(root);
  tutti_free(text);
  tutti_free(folder);
  return status;
}

/* --- the data set, read back --- */

enum tutti_status tutti_run_origins(tutti_context *context, const char *directory, size_t targets, double *origins) {
  enum tutti_status status;
  char *path = NULL, *json = NULL;
  TUTTI_TRY_OUT(context, tutti_run_file_path(context, directory, TUTTI_RUN_FILE_DATA, &path));
  TUTTI_TRY_OUT(context, tutti_run_check_file(context, path));
  TUTTI_TRY_OUT(context, tutti_run_file_read(context, directory, TUTTI_RUN_FILE_DATA, &json));
  status = tutti_stored_origins(context, json ? json : "", targets, origins);
  if (status == TUTTI_ERROR_CORRUPT)
    (void)tutti_error_prefix(context, status, "%s: ", path);
out:
  tutti_free(path);
  tutti_free(json);
  return status;
}

struct stored {
  const char *directory;
  bool placed; /* an error names its file */
};

static enum tutti_status stored_path(tutti_context *context, const struct stored *stored, const char *split,
                                     enum tutti_stored_array which, char **path) {
  static const enum tutti_split_file files[TUTTI_STORED_ARRAYS] = {[TUTTI_STORED_ROWS] = TUTTI_SPLIT_FILE_ROWS,
                                                                   [TUTTI_STORED_TARGETS] = TUTTI_SPLIT_FILE_TARGETS,
                                                                   [TUTTI_STORED_LABELS] = TUTTI_SPLIT_FILE_LABELS,
                                                                   [TUTTI_STORED_FOLDS] = TUTTI_SPLIT_FILE_FOLDS,
                                                                   [TUTTI_STORED_GROUPS] = TUTTI_SPLIT_FILE_GROUPS};
  return tutti_run_split_path(context, stored->directory, split, files[which], path);
}

/* Implements tutti_stored_splits.map. */
static enum tutti_status map_stored(void *argument, tutti_context *context, const char *split,
                                    enum tutti_stored_array which, struct tutti_npy *array) {
  char *path;
  TUTTI_TRY(context, stored_path(context, argument, split, which, &path));
  enum tutti_status status = tutti_run_check_file(context, path);
  if (status == TUTTI_OK && access(path, F_OK) == 0)
    status = tutti_npy_map(context, path, array);
  tutti_free(path);
  return status;
}

/* Implements tutti_stored_splits.place. */
static enum tutti_status place_stored(void *argument, tutti_context *context, const char *split,
                                      enum tutti_stored_array which, enum tutti_status status) {
  struct stored *stored = argument;
  char *path;
  stored->placed = true;
  TUTTI_TRY(context, stored_path(context, stored, split, which, &path));
  if (!strstr(tutti_error_message(context), path)) /* who read it may have said so */
    (void)tutti_error_prefix(context, status, "%s: ", path);
  tutti_free(path);
  return status;
}

enum tutti_status tutti_run_dataset(tutti_context *context, const char *directory, const tutti_recipe *recipe,
                                    tutti_dataset **dataset) {
  enum tutti_status status = TUTTI_OK;
  char *path = NULL, *json = NULL;
  struct stored stored = {directory, false};
  const struct tutti_stored_splits splits = {&stored, map_stored, place_stored};
  *dataset = NULL;
  if (!tutti_recipe_data(recipe))
    return TUTTI_OK;
  TUTTI_TRY_OUT(context, tutti_run_file_path(context, directory, TUTTI_RUN_FILE_DATA, &path));
  TUTTI_TRY_OUT(context, tutti_run_file_read(context, directory, TUTTI_RUN_FILE_DATA, &json));
  if (!json)
    status = TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "%s is not there", path);
  else
    status = tutti_dataset_restore(context, json, tutti_recipe_head(recipe), &splits, dataset);
  if (json && status == TUTTI_ERROR_CORRUPT && !stored.placed)
    (void)tutti_error_prefix(context, status, "%s: ", path);
out:
  tutti_free(path);
  tutti_free(json);
  return status;
}
