/* test_otmann.c - OTMANN against numbers of the published implementation: masses, path lengths, mismatches, distances;
   and its properties on graphs that modifiers make. */
#include "golden.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/tutti.h>

#include "spaces/layer-graph/otmann.h"

static tutti_context *context;
static json_t *golden;

static int begin(void **state) {
  (void)state;
  golden = golden_load("otmann");
  return tutti_context_create(&context) != TUTTI_OK;
}

static int end(void **state) {
  (void)state;
  json_decref(golden);
  tutti_context_destroy(context);
  return 0;
}

static void must(enum tutti_status status) {
  if (status != TUTTI_OK)
    fail_msg("%s", tutti_error_message(context));
}

/* --- golden networks --------------------------------------------------------------------------------------------- */

static const struct graph_rules wide = {.labels = LABELS_ALL,
                                        .layers_least = 5,
                                        .layers_most = 60,
                                        .inputs_most = 5,
                                        .outputs_most = 55,
                                        .edges_most = 200,
                                        .units_least = 8,
                                        .units_most = 1024};

static enum label label_of(const char *name) {
  enum label label;
  must(label_parse(context, LABELS_ALL, name, &label));
  return label;
}

/* As it stands in the file, whose order is topological. */
static struct graph read_graph(const json_t *network) {
  struct graph graph = {.count = 0};
  const json_t *layers = golden_get(network, "layers"), *edges = golden_get(network, "edges");
  for (size_t i = 0; i < json_array_size(layers); i++) {
    const json_t *layer = golden_at(layers, i), *stride = json_object_get(layer, "stride");
    enum label label = label_of(golden_text_of(layer, "label"));
    int32_t plain = label_role(label) == ROLE_CONV ? 1 : 0;
    (void)graph_add_layer(&graph, label, (int32_t)json_integer_value(json_object_get(layer, "units")),
                          stride ? (int32_t)json_integer_value(stride) : plain);
  }
  for (size_t i = 0; i < json_array_size(edges); i++) {
    const json_t *edge = golden_at(edges, i);
    graph_add_edge(&graph, (int)golden_number(golden_at(edge, 0)), (int)golden_number(golden_at(edge, 1)));
  }
  return graph;
}

static uint32_t group_of(const char *name) {
  static const struct {
    const char *name;
    uint32_t labels;
  } groups[] = {{"all", LABELS_ALL},    {"conv", LABELS_CONV},           {"pool", LABELS_POOL},
                {"fc", 1u << LABEL_FC}, {"rectifier", LABELS_RECTIFIER}, {"sigmoid", LABELS_SIGMOID}};
  for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
    if (strcmp(groups[i].name, name) == 0)
      return groups[i].labels;
  fail_msg("no group %s", name);
  return 0;
}

static void for_each_network(void (*check)(const json_t *network)) {
  const char *name;
  json_t *set;
  json_object_foreach(golden_get(golden, "sets"), name, set) {
    const json_t *networks = golden_get(set, "networks");
    for (size_t i = 0; i < json_array_size(networks); i++)
      check(golden_at(networks, i));
  }
}

static void check_masses(const json_t *network) {
  static const double coefficients[] = {0.1, 1};
  static const char *const keys[] = {"fc_coeff_0.1", "fc_coeff_1.0"};
  struct graph graph = read_graph(network);
  for (size_t k = 0; k < 2; k++) {
    struct otmann_rules rules = {.fc_mass = coefficients[k], .end_mass = 100};
    double masses[GRAPH_LAYERS_MOST], total = 0;
    const json_t *expected = golden_get(golden_get(network, "masses"), keys[k]);
    otmann_masses(&rules, &graph, masses);
    for (int i = 0; i < graph.count; i++) {
      total += masses[i];
      assert_close(masses[i], golden_number(golden_at(expected, (size_t)i)), 4e-16, 0);
    }
    assert_close(total, golden_number_of(golden_get(network, "total_mass"), keys[k]), 4e-16, 0);
  }
}

/* The numbers are exact except for the order of a sum: two units in the last place. */
static void masses_are_the_published(void **state) {
  (void)state;
  for_each_network(check_masses);
}

/* ip, op and all decision layers have a tenth of the processing mass, 8 + 64 here, or the least mass if that is
   more. */
