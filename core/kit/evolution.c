/* evolution.c - parents drawn by fitness. */
#include <math.h>
#include <tutti/evolution.h>

/* Scaled by the greatest magnitude, so that squares neither overflow nor vanish. */
static double magnitude_of(size_t count, const double *fitness) {
  double most = 0;
  for (size_t i = 0; i < count; i++)
    most = fmax(most, fabs(fitness[i]));
  return most;
}

void tutti_evolution_shares(size_t count, const double *fitness, double spread, double *cumulative) {
  double unit = magnitude_of(count, fitness), mean = 0, squares = 0, best = -INFINITY, sum = 0;
  for (size_t i = 0; i < count; i++) {
    cumulative[i] = unit > 0 ? fitness[i] / unit : 0;
    mean += cumulative[i] / (double)count;
    best = fmax(best, cumulative[i]);
  }
  for (size_t i = 0; i < count; i++)
    squares += (cumulative[i] - mean) * (cumulative[i] - mean) / (double)count;
  double width = spread * sqrt(squares);
  /* The mean cancels out of the shares; measured from the best, no exponential overflows. */
  for (size_t i = 0; i < count; i++)
    cumulative[i] = sum += width > 0 ? exp((cumulative[i] - best) / width) : 1;
  for (size_t i = 0; i < count; i++)
    cumulative[i] /= sum;
}

size_t tutti_evolution_draw(struct tutti_random *random, size_t count, const double *cumulative) {
  double at = tutti_random_uniform(random);
  size_t low = 0, high = count - 1;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (cumulative[middle] > at)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}
