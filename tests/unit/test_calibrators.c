/* The calibrators: fits by hand and by brute force, properties, coverage over many draws, and texts that are torn. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/tutti.h>
#include <cmocka.h>

#include "engine/evaluation/calibrate_impl.h"

enum { MOST_ROWS = 2000, MOST_WIDTH = 4 };
static struct {
  tutti_context *context;
  struct tutti_task task;
  tutti_host *host;
  tutti_calibrator *calibrator;
  struct tutti_random random;
  double values[MOST_ROWS * MOST_WIDTH], out[MOST_ROWS * MOST_WIDTH], truths[MOST_ROWS];
  int32_t labels[MOST_ROWS];
  struct tutti_combined combined;
  struct tutti_targets targets;
} world;

static void must(enum tutti_status status) {
  if (status != TUTTI_OK)
    fail_msg("%s", tutti_error_message(world.context));
}

static int setup(void **state) {
  struct tutti_host_facts facts = {.size = sizeof facts, .task = &world.task};
  (void)state;
  memset(&world, 0, sizeof world);
  must(tutti_context_create(&world.context));
  must(tutti_host_create(world.context, &facts, &world.host));
  tutti_random_init(&world.random, 7, "test", 0);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  tutti_calibrator_destroy(world.calibrator);
  tutti_host_destroy(world.host);
  tutti_context_destroy(world.context);
  return 0;
}

/* Put a calibrator for so many outputs into the host; set(): a parameter of it; make(): an instance. */
static void put(const char *plugin, enum tutti_task_kind kind, size_t outputs) {
  world.task = (struct tutti_task){.size = sizeof world.task, .kind = kind, .outputs = outputs};
  world.combined = (struct tutti_combined){.size = sizeof world.combined, .kind = kind, .outputs = outputs};
  world.targets = (struct tutti_targets){.size = sizeof world.targets, .kind = kind, .outputs = outputs};
  world.combined.values = world.values;
  world.targets.values = kind == TUTTI_TASK_REGRESSION ? world.truths : NULL;
  world.targets.labels = kind == TUTTI_TASK_REGRESSION ? NULL : world.labels;
  must(tutti_host_put(world.context, world.host, "calibrator", TUTTI_KIND_CALIBRATOR, plugin));
}

static void set(const char *name, const char *value) {
  must(tutti_host_set(world.context, world.host, "calibrator", name, value));
}

static void make(void) {
  struct tutti_calibrator_setup of = {.size = sizeof of};
  must(tutti_calibrator_create(world.context, world.host, "calibrator", &of, &world.calibrator));
}

static void rows(size_t count) { world.combined.rows = world.targets.rows = count; }

static enum tutti_status fit(void) {
  return tutti_calibrator_fit(world.context, world.calibrator, &world.combined, &world.targets);
}

static void apply(void) { must(tutti_calibrator_apply(world.context, world.calibrator, &world.combined, world.out)); }

static double uniform(void) { return tutti_random_uniform(&world.random); }

static void assert_near(double found, double expected, double tolerance) {
  if (!(fabs(found - expected) <= tolerance))
    fail_msg("found %.17g, expected %.17g", found, expected);
}

/* Rows of random probabilities, each class drawn from them after their logarithms were multiplied by `sharpness`: what
   is predicted is too sure if that is below 1. */
static void draw_classes(size_t count, double sharpness) {
  size_t classes = world.combined.outputs;
  rows(count);
  for (size_t r = 0; r < count; r++) {
    double *row = world.values + r * classes, sum = 0, true_sum = 0, drawn = uniform(), below = 0;
    for (size_t c = 0; c < classes; c++)
      sum += row[c] = exp(3 * tutti_random_normal(&world.random));
    for (size_t c = 0; c < classes; c++)
      true_sum += pow(row[c] /= sum, sharpness);
    world.labels[r] = (int32_t)classes - 1;
    for (size_t c = classes; c-- > 0;) {
      below += pow(row[c], sharpness) / true_sum;
      world.labels[r] = (int32_t)c;
      if (drawn < below)
        break;
    }
  }
}

static double nll_of(const double *probabilities) {
  double sum = 0;
  for (size_t r = 0; r < world.combined.rows; r++)
    sum -= log(probabilities[r * world.combined.outputs + (size_t)world.labels[r]]);
  return sum / (double)world.combined.rows;
}

/* --- temperature --- */

