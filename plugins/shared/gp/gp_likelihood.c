/* gp_likelihood.c - log marginal likelihood and its gradient (Rasmussen & Williams, "Gaussian Processes for Machine
   Learning", 2006, equations 5.8 and 5.9). */
#include <cblas.h>
#include <lapacke.h>

#include "gp_impl.h"

size_t gp_theta_count(const struct gp_problem *problem) { return 2 + (problem->ard ? problem->dimension : 1); }

enum tutti_status gp_workspace_create(tutti_context *context, const struct gp_problem *problem,
                                      struct gp_workspace *workspace) {
  enum tutti_status status;
  size_t stride = gp_stride(problem->count), d = problem->dimension;
  *workspace = (struct gp_workspace){.stride = stride, .inputs = {.dimension = d, .stride = stride}};
  /* stride * sizeof(double) cannot overflow: the caller has arrays of that size. */
  TUTTI_TRY_OUT(context, tutti_alloc(context, d, stride * sizeof(double), &workspace->inputs.scaled));
  TUTTI_TRY_OUT(context, tutti_alloc(context, problem->count, stride * sizeof(double), &workspace->factor));
  TUTTI_TRY_OUT(context, tutti_alloc(context, problem->count, stride * sizeof(double), &workspace->slope));
  TUTTI_TRY_OUT(context, tutti_alloc(context, d + 1, stride * sizeof(double), &workspace->products));
  TUTTI_TRY_OUT(context, tutti_alloc(context, stride, sizeof(double), &workspace->residual));
  TUTTI_TRY_OUT(context, tutti_alloc(context, stride, sizeof(double), &workspace->weight));
  TUTTI_TRY_OUT(context, tutti_alloc(context, stride, sizeof(double), &workspace->ones));
  TUTTI_TRY_OUT(context, tutti_alloc(context, stride, sizeof(double), &workspace->diagonal));
  TUTTI_TRY_OUT(context, tutti_alloc(context, d, sizeof(double), &workspace->at));
  return TUTTI_OK;
out:
  gp_workspace_destroy(workspace);
  return status;
}

void gp_workspace_destroy(struct gp_workspace *workspace) {
  tutti_free(workspace->inputs.scaled);
  tutti_free(workspace->factor);
  tutti_free(workspace->slope);
  tutti_free(workspace->products);
  tutti_free(workspace->residual);
  tutti_free(workspace->weight);
  tutti_free(workspace->ones);
  tutti_free(workspace->diagonal);
  tutti_free(workspace->at);
  *workspace = (struct gp_workspace){0};
}

/* Inputs in length scales, relative to the first point: with the origin among the points, the sums below do not
   cancel. */
static void scale_inputs(const struct gp_problem *problem, const double *theta, struct gp_workspace *workspace) {
  for (size_t k = 0; k < problem->dimension; k++) {
    double length = exp(theta[1 + (problem->ard ? k : 0)]), *row = workspace->inputs.scaled + k * workspace->stride;
    for (size_t i = 0; i < problem->count; i++)
      row[i] = (problem->points[i * problem->dimension + k] - problem->points[k]) / length;
  }
}

/* weight = K⁻¹ residual, residual = values - mean. The most likely mean is 1ᵀK⁻¹y / 1ᵀK⁻¹1. */
static void solve(const struct gp_problem *problem, const struct gp_matrix *matrix, struct gp_workspace *workspace,
                  double *mean) {
  size_t n = problem->count;
  double *weight = workspace->weight, *ones = workspace->ones;
  if (problem->mean == GP_MEAN_FITTED) {
    double numerator = 0, denominator = 0;
    for (size_t i = 0; i < n; i++)
      ones[i] = 1;
    gp_solve_lower(matrix, n, ones);
    gp_solve_upper(matrix, n, ones);
    for (size_t i = 0; i < n; i++) {
      numerator += ones[i] * problem->values[i];
      denominator += ones[i];
    }
    *mean = numerator / denominator;
  }
  for (size_t i = 0; i < n; i++)
    weight[i] = workspace->residual[i] = problem->values[i] - *mean;
  gp_solve_lower(matrix, n, weight);
  gp_solve_upper(matrix, n, weight);
}

