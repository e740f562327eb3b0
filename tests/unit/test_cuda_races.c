/* test_cuda_races.c - no two threads of backend cuda's kernels race (tests/cuda/races.c). Both engines train small
   networks that have all of their ops between them, predict, and tell gradients, on a build whose accesses to memory
   are watched: the first race ends the process. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <stdio.h>
#include <tutti/tutti.h>

#include "cuda_sides.h"
#include "tests/watched.h"

enum { FEATURES = 5, SIDE = 6, CHANNELS = 2, ROWS = 40, HELD = 5, OUTPUTS = 2, CLASSES = 3 };

static bool images;

/* --- the setting --- */

static tutti_split *make_split(const char *name, size_t rows, uint64_t index) {
  struct tutti_random random;
  size_t features = (size_t)task.input.height * (size_t)task.input.width * (size_t)task.input.channels;
  float *inputs = calloc(rows * features, sizeof *inputs), *targets = calloc(rows * OUTPUTS, sizeof *targets);
  int32_t *labels = calloc(rows, sizeof *labels);
  tutti_split *split;
  bool classes = task.kind == TUTTI_TASK_CLASSIFICATION;
  tutti_random_init(&random, 5, "rows of test_cuda_races", index);
  tutti_random_fill_normal(&random, rows * features, 0, 1, inputs);
  tutti_random_fill_normal(&random, rows * OUTPUTS, 0, 1, targets);
  for (size_t r = 0; r < rows; r++)
    labels[r] = (int32_t)(r % CLASSES);
  OK(tutti_split_create(context, name, rows, task.input, task.outputs, inputs, classes ? NULL : targets,
                        classes ? labels : NULL, &split));
  free(inputs), free(targets), free(labels);
  return split;
}

static void make_task(enum tutti_op head) {
  static const struct tutti_attribute nomu[] = {{"pi_sqr", 0.5},   {"pi_exp", 0.5}, {"c_exp", 3}, {"margin", 0.2},
                                                {"artificial", 5}, {"l_min", 0.5},  {NULL, 0}};
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
  if (images)
    task.input = (struct tutti_shape){SIDE, SIDE, CHANNELS};
  train = make_split("train", ROWS, 0);
  validation = make_split("validation", HELD, 1);
}

static int begin(void **state) {
  images = *(const char *)*state == 'i';
  emulated_build = "tests/cuda/races";
  open_sides(make_task, TUTTI_OP_HEAD_SOFTMAX);
  return 0;
}

static int end(void **state) {
  (void)state;
  close_sides();
  return 0;
}

/* Train, predict, and differentiate. */
static void use_with(const tutti_network *network, const char *precision, const char *settings) {
  struct tutti_outcome outcome = {.size = sizeof outcome};
  float out[HELD * 8], parts[HELD * 8];
  tutti_tensors *gradient;
  double loss;
  configure(settings);
  OK(tutti_config_set(context, cuda.config, "precision", precision));
  struct tutti_job job = side_job(&cuda, network, 3);
  cuda.epochs = 0;
  OK(tutti_backend_train(context, cuda.backend, &job, &outcome));
  if (outcome.state != TUTTI_STATE_FINISHED)
    fail_msg("%s: %s", settings, outcome.failure);
  assert_in_range(tutti_predictions_width(task.kind, task.outputs), 1, 8);
  if (tutti_backend_tells_epistemic(cuda.backend, &job))
    OK(tutti_backend_predict_parts(context, cuda.backend, &job, outcome.weights, validation, out, parts));
  else
    OK(tutti_backend_predict(context, cuda.backend, &job, outcome.weights, validation, out));
  OK(tutti_backend_gradient(context, cuda.backend, &job, outcome.weights, &loss, &gradient));
  assert_true(isfinite(loss));
  tutti_tensors_destroy(gradient);
  tutti_tensors_destroy(outcome.weights);
}

static void use(const tutti_network *network, const char *settings) { use_with(network, "float32", settings); }

/* --- networks of tables --- */

