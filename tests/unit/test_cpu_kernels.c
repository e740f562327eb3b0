/* test_cpu_kernels.c - the kernels of backend cpu, of every instruction set that this machine has, against plain scalar
   arithmetic in double precision. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backends/cpu/cpu_impl.h"
#include "cpu_levels.h"
#include "cpu_reference.h"
#include "golden.h"

#include <tutti/context.h>
#include <tutti/random.h>

static size_t padded(size_t n) { return (n + 15) / 16 * 16; }

/* An aligned array of `count` normal numbers, with a line to spare. */
static float *draw(size_t count, uint64_t seed) {
  float *x = aligned_alloc(64, (padded(count) + 16) * sizeof *x);
  assert_non_null(x);
  struct tutti_random random;
  tutti_random_init(&random, seed, "test", 0);
  tutti_random_fill_normal(&random, padded(count) + 16, 0, 1, x);
  return x;
}

/* One product, or three with one B whose C lie apart and whose masks lie close. */
static void check_gemm(const struct cpu_kernels *k, size_t m, size_t n, size_t depth, bool by_columns, int mode) {
  size_t lda = padded(by_columns ? m : depth), ldn = padded(n) + 16, columns = (n + 7) / 8 * 8, ldm = columns,
         more = mode & 16 ? 2 : 0;
  size_t a_size = (by_columns ? depth : m) * lda, c_next = (m + 1) * ldn;
  float *a = draw((more + 1) * a_size, 1), *b = draw(depth * ldn, 2), *c = draw((more + 1) * c_next, 3);
  float *before = draw((more + 1) * c_next, 3), *bias = draw(ldn, 4), *mask = draw((more + 1) * m * ldm, 5);
  struct cpu_gemm g = {.m = m,
                       .n = columns,
                       .k = depth,
                       .a = a,
                       .a_row = by_columns ? 1 : lda,
                       .a_column = by_columns ? lda : 1,
                       .b = b,
                       .ldb = ldn,
                       .c = c,
                       .ldc = ldn,
                       .ldm = ldm,
                       .more = more,
                       .a_next = a_size,
                       .c_next = c_next,
                       .mask_next = m * ldm};
  g.bias = mode & 1 ? bias : NULL;
  g.relu = mode & 2;
  g.mask = mode & 4 ? mask : NULL;
  g.accumulate = mode & 8;
  k->gemm(&g);
  for (size_t one = 0, at = 0; one <= more; one++)
    for (size_t i = 0; i <= m; i++)
      for (size_t j = 0; j < ldn; j++, at++) {
        double want = 0;
        if (i == m || j >= columns) {
          assert_true(c[at] == before[at]); /* untouched */
          continue;
        }
        for (size_t q = 0; q < depth; q++)
          want += (double)a[one * a_size + i * g.a_row + q * g.a_column] * (double)b[q * ldn + j];
        want += g.bias ? (double)bias[j] : 0;
        want += g.accumulate ? (double)before[at] : 0;
        want = g.relu && want < 0 ? 0 : want;
        want = g.mask && mask[(one * m + i) * ldm + j] <= 0 ? 0 : want;
        assert_close_told((double)c[at], want, 1e-5, 3e-6 * sqrt((double)depth),
                          "%zu x %zu x %zu, mode %d%s: row %zu, column %zu of product %zu", m, n, depth, mode,
                          by_columns ? ", by columns" : "", i, j, one);
      }
  free(a), free(b), free(c), free(before), free(bias), free(mask);
}

static void test_gemm(void **state) {
  const struct cpu_kernels *k = kernels_of(state);
  const size_t sizes[] = {1, 2, 3, 7, 8, 13, 17, 33};
  enum { SIZES = sizeof sizes / sizeof *sizes };
  for (size_t i = 0; i < SIZES; i++)
    for (size_t j = 0; j < SIZES; j++)
      for (size_t q = 0; q < SIZES; q += 2)
        for (int columns = 0; columns < 2; columns++)
          check_gemm(k, sizes[i], sizes[j], sizes[q], columns, (int)(i * 5 + j * 3 + q) % 32);
  for (int mode = 0; mode < 16; mode++)
    check_gemm(k, 25, 130, 19, mode % 2, mode);
  check_gemm(k, 100, 64, 50, false, 0);
  for (int mode = 0; mode < 16; mode++) /* several blocks of depth; panels of a wide B are packed */
    check_gemm(k, 66, 496, 515 + (size_t)mode, mode % 3 == 0, mode);
  check_gemm(k, 5, 0, 3, false, 0);
  check_gemm(k, 0, 40, 3, false, 0);
}

