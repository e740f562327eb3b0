/* Surrogate gp as its users have it: growth, schedule, hallucination, gradients, joint draws, hard data. */
#include "golden.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "plugins/surrogate/gp.c"

#include "gp_fixture.h"

static void test_fits_data(void **state) {
  struct fixture *fixture = *state;
  double x[MANY * DIMENSION], y[MANY], mean[MANY], deviation[MANY];
  data(MANY, x, y);
  make(fixture);
  assert_int_equal(fit(fixture, x, y, 40), TUTTI_OK);
  predict(fixture, x + 40 * DIMENSION, MANY - 40, mean, deviation);
  for (size_t i = 0; i < MANY - 40; i++) {
    double sigma = sqrt(deviation[i] * deviation[i] + 0.25);
    assert_close(mean[i], y[40 + i], 0, 5 * sigma);
    assert_true(deviation[i] > 0 && deviation[i] < 20);
  }
}

/* The same sequence, grouped and interrupted differently, gives the same bits. */
static void test_state_is_the_sequence(void **state) {
  struct fixture *fixture = *state;
  double x[MANY * DIMENSION], y[MANY], a[3], b[3], s[3], t[3];
  data(MANY, x, y);
  for (int64_t refit = 1; refit <= 15; refit += 7) {
    fixture->config.refit = refit;
    make(fixture);
    assert_int_equal(fit(fixture, x, y, 5), TUTTI_OK);
    for (size_t i = 5; i < 50; i++) {
      add(fixture, x + DIMENSION * i, y + i, 1);
      if (i % 3 == 0 || refit > 1) {
        struct tutti_points pending = points_at(x + 50 * DIMENSION, 7);
        predict(fixture, x, 3, a, s);
        assert_int_equal(surrogate_hallucinate_gp(fixture->gp, fixture->context, &pending), TUTTI_OK);
        predict(fixture, x, 3, b, t);
        surrogate_release_gp(fixture->gp);
      }
    }
    predict(fixture, x + 55 * DIMENSION, 3, a, s);
    surrogate_destroy_gp(fixture->gp);
    make(fixture);
    assert_int_equal(fit(fixture, x, y, 5), TUTTI_OK);
    add(fixture, x + DIMENSION * 5, y + 5, 45);
    predict(fixture, x + 55 * DIMENSION, 3, b, t);
    assert_memory_equal(a, b, sizeof(a));
    assert_memory_equal(s, t, sizeof(s));
    surrogate_destroy_gp(fixture->gp);
    fixture->gp = NULL;
  }
}

static void test_hyperparameters_stay_between_refits(void **state) {
  struct fixture *fixture = *state;
  double x[MANY * DIMENSION], y[MANY], mean[1], deviation[1], before;
  data(MANY, x, y);
  fixture->config.refit = 10;
  make(fixture);
  assert_int_equal(fit(fixture, x, y, 20), TUTTI_OK);
  struct gp *gp = fixture->gp;
  before = gp->mixture.posteriors->hyper.amplitude;
  add(fixture, x + 20 * DIMENSION, y + 20, 9);
  predict(fixture, x, 1, mean, deviation);
  assert_true(gp->mixture.posteriors->hyper.amplitude == before && gp->based == 20);
  add(fixture, x + 29 * DIMENSION, y + 29, 3);
  predict(fixture, x, 1, mean, deviation);
  assert_true(gp->mixture.posteriors->hyper.amplitude != before && gp->based == 30);
}

/* A fit sees a random part of the observations, and the predictions have all of them: of the first ones, which are all
   alike, one would learn that the function is constant. */
static void test_part_of_the_observations(void **state) {
  enum { COUNT = 48, PART = 20 };
  struct fixture *fixture = *state;
  static const int64_t rows[] = {0, COUNT, PART};
  double x[MANY * DIMENSION], y[MANY], mean[3][COUNT], deviation[3][COUNT];
  data(MANY, x, y);
  for (size_t i = 0; i < PART; i++)
    y[i] = 0;
  for (size_t which = 0; which < 3; which++) {
    fixture->config.fit_rows = rows[which];
    make(fixture);
    assert_int_equal(fit(fixture, x, y, COUNT), TUTTI_OK);
    const struct gp *gp = fixture->gp;
    const struct gp_posterior *posterior = gp->mixture.posteriors;
    assert_int_equal(posterior->count, COUNT);
    assert_int_equal(gp->based, COUNT);
    predict(fixture, x, COUNT, mean[which], deviation[which]);
    double residual = 0, spread = 0;
    for (size_t i = PART; i < COUNT; i++) {
      residual += (mean[which][i] - y[i]) * (mean[which][i] - y[i]);
      spread += y[i] * y[i];
    }
    assert_true(residual < 0.5 * spread);
    surrogate_destroy_gp(fixture->gp);
    fixture->gp = NULL;
  }
  assert_memory_equal(mean[0], mean[1], sizeof mean[0]);
  assert_memory_equal(deviation[0], deviation[1], sizeof deviation[0]);
  assert_memory_not_equal(mean[0], mean[2], sizeof mean[0]);
}

