/* task.c - names of tasks, and how a network ends for one. */
#include "task_impl.h"

#include <stdio.h>

const char *tutti_task_name(enum tutti_task_kind kind) {
#define NAME(constant, number, name) [number] = name,
  static const char *const names[] = {TUTTI_TASKS(NAME)};
  return (size_t)kind < sizeof names / sizeof names[0] ? names[kind] : "unknown task";
}

/* A task of an older version, which is shorter, has no encodings. */
size_t tutti_task_plain_features(const struct tutti_task *task) {
  size_t end = offsetof(struct tutti_task, encodings) + sizeof task->encodings;
  size_t features = (size_t)task->input.height * (size_t)task->input.width * (size_t)task->input.channels;
  return task->size >= end ? features - task->encodings : features;
}

size_t tutti_task_head_width(const struct tutti_task *task) {
  return task->head == TUTTI_OP_HEAD_GAUSSIAN ? 2 * task->outputs : task->outputs;
}

static enum tutti_status check_head(tutti_context *context, const struct tutti_task *task) {
  if (task->kind == TUTTI_TASK_VALUE)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "a task without data has no networks, and they have no head");
  if (tutti_task_head_width(task) > INT32_MAX)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%zu outputs are more than a network can have", task->outputs);
  return TUTTI_OK;
}

static enum tutti_status add_projection(tutti_context *context, tutti_network *network, const char *label,
                                        uint32_t input, const struct tutti_task *task, uint32_t *output) {
  return tutti_network_add_dense(context, network, label, input, (int32_t)tutti_task_head_width(task),
                                 TUTTI_ACTIVATION_LINEAR, output);
}

static enum tutti_status add_mean(tutti_context *context, tutti_network *network, size_t count, const uint32_t *inputs,
                                  const struct tutti_task *task, uint32_t *outputs, uint32_t *mean) {
  for (size_t i = 0; i < count; i++) {
    char label[32];
    (void)snprintf(label, sizeof label, "output%zu", i + 1);
    TUTTI_TRY(context, add_projection(context, network, label, inputs[i], task, &outputs[i]));
  }
  return tutti_network_add(context, network, TUTTI_OP_MEAN, "output", count, outputs, NULL, mean);
}

/* A task of an older version, which is shorter, has none. */
const struct tutti_attribute *tutti_task_head_attributes(const struct tutti_task *task) {
  size_t end = offsetof(struct tutti_task, head_attributes) + sizeof task->head_attributes;
  return task->size >= end ? task->head_attributes : NULL;
}

/* The head on the projection `output` of inputs[count]. */
static enum tutti_status add_head(tutti_context *context, tutti_network *network, size_t count, const uint32_t *inputs,
                                  uint32_t output, const struct tutti_task *task) {
  if (task->head == TUTTI_OP_HEAD_NOMU)
    return tutti_network_add_nomu(context, network, count, inputs, output, task);
  return tutti_network_add(context, network, task->head, "head", 1, &output, tutti_task_head_attributes(task), NULL);
}

enum tutti_status tutti_network_add_head(tutti_context *context, tutti_network *network, uint32_t input,
                                         const struct tutti_task *task) {
  uint32_t output;
  TUTTI_TRY(context, check_head(context, task));
  TUTTI_TRY(context, add_projection(context, network, "output", input, task, &output));
  return add_head(context, network, 1, &input, output, task);
}

enum tutti_status tutti_network_add_mean_head(tutti_context *context, tutti_network *network, size_t count,
                                              const uint32_t *inputs, const struct tutti_task *task) {
  uint32_t *outputs = NULL, mean = 0;
  if (count == 1)
    return tutti_network_add_head(context, network, inputs[0], task);
  TUTTI_TRY(context, check_head(context, task));
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof *outputs, &outputs));
  enum tutti_status status = add_mean(context, network, count, inputs, task, outputs, &mean);
  tutti_free(outputs);
  TUTTI_TRY(context, status);
  return add_head(context, network, count, inputs, mean, task);
}
