/* stream_window.cuh - what moves a window over an image: convolutions in groups (depthwise ones are groups of one
   channel), pools, patches; and the weights of the other convolutions as cuDNN wants them. Each number is one sum of
   one thread, by taps, or several such sums of chunks that follow from the sizes: so its bits do not depend on the
   grid. */
#ifndef BACKEND_CUDA_STREAM_WINDOW_CUH
#define BACKEND_CUDA_STREAM_WINDOW_CUH

#include "stream_norm.cuh"

/* A pixel of a batch of images. */
struct pixel {
  uint32_t row, y, x;
};

CPU_INLINE struct pixel pixel_of(uint32_t number, uint32_t height, uint32_t width) {
  return {number / width / height, number / width % height, number % width};
}

/* The step to the next one. */
CPU_INLINE void go_on(struct pixel *pixel, uint32_t height, uint32_t width) {
  if (++pixel->x < width)
    return;
  pixel->x = 0;
  if (++pixel->y < height)
    return;
  pixel->y = 0;
  pixel->row++;
}

/* For all taps of a window, of SIZE x SIZE pixels or (SIZE 0) of any size: f(tap, whether the input pixel is inside the
   image, its number), which of one that is not inside is another one's. So loads need not wait for the question. */
template <uint32_t SIZE, typename F> CPU_INLINE void all_under(const struct stream_window &w, struct pixel out, F f) {
  const uint32_t height = SIZE > 0 ? SIZE : w.kernel_height, width = SIZE > 0 ? SIZE : w.kernel_width;
  CUDA_UNROLL_BY((SIZE > 0 ? SIZE : 1))
  for (uint32_t ky = 0; ky < height; ky++) {
    const int32_t y = (int32_t)(out.y * w.stride + ky * w.dilation) - w.top;
    const bool down = y >= 0 && (uint32_t)y < w.in_height;
    const uint32_t line = (out.row * w.in_height + (down ? (uint32_t)y : 0)) * w.in_width;
    CUDA_UNROLL_BY((SIZE > 0 ? SIZE : 1))
    for (uint32_t kx = 0; kx < width; kx++) {
      const int32_t x = (int32_t)(out.x * w.stride + kx * w.dilation) - w.left;
      const bool across = x >= 0 && (uint32_t)x < w.in_width;
      f(ky * width + kx, down && across, line + (across ? (uint32_t)x : 0));
    }
  }
}

/* For all taps: the window that an input pixel lies under with that tap. */
template <uint32_t SIZE, typename F> CPU_INLINE void all_over(const struct stream_window &w, struct pixel in, F f) {
  const uint32_t height = SIZE > 0 ? SIZE : w.kernel_height, width = SIZE > 0 ? SIZE : w.kernel_width;
  CUDA_UNROLL_BY((SIZE > 0 ? SIZE : 1))
  for (uint32_t ky = 0; ky < height; ky++) {
    const uint32_t y = in.y + (uint32_t)w.top - ky * w.dilation, out_y = y / w.stride;
    const bool down = (int32_t)y >= 0 && out_y * w.stride == y && out_y < w.out_height;
    const uint32_t line = (in.row * w.out_height + (down ? out_y : 0)) * w.out_width;
    CUDA_UNROLL_BY((SIZE > 0 ? SIZE : 1))
    for (uint32_t kx = 0; kx < width; kx++) {
      const uint32_t x = in.x + (uint32_t)w.left - kx * w.dilation, out_x = x / w.stride;
      const bool across = (int32_t)x >= 0 && out_x * w.stride == x && out_x < w.out_width;
      f(ky * width + kx, down && across, line + (across ? out_x : 0));
    }
  }
}

/* A launch by the size of the window: of 3 x 3, 5 x 5, or any. */
#define WINDOW_LAUNCH(kernel, place, window, count, ...)                                                               \
  do {                                                                                                                 \
    if ((window).kernel_height == 3 && (window).kernel_width == 3)                                                     \
      STREAM_LAUNCH(kernel<3>, place, count, __VA_ARGS__);                                                             \
    else if ((window).kernel_height == 5 && (window).kernel_width == 5)                                                \
      STREAM_LAUNCH(kernel<5>, place, count, __VA_ARGS__);                                                             \
    else                                                                                                               \
      STREAM_LAUNCH(kernel<0>, place, count, __VA_ARGS__);                                                             \
  } while (0)

