/* modifiers.h - the nine ways to change a layer graph. */
#ifndef LAYER_GRAPH_MODIFIERS_H
#define LAYER_GRAPH_MODIFIERS_H

#include "graph.h"

enum modifier {
  MODIFIER_INCREASE,
  MODIFIER_DECREASE,
  MODIFIER_INCREASE_MANY,
  MODIFIER_DECREASE_MANY,
  MODIFIER_SWAP,
  MODIFIER_WEDGE,
  MODIFIER_REMOVE,
  MODIFIER_BRANCH,
  MODIFIER_SKIP,
  MODIFIER_COUNT
};

/* Change a sorted graph in place; the result is neither sorted nor checked. False if there is nothing to change. */
bool modifier_apply(const struct graph_rules *rules, enum modifier modifier, struct tutti_random *random,
                    struct graph *graph);

/* Draw an index of weights[count] with probability proportional to its weight; not all may be 0. */
size_t modifier_draw(struct tutti_random *random, size_t count, const double *weights);

/* One step: draw modifiers by weights[MODIFIER_COUNT] until the result is a valid graph that differs from *graph.
   False, with *graph unchanged, after too many attempts. */
bool modifier_step(const struct graph_rules *rules, const double *weights, struct tutti_random *random,
                   struct graph *graph);

/* Changes of the structure, for modifier_apply; with the same conventions. */
bool modifier_wedge(struct tutti_random *random, uint32_t labels, struct graph *graph);
bool modifier_remove(struct tutti_random *random, struct graph *graph);
bool modifier_branch(struct tutti_random *random, double keep, struct graph *graph);
bool modifier_skip(struct tutti_random *random, struct graph *graph);

/* A random member of a set that is not empty, with equal chances. */
int modifier_pick(struct tutti_random *random, uint64_t set);

#endif
