/* depot.c - the manager's side of files. */
#include "depot.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum tutti_status depot_make(tutti_context *context, struct wire *wire, const struct tutti_executor_setup *setup,
                             enum depot_shared shared, struct depot *depot) {
  *depot = (struct depot){.wire = wire, .setup = setup, .shared = shared};
  TUTTI_TRY(context, tutti_alloc(context, (size_t)wire->size, sizeof *depot->agents, &depot->agents));
  for (int rank = 0; rank < wire->size; rank++)
    depot->agents[rank].requests_end = &depot->agents[rank].requests;
  return TUTTI_OK;
}

static void free_request(struct depot_request *request) {
  freight_release(&request->freight);
  tutti_free(request->text);
  tutti_free(request);
}

static void remove_token(struct depot *depot) {
  if (depot->token)
    (void)unlink(depot->token);
  tutti_free(depot->token);
  depot->token = NULL;
}

void depot_release(struct depot *depot) {
  remove_token(depot);
  for (int rank = 1; depot->agents && rank < depot->wire->size; rank++) {
    freight_release(&depot->agents[rank].freight);
    tutti_free(depot->agents[rank].torn);
    for (struct depot_request *request = depot->agents[rank].requests, *next; request; request = next) {
      next = request->next;
      free_request(request);
    }
  }
  tutti_free(depot->agents);
  depot->agents = NULL;
}

bool depot_is_open(const struct depot *depot, int rank) { return depot->agents[rank].stage == DEPOT_OPEN; }

/* --- sending --- */

static enum tutti_status add_input(void *visitor, tutti_context *context, const struct tutti_staged_file *file) {
  return freight_add(context, visitor, file->name, file->path, file->text);
}

static enum tutti_status load(tutti_context *context, struct depot *depot, int rank) {
  const struct tutti_staging *staging = depot->setup->staging;
  struct depot_agent *agent = &depot->agents[rank];
  agent->stage = DEPOT_LOADING;
  agent->staged = true;
  if (!staging)
    return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED,
                      "rank %d does not see the run directory, and this program sends no files", rank);
  return staging->visit(staging->argument, context, add_input, &agent->freight);
}

static enum tutti_status send_to(tutti_context *context, struct depot *depot, int rank) {
  struct depot_agent *agent = &depot->agents[rank];
  struct wire_loaded loaded = {.files = agent->freight.count};
  bool done;
  TUTTI_TRY(context, freight_send(context, depot->wire, rank, FREIGHT_INPUTS, &agent->freight, &done));
  if (!done)
    return TUTTI_OK;
  agent->stage = DEPOT_LOADED;
  freight_release(&agent->freight);
  return wire_send(depot->wire, context, rank, WIRE_LOADED, &loaded, sizeof loaded);
}

/* Requests in their order, each behind its files, as far as MPI takes them now. */
static enum tutti_status send_requests(tutti_context *context, struct depot *depot, int rank) {
  struct depot_agent *agent = &depot->agents[rank];
  for (struct depot_request *request; (request = agent->requests);) {
    bool done;
    TUTTI_TRY(context, freight_send(context, depot->wire, rank, request->head.trial, &request->freight, &done));
    if (!done)
      return TUTTI_OK;
    TUTTI_TRY(context, wire_send_text(depot->wire, context, rank, WIRE_REQUEST, &request->head, request->text));
    agent->requests = request->next;
    if (!request->next)
      agent->requests_end = &agent->requests;
    free_request(request);
  }
  return TUTTI_OK;
}

enum tutti_status depot_request(tutti_context *context, struct depot *depot, int rank, const struct wire_head *head,
                                const char *text) {
  const struct tutti_staging *staging = depot->setup->staging;
  struct depot_agent *agent = &depot->agents[rank];
  struct depot_request *request;
  if (!agent->staged)
    return wire_send_text(depot->wire, context, rank, WIRE_REQUEST, head, text);
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *request, &request));
  request->head = *head;
  *agent->requests_end = request;
  agent->requests_end = &request->next;
  TUTTI_TRY(context, tutti_strdup(context, text, &request->text));
  if (staging->visit_trial)
    TUTTI_TRY(context,
              staging->visit_trial(staging->argument, context, head->trial, text, add_input, &request->freight));
  return send_requests(context, depot, rank);
}

