/* lower.c - from the plan of backend cpu to a program of the block engine. The order of nodes, the weights' places in
   their vector and the numbers that dropout draws by are the plan's own. Arrays go to the block's shared memory as far
   as it reaches, what a step touches most often first: values and gradients of nodes, weights, their gradients, the
   optimiser's state. */
#include "cuda_impl.h"

#include <string.h>

/* --- nodes --- */

static uint32_t offset_of(size_t offset) { return offset == CPU_NONE ? CUDA_NOWHERE : (uint32_t)offset; }

static struct cuda_node lower_node(const struct cpu_plan *plan, const struct cpu_node *node, uint32_t edge) {
  const struct cpu_attributes *a = node->attributes;
  bool dense = node->op == TUTTI_OP_DENSE;
  const struct cuda_place nowhere = {CUDA_NOWHERE, 0};
  return (struct cuda_node){.op = (uint32_t)node->op,
                            .activation = (uint32_t)node->activation,
                            .width = (uint32_t)node->width,
                            .ld = (uint32_t)node->ld,
                            .inputs = (uint32_t)(dense ? node->inputs : 0),
                            .edge = edge,
                            .edge_count = (uint32_t)node->edge_count,
                            .weight = offset_of(node->weight),
                            .bias = offset_of(node->bias),
                            .ldw = (uint32_t)(dense ? plan->segments[node->segment].ld : 0),
                            .mean = offset_of(node->mean),
                            .variance = offset_of(node->variance),
                            .needs_gradient = node->needs_gradient,
                            .masked = node->masked,
                            .frozen = node->frozen,
                            .artificial = node->artificial,
                            .scheduled = a->scheduled,
                            .head_variance = a->variance,
                            .head_scale = (float)a->scale,
                            .head_floor = (float)a->floor,
                            .rate = a->rate,
                            .momentum = a->momentum,
                            .epsilon = a->epsilon,
                            .value = nowhere,
                            .gradient = nowhere,
                            .slope = nowhere,
                            .mask = nowhere,
                            .statistics = nowhere};
}

static void lower_network(struct cuda_program *program) {
  const struct cpu_plan *plan = program->plan;
  for (size_t i = 0; i < plan->node_count; i++) {
    const struct cpu_node *node = &plan->nodes[i];
    program->nodes[i] = lower_node(plan, node, program->edge_count);
    for (size_t e = 0; e < node->edge_count; e++)
      program->edges[program->edge_count++] =
          (struct cuda_edge){node->edges[e].source, node->edges[e].gradient, node->edges[e].first, node->edges[e].mask};
  }
  program->node_count = (uint32_t)plan->node_count;
}

/* The arrays that are trained; those that lie side by side and have the same L2 factor are one, unless each is clipped
   by itself. What lies between them is 0, and so is its gradient. */
static void lower_segments(struct cuda_program *program, const struct cpu_config *config) {
  const struct cpu_plan *plan = program->plan;
  size_t last = plan->segment_count; /* index of the one that was added last */
  for (size_t s = 0; s < plan->segment_count; s++) {
    const struct cpu_segment *segment = &plan->segments[s];
    size_t end = segment->offset + segment->rows * segment->ld;
    if (!backend_cpu_steps(segment))
      continue;
    struct cuda_segment *before = program->segments + program->segment_count - (program->segment_count > 0);
    if (config->gradient_clip <= 0 && last + 1 == s && before->decay == segment->decay &&
        segment->offset >= before->offset + before->size)
      before->size = (uint32_t)(end - before->offset);
    else
      program->segments[program->segment_count++] =
          (struct cuda_segment){(uint32_t)segment->offset, (uint32_t)(end - segment->offset), segment->decay};
    last = s;
  }
}

/* --- places --- */

struct placing {
  tutti_context *context;
  struct cuda_program *program;
  bool training, draws; /* for training; for predictions with dropout */
  bool stages;          /* not all is shared: products go by way of shared memory */
  size_t limit;         /* floats of shared memory for arrays */
  size_t near, far;     /* floats used */
  struct cpu_array *values, *gradients, **order;
};

/* Floats of an array: whole vectors of four. */
static size_t rounded(size_t size) { return (size + 3) / 4 * 4; }

static struct cuda_place fix(struct placing *p, size_t size) {
  bool shared = p->near + rounded(size) <= p->limit;
  size_t *used = shared ? &p->near : &p->far;
  struct cuda_place place = {(uint32_t)*used, shared};
  *used += rounded(size);
  return place;
}

