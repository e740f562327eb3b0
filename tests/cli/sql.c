/* sql.c - "sql FILE STATEMENTS": runs statements on a database, for tests that look into a catalogue or change it
   behind its back. Rows are printed, their values with | between them. */
#include <sqlite3.h>
#include <stdio.h>

static int print_row(void *argument, int count, char **values, char **names) {
  (void)argument, (void)names;
  for (int i = 0; i < count; i++)
    (void)printf("%s%s", i ? "|" : "", values[i] ? values[i] : "");
  (void)printf("\n");
  return 0;
}

int main(int argc, char **argv) {
  sqlite3 *database;
  char *message = NULL;
  if (argc != 3 || sqlite3_open_v2(argv[1], &database, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK) {
    (void)fprintf(stderr, "sql: expected the file of a database, and statements\n");
    return 1;
  }
  int code = sqlite3_exec(database, argv[2], print_row, NULL, &message);
  if (code != SQLITE_OK)
    (void)fprintf(stderr, "sql: %s\n", message);
  sqlite3_free(message);
  (void)sqlite3_close(database);
  return code != SQLITE_OK;
}
