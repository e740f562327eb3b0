/* thin_product.cuh - products of few rows with weights that lie in the device's memory: each weight is read once, in
   vectors of four, and many are under way at a time. A number is summed up in some parts, and then these, in an order
   that follows from the sizes alone. */
#ifndef BACKEND_CUDA_THIN_PRODUCT_CUH
#define BACKEND_CUDA_THIN_PRODUCT_CUH

#include "product.cuh"

/* More columns have no room for their sums. */
enum { THIN_ROWS = 4, THIN_COLUMNS = CUDA_STAGE_PARTS * CUDA_STAGE_FLOATS / THIN_ROWS / 4 * 4 };

/* The parts that k is split into: each thread of the largest block has four columns of one, and at least 16 values. */
CPU_INLINE uint32_t thin_parts(uint32_t quads, uint32_t k) {
  const uint32_t most = quads < CUDA_MOST_WORKERS ? CUDA_MOST_WORKERS / quads : 1, wanted = (k + 15) / 16;
  return wanted < most ? wanted : most;
}

/* Four columns, and the values of k from `begin` to `end`, in their order. */
template <int ROWS>
CPU_INLINE void add_thin(const struct product &p, uint32_t column, uint32_t begin, uint32_t end,
                         float (&sum)[ROWS][4]) {
  constexpr uint32_t AT_ONCE = ROWS == 1 ? 16 : 8;
  for (uint32_t k = begin; k < end; k += AT_ONCE) {
    float weights[AT_ONCE][4];
    CUDA_UNROLL
    for (uint32_t d = 0; d < AT_ONCE; d++)
      take_four(p.b + (k + d < end ? k + d : end - 1) * p.ldb + column, weights[d]);
    CUDA_UNROLL
    for (uint32_t r = 0; r < ROWS; r++) {
      const float *x = p.a + (r < p.m ? r : p.m - 1) * p.lda + k;
      CUDA_UNROLL
      for (uint32_t d = 0; d < AT_ONCE; d++)
        if (k + d < end) {
          const float by = x[d];
          CUDA_UNROLL
          for (uint32_t c = 0; c < 4; c++)
            sum[r][c] = CUDA_FMA(by, weights[d][c], sum[r][c]);
        }
    }
  }
}

/* B as [k][ldb]. The parts of a sum meet in shared memory, from float number `stage` on. */
template <int ROWS, typename Start, typename Store>
CUDA_PHASE void multiply_thin_plain(struct product p, uint32_t stage, Start start, Store store) {
  CUDA_SHARED(shared);
  float *partial = (float *)shared + stage; /* [parts][ROWS][quads * 4] */
  const uint32_t quads = (p.n + 3) / 4, parts = thin_parts(quads, p.k), depth = (p.k + parts - 1) / parts;
  each_cell(parts, quads, [&](uint32_t part, uint32_t quad) {
    const uint32_t begin = part * depth, end = begin + depth < p.k ? begin + depth : p.k;
    float sum[ROWS][4] = {};
    add_thin<ROWS>(p, quad * 4, begin, end, sum);
    CUDA_UNROLL
    for (uint32_t r = 0; r < ROWS; r++)
      put_four(partial + ((part * ROWS + r) * quads + quad) * 4,
               make_float4(sum[r][0], sum[r][1], sum[r][2], sum[r][3]));
  });
  meet();
  each_cell(p.m, p.n, [&](uint32_t row, uint32_t column) {
    float sum = start.one(column);
    for (uint32_t part = 0; part < parts; part++)
      sum += partial[(part * ROWS + row) * quads * 4 + column];
    store.one(row, column, sum);
  });
}

/* The first LEFT numbers of this lane, of which it gives one half to another lane and takes that one's other half; so
   that at last each lane has the sum of one of them over all lanes, in numbers[0]. Which one is the answer. */
template <int LEFT, int APART = CUDA_WARP / 2, int COUNT> CPU_INLINE uint32_t sum_lanes(float (&numbers)[COUNT]) {
  constexpr int HALF = LEFT / 2;
  const bool upper = HALF > 0 && (threadIdx.x & APART) != 0;
  CUDA_UNROLL
  for (int i = 0; i < HALF; i++) {
    const float given = upper ? numbers[i] : numbers[i + HALF], kept = upper ? numbers[i + HALF] : numbers[i];
    numbers[i] = kept + __shfl_xor_sync(0xffffffffu, given, APART);
  }
  if constexpr (HALF == 0)
    numbers[0] += __shfl_xor_sync(0xffffffffu, numbers[0], APART);
  uint32_t number = upper ? HALF : 0;
  if constexpr (APART > 1)
    number += sum_lanes<(HALF > 0 ? HALF : 1), APART / 2>(numbers);
  return number;
}

/* B as [n][ldb]: a warp takes some rows of it at once. A lane sums every 128th four numbers of k, and then the lanes
   are summed up, in an order of its own. */
template <int ROWS, typename Store> CUDA_PHASE void multiply_thin_rows(struct product p, Store store) {
  constexpr uint32_t COLUMNS = ROWS == 1 ? 8 : 4, EVERY = CUDA_WARP / (ROWS * COLUMNS);
  const uint32_t lane = threadIdx.x % CUDA_WARP;
  for (uint32_t first = threadIdx.x / CUDA_WARP * COLUMNS; first < p.n; first += CUDA_WORKERS / CUDA_WARP * COLUMNS) {
    float sum[ROWS * COLUMNS] = {};
    for (uint32_t k = lane * 4; k < p.k; k += CUDA_WARP * 4) {
      float4 weights[COLUMNS];
      CUDA_UNROLL
      for (uint32_t c = 0; c < COLUMNS; c++)
        weights[c] = four(p.b + (first + c < p.n ? first + c : p.n - 1) * p.ldb + k);
      CUDA_UNROLL
      for (uint32_t r = 0; r < ROWS; r++) {
        float4 x = four(p.a + (r < p.m ? r : p.m - 1) * p.lda + k); /* beyond p.k lies padding */
        x.y = k + 1 < p.k ? x.y : 0;
        x.z = k + 2 < p.k ? x.z : 0;
        x.w = k + 3 < p.k ? x.w : 0;
        CUDA_UNROLL
        for (uint32_t c = 0; c < COLUMNS; c++) {
          float &to = sum[r * COLUMNS + c];
          to = CUDA_FMA(x.w, weights[c].w,
                        CUDA_FMA(x.z, weights[c].z, CUDA_FMA(x.y, weights[c].y, CUDA_FMA(x.x, weights[c].x, to))));
        }
      }
    }
    const uint32_t number = sum_lanes<ROWS * COLUMNS>(sum), row = number / COLUMNS, column = first + number % COLUMNS;
    if (lane % EVERY == 0 && row < p.m && column < p.n)
      store.one(row, column, sum[0]);
  }
}

#endif
