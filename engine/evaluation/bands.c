/* bands.c - uncertainty bounds for a free factor c, in closed form (the metrics of Heiss et al., NOMU, ICML 2022,
   Appendix B.2.1). */
#include "bands_impl.h"

#include "core/score/metrics_impl.h"

#include <math.h>

void tutti_bands_add(struct tutti_bands *sums, double mean, double deviation, double value) {
  double floored = sqrt(metrics_floor(deviation * deviation)), z = (value - mean) / floored;
  sums->points++;
  sums->deviation += floored;
  sums->log_deviation += log(floored);
  sums->ratio += fabs(z);
  sums->square_ratio += z * z;
}

double tutti_bands_scale(const struct tutti_bands *sums) { return sqrt(sums->square_ratio / (double)sums->points); }

double tutti_bands_nll(const struct tutti_bands *sums, double c) {
  double scale = tutti_bands_scale(sums);
  return sums->log_deviation / (double)sums->points + tutti_gaussian_nll(0, c * c, scale);
}

double tutti_bands_least_nll(const struct tutti_bands *sums) { return tutti_bands_nll(sums, tutti_bands_scale(sums)); }

double tutti_bands_width(const struct tutti_bands *sums, double c) {
  return 2 * c * sums->deviation / (double)sums->points;
}

double tutti_bands_area(const struct tutti_bands *sums) {
  double points = (double)sums->points;
  return 2 * (sums->deviation / points) * (sums->ratio / points);
}
