/* cpu_training.h - for tests of how backend cpu trains: a small task, a network, a job that is watched, and a count of
   allocations. Include it behind cpu.c. */
#ifndef CPU_TRAINING_H
#define CPU_TRAINING_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* --- a count of allocations: glibc's own functions stand behind --- */

static _Atomic size_t allocations;

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define COUNTS_ALLOCATIONS 1
static bool c_allocation_fails;
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
/* Visible to the libraries, which are to call them, too. */
#pragma GCC visibility push(default)
void *malloc(size_t size) {
  allocations++;
  return c_allocation_fails ? NULL : __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
  allocations++;
  return c_allocation_fails ? NULL : __libc_calloc(count, size);
}
void *aligned_alloc(size_t alignment, size_t size) {
  allocations++;
  return __libc_memalign(alignment, size);
}
#pragma GCC visibility pop
#else
#define COUNTS_ALLOCATIONS 0
#endif

/* Whether malloc and calloc fail; tutti_alloc is not affected. */
static inline void fail_c_allocations(bool fail) {
#if COUNTS_ALLOCATIONS
  c_allocation_fails = fail;
#else
  (void)fail;
#endif
}

/* --- the setting --- */

enum { FEATURES = 3, ROWS = 203, HELD = 61 };

struct setting {
  tutti_context *context;
  void *backend;
  struct tutti_task task;
  tutti_split *train, *validation;
  tutti_network *network;
  tutti_config *config;
  struct cpu_config *values;
  struct tutti_job job;
  struct tutti_outcome outcome;
  /* what progress saw */
  struct tutti_epoch epochs[256];
  size_t seen, stop_after, allocated;
};

#define OK(call)                                                                                                       \
  do {                                                                                                                 \
    if ((call) != TUTTI_OK)                                                                                            \
      fail_msg("%s", tutti_error_message(s->context));                                                                 \
  } while (0)

static inline bool watch(void *argument, const struct tutti_epoch *epoch) {
  struct setting *s = argument;
  s->epochs[s->seen++] = *epoch;
  if (s->seen == 1)
    s->allocated = allocations;
  return s->stop_after == 0 || s->seen < s->stop_after;
}

static inline tutti_split *make_split(struct setting *s, const char *name, size_t rows) {
  bool classes = s->task.kind == TUTTI_TASK_CLASSIFICATION;
  float *x = malloc(rows * FEATURES * sizeof *x), *y = malloc(rows * sizeof *y);
  int32_t *labels = malloc(rows * sizeof *labels);
  struct tutti_random random;
  tutti_random_init(&random, 11, name, 0);
  tutti_random_fill_normal(&random, rows * FEATURES, 0, 1, x);
  for (size_t r = 0; r < rows; r++) {
    float signal = sinf(2 * x[r * FEATURES]) + 0.5f * x[r * FEATURES + 1];
    y[r] = signal + 0.1f * (float)tutti_random_normal(&random);
    labels[r] = signal > 0.5f ? 2 : signal > -0.5f;
  }
  tutti_split *split;
  OK(tutti_split_create(s->context, name, rows, s->task.input, s->task.outputs, x, classes ? NULL : y,
                        classes ? labels : NULL, &split));
  free(x), free(y), free(labels);
  return split;
}

static inline struct setting *begin(enum tutti_op head) {
  struct setting *s = calloc(1, sizeof *s);
  assert_int_equal(tutti_context_create(&s->context), TUTTI_OK);
  bool classes = head == TUTTI_OP_HEAD_SOFTMAX;
  s->task = (struct tutti_task){.size = sizeof s->task,
                                .kind = classes ? TUTTI_TASK_CLASSIFICATION : TUTTI_TASK_REGRESSION,
                                .input = {1, 1, FEATURES},
                                .outputs = classes ? 3 : 1,
                                .train_rows = ROWS,
                                .head = head};
  s->train = make_split(s, "train", ROWS);
  s->validation = make_split(s, "validation", HELD);
  OK(tutti_config_create(s->context, &cpu_descriptor.params, &s->config));
  s->values = (struct cpu_config *)(uintptr_t)tutti_config_values(s->config);
  struct tutti_backend_setup setup = {.size = sizeof setup, .task = &s->task};
  OK(cpu_descriptor.create(s->context, s->values, &setup, &s->backend));
  uint32_t layer;
  OK(tutti_network_create(s->context, s->task.input, &s->network));
  OK(tutti_network_add_dense(s->context, s->network, NULL, 0, 24, TUTTI_ACTIVATION_TANH, &layer));
  OK(tutti_network_add_dropout(s->context, s->network, "dropout", layer, 0.05, &layer));
  OK(tutti_network_add_dense(s->context, s->network, NULL, layer, 20, TUTTI_ACTIVATION_RELU, &layer));
  OK(tutti_network_add_head(s->context, s->network, layer, &s->task));
  s->values->epochs = 30;
  s->values->learning_rate = 0.01;
  s->job = (struct tutti_job){.size = sizeof s->job,
                              .trial = 1,
                              .run_seed = 2,
                              .seed = 3,
                              .task = &s->task,
                              .network = s->network,
                              .config = s->values,
                              .train = s->train,
                              .validation = s->validation,
                              .progress = watch,
                              .progress_argument = s};
  return s;
}

