/* useless.c - columns that say nothing about rows that have not been seen: constants, and names or numbers of rows. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cells_impl.h"
#include "dates_impl.h"
#include "roles_impl.h"

enum { FEW_ROWS = 20 };

/* What is in a column. Cells are `missing` where there is a target, as in rows that teach. */
struct seen {
  size_t cells, numbers, texts, dates, missing;
  double first, last; /* of the numbers */
  bool one_number, one_text, count_up;
};

enum tutti_status tutti_useless_taught(tutti_context *context, const tutti_rows *table, const uint8_t *roles,
                                       bool **taught) {
  TUTTI_TRY(context, tutti_alloc(context, tutti_rows_count(table), sizeof **taught, taught));
  for (size_t r = 0; r < tutti_rows_count(table); r++)
    (*taught)[r] = true;
  for (size_t c = 0; c < tutti_rows_columns(table); c++)
    for (size_t r = 0; roles[c] == ROLE_TARGET && r < tutti_rows_count(table); r++)
      (*taught)[r] = (*taught)[r] && tutti_rows_cell(table, r, c) != TUTTI_CELL_MISSING;
  return TUTTI_OK;
}

static struct seen look(const char *date_format, const tutti_rows *table, const bool *taught, size_t column) {
  struct seen seen = {.one_number = true, .one_text = true, .count_up = true};
  double days;
  const char *text = NULL;
  bool time;
  for (size_t r = 0; r < tutti_rows_count(table); r++) {
    enum tutti_cell cell = tutti_rows_cell(table, r, column);
    seen.missing += cell == TUTTI_CELL_MISSING && taught[r];
    seen.cells += cell != TUTTI_CELL_MISSING;
    if (cell == TUTTI_CELL_TEXT) {
      const char *here = tutti_rows_text(table, r, column);
      text = text ? text : here;
      seen.one_text = seen.one_text && strcmp(text, here) == 0;
      seen.dates += tutti_date_read_cell(date_format, table, r, column, &days, &time);
      seen.texts++;
    }
    if (cell != TUTTI_CELL_NUMBER)
      continue;
    double number = tutti_rows_number(table, r, column);
    seen.count_up = seen.count_up && (seen.numbers == 0 ? number == floor(number) : number == seen.last + 1);
    seen.first = seen.numbers == 0 ? number : seen.first;
    seen.one_number = seen.one_number && number == seen.first;
    seen.last = number;
    seen.numbers++;
  }
  return seen;
}

/* Is one of the words of this name, between other signs than letters, one of time? */
static bool is_called_time(const char *name) {
  static const char *const words[] = {"year", "quarter", "month", "week", "day", "date", "hour", "time"};
  for (const char *c = name; *c; c++) {
    size_t length = 0;
    while (isalpha((unsigned char)c[length]))
      length++;
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
      if (length == strlen(words[w]) && strncasecmp(c, words[w], length) == 0)
        return true;
    c += length > 0 ? length - 1 : 0;
  }
  return false;
}

/* Whole numbers that go up by one may be years, or another count of time, with which targets may rise or fall. */
static bool is_time(const char *name, const struct seen *seen) {
  enum { FIRST_YEAR = 1500, LAST_YEAR = 2200 };
  return (seen->first >= FIRST_YEAR && seen->last <= LAST_YEAR) || is_called_time(name);
}

static enum tutti_status all_differ(tutti_context *context, const tutti_rows *table, size_t column, size_t texts,
                                    bool *differ) {
  const char **sorted;
  size_t count = 0;
  *differ = true;
  TUTTI_TRY(context, tutti_alloc(context, texts, sizeof(const char *), &sorted));
  for (size_t r = 0; r < tutti_rows_count(table); r++)
    if (tutti_rows_cell(table, r, column) == TUTTI_CELL_TEXT)
      sorted[count++] = tutti_rows_text(table, r, column);
  qsort(sorted, count, sizeof(const char *), tutti_compare_texts);
  for (size_t i = 1; i < count && *differ; i++)
    *differ = strcmp(sorted[i], sorted[i - 1]) != 0;
  tutti_free(sorted);
  return TUTTI_OK;
}

