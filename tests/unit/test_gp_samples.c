/* Random draws of surrogate gp: hyperparameters, against quadrature; fantasies and functions, against the posterior
   that they are drawn from. */
#include "golden.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "plugins/surrogate/gp.c"

#include "gp_fixture.h"

/* --- hyperparameters drawn from their posterior ------------------------------------------------------------------- */

enum { CHAIN = 4000 };

/* Averages of theta over the chain, against the same by quadrature over a grid of `steps` for each free number. */
static void check_chain(tutti_context *context, const struct gp_bounds *bounds, int steps) {
  static const double x[] = {0.05, 0.2, 0.3, 0.45, 0.6, 0.7, 0.85, 0.95},
                      y[] = {0.3, 1.2, 1.1, 0.1, -1, -1.2, -0.4, 0.2};
  static double lengths[CHAIN];
  static struct gp_hyper hyper[CHAIN], *pointers[CHAIN];
  struct tutti_random random;
  struct gp_workspace workspace;
  struct gp_problem problem = {.ard = true, .column = gp_column_choose(), .count = 8, .dimension = 1};
  problem.points = x, problem.values = y;
  struct gp_chain settings = {.bounds = *bounds, .samples = CHAIN, .burn_in = 100, .random = &random};
  for (size_t i = 0; i < CHAIN; i++) {
    hyper[i].lengths = &lengths[i];
    pointers[i] = &hyper[i];
  }
  tutti_random_init(&random, 1, "chain", 0);
  assert_int_equal(gp_sample(context, &problem, &settings, pointers), TUTTI_OK);
  double sums[3] = {0}, squares[3] = {0}, expected[3] = {0}, total = 0, most = -HUGE_VAL;
  for (size_t i = 0; i < CHAIN; i++) {
    const double theta[3] = {log(hyper[i].amplitude), log(lengths[i]), log(hyper[i].noise)};
    for (int k = 0; k < 3; k++) {
      sums[k] += theta[k] / CHAIN;
      squares[k] += theta[k] * theta[k] / CHAIN;
    }
  }
  int count[3];
  for (size_t k = 0; k < 3; k++) {
    const double *range = gp_bounds_of(bounds, 3, k);
    count[k] = range[0] < range[1] ? steps : 1;
  }
  assert_int_equal(gp_workspace_create(context, &problem, &workspace), TUTTI_OK);
  for (int pass = 0; pass < 2; pass++) /* the largest density first: it scales the others */
    for (int a = 0; a < count[0]; a++)
      for (int b = 0; b < count[1]; b++)
        for (int c = 0; c < count[2]; c++) {
          const int at[3] = {a, b, c};
          double theta[3], mean = 0, density;
          for (size_t k = 0; k < 3; k++) {
            const double *range = gp_bounds_of(bounds, 3, k);
            theta[k] = log(range[0]) + log(range[1] / range[0]) * (at[k] + 0.5) / count[k];
          }
          assert_int_equal(gp_likelihood(context, &problem, &workspace, theta, &mean, &density, NULL), TUTTI_OK);
          double deviation = exp(0.5 * theta[0]), noise = exp(theta[2]);
          /* Densities of the deviation (log-normal) and the noise, and the densities of their logarithms. */
          density += -0.5 * log(deviation) * log(deviation) - log(deviation) + log(deviation);
          density += count[2] > 1 ? log(log(1 + 0.1 * 0.1 / (noise * noise))) + log(noise) : 0;
          density += theta[1];
          if (pass == 0) {
            most = fmax(most, density);
            continue;
          }
          total += exp(density - most);
          for (int k = 0; k < 3; k++)
            expected[k] += theta[k] * exp(density - most);
        }
  for (int k = 0; k < 3; k++) /* draws are worth a fifth of as many independent ones, at least */
    assert_close(sums[k], expected[k] / total, 0,
                 1e-9 + 5 * sqrt(fmax(0, squares[k] - sums[k] * sums[k]) / (CHAIN / 5.0)));
  gp_workspace_destroy(&workspace);
}

static void test_chain(void **state) {
  static const struct gp_bounds lengths_alone = {{1, 1}, {0.01, 2}, {0.01, 0.01}};
  static const struct gp_bounds others = {{1e-4, 1e4}, {0.2, 0.2}, {1e-8, 1}};
  static const struct gp_bounds all = {{1e-4, 1e4}, {0.01, 2}, {1e-8, 1}};
  (void)state;
  tutti_context *context = NULL;
  assert_int_equal(tutti_context_create(&context), TUTTI_OK);
  check_chain(context, &lengths_alone, 2000);
  check_chain(context, &others, 150);
  check_chain(context, &all, 40);
  tutti_context_destroy(context);
}

