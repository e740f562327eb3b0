/* csv_table.c - a table from the rows of a file of comma-separated values. */
#include "csv_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/names.h>

#include "conventions.h"
#include "csv_file.h"
#include "csv_plain.h"
#include "marks.h"
#include "words.h"

const char *const reading_csv_headers[] = {"auto", "yes", "no", NULL};
const char *const reading_csv_decimals[] = {"auto", "point", "comma", NULL};
const char *const reading_csv_delimiters[] = {"auto", "comma", "semicolon", "tab", "space", "pipe", "blanks", NULL};

/* Numbers that are next in a column: columns lie far apart in memory, so they get several at once. */
enum { RUN_LENGTH = 64 };
struct run {
  size_t count;
  double numbers[RUN_LENGTH];
};

struct table {
  tutti_context *context;
  const char *path;
  int header, decimal;
  bool settles;     /* does the file say how numbers are written */
  bool comma_parts; /* do commas separate cells */
  const char *missing_marks, *strip;
  bool has_marks; /* have the marks that are numbers been found; for a single word they are not */
  double *marks;  /* [mark_count] */
  size_t mark_count;
  bool tolerant;
  tutti_rows *rows;
  const struct csv_row *row;      /* the one that is being taken */
  bool any, names;                /* was there a row yet; did it hold names */
  bool names_are_numbers;         /* ... with a number among them, which is more like a row of data */
  bool guesses;                   /* is it the first line that says what separates cells */
  struct reading_words_vote vote; /* of a table with one column */
  struct reading_conventions conventions;
  const char *const *wanted; /* names of the columns that are used; NULL: all are */
  bool *unused;              /* [columns] */
  struct run *runs;          /* [columns] */
};

/* --- rows --- */

/* Is a text a number, however it is written? */
static bool is_number_of(const struct table *table, const char *text, double *number) {
  char plain[READING_NUMERAL_ROOM];
  bool rewritten = reading_numeral(text, (enum reading_decimal)table->decimal, plain) == READING_NUMBER;
  enum tutti_cell kind = tutti_cell_read(rewritten ? plain : text, number);
  return kind == TUTTI_CELL_NUMBER || kind == TUTTI_CELL_INFINITE;
}

static bool is_number(const struct table *table, const char *text) {
  double number;
  return is_number_of(table, text, &number);
}

/* Of each cell of a file it is asked whether it is a mark. A list with commas would mark nothing. */
static enum tutti_status find_marks(struct table *table) {
  char first[READING_MARKS_ROOM], sign;
  const char *words = table->missing_marks;
  size_t count = 0;
  double number;
  if (reading_marks_are_listed(words, first, &sign))
    return TUTTI_FAIL(table->context, TUTTI_ERROR_USAGE,
                      "data.missing_marks: expected marks with blanks between them, found a %s behind '%s'",
                      sign == ',' ? "comma" : "semicolon", first);
  while (reading_marks_next_number(&words, &number))
    count++;
  TUTTI_TRY(table->context, tutti_alloc(table->context, count, sizeof *table->marks, &table->marks));
  words = table->missing_marks;
  while (table->mark_count < count && reading_marks_next_number(&words, &table->marks[table->mark_count]))
    table->mark_count++;
  table->has_marks = true;
  return TUTTI_OK;
}

static bool is_mark(const struct table *table, double number) {
  if (!table->has_marks)
    return reading_marks_have_number(table->missing_marks, number);
  for (size_t i = 0; i < table->mark_count; i++)
    if (table->marks[i] == number)
      return true;
  return false;
}

/* Is a text a number that marks a missing cell, maybe written otherwise than the mark, as -999.0? A code is none. */
static bool is_marked_number(const struct table *table, const char *text) {
  double number;
  bool none = table->has_marks && table->mark_count == 0;
  return !none && !csv_has_zeros(text) && is_number_of(table, text, &number) && is_mark(table, number);
}

