/* agent.c - serves the manager: requests from MPI to worker processes, replies back. A worker that crashes is a reply
   like others, so MPI never hears of it. Where the run's directory is not seen, workers have a folder of the agent's;
   what a trial's worker has written there goes to the manager before its reply. */
#include "agent.h"

#include "scratch.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <tutti/clock.h>
#include <tutti/cpu.h>
#include <tutti/version.h>
#include <unistd.h>

/* A reply on its way, with the files of its trial. */
struct parcel {
  struct wire_head head;
  char *text, *folder;
  struct freight freight;
  struct parcel *next;
};

struct serving {
  struct agent *agent;
  struct crew *crew;    /* NULL until its workers have what they read */
  const char **command; /* that starts a worker in the scratch folder */
  struct scratch scratch;
  uint64_t files; /* that have come into it */
  off_t logged;   /* bytes of the workers' log that the manager has */
  size_t held;    /* requests without a reply */
  struct parcel *parcels, **parcels_end;
  double spoke; /* when it last said that it is there */
  bool failed;  /* the manager knows that this agent cannot go on */
  bool over;
};

static enum tutti_status say_hello(tutti_context *context, const struct agent *agent) {
  struct wire_hello hello = {.workers = agent->setup.workers};
  (void)snprintf(hello.version, sizeof hello.version, "%s", tutti_build_id());
  (void)snprintf(hello.processor, sizeof hello.processor, "%s", tutti_cpu_name(tutti_cpu_detect()));
  if (gethostname(hello.host, sizeof hello.host - 1) != 0)
    (void)snprintf(hello.host, sizeof hello.host, "unknown");
  return wire_send(agent->wire, context, 0, WIRE_HELLO, &hello, sizeof hello);
}

/* --- what workers print --- */

/* What is new in the log of workers whose folder nobody else sees. */
static enum tutti_status pass_log(tutti_context *context, struct serving *serving) {
  enum { PART = 1 << 16, MOST = 16, UNDER_WAY = 4 << 20 };
  const struct agent *agent = serving->agent;
  enum tutti_status status = TUTTI_OK;
  char *path, *bytes = NULL;
  if (!serving->crew || !serving->scratch.path || agent->wire->unsent[0] > UNDER_WAY)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_format(context, &path, "%s/%s", serving->scratch.path, agent->setup.staging->log));
  int log = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  tutti_free(path);
  if (log < 0)
    return TUTTI_OK;
  status = tutti_alloc(context, PART, 1, &bytes);
  ssize_t n = 1;
  for (int i = 0; status == TUTTI_OK && n > 0 && i < MOST; i++) {
    n = pread(log, bytes, PART, serving->logged);
    if (n > 0)
      status = wire_send(agent->wire, context, 0, WIRE_LOG, bytes, (size_t)n);
    serving->logged += n > 0 ? n : 0;
  }
  tutti_free(bytes);
  (void)close(log);
  return status;
}

/* Also between two messages: while files come, the next one is always there. */
static enum tutti_status say_alive(tutti_context *context, struct serving *serving) {
  double now = tutti_clock();
  if (now - serving->spoke < serving->agent->alive)
    return TUTTI_OK;
  serving->spoke = now;
  TUTTI_TRY(context, pass_log(context, serving));
  return wire_send(serving->agent->wire, context, 0, WIRE_ALIVE, "", 0);
}

/* The error of the context goes to the manager, which ends the run with it. */
static enum tutti_status tell_failure(tutti_context *context, struct serving *serving, enum tutti_status reason) {
  const struct wire_head head = {.kind = (uint32_t)reason};
  char why[1024];
  (void)snprintf(why, sizeof why, "%s", tutti_error_message(context));
  tutti_error_clear(context);
  if (serving->failed)
    return TUTTI_OK;
  serving->failed = true;
  if (pass_log(context, serving) != TUTTI_OK)
    tutti_error_clear(context);
  return wire_send_text(serving->agent->wire, context, 0, WIRE_FAIL, &head, why);
}

/* --- beginning and end --- */

