/* test_space_nasbench201.c - space nasbench201: the benchmark's order, strings, networks and mutation. */
#include "spaces/nasbench201.c"

#include "golden.h"
#include "space_fixture.h"

#include <math.h>
#include <stdlib.h>

static int begin_images(void **state) {
  int status = begin(state);
  task = image_task(32, 3, 10);
  return status;
}

static tutti_genotype *parsed(const char *json) {
  tutti_genotype *genotype;
  must(tutti_space_parse(context, space, json, &genotype));
  return genotype;
}

/* As the benchmark counts them: a bias is one, too. */
static double multiply_adds(const tutti_network *network) {
  double sum = 0;
  for (size_t i = 0; i < tutti_network_layers(network); i++) {
    const struct tutti_layer *layer = tutti_network_layer(network, i);
    if (layer->op == TUTTI_OP_CONV2D)
      sum += layer->flops / 2;
    if (layer->op == TUTTI_OP_DENSE)
      sum += (layer->flops + layer->shape.channels) / 2;
  }
  return sum;
}

/* --- text -------------------------------------------------------------------------------------------------------- */

/* By index and by string, all 15,625, in the benchmark's order. */
static void the_order_is_the_benchmarks(void **state) {
  uint64_t hash = UINT64_C(0xCBF29CE484222325);
  json_t *golden = golden_load("nasbench201_cells");
  (void)state;
  must(create());
  assert_true(tutti_domain_cardinality(tutti_space_domain(space)) == CODE_CELLS);
  for (int i = 0; i < CODE_CELLS; i++) {
    char index[16], *text, *name;
    (void)snprintf(index, sizeof index, "%d", i);
    tutti_genotype *genotype = parsed(index);
    must(tutti_space_print(context, genotype, &text));
    tutti_genotype *back = parsed(text);
    assert_true(tutti_genotype_equal(genotype, back));
    must(tutti_space_name(context, genotype, &name)); /* the text without its quotes */
    assert_true(strlen(name) + 2 == strlen(text) && strncmp(name, text + 1, strlen(name)) == 0);
    for (const char *at = name; *at; at++)
      hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001B3);
    hash = (hash ^ '\n') * UINT64_C(0x100000001B3);
    tutti_free(text);
    tutti_free(name);
    tutti_genotype_unref(genotype);
    tutti_genotype_unref(back);
  }
  assert_true(hash == strtoull(golden_text_of(golden, "order_fnv1a"), NULL, 16));
  json_decref(golden);
}

static void bad_cells_are_refused(void **state) {
  static const struct {
    const char *json, *message;
  } cases[] = {
      {"15625", "expected an index from 0 to 15624, found 15625"},
      {"-1", "expected an index from 0 to 15624, found -1"},
      {"1.5", "expected a cell as a string"},
      {"[1]", "expected a cell as a string"},
      {"", "expected a cell as a JSON string, or its index"},
      {"\"\"", "expected a cell like |none~0|+|none~0|none~1|+|none~0|none~1|none~2|, an index or a name, found ''"},
      {"\"|nor_conv_5x5~0|+|none~0|none~1|+|none~0|none~1|none~2|\"",
       "space nasbench201: cell '|nor_conv_5x5~0|+|none~0|none~1|+|none~0|none~1|none~2|': edge 0-1: there is no "
       "operation 'nor_conv_5x5'; did you mean 'nor_conv_"},
      {"\"|none~0|+|none~0|none~1|+|none~0|none~2|none~1|\"",
       "node 3: expected an edge from node 1, found '2|none~1|'"},
      {"\"|none~0|+|none~0|none~0|+|none~0|none~1|none~2|\"", "node 2: expected an edge from node 1, found '0|+|"},
      {"\"|none~0|+|none~0|none~1|+|none~0|none~1|none~3|\"", "node 3: expected an edge from node 2, found '3|'"},
      {"\"|none~0|+|none~0|+|none~0|none~1|none~2|\"", "edge 1-2: there is no operation ''"},
      {"\"|none|+|none~0|none~1|+|none~0|none~1|none~2|\"", "expected '~' at character 5"},
      {"\"|none~0|none~0|none~1|+|none~0|none~1|none~2|\"", "expected '+|' at character 8"},
      {"\"|none~0|+|none~0|none~1|+|none~0|none~1|none~2|+|none~0|\"", "expected its end at character 47"},
      {"\"|none~0|+|none~0|none~1|+|none~0|none~1|none~2\"", "expected '|' at character 46, found ''"},
  };
  (void)state;
  must(create());
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    tutti_genotype *genotype;
    must_fail(tutti_space_parse(context, space, cases[i].json, &genotype), TUTTI_ERROR_USAGE, cases[i].message);
    assert_null(genotype);
  }
}

