/* bfloat_impl.h - products of numbers rounded to bfloat16: the upper half of a float, to the nearest, ties to even.
   Both matrices are packed into tiles of 16 rows of 16 pairs, a pair being two neighbours along k in the 32 bits of one
   float: A by its rows, B by pairs of rows. Tiles are multiplied as Intel's matrix units (AMX-BF16, TDPBF16PS) do it:
   over 32 values of k, sums of the even and of the odd terms, each from 0 on by fused multiply-adds; then both are
   added, and then they are added to what is there. Products of two such numbers are exact in a float, so that all
   instruction sets, and tiles.c, give the same bits. */
#ifndef BACKEND_CPU_BFLOAT_IMPL_H
#define BACKEND_CPU_BFLOAT_IMPL_H

#ifndef CPU_BFLOAT_UNITS
#define CPU_BFLOAT_UNITS 0 /* whether the processor's own instructions do it: tiles.c */
#endif

#include <string.h>

#include "kernels_impl.h"
#include "transpose_impl.h"
#include "vector_impl.h"

/* --- rounding and packing --- */

CPU_INLINE size_t bfloat_least(size_t a, size_t b) { return a < b ? a : b; }
CPU_INLINE size_t bfloat_tiles_of(size_t count, size_t tile) { return (count + tile - 1) / tile; }

#if !CPU_BFLOAT_UNITS

/* Bits whose upper half is the rounded number. NaN stays one, and a denormal number counts as 0. */
CPU_INLINE ivec bfloat_round(vec x) {
  const ivec bits = v_bits(x), size = i_and(bits, i_set(0x7fffffff)), last = i_and(i_shift_right(bits, 16), i_set(1));
  const vec up = v_from_bits(i_add(bits, i_add(i_set(0x7fff), last)));
  const vec nan = v_from_bits(i_add(i_and(bits, i_set(~0x400000)), i_set(0x400000)));
  const vec number = v_select(i_less(size, i_set(0x800000)), v_zero(), up);
  return v_bits(v_select(i_less(i_set(0x7f800000), size), nan, number));
}

/* Pairs of two rows. */
CPU_INLINE void bfloat_pair(const float *even, const float *odd, float *pairs) {
  for (size_t c = 0; c < CPU_TILE; c += CPU_LANES) {
    const ivec low = i_and(i_shift_right(bfloat_round(v_load(even + c)), 16), i_set(0xffff));
    const ivec high = i_and(bfloat_round(v_load(odd + c)), i_set(-0x10000));
    v_store(pairs + c, v_from_bits(i_add(low, high)));
  }
}

/* Pairs of 32 neighbours. */
CPU_INLINE void bfloat_neighbours(const float *x, float *pairs) {
  float even[CPU_TILE], odd[CPU_TILE];
  for (size_t p = 0; p < CPU_TILE; p++) {
    even[p] = x[2 * p];
    odd[p] = x[2 * p + 1];
  }
  bfloat_pair(even, odd, pairs);
}

#else

CPU_INLINE void bfloat_neighbours(const float *x, float *pairs) {
  _mm512_storeu_si512(pairs, (__m512i)_mm512_cvtne2ps_pbh(_mm512_loadu_ps(x + CPU_TILE), _mm512_loadu_ps(x)));
}

CPU_INLINE void bfloat_pair(const float *even, const float *odd, float *pairs) {
  const __m512i both = (__m512i)_mm512_cvtne2ps_pbh(_mm512_loadu_ps(odd), _mm512_loadu_ps(even));
  const __m512i order = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6, 21,
                                         5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  _mm512_storeu_si512(pairs, _mm512_permutexvar_epi16(order, both));
}

#endif

/* A tile of pairs of rows: pair p has rows 2 p and 2 p + 1 of `k`, 16 columns. */
CPU_INLINE void bfloat_pack_down(size_t k, const float *x, size_t ld, float *tile) {
  static const float none[CPU_TILE];
  if (k >= 2 * CPU_TILE) {
    for (size_t p = 0; p < CPU_TILE; p++)
      bfloat_pair(x + 2 * p * ld, x + (2 * p + 1) * ld, tile + p * CPU_TILE);
    return;
  }
  for (size_t p = 0; p < CPU_TILE; p++)
    bfloat_pair(2 * p < k ? x + 2 * p * ld : none, 2 * p + 1 < k ? x + (2 * p + 1) * ld : none, tile + p * CPU_TILE);
}