/* A whose terms lie in runs, as what a window sees of an image does: rows, or columns, overlap. */
static void check_runs(const struct cpu_kernels *k, size_t m, size_t n, size_t run, size_t runs, bool by_columns) {
  const size_t depth = run * runs, step = by_columns ? m + 2 : 5, ldb = padded(n) + 16, columns = (n + 7) / 8 * 8;
  const size_t jump = (by_columns ? run * step : run) + 7;
  float *a = draw(runs * jump + m * step + run * step, 1), *b = draw(depth * ldb, 2), *c = draw(m * ldb, 3);
  float *before = draw(m * ldb, 3), *bias = draw(ldb, 4);
  struct cpu_gemm g = {.m = m,
                       .n = columns,
                       .k = depth,
                       .a = a,
                       .a_row = by_columns ? 1 : step,
                       .a_column = by_columns ? step : 1,
                       .run = run,
                       .jump = jump,
                       .b = b,
                       .ldb = ldb,
                       .c = c,
                       .ldc = ldb,
                       .bias = bias,
                       .accumulate = true};
  k->gemm(&g);
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j < columns; j++) {
      double want = (double)bias[j] + (double)before[i * ldb + j];
      for (size_t q = 0; q < depth; q++)
        want += (double)a[i * g.a_row + q / run * jump + q % run * g.a_column] * (double)b[q * ldb + j];
      assert_close_told((double)c[i * ldb + j], want, 1e-5, 3e-6 * sqrt((double)depth),
                        "%zu x %zu, %zu runs of %zu%s: row %zu, column %zu", m, n, runs, run,
                        by_columns ? ", by columns" : "", i, j);
    }
  free(a), free(b), free(c), free(before), free(bias);
}

/* Short runs, several to a block of terms; such as do not divide one; and longer ones than a block. */
static void test_runs(void **state) {
  const struct cpu_kernels *k = kernels_of(state);
  const size_t run[] = {2, 6, 24, 90, 130, 300}, sizes[] = {1, 5, 8, 13, 24, 33, 64};
  for (size_t r = 0; r < sizeof run / sizeof *run; r++)
    for (size_t i = 0; i < 7; i++)
      for (size_t j = 0; j < 7; j++)
        for (int by_columns = 0; by_columns < 2; by_columns++)
          check_runs(k, sizes[i], sizes[j], run[r], 1 + (i + j) % 7, by_columns);
  for (size_t i = 0; i < 7; i++) { /* odd ones: by columns, or of whole vectors */
    check_runs(k, sizes[i], sizes[i], 7, 5, true);
    check_runs(k, sizes[i], 16 * sizes[i], 21, 7, false);
  }
}

/* Large products give the bits of the others, which check_gemm compares with plain arithmetic; nothing beside C
   changes. */
static void check_large(const struct cpu_kernels *k, size_t m, size_t n, size_t depth, bool by_columns, int mode) {
  size_t lda = padded(by_columns ? m : depth), ldn = n + 16, ldt = padded(depth);
  float *a = draw((by_columns ? depth : m) * lda, 1), *b = draw(depth * ldn, 2), *across = draw(n * ldt, 6);
  float *c = draw((m + 1) * ldn, 3), *want = draw((m + 1) * ldn, 3), *bias = draw(ldn, 4), *mask = draw(m * n, 5);
  float *pack = draw(CPU_LARGE_PACK, 7);
  struct cpu_gemm g = {.m = m,
                       .n = n,
                       .k = depth,
                       .a = a,
                       .a_row = by_columns ? 1 : lda,
                       .a_column = by_columns ? lda : 1,
                       .b = b,
                       .ldb = ldn,
                       .c = want,
                       .ldc = ldn,
                       .bias = mode & 1 ? bias : NULL,
                       .relu = mode & 2,
                       .mask = mode & 4 ? mask : NULL,
                       .ldm = n,
                       .accumulate = mode & 8};
  k->gemm(&g);
  g.c = c;
  if (mode & 16) {
    for (size_t q = 0; q < depth; q++)
      for (size_t j = 0; j < n; j++)
        across[j * ldt + q] = b[q * ldn + j];
    g.b = across;
    g.ldb = ldt;
    g.b_transposed = true;
  }
  k->gemm_large(&g, pack);
  assert_memory_equal(c, want, (m + 1) * ldn * sizeof *c);
  free(a), free(b), free(across), free(c), free(want), free(bias), free(mask), free(pack);
}

