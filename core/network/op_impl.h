/* op_impl.h - the tables of ops: the built-in ones, and those that plugins brought into a context; for core/ alone.
   Definitions that are found here are complete: as long, and their attributes as far apart, as this version has them. */
#ifndef TUTTI_OP_IMPL_H
#define TUTTI_OP_IMPL_H

#include <tutti/op.h>

/* The names of activations, NULL-terminated. */
extern const char *const tutti_activation_table[];
/* [TUTTI_OP_COUNT], ops_builtin.c. */
extern const struct tutti_op_definition *const tutti_ops_builtin[];
/* The definition of a built-in op; NULL: `op` is none. */
const struct tutti_op_definition *tutti_op_builtin(enum tutti_op op);
/* The number of a definition; TUTTI_OP_OTHER: it is not built in. */
enum tutti_op tutti_op_number(const struct tutti_op_definition *definition);
/* The definition of a name, or TUTTI_ERROR_USAGE with the closest one. */
TUTTI_NODISCARD enum tutti_status tutti_op_get(tutti_context *context, const char *name,
                                               const struct tutti_op_definition **definition);
/* The attribute of that name; NULL: the op has none. */
const struct tutti_attribute_definition *tutti_op_attribute(const struct tutti_op_definition *definition,
                                                            const char *name);

/* Is the value legal? The error says of which attribute, what it may be, and what it is, but not where. */
TUTTI_NODISCARD enum tutti_status
tutti_attribute_check(tutti_context *context, const struct tutti_attribute_definition *attribute, double value);
/* The value of a layer that does not state it: the default; NaN where there is none. */
double tutti_attribute_preset(const struct tutti_attribute_definition *attribute);

/* Is this a definition that a plugin may bring? TUTTI_ERROR_PLUGIN names the op and its fault. */
TUTTI_NODISCARD enum tutti_status tutti_op_check(tutti_context *context, const struct tutti_op_definition *definition);
/* Make the ops of a list, ended by NULL, known in the context: all of them or, after an error, none. `source` says for
   messages who brings them, and is copied. TUTTI_ERROR_PLUGIN: a definition is wrong, or differs from that of another
   plugin, and both are named. */
TUTTI_NODISCARD enum tutti_status tutti_ops_define(tutti_context *context, const char *source,
                                                   const struct tutti_op_definition *const *definitions);
/* The ops that plugins brought: their number, and one of them. */
size_t tutti_ops_defined(const tutti_context *context);
const struct tutti_op_definition *tutti_op_defined_at(const tutti_context *context, size_t index);

#endif
