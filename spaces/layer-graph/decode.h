/* decode.h - from a layer graph to a network. */
#ifndef LAYER_GRAPH_DECODE_H
#define LAYER_GRAPH_DECODE_H

#include "graph.h"

/* The network of a sorted graph. */
TUTTI_NODISCARD enum tutti_status graph_decode(tutti_context *context, const struct graph *graph,
                                               const struct tutti_task *task, tutti_network **network);

#endif
