/* test_cpu_conv_train.c - training of convolutional networks by backend cpu: what is learnt, statistics, dropout of
   channels and paths, and memory. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "cpu_check.h"
#include "golden.h"

enum { ROWS = 90, SIZE = 9, INPUTS = 3, PIXELS = SIZE * SIZE, CLASSES = 3 };

static struct tutti_task make_task(void) {
  return (struct tutti_task){.size = sizeof(struct tutti_task),
                             .kind = TUTTI_TASK_CLASSIFICATION,
                             .input = {SIZE, SIZE, INPUTS},
                             .outputs = CLASSES,
                             .train_rows = ROWS,
                             .head = TUTTI_OP_HEAD_SOFTMAX};
}

/* Noise with a bright bar, upright, level or none: the class. */
static tutti_split *make_images(const struct tutti_task *task) {
  float *x = calloc(ROWS * PIXELS * INPUTS, sizeof *x);
  int32_t labels[ROWS];
  struct tutti_random random;
  tutti_split *split;
  tutti_random_init(&random, 7, "images", 0);
  tutti_random_fill_normal(&random, ROWS * PIXELS * INPUTS, 0, 0.5f, x);
  for (size_t r = 0; r < ROWS; r++) {
    size_t at = tutti_random_below(&random, SIZE);
    labels[r] = (int32_t)(r % CLASSES);
    for (size_t i = 0; i < SIZE && labels[r] < 2; i++)
      x[(r * PIXELS + (labels[r] == 0 ? at * SIZE + i : i * SIZE + at)) * INPUTS] += 2;
  }
  OK(tutti_split_create(context, "train", ROWS, task->input, CLASSES, x, NULL, labels, &split));
  free(x);
  return split;
}

static uint32_t convolve(tutti_network *network, uint32_t input, int32_t units, int32_t kernel, int32_t groups) {
  struct attributes a = default_attributes();
  a.units = units;
  a.kernel_height = a.kernel_width = kernel;
  a.groups = groups;
  a.bias = false;
  return OP_WITH(network, TUTTI_OP_CONV2D, &a, input);
}

static uint32_t relu(tutti_network *network, uint32_t input) {
  struct attributes a = default_attributes();
  a.activation = TUTTI_ACTIVATION_RELU;
  return OP_WITH(network, TUTTI_OP_ACTIVATION, &a, input);
}

/* A stem and a separable convolution, with what DARTS puts around them. */
static tutti_network *make_network(const struct tutti_task *task) {
  tutti_network *network = begin(task);
  uint32_t stem = OP(network, TUTTI_OP_BATCH_NORM, convolve(network, 0, 12, 3, 1));
  uint32_t across = convolve(network, relu(network, stem), 12, 3, 12);
  uint32_t last = OP(network, TUTTI_OP_BATCH_NORM, convolve(network, across, 12, 1, 1));
  struct attributes pool = default_attributes();
  pool.kernel_height = pool.kernel_width = 3;
  pool.stride = 2;
  last = OP_WITH(network, TUTTI_OP_MAX_POOL, &pool, OP(network, TUTTI_OP_ADD, last, stem));
  OK(tutti_network_add_head(context, network, OP(network, TUTTI_OP_GLOBAL_POOL, last), task));
  return network;
}

static struct cpu_plan *make_plan(const tutti_network *network, const struct tutti_task *task, size_t rows) {
  struct cpu_plan *plan;
  struct cpu_config config = make_config();
  OK(backend_cpu_plan_create(context, backend_cpu_kernels(tutti_cpu_detect()), network, task, rows, true, &plan));
  backend_cpu_weights_draw(plan, &config, 5);
  return plan;
}

static struct cpu_node *find_node(struct cpu_plan *plan, enum tutti_op op) {
  for (size_t i = 0; i < plan->node_count; i++)
    if (plan->nodes[i].op == op)
      return &plan->nodes[i];
  fail();
  return NULL;
}

/* --- what is learnt --- */

static double last_loss;

