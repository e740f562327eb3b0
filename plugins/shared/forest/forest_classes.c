/* forest_classes.c - classification: nodes are split for the least Gini impurity, and leaves keep the shares of their
   classes. Weights are whole numbers, unless classes have weights of their own, so that counts of classes and sums of
   their squares are exact: splits that divide the rows in the same way are equal to the bit. Up to a constant, the
   impurity that a split leaves is -(sum L_c^2 / L + sum R_c^2 / R). */
#include <string.h>

#include "forest_grow_impl.h"

enum tutti_status forest_classes_init(tutti_context *context, const struct forest_labels *labels,
                                      struct forest_grower *grower) {
  size_t classes = labels->classes, marked = grower->columns.varying - grower->columns.numeric;
  grower->classes = labels->labels;
  grower->class_count = classes;
  grower->class_weights = labels->weights;
  TUTTI_TRY(context, tutti_alloc(context, classes, sizeof(double), &grower->all_of));
  TUTTI_TRY(context, tutti_alloc(context, classes, sizeof(double), &grower->left_of));
  return tutti_alloc(context, marked, classes * sizeof(double), &grower->marked_of);
}

bool forest_classes_set(struct forest_grower *grower, struct forest_span *span) {
  const uint32_t *rows = grower->rows + span->start;
  bool differ = false;
  memset(grower->all_of, 0, grower->class_count * sizeof *grower->all_of);
  span->all = (forest_sums){0, 0};
  for (size_t i = 0; i < span->count; i++) {
    double weight = grower->weights[rows[i]];
    grower->targets[rows[i]] = (forest_sums){0, weight};
    span->all[1] += weight;
    grower->all_of[grower->classes[rows[i]]] += weight;
    differ = differ || grower->classes[rows[i]] != grower->classes[rows[0]];
  }
  return differ;
}

/* The sums of squared counts of both sides, and how they change as rows move to the left. */
struct sides {
  double left, right;                 /* weights */
  double left_squares, right_squares; /* sums over the classes */
};

static struct sides begin_sides(struct forest_grower *grower, const struct forest_span *span) {
  struct sides sides = {.right = span->all[1]};
  for (size_t c = 0; c < grower->class_count; c++) {
    sides.right_squares += grower->all_of[c] * grower->all_of[c];
    grower->left_of[c] = 0;
  }
  return sides;
}

static inline void move_left(const struct forest_grower *grower, uint32_t row, struct sides *sides) {
  double weight = grower->weights[row], *left = &grower->left_of[grower->classes[row]];
  double right = grower->all_of[grower->classes[row]] - *left;
  sides->left += weight;
  sides->right -= weight;
  sides->left_squares += weight * (2 * *left + weight);
  sides->right_squares += weight * (weight - 2 * right);
  *left += weight;
}

static inline double gain_of_sides(const struct sides *sides) {
  return sides->left_squares / sides->left + sides->right_squares / sides->right;
}

double forest_classes_every(struct forest_grower *grower, const struct forest_span *span, uint32_t column,
                            size_t *found) {
  const uint32_t *list = grower->lists + column * grower->columns.count + span->start;
  const double *x = grower->columns.columns[column].x;
  size_t first = grower->settings->min_leaf - 1, end = span->count - grower->settings->min_leaf;
  struct sides sides = begin_sides(grower, span);
  double most = -1;
  *found = SIZE_MAX;
  for (size_t i = 0; i < end; i++) {
    move_left(grower, list[i], &sides);
    double gain = gain_of_sides(&sides);
    if (i >= first && gain > most && x[list[i]] < x[list[i + 1]]) {
      most = gain;
      *found = i;
    }
  }
  return most;
}

double forest_classes_one(struct forest_grower *grower, const struct forest_span *span, const double *x,
                          double threshold) {
  const uint32_t *rows = grower->rows + span->start;
  struct sides sides = begin_sides(grower, span);
  for (size_t i = 0; i < span->count; i++)
    if (x[rows[i]] <= threshold)
      move_left(grower, rows[i], &sides);
  return gain_of_sides(&sides);
}

void forest_classes_mark(struct forest_grower *grower, const struct forest_span *span) {
  const struct forest_columns *columns = &grower->columns;
  const uint32_t *rows = grower->rows + span->start;
  for (size_t i = 0; i < span->count; i++)
    for (size_t k = columns->first[rows[i]], end = columns->first[rows[i] + 1]; k < end; k++)
      grower->marked_of[columns->marks[k] * grower->class_count + grower->classes[rows[i]]] += grower->weights[rows[i]];
}

void forest_classes_forget(struct forest_grower *grower, uint32_t marked) {
  memset(grower->marked_of + marked * grower->class_count, 0, grower->class_count * sizeof *grower->marked_of);
}

double forest_classes_marked(const struct forest_grower *grower, const struct forest_span *span, uint32_t marked) {
  const double *left = grower->marked_of + marked * grower->class_count;
  struct sides sides = {.left = grower->marked[marked][1]};
  sides.right = span->all[1] - sides.left;
  for (size_t c = 0; c < grower->class_count; c++) {
    double right = grower->all_of[c] - left[c];
    sides.left_squares += left[c] * left[c];
    sides.right_squares += right * right;
  }
  return gain_of_sides(&sides);
}

/* --- leaves ------------------------------------------------------------------------------------------------------ */

enum tutti_status forest_classes_room(tutti_context *context, struct forest *forest, size_t nodes, size_t shares) {
  if (nodes > forest->leaf_room) {
    size_t room = nodes + nodes / 2;
    TUTTI_TRY(context, tutti_realloc(context, forest->leaf_room, room, sizeof *forest->leaves, &forest->leaves));
    forest->leaf_room = room;
  }
  if (shares > forest->share_room) {
    size_t room = shares + shares / 2;
    TUTTI_TRY(context, tutti_realloc(context, forest->share_room, room, sizeof *forest->shares, &forest->shares));
    forest->share_room = room;
  }
  return TUTTI_OK;
}

void forest_classes_keep(const struct forest_grower *grower, const struct forest_span *span, struct forest *forest,
                         size_t node) {
  struct forest_leaf *leaf = &forest->leaves[node];
  *leaf = (struct forest_leaf){.first = (uint32_t)forest->share_count};
  for (size_t c = 0; c < grower->class_count; c++)
    if (grower->all_of[c] > 0) {
      forest->shares[forest->share_count++] =
          (struct forest_share){(uint32_t)c, (float)(grower->all_of[c] / span->all[1])};
      leaf->count++;
    }
}
