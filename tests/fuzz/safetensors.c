/* safetensors.c - fuzz target: files of weights. What is read is written, read again, and is the same. */
#include "fuzz.h"

#include <stdio.h>
#include <string.h>
#include <tutti/safetensors.h>

const char fuzz_name[] = "safetensors";

static void write_again(tutti_context *context, const tutti_tensors *tensors) {
  char path[256];
  tutti_tensors *again = NULL;
  (void)snprintf(path, sizeof path, "%s/again.safetensors", fuzz_folder());
  FUZZ_REQUIRE(tutti_tensors_write(context, tensors, path) == TUTTI_OK);
  FUZZ_REQUIRE(tutti_tensors_read(context, path, &again) == TUTTI_OK);
  FUZZ_REQUIRE(tutti_tensors_count(again) == tutti_tensors_count(tensors));
  for (size_t i = 0; i < tutti_tensors_count(tensors); i++) {
    const struct tutti_tensor *one = tutti_tensors_at(tensors, i), *other = tutti_tensors_find(again, one->name);
    FUZZ_REQUIRE(other && other->rank == one->rank);
  }
  tutti_tensors_destroy(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tutti_context *context = fuzz_context();
  tutti_tensors *tensors = NULL;
  if (tutti_tensors_read(context, fuzz_file("weights.safetensors", data, size), &tensors) == TUTTI_OK)
    write_again(context, tensors);
  else
    fuzz_refused(tensors);
  tutti_tensors_destroy(tensors);
  return 0;
}
