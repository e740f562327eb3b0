/* Surrogate gp: kernel, likelihood, gradients, posterior and optimum against golden numbers; growth, hallucination, draws
   and hard data as properties. */
#include "golden.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "../../plugins/surrogate/gp.c"
#include "../../plugins/surrogate/gp/gp_fit.c"
#include "../../plugins/surrogate/gp/gp_kernel.c"

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

    /* Where the mean is fitted it is the best one, and the gradient is that of the likelihood with the mean following. */
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

/* One fit as users have it, from starts of this seed; with `usual` = false from drawn ones alone, over all of the bounds. Is
   it the optimum, in likelihood to 1e-5 and in log hyperparameters to 1e-3? */
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
  gp->search.usual = usual;
  assert_int_equal(surrogate_fit_gp(gp, context, &points, p->values, NULL), TUTTI_OK);
  const struct gp_hyper *hyper = &gp->posterior.hyper;
  double unit = 2 * log(gp->posterior.scale), likelihood = hyper->likelihood - 0.5 * unit * (double)p->count;
  bool found = fabs(likelihood - golden_number_of(best, "lml")) < 1e-5 &&
               fabs(log(hyper->amplitude) + unit - golden_number_of(best, "log_sf2")) < 1e-3 &&
               fabs(log(hyper->noise) + unit - golden_number_of(best, "log_sn2")) < 1e-3 &&
               fabs(gp->posterior.shift + gp->posterior.scale * hyper->mean - golden_number_of(best, "mean")) < 1e-3;
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

/* --- the plugin ---------------------------------------------------------------------------------------------------- */

struct fixture {
  tutti_context *context;
  struct gp_config config;
  double ranges[3][2];
  void *gp;
};

enum { DIMENSION = 2, MANY = 60 };

static void make(struct fixture *fixture) {
  struct tutti_surrogate_setup setup = {.size = sizeof(setup), .seed = 3, .dimension = DIMENSION};
  assert_int_equal(surrogate_create_gp(fixture->context, &fixture->config, &setup, &fixture->gp), TUTTI_OK);
}

static int setup(void **state) {
  struct fixture *fixture = calloc(1, sizeof(*fixture));
  static const double ranges[3][2] = {{1e-4, 1e4}, {0.01, 100}, {1e-8, 1}};
  if (tutti_context_create(&fixture->context) != TUTTI_OK)
    return -1;
  memcpy(fixture->ranges, ranges, sizeof(ranges));
  fixture->config = (struct gp_config){.ard = true,
                                       .amplitude = {2, fixture->ranges[0]},
                                       .length_scale = {2, fixture->ranges[1]},
                                       .noise = {2, fixture->ranges[2]},
                                       .looks = 16,
                                       .starts = 2,
                                       .evaluations = 100,
                                       .refit = 1};
  *state = fixture;
  return 0;
}

static int teardown(void **state) {
  struct fixture *fixture = *state;
  if (fixture->gp)
    surrogate_destroy_gp(fixture->gp);
  tutti_context_destroy(fixture->context);
  free(fixture);
  return 0;
}

static void data(size_t count, double *points, double *values) {
  struct tutti_random random;
  tutti_random_init(&random, 5, "test data", 0);
  for (size_t i = 0; i < count; i++) {
    double *x = points + DIMENSION * i;
    x[0] = tutti_random_uniform(&random);
    x[1] = tutti_random_uniform(&random);
    values[i] = 300 + 40 * sin(5 * x[0]) * x[1] + 0.5 * tutti_random_normal(&random);
  }
}

static struct tutti_points points_at(const double *vectors, size_t count) {
  return (struct tutti_points){
      .size = sizeof(struct tutti_points), .count = count, .dimension = DIMENSION, .vectors = vectors};
}

static void predict(struct fixture *fixture, const double *vectors, size_t count, double *mean, double *deviation) {
  struct tutti_points at = points_at(vectors, count);
  assert_int_equal(surrogate_predict_gp(fixture->gp, fixture->context, &at, mean, deviation), TUTTI_OK);
}

static enum tutti_status fit(struct fixture *fixture, const double *vectors, const double *values, size_t count) {
  struct tutti_points at = points_at(vectors, count);
  return surrogate_fit_gp(fixture->gp, fixture->context, &at, values, NULL);
}

static void add(struct fixture *fixture, const double *vectors, const double *values, size_t count) {
  struct tutti_points at = points_at(vectors, count);
  assert_int_equal(surrogate_add_gp(fixture->gp, fixture->context, &at, values, NULL), TUTTI_OK);
}

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
  before = gp->posterior.hyper.amplitude;
  add(fixture, x + 20 * DIMENSION, y + 20, 9);
  predict(fixture, x, 1, mean, deviation);
  assert_true(gp->posterior.hyper.amplitude == before && gp->based == 20);
  add(fixture, x + 29 * DIMENSION, y + 29, 3);
  predict(fixture, x, 1, mean, deviation);
  assert_true(gp->posterior.hyper.amplitude != before && gp->based == 30);
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
    size_t have = gp->posterior.count;
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

/* A matrix of ones takes a little jitter; one whose pivots are far below zero takes none: its size and pivot are named. */
static void test_bounded_jitter(void **state) {
  struct fixture *fixture = *state;
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
  assert_int_equal(gp_factor_all(fixture->context, &matrix, N, NULL), TUTTI_OK);
  assert_true(matrix.jitter > 0 && matrix.jitter <= 1e-10);
  for (int i = 0; i < N; i++)
    diagonal[i] = -0.25;
  assert_int_equal(gp_factor_all(fixture->context, &matrix, N, NULL), TUTTI_ERROR_NUMERIC);
  assert_non_null(strstr(tutti_error_message(fixture->context), "(16 x 16)"));
  assert_non_null(strstr(tutti_error_message(fixture->context), "smallest pivot -0.5"));
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
      cmocka_unit_test(test_kernel),
      cmocka_unit_test(test_columns_of_every_processor),
      cmocka_unit_test(test_likelihood),
      cmocka_unit_test(test_likelihood_of_other_kinds),
      cmocka_unit_test(test_optimum),
      cmocka_unit_test(test_optimum_of_many),
      cmocka_unit_test(test_posterior),
      cmocka_unit_test_setup_teardown(test_fits_data, setup, teardown),
      cmocka_unit_test_setup_teardown(test_state_is_the_sequence, setup, teardown),
      cmocka_unit_test_setup_teardown(test_hyperparameters_stay_between_refits, setup, teardown),
      cmocka_unit_test_setup_teardown(test_schedule, setup, teardown),
      cmocka_unit_test_setup_teardown(test_hallucination, setup, teardown),
      cmocka_unit_test_setup_teardown(test_gradient, setup, teardown),
      cmocka_unit_test_setup_teardown(test_draw, setup, teardown),
      cmocka_unit_test_setup_teardown(test_hard_data, setup, teardown),
      cmocka_unit_test_setup_teardown(test_noise_zero, setup, teardown),
      cmocka_unit_test_setup_teardown(test_known_noise, setup, teardown),
      cmocka_unit_test_setup_teardown(test_refusals, setup, teardown),
      cmocka_unit_test_setup_teardown(test_bounded_jitter, setup, teardown),
      cmocka_unit_test_setup_teardown(test_cancel, setup, teardown),
      cmocka_unit_test_setup_teardown(test_describe, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
