/* test_cells.c - from cells to networks: sizes against published figures and against formulas of their own, what stands
   around the cells, what is dropped. */
#include "spaces/darts.c"

#include "space_fixture.h"
#include "tests/attributes.h"

#include <jansson.h>
#include <math.h>

static int begin_images(void **state) {
  int status = begin(state);
  task = image_task(32, 3, 10);
  return status;
}

/* A fresh instance with other parameters. */
static void create_again(void) {
  tutti_space_destroy(space);
  space = NULL;
  must(create());
}

static size_t count_ops(const tutti_network *network, enum tutti_op op) {
  size_t count = 0;
  for (size_t i = 0; i < tutti_network_layers(network); i++)
    count += tutti_network_layer(network, i)->op == op;
  return count;
}

static const struct tutti_layer *layer_called(const tutti_network *network, const char *label) {
  for (size_t i = 0; i < tutti_network_layers(network); i++)
    if (strcmp(tutti_network_layer(network, i)->label, label) == 0)
      return tutti_network_layer(network, i);
  fail_msg("no layer is called %s", label);
  return NULL;
}

static void assert_shape(const tutti_network *network, const char *label, int32_t side, int32_t channels) {
  const struct tutti_layer *layer = layer_called(network, label);
  if (layer->shape.height != side || layer->shape.width != side || layer->shape.channels != channels)
    fail_msg("%s has %d x %d x %d, not %d x %d x %d", label, layer->shape.height, layer->shape.width,
             layer->shape.channels, side, side, channels);
}

/* Multiply-adds of convolutions and dense layers: what papers call FLOPs. */
static double multiply_adds(const tutti_network *network) {
  double sum = 0;
  for (size_t i = 0; i < tutti_network_layers(network); i++) {
    const struct tutti_layer *layer = tutti_network_layer(network, i);
    if (layer->op == TUTTI_OP_CONV2D || layer->op == TUTTI_OP_FACTORISED_REDUCE)
      sum += layer->flops / 2;
    if (layer->op == TUTTI_OP_DENSE)
      sum += (layer->flops - layer->shape.channels) / 2;
  }
  return sum;
}

/* --- sizes by formulas ------------------------------------------------------------------------------------------- */

/* Parameters and FLOPs, counted from the genotype's text alone: a multiply-add is 2, all else 1 a number. */
struct size {
  double parameters, flops;
};

static void plus(struct size *sum, double parameters, double flops) {
  sum->parameters += parameters;
  sum->flops += flops;
}

/* Every weight is used once a pixel of the output. */
static void plus_convolution(struct size *sum, double weights, double area) { plus(sum, weights, 2 * area * weights); }
static void plus_norm(struct size *sum, double channels, double area) { plus(sum, 2 * channels, 2 * area * channels); }

static void plus_operation(struct size *sum, const char *name, double c, double in, double out) {
  bool separable = strncmp(name, "sep", 3) == 0, dilated = strncmp(name, "dil", 3) == 0;
  double side = name[strlen(name) - 1] - '0';
  if (strstr(name, "pool")) {
    plus(sum, 0, 9 * c * out);
  } else if (strcmp(name, "skip_connect") == 0) {
    if (in != out) {
      plus(sum, 0, c * in);
      plus_convolution(sum, c * c, out);
      plus_norm(sum, c, out);
    }
  } else if (separable || dilated) {
    for (int half = 0; half < (separable ? 2 : 1); half++) {
      plus(sum, 0, c * (half ? out : in));
      plus_convolution(sum, side * side * c, out);
      plus_convolution(sum, c * c, out);
      plus_norm(sum, c, out);
    }
  } else {
    assert_string_equal(name, "conv_7x1_1x7");
    plus(sum, 0, c * in);
    plus_convolution(sum, 7 * c * c, in);
    plus_convolution(sum, 7 * c * c, out);
    plus_norm(sum, c, out);
  }
}

