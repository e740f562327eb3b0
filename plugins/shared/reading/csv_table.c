/* csv_table.c - comma-separated values, read by libcsv through zlib (which passes plain files on). */
#include "csv_table.h"

#include <csv.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "gz.h"
#include "marks.h"

const char *const reading_csv_headers[] = {"auto", "yes", "no", NULL};
const char *const reading_csv_decimals[] = {"auto", "point", "comma", NULL};
const char *const reading_csv_delimiters[] = {"auto", "comma", "semicolon", "tab", "space", "pipe", NULL};

/* The row that is being read: the texts of its cells, one after another. */
struct row {
  char *text;
  size_t bytes, room;
  size_t *cells; /* [count]: where each text starts */
  size_t count, cell_room;
};

/* How numbers are written, by cells that say so: their lines, 0: there is none. */
struct conventions {
  size_t comma;       /* a comma is the decimal sign, as in 3,5 */
  size_t point;       /* commas group digits, as in 1,234.5 */
  size_t maybe_comma; /* 1,234 may be either */
  size_t grouped;     /* points group digits, as in 1.234,5 */
  size_t maybe_point; /* 1.234 may be either */
};

struct reader {
  tutti_context *context;
  const char *path;
  int header, decimal;
  const char *missing_marks, *strip;
  bool tolerant;
  tutti_rows *rows;
  enum tutti_status status;
  struct row row;
  bool any, names;       /* was there a row yet; did it hold names */
  size_t line, row_line; /* the current line; the line where this row began */
  bool after_return;
  unsigned char delimiter;
  struct conventions conventions;
};

/* --- rows --- */

static enum tutti_status make_room(tutti_context *context, struct row *row, size_t length) {
  if (length > row->room - row->bytes) {
    size_t room = 2 * row->room + length + 256;
    TUTTI_TRY(context, tutti_realloc(context, row->bytes, room, 1, &row->text));
    row->room = room;
  }
  if (row->count == row->cell_room) {
    size_t room = 2 * row->cell_room + 32;
    TUTTI_TRY(context, tutti_realloc(context, row->count, room, sizeof *row->cells, &row->cells));
    row->cell_room = room;
  }
  return TUTTI_OK;
}

static enum tutti_status add_cell(struct reader *reader, const char *text, size_t length) {
  struct row *row = &reader->row;
  if (memchr(text, '\0', length))
    return TUTTI_FAIL(reader->context, TUTTI_ERROR_USAGE,
                      "%s:%zu: expected text, found a zero byte; is this a csv file, in UTF-8?", reader->path,
                      reader->line);
  if (row->count == 0)
    reader->row_line = reader->line;
  for (const char *end = text; (end = memchr(end, '\n', length - (size_t)(end - text))); end++)
    reader->line++;
  TUTTI_TRY(reader->context, make_room(reader->context, row, length + 1));
  row->cells[row->count++] = row->bytes;
  memcpy(row->text + row->bytes, text, length);
  row->text[row->bytes + length] = '\0';
  row->bytes += length + 1;
  return TUTTI_OK;
}

static void on_cell(void *text, size_t length, void *argument) {
  struct reader *reader = argument;
  if (reader->status == TUTTI_OK)
    reader->status = add_cell(reader, text ? text : "", text ? length : 0);
}

static const char *cell_text(const struct row *row, size_t cell) { return row->text + row->cells[cell]; }

/* Is a text a number, however it is written? */
static bool is_number(const struct reader *reader, const char *text) {
  char plain[READING_NUMERAL_ROOM];
  double number;
  bool rewritten = reading_numeral(text, (enum reading_decimal)reader->decimal, plain) == READING_NUMBER;
  enum tutti_cell kind = tutti_cell_read(rewritten ? plain : text, &number);
  return kind == TUTTI_CELL_NUMBER || kind == TUTTI_CELL_INFINITE;
}