/* --- depthwise convolutions: groups of one channel; a thread has four --- */

/* Four outputs side by side in a line, of four channels each. */
enum { SIDE_BY_SIDE = 4 };
#define GROUPS_ACROSS(width) (((width) + SIDE_BY_SIDE - 1) / SIDE_BY_SIDE)

/* sums += x * by, of x that are inside. */
CPU_INLINE void add_inside(bool inside, const struct numbers<4> &x, float4 by, struct numbers<4> &sums) {
  sums.at[0] = CUDA_FMA(inside ? x.at[0] : 0, by.x, sums.at[0]);
  sums.at[1] = CUDA_FMA(inside ? x.at[1] : 0, by.y, sums.at[1]);
  sums.at[2] = CUDA_FMA(inside ? x.at[2] : 0, by.z, sums.at[2]);
  sums.at[3] = CUDA_FMA(inside ? x.at[3] : 0, by.w, sums.at[3]);
}

template <uint32_t SIZE> static __global__ void __launch_bounds__(256) depthwise_forward(struct stream_grouped g) {
  const struct stream_window &w = g.window;
  const uint32_t quads = w.out_ld / 4, across = GROUPS_ACROSS(w.out_width);
  const uint32_t height = SIZE > 0 ? SIZE : w.kernel_height, width = SIZE > 0 ? SIZE : w.kernel_width;
  for_all(w.rows * w.out_height * across * quads, [&](uint32_t i) {
    const uint32_t c = i % quads * 4, first = i / quads % across * SIDE_BY_SIDE, line = i / quads / across;
    const uint32_t out_y = line % w.out_height, row = line / w.out_height;
    const struct channels<4> in(g.in, c);
    struct numbers<4> sums[SIDE_BY_SIDE] = {};
    CUDA_UNROLL_BY(1)
    for (uint32_t ky = 0; ky < height; ky++) {
      const int32_t y = (int32_t)(out_y * w.stride + ky * w.dilation) - w.top;
      const bool down = y >= 0 && (uint32_t)y < w.in_height;
      const uint32_t from = (row * w.in_height + (down ? (uint32_t)y : 0)) * w.in_width;
      CUDA_UNROLL_BY((SIZE > 0 ? SIZE : 1))
      for (uint32_t kx = 0; kx < width; kx++) {
        const float4 by = four(g.weights + (ky * width + kx) * w.ldw + c);
        CUDA_UNROLL
        for (uint32_t o = 0; o < SIDE_BY_SIDE; o++) {
          const int32_t x = (int32_t)((first + o) * w.stride + kx * w.dilation) - w.left;
          const bool inside = down && x >= 0 && (uint32_t)x < w.in_width;
          add_inside(inside, in.look((from + (inside ? (uint32_t)x : 0)) * w.in_ld + c), by, sums[o]);
        }
      }
    }
    CUDA_UNROLL
    for (uint32_t o = 0; o < SIDE_BY_SIDE; o++)
      if (first + o < w.out_width)
        set_some<4>(g.out, (line * w.out_width + first + o) * w.out_ld + c, sums[o]);
  });
}

