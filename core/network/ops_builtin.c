/* ops_builtin.c - the built-in ops: their attributes, and the shape, parameters and FLOPs that follow from attributes
   and inputs.

   "same" padding is that of TensorFlow: out = ceil(in / stride), the total padding max(0, (out - 1) stride + span - in)
   with the odd pixel at the bottom and right. A factorised reduction of an odd input takes zeros for the missing last
   row and column of its shifted half, so that both halves have ceil(in / 2) rows.

   FLOPs are those of one forward pass for one example in use, not in training. A multiply-add counts 2; an elementwise
   function, a comparison and an addition count 1 for each number. Ops that do nothing in use (dropout) or only move
   data count nothing. */
#include "op_impl.h"

#include <math.h>
#include <tutti/network.h>

/* --- what the ops share --- */

static const struct tutti_layer *input_of(const tutti_network *network, const struct tutti_layer *layer, size_t input) {
  return tutti_network_layer(network, layer->inputs[input]);
}

static double elements(struct tutti_shape shape) { return (double)shape.height * shape.width * shape.channels; }

static enum tutti_status need_flat(tutti_context *context, struct tutti_shape input) {
  if (input.height == 1 && input.width == 1)
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "needs a flat input of 1 x 1 x features, not %d x %d x %d; put flatten or global-pool in front",
                    input.height, input.width, input.channels);
}

static enum tutti_status fail_shapes(tutti_context *context, const struct tutti_layer *one,
                                     const struct tutti_layer *other, const char *what) {
  struct tutti_shape a = one->shape, b = other->shape;
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "needs inputs of one %s: \"%s\" has %d x %d x %d, \"%s\" has %d x %d x %d", what, one->label,
                    a.height, a.width, a.channels, other->label, b.height, b.width, b.channels);
}

/* Leaves the shape of the first input. */
static enum tutti_status infer_same(tutti_context *context, const tutti_network *network,
                                    const struct tutti_layer *layer, struct tutti_inferred *out) {
  (void)context, (void)network, (void)layer, (void)out;
  return TUTTI_OK;
}

#define UNITS                                                                                                          \
  {                                                                                                                    \
    .name = "units", .type = TUTTI_ATTRIBUTE_INTEGER, .flags = TUTTI_ATTRIBUTE_REQUIRED, .min = 1, .max = INT32_MAX,   \
    .doc = "Channels, or features, of the output."                                                                     \
  }
#define COUNT(key, default_, text)                                                                                     \
  { .name = (key), .type = TUTTI_ATTRIBUTE_INTEGER, .preset = (default_), .min = 1, .max = INT32_MAX, .doc = (text) }
#define FLAG(key, default_, text)                                                                                      \
  { .name = (key), .type = TUTTI_ATTRIBUTE_FLAG, .preset = (default_), .doc = (text) }
#define NOT_NEGATIVE(key, default_, text)                                                                              \
  {                                                                                                                    \
    .name = (key), .type = TUTTI_ATTRIBUTE_REAL, .preset = (default_), .min = 0, .max = (double)INFINITY,              \
    .doc = (text)                                                                                                      \
  }
#define POSITIVE(key, default_, text)                                                                                  \
  {                                                                                                                    \
    .name = (key), .type = TUTTI_ATTRIBUTE_REAL, .preset = (default_), .min = 0, .max = (double)INFINITY,              \
    .min_open = true, .doc = (text)                                                                                    \
  }
#define RATE(text)                                                                                                     \
  { .name = "rate", .type = TUTTI_ATTRIBUTE_REAL, .min = 0, .max = 1, .max_open = true, .doc = (text) }
#define WINDOW                                                                                                         \
  COUNT("kernel_height", 3, "Rows of the window."), COUNT("kernel_width", 3, "Columns of the window."),                \
      COUNT("stride", 1, "Pixels from one window to the next, both ways.")
#define PADDING                                                                                                        \
  {                                                                                                                    \
    .name = "padding", .type = TUTTI_ATTRIBUTE_CHOICE, .preset = TUTTI_PADDING_SAME, .choices = padding_names,         \
    .doc = "Zeros around the image as in TensorFlow (same), or none (valid)."                                          \
  }
