/* dots.c - bfloat_impl.h on processors with AVX512-BF16. */
#include "cpu_impl.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <cpuid.h>

#define CPU_LANES 16
#define CPU_BFLOAT CPU_BFLOAT_DOTS
#define CPU_MORE_INSTRUCTIONS ",avx512bf16"
#include "level_impl.h"

CPU_LEVEL_BEGIN
#include "bfloat_impl.h"
CPU_LEVEL_END

static bool processor_has_dots(void) {
  enum { BF16 = 1u << 5 };
  unsigned a, b, c, d;
  return tutti_cpu_detect() == TUTTI_CPU_AVX512 && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & BF16);
}

cpu_bfloat_function *backend_cpu_dots(void) { return processor_has_dots() ? gemm_bfloat : NULL; }

#else

cpu_bfloat_function *backend_cpu_dots(void) { return NULL; }

#endif
