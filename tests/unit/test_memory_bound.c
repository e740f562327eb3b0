/* test_memory_bound.c - what bounds memory: resource limits, and control groups of both versions with those above them,
   in a folder that stands for the system's. */
#include "core/base/memory_bound.c"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>

#include <cmocka.h>

static char root[] = "/tmp/tutti-bound-XXXXXX";

static int make_root(void **state) {
  (void)state;
  return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state) {
  (void)state;
  char command[64];
  (void)snprintf(command, sizeof command, "rm -rf %s", root);
  return system(command);
}

/* Write a file below the root, with the folders on its way. */
static void put(const char *path, const char *text) {
  char whole[256];
  (void)snprintf(whole, sizeof whole, "%s/%s", root, path);
  for (char *slash = strchr(whole + sizeof root, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    (void)mkdir(whole, 0755);
    *slash = '/';
  }
  FILE *file = fopen(whole, "w");
  assert_non_null(file);
  (void)fputs(text, file);
  assert_int_equal(fclose(file), 0);
}

/* The limit of a process whose groups these lines are. */
static size_t bound_of(const char *groups) {
  char list[64];
  put("groups", groups);
  (void)snprintf(list, sizeof list, "%s/groups", root);
  return least_of_groups(list, root);
}

static void the_least_of_a_group_and_those_above_counts(void **state) {
  (void)state;
  put("a/b/c/memory.max", "max\n");
  put("a/b/memory.max", "3000\n");
  put("a/memory.max", "5000\n");
  assert_true(bound_of("0::/a/b/c\n") == 3000);
  assert_true(bound_of("0::/a\n") == 5000);
  assert_true(bound_of("0::/elsewhere\n") == SIZE_MAX);
  assert_true(bound_of("0::/\n") == SIZE_MAX);
  put("memory.max", "7000\n"); /* of a container: its own group is what is mounted */
  assert_true(bound_of("0::/\n") == 7000);
  assert_true(bound_of("0::/host/path/of/it\n") == 7000);
  assert_true(bound_of("0::/a/b/c\n") == 3000);
}

static void groups_of_version_1_are_those_that_bound_memory(void **state) {
  (void)state;
  put("memory/x/memory.limit_in_bytes", "2000\n");
  put("memory/y/memory.limit_in_bytes", "9223372036854771712\n"); /* none */
  put("cpu/x/memory.limit_in_bytes", "1\n");
  assert_true(bound_of("3:cpu,cpuacct:/x\n2:memory:/x\n") == 2000);
  assert_true(bound_of("2:hugetlb,memory:/x\n") == 2000);
  assert_true(bound_of("3:cpu,cpuacct:/x\n") == SIZE_MAX);
  assert_true(bound_of("2:memory:/y\n") > SIZE_MAX / 4);
  put("unified/z/memory.max", "1500\n"); /* both versions side by side */
  assert_true(bound_of("2:memory:/x\n0::/z\n") == 1500);
}

static void lines_of_another_kind_say_nothing(void **state) {
  (void)state;
  assert_true(bound_of("") == SIZE_MAX);
  assert_true(bound_of("nonsense\n:\n") == SIZE_MAX);
  assert_true(least_of_groups("/nowhere/at/all", root) == SIZE_MAX);
}

/* The names say which limit it is. Under AddressSanitizer, a process needs all addresses. */
static void resource_limits_count(void **state) {
  (void)state;
  struct rlimit before, less;
  assert_int_equal(getrlimit(RLIMIT_DATA, &before), 0);
  less = before;
  less.rlim_cur = 1 << 29;
  const struct tutti_memory_bound free = tutti_memory_bound();
  if (free.bytes <= 1 << 29)
    return;
  assert_int_equal(setrlimit(RLIMIT_DATA, &less), 0);
  const struct tutti_memory_bound bound = tutti_memory_bound();
  assert_int_equal(setrlimit(RLIMIT_DATA, &before), 0);
  assert_true(bound.bytes == 1 << 29);
  assert_string_equal(bound.of, "what ulimit -d allows");
  assert_true(tutti_memory_for_data() == free.bytes / 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_least_of_a_group_and_those_above_counts),
      cmocka_unit_test(groups_of_version_1_are_those_that_bound_memory),
      cmocka_unit_test(lines_of_another_kind_say_nothing),
      cmocka_unit_test(resource_limits_count),
  };
  return cmocka_run_group_tests(tests, make_root, remove_root);
}
