/* head.c - from the values of [head] to the head of a task. */
#include "head_impl.h"

#include <assert.h>
#include <string.h>

static void set_gaussian(const struct tutti_head_config *head, struct tutti_headed_task *task) {
  task->attributes[0] = (struct tutti_attribute){"scale", head->scale};
  task->attributes[1] = (struct tutti_attribute){"floor", head->floor};
  task->attributes[2] = (struct tutti_attribute){"variance", head->parametrisation == 1};
}

static void set_nomu(const struct tutti_head_config *head, struct tutti_headed_task *task) {
  const struct tutti_attribute attributes[] = {
      {"pi_sqr", head->pi_sqr},
      {"pi_exp", head->pi_exp},
      {"c_exp", head->c_exp},
      {"margin", head->margin},
      {"artificial", (double)head->artificial},
      {"stable", head->stable},
      {"l_min", head->l_min},
      {"l_max", head->l_max},
      {"noise", head->noise},
      {"scale", head->scale},
      {"floor", head->floor},
      {"variance", head->parametrisation == 1},
      {"known_noise", head->known_noise},
      {"through_noise", head->stop_gradient == TUTTI_STOP_NONE},
      {"bounds", head->bounds},
      {"readout", head->readout},
  };
  static_assert(sizeof attributes < sizeof task->attributes, "the last one stays NULL");
  memcpy(task->attributes, attributes, sizeof attributes);
  task->task.connection_gradient = head->stop_gradient == TUTTI_STOP_NONE;
  task->task.uncertainty_l2 = head->uncertainty_l2;
}

enum tutti_status tutti_head_set(tutti_context *context, const struct tutti_head_config *head,
                                 struct tutti_headed_task *task) {
  static const enum tutti_op ops[] = {[TUTTI_HEAD_SOFTMAX] = TUTTI_OP_HEAD_SOFTMAX,
                                      [TUTTI_HEAD_GAUSSIAN] = TUTTI_OP_HEAD_GAUSSIAN,
                                      [TUTTI_HEAD_LINEAR] = TUTTI_OP_HEAD_LINEAR,
                                      [TUTTI_HEAD_NOMU] = TUTTI_OP_HEAD_NOMU};
  bool classes = task->task.kind == TUTTI_TASK_CLASSIFICATION;
  int kind = head->kind != TUTTI_HEAD_AUTO ? head->kind : classes ? TUTTI_HEAD_SOFTMAX : TUTTI_HEAD_GAUSSIAN;
  if (classes != (kind == TUTTI_HEAD_SOFTMAX))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "head.kind: %s takes %s, and the task is %s",
                      classes ? "a gaussian, linear or nomu head" : "softmax", classes ? "numbers" : "classes",
                      tutti_task_name(task->task.kind));
  memset(task->attributes, 0, sizeof task->attributes);
  task->task.head = ops[kind];
  task->task.head_attributes = task->attributes;
  task->task.connection_gradient = false;
  task->task.uncertainty_l2 = 0;
  if (kind == TUTTI_HEAD_GAUSSIAN)
    set_gaussian(head, task);
  if (kind == TUTTI_HEAD_NOMU)
    set_nomu(head, task);
  return TUTTI_OK;
}