/* What a cell says, but for what the recipe says of marks and signs; `room` is used where that is another text. */
static const char *meaning_of(const struct table *table, const char *text, char *room) {
  if (*table->missing_marks && reading_marks_have(table->missing_marks, text))
    return "";
  if (*table->strip && !is_number(table, text) && reading_marks_strip(table->strip, text, room) &&
      is_number(table, room))
    text = room;
  return is_marked_number(table, text) ? "" : text;
}

/* Do the first row's cells look like names: none is a number, and not all are empty? (Tools that write row numbers
   leave the name of that column empty.) */
static bool row_has_names(const struct table *table) {
  const struct csv_row *row = table->row;
  bool any = false;
  for (size_t i = 0; i < row->count; i++) {
    char room[READING_MARKS_ROOM];
    const char *cell = csv_row_cell(row, i), *text = meaning_of(table, cell, room);
    if (is_number(table, text) || is_number(table, cell)) /* a mark, too, is a number */
      return false;
    any = any || *text != '\0';
  }
  return any;
}

/* Names such as 5 % are numbers once their signs are dropped, and prices in a file without names look like them: say
   how the first row was taken if it is all texts but for the signs. */
static void doubt_signs(const struct table *table) {
  const struct csv_row *row = table->row;
  const char *first = NULL;
  for (size_t i = 0; i < row->count; i++) {
    char room[READING_MARKS_ROOM];
    const char *text = csv_row_cell(row, i);
    if (is_number(table, text))
      return;
    if (!first && is_number(table, meaning_of(table, text, room)))
      first = text;
  }
  if (first)
    tutti_log(
        table->context, TUTTI_LOG_WARNING,
        "%s: the first row is taken for a row of data, since '%.60s' is a number without what data.strip drops; if "
        "it is the name of a column, set data.header = yes",
        table->path, first);
}

/* Years as the names of columns look like data: say how the first row was taken if all its numbers could be years. */
static void doubt_first_row(const struct table *table) {
  const struct csv_row *row = table->row;
  double number, before = 0;
  size_t years = 0;
  for (size_t i = 0; i < row->count; i++) {
    enum tutti_cell kind = tutti_cell_read(csv_row_cell(row, i), &number);
    if (kind != TUTTI_CELL_NUMBER)
      continue;
    if (number < 1800 || number > 2100 || number != floor(number) || number == before)
      return;
    before = number;
    years++;
  }
  if (years > 1)
    tutti_log(table->context, TUTTI_LOG_WARNING,
              "%s: the first row has numbers, and so is taken for a row of data; if they are years that name the "
              "columns, set data.header = yes",
              table->path);
}

/* A name of its own for each column that has one. */
static enum tutti_status check_name(const struct table *table, size_t column) {
  const char *name = csv_row_cell(table->row, column), *say = "";
  size_t other = *name ? tutti_rows_find(table->rows, name) : SIZE_MAX;
  if (other == SIZE_MAX)
    return TUTTI_OK;
  if (table->header == READING_HEADER_AUTO)
    say = ", or, if the line is a row of data, set data.header = no";
  return TUTTI_FAIL(
      table->context, TUTTI_ERROR_USAGE,
      "%s:%zu: columns %zu and %zu are both named '%s'; expected a name of its own for each: rename one of them%s",
      table->path, table->row->line, other, column, name, say);
}

/* taken[columns]: does a column have the name that this one would get by its number, as x3? */
static void find_taken(const struct csv_row *row, bool *taken) {
  for (size_t i = 0; i < row->count; i++) {
    const char *name = csv_row_cell(row, i);
    char *end;
    if (name[0] != 'x' || name[1] < '0' || name[1] > '9')
      continue;
    size_t number = strtoul(name + 1, &end, 10);
    if (*end == '\0' && number < row->count)
      taken[number] = true;
  }
}

/* The name of a column of the first row. One without a name is called by its number (NULL), or if that is the name of
   another, made[32]. */
static const char *name_of(const struct table *table, size_t column, bool taken, char *made) {
  const char *name = csv_row_cell(table->row, column);
  if (!table->names || (!*name && !taken))
    return NULL;
  (void)snprintf(made, 32, "(column %zu)", column);
  return *name ? name : made;
}