static void tables_are_refused(void **state) {
  (void)state;
  task = table_task();
  must_fail(create(), TUTTI_ERROR_USAGE, "need images");
}

/* --- networks ---------------------------------------------------------------------------------------------------- */

/* Is there a way between nodes over edges that are not "none"? */
static bool connected(const struct code_cell *cell, int from, int to) {
  if (from == to)
    return true;
  for (int next = from + 1; next <= to; next++)
    if (cell->operations[code_edge(from, next)] != CODE_NONE && connected(cell, next, to))
      return true;
  return false;
}

/* Convolutions whose output does not reach the cell's: those the network leaves out. */
static int lost_weights(const struct code_cell *cell) {
  int lost = 0;
  for (int to = 1; to < CODE_NODES; to++)
    for (int from = 0; from < to; from++) {
      int operation = cell->operations[code_edge(from, to)];
      int side = operation == CODE_NOR_CONV_3X3 ? 3 : operation == CODE_NOR_CONV_1X1 ? 1 : 0;
      if (!connected(cell, to, CODE_NODES - 1))
        lost += side * side;
    }
  return lost;
}

/* Parameters and multiply-adds of 257 cells, less those of convolutions that lead nowhere: 5 cells in each of 3 stages,
   with weights c^2 k^2 and a norm of 2 c numbers each. */
static void sizes_are_the_benchmarks(void **state) {
  json_t *golden = golden_load("nasbench201_cells");
  const json_t *cells = golden_get(golden, "cells");
  int complete = 0;
  (void)state;
  must(create());
  for (size_t i = 0; i < json_array_size(cells); i++) {
    const json_t *row = golden_at(cells, i);
    struct code_cell cell;
    char json[CODE_TEXT];
    (void)snprintf(json, sizeof json, "%lld", (long long)golden_number(golden_at(row, 0)));
    tutti_genotype *by_index = parsed(json);
    (void)snprintf(json, sizeof json, "\"%s\"", json_string_value(golden_at(row, 1)));
    tutti_genotype *by_text = parsed(json);
    assert_true(tutti_genotype_equal(by_index, by_text));
    cell = cell_of_point(tutti_genotype_point(by_text));
    double parameters = golden_number(golden_at(row, 2)), macs = golden_number(golden_at(row, 3));
    for (int stage = 0; stage < 3; stage++) {
      int channels = 16 << stage, convolutions = 0;
      for (int to = 1; to < CODE_NODES; to++)
        for (int from = 0; from < to; from++) {
          int operation = cell.operations[code_edge(from, to)];
          bool convolution = operation == CODE_NOR_CONV_1X1 || operation == CODE_NOR_CONV_3X3;
          convolutions += convolution && !connected(&cell, to, CODE_NODES - 1);
        }
      double weights = 5.0 * lost_weights(&cell) * channels * channels, side = 32 >> stage;
      parameters -= weights + 5.0 * convolutions * 2 * channels;
      macs -= weights * side * side;
      complete += stage == 0 && convolutions == 0;
    }
    tutti_network *network;
    must(tutti_space_decode(context, by_index, &task, &network));
    if ((double)tutti_network_parameters(network) != parameters || fabs(multiply_adds(network) - macs) > 0.5)
      fail_msg("%s: %zu parameters and %.0f multiply-adds, expected %.0f and %.0f", json,
               tutti_network_parameters(network), multiply_adds(network), parameters, macs);
    tutti_network_destroy(network);
    tutti_genotype_unref(by_index);
    tutti_genotype_unref(by_text);
  }
  assert_true(complete > 150);
  json_decref(golden);
}

/* 1.53 million, the largest of the benchmark. */
static void all_convolutions_have_the_published_size(void **state) {
  (void)state;
  must(create());
  tutti_network *network = decoded("\"|nor_conv_3x3~0|+|nor_conv_3x3~0|nor_conv_3x3~1|+|nor_conv_3x3~0|nor_conv_3x3~1|"
                                   "nor_conv_3x3~2|\"");
  assert_int_equal(tutti_network_parameters(network), 1531546);
  assert_in_range((int)(multiply_adds(network) / 1e4), 22011, 22013); /* 220.12 million */
  tutti_network_destroy(network);
}

/* Every cell becomes a network that passes the checks of networks, on odd images, too. */
static void every_cell_decodes(void **state) {
  (void)state;
  set("cells", "1");
  set("stages", "2");
  set("channels", "2");
  task = image_task(7, 1, 3);
  must(create());
  for (int i = 0; i < CODE_CELLS; i++) {
    char index[16];
    (void)snprintf(index, sizeof index, "%d", i);
    tutti_network_destroy(decoded(index));
  }
}

