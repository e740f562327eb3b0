/* transport.h - partial optimal transport between two small sets, exactly. */
#ifndef LAYER_GRAPH_TRANSPORT_H
#define LAYER_GRAPH_TRANSPORT_H

#include <stdint.h>

enum {
  TRANSPORT_SIDE = 64,                      /* nodes of a side */
  TRANSPORT_STRIDE = 68,                    /* doubles a row of costs: those, the ground, and padding */
  TRANSPORT_NODES = 2 * TRANSPORT_SIDE + 1, /* rows, columns and the ground */
};

/* Mass goes from rows to columns at a cost per unit, or stays where it is: each unit that leaves its row for nowhere, and each
   that a column gets from nowhere, costs 1. Nowhere is the ground, node rows + columns. All workspace is here. */
struct transport {
  int rows, columns;
  double supplies[TRANSPORT_SIDE], demands[TRANSPORT_SIDE]; /* > 0; rounded by transport_begin */
  double costs[TRANSPORT_SIDE + 1][TRANSPORT_STRIDE];       /* >= 0; rounded by transport_solve */

  /* The basis, a spanning tree: for each node its parent and the flow on the edge to it. */
  int16_t parent[TRANSPORT_NODES], depth[TRANSPORT_NODES];
  int16_t first_child[TRANSPORT_NODES], next[TRANSPORT_NODES], previous[TRANSPORT_NODES];
  double flow[TRANSPORT_NODES];
  double row_prices[TRANSPORT_SIDE + 1], column_prices[TRANSPORT_STRIDE];
};

/* Begin with rows, columns, supplies and demands as they stand, all mass on the ground. */
void transport_begin(struct transport *transport);
/* Find the optimum for the costs as they stand, from the basis that the last call left. */
void transport_solve(struct transport *transport);
/* The flow that moves between a row and a column. */
double transport_flow(const struct transport *transport, int row, int column);

#endif
