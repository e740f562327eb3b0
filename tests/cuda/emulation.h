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

/* Run all threads of a launch to their end, in an order that follows from the seed. */
cudaError_t emulated_run_grid(const struct emulated_launch *launch, uint64_t seed);

#endif
