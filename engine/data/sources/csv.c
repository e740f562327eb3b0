/* csv.c - comma-separated values, read by libcsv through zlib (which passes plain files on): quoting, CRLF, a byte
   order mark, a header or none. Rows must have one length; everything that is wrong is named by its line. */
#include <csv.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "engine/data/data_impl.h"
#include "core/base/gz_impl.h"

/* A growing array. */
struct list {
  void *data;
  size_t count, capacity, size;
};

struct reader {
  tutti_context *context;
  const char *path;
  enum tutti_status status;
  struct list texts;         /* char */
  struct list cells;         /* size_t: start of each text */
  struct list lines;         /* uint32_t: of each row */
  size_t columns, row_start; /* cells of the first row; the number of the cell that began this row */
  size_t line, row_line;     /* now; where this row began */
  bool after_return;
};

static enum tutti_status list_add(tutti_context *context, struct list *list, const void *data, size_t count) {
  if (count > list->capacity - list->count) {
    size_t capacity = list->capacity * 2 > list->count + count ? list->capacity * 2 : list->count + count + 4096;
    TUTTI_TRY(context, tutti_realloc(context, list->count, capacity, list->size, &list->data));
    list->capacity = capacity;
  }
  if (count)
    memcpy((char *)list->data + list->count * list->size, data, count * list->size);
  list->count += count;
  return TUTTI_OK;
}

static enum tutti_status add_cell(struct reader *reader, const char *text, size_t length) {
  if (memchr(text, '\0', length))
    return TUTTI_FAIL(reader->context, TUTTI_ERROR_USAGE,
                      "%s:%zu: expected text, found a zero byte; is this a csv file, in UTF-8?", reader->path,
                      reader->line);
  size_t start = reader->texts.count;
  if (reader->cells.count == reader->row_start)
    reader->row_line = reader->line;
  for (const char *end = text; (end = memchr(end, '\n', length - (size_t)(end - text))); end++)
    reader->line++;
  TUTTI_TRY(reader->context, list_add(reader->context, &reader->cells, &start, 1));
  TUTTI_TRY(reader->context, list_add(reader->context, &reader->texts, text, length));
  return list_add(reader->context, &reader->texts, "", 1);
}

static void on_cell(void *text, size_t length, void *argument) {
  struct reader *reader = argument;
  if (reader->status == TUTTI_OK)
    reader->status = add_cell(reader, text ? text : "", text ? length : 0);
}

static enum tutti_status add_row(struct reader *reader) {
  size_t cells = reader->cells.count - reader->row_start;
  uint32_t line = (uint32_t)reader->row_line;
  if (cells == 0) /* a blank line */
    return TUTTI_OK;
  if (reader->lines.count == 0)
    reader->columns = cells;
  if (cells != reader->columns)
    return TUTTI_FAIL(reader->context, TUTTI_ERROR_USAGE,
                      "%s:%zu: expected %zu cells, as in the first line, found %zu; the last is in column %zu",
                      reader->path, reader->row_line, reader->columns, cells, cells - 1);
  reader->row_start = reader->cells.count;
  return list_add(reader->context, &reader->lines, &line, 1);
}

/* Called at each unquoted end of line (with its character) and at the end of the file (with -1). */
static void on_row(int end, void *argument) {
  struct reader *reader = argument;
  if (reader->status == TUTTI_OK)
    reader->status = add_row(reader);
  if (!(end == CSV_LF && reader->after_return))
    reader->line++;
  reader->after_return = end == CSV_CR;
}

/* --- the delimiter --- */

static unsigned char delimiter_character(enum tutti_delimiter delimiter) {
  switch (delimiter) {
  case TUTTI_DELIMITER_SEMICOLON:
    return ';';
  case TUTTI_DELIMITER_TAB:
    return '\t';
  case TUTTI_DELIMITER_SPACE:
    return ' ';
  default:
    return ',';
  }
}

static unsigned char guess_delimiter(const char *text, size_t length) {
  static const char candidates[] = ",;\t";
  size_t counts[3] = {0}, best = 0;
  bool quoted = false;
  for (size_t i = 0; i < length && (quoted || (text[i] != '\n' && text[i] != '\r')); i++) {
    quoted ^= text[i] == '"';
    for (size_t c = 0; c < 3 && !quoted; c++)
      counts[c] += text[i] == candidates[c];
  }
  for (size_t c = 1; c < 3; c++)
    if (counts[c] > counts[best])
      best = c;
  return (unsigned char)candidates[best];
}

/* Blanks around a cell are dropped, but not those that delimit. */
static int is_blank(unsigned char character) { return character == ' ' || character == '\t'; }
static int is_tab(unsigned char character) { return character == '\t'; }
static int is_space(unsigned char character) { return character == ' '; }

static void set_delimiter(struct csv_parser *parser, unsigned char delimiter) {
  csv_set_delim(parser, delimiter);
  csv_set_space_func(parser, delimiter == '\t' ? is_space : delimiter == ' ' ? is_tab : is_blank);
}

/* --- the file --- */

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

