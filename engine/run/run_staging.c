/* run_staging.c - what workers read is the recipe, and what its paths lead to: for a worker elsewhere, these files lie
   in a folder beside its recipe, which names them there. What they write is the folder of a trial. */
#include "run_staging.h"

#include "core/base/file_impl.h"
#include "engine/data/pattern_impl.h"
#include "engine/recipe/recipe_impl.h"
#include "record_impl.h"
#include "run_files.h"
#include "run_warm.h"
#include "trial_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- what they read --- */

enum { DEEPEST = 32 };

struct visiting {
  tutti_visit_staged *visit;
  void *visitor;
  size_t count; /* of paths that were moved */
};

static enum tutti_status visit_file(const struct visiting *visiting, tutti_context *context, const char *name,
                                    const char *path, const char *text) {
  const struct tutti_staged_file file = {.size = sizeof file, .name = name, .path = path, .text = text};
  return visiting->visit(visiting->visitor, context, &file);
}

static enum tutti_status visit_below(const struct visiting *visiting, tutti_context *context, const char *name,
                                     const char *path, int depth);

static enum tutti_status visit_folder(const struct visiting *visiting, tutti_context *context, const char *name,
                                      const char *path, int depth) {
  enum tutti_status status = TUTTI_OK;
  DIR *folder = opendir(path);
  if (!folder)
    return tutti_file_error(context, path, "read the folder", errno);
  errno = 0;
  for (const struct dirent *entry; status == TUTTI_OK && (entry = readdir(folder)); errno = 0) {
    char *inner_name = NULL, *inner_path = NULL;
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
      continue;
    status = tutti_format(context, &inner_name, "%s/%s", name, entry->d_name);
    if (status == TUTTI_OK)
      status = tutti_format(context, &inner_path, "%s/%s", path, entry->d_name);
    if (status == TUTTI_OK)
      status = visit_below(visiting, context, inner_name, inner_path, depth - 1);
    tutti_free(inner_name);
    tutti_free(inner_path);
  }
  if (status == TUTTI_OK && errno)
    status = tutti_file_error(context, path, "read the folder", errno);
  (void)closedir(folder);
  return status;
}

/* Links are followed, so the depth is limited: one of them may lead back. */
static enum tutti_status visit_below(const struct visiting *visiting, tutti_context *context, const char *name,
                                     const char *path, int depth) {
  struct stat facts;
  if (stat(path, &facts) != 0)
    return tutti_file_error(context, path, "open", errno);
  if (S_ISDIR(facts.st_mode) && depth == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: there are too many folders in folders to send it to workers",
                      path);
  if (S_ISDIR(facts.st_mode))
    return visit_folder(visiting, context, name, path, depth);
  return S_ISREG(facts.st_mode) ? visit_file(visiting, context, name, path, NULL) : TUTTI_OK;
}

/* The name behind the folder is a pattern, as of fit.test_rows: its files go into one folder, where it finds them.
   *moved stays NULL if there are none. */
static enum tutti_status move_pattern(struct visiting *visiting, tutti_context *context, const char *path,
                                      char **moved) {
  struct tutti_matches matches;
  enum tutti_status status = tutti_matches_find(context, path, &matches);
  const char *slash = strrchr(path, '/');
  if (status == TUTTI_ERROR_USAGE) { /* there is no such folder */
    tutti_error_clear(context);
    status = TUTTI_OK;
  }
  visiting->count += matches.count > 0;
  for (size_t i = 0; status == TUTTI_OK && i < matches.count; i++) {
    char *name = NULL;
    status = tutti_format(context, &name, "inputs/%zu%s", visiting->count, strrchr(matches.paths[i], '/'));
    if (status == TUTTI_OK)
      status = visit_below(visiting, context, name, matches.paths[i], DEEPEST);
    tutti_free(name);
  }
  if (status == TUTTI_OK && matches.count > 0)
    status = tutti_format(context, moved, "inputs/%zu/%s", visiting->count, slash ? slash + 1 : path);
  tutti_matches_release(&matches);
  return status;
}

/* Implements tutti_move_input. What is not there stays in the recipe as it is, and the worker says what it misses. */
static enum tutti_status move_input(void *argument, tutti_context *context, const char *path, char **moved) {
  struct visiting *visiting = argument;
  const char *slash = strrchr(path, '/');
  *moved = NULL;
  if (access(path, F_OK) != 0)
    return move_pattern(visiting, context, path, moved);
  TUTTI_TRY(context, tutti_format(context, moved, "inputs/%zu/%s", ++visiting->count, slash ? slash + 1 : path));
  enum tutti_status status = visit_below(visiting, context, *moved, path, DEEPEST);
  if (status != TUTTI_OK) {
    tutti_free(*moved);
    *moved = NULL;
  }
  return status;
}

static enum tutti_status visit_inputs(void *argument, tutti_context *context, tutti_visit_staged *visit,
                                      void *visitor) {
  const struct tutti_run_staging *staging = argument;
  struct visiting visiting = {.visit = visit, .visitor = visitor};
  char *recipe;
  if (!staging->recipe)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "an agent has no files that workers read: only the manager visits them");
  TUTTI_TRY(context, tutti_recipe_print_moved(context, staging->recipe, move_input, &visiting, &recipe));
  enum tutti_status status = visit_file(&visiting, context, tutti_run_file_name(TUTTI_RUN_FILE_RECIPE), NULL, recipe);
  tutti_free(recipe);
  return status;
}

