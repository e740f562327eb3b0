/* test_cpu_network.c - backend cpu's losses, gradients and predictions on tables, for every op, activation and head. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cpu_check.h"

enum { FEATURES = 5, ROWS = 37 };

static struct tutti_task make_task(enum tutti_op head, size_t outputs) {
  static const struct tutti_attribute gaussian[] = {{"scale", 0.5}, {"floor", 1e-3}, {NULL, 0}};
  struct tutti_task task = {.size = sizeof task,
                            .kind = head == TUTTI_OP_HEAD_SOFTMAX ? TUTTI_TASK_CLASSIFICATION : TUTTI_TASK_REGRESSION,
                            .input = {1, 1, FEATURES},
                            .outputs = outputs,
                            .train_rows = ROWS,
                            .head = head};
  task.head_attributes = head == TUTTI_OP_HEAD_GAUSSIAN ? gaussian : NULL;
  return task;
}

static void test_activations(void **state) {
  (void)state;
  for (int a = 0; a < TUTTI_ACTIVATION_COUNT; a++) {
    struct tutti_task task = make_task(TUTTI_OP_HEAD_GAUSSIAN, 1);
    tutti_network *network = begin(&task);
    uint32_t first = dense(network, 0, 17, (enum tutti_activation)a);
    end(network, dense(network, first, 3, (enum tutti_activation)a), &task);
  }
}

static void test_heads(void **state) {
  (void)state;
  const enum tutti_op heads[] = {TUTTI_OP_HEAD_SOFTMAX, TUTTI_OP_HEAD_GAUSSIAN, TUTTI_OP_HEAD_LINEAR};
  for (size_t h = 0; h < 3; h++)
    for (size_t outputs = 1; outputs <= 3; outputs++)
      for (int variance = 0; variance < (heads[h] == TUTTI_OP_HEAD_GAUSSIAN ? 2 : 1); variance++) {
        struct tutti_task task = make_task(heads[h], outputs);
        const struct tutti_attribute variances[] = {{"scale", 0.5}, {"floor", 1e-3}, {"variance", true}, {NULL, 0}};
        if (variance)
          task.head_attributes = variances;
        tutti_network *network = begin(&task);
        end(network, dense(network, 0, 33, TUTTI_ACTIVATION_TANH), &task);
        network = begin(&task);
        end(network, 0, &task); /* no hidden layer */
      }
}

/* AutoDEUQ's way: projections where widths differ, sums, a ReLU behind each sum. */
static void test_skips(void **state) {
  (void)state;
  struct tutti_task task = make_task(TUTTI_OP_HEAD_GAUSSIAN, 2);
  tutti_network *network = begin(&task);
  struct attributes relu = default_attributes();
  relu.activation = TUTTI_ACTIVATION_RELU;
  uint32_t one = dense(network, 0, 16, TUTTI_ACTIVATION_RELU), merged, two;
  two = dense(network, one, 32, TUTTI_ACTIVATION_SWISH);
  uint32_t sum = OP(network, TUTTI_OP_ADD, two, dense(network, 0, 32, TUTTI_ACTIVATION_LINEAR),
                    dense(network, one, 32, TUTTI_ACTIVATION_LINEAR));
  OK(add_with(context, network, TUTTI_OP_ACTIVATION, NULL, 1, &sum, &relu, &merged));
  uint32_t three = dense(network, merged, 32, TUTTI_ACTIVATION_RELU);
  uint32_t again = OP(network, TUTTI_OP_ADD, three, merged, two);
  end(network, dense(network, again, 128, TUTTI_ACTIVATION_GELU), &task);
}

/* A ReLU whose gradient comes from two products, and one whose last writer is no product. */
static void test_shared_relu(void **state) {
  (void)state;
  struct tutti_task task = make_task(TUTTI_OP_HEAD_LINEAR, 1);
  tutti_network *network = begin(&task);
  uint32_t shared = dense(network, 0, 20, TUTTI_ACTIVATION_RELU);
  uint32_t left = dense(network, shared, 20, TUTTI_ACTIVATION_RELU),
           right = dense(network, shared, 20, TUTTI_ACTIVATION_TANH);
  uint32_t sum = OP(network, TUTTI_OP_ADD, left, right, right, shared);
  end(network, OP(network, TUTTI_OP_CONCAT, sum, left), &task);
}

static void test_other_ops(void **state) {
  (void)state;
  struct tutti_task task = make_task(TUTTI_OP_HEAD_GAUSSIAN, 1);
  tutti_network *network = begin(&task);
  uint32_t one = dense(network, 0, 9, TUTTI_ACTIVATION_LINEAR), flat = OP(network, TUTTI_OP_FLATTEN, 0);
  uint32_t crelu = OP(network, TUTTI_OP_ACTIVATION, one);           /* 18 */
  uint32_t joined = OP(network, TUTTI_OP_CONCAT, crelu, flat, one); /* 32 */
  uint32_t two = dense(network, OP(network, TUTTI_OP_DROPOUT, joined), 9, TUTTI_ACTIVATION_SIGMOID);
  uint32_t path = OP(network, TUTTI_OP_DROP_PATH, two), same = OP(network, TUTTI_OP_IDENTITY, one);
  uint32_t mean = OP(network, TUTTI_OP_MEAN, path, same, one), nothing = OP(network, TUTTI_OP_ZERO, one);
  uint32_t sum = OP(network, TUTTI_OP_ADD, mean, nothing, two);
  uint32_t crelu_again = OP(network, TUTTI_OP_ACTIVATION, sum);
  end(network, OP(network, TUTTI_OP_CONCAT, crelu_again, sum, sum), &task);
}