static enum tutti_status add_named_columns(const struct table *table) {
  enum tutti_status status = TUTTI_OK;
  const struct csv_row *row = table->row;
  bool *taken;
  char made[32];
  TUTTI_TRY(table->context, tutti_alloc(table->context, row->count, sizeof *taken, &taken));
  find_taken(row, taken);
  for (size_t i = 0; i < row->count; i++) {
    if (tutti_cancelled(table->context))
      TUTTI_TRY_OUT(table->context, TUTTI_FAIL(table->context, TUTTI_ERROR_CANCELLED, "%s: cancelled", table->path));
    if (table->names)
      TUTTI_TRY_OUT(table->context, check_name(table, i));
    TUTTI_TRY_OUT(table->context,
                  tutti_rows_add_column(table->context, table->rows, name_of(table, i, taken[i], made)));
  }
out:
  tutti_free(taken);
  return status;
}

/* What stands in columns that nobody uses says nothing of the numbers in others. Names are mostly in the order of the
   wanted ones: each is looked for behind the one before. */
static enum tutti_status find_unused(struct table *table) {
  const size_t columns = tutti_rows_columns(table->rows);
  size_t wanted = 0, next = 0;
  TUTTI_TRY(table->context, tutti_alloc(table->context, columns, sizeof *table->unused, &table->unused));
  while (table->wanted && table->wanted[wanted])
    wanted++;
  for (size_t c = 0; table->names && wanted > 0 && c < columns; c++) {
    size_t tried = 0;
    while (tried < wanted && strcmp(table->wanted[(next + tried) % wanted], tutti_rows_names(table->rows)[c]) != 0)
      tried++;
    table->unused[c] = tried == wanted;
    next += table->unused[c] ? 0 : tried + 1;
  }
  return TUTTI_OK;
}

/* Make the columns from the first row. */
static enum tutti_status add_columns(struct table *table) {
  const struct csv_row *row = table->row;
  table->any = true;
  const bool like_names = row_has_names(table);
  table->names = table->header == READING_HEADER_YES || (table->header == READING_HEADER_AUTO && like_names);
  table->names_are_numbers = table->names && !like_names;
  if (!table->names && table->header == READING_HEADER_AUTO)
    doubt_first_row(table);
  if (!table->names && table->header == READING_HEADER_AUTO)
    doubt_signs(table);
  TUTTI_TRY(table->context, add_named_columns(table));
  TUTTI_TRY(table->context, find_unused(table));
  TUTTI_TRY(table->context, reading_conventions_open(table->context, row->count, &table->conventions));
  return tutti_alloc(table->context, row->count, sizeof *table->runs, &table->runs);
}

/* What is in a cell. A point that groups digits, in a file whose cells are separated by commas, would be the decimal
   sign anywhere else: that file was written otherwise than the data. */
static enum reading_numeral look_at(const struct table *table, const char *text, char *number) {
  enum reading_numeral is = reading_numeral(text, (enum reading_decimal)table->decimal, number);
  bool commas = table->decimal == READING_DECIMAL_COMMA || table->decimal == READING_DECIMAL_COMMA_FIRST;
  bool doubtful = commas && table->row->delimiter == ',' && tutti_cell_in_threes(text, '.');
  return is == READING_NUMBER && doubtful ? READING_TEXT : is;
}

/* Is a cell a number as it stands, whatever the recipe says of signs? Such a text has nothing that look_at would read
   otherwise. Most cells are, so they are looked at once. */
static bool takes_plain_numbers(const struct table *table) { return table->decimal == READING_DECIMAL_POINT; }

static bool is_plain_number(const struct table *table, const char *text, double *number) {
  bool may_be = (*text >= '0' && *text <= '9') || *text == '-' || *text == '+' || *text == '.';
  return may_be && !csv_has_zeros(text) && takes_plain_numbers(table) &&
         tutti_cell_read(text, number) == TUTTI_CELL_NUMBER && !is_mark(table, *number);
}

