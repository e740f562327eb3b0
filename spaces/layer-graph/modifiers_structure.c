/* modifiers_structure.c - modifiers that change a graph's edges: wedge, remove, branch (dup_path in the paper's Table
   2) and skip. The result may break rules; then the caller discards it. Deviations: a layer wedged in after the image
   has ended is fully connected; one between layers without units gets as many units as the edge has channels. */
#include "modifiers.h"

#include <math.h>

static bool coin(struct tutti_random *random, double chance) { return tutti_random_uniform(random) < chance; }

/* --- wedge ------------------------------------------------------------------------------------------------------- */

static int32_t units_between(const struct graph *graph, int from, int to) {
  double in[GRAPH_LAYERS_MOST], out[GRAPH_LAYERS_MOST];
  int32_t above = graph->layers[from].units, below = graph->layers[to].units;
  if (above && below)
    return (above + below) / 2;
  if (above || below)
    return above ? above : below;
  graph_channels(graph, in, out);
  return (int32_t)fmin(out[from], INT32_MAX);
}

static struct layer draw_wedge(struct tutti_random *random, uint32_t labels, const struct graph *graph, int from,
                               int to) {
  struct layer layer = {.label = LABEL_FC, .units = units_between(graph, from, to)};
  int halvings[GRAPH_LAYERS_MOST];
  if (!(labels & LABELS_CONV)) {
    layer.label = (enum label)modifier_pick(random, labels & (LABELS_RECTIFIER | LABELS_SIGMOID));
    return layer;
  }
  graph_halvings(graph, halvings);
  if (halvings[to] < 0)
    return layer;
  if (from != 0 && coin(random, 0.05))
    return (struct layer){.label = (enum label)modifier_pick(random, LABELS_POOL)};
  layer.label = (enum label)modifier_pick(random, LABELS_CONV);
  layer.stride = coin(random, 0.05) ? 2 : 1;
  return layer;
}

bool modifier_wedge(struct tutti_random *random, uint32_t labels, struct graph *graph) {
  uint64_t op = bit(graph->count - 1);
  uint64_t skipped =
      tutti_random_below(random, (uint64_t)(graph_edges(graph) - bits_count(graph->layers[graph->count - 1].parents)));
  int from = 0;
  uint64_t children;
  for (; (children = graph->layers[from].children & ~op), skipped >= (uint64_t)bits_count(children); from++)
    skipped -= (uint64_t)bits_count(children);
  while (skipped-- > 0)
    children &= children - 1;
  int to = bits_take(&children);
  struct layer drawn = draw_wedge(random, labels, graph, from, to);
  int added = graph_add_layer(graph, drawn.label, drawn.units, drawn.stride);
  if (added < 0)
    return false;
  graph_remove_edge(graph, from, to);
  graph_add_edge(graph, from, added);
  graph_add_edge(graph, added, to);
  return true;
}

/* --- remove ------------------------------------------------------------------------------------------------------ */

/* Let all layers of a set halve the image, if they are convolutions that do not. */
static bool move_halving(struct graph *graph, uint64_t set) {
  for (uint64_t rest = set; rest;) {
    const struct layer *layer = &graph->layers[bits_take(&rest)];
    if (label_role(layer->label) != ROLE_CONV || layer->stride != 1)
      return false;
  }
  for (uint64_t rest = set; rest;)
    graph->layers[bits_take(&rest)].stride = 2;
  return set != 0;
}

static void join_all(struct graph *graph, uint64_t from, uint64_t to) {
  while (from) {
    int parent = bits_take(&from);
    for (uint64_t rest = to; rest;)
      graph_add_edge(graph, parent, bits_take(&rest));
  }
}

/* Children without another parent read all parents of the removed layer. If every child has one, only parents without
   another child are joined to the children, since they would lead nowhere otherwise. */
bool modifier_remove(struct tutti_random *random, struct graph *graph) {
  uint64_t fixed = graph_with_role(graph, ROLE_DECISION) | bit(0) | bit(graph->count - 1);
  uint64_t layers = ~fixed & (bit(graph->count - 1) - 1);
  if (!layers)
    return false;
  int index = modifier_pick(random, layers);
  struct layer removed = graph->layers[index];
  uint64_t orphaned_parents = 0, orphaned_children = 0;
  for (uint64_t rest = removed.parents; rest;) {
    int parent = bits_take(&rest);
    orphaned_parents |= graph->layers[parent].children == bit(index) ? bit(parent) : 0;
  }
  for (uint64_t rest = removed.children; rest;) {
    int child = bits_take(&rest);
    orphaned_children |= graph->layers[child].parents == bit(index) ? bit(child) : 0;
  }
  join_all(graph, removed.parents, orphaned_children);
  if (!orphaned_children)
    join_all(graph, orphaned_parents, removed.children);
  bool halves = removed.stride == 2 || label_role(removed.label) == ROLE_POOL;
  if (halves && !move_halving(graph, removed.children))
    (void)move_halving(graph, removed.parents);
  graph_remove_layer(graph, index);
  return true;
}

