/* cells.c - builds networks from cells as in Liu, Simonyan and Yang, "DARTS: Differentiable architecture search" (ICLR
   2019), without an auxiliary head. Two deviations change no counts. Padding is that of tutti/network.h, so a strided
   window lies one pixel lower and further right than in the published code. conv_7x1_1x7 strides only in its second
   convolution, which gives the same numbers as striding rows in one and columns in the other. */
#include "cells.h"

#include <stdio.h>

enum { LABEL_SIZE = 128 };

const char *const cell_operation_names[] = {
    "max_pool_3x3", "avg_pool_3x3", "skip_connect", "sep_conv_3x3", "sep_conv_5x5",
    "dil_conv_3x3", "dil_conv_5x5", "sep_conv_7x7", "conv_7x1_1x7", NULL};
const char *const cell_kind_names[] = {"normal", "reduction", NULL};
const char *const cell_stem_names[] = {"cifar", "tiny", NULL};

enum tutti_status cell_macro_check(tutti_context *context, const struct cell_macro *macro) {
  if (macro->stem_strides.count == 2)
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "[space] stem_strides: expected two strides, found %zu",
                    macro->stem_strides.count);
}

/* --- operations -------------------------------------------------------------------------------------------------- */

/* ReLU, a convolution of each channel, a pointwise one, normalisation. */
static enum tutti_status add_separable(const struct blocks *blocks, const char *label, int32_t side, int32_t stride,
                                       int32_t dilation, uint32_t *layer) {
  int32_t channels = block_channels(blocks, *layer);
  struct block_window window = {side, side, stride, dilation, .groups = 0};
  TUTTI_TRY(blocks->context, block_relu(blocks, label, "relu", layer));
  TUTTI_TRY(blocks->context, block_convolution(blocks, label, "depthwise", channels, window, layer));
  TUTTI_TRY(blocks->context, block_convolution(blocks, label, "pointwise", channels, BLOCK_WINDOW(1, 1), layer));
  return block_norm(blocks, label, "norm", layer);
}

static enum tutti_status add_sep_conv(const struct blocks *blocks, const char *label, int32_t side, int32_t stride,
                                      uint32_t *layer) {
  char half[LABEL_SIZE];
  (void)snprintf(half, sizeof half, "%s/first", label);
  TUTTI_TRY(blocks->context, add_separable(blocks, half, side, stride, 1, layer));
  (void)snprintf(half, sizeof half, "%s/second", label);
  return add_separable(blocks, half, side, 1, 1, layer);
}

static enum tutti_status add_factorised(const struct blocks *blocks, const char *label, int32_t stride,
                                        uint32_t *layer) {
  int32_t channels = block_channels(blocks, *layer);
  struct block_window row = {1, 7, 1, 1, .groups = 1}, column = {7, 1, stride, 1, .groups = 1};
  TUTTI_TRY(blocks->context, block_relu(blocks, label, "relu", layer));
  TUTTI_TRY(blocks->context, block_convolution(blocks, label, "conv-1x7", channels, row, layer));
  TUTTI_TRY(blocks->context, block_convolution(blocks, label, "conv-7x1", channels, column, layer));
  return block_norm(blocks, label, "norm", layer);
}

/* ReLU, two strided pointwise convolutions side by side, normalisation: halves height and width. */
static enum tutti_status add_reduce(const struct blocks *blocks, const char *label, int32_t channels, uint32_t *layer) {
  TUTTI_TRY(blocks->context, block_relu(blocks, label, "relu", layer));
  TUTTI_TRY(blocks->context, block_layer(blocks, label, "reduce", TUTTI_OP_FACTORISED_REDUCE,
                                         TUTTI_ATTRIBUTES({"units", channels}), layer));
  return block_norm(blocks, label, "norm", layer);
}

static enum tutti_status add_operation(const struct blocks *blocks, const char *label, enum cell_operation operation,
                                       int32_t stride, uint32_t *layer) {
  switch (operation) {
  case CELL_MAX_POOL_3X3:
    return block_pool(blocks, label, TUTTI_OP_MAX_POOL, 3, stride, layer);
  case CELL_AVG_POOL_3X3:
    return block_pool(blocks, label, TUTTI_OP_AVERAGE_POOL, 3, stride, layer);
  case CELL_SKIP_CONNECT:
    return stride == 1 ? TUTTI_OK : add_reduce(blocks, label, block_channels(blocks, *layer), layer);
  case CELL_SEP_CONV_3X3:
    return add_sep_conv(blocks, label, 3, stride, layer);
  case CELL_SEP_CONV_5X5:
    return add_sep_conv(blocks, label, 5, stride, layer);
  case CELL_SEP_CONV_7X7:
    return add_sep_conv(blocks, label, 7, stride, layer);
  case CELL_DIL_CONV_3X3:
    return add_separable(blocks, label, 3, stride, 2, layer);
  case CELL_DIL_CONV_5X5:
    return add_separable(blocks, label, 5, stride, 2, layer);
  case CELL_CONV_7X1_1X7:
    return add_factorised(blocks, label, stride, layer);
  case CELL_OPERATIONS:
    break;
  }
  return TUTTI_FAIL(blocks->context, TUTTI_ERROR_USAGE, "there is no operation %d", (int)operation);
}