/* 20 rows of p = (.9, .1), of which 15 are of the first class: the best p is .75, and log 3 / log 9 = 1/2. */
static void test_temperature_by_hand(void **state) {
  (void)state;
  put("temperature", TUTTI_TASK_CLASSIFICATION, 2);
  make();
  rows(20);
  for (size_t r = 0; r < 20; r++) {
    world.values[2 * r] = 0.9;
    world.values[2 * r + 1] = 0.1;
    world.labels[r] = r >= 15;
  }
  must(fit());
  apply();
  assert_near(world.out[0], 0.75, 1e-6);
  assert_near(world.out[1], 0.25, 1e-6);
}

/* The temperature that made the labels is found, the most probable class stays, and no other temperature is better. */
static void test_temperature_drawn(void **state) {
  (void)state;
  put("temperature", TUTTI_TASK_CLASSIFICATION, 3);
  make();
  draw_classes(MOST_ROWS, 0.5);
  must(fit());
  apply();
  double best = nll_of(world.out), ratio = 0;
  for (size_t r = 0; r < MOST_ROWS; r++) {
    assert_int_equal(tutti_label_of(3, world.out + 3 * r), tutti_label_of(3, world.values + 3 * r));
    ratio = log(world.out[3 * r] / world.out[3 * r + 1]) / log(world.values[3 * r] / world.values[3 * r + 1]);
  }
  assert_near(ratio, 0.5, 0.05);
  for (int side = -1; side <= 1; side += 2) {
    double inverse = ratio * (1 + 1e-3 * side);
    for (size_t r = 0; r < MOST_ROWS; r++) {
      double sum = 0;
      for (size_t c = 0; c < 3; c++)
        sum += world.out[3 * r + c] = pow(world.values[3 * r + c], inverse);
      for (size_t c = 0; c < 3; c++)
        world.out[3 * r + c] /= sum;
    }
    assert_true(nll_of(world.out) > best);
  }
}

/* Rows that are all right make any temperature absurd, were it not bounded; rows of one class tell nothing. */
static void test_temperature_bounds(void **state) {
  (void)state;
  put("temperature", TUTTI_TASK_CLASSIFICATION, 2);
  set("most", "4");
  make();
  rows(30);
  for (size_t r = 0; r < 30; r++) {
    world.labels[r] = r % 2;
    world.values[2 * r + r % 2] = 0.75;
    world.values[2 * r + 1 - r % 2] = 0.25;
  }
  must(fit());
  apply();
  assert_near(world.out[0], 81. / 82, 1e-9); /* 3^4 : 1 */
  for (size_t r = 0; r < 30; r++)
    world.labels[r] = 1;
  assert_int_equal(fit(), TUTTI_ERROR_NUMERIC);
  assert_string_equal(tutti_error_message(world.context),
                      "calibrator temperature: all 30 rows to calibrate on are of one class");
}

/* --- vector scaling --- */

static double penalised(const double *factors, const double *shifts, double l2) {
  double penalty = 0;
  for (size_t r = 0; r < world.combined.rows; r++) {
    double sum = 0;
    for (size_t c = 0; c < 3; c++)
      sum += world.out[3 * r + c] = exp(factors[c] * log(world.values[3 * r + c]) + shifts[c]);
    for (size_t c = 0; c < 3; c++)
      world.out[3 * r + c] /= sum;
  }
  for (size_t c = 0; c < 3; c++)
    penalty += (factors[c] - 1) * (factors[c] - 1) + shifts[c] * shifts[c];
  return nll_of(world.out) + l2 * penalty;
}

/* Each of its numbers is at a minimum, as far as its text tells: no step lowers what it minimises. */
static void test_vector_scaling(void **state) {
  const double step = 1e-3;
  char *json;
  (void)state;
  put("vector-scaling", TUTTI_TASK_CLASSIFICATION, 3);
  set("l2", "0.01");
  make();
  draw_classes(500, 0.6);
  must(fit());
  must(tutti_calibrator_print(world.context, world.calibrator, &json));
  double numbers[6];
  assert_int_equal(sscanf(json, "{\"factors\":[%lf,%lf,%lf],\"shifts\":[%lf,%lf,%lf]}", &numbers[0], &numbers[1],
                          &numbers[2], &numbers[3], &numbers[4], &numbers[5]),
                   6);
  tutti_free(json);
  double least = penalised(numbers, numbers + 3, 0.01);
  for (size_t i = 0; i < 6; i++)
    for (int side = -1; side <= 1; side += 2) {
      double moved[6];
      memcpy(moved, numbers, sizeof moved);
      moved[i] += side * step;
      assert_true(penalised(moved, moved + 3, 0.01) > least);
    }
}

/* --- isotonic --- */

/* p of the second class .1 .2 .3 .4, labels 0 1 0 1: the middle two are one block of 1/2, the ends stay 1 / (4 + 2)
   away from 0 and 1, and between blocks it is linear. */
