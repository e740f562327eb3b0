/* test_space_darts.c - space darts: what its points are, how they are written, and how they are mutated. */
#include "spaces/darts.c"

#include "space_fixture.h"

#include <math.h>
#include <stdlib.h>

static int begin_images(void **state) {
  int status = begin(state);
  task = image_task(32, 3, 10);
  return status;
}

static const char all_operations[] = "max_pool_3x3 avg_pool_3x3 skip_connect sep_conv_3x3 sep_conv_5x5 dil_conv_3x3 "
                                     "dil_conv_5x5 sep_conv_7x7 conv_7x1_1x7";

/* What a point of the preset space means. */
static void cells_of(const tutti_genotype *genotype, struct cell_genotype *cells) {
  static const int operations[] = {0, 1, 2, 3, 4, 5, 6};
  const struct space_darts preset = {.rules = {.nodes = 4, .operation_count = 7, .operations = operations}};
  genotype_of_point(&preset, tutti_genotype_point(genotype), cells);
}

static tutti_genotype *parsed(const char *json) {
  tutti_genotype *genotype;
  must(tutti_space_parse(context, space, json, &genotype));
  return genotype;
}

/* --- points ------------------------------------------------------------------------------------------------------ */

/* 7^8 operations and 3 * 6 * 10 pairs of inputs a cell: the 10^18 of the paper. */
static void there_are_as_many_points_as_cells(void **state) {
  (void)state;
  must(create());
  const tutti_domain *domain = tutti_space_domain(space);
  double cell = pow(7, 8) * 180;
  assert_true(fabs(tutti_domain_cardinality(domain) / (cell * cell) - 1) < 1e-12);
  assert_int_equal(tutti_domain_count(domain), 22);
  assert_string_equal(tutti_domain_at(domain, 0)->name, "normal_node2_operation1");
  const struct tutti_dimension *inputs = tutti_domain_at(domain, tutti_domain_find(domain, "reduction_node4_inputs"));
  assert_int_equal(inputs->choice_count, 6);
  assert_string_equal(inputs->choices[0], "0-1");
  assert_string_equal(inputs->choices[5], "2-3");
}

/* Ten thousand: uniform operations and pairs, distinct inputs, text and back, and a network each. */
static void random_genotypes_decode_and_are_uniform(void **state) {
  enum { DRAWS = 10000 };
  int operations[CELL_KINDS][4][2][7] = {0}, inputs[CELL_KINDS][4][5] = {0};
  (void)state;
  set("cells", "3");
  set("channels", "2");
  must(create());
  for (uint64_t i = 0; i < DRAWS; i++) {
    struct tutti_random random;
    struct cell_genotype cells;
    tutti_genotype *genotype, *back;
    tutti_network *network;
    char *json;
    tutti_random_init(&random, 5, "draws", i);
    must(tutti_space_sample(context, space, &random, &genotype));
    cells_of(genotype, &cells);
    for (int k = 0; k < CELL_KINDS; k++)
      for (int node = 0; node < 4; node++) {
        assert_true(cells.edges[k][node][0].input < cells.edges[k][node][1].input);
        for (int e = 0; e < 2; e++) {
          operations[k][node][e][cells.edges[k][node][e].operation]++;
          inputs[k][node][cells.edges[k][node][e].input]++;
        }
      }
    must(tutti_space_print(context, genotype, &json));
    back = parsed(json);
    assert_true(tutti_genotype_equal(genotype, back));
    must(tutti_space_decode(context, genotype, &task, &network));
    tutti_network_destroy(network);
    tutti_free(json);
    tutti_genotype_unref(back);
    tutti_genotype_unref(genotype);
  }
  for (int k = 0; k < CELL_KINDS; k++)
    for (int node = 0; node < 4; node++) {
      double share = 2.0 / (node + 2), deviation = 5 * sqrt(DRAWS * share * (1 - share));
      for (int e = 0; e < 2; e++)
        for (int o = 0; o < 7; o++)
          assert_in_range(operations[k][node][e][o], 10000 / 7 - 175, 10000 / 7 + 175); /* five deviations of 35 */
      for (int input = 0; input < node + 2; input++)
        assert_true(fabs(inputs[k][node][input] - DRAWS * share) <= deviation);
    }
}

/* --- mutation ---------------------------------------------------------------------------------------------------- */