/* A tile of `rows` rows, of which each has `k` numbers side by side. */
CPU_INLINE void bfloat_pack_along(size_t rows, size_t k, const float *x, size_t ld, float *tile) {
  if (rows >= CPU_TILE && k >= 2 * CPU_TILE) {
    for (size_t r = 0; r < CPU_TILE; r++)
      bfloat_neighbours(x + r * ld, tile + r * CPU_TILE);
    return;
  }
  for (size_t r = 0; r < CPU_TILE; r++) {
    float some[2 * CPU_TILE] = {0};
    if (r < rows)
      memcpy(some, x + r * ld, bfloat_least(k, 2 * CPU_TILE) * sizeof *some);
    bfloat_neighbours(some, tile + r * CPU_TILE);
  }
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
  bfloat_turn(across, tile);
}

/* --- tiles --- */

#if !CPU_BFLOAT_UNITS

/* Rows [row, row + 4) of a tile, 32 values of k: what is added to `sum`. */
CPU_INLINE void bfloat_add(const float *a, const float *b, size_t row, size_t column, vec sum[4]) {
  const ivec upper = i_set(-0x10000);
  vec even[4], odd[4];
  CPU_UNROLL for (size_t r = 0; r < 4; r++) even[r] = odd[r] = v_zero();
  for (size_t p = 0; p < CPU_TILE; p++) {
    const ivec pairs = i_load(b + p * CPU_TILE + column);
    const vec b_even = v_from_bits(i_shift_left(pairs, 16)), b_odd = v_from_bits(i_and(pairs, upper));
    CPU_UNROLL for (size_t r = 0; r < 4; r++) {
      int32_t pair;
      memcpy(&pair, a + (row + r) * CPU_TILE + p, sizeof pair);
      even[r] = v_fma(v_from_bits(i_shift_left(i_set(pair), 16)), b_even, even[r]);
      odd[r] = v_fma(v_from_bits(i_and(i_set(pair), upper)), b_odd, odd[r]);
    }
  }
  CPU_UNROLL for (size_t r = 0; r < 4; r++) sum[r] = sum[r] + (even[r] + odd[r]);
}

static void bfloat_tiles(const struct cpu_tiles *t, float *sums) {
  for (size_t i = 0; i < t->down; i++)
    for (size_t j = 0; j < t->across; j++, sums += CPU_TILE_FLOATS)
      for (size_t row = 0; row < CPU_TILE; row += 4)
        for (size_t column = 0; column < CPU_TILE; column += CPU_LANES) {
          const float *a = t->a + i * t->a_next, *b = t->b + j * t->b_next;
          float *to = sums + row * CPU_TILE + column;
          vec sum[4];
          CPU_UNROLL for (size_t r = 0; r < 4; r++) sum[r] = t->starts ? v_load(to + r * CPU_TILE) : v_zero();
          for (size_t k = 0; k < t->depth; k++, a += CPU_TILE_FLOATS, b += CPU_TILE_FLOATS)
            bfloat_add(a, b, row, column, sum);
          CPU_UNROLL for (size_t r = 0; r < 4; r++) v_store(to + r * CPU_TILE, sum[r]);
        }
}

#else