/* --- cells ------------------------------------------------------------------------------------------------------- */

/* The place of the next cell. */
struct place {
  struct blocks blocks;
  const struct cell_macro *macro;
  const struct cell_genotype *genotype;
  int64_t cell;        /* number */
  int32_t channels;    /* of the cell's nodes */
  bool reduced;        /* input 0 has twice the height and width of input 1 */
  uint32_t inputs[2];  /* outputs of the two cells before */
  enum cell_kind kind; /* of this cell */
};

/* Dropout and drop-path after an operation; both may be used. */
static enum tutti_status add_drops(const struct place *place, const char *label, uint32_t *layer) {
  const struct cell_macro *macro = place->macro;
  if (macro->dropout > 0)
    TUTTI_TRY(place->blocks.context, block_layer(&place->blocks, label, "dropout", TUTTI_OP_DROPOUT,
                                                 TUTTI_ATTRIBUTES({"spatial", true}, {"rate", macro->dropout}), layer));
  if (macro->drop_path > 0)
    TUTTI_TRY(place->blocks.context,
              block_layer(&place->blocks, label, "drop-path", TUTTI_OP_DROP_PATH,
                          TUTTI_ATTRIBUTES({"scheduled", macro->drop_path_schedule}, {"rate", macro->drop_path}),
                          layer));
  return TUTTI_OK;
}

/* Edge `number` of node `node`, which reads the state *layer. In a reduction cell it strides if it reads an input. */
static enum tutti_status add_edge(const struct place *place, int node, int number, uint32_t *layer) {
  const struct cell_edge *edge = &place->genotype->edges[place->kind][node][number];
  const char *name = cell_operation_names[edge->operation];
  int32_t stride = place->kind == CELL_REDUCTION && edge->input < CELL_INPUTS ? 2 : 1;
  char label[LABEL_SIZE];
  (void)snprintf(label, sizeof label, "cell%d/node%d/edge%d/%s", (int)place->cell, node + CELL_INPUTS, number + 1,
                 name);
  TUTTI_TRY(place->blocks.context,
            add_operation(&place->blocks, label, (enum cell_operation)edge->operation, stride, layer));
  bool identity = edge->operation == CELL_SKIP_CONNECT && stride == 1;
  return identity ? TUTTI_OK : add_drops(place, label, layer);
}

/* Give the cell's inputs its number of channels, and the same height and width. */
static enum tutti_status add_inputs(const struct place *place, uint32_t *states) {
  for (int i = 0; i < CELL_INPUTS; i++) {
    char label[LABEL_SIZE];
    (void)snprintf(label, sizeof label, "cell%d/input%d", (int)place->cell, i);
    states[i] = place->inputs[i];
    TUTTI_TRY(place->blocks.context, i == 0 && place->reduced
                                         ? add_reduce(&place->blocks, label, place->channels, &states[i])
                                         : block_relu_convolution_norm(&place->blocks, label, place->channels,
                                                                       BLOCK_WINDOW(1, 1), &states[i]));
  }
  return TUTTI_OK;
}

/* The states that the output concatenates. */
static size_t choose_outputs(const struct place *place, const uint32_t *states, uint32_t *outputs) {
  const struct cell_genotype *genotype = place->genotype;
  bool read[CELL_INPUTS + CELL_NODES_MOST] = {false};
  size_t count = 0;
  for (int node = 0; genotype->loose_ends && node < genotype->nodes; node++)
    for (int i = 0; i < 2; i++)
      read[genotype->edges[place->kind][node][i].input] = true;
  for (int state = CELL_INPUTS; state < CELL_INPUTS + genotype->nodes; state++)
    if (!read[state])
      outputs[count++] = states[state];
  return count;
}

