/* cpu_levels.h - runs tests of backend cpu once for each instruction set that this machine has, under names that say
   which. */
#ifndef CPU_LEVELS_H
#define CPU_LEVELS_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "backends/cpu/kernels_impl.h"
#include "golden.h"

enum { LEVELS_MOST = TUTTI_CPU_AVX512 + 1, LEVELS_TESTS = 100 };

/* A test and the instruction set that it is for; *state points to it. */
struct level_test {
  char name[96];
  enum tutti_cpu cpu;
  const struct cpu_kernels *kernels;
  int which; /* of what else the test is run for: an optimiser; 0 */
};

static inline const struct cpu_kernels *kernels_of(void **state) {
  return ((const struct level_test *)*state)->kernels;
}

/* The tests that were added, with room for their names. */
struct level_tests {
  struct level_test states[LEVELS_TESTS];
  struct CMUnitTest tests[LEVELS_TESTS];
  size_t count;
};

/* Add a test for each instruction set; `what` names it. */
static inline void add_on_levels(struct level_tests *all, const char *what, int which, CMUnitTestFunction test) {
  for (int cpu = TUTTI_CPU_BASELINE; cpu <= (int)tutti_cpu_detect(); cpu++) {
    assert_true(all->count < LEVELS_TESTS);
    struct level_test *state = &all->states[all->count];
    state->cpu = (enum tutti_cpu)cpu;
    state->kernels = backend_cpu_kernels(state->cpu);
    state->which = which;
    (void)snprintf(state->name, sizeof state->name, "%s on %s", what, tutti_cpu_name(state->cpu));
    all->tests[all->count++] = (struct CMUnitTest){state->name, test, NULL, NULL, state};
  }
}

static inline int run_on_levels(const struct level_tests *all, const char *group, CMFixtureFunction before,
                                CMFixtureFunction after) {
  return _cmocka_run_group_tests(group, all->tests, all->count, before, after);
}

/* Describes a number for the message of a failed check. Valid until the next call. */
__attribute__((format(printf, 1, 2))) static inline const char *told(const char *format, ...) {
  static char text[128];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return text;
}

/* assert_close with a message that starts with a description of the number: a format and its arguments. */
#define assert_close_told(actual, expected, relative, absolute, ...)                                                   \
  do {                                                                                                                 \
    const double actual_ = (actual), expected_ = (expected);                                                           \
    if (!(fabs(actual_ - expected_) <= (absolute) + (relative)*fabs(expected_)))                                       \
      golden_close(actual_, expected_, (relative), (absolute), told(__VA_ARGS__), __FILE__, __LINE__);                 \
  } while (0)

#endif