/* What a cell says, but for what the recipe says of marks and signs; `room` is used where that is another text. */
static const char *meaning_of(const struct reader *reader, const char *text, char *room) {
  if (*reader->missing_marks && reading_marks_have(reader->missing_marks, text))
    return "";
  if (!*reader->strip || is_number(reader, text))
    return text;
  return reading_marks_strip(reader->strip, text, room) && is_number(reader, room) ? room : text;
}

/* Do the first row's cells look like names: none is a number, and not all are empty? (Tools that write row numbers
   leave the name of that column empty.) */
static bool row_has_names(const struct reader *reader) {
  const struct row *row = &reader->row;
  bool any = false;
  for (size_t i = 0; i < row->count; i++) {
    char room[READING_MARKS_ROOM];
    const char *text = meaning_of(reader, cell_text(row, i), room);
    if (is_number(reader, text))
      return false;
    any = any || *text != '\0';
  }
  return any;
}

/* Names such as 5 % are numbers once their signs are dropped, and prices in a file without names look like them: say
   how the first row was taken if it is all texts but for the signs. */
static void doubt_signs(const struct reader *reader) {
  const struct row *row = &reader->row;
  const char *first = NULL;
  for (size_t i = 0; i < row->count; i++) {
    char room[READING_MARKS_ROOM];
    const char *text = cell_text(row, i);
    if (is_number(reader, text))
      return;
    if (!first && is_number(reader, meaning_of(reader, text, room)))
      first = text;
  }
  if (first)
    tutti_log(
        reader->context, TUTTI_LOG_WARNING,
        "%s: the first row is taken for a row of data, since '%.60s' is a number without what data.strip drops; if "
        "it is the name of a column, set data.header = yes",
        reader->path, first);
}

/* Years as the names of columns look like data: say how the first row was taken if all its numbers could be years. */
static void doubt_first_row(const struct reader *reader) {
  const struct row *row = &reader->row;
  double number, before = 0;
  size_t years = 0;
  for (size_t i = 0; i < row->count; i++) {
    enum tutti_cell kind = tutti_cell_read(cell_text(row, i), &number);
    if (kind != TUTTI_CELL_NUMBER)
      continue;
    if (number < 1800 || number > 2100 || number != floor(number) || number == before)
      return;
    before = number;
    years++;
  }
  if (years > 1)
    tutti_log(reader->context, TUTTI_LOG_WARNING,
              "%s: the first row has numbers, and so is taken for a row of data; if they are years that name the "
              "columns, set data.header = yes",
              reader->path);
}

/* Make the columns from the first row. A column without a name is called by its number. */
static enum tutti_status add_columns(struct reader *reader) {
  const struct row *row = &reader->row;
  reader->any = true;
  reader->names =
      reader->header == READING_HEADER_YES || (reader->header == READING_HEADER_AUTO && row_has_names(reader));
  if (!reader->names && reader->header == READING_HEADER_AUTO)
    doubt_first_row(reader);
  if (!reader->names && reader->header == READING_HEADER_AUTO)
    doubt_signs(reader);
  for (size_t i = 0; i < row->count; i++) {
    const char *name = reader->names && *cell_text(row, i) ? cell_text(row, i) : NULL;
    if (tutti_cancelled(reader->context))
      return TUTTI_FAIL(reader->context, TUTTI_ERROR_CANCELLED, "%s: cancelled", reader->path);
    size_t other = name ? tutti_rows_find(reader->rows, name) : SIZE_MAX;
    if (other != SIZE_MAX)
      return TUTTI_FAIL(reader->context, TUTTI_ERROR_USAGE, "%s:%zu: columns %zu and %zu are both named '%s'",
                        reader->path, reader->row_line, other, i, name);
    TUTTI_TRY(reader->context, tutti_rows_add_column(reader->context, reader->rows, name));
  }
  return TUTTI_OK;
}

/* Is there this sign once, with three digits behind it, and not the other? */
static bool is_ambiguous(const char *text, char sign, char other) {
  const char *at = strchr(text, sign);
  return at && !strchr(text, other) && strspn(at + 1, "0123456789") == 3 && at[4] == '\0';
}

static void note(size_t *line, const struct reader *reader) { *line = *line ? *line : reader->row_line; }

