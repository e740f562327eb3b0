/* npy.c - NumPy's array files: mapped, with every length checked, and written. Format: NumPy enhancement proposal 1
   (versions 1.0, 2.0 and 3.0 differ in the width of the header's length and in the header's encoding alone). */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <tutti/npy.h>

#include "file_impl.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "arrays are little-endian on disk: this machine needs them swapped"
#endif

static const struct npy_type {
  const char *descr;
  enum tutti_element element;
  size_t bytes;
} npy_types[] = {
    {"<f4", TUTTI_F32, 4}, {"<f8", TUTTI_F64, 8}, {"<i4", TUTTI_I32, 4}, {"<i8", TUTTI_I64, 8}, {"|u1", TUTTI_U8, 1}};
enum { TYPES = sizeof npy_types / sizeof npy_types[0], MAX_RANK = 8, MAGIC = 6, TYPE_SIZE = 16 };
static const char magic[] = "\x93NUMPY";

static const struct npy_type *type_of(enum tutti_element element) {
  for (size_t i = 0; i < TYPES; i++)
    if (npy_types[i].element == element)
      return &npy_types[i];
  return NULL;
}

/* --- the header: a Python dictionary of three entries, in any order --- */

struct cursor {
  const char *at, *end;
};

static void skip_space(struct cursor *cursor) {
  while (cursor->at < cursor->end && isspace((unsigned char)*cursor->at))
    cursor->at++;
}

static bool take(struct cursor *cursor, char wanted) {
  skip_space(cursor);
  if (cursor->at == cursor->end || *cursor->at != wanted)
    return false;
  cursor->at++;
  return true;
}

static bool take_word(struct cursor *cursor, const char *word) {
  size_t length = strlen(word);
  skip_space(cursor);
  if ((size_t)(cursor->end - cursor->at) < length || memcmp(cursor->at, word, length) != 0)
    return false;
  cursor->at += length;
  return true;
}

static bool take_string(struct cursor *cursor, char text[TYPE_SIZE]) {
  char quote = '\'';
  size_t length = 0;
  if (!take(cursor, quote)) {
    quote = '"';
    if (!take(cursor, quote))
      return false;
  }
  for (; cursor->at < cursor->end && *cursor->at != quote; cursor->at++) {
    if (length + 1 == TYPE_SIZE)
      return false;
    text[length++] = *cursor->at;
  }
  text[length] = '\0';
  return take(cursor, quote);
}

static bool take_size(struct cursor *cursor, size_t *size) {
  skip_space(cursor);
  const char *start = cursor->at;
  *size = 0;
  for (; cursor->at < cursor->end && isdigit((unsigned char)*cursor->at); cursor->at++)
    if (__builtin_mul_overflow(*size, (size_t)10, size) ||
        __builtin_add_overflow(*size, (size_t)(*cursor->at - '0'), size))
      return false;
  return cursor->at > start;
}

static bool take_shape(struct cursor *cursor, struct tutti_npy *array) {
  array->rank = 0;
  array->count = 1;
  if (!take(cursor, '('))
    return false;
  while (!take(cursor, ')')) {
    if (array->rank == MAX_RANK || !take_size(cursor, &array->shape[array->rank]) ||
        __builtin_mul_overflow(array->count, array->shape[array->rank], &array->count))
      return false;
    array->rank++;
    if (!take(cursor, ',')) {
      if (!take(cursor, ')'))
        return false;
      break;
    }
  }
  return true;
}

struct header {
  char descr[TYPE_SIZE];
  bool fortran, has_descr, has_order, has_shape;
};

static bool take_entry(struct cursor *cursor, struct header *header, struct tutti_npy *array) {
  char key[TYPE_SIZE];
  if (!take_string(cursor, key) || !take(cursor, ':'))
    return false;
  if (strcmp(key, "descr") == 0)
    return header->has_descr = take_string(cursor, header->descr);
  if (strcmp(key, "shape") == 0)
    return header->has_shape = take_shape(cursor, array);
  if (strcmp(key, "fortran_order") != 0)
    return false;
  header->fortran = take_word(cursor, "True");
  return header->has_order = header->fortran || take_word(cursor, "False");
}