template <uint32_t SIZE> static __global__ void __launch_bounds__(256) depthwise_inputs(struct stream_grouped g) {
  const struct stream_window &w = g.window;
  const uint32_t quads = w.in_ld / 4, across = GROUPS_ACROSS(w.in_width);
  const uint32_t height = SIZE > 0 ? SIZE : w.kernel_height, width = SIZE > 0 ? SIZE : w.kernel_width;
  for_all(w.rows * w.in_height * across * quads, [&](uint32_t i) {
    const uint32_t c = i % quads * 4, first = i / quads % across * SIDE_BY_SIDE, line = i / quads / across;
    const uint32_t in_y = line % w.in_height, row = line / w.in_height;
    struct numbers<4> sums[SIDE_BY_SIDE] = {};
    CUDA_UNROLL_BY(1)
    for (uint32_t ky = 0; ky < height; ky++) {
      const uint32_t y = in_y + (uint32_t)w.top - ky * w.dilation, out_y = y / w.stride;
      const bool down = (int32_t)y >= 0 && out_y * w.stride == y && out_y < w.out_height;
      const uint32_t from = (row * w.out_height + (down ? out_y : 0)) * w.out_width;
      if (!down)
        continue;
      CUDA_UNROLL_BY((SIZE > 0 ? SIZE : 1))
      for (uint32_t kx = 0; kx < width; kx++) {
        const float4 by = four(g.weights + (ky * width + kx) * w.ldw + c);
        CUDA_UNROLL
        for (uint32_t o = 0; o < SIDE_BY_SIDE; o++) {
          const uint32_t x = first + o + (uint32_t)w.left - kx * w.dilation, out_x = x / w.stride;
          const bool inside = (int32_t)x >= 0 && out_x * w.stride == x && out_x < w.out_width;
          add_inside(inside, get_some<4>(g.gradient, (from + (inside ? out_x : 0)) * w.out_ld + c), by, sums[o]);
        }
      }
    }
    CUDA_UNROLL
    for (uint32_t o = 0; o < SIDE_BY_SIDE; o++) {
      const uint32_t at = (line * w.in_width + first + o) * w.in_ld + c;
      if (first + o >= w.in_width)
        continue;
      if (g.in.relu) {
        const struct numbers<4> in = channels<4>(g.in, c).look(at);
        CUDA_UNROLL
        for (uint32_t e = 0; e < 4; e++)
          sums[o].at[e] = in.at[e] > 0 ? sums[o].at[e] : 0;
      }
      give_some<4>(g.to, at, sums[o], g.accumulate);
    }
  });
}

/* A block sums a chunk of output pixels. A thread has four channels of some of its pixels and WIDTH taps side by side,
   all of a kernel's line or one, and sums in float32; their sums are added up in double precision. */
template <uint32_t WIDTH> static __global__ void __launch_bounds__(256) depthwise_weights(struct stream_grouped g) {
  CUDA_SHARED(shared);
  float *sums = (float *)shared; /* [lanes][items][WIDTH][4] */
  const struct stream_window &w = g.window;
  const uint32_t taps = w.kernel_height * w.kernel_width, quads = (w.units + 3) / 4, items = taps / WIDTH * quads;
  const uint32_t cells = w.rows * w.out_height * w.out_width, lanes = lanes_of(items);
  const auto keep = [&](uint32_t chunk, uint32_t item, uint32_t t, uint32_t e, double sum) {
    const uint32_t u = item % quads * 4 + e;
    if (u < w.units)
      g.partial[(chunk * taps + item / quads * WIDTH + t) * w.units + u] = sum;
  };
  for (uint32_t chunk = blockIdx.x; chunk < g.chunks; chunk += gridDim.x) {
    const uint32_t first = chunk * g.chunk, last = cells - first < g.chunk ? cells : first + g.chunk;
    const uint32_t each = (last - first + lanes - 1) / lanes;
    for (uint32_t i = threadIdx.x; i < lanes * items; i += blockDim.x) {
      const uint32_t item = i % items, tap = item / quads * WIDTH, c = item % quads * 4;
      const uint32_t begin = first + i / items * each, end = begin + each < last ? begin + each : last;
      const int32_t down = (int32_t)(tap / w.kernel_width * w.dilation) - w.top;
      const int32_t across = (int32_t)(tap % w.kernel_width * w.dilation) - w.left;
      const struct channels<4> in(g.in, c);
      struct pixel out = pixel_of(begin, w.out_height, w.out_width);
      struct numbers<4> sum[WIDTH] = {};
      CUDA_UNROLL_BY(2)
      for (uint32_t p = begin; p < end; p++) {
        const struct numbers<4> slope = get_some<4>(g.gradient, p * w.out_ld + c);
        const int32_t y = (int32_t)(out.y * w.stride) + down;
        const bool within = y >= 0 && (uint32_t)y < w.in_height;
        const uint32_t line = (out.row * w.in_height + (within ? (uint32_t)y : 0)) * w.in_width;
        CUDA_UNROLL
        for (uint32_t t = 0; t < WIDTH; t++) {
          const int32_t x = (int32_t)(out.x * w.stride + t * w.dilation) + across;
          const bool inside = within && x >= 0 && (uint32_t)x < w.in_width;
          const struct numbers<4> of = in.look((line + (inside ? (uint32_t)x : 0)) * w.in_ld + c);
          CUDA_UNROLL
          for (uint32_t e = 0; e < 4; e++)
            sum[t].at[e] = CUDA_FMA(slope.at[e], inside ? of.at[e] : 0, sum[t].at[e]);
        }
        go_on(&out, w.out_height, w.out_width);
      }
      CUDA_UNROLL
      for (uint32_t t = 0; t < WIDTH; t++)
        CUDA_UNROLL
      for (uint32_t e = 0; e < 4; e++)
        if (lanes == 1)
          keep(chunk, item, t, e, (double)sum[t].at[e]);
        else
          sums[(i * WIDTH + t) * 4 + e] = sum[t].at[e];
    }
    if (lanes == 1)
      continue;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < items * WIDTH * 4; i += blockDim.x) {
      double sum = 0;
      for (uint32_t lane = 0; lane < lanes; lane++)
        sum += (double)sums[lane * items * WIDTH * 4 + i];
      keep(chunk, i / 4 / WIDTH, i / 4 % WIDTH, i % 4, sum);
    }
    __syncthreads();
  }
}
#define DEPTHWISE_BYTES(width) (STREAM_LANES_AT_MOST * (width)*4 * sizeof(float))
#define DEPTHWISE_LAUNCH(width, place, g)                                                                              \
  CUDA_LAUNCH(depthwise_weights<width>, (g).chunks < (place)->blocks ? (g).chunks : (place)->blocks, (place)->threads, \
              DEPTHWISE_BYTES(width), (place)->stream, g)