static void free_parcel(struct parcel *parcel) {
  freight_release(&parcel->freight);
  tutti_free(parcel->text);
  tutti_free(parcel->folder);
  tutti_free(parcel);
}

/* Workers first: they write into the folder. */
static void rest(struct serving *serving) {
  crew_destroy(serving->crew);
  serving->crew = NULL;
  scratch_remove(&serving->scratch);
  tutti_free(serving->command);
  serving->command = NULL;
  for (struct parcel *parcel = serving->parcels, *next; parcel; parcel = next) {
    next = parcel->next;
    free_parcel(parcel);
  }
  serving->parcels = NULL;
  serving->parcels_end = &serving->parcels;
  serving->held = 0;
  serving->files = 0;
  serving->logged = 0;
}

static enum tutti_status begin(tutti_context *context, struct serving *serving, const struct wire_message *message) {
  struct agent *agent = serving->agent;
  struct wire_begin begin;
  TUTTI_TRY(context, wire_read(context, message, &begin, sizeof begin));
  agent->setup.capacity = (size_t)begin.capacity;
  agent->setup.memory_limit = begin.memory_limit;
  agent->setup.trial_timeout = begin.trial_timeout;
  rest(serving);
  return TUTTI_OK;
}

static enum tutti_status open_crew(tutti_context *context, struct serving *serving) {
  const struct agent *agent = serving->agent;
  struct tutti_executor_setup setup = agent->setup;
  if (serving->command)
    setup.worker_command = serving->command;
  return crew_create(context, agent->config, &setup, agent->device_count, agent->devices, &serving->crew);
}

/* --- what workers read --- */

/* Is the file that the manager has just written here, too? A network file system may need a moment. */
static bool sees(tutti_context *context, const char *directory, const char *name, const char *wanted, size_t count) {
  enum { TRIES = 10, MOST = 256 };
  static const double pause = 0.1;
  char found[MOST], *path;
  bool same = false;
  if (tutti_format(context, &path, "%s/%s", directory, name) != TUTTI_OK) {
    tutti_error_clear(context);
    return false;
  }
  for (int i = 0; i < TRIES && !same && access(directory, F_OK) == 0; i++) {
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    same = file >= 0 && read(file, found, sizeof found) == (ssize_t)count && memcmp(found, wanted, count) == 0;
    if (file >= 0)
      (void)close(file);
    if (!same)
      wire_pause(pause);
  }
  tutti_free(path);
  return same;
}

static enum tutti_status look(tutti_context *context, struct serving *serving, const struct wire_message *message) {
  const struct agent *agent = serving->agent;
  size_t name = strlen(message->bytes) + 1;
  bool seen = name < message->size &&
              sees(context, agent->setup.directory, message->bytes, message->bytes + name, message->size - name);
  char said = seen ? 1 : 0;
  if (seen)
    TUTTI_TRY(context, open_crew(context, serving));
  return wire_send(agent->wire, context, 0, WIRE_SEEN, &said, sizeof said);
}

static enum tutti_status store_piece(tutti_context *context, struct serving *serving,
                                     const struct wire_message *message) {
  struct freight_piece piece;
  bool whole = false;
  if (!serving->scratch.path)
    TUTTI_TRY(context, scratch_make(context, serving->agent->scratch, &serving->scratch));
  enum tutti_status status = freight_read(context, message, &piece);
  if (status == TUTTI_OK)
    status = scratch_store(context, &serving->scratch, &piece, &whole);
  serving->files += whole;
  tutti_free(piece.name);
  return status;
}

/* The command of workers, with the scratch folder in place of the run's directory, which is one of its texts: else they
   would work there. */
static enum tutti_status move_command(tutti_context *context, struct serving *serving) {
  const struct tutti_executor_setup *setup = &serving->agent->setup;
  size_t count = 0, moved = 0;
  while (setup->worker_command[count])
    count++;
  TUTTI_TRY(context, tutti_alloc(context, count + 1, sizeof *serving->command, &serving->command));
  for (size_t i = 0; i < count; i++) {
    bool is_directory = strcmp(setup->worker_command[i], setup->directory) == 0;
    serving->command[i] = is_directory ? serving->scratch.path : setup->worker_command[i];
    moved += is_directory;
  }
  if (moved == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "the command of workers does not name the run's directory, %s",
                      setup->directory);
  return TUTTI_OK;
}

