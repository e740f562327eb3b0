/* test_cpu_memory.c - arrays of a step share places, so each begins with what another left there. Nothing of that may
   reach a loss or a gradient: not by the floats behind an image's channels or a row's features, which kernels compute
   with as well, nor by sums that begin with what is there. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backends/cpu/plan_impl.h"
#include "cpu_check.h"
#include "cpu_images.h"
#include "golden.h"

enum { NETWORKS = 2000, ROWS = 5, CLASSES = 3 };

static struct tutti_random draws;

static size_t below(size_t n) { return (size_t)tutti_random_below(&draws, (uint32_t)n); }

/* --- random networks --- */

static struct attributes window(int32_t kernel, int32_t stride) {
  struct attributes a = default_attributes();
  a.kernel_height = a.kernel_width = kernel;
  a.stride = stride;
  a.dilation = stride == 1 && below(4) == 0 ? 2 : 1;
  a.units = 1 + (int32_t)below(20);
  a.bias = below(2) == 1;
  return a;
}

/* One more layer of images. */
static uint32_t image_layer(tutti_network *network, uint32_t input) {
  const int32_t channels = tutti_network_layer(network, input)->shape.channels;
  struct attributes a = window(1 + 2 * (int32_t)below(3), 1 + (int32_t)below(2));
  switch (below(10)) {
  case 0:
    return OP_WITH(network, TUTTI_OP_MAX_POOL, &a, input);
  case 1:
    return OP_WITH(network, TUTTI_OP_AVERAGE_POOL, &a, input);
  case 2:
    a.units = a.groups = channels;
    return OP_WITH(network, TUTTI_OP_CONV2D, &a, input);
  case 3:
    a.units = a.groups = channels;
    a.activation = TUTTI_ACTIVATION_SIGMOID; /* not 0 behind the channels */
    return OP_WITH(network, TUTTI_OP_ACTIVATION, &a, OP_WITH(network, TUTTI_OP_CONV2D, &a, input));
  case 4:
    a.groups = channels % 2 ? 1 : 2;
    a.units += a.units % a.groups;
    return OP_WITH(network, TUTTI_OP_CONV2D, &a, input);
  case 5:
    return OP(network, TUTTI_OP_BATCH_NORM, OP_WITH(network, TUTTI_OP_CONV2D, &a, input));
  case 6:
    a.activation = TUTTI_ACTIVATION_CRELU;
    return OP_WITH(network, TUTTI_OP_ACTIVATION, &a, input);
  case 7:
    a.kernel_height = a.kernel_width = a.stride = a.dilation = 1;
    return OP(network, TUTTI_OP_CONCAT, input, OP_WITH(network, TUTTI_OP_CONV2D, &a, input));
  case 8:
    a.units += 1;
    return OP_WITH(network, TUTTI_OP_FACTORISED_REDUCE, &a, input);
  default:
    return OP(network, TUTTI_OP_ADD, input, OP(network, TUTTI_OP_BATCH_NORM, input));
  }
}

/* Some layers of images, then of their means, or of all their numbers, as a table. */
static tutti_network *random_network(const struct tutti_task *task) {
  tutti_network *network = begin(task);
  uint32_t last = 0;
  for (size_t layers = 1 + below(6); layers > 0; layers--)
    last = image_layer(network, last);
  last = OP(network, below(2) ? TUTTI_OP_GLOBAL_POOL : TUTTI_OP_FLATTEN, last);
  if (below(2))
    last = OP(network, TUTTI_OP_CONCAT, last, dense(network, last, 1 + (int32_t)below(40), TUTTI_ACTIVATION_TANH));
  if (below(3) == 0) {
    struct attributes a = default_attributes();
    a.activation = TUTTI_ACTIVATION_CRELU;
    last = OP_WITH(network, TUTTI_OP_ACTIVATION, &a, last);
  }
  OK(tutti_network_add_head(context, network, last, task));
  return network;
}

