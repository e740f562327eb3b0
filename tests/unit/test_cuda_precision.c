/* test_cuda_precision.c - parameter `precision` of backend cuda on an emulated GPU: losses and gradients to the last
   digits as a plain computation with numbers rounded in the same places has them, for a dense layer and a convolution;
   losses and gradients beside backend cpu, as close as the rounding allows and no closer; predictions of float32; the
   same bits alone and among networks of other precisions; and what is refused. */
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

#include "backends/cpu/cpu_impl.h"
#include "cuda_coming.h"
#include "tests/watched.h"

enum { ROWS = 23, HELD = 17, OUTPUTS = 2, CLASSES = 3, FEATURES = 21, SIDE = 6 };

/* --- the setting --- */

static bool images;
static size_t channels; /* of images */

static tutti_split *make_split(const char *name, size_t rows, uint64_t index) {
  size_t features = (size_t)task.input.height * (size_t)task.input.width * (size_t)task.input.channels;
  struct tutti_random random;
  float *inputs = calloc(rows * features, sizeof *inputs), *targets = calloc(rows * OUTPUTS, sizeof *targets);
  int32_t *labels = calloc(rows, sizeof *labels);
  tutti_split *split;
  bool classes = task.kind == TUTTI_TASK_CLASSIFICATION;
  tutti_random_init(&random, 5, "rows of test_cuda_precision", index);
  tutti_random_fill_normal(&random, rows * features, 0, 1, inputs);
  for (size_t r = 0; r < rows; r++) {
    const float *x = inputs + r * features;
    targets[r * OUTPUTS] = sinf(2 * x[0]) + x[3];
    targets[r * OUTPUTS + 1] = x[1] * x[2];
    labels[r] = x[0] > 0.4f ? 2 : x[1] > 0;
  }
  OK(tutti_split_create(context, name, rows, task.input, task.outputs, inputs, classes ? NULL : targets,
                        classes ? labels : NULL, &split));
  free(inputs), free(targets), free(labels);
  return split;
}

static void make_task(enum tutti_op head) {
  bool classes = head == TUTTI_OP_HEAD_SOFTMAX;
  tutti_split_destroy(train);
  tutti_split_destroy(validation);
  task = (struct tutti_task){.size = sizeof task,
                             .kind = classes ? TUTTI_TASK_CLASSIFICATION : TUTTI_TASK_REGRESSION,
                             .input = images ? (struct tutti_shape){SIDE, SIDE, (int)channels}
                                             : (struct tutti_shape){1, 1, FEATURES},
                             .outputs = classes ? CLASSES : OUTPUTS,
                             .train_rows = ROWS,
                             .head = head};
  train = make_split("train", ROWS, 0);
  validation = make_split("validation", HELD, 1);
}

static int begin_tables(void **state) {
  (void)state;
  images = false;
  open_sides(make_task, TUTTI_OP_HEAD_LINEAR);
  return 0;
}

static int begin_images_of(size_t count) {
  images = true;
  channels = count;
  open_sides(make_task, TUTTI_OP_HEAD_LINEAR);
  return 0;
}

static int begin_images(void **state) {
  (void)state;
  return begin_images_of(3);
}

/* So many that a convolution of 3 x 3 pixels is cuDNN's, not a product of patches. */
static int begin_deep_images(void **state) {
  (void)state;
  return begin_images_of(9);
}

static int end(void **state) {
  (void)state;
  close_sides();
  return 0;
}

static void configure_in(const char *settings, const char *precision) {
  configure(settings);
  OK(tutti_config_set(context, cuda.config, "precision", precision));
}

static struct tutti_outcome train_side(struct side *side, const tutti_network *network, uint64_t seed) {
  struct tutti_outcome outcome = side_train(side, side_job(side, network, seed));
  if (outcome.state != TUTTI_STATE_FINISHED)
    fail_msg("%s", outcome.failure);
  return outcome;
}

/* --- rounding --- */

/* To so many bits of a float's mantissa; ties away from 0, or to an even number. */
static double round_to(double x, unsigned bits, bool even) {
  int exponent;
  double part = frexp(x, &exponent), scaled = ldexp(part, (int)bits + 1); /* 1 bit more is before the point */
  double rounded = even ? nearbyint(scaled) : round(scaled);
  return ldexp(rounded, exponent - (int)bits - 1);
}

