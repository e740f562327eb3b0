/* drop.c - dropout of single numbers, of whole channels (Tompson et al., CVPR 2015) and of whole paths, an example at a
   time (Larsson et al., ICLR 2017). Masks hold 0 or 1 / (1 - rate), so that predictions need no correction. */
#include "cpu_impl.h"

#include <string.h>

static size_t drop_padded(size_t count) { return (count + 15) / 16 * 16; }

/* What one number of the mask stands for: 1 number, a channel of an image, or all of an example. */
enum drop_grain { DROP_NUMBERS, DROP_CHANNELS, DROP_PATHS };

static enum drop_grain drop_grain(const struct cpu_node *node) {
  if (node->op == TUTTI_OP_DROP_PATH)
    return DROP_PATHS;
  return node->layer->attributes.spatial && node->pixels > 1 ? DROP_CHANNELS : DROP_NUMBERS;
}

/* y (+)= x times the mask. */
static void drop_apply(const struct cpu_plan *plan, const struct cpu_node *node, size_t rows, const float *x,
                       bool accumulate, float *y) {
  enum drop_grain grain = drop_grain(node);
  size_t size = node->pixels * node->ld, channels = drop_padded(node->width);
  if (grain == DROP_NUMBERS) {
    plan->kernels->multiply(rows * size, x, node->mask, y, accumulate);
    return;
  }
  float ones[16], none[16] = {0};
  for (size_t r = 0; r < rows; r++) {
    if (grain == DROP_PATHS) {
      for (size_t i = 0; i < 16; i++)
        ones[i] = node->mask[r];
      plan->kernels->affine(size, 16, x + r * size, ones, none, accumulate, y + r * size);
      continue;
    }
    for (size_t p = 0; p < node->pixels; p++) {
      const float *from = x + r * size + p * node->ld, *mask = node->mask + r * channels;
      float *to = y + r * size + p * node->ld;
      for (size_t c = 0; c < node->ld; c++)
        to[c] = (accumulate ? to[c] : 0) + mask[c] * from[c];
    }
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
  const struct cpu_node *source = &plan->nodes[node->edges[0].source];
  const struct tutti_attributes *attributes = &node->layer->attributes;
  bool scheduled = node->op == TUTTI_OP_DROP_PATH && attributes->scheduled && draws;
  double rate = attributes->rate * (scheduled ? draws->progress : 1);
  size_t count = drop_padded(drop_count(node, rows));
  if (!draws || !draws->drop || rate <= 0) {
    memcpy(node->value, source->value, rows * node->pixels * node->ld * sizeof(float));
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
  drop_apply(plan, node, rows, source->value, false, node->value);
}

void backend_cpu_drop_backward(struct cpu_plan *plan, struct cpu_node *node, size_t rows) {
  const struct cpu_edge *edge = &node->edges[0];
  drop_apply(plan, node, rows, node->gradient, !edge->first, plan->nodes[edge->source].gradient);
}
