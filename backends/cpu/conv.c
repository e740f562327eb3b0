/* conv.c - convolutions, some images at a time, each by its form: pointwise.c, depthwise.c, patches.c, groups.c. */
#include "cpu_impl.h"

#include <string.h>

static void conv_forward(struct cpu_plan *plan, const struct cpu_node *node, size_t first, size_t count, float *y) {
  if (node->form == CPU_POINTWISE)
    backend_cpu_pointwise_forward(plan, node, first, count, y);
  else if (node->form == CPU_DEPTHWISE)
    backend_cpu_depthwise_forward(plan, node, first, count, y);
  else
    for (size_t i = 0; i < count; i++, y += backend_cpu_image(node))
      if (node->form == CPU_PATCHES)
        backend_cpu_patches_forward(plan, node, first + i, y);
      else
        backend_cpu_groups_forward(plan, node, first + i, y);
}

/* Data that all images need. */
static void conv_begin(struct cpu_plan *plan, const struct cpu_node *node, size_t images, bool backward) {
  if (node->form == CPU_POINTWISE) {
    backend_cpu_pointwise_begin(plan, node, images, backward);
  } else if (node->form == CPU_DEPTHWISE) {
    backend_cpu_depthwise_begin(plan, node, images, backward);
  } else if (node->form == CPU_GROUPED) {
    backend_cpu_groups_begin(plan, node, backward);
  } else {
    struct cpu_affine view;
    struct cpu_pad pad = backend_cpu_pad_of(plan, node, &view);
    backend_cpu_frame(&pad, 1, plan->scratch.padded);
  }
}

void backend_cpu_conv_forward(struct cpu_plan *plan, struct cpu_node *node, size_t rows, bool training) {
  size_t block = backend_cpu_block(plan, node);
  conv_begin(plan, node, block, false);
  if (node->form == CPU_DEPTHWISE && node->pixels == 1) /* as in pools */
    backend_cpu_clear_padding(node, rows, node->value);
  for (size_t first = 0; first < rows; first += block) {
    size_t count = rows - first < block ? rows - first : block;
    backend_cpu_fetch_next(plan, node, first, count, rows, false);
    float *y = backend_cpu_values_begin(plan, node, first);
    conv_forward(plan, node, first, count, y);
    backend_cpu_values_end(plan, node, first, count, y);
    if (training && node->norm != CPU_NONE)
      backend_cpu_norm_gather(plan, &plan->nodes[node->norm], y, count * node->pixels);
  }
}

static void conv_backward(struct cpu_plan *plan, struct cpu_node *node, size_t first, size_t count) {
  const struct cpu_edge *edge = &node->edges[0];
  const struct cpu_node *source = &plan->nodes[edge->source];
  const float *g = backend_cpu_read_gradient(plan, node, first, count);
  if (node->bias != CPU_NONE) {
    plan->kernels->column_sums(count * node->pixels, backend_cpu_columns(node), g, node->ld, plan->scratch.row);
    plan->kernels->add(backend_cpu_columns(node), plan->scratch.row, plan->gradients + node->bias);
  }
  if (node->form == CPU_POINTWISE) {
    backend_cpu_pointwise_backward(plan, node, first, count, g);
    return;
  }
  if (node->form == CPU_DEPTHWISE) {
    backend_cpu_depthwise_read(plan, node, first, count);
    backend_cpu_depthwise_spread(plan, node, count, g);
    backend_cpu_depthwise_backward(plan, node, first, count);
    return;
  }
  for (size_t i = 0; i < count; i++, g += backend_cpu_image(node)) {
    float *to = edge->gradient ? source->gradient + (first + i) * backend_cpu_image(source) : NULL;
    if (node->form == CPU_PATCHES)
      backend_cpu_patches_backward(plan, node, first + i, g, to);
    else
      backend_cpu_groups_backward(plan, node, first + i, g, to);
  }
}

static void clear_gradients(struct cpu_plan *plan, const struct cpu_node *node) {
  const struct cpu_segment *segment = &plan->segments[node->segment];
  memset(plan->gradients + node->weight, 0, segment->rows * segment->ld * sizeof(float));
  if (node->bias != CPU_NONE)
    memset(plan->gradients + node->bias, 0, segment->ld * sizeof(float));
}

void backend_cpu_conv_backward(struct cpu_plan *plan, struct cpu_node *node, size_t rows) {
  const struct cpu_node *source = &plan->nodes[node->edges[0].source];
  size_t block = backend_cpu_block(plan, node);
  clear_gradients(plan, node);
  if (source->through)
    clear_gradients(plan, source);
  conv_begin(plan, node, block, true);
  for (size_t first = 0; first < rows; first += block) {
    size_t count = rows - first < block ? rows - first : block;
    backend_cpu_fetch_next(plan, node, first, count, rows, true);
    conv_backward(plan, node, first, count);
    for (size_t e = 0; e < node->edge_count; e++)
      backend_cpu_norm_gather_gradient(plan, source->through ? &source->edges[0] : &node->edges[e], first, count);
  }
  if (node->form == CPU_GROUPED)
    backend_cpu_groups_end(plan, node);
}
