/* thin_product.cuh - products of few rows with weights that lie in the device's memory: each weight is read once, and
   many are under way at a time. */
#ifndef BACKEND_CUDA_THIN_PRODUCT_CUH
#define BACKEND_CUDA_THIN_PRODUCT_CUH

#include "product.cuh"

enum { THIN_ROWS = 4 };

/* The numbers of four values of k, of which there are `left`. */
template <int ROWS>
CPU_INLINE void add_thin(const struct product &p, const float *x, uint32_t left, float w0, float w1, float w2, float w3,
                         float (&sum)[ROWS]) {
  if (left == 0)
    return;
  CUDA_UNROLL
  for (uint32_t r = 0; r < ROWS; r++) {
    const float4 a = four(x + (r < p.m ? r : p.m - 1) * p.lda); /* whole vectors, padding among them */
    sum[r] = CUDA_FMA(a.x, w0, sum[r]);
    sum[r] = left > 1 ? CUDA_FMA(a.y, w1, sum[r]) : sum[r];
    sum[r] = left > 2 ? CUDA_FMA(a.z, w2, sum[r]) : sum[r];
    sum[r] = left > 3 ? CUDA_FMA(a.w, w3, sum[r]) : sum[r];
  }
}

/* B as [k][ldb]: a thread takes a column of it, and sums in the order of k. */
template <int ROWS, typename Start, typename Store>
CUDA_PHASE void multiply_thin_plain(const struct product &p, const Start &start, const Store &store) {
  constexpr uint32_t AT_ONCE = 32;
  each(p.n, [&](uint32_t column) {
    float sum[ROWS];
    CUDA_UNROLL
    for (uint32_t r = 0; r < ROWS; r++)
      sum[r] = start.one(column);
    for (uint32_t k = 0; k < p.k; k += AT_ONCE) {
      const uint32_t left = p.k - k;
      const float *from = p.b + k * p.ldb + column, *x = p.a + k;
      float weights[AT_ONCE];
      CUDA_UNROLL
      for (uint32_t d = 0; d < AT_ONCE; d++)
        weights[d] = from[(d < left ? d : left - 1) * p.ldb];
      CUDA_UNROLL
      for (uint32_t d = 0; d < AT_ONCE; d++)
        CUDA_KEEP(weights[d]);
      CUDA_UNROLL
      for (uint32_t d = 0; d < AT_ONCE; d += 4)
        add_thin<ROWS>(p, x + d, d < left ? left - d : 0, weights[d], weights[d + 1], weights[d + 2], weights[d + 3],
                       sum);
    }
    CUDA_UNROLL
    for (uint32_t r = 0; r < ROWS; r++)
      if (r < p.m)
        store.one(r, column, sum[r]);
  });
}

/* B as [n][ldb]: a warp takes four rows of it at once. A lane sums every 128th four numbers of k, and then the lanes
   are summed up, in an order of its own. */
template <int ROWS, typename Store> CUDA_PHASE void multiply_thin_rows(const struct product &p, const Store &store) {
  const uint32_t lane = threadIdx.x % CUDA_WARP;
  for (uint32_t first = threadIdx.x / CUDA_WARP * 4; first < p.n; first += CUDA_WORKERS / CUDA_WARP * 4) {
    float sum[ROWS][4] = {};
    for (uint32_t k = lane * 4; k < p.k; k += CUDA_WARP * 4) {
      float4 weights[4];
      CUDA_UNROLL
      for (uint32_t c = 0; c < 4; c++)
        weights[c] = four(p.b + (first + c < p.n ? first + c : p.n - 1) * p.ldb + k);
      CUDA_UNROLL
      for (uint32_t r = 0; r < ROWS; r++) {
        float4 x = four(p.a + (r < p.m ? r : p.m - 1) * p.lda + k); /* beyond p.k lies padding */
        x.y = k + 1 < p.k ? x.y : 0;
        x.z = k + 2 < p.k ? x.z : 0;
        x.w = k + 3 < p.k ? x.w : 0;
        CUDA_UNROLL
        for (uint32_t c = 0; c < 4; c++)
          sum[r][c] = CUDA_FMA(
              x.w, weights[c].w,
              CUDA_FMA(x.z, weights[c].z, CUDA_FMA(x.y, weights[c].y, CUDA_FMA(x.x, weights[c].x, sum[r][c]))));
      }
    }
    CUDA_UNROLL
    for (uint32_t r = 0; r < ROWS; r++) {
      CUDA_UNROLL
      for (uint32_t c = 0; c < 4; c++)
        for (int apart = CUDA_WARP / 2; apart > 0; apart /= 2)
          sum[r][c] += __shfl_xor_sync(0xffffffffu, sum[r][c], apart);
      CUDA_UNROLL
      for (uint32_t c = 0; c < 4; c++)
        if (lane == c && r < p.m && first + c < p.n)
          store.one(r, first + c, sum[r][c]);
    }
  }
}

#endif
