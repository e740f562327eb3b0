/* validity.c - which layer graphs are valid networks and within a space's limits. */
#include "graph.h"

#include <stdarg.h>
#include <stdio.h>

/* A larger sum would overflow in a network, and no backend could train it. */
enum { CHANNELS_MOST = 65536 };

/* A check in progress: its object, and where its verdict goes. */
struct verdict {
  const struct graph_rules *rules;
  const struct graph *graph;
  const int *numbers;
  size_t size;
  char *why;
};

static bool misfit(const struct verdict *verdict, const char *format, ...) TUTTI_PRINTF(2, 3);

/* Always true, so that checks can return it. */
static bool misfit(const struct verdict *verdict, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(verdict->why, verdict->size, format, arguments);
  va_end(arguments);
  return true;
}

/* "layer 3 (relu) " and its fault, which may mention a second layer: "%d (%s)". */
static bool layer_misfit(const struct verdict *verdict, int index, const char *format, ...) TUTTI_PRINTF(3, 4);

static bool layer_misfit(const struct verdict *verdict, int index, const char *format, ...) {
  char what[160];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  return misfit(verdict, "layer %d (%s) %s", verdict->numbers[index],
                label_facts[verdict->graph->layers[index].label].name, what);
}

/* --- counts ------------------------------------------------------------------------------------------------------ */

static bool counts_misfit(const struct verdict *verdict) {
  const struct graph_rules *rules = verdict->rules;
  const struct graph *graph = verdict->graph;
  int ips = bits_count(graph_with_role(graph, ROLE_INPUT)), ops = bits_count(graph_with_role(graph, ROLE_OUTPUT));
  if (ips != 1 || ops != 1)
    return misfit(verdict, "expected one layer ip and one layer op, found %d and %d", ips, ops);
  if (graph->count < rules->layers_least || graph->count > rules->layers_most)
    return misfit(verdict, "expected %lld to %lld layers (min_layers, max_layers), found %d",
                  (long long)rules->layers_least, (long long)rules->layers_most, graph->count);
  int edges = graph_edges(graph);
  if (edges > rules->edges_most)
    return misfit(verdict, "expected at most %lld edges (max_edges), found %d", (long long)rules->edges_most, edges);
  return false;
}

static bool numbers_misfit(const struct verdict *verdict, int index) {
  const struct graph_rules *rules = verdict->rules;
  const struct layer *layer = &verdict->graph->layers[index];
  int inputs = bits_count(layer->parents), outputs = bits_count(layer->children);
  if (label_facts[layer->label].units && (layer->units < rules->units_least || layer->units > rules->units_most))
    return layer_misfit(verdict, index, "has %d units, not %lld to %lld (min_units, max_units)", layer->units,
                        (long long)rules->units_least, (long long)rules->units_most);
  if (rules->chains && (inputs > 1 || outputs > 1))
    return layer_misfit(verdict, index, "has %d edges in and %d out; here graphs are chains (chains = yes)", inputs,
                        outputs);
  if (inputs > rules->inputs_most)
    return layer_misfit(verdict, index, "has %d edges in, more than %lld (max_inputs)", inputs,
                        (long long)rules->inputs_most);
  if (outputs > rules->outputs_most)
    return layer_misfit(verdict, index, "has %d edges out, more than %lld (max_outputs)", outputs,
                        (long long)rules->outputs_most);
  return false;
}

/* --- connections ------------------------------------------------------------------------------------------------- */

static bool ends_misfit(const struct verdict *verdict, int index) {
  const struct graph *graph = verdict->graph;
  const struct layer *layer = &graph->layers[index];
  uint64_t op = graph_with_role(graph, ROLE_OUTPUT);
  bool decides = label_role(layer->label) == ROLE_DECISION;
  if (layer->label == LABEL_IP && layer->parents)
    return layer_misfit(verdict, index, "has an edge in");
  if (layer->label == LABEL_OP && layer->children)
    return layer_misfit(verdict, index, "has an edge out");
  if (decides && (layer->parents & graph_with_role(graph, ROLE_INPUT)))
    return layer_misfit(verdict, index, "is a decision layer and reads ip; there must be layers in between");
  if (decides && !(layer->children & op))
    return layer_misfit(verdict, index, "is a decision layer and does not reach op");
  if (decides && layer->children != op)
    return layer_misfit(verdict, index, "is a decision layer and leads to more than op");
  if (!decides && (layer->children & op))
    return layer_misfit(verdict, index, "leads to op; only decision layers do");
  return false;
}

