/* data.c - fuzz target: data.json, by which new rows become inputs: of a table with names and text, of one without, and
   of images. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <tutti/data.h>

const char fuzz_name[] = "data";

static const char table[] = "x1,x2,group,y,kind\n0.5,1,a,2.5,up\n-1,2e300,b,0,down\n3,,c,1,up\n";
static const char bare[] = "0.5,1,2\n-1,2,0\n3,7,1\n";

static void apply(tutti_context *context, const char *json, const char *path) {
  tutti_split *split = NULL;
  tutti_error_clear(context);
  if (tutti_dataset_apply(context, json, path, &split) != TUTTI_OK) {
    fuzz_refused(split);
    return;
  }
  const float *inputs = tutti_split_inputs(split);
  struct tutti_shape shape = tutti_split_input(split);
  size_t count = tutti_split_rows(split) * (size_t)shape.height * (size_t)shape.width * (size_t)shape.channels;
  double sum = 0;
  for (size_t i = 0; inputs && i < count; i++)
    sum += inputs[i] != 0;
  FUZZ_REQUIRE(sum >= 0);
  tutti_split_destroy(split);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static uint8_t image[2 * 3073];
  tutti_context *context = fuzz_context();
  char *json = fuzz_text(data, size);
  apply(context, json, fuzz_file("table.csv", (const uint8_t *)table, sizeof table - 1));
  apply(context, json, fuzz_file("bare.csv", (const uint8_t *)bare, sizeof bare - 1));
  if (strstr(json, "cifar"))
    apply(context, json, fuzz_file("image.bin", image, sizeof image));
  free(json);
  return 0;
}