static double to_tf32(double x) { return round_to((double)(float)x, 10, false); }
static double to_bfloat16(double x) { return round_to((double)(float)x, 7, true); }
static double to_float(double x) { return (double)(float)x; }

/* What products read, what arrays of values keep, and half a unit of the last place, as a share of a number. */
struct numbers {
  const char *name;
  double (*read)(double), (*keep)(double), unit;
};
static const struct numbers tf32 = {"tf32", to_tf32, to_float, 1.0 / 2048};
static const struct numbers bfloat16 = {"bfloat16", to_bfloat16, to_bfloat16, 1.0 / 256};

/* --- a layer, and the head's --- */

enum { UNITS = 37, MOST_PIXELS = SIDE * SIDE, MOST_TAPS = 9, MOST_WEIGHTS = MOST_TAPS * FEATURES * UNITS };
/* Numbers of a patch, of a convolution that is a product (backends/cuda/stream_plan.c). */
enum { MOST_OF_PATCHES = 64 };

/* A dense layer on a table; or a convolution of 3 x 3 on images, and the means of its pixels. */
static tutti_network *two_layers(void) {
  tutti_network *network;
  uint32_t layer;
  OK(tutti_network_create(context, task.input, &network));
  if (images) {
    OK(tutti_network_add(context, network, TUTTI_OP_CONV2D, "first", 1, &(uint32_t){0},
                         TUTTI_ATTRIBUTES({"units", UNITS}, {"kernel_height", 3}, {"kernel_width", 3}), &layer));
    OK(tutti_network_add(context, network, TUTTI_OP_GLOBAL_POOL, NULL, 1, &layer, NULL, &layer));
  } else {
    OK(tutti_network_add_dense(context, network, "first", 0, UNITS, TUTTI_ACTIVATION_LINEAR, &layer));
  }
  OK(tutti_network_add_head(context, network, layer, &task));
  return network;
}

/* A plain computation of that network, its loss and its gradients. A table is an image of one pixel. */
struct plain {
  const struct numbers *numbers;
  size_t pixels, taps, channels;
  const float *first, *first_bias, *last,
      *last_bias; /* [taps * channels][UNITS], [UNITS], [UNITS][OUTPUTS], [OUTPUTS] */
  double values[ROWS][MOST_PIXELS][UNITS], means[ROWS][UNITS], outputs[ROWS][OUTPUTS], loss;
  double first_gradient[MOST_WEIGHTS], first_bias_gradient[UNITS];
  double last_gradient[UNITS * OUTPUTS], last_bias_gradient[OUTPUTS];
};

static const float *part_of(const tutti_tensors *tensors, const char *name) {
  const struct tutti_tensor *tensor = tutti_tensors_find(tensors, name);
  if (!tensor)
    fail_msg("no tensor %s", name);
  return tensor ? tensor->data : NULL; /* an analyser does not know that the test has ended */
}

/* The input's number under a tap of a pixel, as products read it. */
static double input_at(const struct plain *p, size_t row, size_t pixel, size_t tap, size_t channel) {
  const float *x = tutti_split_inputs(train) + row * (images ? SIDE * SIDE * channels : FEATURES);
  if (!images)
    return p->numbers->read((double)x[channel]);
  int y = (int)(pixel / SIDE) + (int)(tap / 3) - 1, z = (int)(pixel % SIDE) + (int)(tap % 3) - 1;
  if (y < 0 || y >= SIDE || z < 0 || z >= SIDE)
    return 0;
  return p->numbers->read((double)x[(size_t)(y * SIDE + z) * channels + channel]);
}

static void plain_forward(struct plain *p) {
  const struct numbers *n = p->numbers;
  for (size_t r = 0; r < ROWS; r++) {
    for (size_t i = 0; i < p->pixels; i++)
      for (size_t u = 0; u < UNITS; u++) {
        double sum = 0;
        for (size_t k = 0; k < p->taps * p->channels; k++)
          sum += input_at(p, r, i, k / p->channels, k % p->channels) * n->read((double)p->first[k * UNITS + u]);
        p->values[r][i][u] = n->keep(n->keep(sum) + (double)p->first_bias[u]);
      }
    for (size_t u = 0; u < UNITS; u++) {
      double sum = 0;
      for (size_t i = 0; i < p->pixels; i++)
        sum += p->values[r][i][u];
      p->means[r][u] = n->keep(sum / (double)p->pixels);
    }
    for (size_t o = 0; o < OUTPUTS; o++) {
      double sum = (double)p->last_bias[o];
      for (size_t u = 0; u < UNITS; u++)
        sum += n->read(p->means[r][u]) * n->read((double)p->last[u * OUTPUTS + o]);
      p->outputs[r][o] = sum;
    }
  }
}

