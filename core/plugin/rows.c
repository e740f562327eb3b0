/* rows.c - rows of a table as they are read, column by column. */
#include <math.h>
#include <search.h>
#include <string.h>

#include "rows_impl.h"
#include "core/base/memory_bound_impl.h"

enum tutti_status tutti_rows_create(tutti_context *context, const char *origin, tutti_rows **out) {
  enum tutti_status status = TUTTI_OK;
  tutti_rows *rows = NULL;
  *out = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *rows, &rows));
  const struct tutti_memory_bound bound = tutti_memory_bound(context);
  rows->limit = bound.bytes / 2;
  rows->limit_of = bound.of;
  TUTTI_TRY_OUT(context, tutti_strdup(context, origin, &rows->origin));
  *out = rows;
  rows = NULL;
out:
  tutti_rows_destroy(rows);
  return status;
}

static void release_column(char *name, struct tutti_cells *cells) {
  tutti_free(name);
  tutti_free(cells->numbers);
  tutti_free(cells->kinds);
  tutti_free(cells->texts);
  tutti_free(cells->text);
}

void tutti_rows_destroy(tutti_rows *rows) {
  if (!rows)
    return;
  for (size_t c = 0; c < rows->columns; c++)
    release_column(rows->names[c], &rows->cells[c]);
  tdestroy(rows->by_name, tutti_free);
  tutti_free(rows->names);
  tutti_free(rows->cells);
  for (size_t i = 0; i < rows->unread_count; i++)
    tutti_free(rows->unread[i].why);
  tutti_free(rows->unread);
  tutti_free(rows->lines);
  tutti_free(rows->pixels);
  tutti_free(rows->labels);
  for (size_t i = 0; i < 2 * rows->settled_count; i++)
    tutti_free(rows->settled[i]);
  tutti_free(rows->settled);
  tutti_free(rows->origin);
  tutti_free(rows);
}

/* Linux grants memory that it does not have, and ends whoever uses it. */
static enum tutti_status hold(tutti_context *context, tutti_rows *rows, size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes))
    bytes = SIZE_MAX;
  if (bytes <= rows->limit - rows->held) {
    rows->held += bytes;
    return TUTTI_OK;
  }
  if (__builtin_add_overflow(bytes, rows->held, &bytes))
    bytes = SIZE_MAX;
  return TUTTI_FAIL(
      context, TUTTI_ERROR_USAGE,
      "%s: expected rows that fit into %zu MiB, half of %s, and these need %zu MiB or more; take a part of "
      "the rows or columns",
      rows->origin, rows->limit >> 20, rows->limit_of, ((bytes > rows->expected ? bytes : rows->expected) >> 20) + 1);
}

enum tutti_status tutti_rows_grow(tutti_context *context, tutti_rows *rows, size_t count, size_t more, size_t size,
                                  size_t *room, void *array) {
  size_t needed;
  if (__builtin_add_overflow(count, more, &needed))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: %zu and %zu more are more than can be held", rows->origin, count,
                      more);
  if (needed <= *room)
    return TUTTI_OK;
  size_t wanted = count + count / 2 > needed ? count + count / 2 : needed;
  TUTTI_TRY(context, hold(context, rows, wanted - *room, size));
  TUTTI_TRY(context, tutti_realloc(context, count, wanted, size, array));
  *room = wanted;
  return TUTTI_OK;
}

/* --- columns --- */

struct named_column {
  const char *name; /* borrowed from rows->names */
  size_t column;
};

static int by_name(const void *a, const void *b) {
  const struct named_column *x = a, *y = b;
  return strcmp(x->name, y->name);
}

size_t tutti_rows_find(const tutti_rows *rows, const char *name) {
  const struct named_column wanted = {name, 0};
  const struct named_column *const *found = tfind(&wanted, &rows->by_name, by_name);
  return found ? (*found)->column : SIZE_MAX;
}

/* What a column takes beside its cells and its name: the index, and what small arrays are rounded up to. */
enum { COLUMN_BYTES = 640 };

