/* freight.c - files in pieces. */
#include "freight.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* So much is under way to one rank, and to all of them. */
enum { PIECE = 1 << 20, UNDER_WAY = 4 * PIECE, ALL_UNDER_WAY = 64 * PIECE };

static uint32_t sum_piece(struct freight_head head, const char *rest, size_t count) {
  head.checksum = 0;
  uLong sum = crc32_z(0, (const Bytef *)&head, sizeof head);
  return (uint32_t)crc32_z(sum, (const Bytef *)rest, count);
}

/* --- sending --- */

enum tutti_status freight_add(tutti_context *context, struct freight *freight, const char *name, const char *path,
                              const char *text) {
  if (freight->count == freight->room) {
    size_t room = 2 * freight->room + 16;
    TUTTI_TRY(context, tutti_realloc(context, freight->room, room, sizeof *freight->files, &freight->files));
    freight->room = room;
  }
  struct freight_file *file = &freight->files[freight->count];
  *file = (struct freight_file){0};
  freight->count++;
  TUTTI_TRY(context, tutti_strdup(context, name, &file->name));
  if (path)
    TUTTI_TRY(context, tutti_strdup(context, path, &file->path));
  return path ? TUTTI_OK : tutti_strdup(context, text, &file->text);
}

void freight_release(struct freight *freight) {
  for (size_t i = 0; i < freight->count; i++) {
    tutti_free(freight->files[i].name);
    tutti_free(freight->files[i].path);
    tutti_free(freight->files[i].text);
  }
  tutti_free(freight->files);
  *freight = (struct freight){0};
}

static enum tutti_status cannot_read(tutti_context *context, const char *path, int error) {
  return TUTTI_FAIL(context, TUTTI_ERROR_IO, "%s: cannot read: %s", path, strerror(error));
}

/* Read up to PIECE bytes of a file at an offset, and how many it has. */
static enum tutti_status read_piece(tutti_context *context, const char *path, uint64_t offset, char *bytes,
                                    size_t *count, uint64_t *total) {
  enum tutti_status status = TUTTI_OK;
  struct stat facts;
  int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  *count = 0;
  if (file < 0)
    return cannot_read(context, path, errno);
  if (fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode)) {
    status = TUTTI_FAIL(context, TUTTI_ERROR_IO, "%s: expected a regular file", path);
    goto out;
  }
  *total = (uint64_t)facts.st_size;
  while (*count < PIECE) {
    ssize_t n = pread(file, bytes + *count, PIECE - *count, (off_t)(offset + *count));
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      status = cannot_read(context, path, errno);
    if (n <= 0)
      break;
    *count += (size_t)n;
  }
  if (status == TUTTI_OK && *count < PIECE && offset + *count != *total)
    status = TUTTI_FAIL(context, TUTTI_ERROR_IO, "%s: it became shorter or longer while it was read", path);
out:
  (void)close(file);
  return status;
}

/* Send the next piece of a file. The message is laid out in `bytes`. */
static enum tutti_status send_piece(tutti_context *context, struct wire *wire, int rank, uint64_t trial,
                                    struct freight *freight, char *bytes) {
  const struct freight_file *file = &freight->files[freight->next];
  size_t name = strlen(file->name), count = 0, front = sizeof(struct freight_head) + name;
  struct freight_head head = {.trial = trial, .offset = freight->offset, .name = (uint32_t)name};
  if (file->path) {
    TUTTI_TRY(context, read_piece(context, file->path, freight->offset, bytes + front, &count, &head.total));
  } else {
    head.total = strlen(file->text);
    count = head.total - freight->offset < PIECE ? (size_t)(head.total - freight->offset) : PIECE;
    memcpy(bytes + front, file->text + freight->offset, count);
  }
  memcpy(bytes + sizeof head, file->name, name);
  head.checksum = sum_piece(head, bytes + sizeof head, name + count);
  memcpy(bytes, &head, sizeof head);
  TUTTI_TRY(context, wire_send(wire, context, rank, WIRE_PIECE, bytes, front + count));
  freight->offset += count;
  if (freight->offset == head.total) {
    freight->next++;
    freight->offset = 0;
  }
  return TUTTI_OK;
}

enum tutti_status freight_send(tutti_context *context, struct wire *wire, int rank, uint64_t trial,
                               struct freight *freight, bool *done) {
  enum tutti_status status = TUTTI_OK;
  while (status == TUTTI_OK && freight->next < freight->count && wire->unsent[rank] < UNDER_WAY &&
         wire->all_unsent < ALL_UNDER_WAY) {
    size_t name = strlen(freight->files[freight->next].name);
    char *bytes;
    TUTTI_TRY(context, tutti_alloc(context, sizeof(struct freight_head) + name + PIECE, 1, &bytes));
    status = send_piece(context, wire, rank, trial, freight, bytes);
    tutti_free(bytes);
  }
  *done = freight->next == freight->count;
  return status;
}

/* --- receiving --- */

enum tutti_status freight_read(tutti_context *context, const struct wire_message *message,
                               struct freight_piece *piece) {
  *piece = (struct freight_piece){.head.trial = FREIGHT_INPUTS};
  TUTTI_TRY(context, wire_read(context, message, &piece->head, sizeof piece->head));
  size_t rest = message->size - sizeof piece->head;
  const char *name = message->bytes + sizeof piece->head;
  if (piece->head.name > rest)
    return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "a piece of a file came torn, after %zu bytes", message->size);
  TUTTI_TRY(context, tutti_format(context, &piece->name, "%.*s", (int)piece->head.name, name));
  piece->bytes = name + piece->head.name;
  piece->count = rest - piece->head.name;
  uint32_t found = sum_piece(piece->head, name, rest);
  if (found == piece->head.checksum)
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT,
                    "%s: its piece at byte %" PRIu64 " came torn: the checksum is %08" PRIx32 ", and that of what was "
                    "sent %08" PRIx32,
                    piece->name, piece->head.offset, found, piece->head.checksum);
}
