/* elementwise_impl.h - copies, sums and the heads' arithmetic. */
#ifndef BACKEND_CPU_ELEMENTWISE_IMPL_H
#define BACKEND_CPU_ELEMENTWISE_IMPL_H

#include "kernels_impl.h"
#include "math_impl.h"
#include "lanes_impl.h"
#include "transpose_impl.h"

/* Round to numbers of 16 bits, here and, if wanted, there. */
static void narrow(size_t count, float *x, uint16_t *out) {
  CPU_FOR_LANES(i, count, {
    v_narrow_value(out, i, v_load_lanes(x + i, LANES), LANES);
    v_store_lanes(x + i, v_load_value(out, i, LANES, true), LANES);
  });
}

/* The columns of rows [first, rows), and zeros behind the last row. */
static void transpose_part(size_t first, size_t rows, size_t columns, const float *in, size_t ldi, float *out,
                           size_t ldo) {
  for (size_t c = 0; c < columns; c++) {
    for (size_t r = first; r < rows; r++)
      out[c * ldo + r] = in[r * ldi + c];
    for (size_t r = rows; r % 16 != 0; r++)
      out[c * ldo + r] = 0;
  }
}

/* In blocks, down their columns first: so whole rows of `out` are written. */
static void transpose(size_t rows, size_t columns, const float *in, size_t ldi, float *out, size_t ldo) {
  size_t down = 0, across = 0;
#if CPU_LANES > 4
  down = rows / CPU_LANES * CPU_LANES;
  across = columns / CPU_LANES * CPU_LANES;
  for (size_t c = 0; c < across; c += CPU_LANES)
    for (size_t r = 0; r < down; r += CPU_LANES)
      transpose_block(in + r * ldi + c, ldi, out + c * ldo + r, ldo);
#endif
  transpose_part(down, rows, across, in, ldi, out, ldo);
  transpose_part(0, rows, columns - across, in + across, ldi, out + across * ldo, ldo);
}

static void column_sums(size_t rows, size_t n, const float *in, size_t ld, float *out) {
  CPU_FOR_LANES(c, n, {
    vec sum[4] = {v_zero(), v_zero(), v_zero(), v_zero()};
    size_t r = 0;
    for (; r + 4 <= rows; r += 4)
      CPU_UNROLL for (size_t j = 0; j < 4; j++) sum[j] = sum[j] + v_load_lanes(in + (r + j) * ld + c, LANES);
    for (; r < rows; r++)
      sum[0] = sum[0] + v_load_lanes(in + r * ld + c, LANES);
    v_store_lanes(out + c, (sum[0] + sum[1]) + (sum[2] + sum[3]), LANES);
  });
}

/* Any number of floats. The last vector of a long row overlaps the one before. */
CPU_INLINE void copy_row(size_t count, const float *from, float *to) {
  if (count >= CPU_LANES) {
    for (size_t j = 0; j + CPU_LANES <= count; j += CPU_LANES)
      v_store(to + j, v_load(from + j));
    v_store(to + count - CPU_LANES, v_load(from + count - CPU_LANES));
    return;
  }
#define COPY_TWICE(n)                                                                                                  \
  if (count >= (n)) {                                                                                                  \
    float first[n], last[n];                                                                                           \
    memcpy(first, from, sizeof first);                                                                                 \
    memcpy(last, from + count - (n), sizeof last);                                                                     \
    memcpy(to, first, sizeof first);                                                                                   \
    memcpy(to + count - (n), last, sizeof last);                                                                       \
    return;                                                                                                            \
  }
#if CPU_LANES > 8
  COPY_TWICE(8)
#endif
  COPY_TWICE(4)
  COPY_TWICE(2)
  COPY_TWICE(1)
#undef COPY_TWICE
}

/* A row, and zeros behind it up to a multiple of CPU_LANES. */
CPU_INLINE void copy_row_padded(size_t count, const float *from, float *to, size_t padded) {
  size_t j = 0;
  for (; j + CPU_LANES <= count; j += CPU_LANES)
    v_store(to + j, v_load(from + j));
  for (; j < padded; j += CPU_LANES)
    v_store(to + j, j < count ? v_load_first(from + j, count - j) : v_zero());
}

static void gather(size_t count, size_t features, const float *in, const uint32_t *rows, float *out, size_t ldo) {
  enum { AHEAD = 16 };
  if (features == 1 && ldo == 1) {
    for (size_t i = 0; i < count; i++)
      out[i] = in[rows[i]];
    return;
  }
  for (size_t i = 0; i < count; i++, out += ldo) {
    const float *row = in + rows[i] * features;
    if (i + AHEAD < count) { /* a short row may lie in two lines */
      const float *next = in + rows[i + AHEAD] * features;
      __builtin_prefetch(next);
      __builtin_prefetch(next + features - 1);
    }
    if (ldo > features)
      copy_row_padded(features, row, out, ldo);
    else
      copy_row(features, row, out);
  }
}

static void add(size_t count, const float *x, float *y) {
  CPU_FOR_LANES(i, count, v_store_lanes(y + i, v_load_lanes(y + i, LANES) + v_load_lanes(x + i, LANES), LANES));
}

static void scale(size_t count, float factor, float *y) {
  CPU_FOR_LANES(i, count, v_store_lanes(y + i, v_load_lanes(y + i, LANES) * v_set(factor), LANES));
}

static void multiply(size_t count, const float *x, const float *by, float *y, bool accumulate) {
  CPU_FOR_LANES(i, count,
                v_store_lanes(y + i,
                              v_fma(v_load_lanes(x + i, LANES), v_load_lanes(by + i, LANES),
                                    accumulate ? v_load_lanes(y + i, LANES) : v_zero()),
                              LANES));
}

static void axpy(size_t count, float a, const float *x, float *y) {
  CPU_FOR_LANES(i, count,
                v_store_lanes(y + i, v_fma(v_set(a), v_load_lanes(x + i, LANES), v_load_lanes(y + i, LANES)), LANES));
}

static double sum_squares(size_t count, const float *x) {
  double total = 0;
  for (size_t i = 0; i < count;) {
    vec sum = v_zero();
    size_t end = i + 1024 < count ? i + 1024 : count;
    for (; i < end; i += CPU_LANES) {
      vec a = v_load(x + i);
      sum = v_fma(a, a, sum);
    }
    total += (double)v_sum(sum);
  }
  return total;
}

static void exponential(size_t count, const float *x, float *y) {
  for (size_t i = 0; i < count; i += CPU_LANES)
    v_store(y + i, v_exp(v_load(x + i)));
}

#endif
