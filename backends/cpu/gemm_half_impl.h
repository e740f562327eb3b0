/* gemm_half_impl.h - the last 8 columns of a product, in vectors of 16. A vector holds 8 sums twice: over even and over
   odd k, or for two rows of C that lie side by side in A. A pair of neighbours of A goes to every second lane at
   once. */
#ifndef BACKEND_CPU_GEMM_HALF_IMPL_H
#define BACKEND_CPU_GEMM_HALF_IMPL_H

#include "gemm_store_impl.h"
#include "kernels_impl.h"
#include "lanes_impl.h"

#if CPU_LANES == 16

enum { GEMM_PAIRS = 12 }; /* of rows, in one tile of a product by columns */

/* p[0], p[1], p[0], p[1], ... */
CPU_INLINE vec v_set_pair(const float *p) {
  double both;
  memcpy(&both, p, sizeof both);
  return _mm512_castpd_ps(_mm512_set1_pd(both));
}

/* Lanes 0, 2, 4, ..., then 1, 3, 5, ... */
CPU_INLINE vec v_split(vec x) {
  return _mm512_permutexvar_ps(_mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15), x);
}
CPU_INLINE vec v_upper(vec x) { return _mm512_zextps256_ps512(_mm512_extractf32x8_ps(x, 1)); }

/* Sums of neighbouring lanes: those of a in the lower half, those of b in the upper one. */
CPU_INLINE vec v_add_pairs(vec a, vec b) {
  __m512d mixed = _mm512_castps_pd(_mm512_shuffle_ps(a, b, 0x88) + _mm512_shuffle_ps(a, b, 0xdd));
  return _mm512_castpd_ps(_mm512_permutexvar_pd(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), mixed));
}

/* Rows 2 j and 2 j + 1 of the last 8 columns of B, interleaved lane by lane; an odd last row is interleaved with
   zeros. */
static void gemm_pair(const struct cpu_gemm *g, float *pairs) {
  if (g->n % 16 == 0 || g->a_row == 1)
    return;
  const __m512i order = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  for (size_t k = 0; k < g->k; k += 2) {
    const float *b = g->b + k * g->ldb + g->n - 8;
    vec odd = k + 1 < g->k ? v_load_half(b + g->ldb) : v_zero();
    v_store(pairs + k * 8, _mm512_permutex2var_ps(v_load_half(b), order, odd));
  }
}

/* Two rows for each of `twos`; the last one may be alone. */
CPU_INLINE void gemm_half_tile(const int twos, const struct cpu_gemm *g, size_t row, size_t rows, size_t column,
                               const float *pairs) {
  const float *a[12];
  vec sum[12], out[12][8];
  CPU_UNROLL for (int r = 0; r < 2 * twos; r++) {
    a[r] = g->a + (row + ((size_t)r < rows ? (size_t)r : rows - 1)) * g->a_row;
    sum[r] = v_zero();
  }
  const float *line = pairs;
  for (size_t left = g->k, run; left > 0; left -= run) {
    run = gemm_run(g, left);
    const size_t even = run / 2 * 2;
    for (size_t k = 0; k < even; k += 2, line += 16) {
      vec b = v_load(line);
      CPU_UNROLL for (int r = 0; r < 2 * twos; r++) sum[r] = v_fma(v_set_pair(a[r] + k), b, sum[r]);
    }
    if (even < run) { /* the last one: a run that others follow is even */
      vec b = v_load(line);
      CPU_UNROLL for (int r = 0; r < 2 * twos; r++) sum[r] = v_fma(v_set(a[r][even]), b, sum[r]);
    }
    CPU_UNROLL for (int r = 0; r < 2 * twos; r++) a[r] += g->jump;
  }
  vec bias = g->bias ? v_load_half(g->bias + column) : v_zero();
  CPU_UNROLL for (int r = 0; r < 2 * twos; r += 2) {
    vec both = v_add_pairs(sum[r], sum[r + 1]);
    out[r][0] = both + bias;
    out[r + 1][0] = v_upper(both) + bias;
  }
  if (rows == 2 * (size_t)twos)
    gemm_store(2 * twos, 1, 8, g, row, column, out);
  else
    gemm_store(2 * twos - 1, 1, 8, g, row, column, out);
}

