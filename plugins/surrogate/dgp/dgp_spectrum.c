/* dgp_spectrum.c - eigenvalues, the nearest positive definite matrix, and Cholesky factors. Surrogate gp tries larger
   and larger jitters on the diagonal until a factor exists. Here eigenvalues are known, so eigenvalues that are zero up
   to rounding are raised, in one step, to where a factor exists. */
#include <cblas.h>
#include <float.h>
#include <lapacke.h>
#include <stdio.h>
#include <string.h>

#include "dgp_impl.h"

/* As a share of the largest eigenvalue: far above rounding, far below the noise of any observation. */
static const double least_share = 1e-12;

static size_t work_size(size_t n) { return 1 + 6 * n + 2 * n * n; }
static size_t integers_size(size_t n) { return 3 + 5 * n; }

enum tutti_status dgp_spectrum_create(tutti_context *context, size_t count, struct dgp_spectrum **spectrum) {
  enum tutti_status status;
  struct dgp_spectrum *made = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof(*made), &made));
  made->count = count;
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof(double), &made->values));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, count * sizeof(double), &made->vectors));
  TUTTI_TRY_OUT(context, tutti_alloc(context, work_size(count), sizeof(double), &made->work));
  TUTTI_TRY_OUT(context, tutti_alloc(context, integers_size(count), sizeof(int), &made->integers));
  *spectrum = made;
  return TUTTI_OK;
out:
  dgp_spectrum_destroy(made);
  return status;
}

void dgp_spectrum_destroy(struct dgp_spectrum *spectrum) {
  if (!spectrum)
    return;
  tutti_free(spectrum->values);
  tutti_free(spectrum->vectors);
  tutti_free(spectrum->work);
  tutti_free(spectrum->integers);
  tutti_free(spectrum);
}

enum tutti_status dgp_decompose(tutti_context *context, const double *matrix, struct dgp_spectrum *spectrum) {
  size_t n = spectrum->count;
  double sum = 0;
  for (size_t j = 0; j < n; j++)
    for (size_t i = j; i < n; i++)
      sum += fabs(spectrum->vectors[j * n + i] = matrix[j * n + i]);
  lapack_int info = isfinite(sum)
                        ? LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, 'V', 'L', (lapack_int)n, spectrum->vectors,
                                              (lapack_int)n, spectrum->values, spectrum->work, (lapack_int)work_size(n),
                                              spectrum->integers, (lapack_int)integers_size(n))
                        : -1;
  if (info != 0)
    return TUTTI_FAIL(
        context, TUTTI_ERROR_NUMERIC,
        "surrogate gp-otmann: the covariance matrix (%zu x %zu) has no eigenvalues (sum of its magnitudes "
        "%g, LAPACK's dsyevd says %d); look for values that are not finite",
        n, n, sum, (int)info);
  spectrum->floor = n > 0 ? least_share * fmax(spectrum->values[n - 1], 0) : 0;
  spectrum->clipped = 0;
  while (spectrum->clipped < n && spectrum->values[spectrum->clipped] < spectrum->floor)
    spectrum->clipped++;
  return TUTTI_OK;
}

/* Are all eigenvalues above the floor, beyond the rounding of whoever computes them? Then a Cholesky factor of the
   matrix minus a multiple of that floor exists, which takes a twentieth of the time of eigenvalues. The largest sum of
   magnitudes in a row is not below the largest eigenvalue. False says nothing. `shifted` [n][n] is scratch. */
static bool is_surely_positive(size_t n, const double *matrix, double *sums, double *shifted) {
  double bound = 0, total = 0;
  memset(sums, 0, n * sizeof(double));
  memcpy(shifted, matrix, n * n * sizeof(double));
  for (size_t j = 0; j < n; j++)
    for (size_t i = j; i < n; i++) {
      double size = fabs(matrix[j * n + i]);
      sums[j] += size;
      sums[i] += i == j ? 0 : size;
    }
  for (size_t i = 0; i < n; i++) {
    bound = fmax(bound, sums[i]);
    total += sums[i];
  }
  if (!isfinite(total))
    return false;
  for (size_t i = 0; i < n; i++)
    shifted[i * n + i] -= (2 * least_share + 4 * (double)n * DBL_EPSILON) * bound;
  return LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', (lapack_int)n, shifted, (lapack_int)n) == 0;
}

