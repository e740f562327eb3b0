/* test_cuda.c - backend cuda on an emulated GPU, beside backend cpu: the same losses, step by step, for random networks
   of every space of tables; the same bits alone and among others, in every order of the threads; and what goes wrong on
   a device. */
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
#include "backends/cpu/cpu_impl.h"

enum { FEATURES = 5, ROWS = 45, HELD = 19, MOST_EPOCHS = 200, OUTPUTS = 2, CLASSES = 3 };

#define OK(call)                                                                                                       \
  do {                                                                                                                 \
    if ((call) != TUTTI_OK)                                                                                            \
      fail_msg("%s", tutti_error_message(context));                                                                    \
  } while (0)

static tutti_context *context;
static tutti_host *host;
static struct tutti_task task;
static tutti_split *train, *validation;

/* One backend, with its parameters. */
struct side {
  tutti_backend *backend;
  tutti_config *config;
  double losses[MOST_EPOCHS][2]; /* of training and validation rows */
  size_t epochs, stop_after;
};
static struct side cpu, twin, cuda; /* twin: cpu again, with a last bit or two changed */
static size_t sensitive;            /* networks that amplify these beyond the tolerance */
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
  make_task(TUTTI_OP_HEAD_GAUSSIAN);
  OK(tutti_context_create(&context));
  OK(tutti_plugin_scan_with(context, getenv("TUTTI_PROGRAM")));
  OK(tutti_plugin_path_add(context, emulated));
  make_task(TUTTI_OP_HEAD_GAUSSIAN);
  OK(tutti_host_create(context, &facts, &host));
  make_side(&cpu, "cpu", "cpu");
  make_side(&cuda, "cuda", "cuda");
  make_side(&twin, "twin", "cpu");
  return 0;
}

static int end(void **state) {
  (void)state;
  tutti_split_destroy(train);
  tutti_split_destroy(validation);
  train = validation = NULL;
  tutti_config_destroy(cpu.config);
  tutti_config_destroy(cuda.config);
  tutti_config_destroy(twin.config);
  tutti_backend_destroy(twin.backend);
  tutti_backend_destroy(cpu.backend);
  tutti_backend_destroy(cuda.backend);
  memset(&cpu, 0, sizeof cpu);
  memset(&cuda, 0, sizeof cuda);
  memset(&twin, 0, sizeof twin);
  tutti_host_destroy(host);
  tutti_context_destroy(context);
  return 0;
}

/* --- trainings --- */

static bool watch(void *argument, const struct tutti_epoch *epoch) {
  struct side *side = argument;
  assert_int_equal(epoch->epoch, side->epochs + 1);
  if (side->epochs < MOST_EPOCHS) {
    side->losses[side->epochs][0] = epoch->train_loss;
    side->losses[side->epochs][1] = epoch->validation_loss;
  }
  side->epochs++;
  return side->epochs != side->stop_after;
}

/* Parameters as "name=value ...", the same for both. */
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

