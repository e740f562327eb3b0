/* plain_gp_otmann.h - a Gaussian process over words and their edit distances as a text book has it, for the test of
   surrogate gp-otmann: eigenvalues by Jacobi's rotations, equations by elimination. */
#ifndef PLAIN_GP_OTMANN_H
#define PLAIN_GP_OTMANN_H

#include "words.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/candidate.h>

#include <cmocka.h>

enum { MOST = 48 };
typedef double square[MOST][MOST];

static void assert_near(double found, double expected, double tolerance) {
  if (!(fabs(found - expected) <= tolerance * (1 + fabs(expected)))) {
    print_error("found %.17g, expected %.17g\n", found, expected);
    fail();
  }
}

/* --- a plain model ------------------------------------------------------------------------------------------------ */

/* Eigenvalues and columns of eigenvectors of a symmetric matrix, which is destroyed. */
static void jacobi(size_t n, square a, double *values, square vectors) {
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++)
      vectors[i][j] = i == j;
  for (int sweep = 0; sweep < 60; sweep++)
    for (size_t p = 0; p < n; p++)
      for (size_t q = p + 1; q < n; q++) {
        if (a[p][q] == 0)
          continue;
        double theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
        double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1)), c = 1 / sqrt(t * t + 1), s = t * c;
        for (size_t k = 0; k < n; k++) {
          double x = a[k][p], y = a[k][q];
          a[k][p] = c * x - s * y, a[k][q] = s * x + c * y;
        }
        for (size_t k = 0; k < n; k++) {
          double x = a[p][k], y = a[q][k];
          a[p][k] = c * x - s * y, a[q][k] = s * x + c * y;
          x = vectors[k][p], y = vectors[k][q];
          vectors[k][p] = c * x - s * y, vectors[k][q] = s * x + c * y;
        }
      }
  for (size_t i = 0; i < n; i++)
    values[i] = a[i][i];
}

/* x := a⁻¹ x; returns log det a. */
static double eliminate(size_t n, const square a_, double *x) {
  static square a;
  double logarithm = 0;
  memcpy(a, a_, sizeof(a));
  for (size_t p = 0; p < n; p++) {
    size_t best = p;
    for (size_t i = p + 1; i < n; i++)
      best = fabs(a[i][p]) > fabs(a[best][p]) ? i : best;
    for (size_t j = 0; j < n; j++) {
      double other = a[p][j];
      a[p][j] = a[best][j], a[best][j] = other;
    }
    double other = x[p];
    x[p] = x[best], x[best] = other;
    logarithm += log(fabs(a[p][p]));
    for (size_t i = p + 1; i < n; i++) {
      double factor = a[i][p] / a[p][p];
      for (size_t j = p; j < n; j++)
        a[i][j] -= factor * a[p][j];
      x[i] -= factor * x[p];
    }
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t j = i + 1; j < n; j++)
      x[i] -= a[i][j] * x[j];
    x[i] /= a[i][i];
  }
  return logarithm;
}

/* The nearest positive semi-definite matrix, the projector on what it keeps, and how many eigenvalues are below
   -1e-9. */
static size_t project(size_t n, const square k, square projected, square projector) {
  static square copy, vectors;
  double values[MOST];
  size_t negative = 0;
  memcpy(copy, k, sizeof(copy));
  jacobi(n, copy, values, vectors);
  memset(projected, 0, sizeof(square));
  memset(projector, 0, sizeof(square));
  for (size_t e = 0; e < n; e++) {
    negative += values[e] < -1e-9;
    for (size_t i = 0; values[e] > 1e-9 && i < n; i++)
      for (size_t j = 0; j < n; j++) {
        projected[i][j] += values[e] * vectors[i][e] * vectors[j][e];
        projector[i][j] += vectors[i][e] * vectors[j][e];
      }
  }
  return negative;
}

/* Hyperparameters: alphas, betas of four measures, the length scale of one real in [0, 1], noise. */
enum { ALPHA = 0, BETA = 2, LENGTH = 6, NOISE = 7, HYPERS = 8 };

