/* power_log.c - loaded before a program (LD_PRELOAD), it records in POWER_LOG what the program does to files below
   POWER_ROOT. A record is appended after its call has returned, and before the program goes on: what depends on a
   call comes later in the log, also in another process. What is written through a mapping is not seen (SQLite's
   shared memory, which it makes anew after a crash). */
#include "power_log.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
enum { PATH_SIZE = 4096 };

static const char *root;
static size_t root_length;
static int log_file = -1;

static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv(POWER_LOG);
  int (*real_open)(const char *, int, ...);
  *(void **)&real_open = next("open");
  root = getenv(POWER_ROOT);
  root_length = root ? strlen(root) : 0;
  if (path && root)
    log_file = real_open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
}

/* The part below the root of a path; NULL if it is elsewhere. */
static const char *below(const char *path) {
  if (log_file < 0 || !path || strncmp(path, root, root_length) != 0 || (path[root_length] && path[root_length] != '/'))
    return NULL;
  path += root_length;
  while (*path == '/')
    path++;
  return path;
}

static const char *below_descriptor(int descriptor, char path[PATH_SIZE]) {
  char link[64];
  (void)snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = log_file < 0 ? -1 : readlink(link, path, PATH_SIZE - 1);
  path[length < 0 ? 0 : length] = '\0';
  return below(path);
}

static void record(enum power_kind kind, const char *path, const char *second, uint64_t inode, uint64_t offset,
                   const void *data, size_t bytes) {
  int kept = errno;
  struct power_record head = {.kind = kind,
                              .path = (uint32_t)strlen(path),
                              .second = second ? (uint32_t)strlen(second) : 0,
                              .data = (uint32_t)bytes,
                              .inode = inode,
                              .offset = offset};
  struct iovec parts[4] = {{&head, sizeof head},
                           {(void *)(uintptr_t)path, head.path},
                           {(void *)(uintptr_t)second, head.second},
                           {(void *)(uintptr_t)data, bytes}};
  ssize_t (*real_writev)(int, const struct iovec *, int);
  *(void **)&real_writev = next("writev");
  if (real_writev(log_file, parts, 4) != (ssize_t)(sizeof head + head.path + head.second + bytes))
    abort(); /* a log with a hole proves nothing */
  errno = kept;
}

static uint64_t inode_of(int descriptor) {
  struct stat facts;
  return fstat(descriptor, &facts) == 0 && S_ISREG(facts.st_mode) ? facts.st_ino : 0;
}

/* --- open --- */

static int open_and_record(const char *name, const char *path, int flags, mode_t mode) {
  struct stat facts;
  int (*real_open)(const char *, int, ...);
  *(void **)&real_open = next(name);
  const char *place = below(path);
  bool was_there = place && lstat(path, &facts) == 0;
  int descriptor = real_open(path, flags, mode);
  if (descriptor < 0 || !place)
    return descriptor;
  if (!was_there && (flags & O_CREAT))
    record(POWER_MADE, place, NULL, inode_of(descriptor), 0, NULL, 0);
  else if (was_there && (flags & O_TRUNC))
    record(POWER_SIZE, place, NULL, inode_of(descriptor), 0, NULL, 0);
  return descriptor;
}

static mode_t mode_of(int flags, va_list arguments) {
  return flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
}

EXPORT int open(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_and_record("open", path, flags, mode);
}

EXPORT int open64(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_and_record("open64", path, flags, mode);
}

/* --- data --- */

static void record_write(int descriptor, const void *data, ssize_t bytes, off64_t offset) {
  char path[PATH_SIZE];
  const char *place = bytes > 0 ? below_descriptor(descriptor, path) : NULL;
  uint64_t inode = place ? inode_of(descriptor) : 0;
  if (!inode)
    return;
  if (offset < 0) /* where the descriptor stands after it */
    offset = lseek64(descriptor, 0, SEEK_CUR) - bytes;
  record(POWER_WRITE, place, NULL, inode, (uint64_t)offset, data, (size_t)bytes);
}

EXPORT ssize_t write(int descriptor, const void *data, size_t bytes) {
  ssize_t (*real)(int, const void *, size_t);
  *(void **)&real = next("write");
  ssize_t written = real(descriptor, data, bytes);
  record_write(descriptor, data, written, -1);
  return written;
}

EXPORT ssize_t pwrite64(int descriptor, const void *data, size_t bytes, off64_t offset) {
  ssize_t (*real)(int, const void *, size_t, off64_t);
  *(void **)&real = next("pwrite64");
  ssize_t written = real(descriptor, data, bytes, offset);
  record_write(descriptor, data, written, offset);
  return written;
}

EXPORT ssize_t pwrite(int descriptor, const void *data, size_t bytes, off_t offset) {
  return pwrite64(descriptor, data, bytes, offset);
}

static int resize(const char *name, int descriptor, off64_t size) {
  char path[PATH_SIZE];
  int (*real)(int, off64_t);
  *(void **)&real = next(name);
  int result = real(descriptor, size);
  const char *place = result == 0 ? below_descriptor(descriptor, path) : NULL;
  if (place)
    record(POWER_SIZE, place, NULL, inode_of(descriptor), (uint64_t)size, NULL, 0);
  return result;
}

EXPORT int ftruncate(int descriptor, off_t size) { return resize("ftruncate", descriptor, size); }
EXPORT int ftruncate64(int descriptor, off64_t size) { return resize("ftruncate64", descriptor, size); }

static int synchronise(const char *name, int descriptor) {
  char path[PATH_SIZE];
  int (*real)(int);
  *(void **)&real = next(name);
  int result = real(descriptor);
  const char *place = result == 0 ? below_descriptor(descriptor, path) : NULL;
  if (place)
    record(POWER_SYNC, place, NULL, inode_of(descriptor), 0, NULL, 0);
  return result;
}

EXPORT int fsync(int descriptor) { return synchronise("fsync", descriptor); }
EXPORT int fdatasync(int descriptor) { return synchronise("fdatasync", descriptor); }

/* --- names --- */

static int two_names(const char *name, enum power_kind kind, const char *old, const char *new) {
  int (*real)(const char *, const char *);
  *(void **)&real = next(name);
  int result = real(old, new);
  const char *from = below(old), *to = below(new);
  if (result == 0 && from && to)
    record(kind, from, to, 0, 0, NULL, 0);
  return result;
}

EXPORT int rename(const char *old, const char *new) { return two_names("rename", POWER_RENAME, old, new); }
EXPORT int link(const char *old, const char *new) { return two_names("link", POWER_LINK, old, new); }

static int one_name(const char *name, const char *path) {
  int (*real)(const char *);
  *(void **)&real = next(name);
  int result = real(path);
  if (result == 0 && below(path))
    record(POWER_REMOVE, below(path), NULL, 0, 0, NULL, 0);
  return result;
}

EXPORT int unlink(const char *path) { return one_name("unlink", path); }
EXPORT int rmdir(const char *path) { return one_name("rmdir", path); }

EXPORT int mkdir(const char *path, mode_t mode) {
  int (*real)(const char *, mode_t);
  *(void **)&real = next("mkdir");
  int result = real(path, mode);
  if (result == 0 && below(path))
    record(POWER_FOLDER, below(path), NULL, 0, 0, NULL, 0);
  return result;
}
