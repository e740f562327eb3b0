/* cpu.h - what this processor can do, and which OpenBLAS kernels suit it. */
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

/* The highest level that both processor and operating system have. */
TUTTI_API enum tutti_cpu tutti_cpu_detect(void);
/* "baseline", "avx2" or "avx512"; "unknown" for other numbers. Static. */
TUTTI_API const char *tutti_cpu_name(enum tutti_cpu cpu);
/* The value that OPENBLAS_CORETYPE should have on this processor, static; NULL: leave the choice to OpenBLAS. OpenBLAS
   reads it only while it is loaded: set it for other processes, or before a plugin that needs OpenBLAS is loaded. */
TUTTI_API const char *tutti_cpu_blas_coretype(void);

TUTTI_END_DECLS
#endif
