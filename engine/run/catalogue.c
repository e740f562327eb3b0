/* catalogue.c - the run's record in SQLite. */
#include "engine/data/cells_impl.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <tutti/catalogue.h>

enum statement { BEGIN, COMMIT, ASKED, DONE, AT, TOLD, SET, GET, VISIT, STATEMENTS };

static const char *const sql[STATEMENTS] = {
    [BEGIN] = "BEGIN IMMEDIATE",
    [COMMIT] = "COMMIT",
    [ASKED] = "INSERT INTO trials (number, candidate, parent, origin, asked_after) VALUES (?, ?, ?, ?, ?)",
    [DONE] = "UPDATE trials SET state = ?2, loss = ?3, seconds = ?4, worker = ?5, failure = ?6, report = ?7 "
             "WHERE number = ?1",
    [AT] = "INSERT INTO times (number, at) VALUES (?, ?) ON CONFLICT (number) DO UPDATE SET at = excluded.at",
    [TOLD] = "UPDATE trials SET told = ?2 WHERE number = ?1",
    [SET] = "INSERT INTO facts (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    [GET] = "SELECT value FROM facts WHERE key = ?",
    [VISIT] = "SELECT number, candidate, parent, origin, asked_after, state, loss, told, seconds, worker, failure, "
              "report, at FROM trials LEFT JOIN times USING (number) ORDER BY number",
};

/* In place of VISIT, for runs from before there were times. */
static const char visit_without_times[] =
    "SELECT number, candidate, parent, origin, asked_after, state, loss, told, seconds, worker, failure, report, NULL "
    "FROM trials ORDER BY number";

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
};
enum { TABLES = sizeof tables / sizeof tables[0] };

struct tutti_catalogue {
  tutti_context *context; /* whose cancel flag ends reading */
  sqlite3 *database;
  bool write;
  sqlite3_stmt *statements[STATEMENTS];
};

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
  const char *file = sqlite3_db_filename(catalogue->database, "main");
  return TUTTI_FAIL(context, status, "%s: cannot %s: %s%s", file ? file : "catalogue", doing,
                    sqlite3_errmsg(catalogue->database),
                    status == TUTTI_ERROR_FULL ? "; make room and run again with --resume" : "");
}

/* --- opening: the file may be anybody's --- */

