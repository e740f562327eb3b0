/* otmann.h - OTMANN, the distance of layer graphs by optimal transport: the cost of matching the layers of one graph,
   by mass, with those of another. Source: Kandasamy et al., NeurIPS 2018, Section 3. */
#ifndef LAYER_GRAPH_OTMANN_H
#define LAYER_GRAPH_OTMANN_H

#include "graph.h"
#include "transport.h"

enum {
  OTMANN_STRUCTURES_MOST = 8, /* structural weights */
  OTMANN_GROUPS_MOST = 4,
  OTMANN_PATHS = 6 /* shortest, longest, random walk, each from ip and to op */
};

/* Over which edges the walks from ip are averaged: parents of a layer, each alike, as the published program does; or
   walks that hop to a child, each alike, of which those that pass the layer count, as the paper's text says. */
enum otmann_walks { OTMANN_WALKS_PARENTS, OTMANN_WALKS_CHILDREN };

struct otmann_rules {
  double fc_mass;       /* mass of a fully connected layer, relative to other layers */
  double end_mass;      /* the least mass of ip, of op, and of all decision layers together */
  double pool_mismatch; /* mismatch of maximum and average pools */
  double conv_mismatch; /* mismatch of kernels whose sizes differ by 2 */
  size_t group_count;   /* groups of layers over which path lengths are counted */
  uint32_t groups[OTMANN_GROUPS_MOST];
  enum otmann_walks walks;
  size_t structure_count;
  double structures[OTMANN_STRUCTURES_MOST]; /* weights of differences in path lengths, ascending */
};

/* The data of a graph that distances need, computed once. Layers are ordered by role, so that layers that may match are
   neighbours: position p is layer layers[p]; those of role r are roles[r] to roles[r + 1] - 1. */
struct otmann_profile {
  int count;
  int layers[GRAPH_LAYERS_MOST];
  enum label labels[GRAPH_LAYERS_MOST];
  int roles[ROLE_OUTPUT + 2];
  double masses[GRAPH_LAYERS_MOST];
  double total;
  double lengths[][GRAPH_LAYERS_MOST]; /* [groups * OTMANN_PATHS], and TRANSPORT_LANES doubles that are read, too */
};

/* Masses of the layers of a sorted graph; masses[count]. */
void otmann_masses(const struct otmann_rules *rules, const struct graph *graph, double *masses);
/* Path lengths of each layer of a sorted graph: lengths[OTMANN_PATHS][count], in the order ip shortest, longest, random
   walk, then the same for op. A hop counts 1 if its layer is in `group`. */
void otmann_path_lengths(const struct graph *graph, uint32_t group, enum otmann_walks walks,
                         double (*lengths)[GRAPH_LAYERS_MOST]);
/* Mismatch of two labels of one role, in [0, 1]. */
double otmann_mismatch(const struct otmann_rules *rules, enum label a, enum label b);

/* Profile of a sorted graph; free with tutti_free. */
TUTTI_NODISCARD enum tutti_status otmann_profile_create(tutti_context *context, const struct otmann_rules *rules,
                                                        const struct graph *graph, struct otmann_profile **profile);

/* Mean difference of path lengths: out[count], of lengths own[paths] from others[paths][GRAPH_LAYERS_MOST]; out is
   written up to a multiple of TRANSPORT_LANES. */
typedef void otmann_structure_function(size_t paths, const double *own, const double *others, int count, double *out);

/* Memory for the computation of pairs, so that a pair allocates nothing. */
struct otmann {
  struct otmann_rules rules;
  otmann_structure_function *structure; /* the fastest for this processor */
  double mismatch[LABEL_COUNT][LABEL_COUNT];
  struct transport transport;
  double label_costs[TRANSPORT_SIDE][TRANSPORT_STRIDE], structure_costs[TRANSPORT_SIDE][TRANSPORT_STRIDE];
};

void otmann_init(struct otmann *otmann, const struct otmann_rules *rules);
/* d of each structural weight, then d / (total + total) of each; out[2 * structures]. */
void otmann_distance(struct otmann *otmann, const struct otmann_profile *a, const struct otmann_profile *b,
                     double *out);

/* The distances of a graph from many: out[count][2 * structures], by as many threads as the context allows, with the
   same bits for any number (otmann_pairs.c). */
TUTTI_NODISCARD enum tutti_status otmann_distances(tutti_context *context, struct otmann *otmann,
                                                   const struct otmann_profile *from, size_t count,
                                                   const struct otmann_profile *const *to, double *out);

/* The optimal plan for the first structural weight, in positions of the profiles; -1: not matched, at a cost of 1. */
void otmann_explain(struct otmann *otmann, const struct otmann_profile *a, const struct otmann_profile *b,
                    void (*add)(void *argument, int from, int to, double mass, double cost), void *argument);

#endif
