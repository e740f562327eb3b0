/* records.c - reading the binary files of CIFAR-10 and CIFAR-100. */
#include "records.h"

#include "plugins/shared/reading/folder.h"
#include "plugins/shared/reading/gz.h"

enum { SIDE = 32, PIXELS = SIDE * SIDE, CHANNELS = 3, IMAGE = PIXELS * CHANNELS, BATCH = 500 };

/* Where the records of a file go. */
struct batch {
  unsigned char *records, *pixels; /* [BATCH] */
  int64_t labels[BATCH];
};

/* Turn planes into pixels. */
static void interleave(const unsigned char *planes, unsigned char *pixels) {
  for (size_t p = 0; p < PIXELS; p++)
    for (size_t c = 0; c < CHANNELS; c++)
      pixels[p * CHANNELS + c] = planes[c * PIXELS + p];
}

static enum tutti_status take_record(tutti_context *context, const char *path, const struct cifar_layout *layout,
                                     struct batch *batch, size_t index, size_t number) {
  const unsigned char *record = batch->records + index * (layout->label_bytes + IMAGE);
  unsigned char label = record[layout->label];
  if (label >= layout->classes)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s: record %zu: expected a label from 0 to %zu, found %u; are these records of %zu bytes "
                      "(data.plugin)?",
                      path, number, layout->classes - 1, label, layout->label_bytes + IMAGE);
  batch->labels[index] = label;
  interleave(record + layout->label_bytes, batch->pixels + index * IMAGE);
  return TUTTI_OK;
}

static enum tutti_status read_records(tutti_context *context, struct reading_gz *gz, const struct cifar_layout *layout,
                                      struct batch *batch, tutti_rows *rows) {
  size_t size = layout->label_bytes + IMAGE, number = 0, got;
  do {
    TUTTI_TRY(context, reading_gz_read(context, gz, BATCH * size, batch->records, &got));
    size_t count = got / size;
    if (got % size != 0)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                        "%s: expected records of %zu bytes, and %zu bytes are left after %zu of them; it is torn, or "
                        "another data.plugin",
                        gz->name, size, got % size, number + count);
    for (size_t i = 0; i < count; i++)
      TUTTI_TRY(context, take_record(context, gz->name, layout, batch, i, number + i));
    TUTTI_TRY(context, tutti_rows_add_images(context, rows, count, batch->pixels, count * IMAGE));
    TUTTI_TRY(context, tutti_rows_add_labels(context, rows, count, batch->labels));
    number += count;
  } while (got == BATCH * size);
  if (number == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: expected records of %zu bytes, found an empty file", gz->name,
                      size);
  return TUTTI_OK;
}

static enum tutti_status read_file(tutti_context *context, const char *path, const struct cifar_layout *layout,
                                   tutti_rows *rows) {
  enum tutti_status status = TUTTI_OK;
  struct batch batch = {0};
  struct reading_gz gz;
  TUTTI_TRY_OUT(context, reading_gz_open(context, path, &gz));
  TUTTI_TRY_OUT(context,
                tutti_rows_expect_images(context, rows, path, (struct tutti_shape){SIDE, SIDE, CHANNELS}, TUTTI_U8));
  TUTTI_TRY_OUT(context, tutti_alloc(context, BATCH, layout->label_bytes + IMAGE, &batch.records));
  TUTTI_TRY_OUT(context, tutti_alloc(context, BATCH, IMAGE, &batch.pixels));
  status = read_records(context, &gz, layout, &batch, rows);
out:
  tutti_free(batch.records);
  tutti_free(batch.pixels);
  return reading_gz_close(context, &gz, status);
}

/* Read one file. If the path is a folder, read its training files or its test file. */
static enum tutti_status read_files(tutti_context *context, const char *path, const struct cifar_layout *layout,
                                    bool test, tutti_rows *rows) {
  for (size_t i = 0; i == 0 || (reading_is_folder(path) && !test && layout->train[i]); i++) {
    char *file;
    TUTTI_TRY(context, reading_find(context, path, test ? layout->test : layout->train[i], &file));
    enum tutti_status status = read_file(context, file, layout, rows);
    tutti_free(file);
    TUTTI_TRY(context, status);
  }
  return TUTTI_OK;
}

enum tutti_status cifar_read(tutti_context *context, const struct cifar_layout *layout,
                             const struct tutti_source_request *request, tutti_rows *rows) {
  if (request->target_path || request->test_target_path)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "data.%starget_path: the labels of cifar stand before the pixels; leave it out",
                      request->target_path ? "" : "test_");
  if (request->new_rows)
    return read_files(context, request->path, layout, true, rows);
  TUTTI_TRY(context, read_files(context, request->path, layout, false, rows));
  size_t training = tutti_rows_count(rows);
  if (request->test_path || reading_is_folder(request->path))
    TUTTI_TRY(context,
              read_files(context, request->test_path ? request->test_path : request->path, layout, true, rows));
  tutti_rows_set_test_rows(rows, tutti_rows_count(rows) - training);
  return TUTTI_OK;
}