static bool watch(void *argument, const struct tutti_epoch *epoch) {
  double *first = argument;
  if (epoch->epoch == 1)
    *first = epoch->train_loss;
  last_loss = epoch->validation_loss;
  return true;
}

static void test_loss_falls(void **state) {
  (void)state;
  struct tutti_task task = make_task();
  tutti_split *split = make_images(&task);
  tutti_network *network = make_network(&task);
  struct cpu_config config = make_config();
  config.epochs = 25;
  config.batch_size = 16;
  config.l2 = 0;
  double first = 0;
  struct tutti_job job = {.size = sizeof job,
                          .seed = 1,
                          .task = &task,
                          .network = network,
                          .config = &config,
                          .train = split,
                          .validation = split,
                          .progress = watch,
                          .progress_argument = &first};
  for (int cpu = 0; cpu <= (int)tutti_cpu_detect(); cpu++) {
    const struct cpu_kernels *kernels = backend_cpu_kernels((enum tutti_cpu)cpu);
    struct tutti_outcome outcome = {.size = sizeof outcome}, again = {.size = sizeof again};
    OK(backend_cpu_train(context, kernels, &job, &outcome));
    if (outcome.state != TUTTI_STATE_FINISHED)
      fail_msg("on %s: %s", tutti_cpu_name((enum tutti_cpu)cpu), outcome.failure);
    if (!(first > 0.5 && last_loss < 0.3 * first))
      fail_msg("on %s: a loss of %g fell to %g", tutti_cpu_name((enum tutti_cpu)cpu), first, last_loss);
    OK(backend_cpu_train(context, kernels, &job, &again));
    for (size_t t = 0; t < tutti_tensors_count(outcome.weights); t++)
      assert_memory_equal(tutti_tensors_at(outcome.weights, t)->data, tutti_tensors_at(again.weights, t)->data,
                          tutti_tensors_at(again.weights, t)->bytes);
    /* A row is predicted alike alone and among others. */
    float all[ROWS * CLASSES], one[CLASSES];
    OK(backend_cpu_predict_split(context, kernels, &job, outcome.weights, split, all, NULL));
    float image[PIXELS * INPUTS];
    for (uint32_t r = 0; r < ROWS; r += 17) {
      tutti_split *alone;
      tutti_split_gather(split, 1, &r, image);
      OK(tutti_split_create(context, "alone", 1, task.input, CLASSES, image, NULL, (int32_t[]){0}, &alone));
      OK(backend_cpu_predict_split(context, kernels, &job, outcome.weights, alone, one, NULL));
      assert_memory_equal(one, all + r * CLASSES, sizeof one);
      tutti_split_destroy(alone);
    }
    tutti_tensors_destroy(outcome.weights);
    tutti_tensors_destroy(again.weights);
  }
  tutti_network_destroy(network);
  tutti_split_destroy(split);
}

/* --- as PyTorch does --- */

/* A convolution in groups with a bias, batch norm, a factorised reduction and the dense layer before the head. */
static tutti_network *make_mixed(const struct tutti_task *task) {
  tutti_network *network = begin(task);
  struct attributes a = default_attributes();
  a.units = 60;
  a.groups = INPUTS;
  uint32_t norm = OP(network, TUTTI_OP_BATCH_NORM, OP_WITH(network, TUTTI_OP_CONV2D, &a, 0));
  uint32_t reduced = OP_WITH(network, TUTTI_OP_FACTORISED_REDUCE, &a, norm);
  OK(tutti_network_add_head(context, network, OP(network, TUTTI_OP_GLOBAL_POOL, reduced), task));
  return network;
}

/* Checks that the numbers are uniform on [-range, range]. */
static void check_uniform(const float *numbers, size_t count, double range) {
  double largest = 0, squares = 0;
  for (size_t i = 0; i < count; i++) {
    largest = fmax(largest, fabs((double)numbers[i]));
    squares += (double)numbers[i] * (double)numbers[i] / (double)count;
  }
  assert_true(largest <= range * (1 + 1e-6));
  assert_close(squares, range * range / 3, 4 / sqrt((double)count), 0); /* 4.5 standard errors */
}

