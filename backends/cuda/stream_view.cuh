/* stream_view.cuh - what the kernels of the stream engine rest on: passes over arrays, views, sums in an order that does
   not depend on the grid; and those that move images or change single numbers. */
#ifndef BACKEND_CUDA_STREAM_VIEW_CUH
#define BACKEND_CUDA_STREAM_VIEW_CUH

#include "elements.cuh"
#include "stream_impl.h"

/* Call f(i) for i < count, by all threads of a grid together. */
template <typename F> CPU_INLINE void for_all(uint32_t count, F f) {
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    f(i);
}

/* A launch with a thread for each of `count` numbers, up to the largest grid. */
static uint32_t blocks_for(const struct stream_place *place, uint32_t count) {
  const uint32_t wanted = (count + place->threads - 1) / place->threads;
  return wanted < 1 ? 1 : wanted < place->blocks ? wanted : place->blocks;
}
#define STREAM_LAUNCH(kernel, place, count, ...)                                                                       \
  CUDA_LAUNCH(kernel, blocks_for(place, count), (place)->threads, 0, (place)->stream, __VA_ARGS__)

/* --- numbers --- */

/* To the nearest number of 7 bits of mantissa, ties to an even one. */
CPU_INLINE uint16_t narrowed(float x) {
#if defined(__CUDACC__)
  uint16_t narrow;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(narrow) : "f"(x));
  return narrow;
#else
  const uint32_t bits = (uint32_t)__float_as_int(x);
  return (uint16_t)(isnan(x) ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
#endif
}

CPU_INLINE float widened(uint16_t narrow) { return __int_as_float((int32_t)((uint32_t)narrow << 16)); }

CPU_INLINE float get(const struct stream_array &a, uint32_t i) {
  return a.narrow ? widened(((const uint16_t *)a.at)[i]) : ((const float *)a.at)[i];
}

CPU_INLINE void set(const struct stream_array &a, uint32_t i, float x) {
  if (a.narrow)
    ((uint16_t *)a.at)[i] = narrowed(x);
  else
    ((float *)a.at)[i] = x;
}

/* Set a number, or add to it. */
CPU_INLINE void give(const struct stream_array &a, uint32_t i, float x, bool accumulate) {
  set(a, i, accumulate ? get(a, i) + x : x);
}

/* What an array would make of a number. */
CPU_INLINE float as_in(const struct stream_array &a, float x) { return a.narrow ? widened(narrowed(x)) : x; }

/* Number i of an array, in channel c. */
CPU_INLINE float look(const struct stream_view &view, uint32_t i, uint32_t c) {
  float x = get(view.value, i);
  if (view.scale)
    x = CUDA_FMA(x, view.scale[c], view.shift[c]);
  return view.relu && !(x > 0) ? (x <= 0 ? 0 : x) : x;
}

/* The sum of term(i) for i < count by one block, as so many partial sums and a fixed tree; shared[CUDA_PARTIAL_SUMS]. */
template <typename F> CPU_INLINE double tree_sum(double *shared, uint32_t count, F term) {
  for (uint32_t p = threadIdx.x; p < CUDA_PARTIAL_SUMS; p += blockDim.x) {
    double sum = 0;
    for (uint32_t i = p; i < count; i += CUDA_PARTIAL_SUMS)
      sum += term(i);
    shared[p] = sum;
  }
  __syncthreads();
  for (uint32_t apart = CUDA_PARTIAL_SUMS / 2; apart > 0; apart /= 2) {
    for (uint32_t p = threadIdx.x; p < apart; p += blockDim.x)
      shared[p] += shared[p + apart];
    __syncthreads();
  }
  const double sum = shared[0];
  __syncthreads();
  return sum;
}
#define TREE_BYTES (CUDA_PARTIAL_SUMS * sizeof(double))

/* --- images moved --- */

