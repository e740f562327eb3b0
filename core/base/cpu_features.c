/* cpu_features.c - the processor's vector instructions, and the OpenBLAS kernels that suit them.

   OpenBLAS chooses its kernels by a table of processor models. One that it does not know gets slow ones: version 0.3.21
   takes an Emerald Rapids Xeon for a "Prescott" (SSE3, 37 GFLOP/s a core where its SkylakeX kernels reach 195) and Zen
   4 for Haswell. Asking by instruction set, not by model, is right on known machines too: its Haswell and Zen kernels
   are the same code, and SkylakeX and Cooperlake kernels measure the same in single precision. */
#include <tutti/cpu.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#include <stdbool.h>

/* Conversions from and to numbers of 16 bits. __builtin_cpu_supports remembers what it has asked the processor; Clang's
   does not know this name. A virtual machine takes ten microseconds and more for the question. */
static bool has_f16c(void) {
#if defined(__clang__) || __GNUC__ < 11
  unsigned a, b, c, d;
  return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
#else
  return __builtin_cpu_supports("f16c");
#endif
}
#endif

enum tutti_cpu tutti_cpu_detect(void) {
#if defined(__x86_64__) && defined(__GNUC__)
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !has_f16c())
    return TUTTI_CPU_BASELINE;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    return TUTTI_CPU_AVX512;
  return TUTTI_CPU_AVX2;
#else
  return TUTTI_CPU_BASELINE;
#endif
}

const char *tutti_cpu_name(enum tutti_cpu cpu) {
  switch (cpu) {
  case TUTTI_CPU_BASELINE:
    return "baseline";
  case TUTTI_CPU_AVX2:
    return "avx2";
  case TUTTI_CPU_AVX512:
    return "avx512";
  }
  return "unknown";
}

const char *tutti_cpu_blas_coretype(void) {
  switch (tutti_cpu_detect()) {
  case TUTTI_CPU_AVX512:
    return "SkylakeX";
  case TUTTI_CPU_AVX2:
    return "Haswell";
  case TUTTI_CPU_BASELINE:
    break;
  }
  return NULL;
}
