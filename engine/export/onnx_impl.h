/* onnx_impl.h - how the parts of an ensemble become parts of an ONNX graph; for engine/export/ alone. */
#ifndef TUTTI_ONNX_IMPL_H
#define TUTTI_ONNX_IMPL_H

#include "engine/data/loading_impl.h"
#include "engine/run/model_impl.h"

#include "onnx_graph.h"

/* What a member says of the rows, in the targets' units and counted from their origins; doubles. */
struct onnx_prediction {
  onnx_value mean;     /* regression: [rows, outputs]; classification: the probabilities */
  onnx_value variance; /* regression: [rows, outputs]; NULL: the member gives none */
  onnx_value own;      /* the part of the variance that is its own, epistemic; NULL: none (predictions.h) */
};

/* The inputs of the graph, one for each column (or one of images), and from them what networks read: [rows, features],
   or [rows, channels, height, width] of images; floats (onnx_rows.c). */
onnx_value onnx_rows(struct onnx_graph *graph, const struct tutti_encoding *encoding);
/* The outputs of a trained network for such rows, by its head: standardised (onnx_network.c). TUTTI_ERROR_UNSUPPORTED:
   a layer whose op or attribute has no counterpart in ONNX, named. */
struct onnx_prediction onnx_network(struct onnx_graph *graph, const tutti_network *network,
                                    const tutti_tensors *weights, const struct tutti_task *task, onnx_value rows);
/* The names of all outputs that a graph may have, ended by NULL. */
extern const char *const onnx_outputs[];
/* Mix the members' predictions and give the graph its outputs (onnx_ensemble.c). */
void onnx_ensemble(struct onnx_graph *graph, const struct tutti_model *model, const struct onnx_prediction *members);

#endif
