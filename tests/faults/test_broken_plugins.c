/* Broken plugins: each is refused with a message that says what is wrong and where, and a scan survives them all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <tutti/tutti.h>
#include <cmocka.h>

struct fixture {
  tutti_context *context;
  char folder[64];
};

static void run(const char *format, ...) TUTTI_PRINTF(1, 2);
static void run(const char *format, ...) {
  char command[2048];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(command, sizeof command, format, arguments);
  va_end(arguments);
  assert_int_equal(system(command), 0);
}

static int setup(void **state) {
  struct fixture *fixture = calloc(1, sizeof *fixture);
  *state = fixture;
  strcpy(fixture->folder, "/tmp/tutti-faults-XXXXXX");
  if (!mkdtemp(fixture->folder) || tutti_context_create(&fixture->context) != TUTTI_OK)
    return -1;
  unsetenv("TUTTI_PLUGIN_PATH");
  setenv("TUTTI_PLUGIN_FOLDER", "/nonexistent", 1);
  return tutti_plugin_path_add(fixture->context, fixture->folder) == TUTTI_OK ? 0 : -1;
}

static int teardown(void **state) {
  struct fixture *fixture = *state;
  tutti_context_destroy(fixture->context);
  run("rm -rf %s", fixture->folder);
  free(fixture);
  return 0;
}

static const char *module_folder(void) {
  static char folder[1024];
  snprintf(folder, sizeof folder, "%s/tests/faults/.libs", getenv("TUTTI_TEST_BUILDDIR"));
  return folder;
}

/* A copy of a module: the loader takes links to one file for the same module. */
static void put(const struct fixture *fixture, const char *module, const char *name) {
  run("cp %s/%s.so %s/selector-%s.so", module_folder(), module, fixture->folder, name);
}

static enum tutti_status find(struct fixture *fixture, const char *name, const struct tutti_descriptor **descriptor) {
  *descriptor = NULL;
  return tutti_plugin_find(fixture->context, TUTTI_KIND_SELECTOR, name, descriptor);
}

static void expect_message(const struct fixture *fixture, const char *text) {
  if (!strstr(tutti_error_message(fixture->context), text))
    fail_msg("expected '%s' in '%s'", text, tutti_error_message(fixture->context));
}

/* The fault of each plugin that can be refused without a child process. */
static const char *const refusals[][2] = {
    {"old-abi", "made for plugin ABI 1.0, this is 2.0; build it against this version"},
    {"new-abi", "made for plugin ABI 3.0, this is 2.0; build it against this version"},
    {"new-kind", "is none of ours; it was made for a newer tutti"},
    {"short", "its descriptor has"},
    {"no-op", "a selector must have the operation select"},
    {"short-ops", "a selector must have the operation select"},
    {"no-ops", "its table of operations is not there"},
    {"no-create", "destroy without create would destroy its parameters"},
    {"no-summary", "version, summary, source and licence must all be there"},
    {"unknown-kind", "is none of ours"},
    {"bad-table", "parameter table: parameter 'share': its preset is wrong: expected a number in [0, 1]; found '2'"},
    {"bad-name", "expected a name of lower-case letters, digits and hyphens, found 'Bad Name'"},
    {"other-name", "it says that it is selector quite-another, so its file has to be named selector-quite-another.so"},
    {"unavailable", "selector unavailable does not work here: there is no abacus here"},
    {"none-of-these", "tutti_plugin() gave no descriptor"},
};
enum { REFUSALS = sizeof refusals / sizeof refusals[0] };

static void test_refusals(void **state) {
  struct fixture *fixture = *state;
  const struct tutti_descriptor *descriptor;
  for (size_t i = 0; i < REFUSALS; i++) {
    bool lacking = strcmp(refusals[i][0], "unavailable") == 0; /* nothing is wrong with its file */
    put(fixture, "broken", refusals[i][0]);
    assert_int_equal(find(fixture, refusals[i][0], &descriptor),
                     lacking ? TUTTI_ERROR_UNSUPPORTED : TUTTI_ERROR_PLUGIN);
    expect_message(fixture, refusals[i][1]);
    if (!lacking)
      expect_message(fixture, fixture->folder);
  }
}

static void test_sound(void **state) {
  struct fixture *fixture = *state;
  const struct tutti_descriptor *descriptor, *again;
  char file[128];
  put(fixture, "broken", "sound");
  assert_int_equal(find(fixture, "sound", &descriptor), TUTTI_OK);
  assert_int_equal(find(fixture, "sound", &again), TUTTI_OK);
  assert_ptr_equal(descriptor, again);
  snprintf(file, sizeof file, "%s/selector-sound.so", fixture->folder);
  assert_string_equal(tutti_plugin_file(fixture->context, descriptor), file);
}

/* A newer minor version adds fields at the end, so a plugin that uses none of them works here. */
static void test_newer_minor(void **state) {
  struct fixture *fixture = *state;
  const struct tutti_descriptor *descriptor;
  put(fixture, "broken", "newer-minor");
  assert_int_equal(find(fixture, "newer-minor", &descriptor), TUTTI_OK);
  assert_int_equal(descriptor->abi_minor, TUTTI_ABI_MINOR + 1);
}