static void test_isotonic_by_hand(void **state) {
  static const double p[] = {0.1, 0.2, 0.3, 0.4}, at[] = {0.05, 0.15, 0.25, 0.35, 0.9};
  static const double expected[] = {1. / 6, 1. / 3, 0.5, 2. / 3, 5. / 6};
  (void)state;
  put("isotonic", TUTTI_TASK_CLASSIFICATION, 2);
  make();
  rows(4);
  for (size_t r = 0; r < 4; r++) {
    world.values[2 * r] = 1 - p[r];
    world.values[2 * r + 1] = p[r];
    world.labels[r] = r % 2;
  }
  must(fit());
  rows(5);
  for (size_t r = 0; r < 5; r++) {
    world.values[2 * r] = 1 - at[r];
    world.values[2 * r + 1] = at[r];
  }
  apply();
  for (size_t r = 0; r < 5; r++)
    assert_near(world.out[2 * r + 1], expected[r], 1e-12);
}

struct scored {
  double p, right;
};

static int by_p(const void *a, const void *b) {
  double x = ((const struct scored *)a)->p, y = ((const struct scored *)b)->p;
  return x < y ? -1 : x > y;
}

/* At its own rows it is max over a <= i of min over b >= i of the mean of rows a..b, and it never falls. */
static void test_isotonic_brute(void **state) {
  enum { ROWS = 60 };
  struct scored sorted[ROWS];
  (void)state;
  put("isotonic", TUTTI_TASK_CLASSIFICATION, 2);
  make();
  draw_classes(ROWS, 0.7);
  must(fit());
  apply();
  for (size_t r = 0; r < ROWS; r++)
    sorted[r] = (struct scored){world.values[2 * r + 1], world.labels[r]};
  qsort(sorted, ROWS, sizeof *sorted, by_p);
  for (size_t i = 0; i < ROWS; i++) {
    double most = 0;
    for (size_t a = 0; a <= i; a++) {
      double least = 1, sum = 0;
      for (size_t b = a; b < ROWS; b++) {
        sum += sorted[b].right;
        if (b >= i)
          least = fmin(least, sum / (double)(b - a + 1));
      }
      most = fmax(most, least);
    }
    double expected = fmin(fmax(most, 1. / (ROWS + 2)), 1 - 1. / (ROWS + 2));
    for (size_t r = 0; r < ROWS; r++)
      if (world.values[2 * r + 1] == sorted[i].p)
        assert_near(world.out[2 * r + 1], expected, 1e-9);
  }
}

/* --- variance scaling --- */

static void moments(size_t row, double mean, double aleatoric, double epistemic, double truth) {
  world.values[3 * row] = mean;
  world.values[3 * row + 1] = aleatoric;
  world.values[3 * row + 2] = epistemic;
  world.truths[row] = truth;
}

/* Errors of 1 and 3 with variances 1 and 3: the mean of z^2 is (1 + 9/3) / 2 = 2. */
static void test_variance_by_hand(void **state) {
  (void)state;
  put("variance-scaling", TUTTI_TASK_REGRESSION, 1);
  make();
  rows(2);
  moments(0, 5, 0.75, 0.25, 6);
  moments(1, -1, 1, 2, -4);
  must(fit());
  apply();
  const double expected[] = {5, 1.5, 0.5, -1, 2, 4};
  for (size_t i = 0; i < 6; i++)
    assert_near(world.out[i], expected[i], 1e-12);
}

static double normal_nll(const double *values) {
  double sum = 0;
  for (size_t r = 0; r < world.combined.rows; r++)
    sum += tutti_gaussian_nll(values[3 * r], values[3 * r + 1] + values[3 * r + 2], world.truths[r]);
  return sum / (double)world.combined.rows;
}

/* Two factors that were put in come out, and steps away from them cost. */
static void test_variance_apart(void **state) {
  double least, factors[2];
  (void)state;
  put("variance-scaling", TUTTI_TASK_REGRESSION, 1);
  set("apart", "yes");
  make();
  rows(MOST_ROWS);
  for (size_t r = 0; r < MOST_ROWS; r++) {
    double aleatoric = exp(2 * tutti_random_normal(&world.random)),
           epistemic = exp(2 * tutti_random_normal(&world.random));
    moments(r, uniform(), aleatoric, epistemic, 0);
    world.truths[r] = world.values[3 * r] + sqrt(4 * aleatoric + 0.25 * epistemic) * tutti_random_normal(&world.random);
  }
  must(fit());
  apply();
  factors[0] = world.out[1] / world.values[1];
  factors[1] = world.out[2] / world.values[2];
  assert_near(log(factors[0] / 4), 0, 0.2);
  assert_near(log(factors[1] / 0.25), 0, 0.4);
  least = normal_nll(world.out);
  for (size_t k = 0; k < 2; k++)
    for (int side = -1; side <= 1; side += 2) {
      for (size_t r = 0; r < MOST_ROWS; r++)
        for (size_t i = 0; i < 2; i++)
          world.out[3 * r + 1 + i] = world.values[3 * r + 1 + i] * factors[i] * (i == k ? 1 + 0.01 * side : 1);
      assert_true(normal_nll(world.out) > least);
    }
}

