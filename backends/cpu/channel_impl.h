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

/* Call body with the constant HALF: whether values lie in 16 bits. */
#define CPU_OF_STORAGE(half, ...)                                                                                      \
  do {                                                                                                                 \
    if (half) {                                                                                                        \
      enum { HALF = 1 };                                                                                               \
      __VA_ARGS__;                                                                                                     \
    } else {                                                                                                           \
      enum { HALF = 0 };                                                                                               \
      __VA_ARGS__;                                                                                                     \
    }                                                                                                                  \
  } while (0)

/* `vecs` vectors of each period, from channel c on, whose constants stay in registers. The last pixel of 8 channels may
   be half a period. */
CPU_INLINE void affine_channels(const size_t vecs, const bool half, const bool accumulate, const struct cpu_affine *a,
                                size_t c, size_t size, const void *x, float *y) {
  const vec least = a->relu ? v_zero() : v_set(-INFINITY);
  const size_t period = a->period;
  vec scale[4], shift[4];
  CPU_UNROLL for (size_t v = 0; v < vecs; v++) {
    scale[v] = v_load(a->scale + c + v * CPU_LANES);
    shift[v] = v_load(a->shift + c + v * CPU_LANES);
  }
#define AFFINE_AT(at, v, lanes)                                                                                        \
  do {                                                                                                                 \
    vec value = v_max(least, v_fma(v_load_value(x, at, lanes, half), scale[v], shift[v]));                             \
    if (accumulate)                                                                                                    \
      value = v_load_lanes(y + (at), lanes) + value;                                                                   \
    v_store_lanes(y + (at), value, lanes);                                                                             \
  } while (0)
  size_t at = c;
  for (; at + vecs * CPU_LANES <= size; at += period) {
    __builtin_prefetch((const char *)x + (at + CHANNEL_AHEAD) * (half ? 2 : 4), 0, 2);
    CPU_UNROLL for (size_t v = 0; v < vecs; v++) AFFINE_AT(at + v * CPU_LANES, v, CPU_LANES);
  }
  CPU_UNROLL for (size_t v = 0; v < vecs; v++) {
    const size_t here = at + v * CPU_LANES;
    if (here + CPU_LANES <= size)
      AFFINE_AT(here, v, CPU_LANES);
    else if (CPU_LANES == 16 && here < size)
      AFFINE_AT(here, v, 8);
  }
#undef AFFINE_AT
}

/* Up to four vectors at a time. */
CPU_INLINE void affine_by_channel(const bool half, const bool accumulate, const struct cpu_affine *a, size_t size,
                                  const void *x, float *y) {
  size_t c = 0;
  for (; c + 4 * CPU_LANES <= a->period; c += 4 * CPU_LANES)
    affine_channels(4, half, accumulate, a, c, size, x, y);
  for (; c + 2 * CPU_LANES <= a->period; c += 2 * CPU_LANES)
    affine_channels(2, half, accumulate, a, c, size, x, y);
  for (; c < a->period; c += CPU_LANES)
    affine_channels(1, half, accumulate, a, c, size, x, y);
}

CPU_INLINE void affine_plain(const bool half, bool relu, size_t size, const void *x, bool accumulate, float *y) {
  const vec least = relu ? v_zero() : v_set(-INFINITY);
  CPU_FOR_LANES(i, size, {
    __builtin_prefetch((const char *)x + (i + CHANNEL_AHEAD) * (half ? 2 : 4), 0, 2);
    vec value = v_max(least, v_load_value(x, i, LANES, half));
    if (accumulate)
      value = value + v_load_lanes(y + i, LANES);
    v_store_lanes(y + i, value, LANES);
  });
}