/* Where cells are not separated by commas, each number is read by itself: note what it says of all. A text with commas
   that is none, as a list 1,2,3, says nothing. */
static void note_convention(struct reader *reader, const char *text, enum reading_numeral is) {
  struct conventions *seen = &reader->conventions;
  const char *comma = strchr(text, ','), *point = strchr(text, '.');
  if (text[strspn(text, "+-.,0123456789")] != '\0' || (!comma && !point) || (comma && is != READING_NUMBER))
    return;
  if (is_ambiguous(text, ',', '.') && text[strspn(text, "+-")] != '0')
    note(&seen->maybe_comma, reader);
  else if (comma && ((point && comma < point) || strchr(comma + 1, ',')))
    note(&seen->point, reader);
  else if (comma)
    note(&seen->comma, reader);
  else if (is_ambiguous(text, '.', ','))
    note(&seen->maybe_point, reader);
  if (comma && point && point < comma)
    note(&seen->grouped, reader);
}

/* Would a number be read a thousand times too large or too small? */
static enum tutti_status check_conventions(const struct reader *reader) {
  const struct conventions *seen = &reader->conventions;
  size_t one = seen->point, other = seen->comma ? seen->comma : seen->maybe_comma;
  if (!one || !other) {
    one = seen->grouped;
    other = seen->maybe_point;
  }
  if (!one || !other)
    return TUTTI_OK;
  return TUTTI_FAIL(reader->context, TUTTI_ERROR_USAGE,
                    "%s: the numbers in lines %zu and %zu do not tell together whether commas or points are their "
                    "decimal signs; set data.decimal = comma or point",
                    reader->path, one, other);
}

/* What is in a cell. A point that groups digits, in a file whose cells are separated by commas, would be the decimal
   sign anywhere else: that file was written otherwise than the data. */
static enum reading_numeral look_at(const struct reader *reader, const char *text, char *number) {
  enum reading_numeral is = reading_numeral(text, (enum reading_decimal)reader->decimal, number);
  bool doubtful = reader->decimal == READING_DECIMAL_COMMA && reader->delimiter == ',' && is_ambiguous(text, '.', ',');
  return is == READING_NUMBER && doubtful ? READING_TEXT : is;
}

/* A row with too few or too many cells. */
static enum tutti_status take_odd_row(struct reader *reader, size_t columns) {
  size_t count = reader->row.count;
  uint32_t line = (uint32_t)reader->row_line;
  char why[128];
  (void)snprintf(why, sizeof why, "expected %zu cells, as in the first line, found %zu; the last is in column %zu",
                 columns, count, count - 1);
  if (!reader->tolerant)
    return TUTTI_FAIL(reader->context, TUTTI_ERROR_USAGE, "%s:%zu: %s", reader->path, reader->row_line, why);
  TUTTI_TRY(reader->context, tutti_rows_add_unread(reader->context, reader->rows, why));
  return tutti_rows_add_lines(reader->context, reader->rows, 1, &line);
}

static enum tutti_status take_row(struct reader *reader) {
  const struct row *row = &reader->row;
  bool first = !reader->any;
  size_t columns = first ? row->count : tutti_rows_columns(reader->rows);
  uint32_t line = (uint32_t)reader->row_line;
  if (row->count != columns)
    return take_odd_row(reader, columns);
  if (first)
    TUTTI_TRY(reader->context, add_columns(reader));
  if (first && reader->names)
    return TUTTI_OK;
  for (size_t i = 0; i < columns; i++) {
    char number[READING_NUMERAL_ROOM], room[READING_MARKS_ROOM];
    const char *text = meaning_of(reader, cell_text(row, i), room);
    enum reading_numeral is = look_at(reader, text, number);
    if (reader->decimal == READING_DECIMAL_EITHER)
      note_convention(reader, text, is);
    TUTTI_TRY(reader->context, is == READING_TEXT ? tutti_rows_add_text(reader->context, reader->rows, i, text)
                                                  : tutti_rows_add_cell(reader->context, reader->rows, i,
                                                                        is == READING_NUMBER ? number : text));
  }
  return tutti_rows_add_lines(reader->context, reader->rows, 1, &line);
}

