/* nomu_impl.h - head-nomu at one row and output: the terms of its loss with their derivatives (Heiss et al., ICML 2022,
   Eq. 4; with data noise, Eq. 57; for directed hypothesis classes Definition C.1, where u(z) = -exp(-c_exp z)), and
   what its outputs mean. Compiled for GPUs, too (level_impl.h). */
#ifndef BACKEND_CPU_NOMU_IMPL_H
#define BACKEND_CPU_NOMU_IMPL_H

#include "cpu_impl.h"
#include "level_impl.h"

#include <float.h>
#include <math.h>

/* --- terms -------------------------------------------------------------------------------------------------------- */

/* The squared uncertainty of a training point, or Huber's of it, and its derivative. */
CPU_INLINE double nomu_square(const struct cpu_attributes *a, double r, double *slope) {
  if (a->stable && fabs(r) > 1) {
    *slope = r > 0 ? 2 : -2;
    return 2 * fabs(r) - 1;
  }
  *slope = 2 * r;
  return r * r;
}

/* Artificial point `index` of `count` on a grid that goes from one end of its box to the other. */
CPU_INLINE float nomu_grid_point(float low, float high, uint32_t index, uint32_t count) {
  const double share = count > 1 ? (double)index / (double)(count - 1) : 0.5;
  return (float)((double)low * (1 - share) + (double)high * share);
}

/* The penalty of an artificial point, exp(-c r); the stable variant goes on as a straight line where it would grow. */
CPU_INLINE double nomu_push(const struct cpu_attributes *a, double r, double *slope) {
  if (a->stable && r < 0) {
    *slope = -a->c_exp;
    return 1 - a->c_exp * r;
  }
  double e = exp(-a->c_exp * r);
  *slope = -a->c_exp * e;
  return e;
}

/* The variance of the noise that is read out of a raw value, and its derivative. */
CPU_INLINE double nomu_noise(const struct cpu_attributes *a, double raw, double *slope) {
  double z = a->scale * raw, soft = fmax(z, 0.0) + log1p(exp(-fabs(z))), s = a->floor + soft;
  double rise = a->scale / (1 + exp(-z));
  *slope = a->variance ? rise : 2 * s * rise;
  return a->variance ? s : s * s;
}

/* --- the loss of a row -------------------------------------------------------------------------------------------- */

/* The inputs of the head at a row and output: the mean, r or a bound, the other bound or the noise; and the
   gradients. */
struct nomu_point {
  double in[3], to[3];
};

/* Is the noise the last of the head's inputs? */
CPU_INLINE bool nomu_has_noise(const struct cpu_attributes *a) { return a->noise == TUTTI_NOMU_NOISE_LEARNT; }

/* Terms (a) and (b) of Eq. 4 or, with noise, of Eq. 57. */
CPU_INLINE double nomu_loss_at_row(const struct cpu_attributes *a, double target, struct nomu_point *p) {
  double residual = p->in[0] - target, squared = residual * residual, slope, rise;
  double square = a->pi_sqr * nomu_square(a, p->in[1], &slope);
  if (a->noise == TUTTI_NOMU_NOISE_NONE) {
    p->to[0] = 2 * residual;
    p->to[1] = a->pi_sqr * slope;
    return squared + square;
  }
  bool learnt = nomu_has_noise(a);
  double variance = learnt ? nomu_noise(a, p->in[2], &rise) : a->known_noise * a->known_noise;
  variance = fmax(variance, (double)FLT_MIN);
  p->to[0] = residual / variance;
  p->to[1] = a->pi_sqr * slope / (2 * variance);
  if (learnt)
    p->to[2] = rise * (1 - (squared + (a->through_noise ? square : 0)) / variance) / (2 * variance);
  return (squared + square) / (2 * variance) + (learnt ? log(variance) / 2 : 0);
}

