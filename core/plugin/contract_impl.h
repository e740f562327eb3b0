/* contract_impl.h - what a plugin of each kind must have before any of it runs. */
#ifndef TUTTI_CONTRACT_IMPL_H
#define TUTTI_CONTRACT_IMPL_H

#include <tutti/param.h>

/* Name of the first op that the kind requires and this ops table lacks; NULL when all are there. The table begins with its
   own size. */
const char *tutti_ops_missing(enum tutti_kind kind, const void *ops);

#endif
