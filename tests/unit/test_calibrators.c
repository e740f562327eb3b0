/* test_calibrators.c - the calibrators: fits by hand and by brute force, properties, coverage over many draws, and
   texts that are torn. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/tutti.h>
#include <cmocka.h>

#include "calibrating.h"

/* --- temperature --- */

/* 20 rows of p = (.9, .1), of which 15 are of the first class: the best p is .75, and log 3 / log 9 = 1/2. With an
   error more it is 15 / 21; with four 15 / 22, since the ensemble expects two. */
static void check_temperature_by_hand(const char *errors, double expected) {
  put("temperature", TUTTI_TASK_CLASSIFICATION, 2);
  set("unseen_errors", errors);
  make();
  rows(20);
  for (size_t r = 0; r < 20; r++) {
    world.values[2 * r] = 0.9;
    world.values[2 * r + 1] = 0.1;
    world.labels[r] = r >= 15;
  }
  must(fit());
  apply();
  assert_near(world.out[0], expected, 1e-6);
  assert_near(world.out[1], 1 - expected, 1e-6);
}

static void test_temperature_by_hand(void **state) {
  (void)state;
  check_temperature_by_hand("0", 0.75);
}

static void test_temperature_of_errors_by_hand(void **state) {
  (void)state;
  check_temperature_by_hand("1", 15. / 21);
}

static void test_temperature_of_expected_errors(void **state) {
  (void)state;
  check_temperature_by_hand("4", 15. / 22);
}

