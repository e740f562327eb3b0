/* csv_file.c - the rows of a file, read through zlib (which passes plain files on): those that are easy as they stand
   (csv_plain.h), and the others by libcsv. */
#include "csv_file.h"

#include <csv.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "csv_table.h"
#include "foreign.h"
#include "gz.h"
#include "words.h"

struct reader {
  tutti_context *context;
  const char *path;
  const struct csv_layout *layout;
  const struct csv_taker *taker;
  struct csv_parser parser;
  enum tutti_status status;
  struct csv_row row;
  size_t line; /* the current one */
  bool after_return;
  bool any, ended;        /* was there a row yet; has one ended since this was last set to false */
  bool expects;           /* was it looked at how many rows there are */
  struct csv_plain plain; /* columns 0: rows are not read as easy ones, or not yet */
  char why[CSV_FILE_WHY]; /* why it could not be taken */
};

/* --- rows --- */

static enum tutti_status make_room(tutti_context *context, struct csv_row *row, size_t length) {
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

static const char zero_byte[] =
    "expected text, found a zero byte; is this a table in UTF-8? If so, this takes such bytes out: "
    "tr -d '\\000' < FILE > NEW";

/* Say why the row cannot be taken. */
static enum tutti_status explain(struct reader *reader, const char *why) {
  (void)snprintf(reader->why, sizeof reader->why, "%s", why);
  return TUTTI_OK;
}

/* Copy a text, and count what lines end in it; false: there is a zero byte. Cells are short, and one loop over such a
   text takes less time than memchr, memchr and memcpy to begin. */
static bool copy_cell(const char *text, size_t length, char *out, size_t *lines) {
  bool zero = false;
  size_t ends = 0;
  for (size_t i = 0; i < length; i++) {
    char c = text[i];
    out[i] = c;
    zero |= c == '\0';
    ends += c == '\n';
  }
  out[length] = '\0';
  *lines += ends;
  return !zero;
}

static enum tutti_status add_cell(struct reader *reader, const char *text, size_t length) {
  struct csv_row *row = &reader->row;
  size_t line = reader->line;
  TUTTI_TRY(reader->context, make_room(reader->context, row, length + 1));
  if (!copy_cell(text, length, row->text + row->bytes, &reader->line)) {
    reader->line = line;
    return reader->taker->leave_out && reader->any
               ? explain(reader, zero_byte)
               : TUTTI_FAIL(reader->context, TUTTI_ERROR_USAGE, "%s:%zu: %s", reader->path, line, zero_byte);
  }
  if (row->count == 0)
    row->line = line;
  row->cells[row->count++] = row->bytes;
  row->bytes += length + 1;
  return TUTTI_OK;
}

/* The text is NULL where nothing, not even quotes, stands between two delimiters. */
static void on_cell(void *text, size_t length, void *argument) {
  struct reader *reader = argument;
  if (reader->status == TUTTI_OK && (text || !reader->row.runs))
    reader->status = add_cell(reader, text ? text : "", text ? length : 0);
}

static void forget_row(struct csv_row *row) { row->count = row->bytes = 0; }

/* Called at each unquoted end of line (with its character) and at the end of the file (with -1). */
static void on_row(int end, void *argument) {
  struct reader *reader = argument;
  bool blank = reader->row.count == 0;
  if (reader->status == TUTTI_OK && !blank && !reader->why[0]) {
    reader->status = reader->taker->take(reader->taker->argument, &reader->row, reader->why);
    reader->any = true;
  }
  forget_row(&reader->row);
  reader->ended = true;
  if (!(end == CSV_LF && reader->after_return && blank))
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
  case READING_DELIMITER_BLANKS:
    return ' ';
  case READING_DELIMITER_PIPE:
    return '|';
  default:
    return ',';
  }
}

/* The delimiter that a file seems to have, of READING_DELIMITER_; `whole`: there is no more of it. Commas stand in
   names, too ("length, m;y"): where another is as frequent, it is that. Where its lines are rows by their words, blanks
   delimit; tabs are among them if the first line has runs of both. */
