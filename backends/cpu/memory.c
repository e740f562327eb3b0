/* memory.c - one block of memory for everything that a step needs.

   Values and gradients are needed for only a part of a step. A value lives from when it is computed until its last
   reader, forward or backward, has used it. A gradient lives from its first contribution until it has been passed on.
   Arrays that never live at the same time share places: the largest are placed first, each as low as the arrays that
   overlap it in time allow. */
#include "cpu_impl.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

/* An array: its place and its lifetime. Node i works at time i forward, and at 2 nodes - 1 - i backward. */
struct memory_array {
  void *to; /* a pointer to its first number */
  size_t size, birth, death, at;
  bool used;
};

struct memory_builder {
  tutti_context *context;
  struct cpu_plan *plan;
  bool training;
  struct memory_array *values, *gradients; /* [nodes] */
  struct memory_array **order;             /* [2 * nodes], those that need a place */
  struct memory_array *fixed;              /* [fixed_room], needed for the whole step */
  size_t fixed_count;
  size_t floats;
};

/* --- arrays that live for ever --- */

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* Floats of an array in memory. Arrays lie an odd number of cache lines apart, so that their beginnings do not compete
   for the same sets. */
static size_t spaced(size_t count) {
  size_t lines = (count + 15) / 16;
  return (lines + (lines % 2 == 0) + 4) * 16;
}

static void fix(struct memory_builder *b, size_t count, void *to) {
  struct memory_array *array = &b->fixed[b->fixed_count++];
  *array = (struct memory_array){.to = to, .size = count, .at = b->floats};
  b->floats += spaced(count);
}

static bool keeps_slope(const struct cpu_node *node) {
  return node->activation == TUTTI_ACTIVATION_GELU || node->activation == TUTTI_ACTIVATION_SWISH;
}

/* Floats of dropout's mask, for so many rows. */
static size_t mask_size(const struct cpu_node *node, size_t rows) {
  if (node->op == TUTTI_OP_DROP_PATH)
    return rows;
  if (node->attributes->spatial)
    return rows * backend_cpu_ld(node->width);
  return rows * node->pixels * node->ld;
}

static void fix_node(struct memory_builder *b, struct cpu_node *node) {
  if (node->op == TUTTI_OP_BATCH_NORM) {
    fix(b, CPU_STATISTICS * backend_cpu_period(node), &node->statistics);
    fix(b, 4 * node->ld, &node->totals); /* doubles */
  }
  if (b->training && keeps_slope(node))
    fix(b, b->plan->rows * node->pixels * node->ld, &node->slope);
  if (node->op == TUTTI_OP_DROPOUT || node->op == TUTTI_OP_DROP_PATH) /* predictions, slopes: all rows share one */
    fix(b, mask_size(node, b->training && !b->plan->slopes ? b->plan->rows : 1), &node->mask);
}

