/* graph.h - layer graphs: structure, canonical order, validity. Source: Kandasamy, Neiswanger, Schneider, Poczos, Xing, "Neural
   Architecture Search with Bayesian Optimisation and Optimal Transport", NeurIPS 2018. */
#ifndef LAYER_GRAPH_GRAPH_H
#define LAYER_GRAPH_GRAPH_H

#include "labels.h"

enum { GRAPH_LAYERS_MOST = 64 };

/* Sets of layers are bits 1 << index. */
struct layer {
  enum label label;
  int32_t units;  /* 0 for labels without */
  int32_t stride; /* 1 or 2 for convolutions; else 0 */
  uint64_t parents, children;
};

/* A plain value; layers behind `count` mean nothing. Once sorted, ip is layer 0, op the last, and parents come first. */
struct graph {
  int count;
  struct layer layers[GRAPH_LAYERS_MOST];
};

/* The mask costs nothing, and shows analysers that the shift is defined. */
static inline uint64_t bit(int index) { return UINT64_C(1) << (index & (GRAPH_LAYERS_MOST - 1)); }

/* Take the lowest layer out of a set that is not empty. */
static inline int bits_take(uint64_t *set) {
  int index = __builtin_ctzll(*set);
  *set &= *set - 1;
  return index;
}

static inline int bits_count(uint64_t set) { return __builtin_popcountll(set); }

/* Append a layer without edges; -1 when the graph is full. */
int graph_add_layer(struct graph *graph, enum label label, int32_t units, int32_t stride);
void graph_add_edge(struct graph *graph, int from, int to);
void graph_remove_edge(struct graph *graph, int from, int to);
/* Remove a layer and its edges; those behind it move down by one. */
void graph_remove_layer(struct graph *graph, int index);
int graph_edges(const struct graph *graph);
/* Of sorted graphs: the same one? */
bool graph_equal(const struct graph *a, const struct graph *b);
/* Channels that come into and out of each layer of a sorted graph: parents' are concatenated; those of ip count as one. in[count],
   out[count]. */
void graph_channels(const struct graph *graph, double *in, double *out);
/* The layers of a role, as a set. */
uint64_t graph_with_role(const struct graph *graph, enum role role);

/* Sort into the canonical topological order: equal graphs, however their layers are numbered, become the same (unless they differ
   only in symmetries that hashes of their surroundings cannot tell apart). numbers[i] becomes the old number of layer i.
   False, and nothing is changed, where there is a cycle; *cycle is then a layer on one or behind one. */
bool graph_sort(struct graph *graph, int *numbers, int *cycle);

/* The fewest hops from ip to each layer, or from each layer to op, of a sorted graph; hops[count]. */
void graph_hops_from_ip(const struct graph *graph, int *hops);
void graph_hops_to_op(const struct graph *graph, int *hops);

/* What a space allows. */
struct graph_rules {
  uint32_t labels; /* the decision layers' included */
  bool chains;     /* feed-forward chains only */
  int64_t layers_least, layers_most, inputs_most, outputs_most, edges_most, units_least, units_most;
};

/* Halvings of the image at the output of each layer of a sorted graph; -1: no image. halvings[count] */
void graph_halvings(const struct graph *graph, int *halvings);

/* Is the sorted graph against the rules? `why` says how and calls layer i numbers[i]. */
bool graph_misfits(const struct graph_rules *rules, const struct graph *graph, const int *numbers, size_t size,
                   char *why);
/* Sort and check; true when it is valid. For graphs that modifiers made. */
bool graph_settle(const struct graph_rules *rules, struct graph *graph);

#endif