/* Describes a mutation: which cell, operation or not, where, and the new value. */
struct change {
  int kind, node, edge;
  bool operation;
  int to;
};

/* Where an edge of `node` went that `before` has and `after` has not; the edges are sorted. Exactly one edge differs,
   in its operation or its input. */
static struct change find_change(const struct cell_genotype *before, const struct cell_genotype *after) {
  struct change change = {-1, -1, -1, false, -1};
  for (int k = 0; k < CELL_KINDS; k++)
    for (int node = 0; node < 4; node++) {
      const struct cell_edge *a = before->edges[k][node], *b = after->edges[k][node];
      if (memcmp(a, b, 2 * sizeof *a) == 0)
        continue;
      assert_int_equal(change.kind, -1);
      change.kind = k;
      change.node = node;
      change.operation = a[0].input == b[0].input && a[1].input == b[1].input;
      if (change.operation) {
        change.edge = a[0].operation == b[0].operation;
        assert_int_equal(a[!change.edge].operation, b[!change.edge].operation);
        change.to = b[change.edge].operation;
      } else {
        /* The edge that stayed is in both; the other kept its operation. */
        int stayed = a[0].input == b[0].input || a[0].input == b[1].input ? 0 : 1;
        int place = a[stayed].input == b[0].input ? 0 : 1;
        assert_memory_equal(&a[stayed], &b[place], sizeof *a);
        assert_int_equal(a[!stayed].operation, b[!place].operation);
        change.edge = !stayed;
        change.to = b[!place].input;
      }
    }
  assert_true(change.kind >= 0);
  return change;
}

/* Half of the mutants in each cell; half change one of 8 operations to one of the 6 others, half one of the two inputs
   of one of the last three nodes to one of the node - 1 states that it does not read. Tolerances: five standard
   deviations. */
static void mutants_are_distributed_as_in_the_paper(void **state) {
  enum { DRAWS = 24000 };
  static const int seeds = 2;
  (void)state;
  must(create());
  for (int seed = 0; seed < seeds; seed++) {
    struct tutti_random random;
    struct cell_genotype before, after;
    tutti_genotype *genotype, *mutant;
    int kinds[2] = {0}, rules[2] = {0}, operations[8][7] = {0}, inputs[4][2][5] = {0};
    tutti_random_init(&random, (uint64_t)seed, "parent", 0);
    must(tutti_space_sample(context, space, &random, &genotype));
    cells_of(genotype, &before);
    for (int i = 0; i < DRAWS; i++) {
      must(tutti_space_mutate(context, space, &random, genotype, &mutant));
      cells_of(mutant, &after);
      struct change change = find_change(&before, &after);
      kinds[change.kind]++;
      rules[change.operation]++;
      if (change.kind == CELL_NORMAL && change.operation)
        operations[2 * change.node + change.edge][change.to]++;
      if (change.kind == CELL_NORMAL && !change.operation)
        inputs[change.node][change.edge][change.to]++;
      tutti_genotype_unref(mutant);
    }
    assert_in_range(kinds[0], DRAWS / 2 - 390, DRAWS / 2 + 390);
    assert_in_range(rules[0], DRAWS / 2 - 390, DRAWS / 2 + 390);
    for (int e = 0; e < 8; e++) /* DRAWS / 4 / 8 / 6 = 125 each */
      for (int o = 0; o < 7; o++) {
        bool old = before.edges[CELL_NORMAL][e / 2][e % 2].operation == o;
        assert_in_range(operations[e][o], old ? 0 : 125 - 56, old ? 0 : 125 + 56);
      }
    for (int node = 0; node < 4; node++)
      for (int e = 0; e < 2; e++)
        for (int s = 0; s < node + 2; s++) { /* DRAWS / 4 / 3 / 2 / node = 1000 / node each */
          const struct cell_edge *edges = before.edges[CELL_NORMAL][node];
          bool possible = node > 0 && s != edges[0].input && s != edges[1].input;
          int expected = possible ? 1000 / node : 0, tolerance = possible ? (int)(5 * sqrt(expected)) : 0;
          assert_in_range(inputs[node][e][s], expected - tolerance, expected + tolerance);
        }
    tutti_genotype_unref(genotype);
  }
}

