/* run_files.c - what is where in a run directory. */
#include "run_files.h"

#include "core/base/file_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- the directory itself --- */

static const char *const file_names[] = {
    [TUTTI_RUN_FILE_RECIPE] = "recipe.ini",
    [TUTTI_RUN_FILE_CATALOGUE] = "catalogue.sqlite",
    [TUTTI_RUN_FILE_DATA] = "data.json",
    [TUTTI_RUN_FILE_SPLITS] = "splits",
    [TUTTI_RUN_FILE_TRIALS] = "trials",
    [TUTTI_RUN_FILE_ENSEMBLE] = "ensemble.json",
    [TUTTI_RUN_FILE_SUMMARY] = "summary.json",
    [TUTTI_RUN_FILE_LOCK] = "lock",
    [TUTTI_RUN_FILE_LOG] = "worker.log",
    [TUTTI_RUN_FILE_NEXT] = "ensemble.json.new",
    [TUTTI_RUN_FILE_LIVE] = "live.json",
    [TUTTI_RUN_FILE_POOLS] = "pools.json",
    [TUTTI_RUN_FILE_RUNS] = "runs",
    [TUTTI_RUN_FILE_CANCEL] = "cancel",
    [TUTTI_RUN_FILE_INPUTS] = "inputs",
};

const char *tutti_run_file_name(enum tutti_run_file file) { return file_names[file]; }

enum tutti_status tutti_run_file_path(tutti_context *context, const char *directory, enum tutti_run_file file,
                                      char **path) {
  if ((size_t)file >= sizeof file_names / sizeof file_names[0])
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "a run directory has no file number %d", (int)file);
  return tutti_format(context, path, "%s/%s", directory, file_names[file]);
}

bool tutti_run_file_is_there(const char *directory, enum tutti_run_file file) {
  int folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  bool there = folder >= 0 && faccessat(folder, file_names[file], F_OK, 0) == 0;
  if (folder >= 0)
    (void)close(folder);
  return there;
}

enum tutti_status tutti_run_file_write(tutti_context *context, const char *directory, enum tutti_run_file file,
                                       const char *text) {
  char *path;
  TUTTI_TRY(context, tutti_run_file_path(context, directory, file, &path));
  enum tutti_status status = tutti_file_write_text(context, path, text);
  tutti_free(path);
  return status;
}

enum tutti_status tutti_run_file_read(tutti_context *context, const char *directory, enum tutti_run_file file,
                                      char **text) {
  enum tutti_status status = TUTTI_OK;
  char *path;
  size_t bytes;
  *text = NULL;
  TUTTI_TRY(context, tutti_run_file_path(context, directory, file, &path));
  if (access(path, F_OK) == 0)
    status = tutti_file_read(context, path, text, &bytes);
  tutti_free(path);
  return status;
}

bool tutti_run_directory_has_run(const char *directory) {
  return tutti_run_file_is_there(directory, TUTTI_RUN_FILE_CATALOGUE);
}

bool tutti_run_directory_is_finished(const char *directory) {
  return tutti_run_file_is_there(directory, TUTTI_RUN_FILE_SUMMARY);
}

enum tutti_status tutti_run_check_catalogue(tutti_context *context, const char *directory) {
  if (tutti_run_directory_has_run(directory) || !tutti_run_file_is_there(directory, TUTTI_RUN_FILE_TRIALS))
    return TUTTI_OK;
  return TUTTI_FAIL(
      context, TUTTI_ERROR_CORRUPT,
      "%s has the trials of a run, but %s is gone; put it back, or train again from %s with another --out", directory,
      tutti_run_file_name(TUTTI_RUN_FILE_CATALOGUE), tutti_run_file_name(TUTTI_RUN_FILE_RECIPE));
}

bool tutti_run_directory_has_pools(const char *directory) {
  return tutti_run_file_is_there(directory, TUTTI_RUN_FILE_POOLS);
}

void tutti_run_remove_folder(const char *path) {
  int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  DIR *entries = folder >= 0 ? fdopendir(folder) : NULL;
  for (const struct dirent *entry; entries && (entry = readdir(entries));)
    (void)unlinkat(folder, entry->d_name, 0);
  if (entries)
    (void)closedir(entries);
  else if (folder >= 0)
    (void)close(folder);
  (void)rmdir(path);
}

/* --- pools that runs share --- */

static enum tutti_status share_file(tutti_context *context, const char *directory, const char *owner,
                                    enum tutti_run_file file) {
  enum tutti_status status = TUTTI_OK;
  char *path = NULL, *target = NULL;
  TUTTI_TRY_OUT(context, tutti_run_file_path(context, directory, file, &path));
  TUTTI_TRY_OUT(context, tutti_format(context, &target, "../%s/%s", owner, file_names[file]));
  if (symlink(target, path) != 0 && errno != EEXIST)
    status = tutti_file_error(context, path, "make a link", errno);
out:
  tutti_free(path);
  tutti_free(target);
  return status;
}