enum tutti_status depot_send(tutti_context *context, struct depot *depot) {
  for (int rank = 1; rank < depot->wire->size; rank++) {
    if (depot->agents[rank].stage == DEPOT_LOADING)
      TUTTI_TRY(context, send_to(context, depot, rank));
    TUTTI_TRY(context, send_requests(context, depot, rank));
  }
  return TUTTI_OK;
}

/* --- who sees the directory? --- */

/* A new file of random bytes: a directory of the same name on a disk of the node's own does not have it. A manager that
   was killed may have left one. */
static enum tutti_status write_token(tutti_context *context, struct depot *depot, char *bytes, size_t count) {
  enum tutti_status status = TUTTI_OK;
  TUTTI_TRY(context, tutti_format(context, &depot->token, "%s/.shared", depot->setup->directory));
  (void)unlink(depot->token);
  int file = open(depot->token, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (file < 0) {
    status =
        TUTTI_FAIL(context, TUTTI_ERROR_IO, "%s: cannot make a file: %s", depot->setup->directory, strerror(errno));
    tutti_free(depot->token);
    depot->token = NULL;
    return status;
  }
  if (getrandom(bytes, count, 0) != (ssize_t)count || write(file, bytes, count) != (ssize_t)count)
    status = TUTTI_FAIL(context, errno == ENOSPC ? TUTTI_ERROR_FULL : TUTTI_ERROR_IO, "%s: cannot write: %s",
                        depot->token, strerror(errno));
  (void)close(file);
  return status;
}

static enum tutti_status ask_all(tutti_context *context, struct depot *depot) {
  enum { RANDOM = 16 };
  char bytes[RANDOM], *message = NULL;
  enum tutti_status status = TUTTI_OK;
  TUTTI_TRY(context, write_token(context, depot, bytes, sizeof bytes));
  const char *name = strrchr(depot->token, '/') + 1;
  size_t length = strlen(name) + 1;
  TUTTI_TRY(context, tutti_alloc(context, length + sizeof bytes, 1, &message));
  memcpy(message, name, length);
  memcpy(message + length, bytes, sizeof bytes);
  for (int rank = 1; status == TUTTI_OK && rank < depot->wire->size; rank++) {
    depot->agents[rank].stage = DEPOT_LOOKING;
    depot->looking++;
    status = wire_send(depot->wire, context, rank, WIRE_LOOK, message, length + sizeof bytes);
  }
  tutti_free(message);
  return status;
}

enum tutti_status depot_open(tutti_context *context, struct depot *depot) {
  if (depot->opened)
    return TUTTI_OK;
  depot->opened = true;
  if (depot->shared != DEPOT_NO)
    return ask_all(context, depot);
  for (int rank = 1; rank < depot->wire->size; rank++)
    TUTTI_TRY(context, load(context, depot, rank));
  return depot_send(context, depot);
}

static enum tutti_status take_seen(tutti_context *context, struct depot *depot, const char *host,
                                   const struct wire_message *message) {
  struct depot_agent *agent = &depot->agents[message->rank];
  char seen;
  TUTTI_TRY(context, wire_read(context, message, &seen, sizeof seen));
  if (agent->stage != DEPOT_LOOKING)
    return TUTTI_OK;
  if (--depot->looking == 0)
    remove_token(depot);
  if (seen) {
    agent->stage = DEPOT_OPEN;
    return TUTTI_OK;
  }
  if (depot->shared == DEPOT_YES)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "rank %d on %s: the run directory %s is not the manager's there: executor.shared = yes says "
                      "that all nodes share it; with no (or auto), data and results travel over MPI",
                      message->rank, host, depot->setup->directory);
  tutti_log(context, TUTTI_LOG_INFO, "executor mpi: rank %d on %s does not see %s: it gets a folder of its own",
            message->rank, host, depot->setup->directory);
  return load(context, depot, message->rank);
}

