/* without.c - the export to ONNX in a build without protobuf-c or onnx.proto. */
#include <tutti/export.h>

static enum tutti_status refuse(tutti_context *context, const char *path) {
  return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED,
                    "%s: this Tutti was built without ONNX; install protobuf-c and ONNX (Debian: libprotobuf-c-dev "
                    "protobuf-c-compiler libonnx-dev), and configure and build it again",
                    path);
}

enum tutti_status tutti_export_onnx(tutti_context *context, const tutti_model *model, bool uncalibrated,
                                    const char *path) {
  (void)model, (void)uncalibrated;
  return refuse(context, path);
}

enum tutti_status tutti_export_file(tutti_context *context, const tutti_model *model,
                                    const struct tutti_export_options *options, const char *path) {
  (void)model, (void)options;
  return refuse(context, path);
}

enum tutti_status tutti_export_folder(tutti_context *context, tutti_model *model,
                                      const struct tutti_export_options *options, const char *folder) {
  (void)model, (void)options;
  return refuse(context, folder);
}
