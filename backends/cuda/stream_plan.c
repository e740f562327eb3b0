/* stream_plan.c - from the plan of backend cpu to a program of the stream engine: one block of the device's memory
   holds all that a network needs. Values and gradients whose lives do not meet share places, as on the processor
   (backends/cpu/lives.c); what nodes need while they work, all of them share. */
#include "stream_host_impl.h"

#include <string.h>

/* --- what it can compute --- */

bool backend_cuda_stream_has_op(enum tutti_op op) {
  switch (op) {
  case TUTTI_OP_CONV2D:
  case TUTTI_OP_MAX_POOL:
  case TUTTI_OP_AVERAGE_POOL:
  case TUTTI_OP_GLOBAL_POOL:
  case TUTTI_OP_FACTORISED_REDUCE:
    return true;
  case TUTTI_OP_HEAD_NOMU:
    return false;
  default:
    return backend_cuda_has_op(op);
  }
}

/* --- how nodes are computed --- */

bool backend_cuda_stream_is_product(const struct stream_program *program, size_t index) {
  const struct cpu_node *node = &program->plan->nodes[index];
  return node->op == TUTTI_OP_DENSE ||
         (node->op == TUTTI_OP_CONV2D && (node->form == CPU_POINTWISE || program->nodes[index].by_patches));
}

/* Of few inputs, whose gradient nobody wants, as of a first layer: products of patches, which are small, take a
   fraction of the time of cuDNN's deterministic algorithms. */
static bool has_small_patches(const struct cpu_plan *plan, const struct cpu_node *node) {
  enum { SMALL = 64 };
  const struct cpu_edge *edge = &node->edges[0];
  const struct cpu_node *source = &plan->nodes[edge->source];
  return node->edge_count == 1 && !edge->gradient && !source->through && node->tap_count * source->width <= SMALL;
}

size_t backend_cuda_stream_patch_ld(const struct cpu_plan *plan, const struct cpu_node *node) {
  return (node->tap_count * plan->nodes[node->edges[0].source].width + 7) / 8 * 8;
}

/* Convolutions that are neither products nor cuDNN's are done in groups, of which one may be all. */
static bool is_grouped(const struct stream_program *program, size_t index) {
  return program->plan->nodes[index].op == TUTTI_OP_CONV2D && !program->nodes[index].by_library &&
         !backend_cuda_stream_is_product(program, index);
}

bool backend_cuda_stream_reads_directly(const struct stream_program *program, size_t index) {
  const struct cpu_node *node = &program->plan->nodes[index];
  const struct cpu_edge *edge = &node->edges[0];
  const struct cpu_node *source = &program->plan->nodes[edge->source];
  bool alike = source->through || program->nodes[edge->source].narrow == program->narrow;
  return node->edge_count == 1 && !edge->relu && !source->lazy && !program->nodes[index].padded && alike &&
         node->op != TUTTI_OP_FACTORISED_REDUCE;
}

/* A product writes the channels that count; a convolution by cuDNN all, as its filter is 0 beyond them. */
bool backend_cuda_stream_writes_directly(const struct stream_program *program, size_t index) {
  const struct cpu_plan *plan = program->plan;
  const struct stream_node *to = &program->nodes[index];
  const struct cpu_node *node = &plan->nodes[index];
  const struct cpu_edge *edge = &node->edges[0];
  const struct cpu_node *source = &plan->nodes[edge->source];
  bool alike = backend_cuda_stream_shares_precision(program, edge->source);
  bool whole = to->by_library || source->ld == source->width || !edge->first;
  return node->edge_count == 1 && !edge->relu && !to->padded && !source->through && whole && alike &&
         node->op != TUTTI_OP_FACTORISED_REDUCE;
}

/* cuDNN pads both ends alike. */
static bool pads_alike(uint32_t in, uint32_t out, uint32_t kernel, const struct cpu_window *w, size_t before) {
  size_t span = (kernel - 1) * w->dilation + 1, whole = in + 2 * before;
  return whole >= span && (whole - span) / w->stride + 1 == out;
}

