/* crew_impl.h - a worker process: how it is started (crew_process.c), and what the crew knows of it (crew.c). */
#ifndef SHARED_CREW_IMPL_H
#define SHARED_CREW_IMPL_H

#include "crew.h"

#include <sched.h>
#include <sys/types.h>
#include <tutti/protocol.h>

/* A request that is waiting, or that a worker is training. */
struct crew_task {
  uint64_t trial;
  char *request; /* NULL once it was handed over */
  double since;  /* when it was */
  struct crew_task *next;
};

/* The environment of workers: the entries, and a place before their end for one that differs between workers. */
struct crew_environment {
  char **entries; /* [count], a free place, NULL */
  size_t count;
};

struct crew_process {
  pid_t pid; /* 0: not running */
  int socket;
  tutti_frames *frames;
};

/* The environment of this process with the thread counts set and, unless the user chose one, OpenBLAS's kernels. Free
   its parts with crew_environment_release, also after a failure. */
TUTTI_NODISCARD enum tutti_status crew_environment_make(tutti_context *context, const struct crew_config *config,
                                                        struct crew_environment *environment);
void crew_environment_release(struct crew_environment *environment);
/* Has each of so many workers cores of its own, if the config wants that? TUTTI_ERROR_USAGE: no. */
TUTTI_NODISCARD enum tutti_status crew_cores_check(tutti_context *context, const struct crew_config *config,
                                                   size_t workers);
/* Bind this thread to a worker's cores, which a process inherits that it starts; *before is for crew_cores_leave, which
   takes it back. Both do nothing if the config binds nothing. */
TUTTI_NODISCARD enum tutti_status crew_cores_enter(tutti_context *context, const struct crew_config *config,
                                                   size_t worker, cpu_set_t *before);
void crew_cores_leave(const cpu_set_t *before);
/* Start a worker. own: an entry of the environment for this one alone, borrowed until return; NULL: none. */
TUTTI_NODISCARD enum tutti_status crew_process_start(tutti_context *context, const struct tutti_executor_setup *setup,
                                                     const struct crew_environment *environment, const char *own,
                                                     struct crew_process *process);
/* Forget a worker. Its process has ended or gets `signal_number` (0: it may end in its own time). Returns how it ended,
   as waitpid says it. */
int crew_process_end(struct crew_process *process, int signal_number);

#endif
