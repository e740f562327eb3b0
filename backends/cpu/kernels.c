/* kernels.c - chooses the kernels for a processor. */
#include "kernels_impl.h"

const struct cpu_kernels *backend_cpu_kernels(enum tutti_cpu cpu) {
#if defined(__x86_64__) && defined(__GNUC__)
  switch (cpu) {
  case TUTTI_CPU_AVX512:
    return &backend_cpu_kernels_avx512;
  case TUTTI_CPU_AVX2:
    return &backend_cpu_kernels_avx2;
  case TUTTI_CPU_BASELINE:
    break;
  }
#else
  (void)cpu;
#endif
  return &backend_cpu_kernels_baseline;
}