static void shape_conv(const struct stream_program *program, const struct cpu_node *node, struct stream_node *to) {
  const struct cpu_plan *plan = program->plan;
  const struct cpu_window *w = &node->window;
  const struct cpu_node *source = &plan->nodes[node->edges[0].source];
  struct stream_conv c = {.in_height = (uint32_t)w->in_height,
                          .in_width = (uint32_t)w->in_width,
                          .in_ld = (uint32_t)source->ld,
                          .out_height = (uint32_t)w->out_height,
                          .out_width = (uint32_t)w->out_width,
                          .out_ld = (uint32_t)node->ld,
                          .kernel_height = (uint32_t)w->kernel_height,
                          .kernel_width = (uint32_t)w->kernel_width,
                          .stride = (uint32_t)w->stride,
                          .dilation = (uint32_t)w->dilation,
                          .top = (uint32_t)w->top,
                          .left = (uint32_t)w->left,
                          .precision = program->precision};
  to->padded = !pads_alike(c.in_height, c.out_height, c.kernel_height, w, w->top) ||
               !pads_alike(c.in_width, c.out_width, c.kernel_width, w, w->left);
  if (to->padded) {
    c.in_height = (uint32_t)w->padded_height;
    c.in_width = (uint32_t)w->padded_width;
    c.top = c.left = 0;
  }
  to->conv = c;
}

bool backend_cuda_stream_shares_precision(const struct stream_program *program, size_t index) {
  return program->nodes[backend_cpu_gradient_of(program->plan, index)].narrow == program->narrow;
}

/* --- places --- */

struct layout {
  struct stream_program *program;
  size_t floats;
};

static size_t whole_lines(size_t floats) { return (floats + 63) / 64 * 64; }

static size_t reserve(struct layout *l, size_t floats) {
  size_t at = l->floats;
  l->floats += whole_lines(floats);
  return at;
}

/* Floats that so many numbers take. */
static size_t floats_of(size_t numbers, bool narrow) { return narrow ? (numbers + 1) / 2 : numbers; }

static size_t larger_of(size_t a, size_t b) { return a > b ? a : b; }

/* Enough chunks to fill a device, none of them tiny, and room for their sums. */
static size_t most_chunks(size_t cells, size_t columns) {
  enum { MOST = 512, SHORTEST = 32, PARTIAL = 1 << 20 };
  size_t count = (cells + SHORTEST - 1) / SHORTEST, room = PARTIAL / columns;
  count = count < MOST ? count : MOST;
  count = count < room ? count : room;
  return count < 1 ? 1 : count;
}

struct stream_chunks backend_cuda_stream_chunks(size_t cells, size_t columns) {
  size_t count = most_chunks(cells, columns), size = (cells + count - 1) / count;
  return (struct stream_chunks){(uint32_t)size, (uint32_t)((cells + size - 1) / size)};
}

/* Doubles of two partial sums of so many columns, for any number of rows up to the plan's. */
static size_t partial_sums(size_t cells, size_t columns) { return 2 * most_chunks(cells, columns) * columns; }

/* Numbers that a node needs while it works. */
struct needs {
  size_t view, across, gradient, input_gradient, filter, partial, largest;
};

static void grouped_needs(const struct cpu_plan *plan, const struct cpu_node *node, struct needs *needs) {
  size_t groups = (size_t)node->attributes->groups;
  const struct cpu_node *source = &plan->nodes[node->edges[0].source];
  needs->partial = larger_of(needs->partial, partial_sums(plan->rows * node->pixels,
                                                          node->tap_count * (source->width / groups) * node->width));
}

