/* conv.c - convolutions, some images at a time. Pointwise ones are in pointwise.c, depthwise ones in depthwise.c, and
   those as products of patches in patches.c; here are those in groups of several channels, number by number. */
#include "cpu_impl.h"

#include <string.h>

/* --- groups --- */

/* Call body for each output number of an image, with the first channel of its group and the place of its window. */
struct grouped {
  size_t in_group, out_group, ld, unit, channel, at, out;
};

static bool grouped_next(const struct cpu_node *node, struct grouped *g) {
  const struct cpu_window *w = &node->window;
  if (++g->unit == node->width) {
    g->unit = 0;
    g->out++;
  }
  g->channel = g->unit / g->out_group * g->in_group;
  g->at = (g->out / w->out_width * w->padded_width + g->out % w->out_width) * w->stride * w->ld + g->channel;
  return g->out < node->pixels;
}

static struct grouped grouped_begin(const struct cpu_plan *plan, const struct cpu_node *node,
                                    const struct cpu_node *source) {
  size_t groups = (size_t)node->attributes->groups;
  return (struct grouped){
      .in_group = source->width / groups, .out_group = node->width / groups, .ld = backend_cpu_weights_ld(plan, node)};
}

static void grouped_forward(struct cpu_plan *plan, const struct cpu_node *node, const struct cpu_node *source,
                            const void *x, float *y) {
  struct cpu_affine view;
  struct cpu_pad pad = backend_cpu_pad_of(plan, node, &view);
  struct grouped g = grouped_begin(plan, node, source);
  const float *weights = plan->weights + node->weight, *bias = backend_cpu_bias(plan, node);
  plan->kernels->pad(&pad, x, plan->scratch.padded);
  backend_cpu_clear_padding(node, 1, y);
  do {
    float sum = bias ? bias[g.unit] : 0;
    for (size_t t = 0; t < node->tap_count; t++)
      for (size_t c = 0; c < g.in_group; c++)
        sum += plan->scratch.padded[g.at + node->taps[t] + c] * weights[(t * g.in_group + c) * g.ld + g.unit];
    y[g.out * node->ld + g.unit] = sum;
  } while (grouped_next(node, &g));
}

static void grouped_backward(struct cpu_plan *plan, const struct cpu_node *node, const struct cpu_node *source,
                             const void *x, const float *gradient, float *to) {
  const struct cpu_edge *edge = &node->edges[0];
  const struct cpu_window *w = &node->window;
  struct cpu_affine view;
  struct cpu_pad pad = backend_cpu_pad_of(plan, node, &view);
  struct grouped g = grouped_begin(plan, node, source);
  plan->kernels->pad(&pad, x, plan->scratch.padded);
  memset(plan->scratch.padded_gradient, 0, w->padded_height * w->padded_width * w->ld * sizeof(float));
  do {
    float one = gradient[g.out * node->ld + g.unit];
    for (size_t t = 0; t < node->tap_count; t++)
      for (size_t c = 0; c < g.in_group; c++) {
        size_t from = g.at + node->taps[t] + c, weight = node->weight + (t * g.in_group + c) * g.ld + g.unit;
        plan->gradients[weight] += one * plan->scratch.padded[from];
        plan->scratch.padded_gradient[from] += one * plan->weights[weight];
      }
  } while (grouped_next(node, &g));
  if (edge->gradient)
    plan->kernels->crop(&pad, plan->scratch.padded_gradient, edge->relu ? plan->scratch.padded : NULL, !edge->first,
                        to);
}

/* --- all images --- */

static void conv_forward(struct cpu_plan *plan, const struct cpu_node *node, size_t first, size_t count, float *y) {
  const struct cpu_node *source = &plan->nodes[node->edges[0].source];
  if (node->form == CPU_POINTWISE)
    backend_cpu_pointwise_forward(plan, node, first, count, y);
  else if (node->form == CPU_DEPTHWISE)
    backend_cpu_depthwise_forward(plan, node, first, count, y);
  else
    for (size_t i = 0; i < count; i++, y += backend_cpu_image(node))
      if (node->form == CPU_PATCHES)
        backend_cpu_patches_forward(plan, node, first + i, y);
      else
        grouped_forward(plan, node, source, backend_cpu_values(plan, source, first + i), y);
}

/* Data that all images need. */
static void conv_begin(struct cpu_plan *plan, const struct cpu_node *node, size_t images, bool backward) {
  if (node->form == CPU_POINTWISE) {
    backend_cpu_pointwise_begin(plan, node, images, backward);
  } else if (node->form == CPU_DEPTHWISE) {
    backend_cpu_depthwise_begin(plan, node, images, backward);
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
      grouped_backward(plan, node, source, backend_cpu_values(plan, source, first + i), g, to);
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
}