/* Other training rows. */
static inline void train_on(struct setting *s, tutti_split *split) {
  tutti_split_destroy(s->train);
  s->job.train = s->train = split;
}

/* In place of the network: hidden layers "hidden0", ... without dropout. */
static inline void plain_network(struct setting *s, size_t hidden, int32_t units, enum tutti_activation activation) {
  uint32_t layer = 0;
  tutti_network_destroy(s->network);
  OK(tutti_network_create(s->context, s->task.input, &s->network));
  for (size_t i = 0; i < hidden; i++) {
    char label[16] = {'h', 'i', 'd', 'd', 'e', 'n', (char)('0' + i)};
    OK(tutti_network_add_dense(s->context, s->network, label, layer, units, activation, &layer));
  }
  OK(tutti_network_add_head(s->context, s->network, layer, &s->task));
  s->job.network = s->network;
}

static inline void forget(struct setting *s) {
  tutti_tensors_destroy(s->outcome.weights);
  memset(&s->outcome, 0, sizeof s->outcome);
  s->outcome.size = sizeof s->outcome;
  s->seen = 0;
}

static inline void train(struct setting *s) {
  forget(s);
  OK(cpu_ops.train(s->backend, s->context, &s->job, &s->outcome));
}

static inline void end(struct setting *s) {
  forget(s);
  cpu_descriptor.destroy(s->backend);
  tutti_config_destroy(s->config);
  tutti_network_destroy(s->network);
  tutti_split_destroy(s->train);
  tutti_split_destroy(s->validation);
  tutti_context_destroy(s->context);
  free(s);
}

static inline bool same_weights(const tutti_tensors *a, const tutti_tensors *b) {
  if (tutti_tensors_count(a) != tutti_tensors_count(b))
    return false;
  for (size_t i = 0; i < tutti_tensors_count(a); i++)
    if (memcmp(tutti_tensors_at(a, i)->data, tutti_tensors_at(b, i)->data, tutti_tensors_at(a, i)->bytes) != 0)
      return false;
  return true;
}

/* Train again under a changed setting; does it give the same weights? Leaves the first outcome in place. */
static inline bool trains_the_same(struct setting *s) {
  tutti_tensors *first = s->outcome.weights;
  s->outcome.weights = NULL;
  train(s);
  bool same = same_weights(first, s->outcome.weights);
  tutti_tensors_destroy(s->outcome.weights);
  s->outcome.weights = first;
  return same;
}

/* Ten epochs more cost not one allocation. */
static inline void check_no_allocation(struct setting *s) {
  s->stop_after = 20;
  train(s);
  size_t at_end = allocations;
  assert_int_equal(s->seen, 20);
  if (COUNTS_ALLOCATIONS) {
    assert_true(s->allocated > 0);
    s->stop_after = 10;
    train(s);
    size_t ten = allocations - at_end;
    at_end = allocations;
    s->stop_after = 20;
    train(s);
    assert_int_equal(allocations - at_end, ten);
  }
}

static inline bool cancel_now(void *argument, const struct tutti_epoch *epoch) {
  struct setting *s = argument;
  if (epoch->epoch == 3)
    tutti_cancel(s->context);
  return true;
}

static inline void expect(struct setting *s, enum tutti_status status, enum tutti_status want, const char *text) {
  assert_int_equal(status, want);
  if (!strstr(tutti_error_message(s->context), text))
    fail_msg("expected \"%s\" in: %s", text, tutti_error_message(s->context));
}

#endif
