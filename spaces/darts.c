/* space darts: image networks that repeat two searched cells, a normal one and a reduction. Liu, Simonyan, Yang,
   "DARTS: Differentiable architecture search", ICLR 2019; sampled and mutated as in Zaidi et al., "Neural Ensemble
   Search for Uncertainty Estimation and Dataset Shift", NeurIPS 2021.

   A point space. Each node of a cell has one dimension for its pair of inputs and two for the operations on them, the
   lower input's first; the first node has only one pair. Every point is a genotype. A uniform point has distinct inputs
   and uniformly drawn operations, as in the paper. Genotypes are written as cells: {"normal": [["sep_conv_3x3", 0],
   ...], ...}.

   Deviations:
   - the paper's third mutation changes nothing. A mutant has to differ, so this one is left to builders (nes-re:
     identity); the other two have probability 1/2 each, as in the paper;
   - a mutated edge gets a parent other than the node's two. The published program may also draw the old one again, and
     leaves out states that no later node reads.
   With nodes = 5, inputs = any, output = loose-ends and all operations, it is the space of NASNet and AmoebaNet. */
#include "cells/cells.h"

#include <stdio.h>
#include <string.h>

enum { INPUTS_DISTINCT, INPUTS_ANY };
enum { OUTPUT_ALL, OUTPUT_LOOSE_ENDS };
enum { PAIRS_MOST = (CELL_INPUTS + CELL_NODES_MOST) * (CELL_INPUTS + CELL_NODES_MOST + 1) / 2 };

struct space_darts_config {
  int64_t cells, channels, nodes;
  struct tutti_choices operations;
  int inputs, output;
  struct cell_macro macro;
};

static const char *const inputs_names[] = {"distinct", "any", NULL};
static const char *const output_names[] = {"all", "loose-ends", NULL};

static const struct tutti_param space_darts_params[] = {
    TUTTI_INTEGER(struct space_darts_config, cells, "8", 1, 100,
                  "Cells in a row; numbers cells / 3 and 2 cells / 3, counted from 0, are reductions."),
    TUTTI_INTEGER(struct space_darts_config, channels, "16", 2, 4096,
                  "Channels of the first cell's nodes; each reduction doubles them."),
    TUTTI_INTEGER(struct space_darts_config, nodes, "4", 1, CELL_NODES_MOST,
                  "Nodes of a cell, each of which adds up two operations."),
    TUTTI_CHOICES(struct space_darts_config, operations,
                  "max_pool_3x3 avg_pool_3x3 skip_connect sep_conv_3x3 sep_conv_5x5 dil_conv_3x3 dil_conv_5x5",
                  cell_operation_names, "Operations that an edge may have."),
    TUTTI_CHOICE(struct space_darts_config, inputs, "distinct", inputs_names,
                 "A node's two inputs are distinct, or any two (NASNet, AmoebaNet)."),
    TUTTI_CHOICE(struct space_darts_config, output, "all", output_names,
                 "A cell's output is made of all nodes, or of those that no other reads (NASNet, AmoebaNet)."),
    CELL_MACRO_PARAMS(struct space_darts_config),
};

/* Two earlier states, low <= high. */
struct pair {
  int low, high;
};

struct space_darts {
  const struct space_darts_config *config;
  struct cell_rules rules;
  tutti_domain *domain;
  size_t known_count;
  struct {
    const char *name;
    char *json;
  } known[CELL_PUBLISHED];
};

static void space_destroy_darts(void *self) {
  struct space_darts *space = self;
  for (size_t i = 0; i < space->known_count; i++)
    tutti_free(space->known[i].json);
  tutti_domain_destroy(space->domain);
  tutti_free(space);
}

/* --- dimensions -------------------------------------------------------------------------------------------------- */

/* Dimensions of a cell: two operations per node, and the inputs of all nodes except the first. */
static size_t operation_dimension(const struct space_darts *space, int kind, int node, int edge) {
  int number = kind * (3 * space->rules.nodes - 1) + 3 * node + edge;
  return (size_t)number;
}

static size_t inputs_dimension(const struct space_darts *space, int kind, int node) {
  return operation_dimension(space, kind, node, 0) - 1;
}

/* The pairs of inputs that a node may have, in the order of the dimension's choices; returns their number. */
static size_t list_pairs(const struct space_darts *space, int node, struct pair *pairs) {
  size_t count = 0;
  int step = space->rules.repeats ? 0 : 1;
  if (node == 0) {
    pairs[0] = (struct pair){0, 1};
    return 1;
  }
  for (int low = 0; low < node + CELL_INPUTS; low++)
    for (int high = low + step; high < node + CELL_INPUTS; high++)
      pairs[count++] = (struct pair){low, high};
  return count;
}

static enum tutti_status add_choice_darts(tutti_context *context, struct space_darts *space, const char *name,
                                          size_t count, const char *const *choices) {
  struct tutti_dimension dimension = {.size = sizeof dimension,
                                      .name = name,
                                      .type = TUTTI_DIMENSION_CATEGORICAL,
                                      .choice_count = count,
                                      .choices = choices};
  return tutti_domain_add(context, space->domain, &dimension);
}