static __global__ void copy_image(struct stream_copy w) {
  const struct stream_geometry &g = w.geometry;
  const uint32_t channels = w.part ? g.channels : g.moved_ld;
  for_all(g.rows * g.moved_height * g.moved_width * channels, [&](uint32_t i) {
    const uint32_t c = i % channels, p = i / channels, x = p % g.moved_width, q = p / g.moved_width;
    const int32_t from_y = (int32_t)(q % g.moved_height) * g.step - g.top, from_x = (int32_t)x * g.step - g.left;
    const bool inside =
        c < g.channels && from_y >= 0 && (uint32_t)from_y < g.height && from_x >= 0 && (uint32_t)from_x < g.width;
    const uint32_t at = ((q / g.moved_height * g.height + (uint32_t)from_y) * g.width + (uint32_t)from_x) * g.ld + c;
    set(w.to, p * g.moved_ld + c, inside ? look(w.from, at, c) : 0);
  });
}

static __global__ void push_image(struct stream_push w) {
  const struct stream_geometry &g = w.geometry;
  for_all(g.rows * g.height * g.width * g.ld, [&](uint32_t i) {
    const uint32_t c = i % g.ld, p = i / g.ld, x = p % g.width, q = p / g.width;
    const int32_t down = (int32_t)(q % g.height) + g.top, across = (int32_t)x + g.left;
    const uint32_t y = (uint32_t)(down / g.step), z = (uint32_t)(across / g.step);
    const bool inside = c < g.channels && down >= 0 && across >= 0 && down % g.step == 0 && across % g.step == 0 &&
                        y < g.moved_height && z < g.moved_width;
    float sum = 0;
    if (inside && (!w.mask.value.at || look(w.mask, i, c) > 0))
      sum = w.factor * get(w.from, ((q / g.height * g.moved_height + y) * g.moved_width + z) * g.moved_ld + c);
    give(w.to, i, sum, w.accumulate);
  });
}

static __global__ void sum_terms(struct stream_sum w) {
  for_all(w.cells * w.ld, [&](uint32_t i) {
    float sum = 0;
    for (uint32_t t = 0; t < w.count; t++)
      sum += look(w.terms[t], i, i % w.ld);
    give(w.to, i, sum * w.factor, w.accumulate);
  });
}

static __global__ void flatten_image(struct stream_flatten w) {
  for_all(w.rows * w.to_ld, [&](uint32_t i) {
    const uint32_t f = i % w.to_ld, c = f % w.width, p = f / w.width;
    set(w.to, i, p < w.pixels ? look(w.from, (i / w.to_ld * w.pixels + p) * w.ld + c, c) : 0);
  });
}

static __global__ void unflatten_image(struct stream_flatten w) {
  for_all(w.rows * w.pixels * w.ld, [&](uint32_t i) {
    const uint32_t c = i % w.ld, p = i / w.ld;
    const float g = c < w.width ? get(w.to, p / w.pixels * w.to_ld + p % w.pixels * w.width + c) : 0;
    give(w.gradient, i, g, w.accumulate);
  });
}

static __global__ void convert_numbers(struct stream_convert w) {
  for_all(w.count, [&](uint32_t i) { set(w.to, i, get(w.from, i)); });
}

void backend_cuda_stream_convert(const struct stream_place *place, const struct stream_convert *what) {
  const struct stream_convert w = *what;
  STREAM_LAUNCH(convert_numbers, place, w.count, w);
}

void backend_cuda_stream_copy(const struct stream_place *place, const struct stream_copy *what) {
  const struct stream_copy w = *what;
  const struct stream_geometry &g = w.geometry;
  STREAM_LAUNCH(copy_image, place, g.rows * g.moved_height * g.moved_width * g.moved_ld, w);
}

void backend_cuda_stream_push(const struct stream_place *place, const struct stream_push *what) {
  const struct stream_push w = *what;
  const struct stream_geometry &g = w.geometry;
  STREAM_LAUNCH(push_image, place, g.rows * g.height * g.width * g.ld, w);
}

void backend_cuda_stream_sum(const struct stream_place *place, const struct stream_sum *what) {
  const struct stream_sum w = *what;
  STREAM_LAUNCH(sum_terms, place, w.cells * w.ld, w);
}

void backend_cuda_stream_flatten(const struct stream_place *place, const struct stream_flatten *what, bool backward) {
  const struct stream_flatten w = *what;
  if (backward)
    STREAM_LAUNCH(unflatten_image, place, w.rows * w.pixels * w.ld, w);
  else
    STREAM_LAUNCH(flatten_image, place, w.rows * w.to_ld, w);
}

