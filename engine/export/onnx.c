/* onnx.c - a model as an ONNX file: rows, members and ensemble, put together. */
#include "onnx_impl.h"
#include "engine/run/trial_folds_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <tutti/export.h>
#include <tutti/version.h>

static enum tutti_status refuse(tutti_context *context, uint64_t trial, const char *what) {
  return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "trial %" PRIu64 ": %s", trial, what);
}

/* Does a member predict by more than one pass through its network? It then tells an epistemic part that its head does
   not, or a parameter of its backend says so. */
static enum tutti_status predicts_by_draws(tutti_context *context, const struct tutti_model *model, size_t k,
                                           bool *draws) {
  static const char key[] = "prediction_draws";
  const struct tutti_member *member = &model->members[k];
  const struct tutti_params *params = tutti_config_params(member->config);
  const struct tutti_layer *head = tutti_network_layer(member->network, tutti_network_layers(member->network) - 1);
  bool has = false;
  char *text;
  *draws = tutti_backend_tells_epistemic(member->learner, &member->job) && head->op != TUTTI_OP_HEAD_NOMU;
  for (size_t i = 0; i < params->count; i++)
    has = has || strcmp(tutti_params_at(params, i)->name, key) == 0;
  if (!has)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_config_get(context, member->config, key, &text));
  *draws = *draws || strcmp(text, "0") != 0;
  tutti_free(text);
  return TUTTI_OK;
}

/* Refuse what a graph of its layers would not predict as the member does. */
static enum tutti_status check_member(tutti_context *context, const struct tutti_model *model, size_t k) {
  const struct tutti_member *member = &model->members[k];
  if (!member->network)
    return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED,
                      "trial %" PRIu64
                      ": backend %s makes no networks, and only networks can be exported yet; select an "
                      "ensemble of networks, or predict with tutti",
                      model->trials[k], tutti_backend_descriptor(member->learner)->name);
  bool draws;
  if (tutti_folds_count(member->weights))
    return refuse(context, model->trials[k],
                  "it has a model for each fold (data.folds), and only single networks can be exported yet");
  TUTTI_TRY(context, predicts_by_draws(context, model, k, &draws));
  if (draws)
    return refuse(context, model->trials[k],
                  "it predicts by draws of dropout (prediction_draws), which ONNX cannot repeat; select an ensemble of "
                  "members without draws");
  return TUTTI_OK;
}

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
  tutti_context *context = onnx_graph_context(graph);
  const struct tutti_experiment *experiment = model->view->experiment;
  const struct tutti_encoding *encoding = experiment->dataset->encoding;
  onnx_value rows = onnx_rows(graph, encoding);
  for (size_t k = 0; k < model->count; k++) {
    const struct tutti_member *member = &model->members[k];
    TUTTI_TRY(context, check_member(context, model, k));
    members[k] = onnx_network(graph, member->network, member->weights, member->job.task, rows);
    if (experiment->task.kind == TUTTI_TASK_REGRESSION)
      unscale(graph, encoding, &members[k]);
  }
  return TUTTI_OK;
}

enum tutti_status tutti_export_onnx(tutti_context *context, const tutti_model *model, bool uncalibrated,
                                    const char *path) {
  enum tutti_status status;
  struct onnx_graph *graph = NULL;
  struct onnx_prediction *members = NULL;
  char doc[160];
  if (model->calibration.calibrator && !uncalibrated)
    return TUTTI_FAIL(
        context, TUTTI_ERROR_UNSUPPORTED,
        "the ensemble has the calibrator %s, which cannot be exported yet; with --uncalibrated, the model "
        "gives what tutti predict --uncalibrated does",
        tutti_calibrator_descriptor(model->calibration.calibrator)->name);
  (void)snprintf(doc, sizeof doc,
                 "An ensemble of %zu networks by Tutti %s; its docs/export.md describes inputs and outputs.",
                 model->count, tutti_version());
  TUTTI_TRY_OUT(context, onnx_graph_create(context, &graph));
  TUTTI_TRY_OUT(context, tutti_alloc(context, model->count, sizeof *members, &members));
  TUTTI_TRY_OUT(context, add_members(graph, model, members));
  onnx_ensemble(graph, model, members);
  TUTTI_TRY_OUT(context, onnx_graph_write(graph, "ensemble", doc, path));
out:
  tutti_free(members);
  onnx_graph_destroy(graph);
  return status;
}
