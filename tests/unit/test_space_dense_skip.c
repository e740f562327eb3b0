/* test_space_dense_skip.c - space dense-skip: its variables, and the networks that its points become. */
#include "spaces/dense-skip.c"

#include "space_fixture.h"

static void activations_are_those_of_the_core(void **state) {
  for (int i = 0; activations[i]; i++)
    assert_string_equal(activations[i], tutti_activation_name((enum tutti_activation)i));
}

/* 177 choices a node and 9 variables for 3 nodes, 17 for 5 (the paper's space). */
static void the_defaults_are_the_papers(void **state) {
  must(create());
  const tutti_domain *domain = tutti_space_domain(space);
  static const char *const names[] = {"node1", "skip1_0", "node2",   "skip2_0", "skip2_1",
                                      "node3", "skip3_0", "skip3_1", "skip3_2"};
  assert_int_equal(tutti_domain_count(domain), 9);
  for (size_t i = 0; i < 9; i++) {
    const struct tutti_dimension *variable = tutti_domain_at(domain, i);
    assert_string_equal(variable->name, names[i]);
    assert_int_equal(variable->type, TUTTI_DIMENSION_CATEGORICAL);
    assert_int_equal(variable->choice_count, names[i][0] == 'n' ? 177 : 2);
  }
  const struct tutti_dimension *node = tutti_domain_at(domain, 0);
  assert_string_equal(node->choices[0], "identity");
  assert_string_equal(node->choices[1], "16-elu");
  assert_string_equal(node->choices[4], "16-linear");
  assert_string_equal(node->choices[11], "16-tanh");
  assert_string_equal(node->choices[12], "32-elu");
  assert_string_equal(node->choices[176], "256-tanh");
  assert_true(tutti_domain_cardinality(domain) == 177. * 177. * 177. * 64.);
}

static void only_the_last_outputs_have_skips(void **state) {
  set("nodes", "5");
  must(create());
  const tutti_domain *domain = tutti_space_domain(space);
  assert_int_equal(tutti_domain_count(domain), 17);
  assert_true(tutti_domain_find(domain, "skip5_1") == SIZE_MAX);
  assert_true(tutti_domain_find(domain, "skip5_2") < tutti_domain_find(domain, "skip5_3"));
  assert_string_equal(tutti_domain_at(domain, 16)->name, "skip5_4");
}

static void without_skips_it_is_a_chain(void **state) {
  must(create());
  tutti_network *network =
      decoded("{\"node1\": \"16-tanh\", \"skip1_0\": \"no\", \"node2\": \"identity\", \"skip2_0\": \"no\", "
              "\"skip2_1\": \"no\", "
              "\"node3\": \"32-linear\", \"skip3_0\": \"no\", \"skip3_1\": \"no\", \"skip3_2\": \"no\"}");
  assert_layers(network, "dense 16, activation tanh, dense 32, dense 4, head-gaussian");
  tutti_network_destroy(network);
}

/* The paper's figure by hand: projections where widths differ, sums, and the activation behind them. */
static void skips_are_projected_and_added(void **state) {
  must(create());
  tutti_network *network =
      decoded("{\"node1\": \"16-tanh\", \"skip1_0\": \"yes\", \"node2\": \"16-elu\", \"skip2_0\": \"no\", \"skip2_1\": "
              "\"yes\", "
              "\"node3\": \"32-swish\", \"skip3_0\": \"yes\", \"skip3_1\": \"no\", \"skip3_2\": \"yes\"}");
  assert_layers(network,
                "dense 16, activation tanh, dense 16, add, activation relu, " /* the input has 5 features */
                "dense 16, activation elu, add, activation relu, "            /* 16 = 16: no projection */
                "dense 32, activation swish, dense 32, dense 32, add, activation relu, dense 4, head-gaussian");
  assert_int_equal(tutti_network_parameters(network), (5 * 16 + 16) + (5 * 16 + 16) + (16 * 16 + 16) + (16 * 32 + 32) +
                                                          (5 * 32 + 32) + (16 * 32 + 32) + (32 * 4 + 4));
  /* Who feeds whom: the first merge adds its node and the projected input, the last its node and outputs 0 and 2. */
  const struct tutti_layer *first = tutti_network_layer(network, 4), *last = tutti_network_layer(network, 14);
  assert_string_equal(first->label, "merge1");
  assert_int_equal(first->input_count, 2);
  assert_int_equal(first->inputs[0], 2);
  assert_int_equal(first->inputs[1], 3);
  assert_int_equal(tutti_network_layer(network, 3)->inputs[0], 0);
  assert_string_equal(last->label, "merge3");
  assert_int_equal(last->input_count, 3);
  assert_int_equal(tutti_network_layer(network, last->inputs[1])->inputs[0], 0);
  assert_int_equal(tutti_network_layer(network, last->inputs[2])->inputs[0], 9);
  tutti_network_destroy(network);
}

