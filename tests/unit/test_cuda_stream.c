/* test_cuda_stream.c - the stream engine of backend cuda on an emulated GPU, beside backend cpu: the same losses,
   epoch by epoch, for random networks of every space of images; the same bits alone and among others, in every order
   of the threads, with grids of other sizes, with and without graphs; and what goes wrong on a device. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <stdio.h>
#include <tutti/tutti.h>

#include "backends/cpu/cpu_impl.h"
#include "cuda_sides.h"
#include "tests/watched.h"

/* Images whose side is even at first, so that strides pad one end more, and odd later.
   Rows leave several over in the last mini-batch: of two, batch norm would keep but the signs, which the last bit may
   turn. */
enum { SIDE = 10, CHANNELS = 3, ROWS = 31, HELD = 17, CLASSES = 4 };

static tutti_split *twin_train; /* twin_train: the same rows, changed by 1e-6 of them */

static size_t sensitive; /* networks that differ by more than the tolerance, as their twins do */

/* --- the setting --- */

/* Images of noise, with a stripe whose place is their class. */
static tutti_split *make_split(const char *name, size_t rows, uint64_t index, double change) {
  enum { FEATURES = SIDE * SIDE * CHANNELS };
  struct tutti_random random;
  float *inputs = calloc(rows * FEATURES, sizeof *inputs), *targets = calloc(rows * 2, sizeof *targets);
  int32_t *labels = calloc(rows, sizeof *labels);
  tutti_split *split;
  bool classes = task.kind == TUTTI_TASK_CLASSIFICATION;
  tutti_random_init(&random, 5, "rows of test_cuda_stream", index);
  tutti_random_fill_normal(&random, rows * FEATURES, 0, 1, inputs);
  for (size_t r = 0; r < rows; r++) {
    labels[r] = (int32_t)tutti_random_below(&random, CLASSES);
    for (size_t x = 0; x < (size_t)SIDE * CHANNELS; x++)
      inputs[r * FEATURES + (size_t)(2 * labels[r]) * SIDE * CHANNELS + x] += 1;
    targets[2 * r] = inputs[r * FEATURES];
    targets[2 * r + 1] = (float)labels[r] - 1.5f;
  }
  for (size_t i = 0; i < rows * FEATURES; i++)
    inputs[i] *= (float)(1 + change * tutti_random_normal(&random));
  OK(tutti_split_create(context, name, rows, task.input, task.outputs, inputs, classes ? NULL : targets,
                        classes ? labels : NULL, &split));
  free(inputs), free(targets), free(labels);
  return split;
}

static void make_task(enum tutti_op head) {
  bool classes = head == TUTTI_OP_HEAD_SOFTMAX;
  tutti_split_destroy(train);
  tutti_split_destroy(validation);
  tutti_split_destroy(twin_train);
  task = (struct tutti_task){.size = sizeof task,
                             .kind = classes ? TUTTI_TASK_CLASSIFICATION : TUTTI_TASK_REGRESSION,
                             .input = {SIDE, SIDE, CHANNELS},
                             .outputs = classes ? CLASSES : 2,
                             .train_rows = ROWS,
                             .head = head};
  train = make_split("train", ROWS, 0, 0);
  twin_train = make_split("train", ROWS, 0, 1e-6);
  validation = make_split("validation", HELD, 1, 0);
}

static int begin(void **state) {
  (void)state;
  open_sides(make_task, TUTTI_OP_HEAD_SOFTMAX);
  return 0;
}

static int end(void **state) {
  (void)state;
  tutti_split_destroy(twin_train);
  twin_train = NULL;
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
                            .train = side == &twin ? twin_train : train,
                            .validation = validation,
                            .progress = watch,
                            .progress_argument = side};
}

static struct tutti_outcome train_side(struct side *side, const tutti_network *network, uint64_t seed) {
  struct tutti_job job = job_of(side, network, seed);
  struct tutti_outcome outcome = {.size = sizeof outcome};
  side->epochs = 0;
  OK(tutti_backend_train(context, side->backend, &job, &outcome));
  return outcome;
}

/* Both sides train; every epoch's losses agree, and predictions of what is kept. Networks whose losses jump amplify
   a change of the last bits until nothing agrees any more: these may differ by ten times what they differ from a
   twin on backend cpu, whose rows are changed by 1e-6 of them. */