static void make_sampling(struct fixture *fixture) {
  fixture->config.inference = GP_INFERENCE_SAMPLING;
  fixture->config.samples = 6;
  fixture->config.burn_in = 20;
  fixture->config.refit = 1000;
  make(fixture);
}

/* Gradients of what is predicted now against differences. */
static void check_gradient(struct fixture *fixture, const double *at) {
  double mean, deviation, by_mean[2], by_deviation[2], m[2], s[2], h = 1e-5;
  assert_int_equal(surrogate_gradient_gp(fixture->gp, fixture->context, at, &mean, &deviation, by_mean, by_deviation),
                   TUTTI_OK);
  for (size_t k = 0; k < DIMENSION; k++) {
    double sides[2 * DIMENSION] = {at[0], at[1], at[0], at[1]};
    sides[k] += h;
    sides[DIMENSION + k] -= h;
    predict(fixture, sides, 2, m, s);
    assert_close(by_mean[k], (m[0] - m[1]) / (2 * h), 1e-5, 1e-4);
    assert_close(by_deviation[k], (s[0] - s[1]) / (2 * h), 1e-5, 1e-4);
  }
}

/* Drawn hyperparameters differ, make a mixture with its moments, and follow from the observations alone. */
static void test_mixture(void **state) {
  struct fixture *fixture = *state;
  enum { MODELS = 6, PROBES = 5 };
  double x[MANY * DIMENSION], y[MANY], mean[PROBES], deviation[PROBES], m[MODELS * PROBES], s[MODELS * PROBES];
  data(MANY, x, y);
  make_sampling(fixture);
  assert_int_equal(fit(fixture, x, y, 20), TUTTI_OK);
  assert_int_equal(surrogate_components_gp(fixture->gp), MODELS);
  struct tutti_points probes = points_at(x + 40 * DIMENSION, PROBES);
  predict(fixture, probes.vectors, PROBES, mean, deviation);
  assert_int_equal(surrogate_predict_components_gp(fixture->gp, fixture->context, &probes, m, s), TUTTI_OK);
  for (size_t i = 0; i < PROBES; i++) {
    double sum = 0, squares = 0;
    for (size_t c = 0; c < MODELS; c++) {
      sum += m[c * PROBES + i] / MODELS;
      squares += (m[c * PROBES + i] * m[c * PROBES + i] + s[c * PROBES + i] * s[c * PROBES + i]) / MODELS;
    }
    assert_close(mean[i], sum, 1e-12, 1e-12);
    assert_close(deviation[i] * deviation[i], squares - sum * sum, 1e-9, 1e-9);
    assert_true(m[i] != m[PROBES + i]);
    check_gradient(fixture, probes.vectors + i * DIMENSION);
  }
  double by_mean[MODELS * DIMENSION], by_deviation[MODELS * DIMENSION];
  assert_int_equal(
      surrogate_gradient_components_gp(fixture->gp, fixture->context, probes.vectors, m, s, by_mean, by_deviation),
      TUTTI_OK);
  double slope = 0, by_all[DIMENSION], unused[DIMENSION];
  for (size_t c = 0; c < MODELS; c++)
    slope += by_mean[c * DIMENSION] / MODELS;
  assert_int_equal(
      surrogate_gradient_gp(fixture->gp, fixture->context, probes.vectors, mean, deviation, by_all, unused), TUTTI_OK);
  assert_close(by_all[0], slope, 1e-12, 1e-12);
  struct gp *first = fixture->gp;
  make(fixture); /* again, with the observations in two parts */
  assert_int_equal(fit(fixture, x, y, 20), TUTTI_OK);
  struct gp *second = fixture->gp;
  for (size_t c = 0; c < MODELS; c++)
    assert_true(first->mixture.posteriors[c].hyper.noise == second->mixture.posteriors[c].hyper.noise);
  surrogate_destroy_gp(first);
}