/* Number of floats of each array of the scratch, as far as one node needs them. */
static struct cpu_scratch_sizes scratch_sizes(const struct cpu_plan *plan, const struct cpu_node *node) {
  struct cpu_scratch_sizes s = {0};
  const struct cpu_window *w = &node->window;
  bool reduce = node->op == TUTTI_OP_FACTORISED_REDUCE;
  if (node->edge_count == 0)
    return s;
  const struct cpu_node *source = &plan->nodes[node->edges[0].source];
  size_t images = backend_cpu_block(plan, node), units = node->width < CPU_GEMM_DEPTH ? node->width : CPU_GEMM_DEPTH;
  s.view = images * node->input_ld * (reduce ? 2 * node->pixels : source->pixels);
  s.gradient = node->norm == CPU_NONE ? 0 : images * node->pixels * node->ld;
  s.across = source->through ? images * source->pixels * source->ld : 0;
  if (node->op == TUTTI_OP_DENSE)
    s.transposed = units * backend_cpu_ld(node->inputs);
  if (node->op == TUTTI_OP_DENSE && plan->slopes)
    s.transposed = larger(s.transposed, (node->width + node->inputs) * CPU_SLOPE_ROWS);
  if (node->op == TUTTI_OP_DENSE && backend_cpu_is_large(plan->rows, node->width, node->inputs))
    s.pack = CPU_LARGE_PACK;
  else if (reduce || (node->op == TUTTI_OP_CONV2D && node->form == CPU_POINTWISE))
    s.transposed = node->width * backend_cpu_ld(node->inputs);
  s.weights = reduce ? 2 * node->inputs * backend_cpu_ld(node->width) : 0;
  if (w->ld == 0)
    return s;
  if (node->through)
    images = backend_cpu_block(plan, &plan->nodes[node->reader]);
  if (node->form != CPU_DEPTHWISE)
    images = 1;
  size_t span_y = (w->kernel_height - 1) * w->dilation, span_x = (w->kernel_width - 1) * w->dilation;
  s.padded = images * w->padded_height * w->padded_width * w->ld;
  s.padded_gradient = larger(s.padded, images * (w->in_height + span_y) * (w->in_width + span_x) * w->ld);
  s.weights = w->kernel_height * w->kernel_width * backend_cpu_ld(node->width);
  if (node->op != TUTTI_OP_CONV2D)
    return s;
  if (node->form == CPU_PATCHES) {
    size_t ld = backend_cpu_patch_ld(node);
    s.patches = backend_cpu_patch_rows(node) * w->out_width * ld + 16;
    s.transposed = units * ld;
  }
  s.row = backend_cpu_ld(node->width);
  return s;
}

static void fix_scratch(struct memory_builder *b) {
  struct cpu_plan *plan = b->plan;
  struct cpu_scratch *to = &plan->scratch;
  struct cpu_scratch_sizes s = {0};
  for (size_t i = 0; i < plan->node_count; i++) {
    struct cpu_scratch_sizes one = scratch_sizes(plan, &plan->nodes[i]);
    for (size_t k = 0; k < sizeof s / sizeof(size_t); k++)
      ((size_t *)&s)[k] = larger(((size_t *)&s)[k], ((size_t *)&one)[k]);
  }
  fix(b, s.view, &to->view);
  fix(b, s.across, &to->across);
  fix(b, s.padded, &to->padded);
  fix(b, s.patches, &to->patches);
  fix(b, s.weights, &to->weights);
  fix(b, s.pack, &to->pack);
  if (!b->training)
    return;
  fix(b, s.gradient, &to->gradient);
  fix(b, s.padded_gradient, &to->padded_gradient);
  fix(b, s.patches, &to->patch_gradients);
  fix(b, s.weights, &to->weight_gradients);
  fix(b, s.transposed, &to->transposed);
  fix(b, s.row, &to->row);
}

/* Do backward passes through frozen nodes of this plan compute gradients of weights, too, though nobody wants them? */
static bool writes_gradients(const struct cpu_plan *plan) {
  for (size_t i = 0; i < plan->node_count; i++)
    if (plan->nodes[i].op == TUTTI_OP_CONV2D || plan->nodes[i].op == TUTTI_OP_FACTORISED_REDUCE)
      return true;
  return false;
}

static void fix_all(struct memory_builder *b) {
  struct cpu_plan *plan = b->plan;
  size_t cells = plan->rows * plan->outputs;
  if (!plan->slopes)
    fix(b, plan->floats, &plan->weights);
  if (b->training && (!plan->slopes || writes_gradients(plan)))
    fix(b, plan->trained, &plan->gradients);
  if (b->training && !plan->slopes)
    fix(b, plan->floats, &plan->other);
  for (size_t i = 0; i < plan->node_count; i++)
    fix_node(b, &plan->nodes[i]);
  fix_scratch(b);
  fix(b, cells, &plan->head.mean);
  fix(b, cells, &plan->head.raw);
  fix(b, cells, &plan->head.mean_gradient);
  fix(b, cells, &plan->head.raw_gradient);
  fix(b, cells, &plan->head.targets);
  fix(b, plan->rows, &plan->head.labels);
}

/* --- when values and gradients live --- */

