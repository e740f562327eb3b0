/* scale.c - classical scaling: the two leading directions of the doubly centred squares, by orthogonal iteration. The
   matrix has no negative eigenvalue, since the distances are Euclidean, so that the iteration finds the largest
   ones. */
#include "compute.h"

#include <math.h>

enum { MOST_STEPS = 1000 };

static void centre(size_t count, const double *distances, double *means, double *matrix) {
  double mean = 0;
  for (size_t i = 0; i < count; i++) {
    means[i] = 0;
    for (size_t k = 0; k < count; k++)
      means[i] += distances[i * count + k] * distances[i * count + k] / (double)count;
    mean += means[i] / (double)count;
  }
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < count; k++) {
      double square = distances[i * count + k] * distances[i * count + k];
      matrix[i * count + k] = -0.5 * (square - means[i] - means[k] + mean);
    }
}

static double product(size_t count, const double *a, const double *b) {
  double sum = 0;
  for (size_t i = 0; i < count; i++)
    sum += a[i] * b[i];
  return sum;
}

/* Make it of length 1; 0 if it has none. Returns the length. */
static double normalise(size_t count, double *vector) {
  double length = sqrt(product(count, vector, vector));
  for (size_t i = 0; i < count; i++)
    vector[i] = length > 0 ? vector[i] / length : 0;
  return length;
}

/* Take from the vector what lies along another one, of length 1; NULL: there is none. */
static void keep_apart(size_t count, double *vector, const double *other) {
  double along = other ? product(count, vector, other) : 0;
  for (size_t i = 0; i < count && other; i++)
    vector[i] -= along * other[i];
}

/* One direction, orthogonal to `other` (NULL: to none). Returns its eigenvalue. */
static double lead(size_t count, const double *matrix, const double *other, double *vector, double *next) {
  double value = 0;
  for (size_t i = 0; i < count; i++) /* no axis of symmetry of anything */
    vector[i] = sin(1.0 + 2.3 * (double)i);
  for (int step = 0; step < MOST_STEPS; step++) {
    double before = value;
    keep_apart(count, vector, other);
    if (normalise(count, vector) <= 0)
      return 0;
    for (size_t i = 0; i < count; i++)
      next[i] = product(count, matrix + i * count, vector);
    value = product(count, next, vector);
    for (size_t i = 0; i < count; i++)
      vector[i] = next[i];
    if (step > 10 && fabs(value - before) <= 1e-13 * fabs(value))
      break;
  }
  keep_apart(count, vector, other);
  (void)normalise(count, vector);
  return fmax(0, value);
}

static void orient(size_t count, double *vector) {
  double largest = 0;
  for (size_t i = 0; i < count; i++)
    if (fabs(vector[i]) > fabs(largest) * (1 + 1e-9))
      largest = vector[i];
  for (size_t i = 0; i < count && largest < 0; i++)
    vector[i] = -vector[i];
}

enum tutti_status tutti_report_scale(tutti_context *context, size_t count, const double *distances, double *places,
                                     double *shares) {
  double *matrix, *vectors[2], *spare, trace = 0;
  TUTTI_TRY(context, tutti_alloc(context, count * (count + 3), sizeof *matrix, &matrix));
  vectors[0] = matrix + count * count;
  vectors[1] = vectors[0] + count;
  spare = vectors[1] + count;
  centre(count, distances, spare, matrix);
  for (size_t i = 0; i < count; i++)
    trace += matrix[i * count + i];
  for (size_t k = 0; k < 2; k++) {
    double value = lead(count, matrix, k ? vectors[0] : NULL, vectors[k], spare);
    orient(count, vectors[k]);
    shares[k] = trace > 0 ? value / trace : 0;
    for (size_t i = 0; i < count; i++)
      places[2 * i + k] = sqrt(value) * vectors[k][i];
  }
  tutti_free(matrix);
  return TUTTI_OK;
}