/* torch.nn.Conv2d and Linear draw weights and biases from +-1 / sqrt(fan_in), with the fan of the weights, that of one
   group; BatchNorm2d starts at gamma 1 and beta 0. */
static void test_pytorch_initialiser(void **state) {
  (void)state;
  struct tutti_task task = make_task();
  tutti_network *network = make_mixed(&task);
  struct cpu_plan *plan = make_plan(network, &task, ROWS);
  struct cpu_config config = make_config();
  config.initialiser = CPU_PYTORCH;
  backend_cpu_weights_draw(plan, &config, 5);
  const double ranges[] = {1 / sqrt(9), 1 / sqrt(9), 0, 0, 1 / sqrt(60), 1 / sqrt(60), 1 / sqrt(60)};
  size_t s = 0;
  for (; s < plan->segment_count && plan->segments[s].trained; s++) {
    const struct cpu_segment *segment = &plan->segments[s];
    for (size_t r = 0; r < segment->rows; r++) {
      const float *row = plan->weights + segment->offset + r * segment->ld;
      if (ranges[s] > 0 && segment->columns > CLASSES)
        check_uniform(row, segment->columns, ranges[s]);
      for (size_t c = 0; c < segment->columns; c++)
        assert_true(ranges[s] > 0 ? row[c] != 0 && fabs((double)row[c]) <= ranges[s] * (1 + 1e-6)
                                  : row[c] == (strcmp(segment->part, "gamma") == 0));
    }
  }
  assert_int_equal(s, sizeof ranges / sizeof *ranges);
  backend_cpu_plan_destroy(plan);
  tutti_network_destroy(network);
}

/* weight_decay = w of a PyTorch optimiser adds w times the parameter to every gradient, those of biases and of batch
   norm included; running statistics are not trained. */
static void test_pytorch_weight_decay(void **state) {
  (void)state;
  struct tutti_task task = make_task();
  tutti_network *network = make_mixed(&task);
  struct cpu_plan *plan = make_plan(network, &task, ROWS);
  struct cpu_config config = make_config();
  config.optimiser = CPU_SGD;
  config.l2 = 0.05; /* weight_decay = 0.1 */
  config.l2_biases = true;
  struct cpu_stepper *stepper;
  backend_cpu_decays(plan, &config);
  OK(backend_cpu_stepper_create(context, plan, &config, &stepper));
  for (size_t i = 0; i < plan->floats; i++)
    plan->weights[i] = 1;
  memset(plan->gradients, 0, plan->trained * sizeof *plan->gradients);
  backend_cpu_step(stepper, 0.5, plan->weights);
  for (size_t s = 0; s < plan->segment_count; s++)
    assert_close((double)plan->weights[plan->segments[s].offset], plan->segments[s].trained ? 0.95 : 1, 1e-6, 0);
  backend_cpu_stepper_destroy(stepper);
  backend_cpu_plan_destroy(plan);
  tutti_network_destroy(network);
}

/* --- batch norm --- */

static void test_running_statistics(void **state) {
  (void)state;
  struct tutti_task task = make_task();
  tutti_split *split = make_images(&task);
  tutti_network *network = begin(&task);
  struct attributes a = default_attributes();
  a.momentum = 0.3;
  uint32_t norm = OP_WITH(network, TUTTI_OP_BATCH_NORM, &a, 0);
  OK(tutti_network_add_head(context, network, OP(network, TUTTI_OP_GLOBAL_POOL, norm), &task));
  struct cpu_plan *plan = make_plan(network, &task, ROWS);
  const struct cpu_node *node = find_node(plan, TUTTI_OP_BATCH_NORM);
  struct cpu_draws draws = {.drop = true};
  gather_all(plan, split);
  backend_cpu_forward(plan, ROWS, &draws);
  backend_cpu_forward(plan, ROWS, &draws);
  backend_cpu_forward(plan, ROWS, NULL); /* predictions leave them alone */
  const float *x = tutti_split_inputs(split);
  for (size_t c = 0; c < INPUTS; c++) {
    double mean = 0, square = 0, count = ROWS * PIXELS;
    for (size_t i = c; i < ROWS * PIXELS * INPUTS; i += INPUTS)
      mean += (double)x[i] / count;
    for (size_t i = c; i < ROWS * PIXELS * INPUTS; i += INPUTS)
      square += pow((double)x[i] - mean, 2) / (count - 1);
    assert_close((double)plan->weights[node->mean + c], mean * (1 - 0.7 * 0.7), 1e-5, 1e-6);
    assert_close((double)plan->weights[node->variance + c], square + (1 - square) * 0.7 * 0.7, 1e-5, 1e-6);
  }
  backend_cpu_plan_destroy(plan);
  tutti_network_destroy(network);
  tutti_split_destroy(split);
}

