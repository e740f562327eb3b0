/* rows_images.c - images as they are read, file by file. */
#include <math.h>
#include <string.h>

#include "rows_impl.h"

static bool same_shape(struct tutti_shape a, struct tutti_shape b) {
  return a.height == b.height && a.width == b.width && a.channels == b.channels;
}

/* Numbers of an image, and bytes of one. */
static size_t values_of(const tutti_rows *rows) {
  return (size_t)rows->shape.height * (size_t)rows->shape.width * (size_t)rows->shape.channels;
}
static size_t bytes_of(const tutti_rows *rows) {
  return values_of(rows) * (rows->element == TUTTI_F32 ? sizeof(float) : 1);
}

enum tutti_status tutti_rows_expect_images(tutti_context *context, tutti_rows *rows, const char *path,
                                           struct tutti_shape shape, enum tutti_element element) {
  struct tutti_shape have = rows->shape;
  bool floats = element == TUTTI_F32;
  if (rows->columns)
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN, "rows of a table are no images");
  if (!floats && element != TUTTI_U8)
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN, "pixels are uint8 or float32, and no other elements");
  if (shape.height < 1 || shape.width < 1 || shape.channels < 1 || shape.height > TUTTI_ROWS_MAX_SIDE ||
      shape.width > TUTTI_ROWS_MAX_SIDE || shape.channels > TUTTI_ROWS_MAX_CHANNELS)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s: expected images of at most %d x %d pixels and %d channels, found %d x %d x %d", path,
                      TUTTI_ROWS_MAX_SIDE, TUTTI_ROWS_MAX_SIDE, TUTTI_ROWS_MAX_CHANNELS, shape.height, shape.width,
                      shape.channels);
  if (have.height == 0) {
    rows->shape = shape;
    rows->element = element;
    return TUTTI_OK;
  }
  if (!same_shape(shape, have))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s has images of %d x %d x %d, but %s has images of %d x %d x %d",
                      path, shape.height, shape.width, shape.channels, rows->origin, have.height, have.width,
                      have.channels);
  if (element != rows->element)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s has pixels of type %s, but %s has %s", path,
                      floats ? "float" : "uint8", rows->origin, floats ? "uint8" : "float");
  return TUTTI_OK;
}

static enum tutti_status check_finite(tutti_context *context, const tutti_rows *rows, size_t count,
                                      const float *pixels) {
  size_t values = values_of(rows);
  for (size_t i = 0; i < count * values; i++)
    if (!isfinite(pixels[i]))
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: image %zu: expected finite numbers, found %g", rows->origin,
                        rows->images + i / values, (double)pixels[i]);
  return TUTTI_OK;
}

enum tutti_status tutti_rows_add_images(tutti_context *context, tutti_rows *rows, size_t count, const void *pixels,
                                        size_t bytes) {
  size_t each = bytes_of(rows), expected;
  if (each == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN, "the shape of the images comes before the images");
  if (__builtin_mul_overflow(count, each, &expected) || expected != bytes)
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN, "%zu images of %d x %d x %d have %zu bytes each, found %zu in all",
                      count, rows->shape.height, rows->shape.width, rows->shape.channels, each, bytes);
  if (rows->images + count > UINT32_MAX)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: more than %u images are more than can be held", rows->origin,
                      UINT32_MAX);
  if (rows->element == TUTTI_F32)
    TUTTI_TRY(context, check_finite(context, rows, count, pixels));
  TUTTI_TRY(context, tutti_rows_grow(context, rows, rows->images, count, each, &rows->image_room, &rows->pixels));
  if (bytes)
    memcpy((char *)rows->pixels + rows->images * each, pixels, bytes);
  rows->images += count;
  return TUTTI_OK;
}

enum tutti_status tutti_rows_add_labels(tutti_context *context, tutti_rows *rows, size_t count, const int64_t *labels) {
  TUTTI_TRY(context,
            tutti_rows_grow(context, rows, rows->label_count, count, sizeof *labels, &rows->label_room, &rows->labels));
  if (count)
    memcpy(rows->labels + rows->label_count, labels, count * sizeof *labels);
  rows->label_count += count;
  return TUTTI_OK;
}

struct tutti_shape tutti_rows_shape(const tutti_rows *rows) {
  return rows->shape;
}

enum tutti_element tutti_rows_element(const tutti_rows *rows) { return rows->element; }

const void *tutti_rows_pixels(const tutti_rows *rows) { return rows->pixels; }

const int64_t *tutti_rows_labels(const tutti_rows *rows) { return rows->labels; }
