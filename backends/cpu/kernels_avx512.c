/* kernels_avx512.c - the kernels for processors with avx2, fma, avx512f, avx512bw, avx512dq, avx512vl. */
#include "kernels_impl.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl"))),                   \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")
#endif
#define CPU_LANES 16
#include "table_impl.h"
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

const struct cpu_kernels backend_cpu_kernels_avx512 = CPU_KERNEL_TABLE;

#else
typedef int backend_cpu_no_kernels_avx512; /* a translation unit may not be empty */
#endif