static enum tutti_status add_cell(const struct place *place, uint32_t *output) {
  tutti_context *context = place->blocks.context;
  uint32_t states[CELL_INPUTS + CELL_NODES_MOST], outputs[CELL_NODES_MOST];
  char label[LABEL_SIZE];
  TUTTI_TRY(context, add_inputs(place, states));
  for (int node = 0; node < place->genotype->nodes; node++) {
    uint32_t ends[2];
    for (int i = 0; i < 2; i++) {
      ends[i] = states[place->genotype->edges[place->kind][node][i].input];
      TUTTI_TRY(context, add_edge(place, node, i, &ends[i]));
    }
    (void)snprintf(label, sizeof label, "cell%d/node%d", (int)place->cell, node + CELL_INPUTS);
    TUTTI_TRY(context, block_join(&place->blocks, label, TUTTI_OP_ADD, 2, ends, &states[CELL_INPUTS + node]));
  }
  size_t count = choose_outputs(place, states, outputs);
  (void)snprintf(label, sizeof label, "cell%d", (int)place->cell);
  return block_join(&place->blocks, label, TUTTI_OP_CONCAT, count, outputs, output);
}

/* --- networks ---------------------------------------------------------------------------------------------------- */

/* A 3x3 convolution to three times the channels, normalised. */
static enum tutti_status add_cifar_stem(struct place *place) {
  uint32_t layer = 0;
  TUTTI_TRY(place->blocks.context,
            block_convolution(&place->blocks, "stem", "conv", 3 * place->channels, BLOCK_WINDOW(3, 1), &layer));
  TUTTI_TRY(place->blocks.context, block_norm(&place->blocks, "stem", "norm", &layer));
  place->inputs[0] = place->inputs[1] = layer;
  return TUTTI_OK;
}

/* Two convolutions, then one that halves the image: the inputs of the first cell. */
static enum tutti_status add_tiny_stem(struct place *place) {
  const struct blocks *blocks = &place->blocks;
  const int64_t *strides = place->macro->stem_strides.values;
  uint32_t layer = 0;
  TUTTI_TRY(blocks->context, block_convolution(blocks, "stem0", "conv1", place->channels / 2,
                                               BLOCK_WINDOW(3, (int32_t)strides[0]), &layer));
  TUTTI_TRY(blocks->context, block_norm(blocks, "stem0", "norm1", &layer));
  TUTTI_TRY(blocks->context, block_relu(blocks, "stem0", "relu", &layer));
  TUTTI_TRY(blocks->context,
            block_convolution(blocks, "stem0", "conv2", place->channels, BLOCK_WINDOW(3, (int32_t)strides[1]), &layer));
  TUTTI_TRY(blocks->context, block_norm(blocks, "stem0", "norm2", &layer));
  place->inputs[0] = layer;
  TUTTI_TRY(blocks->context, block_relu_convolution_norm(blocks, "stem1", place->channels, BLOCK_WINDOW(3, 2), &layer));
  place->inputs[1] = layer;
  place->reduced = true;
  return TUTTI_OK;
}

static enum tutti_status add_cells(struct place *place, int64_t cells) {
  for (place->cell = 0; place->cell < cells; place->cell++) {
    bool reduction = place->cell == cells / 3 || place->cell == 2 * cells / 3;
    uint32_t output;
    place->kind = reduction ? CELL_REDUCTION : CELL_NORMAL;
    if (reduction)
      place->channels *= 2;
    TUTTI_TRY(place->blocks.context, add_cell(place, &output));
    place->inputs[0] = place->inputs[1];
    place->inputs[1] = output;
    place->reduced = reduction;
  }
  return TUTTI_OK;
}

enum tutti_status cell_network(tutti_context *context, const struct cell_macro *macro,
                               const struct cell_genotype *genotype, int64_t cells, int64_t channels,
                               const struct tutti_task *task, tutti_network **network) {
  enum tutti_status status = TUTTI_OK;
  struct place place = {.blocks = {.context = context, .affine = macro->affine},
                        .macro = macro,
                        .genotype = genotype,
                        .channels = (int32_t)channels};
  TUTTI_TRY(context, block_need_image(context, task));
  TUTTI_TRY_OUT(context, tutti_network_create(context, task->input, &place.blocks.network));
  TUTTI_TRY_OUT(context, macro->stem == CELL_STEM_CIFAR ? add_cifar_stem(&place) : add_tiny_stem(&place));
  TUTTI_TRY_OUT(context, add_cells(&place, cells));
  uint32_t layer = place.inputs[1];
  TUTTI_TRY_OUT(context, block_layer(&place.blocks, "pool", NULL, TUTTI_OP_GLOBAL_POOL, NULL, &layer));
  TUTTI_TRY_OUT(context, tutti_network_add_head(context, place.blocks.network, layer, task));
  *network = place.blocks.network;
  return TUTTI_OK;
out:
  tutti_network_destroy(place.blocks.network);
  return status;
}
