/* op_names.c - ops, activations and attributes: their names, and which op reads what. */
#include "network_impl.h"

#include <math.h>
#include <string.h>
#include <tutti/names.h>

static const char *const activation_names[] = {
    [TUTTI_ACTIVATION_LINEAR] = "linear",     [TUTTI_ACTIVATION_ELU] = "elu",
    [TUTTI_ACTIVATION_GELU] = "gelu",         [TUTTI_ACTIVATION_HARD_SIGMOID] = "hard-sigmoid",
    [TUTTI_ACTIVATION_RELU] = "relu",         [TUTTI_ACTIVATION_SELU] = "selu",
    [TUTTI_ACTIVATION_SIGMOID] = "sigmoid",   [TUTTI_ACTIVATION_SOFTPLUS] = "softplus",
    [TUTTI_ACTIVATION_SOFTSIGN] = "softsign", [TUTTI_ACTIVATION_SWISH] = "swish",
    [TUTTI_ACTIVATION_TANH] = "tanh",         [TUTTI_ACTIVATION_LEAKY_RELU] = "leaky-relu",
    [TUTTI_ACTIVATION_CRELU] = "crelu",       [TUTTI_ACTIVATION_COUNT] = NULL,
};

static const char *const padding_names[] = {
    [TUTTI_PADDING_SAME] = "same",
    [TUTTI_PADDING_VALID] = "valid",
    NULL,
};

