/* schedule_impl.h - the learning rate of an epoch, and what its losses decide: which weights are kept, when training
   ends. Compiled for GPUs, too (level_impl.h). */
#ifndef BACKEND_CPU_SCHEDULE_IMPL_H
#define BACKEND_CPU_SCHEDULE_IMPL_H

#include "cpu_impl.h"
#include "level_impl.h"

#include <math.h>

/* What the epochs so far have come to. */
struct cpu_watch {
  double rate;                               /* factor that the plateau schedule has reached */
  double best_loss, plateau_loss;            /* INFINITY: none yet */
  uint32_t best_epoch, plateau_wait, waited; /* epochs */
};

CPU_INLINE struct cpu_watch backend_cpu_watch_begin(const struct cpu_config *config) {
  struct cpu_watch watch = {config->learning_rate, HUGE_VAL, HUGE_VAL, 0, 0, 0};
  return watch;
}

/* The learning rate of an epoch, from 1. */
CPU_INLINE double backend_cpu_epoch_rate(const struct cpu_config *c, double rate, uint32_t epoch) {
  const double pi = 3.14159265358979323846;
  double done = (double)(epoch - 1), low = c->schedule_minimum;
  switch ((enum cpu_schedule)c->schedule) {
  case CPU_SCHEDULE_COSINE:
    return low + (rate - low) * 0.5 * (1 + cos(pi * done / (double)c->epochs));
  case CPU_SCHEDULE_STEP:
    return fmax(low, rate * pow(c->schedule_factor, floor(done / (double)c->schedule_epochs)));
  default:
    return rate;
  }
}

/* The first epoch whose weights count in their average (average.c); beyond the last: none do. */
CPU_INLINE uint32_t backend_cpu_first_averaged(const struct cpu_config *c) {
  double epochs = (double)c->epochs, last = floor(c->average * epochs + 0.5);
  if (c->average == 0)
    return (uint32_t)c->epochs + 1;
  return (uint32_t)(epochs - fmax(1.0, last)) + 1;
}

/* Does an epoch's loss belong to the weights before its one step, and are these to be kept? */
CPU_INLINE bool backend_cpu_keeps_measured(const struct cpu_config *c, size_t rows, size_t batch, bool validates) {
  return c->keep == CPU_KEEP_MEASURED && batch == rows && !validates && c->average == 0;
}

/* After an epoch with this loss, which is finite: are its weights to be kept? False: stop. */
CPU_INLINE bool backend_cpu_watch(const struct cpu_config *c, struct cpu_watch *watch, uint32_t epoch, double loss,
                                  bool *keep) {
  if (c->schedule == CPU_SCHEDULE_PLATEAU) {
    if (loss < watch->plateau_loss - c->plateau_min_delta) {
      watch->plateau_loss = loss;
      watch->plateau_wait = 0;
    } else if (++watch->plateau_wait >= (uint32_t)c->schedule_epochs) {
      watch->rate = fmax(c->schedule_minimum, watch->rate * c->schedule_factor);
      watch->plateau_wait = 0;
    }
  }
  watch->waited++;
  if (loss < watch->best_loss) {
    watch->best_loss = loss;
    watch->waited = 0;
  }
  *keep = watch->waited == 0 || c->keep == CPU_KEEP_LAST;
  if (*keep)
    watch->best_epoch = epoch;
  return c->early_stopping == 0 || watch->waited < (uint32_t)c->early_stopping;
}

#endif
