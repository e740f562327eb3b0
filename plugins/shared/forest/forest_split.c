/* forest_split.c - finds the split of a node: the column and the cut that leave the least sum of squares, or the least
   impurity. */
#include "forest_grow_impl.h"

/* The sum of squares between the two sides (about the middle of the node's range). Up to a constant it is the amount by
   which the split lowers the node's sum of squares. Swapping the sides gives the same bits. */
static inline double gain_of(forest_sums left, forest_sums all) {
  forest_sums right = all - left;
  forest_sums sums = __builtin_shufflevector(left, right, 0, 2), weights = __builtin_shufflevector(left, right, 1, 3);
  forest_sums parts = sums * sums / weights;
  return parts[0] + parts[1];
}

/* Keep a cut of a column if no other column has a better one. */
static void offer(struct forest_grower *grower, double gain, struct forest_cut cut) {
  if (gain < grower->gain)
    return;
  if (gain > grower->gain)
    grower->best_count = 0;
  grower->gain = gain;
  grower->best[grower->best_count++] = cut;
}

/* --- numeric columns ------------------------------------------------------------------------------------------ */

/* Try all thresholds of a column; the first of the best counts. */
static bool try_every(struct forest_grower *grower, const struct forest_span *span, uint32_t column) {
  const struct forest_columns *columns = &grower->columns;
  const uint32_t *list = grower->lists + column * columns->count + span->start;
  const double *x = columns->columns[column].x;
  const forest_sums *targets = grower->targets;
  size_t first = grower->settings->min_leaf - 1, end = span->count - grower->settings->min_leaf, found = SIZE_MAX;
  forest_sums left = {0, 0};
  if (x[list[0]] == x[list[span->count - 1]])
    return false;
  double most = grower->gain * (1 - 0x1p-52) - 1; /* slightly less than the best so far, so that ties count, too */
  for (size_t i = 0; i < first; i++)
    left += targets[list[i]];
  for (size_t i = first; i < end; i++) {
    left += targets[list[i]];
    double gain = gain_of(left, span->all);
    if (gain > most && x[list[i]] < x[list[i + 1]]) {
      most = gain;
      found = i;
    }
  }
  if (found != SIZE_MAX)
    offer(grower, most, (struct forest_cut){.column = column, .position = (uint32_t)found});
  return true;
}

static bool try_every_of_classes(struct forest_grower *grower, const struct forest_span *span, uint32_t column) {
  const uint32_t *list = grower->lists + column * grower->columns.count + span->start;
  const double *x = grower->columns.columns[column].x;
  size_t found;
  if (x[list[0]] == x[list[span->count - 1]])
    return false;
  double gain = forest_classes_every(grower, span, column, &found);
  if (found != SIZE_MAX)
    offer(grower, gain, (struct forest_cut){.column = column, .position = (uint32_t)found});
  return true;
}

static double threshold_between(struct tutti_random *random, double low, double high) {
  double share = tutti_random_u32(random) * 0x1p-32, threshold = low * (1 - share) + high * share;
  return threshold >= low && threshold < high ? threshold : low;
}

/* Does a threshold between the smallest and the largest value leave min_leaf rows on each side? */
static bool leaves_enough(const struct forest_grower *grower, const struct forest_span *span, const double *x,
                          double threshold) {
  size_t least = grower->settings->min_leaf, left = 0;
  if (least == 1)
    return true;
  for (size_t i = span->start; i < span->start + span->count; i++)
    left += x[grower->rows[i]] <= threshold;
  return left >= least && span->count - left >= least;
}

/* The worth of a threshold. */
static double gain_at(const struct forest_grower *grower, const struct forest_span *span, const double *x,
                      double threshold) {
  const uint32_t *rows = grower->rows + span->start;
  forest_sums left = {0, 0};
  for (size_t i = 0; i < span->count; i++) {
    forest_sums at = {x[rows[i]], x[rows[i]]};
    forest_bits is_left = at <= threshold;
    /* No branch: half of them would be mispredicted. */
    left += (forest_sums)((forest_bits)grower->targets[rows[i]] & is_left);
  }
  return gain_of(left, span->all);
}

/* One random threshold. */
static bool try_one(struct forest_grower *grower, const struct forest_span *span, uint32_t column) {
  const double *x = grower->columns.columns[column].x;
  const uint32_t *rows = grower->rows + span->start;
  double low, high;
  forest_range(x, rows, span->count, &low, &high);
  if (low == high)
    return false;
  double threshold = threshold_between(&grower->random, low, high);
  double gain = grower->classes ? forest_classes_one(grower, span, x, threshold) : gain_at(grower, span, x, threshold);
  if (gain >= grower->gain && leaves_enough(grower, span, x, threshold))
    offer(grower, gain, (struct forest_cut){.column = column, .threshold = threshold});
  return true;
}

/* --- columns of two values ------------------------------------------------------------------------------------ */