/* With W = wwᵀ - K⁻¹: dL/dθ = ½ tr(W dK/dθ). For the amplitude, amplitude (k + jitter) = K - diagonal and
   tr(W K) = w·r - n. For length k, with Q = W ∘ slope and x the scaled inputs,
   ½ amplitude Σ_ij Q_ij (x_i - x_j)² = amplitude (Σ_i x_i² (Q1)_i - xᵀQx). */
static void differentiate(const struct gp_problem *problem, const struct gp_matrix *matrix,
                          struct gp_workspace *workspace, double noise, double *gradient) {
  size_t n = problem->count, d = problem->dimension, stride = workspace->stride, last = gp_theta_count(problem) - 1;
  const double *w = workspace->weight;
  double *inverse = workspace->factor, trace = 0, known = 0, *sums = workspace->products + d * stride;
  LAPACKE_dpotri_work(LAPACK_COL_MAJOR, 'U', (lapack_int)n, inverse, (lapack_int)stride);
  for (size_t j = 0; j < n; j++) {
    double *restrict q = workspace->slope + j * stride, *restrict column = inverse + j * stride, diagonal;
    diagonal = w[j] * w[j] - column[j];
    trace += diagonal;
    known += diagonal * workspace->diagonal[j];
    for (size_t i = 0; i < j; i++)
      q[i] *= w[i] * w[j] - column[i];
    q[j] = 0;
  }
  gradient[0] = 0.5 * (cblas_ddot((int)n, w, 1, workspace->residual, 1) - (double)n - known);
  gradient[last] = 0.5 * noise * trace;

  for (size_t i = 0; i < n; i++)
    workspace->ones[i] = 1;
  cblas_dsymv(CblasColMajor, CblasUpper, (int)n, 1, workspace->slope, (int)stride, workspace->ones, 1, 0, sums, 1);
  if (d > 0)
    cblas_dsymm(CblasColMajor, CblasLeft, CblasUpper, (int)n, (int)d, 1, workspace->slope, (int)stride,
                workspace->inputs.scaled, (int)stride, 0, workspace->products, (int)stride);
  for (size_t k = 1; k < last; k++)
    gradient[k] = 0;
  for (size_t k = 0; k < d; k++) {
    const double *x = workspace->inputs.scaled + k * stride, *product = workspace->products + k * stride;
    double sum = 0;
    for (size_t i = 0; i < n; i++)
      sum += x[i] * (x[i] * sums[i] - product[i]);
    gradient[1 + (problem->ard ? k : 0)] += matrix->amplitude * sum;
  }
}

enum tutti_status gp_likelihood(tutti_context *context, const struct gp_problem *problem,
                                struct gp_workspace *workspace, const double *theta, double *mean, double *likelihood,
                                double *gradient) {
  size_t n = problem->count;
  double noise = exp(theta[gp_theta_count(problem) - 1]), logarithms = 0;
  struct gp_matrix matrix = {.kernel = problem->kernel,
                             .column = problem->column,
                             .inputs = &workspace->inputs,
                             .stride = workspace->stride,
                             .amplitude = exp(theta[0]),
                             .diagonal = workspace->diagonal,
                             .factor = workspace->factor,
                             .at = workspace->at};
  scale_inputs(problem, theta, workspace);
  for (size_t i = 0; i < n; i++)
    workspace->diagonal[i] = noise + (problem->noise ? problem->noise[i] : 0);
  TUTTI_TRY(context, gp_factor_all(context, &matrix, n, gradient ? workspace->slope : NULL));
  solve(problem, &matrix, workspace, mean);
  for (size_t i = 0; i < n; i++)
    logarithms += log(workspace->factor[i * workspace->stride + i]);
  *likelihood = -0.5 * cblas_ddot((int)n, workspace->residual, 1, workspace->weight, 1) - logarithms -
                0.5 * (double)n * log(2 * M_PI);
  if (gradient)
    differentiate(problem, &matrix, workspace, noise, gradient);
  return TUTTI_OK;
}
