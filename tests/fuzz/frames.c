/* frames.c - fuzz target: the stream between a manager and its workers, which arrives in pieces. */
#include "fuzz.h"

#include <string.h>
#include <tutti/protocol.h>
#include <unistd.h>

const char fuzz_name[] = "frames";

/* Take all whole frames; false when the stream is none of ours. */
static bool take(tutti_context *context, tutti_frames *frames, size_t *bytes) {
  struct tutti_frame frame;
  bool whole = true;
  while (whole) {
    if (tutti_frames_take(context, frames, &frame, &whole) != TUTTI_OK) {
      FUZZ_REQUIRE(tutti_error_status(context) == TUTTI_ERROR_CORRUPT);
      return false;
    }
    if (!whole)
      break;
    FUZZ_REQUIRE(frame.kind <= TUTTI_FRAME_DONE && frame.text && frame.text[frame.length] == '\0');
    *bytes += 13 + frame.length;
    tutti_free(frame.text);
  }
  return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tutti_context *context = fuzz_context();
  tutti_frames *frames;
  int ends[2];
  size_t taken = 0, step = size ? 1 + data[size - 1] * 16u : 1;
  bool ended = false, ours = true;
  FUZZ_REQUIRE(pipe(ends) == 0 && tutti_frames_create(context, &frames) == TUTTI_OK);
  for (size_t at = 0; at < size && ours; at += step) {
    size_t bytes = size - at < step ? size - at : step;
    FUZZ_REQUIRE(write(ends[1], data + at, bytes) == (ssize_t)bytes);
    FUZZ_REQUIRE(tutti_frames_fill(context, frames, ends[0], &ended) == TUTTI_OK && !ended);
    ours = take(context, frames, &taken);
  }
  FUZZ_REQUIRE(close(ends[1]) == 0);
  FUZZ_REQUIRE(tutti_frames_fill(context, frames, ends[0], &ended) == TUTTI_OK && ended);
  FUZZ_REQUIRE(taken <= size);
  (void)close(ends[0]);
  tutti_frames_destroy(frames);
  return 0;
}