#define BIAS FLAG("bias", 1, "Add a number for each of the units.")
#define L2                                                                                                             \
  {                                                                                                                    \
    .name = "l2", .type = TUTTI_ATTRIBUTE_REAL, .flags = TUTTI_ATTRIBUTE_OPTIONAL, .min = 0, .max = (double)INFINITY,  \
    .doc = "L2 weight of this layer's parameters; not set: the backend's own."                                         \
  }

static const char *const padding_names[] = {
    [TUTTI_PADDING_SAME] = "same",
    [TUTTI_PADDING_VALID] = "valid",
    NULL,
};

/* Begin a definition. */
#define INPUTS(text, least, most, rule)                                                                                \
  .size = sizeof(struct tutti_op_definition), .name = (text), .min_inputs = (least), .max_inputs = (most),             \
  .infer = (rule)
#define ONE_INPUT(text, rule) INPUTS(text, 1, 1, rule)
#define HAS(array) .attributes = TUTTI_ATTRIBUTE_TABLE(array)

/* --- input, and what keeps the shape --- */

static const struct tutti_op_definition op_input = {INPUTS("input", 0, 0, infer_same),
                                                    .doc = "What the network reads; always layer 0."};

static const struct tutti_op_definition op_identity = {ONE_INPUT("identity", infer_same), .doc = "Its input."};

static const struct tutti_op_definition op_detach = {ONE_INPUT("detach", infer_same),
                                                     .doc = "Its input; no gradient goes back."};

static const struct tutti_attribute_definition dropout_attributes[] = {
    FLAG("spatial", 0, "Drop whole channels of an image."),
    RATE("Share of the numbers that training sets to 0."),
};
static const struct tutti_op_definition op_dropout = {ONE_INPUT("dropout", infer_same), HAS(dropout_attributes),
                                                      .doc = "Sets numbers to 0, in training alone."};

static const struct tutti_attribute_definition drop_path_attributes[] = {
    FLAG("scheduled", 0, "The rate grows from 0: rate * epoch / epochs."),
    RATE("Share of the examples whose input training sets to 0."),
};
static const struct tutti_op_definition op_drop_path = {
    ONE_INPUT("drop-path", infer_same), HAS(drop_path_attributes),
    .doc = "Sets the whole input of examples to 0, in training alone."};

static const struct tutti_attribute_definition activation_attributes[] = {
    {.name = "activation",
     .type = TUTTI_ATTRIBUTE_CHOICE,
     .preset = TUTTI_ACTIVATION_RELU,
     .choices = tutti_activation_table,
     .doc = "The function."},
};
static enum tutti_status infer_activation(tutti_context *context, const tutti_network *network,
                                          const struct tutti_layer *layer, struct tutti_inferred *out) {
  int32_t activation = tutti_layer_integer(layer, "activation", TUTTI_ACTIVATION_RELU);
  (void)network;
  if (activation == TUTTI_ACTIVATION_CRELU && __builtin_mul_overflow(out->shape.channels, 2, &out->shape.channels))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "too many channels");
  out->flops = activation == TUTTI_ACTIVATION_LINEAR ? 0 : elements(out->shape);
  return TUTTI_OK;
}
static const struct tutti_op_definition op_activation = {
    ONE_INPUT("activation", infer_activation), HAS(activation_attributes), .doc = "A function of each number."};

static const struct tutti_attribute_definition batch_norm_attributes[] = {
    FLAG("affine", 1, "Scale and shift by trained numbers, two for each channel."),
    {.name = "momentum",
     .type = TUTTI_ATTRIBUTE_REAL,
     .preset = 0.1,
     .min = 0,
     .max = 1,
     .doc = "Weight of a batch in the running mean and variance."},
    POSITIVE("epsilon", 1e-5, "Added to the variance."),
    L2,
};
static enum tutti_status infer_batch_norm(tutti_context *context, const tutti_network *network,
                                          const struct tutti_layer *layer, struct tutti_inferred *out) {
  (void)context, (void)network;
  out->parameters = tutti_layer_flag(layer, "affine", true) ? 2 * (size_t)out->shape.channels : 0;
  out->flops = 2 * elements(out->shape);
  return TUTTI_OK;
}
static const struct tutti_op_definition op_batch_norm = {
    ONE_INPUT("batch-norm", infer_batch_norm), HAS(batch_norm_attributes),
    .doc = "Mean 0 and variance 1 for each channel: of the batch in training, of the running statistics in use."};