/* A mean a thousand deviations away costs no digits. */
static void test_large_means(void **state) {
  (void)state;
  struct tutti_task task = make_task();
  tutti_network *network = begin(&task);
  uint32_t norm = OP(network, TUTTI_OP_BATCH_NORM, 0);
  OK(tutti_network_add_head(context, network, OP(network, TUTTI_OP_GLOBAL_POOL, norm), &task));
  struct cpu_plan *plan = make_plan(network, &task, ROWS);
  struct cpu_node *input = &plan->nodes[0];
  const struct cpu_node *node = find_node(plan, TUTTI_OP_BATCH_NORM);
  double mean = 0, square = 0, count = ROWS * PIXELS;
  for (size_t i = 0; i < ROWS * PIXELS; i++) {
    input->value[i * input->ld] = 1000 + sinf((float)i);
    mean += (double)input->value[i * input->ld] / count;
  }
  for (size_t i = 0; i < ROWS * PIXELS; i++)
    square += pow((double)input->value[i * input->ld] - mean, 2) / (count - 1);
  backend_cpu_forward(plan, ROWS, &(struct cpu_draws){.drop = true});
  double momentum = node->attributes->momentum;
  assert_close((double)plan->weights[node->variance], 1 + momentum * (square - 1), 1e-4, 0);
  backend_cpu_plan_destroy(plan);
  tutti_network_destroy(network);
}

/* --- dropout --- */

/* Forward through an op that drops, of inputs that are all 1; the share of numbers that are 0. */
static double dropped(enum tutti_op what, const struct attributes *a, double progress) {
  struct tutti_task task = make_task();
  tutti_network *network = begin(&task);
  uint32_t drop = OP_WITH(network, what, a, 0);
  OK(tutti_network_add_head(context, network, OP(network, TUTTI_OP_GLOBAL_POOL, drop), &task));
  struct cpu_plan *plan = make_plan(network, &task, ROWS);
  struct cpu_node *input = &plan->nodes[0];
  const struct cpu_node *node = find_node(plan, what);
  for (size_t i = 0; i < ROWS * PIXELS * input->ld; i++)
    input->value[i] = 1;
  backend_cpu_forward(plan, ROWS, &(struct cpu_draws){.drop = true, .key = 3, .step = 11, .progress = progress});
  double rate = a->rate * (a->scheduled ? progress : 1), zeros = 0;
  for (size_t r = 0; r < ROWS; r++)
    for (size_t p = 0; p < PIXELS; p++)
      for (size_t c = 0; c < INPUTS; c++) {
        const float *image = node->value + r * PIXELS * node->ld;
        double value = (double)image[p * node->ld + c];
        zeros += value == 0;
        assert_true(value == 0 || fabs(value - 1 / (1 - rate)) < 1e-6);
        if (what == TUTTI_OP_DROP_PATH)
          assert_true(value == (double)image[0]); /* all of an example, or nothing */
        else if (a->spatial)
          assert_true(value == (double)image[c]); /* all of a channel */
      }
  backend_cpu_plan_destroy(plan);
  tutti_network_destroy(network);
  return zeros / (ROWS * PIXELS * INPUTS);
}

