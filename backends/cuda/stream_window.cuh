/* stream_window.cuh - what moves a window over an image: convolutions in groups (depthwise ones are groups of one
   channel), pools; and the weights of the other convolutions as cuDNN wants them. Each number is one sum of one thread, by taps:
   so its bits do not depend on the grid. */
#ifndef BACKEND_CUDA_STREAM_WINDOW_CUH
#define BACKEND_CUDA_STREAM_WINDOW_CUH

#include "stream_view.cuh"

/* A pixel of a batch of images. */
struct pixel {
  uint32_t row, y, x;
};

CPU_INLINE struct pixel pixel_of(uint32_t number, uint32_t height, uint32_t width) {
  return {number / width / height, number / width % height, number % width};
}

/* Call f(tap, number of the input pixel) for all pixels of the image under a window. */
template <typename F> CPU_INLINE void under(const struct stream_window &w, struct pixel out, F f) {
  for (uint32_t ky = 0; ky < w.kernel_height; ky++) {
    const int32_t y = (int32_t)(out.y * w.stride + ky * w.dilation) - w.top;
    if (y < 0 || (uint32_t)y >= w.in_height)
      continue;
    for (uint32_t kx = 0; kx < w.kernel_width; kx++) {
      const int32_t x = (int32_t)(out.x * w.stride + kx * w.dilation) - w.left;
      if (x >= 0 && (uint32_t)x < w.in_width)
        f(ky * w.kernel_width + kx, (out.row * w.in_height + (uint32_t)y) * w.in_width + (uint32_t)x);
    }
  }
}

/* Call f(tap, number of the output pixel) for all windows that an input pixel lies under. */
template <typename F> CPU_INLINE void over(const struct stream_window &w, struct pixel in, F f) {
  for (uint32_t ky = 0; ky < w.kernel_height; ky++) {
    const int32_t y = (int32_t)in.y + w.top - (int32_t)(ky * w.dilation);
    if (y < 0 || (uint32_t)y % w.stride != 0 || (uint32_t)y / w.stride >= w.out_height)
      continue;
    for (uint32_t kx = 0; kx < w.kernel_width; kx++) {
      const int32_t x = (int32_t)in.x + w.left - (int32_t)(kx * w.dilation);
      if (x >= 0 && (uint32_t)x % w.stride == 0 && (uint32_t)x / w.stride < w.out_width)
        f(ky * w.kernel_width + kx,
          (in.row * w.out_height + (uint32_t)y / w.stride) * w.out_width + (uint32_t)x / w.stride);
    }
  }
}

/* --- convolutions in groups --- */

static __global__ void grouped_forward(struct stream_grouped g) {
  const struct stream_window &w = g.window;
  for_all(w.rows * w.out_height * w.out_width * w.out_ld, [&](uint32_t i) {
    const uint32_t u = i % w.out_ld, first = u / w.out_group * w.in_group;
    float sum = 0;
    if (u < w.units)
      under(w, pixel_of(i / w.out_ld, w.out_height, w.out_width), [&](uint32_t tap, uint32_t p) {
        for (uint32_t c = 0; c < w.in_group; c++)
          sum = CUDA_FMA(look(g.in, p * w.in_ld + first + c, first + c), g.weights[(tap * w.in_group + c) * w.ldw + u],
                         sum);
      });
    set(g.out, i, sum);
  });
}

static __global__ void grouped_inputs(struct stream_grouped g) {
  const struct stream_window &w = g.window;
  const uint32_t channels = w.units / w.out_group * w.in_group;
  for_all(w.rows * w.in_height * w.in_width * w.in_ld, [&](uint32_t i) {
    const uint32_t c = i % w.in_ld, first = c / w.in_group * w.out_group;
    float sum = 0;
    if (c < channels && (!g.in.relu || look(g.in, i, c) > 0))
      over(w, pixel_of(i / w.in_ld, w.in_height, w.in_width), [&](uint32_t tap, uint32_t p) {
        for (uint32_t u = first; u < first + w.out_group; u++)
          sum = CUDA_FMA(get(g.gradient, p * w.out_ld + u), g.weights[(tap * w.in_group + c % w.in_group) * w.ldw + u],
                         sum);
      });
    give(g.to, i, sum, g.accumulate);
  });
}

