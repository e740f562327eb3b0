/* test_network_heads.c - what a task makes of the end of a network: heads by kind of task, NOMU's second network, the
   mean of several layers. */
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

/* --- tasks --- */

/* Names and numbers of recorded runs. */
static void tasks_have_names(void **state) {
  (void)state;
  assert_string_equal(tutti_task_name((enum tutti_task_kind)0), "regression");
  assert_string_equal(tutti_task_name((enum tutti_task_kind)1), "classification");
  assert_string_equal(tutti_task_name((enum tutti_task_kind)2), "value");
  assert_string_equal(tutti_task_name(TUTTI_TASK_VALUE), "value");
  assert_string_equal(tutti_task_name((enum tutti_task_kind)3), "unknown task");
  assert_string_equal(tutti_task_name((enum tutti_task_kind)(-1)), "unknown task");
}

static void heads_follow_the_task(void **state) {
  (void)state;
  static const struct tutti_attribute scale[] = {{"scale", 0.25}, {NULL, 0}};
  static const struct {
    enum tutti_task_kind kind;
    enum tutti_op head;
    size_t outputs;
    int32_t width;
    const struct tutti_attribute *attributes;
  } cases[] = {
      {TUTTI_TASK_REGRESSION, TUTTI_OP_HEAD_GAUSSIAN, 2, 4, scale},
      {TUTTI_TASK_REGRESSION, TUTTI_OP_HEAD_LINEAR, 2, 2, NULL},
      {TUTTI_TASK_CLASSIFICATION, TUTTI_OP_HEAD_SOFTMAX, 5, 5, NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct tutti_task task = {.size = sizeof task,
                              .kind = cases[i].kind,
                              .outputs = cases[i].outputs,
                              .head = cases[i].head,
                              .head_attributes = cases[i].attributes};
    tutti_network *network = network_with_input(1, 1, 3);
    assert_int_equal(tutti_network_add_head(context, network, 0, &task), TUTTI_OK);
    assert_int_equal(tutti_network_check(context, network), TUTTI_OK);
    assert_int_equal(tutti_network_layer(network, 1)->shape.channels, cases[i].width);
    assert_string_equal(tutti_network_layer(network, 1)->label, "output");
    assert_int_equal(tutti_network_layer(network, 2)->op, cases[i].head);
    assert_true(tutti_layer_real(tutti_network_layer(network, 2), "scale", 0.25) == 0.25);
    tutti_network_destroy(network);
  }
  struct tutti_task value = {.size = sizeof value, .kind = TUTTI_TASK_VALUE};
  tutti_network *network = network_with_input(1, 1, 3);
  assert_int_equal(tutti_network_add_head(context, network, 0, &value), TUTTI_ERROR_USAGE);
  tutti_network_destroy(network);
}

static const struct tutti_layer *labelled(const tutti_network *network, const char *label) {
  for (size_t i = 0; i < tutti_network_layers(network); i++)
    if (strcmp(tutti_network_layer(network, i)->label, label) == 0)
      return tutti_network_layer(network, i);
  fail_msg("no layer \"%s\"", label);
  return NULL;
}

/* Two dense layers, the second of which reads both, and an op that nothing reads but the head. */
static uint32_t some_layers(tutti_network *network) {
  uint32_t one, two, both[2];
  assert_int_equal(tutti_network_add_dense(context, network, "a", 0, 4, TUTTI_ACTIVATION_TANH, &one), TUTTI_OK);
  assert_int_equal(tutti_network_add_dense(context, network, "b", one, 4, TUTTI_ACTIVATION_LINEAR, &two), TUTTI_OK);
  both[0] = one, both[1] = two;
  assert_int_equal(tutti_network_add(context, network, TUTTI_OP_ADD, "sum", 2, both, NULL, &one), TUTTI_OK);
  assert_int_equal(tutti_network_add_dropout(context, network, "drop", one, 0.25, &one), TUTTI_OK);
  return one;
}

/* Any network gets a second one like it, whose output also reads the first's last layer. */
static void head_nomu_doubles_the_network(void **state) {
  (void)state;
  for (int gradient = 0; gradient < 2; gradient++) {
    struct tutti_task task = {.size = sizeof task,
                              .outputs = 2,
                              .head = TUTTI_OP_HEAD_NOMU,
                              .head_attributes = TUTTI_ATTRIBUTES({"noise", TUTTI_NOMU_NOISE_LEARNT}, {"c_exp", 7}),
                              .connection_gradient = gradient,
                              .uncertainty_l2 = 0.5};
    tutti_network *network = network_with_input(1, 1, 3);
    uint32_t last = some_layers(network);
    size_t once = tutti_network_parameters(network);
    assert_int_equal(tutti_network_add_head(context, network, last, &task), TUTTI_OK);
    assert_int_equal(tutti_network_check(context, network), TUTTI_OK);
    /* Twice the layers; means and noise read 4 numbers, uncertainties 8. */
    assert_int_equal(tutti_network_parameters(network), 2 * once + 2 * (4 * 2 + 2) + 8 * 2 + 2);
    const struct tutti_layer *drop = labelled(network, "uncertainty/drop"), *copy = labelled(network, "uncertainty/a");
    assert_true(tutti_layer_real(drop, "rate", 0) == 0.25);
    assert_int_equal(copy->inputs[0], 0);
    assert_true(tutti_layer_real(copy, "l2", -1) == 0.5);
    assert_true(isnan(tutti_layer_real(labelled(network, "a"), "l2", -1)));
    const struct tutti_layer *raw = labelled(network, "uncertainty/output");
    const struct tutti_layer *joint = tutti_network_layer(network, raw->inputs[0]);
    assert_int_equal(joint->op, TUTTI_OP_CONCAT);
    assert_int_equal(joint->shape.channels, 8);
    const struct tutti_layer *first = tutti_network_layer(network, joint->inputs[0]);
    assert_int_equal(first->op == TUTTI_OP_DETACH, !gradient);
    assert_ptr_equal(gradient ? first : tutti_network_layer(network, first->inputs[0]), labelled(network, "drop"));
    const struct tutti_layer *head = tutti_network_layer(network, tutti_network_layers(network) - 1);
    assert_int_equal(head->input_count, 3);
    assert_true(tutti_layer_real(head, "c_exp", 0) == 7);
    assert_ptr_equal(tutti_network_layer(network, head->inputs[2]), labelled(network, "noise"));
    tutti_network_destroy(network);
  }
}

/* Bounds are networks of their own, without the connection. A batch norm is refused; a shorter task has defaults. */
static void head_nomu_has_bounds_and_limits(void **state) {
  (void)state;
  struct tutti_task task = {.size = offsetof(struct tutti_task, connection_gradient),
                            .outputs = 1,
                            .head = TUTTI_OP_HEAD_NOMU,
                            .head_attributes = TUTTI_ATTRIBUTES({"bounds", TUTTI_NOMU_BOUNDS_BOTH}),
                            .connection_gradient = true,
                            .uncertainty_l2 = 3};
  tutti_network *network = network_with_input(1, 1, 3);
  uint32_t last = some_layers(network), ends[2] = {last, 0};
  size_t once = tutti_network_parameters(network);
  assert_int_equal(tutti_network_add_head(context, network, last, &task), TUTTI_OK);
  assert_int_equal(tutti_network_check(context, network), TUTTI_OK);
  assert_int_equal(tutti_network_parameters(network), 3 * once + 3 * 5);
  assert_true(isnan(tutti_layer_real(labelled(network, "upper/b"), "l2", -1)));
  (void)labelled(network, "lower/b");
  tutti_network_destroy(network);
  task.head_attributes = NULL;
  network = network_with_input(1, 1, 3);
  assert_int_equal(tutti_network_add(context, network, TUTTI_OP_BATCH_NORM, "norm", 1, &(uint32_t){0}, NULL, &last),
                   TUTTI_OK);
  assert_int_equal(tutti_network_add_head(context, network, last, &task), TUTTI_ERROR_USAGE);
  assert_non_null(strstr(tutti_error_message(context), "\"norm\" is a batch norm"));
  tutti_network_destroy(network);
  /* The mean of two projections: the uncertainty reads both ends, and copies of them. */
  network = network_with_input(1, 1, 3);
  ends[0] = some_layers(network);
  assert_int_equal(tutti_network_add_dense(context, network, "c", ends[0], 6, TUTTI_ACTIVATION_RELU, &ends[1]),
                   TUTTI_OK);
  assert_int_equal(tutti_network_add_mean_head(context, network, 2, ends, &task), TUTTI_OK);
  assert_int_equal(tutti_network_check(context, network), TUTTI_OK);
  const struct tutti_layer *raw = labelled(network, "uncertainty/output");
  assert_int_equal(tutti_network_layer(network, raw->inputs[0])->shape.channels, 2 * (4 + 6));
  tutti_network_destroy(network);
}

static void l2_is_set_by_label(void **state) {
  (void)state;
  tutti_network *network = network_with_input(1, 1, 3);
  uint32_t layer;
  assert_int_equal(tutti_network_add_dense(context, network, "a", 0, 2, TUTTI_ACTIVATION_TANH, &layer), TUTTI_OK);
  assert_int_equal(tutti_network_add_dense(context, network, "b", layer, 2, TUTTI_ACTIVATION_LINEAR, &layer), TUTTI_OK);
  assert_int_equal(tutti_network_set_l2(context, network, "b", 0.5), TUTTI_OK);
  assert_true(isnan(tutti_layer_real(tutti_network_layer(network, 1), "l2", -1)));
  assert_true(tutti_layer_real(tutti_network_layer(network, 3), "l2", -1) == 0.5);
  assert_int_equal(tutti_network_set_l2(context, network, "b", 0), TUTTI_OK);
  assert_true(tutti_layer_real(tutti_network_layer(network, 3), "l2", -1) == 0);
  const struct {
    const char *label;
    double l2;
    const char *message;
  } cases[] = {
      {"c", 1, "no layer has the label \"c\""},
      {"a-activation", 1, "\"a-activation\" (activation) has no parameters"},
      {"a", -1, "found -1"},
      {"a", INFINITY, "found inf"},
      {"a", NAN, "found nan"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assert_int_equal(tutti_network_set_l2(context, network, cases[i].label, cases[i].l2), TUTTI_ERROR_USAGE);
    if (!strstr(tutti_error_message(context), cases[i].message))
      fail_msg("\"%s\" lacks \"%s\"", tutti_error_message(context), cases[i].message);
  }
  tutti_network_destroy(network);
}

/* Layers of different widths are projected each by itself; the head reads the mean. */
static void a_head_reads_the_mean_of_several_layers(void **state) {
  (void)state;
  struct tutti_task task = {
      .size = sizeof task, .kind = TUTTI_TASK_CLASSIFICATION, .outputs = 3, .head = TUTTI_OP_HEAD_SOFTMAX};
  tutti_network *network = network_with_input(1, 1, 4);
  uint32_t layers[2] = {0};
  assert_int_equal(tutti_network_add_dense(context, network, NULL, 0, 7, TUTTI_ACTIVATION_LINEAR, &layers[1]),
                   TUTTI_OK);
  assert_int_equal(tutti_network_add_mean_head(context, network, 2, layers, &task), TUTTI_OK);
  assert_int_equal(tutti_network_check(context, network), TUTTI_OK);
  assert_int_equal(tutti_network_layers(network), 6);
  assert_string_equal(tutti_network_layer(network, 2)->label, "output1");
  assert_int_equal(tutti_network_layer(network, 2)->parameters, 4 * 3 + 3);
  assert_int_equal(tutti_network_layer(network, 3)->parameters, 7 * 3 + 3);
  assert_int_equal(tutti_network_layer(network, 4)->op, TUTTI_OP_MEAN);
  assert_string_equal(tutti_network_layer(network, 4)->label, "output");
  assert_int_equal(tutti_network_layer(network, 5)->op, TUTTI_OP_HEAD_SOFTMAX);
  tutti_network_destroy(network);
  network = network_with_input(1, 1, 4);
  assert_int_equal(tutti_network_add_mean_head(context, network, 1, layers, &task), TUTTI_OK);
  assert_string_equal(tutti_network_layer(network, 1)->label, "output");
  tutti_network_destroy(network);
  struct tutti_task value = {.size = sizeof value, .kind = TUTTI_TASK_VALUE};
  network = network_with_input(1, 1, 4);
  assert_int_equal(tutti_network_add_mean_head(context, network, 2, layers, &value), TUTTI_ERROR_USAGE);
  tutti_network_destroy(network);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tasks_have_names),
      cmocka_unit_test(heads_follow_the_task),
      cmocka_unit_test(head_nomu_doubles_the_network),
      cmocka_unit_test(head_nomu_has_bounds_and_limits),
      cmocka_unit_test(l2_is_set_by_label),
      cmocka_unit_test(a_head_reads_the_mean_of_several_layers),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
