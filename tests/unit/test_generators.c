/* test_generators.c - the sources that draw data: where inputs lie, how much noise there is, whose values they are. */
#include "loading.h"

#include <math.h>

#include "plugins/shared/bnn/bnn.h"
#include "plugins/source/nomu/functions.c"

/* Mean and variance of a column of inputs. */
static void moments(const tutti_split *split, size_t column, double *mean, double *variance) {
  size_t rows = tutti_split_rows(split), columns = (size_t)tutti_split_input(split).channels;
  *mean = *variance = 0;
  for (size_t i = 0; i < rows; i++)
    *mean += (double)tutti_split_inputs(split)[i * columns + column] / (double)rows;
  for (size_t i = 0; i < rows; i++) {
    double from = (double)tutti_split_inputs(split)[i * columns + column] - *mean;
    *variance += from * from / (double)rows;
  }
}

/* Uniform on [low, high]: by the ends, and by the first two moments within four standard errors. */
static void is_uniform(const tutti_split *split, size_t column, double low, double high) {
  size_t rows = tutti_split_rows(split), columns = (size_t)tutti_split_input(split).channels;
  double mean, variance, width = high - low, least = high, most = low;
  moments(split, column, &mean, &variance);
  for (size_t i = 0; i < rows; i++) {
    least = fmin(least, (double)tutti_split_inputs(split)[i * columns + column]);
    most = fmax(most, (double)tutti_split_inputs(split)[i * columns + column]);
  }
  assert_true(least >= low && least < low + 0.05 * width && most <= high && most > high - 0.05 * width);
  assert_true(fabs(mean - (low + high) / 2) < 4 * width / sqrt(12 * (double)rows));
  assert_true(fabs(variance / (width * width / 12) - 1) < 4 * sqrt(0.8 / (double)rows));
}

/* --- nomu --------------------------------------------------------------------------------------------------------- */

#define NOISY_TEST                                                                                                     \
  "plugin=nomu\nfunction=square\nrows=4000\nnoise=0.09\ntest_noise=0.25\ntest_points=4000\nsplit=1 0 "                 \
  "0\nstandardise=no\n"

static double noise_of(const tutti_split *split) {
  double sum = 0, rows = (double)tutti_split_rows(split);
  for (size_t i = 0; i < tutti_split_rows(split); i++) {
    double x = (double)tutti_split_inputs(split)[i];
    double from = tutti_split_raw_targets(split)[i] - f_square(&x);
    sum += from * from / rows;
  }
  return sum;
}

/* `noise` is a variance, and of rows for training alone; `test_noise` is that of test rows and changes no other. */
static void nomu_noise(void **state) {
  (void)state;
  loads("plugin=nomu\nfunction=square\nrows=4000\nnoise=0.09\nsplit=1 0 0\nstandardise=no");
  is_uniform(split_of("train"), 0, -1, 1);
  assert_true(fabs(noise_of(split_of("train")) / 0.09 - 1) < 0.1);
  assert_true(noise_of(split_of("test")) < 1e-10);
  double first = tutti_split_raw_targets(split_of("train"))[0];
  for (int scattered = 0; scattered < 2; scattered++) {
    loads(scattered ? NOISY_TEST "test_inputs=uniform" : NOISY_TEST "test_inputs=grid");
    assert_true(fabs(noise_of(split_of("test")) / 0.25 - 1) < 0.1);
    assert_true(tutti_split_raw_targets(split_of("train"))[0] == first);
  }
}

