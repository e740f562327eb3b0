/* gz.c - reading files that may be gzipped. */
#include "gz.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

enum tutti_status reading_gz_open(tutti_context *context, const char *path, struct reading_gz *gz) {
  *gz = (struct reading_gz){gzopen(path, "rb"), path};
  if (!gz->file)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: cannot open: %s", path, strerror(errno));
  (void)gzbuffer(gz->file, 1 << 17);
  return TUTTI_OK;
}

enum tutti_status reading_gz_read(tutti_context *context, const struct reading_gz *gz, size_t bytes, void *buffer,
                                  size_t *got) {
  enum { MOST = 1 << 30 }; /* what zlib takes in one call is less than an int */
  *got = 0;
  while (*got < bytes) {
    size_t left = bytes - *got;
    int n = gzread(gz->file, (char *)buffer + *got, left < MOST ? (unsigned)left : MOST);
    if (n < 0) {
      int code;
      const char *reason = gzerror(gz->file, &code);
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: cannot read: %s", gz->path,
                        code == Z_ERRNO ? strerror(errno) : reason);
    }
    if (n == 0)
      break;
    *got += (size_t)n;
  }
  return TUTTI_OK;
}

enum tutti_status reading_gz_close(tutti_context *context, struct reading_gz *gz, enum tutti_status status) {
  int closed = gz->file ? gzclose(gz->file) : Z_OK;
  gz->file = NULL;
  if (status == TUTTI_OK && closed != Z_OK)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: torn: the compressed file breaks off", gz->path);
  return status;
}
