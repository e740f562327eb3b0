/* test_network.c - shapes, parameters and FLOPs of every op against numbers worked out by hand; what does not fit is
   refused with the layer's name; JSON goes both ways to the byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tutti/network.h>
#include <tutti/task.h>

#include "tests/attributes.h"

static tutti_context *context;

static int set_up(void **state) {
  (void)state;
  return tutti_context_create(&context) == TUTTI_OK ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  tutti_context_destroy(context);
  return 0;
}

static tutti_network *network_with_input(int32_t height, int32_t width, int32_t channels) {
  tutti_network *network;
  assert_int_equal(tutti_network_create(context, (struct tutti_shape){height, width, channels}, &network), TUTTI_OK);
  return network;
}

/* --- every op --- */

struct op_case {
  enum tutti_op op;
  struct attributes attributes;
  struct tutti_shape input, output;
  size_t inputs, parameters;
  double flops;
};

#define ATTRIBUTES(...) ((struct attributes){.l2 = (double)NAN, __VA_ARGS__})
#define WINDOW(height, width, step, pad)                                                                               \
  .kernel_height = (height), .kernel_width = (width), .stride = (step), .padding = TUTTI_PADDING_##pad

static void check_case(size_t number, const struct op_case *expected) {
  tutti_network *network = network_with_input(expected->input.height, expected->input.width, expected->input.channels);
  uint32_t inputs[4] = {0, 0, 0, 0}, added;
  enum tutti_status status =
      add_with(context, network, expected->op, NULL, expected->inputs, inputs, &expected->attributes, &added);
  if (status != TUTTI_OK)
    fail_msg("case %zu: %s", number, tutti_error_message(context));
  const struct tutti_layer *layer = tutti_network_layer(network, added);
  if (layer->shape.height != expected->output.height || layer->shape.width != expected->output.width ||
      layer->shape.channels != expected->output.channels)
    fail_msg("case %zu (%s): shape %d %d %d", number, tutti_op_name(layer->op), layer->shape.height, layer->shape.width,
             layer->shape.channels);
  if (layer->parameters != expected->parameters || layer->flops != expected->flops)
    fail_msg("case %zu (%s): %zu parameters, %g FLOPs", number, tutti_op_name(layer->op), layer->parameters,
             layer->flops);
  tutti_network_destroy(network);
}

