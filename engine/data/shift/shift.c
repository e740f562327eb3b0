/* shift.c - shifted splits: images are corrupted once, and the results are kept as .npy. */
#include "shift_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <tutti/names.h>

#include "corruption_impl.h"
#include "core/base/file_impl.h"
#include "engine/data/images_impl.h"
#include "core/plugin/split_impl.h"

/* Raise this when a corruption changes: stored sets are then made again. */
enum { VERSION = 1 };

/* --- checks --- */

static enum tutti_status check_list(tutti_context *context, const char *name, const struct tutti_choices *list,
                                    struct tutti_shape shape) {
  if (list->count == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "data.%s: expected corruptions, found none", name);
  for (size_t i = 0; i < list->count; i++)
    if (tutti_corruption_check(context, (size_t)list->values[i], shape) != TUTTI_OK)
      return tutti_error_prefix(context, TUTTI_ERROR_USAGE, "data.%s: ", name);
  return TUTTI_OK;
}

static enum tutti_status check_severities(tutti_context *context, const struct tutti_integers *severities) {
  for (size_t i = 0; i < severities->count; i++)
    for (size_t j = 0; j < i; j++)
      if (severities->values[i] == severities->values[j])
        return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "data.shift: severity %" PRId64 " stands there twice",
                          severities->values[i]);
  return TUTTI_OK;
}

enum tutti_status tutti_shift_check(tutti_context *context, const struct tutti_data_config *config,
                                    const struct tutti_encoding *encoding, const char *ready) {
  struct tutti_shape shape = encoding->image;
  bool published = false;
  if (shape.height == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "data.shift: only images can be shifted, and these are rows of a table");
  TUTTI_TRY(context, check_severities(context, &config->shift));
  if (ready) {
    TUTTI_TRY(context, tutti_shift_find_published(context, ready, &published));
    if (!published)
      return TUTTI_OK;
  }
  if (encoding->floats)
    return TUTTI_FAIL(
        context, TUTTI_ERROR_USAGE,
        "data.shift: only images of bytes can be corrupted, and these are floats; give ready-made sets in "
        "data.shift_path, validation-SEVERITY.npy and test-SEVERITY.npy");
  TUTTI_TRY(context, check_list(context, "shift_validation", &config->shift_validation, shape));
  return check_list(context, "shift_test", &config->shift_test, shape);
}

/* --- making --- */

size_t tutti_shift_draw(const struct tutti_shift *shift, size_t image, struct tutti_random *random) {
  char purpose[64];
  (void)snprintf(purpose, sizeof purpose, "shift of %s", shift->clean->name);
  tutti_random_init(random, (uint64_t)shift->severity, purpose, image);
  return (size_t)shift->corruptions[tutti_random_below(random, shift->count)];
}

static enum tutti_status corrupt_all(tutti_context *context, const struct tutti_shift *shift,
                                     struct tutti_corruptor *corruptor, uint8_t *out) {
  enum { CANCEL_ROWS = 64 };
  const tutti_split *clean = shift->clean;
  size_t bytes = tutti_encoding_image_values(shift->encoding);
  for (size_t r = 0; r < clean->rows; r++) {
    if (r % CANCEL_ROWS == 0 && tutti_cancelled(context))
      return TUTTI_FAIL(context, TUTTI_ERROR_CANCELLED, "cancelled while images were corrupted");
    size_t image = clean->source_rows[r];
    size_t corruption = tutti_shift_draw(shift, image, &corruptor->random);
    TUTTI_TRY(context, tutti_corrupt(context, corruptor, corruption, shift->severity,
                                     clean->pixels.bytes + image * bytes, out + r * bytes));
  }
  return TUTTI_OK;
}

static enum tutti_status make_pixels(tutti_context *context, const struct tutti_shift *shift, uint8_t **pixels) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_corruptor *corruptor = NULL;
  TUTTI_TRY_OUT(context,
                tutti_alloc(context, shift->clean->rows, tutti_encoding_image_values(shift->encoding), pixels));
  TUTTI_TRY_OUT(context, tutti_corruptor_create(context, shift->encoding->image, &corruptor));
  tutti_log(context, TUTTI_LOG_INFO, "corrupting %zu %s images at severity %d", shift->clean->rows, shift->clean->name,
            shift->severity);
  TUTTI_TRY_OUT(context, corrupt_all(context, shift, corruptor, *pixels));
out:
  tutti_corruptor_destroy(corruptor);
  if (status != TUTTI_OK) {
    tutti_free(*pixels);
    *pixels = NULL;
  }
  return status;
}

/* --- the cache --- */

