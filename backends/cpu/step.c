/* step.c - forward and backward through a plan. */
#include "cpu_impl.h"

#include <string.h>

/* --- forward --- */

static void forward_dense(const struct cpu_plan *plan, const struct cpu_node *node, size_t rows) {
  const struct cpu_node *source = &plan->nodes[node->edges[0].source];
  struct cpu_gemm product = {.m = rows * node->pixels,
                             .n = backend_cpu_columns(node),
                             .k = node->inputs,
                             .units = node->width,
                             .a = source->value,
                             .a_row = source->ld,
                             .a_column = 1,
                             .b = plan->weights + node->weight,
                             .ldb = plan->segments[node->segment].ld,
                             .c = node->value,
                             .ldc = node->ld,
                             .bias = node->bias == CPU_NONE ? NULL : plan->weights + node->bias,
                             .relu = node->activation == TUTTI_ACTIVATION_RELU};
  backend_cpu_multiply(plan, &product, backend_cpu_rounds(plan, node));
}

/* Sum of all inputs times `factor`; some images at a time, so that the terms stay in cache. */
static void forward_sum(struct cpu_plan *plan, const struct cpu_node *node, size_t rows, float factor) {
  size_t size = node->pixels * node->ld, block = backend_cpu_block(plan, node);
  for (size_t first = 0; first < rows; first += block) {
    size_t count = rows - first < block ? rows - first : block;
    float *to = backend_cpu_values_begin(plan, node, first);
    for (size_t e = 0; e < node->edge_count; e++)
      backend_cpu_view(plan, &node->edges[e], first, count, e > 0, to);
    if (factor != 1)
      plan->kernels->scale(count * size, factor, to);
    backend_cpu_values_end(plan, node, first, count, to);
  }
}

static void forward_concat(const struct cpu_plan *plan, const struct cpu_node *node, size_t rows) {
  size_t size = node->pixels * node->ld, block = backend_cpu_block(plan, node);
  backend_cpu_clear_padding(node, rows, node->value);
  for (size_t first = 0; first < rows; first += block) {
    size_t count = rows - first < block ? rows - first : block;
    float *to = node->value + first * size;
    for (size_t e = 0; e < node->edge_count; e++) {
      const struct cpu_node *source = &plan->nodes[node->edges[e].source];
      const float *x = backend_cpu_read(plan, &node->edges[e], first, count);
      for (size_t p = 0; p < count * node->pixels; p++)
        memcpy(to + p * node->ld, x + p * source->ld, source->width * sizeof(float));
      to += source->width;
    }
  }
}

static void forward_crelu(const struct cpu_plan *plan, const struct cpu_node *node, size_t rows) {
  const struct cpu_node *source = &plan->nodes[node->edges[0].source];
  backend_cpu_clear_padding(node, rows, node->value);
  for (size_t r = 0; r < rows; r++) {
    const float *x = backend_cpu_read(plan, &node->edges[0], r, 1);
    float *y = node->value + r * node->pixels * node->ld;
    for (size_t p = 0; p < node->pixels; p++, x += source->ld, y += node->ld)
      for (size_t c = 0; c < source->width; c++) {
        y[c] = x[c] > 0 ? x[c] : 0;
        y[source->width + c] = x[c] < 0 ? -x[c] : 0;
      }
  }
}

