/* onnx_network.c - a network and its weights as nodes of an ONNX graph. Images are [rows, channels, height, width]
   there, and channels come last here, so that weights and what is flattened are turned. */
#include "onnx_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The value of a layer: [rows, channels], or an image. */
struct tensor {
  onnx_value value;
  struct tutti_shape shape;
  bool image;
};

struct translation {
  struct onnx_graph *graph;
  const tutti_tensors *weights;
  const struct tutti_layer *layer; /* the one that is translated now */
  const struct tensor *inputs;     /* [layer->input_count]: those that it reads */
};

/* --- what layers share --- */

static void fail(const struct translation *t, const char *text) {
  tutti_context *context = onnx_graph_context(t->graph);
  if (!onnx_graph_failed(t->graph))
    onnx_graph_fail(t->graph, TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "layer \"%s\", op %s: %s", t->layer->label,
                                         t->layer->op_name, text));
}

/* The trained numbers "<label>/<part>", of which there are `count`; NULL after a failure. */
static const float *weights_of(const struct translation *t, const char *part, size_t count) {
  char *name;
  tutti_context *context = onnx_graph_context(t->graph);
  if (onnx_graph_failed(t->graph))
    return NULL;
  onnx_graph_fail(t->graph, tutti_format(context, &name, "%s/%s", t->layer->label, part));
  if (onnx_graph_failed(t->graph))
    return NULL;
  const struct tutti_tensor *tensor = tutti_tensors_find(t->weights, name);
  bool fits = tensor && tensor->element == TUTTI_F32 && tensor->bytes == count * sizeof(float);
  if (!fits)
    onnx_graph_fail(t->graph,
                    TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "expected a tensor \"%s\" of %zu float32, found %s", name,
                               count, tensor ? "another type or size" : "none"));
  tutti_free(name);
  return fits ? tensor->data : NULL;
}

static onnx_value vector_of(const struct translation *t, const char *part, size_t count) {
  const float *values = weights_of(t, part, count);
  return values ? onnx_floats(t->graph, 1, &(int64_t){(int64_t)count}, values) : NULL;
}

/* [rows, features], with an image's numbers in the order of rows, columns, channels. */
static onnx_value flat(const struct translation *t, const struct tensor *input) {
  static const int64_t channels_last[] = {0, 2, 3, 1};
  onnx_value value = input->value;
  if (!input->image)
    return value;
  if (input->shape.height * input->shape.width > 1)
    value = ONNX_NODE(t->graph, "Transpose", ONNX_ATTRIBUTES(ONNX_INTEGERS("perm", 4, channels_last)), value);
  return ONNX_NODE(t->graph, "Flatten", ONNX_ATTRIBUTES(ONNX_INTEGER("axis", 1)), value);
}

static onnx_value image(const struct translation *t, const struct tensor *input) {
  const int64_t shape[] = {-1, input->shape.channels, 1, 1};
  return input->image ? input->value : ONNX(t->graph, "Reshape", input->value, onnx_integers(t->graph, 4, shape));
}

/* --- layers, one by one --- */

static struct tensor pass(const struct translation *t) { return t->inputs[0]; }

static struct tensor as_flat(const struct translation *t, onnx_value value) {
  return (struct tensor){value, t->layer->shape, false};
}
static struct tensor as_image(const struct translation *t, onnx_value value) {
  return (struct tensor){value, t->layer->shape, true};
}
/* Of the input's kind. */
static struct tensor alike(const struct translation *t, onnx_value value) {
  return (struct tensor){value, t->layer->shape, t->inputs[0].image};
}

static struct tensor dense(const struct translation *t) {
  int64_t in = t->inputs[0].shape.channels, out = t->layer->shape.channels;
  const float *weights = weights_of(t, "weight", (size_t)(in * out));
  if (!weights)
    return as_flat(t, NULL);
  onnx_value matrix = onnx_floats(t->graph, 2, (int64_t[]){in, out}, weights), rows = flat(t, &t->inputs[0]);
  if (!tutti_layer_flag(t->layer, "bias", true))
    return as_flat(t, ONNX(t->graph, "MatMul", rows, matrix));
  return as_flat(t, ONNX(t->graph, "Gemm", rows, matrix, vector_of(t, "bias", (size_t)out)));
}

