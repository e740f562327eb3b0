/* metrics.c - parts of losses and metrics, of one row of classification. */
#include "metrics_impl.h"

#include <math.h>

size_t tutti_label_of(size_t classes, const double *probabilities) {
  return metrics_label_double(classes, probabilities);
}

double tutti_probability_nll(double p) { return -log(metrics_floor(p)); }

double tutti_entropy(size_t classes, const double *probabilities) {
  double sum = 0;
  for (size_t c = 0; c < classes; c++)
    if (probabilities[c] != 0)
      sum -= probabilities[c] * log(probabilities[c]);
  return sum;
}
