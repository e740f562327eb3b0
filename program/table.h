/* table.h - tables for people: columns side by side as far as there is room, and those that find none below them.

   Begin a table, add its columns, then its cells row by row, and end it, which prints it and frees what it holds. Its
   first columns, the keys, stand before each block of the others. Where a column alone has no room beside the keys, its
   texts lose their middle; numbers are never cut. */
#ifndef TUTTI_TABLE_H
#define TUTTI_TABLE_H

#include <stdbool.h>
#include <stdio.h>
#include <tutti/tutti.h>

enum table_kind {
  TABLE_NUMBER, /* at the right of its column */
  TABLE_TEXT,   /* at the left of its column */
  TABLE_UNIT,  /* the last column: what stands there in many rows. Without room it is told below the table, once each */
  TABLE_PROSE, /* the last column: sentences, broken between words. Without room they go below their rows */
};

struct table_column {
  char *heading;
  const char *group; /* borrowed, a constant; NULL: none */
  enum table_kind kind;
  bool joined;
  size_t width, least; /* characters that it takes, and to how many it may be cut */
};

struct table {
  size_t keys, columns_count, cells_count;
  const char *group; /* of the columns that are added */
  struct table_column *columns;
  char **cells; /* [rows][columns] */
  bool lacks_memory;
};

struct table table_begin(size_t keys);
void table_column(struct table *table, enum table_kind kind, const char *heading);
/* Columns from here on belong to a group, whose name stands above them; until another one begins. */
void table_group(struct table *table, const char *group);
/* The last column stands in the same block as the one before it. */
void table_join(struct table *table);
/* The next cell: of the row, or of the next one if that is full. */
void table_cell(struct table *table, const char *format, ...) TUTTI_PRINTF(2, 3);
/* Print it, as wide as what `out` goes to, and free what it holds. Headings that are all empty take no line. */
void table_end(struct table *table, FILE *out);

#endif