static struct tensor flatten(const struct translation *t) { return as_flat(t, flat(t, &t->inputs[0])); }

static struct tensor global_pool(const struct translation *t) {
  if (!t->inputs[0].image)
    return pass(t);
  onnx_value mean = ONNX(t->graph, "GlobalAveragePool", t->inputs[0].value);
  return as_flat(t, ONNX_NODE(t->graph, "Flatten", ONNX_ATTRIBUTES(ONNX_INTEGER("axis", 1)), mean));
}

/* --- activations --- */

static onnx_value activation_gelu(struct onnx_graph *graph, onnx_value x) {
  onnx_value phi = ONNX(graph, "Erf", ONNX(graph, "Mul", x, onnx_float(graph, M_SQRT1_2)));
  onnx_value twice = ONNX(graph, "Mul", x, ONNX(graph, "Add", phi, onnx_float(graph, 1)));
  return ONNX(graph, "Mul", twice, onnx_float(graph, 0.5));
}
static onnx_value activation_hard_sigmoid(struct onnx_graph *graph, onnx_value x) {
  return ONNX_NODE(graph, "HardSigmoid", ONNX_ATTRIBUTES(ONNX_REAL("alpha", 0.2), ONNX_REAL("beta", 0.5)), x);
}
static onnx_value activation_swish(struct onnx_graph *graph, onnx_value x) {
  return ONNX(graph, "Mul", x, ONNX(graph, "Sigmoid", x));
}
static onnx_value activation_leaky_relu(struct onnx_graph *graph, onnx_value x) {
  return ONNX_NODE(graph, "LeakyRelu", ONNX_ATTRIBUTES(ONNX_REAL("alpha", 0.01)), x);
}
static onnx_value activation_crelu(struct onnx_graph *graph, onnx_value x) {
  onnx_value halves[] = {ONNX(graph, "Relu", x), ONNX(graph, "Relu", ONNX(graph, "Neg", x))};
  return onnx_node(graph, "Concat", ONNX_ATTRIBUTES(ONNX_INTEGER("axis", 1)), 2, halves);
}
static onnx_value activation_linear(struct onnx_graph *graph, onnx_value x) {
  (void)graph;
  return x;
}

/* An operator of one input, or a function. */
static const struct {
  const char *operator_;
  onnx_value (*function)(struct onnx_graph *graph, onnx_value x);
} activations[TUTTI_ACTIVATION_COUNT] = {
    [TUTTI_ACTIVATION_LINEAR] = {.function = activation_linear},
    [TUTTI_ACTIVATION_ELU] = {"Elu", NULL},
    [TUTTI_ACTIVATION_GELU] = {.function = activation_gelu},
    [TUTTI_ACTIVATION_HARD_SIGMOID] = {.function = activation_hard_sigmoid},
    [TUTTI_ACTIVATION_RELU] = {"Relu", NULL},
    [TUTTI_ACTIVATION_SELU] = {"Selu", NULL},
    [TUTTI_ACTIVATION_SIGMOID] = {"Sigmoid", NULL},
    [TUTTI_ACTIVATION_SOFTPLUS] = {"Softplus", NULL},
    [TUTTI_ACTIVATION_SOFTSIGN] = {"Softsign", NULL},
    [TUTTI_ACTIVATION_SWISH] = {.function = activation_swish},
    [TUTTI_ACTIVATION_TANH] = {"Tanh", NULL},
    [TUTTI_ACTIVATION_LEAKY_RELU] = {.function = activation_leaky_relu},
    [TUTTI_ACTIVATION_CRELU] = {.function = activation_crelu},
};

static struct tensor activation(const struct translation *t) {
  int32_t which = tutti_layer_integer(t->layer, "activation", TUTTI_ACTIVATION_RELU);
  if (which < 0 || which >= TUTTI_ACTIVATION_COUNT || (!activations[which].operator_ && !activations[which].function)) {
    fail(t, "the export does not know its activation");
    return pass(t);
  }
  onnx_value x = t->inputs[0].value;
  return alike(t, activations[which].function ? activations[which].function(t->graph, x)
                                              : ONNX(t->graph, activations[which].operator_, x));
}