/* --- products --- */

static const struct tutti_attribute_definition dense_attributes[] = {UNITS, BIAS, L2};
static enum tutti_status infer_dense(tutti_context *context, const tutti_network *network,
                                     const struct tutti_layer *layer, struct tutti_inferred *out) {
  struct tutti_shape input = out->shape;
  (void)network;
  TUTTI_TRY(context, need_flat(context, input));
  int32_t units = tutti_layer_integer(layer, "units", 0);
  size_t bias = tutti_layer_flag(layer, "bias", true) ? (size_t)units : 0;
  out->shape = (struct tutti_shape){1, 1, units};
  out->parameters = (size_t)input.channels * (size_t)units + bias;
  out->flops = 2.0 * input.channels * units + (double)bias;
  return TUTTI_OK;
}
static const struct tutti_op_definition op_dense = {ONE_INPUT("dense", infer_dense), HAS(dense_attributes),
                                                    .doc = "A matrix product: y = x W + b."};

/* Length of the output of a window that moves along `length`; 0 when it does not fit. */
static int32_t window_output(int32_t length, int32_t kernel, int32_t dilation, const struct tutti_layer *layer) {
  int64_t span = (int64_t)dilation * (kernel - 1) + 1;
  int64_t stride = tutti_layer_integer(layer, "stride", 1);
  bool same = tutti_layer_integer(layer, "padding", TUTTI_PADDING_SAME) == TUTTI_PADDING_SAME;
  int64_t room = same ? length : length - span + 1;
  return room <= 0 ? 0 : (int32_t)((room + stride - 1) / stride);
}

/* Height and width of a window's output; the channels stay. */
static enum tutti_status set_window(tutti_context *context, const struct tutti_layer *layer,
                                    struct tutti_inferred *out) {
  struct tutti_shape input = out->shape;
  int32_t height = tutti_layer_integer(layer, "kernel_height", 1),
          width = tutti_layer_integer(layer, "kernel_width", 1);
  int32_t dilation = tutti_layer_integer(layer, "dilation", 1);
  out->shape.height = window_output(input.height, height, dilation, layer);
  out->shape.width = window_output(input.width, width, dilation, layer);
  if (out->shape.height > 0 && out->shape.width > 0)
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "a kernel of %d x %d with dilation %d does not fit in an input of %d x %d; pad (\"same\") or take "
                    "a smaller kernel",
                    height, width, dilation, input.height, input.width);
}

static const struct tutti_attribute_definition conv2d_attributes[] = {
    UNITS,
    WINDOW,
    COUNT("dilation", 1, "Pixels from one tap of the window to the next."),
    COUNT("groups", 1, "Groups of channels that do not see each other; as many as channels: depthwise."),
    PADDING,
    BIAS,
    L2,
};
static enum tutti_status infer_conv2d(tutti_context *context, const tutti_network *network,
                                      const struct tutti_layer *layer, struct tutti_inferred *out) {
  int32_t units = tutti_layer_integer(layer, "units", 0), groups = tutti_layer_integer(layer, "groups", 1);
  int32_t height = tutti_layer_integer(layer, "kernel_height", 1),
          width = tutti_layer_integer(layer, "kernel_width", 1);
  int32_t channels = out->shape.channels;
  bool bias = tutti_layer_flag(layer, "bias", true);
  (void)network;
  if (channels % groups != 0 || units % groups != 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%d groups must divide the %d channels of its input and its %d units",
                      groups, channels, units);
  TUTTI_TRY(context, set_window(context, layer, out));
  out->shape.channels = units;
  size_t weights, fan_in = (size_t)channels / (size_t)groups;
  if (__builtin_mul_overflow((size_t)height * (size_t)width, fan_in, &weights) ||
      __builtin_mul_overflow(weights, (size_t)units, &weights) ||
      __builtin_add_overflow(weights, bias ? (size_t)units : 0, &out->parameters))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "too many parameters");
  out->flops = elements(out->shape) * (2.0 * ((double)height * width) * (double)fan_in + (bias ? 1 : 0));
  return TUTTI_OK;
}
static const struct tutti_op_definition op_conv2d = {ONE_INPUT("conv2d", infer_conv2d), HAS(conv2d_attributes),
                                                     .doc = "A convolution of images."};

