/* profile.c - the data of a graph that OTMANN needs: masses of layers, and lengths of the paths through them. */
#include "otmann.h"

#include <math.h>

/* --- masses ------------------------------------------------------------------------------------------------------ */

/* Incoming channels times units; for a pool, incoming channels; 0 for ip, op and decision layers. */
static double processing_mass(const struct otmann_rules *rules, const struct layer *layer, double incoming) {
  switch (label_role(layer->label)) {
  case ROLE_HIDDEN:
  case ROLE_CONV:
    return incoming * layer->units;
  case ROLE_FC:
    return incoming * layer->units * rules->fc_mass;
  case ROLE_POOL:
    return incoming;
  default:
    return 0;
  }
}

void otmann_masses(const struct otmann_rules *rules, const struct graph *graph, double *masses) {
  double in[GRAPH_LAYERS_MOST], out[GRAPH_LAYERS_MOST], sum = 0;
  graph_channels(graph, in, out);
  for (int i = 0; i < graph->count; i++)
    sum += masses[i] = processing_mass(rules, &graph->layers[i], in[i]);
  double end = fmax(0.1 * sum, rules->end_mass);
  uint64_t decisions = graph_with_role(graph, ROLE_DECISION);
  double share = end / bits_count(decisions);
  masses[0] = masses[graph->count - 1] = end;
  while (decisions)
    masses[bits_take(&decisions)] = share;
}

/* --- paths ------------------------------------------------------------------------------------------------------- */

/* Path lengths from one end along `before` (parents or children), layers in the order first, first + step, ...: the
   layer's own hop plus the shortest, longest and mean length of the layers before it. The end itself has 0. */
static void measure_paths(const struct graph *graph, uint32_t group, bool from_ip,
                          double (*lengths)[GRAPH_LAYERS_MOST]) {
  int last = graph->count - 1;
  for (int k = 0; k <= last; k++) {
    int i = from_ip ? k : last - k;
    uint64_t before = from_ip ? graph->layers[i].parents : graph->layers[i].children;
    double own = label_in(graph->layers[i].label, group) ? 1 : 0;
    double shortest = INFINITY, longest = 0, sum = 0;
    for (uint64_t rest = before; rest;) {
      int other = bits_take(&rest);
      shortest = fmin(shortest, lengths[0][other]);
      longest = fmax(longest, lengths[1][other]);
      sum += lengths[2][other];
    }
    lengths[0][i] = before ? own + shortest : 0;
    lengths[1][i] = before ? own + longest : 0;
    lengths[2][i] = before ? own + sum / bits_count(before) : 0;
  }
}

/* Expected hops of walks from ip that pass a layer, by the chance of each edge into it: a layer's walks go to each of
   its children alike. walk[count]. */
static void measure_walks(const struct graph *graph, uint32_t group, double *walk) {
  double onward[GRAPH_LAYERS_MOST]; /* the chance to pass a layer, over its number of children */
  for (int i = 0; i < graph->count; i++) {
    double passed = 0, sum = 0;
    for (uint64_t rest = graph->layers[i].parents; rest;) {
      int parent = bits_take(&rest);
      passed += onward[parent];
      sum += onward[parent] * walk[parent];
    }
    walk[i] = i > 0 ? sum / passed + (label_in(graph->layers[i].label, group) ? 1 : 0) : 0;
    onward[i] = (i > 0 ? passed : 1) / fmax(1, bits_count(graph->layers[i].children));
  }
}

void otmann_path_lengths(const struct graph *graph, uint32_t group, enum otmann_walks walks,
                         double (*lengths)[GRAPH_LAYERS_MOST]) {
  measure_paths(graph, group, true, lengths);
  if (walks == OTMANN_WALKS_CHILDREN)
    measure_walks(graph, group, lengths[2]);
  measure_paths(graph, group, false, lengths + OTMANN_PATHS / 2);
}

/* --- profile ----------------------------------------------------------------------------------------------------- */

static void sort_by_role(const struct graph *graph, struct otmann_profile *profile) {
  for (int role = 0; role <= ROLE_OUTPUT; role++) {
    profile->roles[role] = profile->count;
    for (uint64_t rest = graph_with_role(graph, (enum role)role); rest;) {
      int layer = bits_take(&rest);
      profile->layers[profile->count] = layer;
      profile->labels[profile->count++] = graph->layers[layer].label;
    }
  }
  profile->roles[ROLE_OUTPUT + 1] = profile->count;
}

enum tutti_status otmann_profile_create(tutti_context *context, const struct otmann_rules *rules,
                                        const struct graph *graph, struct otmann_profile **out) {
  struct otmann_profile *profile;
  double values[OTMANN_PATHS][GRAPH_LAYERS_MOST];
  size_t lengths = rules->group_count * OTMANN_PATHS * sizeof profile->lengths[0];
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *profile + lengths + TRANSPORT_LANES * sizeof(double), &profile));
  sort_by_role(graph, profile);
  otmann_masses(rules, graph, values[0]);
  for (int p = 0; p < profile->count; p++)
    profile->total += profile->masses[p] = values[0][profile->layers[p]];
  for (size_t g = 0; g < rules->group_count; g++) {
    otmann_path_lengths(graph, rules->groups[g], rules->walks, values);
    for (int k = 0; k < OTMANN_PATHS; k++)
      for (int p = 0; p < profile->count; p++)
        profile->lengths[g * OTMANN_PATHS + (size_t)k][p] = values[k][profile->layers[p]];
  }
  *out = profile;
  return TUTTI_OK;
}
