/* table.c - tables for people, as wide as the terminal. */
#include "table.h"

#include "program_impl.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
  MARGIN = 2,       /* blanks before the first column */
  GAP = 2,          /* blanks between two columns */
  LEAST_TEXT = 8,   /* a text is not cut to fewer characters */
  LEAST_PROSE = 16, /* with less room, sentences go below their rows */
  PROSE_INDENT = 6, /* where they stand there */
};

/* --- what it holds --- */

struct table table_begin(size_t keys) {
  return (struct table){.keys = keys};
}

/* An array with room for one more than `count`; it grows to powers of two. NULL, and it stays, without memory. */
static void *with_room(struct table *table, void *array, size_t count, size_t size) {
  if (count > 0 && (count & (count - 1)) != 0)
    return array;
  void *larger = count > SIZE_MAX / 2 / size ? NULL : realloc(array, (count ? 2 * count : 1) * size);
  table->lacks_memory = table->lacks_memory || !larger;
  return larger;
}

void table_column(struct table *table, enum table_kind kind, const char *heading) {
  struct table_column *columns = with_room(table, table->columns, table->columns_count, sizeof *table->columns);
  if (!columns)
    return;
  table->columns = columns;
  char *copy = strdup(heading);
  table->lacks_memory = table->lacks_memory || !copy;
  columns[table->columns_count++] = (struct table_column){.heading = copy, .group = table->group, .kind = kind};
}

void table_group(struct table *table, const char *group) { table->group = group; }

void table_join(struct table *table) {
  if (table->columns_count > 0)
    table->columns[table->columns_count - 1].joined = true;
}

void table_cell(struct table *table, const char *format, ...) {
  char **cells = with_room(table, table->cells, table->cells_count, sizeof *table->cells), *text = NULL;
  va_list arguments;
  if (!cells)
    return;
  table->cells = cells;
  va_start(arguments, format);
  if (vasprintf(&text, format, arguments) < 0) {
    table->lacks_memory = true;
    text = NULL;
  }
  va_end(arguments);
  for (char *byte = text; byte && *byte; byte++)
    *byte = (unsigned char)*byte < ' ' ? ' ' : *byte; /* ends of lines among them: a row is a line */
  cells[table->cells_count++] = text;
}

static const char *cell_of(const struct table *table, size_t row, size_t column) {
  const size_t index = row * table->columns_count + column;
  return index < table->cells_count && table->cells[index] ? table->cells[index] : "";
}

static size_t rows_of(const struct table *table) {
  return table->columns_count ? (table->cells_count + table->columns_count - 1) / table->columns_count : 0;
}

/* --- how wide --- */

static size_t larger_of(size_t a, size_t b) { return a > b ? a : b; }
static size_t smaller_of(size_t a, size_t b) { return a < b ? a : b; }

static void measure(struct table *table) {
  for (size_t i = 0; i < table->columns_count; i++) {
    struct table_column *column = &table->columns[i];
    size_t cells = 0;
    for (size_t row = 0; row < rows_of(table); row++)
      cells = larger_of(cells, characters_of(cell_of(table, row, i)));
    column->width =
        larger_of(larger_of(cells, characters_of(column->heading)), characters_of(column->group ? column->group : ""));
    column->least = smaller_of(column->width, LEAST_TEXT);
    if (column->kind == TABLE_NUMBER)
      column->least = larger_of(column->least, cells);
  }
}

/* What the columns take, each with the blanks before it. */
static size_t taken(const struct table *table, size_t first, size_t end, bool cut) {
  size_t sum = 0;
  for (size_t i = first; i < end; i++)
    sum += GAP + (cut ? table->columns[i].least : table->columns[i].width);
  return sum;
}

/* The end of the columns that stand together with the first. */
static size_t together_end(const struct table *table, size_t first, size_t end) {
  size_t next = first < end ? first + 1 : end;
  while (next < end && table->columns[next].joined)
    next++;
  return next;
}

/* The end of the columns of the same group as the first. */
static size_t group_end(const struct table *table, size_t first, size_t end) {
  size_t next = first < end ? first + 1 : end;
  while (next < end && table->columns[next].group == table->columns[first].group)
    next++;
  return next;
}

