/* cpu_images.c - images and a network for them. */
#include "cpu_images.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { PIXELS = CPU_IMAGES_SIZE * CPU_IMAGES_SIZE };

struct tutti_task images_task(void) {
  return (struct tutti_task){.size = sizeof(struct tutti_task),
                             .kind = TUTTI_TASK_CLASSIFICATION,
                             .input = {CPU_IMAGES_SIZE, CPU_IMAGES_SIZE, 3},
                             .outputs = CPU_IMAGES_CLASSES,
                             .train_rows = CPU_IMAGES,
                             .head = TUTTI_OP_HEAD_SOFTMAX};
}

tutti_split *images_make(const struct tutti_task *task) {
  float *x = calloc(CPU_IMAGES * PIXELS * 3, sizeof *x);
  int32_t labels[CPU_IMAGES];
  struct tutti_random random;
  tutti_split *split;
  tutti_random_init(&random, 8, "images", 0);
  tutti_random_fill_normal(&random, CPU_IMAGES * PIXELS * 3, 0, 0.5f, x);
  for (size_t r = 0; r < CPU_IMAGES; r++) {
    size_t at = tutti_random_below(&random, CPU_IMAGES_SIZE);
    labels[r] = (int32_t)(r % CPU_IMAGES_CLASSES);
    for (size_t i = 0; i < CPU_IMAGES_SIZE && labels[r] < 2; i++)
      x[(r * PIXELS + (labels[r] == 0 ? at * CPU_IMAGES_SIZE + i : i * CPU_IMAGES_SIZE + at)) * 3] += 1;
  }
  OK(tutti_split_create(context, "train", CPU_IMAGES, task->input, CPU_IMAGES_CLASSES, x, NULL, labels, &split));
  free(x);
  return split;
}

uint32_t images_conv(tutti_network *network, uint32_t input, int32_t units, int32_t kernel, int32_t groups) {
  struct attributes a = default_attributes();
  a.units = units;
  a.kernel_height = a.kernel_width = kernel;
  a.groups = groups;
  a.bias = units == 24;
  return OP_WITH(network, TUTTI_OP_CONV2D, &a, input);
}

static uint32_t relu(tutti_network *network, uint32_t input) {
  struct attributes a = default_attributes();
  a.activation = TUTTI_ACTIVATION_RELU;
  return OP_WITH(network, TUTTI_OP_ACTIVATION, &a, input);
}

tutti_network *images_network(const struct tutti_task *task, int32_t wide) {
  tutti_network *network = begin(task);
  struct attributes a = default_attributes();
  a.kernel_height = a.kernel_width = 3;
  a.units = wide;
  uint32_t stem = OP(network, TUTTI_OP_BATCH_NORM, images_conv(network, 0, wide, 3, 1));
  uint32_t across = images_conv(network, relu(network, stem), wide, 3, wide);
  uint32_t one = OP(network, TUTTI_OP_BATCH_NORM, images_conv(network, across, wide, 1, 1));
  uint32_t two =
      images_conv(network, OP(network, TUTTI_OP_BATCH_NORM, images_conv(network, one, wide, 3, 2)), wide, 1, 1);
  uint32_t most = OP_WITH(network, TUTTI_OP_MAX_POOL, &a, one);
  uint32_t mean = OP_WITH(network, TUTTI_OP_AVERAGE_POOL, &a, two);
  uint32_t sum = OP(network, TUTTI_OP_ADD, most, mean, stem);
  uint32_t again = OP(network, TUTTI_OP_BATCH_NORM, OP(network, TUTTI_OP_BATCH_NORM, sum));
  uint32_t parts = OP(network, TUTTI_OP_CONCAT, sum, again);
  uint32_t reduced = OP_WITH(network, TUTTI_OP_FACTORISED_REDUCE, &a, relu(network, parts));
  uint32_t in_place = relu(network, images_conv(network, reduced, wide, 1, 1)); /* floats */
  uint32_t both = OP(network, TUTTI_OP_MEAN, OP(network, TUTTI_OP_BATCH_NORM, reduced), reduced, in_place);
  uint32_t flat = OP(network, TUTTI_OP_FLATTEN, both);
  uint32_t last = OP(network, TUTTI_OP_CONCAT, OP(network, TUTTI_OP_GLOBAL_POOL, parts),
                     dense(network, flat, 5, TUTTI_ACTIVATION_TANH));
  OK(tutti_network_add_head(context, network, last, task));
  return network;
}
