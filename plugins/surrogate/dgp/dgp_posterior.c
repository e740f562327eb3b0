/* dgp_posterior.c - predictions from observations and projected covariance.

   K = V Λ Vᵀ is the covariance of the observations, P the projector on the eigenvectors that are kept. The
   cross-covariances k of a candidate enter as P k. For an observation this is its column of the projected K, so one
   model holds at the observations and between them, and directions of negative variance have no influence. The data
   explain |L⁻¹ P k|² of the variance, where L is the factor of the projected K with noise. This exceeds the variance
   itself only by rounding and by what the projection removed, so variances are clipped at 0. With DGP_PROJECT_MATRIX
   cross-covariances enter as they are: P is the identity, and L is the same.

   Pending points condition this posterior: their joint covariance given the observations is projected in the same way.
   The model of the observations stays the same, bit for bit, and deviations can only fall. */
#include <cblas.h>
#include <lapacke.h>
#include <string.h>

#include "dgp_impl.h"

enum tutti_status dgp_posterior_init(tutti_context *context, const struct dgp_shape *shape,
                                     struct dgp_posterior *posterior) {
  enum tutti_status status;
  *posterior = (struct dgp_posterior){.units.scale = 1, .inputs.dimension = shape->width};
  TUTTI_TRY_OUT(context, tutti_alloc(context, dgp_count(shape), sizeof(double), &posterior->hyper));
  TUTTI_TRY_OUT(context, tutti_alloc(context, shape->width, sizeof(double), &posterior->vector));
  TUTTI_TRY_OUT(context, tutti_alloc(context, shape->width, sizeof(double), &posterior->at));
  return TUTTI_OK;
out:
  dgp_posterior_clear(posterior);
  return status;
}

void dgp_posterior_clear(struct dgp_posterior *posterior) {
  dgp_posterior_release(posterior);
  tutti_free(posterior->hyper);
  tutti_free(posterior->reducer);
  tutti_free(posterior->weight);
  tutti_free(posterior->inputs.scaled);
  tutti_free(posterior->distances);
  tutti_free(posterior->architecture);
  tutti_free(posterior->euclidean);
  tutti_free(posterior->block);
  tutti_free(posterior->reduced);
  tutti_free(posterior->left);
  tutti_free(posterior->vector);
  tutti_free(posterior->at);
  *posterior = (struct dgp_posterior){0};
}

/* Make as much room as the data have, and scale all points. */
static enum tutti_status prepare(tutti_context *context, const struct dgp_data *data, struct dgp_posterior *posterior) {
  size_t room = data->room, row = gp_stride(room) * sizeof(double);
  if (room > posterior->room) {
    posterior->inputs.stride = gp_stride(room);
    TUTTI_TRY(context, tutti_realloc(context, 0, data->shape.width, row, &posterior->inputs.scaled));
    TUTTI_TRY(context, tutti_realloc(context, 0, room, data->shape.measures * sizeof(double), &posterior->distances));
    TUTTI_TRY(context, tutti_realloc(context, 0, room, sizeof(double), &posterior->architecture));
    TUTTI_TRY(context, tutti_realloc(context, 0, 1, row, &posterior->euclidean));
    TUTTI_TRY(context, tutti_realloc(context, 0, DGP_BATCH, room * sizeof(double), &posterior->block));
    TUTTI_TRY(context, tutti_realloc(context, 0, DGP_BATCH, room * sizeof(double), &posterior->reduced));
    TUTTI_TRY(context, tutti_realloc(context, 0, room, sizeof(double), &posterior->left));
    posterior->room = room;
  }
  dgp_scale(data, posterior->hyper, 0, data->count + data->pending, &posterior->inputs);
  return TUTTI_OK;
}

/* reducer = L⁻¹ P and weight = P A⁻¹ residual = reducerᵀ L⁻¹ residual. */
static enum tutti_status condense(tutti_context *context, const struct dgp_data *data, struct dgp_workspace *workspace,
                                  struct dgp_posterior *posterior) {
  const struct dgp_spectrum *spectrum = workspace->spectrum;
  size_t n = workspace->count;
  TUTTI_TRY(context, tutti_realloc(context, 0, n, n * sizeof(double), &posterior->reducer));
  TUTTI_TRY(context, tutti_realloc(context, 0, n, sizeof(double), &posterior->weight));
  if (spectrum->clipped > 0 && data->shape.projection == DGP_PROJECT_ALL) {
    const double *kept = spectrum->vectors + spectrum->clipped * n;
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, (int)n, (int)n, (int)(n - spectrum->clipped), 1, kept, (int)n,
                kept, (int)n, 0, posterior->reducer, (int)n);
  } else {
    memset(posterior->reducer, 0, n * n * sizeof(double));
    for (size_t i = 0; i < n; i++)
      posterior->reducer[i * n + i] = 1;
  }
  cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, (int)n, (int)n, 1, workspace->factor,
              (int)n, posterior->reducer, (int)n);
  for (size_t i = 0; i < n; i++)
    workspace->residual[i] = (data->values[i] - posterior->units.shift) / posterior->units.scale;
  cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, (int)n, workspace->factor, (int)n,
              workspace->residual, 1);
  cblas_dgemv(CblasColMajor, CblasTrans, (int)n, (int)n, 1, posterior->reducer, (int)n, workspace->residual, 1, 0,
              posterior->weight, 1);
  posterior->count = n;
  posterior->negative = 0;
  while (posterior->negative < spectrum->clipped && spectrum->values[posterior->negative] < -spectrum->floor)
    posterior->negative++;
  return TUTTI_OK;
}