static int32_t halved(int32_t length) { return length / 2 + length % 2; }

static const struct tutti_attribute_definition factorised_reduce_attributes[] = {UNITS, L2};
static enum tutti_status infer_factorised_reduce(tutti_context *context, const tutti_network *network,
                                                 const struct tutti_layer *layer, struct tutti_inferred *out) {
  struct tutti_shape input = out->shape;
  int32_t units = tutti_layer_integer(layer, "units", 0);
  (void)context, (void)network;
  out->shape = (struct tutti_shape){halved(input.height), halved(input.width), units};
  out->parameters = (size_t)input.channels * (size_t)units;
  out->flops = 2.0 * elements(out->shape) * input.channels;
  return TUTTI_OK;
}
static const struct tutti_op_definition op_factorised_reduce = {
    ONE_INPUT("factorised-reduce", infer_factorised_reduce), HAS(factorised_reduce_attributes),
    .doc = "Half the height and width by two strided convolutions of one pixel, the second shifted by a pixel."};

/* --- pools, and what moves numbers --- */

static const struct tutti_attribute_definition pool_attributes[] = {WINDOW, PADDING};
static enum tutti_status infer_pool(tutti_context *context, const tutti_network *network,
                                    const struct tutti_layer *layer, struct tutti_inferred *out) {
  (void)network;
  TUTTI_TRY(context, set_window(context, layer, out));
  out->flops = elements(out->shape) * tutti_layer_integer(layer, "kernel_height", 1) *
               tutti_layer_integer(layer, "kernel_width", 1);
  return TUTTI_OK;
}
static const struct tutti_op_definition op_max_pool = {ONE_INPUT("max-pool", infer_pool), HAS(pool_attributes),
                                                       .doc = "The largest number of a window."};
static const struct tutti_op_definition op_average_pool = {
    ONE_INPUT("average-pool", infer_pool), HAS(pool_attributes),
    .doc = "The mean of a window; padding is left out of the count."};

static enum tutti_status infer_global_pool(tutti_context *context, const tutti_network *network,
                                           const struct tutti_layer *layer, struct tutti_inferred *out) {
  (void)context, (void)network, (void)layer;
  out->flops = elements(out->shape);
  out->shape.height = out->shape.width = 1;
  return TUTTI_OK;
}
static const struct tutti_op_definition op_global_pool = {ONE_INPUT("global-pool", infer_global_pool),
                                                          .doc = "The mean over height and width."};

/* An int32_t can count the numbers of every layer. */
static enum tutti_status infer_flatten(tutti_context *context, const tutti_network *network,
                                       const struct tutti_layer *layer, struct tutti_inferred *out) {
  (void)context, (void)network, (void)layer;
  out->shape = (struct tutti_shape){1, 1, out->shape.height * out->shape.width * out->shape.channels};
  return TUTTI_OK;
}
static const struct tutti_op_definition op_flatten = {ONE_INPUT("flatten", infer_flatten),
                                                      .doc = "An image as one row of features."};

static const struct tutti_attribute_definition zero_attributes[] = {
    COUNT("stride", 1, "Height and width are divided by it."),
};
static enum tutti_status infer_zero(tutti_context *context, const tutti_network *network,
                                    const struct tutti_layer *layer, struct tutti_inferred *out) {
  int64_t stride = tutti_layer_integer(layer, "stride", 1);
  (void)context, (void)network;
  out->shape.height = (int32_t)((out->shape.height + stride - 1) / stride);
  out->shape.width = (int32_t)((out->shape.width + stride - 1) / stride);
  return TUTTI_OK;
}
static const struct tutti_op_definition op_zero = {ONE_INPUT("zero", infer_zero), HAS(zero_attributes),
                                                   .doc = "Zeros; no gradient goes back."};

