/* normal_tail.h - the normal distribution far below its middle, for acquisitions that compare a value with the best
   one. */
#ifndef TUTTI_ACQUISITION_NORMAL_TAIL_H
#define TUTTI_ACQUISITION_NORMAL_TAIL_H

#include <float.h>
#include <math.h>

#define NORMAL_LOG_ROOT 0.91893853320467274178 /* log √(2π) */

/* log h(u), Φ(u)/h(u) and φ(u)/h(u), where h(u) = u Φ(u) + φ(u). */
struct normal_tail {
  double log_h, distribution, density;
};

/* Below -2, use Laplace's continued fraction. With z = -u and t = 1/(z + 2/(z + 3/(z + ...))): Φ/φ = 1/(z + t) and h =
   φ t/(z + t), so nothing cancels. With this many terms the error is below 1e-16 for all z >= 2. */
static inline struct normal_tail normal_tail(double u) {
  if (u > -2) {
    double density = exp(-0.5 * u * u - NORMAL_LOG_ROOT), distribution = 0.5 * erfc(-u * M_SQRT1_2);
    double h = density + u * distribution;
    return (struct normal_tail){.log_h = log(h), .distribution = distribution / h, .density = density / h};
  }
  double z = -u, rest = 0, t;
  for (int k = 10 + (int)(700 / (z * z)); k >= 2; k--)
    rest = k / (z + rest);
  t = 1 / (z + rest);
  return (struct normal_tail){
      .log_h = log(t / (z + t)) - 0.5 * z * z - NORMAL_LOG_ROOT, .distribution = 1 / t, .density = (z + t) / t};
}

/* u = improvement / deviation, clipped so that its square is finite. */
static inline double normal_score(double improvement, double deviation) {
  static const double widest = 1e150;
  return fmax(-widest, fmin(improvement / deviation, widest));
}

static inline double finite_worth(double value) {
  return value < -DBL_MAX ? -DBL_MAX : value > DBL_MAX ? DBL_MAX : value;
}

#endif
