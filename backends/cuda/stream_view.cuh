/* stream_view.cuh - what the kernels of the stream engine rest on: passes over arrays, views, sums in an order that
   does not depend on the grid; and those that move images or change single numbers. */
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

/* To the nearest number of 8 binary digits, ties to an even one. */
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

/* Some numbers side by side, 1 or 4. Four begin at a multiple of four in an array that begins at one: nodes' arrays and
   what nodes share do, and their pixels have channels in fours; parts of them need not. */
template <uint32_t N> struct numbers { float at[N]; };
template <uint32_t N> struct alignas(2 * N) narrow_numbers { uint16_t at[N]; };
template <uint32_t N> struct alignas(4 * N) wide_numbers { float at[N]; };

template <uint32_t N> CPU_INLINE struct numbers<N> get_some(const struct stream_array &a, uint32_t i) {
  struct numbers<N> x;
  if (a.narrow) {
    const struct narrow_numbers<N> narrow = *(const struct narrow_numbers<N> *)((const uint16_t *)a.at + i);
    CUDA_UNROLL
    for (uint32_t e = 0; e < N; e++)
      x.at[e] = widened(narrow.at[e]);
  } else {
    const struct wide_numbers<N> wide = *(const struct wide_numbers<N> *)((const float *)a.at + i);
    CUDA_UNROLL
    for (uint32_t e = 0; e < N; e++)
      x.at[e] = wide.at[e];
  }
  return x;
}

template <uint32_t N>
CPU_INLINE void set_some(const struct stream_array &a, uint32_t i, const struct numbers<N> &x) {
  if (a.narrow) {
    struct narrow_numbers<N> narrow;
    CUDA_UNROLL
    for (uint32_t e = 0; e < N; e++)
      narrow.at[e] = narrowed(x.at[e]);
    *(struct narrow_numbers<N> *)((uint16_t *)a.at + i) = narrow;
  } else {
    struct wide_numbers<N> wide;
    CUDA_UNROLL
    for (uint32_t e = 0; e < N; e++)
      wide.at[e] = x.at[e];
    *(struct wide_numbers<N> *)((float *)a.at + i) = wide;
  }
}

template <uint32_t N>
CPU_INLINE void give_some(const struct stream_array &a, uint32_t i, struct numbers<N> x, bool accumulate) {
  if (accumulate) {
    const struct numbers<N> before = get_some<N>(a, i);
    CUDA_UNROLL
    for (uint32_t e = 0; e < N; e++)
      x.at[e] += before.at[e];
  }
  set_some<N>(a, i, x);
}

/* A view of N channels. */
template <uint32_t N> struct channels {
  const struct stream_view &view;
  bool affine;
  float scale[N], shift[N];

  CUDA_METHOD channels(const struct stream_view &view, uint32_t channel) : view(view), affine(view.scale) {
    CUDA_UNROLL
    for (uint32_t e = 0; e < N; e++) {
      scale[e] = affine ? view.scale[channel + e] : 1;
      shift[e] = affine ? view.shift[channel + e] : 0;
    }
  }
  CUDA_METHOD struct numbers<N> look(uint32_t i) const {
    struct numbers<N> x = get_some<N>(view.value, i);
    CUDA_UNROLL
    for (uint32_t e = 0; e < N; e++) {
      if (affine)
        x.at[e] = CUDA_FMA(x.at[e], scale[e], shift[e]);
      if (view.relu && !(x.at[e] > 0))
        x.at[e] = x.at[e] <= 0 ? 0 : x.at[e];
    }
    return x;
  }
};

static bool is_whole(const struct stream_array &a) { return (uintptr_t)a.at % (a.narrow ? 8 : 16) == 0; }

/* May an image move by four channels at once? */
static bool moves_in_fours(const struct stream_geometry &g, const struct stream_array &from,
                           const struct stream_array &to) {
  return (g.channels | g.ld | g.moved_ld) % 4 == 0 && is_whole(from) && is_whole(to);
}

/* The sum of term(i) for i < count by one block, as so many partial sums and a fixed tree;
   shared[CUDA_PARTIAL_SUMS]. */
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

