/* categories_impl.h - columns that are used, and the values of those that are coded one-hot; for engine/data/ alone. */
#ifndef TUTTI_CATEGORIES_IMPL_H
#define TUTTI_CATEGORIES_IMPL_H

#include <tutti/rows.h>

/* A column of the source that is used. */
struct tutti_data_column {
  char *name;
  size_t position;   /* in the source, from 0 */
  size_t categories; /* 0: a number */
  char **category;   /* [categories], sorted: numbers by value, then texts by bytes */
  double mean;       /* mean of the training rows, used for missing cells */
};

enum { TUTTI_MAX_CATEGORIES = 4096 };

/* The category of a cell: its text, or its number in the shortest form, printed into `buffer`. */
const char *tutti_category_of(const tutti_rows *table, size_t row, size_t column, char buffer[32]);
/* Add a category to a column, unless it is already there. */
TUTTI_NODISCARD enum tutti_status tutti_category_add(tutti_context *context, struct tutti_data_column *column,
                                                     const char *category);
/* The number of a category; SIZE_MAX if the column has no category of that name. */
size_t tutti_category_find(const struct tutti_data_column *column, const char *category);
/* Fail because the category of a cell is unknown; the message lists the known ones. */
enum tutti_status tutti_category_fail(tutti_context *context, const struct tutti_data_column *column,
                                      const tutti_rows *table, size_t row, size_t position);

#endif
