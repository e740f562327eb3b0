/* gemm_few_impl.h - products of few rows with a B that lies transposed: the gradient of a layer's inputs in a
   mini-batch of a dozen rows.

   C[m][n] (+)= sum_k A[m][k] B[n][k], B being the weights as they lie, [inputs][units]. A lane of a vector is a row of
   A, and B is read one number at a time. So A and C are transposed in place of the weights, and they are smaller. Of
   vectors of 16, lanes 2 r and 2 r + 1 are row r at an even and at an odd k. A row of C has the same bits whatever rows
   are beside it. */
#ifndef BACKEND_CPU_GEMM_FEW_IMPL_H
#define BACKEND_CPU_GEMM_FEW_IMPL_H

#include "gemm_half_impl.h"
#include "gemm_store_impl.h"
#include "transpose_impl.h"

/* Rows of A in a vector, and values of k; rows of B at once, and pointers to them. */
enum {
  GEMM_FEW_ROWS = CPU_LANES == 16 ? 8 : CPU_LANES,
  GEMM_FEW_STEP = CPU_LANES / GEMM_FEW_ROWS,
  GEMM_FEW_POINTERS = (CPU_LANES + 2) / 3
};

#if CPU_LANES == 16

/* lines[k / 2][16] = numbers k and k + 1 of each row, or of the last one, for lanes without a row. Eight columns of
   pairs become rows of them at a time. */
CPU_INLINE void gemm_few_lines(size_t rows, size_t k, const float *a, size_t lda, float *lines) {
  for (size_t at = 0; at < k; at += 16) {
    __m512d row[8], two[2][4]; /* two: of even columns and of odd ones */
    CPU_UNROLL for (size_t r = 0; r < 8; r++) row[r] =
        _mm512_castps_pd(v_load(a + (r < rows ? r : rows - 1) * lda + at));
    CPU_UNROLL for (size_t r = 0; r < 4; r++) {
      two[0][r] = _mm512_unpacklo_pd(row[2 * r], row[2 * r + 1]);
      two[1][r] = _mm512_unpackhi_pd(row[2 * r], row[2 * r + 1]);
    }
    CPU_UNROLL for (size_t odd = 0; odd < 2; odd++) {
      __m512d low[2], high[2];
      CPU_UNROLL for (size_t r = 0; r < 2; r++) {
        low[r] = _mm512_shuffle_f64x2(two[odd][2 * r], two[odd][2 * r + 1], 0x44);
        high[r] = _mm512_shuffle_f64x2(two[odd][2 * r], two[odd][2 * r + 1], 0xee);
      }
      float *to = lines + at * 8 + odd * 16;
      v_store(to, _mm512_castpd_ps(_mm512_shuffle_f64x2(low[0], low[1], 0x88)));
      v_store(to + 32, _mm512_castpd_ps(_mm512_shuffle_f64x2(low[0], low[1], 0xdd)));
      v_store(to + 64, _mm512_castpd_ps(_mm512_shuffle_f64x2(high[0], high[1], 0x88)));
      v_store(to + 96, _mm512_castpd_ps(_mm512_shuffle_f64x2(high[0], high[1], 0xdd)));
    }
  }
}

CPU_INLINE vec gemm_few_of_b(const float *b) { return v_set_pair(b); }

/* to[8][2 * CPU_LANES] = the sums, [16][8 pairs], of pairs and transposed; the upper half of each row is left alone. */
CPU_INLINE void gemm_few_finish(const vec sum[16], float *to) {
  float across[16 * 8] __attribute__((aligned(64)));
  const float *line[16];
  CPU_UNROLL for (size_t i = 0; i < 16; i++) line[i] = across + i * 8;
  CPU_UNROLL for (size_t i = 0; i < 16; i += 2) v_store(across + i * 8, v_add_pairs(sum[i], sum[i + 1]));
  __asm__("" : : "r"(across) : "memory"); /* loads of quarters: the compiler would rather shuffle what it has stored */
  transpose_lines(line, 0, to, 2 * CPU_LANES);
  transpose_lines(line, 4, to + 4 * 2 * CPU_LANES, 2 * CPU_LANES);
}

#else

CPU_INLINE void gemm_few_lines(size_t rows, size_t k, const float *a, size_t lda, float *lines) {
  const float *line[CPU_LANES];
  CPU_UNROLL for (size_t r = 0; r < CPU_LANES; r++) line[r] = a + (r < rows ? r : rows - 1) * lda;
  for (size_t at = 0; at < k; at += CPU_LANES)
    transpose_rows(line, at, lines + at * CPU_LANES, CPU_LANES);
}