/* A thread sums one weight's gradient over the output pixels of a chunk. */
static __global__ void grouped_weights(struct stream_grouped g) {
  const struct stream_window &w = g.window;
  const uint32_t taps = w.kernel_height * w.kernel_width, cells = w.rows * w.out_height * w.out_width;
  for_all(g.chunks * taps * w.in_group * w.units, [&](uint32_t i) {
    const uint32_t u = i % w.units, k = i / w.units % (taps * w.in_group), chunk = i / w.units / (taps * w.in_group);
    const uint32_t tap = k / w.in_group, c = u / w.out_group * w.in_group + k % w.in_group;
    const int32_t down = (int32_t)(tap / w.kernel_width * w.dilation) - w.top;
    const int32_t across = (int32_t)(tap % w.kernel_width * w.dilation) - w.left;
    const uint32_t begin = chunk * g.chunk, end = cells - begin < g.chunk ? cells : begin + g.chunk;
    struct pixel out = pixel_of(begin, w.out_height, w.out_width);
    double sum = 0;
    for (uint32_t p = begin; p < end; p++) {
      const int32_t y = (int32_t)(out.y * w.stride) + down, x = (int32_t)(out.x * w.stride) + across;
      if (y >= 0 && (uint32_t)y < w.in_height && x >= 0 && (uint32_t)x < w.in_width) {
        const uint32_t at = ((out.row * w.in_height + (uint32_t)y) * w.in_width + (uint32_t)x) * w.in_ld + c;
        sum += (double)get(g.gradient, p * w.out_ld + u) * (double)look(g.in, at, c);
      }
      if (++out.x == w.out_width) {
        out.x = 0;
        if (++out.y == w.out_height) {
          out.y = 0;
          out.row++;
        }
      }
    }
    g.partial[i] = sum;
  });
}

void backend_cuda_stream_grouped_forward(const struct stream_place *place, const struct stream_grouped *what) {
  const struct stream_grouped g = *what;
  const struct stream_window &w = g.window;
  STREAM_LAUNCH(grouped_forward, place, w.rows * w.out_height * w.out_width * w.out_ld, g);
}

void backend_cuda_stream_grouped_inputs(const struct stream_place *place, const struct stream_grouped *what) {
  const struct stream_grouped g = *what;
  const struct stream_window &w = g.window;
  STREAM_LAUNCH(grouped_inputs, place, w.rows * w.in_height * w.in_width * w.in_ld, g);
}

void backend_cuda_stream_grouped_weights(const struct stream_place *place, const struct stream_grouped *what) {
  const struct stream_grouped g = *what;
  const struct stream_window &w = g.window;
  STREAM_LAUNCH(grouped_weights, place, g.chunks * w.kernel_height * w.kernel_width * w.in_group * w.units, g);
}

/* --- pools --- */

static __global__ void max_pool_image(struct stream_pool g) {
  const struct stream_window &w = g.window;
  for_all(w.rows * w.out_height * w.out_width * w.out_ld, [&](uint32_t i) {
    const uint32_t c = i % w.out_ld;
    bool any = false;
    float most = 0;
    under(w, pixel_of(i / w.out_ld, w.out_height, w.out_width), [&](uint32_t, uint32_t p) {
      const float x = look(g.in, p * w.in_ld + c, c);
      most = !any || x > most ? x : most;
      any = true;
    });
    set(g.out, i, most);
  });
}

/* The gradient goes to the first of the largest values, as in backends/cpu/window_impl.h: of those that are largest in
   the output's precision. */
static __global__ void max_pool_gradients(struct stream_pool g) {
  const struct stream_window &w = g.window;
  for_all(w.rows * w.in_height * w.in_width * w.in_ld, [&](uint32_t i) {
    const uint32_t c = i % w.in_ld;
    float sum = 0;
    over(w, pixel_of(i / w.in_ld, w.in_height, w.in_width), [&](uint32_t, uint32_t p) {
      const float most = get(g.value, p * w.out_ld + c);
      uint32_t largest = UINT32_MAX;
      under(w, pixel_of(p, w.out_height, w.out_width), [&](uint32_t, uint32_t q) {
        if (largest == UINT32_MAX && !(most > as_in(g.value, look(g.in, q * w.in_ld + c, c))))
          largest = q;
      });
      if (largest == i / w.in_ld)
        sum += get(g.gradient, p * w.out_ld + c);
    });
    give(g.to, i, sum, g.accumulate);
  });
}

/* The number of pixels of the image under a window. */
CPU_INLINE float pixels_under(const struct stream_window &w, struct pixel out) {
  uint32_t count = 0;
  under(w, out, [&](uint32_t, uint32_t) { count++; });
  return (float)count;
}

