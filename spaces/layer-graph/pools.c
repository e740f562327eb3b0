/* pools.c - initial pools, the paper's Appendix (Figures 9 and 10).

   Deviations: the published program draws which rectifier and which sigmoid a block has; here they take turns, so that the pool is
   the same in every run. */
#include "pools.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Append a layer behind `last`; the new one. Pools are far smaller than graphs may be. */
static int append(struct graph *graph, int last, enum label label, int32_t units, int32_t stride) {
  int added = graph_add_layer(graph, label, units, stride);
  graph_add_edge(graph, last, added);
  return added;
}

static int begin(struct graph *graph) {
  graph->count = 0;
  return graph_add_layer(graph, LABEL_IP, 0, 0);
}

/* --- multi-layer perceptrons ------------------------------------------------------------------------------------- */

static const struct {
  int blocks, layers;
} chains[] = {{3, 2}, {4, 2}, {5, 2}, {3, 4}, {6, 2}, {8, 2}, {6, 3}, {10, 2}, {4, 6}, {8, 3}};

static const char *const mlp_names[] = {"blocks-3-2", "blocks-4-2", "blocks-5-2",  "blocks-3-4", "blocks-6-2",
                                        "blocks-8-2", "blocks-6-3", "blocks-10-2", "blocks-4-6", "blocks-8-3"};

/* Blocks of a rectifier and of a sigmoid in turn, each twice as wide as the last, to 512. */
static void build_mlp(size_t index, enum label decision, struct graph *graph) {
  static const enum label rectifiers[] = {LABEL_RELU, LABEL_CRELU, LABEL_LEAKY_RELU, LABEL_SOFTPLUS, LABEL_ELU};
  static const enum label sigmoids[] = {LABEL_LOGISTIC, LABEL_TANH};
  int last = begin(graph);
  for (int block = 0; block < chains[index].blocks; block++) {
    size_t turn = index + (size_t)block / 2;
    enum label label = block % 2 ? sigmoids[turn % COUNT(sigmoids)] : rectifiers[turn % COUNT(rectifiers)];
    for (int layer = 0; layer < chains[index].layers; layer++)
      last = append(graph, last, label, block < 3 ? 64 << block : 512, 0);
  }
  last = append(graph, last, decision, 0, 0);
  (void)append(graph, last, LABEL_OP, 0, 0);
}

const struct graph_pool pool_mlp = {COUNT(chains), mlp_names, build_mlp};
