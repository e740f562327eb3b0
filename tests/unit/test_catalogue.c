/* test_catalogue.c - recorded data are read back; data that were not committed are gone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include "engine/run/catalogue_write.h"
#include <unistd.h>

/* SQLite's calls come here, too. */
static size_t syncs;
__attribute__((visibility("default"))) int fsync(int file) {
  syncs++;
  return (int)syscall(SYS_fsync, file);
}
__attribute__((visibility("default"))) int fdatasync(int file) {
  syncs++;
  return (int)syscall(SYS_fdatasync, file);
}

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
                             .report = "{}",
                             .at = 12.5};
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
  assert_true(seen.last.at == 12.5);
  /* A visitor's status ends the visit and is passed on. */
  seen = (struct seen){.stop_after = 1};
  assert_int_equal(tutti_catalogue_visit(context, catalogue, see, &seen), TUTTI_ERROR_CANCELLED);
  assert_int_equal(seen.count, 1);
  assert_true(!seen.last.done && seen.last.told == TUTTI_NO_TRIAL && seen.last.parent == TUTTI_NO_TRIAL);
  assert_true(isnan(seen.last.at));
  tutti_catalogue_close(catalogue);
}

/* Each of them, and not the first alone, which begins SQLite's log. */
static void every_commit_is_synced(void **state) {
  tutti_catalogue *catalogue;
  char other[80];
  (void)state;
  (void)snprintf(other, sizeof other, "%s/synced.sqlite", folder);
  assert_int_equal(tutti_catalogue_open(context, other, true, &catalogue), TUTTI_OK);
  for (uint64_t trial = 0; trial < 4; trial++) {
    assert_int_equal(tutti_catalogue_begin(context, catalogue), TUTTI_OK);
    ask(catalogue, trial, TUTTI_NO_TRIAL);
    syncs = 0;
    assert_int_equal(tutti_catalogue_commit(context, catalogue), TUTTI_OK);
    assert_true(syncs > 0);
  }
  tutti_catalogue_close(catalogue);
  assert_int_equal(unlink(other), 0);
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

/* A quota or a limit on files ends a commit with an errno of its own, which SQLite calls an I/O error. */
static void a_full_disk_is_told_apart(void **state) {
  enum { TRIALS = 400, ROOM = 60000 };
  char file[96];
  static char report[4096];
  tutti_catalogue *catalogue;
  struct rlimit before, small;
  enum tutti_status status = TUTTI_OK;
  (void)state;
  (void)snprintf(file, sizeof file, "%s/full.sqlite", folder);
  memset(report, 'x', sizeof report - 1);
  assert_int_equal(tutti_catalogue_open(context, file, true, &catalogue), TUTTI_OK);
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
  small = (struct rlimit){ROOM, before.rlim_max};
  void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  for (uint64_t i = 0; i < TRIALS && status == TUTTI_OK; i++) {
    struct tutti_trial trial = {
        .size = sizeof trial, .number = i, .candidate = report, .parent = TUTTI_NO_TRIAL, .origin = "random"};
    status = tutti_catalogue_begin(context, catalogue);
    if (status == TUTTI_OK)
      status = tutti_catalogue_asked(context, catalogue, &trial);
    if (status == TUTTI_OK)
      status = tutti_catalogue_commit(context, catalogue);
  }
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
  (void)signal(SIGXFSZ, handler);
  assert_int_equal(status, TUTTI_ERROR_FULL);
  assert_non_null(strstr(tutti_error_message(context), "make room"));
  tutti_catalogue_close(catalogue);
  assert_int_equal(unlink(file), 0);
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

/* Runs from before times, and checksums, were recorded can be read. */
static void times_may_be_absent(void **state) {
  sqlite3 *database;
  tutti_catalogue *catalogue;
  struct seen seen = {0};
  (void)state;
  assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
  assert_int_equal(sqlite3_exec(database, "DROP TABLE times; DROP TABLE sums; DROP TABLE fact_sums", NULL, NULL, NULL),
                   SQLITE_OK);
  assert_int_equal(sqlite3_close(database), SQLITE_OK);
  assert_int_equal(tutti_catalogue_open(context, path, false, &catalogue), TUTTI_OK);
  assert_int_equal(tutti_catalogue_visit(context, catalogue, see, &seen), TUTTI_OK);
  assert_true(seen.count == 2 && seen.last.done && seen.last.worker == 7 && isnan(seen.last.at));
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

/* --- catalogues of others --- */

/* Make a catalogue with these statements run on it. */
static void make(const char *file, const char *statements) {
  tutti_catalogue *catalogue;
  sqlite3 *database;
  char *message = NULL;
  (void)unlink(file);
  assert_int_equal(tutti_catalogue_open(context, file, true, &catalogue), TUTTI_OK);
  assert_int_equal(tutti_catalogue_set(context, catalogue, "key", "text"), TUTTI_OK);
  ask(catalogue, 0, TUTTI_NO_TRIAL);
  tutti_catalogue_close(catalogue);
  assert_int_equal(sqlite3_open(file, &database), SQLITE_OK);
  if (sqlite3_exec(database, statements, NULL, NULL, &message) != SQLITE_OK)
    fail_msg("%s: %s", statements, message);
  assert_int_equal(sqlite3_close(database), SQLITE_OK);
}

static enum tutti_status count(void *argument, const struct tutti_trial *trial) {
  (void)trial;
  ++*(size_t *)argument;
  return TUTTI_OK;
}

static enum tutti_status read_all(const char *file, bool write, size_t *rows) {
  tutti_catalogue *catalogue;
  char *text = NULL;
  *rows = 0;
  enum tutti_status status = tutti_catalogue_open(context, file, write, &catalogue);
  if (status != TUTTI_OK)
    return status;
  status = tutti_catalogue_visit(context, catalogue, count, rows);
  if (status == TUTTI_OK)
    status = tutti_catalogue_get(context, catalogue, "key", &text);
  tutti_free(text);
  tutti_catalogue_close(catalogue);
  return status;
}

static void only_its_own_tables_are_read(void **state) {
  static const struct {
    const char *statements, *expected;
  } wrong[] = {
      {"ALTER TABLE trials RENAME TO other; CREATE VIEW trials AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i "
       "+ 1 "
       "FROM n) SELECT i AS number, '{}' AS candidate, NULL AS parent, '' AS origin, 0 AS asked_after, NULL AS state, "
       "NULL AS loss, NULL AS told, 0 AS seconds, 0 AS worker, '' AS failure, '' AS report FROM n",
       "trials"},
      {"ALTER TABLE facts RENAME TO other; CREATE VIEW facts AS SELECT 'key' AS key, value FROM other", "facts"},
      {"DROP TABLE times; CREATE VIEW times AS SELECT number, 1e9 AS at FROM trials", "times"},
      {"CREATE TRIGGER t AFTER UPDATE ON trials BEGIN DELETE FROM trials; END", "trigger"},
      {"CREATE INDEX i ON trials (abs(loss))", "index"},
      {"ALTER TABLE trials ADD COLUMN more INTEGER GENERATED ALWAYS AS (abs(number)) VIRTUAL", "trials"},
  };
  char file[80];
  size_t rows;
  (void)state;
  (void)snprintf(file, sizeof file, "%s/theirs", folder);
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    make(file, wrong[i].statements);
    for (int write = 0; write < 2; write++) {
      if (read_all(file, write, &rows) != TUTTI_ERROR_CORRUPT)
        fail_msg("expected that this is refused: %s", wrong[i].statements);
      assert_non_null(strstr(tutti_error_message(context), file));
      assert_non_null(strstr(tutti_error_message(context), wrong[i].expected));
    }
  }
  /* Other tables are nobody's business, and what SQLite itself adds. */
  make(file, "CREATE TABLE mine (x); CREATE VIEW best AS SELECT * FROM trials; ANALYZE");
  assert_int_equal(read_all(file, false, &rows), TUTTI_OK);
  assert_int_equal(rows, 1);
  assert_int_equal(unlink(file), 0);
}

/* Statements that change values behind the back of the schema. */
#define CHANGE(columns, change, table)                                                                                 \
  "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '') WHERE name = '" table     \
  "'; PRAGMA writable_schema = RESET; UPDATE " table " SET " columns " = " change                                      \
  "; PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(replace(replace(replace(sql, 'value TEXT', "  \
  "'value TEXT NOT NULL'), 'candidate TEXT', 'candidate TEXT NOT NULL'), 'origin TEXT', 'origin TEXT NOT NULL'), "     \
  "'asked_after INTEGER', 'asked_after INTEGER NOT NULL') WHERE name = '" table "'"

static void rows_are_checked(void **state) {
  static const struct {
    const char *statements, *expected;
  } wrong[] = {
      {CHANGE("value", "NULL", "facts"), "'key'"},
      {CHANGE("candidate", "NULL", "trials"), "candidate"},
      {CHANGE("origin", "NULL", "trials"), "origin"},
      {CHANGE("asked_after", "NULL", "trials"), "asked_after"},
      {"UPDATE trials SET candidate = x'00ff'", "candidate"},
      {"UPDATE trials SET origin = CAST(x'c328' AS TEXT)", "origin"},
      {"UPDATE trials SET asked_after = -1", "asked_after"},
      {"UPDATE trials SET asked_after = 'x'", "asked_after"},
      {"UPDATE trials SET number = -4", "number"},
      {"UPDATE trials SET parent = -1", "parent"},
      {"UPDATE trials SET told = -1", "told"},
      {"UPDATE trials SET state = 'odd'", "state"},
      {"UPDATE trials SET state = 'finished', report = '{}'", "loss"},
      {"UPDATE trials SET state = 'finished', report = '{}', loss = 9e999", "loss"},
      {"UPDATE trials SET state = 'finished', loss = 1", "report"},
      {"UPDATE trials SET state = 'finished', loss = 1, report = '{}', seconds = 9e999", "seconds"},
      {"UPDATE trials SET state = 'failed', report = '{}', failure = x'ff'", "failure"},
      {"INSERT INTO times VALUES (0, 9e999)", "at"},
      {"INSERT INTO times VALUES (0, 'late')", "at"},
  };
  char file[80];
  size_t rows;
  (void)state;
  (void)snprintf(file, sizeof file, "%s/theirs", folder);
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    make(file, wrong[i].statements);
    if (read_all(file, false, &rows) != TUTTI_ERROR_CORRUPT)
      fail_msg("expected that this is refused: %s", wrong[i].statements);
    assert_non_null(strstr(tutti_error_message(context), file));
    if (!strstr(tutti_error_message(context), wrong[i].expected))
      fail_msg("'%s' lacks '%s'", tutti_error_message(context), wrong[i].expected);
  }
  assert_int_equal(unlink(file), 0);
}

/* --- checksums --- */

/* A catalogue with a trial that was asked for, done, told and timed, one that failed, one that was only asked for,
   and a fact. */
static void make_whole(const char *file) {
  tutti_catalogue *catalogue;
  (void)unlink(file);
  assert_int_equal(tutti_catalogue_open(context, file, true, &catalogue), TUTTI_OK);
  assert_int_equal(tutti_catalogue_set(context, catalogue, "key", "text"), TUTTI_OK);
  for (uint64_t number = 0; number < 3; number++)
    ask(catalogue, number, number ? number - 1 : TUTTI_NO_TRIAL);
  for (uint64_t number = 0; number < 2; number++) {
    const struct tutti_trial result = {.size = sizeof result,
                                       .number = number,
                                       .state = number ? TUTTI_STATE_FAILED : TUTTI_STATE_FINISHED,
                                       .loss = number ? NAN : -0.0,
                                       .seconds = 0.125,
                                       .worker = 1,
                                       .failure = number ? "it failed" : "",
                                       .report = "{\"epochs\": 3}",
                                       .at = 4.5};
    assert_int_equal(tutti_catalogue_done(context, catalogue, &result), TUTTI_OK);
    assert_int_equal(tutti_catalogue_told(context, catalogue, number, number), TUTTI_OK);
  }
  tutti_catalogue_close(catalogue);
}

static void change(const char *file, const char *statements) {
  sqlite3 *database;
  assert_int_equal(sqlite3_open(file, &database), SQLITE_OK);
  if (sqlite3_exec(database, statements, NULL, NULL, NULL) != SQLITE_OK)
    fail_msg("%s: %s", statements, sqlite3_errmsg(database));
  assert_int_equal(sqlite3_close(database), SQLITE_OK);
}

/* All that a catalogue says. */
struct said {
  char text[4096];
  size_t length;
};

static enum tutti_status say(void *argument, const struct tutti_trial *trial) {
  struct said *said = argument;
  int length = snprintf(said->text + said->length, sizeof said->text - said->length,
                        "%lld %s %lld %s %lld %d %d %a %lld %a %u %s %s %a\n", (long long)trial->number,
                        trial->candidate, (long long)trial->parent, trial->origin, (long long)trial->asked_after,
                        trial->done, trial->done ? (int)trial->state : 0, trial->loss, (long long)trial->told,
                        trial->seconds, trial->worker, trial->failure, trial->report, trial->at);
  assert_true(length > 0 && said->length + (size_t)length < sizeof said->text);
  said->length += (size_t)length;
  return TUTTI_OK;
}

static enum tutti_status hear(const char *file, bool write, struct said *said) {
  tutti_catalogue *catalogue;
  char *text = NULL;
  *said = (struct said){.length = 0};
  enum tutti_status status = tutti_catalogue_open(context, file, write, &catalogue);
  if (status == TUTTI_OK)
    status = tutti_catalogue_visit(context, catalogue, say, said);
  if (status == TUTTI_OK)
    status = tutti_catalogue_get(context, catalogue, "key", &text);
  (void)snprintf(said->text + said->length, sizeof said->text - said->length, "key = %s", text ? text : "none");
  tutti_free(text);
  tutti_catalogue_close(catalogue);
  return status;
}

static void every_column_has_a_checksum(void **state) {
  static const struct {
    const char *statements, *expected;
  } changes[] = {
      {"UPDATE trials SET candidate = candidate || ' ' WHERE number = 1", "trial 1: its candidate"},
      {"UPDATE trials SET parent = NULL WHERE number = 2", "trial 2: its candidate, parent"},
      {"UPDATE trials SET origin = 'else' WHERE number = 0", "trial 0: its candidate, parent, origin"},
      {"UPDATE trials SET asked_after = asked_after + 1 WHERE number = 2", "trial 2: its candidate, parent, origin"},
      {"UPDATE trials SET state = 'pruned' WHERE number = 1", "trial 1: its state"},
      {"UPDATE trials SET loss = 1e-300 WHERE number = 0", "trial 0: its state, loss"},
      {"UPDATE trials SET seconds = 0.25 WHERE number = 0", "trial 0: its state, loss, seconds"},
      {"UPDATE trials SET worker = 0 WHERE number = 0", "trial 0: its state, loss, seconds, worker"},
      {"UPDATE trials SET failure = '' WHERE number = 1", "trial 1: its state, loss, seconds, worker, failure"},
      {"UPDATE trials SET report = '{}' WHERE number = 0", "trial 0: its state, loss, seconds, worker, failure or rep"},
      {"UPDATE trials SET told = 1 - told WHERE number < 2", "trial 0: its place"},
      {"UPDATE trials SET told = NULL WHERE number = 1", "trial 1: its place"},
      {"UPDATE trials SET state = NULL WHERE number = 1", "trial 1: its state"},
      {"UPDATE times SET at = 5 WHERE number = 1", "trial 1: the time"},
      {"DELETE FROM times WHERE number = 1", "trial 1: the time"},
      {"DELETE FROM sums WHERE number = 2", "trial 2: its candidate"},
      {"UPDATE facts SET value = 'Text'", "the fact 'key'"},
      {"DELETE FROM facts", "the fact 'key'"},
      {"DELETE FROM fact_sums", "the fact 'key'"},
      {"DROP TABLE fact_sums", "'sums' and 'fact_sums'"},
  };
  char file[80];
  struct said said;
  (void)state;
  (void)snprintf(file, sizeof file, "%s/theirs", folder);
  for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++)
    for (int write = 0; write < 2; write++) {
      make_whole(file);
      assert_int_equal(hear(file, write, &said), TUTTI_OK);
      change(file, changes[i].statements);
      if (hear(file, write, &said) != TUTTI_ERROR_CORRUPT)
        fail_msg("expected that this is noticed: %s", changes[i].statements);
      assert_non_null(strstr(tutti_error_message(context), file));
      if (!strstr(tutti_error_message(context), changes[i].expected))
        fail_msg("'%s' lacks '%s'", tutti_error_message(context), changes[i].expected);
    }
  assert_int_equal(unlink(file), 0);
}