/* --- batch norm --- */

static onnx_value constant_vector(const struct translation *t, size_t count, float value) {
  tutti_context *context = onnx_graph_context(t->graph);
  float *values;
  if (onnx_graph_failed(t->graph))
    return NULL;
  onnx_graph_fail(t->graph, tutti_alloc(context, count, sizeof *values, &values));
  if (onnx_graph_failed(t->graph))
    return NULL;
  for (size_t i = 0; i < count; i++)
    values[i] = value;
  onnx_value made = onnx_floats(t->graph, 1, &(int64_t){(int64_t)count}, values);
  tutti_free(values);
  return made;
}

static struct tensor batch_norm(const struct translation *t) {
  size_t channels = (size_t)t->layer->shape.channels;
  bool affine = tutti_layer_flag(t->layer, "affine", true);
  onnx_value gamma = affine ? vector_of(t, "gamma", channels) : constant_vector(t, channels, 1);
  onnx_value beta = affine ? vector_of(t, "beta", channels) : constant_vector(t, channels, 0);
  double epsilon = tutti_layer_real(t->layer, "epsilon", 1e-5);
  return alike(t, ONNX_NODE(t->graph, "BatchNormalization", ONNX_ATTRIBUTES(ONNX_REAL("epsilon", epsilon)),
                            t->inputs[0].value, gamma, beta, vector_of(t, "mean", channels),
                            vector_of(t, "variance", channels)));
}

/* --- windows --- */

struct window {
  int64_t kernel[2], strides[2], dilations[2], pads[4]; /* pads: top, left, bottom, right */
};

static struct window window_of(const struct translation *t) {
  const struct tutti_layer *layer = t->layer;
  int64_t stride = tutti_layer_integer(layer, "stride", 1), dilation = tutti_layer_integer(layer, "dilation", 1);
  struct window w = {
      .kernel = {tutti_layer_integer(layer, "kernel_height", 1), tutti_layer_integer(layer, "kernel_width", 1)},
      .strides = {stride, stride},
      .dilations = {dilation, dilation}};
  int64_t in[2] = {t->inputs[0].shape.height, t->inputs[0].shape.width};
  int64_t out[2] = {layer->shape.height, layer->shape.width};
  bool same = tutti_layer_integer(layer, "padding", TUTTI_PADDING_SAME) == TUTTI_PADDING_SAME;
  for (size_t i = 0; i < 2 && same; i++) { /* the odd pixel is at the bottom and right */
    int64_t span = dilation * (w.kernel[i] - 1) + 1, all = (out[i] - 1) * stride + span - in[i];
    w.pads[i] = all > 0 ? all / 2 : 0;
    w.pads[i + 2] = all > 0 ? all - all / 2 : 0;
  }
  return w;
}

/* Weights [height][width][in][out] as [out, in, height, width]. */
static onnx_value kernels(const struct translation *t, const struct window *w, int64_t in, int64_t out) {
  tutti_context *context = onnx_graph_context(t->graph);
  size_t taps = (size_t)(w->kernel[0] * w->kernel[1]), depth = (size_t)in, units = (size_t)out;
  const float *from = weights_of(t, "weight", taps * depth * units);
  float *to;
  if (!from)
    return NULL;
  onnx_graph_fail(t->graph, tutti_alloc(context, taps * depth, units * sizeof *to, &to));
  if (onnx_graph_failed(t->graph))
    return NULL;
  for (size_t u = 0, i = 0; u < units; u++)
    for (size_t d = 0; d < depth; d++)
      for (size_t k = 0; k < taps; k++)
        to[i++] = from[(k * depth + d) * units + u];
  onnx_value made = onnx_floats(t->graph, 4, (int64_t[]){out, in, w->kernel[0], w->kernel[1]}, to);
  tutti_free(to);
  return made;
}