enum tutti_status tutti_run_share(tutti_context *context, const char *directory, const char *owner) {
  /* The catalogue makes it a run directory, so it comes last. */
  static const enum tutti_run_file shared[] = {TUTTI_RUN_FILE_TRIALS, TUTTI_RUN_FILE_SPLITS, TUTTI_RUN_FILE_DATA,
                                               TUTTI_RUN_FILE_CATALOGUE};
  for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++)
    TUTTI_TRY(context, share_file(context, directory, owner, shared[i]));
  return TUTTI_OK;
}

/* Is it a link as share_file makes them, to the same file of the run beside this one? */
static bool is_shared_link(const char *path, const char *name) {
  char target[512];
  ssize_t length = readlink(path, target, sizeof target - 1);
  if (length < 0)
    return false;
  target[length] = '\0';
  char *owner = target + strlen("../"), *slash = strncmp(target, "../", 3) == 0 ? strchr(owner, '/') : NULL;
  if (!slash)
    return false;
  *slash = '\0';
  return *owner && strcmp(owner, ".") != 0 && strcmp(owner, "..") != 0 && strcmp(slash + 1, name) == 0;
}

static enum tutti_status check_kind(tutti_context *context, const char *path, const struct stat *facts, bool folder) {
  if (folder ? S_ISDIR(facts->st_mode) : S_ISREG(facts->st_mode))
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "%s: expected a %s of the run directory, found %s", path,
                    folder ? "folder" : "regular file",
                    S_ISLNK(facts->st_mode)   ? "a link; copy the run with cp -rL"
                    : S_ISDIR(facts->st_mode) ? "a folder"
                    : S_ISREG(facts->st_mode) ? "a file"
                                              : "a pipe or a device");
}

/* The facts of a file or, where runs share it, of what its link leads to. False if there is none. */
static bool look_at(const char *path, struct stat *facts) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  if (lstat(path, facts) != 0)
    return false;
  for (size_t i = 0; i < sizeof file_names / sizeof file_names[0]; i++)
    if (strcmp(file_names[i], name) == 0 && is_shared_link(path, name))
      return stat(path, facts) == 0;
  return true;
}

static enum tutti_status check_below(tutti_context *context, const char *path, bool folder) {
  struct stat facts;
  return look_at(path, &facts) ? check_kind(context, path, &facts, folder) : TUTTI_OK;
}

enum tutti_status tutti_run_check_file(tutti_context *context, const char *path) {
  return check_below(context, path, false);
}

enum tutti_status tutti_run_check_folder(tutti_context *context, const char *path) {
  return check_below(context, path, true);
}

/* The files that SQLite keeps beside the catalogue while it is written. */
static enum tutti_status check_journals(tutti_context *context, const char *directory) {
  static const char *const endings[] = {"-journal", "-wal", "-shm"};
  enum tutti_status status = TUTTI_OK;
  char *path, *real = NULL;
  TUTTI_TRY(context, tutti_run_file_path(context, directory, TUTTI_RUN_FILE_CATALOGUE, &path));
  real = realpath(path, NULL); /* they are beside the file that a link of tutti_run_share leads to */
  for (size_t i = 0; real && status == TUTTI_OK && i < sizeof endings / sizeof endings[0]; i++) {
    char *journal = NULL;
    status = tutti_format(context, &journal, "%s%s", real, endings[i]);
    if (status == TUTTI_OK)
      status = check_below(context, journal, false);
    tutti_free(journal);
  }
  free(real);
  tutti_free(path);
  return status;
}

enum tutti_status tutti_run_check_layout(tutti_context *context, const char *directory) {
  for (size_t i = 0; i < sizeof file_names / sizeof file_names[0]; i++) {
    bool folder = i == TUTTI_RUN_FILE_SPLITS || i == TUTTI_RUN_FILE_TRIALS || i == TUTTI_RUN_FILE_RUNS ||
                  i == TUTTI_RUN_FILE_CANCEL || i == TUTTI_RUN_FILE_INPUTS;
    char *path;
    TUTTI_TRY(context, tutti_run_file_path(context, directory, (enum tutti_run_file)i, &path));
    enum tutti_status status = check_below(context, path, folder);
    tutti_free(path);
    TUTTI_TRY(context, status);
  }
  return check_journals(context, directory);
}

