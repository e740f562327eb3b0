/* test_cuda.c - backend cuda on an emulated GPU, beside backend cpu: the same losses, step by step, for random
   networks of every space of tables; the same bits alone and among others, in every order of the threads; and what
   goes wrong on a device. */
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
#include "cuda_sides.h"
#include "tests/watched.h"

enum { FEATURES = 5, ROWS = 45, HELD = 19, OUTPUTS = 2, CLASSES = 3 };

static size_t sensitive; /* networks that amplify these beyond the tolerance */
/* What all jobs are given beside that. */
static const char *const *frozen;
static const float *box;
static const double *class_weights;

/* --- the setting --- */

static tutti_split *make_split(const char *name, size_t rows, uint64_t index) {
  struct tutti_random random;
  float *inputs = calloc(rows * FEATURES, sizeof *inputs), *targets = calloc(rows * OUTPUTS, sizeof *targets);
  int32_t *labels = calloc(rows, sizeof *labels);
  tutti_split *split;
  bool classes = task.kind == TUTTI_TASK_CLASSIFICATION;
  tutti_random_init(&random, 5, "rows of test_cuda", index);
  tutti_random_fill_normal(&random, rows * FEATURES, 0, 1, inputs);
  for (size_t r = 0; r < rows; r++) {
    const float *x = inputs + r * FEATURES;
    targets[r * OUTPUTS] = sinf(2 * x[0]) + 0.2f * (float)tutti_random_normal(&random);
    targets[r * OUTPUTS + 1] = x[1] * x[2];
    labels[r] = x[0] > 0.4f ? 2 : x[1] > 0;
  }
  OK(tutti_split_create(context, name, rows, task.input, task.outputs, inputs, classes ? NULL : targets,
                        classes ? labels : NULL, &split));
  free(inputs), free(targets), free(labels);
  return split;
}

static void make_task(enum tutti_op head) {
  static const struct tutti_attribute nomu[] = {{"pi_sqr", 0.5},    {"pi_exp", 0.5}, {"c_exp", 3}, {"margin", 0.2},
                                                {"artificial", 13}, {"l_min", 0.5},  {NULL, 0}};
  bool classes = head == TUTTI_OP_HEAD_SOFTMAX;
  tutti_split_destroy(train);
  tutti_split_destroy(validation);
  task = (struct tutti_task){.size = sizeof task,
                             .kind = classes ? TUTTI_TASK_CLASSIFICATION : TUTTI_TASK_REGRESSION,
                             .input = {1, 1, FEATURES},
                             .outputs = classes ? CLASSES : OUTPUTS,
                             .train_rows = ROWS,
                             .head = head,
                             .head_attributes = head == TUTTI_OP_HEAD_NOMU ? nomu : NULL};
  train = make_split("train", ROWS, 0);
  validation = make_split("validation", HELD, 1);
}

static int begin(void **state) {
  (void)state;
  open_sides(make_task, TUTTI_OP_HEAD_GAUSSIAN);
  return 0;
}

static int end(void **state) {
  (void)state;
  close_sides();
  return 0;
}

/* --- trainings --- */

static struct tutti_job job_of(struct side *side, const tutti_network *network, uint64_t seed) {
  return (struct tutti_job){.size = sizeof(struct tutti_job),
                            .run_seed = 7,
                            .seed = seed,
                            .task = &task,
                            .network = network,
                            .config = tutti_config_values(side->config),
                            .train = train,
                            .validation = validation,
                            .progress = watch,
                            .progress_argument = side,
                            .frozen = frozen,
                            .box = box,
                            .class_weights = class_weights};
}

static struct tutti_outcome train_side(struct side *side, const tutti_network *network, uint64_t seed) {
  struct tutti_job job = job_of(side, network, seed);
  struct cpu_config config = *(const struct cpu_config *)job.config;
  if (side == &twin)
    config.learning_rate *= 1 + 3e-7;
  job.config = &config;
  struct tutti_outcome outcome = {.size = sizeof outcome};
  side->epochs = 0;
  OK(tutti_backend_train(context, side->backend, &job, &outcome));
  return outcome;
}

