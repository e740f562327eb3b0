/* plan_impl.h - the part of backend cpu that backend cuda stands on, too: parameters, checks, the plan of a network
   before its arrays have places, and the lives of these arrays. Nothing here computes. */
#ifndef BACKEND_CPU_PLAN_IMPL_H
#define BACKEND_CPU_PLAN_IMPL_H

#include "cpu_impl.h"

/* --- parameters (params_impl.h, params.c) and checks (check.c) --- */

enum { CPU_PARAMS = 41 };
extern const struct tutti_param backend_cpu_params[CPU_PARAMS];

/* Does the network end in the head that the task asks for, with as many numbers? */
enum tutti_status backend_cpu_check_head(tutti_context *context, const struct tutti_job *job);
/* Has the split the network's inputs? */
enum tutti_status backend_cpu_check_split(tutti_context *context, const struct tutti_job *job,
                                          const tutti_split *split);
/* And targets or labels to train on? */
enum tutti_status backend_cpu_check_targets(tutti_context *context, const struct tutti_job *job,
                                            const tutti_split *split);
/* What a job trains on: rows, with targets; which layers are frozen; the box of artificial points, if it has one. */
enum tutti_status backend_cpu_check_data(tutti_context *context, const struct tutti_job *job);
/* How many of a table's features, the last ones, its networks do not read: all encodings with encodings = no, else 0.
   The check: only dense layers can leave inputs out. */
size_t backend_cpu_unread(const struct tutti_job *job);
enum tutti_status backend_cpu_check_encodings(tutti_context *context, const struct tutti_job *job);
/* What is said of a job that failed in this epoch: which number is no longer finite, its value, and what may help. */
void backend_cpu_say_diverged(const struct cpu_config *config, const struct tutti_epoch *epoch, const char *what,
                              double value, struct tutti_outcome *outcome);

/* --- artificial points (box.c) --- */

/* How many head-nomu adds to the rows of a step; 0 with other heads. */
size_t backend_cpu_artificial(const tutti_network *network);
/* The box that they are drawn from, box[2][features]: the job's, or that of the training rows, widened by the head's
   margin of its width on each side. */
enum tutti_status backend_cpu_box(tutti_context *context, const struct tutti_job *job, float *box);

/* --- plans without places (plan.c) --- */

/* What a plan is for besides predictions. */
struct cpu_purpose {
  bool gradients;
  bool half;                     /* values of images lie in 16 bits where they can */
  bool bfloat;                   /* products of training are in bfloat16 */
  size_t unread;                 /* the last so many features of a table, which the layers that read it leave out */
  const char *const *frozen;     /* labels of layers, ended by NULL; or NULL */
  const struct cpu_plan *slopes; /* of the predictions of this plan, whose weights it shares; or NULL */
};
/* Nodes, edges and segments of a network, for at most `rows` rows at once. Its arrays are not in memory yet, and it has
   no kernels. The caller destroys it. */
enum tutti_status backend_cpu_plan_describe(tutti_context *context, const tutti_network *network,
                                            const struct tutti_task *task, size_t rows,
                                            const struct cpu_purpose *purpose, struct cpu_plan **plan);

/* --- lives (lives.c) --- */

/* An array of a node: when it is needed, and its place. Node i works at time i forward, and at 2 nodes - 1 - i
   backward. */
struct cpu_array {
  void *to;                      /* a pointer to its first number */
  size_t size, birth, death, at; /* size and place in floats */
  bool used, far;                /* far: it is in another memory than those that are not */
};
/* Fill in the lives of all values[nodes], and, when training, gradients[nodes]. */
void backend_cpu_find_lives(const struct cpu_plan *plan, bool training, struct cpu_array *values,
                            struct cpu_array *gradients);
/* The node that stores the gradient of this one. */
size_t backend_cpu_gradient_of(const struct cpu_plan *plan, size_t node);
/* Put the arrays that are used into order[2 * nodes], the largest first; returns their number. */
size_t backend_cpu_order_arrays(const struct cpu_plan *plan, struct cpu_array *values, struct cpu_array *gradients,
                                struct cpu_array **order);
/* The lowest place from `floor` on where array k, that takes room(size), overlaps none of those before it that are in
   the same memory. */
size_t backend_cpu_lowest_place(struct cpu_array *const *order, size_t k, size_t floor, size_t (*room)(size_t size));
/* Does the activation keep its derivative in an array? */
bool backend_cpu_keeps_slope(const struct cpu_node *node);

#endif
