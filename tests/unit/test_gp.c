/* The parts of surrogate gp: kernel, likelihood, gradients, posterior and optimum against golden numbers; jitter. */
#include "golden.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "plugins/surrogate/gp.c"
#include "plugins/shared/gp/gp_fit.c"
#include "plugins/shared/gp/gp_kernel.c"

/* --- golden problems ---------------------------------------------------------------------------------------------- */

struct golden_problem {
  const json_t *json, *fixed;
  size_t count, dimension, stars;
  double *points, *values, *stars_at, *lengths;
};

static struct golden_problem problem_load(const json_t *root, size_t index) {
  struct golden_problem p = {.json = golden_at(golden_get(root, "problems"), index)};
  size_t numbers;
  p.fixed = golden_get(p.json, "fixed");
  p.points = golden_doubles(golden_get(p.json, "X"), &numbers);
  p.values = golden_doubles(golden_get(p.json, "y"), &p.count);
  p.dimension = numbers / p.count;
  p.stars_at = golden_doubles(golden_get(p.json, "Xstar"), &numbers);
  p.stars = numbers / p.dimension;
  p.lengths = golden_doubles(golden_get(p.fixed, "ls"), NULL);
  return p;
}

static void problem_free(struct golden_problem *p) {
  free(p->points), free(p->values), free(p->stars_at), free(p->lengths);
}

static struct gp_problem likelihood_of(const struct golden_problem *p, enum gp_mean mean) {
  return (struct gp_problem){.kernel = GP_MATERN52,
                             .mean = mean,
                             .ard = true,
                             .column = gp_column_choose(),
                             .count = p->count,
                             .dimension = p->dimension,
                             .points = p->points,
                             .values = p->values};
}

static tutti_context *make_context(void) {
  tutti_context *context = NULL;
  assert_int_equal(tutti_context_create(&context), TUTTI_OK);
  return context;
}

static void test_kernel(void **state) {
  (void)state;
  json_t *root = golden_load("gp_matern52");
  for (size_t which = 0; which < 2; which++) {
    struct golden_problem p = problem_load(root, which);
    double *expected = golden_doubles(golden_get(p.json, "kernel_k(X[0:5],Xstar[0:3])_unit_amplitude"), NULL);
    double scaled[3 * GP_LANES] = {0}, at[3], value[GP_LANES], slope[GP_LANES];
    struct gp_inputs inputs = {.dimension = p.dimension, .stride = GP_LANES, .scaled = scaled};
    for (size_t i = 0; i < 5; i++)
      for (size_t k = 0; k < p.dimension; k++)
        scaled[k * GP_LANES + i] = p.points[i * p.dimension + k] / p.lengths[k];
    for (size_t c = 0; c < 3; c++) {
      for (size_t k = 0; k < p.dimension; k++)
        at[k] = p.stars_at[c * p.dimension + k] / p.lengths[k];
      gp_column_choose()(GP_MATERN52, &inputs, 5, at, value, slope);
      for (size_t i = 0; i < 5; i++)
        assert_close(value[i], expected[3 * i + c], 1e-14, 0);
    }
    free(expected);
    problem_free(&p);
  }
  json_decref(root);
}