/* One cell: `before` and `last` are the channels of its inputs, `before_area` the pixels of the first, `area` of the
   second. */
static double plus_cell(struct size *sum, const json_t *edges, bool loose_ends, bool reduction, double before,
                        double before_area, double last, double area, double c) {
  double out = reduction ? area / 4 : area;
  size_t nodes = json_array_size(edges) / 2, outputs = 0;
  plus(sum, 0, before * before_area + last * area);
  plus_convolution(sum, before * c, area);
  plus_convolution(sum, last * c, area);
  plus_norm(sum, c, area);
  plus_norm(sum, c, area);
  for (size_t i = 0; i < 2 * nodes; i++) {
    const json_t *edge = json_array_get(edges, i);
    bool from_input = json_integer_value(json_array_get(edge, 1)) < 2;
    plus_operation(sum, json_string_value(json_array_get(edge, 0)), c, from_input ? area : out, out);
  }
  plus(sum, 0, (double)nodes * c * out);
  for (size_t node = 2; node < nodes + 2; node++) {
    bool read = false;
    for (size_t i = 0; i < 2 * nodes; i++)
      read = read || json_integer_value(json_array_get(json_array_get(edges, i), 1)) == (json_int_t)node;
    outputs += !read || !loose_ends;
  }
  return (double)outputs * c;
}

/* Images of side x side x 3 in 10 classes, the stem of CIFAR. */
static struct size size_of(const char *json, bool loose_ends, int cells, double channels, double side) {
  struct size sum = {0, 0};
  json_t *root = json_loads(json, 0, NULL);
  double area = side * side, before_area = area, before = 3 * channels, last = before;
  plus_convolution(&sum, 27 * before, area);
  plus_norm(&sum, before, area);
  for (int cell = 0; cell < cells; cell++) {
    bool reduction = cell == cells / 3 || cell == 2 * cells / 3;
    const json_t *edges = json_object_get(root, reduction ? "reduction" : "normal");
    channels *= reduction ? 2 : 1;
    double made = plus_cell(&sum, edges, loose_ends, reduction, before, before_area, last, area, channels);
    before = last;
    before_area = area;
    last = made;
    area /= reduction ? 4 : 1;
  }
  plus(&sum, 0, last * area);
  plus(&sum, 10 * last + 10, 2 * 10 * last + 10 + 10);
  json_decref(root);
  return sum;
}

static void assert_size(const tutti_network *network, struct size expected, const char *what) {
  if ((double)tutti_network_parameters(network) != expected.parameters ||
      fabs(tutti_network_flops(network) - expected.flops) > 1e-9 * expected.flops)
    fail_msg("%s: %zu parameters and %.0f FLOPs, expected %.0f and %.0f", what, tutti_network_parameters(network),
             tutti_network_flops(network), expected.parameters, expected.flops);
}

static void sizes_follow_the_formulas(void **state) {
  static const struct { const char *cells, *channels; } settings[] = {{"1", "4"}, {"2", "2"}, {"5", "8"}, {"8", "16"}};
  (void)state;
  for (size_t s = 0; s < sizeof settings / sizeof settings[0]; s++) {
    set("cells", settings[s].cells);
    set("channels", settings[s].channels);
    create_again();
    for (uint64_t i = 0; i < 40; i++) {
      struct tutti_random random;
      tutti_genotype *genotype;
      tutti_network *network;
      char *json;
      tutti_random_init(&random, 3, "sizes", i);
      must(tutti_space_sample(context, space, &random, &genotype));
      must(tutti_space_print(context, genotype, &json));
      must(tutti_space_decode(context, genotype, &task, &network));
      assert_size(network, size_of(json, false, atoi(settings[s].cells), atoi(settings[s].channels), 32), json);
      tutti_network_destroy(network);
      tutti_free(json);
      tutti_genotype_unref(genotype);
    }
  }
}

/* --- published figures ------------------------------------------------------------------------------------------- */