static void compare(const char *what, const tutti_network *network, uint64_t seed, double most) {
  struct tutti_outcome one = train_side(&cpu, network, seed), other = train_side(&cuda, network, seed);
  struct tutti_outcome third = train_side(&twin, network, seed);
  size_t width = tutti_predictions_width(task.kind, task.outputs);
  float a[HELD * 4], b[HELD * 4];
  struct tutti_job job = job_of(&cpu, network, seed);
  if (one.state == TUTTI_STATE_FAILED && strcmp(one.failure, other.failure) == 0) { /* both diverged in one step */
    tutti_tensors_destroy(third.weights);
    return;
  }
  if (one.state != TUTTI_STATE_FINISHED || other.state != TUTTI_STATE_FINISHED)
    fail_msg("%s: cpu %s, cuda %s", what, one.failure, other.failure);
  assert_int_equal(cpu.epochs, cuda.epochs);
  bool excused = false;
  const double wanted = most;
  for (size_t e = 0; e < cpu.epochs; e++)
    for (size_t k = 0; k < 2; k++) {
      double apart = 10 * fabs(twin.losses[e][k] - cpu.losses[e][k]);
      most = fmax(most, apart);
      excused = excused || fabs(cuda.losses[e][k] - cpu.losses[e][k]) > wanted * fmax(1, fabs(cpu.losses[e][k]));
      require_close(what, e, k == 0 ? "training loss" : "validation loss", cpu.losses[e][k], cuda.losses[e][k], most);
    }
  sensitive += excused;
  assert_int_equal(one.steps, other.steps);
  assert_int_equal(one.epochs, other.epochs);
  /* Whose weights they are does not matter to a prediction. */
  assert_in_range(HELD * width, 1, HELD * 4);
  OK(tutti_backend_predict(context, cpu.backend, &job, other.weights, validation, a));
  job = job_of(&cuda, network, seed);
  OK(tutti_backend_predict(context, cuda.backend, &job, other.weights, validation, b));
  for (size_t i = 0; i < HELD * width; i++)
    require_close(what, i, "prediction", (double)a[i], (double)b[i], 2e-5);
  tutti_tensors_destroy(one.weights);
  tutti_tensors_destroy(other.weights);
  tutti_tensors_destroy(third.weights);
}

/* --- random networks --- */

/* Some twenty steps each, the last of an epoch with fewer rows than the others, or with as many reports as steps.
   Batch norm leaves many gradients at 0 but for rounding: a larger epsilon keeps adam and rmsprop from making whole
   steps of them. */
static const char *const trainings[] = {
    "epochs=20 batch_size=0 optimiser=sgd momentum=0.9 learning_rate=0.005 l2=1e-4 schedule=cosine",
    "epochs=5 batch_size=8 optimiser=adam learning_rate=0.0005 epsilon=1e-3 augment_flip=true augment_padding=1",
    "epochs=6 batch_size=9 optimiser=sgd momentum=0.5 nesterov=true learning_rate=0.005 gradient_clip=1 "
    "l2_biases=true l2=1e-3 keep=last",
    "epochs=5 batch_size=8 optimiser=rmsprop learning_rate=0.0002 epsilon=1e-3 gradient_clip=0.5 "
    "gradient_clip_by=variable "
    "shuffle=run initialiser=he-normal schedule=plateau schedule_epochs=1",
};

static const struct {
  const char *plugin;
  const char *const (*set)[2];
} spaces[] = {
    {"darts",
     (const char *const[][2]){
         {"cells", "3"}, {"channels", "4"}, {"nodes", "3"}, {"drop_path", "0.3"}, {"dropout", "0.1"}, {NULL, NULL}}},
    {"nasbench201", (const char *const[][2]){{"cells", "1"}, {"channels", "6"}, {"stages", "2"}, {NULL, NULL}}},
    {"depth-width",
     (const char *const[][2]){
         {"cells", "2 3"}, {"channels", "3 4"}, {"cell", "amoebanet-a"}, {"drop_path", "0.2"}, {NULL, NULL}}},
    {"layer-graph-cnn", (const char *const[][2]){{"min_units", "4"}, {"max_units", "12"}, {NULL, NULL}}}};

