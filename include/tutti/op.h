/* op.h - the operations of layers: the built-in ops, the attributes of ops, and how a plugin defines ops of its own. */
#ifndef TUTTI_OP_H
#define TUTTI_OP_H

#include <tutti/context.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_network tutti_network;
struct tutti_layer;

/* The built-in ops. Values are part of the ABI: new ones go at the end. The definition of an op (tutti_op_find) says
   which attributes it has and what they mean. */
enum tutti_op {
  TUTTI_OP_INPUT,             /* always layer 0 */
  TUTTI_OP_DENSE,             /* y = x W + b */
  TUTTI_OP_CONV2D,            /* images are height x width x channels */
  TUTTI_OP_BATCH_NORM,        /* running = (1 - momentum) running + momentum batch */
  TUTTI_OP_ACTIVATION,        /* see enum tutti_activation */
  TUTTI_OP_MAX_POOL,          /* the largest number of a window */
  TUTTI_OP_AVERAGE_POOL,      /* the mean of a window; padding is left out of the count */
  TUTTI_OP_GLOBAL_POOL,       /* average over height and width */
  TUTTI_OP_ADD,               /* all inputs of one shape */
  TUTTI_OP_CONCAT,            /* along the channels */
  TUTTI_OP_MEAN,              /* all inputs of one shape */
  TUTTI_OP_FACTORISED_REDUCE, /* two strided 1x1 convolutions, the second shifted by a pixel, concatenated */
  TUTTI_OP_IDENTITY,
  TUTTI_OP_ZERO,
  TUTTI_OP_DROPOUT,
  TUTTI_OP_DROP_PATH,
  TUTTI_OP_DETACH, /* identity forward, no gradient backward */
  TUTTI_OP_FLATTEN,
  TUTTI_OP_HEAD_SOFTMAX,  /* input: logits [classes]; loss: cross-entropy */
  TUTTI_OP_HEAD_GAUSSIAN, /* input: [2 * outputs], means first; loss: Gaussian negative log-likelihood */
  TUTTI_OP_HEAD_LINEAR,   /* input: [outputs]; loss: squared error, no variance */
  /* inputs, each [outputs]: mean; raw uncertainty, or bounds; raw noise where it is learnt. Loss of Heiss et al. with
     artificial points */
  TUTTI_OP_HEAD_NOMU,
  TUTTI_OP_COUNT,         /* how many this version has; not an op */
  TUTTI_OP_OTHER = 0x7fff /* an op that a plugin defines; its name says which */
};

/* Values are part of the ABI: new ones go at the end. */
/* Activations by constant and name, in the order of their numbers. ACTIVATION(constant, name) keeps the number of
   channels:
   - GELU: x Phi(x), exact; HARD_SIGMOID: clip(0.2 x + 0.5, 0, 1), as in Keras 2; LEAKY_RELU: slope 0.01.
   WIDER(constant, name) changes it:
   - CRELU: concat(relu(x), relu(-x)), which doubles it. */
/* clang-format off */
#define TUTTI_ACTIVATIONS(ACTIVATION, WIDER) \
  ACTIVATION(LINEAR, "linear") ACTIVATION(ELU, "elu") ACTIVATION(GELU, "gelu") \
  ACTIVATION(HARD_SIGMOID, "hard-sigmoid") ACTIVATION(RELU, "relu") ACTIVATION(SELU, "selu") \
  ACTIVATION(SIGMOID, "sigmoid") ACTIVATION(SOFTPLUS, "softplus") ACTIVATION(SOFTSIGN, "softsign") \
  ACTIVATION(SWISH, "swish") ACTIVATION(TANH, "tanh") ACTIVATION(LEAKY_RELU, "leaky-relu") WIDER(CRELU, "crelu")
/* clang-format on */
#define TUTTI_ACTIVATION_CONSTANT(constant, name) TUTTI_ACTIVATION_##constant,
#define TUTTI_ACTIVATION_CHOICE(constant, name) name,
#define TUTTI_ACTIVATION_NO_CHOICE(constant, name)
enum tutti_activation {
  TUTTI_ACTIVATIONS(TUTTI_ACTIVATION_CONSTANT, TUTTI_ACTIVATION_CONSTANT)
      TUTTI_ACTIVATION_COUNT /* how many this version has; not an activation */
};
/* Choices of a parameter, static const char *const activations[] = {TUTTI_ACTIVATION_CHOICES}: a choice's number is the
   activation's. The second list has those alone that keep the number of channels. */
#define TUTTI_ACTIVATION_CHOICES TUTTI_ACTIVATIONS(TUTTI_ACTIVATION_CHOICE, TUTTI_ACTIVATION_CHOICE) NULL
#define TUTTI_PLAIN_ACTIVATION_CHOICES TUTTI_ACTIVATIONS(TUTTI_ACTIVATION_CHOICE, TUTTI_ACTIVATION_NO_CHOICE) NULL

enum tutti_padding { TUTTI_PADDING_SAME, TUTTI_PADDING_VALID };

/* Choices of head-nomu's attributes: noise, bounds, readout, points. Values are part of the ABI. */
enum tutti_nomu_noise { TUTTI_NOMU_NOISE_NONE, TUTTI_NOMU_NOISE_LEARNT, TUTTI_NOMU_NOISE_KNOWN };
enum tutti_nomu_bounds {
  TUTTI_NOMU_BOUNDS_SYMMETRIC,
  TUTTI_NOMU_BOUNDS_LOWER,
  TUTTI_NOMU_BOUNDS_UPPER,
  TUTTI_NOMU_BOUNDS_BOTH /* inputs: mean, lower, upper */
};
enum tutti_nomu_readout { TUTTI_NOMU_READOUT_EXPONENTIAL, TUTTI_NOMU_READOUT_LINEAR };
enum tutti_nomu_points { TUTTI_NOMU_POINTS_RANDOM, TUTTI_NOMU_POINTS_GRID };

