/* gp_function.c - one function drawn from the posterior (Wilson, Borovitskiy, Terenin, Mostowsky, Deisenroth,
   "Efficiently sampling functions from Gaussian process posteriors", ICML 2020). The prior is drawn by random Fourier
   features (Rahimi and Recht, "Random features for large-scale kernel machines", NeurIPS 2007) and corrected at the
   observations by Matheron's rule. Every point costs the same and has the same value, in whatever order points come. */
#include <cblas.h>
#include <string.h>

#include "gp_impl.h"

void gp_function_clear(struct gp_function *function) {
  tutti_free(function->frequency);
  tutti_free(function->phase);
  tutti_free(function->height);
  tutti_free(function->update);
  *function = (struct gp_function){0};
}

/* Frequencies follow the kernel's spectral density: normal, or for Matern 5/2 Student's t with 5 degrees of freedom.
   Heights have the scale of the prior, with the posterior's amplitude. */
static void draw_features(struct gp_function *function, struct tutti_random *random) {
  enum { FREEDOM = 5 };
  const struct gp_posterior *posterior = function->posterior;
  size_t d = posterior->dimension;
  double unit = sqrt(2 * posterior->hyper.amplitude / GP_FEATURES);
  for (size_t j = 0; j < GP_FEATURES; j++) {
    double squares = 0, stretch = 1;
    for (int i = 0; i < FREEDOM && posterior->matrix.kernel == GP_MATERN52; i++) {
      double normal = tutti_random_normal(random);
      squares += normal * normal;
    }
    if (posterior->matrix.kernel == GP_MATERN52)
      stretch = sqrt(FREEDOM / squares);
    for (size_t k = 0; k < d; k++)
      function->frequency[j * d + k] = stretch * tutti_random_normal(random);
    function->phase[j] = 2 * M_PI * tutti_random_uniform(random);
    function->height[j] = unit * tutti_random_normal(random);
  }
}

/* The prior's draw at a scaled point. Unless gradient[dimension] is NULL, add the draw's gradient to it, in length
   scales. */
static double prior_at(const struct gp_function *function, const double *at, double *gradient) {
  size_t d = function->posterior->dimension;
  double sum = 0;
  for (size_t j = 0; j < GP_FEATURES; j++) {
    double angle = function->phase[j];
    for (size_t k = 0; k < d; k++)
      angle += function->frequency[j * d + k] * at[k];
    sum += function->height[j] * cos(angle);
    if (gradient) {
      double slope = -function->height[j] * sin(angle);
      for (size_t k = 0; k < d; k++)
        gradient[k] += slope * function->frequency[j * d + k];
    }
  }
  return sum;
}

/* update = K⁻¹ (residuals - prior's draw - noise's draw). A pending point without a value has the residual of the mean,
   which leaves the weights of the observations as they are. */
static void correct(struct gp_function *function, size_t fantasy, struct tutti_random *random) {
  struct gp_posterior *posterior = function->posterior;
  size_t rows = posterior->count + posterior->pending;
  const double *weight =
      posterior->fantasies > 0 ? posterior->fantasy_weight + fantasy * posterior->fantasy_rows : NULL;
  for (size_t i = 0; i < rows; i++) {
    double variance = posterior->diagonal[i] + posterior->hyper.amplitude * posterior->matrix.jitter;
    for (size_t k = 0; k < posterior->dimension; k++)
      posterior->matrix.at[k] = posterior->inputs.scaled[k * posterior->stride + i];
    function->update[i] =
        -prior_at(function, posterior->matrix.at, NULL) - sqrt(variance) * tutti_random_normal(random);
  }
  gp_solve_lower(&posterior->matrix, rows, function->update);
  gp_solve_upper(&posterior->matrix, rows, function->update);
  for (size_t i = 0; i < rows; i++)
    function->update[i] += weight ? weight[i] : i < posterior->count ? posterior->weight[i] : 0;
}

enum tutti_status gp_function_draw(tutti_context *context, struct gp_posterior *posterior, size_t fantasy,
                                   struct tutti_random *random, struct gp_function *function) {
  enum tutti_status status;
  size_t d = posterior->dimension, rows = posterior->count + posterior->pending;
  gp_function_clear(function);
  TUTTI_TRY_OUT(context, tutti_alloc(context, GP_FEATURES, (d + 1) * sizeof(double), &function->frequency));
  TUTTI_TRY_OUT(context, tutti_alloc(context, GP_FEATURES, sizeof(double), &function->phase));
  TUTTI_TRY_OUT(context, tutti_alloc(context, GP_FEATURES, sizeof(double), &function->height));
  TUTTI_TRY_OUT(context, tutti_alloc(context, rows, sizeof(double), &function->update));
  function->posterior = posterior;
  draw_features(function, random);
  correct(function, fantasy, random);
  return TUTTI_OK;
out:
  gp_function_clear(function);
  return status;
}

double gp_function_value(const struct gp_function *function, const double *point, double *gradient) {
  struct gp_posterior *posterior = function->posterior;
  size_t rows = posterior->count + posterior->pending, d = posterior->dimension;
  double *column = posterior->block, *slope = gradient ? posterior->slope : NULL,
         amplitude = posterior->hyper.amplitude;
  gp_posterior_correlate(posterior, point, column, slope);
  for (size_t k = 0; gradient && k < d; k++)
    gradient[k] = 0;
  double sum = prior_at(function, posterior->matrix.at, gradient);
  sum += cblas_ddot((int)rows, column, 1, function->update, 1);
  for (size_t k = 0; gradient && k < d; k++) {
    const double *x = posterior->inputs.scaled + k * posterior->stride;
    for (size_t i = 0; i < rows; i++)
      gradient[k] += amplitude * function->update[i] * slope[i] * (x[i] - posterior->matrix.at[k]);
    gradient[k] *= posterior->scale / posterior->hyper.lengths[k];
  }
  return posterior->shift + posterior->scale * (posterior->hyper.mean + sum);
}
