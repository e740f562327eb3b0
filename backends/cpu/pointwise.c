/* pointwise.c - convolutions of one pixel: products with one row per pixel. A depthwise convolution before it is
   computed for some images, used, and forgotten. Backward, the product writes its gradient straight to where the
   depthwise convolution reads it. */
#include "cpu_impl.h"

/* The depthwise convolution that is computed on the way; NULL: there is none. */
static struct cpu_node *pointwise_across(struct cpu_plan *plan, const struct cpu_node *node) {
  struct cpu_node *source = &plan->nodes[node->edges[0].source];
  return source->through ? source : NULL;
}

void backend_cpu_pointwise_begin(struct cpu_plan *plan, const struct cpu_node *node, size_t images, bool backward) {
  const struct cpu_node *across = pointwise_across(plan, node);
  if (across)
    backend_cpu_depthwise_begin(plan, across, images, backward);
  if (backward)
    backend_cpu_transpose_weights(plan, node);
}

/* The input of the product. */
static const float *pointwise_read(struct cpu_plan *plan, const struct cpu_node *node, size_t first, size_t count) {
  const struct cpu_node *across = pointwise_across(plan, node);
  if (!across)
    return backend_cpu_read_parts(plan, node, first, count);
  backend_cpu_depthwise_forward(plan, across, first, count, plan->scratch.across);
  return plan->scratch.across;
}

void backend_cpu_pointwise_forward(struct cpu_plan *plan, const struct cpu_node *node, size_t first, size_t count,
                                   float *y) {
  struct cpu_gemm product = {.m = count * node->pixels,
                             .n = backend_cpu_columns(node),
                             .k = node->inputs,
                             .a = pointwise_read(plan, node, first, count),
                             .a_row = node->input_ld,
                             .a_column = 1,
                             .b = plan->weights + node->weight,
                             .ldb = backend_cpu_weights_ld(plan, node),
                             .c = y,
                             .ldc = node->ld,
                             .bias = backend_cpu_bias(plan, node),
                             .ahead = &plan->scratch.ahead};
  backend_cpu_multiply(plan, &product, backend_cpu_rounds(plan, node));
}

/* The gradient of the depthwise convolution's output, row by row of each image. */
static void pointwise_across_gradient(struct cpu_plan *plan, const struct cpu_node *node, const struct cpu_node *across,
                                      size_t count, struct cpu_gemm product) {
  product.m = across->window.out_width;
  product.more = across->window.out_height - 1;
  product.a_next = product.m * node->ld;
  product.n = across->ld;
  for (size_t i = 0; i < count; i++) {
    struct cpu_spread to = backend_cpu_depthwise_gradient(plan, across, i);
    product.c = to.at;
    product.ldc = to.pixel;
    product.c_next = to.line;
    backend_cpu_multiply(plan, &product, backend_cpu_rounds(plan, node));
    product.a += backend_cpu_image(node);
  }
}

/* The gradients of all parts of the input; x[count * pixels][input_ld] is that input. */
static void pointwise_inputs(struct cpu_plan *plan, const struct cpu_node *node, size_t first, size_t count,
                             const float *x, struct cpu_gemm product) {
  product.m = count * node->pixels;
  product.ldm = node->input_ld;
  product.mask_sum = true;
  for (size_t e = 0; e < node->edge_count; e++) {
    const struct cpu_edge *edge = &node->edges[e];
    const struct cpu_node *source = &plan->nodes[edge->source];
    product.n = product.ldc = source->ld;
    product.mask = edge->relu ? x : NULL;
    product.accumulate = !edge->first;
    if (edge->gradient) {
      product.c = source->gradient + first * backend_cpu_image(source);
      backend_cpu_multiply(plan, &product, backend_cpu_rounds(plan, node));
    }
    product.b += source->ld;
    x += source->ld;
  }
}

void backend_cpu_pointwise_backward(struct cpu_plan *plan, const struct cpu_node *node, size_t first, size_t count,
                                    const float *gradient) {
  const struct cpu_node *across = pointwise_across(plan, node);
  struct cpu_weight_product weights = {.rows = count * node->pixels,
                                       .inputs = node->inputs,
                                       .columns = backend_cpu_columns(node),
                                       .x = pointwise_read(plan, node, first, count),
                                       .ldx = node->input_ld,
                                       .gradient = gradient,
                                       .ldg = node->ld,
                                       .to = plan->gradients + node->weight,
                                       .ldw = backend_cpu_weights_ld(plan, node),
                                       .accumulate = true,
                                       .rounds = backend_cpu_rounds(plan, node),
                                       .ahead = &plan->scratch.ahead};
  struct cpu_gemm product = {.k = node->width,
                             .a = gradient,
                             .a_row = node->ld,
                             .a_column = 1,
                             .b = plan->scratch.transposed,
                             .ldb = backend_cpu_ld(node->inputs),
                             .ahead = &plan->scratch.ahead};
  backend_cpu_product_weights(plan, &weights);
  if (!across) {
    pointwise_inputs(plan, node, first, count, weights.x, product);
    return;
  }
  if (!node->edges[0].gradient)
    return;
  pointwise_across_gradient(plan, node, across, count, product);
  backend_cpu_depthwise_backward(plan, across, first, count);
}
