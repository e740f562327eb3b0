/* test_space_layer_graph_mlp.c - space layer-graph-mlp: graphs from modifiers, text, limits, networks. */
#include "spaces/layer-graph-mlp.c"

#include "space_fixture.h"

#include "layer_graph_checks.h"

#define L(label) "{\"label\": \"" label "\"}"
#define U(label, units) "{\"label\": \"" label "\", \"units\": " units "}"
#define GRAPH(layers, edges) "{\"layers\": [" layers "], \"edges\": [" edges "]}"

static void graphs_of_modifiers_hold(void **state) {
  (void)state;
  check_lineages(2000);
}

/* --- bad input --------------------------------------------------------------------------------------------------- */

#define FIVE L("ip") ", " U("relu", "16") ", " U("tanh", "16") ", " L("linear") ", " L("op")

static void bad_graphs_are_refused(void **state) {
  static const struct {
    const char *json, *message;
  } cases[] = {
      {"{\"layers\": [", "expected a layer graph as {\"layers\": [{\"label\": \"ip\"}, "},
      {"[1, 2]", "expected a layer graph as"},
      {"{\"layers\": []}", "expected a layer graph as"},
      {"{\"layers\": [], \"edges\": [], \"name\": 1}", "layer graph: unknown key \"name\""},
      {"{\"layers\": [], \"edges\": []}", "expected one layer ip and one layer op, found 0 and 0"},
      {"{\"normal\": [[\"skip_connect\", 0]], \"reduction\": []}", "expected a layer graph as"},
      {"{\"layers\": [], \"layers\": [], \"edges\": []}", "duplicate"},
      {GRAPH("7", ""), "layer 0: expected an object with a text \"label\""},
      {GRAPH(L("ip") ", " L("3"), ""), "layer 1: there is no label '3' in this space"},
      {GRAPH(U("rellu", "16"), ""), "layer 0: there is no label 'rellu' in this space; did you mean 'relu'?"},
      {GRAPH(U("conv3", "16"), ""), "layer 0: there is no label 'conv3' in this space"},
      {GRAPH(L("softmax"), ""), "layer 0: there is no label 'softmax' in this space"},
      {GRAPH(L("relu"), ""), "layer 0: relu needs a number of \"units\""},
      {GRAPH(U("ip", "16"), ""), "layer 0: ip has no \"units\""},
      {GRAPH(U("relu", "16.5"), ""), "layer 0: \"units\" must be an integer of 32 bits"},
      {GRAPH(U("relu", "4294967312"), ""), "layer 0: \"units\" must be an integer of 32 bits"},
      {GRAPH("{\"label\": \"relu\", \"units\": 16, \"stride\": 1}", ""), "only convolutions have a \"stride\""},
      {GRAPH("{\"label\": \"relu\", \"units\": 16, \"width\": 1}", ""), "layer 0: unknown key \"width\""},
      {GRAPH(FIVE, "[0, 1, 2]"), "edge 0: expected [FROM, TO], numbers of layers, 0 to 4"},
      {GRAPH(FIVE, "[0, 1], [1, 5]"), "edge 1: expected [FROM, TO], numbers of layers, 0 to 4"},
      {GRAPH(FIVE, "[0, 1], [-1, 2]"), "edge 1: expected [FROM, TO]"},
      {GRAPH(FIVE, "[0, 1], [0, 1]"), "edge 1: there is one from layer 0 to 1 already"},
      {GRAPH(FIVE, "[0, 1], [1, 2], [2, 1], [2, 3], [3, 4]"), "the graph has a cycle; layer 1 (relu) is on it"},
      {GRAPH(FIVE, "[0, 1], [1, 1], [1, 2], [2, 3], [3, 4]"), "the graph has a cycle; layer 1 (relu) is on it"},
      {GRAPH(FIVE, "[0, 1], [1, 3], [3, 4]"), "layer 2 (tanh) cannot be reached from ip"},
      {GRAPH(FIVE, "[0, 1], [0, 2], [1, 3], [3, 4]"), "layer 2 (tanh) has no way to op"},
      {GRAPH(FIVE, "[0, 1], [1, 2], [2, 3]"), "layer 3 (linear) is a decision layer and does not reach op"},
      {GRAPH(FIVE ", " L("linear"), "[0, 1], [1, 2], [2, 3], [3, 4], [2, 5]"),
       "layer 5 (linear) is a decision layer and does not reach op"},
      {GRAPH(FIVE, "[0, 1], [1, 3], [3, 2], [3, 4], [2, 4]"), "layer 3 (linear) is a decision layer and leads to more"},
      {GRAPH(FIVE, "[0, 1], [1, 2], [2, 3], [3, 4], [2, 4]"), "layer 2 (tanh) leads to op; only decision layers do"},
      {GRAPH(FIVE, "[0, 1], [1, 2], [2, 3], [3, 4], [0, 3]"), "layer 3 (linear) is a decision layer and reads ip"},
      {GRAPH(FIVE ", " L("ip"), "[0, 1], [1, 2], [2, 3], [3, 4], [5, 1]"), "expected one layer ip and one layer op"},
      {GRAPH(L("ip") ", " U("relu", "0") ", " U("tanh", "16") ", " L("linear") ", " L("op"),
             "[0, 1], [1, 2], [2, 3], [3, 4]"),
       "layer 1 (relu) has 0 units, not 8 to 1024 (min_units, max_units)"},
      {GRAPH(L("ip") ", " U("relu", "16") ", " U("tanh", "1025") ", " L("linear") ", " L("op"),
             "[0, 1], [1, 2], [2, 3], [3, 4]"),
       "layer 2 (tanh) has 1025 units, not 8 to 1024"},
      {GRAPH(L("ip") ", " U("relu", "16") ", " L("linear") ", " L("op"), "[0, 1], [1, 2], [2, 3]"),
       "expected 5 to 60 layers (min_layers, max_layers), found 4"},
  };
  (void)state;
  must(create());
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    must_refuse(cases[i].json, cases[i].message);
  tutti_genotype_unref(parsed(GRAPH(FIVE, "[0, 1], [1, 2], [2, 3], [3, 4]")));
}

