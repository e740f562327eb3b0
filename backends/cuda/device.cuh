/* device.cuh - what kernels rest on: the words of CUDA that they use beyond plain ones, barriers, and sums of a block.
   Compiled for the host as well, against tests/cuda/cuda_runtime.h. */
#ifndef BACKEND_CUDA_DEVICE_CUH
#define BACKEND_CUDA_DEVICE_CUH

#include "engine_impl.h"

#include <cuda_runtime.h>

/* The threads of a block that compute; the stream engine has another number. */
#ifndef CUDA_WORKERS
#define CUDA_WORKERS (blockDim.x - CUDA_WARP)
#endif
#if defined(__CUDACC__)
#define CUDA_UNROLL _Pragma("unroll")
#define CUDA_TEXT(x) #x
#define CUDA_UNROLL_BY(times) _Pragma(CUDA_TEXT(unroll times))
#define CUDA_FMA(a, b, c) __fmaf_rn(a, b, c)
#define CUDA_SHARED(name) extern __shared__ float4 name[]
#define CUDA_LAUNCH(kernel, grid, block, shared, stream, ...)                                                          \
  kernel<<<grid, block, shared, (cudaStream_t)(stream)>>>(__VA_ARGS__)
#define CUDA_MEET(id, threads) asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory")
#else
#define CUDA_UNROLL
#define CUDA_UNROLL_BY(times)
#define CUDA_FMA(a, b, c) ((a) * (b) + (c))
#define CUDA_SHARED(name) float4 *name = (float4 *)emulated_shared()
#define CUDA_LAUNCH(kernel, grid, block, shared, stream, ...)                                                          \
  emulated_launch(#kernel, grid, block, shared, (cudaStream_t)(stream), [=]() { kernel(__VA_ARGS__); })
#define CUDA_MEET(id, threads) emulated_barrier(id, threads)
#endif

/* A member of a structure that is a function of the device. */
#define CUDA_METHOD __device__ __forceinline__

/* A phase of the work of a block: a function of its own, so that registers are shared out for each by itself. */
#define CUDA_PHASE static __device__ __noinline__

/* Copies of four floats from the device's memory to shared memory, of which those from number `left` on become 0, and
   which go on while their thread does: one; the end of a group of them; and the wait until all groups of this thread
   but the last are there. */
#if defined(__CUDACC__)
static __device__ __forceinline__ void copy_four(float *to, const float *from, uint32_t left) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"((uint32_t)__cvta_generic_to_shared(to)),
               "l"(__cvta_generic_to_global(from)), "r"(4 * left)
               : "memory");
}
static __device__ __forceinline__ void end_copies(void) { asm volatile("cp.async.commit_group;" ::: "memory"); }
static __device__ __forceinline__ void await_copies(void) { asm volatile("cp.async.wait_group 1;" ::: "memory"); }
#else
static inline void copy_four(float *to, const float *from, uint32_t left) {
  for (uint32_t i = 0; i < 4; i++)
    to[i] = i < left ? from[i] : 0;
}
static inline void end_copies(void) {}
static inline void await_copies(void) {}
#endif

/* The arithmetic of backend cpu, one number at a time. */
#define CPU_LANES 1
#define _Static_assert static_assert
#include "backends/cpu/activation_impl.h"
#include "backends/cpu/draws_impl.h"
#include "backends/cpu/heads_impl.h"
#include "backends/cpu/labels_impl.h"
#include "backends/cpu/level_impl.h"
#include "backends/cpu/nomu_impl.h"
#include "backends/cpu/schedule_impl.h"

#define PHILOX_FUNCTION static __device__
#include "core/base/philox_impl.h"

struct state;

/* What a block works with. It lies in shared memory, not on the stack of each thread: there is little cache for
   stacks. */
struct block {
  const struct cuda_node *nodes;
  const struct cuda_edge *edges;
  float *shared, *memory; /* of places */
  uint32_t stage;         /* where products bring their matrices to, in shared memory; or CUDA_NOWHERE */
  float *weights, *gradients;
  struct state *state;
  uint32_t outputs, artificial; /* artificial: rows at the end of a step that are no data */
  const struct cpu_attributes *head;
  const double *class_weights;
  float label_smoothing;
  bool tensor;         /* products by tensor cores, in TF32 */
  bool weights_shared; /* the weights lie in shared memory */
  bool thin;           /* products of few rows go their own way where they are staged: the stage follows from the job */
};