static struct needs needs_of(const struct stream_program *program, size_t index) {
  const struct cpu_plan *plan = program->plan;
  const struct cpu_node *node = &plan->nodes[index];
  const struct stream_node *to = &program->nodes[index];
  size_t cells = plan->rows * node->pixels;
  struct needs needs = {0};
  bool reduce = node->op == TUTTI_OP_FACTORISED_REDUCE;
  if (node->norm != CPU_NONE || !backend_cuda_stream_shares_precision(program, index))
    needs.gradient = cells * node->ld;
  if (node->op == TUTTI_OP_BATCH_NORM || node->bias != CPU_NONE)
    needs.partial = partial_sums(cells, node->width);
  if (node->op == TUTTI_OP_MAX_POOL)
    needs.largest = cells * node->ld;
  if (backend_cpu_is_head(node->op))
    needs.partial = plan->rows * plan->outputs;
  if (is_grouped(program, index))
    grouped_needs(plan, node, &needs);
  if (to->by_patches) {
    needs.view = cells * backend_cuda_stream_patch_ld(plan, node);
  } else if (backend_cuda_stream_is_product(program, index) || reduce) {
    const struct cpu_node *source = &plan->nodes[node->edges[0].source];
    if (source->through)
      needs.across = cells * source->ld;
    else if (!backend_cuda_stream_reads_directly(program, index))
      needs.view = cells * node->input_ld;
    if (!backend_cuda_stream_writes_directly(program, index))
      needs.input_gradient = cells * larger_of(node->inputs, source->ld);
  } else if (to->by_library) {
    const struct stream_conv *c = &to->conv;
    size_t input = plan->rows * c->in_height * c->in_width * c->in_ld;
    needs.filter = (size_t)c->out_ld * c->kernel_height * c->kernel_width * c->in_ld;
    if (!backend_cuda_stream_reads_directly(program, index))
      needs.view = input;
    if (!backend_cuda_stream_writes_directly(program, index))
      needs.input_gradient = input;
  }
  return needs;
}

static void reserve_scratch(struct layout *l) {
  struct stream_program *program = l->program;
  struct needs most = {0};
  for (size_t i = 0; i < program->plan->node_count; i++) {
    struct needs one = needs_of(program, i);
    for (size_t k = 0; k < sizeof most / sizeof(size_t); k++)
      ((size_t *)&most)[k] = larger_of(((size_t *)&most)[k], ((size_t *)&one)[k]);
  }
  program->view = reserve(l, floats_of(most.view, program->narrow));
  program->across = reserve(l, floats_of(most.across, program->narrow));
  program->filter = reserve(l, floats_of(most.filter, program->narrow));
  program->partial = reserve(l, 2 * most.partial);
  program->products = reserve(l, STREAM_PRODUCT_BYTES / sizeof(float));
  program->convolutions = reserve(l, (program->convolution_bytes + 3) / sizeof(float));
  if (!program->training)
    return;
  program->gradient = reserve(l, floats_of(most.gradient, program->narrow));
  program->input_gradient = reserve(l, floats_of(most.input_gradient, program->narrow));
  program->filter_gradient = reserve(l, floats_of(most.filter, program->narrow));
  program->largest = reserve(l, floats_of(most.largest, true));
}

static void reserve_fixed(struct layout *l, const struct stream_purpose *purpose) {
  struct stream_program *program = l->program;
  const struct cpu_plan *plan = program->plan;
  program->weights = reserve(l, plan->floats);
  program->narrow_weights = program->narrow ? reserve(l, floats_of(plan->floats, true)) : STREAM_NONE;
  if (program->training) {
    program->gradients = reserve(l, plan->floats);
    program->first = reserve(l, plan->floats);
    program->second = reserve(l, plan->floats);
    program->kept = reserve(l, plan->floats);
    program->average = purpose->averages ? reserve(l, plan->floats) : STREAM_NONE;
    program->own = purpose->averages ? reserve(l, plan->floats) : STREAM_NONE;
    program->squares = reserve(l, 2 * (size_t)program->piece_count);
    program->scales = reserve(l, program->segment_count);
  }
  program->state = reserve(l, (sizeof(struct stream_state) + 3) / 4);
  program->config = reserve(l, (sizeof(struct cpu_config) + 3) / 4);
  program->class_weights = reserve(l, 2 * plan->outputs);
  program->pieces_at = reserve(l, program->piece_count * sizeof(struct stream_piece) / 4);
  program->starts_at = reserve(l, program->segment_count + 1);
  program->order = reserve(l, purpose->order);
  program->staging = reserve(l, purpose->staging);
  program->out = reserve(l, purpose->out);
  for (size_t i = 0; i < plan->node_count; i++) {
    const struct cpu_node *node = &plan->nodes[i];
    if (node->op == TUTTI_OP_BATCH_NORM)
      program->nodes[i].statistics = reserve(l, CUDA_STATISTICS * node->ld);
    if (program->training && backend_cpu_keeps_slope(node))
      program->nodes[i].slope = reserve(l, floats_of(plan->rows * node->pixels * node->ld, program->nodes[i].narrow));
  }
}

