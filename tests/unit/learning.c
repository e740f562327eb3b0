/* learning.c - small tasks and trainings for the tests of backends without networks. */
#include "learning.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <tutti/safetensors.h>
#include <unistd.h>

void learning_begin(struct learning *learning, enum tutti_op head, size_t rows, size_t features, size_t outputs,
                    const float *inputs, const int32_t *labels, const float *targets) {
  memset(learning, 0, sizeof *learning);
  learning->task = (struct tutti_task){.size = sizeof learning->task,
                                       .kind = labels ? TUTTI_TASK_CLASSIFICATION : TUTTI_TASK_REGRESSION,
                                       .input = {1, 1, (int32_t)features},
                                       .outputs = outputs,
                                       .train_rows = rows,
                                       .head = head};
  OK(tutti_context_create(&learning->context));
  OK(tutti_split_create(learning->context, "train", rows, learning->task.input, outputs, inputs, targets, labels,
                        &learning->train));
  learning->job =
      (struct tutti_job){.size = sizeof learning->job, .seed = 11, .task = &learning->task, .train = learning->train};
  learning->outcome.size = sizeof learning->outcome;
}

void learning_again(struct learning *learning) {
  tutti_tensors_destroy(learning->outcome.weights);
  learning->outcome = (struct tutti_outcome){.size = sizeof learning->outcome};
}

void learning_end(struct learning *learning) {
  learning_again(learning);
  tutti_split_destroy(learning->train);
  tutti_context_destroy(learning->context);
}

tutti_split *learning_points(const struct learning *learning, size_t rows, const float *inputs) {
  tutti_split *points;
  OK(tutti_split_create(learning->context, "points", rows, learning->task.input, learning->task.outputs, inputs, NULL,
                        NULL, &points));
  return points;
}

tutti_tensors *learning_reload(const struct learning *learning, const tutti_tensors *tensors) {
  char path[64];
  tutti_tensors *again;
  (void)snprintf(path, sizeof path, "learning-%ld.safetensors", (long)getpid());
  OK(tutti_tensors_write(learning->context, tensors, path));
  OK(tutti_tensors_read(learning->context, path, &again));
  (void)unlink(path);
  return again;
}

bool learning_same(const tutti_tensors *one, const tutti_tensors *other) {
  if (tutti_tensors_count(one) != tutti_tensors_count(other))
    return false;
  for (size_t i = 0; i < tutti_tensors_count(one); i++) {
    const struct tutti_tensor *a = tutti_tensors_at(one, i), *b = tutti_tensors_find(other, a->name);
    if (!b || a->bytes != b->bytes || (a->bytes > 0 && memcmp(a->data, b->data, a->bytes) != 0))
      return false;
  }
  return true;
}
