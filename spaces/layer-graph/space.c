/* space.c - instances of the layer-graph spaces, and the operations of a graph space. */
#include "space.h"

#include "decode.h"
#include "graph_json.h"
#include "plugins/shared/json.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

const char *const layer_graph_path_groups[] = {"all", "kinds", NULL};
const char *const layer_graph_walks[] = {"parents", "children", NULL}; /* enum otmann_walks */

/* A genotype: a sorted graph and the data that distances need. */
struct architecture {
  struct graph graph;
  struct otmann_profile *profile;
};

struct layer_graph {
  const struct layer_graph_config *config;
  struct graph_rules rules;
  struct otmann otmann;
  double weights[MODIFIER_COUNT];
  char measure_names[2 * OTMANN_STRUCTURES_MOST][48];
  size_t start_count; /* the members of the initial pool that the rules allow */
  struct {
    const char *name;
    char *json;
    struct graph graph;
  } starts[POOL_MOST];
};

/* --- instance ---------------------------------------------------------------------------------------------------- */

void layer_graph_destroy(void *self) {
  struct layer_graph *space = self;
  for (size_t i = 0; i < space->start_count; i++)
    tutti_free(space->starts[i].json);
  tutti_free(space);
}

static enum tutti_status check_pair(tutti_context *context, const char *low_name, int64_t low, const char *high_name,
                                    int64_t high) {
  if (low <= high)
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "[space] %s: %lld is more than %s, %lld", low_name, (long long)low,
                    high_name, (long long)high);
}

static double sum_of(size_t count, const double *values) {
  double sum = 0;
  for (size_t i = 0; i < count; i++)
    sum += values[i];
  return sum;
}

static enum tutti_status check_config(tutti_context *context, const struct layer_graph_config *config) {
  TUTTI_TRY(context, check_pair(context, "min_layers", config->min_layers, "max_layers", config->max_layers));
  TUTTI_TRY(context, check_pair(context, "min_units", config->min_units, "max_units", config->max_units));
  if (!(sum_of(config->steps.count, config->steps.values) > 0))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "[space] steps: expected at least one chance above 0");
  if (config->structures.count == 0 || config->structures.count > OTMANN_STRUCTURES_MOST)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "[space] structure: expected 1 to %d weights, found %zu",
                      OTMANN_STRUCTURES_MOST, config->structures.count);
  return TUTTI_OK;
}

/* Modifiers that would make more than chains have no chance if only chains are allowed. */
static enum tutti_status set_weights(tutti_context *context, struct layer_graph *space) {
  for (int i = 0; i < MODIFIER_COUNT; i++)
    space->weights[i] = space->config->weights[i];
  if (space->rules.chains)
    space->weights[MODIFIER_BRANCH] = space->weights[MODIFIER_SKIP] = 0;
  if (!(sum_of(MODIFIER_COUNT, space->weights) > 0))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "[space] weight_...: no modifier has a weight above 0");
  return TUTTI_OK;
}

static struct graph_rules rules_of(const struct layer_graph_family *family, const struct layer_graph_config *config,
                                   const struct tutti_task *task) {
  /* Without data, as when only distances are computed, both sorts of network are accepted. */
  uint32_t decisions = task->kind == TUTTI_TASK_REGRESSION       ? 1u << LABEL_LINEAR
                       : task->kind == TUTTI_TASK_CLASSIFICATION ? 1u << LABEL_SOFTMAX
                                                                 : LABELS_DECISION;
  return (struct graph_rules){.labels = family->labels | LABELS_ENDS | decisions,
                              .chains = config->chains,
                              .layers_least = config->min_layers,
                              .layers_most = config->max_layers,
                              .inputs_most = config->max_inputs,
                              .outputs_most = config->max_outputs,
                              .edges_most = config->max_edges,
                              .units_least = config->min_units,
                              .units_most = config->max_units,
                              .branch_keep = config->branch_keep};
}

static void set_distances(struct layer_graph *space, const struct layer_graph_family *family) {
  const struct layer_graph_config *config = space->config;
  struct otmann_rules rules = {.fc_mass = config->fc_mass,
                               .end_mass = config->end_mass,
                               .pool_mismatch = config->pool_mismatch,
                               .conv_mismatch = config->conv_mismatch,
                               .group_count = config->path_groups == LAYER_GRAPH_GROUPS_ALL ? 1 : family->kind_count,
                               .walks = (enum otmann_walks)config->walks,
                               .structure_count = config->structures.count};
  for (size_t i = 0; i < rules.group_count; i++)
    rules.groups[i] = family->kinds[i];
  for (size_t i = 0; i < rules.structure_count; i++) {
    rules.structures[i] = config->structures.values[i];
    (void)snprintf(space->measure_names[i], sizeof space->measure_names[i], "d at %.6g", rules.structures[i]);
    char *relative = space->measure_names[rules.structure_count + i];
    (void)snprintf(relative, sizeof space->measure_names[i], "d / mass at %.6g", rules.structures[i]);
  }
  otmann_init(&space->otmann, &rules);
}

