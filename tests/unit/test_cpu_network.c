/* test_cpu_network.c - backend cpu's losses, gradients and predictions, for every op, activation and head and on every
   instruction set that this machine has, against a reference in double precision and its finite differences. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../backends/cpu/cpu_impl.h"
#include "cpu_reference.h"
#include "golden.h"

enum { FEATURES = 5, ROWS = 37 };

static tutti_context *context;

#define OK(call)                                                                                                       \
  do {                                                                                                                 \
    if ((call) != TUTTI_OK)                                                                                            \
      fail_msg("%s", tutti_error_message(context));                                                                    \
  } while (0)

static int set_up(void **state) {
  (void)state;
  return tutti_context_create(&context) != TUTTI_OK;
}

static int tear_down(void **state) {
  (void)state;
  tutti_context_destroy(context);
  return 0;
}

/* --- data, tasks --- */

static struct tutti_task make_task(enum tutti_op head, size_t outputs) {
  struct tutti_task task = {.size = sizeof task,
                            .kind = head == TUTTI_OP_HEAD_SOFTMAX ? TUTTI_TASK_CLASSIFICATION : TUTTI_TASK_REGRESSION,
                            .input = {1, 1, FEATURES},
                            .outputs = outputs,
                            .train_rows = ROWS,
                            .head = head,
                            .head_attributes = tutti_attributes_default()};
  task.head_attributes.scale = 0.5;
  task.head_attributes.floor = 1e-3;
  return task;
}

struct data {
  float inputs[ROWS * FEATURES], targets[ROWS * 3];
  int32_t labels[ROWS];
  double inputs_d[(ROWS + 64) * FEATURES], targets_d[ROWS * 3];
  tutti_split *split;
};

static struct data *make_data(const struct tutti_task *task) {
  struct data *data = calloc(1, sizeof *data);
  struct tutti_random random;
  tutti_random_init(&random, 5, "data", 0);
  tutti_random_fill_normal(&random, ROWS * FEATURES, 0, 1, data->inputs);
  tutti_random_fill_normal(&random, ROWS * 3, 0, 1, data->targets);
  for (size_t i = 0; i < ROWS * FEATURES; i++)
    data->inputs_d[i] = (double)data->inputs[i];
  for (size_t i = 0; i < ROWS * 3; i++)
    data->targets_d[i] = (double)data->targets[i];
  for (size_t i = 0; i < ROWS; i++)
    data->labels[i] = (int32_t)tutti_random_below(&random, task->outputs);
  bool classes = task->kind == TUTTI_TASK_CLASSIFICATION;
  OK(tutti_split_create(context, "train", ROWS, task->input, task->outputs, data->inputs,
                        classes ? NULL : data->targets, classes ? data->labels : NULL, &data->split));
  return data;
}

static void destroy_data(struct data *data) {
  tutti_split_destroy(data->split);
  free(data);
}

static struct cpu_config make_config(void) {
  return (struct cpu_config){.epochs = 3,
                             .batch_size = 8,
                             .optimiser = CPU_ADAM,
                             .learning_rate = 1e-2,
                             .beta1 = 0.9,
                             .beta2 = 0.999,
                             .epsilon = 1e-7,
                             .initialiser = CPU_GLOROT_UNIFORM,
                             .schedule_epochs = 1,
                             .schedule_factor = 0.5,
                             .initialiser_range = 0.5,
                             .accumulator = 0.1,
                             .l2 = 0.01};
}

/* Random weights of the network, biases and running statistics too. */
static tutti_tensors *make_weights(const tutti_network *network, const struct tutti_task *task) {
  struct cpu_plan *plan;
  tutti_tensors *weights;
  struct cpu_config config = make_config();
  OK(backend_cpu_plan_create(context, backend_cpu_kernels(TUTTI_CPU_BASELINE), network, task, 1, false, &plan));
  backend_cpu_weights_draw(plan, &config, 3);
  OK(backend_cpu_weights_write(context, plan, plan->weights, false, &weights));
  struct tutti_random random;
  tutti_random_init(&random, 6, "biases", 0);
  for (size_t t = 0; t < tutti_tensors_count(weights); t++) {
    const struct tutti_tensor *tensor = tutti_tensors_at(weights, t);
    float *values = tensor->data;
    for (size_t i = 0; tensor->rank == 1 && i < tensor->shape[0]; i++)
      values[i] += (float)(0.4 * tutti_random_uniform(&random));
  }
  backend_cpu_plan_destroy(plan);
  return weights;
}

/* --- the check itself --- */

