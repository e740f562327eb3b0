/* Surrogate random-forest: every node of its trees against a plain reference, the law of total variance, hard data. */
#include "golden.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>
#include <tutti/domain.h>

#include "plugins/surrogate/random-forest.c"

enum { MANY = 60, WIDE = 7 };

static struct forest_settings plain_settings(void) {
  return (struct forest_settings){.trees = 1, .features = 1, .min_leaf = 1, .min_split = 2, .seed = 7};
}

static struct forest grow(const struct forest_settings *settings, const struct forest_data *data) {
  struct forest forest = {.trees = 0};
  tutti_context *context = NULL;
  assert_int_equal(tutti_context_create(&context), TUTTI_OK);
  assert_int_equal(forest_grow(context, settings, data, &forest), TUTTI_OK);
  assert_int_equal(forest.trees, settings->trees);
  tutti_context_destroy(context);
  return forest;
}

static const struct forest_node *root_of(const struct forest *forest, size_t tree) {
  return forest->nodes + forest->roots[tree];
}

static bool is_leaf(const struct forest_node *nodes, size_t node) { return nodes[node].child == node; }

/* --- data of every kind --------------------------------------------------------------------------------------- */

struct table {
  struct forest_data data;
  double x[MANY * WIDE], y[MANY];
};

/* Columns: real, few distinct values, one-hot of three, two values, constant; some rows and some values twice. */
static void fill(struct table *table, uint64_t seed) {
  struct tutti_random random;
  tutti_random_init(&random, seed, "test forest", 0);
  memset(table->x, 0, sizeof table->x);
  for (size_t i = 0; i < MANY; i++) {
    double *x = table->x + i * WIDE;
    x[0] = tutti_random_uniform(&random);
    x[1] = (double)tutti_random_below(&random, 4) / 3;
    x[2 + tutti_random_below(&random, 3)] = 1;
    x[5] = tutti_random_below(&random, 5) ? 2.5 : -1;
    x[6] = 0.5;
    if (i % 10 == 9)
      memcpy(x, x - WIDE, WIDE * sizeof *x);
    table->y[i] = 40 + sin(5 * x[0]) + x[1] + 0.7 * x[3] - x[5] * x[0] + 0.3 * tutti_random_normal(&random);
    if (i % 12 == 11)
      table->y[i] = table->y[i - 3];
  }
  table->data = (struct forest_data){MANY, WIDE, table->x, table->y};
}

/* --- a plain reference ---------------------------------------------------------------------------------------- */

struct audit {
  const struct forest_settings *settings;
  const struct forest_data *data;
  const struct forest *forest;
  const struct forest_node *nodes;
  double weights[MANY];
  size_t seen, depth;
};

static void draw_weights(struct audit *audit, size_t tree) {
  struct tutti_random random;
  tutti_random_init(&random, audit->settings->seed, "forest bootstrap", tree);
  for (size_t i = 0; i < audit->data->count; i++)
    audit->weights[i] = !audit->settings->bootstrap;
  for (size_t i = 0; audit->settings->bootstrap && i < audit->data->count; i++)
    audit->weights[tutti_random_below(&random, audit->data->count)]++;
}

struct side {
  size_t rows;
  long double weight, sum, squares; /* about 40, where the values are */
};

static long double error_of(const struct side *side) { return side->squares - side->sum * side->sum / side->weight; }

/* Both sides of a cut of the rows that are `here`. */
static void part(const struct audit *audit, const bool *here, size_t column, double threshold, struct side sides[2]) {
  const struct forest_data *data = audit->data;
  memset(sides, 0, 2 * sizeof *sides);
  for (size_t i = 0; i < data->count; i++)
    if (here[i]) {
      struct side *side = &sides[data->vectors[i * data->dimension + column] > threshold];
      long double value = data->values[i] - 40.0L;
      side->rows++;
      side->weight += audit->weights[i];
      side->sum += audit->weights[i] * value;
      side->squares += audit->weights[i] * value * value;
    }
}

static bool allowed(const struct audit *audit, const struct side sides[2]) {
  return sides[0].rows >= audit->settings->min_leaf && sides[1].rows >= audit->settings->min_leaf;
}

/* The least error of any cut at an observed value, infinity where there is none. A double: under valgrind a long double
   is none. */