/* A space with narrower layers starts from a narrower pool. */
static void narrow(struct graph *graph, int64_t most) {
  for (int i = 0; i < graph->count; i++)
    if (graph->layers[i].units > most)
      graph->layers[i].units = (int32_t)most;
}

static enum tutti_status list_starts(tutti_context *context, struct layer_graph *space,
                                     const struct layer_graph_family *family) {
  const struct graph_pool *pool = family->pool;
  enum label decision = label_in(family->decision, space->rules.labels) ? family->decision
                        : family->decision == LABEL_LINEAR              ? LABEL_SOFTMAX
                                                                        : LABEL_LINEAR;
  for (size_t i = 0; i < pool->count; i++) {
    struct graph *graph = &space->starts[space->start_count].graph;
    pool->build(i, decision, graph);
    narrow(graph, space->rules.units_most);
    if (!graph_settle(&space->rules, graph))
      continue;
    TUTTI_TRY(context, graph_to_json(context, graph, &space->starts[space->start_count].json));
    space->starts[space->start_count++].name = pool->names[i];
  }
  if (space->start_count == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "[space] min_layers to max_units: no graph of the initial pool is within these limits");
  return TUTTI_OK;
}

enum tutti_status layer_graph_create(tutti_context *context, const struct layer_graph_family *family,
                                     const struct layer_graph_config *config, const struct tutti_task *task,
                                     void **self) {
  enum tutti_status status = TUTTI_OK;
  struct layer_graph *space;
  TUTTI_TRY(context, check_config(context, config));
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *space, &space));
  space->config = config;
  space->rules = rules_of(family, config, task);
  set_distances(space, family);
  TUTTI_TRY_OUT(context, set_weights(context, space));
  TUTTI_TRY_OUT(context, list_starts(context, space, family));
  *self = space;
  return TUTTI_OK;
out:
  layer_graph_destroy(space);
  return status;
}

/* --- genotypes --------------------------------------------------------------------------------------------------- */

static void space_free_layer_graph(void *self, void *graph) {
  struct architecture *architecture = graph;
  (void)self;
  tutti_free(architecture->profile);
  tutti_free(architecture);
}

static enum tutti_status make_architecture(tutti_context *context, const struct layer_graph *space,
                                           const struct graph *graph, void **out) {
  struct architecture *architecture;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *architecture, &architecture));
  architecture->graph = *graph;
  enum tutti_status status = otmann_profile_create(context, &space->otmann.rules, graph, &architecture->profile);
  if (status != TUTTI_OK) {
    tutti_free(architecture);
    return tutti_error_trace(context, status, __FILE__, __LINE__, __func__);
  }
  *out = architecture;
  return TUTTI_OK;
}

static enum tutti_status space_sample_layer_graph(void *self, tutti_context *context, struct tutti_random *random,
                                                  void **out) {
  const struct layer_graph *space = self;
  struct graph graph = space->starts[tutti_random_below(random, space->start_count)].graph;
  uint64_t steps = tutti_random_below(random, (uint64_t)space->config->sample_steps + 1);
  while (steps-- > 0)
    (void)modifier_step(&space->rules, space->weights, random, &graph);
  return make_architecture(context, space, &graph, out);
}

/* Steps that lead back to the start are repeated; if no step leads anywhere, the result is the graph itself. */
static enum tutti_status space_mutate_layer_graph(void *self, tutti_context *context, struct tutti_random *random,
                                                  const void *from, void **out) {
  enum { ATTEMPTS = 100 };
  const struct layer_graph *space = self;
  const struct architecture *parent = from;
  struct graph graph = parent->graph;
  for (int attempt = 0; attempt < ATTEMPTS && graph_equal(&graph, &parent->graph); attempt++) {
    size_t steps = 1 + modifier_draw(random, space->config->steps.count, space->config->steps.values);
    while (steps-- > 0)
      (void)modifier_step(&space->rules, space->weights, random, &graph);
  }
  return make_architecture(context, space, &graph, out);
}

static enum tutti_status space_print_layer_graph(void *self, tutti_context *context, const void *graph, char **json) {
  (void)self;
  return graph_to_json(context, &((const struct architecture *)graph)->graph, json);
}

static enum tutti_status space_parse_layer_graph(void *self, tutti_context *context, const char *json, void **out) {
  const struct layer_graph *space = self;
  struct graph graph;
  TUTTI_TRY(context, graph_from_json(context, &space->rules, json, &graph));
  return make_architecture(context, space, &graph, out);
}

static bool space_known_layer_graph(void *self, size_t index, const char **name, const char **json) {
  const struct layer_graph *space = self;
  if (index >= space->start_count)
    return false;
  *name = space->starts[index].name;
  *json = space->starts[index].json;
  return true;
}

