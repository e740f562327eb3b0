/* forest_grow.c - grows a forest. Each tree has one list of its rows per column, sorted once and partitioned at every
   split. Work: a node of m rows visits each numeric column m times to find the best cut and m times to partition its
   list; over a tree of n rows that is about 2 n log2(n) visits per column. Nothing below forest_grow allocates
   memory. */
#include <string.h>

#include "forest_grow_impl.h"

/* --- a node --------------------------------------------------------------------------------------------------- */

static bool is_open(const struct forest_settings *settings, size_t count, size_t depth) {
  return count >= settings->min_split && count >= 2 * settings->min_leaf &&
         (settings->max_depth == 0 || depth < settings->max_depth);
}

/* Set the targets of the node's rows, their sum, and the node's moments; false if all values are equal. */
static bool set_values(struct forest_grower *grower, struct forest_span *span, struct forest_moments *moments) {
  const uint32_t *rows = grower->rows + span->start;
  const double *values = grower->values, round = 0x1.8p52; /* adding this rounds a value below 2^51 to an integer */
  double low, high, squares = 0;
  forest_range(values, rows, span->count, &low, &high);
  double middle = low / 2 + high / 2;
  *moments = (struct forest_moments){.mean = middle};
  if (low == high)
    return false;
  int exponent;
  (void)frexp(high / 2 - low / 2, &exponent);
  exponent = grower->grid_bits - exponent > 1000 ? 1000 : grower->grid_bits - exponent;
  double to_grid = ldexp(1, exponent), from_grid = ldexp(1, -exponent);
  forest_sums all = {0, 0};
  for (size_t i = 0; i < span->count; i++) {
    double value = (values[rows[i]] - middle) * to_grid + round - round, weight = grower->weights[rows[i]];
    grower->targets[rows[i]] = (forest_sums){weight * value, weight};
    all += grower->targets[rows[i]];
    squares += weight * value * value;
  }
  double mean = all[0] / all[1], variance = squares / all[1] - mean * mean;
  moments->mean += mean * from_grid;
  moments->variance = fmax(variance, 0) * from_grid * from_grid;
  span->all = all;
  return true;
}

/* Prepare what the search for a split reads; false if the node is a leaf already. */
static bool set_targets(struct forest_grower *grower, struct forest_span *span, struct forest_moments *moments) {
  return grower->classes ? forest_classes_set(grower, span) : set_values(grower, span, moments);
}

/* --- parting the lists ---------------------------------------------------------------------------------------- */

/* Decide which side each row goes to, and put the rows of the left first; each side keeps its order. Returns how many
   are on the left. */
static size_t part_rows(struct forest_grower *grower, const struct forest_span *span, const struct forest_cut *cut) {
  const double *x = grower->columns.columns[cut->column].x, threshold = cut->threshold;
  uint32_t *rows = grower->rows + span->start;
  size_t left = 0;
  for (size_t i = 0; i < span->count; i++) {
    uint32_t row = rows[i];
    uint8_t goes_left = x[row] <= threshold;
    grower->left[row] = goes_left;
    rows[left] = row;
    grower->spare[i - left] = row;
    left += goes_left;
  }
  memcpy(rows + left, grower->spare, (span->count - left) * sizeof *rows);
  return left;
}

static void part_both(struct forest_grower *grower, uint32_t *list, size_t count) {
  const uint8_t *goes_left = grower->left;
  size_t left = 0;
  for (size_t i = 0; i < count; i++) {
    uint32_t row = list[i];
    list[left] = row;
    grower->spare[i - left] = row;
    left += goes_left[row];
  }
  memcpy(list + left, grower->spare, (count - left) * sizeof *list);
}

static void keep_left(struct forest_grower *grower, uint32_t *list, size_t count) {
  const uint8_t *goes_left = grower->left;
  for (size_t i = 0, left = 0; i < count; i++) {
    uint32_t row = list[i];
    list[left] = row;
    left += goes_left[row];
  }
}

static void keep_right(struct forest_grower *grower, uint32_t *list, size_t count) {
  const uint8_t *goes_left = grower->left;
  for (size_t i = count, right = count; i > 0; i--) {
    uint32_t row = list[i - 1];
    list[right - 1] = row;
    right -= !goes_left[row];
  }
}

/* Partition the lists of the columns. Sides that will not be split, or that have only two rows, are left out. The list
   of the cut column is already in order. */
static void part_lists(struct forest_grower *grower, const struct forest_span *span, const struct forest_cut *cut,
                       size_t left) {
  const struct forest_columns *columns = &grower->columns;
  bool left_open = left > 2 && is_open(grower->settings, left, span->depth + 1);
  bool right_open = span->count - left > 2 && is_open(grower->settings, span->count - left, span->depth + 1);
  if (!left_open && !right_open)
    return;
  for (size_t c = 0; grower->lists && c < columns->numeric; c++) {
    uint32_t *list = grower->lists + c * columns->count + span->start;
    if (c == cut->column)
      continue;
    if (left_open && right_open)
      part_both(grower, list, span->count);
    else if (left_open)
      keep_left(grower, list, span->count);
    else
      keep_right(grower, list, span->count);
  }
}

