/* wire.h - messages between the manager (rank 0) and the agents (the other ranks), over MPI. */
#ifndef EXECUTOR_MPI_WIRE_H
#define EXECUTOR_MPI_WIRE_H

#include "link.h"

#include <tutti/plugin.h>

enum wire_tag {
  WIRE_HELLO = 1, /* agent: its version of tutti, its host, and how many workers it starts */
  WIRE_BEGIN,     /* manager: the trials that a worker takes at once, and the run's limits */
  WIRE_REQUEST,   /* manager: train this */
  WIRE_REPLY,     /* agent: a reply of a worker */
  WIRE_FAIL,      /* agent: it cannot go on; why */
  WIRE_REST,      /* manager: end your workers */
  WIRE_BYE        /* manager: the run is over */
};

enum { WIRE_TEXT = 128 };

struct wire_hello {
  char version[WIRE_TEXT], host[WIRE_TEXT];
  uint64_t workers;
};

struct wire_begin {
  uint64_t capacity, memory_limit;
  double trial_timeout;
};

/* The head of WIRE_REQUEST and WIRE_REPLY; a text follows, without its NUL. */
struct wire_head {
  uint64_t trial;
  uint32_t kind, worker; /* of a reply */
  double seconds;
};

struct wire {
  void *module;
  const struct mpi_link *link;
  int rank, size;
  bool began; /* this one began MPI, and ends it */
};

/* A message. `bytes` has size bytes and a NUL after them; free it with tutti_free. */
struct wire_message {
  int rank, tag;
  size_t size;
  char *bytes;
};

/* Load MPI and begin. TUTTI_ERROR_UNSUPPORTED: there is none. Close *wire, also after a failure. */
TUTTI_NODISCARD enum tutti_status wire_open(tutti_context *context, struct wire *wire);
void wire_close(struct wire *wire);
TUTTI_NODISCARD enum tutti_status wire_send(const struct wire *wire, tutti_context *context, int rank,
                                            enum wire_tag tag, const void *bytes, size_t size);
/* Send a head and a text. */
TUTTI_NODISCARD enum tutti_status wire_send_text(const struct wire *wire, tutti_context *context, int rank,
                                                 enum wire_tag tag, const struct wire_head *head, const char *text);
/* Take a message that has come; message->tag is 0 if there is none. */
TUTTI_NODISCARD enum tutti_status wire_take(const struct wire *wire, tutti_context *context,
                                            struct wire_message *message);
/* Copy the beginning of a message into a struct. TUTTI_ERROR_CORRUPT: it is shorter. */
TUTTI_NODISCARD enum tutti_status wire_read(tutti_context *context, const struct wire_message *message, void *into,
                                            size_t size);
/* Sleep so long; a signal ends it. */
void wire_pause(double seconds);

#endif
