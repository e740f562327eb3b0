/* test_leavings.c - what tutti-conform takes for a leak: what grows in every run of a check, or in every second one;
   not what is filled once or grows now and then. */
#include "tests/conformance/leavings.c"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST = 32, BYTES = 5000 };
static struct {
  unsigned runs,
      every; /* something is kept in the first run, and then in every so many-th; 0: in the first run alone */
  bool files;
  size_t kept;
  void *memory[MOST];
  int file[MOST];
} world;

static bool keep(void *argument) {
  unsigned run = world.runs++;
  (void)argument;
  if (run != 0 && (world.every == 0 || run % world.every != 0))
    return true;
  assert_true(world.kept < MOST);
  world.memory[world.kept] = world.files ? NULL : malloc(BYTES);
  world.file[world.kept] = world.files ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;
  world.kept++;
  return true;
}

static bool leaks(unsigned every, bool files, char *why, size_t size) {
  world.runs = 0;
  world.every = every;
  world.files = files;
  bool found = conform_leaves(keep, NULL, why, size);
  while (world.kept > 0) {
    free(world.memory[--world.kept]);
    if (files)
      (void)close(world.file[world.kept]);
  }
  return found;
}

static void leaks_are_found(void **state) {
  char why[128] = "";
  (void)state;
  for (int files = 0; files < 2; files++) {
    if (!files && getenv("TUTTI_TEST_WATCHED")) /* who watches memory counts it, too */
      continue;
    assert_true(leaks(1, files, why, sizeof why));
    assert_non_null(strstr(why, files ? "12 more files are open after 12 times" : "allocated after 12 times"));
    assert_true(leaks(2, files, why, sizeof why));
    assert_false(leaks(5, files, why, sizeof why));
    assert_false(leaks(0, files, why, sizeof why));
  }
}

static bool fails(void *argument) {
  (void)argument;
  world.kept++;
  return false;
}

/* A check that fails when it is repeated has a fault of its own. */
static void a_failure_is_no_leak(void **state) {
  char why[128] = "";
  (void)state;
  assert_false(conform_leaves(fails, NULL, why, sizeof why));
  assert_int_equal(world.kept, 1);
  world.kept = 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(leaks_are_found), cmocka_unit_test(a_failure_is_no_leak)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