enum { FIRST_EPOCHS = 5, NUMBERS = HELD * (2 * OUTPUTS + CLASSES) };

/* Predict, with what is the network's own behind the predictions if it tells; the number of both. */
static size_t predict_side(const struct side *side, const struct tutti_job *job, const tutti_tensors *weights,
                           float *out) {
  size_t numbers = HELD * tutti_predictions_width(task.kind, task.outputs);
  if (!tutti_backend_tells_epistemic(side->backend, job)) {
    OK(tutti_backend_predict(context, side->backend, job, weights, validation, out));
    return numbers;
  }
  OK(tutti_backend_predict_parts(context, side->backend, job, weights, validation, out, out + numbers));
  return numbers + HELD * tutti_epistemic_width(task.kind, task.outputs);
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

/* Both sides train; every epoch's losses agree, and predictions of what is kept. Networks whose losses jump amplify a
   change of the last bit until nothing agrees any more: these may differ by ten times what they differ from a twin on
   backend cpu, whose learning rate is changed by 3e-7 of it. So may, by 1e-3, one that met a ReLU's kink after the
   first
   epochs, where a last bit decides whether a unit is on. Both are counted. */
static void compare(const char *what, const tutti_network *network, uint64_t seed, double most) {
  struct tutti_outcome one = train_side(&cpu, network, seed), other = train_side(&cuda, network, seed);
  struct tutti_outcome third = train_side(&twin, network, seed);
  if (one.state != TUTTI_STATE_FINISHED || other.state != TUTTI_STATE_FINISHED)
    fail_msg("%s: cpu %s, cuda %s", what, one.failure, other.failure);
  assert_int_equal(cpu.epochs, cuda.epochs);
  bool amplifies = false;
  for (size_t e = 0; e < cpu.epochs; e++)
    for (size_t k = 0; k < 2; k++) {
      double apart = 10 * fabs(twin.losses[e][k] - cpu.losses[e][k]);
      double off = fabs(cuda.losses[e][k] - cpu.losses[e][k]) / fmax(1, fabs(cpu.losses[e][k]));
      if (e >= FIRST_EPOCHS && off > apart)
        apart = fmin(off, 1e-3);
      amplifies = amplifies || apart > most;
      most = fmax(most, apart);
      require_close(what, e, k == 0 ? "training loss" : "validation loss", cpu.losses[e][k], cuda.losses[e][k], most);
    }
  sensitive += amplifies;
  if (amplifies && getenv("TUTTI_TEST_NETWORKS"))
    print_message("sensitive: %s\n", what);
  assert_int_equal(one.steps, other.steps);
  assert_int_equal(one.epochs, other.epochs);
  compare_predictions(what, network, seed, other.weights);
  tutti_tensors_destroy(one.weights);
  tutti_tensors_destroy(other.weights);
  tutti_tensors_destroy(third.weights);
}

/* --- random networks --- */

/* Optimisers with what else a training may have; 200 steps each, with as many reports as steps where all rows are a
   batch. */
static const char *const trainings[] = {
    "epochs=200 batch_size=0 optimiser=adam learning_rate=0.0002",
    "epochs=34 batch_size=8 optimiser=sgd momentum=0.9 nesterov=true learning_rate=0.003 l2=1e-4",
    "epochs=200 batch_size=0 optimiser=rmsprop momentum=0.5 learning_rate=0.0001 schedule=cosine",
    "epochs=34 batch_size=8 optimiser=adagrad learning_rate=0.01 schedule=step schedule_epochs=8",
    "epochs=34 batch_size=8 optimiser=nadam learning_rate=0.001 gradient_clip=0.5",
    "epochs=34 batch_size=8 optimiser=adamax learning_rate=0.001 gradient_clip=0.2 gradient_clip_by=variable l2=1e-3",
    "epochs=34 batch_size=8 optimiser=adadelta learning_rate=0.5 schedule=plateau schedule_epochs=3 keep=last",
    "epochs=34 batch_size=8 optimiser=adam epsilon_placement=paper initialiser=he-normal shuffle=run l2=1e-3 "
    "l2_biases=true",
};

static const struct {
  const char *plugin;
  const char *const (*set)[2];
} spaces[] = {{"dense-skip", (const char *const[][2]){{"nodes", "3"}, {"widths", "16 24 7"}, {NULL, NULL}}},
              {"mlp", (const char *const[][2]){{"dropout", "0 0.1 0.3"}, {NULL, NULL}}},
              {"mlp2", (const char *const[][2]){{"units", "1 30"}, {NULL, NULL}}},
              {"layer-graph-mlp", (const char *const[][2]){{"min_units", "4"}, {"max_units", "24"}, {NULL, NULL}}}};

static void test_trajectories(void **state) {
  static const enum tutti_op heads[] = {TUTTI_OP_HEAD_GAUSSIAN, TUTTI_OP_HEAD_SOFTMAX, TUTTI_OP_HEAD_LINEAR,
                                        TUTTI_OP_HEAD_NOMU};
  (void)state;
  const char *wanted = getenv("TUTTI_TEST_NETWORKS");
  size_t networks = wanted ? strtoul(wanted, NULL, 10) : 4;
  for (size_t s = 0; s < sizeof spaces / sizeof spaces[0]; s++) {
    tutti_space *space = open_space(spaces[s].plugin, spaces[s].set);
    for (size_t i = 0; i < networks; i++) {
      char what[512];
      const char *training = trainings[(i + 4 * s) % (sizeof trainings / sizeof trainings[0])];
      make_task(heads[(i + s) % 4]);
      tutti_network *network = sample(space, "networks of test_cuda", i);
      (void)snprintf(what, sizeof what, "%s %zu, %s", spaces[s].plugin, i, training);
      configure(training);
      compare(what, network, 100 + i, 1e-4);
      tutti_network_destroy(network);
    }
    tutti_space_destroy(space);
  }
  assert_true(sensitive * 3 <= networks * sizeof spaces / sizeof spaces[0]);
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
  static const double rare[CLASSES] = {0.5, 1.25, 2.5};
  static const float wide[2 * FEATURES] = {-6, -7, -6, -7, -6, 6, 7, 8, 6, 7};
  (void)state;
  configure("epochs=20 batch_size=16 learning_rate=0.002 l2=1e-3");
  for (size_t i = 0; i < 4; i++) {
    make_task(i == 3 ? TUTTI_OP_HEAD_NOMU : i == 2 ? TUTTI_OP_HEAD_SOFTMAX : TUTTI_OP_HEAD_GAUSSIAN);
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
    make_task(heads[i]);
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
    for (size_t k = 0; k < HELD * tutti_predictions_width(task.kind, task.outputs); k++)
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
    make_task(i < 4 ? TUTTI_OP_HEAD_GAUSSIAN : TUTTI_OP_HEAD_NOMU);
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
    make_task(heads[h]);
    tutti_network *network = dropping();
    configure("epochs=5");
    struct tutti_outcome outcome = train_side(&cpu, network, 60 + h);
    configure("epochs=5 prediction_draws=7");
    compare_predictions("draws of dropout", network, 60 + h, outcome.weights);
    tutti_tensors_destroy(outcome.weights);
    tutti_network_destroy(network);
  }
}

/* --- alone and among others --- */

enum { POOL = 7 };

/* A network of `width` units with batch norm and dropout, so that every kind of sum and draw is there. */
static tutti_network *hand_made(int32_t width) {
  tutti_network *network;
  uint32_t layer;
  OK(tutti_network_create(context, task.input, &network));
  OK(tutti_network_add_dense(context, network, NULL, 0, width, TUTTI_ACTIVATION_SWISH, &layer));
  OK(tutti_network_add(context, network, TUTTI_OP_BATCH_NORM, NULL, 1, &layer, NULL, &layer));
  OK(tutti_network_add_dropout(context, network, NULL, layer, 0.2, &layer));
  OK(tutti_network_add_dense(context, network, NULL, layer, 9, TUTTI_ACTIVATION_TANH, &layer));
  OK(tutti_network_add_head(context, network, layer, &task));
  return network;
}

static struct tutti_outcome train_alone(const tutti_network *network, uint64_t seed) {
  struct tutti_outcome outcome = train_side(&cuda, network, seed);
  if (outcome.state != TUTTI_STATE_FINISHED)
    fail_msg("%s", outcome.failure);
  return outcome;
}

/* Networks of different sizes, one of them too large for shared memory. */
static void test_pool(void **state) {
  static const int32_t widths[POOL] = {5, 40, 3, 300, 17, 8, 64};
  struct tutti_outcome together[POOL], *outcomes[POOL];
  struct tutti_job jobs[POOL];
  const struct tutti_job *pointers[POOL];
  tutti_network *networks[POOL];
  unsigned ends[POOL] = {0};
  (void)state;
  configure("epochs=4 batch_size=16 gradient_clip=1 early_stopping=3");
  for (size_t i = 0; i < POOL; i++) {
    networks[i] = hand_made(widths[i]);
    jobs[i] = job_of(&cuda, networks[i], i);
    jobs[i].progress = NULL;
    together[i] = (struct tutti_outcome){.size = sizeof together[i]};
    outcomes[i] = &together[i];
    pointers[i] = &jobs[i];
  }
  OK(tutti_backend_train_many(context, cuda.backend, POOL, pointers, outcomes, count_end, ends));
  emulate("TUTTI_EMULATED_SEED", "99");
  emulate("TUTTI_EMULATED_THREADS", "128");
  make_cuda_again("another");
  for (size_t i = 0; i < POOL; i++) {
    struct tutti_outcome alone = train_alone(networks[i], i);
    assert_int_equal(ends[i], 1);
    assert_int_equal(together[i].state, TUTTI_STATE_FINISHED);
    assert_int_equal(together[i].best_epoch, alone.best_epoch);
    if (!same_weights(together[i].weights, alone.weights))
      fail_msg("network %zu has other weights alone, in another order of the threads", i);
    tutti_tensors_destroy(alone.weights);
    tutti_tensors_destroy(together[i].weights);
    tutti_network_destroy(networks[i]);
  }
  emulate("TUTTI_EMULATED_SEED", NULL);
  emulate("TUTTI_EMULATED_THREADS", NULL);
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

/* --- forty --- */

enum { FORTY = 40 };

/* Networks of four spaces with eight optimisers, schedules and batch sizes, all at once; then each alone, with its
   threads in another order and twice as many of them. */
static void test_forty(void **state) {
  static struct cpu_config configs[FORTY];
  static struct tutti_outcome together[FORTY];
  static struct tutti_job jobs[FORTY];
  struct tutti_outcome *outcomes[FORTY];
  const struct tutti_job *pointers[FORTY];
  tutti_network *networks[FORTY];
  unsigned ends[FORTY] = {0};
  tutti_space *opened[sizeof spaces / sizeof spaces[0]];
  const size_t kinds = sizeof spaces / sizeof spaces[0], settings = sizeof trainings / sizeof trainings[0];
  (void)state;
  for (size_t s = 0; s < kinds; s++)
    opened[s] = open_space(spaces[s].plugin, spaces[s].set);
  for (size_t i = 0; i < FORTY; i++) {
    configure(trainings[(i + i / kinds) % settings]);
    configs[i] = *(const struct cpu_config *)tutti_config_values(cuda.config);
    configs[i].epochs = 2 + (int64_t)i % 3;
    networks[i] = sample(opened[i % kinds], "forty networks of test_cuda", i);
    jobs[i] = job_of(&cuda, networks[i], i);
    jobs[i].config = &configs[i];
    jobs[i].progress = NULL;
    together[i] = (struct tutti_outcome){.size = sizeof together[i]};
    outcomes[i] = &together[i];
    pointers[i] = &jobs[i];
  }
  OK(tutti_backend_train_many(context, cuda.backend, FORTY, pointers, outcomes, count_end, ends));
  emulate("TUTTI_EMULATED_SEED", "7");
  emulate("TUTTI_EMULATED_THREADS", "128");
  make_cuda_again("forty");
  for (size_t i = 0; i < FORTY; i++) {
    struct tutti_outcome alone = {.size = sizeof alone};
    OK(tutti_backend_train(context, cuda.backend, &jobs[i], &alone));
    assert_int_equal(ends[i], 1);
    assert_int_equal(together[i].state, TUTTI_STATE_FINISHED);
    assert_int_equal(together[i].best_epoch, alone.best_epoch);
    if (!same_weights(together[i].weights, alone.weights))
      fail_msg("network %zu has other weights alone than among 39 others", i);
    tutti_tensors_destroy(alone.weights);
    tutti_tensors_destroy(together[i].weights);
    tutti_network_destroy(networks[i]);
  }
  for (size_t s = 0; s < kinds; s++)
    tutti_space_destroy(opened[s]);
  emulate("TUTTI_EMULATED_SEED", NULL);
  emulate("TUTTI_EMULATED_THREADS", NULL);
}

/* --- jobs that come while others train --- */

/* The same weights and predictions, to the bit, as alone. */
static void test_queue(void **state) {
  static const int32_t widths[] = {40, 5, 200, 3, 17, 64};
  static struct coming coming;
  (void)state;
  for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
    configure(i == 3 ? "epochs=40 batch_size=16" : "epochs=6 batch_size=16");
    coming_add(&coming, job_of(&cuda, hand_made(widths[i]), i));
  }
  OK(coming_train(&coming));
  assert_int_equal(coming.done, coming.count);
  assert_int_equal(coming.most, 3);
  coming_require_alone(&coming);
  coming_release(&coming);
}

/* --- stopping --- */

/* A job that is stopped has the weights of the best epoch so far, whatever others do. */
static void test_stopped(void **state) {
  (void)state;
  configure("epochs=9 batch_size=16");
  tutti_network *network = hand_made(12);
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
  tutti_network *network = hand_made(12);
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
  tutti_network *network = hand_made(4);
  for (size_t i = 0; i < sizeof lacks / sizeof lacks[0]; i++) {
    configure(lacks[i][0]);
    struct tutti_job job = job_of(&cuda, network, 1);
    must_fail(tutti_backend_check(context, cuda.backend, &job), lacks[i][1]);
  }
  tutti_network_destroy(network);
}

static void test_no_memory(void **state) {
  struct tutti_outcome outcome = {.size = sizeof outcome};
  (void)state;
  needs_emulation();
  configure("epochs=1");
  tutti_network *network = hand_made(60000);
  struct tutti_job job = job_of(&cuda, network, 1);
  emulate("TUTTI_EMULATED_MEMORY", "1");
  make_cuda_again("little");
  enum tutti_status status = tutti_backend_check(context, cuda.backend, &job);
  assert_int_equal(status, TUTTI_ERROR_MEMORY);
  must_fail(status, "MiB, and the device has 1 MiB: lower batch_size, or take backend cpu");
  status = tutti_backend_train(context, cuda.backend, &job, &outcome);
  must_fail(status, "the device has 1 MiB");
  emulate("TUTTI_EMULATED_MEMORY", NULL);
  tutti_network_destroy(network);
}

/* Jobs that the device has no room for at once are trained one after the other. */
static void test_waves(void **state) {
  struct tutti_outcome together[3], *outcomes[3];
  struct tutti_job jobs[3];
  const struct tutti_job *pointers[3];
  unsigned ends[3] = {0};
  (void)state;
  needs_emulation();
  configure("epochs=1 batch_size=0");
  tutti_network *network = hand_made(3000);
  for (size_t i = 0; i < 3; i++) {
    jobs[i] = job_of(&cuda, network, i);
    jobs[i].progress = NULL;
    together[i] = (struct tutti_outcome){.size = sizeof together[i]};
    outcomes[i] = &together[i];
    pointers[i] = &jobs[i];
  }
  emulate("TUTTI_EMULATED_MEMORY", "8");
  OK(tutti_backend_train_many(context, cuda.backend, 3, pointers, outcomes, count_end, ends));
  emulate("TUTTI_EMULATED_MEMORY", NULL);
  for (size_t i = 0; i < 3; i++) {
    if (together[i].state != TUTTI_STATE_FINISHED)
      fail_msg("job %zu: %s", i, together[i].failure);
    assert_int_equal(ends[i], 1);
    tutti_tensors_destroy(together[i].weights);
  }
  tutti_network_destroy(network);
}

/* Predictions of more rows than the device has memory for go in parts, with the bits of all rows at once. */
static void test_predictions_in_parts(void **state) {
  static struct coming coming;
  (void)state;
  needs_emulation();
  tutti_split *many = make_split("many", 60000, 2);
  for (size_t i = 0; i < 3; i++) {
    configure(i == 0 ? "epochs=1 batch_size=16" : "epochs=3 batch_size=16");
    coming_add(&coming, job_of(&cuda, hand_made(3), i));
  }
  coming_require_parts(&coming, "1", many);
  coming_release(&coming);
  tutti_split_destroy(many);
}

/* Where not even the fewest rows find memory, they wait for trainings to end; where none is left, they fail. */
static void test_predictions_wait(void **state) {
  static struct coming coming;
  (void)state;
  needs_emulation();
  configure("epochs=1 batch_size=0");
  coming_add(&coming, job_of(&cuda, hand_made(3), 0));
  configure("epochs=12 batch_size=0");
  coming_add(&coming, job_of(&cuda, hand_made(3000), 1));
  configure("epochs=1");
  struct tutti_outcome like_second = train_side(&cpu, coming.jobs[1].network, 1);
  coming_require_wait(&coming, "5", like_second.weights);
  require_no_memory_to_predict(&coming.jobs[1], like_second.weights);
  tutti_tensors_destroy(like_second.weights);
  coming_release(&coming);
}

/* A kernel that fails fails its trials with the runtime's words. */
static void test_broken_kernel(void **state) {
  struct tutti_outcome outcome = {.size = sizeof outcome};
  (void)state;
  needs_emulation();
  configure("epochs=2");
  tutti_network *network = hand_made(4);
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
      cmocka_unit_test_setup_teardown(test_trajectories, begin, end),
      cmocka_unit_test_setup_teardown(test_members, begin, end),
      cmocka_unit_test_setup_teardown(test_encodings, begin, end),
      cmocka_unit_test_setup_teardown(test_encodings_refused, begin, end),
      cmocka_unit_test_setup_teardown(test_average, begin, end),
      cmocka_unit_test_setup_teardown(test_average_differs, begin, end),
      cmocka_unit_test_setup_teardown(test_draws, begin, end),
      cmocka_unit_test_setup_teardown(test_pool, begin, end),
      cmocka_unit_test_setup_teardown(test_far, begin, end),
      cmocka_unit_test_setup_teardown(test_forty, begin, end),
      cmocka_unit_test_setup_teardown(test_queue, begin, end),
      cmocka_unit_test_setup_teardown(test_stopped, begin, end),
      cmocka_unit_test_setup_teardown(test_diverged, begin, end),
      cmocka_unit_test_setup_teardown(test_refused, begin, end),
      cmocka_unit_test_setup_teardown(test_no_memory, begin, end),
      cmocka_unit_test_setup_teardown(test_waves, begin, end),
      cmocka_unit_test_setup_teardown(test_predictions_in_parts, begin, end),
      cmocka_unit_test_setup_teardown(test_predictions_wait, begin, end),
      cmocka_unit_test_setup_teardown(test_broken_kernel, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
