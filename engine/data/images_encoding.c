/* images_encoding.c - images as the inputs of networks: classes, the scale of each channel, splits that borrow
   pixels. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "images_impl.h"
#include "core/plugin/split_impl.h"
#include "core/base/text_impl.h"

static bool has_floats(const tutti_rows *images) { return tutti_rows_element(images) == TUTTI_F32; }

/* --- classes --- */

static int by_value(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

/* The labels that occur, sorted, into distinct[rows]. */
static size_t find_distinct(const tutti_rows *images, int64_t *distinct) {
  size_t count = 0;
  memcpy(distinct, tutti_rows_labels(images), tutti_rows_count(images) * sizeof *distinct);
  qsort(distinct, tutti_rows_count(images), sizeof *distinct, by_value);
  for (size_t r = 0; r < tutti_rows_count(images); r++)
    if (count == 0 || distinct[count - 1] != distinct[r])
      distinct[count++] = distinct[r];
  return count;
}

static enum tutti_status take_classes(tutti_context *context, const tutti_rows *images, int32_t *labels,
                                      struct tutti_data_column *column) {
  enum tutti_status status = TUTTI_OK;
  int64_t *distinct = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, tutti_rows_count(images), sizeof *distinct, &distinct));
  size_t classes = find_distinct(images, distinct);
  if (classes < 2 || classes > TUTTI_MAX_CATEGORIES) {
    status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: expected labels of 2 to %d classes, found %zu",
                        tutti_rows_origin(images), TUTTI_MAX_CATEGORIES, classes);
    goto out;
  }
  for (size_t c = 0; c < classes; c++) {
    char name[TUTTI_NUMBER_SIZE];
    tutti_number_print((double)distinct[c], name);
    TUTTI_TRY_OUT(context, tutti_category_add(context, column, name));
  }
  for (size_t r = 0; r < tutti_rows_count(images); r++) {
    const int64_t *found = bsearch(&tutti_rows_labels(images)[r], distinct, classes, sizeof *distinct, by_value);
    labels[r] = (int32_t)(found - distinct);
  }
out:
  tutti_free(distinct);
  return status;
}

/* --- the encoding --- */

/* Images have no columns, so naming one is a mistake. */
static enum tutti_status check_config(tutti_context *context, const struct tutti_data_config *config) {
  const struct {
    const char *name, *value;
  } columns[] = {{"target", config->target}, {"ignore", config->ignore}, {"categorical", config->categorical}};
  for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
    if (columns[i].value[0])
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "data.%s: images have no columns; leave it out", columns[i].name);
  if (config->task == TUTTI_TASK_AS_REGRESSION)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "data.task: images are classified; regression on them is not there");
  if (config->scaling != TUTTI_SCALING_STANDARD || config->bins > 0)
    return TUTTI_FAIL(
        context, TUTTI_ERROR_USAGE,
        "data.%s: of the columns of tables alone, and pixels have pixel_mean and pixel_deviation; leave it "
        "out",
        config->bins > 0 ? "bins" : "scaling");
  return TUTTI_OK;
}

static enum tutti_status count_channels(tutti_context *context, const struct tutti_data_config *config,
                                        const tutti_rows *images, size_t *channels) {
  *channels = config->channels ? (size_t)config->channels : (size_t)tutti_rows_shape(images).channels;
  if (*channels == (size_t)tutti_rows_shape(images).channels || tutti_rows_shape(images).channels == 1)
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "data.channels: only grey images can be repeated, and those of %s have %d channels; leave it at 0",
                    tutti_rows_origin(images), tutti_rows_shape(images).channels);
}

enum tutti_status tutti_images_encode(tutti_context *context, const struct tutti_data_config *config,
                                      const tutti_rows *images, int32_t *labels, struct tutti_encoding **out) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_encoding *encoding = NULL;
  *out = NULL;
  TUTTI_TRY_OUT(context, check_config(context, config));
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *encoding, &encoding));
  encoding->image = tutti_rows_shape(images);
  encoding->floats = has_floats(images);
  encoding->task = TUTTI_TASK_CLASSIFICATION;
  encoding->targets = encoding->source_columns = 1; /* the label */
  TUTTI_TRY_OUT(context, count_channels(context, config, images, &encoding->features));
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *encoding->target, &encoding->target));
  TUTTI_TRY_OUT(context, tutti_strdup(context, "label", &encoding->target[0].name));
  TUTTI_TRY_OUT(context, take_classes(context, images, labels, &encoding->target[0]));
  TUTTI_TRY_OUT(context, tutti_encoding_name_channels(context, encoding));
  *out = encoding;
  encoding = NULL;
out:
  tutti_encoding_destroy(encoding);
  return status;
}

/* --- channels --- */

/* The value in the files of a pixel of brightness 1: bytes go from 0 to 255. */
static double full_scale(const tutti_rows *images) { return has_floats(images) ? 1 : 255; }

/* Pixels of either kind. */
struct pixels {
  const uint8_t *bytes; /* or */
  const float *floats;
  size_t channels, values; /* of an image */
};

