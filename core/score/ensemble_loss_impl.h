/* ensemble_loss_impl.h - the running sums for an ensemble's loss, one set for each way of computing it; for core/
   alone. */
#ifndef TUTTI_ENSEMBLE_LOSS_IMPL_H
#define TUTTI_ENSEMBLE_LOSS_IMPL_H

#include <tutti/cpu.h>
#include <tutti/ensemble_loss.h>

/* How many models are tried at once, at most: they share the loads of the running sums. */
enum { ENSEMBLE_LOSS_BATCH = 4 };

/* One way of computing the loss. */
struct ensemble_loss_kind {
  /* Allocate and fill. What it allocates is in the struct, so that failure needs no clean-up here. */
  enum tutti_status (*begin)(tutti_context *context, tutti_ensemble_loss *loss);
  /* Losses after adding each of `count` models, 1 to ENSEMBLE_LOSS_BATCH, to the ensemble. */
  void (*with)(const tutti_ensemble_loss *loss, size_t count, const size_t *models, double *losses);
  void (*add)(tutti_ensemble_loss *loss, size_t model);
  /* OPTIONAL: lower bounds of the losses, bounds[models], for much less work; INFINITY if the loss is NaN. Only for
     ensembles that are not empty. */
  void (*bounds)(const tutti_ensemble_loss *loss, double *bounds);
};
extern const struct ensemble_loss_kind ensemble_loss_class_nll, ensemble_loss_error, ensemble_loss_brier;
extern const struct ensemble_loss_kind ensemble_loss_mixture, ensemble_loss_moments, ensemble_loss_squares;

/* From the table of losses: the running sums for a kind of task for which the loss is defined; and the loss, from its
   mean over rows. */
const struct ensemble_loss_kind *loss_sums(const struct tutti_ensemble_loss_options *options,
                                           enum tutti_task_kind kind);
double loss_of_mean(enum tutti_loss loss, double mean);

struct tutti_ensemble_loss {
  const struct ensemble_loss_kind *kind;
  struct tutti_pool pool;
  struct tutti_ensemble_loss_options options;
  size_t picks, *counts; /* counts[models]: how often each was added */
  double count_squares;  /* sum of squares of counts */
  double *bounds;        /* [models]: while the best addition is sought */

  /* Class NLL. columns[models][stride]: the true class's probability of each row, 0 after the last row; codes: these in
     bytes. sums[stride]: the sum over the models added, 1 after the last row; scaled[stride]: the same times a factor,
     0 after it. own[models]: losses of the models alone. excess[models]: how far a code is above its probability, on
     average. broken[models]: the numbers are not probabilities. */
  enum tutti_cpu cpu;
  size_t stride;
  float *columns, *scaled;
  uint32_t *codes; /* [models][stride / 4] */
  double *own, *excess;
  bool *broken;
  /* Class error. sums[rows][classes]; own and broken as above. open[open_count]: the rows that one more member can
     turn; wrong: how many of the other rows are wrong; reach: how far one member can move a margin. */
  size_t *open, open_count, wrong;
  double reach;
  /* Brier score. sums[rows][classes]: differences of one model; own[models]: their squares; cross[models]: their
     products with the sum over the members, whose squares are `squares`. */
  double squares, *cross;
  /* Mixture. sums[rows]: log of the summed densities. Squares. sums[rows][outputs]: summed means. Moments.
     sums[rows][outputs]: the mean of the means. */
  double *sums;
  double *spreads;   /* moments: [rows][outputs], squares of means about their mean, summed */
  double *variances; /* moments: [rows][outputs], summed */
  double *densities; /* mixture: [models][rows], log density */
};

#endif