#define INTEGER(field, low)                                                                                            \
  { #field, TUTTI_ATTRIBUTE_INTEGER, offsetof(struct tutti_attributes, field), low, INT32_MAX, false, false, NULL }
#define REAL(field, low, low_open, high, high_open)                                                                    \
  { #field, TUTTI_ATTRIBUTE_REAL, offsetof(struct tutti_attributes, field), low, high, low_open, high_open, NULL }
#define FLAG(field)                                                                                                    \
  { #field, TUTTI_ATTRIBUTE_BOOL, offsetof(struct tutti_attributes, field), 0, 1, false, false, NULL }
#define NAME(field, names)                                                                                             \
  { #field, TUTTI_ATTRIBUTE_NAME, offsetof(struct tutti_attributes, field), 0, 0, false, false, names }

static const struct tutti_attribute attributes[] = {
    [TUTTI_ATTRIBUTE_UNITS] = INTEGER(units, 1),
    [TUTTI_ATTRIBUTE_KERNEL_HEIGHT] = INTEGER(kernel_height, 1),
    [TUTTI_ATTRIBUTE_KERNEL_WIDTH] = INTEGER(kernel_width, 1),
    [TUTTI_ATTRIBUTE_STRIDE] = INTEGER(stride, 1),
    [TUTTI_ATTRIBUTE_DILATION] = INTEGER(dilation, 1),
    [TUTTI_ATTRIBUTE_GROUPS] = INTEGER(groups, 1),
    [TUTTI_ATTRIBUTE_PADDING] = NAME(padding, padding_names),
    [TUTTI_ATTRIBUTE_ACTIVATION] = NAME(activation, activation_names),
    [TUTTI_ATTRIBUTE_BIAS] = FLAG(bias),
    [TUTTI_ATTRIBUTE_AFFINE] = FLAG(affine),
    [TUTTI_ATTRIBUTE_SPATIAL] = FLAG(spatial),
    [TUTTI_ATTRIBUTE_SCHEDULED] = FLAG(scheduled),
    [TUTTI_ATTRIBUTE_RATE] = REAL(rate, 0, false, 1, true),
    [TUTTI_ATTRIBUTE_MOMENTUM] = REAL(momentum, 0, false, 1, false),
    [TUTTI_ATTRIBUTE_EPSILON] = REAL(epsilon, 0, true, INFINITY, true),
    [TUTTI_ATTRIBUTE_SCALE] = REAL(scale, 0, true, INFINITY, true),
    [TUTTI_ATTRIBUTE_FLOOR] = REAL(floor, 0, false, INFINITY, true),
    [TUTTI_ATTRIBUTE_VARIANCE] = FLAG(variance),
    [TUTTI_ATTRIBUTE_PI_SQR] = REAL(pi_sqr, 0, false, INFINITY, true),
    [TUTTI_ATTRIBUTE_PI_EXP] = REAL(pi_exp, 0, false, INFINITY, true),
    [TUTTI_ATTRIBUTE_C_EXP] = REAL(c_exp, 0, true, INFINITY, true),
    [TUTTI_ATTRIBUTE_MARGIN] = REAL(margin, 0, false, INFINITY, true),
    [TUTTI_ATTRIBUTE_ARTIFICIAL] = INTEGER(artificial, 0),
    [TUTTI_ATTRIBUTE_STABLE] = FLAG(stable),
    [TUTTI_ATTRIBUTE_L2] = REAL(l2, 0, false, INFINITY, true),
};

#define HAS(attribute) (UINT32_C(1) << TUTTI_ATTRIBUTE_##attribute)
#define WINDOW (HAS(KERNEL_HEIGHT) | HAS(KERNEL_WIDTH) | HAS(STRIDE) | HAS(PADDING))

static const struct tutti_op_facts ops[] = {
    [TUTTI_OP_INPUT] = {"input", 0, 0, 0, false},
    [TUTTI_OP_DENSE] = {"dense", 1, 1, HAS(UNITS) | HAS(BIAS) | HAS(L2), false},
    [TUTTI_OP_CONV2D] = {"conv2d", 1, 1, HAS(UNITS) | WINDOW | HAS(DILATION) | HAS(GROUPS) | HAS(BIAS) | HAS(L2),
                         false},
    [TUTTI_OP_BATCH_NORM] = {"batch-norm", 1, 1, HAS(MOMENTUM) | HAS(EPSILON) | HAS(AFFINE) | HAS(L2), false},
    [TUTTI_OP_ACTIVATION] = {"activation", 1, 1, HAS(ACTIVATION), false},
    [TUTTI_OP_MAX_POOL] = {"max-pool", 1, 1, WINDOW, false},
    [TUTTI_OP_AVERAGE_POOL] = {"average-pool", 1, 1, WINDOW, false},
    [TUTTI_OP_GLOBAL_POOL] = {"global-pool", 1, 1, 0, false},
    [TUTTI_OP_ADD] = {"add", 1, SIZE_MAX, 0, false},
    [TUTTI_OP_CONCAT] = {"concat", 1, SIZE_MAX, 0, false},
    [TUTTI_OP_MEAN] = {"mean", 1, SIZE_MAX, 0, false},
    [TUTTI_OP_FACTORISED_REDUCE] = {"factorised-reduce", 1, 1, HAS(UNITS) | HAS(L2), false},
    [TUTTI_OP_IDENTITY] = {"identity", 1, 1, 0, false},
    [TUTTI_OP_ZERO] = {"zero", 1, 1, HAS(STRIDE), false},
    [TUTTI_OP_DROPOUT] = {"dropout", 1, 1, HAS(RATE) | HAS(SPATIAL), false},
    [TUTTI_OP_DROP_PATH] = {"drop-path", 1, 1, HAS(RATE) | HAS(SCHEDULED), false},
    [TUTTI_OP_DETACH] = {"detach", 1, 1, 0, false},
    [TUTTI_OP_FLATTEN] = {"flatten", 1, 1, 0, false},
    [TUTTI_OP_HEAD_SOFTMAX] = {"head-softmax", 1, 1, 0, true},
    [TUTTI_OP_HEAD_GAUSSIAN] = {"head-gaussian", 1, 1, HAS(SCALE) | HAS(FLOOR) | HAS(VARIANCE), true},
    [TUTTI_OP_HEAD_LINEAR] = {"head-linear", 1, 1, 0, true},
    [TUTTI_OP_HEAD_NOMU] = {"head-nomu", 2, 2,
                            HAS(PI_SQR) | HAS(PI_EXP) | HAS(C_EXP) | HAS(MARGIN) | HAS(ARTIFICIAL) | HAS(STABLE), true},
};

const struct tutti_op_facts *tutti_op_facts(enum tutti_op op) {
  return (unsigned)op < TUTTI_OP_COUNT ? &ops[op] : NULL;
}

const struct tutti_attribute *tutti_attribute_at(enum tutti_attribute_id id) { return &attributes[id]; }

const char *tutti_op_name(enum tutti_op op) {
  const struct tutti_op_facts *facts = tutti_op_facts(op);
  return facts ? facts->name : "unknown op";
}

const char *tutti_activation_name(enum tutti_activation activation) {
  return (unsigned)activation < TUTTI_ACTIVATION_COUNT ? activation_names[activation] : "unknown activation";
}

const char *const *tutti_activation_names(void) { return activation_names; }

/* The number of `name` among names[count], or an error with the closest one. */
static enum tutti_status find_name(tutti_context *context, const char *what, const char *name, size_t count,
                                   const char *const *names, size_t *index) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(names[i], name) == 0) {
      *index = i;
      return TUTTI_OK;
    }
  const char *closest = tutti_closest_name(name, count, names);
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "there is no %s \"%s\"%s%s%s", what, name,
                    closest ? "; did you mean \"" : "", closest ? closest : "", closest ? "\"?" : "");
}

enum tutti_status tutti_op_parse(tutti_context *context, const char *name, enum tutti_op *op) {
  const char *names[TUTTI_OP_COUNT];
  for (size_t i = 0; i < TUTTI_OP_COUNT; i++)
    names[i] = ops[i].name;
  size_t index = 0;
  TUTTI_TRY(context, find_name(context, "op", name, TUTTI_OP_COUNT, names, &index));
  *op = (enum tutti_op)index;
  return TUTTI_OK;
}

enum tutti_status tutti_activation_parse(tutti_context *context, const char *name, enum tutti_activation *activation) {
  size_t index = 0;
  TUTTI_TRY(context, find_name(context, "activation", name, TUTTI_ACTIVATION_COUNT, activation_names, &index));
  *activation = (enum tutti_activation)index;
  return TUTTI_OK;
}

struct tutti_attributes tutti_attributes_default(void) {
  return (struct tutti_attributes){
      .size = sizeof(struct tutti_attributes),
      .kernel_height = 3,
      .kernel_width = 3,
      .stride = 1,
      .dilation = 1,
      .groups = 1,
      .padding = TUTTI_PADDING_SAME,
      .activation = TUTTI_ACTIVATION_RELU,
      .bias = true,
      .affine = true,
      .momentum = 0.1,
      .epsilon = 1e-5,
      .l2 = NAN,
      .scale = 1,
      .floor = 1e-3,
      .pi_sqr = 0.1,
      .pi_exp = 0.01,
      .c_exp = 30,
      .margin = 0.05,
      .artificial = 128,
  };
}
