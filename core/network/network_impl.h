/* network_impl.h - the inside of a network; for core/ only. */
#ifndef TUTTI_NETWORK_IMPL_H
#define TUTTI_NETWORK_IMPL_H

#include "core/base/private.h"
#include "op_impl.h"

#include <tutti/network.h>

/* A bound on the work that a file can cause. The largest networks in the literature's spaces have some hundreds of
   layers. */
enum { TUTTI_NETWORK_LAYERS_MAX = 16384, TUTTI_LABEL_MAX = 200 };

/* A layer with the parts that its readers do not see. It owns its label, inputs and attributes. */
struct network_layer {
  struct tutti_layer layer; /* first: readers hold pointers to it */
  const struct tutti_op_definition *definition;
  struct tutti_attribute *attributes; /* one for each of the definition, then name NULL */
};

struct tutti_network {
  size_t count, capacity;
  struct network_layer **layers;
};

/* Check the attributes of a layer, and infer its shape, parameters and FLOPs. Its op, label, inputs and attributes are
   set; for an input, the shape is set, too. */
TUTTI_NODISCARD enum tutti_status tutti_network_infer(tutti_context *context, const tutti_network *network,
                                                      struct network_layer *layer);
/* Add a layer of any definition, which must outlive the network; readers see `op`. For readers of files, and for tests
   that play a host with ops and attributes that a plugin does not know. */
TUTTI_PRIVATE TUTTI_NODISCARD enum tutti_status
tutti_network_add_defined(tutti_context *context, tutti_network *network, enum tutti_op op,
                          const struct tutti_op_definition *definition, const char *label, size_t input_count,
                          const uint32_t *inputs, const struct tutti_attribute *attributes, uint32_t *layer);

#endif
