/* test_run_files.c - where a run directory has its files, and runs that share a pool. */
#include <unistd.h>

static int note_link(const char *target, const char *path);
#define symlink note_link
#include "engine/run/run_files.c"
#include "engine/run/run_result.c"
#undef symlink

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct fixture {
  tutti_context *context;
  char root[64], first[96], second[96];
};

static int setup(void **state) {
  struct fixture *fixture = calloc(1, sizeof *fixture);
  assert_non_null(fixture);
  assert_int_equal(tutti_context_create(&fixture->context), TUTTI_OK);
  (void)snprintf(fixture->root, sizeof fixture->root, "/tmp/tutti-run-files-XXXXXX");
  assert_non_null(mkdtemp(fixture->root));
  (void)snprintf(fixture->first, sizeof fixture->first, "%s/first", fixture->root);
  (void)snprintf(fixture->second, sizeof fixture->second, "%s/second", fixture->root);
  assert_int_equal(mkdir(fixture->first, 0700), 0);
  assert_int_equal(mkdir(fixture->second, 0700), 0);
  *state = fixture;
  return 0;
}

static int teardown(void **state) {
  struct fixture *fixture = *state;
  char command[128];
  (void)snprintf(command, sizeof command, "rm -rf '%s'", fixture->root);
  int code = system(command); /* NOLINT: the path is ours */
  tutti_context_destroy(fixture->context);
  free(fixture);
  return code;
}

static void expect_path(char *path, const char *expected) {
  assert_string_equal(path, expected);
  tutti_free(path);
}

static void paths_are_those_of_the_manual(void **state) {
  struct fixture *fixture = *state;
  tutti_context *context = fixture->context;
  char *path;
  assert_int_equal(tutti_run_file_path(context, "d", TUTTI_RUN_FILE_RECIPE, &path), TUTTI_OK);
  expect_path(path, "d/recipe.ini");
  assert_int_equal(tutti_run_file_path(context, "d", TUTTI_RUN_FILE_LOG, &path), TUTTI_OK);
  expect_path(path, "d/worker.log");
  assert_int_equal(tutti_run_file_path(context, "d", TUTTI_RUN_FILE_CANCEL, &path), TUTTI_OK);
  expect_path(path, "d/cancel");
  assert_int_equal(tutti_run_split_path(context, "d", "test-5", TUTTI_SPLIT_FILE_LABELS, &path), TUTTI_OK);
  expect_path(path, "d/splits/test-5-labels.npy");
  assert_int_equal(tutti_trial_folder(context, "d", 12, &path), TUTTI_OK);
  expect_path(path, "d/trials/000012");
  assert_int_equal(tutti_trial_file_path(context, "d", 1234567, TUTTI_TRIAL_FILE_WEIGHTS, &path), TUTTI_OK);
  expect_path(path, "d/trials/1234567/weights.safetensors");
  assert_int_equal(tutti_trial_predictions_path(context, "d", 0, "validation", &path), TUTTI_OK);
  expect_path(path, "d/trials/000000/validation.npy");
}

static void no_other_file_has_a_path(void **state) {
  struct fixture *fixture = *state;
  char *path;
  assert_int_equal(tutti_run_file_path(fixture->context, "d", TUTTI_RUN_FILE_INPUTS + 1, &path), TUTTI_ERROR_USAGE);
  assert_non_null(strstr(tutti_error_message(fixture->context), "no file number"));
}

static void an_absent_file_is_no_error(void **state) {
  struct fixture *fixture = *state;
  char *text = (char *)state;
  assert_int_equal(tutti_run_file_read(fixture->context, fixture->first, TUTTI_RUN_FILE_ENSEMBLE, &text), TUTTI_OK);
  assert_null(text);
  assert_false(tutti_run_file_is_there(fixture->first, TUTTI_RUN_FILE_ENSEMBLE));
  assert_false(tutti_run_directory_has_run("/no/such/folder"));
}

static void write_result(struct fixture *fixture, const char *directory, const char *ensemble, const char *summary) {
  char *text;
  assert_int_equal(tutti_strdup(fixture->context, summary, &text), TUTTI_OK);
  assert_int_equal(tutti_run_write_result(fixture->context, directory, ensemble, &text), TUTTI_OK);
  tutti_free(text);
}