enum tutti_status tutti_cache_folder(tutti_context *context, const char *wanted, char **folder) {
  const char *home = getenv("HOME"), *caches = getenv("XDG_CACHE_HOME");
  *folder = NULL;
  if (wanted[0])
    return tutti_strdup(context, wanted, folder);
  if (caches && caches[0] == '/')
    return tutti_format(context, folder, "%s/tutti", caches);
  return home && home[0] == '/' ? tutti_format(context, folder, "%s/.cache/tutti", home) : TUTTI_OK;
}

/* A name that depends on everything the set was made from: all images and all that is done to them. */
static enum tutti_status name_set(tutti_context *context, const struct tutti_shift *shift, char **path) {
  uint64_t hash = tutti_split_hash(TUTTI_HASH_BEGIN, shift->clean);
  const int32_t how[] = {VERSION, shift->severity, shift->encoding->image.height, shift->encoding->image.width,
                         shift->encoding->image.channels};
  hash = tutti_hash(hash, how, sizeof how);
  hash = tutti_hash(hash, shift->clean->name, strlen(shift->clean->name));
  for (size_t i = 0; i < shift->count; i++) { /* by name: the number of one changes when others come before it */
    const struct tutti_corruption *corruption = tutti_corruption_at((size_t)shift->corruptions[i]);
    hash = tutti_hash(hash, corruption->name, sizeof corruption->name);
  }
  return tutti_format(context, path, "%s/shift-%016" PRIx64 ".npy", shift->cache, hash);
}

bool tutti_shift_fits(const struct tutti_shift *shift, const struct tutti_npy *array, size_t rows) {
  struct tutti_shape image = shift->encoding->image;
  bool grey = array->rank == 3 && image.channels == 1;
  return (array->element == TUTTI_U8) != shift->encoding->floats && (array->rank == 4 || grey) &&
         array->shape[0] == rows && array->shape[1] == (size_t)image.height && array->shape[2] == (size_t)image.width &&
         (grey || array->shape[3] == (size_t)image.channels);
}

/* Map a stored set. A missing or torn one is not an error: it is made again. */
static bool map_kept(tutti_context *context, const struct tutti_shift *shift, const char *path,
                     struct tutti_npy *array) {
  if (access(path, R_OK) != 0)
    return false;
  if (tutti_npy_map(context, path, array) != TUTTI_OK) {
    tutti_error_clear(context);
    return false;
  }
  if (tutti_shift_fits(shift, array, shift->clean->rows))
    return true;
  tutti_npy_unmap(array);
  return false;
}

/* Store a set under a name of this process's own, then rename it, so that others find it whole or not at all. A failure
   is not an error, since the set is in memory. */
static enum tutti_status keep(tutti_context *context, const struct tutti_shift *shift, const char *path,
                              const uint8_t *pixels) {
  struct tutti_shape image = shift->encoding->image;
  const size_t shape[4] = {shift->clean->rows, (size_t)image.height, (size_t)image.width, (size_t)image.channels};
  char *own;
  TUTTI_TRY(context, tutti_format(context, &own, "%s.%ld", path, (long)getpid()));
  enum tutti_status status = tutti_file_make_folder(context, shift->cache);
  if (status == TUTTI_OK)
    status = tutti_npy_write(context, own, TUTTI_U8, 4, shape, pixels);
  if (status == TUTTI_OK && rename(own, path) != 0)
    (void)unlink(own);
  if (status != TUTTI_OK) {
    tutti_log(context, TUTTI_LOG_WARNING, "corrupted images are not kept, and are made again each time: %s",
              tutti_error_message(context));
    tutti_error_clear(context);
  }
  tutti_free(own);
  return TUTTI_OK;
}

/* In the form of a copied array: tutti_npy_unmap frees it. */
static void own_pixels(uint8_t *pixels, struct tutti_npy *array) {
  *array = (struct tutti_npy){.element = TUTTI_U8, .data = pixels, .mapping = pixels};
}

static enum tutti_status find_or_make(tutti_context *context, const struct tutti_shift *shift,
                                      struct tutti_npy *array) {
  enum tutti_status status = TUTTI_OK;
  char *path = NULL;
  uint8_t *pixels = NULL;
  if (shift->cache) {
    TUTTI_TRY_OUT(context, name_set(context, shift, &path));
    if (map_kept(context, shift, path, array))
      goto out;
  }
  TUTTI_TRY_OUT(context, make_pixels(context, shift, &pixels));
  if (path)
    TUTTI_TRY_OUT(context, keep(context, shift, path, pixels));
  own_pixels(pixels, array);
  pixels = NULL;
out:
  tutti_free(path);
  tutti_free(pixels);
  return status;
}

