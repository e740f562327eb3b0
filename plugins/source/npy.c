/* npy.c - source npy: NumPy arrays. One or two dimensions are a table, three or four are images. */
#include "plugins/shared/reading/memory.h"
#include "plugins/source/npy/npy_impl.h"

static enum tutti_status read_labelled(tutti_context *context, const char *path, const char *labels, bool test,
                                       tutti_rows *rows) {
  if (!labels)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "data.%starget_path: expected the npy file with the labels of %s",
                      test ? "test_" : "", path);
  return npy_read_images(context, path, labels, rows);
}

static enum tutti_status read_new(tutti_context *context, const struct tutti_source_request *request,
                                  tutti_rows *rows) {
  bool images = request->wanted == TUTTI_ROWS_IMAGES ||
                (request->wanted == TUTTI_ROWS_ANY && npy_has_images(context, request->path));
  return images ? npy_read_images(context, request->path, NULL, rows)
                : npy_read_table(context, request->path, NULL, rows);
}

static enum tutti_status read_all(tutti_context *context, const struct tutti_source_request *request,
                                  tutti_rows *rows) {
  if (request->new_rows)
    return read_new(context, request, rows);
  if (!npy_has_images(context, request->path)) {
    if (request->test_path)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                        "data.test_path: only images have a second file; name the test rows of a table in "
                        "data.test_rows");
    return npy_read_table(context, request->path, request->target_path, rows);
  }
  TUTTI_TRY(context, read_labelled(context, request->path, request->target_path, false, rows));
  size_t training = tutti_rows_count(rows);
  if (request->test_path)
    TUTTI_TRY(context, read_labelled(context, request->test_path, request->test_target_path, true, rows));
  tutti_rows_set_test_rows(rows, tutti_rows_count(rows) - training);
  return TUTTI_OK;
}

static enum tutti_status source_read_npy(void *self, tutti_context *context, const struct tutti_source_request *request,
                                         tutti_rows *rows) {
  (void)self;
  return reading_explain_memory(context, request->path, 0, read_all(context, request, rows));
}

static const char *const endings[] = {".npy", NULL};

static const struct tutti_source_ops npy_ops = {
    .size = sizeof(struct tutti_source_ops),
    .reads = TUTTI_SOURCE_PATH | TUTTI_SOURCE_TARGET_PATH | TUTTI_SOURCE_TEST_PATH,
    .endings = endings,
    .read = source_read_npy,
};

static const struct tutti_descriptor npy_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SOURCE, "npy"),
    .version = "1.0",
    .summary = "arrays of NumPy: tables, or images with a file of labels",
    .source = "",
    .licence = "Apache-2.0",
    .params = TUTTI_NO_PARAMS,
    .ops = &npy_ops,
};

TUTTI_PLUGIN(npy_descriptor)