enum tutti_status dgp_posterior_settle(tutti_context *context, struct dgp_data *data, struct dgp_posterior *posterior) {
  enum tutti_status status;
  struct dgp_workspace workspace = {0};
  if (posterior->settled && posterior->count == data->count)
    return TUTTI_OK;
  TUTTI_TRY_OUT(context, prepare(context, data, posterior));
  TUTTI_TRY_OUT(context, dgp_workspace_create(context, data, data->count, &workspace));
  for (size_t i = 0; i < data->count; i++)
    workspace.diagonal[i] = data->noise[i] / (posterior->units.scale * posterior->units.scale);
  dgp_covariance(data, posterior->hyper, &workspace);
  TUTTI_TRY_OUT(context, dgp_factor(context, data, posterior->hyper, &workspace));
  TUTTI_TRY_OUT(context, condense(context, data, &workspace, posterior));
  posterior->settled = true;
out:
  dgp_workspace_destroy(&workspace);
  return status;
}

/* --- predictions -------------------------------------------------------------------------------------------------- */

/* How many of the architectures have covariances with a candidate now. */
static size_t known(const struct dgp_data *data) { return data->pending ? data->distinct : data->settled; }

/* Covariances of an architecture, by its distances to those known, and encoded hyperparameters with all points,
   column[count + pending]. */
static void covary(const struct dgp_data *data, struct dgp_posterior *posterior, const double *distances,
                   const double *vector, double *column) {
  const struct dgp_shape *shape = &data->shape;
  size_t points = data->count + data->pending;
  for (size_t i = 0; i < known(data); i++)
    posterior->architecture[i] = dgp_correlate(shape, posterior->hyper, distances + i * shape->measures, NULL);
  for (size_t i = 0; i < points; i++)
    column[i] = posterior->architecture[data->places[i]];
  if (shape->width == 0)
    return;
  dgp_scale_vector(shape, posterior->hyper, vector, posterior->at);
  shape->column(shape->kernel, &posterior->inputs, points, posterior->at, posterior->euclidean, NULL);
  for (size_t i = 0; i < points; i++)
    column[i] *= posterior->euclidean[i];
}

/* Column number `c` of every model's block. The distances are measured once for all of them. */
static enum tutti_status covary_candidate(tutti_context *context, struct dgp_data *data, size_t models,
                                          struct dgp_posterior *posteriors, const tutti_candidate *candidate,
                                          size_t c) {
  double *distances = posteriors->distances, *vector = posteriors->vector;
  if (data->shape.width > 0)
    tutti_domain_encode(data->domain, tutti_candidate_hyperparameters(candidate), vector);
  TUTTI_TRY(context, dgp_data_measure(context, data, tutti_candidate_genotype(candidate), known(data), distances));
  for (size_t m = 0; m < models; m++)
    covary(data, &posteriors[m], distances, vector, posteriors[m].block + c * posteriors[m].room);
  return TUTTI_OK;
}

/* left = covariances of the candidate with the pending points given the observations, from its column and its
   reduction. */
static void leave(const struct dgp_posterior *posterior, const double *column, const double *reduced, double *left) {
  size_t n = posterior->count;
  memcpy(left, column + n, posterior->pending * sizeof(double));
  cblas_dgemv(CblasColMajor, CblasTrans, (int)n, (int)posterior->pending, -1, posterior->pending_reduced, (int)n,
              reduced, 1, 1, left, 1);
}

static double deviation_of(const struct dgp_shape *shape, struct dgp_posterior *posterior, const double *column,
                           const double *reduced) {
  double explained = cblas_ddot((int)posterior->count, reduced, 1, reduced, 1);
  size_t pending = posterior->pending;
  if (pending > 0) {
    leave(posterior, column, reduced, posterior->left);
    cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, (int)pending, posterior->pending_factor,
                (int)pending, posterior->left, 1);
    explained += cblas_ddot((int)pending, posterior->left, 1, posterior->left, 1);
  }
  double variance = dgp_variance(shape, posterior->hyper) - explained;
  return variance > 0 ? posterior->units.scale * sqrt(variance) : 0;
}

