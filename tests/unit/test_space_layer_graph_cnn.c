/* test_space_layer_graph_cnn.c - space layer-graph-cnn: graphs from modifiers, images, networks, configurations of the
   distance. */
#include "spaces/layer-graph-cnn.c"

#include "space_fixture.h"

#include "layer_graph_checks.h"

#define L(label) "{\"label\": \"" label "\"}"
#define U(label, units) "{\"label\": \"" label "\", \"units\": " units "}"
#define S(label, units) "{\"label\": \"" label "\", \"units\": " units ", \"stride\": 2}"
#define GRAPH(layers, edges) "{\"layers\": [" layers "], \"edges\": [" edges "]}"
#define END L("softmax") ", " L("op")

static int begin_images(void **state) {
  int status = begin(state);
  task = image_task(32, 3, 10);
  return status;
}

static void graphs_of_modifiers_hold(void **state) {
  (void)state;
  check_lineages(2000);
}

static void chains_stay_chains(void **state) {
  const char *name, *json;
  size_t count = 0;
  (void)state;
  set("chains", "yes");
  check_lineages(300);
  for (; tutti_space_known(space, count, &name, &json); count++)
    assert_string_not_equal(name, "two-heads");
  assert_int_equal(count, 11);
}

static void bad_images_are_refused(void **state) {
  static const struct {
    const char *json, *message;
  } cases[] = {
      {GRAPH("{\"label\": \"conv3\", \"units\": 16, \"stride\": 3}", ""), "layer 0: \"stride\" must be 1 or 2"},
      {GRAPH("{\"label\": \"fc\", \"units\": 16, \"stride\": 1}", ""), "layer 0: only convolutions have a \"stride\""},
      {GRAPH(U("max-pool", "16"), ""), "layer 0: max-pool has no \"units\""},
      {GRAPH(U("conv9", "16"), ""), "there is no label 'conv9' in this space; did you mean 'conv"},
      {GRAPH(L("linear"), ""), "layer 0: there is no label 'linear'"},
      {GRAPH(L("ip") ", " L("max-pool") ", " U("conv3", "16") ", " END, "[0, 1], [1, 2], [2, 3], [3, 4]"),
       "layer 1 (max-pool) reads ip; only convolutions do"},
      {GRAPH(L("ip") ", " U("fc", "16") ", " U("fc", "16") ", " END, "[0, 1], [1, 2], [2, 3], [3, 4]"),
       "layer 1 (fc) reads ip; only convolutions do"},
      {GRAPH(L("ip") ", " U("conv3", "16") ", " U("fc", "16") ", " U("conv3", "16") ", " END,
             "[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]"),
       "layer 3 (conv3) reads layer 2, which gives no image"},
      {GRAPH(L("ip") ", " U("conv3", "16") ", " U("fc", "16") ", " L("avg-pool") ", " END,
             "[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]"),
       "layer 3 (avg-pool) reads layer 2, which gives no image"},
      {GRAPH(L("ip") ", " S("conv3", "16") ", " U("conv3", "16") ", " U("conv5", "16") ", " END,
             "[0, 1], [0, 2], [1, 3], [2, 3], [3, 4], [4, 5]"),
       "which give images of different sizes"},
      {GRAPH(L("ip") ", " U("conv3", "16") ", " U("fc", "16") ", " U("fc", "16") ", " END,
             "[0, 1], [1, 2], [1, 3], [2, 3], [3, 4], [4, 5]"),
       "layer 3 (fc) reads layers 1 and 2, which give images of different sizes"},
  };
  (void)state;
  must(create());
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    must_refuse(cases[i].json, cases[i].message);
}

/* Concatenated pools double channels at every level. */
static void too_many_channels_are_refused(void **state) {
  char layers[2048] = L("ip") ", " U("conv3", "1024"), edges[1024] = "[0, 1]";
  int last = 1, pair = -1;
  (void)state;
  must(create());
  for (int level = 0; level < 7; level++, pair = last - 1) {
    for (int k = 1; k <= 2; k++) {
      size_t used = strlen(edges);
      (void)snprintf(edges + used, sizeof edges - used, ", [%d, %d]", last, last + k);
      used = strlen(edges);
      if (pair >= 0)
        (void)snprintf(edges + used, sizeof edges - used, ", [%d, %d]", pair, last + k);
      (void)strcat(layers, ", " L("max-pool"));
    }
    last += 2;
  }
  char json[4096];
  (void)snprintf(json, sizeof json, GRAPH("%s, " END, "%s, [%d, %d], [%d, %d], [%d, %d]"), layers, edges, last - 1,
                 last + 1, last, last + 1, last + 1, last + 2);
  must_refuse(json, "channels, more than 65536");
}

static void tables_are_refused(void **state) {
  (void)state;
  task = table_task();
  must_fail(create(), TUTTI_ERROR_USAGE, "convolutional networks need images");
}

/* --- networks ---------------------------------------------------------------------------------------------------- */

