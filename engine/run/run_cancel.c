/* run_cancel.c - trials that a user takes out of a run. `tutti cancel` leaves an empty file for each in the run's
   folder "cancel", named as the trial's folder; the manager finds them there, ends the trainings, records the trials as
   failed, and then removes the files. So a cancellation outlives a manager that is killed in between. */
#include "manager_impl.h"

#include "core/base/file_impl.h"
#include "run_view_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tutti/clock.h>
#include <unistd.h>
#include <tutti/names.h>

enum { NAME = 24 };

static void print_name(uint64_t trial, char name[NAME]) { (void)snprintf(name, NAME, "%06" PRIu64, trial); }

/* The trial of a file in the folder; false: it is none of ours. */
static bool read_name(const char *name, uint64_t *trial) {
  char again[NAME];
  *trial = strtoull(name, NULL, 10);
  print_name(*trial, again);
  return strcmp(name, again) == 0;
}

/* --- whoever cancels --- */

static enum tutti_status check_trial(tutti_context *context, const tutti_view *view, uint64_t trial) {
  const struct tutti_history *history = &view->history;
  if (trial >= history->asked)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s has no trial %" PRIu64 " yet: %" PRIu64 " %s there, numbered from 0", view->directory, trial,
                      history->asked, tutti_plural((size_t)history->asked, "is", "are"));
  if (history->records[trial].done)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "trial %" PRIu64 " of %s has its result (%s): there is nothing to cancel", trial, view->directory,
                      tutti_state_name(history->records[trial].state));
  return TUTTI_OK;
}

/* The manager removes the folder when it is empty, maybe between the two steps. */
static enum tutti_status leave_file(tutti_context *context, const char *folder, uint64_t trial) {
  enum { TRIES = 100 };
  char *path, name[NAME];
  int file = -1;
  print_name(trial, name);
  TUTTI_TRY(context, tutti_format(context, &path, "%s/%s", folder, name));
  for (int i = 0; i < TRIES && file < 0 && (i == 0 || errno == ENOENT); i++)
    if (mkdir(folder, 0777) == 0 || errno == EEXIST)
      file = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
    else
      break;
  enum tutti_status status = file >= 0 ? TUTTI_OK : tutti_file_error(context, path, "make a file", errno);
  if (file >= 0)
    (void)close(file);
  tutti_free(path);
  return status;
}

static enum tutti_status check_run(tutti_context *context, const char *directory) {
  if (tutti_run_directory_has_pools(directory))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s is made of several runs, and none of them is trained there",
                      directory);
  if (tutti_run_is_shared(directory))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "the trials of %s are those of another run of its ablation, which its links lead to: cancel them "
                      "there",
                      directory);
  return TUTTI_OK;
}

enum tutti_status tutti_run_cancel(tutti_context *context, const char *directory, size_t count, const uint64_t *trials,
                                   bool *running) {
  enum tutti_status status = TUTTI_OK;
  tutti_view *view = NULL;
  char *folder = NULL;
  *running = false;
  TUTTI_TRY_OUT(context, check_run(context, directory));
  TUTTI_TRY_OUT(context, tutti_view_open(context, directory, &view));
  for (size_t i = 0; i < count; i++)
    TUTTI_TRY_OUT(context, check_trial(context, view, trials[i]));
  TUTTI_TRY_OUT(context, tutti_run_file_path(context, directory, TUTTI_RUN_FILE_CANCEL, &folder));
  TUTTI_TRY_OUT(context, tutti_run_check_folder(context, folder));
  for (size_t i = 0; i < count; i++)
    TUTTI_TRY_OUT(context, leave_file(context, folder, trials[i]));
  *running = tutti_run_is_locked(directory);
out:
  tutti_free(folder);
  tutti_view_close(view);
  return status;
}

/* --- the manager --- */

