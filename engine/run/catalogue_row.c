/* catalogue_row.c - a trial from a row of the catalogue, which may be anybody's: every column is checked. */
#include "catalogue_impl.h"
#include "engine/data/cells_impl.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

const char *tutti_column_text(sqlite3_stmt *row, int column) {
  const unsigned char *text = sqlite3_column_text(row, column);
  return text ? (const char *)text : "";
}

bool tutti_column_is_text(sqlite3_stmt *row, int column) {
  return sqlite3_column_type(row, column) == SQLITE_TEXT && tutti_is_utf8(tutti_column_text(row, column));
}

enum tutti_status tutti_catalogue_refuse(tutti_context *context, const tutti_catalogue *catalogue, const char *format,
                                         ...) {
  char what[512];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  const char *file = sqlite3_db_filename(catalogue->database, "main");
  return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT,
                    "%s: %s; it is not as a run wrote it: put back a copy of it, or train again with another --out",
                    file ? file : "catalogue", what);
}

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
  TIME,
  CHECKSUM /* of enum tutti_sum, one after the other */
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
               [TIME] = {"at", REAL_OR_NULL},
               [CHECKSUM + TUTTI_SUM_ASKED] = {"sums.asked", NATURAL_OR_NULL},
               [CHECKSUM + TUTTI_SUM_DONE] = {"sums.done", NATURAL_OR_NULL},
               [CHECKSUM + TUTTI_SUM_TOLD] = {"sums.told", NATURAL_OR_NULL},
               [CHECKSUM + TUTTI_SUM_AT] = {"sums.at", NATURAL_OR_NULL}};

static bool fits(sqlite3_stmt *row, int column) {
  int type = sqlite3_column_type(row, column);
  switch (columns[column].content) {
  case NATURAL_OR_NULL:
  case NATURAL:
    return type == SQLITE_NULL ? columns[column].content == NATURAL_OR_NULL
                               : type == SQLITE_INTEGER && sqlite3_column_int64(row, column) >= 0;
  case TEXT_OR_NULL:
  case TEXT:
    return type == SQLITE_NULL ? columns[column].content == TEXT_OR_NULL : tutti_column_is_text(row, column);
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
  if (!tutti_state_parse(tutti_column_text(row, STATE), &state))
    return STATE;
  if (state == TUTTI_STATE_FINISHED && sqlite3_column_type(row, LOSS) == SQLITE_NULL)
    return LOSS;
  return sqlite3_column_type(row, REPORT) == SQLITE_NULL ? REPORT : -1;
}

enum tutti_status tutti_catalogue_row(tutti_context *context, const tutti_catalogue *catalogue, sqlite3_stmt *row,
                                      struct tutti_trial *trial) {
  int wrong = wrong_column(row);
  if (wrong >= 0)
    return tutti_catalogue_refuse(context, catalogue, "trial %lld: unexpected '%.60s' in column %s",
                                  (long long)sqlite3_column_int64(row, NUMBER), tutti_column_text(row, wrong),
                                  columns[wrong].name);
  *trial = (struct tutti_trial){
      .size = sizeof *trial,
      .number = column_number(row, NUMBER),
      .candidate = tutti_column_text(row, CANDIDATE),
      .parent = column_number(row, PARENT),
      .origin = tutti_column_text(row, ORIGIN),
      .asked_after = column_number(row, ASKED_AFTER),
      .loss = sqlite3_column_type(row, LOSS) == SQLITE_NULL ? NAN : sqlite3_column_double(row, LOSS),
      .told = column_number(row, TOLD_AS),
      .seconds = sqlite3_column_double(row, SECONDS),
      .worker = (uint32_t)sqlite3_column_int64(row, WORKER),
      .failure = tutti_column_text(row, FAILURE),
      .report = tutti_column_text(row, REPORT),
      .at = sqlite3_column_type(row, TIME) == SQLITE_NULL ? NAN : sqlite3_column_double(row, TIME),
  };
  trial->done = tutti_state_parse(tutti_column_text(row, STATE), &trial->state);
  return TUTTI_OK;
}

/* Is a checksum that of this part, or absent with it? */
static bool sum_fits(sqlite3_stmt *row, const struct tutti_trial *trial, enum tutti_sum part) {
  int column = CHECKSUM + (int)part;
  bool there = sqlite3_column_type(row, column) != SQLITE_NULL;
  return there == tutti_sum_there(trial, part) &&
         (!there || sqlite3_column_int64(row, column) == tutti_sum_of(trial, part));
}

enum tutti_status tutti_catalogue_check_row(tutti_context *context, const tutti_catalogue *catalogue, sqlite3_stmt *row,
                                            const struct tutti_trial *trial) {
  for (enum tutti_sum part = 0; part < TUTTI_SUMS; part++)
    if (!sum_fits(row, trial, part))
      return tutti_catalogue_refuse(context, catalogue, "trial %lld: %s is not what was recorded, by the checksum",
                                    (long long)trial->number, tutti_sum_says(part));
  return TUTTI_OK;
}
