/* step.c - forward and backward through a plan. */
#include "cpu_impl.h"

#include <string.h>

static size_t step_padded(size_t width) { return (width + 15) / 16 * 16; }

/* --- forward --- */

static void forward_dense(const struct cpu_plan *plan, const struct cpu_node *node, size_t rows) {
  const struct cpu_node *source = &plan->nodes[node->edges[0].source];
  struct cpu_gemm product = {.m = rows,
                             .n = step_padded(node->width),
                             .k = source->width,
                             .a = source->value,
                             .a_row = source->ld,
                             .a_column = 1,
                             .b = plan->weights + node->weight,
                             .ldb = node->ld,
                             .c = node->value,
                             .ldc = node->ld,
                             .bias = node->bias == CPU_NONE ? NULL : plan->weights + node->bias,
                             .relu = node->activation == TUTTI_ACTIVATION_RELU};
  plan->kernels->gemm(&product);
}

/* Sum of all inputs, times `factor`. */
static void forward_sum(const struct cpu_plan *plan, const struct cpu_node *node, size_t rows, float factor) {
  size_t count = rows * node->ld;
  memcpy(node->value, plan->nodes[node->edges[0].source].value, count * sizeof(float));
  for (size_t e = 1; e < node->edge_count; e++)
    plan->kernels->add(count, plan->nodes[node->edges[e].source].value, node->value);
  if (factor != 1)
    plan->kernels->scale(count, factor, node->value);
}

static void forward_concat(const struct cpu_plan *plan, const struct cpu_node *node, size_t rows) {
  float *to = node->value;
  for (size_t e = 0; e < node->edge_count; e++) {
    const struct cpu_node *source = &plan->nodes[node->edges[e].source];
    for (size_t r = 0; r < rows; r++)
      memcpy(to + r * node->ld, source->value + r * source->ld, source->width * sizeof(float));
    to += source->width;
  }
}

static void forward_crelu(const struct cpu_node *source, const struct cpu_node *node, size_t rows) {
  for (size_t r = 0; r < rows; r++) {
    const float *x = source->value + r * source->ld;
    float *y = node->value + r * node->ld;
    for (size_t c = 0; c < source->width; c++) {
      y[c] = x[c] > 0 ? x[c] : 0;
      y[source->width + c] = x[c] < 0 ? -x[c] : 0;
    }
  }
}

/* Masks hold 0 or 1 / (1 - rate), so that predictions need no correction. */
static void forward_dropout(const struct cpu_plan *plan, const struct cpu_node *node, size_t rows,
                            const struct cpu_draws *draws) {
  const struct cpu_node *source = &plan->nodes[node->edges[0].source];
  size_t count = rows * node->ld;
  const struct tutti_attributes *attributes = &node->layer->attributes;
  bool path = node->op == TUTTI_OP_DROP_PATH;
  double rate = attributes->rate * (path && attributes->scheduled && draws ? draws->progress : 1);
  if (!draws || !draws->drop || rate <= 0) {
    memcpy(node->value, source->value, count * sizeof(float));
    if (draws)
      for (size_t i = 0; i < count; i++)
        node->mask[i] = 1;
    return;
  }
  struct cpu_mask mask = {.key = draws->key,
                          .step = draws->step,
                          .layer = (uint32_t)(node - plan->nodes),
                          .threshold = (uint32_t)(rate * 4294967296.0),
                          .keep = (float)(1 / (1 - rate))};
  plan->kernels->mask(&mask, path ? step_padded(rows) : count, node->mask);
  if (path)
    for (size_t r = rows; r-- > 0;) {
      float one = node->mask[r];
      for (size_t c = 0; c < node->ld; c++)
        node->mask[r * node->ld + c] = one;
    }
  plan->kernels->multiply(count, source->value, node->mask, node->value, false);
}

static void forward_node(struct cpu_plan *plan, struct cpu_node *node, size_t rows, const struct cpu_draws *draws) {
  const struct cpu_kernels *k = plan->kernels;
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
      forward_crelu(&plan->nodes[node->edges[0].source], node, rows);
      return;
    }
    forward_sum(plan, node, rows, 1);
    break;
  case TUTTI_OP_ZERO:
    memset(node->value, 0, rows * node->ld * sizeof(float));
    break;
  case TUTTI_OP_DROPOUT:
  case TUTTI_OP_DROP_PATH:
    forward_dropout(plan, node, rows, draws);
    break;
  case TUTTI_OP_BATCH_NORM:
    backend_cpu_norm_forward(plan, node, rows, draws != NULL);
    break;
  default:
    return; /* heads have no values of their own */
  }
  if (node->op != TUTTI_OP_DENSE || node->activation != TUTTI_ACTIVATION_RELU)
    k->activate[node->activation](rows * node->ld, node->value, node->slope);
}

void backend_cpu_forward(struct cpu_plan *plan, size_t rows, const struct cpu_draws *draws) {
  for (size_t i = 0; i < plan->node_count; i++)
    forward_node(plan, &plan->nodes[i], rows, draws);
}

/* --- backward --- */

