/* given.c - what operations are given and must not change lies on read-only pages: who writes there is found out. */
#include "conform.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct given {
  const char *what;
  char *begin;
  size_t bytes;
} * given; /* [room] */
static size_t count, room;
static const struct conform *watched;
static char *report; /* [report_size] */
static size_t report_size;
static struct sigaction before;

/* The fault comes from the instruction that wrote, in whatever thread. Any other fault is handled as before, by doing
   again what led to it. */
static void on_fault(int number, siginfo_t *info, void *context) {
  const char *place = info->si_addr;
  (void)context;
  for (size_t i = 0; i < count && info->si_code > 0; i++)
    if (place >= given[i].begin && place < given[i].begin + given[i].bytes) {
      (void)snprintf(report, report_size, "%.*s: it wrote to %s, which it must not change",
                     (int)strcspn(watched->calling, "("), watched->calling, given[i].what);
      _exit(1);
    }
  (void)sigaction(number, &before, NULL);
  if (info->si_code <= 0)
    (void)raise(number);
}

void conform_watch_given(const struct conform *conform, char *why, size_t why_size) {
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
  watched = conform;
  report = why;
  report_size = why_size;
  (void)sigaction(SIGSEGV, &action, &before);
}

const void *conform_given(struct conform *conform, const char *what, const void *data, size_t bytes) {
  if (!data || bytes == 0)
    return data;
  if (count == room) {
    struct given *larger = realloc(given, (2 * room + 64) * sizeof *given);
    REQUIRE(conform, larger, "no memory for what is given");
    given = larger;
    room = 2 * room + 64;
  }
  char *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(conform, pages != MAP_FAILED, "no memory for %zu bytes", bytes);
  memcpy(pages, data, bytes);
  REQUIRE(conform, mprotect(pages, bytes, PROT_READ) == 0, "pages cannot be protected");
  given[count].what = what;
  given[count].begin = pages;
  given[count++].bytes = bytes;
  return pages;
}

void conform_release_given(void) {
  for (; count > 0; count--)
    (void)munmap(given[count - 1].begin, given[count - 1].bytes);
  free(given);
  given = NULL;
  room = 0;
}