static enum tutti_status end_loading(tutti_context *context, struct serving *serving,
                                     const struct wire_message *message) {
  struct wire_loaded loaded;
  TUTTI_TRY(context, wire_read(context, message, &loaded, sizeof loaded));
  if (!serving->scratch.path || loaded.files != serving->files)
    return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "of %llu files that workers read, %llu have come",
                      (unsigned long long)loaded.files, (unsigned long long)serving->files);
  TUTTI_TRY(context, move_command(context, serving));
  TUTTI_TRY(context, open_crew(context, serving));
  return wire_send(serving->agent->wire, context, 0, WIRE_LOADED, &loaded, sizeof loaded);
}

/* --- messages --- */

static enum tutti_status pass_request(tutti_context *context, struct serving *serving,
                                      const struct wire_message *message) {
  struct wire_head head;
  TUTTI_TRY(context, wire_read(context, message, &head, sizeof head));
  serving->held++;
  return crew_submit(serving->crew, context, head.trial, message->bytes + sizeof head);
}

static enum tutti_status pass_stop(tutti_context *context, struct serving *serving,
                                   const struct wire_message *message) {
  struct wire_head head;
  TUTTI_TRY(context, wire_read(context, message, &head, sizeof head));
  crew_stop(serving->crew, context, head.trial, message->bytes + sizeof head);
  return TUTTI_OK;
}

static enum tutti_status pass_end(tutti_context *context, struct serving *serving, const struct wire_message *message) {
  struct wire_head head;
  TUTTI_TRY(context, wire_read(context, message, &head, sizeof head));
  return crew_end(serving->crew, context, head.trial);
}

static enum tutti_status handle(tutti_context *context, struct serving *serving, const struct wire_message *message) {
  switch (message->tag) {
  case WIRE_BEGIN:
    return begin(context, serving, message);
  case WIRE_LOOK:
    return serving->failed ? TUTTI_OK : look(context, serving, message);
  case WIRE_PIECE:
    return serving->failed ? TUTTI_OK : store_piece(context, serving, message);
  case WIRE_LOADED:
    return serving->failed ? TUTTI_OK : end_loading(context, serving, message);
  case WIRE_REQUEST:
    return serving->crew && !serving->failed ? pass_request(context, serving, message) : TUTTI_OK;
  case WIRE_STOP:
    return serving->crew && !serving->failed ? pass_stop(context, serving, message) : TUTTI_OK;
  case WIRE_END:
    return serving->crew && !serving->failed ? pass_end(context, serving, message) : TUTTI_OK;
  case WIRE_REST:
    rest(serving);
    return TUTTI_OK;
  case WIRE_BYE:
    serving->over = true; /* it rests after it has said so: removing files may take long */
    return wire_send(serving->agent->wire, context, 0, WIRE_BYE, "", 0);
  default:
    return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "the manager sent a message %d", message->tag);
  }
}

/* Messages that have come. */
static enum tutti_status take_messages(tutti_context *context, struct serving *serving, bool *any) {
  *any = false;
  for (;;) {
    struct wire_message message;
    TUTTI_TRY(context, wire_take(serving->agent->wire, context, &message));
    if (message.tag == 0)
      return TUTTI_OK;
    *any = true;
    enum tutti_status status = handle(context, serving, &message);
    tutti_free(message.bytes);
    if (status != TUTTI_OK)
      TUTTI_TRY(context, tell_failure(context, serving, status));
    if (serving->over)
      return TUTTI_OK;
    TUTTI_TRY(context, say_alive(context, serving));
  }
}

/* --- replies --- */

static enum tutti_status send_reply(tutti_context *context, const struct serving *serving, const struct wire_head *head,
                                    const char *text) {
  return wire_send_text(serving->agent->wire, context, 0, WIRE_REPLY, head, text);
}

