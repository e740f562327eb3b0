/* test_cuda_stream.c - the stream engine of backend cuda on an emulated GPU, beside backend cpu: the same losses,
   epoch by epoch, for random networks of every space of images, and with all that a job may ask for; and what goes
   wrong on a device. */
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

#include "cuda_coming.h"
#include "cuda_images.h"
#include "tests/watched.h"

static struct tutti_outcome train_side(struct side *side, const tutti_network *network, uint64_t seed) {
  return side_train(side, side_job(side, network, seed));
}

/* Both sides train; every epoch's losses agree, and predictions of what is kept: whose weights they are does not matter
   to these. */
static void compare(const char *what, const tutti_network *network, uint64_t seed, double most) {
  struct tutti_outcome made = compare_sides(what, side_job(&cpu, network, seed), most);
  size_t count = IMAGES_HELD * tutti_predictions_width(task.kind, task.outputs);
  float a[IMAGES_HELD * 4], b[IMAGES_HELD * 4];
  if (made.state == TUTTI_STATE_FAILED) /* both diverged in one step */
    return;
  assert_in_range(count, 1, IMAGES_HELD * 4);
  struct tutti_job job = side_job(&cpu, network, seed), other = side_job(&cuda, network, seed);
  OK(tutti_backend_predict(context, cpu.backend, &job, made.weights, validation, a));
  OK(tutti_backend_predict(context, cuda.backend, &other, made.weights, validation, b));
  for (size_t i = 0; i < count; i++)
    require_close(what, i, "prediction", (double)a[i], (double)b[i], 2e-5);
  tutti_tensors_destroy(made.weights);
}

/* --- random networks --- */

static void test_stream_trajectories(void **state) {
  static const enum tutti_op heads[] = {TUTTI_OP_HEAD_SOFTMAX, TUTTI_OP_HEAD_GAUSSIAN, TUTTI_OP_HEAD_LINEAR};
  (void)state;
  const char *wanted = getenv("TUTTI_TEST_NETWORKS");
  size_t networks = wanted ? strtoul(wanted, NULL, 10) : 2;
  for (size_t s = 0; s < IMAGES_SPACES; s++) {
    images_task(TUTTI_OP_HEAD_SOFTMAX);
    tutti_space *space = open_space(images_spaces[s].plugin, images_spaces[s].set);
    for (size_t i = 0; i < networks; i++) {
      char what[512];
      const char *training = images_trainings[(i + s) % IMAGES_TRAININGS];
      images_task(heads[i % 3]);
      tutti_network *network = sample(space, "networks of test_cuda_stream", i);
      (void)snprintf(what, sizeof what, "%s %zu, %s", images_spaces[s].plugin, i, training);
      configure(training);
      compare(what, network, 100 + i, 1e-4);
      tutti_network_destroy(network);
    }
    tutti_space_destroy(space);
  }
  assert_true(sensitive * 6 <= networks * IMAGES_SPACES);
}

/* One step of the whole batch by backend and job: the weights that it leaves. */
static tutti_tensors *step_of(struct side *side, struct tutti_job job) {
  struct tutti_outcome outcome = side_train(side, job);
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
  static const double class_weights[IMAGES_CLASSES] = {0.2, 3, 1, 0.5};
  const char *frozen[2] = {NULL, NULL};
  (void)state;
  configure("epochs=3 batch_size=0 optimiser=sgd learning_rate=0.05 keep=last label_smoothing=0.2");
  tutti_network *network = images_network(4);
  struct tutti_job job = side_job(&cpu, network, 1);
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
  tutti_network *network = images_network(5);
  emulate("TUTTI_EMULATED_ALGORITHMS", "2");
  compare("own convolutions", network, 3, 1e-4);
  emulate("TUTTI_EMULATED_ALGORITHMS", NULL);
  tutti_network_destroy(network);
}

