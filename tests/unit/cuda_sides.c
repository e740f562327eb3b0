/* cuda_sides.c - backend cuda on an emulated GPU, or on a device, and backend cpu, side by side. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backends/cpu/cpu_impl.h"
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

void count_end(void *ends, size_t index) { ((unsigned *)ends)[index]++; }

/* --- a queue --- */

void coming_add(struct coming *coming, struct tutti_job job) {
  size_t i = coming->count++;
  struct cpu_config *own = malloc(sizeof *own);
  assert_in_range(i, 0, COMING_MOST - 1);
  memcpy(own, job.config, sizeof *own);
  coming->jobs[i] = job;
  coming->jobs[i].config = own;
  coming->jobs[i].progress_argument = &coming->sides[i];
  coming->outcomes[i].size = sizeof coming->outcomes[i];
}

static bool next_coming(void *argument, const struct tutti_job **job, struct tutti_outcome **outcome, size_t *number) {
  struct coming *coming = argument;
  if (coming->given == coming->count || coming->given == 3 + coming->done)
    return false;
  coming->refilled += coming->done > 0 && coming->training > 0;
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
  if (coming->outcomes[number].state == TUTTI_STATE_FINISHED) {
    enum tutti_status status =
        tutti_backend_predict(context, cuda.backend, &coming->jobs[number], coming->outcomes[number].weights,
                              validation, coming->predictions[number]);
    if (coming->loses)
      tutti_error_clear(context);
    else
      OK(status);
  }
  coming->training--;
  coming->done++;
  if (coming->each)
    coming->each(coming, number);
}

enum tutti_status coming_train(struct coming *coming) {
  const struct tutti_job_queue queue = {sizeof queue, coming, next_coming, coming_done};
  coming->numbers = tutti_split_rows(validation) * tutti_predictions_width(task.kind, task.outputs);
  assert_in_range(coming->numbers, 1, COMING_NUMBERS);
  return tutti_backend_train_queue(context, cuda.backend, &queue);
}

void coming_require_alone(struct coming *coming) {
  float alone[COMING_NUMBERS];
  for (size_t i = 0; i < coming->count; i++) {
    struct tutti_outcome outcome = {.size = sizeof outcome};
    coming->sides[i].epochs = 0;
    if (coming->outcomes[i].state != TUTTI_STATE_FINISHED)
      fail_msg("job %zu: %s", i, coming->outcomes[i].failure);
    OK(tutti_backend_train(context, cuda.backend, &coming->jobs[i], &outcome));
    assert_true(same_weights(outcome.weights, coming->outcomes[i].weights));
    OK(tutti_backend_predict(context, cuda.backend, &coming->jobs[i], outcome.weights, validation, alone));
    assert_memory_equal(alone, coming->predictions[i], coming->numbers * sizeof *alone);
    tutti_tensors_destroy(outcome.weights);
  }
}

void coming_release(struct coming *coming) {
  for (size_t i = 0; i < coming->count; i++) {
    tutti_tensors_destroy(coming->outcomes[i].weights);
    tutti_network_destroy((tutti_network *)(uintptr_t)coming->jobs[i].network);
    free((void *)(uintptr_t)coming->jobs[i].config);
  }
  memset(coming, 0, sizeof *coming);
}

/* --- predictions that find little memory --- */

static struct {
  const tutti_split *many;
  float *in_parts;
  const tutti_tensors *weights;
  size_t first;                       /* that was done */
  size_t epochs_before, epochs_after; /* of the one that trains meanwhile */
} asked;

static void ask_many(struct coming *coming, size_t number) {
  if (coming->done > 1)
    return;
  asked.first = number;
  OK(tutti_backend_predict(context, cuda.backend, &coming->jobs[number], coming->outcomes[number].weights, asked.many,
                           asked.in_parts));
}

void coming_require_parts(struct coming *coming, const char *memory, const tutti_split *many) {
  const size_t size = tutti_split_rows(many) * tutti_predictions_width(task.kind, task.outputs) * sizeof(float);
  float *in_parts = calloc(1, size), *at_once = calloc(1, size);
  asked.many = many;
  asked.in_parts = in_parts;
  coming->each = ask_many;
  emulate("TUTTI_EMULATED_MEMORY", memory);
  OK(coming_train(coming));
  emulate("TUTTI_EMULATED_MEMORY", NULL);
  const struct tutti_job *job = &coming->jobs[asked.first];
  const tutti_tensors *weights = coming->outcomes[asked.first].weights;
  OK(tutti_backend_predict(context, cuda.backend, job, weights, many, at_once));
  assert_memory_equal(in_parts, at_once, size);
  memset(in_parts, 0, size);
  emulate("TUTTI_EMULATED_MEMORY", memory);
  OK(tutti_backend_predict(context, cuda.backend, job, weights, many, in_parts));
  emulate("TUTTI_EMULATED_MEMORY", NULL);
  assert_memory_equal(in_parts, at_once, size);
  free(in_parts);
  free(at_once);
}

static void ask_large(struct coming *coming, size_t number) {
  float out[COMING_NUMBERS];
  if (number != 0)
    return;
  asked.epochs_before = coming->sides[1].epochs;
  OK(tutti_backend_predict(context, cuda.backend, &coming->jobs[1], asked.weights, validation, out));
  asked.epochs_after = coming->sides[1].epochs;
  assert_int_equal(coming->done, 1);
}

void coming_require_wait(struct coming *coming, const char *memory, const tutti_tensors *weights) {
  size_t epochs = (size_t)((const struct cpu_config *)coming->jobs[1].config)->epochs;
  asked.weights = weights;
  coming->each = ask_large;
  emulate("TUTTI_EMULATED_MEMORY", memory);
  OK(coming_train(coming));
  emulate("TUTTI_EMULATED_MEMORY", NULL);
  assert_in_range(asked.epochs_before, 0, epochs - 2);
  assert_in_range(asked.epochs_after, epochs - 1, epochs); /* the last is told with the end */
  for (size_t i = 0; i < 2; i++)
    if (coming->outcomes[i].state != TUTTI_STATE_FINISHED)
      fail_msg("job %zu: %s", i, coming->outcomes[i].failure);
}

void require_no_memory_to_predict(const struct tutti_job *job, const tutti_tensors *weights) {
  float out[COMING_NUMBERS];
  char text[128];
  emulate("TUTTI_EMULATED_MEMORY", "1");
  enum tutti_status status = tutti_backend_predict(context, cuda.backend, job, weights, validation, out);
  emulate("TUTTI_EMULATED_MEMORY", NULL);
  assert_int_equal(status, TUTTI_ERROR_MEMORY);
  (void)snprintf(text, sizeof text, "out of memory on the device: predictions of %zu rows at once need ",
                 tutti_split_rows(validation));
  must_fail(status, text);
  must_fail(status, " MiB, and 1 of 1 MiB are free; take backend cpu");
}
