/* lives.c - when the values and gradients of a plan's nodes are needed, so that arrays whose lives do not meet can lie
   in one place. */
#include "plan_impl.h"

#include <stdlib.h>

struct lives {
  const struct cpu_plan *plan;
  bool training;
  struct cpu_array *values, *gradients; /* [nodes] */
};

bool backend_cpu_keeps_slope(const struct cpu_node *node) {
  return node->activation == TUTTI_ACTIVATION_GELU || node->activation == TUTTI_ACTIVATION_SWISH;
}

static size_t backward_time(const struct cpu_plan *plan, size_t node) { return 2 * plan->node_count - 1 - node; }

/* The node at whose time this node works. */
static size_t worker_of(const struct cpu_plan *plan, size_t node) {
  return plan->nodes[node].through ? plan->nodes[node].reader : node;
}

static void live_at(struct cpu_array *array, size_t time) {
  array->birth = array->used && array->birth < time ? array->birth : time;
  array->death = array->used && array->death > time ? array->death : time;
  array->used = true;
}

/* Mark the values that a reader of this node needs. */
static void read_at(const struct lives *b, size_t node, size_t time) {
  while (b->plan->nodes[node].lazy || b->plan->nodes[node].through)
    node = b->plan->nodes[node].edges[0].source;
  live_at(&b->values[node], time);
}

static bool needs_inputs(const struct cpu_node *node) {
  switch (node->op) {
  case TUTTI_OP_DENSE:
  case TUTTI_OP_CONV2D:
  case TUTTI_OP_FACTORISED_REDUCE:
  case TUTTI_OP_BATCH_NORM:
  case TUTTI_OP_MAX_POOL:
    return true;
  case TUTTI_OP_ACTIVATION:
    return node->activation == TUTTI_ACTIVATION_CRELU;
  default:
    return backend_cpu_is_head(node->op);
  }
}

static void find_value_lives(const struct lives *b) {
  const struct cpu_plan *plan = b->plan;
  for (size_t i = 0; i < plan->node_count; i++) {
    const struct cpu_node *node = &plan->nodes[i];
    bool backward = b->training && (node->needs_gradient || backend_cpu_is_head(node->op));
    if (node->through)
      continue;
    for (size_t e = 0; e < node->edge_count; e++) {
      read_at(b, node->edges[e].source, i);
      if (backward && needs_inputs(node))
        read_at(b, node->edges[e].source, backward_time(plan, i));
    }
    if (backend_cpu_is_head(node->op) || node->lazy)
      continue;
    live_at(&b->values[i], i);
    bool compared = node->op == TUTTI_OP_MAX_POOL && !node->half;
    if (backward && (node->activation != TUTTI_ACTIVATION_LINEAR || compared || node->norm != CPU_NONE))
      live_at(&b->values[i], backward_time(plan, i));
  }
}

size_t backend_cpu_gradient_of(const struct cpu_plan *plan, size_t node) {
  while (plan->nodes[node].shares != CPU_NONE)
    node = plan->nodes[node].shares;
  return node;
}

static void find_gradient_lives(const struct lives *b) {
  const struct cpu_plan *plan = b->plan;
  for (size_t i = 0; i < plan->node_count; i++)
    for (size_t e = 0; e < plan->nodes[i].edge_count; e++) {
      const struct cpu_edge *edge = &plan->nodes[i].edges[e];
      const struct cpu_node *source = &plan->nodes[edge->source];
      if (!edge->gradient || source->through || source->norm != CPU_NONE)
        continue;
      struct cpu_array *array = &b->gradients[backend_cpu_gradient_of(plan, edge->source)];
      live_at(array, backward_time(plan, worker_of(plan, i)));
      live_at(array, backward_time(plan, edge->source));
      if (source->lazy && plan->nodes[source->edges[0].source].norm == edge->source)
        live_at(array, backward_time(plan, source->edges[0].source));
    }
}

void backend_cpu_find_lives(const struct cpu_plan *plan, bool training, struct cpu_array *values,
                            struct cpu_array *gradients) {
  const struct lives b = {plan, training, values, gradients};
  find_value_lives(&b);
  if (training)
    find_gradient_lives(&b);
}

/* --- places --- */

static int by_size(const void *left, const void *right) {
  const struct cpu_array *a = *(struct cpu_array *const *)left, *b = *(struct cpu_array *const *)right;
  if (a->size != b->size)
    return a->size > b->size ? -1 : 1;
  return a->birth != b->birth ? (a->birth < b->birth ? -1 : 1) : (a > b) - (a < b);
}

size_t backend_cpu_order_arrays(const struct cpu_plan *plan, struct cpu_array *values, struct cpu_array *gradients,
                                struct cpu_array **order) {
  size_t count = 0;
  for (size_t i = 0; i < plan->node_count; i++) {
    struct cpu_node *node = &plan->nodes[i];
    values[i].to = &node->value;
    gradients[i].to = &node->gradient;
    values[i].size = gradients[i].size = plan->rows * node->pixels * node->ld;
    if (node->half)
      values[i].size = (values[i].size + 1) / 2;
    if (values[i].used)
      order[count++] = &values[i];
    if (gradients[i].used)
      order[count++] = &gradients[i];
  }
  qsort(order, count, sizeof *order, by_size);
  return count;
}

size_t backend_cpu_lowest_place(struct cpu_array *const *order, size_t k, size_t floor, size_t (*room)(size_t size)) {
  size_t at = floor, tried;
  do {
    tried = at;
    for (size_t i = 0; i < k; i++) {
      bool together =
          order[i]->far == order[k]->far && order[i]->birth <= order[k]->death && order[k]->birth <= order[i]->death;
      if (together && at < order[i]->at + room(order[i]->size) && order[i]->at < at + room(order[k]->size))
        at = order[i]->at + room(order[i]->size);
    }
  } while (at != tried);
  return at;
}
