/* wire.h - messages between the manager (rank 0) and the agents (the other ranks), over MPI. */
#ifndef EXECUTOR_MPI_WIRE_H
#define EXECUTOR_MPI_WIRE_H

#include "link.h"

#include <tutti/plugin.h>

enum wire_tag {
  WIRE_HELLO = 1, /* agent: its version of tutti, its host, and how many workers it starts */
  WIRE_BEGIN,     /* manager: the trials that a worker takes at once, and the run's limits */
  WIRE_LOOK,      /* manager: do you see this file in the run's directory? Its name, a NUL, and what is in it */
  WIRE_SEEN,      /* agent: yes (1) or no (0), a byte */
  WIRE_PIECE,     /* both: a piece of a file (freight.h): of those that workers read, or of what one has written */
  WIRE_LOADED,    /* manager: these were all pieces that you need: how many files; agent: it has them */
  WIRE_REQUEST,   /* manager: train this */
  WIRE_REPLY,     /* agent: a reply of a worker, after the pieces of its trial's files */
  WIRE_LOG,       /* agent: what its workers have printed */
  WIRE_ALIVE,     /* agent: nothing is new */
  WIRE_FAIL,      /* agent: it cannot go on; the status is the head's kind, and the text says why */
  WIRE_REST,      /* manager: end your workers */
  WIRE_BYE,       /* manager: the run is over; agent: it has heard so */
  WIRE_STOP,      /* manager: stop this training, if you have it; the text is for its worker */
  WIRE_END        /* manager: end this training, if you have it, and its worker with it */
};

enum { WIRE_TEXT = 128 };

struct wire_hello {
  char version[WIRE_TEXT], host[WIRE_TEXT], processor[WIRE_TEXT]; /* processor: its vector instructions */
  uint64_t workers;
};

struct wire_begin {
  uint64_t capacity, memory_limit;
  double trial_timeout;
};

struct wire_loaded {
  uint64_t files;
};

/* The head of WIRE_REQUEST, WIRE_STOP, WIRE_END, WIRE_REPLY and WIRE_FAIL; a text follows, without its NUL. */
struct wire_head {
  uint64_t trial;
  uint32_t kind, worker; /* of a reply */
  double seconds;
  uint64_t files; /* of a reply: so many came before it */
};

struct wire_letter;

struct wire {
  void *module;
  const struct mpi_link *link;
  int rank, size;
  bool began;                                 /* this one began MPI, and ends it */
  struct wire_letter *letters, **letters_end; /* that are being sent */
  uint64_t *unsent, all_unsent;               /* [size]: bytes of them for each rank; for all */
  uint64_t *sent;                             /* [size]: bytes for each rank that MPI has sent after a wait */
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
/* Send bytes, which are copied: nobody waits until they have come. What is sent to a rank comes there in that order. */
TUTTI_NODISCARD enum tutti_status wire_send(struct wire *wire, tutti_context *context, int rank, enum wire_tag tag,
                                            const void *bytes, size_t size);
/* Wait until all is sent, for so many seconds at most. */
void wire_flush(struct wire *wire, double seconds);
/* Send a head and a text. */
TUTTI_NODISCARD enum tutti_status wire_send_text(struct wire *wire, tutti_context *context, int rank, enum wire_tag tag,
                                                 const struct wire_head *head, const char *text);
/* Take a message that has come; message->tag is 0 if there is none. */
TUTTI_NODISCARD enum tutti_status wire_take(struct wire *wire, tutti_context *context, struct wire_message *message);
/* Take a message that has come, without looking into it: its tag, and *rank; 0 if there is none, -1 on failure. */
int wire_discard(struct wire *wire, int *rank);
/* Copy the beginning of a message into a struct. TUTTI_ERROR_CORRUPT: it is shorter. */
TUTTI_NODISCARD enum tutti_status wire_read(tutti_context *context, const struct wire_message *message, void *into,
                                            size_t size);
/* Sleep so long; a signal ends it. */
void wire_pause(double seconds);

#endif
