/* mixture.c - mixtures of Gaussians: moments, likelihood and continuous ranked probability score of a value. */
#include "calibrate_impl.h"

#include "core/score/metrics_impl.h"

#include <math.h>
#include <tutti/mixture.h>

/* E|X| of a normal X with this mean and variance. */
static double mean_distance(double mean, double variance) {
  double deviation = sqrt(metrics_floor(variance)), z = mean / deviation;
  return 2 * deviation * metrics_normal_density(z) + mean * (2 * tutti_normal_cdf(z) - 1);
}

double tutti_gaussian_crps(double mean, double variance, double value) {
  const double one = 1;
  const struct tutti_mixture single = {1, &one, &mean, &variance, 1};
  return tutti_mixture_crps(&single, value);
}

struct tutti_moments tutti_mixture_moments(const struct tutti_mixture *mixture, enum tutti_epistemic epistemic) {
  struct tutti_moments moments = {0, 0, 0, 0};
  double squares = 0;
  for (size_t k = 0; k < mixture->members; k++) {
    double weight = mixture->weights[k];
    moments.mean += weight * mixture->means[k];
    moments.aleatoric += weight * metrics_floor(mixture->variances[k]);
    squares += weight * weight;
  }
  if (mixture->members > 1)
    for (size_t k = 0; k < mixture->members; k++) {
      double distance = mixture->means[k] - moments.mean;
      moments.epistemic += mixture->weights[k] * distance * distance;
    }
  bool picks = epistemic == TUTTI_EPISTEMIC_PICKS && mixture->picks > 1;
  if (epistemic != TUTTI_EPISTEMIC_POPULATION && mixture->members > 1)
    moments.epistemic /= 1 - (picks ? 1 / (double)mixture->picks : squares);
  moments.variance = moments.aleatoric + moments.epistemic;
  return moments;
}

double tutti_mixture_nll(const struct tutti_mixture *mixture, double value) {
  /* Take out the largest term, so that the sum of exponentials neither overflows nor vanishes. A NaN term makes a NaN
     sum. */
  double largest = -INFINITY;
  for (size_t k = 0; k < mixture->members; k++) {
    double term = log(mixture->weights[k]) - tutti_gaussian_nll(mixture->means[k], mixture->variances[k], value);
    largest = term > largest ? term : largest;
  }
  if (largest == -INFINITY)
    largest = 0;
  double sum = 0;
  for (size_t k = 0; k < mixture->members; k++)
    sum +=
        exp(log(mixture->weights[k]) - tutti_gaussian_nll(mixture->means[k], mixture->variances[k], value) - largest);
  return -largest - log(sum);
}

double tutti_joint_nll(size_t members, const double *weights, const double *nll) {
  double least = INFINITY, density = 0;
  for (size_t k = 0; k < members; k++)
    least = fmin(least, nll[k]);
  for (size_t k = 0; k < members; k++)
    density += weights[k] * exp(least - nll[k]);
  return isinf(least) ? least : least - log(density);
}

double tutti_mixture_crps(const struct tutti_mixture *mixture, double value) {
  const double *weights = mixture->weights, *means = mixture->means, *variances = mixture->variances;
  double to_value = 0, among = 0;
  for (size_t i = 0; i < mixture->members; i++) {
    double own = metrics_floor(variances[i]);
    to_value += weights[i] * mean_distance(value - means[i], own);
    among += weights[i] * weights[i] * mean_distance(0, 2 * own);
    for (size_t j = 0; j < i; j++)
      among += 2 * weights[i] * weights[j] * mean_distance(means[i] - means[j], own + metrics_floor(variances[j]));
  }
  return to_value - 0.5 * among;
}