static void ends_have_a_least_mass(void **state) {
  static const enum label labels[] = {LABEL_IP, LABEL_RELU, LABEL_TANH, LABEL_LINEAR, LABEL_LINEAR, LABEL_OP};
  static const int edges[][2] = {{0, 1}, {1, 2}, {1, 3}, {2, 4}, {3, 5}, {4, 5}};
  struct graph graph = {0};
  (void)state;
  for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++)
    (void)graph_add_layer(&graph, labels[i], label_facts[labels[i]].units ? 8 : 0, 0);
  for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++)
    graph_add_edge(&graph, edges[i][0], edges[i][1]);
  for (int least = 0; least < 2; least++) {
    struct otmann_rules rules = {.end_mass = least ? 100 : 0};
    double masses[GRAPH_LAYERS_MOST], end = least ? 100 : 7.2;
    otmann_masses(&rules, &graph, masses);
    assert_close(masses[0], end, 1e-15, 0);
    assert_close(masses[5], end, 1e-15, 0);
    assert_close(masses[3], end / 2, 1e-15, 0);
    assert_close(masses[4], end / 2, 1e-15, 0);
  }
}

static void check_path_lengths(const json_t *network) {
  struct graph graph = read_graph(network);
  const char *group;
  json_t *expected;
  json_object_foreach(golden_get(network, "path_lengths"), group, expected) {
    double lengths[OTMANN_PATHS][GRAPH_LAYERS_MOST];
    otmann_path_lengths(&graph, group_of(group), OTMANN_WALKS_PARENTS, lengths);
    for (size_t k = 0; k < OTMANN_PATHS; k++)
      for (int i = 0; i < graph.count; i++)
        assert_close(lengths[k][i], golden_number(golden_at(golden_at(expected, k), (size_t)i)), 4e-16, 0);
  }
}

static void path_lengths_are_the_published(void **state) {
  (void)state;
  for_each_network(check_path_lengths);
}

/* Every walk from a layer on, each child alike: for each layer the chance that a walk passes it, and that chance times
   the hops until then. */
static void take_walks(const struct graph *graph, uint32_t group, int at, double chance, double hops, double *chances,
                       double *sums) {
  uint64_t children = graph->layers[at].children;
  chances[at] += chance;
  sums[at] += chance * hops;
  for (uint64_t rest = children; rest;) {
    int child = bits_take(&rest);
    take_walks(graph, group, child, chance / bits_count(children),
               hops + (label_in(graph->layers[child].label, group) ? 1 : 0), chances, sums);
  }
}

static void check_walks(const json_t *network) {
  struct graph graph = read_graph(network);
  const char *group;
  json_t *published;
  json_object_foreach(golden_get(network, "path_lengths"), group, published) {
    double lengths[OTMANN_PATHS][GRAPH_LAYERS_MOST], chances[GRAPH_LAYERS_MOST] = {0}, sums[GRAPH_LAYERS_MOST] = {0};
    otmann_path_lengths(&graph, group_of(group), OTMANN_WALKS_CHILDREN, lengths);
    take_walks(&graph, group_of(group), 0, 1, 0, chances, sums);
    for (size_t k = 0; k < OTMANN_PATHS; k++)
      for (int i = 0; i < graph.count; i++)
        if (k == 2)
          assert_close(lengths[k][i], sums[i] / chances[i], 1e-14, 0);
        else
          assert_close(lengths[k][i], golden_number(golden_at(golden_at(published, k), (size_t)i)), 4e-16, 0);
    if (strcmp(group, "all") == 0)
      assert_close(lengths[2][graph.count - 1], lengths[5][0], 1e-14, 0);
  }
}

/* Walks to children, against every walk there is; from ip to op they are as long as those to op from ip. */
static void walks_to_children_are_those_of_the_text(void **state) {
  (void)state;
  for_each_network(check_walks);
}

static void check_validity(const json_t *network) {
  struct graph graph = read_graph(network);
  int numbers[GRAPH_LAYERS_MOST], cycle;
  struct graph_rules rules = wide;
  char why[256];
  if (strstr(golden_text_of(network, "id"), "mlp"))
    rules.labels &= ~LABELS_CONV;
  assert_true(graph_sort(&graph, numbers, &cycle));
  if (graph_misfits(&rules, &graph, numbers, sizeof why, why))
    fail_msg("%s: %s", golden_text_of(network, "id"), why);
}

static void published_networks_are_valid(void **state) {
  (void)state;
  for_each_network(check_validity);
}

/* --- distances --------------------------------------------------------------------------------------------------- */

/* The configurations that the golden distances were computed with. */
static struct otmann_rules rules_of(const json_t *distances) {
  const char *config = golden_text_of(distances, "config");
  bool published = strcmp(config, "ref_head") == 0, caption = strcmp(config, "fig1_caption") == 0;
  const json_t *groups = golden_get(distances, "path_groups"), *weights = golden_get(distances, "by_structure");
  struct otmann_rules rules = {.fc_mass = golden_number_of(distances, "fc_mass"),
                               .end_mass = 100,
                               .pool_mismatch = published ? 0.5 : 0.25,
                               .conv_mismatch = caption ? 0.1 : 0.2,
                               .group_count = json_array_size(groups),
                               .structure_count = json_array_size(weights)};
  for (size_t i = 0; i < rules.group_count; i++)
    rules.groups[i] = group_of(json_string_value(golden_at(groups, i)));
  for (size_t i = 0; i < rules.structure_count; i++)
    rules.structures[i] = golden_number_of(golden_at(weights, i), "weight");
  return rules;
}

