/* test_space_fixed.c - space fixed: the network of a recipe or of a file. */
#include "spaces/fixed.c"

#include <stdlib.h>
#include <unistd.h>

#include "space_fixture.h"

static void activations_are_those_of_the_core(void **state) {
  for (int i = 0; activations[i]; i++)
    assert_string_equal(activations[i], tutti_activation_name((enum tutti_activation)i));
}

static void the_recipes_network_is_built(void **state) {
  set("widths", "8 16");
  set("activation", "relu tanh");
  set("dropout", "0.5 0");
  must(create());
  tutti_network *network = decoded("{}");
  assert_layers(network, "dense 8, activation relu, dropout 0.5, dense 16, activation tanh, dense 4, head-gaussian");
  tutti_network_destroy(network);
}

static void one_value_stands_for_all_layers(void **state) {
  set("widths", "8 16 4");
  set("activation", "linear");
  must(create());
  tutti_network *network = decoded("\"fixed\"");
  assert_layers(network, "dense 8, dense 16, dense 4, dense 4, head-gaussian");
  tutti_network_destroy(network);
}

static void there_is_one_genotype(void **state) {
  must(create());
  struct tutti_random random;
  tutti_genotype *sample, *mutant;
  char *json;
  tutti_random_init(&random, 1, "space", 0);
  must(tutti_space_sample(context, space, &random, &sample));
  must(tutti_space_mutate(context, space, &random, sample, &mutant));
  assert_true(tutti_genotype_equal(sample, mutant));
  must(tutti_space_print(context, sample, &json));
  assert_string_equal(json, "{}");
  assert_true(tutti_domain_cardinality(tutti_space_domain(space)) == 1);
  tutti_free(json);
  tutti_genotype_unref(sample);
  tutti_genotype_unref(mutant);
}

/* Write a network for `of` to a temporary file, whose name goes to path[32]. */
static void write_network(const struct tutti_task *of, char *path) {
  tutti_network *network;
  uint32_t layer;
  char *json;
  must(tutti_network_create(context, of->input, &network));
  must(tutti_network_add_dense(context, network, "middle", 0, 3, TUTTI_ACTIVATION_SWISH, &layer));
  must(tutti_network_add_head(context, network, layer, of));
  must(tutti_network_print(context, network, &json));
  (void)strcpy(path, "/tmp/tutti-test-XXXXXX");
  int file = mkstemp(path);
  assert_true(file >= 0 && write(file, json, strlen(json)) == (ssize_t)strlen(json));
  assert_int_equal(close(file), 0);
  tutti_free(json);
  tutti_network_destroy(network);
}

static void a_file_is_taken_as_it_is(void **state) {
  char path[32];
  write_network(&task, path);
  set("network", path);
  must(create());
  assert_int_equal(unlink(path), 0);
  tutti_network *network = decoded("{}");
  assert_layers(network, "dense 3, activation swish, dense 4, head-gaussian");
  assert_string_equal(tutti_network_layer(network, 1)->label, "middle");
  tutti_network_destroy(network);
}

static void a_network_of_another_task_is_refused(void **state) {
  static const struct {
    const char *expected;
    int channels;
    size_t outputs;
    enum tutti_op head;
  } cases[] = {
      {"takes inputs of 1 x 1 x 6, and the data have 1 x 1 x 5", 6, 2, TUTTI_OP_HEAD_GAUSSIAN},
      {"ends in head-linear, and the task asks for head-gaussian", 5, 2, TUTTI_OP_HEAD_LINEAR},
      {"gives its head 6 numbers, and the task needs 4", 5, 3, TUTTI_OP_HEAD_GAUSSIAN},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct tutti_task other = table_task();
    char path[32];
    tutti_genotype *genotype;
    tutti_network *network;
    other.input.channels = cases[i].channels;
    other.outputs = cases[i].outputs;
    other.head = cases[i].head;
    write_network(&other, path);
    set("network", path);
    must(create());
    assert_int_equal(unlink(path), 0);
    must(tutti_space_parse(context, space, "{}", &genotype));
    must_fail(tutti_space_decode(context, genotype, &task, &network), TUTTI_ERROR_USAGE, cases[i].expected);
    tutti_genotype_unref(genotype);
    tutti_space_destroy(space);
    space = NULL;
  }
}

static void bad_parameters_are_refused(void **state) {
  set("widths", "8 16 4");
  set("activation", "relu tanh");
  must_fail(create(), TUTTI_ERROR_USAGE, "activation: expected one value, or 3 as in widths, found 2");
  set("activation", "relu");
  set("dropout", "0 0 0 0");
  must_fail(create(), TUTTI_ERROR_USAGE, "dropout: expected one value, or 3 as in widths, found 4");
  set("dropout", "0");
  set("network", "/nowhere/network.json");
  must_fail(create(), TUTTI_ERROR_USAGE, "cannot read /nowhere/network.json: No such file");
  set("network", "/dev/zero");
  must_fail(create(), TUTTI_ERROR_USAGE, "is no network in JSON");
  set("network", "/dev/null");
  must_fail(create(), TUTTI_ERROR_USAGE, "[space] network: /dev/null: ");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(activations_are_those_of_the_core, begin, end),
      cmocka_unit_test_setup_teardown(the_recipes_network_is_built, begin, end),
      cmocka_unit_test_setup_teardown(one_value_stands_for_all_layers, begin, end),
      cmocka_unit_test_setup_teardown(there_is_one_genotype, begin, end),
      cmocka_unit_test_setup_teardown(a_file_is_taken_as_it_is, begin, end),
      cmocka_unit_test_setup_teardown(a_network_of_another_task_is_refused, begin, end),
      cmocka_unit_test_setup_teardown(bad_parameters_are_refused, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
