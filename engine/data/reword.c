/* reword.c - rows of an application, read as the files that a data set came from: $ and % are dropped, 1,234 is a
   number, and -999 is missing, where they are so there; True and False are what the column has for them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/hosting.h>
#include <tutti/names.h>
#include <tutti/source.h>

#include "cells_impl.h"
#include "reword_impl.h"

/* Where a sign is that of decimals, and where it may be and stands between thousands. */
struct place {
  bool any;
  size_t row, column;
};
struct places {
  struct place decimal, grouped;
};

struct reader {
  tutti_context *context;
  const struct tutti_encoding *encoding;
  const tutti_rows *table;
  const struct tutti_data_column **of; /* [columns]: what a column is used for; NULL: for nothing */
  tutti_host *host;
  tutti_source *source; /* made when it is first asked */
  double *marks;        /* [mark_count]: numbers that say that a value is missing */
  size_t mark_count;
  struct places points, commas;
};

/* --- what the source says --- */

static enum tutti_status open_source(struct reader *reader) {
  return reader->source
             ? TUTTI_OK
             : tutti_origin_source(reader->context, &reader->encoding->origin, &reader->host, &reader->source);
}

static enum tutti_status ask(struct reader *reader, const char *word, char *meaning, bool *other) {
  TUTTI_TRY(reader->context, open_source(reader));
  return tutti_source_reword(reader->context, reader->source, word, meaning, other);
}

static enum tutti_status find_marks(struct reader *reader) {
  tutti_context *context = reader->context;
  double number;
  bool any;
  TUTTI_TRY(context, open_source(reader));
  TUTTI_TRY(context, tutti_source_mark(context, reader->source, 0, &number, &any));
  while (any) {
    TUTTI_TRY(context, tutti_realloc(context, reader->mark_count, reader->mark_count + 1, sizeof *reader->marks,
                                     &reader->marks));
    reader->marks[reader->mark_count++] = number;
    TUTTI_TRY(context, tutti_source_mark(context, reader->source, reader->mark_count, &number, &any));
  }
  return TUTTI_OK;
}

/* An application's floats hold a mark such as -99.9 or 1e20 as the float that is next to it; whole numbers such as
   99991231 are what they are, since others are next to them. */
static bool is_mark(const struct reader *reader, double number) {
  for (size_t i = 0; i < reader->mark_count; i++) {
    const double mark = reader->marks[i], nearest = (double)(float)mark;
    const bool whole = mark == trunc(mark) && fabs(mark) < 0x1p53;
    if (mark == number || (!whole && nearest != 0 && isfinite(nearest) && nearest == number))
      return true;
  }
  return false;
}

/* --- true and false --- */

/* The word by which a column has a value that is True or False elsewhere: where it has one of a pair as a category, the
   pair's; of numbers, 1 or 0. NULL: it has none. */
static const char *truth_of(const struct tutti_data_column *column, bool value) {
  static const char *const words[][2] = {{"False", "True"}, {"false", "true"}, {"FALSE", "TRUE"}, {"0", "1"}};
  if (!column->categories)
    return column->date_format ? NULL : value ? "1" : "0";
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (tutti_category_find(column, words[i][0]) != SIZE_MAX || tutti_category_find(column, words[i][1]) != SIZE_MAX)
      return words[i][value];
  return NULL;
}

/* --- cells --- */

/* 1.500 is 1500 where the training data have decimal commas; 001.500 is not. NULL: it is what it is. */
static enum tutti_status ask_in_threes(struct reader *reader, double number, char *room, const char **meaning) {
  char word[TUTTI_SOURCE_WORD_ROOM];
  bool other;
  (void)snprintf(word, sizeof word, "%.3f", number);
  TUTTI_TRY(reader->context, ask(reader, word, room, &other));
  *meaning = other ? room : NULL;
  return TUTTI_OK;
}

/* Of a number: is it missing? One with zeros before it, as codes have, may be a mark as it stands, as inf is. */
static enum tutti_status ask_whether_missing(struct reader *reader, double number, const char *text, char *room,
                                             const char **meaning) {
  bool missing = !*text && is_mark(reader, number);
  if (*text)
    TUTTI_TRY(reader->context, ask(reader, text, room, &missing));
  *meaning = missing && !(*text && *room) ? "" : NULL;
  return TUTTI_OK;
}