static struct tensor conv2d(const struct translation *t) {
  struct window w = window_of(t);
  int64_t groups = tutti_layer_integer(t->layer, "groups", 1), out = t->layer->shape.channels;
  onnx_value inputs[3] = {image(t, &t->inputs[0]), kernels(t, &w, t->inputs[0].shape.channels / groups, out), NULL};
  size_t count = 2;
  if (tutti_layer_flag(t->layer, "bias", true))
    inputs[count++] = vector_of(t, "bias", (size_t)out);
  const struct onnx_attribute attributes[] = {ONNX_INTEGERS("kernel_shape", 2, w.kernel),
                                              ONNX_INTEGERS("strides", 2, w.strides),
                                              ONNX_INTEGERS("dilations", 2, w.dilations),
                                              ONNX_INTEGERS("pads", 4, w.pads),
                                              ONNX_INTEGER("group", groups),
                                              {.name = NULL}};
  return as_image(t, onnx_node(t->graph, "Conv", attributes, count, inputs));
}

static struct tensor max_pool(const struct translation *t) {
  struct window w = window_of(t);
  return as_image(t,
                  ONNX_NODE(t->graph, "MaxPool",
                            ONNX_ATTRIBUTES(ONNX_INTEGERS("kernel_shape", 2, w.kernel),
                                            ONNX_INTEGERS("strides", 2, w.strides), ONNX_INTEGERS("pads", 4, w.pads)),
                            image(t, &t->inputs[0])));
}
static struct tensor average_pool(const struct translation *t) {
  struct window w = window_of(t);
  return as_image(
      t, ONNX_NODE(t->graph, "AveragePool",
                   ONNX_ATTRIBUTES(ONNX_INTEGERS("kernel_shape", 2, w.kernel), ONNX_INTEGERS("strides", 2, w.strides),
                                   ONNX_INTEGERS("pads", 4, w.pads), ONNX_INTEGER("count_include_pad", 0)),
                   image(t, &t->inputs[0])));
}

/* Every `stride`-th pixel from (shift, shift) on. */
static onnx_value every(const struct translation *t, onnx_value value, int64_t shift, int64_t stride) {
  const int64_t start[] = {shift, shift}, end[] = {INT32_MAX, INT32_MAX}, axes[] = {2, 3}, step[] = {stride, stride};
  return ONNX(t->graph, "Slice", value, onnx_integers(t->graph, 2, start), onnx_integers(t->graph, 2, end),
              onnx_integers(t->graph, 2, axes), onnx_integers(t->graph, 2, step));
}

/* Columns [begin, end) of the weights [in][out] as kernels of one pixel. */
static onnx_value half_kernels(const struct translation *t, const float *from, int64_t begin, int64_t end) {
  tutti_context *context = onnx_graph_context(t->graph);
  size_t in = (size_t)t->inputs[0].shape.channels, out = (size_t)t->layer->shape.channels;
  size_t units = (size_t)(end - begin);
  float *to;
  if (!from || onnx_graph_failed(t->graph))
    return NULL;
  onnx_graph_fail(t->graph, tutti_alloc(context, in, units * sizeof *to, &to));
  if (onnx_graph_failed(t->graph))
    return NULL;
  for (size_t u = 0; u < units; u++)
    for (size_t d = 0; d < in; d++)
      to[u * in + d] = from[d * out + (size_t)begin + u];
  onnx_value made = onnx_floats(t->graph, 4, (int64_t[]){(int64_t)units, (int64_t)in, 1, 1}, to);
  tutti_free(to);
  return made;
}

/* Half of the units see the pixels at even positions, the others those one further, with zeros beyond the image. */
static struct tensor factorised_reduce(const struct translation *t) {
  int64_t units = t->layer->shape.channels, half = units / 2;
  struct tutti_shape in = t->inputs[0].shape;
  const float *weights = weights_of(t, "weight", (size_t)in.channels * (size_t)units);
  const int64_t pads[] = {0, 0, 0, 0, 0, 0, in.height % 2, in.width % 2};
  onnx_value padded = ONNX(t->graph, "Pad", image(t, &t->inputs[0]), onnx_integers(t->graph, 8, pads));
  onnx_value both[2];
  size_t count = 0;
  if (half > 0)
    both[count++] = ONNX(t->graph, "Conv", every(t, image(t, &t->inputs[0]), 0, 2), half_kernels(t, weights, 0, half));
  both[count++] = ONNX(t->graph, "Conv", every(t, padded, 1, 2), half_kernels(t, weights, half, units));
  return as_image(t, onnx_node(t->graph, "Concat", ONNX_ATTRIBUTES(ONNX_INTEGER("axis", 1)), count, both));
}