static uint32_t add(tutti_network *network, enum tutti_op op, size_t count, const uint32_t *inputs,
                    const struct tutti_attribute *attributes) {
  uint32_t layer;
  OK(tutti_network_add(context, network, op, NULL, count, inputs, attributes, &layer));
  return layer;
}

/* A layer of every op of the block engine; head-nomu has no batch norm. */
static tutti_network *every_op(int32_t width) {
  tutti_network *network;
  uint32_t layer, ends[3];
  OK(tutti_network_create(context, task.input, &network));
  OK(tutti_network_add_dense(context, network, NULL, 0, width, TUTTI_ACTIVATION_SWISH, &layer));
  ends[0] = add(network, task.head == TUTTI_OP_HEAD_NOMU ? TUTTI_OP_IDENTITY : TUTTI_OP_BATCH_NORM, 1, &layer, NULL);
  OK(tutti_network_add_dense(context, network, NULL, ends[0], width, TUTTI_ACTIVATION_RELU, &ends[1]));
  ends[2] = add(network, TUTTI_OP_ZERO, 1, &layer, NULL);
  layer = add(network, TUTTI_OP_ADD, 2, ends, NULL);
  layer = add(network, TUTTI_OP_DROPOUT, 1, &layer, TUTTI_ATTRIBUTES({"rate", 0.3}));
  layer = add(network, TUTTI_OP_DROP_PATH, 1, &layer, TUTTI_ATTRIBUTES({"rate", 0.2}));
  ends[1] = layer;
  layer = add(network, TUTTI_OP_MEAN, 3, ends, NULL);
  layer = add(network, TUTTI_OP_ACTIVATION, 1, &layer, TUTTI_ATTRIBUTES({"activation", TUTTI_ACTIVATION_CRELU}));
  OK(tutti_network_add_dense(context, network, NULL, layer, 9, TUTTI_ACTIVATION_TANH, &ends[0]));
  ends[1] = add(network, TUTTI_OP_ACTIVATION, 1, &layer, TUTTI_ATTRIBUTES({"activation", TUTTI_ACTIVATION_GELU}));
  layer = add(network, TUTTI_OP_CONCAT, 2, ends, NULL);
  OK(tutti_network_add_head(context, network, layer, &task));
  return network;
}

static void test_tables(void **state) {
  static const char *const trainings[] = {
      "epochs=3 batch_size=5 optimiser=adam learning_rate=0.001 l2=1e-3 gradient_clip=0.5 average=0.7",
      "epochs=2 batch_size=0 optimiser=sgd momentum=0.9 gradient_clip=0.1 gradient_clip_by=variable",
      "epochs=2 batch_size=4 optimiser=adadelta prediction_draws=3",
      "epochs=2 batch_size=6 optimiser=nadam prediction_draws=2 keep=last",
  };
  static const enum tutti_op heads[] = {TUTTI_OP_HEAD_SOFTMAX, TUTTI_OP_HEAD_GAUSSIAN, TUTTI_OP_HEAD_LINEAR,
                                        TUTTI_OP_HEAD_NOMU};
  (void)state;
  for (size_t h = 0; h < 4; h++) {
    make_task(heads[h]);
    tutti_network *network = every_op(11);
    use(network, trainings[h]);
    tutti_network_destroy(network);
  }
  make_task(TUTTI_OP_HEAD_GAUSSIAN);
  /* Of 150 units a block's shared memory has no room for all: products are staged or, of up to four rows, thin; the
     gradients of biases are summed up in parts from 16 rows on. Also by tensor cores. */
  static const char *const staged[] = {
      "epochs=1 batch_size=0", "epochs=1 batch_size=20 gradient_clip=0.1",
      "epochs=1 batch_size=19", /* and a step of two rows */
      "epochs=1 batch_size=39", /* and one of a single row */
  };
  tutti_network *network = every_op(150);
  for (size_t i = 0; i < 2 * sizeof staged / sizeof *staged; i++)
    use_with(network, i % 2 ? "tf32" : "float32", staged[i / 2]);
  tutti_network_destroy(network);
  network = every_op(6); /* without validation rows */
  struct tutti_job job = side_job(&cuda, network, 3);
  job.validation = NULL;
  struct tutti_outcome outcome = {.size = sizeof outcome};
  cuda.epochs = 0;
  OK(tutti_backend_train(context, cuda.backend, &job, &outcome));
  assert_int_equal(outcome.state, TUTTI_STATE_FINISHED);
  tutti_tensors_destroy(outcome.weights);
  tutti_network_destroy(network);
}

