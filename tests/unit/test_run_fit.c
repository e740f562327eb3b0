/* test_run_fit.c - the statistics of repeats: medians of even and odd numbers, and both intervals, against what their
   distributions say. */
#include "engine/run/run_fit.c"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { MOST = 19 };

/* The statistics ask for neither. */
json_t *tutti_run_measures(const struct tutti_record *record) {
  (void)record;
  return NULL;
}

const struct metric_entry *tutti_fit_metric(const char *name) {
  (void)name;
  return NULL;
}

/* Statistics of 1, 4, 9, ..., count^2, in an order of their own. */
static json_t *statistics_of_squares(size_t count) {
  double values[MOST], sorted[MOST], medians[DRAWS];
  struct repeats repeats = {.count = count, .values = values, .sorted = sorted, .medians = medians};
  json_t *metric = json_object();
  for (size_t i = 0; i < count; i++) {
    double root = (double)((i + count / 2) % count + 1);
    values[i] = root * root;
  }
  add_statistics(&repeats, metric);
  return metric;
}

static double number(const json_t *metric, const char *name) {
  return json_number_value(json_object_get(metric, name));
}

static double end(const json_t *metric, const char *name, size_t which) {
  return json_number_value(json_array_get(json_object_get(metric, name), which));
}

static void test_medians(void **state) {
  static const double expected[] = {1, 2.5, 4, 6.5, 9, 12.5};
  (void)state;
  for (size_t count = 1; count <= 6; count++) {
    json_t *metric = statistics_of_squares(count);
    assert_true(number(metric, "median") == expected[count - 1]);
    json_decref(metric);
  }
}

/* 1, 4 and 9: mean 14/3, variance 49/3 with N - 1; 1.96 deviations of the mean. */
static void test_mean(void **state) {
  (void)state;
  json_t *metric = statistics_of_squares(3);
  assert_true(fabs(number(metric, "value") - 14 / 3.0) < 1e-12);
  for (size_t i = 0; i < 2; i++)
    assert_true(fabs(end(metric, "interval", i) - (14 + (i ? 1 : -1) * 1.959963984540054 * 7) / 3.0) < 1e-9);
  json_decref(metric);
}

/* The chance that of `count` values, drawn with replacement, the median is at most the k-th smallest. */
static double chance_at_most(size_t count, size_t k) {
  double share = (double)k / (double)count, sum = 0;
  for (size_t i = count / 2 + 1; i <= count; i++)
    sum += exp(lgamma((double)count + 1) - lgamma((double)i + 1) - lgamma((double)(count - i) + 1)) *
           pow(share, (double)i) * pow(1 - share, (double)(count - i));
  return sum;
}

/* The medians of bootstraps have a distribution in closed form; the interval leaves 2.5 % of it on each side. */
static void test_bootstrap_interval(void **state) {
  (void)state;
  static const size_t counts[] = {7, 11, 19};
  for (size_t i = 0; i < 3; i++) {
    size_t count = counts[i], low = 1, high = 1;
    json_t *metric = statistics_of_squares(count);
    while (chance_at_most(count, low) < 0.025)
      low++;
    while (chance_at_most(count, high) < 0.975)
      high++;
    /* A thousand bootstraps tell these from their neighbours. */
    assert_true(fabs(chance_at_most(count, low) - 0.025) > 0.01 && fabs(chance_at_most(count, low - 1) - 0.025) > 0.01);
    assert_true(end(metric, "median_interval", 0) == (double)(low * low));
    assert_true(end(metric, "median_interval", 1) == (double)(high * high));
    json_decref(metric);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_medians), cmocka_unit_test(test_mean),
                                     cmocka_unit_test(test_bootstrap_interval)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
