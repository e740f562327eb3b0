/* many_impl.h - jobs side by side (many.c). */
#ifndef BACKEND_CPU_MANY_IMPL_H
#define BACKEND_CPU_MANY_IMPL_H

#include <tutti/plugin.h>
#include <tutti/sized.h>

/* What train_many is given, and how one job is trained: on any thread, with that thread's context. */
struct cpu_many {
  void *self;
  enum tutti_status (*train)(void *self, tutti_context *context, const struct tutti_job *job,
                             struct tutti_outcome *outcome);
  size_t count;
  const struct tutti_job *const *jobs;
  struct tutti_outcome *const *outcomes;
  void (*done)(void *argument, size_t index);
  void *argument;
};

/* Train all on as many threads as the context allows, with the outcomes, errors and callbacks of training them in
   order; only `done` may come in another order. After an error no further job is begun. */
enum tutti_status backend_cpu_many(tutti_context *context, const struct cpu_many *work);

#endif
