/* level_impl.h - the instruction set that a file of kernels is compiled for. The makefile compiles each file once for
   every set and defines CPU_LANES, the floats of a vector: 16 is AVX-512, 8 is AVX2 with FMA, 4 is plain C; 1 is a
   thread of a GPU (backends/cuda), for which the arithmetic of activations, heads and optimisers is compiled, too. Only
   code between CPU_LEVEL_BEGIN and CPU_LEVEL_END, and functions marked CPU_LEVEL_FUNCTION, may use the set's
   instructions. CPU_OF_LEVEL(name) gives a name of its own to what each set has: name_avx512, name_avx2 or
   name_baseline. */
#ifndef BACKEND_CPU_LEVEL_IMPL_H
#define BACKEND_CPU_LEVEL_IMPL_H

#ifndef CPU_LANES
#define CPU_LANES 4
#endif

/* A file for one kind of processor may name more. */
#ifndef CPU_MORE_INSTRUCTIONS
#define CPU_MORE_INSTRUCTIONS ""
#endif

#if CPU_LANES == 16
#define CPU_OF_LEVEL(name) name##_avx512
#define CPU_INSTRUCTIONS "avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl" CPU_MORE_INSTRUCTIONS
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

/* Before a function of a file that is compiled for GPUs, too; and before one that takes a few numbers there, which a
   thread has in registers. */
#if CPU_LANES == 1
#define CPU_KERNEL static __device__
#define CPU_INLINE static __device__ __forceinline__
#define CPU_PASS CPU_INLINE
#else
#define CPU_KERNEL static
#define CPU_INLINE static inline __attribute__((always_inline, unused))
#define CPU_PASS CPU_KERNEL
#endif
#if CPU_LANES == 1 && defined(__CUDACC__)
#define CPU_PASS_UNROLL _Pragma("unroll")
#else
#define CPU_PASS_UNROLL
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