static void require_close(const char *what, size_t epoch, const char *which, double a, double b, double most) {
  if (!(fabs(a - b) <= most * fmax(1, fabs(a))) && !(isnan(a) && isnan(b)))
    fail_msg("%s, epoch %zu, %s: cpu %.9g, cuda %.9g", what, epoch + 1, which, a, b);
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
   backend cpu, whose learning rate is changed by 3e-7 of it. So may, by 1e-3, one that met a ReLU's kink after the first
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

static tutti_network *sample(const tutti_space *space, uint64_t index) {
  struct tutti_random random;
  tutti_genotype *genotype;
  tutti_network *network;
  tutti_random_init(&random, 11, "networks of test_cuda", index);
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
      tutti_network *network = sample(space, i);
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

static void on_done(void *argument, size_t index) { ((unsigned *)argument)[index]++; }

static bool same_weights(const tutti_tensors *one, const tutti_tensors *other) {
  for (size_t i = 0; i < tutti_tensors_count(one); i++) {
    const struct tutti_tensor *a = tutti_tensors_at(one, i), *b = tutti_tensors_at(other, i);
    if (a->bytes != b->bytes || memcmp(a->data, b->data, a->bytes) != 0)
      return false;
  }
  return tutti_tensors_count(one) == tutti_tensors_count(other);
}

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
  OK(tutti_backend_train_many(context, cuda.backend, POOL, pointers, outcomes, on_done, ends));
  assert_true(setenv("TUTTI_EMULATED_SEED", "99", 1) == 0 && setenv("TUTTI_EMULATED_THREADS", "128", 1) == 0);
  tutti_backend_destroy(cuda.backend);
  make_side(&cuda, "another", "cuda");
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
  assert_true(unsetenv("TUTTI_EMULATED_SEED") == 0 && unsetenv("TUTTI_EMULATED_THREADS") == 0);
}

/* --- jobs that come while others train --- */

enum { COMING = 6 };

struct coming {
  struct tutti_job jobs[COMING];
  struct tutti_outcome outcomes[COMING];
  struct side sides[COMING]; /* who is told of epochs */
  float predictions[COMING][NUMBERS];
  size_t given, done, most, training; /* most: that were there at once */
};

/* Three at first, and one more for each that is done. */
static bool next_coming(void *argument, const struct tutti_job **job, struct tutti_outcome **outcome, size_t *number) {
  struct coming *coming = argument;
  if (coming->given == COMING || coming->given == 3 + coming->done)
    return false;
  *number = coming->given++;
  *job = &coming->jobs[*number];
  *outcome = &coming->outcomes[*number];
  coming->training++;
  coming->most = coming->training > coming->most ? coming->training : coming->most;
  return true;
}

/* Others still train, and want answers. */
static void coming_done(void *argument, size_t number) {
  struct coming *coming = argument;
  assert_int_equal(coming->outcomes[number].state, TUTTI_STATE_FINISHED);
  OK(tutti_backend_predict(context, cuda.backend, &coming->jobs[number], coming->outcomes[number].weights, validation,
                           coming->predictions[number]));
  coming->training--;
  coming->done++;
}

/* The same weights and predictions, to the bit, as alone. */
static void test_queue(void **state) {
  static const int32_t widths[COMING] = {40, 5, 200, 3, 17, 64};
  static struct coming coming;
  const struct tutti_job_queue queue = {sizeof queue, &coming, next_coming, coming_done};
  float alone[NUMBERS];
  (void)state;
  coming = (struct coming){.given = 0};
  for (size_t i = 0; i < COMING; i++) {
    configure(i == 3 ? "epochs=40 batch_size=16" : "epochs=6 batch_size=16");
    coming.jobs[i] = job_of(&cuda, hand_made(widths[i]), i);
    struct cpu_config *own = malloc(sizeof *own);
    memcpy(own, coming.jobs[i].config, sizeof *own);
    coming.jobs[i].config = own;
    coming.jobs[i].progress_argument = &coming.sides[i];
    coming.outcomes[i].size = sizeof coming.outcomes[i];
  }
  OK(tutti_backend_train_queue(context, cuda.backend, &queue));
  assert_int_equal(coming.done, COMING);
  assert_int_equal(coming.most, 3);
  size_t numbers = HELD * tutti_predictions_width(task.kind, task.outputs);
  for (size_t i = 0; i < COMING; i++) {
    struct tutti_outcome outcome = {.size = sizeof outcome};
    coming.sides[i].epochs = 0;
    OK(tutti_backend_train(context, cuda.backend, &coming.jobs[i], &outcome));
    assert_true(same_weights(outcome.weights, coming.outcomes[i].weights));
    OK(tutti_backend_predict(context, cuda.backend, &coming.jobs[i], outcome.weights, validation, alone));
    assert_memory_equal(alone, coming.predictions[i], numbers * sizeof *alone);
    tutti_tensors_destroy(outcome.weights);
    tutti_tensors_destroy(coming.outcomes[i].weights);
    tutti_network_destroy((tutti_network *)(uintptr_t)coming.jobs[i].network);
    free((void *)(uintptr_t)coming.jobs[i].config);
  }
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

static void must_fail(enum tutti_status status, const char *text) {
  assert_int_not_equal(status, TUTTI_OK);
  if (!strstr(tutti_error_message(context), text))
    fail_msg("\"%s\" lacks \"%s\"", tutti_error_message(context), text);
}

static void test_refused(void **state) {
  static const char *const lacks[][2] = {
      {"optimiser=lbfgs", "backend.optimiser = lbfgs: backend cuda does not have it"},
      {"average=0.25", "backend.average: backend cuda"},
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
  configure("epochs=1");
  tutti_network *network = hand_made(60000);
  struct tutti_job job = job_of(&cuda, network, 1);
  assert_true(setenv("TUTTI_EMULATED_MEMORY", "1", 1) == 0);
  tutti_backend_destroy(cuda.backend);
  make_side(&cuda, "little", "cuda");
  enum tutti_status status = tutti_backend_check(context, cuda.backend, &job);
  assert_int_equal(status, TUTTI_ERROR_MEMORY);
  must_fail(status, "MiB, and the device has 1 MiB: lower batch_size, or take backend cpu");
  status = tutti_backend_train(context, cuda.backend, &job, &outcome);
  must_fail(status, "the device has 1 MiB");
  assert_true(unsetenv("TUTTI_EMULATED_MEMORY") == 0);
  tutti_network_destroy(network);
}

/* Jobs that the device has no room for at once are trained one after the other. */
static void test_waves(void **state) {
  struct tutti_outcome together[3], *outcomes[3];
  struct tutti_job jobs[3];
  const struct tutti_job *pointers[3];
  unsigned ends[3] = {0};
  (void)state;
  configure("epochs=1 batch_size=0");
  tutti_network *network = hand_made(3000);
  for (size_t i = 0; i < 3; i++) {
    jobs[i] = job_of(&cuda, network, i);
    jobs[i].progress = NULL;
    together[i] = (struct tutti_outcome){.size = sizeof together[i]};
    outcomes[i] = &together[i];
    pointers[i] = &jobs[i];
  }
  assert_true(setenv("TUTTI_EMULATED_MEMORY", "8", 1) == 0);
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

/* A kernel that fails fails its trials with the runtime's words. */
static void test_broken_kernel(void **state) {
  struct tutti_outcome outcome = {.size = sizeof outcome};
  (void)state;
  configure("epochs=2");
  tutti_network *network = hand_made(4);
  struct tutti_job job = job_of(&cuda, network, 1);
  assert_true(setenv("TUTTI_EMULATED_FAULT", "always", 1) == 0);
  OK(tutti_backend_train(context, cuda.backend, &job, &outcome));
  assert_true(unsetenv("TUTTI_EMULATED_FAULT") == 0);
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
      cmocka_unit_test_setup_teardown(test_draws, begin, end),
      cmocka_unit_test_setup_teardown(test_pool, begin, end),
      cmocka_unit_test_setup_teardown(test_queue, begin, end),
      cmocka_unit_test_setup_teardown(test_stopped, begin, end),
      cmocka_unit_test_setup_teardown(test_diverged, begin, end),
      cmocka_unit_test_setup_teardown(test_refused, begin, end),
      cmocka_unit_test_setup_teardown(test_no_memory, begin, end),
      cmocka_unit_test_setup_teardown(test_waves, begin, end),
      cmocka_unit_test_setup_teardown(test_broken_kernel, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
