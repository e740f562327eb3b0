/* test_modifiers.c - the nine modifiers of layer graphs one by one: what each may change, and what it leaves alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>
#include <tutti/tutti.h>

#include "spaces/layer-graph/modifiers.h"
#include "spaces/layer-graph/pools.h"

enum { DRAWS = 400 };

static const struct graph_rules mlp_rules = {.labels =
                                                 LABELS_RECTIFIER | LABELS_SIGMOID | LABELS_ENDS | LABELS_DECISION,
                                             .layers_least = 5,
                                             .layers_most = 60,
                                             .inputs_most = 5,
                                             .outputs_most = 55,
                                             .edges_most = 200,
                                             .units_least = 8,
                                             .units_most = 1024,
                                             .branch_keep = 0.5};

static struct graph_rules cnn_rules(void) {
  struct graph_rules rules = mlp_rules;
  rules.labels = LABELS_CONV | LABELS_POOL | 1u << LABEL_FC | LABELS_ENDS | LABELS_DECISION;
  return rules;
}

static struct graph member(const struct graph_pool *pool, const char *name, const struct graph_rules *rules) {
  struct graph graph;
  size_t index = 0;
  while (strcmp(pool->names[index], name) != 0)
    index++;
  pool->build(index, LABEL_SOFTMAX, &graph);
  assert_true(graph_settle(rules, &graph));
  return graph;
}

static struct graph mlp(void) { return member(&pool_mlp, "blocks-3-4", &mlp_rules); }

static struct graph cnn(const char *name) {
  struct graph_rules rules = cnn_rules();
  return member(&pool_cnn, name, &rules);
}

static struct tutti_random stream(uint64_t index) {
  struct tutti_random random;
  tutti_random_init(&random, 3, "modifiers", index);
  return random;
}

static bool apply(enum modifier modifier, uint64_t index, struct graph *graph) {
  struct tutti_random random = stream(index);
  bool images = graph_with_role(graph, ROLE_CONV) != 0;
  struct graph_rules rules = images ? cnn_rules() : mlp_rules;
  return modifier_apply(&rules, modifier, &random, graph);
}

static bool settle(struct graph *graph) {
  struct graph_rules rules = graph_with_role(graph, ROLE_CONV) ? cnn_rules() : mlp_rules;
  return graph_settle(&rules, graph);
}

/* --- units ------------------------------------------------------------------------------------------------------- */

/* How many layers changed, the first and the last of them; each by an eighth. */
static int scaled_layers(const struct graph *before, const struct graph *after, bool more, int *first, int *last) {
  int changed = 0;
  for (int i = 0; i < before->count; i++) {
    int32_t old = before->layers[i].units;
    if (after->layers[i].units == old)
      continue;
    assert_int_equal(after->layers[i].units, lround(old * (more ? 9 / 8. : 7 / 8.)));
    *first = changed++ ? *first : i;
    *last = i;
  }
  return changed;
}

static void one_layer_is_scaled(void **state) {
  uint64_t seen = 0;
  (void)state;
  for (uint64_t draw = 0; draw < DRAWS; draw++) {
    struct graph before = mlp(), after = before;
    int first = 0, last = 0;
    bool more = draw % 2 == 0;
    assert_true(apply(more ? MODIFIER_INCREASE : MODIFIER_DECREASE, draw, &after));
    assert_int_equal(scaled_layers(&before, &after, more, &first, &last), 1);
    seen |= bit(first);
  }
  assert_true(seen == graph_with_role(&(struct graph[]){mlp()}[0], ROLE_HIDDEN)); /* 12 of them */
}