CPU_INLINE vec gemm_few_of_b(const float *b) { return v_set(*b); }

CPU_INLINE void gemm_few_finish(const vec sum[CPU_LANES], float *to) {
  float across[CPU_LANES * CPU_LANES];
  const float *line[CPU_LANES];
  CPU_UNROLL for (size_t i = 0; i < CPU_LANES; i++) {
    line[i] = across + i * CPU_LANES;
    v_store(across + i * CPU_LANES, sum[i]);
  }
  transpose_rows(line, 0, to, 2 * CPU_LANES);
}

#endif

/* Sums of CPU_LANES rows of B. One pointer serves three of them (at 0, ldb, 2 ldb), so that the addresses of sixteen
   fit in registers; otherwise the compiler makes sixteen and keeps some of them in memory. */
CPU_INLINE void gemm_few_tile(size_t k, const float *lines, const float *b, size_t ldb, float *to) {
  vec sum[CPU_LANES];
  const float *at[GEMM_FEW_POINTERS];
  CPU_UNROLL for (size_t i = 0; i < CPU_LANES; i++) sum[i] = v_zero();
  CPU_UNROLL for (size_t p = 0; p < GEMM_FEW_POINTERS; p++) at[p] = b + 3 * p * ldb;
  for (size_t q = 0; q < k; q += GEMM_FEW_STEP) {
    vec a = v_load(lines + q * GEMM_FEW_ROWS);
    CPU_UNROLL for (size_t i = 0; i < CPU_LANES; i++) sum[i] = v_fma(gemm_few_of_b(at[i / 3] + i % 3 * ldb), a, sum[i]);
    CPU_UNROLL for (size_t p = 0; p < GEMM_FEW_POINTERS; p++) {
      at[p] += GEMM_FEW_STEP;
      __asm__("" : "+r"(at[p]));
    }
  }
  gemm_few_finish(sum, to);
}

/* At most GEMM_FEW_ROWS rows of C, and CPU_GEMM_DEPTH terms. The last tile ends with the last row of B and repeats sums
   of the one before. */
static void gemm_few_rows(const struct cpu_gemm *g, size_t inputs) {
  float lines[CPU_GEMM_DEPTH * GEMM_FEW_ROWS] __attribute__((aligned(64)));
  float sums[GEMM_FEW_ROWS * 2 * CPU_LANES] __attribute__((aligned(64))) = {0};
  gemm_few_lines(g->m, g->k, g->a, g->a_row, lines);
  for (size_t column = 0; column < g->n; column += CPU_LANES) {
    size_t first = column + CPU_LANES <= inputs ? column : inputs - CPU_LANES;
    if (column < inputs)
      gemm_few_tile(g->k, lines, g->b + first * g->ldb, g->ldb, sums);
    for (size_t r = 0; r < g->m; r++) {
      vec sum[12][8];
      sum[0][0] = column < inputs ? v_load(sums + r * 2 * CPU_LANES + (column - first)) : v_zero();
      if (column + CPU_LANES <= g->n)
        gemm_store(1, 1, CPU_LANES, g, r, column, sum);
      else
        gemm_store(1, 1, 8, g, r, column, sum);
    }
  }
}

static void gemm_few(const struct cpu_gemm *g, size_t inputs) {
  for (size_t done = 0; done < g->k; done += CPU_GEMM_DEPTH) {
    const bool last = g->k - done <= CPU_GEMM_DEPTH;
    struct cpu_gemm block = *g;
    block.k = last ? g->k - done : CPU_GEMM_DEPTH;
    block.a = g->a + done;
    block.b = g->b + done;
    block.accumulate = g->accumulate || done > 0;
    block.mask = last ? g->mask : NULL;
    for (size_t row = 0; row < g->m; row += GEMM_FEW_ROWS) {
      block.m = g->m - row < GEMM_FEW_ROWS ? g->m - row : GEMM_FEW_ROWS;
      gemm_few_rows(&block, inputs);
      block.a += GEMM_FEW_ROWS * g->a_row;
      block.c += GEMM_FEW_ROWS * g->ldc;
      block.mask = block.mask ? block.mask + GEMM_FEW_ROWS * g->ldm : NULL;
    }
  }
}

#endif
