/* test_cuda_stream.c - the stream engine of backend cuda on an emulated GPU, beside backend cpu: the same losses, epoch
   by epoch, for random networks of every space of images; the same bits alone and among others, in every order of the
   threads, with grids of other sizes, with and without graphs; and what goes wrong on a device. */
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

#include "tests/watched.h"

/* Images whose side is even at first, so that strides pad one end more, and odd later.
   Rows leave several over in the last mini-batch: of two, batch norm would keep but the signs, which the last bit may
   turn. */
enum { SIDE = 10, CHANNELS = 3, ROWS = 31, HELD = 17, MOST_EPOCHS = 24, CLASSES = 4 };

#define OK(call)                                                                                                       \
  do {                                                                                                                 \
    if ((call) != TUTTI_OK)                                                                                            \
      fail_msg("%s", tutti_error_message(context));                                                                    \
  } while (0)

static tutti_context *context;
static tutti_host *host;
static struct tutti_task task;
static tutti_split *train, *validation, *twin_train; /* twin_train: the same rows, changed by 1e-6 of them */

/* One backend, with its parameters. */
struct side {
  tutti_backend *backend;
  tutti_config *config;
  double losses[MOST_EPOCHS][2]; /* of training and validation rows */
  size_t epochs, stop_after;
};
static struct side cpu, twin, cuda; /* twin: cpu again, on rows with a last bit or two changed */
static size_t sensitive;            /* networks that differ by more than the tolerance, as their twins do */

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

static void make_side(struct side *side, const char *section, const char *plugin) {
  struct tutti_backend_setup setup = {.size = sizeof setup, .task = &task};
  OK(tutti_host_put(context, host, section, TUTTI_KIND_BACKEND, plugin));
  OK(tutti_backend_create(context, host, section, &setup, &side->backend));
}

static int begin(void **state) {
  struct tutti_host_facts facts = {.size = sizeof facts};
  char emulated[4096];
  (void)state;
  (void)snprintf(emulated, sizeof emulated, "%s/tests/cuda/.libs", getenv("TUTTI_TEST_BUILDDIR"));
  OK(tutti_context_create(&context));
  OK(tutti_plugin_scan_with(context, getenv("TUTTI_PROGRAM")));
  OK(tutti_plugin_path_add(context, emulated));
  make_task(TUTTI_OP_HEAD_SOFTMAX);
  OK(tutti_host_create(context, &facts, &host));
  make_side(&cpu, "cpu", "cpu");
  make_side(&cuda, "cuda", "cuda");
  make_side(&twin, "twin", "cpu");
  return 0;
}

static int end(void **state) {
  struct side *const sides[] = {&cpu, &cuda, &twin};
  (void)state;
  tutti_split_destroy(train);
  tutti_split_destroy(validation);
  tutti_split_destroy(twin_train);
  train = validation = twin_train = NULL;
  for (size_t i = 0; i < 3; i++) {
    tutti_config_destroy(sides[i]->config);
    tutti_backend_destroy(sides[i]->backend);
    memset(sides[i], 0, sizeof *sides[i]);
  }
  tutti_host_destroy(host);
  tutti_context_destroy(context);
  return 0;
}

/* --- trainings --- */

static bool watch(void *argument, const struct tutti_epoch *epoch) {
  struct side *side = argument;
  assert_int_equal(epoch->epoch, side->epochs + 1);
  assert_in_range(epoch->epoch, 1, MOST_EPOCHS);
  side->losses[side->epochs][0] = epoch->train_loss;
  side->losses[side->epochs][1] = epoch->validation_loss;
  side->epochs++;
  return side->epochs != side->stop_after;
}

/* Parameters as "name=value ...", the same for all. */
static void configure(const char *settings) {
  char text[1024], *rest = text, *word;
  struct side *const sides[] = {&cpu, &cuda, &twin};
  for (size_t i = 0; i < 3; i++) {
    tutti_config_destroy(sides[i]->config);
    OK(tutti_config_create(context, &tutti_backend_descriptor(sides[i]->backend)->params, &sides[i]->config));
  }
  (void)snprintf(text, sizeof text, "%s", settings);
  while ((word = strtok_r(rest, " ", &rest))) {
    char *value = strchr(word, '=');
    *value++ = '\0';
    for (size_t i = 0; i < 3; i++)
      OK(tutti_config_set(context, sides[i]->config, word, value));
  }
}

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