/* Let the last column be found. */
static enum tutti_status index_name(tutti_context *context, tutti_rows *rows) {
  struct named_column *named;
  TUTTI_TRY(context, hold(context, rows, 1, COLUMN_BYTES + strlen(rows->names[rows->columns - 1])));
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *named, &named));
  *named = (struct named_column){rows->names[rows->columns - 1], rows->columns - 1};
  const struct named_column *const *in_tree = tsearch(named, &rows->by_name, by_name);
  bool failed = !in_tree;
  if (failed || *in_tree != named)
    tutti_free(named);
  return failed ? TUTTI_FAIL(context, TUTTI_ERROR_MEMORY, "%s: out of memory", rows->origin) : TUTTI_OK;
}

static enum tutti_status check_name(tutti_context *context, const tutti_rows *rows, const char *name) {
  size_t other = tutti_rows_find(rows, name);
  return other == SIZE_MAX ? TUTTI_OK
                           : TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: columns %zu and %zu are both named '%s'",
                                        rows->origin, other, rows->columns, name);
}

enum tutti_status tutti_rows_add_column(tutti_context *context, tutti_rows *rows, const char *name) {
  size_t count = rows->columns, room = rows->column_room;
  char *copy;
  if (rows->shape.height)
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN, "rows that are images have no columns");
  TUTTI_TRY(context, tutti_rows_grow(context, rows, count, 1, sizeof *rows->names, &room, &rows->names));
  TUTTI_TRY(context, tutti_rows_grow(context, rows, count, 1, sizeof *rows->cells, &rows->column_room, &rows->cells));
  TUTTI_TRY(context, name ? tutti_strdup(context, name, &copy) : tutti_format(context, &copy, "x%zu", count));
  enum tutti_status status = check_name(context, rows, copy);
  if (status != TUTTI_OK) {
    tutti_free(copy);
    return status;
  }
  rows->names[rows->columns++] = copy;
  rows->named = rows->named || name;
  return index_name(context, rows);
}

/* --- cells --- */

/* Room for `more` cells at the end of a column. */
static enum tutti_status extend(tutti_context *context, tutti_rows *rows, size_t column, size_t more) {
  if (column >= rows->columns)
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN, "there is no column %zu to add cells to; there are %zu", column,
                      rows->columns);
  struct tutti_cells *cells = &rows->cells[column];
  size_t room = cells->room, text_room = room;
  if (more <= room - cells->count && room <= UINT32_MAX)
    return TUTTI_OK;
  if (more > UINT32_MAX || cells->count + more > UINT32_MAX)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: more than %u rows are more than can be held", rows->origin,
                      UINT32_MAX);
  TUTTI_TRY(context,
            tutti_rows_grow(context, rows, cells->count, more, sizeof *cells->numbers, &room, &cells->numbers));
  if (cells->texts)
    TUTTI_TRY(context,
              tutti_rows_grow(context, rows, cells->count, more, sizeof *cells->texts, &text_room, &cells->texts));
  return tutti_rows_grow(context, rows, cells->count, more, sizeof *cells->kinds, &cells->room, &cells->kinds);
}

/* Keep a text for the cell that is to be added next. */
static enum tutti_status keep_text(tutti_context *context, tutti_rows *rows, struct tutti_cells *cells,
                                   const char *text) {
  size_t bytes = strlen(text) + 1;
  if (!cells->texts) {
    TUTTI_TRY(context, hold(context, rows, cells->room, sizeof *cells->texts));
    TUTTI_TRY(context, tutti_alloc(context, cells->room, sizeof *cells->texts, &cells->texts));
    TUTTI_TRY(context, tutti_rows_grow(context, rows, 0, 1, 1, &cells->text_room, &cells->text));
    cells->text_bytes = 1;
  }
  TUTTI_TRY(context, tutti_rows_grow(context, rows, cells->text_bytes, bytes, 1, &cells->text_room, &cells->text));
  memcpy(cells->text + cells->text_bytes, text, bytes);
  cells->texts[cells->count] = cells->text_bytes;
  cells->text_bytes += bytes;
  return TUTTI_OK;
}

static void add(struct tutti_cells *cells, enum tutti_cell kind, double number) {
  cells->kinds[cells->count] = (uint8_t)kind;
  cells->numbers[cells->count++] = number;
}

