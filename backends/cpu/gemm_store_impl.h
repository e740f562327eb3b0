/* gemm_store_impl.h - what the tiles of all products share: how far A goes on without a jump, and how finished sums are
   stored, with masks, adding to what is in C, and ReLU. */
#ifndef BACKEND_CPU_GEMM_STORE_IMPL_H
#define BACKEND_CPU_GEMM_STORE_IMPL_H

#include "kernels_impl.h"
#include "lanes_impl.h"

/* Terms up to A's next jump; `left` are left. */
CPU_INLINE size_t gemm_run(const struct cpu_gemm *g, size_t left) {
  return g->run > 0 && g->run < left ? g->run : left;
}

/* Store the sums of rows x vecs of C from (row, column) on. */
CPU_INLINE void gemm_store(const int rows, const int vecs, const size_t lanes, const struct cpu_gemm *g, size_t row,
                           size_t column, vec sum[12][8]) {
  const size_t ldc = g->ldc, ldm = g->ldm;
  const float *mask = g->mask ? g->mask + row * ldm + column : NULL;
  float *c = g->c + row * ldc + column;
  const bool relu = g->relu, mask_all = mask && !g->mask_sum;
#define GEMM_EACH(...)                                                                                                 \
  CPU_UNROLL for (size_t r = 0; r < (size_t)rows; r++) {                                                               \
    CPU_UNROLL for (size_t v = 0; v < (size_t)vecs; v++) { __VA_ARGS__; }                                              \
  }
#define GEMM_MASKED v_masked(v_greater(v_load_lanes(mask + r * ldm + v * CPU_LANES, lanes), v_zero()), sum[r][v])
  if (mask && !mask_all)
    GEMM_EACH(sum[r][v] = GEMM_MASKED)
  if (g->accumulate)
    GEMM_EACH(sum[r][v] = sum[r][v] + v_load_lanes(c + r * ldc + v * CPU_LANES, lanes))
  if (relu)
    GEMM_EACH(sum[r][v] = v_max(v_zero(), sum[r][v]))
  if (mask_all)
    GEMM_EACH(sum[r][v] = GEMM_MASKED)
  GEMM_EACH(v_store_lanes(c + r * ldc + v * CPU_LANES, sum[r][v], lanes))
}

#endif
