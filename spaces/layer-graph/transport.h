/* transport.h - partial optimal transport between two small sets, exactly. */
#ifndef LAYER_GRAPH_TRANSPORT_H
#define LAYER_GRAPH_TRANSPORT_H

#include <stdint.h>

enum {
  TRANSPORT_SIDE = 64,                      /* nodes per side */
  TRANSPORT_LANES = 8,                      /* rows of costs are padded to a multiple of so many doubles */
  TRANSPORT_STRIDE = 72,                    /* doubles per row of costs: the columns, the ground, and padding */
  TRANSPORT_NODES = 2 * TRANSPORT_SIDE + 1, /* rows, columns and the ground */
};

/* Mass goes from rows to columns at a cost per unit, or it stays unmatched: each unit that leaves a row unmatched, and
   each unit that a column receives unmatched, costs 1. The ground, node rows + columns, represents "unmatched". All
   working memory is here. */
struct transport {
  void (*simplex)(struct transport *transport); /* the fastest for this processor; NULL at first */
  int rows, columns;
  double supplies[TRANSPORT_SIDE], demands[TRANSPORT_SIDE]; /* > 0; rounded by transport_begin */
  double costs[TRANSPORT_SIDE + 1][TRANSPORT_STRIDE];       /* >= 0; rounded by transport_solve */

  /* The basis, a spanning tree: for each node its parent and the flow on the edge to it. */
  int16_t parent[TRANSPORT_NODES], depth[TRANSPORT_NODES];
  int16_t first_child[TRANSPORT_NODES], next[TRANSPORT_NODES], previous[TRANSPORT_NODES];
  double flow[TRANSPORT_NODES];
  double row_prices[TRANSPORT_SIDE + 1], column_prices[TRANSPORT_STRIDE];
};

/* Begin with the present rows, columns, supplies and demands; all mass is on the ground. */
void transport_begin(struct transport *transport);
/* Find the optimum for the present costs, starting from the basis of the last call. */
void transport_solve(struct transport *transport);
/* A mass between one row and one column, as transport_begin has rounded both, at a cost that transport_solve would
   round: what it would send. */
double transport_single_flow(const struct transport *transport, double cost);
/* The flow from a row to a column. */
double transport_flow(const struct transport *transport, int row, int column);

#endif