static struct tensor zero(const struct translation *t) {
  int64_t stride = tutti_layer_integer(t->layer, "stride", 1);
  onnx_value value = t->inputs[0].image ? every(t, t->inputs[0].value, 0, stride) : t->inputs[0].value;
  return alike(t, ONNX(t->graph, "Mul", value, onnx_float(t->graph, 0)));
}

/* --- several inputs --- */

/* All inputs as the same kind, joined by an operator. */
static struct tensor join(const struct translation *t, const char *operator_, const struct onnx_attribute *attributes) {
  tutti_context *context = onnx_graph_context(t->graph);
  size_t count = t->layer->input_count;
  bool images = true;
  onnx_value *values;
  if (onnx_graph_failed(t->graph))
    return pass(t);
  onnx_graph_fail(t->graph, tutti_alloc(context, count, sizeof *values, &values));
  if (onnx_graph_failed(t->graph))
    return pass(t);
  for (size_t i = 0; i < count; i++)
    images = images && t->inputs[i].image;
  for (size_t i = 0; i < count; i++)
    values[i] = images ? t->inputs[i].value : flat(t, &t->inputs[i]);
  struct tensor made = {onnx_node(t->graph, operator_, attributes, count, values), t->layer->shape, images};
  tutti_free(values);
  return made;
}
static struct tensor add(const struct translation *t) { return join(t, "Sum", NULL); }
static struct tensor mean(const struct translation *t) { return join(t, "Mean", NULL); }
static struct tensor concat(const struct translation *t) {
  return join(t, "Concat", ONNX_ATTRIBUTES(ONNX_INTEGER("axis", 1)));
}

/* --- the table of ops --- */

#define KNOWS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define WINDOW_KEYS "kernel_height", "kernel_width", "stride", "padding"

/* An attribute that is not among `known`, and changes what the layer computes, is refused. */
static const struct {
  struct tensor (*translate)(const struct translation *t);
  const char *const *known;
} ops[TUTTI_OP_COUNT] = {
    [TUTTI_OP_DENSE] = {dense, KNOWS("units", "bias", "l2")},
    [TUTTI_OP_CONV2D] = {conv2d, KNOWS("units", WINDOW_KEYS, "dilation", "groups", "bias", "l2")},
    [TUTTI_OP_BATCH_NORM] = {batch_norm, KNOWS("affine", "momentum", "epsilon", "l2")},
    [TUTTI_OP_ACTIVATION] = {activation, KNOWS("activation")},
    [TUTTI_OP_MAX_POOL] = {max_pool, KNOWS(WINDOW_KEYS)},
    [TUTTI_OP_AVERAGE_POOL] = {average_pool, KNOWS(WINDOW_KEYS)},
    [TUTTI_OP_GLOBAL_POOL] = {global_pool, KNOWS(NULL)},
    [TUTTI_OP_ADD] = {add, KNOWS(NULL)},
    [TUTTI_OP_CONCAT] = {concat, KNOWS(NULL)},
    [TUTTI_OP_MEAN] = {mean, KNOWS(NULL)},
    [TUTTI_OP_FACTORISED_REDUCE] = {factorised_reduce, KNOWS("units", "l2")},
    [TUTTI_OP_IDENTITY] = {pass, KNOWS(NULL)},
    [TUTTI_OP_ZERO] = {zero, KNOWS("stride")},
    [TUTTI_OP_DROPOUT] = {pass, KNOWS("rate", "spatial")},
    [TUTTI_OP_DROP_PATH] = {pass, KNOWS("rate", "scheduled")},
    [TUTTI_OP_DETACH] = {pass, KNOWS(NULL)},
    [TUTTI_OP_FLATTEN] = {flatten, KNOWS(NULL)},
};

