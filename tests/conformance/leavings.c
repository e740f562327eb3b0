/* leavings.c - what a check leaves behind: words on stdout and stderr, memory, open files. */
#include "conform.h"

#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- words --- */

int conform_listen(void) { return memfd_create("printed", MFD_CLOEXEC); }

size_t conform_heard(int listening, char *words, size_t size) {
  (void)fflush(NULL);
  off_t end = lseek(listening, 0, SEEK_END);
  ssize_t count = end > 0 ? pread(listening, words, size - 1, 0) : 0;
  words[count > 0 ? count : 0] = '\0';
  words[strcspn(words, "\r\n")] = '\0';
  for (char *c = words; *c; c++)
    if (*c < ' ' || *c > '~')
      *c = '?';
  (void)!ftruncate(listening, 0);
  (void)lseek(listening, 0, SEEK_SET);
  return end > 0 ? (size_t)end : 0;
}

/* --- memory and files --- */

struct held {
  size_t bytes, files;
};

/* Is it known how much memory the process has allocated? Not with an allocator that counts nothing. */
#if defined __GLIBC__ && __GLIBC_PREREQ(2, 33)
static size_t allocated(void) {
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}
#else
static size_t allocated(void) { return 0; }
#endif

static struct held held(void) {
  struct held now = {.bytes = allocated()};
  DIR *folder = opendir("/proc/self/fd");
  while (folder && readdir(folder))
    now.files++;
  if (folder)
    (void)closedir(folder);
  return now;
}

/* What is filled once (a table, a pool of threads, libc's own buffers) is no leak. A leak is what grows every time. */
bool conform_leaves(bool (*again)(void *argument), void *argument, char *why, size_t size) {
  enum { RUNS = 12 };
  struct held first = held(), last = first;
  bool memory = true, files = true;
  for (int run = 0; run < RUNS && (memory || files); run++) {
    if (!again(argument))
      return false;
    struct held now = held();
    memory = memory && now.bytes > last.bytes;
    files = files && now.files > last.files;
    last = now;
  }
  if (memory)
    (void)snprintf(why, size, "%zu bytes more are allocated each time", (last.bytes - first.bytes) / RUNS);
  else if (files)
    (void)snprintf(why, size, "%zu more files are open each time", (last.files - first.files) / RUNS);
  return memory || files;
}