static enum tutti_status parse_file(struct reader *reader, struct csv_parser *parser, const struct tutti_gz *file,
                                    enum tutti_delimiter delimiter) {
  enum { CHUNK = 1 << 16 };
  enum tutti_status status = TUTTI_OK;
  tutti_context *context = reader->context;
  char *chunk = NULL;
  bool first = true;
  TUTTI_TRY_OUT(context, tutti_alloc(context, CHUNK, 1, &chunk));
  for (size_t n;; first = false) {
    TUTTI_TRY_OUT(context, tutti_gz_read(context, file, CHUNK, chunk, &n));
    if (n == 0)
      break;
    size_t skipped = first && n >= 3 && memcmp(chunk, "\xef\xbb\xbf", 3) == 0 ? 3 : 0, length = n - skipped;
    if (first)
      set_delimiter(parser, delimiter == TUTTI_DELIMITER_AUTO ? guess_delimiter(chunk + skipped, length)
                                                              : delimiter_character(delimiter));
    TUTTI_TRY_OUT(context, parse_chunk(reader, parser, chunk + skipped, length));
    if (tutti_cancelled(context)) {
      status = TUTTI_FAIL(context, TUTTI_ERROR_CANCELLED, "%s: cancelled", reader->path);
      goto out;
    }
  }
  if (csv_fini(parser, on_cell, on_row, reader) != 0 && reader->status == TUTTI_OK)
    reader->status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s:%zu: the file ends inside a quoted cell", reader->path,
                                reader->row_line > reader->line ? reader->row_line : reader->line);
  TUTTI_TRY_OUT(context, reader->status);
out:
  tutti_free(chunk);
  return status;
}

static enum tutti_status read_file(struct reader *reader, enum tutti_delimiter delimiter) {
  enum tutti_status status = TUTTI_OK;
  struct csv_parser parser;
  struct tutti_gz file;
  if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI | CSV_REPALL_NL) != 0)
    return TUTTI_FAIL(reader->context, TUTTI_ERROR_MEMORY, "%s: cannot start to read", reader->path);
  TUTTI_TRY_OUT(reader->context, tutti_gz_open(reader->context, reader->path, &file));
  status = tutti_gz_close(reader->context, &file, parse_file(reader, &parser, &file, delimiter));
out:
  csv_free(&parser);
  return status;
}

/* --- the table --- */

static const char *cell_text(const struct reader *reader, size_t cell) {
  return (const char *)reader->texts.data + ((const size_t *)reader->cells.data)[cell];
}

/* Are the first row's cells names: none of them a number, and not all empty? (Tools that write row numbers leave the
   name of that column empty.) */
static bool first_row_names(const struct reader *reader) {
  double number;
  bool any = false;
  for (size_t i = 0; i < reader->columns; i++) {
    if (tutti_table_parse(cell_text(reader, i), &number))
      return false;
    any = any || *cell_text(reader, i) != '\0';
  }
  return any;
}

/* A column without a name keeps that of its number. */
static enum tutti_status take_names(const struct reader *reader, struct tutti_table *table) {
  for (size_t i = 0; i < reader->columns; i++) {
    if (*cell_text(reader, i) == '\0')
      continue;
    for (size_t j = 0; j < i; j++)
      if (strcmp(cell_text(reader, i), table->names[j]) == 0)
        return TUTTI_FAIL(reader->context, TUTTI_ERROR_USAGE, "%s:1: columns %zu and %zu are both named '%s'",
                          reader->path, j, i, cell_text(reader, i));
    tutti_free(table->names[i]);
    table->names[i] = NULL;
    TUTTI_TRY(reader->context, tutti_strdup(reader->context, cell_text(reader, i), &table->names[i]));
  }
  table->header = true;
  return TUTTI_OK;
}

static enum tutti_status make_table(struct reader *reader, enum tutti_header header, struct tutti_table **table) {
  tutti_context *context = reader->context;
  size_t rows = reader->lines.count, columns = reader->columns;
  if (rows == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: expected rows, found an empty file", reader->path);
  size_t named = header == TUTTI_HEADER_YES || (header == TUTTI_HEADER_AUTO && first_row_names(reader));
  if (rows == named)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: expected rows, found a header alone%s", reader->path,
                      header == TUTTI_HEADER_AUTO ? "; if it is a row, set data.header = no" : "");
  TUTTI_TRY(context, tutti_table_create(context, reader->path, rows - named, columns, table));
  if (named)
    TUTTI_TRY(context, take_names(reader, *table));
  (*table)->texts = reader->texts.data;
  (*table)->cells = reader->cells.data;
  (*table)->lines = reader->lines.data;
  reader->texts.data = reader->cells.data = reader->lines.data = NULL;
  memmove((*table)->cells, (*table)->cells + named * columns, (rows - named) * columns * sizeof(size_t));
  memmove((*table)->lines, (*table)->lines + named, (rows - named) * sizeof(uint32_t));
  for (size_t i = 0; i < (rows - named) * columns; i++)
    if (!tutti_table_parse((*table)->texts + (*table)->cells[i], &(*table)->numbers[i]))
      (*table)->numbers[i] = NAN;
  return TUTTI_OK;
}

enum tutti_status tutti_csv_read(tutti_context *context, const char *path, enum tutti_header header,
                                 enum tutti_delimiter delimiter, struct tutti_table **table) {
  enum tutti_status status = TUTTI_OK;
  struct reader reader = {.context = context,
                          .path = path,
                          .texts.size = 1,
                          .cells.size = sizeof(size_t),
                          .lines.size = sizeof(uint32_t),
                          .line = 1};
  *table = NULL;
  TUTTI_TRY_OUT(context, read_file(&reader, delimiter));
  TUTTI_TRY_OUT(context, make_table(&reader, header, table));
out:
  tutti_free(reader.texts.data);
  tutti_free(reader.cells.data);
  tutti_free(reader.lines.data);
  if (status != TUTTI_OK) {
    tutti_table_destroy(*table);
    *table = NULL;
  }
  return status;
}
