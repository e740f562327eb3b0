/* gz.h - reads files that may be gzipped (zlib passes plain ones on). Errors say where a file is torn. What is read is
   bounded: a small compressed file may expand to more than the machine can hold. */
#ifndef READING_GZ_H
#define READING_GZ_H

#include <tutti/context.h>

struct reading_gz {
  void *file;
  const char *path;     /* borrowed */
  const char *name;     /* what messages call it */
  size_t done;          /* bytes that have been read, after expansion */
  size_t limit;         /* the most that may be read; reading_gz_open sets it to tutti_memory_for_data */
  const char *limit_of; /* half of what that is */
};

/* Open a file or a pipe for reading. TUTTI_ERROR_USAGE if it cannot be opened, or is a folder, a device or a socket. */
TUTTI_NODISCARD enum tutti_status reading_gz_open(tutti_context *context, const char *path, struct reading_gz *gz);
/* Read up to `bytes` bytes; *got is smaller only at the end of the file. TUTTI_ERROR_USAGE if the file is torn, or goes
   on beyond the limit. */
TUTTI_NODISCARD enum tutti_status reading_gz_read(tutti_context *context, struct reading_gz *gz, size_t bytes,
                                                  void *buffer, size_t *got);
/* Read up to `bytes` bytes into *buffer, which holds *room bytes (NULL and 0 at first) and grows with what is read, not
   with `bytes`: a number from a header may be false. Free *buffer with tutti_free. */
TUTTI_NODISCARD enum tutti_status reading_gz_read_growing(tutti_context *context, struct reading_gz *gz, size_t bytes,
                                                          unsigned char **buffer, size_t *room, size_t *got);
/* How many bytes there are in all; 0: not known, since it is a pipe, or compressed. After a first read. */
size_t reading_gz_size(const struct reading_gz *gz);
/* After a read that came to the end: does the file break off in the middle of compressed data? */
bool reading_gz_is_torn(const struct reading_gz *gz);
/* Close. A truncated compressed file is an error, unless `status` is one already: then that one is returned, and if it
   is TUTTI_ERROR_MEMORY, it is explained (memory.h). */
TUTTI_NODISCARD enum tutti_status reading_gz_close(tutti_context *context, struct reading_gz *gz,
                                                   enum tutti_status status);

#endif