/* Edges [0, 1], [0, 2], [1, 2], [2, 3], [3, 4] with one limit lowered after the other. */
static void limits_are_parameters(void **state) {
  static const char graph[] = GRAPH(FIVE, "[0, 1], [0, 2], [1, 2], [2, 3], [3, 4]");
  static const struct {
    const char *name, *value, *open, *message;
  } cases[] = {
      {"max_inputs", "1", "5", "layer 2 (tanh) has 2 edges in, more than 1 (max_inputs)"},
      {"max_outputs", "1", "55", "layer 0 (ip) has 2 edges out, more than 1 (max_outputs)"},
      {"max_edges", "4", "200", "expected at most 4 edges (max_edges), found 5"},
      {"min_units", "17", "8", "layer 1 (relu) has 16 units, not 17 to 1024"},
      {"chains", "yes", "no", "layer 0 (ip) has 0 edges in and 2 out; here graphs are chains"},
  };
  (void)state;
  must(create());
  tutti_genotype_unref(parsed(graph));
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    tutti_space_destroy(space);
    space = NULL;
    set(cases[i].name, cases[i].value);
    if (strcmp(cases[i].name, "max_edges") == 0)
      set("min_layers", "3");
    enum tutti_status status = create();
    if (status == TUTTI_OK)
      must_refuse(graph, cases[i].message);
    else
      must_fail(status, TUTTI_ERROR_USAGE, "no graph of the initial pool is within these limits");
    set(cases[i].name, cases[i].open);
  }
}