/* Terms (a) and (b) of Definition C.1: each bound goes through the targets, too. */
CPU_INLINE double nomu_bounds_at_row(const struct cpu_attributes *a, size_t inputs, double target,
                                     struct nomu_point *p) {
  double residual = p->in[0] - target, loss = residual * residual, slope;
  p->to[0] = 2 * residual;
  for (size_t i = 1; i < inputs; i++) {
    loss += a->pi_sqr * nomu_square(a, p->in[i] - target, &slope);
    p->to[i] = a->pi_sqr * slope;
  }
  return loss;
}

/* Term (c): r, or the upper bound, goes up, and the lower bound down. */
CPU_INLINE double nomu_push_at_point(const struct cpu_attributes *a, size_t inputs, struct nomu_point *p) {
  double push = 0, slope;
  for (size_t i = 1; i < inputs; i++) {
    bool lower = a->bounds == TUTTI_NOMU_BOUNDS_LOWER || (a->bounds == TUTTI_NOMU_BOUNDS_BOTH && i == 1);
    push += nomu_push(a, lower ? -p->in[i] : p->in[i], &slope);
    p->to[i] = lower ? -slope : slope;
  }
  return push;
}

/* The terms of a training row, or, `artificial`, of an artificial point; p->to gets their gradients. */
CPU_INLINE double nomu_term(const struct cpu_attributes *a, size_t inputs, bool artificial, double target,
                            struct nomu_point *p) {
  if (artificial)
    return nomu_push_at_point(a, inputs - nomu_has_noise(a), p);
  if (a->bounds == TUTTI_NOMU_BOUNDS_SYMMETRIC)
    return nomu_loss_at_row(a, target, p);
  return nomu_bounds_at_row(a, inputs, target, p);
}

/* --- what outputs mean -------------------------------------------------------------------------------------------- */

/* The standard deviation for a raw uncertainty (Eq. 2). */
CPU_INLINE double nomu_readout(const struct cpu_attributes *a, double raw) {
  if (a->readout == TUTTI_NOMU_READOUT_LINEAR)
    return a->l_min + fmax(0.0, raw - a->l_min) - fmax(0.0, raw - a->l_max);
  return -a->l_max * expm1(-(fmax(raw, 0.0) + a->l_min) / a->l_max);
}

/* The deviation of the mean: read out of r, or how far the bounds are away, half the way between two. */
CPU_INLINE double nomu_deviation(const struct cpu_attributes *a, const struct nomu_point *p) {
  switch (a->bounds) {
  case TUTTI_NOMU_BOUNDS_LOWER:
    return fmax(p->in[0] - p->in[1], 0.0);
  case TUTTI_NOMU_BOUNDS_UPPER:
    return fmax(p->in[1] - p->in[0], 0.0);
  case TUTTI_NOMU_BOUNDS_BOTH:
    return fmax(p->in[2] - p->in[1], 0.0) / 2;
  default:
    return nomu_readout(a, p->in[1]);
  }
}

/* What the head says of an output. */
CPU_INLINE struct cpu_nomu_moments nomu_moments(const struct cpu_attributes *a, const struct nomu_point *p) {
  double slope, noise = 0, deviation = nomu_deviation(a, p);
  if (nomu_has_noise(a))
    noise = nomu_noise(a, p->in[2], &slope);
  else if (a->noise == TUTTI_NOMU_NOISE_KNOWN)
    noise = a->known_noise * a->known_noise;
  struct cpu_nomu_moments moments = {p->in[0], deviation * deviation + noise, deviation * deviation};
  return moments;
}

/* The Gaussian NLL of these moments. */
CPU_INLINE double nomu_likelihood(const struct cpu_nomu_moments *moments, double target) {
  const double pi = 3.14159265358979323846;
  double error = moments->mean - target, variance = fmax(moments->variance, (double)FLT_MIN);
  return error * error / variance / 2 + log(2 * pi * variance) / 2;
}

#endif
