/* evaluate_fit_impl.h - the metrics of a fit of a surrogate; for engine/ alone. */
#ifndef TUTTI_EVALUATE_FIT_IMPL_H
#define TUTTI_EVALUATE_FIT_IMPL_H

#include "bands_impl.h"
#include "evaluate_impl.h"

/* What the metrics of one repeat are computed from. */
struct tutti_fit_measures {
  struct tutti_bands bands; /* of the test rows */
  double c, rmse;           /* the factor of the deviations; in the target's unit */
  double coverage, width;   /* of the central interval of one level */
};

/* What a metric of a fit is of, `which` of its entry: a repeat; a repeat and a level, whose number stands in the name
   for L; all repeats, which has no `value`. */
enum { TUTTI_FIT_OF_REPEAT, TUTTI_FIT_OF_LEVEL, TUTTI_FIT_OF_ALL };
extern const struct metric_table metrics_of_fit;
/* The entry for a metric's name, that of "coverage-L" for "coverage-0.9"; NULL if there is none. */
const struct metric_entry *tutti_fit_metric(const char *name);

#endif
