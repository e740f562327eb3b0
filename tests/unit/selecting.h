/* selecting.h - what tests of selectors share. */
#ifndef SELECTING_H
#define SELECTING_H

#include <jansson.h>
#include <tutti/plugin.h>

#include "pools.h"

/* Select with a new instance of a plugin into a new ensemble. */
enum tutti_status selecting_choose(tutti_context *context, const struct tutti_descriptor *descriptor,
                                   const void *config, const struct tutti_pool *pool, size_t count,
                                   tutti_ensemble **ensemble);
/* The models of tests/golden/forward_select.json. Margins between decisions are at least 3.4e-4, predictions rounded by
   6e-8. */
void selecting_golden(struct pools_models *models, const json_t *golden);
/* The metric of the ensemble, evaluated from scratch. */
double selecting_metric(tutti_context *context, const struct tutti_pool *pool, const tutti_ensemble *ensemble,
                        const char *metric);
/* The same after `count` picks with equal weights (numbers in the pool, repetitions allowed). */
double selecting_metric_of(tutti_context *context, const struct tutti_pool *pool, size_t count, const size_t *picks,
                           const char *metric);
/* The weight of a trial, 0 if it is no member. */
double selecting_weight(const tutti_ensemble *ensemble, uint64_t trial);

#endif