/* --- a tree --------------------------------------------------------------------------------------------------- */

/* Put the rows of a tree, with their weights, into all lists; returns their number. */
static size_t draw_rows(struct forest_grower *grower, size_t tree) {
  const struct forest_columns *columns = &grower->columns;
  size_t count = columns->count, used = 0;
  struct tutti_random random;
  tutti_random_init(&random, grower->settings->seed, "forest bootstrap", tree);
  for (size_t i = 0; i < count; i++)
    grower->weights[i] = !grower->settings->bootstrap;
  for (size_t i = 0; grower->settings->bootstrap && i < count; i++)
    grower->weights[tutti_random_below(&random, count)]++;
  for (size_t i = 0; grower->classes && grower->class_weights && i < count; i++)
    grower->weights[i] *= grower->class_weights[grower->classes[i]];
  for (size_t i = 0; i < count; i++) {
    grower->rows[used] = (uint32_t)i;
    used += grower->weights[i] > 0;
  }
  for (size_t c = 0; columns->order && c < columns->numeric; c++)
    for (size_t i = 0, kept = 0; kept < used; i++) {
      uint32_t row = columns->order[c * count + i];
      grower->lists[c * count + kept] = row;
      kept += grower->weights[row] > 0;
    }
  return used;
}

static void make_leaf(struct forest_node *nodes, uint32_t node) {
  nodes[node] = (struct forest_node){.threshold = INFINITY, .child = node};
}

/* Grow from the root, node number `root` of the forest; returns the number of nodes. */
static size_t grow_tree(struct forest_grower *grower, size_t used, struct forest *forest, size_t root) {
  struct forest_span *stack = grower->stack;
  struct forest_node *nodes = forest->nodes + root;
  struct forest_moments *moments = forest->moments + root;
  size_t open = 1, count = 1, deepest = forest->depth;
  stack[0] = (struct forest_span){.count = (uint32_t)used};
  while (open > 0) {
    struct forest_span span = stack[--open];
    struct forest_cut cut;
    make_leaf(nodes, span.node);
    if (span.depth > deepest)
      deepest = span.depth;
    if (!set_targets(grower, &span, &moments[span.node]) || !is_open(grower->settings, span.count, span.depth) ||
        !forest_split(grower, &span, &cut)) {
      if (grower->classes)
        forest_classes_keep(grower, &span, forest, root + span.node);
      continue;
    }
    uint32_t left = (uint32_t)part_rows(grower, &span, &cut), right = span.count - left, depth = span.depth + 1;
    part_lists(grower, &span, &cut, left);
    nodes[span.node] = (struct forest_node){
        .threshold = cut.threshold, .column = grower->columns.columns[cut.column].source, .child = (uint32_t)count};
    stack[open++] = (struct forest_span){span.start + left, right, (uint32_t)count + 1, depth, {0, 0}};
    stack[open++] = (struct forest_span){span.start, left, (uint32_t)count, depth, {0, 0}};
    count += 2;
  }
  forest->depth = deepest;
  return count;
}

/* --- the forest ----------------------------------------------------------------------------------------------- */

static enum tutti_status reserve_nodes(tutti_context *context, struct forest *forest, size_t nodes) {
  if (nodes <= forest->node_room)
    return TUTTI_OK;
  size_t kept = forest->node_room, room = nodes + nodes / 2;
  forest->node_room = 0;
  TUTTI_TRY(context, tutti_realloc(context, kept, room, sizeof *forest->nodes, &forest->nodes));
  TUTTI_TRY(context, tutti_realloc(context, kept, room, sizeof *forest->moments, &forest->moments));
  forest->node_room = room;
  return TUTTI_OK;
}

/* The values in units that bring them into [-1, 1], so that no square of them overflows. */
static void scale_values(const struct forest_data *data, double *values, double *scale) {
  double most = 0;
  int exponent;
  for (size_t i = 0; i < data->count; i++)
    most = fmax(most, fabs(data->values[i]));
  (void)frexp(most, &exponent);
  exponent = exponent > 1000 ? 1000 : exponent < -1000 ? -1000 : exponent;
  *scale = ldexp(1, exponent);
  for (size_t i = 0; i < data->count; i++)
    values[i] = data->values[i] / *scale;
}