/* The end of those from `first` on that have room side by side; of those that stand together with the first, if these
   have none. A group that has no room behind others begins a block of its own. */
static size_t block_end(const struct table *table, size_t first, size_t end, size_t room) {
  size_t next = together_end(table, first, end);
  while (next < end) {
    const bool group = table->columns[next].group && table->columns[next].group != table->columns[next - 1].group;
    if (taken(table, first, group ? group_end(table, next, end) : together_end(table, next, end), false) > room)
      break;
    next = together_end(table, next, end);
  }
  return next;
}

/* Cut the widest of the columns, one character after the other, until they take `room` or none can be cut. */
static void narrow(struct table *table, size_t first, size_t end, size_t room) {
  while (taken(table, first, end, false) > room) {
    struct table_column *widest = NULL;
    for (size_t i = first; i < end; i++) {
      struct table_column *column = &table->columns[i];
      if (column->width > column->least && (!widest || column->width > widest->width))
        widest = column;
    }
    if (!widest)
      return;
    widest->width--;
  }
}

/* Have all blocks room for one column more, if they are cut? */
static bool has_room_beside(const struct table *table, size_t end, size_t width, size_t room) {
  const size_t keys = taken(table, 0, table->keys, false);
  for (size_t first = table->keys, next; first < end; first = next) {
    next = together_end(table, first, end);
    if (keys + taken(table, first, next, true) + GAP + width > room)
      return false;
  }
  return true;
}

/* --- its lines --- */

/* A line that is being put, and where its next cell begins. */
struct line {
  FILE *out;
  size_t at, next;
};

static void go_to(struct line *line, size_t place) {
  if (place > line->at)
    (void)fprintf(line->out, "%*s", (int)(place - line->at), "");
  line->at = larger_of(place, line->at);
}

/* End it, unless nothing stands in it, and begin the next one. */
static void end_line(struct line *line) {
  if (line->at > 0)
    (void)fputc('\n', line->out);
  *line = (struct line){.out = line->out, .next = MARGIN};
}

/* The begin and the end of a text that is too long: names often differ in either. */
static void put_cut(const char *text, size_t width, FILE *out) {
  static const char cut[] = "...";
  const size_t length = characters_of(text), kept = width - strlen(cut), head = kept / 2;
  if (length <= width)
    (void)fputs(text, out);
  else
    (void)fprintf(out, "%.*s%s%s", (int)bytes_of(text, head), text, cut, text + bytes_of(text, length - (kept - head)));
}

static void put_cell(struct line *line, const struct table_column *column, const char *text) {
  const size_t length = smaller_of(characters_of(text), column->width);
  if (length > 0) { /* no blanks at the end of a line */
    go_to(line, line->next + (column->kind == TABLE_NUMBER ? column->width - length : 0));
    put_cut(text, column->width, line->out);
    line->at += length;
  }
  line->next += column->width + GAP;
}

static void put_whole(const char *text, size_t length, FILE *out) { (void)fwrite(text, 1, length, out); }

/* Sentences, at the end of their line or below it. */
static void put_prose(struct line *line, const char *text, bool beside, size_t room) {
  if (!*text)
    return;
  if (!beside) {
    end_line(line);
    line->next = PROSE_INDENT;
  }
  go_to(line, line->next);
  if (room == SIZE_MAX)
    (void)fputs(text, line->out);
  else
    wrap_words(text, strlen(text), line->next, room, put_whole, line->out);
}

/* A part of the table whose lines have room: the keys, the columns from `first` to `end`, and perhaps the last one. */
struct block {
  size_t first, end;
  size_t room;
  bool has_last, beside;
};

static size_t next_shown(const struct table *table, const struct block *block, size_t column) {
  return column + 1 == table->keys ? block->first : column + 1;
}

static size_t first_shown(const struct table *table, const struct block *block) {
  return table->keys ? 0 : block->first;
}

/* The names of the groups, above the first column of each. */
static void put_groups(const struct table *table, const struct block *block, FILE *out) {
  struct line line = {.out = out, .next = MARGIN};
  const char *last = NULL;
  for (size_t i = first_shown(table, block); i < block->end; i = next_shown(table, block, i)) {
    const struct table_column left = {.width = table->columns[i].width, .kind = TABLE_TEXT};
    const char *group = table->columns[i].group;
    put_cell(&line, &left, group && group != last ? group : "");
    last = group;
  }
  end_line(&line);
}

