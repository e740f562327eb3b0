/* storage.c - values of images that lie in 16 bits (`storage = half`). A node computes some images in floats, in cache,
   and rounds them into their place. Forward and backward pass read what was stored, so that both see the same numbers:
   batch norm's mean is that of the rounded ones. Sums and products stay in floats. */
#include "cpu_impl.h"

bool backend_cpu_is_half(const struct cpu_plan *plan, const struct cpu_node *node) {
  return plan->trains && node->half;
}

static uint16_t *halves_of(const struct cpu_node *node, size_t image) {
  return (uint16_t *)(void *)node->value + image * backend_cpu_image(node);
}

const void *backend_cpu_values(const struct cpu_plan *plan, const struct cpu_node *node, size_t image) {
  if (backend_cpu_is_half(plan, node))
    return halves_of(node, image);
  return node->value + image * backend_cpu_image(node);
}

float *backend_cpu_values_begin(struct cpu_plan *plan, const struct cpu_node *node, size_t first) {
  return backend_cpu_is_half(plan, node) ? plan->scratch.values : node->value + first * backend_cpu_image(node);
}

void backend_cpu_values_end(struct cpu_plan *plan, const struct cpu_node *node, size_t first, size_t count,
                            float *values) {
  if (backend_cpu_is_half(plan, node))
    plan->kernels->narrow(count * backend_cpu_image(node), values, halves_of(node, first));
}

const float *backend_cpu_values_read(struct cpu_plan *plan, const struct cpu_node *node, size_t first, size_t count) {
  const struct cpu_affine same = {.half = true};
  if (!backend_cpu_is_half(plan, node))
    return node->value + first * backend_cpu_image(node);
  plan->kernels->affine(&same, count * backend_cpu_image(node), halves_of(node, first), false, plan->scratch.values);
  return plan->scratch.values;
}