static void test_no_plugin(void **state) {
  struct fixture *fixture = *state;
  const struct tutti_descriptor *descriptor;
  put(fixture, "no_symbol", "no-symbol");
  assert_int_equal(find(fixture, "no-symbol", &descriptor), TUTTI_ERROR_PLUGIN);
  expect_message(fixture, "it does not export tutti_plugin");
  run("echo not a module >%s/selector-text.so", fixture->folder);
  assert_int_equal(find(fixture, "text", &descriptor), TUTTI_ERROR_PLUGIN);
  expect_message(fixture, "cannot load");
  run("mkdir %s/selector-folder.so", fixture->folder);
  assert_int_equal(find(fixture, "folder", &descriptor), TUTTI_ERROR_PLUGIN);
  run("ln -s nowhere %s/selector-dangling.so", fixture->folder);
  assert_int_equal(find(fixture, "dangling", &descriptor), TUTTI_ERROR_USAGE);
}

static void test_not_found(void **state) {
  struct fixture *fixture = *state;
  const struct tutti_descriptor *descriptor;
  put(fixture, "broken", "sound");
  assert_int_equal(find(fixture, "suond", &descriptor), TUTTI_ERROR_USAGE);
  assert_string_equal(
      tutti_error_message(fixture->context),
      "there is no selector 'suond'; did you mean 'sound'? 'tutti list selector' shows those that there are");
  assert_int_equal(find(fixture, "../sound", &descriptor), TUTTI_ERROR_USAGE);
  assert_int_equal(find(fixture, "", &descriptor), TUTTI_ERROR_USAGE);
}

/* The same kind and name in two folders: the earlier one is used. */
static void test_twins(void **state) {
  struct fixture *fixture = *state;
  const struct tutti_descriptor *descriptor;
  char other[128], link[128], file[256];
  put(fixture, "broken", "sound");
  snprintf(other, sizeof other, "%s/other", fixture->folder);
  snprintf(link, sizeof link, "%s/link", fixture->folder);
  run("mkdir %s && cp %s/selector-sound.so %s && ln -s . %s", other, fixture->folder, other, link);
  assert_int_equal(tutti_plugin_path_add(fixture->context, link), TUTTI_OK);
  assert_int_equal(tutti_plugin_path_add(fixture->context, other), TUTTI_OK);
  assert_int_equal(find(fixture, "sound", &descriptor), TUTTI_OK);
  snprintf(file, sizeof file, "%s/selector-sound.so", other);
  assert_string_equal(tutti_plugin_file(fixture->context, descriptor), file);
}

/* Two files of one folder that say the same. */
static void test_twins_in_one_folder(void **state) {
  struct fixture *fixture = *state;
  const struct tutti_descriptor *descriptor;
  put(fixture, "broken", "other-name");
  put(fixture, "broken", "quite-another");
  assert_int_equal(find(fixture, "other-name", &descriptor), TUTTI_ERROR_PLUGIN);
  expect_message(fixture, "/selector-other-name.so: it says that it is selector quite-another, as ");
  expect_message(fixture, "/selector-quite-another.so is; take one of the two out of this folder");
}

/* TUTTI_PLUGIN_PATH: several folders, empty ones and ones that are not there do no harm. */
static void test_environment(void **state) {
  struct fixture *fixture = *state;
  const struct tutti_descriptor *descriptor;
  char path[256];
  run("mkdir %s/deep && cp %s/broken.so %s/deep/selector-sound.so", fixture->folder, module_folder(), fixture->folder);
  assert_int_equal(find(fixture, "sound", &descriptor), TUTTI_ERROR_USAGE);
  snprintf(path, sizeof path, ":/nonexistent::%s/deep:", fixture->folder);
  setenv("TUTTI_PLUGIN_PATH", path, 1);
  assert_int_equal(find(fixture, "sound", &descriptor), TUTTI_OK);
}

/* --- create --- */

static void check_create(struct fixture *fixture, const char *name, const char *message) {
  struct tutti_host_facts facts = {.size = sizeof facts};
  tutti_host *host;
  tutti_selector *selector;
  put(fixture, "broken", name);
  assert_int_equal(tutti_host_create(fixture->context, &facts, &host), TUTTI_OK);
  assert_int_equal(tutti_host_put(fixture->context, host, "selector", TUTTI_KIND_SELECTOR, name), TUTTI_OK);
  struct tutti_selector_setup setup_of = {.size = sizeof setup_of, .host = host};
  assert_int_equal(tutti_selector_create(fixture->context, host, "selector", &setup_of, &selector), TUTTI_ERROR_IO);
  assert_null(selector);
  assert_string_equal(tutti_error_message(fixture->context), message);
  tutti_host_destroy(host);
}

static void test_create_fails(void **state) {
  struct fixture *fixture = *state;
  tutti_error_clear(fixture->context);
  check_create(fixture, "fails-silently", "selector fails-silently failed (input-output) without saying why");
  check_create(fixture, "fails", "selector fails: the dog ate it");
}

/* --- scan --- */

