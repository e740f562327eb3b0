/* joined_impl.h - several runs as one pool; for joined*.c alone. */
#ifndef TUTTI_JOINED_IMPL_H
#define TUTTI_JOINED_IMPL_H

#include "run_view_impl.h"

/* Make the view of parts[count], which are taken (also on failure), called `directory` in messages. TUTTI_ERROR_USAGE:
   they do not go together. */
TUTTI_NODISCARD enum tutti_status tutti_joined_make(tutti_context *context, const char *directory, size_t count,
                                                    struct tutti_part *parts, tutti_view **view);

#endif
