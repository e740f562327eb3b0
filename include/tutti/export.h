/* export.h - a model in forms that other programs run. */
#ifndef TUTTI_EXPORT_H
#define TUTTI_EXPORT_H

#include <tutti/model.h>

TUTTI_BEGIN_DECLS

/* Write the ensemble as the ONNX file `path`: what turns rows into inputs, the members with their weights, and how they
   are mixed; docs/export.md has its inputs and outputs. An ensemble with a calibrator is refused, unless `uncalibrated`
   says that the file shall be without it. The file is whole or absent. TUTTI_ERROR_UNSUPPORTED names what ONNX, or the
   export, has no counterpart of; TUTTI_ERROR_FULL or TUTTI_ERROR_IO: it cannot be written. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_export_onnx(tutti_context *context, const tutti_model *model,
                                                              bool uncalibrated, const char *path);

TUTTI_END_DECLS
#endif