/* The weights that a trial starts from lie in its own folder there, which nobody else writes. */
static enum tutti_status visit_trial(void *argument, tutti_context *context, uint64_t trial, const char *request,
                                     tutti_visit_staged *visit, void *visitor) {
  const struct tutti_run_staging *staging = argument;
  const struct visiting visiting = {.visit = visit, .visitor = visitor};
  char *path, *name;
  enum tutti_status status = tutti_run_parent_file(context, staging->directory, trial, request, &path, &name);
  if (status == TUTTI_OK && path && access(path, R_OK) == 0) /* without it, the worker says what it lacks */
    status = visit_file(&visiting, context, name, path, NULL);
  tutti_free(path);
  tutti_free(name);
  return status;
}

/* --- what they write --- */

static enum tutti_status name_folder(void *argument, tutti_context *context, uint64_t trial, char **folder) {
  char *path;
  (void)argument;
  TUTTI_TRY(context, tutti_trial_folder(context, ".", trial, &path));
  enum tutti_status status = tutti_strdup(context, path + strlen("./"), folder);
  tutti_free(path);
  return status;
}

/* A name that comes from another machine is one of a file in that folder, and nothing else. */
static bool is_plain(const char *name) {
  return *name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && !strchr(name, '/');
}

static enum tutti_status store(void *argument, tutti_context *context, const struct tutti_staged_piece *piece) {
  const struct tutti_run_staging *staging = argument;
  const struct tutti_file_part part = {.data = piece->bytes, .bytes = piece->count};
  enum tutti_status status = TUTTI_OK;
  char *folder = NULL, *path = NULL;
  if (!is_plain(piece->name))
    return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "'%s' is no name of a trial's file", piece->name);
  TUTTI_TRY_OUT(context, tutti_trial_folder(context, staging->directory, piece->trial, &folder));
  TUTTI_TRY_OUT(context, tutti_format(context, &path, "%s/%s", folder, piece->name));
  TUTTI_TRY_OUT(context, tutti_run_check_folder(context, folder));
  if (piece->offset == 0) {
    tutti_file_group_begin(context);
    status = tutti_file_make_folder(context, folder);
    tutti_file_group_drop(context);
  }
  if (status == TUTTI_OK)
    TUTTI_TRY_OUT(context, tutti_file_write_piece(context, path, piece->offset, piece->total, &part));
out:
  tutti_free(folder);
  tutti_free(path);
  return status;
}

/* Are the files that a report tells of there, as it tells? One that failed may have none, and no folder. */
static enum tutti_status compare(tutti_context *context, const char *folder, const char *report, char **why) {
  json_t *root = json_loads(report, 0, NULL);
  const json_t *files = json_object_get(root, "files");
  enum tutti_status status =
      json_array_size(files) > 0 ? tutti_record_check_all(context, files, folder, why) : TUTTI_OK;
  json_decref(root);
  return status;
}

/* What a worker says that cannot go on is not compared: the run ends with it. */
static enum tutti_status settle(void *argument, tutti_context *context, uint64_t trial, const char *reply, char **why) {
  const struct tutti_run_staging *staging = argument;
  struct tutti_reply_facts facts = {.report = NULL};
  enum tutti_status status = TUTTI_OK;
  char *folder = NULL;
  *why = NULL;
  TUTTI_TRY_OUT(context, tutti_trial_folder(context, staging->directory, trial, &folder));
  TUTTI_TRY_OUT(context, tutti_reply_parse(context, reply, &facts));
  if (facts.status == TUTTI_OK)
    TUTTI_TRY_OUT(context, compare(context, folder, facts.report, why));
  if (!*why && access(folder, F_OK) == 0)
    TUTTI_TRY_OUT(context, tutti_file_group_end(context, folder));
out:
  tutti_free(facts.report);
  tutti_free(folder);
  return status;
}

static void drop(void *argument, tutti_context *context, uint64_t trial) {
  const struct tutti_run_staging *staging = argument;
  char *folder = NULL;
  enum tutti_status status = tutti_trial_folder(context, staging->directory, trial, &folder);
  if (status == TUTTI_OK)
    status = tutti_run_check_folder(context, folder);
  if (status == TUTTI_OK)
    tutti_run_remove_folder(folder);
  else
    tutti_error_clear(context); /* what stays there is not recorded, and the next try writes over it */
  tutti_free(folder);
}

/* As a worker opens it, in which a log that cannot be written is no reason to fail either. */
enum tutti_status tutti_run_append_log(tutti_context *context, const char *directory, const char *bytes, size_t count) {
  char *path;
  TUTTI_TRY(context, tutti_run_file_path(context, directory, TUTTI_RUN_FILE_LOG, &path));
  int log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
  tutti_free(path);
  if (log < 0)
    return TUTTI_OK;
  while (count > 0) {
    ssize_t n = write(log, bytes, count);
    if (n <= 0)
      break;
    bytes += n;
    count -= (size_t)n;
  }
  (void)close(log);
  return TUTTI_OK;
}

static enum tutti_status note(void *argument, tutti_context *context, const char *bytes, size_t count) {
  const struct tutti_run_staging *staging = argument;
  return tutti_run_append_log(context, staging->directory, bytes, count);
}

struct tutti_staging tutti_run_staging_offer(struct tutti_run_staging *staging) {
  return (struct tutti_staging){.size = sizeof(struct tutti_staging),
                                .argument = staging,
                                .log = tutti_run_file_name(TUTTI_RUN_FILE_LOG),
                                .visit = visit_inputs,
                                .folder = name_folder,
                                .store = store,
                                .settle = settle,
                                .drop = drop,
                                .note = note,
                                .visit_trial = visit_trial};
}