static bool take_header(struct cursor *cursor, struct header *header, struct tutti_npy *array) {
  if (!take(cursor, '{'))
    return false;
  while (!take(cursor, '}')) {
    if (!take_entry(cursor, header, array))
      return false;
    if (!take(cursor, ',')) {
      if (!take(cursor, '}'))
        return false;
      break;
    }
  }
  skip_space(cursor);
  return cursor->at == cursor->end && header->has_descr && header->has_order && header->has_shape;
}

/* --- reading --- */

/* Where the header starts and ends in a file of `bytes` bytes. */
static enum tutti_status find_header(tutti_context *context, const char *path, const unsigned char *file, size_t bytes,
                                     size_t *start, size_t *end) {
  if (bytes < MAGIC + 4 || memcmp(file, magic, MAGIC) != 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "%s: expected a .npy file, found other bytes", path);
  unsigned version = file[MAGIC];
  if (version < 1 || version > 3)
    return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "%s: expected version 1, 2 or 3 of .npy, found %u", path, version);
  size_t width = version == 1 ? 2 : 4, length = 0;
  *start = MAGIC + 2 + width;
  for (size_t i = 0; i < width && MAGIC + 2 + i < bytes; i++)
    length |= (size_t)file[MAGIC + 2 + i] << (8 * i);
  if (bytes < *start || length > bytes - *start)
    return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "%s: torn: the header of %zu bytes is longer than the file", path,
                      length);
  *end = *start + length;
  return TUTTI_OK;
}

static enum tutti_status read_header(tutti_context *context, const char *path, const unsigned char *file, size_t bytes,
                                     struct tutti_npy *array, size_t *offset) {
  size_t start = 0, size;
  struct header header = {0};
  const struct npy_type *type = NULL;
  TUTTI_TRY(context, find_header(context, path, file, bytes, &start, offset));
  struct cursor cursor = {(const char *)file + start, (const char *)file + *offset};
  if (!take_header(&cursor, &header, array))
    return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT,
                      "%s: expected a header with descr, fortran_order and a shape of at most %d sizes; it breaks off "
                      "at byte %zu",
                      path, MAX_RANK, (size_t)(cursor.at - (const char *)file));
  for (size_t i = 0; i < TYPES && !type; i++)
    if (strcmp(header.descr, npy_types[i].descr) == 0)
      type = &npy_types[i];
  if (!type)
    return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT,
                      "%s: expected elements of type <f4, <f8, <i4, <i8 or |u1, found '%s'; convert with astype()",
                      path, header.descr);
  if (header.fortran && array->rank > 1)
    return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT,
                      "%s: expected C order, found Fortran order; save numpy.ascontiguousarray(...) of it", path);
  array->element = type->element;
  if (__builtin_mul_overflow(array->count, type->bytes, &size) || size != bytes - *offset)
    return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT,
                      "%s: torn: the header promises %zu elements of %zu bytes, %zu bytes follow", path, array->count,
                      type->bytes, bytes - *offset);
  if (*offset % type->bytes != 0) {
    TUTTI_TRY(context, tutti_alloc(context, size, 1, &array->mapping));
    if (size)
      memcpy(array->mapping, file + *offset, size);
  }
  return TUTTI_OK;
}

enum tutti_status tutti_npy_map(tutti_context *context, const char *path, struct tutti_npy *array) {
  enum tutti_status status = TUTTI_OK;
  struct stat facts;
  size_t bytes = 0, offset = 0;
  unsigned char *file = MAP_FAILED;
  *array = (struct tutti_npy){0};
  int descriptor;
  TUTTI_TRY(context, tutti_file_open(context, path, &descriptor, &facts));
  bytes = (size_t)facts.st_size;
  if (bytes == 0) {
    status = TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "%s: expected a .npy file, found an empty one", path);
    goto out;
  }
  file = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (file == MAP_FAILED) {
    status = tutti_file_error(context, path, "map", errno);
    status = tutti_error_prefix(context, status, "%jd MiB: ", (intmax_t)(facts.st_size >> 20));
    goto out;
  }
  TUTTI_TRY_OUT(context, read_header(context, path, file, bytes, array, &offset));
  if (array->mapping) { /* misaligned: a copy */
    array->data = array->mapping;
    goto out;
  }
  array->data = file + offset;
  array->mapping = file;
  array->mapped = bytes;
  file = MAP_FAILED;