static void affine(const struct cpu_affine *a, size_t size, const void *x, bool accumulate, float *y) {
  if (!a->scale)
    CPU_OF_STORAGE(a->half, affine_plain(HALF, a->relu, size, x, accumulate, y));
  else if (accumulate)
    CPU_OF_STORAGE(a->half, affine_by_channel(HALF, true, a, size, x, y));
  else
    CPU_OF_STORAGE(a->half, affine_by_channel(HALF, false, a, size, x, y));
}

/* Two vectors of each pixel at a time, a whole line of the cache, where there are as many. */
CPU_INLINE void place_channels(const size_t vecs, const size_t lanes, const bool half, const struct cpu_affine *a,
                               size_t c, size_t pixels, const void *x, size_t ldx, float *y, size_t ldy) {
  const vec least = a->relu ? v_zero() : v_set(-INFINITY);
  const bool scaled = a->scale != NULL;
  vec scale[2], shift[2];
  CPU_UNROLL for (size_t v = 0; v < vecs; v++) {
    scale[v] = scaled ? v_load_lanes(a->scale + c + v * CPU_LANES, lanes) : v_set(1);
    shift[v] = scaled ? v_load_lanes(a->shift + c + v * CPU_LANES, lanes) : v_zero();
  }
  for (size_t p = 0; p < pixels; p++) {
    __builtin_prefetch((const char *)x + (p * ldx + c + CHANNEL_AHEAD) * (half ? 2 : 4), 0, 2);
    CPU_UNROLL for (size_t v = 0; v < vecs; v++) {
      vec value = v_load_value(x, p * ldx + c + v * CPU_LANES, lanes, half);
      if (scaled)
        value = v_fma(value, scale[v], shift[v]);
      v_store_lanes(y + p * ldy + c + v * CPU_LANES, v_max(least, value), lanes);
    }
  }
}

CPU_INLINE void place_width(const bool half, const struct cpu_affine *a, size_t pixels, size_t width, const void *x,
                            size_t ldx, float *y, size_t ldy) {
  size_t c = 0;
  for (; c + 2 * CPU_LANES <= width; c += 2 * CPU_LANES)
    place_channels(2, CPU_LANES, half, a, c, pixels, x, ldx, y, ldy);
  for (; c + CPU_LANES <= width; c += CPU_LANES)
    place_channels(1, CPU_LANES, half, a, c, pixels, x, ldx, y, ldy);
  if (CPU_LANES > 8 && c < width)
    place_channels(1, 8, half, a, c, pixels, x, ldx, y, ldy);
}