static double least_error(const struct audit *audit, const bool *here) {
  const struct forest_data *data = audit->data;
  long double least = INFINITY;
  for (size_t j = 0; j < data->dimension; j++)
    for (size_t i = 0; i < data->count; i++) {
      struct side sides[2];
      part(audit, here, j, data->vectors[i * data->dimension + j], sides);
      if (here[i] && sides[1].rows > 0 && allowed(audit, sides))
        least = fminl(least, error_of(&sides[0]) + error_of(&sides[1]));
    }
  return (double)least;
}

/* The greatest value on the left and the least on the right. */
static void neighbours(const struct audit *audit, const bool *here, const struct forest_node *node, double *below,
                       double *above) {
  const struct forest_data *data = audit->data;
  *below = -INFINITY, *above = INFINITY;
  for (size_t i = 0; i < data->count; i++) {
    double x = data->vectors[i * data->dimension + node->column];
    if (here[i] && x <= node->threshold)
      *below = fmax(*below, x);
    if (here[i] && x > node->threshold)
      *above = fmin(*above, x);
  }
}

static void audit_node(struct audit *audit, size_t number, const bool *here, size_t depth) {
  const struct forest_settings *settings = audit->settings;
  const struct forest_node *node = &audit->nodes[number];
  const struct forest_moments *moments = audit->forest->moments + (node - audit->forest->nodes);
  struct side whole[2], sides[2];
  double unit = audit->forest->scale;
  audit->seen++;
  audit->depth = depth > audit->depth ? depth : audit->depth;
  part(audit, here, 0, INFINITY, whole);
  long double variance = error_of(&whole[0]) / whole[0].weight;
  assert_close(moments->mean * unit, (double)(40 + whole[0].sum / whole[0].weight), 1e-14, 0);
  assert_close(moments->variance * unit * unit, (double)variance, 1e-11, 1e-14);
  bool open = whole[0].rows >= settings->min_split && (settings->max_depth == 0 || depth < settings->max_depth);
  if (is_leaf(audit->nodes, number)) {
    assert_true(!open || variance < 1e-14 || settings->splitter == FOREST_RANDOM ||
                !isfinite(least_error(audit, here)));
    return;
  }
  assert_true(open);
  part(audit, here, node->column, node->threshold, sides);
  assert_true(sides[0].rows > 0 && sides[1].rows > 0 && allowed(audit, sides));
  if (settings->splitter == FOREST_BEST) {
    double below, above;
    if (settings->features == 1)
      assert_close((double)(error_of(&sides[0]) + error_of(&sides[1])), least_error(audit, here), 1e-9, 1e-12);
    neighbours(audit, here, node, &below, &above);
    assert_close(node->threshold, (below + above) / 2, 1e-15, 0);
  }
  for (int side = 0; side < 2; side++) {
    bool there[MANY];
    for (size_t i = 0; i < audit->data->count; i++)
      there[i] = here[i] && (audit->data->vectors[i * audit->data->dimension + node->column] > node->threshold) == side;
    audit_node(audit, node->child + (size_t)side, there, depth + 1);
  }
}

static void audit_forest(const struct forest_settings *settings, const struct forest_data *data) {
  struct forest forest = grow(settings, data);
  size_t depth = 0;
  for (size_t t = 0; t < settings->trees; t++) {
    struct audit audit = {.settings = settings, .data = data, .forest = &forest, .nodes = root_of(&forest, t)};
    bool here[MANY];
    draw_weights(&audit, t);
    for (size_t i = 0; i < data->count; i++)
      here[i] = audit.weights[i] > 0;
    audit_node(&audit, 0, here, 0);
    assert_int_equal(audit.seen, forest.roots[t + 1] - forest.roots[t]);
    depth = audit.depth > depth ? audit.depth : depth;
  }
  assert_int_equal(forest.depth, depth);
  forest_clear(&forest);
}

static void test_every_node(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 4; seed++)
    for (int kind = 0; kind < 12; kind++) {
      struct table table;
      struct forest_settings settings = plain_settings();
      fill(&table, seed);
      settings.trees = 3;
      settings.bootstrap = kind & 1;
      settings.splitter = kind & 2 ? FOREST_RANDOM : FOREST_BEST;
      settings.features = kind / 4 == 1 ? 0.5 : 1;
      if (kind / 4 == 2)
        settings.min_leaf = 1 + seed, settings.min_split = 6, settings.max_depth = 4;
      audit_forest(&settings, &table.data);
    }
}

