/* clock.c - a clock that is never set back. */
#include <time.h>
#include <tutti/clock.h>

double tutti_clock(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
