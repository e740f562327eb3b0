/* freight.h - files in pieces, each with a checksum, between manager and agents. */
#ifndef EXECUTOR_MPI_FREIGHT_H
#define EXECUTOR_MPI_FREIGHT_H

#include "wire.h"

/* The trial of files that workers read. */
#define FREIGHT_INPUTS UINT64_MAX

/* The head of WIRE_PIECE; the file's name follows, then the piece's bytes. */
struct freight_head {
  uint64_t trial, offset, total;
  uint32_t checksum; /* CRC-32 of this head without it, name and bytes */
  uint32_t name;     /* bytes of the name */
};

struct freight_file {
  char *name, *path, *text; /* path NULL: its bytes are those of the text */
};

/* Files on their way to a rank. Make it of zeroes; release it with freight_release. */
struct freight {
  struct freight_file *files;
  size_t count, room;
  size_t next; /* the file that is being sent */
  uint64_t offset;
};

/* Put a file at the end; path or text is NULL, and all are copied. */
TUTTI_NODISCARD enum tutti_status freight_add(tutti_context *context, struct freight *freight, const char *name,
                                              const char *path, const char *text);
/* Send pieces while not much is under way to the rank; *done: all are sent. */
TUTTI_NODISCARD enum tutti_status freight_send(tutti_context *context, struct wire *wire, int rank, uint64_t trial,
                                               struct freight *freight, bool *done);
void freight_release(struct freight *freight);

/* A piece that has come; bytes and name lie in the message, or are the caller's. */
struct freight_piece {
  struct freight_head head;
  char *name; /* free it with tutti_free */
  const char *bytes;
  size_t count;
};
/* TUTTI_ERROR_CORRUPT: it is torn, or its checksum is another; piece->head is there if the message is long enough for
   one. Free piece->name, also after a failure. */
TUTTI_NODISCARD enum tutti_status freight_read(tutti_context *context, const struct wire_message *message,
                                               struct freight_piece *piece);

#endif