static enum tutti_status place_arrays(tutti_context *context, struct layout *l) {
  struct stream_program *program = l->program;
  const struct cpu_plan *plan = program->plan;
  struct cpu_array *values = NULL, *gradients = NULL, **order = NULL;
  enum tutti_status status;
  size_t floor = l->floats;
  TUTTI_TRY_OUT(context, tutti_alloc(context, plan->node_count, sizeof *values, &values));
  TUTTI_TRY_OUT(context, tutti_alloc(context, plan->node_count, sizeof *gradients, &gradients));
  TUTTI_TRY_OUT(context, tutti_alloc(context, 2 * plan->node_count, sizeof(struct cpu_array *), &order));
  backend_cpu_find_lives(plan, program->training, values, gradients);
  size_t count = backend_cpu_order_arrays(plan, values, gradients, order);
  for (size_t i = 0; i < plan->node_count; i++) {
    values[i].size = floats_of(values[i].size, program->nodes[i].narrow);
    gradients[i].size = floats_of(gradients[i].size, program->nodes[i].narrow);
  }
  for (size_t k = 0; k < count; k++) {
    order[k]->at = backend_cpu_lowest_place(order, k, floor, whole_lines);
    l->floats = larger_of(l->floats, order[k]->at + whole_lines(order[k]->size));
  }
  for (size_t i = 0; i < plan->node_count; i++) {
    program->nodes[i].value = values[i].used ? values[i].at : STREAM_NONE;
    program->nodes[i].gradient = gradients[i].used ? gradients[i].at : STREAM_NONE;
  }
out:
  tutti_free(values);
  tutti_free(gradients);
  tutti_free(order);
  return status;
}

/* --- weights in pieces --- */

static enum tutti_status cut_weights(tutti_context *context, struct stream_program *program) {
  const struct cpu_plan *plan = program->plan;
  size_t pieces = 0;
  for (size_t s = 0; s < plan->segment_count; s++)
    pieces += (plan->segments[s].rows * plan->segments[s].ld + STREAM_PIECE - 1) / STREAM_PIECE;
  TUTTI_TRY(context, tutti_alloc(context, pieces + 1, sizeof *program->pieces, &program->pieces));
  TUTTI_TRY(context, tutti_alloc(context, plan->segment_count + 1, sizeof *program->starts, &program->starts));
  for (size_t s = 0; s < plan->segment_count; s++) {
    const struct cpu_segment *segment = &plan->segments[s];
    size_t size = segment->rows * segment->ld;
    if (!backend_cpu_steps(segment))
      continue;
    for (size_t at = 0; at < size; at += STREAM_PIECE)
      program->pieces[program->piece_count++] = (struct stream_piece){
          (uint32_t)(segment->offset + at), (uint32_t)(size - at < STREAM_PIECE ? size - at : STREAM_PIECE),
          program->segment_count, segment->decay};
    program->starts[++program->segment_count] = program->piece_count;
  }
  return TUTTI_OK;
}

/* --- a program --- */

/* For a convolution of several pixels: what cuDNN has for all numbers of rows, or else nothing. Without a library, as
   if it had all, in no memory. */
static enum tutti_status choose_algorithms(tutti_context *context, struct stream_library *library,
                                           struct stream_program *program, size_t index) {
  const struct cpu_node *node = &program->plan->nodes[index];
  struct stream_node *to = &program->nodes[index];
  size_t workspace = 0;
  to->by_patches = has_small_patches(program->plan, node);
  if (to->by_patches)
    return TUTTI_OK;
  shape_conv(program, node, to);
  to->by_library = true;
  for (uint32_t k = 0; library && k < program->row_count_count && to->by_library; k++) {
    struct stream_conv conv = to->conv;
    conv.rows = program->row_counts[k];
    TUTTI_TRY(context, backend_cuda_library_choose(context, library, &conv, program->training, &to->algorithms[k],
                                                   &to->by_library));
    workspace = larger_of(workspace, to->algorithms[k].workspace);
  }
  if (to->by_library)
    program->convolution_bytes = larger_of(program->convolution_bytes, workspace);
  else
    to->padded = false;
  return TUTTI_OK;
}

