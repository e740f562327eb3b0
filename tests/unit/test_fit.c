/* The closed forms of uncertainty bounds, gaps in a data set, functions from a Bayesian network's prior, and
   pictures. */
#include "golden.h"

#include <setjmp.h>
#include <stdarg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engine/evaluation/bands_impl.h"
#include "engine/fit/svg.c"
#include "plugins/shared/bnn/bnn.h"

static tutti_context *context;

static void close_to(double got, double expected, double relative) {
  if (!(fabs(got - expected) <= relative * fmax(1, fabs(expected))))
    fail_msg("expected %.17g, found %.17g", expected, got);
}

/* --- bands -------------------------------------------------------------------------------------------------------- */

static void bands_meet_golden_numbers(void **state) {
  (void)state;
  json_t *root = golden_load("metrics"), *golden = golden_get(root, "nomu_auc_nll");
  size_t count;
  double *y = golden_doubles(golden_get(golden, "y"), &count);
  double *mean = golden_doubles(golden_get(golden, "mean"), NULL),
         *s = golden_doubles(golden_get(golden, "sigma"), NULL);
  struct tutti_bands sums = {0};
  for (size_t i = 0; i < count; i++)
    tutti_bands_add(&sums, mean[i], s[i], y[i]);
  double constant = 0.5 * log(2 * M_PI);
  close_to(tutti_bands_area(&sums), golden_number_of(golden, "AUC_fine_grid_limit = 2*mean(sigma)*mean(|y-m|/sigma)"),
           1e-12);
  close_to(tutti_bands_scale(&sums), golden_number_of(golden, "c_opt_exact=sqrt(mean(((y-m)/sigma)^2))"), 1e-12);
  close_to(tutti_bands_least_nll(&sums) - constant,
           golden_number_of(golden, "NLLmin_exact = mean(log sigma)+log(c_opt)+1/2"), 1e-12);
  /* The NLL as the paper has it, term by term, at any c; no c has less than the least. */
  for (double c = 0.5; c < 8; c *= 1.1) {
    double nll = 0;
    for (size_t i = 0; i < count; i++)
      nll += (log(c * s[i]) + pow((y[i] - mean[i]) / (c * s[i]), 2) / 2 + constant) / (double)count;
    close_to(tutti_bands_nll(&sums, c), nll, 1e-12);
    assert_true(nll >= tutti_bands_least_nll(&sums));
  }
  json_t *points = golden_get(golden, "point_values");
  for (size_t i = 0; i < json_array_size(points); i++)
    close_to(tutti_bands_width(&sums, golden_number_of(golden_at(points, i), "c")),
             golden_number_of(golden_at(points, i), "MW"), 1e-12);
  free(y);
  free(mean);
  free(s);
  json_decref(root);
}

/* A model that is certain is finitely bad. */
static void bands_stay_finite(void **state) {
  (void)state;
  struct tutti_bands sums = {0};
  tutti_bands_add(&sums, 0, 0, 1);
  assert_true(isfinite(tutti_bands_nll(&sums, 1)) && isfinite(tutti_bands_least_nll(&sums)));
}

/* --- functions of a Bayesian network ------------------------------------------------------------------------------ */

/* The paper chooses its deviations so that the variance of a function over [-1, 1]^d is about 1. */
static void a_bnn_has_the_variance_of_the_paper(void **state) {
  enum { FUNCTIONS = 6, POINTS = 32 };
  static const size_t dimensions[] = {1, 2, 5};
  (void)state;
  for (size_t k = 0; k < 3; k++) {
    size_t d = dimensions[k];
    double variance = 0;
    for (uint64_t seed = 0; seed < FUNCTIONS; seed++) {
      struct tutti_random random;
      struct bnn *bnn;
      double x[POINTS * 5], values[POINTS], again[2], mean = 0;
      tutti_random_init(&random, seed, "points", d);
      for (size_t i = 0; i < POINTS * d; i++)
        x[i] = 2 * tutti_random_uniform(&random) - 1;
      assert_int_equal(bnn_create(context, d, bnn_deviation(d), seed, &bnn), TUTTI_OK);
      assert_int_equal(bnn_values(context, bnn, POINTS, x, values), TUTTI_OK);
      /* Values do not depend on what they are asked with. */
      assert_int_equal(bnn_values(context, bnn, 2, x + 10 * d, again), TUTTI_OK);
      assert_memory_equal(again, values + 10, sizeof again);
      for (size_t i = 0; i < POINTS; i++)
        mean += values[i] / POINTS;
      for (size_t i = 0; i < POINTS; i++)
        variance += (values[i] - mean) * (values[i] - mean) / POINTS / FUNCTIONS;
      bnn_destroy(bnn);
    }
    if (!(variance > 0.4 && variance < 2.5))
      fail_msg("in %zu dimensions: expected a variance of about 1, found %g", d, variance);
  }
}

