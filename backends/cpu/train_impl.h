/* train_impl.h - a job that is being trained: what mini-batches (train.c) and L-BFGS (lbfgs.c) share. */
#ifndef BACKEND_CPU_TRAIN_IMPL_H
#define BACKEND_CPU_TRAIN_IMPL_H

#include "cpu_impl.h"

struct training {
  const struct tutti_job *job;
  const struct cpu_config *config;
  struct cpu_plan *plan;
  struct cpu_stepper *stepper; /* NULL for L-BFGS */
  uint32_t *order;             /* [rows of train] */
  float *best;                 /* [plan->floats] */
  float *low, *high;           /* NOMU: [features], the box of the artificial points */
  struct tutti_random box;     /* their stream */
  struct cpu_draws draws;
  struct tutti_augmentation augmentation;
  bool augment;
  size_t batch; /* rows at once */
  double rate;  /* as the plateau schedule left it */
  double best_loss, plateau_loss;
  uint32_t best_epoch, plateau_wait, waited; /* epochs */
  double began;                              /* seconds of the clock */
  bool diverged;
};

/* Mean loss over all rows, gathered t->batch at a time, without dropout or L2; *penalty: the layers' L2; gradient[trained]:
   of the sum of both. */
double backend_cpu_full_gradient(struct training *t, double *gradient, double *penalty);
/* Note that a job failed in this epoch: what is no longer finite, and its value. */
void backend_cpu_diverged(struct training *t, const struct tutti_epoch *epoch, const char *what, double value,
                          struct tutti_outcome *outcome);
/* Validation, the choice of what is kept, and progress, after an epoch of whose training `epoch` tells; false: stop. */
bool backend_cpu_epoch_done(struct training *t, struct tutti_epoch *epoch, struct tutti_outcome *outcome);
/* Train by L-BFGS, an iteration being an epoch. */
enum tutti_status backend_cpu_minimise(tutti_context *context, struct training *t, struct tutti_outcome *outcome);

#endif