template <uint32_t N> static __global__ void copy_image(struct stream_copy w) {
  const struct stream_geometry &g = w.geometry;
  const uint32_t groups = (w.part ? g.channels : g.moved_ld) / N;
  for_all(g.rows * g.moved_height * g.moved_width * groups, [&](uint32_t i) {
    const uint32_t c = i % groups * N, p = i / groups, x = p % g.moved_width, q = p / g.moved_width;
    const int32_t from_y = (int32_t)(q % g.moved_height) * g.step - g.top, from_x = (int32_t)x * g.step - g.left;
    const bool inside =
        c < g.channels && from_y >= 0 && (uint32_t)from_y < g.height && from_x >= 0 && (uint32_t)from_x < g.width;
    const uint32_t at = ((q / g.moved_height * g.height + (uint32_t)from_y) * g.width + (uint32_t)from_x) * g.ld + c;
    struct numbers<N> moved = {};
    if (inside)
      moved = channels<N>(w.from, c).look(at);
    set_some<N>(w.to, p * g.moved_ld + c, moved);
  });
}

template <uint32_t N> static __global__ void push_image(struct stream_push w) {
  const struct stream_geometry &g = w.geometry;
  const uint32_t groups = g.ld / N;
  for_all(g.rows * g.height * g.width * groups, [&](uint32_t i) {
    const uint32_t c = i % groups * N, p = i / groups, x = p % g.width, q = p / g.width;
    const int32_t down = (int32_t)(q % g.height) + g.top, across = (int32_t)x + g.left;
    const uint32_t y = (uint32_t)(down / g.step), z = (uint32_t)(across / g.step);
    const bool inside = c < g.channels && down >= 0 && across >= 0 && down % g.step == 0 && across % g.step == 0 &&
                        y < g.moved_height && z < g.moved_width;
    struct numbers<N> sum = {};
    if (inside) {
      sum = get_some<N>(w.from, ((q / g.height * g.moved_height + y) * g.moved_width + z) * g.moved_ld + c);
      struct numbers<N> mask = {};
      if (w.mask.value.at)
        mask = channels<N>(w.mask, c).look(i * N);
      CUDA_UNROLL
      for (uint32_t e = 0; e < N; e++)
        sum.at[e] = !w.mask.value.at || mask.at[e] > 0 ? w.factor * sum.at[e] : 0;
    }
    give_some<N>(w.to, i * N, sum, w.accumulate);
  });
}

static __global__ void sum_terms(struct stream_sum w) {
  for_all(w.cells * w.ld / 4, [&](uint32_t i) {
    struct numbers<4> sum = {};
    for (uint32_t t = 0; t < w.count; t++) {
      const struct numbers<4> term = channels<4>(w.terms[t], 4 * i % w.ld).look(4 * i);
      CUDA_UNROLL
      for (uint32_t e = 0; e < 4; e++)
        sum.at[e] += term.at[e];
    }
    CUDA_UNROLL
    for (uint32_t e = 0; e < 4; e++)
      sum.at[e] *= w.factor;
    give_some<4>(w.to, 4 * i, sum, w.accumulate);
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
  const uint32_t count = g.rows * g.moved_height * g.moved_width * g.moved_ld;
  if (moves_in_fours(g, w.from.value, w.to))
    STREAM_LAUNCH(copy_image<4>, place, count / 4, w);
  else
    STREAM_LAUNCH(copy_image<1>, place, count, w);
}

void backend_cuda_stream_push(const struct stream_place *place, const struct stream_push *what) {
  const struct stream_push w = *what;
  const struct stream_geometry &g = w.geometry;
  const uint32_t count = g.rows * g.height * g.width * g.ld;
  if (moves_in_fours(g, w.from, w.to))
    STREAM_LAUNCH(push_image<4>, place, count / 4, w);
  else
    STREAM_LAUNCH(push_image<1>, place, count, w);
}

void backend_cuda_stream_sum(const struct stream_place *place, const struct stream_sum *what) {
  const struct stream_sum w = *what;
  STREAM_LAUNCH(sum_terms, place, w.cells * w.ld / 4, w);
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
