/* replaced_impl.h - may a file be replaced by one that is written? */
#ifndef TUTTI_REPLACED_IMPL_H
#define TUTTI_REPLACED_IMPL_H

#include "private.h"

#include <tutti/context.h>

enum { TUTTI_FILE_BEGINNINGS = 5 };

/* How a file of a kind is known: by one of these texts at its beginning, and by another one near it. */
struct tutti_file_kind {
  const char *name;                          /* with its article, as in "a report" */
  const char *begins[TUTTI_FILE_BEGINNINGS]; /* NULL after the last */
  const char *holds;                         /* in the first 1024 bytes; NULL: nothing else */
};

/* TUTTI_ERROR_USAGE: there is a file that is not empty and not of this kind, which somebody else may have written. What
   is no regular file (a pipe, a terminal) is written to, and replaces nothing. */
TUTTI_PRIVATE TUTTI_NODISCARD enum tutti_status tutti_file_check_replaced(tutti_context *context, const char *path,
                                                                          const struct tutti_file_kind *kind);

#endif
