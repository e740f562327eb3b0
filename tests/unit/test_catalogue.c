/* test_catalogue.c - recorded data are read back; data that were not committed are gone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/catalogue.h>
#include <unistd.h>

static char folder[] = "/tmp/tutti-catalogue-XXXXXX", path[64];
static tutti_context *context;

static int set_up(void **state) {
  (void)state;
  if (!mkdtemp(folder) || tutti_context_create(&context) != TUTTI_OK)
    return -1;
  (void)snprintf(path, sizeof path, "%s/catalogue.sqlite", folder);
  return 0;
}

static int tear_down(void **state) {
  static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
  (void)state;
  for (size_t i = 0; i < 4; i++) {
    char file[80];
    (void)snprintf(file, sizeof file, "%s%s", path, ends[i]);
    (void)unlink(file);
  }
  (void)rmdir(folder);
  tutti_context_destroy(context);
  return 0;
}

static void states_have_names(void **state) {
  (void)state;
  for (int i = TUTTI_STATE_FINISHED; i <= TUTTI_STATE_PRUNED; i++) {
    enum tutti_state found = (enum tutti_state)(i ? 0 : 1);
    assert_true(tutti_state_parse(tutti_state_name((enum tutti_state)i), &found));
    assert_int_equal(found, i);
  }
  enum tutti_state found = TUTTI_STATE_FAILED;
  assert_false(tutti_state_parse("asked", &found));
  assert_int_equal(found, TUTTI_STATE_FAILED);
  assert_null(tutti_state_name((enum tutti_state)(TUTTI_STATE_PRUNED + 1)));
}

struct seen {
  size_t count, stop_after;
  struct tutti_trial last;
  char candidate[64], failure[64], report[64];
};

static enum tutti_status see(void *argument, const struct tutti_trial *trial) {
  struct seen *seen = argument;
  assert_int_equal(trial->number, seen->count);
  seen->count++;
  seen->last = *trial;
  (void)snprintf(seen->candidate, sizeof seen->candidate, "%s", trial->candidate);
  (void)snprintf(seen->failure, sizeof seen->failure, "%s", trial->failure);
  (void)snprintf(seen->report, sizeof seen->report, "%s", trial->report);
  return seen->count == seen->stop_after ? TUTTI_ERROR_CANCELLED : TUTTI_OK;
}

static void ask(tutti_catalogue *catalogue, uint64_t number, uint64_t parent) {
  struct tutti_trial trial = {.size = sizeof trial,
                              .number = number,
                              .candidate = "{\"a\": \"it's\"}",
                              .parent = parent,
                              .origin = "random",
                              .asked_after = number / 2};
  assert_int_equal(tutti_catalogue_asked(context, catalogue, &trial), TUTTI_OK);
}

static void what_is_committed_is_read_back(void **state) {
  tutti_catalogue *catalogue;
  struct seen seen = {0};
  char beside[80];
  (void)state;
  assert_int_equal(tutti_catalogue_open(context, path, true, &catalogue), TUTTI_OK);
  assert_int_equal(tutti_catalogue_begin(context, catalogue), TUTTI_OK);
  ask(catalogue, 0, TUTTI_NO_TRIAL);
  ask(catalogue, 1, 0);
  /* A double comes back bit for bit; NaN stands for "none". */
  struct tutti_trial done = {.size = sizeof done,
                             .number = 1,
                             .state = TUTTI_STATE_FINISHED,
                             .loss = 0.1 + 0.2,
                             .seconds = 3,
                             .worker = 7,
                             .failure = "",
                             .report = "{}"};
  assert_int_equal(tutti_catalogue_done(context, catalogue, &done), TUTTI_OK);
  assert_int_equal(tutti_catalogue_told(context, catalogue, 1, 0), TUTTI_OK);
  assert_int_equal(tutti_catalogue_commit(context, catalogue), TUTTI_OK);
  tutti_catalogue_close(catalogue);
  assert_int_equal(tutti_catalogue_open(context, path, false, &catalogue), TUTTI_OK);
  /* At rest it is one file, also while it is read. */
  assert_int_equal(access(path, F_OK), 0);
  (void)snprintf(beside, sizeof beside, "%s-wal", path);
  assert_int_not_equal(access(beside, F_OK), 0);
  assert_int_equal(tutti_catalogue_visit(context, catalogue, see, &seen), TUTTI_OK);
  assert_int_equal(seen.count, 2);
  assert_string_equal(seen.candidate, "{\"a\": \"it's\"}");
  assert_true(seen.last.done && seen.last.state == TUTTI_STATE_FINISHED);
  assert_true(seen.last.loss == 0.1 + 0.2);
  assert_int_equal(seen.last.parent, 0);
  assert_int_equal(seen.last.told, 0);
  assert_int_equal(seen.last.worker, 7);
  /* A visitor's status ends the visit and is passed on. */
  seen = (struct seen){.stop_after = 1};
  assert_int_equal(tutti_catalogue_visit(context, catalogue, see, &seen), TUTTI_ERROR_CANCELLED);
  assert_int_equal(seen.count, 1);
  assert_true(!seen.last.done && seen.last.told == TUTTI_NO_TRIAL && seen.last.parent == TUTTI_NO_TRIAL);
  tutti_catalogue_close(catalogue);
}

