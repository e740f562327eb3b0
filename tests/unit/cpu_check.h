/* cpu_check.h - holds backend cpu's loss, gradients and predictions for a network, on every instruction set that this
   machine has, against the reference in double precision and its finite differences. */
#ifndef CPU_CHECK_H
#define CPU_CHECK_H

#include "backends/cpu/cpu_impl.h"
#include "tests/attributes.h"

extern tutti_context *context;
int set_up(void **state);
int tear_down(void **state);

#define OK(call)                                                                                                       \
  do {                                                                                                                 \
    if ((call) != TUTTI_OK)                                                                                            \
      fail_msg("%s", tutti_error_message(context));                                                                    \
  } while (0)

struct cpu_config make_config(void);
/* A plan to train a network with, for task->train_rows rows at once, with the weights that are drawn for it. */
struct cpu_plan *plan_to_train(const tutti_network *network, const struct tutti_task *task, enum tutti_cpu cpu,
                               const struct cpu_config *config);
/* All rows of a split go into it; and through it, forward and backward: the loss. */
void gather_all(struct cpu_plan *plan, const tutti_split *split);
double pass_all(struct cpu_plan *plan, const tutti_split *split);
/* Check a whole network on task->train_rows random rows. */
void check_network(const tutti_network *network, const struct tutti_task *task);

/* Train it on them by SGD for some steps: at each, the loss and the gradient's product with a random direction. */
void check_training(const tutti_network *network, const struct tutti_task *task, size_t steps);

/* Build one: its input; dense layers; an op with the attributes of op_attributes; its head, then check it. */
tutti_network *begin(const struct tutti_task *task);
uint32_t dense(tutti_network *network, uint32_t input, int32_t units, enum tutti_activation activation);
struct attributes op_attributes(void); /* rate 0.4, activation crelu */
uint32_t op(tutti_network *network, enum tutti_op what, size_t count, const uint32_t *inputs,
            const struct attributes *attributes);
void end(tutti_network *network, uint32_t input, const struct tutti_task *task);

#define OP_WITH(network, what, attributes, ...)                                                                        \
  op(network, what, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), (uint32_t[]){__VA_ARGS__}, attributes)
#define OP(network, what, ...) OP_WITH(network, what, NULL, __VA_ARGS__)

#endif