/* The sums of all marked columns; each row is visited once. */
static void add_marks(struct forest_grower *grower, const struct forest_span *span) {
  const struct forest_columns *columns = &grower->columns;
  const uint32_t *rows = grower->rows + span->start, *marks = columns->marks;
  forest_sums *marked = grower->marked;
  uint32_t *touched = grower->touched;
  size_t touched_count = 0;
  for (size_t i = 0; i < span->count; i++) {
    forest_sums target = grower->targets[rows[i]];
    for (size_t k = columns->first[rows[i]], end = columns->first[rows[i] + 1]; k < end; k++) {
      forest_sums *at = &marked[marks[k]];
      touched[touched_count] = marks[k];
      touched_count += (*at)[1] == 0;
      *at += target;
    }
  }
  grower->touched_count = touched_count;
  if (grower->classes)
    forest_classes_mark(grower, span);
}

static void forget_marks(struct forest_grower *grower) {
  for (size_t i = 0; i < grower->touched_count; i++) {
    grower->marked[grower->touched[i]] = (forest_sums){0, 0};
    if (grower->classes)
      forest_classes_forget(grower, grower->touched[i]);
  }
}

static bool try_marked(struct forest_grower *grower, const struct forest_span *span, uint32_t column) {
  forest_sums marked = grower->marked[column - grower->columns.numeric];
  const struct forest_column *two_valued = &grower->columns.columns[column];
  if (marked[1] == 0 || marked[1] == span->all[1])
    return false;
  double gain = grower->classes ? forest_classes_marked(grower, span, column - (uint32_t)grower->columns.numeric)
                                : gain_of(marked, span->all);
  if (gain >= grower->gain && leaves_enough(grower, span, two_valued->x, fmin(two_valued->rarer, two_valued->other)))
    offer(grower, gain, (struct forest_cut){.column = column});
  return true;
}

/* --- which columns -------------------------------------------------------------------------------------------- */

/* A node of two rows: every column in which they differ divides them in the same way. */
static bool try_pair(struct forest_grower *grower, const struct forest_span *span, uint32_t column) {
  const double *x = grower->columns.columns[column].x;
  const uint32_t *rows = grower->rows + span->start;
  if (x[rows[0]] == x[rows[1]])
    return false;
  offer(grower, gain_of(grower->targets[rows[0]], span->all), (struct forest_cut){.column = column});
  return true;
}

/* Does the column vary in the node? */
static bool try_column(struct forest_grower *grower, const struct forest_span *span, uint32_t column) {
  if (column >= grower->columns.numeric)
    return try_marked(grower, span, column);
  if (span->count == 2)
    return try_pair(grower, span, column);
  if (grower->settings->splitter == FOREST_RANDOM)
    return try_one(grower, span, column);
  return grower->classes ? try_every_of_classes(grower, span, column) : try_every(grower, span, column);
}

static void try_all(struct forest_grower *grower, const struct forest_span *span) {
  for (size_t c = 0; c < grower->columns.numeric; c++)
    (void)try_column(grower, span, (uint32_t)c);
  for (size_t i = 0; i < grower->touched_count; i++)
    (void)try_marked(grower, span, (uint32_t)grower->columns.numeric + grower->touched[i]);
}

/* Draw this many columns without replacement, and more until one varies. */
static void try_some(struct forest_grower *grower, const struct forest_span *span, size_t some) {
  size_t dimension = grower->columns.dimension;
  bool varies = false;
  for (size_t i = 0; i < dimension && (i < some || !varies); i++) {
    size_t j = i + (size_t)tutti_random_below(&grower->random, dimension - i);
    uint32_t drawn = grower->deck[j];
    grower->deck[j] = grower->deck[i];
    grower->deck[i] = drawn;
    if (grower->columns.known[drawn] != FOREST_CONSTANT)
      varies = try_column(grower, span, grower->columns.known[drawn]) || varies;
  }
}

/* Half-way between the neighbours of the best cut; the random splitter draws a threshold between them. */
static double threshold_of(struct forest_grower *grower, const struct forest_span *span, const struct forest_cut *cut) {
  const struct forest_columns *columns = &grower->columns;
  const struct forest_column *column = &columns->columns[cut->column];
  bool random = grower->settings->splitter == FOREST_RANDOM;
  double one, other;
  if (cut->column >= columns->numeric) {
    one = column->rarer;
    other = column->other;
  } else if (span->count == 2) {
    one = column->x[grower->rows[span->start]];
    other = column->x[grower->rows[span->start + 1]];
  } else if (random) {
    return cut->threshold;
  } else {
    const uint32_t *list = grower->lists + cut->column * columns->count + span->start;
    one = column->x[list[cut->position]];
    other = column->x[list[cut->position + 1]];
  }
  double low = fmin(one, other), high = fmax(one, other), middle = low / 2 + high / 2;
  if (random)
    return threshold_between(&grower->random, low, high);
  return middle >= low && middle < high ? middle : low;
}

bool forest_split(struct forest_grower *grower, const struct forest_span *span, struct forest_cut *cut) {
  size_t dimension = grower->columns.dimension;
  size_t some = (size_t)(grower->settings->features * (double)dimension);
  grower->best_count = 0;
  grower->gain = -1;
  add_marks(grower, span);
  if (some >= dimension)
    try_all(grower, span);
  else
    try_some(grower, span, some);
  forget_marks(grower);
  if (grower->best_count == 0)
    return false;
  *cut = grower->best[grower->best_count == 1 ? 0 : tutti_random_below(&grower->random, grower->best_count)];
  cut->threshold = threshold_of(grower, span, cut);
  return true;
}
