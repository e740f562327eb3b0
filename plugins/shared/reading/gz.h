/* gz.h - reading files that may be gzipped (zlib passes plain ones on), with errors that say what is torn. */
#ifndef READING_GZ_H
#define READING_GZ_H

#include <tutti/context.h>

struct reading_gz {
  void *file;
  const char *path; /* borrowed */
};

/* Open a file for reading. TUTTI_ERROR_USAGE: it cannot be opened. */
TUTTI_NODISCARD enum tutti_status reading_gz_open(tutti_context *context, const char *path, struct reading_gz *gz);
/* Read up to `bytes` bytes; *got is less only at the end of the file. */
TUTTI_NODISCARD enum tutti_status reading_gz_read(tutti_context *context, const struct reading_gz *gz, size_t bytes,
                                                  void *buffer, size_t *got);
/* Close. A compressed file that breaks off is an error, unless `status` is one already: that is handed on. */
TUTTI_NODISCARD enum tutti_status reading_gz_close(tutti_context *context, struct reading_gz *gz,
                                                   enum tutti_status status);

#endif
