/* profile_dates.c - how the dates of a column are written: in which forms, if not as the recipe says. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <tutti/names.h>

#include "profile_impl.h"

/* A day alone, and with each time of day that programs write behind it. %Z reads any name of a zone, and none: it comes
   last. */
#define WITH_TIMES(day)                                                                                                \
  day, day " %H:%M", day " %H:%M:%S", day " %I:%M %p", day " %I:%M:%S %p", day ", %H:%M", day ", %H:%M:%S",            \
      day ", %I:%M %p", day ", %I:%M:%S %p", day " %I:%M:%S %p %Z"
enum { TIMES = 10 };
/* Of two that read the same texts, the one with four digits of the year would take 24 for the year 24: it is later. */
static const char *const usual[] = {WITH_TIMES("%d.%m.%y"), WITH_TIMES("%d/%m/%y"), WITH_TIMES("%m/%d/%y"),
                                    WITH_TIMES("%d-%m-%y"), WITH_TIMES("%m-%d-%y"), WITH_TIMES("%d-%b-%y"),
                                    WITH_TIMES("%d.%m.%Y"), WITH_TIMES("%d/%m/%Y"), WITH_TIMES("%m/%d/%Y"),
                                    WITH_TIMES("%d-%m-%Y"), WITH_TIMES("%m-%d-%Y"), WITH_TIMES("%Y/%m/%d"),
                                    WITH_TIMES("%Y.%m.%d"), WITH_TIMES("%Y-%m-%d"), WITH_TIMES("%d %b %Y"),
                                    WITH_TIMES("%d-%b-%Y"), WITH_TIMES("%b %d, %Y")};
enum { USUAL = sizeof usual / sizeof *usual, FORMATS = USUAL + 2 };
_Static_assert(USUAL % TIMES == 0 && FORMATS <= UINT8_MAX, "a number of days with all times, told in a byte");

/* --- one form for all --- */

static bool all_are_dates(const tutti_rows *table, size_t column, const char *format) {
  bool any = false, time;
  double days;
  for (size_t r = 0; r < tutti_rows_count(table); r++) {
    enum tutti_cell cell = tutti_rows_cell(table, r, column);
    if (cell == TUTTI_CELL_MISSING)
      continue;
    if (cell != TUTTI_CELL_TEXT || !tutti_date_read(format, tutti_rows_text(table, r, column), &days, &time))
      return false;
    any = true;
  }
  return any;
}

bool tutti_profile_date_formats(const tutti_rows *table, size_t column, char formats[TUTTI_DATE_FORMAT_ROOM]) {
  size_t length = 0;
  bool short_year = false;
  for (size_t i = 0; i < USUAL; i++) {
    bool is_short = strstr(usual[i], "%y") != NULL;
    if ((short_year && !is_short) || !all_are_dates(table, column, usual[i]))
      continue;
    short_year = is_short;
    length +=
        (size_t)snprintf(formats + length, TUTTI_DATE_FORMAT_ROOM - length, "%s%s", length ? " or " : "", usual[i]);
    i += TIMES - 1 - i % TIMES; /* the next day: a time that reads less of the texts adds nothing */
  }
  return length > 0;
}

bool tutti_profile_dates(const tutti_rows *table, size_t column, const char *format) {
  return all_are_dates(table, column, format) || all_are_dates(table, column, "");
}

/* --- several forms --- */

/* Which formats read a text: their numbers. */
enum { READINGS = 8 };
struct readings {
  uint8_t count, format[READINGS];
};

static bool read_as(const char *format, const char *text, size_t number, struct readings *readings) {
  double days;
  bool time;
  if (readings->count == READINGS || !tutti_date_read(format, text, &days, &time))
    return false;
  readings->format[readings->count++] = (uint8_t)number;
  return true;
}

