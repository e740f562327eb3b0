/* gemm_impl.h - matrix products for small networks, with operands read where they lie.

   C[m][n] (+)= sum_k A(m, k) B[k][n]. A is read one number at a time, so any strides will do; B is read in vectors
   along its rows. Forward, Y = X W. For the weights' gradient dW = X' dY, A walks X by columns. For the inputs'
   gradient dX = dY W', B is a transposed copy of W. All rows begin at a multiple of 64 bytes and are padded to 16
   floats, so no tile has a ragged edge along n. Rows of images are padded to 8 and end in half a vector of 16
   (gemm_half_impl.h).

   The operands of small networks lie in the first two levels of cache. Packing them, as a BLAS does, would cost more
   than it saves; gemm_packed handles the cases where it does pay. */
#ifndef BACKEND_CPU_GEMM_IMPL_H
#define BACKEND_CPU_GEMM_IMPL_H

#include "gemm_half_impl.h"
#include "gemm_narrow_impl.h"
#include "gemm_store_impl.h"
#include "kernels_impl.h"
#include "lanes_impl.h"

/* As many accumulators as fit the registers, with room for a row of B and a broadcast of A. */
#if CPU_LANES == 16
enum { GEMM_ROWS_4 = 6, GEMM_ROWS_2 = 12, GEMM_ROWS_1 = 12 };
#else
enum { GEMM_ROWS_4 = 3, GEMM_ROWS_2 = 6, GEMM_ROWS_1 = 12 };
#endif

/* One tile of rows x (vecs * CPU_LANES). `column_step` and `row_step` are the strides of A; one of them is 1. */
CPU_INLINE void gemm_tile(const int rows, const int vecs, const struct cpu_gemm *g, size_t row, size_t column) {
  const bool by_columns = g->a_row == 1;
  const size_t ldb = g->ldb, step = by_columns ? g->a_column : g->a_row;
  const float *b = g->b + column;
  vec sum[12][8];
  CPU_UNROLL for (int v = 0; v < vecs; v++) {
    vec first = g->bias ? v_load(g->bias + column + (size_t)v * CPU_LANES) : v_zero();
    CPU_UNROLL for (int r = 0; r < rows; r++) sum[r][v] = first;
  }
  if (by_columns) {
    const float *a = g->a + row;
    for (size_t left = g->k, run; left > 0; left -= run, a += g->jump - g->run * step) {
      run = gemm_run(g, left);
      for (size_t k = 0; k < run; k++, a += step, b += ldb) {
        vec line[8];
        CPU_UNROLL for (int v = 0; v < vecs; v++) line[v] = v_load(b + v * CPU_LANES);
        CPU_UNROLL for (int r = 0; r < rows; r++) {
          vec one = v_set(a[r]);
          CPU_UNROLL for (int v = 0; v < vecs; v++) sum[r][v] = v_fma(one, line[v], sum[r][v]);
        }
      }
    }
  } else {
    /* One pointer serves three rows (at 0, step, 2 step), so the addresses of a dozen rows fit in four registers. */
    const float *a[4];
    CPU_UNROLL for (int p = 0; p < 4; p++) a[p] = g->a + (row + (size_t)(p * 3 < rows ? p * 3 : 0)) * step;
    for (size_t left = g->k, run; left > 0; left -= run) {
      run = gemm_run(g, left);
      for (size_t k = 0; k < run; k++, b += ldb) {
        vec line[8];
        CPU_UNROLL for (int v = 0; v < vecs; v++) line[v] = v_load(b + v * CPU_LANES);
        CPU_UNROLL for (int r = 0; r < rows; r++) {
          vec one = v_set(a[r / 3][(size_t)(r % 3) * step + k]);
          CPU_UNROLL for (int v = 0; v < vecs; v++) sum[r][v] = v_fma(one, line[v], sum[r][v]);
        }
      }
      CPU_UNROLL for (int p = 0; p < 4; p++) a[p] += g->jump;
    }
  }
  gemm_store(rows, vecs, CPU_LANES, g, row, column, sum);
}

/* Some tiles of equal height, one below the other. */
CPU_INLINE void gemm_tiles(const int rows, const int vecs, const struct cpu_gemm *g, size_t row, size_t column,
                           size_t tiles) {
  for (; tiles > 0; tiles--, row += (size_t)rows) {
    fetch_ahead(g->ahead);
    gemm_tile(rows, vecs, g, row, column);
  }
}

#define GEMM_CASE(rows, vecs)                                                                                          \
  case rows:                                                                                                           \
    gemm_tiles(rows, vecs, g, row, column, tiles);                                                                     \
    break;

static void gemm_rows_4(const struct cpu_gemm *g, size_t row, size_t column, size_t rows, size_t tiles) {
  switch (rows) {
    GEMM_CASE(1, 4)
    GEMM_CASE(2, 4)
    GEMM_CASE(3, 4)
#if CPU_LANES == 16
    GEMM_CASE(4, 4)
    GEMM_CASE(5, 4)
    GEMM_CASE(6, 4)
#endif
  }
}

