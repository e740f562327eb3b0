/* plan.c - turns a network into nodes with places in one block of memory, once; a step then allocates nothing.

   Layers that move no numbers (identity, flatten, detach) vanish; an activation that alone reads its input works in
   place on it. A gradient's place is given to another node as soon as it has been passed on. */
#include "cpu_impl.h"

#include <string.h>

/* Where a layer's output is found. */
struct plan_source {
  uint32_t node;
  bool detached;
};

/* Offsets of a node's arrays in the arena, in floats. */
struct plan_places {
  size_t value, gradient, slope, mask, statistics;
};

struct plan_builder {
  struct cpu_plan *plan;
  struct plan_source *sources; /* [layers] */
  uint32_t *readers;           /* [layers]: how many layers read it */
  struct plan_places *places;  /* [nodes] */
  size_t floats;               /* of the arena, so far */
  size_t edges;
};

/* Row length in memory: whole vectors of 16; and, for long rows, not a multiple of 512 bytes, or the rows of a panel
   would fall into few sets of the first-level cache. */
size_t backend_cpu_ld(size_t width) {
  size_t ld = (width + 15) / 16 * 16;
  return ld % 128 == 0 ? ld + 16 : ld;
}

static size_t plan_larger(size_t a, size_t b) { return a > b ? a : b; }

/* A place for `count` floats. Arrays are set apart by an odd number of cache lines, so that their beginnings do not
   compete for the same sets. */
static size_t plan_reserve(struct plan_builder *b, size_t count) {
  size_t at = b->floats;
  size_t lines = (count + 15) / 16;
  b->floats += (lines + (lines % 2 == 0) + 4) * 16;
  return at;
}

static bool plan_passes(const struct plan_builder *b, const struct tutti_layer *layer) {
  switch (layer->op) {
  case TUTTI_OP_IDENTITY:
  case TUTTI_OP_DETACH:
    return true;
  case TUTTI_OP_FLATTEN:
    return b->plan->nodes[b->sources[layer->inputs[0]].node].pixels == 1;
  case TUTTI_OP_ACTIVATION:
    return layer->attributes.activation == TUTTI_ACTIVATION_LINEAR;
  case TUTTI_OP_DROPOUT:
    return layer->attributes.rate <= 0;
  default:
    return false;
  }
}

/* May this activation work in place on its input? */
static bool plan_fuses(const struct plan_builder *b, const struct tutti_layer *layer) {
  if (layer->op != TUTTI_OP_ACTIVATION || layer->attributes.activation == TUTTI_ACTIVATION_CRELU)
    return false;
  uint32_t input = layer->inputs[0];
  const struct cpu_node *node = &b->plan->nodes[b->sources[input].node];
  return b->readers[input] == 1 && node->layer == tutti_network_layer(b->plan->network, input) &&
         node->op != TUTTI_OP_INPUT && node->op != TUTTI_OP_MAX_POOL && node->activation == TUTTI_ACTIVATION_LINEAR;
}

/* An input that is only flattened is a table. */
static bool plan_is_table(const struct plan_builder *b, const struct tutti_layer *layer, size_t index) {
  if (layer->shape.height == 1 && layer->shape.width == 1)
    return true;
  bool table = layer->op == TUTTI_OP_INPUT;
  for (size_t i = 0; i < tutti_network_layers(b->plan->network); i++) {
    const struct tutti_layer *reader = tutti_network_layer(b->plan->network, i);
    for (size_t e = 0; e < reader->input_count; e++)
      table &= reader->inputs[e] != index || reader->op == TUTTI_OP_FLATTEN;
  }
  return table;
}

/* --- windows --- */

/* Padding in front along one side, and the length with all padding. */
static void plan_pad(size_t in, size_t out, size_t span, const struct tutti_attributes *attributes, size_t *before,
                     size_t *padded) {
  size_t reach = (out - 1) * (size_t)attributes->stride + span;
  *before = attributes->padding == TUTTI_PADDING_SAME && reach > in ? (reach - in) / 2 : 0;
  *padded = plan_larger(reach, *before + in);
}

