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

/* What is filled once (a table, a pool of threads, libc's own buffers) is no leak. A leak is what grows in every run,
   or in every second one. */
bool conform_leaves(bool (*again)(void *argument), void *argument, char *why, size_t size) {
  enum { RUNS = 12, APART = 2 };
  struct held after[RUNS + 1] = {held()};
  bool memory = true, files = true;
  for (int run = 1; run <= RUNS && (memory || files); run++) {
    if (!again(argument))
      return false;
    after[run] = held();
    if (run < APART)
      continue;
    memory = memory && after[run].bytes > after[run - APART].bytes;
    files = files && after[run].files > after[run - APART].files;
  }
  if (memory)
    (void)snprintf(why, size, "%zu bytes more are allocated after %d times", after[RUNS].bytes - after[0].bytes, RUNS);
  else if (files)
    (void)snprintf(why, size, "%zu more files are open after %d times", after[RUNS].files - after[0].files, RUNS);
  return memory || files;
}
