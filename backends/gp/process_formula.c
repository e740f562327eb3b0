/* process_formula.c - a Gaussian process as a formula: products of the kernel and its rows. With K = UᵀU, the
   covariance of the rows, and k(x), that of a row with them:

     mean     = m + k(x) K⁻¹ (values - m)
     variance = noise + epistemic,  epistemic = amplitude - |k(x) U⁻¹|² */
#include "process.h"

#include <cblas.h>
#include <math.h>

/* The rows as constants, in length scales: a row in each column, and their squared lengths. */
static enum tutti_status rows_of(tutti_context *context, const struct gp_posterior *posterior, tutti_formula *formula,
                                 tutti_term *rows, tutti_term *lengths) {
  double *numbers;
  size_t n = posterior->count, d = posterior->dimension;
  if (tutti_formula_counts(formula)) {
    *rows = tutti_formula_constant(formula, d, n, NULL);
    *lengths = tutti_formula_constant(formula, 1, n, NULL);
    return TUTTI_OK;
  }
  TUTTI_TRY(context, tutti_alloc(context, n, (d + 1) * sizeof *numbers, &numbers));
  double *squares = numbers + n * d;
  for (size_t k = 0; k < d; k++)
    for (size_t i = 0; i < n; i++) {
      double x = posterior->inputs.scaled[k * posterior->stride + i];
      numbers[k * n + i] = x;
      squares[i] += x * x;
    }
  *rows = tutti_formula_constant(formula, d, n, numbers);
  *lengths = tutti_formula_constant(formula, 1, n, squares);
  tutti_free(numbers);
  return TUTTI_OK;
}

/* Squared distances from all rows, in length scales. */
static enum tutti_status squares_of(tutti_context *context, const struct gp_posterior *posterior,
                                    tutti_formula *formula, tutti_term x, tutti_term *squares) {
  tutti_term rows, lengths;
  TUTTI_TRY(context, rows_of(context, posterior, formula, &rows, &lengths));
  tutti_term scale = tutti_formula_constant(formula, 1, posterior->dimension, posterior->hyper.lengths);
  x = TUTTI_FORMULA(formula, TUTTI_FORMULA_DIVIDE, x, scale);
  tutti_term own = TUTTI_FORMULA(formula, TUTTI_FORMULA_SUM, TUTTI_FORMULA(formula, TUTTI_FORMULA_MULTIPLY, x, x));
  tutti_term product = TUTTI_FORMULA(formula, TUTTI_FORMULA_PRODUCT, x, rows);
  product = TUTTI_FORMULA(formula, TUTTI_FORMULA_MULTIPLY, product, tutti_formula_number(formula, 2));
  tutti_term sum = TUTTI_FORMULA(formula, TUTTI_FORMULA_SUBTRACT, lengths, product);
  sum = TUTTI_FORMULA(formula, TUTTI_FORMULA_ADD, sum, own);
  *squares = TUTTI_FORMULA(formula, TUTTI_FORMULA_MOST, sum, tutti_formula_number(formula, 0));
  return TUTTI_OK;
}

static tutti_term times(tutti_formula *formula, tutti_term x, double factor) {
  return TUTTI_FORMULA(formula, TUTTI_FORMULA_MULTIPLY, x, tutti_formula_number(formula, factor));
}

/* Correlations by squared distances: exp(-r²/2), or (1 + s + s²/3) exp(-s) with s² = 5 r². */
static tutti_term correlation_of(enum gp_kernel kernel, tutti_formula *formula, tutti_term squares) {
  if (kernel == GP_RBF)
    return TUTTI_FORMULA(formula, TUTTI_FORMULA_EXP, times(formula, squares, -0.5));
  tutti_term s = TUTTI_FORMULA(formula, TUTTI_FORMULA_SQRT, times(formula, squares, 5));
  tutti_term sum = TUTTI_FORMULA(formula, TUTTI_FORMULA_ADD, s, times(formula, squares, 5.0 / 3));
  sum = TUTTI_FORMULA(formula, TUTTI_FORMULA_ADD, sum, tutti_formula_number(formula, 1));
  tutti_term decay = TUTTI_FORMULA(formula, TUTTI_FORMULA_EXP, times(formula, s, -1));
  return TUTTI_FORMULA(formula, TUTTI_FORMULA_MULTIPLY, sum, decay);
}