static void ops_have_their_shapes_parameters_and_flops(void **state) {
  (void)state;
  const struct op_case cases[] = {
      {TUTTI_OP_DENSE, ATTRIBUTES(.units = 5, .bias = true), {1, 1, 3}, {1, 1, 5}, 1, 20, 35},
      {TUTTI_OP_DENSE, ATTRIBUTES(.units = 5), {1, 1, 3}, {1, 1, 5}, 1, 15, 30},
      /* 8 x 8 x 3, 3 x 3 same: 8 x 8 outputs of 2 * 27 and the bias. */
      {TUTTI_OP_CONV2D,
       ATTRIBUTES(.units = 4, WINDOW(3, 3, 1, SAME), .dilation = 1, .groups = 1, .bias = true),
       {8, 8, 3},
       {8, 8, 4},
       1,
       112,
       64 * 4 * 55},
      {TUTTI_OP_CONV2D,
       ATTRIBUTES(.units = 4, WINDOW(3, 3, 2, SAME), .dilation = 1, .groups = 1),
       {7, 8, 3},
       {4, 4, 4},
       1,
       108,
       16 * 4 * 54},
      {TUTTI_OP_CONV2D,
       ATTRIBUTES(.units = 4, WINDOW(3, 5, 1, VALID), .dilation = 1, .groups = 1),
       {8, 8, 2},
       {6, 4, 4},
       1,
       120,
       24 * 4 * 60},
      /* Dilation 2: a 3 x 3 kernel spans 5. */
      {TUTTI_OP_CONV2D,
       ATTRIBUTES(.units = 2, WINDOW(3, 3, 2, VALID), .dilation = 2, .groups = 1),
       {9, 8, 1},
       {3, 2, 2},
       1,
       18,
       6 * 2 * 18},
      /* Depthwise. */
      {TUTTI_OP_CONV2D,
       ATTRIBUTES(.units = 6, WINDOW(3, 3, 1, SAME), .dilation = 1, .groups = 6),
       {4, 4, 6},
       {4, 4, 6},
       1,
       54,
       96 * 18},
      {TUTTI_OP_BATCH_NORM,
       ATTRIBUTES(.momentum = 0.1, .epsilon = 1e-5, .affine = true),
       {4, 4, 6},
       {4, 4, 6},
       1,
       12,
       192},
      {TUTTI_OP_BATCH_NORM, ATTRIBUTES(.momentum = 0.1, .epsilon = 1e-5), {4, 4, 6}, {4, 4, 6}, 1, 0, 192},
      {TUTTI_OP_ACTIVATION, ATTRIBUTES(.activation = TUTTI_ACTIVATION_RELU), {2, 3, 4}, {2, 3, 4}, 1, 0, 24},
      {TUTTI_OP_ACTIVATION, ATTRIBUTES(.activation = TUTTI_ACTIVATION_LINEAR), {2, 3, 4}, {2, 3, 4}, 1, 0, 0},
      {TUTTI_OP_ACTIVATION, ATTRIBUTES(.activation = TUTTI_ACTIVATION_CRELU), {2, 3, 4}, {2, 3, 8}, 1, 0, 48},
      {TUTTI_OP_MAX_POOL, ATTRIBUTES(WINDOW(3, 3, 2, SAME)), {7, 7, 2}, {4, 4, 2}, 1, 0, 288},
      {TUTTI_OP_AVERAGE_POOL, ATTRIBUTES(WINDOW(2, 2, 2, VALID)), {7, 7, 2}, {3, 3, 2}, 1, 0, 72},
      {TUTTI_OP_GLOBAL_POOL, ATTRIBUTES(.units = 0), {7, 5, 2}, {1, 1, 2}, 1, 0, 70},
      {TUTTI_OP_ADD, ATTRIBUTES(.units = 0), {2, 3, 4}, {2, 3, 4}, 3, 0, 48},
      {TUTTI_OP_ADD, ATTRIBUTES(.units = 0), {2, 3, 4}, {2, 3, 4}, 1, 0, 0},
      {TUTTI_OP_MEAN, ATTRIBUTES(.units = 0), {2, 3, 4}, {2, 3, 4}, 3, 0, 72},
      {TUTTI_OP_CONCAT, ATTRIBUTES(.units = 0), {2, 3, 4}, {2, 3, 12}, 3, 0, 0},
      {TUTTI_OP_FACTORISED_REDUCE, ATTRIBUTES(.units = 10), {8, 6, 4}, {4, 3, 10}, 1, 40, 12 * 10 * 8},
      {TUTTI_OP_FACTORISED_REDUCE, ATTRIBUTES(.units = 10), {7, 5, 4}, {4, 3, 10}, 1, 40, 12 * 10 * 8},
      {TUTTI_OP_IDENTITY, ATTRIBUTES(.units = 0), {2, 3, 4}, {2, 3, 4}, 1, 0, 0},
      {TUTTI_OP_ZERO, ATTRIBUTES(.stride = 2), {7, 8, 4}, {4, 4, 4}, 1, 0, 0},
      {TUTTI_OP_ZERO, ATTRIBUTES(.stride = 1), {7, 8, 4}, {7, 8, 4}, 1, 0, 0},
      {TUTTI_OP_DROPOUT, ATTRIBUTES(.rate = 0.5), {2, 3, 4}, {2, 3, 4}, 1, 0, 0},
      {TUTTI_OP_DROP_PATH, ATTRIBUTES(.rate = 0.2, .scheduled = true), {2, 3, 4}, {2, 3, 4}, 1, 0, 0},
      {TUTTI_OP_DETACH, ATTRIBUTES(.units = 0), {2, 3, 4}, {2, 3, 4}, 1, 0, 0},
      {TUTTI_OP_FLATTEN, ATTRIBUTES(.units = 0), {2, 3, 4}, {1, 1, 24}, 1, 0, 0},
      {TUTTI_OP_HEAD_SOFTMAX, ATTRIBUTES(.units = 0), {1, 1, 4}, {1, 1, 4}, 1, 0, 4},
      {TUTTI_OP_HEAD_GAUSSIAN, ATTRIBUTES(.scale = 0.05, .floor = 1e-3), {1, 1, 4}, {1, 1, 4}, 1, 0, 4},
      {TUTTI_OP_HEAD_LINEAR, ATTRIBUTES(.units = 0), {1, 1, 4}, {1, 1, 4}, 1, 0, 0},
      {TUTTI_OP_HEAD_NOMU,
       ATTRIBUTES(.pi_sqr = 0.1, .pi_exp = 0.01, .c_exp = 30, .margin = 0, .artificial = 1, .l_max = 2, .scale = 1,
                  .known_noise = 1),
       {1, 1, 1},
       {1, 1, 2},
       2,
       0,
       1},
  };
  bool seen[TUTTI_OP_COUNT] = {[TUTTI_OP_INPUT] = true};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    check_case(i, &cases[i]);
    seen[cases[i].op] = true;
  }
  for (int op = 0; op < TUTTI_OP_COUNT; op++)
    if (!seen[op])
      fail_msg("no case for %s", tutti_op_name((enum tutti_op)op));
}

/* The output of "same" padding, against counting the windows that start inside the padded input. */
static void same_padding_is_that_of_tensorflow(void **state) {
  (void)state;
  for (int32_t length = 1; length <= 12; length++)
    for (int32_t stride = 1; stride <= 4; stride++) {
      int32_t windows = 0;
      for (int32_t start = 0; start < length; start += stride)
        windows++;
      check_case(0, &(struct op_case){TUTTI_OP_MAX_POOL,
                                      ATTRIBUTES(WINDOW(3, 1, stride, SAME)),
                                      {length, 1, 1},
                                      {windows, 1, 1},
                                      1,
                                      0,
                                      3.0 * windows});
    }
}

/* --- what does not fit --- */