static enum tutti_status end_run(const struct table *table, size_t column) {
  struct run *run = &table->runs[column];
  size_t count = run->count;
  run->count = 0;
  return count == 0 ? TUTTI_OK : tutti_rows_add_numbers(table->context, table->rows, column, count, run->numbers);
}

static enum tutti_status end_runs(const struct table *table) {
  for (size_t i = 0; i < tutti_rows_columns(table->rows); i++)
    TUTTI_TRY(table->context, end_run(table, i));
  return TUTTI_OK;
}

/* What a cell says of the others: nothing if the recipe says how numbers are written. Where commas separate cells, few
   have one. */
static void note_number(struct table *table, size_t column, const char *text, enum reading_numeral is) {
  bool open = table->decimal > READING_DECIMAL_COMMA;
  if (table->unused[column])
    return;
  if (open || (table->settles && table->decimal == READING_DECIMAL_POINT && strchr(text, ',')))
    reading_conventions_note(&table->conventions, column, table->row->line, text, is);
}

static enum tutti_status take_cell(struct table *table, size_t column, const char *text) {
  char number[READING_NUMERAL_ROOM], room[READING_MARKS_ROOM];
  struct run *run = &table->runs[column];
  if (table->guesses && tutti_rows_columns(table->rows) == 1 && !is_number(table, text))
    reading_words_cast(&table->vote, text);
  if (is_plain_number(table, text, &run->numbers[run->count]))
    return ++run->count < RUN_LENGTH ? TUTTI_OK : end_run(table, column);
  TUTTI_TRY(table->context, end_run(table, column));
  text = meaning_of(table, text, room);
  enum reading_numeral is = look_at(table, text, number);
  note_number(table, column, text, is);
  if (is == READING_TEXT)
    return tutti_rows_add_text(table->context, table->rows, column, text);
  return tutti_rows_add_cell(table->context, table->rows, column, is == READING_NUMBER ? number : text);
}

/* Are there blanks inside of each line, as between cells that are separated by them? With their words. */
static bool has_words(const struct table *table, struct reading_words *words) {
  *words = (struct reading_words){0};
  reading_words_add(words, tutti_rows_names(table->rows)[0], strlen(tutti_rows_names(table->rows)[0]));
  const size_t first = words->count;
  for (size_t i = 0; i < table->row->count; i++)
    reading_words_add(words, csv_row_cell(table->row, i), strlen(csv_row_cell(table->row, i)));
  return first > 1 && words->count - first > table->row->count;
}

static const char *name_of_delimiter(unsigned char delimiter) {
  return delimiter == ';'    ? "semicolon"
         : delimiter == '\t' ? "tab"
         : delimiter == ' '  ? "blank"
         : delimiter == '|'  ? "|"
                             : "comma";
}

/* Is this the first row below the names, and has one cell more? R leaves the name of the names of rows out. */
static bool may_have_row_names(const struct table *table, size_t columns) {
  return table->names && columns > 1 && table->row->count == columns + 1 && tutti_rows_count(table->rows) == 0;
}

/* Where the cells of a row and the columns part, and what may be the reason. */
static void say_difference(const struct table *table, const char *const *names, size_t columns, char *text,
                           size_t size) {
  const struct csv_row *row = table->row;
  bool empty = true;
  for (size_t i = columns; i < row->count; i++)
    empty = empty && *csv_row_cell(row, i) == '\0';
  if (row->count < columns)
    (void)snprintf(text, size, "there is none for column '%.40s'; where a value is missing, %s", names[row->count],
                   row->runs ? "write ? for it" : "leave its cell empty");
  else if (empty)
    (void)snprintf(text, size, "the last is empty; take the %s at the end of the line away",
                   name_of_delimiter(row->delimiter));
  else
    (void)snprintf(text, size, "there is no column for '%.40s'; quote cells that have a %s in them%s",
                   csv_row_cell(row, columns), name_of_delimiter(row->delimiter),
                   may_have_row_names(table, columns)
                       ? "; or if rows begin with names of their own, as R writes them, the header lacks "
                         "one for these: put it first"
                       : "");
}

