/* ensemble_loss_impl.h - the running sums of an ensemble's loss, one set for each way of computing it; for core/ alone. */
#ifndef TUTTI_ENSEMBLE_LOSS_IMPL_H
#define TUTTI_ENSEMBLE_LOSS_IMPL_H

#include <tutti/cpu.h>
#include <tutti/ensemble_loss.h>

/* Models that are tried at once, at most, so that they can share the loads of the running sums. */
enum { ENSEMBLE_LOSS_BATCH = 4 };

/* One way of computing the loss. */
struct ensemble_loss_kind {
  /* Allocate and fill; what it allocates hangs on the struct, so that failure needs no clean-up here. */
  enum tutti_status (*begin)(tutti_context *context, tutti_ensemble_loss *loss);
  /* Losses after adding each of `count` models, 1 to ENSEMBLE_LOSS_BATCH, to the ensemble. */
  void (*with)(const tutti_ensemble_loss *loss, size_t count, const size_t *models, double *losses);
  void (*add)(tutti_ensemble_loss *loss, size_t model);
  /* OPTIONAL: bounds[models] that the losses are not below, for much less work; INFINITY for those that are NaN. For
     ensembles that are not empty. */
  void (*bounds)(const tutti_ensemble_loss *loss, double *bounds);
};
extern const struct ensemble_loss_kind ensemble_loss_class_nll, ensemble_loss_error, ensemble_loss_brier;
extern const struct ensemble_loss_kind ensemble_loss_mixture, ensemble_loss_moments, ensemble_loss_squares;

/* From the table of losses: the running sums for a kind of task, for which the loss is defined; and what the loss is whose
   mean over rows this is. */
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

  /* Class NLL: columns[models][stride], the true class's probability of each row, 0 after the last row, and codes of them;
     sums[stride], those of the models added, 1 after the last row, and scaled ones, 0 after it; own[models]: losses
     alone; excess[models]: by how much a code is above a probability, on average; broken[models]: not probabilities. */
  enum tutti_cpu cpu;
  size_t stride;
  float *columns, *scaled;
  uint32_t *codes; /* [models][stride / 4] */
  double *own, *excess;
  bool *broken;
  /* Class error: sums[rows][classes], own, broken; open[open_count]: rows that one more member can turn; wrong: how many of the
     others are; reach: how far a member can move a margin. */
  size_t *open, open_count, wrong;
  double reach;
  /* Brier score: sums[rows][classes], differences of one model; own[models], their squares; cross[models], their products
     with the members' sum, whose squares are `squares`. */
  double squares, *cross;
  /* Mixture: sums[rows], log of the summed densities.
     Squares: sums[rows][outputs] of means. Moments: sums[rows][outputs], the mean of means. */
  double *sums;
  double *spreads;   /* moments: [rows][outputs], squares of means about their mean, summed */
  double *variances; /* moments: [rows][outputs], summed */
  double *densities; /* mixture: [models][rows], log density */
};

#endif
