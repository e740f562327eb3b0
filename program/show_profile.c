/* show_profile.c - the columns of a table, one a line, and what is worth knowing of them. */
#include "program_impl.h"

#include <string.h>
#include <time.h>

enum { MOST_COLUMNS = 60, NAME_WIDTH = 24 };

/* How many characters of UTF-8 the text has, of which at most `most` are counted, and how many bytes these take. */
static int characters(const char *text, int most, int *bytes) {
  int count = 0;
  for (*bytes = 0; text[*bytes]; ++*bytes) {
    bool begins = ((unsigned char)text[*bytes] & 0xC0) != 0x80;
    if (begins && count == most)
      break;
    count += begins;
  }
  return count;
}

/* So many bytes of a text, ends of lines and other control characters as spaces: a column is a line. */
static void put_text(const char *text, int bytes, FILE *out) {
  for (int i = 0; i < bytes; i++)
    (void)fputc((unsigned char)text[i] < ' ' ? ' ' : text[i], out);
}

/* A number, or the date of a number of days since 1970. */
static const char *show_value(const json_t *column, const char *key, char text[32]) {
  double value = json_number_value(json_object_get(column, key));
  time_t seconds = (time_t)(value * 86400);
  struct tm date;
  if (strcmp(json_string_value(json_object_get(column, "content")), "dates") != 0 || !gmtime_r(&seconds, &date))
    return show_number(value, text);
  (void)strftime(text, 32, "%Y-%m-%d", &date);
  return text;
}

/* The values of a column: a range, or the most frequent texts. */
static void show_contents(const json_t *column, FILE *out) {
  json_t *most = json_object_get(column, "most"), *value;
  char low[32], high[32], mean[32];
  size_t i;
  if (json_is_number(json_object_get(column, "min")) && number_of(column, "min") == number_of(column, "max")) {
    (void)fprintf(out, "%s", show_value(column, "min", low));
    return;
  }
  if (json_is_number(json_object_get(column, "min"))) {
    (void)fprintf(out, "%s to %s, mean %s", show_value(column, "min", low), show_value(column, "max", high),
                  show_value(column, "mean", mean));
    return;
  }
  json_int_t levels = json_integer_value(json_object_get(column, "levels"));
  if (levels > 0)
    (void)fprintf(out, "%lld: ", (long long)levels);
  json_array_foreach(most, i, value) {
    const char *text = json_string_value(json_object_get(value, "value"));
    int bytes;
    (void)characters(text, NAME_WIDTH, &bytes);
    (void)fputs(i ? ", " : "", out);
    put_text(text, bytes, out);
    (void)fprintf(out, " (%lld)", (long long)json_integer_value(json_object_get(value, "rows")));
  }
  if (levels > (json_int_t)json_array_size(most))
    (void)fputs(", ...", out);
}

static void show_column(const json_t *column, FILE *out) {
  const char *name = json_string_value(json_object_get(column, "name"));
  int bytes, length = characters(name, NAME_WIDTH, &bytes);
  (void)fputs("  ", out);
  put_text(name, bytes, out);
  (void)fprintf(out, "%*s  %-7s  %-17s %7lld  ", NAME_WIDTH - length, "",
                json_string_value(json_object_get(column, "role")),
                json_string_value(json_object_get(column, "content")),
                (long long)json_integer_value(json_object_get(column, "missing")));
  show_contents(column, out);
  (void)fputc('\n', out);
}

void show_profile(const json_t *profile, FILE *out) {
  json_t *columns = json_object_get(profile, "columns"), *warnings = json_object_get(profile, "warnings"), *item;
  const long long rows = (long long)json_integer_value(json_object_get(profile, "rows"));
  size_t i, count = json_array_size(columns);
  if (!columns)
    return;
  (void)fprintf(out, "%s: %lld %s, %zu %s\n\n  %-*s  %-7s  %-17s %7s  values\n",
                json_string_value(json_object_get(profile, "origin")), rows, tutti_plural((size_t)rows, "row", "rows"),
                count, tutti_plural(count, "column", "columns"), NAME_WIDTH, "column", "role", "content", "missing");
  for (i = 0; i < count && i < MOST_COLUMNS; i++)
    show_column(json_array_get(columns, i), out);
  if (count > MOST_COLUMNS)
    (void)fprintf(out, "  ... and %zu more; --json has them all\n", count - (size_t)MOST_COLUMNS);
  (void)fputc('\n', out);
  json_array_foreach(warnings, i, item) {
    const char *name = json_string_value(json_object_get(item, "column"));
    (void)fputs(name ? "note: '" : "note: ", out);
    put_text(name ? name : "", name ? (int)strlen(name) : 0, out);
    (void)fprintf(out, "%s%s\n", name ? "': " : "", json_string_value(json_object_get(item, "text")));
  }
  if (json_array_size(warnings) > 0)
    (void)fputc('\n', out);
}