/* Values far from 0 beside their spread, and one that dwarfs the others: deep nodes are split as well as ever. */
static void test_outlier(void **state) {
  (void)state;
  struct table table;
  struct forest_settings settings = plain_settings();
  double mean[MANY], deviation[MANY];
  fill(&table, 1);
  table.y[17] = 1e13;
  struct forest forest = grow(&settings, &table.data);
  forest_predict(&forest, FOREST_TOTAL, MANY, table.x, mean, deviation);
  for (size_t i = 0; i < MANY; i++)
    if (i % 10 < 8) /* the others are twice there */
      assert_close(mean[i], table.y[i], 1e-14, 0);
  forest_clear(&forest);
}

/* --- what a tree is made of ----------------------------------------------------------------------------------- */

static void test_interpolates(void **state) {
  (void)state;
  for (int splitter = FOREST_BEST; splitter <= FOREST_RANDOM; splitter++) {
    struct table table;
    struct forest_settings settings = plain_settings();
    double mean[MANY], deviation[MANY];
    fill(&table, 2);
    settings.trees = 5;
    settings.splitter = (enum forest_splitter)splitter;
    struct forest forest = grow(&settings, &table.data);
    forest_predict(&forest, FOREST_TOTAL, MANY, table.x, mean, deviation);
    for (size_t i = 0; i < MANY; i++) {
      double twice = i % 10 == 8 ? table.y[i + 1] : i % 10 == 9 ? table.y[i - 1] : table.y[i];
      assert_close(mean[i], (table.y[i] + twice) / 2, 1e-15, 0);
      assert_close(deviation[i], fabs(table.y[i] - twice) / 2, 1e-7, 1e-12);
    }
    forest_clear(&forest);
  }
}

/* Between neighbouring numbers there is no middle: the threshold is the lower one. */
static void test_neighbouring_numbers(void **state) {
  (void)state;
  double x[3] = {1, nextafter(1, 2), nextafter(nextafter(1, 2), 2)}, y[3] = {1, 5, 2}, mean[3], deviation[3];
  for (int splitter = FOREST_BEST; splitter <= FOREST_RANDOM; splitter++)
    for (size_t count = 2; count <= 3; count++) {
      struct forest_settings settings = plain_settings();
      struct forest_data data = {count, 1, x, y};
      settings.trees = 8;
      settings.splitter = (enum forest_splitter)splitter;
      struct forest forest = grow(&settings, &data);
      forest_predict(&forest, FOREST_TOTAL, count, x, mean, deviation);
      assert_memory_equal(mean, y, count * sizeof *y);
      forest_clear(&forest);
    }
}

/* The leaf that a plain walk finds. */
static size_t walk(const struct forest *forest, size_t tree, const double *vector) {
  const struct forest_node *nodes = root_of(forest, tree);
  size_t at = 0;
  while (!is_leaf(nodes, at))
    at = nodes[at].child + (vector[nodes[at].column] > nodes[at].threshold);
  return forest->roots[tree] + at;
}

/* sigma² = mean of (leaf variance + leaf mean²) - mean², and with the spread between the trees alone; any number of
   points. */
static void test_total_variance(void **state) {
  (void)state;
  struct table table, at;
  struct forest_settings settings = plain_settings();
  double mean[MANY], total[MANY], between[MANY];
  size_t leaves[MANY];
  fill(&table, 3);
  fill(&at, 4);
  settings.trees = 3;
  settings.max_depth = 2;
  settings.bootstrap = true;
  struct forest forest = grow(&settings, &table.data);
  for (size_t count = 1; count < MANY; count++) {
    forest_predict(&forest, FOREST_BETWEEN, count, at.x, mean, between);
    forest_predict(&forest, FOREST_TOTAL, count, at.x, mean, total);
    for (size_t i = 0; i < count; i++) {
      double m = 0, mm = 0, v = 0;
      for (size_t t = 0; t < 3; t++) {
        const struct forest_moments *leaf = &forest.moments[walk(&forest, t, at.x + i * WIDE)];
        m += leaf->mean * forest.scale / 3;
        mm += pow(leaf->mean * forest.scale, 2) / 3;
        v += leaf->variance * pow(forest.scale, 2) / 3;
      }
      assert_close(mean[i], m, 1e-14, 0);
      assert_close(total[i], sqrt(v + mm - m * m), 1e-9, 0);
      assert_close(between[i], sqrt(fmax(mm - m * m, 0)), 1e-9, 1e-5);
      assert_true(total[i] > between[i]);
    }
    forest_leaves(&forest, 1, count, at.x, leaves);
    for (size_t i = 0; i < count; i++)
      assert_int_equal(leaves[i], walk(&forest, 1, at.x + i * WIDE));
  }
  forest_clear(&forest);
}

