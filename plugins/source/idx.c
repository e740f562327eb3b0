/* idx.c - source idx: the files of MNIST and its successors, possibly gzipped. Two zero bytes, the element type, the
   number of sizes, the sizes (big-endian, 32 bits), then the elements (here bytes). */
#include <string.h>
#include <tutti/plugin.h>

#include "plugins/shared/reading/folder.h"
#include "plugins/shared/reading/gz.h"

enum { UNSIGNED_BYTES = 8, MOST_SIZES = 4, READ_BYTES = 1 << 22, READ_LABELS = 4096 };

struct header {
  size_t rank, sizes[MOST_SIZES];
};

static enum tutti_status read_header(tutti_context *context, struct reading_gz *gz, struct header *header) {
  unsigned char bytes[4 * MOST_SIZES];
  size_t got;
  TUTTI_TRY(context, reading_gz_read(context, gz, 4, bytes, &got));
  if (got < 4 || bytes[0] || bytes[1] || bytes[3] < 1 || bytes[3] > MOST_SIZES)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s: expected an IDX file, which begins with 0 0 8 and the number of sizes; found other bytes",
                      gz->name);
  if (bytes[2] != UNSIGNED_BYTES)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s: expected an IDX file of unsigned bytes (type 8), found elements of type 0x%02x", gz->name,
                      bytes[2]);
  header->rank = bytes[3];
  TUTTI_TRY(context, reading_gz_read(context, gz, 4 * header->rank, bytes, &got));
  if (got < 4 * header->rank)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: torn: it breaks off in the header", gz->name);
  for (size_t i = 0; i < header->rank; i++)
    header->sizes[i] = (size_t)bytes[4 * i] << 24 | (size_t)bytes[4 * i + 1] << 16 | (size_t)bytes[4 * i + 2] << 8 |
                       (size_t)bytes[4 * i + 3];
  return TUTTI_OK;
}

static enum tutti_status torn(tutti_context *context, const char *path, const char *what, size_t promised,
                              size_t found) {
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: torn: the header promises %zu %s, and it breaks off after %zu",
                    path, promised, what, found);
}

static enum tutti_status expect_end(tutti_context *context, struct reading_gz *gz, size_t count, const char *what) {
  char byte;
  size_t got;
  TUTTI_TRY(context, reading_gz_read(context, gz, 1, &byte, &got));
  if (got)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: bytes follow the %zu %s that the header promises", gz->name,
                      count, what);
  return TUTTI_OK;
}

/* Memory grows as images come, and within one image: a false header cannot ask for more than the file holds. */
static enum tutti_status read_images(tutti_context *context, struct reading_gz *gz, size_t count, size_t bytes,
                                     tutti_rows *rows) {
  enum tutti_status status = TUTTI_OK;
  size_t step = bytes < READ_BYTES ? READ_BYTES / bytes : 1, room = 0, got;
  unsigned char *pixels = NULL;
  for (size_t done = 0; done < count; done += step) {
    step = step < count - done ? step : count - done;
    TUTTI_TRY_OUT(context, reading_gz_read_growing(context, gz, step * bytes, &pixels, &room, &got));
    if (got < step * bytes)
      TUTTI_TRY_OUT(context, torn(context, gz->name, "images", count, done + got / bytes));
    TUTTI_TRY_OUT(context, tutti_rows_add_images(context, rows, step, pixels, step * bytes));
  }
  TUTTI_TRY_OUT(context, expect_end(context, gz, count, "images"));
out:
  tutti_free(pixels);
  return status;
}

/* Append the images of a file, without their labels. */
static enum tutti_status add_images(tutti_context *context, const char *path, tutti_rows *rows) {
  struct reading_gz gz;
  struct header header = {0};
  TUTTI_TRY(context, reading_gz_open(context, path, &gz));
  enum tutti_status status = read_header(context, &gz, &header);
  if (status == TUTTI_OK && header.rank < 3)
    status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                        "%s: expected images [rows][height][width] or [rows][height][width][channels], found %zu "
                        "size%s; is this the file of labels?",
                        path, header.rank, header.rank > 1 ? "s" : "");
  size_t channels = header.rank == 4 ? header.sizes[3] : 1;
  struct tutti_shape shape = {(int32_t)header.sizes[1], (int32_t)header.sizes[2], (int32_t)channels};
  if (status == TUTTI_OK)
    status = tutti_rows_expect_images(context, rows, path, shape, TUTTI_U8);
  if (status == TUTTI_OK)
    status = read_images(context, &gz, header.sizes[0], header.sizes[1] * header.sizes[2] * channels, rows);
  return reading_gz_close(context, &gz, status);
}

