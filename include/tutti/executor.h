/* executor.h - kind `executor`: where candidates are trained. It moves requests to workers and replies back. Both are
   texts that it does not look into. A worker is a process that speaks the frames of protocol.h on its descriptor 0, a
   socket, and first of all says READY or FATAL. It finds files in the run's directory, and writes there; struct
   tutti_staging is for those that do not see it. */
#ifndef TUTTI_EXECUTOR_H
#define TUTTI_EXECUTOR_H

#include <tutti/descriptor.h>
#include <tutti/host.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_executor tutti_executor;

/* A file that workers read. */
struct tutti_staged_file {
  size_t size;
  const char *name; /* where a worker looks for it, relative to the directory that it is started with */
  const char *path; /* where it is on the manager's machine; NULL: it is made of `text` */
  const char *text;
};

/* A piece of a file that the worker of a trial has written. */
struct tutti_staged_piece {
  size_t size;
  uint64_t trial;
  const char *name;       /* of the file, in the trial's folder */
  uint64_t offset, total; /* where the piece begins; bytes of the whole file */
  const void *bytes;      /* [count] */
  size_t count;
};

typedef enum tutti_status tutti_visit_staged(void *visitor, tutti_context *context,
                                             const struct tutti_staged_file *file);

/* The files of workers that do not see the run's directory: what has to get to them, and what back. Such a worker is
   started with another directory in place of the run's, in which the files that it reads lie already. Names in it are
   relative, with "/" between folders. Called by one thread at a time, with `argument` first. */
struct tutti_staging {
  size_t size;
  void *argument;
  const char *log; /* the file to which workers append what is printed there */
  /* Visit all files that any worker of the run reads. May be called from the first submit on. */
  enum tutti_status (*visit)(void *argument, tutti_context *context, tutti_visit_staged *visit, void *visitor);
  /* The folder that the worker of a trial writes; there is none of a trial without files. Free *folder with
     tutti_free. Agents may call it, too. */
  enum tutti_status (*folder)(void *argument, tutti_context *context, uint64_t trial, char **folder);
  /* Store a piece of a file in the run's directory. The pieces of a file come in their order, each once; a first one
     begins the file anew. TUTTI_ERROR_FULL: there is no room. TUTTI_ERROR_CORRUPT: that is no file of a trial, or the
     piece does not follow the one before. */
  enum tutti_status (*store)(void *argument, tutti_context *context, const struct tutti_staged_piece *piece);
  /* All files of a trial are stored: compare them with those that its reply, of kind DONE, tells of, and make them
     durable. Only then may that be handed on. *why (free with tutti_free) says what differs, and is NULL if nothing
     does: a trial whose files are not there is LOST. */
  enum tutti_status (*settle)(void *argument, tutti_context *context, uint64_t trial, const char *reply, char **why);
  /* The files of a trial have not come whole: forget what is stored of them. */
  void (*drop)(void *argument, tutti_context *context, uint64_t trial);
  /* Append bytes of a worker's log to the run's. */
  enum tutti_status (*note)(void *argument, tutti_context *context, const char *bytes, size_t count);
  /* Visit the files that only the worker of this trial reads, whose names are in the trial's folder: they have to be
     there before it gets the request, each time that it does. The worker removes them. */
  enum tutti_status (*visit_trial)(void *argument, tutti_context *context, uint64_t trial, const char *request,
                                   tutti_visit_staged *visit, void *visitor);
};

struct tutti_executor_setup {
  size_t size; /* these four: see struct tutti_setup (host.h) */
  const tutti_host *host;
  const struct tutti_task *task;
  uint64_t seed;
  size_t workers;                      /* processes that are wanted; >= 1 */
  size_t capacity;                     /* trials that one worker takes at once; >= 1 */
  double trial_timeout;                /* seconds; infinity: none */
  uint64_t memory_limit;               /* bytes of address space for each worker; 0: no limit */
  const char *const *worker_command;   /* argv of a worker, NULL-terminated; lives as long as the instance */
  const char *directory;               /* the run's, one of the texts of worker_command */
  const struct tutti_staging *staging; /* lives as long as the instance; NULL: all workers see that directory */
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
  char *text;        /* the caller frees it with tutti_free */
  uint32_t worker;   /* number of the worker, from 0 */
  double seconds;    /* since the trial was handed to the worker */
  const char *place; /* of the worker, for people; lives as long as the instance; NULL: this machine */
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
  /* OPTIONAL. Hand the text on to the worker that trains this trial, in a frame of kind STOP: the trial's reply comes
     as ever, and early if its backend reports epochs. MAY do nothing if no worker trains it yet. Without it: nothing is
     stopped. */
  enum tutti_status (*stop)(void *self, tutti_context *context, uint64_t trial, const char *text);
  /* OPTIONAL. End a training without its worker's consent: a request that waits is taken out of the queue, and a worker
     that trains it is killed and replaced. The trial's reply comes as ever: LOST, or what its worker had said before.
     MAY do nothing if the trial is on its way to a worker: it is called again, about every second. Without it:
     trainings end by themselves. */
  enum tutti_status (*end)(void *self, tutti_context *context, uint64_t trial);
};

TUTTI_END_DECLS
#endif