static double plain_covariance(const tutti_candidate *a, const tutti_candidate *b, const double *hyper) {
  double d[4], r = fabs(tutti_candidate_hyperparameters(a)[0] - tutti_candidate_hyperparameters(b)[0]) / hyper[LENGTH];
  words_distances(words_letters(tutti_candidate_genotype(a)), words_letters(tutti_candidate_genotype(b)), d);
  double words = hyper[0] * exp(-hyper[2] * d[0] - hyper[3] * d[1]) +
                 hyper[1] * exp(-hyper[4] * d[2] * d[2] - hyper[5] * d[3] * d[3]);
  return words * (1 + sqrt(5) * r + 5 * r * r / 3) * exp(-sqrt(5) * r);
}

/* What is observed, in standardised units. */
struct plain {
  size_t count, negative;
  bool as_they_are;
  const tutti_candidate *const *seen;
  const double *hyper;
  double values[MOST], weight[MOST], shift, scale, likelihood;
  square covariance, projected, projector, noisy;
};

static int ascending_values(const void *a, const void *b) {
  return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static void plain_fit(struct plain *plain, size_t count, tutti_candidate *const *seen, const double *values,
                      const double *noise, const double *hyper) {
  double sorted[MOST], mean = 0, squares = 0, quadratic = 0;
  *plain = (struct plain){.count = count, .seen = (const tutti_candidate *const *)seen, .hyper = hyper};
  memcpy(sorted, values, count * sizeof(double));
  qsort(sorted, count, sizeof(double), ascending_values);
  plain->shift = count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
  for (size_t i = 0; i < count; i++)
    mean += values[i] / (double)count;
  for (size_t i = 0; i < count; i++)
    squares += (values[i] - mean) * (values[i] - mean) / (double)count;
  plain->scale = sqrt(squares);
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; j < count; j++)
      plain->covariance[i][j] = plain_covariance(seen[i], seen[j], hyper);
  plain->negative = project(count, plain->covariance, plain->projected, plain->projector);
  memcpy(plain->noisy, plain->projected, sizeof(square));
  for (size_t i = 0; i < count; i++) {
    plain->noisy[i][i] += hyper[NOISE] + (noise ? noise[i] / squares : 0);
    plain->values[i] = plain->weight[i] = (values[i] - plain->shift) / plain->scale;
  }
  double logarithm = eliminate(count, plain->noisy, plain->weight);
  for (size_t i = 0; i < count; i++)
    quadratic += plain->values[i] * plain->weight[i];
  plain->likelihood = -0.5 * quadratic - 0.5 * logarithm - 0.5 * (double)count * log(2 * M_PI);
}

/* Cross-covariances, projected unless they are to enter as they are. */
static void plain_cross(const struct plain *plain, const tutti_candidate *at, double *cross) {
  double raw[MOST];
  for (size_t i = 0; i < plain->count; i++)
    raw[i] = cross[i] = plain_covariance(plain->seen[i], at, plain->hyper);
  if (plain->as_they_are)
    return;
  for (size_t i = 0; i < plain->count; i++) {
    cross[i] = 0;
    for (size_t j = 0; j < plain->count; j++)
      cross[i] += plain->projector[i][j] * raw[j];
  }
}

/* Covariance of two candidates given what is observed. */
static double plain_given(const struct plain *plain, const tutti_candidate *a, const tutti_candidate *b) {
  double one[MOST], two[MOST], explained = 0;
  plain_cross(plain, a, one);
  plain_cross(plain, b, two);
  eliminate(plain->count, plain->noisy, two);
  for (size_t i = 0; i < plain->count; i++)
    explained += one[i] * two[i];
  return plain_covariance(a, b, plain->hyper) - explained;
}

static double plain_mean(const struct plain *plain, const tutti_candidate *at) {
  double cross[MOST], sum = 0;
  plain_cross(plain, at, cross);
  for (size_t i = 0; i < plain->count; i++)
    sum += cross[i] * plain->weight[i];
  return plain->shift + plain->scale * sum;
}

#endif