static void test_large_products_give_the_same_bits(void **state) {
  const struct cpu_kernels *k = kernels_of(state);
  for (int mode = 0; mode < 32; mode++) {
    check_large(k, 25 + (size_t)mode, 16 * (1 + (size_t)mode % 5), 255 + (size_t)mode % 4, mode % 3 == 0, mode);
    check_large(k, 64, CPU_LARGE_COLUMNS, 520, mode % 2, mode);
  }
}

/* The weights' gradient of a layer of few units is computed across, which changes no bit. */
static void check_narrow(const struct cpu_kernels *k, size_t rows, size_t inputs, size_t units) {
  size_t ldx = padded(inputs), ldw = 16;
  float *x = draw(rows * ldx, 1), *g = draw(rows * ldw, 2), *want = draw(inputs * ldw, 3), *got = draw(inputs * ldw, 3);
  struct cpu_plan plan = {.kernels = k, .scratch = {.transposed = draw(units * ldx, 4)}};
  struct cpu_weight_product product = {
      .rows = rows, .inputs = inputs, .ldx = ldx, .ldg = ldw, .ldw = ldw, .columns = ldw, .x = x, .gradient = g};
  product.to = want;
  backend_cpu_product_weights(&plan, &product);
  product.to = got;
  product.units = units;
  backend_cpu_product_weights(&plan, &product);
  for (size_t i = 0; i < inputs; i++)
    assert_memory_equal(got + i * ldw, want + i * ldw, units * sizeof *got);
  free(x), free(g), free(want), free(got), free(plan.scratch.transposed);
}

static void test_narrow_layers(void **state) {
  const size_t rows[] = {1, 8, 100, 300, 600},
               inputs[] = {1, 15, 16, 50, 256}; /* less and more than a block of depth */
  for (size_t r = 0; r < 5; r++)
    for (size_t i = 0; i < 5; i++)
      for (size_t units = 1; units < 10; units++)
        check_narrow(kernels_of(state), rows[r], inputs[i], units);
}

/* C[rows][n] (+)= A B' with B as weights lie: its last tile may overlap the one before, and columns behind its rows
   are 0. */
static void check_few(const struct cpu_kernels *k, size_t rows, size_t inputs, size_t units, int mode) {
  size_t lda = padded(units), ldb = lda + 16, n = mode & 4 ? (inputs + 7) / 8 * 8 : padded(inputs) + 16, ldn = n + 24;
  float *a = draw(rows * lda, 1), *b = draw(inputs * ldb, 2), *c = draw((rows + 1) * ldn, 3);
  float *before = draw((rows + 1) * ldn, 3), *mask = draw(rows * n, 5);
  for (size_t r = 0; r < rows; r++)
    memset(a + r * lda + units, 0, (lda - units) * sizeof *a);
  k->gemm_few(&(struct cpu_gemm){.m = rows,
                                 .n = n,
                                 .k = units,
                                 .a = a,
                                 .a_row = lda,
                                 .a_column = 1,
                                 .b = b,
                                 .ldb = ldb,
                                 .b_transposed = true,
                                 .c = c,
                                 .ldc = ldn,
                                 .mask = mode & 1 ? mask : NULL,
                                 .ldm = n,
                                 .accumulate = mode & 2},
              inputs);
  for (size_t r = 0, at = 0; r <= rows; r++)
    for (size_t i = 0; i < ldn; i++, at++) {
      if (r == rows || i >= n) {
        assert_true(c[at] == before[at]); /* untouched */
        continue;
      }
      double want = mode & 2 ? (double)before[at] : 0;
      for (size_t u = 0; u < units && i < inputs; u++)
        want += (double)a[r * lda + u] * (double)b[i * ldb + u];
      want = mode & 1 && mask[r * n + i] <= 0 ? 0 : want;
      assert_close_told((double)c[at], want, 1e-5, 3e-6 * sqrt((double)units),
                        "%zu rows, %zu inputs, %zu units, mode %d: row %zu, input %zu", rows, inputs, units, mode, r,
                        i);
    }
  free(a), free(b), free(c), free(before), free(mask);
}

