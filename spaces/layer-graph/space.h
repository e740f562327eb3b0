/* space.h - the common part of the layer-graph spaces: parameters, instances, and the operations of a graph space. */
#ifndef LAYER_GRAPH_SPACE_H
#define LAYER_GRAPH_SPACE_H

#include "modifiers.h"
#include "otmann.h"
#include "pools.h"

enum { LAYER_GRAPH_GROUPS_ALL, LAYER_GRAPH_GROUPS_KINDS };

struct layer_graph_config {
  int64_t min_layers, max_layers, max_inputs, max_outputs, max_edges, min_units, max_units;
  bool chains;
  int64_t sample_steps;
  struct tutti_reals steps;
  double weights[MODIFIER_COUNT], branch_keep;
  struct tutti_reals structures;
  int path_groups, walks;
  double end_mass;
  /* Convolutional networks. */
  double fc_mass, pool_mismatch, conv_mismatch;
};

extern const char *const layer_graph_path_groups[], *const layer_graph_walks[];

/* clang-format off */
#define LAYER_GRAPH_WEIGHT(name, modifier, share, what) \
  TUTTI_PARAM(name, REAL, struct layer_graph_config, weights[modifier], share, 0, TUTTI_NO_LIMIT, NULL, TUTTI_KIND_SPACE, what)
#define LAYER_GRAPH_LIMIT(field, value, least, most, what) \
  TUTTI_INTEGER(struct layer_graph_config, field, value, least, most, what)

/* The parameters that both spaces have. */
#define LAYER_GRAPH_PARAMS \
  LAYER_GRAPH_LIMIT(min_layers, "5", 3, GRAPH_LAYERS_MOST, "Fewest layers, ip and op included."), \
  LAYER_GRAPH_LIMIT(max_layers, "60", 3, GRAPH_LAYERS_MOST, "Most layers, ip and op included."), \
  LAYER_GRAPH_LIMIT(max_inputs, "5", 1, GRAPH_LAYERS_MOST, "Most edges into a layer."), \
  LAYER_GRAPH_LIMIT(max_outputs, "55", 1, GRAPH_LAYERS_MOST, "Most edges out of a layer."), \
  LAYER_GRAPH_LIMIT(max_edges, "200", 2, GRAPH_LAYERS_MOST * GRAPH_LAYERS_MOST, "Most edges of a graph."), \
  LAYER_GRAPH_LIMIT(min_units, "8", 1, 65536, "Fewest units of a layer."), \
  LAYER_GRAPH_LIMIT(max_units, "1024", 1, 65536, "Most units of a layer; the initial pool's are cut to it."), \
  TUTTI_BOOL(struct layer_graph_config, chains, "no", \
             "Feed-forward chains only: no branches, no skipping (in place of the paper's baseline TreeBO)."), \
  LAYER_GRAPH_LIMIT(sample_steps, "10", 0, 1000, \
                    "A random graph is one of the initial pool after 0 to so many steps of modification."), \
  TUTTI_REALS(struct layer_graph_config, steps, "0.5 0.25 0.125 0.075 0.05", 0, TUTTI_NO_LIMIT, \
              "Relative chances that a mutation takes 1, 2, ... steps, one modifier each."), \
  LAYER_GRAPH_WEIGHT("weight_increase", MODIFIER_INCREASE, "0.1", "Relative chance to enlarge one layer by 1/8."), \
  LAYER_GRAPH_WEIGHT("weight_decrease", MODIFIER_DECREASE, "0.1", "Relative chance to shrink one layer by 1/8."), \
  LAYER_GRAPH_WEIGHT("weight_increase_many", MODIFIER_INCREASE_MANY, "0.1", \
                     "Relative chance to enlarge a half, quarter or eighth of the layers."), \
  LAYER_GRAPH_WEIGHT("weight_decrease_many", MODIFIER_DECREASE_MANY, "0.1", \
                     "Relative chance to shrink a half, quarter or eighth of the layers."), \
  LAYER_GRAPH_WEIGHT("weight_swap", MODIFIER_SWAP, "0.2", "Relative chance to change a layer's label."), \
  LAYER_GRAPH_WEIGHT("weight_wedge", MODIFIER_WEDGE, "0.1", "Relative chance to put a layer into an edge."), \
  LAYER_GRAPH_WEIGHT("weight_remove", MODIFIER_REMOVE, "0.1", "Relative chance to remove a layer."), \
  LAYER_GRAPH_WEIGHT("weight_branch", MODIFIER_BRANCH, "0.2", "Relative chance to duplicate a path."), \
  TUTTI_REAL(struct layer_graph_config, branch_keep, "0.5", 0, 1, \
             "Chance that a duplicated path has an inner layer of the path (the published program); pools, strides, " \
             "decision layers, the first fc and the child of ip, and one layer at least, it has always. 1: all of them (the " \
             "paper's text)."), \
  LAYER_GRAPH_WEIGHT("weight_skip", MODIFIER_SKIP, "0.2", "Relative chance to add an edge past layers."), \
  TUTTI_PARAM("structure", REALS, struct layer_graph_config, structures, "0.1 0.25 0.61 1.5", 0, TUTTI_NO_LIMIT, NULL, \
              TUTTI_KIND_SPACE, \
              "Weights of differences in path lengths (nu); each gives a distance d and a d / mass, in that order."), \
  TUTTI_CHOICE(struct layer_graph_config, path_groups, "kinds", layer_graph_path_groups, \
               "Path lengths count all layers, or also each kind of layer by itself (the published program)."), \
  TUTTI_CHOICE(struct layer_graph_config, walks, "parents", layer_graph_walks, \
               "Random walks from the input: a layer's mean is over its parents, each alike (the published program), " \
               "or over walks that hop to each child alike (the paper's text)."), \
  TUTTI_REAL(struct layer_graph_config, end_mass, "100", 0, TUTTI_NO_LIMIT, \
             "Mass that ip, op and all decision layers together have at least; more is a tenth of the other layers' mass.")
/* clang-format on */

/* The differences between the spaces. */
struct layer_graph_family {
  uint32_t labels;     /* without decision layers */
  enum label decision; /* the pool's decision layers, if the task allows them */
  size_t kind_count;   /* groups for path_groups = kinds, all layers first */
  uint32_t kinds[OTMANN_GROUPS_MOST];
  const struct graph_pool *pool;
};

TUTTI_NODISCARD enum tutti_status layer_graph_create(tutti_context *context, const struct layer_graph_family *family,
                                                     const struct layer_graph_config *config,
                                                     const struct tutti_task *task, void **self);
void layer_graph_destroy(void *self);
extern const struct tutti_space_ops layer_graph_ops;

#endif
