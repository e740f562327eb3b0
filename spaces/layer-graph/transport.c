/* transport.c - partial optimal transport by the network simplex method.

   Nodes are rows, columns and the ground; arcs go from rows to columns, from rows to the ground and from the ground to
   columns. So the arc between a node of the tree and its parent goes up from a row and down to a column, and its cost
   is never stored.

   All sums are exact: supplies and demands are rounded to a grid on which their total has 52 bits, costs to multiples
   of 2^-43. Prices and flows are sums of such numbers and need no rounding. Ties are then real ties, and degenerate
   pivots are recognised. Bases stay strongly feasible (an arc without flow goes up: from a row) by Cunningham's rule
   for the leaving arc: "A network simplex method", Mathematical Programming 11, 1976. So no basis comes twice, and the
   method ends for any choice of the entering arc. The rounding costs less than 1e-13 per unit of mass.

   The entering arc is the best arc of a row, with rows taken in turn: a row costs one pass over contiguous numbers. */
#include "transport.h"

#include <math.h>
#include <stdbool.h>
#include <tutti/cpu.h>

/* All that the simplex method calls is compiled into it, with its level of vector instructions: code without them would
   wait for the registers of code with them. */
#define INLINE static inline __attribute__((always_inline))

INLINE bool is_row(const struct transport *transport, int node) { return node < transport->rows; }

INLINE int ground_of(const struct transport *transport) { return transport->rows + transport->columns; }

/* --- the tree ---------------------------------------------------------------------------------------------------- */

INLINE void link_child(struct transport *transport, int parent, int node) {
  int first = transport->first_child[parent];
  transport->parent[node] = (int16_t)parent;
  transport->next[node] = (int16_t)first;
  transport->previous[node] = -1;
  if (first >= 0)
    transport->previous[first] = (int16_t)node;
  transport->first_child[parent] = (int16_t)node;
}

INLINE void unlink_child(struct transport *transport, int node) {
  int next = transport->next[node], previous = transport->previous[node];
  if (previous >= 0)
    transport->next[previous] = (int16_t)next;
  else
    transport->first_child[transport->parent[node]] = (int16_t)next;
  if (next >= 0)
    transport->previous[next] = (int16_t)previous;
}

INLINE double cost_between(const struct transport *transport, int row, int column) {
  int ground = ground_of(transport);
  return row == ground || column == ground ? 1 : transport->costs[row][column - transport->rows];
}

/* Price and depth of a node below its parent: on arcs of the tree, prices add up to costs. */
INLINE void price_node(struct transport *transport, int node) {
  int parent = transport->parent[node], ground = ground_of(transport), rows = transport->rows;
  transport->depth[node] = (int16_t)(transport->depth[parent] + 1);
  if (is_row(transport, node))
    transport->row_prices[node] =
        cost_between(transport, node, parent) - (parent == ground ? 0 : transport->column_prices[parent - rows]);
  else
    transport->column_prices[node - rows] =
        cost_between(transport, parent, node) - (parent == ground ? 0 : transport->row_prices[parent]);
}

/* Prices and depths of a node and all below it, parents first. */
INLINE void price_subtree(struct transport *transport, int top) {
  int node = top, ground = ground_of(transport);
  for (;;) {
    if (node != ground)
      price_node(transport, node);
    if (transport->first_child[node] >= 0) {
      node = transport->first_child[node];
      continue;
    }
    while (node != top && transport->next[node] < 0)
      node = transport->parent[node];
    if (node == top)
      return;
    node = transport->next[node];
  }
}

/* --- pivots ------------------------------------------------------------------------------------------------------ */

INLINE int find_apex(const struct transport *transport, int a, int b) {
  while (a != b) {
    if (transport->depth[a] >= transport->depth[b])
      a = transport->parent[a];
    else
      b = transport->parent[b];
  }
  return a;
}

/* A pivot: the entering arc, the cycle's apex, the leaving arc (named by its lower node), and the flow round the
   cycle. */
struct pivot {
  int tail, head, apex, leaving;
  bool above_head;
  double flow;
};

/* The leaving arc has the least flow of those that lose flow (rows' arcs above the tail, columns' above the head).
   Among several, it is the last one met on the way from the apex down to the tail and from the head up. */
INLINE void find_leaving(const struct transport *transport, struct pivot *pivot) {
  pivot->flow = INFINITY;
  for (int node = pivot->tail; node != pivot->apex; node = transport->parent[node])
    if (is_row(transport, node) && transport->flow[node] < pivot->flow) {
      pivot->flow = transport->flow[node];
      pivot->leaving = node;
    }
  for (int node = pivot->head; node != pivot->apex; node = transport->parent[node])
    if (!is_row(transport, node) && transport->flow[node] <= pivot->flow) {
      pivot->flow = transport->flow[node];
      pivot->leaving = node;
      pivot->above_head = true;
    }
}

INLINE void send_flow(struct transport *transport, const struct pivot *pivot) {
  for (int node = pivot->tail; node != pivot->apex; node = transport->parent[node])
    transport->flow[node] += is_row(transport, node) ? -pivot->flow : pivot->flow;
  for (int node = pivot->head; node != pivot->apex; node = transport->parent[node])
    transport->flow[node] += is_row(transport, node) ? pivot->flow : -pivot->flow;
}

