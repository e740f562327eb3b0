/* table.h - the numbers of a figure: what is drawn, shown as a table and offered as CSV. */
#ifndef TUTTI_DRAW_TABLE_H
#define TUTTI_DRAW_TABLE_H

#include "core/base/text_impl.h"

/* A cell has a number, or a text if there is one. */
struct tutti_table_cell {
  double number; /* NaN: nothing is known */
  char *text;    /* NULL: a number */
};

/* A table under construction. Cells are put one after the other, row by row. The first failure sticks in `status`. */
struct tutti_table {
  tutti_context *context;
  enum tutti_status status;
  const char *name; /* static; of the CSV file */
  char **heads;     /* [columns] */
  struct tutti_table_cell *cells;
  size_t columns, count, room; /* of cells */
  bool parted;                 /* lines are parted where the first cell changes */
  bool stacked;                /* on a page, the numbers of a row stand below each other, as there are many columns */
};

struct tutti_table tutti_table_begin(tutti_context *context, const char *name);
void tutti_table_end(struct tutti_table *table);
/* Add a column, before any cell is put. The name is copied. */
void tutti_table_column(struct tutti_table *table, const char *name);
/* The same for several names, ended by NULL. */
void tutti_table_add_columns(struct tutti_table *table, const char *const *names);
#define tutti_table_columns(table, ...) tutti_table_add_columns(table, (const char *const[]){__VA_ARGS__})
/* Put the next cell. */
void tutti_table_put(struct tutti_table *table, double number);
void tutti_table_put_text(struct tutti_table *table, const char *text);
/* Put `count` numbers. */
void tutti_table_put_all(struct tutti_table *table, size_t count, const double *numbers);
size_t tutti_table_rows(const struct tutti_table *table);
/* The cell; row and column are in range. */
const struct tutti_table_cell *tutti_table_cell(const struct tutti_table *table, size_t row, size_t column);

/* Add the table as CSV (RFC 4180): numbers in their shortest form that gives the same bits back, nothing for a number
   that is not known. A text that a spreadsheet would take for a formula gets an apostrophe in front. */
void tutti_table_csv(const struct tutti_table *table, struct tutti_text *out);

#endif
