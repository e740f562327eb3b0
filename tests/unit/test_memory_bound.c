/* test_memory_bound.c - what bounds memory: resource limits, and control groups of both versions with those above them,
   in a folder that stands for the system's. */
#include "core/base/memory_bound.c"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/wait.h>

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

/* What bounds a process with a limit of half a gibibyte. In a child: addresses once refused may be lacking later. */
static void expect_bound(tutti_context *context, int resource, const char *of) {
  const struct rlimit limit = {1 << 29, 1 << 29};
  const char *half;
  int how;
  if (tutti_memory_bound(context).bytes <= 1 << 29)
    skip();
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    if (setrlimit(resource, &limit) != 0)
      _exit(2);
    const struct tutti_memory_bound bound = tutti_memory_bound(context);
    _exit(bound.bytes == 1 << 29 && strcmp(bound.of, of) == 0 && tutti_memory_for_data_of(context, &half) == 1 << 28 &&
                  strcmp(half, of) == 0
              ? 0
              : 1);
  }
  assert_true(waitpid(child, &how, 0) == child);
  assert_true(WIFEXITED(how));
  assert_int_equal(WEXITSTATUS(how), 0);
}

/* The names say which limit it is. */
static void a_limit_of_data_counts(void **state) {
  (void)state;
  tutti_context context = {0};
  expect_bound(&context, RLIMIT_DATA, "what ulimit -d allows");
}

/* AddressSanitizer takes all addresses. */
static void a_limit_of_addresses_counts(void **state) {
  (void)state;
  tutti_context context = {0};
#ifdef __SANITIZE_ADDRESS__
  skip();
#endif
  expect_bound(&context, RLIMIT_AS, "what ulimit -v allows");
  tutti_memory_name_limit(&context, (1 << 29) + 1, "another"); /* not the one that counts */
  expect_bound(&context, RLIMIT_AS, "what ulimit -v allows");
  tutti_memory_name_limit(&context, 1 << 29, "what the run allows");
  expect_bound(&context, RLIMIT_AS, "what the run allows");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_least_of_a_group_and_those_above_counts),
      cmocka_unit_test(groups_of_version_1_are_those_that_bound_memory),
      cmocka_unit_test(lines_of_another_kind_say_nothing),
      cmocka_unit_test(a_limit_of_data_counts),
      cmocka_unit_test(a_limit_of_addresses_counts),
  };
  return cmocka_run_group_tests(tests, make_root, remove_root);
}
