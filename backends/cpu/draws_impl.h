/* draws_impl.h - mixtures of draws of dropout, number by number (draws.c). Compiled for GPUs, too (level_impl.h). */
#ifndef BACKEND_CPU_DRAWS_IMPL_H
#define BACKEND_CPU_DRAWS_IMPL_H

#include "cpu_impl.h"
#include "level_impl.h"

#include <math.h>

/* A variance that the head does not give is no noise. */
CPU_INLINE double mix_known(float variance) { return isnan(variance) ? 0 : (double)variance; }

/* Add draw number `draw`, from 0, of an output: Welford's way for the means; the mean of the variances, and of the
   parts that are NOMU's. */
CPU_INLINE void mix_moments(struct cpu_mixed *m, size_t draw, float mean, float variance, float part) {
  double share = 1 / (double)(draw + 1), from = (double)mean - m->mean;
  m->mean += from * share;
  m->scatter += from * ((double)mean - m->mean);
  m->noise += (mix_known(variance) - m->noise) * share;
  m->inner += ((double)part - m->inner) * share;
}

/* Mean and variance of the mixture, and, unless it is NULL, what of the variance is the network's own. */
CPU_INLINE void mix_moments_end(const struct cpu_mixed *m, size_t draws, float *out, float *epistemic) {
  double between = m->scatter / (double)draws;
  out[0] = (float)m->mean;
  out[1] = (float)(m->noise + between);
  if (epistemic)
    *epistemic = fminf((float)(m->inner + between), out[1]);
}

/* Add the probabilities p[classes] of a draw; the first class keeps the mean entropy as its noise. */
CPU_INLINE void mix_classes(struct cpu_mixed *row, size_t classes, size_t draw, const float *p) {
  double share = 1 / (double)(draw + 1), entropy = 0;
  for (size_t c = 0; c < classes; c++) {
    double one = (double)p[c];
    row[c].mean += (one - row[c].mean) * share;
    entropy -= one > 0 ? one * log(one) : 0;
  }
  row[0].noise += (entropy - row[0].noise) * share;
}

/* out[classes] of the mixture, and, unless it is NULL, what of its entropy the draws do not agree on. */
CPU_INLINE void mix_classes_end(const struct cpu_mixed *row, size_t classes, float *out, float *epistemic) {
  double entropy = 0;
  for (size_t c = 0; c < classes; c++) {
    out[c] = (float)row[c].mean;
    entropy -= row[c].mean > 0 ? row[c].mean * log(row[c].mean) : 0;
  }
  if (epistemic)
    *epistemic = (float)fmax(entropy - row[0].noise, 0.0);
}

#endif
