/* blocks.c - layers in chains, labelled by their place. */
#include "blocks.h"

#include <stdio.h>

enum { LABEL_SIZE = 192 };

enum tutti_status block_layer(const struct blocks *blocks, const char *label, const char *part, enum tutti_op op,
                              const struct tutti_attribute *attributes, uint32_t *layer) {
  char whole[LABEL_SIZE];
  (void)snprintf(whole, sizeof whole, "%s%s%s", label, part ? "/" : "", part ? part : "");
  return tutti_network_add(blocks->context, blocks->network, op, whole, 1, layer, attributes, layer);
}

enum tutti_status block_relu(const struct blocks *blocks, const char *label, const char *part, uint32_t *layer) {
  return block_layer(blocks, label, part, TUTTI_OP_ACTIVATION, TUTTI_ATTRIBUTES({"activation", TUTTI_ACTIVATION_RELU}),
                     layer);
}

enum tutti_status block_convolution(const struct blocks *blocks, const char *label, const char *part, int32_t units,
                                    struct block_window window, uint32_t *layer) {
  const struct tutti_attribute attributes[] = {
      {"units", units},
      {"kernel_height", window.height},
      {"kernel_width", window.width},
      {"stride", window.stride},
      {"dilation", window.dilation},
      {"groups", window.groups ? window.groups : block_channels(blocks, *layer)},
      {"bias", false},
      {NULL, 0},
  };
  return block_layer(blocks, label, part, TUTTI_OP_CONV2D, attributes, layer);
}

enum tutti_status block_norm(const struct blocks *blocks, const char *label, const char *part, uint32_t *layer) {
  return block_layer(blocks, label, part, TUTTI_OP_BATCH_NORM, TUTTI_ATTRIBUTES({"affine", blocks->affine}), layer);
}

enum tutti_status block_relu_convolution_norm(const struct blocks *blocks, const char *label, int32_t units,
                                              struct block_window window, uint32_t *layer) {
  TUTTI_TRY(blocks->context, block_relu(blocks, label, "relu", layer));
  TUTTI_TRY(blocks->context, block_convolution(blocks, label, "conv", units, window, layer));
  return block_norm(blocks, label, "norm", layer);
}

enum tutti_status block_pool(const struct blocks *blocks, const char *label, enum tutti_op op, int32_t side,
                             int32_t stride, uint32_t *layer) {
  return block_layer(blocks, label, NULL, op,
                     TUTTI_ATTRIBUTES({"kernel_height", side}, {"kernel_width", side}, {"stride", stride}), layer);
}

enum tutti_status block_join(const struct blocks *blocks, const char *label, enum tutti_op op, size_t count,
                             const uint32_t *inputs, uint32_t *layer) {
  *layer = inputs[0];
  if (count == 1)
    return TUTTI_OK;
  return tutti_network_add(blocks->context, blocks->network, op, label, count, inputs, NULL, layer);
}

int32_t block_channels(const struct blocks *blocks, uint32_t layer) {
  return tutti_network_layer(blocks->network, layer)->shape.channels;
}

enum tutti_status block_need_image(tutti_context *context, const struct tutti_task *task) {
  if (task->kind == TUTTI_TASK_VALUE || (task->input.height > 1 && task->input.width > 1))
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "convolutional networks need images; the data's rows have the shape %d x %d x %d",
                    task->input.height, task->input.width, task->input.channels);
}
