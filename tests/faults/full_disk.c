/* full_disk.c - loaded before a program (LD_PRELOAD), it fills the disk under it: after TUTTI_DISK_ROOM bytes were
   written to files, every further write of this process fails with ENOSPC, the first in part. Pipes, sockets, the log
   of standard error and shared memory (/dev/shm, where an MPI's messages are) go on. */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static atomic_llong room;
static dev_t memory; /* 0: there is none */
static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off64_t); /* on 64 bits, pwrite is the same */

__attribute__((constructor)) static void begin(void) {
  const char *text = getenv("TUTTI_DISK_ROOM");
  struct stat facts;
  memory = stat("/dev/shm", &facts) == 0 ? facts.st_dev : 0;
  atomic_store(&room, text ? atoll(text) : 1LL << 62);
  *(void **)&real_write = dlsym(RTLD_NEXT, "write");
  *(void **)&real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
}

/* How much of `wanted` bytes still fits. */
static size_t fits(int descriptor, size_t wanted) {
  struct stat facts;
  if (descriptor <= 2 || fstat(descriptor, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_dev == memory)
    return wanted;
  long long left = atomic_fetch_sub(&room, (long long)wanted);
  return left <= 0 ? 0 : (size_t)left < wanted ? (size_t)left : wanted;
}

EXPORT ssize_t write(int descriptor, const void *data, size_t bytes);
EXPORT ssize_t write(int descriptor, const void *data, size_t bytes) {
  size_t part = fits(descriptor, bytes);
  if (part > 0 || bytes == 0)
    return real_write(descriptor, data, part);
  errno = ENOSPC;
  return -1;
}

EXPORT ssize_t pwrite64(int descriptor, const void *data, size_t bytes, off64_t offset);
EXPORT ssize_t pwrite64(int descriptor, const void *data, size_t bytes, off64_t offset) {
  size_t part = fits(descriptor, bytes);
  if (part > 0 || bytes == 0)
    return real_pwrite(descriptor, data, part, offset);
  errno = ENOSPC;
  return -1;
}

EXPORT ssize_t pwrite(int descriptor, const void *data, size_t bytes, off_t offset);
EXPORT ssize_t pwrite(int descriptor, const void *data, size_t bytes, off_t offset) {
  return pwrite64(descriptor, data, bytes, offset);
}
