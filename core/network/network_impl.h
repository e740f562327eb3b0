/* network_impl.h - the inside of a network, and the one table of ops and attributes; for core/ alone. */
#ifndef TUTTI_NETWORK_IMPL_H
#define TUTTI_NETWORK_IMPL_H

#include <tutti/network.h>

/* A bound on what a file may make us do; the largest networks of the literature's spaces have some hundreds of layers.
 */
enum { TUTTI_NETWORK_LAYERS_MAX = 16384, TUTTI_LABEL_MAX = 200 };

struct tutti_network {
  size_t count, capacity;
  struct tutti_layer *layers; /* each owns its label and inputs */
};

enum tutti_attribute_type { TUTTI_ATTRIBUTE_INTEGER, TUTTI_ATTRIBUTE_REAL, TUTTI_ATTRIBUTE_BOOL, TUTTI_ATTRIBUTE_NAME };

/* One attribute: how it is called in JSON, where it stands, what it may be. */
struct tutti_attribute {
  const char *name;
  enum tutti_attribute_type type;
  size_t offset;
  double min, max;          /* inclusive; of integers and reals */
  bool open_min, open_max;  /* the limit itself is excluded */
  const char *const *names; /* of TUTTI_ATTRIBUTE_NAME: the enum's names, NULL-terminated */
};

enum tutti_attribute_id {
  TUTTI_ATTRIBUTE_UNITS,
  TUTTI_ATTRIBUTE_KERNEL_HEIGHT,
  TUTTI_ATTRIBUTE_KERNEL_WIDTH,
  TUTTI_ATTRIBUTE_STRIDE,
  TUTTI_ATTRIBUTE_DILATION,
  TUTTI_ATTRIBUTE_GROUPS,
  TUTTI_ATTRIBUTE_PADDING,
  TUTTI_ATTRIBUTE_ACTIVATION,
  TUTTI_ATTRIBUTE_BIAS,
  TUTTI_ATTRIBUTE_AFFINE,
  TUTTI_ATTRIBUTE_SPATIAL,
  TUTTI_ATTRIBUTE_SCHEDULED,
  TUTTI_ATTRIBUTE_RATE,
  TUTTI_ATTRIBUTE_MOMENTUM,
  TUTTI_ATTRIBUTE_EPSILON,
  TUTTI_ATTRIBUTE_SCALE,
  TUTTI_ATTRIBUTE_FLOOR,
  TUTTI_ATTRIBUTE_VARIANCE,
  TUTTI_ATTRIBUTE_PI_SQR,
  TUTTI_ATTRIBUTE_PI_EXP,
  TUTTI_ATTRIBUTE_C_EXP,
  TUTTI_ATTRIBUTE_MARGIN,
  TUTTI_ATTRIBUTE_ARTIFICIAL,
  TUTTI_ATTRIBUTE_STABLE,
  TUTTI_ATTRIBUTE_L2,
  TUTTI_ATTRIBUTE_COUNT
};

/* One op: its name, how many inputs it takes, which attributes it reads (bit 1 << enum tutti_attribute_id). */
struct tutti_op_facts {
  const char *name;
  size_t min_inputs, max_inputs;
  uint32_t attributes;
  bool head;
};

const struct tutti_op_facts *tutti_op_facts(enum tutti_op op);
const struct tutti_attribute *tutti_attribute_at(enum tutti_attribute_id id);

/* Infer shape, parameters and FLOPs of a layer of which op, label, inputs and attributes are set. */
TUTTI_NODISCARD enum tutti_status tutti_network_infer(tutti_context *context, const tutti_network *network,
                                                      struct tutti_layer *layer);

#endif
