/* onnx.c - a model as an ONNX file: rows, members and ensemble, put together. */
#include "onnx_impl.h"

#include "core/base/json_impl.h"

#include <stdio.h>
#include <tutti/export.h>
#include <tutti/names.h>
#include <tutti/sized.h>
#include <tutti/version.h>

/* From standardised targets to their unit, counted from their origins. */
static void unscale(struct onnx_graph *graph, const struct tutti_encoding *encoding, struct onnx_prediction *member) {
  const int64_t outputs = (int64_t)encoding->targets;
  onnx_value scale = onnx_doubles(graph, 1, &outputs, encoding->target_scale);
  onnx_value shift = onnx_doubles(graph, 1, &outputs, encoding->target_shift);
  onnx_value squared = ONNX(graph, "Mul", scale, scale);
  member->mean = ONNX(graph, "Add", ONNX(graph, "Mul", member->mean, scale), shift);
  if (member->variance)
    member->variance = ONNX(graph, "Mul", member->variance, squared);
  if (member->own)
    member->own = ONNX(graph, "Mul", member->own, squared);
}

static enum tutti_status add_members(struct onnx_graph *graph, const struct tutti_model *model,
                                     struct onnx_prediction *members, uint64_t *sizes) {
  const struct tutti_experiment *experiment = model->view->experiment;
  const struct tutti_encoding *encoding = experiment->dataset->encoding;
  onnx_value rows = onnx_rows(graph, encoding);
  uint64_t before = onnx_graph_bytes(graph);
  for (size_t k = 0; k < model->count; k++) {
    TUTTI_TRY(onnx_graph_context(graph), onnx_member(graph, &model->members[k], rows, &members[k]));
    if (experiment->task.kind == TUTTI_TASK_REGRESSION)
      unscale(graph, encoding, &members[k]);
    sizes[k] = onnx_graph_bytes(graph) - before;
    before += sizes[k];
  }
  return TUTTI_OK;
}

enum tutti_status onnx_build(struct onnx_graph *graph, const struct tutti_model *model, bool uncalibrated,
                             uint64_t *sizes) {
  enum tutti_status status;
  tutti_context *context = onnx_graph_context(graph);
  struct onnx_prediction *members = NULL;
  char doc[160];
  (void)snprintf(doc, sizeof doc, "An ensemble of %zu %s by Tutti %s; its docs/export.md describes inputs and outputs.",
                 model->count, tutti_plural(model->count, "model", "models"), tutti_version());
  TUTTI_TRY_OUT(context, tutti_alloc(context, model->count, sizeof *members, &members));
  TUTTI_TRY_OUT(context, add_members(graph, model, members, sizes));
  TUTTI_TRY_OUT(context, onnx_ensemble(graph, model, uncalibrated ? NULL : model->calibration.calibrator, members));
  onnx_graph_name(graph, "ensemble", doc);
  TUTTI_TRY_OUT(context, onnx_graph_status(graph));
out:
  tutti_free(members);
  return status;
}

enum tutti_status onnx_written(tutti_context *context, const struct tutti_model *model, const char *path, uint64_t all,
                               uint64_t bytes, const uint64_t *sizes, char **text) {
  json_t *members = json_array();
  for (size_t k = 0; k < model->count; k++)
    (void)json_array_append_new(members, json_pack("{s:I, s:s, s:I}", "trial", (json_int_t)model->members[k].trial,
                                                   "backend", tutti_backend_descriptor(model->members[k].learner)->name,
                                                   "bytes", (json_int_t)sizes[k]));
  return tutti_json_document(context,
                             json_pack("{s:s, s:I, s:I, s:o}", "path", path, "bytes", (json_int_t)all, "model_bytes",
                                       (json_int_t)bytes, "members", members),
                             text);
}

enum tutti_status tutti_export_file(tutti_context *context, const tutti_model *model,
                                    const struct tutti_export_options *theirs, const char *path) {
  enum tutti_status status;
  struct tutti_export_options options;
  struct onnx_graph *graph = NULL;
  uint64_t bytes, *sizes = NULL;
  TUTTI_TAKE(&options, theirs);
  TUTTI_TRY_OUT(context, tutti_alloc(context, model->count, sizeof *sizes, &sizes));
  TUTTI_TRY_OUT(context, onnx_graph_create(context, &graph));
  TUTTI_TRY_OUT(context, onnx_build(graph, model, options.uncalibrated, sizes));
  TUTTI_TRY_OUT(context, onnx_graph_write(graph, path, &bytes));
  if (options.written)
    TUTTI_TRY_OUT(context, onnx_written(context, model, path, bytes, bytes, sizes, options.written));
out:
  onnx_graph_destroy(graph);
  tutti_free(sizes);
  return status;
}

enum tutti_status tutti_export_onnx(tutti_context *context, const tutti_model *model, bool uncalibrated,
                                    const char *path) {
  const struct tutti_export_options options = {.size = sizeof options, .uncalibrated = uncalibrated};
  return tutti_export_file(context, model, &options, path);
}