/* Test points may be drawn: in the same box, as many as asked for, in two dimensions too, and none of the others. */
static void nomu_test_inputs(void **state) {
  (void)state;
  loads("plugin=nomu\nfunction=camel2d\nrows=2000\nnoise=1\nbox=-1.5 0.5\ntest_inputs=uniform\ntest_points=2000\n"
        "split=1 0 0\nstandardise=no");
  const tutti_split *train = split_of("train"), *test = split_of("test");
  assert_int_equal(tutti_split_rows(test), 2000);
  for (size_t column = 0; column < 2; column++) {
    is_uniform(train, column, -1.5, 0.5);
    is_uniform(test, column, -1.5, 0.5);
  }
  assert_true(tutti_split_inputs(train)[0] != tutti_split_inputs(test)[0]);
  double at[2], value = tutti_split_raw_targets(test)[7];
  at[0] = (double)tutti_split_inputs(test)[14];
  at[1] = (double)tutti_split_inputs(test)[15];
  assert_true(fabs(f_camel2d(at) - value) < 1e-5);
}

/* --- bnn ---------------------------------------------------------------------------------------------------------- */

/* The targets of a split are the values of the function of that seed and deviation. */
static void is_of(const tutti_split *split, size_t dimensions, double deviation, uint64_t seed) {
  enum { SOME = 5 };
  double x[SOME * 10], values[SOME];
  struct bnn *bnn;
  assert_true(dimensions <= 10 && tutti_split_rows(split) >= SOME);
  for (size_t i = 0; i < SOME * dimensions; i++)
    x[i] = (double)tutti_split_inputs(split)[i];
  assert_int_equal(bnn_create(context, dimensions, deviation, seed, &bnn), TUTTI_OK);
  assert_int_equal(bnn_values(context, bnn, SOME, x, values), TUTTI_OK);
  for (size_t i = 0; i < SOME; i++)
    assert_true(fabs(values[i] - tutti_split_raw_targets(split)[i]) < 1e-4 * fmax(1, fabs(values[i])));
  bnn_destroy(bnn);
}

/* 8 rows and 100 test rows for each dimension, and the deviation of Table 9. */
static void bnn_defaults(void **state) {
  (void)state;
  loads("plugin=bnn\ndimensions=2\nsplit=1 0 0\nstandardise=no");
  assert_int_equal(tutti_split_rows(split_of("train")), 16);
  assert_int_equal(tutti_split_rows(split_of("test")), 200);
  is_of(split_of("train"), 2, 0.102, 1);
  is_of(split_of("test"), 2, 0.102, 1);
  is_uniform(split_of("test"), 1, -1, 1);
  loads("plugin=bnn\ndimensions=2\ndeviation=0.05\nsplit=1 0 0\nstandardise=no\nsplit_seed=9");
  is_of(split_of("train"), 2, 0.05, 9);
  refuses("data.deviation", "plugin=bnn\ndimensions=3\nsplit=1 0 0");
}

/* Near a flat manifold: five dimensions are wide, and the others narrow. */
static void bnn_gaussian(void **state) {
  enum { ROWS = 400 };
  double wide = 0, narrow = 0, mean, variance, beyond = 0;
  (void)state;
  loads("plugin=bnn\ndimensions=10\ninputs=gaussian\nrows=400\ntest_points=5\nsplit=1 0 0\nstandardise=no");
  const tutti_split *train = split_of("train");
  assert_int_equal(tutti_split_rows(train), ROWS);
  for (size_t column = 0; column < 10; column++) {
    moments(train, column, &mean, &variance);
    *(column < 5 ? &wide : &narrow) += variance / 5;
    assert_true(fabs(mean) < 4 * sqrt(variance / ROWS));
    for (size_t i = 0; i < ROWS; i++)
      beyond += fabs((double)tutti_split_inputs(train)[10 * i + column] - mean) > 1.96 * sqrt(variance);
  }
  assert_true(fabs(wide / 0.15 - 1) < 0.12 && fabs(narrow / 0.001 - 1) < 0.12);
  assert_true(fabs(beyond / (10 * ROWS) - 0.05) < 0.015);
  is_of(train, 10, 0.084, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {data_test(nomu_noise), data_test(nomu_test_inputs), data_test(bnn_defaults),
                                     data_test(bnn_gaussian)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