static void test_few_rows(void **state) {
  const size_t rows[] = {1, 2, 7, 8, 9, 16}, inputs[] = {16, 17, 24, 31, 50, 96}, units[] = {16, 17, 33, 256, 257, 515};
  for (size_t r = 0; r < 6; r++)
    for (size_t i = 0; i < 6; i++)
      for (size_t u = 0; u < 6; u++)
        for (int mode = 0; mode < 8; mode++)
          check_few(kernels_of(state), rows[r], inputs[i], units[u], mode);
}

/* Columns of which at most four are not 0 are summed across. */
static void check_few_columns(const struct cpu_kernels *k, size_t m, size_t depth, size_t units, int mode) {
  size_t lda = padded(depth), ldb = 16, n = 16, ldc = 32;
  float *a = draw(m * lda, 1), *b = draw(depth * ldb, 2), *c = draw((m + 1) * ldc, 3), *bias = draw(ldb, 4);
  float *before = draw((m + 1) * ldc, 3), *single = draw(ldc, 3);
  for (size_t q = 0; q < depth; q++)
    memset(b + q * ldb + units, 0, (ldb - units) * sizeof *b);
  struct cpu_gemm g = {.m = m,
                       .n = n,
                       .k = depth,
                       .units = units,
                       .a = a,
                       .a_row = lda,
                       .a_column = 1,
                       .b = b,
                       .ldb = ldb,
                       .c = c,
                       .ldc = ldc,
                       .bias = mode & 1 ? bias : NULL,
                       .relu = mode & 2,
                       .accumulate = mode & 4};
  k->gemm(&g);
  for (size_t r = 0, at = 0; r <= m; r++)
    for (size_t i = 0; i < ldc; i++, at++) {
      if (r == m || i >= n) {
        assert_true(c[at] == before[at]);
        continue;
      }
      double want = (mode & 1 ? (double)bias[i] : 0) + (mode & 4 ? (double)before[at] : 0);
      for (size_t q = 0; q < depth; q++)
        want += (double)a[r * lda + q] * (double)b[q * ldb + i];
      want = mode & 2 && want < 0 ? 0 : want;
      assert_close_told((double)c[at], want, 1e-5, 3e-6 * sqrt((double)depth),
                        "%zu rows of %zu, %zu columns, mode %d: row %zu, column %zu", m, depth, units, mode, r, i);
    }
  for (size_t r = 0; r < m; r++) { /* a row by itself has the same bits */
    g.m = 1;
    g.a = a + r * lda;
    g.c = single;
    memcpy(single, before + r * ldc, ldc * sizeof *single);
    k->gemm(&g);
    assert_memory_equal(single, c + r * ldc, ldc * sizeof *single);
  }
  free(a), free(b), free(c), free(bias), free(before), free(single);
}

static void test_few_columns(void **state) {
  const size_t rows[] = {1, 3, 4, 7, 8, 17, 100}, depths[] = {31, 32, 50, 64, 256, 257, 300};
  for (size_t r = 0; r < 7; r++)
    for (size_t d = 0; d < 7; d++)
      for (size_t units = 1; units <= 5; units++)
        for (int mode = 0; mode < 8; mode++)
          check_few_columns(kernels_of(state), rows[r], depths[d], units, mode);
}

