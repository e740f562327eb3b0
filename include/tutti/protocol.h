/* protocol.h - frames between a manager and its workers, for executors and workers. A frame has a kind, a trial number
   and a text. On the wire: 1 byte kind, 8 bytes trial, 4 bytes length (little-endian), the text. */
#ifndef TUTTI_PROTOCOL_H
#define TUTTI_PROTOCOL_H

#include <tutti/context.h>

TUTTI_BEGIN_DECLS

enum tutti_frame_kind {
  TUTTI_FRAME_READY,    /* worker: set up and waiting for requests */
  TUTTI_FRAME_FATAL,    /* worker: cannot work at all; text: why */
  TUTTI_FRAME_REQUEST,  /* manager: train this */
  TUTTI_FRAME_PROGRESS, /* worker: an epoch is done */
  TUTTI_FRAME_DONE,     /* worker: the trial's end */
  TUTTI_FRAME_STOP      /* manager: end this training with the epoch that it is at; one that is not trained goes on */
};

/* A frame. The text has `length` bytes and a NUL after them; free it with tutti_free. Never grows. */
struct tutti_frame {
  enum tutti_frame_kind kind;
  uint64_t trial;
  size_t length;
  char *text;
};

/* Write a whole frame to a blocking descriptor. On a socket (workers have one as descriptor 0, for both directions) a
   peer that is gone is an error and never a SIGPIPE. TUTTI_ERROR_INTERNAL: the text is over 64 MiB; TUTTI_ERROR_IO. */
TUTTI_API TUTTI_NODISCARD enum tutti_status
tutti_frame_write(tutti_context *context, int descriptor, enum tutti_frame_kind kind, uint64_t trial, const char *text);

/* Bytes that were read, until a frame is whole. */
typedef struct tutti_frames tutti_frames;

/* Make an empty collection; the caller destroys *frames. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_frames_create(tutti_context *context, tutti_frames **frames);
/* Destroy it; NULL is allowed. */
TUTTI_API void tutti_frames_destroy(tutti_frames *frames);
/* Read what has arrived, by one read call at most, which may block. *ended is set at the end of the stream.
   TUTTI_ERROR_IO. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_frames_fill(tutti_context *context, tutti_frames *frames,
                                                              int descriptor, bool *ended);
/* Take the next whole frame; *whole says if there was one. The caller frees frame->text. TUTTI_ERROR_CORRUPT: the bytes
   are not a frame. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_frames_take(tutti_context *context, tutti_frames *frames,
                                                              struct tutti_frame *frame, bool *whole);

TUTTI_END_DECLS
#endif
