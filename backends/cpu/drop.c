/* drop.c - dropout of single numbers, of whole channels (Tompson et al., CVPR 2015), and of whole paths per example
   (Larsson et al., ICLR 2017). Masks hold 0 or 1 / (1 - rate), so predictions need no correction. */
#include "cpu_impl.h"

static size_t drop_padded(size_t count) { return (count + 15) / 16 * 16; }

/* The numbers that share one entry of the mask: 1 number, a channel of an image, or a whole example. */
enum drop_grain { DROP_NUMBERS, DROP_CHANNELS, DROP_PATHS };

static enum drop_grain drop_grain(const struct cpu_node *node) {
  if (node->op == TUTTI_OP_DROP_PATH)
    return DROP_PATHS;
  return node->attributes->spatial && node->pixels > 1 ? DROP_CHANNELS : DROP_NUMBERS;
}

/* One example: y (+)= x times row number `row` of the mask. */
static void drop_apply(const struct cpu_plan *plan, const struct cpu_node *node, size_t row, const float *x,
                       bool accumulate, float *y) {
  size_t size = node->pixels * node->ld;
  const float *mask = node->mask;
  switch (drop_grain(node)) {
  case DROP_NUMBERS:
    plan->kernels->multiply(size, x, mask + row * size, y, accumulate);
    break;
  case DROP_PATHS:
    for (size_t i = 0; i < size; i++)
      y[i] = (accumulate ? y[i] : 0) + mask[row] * x[i];
    break;
  case DROP_CHANNELS:
    mask += row * drop_padded(node->width);
    for (size_t p = 0; p < size; p += node->ld)
      for (size_t c = 0; c < node->ld; c++)
        y[p + c] = (accumulate ? y[p + c] : 0) + mask[c] * x[p + c];
    break;
  }
}

static size_t drop_count(const struct cpu_node *node, size_t rows) {
  switch (drop_grain(node)) {
  case DROP_PATHS:
    return rows;
  case DROP_CHANNELS:
    return rows * drop_padded(node->width);
  default:
    return rows * node->pixels * node->ld;
  }
}

void backend_cpu_drop_forward(struct cpu_plan *plan, struct cpu_node *node, size_t rows,
                              const struct cpu_draws *draws) {
  const struct cpu_attributes *attributes = node->attributes;
  bool scheduled = node->op == TUTTI_OP_DROP_PATH && attributes->scheduled;
  double progress = draws && scheduled ? draws->progress : 1, rate = attributes->rate * progress;
  bool one = draws && draws->one;
  size_t count = drop_padded(drop_count(node, one ? 1 : rows)), size = node->pixels * node->ld;
  if (!draws || !draws->drop || rate <= 0) {
    backend_cpu_view(plan, &node->edges[0], 0, rows, false, node->value);
    for (size_t i = 0; draws && i < count; i++)
      node->mask[i] = 1;
    return;
  }
  struct cpu_mask mask = {.key = draws->key,
                          .step = draws->step,
                          .layer = (uint32_t)(node - plan->nodes),
                          .threshold = (uint32_t)(rate * 4294967296.0),
                          .keep = (float)(1 / (1 - rate))};
  plan->kernels->mask(&mask, count, node->mask);
  for (size_t r = 0; r < rows; r++)
    drop_apply(plan, node, one ? 0 : r, backend_cpu_read(plan, &node->edges[0], r, 1), false, node->value + r * size);
}

void backend_cpu_drop_backward(struct cpu_plan *plan, struct cpu_node *node, size_t rows) {
  const struct cpu_edge *edge = &node->edges[0];
  size_t size = node->pixels * node->ld;
  for (size_t r = 0; r < rows; r++)
    drop_apply(plan, node, plan->slopes ? 0 : r, node->gradient + r * size, !edge->first,
               plan->nodes[edge->source].gradient + r * size);
}
