/* images_npy.c - arrays as images: [rows][height][width][channels], or [rows][height][width], of uint8 or floats. */
#include <math.h>
#include <string.h>

#include "engine/data/images_impl.h"

bool tutti_npy_has_images(tutti_context *context, const char *path) {
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
                      "float, not empty; found %zu sizes, %zu elements%s",
                      path, array->rank, array->count, pixels ? "" : " of integers wider than a byte");
  for (size_t i = 1; i < array->rank; i++)
    if (array->shape[i] > INT32_MAX)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: a side of %zu pixels is too long", path, array->shape[i]);
  return TUTTI_OK;
}

static enum tutti_status copy_floats(tutti_context *context, const char *path, const struct tutti_npy *array,
                                     float *out) {
  for (size_t i = 0; i < array->count; i++) {
    out[i] = array->element == TUTTI_F32 ? ((const float *)array->data)[i] : (float)((const double *)array->data)[i];
    if (!isfinite(out[i]))
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: image %zu: expected finite numbers, found %g", path,
                        i / (array->count / array->shape[0]), (double)out[i]);
  }
  return TUTTI_OK;
}

static enum tutti_status copy_images(tutti_context *context, const char *path, const struct tutti_npy *array,
                                     struct tutti_images *images) {
  struct tutti_shape shape = {(int32_t)array->shape[1], (int32_t)array->shape[2],
                              array->rank == 4 ? (int32_t)array->shape[3] : 1};
  TUTTI_TRY(context, tutti_images_expect(context, images, path, shape, array->element != TUTTI_U8));
  TUTTI_TRY(context, tutti_images_reserve(context, images, array->shape[0]));
  void *at = (char *)images->pixels + images->rows * tutti_images_bytes(images);
  if (images->floats)
    return copy_floats(context, path, array, at);
  memcpy(at, array->data, array->count);
  return TUTTI_OK;
}

static enum tutti_status copy_labels(tutti_context *context, const char *path, const struct tutti_npy *array,
                                     const char *images_path, size_t count, int64_t *labels) {
  bool vector = array->rank == 1 || (array->rank == 2 && array->shape[1] == 1);
  if (!vector || array->element == TUTTI_F32 || array->element == TUTTI_F64)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: expected integer labels [rows], found %zu sizes%s", path,
                      array->rank, vector ? " of floats" : "");
  if (array->count != count)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s has %zu labels, but %s has %zu images", path, array->count,
                      images_path, count);
  for (size_t i = 0; i < count; i++)
    labels[i] = array->element == TUTTI_U8    ? ((const uint8_t *)array->data)[i]
                : array->element == TUTTI_I32 ? ((const int32_t *)array->data)[i]
                                              : ((const int64_t *)array->data)[i];
  return TUTTI_OK;
}

enum tutti_status tutti_npy_images(tutti_context *context, const char *path, const char *labels,
                                   struct tutti_images *images) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_npy array = {0}, classes = {0};
  TUTTI_TRY_OUT(context, tutti_npy_map_users(context, path, &array));
  TUTTI_TRY_OUT(context, check_images(context, path, &array));
  TUTTI_TRY_OUT(context, copy_images(context, path, &array, images));
  if (labels) {
    TUTTI_TRY_OUT(context, tutti_npy_map_users(context, labels, &classes));
    TUTTI_TRY_OUT(context, copy_labels(context, labels, &classes, path, array.shape[0], images->labels + images->rows));
  }
  images->rows += array.shape[0];
out:
  tutti_npy_unmap(&array);
  tutti_npy_unmap(&classes);
  return status;
}
