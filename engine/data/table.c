/* table.c - rows and columns as they were read. */
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data_impl.h"
#include "core/base/text_impl.h"

enum tutti_status tutti_table_create(tutti_context *context, const char *source, size_t rows, size_t columns,
                                     struct tutti_table **out) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_table *table = NULL;
  size_t count = 0;
  *out = NULL;
  if (__builtin_mul_overflow(rows, columns, &count) || rows > UINT32_MAX) {
    status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: %zu rows of %zu columns are more than can be held", source,
                        rows, columns);
    goto out;
  }
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *table, &table));
  table->rows = rows;
  table->columns = columns;
  TUTTI_TRY_OUT(context, tutti_strdup(context, source, &table->source));
  TUTTI_TRY_OUT(context, tutti_alloc(context, columns, sizeof *table->names, &table->names));
  for (size_t i = 0; i < columns; i++)
    TUTTI_TRY_OUT(context, tutti_format(context, &table->names[i], "x%zu", i));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *table->numbers, &table->numbers));
  *out = table;
  table = NULL;
out:
  tutti_table_destroy(table);
  return status;
}

void tutti_table_destroy(struct tutti_table *table) {
  if (!table)
    return;
  for (size_t i = 0; table->names && i < table->columns; i++)
    tutti_free(table->names[i]);
  tutti_free(table->names);
  tutti_free(table->source);
  tutti_free(table->numbers);
  tutti_free(table->texts);
  tutti_free(table->cells);
  tutti_free(table->lines);
  tutti_free(table);
}

/* What people write where a value is missing. */
static bool is_missing(const char *text) {
  static const char *const marks[] = {"", "?", "NA", "N/A", "na", "n/a", "nan", "NaN", "NAN", "null", "NULL"};
  for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
    if (strcmp(text, marks[i]) == 0)
      return true;
  return false;
}

enum tutti_cell tutti_table_cell(const struct tutti_table *table, size_t row, size_t column) {
  double number = tutti_table_number(table, row, column);
  if (!isnan(number))
    return isinf(number) ? TUTTI_CELL_INFINITE : TUTTI_CELL_NUMBER;
  if (!table->texts || is_missing(table->texts + table->cells[row * table->columns + column]))
    return TUTTI_CELL_MISSING;
  return TUTTI_CELL_TEXT;
}

const char *tutti_table_text(const struct tutti_table *table, size_t row, size_t column, char buffer[32]) {
  if (table->texts)
    return table->texts + table->cells[row * table->columns + column];
  tutti_number_print(tutti_table_number(table, row, column), buffer);
  return buffer;
}

enum tutti_status tutti_table_fail(tutti_context *context, const struct tutti_table *table, size_t row, size_t column,
                                   const char *format, ...) {
  char what[1024], line[32] = "";
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  if (table->lines)
    (void)snprintf(line, sizeof line, ":%u", table->lines[row]);
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s%s: row %zu, column '%s': %s", table->source, line, row,
                    table->names[column], what);
}

bool tutti_table_is_utf8(const char *text) {
  json_t *string = json_string(text);
  json_decref(string);
  return string != NULL;
}

/* strtod follows the process's locale, where the point may be a comma; a comma never gets here, so that a point that is
   not understood shows as a rest, and is tried again in the C locale. */
static double number_in_c_locale(const char *text, char **end) {
  double number = strtod(text, end);
  if (**end != '.')
    return number;
  locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
  if (!c)
    return number;
  locale_t before = uselocale(c);
  number = strtod(text, end);
  (void)uselocale(before);
  freelocale(c);
  return number;
}

static bool is_infinity(const char *text) {
  static const char *const words[] = {"inf", "Inf", "INF", "infinity", "Infinity"};
  text += *text == '-' || *text == '+';
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (strcmp(text, words[i]) == 0)
      return true;
  return false;
}

bool tutti_table_parse(const char *text, double *number) {
  char *end;
  if (text[strspn(text, "+-.0123456789eE")] != '\0') {
    *number = *text == '-' ? -HUGE_VAL : HUGE_VAL;
    return is_infinity(text);
  }
  *number = number_in_c_locale(text, &end);
  return end != text && *end == '\0';
}
