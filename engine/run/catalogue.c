/* catalogue.c - the run's record in SQLite. */
#include "catalogue_impl.h"
#include "catalogue_write.h"
#include "run_files.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <tutti/sized.h>

static const char *const sql[STATEMENTS] = {
    [BEGIN] = "BEGIN IMMEDIATE",
    [COMMIT] = "COMMIT",
    [ROLLBACK] = "ROLLBACK",
    [ASKED] = "INSERT INTO trials (number, candidate, parent, origin, asked_after) VALUES (?, ?, ?, ?, ?)",
    [DONE] = ("UPDATE trials SET state = ?2, loss = ?3, seconds = ?4, worker = ?5, failure = ?6, report = ?7 "
              "WHERE number = ?1"),
    [AT] = "INSERT INTO times (number, at) VALUES (?, ?) ON CONFLICT (number) DO UPDATE SET at = excluded.at",
    [TOLD] = "UPDATE trials SET told = ?2 WHERE number = ?1",
    [SET] = "INSERT INTO facts (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    [SUM + TUTTI_SUM_ASKED] = "INSERT INTO sums (number, asked) VALUES (?, ?)",
    [SUM + TUTTI_SUM_DONE] = "UPDATE sums SET done = ?2 WHERE number = ?1",
    [SUM + TUTTI_SUM_TOLD] = "UPDATE sums SET told = ?2 WHERE number = ?1",
    [SUM + TUTTI_SUM_AT] = "UPDATE sums SET at = ?2 WHERE number = ?1",
    [SUM_OF_FACT] = "INSERT INTO fact_sums (key, sum) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET sum = excluded.sum",
    [GET] = "SELECT (SELECT value FROM facts WHERE key = ?1), (SELECT sum FROM fact_sums WHERE key = ?1)",
    [VISIT] =
        ("SELECT trials.number, candidate, parent, origin, asked_after, state, loss, trials.told, seconds, worker, "
         "failure, report, times.at, sums.asked, sums.done, sums.told, sums.at FROM trials "
         "LEFT JOIN times USING (number) LEFT JOIN sums USING (number) ORDER BY trials.number"),
};

/* In their place, for runs from before there were checksums. */
static const char get_without_sums[] = "SELECT value, NULL FROM facts WHERE key = ?";
static const char visit_without_sums[] =
    "SELECT number, candidate, parent, origin, asked_after, state, loss, told, seconds, worker, failure, report, at, "
    "NULL, NULL, NULL, NULL FROM trials LEFT JOIN times USING (number) ORDER BY number";
/* And from before there were times. */
static const char visit_without_times[] =
    "SELECT number, candidate, parent, origin, asked_after, state, loss, told, seconds, worker, failure, report, NULL, "
    "NULL, NULL, NULL, NULL FROM trials ORDER BY number";

/* The tables, as SQLite's own record of them says after "CREATE TABLE". */
static const struct {
  const char *name, *definition;
} tables[] = {
    {"facts", "facts (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID"},
    {"trials", "trials ("
               " number INTEGER PRIMARY KEY,"   /* from 0 */
               " candidate TEXT NOT NULL,"      /* JSON */
               " parent INTEGER,"               /* number of the trial it descends from */
               " origin TEXT NOT NULL,"         /* why the builder proposed it */
               " asked_after INTEGER NOT NULL," /* results told before it was asked for */
               " state TEXT,"                   /* finished, failed, pruned; NULL: no result yet */
               " loss REAL,"                    /* what the builder minimises */
               " told INTEGER,"                 /* place in the order of telling */
               " seconds REAL, worker INTEGER, failure TEXT, report TEXT)"},
    {"times", "times (number INTEGER PRIMARY KEY, at REAL NOT NULL)"}, /* the run's work until a result came */
    /* Checksums of the parts of each trial, and of the facts (catalogue_sums.h). */
    {"sums", "sums (number INTEGER PRIMARY KEY, asked INTEGER NOT NULL, done INTEGER, told INTEGER, at INTEGER)"},
    {"fact_sums", "fact_sums (key TEXT PRIMARY KEY, sum INTEGER NOT NULL) WITHOUT ROWID"},
};
enum { TABLES = sizeof tables / sizeof tables[0] };

