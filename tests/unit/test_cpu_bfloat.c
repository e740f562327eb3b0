/* test_cpu_bfloat.c - products of numbers rounded to bfloat16 (`precision = bfloat16`): bit for bit by every
   instruction set and each of the processor's units, against plain loops that round in the same places; and networks,
   multiplied in each of these ways, beside those in floats. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backends/cpu/plan_impl.h"
#include "backends/cpu/train_impl.h"
#include "bfloat_rounded.h"
#include "cpu_check.h"
#include "cpu_images.h"
#include "cpu_levels.h"
#include "golden.h"

enum { ROWS = 64, FEATURES = 9, OUTPUTS = 2 };

static struct tutti_random draws;

/* The ways to multiply that this machine has beside the kernels of an instruction set. */
struct ways {
  size_t count;
  struct cpu_bfloat_way all[CPU_BFLOAT_WAYS];
};

static struct ways ways_of(enum tutti_cpu cpu) {
  struct ways ways;
  ways.count = backend_cpu_bfloat_ways(backend_cpu_kernels(cpu), ways.all);
  return ways;
}

static enum tutti_cpu cpu_of(void **state) { return ((const struct level_test *)*state)->cpu; }

/* That of a test, which is run for each of them. */
static struct cpu_bfloat_way way_of(void **state) {
  return ways_of(cpu_of(state)).all[((const struct level_test *)*state)->which];
}

static size_t below(size_t n) { return (size_t)tutti_random_below(&draws, (uint32_t)n); }

/* --- products --- */

/* Where row `row` of all products, one below the other, lies in an array whose rows are `ld` apart. */
static size_t row_at(const struct cpu_gemm *g, size_t row, size_t ld, size_t next) {
  return row / g->m * next + row % g->m * ld;
}

/* A(row, k) as [all rows][k] and B(k, column) as [n][k], rounded; columns of B that are not there are 0. */
static float *rounded_a(const struct cpu_gemm *g) {
  const size_t rows = g->m * (g->more + 1);
  float *a = malloc(rows * g->k * sizeof *a);
  assert_non_null(a);
  for (size_t i = 0; i < rows * g->k; i++)
    a[i] = rounded(g->a[row_at(g, i / g->k, g->a_row, g->a_next) + i % g->k * g->a_column]);
  return a;
}

static float *rounded_b(const struct cpu_gemm *g, size_t columns) {
  float *b = calloc(g->n * g->k, sizeof *b);
  assert_non_null(b);
  for (size_t i = 0; i < columns * g->k; i++) {
    const size_t column = i / g->k, k = i % g->k;
    b[i] = rounded(g->b_transposed ? g->b[column * g->ldb + k] : g->b[k * g->ldb + column]);
  }
  return b;
}

/* Sums over 32 values of k, of the even terms and of the odd ones. Products of such numbers are exact. A mask of sums
   is for those of 512 values of k, before they are added to others; any other one is for what is stored. */
static float plain_sum(const struct cpu_gemm *g, const float *a, const float *b, size_t row, size_t column) {
  const bool masked = g->mask && !(g->mask[row_at(g, row, g->ldm, g->mask_next) + column] > 0);
  const bool masks_sums = g->mask && g->mask_sum;
  const float there = g->accumulate ? g->c[row_at(g, row, g->ldc, g->c_next) + column] : 0;
  float sum = masks_sums ? 0 : there, all = there;
  for (size_t k = 0; k < g->k; k += 32) {
    float part[2] = {0, 0};
    for (size_t i = k; i < g->k && i < k + 32; i++)
      part[i % 2] += a[row * g->k + i] * b[column * g->k + i];
    sum += part[0] + part[1];
    if (masks_sums && ((k + 32) % CPU_BFLOAT_DEPTH == 0 || k + 32 >= g->k)) {
      const bool first = k < CPU_BFLOAT_DEPTH && !g->accumulate;
      sum = masked ? 0 : sum;
      all = first ? sum : all + sum;
      sum = 0;
    }
  }
  if (masks_sums)
    return all;
  if (g->bias)
    sum += g->bias[column];
  if (g->relu)
    sum = sum > 0 ? sum : 0;
  return masked ? 0 : sum;
}

