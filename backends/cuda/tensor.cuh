/* tensor.cuh - the multiply-and-add of tensor cores, by a warp: C [16][8] += A [16][8] B [8][8] in TF32, numbers of
   8 bits of exponent and 10 of mantissa, whose products are summed up in float32. Lane 4 g + t holds

     a[0], a[1], a[2], a[3]   A at (g, t), (g + 8, t), (g, t + 4), (g + 8, t + 4)
     b[0], b[1]               B at (t, g), (t + 4, g)
     c[0], c[1], c[2], c[3]   C at (g, 2 t), (g, 2 t + 1), (g + 8, 2 t), (g + 8, 2 t + 1)

   On the host tests/cuda/cuda_runtime.h stands in for it. */
#ifndef BACKEND_CUDA_TENSOR_CUH
#define BACKEND_CUDA_TENSOR_CUH

#include "device.cuh"

#if defined(__CUDACC__)
/* To the nearest, ties away from 0. */
static __device__ __forceinline__ float to_tf32(float x) {
  uint32_t rounded;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(x));
  return __uint_as_float(rounded);
}

/* The thread's number in its warp, read when it is asked for: no register keeps it. */
static __device__ __forceinline__ uint32_t lane_number(void) {
  uint32_t lane;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane;
}

/* All lanes of a warp go on together. */
static __device__ __forceinline__ void meet_warp(void) { __syncwarp(); }

/* By all lanes of a warp together. */
static __device__ __forceinline__ void multiply_add_tf32(const float (&a)[4], const float (&b)[2], float (&c)[4]) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
               : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])),
                 "r"(__float_as_uint(a[3])), "r"(__float_as_uint(b[0])), "r"(__float_as_uint(b[1])));
}
#else
CPU_INLINE float to_tf32(float x) { return emulated_to_tf32(x); }
CPU_INLINE uint32_t lane_number(void) { return threadIdx.x % CUDA_WARP; }
CPU_INLINE void meet_warp(void) {}
CPU_INLINE void multiply_add_tf32(const float (&a)[4], const float (&b)[2], float (&c)[4]) {
  emulated_multiply_add_tf32(a, b, c);
}
#endif

#endif
