/* gemm_large_impl.h - large products, in parts that threads may share. They give the same bits as gemm does: every sum
   is taken in the same order, whatever the parts are and whoever computes them.

   gemm reads its operands where they lie, which is best while they stay in the first two levels of cache. Here they do
   not, so each part packs what it reads in the order in which tiles read it: a block of B, CPU_GEMM_DEPTH rows of its
   columns, for the second level, and the rows of A under one row of tiles for the first. While it multiplies, it
   fetches what it reads next: into the first level the packed numbers some rows ahead, into the second the rows of A of
   the next tiles and the next block of B. */
#ifndef BACKEND_CPU_GEMM_LARGE_IMPL_H
#define BACKEND_CPU_GEMM_LARGE_IMPL_H

#include "elementwise_impl.h"
#include "gemm_impl.h"

/* LARGE_AHEAD: rows of a panel between what is fetched and what is multiplied. */
enum { LARGE_PANEL = 2 * CPU_LANES, LARGE_ROWS = GEMM_ROWS_2, LARGE_AHEAD = 16, LARGE_LINE = 16 };

/* --- packing --- */

/* Columns of a block of B in panels: [panels][CPU_GEMM_DEPTH][LARGE_PANEL]. */
static void large_pack_b(const struct cpu_gemm *g, float *to) {
  for (size_t p = 0; p < g->n; p += LARGE_PANEL, to += CPU_GEMM_DEPTH * LARGE_PANEL) {
    size_t columns = g->n - p < LARGE_PANEL ? g->n - p : LARGE_PANEL;
    if (g->b_transposed) {
      transpose(columns, g->k, g->b + p * g->ldb, g->ldb, to, LARGE_PANEL);
      continue;
    }
    for (size_t k = 0; k < g->k; k++)
      for (size_t v = 0; v < columns; v += CPU_LANES)
        v_store(to + k * LARGE_PANEL + v, v_load(g->b + k * g->ldb + p + v));
  }
}

/* The rows of A of one row of tiles: [depth][LARGE_ROWS]. May write past the end; there is room. */
static void large_pack_a(const struct cpu_gemm *g, size_t row, size_t rows, float *to) {
  const float *a = g->a + row * g->a_row;
  if (g->a_row == 1) {
    for (size_t k = 0; k < g->k; k++, to += LARGE_ROWS, a += g->a_column)
      for (size_t v = 0; v < LARGE_ROWS; v += CPU_LANES)
        v_store(to + v, v_load(a + v));
    return;
  }
  size_t k = 0;
#if CPU_LANES == 16
  /* Rows that are missing are those before them once more: nobody reads their numbers. A block writes 16 numbers for
     each column; the next column's go over the last 4. */
  const float *line[16];
  for (size_t r = 0; r < 16; r++)
    line[r] = a + (r < rows ? r : rows - 1) * g->a_row;
  for (; k + 4 <= g->k; k += 4, to += (size_t)4 * LARGE_ROWS)
    transpose_lines(line, k, to, LARGE_ROWS);
#endif
  for (; k < g->k; k++, to += LARGE_ROWS)
    for (size_t r = 0; r < rows; r++)
      to[r] = a[r * g->a_row + k];
}

/* --- fetching --- */

/* What will be read soon. Tiles fetch it into the second-level cache while they multiply, two lines every LARGE_STEP
   rows: a burst of fetches would wait for memory, and all that comes after it, too. */
enum { LARGE_STEP = 4, LARGE_STREAMS = 4, LARGE_PAIR = 2 * LARGE_LINE };
struct large_ahead {
  struct large_stream {
    const float *at;
    size_t step,
        count; /* two lines every `step` floats, so often; the last stream's count is no less than a tile's k */
  } streams[LARGE_STREAMS];
};

/* --- multiplying --- */

/* Some terms of the sums of a tile. */
CPU_INLINE void large_terms(const int rows, const int vecs, size_t count, const float **a, const float **b,
                            vec sum[12][8]) {
  const float *from = *a, *by = *b;
  for (size_t k = 0; k < count; k++, from += LARGE_ROWS, by += LARGE_PANEL) {
    vec line[2];
    CPU_UNROLL for (int v = 0; v < vecs; v++) line[v] = v_load(by + v * CPU_LANES);
    CPU_UNROLL for (int v = 0; v < LARGE_PANEL; v += LARGE_LINE)
        __builtin_prefetch(by + LARGE_AHEAD * LARGE_PANEL + v, 0, 3);
    __builtin_prefetch(from + LARGE_AHEAD * LARGE_ROWS, 0, 3);
    CPU_UNROLL for (int r = 0; r < rows; r++) {
      vec one = v_set(from[r]);
      CPU_UNROLL for (int v = 0; v < vecs; v++) sum[r][v] = v_fma(one, line[v], sum[r][v]);
    }
  }
  *a = from;
  *b = by;
}

/* A tile as gemm_tile makes it, from packed operands. */
CPU_INLINE void large_tile(const int rows, const int vecs, const struct cpu_gemm *g, const struct large_ahead *ahead) {
  const float *a = g->a, *b = g->b;
  size_t left = g->k;
  vec sum[12][8];
  CPU_UNROLL for (int v = 0; v < vecs; v++) {
    vec first = g->bias ? v_load(g->bias + (size_t)v * CPU_LANES) : v_zero();
    CPU_UNROLL for (int r = 0; r < rows; r++) sum[r][v] = first;
  }
  const float *at = ahead->streams[0].at;
  for (size_t s = 0, i = 0; left >= LARGE_STEP; left -= LARGE_STEP, i++) {
    while (i == ahead->streams[s].count)
      i = 0, at = ahead->streams[++s].at;
    __builtin_prefetch(at, 0, 2);
    __builtin_prefetch(at + LARGE_LINE, 0, 2);
    at += ahead->streams[s].step;
    large_terms(rows, vecs, LARGE_STEP, &a, &b, sum);
  }
  large_terms(rows, vecs, left, &a, &b, sum);
  gemm_store(rows, vecs, CPU_LANES, g, 0, 0, sum);
}