void backend_cpu_forward_node(struct cpu_plan *plan, size_t index, size_t rows, const struct cpu_draws *draws) {
  struct cpu_node *node = &plan->nodes[index];
  const struct cpu_kernels *k = plan->kernels;
  bool training = draws && !draws->one;
  plan->trains = training;
  if (node->through)
    return;
  switch (node->op) {
  case TUTTI_OP_INPUT:
    return;
  case TUTTI_OP_DENSE:
    forward_dense(plan, node, rows);
    break;
  case TUTTI_OP_ADD:
    forward_sum(plan, node, rows, 1);
    break;
  case TUTTI_OP_MEAN:
    forward_sum(plan, node, rows, 1 / (float)node->edge_count);
    break;
  case TUTTI_OP_CONCAT:
    forward_concat(plan, node, rows);
    break;
  case TUTTI_OP_ACTIVATION:
    if (node->activation == TUTTI_ACTIVATION_CRELU) {
      forward_crelu(plan, node, rows);
      return;
    }
    forward_sum(plan, node, rows, 1);
    break;
  case TUTTI_OP_ZERO:
    memset(node->value, 0, rows * node->pixels * node->ld * sizeof(float));
    break;
  case TUTTI_OP_DROPOUT:
  case TUTTI_OP_DROP_PATH:
    backend_cpu_drop_forward(plan, node, rows, draws);
    break;
  case TUTTI_OP_BATCH_NORM:
    backend_cpu_norm_forward(plan, node, rows, training);
    break;
  case TUTTI_OP_CONV2D:
    backend_cpu_conv_forward(plan, node, rows, training);
    break;
  case TUTTI_OP_FACTORISED_REDUCE:
    backend_cpu_reduce_forward(plan, node, rows, training);
    break;
  case TUTTI_OP_MAX_POOL:
  case TUTTI_OP_AVERAGE_POOL:
  case TUTTI_OP_GLOBAL_POOL:
    backend_cpu_pool_forward(plan, node, rows);
    break;
  case TUTTI_OP_FLATTEN:
    backend_cpu_flatten(plan, node, rows);
    break;
  default:
    return; /* heads have no values of their own */
  }
  bool done = node->op == TUTTI_OP_DENSE && node->activation == TUTTI_ACTIVATION_RELU;
  if (!done && node->activation != TUTTI_ACTIVATION_LINEAR)
    k->activate[node->activation](rows * node->pixels * node->ld, node->value, node->slope);
}

void backend_cpu_forward(struct cpu_plan *plan, size_t rows, const struct cpu_draws *draws) {
  for (size_t i = 0; i < plan->node_count; i++)
    backend_cpu_forward_node(plan, i, rows, draws);
}

/* --- backward --- */

static void backward_dense(struct cpu_plan *plan, struct cpu_node *node, size_t rows) {
  const struct cpu_edge *edge = &node->edges[0];
  const struct cpu_node *source = &plan->nodes[edge->source];
  struct cpu_weight_product weights = {.rows = rows * node->pixels,
                                       .inputs = node->inputs,
                                       .columns = backend_cpu_columns(node),
                                       .units = source->pixels == 1 ? node->width : 0,
                                       .x = source->value,
                                       .ldx = source->ld,
                                       .gradient = node->gradient,
                                       .ldg = node->ld,
                                       .to = plan->gradients + node->weight,
                                       .ldw = plan->segments[node->segment].ld,
                                       .rounds = backend_cpu_rounds(plan, node)};
  struct cpu_input_product inputs = {.rows = rows * node->pixels,
                                     .inputs = node->inputs,
                                     .units = node->width,
                                     .gradient = node->gradient,
                                     .ldg = node->ld,
                                     .weights = plan->weights + node->weight,
                                     .ldw = weights.ldw,
                                     .to = source->gradient,
                                     .ldt = source->ld,
                                     .mask = edge->mask ? source->value : NULL,
                                     .columns = backend_cpu_columns(source),
                                     .accumulate = !edge->first,
                                     .rounds = weights.rounds};
  if (!node->frozen)
    backend_cpu_product_weights(plan, &weights);
  if (edge->gradient)
    backend_cpu_product_inputs(plan, &inputs);
  if (node->bias != CPU_NONE && !node->frozen)
    plan->kernels->column_sums(rows * node->pixels, backend_cpu_columns(node), node->gradient, node->ld,
                               plan->gradients + node->bias);
}

/* Pass the gradient on to every input, times `factor`, some images at a time.
   Sums, concatenations and crelus keep their gradient, which the analyser cannot know.
   NOLINTBEGIN(clang-analyzer-core.NonNullParamChecker, clang-analyzer-core.NullDereference) */
static void backward_sum(struct cpu_plan *plan, const struct cpu_node *node, size_t rows, float factor) {
  size_t size = backend_cpu_image(node), block = backend_cpu_block(plan, node);
  for (size_t e = 0; e < node->edge_count; e++) {
    const struct cpu_edge *edge = &node->edges[e];
    bool shared = plan->nodes[edge->source].gradient == node->gradient;
    for (size_t first = 0; edge->gradient && !shared && first < rows; first += block) {
      size_t images = rows - first < block ? rows - first : block, count = images * size;
      const float *from = node->gradient + first * size;
      float *to = plan->nodes[edge->source].gradient + first * size;
      if (!edge->first) {
        plan->kernels->axpy(count, factor, from, to);
      } else {
        memcpy(to, from, count * sizeof(float));
        if (factor != 1)
          plan->kernels->scale(count, factor, to);
      }
      backend_cpu_norm_gather_gradient(plan, edge, first, images);
    }
  }
}