/* Chains of mutants stay in the space for all parameters; unchangeable parts stay as they are. */
static void mutants_of_other_spaces_are_valid(void **state) {
  static const struct {
    const char *nodes, *inputs, *output, *operations;
    bool changes;
  } settings[] = {
      {"1", "distinct", "all", "skip_connect", false},
      {"1", "distinct", "loose-ends", "skip_connect sep_conv_3x3", true},
      {"3", "distinct", "loose-ends", "skip_connect", true},
      {"2", "any", "all", "max_pool_3x3", true},
      {"8", "any", "loose-ends", all_operations, true},
  };
  (void)state;
  set("cells", "4");
  set("channels", "2");
  for (size_t s = 0; s < sizeof settings / sizeof settings[0]; s++) {
    struct tutti_random random;
    tutti_genotype *genotype, *mutant, *back;
    set("nodes", settings[s].nodes);
    set("inputs", settings[s].inputs);
    set("output", settings[s].output);
    set("operations", settings[s].operations);
    tutti_space_destroy(space);
    space = NULL;
    must(create());
    tutti_random_init(&random, s, "chains", 0);
    must(tutti_space_sample(context, space, &random, &genotype));
    for (int i = 0; i < 200; i++) {
      tutti_network *network;
      char *json;
      must(tutti_space_mutate(context, space, &random, genotype, &mutant));
      assert_int_equal(!tutti_genotype_equal(genotype, mutant), settings[s].changes);
      must(tutti_space_print(context, mutant, &json));
      back = parsed(json);
      assert_true(tutti_genotype_equal(back, mutant));
      must(tutti_space_decode(context, mutant, &task, &network));
      tutti_network_destroy(network);
      tutti_free(json);
      tutti_genotype_unref(back);
      tutti_genotype_unref(genotype);
      genotype = mutant;
    }
    tutti_genotype_unref(genotype);
  }
}

/* --- text -------------------------------------------------------------------------------------------------------- */

static void genotypes_are_written_as_cells(void **state) {
  static const char text[] =
      "{\"normal\": [[\"sep_conv_3x3\", 0], [\"sep_conv_3x3\", 1], [\"sep_conv_3x3\", 0], [\"sep_conv_3x3\", 1], "
      "[\"skip_connect\", 0], [\"sep_conv_3x3\", 1], [\"skip_connect\", 0], [\"dil_conv_3x3\", 2]], "
      "\"reduction\": [[\"max_pool_3x3\", 0], [\"max_pool_3x3\", 1], [\"max_pool_3x3\", 1], [\"skip_connect\", 2], "
      "[\"max_pool_3x3\", 0], [\"skip_connect\", 2], [\"max_pool_3x3\", 1], [\"skip_connect\", 2]]}";
  /* As published: edges of a node in any order, keys, too. */
  static const char published[] =
      "{\"reduction\": [[\"max_pool_3x3\", 0], [\"max_pool_3x3\", 1], [\"skip_connect\", 2], [\"max_pool_3x3\", 1], "
      "[\"max_pool_3x3\", 0], [\"skip_connect\", 2], [\"skip_connect\", 2], [\"max_pool_3x3\", 1]], "
      "\"normal\": [[\"sep_conv_3x3\", 0], [\"sep_conv_3x3\", 1], [\"sep_conv_3x3\", 0], [\"sep_conv_3x3\", 1], "
      "[\"sep_conv_3x3\", 1], [\"skip_connect\", 0], [\"skip_connect\", 0], [\"dil_conv_3x3\", 2]]}";
  (void)state;
  must(create());
  tutti_genotype *a = parsed("\"darts-v2\""), *b = parsed(published);
  char *json;
  must(tutti_space_print(context, b, &json));
  assert_string_equal(json, text);
  assert_true(tutti_genotype_equal(a, b));
  tutti_free(json);
  tutti_genotype_unref(a);
  tutti_genotype_unref(b);
}

