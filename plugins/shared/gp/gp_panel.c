/* gp_panel.c - sums and triangular solves for a panel of points: one body (gp_panel.h), compiled for each level of
   vector instructions. */
#include <string.h>
#include <tutti/cpu.h>

#include "gp_impl.h"

#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif
#define INLINE static inline __attribute__((always_inline))

#define WIDTH 2
#define ROWS 4
#define NAME(function) function##_baseline
#define TARGET
#include "gp_panel.h"

#if defined(__x86_64__)
#define WIDTH 4
#define ROWS 4
#define NAME(function) function##_avx2
#define TARGET __attribute__((target("avx2,fma")))
#include "gp_panel.h"

#define WIDTH 8
#define ROWS 8
#define NAME(function) function##_avx512
#define TARGET __attribute__((target("avx512f,avx512dq,avx512vl,fma")))
#include "gp_panel.h"
#endif

const struct gp_panel_functions *gp_panel_choose(void) {
#if defined(__x86_64__)
  enum tutti_cpu cpu = tutti_cpu_detect();
  if (cpu >= TUTTI_CPU_AVX512)
    return &panel_avx512;
  if (cpu >= TUTTI_CPU_AVX2)
    return &panel_avx2;
#endif
  return &panel_baseline;
}