/* Of 12 layers a half or a quarter, of 24 an eighth, too; they follow each other. */
static void many_layers_are_scaled(void **state) {
  (void)state;
  for (int large = 0; large < 2; large++) {
    int seen[GRAPH_LAYERS_MOST] = {0};
    for (uint64_t draw = 0; draw < DRAWS; draw++) {
      struct graph before = large ? member(&pool_mlp, "blocks-8-3", &mlp_rules) : mlp(), after = before;
      int first = 0, last = 0;
      bool more = draw % 2 == 0;
      assert_true(apply(more ? MODIFIER_INCREASE_MANY : MODIFIER_DECREASE_MANY, draw, &after));
      int changed = scaled_layers(&before, &after, more, &first, &last);
      assert_int_equal(changed, last - first + 1);
      seen[changed]++;
    }
    assert_int_equal(seen[6] + seen[3] + (large ? seen[12] : 0), DRAWS);
    assert_true(seen[6] > DRAWS / 4 && seen[3] > DRAWS / 4);
  }
  struct graph few = {0};
  int last = graph_add_layer(&few, LABEL_IP, 0, 0);
  for (int i = 0; i < 3; i++, last++)
    graph_add_edge(&few, last, graph_add_layer(&few, LABEL_RELU, 64, 0));
  assert_false(apply(MODIFIER_INCREASE_MANY, 0, &few));
}

/* A window of so many layers begins at each layer from which as many are left, the last one included, with the same
   chance. */
static void windows_reach_both_ends(void **state) {
  enum { MANY = 30 * DRAWS };
  struct graph before = mlp();
  int begins[GRAPH_LAYERS_MOST] = {0}, windows = 0, sized = 0, places[GRAPH_LAYERS_MOST];
  (void)state;
  for (int i = 0; i < before.count; i++)
    if (label_facts[before.layers[i].label].units)
      places[sized++] = i;
  for (uint64_t draw = 0; draw < MANY; draw++) {
    struct graph after = before;
    int first = 0, last = 0;
    assert_true(apply(MODIFIER_INCREASE_MANY, draw, &after));
    if (scaled_layers(&before, &after, true, &first, &last) != 3)
      continue;
    begins[first]++;
    windows++;
  }
  assert_true(sized > 4 && windows > MANY / 4);
  for (int k = 0; k + 3 <= sized; k++)
    assert_true(fabs((double)begins[places[k]] / windows - 1. / (sized - 2)) < 0.1);
}

/* --- labels ------------------------------------------------------------------------------------------------------ */

/* The layer whose label changed; no other may have. */
static int swapped(const struct graph *before, const struct graph *after) {
  int index = -1;
  for (int i = 0; i < before->count; i++)
    if (before->layers[i].label != after->layers[i].label) {
      assert_int_equal(index, -1);
      index = i;
    }
  return index;
}

static void swaps_cross_the_groups(void **state) {
  (void)state;
  for (uint64_t draw = 0; draw < DRAWS; draw++) {
    struct graph before = mlp(), after = before;
    assert_true(apply(MODIFIER_SWAP, draw, &after));
    int index = swapped(&before, &after);
    assert_true(label_in(before.layers[index].label, LABELS_SIGMOID) !=
                label_in(after.layers[index].label, LABELS_SIGMOID));
  }
}

/* conv3 becomes what the paper says, with the paper's probabilities; a pool loses its units. */
static void swaps_of_convolutions_have_chances(void **state) {
  static const struct {
    enum label label;
    double chance;
  } expected[] = {{LABEL_RES3, 0.25},  {LABEL_RES5, 0.25},     {LABEL_CONV5, 0.15},
                  {LABEL_CONV7, 0.25}, {LABEL_MAX_POOL, 0.05}, {LABEL_AVG_POOL, 0.05}};
  enum { MANY = 20000 };
  int counts[LABEL_COUNT] = {0}, swaps = 0;
  (void)state;
  for (uint64_t draw = 0; draw < MANY; draw++) {
    struct graph before = cnn("conv3-3-2"), after = before;
    assert_true(apply(MODIFIER_SWAP, draw, &after));
    int index = swapped(&before, &after);
    const struct layer *layer = &after.layers[index];
    if (label_role(before.layers[index].label) == ROLE_POOL)
      assert_int_equal(label_role(layer->label), ROLE_POOL);
    if (before.layers[index].label != LABEL_CONV3)
      continue;
    swaps++;
    counts[layer->label]++;
    assert_int_equal(layer->units, label_role(layer->label) == ROLE_POOL ? 0 : before.layers[index].units);
    assert_int_equal(layer->stride, label_role(layer->label) == ROLE_POOL ? 0 : before.layers[index].stride);
  }
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
    assert_true(fabs((double)counts[expected[i].label] / swaps - expected[i].chance) < 0.015);
}

/* --- wedge, remove ----------------------------------------------------------------------------------------------- */

