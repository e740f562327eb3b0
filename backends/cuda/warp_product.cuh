/* warp_product.cuh - the products of product.cuh on tensor cores, in TF32. A warp computes tiles of 16 x 32 numbers,
   each number by one chain of sums over k, 8 at a time: so its bits depend neither on the threads nor on where the
   matrices lie. Lane 4 g + t of a warp (tensor.cuh) takes the values k + 4 t to k + 4 t + 3 of 16: which of them is
   which does not matter as long as A and B agree, and so a lane reads vectors of four. */
#ifndef BACKEND_CUDA_WARP_PRODUCT_CUH
#define BACKEND_CUDA_WARP_PRODUCT_CUH

#include "product.cuh"
#include "tensor.cuh"

enum { TILE_ROWS = 16, TILE_COLUMNS = 32, TILE_DEPTH = 16 };

struct lane {
  uint32_t g, t;
};

CPU_INLINE uint32_t whole(uint32_t count, uint32_t step) { return (count + step - 1) / step * step; }
CPU_INLINE uint32_t within(uint32_t i, uint32_t count) { return i < count ? i : count - 1; }

/* Numbers side by side, from the one at k on; those at p.k and beyond are 0. */
template <bool WHOLE> CPU_INLINE void load_four(const struct product &p, const float *from, uint32_t k, float (&x)[4]) {
  if constexpr (WHOLE) {
    const float4 v = four(from);
    x[0] = v.x, x[1] = v.y, x[2] = v.z, x[3] = v.w;
  } else {
    CUDA_UNROLL
    for (int i = 0; i < 4; i++)
      x[i] = k + i < p.k ? from[i] : 0;
  }
  CUDA_UNROLL
  for (int i = 0; i < 4; i++)
    x[i] = to_tf32(x[i]);
}

/* A number of row k, likewise. */
template <bool WHOLE> CPU_INLINE float load_one(const struct product &p, const float *from, uint32_t ld, uint32_t k) {
  return WHOLE || k < p.k ? to_tf32(from[k * ld]) : 0;
}

CPU_INLINE void exchange(bool when, float &x, float &y) {
  const float kept = x;
  x = when ? y : kept;
  y = when ? kept : y;
}

/* a[h]: row + g + 8 h. Lanes whose t differ read other columns of a transposed A at the same time, so that they meet in
   fewer banks of the shared memory. */
template <enum product_form FORM, bool WHOLE>
CPU_INLINE void load_a(const struct product &p, struct lane lane, uint32_t row, uint32_t k, float (&a)[2][4]) {
  CUDA_UNROLL
  for (uint32_t h = 0; h < 2; h++) {
    if constexpr (FORM != PRODUCT_OF_COLUMNS) {
      load_four<WHOLE>(p, p.a + within(row + lane.g + 8 * h, p.m) * p.lda + k, k, a[h]);
    } else {
      const float *from = p.a + within(row + lane.g + 8 * ((h + lane.t) % 2), p.m);
      CUDA_UNROLL
      for (int i = 0; i < 4; i++)
        a[h][i] = load_one<WHOLE>(p, from, p.lda, k + i);
    }
  }
  CUDA_UNROLL
  for (int i = 0; i < 4 && FORM == PRODUCT_OF_COLUMNS; i++)
    exchange(lane.t % 2 == 1, a[0][i], a[1][i]);
}

/* b[j][i]: row k + i of B as it lies, at column + g + 8 j. It is read in turns: at the same time, the lanes of a warp
   read numbers from all banks. */
template <bool WHOLE>
CPU_INLINE void load_b(const struct product &p, struct lane lane, uint32_t column, uint32_t k, uint32_t i,
                       float (&b)[4][4]) {
  float x[4];
  CUDA_UNROLL
  for (uint32_t j = 0; j < 4; j++)
    x[j] = load_one<WHOLE>(p, p.b + within(column + lane.g + 8 * ((j + lane.t) % 4), p.n), p.ldb, k + i);
  /* Number j is that of j + t: it is turned back by 1, and by 2. */
  const bool odd = lane.t % 2 == 1;
  CUDA_UNROLL
  for (uint32_t j = 0; j < 4; j++)
    b[j][i] = odd ? x[(j + 3) % 4] : x[j];
  exchange(lane.t / 2 == 1, b[0][i], b[2][i]);
  exchange(lane.t / 2 == 1, b[1][i], b[3][i]);
}