/* Numbers of very different sizes, some of them denormal, some halfway between two of 8 digits. */
static float *draw(size_t count) {
  float *x = aligned_alloc(64, (count + 63) / 16 * 64);
  assert_non_null(x);
  tutti_random_fill_normal(&draws, (count + 63) / 16 * 16, 0, 1, x);
  const size_t kind = below(3);
  for (size_t i = 0; i < count && kind > 0; i++)
    x[i] = kind == 1 ? ldexpf(x[i], (int)below(40) - 20) : ldexpf((float)(1 + below(1024)), below(20) ? -9 : -140);
  return x;
}

static void check_product(cpu_bfloat_function *multiply) {
  struct cpu_gemm g = {.m = 1 + below(70), .n = 8 * (1 + below(40)), .k = 1 + below(below(4) ? 140 : 1200)};
  const size_t padded = (g.k + 15) / 16 * 16, rows = (g.m + 15) / 16 * 16, columns = g.n - below(8);
  const bool by_columns = below(2) == 1;
  /* Rows may be further apart than they are long, each array's by its own distance. */
  const size_t ldb = g.n + 8 * below(5), ldc = g.n + 8 * below(5), ldm = g.n + 8 * below(5);
  g.more = by_columns ? 0 : below(3);
  g.a_next = (g.m + below(3)) * padded;
  g.c_next = (g.m + below(3)) * ldc;
  g.mask_next = (g.m + below(3)) * ldm;
  const size_t all = g.m * (g.more + 1), size = g.c_next * (g.more + 1);
  float *a = draw(by_columns ? g.k * rows : g.a_next * (g.more + 1)), *b = draw(ldb * padded), *bias = draw(g.n);
  float *c = draw(size), *mask = draw(g.mask_next * (g.more + 1)), *wanted = malloc(all * g.n * sizeof *wanted);
  float *pack = aligned_alloc(64, CPU_BFLOAT_PACK * sizeof *pack);
  assert_true(wanted && pack);
  g.a = a;
  g.a_row = by_columns ? 1 : padded;
  g.a_column = by_columns ? rows : 1;
  g.b = b;
  g.b_transposed = below(2);
  g.ldb = g.b_transposed ? padded : ldb;
  g.c = c;
  g.ldc = ldc;
  g.ldm = ldm;
  g.accumulate = below(2);
  g.bias = g.accumulate || below(2) ? NULL : bias;
  g.relu = below(2);
  g.mask = below(2) ? mask : NULL;
  g.mask_sum = g.mask && !g.bias && !g.relu && below(2);
  float *before = malloc(size * sizeof *before);
  bool *stored = calloc(size, sizeof *stored);
  assert_true(before && stored);
  memcpy(before, c, size * sizeof *before);
  float *short_a = rounded_a(&g), *short_b = rounded_b(&g, g.b_transposed ? columns : g.n);
  for (size_t i = 0; i < all * g.n; i++)
    wanted[i] = plain_sum(&g, short_a, short_b, i / g.n, i % g.n);
  multiply(&(struct cpu_bfloat){&g, columns, pack, pack + CPU_BFLOAT_PACK_A});
  for (size_t i = 0; i < all * g.n; i++) {
    const size_t at = row_at(&g, i / g.n, ldc, g.c_next) + i % g.n;
    const float *found = &c[at];
    stored[at] = true;
    if (memcmp(found, &wanted[i], sizeof *found) != 0 && (*found != 0 || wanted[i] != 0))
      fail_msg("%zu x %zu x %zu, row %zu, column %zu: found %.9g, wanted %.9g", g.m, g.n, g.k, i / g.n, i % g.n,
               (double)*found, (double)wanted[i]);
  }
  for (size_t i = 0; i < size; i++)
    assert_true(stored[i] || memcmp(&c[i], &before[i], sizeof *c) == 0); /* nothing beside the rows is touched */
  free(a), free(b), free(bias), free(c), free(mask), free(wanted), free(pack), free(before), free(stored);
  free(short_a), free(short_b);
}

static void check_products(cpu_bfloat_function *multiply) {
  unsigned kept = backend_cpu_enter();
  tutti_random_init(&draws, 3, "products in bfloat16", 0);
  for (int i = 0; i < 150; i++)
    check_product(multiply);
  backend_cpu_leave(kept);
}

