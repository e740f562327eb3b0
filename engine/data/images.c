/* images.c - a set of images of one shape, growing file by file. */
#include "images_impl.h"

#include <sys/stat.h>
#include <unistd.h>

enum tutti_status tutti_images_create(tutti_context *context, const char *source, struct tutti_images **out) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_images *images = NULL;
  *out = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *images, &images));
  TUTTI_TRY_OUT(context, tutti_strdup(context, source, &images->source));
  *out = images;
  images = NULL;
out:
  tutti_images_destroy(images);
  return status;
}

void tutti_images_destroy(struct tutti_images *images) {
  if (!images)
    return;
  tutti_free(images->source);
  tutti_free(images->pixels);
  tutti_free(images->labels);
  tutti_free(images);
}

size_t tutti_images_values(const struct tutti_images *images) {
  return (size_t)images->shape.height * (size_t)images->shape.width * (size_t)images->shape.channels;
}

size_t tutti_images_bytes(const struct tutti_images *images) {
  return tutti_images_values(images) * (images->floats ? sizeof(float) : 1);
}

enum tutti_status tutti_images_expect(tutti_context *context, struct tutti_images *images, const char *path,
                                      struct tutti_shape shape, bool floats) {
  enum { LARGEST = 1 << 14 };
  struct tutti_shape have = images->shape;
  if (shape.height < 1 || shape.width < 1 || shape.channels < 1 || shape.height > LARGEST || shape.width > LARGEST ||
      shape.channels > TUTTI_MAX_CHANNELS)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s: expected images of at most %d x %d pixels and %d channels, found %d x %d x %d", path,
                      LARGEST, LARGEST, TUTTI_MAX_CHANNELS, shape.height, shape.width, shape.channels);
  if (have.height == 0) {
    images->shape = shape;
    images->floats = floats;
    return TUTTI_OK;
  }
  if (shape.height != have.height || shape.width != have.width || shape.channels != have.channels)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s has images of %d x %d x %d, but %s has images of %d x %d x %d",
                      path, shape.height, shape.width, shape.channels, images->source, have.height, have.width,
                      have.channels);
  if (floats != images->floats)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s has pixels of type %s, but %s has %s", path,
                      floats ? "float" : "uint8", images->source, floats ? "uint8" : "float");
  return TUTTI_OK;
}

enum tutti_status tutti_images_reserve(tutti_context *context, struct tutti_images *images, size_t count) {
  size_t rows;
  if (__builtin_add_overflow(images->rows, count, &rows) || rows > UINT32_MAX)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: more than %u images are more than can be held", images->source,
                      UINT32_MAX);
  if (rows <= images->room)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_realloc(context, images->rows, rows, tutti_images_bytes(images), &images->pixels));
  TUTTI_TRY(context, tutti_realloc(context, images->rows, rows, sizeof *images->labels, &images->labels));
  images->room = rows;
  return TUTTI_OK;
}

bool tutti_images_folder(const char *path) {
  struct stat facts;
  return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

enum tutti_status tutti_images_find(tutti_context *context, const char *path, const char *name, char **found) {
  *found = NULL;
  if (!tutti_images_folder(path))
    return tutti_strdup(context, path, found);
  TUTTI_TRY(context, tutti_format(context, found, "%s/%s.gz", path, name));
  if (access(*found, R_OK) == 0)
    return TUTTI_OK;
  tutti_free(*found);
  TUTTI_TRY(context, tutti_format(context, found, "%s/%s", path, name));
  if (access(*found, R_OK) == 0)
    return TUTTI_OK;
  tutti_free(*found);
  *found = NULL;
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: expected a file, or a folder with %s or %s.gz in it", path, name,
                    name);
}
