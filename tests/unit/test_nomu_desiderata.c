/* test_nomu_desiderata.c - what NOMU's uncertainty has to be like (Heiss et al., ICML 2022, Section 3.1 and Appendix
   D), on trained networks: D1 not negative, D2 small at the observations, D3 growing away from them, D4 growing faster
   where the mean learnt that it matters, D5 vanishing with more observations. And the extensions of Appendix C: noise
   in the data, and bounds. Each threshold fails if the term of the loss that is to bring it about is dropped. */
#include "toy.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

enum { MOST = 64, GRID = 101 };

/* A surrogate nomu over plain reals in [-1, 1], small enough for a second. */
static void begin(struct toy *toy, int dimensions) {
  char text[256] = "";
  for (int k = 0; k < dimensions; k++)
    (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%sx%d = uniform -1 1", k ? "\n" : "", k);
  toy_create(toy, 1, 1, 1, text);
  toy_put(toy, "surrogate", TUTTI_KIND_SURROGATE, "nomu");
  toy_set(toy, "surrogate", "units", "64 64");
  toy_set(toy, "surrogate", "uncertainty_units", "64 64");
  toy_set(toy, "surrogate", "pi_sqr", "0.1");
  toy_set(toy, "surrogate", "l_min", "0.001");
  toy_set(toy, "surrogate", "artificial", "100");
  toy_set(toy, "surrogate", "margin", "0.05");
  toy_set(toy, "surrogate", "values", "none");
  toy_set(toy, "trainer", "initialiser_range", "0.2");
  toy_set(toy, "trainer", "learning_rate", "0.003");
  toy_set(toy, "trainer", "epochs", "1000");
}

static tutti_surrogate *fitted(struct toy *toy, uint64_t seed, int dimensions, size_t count, const double *points,
                               const double *values) {
  tutti_surrogate *surrogate;
  double unit[2 * MOST];
  struct tutti_surrogate_setup setup = {.size = sizeof setup,
                                        .host = toy->host,
                                        .seed = seed,
                                        .dimension = (size_t)dimensions,
                                        .domain = toy->hyperparameters};
  TOY_OK(toy, tutti_surrogate_create(toy->context, toy->host, "surrogate", &setup, &surrogate));
  for (size_t i = 0; i < count * (size_t)dimensions; i++)
    unit[i] = (points[i] + 1) / 2;
  struct tutti_points given = {.size = sizeof given, .count = count, .dimension = (size_t)dimensions, .vectors = unit};
  TOY_OK(toy, tutti_surrogate_fit(toy->context, surrogate, &given, values, NULL));
  return surrogate;
}

/* The deviation at a point of [-1, 1]^d. */
static double deviation_at(struct toy *toy, tutti_surrogate *surrogate, int dimensions, const double *x, double *mean) {
  double unit[2], deviation, there;
  for (int k = 0; k < dimensions; k++)
    unit[k] = (x[k] + 1) / 2;
  struct tutti_points point = {.size = sizeof point, .count = 1, .dimension = (size_t)dimensions, .vectors = unit};
  TOY_OK(toy, tutti_surrogate_predict(toy->context, surrogate, &point, &there, &deviation));
  if (mean)
    *mean = there;
  return deviation;
}

static double on_line(struct toy *toy, tutti_surrogate *surrogate, double x) {
  return deviation_at(toy, surrogate, 1, &x, NULL);
}

static double forrester(double x) { return sin(3 * x) + 0.3 * x; }

/* D1, D2, D3: eight observations with a gap from -0.2 to 0.6 and none beyond 0.8. */
static void test_line(void **state) {
  (void)state;
  static const double x[] = {-0.9, -0.75, -0.6, -0.45, -0.3, -0.2, 0.6, 0.8};
  double y[8], at = 0, gaps = 0, least = INFINITY;
  struct toy toy;
  begin(&toy, 1);
  for (int i = 0; i < 8; i++)
    y[i] = forrester(x[i]);
  tutti_surrogate *surrogates[3], *surrogate;
  for (uint64_t k = 0; k < 3; k++) { /* one fit alone is near the bound of D2 by chance */
    double largest = 0;
    surrogates[k] = fitted(&toy, 3 + k, 1, 8, x, y);
    for (int i = 0; i < 8; i++)
      largest = fmax(largest, on_line(&toy, surrogates[k], x[i]));
    at += largest;
    gaps += on_line(&toy, surrogates[k], 0.2);
  }
  assert_true(at < 0.25 * gaps); /* D2: small at the observations, without pi_sqr it is not */
  surrogate = surrogates[0];
  for (int i = 0; i < GRID; i++)
    least = fmin(least, on_line(&toy, surrogate, -1 + 2 * i / (GRID - 1.0)));
  assert_true(least >= 0.99e-3); /* D1: never below l_min */
  const double gap = on_line(&toy, surrogate, 0.2), between = on_line(&toy, surrogate, -0.525);
  assert_true(gap > 0.05);        /* D3: without pi_exp nothing drives it up */
  assert_true(gap > 2 * between); /* D3: more in the wide gap than in a narrow one */
  assert_true(on_line(&toy, surrogate, 0.2) > on_line(&toy, surrogate, 0.5) &&
              on_line(&toy, surrogate, 0.5) > on_line(&toy, surrogate, 0.6)); /* D3: it grows with the distance */
  assert_true(on_line(&toy, surrogate, 1) > on_line(&toy, surrogate, 0.8));   /* and outwards */
  for (size_t k = 0; k < 3; k++)
    tutti_surrogate_destroy(surrogates[k]);
  toy_destroy(&toy);
}

/* D2 and D3 come from their terms: with hardly any weight, the property is gone. */
static void test_terms(void **state) {
  (void)state;
  static const double x[] = {-0.9, -0.75, -0.6, -0.45, -0.3, -0.2, 0.6, 0.8};
  double y[8];
  for (int i = 0; i < 8; i++)
    y[i] = forrester(x[i]);
  for (int term = 0; term < 2; term++) {
    struct toy toy;
    double at = 0;
    begin(&toy, 1);
    toy_set(&toy, "surrogate", term ? "pi_exp" : "pi_sqr", "1e-9");
    tutti_surrogate *surrogate = fitted(&toy, 3, 1, 8, x, y);
    for (int i = 0; i < 8; i++)
      at = fmax(at, on_line(&toy, surrogate, x[i]));
    double gap = on_line(&toy, surrogate, 0.2);
    if (term)
      assert_true(gap < 0.05);
    else
      assert_true(at > 0.25 * gap);
    tutti_surrogate_destroy(surrogate);
    toy_destroy(&toy);
  }
}

/* D4: the step of Eq. 82 on a 4 x 4 grid; the mean depends on the first coordinate alone. With a small network for the
   uncertainty, which has to use what the mean's network learnt, it is larger along the step than along the other middle
   line (Figure 19d). */
static double ratio_of_directions(const char *connection) {
  double x[32], y[16], first = 0, second = 0;
  struct toy toy;
  begin(&toy, 2);
  toy_set(&toy, "surrogate", "uncertainty_units", "4");
  toy_set(&toy, "surrogate", "uncertainty_l2", "1e-4");
  toy_set(&toy, "surrogate", "stop_gradient", connection);
  for (int i = 0; i < 16; i++) {
    x[2 * i] = -0.75 + 0.5 * (i % 4);
    x[2 * i + 1] = -0.75 + 0.5 * (i / 4);
    y[i] = x[2 * i] < 0 ? -1 : 1;
  }
  tutti_surrogate *surrogate = fitted(&toy, 3, 2, 16, x, y);
  /* Between the two middle columns of the grid, where the mean steps, and between its two middle rows, where it does
     not: the same distances to the observations. */
  for (int i = 0; i < GRID; i++) {
    double along = -0.95 + 1.9 * i / (GRID - 1.0), step[2] = {0, along}, flat[2] = {along, 0};
    first += deviation_at(&toy, surrogate, 2, step, NULL);
    second += deviation_at(&toy, surrogate, 2, flat, NULL);
  }
  tutti_surrogate_destroy(surrogate);
  toy_destroy(&toy);
  return first / second;
}

static void test_metric_learning(void **state) {
  (void)state;
  double through = ratio_of_directions("none"), stopped = ratio_of_directions("connection");
  if (!(through > 1.4))
    fail_msg("the uncertainty at the step is only %g times that of the other line", through);
  if (!(through > 1.2 * stopped)) /* where the two networks share what they learn, the metric is learnt */
    fail_msg("the uncertainty at the step is %g times that of the other line, with a stop %g times", through, stopped);
}

/* D5: the mean uncertainty over the line falls with more observations. */
static void test_vanishing(void **state) {
  (void)state;
  double mean[2] = {0, 0};
  for (int many = 0; many < 2; many++) {
    size_t count = many ? 33 : 5;
    double x[MOST], y[MOST];
    struct toy toy;
    begin(&toy, 1);
    for (size_t i = 0; i < count; i++) {
      x[i] = -1 + 2 * (double)i / (double)(count - 1);
      y[i] = forrester(x[i]);
    }
    tutti_surrogate *surrogate = fitted(&toy, 3, 1, count, x, y);
    for (int i = 0; i < GRID; i++)
      mean[many] += on_line(&toy, surrogate, -1 + 2 * i / (GRID - 1.0)) / GRID;
    tutti_surrogate_destroy(surrogate);
    toy_destroy(&toy);
  }
  assert_true(mean[1] < 0.4 * mean[0]);
}

/* C.1: noise that is larger on the right is learnt as noise. The function's uncertainty stays small where there are
   many observations, and is large in the gap. */
static void test_noise(void **state) {
  (void)state;
  double x[MOST], y[MOST], mean;
  struct tutti_random random;
  struct toy toy;
  begin(&toy, 1);
  toy_set(&toy, "surrogate", "noise", "learnt");
  toy_set(&toy, "surrogate", "noise_floor", "0.02");
  toy_set(&toy, "surrogate", "stop_gradient", "f-first");
  toy_set(&toy, "surrogate", "pi_exp", "1");
  toy_set(&toy, "surrogate", "l2", "1e-3");
  toy_set(&toy, "surrogate", "uncertainty_l2", "1e-4");
  tutti_random_init(&random, 5, "noise", 0);
  for (int i = 0; i < MOST; i++) {
    x[i] = i < MOST / 2 ? -1 + 0.6 * i / (MOST / 2 - 1.0) : 0.4 + 0.6 * (i - MOST / 2) / (MOST / 2 - 1.0);
    y[i] = 0.5 * x[i] + (i < MOST / 2 ? 0.02 : 0.3) * tutti_random_normal(&random);
  }
  tutti_surrogate *surrogate = fitted(&toy, 3, 1, MOST, x, y);
  double left = on_line(&toy, surrogate, -0.7), gap = on_line(&toy, surrogate, 0);
  assert_true(left < 0.3 * gap);
  for (int i = 0; i < 3; i++) { /* the mean keeps to the line where there is much noise, too */
    double at = 0.5 + 0.2 * i;
    (void)deviation_at(&toy, surrogate, 1, &at, &mean);
    assert_true(fabs(mean - 0.5 * at) < 0.2);
  }
  tutti_surrogate_destroy(surrogate);
  toy_destroy(&toy);
}

/* C.2: bounds lie on their side of the mean, meet it at the observations, and leave it in the gap; a lower one alone
   gives the same deviation as it does beside an upper one, since the networks do not touch. */
static void test_bounds(void **state) {
  (void)state;
  static const char *const which[] = {"lower", "upper", "both"};
  static const double x[] = {-0.9, -0.7, -0.5, -0.3, 0.5, 0.7, 0.9};
  double y[7], gap[3];
  for (int i = 0; i < 7; i++)
    y[i] = forrester(x[i]);
  for (int k = 0; k < 3; k++) {
    struct toy toy;
    begin(&toy, 1);
    toy_set(&toy, "surrogate", "bounds", which[k]);
    toy_set(&toy, "surrogate", "pi_sqr", "1");
    toy_set(&toy, "surrogate", "pi_exp", "0.1");
    toy_set(&toy, "surrogate", "c_exp", "3");
    tutti_surrogate *surrogate = fitted(&toy, 3, 1, 7, x, y);
    gap[k] = on_line(&toy, surrogate, 0.1);
    for (int i = 0; i < 7; i++)
      assert_true(on_line(&toy, surrogate, x[i]) < 0.4 * gap[k]);
    assert_true(gap[k] > 0.05);
    tutti_surrogate_destroy(surrogate);
    toy_destroy(&toy);
  }
}

/* What does not go together. */
static void test_refusals(void **state) {
  (void)state;
  struct toy toy;
  tutti_surrogate *surrogate;
  begin(&toy, 1);
  toy_set(&toy, "surrogate", "bounds", "lower");
  toy_set(&toy, "surrogate", "noise", "known");
  struct tutti_surrogate_setup setup = {
      .size = sizeof setup, .host = toy.host, .seed = 3, .dimension = 1, .domain = toy.hyperparameters};
  assert_int_equal(tutti_surrogate_create(toy.context, toy.host, "surrogate", &setup, &surrogate), TUTTI_ERROR_USAGE);
  assert_non_null(
      strstr(tutti_error_message(toy.context), "surrogate.noise = known: expected surrogate.bounds = symmetric"));
  toy_destroy(&toy);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_line),      cmocka_unit_test(test_terms), cmocka_unit_test(test_metric_learning),
      cmocka_unit_test(test_vanishing), cmocka_unit_test(test_noise), cmocka_unit_test(test_bounds),
      cmocka_unit_test(test_refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