/* 3.3 million parameters (Liu et al., Table 1; their program prints 3.349342 for the second order's). */
static void darts_has_its_published_size(void **state) {
  (void)state;
  set("cells", "20");
  set("channels", "36");
  must(create());
  tutti_network *network = decoded("\"darts-v2\"");
  assert_int_equal(tutti_network_parameters(network), 3349342);
  tutti_network_destroy(network);
}

/* ImageNet: 4.7 million parameters (Liu et al., Table 3). The multiply-adds were counted apart from this program,
   operation by operation; the table says 574 million, but not of what. */
static void darts_has_its_published_size_on_large_images(void **state) {
  (void)state;
  task = image_task(224, 3, 1000);
  set("cells", "14");
  set("channels", "48");
  set("stem", "tiny");
  set("stem_strides", "2 2");
  must(create());
  tutti_network *network = decoded("\"darts-v2\"");
  assert_int_equal(tutti_network_parameters(network), 4718752);
  assert_true(multiply_adds(network) == 529911552);
  tutti_network_destroy(network);
}

/* AmoebaNet-A wants what DARTS leaves out; every count follows the formulas. */
static void amoebanet_is_built_of_loose_ends(void **state) {
  (void)state;
  set("nodes", "5");
  set("inputs", "any");
  set("output", "loose-ends");
  set("operations", "max_pool_3x3 avg_pool_3x3 skip_connect sep_conv_3x3 sep_conv_5x5 sep_conv_7x7 conv_7x1_1x7");
  must(create());
  const char *name, *json;
  assert_true(tutti_space_known(space, 0, &name, &json));
  assert_string_equal(name, "amoebanet-a");
  assert_false(tutti_space_known(space, 1, &name, &json));
  tutti_network *network = decoded("\"amoebanet-a\"");
  /* Normal cells give nodes 4, 5 and 6, reductions 3, 4 and 6. */
  assert_int_equal(layer_called(network, "cell0")->input_count, 3);
  assert_string_equal(tutti_network_layer(network, layer_called(network, "cell2")->inputs[0])->label, "cell2/node3");
  assert_true(tutti_space_known(space, 0, &name, &json));
  assert_size(network, size_of(json, true, 8, 16, 32), name);
  tutti_network_destroy(network);
}

/* --- what stands around the cells -------------------------------------------------------------------------------- */

static void reductions_stand_at_thirds(void **state) {
  (void)state;
  task = image_task(28, 1, 10);
  set("cells", "5");
  set("channels", "8");
  must(create());
  tutti_network *network = decoded("\"darts-v1\"");
  assert_shape(network, "stem/norm", 28, 24);
  assert_shape(network, "cell0", 28, 32);
  assert_shape(network, "cell1", 14, 64);
  assert_shape(network, "cell2", 14, 64);
  assert_shape(network, "cell3", 7, 128);
  assert_shape(network, "cell4", 7, 128);
  /* Behind a reduction, the input from before it is reduced, too. */
  assert_int_equal(layer_called(network, "cell2/input0/reduce")->op, TUTTI_OP_FACTORISED_REDUCE);
  assert_shape(network, "cell2/input0/norm", 14, 16);
  assert_int_equal(layer_called(network, "cell1/input0/conv")->op, TUTTI_OP_CONV2D);
  tutti_network_destroy(network);
}

static void odd_images_shrink_by_rounding_up(void **state) {
  (void)state;
  task = image_task(15, 3, 4);
  must(create());
  tutti_network *network = decoded("\"darts-v2\"");
  assert_shape(network, "cell2", 8, 128);
  assert_shape(network, "cell5", 4, 256);
  tutti_network_destroy(network);
}