void dgp_project(const struct dgp_spectrum *spectrum, double *scratch, double *matrix) {
  size_t n = spectrum->count;
  for (size_t k = 0; k < n; k++) {
    double root = sqrt(k < spectrum->clipped ? spectrum->floor : spectrum->values[k]);
    for (size_t i = 0; i < n; i++)
      scratch[k * n + i] = root * spectrum->vectors[k * n + i];
  }
  cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, (int)n, (int)n, 1, scratch, (int)n, 0, matrix, (int)n);
}

static size_t append(char *text, size_t size, size_t length, const char *lead, double value) {
  int written = snprintf(text + length, size - length, "%s%.4g", lead, value);
  return written > 0 && length + (size_t)written < size ? length + (size_t)written : length;
}

/* All eigenvalues of a small matrix, the smallest and largest ones of a large one. */
static void list_eigenvalues(const struct dgp_spectrum *spectrum, char *text, size_t size) {
  enum { SHOWN = 12, LAST = 3 };
  size_t n = spectrum->count, length = 0;
  text[0] = 0;
  for (size_t i = 0; i < n; i++) {
    if (n > SHOWN && i == SHOWN - LAST)
      i = n - LAST;
    length = append(text, size, length, n > SHOWN && i == n - LAST ? ", ..., " : i ? ", " : "", spectrum->values[i]);
  }
}

static enum tutti_status show_eigenvalues(tutti_context *context, const double *original,
                                          struct dgp_spectrum *spectrum) {
  char text[512];
  size_t negative = 0;
  TUTTI_TRY(context, dgp_decompose(context, original, spectrum));
  while (negative < spectrum->count && spectrum->values[negative] < 0)
    negative++;
  list_eigenvalues(spectrum, text, sizeof(text));
  return TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC,
                    "surrogate gp-otmann: the covariance matrix (%zu x %zu) is not positive definite with its noise: "
                    "before noise %zu of its eigenvalues are negative: %s; set projection = yes, or raise the least "
                    "noise",
                    spectrum->count, spectrum->count, negative, text);
}

enum tutti_status dgp_factorise(tutti_context *context, size_t count, const double *original,
                                struct dgp_spectrum *spectrum, double *matrix) {
  lapack_int info = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', (lapack_int)count, matrix, (lapack_int)count);
  for (size_t i = 0; info == 0 && i < count; i++)
    info = isfinite(matrix[i * count + i]) ? 0 : 1;
  return info == 0 ? TUTTI_OK : show_eigenvalues(context, original, spectrum);
}

enum tutti_status dgp_factor(tutti_context *context, const struct dgp_data *data, const double *hyper,
                             struct dgp_workspace *workspace) {
  size_t n = workspace->count;
  workspace->spectrum->clipped = 0;
  if (data->shape.projection != DGP_PROJECT_NOTHING &&
      !is_surely_positive(n, workspace->covariance, workspace->spectrum->values, workspace->part))
    TUTTI_TRY(context, dgp_decompose(context, workspace->covariance, workspace->spectrum));
  if (workspace->spectrum->clipped > 0)
    dgp_project(workspace->spectrum, workspace->part, workspace->factor);
  else
    memcpy(workspace->factor, workspace->covariance, n * n * sizeof(double));
  for (size_t i = 0; i < n; i++)
    workspace->factor[i * n + i] += hyper[dgp_noise(&data->shape)] + workspace->diagonal[i];
  return dgp_factorise(context, n, workspace->covariance, workspace->spectrum, workspace->factor);
}
