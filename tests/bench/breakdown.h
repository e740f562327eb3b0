/* breakdown.h - how much of a step's time each op takes, and how close it is to the limits of the core. */
#ifndef BREAKDOWN_H
#define BREAKDOWN_H

#include "backends/cpu/cpu_impl.h"
#include "bench.h"

struct breakdown;

enum tutti_status breakdown_create(tutti_context *context, struct breakdown **breakdown);
void breakdown_destroy(struct breakdown *breakdown);
/* Around the work of one node, and of the optimiser; nothing where `breakdown` is NULL. */
void breakdown_begin(struct breakdown *breakdown);
void breakdown_end(struct breakdown *breakdown, const struct cpu_plan *plan, size_t node, size_t rows, bool backward);
void breakdown_end_step(struct breakdown *breakdown, const struct cpu_plan *plan);
/* A line an op: milliseconds a step and the share of all; GFLOP/s and GB/s that the op cannot do without, as shares of
   `peak` (GFLOP/s) and of a copy of 32 MB, measured here. */
void breakdown_print(const struct breakdown *breakdown, size_t steps, double peak);

#endif