static void test_variance_refused(void **state) {
  (void)state;
  put("variance-scaling", TUTTI_TASK_REGRESSION, 1);
  make();
  rows(1);
  moments(0, 0, NAN, 1, 0);
  assert_int_equal(fit(), TUTTI_ERROR_USAGE);
  moments(0, 0, 0, 0, 0);
  assert_int_equal(fit(), TUTTI_ERROR_NUMERIC);
  moments(0, 0, 1, 0, 1e9);
  must(fit());
  apply();
  assert_near(world.out[1], 100, 1e-9); /* most = 10 */
}

/* --- conformal --- */

static void interval(double level, double ends[2]) {
  must(tutti_calibrator_intervals(world.context, world.calibrator, &world.combined, level, world.out));
  memcpy(ends, world.out, 2 * sizeof *ends);
}

/* Errors of .1, .2, ..., 1.9: of rank ceil(20 level), and beyond 19 there is none. */
static void test_conformal_ranks(void **state) {
  static const double levels[] = {0.95, 0.9, 0.05, 0.92, 0.951}, reach[] = {1.9, 1.8, 0.1, 1.9, INFINITY};
  double ends[2];
  (void)state;
  put("conformal", TUTTI_TASK_REGRESSION, 1);
  set("normalise", "no");
  make();
  rows(19);
  for (size_t r = 0; r < 19; r++)
    moments(r, 3, NAN, 1, 3 + (r % 2 ? 0.1 : -0.1) * (double)(r + 1));
  must(fit());
  rows(1);
  for (size_t i = 0; i < 5; i++) {
    interval(levels[i], ends);
    assert_true(isinf(reach[i]) ? isinf(ends[1]) && isinf(ends[0]) : fabs(ends[1] - 3 - reach[i]) < 1e-12);
    assert_true(isinf(reach[i]) || fabs(3 - ends[0] - reach[i]) < 1e-12);
  }
}

/* In units of the deviation: a row with four times the variance has an interval of twice the width. */
static void test_conformal_normalised(void **state) {
  (void)state;
  put("conformal", TUTTI_TASK_REGRESSION, 1);
  make();
  rows(19);
  for (size_t r = 0; r < 19; r++)
    moments(r, 0, 2, 2, (double)(r + 1)); /* scores 1/2, 2/2, ... */
  must(fit());
  rows(2);
  moments(0, 0, 1, 0, 0);
  moments(1, 10, 3, 1, 0);
  must(tutti_calibrator_intervals(world.context, world.calibrator, &world.combined, 0.5, world.out));
  assert_near(world.out[1], 5, 1e-12); /* rank 10 */
  assert_near(world.out[2], 0, 1e-12);
  assert_near(world.out[3], 20, 1e-12);
  moments(0, 0, NAN, 1, 0);
  assert_int_equal(fit(), TUTTI_ERROR_USAGE);
  assert_non_null(strstr(tutti_error_message(world.context), "normalise = no"));
}

/* Whatever the errors are like, over many draws an interval of level 0.9 from 30 rows holds ceil(27.9) / 31 of the new
   targets: within four standard deviations of a binomial count. */
static void test_conformal_coverage(void **state) {
  enum { DRAWS = 3000, ROWS = 30 };
  const double share = 28. / 31;
  double ends[2], inside = 0;
  (void)state;
  put("conformal", TUTTI_TASK_REGRESSION, 1);
  make();
  for (size_t d = 0; d < DRAWS; d++) {
    rows(ROWS);
    for (size_t r = 0; r <= ROWS; r++) { /* the variances know nothing of the errors, whose tails are heavy */
      double noise = tutti_random_normal(&world.random);
      moments(r, 0, exp(tutti_random_normal(&world.random)), 0.1, noise * noise * noise);
    }
    must(fit());
    rows(1);
    memcpy(world.values, world.values + 3 * ROWS, 3 * sizeof(double));
    interval(0.9, ends);
    inside += ends[0] <= world.truths[ROWS] && world.truths[ROWS] <= ends[1];
  }
  assert_near(inside / DRAWS, share, 4 * sqrt(share * (1 - share) / DRAWS));
}

/* --- texts --- */