static void test_stream_trajectories(void **state) {
  static const enum tutti_op heads[] = {TUTTI_OP_HEAD_SOFTMAX, TUTTI_OP_HEAD_GAUSSIAN, TUTTI_OP_HEAD_LINEAR};
  (void)state;
  const char *wanted = getenv("TUTTI_TEST_NETWORKS");
  size_t networks = wanted ? strtoul(wanted, NULL, 10) : 2;
  for (size_t s = 0; s < sizeof spaces / sizeof spaces[0]; s++) {
    make_task(TUTTI_OP_HEAD_SOFTMAX);
    tutti_space *space = open_space(spaces[s].plugin, spaces[s].set);
    for (size_t i = 0; i < networks; i++) {
      char what[512];
      const char *training = trainings[(i + s) % (sizeof trainings / sizeof trainings[0])];
      make_task(heads[i % 3]);
      tutti_network *network = sample(space, "networks of test_cuda_stream", i);
      (void)snprintf(what, sizeof what, "%s %zu, %s", spaces[s].plugin, i, training);
      configure(training);
      compare(what, network, 100 + i, 1e-4);
      tutti_network_destroy(network);
    }
    tutti_space_destroy(space);
  }
  assert_true(sensitive * 6 <= networks * sizeof spaces / sizeof spaces[0]);
}

/* --- what a job may ask for --- */

static uint32_t add_conv(tutti_network *network, uint32_t input, int32_t units, int32_t kernel, int32_t stride,
                         int32_t groups) {
  uint32_t layer;
  OK(tutti_network_add(context, network, TUTTI_OP_CONV2D, NULL, 1, &input,
                       TUTTI_ATTRIBUTES({"units", units}, {"kernel_height", kernel}, {"kernel_width", kernel},
                                        {"stride", stride}, {"groups", groups}),
                       &layer));
  return layer;
}

/* A convolution of `units` channels with batch norm, a depthwise one before one of one pixel, a pool, a dense layer
   that drops numbers: every kind of sum and draw is there. */
static tutti_network *hand_made(int32_t units) {
  tutti_network *network;
  uint32_t layer;
  OK(tutti_network_create(context, task.input, &network));
  layer = add_conv(network, 0, units, 3, 2, 1);
  OK(tutti_network_add(context, network, TUTTI_OP_BATCH_NORM, NULL, 1, &layer, NULL, &layer));
  OK(tutti_network_add(context, network, TUTTI_OP_ACTIVATION, NULL, 1, &layer,
                       TUTTI_ATTRIBUTES({"activation", TUTTI_ACTIVATION_RELU}), &layer));
  layer = add_conv(network, layer, units, 3, 1, units);
  layer = add_conv(network, layer, units + 1, 1, 1, 1);
  OK(tutti_network_add(context, network, TUTTI_OP_BATCH_NORM, NULL, 1, &layer, NULL, &layer));
  OK(tutti_network_add(context, network, TUTTI_OP_GLOBAL_POOL, NULL, 1, &layer, NULL, &layer));
  OK(tutti_network_add_dense(context, network, NULL, layer, 9, TUTTI_ACTIVATION_SWISH, &layer));
  OK(tutti_network_add_dropout(context, network, NULL, layer, 0.2, &layer));
  OK(tutti_network_add_head(context, network, layer, &task));
  return network;
}

/* One step of the whole batch by backend and job: the weights that it leaves. */
static tutti_tensors *step_of(struct side *side, struct tutti_job job) {
  struct tutti_outcome outcome = {.size = sizeof outcome};
  side->epochs = 0;
  job.config = tutti_config_values(side->config);
  job.progress_argument = side;
  OK(tutti_backend_train(context, side->backend, &job, &outcome));
  if (outcome.state != TUTTI_STATE_FINISHED)
    fail_msg("%s", outcome.failure);
  return outcome.weights;
}

static void require_close_weights(const tutti_tensors *one, const tutti_tensors *other) {
  assert_int_equal(tutti_tensors_count(one), tutti_tensors_count(other));
  for (size_t i = 0; i < tutti_tensors_count(one); i++) {
    const struct tutti_tensor *a = tutti_tensors_at(one, i), *b = tutti_tensors_at(other, i);
    for (size_t k = 0; k < a->bytes / sizeof(float); k++)
      require_close(a->name, k, "weight", (double)((const float *)a->data)[k], (double)((const float *)b->data)[k],
                    1e-4);
  }
}

