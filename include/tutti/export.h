/* export.h - a model in forms that other programs run. */
#ifndef TUTTI_EXPORT_H
#define TUTTI_EXPORT_H

#include <tutti/model.h>

TUTTI_BEGIN_DECLS

/* How a model is written. */
struct tutti_export_options {
  size_t size;       /* sizeof(struct tutti_export_options) */
  bool uncalibrated; /* without the calibrator */
  /* Of a folder. No rows of the data, where these are nobody else's business: no sample of them, and
     TUTTI_ERROR_UNSUPPORTED, before anything is written, for members whose models hold some
     (tutti_backend_keeps_rows). */
  bool without_sample;
  /* NULL, or where a text of JSON goes that says what was written, in bytes: {"path", "bytes": all of it,
     "model_bytes":
     the ONNX file, "members": [{"trial", "backend", "bytes"}, ...]}. Free it with tutti_free. */
  char **written;
};
/* Write the ensemble as the ONNX file `path`: what turns rows into inputs, the members, how they are mixed, and the
   calibrator, unless the options say that the file shall be without it; docs/export.md has its inputs and outputs. The
   file is whole or absent. TUTTI_ERROR_UNSUPPORTED names what ONNX has no counterpart of, or a plugin that cannot say
   what it computes; TUTTI_ERROR_FULL or TUTTI_ERROR_IO: it cannot be written. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_export_file(tutti_context *context, const tutti_model *model,
                                                              const struct tutti_export_options *options,
                                                              const char *path);
/* The same with no other option than one. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_export_onnx(tutti_context *context, const tutti_model *model,
                                                              bool uncalibrated, const char *path);
/* Write the same into a new or empty folder that explains itself: model.onnx, model.json with its inputs and outputs,
   data.json, README.md, and for tables sample.json, some rows of the data with the outputs that are right for them, and
   example.py, which compares. TUTTI_ERROR_USAGE: the folder has files already. Without the data the folder has no
   sample, and the log says so. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_export_folder(tutti_context *context, tutti_model *model,
                                                                const struct tutti_export_options *options,
                                                                const char *folder);

TUTTI_END_DECLS
#endif