static void check_mismatches(const struct otmann_rules *rules, const json_t *distances) {
  const json_t *labels = golden_get(distances, "labels"), *matrix = golden_get(distances, "M");
  for (size_t i = 0; i < json_array_size(labels); i++)
    for (size_t k = 0; k < json_array_size(labels); k++) {
      double mismatch = otmann_mismatch(rules, label_of(json_string_value(golden_at(labels, i))),
                                        label_of(json_string_value(golden_at(labels, k))));
      assert_close(mismatch, golden_number(golden_at(golden_at(matrix, i), k)), 1e-15, 2e-17);
    }
}

static void check_pair(struct otmann *otmann, const json_t *distances, const struct otmann_profile *a, size_t i,
                       const struct otmann_profile *b, size_t k) {
  const json_t *weights = golden_get(distances, "by_structure");
  size_t count = otmann->rules.structure_count;
  double out[2 * OTMANN_STRUCTURES_MOST];
  otmann_distance(otmann, a, b, out);
  for (size_t w = 0; w < count; w++) {
    const json_t *values = golden_at(weights, w);
    assert_close(out[w], golden_number(golden_at(golden_at(golden_get(values, "d"), i), k)), 1e-13, 0);
    assert_close(out[count + w], golden_number(golden_at(golden_at(golden_get(values, "d_bar"), i), k)), 1e-13, 0);
  }
}

/* From one graph to 90, as threads share them: the bits of each pair alone. */
static void check_shared(struct otmann *otmann, size_t count, struct otmann_profile *const *profiles) {
  enum { PAIRS = 90 };
  const struct otmann_profile *to[PAIRS];
  size_t width = 2 * otmann->rules.structure_count;
  double one[2 * OTMANN_STRUCTURES_MOST], *all = calloc(PAIRS * width, sizeof *all);
  for (size_t i = 0; i < PAIRS; i++)
    to[i] = profiles[i * i % (count > 0 ? count : 1)];
  for (unsigned threads = 1; threads <= 7; threads += 2) {
    memset(all, 0, PAIRS * width * sizeof *all);
    tutti_threads_set(context, threads);
    must(otmann_distances(context, otmann, profiles[0], PAIRS, to, all));
    for (size_t i = 0; i < PAIRS; i++) {
      otmann_distance(otmann, profiles[0], to[i], one);
      assert_memory_equal(one, all + i * width, width * sizeof *all);
    }
  }
  tutti_threads_set(context, 1);
  free(all);
}

static void check_distances(const json_t *networks, const json_t *distances) {
  enum { MOST = 20 };
  struct otmann_rules rules = rules_of(distances);
  struct otmann_profile *profiles[MOST];
  struct otmann *otmann = malloc(sizeof *otmann);
  size_t count = json_array_size(networks);
  otmann_init(otmann, &rules);
  check_mismatches(&rules, distances);
  for (size_t i = 0; i < count; i++) {
    struct graph graph = read_graph(golden_at(networks, i));
    int numbers[GRAPH_LAYERS_MOST], cycle;
    assert_true(graph_sort(&graph, numbers, &cycle));
    must(otmann_profile_create(context, &rules, &graph, &profiles[i]));
    for (size_t k = 0; k < i; k++) {
      check_pair(otmann, distances, profiles[i], i, profiles[k], k);
      check_pair(otmann, distances, profiles[k], i, profiles[i], k);
    }
  }
  check_shared(otmann, count, profiles);
  for (size_t i = 0; i < count; i++)
    tutti_free(profiles[i]);
  free(otmann);
}

/* In every configuration, in both directions. */
static void distances_are_the_published(void **state) {
  const char *name;
  json_t *set;
  (void)state;
  json_object_foreach(golden_get(golden, "sets"), name, set) {
    const json_t *distances = golden_get(set, "distances");
    for (size_t i = 0; i < json_array_size(distances); i++)
      check_distances(golden_get(set, "networks"), golden_at(distances, i));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(masses_are_the_published),       cmocka_unit_test(ends_have_a_least_mass),
      cmocka_unit_test(path_lengths_are_the_published), cmocka_unit_test(published_networks_are_valid),
      cmocka_unit_test(distances_are_the_published),    cmocka_unit_test(walks_to_children_are_those_of_the_text),
  };
  return cmocka_run_group_tests(tests, begin, end);
}
