/* bfloat_impl.h - products of numbers rounded to bfloat16: the upper half of a float, to the nearest, ties to even.
   Both matrices are packed into tiles of 16 rows of 16 pairs, a pair being two of 32 values along k in the 32 bits of
   one float: A by its rows, B by pairs of rows. Tiles are multiplied as Intel's matrix units (AMX-BF16, TDPBF16PS) do
   it: over 32 values of k, sums of the even and of the odd terms, each from 0 on by fused multiply-adds; then both are
   added, and then they are added to what is there. Products of two such numbers are exact in a float, so that vectors,
   dots.c and tiles.c give the same bits. */
#ifndef BACKEND_CPU_BFLOAT_IMPL_H
#define BACKEND_CPU_BFLOAT_IMPL_H

#include "bfloat_pack_impl.h"
#include "lanes_impl.h"
#if CPU_BFLOAT == CPU_BFLOAT_VECTORS
#include "bfloat_vectors_impl.h"
#elif CPU_BFLOAT == CPU_BFLOAT_DOTS
#include "bfloat_dots_impl.h"
#else
#include "bfloat_tiles_impl.h"
#endif

/* Sums go on from what is in C. Of the columns of a tile, all are there or the first half. */
CPU_INLINE void bfloat_start(const struct cpu_gemm *g, size_t row, size_t rows, size_t column, float *sums) {
  const size_t columns = bfloat_least(g->n - column, CPU_TILE);
  for (size_t r = 0; r < rows; r++)
    CPU_FOR_LANES(c, columns,
                  v_store(sums + r * CPU_TILE + c, v_load_lanes(g->c + (row + r) * g->ldc + column + c, LANES)));
}

/* What happens to a sum on its way to C, in this order. */
struct bfloat_steps {
  bool shifts, relu, masks, adds; /* the bias, ReLU, the mask, what is in C */
};

/* Rows of sums to C. The steps, the columns and their lanes are constants where this is inlined. */
CPU_INLINE void bfloat_finish(const struct bfloat_steps steps, const size_t columns, const size_t lanes, size_t rows,
                              const float *bias, const float *mask, size_t ldm, const float *sums, float *c,
                              size_t ldc) {
  for (size_t v = 0; v < columns; v += CPU_LANES) {
    const vec shift = steps.shifts ? v_load_lanes(bias + v, lanes) : v_zero();
    for (size_t r = 0; r < rows; r++) {
      vec sum = v_load(sums + r * CPU_TILE + v);
      if (steps.shifts)
        sum = sum + shift;
      if (steps.relu)
        sum = v_max(v_zero(), sum);
      if (steps.masks)
        sum = v_masked(v_greater(v_load_lanes(mask + r * ldm + v, lanes), v_zero()), sum);
      if (steps.adds)
        sum = v_load_lanes(c + r * ldc + v, lanes) + sum;
      v_store_lanes(c + r * ldc + v, sum, lanes);
    }
  }
}

/* Are sums added to what is in C when they are masked, and not before? */
CPU_INLINE bool bfloat_adds_last(const struct cpu_gemm *g) { return g->mask && g->mask_sum; }

/* `goes_on`: there are sums in C. `last`: all values of k have been added; the bias, ReLU and the mask follow. A mask
   of sums is for each block of them. */
