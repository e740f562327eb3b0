/* gemm_narrow_impl.h - products with at most 4 columns, such as the forward pass of an output layer.

   In vectors of columns, 12 of 16 lanes and more would be padding. So the vectors lie along k: a number of C is the sum
   of the lanes of a vector, and as many of these as a vector has lanes are summed at once. A row of C has the same bits
   whatever rows are beside it.

   Whole vectors of A are read, behind k up to the next multiple of 16 at most. What lies there is multiplied by 0, so
   it must be finite (kernels_impl.h). */
#ifndef BACKEND_CPU_GEMM_NARROW_IMPL_H
#define BACKEND_CPU_GEMM_NARROW_IMPL_H

#include "gemm_store_impl.h"

/* Shorter sums are not worth what adding lanes costs. */
enum { GEMM_NARROW_UNITS = 4, GEMM_NARROW_LEAST = 32 };

/* Lane i: the sum of the lanes of x[i]. */
#if CPU_LANES == 16
CPU_INLINE vec gemm_sums(const vec x[16]) {
  vec quarters[4], low, high;
  CPU_UNROLL for (size_t i = 0; i < 4; i++) {
    __m512d two[2]; /* in each quarter: two lanes of x[4 i] and x[4 i + 1]; of x[4 i + 2] and x[4 i + 3] */
    CPU_UNROLL for (size_t j = 0; j < 2; j++) {
      vec a = x[4 * i + 2 * j], b = x[4 * i + 2 * j + 1];
      two[j] = _mm512_castps_pd(_mm512_unpacklo_ps(a, b) + _mm512_unpackhi_ps(a, b));
    }
    quarters[i] =
        _mm512_castpd_ps(_mm512_unpacklo_pd(two[0], two[1])) + _mm512_castpd_ps(_mm512_unpackhi_pd(two[0], two[1]));
  }
  low = _mm512_shuffle_f32x4(quarters[0], quarters[1], 0x44) + _mm512_shuffle_f32x4(quarters[0], quarters[1], 0xee);
  high = _mm512_shuffle_f32x4(quarters[2], quarters[3], 0x44) + _mm512_shuffle_f32x4(quarters[2], quarters[3], 0xee);
  return _mm512_shuffle_f32x4(low, high, 0x88) + _mm512_shuffle_f32x4(low, high, 0xdd);
}
#elif CPU_LANES == 8
CPU_INLINE vec gemm_sums(const vec x[8]) {
  vec low = _mm256_hadd_ps(_mm256_hadd_ps(x[0], x[1]), _mm256_hadd_ps(x[2], x[3]));
  vec high = _mm256_hadd_ps(_mm256_hadd_ps(x[4], x[5]), _mm256_hadd_ps(x[6], x[7]));
  return _mm256_permute2f128_ps(low, high, 0x20) + _mm256_permute2f128_ps(low, high, 0x31);
}
#else
CPU_INLINE vec gemm_sums(const vec x[4]) { return (vec){v_sum(x[0]), v_sum(x[1]), v_sum(x[2]), v_sum(x[3])}; }
#endif

/* Lane r * units + u: sum_k a[r][k] b[u][k], of CPU_LANES / units rows; those beyond `rows` repeat the last one. `k` is
   a multiple of CPU_LANES. */
CPU_INLINE vec gemm_narrow_tile(const size_t units, const bool whole, size_t rows, size_t k, const float *a, size_t lda,
                                const float *b) {
  vec sum[CPU_LANES];
  const float *line[CPU_LANES];
  CPU_UNROLL for (size_t r = 0; r < CPU_LANES / units; r++) line[r] = a + (whole || r < rows ? r : rows - 1) * lda;
  CPU_UNROLL for (size_t i = 0; i < CPU_LANES; i++) sum[i] = v_zero();
  for (size_t q = 0; q < k; q += CPU_LANES) {
    vec of[GEMM_NARROW_UNITS];
    CPU_UNROLL for (size_t u = 0; u < units; u++) of[u] = v_load(b + u * CPU_GEMM_DEPTH + q);
    CPU_UNROLL for (size_t r = 0; r < CPU_LANES / units; r++) {
      vec x = v_load(line[r] + q);
      CPU_UNROLL for (size_t u = 0; u < units; u++) sum[r * units + u] = v_fma(x, of[u], sum[r * units + u]);
    }
  }
  return gemm_sums(sum);
}

/* The sums of row r, and zeros. */
CPU_INLINE vec gemm_narrow_row(const size_t units, size_t r, vec sums) {
#if CPU_LANES == 16
  const __m512i lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  return _mm512_maskz_permutexvar_ps((__mmask16)((1u << units) - 1),
                                     _mm512_add_epi32(lanes, _mm512_set1_epi32((int)(r * units))), sums);
#else
  float all[CPU_LANES];
  v_store(all, sums);
  return v_load_first(all + r * units, units);
#endif
}

/* A product whose columns from `units` on are 0. */
CPU_INLINE void gemm_narrow_units(const size_t units, const struct cpu_gemm *g) {
  float across[GEMM_NARROW_UNITS * CPU_GEMM_DEPTH] __attribute__((aligned(64)));
  const size_t k = (g->k + CPU_LANES - 1) / CPU_LANES * CPU_LANES, rows = CPU_LANES / units;
  for (size_t q = 0; q < g->k; q++)
    CPU_UNROLL for (size_t u = 0; u < units; u++) across[u * CPU_GEMM_DEPTH + q] = g->b[q * g->ldb + u];
  for (size_t q = g->k; q < k; q++)
    CPU_UNROLL for (size_t u = 0; u < units; u++) across[u * CPU_GEMM_DEPTH + q] = 0;
  /* Most outputs: one vector a row, and nothing but a bias. */
  const bool plain = g->n == CPU_LANES && g->bias && !g->mask && !g->accumulate && !g->relu;
  const vec bias = plain ? v_load(g->bias) : v_zero();
  for (size_t row = 0; row < g->m; row += rows) {
    size_t here = g->m - row < rows ? g->m - row : rows;
    const float *a = g->a + row * g->a_row;
    vec sums = here == rows ? gemm_narrow_tile(units, true, here, k, a, g->a_row, across)
                            : gemm_narrow_tile(units, false, here, k, a, g->a_row, across);
    if (plain) {
      float *c = g->c + row * g->ldc;
      for (size_t r = 0; r < here; r++, c += g->ldc)
        v_store(c, gemm_narrow_row(units, r, sums) + bias);
      continue;
    }
    for (size_t r = 0; r < here; r++)
      for (size_t column = 0; column < g->n; column += CPU_LANES) {
        vec sum[12][8];
        sum[0][0] = column == 0 ? gemm_narrow_row(units, r, sums) : v_zero();
        if (g->bias)
          sum[0][0] = sum[0][0] + v_load(g->bias + column);
        gemm_store(1, 1, CPU_LANES, g, row + r, column, sum);
      }
  }
}

static bool gemm_is_narrow(const struct cpu_gemm *g) {
  return g->units > 0 && g->units <= GEMM_NARROW_UNITS && g->k >= GEMM_NARROW_LEAST && g->a_column == 1 &&
         g->n % CPU_LANES == 0;
}

static void gemm_narrow(const struct cpu_gemm *g) {
  switch (g->units) {
  case 1:
    gemm_narrow_units(1, g);
    break;
  case 2:
    gemm_narrow_units(2, g);
    break;
  default:
    gemm_narrow_units(4, g);
  }
}

#endif
