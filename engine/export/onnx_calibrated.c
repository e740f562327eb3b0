/* onnx_calibrated.c - a calibrator in the graph: the formula that it writes down. */
#include "onnx_impl.h"

/* Another term than before, for each row of x. */
static onnx_value replaced(struct onnx_graph *graph, const tutti_formula *formula, const onnx_value *values,
                           tutti_term term, onnx_value before, onnx_value x) {
  if (term == TUTTI_NO_TERM)
    return before;
  return tutti_formula_at(formula, term)->rows == 1 ? onnx_of_each(graph, values[term], x) : values[term];
}

static enum tutti_status add(struct onnx_graph *graph, tutti_calibrator *calibrator, size_t outputs, double level,
                             struct onnx_combined *combined) {
  enum tutti_status status;
  tutti_context *context = onnx_graph_context(graph);
  struct tutti_combined_terms terms = {.size = sizeof terms,
                                       .mean = TUTTI_NO_TERM,
                                       .aleatoric = TUTTI_NO_TERM,
                                       .epistemic = TUTTI_NO_TERM,
                                       .level = level,
                                       .lower = TUTTI_NO_TERM,
                                       .upper = TUTTI_NO_TERM};
  const onnx_value inputs[3] = {combined->mean, combined->aleatoric, combined->epistemic};
  tutti_formula *formula = NULL;
  onnx_value *values = NULL;
  TUTTI_TRY_OUT(context, tutti_formula_create(context, &formula));
  terms.mean = tutti_formula_input(formula, outputs);
  if (combined->aleatoric) {
    terms.aleatoric = tutti_formula_input(formula, outputs);
    terms.epistemic = tutti_formula_input(formula, outputs);
  }
  TUTTI_TRY_OUT(context, tutti_calibrator_formula(context, calibrator, formula, &terms));
  TUTTI_TRY_OUT(context, tutti_alloc(context, tutti_formula_count(formula), sizeof *values, &values));
  onnx_formula(graph, formula, inputs, values);
  const onnx_value x = combined->mean;
  combined->mean = replaced(graph, formula, values, terms.mean, x, x);
  combined->aleatoric = replaced(graph, formula, values, terms.aleatoric, combined->aleatoric, x);
  combined->epistemic = replaced(graph, formula, values, terms.epistemic, combined->epistemic, x);
  combined->lower = replaced(graph, formula, values, terms.lower, NULL, x);
  combined->upper = replaced(graph, formula, values, terms.upper, NULL, x);
out:
  tutti_formula_destroy(formula);
  tutti_free(values);
  return status;
}

enum tutti_status onnx_calibrate(struct onnx_graph *graph, tutti_calibrator *calibrator, size_t outputs, double level,
                                 struct onnx_combined *combined) {
  tutti_context *context = onnx_graph_context(graph);
  enum tutti_status status = add(graph, calibrator, outputs, level, combined);
  if (status == TUTTI_ERROR_UNSUPPORTED)
    return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED,
                      "the ensemble's calibrator %s cannot say what it computes, as an export needs it; with "
                      "--uncalibrated, the model gives what tutti predict --uncalibrated does",
                      tutti_calibrator_descriptor(calibrator)->name);
  TUTTI_TRY(context, status);
  return TUTTI_OK;
}
