/* bench.h - what benchmarks of backend cpu share: clocks and the core's peak. */
#ifndef BENCH_H
#define BENCH_H

#include <time.h>

double bench_seconds(clockid_t clock);
/* GFLOP/s of one core's multiply-adds in registers, the best of a few tries. */
double bench_peak(clockid_t clock);

#endif
