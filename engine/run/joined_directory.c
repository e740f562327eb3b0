/* joined_directory.c - several runs that are one pool, as a directory: pools.json, and the runs in runs/1, runs/2, ...
   */
#include "joined_impl.h"

#include "core/base/file_impl.h"
#include "core/base/json_impl.h"
#include "core/base/text_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_RUNS = 1000 };

/* --- opening --- */

static enum tutti_status open_part(tutti_context *context, const char *directory, const char *name,
                                   struct tutti_part *part) {
  if (tutti_run_directory_has_pools(directory))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s is made of several runs itself; name those, which are in its folder runs", directory);
  TUTTI_TRY(context, tutti_strdup(context, name, &part->name));
  return tutti_view_open(context, directory, &part->view);
}

/* The runs under one name for messages, as in "runs/a and runs/b". */
static enum tutti_status name_all(tutti_context *context, size_t count, const char *const *directories, char **name) {
  struct tutti_text text = tutti_text_begin(context);
  for (size_t i = 0; i < count; i++)
    tutti_text_add(&text, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : " and ", directories[i]);
  return tutti_text_take(&text, name);
}

enum tutti_status tutti_view_open_all(tutti_context *context, size_t count, const char *const *directories,
                                      tutti_view **view) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_part *parts = NULL;
  char *name = NULL;
  *view = NULL;
  if (count == 0 || count > MOST_RUNS)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "expected 1 to %d runs, found %zu", MOST_RUNS, count);
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *parts, &parts));
  for (size_t i = 0; i < count; i++)
    TUTTI_TRY_OUT(context, open_part(context, directories[i], directories[i], &parts[i]));
  TUTTI_TRY_OUT(context, name_all(context, count, directories, &name));
  status = tutti_joined_make(context, name, count, parts, view);
  parts = NULL; /* taken */
  if (*view)
    (*view)->unnamed = true;
out:
  tutti_joined_close(count, parts);
  tutti_free(name);
  return status;
}

/* pools.json; the caller ends *runs with json_decref. */
static enum tutti_status read_pools(tutti_context *context, const char *directory, json_t **runs) {
  enum tutti_status status = TUTTI_OK;
  char *text = NULL;
  json_error_t error = {.text = ""};
  TUTTI_TRY(context, tutti_run_file_read(context, directory, TUTTI_RUN_FILE_POOLS, &text));
  json_t *root = json_loads(text ? text : "", 0, &error);
  *runs = json_incref(json_object_get(root, "runs"));
  size_t count = json_array_size(*runs);
  if (count == 0 || count > MOST_RUNS)
    status = TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT,
                        "%s/%s: expected {\"runs\": [{\"from\": ..., \"trials\": ...}, ...]}%s%s", directory,
                        tutti_run_file_name(TUTTI_RUN_FILE_POOLS), root ? "" : ": ", error.text);
  json_decref(root);
  tutti_free(text);
  return status;
}

static enum tutti_status run_folder(tutti_context *context, const char *directory, size_t index, char **path) {
  return tutti_format(context, path, "%s/%s/%zu", directory, tutti_run_file_name(TUTTI_RUN_FILE_RUNS), index + 1);
}

static enum tutti_status open_numbered(tutti_context *context, const char *directory, size_t index, const json_t *said,
                                       struct tutti_part *part) {
  enum tutti_status status = TUTTI_OK;
  const char *from = json_string_value(json_object_get(said, "from"));
  uint64_t trials = (uint64_t)json_integer_value(json_object_get(said, "trials"));
  char *path = NULL;
  TUTTI_TRY_OUT(context, run_folder(context, directory, index, &path));
  TUTTI_TRY_OUT(context, tutti_run_check_folder(context, path));
  TUTTI_TRY_OUT(context, open_part(context, path, from ? from : path, part));
  if (part->view->history.asked != trials)
    status = TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "%s: expected the %" PRIu64 " trials that it had, found %" PRIu64,
                        path, trials, part->view->history.asked);
out:
  tutti_free(path);
  return status;
}

enum tutti_status tutti_joined_open(tutti_context *context, const char *directory, tutti_view **view) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_part *parts = NULL;
  json_t *runs = NULL;
  TUTTI_TRY_OUT(context, tutti_run_check_layout(context, directory));
  TUTTI_TRY_OUT(context, read_pools(context, directory, &runs));
  TUTTI_TRY_OUT(context, tutti_alloc(context, json_array_size(runs), sizeof *parts, &parts));
  for (size_t i = 0; i < json_array_size(runs); i++)
    TUTTI_TRY_OUT(context, open_numbered(context, directory, i, json_array_get(runs, i), &parts[i]));
  status = tutti_joined_make(context, directory, json_array_size(runs), parts, view);
  parts = NULL; /* taken */
out:
  tutti_joined_close(json_array_size(runs), parts);
  json_decref(runs);
  return status;
}

/* --- writing --- */

/* The files of a run are never changed, only replaced: another name for the same file is as good as a copy. */
static enum tutti_status copy_file(tutti_context *context, const char *from, const char *to) {
  char *data;
  size_t bytes;
  if (link(from, to) == 0)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_file_read(context, from, &data, &bytes));
  const struct tutti_file_part part = {data, bytes};
  enum tutti_status status = tutti_file_write(context, to, 1, &part);
  tutti_free(data);
  return status;
}

static enum tutti_status copy_folder(tutti_context *context, const char *from, const char *to, int depth);