/* --- convolutions in other groups --- */

static __global__ void grouped_forward(struct stream_grouped g) {
  const struct stream_window &w = g.window;
  for_all(w.rows * w.out_height * w.out_width * w.out_ld, [&](uint32_t i) {
    const uint32_t u = i % w.out_ld, first = u / w.out_group * w.in_group;
    float sum = 0;
    if (u < w.units)
      all_under<0>(w, pixel_of(i / w.out_ld, w.out_height, w.out_width), [&](uint32_t tap, bool inside, uint32_t p) {
        for (uint32_t c = 0; inside && c < w.in_group; c++)
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
      all_over<0>(w, pixel_of(i / w.in_ld, w.in_height, w.in_width), [&](uint32_t tap, bool inside, uint32_t p) {
        for (uint32_t u = first; inside && u < first + w.out_group; u++)
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
      go_on(&out, w.out_height, w.out_width);
    }
    g.partial[i] = sum;
  });
}

static bool is_depthwise(const struct stream_window &w) { return w.in_group == 1 && w.out_group == 1; }

void backend_cuda_stream_grouped_forward(const struct stream_place *place, const struct stream_grouped *what) {
  const struct stream_grouped g = *what;
  const struct stream_window &w = g.window;
  if (is_depthwise(w))
    WINDOW_LAUNCH(depthwise_forward, place, w, w.rows * w.out_height * GROUPS_ACROSS(w.out_width) * w.out_ld / 4, g);
  else
    STREAM_LAUNCH(grouped_forward, place, w.rows * w.out_height * w.out_width * w.out_ld, g);
}

void backend_cuda_stream_grouped_inputs(const struct stream_place *place, const struct stream_grouped *what) {
  const struct stream_grouped g = *what;
  const struct stream_window &w = g.window;
  if (is_depthwise(w))
    WINDOW_LAUNCH(depthwise_inputs, place, w, w.rows * w.in_height * GROUPS_ACROSS(w.in_width) * w.in_ld / 4, g);
  else
    STREAM_LAUNCH(grouped_inputs, place, w.rows * w.in_height * w.in_width * w.in_ld, g);
}

void backend_cuda_stream_grouped_weights(const struct stream_place *place, const struct stream_grouped *what) {
  const struct stream_grouped g = *what;
  const struct stream_window &w = g.window;
  if (is_depthwise(w) && w.kernel_width == 3)
    DEPTHWISE_LAUNCH(3, place, g);
  else if (is_depthwise(w) && w.kernel_width == 5)
    DEPTHWISE_LAUNCH(5, place, g);
  else if (is_depthwise(w))
    DEPTHWISE_LAUNCH(1, place, g);
  else
    STREAM_LAUNCH(grouped_weights, place, g.chunks * w.kernel_height * w.kernel_width * w.in_group * w.units, g);
}

/* --- pools --- */

template <uint32_t SIZE> static __global__ void max_pool_image(struct stream_pool g) {
  const struct stream_window &w = g.window;
  const uint32_t quads = w.out_ld / 4;
  for_all(w.rows * w.out_height * w.out_width * quads, [&](uint32_t i) {
    const uint32_t c = i % quads * 4;
    const struct channels<4> in(g.in, c);
    struct numbers<4> most = {};
    bool any = false;
    all_under<SIZE>(w, pixel_of(i / quads, w.out_height, w.out_width), [&](uint32_t, bool inside, uint32_t p) {
      const struct numbers<4> x = in.look(p * w.in_ld + c);
      CUDA_UNROLL
      for (uint32_t e = 0; e < 4; e++)
        most.at[e] = inside && (!any || x.at[e] > most.at[e]) ? x.at[e] : most.at[e];
      any = any || inside;
    });
    set_some<4>(g.out, 4 * i, most);
  });
}

/* The first of the largest values under each window, as in backends/cpu/window_impl.h: of those that are largest in the
   output's precision. */
template <uint32_t SIZE> static __global__ void find_largest(struct stream_pool g) {
  const struct stream_window &w = g.window;
  const uint32_t quads = w.out_ld / 4;
  for_all(w.rows * w.out_height * w.out_width * quads, [&](uint32_t i) {
    const uint32_t c = i % quads * 4;
    const struct channels<4> in(g.in, c);
    const struct numbers<4> most = get_some<4>(g.value, 4 * i);
    struct narrow_numbers<4> largest;
    CUDA_UNROLL
    for (uint32_t e = 0; e < 4; e++)
      largest.at[e] = UINT16_MAX;
    all_under<SIZE>(w, pixel_of(i / quads, w.out_height, w.out_width), [&](uint32_t tap, bool inside, uint32_t p) {
      const struct numbers<4> x = in.look(p * w.in_ld + c);
      CUDA_UNROLL
      for (uint32_t e = 0; e < 4; e++)
        if (inside && largest.at[e] == UINT16_MAX && !(most.at[e] > as_in(g.value, x.at[e])))
          largest.at[e] = (uint16_t)tap;
    });
    *(struct narrow_numbers<4> *)(g.largest + 4 * i) = largest;
  });
}

/* They have the gradient. */
template <uint32_t SIZE> static __global__ void max_pool_gradients(struct stream_pool g) {
  const struct stream_window &w = g.window;
  const uint32_t quads = w.in_ld / 4;
  for_all(w.rows * w.in_height * w.in_width * quads, [&](uint32_t i) {
    const uint32_t c = i % quads * 4;
    struct numbers<4> sum = {};
    all_over<SIZE>(w, pixel_of(i / quads, w.in_height, w.in_width), [&](uint32_t tap, bool inside, uint32_t p) {
      const struct narrow_numbers<4> largest = *(const struct narrow_numbers<4> *)(g.largest + p * w.out_ld + c);
      const struct numbers<4> x = get_some<4>(g.gradient, p * w.out_ld + c);
      CUDA_UNROLL
      for (uint32_t e = 0; e < 4; e++)
        sum.at[e] += inside && largest.at[e] == tap ? x.at[e] : 0;
    });
    give_some<4>(g.to, 4 * i, sum, g.accumulate);
  });
}

/* The number of pixels of the image under a window. */
CPU_INLINE float pixels_under(const struct stream_window &w, struct pixel out) {
  uint32_t count = 0;
  all_under<0>(w, out, [&](uint32_t, bool inside, uint32_t) { count += inside; });
  return (float)count;
}

template <uint32_t SIZE> static __global__ void average_pool_image(struct stream_pool g) {
  const struct stream_window &w = g.window;
  const uint32_t quads = w.out_ld / 4;
  for_all(w.rows * w.out_height * w.out_width * quads, [&](uint32_t i) {
    const uint32_t c = i % quads * 4;
    const struct channels<4> in(g.in, c);
    struct numbers<4> sum = {};
    uint32_t count = 0;
    all_under<SIZE>(w, pixel_of(i / quads, w.out_height, w.out_width), [&](uint32_t, bool inside, uint32_t p) {
      const struct numbers<4> x = in.look(p * w.in_ld + c);
      CUDA_UNROLL
      for (uint32_t e = 0; e < 4; e++)
        sum.at[e] += inside ? x.at[e] : 0;
      count += inside;
    });
    CUDA_UNROLL
    for (uint32_t e = 0; e < 4; e++)
      sum.at[e] *= 1 / (float)count;
    set_some<4>(g.out, 4 * i, sum);
  });
}

template <uint32_t SIZE> static __global__ void average_pool_gradients(struct stream_pool g) {
  const struct stream_window &w = g.window;
  const uint32_t quads = w.in_ld / 4;
  for_all(w.rows * w.in_height * w.in_width * quads, [&](uint32_t i) {
    const uint32_t c = i % quads * 4;
    struct numbers<4> sum = {};
    all_over<SIZE>(w, pixel_of(i / quads, w.in_height, w.in_width), [&](uint32_t, bool inside, uint32_t p) {
      const struct numbers<4> x = get_some<4>(g.gradient, p * w.out_ld + c);
      const float share = inside ? 1 / pixels_under(w, pixel_of(p, w.out_height, w.out_width)) : 0;
      CUDA_UNROLL
      for (uint32_t e = 0; e < 4; e++)
        sum.at[e] += inside ? x.at[e] * share : 0;
    });
    give_some<4>(g.to, 4 * i, sum, g.accumulate);
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
  const uint32_t in = w.rows * w.in_height * w.in_width * w.in_ld / 4,
                 out = w.rows * w.out_height * w.out_width * w.out_ld / 4;
  if (!backward) {
    WINDOW_LAUNCH(max_pool_image, place, w, out, g);
    return;
  }
  WINDOW_LAUNCH(find_largest, place, w, out, g);
  WINDOW_LAUNCH(max_pool_gradients, place, w, in, g);
}

void backend_cuda_stream_average_pool(const struct stream_place *place, const struct stream_pool *what, bool backward) {
  const struct stream_pool g = *what;
  const struct stream_window &w = g.window;
  if (backward)
    WINDOW_LAUNCH(average_pool_gradients, place, w, w.rows * w.in_height * w.in_width * w.in_ld / 4, g);
  else
    WINDOW_LAUNCH(average_pool_image, place, w, w.rows * w.out_height * w.out_width * w.out_ld / 4, g);
}

void backend_cuda_stream_global(const struct stream_place *place, const struct stream_global *what, bool backward) {
  const struct stream_global g = *what;
  if (backward)
    STREAM_LAUNCH(global_gradients, place, g.rows * g.pixels * g.ld, g);
  else
    STREAM_LAUNCH(global_means, place, g.rows * g.width, g);
}

/* --- patches: what lies under a window, as a row --- */

static __global__ void copy_patches(struct stream_patches g) {
  const struct stream_window &w = g.window;
  for_all(w.rows * w.out_height * w.out_width * g.ld, [&](uint32_t i) {
    const uint32_t k = i % g.ld, tap = k / g.channels, c = k % g.channels;
    const struct pixel out = pixel_of(i / g.ld, w.out_height, w.out_width);
    const int32_t y = (int32_t)(out.y * w.stride + tap / w.kernel_width * w.dilation) - w.top;
    const int32_t x = (int32_t)(out.x * w.stride + tap % w.kernel_width * w.dilation) - w.left;
    const bool inside = tap < w.kernel_height * w.kernel_width && y >= 0 && (uint32_t)y < w.in_height && x >= 0 &&
                        (uint32_t)x < w.in_width;
    const uint32_t from = ((out.row * w.in_height + (uint32_t)y) * w.in_width + (uint32_t)x) * w.in_ld + c;
    set(g.to, i, inside ? look(g.in, from, c) : 0);
  });
}

void backend_cuda_stream_patches(const struct stream_place *place, const struct stream_patches *what) {
  const struct stream_patches g = *what;
  const struct stream_window &w = g.window;
  STREAM_LAUNCH(copy_patches, place, w.rows * w.out_height * w.out_width * g.ld, g);
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
