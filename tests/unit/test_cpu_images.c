/* test_cpu_images.c - the effect of augmentation on training by backend cpu: mirrored twins cannot be told apart. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backends/cpu/cpu.c"

enum { SIDE = 3, PIXELS = SIDE * SIDE, ROWS = 64 };

struct setting {
  tutti_context *context;
  void *backend;
  struct tutti_task task;
  tutti_split *train;
  tutti_network *network;
  tutti_config *config;
  struct cpu_config *values;
  struct tutti_job job;
};

#define OK(call)                                                                                                       \
  do {                                                                                                                 \
    if ((call) != TUTTI_OK)                                                                                            \
      fail_msg("%s", tutti_error_message(s->context));                                                                 \
  } while (0)

/* Images with one bright column: left in class 0, right in class 1. */
static tutti_split *make_columns(struct setting *s) {
  float pixels[ROWS][SIDE][SIDE] = {{{0}}};
  int32_t labels[ROWS];
  tutti_split *split;
  for (int r = 0; r < ROWS; r++) {
    labels[r] = r % 2;
    for (int y = 0; y < SIDE; y++)
      pixels[r][y][r % 2 ? SIDE - 1 : 0] = 1;
  }
  OK(tutti_split_create(s->context, "train", ROWS, s->task.input, 2, pixels[0][0], NULL, labels, &split));
  return split;
}

static struct setting *begin(struct tutti_shape input) {
  struct setting *s = calloc(1, sizeof *s);
  uint32_t layer = 0;
  assert_non_null(s);
  assert_int_equal(tutti_context_create(&s->context), TUTTI_OK);
  s->task = (struct tutti_task){.size = sizeof s->task,
                                .kind = TUTTI_TASK_CLASSIFICATION,
                                .input = input,
                                .outputs = 2,
                                .train_rows = ROWS,
                                .head = TUTTI_OP_HEAD_SOFTMAX};
  s->train = make_columns(s);
  OK(tutti_config_create(s->context, &cpu_descriptor.params, &s->config));
  s->values = (struct cpu_config *)(uintptr_t)tutti_config_values(s->config);
  s->values->epochs = 60;
  s->values->batch_size = 16;
  s->values->learning_rate = 0.05;
  s->values->keep = CPU_KEEP_LAST;
  OK(cpu_descriptor.create(s->context, s->values, NULL, &s->backend));
  OK(tutti_network_create(s->context, input, &s->network));
  if (input.height > 1)
    OK(tutti_network_add(s->context, s->network, TUTTI_OP_FLATTEN, NULL, 1, &layer, NULL, &layer));
  OK(tutti_network_add_head(s->context, s->network, layer, &s->task));
  s->job = (struct tutti_job){.size = sizeof s->job,
                              .run_seed = 2,
                              .seed = 3,
                              .task = &s->task,
                              .network = s->network,
                              .config = s->values,
                              .train = s->train};
  return s;
}

static void end(struct setting *s) {
  cpu_descriptor.destroy(s->backend);
  tutti_config_destroy(s->config);
  tutti_network_destroy(s->network);
  tutti_split_destroy(s->train);
  tutti_context_destroy(s->context);
  free(s);
}

/* Train, and predict the training rows as they are. */
static void train(struct setting *s, float predicted[ROWS][2]) {
  struct tutti_outcome outcome = {.size = sizeof outcome};
  OK(cpu_ops.train(s->backend, s->context, &s->job, &outcome));
  assert_int_equal(outcome.state, TUTTI_STATE_FINISHED);
  OK(cpu_ops.predict(s->backend, s->context, &s->job, outcome.weights, s->train, predicted[0]));
  tutti_tensors_destroy(outcome.weights);
}

/* Mean probability of the true class. */
static double hits(float predicted[ROWS][2]) {
  double sum = 0;
  for (int r = 0; r < ROWS; r++)
    sum += (double)predicted[r][r % 2] / ROWS;
  return sum;
}

static void mirrored_twins_cannot_be_told_apart(void **state) {
  (void)state;
  struct setting *s = begin((struct tutti_shape){SIDE, SIDE, 1});
  float plain[ROWS][2], flipped[ROWS][2], again[ROWS][2];
  train(s, plain);
  assert_true(hits(plain) > 0.95);
  s->values->augment_flip = true;
  train(s, flipped);
  assert_true(fabs(hits(flipped) - 0.5) < 0.1);
  train(s, again);
  assert_memory_equal(flipped, again, sizeof again);
  s->job.run_seed = 9; /* only shared draws are keyed by it */
  train(s, again);
  assert_memory_equal(flipped, again, sizeof again);
  s->values->shuffle = CPU_SHUFFLE_RUN;
  train(s, flipped);
  assert_memory_not_equal(flipped, again, sizeof again);
  end(s);
}

/* Moved by up to two columns of three, a column may be anywhere or nowhere, and less is learnt. */
static void moved_columns_are_learnt_less(void **state) {
  (void)state;
  struct setting *s = begin((struct tutti_shape){SIDE, SIDE, 1});
  float plain[ROWS][2], moved[ROWS][2];
  train(s, plain);
  s->values->augment_padding = 2;
  train(s, moved);
  assert_true(hits(moved) < 0.9 && hits(moved) > 0.5);
  end(s);
}