static void assert_cell(const char *json, const char *expected) {
  char text[1024] = "";
  tutti_network *network = decoded(json);
  for (size_t i = 3; i + 5 < tutti_network_layers(network); i++) /* between stem and end */
    (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", *text ? ", " : "",
                   tutti_network_layer(network, i)->label);
  assert_string_equal(text, expected);
  tutti_network_destroy(network);
}

/* Edges that are "none", lead nowhere or carry nothing are left out; a convolution of zeros is not. */
static void cells_are_pruned(void **state) {
  (void)state;
  set("cells", "1");
  set("stages", "1");
  must(create());
  assert_cell("\"|none~0|+|none~0|none~1|+|skip_connect~0|none~1|none~2|\"", "");
  assert_cell("\"|none~0|+|none~0|none~1|+|none~0|none~1|none~2|\"", "stage0/cell0/zeros");
  assert_cell("\"|avg_pool_3x3~0|+|avg_pool_3x3~0|skip_connect~1|+|avg_pool_3x3~0|none~1|none~2|\"",
              "stage0/cell0/edge0-3/avg_pool_3x3");
  /* Node 1 has no input: it adds nothing over a skip or a pool, and a shift over a convolution. */
  assert_cell("\"|none~0|+|none~0|skip_connect~1|+|avg_pool_3x3~0|skip_connect~1|avg_pool_3x3~2|\"",
              "stage0/cell0/edge0-3/avg_pool_3x3");
  assert_cell("\"|none~0|+|none~0|none~1|+|skip_connect~0|nor_conv_1x1~1|none~2|\"",
              "stage0/cell0/zeros, stage0/cell0/edge1-3/nor_conv_1x1/relu, stage0/cell0/edge1-3/nor_conv_1x1/conv, "
              "stage0/cell0/edge1-3/nor_conv_1x1/norm, stage0/cell0/node3");
  assert_cell("\"|skip_connect~0|+|none~0|none~1|+|avg_pool_3x3~0|skip_connect~1|none~2|\"",
              "stage0/cell0/edge0-3/avg_pool_3x3, stage0/cell0/node3");
}

static void stages_halve_and_double(void **state) {
  (void)state;
  set("cells", "1");
  set("channels", "6");
  set("affine", "no");
  must(create());
  tutti_network *network = decoded("0");
  int residuals = 0;
  for (size_t i = 0; i < tutti_network_layers(network); i++) {
    const struct tutti_layer *layer = tutti_network_layer(network, i);
    int stage;
    char rest[64];
    if (sscanf(layer->label, "stage%d/%63s", &stage, rest) == 2 && strcmp(rest, "residual") == 0) {
      assert_true(layer->shape.height == 32 >> stage && layer->shape.channels == 6 << stage);
      assert_int_equal(layer->input_count, 2);
      residuals++;
    }
    assert_true(layer->op != TUTTI_OP_BATCH_NORM || !tutti_layer_flag(layer, "affine", true));
  }
  assert_int_equal(residuals, 2);
  tutti_network_destroy(network);
}

/* --- mutation ---------------------------------------------------------------------------------------------------- */

/* One edge of six, to one of the four other operations: 500 each; five standard deviations are 110. */
static void mutants_differ_in_one_edge(void **state) {
  enum { DRAWS = 12000 };
  int counts[CODE_EDGES][CODE_OPERATIONS] = {0};
  struct tutti_random random;
  (void)state;
  must(create());
  tutti_genotype *genotype = parsed("1234");
  const double *from = tutti_genotype_point(genotype);
  tutti_random_init(&random, 1, "mutants", 0);
  for (int i = 0; i < DRAWS; i++) {
    tutti_genotype *mutant;
    int changed = 0;
    must(tutti_space_mutate(context, space, &random, genotype, &mutant));
    for (int edge = 0; edge < CODE_EDGES; edge++)
      if (tutti_genotype_point(mutant)[edge] != from[edge]) {
        changed++;
        counts[edge][(int)tutti_genotype_point(mutant)[edge]]++;
      }
    assert_int_equal(changed, 1);
    tutti_genotype_unref(mutant);
  }
  for (int edge = 0; edge < CODE_EDGES; edge++)
    for (int operation = 0; operation < CODE_OPERATIONS; operation++)
      assert_in_range(counts[edge][operation], from[edge] == operation ? 0 : 390, from[edge] == operation ? 0 : 610);
  tutti_genotype_unref(genotype);
}

/* --- one cell ----------------------------------------------------------------------------------------------------- */

