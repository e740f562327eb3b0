/* bfloat_pack_impl.h - matrices rounded to bfloat16 and packed into tiles for bfloat_impl.h. What a pair holds is what
   the instructions that multiply tiles need: CPU_BFLOAT says which these are. */
#ifndef BACKEND_CPU_BFLOAT_PACK_IMPL_H
#define BACKEND_CPU_BFLOAT_PACK_IMPL_H

#define CPU_BFLOAT_VECTORS 0 /* those of any level */
#define CPU_BFLOAT_DOTS 1    /* AVX512-BF16's: dots.c */
#define CPU_BFLOAT_TILES 2   /* AMX-BF16's: tiles.c */
#ifndef CPU_BFLOAT
#define CPU_BFLOAT CPU_BFLOAT_VECTORS
#endif

#include <string.h>

#include "kernels_impl.h"
#include "transpose_impl.h"
#include "vector_impl.h"

CPU_INLINE size_t bfloat_least(size_t a, size_t b) { return a < b ? a : b; }
CPU_INLINE size_t bfloat_tiles_of(size_t count, size_t tile) { return (count + tile - 1) / tile; }

/* --- rounding, and the numbers of a pair --- */

#if CPU_BFLOAT == CPU_BFLOAT_DOTS
/* Of 32 values of k, those of pair p: its lower half and its upper one. Half of the pairs have even values, the others
   odd ones; the upper number is the one that is added first. */
CPU_INLINE size_t bfloat_lower(size_t p) { return 4 * (p % 8) + 2 + p / 8; }
CPU_INLINE size_t bfloat_upper(size_t p) { return 4 * (p % 8) + p / 8; }
#else
/* Of 32 values of k, those of pair p: its lower half, an even one, and its upper half, an odd one. */
CPU_INLINE size_t bfloat_lower(size_t p) { return 2 * p; }
CPU_INLINE size_t bfloat_upper(size_t p) { return 2 * p + 1; }
#endif

#if CPU_BFLOAT == CPU_BFLOAT_VECTORS

/* Bits whose upper half is the rounded number. NaN stays one, and a denormal number counts as 0. */
CPU_INLINE ivec bfloat_round(vec x) {
  const ivec bits = v_bits(x), size = i_and(bits, i_set(0x7fffffff)), last = i_and(i_shift_right(bits, 16), i_set(1));
  const vec up = v_from_bits(i_add(bits, i_add(i_set(0x7fff), last)));
  const vec nan = v_from_bits(i_add(i_and(bits, i_set(~0x400000)), i_set(0x400000)));
  const vec number = v_select(i_less(size, i_set(0x800000)), v_zero(), up);
  return v_bits(v_select(i_less(i_set(0x7f800000), size), nan, number));
}

/* Pairs of the numbers of two rows. */
CPU_INLINE void bfloat_pair(const float *lower, const float *upper, float *pairs) {
  for (size_t c = 0; c < CPU_TILE; c += CPU_LANES) {
    const ivec low = i_and(i_shift_right(bfloat_round(v_load(lower + c)), 16), i_set(0xffff));
    const ivec high = i_and(bfloat_round(v_load(upper + c)), i_set(-0x10000));
    v_store(pairs + c, v_from_bits(i_add(low, high)));
  }
}

/* Pairs of 32 neighbours, or of the first k of them and zeros. */
CPU_INLINE void bfloat_neighbours(const float *x, size_t k, float *pairs) {
  float lower[CPU_TILE], upper[CPU_TILE], some[2 * CPU_TILE] = {0};
  if (k < 2 * CPU_TILE)
    x = memcpy(some, x, k * sizeof *some);
  for (size_t p = 0; p < CPU_TILE; p++) {
    lower[p] = x[bfloat_lower(p)];
    upper[p] = x[bfloat_upper(p)];
  }
  bfloat_pair(lower, upper, pairs);
}

#else

CPU_INLINE void bfloat_pair(const float *lower, const float *upper, float *pairs) {
  const __m512i both = (__m512i)_mm512_cvtne2ps_pbh(_mm512_loadu_ps(upper), _mm512_loadu_ps(lower));
  const __m512i order = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6, 21,
                                         5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  _mm512_storeu_si512(pairs, _mm512_permutexvar_epi16(order, both));
}

