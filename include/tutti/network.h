/* network.h - the network: what a space decodes to and a backend trains. A graph of layers in topological order; layer i
   reads only layers < i; the last layer is the head. Shapes are inferred and checked as layers are added. */
#ifndef TUTTI_NETWORK_H
#define TUTTI_NETWORK_H

#include <tutti/context.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_network tutti_network;

/* Values are part of the ABI: new ones go at the end. */
enum tutti_op {
  TUTTI_OP_INPUT,             /* always layer 0 */
  TUTTI_OP_DENSE,             /* y = x W + b; units, bias */
  TUTTI_OP_CONV2D,            /* units, kernel, stride, dilation, groups, padding, bias */
  TUTTI_OP_BATCH_NORM,        /* momentum, epsilon, affine */
  TUTTI_OP_ACTIVATION,        /* activation */
  TUTTI_OP_MAX_POOL,          /* kernel, stride, padding */
  TUTTI_OP_AVERAGE_POOL,      /* kernel, stride, padding; padding is left out of the count */
  TUTTI_OP_GLOBAL_POOL,       /* average over height and width */
  TUTTI_OP_ADD,               /* all inputs of one shape */
  TUTTI_OP_CONCAT,            /* along the channels */
  TUTTI_OP_MEAN,              /* all inputs of one shape */
  TUTTI_OP_FACTORISED_REDUCE, /* two strided 1x1 convolutions, the second shifted by a pixel, concatenated; units */
  TUTTI_OP_IDENTITY,
  TUTTI_OP_ZERO,      /* stride */
  TUTTI_OP_DROPOUT,   /* rate; spatial: whole channels */
  TUTTI_OP_DROP_PATH, /* rate; scheduled: rate * epoch / epochs */
  TUTTI_OP_DETACH,    /* identity forward, no gradient backward */
  TUTTI_OP_FLATTEN,
  TUTTI_OP_HEAD_SOFTMAX,  /* input: logits [classes]; loss: cross-entropy */
  TUTTI_OP_HEAD_GAUSSIAN, /* input: [2 * outputs], means first; loss: Gaussian negative log-likelihood */
  TUTTI_OP_HEAD_LINEAR,   /* input: [outputs]; loss: squared error, no variance */
  TUTTI_OP_HEAD_NOMU,     /* inputs: mean [1], raw uncertainty [1]; loss of Heiss et al. with artificial points */
  TUTTI_OP_COUNT
};

enum tutti_activation {
  TUTTI_ACTIVATION_LINEAR,
  TUTTI_ACTIVATION_ELU,
  TUTTI_ACTIVATION_GELU,         /* x Phi(x), exact */
  TUTTI_ACTIVATION_HARD_SIGMOID, /* clip(0.2 x + 0.5, 0, 1), as in Keras 2 */
  TUTTI_ACTIVATION_RELU,
  TUTTI_ACTIVATION_SELU,
  TUTTI_ACTIVATION_SIGMOID,
  TUTTI_ACTIVATION_SOFTPLUS,
  TUTTI_ACTIVATION_SOFTSIGN,
  TUTTI_ACTIVATION_SWISH,
  TUTTI_ACTIVATION_TANH,
  TUTTI_ACTIVATION_LEAKY_RELU, /* slope 0.01 */
  TUTTI_ACTIVATION_CRELU,      /* concat(relu(x), relu(-x)): doubles the channels */
  TUTTI_ACTIVATION_COUNT
};

enum tutti_padding { TUTTI_PADDING_SAME, TUTTI_PADDING_VALID };

/* Tables have height = width = 1 and channels = features. */
struct tutti_shape {
  int32_t height, width, channels;
};