#define LARGE_CASE(rows)                                                                                               \
  case rows:                                                                                                           \
    large_tile(rows, 2, g, ahead);                                                                                     \
    break;

static void large_tile_of(const struct cpu_gemm *g, const struct large_ahead *ahead) {
  switch (g->m) {
    LARGE_CASE(1)
    LARGE_CASE(2)
    LARGE_CASE(3)
    LARGE_CASE(4)
    LARGE_CASE(5)
    LARGE_CASE(6)
#if CPU_LANES == 16
    LARGE_CASE(7)
    LARGE_CASE(8)
    LARGE_CASE(9)
    LARGE_CASE(10)
    LARGE_CASE(11)
    LARGE_CASE(12)
#endif
  }
}

/* The next block of B, fetched row by row; none: 0 rows. */
struct large_block {
  const float *at;
  size_t ld, rows, row, steps;
};

/* What a tile fetches: rows of C for the next tile, a share of A for the next row of tiles, which begins with row
   `next`, and a row of the next block of B. */
static void large_look_ahead(const struct cpu_gemm *g, const struct cpu_gemm *tile, size_t panel, size_t panels,
                             size_t next, struct large_block *b, struct large_ahead *ahead) {
  const float *c = panel + 1 < panels ? tile->c + LARGE_PANEL : g->c + next * g->ldc;
  ahead->streams[0] = (struct large_stream){c, g->ldc, tile->m};
  if (g->a_row == 1) {
    size_t begin = g->k * panel / panels, end = g->k * (panel + 1) / panels;
    ahead->streams[1] = (struct large_stream){g->a + next + begin * g->a_column, g->a_column, end - begin};
  } else {
    ahead->streams[1] = (struct large_stream){g->a + next * g->a_row + panel * LARGE_PAIR, g->a_row, tile->m};
  }
  ahead->streams[2] = (struct large_stream){b->at, LARGE_PAIR, 0};
  if (b->row < b->rows)
    ahead->streams[2] = (struct large_stream){b->at + b->row++ * b->ld, LARGE_PAIR, b->steps};
  ahead->streams[3] = (struct large_stream){tile->a, 0, g->k}; /* nothing more */
}

/* One row of tiles, of all panels. The next one begins with row `next`; `b` is the next block of B. */
static void large_rows(const struct cpu_gemm *g, size_t row, size_t rows, size_t next, const float *panels, float *pack,
                       struct large_block *b) {
  const size_t count = (g->n + LARGE_PANEL - 1) / LARGE_PANEL;
  struct large_ahead ahead;
  struct cpu_gemm tile = *g;
  tile.ldb = LARGE_PANEL;
  tile.a = pack;
  tile.a_row = 1;
  tile.a_column = LARGE_ROWS;
  tile.m = rows;
  large_pack_a(g, row, rows, pack);
  for (size_t p = 0, column = 0; p < count; p++, column += LARGE_PANEL) {
    tile.b = panels + p * CPU_GEMM_DEPTH * LARGE_PANEL;
    tile.c = g->c + row * g->ldc + column;
    tile.bias = g->bias ? g->bias + column : NULL;
    tile.mask = g->mask ? g->mask + row * g->ldm + column : NULL;
    large_look_ahead(g, &tile, p, count, next, b, &ahead);
    if (g->n - column >= LARGE_PANEL)
      large_tile_of(&tile, &ahead);
    else
      gemm_rows_1(&tile, 0, 0, rows, 1);
  }
}

/* A product whose C is no more than CPU_LARGE_COLUMNS wide; pack[CPU_LARGE_PACK]. */
static void gemm_large(const struct cpu_gemm *g, float *pack) {
  const size_t tiles = (g->m + LARGE_ROWS - 1) / LARGE_ROWS, depth = gemm_depth(g);
  float *panels = pack + CPU_LARGE_PACK_A;
  for (size_t done = 0; done < g->k; done += depth) {
    struct cpu_gemm block = *g;
    struct large_block next = {.ld = g->ldb};
    const bool last = g->k - done <= depth;
    block.k = last ? g->k - done : depth;
    block.a = g->a + done * g->a_column;
    block.b = g->b + done * (g->b_transposed ? 1 : g->ldb);
    block.bias = done == 0 ? g->bias : NULL;
    block.accumulate = g->accumulate || done > 0;
    block.relu = g->relu && last;
    block.mask = last || g->mask_sum ? g->mask : NULL;
    if (!last) {
      const size_t left = g->k - done - depth, then = left < depth ? left : depth;
      next.at = block.b + depth * (g->b_transposed ? 1 : g->ldb);
      next.rows = g->b_transposed ? g->n : then;
      next.steps = ((g->b_transposed ? then : g->n) + LARGE_PAIR - 1) / LARGE_PAIR;
    }
    large_pack_b(&block, panels);
    for (size_t t = 0, row = 0; t < tiles; t++) {
      size_t rows = (g->m - row + (tiles - t) - 1) / (tiles - t);
      large_rows(&block, row, rows, row + rows < g->m ? row + rows : row, panels, pack, &next);
      row += rows;
    }
  }
}

#endif
