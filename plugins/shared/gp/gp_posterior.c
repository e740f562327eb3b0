/* gp_posterior.c - observations, the factor that grows with them, and the predictions from both (Rasmussen & Williams,
   "Gaussian Processes for Machine Learning", 2006, equations 2.25 and 2.26). */
#include <cblas.h>
#include <string.h>

#include "gp_impl.h"

enum { FIRST_CAPACITY = 32 };

enum tutti_status gp_posterior_init(tutti_context *context, enum gp_kernel kernel, size_t dimension,
                                    struct gp_posterior *posterior) {
  enum tutti_status status;
  *posterior = (struct gp_posterior){.dimension = dimension, .scale = 1, .inputs = {.dimension = dimension}};
  posterior->matrix = (struct gp_matrix){.kernel = kernel, .column = gp_column_choose()};
  posterior->functions = gp_panel_choose();
  posterior->panel = (struct gp_inputs){.dimension = dimension, .stride = GP_BATCH};
  TUTTI_TRY_OUT(context, tutti_alloc(context, dimension, sizeof(double), &posterior->hyper.lengths));
  TUTTI_TRY_OUT(context, tutti_alloc(context, dimension, sizeof(double), &posterior->matrix.at));
  TUTTI_TRY_OUT(context, tutti_alloc(context, dimension, GP_BATCH * sizeof(double), &posterior->panel.scaled));
  return TUTTI_OK;
out:
  gp_posterior_clear(posterior);
  return status;
}

void gp_posterior_clear(struct gp_posterior *posterior) {
  tutti_free(posterior->points);
  tutti_free(posterior->values);
  tutti_free(posterior->noise);
  tutti_free(posterior->hyper.lengths);
  tutti_free(posterior->inputs.scaled);
  tutti_free(posterior->matrix.factor);
  tutti_free(posterior->matrix.at);
  tutti_free(posterior->diagonal);
  tutti_free(posterior->forward);
  tutti_free(posterior->weight);
  tutti_free(posterior->slope);
  tutti_free(posterior->panel.scaled);
  tutti_free(posterior->block);
  tutti_free(posterior->fantasy_weight);
  tutti_free(posterior->fantasy_least);
  *posterior = (struct gp_posterior){0};
}

/* Room for `wanted` points, by doubling. The factor is not copied but computed again after the room has grown; that
   costs only a constant share of the whole. */
static enum tutti_status reserve(tutti_context *context, struct gp_posterior *posterior, size_t wanted) {
  size_t old = posterior->capacity, capacity = old ? old : FIRST_CAPACITY, d = posterior->dimension;
  if (wanted <= old)
    return TUTTI_OK;
  while (capacity < wanted && capacity <= SIZE_MAX / 2)
    capacity *= 2;
  if (capacity > SIZE_MAX / (2 * sizeof(double)))
    return TUTTI_FAIL(context, TUTTI_ERROR_MEMORY, "Gaussian process: room for %zu observations overflows", wanted);
  size_t row = gp_stride(capacity) * sizeof(double);
  posterior->factored = 0;
  TUTTI_TRY(context, tutti_realloc(context, old, capacity, d * sizeof(double), &posterior->points));
  TUTTI_TRY(context, tutti_realloc(context, old, capacity, sizeof(double), &posterior->values));
  TUTTI_TRY(context, tutti_realloc(context, old, capacity, sizeof(double), &posterior->noise));
  TUTTI_TRY(context, tutti_realloc(context, 0, d, row, &posterior->inputs.scaled));
  TUTTI_TRY(context, tutti_realloc(context, 0, capacity, row, &posterior->matrix.factor));
  TUTTI_TRY(context, tutti_realloc(context, 0, capacity, sizeof(double), &posterior->diagonal));
  TUTTI_TRY(context, tutti_realloc(context, 0, capacity, sizeof(double), &posterior->forward));
  TUTTI_TRY(context, tutti_realloc(context, 0, capacity, sizeof(double), &posterior->weight));
  TUTTI_TRY(context, tutti_realloc(context, 0, capacity, sizeof(double), &posterior->slope));
  TUTTI_TRY(context, tutti_realloc(context, 0, GP_BATCH, row, &posterior->block));
  posterior->capacity = capacity;
  posterior->stride = posterior->inputs.stride = posterior->matrix.stride = gp_stride(capacity);
  return TUTTI_OK;
}

