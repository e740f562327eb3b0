/* product.cuh - products of small matrices by one block. A thread computes tiles of up to 4 x 4 numbers from where the
   matrices lie, each number by one sum in the order of k: so its bits depend neither on the tile nor on the threads. */
#ifndef BACKEND_CUDA_PRODUCT_CUH
#define BACKEND_CUDA_PRODUCT_CUH

#include "device.cuh"

/* How A [m][k] and B [k][n] lie: as they are, or one of them transposed. Leading dimensions are multiples of 4. */
enum product_form {
  PRODUCT_PLAIN,      /* A as [m][lda], B as [k][ldb] */
  PRODUCT_OF_COLUMNS, /* A as [k][lda] */
  PRODUCT_OF_ROWS     /* B as [n][ldb] */
};

struct product {
  uint32_t m, n, k, lda, ldb;
  const float *a, *b;
};

CPU_INLINE float4 four(const float *p) { return *reinterpret_cast<const float4 *>(p); }

/* sum[r][0 .. 3] += a[r] times the four numbers of b. */
template <int ROWS> CPU_INLINE void add_outer(const float (&a)[ROWS], float4 b, float (&sum)[ROWS][4]) {
  CUDA_UNROLL
  for (int r = 0; r < ROWS; r++) {
    sum[r][0] = CUDA_FMA(a[r], b.x, sum[r][0]);
    sum[r][1] = CUDA_FMA(a[r], b.y, sum[r][1]);
    sum[r][2] = CUDA_FMA(a[r], b.z, sum[r][2]);
    sum[r][3] = CUDA_FMA(a[r], b.w, sum[r][3]);
  }
}

/* The tile at (row, column), for 4 values of k from `k` on, or for one. Rows and columns beyond the matrices read
   numbers of the last ones, or padding, which end up in sums that nobody stores. */
template <enum product_form FORM, int ROWS, int DEPTH>
CPU_INLINE void add_products(const struct product &p, uint32_t row, uint32_t column, uint32_t k,
                             float (&sum)[ROWS][4]) {
  float a[DEPTH][ROWS], b[DEPTH][4];
  CUDA_UNROLL
  for (int r = 0; r < ROWS; r++) {
    const float *from = p.a + (row + r < p.m ? row + r : p.m - 1) * p.lda + k;
    if (FORM != PRODUCT_OF_COLUMNS && DEPTH == 4) {
      float4 x = four(from);
      a[0][r] = x.x, a[DEPTH > 1][r] = x.y, a[DEPTH / 2][r] = x.z, a[DEPTH - 1][r] = x.w;
    } else if (FORM != PRODUCT_OF_COLUMNS) {
      a[0][r] = *from;
    }
  }
  CUDA_UNROLL
  for (int d = 0; d < DEPTH; d++) {
    if (FORM == PRODUCT_OF_COLUMNS) {
      const float *from = p.a + (k + d) * p.lda + row;
      if (ROWS == 4) {
        float4 x = four(from);
        a[d][0] = x.x, a[d][ROWS > 1] = x.y, a[d][ROWS / 2] = x.z, a[d][ROWS - 1] = x.w;
      } else {
        CUDA_UNROLL
        for (int r = 0; r < ROWS; r++)
          a[d][r] = from[r];
      }
    }
    if (FORM != PRODUCT_OF_ROWS) {
      float4 x = four(p.b + (k + d) * p.ldb + column);
      b[d][0] = x.x, b[d][1] = x.y, b[d][2] = x.z, b[d][3] = x.w;
    }
  }
  CUDA_UNROLL
  for (int c = 0; c < 4 && FORM == PRODUCT_OF_ROWS; c++) {
    const float *from = p.b + (column + c < p.n ? column + c : p.n - 1) * p.ldb + k;
    if (DEPTH == 4) {
      float4 x = four(from);
      b[0][c] = x.x, b[DEPTH > 1][c] = x.y, b[DEPTH / 2][c] = x.z, b[DEPTH - 1][c] = x.w;
    } else {
      b[0][c] = *from;
    }
  }
  CUDA_UNROLL
  for (int d = 0; d < DEPTH; d++)
    add_outer<ROWS>(a[d], make_float4(b[d][0], b[d][1], b[d][2], b[d][3]), sum);
}

template <enum product_form FORM, int ROWS, typename Start, typename Store>
CPU_INLINE void multiply_tiles(const struct product &p, Start start, Store store) {
  const uint32_t across = (p.n + 3) / 4, tiles = (p.m + ROWS - 1) / ROWS * across;
  for (uint32_t t = threadIdx.x; t < tiles; t += CUDA_WORKERS) {
    const uint32_t row = t / across * ROWS, column = t % across * 4;
    float sum[ROWS][4];
    CUDA_UNROLL
    for (int c = 0; c < 4; c++)
      CUDA_UNROLL
    for (int r = 0; r < ROWS; r++)
      sum[r][c] = column + c < p.n ? start(column + c) : 0;
    uint32_t k = 0;
    for (; k + 4 <= p.k; k += 4)
      add_products<FORM, ROWS, 4>(p, row, column, k, sum);
    for (; k < p.k; k++)
      add_products<FORM, ROWS, 1>(p, row, column, k, sum);
    CUDA_UNROLL
    for (int r = 0; r < ROWS; r++)
      CUDA_UNROLL
    for (int c = 0; c < 4; c++)
      if (row + r < p.m && column + c < p.n)
        store(row + r, column + c, sum[r][c]);
  }
}

/* store(row, column, start(column) + sum over k). Large tiles load less, small ones keep more threads busy. */
template <enum product_form FORM, typename Start, typename Store>
CPU_INLINE void multiply(const struct product &p, Start start, Store store) {
  if ((p.m + 3) / 4 * ((p.n + 3) / 4) >= CUDA_WORKERS)
    multiply_tiles<FORM, 4>(p, start, store);
  else
    multiply_tiles<FORM, 1>(p, start, store);
}

#endif
