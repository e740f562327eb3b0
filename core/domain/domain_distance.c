/* domain_distance.c - how far apart two points are. */
#include <math.h>

#include "domain_impl.h"

/* The distance in one dimension: 1 if only one of the points has it. */
static double part_of(const struct dimension *dimension, double a, double b) {
  if (isnan(a) || isnan(b))
    return 1;
  if (dimension->given.type == TUTTI_DIMENSION_CATEGORICAL)
    return a != b;
  return fabs(tutti_dimension_position(&dimension->given, a) - tutti_dimension_position(&dimension->given, b));
}

double tutti_domain_distance(const tutti_domain *domain, const double *a, const double *b) {
  double sum = 0;
  size_t compared = 0;
  for (size_t i = 0; i < domain->count; i++) {
    if (isnan(a[i]) && isnan(b[i]))
      continue;
    sum += part_of(&domain->dimensions[i], a[i], b[i]);
    compared++;
  }
  return compared ? sum / (double)compared : 0;
}
