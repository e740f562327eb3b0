/* gp_mixture.c - an even mixture of several posteriors of the same observations, each with its own hyperparameters and
   pending values: its components one by one, and its moments. */
#include <string.h>

#include "gp_impl.h"

enum tutti_status gp_mixture_init(tutti_context *context, size_t models, enum gp_kernel kernel, size_t dimension,
                                  struct gp_mixture *mixture) {
  enum tutti_status status;
  *mixture = (struct gp_mixture){0};
  TUTTI_TRY_OUT(context, tutti_alloc(context, models, sizeof(*mixture->posteriors), &mixture->posteriors));
  for (; mixture->models < models; mixture->models++)
    TUTTI_TRY_OUT(context, gp_posterior_init(context, kernel, dimension, &mixture->posteriors[mixture->models]));
  return TUTTI_OK;
out:
  gp_mixture_clear(mixture);
  return status;
}

void gp_mixture_clear(struct gp_mixture *mixture) {
  for (size_t i = 0; i < mixture->models; i++)
    gp_posterior_clear(&mixture->posteriors[i]);
  tutti_free(mixture->posteriors);
  tutti_free(mixture->room);
  *mixture = (struct gp_mixture){0};
}

/* All posteriors have the same number of fantasies. */
size_t gp_mixture_components(const struct gp_mixture *mixture) {
  return mixture->models * gp_posterior_means(mixture->posteriors);
}

static enum tutti_status make_room(tutti_context *context, struct gp_mixture *mixture, size_t wanted) {
  if (wanted <= mixture->room_count)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_realloc(context, 0, wanted, sizeof(double), &mixture->room));
  mixture->room_count = wanted;
  return TUTTI_OK;
}

void gp_mixture_components_at(struct gp_mixture *mixture, size_t count, const double *points, double *mean,
                              double *deviation) {
  size_t means = gp_posterior_means(mixture->posteriors);
  for (size_t m = 0; m < mixture->models; m++) {
    double *first = deviation + m * means * count;
    gp_posterior_predict(&mixture->posteriors[m], count, points, mean + m * means * count, first);
    for (size_t f = 1; f < means; f++)
      memcpy(first + f * count, first, count * sizeof(double));
  }
}

/* E = average of means, variance = average of deviations² + (means - E)². */
enum tutti_status gp_mixture_predict(tutti_context *context, struct gp_mixture *mixture, size_t count,
                                     const double *points, double *mean, double *deviation) {
  size_t components = gp_mixture_components(mixture), d = mixture->posteriors->dimension;
  if (components == 1) {
    gp_posterior_predict(mixture->posteriors, count, points, mean, deviation);
    return TUTTI_OK;
  }
  TUTTI_TRY(context, make_room(context, mixture, 2 * components * GP_BATCH));
  double *means = mixture->room, *deviations = means + components * GP_BATCH;
  for (size_t first = 0; first < count; first += GP_BATCH) {
    size_t some = count - first < GP_BATCH ? count - first : GP_BATCH;
    gp_mixture_components_at(mixture, some, points + first * d, means, deviations);
    for (size_t i = 0; i < some; i++) {
      double sum = 0, squares = 0;
      for (size_t c = 0; c < components; c++)
        sum += means[c * some + i] / (double)components;
      for (size_t c = 0; c < components; c++) {
        double off = means[c * some + i] - sum, s = deviations[c * some + i];
        squares += (s * s + off * off) / (double)components;
      }
      mean[first + i] = sum;
      deviation[first + i] = sqrt(squares);
    }
  }
  return TUTTI_OK;
}

void gp_mixture_component_gradients(struct gp_mixture *mixture, const double *point, double *mean, double *deviation,
                                    double *mean_gradient, double *deviation_gradient) {
  size_t means = gp_posterior_means(mixture->posteriors), d = mixture->posteriors->dimension;
  for (size_t m = 0; m < mixture->models; m++) {
    double *gradient = deviation_gradient + m * means * d;
    gp_posterior_gradient(&mixture->posteriors[m], point, mean + m * means, deviation + m * means,
                          mean_gradient + m * means * d, gradient);
    for (size_t f = 1; f < means; f++) {
      deviation[m * means + f] = deviation[m * means];
      memcpy(gradient + f * d, gradient, d * sizeof(double));
    }
  }
}

/* d variance = average of 2 (deviation d deviation + (mean - E) d mean): the differences between means and E sum to
   zero. */
enum tutti_status gp_mixture_gradient(tutti_context *context, struct gp_mixture *mixture, const double *point,
                                      double *mean, double *deviation, double *mean_gradient,
                                      double *deviation_gradient) {
  size_t components = gp_mixture_components(mixture), d = mixture->posteriors->dimension;
  if (components == 1) {
    gp_posterior_gradient(mixture->posteriors, point, mean, deviation, mean_gradient, deviation_gradient);
    return TUTTI_OK;
  }
  TUTTI_TRY(context, make_room(context, mixture, 2 * components * (d + 1)));
  double *means = mixture->room, *deviations = means + components, share = 1 / (double)components;
  double *mean_slopes = deviations + components, *deviation_slopes = mean_slopes + components * d, squares = 0;
  gp_mixture_component_gradients(mixture, point, means, deviations, mean_slopes, deviation_slopes);
  *mean = 0;
  for (size_t c = 0; c < components; c++)
    *mean += share * means[c];
  for (size_t c = 0; c < components; c++)
    squares += share * (deviations[c] * deviations[c] + (means[c] - *mean) * (means[c] - *mean));
  *deviation = sqrt(squares);
  for (size_t k = 0; k < d; k++) {
    double by_mean = 0, by_variance = 0;
    for (size_t c = 0; c < components; c++) {
      by_mean += share * mean_slopes[c * d + k];
      by_variance +=
          share * (deviations[c] * deviation_slopes[c * d + k] + (means[c] - *mean) * mean_slopes[c * d + k]);
    }
    mean_gradient[k] = by_mean;
    deviation_gradient[k] = *deviation > 0 ? by_variance / *deviation : 0;
  }
  return TUTTI_OK;
}
