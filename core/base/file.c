/* file.c - files that are whole or absent. */
#include "file_impl.h"
#include "memory_bound_impl.h"

#include "context_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum tutti_status tutti_file_error(tutti_context *context, const char *path, const char *doing, int error) {
  bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  return TUTTI_FAIL(context, full ? TUTTI_ERROR_FULL : TUTTI_ERROR_IO, "%s: cannot %s: %s%s", path, doing,
                    strerror(error), full ? "; make room, then go on" : "");
}

static int write_all(int file, const char *data, size_t bytes) {
  while (bytes > 0) {
    ssize_t n = write(file, data, bytes);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return -1;
    data += n;
    bytes -= (size_t)n;
  }
  return 0;
}

enum tutti_status tutti_file_write(tutti_context *context, const char *path, size_t count,
                                   const struct tutti_file_part *parts) {
  enum tutti_status status = TUTTI_OK;
  char *temporary;
  TUTTI_TRY(context, tutti_format(context, &temporary, "%s.tmp", path));
  (void)unlink(temporary); /* of a killed writer; or a link, which is not to be followed */
  int file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (file < 0) {
    status = tutti_file_error(context, temporary, "open for writing", errno);
    goto out;
  }
  int failed = 0;
  for (size_t i = 0; i < count && !failed; i++)
    failed = write_all(file, parts[i].data, parts[i].bytes);
  if (!failed && !context->files_wait)
    failed = fsync(file);
  int error = errno;
  if (close(file) != 0 && !failed) {
    failed = -1;
    error = errno;
  }
  if (!failed && rename(temporary, path) != 0) {
    failed = -1;
    error = errno;
  }
  if (failed) {
    (void)unlink(temporary);
    status = tutti_file_error(context, path, "write", error);
    goto out;
  }
  error = context->files_wait ? 0 : tutti_file_sync_name(temporary);
  if (error)
    status = tutti_file_error(context, path, "make durable", error);
out:
  tutti_free(temporary);
  return status;
}

/* Append the piece to the file; 0, or the errno. *follows: it begins where the file ends. */
static int append_piece(int file, uint64_t offset, uint64_t total, const struct tutti_file_part *piece, bool *follows) {
  struct stat facts;
  if (fstat(file, &facts) != 0)
    return errno;
  *follows = (uint64_t)facts.st_size == offset && piece->bytes <= total && offset <= total - piece->bytes;
  return *follows && write_all(file, piece->data, piece->bytes) != 0 ? errno : 0;
}

enum tutti_status tutti_file_write_piece(tutti_context *context, const char *path, uint64_t offset, uint64_t total,
                                         const struct tutti_file_part *piece) {
  enum tutti_status status = TUTTI_OK;
  bool follows = true;
  char *temporary;
  TUTTI_TRY(context, tutti_format(context, &temporary, "%s.tmp", path));
  if (offset == 0)
    (void)unlink(temporary);
  int file = open(temporary, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC | (offset == 0 ? O_CREAT | O_EXCL : 0), 0644);
  int error = file < 0 ? errno : append_piece(file, offset, total, piece, &follows);
  if (file >= 0 && close(file) != 0 && !error)
    error = errno;
  if (!error && follows && offset + piece->bytes == total && rename(temporary, path) != 0)
    error = errno;
  if (!follows)
    status = TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT,
                        "%s: a piece of %zu bytes at %" PRIu64 " of %" PRIu64 " does not follow what is there", path,
                        piece->bytes, offset, total);
  else if (error)
    status = tutti_file_error(context, path, "write", error);
  if (status != TUTTI_OK && file >= 0)
    (void)unlink(temporary);
  tutti_free(temporary);
  return status;
}

enum tutti_status tutti_file_rename(tutti_context *context, const char *from, const char *to) {
  char *copy;
  if (rename(from, to) != 0)
    return tutti_file_error(context, to, "write", errno);
  TUTTI_TRY(context, tutti_strdup(context, to, &copy));
  int error = tutti_file_sync_name(copy);
  enum tutti_status status = error ? tutti_file_error(context, to, "make durable", error) : TUTTI_OK;
  tutti_free(copy);
  return status;
}

enum tutti_status tutti_file_write_text(tutti_context *context, const char *path, const char *text) {
  struct tutti_file_part part = {text, strlen(text)};
  return tutti_file_write(context, path, 1, &part);
}

enum tutti_status tutti_file_open(tutti_context *context, const char *path, int *file, struct stat *facts) {
  *file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* opening a pipe would wait for its writer */
  if (*file < 0)
    return tutti_file_error(context, path, "open", errno);
  if (fstat(*file, facts) == 0 && S_ISREG(facts->st_mode))
    return TUTTI_OK;
  (void)close(*file);
  return TUTTI_FAIL(context, TUTTI_ERROR_IO, "%s: expected a regular file", path);
}

