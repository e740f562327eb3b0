/* dates.c - reads dates and times. */
#include "columns_impl.h"
#include "dates_impl.h"
#include "roles_impl.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tutti/names.h>

static const double SECONDS_A_DAY = 86400;

const char *const tutti_cycle_names[TUTTI_CYCLES] = {"year", "week", "day"};
const double tutti_cycle_days[TUTTI_CYCLES] = {365.2425, 7, 1};

/* Is it a day of the calendar? timegm takes 31 February for a day in March. */
static bool to_days(const struct tm *read, double *days) {
  struct tm given = *read, made;
  time_t seconds = timegm(&given);
  if (!gmtime_r(&seconds, &made) || made.tm_mday != read->tm_mday || made.tm_mon != read->tm_mon ||
      read->tm_hour > 23 || read->tm_min > 59 || read->tm_sec > 60)
    return false;
  *days = (double)(seconds - read->tm_gmtoff) / SECONDS_A_DAY; /* of %z; else 0 */
  return true;
}

/* What is behind the minutes or seconds: nothing, Z, or an offset as in +01:00, +0100 or +01. */
static bool read_offset(const char *rest, double *seconds) {
  struct tm offset = {0};
  *seconds = 0;
  if (*rest == '\0' || strcmp(rest, "Z") == 0)
    return true;
  if (*rest != '+' && *rest != '-')
    return false;
  const char *end = strptime(rest + 1, "%H:%M", &offset);
  if (!end)
    end = strptime(rest + 1, "%H%M", &offset);
  if (!end)
    end = strptime(rest + 1, "%H", &offset);
  *seconds = (*rest == '-' ? -60.0 : 60.0) * (60 * offset.tm_hour + offset.tm_min);
  return end && *end == '\0';
}

static bool read_iso(const char *text, double *days, bool *has_time) {
  struct tm read = {0};
  double fraction = 0, offset = 0;
  if (strspn(text, "0123456789") != 4 || !(text = strptime(text, "%Y-%m-%d", &read)))
    return false;
  *has_time = *text == 'T' || *text == ' ';
  if (*has_time) {
    if (!(text = strptime(text + 1, "%H:%M", &read)))
      return false;
    if (*text == ':' && !(text = strptime(text + 1, "%S", &read)))
      return false;
    size_t digits = *text == '.' ? strspn(text + 1, "0123456789") : 0;
    for (size_t i = digits; i > 0; i--)
      fraction = (fraction + (text[i] - '0')) / 10;
    text += digits > 0 ? digits + 1 : 0;
  }
  if ((*has_time ? !read_offset(text, &offset) : *text != '\0') || !to_days(&read, days))
    return false;
  *days += (fraction - offset) / SECONDS_A_DAY;
  return true;
}

bool tutti_date_read(const char *format, const char *text, double *days, bool *has_time) {
  struct tm read = {.tm_mday = 1, .tm_year = 70};
  if (*format == '\0')
    return read_iso(text, days, has_time);
  const char *end = strptime(text, format, &read);
  *has_time = read.tm_hour || read.tm_min || read.tm_sec;
  return end && *end == '\0' && to_days(&read, days);
}

/* strptime takes what it is given: 1122024 for %d%m%Y is 11 February, though 01122024 was meant. */
static bool is_written_so(const char *format, const char *text) {
  struct tm read = {.tm_mday = 1, .tm_year = 70};
  char again[TUTTI_DATE_FORMAT_ROOM];
  return strptime(text, format, &read) && strftime(again, sizeof again, format, &read) > 0 && strcmp(again, text) == 0;
}

bool tutti_date_read_cell(const char *format, const tutti_rows *table, size_t row, size_t column, double *days,
                          bool *has_time) {
  enum tutti_cell cell = tutti_rows_cell(table, row, column);
  char digits[32];
  if (cell == TUTTI_CELL_TEXT) {
    const char *date = tutti_rows_text(table, row, column);
    return tutti_date_read(format, date, days, has_time) || tutti_date_read("", date, days, has_time);
  }
  if (cell != TUTTI_CELL_NUMBER || *format == '\0')
    return false;
  const char *zeros = tutti_rows_text(table, row, column), *text = zeros;
  if (!*zeros)
    text = tutti_category_of(table, row, column, digits);
  return is_written_so(format, text) && tutti_date_read(format, text, days, has_time);
}