/* --- several inputs --- */

static enum tutti_status infer_add(tutti_context *context, const tutti_network *network,
                                   const struct tutti_layer *layer, struct tutti_inferred *out) {
  const struct tutti_layer *first = input_of(network, layer, 0);
  for (size_t i = 1; i < layer->input_count; i++) {
    const struct tutti_layer *other = input_of(network, layer, i);
    if (other->shape.height != first->shape.height || other->shape.width != first->shape.width ||
        other->shape.channels != first->shape.channels)
      return fail_shapes(context, first, other, "shape");
  }
  out->flops = (double)(layer->input_count - 1) * elements(out->shape);
  return TUTTI_OK;
}
static const struct tutti_op_definition op_add = {INPUTS("add", 1, TUTTI_ANY_NUMBER, infer_add),
                                                  .doc = "The sum of inputs of one shape."};

static enum tutti_status infer_mean(tutti_context *context, const tutti_network *network,
                                    const struct tutti_layer *layer, struct tutti_inferred *out) {
  TUTTI_TRY(context, infer_add(context, network, layer, out));
  out->flops += elements(out->shape);
  return TUTTI_OK;
}
static const struct tutti_op_definition op_mean = {INPUTS("mean", 1, TUTTI_ANY_NUMBER, infer_mean),
                                                   .doc = "The mean of inputs of one shape."};

static enum tutti_status infer_concat(tutti_context *context, const tutti_network *network,
                                      const struct tutti_layer *layer, struct tutti_inferred *out) {
  const struct tutti_layer *first = input_of(network, layer, 0);
  for (size_t i = 1; i < layer->input_count; i++) {
    const struct tutti_layer *other = input_of(network, layer, i);
    if (other->shape.height != first->shape.height || other->shape.width != first->shape.width)
      return fail_shapes(context, first, other, "height and width");
    if (__builtin_add_overflow(out->shape.channels, other->shape.channels, &out->shape.channels))
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "too many channels");
  }
  return TUTTI_OK;
}
static const struct tutti_op_definition op_concat = {INPUTS("concat", 1, TUTTI_ANY_NUMBER, infer_concat),
                                                     .doc = "The channels of all inputs, one behind the other."};

/* --- heads --- */

static enum tutti_status infer_linear(tutti_context *context, const tutti_network *network,
                                      const struct tutti_layer *layer, struct tutti_inferred *out) {
  (void)network, (void)layer;
  return need_flat(context, out->shape);
}
static const struct tutti_op_definition op_head_linear = {ONE_INPUT("head-linear", infer_linear), .head = true,
                                                          .doc = "Means alone; loss: squared error."};

static enum tutti_status infer_softmax(tutti_context *context, const tutti_network *network,
                                       const struct tutti_layer *layer, struct tutti_inferred *out) {
  (void)network, (void)layer;
  out->flops = elements(out->shape);
  return need_flat(context, out->shape);
}
static const struct tutti_op_definition op_head_softmax = {ONE_INPUT("head-softmax", infer_softmax), .head = true,
                                                           .doc = "Classes from logits; loss: cross-entropy."};

static const struct tutti_attribute_definition gaussian_attributes[] = {
    POSITIVE("scale", 1, "With s the raw second half of the inputs, sigma = floor + softplus(scale s)."),
    NOT_NEGATIVE("floor", 1e-3, "The least sigma."),
    FLAG("variance", 0, "The same formula gives sigma^2."),
};
static enum tutti_status infer_gaussian(tutti_context *context, const tutti_network *network,
                                        const struct tutti_layer *layer, struct tutti_inferred *out) {
  TUTTI_TRY(context, infer_softmax(context, network, layer, out));
  if (out->shape.channels % 2 == 0)
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "needs two inputs an output (means, then deviations), not %d",
                    out->shape.channels);
}
static const struct tutti_op_definition op_head_gaussian = {
    ONE_INPUT("head-gaussian", infer_gaussian), HAS(gaussian_attributes), .head = true,
    .doc = "Means, then deviations; loss: Gaussian negative log-likelihood."};

