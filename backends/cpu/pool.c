/* pool.c - pools, image by image, and images laid out as rows of features. */
#include "cpu_impl.h"

#include <math.h>
#include <string.h>

/* Where nothing is, a maximum has nothing to find. */
static struct cpu_pad pool_pad(const struct cpu_plan *plan, const struct cpu_node *node, struct cpu_affine *view) {
  struct cpu_pad pad = backend_cpu_pad_of(plan, node, view);
  if (node->op == TUTTI_OP_MAX_POOL)
    pad.fill = -INFINITY;
  return pad;
}

/* Means over an image's pixels, one part of the channels behind the other. */
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

void backend_cpu_pool_forward(struct cpu_plan *plan, struct cpu_node *node, size_t rows) {
  const struct cpu_node *source = &plan->nodes[node->edges[0].source];
  if (node->op == TUTTI_OP_GLOBAL_POOL) {
    global_forward(plan, node, rows);
    return;
  }
  struct cpu_affine view;
  struct cpu_pad pad = pool_pad(plan, node, &view);
  backend_cpu_frame(&pad, 1, plan->scratch.padded);
  for (size_t r = 0; r < rows; r++) {
    float *y = node->value + r * backend_cpu_image(node);
    plan->kernels->pad(&pad, source->value + r * backend_cpu_image(source), plan->scratch.padded);
    if (node->op == TUTTI_OP_MAX_POOL)
      plan->kernels->max_pool(&node->window, plan->scratch.padded, y);
    else
      plan->kernels->average_pool(&node->window, plan->scratch.padded, y);
  }
}

void backend_cpu_pool_backward(struct cpu_plan *plan, struct cpu_node *node, size_t rows) {
  if (node->op == TUTTI_OP_GLOBAL_POOL) {
    const float *gradient = node->gradient;
    for (size_t e = 0; e < node->edge_count; e++) {
      const struct cpu_node *part = &plan->nodes[node->edges[e].source];
      if (node->edges[e].gradient)
        global_backward(&node->edges[e], part, gradient, node->ld, rows);
      gradient += part->width;
    }
    return;
  }
  const struct cpu_edge *edge = &node->edges[0];
  const struct cpu_node *source = &plan->nodes[edge->source];
  const struct cpu_window *w = &node->window;
  struct cpu_affine view;
  struct cpu_pad pad = pool_pad(plan, node, &view);
  backend_cpu_frame(&pad, 1, plan->scratch.padded);
  for (size_t r = 0; edge->gradient && r < rows; r++) {
    size_t at = r * backend_cpu_image(node), from = r * backend_cpu_image(source);
    memset(plan->scratch.padded_gradient, 0, w->padded_height * w->padded_width * w->ld * sizeof(float));
    if (node->op == TUTTI_OP_MAX_POOL) {
      plan->kernels->pad(&pad, source->value + from, plan->scratch.padded);
      plan->kernels->max_pool_gradient(w, plan->scratch.padded, node->value + at, node->gradient + at,
                                       plan->scratch.padded_gradient);
    } else {
      plan->kernels->average_pool_gradient(w, node->gradient + at, plan->scratch.padded_gradient);
    }
    plan->kernels->crop(&pad, plan->scratch.padded_gradient, NULL, !edge->first, source->gradient + from);
  }
}

void backend_cpu_flatten(const struct cpu_plan *plan, const struct cpu_node *node, size_t rows) {
  const struct cpu_node *source = &plan->nodes[node->edges[0].source];
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