#if CPU_LANES < 16
static void gemm_rows_3(const struct cpu_gemm *g, size_t row, size_t column, size_t rows, size_t tiles) {
  switch (rows) {
    GEMM_CASE(3, 3)
    GEMM_CASE(4, 3)
  }
}
#endif

static void gemm_rows_2(const struct cpu_gemm *g, size_t row, size_t column, size_t rows, size_t tiles) {
  switch (rows) {
    GEMM_CASE(1, 2)
    GEMM_CASE(2, 2)
    GEMM_CASE(3, 2)
    GEMM_CASE(4, 2)
    GEMM_CASE(5, 2)
    GEMM_CASE(6, 2)
#if CPU_LANES == 16
    GEMM_CASE(7, 2)
    GEMM_CASE(8, 2)
    GEMM_CASE(9, 2)
    GEMM_CASE(10, 2)
    GEMM_CASE(11, 2)
    GEMM_CASE(12, 2)
#endif
  }
}

static void gemm_rows_1(const struct cpu_gemm *g, size_t row, size_t column, size_t rows, size_t tiles) {
  switch (rows) {
    GEMM_CASE(1, 1)
    GEMM_CASE(2, 1)
    GEMM_CASE(3, 1)
    GEMM_CASE(4, 1)
    GEMM_CASE(5, 1)
    GEMM_CASE(6, 1)
    GEMM_CASE(7, 1)
    GEMM_CASE(8, 1)
    GEMM_CASE(9, 1)
    GEMM_CASE(10, 1)
    GEMM_CASE(11, 1)
    GEMM_CASE(12, 1)
  }
}

/* All rows of one panel of columns, in tiles of two heights that differ by one row. */
CPU_INLINE void gemm_panel(const struct cpu_gemm *g, size_t column, size_t most,
                           void (*rows_of)(const struct cpu_gemm *, size_t, size_t, size_t, size_t)) {
  const size_t tiles = (g->m + most - 1) / most, height = g->m / tiles, higher = g->m % tiles;
  if (higher > 0)
    rows_of(g, 0, column, height + 1, higher);
  rows_of(g, higher * (height + 1), column, height, tiles - higher);
}

/* The panels of a wide B are scattered over as many pages as they have rows, more than the first-level TLB holds. A
   compact copy pays if many rows of A will use it. */
static void gemm_packed(const struct cpu_gemm *g) {
  float pack[CPU_GEMM_DEPTH * 2 * CPU_LANES] __attribute__((aligned(64)));
  struct cpu_gemm panel = *g;
  panel.b = pack;
  panel.ldb = panel.n = 2 * CPU_LANES;
  for (size_t column = 0; column < g->n; column += 2 * CPU_LANES) {
    for (size_t k = 0; k < g->k; k++) {
      v_store(pack + k * 2 * CPU_LANES, v_load(g->b + k * g->ldb + column));
      v_store(pack + k * 2 * CPU_LANES + CPU_LANES, v_load(g->b + k * g->ldb + column + CPU_LANES));
    }
    panel.c = g->c + column;
    panel.bias = g->bias ? g->bias + column : NULL;
    panel.mask = g->mask ? g->mask + column : NULL;
    gemm_panel(&panel, 0, GEMM_ROWS_2, gemm_rows_2);
  }
}

/* Sums of few terms, as those behind an output layer are: B stays in registers while all rows of A pass. */
enum { GEMM_SHALLOW = 4 };

/* `masked`: nothing but a mask stands between a sum and its place, and the sum's last term is added under it. */
CPU_INLINE void gemm_shallow_panel(const int depth, const int vecs, const bool masked, const struct cpu_gemm *g,
                                   size_t column) {
  const size_t rows = g->m, row_step = g->a_row, column_step = g->a_column;
  const float *a = g->a;
  vec line[GEMM_SHALLOW][4], first[4], sum[12][8];
  CPU_UNROLL for (int v = 0; v < vecs; v++) {
    first[v] = g->bias ? v_load(g->bias + column + (size_t)v * CPU_LANES) : v_zero();
    CPU_UNROLL for (int k = 0; k < depth; k++) line[k][v] =
        v_load(g->b + (size_t)k * g->ldb + column + (size_t)v * CPU_LANES);
  }
  for (size_t row = 0; row < rows; row++, a += row_step) {
    CPU_UNROLL for (int v = 0; v < vecs; v++) sum[0][v] = first[v];
    CPU_UNROLL for (int k = 0; k < depth - masked; k++) {
      vec one = v_set(a[(size_t)k * column_step]);
      CPU_UNROLL for (int v = 0; v < vecs; v++) sum[0][v] = v_fma(one, line[k][v], sum[0][v]);
    }
    if (!masked) {
      gemm_store(1, vecs, CPU_LANES, g, row, column, sum);
      continue;
    }
    const vec one = v_set(a[(size_t)(depth - 1) * column_step]);
    CPU_UNROLL for (int v = 0; v < vecs; v++) {
      const size_t at = column + (size_t)v * CPU_LANES;
      vmask some = v_greater(v_load(g->mask + row * g->ldm + at), v_zero());
      v_store(g->c + row * g->ldc + at, v_masked_fma(some, one, line[depth - 1][v], sum[0][v]));
    }
  }
}