static enum tutti_status add_inputs_darts(tutti_context *context, struct space_darts *space, int node,
                                          const char *name) {
  struct pair pairs[PAIRS_MOST];
  char texts[PAIRS_MOST][16];
  const char *choices[PAIRS_MOST];
  size_t count = list_pairs(space, node, pairs);
  for (size_t i = 0; i < count; i++) {
    (void)snprintf(texts[i], sizeof texts[i], "%d-%d", pairs[i].low, pairs[i].high);
    choices[i] = texts[i];
  }
  return add_choice_darts(context, space, name, count, choices);
}

static enum tutti_status add_node_darts(tutti_context *context, struct space_darts *space, int kind, int node) {
  const char *operations[CELL_OPERATIONS];
  char name[64];
  for (size_t i = 0; i < space->rules.operation_count; i++)
    operations[i] = cell_operation_names[space->rules.operations[i]];
  if (node > 0) {
    (void)snprintf(name, sizeof name, "%s_node%d_inputs", cell_kind_names[kind], node + CELL_INPUTS);
    TUTTI_TRY(context, add_inputs_darts(context, space, node, name));
  }
  for (int edge = 0; edge < 2; edge++) {
    (void)snprintf(name, sizeof name, "%s_node%d_operation%d", cell_kind_names[kind], node + CELL_INPUTS, edge + 1);
    TUTTI_TRY(context, add_choice_darts(context, space, name, space->rules.operation_count, operations));
  }
  return TUTTI_OK;
}

/* --- points and genotypes ---------------------------------------------------------------------------------------- */

static void genotype_of_point(const struct space_darts *space, const double *point, struct cell_genotype *genotype) {
  *genotype = (struct cell_genotype){.nodes = space->rules.nodes, .loose_ends = space->rules.loose_ends};
  for (int kind = 0; kind < CELL_KINDS; kind++)
    for (int node = 0; node < genotype->nodes; node++) {
      struct cell_edge *edges = genotype->edges[kind][node];
      struct pair pairs[PAIRS_MOST];
      (void)list_pairs(space, node, pairs);
      struct pair pair = pairs[node ? (size_t)point[inputs_dimension(space, kind, node)] : 0];
      for (int edge = 0; edge < 2; edge++) {
        size_t operation = (size_t)point[operation_dimension(space, kind, node, edge)];
        edges[edge] = (struct cell_edge){space->rules.operations[operation], edge ? pair.high : pair.low};
      }
    }
}

static double number_of_operation(const struct space_darts *space, int operation) {
  size_t i = 0;
  while (space->rules.operations[i] != operation)
    i++;
  return (double)i;
}

/* The point of a sorted genotype that fits the space. */
static void point_of_genotype(const struct space_darts *space, const struct cell_genotype *genotype, double *point) {
  for (int kind = 0; kind < CELL_KINDS; kind++)
    for (int node = 0; node < genotype->nodes; node++) {
      const struct cell_edge *edges = genotype->edges[kind][node];
      struct pair pairs[PAIRS_MOST];
      size_t number = 0;
      (void)list_pairs(space, node, pairs);
      while (pairs[number].low != edges[0].input || pairs[number].high != edges[1].input)
        number++;
      if (node > 0)
        point[inputs_dimension(space, kind, node)] = (double)number;
      for (int edge = 0; edge < 2; edge++)
        point[operation_dimension(space, kind, node, edge)] = number_of_operation(space, edges[edge].operation);
    }
}

static enum tutti_status space_print_point_darts(void *self, tutti_context *context, const double *point, char **json) {
  struct cell_genotype genotype;
  genotype_of_point(self, point, &genotype);
  return cell_print(context, &genotype, json);
}

static enum tutti_status space_parse_point_darts(void *self, tutti_context *context, const char *json, double *point) {
  const struct space_darts *space = self;
  struct cell_genotype genotype;
  TUTTI_TRY(context, cell_parse(context, &space->rules, json, &genotype));
  point_of_genotype(space, &genotype, point);
  return TUTTI_OK;
}

/* --- mutation ---------------------------------------------------------------------------------------------------- */

/* One of all edges gets a different operation. */
static void mutate_operation(const struct space_darts *space, struct tutti_random *random, double *point, int kind) {
  int edge = (int)tutti_random_below(random, 2 * (uint64_t)space->rules.nodes);
  double *operation = &point[operation_dimension(space, kind, edge / 2, edge % 2)];
  double other = (double)tutti_random_below(random, space->rules.operation_count - 1);
  *operation = other >= *operation ? other + 1 : other;
}

/* One edge of any node except the first gets another state, which the node does not read yet. With repeats, this may be
   the state of its other edge. The operation stays with the edge. */
