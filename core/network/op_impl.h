/* op_impl.h - the tables of ops: the built-in ones, and those that plugins brought into a context; for core/, and for
   engine/plugins/, which loads plugins. All
   definitions found here have this version's size and stride. */
#ifndef TUTTI_OP_IMPL_H
#define TUTTI_OP_IMPL_H

#include "core/base/private.h"

#include <tutti/op.h>

struct tutti_descriptor;

/* The names of activations, NULL-terminated. */
extern const char *const tutti_activation_table[];
/* [TUTTI_OP_COUNT], ops_builtin.c. */
extern const struct tutti_op_definition *const tutti_ops_builtin[];
/* The definition of a built-in op; NULL: `op` is none. */
const struct tutti_op_definition *tutti_op_builtin(enum tutti_op op);
/* The number of a definition; TUTTI_OP_OTHER: it is not built in. */
enum tutti_op tutti_op_number(const struct tutti_op_definition *definition);
/* The definition of that name; else TUTTI_ERROR_USAGE with the closest one. */
TUTTI_NODISCARD enum tutti_status tutti_op_get(tutti_context *context, const char *name,
                                               const struct tutti_op_definition **definition);
/* The attribute of that name; NULL: the op has none. */
const struct tutti_attribute_definition *tutti_op_attribute(const struct tutti_op_definition *definition,
                                                            const char *name);

/* Check that a value is legal. The error names the attribute, what it may be and what it is, but not the layer. */
TUTTI_NODISCARD enum tutti_status
tutti_attribute_check(tutti_context *context, const struct tutti_attribute_definition *attribute, double value);
/* The value in a layer that does not state it: the default, or NaN if there is none. */
double tutti_attribute_preset(const struct tutti_attribute_definition *attribute);

/* Check a definition that a plugin brings. TUTTI_ERROR_PLUGIN names the op and its fault. */
TUTTI_PRIVATE TUTTI_NODISCARD enum tutti_status tutti_op_check(tutti_context *context,
                                                               const struct tutti_op_definition *definition);
/* Make the ops of a list, ended by NULL, known in the context: all of them or, after an error, none. `source` says in
   messages that it is `plugin` who brings them; it is copied. TUTTI_ERROR_PLUGIN: a definition is wrong, or differs
   from that of another plugin (names both). */
TUTTI_PRIVATE TUTTI_NODISCARD enum tutti_status tutti_ops_define(tutti_context *context,
                                                                 const struct tutti_descriptor *plugin,
                                                                 const char *source,
                                                                 const struct tutti_op_definition *const *definitions);
/* Who brought the definition of a layer's op; NULL: it is built in, or nobody registered it. */
const struct tutti_descriptor *tutti_op_plugin(const tutti_context *context,
                                               const struct tutti_op_definition *definition);
/* The number of ops that plugins brought, and one of them. */
size_t tutti_ops_defined(const tutti_context *context);
const struct tutti_op_definition *tutti_op_defined_at(const tutti_context *context, size_t index);

#endif
