/* test_cuda.c - the block engine of backend cuda on an emulated GPU, beside backend cpu: the same losses, step by
   step, for random networks of every space of tables, and with all that a job may ask for. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <stdio.h>
#include <tutti/tutti.h>

#include "backends/cpu/cpu_impl.h"
#include "cuda_tables.h"
#include "tests/watched.h"

/* What all jobs are given beside their parameters. */
static const char *const *frozen;
static const float *box;
static const double *class_weights;

static struct tutti_job job_of(struct side *side, const tutti_network *network, uint64_t seed) {
  struct tutti_job job = side_job(side, network, seed);
  job.frozen = frozen;
  job.box = box;
  job.class_weights = class_weights;
  return job;
}

static struct tutti_outcome train_side(struct side *side, const tutti_network *network, uint64_t seed) {
  return side_train(side, job_of(side, network, seed));
}

enum { NUMBERS = TABLES_HELD * (2 * TABLES_OUTPUTS + TABLES_CLASSES) };

/* Predict, with what is the network's own behind the predictions if it tells; the number of both. */
static size_t predict_side(const struct side *side, const struct tutti_job *job, const tutti_tensors *weights,
                           float *out) {
  size_t numbers = TABLES_HELD * tutti_predictions_width(task.kind, task.outputs);
  if (!tutti_backend_tells_epistemic(side->backend, job)) {
    OK(tutti_backend_predict(context, side->backend, job, weights, validation, out));
    return numbers;
  }
  OK(tutti_backend_predict_parts(context, side->backend, job, weights, validation, out, out + numbers));
  return numbers + TABLES_HELD * tutti_epistemic_width(task.kind, task.outputs);
}

/* Whose weights they are does not matter to a prediction. */
static void compare_predictions(const char *what, const tutti_network *network, uint64_t seed,
                                const tutti_tensors *weights) {
  float a[2 * NUMBERS], b[2 * NUMBERS];
  struct tutti_job job = job_of(&cpu, network, seed), other = job_of(&cuda, network, seed);
  size_t numbers = predict_side(&cpu, &job, weights, a);
  assert_int_equal(predict_side(&cuda, &other, weights, b), numbers);
  for (size_t i = 0; i < numbers; i++)
    require_close(what, i, "prediction", (double)a[i], (double)b[i], 1e-5);
}

/* Both sides train; every epoch's losses agree, and predictions of what is kept. */
static void compare(const char *what, const tutti_network *network, uint64_t seed, double most) {
  struct tutti_outcome made = compare_sides(what, job_of(&cpu, network, seed), most);
  assert_int_equal(made.state, TUTTI_STATE_FINISHED);
  compare_predictions(what, network, seed, made.weights);
  tutti_tensors_destroy(made.weights);
}

/* --- random networks --- */

static void test_trajectories(void **state) {
  static const enum tutti_op heads[] = {TUTTI_OP_HEAD_GAUSSIAN, TUTTI_OP_HEAD_SOFTMAX, TUTTI_OP_HEAD_LINEAR,
                                        TUTTI_OP_HEAD_NOMU};
  (void)state;
  const char *wanted = getenv("TUTTI_TEST_NETWORKS");
  size_t networks = wanted ? strtoul(wanted, NULL, 10) : 4;
  for (size_t s = 0; s < TABLES_SPACES; s++) {
    tutti_space *space = open_space(tables_spaces[s].plugin, tables_spaces[s].set);
    for (size_t i = 0; i < networks; i++) {
      char what[512];
      const char *training = tables_trainings[(i + 4 * s) % TABLES_TRAININGS];
      tables_task(heads[(i + s) % 4]);
      tutti_network *network = sample(space, "networks of test_cuda", i);
      (void)snprintf(what, sizeof what, "%s %zu, %s", tables_spaces[s].plugin, i, training);
      configure(training);
      compare(what, network, 100 + i, 1e-4);
      tutti_network_destroy(network);
    }
    tutti_space_destroy(space);
  }
  assert_true(sensitive * 3 <= networks * TABLES_SPACES);
}

/* --- what a job may set --- */

static tutti_network *relu_pair(void) {
  tutti_network *network;
  uint32_t layer;
  OK(tutti_network_create(context, task.input, &network));
  OK(tutti_network_add_dense(context, network, "first", 0, 11, TUTTI_ACTIVATION_RELU, &layer));
  OK(tutti_network_add_dense(context, network, "second", layer, 9, TUTTI_ACTIVATION_RELU, &layer));
  OK(tutti_network_add_head(context, network, layer, &task));
  return network;
}

