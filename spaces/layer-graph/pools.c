/* pools.c - initial pools, those of NASBOT's published program. Deviations: the program draws the rectifier and the
   sigmoid of a block; here they alternate, so that the pool is the same in every run. The network with two
   heads is a plain one; its first head comes after the last block but one. */
#include "pools.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Append a layer after `last` and return it. Pools are far smaller than the limit of graphs. */
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

/* Blocks of rectifiers and sigmoids in turn, each twice as wide as the one before, up to 512. */
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

/* --- convolutional networks -------------------------------------------------------------------------------------- */

static const char *const cnn_names[] = {"vgg-1",     "vgg-2",     "vgg-3",     "vgg-4",     "conv3-3-1", "conv3-3-2",
                                        "conv3-3-3", "conv3-3-4", "conv3-3-5", "conv3-4-4", "res3-3-2",  "two-heads"};

/* Convolutions of the same width, the first with the given stride. */
static int append_block(struct graph *graph, int last, enum label label, int32_t units, int layers, int32_t stride) {
  for (int layer = 0; layer < layers; layer++)
    last = append(graph, last, label, units, layer == 0 ? stride : 1);
  return last;
}

/* Two blocks of two layers, then three of `layers`, with a pool after each; three fully connected layers. */
static void build_vgg(int layers, enum label decision, struct graph *graph) {
  static const int32_t widths[] = {64, 128, 128, 256, 512};
  int last = begin(graph);
  for (size_t block = 0; block < COUNT(widths); block++) {
    last = append_block(graph, last, LABEL_CONV3, widths[block], block < 2 ? 2 : layers, 1);
    last = append(graph, last, LABEL_MAX_POOL, 0, 0);
  }
  for (int32_t units = 128; units <= 512; units *= 2)
    last = append(graph, last, LABEL_FC, units, 0);
  last = append(graph, last, decision, 0, 0);
  (void)append(graph, last, LABEL_OP, 0, 0);
}

/* An average pool, a fully connected layer of twice the last width, and a decision layer after it. */
static int append_decision(struct graph *graph, int last, int32_t units, enum label decision) {
  last = append(graph, last, LABEL_AVG_POOL, 0, 0);
  last = append(graph, last, LABEL_FC, 2 * units, 0);
  return append(graph, last, decision, 0, 0);
}

/* Blocks of strided convolutions, each twice as wide as the one before. With two heads, there is also a decision after
   the last block but one. */
static void build_blocks(enum label label, int blocks, int layers, bool two_heads, enum label decision,
                         struct graph *graph) {
  int last = append(graph, begin(graph), LABEL_CONV7, 64, 1), early = -1;
  last = append(graph, last, LABEL_MAX_POOL, 0, 0);
  for (int block = 0; block < blocks; block++) {
    last = append_block(graph, last, label, 64 << block, layers, 2);
    if (two_heads && block == blocks - 2)
      early = append_decision(graph, last, 64 << block, decision);
  }
  last = append_decision(graph, last, 32 << blocks, decision);
  last = append(graph, last, LABEL_OP, 0, 0);
  if (early >= 0)
    graph_add_edge(graph, early, last);
}

static void build_cnn(size_t index, enum label decision, struct graph *graph) {
  int number = (int)index;
  if (number < 4)
    build_vgg(number + 1, decision, graph);
  else if (number < 9)
    build_blocks(LABEL_CONV3, 3, number - 3, false, decision, graph);
  else if (number == 9)
    build_blocks(LABEL_CONV3, 4, 4, false, decision, graph);
  else
    build_blocks(number == 10 ? LABEL_RES3 : LABEL_CONV3, 3, 2, number == 11, decision, graph);
}

const struct graph_pool pool_cnn = {COUNT(cnn_names), cnn_names, build_cnn};
