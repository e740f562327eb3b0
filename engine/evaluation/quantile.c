/* quantile.c - quantiles of mixtures of Gaussians, and intervals between them. */
#include "calibrate_impl.h"

#include <math.h>

#include "core/score/metrics_impl.h"

double tutti_level_at(const struct tutti_evaluation_options *options, size_t index) {
  static const double levels[TUTTI_FIXED_LEVELS] = {0.5, 0.8, 0.9, 0.95};
  return index < TUTTI_FIXED_LEVELS ? levels[index] : options->level;
}

double tutti_quantile_at(size_t index) { return (double)(index + 1) / (TUTTI_QUANTILES + 1); }

/* The distribution function at x, and the density there. */
static double distribution_of(const struct tutti_mixture *mixture, double x, double *density) {
  static const double inverse_root_two_pi = 0.39894228040143267794;
  double sum = 0;
  *density = 0;
  for (size_t k = 0; k < mixture->members; k++) {
    double deviation = sqrt(metrics_floor(mixture->variances[k])), z = (x - mixture->means[k]) / deviation;
    sum += mixture->weights[k] * tutti_normal_cdf(z);
    *density += mixture->weights[k] * inverse_root_two_pi * exp(-0.5 * z * z) / deviation;
  }
  return sum;
}

double tutti_mixture_quantile(const struct tutti_mixture *mixture, double p) {
  enum { STEPS = 200 };
  const double precision = 1e-14;
  double z = tutti_normal_quantile(p), low = INFINITY, high = -INFINITY, x = 0;
  /* It lies between the members' own quantiles. */
  for (size_t k = 0; k < mixture->members; k++) {
    double own = mixture->means[k] + z * sqrt(metrics_floor(mixture->variances[k]));
    if (isnan(own))
      return NAN;
    low = fmin(low, own);
    high = fmax(high, own);
    x += mixture->weights[k] * own;
  }
  for (int i = 0; i < STEPS && high - low > precision * (fabs(low) + fabs(high)); i++) {
    double density, above = distribution_of(mixture, x, &density) - p;
    if (above < 0)
      low = x;
    else
      high = x;
    double next = x - above / density;
    if (!(next > low && next < high))
      next = low + (high - low) / 2;
    if (fabs(next - x) <= precision * fabs(x))
      return next;
    x = next;
  }
  return fmin(fmax(x, low), high);
}

double tutti_interval_score(const double *ends, double level, double value) {
  double outside = fmax(0, fmax(ends[0] - value, value - ends[1]));
  return isnan(ends[0] + value) ? (double)NAN : ends[1] - ends[0] + 2 / (1 - level) * outside;
}