/* Cut the tree at the leaving arc, reverse the part below it so that the entering arc's end is on top, and attach it
   there. */
INLINE void exchange(struct transport *transport, const struct pivot *pivot) {
  int node = pivot->above_head ? pivot->head : pivot->tail, top = node;
  int above = pivot->above_head ? pivot->tail : pivot->head;
  double flow = pivot->flow;
  for (bool last = false; !last;) {
    int old_parent = transport->parent[node];
    double old_flow = transport->flow[node];
    last = node == pivot->leaving;
    unlink_child(transport, node);
    link_child(transport, above, node);
    transport->flow[node] = flow;
    above = node;
    flow = old_flow;
    node = old_parent;
  }
  price_subtree(transport, top);
}

INLINE void enter(struct transport *transport, int row, int column) {
  int ground = ground_of(transport);
  struct pivot pivot = {.tail = row == transport->rows ? ground : row,
                        .head = column == transport->columns ? ground : transport->rows + column};
  pivot.apex = find_apex(transport, pivot.tail, pivot.head);
  find_leaving(transport, &pivot);
  send_flow(transport, &pivot);
  exchange(transport, &pivot);
}

/* --- optimum ----------------------------------------------------------------------------------------------------- */

/* fmin for numbers that are not NaN: one instruction. */
static inline double lesser(double a, double b) { return a < b ? a : b; }

/* Costs are clipped at 3, where the ground is cheaper, and are multiples of 2^-43: 768 is 1.5 * 2^9. */
enum { COST_MOST = 3, COST_ROUND = 768 };

#define WIDTH 2
#define NAME(function) function##_baseline
#define TARGET
#include "transport_simplex.h"

#if defined(__x86_64__)
#define WIDTH 4
#define NAME(function) function##_avx2
#define TARGET __attribute__((target("avx2")))
#include "transport_simplex.h"

#define WIDTH 8
#define NAME(function) function##_avx512
#define TARGET __attribute__((target("avx512f,avx512dq,avx512vl")))
#include "transport_simplex.h"
#endif

static void choose_simplex(struct transport *transport) {
  transport->simplex = simplex_baseline;
#if defined(__x86_64__)
  enum tutti_cpu cpu = tutti_cpu_detect();
  if (cpu >= TUTTI_CPU_AVX2)
    transport->simplex = simplex_avx2;
  if (cpu >= TUTTI_CPU_AVX512)
    transport->simplex = simplex_avx512;
#endif
}

/* --- beginning ---------------------------------------------------------------------------------------------------- */

/* Multiples of the last bit of `large`, at least one. */
static void round_masses(int count, double *masses, double large) {
  double least = nextafter(large, INFINITY) - large;
  for (int i = 0; i < count; i++)
    masses[i] = fmax((masses[i] + large) - large, least);
}

/* What costs and prices have behind the columns: the ground, and padding that is never chosen; and the ground's own
   row. */
static void frame_costs(struct transport *transport) {
  int rows = transport->rows, columns = transport->columns;
  for (int row = 0; row <= rows; row++) {
    for (int column = row == rows ? 0 : columns; column <= columns; column++)
      transport->costs[row][column] = 1;
    for (int column = columns + 1; column % TRANSPORT_LANES; column++)
      transport->costs[row][column] = INFINITY;
  }
  transport->row_prices[rows] = 0;
  for (int column = columns; column == columns || column % TRANSPORT_LANES; column++)
    transport->column_prices[column] = 0;
}

void transport_begin(struct transport *transport) {
  int rows = transport->rows, columns = transport->columns, ground = ground_of(transport), exponent;
  double total = 0;
  if (!transport->simplex)
    choose_simplex(transport);
  for (int i = 0; i < rows; i++)
    total += transport->supplies[i];
  for (int i = 0; i < columns; i++)
    total += transport->demands[i];
  frame_costs(transport);
  (void)frexp(total, &exponent);
  round_masses(rows, transport->supplies, ldexp(1.5, exponent));
  round_masses(columns, transport->demands, ldexp(1.5, exponent));
  transport->parent[ground] = -1;
  transport->first_child[ground] = -1;
  transport->depth[ground] = 0;
  for (int node = 0; node < ground; node++) {
    transport->first_child[node] = -1;
    link_child(transport, ground, node);
    transport->flow[node] = node < rows ? transport->supplies[node] : transport->demands[node - rows];
  }
}

void transport_solve(struct transport *transport) { transport->simplex(transport); }

double transport_single_flow(const struct transport *transport, double cost) {
  double rounded = (lesser(cost, COST_MOST) + COST_ROUND) - COST_ROUND;
  return rounded < 2 ? lesser(transport->supplies[0], transport->demands[0]) : 0;
}

double transport_flow(const struct transport *transport, int row, int column) {
  int node = transport->rows + column;
  if (transport->parent[row] == node)
    return transport->flow[row];
  return transport->parent[node] == row ? transport->flow[node] : 0;
}