static void test_products(void **state) { check_products(kernels_of(state)->gemm_bfloat); }

static void test_units(void **state) {
  (void)state;
  const struct ways ways = ways_of(tutti_cpu_detect());
  if (ways.count == 1)
    skip();
  for (size_t w = 0; w < ways.count; w++)
    if (ways.all[w].units)
      check_products(ways.all[w].multiply);
}

/* What is not a number stays so, in whatever digits; infinity stays infinity. */
static void check_no_numbers(cpu_bfloat_function *multiply) {
  float a[16 * 16] = {0}, b[16 * 16] = {0}, c[16 * 16], *pack = aligned_alloc(64, CPU_BFLOAT_PACK * sizeof *pack);
  const uint32_t last = 0x7fffffff, first = 0x7f800001;
  struct cpu_gemm g = {
      .m = 4, .n = 16, .k = 16, .a = a, .a_row = 16, .a_column = 1, .b = b, .ldb = 16, .c = c, .ldc = 16};
  memcpy(&a[0], &last, sizeof last);
  memcpy(&a[16], &first, sizeof first);
  a[32] = 3.4e38f; /* rounds up to infinity */
  a[48] = 1;
  b[0] = 1;
  multiply(&(struct cpu_bfloat){&g, 16, pack, pack + CPU_BFLOAT_PACK_A});
  assert_true(isnan(c[0]) && isnan(c[16]) && isinf(c[32]) && c[48] == 1);
  free(pack);
}

/* A denormal number counts as 0, also one that would round up to the least normal one; that one stays. */
static void check_denormal_numbers(cpu_bfloat_function *multiply) {
  float a[16 * 16] = {0}, b[16 * 16] = {0}, c[16 * 16], *pack = aligned_alloc(64, CPU_BFLOAT_PACK * sizeof *pack);
  struct cpu_gemm g = {
      .m = 4, .n = 16, .k = 16, .a = a, .a_row = 16, .a_column = 1, .b = b, .ldb = 16, .c = c, .ldc = 16};
  unsigned kept = backend_cpu_enter();
  assert_non_null(pack);
  a[0] = 0x1.fffp-127f;
  a[16] = -0x1p-127f;
  a[32] = 0x1p-126f;
  a[48 + 1] = 0x1p100f;
  b[0] = 0x1p100f;
  b[16] = 0x1.fffp-127f;
  multiply(&(struct cpu_bfloat){&g, 16, pack, pack + CPU_BFLOAT_PACK_A});
  assert_true(c[0] == 0 && c[16] == 0 && c[32] == 0x1p-26f && c[48] == 0);
  backend_cpu_leave(kept);
  free(pack);
}

static void test_no_numbers(void **state) {
  const struct ways ways = ways_of(cpu_of(state));
  for (size_t w = 0; w < ways.count; w++)
    check_no_numbers(ways.all[w].multiply), check_denormal_numbers(ways.all[w].multiply);
}

/* --- networks --- */

static struct tutti_task make_task(void) {
  return (struct tutti_task){.size = sizeof(struct tutti_task),
                             .kind = TUTTI_TASK_REGRESSION,
                             .input = {1, 1, FEATURES},
                             .outputs = OUTPUTS,
                             .train_rows = ROWS,
                             .head = TUTTI_OP_HEAD_LINEAR};
}

/* Rows of numbers, or of whole ones between -1 and 1. */
static tutti_split *make_rows(const struct tutti_task *task, bool whole) {
  float x[ROWS * FEATURES], y[ROWS * OUTPUTS];
  tutti_split *split;
  tutti_random_fill_normal(&draws, ROWS * FEATURES, 0, 1, x);
  tutti_random_fill_normal(&draws, ROWS * OUTPUTS, 0, 1, y);
  for (size_t i = 0; i < ROWS * FEATURES && whole; i++)
    x[i] = (float)below(3) - 1;
  for (size_t i = 0; i < ROWS * OUTPUTS && whole; i++)
    y[i] = (float)below(5) - 2;
  OK(tutti_split_create(context, "train", ROWS, task->input, OUTPUTS, x, y, NULL, &split));
  return split;
}

