/* plan.c - turns a network into nodes, once. A step then walks over them and allocates nothing (memory.c). Layers that
   move no numbers (identity, flatten, detach) vanish. An activation that is its input's only reader works in place. On
   images, readers apply batch norm and the ReLU before a convolution as they read; a concatenation that only products
   read is replaced by its parts; a depthwise convolution before a pointwise one is computed again, some images at a
   time, when its values are needed. */
#include "plan_impl.h"

#include <string.h>

/* Where to find a layer's output. */
struct plan_source {
  uint32_t node;
  const struct tutti_layer *parts; /* a concatenation that vanished: `node` is the first of its parts; or NULL */
  bool detached, relu;
};

struct plan_builder {
  struct cpu_plan *plan;
  struct plan_source *sources; /* [layers] */
  uint32_t *readers;           /* [layers]: how many layers read it */
  size_t edges;
};

static size_t plan_larger(size_t a, size_t b) { return a > b ? a : b; }

static bool plan_passes(const struct plan_builder *b, const struct tutti_layer *layer, size_t index) {
  switch (layer->op) {
  case TUTTI_OP_IDENTITY:
  case TUTTI_OP_DETACH:
    return true;
  case TUTTI_OP_FLATTEN:
    return b->plan->nodes[b->sources[layer->inputs[0]].node].pixels == 1;
  case TUTTI_OP_ACTIVATION:
    return b->plan->attributes[index].activation == TUTTI_ACTIVATION_LINEAR;
  case TUTTI_OP_DROPOUT:
    return b->plan->attributes[index].rate <= 0;
  default:
    return false;
  }
}

static bool plan_is_conv(enum tutti_op op) { return op == TUTTI_OP_CONV2D || op == TUTTI_OP_FACTORISED_REDUCE; }

typedef bool plan_reader(const struct plan_builder *b, size_t index);

static enum tutti_op plan_op(const struct plan_builder *b, size_t index) {
  return tutti_network_layer(b->plan->network, index)->op;
}

static bool plan_reads_relu(const struct plan_builder *b, size_t index) { return plan_is_conv(plan_op(b, index)); }

static bool plan_reads_norm(const struct plan_builder *b, size_t index) {
  return plan_op(b, index) != TUTTI_OP_BATCH_NORM;
}

static bool plan_flattens(const struct plan_builder *b, size_t index) { return plan_op(b, index) == TUTTI_OP_FLATTEN; }

/* Are all readers of a layer marked as wanted, including those behind layers that move no numbers? */
static bool plan_is_read_by(const struct plan_builder *b, size_t index, plan_reader *wanted) {
  for (size_t i = index + 1; i < tutti_network_layers(b->plan->network); i++) {
    const struct tutti_layer *reader = tutti_network_layer(b->plan->network, i);
    bool moves_none = reader->op == TUTTI_OP_IDENTITY || reader->op == TUTTI_OP_DETACH;
    for (size_t e = 0; e < reader->input_count; e++)
      if (reader->inputs[e] == index && !(moves_none ? plan_is_read_by(b, i, wanted) : wanted(b, i)))
        return false;
  }
  return true;
}

/* Is this a ReLU that convolutions of images apply as they read? */
static bool plan_is_viewed(const struct plan_builder *b, const struct tutti_layer *layer, size_t index) {
  return layer->op == TUTTI_OP_ACTIVATION && b->plan->attributes[index].activation == TUTTI_ACTIVATION_RELU &&
         b->plan->nodes[b->sources[layer->inputs[0]].node].pixels > 1 && plan_is_read_by(b, index, plan_reads_relu);
}

/* Products gather their input, and may do so from several places. */
static bool plan_multiplies_parts(const struct plan_builder *b, size_t index) {
  const struct tutti_layer *layer = tutti_network_layer(b->plan->network, index);
  const struct cpu_attributes *a = &b->plan->attributes[index];
  if (layer->op == TUTTI_OP_FACTORISED_REDUCE)
    return true;
  return layer->op == TUTTI_OP_CONV2D && a->groups * a->kernel_height * a->kernel_width * a->stride == 1;
}

