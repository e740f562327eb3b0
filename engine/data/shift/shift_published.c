/* shift_published.c - shifted test images from the sets that Hendrycks & Dietterich published for CIFAR (CIFAR-10-C,
   CIFAR-100-C), or others with the same layout: one .npy per corruption, with all test images at severity 1, then all
   at severity 2, and so on to 5. */
#include <string.h>
#include <unistd.h>
#include <tutti/names.h>

#include "corruption_impl.h"
#include "shift_impl.h"
#include "core/plugin/split_impl.h"

static enum tutti_status path_of(tutti_context *context, const char *folder, size_t corruption, char **path) {
  const struct tutti_corruption *entry = tutti_corruption_at(corruption);
  char file[sizeof entry->name];
  for (size_t i = 0; i < sizeof file; i++)
    file[i] = entry->name[i] == '-' ? '_' : entry->name[i];
  return tutti_format(context, path, "%s/%s.npy", folder, entry->file ? entry->file : file);
}

enum tutti_status tutti_shift_find_published(tutti_context *context, const char *folder, bool *found) {
  *found = false;
  for (size_t i = 0; tutti_corruption_at(i) && !*found; i++) {
    char *path;
    TUTTI_TRY(context, path_of(context, folder, i, &path));
    *found = access(path, F_OK) == 0;
    tutti_free(path);
  }
  return TUTTI_OK;
}

/* Copy the images whose corruption is this one; drawn[r] is that of the split's row r. */
static enum tutti_status copy_images(tutti_context *context, const struct tutti_shift *shift, size_t corruption,
                                     const size_t *drawn, uint8_t *pixels) {
  enum tutti_status status = TUTTI_OK;
  const tutti_split *clean = shift->clean;
  size_t bytes = tutti_encoding_image_values(shift->encoding), all = TUTTI_SEVERITIES * shift->test_rows;
  size_t before = shift->all - shift->test_rows;
  struct tutti_npy array = {0};
  char *path = NULL;
  TUTTI_TRY_OUT(context, path_of(context, shift->ready, corruption, &path));
  TUTTI_TRY_OUT(context, tutti_npy_read_users(context, path, &array));
  if (!tutti_shift_fits(shift, &array, all)) {
    status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                        "%s: expected %zu images of %d x %d x %d of uint8, the %zu test images at each of %d "
                        "severities, found an array of %zu %s and %zu %s",
                        path, all, shift->encoding->image.height, shift->encoding->image.width,
                        shift->encoding->image.channels, shift->test_rows, TUTTI_SEVERITIES, array.rank,
                        tutti_plural(array.rank, "size", "sizes"), array.count,
                        tutti_plural(array.count, "element", "elements"));
    goto out;
  }
  const uint8_t *severity = (const uint8_t *)array.data + (size_t)(shift->severity - 1) * shift->test_rows * bytes;
  for (size_t r = 0; r < clean->rows; r++)
    if (drawn[r] == corruption)
      memcpy(pixels + r * bytes, severity + (clean->source_rows[r] - before) * bytes, bytes);
out:
  tutti_npy_unmap(&array);
  tutti_free(path);
  return status;
}

enum tutti_status tutti_shift_gather_published(tutti_context *context, const struct tutti_shift *shift,
                                               uint8_t **pixels) {
  enum tutti_status status = TUTTI_OK;
  size_t rows = shift->clean->rows, *drawn = NULL;
  uint8_t *made = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, rows, sizeof *drawn, &drawn));
  TUTTI_TRY_OUT(context, tutti_alloc(context, rows, tutti_encoding_image_values(shift->encoding), &made));
  for (size_t r = 0; r < rows; r++) {
    struct tutti_random random;
    drawn[r] = tutti_shift_draw(shift, shift->clean->source_rows[r], &random);
  }
  for (size_t i = 0; i < shift->count; i++)
    TUTTI_TRY_OUT(context, copy_images(context, shift, (size_t)shift->corruptions[i], drawn, made));
  *pixels = made;
  made = NULL;
out:
  tutti_free(drawn);
  tutti_free(made);
  return status;
}