/* Masks, a sum of two gradients, a layer that is wider than a tile of columns, an output that is narrower. */
static tutti_network *make_network(const struct tutti_task *task) {
  tutti_network *network = begin(task);
  uint32_t one = dense(network, 0, 70, TUTTI_ACTIVATION_RELU), two = dense(network, one, 37, TUTTI_ACTIVATION_RELU);
  uint32_t again = dense(network, two, 70, TUTTI_ACTIVATION_LINEAR), sum = OP(network, TUTTI_OP_ADD, one, again);
  OK(tutti_network_add_head(context, network, sum, task));
  return network;
}

/* A plan to train with, in floats; in bfloat16, multiplying as the way says. */
static struct cpu_plan *make_plan(const tutti_network *network, const struct tutti_task *task, enum tutti_cpu cpu) {
  const struct cpu_config config = make_config();
  return plan_to_train(network, task, cpu, &config);
}

static struct cpu_plan *make_short_plan(const tutti_network *network, const struct tutti_task *task, enum tutti_cpu cpu,
                                        struct cpu_bfloat_way way) {
  struct cpu_config config = make_config();
  config.precision = CPU_BFLOAT16;
  struct cpu_plan *plan = plan_to_train(network, task, cpu, &config);
  plan->gemm_bfloat = way.multiply;
  return plan;
}

static void require_short(const char *what, size_t count, const float *x) {
  for (size_t i = 0; i < count; i++)
    if (x[i] != rounded(x[i]))
      fail_msg("%s: %.9g has more than 8 digits, and the test says nothing", what, (double)x[i]);
}

/* With numbers of few digits nothing is rounded: losses and gradients are those of floats, to the bit. */
static void test_exact_networks(void **state) {
  tutti_random_init(&draws, 9, "exact networks", 0);
  struct tutti_task task = make_task();
  tutti_split *split = make_rows(&task, true);
  tutti_network *network = make_network(&task);
  struct cpu_plan *floats = make_plan(network, &task, cpu_of(state));
  struct cpu_plan *bfloats = make_short_plan(network, &task, cpu_of(state), way_of(state));
  size_t set = 0;
  for (size_t i = 0; i < floats->trained; i++) { /* what lies between weights is 0, and stays so */
    floats->weights[i] = floats->weights[i] == 0 || below(12) ? 0 : below(2) ? 1 : -1;
    set += floats->weights[i] != 0;
  }
  assert_true(set > 100);
  memcpy(bfloats->weights, floats->weights, floats->floats * sizeof(float));
  assert_true(pass_all(floats, split) == pass_all(bfloats, split));
  for (size_t i = 0; i < floats->node_count; i++) {
    const struct cpu_node *node = &floats->nodes[i];
    if (node->value)
      require_short("values", ROWS * node->ld, node->value);
    if (node->gradient)
      require_short("gradients", ROWS * node->ld, node->gradient);
  }
  assert_memory_equal(bfloats->gradients, floats->gradients, floats->trained * sizeof(float));
  backend_cpu_plan_destroy(floats);
  backend_cpu_plan_destroy(bfloats);
  tutti_network_destroy(network);
  tutti_split_destroy(split);
}

/* Losses and gradients of a network, multiplied in one way, are those of it multiplied in any other. */
static void check_ways(enum tutti_cpu cpu, const tutti_network *network, const struct tutti_task *task,
                       const tutti_split *split) {
  const struct ways ways = ways_of(cpu);
  struct cpu_plan *first = make_short_plan(network, task, cpu, ways.all[0]);
  const double loss = pass_all(first, split);
  for (size_t w = 1; w < ways.count; w++) {
    struct cpu_plan *other = make_short_plan(network, task, cpu, ways.all[w]);
    assert_true(pass_all(other, split) == loss);
    assert_memory_equal(other->gradients, first->gradients, first->trained * sizeof(float));
    backend_cpu_plan_destroy(other);
  }
  backend_cpu_plan_destroy(first);
}

static void test_ways(void **state) {
  if (ways_of(cpu_of(state)).count == 1)
    skip();
  tutti_random_init(&draws, 4, "ways to multiply", 0);
  struct tutti_task task = make_task();
  tutti_split *split = make_rows(&task, false);
  tutti_network *network = make_network(&task);
  check_ways(cpu_of(state), network, &task, split);
  tutti_network_destroy(network);
  tutti_split_destroy(split);
  task = images_task();
  split = images_make(&task);
  for (int32_t wide = 16; wide <= 40; wide += 8) {
    network = images_network(&task, wide);
    check_ways(cpu_of(state), network, &task, split);
    tutti_network_destroy(network);
  }
  tutti_split_destroy(split);
}