/* Wherever a bit of the file changes, what is read is what was written, or there is an error. */
static void every_bit_is_checked(void **state) {
  enum { STEP = 5 };
  char file[80];
  unsigned char bytes[1 << 16];
  struct said before, after;
  (void)state;
  (void)snprintf(file, sizeof file, "%s/theirs", folder);
  make_whole(file);
  assert_int_equal(hear(file, false, &before), TUTTI_OK);
  FILE *stream = fopen(file, "rb+");
  assert_non_null(stream);
  setbuf(stream, NULL);
  size_t count = fread(bytes, 1, sizeof bytes, stream), noticed = 0;
  assert_true(count > 4096 && count < sizeof bytes);
  for (size_t i = 0; i < count; i += bytes[i] ? 1 : STEP) { /* most are zeros that nobody reads */
    unsigned char byte = bytes[i] ^ (unsigned char)(1u << i % 8);
    assert_true(fseek(stream, (long)i, SEEK_SET) == 0 && fputc(byte, stream) != EOF);
    if (hear(file, false, &after) != TUTTI_OK)
      noticed++;
    else if (strcmp(before.text, after.text) != 0)
      fail_msg("byte %zu, %#x instead of %#x: found\n%s\nexpected\n%s", i, byte, bytes[i], after.text, before.text);
    assert_true(fseek(stream, (long)i, SEEK_SET) == 0 && fputc(bytes[i], stream) != EOF);
  }
  assert_int_equal(fclose(stream), 0);
  assert_true(noticed > 500);
  assert_int_equal(hear(file, false, &after), TUTTI_OK);
  assert_int_equal(unlink(file), 0);
}