/* Layers that keep their weights, the box of artificial points, and classes that count differently. */
static void test_members(void **state) {
  static const char *const first[] = {"first", NULL}, *const second[] = {"second", NULL};
  static const double rare[TABLES_CLASSES] = {0.5, 1.25, 2.5};
  static const float wide[2 * TABLES_FEATURES] = {-6, -7, -6, -7, -6, 6, 7, 8, 6, 7};
  (void)state;
  configure("epochs=20 batch_size=16 learning_rate=0.002 l2=1e-3 label_smoothing=0.2");
  for (size_t i = 0; i < 4; i++) {
    tables_task(i == 3 ? TUTTI_OP_HEAD_NOMU : i == 2 ? TUTTI_OP_HEAD_SOFTMAX : TUTTI_OP_HEAD_GAUSSIAN);
    tutti_network *network = relu_pair();
    frozen = i == 0 ? first : i == 1 ? second : NULL;
    class_weights = i == 2 ? rare : NULL;
    box = i == 3 ? wide : NULL;
    compare("a job of its own", network, 40 + i, 1e-4);
    /* It is another training than without. */
    double loss = cuda.losses[19][0];
    frozen = NULL, class_weights = NULL, box = NULL;
    struct tutti_outcome plain = train_side(&cuda, network, 40 + i);
    assert_true(fabs(cuda.losses[19][0] - loss) > 1e-3 * fabs(loss));
    tutti_tensors_destroy(plain.weights);
    tutti_network_destroy(network);
  }
}

/* --- inputs that are left out --- */

/* The last features of a table are left out by the layers that read it, in training, in predictions and in the weights
   that are written, so that whoever reads all inputs predicts the same. */
static void test_encodings(void **state) {
  static const enum tutti_op heads[] = {TUTTI_OP_HEAD_GAUSSIAN, TUTTI_OP_HEAD_SOFTMAX, TUTTI_OP_HEAD_NOMU};
  (void)state;
  for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
    tables_task(heads[i]);
    task.encodings = 2;
    tutti_network *network = relu_pair();
    configure("epochs=20 batch_size=16 learning_rate=0.002 l2=1e-3 encodings=false");
    compare("inputs that are left out", network, 50 + i, 1e-4);
    struct tutti_outcome without = train_side(&cuda, network, 50 + i);
    double loss = cuda.losses[19][0];
    configure("epochs=20 batch_size=16 learning_rate=0.002 l2=1e-3");
    float some[NUMBERS], all[NUMBERS];
    struct tutti_job job = job_of(&cuda, network, 50 + i);
    struct cpu_config narrow = *(const struct cpu_config *)job.config;
    OK(tutti_backend_predict(context, cuda.backend, &job, without.weights, validation, all));
    narrow.encodings = false;
    job.config = &narrow;
    OK(tutti_backend_predict(context, cuda.backend, &job, without.weights, validation, some));
    for (size_t k = 0; k < TABLES_HELD * tutti_predictions_width(task.kind, task.outputs); k++)
      require_close("who reads all inputs", k, "prediction", (double)all[k], (double)some[k], 1e-6);
    /* It is another training than with them. */
    struct tutti_outcome with = train_side(&cuda, network, 50 + i);
    assert_true(fabs(cuda.losses[19][0] - loss) > 1e-3 * fabs(loss));
    tutti_tensors_destroy(with.weights);
    tutti_tensors_destroy(without.weights);
    tutti_network_destroy(network);
  }
}

/* A layer that cannot leave them out is named, as by backend cpu. */
static void test_encodings_refused(void **state) {
  tutti_network *network;
  uint32_t layer = 0;
  (void)state;
  task.encodings = 2;
  configure("encodings=false");
  OK(tutti_network_create(context, task.input, &network));
  OK(tutti_network_add(context, network, TUTTI_OP_BATCH_NORM, "first", 1, &layer, NULL, &layer));
  OK(tutti_network_add_head(context, network, layer, &task));
  struct tutti_job job = job_of(&cuda, network, 1);
  must_fail(tutti_backend_check(context, cuda.backend, &job), "layer first (batch-norm) reads the inputs");
  tutti_network_destroy(network);
}

/* --- averages of weights --- */

/* Batch norm between dense layers. */
static tutti_network *normed(void) {
  tutti_network *network;
  uint32_t layer;
  OK(tutti_network_create(context, task.input, &network));
  OK(tutti_network_add_dense(context, network, NULL, 0, 13, TUTTI_ACTIVATION_SWISH, &layer));
  OK(tutti_network_add(context, network, TUTTI_OP_BATCH_NORM, NULL, 1, &layer, NULL, &layer));
  OK(tutti_network_add_dense(context, network, NULL, layer, 9, TUTTI_ACTIVATION_TANH, &layer));
  OK(tutti_network_add_head(context, network, layer, &task));
  return network;
}

