/* network.h - the network that a space decodes to and a backend trains: a graph of layers in topological order. Layer i
   reads only layers < i; the last layer is the head. Shapes are inferred and checked as layers are added. */
#ifndef TUTTI_NETWORK_H
#define TUTTI_NETWORK_H

#include <tutti/op.h>

TUTTI_BEGIN_DECLS

/* A layer, as backends read it. Only handed out by pointer, which stays good until the network is destroyed; never
   copied. Grows only at the end. The functions below read its attributes. */
struct tutti_layer {
  size_t size;
  enum tutti_op op;    /* TUTTI_OP_OTHER: an op of a plugin */
  const char *op_name; /* "dense"; for ops of plugins, too */
  const char *label;   /* unique in the network; names the weights: "<label>/weight", "<label>/bias" */
  size_t input_count;
  const uint32_t *inputs;
  struct tutti_shape shape; /* of the output */
  size_t parameters;        /* trained numbers */
  double flops;             /* forward, one example; a multiply-add counts 2 */
};

/* --- attributes of a layer ---------------------------------------------------------------------------------- */

/* The value of an attribute that is an integer, or the number of a choice; tutti_layer_real: of a real;
   tutti_layer_flag: of a flag. `otherwise` if the op, as this host defines it, has no attribute of that name and type:
   what the layer then amounts to. They search by name: read attributes once, not in a training step. */
TUTTI_API int32_t tutti_layer_integer(const struct tutti_layer *layer, const char *name, int32_t otherwise);
TUTTI_API double tutti_layer_real(const struct tutti_layer *layer, const char *name, double otherwise);
TUTTI_API bool tutti_layer_flag(const struct tutti_layer *layer, const char *name, bool otherwise);
/* All attributes of the layer with their values (NaN: not set), in the order of the op's table, ended by name NULL.
   Borrowed; can be passed to tutti_network_add. */
TUTTI_API const struct tutti_attribute *tutti_layer_attributes(const struct tutti_layer *layer);
/* The name of the first attribute that is not in known[] (ended by NULL) and not at its default, or has no default;
   NULL if there is none. By this a backend refuses what it does not know, but need not refuse attributes that change
   nothing. */
TUTTI_API const char *tutti_layer_unknown(const struct tutti_layer *layer, const char *const *known);

/* --- networks ----------------------------------------------------------------------------------------------- */

/* Create a network whose layer 0 is an input of that shape; the caller destroys *network. TUTTI_ERROR_USAGE: a side <
   1, or a product over INT32_MAX. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_network_create(tutti_context *context, struct tutti_shape input,
                                                                 tutti_network **network);
/* Make a copy; the caller destroys *network. TUTTI_ERROR_USAGE: an op of a plugin is not known in this context. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_network_copy(tutti_context *context, const tutti_network *from,
                                                               tutti_network **network);
/* Make a copy whose inputs are without the last `unread` channels; the caller destroys *network. TUTTI_ERROR_USAGE: as
   for tutti_network_copy, or there are no more channels than these. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_network_narrow(tutti_context *context, const tutti_network *from,
                                                                 size_t unread, tutti_network **network);
/* Destroy it; NULL is allowed. */
TUTTI_API void tutti_network_destroy(tutti_network *network);

/* Add a layer of a built-in op that reads the layers inputs[input_count]; its number goes to *layer (may be NULL).
   `label` NULL gives "<op><number>". `attributes`, ended by name NULL, is borrowed until return: the last of a name
   counts, those left out are at their defaults, and NULL leaves out all. TUTTI_ERROR_USAGE names the layer and what
   does not fit: both shapes, the attribute and its range, or the closest name of an attribute that the op does not
   have. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_network_add(tutti_context *context, tutti_network *network,
                                                              enum tutti_op op, const char *label, size_t input_count,
                                                              const uint32_t *inputs,
                                                              const struct tutti_attribute *attributes,
                                                              uint32_t *layer);
/* The same by the op's name. It serves built-in ops and those of plugins that are loaded in this context. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_network_add_op(tutti_context *context, tutti_network *network,
                                                                 const char *op, const char *label, size_t input_count,
                                                                 const uint32_t *inputs,
                                                                 const struct tutti_attribute *attributes,
                                                                 uint32_t *layer);
/* Add dense(units) with bias and, unless it is linear, the activation after it, labelled "<label>-activation". *layer
   (may be NULL) is the last one added. Errors as for tutti_network_add. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_network_add_dense(tutti_context *context, tutti_network *network,
                                                                    const char *label, uint32_t input, int32_t units,
                                                                    enum tutti_activation activation, uint32_t *layer);
/* Add dropout with a rate in [0, 1). Label, *layer and errors as for tutti_network_add. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_network_add_dropout(tutti_context *context, tutti_network *network,
                                                                      const char *label, uint32_t input, double rate,
                                                                      uint32_t *layer);
/* Give the layer of that label an L2 weight (finite, >= 0) of its own. TUTTI_ERROR_USAGE: no such layer, one without
   parameters or without the attribute l2, or a wrong weight. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_network_set_l2(tutti_context *context, tutti_network *network,
                                                                 const char *label, double l2);
/* Check the whole: one head, at the end, and every layer on a way to it; else TUTTI_ERROR_USAGE. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_network_check(tutti_context *context, const tutti_network *network);

/* The number of layers. */
TUTTI_API size_t tutti_network_layers(const tutti_network *network);
/* Layer number `index`, borrowed until the network is destroyed; NULL past the last. */
TUTTI_API const struct tutti_layer *tutti_network_layer(const tutti_network *network, size_t index);
/* The number of trained numbers; SIZE_MAX if it overflows. tutti_network_flops: the FLOPs of a forward pass for one
   example; a multiply-add counts 2. */
TUTTI_API size_t tutti_network_parameters(const tutti_network *network);
TUTTI_API double tutti_network_flops(const tutti_network *network);

/* The network as canonical JSON text; free *json with tutti_free. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_network_print(tutti_context *context, const tutti_network *network,
                                                                char **json);
/* The network of such a text; the caller destroys *network, which is NULL on failure. TUTTI_ERROR_USAGE names the layer
   and what is wrong with it. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_network_parse(tutti_context *context, const char *json,
                                                                tutti_network **network);

TUTTI_END_DECLS
#endif
