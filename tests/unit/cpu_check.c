/* cpu_check.c - see cpu_check.h. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cpu_check.h"
#include "cpu_levels.h"
#include "cpu_reference.h"
#include "golden.h"

tutti_context *context;

int set_up(void **state) {
  (void)state;
  return tutti_context_create(&context) != TUTTI_OK;
}

int tear_down(void **state) {
  (void)state;
  tutti_context_destroy(context);
  return 0;
}

/* --- data --- */

static size_t features_of(const struct tutti_task *task) {
  return (size_t)task->input.height * (size_t)task->input.width * (size_t)task->input.channels;
}

struct data {
  float *inputs, *targets;
  int32_t *labels;
  double *inputs_d, *targets_d;
  tutti_split *split;
};

static struct data *make_data(const struct tutti_task *task) {
  struct data *data = calloc(1, sizeof *data);
  size_t rows = task->train_rows, numbers = rows * features_of(task), outputs = rows * task->outputs;
  data->inputs = calloc(numbers, sizeof *data->inputs);
  data->inputs_d = calloc(numbers, sizeof *data->inputs_d);
  data->targets = calloc(outputs, sizeof *data->targets);
  data->targets_d = calloc(outputs, sizeof *data->targets_d);
  data->labels = calloc(rows, sizeof *data->labels);
  struct tutti_random random;
  tutti_random_init(&random, 5, "data", 0);
  tutti_random_fill_normal(&random, numbers, 0, 1, data->inputs);
  tutti_random_fill_normal(&random, outputs, 0, 1, data->targets);
  for (size_t i = 0; i < numbers; i++)
    data->inputs_d[i] = (double)data->inputs[i];
  for (size_t i = 0; i < outputs; i++)
    data->targets_d[i] = (double)data->targets[i];
  for (size_t i = 0; i < rows; i++)
    data->labels[i] = (int32_t)tutti_random_below(&random, task->outputs);
  bool classes = task->kind == TUTTI_TASK_CLASSIFICATION;
  OK(tutti_split_create(context, "train", rows, task->input, task->outputs, data->inputs,
                        classes ? NULL : data->targets, classes ? data->labels : NULL, &data->split));
  return data;
}

static void destroy_data(struct data *data) {
  tutti_split_destroy(data->split);
  free(data->inputs), free(data->inputs_d), free(data->targets), free(data->targets_d), free(data->labels);
  free(data);
}

