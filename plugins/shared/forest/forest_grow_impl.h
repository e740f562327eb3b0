/* forest_grow_impl.h - what the parts of growth share: columns, the rows of a tree, the search for a split. */
#ifndef TUTTI_FOREST_GROW_IMPL_H
#define TUTTI_FOREST_GROW_IMPL_H

#include "forest_impl.h"

/* A column that varies. Columns of two values stand last. Each row carries a mark for every such column in which it has
   the rarer value, so that the splits of all of them cost one visit per mark, for 10 one-hot columns or for 1,000. */
struct forest_column {
  uint32_t source;     /* index of the column in the vectors */
  double rarer, other; /* its values, where it has two */
  const double *x;     /* [count] */
};

struct forest_columns {
  size_t count, dimension; /* of the data */
  size_t numeric, varying; /* number of columns with more than two values; the same plus those with two */
  struct forest_column *columns;
  uint32_t *known; /* [dimension]: the number among `columns`, or FOREST_CONSTANT */
  double *x;       /* [varying][count] */
  uint32_t *order; /* [numeric][count]: rows by value; only for the best splitter */
  size_t *first;   /* [count + 1]: of a row's marks */
  uint32_t *marks; /* numbers among the columns of two values */
};
#define FOREST_CONSTANT UINT32_MAX

enum tutti_status forest_columns_make(tutti_context *context, const struct forest_data *data, bool sorted,
                                      struct forest_columns *columns);
void forest_columns_clear(struct forest_columns *columns);

/* A row's value in the node times its weight, and its weight. Values are relative to the middle of the node's range and
   lie on a grid coarse enough that every sum of them is exact (2^-40 of the range for 1,000 rows). The order of
   summation then does not matter, and splits that divide the rows in the same way are equal to the bit. */
typedef double forest_sums __attribute__((vector_size(16)));
typedef int64_t forest_bits __attribute__((vector_size(16)));

struct forest_cut {
  uint32_t column;   /* among the columns that vary */
  uint32_t position; /* the best splitter, numeric columns: the last row on the left */
  double threshold;  /* the random splitter, numeric columns */
};

struct forest_grower {
  const struct forest_settings *settings;
  struct forest_columns columns;
  double *values; /* [count]: in units of the forest's scale */
  struct tutti_random random;

  /* The tree: lists of row numbers. A node has the same range [start, start + count) in all of them. */
  double *weights;      /* [count]: how often each row was drawn, times the weight of its class */
  forest_sums *targets; /* [count]: of the rows of the present node */
  uint32_t *rows;       /* [count] */
  uint32_t *lists;      /* [numeric][count]: by the value of a column; only for the best splitter */
  uint8_t *left;        /* [count]: which side a row goes */
  uint32_t *spare;      /* [count] */
  struct forest_span *stack;
  int grid_bits; /* values on the grid are below 2^grid_bits */

  /* The search for a split. */
  forest_sums *marked; /* [varying - numeric]: sums of the marked rows of a two-valued column; zero between splits */
  uint32_t *touched;   /* [varying - numeric + 1]: columns with a marked row */
  size_t touched_count;
  struct forest_cut *best; /* [varying]: the columns that tie for the best so far */
  size_t best_count;
  double gain;
  uint32_t *deck; /* [dimension]: columns in the order in which they are drawn */

  /* Classification; `targets` are then only weights. */
  const uint32_t *classes; /* [count]; NULL: regression */
  size_t class_count;
  const double *class_weights; /* [class_count]; NULL: all are 1 */
  double *all_of, *left_of;    /* [class_count]: weights of the classes in the node, and on the left of a cut */
  double
      *marked_of; /* [varying - numeric][class_count]: of the marked rows of a two-valued column; zero between splits */
};

/* Rows [start, start + count) of the lists: those of a node. */
struct forest_span {
  uint32_t start, count, node, depth;
  forest_sums all; /* sum of the targets */
};

/* Smallest and largest of the rows' numbers, two at a time since each waits for the previous one. */
static inline void forest_range(const double *x, const uint32_t *rows, size_t count, double *low, double *high) {
  double least[2] = {x[rows[count - 1]], x[rows[count - 1]]}, most[2] = {least[0], least[0]};
  for (size_t i = 0; i + 1 < count; i += 2) {
    double a = x[rows[i]], b = x[rows[i + 1]];
    least[0] = a < least[0] ? a : least[0];
    least[1] = b < least[1] ? b : least[1];
    most[0] = a > most[0] ? a : most[0];
    most[1] = b > most[1] ? b : most[1];
  }
  *low = least[0] < least[1] ? least[0] : least[1];
  *high = most[0] > most[1] ? most[0] : most[1];
}

/* The best split of a node whose targets are set; false if no column can be cut. */
bool forest_split(struct forest_grower *grower, const struct forest_span *span, struct forest_cut *cut);

/* --- classification (forest_classes.c) --------------------------------------------------------------------------- */

enum tutti_status forest_classes_init(tutti_context *context, const struct forest_labels *labels,
                                      struct forest_grower *grower);
/* Set the targets of the node's rows and the weights of its classes; false when all rows are of one class. */
bool forest_classes_set(struct forest_grower *grower, struct forest_span *span);
/* The worth of cuts: the best cut of a column, with its position (SIZE_MAX: there is none); one threshold; the marked
   rows of a two-valued column. */
double forest_classes_every(struct forest_grower *grower, const struct forest_span *span, uint32_t column,
                            size_t *found);
double forest_classes_one(struct forest_grower *grower, const struct forest_span *span, const double *x,
                          double threshold);
double forest_classes_marked(const struct forest_grower *grower, const struct forest_span *span, uint32_t marked);
void forest_classes_mark(struct forest_grower *grower, const struct forest_span *span);
void forest_classes_forget(struct forest_grower *grower, uint32_t marked);
/* Make room for this many nodes and shares; append the shares of a leaf. */
enum tutti_status forest_classes_room(tutti_context *context, struct forest *forest, size_t nodes, size_t shares);
void forest_classes_keep(const struct forest_grower *grower, const struct forest_span *span, struct forest *forest,
                         size_t node);

#endif
