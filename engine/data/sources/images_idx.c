/* images_idx.c - the IDX files of MNIST and its successors, maybe gzipped: two zero bytes, the element type, the number of
   sizes, the sizes (big-endian, 32 bits), then the elements, bytes here. */
#include <string.h>

#include "core/base/gz_impl.h"
#include "engine/data/images_impl.h"

enum { UNSIGNED_BYTES = 8, MOST_SIZES = 4, READ_AHEAD = 4096 };

struct header {
  size_t rank, sizes[MOST_SIZES];
};

static enum tutti_status read_header(tutti_context *context, const struct tutti_gz *gz, struct header *header) {
  unsigned char bytes[4 * MOST_SIZES];
  size_t got;
  TUTTI_TRY(context, tutti_gz_read(context, gz, 4, bytes, &got));
  if (got < 4 || bytes[0] || bytes[1] || bytes[3] < 1 || bytes[3] > MOST_SIZES)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s: expected an IDX file, which begins with 0 0 8 and the number of sizes; found other bytes",
                      gz->path);
  if (bytes[2] != UNSIGNED_BYTES)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s: expected an IDX file of unsigned bytes (type 8), found elements of type 0x%02x", gz->path,
                      bytes[2]);
  header->rank = bytes[3];
  TUTTI_TRY(context, tutti_gz_read(context, gz, 4 * header->rank, bytes, &got));
  if (got < 4 * header->rank)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: torn: it breaks off in the header", gz->path);
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

static enum tutti_status expect_end(tutti_context *context, const struct tutti_gz *gz, size_t count, const char *what) {
  char byte;
  size_t got;
  TUTTI_TRY(context, tutti_gz_read(context, gz, 1, &byte, &got));
  if (got)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: bytes follow the %zu %s that the header promises", gz->path,
                      count, what);
  return TUTTI_OK;
}

/* Memory is asked for as images come, so that a torn header cannot ask for more than there is. */
static enum tutti_status read_images(tutti_context *context, const struct tutti_gz *gz, size_t count,
                                     struct tutti_images *images) {
  size_t bytes = tutti_images_bytes(images), got;
  for (size_t done = 0; done < count;) {
    size_t step = done + READ_AHEAD;
    step = step < count - done ? step : count - done;
    TUTTI_TRY(context, tutti_images_reserve(context, images, step));
    TUTTI_TRY(context, tutti_gz_read(context, gz, step * bytes, (char *)images->pixels + images->rows * bytes, &got));
    if (got < step * bytes)
      return torn(context, gz->path, "images", count, done + got / bytes);
    images->rows += step;
    done += step;
  }
  return expect_end(context, gz, count, "images");
}

enum tutti_status tutti_idx_images(tutti_context *context, const char *path, struct tutti_images *images) {
  struct tutti_gz gz;
  struct header header;
  TUTTI_TRY(context, tutti_gz_open(context, path, &gz));
  enum tutti_status status = read_header(context, &gz, &header);
  if (status == TUTTI_OK && header.rank < 3)
    status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                        "%s: expected images [rows][height][width] or [rows][height][width][channels], found %zu "
                        "size%s; is this the file of labels?",
                        path, header.rank, header.rank > 1 ? "s" : "");
  if (status == TUTTI_OK) {
    size_t channels = header.rank == 4 ? header.sizes[3] : 1;
    struct tutti_shape shape = {(int32_t)header.sizes[1], (int32_t)header.sizes[2], (int32_t)channels};
    status = tutti_images_expect(context, images, path, shape, false);
  }
  if (status == TUTTI_OK)
    status = read_images(context, &gz, header.sizes[0], images);
  return tutti_gz_close(context, &gz, status);
}

static enum tutti_status read_labels(tutti_context *context, const struct tutti_gz *gz, const char *images_path,
                                     size_t count, int64_t *labels) {
  struct header header;
  unsigned char chunk[READ_AHEAD];
  size_t got;
  TUTTI_TRY(context, read_header(context, gz, &header));
  if (header.rank != 1)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s: expected labels [rows], found %zu sizes; is this the file of images?", gz->path,
                      header.rank);
  if (header.sizes[0] != count)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s has %zu labels, but %s has %zu images", gz->path, header.sizes[0],
                      images_path, count);
  for (size_t done = 0; done < count; done += got) {
    TUTTI_TRY(context, tutti_gz_read(context, gz, count - done < READ_AHEAD ? count - done : READ_AHEAD, chunk, &got));
    if (got == 0)
      return torn(context, gz->path, "labels", count, done);
    for (size_t i = 0; i < got; i++)
      labels[done + i] = chunk[i];
  }
  return expect_end(context, gz, count, "labels");
}

static enum tutti_status open_labels(tutti_context *context, const char *path, const char *images_path, size_t first,
                                     struct tutti_images *images) {
  struct tutti_gz gz;
  TUTTI_TRY(context, tutti_gz_open(context, path, &gz));
  enum tutti_status status = read_labels(context, &gz, images_path, images->rows - first, images->labels + first);
  return tutti_gz_close(context, &gz, status);
}

enum tutti_status tutti_idx_read(tutti_context *context, const char *path, const char *labels, bool test,
                                 struct tutti_images *images) {
  enum tutti_status status = TUTTI_OK;
  size_t first = images->rows;
  char *images_path = NULL, *labels_path = NULL;
  TUTTI_TRY_OUT(context, tutti_images_find(context, path, test ? "t10k-images-idx3-ubyte" : "train-images-idx3-ubyte",
                                           &images_path));
  TUTTI_TRY_OUT(context, tutti_images_find(context, labels ? labels : path,
                                           test ? "t10k-labels-idx1-ubyte" : "train-labels-idx1-ubyte", &labels_path));
  if (strcmp(labels_path, images_path) == 0) {
    status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "data.%starget_path: expected the IDX file with the labels of %s",
                        test ? "test_" : "", path);
    goto out;
  }
  TUTTI_TRY_OUT(context, tutti_idx_images(context, images_path, images));
  TUTTI_TRY_OUT(context, open_labels(context, labels_path, images_path, first, images));
out:
  tutti_free(images_path);
  tutti_free(labels_path);
  return status;
}