static void wedges_stand_in_edges(void **state) {
  (void)state;
  for (uint64_t draw = 0; draw < DRAWS; draw++) {
    struct graph before = mlp(), after = before;
    assert_true(apply(MODIFIER_WEDGE, draw, &after));
    const struct layer *added = &after.layers[before.count];
    assert_int_equal(after.count, before.count + 1);
    assert_int_equal(bits_count(added->parents), 1);
    assert_int_equal(bits_count(added->children), 1);
    int from = __builtin_ctzll(added->parents), to = __builtin_ctzll(added->children);
    assert_true(to != before.count - 1); /* never into op */
    assert_true(before.layers[from].children & bit(to));
    assert_false(after.layers[from].children & bit(to));
    int32_t above = before.layers[from].units, below = before.layers[to].units;
    assert_int_equal(added->units, above && below ? (above + below) / 2 : above + below);
    assert_true(settle(&after));
  }
}

static void wedges_among_images(void **state) {
  int pools = 0, strides = 0, flats = 0;
  (void)state;
  for (uint64_t draw = 0; draw < 10 * DRAWS; draw++) {
    struct graph before = cnn("vgg-4"), after = before;
    assert_true(apply(MODIFIER_WEDGE, draw, &after));
    const struct layer *added = &after.layers[before.count];
    enum role below = label_role(after.layers[__builtin_ctzll(added->children)].label);
    bool flat = below == ROLE_FC || below == ROLE_DECISION;
    assert_true((label_role(added->label) == ROLE_FC) == flat);
    flats += flat;
    pools += label_role(added->label) == ROLE_POOL;
    strides += added->stride == 2;
    assert_true(label_role(added->label) != ROLE_POOL || !(added->parents & bit(0)));
  }
  double images = 10 * DRAWS - flats;
  assert_true(flats > 0 && fabs(pools / images - 0.05) < 0.02 && fabs(strides / images - 0.05) < 0.02);
}

static void removed_layers_are_bridged(void **state) {
  (void)state;
  for (uint64_t draw = 0; draw < DRAWS; draw++) {
    struct graph before = mlp(), after = before;
    assert_true(apply(MODIFIER_REMOVE, draw, &after));
    assert_int_equal(after.count, before.count - 1);
    assert_int_equal(graph_edges(&after), graph_edges(&before) - 1);
    assert_true(settle(&after));
  }
}

static int halving_layers(const struct graph *graph) {
  int count = bits_count(graph_with_role(graph, ROLE_POOL));
  for (int i = 0; i < graph->count; i++)
    count += graph->layers[i].stride == 2;
  return count;
}

static bool halves(const struct layer *layer) { return layer->stride == 2 || label_role(layer->label) == ROLE_POOL; }

/* A chain a-b-c-d of convolutions and a pool: where a layer that halves the image goes, the layer after it halves it,
   else the one before it; if neither can, the image stays larger. */
static void halvings_outlive_their_layer(void **state) {
  static const struct {
    enum label labels[4]; /* after ip */
    int strides[4];
    int gone, heir; /* -1: none */
  } cases[] = {
      {{LABEL_CONV3, LABEL_MAX_POOL, LABEL_CONV3, LABEL_CONV3}, {1, 0, 1, 1}, 2, 3},
      {{LABEL_CONV3, LABEL_CONV5, LABEL_CONV3, LABEL_CONV3}, {1, 2, 1, 1}, 2, 3},
      {{LABEL_CONV3, LABEL_AVG_POOL, LABEL_CONV3, LABEL_CONV3}, {1, 0, 2, 1}, 2, 1},
      {{LABEL_CONV3, LABEL_CONV3, LABEL_AVG_POOL, LABEL_FC}, {1, 1, 0, 0}, 3, 2},
      {{LABEL_CONV3, LABEL_AVG_POOL, LABEL_MAX_POOL, LABEL_CONV3}, {2, 0, 0, 1}, 2, -1},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct graph before = {0}, after;
    int last = graph_add_layer(&before, LABEL_IP, 0, 0);
    for (int k = 0; k < 6; k++) {
      enum label label = k < 4 ? cases[i].labels[k] : k == 4 ? LABEL_SOFTMAX : LABEL_OP;
      int added = graph_add_layer(&before, label, label_facts[label].units ? 16 : 0, k < 4 ? cases[i].strides[k] : 0);
      graph_add_edge(&before, last, added);
      last = added;
    }
    bool found = false;
    for (uint64_t draw = 0; draw < DRAWS && !found; draw++) {
      after = before;
      assert_true(apply(MODIFIER_REMOVE, draw, &after));
      found = true;
      for (int k = 1; k < after.count; k++) /* without layer `gone`, those after it move down by one */
        found = found && after.layers[k].label == before.layers[k < cases[i].gone ? k : k + 1].label;
      int heir = cases[i].heir;
      if (found && heir >= 0)
        found = halves(&after.layers[heir < cases[i].gone ? heir : heir - 1]);
      if (found)
        assert_int_equal(halving_layers(&after), halving_layers(&before) - (heir < 0));
    }
    assert_true(found);
  }
}

