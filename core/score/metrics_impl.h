/* metrics_impl.h - shared by the files of metrics and evaluation. */
#ifndef TUTTI_METRICS_IMPL_H
#define TUTTI_METRICS_IMPL_H

#include <float.h>
#include <math.h>
#include <tutti/metrics.h>

/* Probabilities and variances below the smallest normal float32 count as that: it keeps likelihoods finite, and changes
   nothing that float32 predictions can express. NaN stays NaN. */
static inline double metrics_floor(double value) { return value < (double)FLT_MIN ? (double)FLT_MIN : value; }

/* For a value that only rounding can make negative; NaN stays NaN. */
static inline double metrics_positive(double value) { return value < 0 ? 0 : value; }

#define METRICS_HALF_LOG_TWO_PI 0.91893853320467274178
static inline double metrics_normal_density(double z) { return exp(-0.5 * z * z - METRICS_HALF_LOG_TWO_PI); }

/* The most probable class (the lowest on ties, `classes` if one is NaN) and the Brier score, for predictions (float)
   and for their mixtures (double). */
#define METRICS_OF_PROBABILITIES(suffix, type)                                                                         \
  static inline size_t metrics_label_##suffix(size_t classes, const type *p) {                                         \
    size_t best = 0;                                                                                                   \
    for (size_t c = 0; c < classes; c++) {                                                                             \
      if (p[c] != p[c])                                                                                                \
        return classes;                                                                                                \
      if (p[c] > p[best])                                                                                              \
        best = c;                                                                                                      \
    }                                                                                                                  \
    return best;                                                                                                       \
  }                                                                                                                    \
  static inline double metrics_brier_##suffix(size_t classes, const type *p, size_t label) {                           \
    double sum = 0;                                                                                                    \
    for (size_t c = 0; c < classes; c++) {                                                                             \
      double difference = (double)p[c] - (c == label);                                                                 \
      sum += difference * difference;                                                                                  \
    }                                                                                                                  \
    return sum;                                                                                                        \
  }
METRICS_OF_PROBABILITIES(float, float)
METRICS_OF_PROBABILITIES(double, double)

#endif