static void test_torn_texts(void **state) {
  static const struct {
    const char *plugin, *text;
  } torn[] = {
      {"temperature", "{\"inverse_temperature\":-1}"},
      {"temperature", "{\"inverse_temperature\":1"},
      {"temperature", "{}"},
      {"vector-scaling", "{\"factors\":[1,1,1],\"shifts\":[0,0]}"},
      {"vector-scaling", "{\"factors\":[1,1],\"shifts\":[0,\"a\"]}"},
      {"isotonic", "{\"classes\":[{\"at\":[0.1],\"value\":[0.2]}]}"},
      {"isotonic", "{\"classes\":[{\"at\":[0.2,0.1],\"value\":[0.2,0.3]},{\"at\":[0.1],\"value\":[0.2]}]}"},
      {"isotonic", "{\"classes\":[{\"at\":[0.1,0.2],\"value\":[0.3,0.2]},{\"at\":[0.1],\"value\":[0.2]}]}"},
      {"variance-scaling", "{\"aleatoric_factors\":[1,1],\"epistemic_factors\":[1]}"},
      {"variance-scaling", "{\"aleatoric_factors\":[1,-1],\"epistemic_factors\":[1,1]}"},
      {"conformal", "{\"normalised\":true,\"scores\":[[1,2]]}"},
      {"conformal", "{\"normalised\":true,\"scores\":[[2,1],[1,2]]}"},
      {"conformal", "{\"scores\":[[1,2],[1,2]]}"},
      {"conformal", "{\"normalised\":true,\"scores\":[[1,2],[1,2,3]]}"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof torn / sizeof torn[0]; i++) {
    bool values = strcmp(torn[i].plugin, "conformal") == 0 || strcmp(torn[i].plugin, "variance-scaling") == 0;
    put(torn[i].plugin, values ? TUTTI_TASK_REGRESSION : TUTTI_TASK_CLASSIFICATION, 2);
    make();
    enum tutti_status status = tutti_calibrator_parse(world.context, world.calibrator, torn[i].text);
    assert_true(status == TUTTI_ERROR_CORRUPT || status == TUTTI_ERROR_USAGE);
    rows(1);
    assert_int_equal(tutti_calibrator_apply(world.context, world.calibrator, &world.combined, world.out),
                     TUTTI_ERROR_INTERNAL);
    tutti_calibrator_destroy(world.calibrator);
    world.calibrator = NULL;
  }
}

/* --- judging --- */

static struct tutti_verdict judge(int64_t folds) {
  struct tutti_verdict verdict;
  const struct tutti_calibrating of = {
      .host = world.host, .seed = 1, .folds = folds, .combined = &world.combined, .targets = &world.targets};
  tutti_calibrator_destroy(world.calibrator);
  must(tutti_calibrate(world.context, &of, &world.calibrator, &verdict));
  assert_int_equal(world.calibrator == NULL, *verdict.refused != '\0');
  return verdict;
}

/* Taken where it helps; refused where the ensemble is right already, where rows are few, of one class, or no
   numbers. */
static void test_verdicts(void **state) {
  (void)state;
  put("temperature", TUTTI_TASK_CLASSIFICATION, 3);
  draw_classes(400, 0.4);
  struct tutti_verdict verdict = judge(5);
  assert_string_equal(verdict.refused, "");
  assert_string_equal(verdict.measure, "nll");
  assert_true(verdict.after < verdict.before);
  assert_near(verdict.before, nll_of(world.values), 1e-9);
  draw_classes(60, 1);
  put("vector-scaling", TUTTI_TASK_CLASSIFICATION, 3); /* six numbers from 60 rows that need none */
  rows(60);
  verdict = judge(5);
  assert_non_null(strstr(verdict.refused, "it does not help by more than chance may: nll"));
  assert_string_equal(judge(0).refused, "");
  rows(59);
  assert_string_equal(judge(5).refused, "it needs 60 rows to fit to, and there are 59");
  rows(60);
  world.values[7] = NAN;
  assert_string_equal(judge(5).refused, "the ensemble's prediction for row 2 is not finite");
  world.values[7] = 0.1;
  for (size_t r = 0; r < 60; r++)
    world.labels[r] = 2;
  assert_non_null(strstr(judge(5).refused, "of one class"));
}

/* Intervals that are as good as conformal ones already: without rows of their own these are refused, with such rows
   they are taken for what they promise. */
static void test_promises_are_kept(void **state) {
  enum { ROWS = 200 };
  static double plain[TUTTI_FIXED_LEVELS][ROWS][2];
  const struct tutti_evaluation_options options = TUTTI_EVALUATION_DEFAULTS;
  struct tutti_verdict verdict;
  (void)state;
  put("conformal", TUTTI_TASK_REGRESSION, 1);
  rows(ROWS);
  for (size_t r = 0; r < ROWS; r++) {
    const double moments[TUTTI_COMBINED_PARTS] = {(double)r, 1, 0};
    memcpy(world.values + r * TUTTI_COMBINED_PARTS, moments, sizeof moments);
    world.truths[r] = (double)r + tutti_normal_quantile(((double)r + 0.5) / ROWS);
    for (size_t l = 0; l < TUTTI_FIXED_LEVELS; l++) {
      const double reach = tutti_normal_quantile(0.5 + tutti_level_at(&options, l) / 2);
      plain[l][r][0] = (double)r - reach;
      plain[l][r][1] = (double)r + reach;
    }
  }
  struct tutti_calibrating of = {.host = world.host,
                                 .seed = 1,
                                 .folds = 5,
                                 .combined = &world.combined,
                                 .targets = &world.targets,
                                 .plain = &plain[0][0][0]};
  must(tutti_calibrate(world.context, &of, &world.calibrator, &verdict));
  assert_null(world.calibrator);
  assert_non_null(strstr(verdict.refused, "the ensemble's own intervals cover what they should"));
  of.own_rows = true;
  must(tutti_calibrate(world.context, &of, &world.calibrator, &verdict));
  assert_string_equal(verdict.refused, "");
  assert_non_null(world.calibrator);
}

/* An ensemble of two Gaussians with weights .997 and .003, for targets of variance 1. If the second is wide, the
   ensemble's variance is mostly its; a factor that fits the variance makes the first one far too narrow. */
enum { MIXED = 400 };
struct mixed {
  float narrow[2 * MIXED], wide[2 * MIXED], within[MIXED];
  const float *predictions[2], *epistemic[2];
  uint64_t trials[2];
  struct tutti_pool pool;
  tutti_ensemble *ensemble;
  struct tutti_combined combined;
  struct tutti_mixtures mixtures;
};

static void draw_mixed(struct mixed *mixed, float narrow, float wide, float apart, double weight) {
  const struct tutti_evaluation_options options = TUTTI_EVALUATION_DEFAULTS;
  *mixed = (struct mixed){.predictions = {mixed->narrow, mixed->wide}, .trials = {0, 1}};
  mixed->pool = (struct tutti_pool){.size = sizeof mixed->pool,
                                    .kind = TUTTI_TASK_REGRESSION,
                                    .rows = MIXED,
                                    .outputs = 1,
                                    .models = 2,
                                    .trials = mixed->trials,
                                    .predictions = mixed->predictions,
                                    .values = world.truths};
  rows(MIXED);
  for (size_t r = 0; r < MIXED; r++) {
    mixed->narrow[2 * r] = (float)r - apart;
    mixed->wide[2 * r] = (float)r + apart;
    mixed->narrow[2 * r + 1] = narrow;
    mixed->wide[2 * r + 1] = wide;
    world.truths[r] = (double)r + tutti_random_normal(&world.random);
  }
  must(tutti_ensemble_create(world.context, &mixed->ensemble));
  must(tutti_ensemble_add(world.context, mixed->ensemble, 0, 1 - weight));
  must(tutti_ensemble_add(world.context, mixed->ensemble, 1, weight));
  must(tutti_combine(world.context, &mixed->pool, mixed->ensemble, &options, &mixed->combined));
  must(tutti_combine_mixtures(world.context, &mixed->pool, mixed->ensemble, &mixed->mixtures));
  mixed->combined.mixtures = mixed->mixtures.all;
}

static void release_mixed(struct mixed *mixed) {
  tutti_free((double *)(uintptr_t)mixed->combined.values);
  tutti_mixtures_release(&mixed->mixtures);
  tutti_ensemble_destroy(mixed->ensemble);
}

/* The mean NLL of the mixtures with a factor for the variance, by its definition: members that are moved and scaled. */
static double scaled_nll(const struct mixed *mixed, double factor) {
  double sum = 0;
  for (size_t r = 0; r < MIXED; r++) {
    const struct tutti_mixture *plain = &mixed->mixtures.all[r];
    const double mean = plain->weights[0] * plain->means[0] + plain->weights[1] * plain->means[1];
    double means[2], variances[2];
    for (size_t k = 0; k < 2; k++) {
      means[k] = mean + sqrt(factor) * (plain->means[k] - mean);
      variances[k] = factor * plain->variances[k];
    }
    const struct tutti_mixture scaled = {2, plain->weights, means, variances, 0};
    sum += tutti_mixture_nll(&scaled, world.truths[r]);
  }
  return sum / MIXED;
}

static double fitted_factor(const struct mixed *mixed) {
  char *text, *factor;
  must(tutti_calibrator_fit(world.context, world.calibrator, &mixed->combined, &world.targets));
  must(tutti_calibrator_print(world.context, world.calibrator, &text));
  assert_non_null(factor = strstr(text, "\"epistemic_factors\":["));
  const double found = atof(factor + strlen("\"epistemic_factors\":["));
  tutti_free(text);
  apply();
  return found;
}

/* No factor of a fine grid has a lower NLL of the mixtures, whatever the members are like. */
static void test_variance_of_mixtures(void **state) {
  static const float shapes[][3] = {{1, 1e6F, 0}, {16, 16, 0}, {0.05F, 0.2F, 1}, {0.01F, 3, 0.2F}, {4, 1, 5}};
  static struct mixed mixed;
  (void)state;
  put("variance-scaling", TUTTI_TASK_REGRESSION, 1);
  make();
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    draw_mixed(&mixed, shapes[i][0], shapes[i][1], shapes[i][2], i ? 0.3 : 0.003);
    const double factor = fitted_factor(&mixed), nll = scaled_nll(&mixed, factor);
    for (double x = -2; x <= 2; x += 0.01)
      assert_true(nll <= scaled_nll(&mixed, pow(10, x)) + 1e-7);
    assert_true(i != 1 || fabs(factor - 1.0 / 16) < 0.2 / 16); /* one Gaussian, four times too wide */
    release_mixed(&mixed);
  }
}