/* Classes that count more, layers that stay as they are, weights to start from. */
static void test_stream_honours(void **state) {
  static const double class_weights[CLASSES] = {0.2, 3, 1, 0.5};
  const char *frozen[2] = {NULL, NULL};
  (void)state;
  configure("epochs=3 batch_size=0 optimiser=sgd learning_rate=0.05 keep=last");
  tutti_network *network = hand_made(4);
  struct tutti_job job = job_of(&cpu, network, 1);
  tutti_tensors *plain = step_of(&cpu, job), *weighted[2], *kept[2], *warm[2];
  job.class_weights = class_weights;
  weighted[0] = step_of(&cpu, job), weighted[1] = step_of(&cuda, job);
  require_close_weights(weighted[0], weighted[1]);
  assert_false(same_weights(plain, weighted[0]));
  job.class_weights = NULL;
  for (size_t i = 0; !frozen[0]; i++)
    if (tutti_network_layer(network, i)->op == TUTTI_OP_CONV2D)
      frozen[0] = tutti_network_layer(network, i)->label;
  job.frozen = frozen;
  kept[0] = step_of(&cpu, job), kept[1] = step_of(&cuda, job);
  require_close_weights(kept[0], kept[1]);
  assert_false(same_weights(plain, kept[0]));
  job.frozen = NULL;
  job.initial = plain;
  warm[0] = step_of(&cpu, job), warm[1] = step_of(&cuda, job);
  require_close_weights(warm[0], warm[1]);
  assert_false(same_weights(plain, warm[0]));
  tutti_tensors_destroy(plain);
  for (size_t i = 0; i < 2; i++) {
    tutti_tensors_destroy(weighted[i]);
    tutti_tensors_destroy(kept[i]);
    tutti_tensors_destroy(warm[i]);
  }
  tutti_network_destroy(network);
}

/* Where cuDNN has no algorithm that is deterministic, own kernels do its convolutions. */
static void test_stream_own_convolutions(void **state) {
  (void)state;
  configure("epochs=3 batch_size=8 optimiser=sgd learning_rate=0.01");
  tutti_network *network = hand_made(5);
  emulate("TUTTI_EMULATED_ALGORITHMS", "2");
  compare("own convolutions", network, 3, 1e-4);
  emulate("TUTTI_EMULATED_ALGORITHMS", NULL);
  tutti_network_destroy(network);
}

/* --- alone and among others --- */

/* A network of a table among those of images. */
static tutti_network *flat(void) {
  tutti_network *network;
  uint32_t layer;
  OK(tutti_network_create(context, task.input, &network));
  OK(tutti_network_add(context, network, TUTTI_OP_FLATTEN, NULL, 1, &(uint32_t){0}, NULL, &layer));
  OK(tutti_network_add_dense(context, network, NULL, layer, CLASSES, TUTTI_ACTIVATION_LINEAR, &layer));
  OK(tutti_network_add_head(context, network, layer, &task));
  return network;
}

enum { POOL = 5 };

/* Networks of images, and one of a table that has the other engine; then each alone, with grids of another size, its
   threads in another order, and no graphs of launches. */
static void test_stream_pool(void **state) {
  static const int32_t units[POOL] = {5, 8, 3, 0, 17};
  struct tutti_outcome together[POOL], *outcomes[POOL];
  struct tutti_job jobs[POOL];
  const struct tutti_job *pointers[POOL];
  tutti_network *networks[POOL];
  unsigned ends[POOL] = {0};
  (void)state;
  configure("epochs=3 batch_size=8 gradient_clip=1 early_stopping=2");
  for (size_t i = 0; i < POOL; i++) {
    if (units[i] > 0) {
      networks[i] = hand_made(units[i]);
    } else {
      networks[i] = flat();
    }
    jobs[i] = job_of(&cuda, networks[i], i);
    jobs[i].progress = NULL;
    together[i] = (struct tutti_outcome){.size = sizeof together[i]};
    outcomes[i] = &together[i];
    pointers[i] = &jobs[i];
  }
  OK(tutti_backend_train_many(context, cuda.backend, POOL, pointers, outcomes, count_end, ends));
  emulate("TUTTI_EMULATED_SEED", "99");
  emulate("TUTTI_EMULATED_THREADS", "128");
  emulate("TUTTI_EMULATED_BLOCKS", "3");
  make_cuda_again("another");
  for (size_t i = 0; i < POOL; i++) {
    emulate("TUTTI_EMULATED_GRAPHS", i % 2 == 0 ? "0" : "-1");
    struct tutti_outcome alone = train_side(&cuda, networks[i], i);
    assert_int_equal(ends[i], 1);
    assert_int_equal(together[i].state, TUTTI_STATE_FINISHED);
    assert_int_equal(together[i].best_epoch, alone.best_epoch);
    if (!same_weights(together[i].weights, alone.weights))
      fail_msg("network %zu has other weights alone, in another order of the threads, without graphs", i);
    tutti_tensors_destroy(alone.weights);
    tutti_tensors_destroy(together[i].weights);
    tutti_network_destroy(networks[i]);
  }
  emulate("TUTTI_EMULATED_SEED", NULL);
  emulate("TUTTI_EMULATED_THREADS", NULL);
  emulate("TUTTI_EMULATED_BLOCKS", NULL);
  emulate("TUTTI_EMULATED_GRAPHS", NULL);
}

