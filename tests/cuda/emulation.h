/* emulation.h - what the parts of the emulation share. */
#ifndef EMULATION_H
#define EMULATION_H

#include "cuda_runtime.h"

#include <stdbool.h>

struct emulated_launch {
  const char *kernel;
  unsigned blocks, threads;
  size_t shared;
  void (*run)(void *argument);
  void *argument;
};

/* The process begins with a device, if it has not yet: the current one, or the first. */
void emulated_begin(void);
/* Is the kernel that runs to fail now? */
bool emulated_fault(void);
/* Do all kernels that run wait for the host? */
bool emulated_is_quiet(void);
/* Run all threads of a launch to their end, in an order that follows from the seed. */
cudaError_t emulated_run_grid(const struct emulated_launch *launch, uint64_t seed);

/* Number i of an array as libraries read and write it: float32, or bfloat16 (narrow). */
float emulated_get(const void *array, bool narrow, size_t i);
void emulated_set(void *array, bool narrow, size_t i, float x);

/* What this thread of the host keeps for its next launch is given back. */
void emulated_forget(void);
/* A library's work on a stream: run(a copy of argument). */
cudaError_t emulated_call(cudaStream_t stream, void (*run)(void *argument), const void *argument, size_t size);

#endif
