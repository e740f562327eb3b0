/* durable.c - what makes files and their names last when the power fails. */
#include "context_impl.h"
#include "file_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* 0, or the errno. */
static int sync_folder(const char *path) {
  int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) /* one in which we may make something, but not look, cannot be synced */
    return errno == EACCES ? 0 : errno;
  int error = fsync(folder) == 0 ? 0 : errno;
  (void)close(folder);
  /* Some network file systems cannot sync folders, and say so; there it matters less. */
  return error == EINVAL || error == EROFS ? 0 : error;
}

/* An error in writing back that nobody has seen yet is told to whoever opens the file next. */
static int sync_file(const char *path) {
  int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0)
    return errno;
  int error = fsync(file) == 0 ? 0 : errno;
  (void)close(file);
  return error;
}

int tutti_file_sync_name(char *path) {
  char *slash = strrchr(path, '/'), *end = slash == path ? path + 1 : slash, kept = slash ? *end : '\0';
  if (slash)
    *end = '\0';
  int error = sync_folder(slash ? path : ".");
  if (slash)
    *end = kept;
  return error;
}

/* --- groups --- */

struct group {
  char **paths; /* of what is to be synced: files, and then two folders */
  size_t count, room;
  atomic_size_t next;
  atomic_uint_least64_t failed; /* the first whose sync failed: its number plus 1, and its errno in the lower 16 bits */
};

static enum tutti_status add(tutti_context *context, struct group *group, const char *folder, const char *name) {
  if (group->count == group->room) {
    TUTTI_TRY(context, tutti_realloc(context, group->room, 2 * group->room + 16, sizeof *group->paths, &group->paths));
    group->room = 2 * group->room + 16;
  }
  TUTTI_TRY(context, tutti_format(context, &group->paths[group->count], "%s%s%s", folder, *name ? "/" : "", name));
  group->count++;
  return TUTTI_OK;
}

/* The files of a folder, then the folder, then the one in which it is. */
static enum tutti_status find(tutti_context *context, const char *path, struct group *group) {
  enum tutti_status status = TUTTI_OK;
  DIR *folder = opendir(path);
  if (!folder)
    return tutti_file_error(context, path, "read the folder", errno);
  for (;;) {
    errno = 0;
    const struct dirent *entry = readdir(folder);
    if (!entry && errno) {
      status = tutti_file_error(context, path, "read the folder", errno);
      goto out;
    }
    if (!entry)
      break;
    bool may_be_file = entry->d_type == DT_REG || entry->d_type == DT_UNKNOWN;
    if (may_be_file && strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
      TUTTI_TRY_OUT(context, add(context, group, path, entry->d_name));
  }
  TUTTI_TRY_OUT(context, add(context, group, path, ""));
  TUTTI_TRY_OUT(context, add(context, group, path, ".."));
out:
  (void)closedir(folder);
  return status;
}

/* One of several threads that share the group; none of them allocates memory. */
static void *sync_some(void *argument) {
  struct group *group = argument;
  for (size_t i; (i = atomic_fetch_add(&group->next, 1)) < group->count;) {
    int error = i + 2 < group->count ? sync_file(group->paths[i]) : sync_folder(group->paths[i]);
    uint_least64_t none = 0;
    if (error)
      (void)atomic_compare_exchange_strong(&group->failed, &none, (uint_least64_t)(i + 1) << 16 | (unsigned)error);
  }
  return NULL;
}

enum { THREADS = 8, STACK = 256 << 10 };

struct tutti_file_syncing {
  struct group group;
  pthread_t threads[THREADS];
  size_t started;
  atomic_size_t ended; /* threads that found nothing left to do */
};

static void *sync_and_tell(void *argument) {
  struct tutti_file_syncing *syncing = argument;
  (void)sync_some(&syncing->group);
  (void)atomic_fetch_add(&syncing->ended, 1);
  return NULL;
}

/* Start up to `most` threads. */
static void start_threads(struct tutti_file_syncing *syncing, size_t most) {
  pthread_attr_t small;
  if (pthread_attr_init(&small) != 0)
    return;
  bool sized = pthread_attr_setstacksize(&small, STACK) == 0;
  while (sized && syncing->started < most &&
         pthread_create(&syncing->threads[syncing->started], &small, sync_and_tell, syncing) == 0)
    syncing->started++;
  (void)pthread_attr_destroy(&small);
}

/* Sync what is left, with the threads or, if none could be started, alone; the first error. */
static enum tutti_status finish(tutti_context *context, struct tutti_file_syncing *syncing) {
  struct group *group = &syncing->group;
  enum tutti_status status = TUTTI_OK;
  (void)sync_some(group);
  for (size_t i = 0; i < syncing->started; i++)
    (void)pthread_join(syncing->threads[i], NULL);
  if (group->failed)
    status = tutti_file_error(context, group->paths[(group->failed >> 16) - 1], "make durable",
                              (int)(group->failed & 0xFFFF));
  return status;
}

static void release(struct group *group) {
  for (size_t i = 0; i < group->count; i++)
    tutti_free(group->paths[i]);
  tutti_free(group->paths);
}

void tutti_file_group_begin(tutti_context *context) { context->files_wait = true; }

void tutti_file_group_drop(tutti_context *context) { context->files_wait = false; }

/* This thread helps, so one less is started. */
enum tutti_status tutti_file_group_end(tutti_context *context, const char *folder) {
  struct tutti_file_syncing syncing = {.started = 0};
  size_t most = THREADS;
  tutti_file_group_drop(context);
  enum tutti_status status = find(context, folder, &syncing.group);
  if (syncing.group.count <= most)
    most = syncing.group.count - (syncing.group.count > 0);
  if (status == TUTTI_OK) {
    start_threads(&syncing, most);
    status = finish(context, &syncing);
  }
  release(&syncing.group);
  return status;
}

enum tutti_status tutti_file_group_leave(tutti_context *context, const char *folder, struct tutti_file_syncing **out) {
  struct tutti_file_syncing *syncing = NULL;
  *out = NULL;
  tutti_file_group_drop(context);
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *syncing, &syncing));
  enum tutti_status status = find(context, folder, &syncing->group);
  if (status != TUTTI_OK) {
    release(&syncing->group);
    tutti_free(syncing);
    return tutti_error_trace(context, status, __FILE__, __LINE__, __func__);
  }
  start_threads(syncing, syncing->group.count < THREADS ? syncing->group.count : THREADS);
  *out = syncing;
  return TUTTI_OK;
}

bool tutti_file_syncing_is_done(const struct tutti_file_syncing *syncing) {
  return !syncing || (syncing->started > 0 && atomic_load(&syncing->ended) == syncing->started);
}

enum tutti_status tutti_file_syncing_end(tutti_context *context, struct tutti_file_syncing *syncing) {
  if (!syncing)
    return TUTTI_OK;
  enum tutti_status status = finish(context, syncing);
  release(&syncing->group);
  tutti_free(syncing);
  return status;
}