static void test_stream_groups(void **state) {
  (void)state;
  configure("epochs=3 batch_size=8 optimiser=sgd learning_rate=0.01");
  tutti_network *network = images_groups();
  compare("convolutions in groups", network, 4, 1e-4);
  tutti_network_destroy(network);
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
    tutti_network *network = images_network(5);
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

/* --- stopping --- */

/* A job that is stopped has the weights of the best epoch so far. */
static void test_stream_stopped(void **state) {
  (void)state;
  configure("epochs=9 batch_size=16");
  tutti_network *network = images_network(4);
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
  tutti_network *network = images_network(4);
  struct tutti_outcome one = train_side(&cpu, network, 1), other = train_side(&cuda, network, 1);
  assert_int_equal(one.state, TUTTI_STATE_FAILED);
  assert_int_equal(other.state, TUTTI_STATE_FAILED);
  assert_non_null(strstr(other.failure, "lower the learning rate 1e+30, or clip gradients"));
  assert_int_equal(other.steps, one.steps);
  assert_null(other.weights);
  tutti_network_destroy(network);
}

/* --- what goes wrong --- */

static struct coming coming;

/* A kernel that fails fails its trial with the runtime's words. */
static void test_stream_broken_kernel(void **state) {
  (void)state;
  needs_emulation();
  configure("epochs=2");
  for (size_t i = 0; i < 2; i++)
    coming_add(&coming, side_job(&cuda, images_network(4), 1));
  emulate("TUTTI_EMULATED_FAULT", "always");
  coming_train_at_once(&coming);
  emulate("TUTTI_EMULATED_FAULT", NULL);
  for (size_t i = 0; i < 2; i++) {
    assert_int_equal(coming.outcomes[i].state, TUTTI_STATE_FAILED);
    assert_non_null(strstr(coming.outcomes[i].failure, "unspecified launch failure (error 719"));
  }
  coming_release(&coming);
}

/* What the engine lacks is named. */
static void test_stream_refused(void **state) {
  uint32_t layer;
  tutti_network *network;
  (void)state;
  configure("optimiser=lbfgs");
  network = images_network(3);
  struct tutti_job job = side_job(&cuda, network, 1);
  must_fail(tutti_backend_check(context, cuda.backend, &job),
            "backend.optimiser = lbfgs: backend cuda does not have it");
  configure("keep=measured");
  job = side_job(&cuda, network, 1);
  must_fail(tutti_backend_check(context, cuda.backend, &job), "backend.keep = measured: backend cuda does not have it");
  tutti_network_destroy(network);
  configure("epochs=1");
  images_task(TUTTI_OP_HEAD_NOMU);
  OK(tutti_network_create(context, task.input, &network));
  OK(tutti_network_add(context, network, TUTTI_OP_GLOBAL_POOL, NULL, 1, &(uint32_t){0}, NULL, &layer));
  OK(tutti_network_add_dense(context, network, NULL, layer, (int32_t)task.outputs, TUTTI_ACTIVATION_LINEAR, &layer));
  uint32_t both[2] = {layer, layer};
  OK(tutti_network_add(context, network, TUTTI_OP_HEAD_NOMU, NULL, 2, both, NULL, &layer));
  job = side_job(&cuda, network, 1);
  must_fail(tutti_backend_check(context, cuda.backend, &job), "op head-nomu");
  tutti_network_destroy(network);
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
  for (size_t i = 0; i < 8; i++) {
    configure(i == 0 ? "epochs=24 batch_size=8" : "epochs=2 batch_size=16");
    coming_add(&coming, side_job(&cuda, images_network(3 + (int32_t)i), i));
  }
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

int main(void) {
  if (watched_by_valgrind()) {
    puts("skipped: valgrind does not follow threads of the emulated GPU, which change stacks");
    return 77;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_stream_trajectories, images_begin, images_end),
      cmocka_unit_test_setup_teardown(test_stream_honours, images_begin, images_end),
      cmocka_unit_test_setup_teardown(test_stream_own_convolutions, images_begin, images_end),
      cmocka_unit_test_setup_teardown(test_stream_groups, images_begin, images_end),
      cmocka_unit_test_setup_teardown(test_stream_average, images_begin, images_end),
      cmocka_unit_test_setup_teardown(test_stream_stopped, images_begin, images_end),
      cmocka_unit_test_setup_teardown(test_stream_diverged, images_begin, images_end),
      cmocka_unit_test_setup_teardown(test_stream_broken_kernel, images_begin, images_end),
      cmocka_unit_test_setup_teardown(test_stream_refused, images_begin, images_end),
      /* The last: this process has no device then. */
      cmocka_unit_test_setup_teardown(test_stream_lost, images_begin, images_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
