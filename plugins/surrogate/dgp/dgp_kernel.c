/* dgp_kernel.c - the covariance of architectures and hyperparameters, (Σ_g alpha_g exp(-Σ_k beta_k d_k^power_g)) ·
   correlation of the hyperparameters, and its derivatives with respect to the logarithms of everything that is
   fitted. */
#include <string.h>

#include "dgp_impl.h"

double dgp_variance(const struct dgp_shape *shape, const double *hyper) {
  double sum = 0;
  for (size_t g = 0; g < shape->groups; g++)
    sum += hyper[g];
  return sum;
}

double dgp_correlate(const struct dgp_shape *shape, const double *hyper, const double *distances, double *shares) {
  size_t each = shape->each;
  const double *beta = hyper + dgp_beta(shape);
  double sum = 0;
  for (size_t g = 0; g < shape->groups; g++, beta += each, distances += each) {
    double exponent = 0;
    for (size_t k = 0; k < each; k++)
      exponent += beta[k] * distances[k];
    double share = hyper[g] * exp(-exponent);
    if (shares)
      shares[g] = share;
    sum += share;
  }
  return sum;
}

void dgp_scale_vector(const struct dgp_shape *shape, const double *hyper, const double *vector, double *at) {
  for (size_t k = 0; k < shape->width; k++)
    at[k] = vector[k] / hyper[dgp_length(shape) + k];
}

void dgp_scale(const struct dgp_data *data, const double *hyper, size_t first, size_t count,
               const struct gp_inputs *inputs) {
  size_t width = data->shape.width;
  for (size_t i = first; i < first + count; i++)
    for (size_t k = 0; k < width; k++)
      inputs->scaled[k * inputs->stride + i] = data->vectors[i * width + k] / hyper[dgp_length(&data->shape) + k];
}

/* --- workspace ---------------------------------------------------------------------------------------------------- */

enum tutti_status dgp_workspace_create(tutti_context *context, const struct dgp_data *data, size_t count,
                                       struct dgp_workspace *workspace) {
  enum tutti_status status;
  size_t width = data->shape.width, stride = gp_stride(count);
  *workspace = (struct dgp_workspace){.count = count, .inputs = {.dimension = width, .stride = stride}};
  /* stride * sizeof(double) cannot overflow: the caller has arrays of that size. */
  TUTTI_TRY_OUT(context, tutti_alloc(context, width, stride * sizeof(double), &workspace->inputs.scaled));
  TUTTI_TRY_OUT(context, tutti_alloc(context, width, sizeof(double), &workspace->at));
  TUTTI_TRY_OUT(context, tutti_alloc(context, data->shape.groups * count, count * sizeof(double), &workspace->shares));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, stride * sizeof(double), &workspace->euclidean));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, stride * sizeof(double), &workspace->slope));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, count * sizeof(double), &workspace->covariance));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof(double), &workspace->diagonal));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, count * sizeof(double), &workspace->factor));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, count * sizeof(double), &workspace->inverse));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, count * sizeof(double), &workspace->part));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof(double), &workspace->residual));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof(double), &workspace->weight));
  TUTTI_TRY_OUT(context, dgp_spectrum_create(context, count, &workspace->spectrum));
  return TUTTI_OK;
out:
  dgp_workspace_destroy(workspace);
  return status;
}

void dgp_workspace_destroy(struct dgp_workspace *workspace) {
  tutti_free(workspace->inputs.scaled);
  tutti_free(workspace->at);
  tutti_free(workspace->shares);
  tutti_free(workspace->euclidean);
  tutti_free(workspace->slope);
  tutti_free(workspace->covariance);
  tutti_free(workspace->diagonal);
  tutti_free(workspace->factor);
  tutti_free(workspace->inverse);
  tutti_free(workspace->part);
  tutti_free(workspace->residual);
  tutti_free(workspace->weight);
  dgp_spectrum_destroy(workspace->spectrum);
  *workspace = (struct dgp_workspace){0};
}

/* --- the covariance and its derivatives --------------------------------------------------------------------------- */

/* Row j of the correlations of hyperparameters with points 0..j. */
static void correlate_vectors(const struct dgp_data *data, struct dgp_workspace *workspace, size_t j) {
  const struct dgp_shape *shape = &data->shape;
  size_t stride = workspace->inputs.stride;
  for (size_t k = 0; k < shape->width; k++)
    workspace->at[k] = workspace->inputs.scaled[k * stride + j];
  shape->column(shape->kernel, &workspace->inputs, j + 1, workspace->at, workspace->euclidean + j * stride,
                workspace->slope + j * stride);
}

void dgp_covariance(const struct dgp_data *data, const double *hyper, struct dgp_workspace *workspace) {
  const struct dgp_shape *shape = &data->shape;
  size_t n = workspace->count, stride = workspace->inputs.stride;
  dgp_scale(data, hyper, 0, n, &workspace->inputs);
  for (size_t j = 0; j < n; j++) {
    if (shape->width > 0)
      correlate_vectors(data, workspace, j);
    for (size_t i = 0; i <= j; i++) {
      size_t a = data->places[j], b = data->places[i];
      double shares[DGP_GROUPS] = {0}, value;
      if (a == b) {
        memcpy(shares, hyper, shape->groups * sizeof(double));
        value = dgp_variance(shape, hyper);
      } else {
        value = dgp_correlate(shape, hyper, dgp_data_measures(data, a > b ? a : b, a > b ? b : a), shares);
      }
      for (size_t g = 0; g < shape->groups; g++)
        workspace->shares[(g * n + i) * n + j] = shares[g];
      workspace->covariance[i * n + j] = shape->width > 0 ? value * workspace->euclidean[j * stride + i] : value;
    }
  }
}

/* Off the diagonal each pair counts twice, which cancels the factor of one half. */
void dgp_contract(const struct dgp_data *data, const double *hyper, const struct dgp_workspace *workspace,
                  const double *g, double *gradient) {
  const struct dgp_shape *shape = &data->shape;
  size_t n = workspace->count, stride = workspace->inputs.stride, each = shape->each;
  double *by_beta = gradient + dgp_beta(shape), *by_length = gradient + dgp_length(shape);
  memset(gradient, 0, dgp_noise(shape) * sizeof(double));
  for (size_t j = 0; j < n; j++) {
    for (size_t l = 0; l < shape->groups; l++)
      gradient[l] += 0.5 * g[j * n + j] * hyper[l];
    for (size_t i = 0; i < j; i++) {
      size_t a = data->places[j], b = data->places[i];
      const double *distances = a == b ? NULL : dgp_data_measures(data, a > b ? a : b, a > b ? b : a);
      double weight = g[i * n + j], value = 0;
      double euclidean = shape->width > 0 ? workspace->euclidean[j * stride + i] : 1;
      for (size_t l = 0; l < shape->groups; l++) {
        double share = workspace->shares[(l * n + i) * n + j], by_share = weight * share * euclidean;
        value += share;
        gradient[l] += by_share;
        for (size_t k = l * each; distances && k < (l + 1) * each; k++)
          by_beta[k] -= by_share * hyper[dgp_beta(shape) + k] * distances[k];
      }
      for (size_t k = 0; k < shape->width; k++) {
        const double *row = workspace->inputs.scaled + k * stride;
        by_length[k] += weight * value * workspace->slope[j * stride + i] * (row[i] - row[j]) * (row[i] - row[j]);
      }
    }
  }
}