static size_t backward_time(const struct cpu_plan *plan, size_t node) { return 2 * plan->node_count - 1 - node; }

/* The node at whose time this node works. */
static size_t worker_of(const struct cpu_plan *plan, size_t node) {
  return plan->nodes[node].through ? plan->nodes[node].reader : node;
}

static void live_at(struct memory_array *array, size_t time) {
  array->birth = array->used && array->birth < time ? array->birth : time;
  array->death = array->used && array->death > time ? array->death : time;
  array->used = true;
}

/* Mark the values that a reader of this node needs. */
static void read_at(struct memory_builder *b, size_t node, size_t time) {
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

static void find_lives(struct memory_builder *b) {
  struct cpu_plan *plan = b->plan;
  for (size_t i = 0; i < plan->node_count; i++) {
    struct cpu_node *node = &plan->nodes[i];
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
    if (backward &&
        (node->activation != TUTTI_ACTIVATION_LINEAR || node->op == TUTTI_OP_MAX_POOL || node->norm != CPU_NONE))
      live_at(&b->values[i], backward_time(plan, i));
  }
}

/* The node that stores the gradient of this one. */
static size_t gradient_of(const struct cpu_plan *plan, size_t node) {
  while (plan->nodes[node].shares != CPU_NONE)
    node = plan->nodes[node].shares;
  return node;
}

static void find_gradient_lives(struct memory_builder *b) {
  struct cpu_plan *plan = b->plan;
  for (size_t i = 0; i < plan->node_count; i++)
    for (size_t e = 0; e < plan->nodes[i].edge_count; e++) {
      const struct cpu_edge *edge = &plan->nodes[i].edges[e];
      const struct cpu_node *source = &plan->nodes[edge->source];
      if (!edge->gradient || source->through || source->norm != CPU_NONE)
        continue;
      struct memory_array *array = &b->gradients[gradient_of(plan, edge->source)];
      live_at(array, backward_time(plan, worker_of(plan, i)));
      live_at(array, backward_time(plan, edge->source));
      if (source->lazy && plan->nodes[source->edges[0].source].norm == edge->source)
        live_at(array, backward_time(plan, source->edges[0].source));
    }
}

/* --- places --- */

static int by_size(const void *left, const void *right) {
  const struct memory_array *a = *(struct memory_array *const *)left, *b = *(struct memory_array *const *)right;
  if (a->size != b->size)
    return a->size > b->size ? -1 : 1;
  return a->birth != b->birth ? (a->birth < b->birth ? -1 : 1) : (a > b) - (a < b);
}

/* The lowest place above `floor` where array k overlaps none of those before it. */
static size_t lowest_place(struct memory_array *const *order, size_t k, size_t floor) {
  size_t at = floor, tried;
  do {
    tried = at;
    for (size_t i = 0; i < k; i++) {
      bool together = order[i]->birth <= order[k]->death && order[k]->birth <= order[i]->death;
      if (together && at < order[i]->at + spaced(order[i]->size) && order[i]->at < at + spaced(order[k]->size))
        at = order[i]->at + spaced(order[i]->size);
    }
  } while (at != tried);
  return at;
}

static void place(struct memory_builder *b) {
  struct cpu_plan *plan = b->plan;
  size_t count = 0, floor = b->floats;
  for (size_t i = 0; i < plan->node_count; i++) {
    struct cpu_node *node = &plan->nodes[i];
    b->values[i].to = &node->value;
    b->gradients[i].to = &node->gradient;
    b->values[i].size = b->gradients[i].size = plan->rows * node->pixels * node->ld;
    if (b->values[i].used)
      b->order[count++] = &b->values[i];
    if (b->gradients[i].used)
      b->order[count++] = &b->gradients[i];
  }
  qsort(b->order, count, sizeof(struct memory_array *), by_size);
  for (size_t k = 0; k < count; k++) {
    b->order[k]->at = lowest_place(b->order, k, floor);
    b->floats = larger(b->floats, b->order[k]->at + spaced(b->order[k]->size));
  }
}

/* --- the block --- */

/* The limit in bytes: of the address space or of the machine's memory, whichever is smaller; and which of the two it
   is. */
static size_t memory_limit(const char **what) {
  struct rlimit limit;
  size_t most = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
  *what = "the machine has";
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < most) {
    most = limit.rlim_cur;
    *what = "a process may have";
  }
  return most;
}