void gp_posterior_forget(struct gp_posterior *posterior) {
  posterior->count = posterior->pending = posterior->factored = posterior->first = posterior->fantasies = 0;
}

enum tutti_status gp_posterior_add(tutti_context *context, struct gp_posterior *posterior, size_t count,
                                   const double *points, const double *values, const double *noise) {
  size_t d = posterior->dimension, have = posterior->count;
  for (size_t i = 0; i < count; i++)
    if (!isfinite(values[i]) || (noise && !(noise[i] >= 0 && isfinite(noise[i]))))
      return TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC,
                        "Gaussian process: observation %zu has value %g and noise variance %g: finite numbers expected",
                        have + i, values[i], noise ? noise[i] : 0);
  for (size_t i = 0; i < count * d; i++)
    if (!isfinite(points[i]))
      return TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC,
                        "Gaussian process: coordinate %zu of observation %zu is %g: a finite number expected", i % d,
                        have + i / d, points[i]);
  gp_posterior_release(posterior, 0);
  TUTTI_TRY(context, reserve(context, posterior, have + count));
  if (d > 0)
    memcpy(posterior->points + have * d, points, count * d * sizeof(double));
  memcpy(posterior->values + have, values, count * sizeof(double));
  for (size_t i = 0; i < count; i++)
    posterior->noise[have + i] = noise ? noise[i] : 0;
  posterior->count += count;
  return TUTTI_OK;
}

void gp_posterior_refitted(struct gp_posterior *posterior, size_t first) {
  posterior->first = first;
  posterior->factored = 0;
}

/* Scale the points from number `from` on and set their noise. The noise of pending points is in standardised units. */
static void place(struct gp_posterior *posterior, size_t from) {
  double unit = posterior->scale * posterior->scale;
  for (size_t i = from; i < posterior->count + posterior->pending; i++) {
    const double *point = posterior->points + i * posterior->dimension;
    for (size_t k = 0; k < posterior->dimension; k++)
      posterior->inputs.scaled[k * posterior->stride + i] = point[k] / posterior->hyper.lengths[k];
    posterior->diagonal[i] =
        i < posterior->count ? posterior->hyper.noise + posterior->noise[i] / unit : posterior->noise[i];
  }
}

static void weigh(struct gp_posterior *posterior) {
  for (size_t i = 0; i < posterior->count; i++)
    posterior->forward[i] = (posterior->values[i] - posterior->shift) / posterior->scale - posterior->hyper.mean;
  gp_solve_lower(&posterior->matrix, posterior->count, posterior->forward);
  memcpy(posterior->weight, posterior->forward, posterior->count * sizeof(double));
  gp_solve_upper(&posterior->matrix, posterior->count, posterior->weight);
}

/* Extend the factor row by row from `factored` to `count`. If a row cannot be added, factorise everything at once, with
   jitter. */
static enum tutti_status grow_posterior(tutti_context *context, struct gp_posterior *posterior, size_t count) {
  while (posterior->factored < count) {
    if (!gp_factor_row(&posterior->matrix, posterior->factored))
      TUTTI_TRY(context, gp_factor_all(context, &posterior->matrix, posterior->factored + 1, NULL));
    posterior->factored++;
  }
  return TUTTI_OK;
}

enum tutti_status gp_posterior_settle(tutti_context *context, struct gp_posterior *posterior) {
  size_t before = posterior->factored;
  if (before >= posterior->count + posterior->pending)
    return TUTTI_OK;
  posterior->matrix.inputs = &posterior->inputs;
  posterior->matrix.amplitude = posterior->hyper.amplitude;
  posterior->matrix.diagonal = posterior->diagonal;
  place(posterior, before);
  if (before == 0) {
    TUTTI_TRY(context, gp_factor_all(context, &posterior->matrix, posterior->first, NULL));
    posterior->factored = posterior->first;
  }
  TUTTI_TRY(context, grow_posterior(context, posterior, posterior->count));
  if (before < posterior->count) {
    posterior->settled_jitter = posterior->matrix.jitter;
    weigh(posterior);
  }
  return grow_posterior(context, posterior, posterior->count + posterior->pending);
}

