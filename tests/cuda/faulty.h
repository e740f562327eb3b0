/* faulty.h - small kernels, some of them wrong, for tests of the emulation itself. */
#ifndef FAULTY_H
#define FAULTY_H

#include "cuda_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers of a block's shared memory: one for each thread. */
enum faulty {
  FAULTY_MEETING,      /* right: a barrier before a neighbour's number is read, and one before it is changed */
  FAULTY_READ,         /* no barrier before it is read */
  FAULTY_WRITE,        /* nor before it is changed */
  FAULTY_BOTH,         /* all write to one place, the same number */
  FAULTY_SHUFFLE,      /* a shuffle stands for the barrier */
  FAULTY_SOME,         /* right: only those that need it meet */
  FAULTY_OTHERS,       /* one that was not at the meeting reads, too */
  FAULTY_BLOCKS,       /* another block reads: no barrier orders that */
  FAULTY_HOST,         /* right: another block is told by way of the host, with fences */
  FAULTY_UNFENCED,     /* the same without the fence of who tells */
  FAULTY_DEAF,         /* the same without the fence of who is told */
  FAULTY_RESULTS,      /* all write to the host's memory, and one tells it, without a barrier */
  FAULTY_UNWRITTEN,    /* reads what nobody wrote */
  FAULTY_HANGS,        /* a barrier that the last thread never reaches */
  FAULTY_BEYOND,       /* the last thread writes beyond the shared memory */
  FAULTY_BEYOND_MEMORY /* and reads beyond the device's memory */
};

/* A grid of `blocks` blocks of `threads` threads, a number for each of them in memory; flag: in the host's memory. */
void faulty_launch(cudaStream_t stream, enum faulty kind, unsigned blocks, unsigned threads, float *memory,
                   unsigned *flag);

#ifdef __cplusplus
}
#endif
#endif
