/* contract_impl.h - the operations that a kind requires of a plugin; they are checked before anything of the plugin
   runs. */
#ifndef TUTTI_CONTRACT_IMPL_H
#define TUTTI_CONTRACT_IMPL_H

#include <stddef.h>
#include <tutti/kind.h>

/* An operation that every plugin of a kind must have. */
struct tutti_required_op {
  const char *name; /* NULL ends a list */
  size_t offset;    /* in the ops table */
};
#define TUTTI_REQUIRED_OP(kind, op)                                                                                    \
  { #op, offsetof(struct tutti_##kind##_ops, op) }

/* Is the operation at this offset there? An ops table begins with its size, and may be shorter than ours
   (instance.c). */
bool tutti_op_there(const void *ops, size_t offset);
#define TUTTI_HAS_OP(kind, ops, op) tutti_op_there((ops), offsetof(struct tutti_##kind##_ops, op))

/* Is "none" the name of a plugin of this kind? For other kinds it means that there is none. */
bool tutti_kind_has_none(enum tutti_kind kind);
/* Name of the first operation that the kind requires and this table lacks; NULL when all are there. */
const char *tutti_ops_missing(enum tutti_kind kind, const void *ops);

#endif