/* A single observation, constants, and one point many times without noise: chains end, and predictions are finite. */
static void test_chain_on_hard_data(void **state) {
  struct fixture *fixture = *state;
  double x[MANY * DIMENSION], y[MANY], mean[4], deviation[4], zero = 0;
  data(MANY, x, y);
  fixture->config.noise = (struct tutti_reals){1, &zero};
  make_sampling(fixture);
  assert_int_equal(fit(fixture, x, y, 1), TUTTI_OK);
  predict(fixture, x, 4, mean, deviation);
  assert_close(mean[0], y[0], 1e-3, 0);
  memcpy(x + 10 * DIMENSION, x, 10 * DIMENSION * sizeof(double));
  for (size_t i = 0; i < 20; i++)
    y[i] = 7;
  assert_int_equal(fit(fixture, x, y, 20), TUTTI_OK);
  predict(fixture, x + 30 * DIMENSION, 4, mean, deviation);
  for (size_t i = 0; i < 4; i++) {
    assert_close(mean[i], 7, 1e-6, 0);
    assert_true(isfinite(deviation[i]));
  }
  y[3] = 8; /* another value where point 13 is, and nothing to explain it */
  assert_int_equal(fit(fixture, x, y, 20), TUTTI_OK);
  predict(fixture, x + 30 * DIMENSION, 4, mean, deviation);
  for (size_t i = 0; i < 4; i++)
    assert_true(isfinite(mean[i]) && isfinite(deviation[i]));
}

/* Features that sampling does not support are refused by name. A cancelled chain ends. */
static void test_chain_refusals(void **state) {
  struct fixture *fixture = *state;
  static const double long_ones[] = {3, 100};
  struct tutti_surrogate_setup setup_ = {.size = sizeof(setup_), .dimension = DIMENSION};
  double x[MANY * DIMENSION], y[MANY];
  data(MANY, x, y);
  fixture->config.inference = GP_INFERENCE_SAMPLING;
  fixture->config.samples = 2;
  fixture->config.length_scale = (struct tutti_reals){2, long_ones};
  assert_int_equal(surrogate_create_gp(fixture->context, &fixture->config, &setup_, &fixture->gp), TUTTI_ERROR_USAGE);
  assert_non_null(strstr(tutti_error_message(fixture->context), "length scales are 2 at most, and 3 at least"));
  fixture->config.length_scale = (struct tutti_reals){2, fixture->ranges[1]};
  make(fixture);
  tutti_cancel(fixture->context);
  assert_int_equal(fit(fixture, x, y, 20), TUTTI_ERROR_CANCELLED);
}

/* Law of total variance: the deviations² given the pending values and the variance of the means over the fantasies add
   up to the present variance. The prediction at a pending point is the value that the fantasy supposes. */
static void test_fantasies(void **state) {
  struct fixture *fixture = *state;
  enum { DRAWS = 3000, PROBES = 4, PENDING = 3 };
  static double m[DRAWS * PROBES], s[DRAWS * PROBES], least[DRAWS];
  double x[MANY * DIMENSION], y[MANY], mean[PROBES], deviation[PROBES], again[PROBES], sum[PROBES] = {0};
  struct tutti_random random;
  data(MANY, x, y);
  fixture->config.refit = 1000;
  make(fixture);
  assert_int_equal(fit(fixture, x, y, 12), TUTTI_OK);
  struct gp *gp = fixture->gp;
  struct tutti_points pending = points_at(x + 20 * DIMENSION, PENDING), probes = points_at(x + 20 * DIMENSION, PROBES);
  predict(fixture, probes.vectors, PROBES, mean, deviation);
  tutti_random_init(&random, 1, "fantasies", 0);
  assert_int_equal(surrogate_fantasise_gp(gp, fixture->context, &pending, &random, DRAWS), TUTTI_OK);
  assert_int_equal(surrogate_components_gp(gp), DRAWS);
  assert_int_equal(surrogate_predict_components_gp(gp, fixture->context, &probes, m, s), TUTTI_OK);
  surrogate_least_gp(gp, least);
  for (size_t i = 0; i < PROBES; i++) {
    double squares = 0;
    for (size_t d = 0; d < DRAWS; d++) {
      double off = m[d * PROBES + i] - mean[i];
      sum[i] += off / DRAWS;
      squares += (off * off + s[d * PROBES + i] * s[d * PROBES + i]) / DRAWS;
    }
    assert_close(sum[i], 0, 0, 5 * deviation[i] / sqrt(DRAWS));
    assert_close(sqrt(squares), deviation[i], 0.1, 0);
    assert_true(s[i] < deviation[i]);
  }
  double noise = sqrt(gp->mixture.posteriors->hyper.noise) * gp->mixture.posteriors->scale;
  for (size_t d = 0; d < DRAWS; d++) {
    double lowest = fmin(m[d * PROBES], fmin(m[d * PROBES + 1], m[d * PROBES + 2]));
    assert_close(least[d], lowest, 0, 8 * noise);
  }
  predict(fixture, probes.vectors, PROBES, again, s); /* the mixture's moments */
  for (size_t i = 0; i < PROBES; i++)
    assert_close(again[i], mean[i] + sum[i], 1e-9, 1e-9);
  check_gradient(fixture, x + 30 * DIMENSION);
  surrogate_release_gp(gp);
  assert_int_equal(surrogate_components_gp(gp), 1);
  predict(fixture, probes.vectors, PROBES, again, s);
  assert_memory_equal(again, mean, sizeof(mean));
}