/* In the notation of the published lists: operation and input, two a node. */
static void published_cells_have_names(void **state) {
  static const char v1[] =
      "{\"normal\": [[\"sep_conv_3x3\", 1], [\"sep_conv_3x3\", 0], [\"skip_connect\", 0], [\"sep_conv_3x3\", 1], "
      "[\"skip_connect\", 0], [\"sep_conv_3x3\", 1], [\"sep_conv_3x3\", 0], [\"skip_connect\", 2]], "
      "\"reduction\": [[\"max_pool_3x3\", 0], [\"max_pool_3x3\", 1], [\"skip_connect\", 2], [\"max_pool_3x3\", 0], "
      "[\"max_pool_3x3\", 0], [\"skip_connect\", 2], [\"skip_connect\", 2], [\"avg_pool_3x3\", 0]]}";
  static const char amoeba[] =
      "{\"normal\": [[\"avg_pool_3x3\", 0], [\"max_pool_3x3\", 1], [\"sep_conv_3x3\", 0], [\"sep_conv_5x5\", 2], "
      "[\"sep_conv_3x3\", 0], [\"avg_pool_3x3\", 3], [\"sep_conv_3x3\", 1], [\"skip_connect\", 1], "
      "[\"skip_connect\", 0], [\"avg_pool_3x3\", 1]], "
      "\"reduction\": [[\"avg_pool_3x3\", 0], [\"sep_conv_3x3\", 1], [\"max_pool_3x3\", 0], [\"sep_conv_7x7\", 2], "
      "[\"sep_conv_7x7\", 0], [\"avg_pool_3x3\", 1], [\"max_pool_3x3\", 0], [\"max_pool_3x3\", 1], "
      "[\"conv_7x1_1x7\", 0], [\"sep_conv_3x3\", 5]]}";
  const char *name, *json;
  (void)state;
  must(create());
  assert_true(tutti_space_known(space, 0, &name, &json));
  assert_string_equal(name, "darts-v1");
  tutti_genotype *a = parsed(v1), *b = parsed("\"darts-v1\"");
  assert_true(tutti_genotype_equal(a, b));
  assert_true(tutti_space_known(space, 1, &name, &json));
  assert_string_equal(name, "darts-v2");
  assert_false(tutti_space_known(space, 2, &name, &json));
  tutti_genotype_unref(a);
  tutti_genotype_unref(b);
  set("nodes", "5");
  set("inputs", "any");
  set("output", "loose-ends");
  set("operations", all_operations);
  tutti_space_destroy(space);
  must(create());
  a = parsed(amoeba);
  b = parsed("\"amoebanet-a\"");
  assert_true(tutti_genotype_equal(a, b));
  tutti_genotype_unref(a);
  tutti_genotype_unref(b);
}

#define CELL "[\"sep_conv_3x3\", 0], [\"sep_conv_3x3\", 1]"
#define GENOTYPE(nodes) "{\"normal\": [" CELL ", " nodes "], \"reduction\": [" CELL ", " CELL "]}"

static void bad_genotypes_are_refused(void **state) {
  static const struct {
    const char *json, *message;
  } cases[] = {
      {GENOTYPE("[\"sep_conv_9x9\", 0], [\"sep_conv_3x3\", 1]"),
       "space darts: normal, node 3: there is no operation 'sep_conv_9x9'; did you mean 'sep_conv_"},
      {GENOTYPE("[\"wurst\", 0], [\"sep_conv_3x3\", 1]"), "normal, node 3: there is no operation 'wurst'"},
      {GENOTYPE("[\"sep_conv_7x7\", 0], [\"sep_conv_3x3\", 1]"),
       "normal, node 3: sep_conv_7x7 is not among this space's operations"},
      {GENOTYPE("[\"sep_conv_3x3\", 0], [\"sep_conv_3x3\", 3]"),
       "normal, node 3: there is no edge from state 3; a node reads states before it, here 0 to 2"},
      {GENOTYPE("[\"sep_conv_3x3\", 0], [\"sep_conv_3x3\", -1]"), "there is no edge from state -1"},
      {GENOTYPE("[\"sep_conv_3x3\", 0], [\"sep_conv_3x3\", 99999999999]"), "there is no edge from state 2147483647"},
      {GENOTYPE("[\"sep_conv_3x3\", 2], [\"sep_conv_3x3\", 2]"),
       "normal, node 3: both edges come from state 2; here a node's inputs are distinct"},
      {GENOTYPE("[\"sep_conv_3x3\", 2], \"sep_conv_3x3\""),
       "normal, node 3: expected an edge as [\"OPERATION\", INPUT]"},
      {GENOTYPE("[\"sep_conv_3x3\", 2], [\"sep_conv_3x3\", 1.0]"), "expected an edge as [\"OPERATION\", INPUT]"},
      {GENOTYPE("[\"sep_conv_3x3\", 2], [0, 1]"), "expected an edge as [\"OPERATION\", INPUT]"},
      {GENOTYPE("[\"sep_conv_3x3\", 2]"), "normal: expected 4 edges, two for each of 2 nodes, found 3"},
      {"{\"normal\": [" CELL ", " CELL "], \"reduce\": [" CELL ", " CELL "]}", "there is no list \"reduction\""},
      {"{\"normal\": [" CELL ", " CELL "]}", "expected a genotype as {\"normal\": [[\"OPERATION\", INPUT], ...]"},
      {"[]", "expected a genotype as"},
      {"{\"normal\"",
       "expected a genotype as {\"normal\": [[\"OPERATION\", INPUT], ...], \"reduction\": [...]}; line 1, column"},
      {"\"darts-v3\"", "no published cells are called 'darts-v3'; did you mean 'darts-v"},
      {"\"darts-v2\"", "darts-v2: its cells have 4 nodes, those of this space 2 (nodes = 4)"},
      {"\"amoebanet-a\"", "amoebanet-a: its cells have 5 nodes"},
  };
  (void)state;
  set("nodes", "2");
  must(create());
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    tutti_genotype *genotype = NULL;
    must_fail(tutti_space_parse(context, space, cases[i].json, &genotype), TUTTI_ERROR_USAGE, cases[i].message);
    assert_null(genotype);
  }
  /* What is behind the count of nodes. */
  tutti_genotype *genotype;
  set("nodes", "5");
  tutti_space_destroy(space);
  must(create());
  must_fail(tutti_space_parse(context, space, "\"amoebanet-a\"", &genotype), TUTTI_ERROR_USAGE,
            "amoebanet-a: its cells' output is that of loose nodes (output = loose-ends)");
  set("output", "loose-ends");
  set("operations", all_operations);
  tutti_space_destroy(space);
  must(create());
  must_fail(tutti_space_parse(context, space, "\"amoebanet-a\"", &genotype), TUTTI_ERROR_USAGE,
            "amoebanet-a: normal, node 5: both edges come from state 1");
}

