/* channel_impl.h - arithmetic that differs by channel: batch norm, masks of whole channels, sums over pixels. Pixels
   lie one after another, [count][ld]. Values per channel are stored for one period of floats, which is a multiple of
   the vector's lanes: ld, or two pixels if ld is an odd multiple of 8. */
#ifndef BACKEND_CPU_CHANNEL_IMPL_H
#define BACKEND_CPU_CHANNEL_IMPL_H

#include "kernels_impl.h"
#include "lanes_impl.h"

#include <math.h>

/* Call body for `size` floats, a multiple of 8; `at` is the position among the floats and `c` the position within the
   period. */
#define CPU_FOR_PERIODS(size, period, ...)                                                                             \
  do {                                                                                                                 \
    size_t base = 0;                                                                                                   \
    for (; base + (period) <= (size); base += (period))                                                                \
      CPU_FOR_LANES(c, (period), {                                                                                     \
        const size_t at = base + c;                                                                                    \
        __VA_ARGS__;                                                                                                   \
      });                                                                                                              \
    if (base < (size))                                                                                                 \
      CPU_FOR_LANES(c, (size)-base, {                                                                                  \
        const size_t at = base + c;                                                                                    \
        __VA_ARGS__;                                                                                                   \
      });                                                                                                              \
  } while (0)

/* Sums and products by channel wait for memory, so they prefetch this many floats ahead. This reaches into other pages,
   where the processor's own prefetcher would stop. */
enum { CHANNEL_AHEAD = 1024 };

/* `periods` vectors that lie `period` floats apart and have the same channels. */
CPU_INLINE void affine_channels(const size_t lanes, const struct cpu_affine *a, size_t c, size_t size, const float *x,
                                bool accumulate, float *y) {
  const vec least = a->relu ? v_zero() : v_set(-INFINITY), scale = v_load(a->scale + c), shift = v_load(a->shift + c);
  const size_t period = a->period;
  size_t at = c;
  if (accumulate)
    for (; at + lanes <= size; at += period) {
      __builtin_prefetch(x + at + CHANNEL_AHEAD, 0, 2);
      v_store(y + at, v_load(y + at) + v_max(least, v_fma(v_load(x + at), scale, shift)));
    }
  else
    for (; at + lanes <= size; at += period) {
      __builtin_prefetch(x + at + CHANNEL_AHEAD, 0, 2);
      v_store(y + at, v_max(least, v_fma(v_load(x + at), scale, shift)));
    }
  if (at < size) { /* only the last pixel of 8 channels */
    vec value = v_max(least, v_fma(v_load_half(x + at), scale, shift));
    if (accumulate)
      value = value + v_load_half(y + at);
    v_store_half(y + at, value);
  }
}

static void affine(const struct cpu_affine *a, size_t size, const float *x, bool accumulate, float *y) {
  const vec least = a->relu ? v_zero() : v_set(-INFINITY);
  if (!a->scale)
    CPU_FOR_LANES(i, size, {
      __builtin_prefetch(x + i + CHANNEL_AHEAD, 0, 2);
      vec value = v_max(least, v_load_lanes(x + i, LANES));
      if (accumulate)
        value = value + v_load_lanes(y + i, LANES);
      v_store_lanes(y + i, value, LANES);
    });
  else if (a->period <= 2 * CPU_LANES && CPU_LANES == 16)
    for (size_t c = 0; c < a->period; c += CPU_LANES)
      affine_channels(CPU_LANES, a, c, size, x, accumulate, y);
  else
    CPU_FOR_PERIODS(size, a->period, {
      __builtin_prefetch(x + at + CHANNEL_AHEAD, 0, 2);
      vec value = v_fma(v_load_lanes(x + at, LANES), v_load(a->scale + c), v_load(a->shift + c));
      value = v_max(least, value);
      if (accumulate)
        value = value + v_load_lanes(y + at, LANES);
      v_store_lanes(y + at, value, LANES);
    });
}

static void place(const struct cpu_affine *a, size_t pixels, size_t width, const float *x, size_t ldx, float *y,
                  size_t ldy) {
  const vec least = a->relu ? v_zero() : v_set(-INFINITY);
  CPU_FOR_LANES(c, width, {
    const vec scale = a->scale ? v_load_lanes(a->scale + c, LANES) : v_set(1);
    const vec shift = a->scale ? v_load_lanes(a->shift + c, LANES) : v_zero();
    for (size_t p = 0; p < pixels; p++) {
      __builtin_prefetch(x + p * ldx + c + CHANNEL_AHEAD, 0, 2);
      vec value = v_load_lanes(x + p * ldx + c, LANES);
      if (a->scale)
        value = v_fma(value, scale, shift);
      v_store_lanes(y + p * ldy + c, v_max(least, value), LANES);
    }
  });
}