static struct pixels pixels_of(const tutti_rows *images) {
  struct tutti_shape shape = tutti_rows_shape(images);
  const void *all = tutti_rows_pixels(images);
  size_t channels = (size_t)shape.channels, values = (size_t)shape.height * (size_t)shape.width * channels;
  bool floats = has_floats(images);
  return (struct pixels){floats ? NULL : all, floats ? all : NULL, channels, values};
}

static double pixel_at(const struct pixels *pixels, size_t index) {
  return pixels->floats ? (double)pixels->floats[index] : pixels->bytes[index];
}

/* Mean and standard deviation of a channel over the given rows, in two passes. */
static void measure_channel(const struct pixels *pixels, size_t channel, size_t count, const uint32_t *rows,
                            double *mean, double *deviation) {
  size_t channels = pixels->channels, values = pixels->values;
  size_t each = values / channels;
  double n = (double)count * (double)each, sum = 0, squares = 0;
  for (size_t i = 0; i < count; i++)
    for (size_t v = channel; v < values; v += channels)
      sum += pixel_at(pixels, rows[i] * values + v);
  *mean = sum / n;
  for (size_t i = 0; i < count; i++)
    for (size_t v = channel; v < values; v += channels) {
      double offset = pixel_at(pixels, rows[i] * values + v) - *mean;
      squares += offset * offset;
    }
  *deviation = squares > 0 ? sqrt(squares / n) : 1;
}

/* One number for all channels, or one for each. */
static enum tutti_status check_given(tutti_context *context, const char *name, const struct tutti_reals *given,
                                     size_t channels) {
  if (given->count == 0 || given->count == 1 || given->count == channels)
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "data.%s: expected 1 number or one for each of %zu channels, found %zu",
                    name, channels, given->count);
}

static double given_at(const struct tutti_reals *given, size_t channel) {
  return given->values[given->count > 1 ? channel : 0];
}

enum tutti_status tutti_images_measure(tutti_context *context, const struct tutti_data_config *config,
                                       const tutti_rows *images, size_t count, const uint32_t *rows,
                                       struct tutti_encoding *encoding) {
  const struct tutti_reals *mean = &config->pixel_mean, *deviation = &config->pixel_deviation;
  struct pixels pixels = pixels_of(images);
  size_t channels = encoding->features, stored = pixels.channels;
  double full = full_scale(images);
  TUTTI_TRY(context, check_given(context, "pixel_mean", mean, channels));
  TUTTI_TRY(context, check_given(context, "pixel_deviation", deviation, channels));
  for (size_t c = 0; c < channels; c++) {
    double measured_mean = 0, measured_deviation = full;
    if (config->standardise && (mean->count == 0 || deviation->count == 0))
      measure_channel(&pixels, c < stored ? c : 0, count, rows, &measured_mean, &measured_deviation);
    encoding->shift[c] = mean->count ? full * given_at(mean, c) : measured_mean;
    encoding->scale[c] = deviation->count ? full * given_at(deviation, c) : measured_deviation;
  }
  return TUTTI_OK;
}

/* --- splits --- */

/* What pixels become. */
static enum tutti_status set_scale(tutti_context *context, const struct tutti_encoding *encoding,
                                   struct tutti_pixels *pixels) {
  size_t channels = encoding->features;
  pixels->stored = encoding->image;
  TUTTI_TRY(context, tutti_alloc(context, channels, sizeof(float), &pixels->black));
  TUTTI_TRY(context, tutti_alloc(context, channels, sizeof(float), &pixels->factor));
  for (size_t c = 0; c < channels; c++) {
    pixels->factor[c] = (float)(1 / encoding->scale[c]);
    pixels->black[c] = (float)(-encoding->shift[c] / encoding->scale[c]);
  }
  if (encoding->floats)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_alloc(context, channels, 256 * sizeof(float), &pixels->table));
  for (size_t c = 0; c < channels; c++)
    for (size_t byte = 0; byte < 256; byte++)
      pixels->table[c * 256 + byte] = (float)(((double)byte - encoding->shift[c]) / encoding->scale[c]);
  return TUTTI_OK;
}

/* A split of these rows without labels or pixels. */
static enum tutti_status begin_split(tutti_context *context, const struct tutti_encoding *encoding, const char *name,
                                     size_t count, const uint32_t *rows, tutti_split **out) {
  enum tutti_status status = TUTTI_OK;
  tutti_split *split = NULL;
  *out = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *split, &split));
  split->rows = count;
  split->outputs = tutti_encoding_outputs(encoding);
  split->input = encoding->image;
  split->input.channels = (int32_t)encoding->features;
  TUTTI_TRY_OUT(context, tutti_strdup(context, name, &split->name));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *rows, &split->source_rows));
  if (count)
    memcpy(split->source_rows, rows, count * sizeof *rows);
  TUTTI_TRY_OUT(context, set_scale(context, encoding, &split->pixels));
  *out = split;
  split = NULL;
out:
  tutti_split_destroy(split);
  return status;
}