static void expect_refusal(tutti_network *network, enum tutti_op op, size_t count, const uint32_t *inputs,
                           struct attributes attributes, const char *part) {
  size_t before = tutti_network_layers(network);
  assert_int_equal(add_with(context, network, op, "odd", count, inputs, &attributes, NULL), TUTTI_ERROR_USAGE);
  if (!strstr(tutti_error_message(context), part))
    fail_msg("expected \"%s\" in: %s", part, tutti_error_message(context));
  assert_int_equal(tutti_network_layers(network), before);
}

static void what_does_not_fit_is_refused_by_name(void **state) {
  (void)state;
  tutti_network *network = network_with_input(8, 8, 3);
  uint32_t zero[3] = {0, 0, 0}, beyond = 7, pooled, both[2];
  struct attributes plain = default_attributes();
  assert_int_equal(tutti_network_add(context, network, TUTTI_OP_GLOBAL_POOL, "pooled", 1, zero, NULL, &pooled),
                   TUTTI_OK);
  both[0] = 0;
  both[1] = pooled;
  expect_refusal(network, TUTTI_OP_ADD, 2, both, plain, "\"input\" has 8 x 8 x 3, \"pooled\" has 1 x 1 x 3");
  expect_refusal(network, TUTTI_OP_CONCAT, 2, both, plain, "height and width");
  expect_refusal(network, TUTTI_OP_DENSE, 1, &pooled, plain, "units must be in [1,");
  plain.units = 4;
  expect_refusal(network, TUTTI_OP_DENSE, 1, zero, plain, "flat input");
  expect_refusal(network, TUTTI_OP_DENSE, 1, &beyond, plain, "only those before it, here 0 to 1");
  expect_refusal(network, TUTTI_OP_DENSE, 2, zero, plain, "has 2 inputs; it takes 1");
  expect_refusal(network, TUTTI_OP_ADD, 0, NULL, plain, "has 0 inputs; it takes 1 or more");
  expect_refusal(network, TUTTI_OP_INPUT, 0, NULL, plain, "only layer 0 is an input");
  expect_refusal(network, (enum tutti_op)99, 0, NULL, plain, "op 99");
  expect_refusal(network, TUTTI_OP_CONV2D, 1, zero,
                 ATTRIBUTES(.units = 4, WINDOW(3, 3, 1, SAME), .dilation = 1, .groups = 2), "2 groups must divide");
  expect_refusal(network, TUTTI_OP_CONV2D, 1, zero,
                 ATTRIBUTES(.units = 4, WINDOW(5, 3, 1, VALID), .dilation = 2, .groups = 1), "does not fit");
  expect_refusal(network, TUTTI_OP_DROPOUT, 1, zero, ATTRIBUTES(.rate = 1), "rate must be in [0, 1), not 1");
  expect_refusal(network, TUTTI_OP_DROPOUT, 1, zero, ATTRIBUTES(.rate = NAN), "rate");
  expect_refusal(network, TUTTI_OP_ACTIVATION, 1, zero, ATTRIBUTES(.activation = (enum tutti_activation)50),
                 "activation");
  expect_refusal(network, TUTTI_OP_ACTIVATION, 1, zero, ATTRIBUTES(.activation = (enum tutti_activation) - 1),
                 "activation");
  plain.l2 = -1;
  expect_refusal(network, TUTTI_OP_DENSE, 1, &pooled, plain, "l2");
  expect_refusal(network, TUTTI_OP_HEAD_GAUSSIAN, 1, &pooled, ATTRIBUTES(.scale = 1), "two inputs an output");
  expect_refusal(network, TUTTI_OP_HEAD_GAUSSIAN, 1, &pooled, ATTRIBUTES(.scale = 0), "scale must be in (0,");
  both[0] = pooled;
  struct attributes noise = default_attributes();
  noise.noise = TUTTI_NOMU_NOISE_LEARNT;
  expect_refusal(network, TUTTI_OP_HEAD_NOMU, 2, both, noise, "needs 3 inputs with these attributes");
  noise.bounds = TUTTI_NOMU_BOUNDS_UPPER;
  expect_refusal(network, TUTTI_OP_HEAD_NOMU, 2, both, noise, "noise only with symmetric bounds");
  tutti_network_destroy(network);
}

static void sizes_that_overflow_are_refused(void **state) {
  (void)state;
  tutti_network *network;
  assert_int_equal(tutti_network_create(context, (struct tutti_shape){1 << 16, 1 << 15, 1}, &network),
                   TUTTI_ERROR_USAGE);
  assert_null(network);
  assert_int_equal(tutti_network_create(context, (struct tutti_shape){0, 1, 1}, &network), TUTTI_ERROR_USAGE);
  network = network_with_input(1, 1, INT32_MAX);
  uint32_t twice[2] = {0, 0};
  expect_refusal(network, TUTTI_OP_CONCAT, 2, twice, default_attributes(), "channels");
  expect_refusal(network, TUTTI_OP_ACTIVATION, 1, twice, ATTRIBUTES(.activation = TUTTI_ACTIVATION_CRELU), "channels");
  expect_refusal(network, TUTTI_OP_CONV2D, 1, twice,
                 ATTRIBUTES(.units = INT32_MAX, WINDOW(INT32_MAX, INT32_MAX, 1, SAME), .dilation = 1, .groups = 1),
                 "too many parameters");
  tutti_network_destroy(network);
}

