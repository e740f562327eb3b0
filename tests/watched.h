/* watched.h - for tests with many rounds: fewer of them under valgrind, which takes forty times as long. */
#ifndef TESTS_WATCHED_H
#define TESTS_WATCHED_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static inline bool watched_by_valgrind(void) {
  const char *watched = getenv("TUTTI_TEST_WATCHED");
  return watched && strcmp(watched, "valgrind") == 0;
}

/* All rounds, or `few` of them under valgrind: as many as it takes to run every line. */
static inline size_t watched_rounds(size_t all, size_t few) { return watched_by_valgrind() ? few : all; }

#endif