#define CHOICE(key, names, text)                                                                                       \
  { .name = (key), .type = TUTTI_ATTRIBUTE_CHOICE, .choices = (names), .doc = (text) }
static const char *const nomu_noises[] = {
    [TUTTI_NOMU_NOISE_NONE] = "none", [TUTTI_NOMU_NOISE_LEARNT] = "learnt", [TUTTI_NOMU_NOISE_KNOWN] = "known", NULL};
static const char *const nomu_bounds[] = {[TUTTI_NOMU_BOUNDS_SYMMETRIC] = "symmetric",
                                          [TUTTI_NOMU_BOUNDS_LOWER] = "lower",
                                          [TUTTI_NOMU_BOUNDS_UPPER] = "upper",
                                          [TUTTI_NOMU_BOUNDS_BOTH] = "both",
                                          NULL};
static const char *const nomu_readouts[] = {
    [TUTTI_NOMU_READOUT_EXPONENTIAL] = "exponential", [TUTTI_NOMU_READOUT_LINEAR] = "linear", NULL};
static const char *const nomu_points[] = {
    [TUTTI_NOMU_POINTS_RANDOM] = "random", [TUTTI_NOMU_POINTS_GRID] = "grid", NULL};

static const struct tutti_attribute_definition nomu_attributes[] = {
    NOT_NEGATIVE("pi_sqr", 0.1, "Weight of the squared uncertainty at training points (Heiss et al., Eq. 4)."),
    NOT_NEGATIVE("pi_exp", 0.01, "Weight of the exponential term at artificial points."),
    POSITIVE("c_exp", 30, "The exponent of that term."),
    NOT_NEGATIVE("margin", 0.05,
                 "By this share of its width the training range is widened on each side for the "
                 "artificial points."),
    {.name = "artificial",
     .type = TUTTI_ATTRIBUTE_INTEGER,
     .preset = 128,
     .min = 0,
     .max = INT32_MAX,
     .doc = "Artificial points a step."},
    FLAG("stable", 0, "Huber's loss and a straight line where the two terms grow fast."),
    NOT_NEGATIVE("l_min", 1e-3, "Least uncertainty, nearly: what a raw uncertainty of 0 gives (Eq. 2)."),
    POSITIVE("l_max", 2, "Greatest uncertainty, where the raw one is large."),
    CHOICE("noise", nomu_noises,
           "Noise in the data: none; learnt as a third input, by likelihood (Eq. 57); or known, of one size."),
    POSITIVE("scale", 1, "With t the raw noise, its deviation is floor + softplus(scale t)."),
    NOT_NEGATIVE("floor", 1e-3, "The least deviation of the noise."),
    FLAG("variance", 0, "The same formula gives the noise's variance."),
    POSITIVE("known_noise", 1, "The deviation of known noise."),
    FLAG("through_noise", 0,
         "The uncertainty's term of Eq. 57 changes the noise, too; otherwise data alone determine it."),
    CHOICE("bounds", nomu_bounds,
           "What is learnt beside the mean: one symmetric uncertainty; or, for directed hypothesis classes, a lower "
           "bound, an upper bound, or both (Definition C.1)."),
    CHOICE("readout", nomu_readouts, "From raw uncertainty to deviation: Eq. 2, or the linear one of Remark 3.2."),
    CHOICE("points", nomu_points,
           "Artificial points are drawn at random, anew at each step; or, where the network has one input, lie on a "
           "grid from one end of their box to the other (B.2.2, footnote 21)."),
};

