/* wire.c - messages over MPI. */
#include "wire.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The module stands in the folder of this plugin. */
static void module_path(char *path, size_t size) {
  static const char name[] = "mpilink.so";
  static const char anchor;
  Dl_info about = {0};
  const char *slash = dladdr(&anchor, &about) && about.dli_fname ? strrchr(about.dli_fname, '/') : NULL;
  int folder = slash ? (int)(slash - about.dli_fname) + 1 : 0;
  (void)snprintf(path, size, "%.*s%s", folder, folder ? about.dli_fname : "", name);
}

static enum tutti_status fail(const struct wire *wire, tutti_context *context, const char *doing, int error) {
  char why[512] = "";
  wire->link->explain(error, why, sizeof why);
  return TUTTI_FAIL(context, TUTTI_ERROR_IO, "MPI: cannot %s: %s", doing, why);
}

/* By what Open MPI, MPICH and those that speak PMI or PMIx tell the processes that they start. */
static bool is_rank(void) {
  static const char *const signs[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE"};
  for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
    if (getenv(signs[i]))
      return true;
  return false;
}

enum tutti_status wire_open(tutti_context *context, struct wire *wire) {
  char path[4096];
  *wire = (struct wire){0};
  if (!is_rank())
    return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED,
                      "this process was not started by MPI; start all of them with: mpirun -n RANKS tutti "
                      "run ... (docs/cluster.md), or take executor.plugin = local");
  module_path(path, sizeof path);
  wire->module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void *symbol = wire->module ? dlsym(wire->module, MPI_LINK_SYMBOL) : NULL;
  if (!symbol)
    return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED,
                      "it needs MPI, and that cannot be loaded: %s; install Open MPI (Debian: openmpi-bin), if "
                      "Tutti was built with it (libopenmpi-dev), or take executor.plugin = local",
                      dlerror());
  mpi_link_function *functions;
  memcpy(&functions, &symbol, sizeof functions);
  wire->link = functions();
  int error = wire->link->begin(&wire->began, &wire->rank, &wire->size);
  return error ? fail(wire, context, "begin", error) : TUTTI_OK;
}

/* The module stays loaded: MPI does not like to go. */
void wire_close(struct wire *wire) {
  if (wire->began)
    (void)wire->link->end();
  wire->began = false;
}

enum tutti_status wire_send(const struct wire *wire, tutti_context *context, int rank, enum wire_tag tag,
                            const void *bytes, size_t size) {
  int error = wire->link->send(rank, (int)tag, bytes, size);
  return error ? fail(wire, context, "send", error) : TUTTI_OK;
}

enum tutti_status wire_send_text(const struct wire *wire, tutti_context *context, int rank, enum wire_tag tag,
                                 const struct wire_head *head, const char *text) {
  size_t length = strlen(text);
  char *bytes;
  TUTTI_TRY(context, tutti_alloc(context, sizeof *head + length + 1, 1, &bytes));
  memcpy(bytes, head, sizeof *head);
  memcpy(bytes + sizeof *head, text, length + 1);
  enum tutti_status status = wire_send(wire, context, rank, tag, bytes, sizeof *head + length);
  tutti_free(bytes);
  return status;
}

enum tutti_status wire_take(const struct wire *wire, tutti_context *context, struct wire_message *message) {
  bool come = false;
  *message = (struct wire_message){0};
  int error = wire->link->probe(&come, &message->rank, &message->tag, &message->size);
  if (error)
    return fail(wire, context, "look for messages", error);
  if (!come) {
    message->tag = 0;
    return TUTTI_OK;
  }
  TUTTI_TRY(context, tutti_alloc(context, message->size + 1, 1, &message->bytes));
  error = wire->link->receive(message->rank, message->tag, message->bytes, message->size);
  if (!error)
    return TUTTI_OK;
  tutti_free(message->bytes);
  message->bytes = NULL;
  return fail(wire, context, "receive", error);
}

enum tutti_status wire_read(tutti_context *context, const struct wire_message *message, void *into, size_t size) {
  if (message->size < size)
    return TUTTI_FAIL(
        context, TUTTI_ERROR_CORRUPT,
        "rank %d sent a message %d of %zu bytes, and at least %zu were expected: do all ranks run the same "
        "tutti?",
        message->rank, message->tag, message->size, size);
  memcpy(into, message->bytes, size);
  return TUTTI_OK;
}

void wire_pause(double seconds) {
  struct timespec time = {.tv_sec = (time_t)seconds, .tv_nsec = (long)(1e9 * (seconds - floor(seconds)))};
  (void)nanosleep(&time, NULL);
}