static enum tutti_status space_decode_layer_graph(void *self, tutti_context *context, const tutti_genotype *genotype,
                                                  const struct tutti_task *task, tutti_network **network) {
  const struct architecture *architecture = tutti_genotype_graph(genotype);
  (void)self;
  return graph_decode(context, &architecture->graph, task, network);
}

/* --- distances --------------------------------------------------------------------------------------------------- */

static size_t space_measures_layer_graph(void *self) {
  return 2 * ((const struct layer_graph *)self)->otmann.rules.structure_count;
}

static enum tutti_status space_distances_layer_graph(void *self, tutti_context *context, const tutti_genotype *from,
                                                     size_t count, const tutti_genotype *const *to, double *out) {
  struct layer_graph *space = self;
  const struct architecture *one = tutti_genotype_graph(from);
  const struct otmann_profile **profiles;
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof *profiles, &profiles));
  for (size_t i = 0; i < count; i++)
    profiles[i] = ((const struct architecture *)tutti_genotype_graph(to[i]))->profile;
  enum tutti_status status = otmann_distances(context, &space->otmann, one->profile, count, profiles, out);
  tutti_free(profiles);
  return status;
}

static const char *space_measure_name_layer_graph(void *self, size_t index) {
  const struct layer_graph *space = self;
  return index < space_measures_layer_graph(self) ? space->measure_names[index] : NULL;
}

/* Which layer goes where, in numbers of layers; -1: not matched. */
struct match {
  int from, to;
  double mass, cost;
};

struct explanation {
  const struct otmann_profile *from, *to;
  size_t count;
  struct match matches[2 * GRAPH_LAYERS_MOST]; /* as many as a tree has arcs */
};

static void add_match(void *argument, int from, int to, double mass, double cost) {
  struct explanation *explanation = argument;
  explanation->matches[explanation->count++] = (struct match){from < 0 ? -1 : explanation->from->layers[from],
                                                              to < 0 ? -1 : explanation->to->layers[to], mass, cost};
}

/* In the order of the first network's layers, then those that only the second has. */
static int compare_matches(const void *a_, const void *b_) {
  const struct match *a = a_, *b = b_;
  unsigned first = (unsigned)a->from, second = (unsigned)b->from;
  return first != second ? (first > second) - (first < second) : (a->to > b->to) - (a->to < b->to);
}

/* "3 relu 64"; "" for none. */
static const char *name_layer(const struct graph *graph, int index, char text[32]) {
  *text = '\0';
  if (index >= 0) {
    const struct layer *layer = &graph->layers[index];
    size_t used = (size_t)snprintf(text, 32, "%d %s", index, label_facts[layer->label].name);
    if (layer->units)
      (void)snprintf(text + used, 32 - used, " %d%s", layer->units, layer->stride == 2 ? "/2" : "");
  }
  return text;
}

static enum tutti_status space_explain_layer_graph(void *self, tutti_context *context, const tutti_genotype *from,
                                                   const tutti_genotype *to, char **json) {
  struct layer_graph *space = self;
  const struct architecture *first = tutti_genotype_graph(from), *second = tutti_genotype_graph(to);
  struct explanation explanation = {.from = first->profile, .to = second->profile};
  json_t *rows = json_array();
  char title[64];
  otmann_explain(&space->otmann, first->profile, second->profile, add_match, &explanation);
  qsort(explanation.matches, explanation.count, sizeof explanation.matches[0], compare_matches);
  for (size_t i = 0; i < explanation.count; i++) {
    const struct match *match = &explanation.matches[i];
    char names[2][32];
    (void)json_array_append_new(rows, json_pack("[s, s, f, f, f]", name_layer(&first->graph, match->from, names[0]),
                                                name_layer(&second->graph, match->to, names[1]), match->mass,
                                                match->cost, match->mass * match->cost));
  }
  (void)snprintf(title, sizeof title, "Where mass goes (d at %.6g)", space->otmann.rules.structures[0]);
  json_t *root = json_pack("{s:s, s:[s, s, s, s, s], s:o}", "title", title, "columns", "first", "second", "mass",
                           "cost per mass", "cost", "rows", rows);
  return shared_json_print(context, root, JSON_COMPACT | JSON_REAL_PRECISION(17), "a table", json);
}

const struct tutti_space_ops layer_graph_ops = {
    .size = sizeof layer_graph_ops,
    .decode = space_decode_layer_graph,
    .graph_sample = space_sample_layer_graph,
    .graph_mutate = space_mutate_layer_graph,
    .graph_print = space_print_layer_graph,
    .graph_parse = space_parse_layer_graph,
    .graph_free = space_free_layer_graph,
    .known = space_known_layer_graph,
    .measures = space_measures_layer_graph,
    .distances = space_distances_layer_graph,
    .measure_name = space_measure_name_layer_graph,
    .explain = space_explain_layer_graph,
};