/* A row with too few or too many cells. */
static enum tutti_status take_odd_row(const struct table *table, size_t columns, char why[CSV_FILE_WHY]) {
  size_t count = table->row->count;
  char difference[256];
  struct reading_words words;
  say_difference(table, tutti_rows_names(table->rows), columns, difference, sizeof difference);
  (void)snprintf(why, CSV_FILE_WHY, "expected %zu %s, as in the first line, found %zu: %s", columns,
                 tutti_plural(columns, "cell", "cells"), count, difference);
  /* A title, or a comment, is one cell; so is a row with blanks between its cells, until there is a decimal comma. */
  if (columns == 1 && !table->tolerant && table->guesses && has_words(table, &words))
    return TUTTI_FAIL(table->context, TUTTI_ERROR_USAGE, "%s:%zu: %s; %s", table->path, table->row->line, why,
                      reading_words_advice(&words));
  if (columns == 1 && !table->tolerant)
    return TUTTI_FAIL(table->context, TUTTI_ERROR_USAGE,
                      "%s:%zu: %s; if the table begins here, set data.skip_lines = %zu", table->path, table->row->line,
                      why, table->row->line - 1);
  return table->tolerant
             ? TUTTI_OK
             : TUTTI_FAIL(table->context, TUTTI_ERROR_USAGE, "%s:%zu: %s", table->path, table->row->line, why);
}

/* How numbers are written where this separates cells, by what the recipe or the data set says of it: commas between
   cells leave no other ones open. */
static int decimal_of(unsigned char delimiter, int decimal) {
  if (delimiter == ',' && (decimal == READING_DECIMAL_AUTO || decimal == READING_DECIMAL_POINT_FIRST))
    return READING_DECIMAL_POINT;
  return decimal == READING_DECIMAL_AUTO ? READING_DECIMAL_EITHER : decimal;
}

/* The name of what was found to separate cells. */
static const char *found_delimiter(const struct csv_row *row) {
  const int found = row->runs                ? READING_DELIMITER_BLANKS
                    : row->delimiter == ','  ? READING_DELIMITER_COMMA
                    : row->delimiter == ';'  ? READING_DELIMITER_SEMICOLON
                    : row->delimiter == '\t' ? READING_DELIMITER_TAB
                    : row->delimiter == '|'  ? READING_DELIMITER_PIPE
                                             : READING_DELIMITER_SPACE;
  return reading_csv_delimiters[found];
}

static enum tutti_status take_row(void *argument, const struct csv_row *row, char why[CSV_FILE_WHY]) {
  struct table *table = argument;
  bool first = !table->any;
  size_t columns = first ? row->count : tutti_rows_columns(table->rows);
  uint32_t line = (uint32_t)row->line;
  table->row = row;
  if (first) {
    table->decimal = decimal_of(row->delimiter, table->decimal);
    table->comma_parts = row->delimiter == ',';
    TUTTI_TRY(table->context, find_marks(table));
  }
  if (row->count != columns)
    return take_odd_row(table, columns, why);
  if (first && table->guesses)
    TUTTI_TRY(table->context, tutti_rows_settle(table->context, table->rows, "delimiter", found_delimiter(row)));
  if (first)
    TUTTI_TRY(table->context, add_columns(table));
  if (first && table->names)
    return TUTTI_OK;
  for (size_t i = 0; i < columns; i++)
    TUTTI_TRY(table->context, take_cell(table, i, csv_row_cell(row, i)));
  return tutti_rows_add_lines(table->context, table->rows, 1, &line);
}

static size_t columns_of(void *argument, bool *reads_numbers) {
  const struct table *table = argument;
  *reads_numbers = takes_plain_numbers(table);
  return table->any ? tutti_rows_columns(table->rows) : 0;
}

static enum tutti_status expect_rows(void *argument, size_t rows) {
  const struct table *table = argument;
  return tutti_rows_expect(table->context, table->rows, rows);
}

