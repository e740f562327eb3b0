/* metrics.c - parts of losses and metrics, of one row of classification; sorted numbers. */
#include "metrics_impl.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

void tutti_sort_numbers(size_t count, double *numbers) {
  if (count > 1)
    qsort(numbers, count, sizeof *numbers, by_value);
}

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
