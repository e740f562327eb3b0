/* pools.h - the graphs that searches start from. */
#ifndef LAYER_GRAPH_POOLS_H
#define LAYER_GRAPH_POOLS_H

#include "graph.h"

enum { POOL_MOST = 16 };

struct graph_pool {
  size_t count;
  const char *const *names;
  /* Build member `index`, unsorted, with decision layers of that label. */
  void (*build)(size_t index, enum label decision, struct graph *graph);
};

extern const struct graph_pool pool_mlp;
extern const struct graph_pool pool_cnn;

#endif
