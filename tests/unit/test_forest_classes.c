/* test_forest_classes.c - forests that tell classes apart: every split against all others, leaves, weights, hard
   data. */
#include "golden.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plugins/shared/forest/forest_impl.h"

enum { ROWS = 80, WIDE = 7, CLASSES = 4 };

#define OK(call) assert_int_equal((call), TUTTI_OK)

struct table {
  struct forest_data data;
  struct forest_labels labels;
  double x[ROWS * WIDE];
  uint32_t classes[ROWS];
};

/* Columns: real, few distinct values, one-hot of three, two values, constant; some rows twice, with other classes. */
static void fill(struct table *table, uint64_t seed) {
  struct tutti_random random;
  tutti_random_init(&random, seed, "test forest classes", 0);
  memset(table->x, 0, sizeof table->x);
  for (size_t i = 0; i < ROWS; i++) {
    double *x = table->x + i * WIDE;
    x[0] = tutti_random_uniform(&random);
    x[1] = (double)tutti_random_below(&random, 4) / 3;
    x[2 + tutti_random_below(&random, 3)] = 1;
    x[5] = tutti_random_below(&random, 5) ? 2.5 : -1;
    x[6] = 0.5;
    if (i % 10 == 9)
      memcpy(x, x - WIDE, WIDE * sizeof *x);
    double level = 2 * x[0] + x[1] + 0.7 * x[3] + 0.3 * tutti_random_normal(&random);
    table->classes[i] = level < 0.9 ? 2 : level < 1.5 ? 0 : 3; /* none of class 1 */
  }
  table->data = (struct forest_data){ROWS, WIDE, table->x, NULL};
  table->labels = (struct forest_labels){CLASSES, table->classes, NULL};
}

static struct forest_settings plain(void) {
  return (struct forest_settings){.trees = 1, .features = 1, .min_leaf = 1, .min_split = 2, .seed = 7};
}

static struct forest grow(const struct forest_settings *settings, const struct table *table) {
  struct forest forest = {.trees = 0};
  tutti_context *context = NULL;
  OK(tutti_context_create(&context));
  OK(forest_grow_classes(context, settings, &table->data, &table->labels, &forest));
  assert_int_equal(forest.trees, settings->trees);
  tutti_context_destroy(context);
  return forest;
}

static bool is_leaf(const struct forest_node *nodes, size_t node) { return nodes[node].child == node; }

/* Rows of the node under a rule: sum over both sides of sum of squared counts / count; NaN if a side has fewer than
   `least`. */
static double worth(const struct table *table, const bool *here, size_t column, double threshold, size_t least) {
  double counts[2][CLASSES] = {{0}}, totals[2] = {0}, sum = 0;
  for (size_t i = 0; i < ROWS; i++)
    if (here[i]) {
      size_t side = table->x[i * WIDE + column] > threshold;
      counts[side][table->classes[i]]++;
      totals[side]++;
    }
  if (totals[0] < (double)least || totals[1] < (double)least)
    return NAN;
  for (size_t side = 0; side < 2; side++)
    for (size_t c = 0; c < CLASSES; c++)
      sum += counts[side][c] * counts[side][c] / totals[side];
  return sum;
}

/* The most that any cut of any column is worth. */
static double most_worth(const struct table *table, const bool *here, size_t least) {
  double most = -1;
  for (size_t j = 0; j < WIDE; j++)
    for (size_t i = 0; i < ROWS; i++)
      if (here[i])
        most = fmax(most, worth(table, here, j, table->x[i * WIDE + j], least));
  return most;
}

static size_t classes_of(const struct table *table, const bool *here, double counts[CLASSES]) {
  size_t classes = 0;
  memset(counts, 0, CLASSES * sizeof *counts);
  for (size_t i = 0; i < ROWS; i++)
    if (here[i])
      classes += counts[table->classes[i]]++ == 0;
  return classes;
}

