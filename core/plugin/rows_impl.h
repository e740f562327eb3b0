/* rows_impl.h - the inside of rows; for core/plugin/ only. */
#ifndef TUTTI_ROWS_IMPL_H
#define TUTTI_ROWS_IMPL_H

#include <tutti/rows.h>

/* Bits in the kind of a cell, above enum tutti_cell: how the word of a number was written (enum tutti_written). */
enum { TUTTI_ROWS_WRITTEN_SHIFT = 6, TUTTI_ROWS_KIND = (1 << TUTTI_ROWS_WRITTEN_SHIFT) - 1 };

/* A column of a table. */
struct tutti_cells {
  size_t count, room;
  double *numbers; /* [count]; NaN unless the cell is a number */
  uint8_t *kinds;  /* [count]: enum tutti_cell, and TUTTI_ROWS_WRITTEN_SHIFT bits above it enum tutti_written */
  size_t *texts;   /* [count]: where in `text` a cell's text starts; NULL while there is none */
  char *text;      /* begins with an empty text */
  size_t text_bytes, text_room;
};

/* A row that cannot be read. */
struct tutti_unread_row {
  size_t row;
  char *why;
};

struct tutti_rows {
  char *origin;
  size_t test_rows;
  size_t held, limit;   /* bytes of all that is here, nearly, and the most that they may be: */
  const char *limit_of; /* half of that */
  size_t expected;      /* bytes that are said to come, in all */
  /* a table */
  size_t columns, column_room;
  char **names;              /* [columns] */
  struct tutti_cells *cells; /* [columns] */
  void *by_name;             /* the tree of struct named_column (search.h): the first column of each name */
  bool named;
  uint32_t *lines;
  size_t line_count, line_room, targets;
  struct tutti_unread_row *unread; /* [unread_count], ascending */
  size_t unread_count, unread_room;
  char **settled; /* [settled_count][2]: a parameter of the source, and its value */
  size_t settled_count;
  bool has_task;
  enum tutti_task_kind task;
  /* or images */
  struct tutti_shape shape; /* height 0: none */
  enum tutti_element element;
  size_t images, image_room, label_count, label_room;
  void *pixels;
  int64_t *labels;
};

/* Make room for `more` elements of `size` bytes after the first `count` of *(void **)array. TUTTI_ERROR_USAGE: the rows
   would be larger than their limit. */
TUTTI_NODISCARD enum tutti_status tutti_rows_grow(tutti_context *context, tutti_rows *rows, size_t count, size_t more,
                                                  size_t size, size_t *room, void *array);

#endif
