/* graph.c - layer graphs: editing, and their canonical order. */
#include "graph.h"

#include <string.h>

int graph_add_layer(struct graph *graph, enum label label, int32_t units, int32_t stride) {
  if (graph->count == GRAPH_LAYERS_MOST)
    return -1;
  graph->layers[graph->count] = (struct layer){.label = label, .units = units, .stride = stride};
  return graph->count++;
}

void graph_add_edge(struct graph *graph, int from, int to) {
  graph->layers[from].children |= bit(to);
  graph->layers[to].parents |= bit(from);
}

void graph_remove_edge(struct graph *graph, int from, int to) {
  graph->layers[from].children &= ~bit(to);
  graph->layers[to].parents &= ~bit(from);
}

/* The set without a layer; layers after it move down by one. */
static uint64_t without(uint64_t set, int index) {
  uint64_t below = bit(index) - 1;
  return (set & below) | (set >> 1 & ~below);
}

void graph_remove_layer(struct graph *graph, int index) {
  graph->count--;
  memmove(&graph->layers[index], &graph->layers[index + 1], (size_t)(graph->count - index) * sizeof graph->layers[0]);
  for (int i = 0; i < graph->count; i++) {
    graph->layers[i].parents = without(graph->layers[i].parents, index);
    graph->layers[i].children = without(graph->layers[i].children, index);
  }
}

int graph_edges(const struct graph *graph) {
  int edges = 0;
  for (int i = 0; i < graph->count; i++)
    edges += bits_count(graph->layers[i].children);
  return edges;
}

uint64_t graph_with_role(const struct graph *graph, enum role role) {
  uint64_t set = 0;
  for (int i = 0; i < graph->count; i++)
    if (label_role(graph->layers[i].label) == role)
      set |= bit(i);
  return set;
}

bool graph_equal(const struct graph *a, const struct graph *b) {
  bool equal = a->count == b->count;
  for (int i = 0; equal && i < a->count; i++) {
    const struct layer *first = &a->layers[i], *second = &b->layers[i];
    equal = first->label == second->label && first->units == second->units && first->stride == second->stride &&
            first->parents == second->parents;
  }
  return equal;
}

void graph_channels(const struct graph *graph, double *in, double *out) {
  for (int i = 0; i < graph->count; i++) {
    const struct layer *layer = &graph->layers[i];
    in[i] = 0;
    for (uint64_t rest = layer->parents; rest;)
      in[i] += out[bits_take(&rest)];
    out[i] = layer->label == LABEL_IP ? 1 : label_facts[layer->label].units ? layer->units : in[i];
  }
}

void graph_hops_from_ip(const struct graph *graph, int *hops) {
  for (int i = 0; i < graph->count; i++) {
    hops[i] = i == 0 ? 0 : INT32_MAX;
    for (uint64_t rest = graph->layers[i].parents; rest;) {
      int through = hops[bits_take(&rest)] + 1;
      hops[i] = through < hops[i] ? through : hops[i];
    }
  }
}

void graph_hops_to_op(const struct graph *graph, int *hops) {
  for (int i = graph->count - 1; i >= 0; i--) {
    hops[i] = i == graph->count - 1 ? 0 : INT32_MAX;
    for (uint64_t rest = graph->layers[i].children; rest;) {
      int through = hops[bits_take(&rest)] + 1;
      hops[i] = through < hops[i] ? through : hops[i];
    }
  }
}

/* --- order ------------------------------------------------------------------------------------------------------- */

/* Any topological order; false if there is a cycle. `placed` is the set of layers in it so far. */
static bool order_somehow(const struct graph *graph, int *order, uint64_t *placed) {
  uint64_t before = 1;
  int count = 0;
  for (*placed = 0; *placed != before;) {
    before = *placed;
    for (int i = 0; i < graph->count; i++)
      if (!(*placed & bit(i)) && (graph->layers[i].parents & ~*placed) == 0) {
        *placed |= bit(i);
        order[count++] = i;
      }
  }
  return count == graph->count;
}

