/* test_space_mlp.c - space mlp: its domain, and the networks that its points become. */
#include "spaces/mlp.c"

#include "space_fixture.h"

static void activations_are_those_of_the_core(void **state) {
  for (int i = 0; activations[i]; i++)
    assert_string_equal(activations[i], tutti_activation_name((enum tutti_activation)i));
}

static void points_become_chains(void **state) {
  set("max_depth", "3");
  set("widths", "8 16");
  set("activations", "relu linear tanh");
  set("dropout", "0 0.25");
  must(create());
  tutti_network *network =
      decoded("{\"depth\": 1, \"width1\": \"16\", \"activation1\": \"tanh\", \"dropout1\": \"0\"}");
  assert_layers(network, "dense 16, activation tanh, dense 4, head-gaussian");
  tutti_network_destroy(network);
  network = decoded("{\"depth\": 2, \"width1\": \"16\", \"activation1\": \"linear\", \"dropout1\": \"0.25\", "
                    "\"width2\": \"8\", \"activation2\": \"relu\", \"dropout2\": \"0\"}");
  assert_layers(network, "dense 16, dropout 0.25, dense 8, activation relu, dense 4, head-gaussian");
  assert_int_equal(tutti_network_parameters(network), 5 * 16 + 16 + 16 * 8 + 8 + 8 * 4 + 4);
  tutti_network_destroy(network);
}

static void what_is_fixed_is_no_dimension(void **state) {
  set("min_depth", "2");
  set("max_depth", "2");
  set("widths", "8");
  set("activations", "swish");
  must(create());
  assert_int_equal(tutti_domain_count(tutti_space_domain(space)), 0);
  tutti_network *network = decoded("{}");
  assert_layers(network, "dense 8, activation swish, dense 8, activation swish, dense 4, head-gaussian");
  tutti_network_destroy(network);
}

/* 1 + a + a^2 ... over the depths, with a choices of a layer. */
static void the_space_has_as_many_points_as_it_should(void **state) {
  set("min_depth", "2");
  set("max_depth", "4");
  set("widths", "8 16 32");
  set("activations", "relu tanh");
  must(create());
  const tutti_domain *domain = tutti_space_domain(space);
  assert_true(tutti_domain_cardinality(domain) == 36 + 216 + 1296);
  /* The first layers, which are always there, have no condition. */
  assert_null(tutti_domain_at(domain, tutti_domain_find(domain, "width2"))->parent);
  assert_string_equal(tutti_domain_at(domain, tutti_domain_find(domain, "width3"))->parent, "depth");
}

static void widths_may_be_a_range(void **state) {
  set("min_depth", "1");
  set("max_depth", "2");
  set("widths", "3 17");
  set("width_range", "log");
  set("activations", "relu");
  must(create());
  const struct tutti_dimension *width = tutti_domain_at(tutti_space_domain(space), 1);
  assert_string_equal(width->name, "width1");
  assert_true(width->type == TUTTI_DIMENSION_INTEGER && width->low == 3 && width->high == 17 && width->log);
  tutti_network *network = decoded("{\"depth\": 2, \"width1\": 3, \"width2\": 17}");
  assert_layers(network, "dense 3, activation relu, dense 17, activation relu, dense 4, head-gaussian");
  tutti_network_destroy(network);
}

static void samples_and_mutants_decode(void **state) {
  set("dropout", "0 0.5");
  must(create());
  struct tutti_random random;
  tutti_genotype *genotype;
  tutti_random_init(&random, 1, "space", 0);
  must(tutti_space_sample(context, space, &random, &genotype));
  for (int i = 0; i < 300; i++) {
    tutti_genotype *mutant;
    tutti_network *network;
    must(tutti_space_mutate(context, space, &random, genotype, &mutant));
    assert_false(tutti_genotype_equal(genotype, mutant));
    must(tutti_space_decode(context, mutant, &task, &network));
    tutti_network_destroy(network);
    tutti_genotype_unref(genotype);
    genotype = mutant;
  }
  tutti_genotype_unref(genotype);
}

static void images_are_flattened(void **state) {
  task.input = (struct tutti_shape){4, 4, 3};
  set("min_depth", "1");
  set("max_depth", "1");
  set("widths", "7");
  set("activations", "relu");
  must(create());
  tutti_network *network = decoded("{}");
  assert_layers(network, "flatten, dense 7, activation relu, dense 4, head-gaussian");
  tutti_network_destroy(network);
}

static void bad_parameters_are_refused(void **state) {
  set("min_depth", "4");
  must_fail(create(), TUTTI_ERROR_USAGE, "min_depth: 4 is more than max_depth, 3");
  set("min_depth", "1");
  set("width_range", "linear");
  must_fail(create(), TUTTI_ERROR_USAGE, "expected the least and the greatest, found 4 numbers");
  set("widths", "17 3");
  must_fail(create(), TUTTI_ERROR_USAGE, "expected the least value first, found 17 to 3");
  set("width_range", "list");
  set("widths", "8 8");
  must_fail(create(), TUTTI_ERROR_USAGE, "'8' is there twice");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(activations_are_those_of_the_core, begin, end),
      cmocka_unit_test_setup_teardown(points_become_chains, begin, end),
      cmocka_unit_test_setup_teardown(what_is_fixed_is_no_dimension, begin, end),
      cmocka_unit_test_setup_teardown(the_space_has_as_many_points_as_it_should, begin, end),
      cmocka_unit_test_setup_teardown(widths_may_be_a_range, begin, end),
      cmocka_unit_test_setup_teardown(samples_and_mutants_decode, begin, end),
      cmocka_unit_test_setup_teardown(images_are_flattened, begin, end),
      cmocka_unit_test_setup_teardown(bad_parameters_are_refused, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