/* --- many of all spaces --- */

/* Networks of the four spaces with four trainings, all at once; then each alone, with its threads in another order. */
static void test_stream_spaces_together(void **state) {
  enum { KINDS = sizeof spaces / sizeof spaces[0], SETTINGS = sizeof trainings / sizeof trainings[0], MOST = 40 };
  static struct cpu_config configs[MOST];
  static struct tutti_outcome together[MOST];
  static struct tutti_job jobs[MOST];
  struct tutti_outcome *outcomes[MOST];
  const struct tutti_job *pointers[MOST];
  tutti_network *networks[MOST];
  tutti_space *opened[KINDS];
  unsigned ends[MOST] = {0};
  const char *wanted = getenv("TUTTI_TEST_NETWORKS");
  const size_t count = wanted ? MOST : KINDS;
  (void)state;
  for (size_t s = 0; s < KINDS; s++)
    opened[s] = open_space(spaces[s].plugin, spaces[s].set);
  for (size_t i = 0; i < count; i++) {
    configure(trainings[(i + i / KINDS) % SETTINGS]);
    configs[i] = *(const struct cpu_config *)tutti_config_values(cuda.config);
    configs[i].epochs = 1 + (int64_t)i % 2;
    networks[i] = sample(opened[i % KINDS], "networks of test_cuda_stream, together", i);
    jobs[i] = job_of(&cuda, networks[i], i);
    jobs[i].config = &configs[i];
    jobs[i].progress = NULL;
    together[i] = (struct tutti_outcome){.size = sizeof together[i]};
    outcomes[i] = &together[i];
    pointers[i] = &jobs[i];
  }
  OK(tutti_backend_train_many(context, cuda.backend, count, pointers, outcomes, count_end, ends));
  emulate("TUTTI_EMULATED_SEED", "7");
  emulate("TUTTI_EMULATED_BLOCKS", "1");
  make_cuda_again("together");
  for (size_t i = 0; i < count; i++) {
    struct tutti_outcome alone = {.size = sizeof alone};
    OK(tutti_backend_train(context, cuda.backend, &jobs[i], &alone));
    assert_int_equal(ends[i], 1);
    assert_int_equal(together[i].state, TUTTI_STATE_FINISHED);
    assert_int_equal(together[i].best_epoch, alone.best_epoch);
    if (!same_weights(together[i].weights, alone.weights))
      fail_msg("network %zu has other weights alone than among %zu others", i, count - 1);
    tutti_tensors_destroy(alone.weights);
    tutti_tensors_destroy(together[i].weights);
    tutti_network_destroy(networks[i]);
  }
  for (size_t s = 0; s < KINDS; s++)
    tutti_space_destroy(opened[s]);
  emulate("TUTTI_EMULATED_SEED", NULL);
  emulate("TUTTI_EMULATED_BLOCKS", NULL);
}

/* --- averages of weights --- */

/* The average is validated, kept, and measured by its own batch norms, and training goes on from the weights
   themselves. */
static void test_stream_average(void **state) {
  static const char *const trainings_of[] = {
      "epochs=6 batch_size=8 optimiser=sgd momentum=0.9 learning_rate=0.01 average=0.5 keep=last",
      "epochs=6 batch_size=8 optimiser=adam learning_rate=0.002 epsilon=1e-3 average=0.6",
      "epochs=4 batch_size=8 optimiser=sgd learning_rate=0.01 average=1 augment_flip=true"};
  (void)state;
  for (size_t i = 0; i < 3; i++) {
    tutti_network *network = hand_made(5);
    configure(trainings_of[i]);
    compare(trainings_of[i], network, 20 + i, 1e-4);
    /* It is another result than without. */
    struct tutti_outcome averaged = train_side(&cuda, network, 20 + i);
    configure("epochs=6 batch_size=8 optimiser=sgd momentum=0.9 learning_rate=0.01 keep=last");
    struct tutti_outcome plain = train_side(&cuda, network, 20 + i);
    assert_false(same_weights(plain.weights, averaged.weights));
    tutti_tensors_destroy(plain.weights);
    tutti_tensors_destroy(averaged.weights);
    tutti_network_destroy(network);
  }
}

/* --- jobs that come while others train --- */

static struct coming coming;