/* Drawn thresholds are uniform between the least and the greatest value, in columns of two values, too. */
static void test_thresholds_are_drawn(void **state) {
  (void)state;
  enum { TREES = 2000 };
  static const double x[] = {2, 3, 3, 2, 2.5, 3}, y[] = {1, 5, 2, 7, 4, 4};
  for (size_t count = 4; count <= 6; count += 2) {
    struct forest_settings settings = plain_settings();
    struct forest_data data = {count, 1, x, y};
    double sum = 0, squares = 0;
    settings.trees = TREES;
    settings.splitter = FOREST_RANDOM;
    settings.max_depth = 1;
    struct forest forest = grow(&settings, &data);
    for (size_t t = 0; t < TREES; t++) {
      double threshold = root_of(&forest, t)->threshold;
      assert_true(threshold >= 2 && threshold < 3);
      sum += threshold - 2;
      squares += (threshold - 2) * (threshold - 2);
    }
    /* Uniform: mean 1/2, mean square 1/3; six standard errors of 2,000 draws. */
    assert_close(sum / TREES, 0.5, 0, 0.039);
    assert_close(squares / TREES, 1.0 / 3, 0, 0.040);
    forest_clear(&forest);
  }
}

/* Columns that part the rows alike, whichever way round, are equally likely. */
static void test_ties(void **state) {
  (void)state;
  enum { TREES = 1200, COLUMNS = 4 };
  double x[8 * COLUMNS], y[8];
  size_t taken[COLUMNS] = {0};
  for (size_t i = 0; i < 8; i++) {
    double *row = x + i * COLUMNS;
    row[0] = (double)i;
    row[1] = -0.1 * (double)(i * i);
    row[2] = i < 3;
    row[3] = i < 3 ? 7 : 5 + 0.1 * (double)i;
    y[i] = (i < 3 ? 0.1 : 10.3) + 0.01 * (double)i;
  }
  struct forest_settings settings = plain_settings();
  struct forest_data data = {8, COLUMNS, x, y};
  settings.trees = TREES;
  settings.max_depth = 1;
  struct forest forest = grow(&settings, &data);
  for (size_t t = 0; t < TREES; t++)
    taken[root_of(&forest, t)->column]++;
  for (size_t j = 0; j < COLUMNS; j++) /* six standard deviations of a share of 1/4 */
    assert_close((double)taken[j], TREES / 4.0, 0, 90);
  forest_clear(&forest);
}

/* Where no cut takes anything off the error, a node is cut all the same, by any column. */
static void test_cuts_without_gain(void **state) {
  (void)state;
  enum { TREES = 400 };
  static const double x[] = {0, 2, 0, 2, 1, 1, 1, 1, 2, 0, 2, 0}, y[] = {-1, 1, -1, 1, -1, 1};
  struct forest_settings settings = plain_settings();
  struct forest_data data = {6, 2, x, y};
  size_t second = 0;
  settings.trees = TREES;
  struct forest forest = grow(&settings, &data);
  for (size_t t = 0; t < TREES; t++) {
    assert_int_equal(forest.roots[t + 1] - forest.roots[t], 5);
    second += root_of(&forest, t)->column;
  }
  assert_close((double)second, TREES / 2.0, 0, 60);
  forest_clear(&forest);
}

