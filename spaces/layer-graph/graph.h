/* graph.h - layer graphs: structure, canonical order, validity. Source: Kandasamy, Neiswanger, Schneider, Poczos, Xing,
   "Neural Architecture Search with Bayesian Optimisation and Optimal Transport", NeurIPS 2018. */
#ifndef LAYER_GRAPH_GRAPH_H
#define LAYER_GRAPH_GRAPH_H

#include "labels.h"

enum { GRAPH_LAYERS_MOST = 64 };

/* Sets of layers are bits 1 << index. */
struct layer {
  enum label label;
  int32_t units;  /* 0 for labels without units */
  int32_t stride; /* 1 or 2 for convolutions; else 0 */
  uint64_t parents, children;
};

/* A plain value; layers from `count` on are meaningless. After sorting, ip is layer 0, op the last, and parents come
   first. */
struct graph {
  int count;
  struct layer layers[GRAPH_LAYERS_MOST];
};

/* The mask costs nothing, and shows static analysers that the shift is defined. */
static inline uint64_t bit(int index) { return UINT64_C(1) << (index & (GRAPH_LAYERS_MOST - 1)); }

/* Remove the lowest layer from a set that is not empty, and return it. */
static inline int bits_take(uint64_t *set) {
  int index = __builtin_ctzll(*set);
  *set &= *set - 1;
  return index;
}

static inline int bits_count(uint64_t set) { return __builtin_popcountll(set); }

/* Append a layer without edges; -1 if the graph is full. */
int graph_add_layer(struct graph *graph, enum label label, int32_t units, int32_t stride);
void graph_add_edge(struct graph *graph, int from, int to);
void graph_remove_edge(struct graph *graph, int from, int to);
/* Remove a layer and its edges; those after it move down by one. */
void graph_remove_layer(struct graph *graph, int index);
int graph_edges(const struct graph *graph);
/* Are two sorted graphs the same? */
bool graph_equal(const struct graph *a, const struct graph *b);
/* Number of channels into and out of each layer of a sorted graph: parents are concatenated; ip counts as one channel.
   in[count], out[count]. */
void graph_channels(const struct graph *graph, double *in, double *out);
/* The layers of a role, as a set. */
uint64_t graph_with_role(const struct graph *graph, enum role role);

/* Sort into the canonical topological order. Equal graphs become identical, however their layers are numbered (except
   for symmetries that hashes of neighbourhoods cannot resolve). numbers[i] becomes the old number of layer i. If there
   is a cycle, return false and change nothing; *cycle is then a layer on one or after one. */
bool graph_sort(struct graph *graph, int *numbers, int *cycle);

/* The smallest number of hops from ip to each layer, or from each layer to op, of a sorted graph; hops[count]. */
void graph_hops_from_ip(const struct graph *graph, int *hops);
void graph_hops_to_op(const struct graph *graph, int *hops);

/* What a space allows. */
struct graph_rules {
  uint32_t labels; /* including the decision layers */
  bool chains;     /* feed-forward chains only */
  int64_t layers_least, layers_most, inputs_most, outputs_most, edges_most, units_least, units_most;
  double branch_keep; /* the chance that a copied path keeps an inner layer that it may lose */
};

/* How often the image is halved at the output of each layer of a sorted graph; -1: no image. halvings[count] */
void graph_halvings(const struct graph *graph, int *halvings);

/* Does the sorted graph break a rule? `why` says which, and calls layer i numbers[i]. */
bool graph_misfits(const struct graph_rules *rules, const struct graph *graph, const int *numbers, size_t size,
                   char *why);
/* Sort and check; true if the graph is valid. For graphs made by modifiers. */
bool graph_settle(const struct graph_rules *rules, struct graph *graph);

#endif