static bool plan_reads_parts(const struct plan_builder *b, size_t index) {
  const struct tutti_layer *layer = tutti_network_layer(b->plan->network, index);
  if (layer->op == TUTTI_OP_ACTIVATION)
    return b->plan->attributes[index].activation == TUTTI_ACTIVATION_RELU &&
           plan_is_read_by(b, index, plan_multiplies_parts);
  return layer->op == TUTTI_OP_GLOBAL_POOL || plan_multiplies_parts(b, index);
}

/* Does this concatenation vanish? Yes if all its readers can read parts, and the parts are whole vectors. */
static bool plan_is_parts(const struct plan_builder *b, const struct tutti_layer *layer, size_t index) {
  if (layer->op != TUTTI_OP_CONCAT || !plan_is_read_by(b, index, plan_reads_parts))
    return false;
  for (size_t e = 0; e < layer->input_count; e++) {
    const struct cpu_node *part = &b->plan->nodes[b->sources[layer->inputs[e]].node];
    if (part->pixels == 1 || part->width % 8 != 0)
      return false;
  }
  return true;
}

/* May this activation work in place on its input? */
static bool plan_fuses(const struct plan_builder *b, const struct tutti_layer *layer, size_t index) {
  if (layer->op != TUTTI_OP_ACTIVATION || b->plan->attributes[index].activation == TUTTI_ACTIVATION_CRELU)
    return false;
  uint32_t input = layer->inputs[0];
  const struct cpu_node *node = &b->plan->nodes[b->sources[input].node];
  return b->readers[input] == 1 && node->layer == tutti_network_layer(b->plan->network, input) &&
         node->op != TUTTI_OP_INPUT && node->op != TUTTI_OP_MAX_POOL && !node->lazy &&
         node->activation == TUTTI_ACTIVATION_LINEAR;
}

/* An image input that is only flattened is a table. */
static bool plan_is_table(const struct plan_builder *b, const struct tutti_layer *layer, size_t index) {
  if (layer->shape.height == 1 && layer->shape.width == 1)
    return true;
  return layer->op == TUTTI_OP_INPUT && plan_is_read_by(b, index, plan_flattens);
}

/* --- windows --- */

/* Padding at the start of one side, and the length with all padding. */
static void plan_pad(size_t in, size_t out, size_t span, const struct cpu_attributes *attributes, size_t *before,
                     size_t *padded) {
  size_t reach = (out - 1) * (size_t)attributes->stride + span;
  *before = attributes->padding == TUTTI_PADDING_SAME && reach > in ? (reach - in) / 2 : 0;
  *padded = plan_larger(reach, *before + in);
}

static void plan_set_taps(struct cpu_plan *plan, struct cpu_node *node) {
  const struct cpu_window *w = &node->window;
  node->taps = plan->taps + plan->tap_count;
  for (size_t ky = 0; ky < w->kernel_height; ky++)
    for (size_t kx = 0; kx < w->kernel_width; kx++)
      node->taps[node->tap_count++] = (ky * w->padded_width + kx) * w->dilation * w->ld;
  plan->tap_count += node->tap_count;
}

static void plan_add_window(struct cpu_plan *plan, struct cpu_node *node) {
  const struct cpu_node *source = &plan->nodes[node->edges[0].source];
  struct cpu_attributes a = *node->attributes;
  if (node->op != TUTTI_OP_CONV2D)
    a.dilation = 1;
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
  if (a.groups == 1 && pointwise && node->pixels == 1)
    node->op = TUTTI_OP_DENSE;
  else if (a.groups == 1 && pointwise)
    node->form = CPU_POINTWISE;
  else if (a.groups == 1)
    node->form = CPU_PATCHES;
  else
    node->form = (size_t)a.groups == source->width && node->width == source->width ? CPU_DEPTHWISE : CPU_GROUPED;
  if (node->form == CPU_PATCHES)
    w->ld = source->width;
  plan_set_taps(plan, node);
}

