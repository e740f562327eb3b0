/* gp_kernel.c - Matern 5/2 and squared exponential correlations, a column at a time: one body (gp_column.h), compiled
   for each level of vector instructions. */
#include <tutti/cpu.h>

#include "gp_impl.h"

#define INLINE static inline __attribute__((always_inline))

#define WIDTH 2
#define NAME(function) function##_baseline
#define TARGET
#include "gp_column.h"

#if defined(__x86_64__)
#define WIDTH 4
#define NAME(function) function##_avx2
#define TARGET __attribute__((target("avx2,fma")))
#include "gp_column.h"

#define WIDTH 8
#define NAME(function) function##_avx512
#define TARGET __attribute__((target("avx512f,avx512dq,avx512vl,fma")))
#include "gp_column.h"
#endif

gp_column_function *gp_column_choose(void) {
#if defined(__x86_64__)
  enum tutti_cpu cpu = tutti_cpu_detect();
  if (cpu >= TUTTI_CPU_AVX512)
    return column_avx512;
  if (cpu >= TUTTI_CPU_AVX2)
    return column_avx2;
#endif
  return column_baseline;
}