static void place_nodes(struct placing *p) {
  struct cuda_program *program = p->program;
  const struct cpu_plan *plan = program->plan;
  size_t ends[2] = {p->near, p->far};
  size_t count = backend_cpu_order_arrays(plan, p->values, p->gradients, p->order);
  for (size_t k = 0; k < count; k++) {
    struct cpu_array *array = p->order[k];
    array->far = false;
    array->at = backend_cpu_lowest_place(p->order, k, p->near, rounded);
    if (array->at + rounded(array->size) > p->limit) {
      array->far = true;
      array->at = backend_cpu_lowest_place(p->order, k, p->far, rounded);
    }
    size_t *end = &ends[array->far];
    if (*end < array->at + rounded(array->size))
      *end = array->at + rounded(array->size);
  }
  p->near = ends[0];
  p->far = ends[1];
  for (size_t i = 0; i < plan->node_count; i++) {
    const struct cpu_array *value = &p->values[i], *gradient = &p->gradients[backend_cpu_gradient_of(plan, i)];
    if (value->used)
      program->nodes[i].value = (struct cuda_place){(uint32_t)value->at, !value->far};
    if (gradient->used)
      program->nodes[i].gradient = (struct cuda_place){(uint32_t)gradient->at, !gradient->far};
  }
}

static void place_all(struct placing *p) {
  struct cuda_program *program = p->program;
  const struct cpu_plan *plan = program->plan;
  p->near = p->far = 0;
  program->program = program->stage = (struct cuda_place){CUDA_NOWHERE, 0};
  size_t words = backend_cuda_layout(program, 0).program / sizeof(float);
  if (p->training && words <= p->limit)
    program->program = fix(p, words);
  if (p->stages && p->near + CUDA_STAGE_PARTS * CUDA_STAGE_FLOATS <= p->limit)
    program->stage = fix(p, CUDA_STAGE_PARTS * CUDA_STAGE_FLOATS);
  for (size_t i = 0; i < plan->node_count; i++) {
    const struct cpu_node *node = &plan->nodes[i];
    struct cuda_node *to = &program->nodes[i];
    if (node->op == TUTTI_OP_BATCH_NORM)
      to->statistics = fix(p, CUDA_STATISTICS * node->ld);
    if (p->training && node->op == TUTTI_OP_DROP_PATH)
      to->mask = fix(p, plan->rows);
    if (p->draws && (node->op == TUTTI_OP_DROPOUT || node->op == TUTTI_OP_DROP_PATH)) /* all rows share it */
      to->mask = fix(p, node->ld);
  }
  place_nodes(p);
  for (size_t i = 0; i < plan->node_count && p->training; i++) {
    const struct cpu_node *node = &plan->nodes[i];
    struct cuda_node *to = &program->nodes[i];
    if (backend_cpu_keeps_slope(node))
      to->slope = fix(p, plan->rows * node->ld);
    if (node->op == TUTTI_OP_DROPOUT)
      to->mask = fix(p, plan->rows * node->ld);
  }
  if (!p->training)
    return;
  program->weights = fix(p, plan->floats);
  program->gradients = fix(p, plan->floats);
  program->first = fix(p, plan->floats);
  program->second = fix(p, plan->floats);
}

/* Bytes of shared memory of a block when a multiprocessor holds so many. */
static size_t shared_of(const struct cuda_device *device, size_t blocks) {
  size_t bytes = device->shared_multiprocessor / blocks - device->shared_reserved;
  return (bytes < device->shared_block ? bytes : device->shared_block) / 16 * 16;
}

/* Threads that compute: enough that each has a tile of the largest layer. */
static uint32_t workers_of(const struct cuda_device *device, const struct cpu_plan *plan, size_t rows) {
  size_t largest = 0;
  uint32_t workers = 64;
  for (size_t i = 0; i < plan->node_count; i++)
    if (plan->nodes[i].width * rows > largest)
      largest = plan->nodes[i].width * rows;
  while (workers < CUDA_MOST_WORKERS && workers * 16 < largest)
    workers *= 2;
  return workers < device->most_workers ? workers : device->most_workers;
}

/* In so much shared memory; not everything may lie there. Weights that predictions are made with do not. */
static void place_within(struct placing *p, size_t shared) {
  p->limit = shared / sizeof(float) - CUDA_STATE_FLOATS;
  p->stages = !p->training;
  place_all(p);
  if (p->stages || p->far == 0)
    return;
  p->stages = true;
  place_all(p);
}

/* The most blocks to a multiprocessor at which all arrays are shared, at first as many as have registers; where not
   even a single block has room for all, two of them, of all the threads that they can have, each with the arrays that
   fit. */
