/* blocks.h - building blocks of convolutional networks: layers in chains, labelled by their place. Every function reads
   the layer *layer and sets it to the last one that it added; labels are "LABEL/PART". */
#ifndef BLOCKS_H
#define BLOCKS_H

#include <tutti/plugin.h>

/* A network being built, and the settings that all its normalisations share. */
struct blocks {
  tutti_context *context;
  tutti_network *network;
  bool affine;
};

/* A moving window; groups 0 means as many as there are channels (depthwise). */
struct block_window {
  int32_t height, width, stride, dilation, groups;
};
#define BLOCK_WINDOW(side, step)                                                                                       \
  ((struct block_window){.height = (side), .width = (side), .stride = (step), .dilation = 1, .groups = 1})

/* Any layer with one input; part NULL: the label is just LABEL. */
TUTTI_NODISCARD enum tutti_status block_layer(const struct blocks *blocks, const char *label, const char *part,
                                              enum tutti_op op, const struct tutti_attribute *attributes,
                                              uint32_t *layer);
TUTTI_NODISCARD enum tutti_status block_relu(const struct blocks *blocks, const char *label, const char *part,
                                             uint32_t *layer);
/* A convolution with "same" padding and without bias, since a normalisation follows. */
TUTTI_NODISCARD enum tutti_status block_convolution(const struct blocks *blocks, const char *label, const char *part,
                                                    int32_t units, struct block_window window, uint32_t *layer);
TUTTI_NODISCARD enum tutti_status block_norm(const struct blocks *blocks, const char *label, const char *part,
                                             uint32_t *layer);
/* ReLU, convolution, normalisation. */
TUTTI_NODISCARD enum tutti_status block_relu_convolution_norm(const struct blocks *blocks, const char *label,
                                                              int32_t units, struct block_window window,
                                                              uint32_t *layer);
/* Pool (TUTTI_OP_MAX_POOL, TUTTI_OP_AVERAGE_POOL) over side x side with "same" padding. */
TUTTI_NODISCARD enum tutti_status block_pool(const struct blocks *blocks, const char *label, enum tutti_op op,
                                             int32_t side, int32_t stride, uint32_t *layer);
/* Add or concatenate (TUTTI_OP_ADD, TUTTI_OP_CONCAT) `count` layers; a single one is used as it is. */
TUTTI_NODISCARD enum tutti_status block_join(const struct blocks *blocks, const char *label, enum tutti_op op,
                                             size_t count, const uint32_t *inputs, uint32_t *layer);
/* Number of channels of a layer. */
int32_t block_channels(const struct blocks *blocks, uint32_t layer);
/* Refuse tables: convolutions need rows and columns. Tasks without data train no networks. */
TUTTI_NODISCARD enum tutti_status block_need_image(tutti_context *context, const struct tutti_task *task);

#endif
