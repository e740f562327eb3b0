/* test_run_staging.c - which files a worker elsewhere reads, and where what it sends back is stored. */
#include "core/base/file_impl.h"
#include "engine/run/run_staging.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* In place of the C library's, for all that is linked here; files of a group are synced side by side. */
static atomic_size_t synced;
__attribute__((visibility("default"))) int fsync(int file) {
  synced += file >= 0;
  return 0;
}

static tutti_context *context;
static tutti_recipe *recipe;
static struct tutti_run_staging staged;
static struct tutti_staging staging;
static char folder[64], run[96];

static void ok(enum tutti_status status) {
  if (status != TUTTI_OK)
    fail_msg("%s", tutti_error_message(context));
}

static void write_file(const char *name, const char *text) {
  char path[256];
  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static void make_folder(const char *name) {
  char path[256];
  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  assert_int_equal(mkdir(path, 0700), 0);
}

static void load(const char *text) {
  char path[128];
  write_file("search.ini", text);
  (void)snprintf(path, sizeof path, "%s/search.ini", folder);
  tutti_recipe_destroy(recipe);
  recipe = NULL;
  ok(tutti_recipe_load(context, path, 0, NULL, &recipe));
  staged = (struct tutti_run_staging){.directory = run, .recipe = recipe};
  staging = tutti_run_staging_offer(&staged);
}

static int begin(void **state) {
  (void)state;
  (void)strcpy(folder, "/tmp/tutti-staging-XXXXXX");
  recipe = NULL;
  if (!mkdtemp(folder) || tutti_context_create(&context) != TUTTI_OK)
    return 1;
  (void)snprintf(run, sizeof run, "%s/run", folder);
  staged = (struct tutti_run_staging){.directory = run};
  staging = tutti_run_staging_offer(&staged);
  return mkdir(run, 0700);
}

static int end(void **state) {
  char command[96];
  (void)state;
  tutti_recipe_destroy(recipe);
  tutti_context_destroy(context);
  (void)snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return system(command); /* NOLINT: the path is ours */
}

/* --- what they read --- */

struct seen {
  char names[2048], *recipe;
};

static enum tutti_status see(void *visitor, tutti_context *of, const struct tutti_staged_file *file) {
  struct seen *seen = visitor;
  size_t used = strlen(seen->names);
  (void)snprintf(seen->names + used, sizeof seen->names - used, "%s%s%s\n", file->name, file->path ? " <- " : "",
                 file->path ? file->path + strlen(folder) + 1 : "");
  return file->text ? tutti_strdup(of, file->text, &seen->recipe) : TUTTI_OK;
}

static void expect_seen(struct seen *seen, const char *text, bool there) {
  if (!strstr(seen->names, text) == there)
    fail_msg("%s '%s' in:\n%s", there ? "expected" : "did not expect", text, seen->names);
}

/* Data travel, and the recipe names them where they lie then; what only the manager reads, or is made when it is
   missing, stays. */
static void workers_get_what_they_read(void **state) {
  struct seen seen = {.names = ""};
  (void)state;
  write_file("table.csv", "a,y\n1,2\n");
  write_file("rows.txt", "0\n");
  char path[128];
  (void)snprintf(path, sizeof path, "%s/cache", folder);
  assert_int_equal(mkdir(path, 0700), 0);
  write_file("cache/old.npy", "x");
  load("[data]\npath = table.csv\ntarget = y\ntrain_rows = rows.txt\ntest_rows = none.txt\ncache = cache\n"
       "[builder]\nplugin = deepens\nfrom = cache\n");
  ok(staging.visit(staging.argument, context, see, &seen));
  expect_seen(&seen, "inputs/1/table.csv <- table.csv\n", true);
  expect_seen(&seen, "inputs/2/rows.txt <- rows.txt\n", true);
  expect_seen(&seen, "\nrecipe.ini\n", true);
  expect_seen(&seen, "none.txt", false);
  expect_seen(&seen, "cache", false);
  assert_non_null(strstr(seen.recipe, "\npath = inputs/1/table.csv "));
  assert_non_null(strstr(seen.recipe, "\ntrain_rows = inputs/2/rows.txt "));
  assert_null(strstr(seen.recipe, "\ntest_rows = inputs"));
  assert_non_null(strstr(seen.recipe, "/none.txt "));
  assert_non_null(strstr(seen.recipe, "/cache "));
  tutti_free(seen.recipe);
}

static void folders_travel_with_all_that_is_in_them(void **state) {
  struct seen seen = {.names = ""};
  char path[128];
  (void)state;
  write_file("table.csv", "a,y\n1,2\n");
  (void)snprintf(path, sizeof path, "%s/shifted", folder);
  assert_int_equal(mkdir(path, 0700), 0);
  (void)snprintf(path, sizeof path, "%s/shifted/more", folder);
  assert_int_equal(mkdir(path, 0700), 0);
  write_file("shifted/labels.npy", "x");
  write_file("shifted/more/fog.npy", "x");
  load("[data]\npath = table.csv\ntarget = y\nshift_path = shifted\n");
  ok(staging.visit(staging.argument, context, see, &seen));
  expect_seen(&seen, "inputs/2/shifted/labels.npy <- shifted/labels.npy\n", true);
  expect_seen(&seen, "inputs/2/shifted/more/fog.npy <- shifted/more/fog.npy\n", true);
  tutti_free(seen.recipe);
  seen = (struct seen){.names = ""};
  (void)snprintf(path, sizeof path, "%s/shifted/more/round", folder);
  assert_int_equal(symlink("..", path), 0);
  assert_int_equal(staging.visit(staging.argument, context, see, &seen), TUTTI_ERROR_USAGE);
  assert_non_null(strstr(tutti_error_message(context), "too many folders"));
  tutti_free(seen.recipe);
}

/* A pattern finds the same files where they lie then; the folder before it is taken as it is called. */
static void files_of_a_pattern_travel(void **state) {
  struct seen seen = {.names = ""};
  char path[128];
  (void)state;
  write_file("table.csv", "a,y\n1,2\n");
  (void)snprintf(path, sizeof path, "%s/splits[1]", folder);
  assert_int_equal(mkdir(path, 0700), 0);
  write_file("splits[1]/test_1.txt", "0\n");
  write_file("splits[1]/test_2.txt", "0\n");
  write_file("splits[1]/other.txt", "0\n");
  load(
      "[data]\npath = table.csv\ntarget = y\nshift_path = splits[1]/none_*\n[fit]\ntest_rows = splits[1]/test_*.txt\n");
  ok(staging.visit(staging.argument, context, see, &seen));
  expect_seen(&seen, "inputs/2/test_1.txt <- splits[1]/test_1.txt\n", true);
  expect_seen(&seen, "inputs/2/test_2.txt <- splits[1]/test_2.txt\n", true);
  expect_seen(&seen, "other", false);
  assert_non_null(strstr(seen.recipe, "\ntest_rows = inputs/2/test_*.txt "));
  assert_non_null(strstr(seen.recipe, "/splits[1]/none_* "));
  tutti_free(seen.recipe);
  staged.recipe = NULL; /* as in an agent */
  assert_int_equal(staging.visit(staging.argument, context, see, &seen), TUTTI_ERROR_USAGE);
}

/* --- what they write --- */

static enum tutti_status put(const char *name, uint64_t offset, uint64_t total, const char *text) {
  const struct tutti_staged_piece piece = {.size = sizeof piece,
                                           .trial = 12,
                                           .name = name,
                                           .offset = offset,
                                           .total = total,
                                           .bytes = text,
                                           .count = strlen(text)};
  return staging.store(staging.argument, context, &piece);
}

static void expect_text(const char *name, const char *text) {
  char path[256], *found;
  size_t bytes;
  (void)snprintf(path, sizeof path, "%s/trials/000012/%s", run, name);
  if (!text) {
    assert_int_not_equal(access(path, F_OK), 0);
    return;
  }
  ok(tutti_file_read(context, path, &found, &bytes));
  assert_string_equal(found, text);
  tutti_free(found);
}

static void a_file_has_its_name_when_it_is_whole(void **state) {
  char *name;
  (void)state;
  ok(staging.folder(staging.argument, context, 12, &name));
  assert_string_equal(name, "trials/000012");
  tutti_free(name);
  ok(put("test.npy", 0, 6, "abc"));
  expect_text("test.npy", NULL);
  ok(put("test.npy", 3, 6, "def"));
  expect_text("test.npy", "abcdef");
  expect_text("test.npy.tmp", NULL);
  ok(put("empty", 0, 0, ""));
  expect_text("empty", "");
  ok(put("test.npy", 0, 2, "gh")); /* another try of the trial */
  expect_text("test.npy", "gh");
}

static enum tutti_status settle_with(const char *status, const char *files, char **why) {
  char reply[512];
  (void)snprintf(reply, sizeof reply,
                 "{\"status\": \"%s\", \"state\": \"failed\", \"failure\": \"\", \"seconds\": 1, \"loss\": null, "
                 "\"report\": {\"files\": [%s]}}",
                 status, files);
  return staging.settle(staging.argument, context, 12, reply, why);
}

/* The CRC-32 of "abcdef" is 4b8e39ef. */
static void files_are_those_that_the_reply_tells_of(void **state) {
  static const char whole[] = "{\"name\": \"test.npy\", \"bytes\": 6, \"crc32\": 1267612143}";
  static const char longer[] = "{\"name\": \"test.npy\", \"bytes\": 7, \"crc32\": 1267612143}";
  static const char other[] = "{\"name\": \"test.npy\", \"bytes\": 6, \"crc32\": 1267612144}";
  char *why;
  (void)state;
  synced = 0;
  ok(settle_with("ok", whole, &why)); /* the folder is not there, either */
  assert_non_null(strstr(why, "test.npy"));
  tutti_free(why);
  ok(settle_with("ok", "", &why));
  assert_null(why);
  assert_int_equal(synced, 0);
  ok(put("test.npy", 0, 6, "abcdef"));
  synced = 0; /* as were those above */
  ok(settle_with("ok", longer, &why));
  assert_non_null(strstr(why, "size or checksum"));
  tutti_free(why);
  ok(settle_with("ok", other, &why));
  assert_non_null(strstr(why, "size or checksum"));
  tutti_free(why);
  assert_int_equal(synced, 0);
  ok(settle_with("ok", whole, &why));
  assert_null(why);
  assert_int_equal(synced, 3);           /* the file and two folders: now they outlive a power failure */
  ok(settle_with("full", longer, &why)); /* a worker that cannot go on says why */
  assert_null(why);
}

static void what_did_not_come_whole_is_forgotten(void **state) {
  char path[256];
  (void)state;
  staging.drop(staging.argument, context, 12); /* nothing has come */
  ok(put("curve.csv", 0, 1, "x"));
  ok(put("test.npy", 0, 6, "abc"));
  staging.drop(staging.argument, context, 12);
  (void)snprintf(path, sizeof path, "%s/trials/000012", run);
  assert_int_not_equal(access(path, F_OK), 0);
  assert_int_equal(symlink("/does/not/exist", path), 0);
  staging.drop(staging.argument, context, 12);
  assert_string_equal(tutti_error_message(context), "");
}

static void pieces_that_do_not_follow_are_refused(void **state) {
  (void)state;
  ok(put("test.npy", 0, 9, "abc"));
  assert_int_equal(put("test.npy", 4, 9, "def"), TUTTI_ERROR_CORRUPT);
  expect_text("test.npy.tmp", NULL);
  ok(put("test.npy", 0, 9, "abc"));
  assert_int_equal(put("test.npy", 3, 4, "def"), TUTTI_ERROR_CORRUPT);
  assert_int_equal(put("never.npy", 3, 6, "def"), TUTTI_ERROR_IO);
}

static void nothing_is_stored_outside_the_folder(void **state) {
  static const char *const names[] = {"../recipe.ini", "/etc/x", "a/b", "..", ".", ""};
  char path[256];
  (void)state;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    assert_int_equal(put(names[i], 0, 1, "x"), TUTTI_ERROR_CORRUPT);
  (void)snprintf(path, sizeof path, "%s/trials", run);
  assert_int_equal(mkdir(path, 0700), 0);
  (void)snprintf(path, sizeof path, "%s/trials/000012", run);
  assert_int_equal(symlink("/tmp", path), 0);
  assert_int_equal(put("x", 0, 1, "x"), TUTTI_ERROR_CORRUPT);
}

static void logs_are_joined(void **state) {
  char path[128], *found;
  size_t bytes;
  (void)state;
  ok(staging.note(staging.argument, context, "one\n", 4));
  ok(staging.note(staging.argument, context, "two\n", 4));
  (void)snprintf(path, sizeof path, "%s/%s", run, staging.log);
  ok(tutti_file_read(context, path, &found, &bytes));
  assert_string_equal(found, "one\ntwo\n");
  tutti_free(found);
}

/* The weights of a parent lie in the folder of the trial that starts from them; other requests bring nothing. */
static void weights_of_parents_travel(void **state) {
  struct seen seen = {.names = ""};
  (void)state;
  ok(staging.visit_trial(staging.argument, context, 12, "{\"trial\": 12}", see, &seen));
  assert_string_equal(seen.names, "");
  /* Without the file nothing is sent, and the worker says what it lacks. */
  ok(staging.visit_trial(staging.argument, context, 12, "{\"trial\": 12, \"parent\": {\"trial\": 7}}", see, &seen));
  assert_string_equal(seen.names, "");
  make_folder("run/trials");
  make_folder("run/trials/000007");
  write_file("run/trials/000007/weights.safetensors", "x");
  ok(staging.visit_trial(staging.argument, context, 12, "{\"trial\": 12, \"parent\": {\"trial\": 7}}", see, &seen));
  assert_string_equal(seen.names, "trials/000012/initial.safetensors <- run/trials/000007/weights.safetensors\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(workers_get_what_they_read, begin, end),
      cmocka_unit_test_setup_teardown(folders_travel_with_all_that_is_in_them, begin, end),
      cmocka_unit_test_setup_teardown(files_of_a_pattern_travel, begin, end),
      cmocka_unit_test_setup_teardown(a_file_has_its_name_when_it_is_whole, begin, end),
      cmocka_unit_test_setup_teardown(files_are_those_that_the_reply_tells_of, begin, end),
      cmocka_unit_test_setup_teardown(what_did_not_come_whole_is_forgotten, begin, end),
      cmocka_unit_test_setup_teardown(pieces_that_do_not_follow_are_refused, begin, end),
      cmocka_unit_test_setup_teardown(nothing_is_stored_outside_the_folder, begin, end),
      cmocka_unit_test_setup_teardown(logs_are_joined, begin, end),
      cmocka_unit_test_setup_teardown(weights_of_parents_travel, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