static bool reach_misfits(const struct verdict *verdict) {
  const struct graph *graph = verdict->graph;
  uint64_t from_ip = graph_with_role(graph, ROLE_INPUT), to_op = graph_with_role(graph, ROLE_OUTPUT);
  for (int i = 0; i < graph->count; i++)
    if (graph->layers[i].parents & from_ip)
      from_ip |= bit(i);
  for (int i = graph->count - 1; i >= 0; i--)
    if (graph->layers[i].children & to_op)
      to_op |= bit(i);
  for (int i = 0; i < graph->count; i++)
    if (!(from_ip & bit(i)) || !(to_op & bit(i)))
      return layer_misfit(verdict, i, from_ip & bit(i) ? "has no way to op" : "cannot be reached from ip");
  return false;
}

static bool channels_misfit(const struct verdict *verdict) {
  double in[GRAPH_LAYERS_MOST], out[GRAPH_LAYERS_MOST];
  graph_channels(verdict->graph, in, out);
  for (int i = 0; i < verdict->graph->count; i++)
    if (verdict->graph->layers[i].label != LABEL_OP && in[i] > CHANNELS_MOST)
      return layer_misfit(verdict, i, "reads %.0f channels, more than %d", in[i], CHANNELS_MOST);
  return false;
}

/* --- images ------------------------------------------------------------------------------------------------------ */

void graph_halvings(const struct graph *graph, int *halvings) {
  for (int i = 0; i < graph->count; i++) {
    const struct layer *layer = &graph->layers[i];
    enum role role = label_role(layer->label);
    int input = layer->parents ? halvings[__builtin_ctzll(layer->parents)] : 0;
    if (role == ROLE_INPUT)
      halvings[i] = 0;
    else if ((role == ROLE_CONV || role == ROLE_POOL) && input >= 0)
      halvings[i] = input + (role == ROLE_POOL || layer->stride == 2 ? 1 : 0);
    else
      halvings[i] = -1;
  }
}

/* Convolutions and pools read images; all parents of a layer must have the same size. */
static bool images_misfit(const struct verdict *verdict) {
  const struct graph *graph = verdict->graph;
  int halvings[GRAPH_LAYERS_MOST];
  graph_halvings(graph, halvings);
  for (int i = 1; i < graph->count; i++) {
    enum role role = label_role(graph->layers[i].label);
    int first = __builtin_ctzll(graph->layers[i].parents);
    if (role == ROLE_OUTPUT)
      continue;
    if (role != ROLE_CONV && (graph->layers[i].parents & bit(0)))
      return layer_misfit(verdict, i, "reads ip; only convolutions do");
    if ((role == ROLE_CONV || role == ROLE_POOL) && halvings[first] < 0)
      return layer_misfit(verdict, i, "reads layer %d, which gives no image", verdict->numbers[first]);
    for (uint64_t rest = graph->layers[i].parents; rest;) {
      int other = bits_take(&rest);
      if (halvings[other] != halvings[first])
        return layer_misfit(verdict, i, "reads layers %d and %d, which give images of different sizes",
                            verdict->numbers[first], verdict->numbers[other]);
    }
  }
  return false;
}

bool graph_misfits(const struct graph_rules *rules, const struct graph *graph, const int *numbers, size_t size,
                   char *why) {
  struct verdict verdict = {rules, graph, numbers, size, why};
  if (counts_misfit(&verdict))
    return true;
  for (int i = 0; i < graph->count; i++)
    if (numbers_misfit(&verdict, i) || ends_misfit(&verdict, i))
      return true;
  return reach_misfits(&verdict) || ((rules->labels & LABELS_CONV) && images_misfit(&verdict)) ||
         channels_misfit(&verdict);
}

bool graph_settle(const struct graph_rules *rules, struct graph *graph) {
  int numbers[GRAPH_LAYERS_MOST], cycle;
  char why[256];
  return graph_sort(graph, numbers, &cycle) && !graph_misfits(rules, graph, numbers, sizeof why, why);
}