enum tutti_status backend_cpu_memory_check(tutti_context *context, size_t bytes, size_t rows) {
  const char *what;
  size_t most = memory_limit(&what);
  if (bytes < most)
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_MEMORY,
                    "%zu rows at once need %zu MiB, and %s %zu MiB: lower batch_size, or raise run.memory_limit", rows,
                    (bytes >> 20) + 1, what, most >> 20);
}

/* Large blocks use large pages: a step walks through the whole block, and every small page would cost a TLB miss. */
static enum tutti_status allocate(struct memory_builder *b) {
  enum { LARGE = 1 << 21 };
  struct cpu_plan *plan = b->plan;
  plan->bytes = b->floats * sizeof *plan->arena;
  if (plan->bytes < 4 * LARGE)
    return tutti_alloc(b->context, b->floats, sizeof *plan->arena, &plan->arena);
  TUTTI_TRY(b->context, backend_cpu_memory_check(b->context, plan->bytes, plan->rows));
  size_t bytes = (plan->bytes + LARGE - 1) / LARGE * LARGE;
  plan->arena = aligned_alloc(LARGE, bytes);
  if (!plan->arena) {
    const char *what;
    size_t most = memory_limit(&what);
    return TUTTI_FAIL(b->context, TUTTI_ERROR_MEMORY,
                      "%zu rows at once need %zu MiB, which are not to be had; %s %zu MiB: lower batch_size, or raise "
                      "run.memory_limit",
                      plan->rows, (bytes >> 20) + 1, what, most >> 20);
  }
#if defined(MADV_HUGEPAGE)
  (void)madvise(plan->arena, bytes, MADV_HUGEPAGE);
#endif
  memset(plan->arena, 0, bytes);
  return TUTTI_OK;
}

static void point_at(void *pointer, void *place) { memcpy(pointer, &place, sizeof place); }

/* A lazy batch norm uses its source's values; a shared gradient is stored with another node's. */
static void point(struct memory_builder *b) {
  struct cpu_plan *plan = b->plan;
  for (size_t i = 0; i < b->fixed_count; i++)
    point_at(b->fixed[i].to, plan->arena + b->fixed[i].at);
  for (size_t i = 0; i < plan->node_count; i++) {
    struct cpu_node *node = &plan->nodes[i];
    const struct memory_array *gradient = &b->gradients[gradient_of(plan, i)];
    node->value = b->values[i].used ? plan->arena + b->values[i].at : NULL;
    node->gradient = gradient->used ? plan->arena + gradient->at : NULL;
    if (node->lazy)
      node->value = plan->nodes[node->edges[0].source].value;
  }
}

enum tutti_status backend_cpu_plan_place(tutti_context *context, struct cpu_plan *plan, bool training) {
  struct memory_builder b = {.context = context, .plan = plan, .training = training};
  size_t nodes = plan->node_count;
  enum tutti_status status;
  TUTTI_TRY_OUT(context, tutti_alloc(context, nodes, sizeof *b.values, &b.values));
  TUTTI_TRY_OUT(context, tutti_alloc(context, nodes, sizeof *b.gradients, &b.gradients));
  TUTTI_TRY_OUT(context, tutti_alloc(context, 2 * nodes, sizeof(struct memory_array *), &b.order));
  TUTTI_TRY_OUT(context, tutti_alloc(context, 4 * nodes + 32, sizeof *b.fixed, &b.fixed));
  fix_all(&b);
  find_lives(&b);
  if (training)
    find_gradient_lives(&b);
  place(&b);
  TUTTI_TRY_OUT(context, allocate(&b));
  point(&b);
out:
  tutti_free(b.values);
  tutti_free(b.gradients);
  tutti_free(b.order);
  tutti_free(b.fixed);
  return status;
}
