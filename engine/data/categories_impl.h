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
  double mean;       /* of the training rows, in place of missing cells */
};

enum { TUTTI_MAX_CATEGORIES = 4096 };

/* The category that a cell belongs to: its text, or its number in the shortest form, printed into `buffer`. */
const char *tutti_category_of(const tutti_rows *table, size_t row, size_t column, char buffer[32]);
/* Add a category to those of a column, unless it is there. */
TUTTI_NODISCARD enum tutti_status tutti_category_add(tutti_context *context, struct tutti_data_column *column,
                                                     const char *category);
/* The number of a category; SIZE_MAX when the column has none of that name. */
size_t tutti_category_find(const struct tutti_data_column *column, const char *category);
/* Fail because a cell's category is not known: the message lists those that are. */
enum tutti_status tutti_category_fail(tutti_context *context, const struct tutti_data_column *column,
                                      const tutti_rows *table, size_t row, size_t position);

#endif
