/* network_shape.c - what a layer makes of its inputs: shape, parameters, FLOPs; and whether its attributes make sense.

   "same" padding is that of TensorFlow: out = ceil(in / stride), the total padding max(0, (out - 1) stride + span - in)
   with the odd pixel at the bottom and right. A factorised reduction of an odd input takes zeros for the missing last
   row and column of its shifted half, so that both halves have ceil(in / 2) rows.

   FLOPs are of one forward pass for one example as in use, not in training: a multiply-add counts 2, an elementwise
   function, a comparison and an addition 1 for each number; what is not there in use (dropout) or only moves data
   counts nothing. */
#include "network_impl.h"

#include <math.h>
#include <string.h>

static enum tutti_status fail_layer(tutti_context *context, const struct tutti_layer *layer, const char *problem) {
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "layer \"%s\" (%s): %s", layer->label, tutti_op_name(layer->op),
                    problem);
}

static struct tutti_shape shape_of(const tutti_network *network, const struct tutti_layer *layer, size_t input) {
  return network->layers[layer->inputs[input]].shape;
}

static double elements(struct tutti_shape shape) { return (double)shape.height * shape.width * shape.channels; }

/* --- attributes --- */

static enum tutti_status check_number(tutti_context *context, const struct tutti_layer *layer,
                                      const struct tutti_attribute *attribute, double value) {
  bool low = attribute->open_min ? value > attribute->min : value >= attribute->min;
  bool high = attribute->open_max ? value < attribute->max : value <= attribute->max;
  if (low && high)
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "layer \"%s\" (%s): %s must be in %c%g, %g%c, not %g", layer->label,
                    tutti_op_name(layer->op), attribute->name, attribute->open_min ? '(' : '[', attribute->min,
                    attribute->max, attribute->open_max ? ')' : ']', value);
}

static enum tutti_status check_attribute(tutti_context *context, const struct tutti_layer *layer,
                                         enum tutti_attribute_id id) {
  const struct tutti_attribute *attribute = tutti_attribute_at(id);
  const char *field = (const char *)&layer->attributes + attribute->offset;
  int32_t integer;
  double real;
  switch (attribute->type) {
  case TUTTI_ATTRIBUTE_INTEGER:
    memcpy(&integer, field, sizeof integer);
    return check_number(context, layer, attribute, integer);
  case TUTTI_ATTRIBUTE_REAL:
    memcpy(&real, field, sizeof real);
    if (id == TUTTI_ATTRIBUTE_L2 && isnan(real))
      return TUTTI_OK;
    return check_number(context, layer, attribute, real);
  case TUTTI_ATTRIBUTE_NAME:
    memcpy(&integer, field, sizeof integer);
    for (int32_t i = 0; i <= integer; i++)
      if (!attribute->names[i])
        integer = -1;
    if (integer < 0)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "layer \"%s\" (%s): unknown %s", layer->label,
                        tutti_op_name(layer->op), attribute->name);
    return TUTTI_OK;
  case TUTTI_ATTRIBUTE_BOOL:
    break;
  }
  return TUTTI_OK;
}

static enum tutti_status check_attributes(tutti_context *context, const struct tutti_layer *layer) {
  const struct tutti_op_facts *facts = tutti_op_facts(layer->op);
  for (int id = 0; id < TUTTI_ATTRIBUTE_COUNT; id++)
    if (facts->attributes & (UINT32_C(1) << id))
      TUTTI_TRY(context, check_attribute(context, layer, (enum tutti_attribute_id)id));
  return TUTTI_OK;
}

/* --- shapes --- */

/* Length of the output of a window that moves along `length`; 0 when it does not fit. */
static int32_t window_output(int32_t length, int32_t kernel, const struct tutti_attributes *attributes,
                             int32_t dilation) {
  int64_t span = (int64_t)dilation * (kernel - 1) + 1;
  int64_t room = attributes->padding == TUTTI_PADDING_SAME ? length : length - span + 1;
  return room <= 0 ? 0 : (int32_t)((room + attributes->stride - 1) / attributes->stride);
}

static enum tutti_status window_shape(tutti_context *context, const struct tutti_layer *layer, struct tutti_shape input,
                                      int32_t dilation, struct tutti_shape *output) {
  const struct tutti_attributes *attributes = &layer->attributes;
  output->height = window_output(input.height, attributes->kernel_height, attributes, dilation);
  output->width = window_output(input.width, attributes->kernel_width, attributes, dilation);
  output->channels = input.channels;
  if (output->height > 0 && output->width > 0)
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "layer \"%s\" (%s): a kernel of %d x %d with dilation %d does not fit in an input of %d x %d; pad "
                    "(\"same\") or take a smaller kernel",
                    layer->label, tutti_op_name(layer->op), attributes->kernel_height, attributes->kernel_width,
                    dilation, input.height, input.width);
}

static enum tutti_status need_flat(tutti_context *context, const struct tutti_layer *layer, struct tutti_shape input) {
  if (input.height == 1 && input.width == 1)
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "layer \"%s\" (%s) needs a flat input of 1 x 1 x features, not %d x %d x %d; put flatten or "
                    "global-pool in front",
                    layer->label, tutti_op_name(layer->op), input.height, input.width, input.channels);
}

