/* executor.h - kind `executor`: where candidates are trained. It moves requests to workers and replies back. Both are
   texts that it does not look into. A worker is a process that speaks the frames of protocol.h on its descriptor 0, a
   socket, and first of all says READY or FATAL. */
#ifndef TUTTI_EXECUTOR_H
#define TUTTI_EXECUTOR_H

#include <tutti/descriptor.h>
#include <tutti/host.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_executor tutti_executor;

struct tutti_executor_setup {
  size_t size; /* these four: see struct tutti_setup (host.h) */
  const tutti_host *host;
  const struct tutti_task *task;
  uint64_t seed;
  size_t workers;                    /* processes that are wanted; >= 1 */
  size_t capacity;                   /* trials that one worker takes at once; >= 1 */
  double trial_timeout;              /* seconds; infinity: none */
  uint64_t memory_limit;             /* bytes of address space for each worker; 0: no limit */
  const char *const *worker_command; /* argv of a worker, NULL-terminated; lives as long as the instance */
};

enum tutti_reply_kind {
  TUTTI_REPLY_NONE,     /* the time is over, or a signal came */
  TUTTI_REPLY_DONE,     /* text: the worker's reply */
  TUTTI_REPLY_PROGRESS, /* text: the worker's report of an epoch */
  TUTTI_REPLY_LOST,     /* the worker crashed or was killed; text: why. A new worker is started. */
  TUTTI_REPLY_TIMED_OUT /* the trial took too long, and its worker was killed; text: how long was allowed */
};

struct tutti_reply {
  size_t size;
  enum tutti_reply_kind kind;
  uint64_t trial;
  char *text;      /* the caller frees it with tutti_free */
  uint32_t worker; /* number of the worker, from 0 */
  double seconds;  /* since the trial was handed to the worker */
};

struct tutti_executor_ops {
  size_t size; /* sizeof(struct tutti_executor_ops) */

  /* REQUIRED. How many trials it holds at once without queueing. */
  size_t (*capacity)(void *self);
  /* REQUIRED. Take a request, which is borrowed until return; it may queue. */
  enum tutti_status (*submit)(void *self, tutti_context *context, uint64_t trial, const char *request);
  /* REQUIRED. Wait for one reply, at most `timeout` seconds (< 0: without end; returns early, with NONE, when the
     context is cancelled). Every submitted trial gets exactly one DONE, LOST or TIMED_OUT. If a worker cannot start, or
     says FATAL, return an error with the worker's message. */
  enum tutti_status (*wait)(void *self, tutti_context *context, double timeout, struct tutti_reply *reply);
  /* OPTIONAL, without default. A descriptor that polls readable when `wait` would not block, or -1. */
  int (*descriptor)(void *self);
};

/* --- the host's side --- */

/* Make an instance of the executor plugin in `section` of the host; the caller destroys *executor. What is copied or
   borrowed, and the errors of every kind: struct tutti_setup (host.h). TUTTI_ERROR_INTERNAL also without workers,
   capacity or a worker command. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_executor_create(tutti_context *context, const tutti_host *host,
                                                                  const char *section,
                                                                  const struct tutti_executor_setup *setup,
                                                                  tutti_executor **executor);
/* End the workers, idle ones by closing their input and busy ones by a signal, and destroy it; NULL is allowed. */
TUTTI_API void tutti_executor_destroy(tutti_executor *executor);
/* The plugin's descriptor, valid for the life of the process. */
TUTTI_API const struct tutti_descriptor *tutti_executor_descriptor(const tutti_executor *executor);
/* How many trials it holds at once without queueing. */
TUTTI_API size_t tutti_executor_capacity(const tutti_executor *executor);
/* Hand over a request, which is borrowed until return; it may queue. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_executor_submit(tutti_context *context, tutti_executor *executor,
                                                                  uint64_t trial, const char *request);
/* Wait for one reply, at most `timeout` seconds (< 0: without end). *reply is overwritten; the caller frees reply->text
   with tutti_free. Kind TUTTI_REPLY_NONE: the time is over, a signal came, or the context is cancelled.
   TUTTI_ERROR_PLUGIN: a reply of no kind, or without a text. TUTTI_ERROR_INTERNAL: reply->size is not set. A worker that cannot start is an error with its
   message. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_executor_wait(tutti_context *context, tutti_executor *executor,
                                                                double timeout, struct tutti_reply *reply);

TUTTI_END_DECLS
#endif