/* An edge to each input, or to each of its parts. */
static void plan_add_edges(struct plan_builder *b, struct cpu_node *node) {
  node->edges = b->plan->edges + b->edges;
  for (size_t i = 0; i < node->layer->input_count; i++) {
    struct plan_source source = b->sources[node->layer->inputs[i]];
    size_t parts = source.parts ? source.parts->input_count : 1, inputs = 0, ld = 0;
    for (size_t p = 0; p < parts; p++) {
      struct plan_source part = source.parts ? b->sources[source.parts->inputs[p]] : source;
      bool gradient = b->plan->slopes || (!part.detached && !source.detached);
      node->edges[node->edge_count++] =
          (struct cpu_edge){.source = part.node, .gradient = gradient, .relu = source.relu};
      inputs += b->plan->nodes[part.node].width;
      ld += b->plan->nodes[part.node].ld;
    }
    node->inputs = plan_larger(node->inputs, inputs);
    node->input_ld = plan_larger(node->input_ld, ld);
  }
  b->edges += node->edge_count;
}

static void plan_add_node(struct plan_builder *b, const struct tutti_layer *layer, size_t index) {
  struct cpu_plan *plan = b->plan;
  struct cpu_node *node = &plan->nodes[plan->node_count];
  node->layer = layer;
  node->attributes = &plan->attributes[index];
  node->op = layer->op;
  node->pixels = (size_t)layer->shape.height * (size_t)layer->shape.width;
  node->width = (size_t)layer->shape.channels;
  if (plan_is_table(b, layer, index)) {
    node->width *= node->pixels;
    node->pixels = 1;
  }
  node->ld = node->pixels == 1 ? backend_cpu_ld(node->width) : (node->width + 7) / 8 * 8;
  node->weight = node->bias = node->mean = node->variance = node->norm = node->shares = node->norms = node->next_norm =
      CPU_NONE;
  plan_add_edges(b, node);
  node->lazy = layer->op == TUTTI_OP_BATCH_NORM && node->pixels > 1 && plan_is_read_by(b, index, plan_reads_norm);
  if (layer->op == TUTTI_OP_ACTIVATION)
    node->activation = node->attributes->activation;
  if (layer->op == TUTTI_OP_CONV2D || layer->op == TUTTI_OP_MAX_POOL || layer->op == TUTTI_OP_AVERAGE_POOL)
    plan_add_window(plan, node);
  b->sources[index] = (struct plan_source){.node = (uint32_t)plan->node_count};
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
    if (plan_passes(b, layer, i)) {
      b->sources[i] = b->sources[layer->inputs[0]];
      b->sources[i].detached |= layer->op == TUTTI_OP_DETACH;
    } else if (plan_is_viewed(b, layer, i)) {
      b->sources[i] = b->sources[layer->inputs[0]];
      b->sources[i].relu = true;
    } else if (plan_is_parts(b, layer, i)) {
      b->sources[i] = (struct plan_source){.node = b->sources[layer->inputs[0]].node, .parts = layer};
    } else if (plan_fuses(b, layer, i)) {
      b->sources[i] = b->sources[layer->inputs[0]];
      b->plan->nodes[b->sources[i].node].activation = b->plan->attributes[i].activation;
    } else {
      plan_add_node(b, layer, i);
    }
  }
}

/* --- weights --- */

/* Dense layers of the inputs leave the last `unread` ones out. */
static void plan_leave_out(struct cpu_plan *plan, size_t unread) {
  for (size_t i = 0; i < plan->node_count; i++) {
    struct cpu_node *node = &plan->nodes[i];
    if (node->op == TUTTI_OP_DENSE && node->edges[0].source == 0) {
      node->inputs -= unread;
      node->unread = unread;
    }
  }
}

