/* test_clock.c - the clock counts seconds, and never backwards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <time.h>
#include <tutti/clock.h>

static void never_goes_back(void **state) {
  double before = tutti_clock();
  (void)state;
  for (int i = 0; i < 10000; i++) {
    double now = tutti_clock();
    assert_true(now >= before);
    before = now;
  }
}

static void counts_seconds(void **state) {
  const struct timespec nap = {.tv_nsec = 20000000};
  double before = tutti_clock();
  (void)state;
  (void)nanosleep(&nap, NULL);
  double passed = tutti_clock() - before;
  assert_true(passed >= 0.02 && passed < 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(never_goes_back), cmocka_unit_test(counts_seconds)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
