/* depot.h - the manager's side of files: it finds out which agents see the run's directory, sends the others what their
   workers read, and stores what comes back. */
#ifndef EXECUTOR_MPI_DEPOT_H
#define EXECUTOR_MPI_DEPOT_H

#include "freight.h"

/* Do all nodes see the run's directory? */
enum depot_shared { DEPOT_AUTO, DEPOT_YES, DEPOT_NO };

/* The way of an agent to its first request. */
enum depot_stage { DEPOT_CLOSED, DEPOT_LOOKING, DEPOT_LOADING, DEPOT_LOADED, DEPOT_OPEN };

/* A request whose files are on their way to the agent. */
struct depot_request {
  struct wire_head head;
  char *text;
  struct freight freight;
  struct depot_request *next;
};

struct depot_agent {
  enum depot_stage stage;
  bool staged;            /* its workers have a folder of its own */
  struct freight freight; /* while it is loading */
  uint64_t files;         /* whole ones that came since its last reply */
  char *torn;             /* what was wrong with one of these; NULL: nothing */
  struct depot_request *requests, **requests_end;
};

struct depot {
  struct wire *wire;
  const struct tutti_executor_setup *setup;
  enum depot_shared shared;
  struct depot_agent *agents; /* [wire->size]; that of rank 0 stays empty */
  char *token;                /* path of the file that agents look for; NULL: there is none */
  size_t looking;             /* agents that have not said yet whether they see it */
  bool opened;
};

/* Make it, closed; release *depot, also after a failure. wire and setup are borrowed. */
TUTTI_NODISCARD enum tutti_status depot_make(tutti_context *context, struct wire *wire,
                                             const struct tutti_executor_setup *setup, enum depot_shared shared,
                                             struct depot *depot);
void depot_release(struct depot *depot);
/* Begin to open the way to all agents, unless that was done. The run's directory is there. */
TUTTI_NODISCARD enum tutti_status depot_open(tutti_context *context, struct depot *depot);
/* Send pieces of files, as many as MPI takes now. */
TUTTI_NODISCARD enum tutti_status depot_send(tutti_context *context, struct depot *depot);
/* May it get requests? */
bool depot_is_open(const struct depot *depot, int rank);

/* Send a request, after the files that its worker alone reads. */
TUTTI_NODISCARD enum tutti_status depot_request(tutti_context *context, struct depot *depot, int rank,
                                                const struct wire_head *head, const char *text);

/* Take WIRE_SEEN, WIRE_LOADED, WIRE_PIECE or WIRE_LOG of an agent; `host` is for messages. *taken: it was one. */
TUTTI_NODISCARD enum tutti_status depot_take(tutti_context *context, struct depot *depot, const char *host,
                                             const struct wire_message *message, bool *taken);
/* A reply has come, with its text, that says how many files came before it: they are compared with what it tells, and
   made durable. *why (free it with tutti_free) says what is wrong with them; the trial counts as lost then. NULL:
   nothing. */
TUTTI_NODISCARD enum tutti_status depot_settle(tutti_context *context, struct depot *depot, int rank, const char *host,
                                               const struct wire_head *head, const char *text, char **why);

#endif