/* The temperature that made the labels is found, the most probable class stays, and no other temperature is better. */
static void test_temperature_drawn(void **state) {
  (void)state;
  put("temperature", TUTTI_TASK_CLASSIFICATION, 3);
  set("unseen_errors", "0");
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

/* 30 rows that are all predicted right, with probabilities of .75. */
static void all_right(void) {
  rows(30);
  for (size_t r = 0; r < 30; r++) {
    world.labels[r] = r % 2;
    world.values[2 * r + r % 2] = 0.75;
    world.values[2 * r + 1 - r % 2] = 0.25;
  }
}

/* One error is thought to be among 31, which bounds how sure one may be of the 32nd; where the ensemble has no doubts,
   there is nowhere to think of it. */
static void test_temperature_of_rows_all_right(void **state) {
  (void)state;
  put("temperature", TUTTI_TASK_CLASSIFICATION, 2);
  make();
  all_right();
  must(fit());
  apply();
  assert_near(world.out[0], 30. / 31, 1e-6);
  for (size_t i = 0; i < 60; i++)
    world.values[i] = world.values[i] > 0.5;
  must(fit());
  apply();
  assert_near(world.out[0], 1, 0);
}

/* An ensemble that expects less than one error in all rows, and makes none, stays as it is: no more errors are thought
   of than it expects. */
static void test_temperature_of_sure_rows(void **state) {
  (void)state;
  put("temperature", TUTTI_TASK_CLASSIFICATION, 2);
  make();
  all_right();
  for (size_t i = 0; i < 60; i++)
    world.values[i] = world.values[i] > 0.5 ? 1 - 1e-6 : 1e-6;
  must(fit());
  apply();
  assert_near(world.out[1], 1e-6, 1e-9);
}

/* An error is thought of where the ensemble has doubts. It does not ask of its surest rows to be less sure: of 40 rows,
   half of them of .6 and half of 1 - 1e-9, all right, the first are as sure as one error in 21 lets them be. */
static void test_temperature_of_doubts(void **state) {
  (void)state;
  put("temperature", TUTTI_TASK_CLASSIFICATION, 2);
  make();
  rows(40);
  for (size_t r = 0; r < 40; r++) {
    double p = r < 20 ? 0.6 : 1 - 1e-9;
    world.labels[r] = r % 2;
    world.values[2 * r + r % 2] = p;
    world.values[2 * r + 1 - r % 2] = 1 - p;
  }
  must(fit());
  apply();
  assert_near(world.out[0], 20. / 21, 1e-6);
}

/* Rows that are all right make any temperature absurd, were it not bounded; rows of one class tell nothing. */
static void test_temperature_bounds(void **state) {
  (void)state;
  put("temperature", TUTTI_TASK_CLASSIFICATION, 2);
  set("most", "4");
  set("unseen_errors", "0");
  make();
  all_right();
  must(fit());
  apply();
  assert_near(world.out[0], 81. / 82, 1e-9); /* 3^4 : 1 */
  for (size_t r = 0; r < 30; r++)
    world.labels[r] = 1;
  assert_int_equal(fit(), TUTTI_ERROR_NUMERIC);
  assert_string_equal(tutti_error_message(world.context), "all 30 rows to calibrate on are of one class");
}

/* --- vector scaling --- */

/* The mean NLL of the rows and of `errors` errors, spread over the less probable classes as far as they are
   probable. */
static double nll_with_errors(double errors) {
  double doubts = 0, sum = 0, n = (double)world.combined.rows; /* with more doubts than errors */
  for (size_t r = 0; r < world.combined.rows; r++)
    doubts += 1 - world.values[3 * r + tutti_label_of(3, world.values + 3 * r)];
  for (size_t i = 0; i < 3 * world.combined.rows; i++)
    if (i % 3 != tutti_label_of(3, world.values + i / 3 * 3))
      sum -= errors * world.values[i] / doubts * log(world.out[i]);
  return (n * nll_of(world.out) + sum) / (n + errors);
}

static double penalised(const double *factors, const double *shifts, double l2, double errors) {
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
  return nll_with_errors(errors) + l2 * penalty;
}

/* Each of its numbers is at a minimum, as far as its text tells: no step lowers what it minimises. */
static void check_vector_scaling(const char *errors) {
  const double step = 1e-3, count = strtod(errors, NULL);
  char *json;
  put("vector-scaling", TUTTI_TASK_CLASSIFICATION, 3);
  set("l2", "0.01");
  set("unseen_errors", errors);
  make();
  draw_classes(500, 0.6);
  must(fit());
  must(tutti_calibrator_print(world.context, world.calibrator, &json));
  double numbers[6];
  assert_int_equal(sscanf(json, "{\"factors\":[%lf,%lf,%lf],\"shifts\":[%lf,%lf,%lf]}", &numbers[0], &numbers[1],
                          &numbers[2], &numbers[3], &numbers[4], &numbers[5]),
                   6);
  tutti_free(json);
  double least = penalised(numbers, numbers + 3, 0.01, count);
  for (size_t i = 0; i < 6; i++)
    for (int side = -1; side <= 1; side += 2) {
      double moved[6];
      memcpy(moved, numbers, sizeof moved);
      moved[i] += side * step;
      assert_true(penalised(moved, moved + 3, 0.01, count) > least);
    }
}

static void test_vector_scaling(void **state) {
  (void)state;
  check_vector_scaling("0");
}

static void test_vector_scaling_of_errors(void **state) {
  (void)state;
  check_vector_scaling("30");
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

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_temperature_by_hand),
      TEST(test_temperature_of_errors_by_hand),
      TEST(test_temperature_of_expected_errors),
      TEST(test_temperature_drawn),
      TEST(test_temperature_of_sure_rows),
      TEST(test_temperature_of_rows_all_right),
      TEST(test_temperature_of_doubts),
      TEST(test_temperature_bounds),
      TEST(test_vector_scaling),
      TEST(test_vector_scaling_of_errors),
      TEST(test_isotonic_by_hand),
      TEST(test_isotonic_brute),
      TEST(test_variance_by_hand),
      TEST(test_variance_apart),
      TEST(test_variance_refused),
      TEST(test_conformal_ranks),
      TEST(test_conformal_normalised),
      TEST(test_conformal_coverage),
      TEST(test_torn_texts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
