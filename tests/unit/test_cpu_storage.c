/* test_cpu_storage.c - values of images in 16 bits (`storage = half`): the numbers, the kernels that read them, and
   trainings beside those with floats. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backends/cpu/half_impl.h"
#include "backends/cpu/plan_impl.h"
#include "cpu_check.h"
#include "cpu_images.h"
#include "cpu_levels.h"
#include "golden.h"

enum { ROWS = CPU_IMAGES, CLASSES = CPU_IMAGES_CLASSES, HALVES = 1 << 16 };
enum { PIXELS = CPU_IMAGES_SIZE * CPU_IMAGES_SIZE };

/* --- numbers --- */

/* By the definition of binary16. */
static double half_value(uint16_t half) {
  int exponent = half >> 10 & 31, digits = half & 1023;
  double size = exponent == 31  ? (digits ? NAN : INFINITY)
                : exponent == 0 ? ldexp(digits, -24)
                                : ldexp(1024 + digits, exponent - 25);
  return half & 0x8000 ? -size : size;
}

/* The nearest of the two halves around a positive number, by their distances in double precision. */
static uint16_t nearest_half(float x) {
  uint16_t low = 0, high = 0x7c00;
  while (high - low > 1) {
    uint16_t middle = (uint16_t)((low + high) / 2);
    if (half_value(middle) <= (double)x)
      low = middle;
    else
      high = middle;
  }
  double above = high == 0x7c00 ? 65536 : half_value(high); /* infinity begins where its number would be */
  double down = (double)x - half_value(low), up = above - (double)x;
  if (!isfinite(x))
    return 0x7c00;
  return down < up || (down == up && low % 2 == 0) ? low : high;
}

static uint16_t narrow_one(const struct cpu_kernels *k, float x) {
  float numbers[16];
  uint16_t out[16];
  for (int i = 0; i < 16; i++)
    numbers[i] = x;
  k->narrow(16, numbers, out);
  for (int i = 1; i < 16; i++)
    assert_int_equal(out[i], out[0]);
  assert_memory_equal(numbers + 1, numbers, 15 * sizeof *numbers);
  return out[0];
}

/* Widen all halves; round them, their neighbours among the floats and the points halfway. */
static void check_numbers(const struct cpu_kernels *k) {
  uint16_t *all = malloc(HALVES * sizeof *all), *back = malloc(HALVES * sizeof *back);
  float *wide = malloc(HALVES * sizeof *wide), *kept = malloc(HALVES * sizeof *kept);
  const struct cpu_affine same = {.half = true};
  for (uint32_t h = 0; h < HALVES; h++)
    all[h] = (uint16_t)h;
  k->affine(&same, HALVES, all, false, wide);
  for (uint32_t h = 0; h < HALVES; h++) {
    double value = half_value((uint16_t)h);
    if (isnan(value) ? !isnan(wide[h]) : (double)wide[h] != value || !signbit(value) != !signbit(wide[h]))
      fail_msg("half %04x is read as %.9g, not %.9g", h, (double)wide[h], value);
  }
  memcpy(kept, wide, HALVES * sizeof *kept);
  k->narrow(HALVES, wide, back);
  for (uint32_t h = 0; h < HALVES; h++)
    assert_int_equal(back[h], isnan(half_value((uint16_t)h)) ? h | 0x200 : h);
  for (uint16_t h = 0; h < 0x7c00; h = (uint16_t)(h + 1 + (h > 2048 && h < 0x7a00 ? 36 : 0))) {
    double here = half_value(h), next = h == 0x7bff ? 65536 : half_value((uint16_t)(h + 1));
    float middle = (float)((here + next) / 2), tries[] = {middle, nextafterf(middle, 0), nextafterf(middle, 1e6f)};
    for (int t = 0; t < 3; t++) {
      uint16_t want = nearest_half(tries[t]);
      assert_int_equal(narrow_one(k, tries[t]), want);
      assert_int_equal(narrow_one(k, -tries[t]), want | 0x8000);
    }
  }
  assert_int_equal(narrow_one(k, 65519.996f), 0x7bff);
  assert_int_equal(narrow_one(k, 65520), 0x7c00);
  assert_int_equal(narrow_one(k, INFINITY), 0x7c00);
  assert_int_equal(narrow_one(k, 1e-40f), 0);
  assert_int_equal(narrow_one(k, half_from_bits(0x7f802000)), 0x7e01); /* a signalling NaN */
  assert_int_equal(narrow_one(k, half_from_bits(0xffc00000)), 0xfe00);
  free(all), free(back), free(wide), free(kept);
}