static enum tutti_status take_plain_row(void *argument, const struct csv_plain *plain) {
  struct table *table = argument;
  struct csv_row row = {.line = plain->line, .delimiter = plain->delimiter, .count = plain->columns};
  uint32_t line = (uint32_t)plain->line;
  table->row = &row;
  for (size_t i = 0; i < plain->columns; i++) {
    struct run *run = &table->runs[i];
    if (plain->texts[i] != CSV_PLAIN_NUMBER) {
      TUTTI_TRY(table->context, take_cell(table, i, plain->text + plain->texts[i]));
      continue;
    }
    const bool marked = is_mark(table, plain->numbers[i]);
    if (!marked)
      run->numbers[run->count++] = plain->numbers[i];
    if (run->count == RUN_LENGTH || marked)
      TUTTI_TRY(table->context, end_run(table, i));
    if (marked)
      TUTTI_TRY(table->context, tutti_rows_add_cell(table->context, table->rows, i, ""));
  }
  table->row = NULL;
  return tutti_rows_add_lines(table->context, table->rows, 1, &line);
}

static enum tutti_status leave_out_row(void *argument, size_t line, const char *why) {
  const struct table *table = argument;
  uint32_t at = (uint32_t)line;
  TUTTI_TRY(table->context, end_runs(table));
  TUTTI_TRY(table->context, tutti_rows_add_unread(table->context, table->rows, why));
  return tutti_rows_add_lines(table->context, table->rows, 1, &at);
}

/* Cells that are separated by blanks are one: say so if nine of ten rows are so many words, with a number among
   them. */
static void doubt_delimiter(const struct table *table) {
  const struct reading_words *words = &table->vote.words;
  const size_t lead = table->vote.lead, rows = tutti_rows_count(table->rows);
  if (lead > 0 && lead >= rows - rows / 5)
    tutti_log(table->context, TUTTI_LOG_WARNING, "%s: %s one cell of %zu words, with numbers among them; %s",
              table->path, lead == rows ? "each row is" : "most rows are", words->count, reading_words_advice(words));
}

/* New rows whose layout is not that of the data set: 1.234 is 1234 there, and here it would be 1.234. look_at takes it
   for a text, so that the row is not read. */
static void doubt_layout(const struct table *table) {
  if (table->comma_parts && table->conventions.maybe_group)
    tutti_log(table->context, TUTTI_LOG_WARNING,
              "%s: line %zu has a number such as 1.234, which is 1234 in the training data, with decimal commas, and "
              "would be 1.234 where commas separate cells, as here: it is not read; separate cells with semicolons",
              table->path, table->conventions.maybe_group);
}

/* What the numbers say together. Where commas separate cells, those inside of them group digits. */
static enum tutti_status end_conventions(const struct table *table) {
  const struct reading_conventions *seen = &table->conventions;
  enum reading_decimal found = reading_conventions_found(seen);
  if (table->decimal == READING_DECIMAL_EITHER)
    TUTTI_TRY(table->context,
              reading_conventions_check(table->context, table->path, tutti_rows_names(table->rows), seen));
  else if (table->decimal > READING_DECIMAL_EITHER)
    TUTTI_TRY(table->context, reading_conventions_compare(table->context, table->path,
                                                          table->decimal == READING_DECIMAL_COMMA_FIRST, seen));
  if (table->decimal == READING_DECIMAL_COMMA_FIRST)
    doubt_layout(table);
  if (table->decimal == READING_DECIMAL_POINT && (seen->point || seen->maybe_comma))
    found = READING_DECIMAL_POINT;
  return !table->settles || found == READING_DECIMAL_EITHER
             ? TUTTI_OK
             : tutti_rows_settle(table->context, table->rows, "decimal", reading_csv_decimals[found]);
}

/* --- the whole table --------------------------------------------------------------------------------------------- */