CPU_INLINE void bfloat_store(const struct cpu_gemm *g, bool goes_on, bool last, size_t row, size_t rows, size_t column,
                             const float *sums) {
  const size_t ldm = g->ldm, ldc = g->ldc;
  const float *bias = g->bias ? g->bias + column : NULL, *mask = g->mask ? g->mask + row * ldm + column : NULL;
  float *c = g->c + row * ldc + column;
  const struct bfloat_steps steps = {.shifts = last && bias,
                                     .relu = last && g->relu,
                                     .masks = mask && (last || g->mask_sum),
                                     .adds = goes_on && bfloat_adds_last(g)};
  bias = bias ? bias : c; /* nobody reads it then */
  mask = mask ? mask : c;
#define BFLOAT_FINISH(...)                                                                                             \
  bfloat_finish((struct bfloat_steps)__VA_ARGS__, CPU_TILE, CPU_LANES, rows, bias, mask, ldm, sums, c, ldc)
  if (g->n - column < CPU_TILE)
    bfloat_finish(steps, CPU_TILE / 2, CPU_TILE / 2, rows, bias, mask, ldm, sums, c, ldc);
  else if (steps.adds)
    BFLOAT_FINISH({steps.shifts, steps.relu, true, true});
  else if (!steps.shifts && !steps.relu && !steps.masks)
    BFLOAT_FINISH({false, false, false, false});
  else if (!steps.shifts && !steps.relu)
    BFLOAT_FINISH({false, false, true, false});
  else if (steps.shifts && steps.relu && !steps.masks)
    BFLOAT_FINISH({true, true, false, false});
  else
    BFLOAT_FINISH(steps);
#undef BFLOAT_FINISH
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
CPU_INLINE void bfloat_rows(const struct cpu_bfloat *w, const struct cpu_gemm *g, size_t row, size_t column, size_t end,
                            size_t k, size_t k_end) {
  const size_t depth = bfloat_tiles_of(k_end - k, 2 * CPU_TILE), left = g->m - row;
  const bool last = k_end == g->k, goes_on = k > 0 || g->accumulate;
  struct cpu_tiles t = {
      .starts = goes_on && !bfloat_adds_last(g), .depth = depth, .k = k_end - k, .a = w->a, .b = w->b};
  float sums[4 * CPU_TILE_FLOATS] __attribute__((aligned(64)));
  t.rows = bfloat_least(left, 2 * CPU_TILE);
  t.down = left > CPU_TILE ? 2 : 1;
  t.a_next = t.b_next = depth * CPU_TILE_FLOATS;
  for (size_t i = 0; i < t.down; i++)
    for (size_t d = 0; d < depth; d++) {
      bfloat_pack_a(g, row + i * CPU_TILE, bfloat_least(left - i * CPU_TILE, CPU_TILE), k + d * 2 * CPU_TILE,
                    bfloat_least(k_end - k - d * 2 * CPU_TILE, 2 * CPU_TILE),
                    w->a + i * t.a_next + d * CPU_TILE_FLOATS);
      fetch_ahead(g->ahead);
    }
  for (; column < end; column += t.across * CPU_TILE, t.b += t.across * t.b_next) {
    t.across = bfloat_least(bfloat_tiles_of(end - column, CPU_TILE), left > CPU_TILE ? 2 : 4);
    float *tile = sums;
    for (size_t i = 0; t.starts && i < t.down; i++)
      for (size_t j = 0; j < t.across; j++, tile += CPU_TILE_FLOATS)
        bfloat_start(g, row + i * CPU_TILE, bfloat_least(left - i * CPU_TILE, CPU_TILE), column + j * CPU_TILE, tile);
    fetch_ahead(g->ahead);
    bfloat_tiles(&t, sums);
    tile = sums;
    for (size_t i = 0; i < t.down; i++)
      for (size_t j = 0; j < t.across; j++, tile += CPU_TILE_FLOATS)
        bfloat_store(g, goes_on, last, row + i * CPU_TILE, bfloat_least(left - i * CPU_TILE, CPU_TILE),
                     column + j * CPU_TILE, tile);
  }
}

/* All rows of all products, for what is packed of their B. */
CPU_INLINE void bfloat_band(const struct cpu_bfloat *w, size_t column, size_t end, size_t k, size_t k_end) {
  struct cpu_gemm g = *w->product;
  for (size_t i = 0; i <= w->product->more; i++) {
    for (size_t row = 0; row < g.m; row += 2 * CPU_TILE)
      bfloat_rows(w, &g, row, column, end, k, k_end);
    g.a += g.a_next;
    g.c += g.c_next;
    g.mask = g.mask ? g.mask + g.mask_next : NULL;
  }
}

static void gemm_bfloat(const struct cpu_bfloat *w) {
  const struct cpu_gemm *g = w->product;
  for (size_t k = 0; k < g->k; k += CPU_BFLOAT_DEPTH) {
    const size_t k_end = bfloat_least(g->k, k + CPU_BFLOAT_DEPTH);
    for (size_t column = 0; column < g->n; column += CPU_BFLOAT_COLUMNS) {
      const size_t end = bfloat_least(g->n, column + CPU_BFLOAT_COLUMNS);
      bfloat_pack_band(w, column, end, k, k_end);
      bfloat_band(w, column, end, k, k_end);
    }
  }
}

#endif
