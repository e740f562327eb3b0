/* cuda_runtime.h - stands in for CUDA's own in tests: the words of kernels and the calls of the runtime that backend
   cuda uses, on a host without a GPU (emulation.c). A kernel's threads are fibers of one thread of the host, which
   go on in a
   random order between barriers: a barrier that is missing shows as a wrong number. Shared and device memory begin as
   NaN. Nothing of this is ever installed.

   As on a device, memory is only given back when no kernel runs, and a kernel that failed while it ran leaves a process
   whose every later call fails.

   What the emulated machine is like stands in the environment: TUTTI_EMULATED_DEVICES (1; 0: no device; -1: no
   driver; CUDA_VISIBLE_DEVICES chooses among them), TUTTI_EMULATED_MAJOR (9, of the compute capability),
   TUTTI_EMULATED_MEMORY (1024 MiB), TUTTI_EMULATED_TAKEN (0 MiB, by other programs), TUTTI_EMULATED_SEED (1, of the
   order of fibers), TUTTI_EMULATED_THREADS (64, the most of a block that compute), TUTTI_EMULATED_BLOCKS (2, to a
   multiprocessor), TUTTI_EMULATED_SHARED (228 KiB of shared memory there), TUTTI_EMULATED_GRAPHS (1; 0: nothing can be
   captured; -1: no library's work),
   TUTTI_EMULATED_HANDLES (the most of cuBLAS that are open at once), TUTTI_EMULATED_RACES (fail: a launch that races
   fails, where the process would end; races.c), TUTTI_EMULATED_FAULT (set: a launch fails; a path: a kernel that begins
   or runs fails when that file is there, which it removes), TUTTI_EMULATED_LATE (N: the Nth question whether a stream
   is done, while kernels run, is answered when these have come to wait for the host and then failed, by that file),
   TUTTI_EMULATED_LOG (a file that each process which begins with a device adds a line to: the device and its
   number). */
#ifndef EMULATED_CUDA_RUNTIME_H
#define EMULATED_CUDA_RUNTIME_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- the runtime --- */

typedef int cudaError_t;
enum {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInsufficientDriver = 35,
  cudaErrorNoDevice = 100,
  cudaErrorNotReady = 600,
  cudaErrorLaunchFailure = 719,
  cudaErrorStreamCaptureUnsupported = 900
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2, cudaMemcpyDeviceToDevice = 3 };
enum cudaDeviceAttr {
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxBlocksPerMultiprocessor = 106,
  cudaDevAttrReservedSharedMemoryPerBlock = 111
};
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9
};
enum { cudaSharedmemCarveoutMaxShared = 100 }; /* in percent */
enum { cudaHostAllocMapped = 2, cudaStreamNonBlocking = 1 };
enum cudaStreamCaptureMode { cudaStreamCaptureModeThreadLocal = 1 };
typedef struct emulated_stream *cudaStream_t;
typedef struct emulated_graph *cudaGraph_t;
typedef struct emulated_graph_run *cudaGraphExec_t;

struct cudaDeviceProp {
  size_t totalGlobalMem;
};

cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device);
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total);
cudaError_t cudaMalloc(void **memory, size_t bytes);
cudaError_t cudaFree(void *memory);
cudaError_t cudaHostAlloc(void **memory, size_t bytes, unsigned flags);
cudaError_t cudaFreeHost(void *memory);
cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemsetAsync(void *memory, int value, size_t bytes, cudaStream_t stream);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *run, cudaGraph_t graph, unsigned long long flags);
cudaError_t cudaGraphLaunch(cudaGraphExec_t run, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t run);
cudaError_t cudaGetLastError(void);
const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaFuncSetAttribute(const void *function, enum cudaFuncAttribute attribute, int value);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int threads,
                                                          size_t shared);

/* --- what kernels see --- */

struct emulated_index {
  unsigned x, y, z;
};
struct emulated_thread {
  struct emulated_index thread, block, threads, blocks;
};
/* The thread of the GPU that runs. */
struct emulated_thread *emulated_self(void);
void *emulated_shared(void);
/* Wait until so many threads of the block wait at this barrier. */
void emulated_barrier(unsigned id, unsigned threads);
/* A fence of the whole system. */
void emulated_fence(void);
/* Let others run. */
void emulated_sleep(void);
/* The value that lane `lane` of the warp gives. */
double emulated_shuffle(double value, unsigned lane);
/* By all lanes of a warp together: what each of them gives, all[32][count] of mine[count]. */
void emulated_exchange(const float *mine, unsigned count, float *all);
/* Tensor cores: to the nearest number of 10 bits of mantissa, ties away from 0; and a warp's product of such numbers,
   which is NaN where one is none (emulation_tensor.c). */
float emulated_to_tf32(float x);
void emulated_multiply_add_tf32(const float *a, const float *b, float *c);
/* A launch of run(argument) by all threads of a grid; argument is freed. */
void emulated_start(const char *kernel, unsigned blocks, unsigned threads, size_t shared, cudaStream_t stream,
                    void (*run)(void *argument), void *argument);

#ifdef __cplusplus
}

#define __global__
#define __device__
#define __noinline__ __attribute__((noinline))
#define __forceinline__ inline
#define __launch_bounds__(...)
#define threadIdx (emulated_self()->thread)
#define blockIdx (emulated_self()->block)
#define blockDim (emulated_self()->threads)
#define gridDim (emulated_self()->blocks)

struct alignas(16) float4 {
  float x, y, z, w;
};
static inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
static inline int __float_as_int(float x) {
  int i;
  memcpy(&i, &x, sizeof i);
  return i;
}
static inline float __fmul_rn(float a, float b) { return a * b; }
static inline float __int_as_float(int i) {
  float x;
  memcpy(&x, &i, sizeof x);
  return x;
}
static inline void __syncthreads(void) { emulated_barrier(0, blockDim.x); }
static inline void __threadfence_system(void) { emulated_fence(); }
static inline void __nanosleep(unsigned) { emulated_sleep(); }
static inline unsigned atomicAdd(unsigned *at, unsigned by) { return __atomic_fetch_add(at, by, __ATOMIC_SEQ_CST); }
static inline double __shfl_xor_sync(unsigned, double value, int by) {
  return emulated_shuffle(value, threadIdx.x % 32 ^ (unsigned)by);
}

template <typename F> void emulated_run(void *f) { (*(F *)f)(); }
template <typename F>
void emulated_launch(const char *kernel, unsigned blocks, unsigned threads, size_t shared, cudaStream_t stream, F f) {
  void *copy = malloc(sizeof f);
  memcpy(copy, (const void *)&f, sizeof f);
  emulated_start(kernel, blocks, threads, shared, stream, emulated_run<F>, copy);
}
#endif
#endif
