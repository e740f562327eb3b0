/* When a run that has a time stops asking, in a simulation of its workers with durations of many kinds. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/tutti.h>
#include <cmocka.h>

#include "engine/run/run_deadline.c"

enum { SLOTS = 3 };

/* Run it: each slot takes the next training as it becomes free, one is asked for whenever there is room. Returns the
   time when the last one ended, and how many there were. */
static double simulate(double time, double window, double (*duration)(uint64_t trial), uint64_t *trained) {
  struct tutti_deadline deadline = {.time = time, .slots = SLOTS};
  double ends[SLOTS] = {0}, began[SLOTS] = {0}, now = 0;
  uint64_t asked = 0, begun = 0, done = 0;
  bool busy[SLOTS] = {false};
  for (;;) {
    while ((double)(asked - done) < window && tutti_deadline_allows(&deadline, now, asked - done))
      asked++;
    size_t first = SLOTS;
    for (size_t s = 0; s < SLOTS; s++) {
      if (!busy[s] && begun < asked) {
        busy[s] = true;
        began[s] = now;
        ends[s] = now + duration(begun++);
      }
      if (busy[s] && (first == SLOTS || ends[s] < ends[first]))
        first = s;
    }
    if (first == SLOTS)
      break;
    assert_true(ends[first] - now >= 0);
    if (tutti_deadline_left(&deadline, ends[first]) < 0) { /* given up */
      now += fmax(tutti_deadline_left(&deadline, now), 0);
      break;
    }
    now = ends[first];
    busy[first] = false;
    tutti_deadline_note(&deadline, ends[first] - began[first]);
    done++;
  }
  *trained = done;
  return now;
}

static double even(uint64_t trial) {
  (void)trial;
  return 1;
}

static double random_length(uint64_t trial) {
  struct tutti_random random;
  tutti_random_init(&random, 3, "durations", trial);
  return exp(tutti_random_normal(&random)) * 0.5;
}

/* As batches of 1 to 256 rows give: most take a second or two, a few take most of the time. */
static double batches(uint64_t trial) {
  static const double slowest = 40, sizes = 256;
  struct tutti_random random;
  tutti_random_init(&random, 5, "batches", trial);
  return slowest * pow(sizes, -tutti_random_uniform(&random));
}

static double growing(uint64_t trial) { return 0.2 + (double)trial / 200; }

/* Between a tenth before the time and a twentieth after it, and the slots were not idle before. */
static void test_in_time(void **state) {
  double (*const kinds[])(uint64_t) = {even, random_length, growing, batches};
  (void)state;
  for (size_t k = 0; k < 4; k++)
    for (double window = SLOTS; window <= 16; window += 13) {
      uint64_t trained;
      double end = simulate(60, window, kinds[k], &trained), all = 0;
      for (uint64_t t = 0; t < trained; t++)
        all += kinds[k](t);
      if (end < 54 || end > 63)
        fail_msg("durations %zu, window %g: ended after %g of 60 s", k, window, end);
      if (all < 0.8 * 60 * SLOTS)
        fail_msg("durations %zu, window %g: %g of %d s were used", k, window, all, 60 * SLOTS);
    }
}

/* As long as nothing is known, each slot gets one. */
static void test_first(void **state) {
  const struct tutti_deadline deadline = {.time = 10, .slots = SLOTS};
  (void)state;
  assert_true(tutti_deadline_allows(&deadline, 0, SLOTS - 1));
  assert_false(tutti_deadline_allows(&deadline, 0, SLOTS));
  assert_false(tutti_deadline_allows(&deadline, 10, 0));
}

/* Without a deadline there is no limit; what the end takes is part of the time. */
static void test_limits(void **state) {
  struct tutti_deadline deadline = {.time = INFINITY, .slots = 1};
  (void)state;
  assert_true(tutti_deadline_allows(&deadline, 1e9, 1000000));
  assert_true(isinf(tutti_deadline_left(&deadline, 1e9)));
  deadline.time = 100;
  deadline.finishing = 20;
  for (int i = 0; i < 4; i++)
    tutti_deadline_note(&deadline, 10);
  assert_true(tutti_deadline_allows(&deadline, 70, 0));
  assert_false(tutti_deadline_allows(&deadline, 70.5, 0));
  assert_true(tutti_deadline_allows(&deadline, 60, 1));
  assert_false(tutti_deadline_allows(&deadline, 60.5, 1));
  assert_true(fabs(tutti_deadline_left(&deadline, 50) - 35) < 1e-12);
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* One long training at first says nothing of the others: more begin. */
static void test_long_first(void **state) {
  struct tutti_deadline deadline = {.time = 16, .slots = 1};
  (void)state;
  tutti_deadline_note(&deadline, 11.1);
  assert_true(tutti_deadline_allows(&deadline, 11.2, 0));
  tutti_deadline_note(&deadline, 0.3);
  tutti_deadline_note(&deadline, 0.3);
  assert_true(tutti_deadline_allows(&deadline, 15.6, 0));
  assert_false(tutti_deadline_allows(&deadline, 15.8, 0));
}

/* What a training should have is the median of the latest durations, whatever came before, in whatever order. */
static void test_latest(void **state) {
  enum { ALL = 1000 };
  struct tutti_deadline deadline = {.time = 100, .slots = 1};
  double all[ALL], last[TUTTI_DEADLINE_RECENT];
  (void)state;
  for (size_t i = 0; i < ALL; i++) {
    all[i] = i % 7 == 0 && i > 0 ? all[i - 1] : random_length(i); /* some are equal */
    tutti_deadline_note(&deadline, all[i]);
    tutti_deadline_note(&deadline, NAN); /* says nothing */
    size_t known = i + 1 < TUTTI_DEADLINE_RECENT ? i + 1 : TUTTI_DEADLINE_RECENT;
    memcpy(last, all + i + 1 - known, known * sizeof *last);
    qsort(last, known, sizeof *last, ascending);
    if (wanted(&deadline) != (i < 2 ? 0 : last[known / 2]))
      fail_msg("after %zu durations: %g s, not %g s", i + 1, wanted(&deadline), last[known / 2]);
  }
}

/* If trainings stop at the end, one is begun as long as half of it fits. Without that, a few long ones among many do
   not end a run early, either. */
static void test_stops(void **state) {
  struct tutti_deadline deadline = {.time = 100, .slots = 1};
  (void)state;
  for (int i = 0; i < 10; i++)
    tutti_deadline_note(&deadline, i == 0 ? 55 : 5); /* their mean is 10 */
  assert_true(tutti_deadline_allows(&deadline, 94.9, 0));
  assert_false(tutti_deadline_allows(&deadline, 95.1, 0));
  deadline.stops = true;
  assert_true(tutti_deadline_allows(&deadline, 80, 0));
  assert_true(tutti_deadline_allows(&deadline, 94.9, 0));
  assert_false(tutti_deadline_allows(&deadline, 95.1, 0));
  assert_false(tutti_deadline_is_over(&deadline, 99));
  assert_true(tutti_deadline_is_over(&deadline, 100));
  deadline.finishing = 10;
  assert_true(tutti_deadline_is_over(&deadline, 90));
  deadline.least = 7;
  assert_true(fabs(tutti_deadline_left(&deadline, 90) - 7) < 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_in_time), cmocka_unit_test(test_first),
                                     cmocka_unit_test(test_limits),  cmocka_unit_test(test_long_first),
                                     cmocka_unit_test(test_latest),  cmocka_unit_test(test_stops)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