/* By the moments the factor is mean z^2, as without mixtures. */
static void test_variance_of_moments(void **state) {
  static struct mixed mixed;
  double sum = 0;
  (void)state;
  put("variance-scaling", TUTTI_TASK_REGRESSION, 1);
  set("likelihood", "moments");
  make();
  draw_mixed(&mixed, 1, 100, 0, 0.3);
  for (size_t r = 0; r < MIXED; r++)
    sum += pow(world.truths[r] - (double)r, 2) / (0.7 * 1 + 0.3 * 100) / MIXED;
  assert_near(fitted_factor(&mixed), sum, 1e-9);
  release_mixed(&mixed);
}

static struct tutti_verdict judge_mixed(const struct mixed *mixed) {
  const struct tutti_calibrating of = {.host = world.host,
                                       .seed = 1,
                                       .folds = 5,
                                       .combined = &mixed->combined,
                                       .targets = &world.targets,
                                       .parts = mixed->mixtures.parts};
  struct tutti_verdict verdict;
  tutti_calibrator_destroy(world.calibrator);
  must(tutti_calibrate(world.context, &of, &world.calibrator, &verdict));
  assert_int_equal(world.calibrator == NULL, *verdict.refused != '\0');
  return verdict;
}

/* What is judged is the mixture: a factor for moments that one wide member decides is refused, and of the right mixture
   nothing is changed. `before` is the NLL of the plain mixtures. */
