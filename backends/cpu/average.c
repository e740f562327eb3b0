/* average.c - weights averaged over the last epochs: Polyak and Juditsky, "Acceleration of stochastic approximation by
   averaging", SIAM Journal on Control and Optimization 30, 1992; Izmailov, Podoprikhin, Garipov, Vetrov and Wilson,
   "Averaging weights leads to wider optima and better generalization", UAI 2018.

   From the first of the last `average` of all epochs on, the running mean of the weights at the ends of epochs stands
   for them: it is validated, kept and saved, and early stopping and pruners see its losses, while training goes on from
   the weights themselves. As in Izmailov et al., batch norm's statistics are measured anew with the averaged weights,
   in one pass over the training rows. Deviations: that pass has neither dropout nor varied images, like a prediction,
   though what it stores and multiplies is rounded as in training (`storage`, `precision`), and mini-batches count by
   their rows; it comes after each of these epochs, since each is validated; and the schedule of the learning rate is
   whatever `schedule` says. */
#include "train_impl.h"

#include <string.h>

/* Mean and variance of batch norms over all training rows, with the plan's weights. */
static void measure_norms(struct training *t) {
  size_t rows = tutti_split_rows(t->job->train);
  const struct cpu_draws plain = {.drop = false};
  for (size_t i = 0; i < rows; i++)
    t->order[i] = (uint32_t)i;
  for (size_t begin = 0; begin < rows; begin += t->batch) {
    size_t count = rows - begin < t->batch ? rows - begin : t->batch;
    backend_cpu_gather(t->plan, t->job->train, count, t->order + begin, NULL, false);
    t->plan->norm_share = (double)count / (double)(begin + count);
    backend_cpu_forward(t->plan, count, &plain);
  }
  t->plan->norm_share = 0;
}

bool backend_cpu_average(struct training *t, uint32_t epoch) {
  struct cpu_plan *plan = t->plan;
  uint32_t first = backend_cpu_first_averaged(t->config);
  float *own = plan->weights, share = 1 / (float)(epoch < first ? 1 : epoch - first + 1);
  if (epoch < first)
    return false;
  if (epoch == first)
    memcpy(t->average, own, plan->floats * sizeof *own);
  for (size_t i = 0; epoch > first && i < plan->trained; i++)
    t->average[i] += share * (own[i] - t->average[i]);
  if (backend_cpu_has_norm(plan)) {
    plan->weights = t->average;
    measure_norms(t);
    plan->weights = own;
  }
  return true;
}
