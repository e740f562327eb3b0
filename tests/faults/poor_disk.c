/* poor_disk.c - loaded before a program (LD_PRELOAD), it makes the disk under it a poor one: each pwrite takes
   TUTTI_DISK_PAUSE milliseconds more, the first file in a folder that is called TUTTI_DISK_LOSES is not found there
   when the folder is read, and what has TUTTI_DISK_UNSYNCABLE in its path cannot be synced. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static void rest(void) {
  const char *text = getenv("TUTTI_DISK_PAUSE");
  long pause = text ? atol(text) : 0;
  struct timespec time = {.tv_sec = pause / 1000, .tv_nsec = pause % 1000 * 1000000};
  (void)nanosleep(&time, NULL);
}

EXPORT ssize_t pwrite(int descriptor, const void *data, size_t bytes, off_t offset);
EXPORT ssize_t pwrite(int descriptor, const void *data, size_t bytes, off_t offset) {
  ssize_t (*real)(int, const void *, size_t, off_t);
  *(void **)&real = dlsym(RTLD_NEXT, "pwrite");
  rest();
  return real(descriptor, data, bytes, offset);
}

EXPORT struct dirent *readdir(DIR *folder);
EXPORT struct dirent *readdir(DIR *folder) {
  static int lost;
  const char *name = getenv("TUTTI_DISK_LOSES");
  struct dirent *(*real)(DIR *);
  *(void **)&real = dlsym(RTLD_NEXT, "readdir");
  struct dirent *entry = real(folder);
  if (!entry || !name || lost || strcmp(entry->d_name, name) != 0)
    return entry;
  lost = 1;
  return real(folder);
}

EXPORT int fsync(int descriptor);
EXPORT int fsync(int descriptor) {
  const char *part = getenv("TUTTI_DISK_UNSYNCABLE");
  char link[64], path[4096];
  int (*real)(int);
  *(void **)&real = dlsym(RTLD_NEXT, "fsync");
  (void)snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, sizeof path - 1);
  path[length > 0 ? length : 0] = '\0';
  if (!part || !strstr(path, part))
    return real(descriptor);
  errno = EIO;
  return -1;
}