/* Inspect a node of a tree that grew on all rows, and the nodes below it. */
static void check_node(const struct forest *forest, const struct forest_settings *settings, const struct table *table,
                       size_t node, const bool *here, size_t depth) {
  const struct forest_node *at = &forest->nodes[node];
  double counts[CLASSES], total = 0, most = most_worth(table, here, settings->min_leaf);
  size_t classes = classes_of(table, here, counts);
  for (size_t c = 0; c < CLASSES; c++)
    total += counts[c];
  if (is_leaf(forest->nodes, node)) {
    const struct forest_leaf *leaf = &forest->leaves[node];
    assert_int_equal(leaf->count, classes);
    for (size_t s = leaf->first; s < leaf->first + leaf->count; s++)
      assert_true(forest->shares[s].share == (float)(counts[forest->shares[s].class] / total));
    assert_true(classes == 1 || most < 0 || depth == settings->max_depth || total < 2 * (double)settings->min_leaf);
    return;
  }
  bool left[ROWS], right[ROWS];
  double found = worth(table, here, at->column, at->threshold, settings->min_leaf), low = -INFINITY, high = INFINITY;
  assert_true(classes > 1);
  assert_true(isfinite(found));
  if (settings->splitter == FOREST_BEST)
    assert_close(found, most, 1e-13, 0);
  for (size_t i = 0; i < ROWS; i++) {
    double x = table->x[i * WIDE + at->column];
    left[i] = here[i] && x <= at->threshold;
    right[i] = here[i] && x > at->threshold;
    low = left[i] ? fmax(low, x) : low;
    high = right[i] ? fmin(high, x) : high;
  }
  if (settings->splitter == FOREST_BEST)
    assert_close(at->threshold, (low + high) / 2, 1e-15, 0);
  check_node(forest, settings, table, at->child, left, depth + 1);
  check_node(forest, settings, table, at->child + 1, right, depth + 1);
}

static void check_tree(const struct forest_settings *settings, const struct table *table) {
  bool all[ROWS];
  struct forest forest = grow(settings, table);
  memset(all, true, sizeof all);
  check_node(&forest, settings, table, 0, all, 0);
  forest_clear(&forest);
}

static void every_split_is_the_best(void **state) {
  struct table table;
  struct forest_settings settings = plain();
  (void)state;
  for (uint64_t seed = 0; seed < 20; seed++) {
    fill(&table, seed);
    settings.seed = seed;
    settings.min_leaf = 1 + seed % 4;
    settings.max_depth = seed % 3 == 2 ? 3 : 0;
    check_tree(&settings, &table);
  }
}

static void drawn_splits_part_the_rows(void **state) {
  struct table table;
  struct forest_settings settings = plain();
  (void)state;
  settings.splitter = FOREST_RANDOM;
  settings.features = 0.4;
  for (uint64_t seed = 0; seed < 20; seed++) {
    fill(&table, seed);
    settings.seed = seed;
    check_tree(&settings, &table);
  }
}

/* Of two classes the impurity is twice the variance of an indicator: a regression of it grows trees of the same size,
   and where no two splits are equally good, the same ones. */
static void two_classes_are_an_indicator(void **state) {
  enum { COUNT = 60 };
  double x[COUNT], y[COUNT], share[2 * COUNT], mean[COUNT], deviation[COUNT];
  uint32_t classes[COUNT];
  struct tutti_random random;
  struct forest regression = {.trees = 0}, classification = {.trees = 0};
  struct forest_settings settings = plain();
  tutti_context *context = NULL;
  (void)state;
  OK(tutti_context_create(&context));
  settings.trees = 30;
  settings.bootstrap = true;
  settings.max_depth = 4;
  tutti_random_init(&random, 1, "two classes", 0);
  for (size_t i = 0; i < COUNT; i++) {
    x[i] = tutti_random_uniform(&random);
    classes[i] = tutti_random_uniform(&random) < x[i];
    y[i] = classes[i];
  }
  const struct forest_data data = {COUNT, 1, x, y};
  const struct forest_labels labels = {2, classes, NULL};
  OK(forest_grow(context, &settings, &data, &regression));
  OK(forest_grow_classes(context, &settings, &data, &labels, &classification));
  forest_predict(&regression, FOREST_TOTAL, COUNT, x, mean, deviation);
  forest_predict_classes(&classification, COUNT, x, share);
  double worst = 0;
  for (size_t i = 0; i < COUNT; i++) {
    worst = fmax(worst, fabs(share[2 * i + 1] - mean[i]));
    assert_close(share[2 * i] + share[2 * i + 1], 1, 1e-6, 0);
  }
  assert_true(worst < 0.1); /* cuts of the one column that tie up to rounding; the first of them counts */
  forest_clear(&regression);
  forest_clear(&classification);
  tutti_context_destroy(context);
}