enum tutti_status tutti_images_split(tutti_context *context, const struct tutti_encoding *encoding,
                                     const tutti_rows *images, const char *name, size_t count, const uint32_t *rows,
                                     const int32_t *labels, tutti_split **out) {
  enum tutti_status status = TUTTI_OK;
  tutti_split *split = NULL;
  *out = NULL;
  TUTTI_TRY_OUT(context, begin_split(context, encoding, name, count, rows, &split));
  split->pixels.bytes = pixels_of(images).bytes;
  split->pixels.floats = pixels_of(images).floats;
  split->pixels.image = split->source_rows;
  if (labels)
    TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *labels, &split->labels));
  for (size_t r = 0; labels && r < count; r++)
    split->labels[r] = labels[rows[r]];
  *out = split;
  split = NULL;
out:
  tutti_split_destroy(split);
  return status;
}

enum tutti_status tutti_images_resplit(tutti_context *context, const struct tutti_encoding *encoding,
                                       const tutti_split *clean, const char *name, tutti_split **out) {
  enum tutti_status status = TUTTI_OK;
  tutti_split *split = NULL;
  size_t bytes = clean->rows * sizeof *clean->labels;
  *out = NULL;
  TUTTI_TRY_OUT(context, begin_split(context, encoding, name, clean->rows, clean->source_rows, &split));
  TUTTI_TRY_OUT(context, tutti_alloc(context, bytes, 1, &split->labels));
  if (bytes)
    memcpy(split->labels, clean->labels, bytes);
  *out = split;
  split = NULL;
out:
  tutti_split_destroy(split);
  return status;
}

/* --- new images --- */

/* Class numbers of the labels of new images. */
static enum tutti_status known_labels(tutti_context *context, const struct tutti_encoding *encoding,
                                      const tutti_rows *images, int32_t *labels) {
  const struct tutti_data_column *column = &encoding->target[0];
  for (size_t r = 0; r < tutti_rows_count(images); r++) {
    char name[TUTTI_NUMBER_SIZE];
    tutti_number_print((double)tutti_rows_labels(images)[r], name);
    size_t class = tutti_category_find(column, name);
    if (class == SIZE_MAX)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: image %zu: label %s is none of the %zu known classes",
                        tutti_rows_origin(images), r, name, column->categories);
    labels[r] = (int32_t) class;
  }
  return TUTTI_OK;
}

static void destroy_images(void *images) { tutti_rows_destroy(images); }

enum tutti_status tutti_images_encode_new(tutti_context *context, const struct tutti_encoding *encoding,
                                          const tutti_rows *images, const char *name, bool with_labels,
                                          tutti_split **split) {
  enum tutti_status status = TUTTI_OK;
  uint32_t *rows = NULL;
  int32_t *labels = NULL;
  struct tutti_shape want = encoding->image, have = tutti_rows_shape(images);
  *split = NULL;
  if (want.height != have.height || want.width != have.width || want.channels != have.channels ||
      has_floats(images) != encoding->floats)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s: expected images of %d x %d x %d as in the training data, of %s; found %d x %d x %d of %s",
                      tutti_rows_origin(images), want.height, want.width, want.channels,
                      encoding->floats ? "floats" : "uint8", have.height, have.width, have.channels,
                      has_floats(images) ? "floats" : "uint8");
  TUTTI_TRY_OUT(context, tutti_alloc(context, tutti_rows_count(images), sizeof *rows, &rows));
  TUTTI_TRY_OUT(context, tutti_alloc(context, tutti_rows_count(images), sizeof *labels, &labels));
  for (size_t r = 0; r < tutti_rows_count(images); r++)
    rows[r] = (uint32_t)r;
  with_labels = with_labels && tutti_rows_labels(images);
  if (with_labels)
    TUTTI_TRY_OUT(context, known_labels(context, encoding, images, labels));
  TUTTI_TRY_OUT(context, tutti_images_split(context, encoding, images, name, tutti_rows_count(images), rows,
                                            with_labels ? labels : NULL, split));
out:
  tutti_free(rows);
  tutti_free(labels);
  return status;
}

enum tutti_status tutti_images_take(tutti_context *context, const struct tutti_encoding *encoding, tutti_rows *images,
                                    const char *name, bool labels, tutti_split **split) {
  TUTTI_TRY(context, tutti_images_encode_new(context, encoding, images, name, labels, split));
  (*split)->owned = images;
  (*split)->owned_destroy = destroy_images;
  return TUTTI_OK;
}

enum tutti_status tutti_images_apply(tutti_context *context, const struct tutti_encoding *encoding, const char *path,
                                     const char *name, bool labels, tutti_split **split) {
  enum tutti_status status = TUTTI_OK;
  tutti_rows *images = NULL;
  *split = NULL;
  TUTTI_TRY_OUT(context, tutti_read_new(context, &encoding->origin, path, false, NULL, TUTTI_ROWS_IMAGES, &images));
  TUTTI_TRY_OUT(context, tutti_images_take(context, encoding, images, name, labels, split));
  images = NULL;
out:
  tutti_rows_destroy(images);
  return status;
}
