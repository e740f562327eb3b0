/* columns_impl.h - columns that are used: what a cell of one becomes; for engine/data/ and engine/export/ alone. */
#ifndef TUTTI_COLUMNS_IMPL_H
#define TUTTI_COLUMNS_IMPL_H

#include <tutti/rows.h>

#include "engine/data/dates_impl.h"

/* A column of the source that is used. */
struct tutti_data_column {
  char *name;
  size_t position;    /* in the source, from 0 */
  size_t categories;  /* 0: a number */
  char **category;    /* [categories], sorted: numbers by value, then texts by bytes */
  double mean;        /* mean of the training rows, used for missing cells */
  char *date_format;  /* texts are dates (see dates_impl.h), and the number is their days; NULL: they are not */
  size_t cycles;      /* of dates: so many of their cycles are features, too, the first of enum tutti_cycle */
  bool marks_missing; /* of numbers: one more feature is 1 where the cell is missing */
  bool whole;         /* of numbers, with the mean for missing cells: no training row lacked one */
  /* Of numbers, scaled by quantiles: knot[i], increasing, becomes level[i]; straight between them, constant beyond.
     Before the linear scale. 0: none. */
  size_t knots;
  double *knot, *level; /* [knots] */
  double clip;          /* of numbers: z, which is scaled, becomes z / sqrt(1 + (z / clip)^2); 0: it stays */
  /* Of numbers: each bin is a feature, 0 below its edges, 1 above, the share of its width between. */
  size_t bins;
  double *edge; /* [bins + 1], increasing */
};

enum { TUTTI_MAX_CATEGORIES = 4096 };
/* The categories of missing cells, and of rare and unseen values. */
#define TUTTI_CATEGORY_MISSING "(missing)"
#define TUTTI_CATEGORY_OTHER "(other)"

/* The features of a column but its bins, which come behind the features of all columns: its categories; or the number,
   a sine and a cosine for each cycle, and the mark of missing cells. */
size_t tutti_column_features(const struct tutti_data_column *column);
/* The number in a cell, or the days of a date; NaN for other cells. *cell (may be NULL) is what it is: of dates, a
   text is no date. */
double tutti_column_number(const struct tutti_data_column *column, const tutti_rows *table, size_t row,
                           enum tutti_cell *cell);

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