static void what_is_not_committed_is_gone(void **state) {
  tutti_catalogue *catalogue;
  struct seen seen = {0};
  (void)state;
  assert_int_equal(tutti_catalogue_open(context, path, true, &catalogue), TUTTI_OK);
  assert_int_equal(tutti_catalogue_begin(context, catalogue), TUTTI_OK);
  ask(catalogue, 2, TUTTI_NO_TRIAL);
  tutti_catalogue_close(catalogue); /* as a killed manager would leave it */
  assert_int_equal(tutti_catalogue_open(context, path, true, &catalogue), TUTTI_OK);
  assert_int_equal(tutti_catalogue_visit(context, catalogue, see, &seen), TUTTI_OK);
  assert_int_equal(seen.count, 2);
  tutti_catalogue_close(catalogue);
}

static void failures_have_no_loss(void **state) {
  tutti_catalogue *catalogue;
  struct seen seen = {0};
  struct tutti_trial failed = {.size = sizeof failed,
                               .number = 0,
                               .state = TUTTI_STATE_FAILED,
                               .loss = NAN,
                               .failure = "diverged",
                               .report = "{}"};
  (void)state;
  assert_int_equal(tutti_catalogue_open(context, path, true, &catalogue), TUTTI_OK);
  assert_int_equal(tutti_catalogue_done(context, catalogue, &failed), TUTTI_OK);
  seen.stop_after = 1;
  assert_int_equal(tutti_catalogue_visit(context, catalogue, see, &seen), TUTTI_ERROR_CANCELLED);
  assert_true(seen.last.state == TUTTI_STATE_FAILED && isnan(seen.last.loss));
  assert_string_equal(seen.failure, "diverged");
  tutti_catalogue_close(catalogue);
}

static void facts_are_kept_by_key(void **state) {
  tutti_catalogue *catalogue;
  char *text;
  (void)state;
  assert_int_equal(tutti_catalogue_open(context, path, true, &catalogue), TUTTI_OK);
  assert_int_equal(tutti_catalogue_get(context, catalogue, "builder", &text), TUTTI_OK);
  assert_null(text);
  assert_int_equal(tutti_catalogue_set(context, catalogue, "builder", "old"), TUTTI_OK);
  assert_int_equal(tutti_catalogue_set(context, catalogue, "builder", "new"), TUTTI_OK);
  assert_int_equal(tutti_catalogue_get(context, catalogue, "builder", &text), TUTTI_OK);
  assert_string_equal(text, "new");
  tutti_free(text);
  tutti_catalogue_close(catalogue);
}

static void what_is_no_catalogue_is_refused(void **state) {
  tutti_catalogue *catalogue;
  char other[80];
  (void)state;
  (void)snprintf(other, sizeof other, "%s/other", folder);
  FILE *file = fopen(other, "w");
  assert_non_null(file);
  for (int i = 0; i < 300; i++)
    (void)fputs("this is no database ", file);
  assert_int_equal(fclose(file), 0);
  assert_int_equal(tutti_catalogue_open(context, other, true, &catalogue), TUTTI_ERROR_CORRUPT);
  assert_non_null(strstr(tutti_error_message(context), other));
  assert_null(catalogue);
  assert_int_equal(unlink(other), 0);
  assert_int_equal(tutti_catalogue_open(context, other, false, &catalogue), TUTTI_ERROR_IO);
  assert_non_null(strstr(tutti_error_message(context), other));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_committed_is_read_back),  cmocka_unit_test(what_is_not_committed_is_gone),
      cmocka_unit_test(failures_have_no_loss),           cmocka_unit_test(facts_are_kept_by_key),
      cmocka_unit_test(what_is_no_catalogue_is_refused), cmocka_unit_test(states_have_names),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
