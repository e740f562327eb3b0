/* npy.c - fuzz target: arrays of NumPy, mapped, and as a table or images with targets. */
#include "fuzz.h"

const char fuzz_name[] = "npy";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tutti_context *context = fuzz_context();
  struct tutti_npy array;
  unsigned sum = 0;
  if (tutti_npy_map(context, fuzz_file("array.npy", data, size), &array) == TUTTI_OK) {
    size_t width = array.element == TUTTI_U8 ? 1 : array.element == TUTTI_F32 || array.element == TUTTI_I32 ? 4 : 8;
    for (size_t i = 0; i < array.count * width; i++)
      sum += ((const unsigned char *)array.data)[i];
    FUZZ_REQUIRE(array.count * width <= size && sum <= 255u * size);
    tutti_npy_unmap(&array);
  } else {
    fuzz_refused(array.data);
  }
  fuzz_source("npy", "inputs.npy", data, size, data, size);
  return 0;
}
