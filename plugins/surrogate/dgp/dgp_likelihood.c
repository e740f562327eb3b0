/* dgp_likelihood.c - log marginal likelihood of the projected covariance, and its gradient (Rasmussen & Williams,
   "Gaussian Processes for Machine Learning", 2006, equations 5.8 and 5.9). The projection K+ = V f(Λ) Vᵀ of K = V Λ Vᵀ
   has the derivative V (F ∘ VᵀdK V) Vᵀ with F_ij = (f(λ_i) - f(λ_j)) / (λ_i - λ_j) (Daleckii & Krein 1965). */
#include <cblas.h>
#include <lapacke.h>
#include <string.h>

#include "dgp_impl.h"

enum tutti_status dgp_units_of(tutti_context *context, const struct dgp_data *data, size_t count,
                               struct dgp_units *units) {
  double *sorted = NULL, mean = 0, squares = 0;
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof(double), &sorted));
  memcpy(sorted, data->values, count * sizeof(double));
  tutti_sort_numbers(count, sorted);
  units->shift = 0.5 * sorted[(count - 1) / 2] + 0.5 * sorted[count / 2];
  tutti_free(sorted);
  for (size_t i = 0; i < count; i++)
    mean += data->values[i] / (double)count;
  for (size_t i = 0; i < count; i++)
    squares += (data->values[i] - mean) * (data->values[i] - mean) / (double)count;
  units->scale = sqrt(squares);
  if (!(units->scale > 1e-12 * fabs(mean)) || !isfinite(units->scale))
    units->scale = 1; /* a constant keeps its own */
  return TUTTI_OK;
}

/* The slope of the clipped eigenvalues between numbers i and j. */
static double slope_between(const struct dgp_spectrum *spectrum, size_t i, size_t j) {
  size_t low = i < j ? i : j, high = i < j ? j : i;
  if (low >= spectrum->clipped)
    return 1;
  if (high < spectrum->clipped)
    return 0;
  return (spectrum->values[high] - spectrum->floor) / (spectrum->values[high] - spectrum->values[low]);
}

/* w := V (F ∘ Vᵀ w V) Vᵀ, a full symmetric matrix; `a` is scratch. */
static void pull_back(const struct dgp_spectrum *spectrum, double *a, double *w) {
  int n = (int)spectrum->count;
  const double *v = spectrum->vectors;
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, w, n, v, n, 0, a, n);
  cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, n, n, n, 1, v, n, a, n, 0, w, n);
  for (size_t j = 0; j < spectrum->count; j++)
    for (size_t i = 0; i < spectrum->count; i++)
      w[j * spectrum->count + i] *= slope_between(spectrum, i, j);
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, n, n, n, 1, w, n, v, n, 0, a, n);
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, v, n, a, n, 0, w, n);
}

/* With W = wwᵀ - A⁻¹: dL = 1/2 <W, dA>. */
static void differentiate(const struct dgp_data *data, const double *hyper, struct dgp_workspace *workspace,
                          double *gradient) {
  size_t n = workspace->count;
  double *inverse = workspace->inverse, trace = 0;
  memcpy(inverse, workspace->factor, n * n * sizeof(double));
  LAPACKE_dpotri_work(LAPACK_COL_MAJOR, 'L', (lapack_int)n, inverse, (lapack_int)n);
  for (size_t j = 0; j < n; j++)
    for (size_t i = j; i < n; i++) {
      double value = workspace->weight[i] * workspace->weight[j] - inverse[j * n + i];
      inverse[j * n + i] = inverse[i * n + j] = value;
    }
  for (size_t i = 0; i < n; i++)
    trace += inverse[i * n + i];
  if (workspace->spectrum->clipped > 0)
    pull_back(workspace->spectrum, workspace->part, inverse);
  dgp_contract(data, hyper, workspace, inverse, gradient);
  gradient[dgp_noise(&data->shape)] = 0.5 * hyper[dgp_noise(&data->shape)] * trace;
}

enum tutti_status dgp_likelihood(tutti_context *context, const struct dgp_data *data, const struct dgp_units *units,
                                 const double *hyper, struct dgp_workspace *workspace, double *likelihood,
                                 double *gradient) {
  size_t n = workspace->count;
  double logarithms = 0;
  for (size_t i = 0; i < n; i++)
    workspace->diagonal[i] = data->noise[i] / (units->scale * units->scale);
  dgp_covariance(data, hyper, workspace);
  TUTTI_TRY(context, dgp_factor(context, data, hyper, workspace));
  for (size_t i = 0; i < n; i++)
    workspace->weight[i] = workspace->residual[i] = (data->values[i] - units->shift) / units->scale;
  LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', (lapack_int)n, 1, workspace->factor, (lapack_int)n, workspace->weight,
                      (lapack_int)n);
  for (size_t i = 0; i < n; i++)
    logarithms += log(workspace->factor[i * n + i]);
  *likelihood = -0.5 * cblas_ddot((int)n, workspace->residual, 1, workspace->weight, 1) - logarithms -
                0.5 * (double)n * log(2 * M_PI);
  if (gradient)
    differentiate(data, hyper, workspace, gradient);
  return TUTTI_OK;
}