static void plain_backward(struct plain *p) {
  const struct numbers *n = p->numbers;
  for (size_t r = 0; r < ROWS; r++) {
    double g[OUTPUTS];
    for (size_t o = 0; o < OUTPUTS; o++) {
      double apart = p->outputs[r][o] - (double)tutti_split_targets(train)[r * OUTPUTS + o];
      p->loss += apart * apart / (ROWS * OUTPUTS);
      g[o] = 2 * apart / (ROWS * OUTPUTS);
      p->last_bias_gradient[o] += n->keep(g[o]);
    }
    for (size_t u = 0; u < UNITS; u++) {
      double back = 0;
      for (size_t o = 0; o < OUTPUTS; o++) {
        p->last_gradient[u * OUTPUTS + o] += n->read(p->means[r][u]) * n->read(g[o]);
        back += n->read(g[o]) * n->read((double)p->last[u * OUTPUTS + o]);
      }
      back = n->keep(n->keep(back) / (double)p->pixels);
      for (size_t i = 0; i < p->pixels; i++) {
        p->first_bias_gradient[u] += back;
        for (size_t k = 0; k < p->taps * p->channels; k++)
          p->first_gradient[k * UNITS + u] += input_at(p, r, i, k / p->channels, k % p->channels) * n->read(back);
      }
    }
  }
  for (size_t k = 0; k < p->taps * p->channels * UNITS && p->taps * p->channels > MOST_OF_PATCHES; k++)
    p->first_gradient[k] = n->keep(p->first_gradient[k]); /* cuDNN's filters are kept as its images are */
}

/* Sums are float32 on the device and double here: they agree to 5e-6 of the largest number. But a number that lies so
   close to the middle of two others may be rounded to either: one in twenty may be off by as much. A device's libraries
   do not say how they round to TF32: they may cut off, which is twice as far. */
static void require_numbers(const struct plain *p, const char *what, size_t count, const float *found,
                            const double *wanted) {
  double largest = 0;
  size_t off = 0;
  for (size_t i = 0; i < count; i++)
    largest = fmax(largest, fabs(wanted[i]));
  for (size_t i = 0; i < count; i++) {
    double by = fabs((double)found[i] - wanted[i]) / largest;
    off += by > 5e-6;
    if (on_device() ? !(by <= 2 * p->numbers->unit) : !(by <= p->numbers->unit) || off > 1 + count / 20)
      fail_msg("%s, %s %zu: found %.9g, wanted %.9g", p->numbers->name, what, i, (double)found[i], wanted[i]);
  }
}

static double largest_of(size_t count, const float *a) {
  double largest = 0;
  for (size_t i = 0; i < count; i++)
    largest = fmax(largest, fabs((double)a[i]));
  return largest;
}

/* The largest difference, as a share of the largest number, which counts as `least` at least. */
static double apart(size_t count, const float *a, const float *b, double least) {
  double most = 0;
  for (size_t i = 0; i < count; i++)
    most = fmax(most, fabs((double)a[i] - (double)b[i]));
  return most / fmax(least, largest_of(count, a));
}