static struct tensor translate(const struct translation *t) {
  const struct tutti_layer *layer = t->layer;
  if (layer->op < 0 || layer->op >= TUTTI_OP_COUNT || !ops[layer->op].translate) {
    fail(t, "ONNX has no counterpart of it that the export knows; leave its trials out of the ensemble");
    return pass(t);
  }
  const char *unknown = tutti_layer_unknown(layer, ops[layer->op].known);
  if (unknown) {
    char text[256];
    (void)snprintf(text, sizeof text, "the export does not know its attribute %s", unknown);
    fail(t, text);
  }
  return ops[layer->op].translate(t);
}

/* --- heads: standardised predictions, as doubles --- */

/* log(1 + exp(x)), without loss where x is far from 0. */
static onnx_value softplus(struct onnx_graph *graph, onnx_value x) {
  onnx_value small = ONNX(graph, "Exp", ONNX(graph, "Neg", ONNX(graph, "Abs", x)));
  onnx_value log = ONNX(graph, "Log", ONNX(graph, "Add", small, onnx_double(graph, 1)));
  return ONNX(graph, "Add", ONNX(graph, "Max", x, onnx_double(graph, 0)), log);
}

/* floor + softplus(scale x), squared unless the formula is that of the variance. */
static onnx_value spread(struct onnx_graph *graph, const struct tutti_layer *head, onnx_value x) {
  onnx_value scaled = ONNX(graph, "Mul", x, onnx_double(graph, tutti_layer_real(head, "scale", 1)));
  onnx_value sum =
      ONNX(graph, "Add", softplus(graph, scaled), onnx_double(graph, tutti_layer_real(head, "floor", 1e-3)));
  return tutti_layer_flag(head, "variance", false) ? sum : ONNX(graph, "Mul", sum, sum);
}

static struct onnx_prediction head_softmax(const struct translation *t) {
  onnx_value logits = flat(t, &t->inputs[0]);
  onnx_value classes = ONNX_NODE(t->graph, "Softmax", ONNX_ATTRIBUTES(ONNX_INTEGER("axis", 1)), logits);
  return (struct onnx_prediction){.mean = onnx_cast(t->graph, classes, ONNX_DOUBLE)};
}

static struct onnx_prediction head_linear(const struct translation *t) {
  return (struct onnx_prediction){.mean = onnx_cast(t->graph, flat(t, &t->inputs[0]), ONNX_DOUBLE)};
}

static struct onnx_prediction head_gaussian(const struct translation *t) {
  onnx_value all = onnx_cast(t->graph, flat(t, &t->inputs[0]), ONNX_DOUBLE);
  int64_t outputs = t->layer->shape.channels / 2;
  return (struct onnx_prediction){.mean = onnx_columns(t->graph, all, 0, outputs),
                                  .variance =
                                      spread(t->graph, t->layer, onnx_columns(t->graph, all, outputs, 2 * outputs))};
}

/* From raw uncertainty to deviation: Eq. 2 of Heiss et al., or the linear one of Remark 3.2. */
static onnx_value readout(struct onnx_graph *graph, const struct tutti_layer *head, onnx_value raw) {
  double least = tutti_layer_real(head, "l_min", 1e-3), most = tutti_layer_real(head, "l_max", 2);
  if (tutti_layer_integer(head, "readout", TUTTI_NOMU_READOUT_EXPONENTIAL) == TUTTI_NOMU_READOUT_LINEAR) {
    onnx_value above = ONNX(graph, "Max", raw, onnx_double(graph, least));
    onnx_value beyond = ONNX(graph, "Max", ONNX(graph, "Sub", raw, onnx_double(graph, most)), onnx_double(graph, 0));
    return ONNX(graph, "Sub", above, beyond);
  }
  onnx_value positive = ONNX(graph, "Max", raw, onnx_double(graph, 0));
  onnx_value sum = ONNX(graph, "Add", positive, onnx_double(graph, least));
  onnx_value decay = ONNX(graph, "Exp", ONNX(graph, "Mul", sum, onnx_double(graph, -1 / most)));
  return ONNX(graph, "Mul", ONNX(graph, "Sub", onnx_double(graph, 1), decay), onnx_double(graph, most));
}