/* Put a reply and the files of its trial at the end of those that are on their way; takes *text. */
static enum tutti_status pack(tutti_context *context, struct serving *serving, const struct wire_head *head,
                              char **text) {
  const struct tutti_staging *staging = serving->agent->setup.staging;
  struct parcel *parcel;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *parcel, &parcel));
  parcel->head = *head;
  parcel->text = *text;
  *text = NULL;
  *serving->parcels_end = parcel;
  serving->parcels_end = &parcel->next;
  TUTTI_TRY(context, staging->folder(staging->argument, context, head->trial, &parcel->folder));
  if (head->kind != TUTTI_REPLY_DONE)
    return TUTTI_OK; /* what its worker has left is only in the way */
  TUTTI_TRY(context, scratch_collect(context, &serving->scratch, parcel->folder, &parcel->freight));
  parcel->head.files = parcel->freight.count;
  return TUTTI_OK;
}

/* As much of them as MPI takes now. */
static enum tutti_status send_parcels(tutti_context *context, struct serving *serving) {
  for (struct parcel *parcel; (parcel = serving->parcels);) {
    bool done;
    TUTTI_TRY(context, freight_send(context, serving->agent->wire, 0, parcel->head.trial, &parcel->freight, &done));
    if (!done)
      return TUTTI_OK;
    TUTTI_TRY(context, pass_log(context, serving));
    TUTTI_TRY(context, send_reply(context, serving, &parcel->head, parcel->text));
    if (parcel->folder)
      scratch_forget(context, &serving->scratch, parcel->folder);
    serving->parcels = parcel->next;
    if (!parcel->next)
      serving->parcels_end = &serving->parcels;
    free_parcel(parcel);
  }
  return TUTTI_OK;
}

/* Replies of workers, waiting a little for the first. */
static enum tutti_status pass_replies(tutti_context *context, struct serving *serving, double timeout) {
  for (;; timeout = 0) {
    struct tutti_reply reply = {.size = sizeof reply};
    TUTTI_TRY(context, crew_wait(serving->crew, context, timeout, &reply));
    if (reply.kind == TUTTI_REPLY_NONE)
      return TUTTI_OK;
    struct wire_head head = {
        .trial = reply.trial, .kind = (uint32_t)reply.kind, .worker = reply.worker, .seconds = reply.seconds};
    bool progress = reply.kind == TUTTI_REPLY_PROGRESS;
    serving->held -= !progress;
    enum tutti_status status = serving->scratch.path && !progress ? pack(context, serving, &head, &reply.text)
                                                                  : send_reply(context, serving, &head, reply.text);
    tutti_free(reply.text);
    TUTTI_TRY(context, status);
  }
}

/* Workers and their replies, while there are some. Returns whether it has waited. */
static bool work(tutti_context *context, struct serving *serving, double timeout) {
  enum tutti_status status = TUTTI_OK;
  bool waits = serving->crew && serving->held > 0 && !serving->failed && !tutti_cancelled(context);
  if (waits)
    status = pass_replies(context, serving, timeout);
  if (status == TUTTI_OK && !serving->failed)
    status = send_parcels(context, serving);
  if (status != TUTTI_OK && tell_failure(context, serving, status) != TUTTI_OK)
    tutti_error_clear(context); /* the next look at messages finds it, too */
  return waits;
}

enum tutti_status agent_serve(tutti_context *context, struct agent *agent) {
  static const double busy = 0.001, idle = 0.005, farewell = 10;
  struct serving serving = {.agent = agent, .scratch.lock = -1, .parcels_end = &serving.parcels};
  enum tutti_status status = say_hello(context, agent);
  while (status == TUTTI_OK && !serving.over) {
    bool any = false;
    status = take_messages(context, &serving, &any);
    if (status == TUTTI_OK && !serving.over)
      status = say_alive(context, &serving);
    bool waited = status == TUTTI_OK && !serving.over && work(context, &serving, any ? 0 : busy);
    if (!waited && !any && !serving.over)
      wire_pause(serving.parcels ? busy : idle); /* an interrupt is the manager's business: it says when it is over */
  }
  rest(&serving);
  wire_flush(agent->wire, farewell);
  return status;
}
