/* ask.c - times one refit and ask of surrogate gp with acquisition ei on .npy files, float64: ask X Y CANDIDATES [REPEATS].
   Prints the CPU seconds of the fit and of the ask (best of the repeats), the log likelihood, the best candidate, the shares of
   a likelihood with gradient and of a prediction that LAPACK and BLAS alone take on the same sizes, and the seconds of an
   observation more between two fits. ask_sklearn.py runs it beside scikit-learn on the same data. */
#include <cblas.h>
#include <lapacke.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tutti/data.h>

#include "../../plugins/surrogate/gp.c"

#undef TUTTI_PLUGIN
#define TUTTI_PLUGIN(descriptor)
#include "../../plugins/acquisition/ei.c"

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

struct problem {
  size_t count, dimension, candidates;
  const double *x, *y, *z;
};

static const double amplitude[] = {1e-4, 1e4}, length[] = {1e-2, 1e2}, noise[] = {1e-8, 1};
static const struct gp_config config = {.ard = true,
                                        .amplitude = {2, amplitude},
                                        .length_scale = {2, length},
                                        .noise = {2, noise},
                                        .looks = 128,
                                        .starts = 4,
                                        .evaluations = 200,
                                        .refit = 1,
                                        .growth = 0.1};

/* Fit, then expected improvement at every candidate. */
static enum tutti_status ask_once(tutti_context *context, const struct problem *problem, void *gp, double *worth,
                                  double *moments, double *fit, double *ask) {
  static const struct ei_config ei_config = {.log = true};
  struct ei ei = {.config = &ei_config};
  struct tutti_standing standing = {.size = sizeof(standing), .best = INFINITY};
  struct tutti_points seen = {sizeof(seen), problem->count, problem->dimension, problem->x, NULL};
  struct tutti_points at = {sizeof(at), problem->candidates, problem->dimension, problem->z, NULL};
  for (size_t i = 0; i < problem->count; i++)
    standing.best = fmin(standing.best, problem->y[i]);
  double start = seconds();
  TUTTI_TRY(context, surrogate_fit_gp(gp, context, &seen, problem->y, NULL));
  double middle = seconds();
  TUTTI_TRY(context, surrogate_predict_gp(gp, context, &at, moments, moments + problem->candidates));
  TUTTI_TRY(context, acquisition_moments_ei(&ei, context, &standing, problem->candidates, moments,
                                            moments + problem->candidates, worth, NULL, NULL));
  *fit = fmin(*fit, middle - start);
  *ask = fmin(*ask, seconds() - middle);
  return TUTTI_OK;
}

/* Seconds in which an observation joins the factor, before the next fit is due. */
static enum tutti_status grow(tutti_context *context, const struct problem *problem, void *gp, double *seconds_of) {
  struct tutti_points fresh = {sizeof(fresh), 1, problem->dimension, problem->z, NULL};
  double mean, deviation, start = seconds();
  TUTTI_TRY(context, surrogate_add_gp(gp, context, &fresh, problem->y, NULL));
  TUTTI_TRY(context, surrogate_predict_gp(gp, context, &fresh, &mean, &deviation));
  *seconds_of = seconds() - start;
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

/* Seconds of the triangular solve that a prediction at all candidates needs, in one call. */
static double solve_limit(const struct problem *problem, const struct gp *gp) {
  size_t n = problem->count, m = problem->candidates;
  double *block = calloc(n * m, sizeof(double)), best = INFINITY;
  for (int i = 0; i < 3; i++) {
    double start = seconds();
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, (int)n, (int)m, 1,
                gp->mixture.posteriors->matrix.factor, (int)gp->mixture.posteriors->stride, block, (int)n);
    best = fmin(best, seconds() - start);
  }
  free(block);
  return best;
}

static enum tutti_status run(tutti_context *context, char **files, int repeats) {
  struct tutti_npy x, y, z;
  struct tutti_surrogate_setup setup = {.size = sizeof(setup), .seed = 1};
  double fit = INFINITY, ask = INFINITY, whole, lapack, more, *worth, *moments;
  size_t best = 0;
  void *gp;
  TUTTI_TRY(context, tutti_npy_map(context, files[0], &x));
  TUTTI_TRY(context, tutti_npy_map(context, files[1], &y));
  TUTTI_TRY(context, tutti_npy_map(context, files[2], &z));
  struct problem problem = {.count = x.shape[0], .dimension = x.shape[1], .candidates = z.shape[0]};
  problem.x = x.data, problem.y = y.data, problem.z = z.data;
  setup.dimension = problem.dimension;
  TUTTI_TRY(context, tutti_alloc(context, problem.candidates, sizeof(double), &worth));
  TUTTI_TRY(context, tutti_alloc(context, problem.candidates, 2 * sizeof(double), &moments));
  TUTTI_TRY(context, surrogate_create_gp(context, &config, &setup, &gp));
  for (int i = 0; i < repeats; i++)
    TUTTI_TRY(context, ask_once(context, &problem, gp, worth, moments, &fit, &ask));
  for (size_t i = 1; i < problem.candidates; i++)
    best = worth[i] > worth[best] ? i : best;
  TUTTI_TRY(context, likelihood_limit(context, &problem, &whole, &lapack));
  double limit = solve_limit(&problem, gp);
  TUTTI_TRY(context, grow(context, &problem, gp, &more));
  printf("%.6f %.6f %.6f %zu %.2f %.2f %.6f\n", fit, ask, ((struct gp *)gp)->mixture.posteriors->hyper.likelihood, best,
         lapack / whole, limit / ask, more);
  surrogate_destroy_gp(gp);
  tutti_free(worth);
  tutti_free(moments);
  tutti_npy_unmap(&x);
  tutti_npy_unmap(&y);
  tutti_npy_unmap(&z);
  return TUTTI_OK;
}

int main(int count, char **arguments) {
  tutti_context *context;
  if (count < 4 || tutti_context_create(&context) != TUTTI_OK) {
    (void)fprintf(stderr, "usage: %s X.npy Y.npy CANDIDATES.npy [REPEATS]\n", arguments[0]);
    return 2;
  }
  enum tutti_status status = run(context, arguments + 1, count > 4 ? atoi(arguments[4]) : 3);
  if (status != TUTTI_OK)
    (void)fprintf(stderr, "%s\n", tutti_error_message(context));
  tutti_context_destroy(context);
  return status != TUTTI_OK;
}