struct cpu_config make_config(void) {
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

struct cpu_plan *plan_to_train(const tutti_network *network, const struct tutti_task *task, enum tutti_cpu cpu,
                               const struct cpu_config *config) {
  struct cpu_plan *plan;
  const struct tutti_job job = {.size = sizeof job, .task = task, .network = network, .config = config};
  OK(backend_cpu_plan_create_job(context, backend_cpu_kernels(cpu), &job, task->train_rows, &plan));
  backend_cpu_weights_draw(plan, config, 5);
  return plan;
}

void gather_all(struct cpu_plan *plan, const tutti_split *split) {
  size_t count = tutti_split_rows(split);
  uint32_t *rows = malloc(count * sizeof *rows);
  assert_non_null(rows);
  for (size_t r = 0; r < count; r++)
    rows[r] = (uint32_t)r;
  backend_cpu_gather(plan, split, count, rows, NULL, true);
  free(rows);
}

double pass_all(struct cpu_plan *plan, const tutti_split *split) {
  size_t rows = tutti_split_rows(split);
  unsigned kept = backend_cpu_enter();
  gather_all(plan, split);
  backend_cpu_forward(plan, rows, &(struct cpu_draws){.drop = true});
  double loss = backend_cpu_loss(plan, rows, true);
  backend_cpu_backward(plan, rows);
  backend_cpu_leave(kept);
  return loss;
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

enum { CPUS = TUTTI_CPU_AVX512 + 1 };

static void check_predictions(struct reference *reference, const struct tutti_job *job, enum tutti_cpu cpu,
                              const tutti_tensors *weights, const tutti_split *split) {
  size_t rows = tutti_split_rows(split), width = tutti_predictions_width(job->task->kind, job->task->outputs);
  float *out = malloc(rows * width * sizeof *out);
  double *want = malloc(rows * width * sizeof *want);
  OK(backend_cpu_predict_split(context, backend_cpu_kernels(cpu), job, weights, split, out, NULL));
  reference_predict(reference, want);
  reference->training = true;
  for (size_t i = 0; i < rows * width; i++)
    if (!isnan(want[i]))
      assert_close_told((double)out[i], want[i], 5e-6, 2e-6, "on %s: prediction %zu of row %zu", tutti_cpu_name(cpu),
                        i % width, i / width);
    else if (!isnan(out[i]))
      fail_msg("on %s: prediction %zu of row %zu: %g, expected no number", tutti_cpu_name(cpu), i % width, i / width,
               (double)out[i]);
  free(out), free(want);
}

/* About `probes` numbers of each array. */
static void check_gradients(struct reference *reference, tutti_tensors *const gradients[CPUS], size_t probes) {
  for (size_t t = 0; t < tutti_tensors_count(gradients[0]); t++) {
    const char *name = tutti_tensors_at(gradients[0], t)->name;
    struct reference_array *array = NULL;
    for (size_t a = 0; a < reference->array_count; a++)
      if (strcmp(reference->arrays[a].name, name) == 0)
        array = &reference->arrays[a];
    assert_non_null(array);
    for (size_t i = 0; i < array->count; i += 1 + array->count / probes) {
      double want = reference_derivative(reference, array, i);
      for (size_t cpu = 0; cpu < CPUS && gradients[cpu]; cpu++) {
        const struct tutti_tensor *tensor = tutti_tensors_find(gradients[cpu], name);
        assert_int_equal(array->count, tensor->bytes / sizeof(float));
        assert_close_told((double)((float *)tensor->data)[i], want, 2e-4, 5e-6, "on %s: gradient %zu of %s",
                          tutti_cpu_name((enum tutti_cpu)cpu), i, name);
      }
    }
  }
}

/* The artificial points that backend cpu draws first for a job: uniform in the box of the data, which is wider by the
   margin. They go behind the rows of inputs_d. */
static size_t add_artificial(const tutti_network *network, const struct tutti_task *task, uint64_t seed,
                             struct data *data) {
  const struct tutti_layer *head = tutti_network_layer(network, tutti_network_layers(network) - 1);
  size_t rows = task->train_rows, features = features_of(task);
  size_t count = (size_t)tutti_layer_integer(head, "artificial", 0);
  float margin = (float)tutti_layer_real(head, "margin", 0), value;
  struct tutti_random random;
  tutti_random_init(&random, seed, "artificial points", 0);
  data->inputs_d = realloc(data->inputs_d, (rows + count) * features * sizeof *data->inputs_d);
  for (size_t i = 0; i < count * features; i++) {
    float low = data->inputs[i % features], high = low;
    for (size_t r = 1; r < rows; r++) {
      low = fminf(low, data->inputs[r * features + i % features]);
      high = fmaxf(high, data->inputs[r * features + i % features]);
    }
    float wider = margin * (high - low);
    tutti_random_fill_uniform(&random, 1, low - wider, high + wider, &value);
    data->inputs_d[rows * features + i] = (double)value;
  }
  return count;
}

void check_network(const tutti_network *network, const struct tutti_task *task) {
  struct data *data = make_data(task);
  tutti_tensors *weights = make_weights(network, task);
  struct cpu_config config = make_config();
  size_t rows = task->train_rows;
  struct tutti_job job = {
      .size = sizeof job, .seed = 9, .task = task, .network = network, .config = &config, .train = data->split};
  struct reference reference;
  reference_create(&reference, network, task, weights);
  reference.rows = rows;
  if (task->head == TUTTI_OP_HEAD_NOMU)
    reference.artificial = add_artificial(network, task, job.seed, data);
  reference.inputs = data->inputs_d;
  reference.targets = data->targets_d;
  reference.labels = data->labels;
  reference.l2 = config.l2;
  double loss = reference_loss(&reference);
  tutti_tensors *gradients[CPUS] = {NULL};
  for (int cpu = 0; cpu <= (int)tutti_cpu_detect(); cpu++) {
    const struct cpu_kernels *kernels = backend_cpu_kernels((enum tutti_cpu)cpu);
    double got;
    OK(backend_cpu_gradient(context, kernels, &job, weights, &got, &gradients[cpu]));
    assert_close_told(got, loss, 2e-6, 2e-6, "on %s: loss", tutti_cpu_name((enum tutti_cpu)cpu));
    check_predictions(&reference, &job, (enum tutti_cpu)cpu, weights, data->split);
  }
  check_gradients(&reference, gradients, task->input.height > 1 ? 8 : 60);
  for (size_t cpu = 0; cpu < CPUS; cpu++)
    tutti_tensors_destroy(gradients[cpu]);
  reference_destroy(&reference);
  tutti_tensors_destroy(weights);
  destroy_data(data);
}

/* --- training --- */

/* Change all weights with random signs, each array by the same length, and compare the change of the loss: as predicted
   by the gradient, and as in the reference. */
static void check_direction(struct reference *reference, const tutti_tensors *gradient, enum tutti_cpu cpu,
                            size_t step) {
  const double h = 1e-7;
  double want = 0, got = 0, length = 0;
  for (int side = 0; side < 2; side++) {
    struct tutti_random random;
    tutti_random_init(&random, step, "signs", 0);
    for (size_t t = 0; t < tutti_tensors_count(gradient); t++) {
      const struct tutti_tensor *tensor = tutti_tensors_at(gradient, t);
      const float *g = tensor->data;
      struct reference_array *array = NULL;
      double squares = 1e-30;
      for (size_t a = 0; a < reference->array_count; a++)
        if (strcmp(reference->arrays[a].name, tensor->name) == 0)
          array = &reference->arrays[a];
      assert_non_null(array);
      for (size_t i = 0; i < array->count; i++)
        squares += (double)g[i] * (double)g[i];
      for (size_t i = 0; i < array->count; i++) {
        double change = (tutti_random_below(&random, 2) ? 1 : -1) * (double)g[i] / sqrt(squares);
        array->values[i] += (side ? -2 * h : h) * change;
        got += side ? 0 : change * (double)g[i];
      }
      length += side ? 0 : sqrt(squares);
    }
    want += (side ? -1 : 1) * reference_loss(reference) / (2 * h);
  }
  if (!(fabs(got - want) < 1e-4 * length))
    fail_msg("on %s, step %zu: along a direction the loss falls by %.9g, not by %.9g; the gradients' lengths are %.9g",
             tutti_cpu_name(cpu), step, want, got, length);
}

static void check_step(struct cpu_plan *plan, const tutti_network *network, const struct tutti_task *task,
                       const struct data *data, double loss, enum tutti_cpu cpu, size_t step) {
  tutti_tensors *weights, *gradient;
  struct reference reference;
  OK(backend_cpu_weights_write(context, plan, plan->weights, false, &weights));
  OK(backend_cpu_weights_write(context, plan, plan->gradients, true, &gradient));
  reference_create(&reference, network, task, weights);
  reference.rows = task->train_rows;
  reference.inputs = data->inputs_d;
  reference.labels = data->labels;
  assert_close_told(loss, reference_loss(&reference), 2e-6, 2e-6, "on %s, step %zu: loss", tutti_cpu_name(cpu), step);
  check_direction(&reference, gradient, cpu, step);
  reference_destroy(&reference);
  tutti_tensors_destroy(weights);
  tutti_tensors_destroy(gradient);
}

void check_training(const tutti_network *network, const struct tutti_task *task, size_t steps) {
  struct data *data = make_data(task);
  struct cpu_config config = {.optimiser = CPU_SGD, .learning_rate = 0.1, .momentum = 0.9};
  size_t rows = task->train_rows;
  uint32_t *order = calloc(rows, sizeof *order);
  for (size_t r = 0; r < rows; r++)
    order[r] = (uint32_t)r;
  for (int cpu = 0; cpu <= (int)tutti_cpu_detect(); cpu++) {
    struct cpu_plan *plan;
    struct cpu_stepper *stepper;
    struct cpu_draws draws = {.drop = true};
    OK(backend_cpu_plan_create(context, backend_cpu_kernels((enum tutti_cpu)cpu), network, task, rows, true, &plan));
    backend_cpu_weights_draw(plan, &config, 3);
    backend_cpu_decays(plan, &config);
    OK(backend_cpu_stepper_create(context, plan, &config, &stepper));
    for (size_t s = 0; s < steps; s++, draws.step++) {
      backend_cpu_gather(plan, data->split, rows, order, NULL, true);
      backend_cpu_forward(plan, rows, &draws);
      double loss = backend_cpu_loss(plan, rows, true);
      backend_cpu_backward(plan, rows);
      check_step(plan, network, task, data, loss, (enum tutti_cpu)cpu, s);
      backend_cpu_step(stepper, config.learning_rate, plan->weights);
    }
    backend_cpu_stepper_destroy(stepper);
    backend_cpu_plan_destroy(plan);
  }
  free(order);
  destroy_data(data);
}

/* --- networks --- */

tutti_network *begin(const struct tutti_task *task) {
  tutti_network *network;
  OK(tutti_network_create(context, task->input, &network));
  return network;
}

uint32_t dense(tutti_network *network, uint32_t input, int32_t units, enum tutti_activation activation) {
  uint32_t layer;
  OK(tutti_network_add_dense(context, network, NULL, input, units, activation, &layer));
  return layer;
}

struct attributes op_attributes(void) {
  struct attributes attributes = default_attributes();
  attributes.rate = 0.4;
  attributes.activation = TUTTI_ACTIVATION_CRELU;
  return attributes;
}

uint32_t op(tutti_network *network, enum tutti_op what, size_t count, const uint32_t *inputs,
            const struct attributes *given) {
  uint32_t layer;
  struct attributes attributes = given ? *given : op_attributes();
  OK(add_with(context, network, what, NULL, count, inputs, &attributes, &layer));
  return layer;
}

void end(tutti_network *network, uint32_t input, const struct tutti_task *task) {
  OK(tutti_network_add_head(context, network, input, task));
  OK(tutti_network_check(context, network));
  check_network(network, task);
  tutti_network_destroy(network);
}