/* Names, in JSON and in the recipe; indices and strings of cells are those of the benchmark's files. */
static void cells_have_names(void **state) {
  static const struct {
    const char *name, *cell;
  } named[] = {
      {"gdas", "|nor_conv_3x3~0|+|nor_conv_3x3~0|none~1|+|nor_conv_1x1~0|nor_conv_3x3~1|nor_conv_3x3~2|"},
      {"optimal-imagenet16",
       "|nor_conv_3x3~0|+|nor_conv_1x1~0|nor_conv_3x3~1|+|nor_conv_1x1~0|nor_conv_1x1~1|nor_conv_3x3~2|"},
      {"best-cifar10",
       "|nor_conv_3x3~0|+|nor_conv_3x3~0|nor_conv_3x3~1|+|skip_connect~0|nor_conv_3x3~1|nor_conv_1x1~2|"},
      {"best-cifar100",
       "|nor_conv_3x3~0|+|nor_conv_3x3~0|nor_conv_3x3~1|+|skip_connect~0|nor_conv_3x3~1|nor_conv_3x3~2|"},
      {"best-imagenet16",
       "|nor_conv_1x1~0|+|nor_conv_1x1~0|nor_conv_3x3~1|+|skip_connect~0|nor_conv_3x3~1|nor_conv_3x3~2|"},
  };
  (void)state;
  must(create());
  for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
    char text[32], *name;
    (void)snprintf(text, sizeof text, "\"%s\"", named[i].name);
    tutti_genotype *genotype = parsed(text);
    must(tutti_space_name(context, genotype, &name));
    assert_string_equal(name, named[i].cell);
    tutti_free(name);
    tutti_genotype_unref(genotype);
  }
  tutti_genotype *genotype;
  assert_int_equal(tutti_space_parse(context, space, "\"gdsa\"", &genotype), TUTTI_ERROR_USAGE);
  assert_non_null(strstr(tutti_error_message(context), "did you mean 'gdas'?"));
}

/* A space of one cell: no dimensions, one text, and a network as large as that of the same cell among all. */
static void one_cell_alone(void **state) {
  static const char *const ways[] = {
      "gdas", "3928", "|nor_conv_3x3~0|+|nor_conv_3x3~0|none~1|+|nor_conv_1x1~0|nor_conv_3x3~1|nor_conv_3x3~2|"};
  (void)state;
  must(create());
  tutti_genotype *genotype = parsed("3928"), *sample;
  tutti_network *network;
  must(tutti_space_decode(context, genotype, &task, &network));
  double parameters = (double)tutti_network_parameters(network);
  tutti_network_destroy(network);
  tutti_genotype_unref(genotype);
  for (size_t i = 0; i < 3; i++) {
    struct tutti_random random;
    char *text;
    set("cell", ways[i]);
    tutti_space_destroy(space);
    must(create());
    assert_int_equal(tutti_domain_count(tutti_space_domain(space)), 0);
    tutti_random_init(&random, i, "one cell", 0);
    must(tutti_space_sample(context, space, &random, &sample));
    must(tutti_space_print(context, sample, &text));
    genotype = parsed(text);
    assert_true(tutti_genotype_equal(genotype, sample));
    must(tutti_space_decode(context, genotype, &task, &network));
    assert_true((double)tutti_network_parameters(network) == parameters);
    tutti_network_destroy(network);
    tutti_genotype_unref(genotype);
    tutti_genotype_unref(sample);
    tutti_free(text);
    assert_int_equal(tutti_space_parse(context, space, "17", &genotype), TUTTI_ERROR_USAGE);
    assert_non_null(strstr(tutti_error_message(context), "[space] cell leaves only the cell"));
  }
  static const char *const wrong[][2] = {{"15625", "expected an index from 0 to 15624"},
                                         {"best-cifar", "did you mean 'best-cifar10'?"},
                                         {"|none~0|", "expected '+|'"}};
  tutti_space_destroy(space);
  for (size_t i = 0; i < 3; i++) {
    set("cell", wrong[i][0]);
    assert_int_equal(create(), TUTTI_ERROR_USAGE);
    assert_non_null(strstr(tutti_error_message(context), "[space] cell: "));
    assert_non_null(strstr(tutti_error_message(context), wrong[i][1]));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(the_order_is_the_benchmarks, begin_images, end),
      cmocka_unit_test_setup_teardown(bad_cells_are_refused, begin_images, end),
      cmocka_unit_test_setup_teardown(tables_are_refused, begin_images, end),
      cmocka_unit_test_setup_teardown(sizes_are_the_benchmarks, begin_images, end),
      cmocka_unit_test_setup_teardown(all_convolutions_have_the_published_size, begin_images, end),
      cmocka_unit_test_setup_teardown(every_cell_decodes, begin_images, end),
      cmocka_unit_test_setup_teardown(cells_are_pruned, begin_images, end),
      cmocka_unit_test_setup_teardown(stages_halve_and_double, begin_images, end),
      cmocka_unit_test_setup_teardown(mutants_differ_in_one_edge, begin_images, end),
      cmocka_unit_test_setup_teardown(cells_have_names, begin_images, end),
      cmocka_unit_test_setup_teardown(one_cell_alone, begin_images, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