static void the_tiny_stem_has_two_stages(void **state) {
  (void)state;
  task = image_task(64, 3, 200);
  set("channels", "36");
  set("stem", "tiny");
  must(create());
  tutti_network *network = decoded("\"darts-v2\"");
  assert_shape(network, "stem0/norm1", 64, 18);
  assert_shape(network, "stem0/norm2", 64, 36);
  assert_shape(network, "stem1/norm", 32, 36);
  assert_int_equal(layer_called(network, "cell0/input0/reduce")->op, TUTTI_OP_FACTORISED_REDUCE);
  assert_shape(network, "cell0", 32, 144);
  tutti_network_destroy(network);
}

/* Four normal cells of DARTS v2 with 5 operations that are no identities, two reductions with 5 pools and, since skips
   from nodes do not stride, none else. */
static void all_but_identities_may_be_dropped(void **state) {
  (void)state;
  set("cells", "6");
  must(create());
  tutti_network *network = decoded("\"darts-v2\"");
  assert_int_equal(count_ops(network, TUTTI_OP_DROPOUT), 0);
  assert_int_equal(count_ops(network, TUTTI_OP_DROP_PATH), 0);
  tutti_network_destroy(network);
  set("dropout", "0.3");
  create_again();
  network = decoded("\"darts-v2\"");
  assert_int_equal(count_ops(network, TUTTI_OP_DROPOUT), 4 * 6 + 2 * 5);
  const struct tutti_layer *layer = layer_called(network, "cell0/node2/edge1/sep_conv_3x3/dropout");
  assert_true(tutti_layer_flag(layer, "spatial", false) && tutti_layer_real(layer, "rate", 0) == 0.3);
  tutti_network_destroy(network);
  set("drop_path", "0.2");
  create_again();
  network = decoded("\"darts-v2\"");
  assert_int_equal(count_ops(network, TUTTI_OP_DROP_PATH), 4 * 6 + 2 * 5);
  layer = layer_called(network, "cell0/node2/edge1/sep_conv_3x3/drop-path");
  assert_true(tutti_layer_flag(layer, "scheduled", false) && tutti_layer_real(layer, "rate", 0) == 0.2);
  assert_int_equal(tutti_network_layer(network, layer->inputs[0])->op, TUTTI_OP_DROPOUT);
  tutti_network_destroy(network);
  set("drop_path_schedule", "no");
  create_again();
  network = decoded("\"darts-v2\"");
  assert_false(tutti_layer_flag(layer_called(network, "cell0/node2/edge1/sep_conv_3x3/drop-path"), "scheduled", true));
  tutti_network_destroy(network);
}

/* A skip from a reduction cell's input strides: it is no identity. */
static void strided_skips_are_reductions(void **state) {
  (void)state;
  set("nodes", "1");
  set("cells", "3");
  set("dropout", "0.5");
  must(create());
  tutti_network *network = decoded("{\"normal\": [[\"skip_connect\", 0], [\"skip_connect\", 1]], "
                                   "\"reduction\": [[\"skip_connect\", 0], [\"skip_connect\", 1]]}");
  assert_int_equal(count_ops(network, TUTTI_OP_DROPOUT), 4);
  assert_int_equal(layer_called(network, "cell1/node2/edge2/skip_connect/reduce")->op, TUTTI_OP_FACTORISED_REDUCE);
  assert_int_equal(count_ops(network, TUTTI_OP_CONCAT), 0);
  tutti_network_destroy(network);
}

static void convolutions_have_no_bias_and_norms_what_is_asked_for(void **state) {
  (void)state;
  set("cells", "3");
  for (int affine = 1; affine >= 0; affine--) {
    set("affine", affine ? "yes" : "no");
    create_again();
    tutti_network *network = decoded("\"darts-v2\"");
    for (size_t i = 0; i < tutti_network_layers(network); i++) {
      const struct tutti_layer *layer = tutti_network_layer(network, i);
      assert_true(layer->op != TUTTI_OP_CONV2D || !tutti_layer_flag(layer, "bias", true));
      assert_true(layer->op != TUTTI_OP_BATCH_NORM || tutti_layer_flag(layer, "affine", !affine) == affine);
    }
    tutti_network_destroy(network);
  }
}

