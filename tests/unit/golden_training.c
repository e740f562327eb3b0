/* golden_training.c - golden losses, gradients and trajectories of whole networks, for every backend that trains. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "golden_training.h"
#include "tests/attributes.h"

#define OK(call)                                                                                                       \
  do {                                                                                                                 \
    if ((call) != TUTTI_OK)                                                                                            \
      fail_msg("%s", tutti_error_message(context));                                                                    \
  } while (0)

/* Golden names to tensors and back: golden[i] belongs to the tensor tensors[i]. */
static tutti_tensors *weights_of(tutti_context *context, const json_t *weights, size_t count, const char *const *names,
                                 const char *const *tensors) {
  tutti_tensors *made;
  OK(tutti_tensors_create(context, &made));
  for (size_t i = 0; i < count; i++) {
    size_t numbers;
    float *values = golden_floats(golden_get(weights, names[i]), &numbers), *to;
    OK(tutti_tensors_add(context, made, tensors[i], TUTTI_F32, 1, &numbers, &to));
    memcpy(to, values, numbers * sizeof *to);
    free(values);
  }
  return made;
}

static void check_tensors(const tutti_tensors *have, const json_t *want, size_t count, const char *const *names,
                          const char *const *tensors, double relative, double absolute) {
  assert_int_equal(tutti_tensors_count(have), count);
  for (size_t i = 0; i < count; i++) {
    size_t numbers;
    double *values = golden_doubles(golden_get(want, names[i]), &numbers);
    const struct tutti_tensor *tensor = tutti_tensors_find(have, tensors[i]);
    assert_non_null(tensor);
    assert_int_equal(tensor->bytes, numbers * sizeof(float));
    for (size_t k = 0; k < numbers; k++)
      golden_close((double)((float *)tensor->data)[k], values[k], relative, absolute, tensors[i], __FILE__, __LINE__);
    free(values);
  }
}

/* --- Gaussian networks --- */

enum { GAUSSIAN_ARRAYS = 6, GAUSSIAN_ROWS = 8, GAUSSIAN_FEATURES = 3 };

static const char *const gaussian_names[] = {"W1", "b1", "W2", "b2", "W3", "b3"};
static const char *const gaussian_tensors[] = {"one/weight", "one/bias",      "two/weight",
                                               "two/bias",   "output/weight", "output/bias"};

static tutti_network *gaussian_network(tutti_context *context, const struct tutti_task *task,
                                       enum tutti_activation activation) {
  tutti_network *network;
  uint32_t layer;
  OK(tutti_network_create(context, task->input, &network));
  OK(tutti_network_add_dense(context, network, "one", 0, 6, activation, &layer));
  OK(tutti_network_add_dense(context, network, "two", layer, 4, activation, &layer));
  OK(tutti_network_add_head(context, network, layer, task));
  return network;
}

/* What a job of one of these networks needs. */
struct gaussian {
  struct tutti_task task;
  tutti_network *network;
  tutti_split *split;
  tutti_tensors *weights;
  struct cpu_config config;
  struct tutti_job job;
};

static void gaussian_open(const struct golden_backend *backend, const json_t *one, struct gaussian *g) {
  tutti_context *context = backend->context;
  const bool tanh = strcmp(golden_text_of(one, "activation"), "tanh") == 0;
  float *x = golden_floats(golden_get(one, "X"), NULL), *y = golden_floats(golden_get(one, "y"), NULL);
  g->task = (struct tutti_task){.size = sizeof g->task,
                                .kind = TUTTI_TASK_REGRESSION,
                                .input = {1, 1, GAUSSIAN_FEATURES},
                                .outputs = 1,
                                .train_rows = GAUSSIAN_ROWS,
                                .head = TUTTI_OP_HEAD_GAUSSIAN,
                                .head_attributes = TUTTI_ATTRIBUTES({"scale", 1}, {"floor", 1e-6}, {"variance", true})};
  g->network = gaussian_network(context, &g->task, tanh ? TUTTI_ACTIVATION_TANH : TUTTI_ACTIVATION_RELU);
  OK(tutti_split_create(context, "train", GAUSSIAN_ROWS, g->task.input, 1, x, y, NULL, &g->split));
  g->weights = weights_of(context, golden_get(one, "weights"), GAUSSIAN_ARRAYS, gaussian_names, gaussian_tensors);
  g->config = backend->config;
  g->config.l2 = golden_number_of(one, "lambda_l2_sum_squares_all_params");
  g->config.l2_biases = true;
  g->job = (struct tutti_job){.size = sizeof g->job,
                              .task = &g->task,
                              .network = g->network,
                              .config = &g->config,
                              .train = g->split,
                              .validation = g->split};
  free(x), free(y);
}

