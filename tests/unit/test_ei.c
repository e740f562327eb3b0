/* Acquisition ei against golden numbers, with its edges, and its derivatives against golden numbers and differences. */
#include "golden.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "plugins/acquisition/ei.c"

struct result {
  double worth, by_mean, by_deviation;
};

static struct result at(bool in_logs, double xi, double best, double mean, double deviation) {
  struct ei_config config = {.xi = xi, .log = in_logs};
  struct tutti_standing standing = {.size = sizeof(standing), .best = best};
  struct result r;
  assert_int_equal(
      acquisition_moments_ei(&config, NULL, &standing, 1, &mean, &deviation, &r.worth, &r.by_mean, &r.by_deviation),
      TUTTI_OK);
  return r;
}

/* A relative error of u = (best - mean)/σ of a rounding is one of u² roundings in EI: hence the tolerance 1e-15 (4 +
   u²), and roundings of the golden moments themselves are of that order, too. */
static void test_golden(void **state) {
  (void)state;
  json_t *gp = golden_load("gp_matern52"), *root = golden_load("ei_values");
  for (size_t which = 0; which < 2; which++) {
    const json_t *moments = golden_at(golden_get(gp, "problems"), which);
    const json_t *expected = golden_at(golden_get(root, "problems"), which);
    size_t count, numbers;
    double *mean = golden_doubles(golden_get(moments, "post_mean"), &count);
    double *deviation = golden_doubles(golden_get(moments, "post_std_latent"), NULL);
    double *mean_slopes = golden_doubles(golden_get(moments, "dpost_mean_dx"), &numbers);
    double *variance_slopes = golden_doubles(golden_get(moments, "dpost_var_dx"), NULL);
    double *ei = golden_doubles(golden_get(expected, "ei_min"), NULL);
    double *log_ei = golden_doubles(golden_get(expected, "log_ei_min"), NULL);
    double *with_xi = golden_doubles(golden_get(expected, "ei_min_with_xi"), NULL);
    double *slopes = golden_doubles(golden_get(expected, "dei_dx"), NULL);
    double best = golden_number_of(expected, "best_min_y");
    for (size_t i = 0, d = numbers / count; i < count; i++) {
      double u = (best - mean[i]) / deviation[i], error = 1e-15 * (4 + u * u);
      struct result plain = at(false, 0, best, mean[i], deviation[i]);
      assert_close(plain.worth, ei[i], error, 0);
      assert_close(at(true, 0, best, mean[i], deviation[i]).worth, log_ei[i], 0, error);
      assert_close(at(false, 0.01, best, mean[i], deviation[i]).worth, with_xi[i], 2 * error, 0);
      for (size_t k = 0; k < d; k++) {
        double slope = plain.by_mean * mean_slopes[i * d + k] +
                       plain.by_deviation * variance_slopes[i * d + k] / (2 * deviation[i]);
        assert_close(slope, slopes[i * d + k], 1e-10 + 2 * error, 1e-300);
      }
    }
    free(mean), free(deviation), free(mean_slopes), free(variance_slopes), free(ei), free(log_ei), free(with_xi);
    free(slopes);
  }
  json_decref(gp);
  json_decref(root);
}

/* Points around the incumbent, where EI is neither nothing nor certain. */
static void test_near_the_incumbent(void **state) {
  (void)state;
  json_t *root = golden_load("ei_values");
  for (size_t which = 0; which < 2; which++) {
    const json_t *problem = golden_at(golden_get(root, "problems"), which);
    const json_t *near = golden_get(problem, "extra_near_incumbent");
    size_t count;
    double *mean = golden_doubles(golden_get(near, "post_mean"), &count);
    double *deviation = golden_doubles(golden_get(near, "post_std_latent"), NULL);
    double *ei = golden_doubles(golden_get(near, "ei_min"), NULL), best = golden_number_of(problem, "best_min_y");
    for (size_t i = 0; i < count; i++) {
      double u = (best - mean[i]) / deviation[i], error = 1e-15 * (4 + u * u);
      assert_close(at(false, 0, best, mean[i], deviation[i]).worth, ei[i], error, 0);
      assert_close(at(true, 0, best, mean[i], deviation[i]).worth, log(ei[i]), error, error);
    }
    free(mean), free(deviation), free(ei);
  }
  json_decref(root);
}

