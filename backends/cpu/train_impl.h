/* train_impl.h - a job that is being trained (training.c): the part that mini-batches (train.c) and L-BFGS (lbfgs.c)
   share. */
#ifndef BACKEND_CPU_TRAIN_IMPL_H
#define BACKEND_CPU_TRAIN_IMPL_H

#include "schedule_impl.h"

struct training {
  const struct tutti_job *job;
  const struct cpu_config *config;
  struct cpu_plan *plan;
  struct cpu_stepper *stepper; /* NULL for L-BFGS */
  uint32_t *order;             /* [rows of train] */
  float *low, *high;           /* NOMU: [features], the box of the artificial points */
  struct tutti_random box;     /* their stream */
  struct cpu_draws draws;
  struct tutti_augmentation augmentation;
  bool augment;
  size_t batch; /* rows at once */
  struct cpu_watch watch;
  bool keeps_measured; /* weights are kept before their step (schedule_impl.h) */
  double began;        /* seconds of the clock */
  bool diverged;
  bool here; /* the kept weights are those of the plan: the next step leaves them, and goes on in the other place */
  float *average; /* [plan->floats]: weights averaged over the last epochs; NULL without backend.average */
};

/* Plan, weights and buffers of a job. `optimise`: also those that only training needs. After a failure the caller
   destroys what was made so far. */
enum tutti_status backend_cpu_training_create(tutti_context *context, const struct cpu_kernels *kernels,
                                              const struct tutti_job *job, bool optimise, struct training *t);
void backend_cpu_training_destroy(struct training *t);
/* Put t->order into the order of an epoch. */
void backend_cpu_shuffle_rows(struct training *t, uint32_t epoch);
/* Mean loss of rows[count], and its gradient in t->plan->gradients. */
double backend_cpu_rows_gradient(struct training *t, size_t count, const uint32_t *rows, const struct cpu_draws *draws);
/* Mean loss over all rows, gathered t->batch at a time, without dropout or L2; *penalty: the layers' L2;
   gradient[trained]: of the sum of both. */
double backend_cpu_full_gradient(struct training *t, double *gradient, double *penalty);
/* Keep the weights as they are now; and where they are. */
void backend_cpu_keep(struct training *t);
const float *backend_cpu_kept(const struct training *t);
/* After an epoch: take its weights into their average, and measure batch norms with that. False: the epoch does not
   count yet, or nothing is averaged (average.c). */
bool backend_cpu_average(struct training *t, uint32_t epoch);
/* A step of the optimiser, which leaves kept weights alone. */
void backend_cpu_step_on(struct training *t, double rate);
/* Note that a job failed in this epoch: which number is no longer finite, and its value. */
void backend_cpu_diverged(struct training *t, const struct tutti_epoch *epoch, const char *what, double value,
                          struct tutti_outcome *outcome);
/* After an epoch, whose training `epoch` describes: validate, decide which weights to keep, report progress. False:
   stop. */
bool backend_cpu_epoch_done(struct training *t, struct tutti_epoch *epoch, struct tutti_outcome *outcome);
/* Train by L-BFGS, an iteration being an epoch. */
enum tutti_status backend_cpu_minimise(tutti_context *context, struct training *t, struct tutti_outcome *outcome);

#endif
