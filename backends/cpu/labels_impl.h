/* labels_impl.h - targets of classes that are smoothed (Szegedy et al., "Rethinking the Inception Architecture for
   Computer Vision", CVPR 2016, section 7): a share s of a row's target is spread evenly over all classes, its own one
   among them. Compiled for GPUs, too (level_impl.h). */
#ifndef BACKEND_CPU_LABELS_IMPL_H
#define BACKEND_CPU_LABELS_IMPL_H

#include "level_impl.h"

#include <stdint.h>

CPU_INLINE float label_target(uint32_t which, uint32_t label, uint32_t classes, float s) {
  return (which == label ? 1 - s : 0.0f) + s / (float)classes;
}

/* The target's mean of the logits x[classes]. */
CPU_INLINE double label_logit(const float *x, uint32_t label, uint32_t classes, float s) {
  double sum = 0;
  if (s == 0)
    return (double)x[label];
  for (uint32_t c = 0; c < classes; c++)
    sum += (double)x[c];
  return (double)(1 - s) * (double)x[label] + (double)s * sum / (double)classes;
}

#endif
