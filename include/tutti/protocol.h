/* protocol.h - frames between a manager and its workers, for executors and workers. A frame is a kind, a trial number and
   a text; on the wire: 1 byte kind, 8 bytes trial, 4 bytes length (little-endian), the text. */
#ifndef TUTTI_PROTOCOL_H
#define TUTTI_PROTOCOL_H

#include <tutti/context.h>

TUTTI_BEGIN_DECLS

enum tutti_frame_kind {
  TUTTI_FRAME_READY,    /* worker: set up and waiting for requests */
  TUTTI_FRAME_FATAL,    /* worker: cannot work at all; text: why */
  TUTTI_FRAME_REQUEST,  /* manager: train this */
  TUTTI_FRAME_PROGRESS, /* worker: an epoch is done */
  TUTTI_FRAME_DONE      /* worker: the trial's end */
};

/* A frame; text is NUL-terminated beyond its length. Free it with tutti_free. */
struct tutti_frame {
  enum tutti_frame_kind kind;
  uint64_t trial;
  size_t length;
  char *text;
};

/* Write a whole frame to a blocking descriptor. On a socket (which is what workers are given, as descriptor 0, for both
   directions) a peer that is gone is an error and never a SIGPIPE. */
TUTTI_API TUTTI_NODISCARD enum tutti_status
tutti_frame_write(tutti_context *context, int descriptor, enum tutti_frame_kind kind, uint64_t trial, const char *text);

/* Collects bytes until a frame is whole. */
typedef struct tutti_frames tutti_frames;
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_frames_create(tutti_context *context, tutti_frames **frames);
TUTTI_API void tutti_frames_destroy(tutti_frames *frames);
/* Read what is there (at most one read call, which may block); *ended is set at the end of the stream. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_frames_fill(tutti_context *context, tutti_frames *frames,
                                                              int descriptor, bool *ended);
/* Take the next whole frame; *whole says whether there was one. TUTTI_ERROR_CORRUPT for bytes that are no frame. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_frames_take(tutti_context *context, tutti_frames *frames,
                                                              struct tutti_frame *frame, bool *whole);

TUTTI_END_DECLS
#endif
