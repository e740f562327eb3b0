/* test_table.c - backend table: what is looked up and noted, what fails as a trial, and tables that are refused. */
#include "toy.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <tutti/registry.h>
#include <zlib.h>

#include "backends/table.c"

static const char tiny[] = "arch,valid,test,time\n"
                           "\"{\"\"depth\"\": 1}\",90.5,88,12\n"
                           "\"{\"\"depth\"\": 2}\",70,71.25,\n"
                           "\"{\"\"depth\"\": 4}\",,60,3\n";

static struct world {
  struct toy toy;
  char folder[64], path[80];
  tutti_backend *backend;
  struct tutti_outcome outcome;
  char noted[256]; /* "name value, " */
} world;

static void put(const char *text) {
  FILE *file = fopen(world.path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
  assert_int_equal(fclose(file), 0);
}

/* The text gzipped, without the last `missing` bytes. */
static void put_gz(const char *text, long missing) {
  gzFile file = gzopen(world.path, "wb");
  assert_true(gzputs(file, text) > 0);
  assert_int_equal(gzclose(file), Z_OK);
  FILE *again = fopen(world.path, "rb+");
  assert_int_equal(fseek(again, 0, SEEK_END), 0);
  long size = ftell(again);
  assert_int_equal(fclose(again), 0);
  assert_int_equal(truncate(world.path, size - missing), 0);
}

static int begin(void **state) {
  (void)state;
  memset(&world, 0, sizeof world);
  strcpy(world.folder, "/tmp/tutti-table-XXXXXX");
  assert_non_null(mkdtemp(world.folder));
  (void)snprintf(world.path, sizeof world.path, "%s/t.csv", world.folder);
  toy_create(&world.toy, 1, 1, 9, NULL);
  put(tiny);
  TOY_OK(&world.toy, tutti_plugin_register(world.toy.context, &table_descriptor));
  toy_put(&world.toy, "backend", TUTTI_KIND_BACKEND, "table");
  toy_set(&world.toy, "backend", "path", world.path);
  toy_set(&world.toy, "backend", "objective", "valid");
  return 0;
}

static int end(void **state) {
  (void)state;
  tutti_backend_destroy(world.backend);
  toy_destroy(&world.toy);
  (void)unlink(world.path);
  (void)rmdir(world.folder);
  return 0;
}

static enum tutti_status make(void) {
  struct tutti_backend_setup setup = {.size = sizeof setup, .host = world.toy.host, .task = &world.toy.task};
  tutti_backend_destroy(world.backend);
  return tutti_backend_create(world.toy.context, world.toy.host, "backend", &setup, &world.backend);
}

static void made(void) { TOY_OK(&world.toy, make()); }

/* Refused, with these texts in the message, after the file's path. */
static void refused(const char *place, const char *what) {
  char expected[128];
  (void)snprintf(expected, sizeof expected, "%s:%s", world.path, place);
  assert_int_equal(make(), TUTTI_ERROR_USAGE);
  const char *message = tutti_error_message(world.toy.context);
  if (!strstr(message, expected) || !strstr(message, what))
    fail_msg("'%s' lacks '%s' or '%s'", message, expected, what);
  tutti_error_clear(world.toy.context);
}

static void note(void *argument, const char *name, double value) {
  size_t used = strlen(world.noted);
  (void)argument;
  (void)snprintf(world.noted + used, sizeof world.noted - used, "%s %g, ", name, value);
}

/* Look up the architecture of a depth. */
static void look(int depth) {
  tutti_genotype *genotype;
  tutti_candidate *candidate;
  double point = depth;
  TOY_OK(&world.toy, tutti_space_from_point(world.toy.context, world.toy.space, &point, &genotype));
  TOY_OK(&world.toy, tutti_scope_candidate(world.toy.context, world.toy.scope, genotype, NULL, 3, &candidate));
  struct tutti_job job = {.size = sizeof job, .task = &world.toy.task, .candidate = candidate, .measure = note};
  world.outcome = (struct tutti_outcome){.size = sizeof world.outcome};
  world.noted[0] = '\0';
  TOY_OK(&world.toy, tutti_backend_check(world.toy.context, world.backend, &job));
  TOY_OK(&world.toy, tutti_backend_train(world.toy.context, world.backend, &job, &world.outcome));
  tutti_candidate_unref(candidate);
  tutti_genotype_unref(genotype);
}

static void looks_up_and_notes(void **state) {
  (void)state;
  toy_set(&world.toy, "backend", "metrics", "test  time");
  for (int zipped = 0; zipped < 2; zipped++) {
    if (zipped)
      put_gz(tiny, 0);
    made();
    look(1);
    assert_int_equal(world.outcome.state, TUTTI_STATE_FINISHED);
    assert_true(world.outcome.value == 90.5);
    assert_string_equal(world.noted, "valid 90.5, test 88, time 12, ");
    look(2); /* its time is not known */
    assert_true(world.outcome.value == 70);
    assert_string_equal(world.noted, "valid 70, test 71.25, ");
  }
}

static void maximises(void **state) {
  (void)state;
  toy_set(&world.toy, "backend", "goal", "maximise");
  made();
  look(1);
  assert_true(world.outcome.value == -90.5);
  toy_set(&world.toy, "backend", "ceiling", "100");
  made();
  look(1);
  assert_true(world.outcome.value == 9.5);
  assert_string_equal(world.noted, "valid 90.5, ");
}

/* The failure names the architecture and the file, and the line where there is one. */
static void failed_trials(void **state) {
  char expected[256];
  (void)state;
  made();
  look(3);
  assert_int_equal(world.outcome.state, TUTTI_STATE_FAILED);
  (void)snprintf(expected, sizeof expected, "no entry for {\"depth\": 3} in column 'arch' of %s", world.path);
  assert_string_equal(world.outcome.failure, expected);
  assert_string_equal(world.noted, "");
  look(4);
  assert_int_equal(world.outcome.state, TUTTI_STATE_FAILED);
  (void)snprintf(expected, sizeof expected, "the entry of {\"depth\": 4} has no 'valid': %s:4", world.path);
  assert_string_equal(world.outcome.failure, expected);
}

static void tables_that_are_refused(void **state) {
  (void)state;
  put("arch,test\na,1\n");
  refused("1: ", "expected a column 'valid', which [backend] objective names; the columns are: arch, test");
  put("name,valid\na,1\n");
  refused("1: ", "expected a column 'arch', which [backend] key names");
  put("arch,valid,tset\na,1,2\n");
  toy_set(&world.toy, "backend", "metrics", "test");
  refused("1: ", "which [backend] metrics names; the columns are: arch, valid, tset; did you mean 'tset'?");
  toy_set(&world.toy, "backend", "metrics", "");
  put("arch,valid\na,1\n\nb,2\nc,3\na,4\n");
  refused("6: ", "column 'arch' has 'a' again, which is also in line 2");
  put("arch,valid\na,1\nb,good\n");
  refused("3: ", "column 'valid': expected a number, found 'good'");
  put("arch,valid\na,1\n,2\n");
  refused("3: ", "expected the name of an architecture, found nothing");
  put("arch,valid\na,1\n7,2\n");
  refused("3: ", "expected the name of an architecture, found a number");
  put("arch,valid\na,1\nb\n");
  refused("3: ", "expected 2 cells");
  put("arch,valid\n");
  refused(" ", "found a header alone");
  (void)unlink(world.path);
  refused(" ", "cannot open");
}

/* A compressed file that breaks off says where, even in the middle of a row. */
static void torn_tables(void **state) {
  enum { ROWS = 5000 };
  char *text = malloc(ROWS * 32), *at = text;
  (void)state;
  assert_non_null(text);
  at += sprintf(at, "arch,valid\n");
  for (unsigned i = 0; i < ROWS; i++)
    at += sprintf(at, "cell%u,%u\n", i, i * 2654435761u);
  put_gz(text, 0);
  made();
  put_gz(text, 2000);
  refused("", "torn: the compressed file breaks off here");
  free(text);
}

static void takes_no_data(void **state) {
  (void)state;
  struct tutti_task task = {.size = sizeof task, .kind = TUTTI_TASK_REGRESSION, .outputs = 1};
  struct tutti_backend_setup setup = {.size = sizeof setup, .host = world.toy.host, .task = &task};
  assert_int_equal(tutti_backend_create(world.toy.context, world.toy.host, "backend", &setup, &world.backend),
                   TUTTI_ERROR_USAGE);
  made();
  struct tutti_job job = {.size = sizeof job, .task = &world.toy.task};
  assert_int_equal(tutti_backend_check(world.toy.context, world.backend, &job), TUTTI_ERROR_USAGE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(looks_up_and_notes, begin, end),
      cmocka_unit_test_setup_teardown(maximises, begin, end),
      cmocka_unit_test_setup_teardown(failed_trials, begin, end),
      cmocka_unit_test_setup_teardown(tables_that_are_refused, begin, end),
      cmocka_unit_test_setup_teardown(torn_tables, begin, end),
      cmocka_unit_test_setup_teardown(takes_no_data, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