static void make_coming(const char *first, const char *others, size_t count, bool mixed) {
  for (size_t i = 0; i < count; i++) {
    configure(i == 0 ? first : others);
    coming_add(&coming, job_of(&cuda, mixed && i == 2 ? flat() : hand_made(3 + (int32_t)i), i));
  }
}

/* The same weights and predictions, to the bit, as alone; and a new one begins as soon as one ends, while the first
   still trains. */
static void test_stream_queue(void **state) {
  (void)state;
  make_coming("epochs=24 batch_size=8", "epochs=1 batch_size=16", 7, true);
  OK(coming_train(&coming));
  assert_int_equal(coming.done, coming.count);
  assert_int_equal(coming.most, 3);
  assert_in_range(coming.refilled, 3, coming.count);
  coming_require_alone(&coming);
  coming_release(&coming);
}

static void strike(struct coming *struck, size_t number) {
  (void)number;
  FILE *file = struck->done == 1 ? fopen(getenv("TUTTI_EMULATED_FAULT"), "w") : NULL;
  if (file)
    (void)fclose(file);
}

/* The device is lost in the middle: what trains fails with the runtime's words, what has finished stays so, and what
   has
   not begun is left for another process. */
static void test_stream_lost(void **state) {
  static const char text[] = "unspecified launch failure (error 719";
  char path[] = "/tmp/tutti-fault-XXXXXX";
  int descriptor = mkstemp(path);
  (void)state;
  needs_emulation();
  assert_true(descriptor >= 0 && close(descriptor) == 0 && unlink(path) == 0);
  emulate("TUTTI_EMULATED_FAULT", path);
  make_coming("epochs=24 batch_size=8", "epochs=2 batch_size=16", 8, false);
  coming.each = strike;
  coming.loses = true;
  must_fail(coming_train(&coming), text);
  emulate("TUTTI_EMULATED_FAULT", NULL);
  assert_int_equal(access(path, F_OK), -1);
  size_t finished = 0;
  for (size_t i = 0; i < coming.given; i++) {
    const struct tutti_outcome *outcome = &coming.outcomes[i];
    finished += outcome->state == TUTTI_STATE_FINISHED;
    if (outcome->state == TUTTI_STATE_FAILED && !strstr(outcome->failure, text))
      fail_msg("job %zu: %s", i, outcome->failure);
  }
  assert_in_range(finished, 1, 4);
  assert_int_equal(coming.outcomes[0].state, TUTTI_STATE_FAILED);
  assert_int_equal(coming.done, coming.given);
  assert_in_range(coming.given, 3, coming.count - 1);
  coming_release(&coming);
}

/* --- stopping --- */

/* A job that is stopped has the weights of the best epoch so far. */
static void test_stream_stopped(void **state) {
  (void)state;
  configure("epochs=9 batch_size=16");
  tutti_network *network = hand_made(4);
  cpu.stop_after = cuda.stop_after = 3;
  struct tutti_outcome one = train_side(&cpu, network, 1), other = train_side(&cuda, network, 1);
  cpu.stop_after = cuda.stop_after = 0;
  assert_int_equal(one.state, TUTTI_STATE_PRUNED);
  assert_int_equal(other.state, TUTTI_STATE_PRUNED);
  assert_int_equal(other.epochs, 3);
  assert_int_equal(other.best_epoch, one.best_epoch);
  assert_int_equal(other.steps, one.steps);
  tutti_tensors_destroy(one.weights);
  tutti_tensors_destroy(other.weights);
  tutti_network_destroy(network);
}

/* Both say the same of a loss that grew beyond all bounds, after as many steps. */
static void test_stream_diverged(void **state) {
  (void)state;
  configure("epochs=9 batch_size=16 optimiser=sgd learning_rate=1e30");
  tutti_network *network = hand_made(4);
  struct tutti_outcome one = train_side(&cpu, network, 1), other = train_side(&cuda, network, 1);
  assert_int_equal(one.state, TUTTI_STATE_FAILED);
  assert_int_equal(other.state, TUTTI_STATE_FAILED);
  assert_non_null(strstr(other.failure, "lower the learning rate 1e+30, or clip gradients"));
  assert_int_equal(other.steps, one.steps);
  assert_null(other.weights);
  tutti_network_destroy(network);
}

/* --- what goes wrong --- */

