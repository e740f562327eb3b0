/* csv.c - fuzz target: a table of text. */
#include "fuzz.h"

const char fuzz_name[] = "csv";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_source("csv", "table.csv", data, size, NULL, 0);
  return 0;
}