static void gaussian_close(struct gaussian *g) {
  tutti_split_destroy(g->split);
  tutti_tensors_destroy(g->weights);
  tutti_network_destroy(g->network);
}

void golden_gaussian(const struct golden_backend *backend) {
  tutti_context *context = backend->context;
  json_t *golden = golden_load("gaussian_nll");
  for (size_t n = 0; n < 2; n++) {
    const json_t *one = golden_at(golden_get(golden, "networks"), n);
    struct gaussian g;
    tutti_tensors *gradient;
    double loss;
    gaussian_open(backend, one, &g);
    OK(backend->gradient(backend, &g.job, g.weights, &loss, &gradient));
    assert_close(loss, golden_number_of(one, "total"), 1e-6, 0);
    check_tensors(gradient, golden_get(one, "grad_total"), GAUSSIAN_ARRAYS, gaussian_names, gaussian_tensors, 1e-5,
                  2e-6);
    tutti_tensors_destroy(gradient);
    gaussian_close(&g);
  }
  json_decref(golden);
}

/* The loss of each step, which is an epoch's, is compared as it is told. */
struct watched {
  const json_t *losses;
  size_t seen;
};

static bool watch_losses(void *argument, const struct tutti_epoch *epoch) {
  struct watched *watched = argument;
  golden_close(epoch->train_loss, golden_number(golden_at(watched->losses, watched->seen)), 1e-5, 0,
               "loss before a step", __FILE__, __LINE__);
  watched->seen++;
  return true;
}

void golden_gaussian_adam(const struct golden_backend *backend) {
  tutti_context *context = backend->context;
  json_t *golden = golden_load("gaussian_nll"), *trajectories = golden_load("gaussian_adam");
  for (size_t n = 0; n < 4; n++) {
    const json_t *one = golden_at(golden_get(trajectories, "adam"), n);
    struct watched watched = {golden_get(one, "loss_before_each_step"), 0};
    struct tutti_outcome outcome = {.size = sizeof outcome};
    struct gaussian g;
    gaussian_open(backend, golden_at(golden_get(golden, "networks"), n / 2), &g);
    const bool paper = strcmp(golden_text_of(one, "placement"), "paper") == 0;
    g.config.optimiser = CPU_ADAM;
    g.config.epsilon_placement = paper ? CPU_EPSILON_PAPER : CPU_EPSILON_KERAS;
    g.config.epsilon = golden_number_of(one, "epsilon");
    g.config.learning_rate = golden_number_of(one, "lr");
    g.config.epochs = (int)golden_number_of(one, "steps");
    g.config.batch_size = 0;
    g.config.keep = CPU_KEEP_LAST;
    g.job.initial = g.weights;
    g.job.progress = watch_losses;
    g.job.progress_argument = &watched;
    OK(backend->train(backend, &g.job, &outcome));
    assert_int_equal(watched.seen, g.config.epochs);
    check_tensors(outcome.weights, golden_get(one, "final_params"), GAUSSIAN_ARRAYS, gaussian_names, gaussian_tensors,
                  1e-5, 5e-6);
    tutti_tensors_destroy(outcome.weights);
    gaussian_close(&g);
  }
  json_decref(golden);
  json_decref(trajectories);
}

