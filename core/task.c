/* task.c - how a network ends for a task. */
#include <tutti/task.h>

size_t tutti_task_head_width(const struct tutti_task *task) {
  return task->head == TUTTI_OP_HEAD_GAUSSIAN || task->head == TUTTI_OP_HEAD_NOMU ? 2 * task->outputs : task->outputs;
}

enum tutti_status tutti_network_add_head(tutti_context *context, tutti_network *network, uint32_t input,
                                         const struct tutti_task *task) {
  if (task->kind == TUTTI_TASK_VALUE)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "a task without data has no networks, and they have no head");
  if (task->head == TUTTI_OP_HEAD_NOMU)
    return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED,
                      "head-nomu has two inputs, from two networks; what trains NOMU adds it itself");
  size_t width = tutti_task_head_width(task);
  if (width > INT32_MAX)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%zu outputs are more than a network can have", task->outputs);
  uint32_t output;
  TUTTI_TRY(context, tutti_network_add_dense(context, network, "output", input, (int32_t)width, TUTTI_ACTIVATION_LINEAR,
                                             &output));
  TUTTI_TRY(context, tutti_network_add(context, network, task->head, "head", 1, &output, &task->head_attributes, NULL));
  return TUTTI_OK;
}