static void put_block(const struct table *table, const struct block *block, FILE *out) {
  const struct table_column *last = &table->columns[table->columns_count - 1];
  struct line line = {.out = out, .next = MARGIN};
  put_groups(table, block, out);
  for (size_t i = first_shown(table, block); i < block->end; i = next_shown(table, block, i))
    put_cell(&line, &table->columns[i], table->columns[i].heading);
  if (block->has_last && block->beside)
    put_cell(&line, last, last->heading);
  end_line(&line);
  for (size_t row = 0; row < rows_of(table); row++) {
    for (size_t i = first_shown(table, block); i < block->end; i = next_shown(table, block, i))
      put_cell(&line, &table->columns[i], cell_of(table, row, i));
    if (block->has_last && last->kind == TABLE_PROSE)
      put_prose(&line, cell_of(table, row, table->columns_count - 1), block->beside, block->room);
    else if (block->has_last)
      put_cell(&line, last, cell_of(table, row, table->columns_count - 1));
    end_line(&line);
  }
}

/* Is the cell the first of its column with its text? */
static bool is_new(const struct table *table, size_t row, size_t column) {
  for (size_t before = 0; before < row; before++)
    if (strcmp(cell_of(table, before, column), cell_of(table, row, column)) == 0)
      return false;
  return true;
}

/* "  nats: nll, nll-moments", a line for each unit. */
static void put_units(const struct table *table, FILE *out) {
  const size_t units = table->columns_count - 1, rows = rows_of(table);
  const char *before = "\n";
  for (size_t row = 0; row < rows; row++) {
    const char *unit = cell_of(table, row, units), *between = ": ";
    if (!*unit || !is_new(table, row, units))
      continue;
    (void)fprintf(out, "%s  %s", before, unit);
    for (size_t i = row; i < rows; i++)
      if (strcmp(cell_of(table, i, units), unit) == 0) {
        (void)fprintf(out, "%s%s", between, cell_of(table, i, 0));
        between = ", ";
      }
    (void)fputc('\n', out);
    before = "";
  }
}

static void put_table(struct table *table, FILE *out) {
  const struct table_column *last = &table->columns[table->columns_count - 1];
  const bool unit = last->kind == TABLE_UNIT, prose = last->kind == TABLE_PROSE;
  const size_t width = table_width(out), end = table->columns_count - (unit || prose);
  const size_t all = width == SIZE_MAX ? width : width - MARGIN + GAP;
  const bool unit_beside = unit && has_room_beside(table, end, last->width, all);
  const size_t room = unit_beside ? all - GAP - last->width : all;
  size_t first = table->keys;
  for (;;) {
    const size_t keys = taken(table, 0, table->keys, false);
    struct block block = {.first = first, .room = width, .has_last = unit_beside, .beside = unit_beside};
    block.end = block_end(table, first, end, room > keys ? room - keys : 0);
    narrow(table, first, block.end, room > keys ? room - keys : 0);
    const size_t others = taken(table, first, block.end, false);
    narrow(table, 0, table->keys, room > others ? room - others : 0);
    if (prose && block.end == end) {
      block.has_last = true;
      block.beside = keys + others + GAP + smaller_of(last->width, LEAST_PROSE) <= room;
    }
    put_block(table, &block, out);
    if (block.end == end)
      break;
    (void)fputc('\n', out);
    first = block.end;
  }
  if (unit && !unit_beside)
    put_units(table, out);
}

static void release_table(struct table *table) {
  for (size_t i = 0; i < table->cells_count; i++)
    free(table->cells[i]);
  for (size_t i = 0; i < table->columns_count; i++)
    free(table->columns[i].heading);
  free(table->cells);
  free(table->columns);
  *table = (struct table){0};
}

void table_end(struct table *table, FILE *out) {
  if (table->lacks_memory) {
    perror("tutti: cannot show a table");
  } else if (table->columns_count > 0) {
    measure(table);
    put_table(table, out);
  }
  release_table(table);
}
