/* test_space_depth_width.c - space depth-width: its few points, and the networks of published cells. */
#include "spaces/depth-width.c"

#include "space_fixture.h"

static int begin_images(void **state) {
  int status = begin(state);
  task = image_task(32, 3, 10);
  return status;
}

static void fifteen_networks(void **state) {
  char last[16];
  (void)state;
  must(create());
  assert_true(tutti_domain_cardinality(tutti_space_domain(space)) == 15);
  for (int i = 0; i < 15; i++) {
    static const int cells[] = {5, 8, 11};
    char json[64];
    (void)snprintf(json, sizeof json, "{\"cells\": \"%d\", \"channels\": \"%d\"}", cells[i % 3], 12 + 2 * (i / 3));
    tutti_network *network = decoded(json);
    assert_int_equal(tutti_network_layer(network, 1)->shape.channels, 3 * (12 + 2 * (i / 3)));
    (void)snprintf(last, sizeof last, "cell%d", cells[i % 3] - 1);
    assert_string_equal(tutti_network_layer(network, tutti_network_layers(network) - 4)->label, last);
    tutti_network_destroy(network);
  }
}

static void the_cell_is_what_was_published(void **state) {
  (void)state;
  set("cells", "20");
  set("channels", "36");
  must(create());
  assert_int_equal(tutti_domain_count(tutti_space_domain(space)), 0);
  tutti_network *network = decoded("{}");
  assert_int_equal(tutti_network_parameters(network), 3349342); /* 3.3 million (DARTS, Table 1) */
  tutti_network_destroy(network);
  set("cell", "amoebanet-a");
  set("channels", "20");
  tutti_space_destroy(space);
  must(create());
  network = decoded("{}");
  assert_non_null(strstr(tutti_network_layer(network, tutti_network_layers(network) - 4)->label, "cell19"));
  tutti_network_destroy(network);
}

static void one_value_is_no_dimension(void **state) {
  (void)state;
  set("cells", "3");
  must(create());
  assert_int_equal(tutti_domain_count(tutti_space_domain(space)), 1);
  tutti_network *network = decoded("{\"channels\": \"14\"}");
  assert_int_equal(tutti_network_layer(network, 1)->shape.channels, 3 * 14);
  tutti_network_destroy(network);
}

static void bad_input_is_refused(void **state) {
  tutti_genotype *genotype;
  (void)state;
  must(create());
  must_fail(tutti_space_parse(context, space, "{\"cells\": \"6\", \"channels\": \"12\"}", &genotype), TUTTI_ERROR_USAGE,
            "cells");
  must_fail(tutti_space_parse(context, space, "\"darts-v1\"", &genotype), TUTTI_ERROR_USAGE, "knows no genotype");
  tutti_space_destroy(space);
  space = NULL;
  char many[2048] = "";
  for (int i = 0; i < 257; i++)
    (void)snprintf(many + strlen(many), sizeof many - strlen(many), "%d ", 2 + i);
  set("channels", many);
  must_fail(create(), TUTTI_ERROR_USAGE, "channels: expected at most 256 numbers, found 257");
  set("channels", "16");
  set("stem_strides", "1 2 3");
  must_fail(create(), TUTTI_ERROR_USAGE, "stem_strides: expected two strides, found 3");
  set("stem_strides", "1 1");
  task = table_task();
  must_fail(create(), TUTTI_ERROR_USAGE, "need images");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(fifteen_networks, begin_images, end),
      cmocka_unit_test_setup_teardown(the_cell_is_what_was_published, begin_images, end),
      cmocka_unit_test_setup_teardown(one_value_is_no_dimension, begin_images, end),
      cmocka_unit_test_setup_teardown(bad_input_is_refused, begin_images, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
