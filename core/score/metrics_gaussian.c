/* metrics_gaussian.c - Gaussians: distribution function, quantile, likelihood of a value. */
#include "metrics_impl.h"

#include <math.h>

double tutti_normal_cdf(double z) { return 0.5 * erfc(-z * M_SQRT1_2); }

/* Newton's method on log Phi, which is concave and increasing: a step from the left of the root stays on the left of
   it, so the steps cannot run away. Only for the lower tail, where p is exact. */
static double lower_quantile(double p) {
  double target = log(p), z = -sqrt(-2 * target); /* Phi(z) < exp(-z^2 / 2) for z < 0 */
  for (int i = 0; i < 100; i++) {
    double cdf = tutti_normal_cdf(z), step = (target - log(cdf)) * cdf / metrics_normal_density(z);
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
  return 0.5 * error * error / floored + 0.5 * log(floored) + METRICS_HALF_LOG_TWO_PI;
}