static enum tutti_status fail_shapes(tutti_context *context, const tutti_network *network,
                                     const struct tutti_layer *layer, size_t other, const char *what) {
  struct tutti_shape a = shape_of(network, layer, 0), b = shape_of(network, layer, other);
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "layer \"%s\" (%s) needs inputs of one %s: \"%s\" has %d x %d x %d, \"%s\" has %d x %d x %d",
                    layer->label, tutti_op_name(layer->op), what, network->layers[layer->inputs[0]].label, a.height,
                    a.width, a.channels, network->layers[layer->inputs[other]].label, b.height, b.width, b.channels);
}

/* Add and mean. */
static enum tutti_status infer_sum(tutti_context *context, const tutti_network *network, struct tutti_layer *layer) {
  struct tutti_shape first = layer->shape = shape_of(network, layer, 0);
  for (size_t i = 1; i < layer->input_count; i++) {
    struct tutti_shape shape = shape_of(network, layer, i);
    if (shape.height != first.height || shape.width != first.width || shape.channels != first.channels)
      return fail_shapes(context, network, layer, i, "shape");
  }
  double additions = (double)(layer->input_count - 1) * elements(first);
  layer->flops = layer->op == TUTTI_OP_MEAN ? additions + elements(first) : additions;
  return TUTTI_OK;
}

static enum tutti_status infer_concat(tutti_context *context, const tutti_network *network, struct tutti_layer *layer) {
  struct tutti_shape first = layer->shape = shape_of(network, layer, 0);
  for (size_t i = 1; i < layer->input_count; i++) {
    struct tutti_shape shape = shape_of(network, layer, i);
    if (shape.height != first.height || shape.width != first.width)
      return fail_shapes(context, network, layer, i, "height and width");
    if (__builtin_add_overflow(layer->shape.channels, shape.channels, &layer->shape.channels))
      return fail_layer(context, layer, "too many channels");
  }
  return TUTTI_OK;
}

static enum tutti_status infer_dense(tutti_context *context, struct tutti_shape input, struct tutti_layer *layer) {
  const struct tutti_attributes *attributes = &layer->attributes;
  TUTTI_TRY(context, need_flat(context, layer, input));
  size_t units = (size_t)attributes->units, bias = attributes->bias ? units : 0;
  layer->shape = (struct tutti_shape){1, 1, attributes->units};
  layer->parameters = (size_t)input.channels * units + bias;
  layer->flops = 2.0 * input.channels * attributes->units + (double)bias;
  return TUTTI_OK;
}

static enum tutti_status infer_conv2d(tutti_context *context, struct tutti_shape input, struct tutti_layer *layer) {
  const struct tutti_attributes *attributes = &layer->attributes;
  if (input.channels % attributes->groups != 0 || attributes->units % attributes->groups != 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "layer \"%s\" (conv2d): %d groups must divide the %d channels of its input and its %d units",
                      layer->label, attributes->groups, input.channels, attributes->units);
  TUTTI_TRY(context, window_shape(context, layer, input, attributes->dilation, &layer->shape));
  layer->shape.channels = attributes->units;
  size_t weights, fan_in = (size_t)input.channels / (size_t)attributes->groups;
  if (__builtin_mul_overflow((size_t)attributes->kernel_height * (size_t)attributes->kernel_width, fan_in, &weights) ||
      __builtin_mul_overflow(weights, (size_t)attributes->units, &weights) ||
      __builtin_add_overflow(weights, attributes->bias ? (size_t)attributes->units : 0, &layer->parameters))
    return fail_layer(context, layer, "too many parameters");
  double area = (double)attributes->kernel_height * attributes->kernel_width;
  layer->flops = elements(layer->shape) * (2.0 * area * (double)fan_in + (attributes->bias ? 1 : 0));
  return TUTTI_OK;
}

static int32_t halved(int32_t length) { return length / 2 + length % 2; }

static void infer_factorised_reduce(struct tutti_shape input, struct tutti_layer *layer) {
  layer->shape = (struct tutti_shape){halved(input.height), halved(input.width), layer->attributes.units};
  layer->parameters = (size_t)input.channels * (size_t)layer->attributes.units;
  layer->flops = 2.0 * elements(layer->shape) * input.channels;
}

static enum tutti_status infer_pool(tutti_context *context, struct tutti_shape input, struct tutti_layer *layer) {
  TUTTI_TRY(context, window_shape(context, layer, input, 1, &layer->shape));
  layer->flops = elements(layer->shape) * layer->attributes.kernel_height * layer->attributes.kernel_width;
  return TUTTI_OK;
}

static enum tutti_status infer_activation(tutti_context *context, struct tutti_shape input, struct tutti_layer *layer) {
  layer->shape = input;
  if (layer->attributes.activation == TUTTI_ACTIVATION_CRELU &&
      __builtin_mul_overflow(input.channels, 2, &layer->shape.channels))
    return fail_layer(context, layer, "too many channels");
  layer->flops = layer->attributes.activation == TUTTI_ACTIVATION_LINEAR ? 0 : elements(layer->shape);
  return TUTTI_OK;
}