static void a_result_is_an_ensemble_and_a_summary(void **state) {
  struct fixture *fixture = *state;
  char *text;
  write_result(fixture, fixture->first, NULL, "{}\n");
  assert_true(tutti_run_directory_is_finished(fixture->first));
  assert_false(tutti_run_file_is_there(fixture->first, TUTTI_RUN_FILE_ENSEMBLE));
  write_result(fixture, fixture->first, "[0.1]\n", "{\"ensemble\": [0.1], \"more\": 0.30000000000000004}\n");
  assert_int_equal(tutti_run_read_ensemble(fixture->context, fixture->first, &text), TUTTI_OK);
  expect_path(text, "[0.1]\n");
}

/* Any byte of the two files that is changed is noticed, or changes nothing that is read. */
static void a_changed_result_is_noticed(void **state) {
  struct fixture *fixture = *state;
  static const enum tutti_run_file files[] = {TUTTI_RUN_FILE_ENSEMBLE, TUTTI_RUN_FILE_SUMMARY};
  json_t *summary, *found;
  char *text, *changed;
  write_result(fixture, fixture->first, "[0.1]\n", "{\"ensemble\": [0.1], \"more\": 0.30000000000000004}\n");
  assert_int_equal(tutti_run_read_summary(fixture->context, fixture->first, &summary), TUTTI_OK);
  for (size_t f = 0; f < 2; f++) {
    assert_int_equal(tutti_run_file_read(fixture->context, fixture->first, files[f], &text), TUTTI_OK);
    for (size_t i = 0; text[i]; i++)
      for (int bit = 0; bit < 7; bit++) {
        char old = text[i];
        text[i] = (char)(old ^ (1 << bit));
        if (!text[i])
          text[i] = 'x';
        assert_int_equal(tutti_run_file_write(fixture->context, fixture->first, files[f], text), TUTTI_OK);
        enum tutti_status status = tutti_run_read_ensemble(fixture->context, fixture->first, &changed);
        if (status == TUTTI_OK) {
          assert_int_equal(tutti_run_read_summary(fixture->context, fixture->first, &found), TUTTI_OK);
          assert_true(json_equal(found, summary));
          json_decref(found);
        } else {
          assert_int_equal(status, TUTTI_ERROR_CORRUPT);
        }
        tutti_free(changed);
        text[i] = old;
      }
    assert_int_equal(tutti_run_file_write(fixture->context, fixture->first, files[f], text), TUTTI_OK);
    tutti_free(text);
  }
  json_decref(summary);
}

static char last_link[256]; /* the path of the link that was made last */

static int note_link(const char *target, const char *path) {
  (void)snprintf(last_link, sizeof last_link, "%s", path);
  return symlink(target, path);
}

static void a_shared_pool_is_its_owners(void **state) {
  struct fixture *fixture = *state;
  char *text;
  assert_int_equal(tutti_run_share(fixture->context, fixture->second, "first"), TUTTI_OK);
  assert_non_null(strstr(last_link, "/second/catalogue.sqlite")); /* which makes it a run: the rest must be there */
  assert_true(tutti_run_is_shared(fixture->second));
  assert_false(tutti_run_directory_has_run(fixture->second)); /* the owner has none yet */
  assert_int_equal(tutti_run_file_write(fixture->context, fixture->first, TUTTI_RUN_FILE_CATALOGUE, "rows"), TUTTI_OK);
  assert_int_equal(tutti_run_file_write(fixture->context, fixture->first, TUTTI_RUN_FILE_DATA, "data"), TUTTI_OK);
  assert_true(tutti_run_directory_has_run(fixture->second));
  assert_false(tutti_run_is_shared(fixture->first));
  assert_int_equal(tutti_run_file_read(fixture->context, fixture->second, TUTTI_RUN_FILE_DATA, &text), TUTTI_OK);
  expect_path(text, "data");
  /* Sharing again changes nothing; results stay each one's own. */
  assert_int_equal(tutti_run_share(fixture->context, fixture->second, "first"), TUTTI_OK);
  write_result(fixture, fixture->second, NULL, "{}\n");
  assert_false(tutti_run_directory_is_finished(fixture->first));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(paths_are_those_of_the_manual, setup, teardown),
      cmocka_unit_test_setup_teardown(no_other_file_has_a_path, setup, teardown),
      cmocka_unit_test_setup_teardown(an_absent_file_is_no_error, setup, teardown),
      cmocka_unit_test_setup_teardown(a_result_is_an_ensemble_and_a_summary, setup, teardown),
      cmocka_unit_test_setup_teardown(a_changed_result_is_noticed, setup, teardown),
      cmocka_unit_test_setup_teardown(a_shared_pool_is_its_owners, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