static void plan_set_taps(struct cpu_plan *plan, struct cpu_node *node) {
  const struct cpu_window *w = &node->window;
  node->taps = plan->taps + plan->tap_count;
  if (node->op == TUTTI_OP_FACTORISED_REDUCE) {
    node->tap_count = 2;
    node->taps[0] = 0;
    node->taps[1] = (w->padded_width + 1) * w->ld;
  } else {
    for (size_t ky = 0; ky < w->kernel_height; ky++)
      for (size_t kx = 0; kx < w->kernel_width; kx++)
        node->taps[node->tap_count++] = (ky * w->padded_width + kx) * w->dilation * w->ld;
  }
  plan->tap_count += node->tap_count;
}

static void plan_add_window(struct cpu_plan *plan, struct cpu_node *node) {
  const struct cpu_node *source = &plan->nodes[node->edges[0].source];
  struct tutti_attributes a = node->layer->attributes;
  if (node->op == TUTTI_OP_FACTORISED_REDUCE) {
    /* Its two convolutions are one with two taps, the second a pixel further down and right. */
    a.kernel_height = a.kernel_width = a.stride = 2;
    a.dilation = a.groups = 1;
    a.padding = TUTTI_PADDING_VALID;
  } else if (node->op != TUTTI_OP_CONV2D) {
    a.dilation = 1;
  }
  struct cpu_window *w = &node->window;
  *w = (struct cpu_window){.in_height = (size_t)source->layer->shape.height,
                           .in_width = (size_t)source->layer->shape.width,
                           .out_height = (size_t)node->layer->shape.height,
                           .out_width = (size_t)node->layer->shape.width,
                           .kernel_height = (size_t)a.kernel_height,
                           .kernel_width = (size_t)a.kernel_width,
                           .stride = (size_t)a.stride,
                           .dilation = (size_t)a.dilation,
                           .ld = source->ld};
  plan_pad(w->in_height, w->out_height, (w->kernel_height - 1) * w->dilation + 1, &a, &w->top, &w->padded_height);
  plan_pad(w->in_width, w->out_width, (w->kernel_width - 1) * w->dilation + 1, &a, &w->left, &w->padded_width);
  if (node->op == TUTTI_OP_MAX_POOL || node->op == TUTTI_OP_AVERAGE_POOL)
    return;
  bool pointwise = w->kernel_height * w->kernel_width * w->stride == 1;
  if (a.groups == 1 && pointwise && node->op == TUTTI_OP_CONV2D)
    node->op = TUTTI_OP_DENSE;
  else if (a.groups == 1)
    node->form = CPU_PATCHES;
  else
    node->form = (size_t)a.groups == source->width && node->width == source->width ? CPU_DEPTHWISE : CPU_GROUPED;
  plan_set_taps(plan, node);
}

static void plan_add_node(struct plan_builder *b, const struct tutti_layer *layer, size_t index) {
  struct cpu_plan *plan = b->plan;
  struct cpu_node *node = &plan->nodes[plan->node_count];
  node->layer = layer;
  node->op = layer->op;
  node->pixels = (size_t)layer->shape.height * (size_t)layer->shape.width;
  node->width = (size_t)layer->shape.channels;
  if (plan_is_table(b, layer, index)) {
    node->width *= node->pixels;
    node->pixels = 1;
  }
  node->ld = node->pixels == 1 ? backend_cpu_ld(node->width) : (node->width + 7) / 8 * 8;
  node->weight = node->bias = node->mean = node->variance = CPU_NONE;
  node->edges = plan->edges + b->edges;
  node->edge_count = layer->input_count;
  b->edges += layer->input_count;
  for (size_t e = 0; e < layer->input_count; e++) {
    struct plan_source source = b->sources[layer->inputs[e]];
    node->edges[e].source = source.node;
    node->edges[e].gradient = !source.detached;
  }
  if (layer->op == TUTTI_OP_ACTIVATION)
    node->activation = layer->attributes.activation;
  if (layer->op == TUTTI_OP_CONV2D || layer->op == TUTTI_OP_FACTORISED_REDUCE || layer->op == TUTTI_OP_MAX_POOL ||
      layer->op == TUTTI_OP_AVERAGE_POOL)
    plan_add_window(plan, node);
  b->sources[index] = (struct plan_source){(uint32_t)plan->node_count, false};
  plan->node_count++;
}