static void first_nodes_join_the_inputs(void **state) {
  tutti_genotype *genotype;
  (void)state;
  set("nodes", "1");
  set("inputs", "any");
  must(create());
  must_fail(tutti_space_parse(context, space,
                              "{\"normal\": [" CELL "], \"reduction\": [[\"sep_conv_3x3\", 1], [\"skip_connect\", 1]]}",
                              &genotype),
            TUTTI_ERROR_USAGE, "reduction, node 2: the first node joins states 0 and 1");
}

static void bad_settings_are_refused(void **state) {
  (void)state;
  set("stem_strides", "2");
  must_fail(create(), TUTTI_ERROR_USAGE, "stem_strides: expected two strides, found 1");
  set("stem_strides", "1 1");
  task = table_task();
  must_fail(create(), TUTTI_ERROR_USAGE,
            "convolutional networks need images; the data's rows have the shape 1 x 1 x 5");
  task.kind = TUTTI_TASK_VALUE; /* nothing is trained */
  must(create());
}

/* An instance for images, asked for a network for tables. */
static void networks_are_for_images(void **state) {
  struct tutti_task table = table_task();
  tutti_network *network;
  (void)state;
  must(create());
  tutti_genotype *genotype = parsed("\"darts-v1\"");
  must_fail(tutti_space_decode(context, genotype, &table, &network), TUTTI_ERROR_USAGE, "need images");
  assert_null(network);
  tutti_genotype_unref(genotype);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(there_are_as_many_points_as_cells, begin_images, end),
      cmocka_unit_test_setup_teardown(random_genotypes_decode_and_are_uniform, begin_images, end),
      cmocka_unit_test_setup_teardown(mutants_are_distributed_as_in_the_paper, begin_images, end),
      cmocka_unit_test_setup_teardown(mutants_of_other_spaces_are_valid, begin_images, end),
      cmocka_unit_test_setup_teardown(genotypes_are_written_as_cells, begin_images, end),
      cmocka_unit_test_setup_teardown(published_cells_have_names, begin_images, end),
      cmocka_unit_test_setup_teardown(bad_genotypes_are_refused, begin_images, end),
      cmocka_unit_test_setup_teardown(first_nodes_join_the_inputs, begin_images, end),
      cmocka_unit_test_setup_teardown(bad_settings_are_refused, begin_images, end),
      cmocka_unit_test_setup_teardown(networks_are_for_images, begin_images, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