/* The word that a cell is; NULL: it stays as it is. */
static enum tutti_status meaning_of(struct reader *reader, size_t row, size_t column, char *room,
                                    const char **meaning) {
  const struct tutti_data_column *used = reader->of[column];
  enum tutti_cell cell = tutti_rows_cell(reader->table, row, column);
  const char *text = tutti_rows_text(reader->table, row, column);
  bool other;
  const double number = tutti_rows_number(reader->table, row, column);
  *meaning = NULL;
  /* What its point means says which number it is. */
  if (!*text && tutti_rows_written(reader->table, row, column) == TUTTI_WRITTEN_IN_THREES)
    TUTTI_TRY(reader->context, ask_in_threes(reader, number, room, meaning));
  if (!*meaning && (cell == TUTTI_CELL_NUMBER || cell == TUTTI_CELL_INFINITE))
    TUTTI_TRY(reader->context, ask_whether_missing(reader, number, text, room, meaning));
  if (cell != TUTTI_CELL_TEXT || (used->categories && tutti_category_find(used, text) != SIZE_MAX))
    return TUTTI_OK;
  if (strcmp(text, "True") == 0 || strcmp(text, "False") == 0)
    *meaning = truth_of(used, *text == 'T');
  if (*meaning)
    return TUTTI_OK;
  TUTTI_TRY(reader->context, ask(reader, text, room, &other));
  *meaning = other ? room : NULL;
  return TUTTI_OK;
}

/* --- decimal signs --- */

static void note(struct place *place, size_t row, size_t column) {
  if (!place->any)
    *place = (struct place){true, row, column};
}

/* What the word of a number says of commas and points; categories and dates are names of things, and say nothing.
   `meaning`: what it became; NULL: it stayed. */
static void note_signs(struct reader *reader, size_t row, size_t column, const char *meaning) {
  const struct tutti_data_column *used = reader->of[column];
  const char *sign = strpbrk(tutti_rows_text(reader->table, row, column), ".,");
  enum tutti_written written = tutti_rows_written(reader->table, row, column);
  double number;
  if (used->categories || used->date_format || (meaning && tutti_cell_read(meaning, &number) != TUTTI_CELL_NUMBER))
    return;
  if (written != TUTTI_WRITTEN_PLAIN)
    note(meaning ? &reader->points.grouped : &reader->points.decimal, row, column);
  if (!meaning || !sign)
    return;
  const char *last = sign;
  for (const char *next = sign; next; next = strpbrk(next + 1, ".,"))
    last = next;
  struct places *signs = *last == ',' ? &reader->commas : &reader->points;
  if (strchr(meaning, '.'))
    note(&signs->decimal, row, column);
  else if (last == sign)
    note(&signs->grouped, row, column);
}

/* As in files: which of them is written otherwise than the training data? */
static enum tutti_status check_signs(const struct reader *reader, const struct places *signs, const char *sign,
                                     const char *grouped) {
  if (!signs->decimal.any || !signs->grouped.any)
    return TUTTI_OK;
  return tutti_cell_fail(
      reader->context, reader->table, signs->decimal.row, signs->decimal.column,
      "found a number with a decimal %s, and in row %zu of column '%s' one such as %s, which is 1234 "
      "in the training data; hand over numbers as numbers, or write all as there",
      sign, signs->grouped.row, tutti_rows_names(reader->table)[signs->grouped.column], grouped);
}

static enum tutti_status any_changes(struct reader *reader, bool *any) {
  char room[TUTTI_SOURCE_WORD_ROOM];
  const char *meaning;
  *any = false;
  for (size_t c = 0; c < tutti_rows_columns(reader->table); c++)
    for (size_t r = 0; reader->of[c] && r < tutti_rows_count(reader->table); r++) {
      TUTTI_TRY(reader->context, meaning_of(reader, r, c, room, &meaning));
      *any = *any || meaning;
      if (*any)
        return TUTTI_OK;
    }
  return TUTTI_OK;
}

