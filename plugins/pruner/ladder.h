/* ladder.h - for pruners: the losses that trials had at an epoch, so that one of their quantiles is at hand. */
#ifndef TUTTI_PRUNER_LADDER_H
#define TUTTI_PRUNER_LADDER_H

#include <tutti/plugin.h>

/* A heap whose first value is the greatest. */
struct ladder_heap {
  size_t count, room;
  double *values; /* [count] */
};

/* The losses that trials had at an epoch, apart by a cut: the best ones, and the others. */
struct ladder_rung {
  uint32_t epoch;
  size_t count;
  struct ladder_heap best, rest; /* of the rest, the losses with the sign turned: the least is the first */
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

/* Add a loss, after which the cut is behind the least `best` of all: as many as before, or one more, and at least 1. A
   NaN, of an epoch that was not evaluated, is left out. Takes time in proportion to the logarithm of how many are
   there. */
enum tutti_status ladder_insert(tutti_context *context, struct ladder_rung *rung, double loss, size_t best);
/* Copy the losses of another rung into one that has none. */
enum tutti_status ladder_copy(tutti_context *context, const struct ladder_rung *from, struct ladder_rung *to);
/* The greatest loss before the cut. `count` > 0. */
double ladder_cut(const struct ladder_rung *rung);
/* The median; of an even number, the mean of the two in the middle. `count` > 0, and the cut behind the first half, the
   one in the middle included (ladder_half). */
double ladder_median(const struct ladder_rung *rung);
/* Where the cut has to be for ladder_median when there is one more. */
size_t ladder_half(const struct ladder_rung *rung);
void ladder_release(struct ladder_rung *rung);

#endif
