/* cells.c - cells of a table in messages. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "cells_impl.h"

/* The line of a row, as it follows the file's name in messages. */
static void print_line(const tutti_rows *table, size_t row, size_t size, char *line) {
  *line = '\0';
  if (tutti_rows_line(table, row))
    (void)snprintf(line, size, ":%u", tutti_rows_line(table, row));
}

enum tutti_status tutti_row_fail(tutti_context *context, const tutti_rows *table, size_t row, const char *what) {
  char line[32];
  print_line(table, row, sizeof line, line);
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s%s: row %zu: %s", tutti_rows_origin(table), line, row, what);
}

enum tutti_status tutti_cell_fail(tutti_context *context, const tutti_rows *table, size_t row, size_t column,
                                  const char *format, ...) {
  char what[1024], line[32];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  print_line(table, row, sizeof line, line);
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s%s: row %zu, column '%s': %s", tutti_rows_origin(table), line, row,
                    tutti_rows_names(table)[column], what);
}

const char *tutti_quoted(const char *text, const char *signs, char room[TUTTI_QUOTED_ROOM]) {
  if (!strpbrk(text, signs) || strchr(text, '"') || strlen(text) + 3 > TUTTI_QUOTED_ROOM)
    return text;
  (void)snprintf(room, TUTTI_QUOTED_ROOM, "\"%s\"", text);
  return room;
}

int tutti_compare_texts(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool tutti_is_utf8(const char *text) {
  json_t *string = json_string(text);
  json_decref(string);
  return string != NULL;
}

/* Bytes of another encoding look like nothing on a terminal: the first that is not ASCII is named by its number. */
#define NOT_UTF8                                                                                                       \
  "expected UTF-8, found the byte 0x%02X; if the file is from Windows, convert it: iconv -f WINDOWS-1252 -t UTF-8 "    \
  "FILE > NEW"
static unsigned first_beyond_ascii(const char *text) {
  while ((unsigned char)*text < 0x80)
    text++;
  return (unsigned char)*text;
}

enum tutti_status tutti_cell_check_utf8(tutti_context *context, const tutti_rows *table, size_t row, size_t column) {
  const char *text = tutti_rows_text(table, row, column);
  return tutti_is_utf8(text) ? TUTTI_OK
                             : tutti_cell_fail(context, table, row, column, NOT_UTF8, first_beyond_ascii(text));
}

enum tutti_status tutti_name_check_utf8(tutti_context *context, const tutti_rows *table, size_t column) {
  const char *name = tutti_rows_names(table)[column];
  return tutti_is_utf8(name) ? TUTTI_OK
                             : TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: the name of column %zu: " NOT_UTF8,
                                          tutti_rows_origin(table), column, first_beyond_ascii(name));
}
