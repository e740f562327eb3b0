/* catalogue.c - the run's record in SQLite. */
#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/vfs.h>
#include <tutti/catalogue.h>

enum statement { BEGIN, COMMIT, ASKED, DONE, TOLD, SET, GET, VISIT, STATEMENTS };

static const char *const sql[STATEMENTS] = {
    [BEGIN] = "BEGIN IMMEDIATE",
    [COMMIT] = "COMMIT",
    [ASKED] = "INSERT INTO trials (number, candidate, parent, origin, asked_after) VALUES (?, ?, ?, ?, ?)",
    [DONE] = "UPDATE trials SET state = ?2, loss = ?3, seconds = ?4, worker = ?5, failure = ?6, report = ?7 "
             "WHERE number = ?1",
    [TOLD] = "UPDATE trials SET told = ?2 WHERE number = ?1",
    [SET] = "INSERT INTO facts (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    [GET] = "SELECT value FROM facts WHERE key = ?",
    [VISIT] =
        "SELECT number, candidate, parent, origin, asked_after, state, loss, told, seconds, worker, failure, report "
        "FROM trials ORDER BY number",
};

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS facts (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS trials ("
    " number INTEGER PRIMARY KEY,"   /* from 0 */
    " candidate TEXT NOT NULL,"      /* JSON */
    " parent INTEGER,"               /* number of the trial it descends from */
    " origin TEXT NOT NULL,"         /* why the builder proposed it */
    " asked_after INTEGER NOT NULL," /* results told before it was asked for */
    " state TEXT,"                   /* finished, failed, pruned; NULL: no result yet */
    " loss REAL,"                    /* what the builder minimises */
    " told INTEGER,"                 /* place in the order of telling */
    " seconds REAL, worker INTEGER, failure TEXT, report TEXT);";

struct tutti_catalogue {
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

static enum tutti_status fail(tutti_context *context, tutti_catalogue *catalogue, const char *doing) {
  int code = sqlite3_extended_errcode(catalogue->database);
  enum tutti_status status = TUTTI_ERROR_IO;
  int system = sqlite3_system_errno(catalogue->database);
  bool full = system == ENOSPC || system == EDQUOT || system == EFBIG;
  if ((code & 0xff) == SQLITE_FULL || ((code & 0xff) == SQLITE_IOERR && full))
    status = TUTTI_ERROR_FULL;
  else if ((code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB)
    status = TUTTI_ERROR_CORRUPT;
  else if ((code & 0xff) == SQLITE_NOMEM)
    status = TUTTI_ERROR_MEMORY;
  else if ((code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_LOCKED)
    status = TUTTI_ERROR_BUSY;
  const char *file = sqlite3_db_filename(catalogue->database, "main");
  return TUTTI_FAIL(context, status, "%s: cannot %s: %s%s", file ? file : "catalogue", doing,
                    sqlite3_errmsg(catalogue->database),
                    status == TUTTI_ERROR_FULL ? "; make room and run again with --resume" : "");
}

enum tutti_status tutti_catalogue_open(tutti_context *context, const char *path, bool write, tutti_catalogue **out) {
  enum tutti_status status = TUTTI_OK;
  tutti_catalogue *catalogue = NULL;
  char *folder = NULL, *mode = NULL;
  *out = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *catalogue, &catalogue));
  int flags = write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  if (sqlite3_open_v2(path, &catalogue->database, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) {
    status = TUTTI_FAIL(context, TUTTI_ERROR_IO, "%s: cannot open the catalogue: %s", path,
                        catalogue->database ? sqlite3_errmsg(catalogue->database) : "out of memory");
    goto out;
  }
  (void)sqlite3_busy_timeout(catalogue->database, 5000);
  catalogue->write = write;
  if (write) {
    TUTTI_TRY_OUT(context, tutti_strdup(context, path, &folder));
    char *slash = strrchr(folder, '/');
    if (slash)
      *slash = '\0';
    TUTTI_TRY_OUT(context, tutti_format(context, &mode, "PRAGMA journal_mode = %s; PRAGMA synchronous = FULL;",
                                        tutti_catalogue_journal_mode(slash ? folder : ".")));
    if (sqlite3_exec(catalogue->database, mode, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_exec(catalogue->database, schema, NULL, NULL, NULL) != SQLITE_OK) {
      status = fail(context, catalogue, "prepare its tables");
      goto out;
    }
  }
  for (int i = write ? 0 : GET; i < STATEMENTS; i++)
    if (sqlite3_prepare_v3(catalogue->database, sql[i], -1, SQLITE_PREPARE_PERSISTENT, &catalogue->statements[i],
                           NULL) != SQLITE_OK) {
      status = fail(context, catalogue, "read its tables");
      goto out;
    }
  *out = catalogue;
  catalogue = NULL;
out:
  tutti_free(folder);
  tutti_free(mode);
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
  return step(context, catalogue, DONE, "record a result");
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
  if (result == SQLITE_ROW)
    status = tutti_strdup(context, (const char *)sqlite3_column_text(statement, 0), text);
  else if (result != SQLITE_DONE)
    status = fail(context, catalogue, "read a fact");
  (void)sqlite3_reset(statement);
  return status;
}

static uint64_t column_number(sqlite3_stmt *row, int column) {
  return sqlite3_column_type(row, column) == SQLITE_NULL ? TUTTI_NO_TRIAL : (uint64_t)sqlite3_column_int64(row, column);
}

static const char *column_text(sqlite3_stmt *row, int column) {
  const unsigned char *text = sqlite3_column_text(row, column);
  return text ? (const char *)text : "";
}

static void read_row(sqlite3_stmt *row, struct tutti_trial *trial) {
  *trial = (struct tutti_trial){
      .size = sizeof *trial,
      .number = column_number(row, 0),
      .candidate = column_text(row, 1),
      .parent = column_number(row, 2),
      .origin = column_text(row, 3),
      .asked_after = column_number(row, 4),
      .loss = sqlite3_column_type(row, 6) == SQLITE_NULL ? NAN : sqlite3_column_double(row, 6),
      .told = column_number(row, 7),
      .seconds = sqlite3_column_double(row, 8),
      .worker = (uint32_t)sqlite3_column_int64(row, 9),
      .failure = column_text(row, 10),
      .report = column_text(row, 11),
  };
  trial->done = tutti_state_parse(column_text(row, 5), &trial->state);
}

enum tutti_status tutti_catalogue_visit(tutti_context *context, tutti_catalogue *catalogue,
                                        enum tutti_status (*visit)(void *argument, const struct tutti_trial *t),
                                        void *argument) {
  sqlite3_stmt *statement = catalogue->statements[VISIT];
  enum tutti_status status = TUTTI_OK;
  int result;
  while ((result = sqlite3_step(statement)) == SQLITE_ROW) {
    struct tutti_trial trial;
    read_row(statement, &trial);
    status = visit(argument, &trial);
    if (status != TUTTI_OK)
      break;
  }
  if (status == TUTTI_OK && result != SQLITE_DONE)
    status = fail(context, catalogue, "read the trials");
  (void)sqlite3_reset(statement);
  return status;
}
