/* ladder.h - for pruners: the losses that trials had at an epoch, in order, so that their quantiles are at hand. */
#ifndef TUTTI_PRUNER_LADDER_H
#define TUTTI_PRUNER_LADDER_H

#include <tutti/plugin.h>

struct ladder_rung {
  uint32_t epoch;
  size_t count, room;
  double *losses; /* [count], ascending */
};

/* Add a loss; a NaN, of an epoch that was not evaluated, is left out. */
enum tutti_status ladder_insert(tutti_context *context, struct ladder_rung *rung, double loss);
/* Copy the losses of another rung into one that has none. */
enum tutti_status ladder_copy(tutti_context *context, const struct ladder_rung *from, struct ladder_rung *to);
/* The median; of an even number, the mean of the two in the middle. `count` > 0. */
double ladder_median(const struct ladder_rung *rung);
void ladder_release(struct ladder_rung *rung);

#endif
