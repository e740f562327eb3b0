/* contract_impl.h - the operations that a kind requires of a plugin; they are checked before anything of the plugin
   runs. */
#ifndef TUTTI_CONTRACT_IMPL_H
#define TUTTI_CONTRACT_IMPL_H

#include <tutti/kind.h>

/* Is "none" the name of a plugin of this kind? For other kinds it means that there is none. */
bool tutti_kind_has_none(enum tutti_kind kind);
/* Name of the first operation that the kind requires and this table lacks; NULL when all are there. */
const char *tutti_ops_missing(enum tutti_kind kind, const void *ops);

#endif
