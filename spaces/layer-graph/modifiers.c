/* modifiers.c - modifiers that keep a graph's edges, and the choice of a modifier: Table 2 of the paper, with the
   chances of its published program. Deviations: a swapped convolution may become one of four others or a pool, with the
   chances that the program has for conv3, whatever its kernel, and keeps its stride; which layers may be touched
   (docs/fidelity.md, NASBOT, section 4). */
#include "modifiers.h"

#include <math.h>

enum { ATTEMPTS = 20 }; /* candidates that are tried before a step gives up */

/* --- draws ------------------------------------------------------------------------------------------------------- */

size_t modifier_draw(struct tutti_random *random, size_t count, const double *weights) {
  double sum = 0, left;
  size_t last = 0;
  for (size_t i = 0; i < count; i++)
    sum += weights[i];
  left = tutti_random_uniform(random) * sum;
  for (size_t i = 0; i < count; i++) {
    if (weights[i] <= 0)
      continue;
    last = i;
    if (left < weights[i])
      break;
    left -= weights[i];
  }
  return last;
}

int modifier_pick(struct tutti_random *random, uint64_t set) {
  uint64_t skipped = tutti_random_below(random, (uint64_t)bits_count(set));
  while (skipped-- > 0)
    set &= set - 1;
  return bits_take(&set);
}

/* One of a set of labels. */
static enum label pick_label(struct tutti_random *random, uint32_t set) {
  return (enum label)modifier_pick(random, set);
}

/* --- units ------------------------------------------------------------------------------------------------------- */

static int32_t scaled(int32_t units, bool more) { return (int32_t)lround(units * (more ? 1.125 : 0.875)); }

static uint64_t sized_layers(const struct graph *graph) {
  uint64_t set = 0;
  for (int i = 0; i < graph->count; i++)
    if (label_facts[graph->layers[i].label].units)
      set |= bit(i);
  return set;
}

static bool scale_one(struct tutti_random *random, bool more, struct graph *graph) {
  uint64_t layers = sized_layers(graph);
  if (!layers)
    return false;
  struct layer *layer = &graph->layers[modifier_pick(random, layers)];
  layer->units = scaled(layer->units, more);
  return true;
}

/* A half, quarter or eighth of the layers in sequence; each share needs enough layers. */
static bool scale_many(struct tutti_random *random, bool more, struct graph *graph) {
  uint64_t layers = sized_layers(graph);
  int count = bits_count(layers), shares = (count >= 4) + (count >= 8) + (count >= 16);
  if (shares == 0)
    return false;
  int part = 2 << tutti_random_below(random, (uint64_t)shares), many = (count + part - 1) / part;
  int first = (int)tutti_random_below(random, (uint64_t)count - (uint64_t)many + 1);
  for (int k = 0; k < first + many; k++) {
    struct layer *layer = &graph->layers[bits_take(&layers)];
    if (k >= first)
      layer->units = scaled(layer->units, more);
  }
  return true;
}

/* --- labels ------------------------------------------------------------------------------------------------------ */

/* The convolutions that one may become, by kernel 3, 5, 7: the other kind with the same kernel, and with the next; the
   same kind with the nearer, and with the farther kernel. The remaining chances are those of pools. */
static const struct {
  int other_kind[2], same_kind[2];
} conv_swaps[] = {{{0, 1}, {1, 2}}, {{1, 2}, {0, 2}}, {{2, 1}, {1, 0}}};
static const double conv_chances[] = {0.25, 0.25, 0.15, 0.25, 0.05, 0.05};
static const enum label plain_convs[] = {LABEL_CONV3, LABEL_CONV5, LABEL_CONV7};
static const enum label residual_convs[] = {LABEL_RES3, LABEL_RES5, LABEL_RES7};

static void swap_conv(struct tutti_random *random, struct layer *layer) {
  const struct label_facts *facts = &label_facts[layer->label];
  const enum label *same = facts->residual ? residual_convs : plain_convs;
  const enum label *other = facts->residual ? plain_convs : residual_convs;
  int kernel = (facts->kernel - 3) / 2;
  size_t drawn = modifier_draw(random, sizeof conv_chances / sizeof conv_chances[0], conv_chances);
  if (drawn < 2) {
    layer->label = other[conv_swaps[kernel].other_kind[drawn]];
  } else if (drawn < 4) {
    layer->label = same[conv_swaps[kernel].same_kind[drawn - 2]];
  } else {
    layer->label = drawn == 4 ? LABEL_MAX_POOL : LABEL_AVG_POOL;
    layer->units = layer->stride = 0;
  }
}

static bool swap(struct tutti_random *random, struct graph *graph) {
  uint64_t layers =
      graph_with_role(graph, ROLE_HIDDEN) | graph_with_role(graph, ROLE_CONV) | graph_with_role(graph, ROLE_POOL);
  if (!layers)
    return false;
  struct layer *layer = &graph->layers[modifier_pick(random, layers)];
  if (label_role(layer->label) == ROLE_CONV)
    swap_conv(random, layer);
  else if (label_role(layer->label) == ROLE_POOL)
    layer->label = layer->label == LABEL_MAX_POOL ? LABEL_AVG_POOL : LABEL_MAX_POOL;
  else
    layer->label = pick_label(random, label_in(layer->label, LABELS_SIGMOID) ? LABELS_RECTIFIER : LABELS_SIGMOID);
  return true;
}

/* --- one step ---------------------------------------------------------------------------------------------------- */

bool modifier_apply(const struct graph_rules *rules, enum modifier modifier, struct tutti_random *random,
                    struct graph *graph) {
  switch (modifier) {
  case MODIFIER_INCREASE:
  case MODIFIER_DECREASE:
    return scale_one(random, modifier == MODIFIER_INCREASE, graph);
  case MODIFIER_INCREASE_MANY:
  case MODIFIER_DECREASE_MANY:
    return scale_many(random, modifier == MODIFIER_INCREASE_MANY, graph);
  case MODIFIER_SWAP:
    return swap(random, graph);
  case MODIFIER_WEDGE:
    return modifier_wedge(random, rules->labels, graph);
  case MODIFIER_REMOVE:
    return modifier_remove(random, graph);
  case MODIFIER_BRANCH:
    return modifier_branch(random, rules->branch_keep, graph);
  case MODIFIER_SKIP:
    return modifier_skip(random, graph);
  default:
    return false;
  }
}

bool modifier_step(const struct graph_rules *rules, const double *weights, struct tutti_random *random,
                   struct graph *graph) {
  for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
    struct graph changed = *graph;
    enum modifier modifier = (enum modifier)modifier_draw(random, MODIFIER_COUNT, weights);
    if (modifier_apply(rules, modifier, random, &changed) && graph_settle(rules, &changed) &&
        !graph_equal(&changed, graph)) {
      *graph = changed;
      return true;
    }
  }
  return false;
}