static void only_images_are_varied(void **state) {
  (void)state;
  struct setting *s = begin((struct tutti_shape){1, 1, PIXELS});
  s->values->augment_flip = true;
  assert_int_equal(cpu_ops.check(s->backend, s->context, &s->job), TUTTI_ERROR_USAGE);
  assert_non_null(strstr(tutti_error_message(s->context), "backend.augment_flip: inputs of 9 features"));
  end(s);
  s = begin((struct tutti_shape){SIDE, SIDE, 1});
  s->values->augment_padding = SIDE;
  assert_int_equal(cpu_ops.check(s->backend, s->context, &s->job), TUTTI_ERROR_USAGE);
  assert_non_null(strstr(tutti_error_message(s->context), "cannot be moved by 3 of them"));
  end(s);
}

static void expect_refusal(struct setting *s, const char *text) {
  assert_int_equal(cpu_ops.check(s->backend, s->context, &s->job), TUTTI_ERROR_USAGE);
  if (!strstr(tutti_error_message(s->context), text))
    fail_msg("expected \"%s\" in: %s", text, tutti_error_message(s->context));
}

/* Give it a network whose first layer makes images of images. */
static void pool_first(struct setting *s) {
  uint32_t layer = 0;
  tutti_network_destroy(s->network);
  OK(tutti_network_create(s->context, s->task.input, &s->network));
  OK(tutti_network_add(s->context, s->network, TUTTI_OP_MAX_POOL, NULL, 1, &layer, NULL, &layer));
  OK(tutti_network_add(s->context, s->network, TUTTI_OP_FLATTEN, NULL, 1, &layer, NULL, &layer));
  OK(tutti_network_add_head(s->context, s->network, layer, &s->task));
  s->job.network = s->network;
}

static void only_images_are_kept_in_halves(void **state) {
  (void)state;
  struct setting *s = begin((struct tutti_shape){1, 1, PIXELS});
  s->values->storage = CPU_STORAGE_HALF;
  expect_refusal(s, "backend.storage: no layer of this network makes images");
  end(s);
  s = begin((struct tutti_shape){SIDE, SIDE, 1}); /* images that are only flattened */
  s->values->storage = CPU_STORAGE_HALF;
  expect_refusal(s, "backend.storage: no layer of this network makes images");
  pool_first(s);
  OK(cpu_ops.check(s->backend, s->context, &s->job));
  s->values->optimiser = CPU_LBFGS;
  expect_refusal(s, "backend.storage: optimiser = lbfgs");
  end(s);
}

/* A value that 16 bits cannot hold fails the trial, and the failure says so; in floats the same trial is trained. */
static void values_beyond_halves_are_named(void **state) {
  (void)state;
  struct setting *s = begin((struct tutti_shape){SIDE, SIDE, 1});
  struct tutti_outcome outcome = {.size = sizeof outcome};
  static float bright[ROWS][PIXELS];
  int32_t labels[ROWS];
  for (int r = 0; r < ROWS; r++) {
    labels[r] = r % 2;
    bright[r][r % 2] = 70000;
  }
  tutti_split_destroy(s->train);
  OK(tutti_split_create(s->context, "train", ROWS, s->task.input, 2, bright[0], NULL, labels, &s->train));
  s->job.train = s->train;
  pool_first(s);
  for (int storage = CPU_STORAGE_FLOAT; storage <= CPU_STORAGE_HALF; storage++) {
    s->values->storage = storage;
    OK(cpu_ops.train(s->backend, s->context, &s->job, &outcome));
    assert_int_equal(outcome.state, storage == CPU_STORAGE_HALF ? TUTTI_STATE_FAILED : TUTTI_STATE_FINISHED);
    assert_int_equal(strstr(outcome.failure, "or take storage = float: half has no numbers beyond 65504") != NULL,
                     storage == CPU_STORAGE_HALF);
    tutti_tensors_destroy(outcome.weights);
    outcome.weights = NULL;
  }
  end(s);
}

static void products_in_bfloat16_need_no_smooth_loss(void **state) {
  (void)state;
  struct setting *s = begin((struct tutti_shape){1, 1, PIXELS});
  s->values->precision = CPU_BFLOAT16;
  OK(cpu_ops.check(s->backend, s->context, &s->job));
  s->values->precision = CPU_BFLOAT16;
  s->values->optimiser = CPU_LBFGS;
  expect_refusal(s, "backend.precision = bfloat16: optimiser = lbfgs");
  end(s);
  s = begin((struct tutti_shape){SIDE, SIDE, 1});
  s->values->precision = CPU_BFLOAT16;
  OK(cpu_ops.check(s->backend, s->context, &s->job));
  end(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(mirrored_twins_cannot_be_told_apart),
                                     cmocka_unit_test(moved_columns_are_learnt_less),
                                     cmocka_unit_test(only_images_are_varied),
                                     cmocka_unit_test(only_images_are_kept_in_halves),
                                     cmocka_unit_test(values_beyond_halves_are_named),
                                     cmocka_unit_test(products_in_bfloat16_need_no_smooth_loss)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
