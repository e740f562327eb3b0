/* cpu.h - what this processor can do, and which OpenBLAS kernels to ask for on it. */
#ifndef TUTTI_CPU_H
#define TUTTI_CPU_H

#include <tutti/status.h>

TUTTI_BEGIN_DECLS

/* Vector instructions, each level with those below it. */
enum tutti_cpu {
  TUTTI_CPU_BASELINE, /* whatever the compiler's target has */
  TUTTI_CPU_AVX2,     /* AVX2 and FMA */
  TUTTI_CPU_AVX512    /* AVX-512 F, BW, DQ, VL */
};

/* The highest level that processor and operating system have. */
TUTTI_API enum tutti_cpu tutti_cpu_detect(void);
/* "baseline", "avx2", "avx512"; never NULL. */
TUTTI_API const char *tutti_cpu_name(enum tutti_cpu cpu);
/* The value that OPENBLAS_CORETYPE should have on this processor, or NULL to leave the choice to OpenBLAS. It counts only
   if it is in the environment before OpenBLAS is loaded: set it for other processes, or before a plugin is. */
TUTTI_API const char *tutti_cpu_blas_coretype(void);

TUTTI_END_DECLS
#endif