static void plan_add_layers(struct plan_builder *b) {
  const tutti_network *network = b->plan->network;
  size_t layers = tutti_network_layers(network);
  for (size_t i = 0; i < layers; i++) {
    const struct tutti_layer *layer = tutti_network_layer(network, i);
    for (size_t e = 0; e < layer->input_count; e++)
      b->readers[layer->inputs[e]]++;
  }
  for (size_t i = 0; i < layers; i++) {
    const struct tutti_layer *layer = tutti_network_layer(network, i);
    if (plan_passes(b, layer)) {
      b->sources[i] = b->sources[layer->inputs[0]];
      b->sources[i].detached |= layer->op == TUTTI_OP_DETACH;
    } else if (plan_fuses(b, layer)) {
      b->sources[i] = b->sources[layer->inputs[0]];
      b->plan->nodes[b->sources[i].node].activation = layer->attributes.activation;
    } else {
      plan_add_node(b, layer, i);
    }
  }
}

/* --- weights --- */

static size_t plan_add_segment(struct cpu_plan *plan, const struct cpu_node *node, const char *part, size_t rows,
                               bool matrix, bool trained) {
  const struct tutti_attributes *a = &node->layer->attributes;
  bool conv = node->layer->op == TUTTI_OP_CONV2D;
  size_t ld = backend_cpu_ld(node->width);
  struct cpu_segment *segment = &plan->segments[plan->segment_count++];
  *segment = (struct cpu_segment){.layer = node->layer,
                                  .part = part,
                                  .offset = plan->floats,
                                  .rows = rows,
                                  .columns = node->width,
                                  .ld = ld,
                                  .fan_in = rows,
                                  .fan_out = conv ? node->width * (size_t)a->kernel_height * (size_t)a->kernel_width /
                                                        (size_t)a->groups
                                                  : node->width,
                                  .matrix = matrix,
                                  .trained = trained};
  plan->floats += rows * ld;
  return segment->offset;
}

static void plan_add_weights(struct cpu_plan *plan) {
  for (size_t i = 0; i < plan->node_count; i++) {
    struct cpu_node *node = &plan->nodes[i];
    const struct tutti_attributes *a = &node->layer->attributes;
    bool reduce = node->op == TUTTI_OP_FACTORISED_REDUCE;
    if (node->op == TUTTI_OP_DENSE || node->op == TUTTI_OP_CONV2D || reduce) {
      size_t inputs = plan->nodes[node->edges[0].source].width;
      if (node->op == TUTTI_OP_CONV2D)
        inputs = inputs / (size_t)a->groups * node->tap_count;
      node->segment = plan->segment_count;
      node->weight = plan_add_segment(plan, node, "weight", inputs, true, true);
      if (a->bias && !reduce)
        node->bias = plan_add_segment(plan, node, "bias", 1, false, true);
    } else if (node->op == TUTTI_OP_BATCH_NORM && node->layer->attributes.affine) {
      node->weight = plan_add_segment(plan, node, "gamma", 1, false, true);
      node->bias = plan_add_segment(plan, node, "beta", 1, false, true);
    }
  }
  plan->trained = plan->floats;
  for (size_t i = 0; i < plan->node_count; i++) {
    struct cpu_node *node = &plan->nodes[i];
    if (node->op == TUTTI_OP_BATCH_NORM) {
      node->mean = plan_add_segment(plan, node, "mean", 1, false, false);
      node->variance = plan_add_segment(plan, node, "variance", 1, false, false);
    }
  }
}

