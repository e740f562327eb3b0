/* ops.c - what the block engine can compute, and which networks are the stream engine's. */
#include "backend_impl.h"

bool backend_cuda_has_op(enum tutti_op op) {
  switch (op) {
  case TUTTI_OP_INPUT:
  case TUTTI_OP_DENSE:
  case TUTTI_OP_ACTIVATION:
  case TUTTI_OP_ADD:
  case TUTTI_OP_MEAN:
  case TUTTI_OP_CONCAT:
  case TUTTI_OP_BATCH_NORM:
  case TUTTI_OP_DROPOUT:
  case TUTTI_OP_DROP_PATH:
  case TUTTI_OP_IDENTITY:
  case TUTTI_OP_ZERO:
  case TUTTI_OP_DETACH:
  case TUTTI_OP_FLATTEN:
  case TUTTI_OP_HEAD_SOFTMAX:
  case TUTTI_OP_HEAD_GAUSSIAN:
  case TUTTI_OP_HEAD_LINEAR:
  case TUTTI_OP_HEAD_NOMU:
    return true;
  default:
    return false;
  }
}

/* The input may be an image if nothing but flattens reads it. */
const struct tutti_layer *backend_cuda_first_image(const tutti_network *network) {
  for (size_t i = 1; i < tutti_network_layers(network); i++) {
    const struct tutti_layer *layer = tutti_network_layer(network, i);
    bool image = layer->shape.height > 1 || layer->shape.width > 1;
    for (size_t e = 0; layer->op != TUTTI_OP_FLATTEN && e < layer->input_count; e++) {
      struct tutti_shape shape = tutti_network_layer(network, layer->inputs[e])->shape;
      image = image || shape.height > 1 || shape.width > 1;
    }
    if (image)
      return layer;
  }
  return NULL;
}