static int guess_delimiter(const char *text, size_t length, bool whole) {
  static const char candidates[] = ",;\t|";
  static const int meant[] = {READING_DELIMITER_COMMA, READING_DELIMITER_SEMICOLON, READING_DELIMITER_TAB,
                              READING_DELIMITER_PIPE};
  enum { CANDIDATES = sizeof candidates - 1 };
  struct reading_words first = {0}, words;
  size_t counts[CANDIDATES] = {0}, best = 0, i = 0;
  bool quoted = false;
  for (; i < length && (quoted || (text[i] != '\n' && text[i] != '\r')); i++) {
    quoted ^= text[i] == '"';
    for (size_t c = 0; c < CANDIDATES && !quoted; c++)
      counts[c] += text[i] == candidates[c];
  }
  for (size_t c = 1; c < CANDIDATES; c++)
    if (counts[c] > counts[best] || (best == 0 && counts[c] > 0 && counts[c] == counts[best]))
      best = c;
  reading_words_add(&first, text, i);
  if (counts[best] > 0 && !(meant[best] == READING_DELIMITER_TAB && first.runs))
    return meant[best];
  return !reading_words_make_table(text, length, whole, &words) ? meant[best]
         : words.runs                                           ? READING_DELIMITER_BLANKS
                                                                : READING_DELIMITER_SPACE;
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

/* Blanks around a cell are dropped, but blanks that delimit are not. Without a function the parser drops blanks and
   tabs by itself, and calls nothing for each character. */
static int is_tab(unsigned char character) { return character == '\t'; }
static int is_space(unsigned char character) { return character == ' '; }

static void set_delimiter(struct reader *reader, unsigned char delimiter) {
  reader->row.delimiter = delimiter;
  csv_set_delim(&reader->parser, delimiter);
  csv_set_space_func(&reader->parser, delimiter == '\t' ? is_space : delimiter == ' ' ? is_tab : NULL);
}

static enum tutti_status start_parser(struct reader *reader) {
  if (csv_init(&reader->parser, CSV_STRICT | CSV_STRICT_FINI | CSV_REPALL_NL | CSV_EMPTY_IS_NULL) != 0)
    return TUTTI_FAIL(reader->context, TUTTI_ERROR_MEMORY, "%s: cannot start to read", reader->path);
  return TUTTI_OK;
}

/* --- the file --- */

/* The length of the first line with its end; 0: it has no end here. */
static size_t length_of_line(const char *text, size_t length) {
  for (size_t i = 0; i < length; i++)
    if (text[i] == '\n' || text[i] == '\r')
      return i + 1 + (text[i] == '\r' && i + 1 < length && text[i + 1] == '\n');
  return 0;
}

/* Lines above the table, such as a title. */
static enum tutti_status skip_lines(struct reader *reader, const char *text, size_t length, size_t *skipped) {
  const size_t lines = (size_t)reader->layout->skip_lines;
  for (size_t i = 0; i < lines; i++) {
    size_t line = length_of_line(text + *skipped, length - *skipped);
    if (line == 0)
      return TUTTI_FAIL(reader->context, TUTTI_ERROR_USAGE,
                        "%s: expected rows behind the first %zu %s (data.skip_lines), found only %zu %s", reader->path,
                        lines, tutti_plural(lines, "line", "lines"), i, tutti_plural(i, "line", "lines"));
    *skipped += line;
    reader->line++;
  }
  return TUTTI_OK;
}

/* The parser knows one delimiter: where runs of blanks delimit, tabs become blanks, in quotes, too. */
static void make_blanks(const struct reader *reader, char *text, size_t length) {
  for (size_t i = 0; i < length && reader->row.runs; i++)
    text[i] = text[i] == '\t' ? ' ' : text[i];
}

/* Find out how the file is written, from text[length], or the `whole` of it. *skipped: how much of its beginning is no
   row: a byte order mark, lines above the table, a line sep=; */
static enum tutti_status begin_file(struct reader *reader, char *text, size_t length, bool whole, size_t *skipped) {
  int delimiter = reader->layout->delimiter;
  const char *foreign = reading_foreign(text, length);
  if (foreign)
    return TUTTI_FAIL(reader->context, TUTTI_ERROR_USAGE, "%s: expected a table of text, found %s", reader->path,
                      foreign);
  *skipped = length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  TUTTI_TRY(reader->context, skip_lines(reader, text, length, skipped));
  size_t sep = length_of_sep(text + *skipped, length - *skipped);
  if (delimiter == READING_DELIMITER_AUTO && !sep)
    delimiter = guess_delimiter(text + *skipped, length - *skipped, whole);
  set_delimiter(reader, delimiter == READING_DELIMITER_AUTO ? (unsigned char)text[*skipped + 4]
                                                            : delimiter_character(delimiter));
  reader->row.runs = delimiter == READING_DELIMITER_BLANKS;
  make_blanks(reader, text, length);
  reader->line += sep > 0;
  *skipped += sep;
  return TUTTI_OK;
}

static const char bad_quote[] = "a quote inside a cell that is not quoted, or text behind a closing quote; quote the "
                                "cell and double the quotes inside";
static const char open_quote[] = "a quote that opens in this row is never closed: the file ends inside a quoted cell; "
                                 "close it, or take it out";

/* Hand over a piece of the file. *why: NULL, or what is wrong with its quotes. */
static enum tutti_status parse(struct reader *reader, const char *text, size_t length, const char **why) {
  *why = NULL;
  if (csv_parse(&reader->parser, text, length, on_cell, on_row, reader) != length && reader->status == TUTTI_OK) {
    if (csv_error(&reader->parser) != CSV_EPARSE)
      reader->status = TUTTI_FAIL(reader->context, TUTTI_ERROR_MEMORY, "%s: %s", reader->path,
                                  csv_strerror(csv_error(&reader->parser)));
    *why = bad_quote;
  }
  return reader->status;
}

static enum tutti_status parse_end(struct reader *reader, const char **why) {
  *why = csv_fini(&reader->parser, on_cell, on_row, reader) != 0 ? open_quote : NULL;
  return reader->status;
}

static enum tutti_status check_file(const struct reader *reader, const struct reading_gz *file) {
  if (tutti_cancelled(reader->context))
    return TUTTI_FAIL(reader->context, TUTTI_ERROR_CANCELLED, "%s: cancelled", reader->path);
  if (reading_gz_is_torn(file))
    return TUTTI_FAIL(reader->context, TUTTI_ERROR_USAGE,
                      "%s:%zu: torn: the compressed file breaks off here; copy or download it again", reader->path,
                      reader->line);
  return TUTTI_OK;
}

enum { CHUNK = 1 << 18 };

/* What was read and is not yet behind us. */
struct window {
  char *text;
  size_t begin, at, end, room; /* where the row begins that is being read; what the parser has had; what there is */
  size_t line;                 /* the line of `begin` */
  bool over;                   /* the file has no more */
};

/* Length of the line that begins at a place, with its end; 0: its end is not there yet. */
static size_t line_length(const struct window *window, size_t from) {
  for (size_t i = from; i < window->end; i++) {
    if (window->text[i] == '\n')
      return i + 1 - from;
    if (window->text[i] == '\r' && (i + 1 < window->end || window->over))
      return i + 1 - from + (i + 1 < window->end && window->text[i + 1] == '\n');
  }
  return window->over ? window->end - from : 0;
}

static enum tutti_status read_more(const struct reader *reader, struct reading_gz *file, struct window *window) {
  size_t n, kept = window->end - window->begin;
  if (window->begin > 0)
    memmove(window->text, window->text + window->begin, kept);
  window->at -= window->begin;
  window->begin = 0;
  if (window->room < kept + CHUNK) {
    size_t room = 2 * kept + CHUNK;
    TUTTI_TRY(reader->context, tutti_realloc(reader->context, kept, room + CSV_PLAIN_BEHIND, 1, &window->text));
    window->room = room;
  }
  TUTTI_TRY(reader->context, reading_gz_read(reader->context, file, window->room - kept, window->text + kept, &n));
  make_blanks(reader, window->text + kept, n);
  window->end = kept + n;
  window->over = n == 0;
  return window->over || tutti_cancelled(reader->context) ? check_file(reader, file) : TUTTI_OK;
}

/* The first line of the row cannot be read or taken: leave it out, and go on behind it, if that is tolerated. */
static enum tutti_status leave_line_out(struct reader *reader, struct window *window, const char *why) {
  if (!reader->any || !reader->taker->leave_out)
    return TUTTI_FAIL(reader->context, TUTTI_ERROR_USAGE, "%s:%zu: %s", reader->path, reader->line, why);
  TUTTI_TRY(reader->context, reader->taker->leave_out(reader->taker->argument, window->line, why));
  unsigned char delimiter = reader->row.delimiter;
  csv_free(&reader->parser);
  TUTTI_TRY(reader->context, start_parser(reader));
  set_delimiter(reader, delimiter);
  forget_row(&reader->row);
  reader->after_return = false;
  window->at = window->begin += line_length(window, window->begin);
  reader->line = ++window->line;
  return TUTTI_OK;
}

/* Hand over the next line, of this length, or the end of the file. */
static enum tutti_status parse_line(struct reader *reader, struct window *window, size_t length) {
  const char *why = NULL;
  reader->ended = false;
  reader->why[0] = '\0';
  TUTTI_TRY(reader->context, length ? parse(reader, window->text + window->at, length, &why) : parse_end(reader, &why));
  window->at += length;
  if (!why && reader->why[0])
    why = reader->why;
  if (why)
    return leave_line_out(reader, window, why);
  if (reader->ended) {
    window->begin = window->at;
    window->line = reader->line;
  }
  return TUTTI_OK;
}

/* How many rows the file has, if all are as long as those that were taken from its first piece. */
static enum tutti_status expect_rows(struct reader *reader, const struct reading_gz *file,
                                     const struct window *window) {
  if (reader->expects || reader->line < 2)
    return TUTTI_OK;
  reader->expects = true;
  double size = (double)reading_gz_size(file), part = (double)window->at / (double)(reader->line - 1);
  if (size <= (double)window->end)
    return TUTTI_OK;
  return reader->taker->expect(reader->taker->argument, (size_t)(1.02 * size / part));
}

/* Rows that are easy to read, from the beginning of a row on, as many as there are. */
static enum tutti_status take_plain_rows(struct reader *reader, const struct reading_gz *file, struct window *window) {
  const struct csv_taker *taker = reader->taker;
  struct csv_plain *plain = &reader->plain;
  tutti_context *context = reader->context;
  bool reads_numbers = false;
  size_t columns = plain->columns || !taker->columns ? 0 : taker->columns(taker->argument, &reads_numbers);
  if (columns > 0)
    TUTTI_TRY(context,
              csv_plain_begin(context, columns, reader->row.delimiter, reader->row.runs, reads_numbers, plain));
  while (plain->columns > 0) {
    size_t taken;
    TUTTI_TRY(context, csv_plain_read(context, plain, window->text + window->at, window->end - window->at, &taken));
    if (taken == 0)
      break;
    plain->line = reader->line;
    TUTTI_TRY(context, taker->take_plain(taker->argument, plain));
    reader->any = true;
    reader->after_return = false;
    window->begin = window->at += taken;
    window->line = ++reader->line;
  }
  return plain->columns > 0 ? expect_rows(reader, file, window) : TUTTI_OK;
}

/* Line by line: a quote that is never closed would otherwise swallow all rows behind it. */
static enum tutti_status read_lines(struct reader *reader, struct reading_gz *file) {
  enum tutti_status status = TUTTI_OK;
  tutti_context *context = reader->context;
  struct window window = {.line = 1};
  TUTTI_TRY_OUT(context, read_more(reader, file, &window));
  if (window.end > 0)
    TUTTI_TRY_OUT(context, begin_file(reader, window.text, window.end, window.over, &window.at));
  window.begin = window.at;
  window.line = reader->line;
  for (bool done = window.end == 0; !done;) {
    if (window.begin == window.at)
      TUTTI_TRY_OUT(context, take_plain_rows(reader, file, &window));
    size_t length = line_length(&window, window.at);
    if (!window.over && length == 0) {
      TUTTI_TRY_OUT(context, read_more(reader, file, &window));
      continue;
    }
    bool last = window.at == window.end;
    TUTTI_TRY_OUT(context, parse_line(reader, &window, length));
    done = last && window.at == window.end;
  }
out:
  tutti_free(window.text);
  return status;
}

enum tutti_status csv_file_read(tutti_context *context, const char *path, const struct csv_layout *layout,
                                const struct csv_taker *taker) {
  enum tutti_status status = TUTTI_OK;
  struct reader reader = {
      .context = context, .path = tutti_path_name(path), .layout = layout, .taker = taker, .line = 1};
  struct reading_gz file;
  TUTTI_TRY(context, start_parser(&reader));
  TUTTI_TRY_OUT(context, reading_gz_open(context, path, &file));
  status = reading_gz_close(context, &file, read_lines(&reader, &file));
out:
  csv_free(&reader.parser);
  tutti_free(reader.row.text);
  tutti_free(reader.row.cells);
  csv_plain_release(&reader.plain);
  return status;
}
