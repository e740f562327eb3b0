/* gz.c - fuzz target: gzipped tables: the stream itself, and, if it is none, the bytes in a stream. */
#include "fuzz.h"

#include <stdlib.h>
#include <zlib.h>

const char fuzz_name[] = "gz";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  enum { GZIP = 15 + 16, MEMORY = 8 };
  z_stream stream = {0};
  if (size >= 2 && data[0] == 0x1f && data[1] == 0x8b) {
    fuzz_source("csv", "table.csv.gz", data, size, NULL, 0);
    return 0;
  }
  FUZZ_REQUIRE(deflateInit2(&stream, 1, Z_DEFLATED, GZIP, MEMORY, Z_DEFAULT_STRATEGY) == Z_OK);
  size_t room = deflateBound(&stream, (uLong)size);
  uint8_t *packed = malloc(room);
  FUZZ_REQUIRE(packed != NULL);
  stream.next_in = (Bytef *)(uintptr_t)data;
  stream.avail_in = (uInt)size;
  stream.next_out = packed;
  stream.avail_out = (uInt)room;
  FUZZ_REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  fuzz_source("csv", "table.csv.gz", packed, room - stream.avail_out, NULL, 0);
  (void)deflateEnd(&stream);
  free(packed);
  return 0;
}
