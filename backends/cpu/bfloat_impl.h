/* bfloat_impl.h - products of numbers rounded to bfloat16: the upper half of a float, to the nearest, ties to even.
   Both matrices are packed into tiles of 16 rows of 16 pairs, a pair being two of 32 values along k in the 32 bits of
   one float: A by its rows, B by pairs of rows. Tiles are multiplied as Intel's matrix units (AMX-BF16, TDPBF16PS) do
   it: over 32 values of k, sums of the even and of the odd terms, each from 0 on by fused multiply-adds; then both are
   added, and then they are added to what is there. Products of two such numbers are exact in a float, so that vectors,
   dots.c and tiles.c give the same bits. */
#ifndef BACKEND_CPU_BFLOAT_IMPL_H
#define BACKEND_CPU_BFLOAT_IMPL_H

#include "bfloat_pack_impl.h"
#if CPU_BFLOAT == CPU_BFLOAT_VECTORS
#include "bfloat_vectors_impl.h"
#elif CPU_BFLOAT == CPU_BFLOAT_DOTS
#include "bfloat_dots_impl.h"
#else
#include "bfloat_tiles_impl.h"
#endif

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
  struct cpu_tiles t = {.starts = k > 0 || g->accumulate, .depth = depth, .k = k_end - k, .a = w->a, .b = w->b};
  float sums[4 * CPU_TILE_FLOATS] __attribute__((aligned(64)));
  t.rows = bfloat_least(left, 2 * CPU_TILE);
  t.down = left > CPU_TILE ? 2 : 1;
  t.a_next = t.b_next = depth * CPU_TILE_FLOATS;
  for (size_t i = 0; i < t.down; i++)
    for (size_t d = 0; d < depth; d++)
      bfloat_pack_a(g, row + i * CPU_TILE, bfloat_least(left - i * CPU_TILE, CPU_TILE), k + d * 2 * CPU_TILE,
                    bfloat_least(k_end - k - d * 2 * CPU_TILE, 2 * CPU_TILE),
                    w->a + i * t.a_next + d * CPU_TILE_FLOATS);
  for (; column < end; column += t.across * CPU_TILE, t.b += t.across * t.b_next) {
    t.across = bfloat_least(bfloat_tiles_of(end - column, CPU_TILE), left > CPU_TILE ? 2 : 4);
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
