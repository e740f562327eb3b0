/* ladder.h - for pruners: the losses that trials had at an epoch, in order, so that their quantiles are at hand. */
#ifndef TUTTI_PRUNER_LADDER_H
#define TUTTI_PRUNER_LADDER_H

#include <tutti/plugin.h>

struct ladder_rung {
  uint32_t epoch;
  size_t count, room;
  double *losses; /* [count], ascending */
};

/* Whose losses a pruner compares: a choice among these names, in this order. */
enum ladder_losses { LADDER_VALIDATION, LADDER_TRAINING };
extern const char *const ladder_losses_names[];
#define LADDER_LOSSES_PARAM(config)                                                                                    \
  TUTTI_CHOICE(config, losses, "validation", ladder_losses_names,                                                      \
               "Whose losses are compared: those on the validation rows, or the mean losses of an epoch's training "   \
               "steps, which say more where validation losses lag behind (batch norms in their first hundred steps). " \
               "Only for trials that are all trained alike: with regularisation, dropout or augmentation that is "     \
               "searched, a low training loss is no merit.")
/* Warn if `warmup` trials have to be told before the pruner prunes, and so many never are. */
void ladder_warn_of_warmup(tutti_context *context, const struct tutti_pruner_setup *setup, int64_t warmup);
/* The losses of a curve; NULL: they are not known. */
const double *ladder_losses_of(int losses, const struct tutti_curve *curve);

/* Add a loss; a NaN, of an epoch that was not evaluated, is left out. */
enum tutti_status ladder_insert(tutti_context *context, struct ladder_rung *rung, double loss);
/* Copy the losses of another rung into one that has none. */
enum tutti_status ladder_copy(tutti_context *context, const struct ladder_rung *from, struct ladder_rung *to);
/* The median; of an even number, the mean of the two in the middle. `count` > 0. */
double ladder_median(const struct ladder_rung *rung);
void ladder_release(struct ladder_rung *rung);

#endif
