/* head_impl.h - the head of a task, as [head] says it; for engine/ alone. */
#ifndef TUTTI_HEAD_IMPL_H
#define TUTTI_HEAD_IMPL_H

#include <tutti/task.h>

#include "engine/data/config_impl.h"

/* A task, which points to its head's attributes: not to be moved once it has a head. */
struct tutti_headed_task {
  struct tutti_task task;
  struct tutti_attribute attributes[20]; /* one with name NULL ends them */
};

/* Give a task, which has its kind and shapes, this head. TUTTI_ERROR_USAGE: the head does not fit it. */
TUTTI_NODISCARD enum tutti_status tutti_head_set(tutti_context *context, const struct tutti_head_config *head,
                                                 struct tutti_headed_task *task);

#endif
