/* product.cuh - products of small matrices by one block. A thread computes tiles of up to 4 x 4 numbers, each by one
   sum in the order of k: so its bits depend neither on the tile nor on the threads. From where the matrices lie, if
   that is shared memory; else by way of it (staged_product.cuh), or, for few rows, each weight read once
   (thin_product.cuh). Each kind of product is a phase of its own, with registers of its own. */
#ifndef BACKEND_CUDA_PRODUCT_CUH
#define BACKEND_CUDA_PRODUCT_CUH

#include "device.cuh"

/* How A [m][k] and B [k][n] lie: as they are, or one of them transposed. Leading dimensions are multiples of 4. */
enum product_form {
  PRODUCT_PLAIN,      /* A as [m][lda], B as [k][ldb] */
  PRODUCT_OF_COLUMNS, /* A as [k][lda] */
  PRODUCT_OF_ROWS     /* B as [n][ldb] */
};

/* A thread's numbers of a product [m][n]: rows from `row` on, and four columns, `step` apart. */
struct spot {
  uint32_t row, column, step, m, n;
};

/* What a product ends in has these functions: one(row, column, sum); tile(spot, sums) of a thread's numbers; and
   pairs(product, row, column, sums) of two side by side and the two PAIR_APART rows below, as tensor cores give
   them. */
enum { PAIR_APART = 8 };

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

/* The tile at (row, column), its columns STEP apart, for 4 values of k from `k` on, or for one. Rows and columns beyond
   the matrices read numbers of the last ones, or (STAGED) what lies there, which end up in sums that nobody stores. */
template <enum product_form FORM, int ROWS, int DEPTH, int STEP, bool STAGED>
CPU_INLINE void add_products(const struct product &p, uint32_t row, uint32_t column, uint32_t k,
                             float (&sum)[ROWS][4]) {
  float a[DEPTH][ROWS], b[DEPTH][4];
  CUDA_UNROLL
  for (int r = 0; r < ROWS; r++) {
    const float *from = p.a + (STAGED || row + r < p.m ? row + r : p.m - 1) * p.lda + k;
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
    const float *from = p.b + (STAGED || column + c * STEP < p.n ? column + c * STEP : p.n - 1) * p.ldb + k;
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

/* All values of k, which in a stage are a multiple of four. */
template <enum product_form FORM, int ROWS, int STEP, bool STAGED>
CPU_INLINE void add_all(const struct product &p, uint32_t row, uint32_t column, float (&sum)[ROWS][4]) {
  uint32_t k = 0;
  CUDA_UNROLL_BY((STAGED ? 2 : 1))
  for (; k + 4 <= p.k; k += 4)
    add_products<FORM, ROWS, 4, STEP, STAGED>(p, row, column, k, sum);
  CUDA_UNROLL_BY(1)
  for (; k < p.k && !STAGED; k++)
    add_products<FORM, ROWS, 1, STEP, STAGED>(p, row, column, k, sum);
}

/* What sums begin with: 0, or a number of each column. */
struct from_zero {
  CUDA_METHOD float one(uint32_t) const { return 0; }
  CUDA_METHOD float4 quad(uint32_t) const { return make_float4(0, 0, 0, 0); }
};
struct from_bias {
  const float *bias; /* or NULL */

  CUDA_METHOD float one(uint32_t column) const { return bias ? bias[column] : 0; }
  CUDA_METHOD float4 quad(uint32_t column) const { return bias ? four(bias + column) : make_float4(0, 0, 0, 0); }
};

/* Beyond the matrix nothing begins. */
template <int ROWS, typename Start>
CPU_INLINE void begin_sums(const struct spot &at, const Start &start, float (&sum)[ROWS][4]) {
  float4 x = make_float4(0, 0, 0, 0);
  if (at.column < at.n)
    x = start.quad(at.column);
  CUDA_UNROLL
  for (int r = 0; r < ROWS; r++)
    sum[r][0] = x.x, sum[r][1] = x.y, sum[r][2] = x.z, sum[r][3] = x.w;
}

template <enum product_form FORM, int ROWS, typename Start, typename Store>
CUDA_PHASE void multiply_tiles(struct product p, Start start, Store store) {
  const uint32_t across = (p.n + 3) / 4, tiles = (p.m + ROWS - 1) / ROWS * across;
  for (uint32_t t = threadIdx.x; t < tiles; t += CUDA_WORKERS) {
    const struct spot at = {t / across * ROWS, t % across * 4, 1, p.m, p.n};
    float sum[ROWS][4];
    begin_sums(at, start, sum);
    add_all<FORM, ROWS, 1, false>(p, at.row, at.column, sum);
    store.tile(at, sum);
  }
}

/* What `start` gives a column + the sum over k, from where the matrices lie. Large tiles load less, small ones keep
   more threads busy. */
template <enum product_form FORM, typename Start, typename Store>
CPU_INLINE void multiply(const struct product &p, const Start &start, const Store &store) {
  if ((p.m + 3) / 4 * ((p.n + 3) / 4) >= CUDA_WORKERS)
    multiply_tiles<FORM, 4>(p, start, store);
  else
    multiply_tiles<FORM, 1>(p, start, store);
}

#endif