static struct readings readings_of(const char *const *formats, const char *text) {
  struct readings readings = {.count = 0};
  if (!strchr("0123456789JFMASONDjfmasond", *text)) /* digits or months: no usual form begins otherwise */
    return readings;
  for (size_t f = 0; f < FORMATS - USUAL; f++)
    (void)read_as(formats[f], text, f, &readings);
  for (size_t day = FORMATS - USUAL; day < FORMATS; day += TIMES) {
    struct tm read = {0};
    if (strptime(text, formats[day], &read)) /* else no time behind it helps */
      for (size_t f = day; f < day + TIMES && !read_as(formats[f], text, f, &readings);)
        f++;
  }
  return readings;
}

static bool has_reading(const struct readings *readings, size_t format) {
  for (size_t i = 0; i < readings->count; i++)
    if (readings->format[i] == format)
      return true;
  return false;
}

/* Take the format that reads the most of what is left; false: none reads any. */
static bool take_form(const char *const *formats, size_t rows, struct readings *readings,
                      struct tutti_date_form *form) {
  size_t best = 0, counts[FORMATS] = {0};
  for (size_t r = 0; r < rows; r++)
    for (size_t i = 0; i < readings[r].count; i++)
      counts[readings[r].format[i]]++;
  for (size_t f = 1; f < FORMATS; f++)
    best = counts[f] > counts[best] ? f : best;
  *form = (struct tutti_date_form){.format = formats[best], .rows = counts[best]};
  for (size_t r = rows; r-- > 0;)
    if (has_reading(&readings[r], best)) {
      form->first = r;
      readings[r].count = 0;
    }
  return form->rows > 0;
}

enum tutti_status tutti_profile_date_forms(tutti_context *context, const struct tutti_data_config *config,
                                           const tutti_rows *table, size_t column, struct tutti_date_forms *forms) {
  const char *formats[FORMATS] = {config->date_format, ""};
  size_t rows = tutti_rows_count(table), texts = 0, dates = 0;
  struct readings *readings;
  memcpy(formats + FORMATS - USUAL, usual, sizeof usual);
  *forms = (struct tutti_date_forms){.count = 0};
  TUTTI_TRY(context, tutti_alloc(context, rows, sizeof *readings, &readings));
  for (size_t r = rows; r-- > 0;) {
    if (tutti_rows_cell(table, r, column) != TUTTI_CELL_TEXT)
      continue;
    readings[r] = readings_of(formats, tutti_rows_text(table, r, column));
    forms->first_other = readings[r].count > 0 ? forms->first_other : r;
    dates += readings[r].count > 0;
    texts++;
  }
  forms->others = texts - dates;
  while (forms->others <= texts / 10 && forms->count < TUTTI_DATE_FORMS &&
         take_form(formats, rows, readings, &forms->form[forms->count]))
    forms->count++;
  tutti_free(readings);
  return TUTTI_OK;
}

static void append(char text[TUTTI_DATE_FORMS_ROOM], const char *format, ...) TUTTI_PRINTF(2, 3);
static void append(char text[TUTTI_DATE_FORMS_ROOM], const char *format, ...) {
  size_t length = strlen(text);
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(text + length, TUTTI_DATE_FORMS_ROOM - length, format, arguments);
  va_end(arguments);
}

/* A text and where it stands. */
static void append_cell(const tutti_rows *table, size_t row, size_t column, char text[TUTTI_DATE_FORMS_ROOM]) {
  size_t line = tutti_rows_line(table, row);
  append(text, "'%.30s' (%s %zu", tutti_rows_text(table, row, column), line ? "line" : "row", line ? line : row);
}

void tutti_profile_print_forms(const tutti_rows *table, size_t column, const struct tutti_date_forms *forms,
                               char text[TUTTI_DATE_FORMS_ROOM]) {
  *text = '\0';
  for (size_t i = 0; i < forms->count; i++) {
    const struct tutti_date_form *form = &forms->form[i];
    append(text, "%s%zu as ", i ? ", " : "", form->rows);
    append_cell(table, form->first, column, text);
    append(text, ", %s)", *form->format ? form->format : "%Y-%m-%d");
  }
  if (forms->others == 0)
    return;
  append(text, "; %zu %s: ", forms->others, tutti_plural(forms->others, "is no date", "are no dates"));
  append_cell(table, forms->first_other, column, text);
  append(text, ")");
}