/* What float32 has differs by more. */
static void check_rounding(const struct numbers *numbers) {
  static struct plain p;
  tutti_network *network = two_layers();
  tutti_tensors *gradient, *unrounded;
  double loss[2];
  configure_in("epochs=2 optimiser=sgd learning_rate=0.05", numbers->name);
  struct tutti_outcome start = train_side(&cpu, network, 1);
  memset(&p, 0, sizeof p);
  p.numbers = numbers;
  p.pixels = images ? SIDE * SIDE : 1;
  p.taps = images ? 9 : 1;
  p.channels = images ? channels : FEATURES;
  p.first = part_of(start.weights, "first/weight"), p.first_bias = part_of(start.weights, "first/bias");
  p.last = part_of(start.weights, "output/weight"), p.last_bias = part_of(start.weights, "output/bias");
  plain_forward(&p);
  plain_backward(&p);
  struct tutti_job job = side_job(&cuda, network, 1), other = side_job(&cpu, network, 1);
  OK(tutti_backend_gradient(context, cuda.backend, &job, start.weights, &loss[0], &gradient));
  OK(tutti_backend_gradient(context, cpu.backend, &other, start.weights, &loss[1], &unrounded));
  if (!(fabs(loss[0] - p.loss) < 1e-5 * p.loss))
    fail_msg("%s: found a loss of %.9g, wanted %.9g", numbers->name, loss[0], p.loss);
  const struct {
    const char *name;
    size_t count;
    const double *wanted;
  } parts[] = {{"output/weight", UNITS * OUTPUTS, p.last_gradient},
               {"first/weight", p.taps * p.channels * UNITS, p.first_gradient},
               {"output/bias", OUTPUTS, p.last_bias_gradient},
               {"first/bias", UNITS, p.first_bias_gradient}};
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
    require_numbers(&p, parts[i].name, parts[i].count, part_of(gradient, parts[i].name), parts[i].wanted);
  for (size_t i = 0; i < 2; i++)
    assert_in_range(
        (int)(1e6 * apart(parts[i].count, part_of(gradient, parts[i].name), part_of(unrounded, parts[i].name), 0)), 50,
        20000);
  tutti_tensors_destroy(gradient);
  tutti_tensors_destroy(unrounded);
  tutti_tensors_destroy(start.weights);
  tutti_network_destroy(network);
}

/* Predictions are backend cpu's: those of float32. */
static void require_predictions(const tutti_network *network, const tutti_tensors *weights) {
  float found[HELD * OUTPUTS * 2], wanted[HELD * OUTPUTS * 2];
  struct tutti_job job = side_job(&cuda, network, 1), other = side_job(&cpu, network, 1);
  size_t count = HELD * tutti_predictions_width(task.kind, task.outputs);
  OK(tutti_backend_predict(context, cuda.backend, &job, weights, validation, found));
  OK(tutti_backend_predict(context, cpu.backend, &other, weights, validation, wanted));
  for (size_t i = 0; i < count; i++)
    require_close("predictions", i, "prediction", (double)wanted[i], (double)found[i], 2e-5);
}

static void test_tables_rounded(void **state) {
  (void)state;
  check_rounding(&tf32);
}

static void test_images_rounded(void **state) {
  (void)state;
  check_rounding(&tf32);
  check_rounding(&bfloat16);
}

/* --- trainings beside backend cpu --- */

static const struct {
  const char *plugin;
  const char *const (*set)[2];
} table_spaces[] = {{"dense-skip", (const char *const[][2]){{"nodes", "3"}, {"widths", "16 24 7"}, {NULL, NULL}}},
                    {"layer-graph-mlp",
                     (const char *const[][2]){{"min_units", "4"}, {"max_units", "24"}, {NULL, NULL}}}},
  image_spaces[] = {
      {"darts",
       (const char *const[][2]){
           {"cells", "3"}, {"channels", "4"}, {"nodes", "2"}, {"drop_path", "0.3"}, {"dropout", "0.1"}, {NULL, NULL}}},
      {"layer-graph-cnn", (const char *const[][2]){{"min_units", "4"}, {"max_units", "12"}, {NULL, NULL}}}};

/* Both sides train, a step an epoch. Half of a number's last place is a share `unit` of it. A sum of products has an
   error of a few of these, as those of its terms cancel; from layer to layer and back they add up: the losses of the
   first step agree to 8 units, and those of later ones, after steps along gradients that differ so, to 32, of the
   largest loss so far. Somewhere they differ by more than float32 would. A network that amplifies may differ by ten
   times what backend cpu differs from itself, in float32, on rows that are changed by a unit. */