const char *tutti_catalogue_journal_mode(const char *folder) {
  /* WAL needs memory shared between processes, which these file systems do not provide (magic numbers of statfs(2)). */
  static const unsigned network[] = {0x6969 /* nfs */,       0xFF534D42u /* cifs */,
                                     0xFE534D42u /* smb2 */, 0x517B /* smb */,
                                     0x01021997 /* 9p */,    0x0BD00BD0 /* lustre */,
                                     0x65735546 /* fuse */,  0x00C36400 /* ceph */,
                                     0x5346414F /* afs */,   0x47504653 /* gpfs */};
  struct statfs facts;
  if (statfs(folder, &facts) != 0)
    return "delete";
  for (size_t i = 0; i < sizeof network / sizeof network[0]; i++)
    if ((unsigned)facts.f_type == network[i])
      return "delete";
  return "wal";
}

/* A commit that fails leaves the system's reason in errno alone, where `step` has cleared it. */
static enum tutti_status fail(tutti_context *context, tutti_catalogue *catalogue, const char *doing) {
  int last = errno, code = sqlite3_extended_errcode(catalogue->database);
  enum tutti_status status = TUTTI_ERROR_IO;
  int system = sqlite3_system_errno(catalogue->database) ? sqlite3_system_errno(catalogue->database) : last;
  bool full = system == ENOSPC || system == EDQUOT || system == EFBIG;
  if ((code & 0xff) == SQLITE_FULL || ((code & 0xff) == SQLITE_IOERR && full))
    status = TUTTI_ERROR_FULL;
  else if ((code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB)
    status = TUTTI_ERROR_CORRUPT;
  else if ((code & 0xff) == SQLITE_NOMEM)
    status = TUTTI_ERROR_MEMORY;
  else if ((code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_LOCKED)
    status = TUTTI_ERROR_BUSY;
  else if ((code & 0xff) == SQLITE_INTERRUPT)
    status = TUTTI_ERROR_CANCELLED;
  if (status == TUTTI_ERROR_CORRUPT)
    return tutti_catalogue_damaged(context, catalogue, sqlite3_errmsg(catalogue->database));
  const char *file = sqlite3_db_filename(catalogue->database, "main");
  return TUTTI_FAIL(context, status, "%s: cannot %s: %s%s", file ? file : "catalogue", doing,
                    sqlite3_errmsg(catalogue->database),
                    status == TUTTI_ERROR_FULL ? "; make room and run again with --resume" : "");
}

/* --- opening: the file may be anybody's --- */

/* A process that was killed may have left a change half made, which has to be undone before anybody reads; who may only
   read cannot do that. If nobody can, what reads says so. */
static void undo_half_a_change(const char *path) {
  sqlite3 *writer = NULL;
  if (sqlite3_open_v2(path, &writer, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK) {
    (void)sqlite3_busy_timeout(writer, 5000);
    (void)sqlite3_exec(writer, "PRAGMA schema_version", NULL, NULL, NULL);
  }
  (void)sqlite3_close(writer);
}

static enum tutti_status open_database(tutti_context *context, const char *path, tutti_catalogue *catalogue) {
  struct stat facts;
  int flags = catalogue->write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  if (stat(path, &facts) == 0 && !S_ISREG(facts.st_mode))
    return TUTTI_FAIL(context, TUTTI_ERROR_IO, "%s: expected a regular file", path);
  if (sqlite3_open_v2(path, &catalogue->database, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
    return TUTTI_FAIL(context, TUTTI_ERROR_IO, "%s: cannot open the catalogue: %s", path,
                      catalogue->database ? sqlite3_errmsg(catalogue->database) : "out of memory");
  (void)sqlite3_busy_timeout(catalogue->database, 5000);
  if (!catalogue->write &&
      (sqlite3_exec(catalogue->database, "PRAGMA schema_version", NULL, NULL, NULL) & 0xff) == SQLITE_READONLY)
    undo_half_a_change(path);
  return TUTTI_OK;
}

/* Nothing in the file runs: no views, no triggers, no functions in its schema except harmless ones. */
static enum tutti_status restrain(tutti_context *context, tutti_catalogue *catalogue) {
  static const struct {
    int option, value;
  } settings[] = {{SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                  {SQLITE_DBCONFIG_DEFENSIVE, 1},
                  {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                  {SQLITE_DBCONFIG_ENABLE_VIEW, 0}};
  for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
    if (sqlite3_db_config(catalogue->database, settings[i].option, settings[i].value, NULL) != SQLITE_OK)
      return fail(context, catalogue, "be opened safely");
  if (sqlite3_exec(catalogue->database, "PRAGMA cell_size_check = ON", NULL, NULL, NULL) != SQLITE_OK)
    return fail(context, catalogue, "be opened safely");
  return TUTTI_OK;
}

/* Is an entry of the schema as we made it: one of the tables, or an index that SQLite made for it? */
static bool is_ours(const char *type, const char *name, const char *definition) {
  static const char create[] = "CREATE TABLE ";
  if (strcmp(type, "index") == 0)
    return !*definition;
  for (size_t i = 0; i < TABLES; i++)
    if (strcmp(type, "table") == 0 && strcmp(name, tables[i].name) == 0)
      return strncmp(definition, create, sizeof create - 1) == 0 &&
             strcmp(definition + sizeof create - 1, tables[i].definition) == 0;
  return false;
}

/* What stands behind the names of our tables has to be just these tables. Other tables are of no concern. */
static enum tutti_status check_schema(tutti_context *context, tutti_catalogue *catalogue) {
  static const char query[] = "SELECT type, name, tbl_name, sql FROM sqlite_master "
                              "WHERE lower(tbl_name) IN ('facts', 'trials', 'times', 'sums', 'fact_sums') "
                              "OR lower(name) IN ('facts', 'trials', 'times', 'sums', 'fact_sums')";
  enum tutti_status status = TUTTI_OK;
  sqlite3_stmt *statement = NULL;
  int result = sqlite3_prepare_v2(catalogue->database, query, -1, &statement, NULL);
  while (result == SQLITE_OK || result == SQLITE_ROW) {
    result = sqlite3_step(statement);
    const char *type = tutti_column_text(statement, 0), *name = tutti_column_text(statement, 1);
    if (result != SQLITE_ROW || is_ours(type, name, tutti_column_text(statement, 3)))
      continue;
    status = tutti_catalogue_refuse(context, catalogue,
                                    "expected the table '%.60s' of a catalogue, found a %.60s '%.60s' that differs",
                                    tutti_column_text(statement, 2), type, name);
    break;
  }
  if (status == TUTTI_OK && result != SQLITE_DONE)
    status = fail(context, catalogue, "read its tables");
  (void)sqlite3_finalize(statement);
  return status;
}

/* Can these be read? */
static bool has(const tutti_catalogue *catalogue, const char *query) {
  sqlite3_stmt *statement = NULL;
  bool found = sqlite3_prepare_v2(catalogue->database, query, -1, &statement, NULL) == SQLITE_OK;
  (void)sqlite3_finalize(statement);
  return found;
}

static enum tutti_status find_sums(tutti_context *context, tutti_catalogue *catalogue) {
  bool others = has(catalogue, "SELECT key FROM fact_sums");
  catalogue->sums = has(catalogue, "SELECT number FROM sums");
  if (catalogue->sums == others)
    return TUTTI_OK;
  return tutti_catalogue_refuse(context, catalogue, "expected the tables 'sums' and 'fact_sums', or neither of them");
}

/* Every catalogue has these two. In a file without them a run begins, unless there are trials or a result already. */
static enum tutti_status check_begun(tutti_context *context, const tutti_catalogue *catalogue, const char *path) {
  char *folder;
  if (has(catalogue, "SELECT key FROM facts") && has(catalogue, "SELECT number FROM trials"))
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_strdup(context, path, &folder));
  char *slash = strrchr(folder, '/');
  if (slash)
    *slash = '\0';
  const char *directory = slash ? folder : ".";
  const bool begun = tutti_run_file_is_there(directory, TUTTI_RUN_FILE_TRIALS) ||
                     tutti_run_file_is_there(directory, TUTTI_RUN_FILE_SUMMARY);
  tutti_free(folder);
  if (begun)
    return tutti_catalogue_damaged(context, catalogue, "its tables are not");
  if (catalogue->write)
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT,
                    "%s: it has no tables yet: the run has only just begun; look again, or begin it anew with --resume",
                    path);
}

static const char *visit_of(const tutti_catalogue *catalogue) {
  return catalogue->sums                                  ? sql[VISIT]
         : has(catalogue, "SELECT number, at FROM times") ? visit_without_sums
                                                          : visit_without_times;
}

/* --- tables --- */

static enum tutti_status execute(tutti_context *context, tutti_catalogue *catalogue, const char *statements) {
  errno = 0;
  if (sqlite3_exec(catalogue->database, statements, NULL, NULL, NULL) == SQLITE_OK)
    return TUTTI_OK;
  return fail(context, catalogue, "prepare its tables");
}

static enum tutti_status make_table(tutti_context *context, tutti_catalogue *catalogue, const char *definition) {
  char *text;
  TUTTI_TRY(context, tutti_format(context, &text, "CREATE TABLE IF NOT EXISTS %s", definition));
  enum tutti_status status = execute(context, catalogue, text);
  tutti_free(text);
  return status;
}

/* One statement for every row of a query: `bind` fills it in. The query ends with the first failure. */
static enum tutti_status for_each(tutti_context *context, tutti_catalogue *catalogue, const char *query,
                                  enum tutti_status (*visit)(tutti_context *context, tutti_catalogue *catalogue,
                                                             sqlite3_stmt *row)) {
  enum tutti_status status = TUTTI_OK;
  sqlite3_stmt *rows = NULL;
  int result = sqlite3_prepare_v2(catalogue->database, query, -1, &rows, NULL);
  while (result == SQLITE_OK || result == SQLITE_ROW) {
    result = sqlite3_step(rows);
    if (result == SQLITE_ROW)
      status = visit(context, catalogue, rows);
    if (status != TUTTI_OK)
      break;
  }
  if (status == TUTTI_OK && result != SQLITE_DONE)
    status = fail(context, catalogue, "read its tables");
  (void)sqlite3_finalize(rows);
  return status;
}

/* Run a statement once, with a key and a number. */
static enum tutti_status record_sum(tutti_context *context, tutti_catalogue *catalogue, enum statement which,
                                    const uint64_t *number, const char *key, uint32_t sum) {
  sqlite3_stmt *statement = NULL;
  bool done = sqlite3_prepare_v2(catalogue->database, sql[which], -1, &statement, NULL) == SQLITE_OK &&
              (number ? sqlite3_bind_int64(statement, 1, (sqlite3_int64)*number)
                      : sqlite3_bind_text(statement, 1, key, -1, SQLITE_TRANSIENT)) == SQLITE_OK &&
              sqlite3_bind_int64(statement, 2, sum) == SQLITE_OK && sqlite3_step(statement) == SQLITE_DONE;
  enum tutti_status status = done ? TUTTI_OK : fail(context, catalogue, "record a checksum");
  (void)sqlite3_finalize(statement);
  return status;
}

static enum tutti_status add_sums_of_trial(tutti_context *context, tutti_catalogue *catalogue, sqlite3_stmt *row) {
  struct tutti_trial trial;
  TUTTI_TRY(context, tutti_catalogue_row(context, catalogue, row, &trial));
  for (enum tutti_sum part = 0; part < TUTTI_SUMS; part++)
    if (tutti_sum_there(&trial, part))
      TUTTI_TRY(context, record_sum(context, catalogue, SUM + (enum statement)part, &trial.number, NULL,
                                    tutti_sum_of(&trial, part)));
  return TUTTI_OK;
}

static enum tutti_status add_sum_of_fact(tutti_context *context, tutti_catalogue *catalogue, sqlite3_stmt *row) {
  return record_sum(context, catalogue, SUM_OF_FACT, NULL, tutti_column_text(row, 0),
                    tutti_sum_of_fact(tutti_column_text(row, 0), tutti_column_text(row, 1)));
}

/* For a run from before there were checksums: from now on, what is in it is what was recorded. */
static enum tutti_status add_sums(tutti_context *context, tutti_catalogue *catalogue) {
  TUTTI_TRY(context, for_each(context, catalogue, visit_without_sums, add_sums_of_trial));
  return for_each(context, catalogue, "SELECT key, value FROM facts", add_sum_of_fact);
}

static enum tutti_status make_tables(tutti_context *context, const char *path, tutti_catalogue *catalogue) {
  enum tutti_status status = TUTTI_OK;
  char *folder = NULL, *mode = NULL;
  TUTTI_TRY_OUT(context, tutti_strdup(context, path, &folder));
  char *slash = strrchr(folder, '/');
  if (slash)
    *slash = '\0';
  TUTTI_TRY_OUT(context, tutti_format(context, &mode, "PRAGMA journal_mode = %s; PRAGMA synchronous = FULL",
                                      tutti_catalogue_journal_mode(slash ? folder : ".")));
  TUTTI_TRY_OUT(context, execute(context, catalogue, mode));
  TUTTI_TRY_OUT(context, execute(context, catalogue, sql[BEGIN]));
  for (size_t i = 0; i < TABLES && status == TUTTI_OK; i++)
    status = make_table(context, catalogue, tables[i].definition);
  if (status == TUTTI_OK && !catalogue->sums)
    status = add_sums(context, catalogue);
  if (status == TUTTI_OK)
    status = execute(context, catalogue, sql[COMMIT]);
  if (status != TUTTI_OK && !sqlite3_get_autocommit(catalogue->database))
    (void)sqlite3_exec(catalogue->database, sql[ROLLBACK], NULL, NULL, NULL);
  catalogue->sums = status == TUTTI_OK;
out:
  tutti_free(folder);
  tutti_free(mode);
  return status;
}

static enum tutti_status prepare(tutti_context *context, tutti_catalogue *catalogue) {
  for (int i = catalogue->write ? 0 : GET; i < STATEMENTS; i++) {
    const char *text = i == VISIT ? visit_of(catalogue) : i == GET && !catalogue->sums ? get_without_sums : sql[i];
    if (sqlite3_prepare_v3(catalogue->database, text, -1, SQLITE_PREPARE_PERSISTENT, &catalogue->statements[i], NULL) !=
        SQLITE_OK)
      return fail(context, catalogue, "read its tables");
  }
  return TUTTI_OK;
}

/* Reading can be cancelled; writing is never cut off. */
static int on_steps(void *catalogue) { return tutti_cancelled(((tutti_catalogue *)catalogue)->context); }

static void let_cancel(tutti_catalogue *catalogue, bool on) {
  enum { STEPS = 1000 };
  sqlite3_progress_handler(catalogue->database, on ? STEPS : 0, on ? on_steps : NULL, catalogue);
}

enum tutti_status tutti_catalogue_open(tutti_context *context, const char *path, bool write, tutti_catalogue **out) {
  enum tutti_status status = TUTTI_OK;
  tutti_catalogue *catalogue = NULL;
  *out = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *catalogue, &catalogue));
  catalogue->context = context;
  catalogue->write = write;
  TUTTI_TRY_OUT(context, open_database(context, path, catalogue));
  TUTTI_TRY_OUT(context, restrain(context, catalogue));
  let_cancel(catalogue, true);
  TUTTI_TRY_OUT(context, check_schema(context, catalogue));
  let_cancel(catalogue, !write);
  TUTTI_TRY_OUT(context, check_begun(context, catalogue, path));
  TUTTI_TRY_OUT(context, find_sums(context, catalogue));
  if (write)
    TUTTI_TRY_OUT(context, make_tables(context, path, catalogue));
  TUTTI_TRY_OUT(context, prepare(context, catalogue));
  struct stat facts;
  if (write && stat(sqlite3_db_filename(catalogue->database, "main"), &facts) == 0) {
    catalogue->device = facts.st_dev;
    catalogue->inode = facts.st_ino;
  }
  *out = catalogue;
  catalogue = NULL;
out:
  tutti_catalogue_close(catalogue);
  return status;
}

void tutti_catalogue_close(tutti_catalogue *catalogue) {
  if (!catalogue)
    return;
  for (int i = 0; i < STATEMENTS; i++)
    (void)sqlite3_finalize(catalogue->statements[i]);
  /* When nobody uses it, the catalogue is one file, which may be copied and read anywhere. While someone reads it, it
     stays as it is. */
  if (catalogue->write)
    (void)sqlite3_exec(catalogue->database, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
  (void)sqlite3_close(catalogue->database);
  tutti_free(catalogue);
}

/* Run a statement that returns no rows, with the values bound to it. */
static enum tutti_status step(tutti_context *context, tutti_catalogue *catalogue, enum statement which,
                              const char *doing) {
  sqlite3_stmt *statement = catalogue->statements[which];
  enum tutti_status status = TUTTI_OK;
  errno = 0;
  if (sqlite3_step(statement) != SQLITE_DONE)
    status = fail(context, catalogue, doing);
  (void)sqlite3_reset(statement);
  (void)sqlite3_clear_bindings(statement);
  return status;
}

enum tutti_status tutti_catalogue_begin(tutti_context *context, tutti_catalogue *catalogue) {
  return step(context, catalogue, BEGIN, "begin a change");
}

/* SQLite goes on writing to a file that somebody deleted. What is in it is written again under its name, and the run
   ends. */
static enum tutti_status check_there(tutti_context *context, tutti_catalogue *catalogue) {
  struct stat facts;
  const char *path = sqlite3_db_filename(catalogue->database, "main");
  bool there = stat(path, &facts) == 0;
  if (there && facts.st_dev == catalogue->device && facts.st_ino == catalogue->inode)
    return TUTTI_OK;
  if (!there)
    TUTTI_TRY(context, tutti_catalogue_copy(context, catalogue, path));
  return TUTTI_FAIL(context, TUTTI_ERROR_IO, "%s was %s while the run was at work; %s", path,
                    there ? "replaced" : "deleted",
                    there ? "put back the file that was there, and go on with --resume"
                          : "it is written again as it was: go on with --resume");
}

enum tutti_status tutti_catalogue_commit(tutti_context *context, tutti_catalogue *catalogue) {
  enum tutti_status status = step(context, catalogue, COMMIT, "make a change durable");
  if (status != TUTTI_OK && !sqlite3_get_autocommit(catalogue->database))
    (void)sqlite3_exec(catalogue->database, "ROLLBACK", NULL, NULL, NULL);
  return status == TUTTI_OK ? check_there(context, catalogue) : status;
}

static void bind_number(sqlite3_stmt *statement, int place, uint64_t number) {
  if (number == TUTTI_NO_TRIAL)
    (void)sqlite3_bind_null(statement, place);
  else
    (void)sqlite3_bind_int64(statement, place, (sqlite3_int64)number);
}

static void bind_text(sqlite3_stmt *statement, int place, const char *text) {
  (void)sqlite3_bind_text(statement, place, text, -1, SQLITE_TRANSIENT);
}

/* Begin a change of several statements, unless the caller has begun one; and make it durable, or drop it. */
static enum tutti_status begin_own(tutti_context *context, tutti_catalogue *catalogue, bool *own) {
  *own = sqlite3_get_autocommit(catalogue->database) != 0;
  return *own ? tutti_catalogue_begin(context, catalogue) : TUTTI_OK;
}

static enum tutti_status end_own(tutti_context *context, tutti_catalogue *catalogue, bool own,
                                 enum tutti_status status) {
  if (own && status == TUTTI_OK)
    return tutti_catalogue_commit(context, catalogue);
  if (own && !sqlite3_get_autocommit(catalogue->database))
    (void)sqlite3_exec(catalogue->database, sql[ROLLBACK], NULL, NULL, NULL);
  return status;
}

static enum tutti_status step_sum(tutti_context *context, tutti_catalogue *catalogue, const struct tutti_trial *trial,
                                  enum tutti_sum part) {
  sqlite3_stmt *statement = catalogue->statements[SUM + (int)part];
  bind_number(statement, 1, trial->number);
  if (tutti_sum_there(trial, part))
    (void)sqlite3_bind_int64(statement, 2, tutti_sum_of(trial, part));
  return step(context, catalogue, SUM + (enum statement)part, "record a checksum");
}

static enum tutti_status step_asked(tutti_context *context, tutti_catalogue *catalogue,
                                    const struct tutti_trial *trial) {
  sqlite3_stmt *statement = catalogue->statements[ASKED];
  bind_number(statement, 1, trial->number);
  bind_text(statement, 2, trial->candidate);
  bind_number(statement, 3, trial->parent);
  bind_text(statement, 4, trial->origin);
  bind_number(statement, 5, trial->asked_after);
  TUTTI_TRY(context, step(context, catalogue, ASKED, "record a trial"));
  return step_sum(context, catalogue, trial, TUTTI_SUM_ASKED);
}

enum tutti_status tutti_catalogue_asked(tutti_context *context, tutti_catalogue *catalogue,
                                        const struct tutti_trial *trial) {
  bool own;
  TUTTI_TRY(context, begin_own(context, catalogue, &own));
  return end_own(context, catalogue, own, step_asked(context, catalogue, trial));
}

static enum tutti_status step_done(tutti_context *context, tutti_catalogue *catalogue,
                                   const struct tutti_trial *trial) {
  sqlite3_stmt *statement = catalogue->statements[DONE];
  bind_number(statement, 1, trial->number);
  bind_text(statement, 2, tutti_state_name(trial->state));
  if (isnan(trial->loss))
    (void)sqlite3_bind_null(statement, 3);
  else
    (void)sqlite3_bind_double(statement, 3, trial->loss);
  (void)sqlite3_bind_double(statement, 4, trial->seconds);
  (void)sqlite3_bind_int64(statement, 5, trial->worker);
  bind_text(statement, 6, trial->failure);
  bind_text(statement, 7, trial->report);
  TUTTI_TRY(context, step(context, catalogue, DONE, "record a result"));
  TUTTI_TRY(context, step_sum(context, catalogue, trial, TUTTI_SUM_DONE));
  if (!isfinite(trial->at))
    return TUTTI_OK;
  bind_number(catalogue->statements[AT], 1, trial->number);
  (void)sqlite3_bind_double(catalogue->statements[AT], 2, trial->at);
  TUTTI_TRY(context, step(context, catalogue, AT, "record the time of a result"));
  return step_sum(context, catalogue, trial, TUTTI_SUM_AT);
}

enum tutti_status tutti_catalogue_done(tutti_context *context, tutti_catalogue *catalogue,
                                       const struct tutti_trial *given) {
  struct tutti_trial trial = {.at = NAN};
  bool own;
  TUTTI_TAKE(&trial, given);
  trial.done = true;
  if (given->size <= offsetof(struct tutti_trial, at))
    trial.at = NAN;
  TUTTI_TRY(context, begin_own(context, catalogue, &own));
  return end_own(context, catalogue, own, step_done(context, catalogue, &trial));
}

static enum tutti_status step_told(tutti_context *context, tutti_catalogue *catalogue,
                                   const struct tutti_trial *trial) {
  bind_number(catalogue->statements[TOLD], 1, trial->number);
  bind_number(catalogue->statements[TOLD], 2, trial->told);
  TUTTI_TRY(context, step(context, catalogue, TOLD, "record that a result was told"));
  return step_sum(context, catalogue, trial, TUTTI_SUM_TOLD);
}

enum tutti_status tutti_catalogue_told(tutti_context *context, tutti_catalogue *catalogue, uint64_t number,
                                       uint64_t told) {
  const struct tutti_trial trial = {.number = number, .told = told};
  bool own;
  TUTTI_TRY(context, begin_own(context, catalogue, &own));
  return end_own(context, catalogue, own, step_told(context, catalogue, &trial));
}

static enum tutti_status step_set(tutti_context *context, tutti_catalogue *catalogue, const char *key,
                                  const char *text) {
  bind_text(catalogue->statements[SET], 1, key);
  bind_text(catalogue->statements[SET], 2, text);
  TUTTI_TRY(context, step(context, catalogue, SET, "record a fact"));
  bind_text(catalogue->statements[SUM_OF_FACT], 1, key);
  (void)sqlite3_bind_int64(catalogue->statements[SUM_OF_FACT], 2, tutti_sum_of_fact(key, text));
  return step(context, catalogue, SUM_OF_FACT, "record a checksum");
}

enum tutti_status tutti_catalogue_set(tutti_context *context, tutti_catalogue *catalogue, const char *key,
                                      const char *text) {
  bool own;
  TUTTI_TRY(context, begin_own(context, catalogue, &own));
  return end_own(context, catalogue, own, step_set(context, catalogue, key, text));
}

/* Is the checksum beside a fact its own, or absent with it? */
static bool fact_fits(const tutti_catalogue *catalogue, sqlite3_stmt *row, const char *key) {
  bool there = sqlite3_column_type(row, 0) != SQLITE_NULL;
  if (!catalogue->sums)
    return true;
  return there == (sqlite3_column_type(row, 1) != SQLITE_NULL) &&
         (!there || sqlite3_column_int64(row, 1) == tutti_sum_of_fact(key, tutti_column_text(row, 0)));
}

enum tutti_status tutti_catalogue_get(tutti_context *context, tutti_catalogue *catalogue, const char *key,
                                      char **text) {
  sqlite3_stmt *statement = catalogue->statements[GET];
  enum tutti_status status = TUTTI_OK;
  *text = NULL;
  bind_text(statement, 1, key);
  int result = sqlite3_step(statement);
  bool there = result == SQLITE_ROW && sqlite3_column_type(statement, 0) != SQLITE_NULL;
  if (there && !tutti_column_is_text(statement, 0))
    status = tutti_catalogue_refuse(context, catalogue, "expected a text as the fact '%s'", key);
  else if (result == SQLITE_ROW && !fact_fits(catalogue, statement, key))
    status = tutti_catalogue_refuse(context, catalogue, "the fact '%s' is not what was recorded, by the checksum", key);
  else if (there)
    status = tutti_strdup(context, tutti_column_text(statement, 0), text);
  else if (result != SQLITE_ROW && result != SQLITE_DONE)
    status = fail(context, catalogue, "read a fact");
  (void)sqlite3_reset(statement);
  return status;
}

enum tutti_status tutti_catalogue_visit(tutti_context *context, tutti_catalogue *catalogue,
                                        enum tutti_status (*visit)(void *argument, const struct tutti_trial *t),
                                        void *argument) {
  sqlite3_stmt *statement = catalogue->statements[VISIT];
  enum tutti_status status = TUTTI_OK;
  int result;
  let_cancel(catalogue, true);
  while ((result = sqlite3_step(statement)) == SQLITE_ROW) {
    struct tutti_trial trial;
    status = tutti_catalogue_row(context, catalogue, statement, &trial);
    if (status == TUTTI_OK && catalogue->sums)
      status = tutti_catalogue_check_row(context, catalogue, statement, &trial);
    if (status == TUTTI_OK)
      status = visit(argument, &trial);
    if (status != TUTTI_OK)
      break;
  }
  if (status == TUTTI_OK && result != SQLITE_DONE)
    status = fail(context, catalogue, "read the trials");
  let_cancel(catalogue, !catalogue->write);
  (void)sqlite3_reset(statement);
  return status;
}