/* Denormal halves stay what they are while denormal floats count as 0. */
static void test_numbers(void **state) {
  check_numbers(kernels_of(state));
  unsigned kept = backend_cpu_enter();
  check_numbers(kernels_of(state));
  backend_cpu_leave(kept);
}

/* --- kernels --- */

static struct tutti_random draws;

static size_t below(size_t n) { return (size_t)tutti_random_below(&draws, (uint32_t)n); }

static float *draw(size_t count) {
  float *x = aligned_alloc(64, (count + 31) / 16 * 64);
  assert_non_null(x);
  tutti_random_fill_normal(&draws, (count + 31) / 16 * 16, 0, 1, x);
  return x;
}

struct images {
  size_t ld, period, pixels, size;
  float *x, *g, *arrays[4], *one, *two;
  uint16_t *halves;
};

static struct images draw_images(const struct cpu_kernels *k) {
  struct images i = {.ld = 8 * (1 + below(9)), .pixels = 1 + below(40)};
  i.period = i.ld % 16 ? 2 * i.ld : i.ld;
  i.size = i.pixels * i.ld;
  i.x = draw(i.size);
  i.g = draw(i.size);
  i.one = draw(2 * i.size);
  i.two = draw(2 * i.size);
  for (size_t a = 0; a < 4; a++) {
    i.arrays[a] = draw(i.period);
    memcpy(i.arrays[a] + i.ld, i.arrays[a], (i.period - i.ld) * sizeof(float));
  }
  i.halves = aligned_alloc(64, (i.size + 63) / 32 * 64);
  k->narrow(i.size, i.x, i.halves);
  return i;
}

static void free_images(struct images *i) {
  free(i->x), free(i->g), free(i->one), free(i->two), free(i->halves);
  for (size_t a = 0; a < 4; a++)
    free(i->arrays[a]);
}

/* Both ways from the same numbers: the same bits. */
static void check_reads(const struct cpu_kernels *k) {
  struct images i = draw_images(k);
  struct cpu_affine f = {.period = i.period, .scale = below(4) ? i.arrays[0] : NULL, .shift = i.arrays[1]}, h;
  struct cpu_norm n = {i.period, i.arrays[0], i.arrays[1], i.arrays[2], i.arrays[3], false}, m = n;
  bool accumulate = below(2);
  f.relu = below(2);
  h = f;
  h.half = m.half = true;
  memcpy(i.two, i.one, 2 * i.size * sizeof(float));
  k->affine(&f, i.size, i.x, accumulate, i.one);
  k->affine(&h, i.size, i.halves, accumulate, i.two);
  assert_memory_equal(i.one, i.two, 2 * i.size * sizeof(float));
  k->place(&f, (i.pixels + 1) / 2, i.ld, i.x, 2 * i.ld, i.one, 2 * i.ld);
  k->place(&h, (i.pixels + 1) / 2, i.ld, i.halves, 2 * i.ld, i.two, 2 * i.ld);
  assert_memory_equal(i.one, i.two, 2 * i.size * sizeof(float));
  k->norm_gradient(&n, i.size, i.g, i.x, accumulate, i.one);
  k->norm_gradient(&m, i.size, i.g, i.halves, accumulate, i.two);
  assert_memory_equal(i.one, i.two, 2 * i.size * sizeof(float));
  float sums[4][288];
  k->norm_moments(&n, i.size, i.g, i.x, sums[0], sums[1]);
  k->norm_moments(&m, i.size, i.g, i.halves, sums[2], sums[3]);
  assert_memory_equal(sums[0], sums[2], i.period * sizeof(float));
  assert_memory_equal(sums[1], sums[3], i.period * sizeof(float));
  struct cpu_pad pad = {
      .height = i.pixels, .width = 1, .image_ld = i.ld, .ld = i.ld, .top = 1, .left = 0, .step = 1, .view = &f};
  pad.padded_height = i.pixels + 1;
  pad.padded_width = 1;
  float *padded[] = {draw((i.pixels + 1) * i.ld), draw((i.pixels + 1) * i.ld)};
  k->pad(&pad, i.x, padded[0]);
  pad.view = &h;
  k->pad(&pad, i.halves, padded[1]);
  assert_memory_equal(padded[0] + i.ld, padded[1] + i.ld, i.size * sizeof(float));
  free(padded[0]), free(padded[1]);
  free_images(&i);
}