/* --- what comes back --- */

/* A torn piece costs the trial whose reply comes next, and not the run. A full disk is the run's end. */
static enum tutti_status take_piece(tutti_context *context, struct depot *depot, const struct wire_message *message) {
  struct depot_agent *agent = &depot->agents[message->rank];
  const struct tutti_staging *staging = depot->setup->staging;
  struct freight_piece piece;
  enum tutti_status status = freight_read(context, message, &piece);
  if (status == TUTTI_OK && !agent->torn) {
    const struct tutti_staged_piece stored = {.size = sizeof stored,
                                              .trial = piece.head.trial,
                                              .name = piece.name,
                                              .offset = piece.head.offset,
                                              .total = piece.head.total,
                                              .bytes = piece.bytes,
                                              .count = piece.count};
    status = staging->store(staging->argument, context, &stored);
    agent->files += status == TUTTI_OK && piece.head.offset + piece.count == piece.head.total;
  }
  tutti_free(piece.name);
  if (status != TUTTI_ERROR_CORRUPT)
    return status;
  if (agent->torn) {
    tutti_error_clear(context);
    return TUTTI_OK;
  }
  char why[512];
  (void)snprintf(why, sizeof why, "%s", tutti_error_message(context));
  tutti_error_clear(context);
  return tutti_strdup(context, why, &agent->torn);
}

/* What the engine says of a trial's files. */
static enum tutti_status compare(tutti_context *context, const struct depot *depot, int rank, const char *host,
                                 const struct wire_head *head, const char *text, char **why) {
  const struct tutti_staging *staging = depot->setup->staging;
  char *found = NULL;
  TUTTI_TRY(context, staging->settle(staging->argument, context, head->trial, text, &found));
  if (!found)
    return TUTTI_OK;
  enum tutti_status status =
      tutti_format(context, why, "its files are not those that it wrote on rank %d on %s: %s", rank, host, found);
  tutti_free(found);
  return status;
}

enum tutti_status depot_settle(tutti_context *context, struct depot *depot, int rank, const char *host,
                               const struct wire_head *head, const char *text, char **why) {
  struct depot_agent *agent = &depot->agents[rank];
  const struct tutti_staging *staging = depot->setup->staging;
  enum tutti_status status = TUTTI_OK;
  *why = NULL;
  if (!agent->staged)
    return TUTTI_OK;
  if (agent->torn)
    status = tutti_format(context, why, "its files did not come whole from rank %d on %s: %s", rank, host, agent->torn);
  else if (agent->files != head->files)
    status = tutti_format(context, why, "of its %" PRIu64 " files, %" PRIu64 " came from rank %d on %s", head->files,
                          agent->files, rank, host);
  else if (head->kind == TUTTI_REPLY_DONE)
    status = compare(context, depot, rank, host, head, text, why);
  if (*why)
    staging->drop(staging->argument, context, head->trial);
  tutti_free(agent->torn);
  agent->torn = NULL;
  agent->files = 0;
  return status;
}

enum tutti_status depot_take(tutti_context *context, struct depot *depot, const char *host,
                             const struct wire_message *message, bool *taken) {
  struct depot_agent *agent = &depot->agents[message->rank];
  const struct tutti_staging *staging = depot->setup->staging;
  bool comes_back = message->tag == WIRE_PIECE || message->tag == WIRE_LOG;
  *taken = message->tag == WIRE_SEEN ||
           (agent->staged && agent->stage >= DEPOT_LOADED && (comes_back || message->tag == WIRE_LOADED));
  if (!*taken)
    return TUTTI_OK;
  if (message->tag == WIRE_SEEN)
    return take_seen(context, depot, host, message);
  if (message->tag == WIRE_PIECE)
    return take_piece(context, depot, message);
  if (message->tag == WIRE_LOG)
    return staging->note(staging->argument, context, message->bytes, message->size);
  agent->stage = DEPOT_OPEN;
  return TUTTI_OK;
}
