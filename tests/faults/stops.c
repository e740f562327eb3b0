/* stops.c - loaded before a program (LD_PRELOAD), it kills it before its TUTTI_TEST_STOP-th change of a file below the
   folder TUTTI_TEST_ROOT, from 1: making, writing, syncing, renaming or removing. Workers that it starts are left
   alone. */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static bool is_watched(const char *path) {
  const char *root = getenv("TUTTI_TEST_ROOT");
  return root && path && strncmp(path, root, strlen(root)) == 0;
}

static bool is_watched_descriptor(int descriptor) {
  char link[64], path[4096];
  (void)snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, sizeof path - 1);
  path[length < 0 ? 0 : length] = '\0';
  return is_watched(path);
}

/* Was this process started as `tutti worker`? */
static bool is_worker(void) {
  char line[4096] = "";
  FILE *file = fopen("/proc/self/cmdline", "re");
  size_t count = file ? fread(line, 1, sizeof line - 1, file) : 0;
  if (file)
    (void)fclose(file);
  size_t first = strlen(line) + 1;
  return first < count && strcmp(line + first, "worker") == 0;
}

static void count(bool watched) {
  static long changes;
  const char *stop = getenv("TUTTI_TEST_STOP");
  if (watched && stop && ++changes == atol(stop) && !is_worker())
    (void)raise(SIGKILL);
}

/* Call the C library's function of the same name: NAME(TYPE, (PARAMETERS)) gives it. */
#define REAL(name, type, parameters)                                                                                   \
  type(*real) parameters;                                                                                              \
  *(void **)&real = dlsym(RTLD_NEXT, name)

static int opened(const char *name, const char *path, int flags, mode_t mode) {
  REAL(name, int, (const char *, int, ...));
  count((flags & O_CREAT) != 0 && is_watched(path));
  return real(path, flags, mode);
}

static mode_t mode_of(int flags, va_list arguments) { return flags & O_CREAT ? va_arg(arguments, mode_t) : 0; }

#define OPEN(name)                                                                                                     \
  EXPORT int name(const char *path, int flags, ...);                                                                   \
  EXPORT int name(const char *path, int flags, ...) {                                                                  \
    va_list arguments;                                                                                                 \
    va_start(arguments, flags);                                                                                        \
    mode_t mode = mode_of(flags, arguments);                                                                           \
    va_end(arguments);                                                                                                 \
    return opened(#name, path, flags, mode);                                                                           \
  }
OPEN(open)
OPEN(open64)

EXPORT ssize_t write(int file, const void *data, size_t bytes) {
  REAL("write", ssize_t, (int, const void *, size_t));
  count(is_watched_descriptor(file));
  return real(file, data, bytes);
}

EXPORT int fsync(int file) {
  REAL("fsync", int, (int));
  count(is_watched_descriptor(file));
  return real(file);
}

EXPORT int rename(const char *from, const char *to) {
  REAL("rename", int, (const char *, const char *));
  count(is_watched(from));
  return real(from, to);
}

EXPORT int unlink(const char *path) {
  REAL("unlink", int, (const char *));
  count(is_watched(path));
  return real(path);
}
