/* network.h - the network: what a space decodes to and a backend trains. A graph of layers in topological order; layer i
   reads only layers < i; the last layer is the head. Shapes are inferred and checked as layers are added. */
#ifndef TUTTI_NETWORK_H
#define TUTTI_NETWORK_H

#include <tutti/op.h>

TUTTI_BEGIN_DECLS

/* A layer, as backends read it. Only ever handed out by pointer, which stays good until the network is destroyed; never
   copied. Grows only at the end. Its attributes are read by the functions below. */
struct tutti_layer {
  size_t size;
  enum tutti_op op;    /* TUTTI_OP_OTHER: an op of a plugin */
  const char *op_name; /* "dense"; of plugins' ops, too */
  const char *label;   /* unique in the network; names the weights: "<label>/weight", "<label>/bias" */
  size_t input_count;
  const uint32_t *inputs;
  struct tutti_shape shape; /* of the output */
  size_t parameters;        /* trained numbers */
  double flops;             /* forward, one example; a multiply-add counts 2 */
};

/* --- attributes of a layer ---------------------------------------------------------------------------------- */

/* An attribute's value; `otherwise` where the op, as this host defines it, has no attribute of that name and type: what
   the layer then amounts to. _integer reads integers and the numbers of choices. They search by name: read attributes
   once, not in a training step. */
TUTTI_API int32_t tutti_layer_integer(const struct tutti_layer *layer, const char *name, int32_t otherwise);
TUTTI_API double tutti_layer_real(const struct tutti_layer *layer, const char *name, double otherwise);
TUTTI_API bool tutti_layer_flag(const struct tutti_layer *layer, const char *name, bool otherwise);
/* All attributes of the layer with their values (NaN: not set), in the order of the op's table; ends with name NULL. Fit
   to be given to tutti_network_add. */
TUTTI_API const struct tutti_attribute *tutti_layer_attributes(const struct tutti_layer *layer);
/* The first attribute that is not at its default (or has none) and is not among known[], which ends with NULL; NULL: there
   is none. By this a backend refuses what it does not know, but need not refuse attributes that change nothing. */
TUTTI_API const char *tutti_layer_unknown(const struct tutti_layer *layer, const char *const *known);

/* --- networks ----------------------------------------------------------------------------------------------- */

/* Create a network whose layer 0 is the input of that shape. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_network_create(tutti_context *context, struct tutti_shape input,
                                                                 tutti_network **network);
/* A copy. Ops of plugins must be known in this context, too. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_network_copy(tutti_context *context, const tutti_network *from,
                                                               tutti_network **network);
TUTTI_API void tutti_network_destroy(tutti_network *network);

/* Add a layer of a built-in op; its number goes to *layer (may be NULL). `label` NULL gives "<op><number>". `attributes`
   ends with name NULL and is borrowed until return: the last of a name counts, those left out stand at their defaults, NULL
   leaves out all. TUTTI_ERROR_USAGE names the layer and what does not fit: both shapes, the attribute and its range, or
   the closest name of an attribute that the op does not have. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_network_add(tutti_context *context, tutti_network *network,
                                                              enum tutti_op op, const char *label, size_t input_count,
                                                              const uint32_t *inputs,
                                                              const struct tutti_attribute *attributes,
                                                              uint32_t *layer);
/* The same by the op's name: for ops of plugins, which must be loaded in this context. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_network_add_op(tutti_context *context, tutti_network *network,
                                                                 const char *op, const char *label, size_t input_count,
                                                                 const uint32_t *inputs,
                                                                 const struct tutti_attribute *attributes,
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

TUTTI_END_DECLS
#endif
