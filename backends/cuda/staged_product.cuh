/* staged_product.cuh - products whose matrices lie in the device's memory. The block computes tiles of up to 64 x 64
   numbers; of what they need, 32 values of k at a time come to shared memory, and the next ones are on their way while
   these are multiplied. Each number is one sum in the order of k, as in product.cuh and warp_product.cuh. What the
   product is like is told by shared memory: threads need it once a part, and their registers for the part. */
#ifndef BACKEND_CUDA_STAGED_PRODUCT_CUH
#define BACKEND_CUDA_STAGED_PRODUCT_CUH

#include "warp_product.cuh"

/* A part of a matrix by rows: 32 values of k and 4 floats more, so that rows begin in different banks. By columns: 32
   rows of 64. */
constexpr uint32_t STAGE_DEPTH = CUDA_STAGE_DEPTH, STAGE_COLUMNS = CUDA_STAGE_COLUMNS, STAGE_ROW = STAGE_DEPTH + 4,
                   STAGE_ACROSS = STAGE_COLUMNS / 4;

/* The product that the block is at; not kept in registers from one barrier to the next. */
CPU_INLINE const struct product &told_product(void) {
  CUDA_SHARED(shared); /* the compiler has to see that it is */
  return ((const struct state *)shared)->product;
}

/* Rows of a tile, if each thread has so many. */
CPU_INLINE uint32_t tile_rows(uint32_t rows) { return rows * CUDA_WORKERS / STAGE_ACROSS; }

/* Where a part of a product is: of the tile at (row, column), the k values from `k` on. Parts of a tile come one after
   the other. */
struct part_place {
  uint32_t row, column, k;
};
template <typename Place> CPU_INLINE void next_tile(const struct product &p, uint32_t rows, Place &at) {
  at.column += STAGE_COLUMNS;
  if (at.column < p.n)
    return;
  at.column = 0;
  at.row += rows;
}
CPU_INLINE void go_on(const struct product &p, uint32_t rows, struct part_place &at) {
  at.k += STAGE_DEPTH;
  if (at.k < p.k)
    return;
  at.k = 0;
  next_tile(p, rows, at);
}

CPU_INLINE uint32_t at_most(uint32_t count, uint32_t most) { return count < most ? count : most; }

/* Begin to bring four numbers of row `first` and, up to `rows`, of each `every` rows further, to rows of LD floats. Of
   rows before `whole_rows` the first `left` numbers count; the others become 0. */
template <uint32_t LD>
CPU_INLINE void bring_quads(const float *from, uint32_t ld, bool shared, uint32_t first, uint32_t every, uint32_t rows,
                            uint32_t whole_rows, uint32_t left, float *to) {
  from += first * ld;
  to += first * LD;
  if (shared) {
    for (uint32_t row = first; row < rows; row += every, from += every * ld, to += every * LD) {
      const uint32_t count = row < whole_rows ? left : 0;
      float4 x = make_float4(0, 0, 0, 0);
      if (count > 0)
        x = four(from);
      put_four(to, make_float4(x.x, count > 1 ? x.y : 0, count > 2 ? x.z : 0, count > 3 ? x.w : 0));
    }
    return;
  }
  for (uint32_t row = first; row < rows; row += every, from += every * ld, to += every * LD)
    copy_four(to, from, row < whole_rows ? left : 0);
}

/* Begin to bring a part of a matrix: values of k along `rows` rows. There are `depth` values, and zeros behind them, up
   to a multiple of STEP. */
template <uint32_t STEP>
CPU_INLINE void bring_along(const float *from, uint32_t ld, bool shared, uint32_t rows, uint32_t depth, float *to) {
  constexpr uint32_t QUADS = STAGE_DEPTH / 4;
  const uint32_t quad = threadIdx.x % QUADS * 4, left = quad < depth ? at_most(depth - quad, 4) : 0;
  if (quad < whole(depth, STEP))
    bring_quads<STAGE_ROW>(from + quad, ld, shared, threadIdx.x / QUADS, CUDA_WORKERS / QUADS, rows, rows, left,
                           to + quad);
}

/* The same of values of k down `columns` columns. */
template <uint32_t STEP>
CPU_INLINE void bring_down(const float *from, uint32_t ld, bool shared, uint32_t columns, uint32_t depth, float *to) {
  constexpr uint32_t QUADS = STAGE_COLUMNS / 4;
  const uint32_t quad = threadIdx.x % QUADS * 4;
  if (quad < columns)
    bring_quads<STAGE_COLUMNS>(from + quad, ld, shared, threadIdx.x / QUADS, CUDA_WORKERS / QUADS, whole(depth, STEP),
                               depth, 4, to + quad);
}

template <enum product_form FORM, uint32_t STEP>
CPU_INLINE void bring_part(const struct product &p, uint32_t rows, const struct part_place &at, float *to) {
  float *b = to + STAGE_COLUMNS * STAGE_ROW;
  if (at.row < p.m) {
    const uint32_t depth = at_most(p.k - at.k, STAGE_DEPTH), m = at_most(p.m - at.row, rows),
                   n = at_most(p.n - at.column, STAGE_COLUMNS);
    if constexpr (FORM == PRODUCT_OF_COLUMNS)
      bring_down<STEP>(p.a + at.k * p.lda + at.row, p.lda, p.a_shared, m, depth, to);
    else
      bring_along<STEP>(p.a + at.row * p.lda + at.k, p.lda, p.a_shared, m, depth, to);
    if constexpr (FORM == PRODUCT_OF_ROWS)
      bring_along<STEP>(p.b + at.column * p.ldb + at.k, p.ldb, p.b_shared, n, depth, b);
    else
      bring_down<STEP>(p.b + at.k * p.ldb + at.column, p.ldb, p.b_shared, n, depth, b);
  }
  end_copies();
}