static void test_share_of_features(void **state) {
  (void)state;
  enum { TREES = 1000, COLUMNS = 10 };
  double x[12 * COLUMNS] = {0}, y[12];
  size_t best = 0;
  for (size_t i = 0; i < 12; i++) {
    x[i * COLUMNS + 3] = (double)i;
    x[i * COLUMNS + 8] = (double)(i * 5 % 12);
    y[i] = (double)i;
  }
  struct forest_settings settings = plain_settings();
  struct forest_data data = {12, COLUMNS, x, y};
  settings.trees = TREES;
  settings.features = 0.1; /* one column, and more until one varies: 3 or 8, equally likely */
  settings.max_depth = 1;
  struct forest forest = grow(&settings, &data);
  for (size_t t = 0; t < TREES; t++)
    best += root_of(&forest, t)->column == 3;
  assert_close((double)best, TREES / 2.0, 0, 95);
  settings.features =
      0.5; /* five of ten: 3 is among them in 1/2 of the cases, neither is in 2/9 and the next decides */
  forest_clear(&forest);
  forest = grow(&settings, &data);
  for (size_t t = best = 0; t < TREES; t++)
    best += root_of(&forest, t)->column == 3;
  assert_close((double)best, TREES * (0.5 + 2.0 / 9 / 2), 0, 95);
  forest_clear(&forest);
}

/* A tree is a function of the seed and its number: more trees leave the first ones as they are. */
static void test_trees_have_streams(void **state) {
  (void)state;
  struct table table;
  struct forest_settings settings = plain_settings();
  fill(&table, 5);
  settings.trees = 4;
  settings.bootstrap = true;
  settings.splitter = FOREST_RANDOM;
  struct forest few = grow(&settings, &table.data), same = grow(&settings, &table.data);
  settings.trees = 9;
  struct forest more = grow(&settings, &table.data);
  size_t nodes = few.roots[4], bytes = nodes * sizeof *few.nodes;
  assert_memory_equal(few.roots, same.roots, 5 * sizeof *few.roots);
  assert_memory_equal(few.nodes, same.nodes, bytes);
  assert_memory_equal(few.nodes, more.nodes, bytes);
  assert_memory_equal(few.moments, more.moments, nodes * sizeof *few.moments);
  settings.seed++;
  forest_clear(&same);
  same = grow(&settings, &table.data);
  assert_memory_not_equal(few.nodes, same.nodes, bytes / 4);
  forest_clear(&few);
  forest_clear(&same);
  forest_clear(&more);
}

/* More rows, or columns, than 32 bits can number: refused before anything is read. */
static void test_too_large(void **state) {
  (void)state;
  struct forest_settings settings = plain_settings();
  struct forest_data rows = {.count = UINT32_MAX, .dimension = 1}, columns = {.count = 1, .dimension = UINT32_MAX};
  struct forest forest = {.trees = 0};
  tutti_context *context = NULL;
  assert_int_equal(tutti_context_create(&context), TUTTI_OK);
  assert_int_equal(forest_grow(context, &settings, &rows, &forest), TUTTI_ERROR_USAGE);
  assert_non_null(strstr(tutti_error_message(context), "found 4294967295 rows of 1"));
  assert_int_equal(forest_grow(context, &settings, &columns, &forest), TUTTI_ERROR_USAGE);
  tutti_context_destroy(context);
  forest_clear(&forest);
}

/* --- the plugin ----------------------------------------------------------------------------------------------- */

struct fixture {
  tutti_context *context;
  struct forest_config config;
  struct table table;
  void *forest;
};

static int setup(void **state) {
  struct fixture *fixture = calloc(1, sizeof *fixture);
  assert_int_equal(tutti_context_create(&fixture->context), TUTTI_OK);
  fixture->config = (struct forest_config){
      .trees = 20, .min_leaf = 1, .min_split = 2, .features = 1, .bootstrap = true, .deviation = FOREST_TOTAL};
  fill(&fixture->table, 6);
  *state = fixture;
  return 0;
}

static int teardown(void **state) {
  struct fixture *fixture = *state;
  if (fixture->forest)
    surrogate_destroy_random_forest(fixture->forest);
  tutti_context_destroy(fixture->context);
  free(fixture);
  return 0;
}

static void make(struct fixture *fixture, size_t dimension) {
  struct tutti_surrogate_setup setup_ = {.size = sizeof setup_, .seed = 3, .dimension = dimension};
  assert_int_equal(surrogate_create_random_forest(fixture->context, &fixture->config, &setup_, &fixture->forest),
                   TUTTI_OK);
}

