/* backend_impl.h - the functions of backend_layers.c that backend.c calls. */
#ifndef TUTTI_BACKEND_IMPL_H
#define TUTTI_BACKEND_IMPL_H

#include <tutti/backend.h>

/* Does a backend have the op of this layer, and know all of its attributes? */
bool tutti_backend_knows(const struct tutti_backend_ops *ops, void *self, const struct tutti_layer *layer);
/* TUTTI_ERROR_USAGE that names layer `index`, its op, the attribute that is not known and its value, and the
   backend. */
TUTTI_NODISCARD enum tutti_status tutti_backend_refuse(tutti_context *context, const char *backend,
                                                       const struct tutti_backend_ops *ops, void *self, size_t index,
                                                       const struct tutti_layer *layer);

#endif