static tutti_split *random_rows(const struct tutti_task *task) {
  const size_t numbers =
      (size_t)task->input.height * (size_t)task->input.width * (size_t)task->input.channels * task->train_rows;
  float *x = malloc(numbers * sizeof *x);
  int32_t labels[ROWS];
  tutti_split *split;
  assert_non_null(x);
  tutti_random_fill_normal(&draws, numbers, 0, 1, x);
  for (size_t r = 0; r < ROWS; r++)
    labels[r] = (int32_t)below(task->outputs);
  OK(tutti_split_create(context, "train", ROWS, task->input, task->outputs, x, NULL, labels, &split));
  free(x);
  return split;
}

/* --- what lies there --- */

/* Values and gradients of all nodes. */
static void fill(struct cpu_plan *plan, float with) {
  for (size_t i = 0; i < plan->node_count; i++) {
    const struct cpu_node *node = &plan->nodes[i];
    const size_t count = plan->rows * node->pixels * node->ld;
    for (size_t k = 0; k < (node->half ? count / 2 : count) && node->value && !node->lazy; k++)
      node->value[k] = with;
    for (size_t k = 0; k < count && node->gradient; k++)
      node->gradient[k] = with;
  }
}

/* Weights behind the columns of a layer stay 0, and so clipping and L2 know nothing of them. */
static void require_zeros(const struct cpu_plan *plan, size_t network) {
  for (size_t s = 0; s < plan->segment_count; s++) {
    const struct cpu_segment *segment = &plan->segments[s];
    if (!segment->trained)
      continue;
    for (size_t r = 0; r < segment->rows; r++)
      for (size_t c = segment->columns; c < segment->ld; c++)
        if (plan->gradients[segment->offset + r * segment->ld + c] != 0)
          fail_msg("network %zu: the gradient behind the columns of %s %s is %g", network, segment->layer->label,
                   segment->part, (double)plan->gradients[segment->offset + r * segment->ld + c]);
  }
}

static void check(size_t number, const struct cpu_config *config) {
  const struct tutti_task task = {.size = sizeof task,
                                  .kind = TUTTI_TASK_CLASSIFICATION,
                                  .input = {3 + (int32_t)below(7), 3 + (int32_t)below(7), 1 + (int32_t)below(10)},
                                  .outputs = CLASSES,
                                  .train_rows = ROWS,
                                  .head = TUTTI_OP_HEAD_SOFTMAX};
  tutti_network *network = random_network(&task);
  tutti_split *split = random_rows(&task);
  struct cpu_plan *plan = plan_to_train(network, &task, tutti_cpu_detect(), config);
  const float before[] = {0, 1, NAN};
  float *wanted = malloc(plan->trained * sizeof *wanted);
  double first = 0;
  assert_non_null(wanted);
  for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
    fill(plan, before[i]);
    double loss = pass_all(plan, split);
    if (i == 0) {
      first = loss;
      memcpy(wanted, plan->gradients, plan->trained * sizeof *wanted);
    }
    if (memcmp(&loss, &first, sizeof loss) != 0)
      fail_msg("network %zu: the loss is %.9g, and %.9g where %g lay in memory", number, first, loss,
               (double)before[i]);
    for (size_t k = 0; k < plan->trained; k++)
      if (memcmp(&wanted[k], &plan->gradients[k], sizeof *wanted) != 0)
        fail_msg("network %zu: gradient %zu is %.9g, and %.9g where %g lay in memory", number, k, (double)wanted[k],
                 (double)plan->gradients[k], (double)before[i]);
    require_zeros(plan, number);
  }
  free(wanted);
  backend_cpu_plan_destroy(plan);
  tutti_split_destroy(split);
  tutti_network_destroy(network);
}

static void test_what_lay_in_memory_changes_nothing(void **state) {
  (void)state;
  struct cpu_config config = make_config();
  for (size_t i = 0; i < NETWORKS; i++) {
    tutti_random_init(&draws, 7, "networks", i);
    config.storage = i % 3 == 1 ? CPU_STORAGE_HALF : CPU_STORAGE_FLOAT;
    config.precision = i % 3 == 2 ? CPU_BFLOAT16 : CPU_FLOAT32;
    check(i, &config);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_what_lay_in_memory_changes_nothing)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