/* A product of matrices A [m][k] and B [k][n] (product.cuh says how they may lie). */
struct product {
  uint32_t m, n, k, lda, ldb;
  const float *a, *b;
  bool a_shared, b_shared; /* whether they lie in shared memory */
};

/* What the threads of a block tell each other. */
struct state {
  double partial[CUDA_PARTIAL_SUMS];
  double sum;
  struct cpu_update update;
  struct cpu_watch watch;
  double own[CPU_OWN], loss, value;
  uint64_t steps;
  struct cuda_mail mail;
  uint32_t stop[2]; /* at even and odd meetings: one is read while the other is written */
  uint32_t end, keep, command;
  struct block block, mean; /* mean: with the average of the weights for its weights */
  struct product product;   /* that is staged */
};

/* All threads that compute. */
CPU_INLINE void meet(void) { CUDA_MEET(1, CUDA_WORKERS); }

CPU_INLINE float *at(const struct block &b, struct cuda_place place) {
  return (place.shared ? b.shared : b.memory) + place.at;
}

/* Call f(i) for i < count, by all threads together. */
template <typename F> CPU_INLINE void each(uint32_t count, F f) {
  for (uint32_t i = threadIdx.x; i < count; i += CUDA_WORKERS)
    f(i);
}

/* For each i < count, by all threads together: store(i, load(i)). A thread has DEPTH loads under way before it stores:
   nothing that is stored may be loaded for another i. */
template <int DEPTH, typename Load, typename Store> CPU_INLINE void each_with(uint32_t count, Load load, Store store) {
  for (uint32_t begin = threadIdx.x; begin < count; begin += DEPTH * CUDA_WORKERS) {
    decltype(load(0)) x[DEPTH] = {}; /* what may have no value is put on the stack, which waits for the load */
    CUDA_UNROLL
    for (int d = 0; d < DEPTH; d++)
      if (begin + d * CUDA_WORKERS < count)
        x[d] = load(begin + d * CUDA_WORKERS);
    CUDA_UNROLL
    for (int d = 0; d < DEPTH; d++)
      if (begin + d * CUDA_WORKERS < count)
        store(begin + d * CUDA_WORKERS, x[d]);
  }
}

/* Call f(row, column) for a table. */
template <typename F> CPU_INLINE void each_cell(uint32_t rows, uint32_t columns, F f) {
  for (uint32_t i = threadIdx.x; i < rows * columns; i += CUDA_WORKERS)
    f(i / columns, i % columns);
}

CPU_INLINE float4 four(const float *p) { return *reinterpret_cast<const float4 *>(p); }
CPU_INLINE void put_four(float *p, float4 x) { *reinterpret_cast<float4 *>(p) = x; }
struct alignas(8) two_floats {
  float x, y;
};
CPU_INLINE void put_two(float *p, float x, float y) { *reinterpret_cast<struct two_floats *>(p) = {x, y}; }
CPU_INLINE void take_four(const float *p, float *x) {
  const float4 v = four(p);
  x[0] = v.x, x[1] = v.y, x[2] = v.z, x[3] = v.w;
}

/* The sum of term(i) for i < count, in an order that does not depend on the number of threads. */
template <typename F> CPU_INLINE double sum_over(const struct block &b, uint32_t count, F term) {
  struct state *s = b.state;
  for (uint32_t p = threadIdx.x; p < CUDA_PARTIAL_SUMS; p += CUDA_WORKERS) {
    double sum = 0;
    for (uint32_t i = p; i < count; i += CUDA_PARTIAL_SUMS)
      sum += term(i);
    s->partial[p] = sum;
  }
  meet();
  if (threadIdx.x < CUDA_WARP) {
    double sum = 0;
    for (uint32_t p = threadIdx.x; p < CUDA_PARTIAL_SUMS; p += CUDA_WARP)
      sum += s->partial[p];
    for (int apart = CUDA_WARP / 2; apart > 0; apart /= 2)
      sum += __shfl_xor_sync(0xffffffffu, sum, apart);
    if (threadIdx.x == 0)
      s->sum = sum;
  }
  meet();
  return s->sum;
}

#endif