/* The number of lanes for a vector of sums that begins at `at`: all lanes, or the rest if the floats end within a
   period. */
CPU_INLINE size_t channel_lanes(size_t size, size_t at, const size_t lanes) {
  return at + lanes <= size ? lanes : size - at;
}

/* Sums of x - shift and of its square by position in the period. One vector of channels at a time, so that the sums
   stay in registers, and two pixels at once. */
static void moments(size_t size, size_t period, const float *x, const float *shift, float *sums, float *squares) {
  CPU_FOR_LANES(c, period, {
    vec sum[2] = {v_zero(), v_zero()}, square[2] = {v_zero(), v_zero()}, middle = v_load_lanes(shift + c, LANES);
    size_t at = c;
    for (; at + period + LANES <= size; at += 2 * period)
      CPU_UNROLL for (size_t i = 0; i < 2; i++) {
        vec apart = v_load_lanes(x + at + i * period, LANES) - middle;
        sum[i] = sum[i] + apart;
        square[i] = v_fma(apart, apart, square[i]);
      }
    for (; at < size; at += period) {
      const size_t left = channel_lanes(size, at, LANES);
      vec apart = v_load_first(x + at, left) - v_load_first(shift + c, left);
      sum[0] = sum[0] + apart;
      square[0] = v_fma(apart, apart, square[0]);
    }
    v_store_lanes(sums + c, sum[0] + sum[1], LANES);
    v_store_lanes(squares + c, square[0] + square[1], LANES);
  });
}

/* Sums of g and of g (x - mean), in the same way. */
static void norm_moments(size_t size, size_t period, const float *g, const float *x, const float *mean, float *sums,
                         float *products) {
  CPU_FOR_LANES(c, period, {
    vec sum[2] = {v_zero(), v_zero()}, product[2] = {v_zero(), v_zero()}, middle = v_load_lanes(mean + c, LANES);
    size_t at = c;
    for (; at + period + LANES <= size; at += 2 * period)
      CPU_UNROLL for (size_t i = 0; i < 2; i++) {
        __builtin_prefetch(g + at + i * period + CHANNEL_AHEAD, 0, 2);
        __builtin_prefetch(x + at + i * period + CHANNEL_AHEAD, 0, 2);
        vec one = v_load_lanes(g + at + i * period, LANES);
        sum[i] = sum[i] + one;
        product[i] = v_fma(one, v_load_lanes(x + at + i * period, LANES) - middle, product[i]);
      }
    for (; at < size; at += period) {
      const size_t left = channel_lanes(size, at, LANES);
      vec one = v_load_first(g + at, left);
      sum[0] = sum[0] + one;
      product[0] = v_fma(one, v_load_first(x + at, left) - middle, product[0]);
    }
    v_store_lanes(sums + c, sum[0] + sum[1], LANES);
    v_store_lanes(products + c, product[0] + product[1], LANES);
  });
}

CPU_INLINE vec norm_slope(const struct cpu_norm *n, const float *g, const float *x, size_t c, const size_t lanes) {
  vec apart = v_load_lanes(x, lanes) - v_load(n->mean + c);
  return v_fma(v_load_lanes(g, lanes), v_load(n->gain + c), v_fma(apart, v_load(n->tilt + c), v_load(n->offset + c)));
}

static void norm_gradient(const struct cpu_norm *n, size_t size, const float *g, const float *x, bool accumulate,
                          float *to) {
  if (accumulate)
    CPU_FOR_PERIODS(
        size, n->period,
        v_store_lanes(to + at, v_load_lanes(to + at, LANES) + norm_slope(n, g + at, x + at, c, LANES), LANES));
  else
    CPU_FOR_PERIODS(size, n->period, {
      __builtin_prefetch(g + at + CHANNEL_AHEAD / 4, 0, 3);
      __builtin_prefetch(x + at + CHANNEL_AHEAD / 4, 0, 3);
      v_store_lanes(to + at, norm_slope(n, g + at, x + at, c, LANES), LANES);
    });
}

#endif