static void labels_are_unique_and_plain(void **state) {
  (void)state;
  tutti_network *network = network_with_input(1, 1, 3);
  uint32_t zero = 0;
  char longest[202];
  memset(longest, 'x', sizeof longest);
  longest[201] = '\0';
  const char *const wrong[] = {"input", "", "two words", "quote\"", "new\nline", longest};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    assert_int_equal(tutti_network_add(context, network, TUTTI_OP_IDENTITY, wrong[i], 1, &zero, NULL, NULL),
                     TUTTI_ERROR_USAGE);
  longest[200] = '\0';
  assert_int_equal(tutti_network_add(context, network, TUTTI_OP_IDENTITY, longest, 1, &zero, NULL, NULL), TUTTI_OK);
  assert_int_equal(tutti_network_add(context, network, TUTTI_OP_IDENTITY, "cell/1.a_b-c", 1, &zero, NULL, NULL),
                   TUTTI_OK);
  assert_int_equal(tutti_network_add(context, network, TUTTI_OP_IDENTITY, NULL, 1, &zero, NULL, NULL), TUTTI_OK);
  assert_string_equal(tutti_network_layer(network, 3)->label, "identity3");
  assert_null(tutti_network_layer(network, 4));
  tutti_network_destroy(network);
}

static void check_finds_what_leads_nowhere(void **state) {
  (void)state;
  tutti_network *network = network_with_input(1, 1, 3);
  uint32_t hidden, lonely, input = 0;
  assert_int_equal(tutti_network_add_dense(context, network, "hidden", 0, 4, TUTTI_ACTIVATION_TANH, &hidden), TUTTI_OK);
  assert_int_equal(hidden, 2);
  assert_string_equal(tutti_network_layer(network, 2)->label, "hidden-activation");
  assert_int_equal(tutti_network_check(context, network), TUTTI_ERROR_USAGE);
  assert_non_null(strstr(tutti_error_message(context), "is not a head"));
  assert_int_equal(tutti_network_add(context, network, TUTTI_OP_IDENTITY, "lonely", 1, &input, NULL, &lonely),
                   TUTTI_OK);
  assert_int_equal(tutti_network_add(context, network, TUTTI_OP_HEAD_LINEAR, "head", 1, &hidden, NULL, NULL), TUTTI_OK);
  assert_int_equal(tutti_network_check(context, network), TUTTI_ERROR_USAGE);
  assert_non_null(strstr(tutti_error_message(context), "\"lonely\""));
  uint32_t head = 4;
  expect_refusal(network, TUTTI_OP_IDENTITY, 1, &head, default_attributes(), "reads the head");
  tutti_network_destroy(network);
}

/* --- JSON --- */

/* A network that has every op but the other heads, and attributes that are not the defaults. */
static tutti_network *large_network(void) {
  tutti_network *network = network_with_input(9, 8, 6);
  struct attributes attributes = default_attributes();
  uint32_t last = 0, pair[3];
  attributes.units = 12;
  attributes.kernel_width = 5;
  attributes.stride = 2;
  attributes.groups = 3;
  attributes.padding = TUTTI_PADDING_SAME;
  attributes.rate = 0.1;
  attributes.epsilon = 1e-3;
  attributes.l2 = 1.0 / 3;
  attributes.spatial = attributes.scheduled = true;
  attributes.activation = TUTTI_ACTIVATION_LEAKY_RELU;
  static const enum tutti_op chain[] = {TUTTI_OP_CONV2D,   TUTTI_OP_BATCH_NORM, TUTTI_OP_ACTIVATION,
                                        TUTTI_OP_MAX_POOL, TUTTI_OP_DROPOUT,    TUTTI_OP_DROP_PATH,
                                        TUTTI_OP_DETACH,   TUTTI_OP_IDENTITY,   TUTTI_OP_FACTORISED_REDUCE};
  for (size_t i = 0; i < sizeof chain / sizeof chain[0]; i++)
    assert_int_equal(add_with(context, network, chain[i], NULL, 1, &last, &attributes, &last), TUTTI_OK);
  attributes.stride = 1;
  static const enum tutti_op branches[] = {TUTTI_OP_ZERO, TUTTI_OP_AVERAGE_POOL, TUTTI_OP_IDENTITY};
  for (size_t i = 0; i < 3; i++)
    assert_int_equal(add_with(context, network, branches[i], NULL, 1, &last, &attributes, &pair[i]), TUTTI_OK);
  assert_int_equal(tutti_network_add(context, network, TUTTI_OP_ADD, NULL, 3, pair, NULL, &pair[0]), TUTTI_OK);
  assert_int_equal(tutti_network_add(context, network, TUTTI_OP_MEAN, NULL, 2, pair, NULL, &pair[0]), TUTTI_OK);
  assert_int_equal(tutti_network_add(context, network, TUTTI_OP_CONCAT, NULL, 3, pair, NULL, &last), TUTTI_OK);
  assert_int_equal(tutti_network_add(context, network, TUTTI_OP_FLATTEN, NULL, 1, &last, NULL, &last), TUTTI_OK);
  assert_int_equal(tutti_network_add(context, network, TUTTI_OP_GLOBAL_POOL, NULL, 1, &last, NULL, &last), TUTTI_OK);
  assert_int_equal(add_with(context, network, TUTTI_OP_DENSE, "out", 1, &last, &attributes, &last), TUTTI_OK);
  assert_int_equal(tutti_network_add(context, network, TUTTI_OP_HEAD_GAUSSIAN, "head", 1, &last, NULL, &last),
                   TUTTI_OK);
  assert_int_equal(tutti_network_check(context, network), TUTTI_OK);
  return network;
}