enum tutti_status gp_posterior_suppose(tutti_context *context, struct gp_posterior *posterior, size_t count,
                                       const double *points, double noise) {
  size_t kept = posterior->pending, have = posterior->count + kept, d = posterior->dimension;
  TUTTI_TRY(context, reserve(context, posterior, have + count));
  if (d > 0)
    memcpy(posterior->points + have * d, points, count * d * sizeof(double));
  for (size_t i = 0; i < count; i++)
    posterior->noise[have + i] = noise;
  posterior->pending += count;
  enum tutti_status status = gp_posterior_settle(context, posterior);
  if (status != TUTTI_OK)
    gp_posterior_release(posterior, kept);
  return status;
}

/* The observations' rows stay as they are unless more jitter had to be added to them. */
void gp_posterior_release(struct gp_posterior *posterior, size_t kept) {
  if (kept >= posterior->pending)
    return;
  posterior->pending = kept;
  if (posterior->count + kept < posterior->fantasy_rows)
    posterior->fantasies = 0;
  if (posterior->factored > posterior->count + kept)
    posterior->factored = posterior->count + kept;
  if (kept == 0 && posterior->matrix.jitter != posterior->settled_jitter)
    posterior->factored = 0;
}

/* The rows of the pending points are the factor of their joint covariance given the observations, with noise. With
   normals z, L z is a draw minus its mean, and forward substitution turns it back into z. */
enum tutti_status gp_posterior_fantasise(tutti_context *context, struct gp_posterior *posterior, size_t count,
                                         const double *points, struct tutti_random *random, size_t draws) {
  enum tutti_status status;
  double *means = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, 2 * sizeof(double), &means));
  gp_posterior_predict(posterior, count, points, means, means + count);
  TUTTI_TRY_OUT(context, gp_posterior_suppose(context, posterior, count, points, posterior->hyper.noise));
  size_t observed = posterior->count, rows = observed + posterior->pending, stride = posterior->stride;
  TUTTI_TRY_OUT(context, tutti_realloc(context, 0, draws, rows * sizeof(double), &posterior->fantasy_weight));
  TUTTI_TRY_OUT(context, tutti_realloc(context, 0, draws, sizeof(double), &posterior->fantasy_least));
  for (size_t draw = 0; draw < draws; draw++) {
    double *weight = posterior->fantasy_weight + draw * rows, *z = weight + observed;
    memcpy(weight, posterior->forward, observed * sizeof(double));
    posterior->fantasy_least[draw] = INFINITY;
    for (size_t i = 0; i < count; i++) {
      const double *row = posterior->matrix.factor + (observed + i) * stride + observed;
      double value = means[i];
      z[i] = tutti_random_normal(random);
      for (size_t j = 0; j <= i; j++)
        value += posterior->scale * row[j] * z[j];
      posterior->fantasy_least[draw] = fmin(posterior->fantasy_least[draw], value);
    }
    gp_solve_upper(&posterior->matrix, rows, weight);
  }
  posterior->fantasies = draws;
  posterior->fantasy_rows = rows;
out:
  tutti_free(means);
  return status;
}

void gp_posterior_correlate(struct gp_posterior *posterior, const double *point, double *column, double *slope) {
  size_t rows = posterior->count + posterior->pending;
  for (size_t k = 0; k < posterior->dimension; k++)
    posterior->matrix.at[k] = point[k] / posterior->hyper.lengths[k];
  posterior->matrix.column(posterior->matrix.kernel, &posterior->inputs, rows, posterior->matrix.at, column, slope);
  for (size_t i = 0; i < rows; i++)
    column[i] *= posterior->hyper.amplitude;
}

/* The weights of mean number `which`, and how many rows they have. */
static const double *weights_of(const struct gp_posterior *posterior, size_t which, size_t *rows) {
  bool fantasies = posterior->fantasies > 0;
  *rows = fantasies ? posterior->fantasy_rows : posterior->count;
  return fantasies ? posterior->fantasy_weight + which * posterior->fantasy_rows : posterior->weight;
}

static double deviation_from(const struct gp_posterior *posterior, double explained) {
  double variance = posterior->hyper.amplitude - explained;
  return variance > 0 ? posterior->scale * sqrt(variance) : 0;
}

static double mean_from(const struct gp_posterior *posterior, double sum) {
  return posterior->shift + posterior->scale * (posterior->hyper.mean + sum);
}