static void compare(const char *what, const tutti_network *network, uint64_t seed, double unit) {
  static double apart[SIDE_EPOCHS][2];
  double most = 1, furthest = 0;
  bool excused = false;
  struct tutti_outcome one = train_side(&cpu, network, seed), other = train_side(&cuda, network, seed);
  assert_int_equal(cpu.epochs, cuda.epochs);
  for (size_t e = 0; e < cpu.epochs; e++)
    for (size_t k = 0; k < 2; k++) {
      most = fmax(most, fabs(cpu.losses[e][k]));
      double off = fabs(cuda.losses[e][k] - cpu.losses[e][k]);
      furthest = fmax(furthest, off / most);
      if (off <= (e == 0 && k == 0 ? 8 : 32) * unit * most)
        continue;
      if (!excused)
        twins_apart(what, side_job(&cpu, network, seed), unit, apart);
      excused = true;
      require_close(what, e, k == 0 ? "training loss" : "validation loss", cpu.losses[e][k], cuda.losses[e][k],
                    10 * fmax(apart[e][0], apart[e][1]) / fmax(1, fabs(cpu.losses[e][k])));
    }
  if (getenv("TUTTI_TEST_NETWORKS"))
    print_message("%s: %.3g units\n", what, furthest / unit);
  if (furthest < unit / 64)
    fail_msg("%s: the losses are those of float32", what);
  require_predictions(network, other.weights);
  tutti_tensors_destroy(one.weights);
  tutti_tensors_destroy(other.weights);
}

static void compare_spaces(size_t count, const char *plugin, const char *const (*set)[2],
                           const struct numbers *numbers) {
  static const enum tutti_op heads[] = {TUTTI_OP_HEAD_GAUSSIAN, TUTTI_OP_HEAD_SOFTMAX};
  tutti_space *space = open_space(plugin, set);
  for (size_t i = 0; i < count; i++) {
    char what[128];
    make_task(heads[i % 2]);
    tutti_network *network = sample(space, "networks of test_cuda_precision", i);
    configure_in("epochs=8 batch_size=0 optimiser=adam epsilon=1e-3 learning_rate=0.001", numbers->name);
    (void)snprintf(what, sizeof what, "%s %zu, %s", plugin, i, numbers->name);
    compare(what, network, 100 + i, numbers->unit);
    tutti_network_destroy(network);
  }
  tutti_space_destroy(space);
}

static size_t network_count(void) {
  const char *wanted = getenv("TUTTI_TEST_NETWORKS");
  return wanted ? strtoul(wanted, NULL, 10) : 2;
}

static void test_tables_beside_cpu(void **state) {
  (void)state;
  for (size_t s = 0; s < 2; s++)
    compare_spaces(network_count(), table_spaces[s].plugin, table_spaces[s].set, &tf32);
  assert_true(sensitive * 4 <= 2 * network_count());
}

static void test_images_beside_cpu(void **state) {
  (void)state;
  for (size_t s = 0; s < 2; s++) {
    compare_spaces(network_count(), image_spaces[s].plugin, image_spaces[s].set, &tf32);
    compare_spaces(network_count(), image_spaces[s].plugin, image_spaces[s].set, &bfloat16);
  }
}

/* --- a network of every kind of sum and draw --- */

static tutti_network *hand_made(int32_t units) {
  tutti_network *network;
  uint32_t layer = 0, normed, ends[2];
  OK(tutti_network_create(context, task.input, &network));
  if (images) {
    OK(tutti_network_add(context, network, TUTTI_OP_CONV2D, NULL, 1, &layer,
                         TUTTI_ATTRIBUTES({"units", units}, {"kernel_height", 3}, {"kernel_width", 3}, {"stride", 2}),
                         &layer));
    OK(tutti_network_add(context, network, TUTTI_OP_BATCH_NORM, NULL, 1, &layer, NULL, &normed));
    OK(tutti_network_add(context, network, TUTTI_OP_ACTIVATION, NULL, 1, &normed,
                         TUTTI_ATTRIBUTES({"activation", TUTTI_ACTIVATION_RELU}), &layer));
    OK(tutti_network_add(
        context, network, TUTTI_OP_CONV2D, NULL, 1, &layer,
        TUTTI_ATTRIBUTES({"units", units}, {"kernel_height", 3}, {"kernel_width", 3}, {"groups", units}), &ends[0]));
    OK(tutti_network_add(context, network, TUTTI_OP_MAX_POOL, NULL, 1, &normed,
                         TUTTI_ATTRIBUTES({"kernel_height", 3}, {"kernel_width", 3}), &ends[1]));
    OK(tutti_network_add(context, network, TUTTI_OP_CONCAT, NULL, 2, ends, NULL, &layer));
    OK(tutti_network_add(context, network, TUTTI_OP_FACTORISED_REDUCE, NULL, 1, &layer,
                         TUTTI_ATTRIBUTES({"units", units + 1}), &layer));
    OK(tutti_network_add(context, network, TUTTI_OP_GLOBAL_POOL, NULL, 1, &layer, NULL, &layer));
  }
  OK(tutti_network_add_dense(context, network, NULL, layer, units, TUTTI_ACTIVATION_SWISH, &layer));
  OK(tutti_network_add(context, network, TUTTI_OP_BATCH_NORM, NULL, 1, &layer, NULL, &layer));
  OK(tutti_network_add_dropout(context, network, NULL, layer, 0.2, &layer));
  OK(tutti_network_add_dense(context, network, NULL, layer, 9, TUTTI_ACTIVATION_TANH, &layer));
  OK(tutti_network_add_head(context, network, layer, &task));
  return network;
}