enum tutti_status tutti_rows_add_numbers(tutti_context *context, tutti_rows *rows, size_t column, size_t count,
                                         const double *numbers) {
  TUTTI_TRY(context, extend(context, rows, column, count));
  struct tutti_cells *cells = &rows->cells[column];
  double *to = cells->numbers + cells->count;
  uint8_t *kinds = cells->kinds + cells->count;
  for (size_t i = 0; i < count; i++) {
    to[i] = numbers[i];
    kinds[i] = isnan(numbers[i]) ? TUTTI_CELL_MISSING : isinf(numbers[i]) ? TUTTI_CELL_INFINITE : TUTTI_CELL_NUMBER;
  }
  cells->count += count;
  return TUTTI_OK;
}

enum tutti_status tutti_rows_expect(tutti_context *context, tutti_rows *rows, size_t count) {
  size_t cell = sizeof(double) + sizeof(uint8_t), bytes;
  if (count > UINT32_MAX || __builtin_mul_overflow(count * cell, rows->columns, &bytes))
    return TUTTI_OK;
  rows->expected = bytes;
  if (bytes > (rows->limit - rows->held) / 2)
    return TUTTI_OK;
  for (size_t c = 0; c < rows->columns; c++) {
    size_t there = rows->cells[c].count;
    enum tutti_status status = count > there ? extend(context, rows, c, count - there) : TUTTI_OK;
    if (status == TUTTI_ERROR_MEMORY) { /* maybe there is enough for what really comes */
      tutti_error_clear(context);
      return TUTTI_OK;
    }
    TUTTI_TRY(context, status);
  }
  return TUTTI_OK;
}

enum tutti_status tutti_rows_add_text(tutti_context *context, tutti_rows *rows, size_t column, const char *text) {
  TUTTI_TRY(context, extend(context, rows, column, 1));
  struct tutti_cells *cells = &rows->cells[column];
  if (text)
    TUTTI_TRY(context, keep_text(context, rows, cells, text));
  add(cells, text ? TUTTI_CELL_TEXT : TUTTI_CELL_MISSING, NAN);
  return TUTTI_OK;
}

static enum tutti_written written_as(const char *number) {
  return !strchr(number, '.')                ? TUTTI_WRITTEN_PLAIN
         : tutti_cell_in_threes(number, '.') ? TUTTI_WRITTEN_IN_THREES
                                             : TUTTI_WRITTEN_WITH_POINT;
}

enum tutti_status tutti_rows_add_cell(tutti_context *context, tutti_rows *rows, size_t column, const char *text) {
  double number;
  enum tutti_cell kind = tutti_cell_read(text, &number);
  const char *digits = text + (*text == '-' || *text == '+');
  bool zero = digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9';
  TUTTI_TRY(context, extend(context, rows, column, 1));
  struct tutti_cells *cells = &rows->cells[column];
  if ((kind != TUTTI_CELL_NUMBER && *text) || zero)
    TUTTI_TRY(context, keep_text(context, rows, cells, text));
  add(cells, kind, number);
  if (kind == TUTTI_CELL_NUMBER)
    cells->kinds[cells->count - 1] |= (uint8_t)(written_as(text) << TUTTI_ROWS_WRITTEN_SHIFT);
  return TUTTI_OK;
}

enum tutti_status tutti_rows_add_truths(tutti_context *context, tutti_rows *rows, size_t column, size_t count,
                                        const bool *truths) {
  for (size_t i = 0; i < count; i++)
    TUTTI_TRY(context, tutti_rows_add_text(context, rows, column, truths[i] ? "True" : "False"));
  return TUTTI_OK;
}

enum tutti_status tutti_rows_add_lines(tutti_context *context, tutti_rows *rows, size_t count, const uint32_t *lines) {
  TUTTI_TRY(context,
            tutti_rows_grow(context, rows, rows->line_count, count, sizeof *lines, &rows->line_room, &rows->lines));
  if (count)
    memcpy(rows->lines + rows->line_count, lines, count * sizeof *lines);
  rows->line_count += count;
  return TUTTI_OK;
}

