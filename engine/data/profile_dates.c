/* profile_dates.c - how the dates of a column are written: in which forms, if not as the recipe says. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <tutti/names.h>

#include "profile_impl.h"

/* Of two that read the same texts, the one with four digits of the year would take 24 for the year 24. */
static const char *const usual[] = {"%d.%m.%y",       "%d/%m/%y",       "%m/%d/%y", "%d.%m.%y %H:%M", "%d/%m/%y %H:%M",
                                    "%m/%d/%y %H:%M", "%d.%m.%Y",       "%d/%m/%Y", "%m/%d/%Y",       "%d.%m.%Y %H:%M",
                                    "%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M", "%d-%m-%Y", "%Y/%m/%d",       "%Y.%m.%d",
                                    "%d-%b-%y",       "%d %b %Y",       "%d-%b-%Y", "%b %d, %Y"};
enum { USUAL = sizeof usual / sizeof *usual, FORMATS = USUAL + 2 };

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
  }
  return length > 0;
}

bool tutti_profile_dates(const tutti_rows *table, size_t column, const char *format) {
  return all_are_dates(table, column, format) || all_are_dates(table, column, "");
}

/* --- several forms --- */

/* Which formats read the text: a bit for each. */
static uint32_t formats_of(const char *const *formats, const char *text) {
  uint32_t mask = 0;
  double days;
  bool time;
  if (!strchr("0123456789JFMASONDjfmasond", *text)) /* digits or months: no usual form begins otherwise */
    return 0;
  for (size_t f = 0; f < FORMATS; f++)
    if (tutti_date_read(formats[f], text, &days, &time))
      mask |= UINT32_C(1) << f;
  return mask;
}

/* Take the format that reads the most of what is left; false: none reads any. */
static bool take_form(const char *const *formats, size_t rows, uint32_t *masks, struct tutti_date_form *form) {
  size_t best = 0;
  *form = (struct tutti_date_form){.rows = 0};
  for (size_t f = 0; f < FORMATS; f++) {
    size_t count = 0;
    for (size_t r = 0; r < rows; r++)
      count += masks[r] >> f & 1;
    if (count > form->rows)
      *form = (struct tutti_date_form){.format = formats[f], .rows = count};
    best = form->format == formats[f] ? f : best;
  }
  for (size_t r = rows; r-- > 0;)
    if (masks[r] >> best & 1) {
      form->first = r;
      masks[r] = 0;
    }
  return form->rows > 0;
}

enum tutti_status tutti_profile_date_forms(tutti_context *context, const struct tutti_data_config *config,
                                           const tutti_rows *table, size_t column, struct tutti_date_forms *forms) {
  const char *formats[FORMATS] = {config->date_format, ""};
  size_t rows = tutti_rows_count(table), texts = 0, dates = 0;
  uint32_t *masks;
  memcpy(formats + FORMATS - USUAL, usual, sizeof usual);
  *forms = (struct tutti_date_forms){.count = 0};
  TUTTI_TRY(context, tutti_alloc(context, rows, sizeof *masks, &masks));
  for (size_t r = rows; r-- > 0;) {
    if (tutti_rows_cell(table, r, column) != TUTTI_CELL_TEXT)
      continue;
    masks[r] = formats_of(formats, tutti_rows_text(table, r, column));
    forms->first_other = masks[r] ? forms->first_other : r;
    dates += masks[r] != 0;
    texts++;
  }
  forms->others = texts - dates;
  while (forms->others <= texts / 10 && forms->count < TUTTI_DATE_FORMS &&
         take_form(formats, rows, masks, &forms->form[forms->count]))
    forms->count++;
  tutti_free(masks);
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