/* Beside every layer of these networks that halves the image stands a convolution that can take it over. */
static void halvings_of_the_pool_are_kept(void **state) {
  int pools = 0, strides = 0;
  (void)state;
  for (uint64_t draw = 0; draw < DRAWS; draw++) {
    struct graph before = cnn(draw % 2 ? "conv3-3-2" : "vgg-2"), after = before;
    assert_true(apply(MODIFIER_REMOVE, draw, &after));
    int count = bits_count(graph_with_role(&before, ROLE_POOL)) - bits_count(graph_with_role(&after, ROLE_POOL));
    assert_int_equal(halving_layers(&after), halving_layers(&before));
    assert_true(count == 0 || settle(&after));
    pools += count;
    strides += draw % 2 && count == 0;
  }
  assert_true(pools > DRAWS / 8 && strides > DRAWS / 8);
}

/* A layer with two parents, and a child with another parent: only orphaned layers are joined. */
static void only_orphans_are_joined(void **state) {
  (void)state;
  for (uint64_t draw = 0; draw < DRAWS; draw++) {
    struct graph graph = {0};
    static const enum label labels[] = {LABEL_IP,  LABEL_RELU,    LABEL_RELU, LABEL_TANH,
                                        LABEL_ELU, LABEL_SOFTMAX, LABEL_OP};
    static const int edges[][2] = {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {2, 4}, {3, 4}, {4, 5}, {5, 6}};
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++)
      (void)graph_add_layer(&graph, labels[i], label_facts[labels[i]].units ? 16 + (int32_t)i : 0, 0);
    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++)
      graph_add_edge(&graph, edges[i][0], edges[i][1]);
    assert_true(apply(MODIFIER_REMOVE, draw, &graph));
    if (graph.layers[2].label != LABEL_RELU || graph.layers[3].label != LABEL_ELU)
      continue;
    assert_true(graph.layers[3].parents == (bit(1) | bit(2))); /* 1 was orphaned; 2 reads on as before */
    return;
  }
  fail_msg("the layer was never removed");
}

/* Two parents without another child, and two children, one of which has another parent: they join the other. */
static void orphans_join_orphans(void **state) {
  static const enum label labels[] = {LABEL_IP,  LABEL_RELU,  LABEL_RELU,    LABEL_TANH,
                                      LABEL_ELU, LABEL_CRELU, LABEL_SOFTMAX, LABEL_OP};
  static const int edges[][2] = {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {2, 4}, {3, 4}, {3, 5}, {4, 6}, {5, 6}, {6, 7}};
  (void)state;
  for (uint64_t draw = 0; draw < DRAWS; draw++) {
    struct graph graph = {0};
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++)
      (void)graph_add_layer(&graph, labels[i], label_facts[labels[i]].units ? 16 + (int32_t)i : 0, 0);
    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++)
      graph_add_edge(&graph, edges[i][0], edges[i][1]);
    assert_true(apply(MODIFIER_REMOVE, draw, &graph));
    if (graph.layers[1].label != LABEL_RELU || graph.layers[2].label != LABEL_RELU ||
        graph.layers[3].label != LABEL_ELU)
      continue;
    assert_true(graph.layers[3].parents == bit(2));            /* it has a parent: as before */
    assert_true(graph.layers[4].parents == (bit(1) | bit(2))); /* it lost its only one: it reads the removed layer's */
    return;
  }
  fail_msg("the layer was never removed");
}