/* Called at each unquoted end of line (with its character) and at the end of the file (with -1). */
static void on_row(int end, void *argument) {
  struct reader *reader = argument;
  if (reader->status == TUTTI_OK && reader->row.count > 0) /* otherwise a blank line */
    reader->status = take_row(reader);
  reader->row.count = reader->row.bytes = 0;
  if (!(end == CSV_LF && reader->after_return))
    reader->line++;
  reader->after_return = end == CSV_CR;
}

/* --- the delimiter --- */

static unsigned char delimiter_character(int delimiter) {
  switch (delimiter) {
  case READING_DELIMITER_SEMICOLON:
    return ';';
  case READING_DELIMITER_TAB:
    return '\t';
  case READING_DELIMITER_SPACE:
    return ' ';
  case READING_DELIMITER_PIPE:
    return '|';
  default:
    return ',';
  }
}

static unsigned char guess_delimiter(const char *text, size_t length) {
  static const char candidates[] = ",;\t|";
  enum { CANDIDATES = sizeof candidates - 1 };
  size_t counts[CANDIDATES] = {0}, best = 0;
  bool quoted = false;
  for (size_t i = 0; i < length && (quoted || (text[i] != '\n' && text[i] != '\r')); i++) {
    quoted ^= text[i] == '"';
    for (size_t c = 0; c < CANDIDATES && !quoted; c++)
      counts[c] += text[i] == candidates[c];
  }
  for (size_t c = 1; c < CANDIDATES; c++)
    if (counts[c] > counts[best])
      best = c;
  return (unsigned char)candidates[best];
}

/* A first line that only says what separates cells, as spreadsheets write it: sep=; Its length with its end; 0: it is
   another one. */
static size_t length_of_sep(const char *text, size_t length) {
  static const char sep[] = "sep=";
  size_t at = sizeof sep - 1;
  if (length < at + 2 || strncasecmp(text, sep, at) != 0 || !strchr(",;\t| ", text[at]))
    return 0;
  size_t end = ++at;
  end += text[end] == '\r';
  end += end < length && text[end] == '\n';
  return end > at ? end : 0;
}

/* Blanks around a cell are dropped, but blanks that delimit are not. */
static int is_blank(unsigned char character) { return character == ' ' || character == '\t'; }
static int is_tab(unsigned char character) { return character == '\t'; }
static int is_space(unsigned char character) { return character == ' '; }

static void set_delimiter(struct csv_parser *parser, unsigned char delimiter) {
  csv_set_delim(parser, delimiter);
  csv_set_space_func(parser, delimiter == '\t' ? is_space : delimiter == ' ' ? is_tab : is_blank);
}

/* --- the file --- */

/* Find out how the file is written. Returns how much of its beginning is no row: a byte order mark, a line sep=; */
static size_t begin_file(struct reader *reader, struct csv_parser *parser, int delimiter, const char *text,
                         size_t length) {
  size_t mark = length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  size_t sep = length_of_sep(text + mark, length - mark);
  unsigned char character = delimiter != READING_DELIMITER_AUTO ? delimiter_character(delimiter)
                            : sep                               ? (unsigned char)text[mark + 4]
                                                                : guess_delimiter(text + mark, length - mark);
  set_delimiter(parser, character);
  reader->delimiter = character;
  reader->line += sep > 0;
  if (reader->decimal == READING_DECIMAL_AUTO)
    reader->decimal = character == ',' ? READING_DECIMAL_POINT : READING_DECIMAL_EITHER;
  return mark + sep;
}

