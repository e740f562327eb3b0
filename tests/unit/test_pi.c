/* Acquisition pi against golden numbers, its derivatives against differences, and its edges. */
#include "golden.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "plugins/acquisition/pi.c"

struct result {
  double worth, by_mean, by_deviation;
};

static struct result at(bool in_logs, double xi, double best, double mean, double deviation) {
  struct pi_config config = {.xi = xi, .log = in_logs};
  struct tutti_standing standing = {.size = sizeof(standing), .best = best};
  struct result r;
  assert_int_equal(
      acquisition_moments_pi(&config, NULL, &standing, 1, &mean, &deviation, &r.worth, &r.by_mean, &r.by_deviation),
      TUTTI_OK);
  return r;
}

/* A rounding of u is u² roundings of Φ far below the middle. */
static void test_golden(void **state) {
  (void)state;
  json_t *gp = golden_load("gp_matern52"), *root = golden_load("ei_values");
  for (size_t which = 0; which < 2; which++) {
    const json_t *moments = golden_at(golden_get(gp, "problems"), which);
    const json_t *expected = golden_at(golden_get(root, "problems"), which);
    size_t count;
    double *mean = golden_doubles(golden_get(moments, "post_mean"), &count);
    double *deviation = golden_doubles(golden_get(moments, "post_std_latent"), NULL);
    double *probability = golden_doubles(golden_get(expected, "prob_improvement"), NULL);
    double best = golden_number_of(expected, "best_min_y");
    for (size_t i = 0; i < count; i++) {
      double u = (best - mean[i]) / deviation[i], error = 1e-15 * (4 + u * u);
      assert_close(at(false, 0, best, mean[i], deviation[i]).worth, probability[i], error, 1e-300);
      assert_close(at(true, 0, best, mean[i], deviation[i]).worth, log(probability[i]), error, error);
      assert_close(at(false, 0.25, best + 0.25, mean[i], deviation[i]).worth, probability[i], 10 * error, 1e-300);
    }
    free(mean), free(deviation), free(probability);
  }
  json_decref(gp);
  json_decref(root);
}

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
}

/* Far below: log Φ(-40) = -804.608442 (Φ itself is 0 in a double); certainty; no best value. */
static void test_edges(void **state) {
  (void)state;
  assert_close(at(true, 0, 0, 40, 1).worth, -804.60844201375379, 1e-13, 0);
  assert_true(at(true, 0, 0, 1, 0).worth == -DBL_MAX && at(false, 0, 0, 1, 0).worth == 0);
  assert_true(at(true, 0, 1, 0, 0).worth == 0 && at(false, 0, 1, 0, 0).worth == 1);
  assert_true(at(true, 0, 0, 0, 0).worth == -DBL_MAX); /* as good as the best is no improvement */
  assert_true(at(true, 0, INFINITY, 0, 1).worth == 0 && at(false, 0, INFINITY, 0, 1).worth == 1);
  static const double numbers[] = {0, 5e-324, 1e-200, 1e-10, 1, 1e10, 1e200, 1e300};
  for (int in_logs = 0; in_logs < 2; in_logs++)
    for (int m = 0; m < 16; m++)
      for (int s = 0; s < 8; s++) {
        struct result r = at(in_logs, 0, 1, m < 8 ? numbers[m] : -numbers[m - 8], numbers[s]);
        assert_true(isfinite(r.worth) && isfinite(r.by_mean) && isfinite(r.by_deviation));
      }
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_golden),
      cmocka_unit_test(test_derivatives),
      cmocka_unit_test(test_edges),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