/* Four sums, in registers 0 to 3. */
CPU_INLINE void bfloat_begin_four(bool starts, const float *sums) {
  enum { LINE = sizeof(float) * CPU_TILE };
  if (starts) {
    _tile_loadd(0, sums, LINE);
    _tile_loadd(1, sums + CPU_TILE_FLOATS, LINE);
    _tile_loadd(2, sums + 2 * CPU_TILE_FLOATS, LINE);
    _tile_loadd(3, sums + 3 * CPU_TILE_FLOATS, LINE);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
}
CPU_INLINE void bfloat_end_four(float *sums) {
  enum { LINE = sizeof(float) * CPU_TILE };
  _tile_stored(0, sums, LINE);
  _tile_stored(1, sums + CPU_TILE_FLOATS, LINE);
  _tile_stored(2, sums + 2 * CPU_TILE_FLOATS, LINE);
  _tile_stored(3, sums + 3 * CPU_TILE_FLOATS, LINE);
}

/* Two rows of A's tiles, registers 4 and 5, by two columns of B's, 6 and 7. */
CPU_INLINE void bfloat_two_by_two(const struct cpu_tiles *t, float *sums) {
  enum { LINE = sizeof(float) * CPU_TILE };
  const float *a = t->a, *b = t->b;
  bfloat_begin_four(t->starts, sums);
  for (size_t k = 0; k < t->depth; k++, a += CPU_TILE_FLOATS, b += CPU_TILE_FLOATS) {
    _tile_loadd(4, a, LINE);
    _tile_loadd(6, b, LINE);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(7, b + t->b_next, LINE);
    _tile_dpbf16ps(1, 4, 7);
    _tile_loadd(5, a + t->a_next, LINE);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  bfloat_end_four(sums);
}

/* One row of A's tiles, register 4, by four columns of B's, 5. */
CPU_INLINE void bfloat_one_by_four(const struct cpu_tiles *t, float *sums) {
  enum { LINE = sizeof(float) * CPU_TILE };
  const float *a = t->a, *b = t->b;
  bfloat_begin_four(t->starts, sums);
  for (size_t k = 0; k < t->depth; k++, a += CPU_TILE_FLOATS, b += CPU_TILE_FLOATS) {
    _tile_loadd(4, a, LINE);
    _tile_loadd(5, b, LINE);
    _tile_dpbf16ps(0, 4, 5);
    _tile_loadd(5, b + t->b_next, LINE);
    _tile_dpbf16ps(1, 4, 5);
    _tile_loadd(5, b + 2 * t->b_next, LINE);
    _tile_dpbf16ps(2, 4, 5);
    _tile_loadd(5, b + 3 * t->b_next, LINE);
    _tile_dpbf16ps(3, 4, 5);
  }
  bfloat_end_four(sums);
}

CPU_INLINE void bfloat_one(bool starts, const float *a, const float *b, size_t depth, float *sums) {
  enum { LINE = sizeof(float) * CPU_TILE };
  if (starts)
    _tile_loadd(0, sums, LINE);
  else
    _tile_zero(0);
  for (size_t k = 0; k < depth; k++, a += CPU_TILE_FLOATS, b += CPU_TILE_FLOATS) {
    _tile_loadd(4, a, LINE);
    _tile_loadd(6, b, LINE);
    _tile_dpbf16ps(0, 4, 6);
  }
  _tile_stored(0, sums, LINE);
}

CPU_INLINE void bfloat_tiles(const struct cpu_tiles *t, float *sums) {
  if (t->down == 2 && t->across == 2) {
    bfloat_two_by_two(t, sums);
    return;
  }
  if (t->down == 1 && t->across == 4) {
    bfloat_one_by_four(t, sums);
    return;
  }
  for (size_t i = 0; i < t->down; i++)
    for (size_t j = 0; j < t->across; j++, sums += CPU_TILE_FLOATS)
      bfloat_one(t->starts, t->a + i * t->a_next, t->b + j * t->b_next, t->depth, sums);
}

#endif

/* --- products --- */

/* Sums go on from what is in C. */
CPU_INLINE void bfloat_start(const struct cpu_gemm *g, size_t row, size_t rows, size_t column, float *sums) {
  for (size_t r = 0; r < CPU_TILE; r++)
    for (size_t c = 0; c < CPU_TILE; c += CPU_LANES)
      v_store(sums + r * CPU_TILE + c, r < rows ? v_load(g->c + (row + r) * g->ldc + column + c) : v_zero());
}

/* Rows of sums to C, after what is fused; each of these is a constant where this is inlined. */
CPU_INLINE void bfloat_finish(const bool shifts, const bool relu, const bool masks, size_t rows, const float *bias,
                              const float *mask, size_t ldm, const float *sums, float *c, size_t ldc) {
  for (size_t v = 0; v < CPU_TILE; v += CPU_LANES) {
    const vec shift = shifts ? v_load(bias + v) : v_zero();
    for (size_t r = 0; r < rows; r++) {
      vec sum = v_load(sums + r * CPU_TILE + v);
      if (shifts)
        sum = sum + shift;
      if (relu)
        sum = v_max(v_zero(), sum);
      if (masks)
        sum = v_masked(v_greater(v_load(mask + r * ldm + v), v_zero()), sum);
      v_store(c + r * ldc + v, sum);
    }
  }
}

/* `last`: all values of k have been added; the bias, ReLU and the mask follow. */
CPU_INLINE void bfloat_store(const struct cpu_gemm *g, bool last, size_t row, size_t rows, size_t column,
                             const float *sums) {
  const size_t ldm = g->ldm, ldc = g->ldc;
  const float *bias = g->bias ? g->bias + column : NULL, *mask = g->mask ? g->mask + row * ldm + column : NULL;
  float *c = g->c + row * ldc + column;
  const bool shifts = last && bias, masks = last && mask, relu = last && g->relu;
  bias = bias ? bias : c; /* nobody reads it then */
  mask = mask ? mask : c;
  if (!shifts && !relu && !masks)
    bfloat_finish(false, false, false, rows, bias, mask, ldm, sums, c, ldc);
  else if (!shifts && !relu && masks)
    bfloat_finish(false, false, true, rows, bias, mask, ldm, sums, c, ldc);
  else if (shifts && relu && !masks)
    bfloat_finish(true, true, false, rows, bias, mask, ldm, sums, c, ldc);
  else
    bfloat_finish(shifts, relu, masks, rows, bias, mask, ldm, sums, c, ldc);
}

/* A block of values of k by all columns of a band, in tiles: [column / 16][k / 32]. */
CPU_INLINE void bfloat_pack_band(const struct cpu_bfloat *w, size_t column, size_t end, size_t k, size_t k_end) {
  float *tile = w->b;
  for (; column < end; column += CPU_TILE)
    for (size_t at = k; at < k_end; at += 2 * CPU_TILE, tile += CPU_TILE_FLOATS) {
      size_t there = column < w->columns ? w->columns - column : 0;
      bfloat_pack_b(w->product, column, bfloat_least(there, CPU_TILE), at, bfloat_least(k_end - at, 2 * CPU_TILE),
                    tile);
    }
}

/* Two rows of tiles of C, from `row` on, for the columns and values of k that are packed. */
CPU_INLINE void bfloat_rows(const struct cpu_bfloat *w, size_t row, size_t column, size_t end, size_t k, size_t k_end) {
  const struct cpu_gemm *g = w->product;
  const size_t depth = bfloat_tiles_of(k_end - k, 2 * CPU_TILE), left = g->m - row;
  const bool last = k_end == g->k;
  struct cpu_tiles t = {
      .starts = k > 0 || g->accumulate, .down = left > CPU_TILE ? 2 : 1, .depth = depth, .a = w->a, .b = w->b};
  float sums[4 * CPU_TILE_FLOATS] __attribute__((aligned(64)));
  t.a_next = t.b_next = depth * CPU_TILE_FLOATS;
  for (size_t i = 0; i < t.down; i++)
    for (size_t d = 0; d < depth; d++)
      bfloat_pack_a(g, row + i * CPU_TILE, bfloat_least(left - i * CPU_TILE, CPU_TILE), k + d * 2 * CPU_TILE,
                    bfloat_least(k_end - k - d * 2 * CPU_TILE, 2 * CPU_TILE),
                    w->a + i * t.a_next + d * CPU_TILE_FLOATS);
  for (; column < end; column += t.across * CPU_TILE, t.b += t.across * t.b_next) {
    t.across = bfloat_least(bfloat_tiles_of(end - column, CPU_TILE), 4 / t.down);
    float *tile = sums;
    for (size_t i = 0; t.starts && i < t.down; i++)
      for (size_t j = 0; j < t.across; j++, tile += CPU_TILE_FLOATS)
        bfloat_start(g, row + i * CPU_TILE, bfloat_least(left - i * CPU_TILE, CPU_TILE), column + j * CPU_TILE, tile);
    bfloat_tiles(&t, sums);
    tile = sums;
    for (size_t i = 0; i < t.down; i++)
      for (size_t j = 0; j < t.across; j++, tile += CPU_TILE_FLOATS)
        bfloat_store(g, last, row + i * CPU_TILE, bfloat_least(left - i * CPU_TILE, CPU_TILE), column + j * CPU_TILE,
                     tile);
  }
}

static void gemm_bfloat(const struct cpu_bfloat *w) {
  const struct cpu_gemm *g = w->product;
  for (size_t k = 0; k < g->k; k += CPU_BFLOAT_DEPTH) {
    const size_t k_end = bfloat_least(g->k, k + CPU_BFLOAT_DEPTH);
    for (size_t column = 0; column < g->n; column += CPU_BFLOAT_COLUMNS) {
      const size_t end = bfloat_least(g->n, column + CPU_BFLOAT_COLUMNS);
      bfloat_pack_band(w, column, end, k, k_end);
      for (size_t row = 0; row < g->m; row += 2 * CPU_TILE)
        bfloat_rows(w, row, column, end, k, k_end);
    }
  }
}

#endif