/* The same row gives the same bits whatever rows surround it. */
static void test_gemm_rows_are_independent(void **state) {
  const struct cpu_kernels *k = kernels_of(state);
  float *a = draw(40 * 32, 1), *b = draw(32 * 48, 2), *all = draw(40 * 48, 3), *one = draw(40 * 48, 4);
  struct cpu_gemm g = {
      .m = 40, .n = 48, .k = 29, .a = a, .a_row = 32, .a_column = 1, .b = b, .ldb = 48, .c = all, .ldc = 48};
  k->gemm(&g);
  for (size_t r = 0; r < 40; r++) {
    struct cpu_gemm single = g;
    single.m = 1;
    single.a = a + r * 32;
    single.c = one + r * 48;
    k->gemm(&single);
  }
  assert_memory_equal(all, one, 40 * 48 * sizeof *all);
  free(a), free(b), free(all), free(one);
}

static void test_moves(void **state) {
  const struct cpu_kernels *k = kernels_of(state);
  const size_t rows[] = {1, 16, 37}, columns[] = {1, 9, 32, 50};
  for (size_t i = 0; i < 3; i++)
    for (size_t j = 0; j < 4; j++) {
      size_t r = rows[i], c = columns[j], ldi = padded(c), ldo = padded(r);
      float *in = draw(r * ldi, 1), *out = draw(c * ldo, 2), *sums = draw(ldi, 3), *rowwise = draw(r * ldi, 4);
      k->transpose(r, c, in, ldi, out, ldo);
      for (size_t x = 0; x < c; x++)
        for (size_t y = 0; y < ldo; y++)
          assert_true(out[x * ldo + y] == (y < r ? in[y * ldi + x] : 0));
      k->column_sums(r, ldi, in, ldi, sums);
      for (size_t x = 0; x < ldi; x++) {
        double want = 0;
        for (size_t y = 0; y < r; y++)
          want += (double)in[y * ldi + x];
        assert_close((double)sums[x], want, 1e-5, 1e-5);
      }
      uint32_t order[37];
      for (size_t y = 0; y < r; y++)
        order[y] = (uint32_t)((y * 7 + 3) % r);
      for (int packed = 0; packed < 2; packed++) { /* in is read as [r][c] without padding */
        size_t ld = packed ? c : ldi;
        k->gather(r, c, in, order, rowwise, ld);
        for (size_t y = 0; y < r; y++) {
          assert_memory_equal(rowwise + y * ld, in + order[y] * c, c * sizeof *in);
          for (size_t x = c; x < ld; x++)
            assert_true(rowwise[y * ld + x] == 0);
        }
      }
      free(in), free(out), free(sums), free(rowwise);
    }
}

static void test_elementwise(void **state) {
  const struct cpu_kernels *k = kernels_of(state);
  enum { N = 2064 };
  float *x = draw(N, 1), *by = draw(N, 2), *y = draw(N, 3), *before = draw(N, 3);
  k->add(N, x, y);
  k->axpy(N, 0.5f, x, y);
  k->scale(N, 2, y);
  k->multiply(N, x, by, y, true);
  double squares = 0;
  for (size_t i = 0; i < N; i++) {
    assert_close((double)y[i], 2 * ((double)before[i] + 1.5 * (double)x[i]) + (double)x[i] * (double)by[i], 1e-6, 2e-6);
    squares += (double)x[i] * (double)x[i];
  }
  k->multiply(N, x, by, y, false);
  for (size_t i = 0; i < N; i++)
    assert_true(y[i] == x[i] * by[i]);
  assert_close(k->sum_squares(N, x), squares, 1e-6, 0);
  free(x), free(by), free(y), free(before);
}

/* --- activations --- */

/* Arguments from -80 to 80, dense around 0, in blocks of 16. */
enum { POINTS = 16 * 4000 };
static float point(size_t i) {
  double t = (double)i / (POINTS - 1) * 2 - 1;
  return (float)(80 * t * t * t);
}