/* Refits after a share of growth, at least `refit` apart, whenever the predictions come. */
static void test_schedule(void **state) {
  struct fixture *fixture = *state;
  double x[MANY * DIMENSION], y[MANY], mean[1], deviation[1];
  data(MANY, x, y);
  fixture->config.refit = 3;
  fixture->config.growth = 0.25;
  make(fixture);
  assert_int_equal(fit(fixture, x, y, 5), TUTTI_OK); /* then at 8, 11, 14, 18, 23, 29, 37, 47, 59 */
  struct gp *gp = fixture->gp;
  const size_t counts[] = {7, 8, 13, 17, 18, 45, 58, 59}, based[] = {5, 8, 11, 14, 18, 37, 47, 59};
  for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
    size_t have = gp->mixture.posteriors->count;
    add(fixture, x + have * DIMENSION, y + have, counts[i] - have);
    predict(fixture, x, 1, mean, deviation);
    assert_int_equal(gp->based, based[i]);
  }
}

/* Hallucinated points change the deviation as observations there would, and the mean not at all. */
static void test_hallucination(void **state) {
  struct fixture *fixture = *state;
  double x[MANY * DIMENSION], y[MANY], mean[10], deviation[10], m[10], s[10];
  data(MANY, x, y);
  fixture->config.refit = 1000;
  make(fixture);
  assert_int_equal(fit(fixture, x, y, 20), TUTTI_OK);
  predict(fixture, x + 30 * DIMENSION, 10, mean, deviation);
  struct tutti_points pending = points_at(x + 20 * DIMENSION, 30);
  assert_int_equal(surrogate_hallucinate_gp(fixture->gp, fixture->context, &pending), TUTTI_OK);
  predict(fixture, x + 30 * DIMENSION, 10, m, s);
  assert_memory_equal(m, mean, sizeof(mean));
  for (size_t i = 0; i < 10; i++)
    assert_true(s[i] < deviation[i]);
  surrogate_release_gp(fixture->gp);
  double again[10];
  predict(fixture, x + 30 * DIMENSION, 10, m, again);
  assert_memory_equal(again, deviation, sizeof(deviation));
  add(fixture, x + 20 * DIMENSION, y + 20, 30);
  predict(fixture, x + 30 * DIMENSION, 10, m, again);
  for (size_t i = 0; i < 10; i++)
    assert_close(again[i], s[i], 1e-9, 0);
}

