/* idx.c - fuzz target: images and labels in the format of MNIST. Two bytes say how long the images' file is, its bytes
   follow, then those of the labels' file. */
#include "fuzz.h"

const char fuzz_name[] = "idx";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2)
    return 0;
  size_t images = (size_t)data[0] | (size_t)data[1] << 8;
  images = images < size - 2 ? images : size - 2;
  fuzz_source("idx", "images-ubyte", data + 2, images, data + 2 + images, size - 2 - images);
  return 0;
}