static void test_activation(void **state) {
  const struct cpu_kernels *k = kernels_of(state);
  const enum tutti_activation a = (enum tutti_activation)((const struct level_test *)*state)->which;
  /* gelu's tail and hard sigmoid's foot are small differences; the others are relative throughout. */
  const double absolute = a == TUTTI_ACTIVATION_GELU ? 1e-6 : a == TUTTI_ACTIVATION_HARD_SIGMOID ? 1e-7 : 1e-37;
  float *y = draw(POINTS, 1), *slope = draw(POINTS, 2), *gradient = draw(POINTS, 3);
  assert_true(k->activate[a] && k->derive[a]);
  for (size_t i = 0; i < POINTS; i++) {
    y[i] = point(i);
    gradient[i] = 2;
  }
  k->activate[a](POINTS, y, slope);
  k->derive[a](POINTS, y, slope, gradient);
  for (size_t i = 0; i < POINTS; i++) {
    double x = (double)point(i), h = 1e-5 * fmax(1e-3, fabs(x));
    assert_close_told((double)y[i], reference_activation(a, x), 1e-6, absolute, "value at %g", x);
    bool kink = (fabs(x) < 2 * h && a != TUTTI_ACTIVATION_TANH) || fabs(fabs(x) - 2.5) < 2 * h;
    double difference = (reference_activation(a, x + h) - reference_activation(a, x - h)) / (2 * h);
    if (!kink)
      assert_close_told((double)gradient[i], 2 * difference, 1e-5, 2e-6, "twice the derivative at %g", x);
  }
  for (size_t i = 0; i < 16; i++)
    y[i] = NAN;
  k->activate[a](16, y, slope);
  assert_true(isnan(y[0]) && isnan(y[15]));
  free(y), free(slope), free(gradient);
}

static void test_exponential(void **state) {
  const struct cpu_kernels *k = kernels_of(state);
  float *x = draw(POINTS, 1), *y = draw(POINTS, 2);
  for (size_t i = 0; i < POINTS; i++)
    x[i] = (float)(-87.0 + 175.7 * (double)i / POINTS);
  k->exponential(POINTS, x, y);
  for (size_t i = 0; i < POINTS; i++)
    assert_close((double)y[i], exp((double)x[i]), 3e-7, 0);
  for (size_t i = 0; i < 16; i++)
    x[i] = i % 2 ? 1000.0f : -1000.0f;
  k->exponential(16, x, y);
  assert_true(isinf(y[1]) && y[0] < 1.3e-38f);
  free(x), free(y);
}

/* --- heads --- */

static void test_gaussian(void **state) {
  const struct cpu_kernels *k = kernels_of(state);
  enum { N = 1003 };
  float *mean = draw(N, 1), *raw = draw(N, 2), *target = draw(N, 3), *to_mean = draw(N, 4), *to_raw = draw(N, 5),
        *out = draw(N, 6);
  for (size_t i = 0; i < N; i++)
    raw[i] *= 12;
  for (int variance = 0; variance < 2; variance++) {
    struct cpu_gaussian head = {.scale = 0.5f, .floor = 1e-3f, .variance = variance, .weight = 0.25f};
    double got = k->gaussian(&head, N, mean, raw, target, to_mean, to_raw), want = 0;
    k->variance(&head, N, raw, out);
    for (size_t i = 0; i < N; i++) {
      double t = 0.5 * (double)raw[i], spread = (double)1e-3f + reference_activation(TUTTI_ACTIVATION_SOFTPLUS, t);
      double v = variance ? spread : spread * spread, d = (double)target[i] - (double)mean[i];
      want += 0.5 * log(v) + d * d / (2 * v) + 0.5 * log(2 * M_PI);
      double in_v = 0.5 / v - d * d / (2 * v * v), in_spread = variance ? in_v : 2 * spread * in_v;
      assert_close((double)out[i], v, 1e-6, 0);
      assert_close((double)to_mean[i], -0.25 * d / v, 2e-6, 0);
      assert_close((double)to_raw[i], 0.25 * in_spread * 0.5 / (1 + exp(-t)), 1e-5, 2e-5 * fabs(0.25 * in_spread));
    }
    assert_close(got, want, 1e-6, 0);
    assert_true(k->gaussian(&head, N, mean, raw, target, NULL, NULL) == got);
  }
  free(mean), free(raw), free(target), free(to_mean), free(to_raw), free(out);
}

