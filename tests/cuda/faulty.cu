/* faulty.cu - small kernels, some of them wrong (faulty.h). */
#include "faulty.h"

#define SHARED(name) float *name = (float *)emulated_shared()

static void meeting(enum faulty kind, float *memory) {
  SHARED(shared);
  const unsigned t = threadIdx.x, next = (t + 1) % blockDim.x, at = blockIdx.x * blockDim.x + t;
  shared[t] = memory[at];
  if (kind == FAULTY_SHUFFLE)
    (void)__shfl_xor_sync(0xffffffffu, 0, 1);
  else if (kind != FAULTY_READ)
    __syncthreads();
  const float sum = shared[t] + shared[next];
  if (kind != FAULTY_WRITE)
    __syncthreads();
  shared[t] = sum;
  __syncthreads();
  memory[at] = shared[next];
}

static void both(float *memory) {
  SHARED(shared);
  shared[0] = 1;
  __syncthreads();
  memory[blockIdx.x * blockDim.x + threadIdx.x] = shared[0];
}

/* All but the last warp meet. */
static void some(enum faulty kind, float *memory) {
  SHARED(shared);
  const unsigned t = threadIdx.x, most = blockDim.x - 32, at = blockIdx.x * blockDim.x + t;
  shared[t] = 1;
  if (t < most) {
    emulated_barrier(1, most);
    memory[at] = shared[(t + 1) % most];
  } else if (kind == FAULTY_OTHERS && t == most) {
    memory[at] = shared[0];
  }
}

static void others_block(float *memory) {
  if (blockIdx.x == 0)
    memory[threadIdx.x] = 1;
  __syncthreads();
  if (blockIdx.x == 1)
    memory[blockDim.x + threadIdx.x] = memory[threadIdx.x];
}

/* The first block writes, its first thread tells the host, and the other block's first thread waits for that. */
static void by_host(enum faulty kind, float *memory, unsigned *flag) {
  volatile unsigned *told = flag;
  if (blockIdx.x == 0) {
    memory[threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x == 0 && kind != FAULTY_UNFENCED)
      __threadfence_system();
    if (threadIdx.x == 0)
      *told = 1;
    return;
  }
  if (threadIdx.x == 0) {
    while (*told == 0)
      __nanosleep(100);
    if (kind != FAULTY_DEAF)
      __threadfence_system();
  }
  __syncthreads();
  memory[threadIdx.x] += 1;
}

/* flag[1 ..]: a number of each thread. */
static void results(unsigned *flag) {
  const unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
  flag[1 + at] = at;
  __threadfence_system();
  if (threadIdx.x == 0)
    *(volatile unsigned *)flag = 1;
}

static void unwritten(float *memory) {
  SHARED(shared);
  memory[blockIdx.x * blockDim.x + threadIdx.x] = shared[threadIdx.x];
}

static void beyond(enum faulty kind, float *memory) {
  SHARED(shared);
  const unsigned last = blockDim.x - 1;
  shared[threadIdx.x + (kind == FAULTY_BEYOND && threadIdx.x == last)] = 1;
  __syncthreads();
  memory[threadIdx.x] =
      shared[last - threadIdx.x] + (kind == FAULTY_BEYOND_MEMORY && threadIdx.x == last ? memory[last + 1] : 0);
}

static __global__ void faulty(enum faulty kind, float *memory, unsigned *flag) {
  switch (kind) {
  case FAULTY_MEETING:
  case FAULTY_READ:
  case FAULTY_WRITE:
  case FAULTY_SHUFFLE:
    meeting(kind, memory);
    break;
  case FAULTY_BOTH:
    both(memory);
    break;
  case FAULTY_SOME:
  case FAULTY_OTHERS:
    some(kind, memory);
    break;
  case FAULTY_BLOCKS:
    others_block(memory);
    break;
  case FAULTY_HOST:
  case FAULTY_UNFENCED:
  case FAULTY_DEAF:
    by_host(kind, memory, flag);
    break;
  case FAULTY_RESULTS:
    results(flag);
    break;
  case FAULTY_UNWRITTEN:
    unwritten(memory);
    break;
  case FAULTY_HANGS:
    if (threadIdx.x + 1 < blockDim.x)
      __syncthreads();
    break;
  case FAULTY_BEYOND:
  case FAULTY_BEYOND_MEMORY:
    beyond(kind, memory);
    break;
  }
}

void faulty_launch(cudaStream_t stream, enum faulty kind, unsigned blocks, unsigned threads, float *memory,
                   unsigned *flag) {
  emulated_launch("faulty", blocks, threads, threads * sizeof(float), stream,
                  [=]() { faulty(kind, memory, flag); });
}