static struct tutti_points points_at(const double *x, size_t count, size_t dimension) {
  return (struct tutti_points){sizeof(struct tutti_points), count, dimension, x, NULL};
}

static enum tutti_status fit(struct fixture *fixture, const double *x, size_t count, size_t dimension,
                             const double *y) {
  struct tutti_points points = points_at(x, count, dimension);
  return surrogate_fit_random_forest(fixture->forest, fixture->context, &points, y, NULL);
}

static enum tutti_status predict(struct fixture *fixture, const double *x, size_t count, size_t dimension, double *mean,
                                 double *deviation) {
  struct tutti_points points = points_at(x, count, dimension);
  return surrogate_predict_random_forest(fixture->forest, fixture->context, &points, mean, deviation);
}

/* Observations added one by one give the bits of all at once. */
static void test_added(void **state) {
  struct fixture *fixture = *state;
  double mean[2][MANY], deviation[2][MANY];
  const double *x = fixture->table.x, *y = fixture->table.y;
  make(fixture, WIDE);
  assert_int_equal(fit(fixture, x, MANY, WIDE, y), TUTTI_OK);
  assert_int_equal(predict(fixture, x, MANY, WIDE, mean[0], deviation[0]), TUTTI_OK);
  assert_int_equal(fit(fixture, x, 5, WIDE, y), TUTTI_OK);
  for (size_t i = 5; i < MANY; i++) {
    struct tutti_points one = points_at(x + i * WIDE, 1, WIDE);
    assert_int_equal(surrogate_add_random_forest(fixture->forest, fixture->context, &one, y + i, NULL), TUTTI_OK);
    if (i == 30)
      assert_int_equal(predict(fixture, x, MANY, WIDE, mean[1], deviation[1]), TUTTI_OK);
  }
  assert_int_equal(predict(fixture, x, MANY, WIDE, mean[1], deviation[1]), TUTTI_OK);
  assert_memory_equal(mean[0], mean[1], sizeof mean[0]);
  assert_memory_equal(deviation[0], deviation[1], sizeof deviation[0]);
}

static void test_hard_values(void **state) {
  struct fixture *fixture = *state;
  double mean[2], deviation[2], y[MANY];
  const double *x = fixture->table.x;
  make(fixture, WIDE);
  assert_int_equal(fit(fixture, x, 1, WIDE, fixture->table.y), TUTTI_OK);
  assert_int_equal(predict(fixture, x, 2, WIDE, mean, deviation), TUTTI_OK);
  for (int i = 0; i < 2; i++)
    assert_true(mean[i] == fixture->table.y[0] && deviation[i] == 0);
  for (int i = 0; i < MANY; i++)
    y[i] = 0.1;
  assert_int_equal(fit(fixture, x, MANY, WIDE, y), TUTTI_OK);
  assert_int_equal(predict(fixture, x, 2, WIDE, mean, deviation), TUTTI_OK);
  assert_true(mean[0] == 0.1 && deviation[0] == 0);
  assert_int_equal(((struct random_forest *)fixture->forest)->forest.roots[20], 20); /* nothing is split */
  /* In any unit the same forest: 2^±1000 of the values. */
  assert_int_equal(fit(fixture, x, MANY, WIDE, fixture->table.y), TUTTI_OK);
  assert_int_equal(predict(fixture, x, 2, WIDE, mean, deviation), TUTTI_OK);
  for (int exponent = -1000; exponent <= 1000; exponent += 2000) {
    double m, s;
    for (int i = 0; i < MANY; i++)
      y[i] = ldexp(fixture->table.y[i], exponent);
    assert_int_equal(fit(fixture, x, MANY, WIDE, y), TUTTI_OK);
    assert_int_equal(predict(fixture, x, 1, WIDE, &m, &s), TUTTI_OK);
    assert_true(m == ldexp(mean[0], exponent) && s == ldexp(deviation[0], exponent));
  }
  y[0] = 1e308, y[1] = -1e308, y[2] = 1;
  assert_int_equal(fit(fixture, x, 3, WIDE, y), TUTTI_OK);
  assert_int_equal(predict(fixture, x, 2, WIDE, mean, deviation), TUTTI_OK);
  assert_true(isfinite(mean[0]) && isfinite(deviation[0]));
}