#define GEMM_SHALLOW_PANELS(depth, vecs)                                                                               \
  for (; column + (vecs)*CPU_LANES <= g->n; column += (vecs)*CPU_LANES) {                                              \
    if (masked)                                                                                                        \
      gemm_shallow_panel(depth, vecs, true, g, column);                                                                \
    else                                                                                                               \
      gemm_shallow_panel(depth, vecs, false, g, column);                                                               \
  }
#define GEMM_SHALLOW_CASE(depth, vecs)                                                                                 \
  case depth:                                                                                                          \
    GEMM_SHALLOW_PANELS(depth, vecs)                                                                                   \
    GEMM_SHALLOW_PANELS(depth, 1)                                                                                      \
    break;

/* All whole vectors of columns; returns their number. */
static size_t gemm_shallow(const struct cpu_gemm *g) {
  const bool masked = g->mask && !g->mask_sum && !g->accumulate && !g->relu;
  size_t column = 0;
  switch (g->k) {
    GEMM_SHALLOW_CASE(1, 4)
    GEMM_SHALLOW_CASE(2, 4)
    GEMM_SHALLOW_CASE(3, 2)
    GEMM_SHALLOW_CASE(4, 2)
  }
  return column;
}

/* `pairs`: B as gemm_half_impl.h wants it, for the columns after the last whole vector. */
static void gemm_block(const struct cpu_gemm *g, const float *pairs) {
  if (g->m == 0)
    return;
  if (gemm_is_narrow(g)) {
    gemm_narrow(g);
    return;
  }
  if (g->m >= 64 && g->ldb >= 500 && g->n % (2 * CPU_LANES) == 0) {
    gemm_packed(g);
    return;
  }
  size_t column = g->k <= GEMM_SHALLOW && g->run == 0 ? gemm_shallow(g) : 0;
  const bool tall = g->m > 6; /* short products get wide tiles, so that enough sums are in flight */
#if CPU_LANES < 16
  if (g->m == 4 || g->m == 7 || g->m == 8) /* tiles of 4 and 3 rows: twelve sums, where tiles of 2 vectors have eight */
    for (; column + 3 * CPU_LANES <= g->n; column += 3 * CPU_LANES)
      gemm_panel(g, column, 4, gemm_rows_3);
#endif
  for (; !tall && column + 4 * CPU_LANES <= g->n; column += 4 * CPU_LANES)
    gemm_panel(g, column, GEMM_ROWS_4, gemm_rows_4);
  for (; column + 2 * CPU_LANES <= g->n; column += 2 * CPU_LANES)
    gemm_panel(g, column, GEMM_ROWS_2, gemm_rows_2);
  for (; column + CPU_LANES <= g->n; column += CPU_LANES)
    gemm_panel(g, column, GEMM_ROWS_1, gemm_rows_1);
  if (column < g->n)
    gemm_half(g, column, pairs);
}

/* Terms of a block of sums. Where A is read by columns, a tile touches a line of A or two for each term, and these and
   the two lines of CPU_GEMM_DEPTH rows of B would fill the first-level cache. */
CPU_INLINE size_t gemm_depth(const struct cpu_gemm *g) {
  enum { LINE = 16 };
  return g->a_row == 1 && g->m > LINE && g->n >= 2 * LINE ? CPU_GEMM_DEPTH / 2 : CPU_GEMM_DEPTH;
}

/* Terms of the block that begins `done` terms on: whole runs of A, or a part of one. */
static size_t gemm_terms(const struct cpu_gemm *g, size_t done) {
  const size_t left = g->k - done, most = gemm_depth(g);
  size_t terms = most;
  if (g->run > most)
    terms = g->run - done % g->run < most ? g->run - done % g->run : most;
  else if (g->run > 0)
    terms = most / g->run * g->run;
  return terms < left ? terms : left;
}

/* Where A's term lies. */
static const float *gemm_at(const struct cpu_gemm *g, size_t term) {
  return g->run > 0 ? g->a + term / g->run * g->jump + term % g->run * g->a_column : g->a + term * g->a_column;
}

/* Long sums go in blocks, so that a panel of B stays in the first-level cache while all rows of A use it. */
static void gemm(const struct cpu_gemm *g) {
  float pairs[CPU_GEMM_DEPTH * 8] __attribute__((aligned(64)));
  size_t done = 0;
  do {
    struct cpu_gemm block = *g;
    const size_t terms = gemm_terms(g, done);
    const bool last = terms == g->k - done;
    block.k = terms;
    block.a = gemm_at(g, done);
    block.b = g->b + done * g->ldb;
    block.bias = done == 0 ? g->bias : NULL;
    block.accumulate = g->accumulate || done > 0;
    block.relu = g->relu && last;
    block.mask = last || g->mask_sum ? g->mask : NULL;
    gemm_pair(&block, pairs);
    for (size_t i = 0; i <= g->more; i++) {
      gemm_block(&block, pairs);
      block.a += g->a_next;
      block.c += g->c_next;
      block.mask = block.mask ? block.mask + g->mask_next : NULL;
    }
    done += terms;
  } while (done < g->k);
}

#endif
