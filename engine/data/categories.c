/* categories.c - the values of a one-hot column or of a class: sorted, numbers by value and then texts by their bytes,
   so that they do not depend on the order of rows. */
#include <string.h>

#include "columns_impl.h"
#include "cells_impl.h"
#include "core/base/text_impl.h"

const char *tutti_category_of(const tutti_rows *table, size_t row, size_t column, char buffer[32]) {
  enum tutti_cell cell = tutti_rows_cell(table, row, column);
  const char *text = tutti_rows_text(table, row, column);
  if (cell != TUTTI_CELL_NUMBER && (*text || cell != TUTTI_CELL_INFINITE))
    return text;
  tutti_number_print(tutti_rows_number(table, row, column), buffer);
  return buffer;
}

static bool is_number(const char *text, double *number) {
  enum tutti_cell kind = tutti_cell_read(text, number);
  return kind == TUTTI_CELL_NUMBER || kind == TUTTI_CELL_INFINITE;
}

static int compare_categories(const char *a, const char *b) {
  double x, y;
  bool a_number = is_number(a, &x), b_number = is_number(b, &y);
  if (a_number && b_number && x != y)
    return x < y ? -1 : 1;
  if (a_number != b_number)
    return a_number ? -1 : 1;
  return strcmp(a, b);
}

/* The position of a category, or the position where it would be. */
static size_t place_of(const struct tutti_data_column *column, const char *category, bool *found) {
  size_t low = 0, high = column->categories;
  *found = false;
  while (low < high && !*found) {
    size_t middle = low + (high - low) / 2;
    int order = compare_categories(category, column->category[middle]);
    if (order > 0)
      low = middle + 1;
    else
      high = middle;
    if (order == 0) {
      *found = true;
      low = middle;
    }
  }
  return low;
}

size_t tutti_category_find(const struct tutti_data_column *column, const char *category) {
  bool found;
  size_t place = place_of(column, category, &found);
  return found ? place : SIZE_MAX;
}

enum tutti_status tutti_category_add(tutti_context *context, struct tutti_data_column *column, const char *category) {
  bool found;
  char *copy;
  size_t count = column->categories, place = place_of(column, category, &found);
  if (found)
    return TUTTI_OK;
  if (count == TUTTI_MAX_CATEGORIES)
    return TUTTI_FAIL(
        context, TUTTI_ERROR_USAGE,
        "column '%s' has more than %d different values, such as '%.40s': too many to be categories; name it "
        "in data.ignore if it identifies rows, or keep the most frequent ones by data.most_categories = 100",
        column->name, TUTTI_MAX_CATEGORIES, category);
  if (!tutti_is_utf8(category))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "column '%s': '%.40s' is not UTF-8; convert the file", column->name,
                      category);
  if ((count & (count - 1)) == 0) /* grow at 0, 1, 2, 4, 8, ... */
    TUTTI_TRY(context,
              tutti_realloc(context, count, count ? 2 * count : 1, sizeof *column->category, &column->category));
  TUTTI_TRY(context, tutti_strdup(context, category, &copy));
  memmove(column->category + place + 1, column->category + place, (count - place) * sizeof *column->category);
  column->category[place] = copy;
  column->categories++;
  return TUTTI_OK;
}

enum tutti_status tutti_category_fail(tutti_context *context, const struct tutti_data_column *column,
                                      const tutti_rows *table, size_t row, size_t position) {
  enum { LISTED = 20 };
  char buffer[32], *known = NULL;
  struct tutti_text text = tutti_text_begin(context);
  for (size_t i = 0; i < column->categories && i < LISTED; i++)
    tutti_text_add(&text, "%s%.40s", i ? ", " : "", column->category[i]);
  if (column->categories > LISTED)
    tutti_text_add(&text, ", and %zu more", column->categories - LISTED);
  TUTTI_TRY(context, tutti_text_take(&text, &known));
  enum tutti_status status = tutti_cell_fail(context, table, row, position, "expected one of: %.600s; found '%.60s'",
                                             known, tutti_category_of(table, row, position, buffer));
  tutti_free(known);
  return status;
}