/* Both products of a backward pass round: with 1 + 2^-9, which has too many digits, they are what they are with 1. */
static void test_backward_products(void **state) {
  enum { SIZE = 16, NUMBERS = SIZE * SIZE };
  const float longer = 1 + 0x1p-9f;
  struct tutti_task task = make_task();
  tutti_network *network = make_network(&task);
  struct cpu_plan *plan = make_short_plan(network, &task, cpu_of(state), way_of(state));
  float x[NUMBERS], gradient[NUMBERS], to[NUMBERS];
  for (size_t i = 0; i < NUMBERS; i++) {
    x[i] = longer;
    gradient[i] = 1;
  }
  backend_cpu_product_inputs(plan, &(struct cpu_input_product){.rows = SIZE,
                                                               .inputs = SIZE,
                                                               .columns = SIZE,
                                                               .units = SIZE,
                                                               .gradient = gradient,
                                                               .ldg = SIZE,
                                                               .weights = x,
                                                               .ldw = SIZE,
                                                               .to = to,
                                                               .ldt = SIZE,
                                                               .rounds = true});
  for (size_t i = 0; i < NUMBERS; i++)
    assert_true(to[i] == SIZE);
  backend_cpu_product_weights(plan, &(struct cpu_weight_product){.rows = SIZE,
                                                                 .inputs = SIZE,
                                                                 .columns = SIZE,
                                                                 .units = SIZE,
                                                                 .x = x,
                                                                 .ldx = SIZE,
                                                                 .gradient = gradient,
                                                                 .ldg = SIZE,
                                                                 .to = to,
                                                                 .ldw = SIZE,
                                                                 .rounds = true});
  for (size_t i = 0; i < NUMBERS; i++)
    assert_true(to[i] == SIZE);
  backend_cpu_plan_destroy(plan);
  tutti_network_destroy(network);
}

/* Rounding moves each number by 2^-9 of it at most, and a unit near its kink is on in one and off in the other: the
   gradient turns by a small angle. What is not training has the bits of floats. */
static void check_beside_floats(void **state, const tutti_network *network, const struct tutti_task *task,
                                const tutti_split *split) {
  struct cpu_plan *floats = make_plan(network, task, cpu_of(state));
  struct cpu_plan *bfloats = make_short_plan(network, task, cpu_of(state), way_of(state));
  double want = pass_all(floats, split), got = pass_all(bfloats, split), squares = 0, apart = 0;
  assert_true(want != got);
  assert_close(got, want, 1e-2, 0);
  for (size_t i = 0; i < floats->trained; i++) {
    const double a = (double)floats->gradients[i], b = (double)bfloats->gradients[i];
    squares += a * a;
    apart += (a - b) * (a - b);
  }
  if (!(sqrt(apart / squares) < 0.05 && apart > 0))
    fail_msg("the gradients are %.3g of their length apart", sqrt(apart / squares));
  for (size_t i = 0; i < floats->floats; i++)
    bfloats->weights[i] = floats->weights[i]; /* the running statistics differ */
  backend_cpu_forward(floats, task->train_rows, NULL);
  backend_cpu_forward(bfloats, task->train_rows, NULL);
  assert_true(backend_cpu_loss(floats, task->train_rows, false) == backend_cpu_loss(bfloats, task->train_rows, false));
  backend_cpu_plan_destroy(floats);
  backend_cpu_plan_destroy(bfloats);
}

static void test_networks_beside_floats(void **state) {
  tutti_random_init(&draws, 2, "networks beside floats", 0);
  struct tutti_task task = make_task();
  tutti_split *split = make_rows(&task, false);
  tutti_network *network = make_network(&task);
  check_beside_floats(state, network, &task, split);
  tutti_network_destroy(network);
  tutti_split_destroy(split);
}

/* Patches, convolutions of one pixel with and without a depthwise one before them, factorised reductions. */
static void test_images_beside_floats(void **state) {
  struct tutti_task task = images_task();
  tutti_split *split = images_make(&task);
  for (int32_t wide = 16; wide <= 40; wide += 8) {
    tutti_network *network = images_network(&task, wide);
    check_beside_floats(state, network, &task, split);
    tutti_network_destroy(network);
  }
  tutti_split_destroy(split);
}