static void test_stream_no_memory(void **state) {
  struct tutti_outcome outcome = {.size = sizeof outcome};
  (void)state;
  needs_emulation();
  configure("epochs=1");
  tutti_network *network = hand_made(400);
  struct tutti_job job = job_of(&cuda, network, 1);
  emulate("TUTTI_EMULATED_MEMORY", "9");
  enum tutti_status status = tutti_backend_check(context, cuda.backend, &job);
  assert_int_equal(status, TUTTI_ERROR_MEMORY);
  must_fail(status, "MiB, and the device has 9 MiB: lower batch_size, or take backend cpu");
  status = tutti_backend_train(context, cuda.backend, &job, &outcome);
  must_fail(status, "the device has 9 MiB");
  emulate("TUTTI_EMULATED_MEMORY", NULL);
  tutti_network_destroy(network);
}

/* Jobs that a device like this has no room for at once wait for others to end. */
static void wait_for_room(const char *name, const char *value) {
  struct tutti_outcome together[3], *outcomes[3];
  struct tutti_job jobs[3];
  const struct tutti_job *pointers[3];
  unsigned ends[3] = {0};
  needs_emulation();
  configure("epochs=1 batch_size=0");
  tutti_network *network = hand_made(6);
  for (size_t i = 0; i < 3; i++) {
    jobs[i] = job_of(&cuda, network, i);
    jobs[i].progress = NULL;
    together[i] = (struct tutti_outcome){.size = sizeof together[i]};
    outcomes[i] = &together[i];
    pointers[i] = &jobs[i];
  }
  emulate(name, value);
  OK(tutti_backend_train_many(context, cuda.backend, 3, pointers, outcomes, count_end, ends));
  emulate(name, NULL);
  for (size_t i = 0; i < 3; i++) {
    if (together[i].state != TUTTI_STATE_FINISHED)
      fail_msg("job %zu: %s", i, together[i].failure);
    assert_int_equal(ends[i], 1);
    tutti_tensors_destroy(together[i].weights);
  }
  tutti_network_destroy(network);
}

static void test_stream_waits(void **state) {
  (void)state;
  wait_for_room("TUTTI_EMULATED_MEMORY", "20"); /* cuBLAS alone has 8 for each */
}

/* cuBLAS, which takes memory of its own, says that it found none. */
static void test_stream_library_memory(void **state) {
  (void)state;
  wait_for_room("TUTTI_EMULATED_HANDLES", "1");
}

/* Memory that other programs take in the middle: a network that finds none waits for others to end, and fails with
   need and limit where nobody will. */
static void take_memory(struct coming *taken, size_t number) {
  (void)number;
  if (taken->done == 1)
    emulate("TUTTI_EMULATED_TAKEN", "1020");
}

static void test_stream_taken_memory(void **state) {
  (void)state;
  needs_emulation();
  make_coming("epochs=24 batch_size=8", "epochs=1 batch_size=8", 3, false);
  configure("epochs=1 batch_size=0");
  coming_add(&coming, job_of(&cuda, hand_made(120), 4));
  coming.each = take_memory;
  OK(coming_train(&coming));
  emulate("TUTTI_EMULATED_TAKEN", NULL);
  for (size_t i = 0; i < 3; i++)
    assert_int_equal(coming.outcomes[i].state, TUTTI_STATE_FINISHED);
  assert_int_equal(coming.outcomes[3].state, TUTTI_STATE_FAILED);
  if (!strstr(coming.outcomes[3].failure, "out of memory on the device: the network and its rows need ") ||
      !strstr(coming.outcomes[3].failure, " MiB, and 4 of 1024 MiB are free; lower batch_size, or take backend cpu"))
    fail_msg("%s", coming.outcomes[3].failure);
  coming_release(&coming);
}

/* Predictions of more rows than the device has memory for go in parts, with the bits of all rows at once. */
static void test_stream_predictions_in_parts(void **state) {
  (void)state;
  needs_emulation();
  tutti_split *many = make_split("many", 3000, 2, 0);
  for (size_t i = 0; i < 3; i++) {
    configure(i == 0 ? "epochs=1 batch_size=16" : "epochs=3 batch_size=16");
    coming_add(&coming, job_of(&cuda, hand_made(3), i));
  }
  coming_require_parts(&coming, "11", many);
  coming_release(&coming);
  tutti_split_destroy(many);
}