static bool plan_is_conv(const struct cpu_node *node) {
  return node->op == TUTTI_OP_CONV2D || node->op == TUTTI_OP_FACTORISED_REDUCE;
}

/* --- the way of the gradients --- */

static bool plan_is_head(enum tutti_op op) { return op >= TUTTI_OP_HEAD_SOFTMAX && op <= TUTTI_OP_HEAD_NOMU; }

/* Which nodes need a gradient: weights lie at or before them, and a way without detach leads from them to the head. */
static void plan_find_gradients(struct cpu_plan *plan) {
  for (size_t i = 0; i < plan->node_count; i++) {
    struct cpu_node *node = &plan->nodes[i];
    node->needs_gradient = node->weight != CPU_NONE;
    for (size_t e = 0; e < node->edge_count; e++)
      node->needs_gradient |= node->edges[e].gradient && plan->nodes[node->edges[e].source].needs_gradient;
  }
  for (size_t i = 0; i < plan->node_count; i++) {
    struct cpu_node *node = &plan->nodes[i];
    for (size_t e = 0; e < node->edge_count; e++)
      node->edges[e].gradient &= plan->nodes[node->edges[e].source].needs_gradient && node->op != TUTTI_OP_ZERO;
  }
}

/* Backward from the head: who writes a gradient first, who last; nodes that none reaches pass nothing on. */
static void plan_order_gradients(struct cpu_plan *plan, struct cpu_edge **last, const struct cpu_node **writer) {
  for (size_t i = plan->node_count; i-- > 0;) {
    struct cpu_node *node = &plan->nodes[i];
    bool reached = last[i] || plan_is_head(node->op);
    node->needs_gradient &= reached;
    for (size_t e = 0; e < node->edge_count; e++) {
      struct cpu_edge *edge = &node->edges[e];
      edge->gradient &= node->needs_gradient;
      if (!edge->gradient)
        continue;
      edge->first = !last[edge->source];
      last[edge->source] = edge;
      writer[edge->source] = node;
    }
  }
  for (size_t i = 0; i < plan->node_count; i++) {
    struct cpu_node *node = &plan->nodes[i];
    node->masked = last[i] && node->activation == TUTTI_ACTIVATION_RELU && writer[i]->op == TUTTI_OP_DENSE;
    if (node->masked)
      last[i]->mask = true;
  }
}

/* --- places --- */

struct plan_block {
  size_t at, size;
  bool taken;
};

/* Give each gradient the smallest free block that holds it, in the order of the backward pass. */
static void plan_place_gradients(struct plan_builder *b, struct plan_block *blocks) {
  struct cpu_plan *plan = b->plan;
  size_t count = 0;
  for (size_t i = plan->node_count; i-- > 0;) {
    struct cpu_node *node = &plan->nodes[i];
    for (size_t e = 0; e < node->edge_count; e++) {
      if (!node->edges[e].gradient || !node->edges[e].first)
        continue;
      uint32_t source = node->edges[e].source;
      size_t size = plan->rows * plan->nodes[source].pixels * plan->nodes[source].ld, best = CPU_NONE;
      for (size_t k = 0; k < count; k++)
        if (!blocks[k].taken && blocks[k].size >= size && (best == CPU_NONE || blocks[k].size < blocks[best].size))
          best = k;
      if (best == CPU_NONE) {
        best = count++;
        blocks[best] = (struct plan_block){plan_reserve(b, size), size, false};
      }
      blocks[best].taken = true;
      b->places[source].gradient = blocks[best].at;
    }
    for (size_t k = 0; k < count; k++)
      if (b->places[i].gradient == blocks[k].at)
        blocks[k].taken = false;
  }
}