static void require_close(const char *what, size_t epoch, const char *which, double a, double b, double most) {
  if (!(fabs(a - b) <= most * fmax(1, fabs(a))) && !(isnan(a) && isnan(b)))
    fail_msg("%s, epoch %zu, %s: cpu %.9g, cuda %.9g", what, epoch + 1, which, a, b);
}

/* Both sides train; every epoch's losses agree, and predictions of what is kept. Networks whose losses jump amplify a
   change of the last bits until nothing agrees any more: these may differ by ten times what they differ from a twin on
   backend cpu, whose rows are changed by 1e-6 of them. */
static void compare(const char *what, const tutti_network *network, uint64_t seed, double most) {
  struct tutti_outcome one = train_side(&cpu, network, seed), other = train_side(&cuda, network, seed);
  struct tutti_outcome third = train_side(&twin, network, seed);
  size_t width = tutti_predictions_width(task.kind, task.outputs);
  float a[HELD * 4], b[HELD * 4];
  struct tutti_job job = job_of(&cpu, network, seed);
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

static tutti_network *sample(const tutti_space *space, uint64_t index) {
  struct tutti_random random;
  tutti_genotype *genotype;
  tutti_network *network;
  tutti_random_init(&random, 11, "networks of test_cuda_stream", index);
  OK(tutti_space_sample(context, space, &random, &genotype));
  OK(tutti_space_decode(context, genotype, &task, &network));
  tutti_genotype_unref(genotype);
  return network;
}

static tutti_space *open_space(const char *plugin, const char *const (*set)[2]) {
  struct tutti_space_setup setup = {.size = sizeof setup, .task = &task};
  tutti_space *space;
  OK(tutti_host_put(context, host, plugin, TUTTI_KIND_SPACE, plugin));
  for (; set && (*set)[0]; set++)
    OK(tutti_host_set(context, host, plugin, (*set)[0], (*set)[1]));
  OK(tutti_space_create(context, host, plugin, &setup, &space));
  return space;
}

/* Some twenty steps each, the last of an epoch with fewer rows than the others, or with as many reports as steps. Batch
   norm leaves many gradients at 0 but for rounding: a larger epsilon keeps adam and rmsprop from making whole steps of
   them. */
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
      tutti_network *network = sample(space, i);
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

static bool same_weights(const tutti_tensors *one, const tutti_tensors *other) {
  for (size_t i = 0; i < tutti_tensors_count(one); i++) {
    const struct tutti_tensor *a = tutti_tensors_at(one, i), *b = tutti_tensors_at(other, i);
    if (a->bytes != b->bytes || memcmp(a->data, b->data, a->bytes) != 0)
      return false;
  }
  return tutti_tensors_count(one) == tutti_tensors_count(other);
}

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
  assert_true(setenv("TUTTI_EMULATED_ALGORITHMS", "2", 1) == 0);
  compare("own convolutions", network, 3, 1e-4);
  assert_true(unsetenv("TUTTI_EMULATED_ALGORITHMS") == 0);
  tutti_network_destroy(network);
}

/* --- alone and among others --- */

enum { POOL = 5 };

