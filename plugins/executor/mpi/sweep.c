/* sweep.c - what agents leave behind. The folder in which theirs lie is often everybody's, as /tmp. */
#include "sweep.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int open_folder(int parent, const char *name) {
  return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

static void empty(int folder, const char *spared, int depth);

/* Returns whether it is gone. */
static bool remove_entry(int folder, const char *name, int depth) {
  if (unlinkat(folder, name, 0) == 0)
    return true;
  int inner = depth > 0 ? open_folder(folder, name) : -1;
  if (inner < 0)
    return false;
  empty(inner, "", depth - 1);
  (void)close(inner);
  return unlinkat(folder, name, AT_REMOVEDIR) == 0;
}

/* Remove what is in a folder but one entry. Some file systems skip entries while others are removed, so it looks again
   as long as some go. */
static void empty(int folder, const char *spared, int depth) {
  int own = dup(folder);
  DIR *entries = own >= 0 ? fdopendir(own) : NULL;
  bool any = entries;
  while (any) {
    any = false;
    rewinddir(entries);
    for (const struct dirent *entry; (entry = readdir(entries));)
      if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 && strcmp(entry->d_name, spared) != 0)
        any |= remove_entry(folder, entry->d_name, depth);
  }
  if (entries)
    (void)closedir(entries);
  else if (own >= 0)
    (void)close(own);
}

/* Remove an open folder; the depth is one that no worker reaches, and bounds the descriptors. */
static void remove_open(int parent, const char *name, int folder) {
  enum { DEEPEST = 128 };
  empty(folder, SWEEP_LOCK, DEEPEST);
  (void)unlinkat(folder, SWEEP_LOCK, 0);
  (void)unlinkat(parent, name, AT_REMOVEDIR);
}

void sweep_folder(const char *path) {
  int folder = open_folder(AT_FDCWD, path);
  if (folder < 0)
    return;
  remove_open(AT_FDCWD, path, folder);
  (void)close(folder);
}

/* --- those that are left behind --- */

static bool is_own(const struct stat *facts) {
  return facts->st_uid == geteuid() && (facts->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* Open the lock, and take it. -1 and *held: somebody else has it. -1 without: there is none. */
static int take_lock(int folder, bool *held) {
  struct stat facts;
  int lock = openat(folder, SWEEP_LOCK, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  *held = lock < 0 && errno != ENOENT;
  if (lock < 0)
    return -1;
  if (fstat(lock, &facts) == 0 && is_own(&facts) && flock(lock, LOCK_EX | LOCK_NB) == 0)
    return lock;
  *held = true;
  (void)close(lock);
  return -1;
}

static void sweep_open(int parent, const char *name, int folder) {
  static const time_t hour = 3600;
  struct stat facts;
  bool held = false;
  if (fstat(folder, &facts) != 0 || !is_own(&facts))
    return;
  int lock = take_lock(folder, &held);
  if (!held && (lock >= 0 || facts.st_mtime < time(NULL) - hour))
    remove_open(parent, name, folder);
  if (lock >= 0)
    (void)close(lock);
}

void sweep_behind(const char *parent, const char *prefix) {
  enum { LETTERS = 6 };
  size_t length = strlen(prefix);
  DIR *entries = opendir(parent);
  for (const struct dirent *entry; entries && (entry = readdir(entries));) {
    if (strncmp(entry->d_name, prefix, length) != 0 || strlen(entry->d_name) != length + LETTERS)
      continue;
    int folder = open_folder(dirfd(entries), entry->d_name);
    if (folder < 0)
      continue;
    sweep_open(dirfd(entries), entry->d_name, folder);
    (void)close(folder);
  }
  if (entries)
    (void)closedir(entries);
}