/* One hidden unit after the other, in double precision. */
static double reference(size_t d, double deviation, uint64_t seed, const double *x) {
  static const size_t units[] = {1024, 2048, 1024, 1};
  double *in = malloc(2048 * sizeof *in), *out = malloc(2048 * sizeof *out);
  size_t inputs = d;
  memcpy(in, x, d * sizeof *in);
  for (size_t l = 0; l < 4; l++) {
    size_t count = (inputs + 1) * units[l];
    float *weights = malloc(count * sizeof *weights);
    struct tutti_random random;
    tutti_random_init(&random, seed, "bnn weights", l);
    tutti_random_fill_normal(&random, count, 0, (float)deviation, weights);
    for (size_t u = 0; u < units[l]; u++) {
      /* tiles of 16 units, input after input, the bias last */
      size_t tile = units[l] > 1 ? 16 : 1;
      const float *own = weights + u / tile * tile * (inputs + 1) + u % tile;
      out[u] = (double)own[inputs * tile];
      for (size_t i = 0; i < inputs; i++)
        out[u] += in[i] * (double)own[i * tile];
      if (l < 3)
        out[u] = fmax(out[u], 0);
    }
    memcpy(in, out, units[l] * sizeof *in);
    inputs = units[l];
    free(weights);
  }
  double value = in[0];
  free(in);
  free(out);
  return value;
}

static void a_bnn_is_its_network(void **state) {
  const double x[] = {0.3, -0.8, 0.1};
  struct bnn *bnn;
  double value;
  (void)state;
  assert_int_equal(bnn_create(context, 3, 0.1, 7, &bnn), TUTTI_OK);
  assert_int_equal(bnn_values(context, bnn, 1, x, &value), TUTTI_OK);
  close_to(value, reference(3, 0.1, 7, x), 1e-4);
  bnn_destroy(bnn);
}

/* --- pictures ----------------------------------------------------------------------------------------------------- */

static void svg_escapes_and_cuts(void **state) {
  (void)state;
  struct tutti_text out = tutti_text_begin(context);
  char *text;
  tutti_svg_begin(&out, 10, 10, "a<b & \"c\"\x01");
  const struct tutti_svg_frame frame = {.width = 10, .height = 10, .x = {0, 1, "x"}, .y = {0, 1e-9, "y"}};
  const double x[] = {0, 1}, y[] = {0, 1e30};
  tutti_svg_frame_begin(&out, &frame, 0);
  tutti_svg_line(&out, &frame, TUTTI_SVG_MEAN, 2, x, y);
  tutti_svg_frame_end(&out, &frame);
  tutti_svg_end(&out);
  assert_int_equal(tutti_text_take(&out, &text), TUTTI_OK);
  assert_non_null(strstr(text, "<title>a&#60;b &#38; &#34;c&#34;</title>"));
  assert_non_null(strstr(text, "points=\"0.00,10.00 10.00,-10000.00 \""));
  assert_null(strstr(text, "nan"));
  tutti_free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(bands_meet_golden_numbers), cmocka_unit_test(bands_stay_finite),
                                     cmocka_unit_test(a_bnn_has_the_variance_of_the_paper),
                                     cmocka_unit_test(a_bnn_is_its_network), cmocka_unit_test(svg_escapes_and_cuts)};
  if (tutti_context_create(&context) != TUTTI_OK)
    return 1;
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  tutti_context_destroy(context);
  return failed;
}