static void backward_concat(struct cpu_plan *plan, const struct cpu_node *node, size_t rows) {
  const float *from = node->gradient;
  for (size_t e = 0; e < node->edge_count; e++) {
    const struct cpu_edge *edge = &node->edges[e];
    const struct cpu_node *source = &plan->nodes[edge->source];
    for (size_t r = 0; edge->gradient && r < rows * node->pixels; r++) {
      const float *x = from + r * node->ld;
      float *y = source->gradient + r * source->ld;
      if (edge->first) {
        memcpy(y, x, source->width * sizeof *y);
        memset(y + source->width, 0, (source->ld - source->width) * sizeof *y);
      } else if (source->width % 8 == 0) {
        plan->kernels->add(source->width, x, y);
      } else {
        for (size_t c = 0; c < source->width; c++)
          y[c] += x[c];
      }
    }
    from += source->width;
  }
}

static void backward_crelu(const struct cpu_plan *plan, const struct cpu_node *node, size_t rows) {
  const struct cpu_edge *edge = &node->edges[0];
  const struct cpu_node *source = &plan->nodes[edge->source];
  for (size_t r = 0; r < rows; r++) {
    const float *x = backend_cpu_read(plan, edge, r, 1), *g = node->gradient + r * node->pixels * node->ld;
    float *to = source->gradient + r * source->pixels * source->ld;
    for (size_t p = 0; p < node->pixels; p++, x += source->ld, g += node->ld, to += source->ld) {
      if (edge->first)
        memset(to, 0, source->ld * sizeof *to);
      for (size_t c = 0; c < source->width; c++)
        to[c] += x[c] > 0 ? g[c] : x[c] < 0 ? -g[source->width + c] : 0;
    }
  }
}

/* NOLINTEND(clang-analyzer-core.NonNullParamChecker, clang-analyzer-core.NullDereference) */

void backend_cpu_backward_node(struct cpu_plan *plan, size_t index, size_t rows) {
  struct cpu_node *node = &plan->nodes[index];
  bool has = node->gradient || node->norm != CPU_NONE;
  if (!node->needs_gradient || !has || node->through || node->edge_count == 0)
    return;
  if (!node->artificial) /* 0 there: nothing to pass on */
    rows -= plan->artificial;
  const struct cpu_edge *edge = &node->edges[0];
  if (node->activation != TUTTI_ACTIVATION_CRELU && node->activation != TUTTI_ACTIVATION_LINEAR && !node->masked)
    plan->kernels->derive[node->activation](rows * node->pixels * node->ld, node->value, node->slope, node->gradient);
  switch (node->op) {
  case TUTTI_OP_DENSE:
    backward_dense(plan, node, rows);
    break;
  case TUTTI_OP_ADD:
    backward_sum(plan, node, rows, 1);
    break;
  case TUTTI_OP_MEAN:
    backward_sum(plan, node, rows, 1 / (float)node->edge_count);
    break;
  case TUTTI_OP_CONCAT:
    backward_concat(plan, node, rows);
    break;
  case TUTTI_OP_ACTIVATION:
    if (node->activation != TUTTI_ACTIVATION_CRELU)
      backward_sum(plan, node, rows, 1);
    else
      backward_crelu(plan, node, rows);
    break;
  case TUTTI_OP_DROPOUT:
  case TUTTI_OP_DROP_PATH:
    backend_cpu_drop_backward(plan, node, rows);
    break;
  case TUTTI_OP_BATCH_NORM:
    backend_cpu_norm_backward(plan, node, rows);
    break;
  case TUTTI_OP_CONV2D:
    backend_cpu_conv_backward(plan, node, rows);
    break;
  case TUTTI_OP_FACTORISED_REDUCE:
    backend_cpu_reduce_backward(plan, node, rows);
    break;
  case TUTTI_OP_MAX_POOL:
  case TUTTI_OP_AVERAGE_POOL:
  case TUTTI_OP_GLOBAL_POOL:
    backend_cpu_pool_backward(plan, node, rows);
    break;
  case TUTTI_OP_FLATTEN:
    if (edge->gradient)
      backend_cpu_unflatten(edge, &plan->nodes[edge->source], node, rows);
    break;
  default:
    break;
  }
}

void backend_cpu_backward(struct cpu_plan *plan, size_t rows) {
  for (size_t i = plan->node_count; i-- > 0;)
    backend_cpu_backward_node(plan, i, rows);
}