/* --- branch, skip ------------------------------------------------------------------------------------------------ */

static void branches_copy_a_path(void **state) {
  int longest = 0, valid = 0;
  (void)state;
  for (uint64_t draw = 0; draw < DRAWS; draw++) {
    struct graph before = mlp(), after = before;
    if (!apply(MODIFIER_BRANCH, draw, &after))
      continue;
    int copies = after.count - before.count;
    longest = copies > longest ? copies : longest;
    assert_true(copies >= 1);
    assert_int_equal(graph_edges(&after), graph_edges(&before) + copies + 1);
    for (int i = before.count; i < after.count; i++) {
      assert_int_equal(bits_count(after.layers[i].parents), 1);
      assert_int_equal(bits_count(after.layers[i].children), 1);
    }
    valid += settle(&after);
  }
  assert_true(longest >= 3 && valid > DRAWS / 2);
}

/* NASBOT, Table 2: the copy has all inner layers of the path; in a chain, those between its ends. */
static void branches_copy_the_whole_path(void **state) {
  struct graph_rules rules = mlp_rules;
  struct graph before;
  int shorter = 0;
  (void)state;
  pool_mlp.build(0, LABEL_SOFTMAX, &before);
  for (uint64_t draw = 0; draw < 2 * DRAWS; draw++) {
    struct tutti_random random = stream(draw / 2);
    struct graph after = before;
    rules.branch_keep = draw % 2 ? 1 : 0.5;
    if (!modifier_apply(&rules, MODIFIER_BRANCH, &random, &after))
      continue;
    int copies = after.count - before.count, begin = __builtin_ctzll(after.layers[before.count].parents);
    int end = __builtin_ctzll(after.layers[after.count - 1].children), inner = end - begin - 1;
    shorter += copies < inner && draw % 2 == 0;
    for (int i = 0; draw % 2 && i < inner; i++) {
      assert_int_equal(copies, inner);
      assert_int_equal(after.layers[before.count + i].label, before.layers[begin + 1 + i].label);
      assert_int_equal(after.layers[before.count + i].units, before.layers[begin + 1 + i].units);
    }
  }
  assert_true(shorter > DRAWS / 4);
}

/* Layers that halve the image are copied, so that both paths agree in size; decisions are copied if the path ends in
   op. */
static void branches_keep_what_they_must(void **state) {
  int decisions = 0, valid = 0;
  (void)state;
  for (uint64_t draw = 0; draw < DRAWS; draw++) {
    struct graph graph = cnn("vgg-2");
    if (!apply(MODIFIER_BRANCH, draw, &graph) || !settle(&graph))
      continue;
    valid++;
    decisions += bits_count(graph_with_role(&graph, ROLE_DECISION)) == 2;
  }
  assert_true(valid > DRAWS / 2 && decisions > 0);
}

/* A path begins at a layer with a chance that falls with the root of its hops from the input, itself counted. */
static void branches_begin_near_the_input(void **state) {
  enum { MANY = 40 * DRAWS };
  int begins[GRAPH_LAYERS_MOST] = {0}, branches = 0;
  double sum = 0;
  struct graph before;
  (void)state;
  pool_mlp.build(0, LABEL_SOFTMAX, &before); /* a chain: its two last layers are too near to the end for a branch */
  for (uint64_t draw = 0; draw < MANY; draw++) {
    struct graph after = before;
    if (!apply(MODIFIER_BRANCH, draw, &after))
      continue;
    begins[__builtin_ctzll(after.layers[before.count].parents)]++;
    branches++;
  }
  for (int i = 0; i < before.count - 2; i++)
    sum += 1 / sqrt(1 + i);
  for (int i = 0; i < before.count - 2; i++)
    assert_true(fabs((double)begins[i] / branches - 1 / sqrt(1 + i) / sum) < 0.02);
}