/* Every attribute of every op; an op reads those that its line above names. Start from tutti_attributes_default(). */
struct tutti_attributes {
  size_t size; /* sizeof(struct tutti_attributes) */
  int32_t units;
  int32_t kernel_height, kernel_width, stride, dilation, groups;
  enum tutti_padding padding;
  enum tutti_activation activation;
  bool bias, affine, spatial, scheduled;
  double rate;              /* [0, 1) */
  double momentum, epsilon; /* batch norm: running = (1 - momentum) running + momentum batch */
  double l2;                /* L2 weight of this layer's parameters; NaN: the backend's own */
  /* Heads. Gaussian: with s the raw second half, sigma = floor + softplus(scale s), or with `variance` the same for
     sigma^2. */
  double scale, floor;
  bool variance;
  /* NOMU (Heiss et al., Eq. 4): weights of the squared and the exponential term, the exponent, artificial points a
     step, their box as a share by which the training range is widened on each side. */
  double pi_sqr, pi_exp, c_exp, margin;
  int32_t artificial;
  bool stable;
};

/* A layer, as backends read it. */
struct tutti_layer {
  enum tutti_op op;
  const char *label; /* unique in the network; names the weights: "<label>/weight", "<label>/bias" */
  size_t input_count;
  const uint32_t *inputs;
  struct tutti_attributes attributes;
  struct tutti_shape shape; /* of the output */
  size_t parameters;        /* trained numbers */
  double flops;             /* forward, one example; a multiply-add counts 2 */
};

TUTTI_API struct tutti_attributes tutti_attributes_default(void);

/* Create a network whose layer 0 is the input of that shape. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_network_create(tutti_context *context, struct tutti_shape input,
                                                                 tutti_network **network);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_network_copy(tutti_context *context, const tutti_network *from,
                                                               tutti_network **network);
TUTTI_API void tutti_network_destroy(tutti_network *network);

/* Add a layer; its number goes to *layer (may be NULL). `label` NULL gives "<op><number>". TUTTI_ERROR_USAGE names the
   layer and both shapes where they do not fit. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_network_add(tutti_context *context, tutti_network *network,
                                                              enum tutti_op op, const char *label, size_t input_count,
                                                              const uint32_t *inputs,
                                                              const struct tutti_attributes *attributes,
                                                              uint32_t *layer);
/* Add dense(units) with bias and, unless linear, the activation behind it; *layer is the last one added. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_network_add_dense(tutti_context *context, tutti_network *network,
                                                                    const char *label, uint32_t input, int32_t units,
                                                                    enum tutti_activation activation, uint32_t *layer);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_network_add_dropout(tutti_context *context, tutti_network *network,
                                                                      const char *label, uint32_t input, double rate,
                                                                      uint32_t *layer);
/* Give the layer of that label, one with parameters, its own L2 weight (finite, >= 0). */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_network_set_l2(tutti_context *context, tutti_network *network,
                                                                 const char *label, double l2);
/* Check the whole: one head, at the end, and every layer on a way to it. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_network_check(tutti_context *context, const tutti_network *network);

TUTTI_API size_t tutti_network_layers(const tutti_network *network);
TUTTI_API const struct tutti_layer *tutti_network_layer(const tutti_network *network, size_t index);
TUTTI_API size_t tutti_network_parameters(const tutti_network *network);
TUTTI_API double tutti_network_flops(const tutti_network *network);

/* JSON text both ways (free with tutti_free), and a picture for Graphviz. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_network_print(tutti_context *context, const tutti_network *network,
                                                                char **json);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_network_parse(tutti_context *context, const char *json,
                                                                tutti_network **network);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_network_dot(tutti_context *context, const tutti_network *network,
                                                              char **dot);

/* Names as in JSON and recipes: "dense", "head-gaussian"; "relu", "hard-sigmoid". Parsing errs with the closest name. */
TUTTI_API const char *tutti_op_name(enum tutti_op op);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_op_parse(tutti_context *context, const char *name, enum tutti_op *op);
TUTTI_API const char *tutti_activation_name(enum tutti_activation activation);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_activation_parse(tutti_context *context, const char *name,
                                                                   enum tutti_activation *activation);
/* The names of all activations, NULL-terminated, in the order of the enum: for parameter tables. */
TUTTI_API const char *const *tutti_activation_names(void);

TUTTI_END_DECLS
#endif