/* U⁻¹ as a constant. */
static enum tutti_status inverse_of(tutti_context *context, const struct gp_posterior *posterior,
                                    tutti_formula *formula, tutti_term *made) {
  size_t n = posterior->count;
  double *inverse;
  if (tutti_formula_counts(formula)) {
    *made = tutti_formula_constant(formula, n, n, NULL);
    return TUTTI_OK;
  }
  TUTTI_TRY(context, tutti_alloc(context, n, n * sizeof *inverse, &inverse));
  for (size_t i = 0; i < n; i++)
    inverse[i * n + i] = 1;
  /* U is stored by columns. Its inverse is wanted by rows: X U = 1. */
  cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)n, (int)n, 1,
              posterior->matrix.factor, (int)posterior->matrix.stride, inverse, (int)n);
  *made = tutti_formula_constant(formula, n, n, inverse);
  tutti_free(inverse);
  return TUTTI_OK;
}

/* amplitude - |k U⁻¹|², where k is the amplitude times the correlations. */
static enum tutti_status epistemic_of(tutti_context *context, const struct gp_posterior *posterior,
                                      tutti_formula *formula, tutti_term covariance, tutti_term *epistemic) {
  tutti_term inverse;
  TUTTI_TRY(context, inverse_of(context, posterior, formula, &inverse));
  tutti_term solved = TUTTI_FORMULA(formula, TUTTI_FORMULA_PRODUCT, covariance, inverse);
  tutti_term explained =
      TUTTI_FORMULA(formula, TUTTI_FORMULA_SUM, TUTTI_FORMULA(formula, TUTTI_FORMULA_MULTIPLY, solved, solved));
  tutti_term left = TUTTI_FORMULA(formula, TUTTI_FORMULA_SUBTRACT,
                                  tutti_formula_number(formula, posterior->hyper.amplitude), explained);
  *epistemic = TUTTI_FORMULA(formula, TUTTI_FORMULA_MOST, left, tutti_formula_number(formula, 0));
  return TUTTI_OK;
}

enum tutti_status process_formula(tutti_context *context, const struct tutti_task *task, const tutti_tensors *tensors,
                                  size_t output, tutti_formula *formula, struct tutti_predicted_terms *terms) {
  enum tutti_status status = TUTTI_OK;
  struct gp_posterior posterior = {0};
  tutti_term squares;
  size_t features = tutti_task_plain_features(task);
  TUTTI_TRY_OUT(context, (tutti_formula_counts(formula) ? process_glance : process_open)(context, tensors, features,
                                                                                         output, &posterior));
  TUTTI_TRY_OUT(context, squares_of(context, &posterior, formula, terms->inputs, &squares));
  tutti_term covariance =
      times(formula, correlation_of(posterior.matrix.kernel, formula, squares), posterior.hyper.amplitude);
  tutti_term weight = tutti_formula_constant(formula, posterior.count, 1, posterior.weight);
  terms->mean =
      TUTTI_FORMULA(formula, TUTTI_FORMULA_ADD, TUTTI_FORMULA(formula, TUTTI_FORMULA_PRODUCT, covariance, weight),
                    tutti_formula_number(formula, posterior.hyper.mean));
  if (task->head == TUTTI_OP_HEAD_GAUSSIAN) {
    TUTTI_TRY_OUT(context, epistemic_of(context, &posterior, formula, covariance, &terms->epistemic));
    terms->variance = TUTTI_FORMULA(formula, TUTTI_FORMULA_ADD, terms->epistemic,
                                    tutti_formula_number(formula, posterior.hyper.noise));
  }
out:
  gp_posterior_clear(&posterior);
  return status;
}