static void test_reads(void **state) {
  tutti_random_init(&draws, 5, "reads", 0);
  for (int i = 0; i < 200; i++)
    check_reads(kernels_of(state));
}

/* --- networks --- */

static struct cpu_plan *make_plan(const tutti_network *network, const struct tutti_task *task, enum tutti_cpu cpu,
                                  int storage) {
  struct cpu_config config = make_config();
  config.storage = storage;
  return plan_to_train(network, task, cpu, &config);
}

/* Rounding moves each value by 2^-11 of it at most: the loss by few of these, and the gradient by a small angle. */
static void test_gradients_beside_floats(void **state) {
  (void)state;
  struct tutti_task task = images_task();
  tutti_split *split = images_make(&task);
  for (int cpu = 0; cpu <= (int)tutti_cpu_detect(); cpu++)
    for (int32_t wide = 8; wide <= 40; wide += 16) {
      tutti_network *network = images_network(&task, wide);
      struct cpu_plan *floats = make_plan(network, &task, (enum tutti_cpu)cpu, CPU_STORAGE_FLOAT);
      struct cpu_plan *halves = make_plan(network, &task, (enum tutti_cpu)cpu, CPU_STORAGE_HALF);
      double want = pass_all(floats, split), got = pass_all(halves, split), inner = 0, apart = 0, squares = 0;
      size_t half = 0;
      for (size_t i = 0; i < halves->node_count; i++) {
        half += halves->nodes[i].half && !halves->nodes[i].lazy;
        assert_false(floats->nodes[i].half);
      }
      assert_int_equal(half, 9 + (wide == 24)); /* with a bias, the depthwise convolution is stored, too */
      assert_close(got, want, 2e-3, 0);
      assert_true(got != want);
      for (size_t i = 0; i < floats->trained; i++) {
        double a = (double)floats->gradients[i], b = (double)halves->gradients[i];
        inner += a * b;
        squares += a * a;
        apart += (a - b) * (a - b);
      }
      if (!(sqrt(apart / squares) < 0.02))
        fail_msg("on %s, %d channels: the gradients are %.3g of their length apart",
                 tutti_cpu_name((enum tutti_cpu)cpu), wide, sqrt(apart / squares));
      assert_true(inner > 0.98 * squares && inner < 1.02 * squares);
      assert_true(halves->bytes < floats->bytes);
      backend_cpu_plan_destroy(floats);
      backend_cpu_plan_destroy(halves);
      tutti_network_destroy(network);
    }
  tutti_split_destroy(split);
}

/* The values of each node are what it computes from the stored values of others, rounded: so a second rounding changes
   none, and batch norm's means are theirs. */
