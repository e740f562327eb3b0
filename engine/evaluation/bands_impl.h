/* bands_impl.h - how good standard deviations are as uncertainty bounds mean +- c s, for a free factor c: sums over
   points, and closed forms of them. */
#ifndef TUTTI_BANDS_IMPL_H
#define TUTTI_BANDS_IMPL_H

#include "core/base/private.h"

#include <stddef.h>

/* Sums over points; zero before the first. z = (value - mean) / deviation. */
struct tutti_bands {
  size_t points;
  double deviation, log_deviation; /* of s and of log s */
  double ratio, square_ratio;      /* of |z| and of z^2 */
};

/* Add a point. The variance counts at least as that of metrics.h: a deviation of 0 keeps its logarithm finite. */
TUTTI_PRIVATE void tutti_bands_add(struct tutti_bands *sums, double mean, double deviation, double value);
/* The c for which the NLL is least: the root of the mean z^2. */
TUTTI_PRIVATE double tutti_bands_scale(const struct tutti_bands *sums);
/* The mean NLL of N(mean, (c s)^2), with the constant (1/2) log 2 pi. */
TUTTI_PRIVATE double tutti_bands_nll(const struct tutti_bands *sums, double c);
/* The least of these: mean log s + log c + 1/2 + (1/2) log 2 pi at the c above. */
TUTTI_PRIVATE double tutti_bands_least_nll(const struct tutti_bands *sums);
/* The mean width of the bounds, 2 c mean(s). */
TUTTI_PRIVATE double tutti_bands_width(const struct tutti_bands *sums, double c);
/* The area under the mean width as a function of the share of points covered, for c from 0 to full coverage:
   2 mean(s) mean(|z|). */
TUTTI_PRIVATE double tutti_bands_area(const struct tutti_bands *sums);

#endif
