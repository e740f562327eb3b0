/* ask.c - times one refit and ask of surrogate gp with acquisition ei on .npy files, float64: ask X Y CANDIDATES
   [REPEATS [brief]]. It prints, on one line, CPU seconds (best of the repeats) and results: the fit; finding the best
   candidate by bounds, and by predicting every candidate; the number of the best by each; the log likelihood; the share
   of a likelihood with gradient that LAPACK takes; all covariances with the candidates; one triangular solve with them
   in BLAS; and the mean time of an ask while the observations grow by a tenth (growth = 0.1: one refit), where each ask
   draws as many new candidates and observes the best; brief: without the last five. ask_sklearn.py runs it beside
   scikit-learn on the same data. */
#include <cblas.h>
#include <lapacke.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tutti/acquisition.h>
#include <tutti/hosting.h>
#include <tutti/data.h>
#include <tutti/registry.h>

#include "plugins/surrogate/gp.c"

#undef TUTTI_PLUGIN
#define TUTTI_PLUGIN(descriptor)
#include "plugins/acquisition/ei.c"

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

struct problem {
  size_t count, dimension, candidates;
  const double *x, *y, *z;
};

struct model {
  tutti_host *host;
  tutti_surrogate *surrogate;
  tutti_acquisition *acquisition;
};

static enum tutti_status model_create(tutti_context *context, size_t dimension, struct model *model) {
  struct tutti_host_facts facts = {.size = sizeof(facts), .seed = 1, .budget = 1000, .window = 1};
  TUTTI_TRY(context, tutti_host_create(context, &facts, &model->host));
  struct tutti_surrogate_setup surrogate = {
      .size = sizeof(surrogate), .host = model->host, .seed = 1, .dimension = dimension};
  struct tutti_acquisition_setup acquisition = {.size = sizeof(acquisition), .host = model->host, .seed = 1};
  TUTTI_TRY(context, tutti_plugin_register(context, &gp_descriptor));
  TUTTI_TRY(context, tutti_plugin_register(context, &ei_descriptor));
  TUTTI_TRY(context, tutti_host_put(context, model->host, "surrogate", TUTTI_KIND_SURROGATE, "gp"));
  TUTTI_TRY(context, tutti_host_put(context, model->host, "acquisition", TUTTI_KIND_ACQUISITION, "ei"));
  TUTTI_TRY(context, tutti_host_set(context, model->host, "surrogate", "growth", "0.1"));
  TUTTI_TRY(context, tutti_surrogate_create(context, model->host, "surrogate", &surrogate, &model->surrogate));
  return tutti_acquisition_create(context, model->host, "acquisition", &acquisition, &model->acquisition);
}

static void model_destroy(struct model *model) {
  tutti_acquisition_destroy(model->acquisition);
  tutti_surrogate_destroy(model->surrogate);
  tutti_host_destroy(model->host);
}

/* The candidate of the largest worth: by bounds, or of all. */
static enum tutti_status choose(tutti_context *context, const struct model *model, const struct tutti_points *at,
                                double least, bool bounds, double *worth, size_t *best) {
  struct tutti_standing standing = {.size = sizeof(standing), .best = least};
  TUTTI_TRY(
      context,
      bounds ? tutti_acquisition_evaluate_best(context, model->acquisition, &standing, model->surrogate, at, 1, worth)
             : tutti_acquisition_evaluate(context, model->acquisition, &standing, model->surrogate, at, worth));
  *best = SIZE_MAX;
  for (size_t i = 0; i < at->count; i++)
    if (!isnan(worth[i]) && (*best == SIZE_MAX || worth[i] > worth[*best]))
      *best = i;
  return TUTTI_OK;
}

static double least_of(const struct problem *problem) {
  double least = INFINITY;
  for (size_t i = 0; i < problem->count; i++)
    least = fmin(least, problem->y[i]);
  return least;
}

struct timing {
  double fit, ask[2]; /* of every candidate, and by bounds */
  size_t best[2];
};

