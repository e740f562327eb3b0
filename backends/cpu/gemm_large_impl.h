/* gemm_large_impl.h - large products, in parts that threads may share. They give the same bits as gemm does: every sum
   is taken in the same order, whatever the parts are and whoever computes them.

   gemm reads its operands where they lie, which is best while they stay in the first two levels of cache. Here they do
   not, so each part packs what it reads: a block of B, CPU_GEMM_DEPTH rows of its columns, for the second level, and
   the rows of A under one row of tiles for the first. While it multiplies, it fetches the rows of A that come next. */
#ifndef BACKEND_CPU_GEMM_LARGE_IMPL_H
#define BACKEND_CPU_GEMM_LARGE_IMPL_H

#include "elementwise_impl.h"
#include "gemm_impl.h"

enum { LARGE_PANEL = 2 * CPU_LANES, LARGE_ROWS = GEMM_ROWS_2 };

/* Columns of a block of B, `width` of them, in panels: [panels][CPU_GEMM_DEPTH][LARGE_PANEL]. */
static void large_pack_b(const struct cpu_gemm *g, size_t width, float *to) {
  for (size_t p = 0; p < width; p += LARGE_PANEL, to += CPU_GEMM_DEPTH * LARGE_PANEL) {
    size_t columns = width - p < LARGE_PANEL ? width - p : LARGE_PANEL;
    if (g->b_transposed) {
      transpose(columns, g->k, g->b + p * g->ldb, g->ldb, to, LARGE_PANEL);
      continue;
    }
    for (size_t k = 0; k < g->k; k++)
      for (size_t v = 0; v < columns; v += CPU_LANES)
        v_store(to + k * LARGE_PANEL + v, v_load(g->b + k * g->ldb + p + v));
  }
}

/* The rows of A of one row of tiles: [depth][LARGE_ROWS] where it is read by columns, else [rows][CPU_GEMM_DEPTH]. Both
   may read and write past the end of a row; there is room. */
static void large_pack_a(const struct cpu_gemm *g, size_t row, size_t rows, float *to) {
  if (g->a_row == 1) {
    const float *a = g->a + row;
    for (size_t k = 0; k < g->k; k++, to += LARGE_ROWS, a += g->a_column)
      for (size_t v = 0; v < LARGE_ROWS; v += CPU_LANES)
        v_store(to + v, v_load(a + v));
    return;
  }
  for (size_t r = 0; r < rows; r++)
    for (size_t k = 0; k < g->k; k += CPU_LANES)
      v_store(to + r * CPU_GEMM_DEPTH + k, v_load(g->a + (row + r) * g->a_row + k));
}

/* Fetch one of `pieces` pieces of rows of A into the second-level cache: some of the columns, or a row. */
CPU_INLINE void large_fetch_a(const struct cpu_gemm *g, size_t row, size_t rows, size_t piece, size_t pieces) {
  if (g->a_row == 1) {
    const float *at = g->a + row + g->k * piece / pieces * g->a_column;
    for (size_t k = g->k * piece / pieces; k < g->k * (piece + 1) / pieces; k++, at += g->a_column) {
      __builtin_prefetch(at, 0, 2);
      __builtin_prefetch(at + LARGE_ROWS - 1, 0, 2);
    }
    return;
  }
  for (size_t r = piece; r < rows; r += pieces)
    for (size_t k = 0; k < g->k; k += 16)
      __builtin_prefetch(g->a + (row + r) * g->a_row + k, 0, 2);
}

/* One row of tiles, of all panels; `next`: the row that the next one begins with. */
static void large_rows(const struct cpu_gemm *g, size_t row, size_t rows, size_t next, const float *panels,
                       float *pack) {
  const size_t count = (g->n + LARGE_PANEL - 1) / LARGE_PANEL;
  struct cpu_gemm tile = *g;
  tile.ldb = LARGE_PANEL;
  tile.a = pack;
  tile.a_row = g->a_row == 1 ? 1 : CPU_GEMM_DEPTH;
  tile.a_column = g->a_row == 1 ? LARGE_ROWS : 1;
  tile.m = rows;
  large_pack_a(g, row, rows, pack);
  for (size_t p = 0, column = 0; p < count; p++, column += LARGE_PANEL) {
    tile.b = panels + p * CPU_GEMM_DEPTH * LARGE_PANEL;
    tile.c = g->c + row * g->ldc + column;
    tile.bias = g->bias ? g->bias + column : NULL;
    tile.mask = g->mask ? g->mask + row * g->ldm + column : NULL;
    for (size_t r = 0; r < rows; r++)
      for (size_t v = 0; v < LARGE_PANEL; v += 16)
        __builtin_prefetch(tile.c + r * tile.ldc + v, 1, 3);
    large_fetch_a(g, next, rows, p, count);
    if (g->n - column >= LARGE_PANEL)
      gemm_rows_2(&tile, 0, 0, rows);
    else
      gemm_rows_1(&tile, 0, 0, rows);
  }
}

/* A product whose C is no more than CPU_LARGE_COLUMNS wide; pack[CPU_LARGE_PACK]. */
static void gemm_large(const struct cpu_gemm *g, float *pack) {
  float *panels = pack + CPU_LARGE_PACK_A;
  for (size_t done = 0; done < g->k; done += CPU_GEMM_DEPTH) {
    struct cpu_gemm block = *g;
    const bool last = g->k - done <= CPU_GEMM_DEPTH;
    block.k = last ? g->k - done : CPU_GEMM_DEPTH;
    block.a = g->a + done * g->a_column;
    block.b = g->b + done * (g->b_transposed ? 1 : g->ldb);
    block.bias = done == 0 ? g->bias : NULL;
    block.accumulate = g->accumulate || done > 0;
    block.relu = g->relu && last;
    block.mask = last || g->mask_sum ? g->mask : NULL;
    large_pack_b(&block, g->n, panels);
    const size_t tiles = (g->m + LARGE_ROWS - 1) / LARGE_ROWS;
    for (size_t t = 0, row = 0; t < tiles; t++) {
      size_t rows = (g->m - row + (tiles - t) - 1) / (tiles - t);
      large_rows(&block, row, rows, row + rows < g->m ? row + rows : row, panels, pack);
      row += rows;
    }
  }
}

#endif