struct seen {
  char name[64], reason[512], version[16];
  bool works, lacking;
};
struct list {
  struct seen seen[64];
  size_t count;
};

static void see(void *argument, const struct tutti_plugin_entry *entry) {
  struct list *list = argument;
  struct seen *seen = &list->seen[list->count++];
  assert_int_equal(entry->kind, TUTTI_KIND_SELECTOR);
  snprintf(seen->name, sizeof seen->name, "%s", entry->name);
  snprintf(seen->reason, sizeof seen->reason, "%s", entry->reason);
  snprintf(seen->version, sizeof seen->version, "%s", entry->version);
  seen->works = entry->works;
  seen->lacking = entry->lacking;
  assert_string_equal(entry->uses, ""); /* none of them says */
}

static const struct seen *seen_of(const struct list *list, const char *name) {
  for (size_t i = 0; i < list->count; i++)
    if (strcmp(list->seen[i].name, name) == 0)
      return &list->seen[i];
  fail_msg("the scan did not show %s", name);
  return NULL;
}

static void check_seen(const struct list *list, const char *name, const char *reason) {
  const struct seen *seen = seen_of(list, name);
  if (seen->works || !strstr(seen->reason, reason))
    fail_msg("%s: expected '%s', found '%s'", name, reason, seen->reason);
}

static const char *const deaths[][2] = {
    {"crashes", "crashes while loading (SIGSEGV: Segmentation fault)"},
    {"aborts", "crashes while loading (SIGABRT: Aborted)"},
    {"exits", "it ends the program while loading (exit code 0)"},
    {"exits-with-3", "it ends the program while loading (exit code 3)"},
    {"hangs-without-output", "it hangs while loading"},
    {"hangs", "it hangs while loading (no answer in 10 s)"},
};
enum { DEATHS = sizeof deaths / sizeof deaths[0] };

static void test_scan(void **state) {
  struct fixture *fixture = *state;
  static struct list list;
  char scanner[1024];
  for (size_t i = 0; i < REFUSALS; i++)
    put(fixture, "broken", refusals[i][0]);
  for (size_t i = 0; i < DEATHS; i++)
    put(fixture, "broken", deaths[i][0]);
  put(fixture, "broken", "sound");
  put(fixture, "broken", "prints");
  put(fixture, "no_symbol", "no-symbol");
  run("echo not a module >%s/selector-text.so && : >%s/selector-empty.so", fixture->folder, fixture->folder);
  run("head -c 9000 %s/broken.so >%s/selector-torn.so", module_folder(), fixture->folder);
  run("echo >%s/notes.txt && echo >%s/selector-.so && echo >%s/sel-x.so", fixture->folder, fixture->folder,
      fixture->folder);
  snprintf(scanner, sizeof scanner, "%s/tutti-conform", getenv("TUTTI_TEST_BUILDDIR"));
  list.count = 0;
  assert_int_equal(tutti_plugin_scan_with(fixture->context, scanner), TUTTI_OK);
  assert_int_equal(tutti_plugin_scan(fixture->context, see, &list), TUTTI_OK);
  assert_int_equal(list.count, REFUSALS + DEATHS + 6);
  for (size_t i = 1; i < list.count; i++)
    assert_true(strcmp(list.seen[i - 1].name, list.seen[i].name) < 0);
  for (size_t i = 0; i < REFUSALS; i++)
    check_seen(&list, refusals[i][0], refusals[i][1]);
  for (size_t i = 0; i < DEATHS; i++)
    check_seen(&list, deaths[i][0], deaths[i][1]);
  for (size_t i = 0; i < list.count; i++)
    assert_int_equal(list.seen[i].lacking, strcmp(list.seen[i].name, "unavailable") == 0);
  check_seen(&list, "no-symbol", "it does not export tutti_plugin");
  check_seen(&list, "text", "cannot load");
  check_seen(&list, "empty", "cannot load");
  check_seen(&list, "torn", "");
  assert_true(seen_of(&list, "sound")->works);
  assert_string_equal(seen_of(&list, "sound")->version, "1");
  assert_true(seen_of(&list, "prints")->works);
}

static void test_no_scanner(void **state) {
  struct fixture *fixture = *state;
  static struct list list;
  put(fixture, "broken", "sound");
  list.count = 0;
  assert_int_equal(tutti_plugin_scan(fixture->context, see, &list), TUTTI_ERROR_USAGE);
  expect_message(fixture, "none is named: call tutti_plugin_scan_with");
  assert_int_equal(tutti_plugin_scan_with(fixture->context, "/nonexistent/tutti"), TUTTI_OK);
  assert_int_equal(tutti_plugin_scan(fixture->context, see, &list), TUTTI_OK);
  check_seen(&list, "sound", "/nonexistent/tutti cannot be run: No such file or directory");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_refusals),
      TEST(test_newer_minor),
      TEST(test_sound),
      TEST(test_no_plugin),
      TEST(test_not_found),
      TEST(test_twins),
      TEST(test_twins_in_one_folder),
      TEST(test_environment),
      TEST(test_create_fails),
      TEST(test_scan),
      TEST(test_no_scanner),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