static enum tutti_status infer_head(tutti_context *context, const tutti_network *network, struct tutti_layer *layer) {
  for (size_t i = 0; i < layer->input_count; i++)
    TUTTI_TRY(context, need_flat(context, layer, shape_of(network, layer, i)));
  layer->shape = shape_of(network, layer, 0);
  layer->flops = layer->op == TUTTI_OP_HEAD_LINEAR ? 0 : elements(layer->shape);
  if (layer->op == TUTTI_OP_HEAD_GAUSSIAN && layer->shape.channels % 2 != 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "layer \"%s\" (head-gaussian) needs two inputs an output (means, then deviations), not %d",
                      layer->label, layer->shape.channels);
  if (layer->op == TUTTI_OP_HEAD_NOMU) {
    if (layer->shape.channels != 1 || shape_of(network, layer, 1).channels != 1)
      return fail_layer(context, layer, "needs two inputs of 1 channel, the mean and the raw uncertainty");
    layer->shape.channels = 2;
    layer->flops = 1;
  }
  return TUTTI_OK;
}

static enum tutti_status infer_zero(struct tutti_shape input, struct tutti_layer *layer) {
  int64_t stride = layer->attributes.stride;
  layer->shape.height = (int32_t)((input.height + stride - 1) / stride);
  layer->shape.width = (int32_t)((input.width + stride - 1) / stride);
  layer->shape.channels = input.channels;
  return TUTTI_OK;
}

static enum tutti_status infer_op(tutti_context *context, const tutti_network *network, struct tutti_layer *layer) {
  struct tutti_shape input = layer->input_count ? shape_of(network, layer, 0) : layer->shape;
  switch (layer->op) {
  case TUTTI_OP_INPUT:
    return TUTTI_OK;
  case TUTTI_OP_DENSE:
    return infer_dense(context, input, layer);
  case TUTTI_OP_CONV2D:
    return infer_conv2d(context, input, layer);
  case TUTTI_OP_BATCH_NORM:
    layer->shape = input;
    layer->parameters = layer->attributes.affine ? 2 * (size_t)input.channels : 0;
    layer->flops = 2 * elements(input);
    return TUTTI_OK;
  case TUTTI_OP_ACTIVATION:
    return infer_activation(context, input, layer);
  case TUTTI_OP_MAX_POOL:
  case TUTTI_OP_AVERAGE_POOL:
    return infer_pool(context, input, layer);
  case TUTTI_OP_GLOBAL_POOL:
    layer->shape = (struct tutti_shape){1, 1, input.channels};
    layer->flops = elements(input);
    return TUTTI_OK;
  case TUTTI_OP_ADD:
  case TUTTI_OP_MEAN:
    return infer_sum(context, network, layer);
  case TUTTI_OP_CONCAT:
    return infer_concat(context, network, layer);
  case TUTTI_OP_FACTORISED_REDUCE:
    infer_factorised_reduce(input, layer);
    return TUTTI_OK;
  case TUTTI_OP_ZERO:
    return infer_zero(input, layer);
  case TUTTI_OP_FLATTEN:
    layer->shape = (struct tutti_shape){1, 1, input.height * input.width * input.channels};
    return TUTTI_OK;
  case TUTTI_OP_IDENTITY:
  case TUTTI_OP_DROPOUT:
  case TUTTI_OP_DROP_PATH:
  case TUTTI_OP_DETACH:
    layer->shape = input;
    return TUTTI_OK;
  case TUTTI_OP_HEAD_SOFTMAX:
  case TUTTI_OP_HEAD_GAUSSIAN:
  case TUTTI_OP_HEAD_LINEAR:
  case TUTTI_OP_HEAD_NOMU:
    return infer_head(context, network, layer);
  case TUTTI_OP_COUNT:
    break;
  }
  return fail_layer(context, layer, "unknown op");
}

enum tutti_status tutti_network_infer(tutti_context *context, const tutti_network *network, struct tutti_layer *layer) {
  layer->parameters = 0;
  layer->flops = 0;
  TUTTI_TRY(context, check_attributes(context, layer));
  TUTTI_TRY(context, infer_op(context, network, layer));
  /* Every layer's numbers can be counted by an int32_t: flatten, and backends, need no checks of their own. */
  int32_t area, volume;
  if (layer->shape.height < 1 || layer->shape.width < 1 || layer->shape.channels < 1 ||
      __builtin_mul_overflow(layer->shape.height, layer->shape.width, &area) ||
      __builtin_mul_overflow(area, layer->shape.channels, &volume))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "layer \"%s\" (%s) has the shape %d x %d x %d; each side must be at least 1, and the product at "
                      "most %d",
                      layer->label, tutti_op_name(layer->op), layer->shape.height, layer->shape.width,
                      layer->shape.channels, INT32_MAX);
  return TUTTI_OK;
}