static size_t plan_add_segment(struct cpu_plan *plan, const struct cpu_node *node, const char *part, size_t rows,
                               bool matrix, bool trained) {
  const struct cpu_attributes *a = node->attributes;
  bool conv = node->layer->op == TUTTI_OP_CONV2D;
  size_t ld = backend_cpu_ld(node->width);
  struct cpu_segment *segment = &plan->segments[plan->segment_count++];
  *segment = (struct cpu_segment){.layer = node->layer,
                                  .attributes = a,
                                  .part = part,
                                  .offset = plan->floats,
                                  .rows = rows,
                                  .columns = node->width,
                                  .ld = ld,
                                  .fan_in = rows,
                                  .unread = matrix ? node->unread : 0,
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
    const struct cpu_attributes *a = node->attributes;
    bool reduce = node->op == TUTTI_OP_FACTORISED_REDUCE;
    if (node->op == TUTTI_OP_DENSE || node->op == TUTTI_OP_CONV2D || reduce) {
      size_t inputs = node->inputs;
      if (node->op == TUTTI_OP_CONV2D)
        inputs = inputs / (size_t)a->groups * node->tap_count;
      node->segment = plan->segment_count;
      node->weight = plan_add_segment(plan, node, "weight", inputs, true, true);
      if (a->bias && !reduce) {
        node->bias = plan_add_segment(plan, node, "bias", 1, false, true);
        plan->segments[plan->segment_count - 1].fan_in = inputs;
      }
    } else if (node->op == TUTTI_OP_BATCH_NORM && a->affine) {
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

/* --- what is not stored --- */

/* Mark nodes with a single reader: depthwise convolutions that a pointwise one computes when it needs them, and
   convolutions whose gradient follows from that of the batch norm after them. */
static void plan_join(struct cpu_plan *plan) {
  for (size_t i = 0; i < plan->node_count; i++)
    for (size_t e = 0; e < plan->nodes[i].edge_count; e++) {
      struct cpu_node *source = &plan->nodes[plan->nodes[i].edges[e].source];
      source->reader = i;
      source->reader_count++;
    }
  for (size_t i = 0; i < plan->node_count; i++) {
    struct cpu_node *node = &plan->nodes[i];
    const struct cpu_node *reader = &plan->nodes[node->reader];
    bool alone = plan_is_conv(node->op) && node->pixels > 1 && node->reader_count == 1 && reader->edge_count == 1 &&
                 node->activation == TUTTI_ACTIVATION_LINEAR && !reader->edges[0].relu;
    node->through = alone && node->form == CPU_DEPTHWISE && node->bias == CPU_NONE && reader->op == TUTTI_OP_CONV2D &&
                    reader->form == CPU_POINTWISE;
    if (alone && reader->lazy)
      node->norm = node->reader;
  }
}

/* Ops on images that compute some at a time and round them into their place. */
static bool plan_stores_half(const struct cpu_node *node) {
  switch (node->op) {
  case TUTTI_OP_CONV2D:
  case TUTTI_OP_FACTORISED_REDUCE:
  case TUTTI_OP_ADD:
  case TUTTI_OP_MEAN:
  case TUTTI_OP_MAX_POOL:
  case TUTTI_OP_AVERAGE_POOL:
    return node->pixels > 1 && node->activation == TUTTI_ACTIVATION_LINEAR && !node->through;
  default:
    return false;
  }
}

/* Mark the nodes whose values lie in 16 bits. A lazy batch norm has its source's. Dense layers and heads read tables
   alone, which stay in floats. */
static void plan_halve(struct cpu_plan *plan) {
  for (size_t i = 0; i < plan->node_count; i++) {
    struct cpu_node *node = &plan->nodes[i];
    node->half = node->lazy ? plan->nodes[node->edges[0].source].half : plan_stores_half(node);
  }
}

/* --- the way of the gradients --- */

/* Mark the nodes that need a gradient: there are weights at or before them, or for slopes the inputs, and a path
   without detach leads from them to the head. */
static void plan_find_gradients(struct cpu_plan *plan) {
  for (size_t i = 0; i < plan->node_count; i++) {
    struct cpu_node *node = &plan->nodes[i];
    node->needs_gradient = plan->slopes ? i == 0 : node->weight != CPU_NONE && !node->frozen;
    for (size_t e = 0; e < node->edge_count; e++)
      node->needs_gradient |= node->edges[e].gradient && plan->nodes[node->edges[e].source].needs_gradient;
  }
  for (size_t i = 0; i < plan->node_count; i++) {
    struct cpu_node *node = &plan->nodes[i];
    for (size_t e = 0; e < node->edge_count; e++)
      node->edges[e].gradient &= plan->nodes[node->edges[e].source].needs_gradient && node->op != TUTTI_OP_ZERO;
  }
}

/* Mark the nodes whose gradient may differ from 0 at the artificial points: those that gradients tie to NOMU's raw
   uncertainty or bounds, and to batch norms, which mix all rows. Where gradients meet, all rows count on both sides. */
static void plan_find_artificial(struct cpu_plan *plan) {
  const struct cpu_node *head = backend_cpu_plan_head(plan);
  if (head->op != TUTTI_OP_HEAD_NOMU)
    return;
  for (size_t e = 1; e < head->edge_count - backend_cpu_nomu_has_noise(head->attributes); e++)
    plan->nodes[head->edges[e].source].artificial = true;
  bool changed = true;
  for (size_t i = 0; i + 1 < plan->node_count; i++)
    plan->nodes[i].artificial |= plan->nodes[i].op == TUTTI_OP_BATCH_NORM;
  while (changed) {
    changed = false;
    for (size_t i = 0; i + 1 < plan->node_count; i++)
      for (size_t e = 0; e < plan->nodes[i].edge_count; e++) {
        struct cpu_node *node = &plan->nodes[i], *source = &plan->nodes[node->edges[e].source];
        if (!node->edges[e].gradient || node->artificial == source->artificial)
          continue;
        node->artificial = source->artificial = changed = true;
      }
  }
}

/* Bookkeeping of the backward pass: who writes which gradient. */
struct plan_writers {
  struct cpu_edge *last;
  size_t writer, count;
};

/* The edges of one node, and of a depthwise convolution that it computes. */
static void plan_order_edges(struct cpu_plan *plan, size_t index, struct plan_writers *writers) {
  struct cpu_node *node = &plan->nodes[index];
  for (size_t e = 0; e < node->edge_count; e++) {
    struct cpu_edge *edge = &node->edges[e];
    struct plan_writers *w = &writers[edge->source];
    edge->gradient &= node->needs_gradient;
    if (!edge->gradient)
      continue;
    edge->first = w->count++ == 0;
    w->last = edge;
    w->writer = index;
    if (plan->nodes[edge->source].through)
      plan_order_edges(plan, edge->source, writers);
  }
}

/* Go backward from the head: note who writes a gradient first and who last. A node that no gradient reaches passes
   nothing on. A node whose only gradient comes from a sum shares the sum's. */
static void plan_order_gradients(struct cpu_plan *plan, struct plan_writers *writers) {
  for (size_t i = plan->node_count; i-- > 0;) {
    struct cpu_node *node = &plan->nodes[i];
    node->needs_gradient &= writers[i].count > 0 || backend_cpu_is_head(node->op);
    if (!node->through)
      plan_order_edges(plan, i, writers);
  }
  for (size_t i = 0; i < plan->node_count; i++) {
    struct cpu_node *node = &plan->nodes[i];
    if (writers[i].count == 0)
      continue;
    const struct cpu_node *writer = &plan->nodes[writers[i].writer];
    node->masked = node->activation == TUTTI_ACTIVATION_RELU && writer->op == TUTTI_OP_DENSE;
    writers[i].last->mask = node->masked;
    writers[i].last->last = true;
    if (writers[i].count == 1 && writer->op == TUTTI_OP_ADD && node->activation == TUTTI_ACTIVATION_LINEAR)
      node->shares = writers[i].writer;
  }
}

/* Batch norms add up their gradients as these are written, if no later edge changes them. */
static void plan_find_norms(struct cpu_plan *plan) {
  for (size_t i = 0; i < plan->node_count; i++) {
    struct cpu_node *norm = &plan->nodes[i], *owner = norm;
    while (owner->shares != CPU_NONE)
      owner = &plan->nodes[owner->shares];
    if (!norm->lazy || owner->activation != TUTTI_ACTIVATION_LINEAR)
      continue;
    norm->next_norm = owner->norms;
    owner->norms = i;
  }
}

static enum tutti_status plan_find_ways(tutti_context *context, struct cpu_plan *plan) {
  struct plan_writers *writers;
  TUTTI_TRY(context, tutti_alloc(context, plan->node_count, sizeof *writers, &writers));
  plan_find_gradients(plan);
  plan_find_artificial(plan);
  plan_order_gradients(plan, writers);
  plan_find_norms(plan);
  tutti_free(writers);
  return TUTTI_OK;
}

static bool plan_is_named(const char *const *labels, const char *label) {
  for (size_t i = 0; labels && labels[i]; i++)
    if (strcmp(labels[i], label) == 0)
      return true;
  return false;
}

/* Freeze the layers of these labels; for slopes, all. */
static void plan_freeze(struct cpu_plan *plan, const char *const *labels) {
  for (size_t i = 0; i < plan->node_count; i++)
    plan->nodes[i].frozen = plan->slopes || plan_is_named(labels, plan->nodes[i].layer->label);
  for (size_t s = 0; s < plan->segment_count; s++)
    plan->segments[s].frozen = plan_is_named(labels, plan->segments[s].layer->label);
}

enum tutti_status backend_cpu_plan_describe(tutti_context *context, const tutti_network *network,
                                            const struct tutti_task *task, size_t rows,
                                            const struct cpu_purpose *purpose, struct cpu_plan **made) {
  struct plan_builder b = {0};
  struct cpu_plan *plan = NULL;
  enum tutti_status status;
  size_t layers = tutti_network_layers(network), edges = 0, taps = 0, parts = 1;
  for (size_t i = 0; i < layers; i++) {
    const struct tutti_layer *layer = tutti_network_layer(network, i);
    edges += layer->input_count;
    if (layer->op == TUTTI_OP_CONCAT)
      parts = plan_larger(parts, layer->input_count);
    if (layer->op == TUTTI_OP_CONV2D)
      taps += (size_t)tutti_layer_integer(layer, "kernel_height", 1) *
              (size_t)tutti_layer_integer(layer, "kernel_width", 1);
  }
  *made = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *plan, &plan));
  b.plan = plan;
  plan->network = network;
  plan->rows = plan->batch = rows;
  plan->outputs = task->outputs;
  plan->slopes = purpose->slopes != NULL;
  plan->weights = purpose->slopes ? purpose->slopes->weights : NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, layers, sizeof *plan->attributes, &plan->attributes));
  for (size_t i = 0; i < layers; i++)
    plan->attributes[i] = backend_cpu_attributes(tutti_network_layer(network, i));
  TUTTI_TRY_OUT(context, tutti_alloc(context, layers, sizeof *plan->nodes, &plan->nodes));
  TUTTI_TRY_OUT(context, tutti_alloc(context, edges * parts, sizeof *plan->edges, &plan->edges));
  TUTTI_TRY_OUT(context, tutti_alloc(context, taps, sizeof *plan->taps, &plan->taps));
  TUTTI_TRY_OUT(context, tutti_alloc(context, 4 * layers, sizeof *plan->segments, &plan->segments));
  TUTTI_TRY_OUT(context, tutti_alloc(context, layers, sizeof *b.sources, &b.sources));
  TUTTI_TRY_OUT(context, tutti_alloc(context, layers, sizeof *b.readers, &b.readers));
  plan_add_layers(&b);
  plan_leave_out(plan, purpose->unread);
  plan_add_weights(plan);
  plan_freeze(plan, purpose->frozen);
  plan_join(plan);
  if (purpose->half)
    plan_halve(plan);
  if (purpose->gradients)
    TUTTI_TRY_OUT(context, plan_find_ways(context, plan));
  *made = plan;
  plan = NULL;
out:
  backend_cpu_plan_destroy(plan);
  tutti_free(b.sources);
  tutti_free(b.readers);
  return status;
}

void backend_cpu_plan_destroy(struct cpu_plan *plan) {
  if (!plan)
    return;
  tutti_free(plan->arena);
  tutti_free(plan->attributes);
  tutti_free(plan->nodes);
  tutti_free(plan->edges);
  tutti_free(plan->segments);
  tutti_free(plan->taps);
  tutti_free(plan);
}

const struct cpu_node *backend_cpu_plan_head(const struct cpu_plan *plan) { return &plan->nodes[plan->node_count - 1]; }

bool backend_cpu_has_norm(const struct cpu_plan *plan) {
  for (size_t i = 0; i < plan->node_count; i++)
    if (plan->nodes[i].op == TUTTI_OP_BATCH_NORM)
      return true;
  return false;
}