/* Nothing to tell points apart by. */
static void test_no_columns(void **state) {
  struct fixture *fixture = *state;
  double nowhere, y[] = {1, 2, 6}, mean, deviation;
  fixture->config.bootstrap = false;
  make(fixture, 0);
  assert_int_equal(fit(fixture, &nowhere, 3, 0, y), TUTTI_OK);
  assert_int_equal(predict(fixture, &nowhere, 1, 0, &mean, &deviation), TUTTI_OK);
  assert_close(mean, 3, 1e-15, 0);
  assert_close(deviation, sqrt(14.0 / 3), 1e-15, 0);
}

static void test_one_point_many_times(void **state) {
  struct fixture *fixture = *state;
  double x[6] = {0, 0, 0, 0, 0, 0}, y[6] = {1, 2, 3, 4, 5, 6}, mean, deviation;
  fixture->config.bootstrap = false;
  make(fixture, 1);
  assert_int_equal(fit(fixture, x, 6, 1, y), TUTTI_OK);
  assert_int_equal(predict(fixture, x, 1, 1, &mean, &deviation), TUTTI_OK);
  assert_close(mean, 3.5, 1e-15, 0);
  assert_close(deviation, sqrt(35.0 / 12), 1e-15, 0);
}

/* A choice that switches others on and off, as a domain encodes it. */
static void test_conditions(void **state) {
  struct fixture *fixture = *state;
  static const char *const dimensions[][2] = {{"optimiser", "choice sgd adam lbfgs"},
                                              {"rate", "log-uniform 1e-4 1e-1"},
                                              {"momentum", "uniform 0 1 if optimiser = sgd"},
                                              {"nesterov", "choice no yes if optimiser = sgd"}};
  enum { COUNT = 200, COLUMNS = 6 };
  tutti_domain *domain;
  double x[COUNT * COLUMNS], y[COUNT], mean[COUNT], deviation[COUNT], error = 0;
  struct tutti_random random;
  assert_int_equal(tutti_domain_create(fixture->context, &domain), TUTTI_OK);
  for (size_t i = 0; i < 4; i++)
    assert_int_equal(tutti_domain_add_text(fixture->context, domain, dimensions[i][0], dimensions[i][1]), TUTTI_OK);
  assert_int_equal(tutti_domain_width(domain), COLUMNS);
  tutti_random_init(&random, 1, "test conditions", 0);
  for (size_t i = 0; i < COUNT; i++) {
    double point[4];
    tutti_domain_sample(domain, &random, point);
    tutti_domain_encode(domain, point, x + i * COLUMNS);
    y[i] = (point[0] == 0 ? 3 + point[2] + point[3] : point[0]) + 0.1 * log10(point[1]);
  }
  make(fixture, COLUMNS);
  assert_int_equal(fit(fixture, x, COUNT / 2, COLUMNS, y), TUTTI_OK);
  assert_int_equal(predict(fixture, x + COUNT / 2 * COLUMNS, COUNT / 2, COLUMNS, mean, deviation), TUTTI_OK);
  for (size_t i = 0; i < COUNT / 2; i++)
    error += pow(mean[i] - y[COUNT / 2 + i], 2) / (COUNT / 2);
  assert_true(sqrt(error) < 0.15); /* the values' own spread is 1.5 */
  tutti_domain_destroy(domain);
}

/* Draws are one tree's values together, and have the predicted moments. */
static void test_draw(void **state) {
  struct fixture *fixture = *state;
  enum { DRAWS = 4000 };
  for (int kind = FOREST_TOTAL; kind <= FOREST_BETWEEN; kind++) {
    double mean[2], deviation[2], draw[2], sum[2] = {0}, squares[2] = {0};
    struct tutti_points two = points_at(fixture->table.x, 2, WIDE);
    struct tutti_random random;
    fixture->config.deviation = kind;
    fixture->config.max_depth = 3;
    make(fixture, WIDE);
    assert_int_equal(fit(fixture, fixture->table.x, MANY, WIDE, fixture->table.y), TUTTI_OK);
    assert_int_equal(predict(fixture, fixture->table.x, 2, WIDE, mean, deviation), TUTTI_OK);
    tutti_random_init(&random, 1, "test draw", 0);
    for (int i = 0; i < DRAWS; i++) {
      assert_int_equal(surrogate_draw_random_forest(fixture->forest, fixture->context, &two, &random, draw), TUTTI_OK);
      for (int k = 0; k < 2; k++)
        sum[k] += draw[k] - mean[k], squares[k] += pow(draw[k] - mean[k], 2);
    }
    for (int k = 0; k < 2; k++) {
      assert_close(sum[k] / DRAWS, 0, 0, 6 * deviation[k] / sqrt(DRAWS));
      assert_close(sqrt(squares[k] / DRAWS), deviation[k], 0.08, 0);
    }
    surrogate_destroy_random_forest(fixture->forest);
    fixture->forest = NULL;
  }
}