/* The gradient of every array, to 16 units of its largest number, or of a tenth of the largest of all: a bias before a
   batch norm has a gradient of 0, but for what is rounded. And not that of float32. */
static void check_gradients(const struct numbers *numbers) {
  tutti_network *network = hand_made(11);
  tutti_tensors *found, *wanted;
  double loss, furthest = 0, largest = 0;
  configure_in("epochs=3 batch_size=10 learning_rate=0.01", numbers->name);
  struct tutti_outcome start = train_side(&cpu, network, 3);
  struct tutti_job job = side_job(&cuda, network, 3), other = side_job(&cpu, network, 3);
  OK(tutti_backend_gradient(context, cuda.backend, &job, start.weights, &loss, &found));
  OK(tutti_backend_gradient(context, cpu.backend, &other, start.weights, &loss, &wanted));
  for (size_t i = 0; i < tutti_tensors_count(wanted); i++) {
    const struct tutti_tensor *a = tutti_tensors_at(wanted, i);
    largest = fmax(largest, largest_of(a->bytes / sizeof(float), a->data));
  }
  for (size_t i = 0; i < tutti_tensors_count(wanted); i++) {
    const struct tutti_tensor *a = tutti_tensors_at(wanted, i), *b = tutti_tensors_at(found, i);
    double off = apart(a->bytes / sizeof(float), a->data, b->data, largest / 10) / numbers->unit;
    furthest = fmax(furthest, off);
    if (getenv("TUTTI_TEST_NETWORKS"))
      print_message("%s, %s: %.3g units\n", numbers->name, a->name, off);
    if (!(off < 16))
      fail_msg("%s: the gradient of %s is %g units off", numbers->name, a->name, off);
  }
  assert_true(furthest > 0.1);
  tutti_tensors_destroy(start.weights);
  tutti_tensors_destroy(found);
  tutti_tensors_destroy(wanted);
  tutti_network_destroy(network);
}

static void test_tables_gradients(void **state) {
  (void)state;
  check_gradients(&tf32);
}

static void test_images_gradients(void **state) {
  (void)state;
  check_gradients(&tf32);
  check_gradients(&bfloat16);
}

/* --- alone and among others --- */

enum { POOL = 6 };

/* Networks of different sizes in some precisions; then each alone, its threads in another order, and more
   of them. What trains as another does but for its precision has other weights. */
static void check_pool(const int32_t *units, size_t count, const enum cpu_precision *precisions) {
  static struct coming coming;
  configure("epochs=3 batch_size=10 gradient_clip=1");
  for (size_t i = 0; i < POOL; i++) {
    struct tutti_job job = side_job(&cuda, hand_made(units[i]), (uint64_t)units[i]);
    struct cpu_config config = *(const struct cpu_config *)job.config;
    config.precision = precisions[i % count];
    job.config = &config;
    coming_add(&coming, job);
  }
  coming_train_at_once(&coming);
  for (size_t i = 1; i < POOL; i++)
    if (units[i] == units[i - 1])
      assert_false(same_weights(coming.outcomes[i].weights, coming.outcomes[i - 1].weights));
  emulate("TUTTI_EMULATED_SEED", "99");
  emulate("TUTTI_EMULATED_THREADS", "128");
  emulate("TUTTI_EMULATED_BLOCKS", "3");
  make_cuda_again("another");
  coming_require_alone(&coming);
  coming_release(&coming);
  emulate("TUTTI_EMULATED_SEED", NULL);
  emulate("TUTTI_EMULATED_THREADS", NULL);
  emulate("TUTTI_EMULATED_BLOCKS", NULL);
}