static void test_verdict_of_mixtures(void **state) {
  static struct mixed mixed;
  (void)state;
  put("variance-scaling", TUTTI_TASK_REGRESSION, 1);
  set("likelihood", "moments");
  draw_mixed(&mixed, 1, 1e6F, 0, 0.003);
  struct tutti_verdict verdict = judge_mixed(&mixed);
  assert_true(verdict.after > verdict.before + 1);
  assert_non_null(strstr(verdict.refused, "it does not help by more than chance may: nll"));
  assert_near(verdict.before, scaled_nll(&mixed, 1), 1e-12);
  set("likelihood", "mixture");
  verdict = judge_mixed(&mixed);
  assert_near(verdict.after, verdict.before, 0.02);
  release_mixed(&mixed);
  draw_mixed(&mixed, 16, 16, 0, 0.003); /* both are too wide */
  verdict = judge_mixed(&mixed);
  assert_string_equal(verdict.refused, "");
  assert_near(verdict.after, scaled_nll(&mixed, 1.0 / 16), 0.05);
  release_mixed(&mixed);
}

/* Members that tell their own epistemic variance: the judge scales the parts of their variances apart, as the
   calibrated ensemble has them. Errors here are as large as those variances say, whatever the aleatoric ones are. */
static void test_verdict_of_parts(void **state) {
  static struct mixed mixed;
  const struct tutti_evaluation_options options = TUTTI_EVALUATION_DEFAULTS;
  struct tutti_calibrated calibrated;
  (void)state;
  put("variance-scaling", TUTTI_TASK_REGRESSION, 1);
  set("apart", "yes");
  draw_mixed(&mixed, 16, 9, 0.1F, 0.3);
  release_mixed(&mixed);
  for (size_t r = 0; r < MIXED; r++) {
    mixed.within[r] = r % 2 ? 8.5F : 0.5F;
    world.truths[r] = (double)r + sqrt((double)mixed.within[r]) * tutti_random_normal(&world.random);
  }
  mixed.epistemic[0] = mixed.epistemic[1] = mixed.within;
  mixed.pool.epistemic = mixed.epistemic;
  must(tutti_ensemble_create(world.context, &mixed.ensemble));
  must(tutti_ensemble_add(world.context, mixed.ensemble, 0, 0.7));
  must(tutti_ensemble_add(world.context, mixed.ensemble, 1, 0.3));
  must(tutti_combine(world.context, &mixed.pool, mixed.ensemble, &options, &mixed.combined));
  must(tutti_combine_mixtures(world.context, &mixed.pool, mixed.ensemble, &mixed.mixtures));
  mixed.combined.mixtures = mixed.mixtures.all;
  assert_true(mixed.mixtures.parts);
  struct tutti_verdict verdict = judge_mixed(&mixed);
  assert_string_equal(verdict.refused, "");
  must(tutti_calibrated_make(world.context, world.calibrator, &mixed.pool, mixed.ensemble, &options, &calibrated));
  tutti_evaluation *evaluation;
  must(tutti_evaluate_calibrated(world.context, &calibrated, &options, &evaluation));
  /* That is of the fit to all rows, and the judge's of those to four fifths of them. */
  assert_near(verdict.after, tutti_evaluation_find(evaluation, "nll")->value, 0.02);
  tutti_evaluation_destroy(evaluation);
  tutti_calibrated_release(&calibrated);
  release_mixed(&mixed);
}