static void json_and_copies_are_the_same_to_the_byte(void **state) {
  (void)state;
  tutti_network *network = large_network(), *again, *copy;
  char *text, *text_again, *text_copy;
  assert_int_equal(tutti_network_print(context, network, &text), TUTTI_OK);
  if (tutti_network_parse(context, text, &again) != TUTTI_OK)
    fail_msg("%s", tutti_error_message(context));
  assert_int_equal(tutti_network_copy(context, network, &copy), TUTTI_OK);
  assert_int_equal(tutti_network_print(context, again, &text_again), TUTTI_OK);
  assert_int_equal(tutti_network_print(context, copy, &text_copy), TUTTI_OK);
  assert_string_equal(text, text_again);
  assert_string_equal(text, text_copy);
  assert_true(tutti_network_parameters(network) == tutti_network_parameters(again));
  assert_true(tutti_network_flops(network) == tutti_network_flops(again));
  assert_true(tutti_layer_real(tutti_network_layer(again, 1), "l2", 0) == 1.0 / 3);
  tutti_free(text);
  tutti_free(text_again);
  tutti_free(text_copy);
  tutti_network_destroy(network);
  tutti_network_destroy(again);
  tutti_network_destroy(copy);
}

/* A narrower input takes rows of weights from the layers that read it, and from no other. */
static void a_narrower_network_is_one_made_of_fewer_inputs(void **state) {
  (void)state;
  tutti_network *made[2], *narrow;
  char *expected, *found;
  for (int i = 0; i < 2; i++) {
    uint32_t first, second;
    assert_int_equal(tutti_network_create(context, (struct tutti_shape){1, 1, i ? 2 : 17}, &made[i]), TUTTI_OK);
    assert_int_equal(tutti_network_add_dense(context, made[i], "a", 0, 8, TUTTI_ACTIVATION_RELU, &first), TUTTI_OK);
    assert_int_equal(tutti_network_add_dense(context, made[i], "b", 0, 8, TUTTI_ACTIVATION_LINEAR, &second), TUTTI_OK);
    const uint32_t both[] = {first, second};
    assert_int_equal(tutti_network_add(context, made[i], TUTTI_OP_ADD, "sum", 2, both, NULL, &first), TUTTI_OK);
    assert_int_equal(tutti_network_add_dense(context, made[i], "c", first, 2, TUTTI_ACTIVATION_LINEAR, &first),
                     TUTTI_OK);
    assert_int_equal(tutti_network_set_l2(context, made[i], "c", 0.25), TUTTI_OK);
  }
  assert_int_equal(tutti_network_narrow(context, made[0], 15, &narrow), TUTTI_OK);
  assert_int_equal(tutti_network_print(context, made[1], &expected), TUTTI_OK);
  assert_int_equal(tutti_network_print(context, narrow, &found), TUTTI_OK);
  assert_string_equal(found, expected);
  assert_int_equal(tutti_network_parameters(narrow), 2 * (2 * 8 + 8) + 8 * 2 + 2);
  assert_true(tutti_network_flops(narrow) == tutti_network_flops(made[1]));
  tutti_network_destroy(narrow);
  assert_int_equal(tutti_network_narrow(context, made[1], 2, &narrow), TUTTI_ERROR_USAGE);
  assert_null(narrow);
  tutti_error_clear(context);
  tutti_free(expected);
  tutti_free(found);
  tutti_network_destroy(made[0]);
  tutti_network_destroy(made[1]);
}

