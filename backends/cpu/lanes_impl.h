/* lanes_impl.h - floats in whole vectors, where the last 8 of a row or pixel may be half a vector of 16; and
   prefetching. */
#ifndef BACKEND_CPU_LANES_IMPL_H
#define BACKEND_CPU_LANES_IMPL_H

#include "kernels_impl.h"
#include "vector_impl.h"

/* All lanes, or the first 8 of 16. `lanes` is a constant where this is inlined. */
CPU_INLINE vec v_load_lanes(const float *p, const size_t lanes) {
  return lanes >= CPU_LANES ? v_load(p) : v_load_half(p);
}
CPU_INLINE void v_store_lanes(float *p, vec x, const size_t lanes) {
  if (lanes >= CPU_LANES)
    v_store(p, x);
  else
    v_store_half(p, x);
}

/* Number `at` of values that lie in floats or, if `half`, in 16 bits. Both are constants where this is inlined. */
CPU_INLINE vec v_load_value(const void *values, size_t at, const size_t lanes, const bool half) {
  if (!half)
    return v_load_lanes((const float *)values + at, lanes);
  const uint16_t *p = (const uint16_t *)values + at;
#if CPU_LANES == 16
  if (lanes < CPU_LANES)
    return v_widen_half(p);
#endif
  return v_widen(p);
}

/* Round to 16 bits: number `at` of such values. */
CPU_INLINE void v_narrow_value(uint16_t *values, size_t at, vec value, const size_t lanes) {
#if CPU_LANES == 16
  if (lanes < CPU_LANES) {
    v_narrow_half(values + at, value);
    return;
  }
#endif
  v_narrow(values + at, value);
}

/* Call body(at, lanes) for `count` floats, a multiple of 8, in order. */
#define CPU_FOR_LANES(at, count, ...)                                                                                  \
  do {                                                                                                                 \
    size_t at = 0;                                                                                                     \
    for (; at + CPU_LANES <= (count); at += CPU_LANES) {                                                               \
      enum { LANES = CPU_LANES };                                                                                      \
      __VA_ARGS__;                                                                                                     \
    }                                                                                                                  \
    if (CPU_LANES > 8 && at < (count)) {                                                                               \
      enum { LANES = 8 };                                                                                              \
      __VA_ARGS__;                                                                                                     \
    }                                                                                                                  \
  } while (0)

CPU_INLINE void fetch_ahead(struct cpu_ahead *ahead) {
  if (!ahead)
    return;
  ahead->calls++;
  if (ahead->count == 0)
    return;
  const char *at = ahead->streams[ahead->count - 1].at;
  size_t *left = &ahead->streams[ahead->count - 1].lines, lines = *left < ahead->lines ? *left : ahead->lines;
  for (size_t i = 0; i < lines; i++)
    __builtin_prefetch(at + 64 * i, 0, 2);
  ahead->streams[ahead->count - 1].at = at + 64 * lines;
  *left -= lines;
  if (*left == 0)
    ahead->count--;
}

#endif