/* An identity behind an output with a skip from the same output: twice that output. */
static void an_identity_may_meet_its_own_input(void **state) {
  set("nodes", "1");
  must(create());
  tutti_network *network = decoded("{\"node1\": \"identity\", \"skip1_0\": \"yes\"}");
  assert_layers(network, "add, activation relu, dense 4, head-gaussian");
  assert_int_equal(tutti_network_layer(network, 1)->inputs[0], 0);
  assert_int_equal(tutti_network_layer(network, 1)->inputs[1], 0);
  tutti_network_destroy(network);
}

static void merges_may_always_have_their_activation(void **state) {
  set("nodes", "1");
  set("merge", "always");
  set("merge_activation", "tanh");
  must(create());
  tutti_network *network = decoded("{\"node1\": \"16-elu\", \"skip1_0\": \"no\"}");
  assert_layers(network, "dense 16, activation elu, activation tanh, dense 4, head-gaussian");
  tutti_network_destroy(network);
}

static void every_point_is_a_network(void **state) {
  struct tutti_random random;
  set("nodes", "5");
  must(create());
  tutti_random_init(&random, 11, "test", 0);
  for (int i = 0; i < 2000; i++) {
    tutti_genotype *genotype, *mutant;
    tutti_network *network;
    size_t changed = 0;
    must(tutti_space_sample(context, space, &random, &genotype));
    must(tutti_space_decode(context, genotype, &task, &network)); /* checks the network, too */
    must(tutti_space_mutate(context, space, &random, genotype, &mutant));
    for (size_t v = 0; v < 17; v++)
      changed += tutti_genotype_point(genotype)[v] != tutti_genotype_point(mutant)[v];
    assert_int_equal(changed, 1); /* the paper's mutation: one variable takes another value */
    tutti_network_destroy(network);
    tutti_genotype_unref(mutant);
    tutti_genotype_unref(genotype);
  }
}

static void nothing_to_choose_is_refused(void **state) {
  must_fail(tutti_host_set(context, host, "space", "widths", ""), TUTTI_ERROR_USAGE, "found nothing");
  must_fail(tutti_host_set(context, host, "space", "activations", ""), TUTTI_ERROR_USAGE, "found nothing");
}

static void a_single_network_is_refused(void **state) {
  set("widths", "16");
  set("activations", "relu");
  set("identity", "no");
  set("skips", "0");
  must_fail(create(), TUTTI_ERROR_USAGE, "nothing to choose");
}

static void repetitions_are_refused(void **state) {
  set("widths", "16 32 16");
  must_fail(create(), TUTTI_ERROR_USAGE, "[space] widths: 16 stands there twice");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(activations_are_those_of_the_core, begin, end),
      cmocka_unit_test_setup_teardown(the_defaults_are_the_papers, begin, end),
      cmocka_unit_test_setup_teardown(only_the_last_outputs_have_skips, begin, end),
      cmocka_unit_test_setup_teardown(without_skips_it_is_a_chain, begin, end),
      cmocka_unit_test_setup_teardown(skips_are_projected_and_added, begin, end),
      cmocka_unit_test_setup_teardown(an_identity_may_meet_its_own_input, begin, end),
      cmocka_unit_test_setup_teardown(merges_may_always_have_their_activation, begin, end),
      cmocka_unit_test_setup_teardown(every_point_is_a_network, begin, end),
      cmocka_unit_test_setup_teardown(nothing_to_choose_is_refused, begin, end),
      cmocka_unit_test_setup_teardown(a_single_network_is_refused, begin, end),
      cmocka_unit_test_setup_teardown(repetitions_are_refused, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
