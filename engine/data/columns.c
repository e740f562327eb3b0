/* columns.c - the numbers of a column. */
#include <math.h>

#include "columns_impl.h"

size_t tutti_column_features(const struct tutti_data_column *column) {
  return column->categories ? column->categories : 1 + 2 * column->cycles + column->marks_missing;
}

double tutti_column_number(const struct tutti_data_column *column, const tutti_rows *table, size_t row,
                           enum tutti_cell *cell) {
  enum tutti_cell found = tutti_rows_cell(table, row, column->position);
  double number = tutti_rows_number(table, row, column->position);
  bool time;
  if (column->date_format && found != TUTTI_CELL_MISSING) {
    bool is_date = tutti_date_read_cell(column->date_format, table, row, column->position, &number, &time);
    number = is_date ? number : NAN;
    found = is_date ? TUTTI_CELL_NUMBER : TUTTI_CELL_TEXT;
  }
  if (cell)
    *cell = found;
  return number;
}