/* --- NOMU's network --- */

struct tutti_task golden_nomu_task(void) {
  return (struct tutti_task){.size = sizeof(struct tutti_task),
                             .kind = TUTTI_TASK_REGRESSION,
                             .input = {1, 1, GOLDEN_NOMU_FEATURES},
                             .outputs = 1,
                             .train_rows = GOLDEN_NOMU_ROWS,
                             .head = TUTTI_OP_HEAD_NOMU};
}

tutti_network *golden_nomu_network(tutti_context *context, const struct tutti_task *task, const json_t *config,
                                   uint32_t artificial, bool stop_gradient) {
  tutti_network *network;
  uint32_t f, r, mean, raw, joined;
  struct attributes a = default_attributes(), head = a;
  double lambda_f = golden_number_of(config, "lambda_f"), lambda_r = golden_number_of(config, "lambda_r");
  head.pi_sqr = golden_number_of(config, "pi_sqr");
  head.pi_exp = golden_number_of(config, "pi_exp");
  head.c_exp = golden_number_of(config, "c_exp");
  head.stable = json_is_string(golden_get(config, "stable"));
  head.artificial = (int32_t)artificial;
  OK(tutti_network_create(context, task->input, &network));
  const struct {
    const char *label;
    int32_t units;
    double l2;
    uint32_t *layer;
    bool hidden;
  } dense[] = {{"f1", 5, lambda_f, &f, true}, {"f2", 4, lambda_f, &f, true},     {"r1", 3, lambda_r, &r, true},
               {"r2", 3, lambda_r, &r, true}, {"f3", 1, lambda_f, &mean, false}, {"r3", 1, lambda_r, &raw, false}};
  f = r = 0;
  for (size_t i = 0; i < 6; i++) {
    uint32_t from = *dense[i].layer;
    if (i == 4)
      from = f;
    if (i == 5) {
      uint32_t left = f;
      if (stop_gradient)
        OK(add_with(context, network, TUTTI_OP_DETACH, NULL, 1, &f, &a, &left));
      OK(add_with(context, network, TUTTI_OP_CONCAT, NULL, 2, (uint32_t[]){left, r}, &a, &joined));
      from = joined;
    }
    a = default_attributes();
    a.units = dense[i].units;
    a.l2 = dense[i].l2;
    a.activation = TUTTI_ACTIVATION_RELU;
    OK(add_with(context, network, TUTTI_OP_DENSE, dense[i].label, 1, &from, &a, dense[i].layer));
    if (dense[i].hidden) {
      from = *dense[i].layer;
      OK(add_with(context, network, TUTTI_OP_ACTIVATION, NULL, 1, &from, &a, dense[i].layer));
    }
  }
  OK(add_with(context, network, TUTTI_OP_HEAD_NOMU, NULL, 2, (uint32_t[]){mean, raw}, &head, NULL));
  OK(tutti_network_check(context, network));
  return network;
}

static const char *const nomu_names[] = {"f_W1", "f_b1", "f_W2", "f_b2", "f_W3", "f_b3",
                                         "r_W1", "r_b1", "r_W2", "r_b2", "r_W3", "r_b3"};
static const char *const nomu_tensors[] = {"f1/weight", "f1/bias", "f2/weight", "f2/bias", "f3/weight", "f3/bias",
                                           "r1/weight", "r1/bias", "r2/weight", "r2/bias", "r3/weight", "r3/bias"};

tutti_tensors *golden_nomu_weights(tutti_context *context, const json_t *golden) {
  return weights_of(context, golden_get(golden, "weights"), GOLDEN_NOMU_ARRAYS, nomu_names, nomu_tensors);
}

void golden_nomu_check(const tutti_tensors *have, const json_t *want, double relative, double absolute) {
  check_tensors(have, want, GOLDEN_NOMU_ARRAYS, nomu_names, nomu_tensors, relative, absolute);
}