/* A layer of each kind with floats whose values, weights and gradients were rounded before has, up to the order of
   sums, the values and gradients that it has in bfloat16 without; layers with less than 16 inputs or units have those
   of floats. How the layer is cut into blocks does not matter. */
struct kind {
  int32_t size, kernel, channels, units;
  bool reduces, rounds;
};

static void round_all(size_t count, float *x) {
  for (size_t i = 0; i < count; i++)
    x[i] = rounded(x[i]);
}

static void require_close(const struct kind *kind, const char *what, size_t count, const float *found,
                          const float *wanted) {
  double apart = 0, squares = 0;
  for (size_t i = 0; i < count; i++) {
    apart += pow((double)found[i] - (double)wanted[i], 2);
    squares += pow((double)wanted[i], 2);
  }
  if (!(squares > 0 && sqrt(apart / squares) <= (kind->rounds ? 1e-5 : 0)))
    fail_msg("%d x %d, kernel %d, %d channels, %d units%s: the %s are %.3g of their length apart", kind->size,
             kind->size, kind->kernel, kind->channels, kind->units, kind->reduces ? ", a reduction" : "", what,
             sqrt(apart / squares));
}

static void check_kind(void **state, struct kind kind) {
  enum { IMAGES = 4 };
  struct tutti_task task = images_task();
  task.input = (struct tutti_shape){kind.size, kind.size, 3};
  task.train_rows = IMAGES;
  struct attributes attributes = default_attributes();
  attributes.units = kind.units;
  tutti_network *network = begin(&task);
  uint32_t source = images_conv(network, 0, kind.channels, 1, 1);
  uint32_t layer = source + 1;
  if (kind.reduces)
    layer = OP_WITH(network, TUTTI_OP_FACTORISED_REDUCE, &attributes, source);
  else
    layer = images_conv(network, source, kind.units, kind.kernel, 1);
  OK(tutti_network_add_head(context, network, OP(network, TUTTI_OP_GLOBAL_POOL, layer), &task));
  struct cpu_plan *plans[2];
  for (int i = 0; i < 2; i++) { /* in bfloat16; in floats */
    struct cpu_plan *plan = plans[i] =
        i ? make_plan(network, &task, cpu_of(state)) : make_short_plan(network, &task, cpu_of(state), way_of(state));
    const struct cpu_draws training = {.drop = true};
    const bool first = i == 1 && kind.rounds;
    struct cpu_node *one = &plan->nodes[1], *two = &plan->nodes[2];
    const size_t values = IMAGES * backend_cpu_image(one), gradients = IMAGES * backend_cpu_image(two);
    tutti_random_init(&draws, 5, "one kind of layer", 0);
    memcpy(plan->weights, plans[0]->weights, plan->floats * sizeof(float));
    backend_cpu_forward_node(plan, 1, IMAGES, &training);
    for (size_t k = 0; k < values; k++) /* what lies behind a pixel's channels stays 0 */
      one->value[k] = k % one->ld < one->width ? (float)below(2001) / 1000 - 1 : 0;
    if (first)
      round_all(values, one->value), round_all(plan->floats, plan->weights);
    backend_cpu_forward_node(plan, 2, IMAGES, &training);
    if (i == 1)
      require_close(&kind, "values", gradients, plans[0]->nodes[2].value, two->value);
  }
  for (int i = 0; i < 2; i++) {
    struct cpu_plan *plan = plans[i];
    struct cpu_node *two = &plan->nodes[2];
    const size_t gradients = IMAGES * backend_cpu_image(two);
    tutti_random_init(&draws, 6, "its gradients", 0);
    for (size_t k = 0; k < gradients; k++)
      two->gradient[k] = k % two->ld < two->width ? (float)below(2001) / 1000 - 1 : 0;
    if (i == 1 && kind.rounds)
      round_all(gradients, two->gradient);
    backend_cpu_backward_node(plan, 2, IMAGES);
  }
  const struct cpu_node *one = &plans[1]->nodes[1], *two = &plans[1]->nodes[2];
  const struct cpu_segment *segment = &plans[1]->segments[two->segment];
  require_close(&kind, "gradients of weights", segment->rows * segment->ld,
                plans[0]->gradients + plans[0]->nodes[2].weight, plans[1]->gradients + two->weight);
  require_close(&kind, "gradients of inputs", IMAGES * backend_cpu_image(one), plans[0]->nodes[1].gradient,
                one->gradient);
  backend_cpu_plan_destroy(plans[0]);
  backend_cpu_plan_destroy(plans[1]);
  tutti_network_destroy(network);
}