/* Moments at the first columns of the block. */
static void moments(const struct dgp_data *data, struct dgp_posterior *posterior, size_t columns, double *mean,
                    double *deviation) {
  size_t n = posterior->count, room = posterior->room;
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)n, (int)columns, (int)n, 1, posterior->reducer, (int)n,
              posterior->block, (int)room, 0, posterior->reduced, (int)room);
  for (size_t c = 0; c < columns; c++) {
    const double *column = posterior->block + c * room;
    mean[c] = posterior->units.shift + posterior->units.scale * cblas_ddot((int)n, column, 1, posterior->weight, 1);
    deviation[c] = deviation_of(&data->shape, posterior, column, posterior->reduced + c * room);
  }
}

enum tutti_status dgp_posterior_predict(tutti_context *context, struct dgp_data *data, size_t models,
                                        struct dgp_posterior *posteriors, const struct tutti_points *points,
                                        double *mean, double *deviation) {
  for (size_t first = 0; first < points->count; first += DGP_BATCH) {
    size_t columns = points->count - first < DGP_BATCH ? points->count - first : DGP_BATCH;
    for (size_t c = 0; c < columns; c++)
      TUTTI_TRY(context, covary_candidate(context, data, models, posteriors, points->candidates[first + c], c));
    for (size_t m = 0; m < models; m++)
      moments(data, &posteriors[m], columns, mean + m * points->count + first, deviation + m * points->count + first);
  }
  return TUTTI_OK;
}

/* --- pending points ----------------------------------------------------------------------------------------------- */

/* Covariance of the pending points given the observations, lower triangle, [pending][pending]. */
static void pending_covariance(const struct dgp_data *data, struct dgp_posterior *posterior, const double *columns,
                               double *covariance) {
  size_t n = posterior->count, q = data->pending;
  for (size_t j = 0; j < q; j++)
    for (size_t i = j; i < q; i++)
      covariance[j * q + i] = columns[j * posterior->room + n + i];
  cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, (int)q, (int)n, -1, posterior->pending_reduced, (int)n, 1,
              covariance, (int)q);
}

/* The covariances are left in columns[pending][room]. Afterwards this is scratch, like covariance[pending][pending]. */
static enum tutti_status condition(tutti_context *context, struct dgp_data *data, struct dgp_posterior *posterior,
                                   double *columns, double *covariance, struct dgp_spectrum *spectrum) {
  static const double least_noise = 1e-10; /* of the variance: a point that is pending twice would leave no pivot */
  size_t n = posterior->count, q = data->pending;
  double variance = dgp_variance(&data->shape, posterior->hyper);
  for (size_t i = 0; i < q; i++) {
    const tutti_genotype *genotype = data->genotypes[data->places[n + i]];
    TUTTI_TRY(context, dgp_data_measure(context, data, genotype, known(data), posterior->distances));
    covary(data, posterior, posterior->distances, data->vectors + (n + i) * data->shape.width,
           columns + i * posterior->room);
  }
  cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, (int)n, (int)q, (int)n, 1, posterior->reducer, (int)n, columns,
              (int)posterior->room, 0, posterior->pending_reduced, (int)n);
  pending_covariance(data, posterior, columns, covariance);
  TUTTI_TRY(context, dgp_decompose(context, covariance, spectrum));
  dgp_project(spectrum, columns, posterior->pending_factor);
  for (size_t i = 0; i < q; i++)
    posterior->pending_factor[i * q + i] += fmax(posterior->hyper[dgp_noise(&data->shape)], least_noise * variance);
  return dgp_factorise(context, q, covariance, spectrum, posterior->pending_factor);
}

enum tutti_status dgp_posterior_suppose(tutti_context *context, struct dgp_data *data,
                                        struct dgp_posterior *posterior) {
  enum tutti_status status;
  size_t n = posterior->count, q = data->pending;
  double *columns = NULL, *covariance = NULL;
  struct dgp_spectrum *spectrum = NULL;
  dgp_posterior_release(posterior);
  if (q == 0)
    return TUTTI_OK;
  TUTTI_TRY_OUT(context, prepare(context, data, posterior));
  TUTTI_TRY_OUT(context, tutti_alloc(context, q, posterior->room * sizeof(double), &columns));
  TUTTI_TRY_OUT(context, tutti_alloc(context, q, q * sizeof(double), &covariance));
  TUTTI_TRY_OUT(context, tutti_alloc(context, q, n * sizeof(double), &posterior->pending_reduced));
  TUTTI_TRY_OUT(context, tutti_alloc(context, q, q * sizeof(double), &posterior->pending_factor));
  TUTTI_TRY_OUT(context, dgp_spectrum_create(context, q, &spectrum));
  TUTTI_TRY_OUT(context, condition(context, data, posterior, columns, covariance, spectrum));
  posterior->pending = q;
out:
  dgp_spectrum_destroy(spectrum);
  tutti_free(columns);
  tutti_free(covariance);
  return status;
}

void dgp_posterior_release(struct dgp_posterior *posterior) {
  posterior->pending = 0;
  tutti_free(posterior->pending_reduced);
  tutti_free(posterior->pending_factor);
  posterior->pending_reduced = posterior->pending_factor = NULL;
}