static void bad_parameters_are_refused(void **state) {
  static const struct {
    const char *name, *value, *open, *message;
  } cases[] = {
      {"min_layers", "61", "5", "[space] min_layers: 61 is more than max_layers, 60"},
      {"min_units", "1025", "8", "[space] min_units: 1025 is more than max_units, 1024"},
      {"steps", "0 0", "1", "[space] steps: expected at least one chance above 0"},
      {"structure", "1 2 3 4 5 6 7 8 9", "1", "[space] structure: expected 1 to 8 weights, found 9"},
      {"max_layers", "6", "60", "no graph of the initial pool is within these limits"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    set(cases[i].name, cases[i].value);
    must_fail(create(), TUTTI_ERROR_USAGE, cases[i].message);
    set(cases[i].name, cases[i].open);
  }
  for (const char *const *name = (const char *const[]){"increase", "decrease", "increase_many", "decrease_many", "swap",
                                                       "wedge", "remove", NULL};
       *name; name++) {
    char parameter[64];
    (void)snprintf(parameter, sizeof parameter, "weight_%s", *name);
    set(parameter, "0");
  }
  set("chains", "yes");
  must_fail(create(), TUTTI_ERROR_USAGE, "[space] weight_...: no modifier has a weight above 0");
}

/* --- canonical texts --------------------------------------------------------------------------------------------- */

/* Two branches that differ only in what follows them. */
static void equal_graphs_have_equal_texts(void **state) {
  static const char *const graphs[] = {
      GRAPH(L("ip") ", " U("relu", "16") ", " U("relu", "16") ", " U("tanh", "8") ", " U("tanh", "24") ", " L(
                "linear") ", " L("op"),
            "[0, 1], [0, 2], [1, 3], [2, 4], [3, 5], [4, 5], [5, 6]"),
      GRAPH(L("op") ", " U("relu", "16") ", " U("relu", "16") ", " U("tanh", "8") ", " U("tanh", "24") ", " L(
                "linear") ", " L("ip"),
            "[6, 1], [6, 2], [1, 4], [2, 3], [3, 5], [4, 5], [5, 0]"),
  };
  (void)state;
  must(create());
  tutti_genotype *a = parsed(graphs[0]), *b = parsed(graphs[1]);
  assert_true(tutti_genotype_equal(a, b));
  tutti_genotype_unref(a);
  tutti_genotype_unref(b);
}

/* --- pool, chains ------------------------------------------------------------------------------------------------ */

static size_t count_known(void) {
  const char *name, *json;
  size_t count = 0;
  while (tutti_space_known(space, count, &name, &json))
    count++;
  return count;
}

static void the_pool_is_ten_chains(void **state) {
  tutti_network *network;
  (void)state;
  must(create());
  assert_int_equal(count_known(), 10);
  network = decoded("\"blocks-3-2\"");
  assert_layers(network,
                "dense 64, activation relu, dense 64, activation relu, dense 128, activation sigmoid, "
                "dense 128, activation sigmoid, dense 256, activation crelu, dense 256, activation crelu, dense 4, "
                "head-gaussian");
  tutti_network_destroy(network);
  tutti_space_destroy(space);
  set("max_layers", "20");
  must(create());
  assert_int_equal(count_known(), 6);
  tutti_space_destroy(space);
  set("max_units", "100");
  must(create());
  assert_int_equal(count_known(), 6);
  network = decoded("\"blocks-3-2\"");
  assert_layers(network,
                "dense 64, activation relu, dense 64, activation relu, dense 100, activation sigmoid, "
                "dense 100, activation sigmoid, dense 100, activation crelu, dense 100, activation crelu, dense 4, "
                "head-gaussian");
  tutti_network_destroy(network);
}

static void chains_stay_chains(void **state) {
  (void)state;
  set("chains", "yes");
  check_lineages(500);
}

/* Classification has another decision layer; without data, both may be read. */
static void the_task_has_its_decision_layer(void **state) {
  static const char linear[] = GRAPH(FIVE, "[0, 1], [1, 2], [2, 3], [3, 4]");
  static const char softmax[] = GRAPH(L("ip") ", " U("relu", "16") ", " U("tanh", "16") ", " L("softmax") ", " L("op"),
                                      "[0, 1], [1, 2], [2, 3], [3, 4]");
  (void)state;
  task.kind = TUTTI_TASK_CLASSIFICATION;
  must(create());
  must_refuse(linear, "layer 3: there is no label 'linear'");
  tutti_genotype_unref(parsed(softmax));
  tutti_space_destroy(space);
  task.kind = TUTTI_TASK_VALUE;
  must(create());
  tutti_genotype *a = parsed(linear), *b = parsed(softmax);
  double out[MEASURES];
  measure(a, b, out);
  assert_true(out[0] == 200); /* decision layers do not match: 100 each */
  tutti_genotype_unref(a);
  tutti_genotype_unref(b);
}

/* --- networks ---------------------------------------------------------------------------------------------------- */

static void graphs_become_networks(void **state) {
  (void)state;
  must(create());
  tutti_network *network =
      decoded(GRAPH(L("ip") ", " U("relu", "16") ", " U("crelu", "8") ", " L("linear") ", " L("linear") ", " L("op"),
                    "[0, 1], [0, 2], [1, 2], [2, 3], [1, 4], [3, 5], [4, 5]"));
  assert_layers(network, "dense 16, activation relu, concat, dense 8, activation crelu, dense 4, dense 4, mean, "
                         "head-gaussian");
  tutti_network_destroy(network);
}

/* Images are flattened where a layer reads them. */
static void images_are_flattened(void **state) {
  (void)state;
  task = image_task(4, 2, 3);
  must(create());
  tutti_network *network =
      decoded(GRAPH(L("ip") ", " U("relu", "16") ", " U("tanh", "8") ", " L("softmax") ", " L("op"),
                    "[0, 1], [1, 2], [2, 3], [3, 4]"));
  assert_layers(network, "flatten, dense 16, activation relu, dense 8, activation tanh, dense 3, head-softmax");
  assert_int_equal(tutti_network_layer(network, 2)->parameters, 32 * 16 + 16);
  tutti_network_destroy(network);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(graphs_of_modifiers_hold, begin, end),
      cmocka_unit_test_setup_teardown(bad_graphs_are_refused, begin, end),
      cmocka_unit_test_setup_teardown(limits_are_parameters, begin, end),
      cmocka_unit_test_setup_teardown(bad_parameters_are_refused, begin, end),
      cmocka_unit_test_setup_teardown(equal_graphs_have_equal_texts, begin, end),
      cmocka_unit_test_setup_teardown(the_pool_is_ten_chains, begin, end),
      cmocka_unit_test_setup_teardown(chains_stay_chains, begin, end),
      cmocka_unit_test_setup_teardown(the_task_has_its_decision_layer, begin, end),
      cmocka_unit_test_setup_teardown(graphs_become_networks, begin, end),
      cmocka_unit_test_setup_teardown(images_are_flattened, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