/* The average over the last epochs is validated and kept, batch norms are measured with it, and training goes on
   from the weights themselves: as backend cpu has it. */
static void test_average(void **state) {
  static const char *const trainings_of[] = {
      "epochs=20 batch_size=16 optimiser=adam learning_rate=0.002 average=0.25",
      "epochs=21 batch_size=16 optimiser=sgd momentum=0.9 learning_rate=0.0003 average=0.5 keep=last",
      "epochs=12 batch_size=0 optimiser=adam learning_rate=0.002 average=1 gradient_clip=1",
      "epochs=12 batch_size=8 optimiser=adam learning_rate=0.001 average=1e-9 keep=last"};
  (void)state;
  for (size_t i = 0; i < 8; i++) {
    const char *training = trainings_of[i % 4];
    tables_task(i < 4 ? TUTTI_OP_HEAD_GAUSSIAN : TUTTI_OP_HEAD_NOMU);
    tutti_network *network = i < 4 ? normed() : relu_pair();
    configure(training);
    compare(training, network, 80 + i, 1e-4);
    tutti_network_destroy(network);
  }
}

/* It differs from what the last epoch leaves, and the training of these epochs does not. */
static void test_average_differs(void **state) {
  (void)state;
  tutti_network *network = relu_pair();
  configure("epochs=8 batch_size=16 learning_rate=0.01 keep=last");
  struct tutti_outcome plain = train_side(&cuda, network, 90);
  double first = cuda.losses[3][1], train_loss = cuda.losses[7][0], validated = cuda.losses[7][1];
  configure("epochs=8 batch_size=16 learning_rate=0.01 keep=last average=0.5");
  struct tutti_outcome averaged = train_side(&cuda, network, 90);
  assert_true(cuda.losses[3][1] == first && cuda.losses[7][0] == train_loss);
  assert_true(fabs(cuda.losses[7][1] - validated) > 1e-4);
  assert_false(same_weights(plain.weights, averaged.weights));
  tutti_tensors_destroy(plain.weights);
  tutti_tensors_destroy(averaged.weights);
  tutti_network_destroy(network);
}

/* --- weights that are kept before their step --- */

/* Those of the best training loss: as backend cpu keeps them, and what the training up to the step before ends with. */
static void test_measured(void **state) {
  float out[2][NUMBERS];
  (void)state;
  tutti_network *network = relu_pair();
  configure("epochs=20 batch_size=0 learning_rate=0.05 keep=measured");
  struct tutti_job job = side_job(&cuda, network, 91);
  job.validation = NULL;
  struct tutti_outcome measured = side_train(&cuda, job), other = side_train(&cpu, job);
  assert_true(measured.best_epoch > 2 && measured.best_epoch < 20); /* or nothing is tested */
  assert_int_equal(measured.best_epoch, other.best_epoch);
  OK(tutti_backend_predict(context, cpu.backend, &job, measured.weights, validation, out[0]));
  OK(tutti_backend_predict(context, cpu.backend, &job, other.weights, validation, out[1]));
  for (size_t i = 0; i < TABLES_HELD * tutti_predictions_width(task.kind, task.outputs); i++)
    require_close("measured", i, "prediction", (double)out[0][i], (double)out[1][i], 1e-3);
  tutti_tensors_destroy(other.weights);
  char before[96];
  (void)snprintf(before, sizeof before, "epochs=%u batch_size=0 learning_rate=0.05 keep=last", measured.best_epoch - 1);
  configure(before);
  other = side_train(&cuda, job);
  assert_true(same_weights(measured.weights, other.weights));
  tutti_tensors_destroy(other.weights);
  tutti_tensors_destroy(measured.weights);
  tutti_network_destroy(network);
}

/* --- artificial points on a grid --- */

