/* gp_factor.c - the Cholesky factor of the covariance: computed at once with bounded jitter, or extended by one row. */
#include <cblas.h>
#include <float.h>
#include <lapacke.h>

#include "gp_impl.h"

/* Write column `row` of the covariance, rows 0..row, into the factor. */
static void covariance_column(const struct gp_matrix *matrix, size_t row, double *slope) {
  const struct gp_inputs *inputs = matrix->inputs;
  double *column = matrix->factor + row * matrix->stride;
  for (size_t k = 0; k < inputs->dimension; k++)
    matrix->at[k] = inputs->scaled[k * inputs->stride + row];
  matrix->column(matrix->kernel, inputs, row + 1, matrix->at, column, slope ? slope + row * matrix->stride : NULL);
  for (size_t i = 0; i < row; i++)
    column[i] *= matrix->amplitude;
  column[row] = matrix->amplitude * (1 + matrix->jitter) + matrix->diagonal[row];
}

/* Smaller pivots are rounding errors of the covariance and carry no information. */
static double least_pivot(const struct gp_matrix *matrix, size_t count) {
  return (double)count * DBL_EPSILON * matrix->amplitude;
}

/* One attempt; *pivot is the smallest pivot met. */
static bool factorise(const struct gp_matrix *matrix, size_t count, double *slope, double *pivot) {
  for (size_t row = 0; row < count; row++)
    covariance_column(matrix, row, slope);
  lapack_int info =
      LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', (lapack_int)count, matrix->factor, (lapack_int)matrix->stride);
  size_t sound = info > 0 ? (size_t)info - 1 : count;
  *pivot = info > 0 ? matrix->factor[sound * matrix->stride + sound] : INFINITY;
  for (size_t i = 0; i < sound; i++) {
    double root = matrix->factor[i * matrix->stride + i];
    if (root * root < *pivot)
      *pivot = root * root;
  }
  return info == 0 && *pivot > least_pivot(matrix, count);
}

enum tutti_status gp_factor_all(tutti_context *context, struct gp_matrix *matrix, size_t count, double *slope) {
  static const double ladder[] = {0, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4};
  double pivot = NAN;
  for (size_t i = 0; i < sizeof(ladder) / sizeof(ladder[0]); i++) {
    matrix->jitter = ladder[i];
    if (factorise(matrix, count, slope, &pivot))
      return TUTTI_OK;
  }
  return TUTTI_FAIL(
      context, TUTTI_ERROR_NUMERIC,
      "Gaussian process: the covariance matrix (%zu x %zu) is not positive definite: smallest pivot %g at "
      "amplitude %g with a jitter of %g of it; raise the least noise, or look for values that are not finite",
      count, count, pivot, matrix->amplitude, matrix->jitter);
}

bool gp_factor_row(const struct gp_matrix *matrix, size_t count) {
  double *column = matrix->factor + count * matrix->stride;
  covariance_column(matrix, count, NULL);
  gp_solve_lower(matrix, count, column);
  double pivot = column[count] - cblas_ddot((int)count, column, 1, column, 1);
  if (!(pivot > least_pivot(matrix, count + 1)))
    return false;
  column[count] = sqrt(pivot);
  return true;
}

void gp_solve_lower(const struct gp_matrix *matrix, size_t count, double *x) {
  cblas_dtrsv(CblasColMajor, CblasUpper, CblasTrans, CblasNonUnit, (int)count, matrix->factor, (int)matrix->stride, x,
              1);
}

void gp_solve_upper(const struct gp_matrix *matrix, size_t count, double *x) {
  cblas_dtrsv(CblasColMajor, CblasUpper, CblasNoTrans, CblasNonUnit, (int)count, matrix->factor, (int)matrix->stride, x,
              1);
}
