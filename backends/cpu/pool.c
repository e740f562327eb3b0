/* pool.c - pools, image by image, and images laid out as rows of features. */
#include "cpu_impl.h"

#include <math.h>
#include <string.h>

/* Padding for maxima: a value that is never the maximum. */
static struct cpu_pad pool_pad(const struct cpu_plan *plan, const struct cpu_node *node, struct cpu_affine *view) {
  struct cpu_pad pad = backend_cpu_pad_of(plan, node, view);
  if (node->op == TUTTI_OP_MAX_POOL)
    pad.fill = -INFINITY;
  return pad;
}

/* Means over the pixels of an image, with the channels of one part after another. */
static void global_forward(struct cpu_plan *plan, struct cpu_node *node, size_t rows) {
  size_t pixels = plan->nodes[node->edges[0].source].pixels, at = 0;
  for (size_t e = 0; e < node->edge_count; e++) {
    const struct cpu_node *source = &plan->nodes[node->edges[e].source];
    for (size_t r = 0; r < rows; r++)
      plan->kernels->column_sums(pixels, backend_cpu_columns(source), backend_cpu_read(plan, &node->edges[e], r, 1),
                                 source->ld, node->value + r * node->ld + at);
    at += source->width;
  }
  plan->kernels->scale(rows * node->ld, 1 / (float)pixels, node->value);
}

/* To one part, from its channels' gradients [rows][ld]. */
static void global_backward(const struct cpu_edge *edge, const struct cpu_node *source, const float *gradient,
                            size_t ld, size_t rows) {
  float share = 1 / (float)source->pixels;
  size_t columns = backend_cpu_columns(source);
  for (size_t r = 0; r < rows; r++)
    for (size_t p = 0; p < source->pixels; p++) {
      const float *g = gradient + r * ld;
      float *to = source->gradient + r * backend_cpu_image(source) + p * source->ld;
      for (size_t c = 0; c < columns; c++)
        to[c] = (edge->first ? 0 : to[c]) + share * g[c];
    }
}

/* An average pool is a depthwise convolution with weights of 1, divided by the number of pixels. */
static struct cpu_depthwise pool_sum(const struct cpu_plan *plan, const struct cpu_window *window) {
  size_t ld = backend_cpu_ld(window->ld);
  for (size_t i = 0; i < window->kernel_height * window->kernel_width * ld; i++)
    plan->scratch.weights[i] = 1;
  return (struct cpu_depthwise){.window = *window, .weights = plan->scratch.weights, .ldw = ld};
}

static void max_forward(struct cpu_plan *plan, struct cpu_node *node, size_t rows) {
  const struct cpu_node *source = &plan->nodes[node->edges[0].source];
  struct cpu_affine view;
  struct cpu_pad pad = pool_pad(plan, node, &view);
  backend_cpu_frame(&pad, 1, plan->scratch.padded);
  for (size_t r = 0; r < rows; r++) {
    float *y = backend_cpu_values_begin(plan, node, r);
    plan->kernels->pad(&pad, backend_cpu_values(plan, source, r), plan->scratch.padded);
    plan->kernels->max_pool(&node->window, plan->scratch.padded, y);
    backend_cpu_values_end(plan, node, r, 1, y);
  }
}

static void average_forward(struct cpu_plan *plan, struct cpu_node *node, size_t rows) {
  const struct cpu_node *source = &plan->nodes[node->edges[0].source];
  const struct cpu_window *w = &node->window;
  struct cpu_affine view;
  struct cpu_pad pad = pool_pad(plan, node, &view);
  struct cpu_depthwise sum = pool_sum(plan, w);
  backend_cpu_frame(&pad, 1, plan->scratch.padded);
  for (size_t r = 0; r < rows; r++) {
    float *y = backend_cpu_values_begin(plan, node, r);
    plan->kernels->pad(&pad, backend_cpu_values(plan, source, r), plan->scratch.padded);
    plan->kernels->depthwise(&sum, plan->scratch.padded, y);
    plan->kernels->average(w, y, w->ld, w->out_width * w->ld, y);
    backend_cpu_values_end(plan, node, r, 1, y);
  }
}

void backend_cpu_pool_forward(struct cpu_plan *plan, struct cpu_node *node, size_t rows) {
  if (node->pixels == 1) /* rows of tables are longer than the pixels of an image, which kernels write */
    backend_cpu_clear_padding(node, rows, node->value);
  if (node->op == TUTTI_OP_GLOBAL_POOL)
    global_forward(plan, node, rows);
  else if (node->op == TUTTI_OP_MAX_POOL)
    max_forward(plan, node, rows);
  else
    average_forward(plan, node, rows);
}

