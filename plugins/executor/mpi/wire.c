/* wire.c - messages over MPI. */
#include "wire.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tutti/clock.h>

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
  if (error)
    return fail(wire, context, "begin", error);
  wire->letters_end = &wire->letters;
  TUTTI_TRY(context, tutti_alloc(context, (size_t)wire->size, sizeof *wire->sent, &wire->sent));
  return tutti_alloc(context, (size_t)wire->size, sizeof *wire->unsent, &wire->unsent);
}

/* --- sending --- */

/* Bytes that MPI has not sent yet. */
struct wire_letter {
  char *bytes;
  size_t size;
  int rank;
  void *sending;
  struct wire_letter *next;
};

/* Forget the letters that are sent. */
static int sort_letters(struct wire *wire) {
  for (struct wire_letter **place = &wire->letters, *letter; (letter = *place);) {
    bool done = false;
    int error = wire->link->sent(letter->sending, &done);
    if (error)
      return error;
    if (!done) {
      place = &letter->next;
      continue;
    }
    *place = letter->next;
    if (!letter->next)
      wire->letters_end = place;
    wire->unsent[letter->rank] -= letter->size;
    wire->all_unsent -= letter->size;
    wire->sent[letter->rank] += letter->size;
    tutti_free(letter->bytes);
    tutti_free(letter);
  }
  return 0;
}

void wire_flush(struct wire *wire, double seconds) {
  static const double pause = 0.001;
  for (double end = tutti_clock() + seconds; wire->letters && tutti_clock() < end; wire_pause(pause))
    if (sort_letters(wire) != 0)
      return;
}

/* The module stays loaded: MPI does not like to go. Letters that are not sent stay, too: MPI may still look at them. */
void wire_close(struct wire *wire) {
  if (wire->began)
    (void)wire->link->end();
  wire->began = false;
  tutti_free(wire->unsent);
  tutti_free(wire->sent);
  wire->unsent = wire->sent = NULL;
}

enum tutti_status wire_send(struct wire *wire, tutti_context *context, int rank, enum wire_tag tag, const void *bytes,
                            size_t size) {
  struct wire_letter *letter;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *letter, &letter));
  enum tutti_status status = tutti_alloc(context, size + 1, 1, &letter->bytes);
  int error = 0;
  if (status == TUTTI_OK) {
    memcpy(letter->bytes, bytes, size);
    error = wire->link->send(rank, (int)tag, letter->bytes, size, &letter->sending);
  }
  if (error)
    status = fail(wire, context, "send", error);
  if (status == TUTTI_OK && letter->sending) {
    letter->size = size;
    letter->rank = rank;
    wire->unsent[rank] += size;
    wire->all_unsent += size;
    *wire->letters_end = letter;
    wire->letters_end = &letter->next;
    return TUTTI_OK;
  }
  tutti_free(letter->bytes);
  tutti_free(letter);
  return status;
}

enum tutti_status wire_send_text(struct wire *wire, tutti_context *context, int rank, enum wire_tag tag,
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

enum tutti_status wire_take(struct wire *wire, tutti_context *context, struct wire_message *message) {
  bool come = false;
  *message = (struct wire_message){0};
  int error = sort_letters(wire);
  if (!error)
    error = wire->link->probe(&come, &message->rank, &message->tag, &message->size);
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

int wire_discard(struct wire *wire, int *rank) {
  bool come = false;
  int tag = 0;
  size_t size = 0;
  if (sort_letters(wire) != 0 || wire->link->probe(&come, rank, &tag, &size) != 0)
    return -1;
  if (!come)
    return 0;
  char *bytes = malloc(size + 1);
  int error = bytes ? wire->link->receive(*rank, tag, bytes, size) : -1;
  free(bytes);
  return error ? -1 : tag;
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