/* Gradients of the plugin, with pending points and standardisation, against differences. */
static void test_gradient(void **state) {
  struct fixture *fixture = *state;
  double x[MANY * DIMENSION], y[MANY], mean, deviation, by_mean[2], by_deviation[2], m[2], s[2];
  data(MANY, x, y);
  make(fixture);
  assert_int_equal(fit(fixture, x, y, 20), TUTTI_OK);
  struct tutti_points pending = points_at(x + 20 * DIMENSION, 3);
  assert_int_equal(surrogate_hallucinate_gp(fixture->gp, fixture->context, &pending), TUTTI_OK);
  for (size_t i = 30; i < 40; i++) {
    const double *at = x + DIMENSION * i, h = 1e-5;
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
}

/* Joint draws: their means, variances and correlation against the posterior's. */
static void test_draw(void **state) {
  struct fixture *fixture = *state;
  enum { DRAWS = 4000 };
  double x[MANY * DIMENSION], y[MANY], mean[2], deviation[2], values[2], sums[5] = {0};
  const double pair[4] = {0.52, 0.5, 0.55, 0.5};
  struct tutti_points at = points_at(pair, 2);
  struct tutti_random random;
  data(8, x, y);
  make(fixture);
  assert_int_equal(fit(fixture, x, y, 8), TUTTI_OK);
  predict(fixture, pair, 2, mean, deviation);
  tutti_random_init(&random, 1, "draws", 0);
  for (int i = 0; i < DRAWS; i++) {
    assert_int_equal(surrogate_draw_gp(fixture->gp, fixture->context, &at, &random, values), TUTTI_OK);
    double a = (values[0] - mean[0]) / deviation[0], b = (values[1] - mean[1]) / deviation[1];
    sums[0] += a, sums[1] += b, sums[2] += a * a, sums[3] += b * b, sums[4] += a * b;
  }
  /* Standard errors: 1/sqrt(4000) = .016 of means, sqrt(2/4000) = .022 of variances. Neighbours are nearly equal. */
  assert_close(sums[0] / DRAWS, 0, 0, 0.08);
  assert_close(sums[1] / DRAWS, 0, 0, 0.08);
  assert_close(sums[2] / DRAWS, 1, 0, 0.12);
  assert_close(sums[3] / DRAWS, 1, 0, 0.12);
  assert_true(sums[4] / DRAWS > 0.9);
  double same[4] = {0.4, 0.4, 0.4, 0.4}, again[2], t[2];
  at = points_at(same, 2);
  assert_int_equal(surrogate_draw_gp(fixture->gp, fixture->context, &at, &random, values), TUTTI_OK);
  assert_close(values[0], values[1], 1e-6, 1e-3);
  predict(fixture, pair, 2, again, t); /* nothing of the draws is left */
  assert_memory_equal(again, mean, sizeof(mean));
  assert_memory_equal(t, deviation, sizeof(deviation));
}

static void test_hard_data(void **state) {
  struct fixture *fixture = *state;
  double x[MANY * DIMENSION], y[MANY], mean[4], deviation[4];
  data(MANY, x, y);
  make(fixture);
  assert_int_equal(fit(fixture, x, y, 1), TUTTI_OK); /* a single observation */
  predict(fixture, x, 4, mean, deviation);
  assert_close(mean[0], y[0], 1e-3, 0);
  for (size_t i = 0; i < 20; i++) /* a constant */
    y[i] = 7;
  assert_int_equal(fit(fixture, x, y, 20), TUTTI_OK);
  predict(fixture, x + 30 * DIMENSION, 4, mean, deviation);
  for (size_t i = 0; i < 4; i++) {
    assert_close(mean[i], 7, 1e-9, 0);
    assert_true(isfinite(deviation[i]));
  }
  for (size_t i = 0; i < 20; i++) { /* one point, many values */
    x[DIMENSION * i] = x[DIMENSION * i + 1] = 0.5;
    y[i] = (double)(i % 2);
  }
  assert_int_equal(fit(fixture, x, y, 20), TUTTI_OK);
  predict(fixture, x, 1, mean, deviation);
  assert_close(mean[0], 0.5, 0, 0.01);
}

/* No noise at all, with duplicates: the jitter is bounded and the values are met. */
static void test_noise_zero(void **state) {
  struct fixture *fixture = *state;
  double x[MANY * DIMENSION], y[MANY], mean[MANY], deviation[MANY], zero = 0;
  data(MANY, x, y);
  fixture->config.noise = (struct tutti_reals){1, &zero};
  make(fixture);
  memcpy(x + 20 * DIMENSION, x, 20 * DIMENSION * sizeof(double));
  memcpy(y + 20, y, 20 * sizeof(double));
  assert_int_equal(fit(fixture, x, y, 20), TUTTI_OK);
  add(fixture, x + 20 * DIMENSION, y + 20, 20);
  struct tutti_points again = points_at(x, 20);
  predict(fixture, x, 20, mean, deviation);
  for (size_t i = 0; i < 20; i++) {
    assert_close(mean[i], y[i], 1e-4, 0);
    assert_true(deviation[i] < 1);
  }
  assert_int_equal(surrogate_hallucinate_gp(fixture->gp, fixture->context, &again), TUTTI_OK);
  predict(fixture, x, 20, mean, deviation);
  surrogate_release_gp(fixture->gp);
  double m[20], s[20];
  predict(fixture, x, 20, m, s);
  predict(fixture, x, 20, mean, deviation);
  assert_memory_equal(m, mean, sizeof(m));
}

static void test_known_noise(void **state) {
  struct fixture *fixture = *state;
  double x[4] = {0.2, 0.5, 0.8, 0.5}, y[2] = {-1, 1}, noise[2] = {0, 100}, mean[2], deviation[2];
  struct tutti_points at = points_at(x, 2);
  make(fixture);
  assert_int_equal(surrogate_fit_gp(fixture->gp, fixture->context, &at, y, noise), TUTTI_OK);
  predict(fixture, x, 2, mean, deviation);
  assert_true(deviation[1] > 3 * deviation[0]); /* the noisy one tells next to nothing */
}

static void test_refusals(void **state) {
  struct fixture *fixture = *state;
  struct tutti_surrogate_setup setup_ = {.size = sizeof(setup_), .dimension = DIMENSION};
  double x[4] = {0, 1, 2, 3}, y[2] = {1, NAN}, backwards[2] = {2, 1}, three[3] = {1, 2, 3}, zero_low[2] = {0, 1};
  double mean[2], deviation[2];
  struct tutti_points at = points_at(x, 2);
  fixture->config.amplitude = (struct tutti_reals){2, backwards};
  assert_int_equal(surrogate_create_gp(fixture->context, &fixture->config, &setup_, &fixture->gp), TUTTI_ERROR_USAGE);
  fixture->config.amplitude = (struct tutti_reals){3, three};
  assert_int_equal(surrogate_create_gp(fixture->context, &fixture->config, &setup_, &fixture->gp), TUTTI_ERROR_USAGE);
  fixture->config.amplitude = (struct tutti_reals){2, fixture->ranges[0]};
  fixture->config.noise = (struct tutti_reals){2, zero_low};
  assert_int_equal(surrogate_create_gp(fixture->context, &fixture->config, &setup_, &fixture->gp), TUTTI_ERROR_USAGE);
  assert_null(fixture->gp);
  fixture->config.noise = (struct tutti_reals){2, fixture->ranges[2]};
  make(fixture);
  assert_int_equal(surrogate_predict_gp(fixture->gp, fixture->context, &at, mean, deviation), TUTTI_ERROR_PLUGIN);
  assert_int_equal(fit(fixture, x, y, 2), TUTTI_ERROR_NUMERIC);
  assert_non_null(strstr(tutti_error_message(fixture->context), "observation 1 has value nan"));
  y[1] = 2, x[3] = INFINITY;
  assert_int_equal(fit(fixture, x, y, 2), TUTTI_ERROR_NUMERIC);
  assert_non_null(strstr(tutti_error_message(fixture->context), "coordinate 1 of observation 1"));
}

static void test_cancel(void **state) {
  struct fixture *fixture = *state;
  double x[MANY * DIMENSION], y[MANY];
  data(MANY, x, y);
  make(fixture);
  tutti_cancel(fixture->context);
  assert_int_equal(fit(fixture, x, y, 20), TUTTI_ERROR_CANCELLED);
}

static void test_describe(void **state) {
  struct fixture *fixture = *state;
  double x[MANY * DIMENSION], y[MANY];
  char *text = NULL;
  data(MANY, x, y);
  make(fixture);
  assert_int_equal(fit(fixture, x, y, 40), TUTTI_OK);
  assert_int_equal(surrogate_describe_gp(fixture->gp, fixture->context, &text), TUTTI_OK);
  json_t *json = json_loads(text, 0, NULL);
  assert_non_null(json);
  assert_int_equal(json_array_size(golden_get(json, "length_scales")), DIMENSION);
  assert_close(golden_number_of(json, "noise"), 0.25, 1, 0); /* the data's own units: 0.5² */
  assert_true(golden_number_of(json, "noise") > 0.08);
  json_decref(json);
  tutti_free(text);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_fits_data, setup, teardown),
      cmocka_unit_test_setup_teardown(test_state_is_the_sequence, setup, teardown),
      cmocka_unit_test_setup_teardown(test_hyperparameters_stay_between_refits, setup, teardown),
      cmocka_unit_test_setup_teardown(test_part_of_the_observations, setup, teardown),
      cmocka_unit_test_setup_teardown(test_schedule, setup, teardown),
      cmocka_unit_test_setup_teardown(test_hallucination, setup, teardown),
      cmocka_unit_test_setup_teardown(test_gradient, setup, teardown),
      cmocka_unit_test_setup_teardown(test_draw, setup, teardown),
      cmocka_unit_test_setup_teardown(test_hard_data, setup, teardown),
      cmocka_unit_test_setup_teardown(test_noise_zero, setup, teardown),
      cmocka_unit_test_setup_teardown(test_known_noise, setup, teardown),
      cmocka_unit_test_setup_teardown(test_refusals, setup, teardown),
      cmocka_unit_test_setup_teardown(test_cancel, setup, teardown),
      cmocka_unit_test_setup_teardown(test_describe, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
