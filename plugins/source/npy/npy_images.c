/* npy_images.c - arrays as images: [rows][height][width][channels], or [rows][height][width], of uint8 or floats. */
#include <math.h>

#include "npy_impl.h"

bool npy_has_images(tutti_context *context, const char *path) {
  struct tutti_npy array;
  if (tutti_npy_map(context, path, &array) != TUTTI_OK) {
    tutti_error_clear(context);
    return false;
  }
  bool images = array.rank == 3 || array.rank == 4;
  tutti_npy_unmap(&array);
  return images;
}

static enum tutti_status check_images(tutti_context *context, const char *path, const struct tutti_npy *array) {
  bool pixels = array->element == TUTTI_U8 || array->element == TUTTI_F32 || array->element == TUTTI_F64;
  if ((array->rank != 3 && array->rank != 4) || array->count == 0 || !pixels)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s: expected images [rows][height][width][channels] or [rows][height][width] of uint8 or "
                      "float, not empty; found %zu %s, %zu %s%s",
                      path, array->rank, tutti_plural(array->rank, "size", "sizes"), array->count,
                      tutti_plural(array->count, "element", "elements"),
                      pixels ? "" : " of integers wider than a byte");
  for (size_t i = 1; i < array->rank; i++)
    if (array->shape[i] > INT32_MAX)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: a side of %zu pixels is too long", path, array->shape[i]);
  return TUTTI_OK;
}

/* Floats as float32, which networks take; a row is an image. */
static enum tutti_status add_floats(tutti_context *context, const char *path, const struct tutti_npy *array,
                                    tutti_rows *rows) {
  enum tutti_status status = TUTTI_OK;
  size_t values = array->count / array->shape[0];
  float *image = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, values, sizeof *image, &image));
  for (size_t r = 0; r < array->shape[0]; r++) {
    for (size_t v = 0; v < values; v++) {
      size_t i = r * values + v;
      image[v] =
          array->element == TUTTI_F32 ? ((const float *)array->data)[i] : (float)((const double *)array->data)[i];
      if (!isfinite(image[v])) {
        status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: image %zu: expected finite numbers, found %g", path, r,
                            (double)image[v]);
        goto out;
      }
    }
    TUTTI_TRY_OUT(context, tutti_rows_add_images(context, rows, 1, image, values * sizeof *image));
  }
out:
  tutti_free(image);
  return status;
}

static enum tutti_status add_images(tutti_context *context, const char *path, const struct tutti_npy *array,
                                    tutti_rows *rows) {
  struct tutti_shape shape = {(int32_t)array->shape[1], (int32_t)array->shape[2],
                              array->rank == 4 ? (int32_t)array->shape[3] : 1};
  bool bytes = array->element == TUTTI_U8;
  TUTTI_TRY(context, tutti_rows_expect_images(context, rows, path, shape, bytes ? TUTTI_U8 : TUTTI_F32));
  return bytes ? tutti_rows_add_images(context, rows, array->shape[0], array->data, array->count)
               : add_floats(context, path, array, rows);
}

static enum tutti_status add_labels(tutti_context *context, const char *path, const struct tutti_npy *array,
                                    const char *images_path, size_t count, tutti_rows *rows) {
  bool vector = array->rank == 1 || (array->rank == 2 && array->shape[1] == 1);
  if (!vector || array->element == TUTTI_F32 || array->element == TUTTI_F64)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: expected integer labels [rows], found %zu %s%s", path,
                      array->rank, tutti_plural(array->rank, "size", "sizes"), vector ? " of floats" : "");
  if (array->count != count)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s has %zu %s, but %s has %zu %s", path, array->count,
                      tutti_plural(array->count, "label", "labels"), images_path, count,
                      tutti_plural(count, "image", "images"));
  for (size_t i = 0; i < count; i++) {
    int64_t label = array->element == TUTTI_U8    ? ((const uint8_t *)array->data)[i]
                    : array->element == TUTTI_I32 ? ((const int32_t *)array->data)[i]
                                                  : ((const int64_t *)array->data)[i];
    TUTTI_TRY(context, tutti_rows_add_labels(context, rows, 1, &label));
  }
  return TUTTI_OK;
}

enum tutti_status npy_read_images(tutti_context *context, const char *path, const char *labels, tutti_rows *rows) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_npy array = {0}, classes = {0};
  TUTTI_TRY_OUT(context, tutti_npy_read_users(context, path, &array));
  TUTTI_TRY_OUT(context, check_images(context, path, &array));
  TUTTI_TRY_OUT(context, add_images(context, path, &array, rows));
  if (labels) {
    TUTTI_TRY_OUT(context, tutti_npy_read_users(context, labels, &classes));
    TUTTI_TRY_OUT(context, add_labels(context, labels, &classes, path, array.shape[0], rows));
  }
out:
  tutti_npy_unmap(&array);
  tutti_npy_unmap(&classes);
  return status;
}
