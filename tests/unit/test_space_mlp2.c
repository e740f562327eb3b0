/* test_space_mlp2.c - space mlp2: its domain, and the networks that its points become. */
#include "spaces/mlp2.c"

#include "space_fixture.h"

static void activations_are_those_of_the_core(void **state) {
  for (int i = 0; activations[i]; i++)
    assert_string_equal(activations[i], tutti_activation_name((enum tutti_activation)i));
}

static void the_domain_is_the_papers(void **state) {
  static const char *const texts[] = {"integer 1 100", "integer 1 100", "log-uniform 1e-05 100",
                                      "log-uniform 1e-05 100", "log-uniform 1e-05 100"};
  static const char *const names[] = {"units1", "units2", "l2_1", "l2_2", "l2_output"};
  must(create());
  const tutti_domain *domain = tutti_space_domain(space);
  assert_int_equal(tutti_domain_count(domain), 5);
  for (size_t i = 0; i < 5; i++) {
    char *text;
    must(tutti_domain_text(context, domain, i, &text));
    assert_string_equal(tutti_domain_at(domain, i)->name, names[i]);
    assert_string_equal(text, texts[i]);
    tutti_free(text);
  }
}

/* The L2 weights of the layers that have weights, in order. */
static void assert_l2(const tutti_network *network, const double expected[LAYERS]) {
  size_t found = 0;
  for (size_t i = 0; i < tutti_network_layers(network); i++)
    if (tutti_network_layer(network, i)->op == TUTTI_OP_DENSE)
      assert_true(tutti_layer_real(tutti_network_layer(network, i), "l2", -1) == expected[found++]);
  assert_int_equal(found, LAYERS);
}

static void points_become_networks(void **state) {
  must(create());
  tutti_network *network =
      decoded("{\"units1\": 7, \"units2\": 100, \"l2_1\": 0.5, \"l2_2\": 1e-5, \"l2_output\": 100}");
  assert_layers(network, "dense 7, activation tanh, dense 100, activation tanh, dense 4, head-gaussian");
  assert_l2(network, (double[]){0.5, 1e-5, 100});
  tutti_network_destroy(network);
}

static void the_head_is_the_tasks(void **state) {
  set("activation", "relu");
  must(create());
  task.head = TUTTI_OP_HEAD_LINEAR;
  tutti_network *network = decoded("{\"units1\": 1, \"units2\": 2, \"l2_1\": 1, \"l2_2\": 1, \"l2_output\": 1}");
  assert_layers(network, "dense 1, activation relu, dense 2, activation relu, dense 2, head-linear");
  tutti_network_destroy(network);
}

static void what_is_fixed_is_no_dimension(void **state) {
  set("units", "9");
  set("l2", "0.25 0.25");
  must(create());
  assert_int_equal(tutti_domain_count(tutti_space_domain(space)), 0);
  tutti_network *network = decoded("{}");
  assert_layers(network, "dense 9, activation tanh, dense 9, activation tanh, dense 4, head-gaussian");
  assert_l2(network, (double[]){0.25, 0.25, 0.25});
  tutti_network_destroy(network);
}

static void no_l2_at_all(void **state) {
  set("l2", "0");
  must(create());
  assert_int_equal(tutti_domain_count(tutti_space_domain(space)), 2);
  tutti_network *network = decoded("{\"units1\": 3, \"units2\": 4}");
  assert_l2(network, (double[]){0, 0, 0});
  tutti_network_destroy(network);
}

static void samples_and_mutants_decode(void **state) {
  must(create());
  struct tutti_random random;
  tutti_genotype *genotype;
  tutti_random_init(&random, 1, "space", 0);
  for (int i = 0; i < 200; i++) {
    tutti_genotype *mutant;
    tutti_network *network;
    must(tutti_space_sample(context, space, &random, &genotype));
    must(tutti_space_mutate(context, space, &random, genotype, &mutant));
    assert_false(tutti_genotype_equal(genotype, mutant));
    must(tutti_space_decode(context, mutant, &task, &network));
    tutti_network_destroy(network);
    tutti_genotype_unref(mutant);
    tutti_genotype_unref(genotype);
  }
}

static void images_are_flattened(void **state) {
  task.input = (struct tutti_shape){4, 4, 3};
  set("units", "7");
  set("l2", "1");
  must(create());
  tutti_network *network = decoded("{}");
  assert_layers(network, "flatten, dense 7, activation tanh, dense 7, activation tanh, dense 4, head-gaussian");
  tutti_network_destroy(network);
}

static void bad_parameters_are_refused(void **state) {
  set("units", "1 2 3");
  must_fail(create(), TUTTI_ERROR_USAGE, "[space] units: expected the least and the greatest, or one value, found 3");
  set("units", "17 3");
  must_fail(create(), TUTTI_ERROR_USAGE, "[space] units1: expected the least value first, found 17 to 3");
  set("units", "3 17");
  set("l2", "1 2 3");
  must_fail(create(), TUTTI_ERROR_USAGE, "[space] l2: expected the least and the greatest, or one value, found 3");
  set("l2", "0 1");
  must_fail(create(), TUTTI_ERROR_USAGE, "[space] l2_1");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(activations_are_those_of_the_core, begin, end),
      cmocka_unit_test_setup_teardown(the_domain_is_the_papers, begin, end),
      cmocka_unit_test_setup_teardown(points_become_networks, begin, end),
      cmocka_unit_test_setup_teardown(the_head_is_the_tasks, begin, end),
      cmocka_unit_test_setup_teardown(what_is_fixed_is_no_dimension, begin, end),
      cmocka_unit_test_setup_teardown(no_l2_at_all, begin, end),
      cmocka_unit_test_setup_teardown(samples_and_mutants_decode, begin, end),
      cmocka_unit_test_setup_teardown(images_are_flattened, begin, end),
      cmocka_unit_test_setup_teardown(bad_parameters_are_refused, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