static enum tutti_status parse_chunk(struct reader *reader, struct csv_parser *parser, const char *text,
                                     size_t length) {
  if (csv_parse(parser, text, length, on_cell, on_row, reader) != length && reader->status == TUTTI_OK)
    reader->status =
        csv_error(parser) == CSV_EPARSE
            ? TUTTI_FAIL(reader->context, TUTTI_ERROR_USAGE,
                         "%s:%zu: a quote inside a cell that is not quoted, or text behind a closing quote; "
                         "quote the cell and double the quotes inside",
                         reader->path, reader->line)
            : TUTTI_FAIL(reader->context, TUTTI_ERROR_MEMORY, "%s: %s", reader->path, csv_strerror(csv_error(parser)));
  return reader->status;
}

static enum tutti_status parse_file(struct reader *reader, struct csv_parser *parser, struct reading_gz *file,
                                    int delimiter) {
  enum { CHUNK = 1 << 16 };
  enum tutti_status status = TUTTI_OK;
  tutti_context *context = reader->context;
  char *chunk = NULL;
  bool first = true;
  TUTTI_TRY_OUT(context, tutti_alloc(context, CHUNK, 1, &chunk));
  for (size_t n;; first = false) {
    TUTTI_TRY_OUT(context, reading_gz_read(context, file, CHUNK, chunk, &n));
    if (n == 0)
      break;
    size_t skipped = first ? begin_file(reader, parser, delimiter, chunk, n) : 0;
    TUTTI_TRY_OUT(context, parse_chunk(reader, parser, chunk + skipped, n - skipped));
    if (tutti_cancelled(context)) {
      status = TUTTI_FAIL(context, TUTTI_ERROR_CANCELLED, "%s: cancelled", reader->path);
      goto out;
    }
  }
  if (reading_gz_is_torn(file)) {
    status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s:%zu: torn: the compressed file breaks off here", reader->path,
                        reader->line);
    goto out;
  }
  if (csv_fini(parser, on_cell, on_row, reader) != 0 && reader->status == TUTTI_OK)
    reader->status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s:%zu: the file ends inside a quoted cell", reader->path,
                                reader->row_line > reader->line ? reader->row_line : reader->line);
  TUTTI_TRY_OUT(context, reader->status);
out:
  tutti_free(chunk);
  return status;
}

static enum tutti_status read_file(struct reader *reader, int delimiter) {
  enum tutti_status status = TUTTI_OK;
  struct csv_parser parser;
  struct reading_gz file;
  if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI | CSV_REPALL_NL) != 0)
    return TUTTI_FAIL(reader->context, TUTTI_ERROR_MEMORY, "%s: cannot start to read", reader->path);
  TUTTI_TRY_OUT(reader->context, reading_gz_open(reader->context, reader->path, &file));
  status = reading_gz_close(reader->context, &file, parse_file(reader, &parser, &file, delimiter));
out:
  csv_free(&parser);
  return status;
}

/* --- the whole table --------------------------------------------------------------------------------------------- */

static enum tutti_status check_rows(const struct reader *reader) {
  if (!reader->any)
    return TUTTI_FAIL(reader->context, TUTTI_ERROR_USAGE, "%s: expected rows, found an empty file", reader->path);
  if (tutti_rows_count(reader->rows) == 0)
    return TUTTI_FAIL(reader->context, TUTTI_ERROR_USAGE, "%s: expected rows, found a header alone%s", reader->path,
                      reader->header == READING_HEADER_AUTO ? "; if it is a row, set header = no" : "");
  return TUTTI_OK;
}

enum tutti_status reading_csv(tutti_context *context, const char *path, const struct reading_csv_options *options,
                              tutti_rows *rows) {
  enum tutti_status status = TUTTI_OK;
  struct reader reader = {.context = context,
                          .path = path,
                          .header = options->header,
                          .decimal = options->decimal,
                          .missing_marks = options->missing_marks ? options->missing_marks : "",
                          .strip = options->strip ? options->strip : "",
                          .tolerant = options->tolerant,
                          .rows = rows,
                          .line = 1};
  TUTTI_TRY_OUT(context, read_file(&reader, options->delimiter));
  TUTTI_TRY_OUT(context, check_rows(&reader));
  TUTTI_TRY_OUT(context, check_conventions(&reader));
out:
  tutti_free(reader.row.text);
  tutti_free(reader.row.cells);
  return status;
}