static void choose_places(struct placing *p, const struct cuda_device *device) {
  static const size_t blocks[] = {8, 4, 2, 1, 2};
  const size_t tries = sizeof blocks / sizeof blocks[0], registers = 512 / p->program->fit.workers;
  for (size_t i = 0; i < tries; i++) {
    if (blocks[i] > registers)
      continue;
    if (i + 1 == tries)
      p->program->fit.workers = device->most_workers;
    p->program->fit.shared = (uint32_t)shared_of(device, blocks[i]);
    place_within(p, p->program->fit.shared);
    if (p->far == 0)
      break;
  }
  p->program->far = p->far;
}

/* What the head needs besides its inputs. */
static enum tutti_status lower_head(tutti_context *context, const struct tutti_job *job, bool training,
                                    struct cuda_program *program) {
  const struct cpu_config *config = job->config;
  program->head = *backend_cpu_plan_head(program->plan)->attributes;
  if (!training) {
    program->draws = (uint32_t)config->prediction_draws;
    TUTTI_TRY(context, tutti_alloc(context, program->draws, sizeof *program->keys, &program->keys));
    for (uint32_t draw = 0; draw < program->draws; draw++)
      program->keys[draw] = backend_cpu_draw_key(job->seed, draw);
    return TUTTI_OK;
  }
  program->class_weights = job->class_weights;
  program->artificial = (uint32_t)backend_cpu_artificial(job->network);
  if (program->artificial == 0)
    return TUTTI_OK;
  program->features = program->plan->nodes[0].width;
  TUTTI_TRY(context, tutti_alloc(context, 2 * program->features, sizeof(float), &program->box));
  return backend_cpu_box(context, job, program->box);
}

enum tutti_status backend_cuda_lower(tutti_context *context, const struct cuda_device *device,
                                     const struct tutti_job *job, size_t rows, bool training,
                                     const struct cuda_fit *like, struct cuda_program *program) {
  const struct cpu_config *config = job->config;
  const struct cpu_purpose purpose = {.gradients = training, .frozen = job->frozen, .unread = backend_cpu_unread(job)};
  struct placing p = {
      .context = context, .program = program, .training = training, .draws = !training && config->prediction_draws > 0};
  enum tutti_status status;
  memset(program, 0, sizeof *program);
  TUTTI_TRY_OUT(context, backend_cpu_plan_describe(context, job->network, job->task, rows, &purpose, &program->plan));
  struct cpu_plan *plan = program->plan;
  size_t nodes = plan->node_count, edges = 0;
  for (size_t i = 0; i < nodes; i++)
    edges += plan->nodes[i].edge_count;
  TUTTI_TRY_OUT(context, tutti_alloc(context, plan->floats + 1, sizeof(float), &plan->arena));
  plan->weights = plan->arena;
  backend_cpu_decays(plan, config);
  TUTTI_TRY_OUT(context, tutti_alloc(context, nodes, sizeof *program->nodes, &program->nodes));
  TUTTI_TRY_OUT(context, tutti_alloc(context, edges + 1, sizeof *program->edges, &program->edges));
  TUTTI_TRY_OUT(context, tutti_alloc(context, plan->segment_count + 1, sizeof *program->segments, &program->segments));
  TUTTI_TRY_OUT(context, tutti_alloc(context, nodes, sizeof *p.values, &p.values));
  TUTTI_TRY_OUT(context, tutti_alloc(context, nodes, sizeof *p.gradients, &p.gradients));
  TUTTI_TRY_OUT(context, tutti_alloc(context, 2 * nodes, sizeof(struct cpu_array *), &p.order));
  lower_network(program);
  lower_segments(program, config);
  program->averages = training && config->average > 0;
  TUTTI_TRY_OUT(context, lower_head(context, job, training, program));
  backend_cpu_find_lives(plan, training, p.values, p.gradients);
  if (like) {
    program->fit = *like;
    place_within(&p, like->shared);
    program->far = p.far;
  } else {
    program->fit.workers = workers_of(device, plan, rows);
    choose_places(&p, device);
  }
  if (p.far > UINT32_MAX || plan->floats > UINT32_MAX || rows > UINT32_MAX / 2)
    status = TUTTI_FAIL(context, TUTTI_ERROR_MEMORY,
                        "%zu rows at once need more than 16 GiB for one network: lower batch_size", rows);
out:
  tutti_free(p.values);
  tutti_free(p.gradients);
  tutti_free(p.order);
  if (status != TUTTI_OK)
    backend_cuda_program_release(program);
  return status;
}

void backend_cuda_program_release(struct cuda_program *program) {
  backend_cpu_plan_destroy(program->plan);
  tutti_free(program->nodes);
  tutti_free(program->edges);
  tutti_free(program->segments);
  tutti_free(program->box);
  tutti_free(program->keys);
  memset(program, 0, sizeof *program);
}