/* Small files fit, whatever bounds memory, and most files are small. */
static enum tutti_status check_size(tutti_context *context, const char *path, off_t size) {
  static const off_t small = 1 << 20;
  if (size <= small)
    return TUTTI_OK;
  const struct tutti_memory_bound bound = tutti_memory_bound(context);
  return (uint64_t)size <= bound.bytes / 2
             ? TUTTI_OK
             : TUTTI_FAIL(context, TUTTI_ERROR_MEMORY,
                          "%s: its %jd MiB are more than %zu MiB, half of %s; give it more memory", path,
                          (intmax_t)(size >> 20), bound.bytes >> 21, bound.of);
}

/* One byte more than the file has. */
static enum tutti_status make_room(tutti_context *context, const char *path, off_t size, char **data) {
  enum tutti_status status = tutti_alloc(context, (size_t)size + 1, 1, data);
  if (status != TUTTI_ERROR_MEMORY)
    return status;
  const struct tutti_memory_bound bound = tutti_memory_bound(context);
  return tutti_error_prefix(context, status,
                            "%s: its %jd MiB do not fit beside all else into %zu MiB, %s; give it more memory: ", path,
                            (intmax_t)(size >> 20), bound.bytes >> 20, bound.of);
}

enum tutti_status tutti_file_read(tutti_context *context, const char *path, char **data, size_t *bytes) {
  enum tutti_status status = TUTTI_OK;
  struct stat facts = {0};
  int file;
  *data = NULL;
  *bytes = 0;
  TUTTI_TRY(context, tutti_file_open(context, path, &file, &facts));
  TUTTI_TRY_OUT(context, check_size(context, path, facts.st_size));
  TUTTI_TRY_OUT(context, make_room(context, path, facts.st_size, data));
  while (*bytes < (size_t)facts.st_size) {
    ssize_t n = read(file, *data + *bytes, (size_t)facts.st_size - *bytes);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0) {
      status = tutti_file_error(context, path, "read", errno);
      goto out;
    }
    if (n == 0)
      break;
    *bytes += (size_t)n;
  }
  (*data)[*bytes] = '\0';
out:
  (void)close(file);
  if (status != TUTTI_OK) {
    tutti_free(*data);
    *data = NULL;
  }
  return status;
}

enum tutti_status tutti_file_make_folder(tutti_context *context, const char *path) {
  char *copy;
  int error = 0;
  enum tutti_status status = TUTTI_OK;
  TUTTI_TRY(context, tutti_strdup(context, path, &copy));
  for (char *slash = copy; slash && status == TUTTI_OK;) {
    slash = strchr(slash + 1, '/');
    if (slash)
      *slash = '\0';
    bool made = *copy && mkdir(copy, 0755) == 0;
    if (*copy && !made && errno != EEXIST)
      status = tutti_file_error(context, copy, "make the folder", errno);
    /* Who made the last one may have been killed before this. */
    else if (slash ? made : !context->files_wait)
      error = tutti_file_sync_name(copy);
    if (error)
      status = tutti_file_error(context, copy, "make durable", error);
    if (slash)
      *slash = '/';
  }
  struct stat facts;
  if (status == TUTTI_OK && (stat(path, &facts) != 0 || !S_ISDIR(facts.st_mode)))
    status = TUTTI_FAIL(context, TUTTI_ERROR_IO, "%s: expected a folder, found something else", path);
  tutti_free(copy);
  return status;
}

enum tutti_status tutti_file_checksum(tutti_context *context, const char *path, uint64_t *bytes, uint32_t *checksum) {
  enum { CHUNK = 1 << 16 };
  enum tutti_status status = TUTTI_OK;
  struct stat facts;
  unsigned char *chunk;
  int file;
  *bytes = 0;
  *checksum = (uint32_t)crc32(0, NULL, 0);
  TUTTI_TRY(context, tutti_file_open(context, path, &file, &facts));
  TUTTI_TRY_OUT(context, tutti_alloc(context, CHUNK, 1, &chunk));
  ssize_t n;
  while ((n = read(file, chunk, CHUNK)) != 0) {
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0) {
      status = tutti_file_error(context, path, "read", errno);
      break;
    }
    *checksum = (uint32_t)crc32(*checksum, chunk, (uInt)n);
    *bytes += (uint64_t)n;
  }
out:
  (void)close(file);
  tutti_free(chunk);
  return status;
}

bool tutti_file_is_same(const char *a, const char *b) {
  struct stat facts_a, facts_b;
  return stat(a, &facts_a) == 0 && stat(b, &facts_b) == 0 && facts_a.st_dev == facts_b.st_dev &&
         facts_a.st_ino == facts_b.st_ino;
}