static void forests_are_repeated_and_sum_to_one(void **state) {
  struct table table;
  struct forest_settings settings = plain();
  double one[ROWS * CLASSES], other[ROWS * CLASSES];
  size_t right = 0;
  (void)state;
  fill(&table, 3);
  settings.trees = 50;
  settings.bootstrap = true;
  settings.features = 0.5;
  struct forest a = grow(&settings, &table), b = grow(&settings, &table);
  settings.seed = 8;
  struct forest c = grow(&settings, &table);
  forest_predict_classes(&a, ROWS, table.x, one);
  forest_predict_classes(&b, ROWS, table.x, other);
  assert_memory_equal(one, other, sizeof one);
  forest_predict_classes(&c, ROWS, table.x, other);
  assert_memory_not_equal(one, other, sizeof one);
  for (size_t i = 0; i < ROWS; i++) {
    const double *shares = one + i * CLASSES;
    assert_close(shares[0] + shares[1] + shares[2] + shares[3], 1, 1e-6, 0);
    assert_true(shares[1] == 0);
    size_t best = 0;
    for (size_t k = 1; k < CLASSES; k++)
      best = shares[k] > shares[best] ? k : best;
    right += best == table.classes[i];
  }
  assert_true(right > ROWS * 85 / 100);
  forest_clear(&a), forest_clear(&b), forest_clear(&c);
}

/* A forest's memory is used again, for regression, too. */
static void memory_is_used_again(void **state) {
  struct table table;
  struct forest forest = {.trees = 0};
  struct forest_settings settings = plain();
  double values[ROWS], mean[ROWS], deviation[ROWS], shares[ROWS * CLASSES], again[ROWS * CLASSES];
  tutti_context *context = NULL;
  (void)state;
  OK(tutti_context_create(&context));
  fill(&table, 1);
  for (size_t i = 0; i < ROWS; i++)
    values[i] = table.x[i * WIDE];
  const struct forest_data data = {ROWS, WIDE, table.x, values};
  settings.trees = 5;
  OK(forest_grow_classes(context, &settings, &table.data, &table.labels, &forest));
  forest_predict_classes(&forest, ROWS, table.x, shares);
  settings.trees = 9;
  OK(forest_grow(context, &settings, &data, &forest));
  assert_int_equal(forest.class_count, 0);
  forest_predict(&forest, FOREST_TOTAL, ROWS, table.x, mean, deviation);
  assert_true(mean[4] == values[4]);
  settings.trees = 5;
  OK(forest_grow_classes(context, &settings, &table.data, &table.labels, &forest));
  forest_predict_classes(&forest, ROWS, table.x, again);
  assert_memory_equal(shares, again, sizeof shares);
  forest_clear(&forest);
  tutti_context_destroy(context);
}

static void one_class_and_no_columns_are_a_leaf(void **state) {
  struct table table;
  struct forest_settings settings = plain();
  double shares[CLASSES];
  (void)state;
  fill(&table, 1);
  for (size_t i = 0; i < ROWS; i++)
    table.classes[i] = 3;
  struct forest forest = grow(&settings, &table);
  assert_int_equal(forest.roots[1], 1);
  forest_predict_classes(&forest, 1, table.x, shares);
  assert_true(shares[3] == 1 && shares[0] == 0);
  forest_clear(&forest);
  table.classes[0] = 1;
  table.data.dimension = 0;
  forest = grow(&settings, &table);
  forest_predict_classes(&forest, 1, table.x, shares);
  assert_close(shares[1], 1.0 / ROWS, 1e-6, 0);
  forest_clear(&forest);
}

static void too_many_rows_are_refused(void **state) {
  struct table table;
  struct forest forest = {.trees = 0};
  struct forest_settings settings = plain();
  tutti_context *context = NULL;
  (void)state;
  OK(tutti_context_create(&context));
  fill(&table, 1);
  settings.trees = UINT32_MAX / ROWS;
  assert_int_equal(forest_grow_classes(context, &settings, &table.data, &table.labels, &forest), TUTTI_ERROR_USAGE);
  settings.trees = 1;
  tutti_cancel(context);
  assert_int_equal(forest_grow_classes(context, &settings, &table.data, &table.labels, &forest), TUTTI_ERROR_CANCELLED);
  forest_clear(&forest);
  tutti_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_split_is_the_best),      cmocka_unit_test(drawn_splits_part_the_rows),
      cmocka_unit_test(two_classes_are_an_indicator), cmocka_unit_test(forests_are_repeated_and_sum_to_one),
      cmocka_unit_test(memory_is_used_again),         cmocka_unit_test(one_class_and_no_columns_are_a_leaf),
      cmocka_unit_test(too_many_rows_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
