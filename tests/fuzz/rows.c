/* rows.c - a catalogue from lines. */
#include "rows.h"

#include "fuzz.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/catalogue.h>
#include <unistd.h>

/* The file of an empty catalogue, made once by the library itself. */
static uint8_t *empty;
static size_t empty_size;

static void free_empty(void) { free(empty); }

static void make_empty(void) {
  tutti_context *context = fuzz_context();
  tutti_catalogue *catalogue;
  char path[256];
  (void)snprintf(path, sizeof path, "%s/empty.sqlite", fuzz_folder());
  FUZZ_REQUIRE(tutti_catalogue_open(context, path, true, &catalogue) == TUTTI_OK);
  tutti_catalogue_close(catalogue);
  FILE *file = fopen(path, "rb");
  FUZZ_REQUIRE(file != NULL);
  empty = malloc(1 << 20);
  FUZZ_REQUIRE(empty != NULL);
  empty_size = fread(empty, 1, 1 << 20, file);
  (void)fclose(file);
  (void)unlink(path);
  (void)atexit(free_empty);
}

/* The end of a field: a tab or the line's end. */
static const char *end_of(const char *at, const char *end) {
  while (at < end && *at != '\t' && *at != '\n')
    at++;
  return at;
}

static void bind(sqlite3_stmt *insert, int place, const char *at, size_t length, const char *table, long long first,
                 fuzz_change change, void *argument) {
  char *text = fuzz_text((const uint8_t *)at + 1, length ? length - 1 : 0);
  switch (length ? *at : 'n') {
  case 'i':
    (void)sqlite3_bind_int64(insert, place, strtoll(text, NULL, 10));
    break;
  case 'r':
    (void)sqlite3_bind_double(insert, place, strtod(text, NULL));
    break;
  case 't': {
    char *changed = change ? change(argument, table, first, text) : NULL;
    (void)sqlite3_bind_text(insert, place, changed ? changed : text, -1, SQLITE_TRANSIENT);
    free(changed);
    break;
  }
  case 'b':
    (void)sqlite3_bind_blob(insert, place, text, (int)length - 1, SQLITE_TRANSIENT);
    break;
  default:
    (void)sqlite3_bind_null(insert, place);
  }
  free(text);
}

/* A line's row; SQLite may refuse it. */
static void insert_row(sqlite3_stmt *const inserts[3], const char *at, const char *end, fuzz_change change,
                       void *argument) {
  static const char *const tables[3] = {"facts", "trials", "times"};
  const char *stop = end_of(at, end);
  long long first = 0;
  for (int t = 0; t < 3; t++) {
    if ((size_t)(stop - at) != strlen(tables[t]) || memcmp(at, tables[t], strlen(tables[t])) != 0)
      continue;
    for (int place = 1; place <= sqlite3_bind_parameter_count(inserts[t]) && stop < end; place++) {
      at = stop + 1;
      stop = end_of(at, end);
      if (place == 1 && at < end && *at == 'i')
        first = atoll(at + 1);
      bind(inserts[t], place, at, (size_t)(stop - at), tables[t], first, change, argument);
    }
    (void)sqlite3_step(inserts[t]);
    (void)sqlite3_reset(inserts[t]);
    (void)sqlite3_clear_bindings(inserts[t]);
    return;
  }
}

const char *fuzz_catalogue(const char *name, const uint8_t *lines, size_t size, fuzz_change change, void *argument) {
  static const char *const sql[3] = {"INSERT INTO facts VALUES (?, ?)",
                                     "INSERT INTO trials (number, candidate, parent, origin, asked_after, state, loss, "
                                     "told, seconds, worker, failure, "
                                     "report) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                                     "INSERT INTO times VALUES (?, ?)"};
  sqlite3 *database;
  sqlite3_stmt *inserts[3];
  if (!empty)
    make_empty();
  const char *path = fuzz_file(name, empty, empty_size);
  FUZZ_REQUIRE(sqlite3_open(path, &database) == SQLITE_OK);
  /* Without checksums, as in a run of an earlier Tutti: else all rows would be refused for theirs. */
  FUZZ_REQUIRE(sqlite3_exec(database,
                            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN; DROP TABLE sums; "
                            "DROP TABLE fact_sums",
                            NULL, NULL, NULL) == SQLITE_OK);
  for (int t = 0; t < 3; t++)
    FUZZ_REQUIRE(sqlite3_prepare_v2(database, sql[t], -1, &inserts[t], NULL) == SQLITE_OK);
  const char *text = (const char *)lines, *end = text + size;
  while (text < end) {
    const char *stop = memchr(text, '\n', (size_t)(end - text));
    stop = stop ? stop : end;
    insert_row(inserts, text, stop, change, argument);
    text = stop + (stop < end);
  }
  for (int t = 0; t < 3; t++)
    (void)sqlite3_finalize(inserts[t]);
  FUZZ_REQUIRE(sqlite3_exec(database, "COMMIT", NULL, NULL, NULL) == SQLITE_OK);
  FUZZ_REQUIRE(sqlite3_close(database) == SQLITE_OK);
  return path;
}
