/* graph_json.h - layer graphs as JSON. */
#ifndef LAYER_GRAPH_GRAPH_JSON_H
#define LAYER_GRAPH_GRAPH_JSON_H

#include "graph.h"

/* {"layers": [{"label": "ip"}, {"label": "relu", "units": 64}, ...], "edges": [[0, 1], ...]} of a sorted graph; free
   with tutti_free. */
TUTTI_NODISCARD enum tutti_status graph_to_json(tutti_context *context, const struct graph *graph, char **json);
/* Read, check against the rules, and sort. TUTTI_ERROR_USAGE names layers by their numbers in the text. */
TUTTI_NODISCARD enum tutti_status graph_from_json(tutti_context *context, const struct graph_rules *rules,
                                                  const char *json, struct graph *graph);

#endif
