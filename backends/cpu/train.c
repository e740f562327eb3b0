/* train.c - what a job asks for: training by epochs of mini-batches or by L-BFGS, the gradient of all rows,
   predictions. */
#include "train_impl.h"

#include <math.h>

/* The number of steps between two looks at the cancel flag within an epoch. */
enum { CANCEL_STEPS = 100 };

/* --- an epoch of mini-batches --- */

static enum tutti_status run_epoch(tutti_context *context, struct training *t, struct tutti_epoch *epoch,
                                   struct tutti_outcome *outcome) {
  size_t rows = tutti_split_rows(t->job->train);
  double total = 0;
  backend_cpu_shuffle_rows(t, epoch->epoch);
  t->augmentation.epoch = epoch->epoch;
  epoch->learning_rate = backend_cpu_epoch_rate(t->config, t->watch.rate, epoch->epoch);
  t->draws.progress = (double)(epoch->epoch - 1) / (double)t->config->epochs;
  for (size_t begin = 0; begin < rows; begin += t->batch) {
    size_t count = rows - begin < t->batch ? rows - begin : t->batch;
    if ((begin == 0 || epoch->steps % CANCEL_STEPS == 0) && tutti_cancelled(context))
      return TUTTI_FAIL(context, TUTTI_ERROR_CANCELLED, "training was cancelled in epoch %u", epoch->epoch);
    double loss = backend_cpu_rows_gradient(t, count, t->order + begin, &t->draws);
    if (!isfinite(loss)) {
      backend_cpu_diverged(t, epoch, "the loss", loss, outcome);
      return TUTTI_OK;
    }
    total += loss * (double)count;
    if (t->keeps_measured && total / (double)rows < t->watch.best_loss)
      backend_cpu_keep(t);
    backend_cpu_step_on(t, epoch->learning_rate);
    epoch->steps = t->draws.step = t->stepper->steps;
  }
  epoch->train_loss = total / (double)rows;
  return TUTTI_OK;
}

static enum tutti_status run_epochs(tutti_context *context, struct training *t, struct tutti_outcome *outcome) {
  struct tutti_epoch epoch = {.size = sizeof epoch};
  bool go_on = true;
  for (uint32_t e = 1; go_on && e <= (uint32_t)t->config->epochs; e++) {
    epoch.epoch = e;
    TUTTI_TRY(context, run_epoch(context, t, &epoch, outcome));
    go_on = backend_cpu_epoch_done(t, &epoch, outcome);
  }
  /* A later step's loss would tell. */
  double squares = t->plan->kernels->sum_squares(t->plan->floats, t->plan->weights);
  if (!t->diverged && !isfinite(squares))
    backend_cpu_diverged(t, &epoch, "the sum of squared weights", squares, outcome);
  return TUTTI_OK;
}

/* --- what a job asks for --- */

enum tutti_status backend_cpu_train(tutti_context *context, const struct cpu_kernels *kernels,
                                    const struct tutti_job *job, struct tutti_outcome *outcome) {
  struct training t;
  enum tutti_status status;
  unsigned kept = backend_cpu_enter();
  outcome->state = TUTTI_STATE_FINISHED;
  outcome->weights = NULL;
  outcome->epochs = outcome->best_epoch = 0;
  outcome->steps = 0;
  TUTTI_TRY_OUT(context, backend_cpu_training_create(context, kernels, job, true, &t));
  bool full = t.config->optimiser == CPU_LBFGS;
  TUTTI_TRY_OUT(context, full ? backend_cpu_minimise(context, &t, outcome) : run_epochs(context, &t, outcome));
  outcome->best_epoch = t.watch.best_epoch;
  if (t.diverged)
    outcome->state = TUTTI_STATE_FAILED;
  else
    TUTTI_TRY_OUT(context, backend_cpu_weights_write(context, t.plan, backend_cpu_kept(&t), false, &outcome->weights));
out:
  backend_cpu_training_destroy(&t);
  backend_cpu_leave(kept);
  return status;
}

enum tutti_status backend_cpu_gradient(tutti_context *context, const struct cpu_kernels *kernels,
                                       const struct tutti_job *job, const tutti_tensors *weights, double *loss,
                                       tutti_tensors **gradient) {
  struct training t;
  enum tutti_status status;
  double *sums = NULL, penalty;
  unsigned kept = backend_cpu_enter();
  TUTTI_TRY_OUT(context, backend_cpu_training_create(context, kernels, job, false, &t));
  TUTTI_TRY_OUT(context, backend_cpu_weights_read(context, t.plan, weights));
  TUTTI_TRY_OUT(context, tutti_alloc(context, t.plan->trained, sizeof *sums, &sums));
  *loss = backend_cpu_full_gradient(&t, sums, &penalty);
  *loss += penalty;
  for (size_t i = 0; i < t.plan->trained; i++)
    t.plan->gradients[i] = (float)sums[i];
  TUTTI_TRY_OUT(context, backend_cpu_weights_write(context, t.plan, t.plan->gradients, true, gradient));
out:
  tutti_free(sums);
  backend_cpu_training_destroy(&t);
  backend_cpu_leave(kept);
  return status;
}