/* --- formats of columns --- */

/* A part of a text, without the blanks around it. */
struct part {
  const char *begin;
  size_t length;
};

static struct part part_between(const char *begin, const char *end) {
  while (begin < end && isspace((unsigned char)*begin))
    begin++;
  while (end > begin && isspace((unsigned char)end[-1]))
    end--;
  return (struct part){begin, (size_t)(end - begin)};
}

/* Take the first of "sold = %b %d, %Y, built = %Y" from *rest: a format ends at the last comma before the next sign =.
   A name in quotes may have both signs in it. False: nothing is left. A part that is missing is empty. */
static bool take_format(const char **rest, struct part *column, struct part *format) {
  const char *begin = *rest, *equals = tutti_list_find(begin, "="), *end = begin + strlen(begin);
  if (part_between(begin, end).length == 0)
    return false;
  const char *next = equals ? tutti_list_find(equals + 1, "=") : NULL, *comma = next ? equals : NULL;
  while (comma && (comma = tutti_list_find(comma + 1, ",")) && comma < next)
    end = comma;
  *column = part_between(begin, equals ? equals : end);
  if (column->length > 2 && *column->begin == '"' && column->begin[column->length - 1] == '"')
    *column = (struct part){column->begin + 1, column->length - 2};
  *format = part_between(equals ? equals + 1 : end, end);
  *rest = *end ? end + 1 : end;
  return true;
}

static bool is_named(const struct part *part, const char *name) {
  return strlen(name) == part->length && memcmp(part->begin, name, part->length) == 0;
}

const char *tutti_date_format_of(const struct tutti_data_config *config, const char *name,
                                 char room[TUTTI_DATE_FORMAT_ROOM], bool *named) {
  const char *rest = config->date_formats;
  struct part column, format;
  *named = true;
  while (take_format(&rest, &column, &format))
    if (is_named(&column, name)) {
      (void)snprintf(room, TUTTI_DATE_FORMAT_ROOM, "%.*s", (int)format.length, format.begin);
      return room;
    }
  *named = false;
  return config->date_format;
}

static enum tutti_status refuse_part(tutti_context *context, const tutti_rows *table, const struct part *column) {
  char *name;
  TUTTI_TRY(context, tutti_format(context, &name, "%.*s", (int)column->length, column->begin));
  enum tutti_status status = tutti_missing_column(context, table, "date_formats", name);
  tutti_free(name);
  return status;
}

/* Only inputs hold dates; what is ignored may hold anything. */
static enum tutti_status check_named(tutti_context *context, const tutti_rows *table, const uint8_t *roles,
                                     const struct part *column, uint8_t *named) {
  size_t c = 0;
  while (c < tutti_rows_columns(table) && !is_named(column, tutti_rows_names(table)[c]))
    c++;
  if (c == tutti_rows_columns(table))
    return refuse_part(context, table, column);
  if (named[c])
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "data.date_formats: column '%s' is named twice",
                      tutti_rows_names(table)[c]);
  if (roles[c] != ROLE_INPUT && roles[c] != ROLE_IGNORED)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "data.date_formats: expected inputs; column '%s' is a target, or in data.groups or "
                      "data.categorical",
                      tutti_rows_names(table)[c]);
  named[c] = true;
  return TUTTI_OK;
}

enum tutti_status tutti_date_formats_check(tutti_context *context, const struct tutti_data_config *config,
                                           const tutti_rows *table, const uint8_t *roles) {
  enum tutti_status status = TUTTI_OK;
  const char *rest = config->date_formats;
  struct part column, format;
  uint8_t *named = NULL;
  TUTTI_TRY(context, tutti_alloc(context, tutti_rows_columns(table), sizeof *named, &named));
  while (status == TUTTI_OK && take_format(&rest, &column, &format)) {
    if (format.length == 0 || format.length >= TUTTI_DATE_FORMAT_ROOM || memchr(format.begin, '=', format.length))
      status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                          "data.date_formats: expected columns with formats, as in sold = %%m/%%d/%%Y, built = %%Y; "
                          "found '%s'",
                          config->date_formats);
    else
      status = check_named(context, table, roles, &column, named);
  }
  tutti_free(named);
  return status;
}