/* The tile at (row, column), for 16 values of k, of which those beyond p.k count as 0; a lane's from `k` on. */
template <enum product_form FORM, bool WHOLE>
CPU_INLINE void add_tile(const struct product &p, struct lane lane, uint32_t row, uint32_t column, uint32_t k,
                         float (&sum)[4][4]) {
  float a[2][4], b[4][4];
  load_a<FORM, WHOLE>(p, lane, row, k, a);
  CUDA_UNROLL
  for (uint32_t j = 0; j < 4 && FORM == PRODUCT_OF_ROWS; j++)
    load_four<WHOLE>(p, p.b + within(column + lane.g + 8 * j, p.n) * p.ldb + k, k, b[j]);
  CUDA_UNROLL
  for (uint32_t i = 0; i < 4; i += 2) {
    if constexpr (FORM != PRODUCT_OF_ROWS) {
      load_b<WHOLE>(p, lane, column, k, i, b);
      load_b<WHOLE>(p, lane, column, k, i + 1, b);
    }
    CUDA_UNROLL
    for (uint32_t j = 0; j < 4; j++)
      multiply_add_tf32({a[0][i], a[1][i], a[0][i + 1], a[1][i + 1]}, {b[j][i], b[j][i + 1]}, sum[j]);
  }
}

CPU_INLINE struct lane this_lane(void) {
  const uint32_t number = lane_number();
  return {number / 4, number % 4};
}

/* A warp's tile at (row, column): what its sums begin with, */
template <typename Start>
CPU_INLINE void begin_tile(const struct product &p, uint32_t column, const Start &start, float (&sum)[4][4]) {
  const struct lane lane = this_lane();
  CUDA_UNROLL
  for (uint32_t j = 0; j < 4; j++)
    CUDA_UNROLL
  for (uint32_t e = 0; e < 4; e++) {
    const uint32_t c = column + 8 * j + 2 * lane.t + e % 2;
    sum[j][e] = c < p.n ? start.one(c) : 0;
  }
}

/* all values of k, which in a stage are a multiple of TILE_DEPTH, */
template <enum product_form FORM, bool STAGED>
CPU_INLINE void add_tiles(const struct product &p, uint32_t row, uint32_t column, float (&sum)[4][4]) {
  const struct lane lane = this_lane();
  uint32_t k = 0;
  meet_warp();
  for (; k + TILE_DEPTH <= p.k; k += TILE_DEPTH)
    add_tile<FORM, true>(p, lane, row, column, k + 4 * lane.t, sum);
  if (!STAGED && k < p.k)
    add_tile<FORM, false>(p, lane, row, column, k + 4 * lane.t, sum);
}

/* and where they end. */
template <typename Store>
CPU_INLINE void store_tile(const struct product &p, uint32_t row, uint32_t column, const float (&sum)[4][4],
                           const Store &store) {
  const struct lane lane = this_lane();
  CUDA_UNROLL
  for (uint32_t j = 0; j < 4; j++)
    if (column + 8 * j + 2 * lane.t < p.n)
      store.pairs(p, row + lane.g, column + 8 * j + 2 * lane.t, sum[j]);
}

/* As multiply() does it, but for the rounding of what is multiplied. */
template <enum product_form FORM, typename Start, typename Store>
CUDA_PHASE void multiply_by_warps(struct product p, Start start, Store store) {
  uint32_t row = 0, column = threadIdx.x / CUDA_WARP * TILE_COLUMNS;
  for (;; column += CUDA_WORKERS / CUDA_WARP * TILE_COLUMNS) {
    for (; column >= p.n; column -= whole(p.n, TILE_COLUMNS))
      row += TILE_ROWS;
    if (row >= p.m)
      return;
    float sum[4][4];
    begin_tile(p, column, start, sum);
    add_tiles<FORM, false>(p, row, column, sum);
    store_tile(p, row, column, sum, store);
  }
}

#endif