enum tutti_status tutti_rows_add_unread(tutti_context *context, tutti_rows *rows, const char *why) {
  size_t row = tutti_rows_count(rows);
  char *copy;
  for (size_t c = 0; c < rows->columns; c++)
    if (rows->cells[c].count != row)
      return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN, "%s: column %zu has %zu cells and column 0 %zu, between two rows",
                        rows->origin, c, rows->cells[c].count, row);
  TUTTI_TRY(context, tutti_rows_grow(context, rows, rows->unread_count, 1, sizeof *rows->unread, &rows->unread_room,
                                     &rows->unread));
  TUTTI_TRY(context, tutti_strdup(context, why, &copy));
  rows->unread[rows->unread_count++] = (struct tutti_unread_row){row, copy};
  for (size_t c = 0; c < rows->columns; c++)
    TUTTI_TRY(context, tutti_rows_add_text(context, rows, c, NULL));
  return TUTTI_OK;
}

enum tutti_status tutti_rows_settle(tutti_context *context, tutti_rows *rows, const char *parameter,
                                    const char *value) {
  char **pair, *copy;
  size_t i = 0;
  while (i < rows->settled_count && strcmp(rows->settled[2 * i], parameter) != 0)
    i++;
  if (i == rows->settled_count) {
    TUTTI_TRY(context, tutti_realloc(context, 2 * i, 2 * i + 2, sizeof *rows->settled, &rows->settled));
    pair = rows->settled + 2 * i;
    pair[0] = pair[1] = NULL;
    rows->settled_count++;
    TUTTI_TRY(context, tutti_strdup(context, parameter, &pair[0]));
  }
  TUTTI_TRY(context, tutti_strdup(context, value, &copy));
  pair = rows->settled + 2 * i;
  tutti_free(pair[1]);
  pair[1] = copy;
  return TUTTI_OK;
}

void tutti_rows_set_targets(tutti_rows *rows, size_t columns) { rows->targets = columns; }

void tutti_rows_set_task(tutti_rows *rows, enum tutti_task_kind task) {
  rows->has_task = true;
  rows->task = task;
}

void tutti_rows_set_test_rows(tutti_rows *rows, size_t count) { rows->test_rows = count; }

/* --- reading --- */

const char *tutti_rows_origin(const tutti_rows *rows) { return rows->origin; }

size_t tutti_rows_count(const tutti_rows *rows) { return rows->columns ? rows->cells[0].count : rows->images; }

size_t tutti_rows_test_rows(const tutti_rows *rows) { return rows->test_rows; }

bool tutti_rows_are_images(const tutti_rows *rows) { return rows->shape.height > 0; }

size_t tutti_rows_columns(const tutti_rows *rows) { return rows->columns; }

const char *const *tutti_rows_names(const tutti_rows *rows) { return (const char *const *)rows->names; }

bool tutti_rows_named(const tutti_rows *rows) { return rows->named; }

size_t tutti_rows_targets(const tutti_rows *rows) { return rows->targets; }

bool tutti_rows_task(const tutti_rows *rows, enum tutti_task_kind *task) {
  if (rows->has_task)
    *task = rows->task;
  return rows->has_task;
}

const char *tutti_rows_settled(const tutti_rows *rows, size_t index, const char **value) {
  bool any = index < rows->settled_count;
  *value = any ? rows->settled[2 * index + 1] : NULL;
  return any ? rows->settled[2 * index] : NULL;
}

enum tutti_cell tutti_rows_cell(const tutti_rows *rows, size_t row, size_t column) {
  return (enum tutti_cell)(rows->cells[column].kinds[row] & TUTTI_ROWS_KIND);
}

enum tutti_written tutti_rows_written(const tutti_rows *rows, size_t row, size_t column) {
  return (enum tutti_written)(rows->cells[column].kinds[row] >> TUTTI_ROWS_WRITTEN_SHIFT);
}

double tutti_rows_number(const tutti_rows *rows, size_t row, size_t column) { return rows->cells[column].numbers[row]; }

const char *tutti_rows_text(const tutti_rows *rows, size_t row, size_t column) {
  const struct tutti_cells *cells = &rows->cells[column];
  return cells->texts ? cells->text + cells->texts[row] : "";
}

const char *tutti_rows_unread(const tutti_rows *rows, size_t row) {
  size_t low = 0, high = rows->unread_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (rows->unread[middle].row < row)
      low = middle + 1;
    else
      high = middle;
  }
  return low < rows->unread_count && rows->unread[low].row == row ? rows->unread[low].why : NULL;
}

uint32_t tutti_rows_line(const tutti_rows *rows, size_t row) { return rows->lines ? rows->lines[row] : 0; }