static onnx_value distance(struct onnx_graph *graph, onnx_value above, onnx_value below) {
  return ONNX(graph, "Max", ONNX(graph, "Sub", above, below), onnx_double(graph, 0));
}

static struct onnx_prediction head_nomu(const struct translation *t) {
  struct onnx_graph *graph = t->graph;
  onnx_value in[3] = {NULL}, deviation;
  for (size_t i = 0; i < t->layer->input_count && i < 3; i++)
    in[i] = onnx_cast(graph, flat(t, &t->inputs[i]), ONNX_DOUBLE);
  switch (tutti_layer_integer(t->layer, "bounds", TUTTI_NOMU_BOUNDS_SYMMETRIC)) {
  case TUTTI_NOMU_BOUNDS_LOWER:
    deviation = distance(graph, in[0], in[1]);
    break;
  case TUTTI_NOMU_BOUNDS_UPPER:
    deviation = distance(graph, in[1], in[0]);
    break;
  case TUTTI_NOMU_BOUNDS_BOTH:
    deviation = ONNX(graph, "Mul", distance(graph, in[2], in[1]), onnx_double(graph, 0.5));
    break;
  default:
    deviation = readout(graph, t->layer, in[1]);
  }
  onnx_value own = ONNX(graph, "Mul", deviation, deviation), variance = own;
  int noise = tutti_layer_integer(t->layer, "noise", TUTTI_NOMU_NOISE_NONE);
  double known = tutti_layer_real(t->layer, "known_noise", 1);
  if (noise == TUTTI_NOMU_NOISE_LEARNT)
    variance = ONNX(graph, "Add", own, spread(graph, t->layer, in[2]));
  else if (noise == TUTTI_NOMU_NOISE_KNOWN)
    variance = ONNX(graph, "Add", own, onnx_double(graph, known * known));
  return (struct onnx_prediction){in[0], variance, own};
}

static struct onnx_prediction head(const struct translation *t) {
  switch (t->layer->op) {
  case TUTTI_OP_HEAD_SOFTMAX:
    return head_softmax(t);
  case TUTTI_OP_HEAD_GAUSSIAN:
    return head_gaussian(t);
  case TUTTI_OP_HEAD_LINEAR:
    return head_linear(t);
  case TUTTI_OP_HEAD_NOMU:
    return head_nomu(t);
  default:
    fail(t, "the export does not know this head");
    return (struct onnx_prediction){NULL, NULL, NULL};
  }
}

/* --- the network --- */

struct onnx_prediction onnx_network(struct onnx_graph *graph, const tutti_network *network,
                                    const tutti_tensors *weights, const struct tutti_task *task, onnx_value rows) {
  enum tutti_status status;
  tutti_context *context = onnx_graph_context(graph);
  struct onnx_prediction made = {NULL, NULL, NULL};
  size_t layers = tutti_network_layers(network), most = 1;
  struct tensor *values = NULL, *inputs = NULL;
  if (onnx_graph_failed(graph))
    return made;
  for (size_t i = 0; i < layers; i++) {
    const struct tutti_layer *layer = tutti_network_layer(network, i);
    most = layer->input_count > most ? layer->input_count : most;
  }
  TUTTI_TRY_OUT(context, tutti_alloc(context, layers, sizeof *values, &values));
  TUTTI_TRY_OUT(context, tutti_alloc(context, most, sizeof *inputs, &inputs));
  values[0] = (struct tensor){rows, task->input, task->input.height * task->input.width > 1};
  for (size_t i = 1; i < layers; i++) {
    struct translation t = {graph, weights, tutti_network_layer(network, i), inputs};
    for (size_t k = 0; k < t.layer->input_count; k++)
      inputs[k] = values[t.layer->inputs[k]];
    if (i + 1 < layers)
      values[i] = translate(&t);
    else
      made = head(&t);
  }
out:
  onnx_graph_fail(graph, status);
  tutti_free(values);
  tutti_free(inputs);
  return made;
}