static enum tutti_status copy_entry(tutti_context *context, const char *from, const char *to, const char *name,
                                    int depth) {
  enum tutti_status status = TUTTI_OK;
  char *source = NULL, *target = NULL;
  struct stat facts;
  TUTTI_TRY_OUT(context, tutti_format(context, &source, "%s/%s", from, name));
  TUTTI_TRY_OUT(context, tutti_format(context, &target, "%s/%s", to, name));
  if (lstat(source, &facts) != 0)
    status = tutti_file_error(context, source, "look at it", errno);
  else if (S_ISREG(facts.st_mode))
    status = copy_file(context, source, target);
  else if (S_ISDIR(facts.st_mode) && depth > 0)
    status = copy_folder(context, source, target, depth - 1);
out:
  tutti_free(source);
  tutti_free(target);
  return status;
}

/* Regular files, and folders down to a depth; nothing else belongs to a run. */
static enum tutti_status copy_folder(tutti_context *context, const char *from, const char *to, int depth) {
  enum tutti_status status = TUTTI_OK;
  TUTTI_TRY(context, tutti_file_make_folder(context, to));
  DIR *folder = opendir(from);
  if (!folder)
    return tutti_file_error(context, from, "read the folder", errno);
  for (struct dirent *entry; status == TUTTI_OK && (entry = readdir(folder));) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
      continue;
    status = tutti_cancelled(context) ? TUTTI_FAIL(context, TUTTI_ERROR_CANCELLED, "%s: cancelled", to)
                                      : copy_entry(context, from, to, entry->d_name, depth);
  }
  (void)closedir(folder);
  return status;
}

static enum tutti_status copy_item(tutti_context *context, const char *from, const char *to, enum tutti_run_file file) {
  enum tutti_status status = TUTTI_OK;
  char *source = NULL, *target = NULL;
  TUTTI_TRY_OUT(context, tutti_run_file_path(context, from, file, &source));
  TUTTI_TRY_OUT(context, tutti_run_file_path(context, to, file, &target));
  if (file == TUTTI_RUN_FILE_SPLITS || file == TUTTI_RUN_FILE_TRIALS)
    status = copy_folder(context, source, target, 1);
  else if (tutti_run_file_is_there(from, file))
    status = copy_file(context, source, target);
out:
  tutti_free(source);
  tutti_free(target);
  return status;
}

static enum tutti_status copy_catalogue(tutti_context *context, const tutti_view *view, const char *to) {
  char *path;
  TUTTI_TRY(context, tutti_run_file_path(context, to, TUTTI_RUN_FILE_CATALOGUE, &path));
  enum tutti_status status = tutti_catalogue_copy(context, view->catalogue, path);
  tutti_free(path);
  return status;
}

static enum tutti_status copy_run(tutti_context *context, const tutti_view *view, const char *to) {
  static const enum tutti_run_file items[] = {TUTTI_RUN_FILE_RECIPE, TUTTI_RUN_FILE_DATA,     TUTTI_RUN_FILE_SPLITS,
                                              TUTTI_RUN_FILE_TRIALS, TUTTI_RUN_FILE_ENSEMBLE, TUTTI_RUN_FILE_SUMMARY};
  TUTTI_TRY(context, tutti_file_make_folder(context, to));
  for (size_t i = 0; i < sizeof items / sizeof items[0]; i++)
    TUTTI_TRY(context, copy_item(context, view->directory, to, items[i]));
  return copy_catalogue(context, view, to);
}

static enum tutti_status begin_directory(tutti_context *context, const char *directory) {
  TUTTI_TRY(context, tutti_file_make_folder(context, directory));
  DIR *folder = opendir(directory);
  bool empty = true;
  if (!folder)
    return tutti_file_error(context, directory, "read the folder", errno);
  for (struct dirent *entry; (entry = readdir(folder));)
    empty = empty && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0);
  (void)closedir(folder);
  return empty ? TUTTI_OK
               : TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: expected a new or empty directory; it has files already",
                            directory);
}

static enum tutti_status write_pools(tutti_context *context, const tutti_view *view, const char *directory) {
  json_t *runs = json_array();
  char *text;
  for (size_t i = 0; i < view->part_count; i++) {
    const tutti_view *of = view->parts[i].view;
    (void)json_array_append_new(
        runs, json_pack("{s:s, s:I}", "from", view->parts[i].name, "trials", (json_int_t)of->history.asked));
  }
  TUTTI_TRY(context, tutti_json_document(context, json_pack("{s:o}", "runs", runs), &text));
  enum tutti_status status = tutti_run_file_write(context, directory, TUTTI_RUN_FILE_POOLS, text);
  tutti_free(text);
  return status;
}

/* What was linked has to be on the disk before pools.json says that it is there. */
static void sync_all(const char *directory) {
  int folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0)
    return;
  (void)syncfs(folder);
  (void)close(folder);
}

enum tutti_status tutti_joined_write(tutti_context *context, tutti_view *view, const char *directory) {
  for (size_t i = 0; i < view->part_count; i++)
    if (tutti_run_is_locked(view->parts[i].view->directory))
      return TUTTI_FAIL(context, TUTTI_ERROR_BUSY, "%s: a manager is at work there; wait until the run has ended",
                        view->parts[i].view->directory);
  TUTTI_TRY(context, begin_directory(context, directory));
  TUTTI_TRY(context, tutti_run_check_directory(context, directory));
  for (size_t i = 0; i < view->part_count; i++) {
    char *path;
    TUTTI_TRY(context, run_folder(context, directory, i, &path));
    enum tutti_status status = copy_run(context, view->parts[i].view, path);
    tutti_free(path);
    TUTTI_TRY(context, status);
  }
  sync_all(directory);
  TUTTI_TRY(context, write_pools(context, view, directory));
  tutti_free(view->directory);
  view->directory = NULL;
  view->unnamed = false;
  TUTTI_TRY(context, tutti_strdup(context, directory, &view->directory));
  view->pool.directory = view->directory;
  return TUTTI_OK;
}