/* --- quantiles of mixtures --- */

static double cdf(const struct tutti_mixture *mixture, double x) {
  double sum = 0;
  for (size_t k = 0; k < mixture->members; k++)
    sum += mixture->weights[k] * tutti_normal_cdf((x - mixture->means[k]) / sqrt(mixture->variances[k]));
  return sum;
}

static void test_mixture_quantiles(void **state) {
  (void)state;
  const double one = 1, two = 2, four = 4;
  const struct tutti_mixture single = {1, &one, &two, &four, 0};
  assert_near(tutti_mixture_quantile(&single, 0.975), 2 + 2 * 1.959963984540054, 1e-12);
  for (size_t i = 0; i < 500; i++) {
    double weights[3], means[3], variances[3], sum = 0, p = i % 5 ? uniform() : pow(10, -6 * uniform());
    for (size_t k = 0; k < 3; k++) {
      sum += weights[k] = uniform() + 1e-3;
      means[k] = 10 * tutti_random_normal(&world.random);
      variances[k] = exp(4 * tutti_random_normal(&world.random)); /* modes far apart, with nothing between them */
    }
    for (size_t k = 0; k < 3; k++)
      weights[k] /= sum;
    const struct tutti_mixture mixture = {3, weights, means, variances, 0};
    double quantile = tutti_mixture_quantile(&mixture, p), near = 1e-9 * (1 + fabs(quantile));
    assert_true(cdf(&mixture, quantile - near) <= p && p <= cdf(&mixture, quantile + near));
  }
  const double nan = NAN;
  const struct tutti_mixture torn = {1, &one, &two, &nan, 0};
  assert_true(isnan(tutti_mixture_quantile(&torn, 0.5)));
}

/* By hand: [1, 3] at 80 %: its width, and 10 times the distance of a value outside it. */
static void test_interval_score(void **state) {
  static const double ends[] = {1, 3};
  (void)state;
  assert_near(tutti_interval_score(ends, 0.8, 2), 2, 1e-12);
  assert_near(tutti_interval_score(ends, 0.8, 0.5), 2 + 5, 1e-12);
  assert_near(tutti_interval_score(ends, 0.8, 4), 2 + 10, 1e-12);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_temperature_by_hand),  TEST(test_temperature_drawn),
      TEST(test_temperature_bounds),   TEST(test_vector_scaling),
      TEST(test_isotonic_by_hand),     TEST(test_isotonic_brute),
      TEST(test_variance_by_hand),     TEST(test_variance_apart),
      TEST(test_variance_refused),     TEST(test_conformal_ranks),
      TEST(test_conformal_normalised), TEST(test_conformal_coverage),
      TEST(test_torn_texts),           TEST(test_verdicts),
      TEST(test_verdict_of_mixtures),  TEST(test_variance_of_mixtures),
      TEST(test_variance_of_moments),  TEST(test_verdict_of_parts),
      TEST(test_promises_are_kept),    TEST(test_mixture_quantiles),
      TEST(test_interval_score),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