/* Far tails, and deviations of 0 and next to it. log EI = -inf is the least finite number here: worths are finite. */
static void test_edges(void **state) {
  (void)state;
  json_t *root = golden_load("ei_values"), *cases = golden_get(root, "edge_cases_mpmath50");
  assert_int_equal(json_array_size(cases), 16);
  for (size_t i = 0; i < 16; i++) {
    const json_t *edge = golden_at(cases, i);
    double mean = golden_number_of(edge, "mu"), deviation = golden_number_of(edge, "sigma");
    double best = golden_number_of(edge, "best"), log_ei = golden_number_of(edge, "log_ei");
    double u = deviation > 0 ? (best - mean) / deviation : 0, error = 1e-15 * (4 + u * u);
    struct result plain = at(false, 0, best, mean, deviation), logs = at(true, 0, best, mean, deviation);
    /* Numbers below 1e-308 have lost digits; log EI of half u² is right to a rounding of itself. */
    assert_close(plain.worth, golden_number_of(edge, "ei"), error, 5e-324);
    if (isfinite(log_ei))
      assert_close(logs.worth, log_ei, 1e-15, 1e-15);
    else
      assert_true(logs.worth == -DBL_MAX);
    assert_true(isfinite(logs.worth) && isfinite(logs.by_mean) && isfinite(logs.by_deviation));
    assert_true(isfinite(plain.worth) && isfinite(plain.by_mean) && isfinite(plain.by_deviation));
  }
  json_decref(root);
}

static void test_finite_whatever_comes(void **state) {
  static const double numbers[] = {0, 5e-324, 1e-200, 1e-10, 1, 1e10, 1e200, 1e300};
  (void)state;
  for (int in_logs = 0; in_logs < 2; in_logs++)
    for (int m = -8; m < 8; m++)
      for (int s = 0; s < 8; s++)
        for (int b = -8; b < 9; b++) {
          double mean = m < 0 ? -numbers[-m - 1] : numbers[m];
          double best = b == 8 ? INFINITY : b < 0 ? -numbers[-b - 1] : numbers[b];
          struct result r = at(in_logs, 0, best, mean, numbers[s]);
          assert_true(isfinite(r.worth) && isfinite(r.by_mean) && isfinite(r.by_deviation));
        }
}

/* Both branches of the tail meet at u = -2, and derivatives agree with differences everywhere. */
static void test_derivatives(void **state) {
  (void)state;
  for (int in_logs = 0; in_logs < 2; in_logs++)
    for (double u = -12; u < 6; u += 0.2371) {
      double s = 0.7, mean = -u * s, h = 1e-6;
      struct result r = at(in_logs, 0, 0, mean, s);
      double by_mean = (at(in_logs, 0, 0, mean + h, s).worth - at(in_logs, 0, 0, mean - h, s).worth) / (2 * h);
      double by_deviation = (at(in_logs, 0, 0, mean, s + h).worth - at(in_logs, 0, 0, mean, s - h).worth) / (2 * h);
      assert_close(r.by_mean, by_mean, 1e-6, 1e-8);
      assert_close(r.by_deviation, by_deviation, 1e-6, 1e-8);
    }
  assert_close(normal_tail(-2 - 1e-9).log_h, normal_tail(-2 + 1e-9).log_h, 1e-8, 0);
  assert_close(normal_tail(-2 - 1e-9).density, normal_tail(-2 + 1e-9).density, 1e-7, 0);
  assert_close(normal_tail(-2 - 1e-9).distribution, normal_tail(-2 + 1e-9).distribution, 1e-7, 0);
}

static void test_without_a_best_value(void **state) {
  (void)state;
  assert_true(at(true, 0, INFINITY, 5, 2).worth > at(true, 0, INFINITY, -5, 1).worth);
  assert_true(at(true, 0, INFINITY, 5, 2).by_mean == 0);
}

static void test_life(void **state) {
  (void)state;
  tutti_context *context = NULL;
  struct ei_config config = {.log = true};
  double mean = 0, deviation = 1, worth;
  struct tutti_standing standing = {.size = sizeof(standing), .best = 0};
  assert_int_equal(tutti_context_create(&context), TUTTI_OK);
  assert_int_equal(ei_ops.moments(&config, context, &standing, 1, &mean, &deviation, &worth, NULL, NULL), TUTTI_OK);
  assert_close(worth, -0.91893853320467274178, 1e-15, 0);
  tutti_context_destroy(context);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_golden),      cmocka_unit_test(test_near_the_incumbent),
      cmocka_unit_test(test_edges),       cmocka_unit_test(test_finite_whatever_comes),
      cmocka_unit_test(test_derivatives), cmocka_unit_test(test_without_a_best_value),
      cmocka_unit_test(test_life),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