enum tutti_status tutti_useless_find(tutti_context *context, const struct tutti_data_config *config,
                                     const tutti_rows *table, const bool *taught, size_t column,
                                     enum tutti_useless *useless) {
  char room[TUTTI_DATE_FORMAT_ROOM];
  bool differ = false, named;
  const char *format = tutti_date_format_of(config, tutti_rows_names(table)[column], room, &named);
  struct seen seen = look(format, table, taught, column);
  /* Where missing cells are an input of their own, one value is a second: it is there, or it is not. */
  bool there = seen.missing > 0 && config->missing == TUTTI_MISSING_INDICATOR;
  *useless = TUTTI_USEFUL;
  if (seen.numbers + seen.texts == 0)
    *useless = TUTTI_EMPTY;
  else if (!there && (seen.numbers == 0 ? seen.one_text : seen.texts == 0 && seen.one_number))
    *useless = seen.missing > 0 ? TUTTI_CONSTANT_OR_NONE : TUTTI_CONSTANT;
  else if (!named && seen.texts == 0 && seen.count_up && seen.numbers == seen.cells && seen.missing == 0 &&
           seen.numbers >= FEW_ROWS && !is_time(tutti_rows_names(table)[column], &seen))
    *useless = TUTTI_ROW_NUMBERS;
  /* A column of dates with a mistake in it is none of names: the mistake will be told of. */
  bool dates = named || seen.dates > seen.texts - seen.dates;
  bool joined = there && config->rare >= 2; /* to one category, (other), beside (missing) */
  if (*useless != TUTTI_USEFUL || seen.numbers > 0 || dates || joined || seen.texts < FEW_ROWS)
    return TUTTI_OK;
  TUTTI_TRY(context, all_differ(context, table, column, seen.texts, &differ));
  if (differ)
    *useless = seen.missing > 0 ? TUTTI_DIFFERENT_OR_NONE : TUTTI_ALL_DIFFERENT;
  return TUTTI_OK;
}

const char *tutti_useless_text(enum tutti_useless useless) {
  switch (useless) {
  case TUTTI_CONSTANT:
    return "has one value";
  case TUTTI_CONSTANT_OR_NONE:
    return "has one value, or none";
  case TUTTI_ALL_DIFFERENT:
    return "has another text in every row";
  case TUTTI_DIFFERENT_OR_NONE:
    return "has another text in every row that has one";
  case TUTTI_ROW_NUMBERS:
    return "numbers the rows";
  case TUTTI_EMPTY:
    return "has no values";
  default:
    return "";
  }
}

const char *tutti_useless_advice(const struct tutti_data_config *config, enum tutti_useless useless) {
  bool indicator = config->missing == TUTTI_MISSING_INDICATOR;
  if (useless == TUTTI_ROW_NUMBERS)
    return "; data.useless = keep keeps such columns, if the order of the rows is that of time";
  if (useless != TUTTI_CONSTANT_OR_NONE && useless != TUTTI_DIFFERENT_OR_NONE)
    return "";
  if (useless == TUTTI_CONSTANT_OR_NONE)
    return "; data.missing = indicator makes an input of whether there is one";
  return indicator ? "; data.rare = 2 makes an input of whether there is one"
                   : "; data.missing = indicator and data.rare = 2 make an input of whether there is one";
}

static bool is_input(uint8_t role) { return role == ROLE_INPUT || role == ROLE_CATEGORIES; }

enum tutti_status tutti_useless_ignore(tutti_context *context, const struct tutti_data_config *config,
                                       const tutti_rows *table, uint8_t *roles) {
  enum tutti_status status = TUTTI_OK;
  size_t columns = tutti_rows_columns(table), useful = 0;
  enum tutti_useless *useless = NULL;
  bool *taught = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, columns, sizeof *useless, &useless));
  TUTTI_TRY_OUT(context, tutti_useless_taught(context, table, roles, &taught));
  for (size_t c = 0; c < columns; c++)
    if (is_input(roles[c])) {
      TUTTI_TRY_OUT(context, tutti_useless_find(context, config, table, taught, c, &useless[c]));
      useful += useless[c] == TUTTI_USEFUL;
    }
  for (size_t c = 0; c < columns; c++) {
    /* Where there is no other input, the targets are a function of what counts up: of a year, say. */
    bool alone = useful == 0 && useless[c] == TUTTI_ROW_NUMBERS;
    if (!is_input(roles[c]) || useless[c] == TUTTI_USEFUL)
      continue;
    if (!alone)
      roles[c] = ROLE_IGNORED;
    tutti_log(context, TUTTI_LOG_INFO, "%s: column '%s' %s; it is %s", tutti_rows_origin(table),
              tutti_rows_names(table)[c], tutti_useless_text(useless[c]),
              alone ? "kept, since no other column is left as an input" : "left out");
  }
out:
  tutti_free(taught);
  tutti_free(useless);
  return status;
}