/* What a dilated and a separable convolution are made of. */
static void operations_are_chains(void **state) {
  (void)state;
  set("cells", "2");
  must(create());
  tutti_network *network = decoded(
      "{\"normal\": [[\"sep_conv_3x3\", 0], [\"dil_conv_5x5\", 1], [\"sep_conv_3x3\", 0], [\"sep_conv_3x3\", 1], "
      "[\"sep_conv_3x3\", 0], [\"sep_conv_3x3\", 1], [\"sep_conv_3x3\", 0], [\"sep_conv_3x3\", 1]], "
      "\"reduction\": [[\"sep_conv_5x5\", 0], [\"dil_conv_5x5\", 1], [\"sep_conv_3x3\", 0], [\"sep_conv_3x3\", 2], "
      "[\"sep_conv_3x3\", 0], [\"sep_conv_3x3\", 1], [\"sep_conv_3x3\", 0], [\"sep_conv_3x3\", 1]]}");
  static const struct {
    const char *label;
    int32_t kernel, stride, dilation, groups;
  } expected[] = {
      {"cell0/node2/edge1/sep_conv_5x5/first/depthwise", 5, 2, 1, 32},
      {"cell0/node2/edge1/sep_conv_5x5/first/pointwise", 1, 1, 1, 1},
      {"cell0/node2/edge1/sep_conv_5x5/second/depthwise", 5, 1, 1, 32},
      {"cell0/node2/edge2/dil_conv_5x5/depthwise", 5, 2, 2, 32},
      {"cell0/node2/edge2/dil_conv_5x5/pointwise", 1, 1, 1, 1},
      {"cell0/node3/edge2/sep_conv_3x3/first/depthwise", 3, 1, 1, 32},
  };
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
    const struct attributes attributes = attributes_of(layer_called(network, expected[i].label)), *found = &attributes;
    assert_int_equal(found->kernel_height, expected[i].kernel);
    assert_int_equal(found->kernel_width, expected[i].kernel);
    assert_int_equal(found->stride, expected[i].stride);
    assert_int_equal(found->dilation, expected[i].dilation);
    assert_int_equal(found->groups, expected[i].groups);
    assert_int_equal(found->padding, TUTTI_PADDING_SAME);
  }
  const struct tutti_layer *layer = layer_called(network, "cell0/node2/edge2/dil_conv_5x5/norm");
  static const enum tutti_op chain[] = {TUTTI_OP_BATCH_NORM, TUTTI_OP_CONV2D, TUTTI_OP_CONV2D, TUTTI_OP_ACTIVATION};
  for (size_t i = 0; i < 4; i++) {
    assert_int_equal(layer->op, chain[i]);
    layer = tutti_network_layer(network, layer->inputs[0]);
  }
  assert_string_equal(layer->label, "cell0/input1/norm");
  tutti_network_destroy(network);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(sizes_follow_the_formulas, begin_images, end),
      cmocka_unit_test_setup_teardown(darts_has_its_published_size, begin_images, end),
      cmocka_unit_test_setup_teardown(darts_has_its_published_size_on_large_images, begin_images, end),
      cmocka_unit_test_setup_teardown(amoebanet_is_built_of_loose_ends, begin_images, end),
      cmocka_unit_test_setup_teardown(reductions_stand_at_thirds, begin_images, end),
      cmocka_unit_test_setup_teardown(odd_images_shrink_by_rounding_up, begin_images, end),
      cmocka_unit_test_setup_teardown(the_tiny_stem_has_two_stages, begin_images, end),
      cmocka_unit_test_setup_teardown(all_but_identities_may_be_dropped, begin_images, end),
      cmocka_unit_test_setup_teardown(strided_skips_are_reductions, begin_images, end),
      cmocka_unit_test_setup_teardown(convolutions_have_no_bias_and_norms_what_is_asked_for, begin_images, end),
      cmocka_unit_test_setup_teardown(operations_are_chains, begin_images, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