/* The first `rows` correlations of up to GP_BATCH points. Columns that only fill the last tile keep earlier points. */
static void fill_panel(struct gp_posterior *posterior, size_t rows, size_t columns, const double *points) {
  size_t d = posterior->dimension, filled = (columns + GP_TILE - 1) / GP_TILE * GP_TILE;
  for (size_t k = 0; k < d; k++)
    for (size_t c = 0; c < columns; c++)
      posterior->panel.scaled[k * GP_BATCH + c] = points[c * d + k] / posterior->hyper.lengths[k];
  for (size_t i = 0; i < rows; i++) {
    for (size_t k = 0; k < d; k++)
      posterior->matrix.at[k] = posterior->inputs.scaled[k * posterior->stride + i];
    posterior->matrix.column(posterior->matrix.kernel, &posterior->panel, filled, posterior->matrix.at,
                             posterior->block + i * GP_BATCH, NULL);
  }
}

/* The first `means` means from all rows, and deviations given some rows. */
static void predict_from(struct gp_posterior *posterior, size_t rows, size_t means, size_t count, const double *points,
                         double *mean, double *deviation) {
  size_t all = posterior->count + posterior->pending, weighted;
  double amplitude = posterior->hyper.amplitude, sums[GP_BATCH];
  for (size_t first = 0; first < count; first += GP_BATCH) {
    size_t columns = count - first < GP_BATCH ? count - first : GP_BATCH;
    fill_panel(posterior, means > 0 ? all : rows, columns, points + first * posterior->dimension);
    for (size_t m = 0; m < means; m++) {
      const double *weight = weights_of(posterior, m, &weighted);
      posterior->functions->weigh(weighted, columns, posterior->block, weight, sums);
      for (size_t c = 0; c < columns; c++)
        mean[m * count + first + c] = mean_from(posterior, amplitude * sums[c]);
    }
    posterior->functions->solve(posterior->matrix.factor, posterior->stride, rows, columns, posterior->block, sums);
    for (size_t c = 0; c < columns; c++)
      deviation[first + c] = deviation_from(posterior, amplitude * amplitude * sums[c]);
  }
}

void gp_posterior_predict(struct gp_posterior *posterior, size_t count, const double *points, double *mean,
                          double *deviation) {
  size_t rows = posterior->count + posterior->pending;
  predict_from(posterior, rows, gp_posterior_means(posterior), count, points, mean, deviation);
}

void gp_posterior_bound(struct gp_posterior *posterior, size_t rows, size_t count, const double *points, double *mean,
                        double *deviation) {
  predict_from(posterior, rows, mean ? gp_posterior_means(posterior) : 0, count, points, mean, deviation);
}

/* d mean/dx = Σ weight_i dk_i/dx; d variance/dx = -2 Σ (K⁻¹k)_i dk_i/dx; dk_i/dx_k = amplitude slope_i (x_i -
   x)_k/l_k². */
void gp_posterior_gradient(struct gp_posterior *posterior, const double *point, double *mean, double *deviation,
                           double *mean_gradient, double *deviation_gradient) {
  size_t rows = posterior->count + posterior->pending, d = posterior->dimension, weighted;
  size_t means = gp_posterior_means(posterior);
  double *column = posterior->block, *slope = posterior->slope;
  gp_posterior_correlate(posterior, point, column, slope);
  for (size_t m = 0; m < means; m++) {
    const double *weight = weights_of(posterior, m, &weighted);
    mean[m] = mean_from(posterior, cblas_ddot((int)weighted, column, 1, weight, 1));
  }
  gp_solve_lower(&posterior->matrix, rows, column);
  *deviation = deviation_from(posterior, cblas_ddot((int)rows, column, 1, column, 1));
  gp_solve_upper(&posterior->matrix, rows, column);
  /* Where the deviation is zero it has no gradient; zero is one of its subgradients. */
  double unit = posterior->scale * posterior->hyper.amplitude;
  double inverse = *deviation > 0 ? -unit * posterior->scale / *deviation : 0;
  double *steps = posterior->block + posterior->stride;
  for (size_t k = 0; k < d; k++) {
    const double *x = posterior->inputs.scaled + k * posterior->stride;
    double length = posterior->hyper.lengths[k];
    for (size_t i = 0; i < rows; i++)
      steps[i] = slope[i] * (x[i] - posterior->matrix.at[k]);
    for (size_t m = 0; m < means; m++) {
      const double *weight = weights_of(posterior, m, &weighted);
      mean_gradient[m * d + k] = unit * cblas_ddot((int)weighted, weight, 1, steps, 1) / length;
    }
    deviation_gradient[k] = inverse * cblas_ddot((int)rows, column, 1, steps, 1) / length;
  }
}