static enum tutti_status grower_init(tutti_context *context, const struct forest_settings *settings,
                                     const struct forest_data *data, struct forest_grower *grower) {
  struct forest_columns *columns = &grower->columns;
  size_t count = data->count;
  grower->settings = settings;
  TUTTI_TRY(context, forest_columns_make(context, data, settings->splitter == FOREST_BEST, columns));
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof(double), &grower->values));
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof(double), &grower->weights));
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof(forest_sums), &grower->targets));
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof(uint32_t), &grower->rows));
  if (columns->order)
    TUTTI_TRY(context, tutti_alloc(context, columns->numeric, count * sizeof(uint32_t), &grower->lists));
  TUTTI_TRY(context, tutti_alloc(context, count, 1, &grower->left));
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof(uint32_t), &grower->spare));
  TUTTI_TRY(context, tutti_alloc(context, count + 1, sizeof *grower->stack, &grower->stack));
  TUTTI_TRY(context,
            tutti_alloc(context, columns->varying - columns->numeric, sizeof *grower->marked, &grower->marked));
  TUTTI_TRY(context, tutti_alloc(context, columns->varying - columns->numeric + 1, sizeof(uint32_t), &grower->touched));
  TUTTI_TRY(context, tutti_alloc(context, columns->varying, sizeof *grower->best, &grower->best));
  TUTTI_TRY(context, tutti_alloc(context, columns->dimension, sizeof(uint32_t), &grower->deck));
  int bits;
  (void)frexp((double)count, &bits); /* all weights together are below 2^bits */
  grower->grid_bits = 51 - bits;
  return TUTTI_OK;
}

static void grower_clear(struct forest_grower *grower) {
  forest_columns_clear(&grower->columns);
  tutti_free(grower->values);
  tutti_free(grower->weights);
  tutti_free(grower->targets);
  tutti_free(grower->rows);
  tutti_free(grower->lists);
  tutti_free(grower->left);
  tutti_free(grower->spare);
  tutti_free(grower->stack);
  tutti_free(grower->marked);
  tutti_free(grower->touched);
  tutti_free(grower->best);
  tutti_free(grower->deck);
  tutti_free(grower->all_of);
  tutti_free(grower->left_of);
  tutti_free(grower->marked_of);
}

static enum tutti_status grow_trees(tutti_context *context, struct forest_grower *grower, struct forest *forest) {
  for (size_t t = 0; t < grower->settings->trees; t++) {
    size_t used = draw_rows(grower, t), root = forest->roots[t];
    if (tutti_cancelled(context))
      return TUTTI_FAIL(context, TUTTI_ERROR_CANCELLED, "forest: cancelled at tree %zu of %zu", t,
                        grower->settings->trees);
    TUTTI_TRY(context, reserve_nodes(context, forest, root + 2 * used));
    tutti_random_init(&grower->random, grower->settings->seed, "forest split", t);
    for (size_t j = 0; j < grower->columns.dimension; j++)
      grower->deck[j] = (uint32_t)j;
    if (grower->classes)
      TUTTI_TRY(context, forest_classes_room(context, forest, forest->node_room, forest->share_count + used));
    forest->roots[t + 1] = root + grow_tree(grower, used, forest, root);
  }
  return TUTTI_OK;
}

/* The values; not used if there are labels. */
static enum tutti_status grow_forest(tutti_context *context, const struct forest_settings *settings,
                                     const struct forest_data *data, const struct forest_labels *labels,
                                     struct forest *forest) {
  enum tutti_status status;
  struct forest_grower grower = {.settings = settings};
  forest->trees = forest->depth = 0;
  forest->dimension = data->dimension;
  forest->class_count = labels ? labels->classes : 0;
  forest->share_count = 0;
  if (data->count > UINT32_MAX / 2 || data->dimension >= FOREST_CONSTANT)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "forest: at most %u rows and %u columns were expected, found %zu rows of %zu columns",
                      UINT32_MAX / 2, FOREST_CONSTANT - 1, data->count, data->dimension);
  if (labels && settings->trees > UINT32_MAX / (data->count + 1))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "forest: at most %u rows of all trees together were expected, found %zu trees of %zu rows",
                      UINT32_MAX, settings->trees, data->count);
  if (settings->trees >= forest->tree_room) {
    TUTTI_TRY(context, tutti_realloc(context, 0, settings->trees + 1, sizeof(size_t), &forest->roots));
    forest->tree_room = settings->trees + 1;
  }
  forest->roots[0] = 0;
  TUTTI_TRY_OUT(context, grower_init(context, settings, data, &grower));
  if (labels)
    TUTTI_TRY_OUT(context, forest_classes_init(context, labels, &grower));
  else
    scale_values(data, grower.values, &forest->scale);
  TUTTI_TRY_OUT(context, grow_trees(context, &grower, forest));
  forest->trees = settings->trees;
out:
  grower_clear(&grower);
  return status;
}

enum tutti_status forest_grow(tutti_context *context, const struct forest_settings *settings,
                              const struct forest_data *data, struct forest *forest) {
  return grow_forest(context, settings, data, NULL, forest);
}

enum tutti_status forest_grow_classes(tutti_context *context, const struct forest_settings *settings,
                                      const struct forest_data *data, const struct forest_labels *labels,
                                      struct forest *forest) {
  return grow_forest(context, settings, data, labels, forest);
}

void forest_clear(struct forest *forest) {
  tutti_free(forest->roots);
  tutti_free(forest->nodes);
  tutti_free(forest->moments);
  tutti_free(forest->leaves);
  tutti_free(forest->shares);
  *forest = (struct forest){.trees = 0};
}