static void test_stored_values(void **state) {
  (void)state;
  struct tutti_task task = images_task();
  tutti_split *split = images_make(&task);
  tutti_network *network = images_network(&task, 24);
  struct cpu_plan *plan = make_plan(network, &task, tutti_cpu_detect(), CPU_STORAGE_HALF);
  size_t seen = 0;
  gather_all(plan, split);
  for (size_t i = 0; i < plan->node_count; i++) {
    const struct cpu_node *node = &plan->nodes[i];
    backend_cpu_forward_node(plan, i, ROWS, &(struct cpu_draws){.drop = true});
    if (node->op != TUTTI_OP_BATCH_NORM || !plan->nodes[node->edges[0].source].half)
      continue;
    const struct cpu_node *source = &plan->nodes[node->edges[0].source];
    const uint16_t *values = backend_cpu_values(plan, source, 0);
    double count = ROWS * (double)node->pixels;
    for (size_t c = 0; c < node->width; c++) {
      double mean = 0, square = 0;
      for (size_t p = 0; p < ROWS * node->pixels; p++)
        mean += half_value(values[p * node->ld + c]) / count;
      for (size_t p = 0; p < ROWS * node->pixels; p++)
        square += pow(half_value(values[p * node->ld + c]) - mean, 2) / (count - 1);
      double momentum = node->attributes->momentum;
      assert_close((double)plan->weights[node->mean + c], momentum * mean, 1e-5, 2e-7);
      assert_close((double)plan->weights[node->variance + c], 1 + momentum * (square - 1), 1e-5, 0);
    }
    seen++;
  }
  assert_int_equal(seen, 5);
  backend_cpu_plan_destroy(plan);
  tutti_network_destroy(network);
  tutti_split_destroy(split);
}

/* --- trainings --- */

struct curve {
  double train[100], validation[100];
  size_t count;
};

static bool watch(void *argument, const struct tutti_epoch *epoch) {
  struct curve *curve = argument;
  curve->train[curve->count] = epoch->train_loss;
  curve->validation[curve->count++] = epoch->validation_loss;
  return true;
}

struct training {
  struct cpu_config config;
  struct curve curve;
  struct tutti_outcome outcome;
  struct tutti_job job;
};

static void train(struct training *t, const struct cpu_kernels *k, const tutti_network *network,
                  const struct tutti_task *task, const tutti_split *split) {
  t->curve.count = 0;
  t->outcome = (struct tutti_outcome){.size = sizeof t->outcome};
  t->job = (struct tutti_job){.size = sizeof t->job,
                              .seed = 1,
                              .task = task,
                              .network = network,
                              .config = &t->config,
                              .train = split,
                              .validation = split,
                              .progress = watch,
                              .progress_argument = &t->curve};
  OK(backend_cpu_train(context, k, &t->job, &t->outcome));
  assert_int_equal(t->outcome.state, TUTTI_STATE_FINISHED);
}

static struct training make_training(int storage) {
  struct training t = {.config = make_config()};
  t.config.optimiser = CPU_SGD;
  t.config.learning_rate = 0.02;
  t.config.momentum = 0.9;
  t.config.l2 = 0;
  t.config.epochs = 40;
  t.config.batch_size = 16;
  t.config.keep = CPU_KEEP_LAST;
  t.config.storage = storage;
  return t;
}

static double loss_of(const float *predicted, const tutti_split *split) {
  double sum = 0;
  for (size_t r = 0; r < ROWS; r++)
    sum -= log((double)predicted[r * CLASSES + (size_t)tutti_split_labels(split)[r]]) / ROWS;
  return sum;
}