static void test_refusals(void **state) {
  struct fixture *fixture = *state;
  double x[4] = {0, 1, 2, NAN}, y[2] = {1, NAN}, mean[2], deviation[2], draw[2];
  struct tutti_points bad = points_at(x, 2, 2);
  struct tutti_random random;
  tutti_random_init(&random, 1, "test", 0);
  make(fixture, 2);
  assert_int_equal(predict(fixture, x, 1, 2, mean, deviation), TUTTI_ERROR_PLUGIN);
  assert_int_equal(fit(fixture, x, 2, 2, x), TUTTI_ERROR_NUMERIC);
  assert_non_null(strstr(tutti_error_message(fixture->context), "coordinate 1 of point 1 is nan"));
  assert_int_equal(predict(fixture, x, 1, 2, mean, deviation), TUTTI_ERROR_PLUGIN);
  x[3] = 3;
  assert_int_equal(fit(fixture, x, 2, 2, y), TUTTI_ERROR_NUMERIC);
  assert_non_null(strstr(tutti_error_message(fixture->context), "observation 1 is nan"));
  assert_int_equal(fit(fixture, x, 2, 2, x), TUTTI_OK);
  x[3] = INFINITY;
  assert_int_equal(predict(fixture, x, 2, 2, mean, deviation), TUTTI_ERROR_NUMERIC);
  assert_int_equal(surrogate_draw_random_forest(fixture->forest, fixture->context, &bad, &random, draw),
                   TUTTI_ERROR_NUMERIC);
  x[3] = 3;
  tutti_cancel(fixture->context);
  assert_int_equal(fit(fixture, x, 2, 2, x), TUTTI_ERROR_CANCELLED);
}

static void test_describe(void **state) {
  struct fixture *fixture = *state;
  char *text = NULL;
  make(fixture, WIDE);
  fixture->config.bootstrap = false;
  assert_int_equal(fit(fixture, fixture->table.x, 1, WIDE, fixture->table.y), TUTTI_OK);
  assert_int_equal(surrogate_describe_random_forest(fixture->forest, fixture->context, &text), TUTTI_OK);
  assert_string_equal(text, "{\"trees\": 20, \"nodes\": 20, \"leaves\": 20, \"depth\": 0, \"observations\": 1}");
  tutti_free(text);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_node),
      cmocka_unit_test(test_outlier),
      cmocka_unit_test(test_interpolates),
      cmocka_unit_test(test_neighbouring_numbers),
      cmocka_unit_test(test_total_variance),
      cmocka_unit_test(test_thresholds_are_drawn),
      cmocka_unit_test(test_ties),
      cmocka_unit_test(test_cuts_without_gain),
      cmocka_unit_test(test_share_of_features),
      cmocka_unit_test(test_trees_have_streams),
      cmocka_unit_test(test_too_large),
      cmocka_unit_test_setup_teardown(test_added, setup, teardown),
      cmocka_unit_test_setup_teardown(test_hard_values, setup, teardown),
      cmocka_unit_test_setup_teardown(test_no_columns, setup, teardown),
      cmocka_unit_test_setup_teardown(test_one_point_many_times, setup, teardown),
      cmocka_unit_test_setup_teardown(test_conditions, setup, teardown),
      cmocka_unit_test_setup_teardown(test_draw, setup, teardown),
      cmocka_unit_test_setup_teardown(test_refusals, setup, teardown),
      cmocka_unit_test_setup_teardown(test_describe, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