bool tutti_run_is_shared(const char *directory) {
  int folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  struct stat facts;
  bool shared = folder >= 0 &&
                fstatat(folder, file_names[TUTTI_RUN_FILE_CATALOGUE], &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
                S_ISLNK(facts.st_mode);
  if (folder >= 0)
    (void)close(folder);
  return shared;
}

/* Is the catalogue of the run `name`, in the folder `beside`, a link to that of run `owner` there? */
static bool is_share_of(int beside, const char *name, const char *owner) {
  char path[512], target[512], expected[512];
  int length = snprintf(path, sizeof path, "%s/%s", name, file_names[TUTTI_RUN_FILE_CATALOGUE]);
  if (length < 0 || (size_t)length >= sizeof path)
    return false;
  ssize_t found = readlinkat(beside, path, target, sizeof target - 1);
  target[found < 0 ? 0 : found] = '\0';
  length = snprintf(expected, sizeof expected, "../%s/%s", owner, file_names[TUTTI_RUN_FILE_CATALOGUE]);
  return length > 0 && (size_t)length < sizeof expected && strcmp(target, expected) == 0;
}

bool tutti_run_has_sharers(const char *directory) {
  bool shared = tutti_run_is_shared(directory);
  char *real = realpath(directory, NULL), *slash = real ? strrchr(real, '/') : NULL;
  int beside = slash ? (*slash = '\0', open(*real ? real : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) : -1;
  DIR *entries = beside >= 0 ? fdopendir(beside) : NULL;
  for (const struct dirent *entry; !shared && entries && (entry = readdir(entries));)
    shared = is_share_of(beside, entry->d_name, slash + 1);
  if (entries)
    (void)closedir(entries);
  else if (beside >= 0)
    (void)close(beside);
  free(real);
  return shared;
}

/* --- several runs as one pool --- */

enum tutti_status tutti_run_part_path(tutti_context *context, const char *directory, size_t index, char **path) {
  return tutti_format(context, path, "%s/%s/%zu", directory, file_names[TUTTI_RUN_FILE_RUNS], index + 1);
}

/* --- splits --- */

enum tutti_status tutti_split_file_name(tutti_context *context, const char *split, enum tutti_split_file file,
                                        char **name) {
  static const char *const names[TUTTI_SPLIT_FILES] = {"rows", "targets", "labels", "folds", "groups"};
  return tutti_format(context, name, "%s-%s.npy", split, names[file]);
}

enum tutti_status tutti_run_split_path(tutti_context *context, const char *directory, const char *split,
                                       enum tutti_split_file file, char **path) {
  char *name;
  TUTTI_TRY(context, tutti_split_file_name(context, split, file, &name));
  enum tutti_status status =
      tutti_format(context, path, "%s/%s/%s", directory, file_names[TUTTI_RUN_FILE_SPLITS], name);
  tutti_free(name);
  return status;
}

/* --- trials --- */

const char *tutti_trial_file_name(enum tutti_trial_file file) {
  static const char *const names[] = {"network.json", "curve.csv", "weights.safetensors", "initial.safetensors"};
  return names[file];
}

enum tutti_status tutti_trial_predictions_name(tutti_context *context, const char *split, char **name) {
  return tutti_format(context, name, "%s.npy", split);
}

enum tutti_status tutti_trial_epistemic_name(tutti_context *context, const char *split, char **name) {
  return tutti_format(context, name, "%s-epistemic.npy", split);
}

enum tutti_status tutti_trial_folder(tutti_context *context, const char *directory, uint64_t trial, char **path) {
  return tutti_format(context, path, "%s/%s/%06" PRIu64, directory, file_names[TUTTI_RUN_FILE_TRIALS], trial);
}

static enum tutti_status trial_path(tutti_context *context, const char *directory, uint64_t trial, const char *name,
                                    char **path) {
  char *folder;
  TUTTI_TRY(context, tutti_trial_folder(context, directory, trial, &folder));
  enum tutti_status status = tutti_format(context, path, "%s/%s", folder, name);
  tutti_free(folder);
  return status;
}

enum tutti_status tutti_trial_file_path(tutti_context *context, const char *directory, uint64_t trial,
                                        enum tutti_trial_file file, char **path) {
  return trial_path(context, directory, trial, tutti_trial_file_name(file), path);
}

enum tutti_status tutti_trial_predictions_path(tutti_context *context, const char *directory, uint64_t trial,
                                               const char *split, char **path) {
  char *name;
  TUTTI_TRY(context, tutti_trial_predictions_name(context, split, &name));
  enum tutti_status status = trial_path(context, directory, trial, name, path);
  tutti_free(name);
  return status;
}

enum tutti_status tutti_run_check_trial(tutti_context *context, const char *directory, uint64_t trial,
                                        const char *path) {
  char *folder;
  TUTTI_TRY(context, tutti_trial_folder(context, directory, trial, &folder));
  enum tutti_status status = tutti_run_check_folder(context, folder);
  tutti_free(folder);
  return status == TUTTI_OK ? tutti_run_check_file(context, path) : status;
}
