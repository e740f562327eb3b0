/* space layer-graph-cnn: convolutional networks as graphs of layers. Kandasamy, Neiswanger, Schneider, Poczos, Xing,
   "Neural Architecture Search with Bayesian Optimisation and Optimal Transport", NeurIPS 2018 (NASBOT).

   A graph space like layer-graph-mlp: convolutions (plain conv3, conv5, conv7, residual res3, res5, res7) with units
   and stride, pools, fully connected layers. Searches start from VGG-like, plain and residual networks and one with two
   heads. Distances are OTMANN's: for each weight of `structure` first d, then for each d divided by the sum of both
   networks' masses.

   Deviations: by default, distances are the published program's: path lengths also by kind of layer, walks from the
   input averaged over parents, a tenth of the mass for fully connected layers, 0.5 between pools, a least mass at the
   ends. The paper's text has path_groups = all, walks = children, fc_mass = 1, pool_mismatch = 0.25, end_mass = 0. The
   files of layer-graph/ name further deviations. */
#include "cells/blocks.h"
#include "layer-graph/space.h"

static const struct tutti_param space_layer_graph_cnn_params[] = {
    LAYER_GRAPH_PARAMS,
    TUTTI_REAL(
        struct layer_graph_config, fc_mass, "0.1", 0, 1000,
        "Mass of a fully connected layer, relative to a convolution with as many channels and units; the paper's "
        "text: 1.",
        .min_open = true),
    TUTTI_REAL(struct layer_graph_config, pool_mismatch, "0.5", 0, 2,
               "Cost of matching a maximum with an average pool; the paper's Table 1: 0.25."),
    TUTTI_REAL(struct layer_graph_config, conv_mismatch, "0.2", 0, 2,
               "Cost of matching convolutions whose kernels differ by 2; it grows with the root of the difference."),
};

static const struct layer_graph_family family_cnn = {
    .labels = LABELS_CONV | LABELS_POOL | 1u << LABEL_FC,
    .decision = LABEL_SOFTMAX,
    .kind_count = 4,
    .kinds = {LABELS_ALL, LABELS_CONV, LABELS_POOL, 1u << LABEL_FC},
    .pool = &pool_cnn,
};

static enum tutti_status space_create_layer_graph_cnn(tutti_context *context, const void *config, const void *setup,
                                                      void **self) {
  const struct tutti_task *task = ((const struct tutti_space_setup *)setup)->task;
  TUTTI_TRY(context, block_need_image(context, task));
  return layer_graph_create(context, &family_cnn, config, task, self);
}

static const struct tutti_descriptor space_layer_graph_cnn_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SPACE, "layer-graph-cnn"),
    .version = "1.0",
    .summary = "convolutional networks as graphs of layers, with OTMANN distances",
    .source =
        "Kandasamy et al., Neural Architecture Search with Bayesian Optimisation and Optimal Transport, NeurIPS 2018",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(space_layer_graph_cnn_params, struct layer_graph_config),
    .create = space_create_layer_graph_cnn,
    .destroy = layer_graph_destroy,
    .ops = &layer_graph_ops,
};

TUTTI_PLUGIN(space_layer_graph_cnn_descriptor)