/* What comes after the mean: the raw uncertainty or bounds, and the raw noise. */
static size_t nomu_inputs(const struct tutti_layer *layer) {
  bool both = tutti_layer_integer(layer, "bounds", TUTTI_NOMU_BOUNDS_SYMMETRIC) == TUTTI_NOMU_BOUNDS_BOTH;
  bool learnt = tutti_layer_integer(layer, "noise", TUTTI_NOMU_NOISE_NONE) == TUTTI_NOMU_NOISE_LEARNT;
  return 2U + both + learnt;
}

static enum tutti_status infer_nomu(tutti_context *context, const tutti_network *network,
                                    const struct tutti_layer *layer, struct tutti_inferred *out) {
  const struct tutti_layer *mean = input_of(network, layer, 0);
  bool directed = tutti_layer_integer(layer, "bounds", 0) != TUTTI_NOMU_BOUNDS_SYMMETRIC;
  if (directed && tutti_layer_integer(layer, "noise", 0) != TUTTI_NOMU_NOISE_NONE)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "has noise only with symmetric bounds; leave one of the two out");
  const double inputs = elements(tutti_network_layer(network, 0)->shape);
  if (tutti_layer_integer(layer, "points", TUTTI_NOMU_POINTS_RANDOM) == TUTTI_NOMU_POINTS_GRID && inputs != 1)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "has its artificial points on a grid for networks of one input, and this one has %.0f; "
                      "take points that are drawn at random",
                      inputs);
  if (layer->input_count != nomu_inputs(layer))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "needs %zu inputs with these attributes (the mean, its uncertainty or its bounds, the noise), "
                      "and has %zu",
                      nomu_inputs(layer), layer->input_count);
  for (size_t i = 0; i < layer->input_count; i++) {
    const struct tutti_layer *input = input_of(network, layer, i);
    TUTTI_TRY(context, need_flat(context, input->shape));
    if (input->shape.channels != mean->shape.channels)
      return fail_shapes(context, mean, input, "size");
  }
  if (__builtin_mul_overflow(mean->shape.channels, 2, &out->shape.channels))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "too many outputs");
  out->flops = elements(mean->shape);
  return TUTTI_OK;
}
static const struct tutti_op_definition op_head_nomu = {
    INPUTS("head-nomu", 2, 3, infer_nomu), HAS(nomu_attributes), .head = true,
    .doc = "Means and raw uncertainties r, read out as l_max (1 - exp(-(max(r, 0) + l_min) / l_max)); loss of Heiss et "
           "al. with artificial points. It may have noise in the data, or bounds in place of r."};

/* --- the table --- */

const struct tutti_op_definition *const tutti_ops_builtin[TUTTI_OP_COUNT] = {
    [TUTTI_OP_INPUT] = &op_input,
    [TUTTI_OP_DENSE] = &op_dense,
    [TUTTI_OP_CONV2D] = &op_conv2d,
    [TUTTI_OP_BATCH_NORM] = &op_batch_norm,
    [TUTTI_OP_ACTIVATION] = &op_activation,
    [TUTTI_OP_MAX_POOL] = &op_max_pool,
    [TUTTI_OP_AVERAGE_POOL] = &op_average_pool,
    [TUTTI_OP_GLOBAL_POOL] = &op_global_pool,
    [TUTTI_OP_ADD] = &op_add,
    [TUTTI_OP_CONCAT] = &op_concat,
    [TUTTI_OP_MEAN] = &op_mean,
    [TUTTI_OP_FACTORISED_REDUCE] = &op_factorised_reduce,
    [TUTTI_OP_IDENTITY] = &op_identity,
    [TUTTI_OP_ZERO] = &op_zero,
    [TUTTI_OP_DROPOUT] = &op_dropout,
    [TUTTI_OP_DROP_PATH] = &op_drop_path,
    [TUTTI_OP_DETACH] = &op_detach,
    [TUTTI_OP_FLATTEN] = &op_flatten,
    [TUTTI_OP_HEAD_SOFTMAX] = &op_head_softmax,
    [TUTTI_OP_HEAD_GAUSSIAN] = &op_head_gaussian,
    [TUTTI_OP_HEAD_LINEAR] = &op_head_linear,
    [TUTTI_OP_HEAD_NOMU] = &op_head_nomu,
};