/* Against libm, from distance 0 to where correlations vanish. */
static void check_column(gp_column_function *column) {
  double scaled[GP_LANES] = {0}, value[GP_LANES], slope[GP_LANES], zero = 0;
  struct gp_inputs inputs = {.dimension = 1, .stride = GP_LANES, .scaled = scaled};
  for (int kernel = GP_MATERN52; kernel <= GP_RBF; kernel++)
    for (double r = 0; r < 45; r += 0.037) {
      double s = sqrt(5) * r, exact = kernel == GP_RBF ? exp(-r * r / 2) : (1 + s + s * s / 3) * exp(-s);
      double by_square = kernel == GP_RBF ? exact : 5.0 / 3 * (1 + s) * exp(-s);
      double error = 1e-15 + 4e-16 * (s + r * r); /* a rounding of the exponent's argument, an ulp of each factor */
      scaled[3] = r;
      column((enum gp_kernel)kernel, &inputs, 4, &zero, value, slope);
      assert_close(value[3], exact, error, 1e-290);
      assert_close(slope[3], by_square, error, 1e-290);
      assert_close(value[0], 1, 0, 0);
      column((enum gp_kernel)kernel, &inputs, 4, &zero, value, NULL);
      assert_close(value[3], exact, error, 1e-290);
    }
  scaled[1] = 1e3, scaled[2] = 1e8, scaled[3] = 1e160;
  column(GP_MATERN52, &inputs, 4, &zero, value, NULL);
  for (int i = 1; i < 4; i++)
    assert_true(value[i] >= 0 && value[i] < 1e-200);
}

static void test_columns_of_every_processor(void **state) {
  (void)state;
  check_column(column_baseline);
#if defined(__x86_64__)
  if (tutti_cpu_detect() >= TUTTI_CPU_AVX2)
    check_column(column_avx2);
  if (tutti_cpu_detect() >= TUTTI_CPU_AVX512)
    check_column(column_avx512);
#endif
}

static void test_likelihood(void **state) {
  (void)state;
  tutti_context *context = make_context();
  json_t *root = golden_load("gp_matern52");
  for (size_t which = 0; which < 2; which++) {
    struct golden_problem p = problem_load(root, which);
    struct gp_problem problem = likelihood_of(&p, GP_MEAN_SAMPLE);
    struct gp_workspace workspace;
    size_t count = gp_theta_count(&problem);
    double theta[8], gradient[8], mean = golden_number_of(p.fixed, "mean"), likelihood, above, below;
    double *expected = golden_doubles(golden_get(p.json, "dlml_dlog[sf2,ls...,sn2]"), NULL);
    theta[0] = log(golden_number_of(p.fixed, "sf2"));
    for (size_t k = 0; k < p.dimension; k++)
      theta[1 + k] = log(p.lengths[k]);
    theta[count - 1] = log(golden_number_of(p.fixed, "sn2"));
    assert_int_equal(gp_workspace_create(context, &problem, &workspace), TUTTI_OK);
    assert_int_equal(gp_likelihood(context, &problem, &workspace, theta, &mean, &likelihood, gradient), TUTTI_OK);
    assert_close(likelihood, golden_number_of(p.json, "lml"), 1e-12, 0);
    for (size_t i = 0; i < count; i++)
      assert_close(gradient[i], expected[i], 1e-10, 0);
    /* The derivative in the mean is the sum of the weights. */
    double by_mean = 0;
    for (size_t i = 0; i < p.count; i++)
      by_mean += workspace.weight[i];
    assert_close(by_mean, golden_number_of(p.json, "dlml_dmean"), 1e-10, 0);

    /* Where the mean is fitted it is the best one, and the gradient is that of the likelihood with the mean
       following. */
    problem.mean = GP_MEAN_FITTED;
    assert_int_equal(gp_likelihood(context, &problem, &workspace, theta, &mean, &likelihood, gradient), TUTTI_OK);
    for (size_t i = 0; i < count; i++) {
      double at = theta[i], h = 1e-5;
      theta[i] = at + h;
      assert_int_equal(gp_likelihood(context, &problem, &workspace, theta, &mean, &above, NULL), TUTTI_OK);
      theta[i] = at - h;
      assert_int_equal(gp_likelihood(context, &problem, &workspace, theta, &mean, &below, NULL), TUTTI_OK);
      theta[i] = at;
      assert_close((above - below) / (2 * h), gradient[i], 1e-6, 1e-7);
    }
    gp_workspace_destroy(&workspace);
    free(expected);
    problem_free(&p);
  }
  json_decref(root);
  tutti_context_destroy(context);
}