static void on_done(void *argument, size_t index) { ((unsigned *)argument)[index]++; }

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
      uint32_t layer;
      OK(tutti_network_create(context, task.input, &networks[i]));
      OK(tutti_network_add(context, networks[i], TUTTI_OP_FLATTEN, NULL, 1, &(uint32_t){0}, NULL, &layer));
      OK(tutti_network_add_dense(context, networks[i], NULL, layer, CLASSES, TUTTI_ACTIVATION_LINEAR, &layer));
      OK(tutti_network_add_head(context, networks[i], layer, &task));
    }
    jobs[i] = job_of(&cuda, networks[i], i);
    jobs[i].progress = NULL;
    together[i] = (struct tutti_outcome){.size = sizeof together[i]};
    outcomes[i] = &together[i];
    pointers[i] = &jobs[i];
  }
  OK(tutti_backend_train_many(context, cuda.backend, POOL, pointers, outcomes, on_done, ends));
  assert_true(setenv("TUTTI_EMULATED_SEED", "99", 1) == 0 && setenv("TUTTI_EMULATED_THREADS", "128", 1) == 0 &&
              setenv("TUTTI_EMULATED_BLOCKS", "3", 1) == 0 && setenv("TUTTI_EMULATED_GRAPHS", "0", 1) == 0);
  tutti_backend_destroy(cuda.backend);
  make_side(&cuda, "another", "cuda");
  for (size_t i = 0; i < POOL; i++) {
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
  assert_true(unsetenv("TUTTI_EMULATED_SEED") == 0 && unsetenv("TUTTI_EMULATED_THREADS") == 0 &&
              unsetenv("TUTTI_EMULATED_BLOCKS") == 0 && unsetenv("TUTTI_EMULATED_GRAPHS") == 0);
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

static void must_fail(enum tutti_status status, const char *text) {
  assert_int_not_equal(status, TUTTI_OK);
  if (!strstr(tutti_error_message(context), text))
    fail_msg("\"%s\" lacks \"%s\"", tutti_error_message(context), text);
}

static void test_stream_no_memory(void **state) {
  struct tutti_outcome outcome = {.size = sizeof outcome};
  (void)state;
  configure("epochs=1");
  tutti_network *network = hand_made(400);
  struct tutti_job job = job_of(&cuda, network, 1);
  assert_true(setenv("TUTTI_EMULATED_MEMORY", "9", 1) == 0);
  enum tutti_status status = tutti_backend_check(context, cuda.backend, &job);
  assert_int_equal(status, TUTTI_ERROR_MEMORY);
  must_fail(status, "MiB, and the device has 9 MiB: lower batch_size, or take backend cpu");
  status = tutti_backend_train(context, cuda.backend, &job, &outcome);
  must_fail(status, "the device has 9 MiB");
  assert_true(unsetenv("TUTTI_EMULATED_MEMORY") == 0);
  tutti_network_destroy(network);
}

/* Jobs that the device has no room for at once wait for others to end. */
static void test_stream_waits(void **state) {
  struct tutti_outcome together[3], *outcomes[3];
  struct tutti_job jobs[3];
  const struct tutti_job *pointers[3];
  unsigned ends[3] = {0};
  (void)state;
  configure("epochs=1 batch_size=0");
  tutti_network *network = hand_made(6);
  for (size_t i = 0; i < 3; i++) {
    jobs[i] = job_of(&cuda, network, i);
    jobs[i].progress = NULL;
    together[i] = (struct tutti_outcome){.size = sizeof together[i]};
    outcomes[i] = &together[i];
    pointers[i] = &jobs[i];
  }
  assert_true(setenv("TUTTI_EMULATED_MEMORY", "20", 1) == 0); /* cuBLAS alone has 8 for each */
  OK(tutti_backend_train_many(context, cuda.backend, 3, pointers, outcomes, on_done, ends));
  assert_true(unsetenv("TUTTI_EMULATED_MEMORY") == 0);
  for (size_t i = 0; i < 3; i++) {
    if (together[i].state != TUTTI_STATE_FINISHED)
      fail_msg("job %zu: %s", i, together[i].failure);
    assert_int_equal(ends[i], 1);
    tutti_tensors_destroy(together[i].weights);
  }
  tutti_network_destroy(network);
}

/* A kernel that fails fails its trial with the runtime's words. */
static void test_stream_broken_kernel(void **state) {
  struct tutti_outcome together[2] = {{.size = sizeof together[0]}, {.size = sizeof together[0]}};
  struct tutti_outcome *outcomes[2] = {&together[0], &together[1]};
  unsigned ends[2] = {0};
  (void)state;
  configure("epochs=2");
  tutti_network *network = hand_made(4);
  struct tutti_job job = job_of(&cuda, network, 1);
  const struct tutti_job *pointers[2] = {&job, &job};
  job.progress = NULL;
  assert_true(setenv("TUTTI_EMULATED_FAULT", "always", 1) == 0);
  OK(tutti_backend_train_many(context, cuda.backend, 2, pointers, outcomes, on_done, ends));
  assert_true(unsetenv("TUTTI_EMULATED_FAULT") == 0);
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
      cmocka_unit_test_setup_teardown(test_stream_stopped, begin, end),
      cmocka_unit_test_setup_teardown(test_stream_diverged, begin, end),
      cmocka_unit_test_setup_teardown(test_stream_no_memory, begin, end),
      cmocka_unit_test_setup_teardown(test_stream_waits, begin, end),
      cmocka_unit_test_setup_teardown(test_stream_broken_kernel, begin, end),
      cmocka_unit_test_setup_teardown(test_stream_refused, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