/* The maxima of an image whose padded input this is. Rounded ones would equal none of their inputs, so in 16 bits they
   are found again. */
static const float *max_values(struct cpu_plan *plan, const struct cpu_node *node, size_t image) {
  if (!backend_cpu_is_half(plan, node))
    return node->value + image * backend_cpu_image(node);
  plan->kernels->max_pool(&node->window, plan->scratch.padded, plan->scratch.values);
  return plan->scratch.values;
}

static void max_backward(struct cpu_plan *plan, const struct cpu_node *node, size_t rows) {
  const struct cpu_edge *edge = &node->edges[0];
  const struct cpu_node *source = &plan->nodes[edge->source];
  const struct cpu_window *w = &node->window;
  struct cpu_affine view;
  struct cpu_pad pad = pool_pad(plan, node, &view);
  backend_cpu_frame(&pad, 1, plan->scratch.padded);
  for (size_t r = 0; r < rows; r++) {
    float *padded = plan->scratch.padded_gradient;
    memset(padded, 0, w->padded_height * w->padded_width * w->ld * sizeof *padded);
    plan->kernels->pad(&pad, backend_cpu_values(plan, source, r), plan->scratch.padded);
    plan->kernels->max_pool_gradient(w, plan->scratch.padded, max_values(plan, node, r),
                                     node->gradient + r * backend_cpu_image(node), padded);
    plan->kernels->crop(&pad, padded, NULL, !edge->first, source->gradient + r * backend_cpu_image(source));
    backend_cpu_norm_gather_gradient(plan, edge, r, 1);
  }
}

static void average_backward(struct cpu_plan *plan, const struct cpu_node *node, size_t rows) {
  const struct cpu_edge *edge = &node->edges[0];
  const struct cpu_node *source = &plan->nodes[edge->source];
  struct cpu_pad spread = backend_cpu_spread_of(&node->window);
  struct cpu_window turned = backend_cpu_turned(&node->window);
  struct cpu_depthwise sum = pool_sum(plan, &turned);
  size_t line = spread.padded_width * spread.ld, inside = spread.top * line + spread.left * spread.ld;
  sum.accumulate = !edge->first;
  backend_cpu_frame(&spread, 1, plan->scratch.padded_gradient);
  for (size_t r = 0; r < rows; r++) {
    float *padded = plan->scratch.padded_gradient;
    plan->kernels->average(&node->window, node->gradient + r * backend_cpu_image(node), spread.step * spread.ld,
                           spread.step * line, padded + inside);
    plan->kernels->depthwise(&sum, padded, source->gradient + r * backend_cpu_image(source));
    backend_cpu_norm_gather_gradient(plan, edge, r, 1);
  }
}

static void global_backward_parts(const struct cpu_plan *plan, const struct cpu_node *node, size_t rows) {
  const float *gradient = node->gradient;
  for (size_t e = 0; e < node->edge_count; e++) {
    const struct cpu_node *part = &plan->nodes[node->edges[e].source];
    if (node->edges[e].gradient)
      global_backward(&node->edges[e], part, gradient, node->ld, rows);
    gradient += part->width;
  }
}

void backend_cpu_pool_backward(struct cpu_plan *plan, struct cpu_node *node, size_t rows) {
  if (node->op == TUTTI_OP_GLOBAL_POOL)
    global_backward_parts(plan, node, rows);
  else if (node->edges[0].gradient && node->op == TUTTI_OP_MAX_POOL)
    max_backward(plan, node, rows);
  else if (node->edges[0].gradient)
    average_backward(plan, node, rows);
}

void backend_cpu_flatten(const struct cpu_plan *plan, const struct cpu_node *node, size_t rows) {
  const struct cpu_node *source = &plan->nodes[node->edges[0].source];
  backend_cpu_clear_padding(node, rows, node->value);
  for (size_t r = 0; r < rows; r++) {
    const float *x = backend_cpu_read(plan, &node->edges[0], r, 1);
    for (size_t p = 0; p < source->pixels; p++)
      memcpy(node->value + r * node->ld + p * source->width, x + p * source->ld, source->width * sizeof(float));
  }
}

void backend_cpu_unflatten(const struct cpu_edge *edge, const struct cpu_node *source, const struct cpu_node *node,
                           size_t rows) {
  for (size_t r = 0; r < rows; r++)
    for (size_t p = 0; p < source->pixels; p++) {
      const float *g = node->gradient + r * node->ld + p * source->width;
      float *to = source->gradient + (r * source->pixels + p) * source->ld;
      if (edge->first)
        memset(to, 0, source->ld * sizeof *to);
      for (size_t c = 0; c < source->width; c++)
        to[c] += g[c];
    }
}