static void mutate_input(const struct space_darts *space, struct tutti_random *random, struct cell_genotype *genotype,
                         int kind) {
  int node = 1 + (int)tutti_random_below(random, (uint64_t)space->rules.nodes - 1);
  int number = (int)tutti_random_below(random, 2);
  struct cell_edge *edges = genotype->edges[kind][node];
  int old = edges[number].input, other = space->rules.repeats ? old : edges[1 - number].input;
  uint64_t skipped = tutti_random_below(random, (uint64_t)(node + CELL_INPUTS - (space->rules.repeats ? 1 : 2)));
  int state = 0;
  while (state == old || state == other || skipped-- > 0)
    state++;
  edges[number].input = state;
}

static enum tutti_status space_mutate_point_darts(void *self, tutti_context *context, struct tutti_random *random,
                                                  double *point) {
  const struct space_darts *space = self;
  bool operations = space->rules.operation_count > 1, inputs = space->rules.nodes > 1;
  int kind = (int)tutti_random_below(random, CELL_KINDS);
  (void)context;
  if (inputs && (!operations || tutti_random_below(random, 2) == 0)) {
    struct cell_genotype genotype;
    genotype_of_point(space, point, &genotype);
    mutate_input(space, random, &genotype, kind);
    cell_sort(&genotype);
    point_of_genotype(space, &genotype, point);
  } else if (operations) {
    mutate_operation(space, random, point, kind);
  }
  return TUTTI_OK;
}

/* --- instance ---------------------------------------------------------------------------------------------------- */

/* Published genotypes that this space has. */
static enum tutti_status list_known(tutti_context *context, struct space_darts *space) {
  char why[256];
  for (size_t i = 0; i < CELL_PUBLISHED; i++) {
    if (cell_misfit(&space->rules, &cell_published[i], sizeof why, why))
      continue;
    space->known[space->known_count].name = cell_published_names[i];
    TUTTI_TRY(context, cell_print(context, &cell_published[i], &space->known[space->known_count].json));
    space->known_count++;
  }
  return TUTTI_OK;
}

static enum tutti_status space_create_darts(tutti_context *context, const void *config_, const void *setup_,
                                            void **self) {
  const struct space_darts_config *config = config_;
  const struct tutti_space_setup *setup = setup_;
  enum tutti_status status = TUTTI_OK;
  struct space_darts *space = NULL;
  TUTTI_TRY(context, cell_macro_check(context, &config->macro));
  TUTTI_TRY(context, block_need_image(context, setup->task));
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *space, &space));
  space->config = config;
  space->rules = (struct cell_rules){.nodes = (int)config->nodes,
                                     .loose_ends = config->output == OUTPUT_LOOSE_ENDS,
                                     .repeats = config->inputs == INPUTS_ANY,
                                     .operation_count = config->operations.count,
                                     .operations = config->operations.values};
  TUTTI_TRY_OUT(context, tutti_domain_create(context, &space->domain));
  for (int kind = 0; kind < CELL_KINDS; kind++)
    for (int node = 0; node < space->rules.nodes; node++)
      TUTTI_TRY_OUT(context, add_node_darts(context, space, kind, node));
  TUTTI_TRY_OUT(context, list_known(context, space));
  *self = space;
  return TUTTI_OK;
out:
  space_destroy_darts(space);
  return status;
}

static const tutti_domain *space_domain_darts(void *self) { return ((struct space_darts *)self)->domain; }

static bool space_known_darts(void *self, size_t index, const char **name, const char **json) {
  const struct space_darts *space = self;
  if (index >= space->known_count)
    return false;
  *name = space->known[index].name;
  *json = space->known[index].json;
  return true;
}

static enum tutti_status space_decode_darts(void *self, tutti_context *context, const tutti_genotype *genotype,
                                            const struct tutti_task *task, tutti_network **network) {
  const struct space_darts *space = self;
  struct cell_genotype cells;
  genotype_of_point(space, tutti_genotype_point(genotype), &cells);
  return cell_network(context, &space->config->macro, &cells, space->config->cells, space->config->channels, task,
                      network);
}

static const struct tutti_space_ops space_darts_ops = {
    .size = sizeof space_darts_ops,
    .decode = space_decode_darts,
    .domain = space_domain_darts,
    .mutate_point = space_mutate_point_darts,
    .known = space_known_darts,
    .print_point = space_print_point_darts,
    .parse_point = space_parse_point_darts,
};

static const struct tutti_descriptor space_darts_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SPACE, "darts"),
    .version = "1.0",
    .summary = "image networks of a normal and a reduction cell, whose operations and edges are searched",
    .source = "Liu, Simonyan, Yang, DARTS: Differentiable architecture search, ICLR 2019; mutations of Zaidi et al., "
              "Neural Ensemble Search for Uncertainty Estimation and Dataset Shift, NeurIPS 2021",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(space_darts_params, struct space_darts_config),
    .create = space_create_darts,
    .destroy = space_destroy_darts,
    .ops = &space_darts_ops,
};

TUTTI_PLUGIN(space_darts_descriptor)
