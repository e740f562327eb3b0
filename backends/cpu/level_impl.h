/* level_impl.h - the instruction set that a file of kernels is compiled for. The makefile compiles each file once for
   every set and defines CPU_LANES, the floats of a vector: 16 is AVX-512, 8 is AVX2 with FMA, 4 is plain C; 1 is a thread of
   a GPU (backends/cuda), for which the arithmetic of activations, heads and optimisers is compiled, too. Only code
   between CPU_LEVEL_BEGIN and CPU_LEVEL_END, and functions marked CPU_LEVEL_FUNCTION, may use the set's instructions.
   CPU_OF_LEVEL(name) gives a name of its own to what each set has: name_avx512, name_avx2 or name_baseline. */
#ifndef BACKEND_CPU_LEVEL_IMPL_H
#define BACKEND_CPU_LEVEL_IMPL_H

#ifndef CPU_LANES
#define CPU_LANES 4
#endif

#if CPU_LANES == 16
#define CPU_OF_LEVEL(name) name##_avx512
#define CPU_INSTRUCTIONS "avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl"
#elif CPU_LANES == 8
#define CPU_OF_LEVEL(name) name##_avx2
#define CPU_INSTRUCTIONS "avx2,fma,f16c"
#elif CPU_LANES == 4
#define CPU_OF_LEVEL(name) name##_baseline
#elif CPU_LANES == 1
#define CPU_OF_LEVEL(name) name##_device
#else
#error "CPU_LANES is 1, 4, 8 or 16"
#endif

/* Before a function of a file that is compiled for GPUs, too. A pass over an array there takes every thread of a block;
   on a processor it goes from vector to vector. */
#if CPU_LANES == 1
#define CPU_KERNEL static __device__
#define CPU_INLINE static __device__ __forceinline__
#define CPU_PASS_BEGIN threadIdx.x
#define CPU_PASS_STEP CUDA_WORKERS
#else
#define CPU_KERNEL static
#define CPU_INLINE static inline __attribute__((always_inline, unused))
#define CPU_PASS_BEGIN 0
#define CPU_PASS_STEP CPU_LANES
#endif

#define CPU_PRAGMA_TEXT(...) _Pragma(#__VA_ARGS__)
#define CPU_PRAGMA(...) CPU_PRAGMA_TEXT(__VA_ARGS__)
#if CPU_LANES <= 4
#define CPU_LEVEL_BEGIN
#define CPU_LEVEL_END
#define CPU_LEVEL_FUNCTION
#elif defined(__clang__)
#define CPU_LEVEL_BEGIN CPU_PRAGMA(clang attribute push(__attribute__((target(CPU_INSTRUCTIONS))), apply_to = function))
#define CPU_LEVEL_END _Pragma("clang attribute pop")
#define CPU_LEVEL_FUNCTION __attribute__((target(CPU_INSTRUCTIONS)))
#else
#define CPU_LEVEL_BEGIN _Pragma("GCC push_options") CPU_PRAGMA(GCC target(CPU_INSTRUCTIONS))
#define CPU_LEVEL_END _Pragma("GCC pop_options")
#define CPU_LEVEL_FUNCTION __attribute__((target(CPU_INSTRUCTIONS)))
#endif

#if CPU_LANES > 4
#include <immintrin.h>
#endif

#endif
