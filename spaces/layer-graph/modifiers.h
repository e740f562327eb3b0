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

/* Change a sorted graph in place; what it becomes is neither sorted nor checked. False where there is nothing to change. */
bool modifier_apply(enum modifier modifier, struct tutti_random *random, uint32_t labels, struct graph *graph);

/* The index of weights[count] that is drawn with a chance in proportion; not all may be 0. */
size_t modifier_draw(struct tutti_random *random, size_t count, const double *weights);

/* One step: draw modifiers by weights[MODIFIER_COUNT] until a valid graph comes out that differs from *graph; false, and *graph
   as it was, when too many attempts gave none. */
bool modifier_step(const struct graph_rules *rules, const double *weights, struct tutti_random *random,
                   struct graph *graph);

/* Ways to change the structure, for modifier_apply; likewise. */
bool modifier_wedge(struct tutti_random *random, uint32_t labels, struct graph *graph);
bool modifier_remove(struct tutti_random *random, struct graph *graph);
bool modifier_branch(struct tutti_random *random, struct graph *graph);
bool modifier_skip(struct tutti_random *random, struct graph *graph);

/* A member of a set that is not empty, each with the same chance. */
int modifier_pick(struct tutti_random *random, uint64_t set);

#endif
