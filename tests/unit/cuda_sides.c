/* cuda_sides.c - backend cuda on an emulated GPU, or on a device, and backend cpu, side by side. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cuda_sides.h"

tutti_context *context;
tutti_host *host;
struct tutti_task task;
tutti_split *train, *validation;
struct side cpu, twin, cuda;
const char *emulated_build = "tests/cuda";

void make_side(struct side *side, const char *section, const char *plugin) {
  struct tutti_backend_setup setup = {.size = sizeof setup, .task = &task};
  OK(tutti_host_put(context, host, section, TUTTI_KIND_BACKEND, plugin));
  OK(tutti_backend_create(context, host, section, &setup, &side->backend));
}

void make_cuda_again(const char *section) {
  tutti_backend_destroy(cuda.backend);
  make_side(&cuda, section, "cuda");
}

bool on_device(void) {
  const char *where = getenv("TUTTI_TEST_CUDA");
  return where && strcmp(where, "device") == 0;
}

void needs_emulation(void) {
  if (on_device())
    skip();
}

void emulate(const char *name, const char *value) {
  assert_int_equal(value ? setenv(name, value, 1) : unsetenv(name), 0);
}

void open_sides(void (*make_task)(enum tutti_op head), enum tutti_op head) {
  struct tutti_host_facts facts = {.size = sizeof facts};
  char emulated[4096];
  (void)snprintf(emulated, sizeof emulated, "%s/%s/.libs", getenv("TUTTI_TEST_BUILDDIR"), emulated_build);
  OK(tutti_context_create(&context));
  OK(tutti_plugin_scan_with(context, getenv("TUTTI_PROGRAM")));
  if (!on_device())
    OK(tutti_plugin_path_add(context, emulated));
  make_task(head);
  OK(tutti_host_create(context, &facts, &host));
  make_side(&cpu, "cpu", "cpu");
  make_side(&cuda, "cuda", "cuda");
  make_side(&twin, "twin", "cpu");
}

void close_sides(void) {
  struct side *const sides[] = {&cpu, &cuda, &twin};
  tutti_split_destroy(train);
  tutti_split_destroy(validation);
  train = validation = NULL;
  for (size_t i = 0; i < 3; i++) {
    tutti_config_destroy(sides[i]->config);
    tutti_backend_destroy(sides[i]->backend);
    memset(sides[i], 0, sizeof *sides[i]);
  }
  tutti_host_destroy(host);
  tutti_context_destroy(context);
}

bool watch(void *argument, const struct tutti_epoch *epoch) {
  struct side *side = argument;
  assert_int_equal(epoch->epoch, side->epochs + 1);
  if (side->epochs < SIDE_EPOCHS) {
    side->losses[side->epochs][0] = epoch->train_loss;
    side->losses[side->epochs][1] = epoch->validation_loss;
  }
  side->epochs++;
  return side->epochs != side->stop_after;
}

void configure(const char *settings) {
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

tutti_network *sample(const tutti_space *space, const char *purpose, uint64_t index) {
  struct tutti_random random;
  tutti_genotype *genotype;
  tutti_network *network;
  tutti_random_init(&random, 11, purpose, index);
  OK(tutti_space_sample(context, space, &random, &genotype));
  OK(tutti_space_decode(context, genotype, &task, &network));
  tutti_genotype_unref(genotype);
  return network;
}

tutti_space *open_space(const char *plugin, const char *const (*set)[2]) {
  struct tutti_space_setup setup = {.size = sizeof setup, .task = &task};
  tutti_space *space;
  OK(tutti_host_put(context, host, plugin, TUTTI_KIND_SPACE, plugin));
  for (; set && (*set)[0]; set++)
    OK(tutti_host_set(context, host, plugin, (*set)[0], (*set)[1]));
  OK(tutti_space_create(context, host, plugin, &setup, &space));
  return space;
}

void require_close(const char *what, size_t epoch, const char *which, double a, double b, double most) {
  if (!(fabs(a - b) <= most * fmax(1, fabs(a))) && !(isnan(a) && isnan(b)))
    fail_msg("%s, epoch %zu, %s: cpu %.9g, cuda %.9g", what, epoch + 1, which, a, b);
}

bool same_weights(const tutti_tensors *one, const tutti_tensors *other) {
  for (size_t i = 0; i < tutti_tensors_count(one); i++) {
    const struct tutti_tensor *a = tutti_tensors_at(one, i), *b = tutti_tensors_at(other, i);
    if (a->bytes != b->bytes || memcmp(a->data, b->data, a->bytes) != 0)
      return false;
  }
  return tutti_tensors_count(one) == tutti_tensors_count(other);
}

void must_fail(enum tutti_status status, const char *text) {
  assert_int_not_equal(status, TUTTI_OK);
  if (!strstr(tutti_error_message(context), text))
    fail_msg("\"%s\" lacks \"%s\"", tutti_error_message(context), text);
}

/* --- trainings --- */

