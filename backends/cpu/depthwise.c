/* depthwise.c - depthwise convolutions, some images at a time. Both passes read padded images: forward the inputs;
   backward the outputs' gradients, spread by the stride, which are convolved with the rotated kernel. The padding is
   written once for all images, the inside for each. */
#include "cpu_impl.h"

#include <string.h>

struct cpu_pad backend_cpu_spread_of(const struct cpu_window *w) {
  size_t span_y = (w->kernel_height - 1) * w->dilation, span_x = (w->kernel_width - 1) * w->dilation;
  return (struct cpu_pad){.height = w->out_height,
                          .width = w->out_width,
                          .image_ld = w->ld,
                          .ld = w->ld,
                          .top = span_y - w->top,
                          .left = span_x - w->left,
                          .padded_height = w->in_height + span_y,
                          .padded_width = w->in_width + span_x,
                          .step = w->stride};
}

struct cpu_window backend_cpu_turned(const struct cpu_window *w) {
  struct cpu_pad spread = backend_cpu_spread_of(w);
  struct cpu_window turned = *w;
  turned.out_height = w->in_height;
  turned.out_width = w->in_width;
  turned.stride = 1;
  turned.padded_height = spread.padded_height;
  turned.padded_width = spread.padded_width;
  return turned;
}

static size_t padded_size(const struct cpu_pad *pad) { return pad->padded_height * pad->padded_width * pad->ld; }

void backend_cpu_depthwise_begin(struct cpu_plan *plan, const struct cpu_node *node, size_t images, bool backward) {
  struct cpu_affine view;
  struct cpu_pad pad = backend_cpu_pad_of(plan, node, &view), spread = backend_cpu_spread_of(&node->window);
  backend_cpu_frame(&pad, images, plan->scratch.padded);
  if (!backward)
    return;
  size_t ld = backend_cpu_weights_ld(plan, node), taps = node->tap_count;
  backend_cpu_frame(&spread, images, plan->scratch.padded_gradient);
  for (size_t t = 0; t < taps; t++)
    memcpy(plan->scratch.weights + t * ld, plan->weights + node->weight + (taps - 1 - t) * ld, ld * sizeof(float));
}

void backend_cpu_depthwise_read(struct cpu_plan *plan, const struct cpu_node *node, size_t first, size_t count) {
  const struct cpu_node *source = &plan->nodes[node->edges[0].source];
  struct cpu_affine view;
  struct cpu_pad pad = backend_cpu_pad_of(plan, node, &view);
  for (size_t i = 0; i < count; i++)
    plan->kernels->pad(&pad, backend_cpu_values(plan, source, first + i), plan->scratch.padded + i * padded_size(&pad));
}

void backend_cpu_depthwise_forward(struct cpu_plan *plan, const struct cpu_node *node, size_t first, size_t count,
                                   float *y) {
  const struct cpu_window *w = &node->window;
  struct cpu_depthwise work = {.window = *w,
                               .weights = plan->weights + node->weight,
                               .ldw = backend_cpu_weights_ld(plan, node),
                               .bias = backend_cpu_bias(plan, node),
                               .ahead = &plan->scratch.ahead};
  backend_cpu_depthwise_read(plan, node, first, count);
  for (size_t i = 0; i < count; i++)
    plan->kernels->depthwise(&work, plan->scratch.padded + i * w->padded_height * w->padded_width * w->ld,
                             y + i * backend_cpu_image(node));
}

struct cpu_spread backend_cpu_depthwise_gradient(const struct cpu_plan *plan, const struct cpu_node *node,
                                                 size_t image) {
  struct cpu_pad spread = backend_cpu_spread_of(&node->window);
  size_t line = spread.padded_width * spread.ld;
  return (struct cpu_spread){.at = plan->scratch.padded_gradient + image * padded_size(&spread) + spread.top * line +
                                   spread.left * spread.ld,
                             .pixel = spread.step * spread.ld,
                             .line = spread.step * line};
}

void backend_cpu_depthwise_spread(struct cpu_plan *plan, const struct cpu_node *node, size_t count,
                                  const float *gradient) {
  struct cpu_pad spread = backend_cpu_spread_of(&node->window);
  for (size_t i = 0; i < count; i++)
    plan->kernels->pad(&spread, gradient + i * backend_cpu_image(node),
                       plan->scratch.padded_gradient + i * padded_size(&spread));
}

void backend_cpu_depthwise_backward(struct cpu_plan *plan, const struct cpu_node *node, size_t first, size_t count) {
  const struct cpu_edge *edge = &node->edges[0];
  const struct cpu_node *source = &plan->nodes[edge->source];
  struct cpu_affine view;
  struct cpu_pad pad = backend_cpu_pad_of(plan, node, &view), spread = backend_cpu_spread_of(&node->window);
  size_t line = pad.padded_width * pad.ld, inside = pad.top * line + pad.left * pad.ld;
  struct cpu_depthwise work = {.window = backend_cpu_turned(&node->window),
                               .weights = plan->scratch.weights,
                               .ldw = backend_cpu_weights_ld(plan, node),
                               .mask_line = line,
                               .accumulate = !edge->first,
                               .ahead = &plan->scratch.ahead};
  struct cpu_depthwise_weights weights = {.window = node->window, .ldw = work.ldw, .ahead = &plan->scratch.ahead};
  for (size_t i = 0; i < count; i++) {
    const float *x = plan->scratch.padded + i * padded_size(&pad);
    struct cpu_spread g = backend_cpu_depthwise_gradient(plan, node, i);
    weights.pixel = g.pixel;
    weights.line = g.line;
    plan->kernels->depthwise_weights(&weights, x, g.at, plan->gradients + node->weight);
    work.mask = edge->relu ? x + inside : NULL;
    if (edge->gradient)
      plan->kernels->depthwise(&work, plan->scratch.padded_gradient + i * padded_size(&spread),
                               source->gradient + (first + i) * backend_cpu_image(source));
  }
}