static void test_kinds_of_layers(void **state) {
  for (int32_t size = 4; size <= 9; size++)
    for (int i = 0; i < 3; i++) {
      const int32_t kernel = i == 1 ? 3 : 1;
      check_kind(state, (struct kind){size, kernel, 40, 32, i == 2, true});
      check_kind(state, (struct kind){size, kernel, 16, 24, i == 2, true});
      check_kind(state, (struct kind){size, kernel, 16, 16, i == 2, true});
      check_kind(state, (struct kind){size, kernel, 16, 15, i == 2, false});
    }
  check_kind(state, (struct kind){8, 1, 15, 32, false, false});
  check_kind(state, (struct kind){8, 3, 2, 16, false, true});   /* a patch has 18 numbers */
  check_kind(state, (struct kind){8, 3, 64, 64, false, true});  /* the last row of an image is a block of its own */
  check_kind(state, (struct kind){4, 3, 256, 64, false, true}); /* no block has 16 pixels */
}

/* Mini-batches of fewer than 16 rows do not round, whatever validation puts through the network at once. */
static void test_rows_of_a_step_decide(void **state) {
  (void)state;
  const struct tutti_task task = images_task();
  tutti_split *split = images_make(&task);
  tutti_network *network = begin(&task);
  const uint32_t layer = dense(network, OP(network, TUTTI_OP_FLATTEN, 0), 32, TUTTI_ACTIVATION_RELU);
  OK(tutti_network_add_head(context, network, layer, &task));
  for (int rows = 15; rows <= 16; rows++)
    for (int validates = 0; validates < 2; validates++) {
      struct cpu_config config = make_config();
      config.precision = CPU_BFLOAT16;
      config.batch_size = rows;
      const struct tutti_job job = {.size = sizeof job,
                                    .task = &task,
                                    .network = network,
                                    .config = &config,
                                    .train = split,
                                    .validation = validates ? split : NULL};
      struct training t;
      OK(backend_cpu_training_create(context, backend_cpu_kernels(tutti_cpu_detect()), &job, true, &t));
      t.plan->trains = true;
      size_t of_layer = 0;
      while (t.plan->nodes[of_layer].op != TUTTI_OP_DENSE)
        of_layer++;
      assert_int_equal(backend_cpu_rounds(t.plan, &t.plan->nodes[of_layer]), rows == 16);
      backend_cpu_training_destroy(&t);
    }
  tutti_network_destroy(network);
  tutti_split_destroy(split);
}

int main(void) {
  static const struct {
    const char *name;
    CMUnitTestFunction test;
  } of_ways[] = {{"test_exact_networks", test_exact_networks},
                 {"test_backward_products", test_backward_products},
                 {"test_networks_beside_floats", test_networks_beside_floats},
                 {"test_images_beside_floats", test_images_beside_floats},
                 {"test_kinds_of_layers", test_kinds_of_layers}};
  struct level_tests all = {.count = 0};
  add_on_levels(&all, "test_products", 0, test_products);
  add_on_levels(&all, "test_no_numbers", 0, test_no_numbers);
  add_on_levels(&all, "test_ways", 0, test_ways);
  const struct ways ways = ways_of(tutti_cpu_detect());
  for (size_t i = 0; i < sizeof of_ways / sizeof of_ways[0]; i++)
    for (size_t w = 0; w < ways.count; w++)
      add_on_levels(&all,
                    told("%s by %s", of_ways[i].name, ways.all[w].units ? ways.all[w].units : "vectors, the rest"),
                    (int)w, of_ways[i].test);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_units), cmocka_unit_test(test_rows_of_a_step_decide)};
  int failed = run_on_levels(&all, "products and networks", set_up, tear_down);
  return cmocka_run_group_tests(tests, set_up, tear_down) + failed;
}