/* What the head reads is float32, and so is its gradient: cuDNN, whose images are all alike, does not make that. */
static void choose_numbers(struct stream_program *program) {
  const struct cpu_plan *plan = program->plan;
  size_t last = backend_cpu_plan_head(plan)->edges[0].source;
  for (size_t i = 0; i < plan->node_count; i++)
    program->nodes[i].narrow = program->narrow && i != last;
}

static enum tutti_status choose_forms(tutti_context *context, struct stream_library *library,
                                      struct stream_program *program) {
  const struct cpu_plan *plan = program->plan;
  for (size_t i = 0; i < plan->node_count; i++) {
    struct stream_node *to = &program->nodes[i];
    to->value = to->gradient = to->slope = to->statistics = STREAM_NONE;
    if (plan->nodes[i].op == TUTTI_OP_CONV2D && plan->nodes[i].form == CPU_PATCHES && to->narrow == program->narrow)
      TUTTI_TRY(context, choose_algorithms(context, library, program, i));
  }
  return TUTTI_OK;
}

/* Kernels count numbers of an array in 31 bits. */
static enum tutti_status check_sizes(tutti_context *context, const struct stream_program *program) {
  const struct cpu_plan *plan = program->plan;
  for (size_t i = 0; i < plan->node_count; i++) {
    const struct cpu_node *node = &plan->nodes[i];
    const struct cpu_window *w = &node->window;
    size_t input = larger_of(w->padded_height * w->padded_width * w->ld, node->pixels * node->input_ld);
    if (plan->rows > INT32_MAX / larger_of(1, larger_of(input, node->pixels * node->ld)) || plan->floats > INT32_MAX)
      return TUTTI_FAIL(context, TUTTI_ERROR_MEMORY,
                        "layer %s: %zu rows at once have more than 2^31 numbers: lower batch_size", node->layer->label,
                        plan->rows);
  }
  return TUTTI_OK;
}

enum tutti_status backend_cuda_stream_lower(tutti_context *context, struct stream_library *library,
                                            const struct tutti_job *job, const struct stream_purpose *purpose,
                                            struct stream_program *program) {
  const struct cpu_purpose plain = {.gradients = purpose->training, .frozen = job->frozen};
  struct layout layout = {.program = program};
  enum tutti_status status;
  memset(program, 0, sizeof *program);
  program->training = purpose->training;
  if (purpose->training)
    program->precision = (enum cpu_precision)((const struct cpu_config *)job->config)->precision;
  program->narrow = program->precision == CPU_BFLOAT16;
  program->row_count_count = purpose->row_count_count;
  for (uint32_t k = 0; k < purpose->row_count_count; k++)
    program->row_counts[k] = purpose->row_counts[k];
  TUTTI_TRY_OUT(context, backend_cpu_plan_describe(context, job->network, job->task, purpose->row_counts[0], &plain,
                                                   &program->plan));
  struct cpu_plan *plan = program->plan;
  TUTTI_TRY_OUT(context, tutti_alloc(context, plan->floats + 1, sizeof(float), &plan->arena));
  plan->weights = plan->arena;
  backend_cpu_decays(plan, job->config);
  TUTTI_TRY_OUT(context, tutti_alloc(context, plan->node_count, sizeof *program->nodes, &program->nodes));
  TUTTI_TRY_OUT(context, check_sizes(context, program));
  choose_numbers(program);
  TUTTI_TRY_OUT(context, choose_forms(context, library, program));
  if (program->training)
    TUTTI_TRY_OUT(context, cut_weights(context, program));
  reserve_fixed(&layout, purpose);
  reserve_scratch(&layout);
  TUTTI_TRY_OUT(context, place_arrays(context, &layout));
  program->bytes = layout.floats * sizeof(float);
out:
  if (status != TUTTI_OK)
    backend_cuda_stream_release(program);
  return status;
}

void backend_cuda_stream_release(struct stream_program *program) {
  backend_cpu_plan_destroy(program->plan);
  tutti_free(program->nodes);
  tutti_free(program->pieces);
  tutti_free(program->starts);
  memset(program, 0, sizeof *program);
}
