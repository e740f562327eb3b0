/* onnx_impl.h - how the parts of an ensemble become parts of an ONNX graph; for engine/export/ alone. */
#ifndef TUTTI_ONNX_IMPL_H
#define TUTTI_ONNX_IMPL_H

#include "engine/data/loading_impl.h"
#include "engine/run/model_impl.h"

#include "onnx_graph.h"

#include <tutti/formula.h>

/* What a member says of the rows, in the targets' units and counted from their origins; doubles. */
struct onnx_prediction {
  onnx_value mean;     /* regression: [rows, outputs]; classification: the probabilities */
  onnx_value variance; /* regression: [rows, outputs]; NULL: the member gives none */
  onnx_value own;      /* the part of the variance, or of the entropy ([rows, 1]), that is its own; NULL: none */
};

/* What the ensemble says (struct tutti_combined): means, counted from their origins, or probabilities; variances, NULL
   of probabilities; ends of intervals, NULL: none. */
struct onnx_combined {
  onnx_value mean, aleatoric, epistemic, lower, upper;
};

/* The inputs of the graph, one for each column (or one of images), and from them what networks read: [rows, features],
   or [rows, channels, height, width] of images; floats (onnx_rows.c). */
onnx_value onnx_rows(struct onnx_graph *graph, const struct tutti_encoding *encoding);
/* The outputs of a trained network for such rows, by its head: standardised (onnx_network.c). TUTTI_ERROR_UNSUPPORTED:
   a layer whose op or attribute has no counterpart in ONNX, named. */
struct onnx_prediction onnx_network(struct onnx_graph *graph, const tutti_network *network,
                                    const tutti_tensors *weights, const struct tutti_task *task, onnx_value rows);
/* Mixtures of Gaussians, one for each row and output: [rows, outputs, members], and weights [members]. */
struct onnx_mixture {
  size_t outputs;
  onnx_value means, deviations, weights;
};
/* Their quantiles at p in (0, 1): [rows, outputs], NaN where a mean or a deviation is (onnx_quantile.c). */
onnx_value onnx_quantile(struct onnx_graph *graph, const struct onnx_mixture *mixture, double p);
/* A formula's terms as values[tutti_formula_count]; inputs[]: of its input terms (onnx_formula.c). */
void onnx_formula(struct onnx_graph *graph, const tutti_formula *formula, const onnx_value *inputs, onnx_value *values);
/* What may be one number for all rows, for each of the rows of x; NaN where one of their numbers is. */
onnx_value onnx_of_each(struct onnx_graph *graph, onnx_value value, onnx_value x);
/* What a member says of such rows, standardised (onnx_member.c). TUTTI_ERROR_UNSUPPORTED: a layer, or draws of dropout,
   that ONNX has no counterpart of, or a backend that cannot say what its models compute; it names the trial. */
TUTTI_NODISCARD enum tutti_status onnx_member(struct onnx_graph *graph, const struct tutti_member *member,
                                              onnx_value rows, struct onnx_prediction *made);
/* Put a fitted calibrator behind the ensemble, with intervals of this level, if it gives any (onnx_calibrated.c).
   TUTTI_ERROR_UNSUPPORTED: it cannot say what it computes. */
TUTTI_NODISCARD enum tutti_status onnx_calibrate(struct onnx_graph *graph, tutti_calibrator *calibrator, size_t outputs,
                                                 double level, struct onnx_combined *combined);
/* The entropy of each row's probabilities, in nats: [rows, 1]. */
onnx_value onnx_entropy(struct onnx_graph *graph, onnx_value probabilities);
/* A graph of the whole model (onnx.c), and the bytes of each member: sizes[model->count]. TUTTI_ERROR_UNSUPPORTED names
   what ONNX has no counterpart of. */
TUTTI_NODISCARD enum tutti_status onnx_build(struct onnx_graph *graph, const struct tutti_model *model,
                                             bool uncalibrated, uint64_t *sizes);
/* The JSON of tutti_export_options.written: what was written to `path`, in all and as the model, of which each member
   takes sizes[model->count] bytes (onnx.c). */
TUTTI_NODISCARD enum tutti_status onnx_written(tutti_context *context, const struct tutti_model *model,
                                               const char *path, uint64_t all, uint64_t bytes, const uint64_t *sizes,
                                               char **text);
/* The names of all outputs that a graph may have, ended by NULL. */
extern const char *const onnx_outputs[];
/* Mix the members' predictions, calibrate them (NULL: do not), and give the graph its outputs (onnx_ensemble.c). */
TUTTI_NODISCARD enum tutti_status onnx_ensemble(struct onnx_graph *graph, const struct tutti_model *model,
                                                tutti_calibrator *calibrator, const struct onnx_prediction *members);

#endif