/* Squared exponential, one length scale in all, known noise: the gradient against differences. */
static void test_likelihood_of_other_kinds(void **state) {
  (void)state;
  tutti_context *context = make_context();
  json_t *root = golden_load("gp_matern52");
  struct golden_problem p = problem_load(root, 1);
  struct gp_problem problem = likelihood_of(&p, GP_MEAN_FITTED);
  struct gp_workspace workspace;
  double noise[40], gradient[3], theta[3] = {0.3, -0.5, -4}, mean = 0, likelihood, above, below;
  for (size_t i = 0; i < p.count; i++)
    noise[i] = 0.01 * (double)(i % 5);
  problem.kernel = GP_RBF;
  problem.ard = false;
  problem.noise = noise;
  assert_int_equal(gp_theta_count(&problem), 3);
  assert_int_equal(gp_workspace_create(context, &problem, &workspace), TUTTI_OK);
  assert_int_equal(gp_likelihood(context, &problem, &workspace, theta, &mean, &likelihood, gradient), TUTTI_OK);
  for (size_t i = 0; i < 3; i++) {
    double at = theta[i], h = 1e-5;
    theta[i] = at + h;
    assert_int_equal(gp_likelihood(context, &problem, &workspace, theta, &mean, &above, NULL), TUTTI_OK);
    theta[i] = at - h;
    assert_int_equal(gp_likelihood(context, &problem, &workspace, theta, &mean, &below, NULL), TUTTI_OK);
    theta[i] = at;
    assert_close((above - below) / (2 * h), gradient[i], 1e-6, 1e-7);
  }
  gp_workspace_destroy(&workspace);
  problem_free(&p);
  json_decref(root);
  tutti_context_destroy(context);
}

/* One fit as users have it, from starts of this seed; with `usual` = false from drawn ones alone, over all of the
   bounds. Is it the optimum, in likelihood to 1e-5 and in log hyperparameters to 1e-3? */
static bool finds_optimum(tutti_context *context, const struct golden_problem *p, bool fitted, bool usual,
                          uint64_t seed) {
  static const double amplitude[] = {1e-4, 1e4}, length[] = {0.01, 100}, noise[] = {1e-8, 1};
  const json_t *best =
      golden_get(golden_get(p->json, "optimum"), fitted ? "joint_constant_mean" : "mean_fixed_at_sample_mean");
  struct gp_config config = {.ard = true,
                             .mean = fitted ? GP_MEAN_FITTED : GP_MEAN_SAMPLE,
                             .amplitude = {2, amplitude},
                             .length_scale = {2, length},
                             .noise = {2, noise},
                             .looks = 128,
                             .starts = 4,
                             .evaluations = 200,
                             .refit = 1};
  struct tutti_surrogate_setup setup = {.size = sizeof(setup), .seed = seed, .dimension = p->dimension};
  struct tutti_points points = {.size = sizeof(points), .count = p->count, .dimension = p->dimension};
  double *log_lengths = golden_doubles(golden_get(best, "log_ls"), NULL);
  void *instance;
  points.vectors = p->points;
  assert_int_equal(surrogate_create_gp(context, &config, &setup, &instance), TUTTI_OK);
  struct gp *gp = instance;
  gp->given_start = usual;
  assert_int_equal(surrogate_fit_gp(gp, context, &points, p->values, NULL), TUTTI_OK);
  const struct gp_hyper *hyper = &gp->mixture.posteriors->hyper;
  double unit = 2 * log(gp->mixture.posteriors->scale), likelihood = hyper->likelihood - 0.5 * unit * (double)p->count;
  bool found = fabs(likelihood - golden_number_of(best, "lml")) < 1e-5 &&
               fabs(log(hyper->amplitude) + unit - golden_number_of(best, "log_sf2")) < 1e-3 &&
               fabs(log(hyper->noise) + unit - golden_number_of(best, "log_sn2")) < 1e-3 &&
               fabs(gp->mixture.posteriors->shift + gp->mixture.posteriors->scale * hyper->mean -
                    golden_number_of(best, "mean")) < 1e-3;
  for (size_t k = 0; k < p->dimension; k++)
    found = found && fabs(log(hyper->lengths[k]) - log_lengths[k]) < 1e-3;
  surrogate_destroy_gp(gp);
  free(log_lengths);
  return found;
}

