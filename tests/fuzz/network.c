/* network.c - fuzz target: networks in JSON. What is read is printed, read again, and is the same. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

const char fuzz_name[] = "network";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tutti_context *context = fuzz_context();
  tutti_network *network = NULL, *again = NULL;
  char *text = fuzz_text(data, size), *first = NULL, *second = NULL;
  if (tutti_network_parse(context, text, &network) == TUTTI_OK) {
    FUZZ_REQUIRE(tutti_network_print(context, network, &first) == TUTTI_OK);
    FUZZ_REQUIRE(tutti_network_parse(context, first, &again) == TUTTI_OK);
    FUZZ_REQUIRE(tutti_network_print(context, again, &second) == TUTTI_OK);
    FUZZ_REQUIRE(strcmp(first, second) == 0);
  } else {
    fuzz_refused(network);
  }
  tutti_network_destroy(network);
  tutti_network_destroy(again);
  tutti_free(first);
  tutti_free(second);
  free(text);
  return 0;
}