static void check_network(const tutti_network *network, const struct tutti_task *task) {
  struct data *data = make_data(task);
  tutti_tensors *weights = make_weights(network, task);
  struct cpu_config config = make_config();
  struct tutti_job job = {
      .size = sizeof job, .seed = 9, .task = task, .network = network, .config = &config, .train = data->split};
  struct reference reference;
  reference_create(&reference, network, task, weights);
  reference.rows = ROWS;
  reference.inputs = data->inputs_d;
  reference.targets = data->targets_d;
  reference.labels = data->labels;
  reference.l2 = config.l2;
  double loss = reference_loss(&reference);
  for (int cpu = 0; cpu <= (int)tutti_cpu_detect(); cpu++) {
    const struct cpu_kernels *kernels = backend_cpu_kernels((enum tutti_cpu)cpu);
    double got;
    tutti_tensors *gradient;
    OK(backend_cpu_gradient(context, kernels, &job, weights, &got, &gradient));
    assert_close(got, loss, 2e-6, 2e-6);
    for (size_t t = 0; t < tutti_tensors_count(gradient); t++) {
      const struct tutti_tensor *tensor = tutti_tensors_at(gradient, t);
      struct reference_array *array = NULL;
      for (size_t a = 0; a < reference.array_count; a++)
        if (strcmp(reference.arrays[a].name, tensor->name) == 0)
          array = &reference.arrays[a];
      assert_non_null(array);
      assert_int_equal(array->count, tensor->bytes / sizeof(float));
      for (size_t i = 0; i < array->count; i += 1 + array->count / 60 + 4 * (size_t)cpu)
        golden_close((double)((float *)tensor->data)[i], reference_derivative(&reference, array, i), 2e-4, 5e-6,
                     tensor->name, __FILE__, __LINE__);
    }
    tutti_tensors_destroy(gradient);
    size_t width = tutti_predictions_width(task->kind, task->outputs);
    float *out = malloc(ROWS * width * sizeof *out);
    double *want = malloc(ROWS * width * sizeof *want);
    OK(backend_cpu_predict_split(context, kernels, &job, weights, data->split, out));
    reference_predict(&reference, want);
    reference.training = true;
    for (size_t i = 0; i < ROWS * width; i++)
      if (isnan(want[i]))
        assert_true(isnan(out[i]));
      else
        assert_close((double)out[i], want[i], 5e-6, 2e-6);
    free(out), free(want);
  }
  reference_destroy(&reference);
  tutti_tensors_destroy(weights);
  destroy_data(data);
}

/* --- networks --- */

static tutti_network *begin(const struct tutti_task *task) {
  tutti_network *network;
  OK(tutti_network_create(context, task->input, &network));
  return network;
}

static uint32_t dense(tutti_network *network, uint32_t input, int32_t units, enum tutti_activation activation) {
  uint32_t layer;
  OK(tutti_network_add_dense(context, network, NULL, input, units, activation, &layer));
  return layer;
}

static uint32_t op(tutti_network *network, enum tutti_op what, size_t count, const uint32_t *inputs) {
  uint32_t layer;
  struct tutti_attributes attributes = tutti_attributes_default();
  attributes.rate = 0.4;
  attributes.activation = TUTTI_ACTIVATION_CRELU;
  OK(tutti_network_add(context, network, what, NULL, count, inputs, &attributes, &layer));
  return layer;
}
#define OP(network, what, ...)                                                                                         \
  op(network, what, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), (uint32_t[]){__VA_ARGS__})

static void end(tutti_network *network, uint32_t input, const struct tutti_task *task) {
  OK(tutti_network_add_head(context, network, input, task));
  OK(tutti_network_check(context, network));
  check_network(network, task);
  tutti_network_destroy(network);
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
        task.head_attributes.variance = variance;
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
  struct tutti_attributes relu = tutti_attributes_default();
  relu.activation = TUTTI_ACTIVATION_RELU;
  uint32_t one = dense(network, 0, 16, TUTTI_ACTIVATION_RELU), merged, two;
  two = dense(network, one, 32, TUTTI_ACTIVATION_SWISH);
  uint32_t sum = OP(network, TUTTI_OP_ADD, two, dense(network, 0, 32, TUTTI_ACTIVATION_LINEAR),
                    dense(network, one, 32, TUTTI_ACTIVATION_LINEAR));
  OK(tutti_network_add(context, network, TUTTI_OP_ACTIVATION, NULL, 1, &sum, &relu, &merged));
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
    struct tutti_attributes attributes = tutti_attributes_default(), relu = tutti_attributes_default();
    attributes.affine = affine;
    relu.activation = TUTTI_ACTIVATION_RELU;
    uint32_t one = dense(network, 0, 19, TUTTI_ACTIVATION_LINEAR), layer;
    OK(tutti_network_add(context, network, TUTTI_OP_BATCH_NORM, NULL, 1, &one, &attributes, &layer));
    OK(tutti_network_add(context, network, TUTTI_OP_ACTIVATION, NULL, 1, &layer, &relu, &layer));
    uint32_t both = OP(network, TUTTI_OP_CONCAT, layer, one);
    OK(tutti_network_add(context, network, TUTTI_OP_BATCH_NORM, NULL, 1, &both, &attributes, &layer));
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
  struct tutti_attributes attributes = tutti_attributes_default();
  attributes.units = 21;
  attributes.bias = false;
  attributes.l2 = 0.3;
  uint32_t input = 0, layer;
  OK(tutti_network_add(context, network, TUTTI_OP_DENSE, NULL, 1, &input, &attributes, &layer));
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_activations), cmocka_unit_test(test_heads),
      cmocka_unit_test(test_skips),       cmocka_unit_test(test_shared_relu),
      cmocka_unit_test(test_other_ops),   cmocka_unit_test(test_batch_norm),
      cmocka_unit_test(test_detach),      cmocka_unit_test(test_no_bias_and_own_l2),
      cmocka_unit_test(test_wide),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
