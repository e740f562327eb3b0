/* protocol.c - frames between a manager and its workers. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <tutti/protocol.h>
#include <unistd.h>

enum { HEADER = 13, CHUNK = 1 << 16 };
/* A request is a candidate, and a reply a few hundred bytes: more is not our stream. */
static const size_t LIMIT = (size_t)64 << 20;

struct tutti_frames {
  unsigned char *bytes;
  size_t used, room;
};

static void put_little(unsigned char *out, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; i++)
    out[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t get_little(const unsigned char *in, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; i++)
    value |= (uint64_t)in[i] << (8 * i);
  return value;
}

/* Sockets can be asked to give an error, not a signal, if the peer is gone. */
static ssize_t write_parts(int descriptor, struct iovec *parts, int count) {
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = (size_t)count};
  ssize_t n = sendmsg(descriptor, &message, MSG_NOSIGNAL);
  return n < 0 && errno == ENOTSOCK ? writev(descriptor, parts, count) : n;
}

enum tutti_status tutti_frame_write(tutti_context *context, int descriptor, enum tutti_frame_kind kind, uint64_t trial,
                                    const char *text) {
  unsigned char header[HEADER];
  size_t length = strlen(text);
  if (length > LIMIT)
    return TUTTI_FAIL(context, TUTTI_ERROR_INTERNAL, "a frame of %zu bytes is over the limit of %zu", length, LIMIT);
  header[0] = (unsigned char)kind;
  put_little(header + 1, trial, 8);
  put_little(header + 9, length, 4);
  size_t written = 0;
  while (written < HEADER + length) {
    struct iovec parts[2];
    int count = 0;
    if (written < HEADER)
      parts[count++] = (struct iovec){header + written, HEADER - written};
    size_t skip = written > HEADER ? written - HEADER : 0;
    if (length > skip)
      parts[count++] = (struct iovec){(char *)text + skip, length - skip};
    ssize_t n = write_parts(descriptor, parts, count);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return TUTTI_FAIL(context, TUTTI_ERROR_IO, "cannot write to the other side: %s", strerror(errno));
    written += (size_t)n;
  }
  return TUTTI_OK;
}

enum tutti_status tutti_frames_create(tutti_context *context, tutti_frames **frames) {
  return tutti_alloc(context, 1, sizeof **frames, frames);
}

void tutti_frames_destroy(tutti_frames *frames) {
  if (frames)
    tutti_free(frames->bytes);
  tutti_free(frames);
}

enum tutti_status tutti_frames_fill(tutti_context *context, tutti_frames *frames, int descriptor, bool *ended) {
  *ended = false;
  if (frames->room - frames->used < CHUNK) {
    size_t room = frames->room * 2 + CHUNK;
    TUTTI_TRY(context, tutti_realloc(context, frames->used, room, 1, &frames->bytes));
    frames->room = room;
  }
  ssize_t n = read(descriptor, frames->bytes + frames->used, frames->room - frames->used);
  if (n < 0 && errno != EINTR && errno != EAGAIN)
    return TUTTI_FAIL(context, TUTTI_ERROR_IO, "cannot read from the other side: %s", strerror(errno));
  if (n == 0)
    *ended = true;
  if (n > 0)
    frames->used += (size_t)n;
  return TUTTI_OK;
}

enum tutti_status tutti_frames_take(tutti_context *context, tutti_frames *frames, struct tutti_frame *frame,
                                    bool *whole) {
  *whole = false;
  memset(frame, 0, sizeof *frame);
  if (frames->used < HEADER)
    return TUTTI_OK;
  size_t length = (size_t)get_little(frames->bytes + 9, 4);
  if (frames->bytes[0] > TUTTI_FRAME_STOP || length > LIMIT)
    return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT,
                      "expected a frame of kind 0 to %d and at most %zu bytes, found kind %d and %zu bytes",
                      (int)TUTTI_FRAME_STOP, LIMIT, (int)frames->bytes[0], length);
  if (frames->used < HEADER + length)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_alloc(context, length + 1, 1, &frame->text));
  memcpy(frame->text, frames->bytes + HEADER, length);
  frame->kind = (enum tutti_frame_kind)frames->bytes[0];
  frame->trial = get_little(frames->bytes + 1, 8);
  frame->length = length;
  frames->used -= HEADER + length;
  memmove(frames->bytes, frames->bytes + HEADER + length, frames->used);
  *whole = true;
  return TUTTI_OK;
}
