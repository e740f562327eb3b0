/* gz.h - reads files that may be gzipped (zlib passes plain ones on). Errors say where a file is torn. */
#ifndef READING_GZ_H
#define READING_GZ_H

#include <tutti/context.h>

struct reading_gz {
  void *file;
  const char *path; /* borrowed */
};

/* Open a file for reading. TUTTI_ERROR_USAGE if it cannot be opened. */
TUTTI_NODISCARD enum tutti_status reading_gz_open(tutti_context *context, const char *path, struct reading_gz *gz);
/* Read up to `bytes` bytes; *got is smaller only at the end of the file. */
TUTTI_NODISCARD enum tutti_status reading_gz_read(tutti_context *context, const struct reading_gz *gz, size_t bytes,
                                                  void *buffer, size_t *got);
/* Close. A truncated compressed file is an error, unless `status` is one already: then that one is returned. */
TUTTI_NODISCARD enum tutti_status reading_gz_close(tutti_context *context, struct reading_gz *gz,
                                                   enum tutti_status status);

#endif