/* Where not even the fewest rows find memory, they wait for trainings to end; where none is left, they fail. */
static void test_stream_predictions_wait(void **state) {
  (void)state;
  needs_emulation();
  configure("epochs=1 batch_size=0");
  coming_add(&coming, job_of(&cuda, hand_made(3), 0));
  configure("epochs=12 batch_size=0");
  coming_add(&coming, job_of(&cuda, hand_made(600), 1));
  configure("epochs=1");
  struct tutti_outcome like_second = train_side(&cpu, coming.jobs[1].network, 1);
  coming_require_wait(&coming, "42", like_second.weights);
  require_no_memory_to_predict(&coming.jobs[1], like_second.weights);
  tutti_tensors_destroy(like_second.weights);
  coming_release(&coming);
}

/* A kernel that fails fails its trial with the runtime's words. */
static void test_stream_broken_kernel(void **state) {
  struct tutti_outcome together[2] = {{.size = sizeof together[0]}, {.size = sizeof together[0]}};
  struct tutti_outcome *outcomes[2] = {&together[0], &together[1]};
  unsigned ends[2] = {0};
  (void)state;
  needs_emulation();
  configure("epochs=2");
  tutti_network *network = hand_made(4);
  struct tutti_job job = job_of(&cuda, network, 1);
  const struct tutti_job *pointers[2] = {&job, &job};
  job.progress = NULL;
  emulate("TUTTI_EMULATED_FAULT", "always");
  OK(tutti_backend_train_many(context, cuda.backend, 2, pointers, outcomes, count_end, ends));
  emulate("TUTTI_EMULATED_FAULT", NULL);
  for (size_t i = 0; i < 2; i++) {
    assert_int_equal(together[i].state, TUTTI_STATE_FAILED);
    assert_int_equal(ends[i], 1);
    assert_non_null(strstr(together[i].failure, "unspecified launch failure (error 719"));
  }
  tutti_network_destroy(network);
}

/* What the engine lacks is named. */
static void test_stream_refused(void **state) {
  uint32_t layer;
  tutti_network *network;
  (void)state;
  configure("optimiser=lbfgs");
  network = hand_made(3);
  struct tutti_job job = job_of(&cuda, network, 1);
  must_fail(tutti_backend_check(context, cuda.backend, &job),
            "backend.optimiser = lbfgs: backend cuda does not have it");
  tutti_network_destroy(network);
  configure("epochs=1");
  make_task(TUTTI_OP_HEAD_NOMU);
  OK(tutti_network_create(context, task.input, &network));
  OK(tutti_network_add(context, network, TUTTI_OP_GLOBAL_POOL, NULL, 1, &(uint32_t){0}, NULL, &layer));
  OK(tutti_network_add_dense(context, network, NULL, layer, (int32_t)task.outputs, TUTTI_ACTIVATION_LINEAR, &layer));
  uint32_t both[2] = {layer, layer};
  OK(tutti_network_add(context, network, TUTTI_OP_HEAD_NOMU, NULL, 2, both, NULL, &layer));
  job = job_of(&cuda, network, 1);
  must_fail(tutti_backend_check(context, cuda.backend, &job), "op head-nomu");
  tutti_network_destroy(network);
}

int main(void) {
  if (watched_by_valgrind()) {
    puts("skipped: valgrind does not follow threads of the emulated GPU, which change stacks");
    return 77;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_stream_trajectories, begin, end),
      cmocka_unit_test_setup_teardown(test_stream_honours, begin, end),
      cmocka_unit_test_setup_teardown(test_stream_own_convolutions, begin, end),
      cmocka_unit_test_setup_teardown(test_stream_pool, begin, end),
      cmocka_unit_test_setup_teardown(test_stream_spaces_together, begin, end),
      cmocka_unit_test_setup_teardown(test_stream_average, begin, end),
      cmocka_unit_test_setup_teardown(test_stream_queue, begin, end),
      cmocka_unit_test_setup_teardown(test_stream_stopped, begin, end),
      cmocka_unit_test_setup_teardown(test_stream_diverged, begin, end),
      cmocka_unit_test_setup_teardown(test_stream_no_memory, begin, end),
      cmocka_unit_test_setup_teardown(test_stream_waits, begin, end),
      cmocka_unit_test_setup_teardown(test_stream_library_memory, begin, end),
      cmocka_unit_test_setup_teardown(test_stream_taken_memory, begin, end),
      cmocka_unit_test_setup_teardown(test_stream_predictions_in_parts, begin, end),
      cmocka_unit_test_setup_teardown(test_stream_predictions_wait, begin, end),
      cmocka_unit_test_setup_teardown(test_stream_broken_kernel, begin, end),
      cmocka_unit_test_setup_teardown(test_stream_refused, begin, end),
      cmocka_unit_test_setup_teardown(test_stream_lost, begin, end), /* the last: this process has no device then */
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