CPU_INLINE void bfloat_neighbours(const float *x, size_t k, float *pairs) {
  const uint32_t there = k < 2 * CPU_TILE ? (1u << k) - 1 : UINT32_MAX;
  const __m512 first = _mm512_maskz_loadu_ps((__mmask16)there, x);
  const __m512 second = _mm512_maskz_loadu_ps((__mmask16)(there >> CPU_TILE), x + CPU_TILE);
  __m512i both = (__m512i)_mm512_cvtne2ps_pbh(second, first);
#if CPU_BFLOAT == CPU_BFLOAT_DOTS
  const __m512i order = _mm512_set_epi16(29, 31, 25, 27, 21, 23, 17, 19, 13, 15, 9, 11, 5, 7, 1, 3, 28, 30, 24, 26, 20,
                                         22, 16, 18, 12, 14, 8, 10, 4, 6, 0, 2);
  both = _mm512_permutexvar_epi16(order, both);
#endif
  _mm512_storeu_si512(pairs, both);
}

#endif

/* --- packing --- */

/* A tile of pairs of rows, of which there are `k`; 16 columns. */
CPU_INLINE void bfloat_pack_down(size_t k, const float *x, size_t ld, float *tile) {
  static const float none[CPU_TILE];
  if (k >= 2 * CPU_TILE) {
    for (size_t p = 0; p < CPU_TILE; p++)
      bfloat_pair(x + bfloat_lower(p) * ld, x + bfloat_upper(p) * ld, tile + p * CPU_TILE);
    return;
  }
  for (size_t p = 0; p < CPU_TILE; p++)
    bfloat_pair(bfloat_lower(p) < k ? x + bfloat_lower(p) * ld : none,
                bfloat_upper(p) < k ? x + bfloat_upper(p) * ld : none, tile + p * CPU_TILE);
}

/* A tile of `rows` rows, of which each has `k` numbers side by side. Rows that are not there are left as they are: no
   sum of another row has a part of them. */
CPU_INLINE void bfloat_pack_along(size_t rows, size_t k, const float *x, size_t ld, float *tile) {
  if (rows >= CPU_TILE && k >= 2 * CPU_TILE) {
    for (size_t r = 0; r < CPU_TILE; r++)
      bfloat_neighbours(x + r * ld, 2 * CPU_TILE, tile + r * CPU_TILE);
    return;
  }
  for (size_t r = 0; r < bfloat_least(rows, CPU_TILE); r++)
    bfloat_neighbours(x + r * ld, k, tile + r * CPU_TILE);
}

/* The tile with rows and columns exchanged. */
CPU_INLINE void bfloat_turn(const float *in, float *out) {
#if CPU_LANES > 4
  for (size_t r = 0; r < CPU_TILE; r += CPU_LANES)
    for (size_t c = 0; c < CPU_TILE; c += CPU_LANES)
      transpose_block(in + r * CPU_TILE + c, CPU_TILE, out + c * CPU_TILE + r, CPU_TILE);
#else
  for (size_t r = 0; r < CPU_TILE; r++)
    for (size_t c = 0; c < CPU_TILE; c++)
      out[c * CPU_TILE + r] = in[r * CPU_TILE + c];
#endif
}

/* The tile of A at (row, k), of which `rows` rows and `depth` values of k are there; of B at (k, column). */
CPU_INLINE void bfloat_pack_a(const struct cpu_gemm *g, size_t row, size_t rows, size_t k, size_t depth, float *tile) {
  const float *from = g->a + row * g->a_row + k * g->a_column;
  float across[CPU_TILE_FLOATS];
  if (g->a_column == 1) {
    bfloat_pack_along(rows, depth, from, g->a_row, tile);
    return;
  }
  bfloat_pack_down(depth, from, g->a_column, across);
  bfloat_turn(across, tile);
}
CPU_INLINE void bfloat_pack_b(const struct cpu_gemm *g, size_t column, size_t columns, size_t k, size_t depth,
                              float *tile) {
  float across[CPU_TILE_FLOATS];
  if (!g->b_transposed) {
    bfloat_pack_down(depth, g->b + k * g->ldb + column, g->ldb, tile);
    return;
  }
  bfloat_pack_along(columns, depth, g->b + column * g->ldb + k, g->ldb, across);
  if (columns < CPU_TILE)
    memset(across + columns * CPU_TILE, 0, (CPU_TILE - columns) * CPU_TILE * sizeof *across);
  bfloat_turn(across, tile);
}

#endif