static enum tutti_status note(struct tutti_manager *manager, uint64_t trial) {
  if (manager->cancelled_count == manager->cancelled_room) {
    size_t room = manager->cancelled_room * 2 + 8;
    TUTTI_TRY(manager->context, tutti_realloc(manager->context, manager->cancelled_count, room,
                                              sizeof *manager->cancelled, &manager->cancelled));
    manager->cancelled_room = room;
  }
  manager->cancelled[manager->cancelled_count++] = trial;
  manager->history.records[trial].cancelled = true;
  tutti_log(manager->context, TUTTI_LOG_INFO, "trial %" PRIu64 " is cancelled", trial);
  return TUTTI_OK;
}

/* The folder, open; NULL: nobody has cancelled anything. */
static DIR *open_folder(const struct tutti_manager *manager) {
  int run = open(manager->options->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  int file = run < 0 ? -1
                     : openat(run, tutti_run_file_name(TUTTI_RUN_FILE_CANCEL),
                              O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (run >= 0)
    (void)close(run);
  DIR *folder = file < 0 ? NULL : fdopendir(file);
  if (file >= 0 && !folder)
    (void)close(file);
  return folder;
}

/* Note the trials that are new. The file of one that has its result is removed once that is durable. */
static enum tutti_status read_folder(struct tutti_manager *manager) {
  const struct tutti_history *history = &manager->history;
  enum tutti_status status = TUTTI_OK;
  DIR *folder = open_folder(manager);
  const struct dirent *entry;
  manager->looked = tutti_clock();
  while (folder && status == TUTTI_OK && (entry = readdir(folder))) {
    uint64_t trial;
    if (!read_name(entry->d_name, &trial))
      continue;
    bool there = trial < history->asked;
    if (there && !history->records[trial].done) {
      if (!history->records[trial].cancelled)
        status = note(manager, trial);
    } else if (!manager->changed) {
      (void)unlinkat(dirfd(folder), entry->d_name, 0);
    }
  }
  if (folder)
    (void)closedir(folder);
  return status;
}

/* The place in which a trial is trained; NULL: no worker has told of it. */
static const struct tutti_live_place *place_of(const struct tutti_live *live, uint64_t trial) {
  for (size_t i = 0; i < live->workers * live->capacity; i++)
    if (live->places[i].busy && live->places[i].trial == trial)
      return &live->places[i];
  return NULL;
}

/* A training that tells of its epochs is asked to stop, and if it does not listen, its worker is killed. So are all
   others, at once. */
static enum tutti_status end_training(struct tutti_manager *manager, uint64_t trial) {
  static const char text[] = "{\"why\": \"it is cancelled\", \"keep\": false, \"cancelled\": true}";
  static const double patience = 5;
  struct tutti_record *record = &manager->history.records[trial];
  const struct tutti_live_place *place = place_of(&manager->live, trial);
  double now = tutti_clock();
  if (place && place->epochs > 0 && !record->stopping) {
    record->stopping = true;
    record->stop_since = now;
    return tutti_executor_stop(manager->context, manager->executor, trial, text);
  }
  if (record->stopping && now - record->stop_since < patience)
    return TUTTI_OK;
  return tutti_executor_end(manager->context, manager->executor, trial);
}

enum tutti_status tutti_cancel_step(struct tutti_manager *manager) {
  static const double interval = 0.5;
  size_t kept = 0;
  if (tutti_clock() - manager->looked < interval)
    return TUTTI_OK;
  TUTTI_TRY(manager->context, read_folder(manager));
  for (size_t i = 0; i < manager->cancelled_count; i++) {
    uint64_t trial = manager->cancelled[i];
    if (manager->history.records[trial].done)
      continue;
    manager->cancelled[kept++] = trial;
    TUTTI_TRY(manager->context, end_training(manager, trial));
  }
  manager->cancelled_count = kept;
  return TUTTI_OK;
}

enum tutti_status tutti_cancel_recall(struct tutti_manager *manager) { return read_folder(manager); }

void tutti_cancel_forget(struct tutti_manager *manager) {
  char *path;
  if (read_folder(manager) != TUTTI_OK ||
      tutti_run_file_path(manager->context, manager->options->directory, TUTTI_RUN_FILE_CANCEL, &path) != TUTTI_OK) {
    tutti_error_clear(manager->context);
    return;
  }
  (void)rmdir(path); /* it stays if there is something in it */
  tutti_free(path);
}