/* A shape. Tables have height = width = 1 and channels = features. Never grows. */
struct tutti_shape {
  int32_t height, width, channels;
};

/* --- attributes of a layer ---------------------------------------------------------------------------------- */

/* The value of an attribute: an integer, a real, 0 or 1, or the number of a choice; a double holds all of them exactly.
   Never grows, so that arrays of it may cross the ABI; they end with name NULL. */
struct tutti_attribute {
  const char *name;
  double value;
};

/* For C: an array of attributes, TUTTI_ATTRIBUTES({"units", 64}, {"stride", 2}), that lives as long as the block around
   it. */
#define TUTTI_ATTRIBUTES(...) ((const struct tutti_attribute[]){__VA_ARGS__, {NULL, 0}})

/* --- definitions of ops ------------------------------------------------------------------------------------- */

enum tutti_attribute_type {
  TUTTI_ATTRIBUTE_INTEGER, /* of 32 bits */
  TUTTI_ATTRIBUTE_REAL,
  TUTTI_ATTRIBUTE_FLAG,  /* 0 or 1; in JSON false or true */
  TUTTI_ATTRIBUTE_CHOICE /* number in `choices`; in JSON its text */
};

/* Flags of an attribute. */
enum {
  TUTTI_ATTRIBUTE_REQUIRED = 1, /* no default: every layer must state it */
  TUTTI_ATTRIBUTE_OPTIONAL = 2  /* of a real: its default is NaN, "not set", which JSON leaves out */
};

/* One attribute of an op. Fill it with designated initialisers; min = max = 0 means no limits. Grows only at the end:
   its tables carry a stride. */
struct tutti_attribute_definition {
  const char *name; /* lower-case letters, digits and _ */
  enum tutti_attribute_type type;
  unsigned flags;
  double preset;              /* the default */
  double min, max;            /* inclusive; of integers and reals; +-INFINITY: that side is open */
  bool min_open, max_open;    /* the limit itself is excluded */
  const char *const *choices; /* NULL-terminated; a choice keeps its number for good */
  const char *doc;            /* one sentence for people */
};

/* A table: `count` structs, `stride` bytes apart, in the order of the JSON form. Never grows. */
struct tutti_attribute_definitions {
  const struct tutti_attribute_definition *table;
  size_t count, stride;
};
/* The table of a static array. */
#define TUTTI_ATTRIBUTE_TABLE(array)                                                                                   \
  { (array), sizeof(array) / sizeof((array)[0]), sizeof((array)[0]) }

/* What an op infers from a layer's inputs and attributes. */
struct tutti_inferred {
  size_t size;
  struct tutti_shape shape; /* of the output; at first that of the first input */
  size_t parameters;        /* trained numbers; at first 0 */
  double flops;             /* forward, one example; a multiply-add counts 2; at first 0 */
};

#define TUTTI_ANY_NUMBER SIZE_MAX

/* An op. Constant, and valid for the life of the process. Grows only at the end. */
struct tutti_op_definition {
  size_t size; /* sizeof(struct tutti_op_definition) */
  /* Lower-case letters, digits and hyphens. A third party SHOULD begin it with a name of its own ("acme-gate"), so that
     it never meets a built-in op of a later version. */
  const char *name;
  size_t min_inputs, max_inputs; /* at least 1; TUTTI_ANY_NUMBER: no limit */

  /* REQUIRED. Infer shape, parameters and FLOPs of `layer`, whose op, label, inputs and attributes are set (read them
     by tutti_layer_integer and its like); `network` holds the layers that it reads. MUST check sizes before it
     multiplies them. Fails with TUTTI_ERROR_USAGE and says what is wrong; the host puts the layer's name in front. MUST
     be a function of its arguments alone: any thread may call it, with any context. */
  enum tutti_status (*infer)(tutti_context *context, const tutti_network *network, const struct tutti_layer *layer,
                             struct tutti_inferred *inferred);

  struct tutti_attribute_definitions attributes;
  bool head;       /* ends a network */
  const char *doc; /* one sentence for people; may be NULL */
};

/* The definition of the op of that name, built in or of a plugin that is loaded in this context; NULL if there is none.
   It lives as long as the context, and has this host's size and stride. */
TUTTI_API const struct tutti_op_definition *tutti_op_find(const tutti_context *context, const char *name);
/* Attribute number `index` of a table; NULL past its end. */
TUTTI_API const struct tutti_attribute_definition *
tutti_attribute_at(const struct tutti_attribute_definitions *attributes, size_t index);

/* The name of an op as in JSON, "dense", "head-gaussian", ...; "unknown op" for other numbers. Static. */
TUTTI_API const char *tutti_op_name(enum tutti_op op);
/* The name of an activation as in JSON and recipes, "relu", "hard-sigmoid", ...; "unknown activation" for other
   numbers. Static. */
TUTTI_API const char *tutti_activation_name(enum tutti_activation activation);
/* Set *activation to the one of that name. TUTTI_ERROR_USAGE gives the closest name. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_activation_parse(tutti_context *context, const char *name,
                                                                   enum tutti_activation *activation);
/* The names of all activations in the order of the enum, NULL-terminated, for parameter tables. Static. */
TUTTI_API const char *const *tutti_activation_names(void);

TUTTI_END_DECLS
#endif