/* Functions drawn: averages, deviations and correlation over many of them are the posterior's; each is one function. */
static void test_functions(void **state) {
  struct fixture *fixture = *state;
  enum { DRAWS = 800, PROBES = 3 };
  double x[MANY * DIMENSION], y[MANY], mean[PROBES], deviation[PROBES], values[PROBES], zero[PROBES];
  double sums[PROBES] = {0}, squares[PROBES] = {0};
  struct tutti_random random;
  data(MANY, x, y);
  for (int kernel = GP_MATERN52; kernel <= GP_RBF; kernel++) {
    fixture->config.kernel = kernel;
    if (fixture->gp)
      surrogate_destroy_gp(fixture->gp);
    make(fixture);
    assert_int_equal(fit(fixture, x, y, 12), TUTTI_OK);
    struct tutti_points pending = points_at(x + 20 * DIMENSION, 2), probes = points_at(x + 21 * DIMENSION, PROBES);
    assert_int_equal(surrogate_hallucinate_gp(fixture->gp, fixture->context, &pending), TUTTI_OK);
    predict(fixture, probes.vectors, PROBES, mean, deviation);
    for (size_t i = 0; i < PROBES; i++)
      sums[i] = squares[i] = 0;
    for (uint64_t d = 0; d < DRAWS; d++) {
      tutti_random_init(&random, 1, "functions", d);
      assert_int_equal(surrogate_realise_gp(fixture->gp, fixture->context, &random), TUTTI_OK);
      predict(fixture, probes.vectors, PROBES, values, zero);
      for (size_t i = 0; i < PROBES; i++) {
        double off = (values[i] - mean[i]) / deviation[i];
        assert_true(zero[i] == 0);
        sums[i] += off / DRAWS;
        squares[i] += off * off / DRAWS;
      }
    }
    for (size_t i = 0; i < PROBES; i++) { /* features leave an error of 1/√1024 of the amplitude */
      assert_close(sums[i], 0, 0, 0.15);
      assert_close(squares[i], 1, 0, 0.3);
    }
    assert_int_equal(surrogate_components_gp(fixture->gp), 1);
    check_gradient(fixture, x + 30 * DIMENSION);
    for (size_t i = 0; i < PROBES; i++) { /* one by one and in another order: the same function */
      double value, none;
      predict(fixture, probes.vectors + (PROBES - 1 - i) * DIMENSION, 1, &value, &none);
      assert_true(value == values[PROBES - 1 - i]);
    }
    surrogate_release_gp(fixture->gp);
    predict(fixture, probes.vectors, PROBES, values, zero);
    assert_true(zero[0] > 0);
  }
}

/* Without noise every function goes through the observations. */
static void test_functions_meet_observations(void **state) {
  struct fixture *fixture = *state;
  double x[MANY * DIMENSION], y[MANY], values[12], deviation[12], zero = 0;
  struct tutti_random random;
  data(MANY, x, y);
  fixture->config.noise = (struct tutti_reals){1, &zero};
  make(fixture);
  assert_int_equal(fit(fixture, x, y, 12), TUTTI_OK);
  tutti_random_init(&random, 1, "functions", 0);
  assert_int_equal(surrogate_realise_gp(fixture->gp, fixture->context, &random), TUTTI_OK);
  predict(fixture, x, 12, values, deviation);
  for (size_t i = 0; i < 12; i++)
    assert_close(values[i], y[i], 1e-5, 1e-5);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_chain),
      cmocka_unit_test_setup_teardown(test_mixture, setup, teardown),
      cmocka_unit_test_setup_teardown(test_chain_on_hard_data, setup, teardown),
      cmocka_unit_test_setup_teardown(test_chain_refusals, setup, teardown),
      cmocka_unit_test_setup_teardown(test_fantasies, setup, teardown),
      cmocka_unit_test_setup_teardown(test_functions, setup, teardown),
      cmocka_unit_test_setup_teardown(test_functions_meet_observations, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
