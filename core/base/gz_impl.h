/* gz_impl.h - reading files that may be gzipped (zlib passes plain ones on), with errors that say what is torn. */
#ifndef TUTTI_GZ_IMPL_H
#define TUTTI_GZ_IMPL_H

#include "private.h"

#include <tutti/context.h>

struct tutti_gz {
  void *file;
  const char *path; /* borrowed */
};

TUTTI_PRIVATE TUTTI_NODISCARD enum tutti_status tutti_gz_open(tutti_context *context, const char *path,
                                                              struct tutti_gz *gz);
/* Read up to `bytes` bytes; *got is less only at the end of the file. */
TUTTI_PRIVATE TUTTI_NODISCARD enum tutti_status tutti_gz_read(tutti_context *context, const struct tutti_gz *gz,
                                                              size_t bytes, void *buffer, size_t *got);
/* Close. A compressed file that breaks off is an error, unless `status` is one already: that is handed on. */
TUTTI_PRIVATE TUTTI_NODISCARD enum tutti_status tutti_gz_close(tutti_context *context, struct tutti_gz *gz,
                                                               enum tutti_status status);

#endif
