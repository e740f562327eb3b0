/* gz.c - reading files that may be gzipped. */
#include "gz.h"
#include "memory.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <tutti/names.h>
#include <zlib.h>

/* What a path is, if it is not what data can be read from to the end; else NULL. */
static const char *unreadable(mode_t mode) {
  return S_ISDIR(mode) ? "a folder" : S_ISCHR(mode) || S_ISBLK(mode) ? "a device" : S_ISSOCK(mode) ? "a socket" : NULL;
}

enum tutti_status reading_gz_open(tutti_context *context, const char *path, struct reading_gz *gz) {
  struct stat facts;
  *gz = (struct reading_gz){.path = path, .name = tutti_path_name(path)};
  gz->limit = tutti_memory_for_data_of(context, &gz->limit_of);
  if (stat(path, &facts) == 0 && unreadable(facts.st_mode))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: expected a file, found %s; name the file itself", gz->name,
                      unreadable(facts.st_mode));
  do
    gz->file = gzopen(path, "rb"); /* waits until a pipe has a writer */
  while (!gz->file && errno == EINTR && !tutti_cancelled(context));
  if (!gz->file && tutti_cancelled(context))
    return TUTTI_FAIL(context, TUTTI_ERROR_CANCELLED, "%s: interrupted", gz->name);
  if (!gz->file)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: cannot open: %s", gz->name, strerror(errno));
  (void)gzbuffer(gz->file, 1 << 17);
  return TUTTI_OK;
}

static enum tutti_status read_some(tutti_context *context, const struct reading_gz *gz, size_t bytes, void *buffer,
                                   size_t *got) {
  enum { MOST = 1 << 30 }; /* what zlib takes in one call is less than an int */
  *got = 0;
  while (*got < bytes) {
    size_t left = bytes - *got;
    int n = gzread(gz->file, (char *)buffer + *got, left < MOST ? (unsigned)left : MOST);
    if (n < 0 && tutti_cancelled(context))
      return TUTTI_FAIL(context, TUTTI_ERROR_CANCELLED, "%s: interrupted", gz->name);
    if (n < 0) {
      int code;
      const char *reason = gzerror(gz->file, &code);
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: cannot read: %s", gz->name,
                        code == Z_ERRNO ? strerror(errno) : reason);
    }
    if (n == 0)
      break;
    *got += (size_t)n;
  }
  return TUTTI_OK;
}

enum tutti_status reading_gz_read(tutti_context *context, struct reading_gz *gz, size_t bytes, void *buffer,
                                  size_t *got) {
  TUTTI_TRY(context, read_some(context, gz, bytes, buffer, got));
  gz->done += *got;
  if (gz->done <= gz->limit)
    return TUTTI_OK;
  const size_t size = reading_gz_size(gz);
  if (size > 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s: expected data that fit into %zu MiB, half of %s, found %zu MiB; take a part of the rows",
                      gz->name, gz->limit >> 20, gz->limit_of, size >> 20);
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "%s: expected data that fit into %zu MiB%s, half of %s, and it goes on; take a part of the rows",
                    gz->name, gz->limit >> 20, gzdirect(gz->file) ? "" : " (expanded)", gz->limit_of);
}

enum tutti_status reading_gz_read_growing(tutti_context *context, struct reading_gz *gz, size_t bytes,
                                          unsigned char **buffer, size_t *room, size_t *got) {
  enum { FIRST = 1 << 22 };
  *got = 0;
  while (*got < bytes) {
    size_t wanted = *got ? 2 * *got : FIRST, more;
    if (wanted > bytes)
      wanted = bytes;
    if (*room < wanted) {
      TUTTI_TRY(context, tutti_realloc(context, *got, wanted, 1, buffer));
      *room = wanted;
    }
    TUTTI_TRY(context, reading_gz_read(context, gz, wanted - *got, *buffer + *got, &more));
    bool ended = more < wanted - *got;
    *got += more;
    if (ended)
      break;
  }
  return TUTTI_OK;
}

size_t reading_gz_size(const struct reading_gz *gz) {
  struct stat facts;
  bool known = gzdirect(gz->file) && stat(gz->path, &facts) == 0 && S_ISREG(facts.st_mode);
  return known ? (size_t)facts.st_size : 0;
}

bool reading_gz_is_torn(const struct reading_gz *gz) {
  int code;
  (void)gzerror(gz->file, &code);
  return code == Z_BUF_ERROR;
}

enum tutti_status reading_gz_close(tutti_context *context, struct reading_gz *gz, enum tutti_status status) {
  status = reading_explain_memory(context, gz->name, gz->file ? reading_gz_size(gz) : 0, status);
  int closed = gz->file ? gzclose(gz->file) : Z_OK;
  gz->file = NULL;
  if (status == TUTTI_OK && closed != Z_OK)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: torn: the compressed file breaks off; copy or download it again",
                      gz->name);
  return status;
}