static __global__ void average_pool_image(struct stream_pool g) {
  const struct stream_window &w = g.window;
  for_all(w.rows * w.out_height * w.out_width * w.out_ld, [&](uint32_t i) {
    const uint32_t c = i % w.out_ld;
    const struct pixel out = pixel_of(i / w.out_ld, w.out_height, w.out_width);
    float sum = 0;
    under(w, out, [&](uint32_t, uint32_t p) { sum += look(g.in, p * w.in_ld + c, c); });
    set(g.out, i, sum * (1 / pixels_under(w, out)));
  });
}

static __global__ void average_pool_gradients(struct stream_pool g) {
  const struct stream_window &w = g.window;
  for_all(w.rows * w.in_height * w.in_width * w.in_ld, [&](uint32_t i) {
    const uint32_t c = i % w.in_ld;
    float sum = 0;
    over(w, pixel_of(i / w.in_ld, w.in_height, w.in_width), [&](uint32_t, uint32_t p) {
      sum += get(g.gradient, p * w.out_ld + c) * (1 / pixels_under(w, pixel_of(p, w.out_height, w.out_width)));
    });
    give(g.to, i, sum, g.accumulate);
  });
}

static __global__ void global_means(struct stream_global g) {
  for_all(g.rows * g.width, [&](uint32_t i) {
    const uint32_t c = i % g.width, row = i / g.width;
    float sum = 0;
    for (uint32_t p = 0; p < g.pixels; p++)
      sum += look(g.in, (row * g.pixels + p) * g.ld + c, c);
    set(g.out, row * g.out_ld + c, sum * (1 / (float)g.pixels));
  });
}

static __global__ void global_gradients(struct stream_global g) {
  for_all(g.rows * g.pixels * g.ld, [&](uint32_t i) {
    const uint32_t c = i % g.ld, row = i / g.ld / g.pixels;
    const float sum = c < g.width ? get(g.gradient, row * g.out_ld + c) * (1 / (float)g.pixels) : 0;
    give(g.to, i, sum, g.accumulate);
  });
}

void backend_cuda_stream_max_pool(const struct stream_place *place, const struct stream_pool *what, bool backward) {
  const struct stream_pool g = *what;
  const struct stream_window &w = g.window;
  if (backward)
    STREAM_LAUNCH(max_pool_gradients, place, w.rows * w.in_height * w.in_width * w.in_ld, g);
  else
    STREAM_LAUNCH(max_pool_image, place, w.rows * w.out_height * w.out_width * w.out_ld, g);
}

void backend_cuda_stream_average_pool(const struct stream_place *place, const struct stream_pool *what, bool backward) {
  const struct stream_pool g = *what;
  const struct stream_window &w = g.window;
  if (backward)
    STREAM_LAUNCH(average_pool_gradients, place, w.rows * w.in_height * w.in_width * w.in_ld, g);
  else
    STREAM_LAUNCH(average_pool_image, place, w.rows * w.out_height * w.out_width * w.out_ld, g);
}

void backend_cuda_stream_global(const struct stream_place *place, const struct stream_global *what, bool backward) {
  const struct stream_global g = *what;
  if (backward)
    STREAM_LAUNCH(global_gradients, place, g.rows * g.pixels * g.ld, g);
  else
    STREAM_LAUNCH(global_means, place, g.rows * g.width, g);
}

/* --- filters --- */

static __global__ void turn_filter(struct stream_filter f) {
  if (!f.back)
    for_all(f.units_ld * f.taps * f.inputs_ld, [&](uint32_t i) {
      const uint32_t c = i % f.inputs_ld, tap = i / f.inputs_ld % f.taps, u = i / f.inputs_ld / f.taps;
      set(f.filter, i, c < f.inputs && u < f.units ? f.weights[(tap * f.inputs + c) * f.ldw + u] : 0);
    });
  else
    for_all(f.taps * f.inputs * f.ldw, [&](uint32_t i) {
      const uint32_t u = i % f.ldw, c = i / f.ldw % f.inputs, tap = i / f.ldw / f.inputs;
      f.weights[i] = u < f.units ? get(f.filter, (u * f.taps + tap) * f.inputs_ld + c) : 0;
    });
}

void backend_cuda_stream_filter(const struct stream_place *place, const struct stream_filter *what) {
  const struct stream_filter f = *what;
  STREAM_LAUNCH(turn_filter, place, f.units_ld * f.taps * f.inputs_ld, f);
}

#endif
