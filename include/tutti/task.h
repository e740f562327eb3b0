/* task.h - the task of a run: its kind, the shapes of inputs and outputs, and the network's head. */
#ifndef TUTTI_TASK_H
#define TUTTI_TASK_H

#include <tutti/network.h>

TUTTI_BEGIN_DECLS

/* The kinds of task, TASK(constant, number, name): those with data, then all. A number is part of the ABI, and never
   changes. */
#define TUTTI_TASKS_WITH_DATA(TASK)                                                                                    \
  TASK(REGRESSION, 0, "regression")         /* `outputs` real targets */                                               \
  TASK(CLASSIFICATION, 1, "classification") /* `outputs` classes */
#define TUTTI_TASKS(TASK)                                                                                              \
  TUTTI_TASKS_WITH_DATA(TASK)                                                                                          \
  TASK(VALUE, 2, "value") /* no data: a backend gives each candidate a value to minimise */

/* TUTTI_TASK_REGRESSION, TUTTI_TASK_CLASSIFICATION, TUTTI_TASK_VALUE. */
#define TUTTI_TASK_CONSTANT(constant, number, name) TUTTI_TASK_##constant = number,
enum tutti_task_kind { TUTTI_TASKS(TUTTI_TASK_CONSTANT) };
#undef TUTTI_TASK_CONSTANT

/* "regression", "classification" or "value"; "unknown task" for other numbers. Static. */
TUTTI_API const char *tutti_task_name(enum tutti_task_kind kind);

/* Read-only to plugins. Grows only at the end; readers look at `size`. */
struct tutti_task {
  size_t size; /* sizeof(struct tutti_task) */
  enum tutti_task_kind kind;
  struct tutti_shape input;
  size_t outputs; /* targets, or classes; 0 for TUTTI_TASK_VALUE */
  size_t train_rows;
  enum tutti_op head; /* the head that networks shall end in */
  /* The head's attributes, ended by name NULL; NULL: all at their defaults. Owned by whoever made the task, and valid
     as long as it is. */
  const struct tutti_attribute *head_attributes;
  /* Of head-nomu, whose uncertainty has a network of its own that reads the last layer of the mean's: does its gradient
     go through there, and change the mean? */
  bool connection_gradient;
  double uncertainty_l2; /* L2 weight of the layers of that network; 0: as of other layers */
  /* The last so many features of a table say again, for networks, what numbers before them say (data.bins). Learners
     that need no such encoding may leave them out (tutti_task_plain_features). */
  size_t encodings;
};

/* The number of features without those that say again what others say: height * width * channels - encodings. */
TUTTI_API size_t tutti_task_plain_features(const struct tutti_task *task);

/* The width of the head's first input: classes; 2 * outputs for head-gaussian; outputs for head-linear and
   head-nomu. */
TUTTI_API size_t tutti_task_head_width(const struct tutti_task *task);

/* End a network as the task asks: add a dense projection "output" of layer `input`, then the head. For head-nomu all
   that leads to `input` is there twice: again, with labels "uncertainty/...", for the uncertainty, whose last layer
   also reads `input` (Heiss et al., ICML 2022, Figure 2). TUTTI_ERROR_USAGE: a task without data, what
   tutti_network_add refuses, or a batch norm below head-nomu, in which artificial points would mix with the data. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_network_add_head(tutti_context *context, tutti_network *network,
                                                                   uint32_t input, const struct tutti_task *task);
/* Likewise from layers inputs[count], count >= 1: the head reads the mean of their projections "output1", "output2",
   ... A single one is tutti_network_add_head. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_network_add_mean_head(tutti_context *context, tutti_network *network,
                                                                        size_t count, const uint32_t *inputs,
                                                                        const struct tutti_task *task);

TUTTI_END_DECLS
#endif