/* A run from before there were checksums is read as it is; whoever goes on with it adds them. */
static void checksums_are_added(void **state) {
  char file[80];
  struct said before, after;
  (void)state;
  (void)snprintf(file, sizeof file, "%s/theirs", folder);
  make_whole(file);
  assert_int_equal(hear(file, false, &before), TUTTI_OK);
  change(file, "DROP TABLE sums; DROP TABLE fact_sums");
  for (int write = 0; write < 2; write++) {
    assert_int_equal(hear(file, write, &after), TUTTI_OK);
    assert_string_equal(after.text, before.text);
  }
  assert_int_equal(hear(file, false, &after), TUTTI_OK);
  change(file, "UPDATE trials SET loss = 2 WHERE number = 0");
  assert_int_equal(hear(file, false, &after), TUTTI_ERROR_CORRUPT);
  assert_int_equal(unlink(file), 0);
}

static void reading_can_be_cancelled(void **state) {
  char file[80];
  size_t rows;
  tutti_context *own = context;
  (void)state;
  (void)snprintf(file, sizeof file, "%s/theirs", folder);
  make(file, "DROP TABLE sums; DROP TABLE fact_sums; "
             "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000) INSERT INTO trials (number, "
             "candidate, origin, asked_after) SELECT i, '{}', '', 0 FROM n");
  assert_int_equal(read_all(file, false, &rows), TUTTI_OK);
  assert_int_equal(rows, 20001);
  assert_int_equal(tutti_context_create(&context), TUTTI_OK);
  tutti_cancel(context);
  assert_int_equal(read_all(file, false, &rows), TUTTI_ERROR_CANCELLED);
  assert_true(rows < 20001);
  tutti_context_destroy(context);
  context = own;
  assert_int_equal(unlink(file), 0);
  /* A pipe is not waited for. */
  assert_int_equal(mkfifo(file, 0600), 0);
  assert_int_equal(read_all(file, false, &rows), TUTTI_ERROR_IO);
  assert_int_equal(read_all(file, true, &rows), TUTTI_ERROR_IO);
  assert_int_equal(unlink(file), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_committed_is_read_back),
      cmocka_unit_test(every_commit_is_synced),
      cmocka_unit_test(what_is_not_committed_is_gone),
      cmocka_unit_test(failures_have_no_loss),
      cmocka_unit_test(a_full_disk_is_told_apart),
      cmocka_unit_test(facts_are_kept_by_key),
      cmocka_unit_test(times_may_be_absent),
      cmocka_unit_test(what_is_no_catalogue_is_refused),
      cmocka_unit_test(states_have_names),
      cmocka_unit_test(only_its_own_tables_are_read),
      cmocka_unit_test(rows_are_checked),
      cmocka_unit_test(every_column_has_a_checksum),
      cmocka_unit_test(every_bit_is_checked),
      cmocka_unit_test(checksums_are_added),
      cmocka_unit_test(reading_can_be_cancelled),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