enum { JOBS = 9 };
static struct tutti_outcome together[JOBS];
static struct tutti_job jobs[JOBS];

/* The block that has trained it predicts, while others train. */
static void predict_ended(void *ends, size_t index) {
  float out[HELD * 8];
  ((unsigned *)ends)[index]++;
  OK(tutti_backend_predict(context, cuda.backend, &jobs[index], together[index].weights, validation, out));
}

/* Jobs of different sizes, of which a block takes one after the other. */
static void test_many(void **state) {
  struct tutti_outcome *outcomes[JOBS];
  const struct tutti_job *pointers[JOBS];
  tutti_network *networks[JOBS];
  unsigned ends[JOBS] = {0};
  (void)state;
  make_task(TUTTI_OP_HEAD_GAUSSIAN);
  tutti_space *space = open_space("dense-skip", (const char *const[][2]){{"nodes", "2"}, {"widths", "4 9"}, {NULL}});
  configure("epochs=2 batch_size=8");
  for (size_t i = 0; i < JOBS; i++) {
    networks[i] = sample(space, "networks of test_cuda_races", i);
    jobs[i] = side_job(&cuda, networks[i], i);
    jobs[i].progress = NULL;
    together[i] = (struct tutti_outcome){.size = sizeof together[i]};
    outcomes[i] = &together[i];
    pointers[i] = &jobs[i];
  }
  OK(tutti_backend_train_many(context, cuda.backend, JOBS, pointers, outcomes, predict_ended, ends));
  for (size_t i = 0; i < JOBS; i++) {
    if (together[i].state != TUTTI_STATE_FINISHED)
      fail_msg("%s", together[i].failure);
    tutti_tensors_destroy(together[i].weights);
    tutti_network_destroy(networks[i]);
  }
  tutti_space_destroy(space);
}

/* --- ends before the last epoch --- */

/* A loss of a mini-batch that is not finite, and one of the validation rows. */
static void test_diverged(void **state) {
  static const char *const trainings[] = {"epochs=3 batch_size=5 optimiser=sgd learning_rate=1e30",
                                          "epochs=3 batch_size=0 optimiser=sgd learning_rate=1e30"};
  uint32_t layer;
  tutti_network *network;
  (void)state;
  make_task(TUTTI_OP_HEAD_LINEAR);
  OK(tutti_network_create(context, task.input, &network));
  OK(tutti_network_add_dense(context, network, NULL, 0, 5, TUTTI_ACTIVATION_RELU, &layer));
  OK(tutti_network_add_head(context, network, layer, &task));
  for (size_t i = 0; i < 2; i++) {
    struct tutti_outcome outcome = {.size = sizeof outcome};
    configure(trainings[i]);
    struct tutti_job job = side_job(&cuda, network, 3);
    cuda.epochs = 0;
    OK(tutti_backend_train(context, cuda.backend, &job, &outcome));
    assert_int_equal(outcome.state, TUTTI_STATE_FAILED);
  }
  tutti_network_destroy(network);
}

static void test_stopped(void **state) {
  struct tutti_outcome outcome = {.size = sizeof outcome};
  (void)state;
  configure("epochs=9 batch_size=5");
  tutti_network *network = every_op(7);
  struct tutti_job job = side_job(&cuda, network, 3);
  cuda.epochs = 0;
  cuda.stop_after = 2;
  OK(tutti_backend_train(context, cuda.backend, &job, &outcome));
  assert_int_equal(outcome.state, TUTTI_STATE_PRUNED);
  tutti_tensors_destroy(outcome.weights);
  tutti_network_destroy(network);
}