/* One of them is too large for shared memory. */
static void test_tables_pool(void **state) {
  static const int32_t units[POOL] = {5, 5, 40, 300, 17, 17};
  static const enum cpu_precision precisions[] = {CPU_FLOAT32, CPU_TF32};
  (void)state;
  check_pool(units, 2, precisions);
}

static void test_images_pool(void **state) {
  static const int32_t units[POOL] = {5, 5, 5, 9, 12, 12};
  static const enum cpu_precision precisions[] = {CPU_FLOAT32, CPU_TF32, CPU_BFLOAT16};
  (void)state;
  check_pool(units, 3, precisions);
}

/* Those that come while others train predict as they do alone: in float32. */
static void check_queue(const char *precision) {
  static const int32_t units[] = {9, 5, 17, 3};
  static struct coming coming;
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
    configure_in(i == 1 ? "epochs=6 batch_size=10" : "epochs=2 batch_size=10", precision);
    coming_add(&coming, side_job(&cuda, hand_made(units[i]), i));
  }
  OK(coming_train(&coming));
  assert_int_equal(coming.done, coming.count);
  coming_require_alone(&coming);
  coming_release(&coming);
}

static void test_tables_queue(void **state) {
  (void)state;
  check_queue("tf32");
}

static void test_images_queue(void **state) {
  (void)state;
  check_queue("bfloat16");
}

/* --- what is refused --- */

/* Networks of tables have no bfloat16, whatever is asked of them; nothing is trained. */
static void test_tables_refused(void **state) {
  static const char text[] = "backend.precision = bfloat16: backend cuda has it for networks of images alone";
  struct tutti_outcome outcome = {.size = sizeof outcome};
  float out[HELD * OUTPUTS * 2];
  (void)state;
  configure_in("epochs=2", "bfloat16");
  tutti_network *network = hand_made(4);
  struct tutti_job job = side_job(&cuda, network, 1);
  must_fail(tutti_backend_check(context, cuda.backend, &job), text);
  must_fail(tutti_backend_train(context, cuda.backend, &job, &outcome), text);
  assert_null(outcome.weights);
  configure("epochs=2");
  struct tutti_outcome other = train_side(&cpu, network, 1);
  configure_in("epochs=2", "bfloat16");
  job = side_job(&cuda, network, 1);
  must_fail(tutti_backend_predict(context, cuda.backend, &job, other.weights, validation, out), text);
  must_fail(tutti_config_set(context, cuda.config, "precision", "float16"),
            "expected one of: float32, bfloat16, tf32; found 'float16'");
  tutti_tensors_destroy(other.weights);
  tutti_network_destroy(network);
}

int main(void) {
  if (watched_by_valgrind()) {
    puts("skipped: valgrind does not follow threads of the emulated GPU, which change stacks");
    return 77;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_tables_rounded, begin_tables, end),
      cmocka_unit_test_setup_teardown(test_images_rounded, begin_images, end),
      cmocka_unit_test_setup_teardown(test_images_rounded, begin_deep_images, end),
      cmocka_unit_test_setup_teardown(test_tables_beside_cpu, begin_tables, end),
      cmocka_unit_test_setup_teardown(test_images_beside_cpu, begin_images, end),
      cmocka_unit_test_setup_teardown(test_tables_gradients, begin_tables, end),
      cmocka_unit_test_setup_teardown(test_images_gradients, begin_images, end),
      cmocka_unit_test_setup_teardown(test_tables_pool, begin_tables, end),
      cmocka_unit_test_setup_teardown(test_images_pool, begin_images, end),
      cmocka_unit_test_setup_teardown(test_tables_queue, begin_tables, end),
      cmocka_unit_test_setup_teardown(test_images_queue, begin_images, end),
      cmocka_unit_test_setup_teardown(test_tables_refused, begin_tables, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