static bool plan_keeps_slope(const struct cpu_node *node) {
  return node->activation == TUTTI_ACTIVATION_GELU || node->activation == TUTTI_ACTIVATION_SWISH;
}

size_t backend_cpu_period(const struct cpu_node *node) { return node->ld % 16 ? 2 * node->ld : node->ld; }

size_t backend_cpu_columns(const struct cpu_node *node) {
  return node->pixels > 1 ? node->ld : (node->width + 15) / 16 * 16;
}

/* Floats of dropout's mask. */
static size_t plan_mask(const struct cpu_plan *plan, const struct cpu_node *node) {
  if (node->op == TUTTI_OP_DROP_PATH)
    return plan->rows;
  if (node->layer->attributes.spatial)
    return plan->rows * backend_cpu_ld(node->width);
  return plan->rows * node->pixels * node->ld;
}

static void plan_place_nodes(struct plan_builder *b, bool training) {
  struct cpu_plan *plan = b->plan;
  for (size_t i = 0; i < plan->node_count; i++) {
    struct cpu_node *node = &plan->nodes[i];
    struct plan_places *place = &b->places[i];
    memset(place, 0xff, sizeof *place);
    if (plan_is_head(node->op))
      continue;
    size_t size = plan->rows * node->pixels * node->ld;
    place->value = plan_reserve(b, size);
    if (node->op == TUTTI_OP_BATCH_NORM)
      place->statistics = plan_reserve(b, CPU_STATISTICS * backend_cpu_period(node));
    if (!training)
      continue;
    if (plan_keeps_slope(node))
      place->slope = plan_reserve(b, size);
    if (node->op == TUTTI_OP_DROPOUT || node->op == TUTTI_OP_DROP_PATH)
      place->mask = plan_reserve(b, plan_mask(plan, node));
  }
}

/* Floats of the largest transposed block of weights; one place serves all layers, and stays in cache. */
static size_t plan_transposed(const struct cpu_plan *plan) {
  size_t most = 0;
  for (size_t i = 0; i < plan->node_count; i++) {
    const struct cpu_node *node = &plan->nodes[i];
    const struct cpu_node *source = node->edge_count ? &plan->nodes[node->edges[0].source] : NULL;
    size_t units = node->width < CPU_GEMM_DEPTH ? node->width : CPU_GEMM_DEPTH;
    if (node->op == TUTTI_OP_DENSE && node->edges[0].gradient)
      most = plan_larger(most, units * backend_cpu_ld(source->width));
    else if (plan_is_conv(node) && node->form == CPU_PATCHES)
      most = plan_larger(most, units * backend_cpu_patch_ld(node, source));
  }
  return most;
}

size_t backend_cpu_patch(const struct cpu_node *node, const struct cpu_node *source) {
  return node->tap_count * source->width;
}

size_t backend_cpu_patch_ld(const struct cpu_node *node, const struct cpu_node *source) {
  return backend_cpu_ld(backend_cpu_patch(node, source));
}

size_t backend_cpu_patch_rows(const struct cpu_node *node, const struct cpu_node *source) {
  enum { FLOATS = 1 << 15 }; /* that stay in the second-level cache with all else */
  size_t rows = FLOATS / (node->window.out_width * backend_cpu_patch_ld(node, source));
  return rows < 1 ? 1 : rows > node->window.out_height ? node->window.out_height : rows;
}

