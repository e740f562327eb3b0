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
  /* OPTIONAL. Seconds of the clock by which trainings take time, from some instant in the past; never set back. Without
     it: tutti_clock(), which it equals when the instance is made. */
  double (*clock)(void *self);
  /* OPTIONAL. What came of the workers, for people: a JSON object; the caller frees *json with tutti_free. Without it:
     nothing. */
  enum tutti_status (*describe)(void *self, tutti_context *context, char **json);
  /* OPTIONAL, for executors whose processes others start, all with the same command (mpirun). Called before anything
     else, in each of them: serve the manager until it has ended, and set *served; or leave it false, since this process
     is the manager. Without it: it is. An instance that serves is not asked for anything else; setup.capacity is 1, and
     counts for nothing. */
  enum tutti_status (*serve)(void *self, tutti_context *context, bool *served);
};

TUTTI_END_DECLS
#endif