/* The optimum with either mean, in at least 95 of 100 tries. */
static void test_optimum(void **state) {
  (void)state;
  tutti_context *context = make_context();
  json_t *root = golden_load("gp_matern52");
  for (size_t which = 0; which < 8; which++) {
    struct golden_problem p = problem_load(root, which / 4);
    int found = 0;
    for (uint64_t seed = 0; seed < 100; seed++)
      found += finds_optimum(context, &p, which / 2 % 2, which % 2, seed);
    print_message("%zu points, %s mean, %s: %d of 100\n", p.count, which / 2 % 2 ? "fitted" : "sample",
                  which % 2 ? "usual start and drawn ones" : "drawn starts alone", found);
    assert_true(found >= 95);
    problem_free(&p);
  }
  json_decref(root);
  tutti_context_destroy(context);
}

/* So many points that starts climb on a part of them: the end is an optimum for all, where the gradient vanishes. */
static void test_optimum_of_many(void **state) {
  (void)state;
  enum { COUNT = 300 };
  static double x[2 * COUNT], y[COUNT];
  tutti_context *context = make_context();
  struct tutti_random random;
  struct gp_workspace workspace;
  tutti_random_init(&random, 1, "test", 0);
  for (size_t i = 0; i < COUNT; i++) {
    x[2 * i] = tutti_random_uniform(&random), x[2 * i + 1] = tutti_random_uniform(&random);
    y[i] = sin(7 * x[2 * i]) + cos(3 * x[2 * i + 1]) + 0.05 * tutti_random_normal(&random);
  }
  struct gp_problem problem = {.ard = true, .column = gp_column_choose(), .count = COUNT, .dimension = 2};
  problem.points = x, problem.values = y;
  struct gp_search search = {.bounds = {{1e-4, 1e4}, {1e-2, 1e2}, {1e-8, 1}}, .looks = 16, .starts = 2};
  search.evaluations = 200, search.random = &random;
  double lengths[2], likelihood, gradient[4], mean = 0;
  struct gp_hyper hyper = {.lengths = lengths};
  assert_int_equal(gp_fit(context, &problem, &search, &hyper), TUTTI_OK);
  double theta[4] = {log(hyper.amplitude), log(lengths[0]), log(lengths[1]), log(hyper.noise)};
  assert_int_equal(gp_workspace_create(context, &problem, &workspace), TUTTI_OK);
  assert_int_equal(gp_likelihood(context, &problem, &workspace, theta, &mean, &likelihood, gradient), TUTTI_OK);
  assert_close(hyper.likelihood, likelihood, 1e-9, 0);
  for (int i = 0; i < 4; i++)
    assert_close(gradient[i], 0, 0, 0.05); /* of a likelihood of hundreds, whose curvatures are of tens */
  assert_close(hyper.noise, 0.05 * 0.05, 0.3, 0);
  gp_workspace_destroy(&workspace);
  tutti_context_destroy(context);
}

/* A posterior with the golden file's hyperparameters. */
static void posterior_of(tutti_context *context, const struct golden_problem *p, size_t at_once,
                         struct gp_posterior *posterior) {
  assert_int_equal(gp_posterior_init(context, GP_MATERN52, p->dimension, posterior), TUTTI_OK);
  posterior->hyper.amplitude = golden_number_of(p->fixed, "sf2");
  posterior->hyper.noise = golden_number_of(p->fixed, "sn2");
  posterior->hyper.mean = golden_number_of(p->fixed, "mean");
  memcpy(posterior->hyper.lengths, p->lengths, p->dimension * sizeof(double));
  assert_int_equal(gp_posterior_add(context, posterior, p->count, p->points, p->values, NULL), TUTTI_OK);
  gp_posterior_refitted(posterior, at_once);
  assert_int_equal(gp_posterior_settle(context, posterior), TUTTI_OK);
}