/* --- ready-made sets --- */

/* Do the split's rows come from the test file? */
static bool of_test_file(const struct tutti_shift *shift) {
  return shift->test_rows > 0 && shift->clean->source_rows[0] >= shift->all - shift->test_rows;
}

/* Rows of a ready-made set: those of the split, or all test images, in which the split has its own rows. */
static enum tutti_status map_ready(tutti_context *context, const struct tutti_shift *shift, const char *path,
                                   struct tutti_npy *array, size_t *first) {
  size_t rows = shift->clean->rows;
  TUTTI_TRY(context, tutti_npy_read_users(context, path, array));
  if (tutti_shift_fits(shift, array, rows))
    return TUTTI_OK;
  if (of_test_file(shift) && tutti_shift_fits(shift, array, shift->test_rows)) {
    *first = shift->all - shift->test_rows;
    return TUTTI_OK;
  }
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "%s: expected %zu images of %d x %d x %d of %s, one for each %s row, found an array of %zu %s "
                    "and %zu %s",
                    path, rows, shift->encoding->image.height, shift->encoding->image.width,
                    shift->encoding->image.channels, shift->encoding->floats ? "float32" : "uint8", shift->clean->name,
                    array->rank, tutti_plural(array->rank, "size", "sizes"), array->count,
                    tutti_plural(array->count, "element", "elements"));
}

/* One file per corruption. These sets have only test images; validation images are corrupted here. */
static enum tutti_status take_published(tutti_context *context, const struct tutti_shift *shift,
                                        struct tutti_npy *array) {
  uint8_t *pixels;
  if (shift->test_rows == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "data.shift_path: %s has a file a corruption, each with all images of a test file, and no test "
                      "file was given; give its images in data.test_path, or make %s-%d.npy for the rows of the split",
                      shift->ready, shift->clean->name, shift->severity);
  if (!of_test_file(shift))
    return find_or_make(context, shift, array);
  TUTTI_TRY(context, tutti_shift_gather_published(context, shift, &pixels));
  own_pixels(pixels, array);
  return TUTTI_OK;
}

static enum tutti_status find_ready(tutti_context *context, const struct tutti_shift *shift, struct tutti_npy *array,
                                    size_t *first) {
  enum tutti_status status = TUTTI_OK;
  char *path = NULL;
  bool published = false;
  TUTTI_TRY_OUT(context,
                tutti_format(context, &path, "%s/%s-%d.npy", shift->ready, shift->clean->name, shift->severity));
  if (access(path, F_OK) != 0)
    TUTTI_TRY_OUT(context, tutti_shift_find_published(context, shift->ready, &published));
  TUTTI_TRY_OUT(context,
                published ? take_published(context, shift, array) : map_ready(context, shift, path, array, first));
out:
  tutti_free(path);
  return status;
}

/* --- the split --- */

/* The clean split with other pixels, found by its own row numbers, or by those of the source from `first` on. */
static enum tutti_status replace_pixels(tutti_context *context, const struct tutti_npy *array, size_t first,
                                        tutti_split *split) {
  split->pixels.bytes = array->element == TUTTI_U8 ? array->data : NULL;
  split->pixels.floats = array->element == TUTTI_F32 ? array->data : NULL;
  split->pixels.image = NULL;
  if (first == SIZE_MAX)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_alloc(context, split->rows, sizeof *split->own_image, &split->own_image));
  for (size_t r = 0; r < split->rows; r++)
    split->own_image[r] = split->source_rows[r] - (uint32_t)first;
  split->pixels.image = split->own_image;
  return TUTTI_OK;
}

enum tutti_status tutti_shift_split(tutti_context *context, const struct tutti_shift *shift, tutti_split **out) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_npy array = {0};
  tutti_split *split = NULL;
  size_t first = SIZE_MAX;
  char *name = NULL;
  *out = NULL;
  TUTTI_TRY_OUT(context, tutti_format(context, &name, "%s-%d", shift->clean->name, shift->severity));
  if (shift->clean->rows > 0)
    TUTTI_TRY_OUT(context,
                  shift->ready ? find_ready(context, shift, &array, &first) : find_or_make(context, shift, &array));
  TUTTI_TRY_OUT(context, tutti_images_resplit(context, shift->encoding, shift->clean, name, &split));
  TUTTI_TRY_OUT(context, replace_pixels(context, &array, first, split));
  split->map = array;
  array = (struct tutti_npy){0};
  *out = split;
  split = NULL;
out:
  tutti_npy_unmap(&array);
  tutti_free(name);
  tutti_split_destroy(split);
  return status;
}
