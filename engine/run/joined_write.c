/* joined_write.c - copies several runs that are one pool to a directory: pools.json, and the runs in runs/1, runs/2,
   ... */
#include "run_view_impl.h"

#include "core/base/file_impl.h"
#include "core/base/json_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The files of a run are never changed, only replaced: another name for the same file is as good as a copy. */
static enum tutti_status copy_file(tutti_context *context, const char *from, const char *to) {
  char *data;
  size_t bytes;
  if (linkat(AT_FDCWD, from, AT_FDCWD, to, AT_SYMLINK_FOLLOW) == 0) /* runs may share files by links */
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
  TUTTI_TRY(context, copy_catalogue(context, view, to));
  return tutti_run_is_shared(view->directory) ? tutti_run_record_own_recipe(context, to) : TUTTI_OK;
}

enum tutti_status tutti_run_begin_folder(tutti_context *context, const char *directory) {
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
  TUTTI_TRY(context, tutti_run_begin_folder(context, directory));
  TUTTI_TRY(context, tutti_run_check_directory(context, directory));
  for (size_t i = 0; i < view->part_count; i++) {
    char *path;
    TUTTI_TRY(context, tutti_run_part_path(context, directory, i, &path));
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