/* Backends draw their artificial points: a number of [0, 1) for each feature says where in the box it lies. So there is
   a box for which one point lies at a given place. With this seed's numbers, about 1/2, it holds all rows, too. */
enum { POINT_SEED = 281, BOX_WIDTH = 6 };

static void box_around(const float *place, float *box) {
  struct tutti_random random;
  tutti_random_init(&random, POINT_SEED, "artificial points", 0);
  for (size_t f = 0; f < GOLDEN_NOMU_FEATURES; f++) {
    float part;
    tutti_random_fill_uniform(&random, 1, 0, 1, &part);
    box[f] = place[f] - part * BOX_WIDTH;
    box[GOLDEN_NOMU_FEATURES + f] = box[f] + BOX_WIDTH;
  }
}

/* Loss and gradient of ten golden points are the means of those of one point at each place. */
static double mean_over_places(const struct golden_backend *backend, struct tutti_job job, const json_t *golden,
                               tutti_tensors *weights, tutti_tensors **gradient) {
  tutti_context *context = backend->context;
  float *places = golden_floats(golden_get(golden, "x_artificial"), NULL), box[2 * GOLDEN_NOMU_FEATURES];
  double mean = 0;
  *gradient = NULL;
  job.seed = POINT_SEED;
  job.box = box;
  for (size_t i = 0; i < GOLDEN_NOMU_ARTIFICIAL; i++) {
    tutti_tensors *one;
    double loss;
    box_around(places + i * GOLDEN_NOMU_FEATURES, box);
    OK(backend->gradient(backend, &job, weights, &loss, &one));
    mean += loss / GOLDEN_NOMU_ARTIFICIAL;
    for (size_t a = 0; a < tutti_tensors_count(one); a++) {
      const struct tutti_tensor *part = tutti_tensors_at(one, a);
      float *to = (float *)tutti_tensors_at(*gradient ? *gradient : one, a)->data;
      for (size_t k = 0; k < part->bytes / sizeof *to; k++)
        to[k] = (*gradient ? to[k] : 0) + ((const float *)part->data)[k] / GOLDEN_NOMU_ARTIFICIAL;
    }
    if (*gradient)
      tutti_tensors_destroy(one);
    else
      *gradient = one;
  }
  free(places);
  return mean;
}

void golden_nomu(const struct golden_backend *backend) {
  tutti_context *context = backend->context;
  json_t *golden = golden_load("nomu_loss");
  struct tutti_task task = golden_nomu_task();
  float *x = golden_floats(golden_get(golden, "x_train"), NULL);
  float *y = golden_floats(golden_get(golden, "y_train"), NULL);
  tutti_tensors *weights = golden_nomu_weights(context, golden), *gradient;
  tutti_split *split;
  OK(tutti_split_create(context, "train", GOLDEN_NOMU_ROWS, task.input, 1, x, y, NULL, &split));
  struct cpu_config config = backend->config;
  config.l2_biases = true;
  for (size_t n = 0; n < 3; n++) {
    const json_t *one = golden_at(golden_get(golden, "cases"), n);
    bool stop = strncmp(golden_text_of(one, "variant"), "stop", 4) == 0;
    tutti_network *network = golden_nomu_network(context, &task, golden_get(one, "config"), 1, stop);
    struct tutti_job job = {.size = sizeof job, .task = &task, .network = network, .config = &config, .train = split};
    double loss = mean_over_places(backend, job, golden, weights, &gradient);
    assert_close(loss, golden_number_of(golden_get(one, "loss"), "total"), 2e-6, 0);
    golden_nomu_check(gradient, golden_get(golden_get(one, "grad"), "total"), 5e-6, 2e-5);
    tutti_tensors_destroy(gradient);
    tutti_network_destroy(network);
  }
  tutti_tensors_destroy(weights);
  tutti_split_destroy(split);
  free(x), free(y);
  json_decref(golden);
}