static void canonical_json_of_a_small_network(void **state) {
  (void)state;
  tutti_network *network = network_with_input(1, 1, 3);
  uint32_t hidden, input = 0;
  assert_int_equal(tutti_network_add_dense(context, network, "h", 0, 4, TUTTI_ACTIVATION_SWISH, &hidden), TUTTI_OK);
  assert_int_equal(tutti_network_add_dropout(context, network, NULL, hidden, 0.1, &hidden), TUTTI_OK);
  assert_int_equal(tutti_network_add_dense(context, network, "o", hidden, 2, TUTTI_ACTIVATION_LINEAR, &input),
                   TUTTI_OK);
  assert_int_equal(tutti_network_add(context, network, TUTTI_OP_HEAD_GAUSSIAN, "head", 1, &input, NULL, NULL),
                   TUTTI_OK);
  char *text;
  assert_int_equal(tutti_network_print(context, network, &text), TUTTI_OK);
  assert_string_equal(
      text, "{\"format\": \"tutti-network\", \"version\": 1, \"layers\": [\n"
            "  {\"op\": \"input\", \"label\": \"input\", \"shape\": [1, 1, 3]},\n"
            "  {\"op\": \"dense\", \"label\": \"h\", \"inputs\": [\"input\"], \"units\": 4, \"bias\": true},\n"
            "  {\"op\": \"activation\", \"label\": \"h-activation\", \"inputs\": [\"h\"], \"activation\": \"swish\"},\n"
            "  {\"op\": \"dropout\", \"label\": \"dropout3\", \"inputs\": [\"h-activation\"], \"spatial\": false, "
            "\"rate\": 0.1},\n"
            "  {\"op\": \"dense\", \"label\": \"o\", \"inputs\": [\"dropout3\"], \"units\": 2, \"bias\": true},\n"
            "  {\"op\": \"head-gaussian\", \"label\": \"head\", \"inputs\": [\"o\"], \"scale\": 1, \"floor\": 0.001, "
            "\"variance\": false}\n]}\n");
  tutti_free(text);
  tutti_network_destroy(network);
}

#define DOCUMENT(layers) "{\"format\": \"tutti-network\", \"version\": 1, \"layers\": [" layers "]}"
#define INPUT "{\"op\": \"input\", \"label\": \"input\", \"shape\": [1, 1, 3]}"