static void test_softmax(void **state) {
  const struct cpu_kernels *k = kernels_of(state);
  const size_t classes[] = {1, 2, 10, 16, 33};
  for (size_t c = 0; c < 5; c++) {
    size_t n = classes[c], ld = padded(n), rows = 5;
    float *x = draw(rows * ld, 1), *logits = draw(rows * ld, 1), log_sum[5];
    for (size_t i = 0; i < rows * ld; i++)
      x[i] = logits[i] *= 20;
    k->softmax(rows, n, x, ld, log_sum);
    for (size_t r = 0; r < rows; r++) {
      double sum = 0;
      for (size_t j = 0; j < n; j++)
        sum += exp((double)logits[r * ld + j]);
      assert_close((double)log_sum[r], log(sum), 1e-6, 1e-6);
      for (size_t j = 0; j < ld; j++)
        assert_close((double)x[r * ld + j], j < n ? exp((double)logits[r * ld + j]) / sum : 0, 5e-6, 1e-30);
    }
    free(x), free(logits);
  }
}

/* --- masks --- */

static void test_masks(void **state) {
  const struct cpu_kernels *k = kernels_of(state);
  enum { N = 64000 };
  float *y = draw(N, 1), *other = draw(N, 2);
  const struct cpu_kernels *first = backend_cpu_kernels(TUTTI_CPU_BASELINE);
  struct cpu_mask mask = {.key = 12345, .step = 7, .layer = 3, .threshold = (uint32_t)(0.3 * 4294967296.0), .keep = 2};
  first->mask(&mask, N, y);
  size_t dropped = 0;
  for (size_t i = 0; i < N; i++) {
    assert_true(y[i] == 0 || y[i] == 2);
    dropped += y[i] == 0;
  }
  assert_true(fabs((double)dropped / N - 0.3) < 5 * sqrt(0.21 / N));
  /* The draws are those of the core's own Philox, told to stand at (block, layer, step). */
  for (uint32_t block = 0; block < 16; block++) {
    struct tutti_random random = {.key = {12345, 0}, .counter = {block + 16, mask.layer, 7, 0}, .used = 4};
    for (size_t word = 0; word < 4; word++)
      assert_true(y[64 + 16 * word + block] == (tutti_random_u32(&random) < mask.threshold ? 0 : 2));
  }
  k->mask(&mask, N, other);
  assert_memory_equal(y, other, N * sizeof *y);
  k->mask(&mask, 48, other + 16); /* a prefix is the same */
  assert_memory_equal(y, other + 16, 48 * sizeof *y);
  for (int field = 0; field < 3; field++) { /* another step, layer or key: other numbers */
    struct cpu_mask changed = mask;
    changed.step += field == 0;
    changed.layer += field == 1;
    changed.key += field == 2;
    k->mask(&changed, N, other);
    size_t equal = 0;
    for (size_t i = 0; i < N; i++)
      equal += other[i] == y[i];
    assert_true(fabs((double)equal / N - 0.58) < 0.02);
  }
  free(y), free(other);
}

int main(void) {
  struct level_tests all = {.count = 0};
  add_on_levels(&all, "test_gemm", 0, test_gemm);
  add_on_levels(&all, "test_runs", 0, test_runs);
  add_on_levels(&all, "test_few_rows", 0, test_few_rows);
  add_on_levels(&all, "test_few_columns", 0, test_few_columns);
  add_on_levels(&all, "test_large_products", 0, test_large_products_give_the_same_bits);
  add_on_levels(&all, "test_narrow_layers", 0, test_narrow_layers);
  add_on_levels(&all, "test_gemm_rows_are_independent", 0, test_gemm_rows_are_independent);
  add_on_levels(&all, "test_moves", 0, test_moves);
  add_on_levels(&all, "test_elementwise", 0, test_elementwise);
  for (int a = TUTTI_ACTIVATION_LINEAR; a < TUTTI_ACTIVATION_CRELU; a++)
    add_on_levels(&all, told("test_activation: %s", tutti_activation_name((enum tutti_activation)a)), a,
                  test_activation);
  add_on_levels(&all, "test_exponential", 0, test_exponential);
  add_on_levels(&all, "test_gaussian", 0, test_gaussian);
  add_on_levels(&all, "test_softmax", 0, test_softmax);
  add_on_levels(&all, "test_masks", 0, test_masks);
  return run_on_levels(&all, "tests", NULL, NULL);
}