static enum tutti_status ask_once(tutti_context *context, const struct problem *problem, const struct model *model,
                                  double *worth, struct timing *timing) {
  struct tutti_points seen = {sizeof(seen), problem->count, problem->dimension, problem->x, NULL};
  struct tutti_points at = {sizeof(at), problem->candidates, problem->dimension, problem->z, NULL};
  double start = seconds();
  TUTTI_TRY(context, tutti_surrogate_fit(context, model->surrogate, &seen, problem->y, NULL));
  timing->fit = fmin(timing->fit, seconds() - start);
  for (int bounds = 0; bounds < 2; bounds++) {
    start = seconds();
    TUTTI_TRY(context, choose(context, model, &at, least_of(problem), bounds, worth, &timing->best[bounds]));
    timing->ask[bounds] = fmin(timing->ask[bounds], seconds() - start);
  }
  return TUTTI_OK;
}

/* Asks and tells from a fit until the next is due: the function of ask_sklearn.py, with its noise. */
static enum tutti_status ask_and_tell(tutti_context *context, const struct problem *problem, const struct model *model,
                                      double *worth, double *seconds_of) {
  size_t asks = (problem->count + 9) / 10, d = problem->dimension, best;
  struct tutti_points seen = {sizeof(seen), problem->count, d, problem->x, NULL};
  double least = least_of(problem), *fresh = malloc(problem->candidates * d * sizeof(double));
  struct tutti_points at = {sizeof(at), problem->candidates, d, fresh, NULL};
  struct tutti_random random;
  tutti_random_init(&random, 1, "bench candidates", 0);
  double start = seconds();
  TUTTI_TRY(context, tutti_surrogate_fit(context, model->surrogate, &seen, problem->y, NULL));
  *seconds_of = seconds() - start;
  for (size_t ask = 0; ask < asks; ask++) {
    for (size_t i = 0; i < problem->candidates * d; i++)
      fresh[i] = tutti_random_uniform(&random);
    start = seconds();
    TUTTI_TRY(context, choose(context, model, &at, least, true, worth, &best));
    *seconds_of += seconds() - start;
    struct tutti_points told = {sizeof(told), 1, d, fresh + best * d, NULL};
    double value = 0.05 * tutti_random_normal(&random);
    for (size_t k = 0; k < d; k++)
      value += sin(3 * told.vectors[k]);
    least = fmin(least, value);
    TUTTI_TRY(context, tutti_surrogate_add(context, model->surrogate, &told, &value, NULL));
  }
  *seconds_of /= (double)asks;
  free(fresh);
  return TUTTI_OK;
}

static enum tutti_status likelihood_of(tutti_context *context, const struct model *model, double *likelihood) {
  char *text;
  TUTTI_TRY(context, tutti_surrogate_describe(context, model->surrogate, &text));
  json_t *json = json_loads(text, 0, NULL);
  *likelihood = json_real_value(json_object_get(json, "log_likelihood"));
  json_decref(json);
  tutti_free(text);
  return TUTTI_OK;
}

/* Seconds of a likelihood with its gradient, and of the factorisation and inversion in it. */
static enum tutti_status likelihood_limit(tutti_context *context, const struct problem *problem, double *whole,
                                          double *lapack) {
  size_t n = problem->count, stride = gp_stride(n);
  struct gp_problem of = {.kernel = GP_MATERN52,
                          .ard = true,
                          .column = gp_column_choose(),
                          .count = n,
                          .dimension = problem->dimension,
                          .points = problem->x,
                          .values = problem->y};
  struct gp_workspace workspace;
  double theta[66] = {0}, gradient[66], likelihood, mean = 0, *matrix = malloc(n * stride * sizeof(double));
  theta[gp_theta_count(&of) - 1] = log(0.01);
  *whole = *lapack = INFINITY;
  TUTTI_TRY(context, gp_workspace_create(context, &of, &workspace));
  for (int i = 0; i < 5; i++) {
    double start = seconds();
    TUTTI_TRY(context, gp_likelihood(context, &of, &workspace, theta, &mean, &likelihood, gradient));
    *whole = fmin(*whole, seconds() - start);
    for (size_t j = 0; j < n * stride; j++)
      matrix[j] = j % (stride + 1) == 0 ? 2 : 1.0 / (double)n;
    start = seconds();
    LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', (int)n, matrix, (int)stride);
    LAPACKE_dpotri_work(LAPACK_COL_MAJOR, 'U', (int)n, matrix, (int)stride);
    *lapack = fmin(*lapack, seconds() - start);
  }
  free(matrix);
  gp_workspace_destroy(&workspace);
  return TUTTI_OK;
}

