/* watched.h - for tests with many rounds: fewer of them under valgrind, which takes forty times as long. */
#ifndef TESTS_WATCHED_H
#define TESTS_WATCHED_H

#include <stdlib.h>
#include <string.h>

/* All rounds, or `few` of them under valgrind: as many as it takes to run every line. */
static inline size_t watched_rounds(size_t all, size_t few) {
  const char *watched = getenv("TUTTI_TEST_WATCHED");
  return watched && strcmp(watched, "valgrind") == 0 ? few : all;
}

#endif