struct tutti_job side_job(struct side *side, const tutti_network *network, uint64_t seed) {
  return (struct tutti_job){.size = sizeof(struct tutti_job),
                            .run_seed = 7,
                            .seed = seed,
                            .task = &task,
                            .network = network,
                            .config = tutti_config_values(side->config),
                            .train = train,
                            .validation = validation,
                            .progress = watch,
                            .progress_argument = side};
}

struct tutti_outcome side_train(struct side *side, struct tutti_job job) {
  struct tutti_outcome outcome = {.size = sizeof outcome};
  side->epochs = 0;
  job.config = tutti_config_values(side->config);
  job.progress_argument = side;
  OK(tutti_backend_train(context, side->backend, &job, &outcome));
  return outcome;
}

/* --- beside backend cpu --- */

size_t sensitive;

/* The rows of a split, whose inputs are changed by `change` of them. */
static tutti_split *changed_rows(const tutti_split *split, double change, uint64_t index) {
  const struct tutti_shape shape = tutti_split_input(split);
  const size_t rows = tutti_split_rows(split);
  const size_t count = rows * (size_t)shape.height * (size_t)shape.width * (size_t)shape.channels;
  const float *from = tutti_split_inputs(split);
  float *inputs = calloc(count, sizeof *inputs);
  struct tutti_random random;
  tutti_split *made;
  tutti_random_init(&random, 6, "changed rows", index);
  for (size_t i = 0; i < count; i++)
    inputs[i] = from[i] * (float)(1 + change * tutti_random_normal(&random));
  OK(tutti_split_create(context, tutti_split_name(split), rows, shape, tutti_split_outputs(split), inputs,
                        tutti_split_targets(split), tutti_split_labels(split), &made));
  free(inputs);
  return made;
}

void twins_apart(const char *what, struct tutti_job job, double change, double (*apart)[2]) {
  enum { TWINS = 4 };
  double furthest = 0;
  memset(apart, 0, SIDE_EPOCHS * sizeof *apart);
  for (uint64_t t = 0; t < TWINS; t++) {
    tutti_split *rows = changed_rows(job.train, change, t);
    struct tutti_job other = job;
    double most[2] = {0, 0};
    other.train = rows;
    struct tutti_outcome outcome = side_train(&twin, other);
    for (size_t e = 0; e < cpu.epochs; e++)
      for (size_t k = 0; k < 2; k++) {
        if (e < twin.epochs)
          most[k] = fmax(most[k], fabs(twin.losses[e][k] - cpu.losses[e][k]));
        apart[e][k] = fmax(apart[e][k], most[k]);
      }
    tutti_tensors_destroy(outcome.weights);
    tutti_split_destroy(rows);
  }
  for (size_t e = 0; e < cpu.epochs; e++)
    for (size_t k = 0; k < 2; k++)
      furthest = fmax(furthest, fabs(cuda.losses[e][k] - cpu.losses[e][k]) / fmax(apart[e][0], apart[e][1]));
  sensitive++;
  if (getenv("TUTTI_TEST_NETWORKS"))
    print_message("sensitive: %s: %.2g times as far as twins\n", what, furthest);
}

struct tutti_outcome compare_sides(const char *what, struct tutti_job job, double most) {
  static double apart[SIDE_EPOCHS][2];
  struct tutti_outcome one = side_train(&cpu, job), other = side_train(&cuda, job);
  if (one.state == TUTTI_STATE_FAILED && strcmp(one.failure, other.failure) == 0)
    return other;
  if (one.state != TUTTI_STATE_FINISHED || other.state != TUTTI_STATE_FINISHED)
    fail_msg("%s: cpu %s, cuda %s", what, one.failure, other.failure);
  assert_int_equal(cpu.epochs, cuda.epochs);
  bool close = true;
  for (size_t e = 0; e < cpu.epochs; e++)
    for (size_t k = 0; k < 2; k++)
      close = close && fabs(cuda.losses[e][k] - cpu.losses[e][k]) <= most * fmax(1, fabs(cpu.losses[e][k]));
  if (!close)
    twins_apart(what, job, 1e-6, apart);
  for (size_t e = 0; e < cpu.epochs && !close; e++)
    for (size_t k = 0; k < 2; k++)
      require_close(what, e, k == 0 ? "training loss" : "validation loss", cpu.losses[e][k], cuda.losses[e][k],
                    fmax(most, 10 * fmax(apart[e][0], apart[e][1]) / fmax(1, fabs(cpu.losses[e][k]))));
  assert_int_equal(one.steps, other.steps);
  assert_int_equal(one.epochs, other.epochs);
  tutti_tensors_destroy(one.weights);
  return other;
}