/* Seconds of a triangular solve with all candidates in one call of BLAS. */
static double solve_limit(const struct problem *problem) {
  size_t n = problem->count, m = problem->candidates, stride = gp_stride(n);
  double *block = calloc(n * m, sizeof(double)), *factor = calloc(n * stride, sizeof(double)), best = INFINITY;
  for (size_t i = 0; i < n; i++)
    factor[i * (stride + 1)] = 1;
  for (int i = 0; i < 3; i++) {
    double start = seconds();
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, (int)n, (int)m, 1, factor, (int)stride,
                block, (int)n);
    best = fmin(best, seconds() - start);
  }
  free(block);
  free(factor);
  return best;
}

/* Seconds of the correlations of all observations with all candidates. */
static double kernel_limit(const struct problem *problem) {
  size_t n = problem->count, d = problem->dimension, stride = gp_stride(n);
  double *scaled = calloc(d * stride, sizeof(double)), *column = calloc(stride, sizeof(double)), best = INFINITY;
  struct gp_inputs inputs = {.dimension = d, .stride = stride, .scaled = scaled};
  gp_column_function *correlate = gp_column_choose();
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < d; k++)
      scaled[k * stride + i] = problem->x[i * d + k];
  for (int i = 0; i < 3; i++) {
    double start = seconds();
    for (size_t c = 0; c < problem->candidates; c++)
      correlate(GP_MATERN52, &inputs, n, problem->z + c * d, column, NULL);
    best = fmin(best, seconds() - start);
  }
  free(scaled);
  free(column);
  return best;
}

static enum tutti_status run(tutti_context *context, char **files, int repeats, bool brief) {
  struct tutti_npy x, y, z;
  struct model model = {0};
  struct timing timing = {.fit = INFINITY, .ask = {INFINITY, INFINITY}};
  double whole, lapack, likelihood, amortised, *worth = NULL;
  TUTTI_TRY(context, tutti_npy_map(context, files[0], &x));
  TUTTI_TRY(context, tutti_npy_map(context, files[1], &y));
  TUTTI_TRY(context, tutti_npy_map(context, files[2], &z));
  struct problem problem = {.count = x.shape[0], .dimension = x.shape[1], .candidates = z.shape[0]};
  problem.x = x.data, problem.y = y.data, problem.z = z.data;
  TUTTI_TRY(context, tutti_alloc(context, problem.candidates, sizeof(double), &worth));
  TUTTI_TRY(context, model_create(context, problem.dimension, &model));
  for (int i = 0; i < repeats; i++)
    TUTTI_TRY(context, ask_once(context, &problem, &model, worth, &timing));
  TUTTI_TRY(context, likelihood_of(context, &model, &likelihood));
  printf("%.6f %.6f %.6f %zu %zu %.6f", timing.fit, timing.ask[1], timing.ask[0], timing.best[1], timing.best[0],
         likelihood);
  if (!brief) {
    TUTTI_TRY(context, likelihood_limit(context, &problem, &whole, &lapack));
    TUTTI_TRY(context, ask_and_tell(context, &problem, &model, worth, &amortised));
    printf(" %.2f %.6f %.6f %.6f", lapack / whole, kernel_limit(&problem), solve_limit(&problem), amortised);
  }
  printf("\n");
  model_destroy(&model);
  tutti_free(worth);
  tutti_npy_unmap(&x);
  tutti_npy_unmap(&y);
  tutti_npy_unmap(&z);
  return TUTTI_OK;
}

int main(int count, char **arguments) {
  tutti_context *context;
  if (count < 4 || tutti_context_create(&context) != TUTTI_OK) {
    (void)fprintf(stderr, "usage: %s X.npy Y.npy CANDIDATES.npy [REPEATS [brief]]\n", arguments[0]);
    return 2;
  }
  enum tutti_status status =
      run(context, arguments + 1, count > 4 ? atoi(arguments[4]) : 3, count > 5 && strcmp(arguments[5], "brief") == 0);
  if (status != TUTTI_OK)
    (void)fprintf(stderr, "%s\n", tutti_error_message(context));
  tutti_context_destroy(context);
  return status != TUTTI_OK;
}