/* The inputs' gradient as far as it comes from CPU_GEMM_DEPTH units: these columns of W, transposed while they are in
   cache, times the units' gradients. */
static void backward_dense_inputs(struct cpu_plan *plan, const struct cpu_node *node, size_t rows, size_t unit) {
  const struct cpu_edge *edge = &node->edges[0];
  const struct cpu_node *source = &plan->nodes[edge->source];
  bool last = node->width - unit <= CPU_GEMM_DEPTH;
  size_t units = last ? node->width - unit : CPU_GEMM_DEPTH;
  plan->kernels->transpose(source->width, units, plan->weights + node->weight + unit, node->ld, plan->transposed,
                           source->ld);
  struct cpu_gemm product = {.m = rows,
                             .n = step_padded(source->width),
                             .k = units,
                             .a = node->gradient + unit,
                             .a_row = node->ld,
                             .a_column = 1,
                             .b = plan->transposed,
                             .ldb = source->ld,
                             .c = source->gradient,
                             .ldc = source->ld,
                             .mask = edge->mask && last ? source->value : NULL,
                             .accumulate = !edge->first || unit > 0};
  plan->kernels->gemm(&product);
}

static void backward_dense(struct cpu_plan *plan, struct cpu_node *node, size_t rows) {
  const struct cpu_edge *edge = &node->edges[0];
  const struct cpu_node *source = &plan->nodes[edge->source];
  struct cpu_gemm product = {.m = source->width,
                             .n = step_padded(node->width),
                             .k = rows,
                             .a = source->value,
                             .a_row = 1,
                             .a_column = source->ld,
                             .b = node->gradient,
                             .ldb = node->ld,
                             .c = plan->gradients + node->weight,
                             .ldc = node->ld};
  plan->kernels->gemm(&product);
  if (node->bias != CPU_NONE)
    plan->kernels->column_sums(rows, step_padded(node->width), node->gradient, node->ld, plan->gradients + node->bias);
  if (!edge->gradient)
    return;
  for (size_t unit = 0; unit < node->width; unit += CPU_GEMM_DEPTH)
    backward_dense_inputs(plan, node, rows, unit);
}

/* Pass the gradient on to every input, times `factor`. */
static void backward_sum(struct cpu_plan *plan, const struct cpu_node *node, size_t rows, float factor) {
  size_t count = rows * node->ld;
  for (size_t e = 0; e < node->edge_count; e++) {
    const struct cpu_edge *edge = &node->edges[e];
    if (!edge->gradient)
      continue;
    float *to = plan->nodes[edge->source].gradient;
    if (!edge->first) {
      plan->kernels->axpy(count, factor, node->gradient, to);
    } else {
      memcpy(to, node->gradient, count * sizeof(float));
      if (factor != 1)
        plan->kernels->scale(count, factor, to);
    }
  }
}

static void backward_concat(struct cpu_plan *plan, const struct cpu_node *node, size_t rows) {
  const float *from = node->gradient;
  for (size_t e = 0; e < node->edge_count; e++) {
    const struct cpu_edge *edge = &node->edges[e];
    const struct cpu_node *source = &plan->nodes[edge->source];
    for (size_t r = 0; edge->gradient && r < rows; r++) {
      const float *x = from + r * node->ld;
      float *y = source->gradient + r * source->ld;
      if (edge->first)
        memset(y, 0, source->ld * sizeof *y);
      for (size_t c = 0; c < source->width; c++)
        y[c] += x[c];
    }
    from += source->width;
  }
}

static void backward_crelu(const struct cpu_edge *edge, const struct cpu_node *source, const struct cpu_node *node,
                           size_t rows) {
  for (size_t r = 0; r < rows; r++) {
    const float *g = node->gradient + r * node->ld, *x = source->value + r * source->ld;
    float *to = source->gradient + r * source->ld;
    if (edge->first)
      memset(to, 0, source->ld * sizeof *to);
    for (size_t c = 0; c < source->width; c++)
      to[c] += x[c] > 0 ? g[c] : x[c] < 0 ? -g[source->width + c] : 0;
  }
}

static void backward_node(struct cpu_plan *plan, struct cpu_node *node, size_t rows) {
  const struct cpu_edge *edge = &node->edges[0];
  if (node->activation != TUTTI_ACTIVATION_CRELU && !node->masked)
    plan->kernels->derive[node->activation](rows * node->ld, node->value, node->slope, node->gradient);
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
      backward_crelu(edge, &plan->nodes[edge->source], node, rows);
    break;
  case TUTTI_OP_DROPOUT:
  case TUTTI_OP_DROP_PATH:
    plan->kernels->multiply(rows * node->ld, node->gradient, node->mask, plan->nodes[edge->source].gradient,
                            !edge->first);
    break;
  case TUTTI_OP_BATCH_NORM:
    backend_cpu_norm_backward(plan, node, rows);
    break;
  default:
    break;
  }
}

void backend_cpu_backward(struct cpu_plan *plan, size_t rows) {
  for (size_t i = plan->node_count; i-- > 0;)
    if (plan->nodes[i].needs_gradient && plan->nodes[i].gradient)
      backward_node(plan, &plan->nodes[i], rows);
}