static bool cancel(void *argument, const struct tutti_epoch *epoch) {
  (void)argument, (void)epoch;
  tutti_cancel(context);
  return true;
}

/* One that reports cancels all; the other, which does not, finds that between two steps. */
static void test_cancelled(void **state) {
  struct tutti_outcome both[2] = {{.size = sizeof both[0]}, {.size = sizeof both[0]}};
  struct tutti_outcome *const outcomes[2] = {&both[0], &both[1]};
  (void)state;
  configure("epochs=1000 batch_size=5");
  tutti_network *network = every_op(7);
  struct tutti_job first = side_job(&cuda, network, 3), second = side_job(&cuda, network, 4);
  const struct tutti_job *const pointers[2] = {&first, &second};
  first.progress = cancel;
  second.progress = NULL;
  assert_int_equal(tutti_backend_train_many(context, cuda.backend, 2, pointers, outcomes, NULL, NULL),
                   TUTTI_ERROR_CANCELLED);
  tutti_network_destroy(network);
}

/* --- networks of images --- */

static const struct {
  const char *plugin;
  const char *const (*set)[2];
} spaces[] = {
    {"darts",
     (const char *const[][2]){
         {"cells", "3"}, {"channels", "3"}, {"nodes", "2"}, {"drop_path", "0.3"}, {"dropout", "0.1"}, {NULL, NULL}}},
    {"nasbench201", (const char *const[][2]){{"cells", "1"}, {"channels", "3"}, {"stages", "2"}, {NULL, NULL}}},
    {"layer-graph-cnn", (const char *const[][2]){{"min_units", "2"}, {"max_units", "6"}, {NULL, NULL}}}};

static void test_images(void **state) {
  static const enum tutti_op heads[] = {TUTTI_OP_HEAD_SOFTMAX, TUTTI_OP_HEAD_GAUSSIAN, TUTTI_OP_HEAD_LINEAR};
  static const char *const trainings[] = {
      "epochs=1 batch_size=8 optimiser=sgd learning_rate=0.001 l2=1e-4 gradient_clip=1",
      "epochs=2 batch_size=0 optimiser=adam learning_rate=0.001 gradient_clip=1 gradient_clip_by=variable average=0.5",
      "epochs=1 batch_size=8 optimiser=rmsprop learning_rate=0.001"};
  (void)state;
  emulate("TUTTI_EMULATED_ALGORITHMS", "2"); /* own kernels for all convolutions */
  emulate("TUTTI_EMULATED_THREADS", "128");  /* so many that a thread adds what others have summed */
  make_cuda_again("wide");
  for (size_t s = 0; s < sizeof spaces / sizeof spaces[0]; s++) {
    make_task(heads[s]);
    tutti_space *space = open_space(spaces[s].plugin, spaces[s].set);
    tutti_network *network = sample(space, "images of test_cuda_races", s);
    use(network, trainings[s]);
    tutti_network_destroy(network);
    tutti_space_destroy(space);
  }
  emulate("TUTTI_EMULATED_ALGORITHMS", NULL);
  emulate("TUTTI_EMULATED_THREADS", NULL);
}

int main(void) {
  static char tables_kind[] = "tables", images_kind[] = "images";
  if (watched_by_valgrind()) {
    puts("skipped: valgrind does not follow threads of the emulated GPU, which change stacks");
    return 77;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_prestate_setup_teardown(test_tables, begin, end, tables_kind),
      cmocka_unit_test_prestate_setup_teardown(test_many, begin, end, tables_kind),
      cmocka_unit_test_prestate_setup_teardown(test_diverged, begin, end, tables_kind),
      cmocka_unit_test_prestate_setup_teardown(test_stopped, begin, end, tables_kind),
      cmocka_unit_test_prestate_setup_teardown(test_cancelled, begin, end, tables_kind),
      cmocka_unit_test_prestate_setup_teardown(test_images, begin, end, images_kind),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