out:
  if (file != MAP_FAILED)
    (void)munmap(file, bytes);
  (void)close(descriptor);
  if (status != TUTTI_OK)
    *array = (struct tutti_npy){0};
  return status;
}

/* Into memory: a file that others may write could become shorter, and touching a map beyond its end is a bus error. */
static enum tutti_status read_whole(tutti_context *context, const char *path, struct tutti_npy *array) {
  size_t bytes, offset = 0;
  char *file;
  *array = (struct tutti_npy){0};
  TUTTI_TRY(context, tutti_file_read(context, path, &file, &bytes));
  enum tutti_status status =
      bytes > 0 ? read_header(context, path, (const unsigned char *)file, bytes, array, &offset)
                : TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "%s: expected a .npy file, found an empty one", path);
  if (status != TUTTI_OK) {
    *array = (struct tutti_npy){0};
  } else if (array->mapping) { /* misaligned: a copy */
    array->data = array->mapping;
  } else {
    array->data = file + offset;
    array->mapping = file;
    file = NULL;
  }
  tutti_free(file);
  return status;
}

enum tutti_status tutti_npy_read_users(tutti_context *context, const char *path, struct tutti_npy *array) {
  enum tutti_status status = read_whole(context, path, array);
  if (status == TUTTI_ERROR_CORRUPT || status == TUTTI_ERROR_IO || status == TUTTI_ERROR_MEMORY) {
    char message[1024];
    (void)snprintf(message, sizeof message, "%s", tutti_error_message(context));
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s", message);
  }
  return status;
}

void tutti_npy_unmap(struct tutti_npy *array) {
  if (array->mapped)
    (void)munmap(array->mapping, array->mapped);
  else
    tutti_free(array->mapping);
  *array = (struct tutti_npy){0};
}

/* --- writing --- */

enum { HEADER = 256 }; /* eight sizes of 20 digits and the rest fit; a multiple of 64, so that data are aligned */

enum tutti_status tutti_npy_write(tutti_context *context, const char *path, enum tutti_element element, size_t rank,
                                  const size_t *shape, const void *data) {
  const struct npy_type *type = type_of(element);
  char header[HEADER + 1], sizes[MAX_RANK * 22 + 1] = "";
  size_t bytes, length = 0;
  if (!type || rank > MAX_RANK)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: an array of rank %zu cannot be written; at most %d sizes", path,
                      rank, MAX_RANK);
  bytes = type->bytes;
  for (size_t i = 0; i < rank; i++) {
    length += (size_t)snprintf(sizes + length, sizeof sizes - length, i ? " %zu," : "%zu,", shape[i]);
    if (__builtin_mul_overflow(bytes, shape[i], &bytes))
      return TUTTI_FAIL(context, TUTTI_ERROR_MEMORY, "%s: an array of shape (%s) is too large", path, sizes);
  }
  if (rank > 1) /* as NumPy prints tuples: (2, 3), but (2,) */
    sizes[length - 1] = '\0';
  int used = snprintf(header, sizeof header, "%s\x01%c  {'descr': '%s', 'fortran_order': False, 'shape': (%s), }",
                      magic, 0, type->descr, sizes);
  size_t whole = ((size_t)used + 1 + 63) / 64 * 64, after = MAGIC + 4;
  memset(header + used, ' ', whole - (size_t)used);
  header[whole - 1] = '\n';
  header[MAGIC + 2] = (char)((whole - after) & 0xff);
  header[MAGIC + 3] = (char)((whole - after) >> 8);
  struct tutti_file_part parts[] = {{header, whole}, {data, bytes}};
  return tutti_file_write(context, path, 2, parts);
}