/* Floats of the scratch arrays, in their order in struct cpu_scratch. */
static void plan_scratch(const struct cpu_plan *plan, bool training, size_t size[CPU_SCRATCH]) {
  for (size_t i = 0; i < plan->node_count; i++) {
    const struct cpu_node *node = &plan->nodes[i];
    const struct cpu_window *w = &node->window;
    if (w->ld == 0 || node->op == TUTTI_OP_DENSE)
      continue;
    const struct cpu_node *source = &plan->nodes[node->edges[0].source];
    size_t span_y = (w->kernel_height - 1) * w->dilation, span_x = (w->kernel_width - 1) * w->dilation;
    size_t padded = w->padded_height * w->padded_width * w->ld;
    size_t spread = (w->in_height + span_y) * (w->in_width + span_x) * w->ld;
    size[0] = plan_larger(size[0], padded);
    if (training)
      size[1] = plan_larger(size[1], plan_larger(padded, spread));
    if (!plan_is_conv(node))
      continue;
    if (node->form == CPU_PATCHES) {
      size_t patches = backend_cpu_patch_rows(node, source) * w->out_width * backend_cpu_patch_ld(node, source) + 16;
      size[2] = plan_larger(size[2], patches);
      size[3] = training ? plan_larger(size[3], patches) : 0;
    }
    size_t weights = node->tap_count * backend_cpu_ld(node->width);
    if (node->op == TUTTI_OP_FACTORISED_REDUCE)
      weights = backend_cpu_patch(node, source) * backend_cpu_ld(node->width);
    size[4] = plan_larger(size[4], weights);
    size[5] = training ? plan_larger(size[5], weights) : 0;
  }
}

/* Doubles for the sums of the widest batch norm. */
static size_t plan_sums(const struct cpu_plan *plan) {
  size_t most = 0;
  for (size_t i = 0; i < plan->node_count; i++)
    if (plan->nodes[i].op == TUTTI_OP_BATCH_NORM)
      most = plan_larger(most, 2 * plan->nodes[i].ld);
  return most;
}

static float *plan_at(struct cpu_plan *plan, size_t offset) { return offset == CPU_NONE ? NULL : plan->arena + offset; }

static enum tutti_status plan_place(tutti_context *context, struct plan_builder *b, bool training) {
  struct cpu_plan *plan = b->plan;
  struct plan_block *blocks = NULL;
  struct cpu_edge **last = NULL;
  const struct cpu_node **writer = NULL;
  enum tutti_status status;
  TUTTI_TRY_OUT(context, tutti_alloc(context, plan->node_count, sizeof *blocks, &blocks));
  TUTTI_TRY_OUT(context, tutti_alloc(context, plan->node_count, sizeof *last, &last));
  TUTTI_TRY_OUT(context, tutti_alloc(context, plan->node_count, sizeof *writer, &writer));
  if (training) {
    plan_find_gradients(plan);
    plan_order_gradients(plan, last, writer);
  }
  size_t weights = plan_reserve(b, plan->floats);
  size_t gradients = training ? plan_reserve(b, plan->trained) : CPU_NONE;
  plan_place_nodes(b, training);
  if (training)
    plan_place_gradients(b, blocks);
  size_t transposed = plan_reserve(b, training ? plan_transposed(plan) : 0), cells = plan->rows * plan->outputs;
  size_t head[5], scratch[CPU_SCRATCH] = {0};
  plan_scratch(plan, training, scratch);
  for (int i = 0; i < CPU_SCRATCH; i++)
    scratch[i] = plan_reserve(b, scratch[i]);
  for (int i = 0; i < 5; i++)
    head[i] = plan_reserve(b, cells);
  size_t labels = plan_reserve(b, plan->rows), sums = plan_reserve(b, 2 * plan_sums(plan));
  plan->bytes = b->floats * sizeof *plan->arena;
  TUTTI_TRY_OUT(context, tutti_alloc(context, b->floats, sizeof *plan->arena, &plan->arena));
  plan->weights = plan_at(plan, weights);
  plan->gradients = plan_at(plan, gradients);
  plan->transposed = plan->arena + transposed;
  plan->sums = (double *)(void *)(plan->arena + sums);
  plan->scratch = (struct cpu_scratch){plan->arena + scratch[0], plan->arena + scratch[1], plan->arena + scratch[2],
                                       plan->arena + scratch[3], plan->arena + scratch[4], plan->arena + scratch[5]};
  plan->head =
      (struct cpu_head_arrays){plan->arena + head[0], plan->arena + head[1], plan->arena + head[2],
                               plan->arena + head[3], plan->arena + head[4], (int32_t *)(void *)(plan->arena + labels)};
  for (size_t i = 0; i < plan->node_count; i++) {
    struct cpu_node *node = &plan->nodes[i];
    node->value = plan_at(plan, b->places[i].value);
    node->gradient = plan_at(plan, b->places[i].gradient);
    node->slope = plan_at(plan, b->places[i].slope);
    node->mask = plan_at(plan, b->places[i].mask);
    node->statistics = plan_at(plan, b->places[i].statistics);
  }
out:
  tutti_free(blocks);
  tutti_free(last);
  tutti_free(writer);
  return status;
}

