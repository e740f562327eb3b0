/* onnx.c - a model as an ONNX file: rows, members and ensemble, put together. */
#include "onnx_impl.h"

#include <stdio.h>
#include <tutti/export.h>
#include <tutti/names.h>
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
                                     struct onnx_prediction *members) {
  const struct tutti_experiment *experiment = model->view->experiment;
  const struct tutti_encoding *encoding = experiment->dataset->encoding;
  onnx_value rows = onnx_rows(graph, encoding);
  for (size_t k = 0; k < model->count; k++) {
    TUTTI_TRY(onnx_graph_context(graph), onnx_member(graph, &model->members[k], rows, &members[k]));
    if (experiment->task.kind == TUTTI_TASK_REGRESSION)
      unscale(graph, encoding, &members[k]);
  }
  return TUTTI_OK;
}

enum tutti_status onnx_build(struct onnx_graph *graph, const struct tutti_model *model, bool uncalibrated) {
  enum tutti_status status;
  tutti_context *context = onnx_graph_context(graph);
  struct onnx_prediction *members = NULL;
  char doc[160];
  (void)snprintf(doc, sizeof doc, "An ensemble of %zu %s by Tutti %s; its docs/export.md describes inputs and outputs.",
                 model->count, tutti_plural(model->count, "model", "models"), tutti_version());
  TUTTI_TRY_OUT(context, tutti_alloc(context, model->count, sizeof *members, &members));
  TUTTI_TRY_OUT(context, add_members(graph, model, members));
  TUTTI_TRY_OUT(context, onnx_ensemble(graph, model, uncalibrated ? NULL : model->calibration.calibrator, members));
  onnx_graph_name(graph, "ensemble", doc);
  TUTTI_TRY_OUT(context, onnx_graph_status(graph));
out:
  tutti_free(members);
  return status;
}

enum tutti_status tutti_export_onnx(tutti_context *context, const tutti_model *model, bool uncalibrated,
                                    const char *path) {
  enum tutti_status status;
  struct onnx_graph *graph;
  TUTTI_TRY(context, onnx_graph_create(context, &graph));
  TUTTI_TRY_OUT(context, onnx_build(graph, model, uncalibrated));
  TUTTI_TRY_OUT(context, onnx_graph_write(graph, path));
out:
  onnx_graph_destroy(graph);
  return status;
}
