/* learning.h - small tasks and trainings for the tests of backends without networks. */
#ifndef LEARNING_H
#define LEARNING_H

#include <tutti/plugin.h>
#include <tutti/safetensors.h>

#define OK(call) assert_int_equal((call), TUTTI_OK)

/* A task, its rows, and the results of the last training; release with learning_end. */
struct learning {
  tutti_context *context;
  struct tutti_task task;
  tutti_split *train;
  struct tutti_job job;
  struct tutti_outcome outcome;
};

/* Begin with arrays that are copied: inputs[rows][features], and labels or targets[rows][outputs]. */
void learning_begin(struct learning *learning, enum tutti_op head, size_t rows, size_t features, size_t outputs,
                    const float *inputs, const int32_t *labels, const float *targets);
void learning_end(struct learning *learning);
/* Rows to predict. */
tutti_split *learning_points(const struct learning *learning, size_t rows, const float *inputs);
/* Forget the last outcome. */
void learning_again(struct learning *learning);
/* Write tensors to a file and read them back, as a run directory would keep them. */
tutti_tensors *learning_reload(const struct learning *learning, const tutti_tensors *tensors);
/* Are these the same tensors, bit by bit? */
bool learning_same(const tutti_tensors *one, const tutti_tensors *other);

#endif