/* For all tiles: begin(tile); add(part) for all parts of its matrices, as they lie in shared memory, k a multiple of
   STEP; and end(tile). Two parts are on their way while one is multiplied, also from one tile to the next. */
template <enum product_form FORM, uint32_t STEP, typename Begin, typename Add, typename End>
CPU_INLINE void each_part(const struct product &p, uint32_t rows, uint32_t stage, Begin begin, Add add, End end) {
  CUDA_SHARED(shared); /* the compiler has to see that it is */
  float *parts = (float *)shared + stage;
  struct part_place ahead = {0, 0, 0};
  uint32_t turn = 0, next = 2;
  CUDA_UNROLL_BY(1)
  for (uint32_t part = 0; part < 2; part++, go_on(p, rows, ahead))
    bring_part<FORM, STEP>(p, rows, ahead, parts + part * CUDA_STAGE_FLOATS);
  CUDA_UNROLL_BY(1)
  for (struct spot tile = {0, 0, 1, p.m, p.n}; tile.row < p.m; next_tile(p, rows, tile)) {
    begin(tile);
    CUDA_UNROLL_BY(1)
    for (uint32_t k = 0; k < p.k; k += STAGE_DEPTH) {
      await_copies();
      meet();
      bring_part<FORM, STEP>(p, rows, ahead, parts + next * CUDA_STAGE_FLOATS);
      go_on(p, rows, ahead);
      const float *a = parts + turn * CUDA_STAGE_FLOATS;
      add(product{at_most(p.m - tile.row, rows), at_most(p.n - tile.column, STAGE_COLUMNS),
                  whole(at_most(p.k - k, STAGE_DEPTH), STEP), FORM == PRODUCT_OF_COLUMNS ? STAGE_COLUMNS : STAGE_ROW,
                  FORM == PRODUCT_OF_ROWS ? STAGE_ROW : STAGE_COLUMNS, a, a + STAGE_COLUMNS * STAGE_ROW, true, true});
      turn = turn < 2 ? turn + 1 : 0;
      next = next < 2 ? next + 1 : 0;
    }
    end(tile);
  }
  meet(); /* the parts are used no more */
}

template <enum product_form FORM, int ROWS, typename Start, typename Store>
CUDA_PHASE void multiply_staged_tiles(uint32_t stage, Start start, Store store) {
  const struct product &p = told_product();
  /* Columns of a thread are apart where B lies by rows, so that its rows lie in different banks. */
  constexpr uint32_t APART = FORM == PRODUCT_OF_ROWS ? STAGE_ACROSS : 1;
  const uint32_t rows = tile_rows(ROWS), row = threadIdx.x / STAGE_ACROSS * ROWS,
                 column = threadIdx.x % STAGE_ACROSS * (APART == 1 ? 4 : 1);
  struct spot at;
  bool mine;
  float sum[ROWS][4];
  each_part<FORM, 4>(
      p, rows, stage,
      [&](const struct spot &tile) {
        at = {tile.row + row, tile.column + column, APART, p.m, p.n};
        mine = at.row < p.m && at.column < p.n;
        begin_sums(at, start, sum);
      },
      [&](const struct product &part) {
        if (mine)
          add_all<FORM, ROWS, APART, true>(part, row, column, sum);
      },
      [&](const struct spot &) {
        if (mine)
          store.tile(at, sum);
      });
}

/* By tensor cores: two warps side by side have a tile's columns. */
template <enum product_form FORM, typename Start, typename Store>
CUDA_PHASE void multiply_staged_by_warps(uint32_t stage, Start start, Store store) {
  const struct product &p = told_product();
  const uint32_t warp = threadIdx.x / CUDA_WARP, row = warp / 2 * TILE_ROWS, column = warp % 2 * TILE_COLUMNS;
  bool mine;
  float sum[4][4];
  each_part<FORM, TILE_DEPTH>(
      p, tile_rows(4), stage,
      [&](const struct spot &tile) {
        mine = tile.row + row < p.m && tile.column + column < p.n;
        begin_tile(p, tile.column + column, start, sum);
      },
      [&](const struct product &part) {
        if (mine)
          add_tiles<FORM, true>(part, row, column, sum);
      },
      [&](const struct spot &tile) {
        if (mine)
          store_tile(p, tile.row + row, tile.column + column, sum, store);
      });
}

/* What `start` gives a column + the sum over k. TENSOR: by tensor cores. Where a tile of 64 rows would be empty for the
   most part, tiles have 16. */
template <bool TENSOR, enum product_form FORM, typename Start, typename Store>
CPU_INLINE void multiply_staged(const struct block &b, const struct product &p, const Start &start,
                                const Store &store) {
  if (threadIdx.x == 0)
    b.state->product = p;
  meet();
  if constexpr (TENSOR)
    multiply_staged_by_warps<FORM>(b.stage, start, store);
  else if (p.m > tile_rows(1))
    multiply_staged_tiles<FORM, 4>(b.stage, start, store);
  else
    multiply_staged_tiles<FORM, 1>(b.stage, start, store);
}

#endif
