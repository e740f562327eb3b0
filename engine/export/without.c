/* without.c - the export to ONNX in a build without protobuf-c or onnx.proto. */
#include <tutti/export.h>

enum tutti_status tutti_export_onnx(tutti_context *context, const tutti_model *model, bool uncalibrated,
                                    const char *path) {
  (void)model, (void)uncalibrated;
  return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED,
                    "%s: this Tutti was built without ONNX; install protobuf-c and ONNX (Debian: libprotobuf-c-dev "
                    "protobuf-c-compiler libonnx-dev), and configure and build it again",
                    path);
}