static enum tutti_status check_rows(const struct table *table) {
  if (!table->any)
    return TUTTI_FAIL(
        table->context, TUTTI_ERROR_USAGE,
        "%s: expected rows, found an empty file, or blank lines alone; is it the right one, and was it written to "
        "its end?",
        table->path);
  if (tutti_rows_count(table->rows) == 0 && table->names_are_numbers)
    return TUTTI_FAIL(
        table->context, TUTTI_ERROR_USAGE,
        "%s: expected a header and rows, found numbers in the first line, and no other line; if that is a "
        "row of data, put the header above it",
        table->path);
  if (tutti_rows_count(table->rows) == 0)
    return TUTTI_FAIL(table->context, TUTTI_ERROR_USAGE, "%s: expected rows below the header, found a header alone%s",
                      table->path,
                      table->header == READING_HEADER_AUTO ? "; if it is a row of data, set data.header = no" : "");
  return TUTTI_OK;
}

enum tutti_status reading_csv(tutti_context *context, const char *path, const struct reading_csv_options *options,
                              tutti_rows *rows) {
  enum tutti_status status = TUTTI_OK;
  struct table table = {.context = context,
                        .path = tutti_path_name(path),
                        .header = options->header,
                        .decimal = options->decimal,
                        .settles = options->decimal == READING_DECIMAL_AUTO,
                        .missing_marks = options->missing_marks ? options->missing_marks : "",
                        .strip = options->strip ? options->strip : "",
                        .tolerant = options->tolerant,
                        .wanted = options->columns,
                        .guesses = options->delimiter == READING_DELIMITER_AUTO,
                        .rows = rows};
  const struct csv_taker taker = {
      take_row, options->tolerant ? leave_out_row : NULL, &table, columns_of, expect_rows, take_plain_row};
  const struct csv_layout layout = {options->delimiter, options->skip_lines};
  TUTTI_TRY_OUT(context, csv_file_read(context, path, &layout, &taker));
  TUTTI_TRY_OUT(context, end_runs(&table));
  TUTTI_TRY_OUT(context, check_rows(&table));
  doubt_delimiter(&table);
  TUTTI_TRY_OUT(context, end_conventions(&table));
out:
  reading_conventions_release(&table.conventions);
  tutti_free(table.marks);
  tutti_free(table.unused);
  tutti_free(table.runs);
  return status;
}

/* --- words ------------------------------------------------------------------------------------------------------- */

int reading_csv_decimal_first(int decimal) {
  return decimal == READING_DECIMAL_COMMA   ? READING_DECIMAL_COMMA_FIRST
         : decimal == READING_DECIMAL_POINT ? READING_DECIMAL_POINT_FIRST
                                            : decimal;
}

bool reading_csv_mark(const struct reading_csv_options *options, size_t index, double *number) {
  const char *words = options->missing_marks ? options->missing_marks : "";
  bool any = reading_marks_next_number(&words, number);
  for (size_t i = 0; i < index && any; i++)
    any = reading_marks_next_number(&words, number);
  return any;
}

bool reading_csv_word(const struct reading_csv_options *options, const char *word, char *meaning) {
  const struct csv_row row = {.delimiter = options->delimiter == READING_DELIMITER_COMMA ? ',' : ';'};
  const struct table table = {.missing_marks = options->missing_marks ? options->missing_marks : "",
                              .strip = options->strip ? options->strip : "",
                              .decimal = decimal_of(row.delimiter, reading_csv_decimal_first(options->decimal)),
                              .row = &row};
  char room[READING_MARKS_ROOM], number[READING_NUMERAL_ROOM];
  const char *text = meaning_of(&table, word, room);
  if (options->decimal == READING_DECIMAL_AUTO && options->delimiter == READING_DELIMITER_AUTO &&
      tutti_cell_in_threes(text, ','))
    return false;
  enum reading_numeral is = look_at(&table, text, number);
  const char *said = is == READING_NUMBER ? number : text;
  if (is == READING_TEXT || strcmp(said, word) == 0 || strlen(said) >= TUTTI_SOURCE_WORD_ROOM)
    return false;
  memcpy(meaning, said, strlen(said) + 1);
  return true;
}