enum tutti_status backend_cpu_plan_create(tutti_context *context, const struct cpu_kernels *kernels,
                                          const tutti_network *network, const struct tutti_task *task, size_t rows,
                                          bool training, struct cpu_plan **made) {
  struct plan_builder b = {0};
  struct cpu_plan *plan = NULL;
  enum tutti_status status;
  size_t layers = tutti_network_layers(network), edges = 0, taps = 0;
  for (size_t i = 0; i < layers; i++) {
    const struct tutti_layer *layer = tutti_network_layer(network, i);
    edges += layer->input_count;
    if (layer->op == TUTTI_OP_CONV2D)
      taps += (size_t)layer->attributes.kernel_height * (size_t)layer->attributes.kernel_width;
    taps += layer->op == TUTTI_OP_FACTORISED_REDUCE ? 2 : 0;
  }
  *made = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *plan, &plan));
  b.plan = plan;
  plan->kernels = kernels;
  plan->network = network;
  plan->rows = rows;
  plan->outputs = task->outputs;
  TUTTI_TRY_OUT(context, tutti_alloc(context, layers, sizeof *plan->nodes, &plan->nodes));
  TUTTI_TRY_OUT(context, tutti_alloc(context, edges, sizeof *plan->edges, &plan->edges));
  TUTTI_TRY_OUT(context, tutti_alloc(context, taps, sizeof *plan->taps, &plan->taps));
  TUTTI_TRY_OUT(context, tutti_alloc(context, 4 * layers, sizeof *plan->segments, &plan->segments));
  TUTTI_TRY_OUT(context, tutti_alloc(context, layers, sizeof *b.sources, &b.sources));
  TUTTI_TRY_OUT(context, tutti_alloc(context, layers, sizeof *b.readers, &b.readers));
  TUTTI_TRY_OUT(context, tutti_alloc(context, layers, sizeof *b.places, &b.places));
  plan_add_layers(&b);
  plan_add_weights(plan);
  TUTTI_TRY_OUT(context, plan_place(context, &b, training));
  *made = plan;
  plan = NULL;
out:
  backend_cpu_plan_destroy(plan);
  tutti_free(b.sources);
  tutti_free(b.readers);
  tutti_free(b.places);
  return status;
}

void backend_cpu_plan_destroy(struct cpu_plan *plan) {
  if (!plan)
    return;
  tutti_free(plan->arena);
  tutti_free(plan->nodes);
  tutti_free(plan->edges);
  tutti_free(plan->segments);
  tutti_free(plan->taps);
  tutti_free(plan);
}

size_t backend_cpu_evaluation_rows(const tutti_network *network) {
  for (size_t i = 1; i < tutti_network_layers(network); i++) {
    const struct tutti_layer *layer = tutti_network_layer(network, i);
    if (layer->shape.height > 1 || layer->shape.width > 1)
      return CPU_EVALUATION_IMAGES;
  }
  return CPU_EVALUATION_ROWS;
}

const struct cpu_node *backend_cpu_plan_head(const struct cpu_plan *plan) { return &plan->nodes[plan->node_count - 1]; }