/* --- single numbers --- */

static __global__ void finish_numbers(struct stream_finish w) {
  for_all(w.cells * w.ld, [&](uint32_t i) {
    const uint32_t c = i % w.ld;
    float x = get(w.value, i) + (w.bias && c < w.width ? w.bias[c] : 0), slope = 0;
    if (w.activation != TUTTI_ACTIVATION_LINEAR)
      x = activate(w.activation, x, &slope);
    if (w.slope.at)
      set(w.slope, i, slope);
    set(w.value, i, c < w.width ? x : 0);
  });
}

static __global__ void derive_numbers(struct stream_derive w) {
  for_all(w.cells * w.ld, [&](uint32_t i) {
    const float slope = w.slope.at ? get(w.slope, i) : 0;
    set(w.gradient, i, i % w.ld < w.width ? derive(w.activation, get(w.value, i), slope, get(w.gradient, i)) : 0);
  });
}

static __global__ void concatenated_relu(struct stream_crelu w) {
  for_all(w.cells * w.ld, [&](uint32_t i) {
    const uint32_t c = i % w.ld, half = c < w.width ? c : c - w.width;
    const float x = c < 2 * w.width ? look(w.from, i / w.ld * w.from_ld + half, half) : 0;
    set(w.to, i, c < w.width ? (x > 0 ? x : 0) : x < 0 ? -x : 0);
  });
}

static __global__ void derive_concatenated(struct stream_crelu w) {
  for_all(w.cells * w.from_ld, [&](uint32_t i) {
    const uint32_t c = i % w.from_ld;
    float sum = 0;
    if (c < w.width) {
      const float x = look(w.from, i, c);
      const uint32_t at = i / w.from_ld * w.ld + c;
      sum = x > 0 ? get(w.to, at) : x < 0 ? -get(w.to, at + w.width) : 0;
    }
    give(w.gradient, i, sum, w.accumulate);
  });
}

/* Entry number i of a mask (backends/cpu/drop.c): sixteen draws give 64 entries, word by word. */
CPU_INLINE float mask_entry(const struct stream_drop &w, double rate, uint32_t i) {
  uint32_t words[4];
  philox_words(w.key, w.state->steps, w.layer, i / 64 * 16 + i % 16, words);
  return words[i % 64 / 16] < (uint32_t)(rate * 4294967296.0) ? 0 : (float)(1 / (1 - rate));
}

static __global__ void drop_numbers(struct stream_drop w) {
  const double rate = w.state ? w.rate * (w.scheduled ? w.state->progress : 1) : 0;
  const uint32_t size = w.pixels * w.ld;
  for_all(w.rows * size, [&](uint32_t i) {
    const uint32_t c = i % w.ld, row = i / size;
    const uint32_t entry = w.grain == STREAM_NUMBERS ? i
                           : w.grain == STREAM_PATHS ? row
                                                     : row * ((w.width + 15) / 16 * 16) + c;
    float x = c < w.width ? look(w.from, i, c) : 0;
    if (rate > 0 && c < w.width)
      x *= mask_entry(w, rate, entry);
    give(w.to, i, x, w.accumulate);
  });
}

void backend_cuda_stream_finish(const struct stream_place *place, const struct stream_finish *what) {
  const struct stream_finish w = *what;
  STREAM_LAUNCH(finish_numbers, place, w.cells * w.ld, w);
}

void backend_cuda_stream_derive(const struct stream_place *place, const struct stream_derive *what) {
  const struct stream_derive w = *what;
  STREAM_LAUNCH(derive_numbers, place, w.cells * w.ld, w);
}

void backend_cuda_stream_crelu(const struct stream_place *place, const struct stream_crelu *what, bool backward) {
  const struct stream_crelu w = *what;
  if (backward)
    STREAM_LAUNCH(derive_concatenated, place, w.cells * w.from_ld, w);
  else
    STREAM_LAUNCH(concatenated_relu, place, w.cells * w.ld, w);
}

void backend_cuda_stream_drop(const struct stream_place *place, const struct stream_drop *what) {
  const struct stream_drop w = *what;
  STREAM_LAUNCH(drop_numbers, place, w.rows * w.pixels * w.ld, w);
}

#endif