static enum tutti_status open_database(tutti_context *context, const char *path, tutti_catalogue *catalogue) {
  struct stat facts;
  int flags = catalogue->write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  if (stat(path, &facts) == 0 && !S_ISREG(facts.st_mode))
    return TUTTI_FAIL(context, TUTTI_ERROR_IO, "%s: expected a regular file", path);
  if (sqlite3_open_v2(path, &catalogue->database, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
    return TUTTI_FAIL(context, TUTTI_ERROR_IO, "%s: cannot open the catalogue: %s", path,
                      catalogue->database ? sqlite3_errmsg(catalogue->database) : "out of memory");
  (void)sqlite3_busy_timeout(catalogue->database, 5000);
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

static const char *column_text(sqlite3_stmt *row, int column) {
  const unsigned char *text = sqlite3_column_text(row, column);
  return text ? (const char *)text : "";
}

/* Is it a text, and in UTF-8, as JSON will need it? */
static bool is_text(sqlite3_stmt *row, int column) {
  return sqlite3_column_type(row, column) == SQLITE_TEXT && tutti_is_utf8(column_text(row, column));
}

static enum tutti_status refuse(tutti_context *context, const tutti_catalogue *catalogue, const char *format, ...)
    TUTTI_PRINTF(3, 4);
static enum tutti_status refuse(tutti_context *context, const tutti_catalogue *catalogue, const char *format, ...) {
  char what[512];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  const char *file = sqlite3_db_filename(catalogue->database, "main");
  return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "%s: %s; it is not as a run wrote it", file ? file : "catalogue",
                    what);
}

/* What stands behind the names of our tables has to be just these tables. Other tables are of no concern. */
static enum tutti_status check_schema(tutti_context *context, tutti_catalogue *catalogue) {
  static const char query[] =
      "SELECT type, name, tbl_name, sql FROM sqlite_master "
      "WHERE lower(tbl_name) IN ('facts', 'trials', 'times') OR lower(name) IN ('facts', 'trials', 'times')";
  enum tutti_status status = TUTTI_OK;
  sqlite3_stmt *statement = NULL;
  int result = sqlite3_prepare_v2(catalogue->database, query, -1, &statement, NULL);
  while (result == SQLITE_OK || result == SQLITE_ROW) {
    result = sqlite3_step(statement);
    const char *type = column_text(statement, 0), *name = column_text(statement, 1);
    if (result != SQLITE_ROW || is_ours(type, name, column_text(statement, 3)))
      continue;
    status = refuse(context, catalogue, "expected the table '%.60s' of a catalogue, found a %.60s '%.60s' that differs",
                    column_text(statement, 2), type, name);
    break;
  }
  if (status == TUTTI_OK && result != SQLITE_DONE)
    status = fail(context, catalogue, "read its tables");
  (void)sqlite3_finalize(statement);
  return status;
}

static enum tutti_status make_tables(tutti_context *context, const char *path, tutti_catalogue *catalogue) {
  enum tutti_status status = TUTTI_OK;
  char *folder = NULL, *text = NULL;
  TUTTI_TRY_OUT(context, tutti_strdup(context, path, &folder));
  char *slash = strrchr(folder, '/');
  if (slash)
    *slash = '\0';
  TUTTI_TRY_OUT(context, tutti_format(context, &text,
                                      "PRAGMA journal_mode = %s; PRAGMA synchronous = FULL;"
                                      "CREATE TABLE IF NOT EXISTS %s; CREATE TABLE IF NOT EXISTS %s; "
                                      "CREATE TABLE IF NOT EXISTS %s",
                                      tutti_catalogue_journal_mode(slash ? folder : "."), tables[0].definition,
                                      tables[1].definition, tables[2].definition));
  if (sqlite3_exec(catalogue->database, text, NULL, NULL, NULL) != SQLITE_OK)
    status = fail(context, catalogue, "prepare its tables");
out:
  tutti_free(folder);
  tutti_free(text);
  return status;
}

static bool has_times(sqlite3 *database) {
  sqlite3_stmt *statement = NULL;
  bool found = sqlite3_prepare_v2(database, "SELECT number, at FROM times", -1, &statement, NULL) == SQLITE_OK;
  (void)sqlite3_finalize(statement);
  return found;
}

static enum tutti_status prepare(tutti_context *context, tutti_catalogue *catalogue) {
  const char *visit = has_times(catalogue->database) ? sql[VISIT] : visit_without_times;
  for (int i = catalogue->write ? 0 : GET; i < STATEMENTS; i++)
    if (sqlite3_prepare_v3(catalogue->database, i == VISIT ? visit : sql[i], -1, SQLITE_PREPARE_PERSISTENT,
                           &catalogue->statements[i], NULL) != SQLITE_OK)
      return fail(context, catalogue, "read its tables");
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
  if (write)
    TUTTI_TRY_OUT(context, make_tables(context, path, catalogue));
  TUTTI_TRY_OUT(context, prepare(context, catalogue));
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

enum tutti_status tutti_catalogue_commit(tutti_context *context, tutti_catalogue *catalogue) {
  enum tutti_status status = step(context, catalogue, COMMIT, "make a change durable");
  if (status != TUTTI_OK && !sqlite3_get_autocommit(catalogue->database))
    (void)sqlite3_exec(catalogue->database, "ROLLBACK", NULL, NULL, NULL);
  return status;
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

enum tutti_status tutti_catalogue_asked(tutti_context *context, tutti_catalogue *catalogue,
                                        const struct tutti_trial *trial) {
  sqlite3_stmt *statement = catalogue->statements[ASKED];
  bind_number(statement, 1, trial->number);
  bind_text(statement, 2, trial->candidate);
  bind_number(statement, 3, trial->parent);
  bind_text(statement, 4, trial->origin);
  bind_number(statement, 5, trial->asked_after);
  return step(context, catalogue, ASKED, "record a trial");
}

enum tutti_status tutti_catalogue_done(tutti_context *context, tutti_catalogue *catalogue,
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
  if (trial->size <= offsetof(struct tutti_trial, at) || !isfinite(trial->at))
    return TUTTI_OK;
  bind_number(catalogue->statements[AT], 1, trial->number);
  (void)sqlite3_bind_double(catalogue->statements[AT], 2, trial->at);
  return step(context, catalogue, AT, "record the time of a result");
}

enum tutti_status tutti_catalogue_told(tutti_context *context, tutti_catalogue *catalogue, uint64_t number,
                                       uint64_t told) {
  bind_number(catalogue->statements[TOLD], 1, number);
  bind_number(catalogue->statements[TOLD], 2, told);
  return step(context, catalogue, TOLD, "record that a result was told");
}

enum tutti_status tutti_catalogue_set(tutti_context *context, tutti_catalogue *catalogue, const char *key,
                                      const char *text) {
  bind_text(catalogue->statements[SET], 1, key);
  bind_text(catalogue->statements[SET], 2, text);
  return step(context, catalogue, SET, "record a fact");
}

enum tutti_status tutti_catalogue_get(tutti_context *context, tutti_catalogue *catalogue, const char *key,
                                      char **text) {
  sqlite3_stmt *statement = catalogue->statements[GET];
  enum tutti_status status = TUTTI_OK;
  *text = NULL;
  bind_text(statement, 1, key);
  int result = sqlite3_step(statement);
  if (result == SQLITE_ROW && is_text(statement, 0))
    status = tutti_strdup(context, column_text(statement, 0), text);
  else if (result == SQLITE_ROW)
    status = refuse(context, catalogue, "expected a text as the fact '%s'", key);
  else if (result != SQLITE_DONE)
    status = fail(context, catalogue, "read a fact");
  (void)sqlite3_reset(statement);
  return status;
}

/* --- trials --- */

static uint64_t column_number(sqlite3_stmt *row, int column) {
  return sqlite3_column_type(row, column) == SQLITE_NULL ? TUTTI_NO_TRIAL : (uint64_t)sqlite3_column_int64(row, column);
}

/* The columns of VISIT. */
enum column {
  NUMBER,
  CANDIDATE,
  PARENT,
  ORIGIN,
  ASKED_AFTER,
  STATE,
  LOSS,
  TOLD_AS,
  SECONDS,
  WORKER,
  FAILURE,
  REPORT,
  TIME
};

/* What a column may hold; the columns after STATE are NULL until there is a result. */
enum content { NATURAL, NATURAL_OR_NULL, TEXT, TEXT_OR_NULL, REAL_OR_NULL };
static const struct {
  const char *name;
  enum content content;
} columns[] = {[NUMBER] = {"number", NATURAL},
               [CANDIDATE] = {"candidate", TEXT},
               [PARENT] = {"parent", NATURAL_OR_NULL},
               [ORIGIN] = {"origin", TEXT},
               [ASKED_AFTER] = {"asked_after", NATURAL},
               [STATE] = {"state", TEXT_OR_NULL},
               [LOSS] = {"loss", REAL_OR_NULL},
               [TOLD_AS] = {"told", NATURAL_OR_NULL},
               [SECONDS] = {"seconds", REAL_OR_NULL},
               [WORKER] = {"worker", NATURAL_OR_NULL},
               [FAILURE] = {"failure", TEXT_OR_NULL},
               [REPORT] = {"report", TEXT_OR_NULL},
               [TIME] = {"at", REAL_OR_NULL}};

static bool fits(sqlite3_stmt *row, int column) {
  int type = sqlite3_column_type(row, column);
  switch (columns[column].content) {
  case NATURAL_OR_NULL:
  case NATURAL:
    return type == SQLITE_NULL ? columns[column].content == NATURAL_OR_NULL
                               : type == SQLITE_INTEGER && sqlite3_column_int64(row, column) >= 0;
  case TEXT_OR_NULL:
  case TEXT:
    return type == SQLITE_NULL ? columns[column].content == TEXT_OR_NULL : is_text(row, column);
  case REAL_OR_NULL:
    return type == SQLITE_NULL ||
           ((type == SQLITE_FLOAT || type == SQLITE_INTEGER) && isfinite(sqlite3_column_double(row, column)));
  }
  return false;
}

/* The first column that is not as a run would write it, or -1. */
static int wrong_column(sqlite3_stmt *row) {
  enum tutti_state state;
  for (int i = 0; i < (int)(sizeof columns / sizeof columns[0]); i++)
    if (!fits(row, i))
      return i;
  if (sqlite3_column_type(row, STATE) == SQLITE_NULL)
    return -1;
  if (!tutti_state_parse(column_text(row, STATE), &state))
    return STATE;
  if (state == TUTTI_STATE_FINISHED && sqlite3_column_type(row, LOSS) == SQLITE_NULL)
    return LOSS;
  return sqlite3_column_type(row, REPORT) == SQLITE_NULL ? REPORT : -1;
}

static enum tutti_status read_row(tutti_context *context, const tutti_catalogue *catalogue, sqlite3_stmt *row,
                                  struct tutti_trial *trial) {
  int wrong = wrong_column(row);
  if (wrong >= 0)
    return refuse(context, catalogue, "trial %lld: unexpected '%.60s' in column %s",
                  (long long)sqlite3_column_int64(row, NUMBER), column_text(row, wrong), columns[wrong].name);
  *trial = (struct tutti_trial){
      .size = sizeof *trial,
      .number = column_number(row, NUMBER),
      .candidate = column_text(row, CANDIDATE),
      .parent = column_number(row, PARENT),
      .origin = column_text(row, ORIGIN),
      .asked_after = column_number(row, ASKED_AFTER),
      .loss = sqlite3_column_type(row, LOSS) == SQLITE_NULL ? NAN : sqlite3_column_double(row, LOSS),
      .told = column_number(row, TOLD_AS),
      .seconds = sqlite3_column_double(row, SECONDS),
      .worker = (uint32_t)sqlite3_column_int64(row, WORKER),
      .failure = column_text(row, FAILURE),
      .report = column_text(row, REPORT),
      .at = sqlite3_column_type(row, TIME) == SQLITE_NULL ? NAN : sqlite3_column_double(row, TIME),
  };
  trial->done = tutti_state_parse(column_text(row, STATE), &trial->state);
  return TUTTI_OK;
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
    status = read_row(context, catalogue, statement, &trial);
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