static void test_posterior(void **state) {
  (void)state;
  tutti_context *context = make_context();
  json_t *root = golden_load("gp_matern52");
  for (size_t which = 0; which < 4; which++) { /* factorised at once, and all but three rows grown */
    struct golden_problem p = problem_load(root, which / 2);
    struct gp_posterior posterior;
    double mean[20], deviation[20], m, s, by_mean[3], by_deviation[3];
    double *means = golden_doubles(golden_get(p.json, "post_mean"), NULL);
    double *deviations = golden_doubles(golden_get(p.json, "post_std_latent"), NULL);
    double *mean_slopes = golden_doubles(golden_get(p.json, "dpost_mean_dx"), NULL);
    double *variance_slopes = golden_doubles(golden_get(p.json, "dpost_var_dx"), NULL);
    posterior_of(context, &p, which % 2 ? 3 : p.count, &posterior);
    gp_posterior_predict(&posterior, p.stars, p.stars_at, mean, deviation);
    for (size_t i = 0; i < p.stars; i++) {
      assert_close(mean[i], means[i], 1e-10, 1e-12);
      assert_close(deviation[i], deviations[i], 1e-10, 0);
      gp_posterior_gradient(&posterior, p.stars_at + i * p.dimension, &m, &s, by_mean, by_deviation);
      assert_close(m, means[i], 1e-10, 1e-12);
      assert_close(s, deviations[i], 1e-10, 0);
      for (size_t k = 0; k < p.dimension; k++) {
        assert_close(by_mean[k], mean_slopes[i * p.dimension + k], 1e-8, 1e-10);
        assert_close(2 * s * by_deviation[k], variance_slopes[i * p.dimension + k], 1e-8, 1e-10);
      }
    }
    gp_posterior_clear(&posterior);
    free(means), free(deviations), free(mean_slopes), free(variance_slopes);
    problem_free(&p);
  }
  json_decref(root);
  tutti_context_destroy(context);
}

/* One observation of known noise v, in the units of the values: at its place the posterior has mean m + a / (a + n +
   v / s^2) (y - m) and variance a - a^2 / (a + n + v / s^2), times s and s^2, where s is the deviation that values
   are divided by. */
static void test_noise_of_observations(void **state) {
  tutti_context *context = make_context();
  const double at[1] = {0.25}, value[1] = {130}, noise[1] = {90}, a = 2, n = 0.1, shift = 100, scale = 12;
  struct gp_posterior posterior;
  double mean, deviation;
  (void)state;
  assert_int_equal(gp_posterior_init(context, GP_MATERN52, 1, &posterior), TUTTI_OK);
  posterior.hyper.amplitude = a;
  posterior.hyper.noise = n;
  posterior.hyper.mean = 0.5;
  posterior.hyper.lengths[0] = 0.3;
  posterior.shift = shift;
  posterior.scale = scale;
  assert_int_equal(gp_posterior_add(context, &posterior, 1, at, value, noise), TUTTI_OK);
  gp_posterior_refitted(&posterior, 1);
  assert_int_equal(gp_posterior_settle(context, &posterior), TUTTI_OK);
  gp_posterior_predict(&posterior, 1, at, &mean, &deviation);
  double all = a + n + noise[0] / (scale * scale), y = (value[0] - shift) / scale;
  assert_close(mean, shift + scale * (0.5 + a / all * (y - 0.5)), 1e-12, 0);
  assert_close(deviation, scale * sqrt(a - a * a / all), 1e-12, 0);
  gp_posterior_clear(&posterior);
  tutti_context_destroy(context);
}