/* The finaliser of SplitMix64. */
static uint64_t mix(uint64_t value) {
  value = (value ^ value >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
  value = (value ^ value >> 27) * UINT64_C(0x94D049BB133111EB);
  return value ^ value >> 31;
}

static uint64_t hash_of_layer(const struct layer *layer) {
  return mix((uint64_t)layer->label << 40 | (uint64_t)(uint32_t)layer->units << 8 | (uint64_t)layer->stride);
}

/* Mix the hashes of all layers before and after it into each hash, independently of their numbers. */
static void refine_hashes(const struct graph *graph, const int *order, uint64_t *hashes) {
  uint64_t before[GRAPH_LAYERS_MOST], behind[GRAPH_LAYERS_MOST];
  for (int k = 0; k < graph->count; k++) {
    int i = order[k];
    before[i] = hashes[i];
    for (uint64_t rest = graph->layers[i].parents; rest;)
      before[i] += mix(before[bits_take(&rest)]);
  }
  for (int k = graph->count - 1; k >= 0; k--) {
    int i = order[k];
    behind[i] = hashes[i];
    for (uint64_t rest = graph->layers[i].children; rest;)
      behind[i] += mix(~behind[bits_take(&rest)]);
    hashes[i] = mix(before[i]) + behind[i];
  }
}

/* The second round distinguishes layers whose neighbours have different neighbours, and so on. */
static void hash_layers(const struct graph *graph, const int *order, uint64_t *hashes) {
  enum { ROUNDS = 4 };
  for (int i = 0; i < graph->count; i++)
    hashes[i] = hash_of_layer(&graph->layers[i]);
  for (int round = 0; round < ROUNDS; round++)
    refine_hashes(graph, order, hashes);
}

/* Sort key of a layer: depth, label and units, neighbourhood, and the places of its parents. */
struct sort_key {
  int depth;
  enum label label;
  int32_t units, stride;
  uint64_t hash, parents;
};

static int compare_numbers(int64_t a, int64_t b) { return (a > b) - (a < b); }

static int compare_words(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static int compare_keys(const struct sort_key *a, const struct sort_key *b) {
  int result = compare_numbers(a->depth, b->depth);
  result = result ? result : compare_numbers((int64_t)a->label, (int64_t)b->label);
  result = result ? result : compare_numbers(a->units, b->units);
  result = result ? result : compare_numbers(a->stride, b->stride);
  result = result ? result : compare_words(a->hash, b->hash);
  return result ? result : compare_words(a->parents, b->parents);
}

static uint64_t set_of_places(uint64_t set, const int *places) {
  uint64_t result = 0;
  while (set)
    result |= bit(places[bits_take(&set)]);
  return result;
}

/* Insertion by depth, so that the places of parents are known when their children are compared. */
static void sort_layers(const struct graph *graph, struct sort_key *keys, int *order) {
  int places[GRAPH_LAYERS_MOST], deepest = 0, begin = 0;
  for (int i = 0; i < graph->count; i++)
    deepest = keys[i].depth > deepest ? keys[i].depth : deepest;
  for (int depth = 0; depth <= deepest; depth++) {
    int end = begin;
    for (int i = 0; i < graph->count; i++) {
      if (keys[i].depth != depth)
        continue;
      keys[i].parents = set_of_places(graph->layers[i].parents, places);
      int at = end++;
      for (; at > begin && compare_keys(&keys[i], &keys[order[at - 1]]) < 0; at--)
        order[at] = order[at - 1];
      order[at] = i;
    }
    for (; begin < end; begin++)
      places[order[begin]] = begin;
  }
}

/* Layer order[i] becomes i. */
static void permute(struct graph *graph, const int *order) {
  struct graph old = *graph;
  int places[GRAPH_LAYERS_MOST];
  for (int i = 0; i < graph->count; i++)
    places[order[i]] = i;
  for (int i = 0; i < graph->count; i++) {
    struct layer *layer = &graph->layers[i];
    *layer = old.layers[order[i]];
    layer->parents = set_of_places(layer->parents, places);
    layer->children = set_of_places(layer->children, places);
  }
}

bool graph_sort(struct graph *graph, int *numbers, int *cycle) {
  struct sort_key keys[GRAPH_LAYERS_MOST];
  uint64_t hashes[GRAPH_LAYERS_MOST], placed;
  if (!order_somehow(graph, numbers, &placed)) {
    *cycle = __builtin_ctzll(~placed);
    return false;
  }
  hash_layers(graph, numbers, hashes);
  for (int k = 0; k < graph->count; k++) {
    const struct layer *layer = &graph->layers[numbers[k]];
    struct sort_key *key = &keys[numbers[k]];
    *key = (struct sort_key){.label = layer->label, .units = layer->units, .stride = layer->stride};
    key->hash = hashes[numbers[k]];
    for (uint64_t rest = layer->parents; rest;) {
      int depth = keys[bits_take(&rest)].depth + 1;
      key->depth = depth > key->depth ? depth : key->depth;
    }
  }
  sort_layers(graph, keys, numbers);
  permute(graph, numbers);
  return true;
}
