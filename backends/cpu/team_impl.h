/* team_impl.h - threads that share the work of a step (team.c). */
#ifndef BACKEND_CPU_TEAM_IMPL_H
#define BACKEND_CPU_TEAM_IMPL_H

#include "cpu_impl.h"

/* Work in parts, each of which may run on any thread and beside any other. */
struct cpu_work {
  size_t parts;
  void (*run)(void *argument, size_t part, float *pack); /* pack[CPU_LARGE_PACK]: the thread's own; see the caller's */
  void *argument;
};

/* Start threads - 1 of them, so that with the caller they are so many. They wait without using the processor. */
enum tutti_status backend_cpu_team_create(tutti_context *context, size_t threads, struct cpu_team **team);
/* End them; NULL is allowed. */
void backend_cpu_team_destroy(struct cpu_team *team);
/* Its threads, with the caller; team NULL: 1. */
size_t backend_cpu_team_threads(const struct cpu_team *team);
/* Run all parts, the caller's among them with `pack`, and return when all are done. Team NULL: the caller alone. */
void backend_cpu_team_run(struct cpu_team *team, const struct cpu_work *work, float *pack);

#endif
