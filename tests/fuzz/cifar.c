/* cifar.c - fuzz target: images of CIFAR-10. */
#include "fuzz.h"

const char fuzz_name[] = "cifar";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_source("cifar", "data.bin", data, size, NULL, 0);
  return 0;
}