/* One input. */
static void test_grid(void **state) {
  static const float ends[] = {-2, 3}, x[] = {-1, 0.25f, 2}, y[] = {0.5f, -1, 3, 1, 0, -1};
  uint32_t outputs[2];
  tutti_network *network;
  (void)state;
  tables_task(TUTTI_OP_HEAD_NOMU);
  task.input = (struct tutti_shape){1, 1, 1};
  tutti_split_destroy(train);
  OK(tutti_split_create(context, "train", 3, task.input, task.outputs, x, y, NULL, &train));
  OK(tutti_network_create(context, task.input, &network));
  for (size_t i = 0; i < 2; i++)
    OK(tutti_network_add_dense(context, network, i == 0 ? "f" : "r", 0, TABLES_OUTPUTS, TUTTI_ACTIVATION_TANH,
                               &outputs[i]));
  OK(tutti_network_add(context, network, TUTTI_OP_HEAD_NOMU, NULL, 2, outputs,
                       TUTTI_ATTRIBUTES({"artificial", 13}, {"points", TUTTI_NOMU_POINTS_GRID}), NULL));
  configure("epochs=30 batch_size=0 learning_rate=0.01");
  struct tutti_job job = side_job(&cuda, network, 92);
  job.validation = NULL;
  job.box = ends;
  struct tutti_outcome one = side_train(&cuda, job), other = side_train(&cpu, job);
  for (size_t e = 0; e < 30; e++)
    require_close("a grid", e, "training loss", cuda.losses[e][0], cpu.losses[e][0], 1e-5);
  tutti_tensors_destroy(one.weights);
  tutti_tensors_destroy(other.weights);
  tutti_network_destroy(network);
}

/* --- draws of dropout --- */

/* Dropout, and a path that is dropped. */
static tutti_network *dropping(void) {
  tutti_network *network;
  uint32_t layer, ends[2];
  OK(tutti_network_create(context, task.input, &network));
  OK(tutti_network_add_dense(context, network, NULL, 0, 21, TUTTI_ACTIVATION_TANH, &layer));
  OK(tutti_network_add_dropout(context, network, NULL, layer, 0.3, &ends[0]));
  OK(tutti_network_add_dense(context, network, NULL, ends[0], 21, TUTTI_ACTIVATION_RELU, &layer));
  OK(tutti_network_add(context, network, TUTTI_OP_DROP_PATH, NULL, 1, &layer, TUTTI_ATTRIBUTES({"rate", 0.4}),
                       &ends[1]));
  OK(tutti_network_add(context, network, TUTTI_OP_ADD, NULL, 2, ends, NULL, &layer));
  OK(tutti_network_add_head(context, network, layer, &task));
  return network;
}

static void test_draws(void **state) {
  static const enum tutti_op heads[] = {TUTTI_OP_HEAD_GAUSSIAN, TUTTI_OP_HEAD_SOFTMAX, TUTTI_OP_HEAD_LINEAR,
                                        TUTTI_OP_HEAD_NOMU};
  (void)state;
  for (size_t h = 0; h < 4; h++) {
    tables_task(heads[h]);
    tutti_network *network = dropping();
    configure("epochs=5");
    struct tutti_outcome outcome = train_side(&cpu, network, 60 + h);
    configure("epochs=5 prediction_draws=7");
    compare_predictions("draws of dropout", network, 60 + h, outcome.weights);
    tutti_tensors_destroy(outcome.weights);
    tutti_network_destroy(network);
  }
}

/* --- arrays that have no room in shared memory --- */

/* Widths that fill no tile, a mask, a gradient of two parts; weights that a device with little shared memory leaves in
   its own. */
static tutti_network *wide_network(void) {
  tutti_network *network;
  uint32_t first, second, third, sum;
  OK(tutti_network_create(context, task.input, &network));
  OK(tutti_network_add_dense(context, network, NULL, 0, 161, TUTTI_ACTIVATION_SWISH, &first));
  OK(tutti_network_add_dense(context, network, NULL, first, 133, TUTTI_ACTIVATION_RELU, &second));
  OK(tutti_network_add_dense(context, network, NULL, second, 161, TUTTI_ACTIVATION_LINEAR, &third));
  OK(tutti_network_add(context, network, TUTTI_OP_ADD, NULL, 2, (const uint32_t[]){first, third}, NULL, &sum));
  OK(tutti_network_add_dense(context, network, NULL, sum, 70, TUTTI_ACTIVATION_TANH, &sum));
  OK(tutti_network_add_head(context, network, sum, &task));
  return network;
}

/* Products go by way of shared memory; those of one row, of up to four, and of more have ways of their own. */
static void test_far(void **state) {
  static const int batches[] = {1, 3, 6, 21, 0};
  (void)state;
  emulate("TUTTI_EMULATED_SHARED", "130");
  emulate("TUTTI_EMULATED_THREADS", "256");
  tutti_network *network = wide_network();
  for (size_t i = 0; i < sizeof batches / sizeof batches[0]; i++) {
    char training[128];
    (void)snprintf(training, sizeof training, "epochs=3 batch_size=%d learning_rate=0.0003 %s", batches[i],
                   i % 2 == 0 ? "l2=1e-4" : "gradient_clip=0.01 gradient_clip_by=variable optimiser=sgd");
    configure(training);
    make_cuda_again("far");
    compare(training, network, i, 1e-5);
  }
  tutti_network_destroy(network);
  emulate("TUTTI_EMULATED_SHARED", NULL);
  emulate("TUTTI_EMULATED_THREADS", NULL);
}

