/* metrics_gaussian.c - Gaussians and mixtures of them: moments, likelihood and continuous ranked probability score of a
   value. */
#include "metrics_impl.h"

#include <math.h>

static const double HALF_LOG_TWO_PI = 0.91893853320467274178;

double tutti_normal_cdf(double z) { return 0.5 * erfc(-z * M_SQRT1_2); }

static double normal_density(double z) { return exp(-0.5 * z * z - HALF_LOG_TWO_PI); }

/* Newton's method on log Phi, which is concave and increasing: a step from the left of the root stays on the left of
   it, so the steps cannot run away. Only for the lower tail, where p is exact. */
static double lower_quantile(double p) {
  double target = log(p), z = -sqrt(-2 * target); /* Phi(z) < exp(-z^2 / 2) for z < 0 */
  for (int i = 0; i < 100; i++) {
    double cdf = tutti_normal_cdf(z), step = (target - log(cdf)) * cdf / normal_density(z);
    z += step;
    if (fabs(step) <= 1e-15 * fabs(z))
      break;
  }
  return z;
}

double tutti_normal_quantile(double p) {
  if (!(p >= 0 && p <= 1))
    return NAN;
  if (p == 0 || p == 1)
    return p == 0 ? -INFINITY : INFINITY;
  if (p == 0.5)
    return 0;
  return p < 0.5 ? lower_quantile(p) : -lower_quantile(1 - p);
}

double tutti_gaussian_nll(double mean, double variance, double value) {
  double error = value - mean, floored = metrics_floor(variance);
  return 0.5 * error * error / floored + 0.5 * log(floored) + HALF_LOG_TWO_PI;
}

/* E|X| of a normal X with this mean and variance. */
static double mean_distance(double mean, double variance) {
  double deviation = sqrt(metrics_floor(variance)), z = mean / deviation;
  return 2 * deviation * normal_density(z) + mean * (2 * tutti_normal_cdf(z) - 1);
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