static void skips_span_two_hops(void **state) {
  (void)state;
  for (uint64_t draw = 0; draw < DRAWS; draw++) {
    struct graph before = mlp(), after = before;
    assert_true(apply(MODIFIER_SKIP, draw, &after));
    assert_int_equal(graph_edges(&after), graph_edges(&before) + 1);
    for (int i = 0; i < before.count; i++) {
      uint64_t added = after.layers[i].children & ~before.layers[i].children;
      if (!added)
        continue;
      int to = __builtin_ctzll(added);
      assert_true(i > 0 && to >= i + 2 && to < before.count - 2);
    }
    assert_true(settle(&after));
  }
}

/* The numbers of hops from the input, and to the output, one layer after the other. */
static int hops_from_ip(const struct graph *graph, int layer) {
  int least = layer == 0 ? 0 : GRAPH_LAYERS_MOST;
  for (int i = 0; i < graph->count; i++)
    if (graph->layers[layer].parents & bit(i)) {
      int hops = hops_from_ip(graph, i) + 1;
      least = hops < least ? hops : least;
    }
  return least;
}

static int hops_to_op(const struct graph *graph, int layer) {
  int least = layer == graph->count - 1 ? 0 : GRAPH_LAYERS_MOST;
  for (int i = 0; i < graph->count; i++)
    if (graph->layers[layer].children & bit(i)) {
      int hops = hops_to_op(graph, i) + 1;
      least = hops < least ? hops : least;
    }
  return least;
}

/* Beside a shortcut from `from`, to the decision for 0: an edge may skip only what lies apart by two hops both ways.
   All pairs that may be joined are, sooner or later, and no others. */
static void check_skips_beside(int from, int to) {
  uint64_t wanted[GRAPH_LAYERS_MOST] = {0}, found[GRAPH_LAYERS_MOST] = {0};
  struct graph before;
  int refused = 0;
  pool_mlp.build(0, LABEL_SOFTMAX, &before); /* a chain */
  int decision = before.count - 2;
  graph_add_edge(&before, from, to ? to : decision);
  for (int i = 1; i < decision; i++)
    for (int k = 1; k < decision; k++) {
      bool behind = hops_from_ip(&before, k) >= hops_from_ip(&before, i) + 2;
      bool nearer = hops_to_op(&before, i) >= hops_to_op(&before, k) + 2;
      if (behind && nearer)
        wanted[i] |= bit(k) & ~before.layers[i].children;
      refused += behind != nearer;
    }
  assert_true(refused > 0); /* or nothing is tested */
  for (uint64_t draw = 0; draw < 40 * DRAWS; draw++) {
    struct graph after = before;
    if (!apply(MODIFIER_SKIP, draw, &after))
      break;
    for (int i = 0; i < before.count; i++)
      found[i] |= after.layers[i].children & ~before.layers[i].children;
  }
  assert_memory_equal(found, wanted, sizeof found);
}

/* Behind the one shortcut layers far from the input are not nearer to the output; behind the other, layers nearer to
   the output are not farther from the input. */
static void skips_lie_apart_both_ways(void **state) {
  (void)state;
  check_skips_beside(2, 0);
  check_skips_beside(1, 4);
}

/* An edge may end in a linear decision layer, and never in a softmax. */
static void skips_may_end_in_linear(void **state) {
  (void)state;
  for (int linear = 0; linear < 2; linear++) {
    int ends = 0;
    for (uint64_t draw = 0; draw < DRAWS; draw++) {
      struct graph before, after;
      pool_mlp.build(0, linear ? LABEL_LINEAR : LABEL_SOFTMAX, &before); /* a chain of 6 layers, then the decision */
      after = before;
      assert_true(apply(MODIFIER_SKIP, draw, &after));
      ends += after.layers[7].parents != before.layers[7].parents;
      assert_true(settle(&after));
    }
    if (linear) /* 5 of the 15 pairs that lie apart by 2 hops and more */
      assert_true(fabs((double)ends / DRAWS - 5 / 15.) < 0.1);
    else
      assert_int_equal(ends, 0);
  }
}

/* Average pools stand where the image would be too large. */
static void skips_pool_images(void **state) {
  int pooled = 0;
  (void)state;
  for (uint64_t draw = 0; draw < DRAWS; draw++) {
    struct graph before = cnn("vgg-2"), after = before;
    if (!apply(MODIFIER_SKIP, draw, &after))
      continue;
    for (int i = before.count; i < after.count; i++)
      assert_int_equal(after.layers[i].label, LABEL_AVG_POOL);
    bool images = settle(&after);
    pooled += images && after.count > before.count;
  }
  assert_true(pooled > DRAWS / 8);
}

