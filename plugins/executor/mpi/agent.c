/* agent.c - serves the manager: requests from MPI to worker processes, replies back. A worker that crashes is a reply
   like others, so MPI never hears of it. */
#include "agent.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <tutti/version.h>
#include <unistd.h>

struct serving {
  struct agent *agent;
  struct crew *crew;
  size_t held; /* requests without a reply */
  bool looked; /* the run directory was seen here */
  bool failed; /* the manager knows that this agent cannot go on */
  bool over;
};

static enum tutti_status say_hello(tutti_context *context, const struct agent *agent) {
  struct wire_hello hello = {.workers = agent->setup.workers};
  (void)snprintf(hello.version, sizeof hello.version, "%s", tutti_build_id());
  if (gethostname(hello.host, sizeof hello.host - 1) != 0)
    (void)snprintf(hello.host, sizeof hello.host, "unknown");
  return wire_send(agent->wire, context, 0, WIRE_HELLO, &hello, sizeof hello);
}

/* The error of the context goes to the manager, which ends the run with it. */
static enum tutti_status tell_failure(tutti_context *context, struct serving *serving) {
  char why[1024];
  (void)snprintf(why, sizeof why, "%s", tutti_error_message(context));
  tutti_error_clear(context);
  if (serving->failed)
    return TUTTI_OK;
  serving->failed = true;
  return wire_send(serving->agent->wire, context, 0, WIRE_FAIL, why, strlen(why));
}

/* Workers write into the run's directory, so it has to be the manager's. */
static enum tutti_status look_at_directory(tutti_context *context, struct serving *serving) {
  const char *directory = serving->agent->setup.worker_command[2];
  char *path;
  if (serving->looked)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_format(context, &path, "%s/recipe.ini", directory));
  bool there = access(path, R_OK) == 0;
  int why = errno;
  tutti_free(path);
  serving->looked = true;
  if (there)
    return TUTTI_OK;
  return TUTTI_FAIL(
      context, TUTTI_ERROR_USAGE,
      "the run directory %s is not the manager's here (%s): workers of all nodes write into it, so it has "
      "to be on a file system that they share",
      directory, strerror(why));
}

static enum tutti_status begin(tutti_context *context, struct serving *serving, const struct wire_message *message) {
  struct agent *agent = serving->agent;
  struct wire_begin begin;
  TUTTI_TRY(context, wire_read(context, message, &begin, sizeof begin));
  agent->setup.capacity = (size_t)begin.capacity;
  agent->setup.memory_limit = begin.memory_limit;
  agent->setup.trial_timeout = begin.trial_timeout;
  crew_destroy(serving->crew);
  serving->crew = NULL;
  serving->held = 0;
  return crew_create(context, agent->config, &agent->setup, agent->device_count, agent->devices, &serving->crew);
}

static enum tutti_status pass_request(tutti_context *context, struct serving *serving,
                                      const struct wire_message *message) {
  struct wire_head head;
  TUTTI_TRY(context, wire_read(context, message, &head, sizeof head));
  TUTTI_TRY(context, look_at_directory(context, serving));
  serving->held++;
  return crew_submit(serving->crew, context, head.trial, message->bytes + sizeof head);
}

static enum tutti_status handle(tutti_context *context, struct serving *serving, const struct wire_message *message) {
  switch (message->tag) {
  case WIRE_BEGIN:
    return begin(context, serving, message);
  case WIRE_REQUEST:
    return serving->crew && !serving->failed ? pass_request(context, serving, message) : TUTTI_OK;
  case WIRE_REST:
  case WIRE_BYE:
    crew_destroy(serving->crew);
    serving->crew = NULL;
    serving->held = 0;
    serving->over = message->tag == WIRE_BYE;
    return TUTTI_OK;
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
      TUTTI_TRY(context, tell_failure(context, serving));
    if (serving->over)
      return TUTTI_OK;
  }
}

/* Replies of workers, waiting a little for the first. */
static enum tutti_status pass_replies(tutti_context *context, struct serving *serving, double timeout) {
  const struct agent *agent = serving->agent;
  for (;; timeout = 0) {
    struct tutti_reply reply = {.size = sizeof reply};
    enum tutti_status status = crew_wait(serving->crew, context, timeout, &reply);
    if (status != TUTTI_OK)
      return tell_failure(context, serving);
    if (reply.kind == TUTTI_REPLY_NONE)
      return TUTTI_OK;
    struct wire_head head = {
        .trial = reply.trial, .kind = (uint32_t)reply.kind, .worker = reply.worker, .seconds = reply.seconds};
    serving->held -= reply.kind != TUTTI_REPLY_PROGRESS;
    status = wire_send_text(agent->wire, context, 0, WIRE_REPLY, &head, reply.text);
    tutti_free(reply.text);
    TUTTI_TRY(context, status);
  }
}

enum tutti_status agent_serve(tutti_context *context, struct agent *agent) {
  static const double busy = 0.001, idle = 0.005;
  struct serving serving = {.agent = agent};
  enum tutti_status status = say_hello(context, agent);
  while (status == TUTTI_OK && !serving.over) {
    bool any = false;
    status = take_messages(context, &serving, &any);
    bool waits = serving.crew && serving.held > 0 && !serving.failed && !tutti_cancelled(context);
    if (status == TUTTI_OK && !serving.over && waits)
      status = pass_replies(context, &serving, any ? 0 : busy);
    else if (!any && !serving.over)
      wire_pause(idle); /* an interrupt is the manager's business: it says when the run is over */
  }
  crew_destroy(serving.crew);
  return status;
}