/* Pending points at the place of an observation without noise need jitter; when they are gone, so is that, to the
   last bit. */
static void test_jitter_goes_with_pending_points(void **state) {
  enum { COUNT = 5, PROBES = 7 };
  tutti_context *context = make_context();
  double at[COUNT], values[COUNT], probes[PROBES], before[2][PROBES], after[2][PROBES];
  struct gp_posterior posterior;
  (void)state;
  for (int i = 0; i < COUNT; i++) {
    at[i] = 0.2 * i;
    values[i] = sin(3 * at[i]);
  }
  for (int i = 0; i < PROBES; i++)
    probes[i] = 0.13 * i;
  assert_int_equal(gp_posterior_init(context, GP_MATERN52, 1, &posterior), TUTTI_OK);
  posterior.hyper.amplitude = 1;
  posterior.hyper.noise = 0;
  posterior.hyper.lengths[0] = 0.4;
  assert_int_equal(gp_posterior_add(context, &posterior, COUNT, at, values, NULL), TUTTI_OK);
  gp_posterior_refitted(&posterior, COUNT);
  assert_int_equal(gp_posterior_settle(context, &posterior), TUTTI_OK);
  gp_posterior_predict(&posterior, PROBES, probes, before[0], before[1]);
  double jitter = posterior.matrix.jitter;
  assert_int_equal(gp_posterior_suppose(context, &posterior, COUNT, at, 0), TUTTI_OK);
  assert_true(posterior.matrix.jitter > jitter); /* or nothing is tested */
  gp_posterior_release(&posterior, 0);
  assert_int_equal(gp_posterior_settle(context, &posterior), TUTTI_OK);
  gp_posterior_predict(&posterior, PROBES, probes, after[0], after[1]);
  assert_memory_equal(before, after, sizeof before);
  gp_posterior_clear(&posterior);
  tutti_context_destroy(context);
}

/* A matrix of ones takes a little jitter; one whose pivots are far below zero takes none: its size and pivot are
   named. */
static void test_bounded_jitter(void **state) {
  tutti_context *context = make_context();
  (void)state;
  enum { N = 16 };
  double scaled[N] = {0}, diagonal[N], factor[N * N], at[1];
  struct gp_inputs inputs = {.dimension = 1, .stride = N, .scaled = scaled};
  struct gp_matrix matrix = {.kernel = GP_MATERN52,
                             .column = gp_column_choose(),
                             .inputs = &inputs,
                             .stride = N,
                             .amplitude = 1,
                             .diagonal = diagonal,
                             .factor = factor,
                             .at = at};
  for (int i = 0; i < N; i++)
    diagonal[i] = 0;
  assert_int_equal(gp_factor_all(context, &matrix, N, NULL), TUTTI_OK);
  assert_true(matrix.jitter > 0 && matrix.jitter <= 1e-10);
  for (int i = 0; i < N; i++)
    diagonal[i] = -0.25;
  assert_int_equal(gp_factor_all(context, &matrix, N, NULL), TUTTI_ERROR_NUMERIC);
  assert_non_null(strstr(tutti_error_message(context), "(16 x 16)"));
  assert_non_null(strstr(tutti_error_message(context), "smallest pivot -0.5"));
  tutti_context_destroy(context);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_kernel),
      cmocka_unit_test(test_columns_of_every_processor),
      cmocka_unit_test(test_likelihood),
      cmocka_unit_test(test_likelihood_of_other_kinds),
      cmocka_unit_test(test_optimum),
      cmocka_unit_test(test_optimum_of_many),
      cmocka_unit_test(test_posterior),
      cmocka_unit_test(test_bounded_jitter),
      cmocka_unit_test(test_noise_of_observations),
      cmocka_unit_test(test_jitter_goes_with_pending_points),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
