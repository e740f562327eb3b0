/* task_impl.h - tasks in messages; how networks end: what task.c and task_nomu.c share. */
#ifndef TUTTI_TASK_IMPL_H
#define TUTTI_TASK_IMPL_H

#include <tutti/task.h>

/* The kind in a sentence, as after "not defined for". */
static inline const char *tutti_task_in_words(enum tutti_task_kind kind) {
  return kind == TUTTI_TASK_VALUE ? "a task without data" : tutti_task_name(kind);
}

/* The head's attributes, ended by name NULL; NULL: all at their defaults. */
const struct tutti_attribute *tutti_task_head_attributes(const struct tutti_task *task);
/* Add the uncertainty's network beside what leads to inputs[count], whose projection `mean` is, then head-nomu. */
TUTTI_NODISCARD enum tutti_status tutti_network_add_nomu(tutti_context *context, tutti_network *network, size_t count,
                                                         const uint32_t *inputs, uint32_t mean,
                                                         const struct tutti_task *task);

#endif