static void test_batch_norm(void **state) {
  (void)state;
  for (int affine = 0; affine < 2; affine++) {
    struct tutti_task task = make_task(TUTTI_OP_HEAD_LINEAR, 2);
    tutti_network *network = begin(&task);
    struct attributes attributes = default_attributes(), relu = default_attributes();
    attributes.affine = affine;
    relu.activation = TUTTI_ACTIVATION_RELU;
    uint32_t one = dense(network, 0, 19, TUTTI_ACTIVATION_LINEAR), layer;
    OK(add_with(context, network, TUTTI_OP_BATCH_NORM, NULL, 1, &one, &attributes, &layer));
    OK(add_with(context, network, TUTTI_OP_ACTIVATION, NULL, 1, &layer, &relu, &layer));
    uint32_t both = OP(network, TUTTI_OP_CONCAT, layer, one);
    OK(add_with(context, network, TUTTI_OP_BATCH_NORM, NULL, 1, &both, &attributes, &layer));
    end(network, layer, &task);
  }
}

static void test_detach(void **state) {
  (void)state;
  struct tutti_task task = make_task(TUTTI_OP_HEAD_GAUSSIAN, 1);
  tutti_network *network = begin(&task);
  uint32_t one = dense(network, 0, 8, TUTTI_ACTIVATION_TANH);
  uint32_t cut = OP(network, TUTTI_OP_DETACH, one), aside = dense(network, cut, 8, TUTTI_ACTIVATION_TANH);
  end(network, OP(network, TUTTI_OP_ADD, aside, one), &task);
  /* Nothing behind the cut learns. */
  network = begin(&task);
  one = dense(network, 0, 8, TUTTI_ACTIVATION_RELU);
  end(network, OP(network, TUTTI_OP_DETACH, OP(network, TUTTI_OP_IDENTITY, one)), &task);
}

static void test_no_bias_and_own_l2(void **state) {
  (void)state;
  struct tutti_task task = make_task(TUTTI_OP_HEAD_SOFTMAX, 3);
  tutti_network *network = begin(&task);
  struct attributes attributes = default_attributes();
  attributes.units = 21;
  attributes.bias = false;
  attributes.l2 = 0.3;
  uint32_t input = 0, layer;
  OK(add_with(context, network, TUTTI_OP_DENSE, NULL, 1, &input, &attributes, &layer));
  end(network, layer, &task);
}

static void test_wide(void **state) {
  (void)state;
  struct tutti_task task = make_task(TUTTI_OP_HEAD_GAUSSIAN, 1);
  tutti_network *network = begin(&task);
  uint32_t one = dense(network, 0, 128, TUTTI_ACTIVATION_RELU);
  end(network, dense(network, one, 16, TUTTI_ACTIVATION_RELU), &task);
  /* More units than go backward at once. */
  network = begin(&task);
  one = dense(network, 0, 6, TUTTI_ACTIVATION_RELU);
  end(network, OP(network, TUTTI_OP_CONCAT, dense(network, one, 530, TUTTI_ACTIVATION_TANH), one), &task);
}

/* head-nomu on the network of a space, in all its variants: one output and two, the connection with its gradient and
   without, noise and bounds. Squares of both branches of the stable form occur. */
static void test_nomu(void **state) {
  (void)state;
  static const struct variant {
    double stable, noise, variance, through_noise, bounds, readout;
    bool gradient;
  } variants[] = {
      {.gradient = true},
      {.gradient = false},
      {.stable = 1, .gradient = true},
      {.readout = TUTTI_NOMU_READOUT_LINEAR},
      {.noise = TUTTI_NOMU_NOISE_LEARNT},
      {.noise = TUTTI_NOMU_NOISE_LEARNT, .variance = 1},
      {.noise = TUTTI_NOMU_NOISE_LEARNT, .through_noise = 1, .gradient = true, .stable = 1},
      {.noise = TUTTI_NOMU_NOISE_KNOWN},
      {.bounds = TUTTI_NOMU_BOUNDS_LOWER},
      {.bounds = TUTTI_NOMU_BOUNDS_UPPER, .stable = 1},
      {.bounds = TUTTI_NOMU_BOUNDS_BOTH},
  };
  for (size_t outputs = 1; outputs <= 2; outputs++)
    for (size_t v = 0; v < sizeof variants / sizeof variants[0]; v++) {
      const struct variant *is = &variants[v];
      struct tutti_task task = make_task(TUTTI_OP_HEAD_NOMU, outputs);
      task.head_attributes = TUTTI_ATTRIBUTES(
          {"pi_sqr", 0.7}, {"pi_exp", 5}, {"c_exp", 1.5}, {"margin", 0.1}, {"artificial", 13}, {"l_max", 1.2},
          {"stable", is->stable}, {"noise", is->noise}, {"variance", is->variance}, {"known_noise", 0.6},
          {"scale", 0.8}, {"through_noise", is->through_noise}, {"bounds", is->bounds}, {"readout", is->readout});
      task.connection_gradient = is->gradient;
      task.uncertainty_l2 = 0.05;
      tutti_network *network = begin(&task);
      uint32_t one = dense(network, 0, 9, TUTTI_ACTIVATION_TANH);
      end(network, OP(network, TUTTI_OP_ADD, dense(network, one, 9, TUTTI_ACTIVATION_SWISH), one), &task);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_activations), cmocka_unit_test(test_heads),
      cmocka_unit_test(test_skips),       cmocka_unit_test(test_shared_relu),
      cmocka_unit_test(test_other_ops),   cmocka_unit_test(test_batch_norm),
      cmocka_unit_test(test_detach),      cmocka_unit_test(test_no_bias_and_own_l2),
      cmocka_unit_test(test_wide),        cmocka_unit_test(test_nomu),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