/* --- stopping --- */

/* A job that is stopped has the weights of the best epoch so far, whatever others do. */
static void test_stopped(void **state) {
  (void)state;
  configure("epochs=9 batch_size=16");
  tutti_network *network = tables_network(12);
  cpu.stop_after = cuda.stop_after = 3;
  struct tutti_outcome one = train_side(&cpu, network, 1), other = train_side(&cuda, network, 1);
  assert_int_equal(other.state, TUTTI_STATE_PRUNED);
  assert_int_equal(other.epochs, 3);
  assert_int_equal(other.best_epoch, one.best_epoch);
  assert_int_equal(other.steps, one.steps);
  tutti_tensors_destroy(one.weights);
  tutti_tensors_destroy(other.weights);
  tutti_network_destroy(network);
}

static void test_diverged(void **state) {
  (void)state;
  configure("epochs=9 batch_size=16 optimiser=sgd learning_rate=1e30");
  tutti_network *network = tables_network(12);
  struct tutti_outcome one = train_side(&cpu, network, 1), other = train_side(&cuda, network, 1);
  assert_int_equal(one.state, TUTTI_STATE_FAILED);
  assert_int_equal(other.state, TUTTI_STATE_FAILED);
  assert_non_null(strstr(other.failure, "lower the learning rate 1e+30, or clip gradients"));
  tutti_network_destroy(network);
}

/* --- what goes wrong --- */

static void test_refused(void **state) {
  static const char *const lacks[][2] = {
      {"optimiser=lbfgs", "backend.optimiser = lbfgs: backend cuda does not have it"},
      {"augment_flip=true", "backend.augment_flip: backend cuda"}};
  (void)state;
  tutti_network *network = tables_network(4);
  for (size_t i = 0; i < sizeof lacks / sizeof lacks[0]; i++) {
    configure(lacks[i][0]);
    struct tutti_job job = job_of(&cuda, network, 1);
    must_fail(tutti_backend_check(context, cuda.backend, &job), lacks[i][1]);
  }
  tutti_network_destroy(network);
}

/* A kernel that fails fails its trials with the runtime's words. */
static void test_broken_kernel(void **state) {
  struct tutti_outcome outcome = {.size = sizeof outcome};
  (void)state;
  needs_emulation();
  configure("epochs=2");
  tutti_network *network = tables_network(4);
  struct tutti_job job = job_of(&cuda, network, 1);
  emulate("TUTTI_EMULATED_FAULT", "always");
  OK(tutti_backend_train(context, cuda.backend, &job, &outcome));
  emulate("TUTTI_EMULATED_FAULT", NULL);
  assert_int_equal(outcome.state, TUTTI_STATE_FAILED);
  assert_string_equal(outcome.failure, "CUDA: the training kernel failed: unspecified launch failure (error 719)");
  tutti_network_destroy(network);
}

int main(void) {
  if (watched_by_valgrind()) {
    puts("skipped: valgrind does not follow threads of the emulated GPU, which change stacks");
    return 77;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_trajectories, tables_begin, tables_end),
      cmocka_unit_test_setup_teardown(test_members, tables_begin, tables_end),
      cmocka_unit_test_setup_teardown(test_encodings, tables_begin, tables_end),
      cmocka_unit_test_setup_teardown(test_encodings_refused, tables_begin, tables_end),
      cmocka_unit_test_setup_teardown(test_average, tables_begin, tables_end),
      cmocka_unit_test_setup_teardown(test_average_differs, tables_begin, tables_end),
      cmocka_unit_test_setup_teardown(test_measured, tables_begin, tables_end),
      cmocka_unit_test_setup_teardown(test_grid, tables_begin, tables_end),
      cmocka_unit_test_setup_teardown(test_draws, tables_begin, tables_end),
      cmocka_unit_test_setup_teardown(test_far, tables_begin, tables_end),
      cmocka_unit_test_setup_teardown(test_stopped, tables_begin, tables_end),
      cmocka_unit_test_setup_teardown(test_diverged, tables_begin, tables_end),
      cmocka_unit_test_setup_teardown(test_refused, tables_begin, tables_end),
      cmocka_unit_test_setup_teardown(test_broken_kernel, tables_begin, tables_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