static void place(const struct cpu_affine *a, size_t pixels, size_t width, const void *x, size_t ldx, float *y,
                  size_t ldy) {
  CPU_OF_STORAGE(a->half, place_width(HALF, a, pixels, width, x, ldx, y, ldy));
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

/* The first `count` of some values. */
CPU_INLINE vec v_load_first_values(const void *values, size_t at, size_t count, const bool half) {
  if (!half)
    return v_load_first((const float *)values + at, count);
  float some[CPU_LANES] = {0};
  for (size_t i = 0; i < count; i++)
    some[i] = half_to_float(((const uint16_t *)values)[at + i]);
  return v_load(some);
}

/* Sums of g and of g (x - mean), in the same way. */
CPU_INLINE void norm_moments_of(const bool half, const struct cpu_norm *n, size_t size, const float *g, const void *x,
                                float *sums, float *products) {
  const size_t period = n->period;
  const float *mean = n->mean;
  CPU_FOR_LANES(c, period, {
    vec sum[2] = {v_zero(), v_zero()}, product[2] = {v_zero(), v_zero()}, middle = v_load_lanes(mean + c, LANES);
    size_t at = c;
    for (; at + period + LANES <= size; at += 2 * period)
      CPU_UNROLL for (size_t i = 0; i < 2; i++) {
        const size_t here = at + i * period;
        __builtin_prefetch(g + here + CHANNEL_AHEAD, 0, 2);
        __builtin_prefetch((const char *)x + (here + CHANNEL_AHEAD) * (half ? 2 : 4), 0, 2);
        vec one = v_load_lanes(g + here, LANES);
        sum[i] = sum[i] + one;
        product[i] = v_fma(one, v_load_value(x, here, LANES, half) - middle, product[i]);
      }
    for (; at < size; at += period) {
      const size_t left = channel_lanes(size, at, LANES);
      vec one = v_load_first(g + at, left);
      sum[0] = sum[0] + one;
      product[0] = v_fma(one, v_load_first_values(x, at, left, half) - middle, product[0]);
    }
    v_store_lanes(sums + c, sum[0] + sum[1], LANES);
    v_store_lanes(products + c, product[0] + product[1], LANES);
  });
}

static void norm_moments(const struct cpu_norm *n, size_t size, const float *g, const void *x, float *sums,
                         float *products) {
  CPU_OF_STORAGE(n->half, norm_moments_of(HALF, n, size, g, x, sums, products));
}

CPU_INLINE vec norm_slope(const struct cpu_norm *n, const float *g, const void *x, size_t at, size_t c,
                          const size_t lanes, const bool half) {
  vec apart = v_load_value(x, at, lanes, half) - v_load(n->mean + c);
  return v_fma(v_load_lanes(g + at, lanes), v_load(n->gain + c),
               v_fma(apart, v_load(n->tilt + c), v_load(n->offset + c)));
}

CPU_INLINE void norm_gradient_of(const bool half, const struct cpu_norm *n, size_t size, const float *g, const void *x,
                                 bool accumulate, float *to) {
  if (accumulate)
    CPU_FOR_PERIODS(
        size, n->period,
        v_store_lanes(to + at, v_load_lanes(to + at, LANES) + norm_slope(n, g, x, at, c, LANES, half), LANES));
  else
    CPU_FOR_PERIODS(size, n->period, {
      __builtin_prefetch(g + at + CHANNEL_AHEAD / 4, 0, 3);
      __builtin_prefetch((const char *)x + (at + CHANNEL_AHEAD / 4) * (half ? 2 : 4), 0, 3);
      v_store_lanes(to + at, norm_slope(n, g, x, at, c, LANES, half), LANES);
    });
}

/* Where a period is two vectors, its constants stay in registers. */
CPU_INLINE void norm_gradient_two(const bool half, const struct cpu_norm *n, size_t size, const float *g, const void *x,
                                  float *to) {
  vec mean[2], gain[2], tilt[2], offset[2];
  CPU_UNROLL for (size_t v = 0; v < 2; v++) {
    mean[v] = v_load(n->mean + v * CPU_LANES);
    gain[v] = v_load(n->gain + v * CPU_LANES);
    tilt[v] = v_load(n->tilt + v * CPU_LANES);
    offset[v] = v_load(n->offset + v * CPU_LANES);
  }
  for (size_t at = 0; at < size; at += 2 * CPU_LANES) {
    __builtin_prefetch(g + at + CHANNEL_AHEAD / 4, 0, 3);
    __builtin_prefetch((const char *)x + (at + CHANNEL_AHEAD / 4) * (half ? 2 : 4), 0, 3);
    CPU_UNROLL for (size_t v = 0; v < 2; v++) {
      const size_t here = at + v * CPU_LANES;
      vec apart = v_load_value(x, here, CPU_LANES, half) - mean[v];
      v_store(to + here, v_fma(v_load(g + here), gain[v], v_fma(apart, tilt[v], offset[v])));
    }
  }
}

static void norm_gradient(const struct cpu_norm *n, size_t size, const float *g, const void *x, bool accumulate,
                          float *to) {
  if (!accumulate && n->period == 2 * CPU_LANES && size % (2 * CPU_LANES) == 0)
    CPU_OF_STORAGE(n->half, norm_gradient_two(HALF, n, size, g, x, to));
  else
    CPU_OF_STORAGE(n->half, norm_gradient_of(HALF, n, size, g, x, accumulate, to));
}

#endif