static enum tutti_status read_labels(tutti_context *context, struct reading_gz *gz, const char *images_path,
                                     size_t count, tutti_rows *rows) {
  struct header header;
  unsigned char chunk[READ_LABELS];
  int64_t labels[READ_LABELS];
  size_t got;
  TUTTI_TRY(context, read_header(context, gz, &header));
  if (header.rank != 1)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s: expected labels [rows], found %zu %s; is this the file of images?", gz->name, header.rank,
                      tutti_plural(header.rank, "size", "sizes"));
  if (header.sizes[0] != count)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s has %zu %s, but %s has %zu %s", gz->name, header.sizes[0],
                      tutti_plural(header.sizes[0], "label", "labels"), images_path, count,
                      tutti_plural(count, "image", "images"));
  for (size_t done = 0; done < count; done += got) {
    TUTTI_TRY(context,
              reading_gz_read(context, gz, count - done < READ_LABELS ? count - done : READ_LABELS, chunk, &got));
    if (got == 0)
      return torn(context, gz->name, "labels", count, done);
    for (size_t i = 0; i < got; i++)
      labels[i] = chunk[i];
    TUTTI_TRY(context, tutti_rows_add_labels(context, rows, got, labels));
  }
  return expect_end(context, gz, count, "labels");
}

/* Append the labels of the images from `first` on. */
static enum tutti_status add_labels(tutti_context *context, const char *path, const char *images_path, size_t first,
                                    tutti_rows *rows) {
  struct reading_gz gz;
  TUTTI_TRY(context, reading_gz_open(context, path, &gz));
  enum tutti_status status = read_labels(context, &gz, images_path, tutti_rows_count(rows) - first, rows);
  return reading_gz_close(context, &gz, status);
}

/* Append the images of a file with their labels. A path may be a folder of files with the usual names; then `test`
   chooses which of them. */
static enum tutti_status add_labelled(tutti_context *context, const char *path, const char *labels, bool test,
                                      tutti_rows *rows) {
  enum tutti_status status = TUTTI_OK;
  size_t first = tutti_rows_count(rows);
  char *images_path = NULL, *labels_path = NULL;
  TUTTI_TRY_OUT(context,
                reading_find(context, path, test ? "t10k-images-idx3-ubyte" : "train-images-idx3-ubyte", &images_path));
  TUTTI_TRY_OUT(context, reading_find(context, labels ? labels : path,
                                      test ? "t10k-labels-idx1-ubyte" : "train-labels-idx1-ubyte", &labels_path));
  if (strcmp(labels_path, images_path) == 0) {
    status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "data.%starget_path: expected the IDX file with the labels of %s",
                        test ? "test_" : "", path);
    goto out;
  }
  TUTTI_TRY_OUT(context, add_images(context, images_path, rows));
  TUTTI_TRY_OUT(context, add_labels(context, labels_path, images_path, first, rows));
out:
  tutti_free(images_path);
  tutti_free(labels_path);
  return status;
}

static enum tutti_status source_read_idx(void *self, tutti_context *context, const struct tutti_source_request *request,
                                         tutti_rows *rows) {
  (void)self;
  const char *test = request->test_path ? request->test_path : request->path;
  if (request->new_rows)
    return add_images(context, request->path, rows);
  TUTTI_TRY(context, add_labelled(context, request->path, request->target_path, false, rows));
  size_t training = tutti_rows_count(rows);
  if (request->test_path || reading_is_folder(request->path))
    TUTTI_TRY(context, add_labelled(context, test, request->test_target_path, true, rows));
  tutti_rows_set_test_rows(rows, tutti_rows_count(rows) - training);
  return TUTTI_OK;
}

static const struct tutti_source_ops idx_ops = {
    .size = sizeof(struct tutti_source_ops),
    .reads = TUTTI_SOURCE_PATH | TUTTI_SOURCE_TARGET_PATH | TUTTI_SOURCE_TEST_PATH,
    .read = source_read_idx,
};

static const struct tutti_descriptor idx_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SOURCE, "idx"),
    .version = "1.0",
    .summary = "images and labels in the files of MNIST and its successors, or the folder with all four",
    .source = "LeCun, Cortes and Burges, The MNIST database of handwritten digits",
    .licence = "Apache-2.0",
    .params = TUTTI_NO_PARAMS,
    .ops = &idx_ops,
};

TUTTI_PLUGIN(idx_descriptor)