/* --- steps ------------------------------------------------------------------------------------------------------- */

static void a_step_gives_a_valid_neighbour_or_nothing(void **state) {
  double weights[MODIFIER_COUNT] = {0};
  struct graph graph = mlp(), before = graph;
  struct graph_rules narrow = mlp_rules;
  struct tutti_random random = stream(0);
  (void)state;
  weights[MODIFIER_WEDGE] = 1;
  assert_true(modifier_step(&mlp_rules, weights, &random, &graph));
  assert_int_equal(graph.count, before.count + 1);
  narrow.layers_most = before.count;
  graph = before;
  assert_false(modifier_step(&narrow, weights, &random, &graph));
  assert_true(graph_equal(&graph, &before));
}

/* A few units more or less may round to as many as before: that is no neighbour. */
static void a_step_never_stays_where_it_was(void **state) {
  struct graph_rules few = mlp_rules;
  double weights[MODIFIER_COUNT] = {0};
  struct graph graph = mlp(), before;
  struct tutti_random random = stream(2);
  (void)state;
  few.units_least = 1;
  for (int i = 0; i < graph.count; i++)
    graph.layers[i].units = graph.layers[i].units ? 2 : 0; /* 2 * 9 / 8 and 2 * 7 / 8 are 2 */
  before = graph;
  weights[MODIFIER_INCREASE] = weights[MODIFIER_DECREASE] = 1;
  assert_false(modifier_step(&few, weights, &random, &graph));
  assert_true(graph_equal(&graph, &before));
  weights[MODIFIER_WEDGE] = 2;
  for (int step = 0; step < 5; step++) {
    before = graph;
    assert_true(modifier_step(&few, weights, &random, &graph));
    assert_false(graph_equal(&graph, &before));
  }
}

static void draws_follow_weights(void **state) {
  static const double weights[] = {0, 0.5, 0, 0.25, 0.25, 0};
  int counts[6] = {0};
  struct tutti_random random = stream(1);
  (void)state;
  for (int i = 0; i < 20000; i++)
    counts[modifier_draw(&random, 6, weights)]++;
  for (size_t i = 0; i < 6; i++)
    assert_true(fabs(counts[i] / 20000. - weights[i]) < 0.015);
}

/* A graph without room for another layer is left to the caller, who discards it. */
static void full_graphs_refuse_layers(void **state) {
  struct graph graph = mlp();
  (void)state;
  while (graph.count < GRAPH_LAYERS_MOST)
    (void)graph_add_layer(&graph, LABEL_RELU, 16, 0);
  assert_int_equal(graph_add_layer(&graph, LABEL_RELU, 16, 0), -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_layer_is_scaled),
      cmocka_unit_test(many_layers_are_scaled),
      cmocka_unit_test(windows_reach_both_ends),
      cmocka_unit_test(swaps_cross_the_groups),
      cmocka_unit_test(swaps_of_convolutions_have_chances),
      cmocka_unit_test(wedges_stand_in_edges),
      cmocka_unit_test(wedges_among_images),
      cmocka_unit_test(removed_layers_are_bridged),
      cmocka_unit_test(halvings_outlive_their_layer),
      cmocka_unit_test(halvings_of_the_pool_are_kept),
      cmocka_unit_test(orphans_join_orphans),
      cmocka_unit_test(only_orphans_are_joined),
      cmocka_unit_test(branches_copy_a_path),
      cmocka_unit_test(branches_copy_the_whole_path),
      cmocka_unit_test(branches_keep_what_they_must),
      cmocka_unit_test(branches_begin_near_the_input),
      cmocka_unit_test(skips_span_two_hops),
      cmocka_unit_test(skips_lie_apart_both_ways),
      cmocka_unit_test(skips_may_end_in_linear),
      cmocka_unit_test(skips_pool_images),
      cmocka_unit_test(a_step_gives_a_valid_neighbour_or_nothing),
      cmocka_unit_test(a_step_never_stays_where_it_was),
      cmocka_unit_test(draws_follow_weights),
      cmocka_unit_test(full_graphs_refuse_layers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