/* --- branch ------------------------------------------------------------------------------------------------------ */

enum { WALK_LEAST = 4 };

/* A path through the graph, both ends included; returns its length. */
static int walk(struct tutti_random *random, const struct graph *graph, int *path) {
  double weights[GRAPH_LAYERS_MOST];
  int hops[GRAPH_LAYERS_MOST], length = 1;
  graph_hops_from_ip(graph, hops);
  for (int i = 0; i < graph->count; i++)
    weights[i] = 1 / sqrt(1 + hops[i]);
  path[0] = (int)modifier_draw(random, (size_t)graph->count, weights);
  while (graph->layers[path[length - 1]].children && (length < WALK_LEAST || !coin(random, 0.2))) {
    path[length] = modifier_pick(random, graph->layers[path[length - 1]].children);
    length++;
  }
  return length;
}

/* Must the copy of the path keep this layer? */
static bool always_kept(const struct graph *graph, const int *path, int k, bool fc_seen) {
  const struct layer *layer = &graph->layers[path[k]];
  enum role role = label_role(layer->label);
  return role == ROLE_POOL || role == ROLE_DECISION || layer->stride == 2 || (role == ROLE_FC && !fc_seen) ||
         path[k - 1] == 0;
}

bool modifier_branch(struct tutti_random *random, double keep, struct graph *graph) {
  int path[GRAPH_LAYERS_MOST], length = walk(random, graph, path);
  if (length < 3)
    return false;
  uint64_t kept = 0;
  bool fc_seen = false;
  for (int k = 1; k < length - 1; k++) {
    bool always = always_kept(graph, path, k, fc_seen);
    fc_seen = fc_seen || graph->layers[path[k]].label == LABEL_FC;
    if (coin(random, keep) || always)
      kept |= bit(k);
  }
  if (!kept)
    kept = bit(1 + (int)tutti_random_below(random, (uint64_t)length - 2));
  int above = path[0];
  while (kept) {
    struct layer layer = graph->layers[path[bits_take(&kept)]];
    int copy = graph_add_layer(graph, layer.label, layer.units, layer.stride);
    if (copy < 0)
      return false;
    graph_add_edge(graph, above, copy);
    above = copy;
  }
  graph_add_edge(graph, above, path[length - 1]);
  return true;
}

/* --- skip -------------------------------------------------------------------------------------------------------- */

/* Append average pools after a layer; returns the last of them, -1 if the graph is full. */
static int add_pools(struct graph *graph, int from, int count) {
  for (; count > 0; count--) {
    int pool = graph_add_layer(graph, LABEL_AVG_POOL, 0, 0);
    if (pool < 0)
      return -1;
    graph_add_edge(graph, from, pool);
    from = pool;
  }
  return from;
}

static uint64_t with_label(const struct graph *graph, enum label label) {
  uint64_t set = 0;
  for (int i = 0; i < graph->count; i++)
    set |= graph->layers[i].label == label ? bit(i) : 0;
  return set;
}

/* The pairs that an edge may skip between: for each layer, the set of possible ends. A decision layer may be one if it
   is linear, not if it is a softmax. */
static void list_skips(const struct graph *graph, uint64_t *ends) {
  int from_ip[GRAPH_LAYERS_MOST], to_op[GRAPH_LAYERS_MOST];
  uint64_t fixed = with_label(graph, LABEL_SOFTMAX) | bit(0) | bit(graph->count - 1);
  graph_hops_from_ip(graph, from_ip);
  graph_hops_to_op(graph, to_op);
  for (int i = 0; i < graph->count; i++) {
    ends[i] = 0;
    for (int k = 0; !(fixed & bit(i)) && k < graph->count; k++)
      if (!(fixed & bit(k)) && from_ip[k] >= from_ip[i] + 2 && to_op[i] >= to_op[k] + 2)
        ends[i] |= bit(k);
    ends[i] &= ~graph->layers[i].children;
  }
}

bool modifier_skip(struct tutti_random *random, struct graph *graph) {
  uint64_t ends[GRAPH_LAYERS_MOST];
  double weights[GRAPH_LAYERS_MOST], sum = 0;
  int halvings[GRAPH_LAYERS_MOST];
  list_skips(graph, ends);
  for (int i = 0; i < graph->count; i++)
    sum += weights[i] = bits_count(ends[i]);
  if (sum <= 0)
    return false;
  int from = (int)modifier_draw(random, (size_t)graph->count, weights), to = modifier_pick(random, ends[from]);
  graph_halvings(graph, halvings);
  int wanted = halvings[__builtin_ctzll(graph->layers[to].parents)];
  from = halvings[from] >= 0 && wanted >= 0 ? add_pools(graph, from, wanted - halvings[from]) : from;
  if (from < 0)
    return false;
  graph_add_edge(graph, from, to);
  return true;
}
