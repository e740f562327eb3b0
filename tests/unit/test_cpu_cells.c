/* test_cpu_cells.c - whole cells in backend cpu: loss, gradients and predictions of networks that spaces make, against
   the reference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cpu_check.h"

#include <tutti/hosting.h>
#include <tutti/space.h>

static const struct tutti_task task = {.size = sizeof task,
                                       .kind = TUTTI_TASK_CLASSIFICATION,
                                       .input = {6, 5, 2},
                                       .outputs = 3,
                                       .train_rows = 3,
                                       .head = TUTTI_OP_HEAD_SOFTMAX};

/* The network of a genotype; settings: "key", "value", ..., NULL. */
static tutti_network *make_network(const char *name, const struct tutti_task *of, const char *const *settings,
                                   const char *json) {
  struct tutti_host_facts facts = {.size = sizeof facts, .task = of};
  struct tutti_space_setup setup = {.size = sizeof setup, .task = of};
  tutti_host *host;
  tutti_space *space;
  tutti_genotype *genotype;
  tutti_network *network;
  OK(tutti_host_create(context, &facts, &host));
  OK(tutti_host_put(context, host, "space", TUTTI_KIND_SPACE, name));
  for (; *settings; settings += 2)
    OK(tutti_host_set(context, host, "space", settings[0], settings[1]));
  OK(tutti_space_create(context, host, "space", &setup, &space));
  OK(tutti_space_parse(context, space, json, &genotype));
  OK(tutti_space_decode(context, genotype, of, &network));
  tutti_genotype_unref(genotype);
  tutti_space_destroy(space);
  tutti_host_destroy(host);
  return network;
}

static void check_genotype(const char *name, const char *const *settings, const char *json) {
  tutti_network *network = make_network(name, &task, settings, json);
  check_network(network, &task);
  tutti_network_destroy(network);
}

static void test_darts(void **state) {
  static const char *const settings[] = {"cells", "2", "channels", "2", NULL};
  static const char *const dropped[] = {"cells",     "1",   "channels", "2",    "dropout", "0.3",
                                        "drop_path", "0.2", "stem",     "tiny", NULL};
  (void)state;
  check_genotype("darts", settings, "\"darts-v2\"");
  check_genotype("darts", dropped, "\"darts-v1\"");
}

/* Images of 28 x 28, of 7 x 7 after two reductions, of channels that fill vectors, half ones, and parts of one. */
static void test_darts_in_training(void **state) {
  static const char *const channels[] = {"4", "8", "12", "16"};
  static const char *const genotypes[] = {
      "{\"normal\": [[\"sep_conv_3x3\", 0], [\"max_pool_3x3\", 1], [\"skip_connect\", 0], [\"dil_conv_5x5\", 2]], "
      "\"reduction\": [[\"skip_connect\", 0], [\"sep_conv_5x5\", 1], [\"avg_pool_3x3\", 1], [\"dil_conv_3x3\", 2]]}",
      "{\"normal\": [[\"sep_conv_5x5\", 1], [\"avg_pool_3x3\", 0], [\"dil_conv_3x3\", 2], [\"skip_connect\", 1]], "
      "\"reduction\": [[\"max_pool_3x3\", 0], [\"dil_conv_5x5\", 1], [\"sep_conv_3x3\", 2], [\"skip_connect\", 1]]}"};
  struct tutti_task images = task;
  (void)state;
  images.input = (struct tutti_shape){28, 28, 1};
  images.train_rows = 2;
  for (size_t c = 0; c < 4; c++) {
    const char *const settings[] = {"cells", "3", "nodes", "2", "channels", channels[c], NULL};
    tutti_network *network = make_network("darts", &images, settings, genotypes[c % 2]);
    check_training(network, &images, 3);
    tutti_network_destroy(network);
  }
}

/* Nodes that read a state twice, and loose ends. */
static void test_amoebanet(void **state) {
  static const char *const settings[] = {
      "cells",      "1",
      "channels",   "2",
      "nodes",      "5",
      "inputs",     "any",
      "output",     "loose-ends",
      "operations", "max_pool_3x3 avg_pool_3x3 skip_connect sep_conv_3x3 sep_conv_5x5 sep_conv_7x7 conv_7x1_1x7",
      NULL};
  (void)state;
  check_genotype("darts", settings, "\"amoebanet-a\"");
}

/* Sums of one layer with itself, zeros, and what is left of a cell without them. */
static void test_nasbench201(void **state) {
  static const char *const settings[] = {"cells", "1", "channels", "2", "stages", "2", NULL};
  (void)state;
  check_genotype("nasbench201", settings,
                 "\"|skip_connect~0|+|none~0|none~1|+|skip_connect~0|skip_connect~1|none~2|\"");
  check_genotype("nasbench201", settings,
                 "\"|nor_conv_1x1~0|+|skip_connect~0|skip_connect~1|+|avg_pool_3x3~0|skip_connect~1|skip_connect~2|\"");
  check_genotype("nasbench201", settings, "\"|none~0|+|none~0|none~1|+|skip_connect~0|nor_conv_3x3~1|none~2|\"");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_darts),
      cmocka_unit_test(test_darts_in_training),
      cmocka_unit_test(test_amoebanet),
      cmocka_unit_test(test_nasbench201),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
