/* space layer-graph-mlp: multi-layer perceptrons as graphs of layers. Kandasamy, Neiswanger, Schneider, Poczos, Xing,
   "Neural Architecture Search with Bayesian Optimisation and Optimal Transport", NeurIPS 2018 (NASBOT).

   A graph space: layers with a label (the activation) and units, joined by edges; decision layers ("linear" in
   regression, "softmax" in classification) lead to the output. Searches start from ten chains, and nine modifiers
   change them. Distances are OTMANN's: for each weight of `structure` first d, then for each d divided by the sum of
   both networks' masses.

   Deviations: path lengths also count by kind of layer, walks from the input are averaged over parents, and the ends
   have a least mass. The published program does this, the paper's main text does not (path_groups = all, walks =
   children, end_mass = 0). The files of layer-graph/ name further deviations. */
#include "layer-graph/space.h"

static const struct tutti_param space_layer_graph_mlp_params[] = {LAYER_GRAPH_PARAMS};

static const struct layer_graph_family family_mlp = {
    .labels = LABELS_RECTIFIER | LABELS_SIGMOID,
    .decision = LABEL_LINEAR,
    .kind_count = 3,
    .kinds = {LABELS_ALL, LABELS_RECTIFIER, LABELS_SIGMOID},
    .pool = &pool_mlp,
};

static enum tutti_status space_create_layer_graph_mlp(tutti_context *context, const void *config, const void *setup,
                                                      void **self) {
  return layer_graph_create(context, &family_mlp, config, ((const struct tutti_space_setup *)setup)->task, self);
}

static const struct tutti_descriptor space_layer_graph_mlp_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SPACE, "layer-graph-mlp"),
    .version = "1.0",
    .summary = "multi-layer perceptrons as graphs of layers, with OTMANN distances",
    .source =
        "Kandasamy et al., Neural Architecture Search with Bayesian Optimisation and Optimal Transport, NeurIPS 2018",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(space_layer_graph_mlp_params, struct layer_graph_config),
    .create = space_create_layer_graph_mlp,
    .destroy = layer_graph_destroy,
    .ops = &layer_graph_ops,
};

TUTTI_PLUGIN(space_layer_graph_mlp_descriptor)
