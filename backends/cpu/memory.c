/* memory.c - one block of memory for everything that a step needs.

   Values and gradients are needed for only a part of a step. A value lives from when it is computed until its last
   reader, forward or backward, has used it. A gradient lives from its first contribution until it has been passed on.
   Arrays that never live at the same time share places: the largest are placed first, each as low as the arrays that
   overlap it in time allow. */
#include "plan_impl.h"

#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

struct memory_builder {
  tutti_context *context;
  struct cpu_plan *plan;
  bool training;
  struct cpu_array *values, *gradients; /* [nodes] */
  struct cpu_array **order;             /* [2 * nodes], those that need a place */
  struct cpu_array *fixed;              /* [fixed_room], needed for the whole step */
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
  struct cpu_array *array = &b->fixed[b->fixed_count++];
  *array = (struct cpu_array){.to = to, .size = count, .at = b->floats};
  b->floats += spaced(count);
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
  if (b->training && backend_cpu_keeps_slope(node))
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
  s.values = node->half || source->half ? images * larger(node->pixels * node->ld, source->pixels * source->ld) : 0;
  s.across = source->through ? images * source->pixels * source->ld : 0;
  if (node->op == TUTTI_OP_DENSE)
    s.transposed = units * backend_cpu_ld(node->inputs);
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
  if (node->form == CPU_GROUPED)
    backend_cpu_groups_sizes(plan, node, &s);
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
  fix(b, s.panel, &to->panel);
  fix(b, s.patches, &to->patches);
  fix(b, s.weights, &to->weights);
  fix(b, s.pack, &to->pack);
  fix(b, plan->gemm_bfloat ? CPU_BFLOAT_PACK : 0, &to->bfloat);
  if (!b->training)
    return;
  fix(b, s.gradient, &to->gradient);
  fix(b, s.values, &to->values);
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

/* --- places --- */

static void place(struct memory_builder *b) {
  size_t count = backend_cpu_order_arrays(b->plan, b->values, b->gradients, b->order), floor = b->floats;
  for (size_t k = 0; k < count; k++) {
    b->order[k]->at = backend_cpu_lowest_place(b->order, k, floor, spaced);
    b->floats = larger(b->floats, b->order[k]->at + spaced(b->order[k]->size));
  }
}

/* --- the block --- */

/* Data may take half of what this process may have. */
static size_t memory_limit(const tutti_context *context, const char **of) {
  return 2 * tutti_memory_for_data_of(context, of);
}

/* Large blocks use large pages: a step walks through the whole block, and every small page would cost a TLB miss. */
static enum tutti_status allocate(struct memory_builder *b) {
  enum { LARGE = 1 << 21 };
  struct cpu_plan *plan = b->plan;
  plan->bytes = b->floats * sizeof *plan->arena;
  if (plan->bytes < 4 * LARGE)
    return tutti_alloc(b->context, b->floats, sizeof *plan->arena, &plan->arena);
  const char *of;
  const size_t most = memory_limit(b->context, &of), bytes = (plan->bytes + LARGE - 1) / LARGE * LARGE;
  const bool fits = bytes < most;
  plan->arena = fits ? aligned_alloc(LARGE, bytes) : NULL;
  if (!plan->arena)
    return TUTTI_FAIL(b->context, TUTTI_ERROR_MEMORY,
                      "%zu rows at once need %zu MiB%s, and %s is %zu MiB: lower batch_size, or allow more", plan->rows,
                      (bytes >> 20) + 1, fits ? ", which are not to be had" : "", of, most >> 20);
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
    const struct cpu_array *gradient = &b->gradients[backend_cpu_gradient_of(plan, i)];
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
  TUTTI_TRY_OUT(context, tutti_alloc(context, 2 * nodes, sizeof(struct cpu_array *), &b.order));
  TUTTI_TRY_OUT(context, tutti_alloc(context, 4 * nodes + 32, sizeof *b.fixed, &b.fixed));
  fix_all(&b);
  backend_cpu_find_lives(plan, training, b.values, b.gradients);
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

/* --- plans --- */

static enum tutti_status plan_create(tutti_context *context, const struct cpu_kernels *kernels,
                                     const tutti_network *network, const struct tutti_task *task, size_t rows,
                                     const struct cpu_purpose *purpose, struct cpu_plan **made) {
  *made = NULL;
  struct cpu_plan *plan;
  TUTTI_TRY(context, backend_cpu_plan_describe(context, network, task, rows, purpose, &plan));
  plan->kernels = kernels;
  if (purpose->bfloat) {
    struct cpu_bfloat_way ways[CPU_BFLOAT_WAYS];
    (void)backend_cpu_bfloat_ways(kernels, ways);
    plan->gemm_bfloat = ways[0].multiply;
  }
  enum tutti_status status = backend_cpu_plan_place(context, plan, purpose->gradients);
  if (status == TUTTI_OK)
    *made = plan;
  else
    backend_cpu_plan_destroy(plan);
  return status;
}

enum tutti_status backend_cpu_plan_create(tutti_context *context, const struct cpu_kernels *kernels,
                                          const tutti_network *network, const struct tutti_task *task, size_t rows,
                                          bool training, struct cpu_plan **plan) {
  return plan_create(context, kernels, network, task, rows, &(struct cpu_purpose){.gradients = training}, plan);
}

enum tutti_status backend_cpu_plan_create_job(tutti_context *context, const struct cpu_kernels *kernels,
                                              const struct tutti_job *job, size_t rows, struct cpu_plan **plan) {
  const struct cpu_config *config = job->config;
  const struct cpu_purpose purpose = {.gradients = true,
                                      .frozen = job->frozen,
                                      .half = config->storage == CPU_STORAGE_HALF,
                                      .bfloat = config->precision == CPU_BFLOAT16,
                                      .unread = backend_cpu_unread(job)};
  return plan_create(context, kernels, job->network, job->task, rows, &purpose, plan);
}

enum tutti_status backend_cpu_plan_create_slopes(tutti_context *context, const struct cpu_plan *of,
                                                 const struct tutti_task *task, size_t rows, struct cpu_plan **plan) {
  const struct cpu_purpose purpose = {.gradients = true, .slopes = of};
  return plan_create(context, of->kernels, of->network, task, rows, &purpose, plan);
}