/* Cells that are not used count as missing. */
static enum tutti_status copy_cell(struct reader *reader, size_t row, size_t column, tutti_rows *to) {
  tutti_context *context = reader->context;
  char room[TUTTI_SOURCE_WORD_ROOM];
  const char *text = tutti_rows_text(reader->table, row, column), *meaning;
  enum tutti_cell cell = tutti_rows_cell(reader->table, row, column);
  double number = tutti_rows_number(reader->table, row, column);
  if (!reader->of[column])
    return tutti_rows_add_text(context, to, column, NULL);
  TUTTI_TRY(context, meaning_of(reader, row, column, room, &meaning));
  note_signs(reader, row, column, meaning);
  if (meaning)
    return tutti_rows_add_cell(context, to, column, meaning);
  if (cell == TUTTI_CELL_TEXT)
    return tutti_rows_add_text(context, to, column, text);
  if (*text) /* a number with zeros before it, or a mark */
    return tutti_rows_add_cell(context, to, column, text);
  return tutti_rows_add_numbers(context, to, column, 1, &number);
}

static enum tutti_status copy_row(struct reader *reader, size_t row, tutti_rows *to) {
  const char *why = tutti_rows_unread(reader->table, row);
  uint32_t line = tutti_rows_line(reader->table, row);
  if (line)
    TUTTI_TRY(reader->context, tutti_rows_add_lines(reader->context, to, 1, &line));
  if (why)
    return tutti_rows_add_unread(reader->context, to, why);
  for (size_t c = 0; c < tutti_rows_columns(reader->table); c++)
    TUTTI_TRY(reader->context, copy_cell(reader, row, c, to));
  return TUTTI_OK;
}

static enum tutti_status copy(struct reader *reader, tutti_rows **made) {
  tutti_context *context = reader->context;
  const tutti_rows *table = reader->table;
  TUTTI_TRY(context, tutti_rows_create(context, tutti_rows_origin(table), made));
  for (size_t c = 0; c < tutti_rows_columns(table); c++)
    TUTTI_TRY(context, tutti_rows_add_column(context, *made, tutti_rows_names(table)[c]));
  TUTTI_TRY(context, tutti_rows_expect(context, *made, tutti_rows_count(table)));
  for (size_t r = 0; r < tutti_rows_count(table); r++)
    TUTTI_TRY(context, copy_row(reader, r, *made));
  TUTTI_TRY(context, check_signs(reader, &reader->points, "point", "1.234"));
  return check_signs(reader, &reader->commas, "comma", "1,234");
}

static enum tutti_status find_columns(struct reader *reader, bool targets) {
  const struct tutti_encoding *encoding = reader->encoding;
  TUTTI_TRY(reader->context,
            tutti_alloc(reader->context, tutti_rows_columns(reader->table), sizeof *reader->of, &reader->of));
  for (size_t i = 0; i < encoding->inputs; i++)
    reader->of[encoding->input[i].position] = &encoding->input[i];
  for (size_t t = 0; targets && t < encoding->targets; t++)
    reader->of[encoding->target[t].position] = &encoding->target[t];
  return TUTTI_OK;
}

enum tutti_status tutti_reword(tutti_context *context, const struct tutti_encoding *encoding, const tutti_rows *table,
                               bool targets, tutti_rows **made) {
  enum tutti_status status = TUTTI_OK;
  struct reader reader = {.context = context, .encoding = encoding, .table = table};
  bool any;
  *made = NULL;
  TUTTI_TRY_OUT(context, find_columns(&reader, targets));
  TUTTI_TRY_OUT(context, find_marks(&reader));
  TUTTI_TRY_OUT(context, any_changes(&reader, &any));
  if (any)
    TUTTI_TRY_OUT(context, copy(&reader, made));
out:
  if (status != TUTTI_OK) {
    tutti_rows_destroy(*made);
    *made = NULL;
  }
  tutti_source_destroy(reader.source);
  tutti_host_destroy(reader.host);
  tutti_free(reader.marks);
  tutti_free(reader.of);
  return status;
}
