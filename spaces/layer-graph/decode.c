/* decode.c - from a layer graph to a network. A layer reads its parents' outputs concatenated. Convolutions are
   followed by batch normalisation and ReLU; a residual one (res3, ...) adds its input before the ReLU, through a
   pointwise convolution if the shapes differ. Pools have windows of 2 x 2 and stride 2. Fully connected layers are
   followed by ReLU, and read images flattened. Deviations: the linear outputs of several decision layers are averaged
   before one head with one loss, so this works for every head; the paper averages their softmaxes, and its
   program sums their losses. The units of crelu count before it doubles them. */
#include "decode.h"

#include "spaces/cells/blocks.h"

#include <stdio.h>

enum { NAME_SIZE = 32 };

struct decoder {
  struct blocks blocks;
  const struct graph *graph;
  uint32_t outputs[GRAPH_LAYERS_MOST]; /* the network's layer for each of the graph's */
};

static enum tutti_status add_convolution(const struct blocks *blocks, const char *name, const struct layer *layer,
                                         uint32_t *last) {
  const struct label_facts *facts = &label_facts[layer->label];
  uint32_t ends[2] = {*last, *last};
  char shortcut[NAME_SIZE + 16], sum[NAME_SIZE + 16];
  (void)snprintf(shortcut, sizeof shortcut, "%s/shortcut", name);
  (void)snprintf(sum, sizeof sum, "%s/sum", name);
  TUTTI_TRY(blocks->context, block_convolution(blocks, name, "conv", layer->units,
                                               BLOCK_WINDOW(facts->kernel, layer->stride), &ends[0]));
  TUTTI_TRY(blocks->context, block_norm(blocks, name, "norm", &ends[0]));
  if (facts->residual && (layer->stride > 1 || block_channels(blocks, *last) != layer->units)) {
    TUTTI_TRY(blocks->context,
              block_convolution(blocks, shortcut, "conv", layer->units, BLOCK_WINDOW(1, layer->stride), &ends[1]));
    TUTTI_TRY(blocks->context, block_norm(blocks, shortcut, "norm", &ends[1]));
  }
  TUTTI_TRY(blocks->context, block_join(blocks, sum, TUTTI_OP_ADD, facts->residual ? 2 : 1, ends, last));
  return block_relu(blocks, name, "relu", last);
}

static enum tutti_status flatten(const struct blocks *blocks, const char *name, uint32_t *last) {
  struct tutti_shape shape = tutti_network_layer(blocks->network, *last)->shape;
  return shape.height == 1 && shape.width == 1 ? TUTTI_OK
                                               : block_layer(blocks, name, "flat", TUTTI_OP_FLATTEN, NULL, last);
}

static enum tutti_status add_dense(const struct blocks *blocks, const char *name, int32_t units,
                                   enum tutti_activation activation, uint32_t *last) {
  TUTTI_TRY(blocks->context, flatten(blocks, name, last));
  return tutti_network_add_dense(blocks->context, blocks->network, name, *last, units, activation, last);
}

static enum tutti_status concatenate(const struct decoder *decoder, const char *name, uint64_t parents,
                                     uint32_t *last) {
  uint32_t inputs[GRAPH_LAYERS_MOST];
  char label[NAME_SIZE + 16];
  size_t count = 0;
  while (parents)
    inputs[count++] = decoder->outputs[bits_take(&parents)];
  (void)snprintf(label, sizeof label, "%s/inputs", name);
  return block_join(&decoder->blocks, label, TUTTI_OP_CONCAT, count, inputs, last);
}

/* The input of a decision layer's projection. */
static enum tutti_status add_layer(struct decoder *decoder, int index) {
  const struct layer *layer = &decoder->graph->layers[index];
  const struct label_facts *facts = &label_facts[layer->label];
  const struct blocks *blocks = &decoder->blocks;
  uint32_t *last = &decoder->outputs[index];
  char name[NAME_SIZE];
  (void)snprintf(name, sizeof name, "%s-%d", facts->name, index);
  TUTTI_TRY(blocks->context, concatenate(decoder, name, layer->parents, last));
  switch (facts->role) {
  case ROLE_HIDDEN:
    return add_dense(blocks, name, layer->units, facts->activation, last);
  case ROLE_FC:
    return add_dense(blocks, name, layer->units, TUTTI_ACTIVATION_RELU, last);
  case ROLE_CONV:
    return add_convolution(blocks, name, layer, last);
  case ROLE_POOL:
    return block_pool(blocks, name, layer->label == LABEL_MAX_POOL ? TUTTI_OP_MAX_POOL : TUTTI_OP_AVERAGE_POOL, 2, 2,
                      last);
  default:
    return flatten(blocks, name, last);
  }
}

static enum tutti_status add_decisions(const struct decoder *decoder, const struct tutti_task *task) {
  uint32_t inputs[GRAPH_LAYERS_MOST];
  size_t count = 0;
  for (uint64_t rest = graph_with_role(decoder->graph, ROLE_DECISION); rest;)
    inputs[count++] = decoder->outputs[bits_take(&rest)];
  return tutti_network_add_mean_head(decoder->blocks.context, decoder->blocks.network, count, inputs, task);
}

enum tutti_status graph_decode(tutti_context *context, const struct graph *graph, const struct tutti_task *task,
                               tutti_network **network) {
  struct decoder decoder = {.blocks = {.context = context, .affine = true}, .graph = graph};
  enum tutti_status status = TUTTI_OK;
  TUTTI_TRY_OUT(context, tutti_network_create(context, task->input, &decoder.blocks.network));
  for (int i = 1; i < graph->count - 1; i++)
    TUTTI_TRY_OUT(context, add_layer(&decoder, i));
  TUTTI_TRY_OUT(context, add_decisions(&decoder, task));
  *network = decoder.blocks.network;
  return TUTTI_OK;
out:
  tutti_network_destroy(decoder.blocks.network);
  return status;
}