/* Rows of C from pairs of neighbours in A's rows, `ways` sums for each. */
CPU_INLINE void gemm_half_columns_tile(const int twos, const int ways, const struct cpu_gemm *g, size_t row,
                                       size_t rows, size_t column) {
  const __m512i twice = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
  const float *a = g->a + row, *b = g->b + column;
  vec sum[2][GEMM_PAIRS], out[12][8], bias = g->bias ? v_load_half(g->bias + column) : v_zero();
  CPU_UNROLL for (int j = 0; j < twos; j++) sum[0][j] = sum[1][j] = v_zero();
  for (size_t left = g->k, run; left > 0; left -= run, a += g->jump - g->run * g->a_column) {
    run = gemm_run(g, left);
    size_t k = 0;
    for (; k + (size_t)ways <= run; k += (size_t)ways) {
      CPU_UNROLL for (int w = 0; w < ways; w++, a += g->a_column, b += g->ldb) {
        vec line = _mm512_permutexvar_ps(twice, v_load_half(b));
        CPU_UNROLL for (int j = 0; j < twos; j++) sum[w][j] = v_fma(v_set_pair(a + 2 * j), line, sum[w][j]);
      }
    }
    if (k < run) {
      vec line = _mm512_permutexvar_ps(twice, v_load_half(b));
      CPU_UNROLL for (int j = 0; j < twos; j++) sum[0][j] = v_fma(v_set_pair(a + 2 * j), line, sum[0][j]);
      a += g->a_column, b += g->ldb;
    }
  }
  CPU_UNROLL for (int j = 0; j < twos; j++) {
    vec both = v_split(sum[0][j] + sum[1][j]);
    const size_t at = 2 * (size_t)j;
    out[0][0] = both + bias;
    out[1][0] = v_upper(both) + bias;
    if (at + 1 < rows)
      gemm_store(2, 1, 8, g, row + at, column, out);
    else
      gemm_store(1, 1, 8, g, row + at, column, out);
  }
}

#define GEMM_HALF_CASE(twos)                                                                                           \
  case twos:                                                                                                           \
    gemm_half_tile(twos, g, row, rows, column, pairs);                                                                 \
    break;
#define GEMM_HALF_COLUMNS_CASE(twos, ways)                                                                             \
  case twos:                                                                                                           \
    gemm_half_columns_tile(twos, ways, g, row, rows, column);                                                          \
    break;

static void gemm_half_rows(const struct cpu_gemm *g, size_t row, size_t rows, size_t column, const float *pairs) {
  switch ((rows + 1) / 2) {
    GEMM_HALF_CASE(1)
    GEMM_HALF_CASE(2)
    GEMM_HALF_CASE(3)
    GEMM_HALF_CASE(4)
    GEMM_HALF_CASE(5)
    GEMM_HALF_CASE(6)
  }
}

static void gemm_half_columns(const struct cpu_gemm *g, size_t row, size_t rows, size_t column) {
  switch ((rows + 1) / 2) {
    GEMM_HALF_COLUMNS_CASE(1, 2)
    GEMM_HALF_COLUMNS_CASE(2, 2)
    GEMM_HALF_COLUMNS_CASE(3, 2)
    GEMM_HALF_COLUMNS_CASE(4, 2)
    GEMM_HALF_COLUMNS_CASE(5, 2)
    GEMM_HALF_COLUMNS_CASE(6, 2)
    GEMM_HALF_COLUMNS_CASE(7, 1)
    GEMM_HALF_COLUMNS_CASE(8, 1)
    GEMM_HALF_COLUMNS_CASE(9, 1)
    GEMM_HALF_COLUMNS_CASE(10, 1)
    GEMM_HALF_COLUMNS_CASE(11, 1)
    GEMM_HALF_COLUMNS_CASE(12, 1)
  }
}

static void gemm_half(const struct cpu_gemm *g, size_t column, const float *pairs) {
  const size_t most = g->a_row == 1 ? 2 * GEMM_PAIRS : 12, tiles = (g->m + most - 1) / most;
  for (size_t t = 0, row = 0; t < tiles; t++) {
    size_t rows = (g->m - row + (tiles - t) - 1) / (tiles - t);
    rows += t + 1 < tiles ? rows % 2 : 0;
    fetch_ahead(g->ahead);
    if (g->a_row == 1)
      gemm_half_columns(g, row, rows, column);
    else
      gemm_half_rows(g, row, rows, column, pairs);
    row += rows;
  }
}

#else

static void gemm_pair(const struct cpu_gemm *g, float *pairs) { (void)g, (void)pairs; }
static void gemm_half(const struct cpu_gemm *g, size_t column, const float *pairs) {
  (void)g, (void)column, (void)pairs;
}

#endif

#endif
