/* jumping_clock.c - loaded before a program (LD_PRELOAD), it sets the machine's clock under it: each question for the
   time of day is answered years apart, forth and back. The clock that is never set back stays as it is. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

static atomic_uint asked;
static int (*real_gettime)(clockid_t, struct timespec *);

__attribute__((constructor)) static void begin(void) { *(void **)&real_gettime = dlsym(RTLD_NEXT, "clock_gettime"); }

/* Years from the true time. */
static long jump(void) {
  static const long years[] = {0, 40, -30, 3, -1};
  return years[atomic_fetch_add(&asked, 1) % 5] * 31556952;
}

EXPORT int clock_gettime(clockid_t clock, struct timespec *now) {
  int result = real_gettime(clock, now);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
    now->tv_sec += jump();
  return result;
}

EXPORT time_t time(time_t *seconds) {
  struct timespec now;
  (void)clock_gettime(CLOCK_REALTIME, &now);
  if (seconds)
    *seconds = now.tv_sec;
  return now.tv_sec;
}

EXPORT int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  struct timespec exact;
  (void)zone;
  (void)clock_gettime(CLOCK_REALTIME, &exact);
  *now = (struct timeval){exact.tv_sec, exact.tv_nsec / 1000};
  return 0;
}
