/* images_cifar.c - the binary files of CIFAR-10 and CIFAR-100, maybe gzipped: records of one label byte (CIFAR-100: coarse,
   then fine) and 32 x 32 pixels of red, then green, then blue. */
#include "core/base/gz_impl.h"
#include "engine/data/images_impl.h"

enum { SIDE = 32, PIXELS = SIDE * SIDE, CHANNELS = 3, BATCH = 500 };

/* How records of a format are laid out, and which files a folder has. */
struct layout {
  size_t label_bytes, label, classes;
  const char *train[6], *test;
};

static const struct layout ten = {
    1,
    0,
    10,
    {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"},
    "test_batch.bin"};
static const struct layout fine = {2, 1, 100, {"train.bin"}, "test.bin"};
static const struct layout coarse = {2, 0, 20, {"train.bin"}, "test.bin"};

static const struct layout *layout_of(enum tutti_format format) {
  return format == TUTTI_FORMAT_CIFAR ? &ten : format == TUTTI_FORMAT_CIFAR100 ? &fine : &coarse;
}

/* Planes to pixels. */
static void interleave(const unsigned char *planes, unsigned char *pixels) {
  for (size_t p = 0; p < PIXELS; p++)
    for (size_t c = 0; c < CHANNELS; c++)
      pixels[p * CHANNELS + c] = planes[c * PIXELS + p];
}

static enum tutti_status take_record(tutti_context *context, const char *path, const struct layout *layout,
                                     const unsigned char *record, size_t number, struct tutti_images *images) {
  unsigned char label = record[layout->label];
  if (label >= layout->classes)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s: record %zu: expected a label from 0 to %zu, found %u; are these records of %zu bytes "
                      "(data.format)?",
                      path, number, layout->classes - 1, label, layout->label_bytes + PIXELS * CHANNELS);
  images->labels[images->rows] = label;
  interleave(record + layout->label_bytes, (unsigned char *)images->pixels + images->rows * PIXELS * CHANNELS);
  images->rows++;
  return TUTTI_OK;
}

static enum tutti_status read_records(tutti_context *context, const struct tutti_gz *gz, const struct layout *layout,
                                      unsigned char *records, struct tutti_images *images) {
  size_t size = layout->label_bytes + PIXELS * CHANNELS, number = 0, got;
  do {
    TUTTI_TRY(context, tutti_gz_read(context, gz, BATCH * size, records, &got));
    if (got % size != 0)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                        "%s: expected records of %zu bytes, and %zu bytes are left after %zu of them; it is torn, or "
                        "another data.format",
                        gz->path, size, got % size, number + got / size);
    /* Twice the room when it is full: files follow each other. */
    if (images->rows + got / size > images->room)
      TUTTI_TRY(context, tutti_images_reserve(context, images, images->rows + got / size));
    for (size_t i = 0; i < got / size; i++)
      TUTTI_TRY(context, take_record(context, gz->path, layout, records + i * size, number + i, images));
    number += got / size;
  } while (got == BATCH * size);
  if (number == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: expected records of %zu bytes, found an empty file", gz->path,
                      size);
  return TUTTI_OK;
}

static enum tutti_status read_file(tutti_context *context, const char *path, const struct layout *layout,
                                   struct tutti_images *images) {
  enum tutti_status status = TUTTI_OK;
  unsigned char *records = NULL;
  struct tutti_gz gz = {0};
  TUTTI_TRY_OUT(context, tutti_images_expect(context, images, path, (struct tutti_shape){SIDE, SIDE, CHANNELS}, false));
  TUTTI_TRY_OUT(context, tutti_alloc(context, BATCH, layout->label_bytes + PIXELS * CHANNELS, &records));
  TUTTI_TRY_OUT(context, tutti_gz_open(context, path, &gz));
  status = read_records(context, &gz, layout, records, images);
out:
  tutti_free(records);
  return tutti_gz_close(context, &gz, status);
}

enum tutti_status tutti_cifar_read(tutti_context *context, const char *path, enum tutti_format format, bool test,
                                   struct tutti_images *images) {
  const struct layout *layout = layout_of(format);
  for (size_t i = 0; i == 0 || (tutti_images_folder(path) && !test && layout->train[i]); i++) {
    char *file;
    TUTTI_TRY(context, tutti_images_find(context, path, test ? layout->test : layout->train[i], &file));
    enum tutti_status status = read_file(context, file, layout, images);
    tutti_free(file);
    TUTTI_TRY(context, status);
  }
  return TUTTI_OK;
}