static void wrong_json_is_refused(void **state) {
  (void)state;
  static const struct {
    const char *text, *part;
  } cases[] = {
      {"", "line 1"},
      {"{", "line 1"},
      {"[]", "format"},
      {"{\"format\": \"other\"}", "not other"},
      {"{\"format\": \"tutti-network\", \"version\": 2, \"layers\": []}", "version"},
      {"{\"format\": \"tutti-network\", \"version\": 1, \"layers\": [], \"x\": 1}", "nothing else"},
      {"{\"format\": \"tutti-network\", \"version\": 1, \"version\": 1, \"layers\": []}", "duplicate"},
      {DOCUMENT(""), "at least one layer"},
      {DOCUMENT("5"), "must be an object, not an integer"},
      {DOCUMENT("{\"op\": \"dense\", \"label\": \"a\", \"inputs\": [], \"units\": 1}"), "layer 0, and no other"},
      {DOCUMENT(INPUT ", " INPUT), "layer 0, and no other"},
      {DOCUMENT("{\"op\": \"input\", \"label\": \"x\", \"shape\": [1, 1, 3]}"), "label \"input\""},
      {DOCUMENT("{\"op\": \"input\", \"label\": \"input\", \"shape\": [1, 3]}"), "three integers"},
      {DOCUMENT("{\"op\": \"input\", \"label\": \"input\", \"shape\": [1, 1, 0]}"), "three integers"},
      {DOCUMENT("{\"op\": \"input\", \"label\": \"input\", \"shape\": [1, 1, 4294967297]}"), "three integers"},
      {DOCUMENT("{\"op\": \"input\", \"label\": \"input\", \"shape\": [1, 1, 1.5]}"), "three integers"},
      {DOCUMENT(INPUT ", {\"op\": \"dense\", \"inputs\": [\"input\"]}"), "\"label\" must be a text, not nothing"},
      {DOCUMENT(INPUT ", {\"op\": \"dens\", \"label\": \"a\", \"inputs\": [\"input\"]}"), "did you mean \"dense\""},
      {DOCUMENT(INPUT ", {\"op\": \"dense\", \"label\": \"a\", \"inputs\": [\"input\"], \"unit\": 3}"),
       "did you mean \"units\""},
      {DOCUMENT(INPUT ", {\"op\": \"dense\", \"label\": \"a\", \"inputs\": [\"input\"], \"rate\": 3}"),
       "has no \"rate\""},
      {DOCUMENT(INPUT ", {\"op\": \"dense\", \"label\": \"a\", \"inputs\": [\"input\"], \"units\": 3.5}"),
       "an integer"},
      {DOCUMENT(INPUT ", {\"op\": \"dense\", \"label\": \"a\", \"inputs\": [\"input\"], \"units\": 4294967297}"),
       "an integer"},
      {DOCUMENT(INPUT ", {\"op\": \"dense\", \"label\": \"a\", \"inputs\": [\"input\"]}"), "units must be"},
      {DOCUMENT(INPUT ", {\"op\": \"dense\", \"label\": \"a\", \"inputs\": [\"b\"], \"units\": 3}"), "reads \"b\""},
      {DOCUMENT(INPUT ", {\"op\": \"dense\", \"label\": \"a\", \"inputs\": [0], \"units\": 3}"), "array of labels"},
      {DOCUMENT(INPUT ", {\"op\": \"dense\", \"label\": \"a\", \"inputs\": \"input\", \"units\": 3}"),
       "array of labels"},
      {DOCUMENT(INPUT ", {\"op\": \"dense\", \"label\": \"a\", \"inputs\": [\"input\"], \"units\": 3, \"bias\": 1}"),
       "true or false"},
      {DOCUMENT(INPUT ", {\"op\": \"dropout\", \"label\": \"a\", \"inputs\": [\"input\"], \"rate\": \"x\"}"),
       "a number"},
      {DOCUMENT(INPUT
                ", {\"op\": \"activation\", \"label\": \"a\", \"inputs\": [\"input\"], \"activation\": \"rela\"}"),
       "\"relu\""},
      {DOCUMENT(INPUT ", {\"op\": \"activation\", \"label\": \"a\", \"inputs\": [\"input\"], \"activation\": 4}"),
       "a text"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    tutti_network *network;
    assert_int_equal(tutti_network_parse(context, cases[i].text, &network), TUTTI_ERROR_USAGE);
    assert_null(network);
    if (!strstr(tutti_error_message(context), cases[i].part))
      fail_msg("case %zu: expected \"%s\" in: %s", i, cases[i].part, tutti_error_message(context));
  }
}

/* Every text that a cut or a changed byte makes of a good one is read or refused, and no more. */
static void torn_json_harms_nothing(void **state) {
  (void)state;
  tutti_network *network = large_network();
  char *text;
  assert_int_equal(tutti_network_print(context, network, &text), TUTTI_OK);
  tutti_network_destroy(network);
  for (size_t i = 0, length = strlen(text); i < length; i++) {
    char kept = text[i];
    const char changes[] = {'\0', '"', '9', (char)(kept ^ 1)};
    for (size_t k = 0; k < sizeof changes; k++) {
      text[i] = changes[k];
      enum tutti_status status = tutti_network_parse(context, text, &network);
      assert_true(status == TUTTI_OK || status == TUTTI_ERROR_USAGE);
      assert_true((network == NULL) == (status != TUTTI_OK));
      tutti_network_destroy(network);
    }
    text[i] = kept;
  }
  tutti_free(text);
}

/* --- names --- */

static void names_go_both_ways(void **state) {
  (void)state;
  for (int i = 0; i < TUTTI_OP_COUNT; i++) {
    const char *name = tutti_op_name((enum tutti_op)i);
    assert_string_equal(tutti_op_find(context, name)->name, name);
  }
  for (int i = 0; i < TUTTI_ACTIVATION_COUNT; i++) {
    enum tutti_activation activation;
    assert_string_equal(tutti_activation_names()[i], tutti_activation_name((enum tutti_activation)i));
    assert_int_equal(tutti_activation_parse(context, tutti_activation_name((enum tutti_activation)i), &activation),
                     TUTTI_OK);
    assert_int_equal(activation, i);
  }
  assert_null(tutti_activation_names()[TUTTI_ACTIVATION_COUNT]);
  enum tutti_activation activation;
  assert_int_equal(tutti_activation_parse(context, "hard_sigmoid", &activation), TUTTI_ERROR_USAGE);
  assert_non_null(strstr(tutti_error_message(context), "did you mean \"hard-sigmoid\""));
  assert_int_equal(tutti_activation_parse(context, "zzzzzzzz", &activation), TUTTI_ERROR_USAGE);
  assert_null(strstr(tutti_error_message(context), "did you mean"));
  assert_string_equal(tutti_op_name((enum tutti_op)77), "unknown op");
  assert_string_equal(tutti_op_name(TUTTI_OP_OTHER), "unknown op");
  assert_string_equal(tutti_activation_name((enum tutti_activation)77), "unknown activation");
}

/* --- attributes --- */

static void expect_attributes(const struct tutti_attribute *attributes, enum tutti_op op, const char *part) {
  tutti_network *network = network_with_input(1, 1, 3);
  uint32_t input = 0;
  assert_int_equal(tutti_network_add(context, network, op, "odd", 1, &input, attributes, NULL), TUTTI_ERROR_USAGE);
  if (!strstr(tutti_error_message(context), part))
    fail_msg("expected \"%s\" in: %s", part, tutti_error_message(context));
  tutti_network_destroy(network);
}

static void attributes_are_checked_by_name_and_value(void **state) {
  (void)state;
  expect_attributes(TUTTI_ATTRIBUTES({"units", 3}, {"bais", 0}), TUTTI_OP_DENSE,
                    "layer \"odd\" (dense) has no attribute \"bais\"; did you mean \"bias\"?");
  expect_attributes(TUTTI_ATTRIBUTES({"units", 3}, {"rate", 0}), TUTTI_OP_DENSE, "has no attribute \"rate\"");
  expect_attributes(TUTTI_ATTRIBUTES({"units", 3.5}), TUTTI_OP_DENSE, "units must be a whole number in [1,");
  expect_attributes(TUTTI_ATTRIBUTES({"units", 3e9}), TUTTI_OP_DENSE, "units must be in [1,");
  expect_attributes(TUTTI_ATTRIBUTES({"bias", 1}), TUTTI_OP_DENSE, "and is not given");
  expect_attributes(TUTTI_ATTRIBUTES({"units", 3}, {"bias", 2}), TUTTI_OP_DENSE, "bias must be 0 or 1, not 2");
  expect_attributes(TUTTI_ATTRIBUTES({"activation", 1.5}), TUTTI_OP_ACTIVATION,
                    "unknown activation: number 1.5 of 0 to 12");
}

static void attributes_are_read_by_name_and_type(void **state) {
  (void)state;
  static const char *const none[] = {NULL}, *const units[] = {"units", NULL}, *const both[] = {"l2", "units", NULL};
  tutti_network *network = network_with_input(1, 1, 3);
  uint32_t input = 0;
  assert_int_equal(tutti_network_add(context, network, TUTTI_OP_DENSE, NULL, 1, &input,
                                     TUTTI_ATTRIBUTES({"units", 7}, {"l2", 0.25}), NULL),
                   TUTTI_OK);
  const struct tutti_layer *layer = tutti_network_layer(network, 1);
  assert_int_equal(layer->size, sizeof *layer);
  assert_string_equal(layer->op_name, "dense");
  assert_int_equal(tutti_layer_integer(layer, "units", 1), 7);
  assert_true(tutti_layer_flag(layer, "bias", false));
  assert_true(tutti_layer_real(layer, "l2", 1) == 0.25);
  /* What the op does not have, and what it has in another type. */
  assert_int_equal(tutti_layer_integer(layer, "stride", 5), 5);
  assert_int_equal(tutti_layer_integer(layer, "bias", 5), 5);
  assert_true(tutti_layer_real(layer, "units", 0.5) == 0.5);
  assert_true(tutti_layer_flag(layer, "units", true) && !tutti_layer_flag(layer, "affine", false));
  assert_string_equal(tutti_layer_unknown(layer, none), "units");
  assert_string_equal(tutti_layer_unknown(layer, units), "l2");
  assert_null(tutti_layer_unknown(layer, both));
  const struct tutti_attribute *all = tutti_layer_attributes(layer);
  assert_string_equal(all[0].name, "units");
  assert_string_equal(all[1].name, "bias");
  assert_string_equal(all[2].name, "l2");
  assert_null(all[3].name);
  /* They are what it takes to make the layer again. */
  assert_int_equal(tutti_network_add(context, network, TUTTI_OP_DENSE, NULL, 1, &input, all, NULL), TUTTI_OK);
  assert_true(tutti_layer_real(tutti_network_layer(network, 2), "l2", 1) == 0.25);
  assert_ptr_equal(tutti_network_layer(network, 1), layer);
  tutti_network_destroy(network);
}

/* A task of a plugin that knows no attributes of heads. */
static void shorter_tasks_have_no_head_attributes(void **state) {
  (void)state;
  struct tutti_task task = {.size = offsetof(struct tutti_task, head_attributes),
                            .kind = TUTTI_TASK_REGRESSION,
                            .outputs = 1,
                            .head = TUTTI_OP_HEAD_GAUSSIAN,
                            .head_attributes = (const struct tutti_attribute *)(uintptr_t)8};
  tutti_network *network = network_with_input(1, 1, 3);
  assert_int_equal(tutti_network_add_head(context, network, 0, &task), TUTTI_OK);
  assert_true(tutti_layer_real(tutti_network_layer(network, 2), "scale", 0) == 1);
  tutti_network_destroy(network);
}

/* Defaults are legal, too: otherwise no layer could be made without stating them. */
static void built_in_definitions_are_sound(void **state) {
  (void)state;
  for (int op = 0; op < TUTTI_OP_COUNT; op++) {
    const struct tutti_op_definition *definition = tutti_op_find(context, tutti_op_name((enum tutti_op)op));
    assert_non_null(definition);
    assert_non_null(definition->doc);
    for (size_t i = 0; i < definition->attributes.count; i++) {
      const struct tutti_attribute_definition *attribute = tutti_attribute_at(&definition->attributes, i);
      assert_non_null(attribute->doc);
      assert_true(attribute->flags || attribute->type == TUTTI_ATTRIBUTE_FLAG || attribute->min < attribute->max ||
                  attribute->choices);
    }
    assert_null(tutti_attribute_at(&definition->attributes, definition->attributes.count));
  }
  assert_null(tutti_op_find(context, "dens"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ops_have_their_shapes_parameters_and_flops),
      cmocka_unit_test(same_padding_is_that_of_tensorflow),
      cmocka_unit_test(what_does_not_fit_is_refused_by_name),
      cmocka_unit_test(sizes_that_overflow_are_refused),
      cmocka_unit_test(labels_are_unique_and_plain),
      cmocka_unit_test(check_finds_what_leads_nowhere),
      cmocka_unit_test(json_and_copies_are_the_same_to_the_byte),
      cmocka_unit_test(a_narrower_network_is_one_made_of_fewer_inputs),
      cmocka_unit_test(canonical_json_of_a_small_network),
      cmocka_unit_test(wrong_json_is_refused),
      cmocka_unit_test(torn_json_harms_nothing),
      cmocka_unit_test(names_go_both_ways),
      cmocka_unit_test(attributes_are_checked_by_name_and_value),
      cmocka_unit_test(attributes_are_read_by_name_and_type),
      cmocka_unit_test(shorter_tasks_have_no_head_attributes),
      cmocka_unit_test(built_in_definitions_are_sound),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