static void graphs_become_networks(void **state) {
  (void)state;
  must(create());
  tutti_network *network = decoded(GRAPH(L("ip") ", " S("conv5", "16") ", " U("res3", "16") ", " U("res3", "8") ", " L(
                                             "avg-pool") ", " U("fc", "16") ", " END,
                                         "[0, 1], [1, 2], [1, 3], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7]"));
  assert_layers(network, "conv2d, batch-norm, activation relu, "
                         "conv2d, batch-norm, add, activation relu, concat, "
                         "conv2d, batch-norm, conv2d, batch-norm, add, activation relu, "
                         "average-pool, flatten, dense 16, activation relu, dense 10, head-softmax");
  assert_int_equal(tutti_network_layer(network, 1)->parameters, 5 * 5 * 3 * 16);
  assert_int_equal(tutti_network_layer(network, 1)->shape.height, 16);
  assert_int_equal(tutti_network_layer(network, 9)->parameters, 3 * 3 * 32 * 8);
  assert_int_equal(tutti_network_layer(network, 11)->parameters, 32 * 8);
  assert_int_equal(tutti_network_layer(network, 15)->shape.height, 8);
  tutti_network_destroy(network);
}

static void two_heads_are_averaged(void **state) {
  size_t means = 0;
  (void)state;
  must(create());
  tutti_network *network = decoded("\"two-heads\"");
  for (size_t i = 0; i < tutti_network_layers(network); i++) {
    const struct tutti_layer *layer = tutti_network_layer(network, i);
    means += layer->op == TUTTI_OP_MEAN && layer->input_count == 2;
  }
  assert_int_equal(means, 1);
  tutti_network_destroy(network);
}

/* --- the paper's Figure 1 ---------------------------------------------------------------------------------------- */

/* The caption's distances at weight 0.5, with its a and b exchanged. */
static void figure_1_is_met(void **state) {
  static const char *const networks[] = {
      GRAPH(L("ip") ", " U("conv3", "16") ", " U("conv3", "16") ", " U("conv3", "32") ", " U("conv5", "32") ", " L(
                "max-pool") ", " U("fc", "16") ", " END,
            "[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [6, 7], [7, 8]"),
      GRAPH(L("ip") ", " U("conv3", "16") ", " U("conv3", "16") ", " U("conv3", "16") ", " U("conv3", "16") ", " U(
                "conv5", "32") ", " L("max-pool") ", " U("fc", "16") ", " END,
            "[0, 1], [1, 2], [1, 3], [2, 4], [3, 5], [4, 5], [5, 6], [6, 7], [7, 8], [8, 9]"),
      GRAPH(
          L("ip") ", " U("conv7", "16") ", " U("conv5", "32") ", " S("conv3", "16") ", " U("conv3", "16") ", " L(
              "avg-"
              "pool") ", " L("max-pool") ", " L("max-pool") ", " U("fc",
                                                                   "16") ", " U("conv3",
                                                                                "16") ", " L("softmax") ", " L("max-"
                                                                                                               "pool") ", " U("fc",
                                                                                                                              "16") ", " END,
          "[0, 1], [1, 2], [1, 3], [1, 4], [2, 5], [3, 6], [4, 7], [5, 8], [6, 12], [7, 9], [8, 10], [8, 13], [9, "
          "11], [10, 14], [11, 12], [12, 13], [13, 14]"),
  };
  static const struct {
    int a, b;
    const char *d;
  } caption[] = {{0, 1, "175.1"}, {1, 2, "1479.3"}, {0, 2, "1621.4"}};
  tutti_genotype *genotypes[3];
  (void)state;
  set("structure", "0.5");
  set("fc_mass", "1");
  set("pool_mismatch", "0.25");
  set("conv_mismatch", "0.1");
  must(create());
  assert_int_equal(tutti_space_measures(space), 2);
  for (size_t i = 0; i < 3; i++)
    genotypes[i] = parsed(networks[i]);
  for (size_t i = 0; i < 3; i++) {
    char text[32];
    double out[2];
    const tutti_genotype *other = genotypes[caption[i].b];
    must(tutti_space_distances(context, genotypes[caption[i].a], 1, &other, out));
    (void)snprintf(text, sizeof text, "%.1f", out[0]);
    assert_string_equal(text, caption[i].d);
  }
  for (size_t i = 0; i < 3; i++)
    tutti_genotype_unref(genotypes[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(graphs_of_modifiers_hold, begin_images, end),
      cmocka_unit_test_setup_teardown(chains_stay_chains, begin_images, end),
      cmocka_unit_test_setup_teardown(bad_images_are_refused, begin_images, end),
      cmocka_unit_test_setup_teardown(too_many_channels_are_refused, begin_images, end),
      cmocka_unit_test_setup_teardown(tables_are_refused, begin_images, end),
      cmocka_unit_test_setup_teardown(graphs_become_networks, begin_images, end),
      cmocka_unit_test_setup_teardown(two_heads_are_averaged, begin_images, end),
      cmocka_unit_test_setup_teardown(figure_1_is_met, begin_images, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
