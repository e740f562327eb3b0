/* show_profile.c - the columns of a table, one a line, and what is worth knowing of them. */
#include "program_impl.h"
#include "table.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_COLUMNS = 60, NAME_WIDTH = 24 };

/* A number, maybe to its last digit, or the date of a number of days since 1970. */
static const char *show_value(const json_t *column, const char *key, bool all_digits, char text[32]) {
  double value = json_number_value(json_object_get(column, key));
  time_t seconds = (time_t)(value * 86400);
  struct tm date;
  if (strcmp(json_string_value(json_object_get(column, "content")), "dates") != 0 || !gmtime_r(&seconds, &date))
    return all_digits && snprintf(text, 32, "%.15g", value) > 0 ? text : show_number(value, text);
  (void)strftime(text, 32, "%Y-%m-%d", &date);
  return text;
}

/* The values of a column: a range, or the most frequent texts. */
static void show_contents(const json_t *column, FILE *out) {
  json_t *most = json_object_get(column, "most"), *value;
  char low[32], high[32], mean[32];
  size_t i;
  if (json_is_number(json_object_get(column, "min")) && number_of(column, "min") == number_of(column, "max")) {
    (void)fprintf(out, "%s", show_value(column, "min", false, low));
    return;
  }
  if (json_is_number(json_object_get(column, "min"))) {
    bool alike = strcmp(show_value(column, "min", false, low), show_value(column, "max", false, high)) == 0;
    (void)fprintf(out, "%s to %s, mean %s", show_value(column, "min", alike, low),
                  show_value(column, "max", alike, high), show_value(column, "mean", alike, mean));
    return;
  }
  json_int_t levels = json_integer_value(json_object_get(column, "levels"));
  if (levels > 0)
    (void)fprintf(out, "%lld: ", (long long)levels);
  json_array_foreach(most, i, value) {
    const char *text = json_string_value(json_object_get(value, "value"));
    (void)fprintf(out, "%s%.*s (%lld)", i ? ", " : "", (int)bytes_of(text, NAME_WIDTH), text, count_of(value, "rows"));
  }
  if (levels > (json_int_t)json_array_size(most))
    (void)fputs(", ...", out);
}

static void put_contents(const json_t *column, struct table *table) {
  struct plain_output contents;
  if (!begin_plain(&contents))
    return;
  show_contents(column, contents.stream);
  table_cell(table, "%s", fclose(contents.stream) == 0 ? contents.text : "");
  free(contents.text);
}

static void put_column(const json_t *column, struct table *table) {
  const char *name = text_of(column, "name");
  table_cell(table, "%.*s", (int)bytes_of(name, NAME_WIDTH), name);
  table_cell(table, "%s", text_of(column, "role"));
  table_cell(table, "%s", text_of(column, "content"));
  table_cell(table, "%lld", count_of(column, "missing"));
  put_contents(column, table);
}

static void show_columns(const json_t *columns, FILE *out) {
  const size_t count = json_array_size(columns);
  struct table table = table_begin(1);
  table_column(&table, TABLE_TEXT, "name");
  table_column(&table, TABLE_TEXT, "role");
  table_column(&table, TABLE_TEXT, "content");
  table_column(&table, TABLE_NUMBER, "missing");
  table_column(&table, TABLE_PROSE, "values");
  for (size_t i = 0; i < count && i < MOST_COLUMNS; i++)
    put_column(json_array_get(columns, i), &table);
  table_end(&table, out);
  if (count > MOST_COLUMNS)
    (void)fprintf(out, "  ... and %zu more; --json has them all\n", count - (size_t)MOST_COLUMNS);
  (void)fputc('\n', out);
}

/* "note: 'rooms': ...", a line each. */
static void show_warnings(const json_t *warnings, FILE *out) {
  const json_t *item;
  size_t i;
  json_array_foreach(warnings, i, item) {
    const char *name = json_string_value(json_object_get(item, "column"));
    (void)fputs(name ? "note: '" : "note: ", out);
    for (; name && *name; name++) /* the name of a column may have ends of lines */
      (void)fputc((unsigned char)*name < ' ' ? ' ' : *name, out);
    (void)fprintf(out, "%s%s\n", name ? "': " : "", text_of(item, "text"));
  }
  if (json_array_size(warnings) > 0)
    (void)fputc('\n', out);
}

void show_profile(const json_t *profile, FILE *out) {
  const json_t *columns = json_object_get(profile, "columns");
  const size_t rows = (size_t)count_of(profile, "rows"), count = json_array_size(columns);
  if (!columns)
    return;
  (void)fprintf(out, "%s: %zu %s, %zu %s\n\n", text_of(profile, "origin"), rows, tutti_plural(rows, "row", "rows"),
                count, tutti_plural(count, "column", "columns"));
  show_columns(columns, out);
  show_warnings(json_object_get(profile, "warnings"), out);
}