static void test_dropout(void **state) {
  (void)state;
  struct attributes a = default_attributes();
  a.rate = 0.4;
  assert_close(dropped(TUTTI_OP_DROPOUT, &a, 0), 0.4, 0, 0.02);
  a.spatial = true;
  assert_close(dropped(TUTTI_OP_DROPOUT, &a, 0), 0.4, 0, 0.12);
  a.scheduled = false;
  assert_close(dropped(TUTTI_OP_DROP_PATH, &a, 0), 0.4, 0, 0.2);
  a.scheduled = true;
  assert_true(dropped(TUTTI_OP_DROP_PATH, &a, 0) == 0);
  double half = dropped(TUTTI_OP_DROP_PATH, &a, 0.5), all = dropped(TUTTI_OP_DROP_PATH, &a, 1);
  assert_close(half, 0.2, 0, 0.17);
  assert_true(half < all);
}

/* --- memory --- */

static void test_memory_is_shared(void **state) {
  (void)state;
  struct tutti_task task = make_task();
  tutti_network *network = begin(&task);
  uint32_t last = 0;
  for (int i = 0; i < 12; i++)
    last = convolve(network, last, 16, 3, 1);
  OK(tutti_network_add_head(context, network, OP(network, TUTTI_OP_GLOBAL_POOL, last), &task));
  struct cpu_plan *plan;
  size_t rows = 400, array = rows * PIXELS * 16 * sizeof(float);
  OK(backend_cpu_plan_create(context, backend_cpu_kernels(TUTTI_CPU_BASELINE), network, &task, rows, false, &plan));
  assert_true(plan->bytes < 3 * array);
  backend_cpu_plan_destroy(plan);
  OK(backend_cpu_plan_create(context, backend_cpu_kernels(TUTTI_CPU_BASELINE), network, &task, rows, true, &plan));
  assert_true(plan->bytes > 12 * array && plan->bytes < 15 * array); /* all values, and few gradients */
  backend_cpu_plan_destroy(plan);
  tutti_network_destroy(network);
}

static void expect_too_much(const tutti_network *network, const struct tutti_task *task, size_t rows,
                            const char *text) {
  struct cpu_plan *plan = NULL;
  assert_int_equal(
      backend_cpu_plan_create(context, backend_cpu_kernels(TUTTI_CPU_BASELINE), network, task, rows, true, &plan),
      TUTTI_ERROR_MEMORY);
  assert_null(plan);
  const char *message = tutti_error_message(context);
  if (!strstr(message, text) || !strstr(message, "rows at once need") || !strstr(message, "lower batch_size"))
    fail_msg("expected \"%s\" in: %s", text, message);
}

/* All limits that bound data bound what a step needs, too. */
static void with_limit(int resource, const tutti_network *network, const struct tutti_task *task, const char *text) {
  struct rlimit limit, low;
  assert_int_equal(getrlimit(resource, &limit), 0);
  low = limit;
  low.rlim_cur = (rlim_t)3 << 30;
  assert_int_equal(setrlimit(resource, &low), 0);
  expect_too_much(network, task, (size_t)1 << 18, text);
  assert_int_equal(setrlimit(resource, &limit), 0);
}

static void test_too_much_memory(void **state) {
  (void)state;
  struct tutti_task task = make_task();
  tutti_network *network = make_network(&task);
  expect_too_much(network, &task, (size_t)1 << 32, " MiB, and "); /* of which limit depends on the machine */
  with_limit(RLIMIT_DATA, network, &task, "what ulimit -d allows is 3072 MiB");
#if !defined(__SANITIZE_ADDRESS__)
  with_limit(RLIMIT_AS, network, &task, "what ulimit -v allows is 3072 MiB");
#endif
  tutti_network_destroy(network);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_loss_falls),           cmocka_unit_test(test_pytorch_initialiser),
      cmocka_unit_test(test_pytorch_weight_decay), cmocka_unit_test(test_running_statistics),
      cmocka_unit_test(test_large_means),          cmocka_unit_test(test_dropout),
      cmocka_unit_test(test_memory_is_shared),     cmocka_unit_test(test_too_much_memory),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