/* 240 steps: losses stay beside those of floats, repeat bit for bit, and are those of predictions, which use floats. */
static void test_trainings_beside_floats(void **state) {
  (void)state;
  struct tutti_task task = images_task();
  tutti_split *split = images_make(&task);
  tutti_network *network = images_network(&task, 16);
  for (int cpu = 0; cpu <= (int)tutti_cpu_detect(); cpu++) {
    const struct cpu_kernels *k = backend_cpu_kernels((enum tutti_cpu)cpu);
    struct training floats = make_training(CPU_STORAGE_FLOAT), halves = make_training(CPU_STORAGE_HALF);
    struct training again = make_training(CPU_STORAGE_HALF);
    train(&floats, k, network, &task, split);
    train(&halves, k, network, &task, split);
    train(&again, k, network, &task, split);
    assert_int_equal(halves.curve.count, 40);
    for (size_t e = 0; e < 40; e++)
      assert_close_told(halves.curve.train[e], floats.curve.train[e], 0.05, 0.02, "on %s, epoch %zu",
                        tutti_cpu_name((enum tutti_cpu)cpu), e + 1);
    assert_true(halves.curve.train[39] < 0.2 * halves.curve.train[0]);
    assert_true(halves.curve.train[0] != floats.curve.train[0]);
    assert_memory_equal(&halves.curve, &again.curve, sizeof again.curve);
    for (size_t t = 0; t < tutti_tensors_count(again.outcome.weights); t++)
      assert_memory_equal(tutti_tensors_at(again.outcome.weights, t)->data,
                          tutti_tensors_at(halves.outcome.weights, t)->data,
                          tutti_tensors_at(again.outcome.weights, t)->bytes);
    float predicted[ROWS * CLASSES];
    OK(backend_cpu_predict_split(context, k, &halves.job, halves.outcome.weights, split, predicted, NULL));
    assert_close(loss_of(predicted, split), halves.curve.validation[39], 1e-6, 1e-7);
    tutti_tensors_destroy(floats.outcome.weights);
    tutti_tensors_destroy(halves.outcome.weights);
    tutti_tensors_destroy(again.outcome.weights);
  }
  tutti_network_destroy(network);
  tutti_split_destroy(split);
}

/* Mini-batches smaller than the rows that are validated at once leave room for these in floats. */
static void test_small_batches(void **state) {
  (void)state;
  struct tutti_task task = images_task();
  tutti_split *split = images_make(&task);
  tutti_network *network = images_network(&task, 16);
  struct training t = make_training(CPU_STORAGE_HALF);
  float predicted[ROWS * CLASSES];
  t.config.batch_size = 3;
  t.config.epochs = 2;
  train(&t, backend_cpu_kernels(tutti_cpu_detect()), network, &task, split);
  OK(backend_cpu_predict_split(context, backend_cpu_kernels(tutti_cpu_detect()), &t.job, t.outcome.weights, split,
                               predicted, NULL));
  assert_close(loss_of(predicted, split), t.curve.validation[1], 1e-6, 1e-7);
  tutti_tensors_destroy(t.outcome.weights);
  tutti_network_destroy(network);
  tutti_split_destroy(split);
}

/* A chain of convolutions stores half as much. */
static void test_memory(void **state) {
  (void)state;
  struct tutti_task task = images_task();
  tutti_network *network = begin(&task);
  uint32_t last = 0;
  for (int i = 0; i < 12; i++)
    last = images_conv(network, last, 16, 3, 1);
  OK(tutti_network_add_head(context, network, OP(network, TUTTI_OP_GLOBAL_POOL, last), &task));
  struct cpu_plan *floats = make_plan(network, &task, TUTTI_CPU_BASELINE, CPU_STORAGE_FLOAT);
  struct cpu_plan *halves = make_plan(network, &task, TUTTI_CPU_BASELINE, CPU_STORAGE_HALF);
  size_t array = ROWS * PIXELS * 16 * sizeof(float), saved = floats->bytes - halves->bytes;
  assert_true(saved > 5 * array && saved <= 6 * array);
  backend_cpu_plan_destroy(floats);
  backend_cpu_plan_destroy(halves);
  tutti_network_destroy(network);
}

int main(void) {
  struct level_tests all = {.count = 0};
  add_on_levels(&all, "test_numbers", 0, test_numbers);
  add_on_levels(&all, "test_reads", 0, test_reads);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_gradients_beside_floats),
      cmocka_unit_test(test_stored_values),
      cmocka_unit_test(test_trainings_beside_floats),
      cmocka_unit_test(test_small_batches),
      cmocka_unit_test(test_memory),
  };
  int failed = run_on_levels(&all, "numbers", NULL, NULL);
  return cmocka_run_group_tests(tests, set_up, tear_down) + failed;
}
