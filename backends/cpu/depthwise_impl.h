/* depthwise_impl.h - depthwise convolutions of a padded image, and the gradient of their weights. A kernel computes up
   to eight outputs of a row at a time. It reads each input once for all of them, so most operands are in registers. The
   usual sizes of window, stride and dilation have a kernel each; any other size runs in loops. Pixels of exactly 8
   channels go two to a vector of 16; a window then moves on by two pixels. */
#ifndef BACKEND_CPU_DEPTHWISE_IMPL_H
#define BACKEND_CPU_DEPTHWISE_IMPL_H

#include "kernels_impl.h"
#include "lanes_impl.h"

enum { DEPTHWISE_MOST = 8 }; /* outputs at a time */

/* The number of outputs to compute at once, with `left` remaining in the row. */
CPU_INLINE size_t depthwise_count(size_t left) {
  if (left % 7 == 0 && left % 8 != 0)
    return 7;
  return left >= 8 ? 8 : left >= 4 ? 4 : 1;
}

/* One vector of channels, or two pixels of 8 channels. Distances are in floats. */
struct depthwise_lanes {
  size_t rows, columns;        /* outputs, in vectors */
  size_t in_pixel, in_line;    /* from one input pixel to the next, and from the inputs of a row to those of the next */
  size_t tap_line;             /* from one row under the window to the next */
  size_t pixel, line;          /* from one output to the next */
  const float *weights, *bias; /* [taps][ldw]; bias may be NULL */
  size_t ldw;
  const float *mask;
  size_t mask_line;
  bool accumulate;
  struct cpu_ahead *ahead;
};

/* --- outputs --- */

/* Store `count` sums. */
CPU_INLINE void depthwise_store(const size_t count, const size_t lanes, bool accumulate, size_t pixel,
                                const float *mask, vec *sum, float *out) {
  if (mask)
    CPU_UNROLL for (size_t i = 0; i < count; i++) sum[i] =
        v_masked(v_greater(v_load_lanes(mask + i * pixel, lanes), v_zero()), sum[i]);
  if (accumulate)
    CPU_UNROLL for (size_t i = 0; i < count; i++) sum[i] = sum[i] + v_load_lanes(out + i * pixel, lanes);
  CPU_UNROLL for (size_t i = 0; i < count; i++) v_store_lanes(out + i * pixel, sum[i], lanes);
}

/* `count` outputs of a row; `stride` and `dilation` in input pixels. */
CPU_INLINE void depthwise_outputs(const size_t k, const size_t stride, const size_t dilation, const size_t count,
                                  const size_t lanes, const struct depthwise_lanes *d, const float *in,
                                  const float *mask, float *out) {
  const size_t reach = (count - 1) * stride + (k - 1) * dilation + 1;
  vec sum[DEPTHWISE_MOST], first = d->bias ? v_load_lanes(d->bias, lanes) : v_zero();
  CPU_UNROLL for (size_t i = 0; i < count; i++) sum[i] = first;
  for (size_t ky = 0; ky < k; ky++) {
    const float *at = in + ky * d->tap_line;
    vec weights[5];
    CPU_UNROLL for (size_t kx = 0; kx < k; kx++) weights[kx] = v_load_lanes(d->weights + (ky * k + kx) * d->ldw, lanes);
    CPU_UNROLL for (size_t j = 0; j < reach; j++, at += d->in_pixel) {
      vec x = v_keep(v_load_lanes(at, lanes));
      CPU_UNROLL for (size_t kx = 0; kx < k; kx++) {
        const size_t from = j - kx * dilation; /* negative: no later output uses it */
        if (from % stride == 0 && from / stride < count)
          sum[from / stride] = v_fma(x, weights[kx], sum[from / stride]);
      }
    }
  }
  depthwise_store(count, lanes, d->accumulate, d->pixel, mask, sum, out);
}

/* All rows of some blocks of `count` columns, from `column` on. */
CPU_INLINE void depthwise_blocks(const size_t k, const size_t stride, const size_t dilation, const size_t count,
                                 const size_t lanes, const struct depthwise_lanes *d, size_t column, size_t blocks,
                                 const float *in, float *out) {
  const struct depthwise_lanes own = *d; /* no store changes it */
  for (size_t y = 0; y < own.rows; y++) {
    fetch_ahead(own.ahead);
    for (size_t b = 0; b < blocks; b++) {
      const size_t at = column + b * count;
      depthwise_outputs(k, stride, dilation, count, lanes, &own, in + y * own.in_line + at * stride * own.in_pixel,
                        own.mask ? own.mask + y * own.mask_line + at * own.pixel : NULL,
                        out + y * own.line + at * own.pixel);
    }
  }
}

#define DEPTHWISE_COUNTS(call)                                                                                         \
  for (size_t column = 0; column < d->columns;) {                                                                      \
    const size_t count = depthwise_count(d->columns - column), blocks = (d->columns - column) / count;                 \
    switch (count) {                                                                                                   \
    case 8:                                                                                                            \
      call(8);                                                                                                         \
      break;                                                                                                           \
    case 7:                                                                                                            \
      call(7);                                                                                                         \
      break;                                                                                                           \
    case 4:                                                                                                            \
      call(4);                                                                                                         \
      break;                                                                                                           \
    default:                                                                                                           \
      call(1);                                                                                                         \
    }                                                                                                                  \
    column += blocks * count;                                                                                          \
  }

#define DEPTHWISE_OUTPUTS(count) depthwise_blocks(k, stride, dilation, count, lanes, d, column, blocks, in, out)

CPU_INLINE void depthwise_image(const size_t k, const size_t stride, const size_t dilation, const size_t lanes,
                                const struct depthwise_lanes *d, const float *in,
                                float *out){DEPTHWISE_COUNTS(DEPTHWISE_OUTPUTS)}

/* --- the weights' gradient --- */

/* For `rows` rows of the kernel, from all rows of some blocks of `count` columns. */
CPU_INLINE
    void depthwise_weight_blocks(const size_t k, const size_t rows, const size_t stride, const size_t dilation,
                                 const size_t count, const size_t lanes, const struct depthwise_lanes *d, size_t column,
                                 size_t blocks, const float *in, const float *gradient, float *to) {
  const size_t reach = (count - 1) * stride + (k - 1) * dilation + 1;
  vec total[3][5];
  CPU_UNROLL for (size_t ky = 0; ky < rows; ky++) {
    CPU_UNROLL for (size_t kx = 0; kx < k; kx++) total[ky][kx] = v_zero();
  }
  for (size_t y = 0; y < d->rows; y++) {
    fetch_ahead(d->ahead);
    for (size_t b = 0; b < blocks; b++) {
      const float *x = in + y * d->in_line + (column + b * count) * stride * d->in_pixel;
      const float *from = gradient + y * d->line + (column + b * count) * d->pixel;
      vec g[DEPTHWISE_MOST];
      CPU_UNROLL for (size_t i = 0; i < count; i++) g[i] = v_load_lanes(from + i * d->pixel, lanes);
      CPU_UNROLL for (size_t ky = 0; ky < rows; ky++) {
        const float *at = x + ky * d->tap_line;
        CPU_UNROLL for (size_t j = 0; j < reach; j++, at += d->in_pixel) {
          vec one = v_keep(v_load_lanes(at, lanes));
          CPU_UNROLL for (size_t kx = 0; kx < k; kx++) {
            const size_t under = j - kx * dilation;
            if (under % stride == 0 && under / stride < count)
              total[ky][kx] = v_fma(one, g[under / stride], total[ky][kx]);
          }
        }
      }
    }
  }
  CPU_UNROLL for (size_t ky = 0; ky < rows; ky++) {
    CPU_UNROLL for (size_t kx = 0; kx < k; kx++) {
      float *at = to + (ky * k + kx) * d->ldw;
      v_store_lanes(at, v_load_lanes(at, lanes) + total[ky][kx], lanes);
    }
  }
}

#define DEPTHWISE_WEIGHTS(count)                                                                                       \
  depthwise_weight_blocks(k, rows, stride, dilation, count, lanes, d, column, blocks, in, gradient, to)

CPU_INLINE void depthwise_weight_rows(const size_t k, const size_t rows, const size_t stride, const size_t dilation,
                                      const size_t lanes, const struct depthwise_lanes *d, const float *in,
                                      const float *gradient, float *to){DEPTHWISE_COUNTS(DEPTHWISE_WEIGHTS)}

/* As many rows of the kernel at once as fit the registers. */
CPU_INLINE
    void depthwise_weight_image(const size_t k, const size_t stride, const size_t dilation, const size_t lanes,
                                const struct depthwise_lanes *d, const float *in, const float *gradient, float *to) {
  const size_t most = CPU_LANES == 16 ? 3 : 1;
  size_t ky = 0;
  for (; ky + most <= k; ky += most)
    depthwise_weight_rows(k, most, stride, dilation, lanes, d, in + ky * d->tap_line, gradient, to + ky * k * d->ldw);
  if (most > 1 && k % most == 2)
    depthwise_weight_rows(k, 2, stride, dilation, lanes, d, in + ky * d->tap_line, gradient, to + ky * k * d->ldw);
}

/* --- windows that have kernels of their own --- */

#define DEPTHWISE_KERNELS(k, stride, dilation)                                                                         \
  static void depthwise_##k##_##stride##_##dilation(size_t lanes, const struct depthwise_lanes *d, const float *in,    \
                                                    float *out) {                                                      \
    if (lanes == CPU_LANES)                                                                                            \
      depthwise_image(k, stride, dilation, CPU_LANES, d, in, out);                                                     \
    else                                                                                                               \
      depthwise_image(k, stride, dilation, CPU_LANES / 2, d, in, out);                                                 \
  }                                                                                                                    \
  static void depthwise_weights_##k##_##stride##_##dilation(size_t lanes, const struct depthwise_lanes *d,             \
                                                            const float *in, const float *gradient, float *to) {       \
    if (lanes == CPU_LANES)                                                                                            \
      depthwise_weight_image(k, stride, dilation, CPU_LANES, d, in, gradient, to);                                     \
    else                                                                                                               \
      depthwise_weight_image(k, stride, dilation, CPU_LANES / 2, d, in, gradient, to);                                 \
  }

DEPTHWISE_KERNELS(3, 1, 1)
DEPTHWISE_KERNELS(3, 1, 2)
DEPTHWISE_KERNELS(3, 2, 1)
DEPTHWISE_KERNELS(3, 2, 2)
DEPTHWISE_KERNELS(5, 1, 1)
DEPTHWISE_KERNELS(5, 1, 2)
DEPTHWISE_KERNELS(5, 2, 1)
DEPTHWISE_KERNELS(5, 2, 2)

struct depthwise_kernels {
  void (*outputs)(size_t lanes, const struct depthwise_lanes *d, const float *in, float *out);
  void (*weights)(size_t lanes, const struct depthwise_lanes *d, const float *in, const float *gradient, float *to);
};

/* NULL: no kernel for this window; `stride` in pixels of the input. */
static struct depthwise_kernels depthwise_kernels(const struct cpu_window *w, size_t stride) {
  static const struct depthwise_kernels table[2][2][2] = {
      {{{depthwise_3_1_1, depthwise_weights_3_1_1}, {depthwise_3_1_2, depthwise_weights_3_1_2}},
       {{depthwise_3_2_1, depthwise_weights_3_2_1}, {depthwise_3_2_2, depthwise_weights_3_2_2}}},
      {{{depthwise_5_1_1, depthwise_weights_5_1_1}, {depthwise_5_1_2, depthwise_weights_5_1_2}},
       {{depthwise_5_2_1, depthwise_weights_5_2_1}, {depthwise_5_2_2, depthwise_weights_5_2_2}}}};
  bool square = w->kernel_height == w->kernel_width && (w->kernel_height == 3 || w->kernel_height == 5);
  if (!square || stride > 2 || w->dilation > 2)
    return (struct depthwise_kernels){NULL, NULL};
  return table[w->kernel_height == 5][stride - 1][w->dilation - 1];
}

/* --- images --- */

/* The data of an image that are the same for all channels. */
static struct depthwise_lanes depthwise_geometry(const struct cpu_window *w) {
  return (struct depthwise_lanes){.rows = w->out_height,
                                  .columns = w->out_width,
                                  .in_pixel = w->ld,
                                  .in_line = w->stride * w->padded_width * w->ld,
                                  .tap_line = w->dilation * w->padded_width * w->ld};
}

/* Two pixels of 8 channels per vector of 16; if their number is odd, the last column is left over. */
CPU_INLINE bool depthwise_pairs(const struct cpu_window *w) {
  return CPU_LANES == 16 && w->ld == 8 && w->stride == 1 && w->out_width > 1;
}

static void depthwise_any(const struct cpu_depthwise *d, const float *in, float *out) {
  const struct cpu_window *w = &d->window;
  const size_t line = w->padded_width * w->ld;
  for (size_t y = 0; y < w->out_height; y++)
    for (size_t x = 0; x < w->out_width; x++, out += w->ld) {
      const float *from = in + (y * line + x * w->ld) * w->stride;
      const float *mask = d->mask ? d->mask + y * d->mask_line + x * w->ld : NULL;
      CPU_FOR_LANES(c, w->ld, {
        vec sum = d->bias ? v_load_lanes(d->bias + c, LANES) : v_zero();
        for (size_t ky = 0, t = 0; ky < w->kernel_height; ky++)
          for (size_t kx = 0; kx < w->kernel_width; kx++, t++)
            sum = v_fma(v_load_lanes(from + (ky * line + kx * w->ld) * w->dilation + c, LANES),
                        v_load_lanes(d->weights + t * d->ldw + c, LANES), sum);
        depthwise_store(1, LANES, d->accumulate, 0, mask ? mask + c : NULL, &sum, out + c);
      });
    }
}

/* Some columns of all channels, a vector at a time. */
static void depthwise_columns(const struct cpu_depthwise *d, struct depthwise_kernels kernels, size_t column,
                              size_t columns, const float *in, float *out) {
  const struct cpu_window *w = &d->window;
  struct depthwise_lanes lanes = depthwise_geometry(w);
  const size_t at = column * w->ld;
  lanes.columns = columns;
  lanes.pixel = w->ld;
  lanes.line = w->out_width * w->ld;
  lanes.ldw = d->ldw;
  lanes.mask_line = d->mask_line;
  lanes.accumulate = d->accumulate;
  lanes.ahead = d->ahead;
  CPU_FOR_LANES(c, w->ld, {
    lanes.weights = d->weights + c;
    lanes.bias = d->bias ? d->bias + c : NULL;
    lanes.mask = d->mask ? d->mask + at + c : NULL;
    kernels.outputs(LANES, &lanes, in + at * w->stride + c, out + at + c);
  });
}

/* The weights, repeated twice side by side. */
static void depthwise_in_pairs(const struct cpu_depthwise *d, const float *in, float *out) {
  const struct cpu_window *w = &d->window;
  const size_t taps = w->kernel_height * w->kernel_width;
  struct depthwise_lanes lanes = depthwise_geometry(w);
  float twice[26][16];
  for (size_t t = 0; t <= taps; t++)
    for (size_t c = 0; c < 8; c++)
      twice[t][c] = twice[t][8 + c] = t < taps ? d->weights[t * d->ldw + c] : d->bias ? d->bias[c] : 0;
  lanes.columns = w->out_width / 2;
  lanes.pixel = 16;
  lanes.line = w->out_width * 8;
  lanes.weights = twice[0];
  lanes.bias = twice[taps];
  lanes.ldw = 16;
  lanes.mask = d->mask;
  lanes.mask_line = d->mask_line;
  lanes.accumulate = d->accumulate;
  lanes.ahead = d->ahead;
  depthwise_kernels(w, 2).outputs(CPU_LANES, &lanes, in, out);
  if (w->out_width % 2)
    depthwise_columns(d, depthwise_kernels(w, 1), w->out_width - 1, 1, in, out);
}

static void depthwise(const struct cpu_depthwise *d, const float *in, float *out) {
  struct depthwise_kernels kernels = depthwise_kernels(&d->window, d->window.stride);
  if (!kernels.outputs)
    depthwise_any(d, in, out);
  else if (depthwise_pairs(&d->window))
    depthwise_in_pairs(d, in, out);
  else
    depthwise_columns(d, kernels, 0, d->window.out_width, in, out);
}

static void depthwise_weights_any(const struct cpu_depthwise_weights *d, const float *in, const float *gradient,
                                  float *weights) {
  const struct cpu_window *w = &d->window;
  const size_t line = w->padded_width * w->ld;
  for (size_t ky = 0, t = 0; ky < w->kernel_height; ky++)
    for (size_t kx = 0; kx < w->kernel_width; kx++, t++)
      CPU_FOR_LANES(c, w->ld, {
        vec total = v_load_lanes(weights + t * d->ldw + c, LANES);
        for (size_t y = 0; y < w->out_height; y++)
          for (size_t x = 0; x < w->out_width; x++) {
            const float *from = in + (y * w->stride + ky * w->dilation) * line;
            total = v_fma(v_load_lanes(from + (x * w->stride + kx * w->dilation) * w->ld + c, LANES),
                          v_load_lanes(gradient + y * d->line + x * d->pixel + c, LANES), total);
          }
        v_store_lanes(weights + t * d->ldw + c, total, LANES);
      });
}

static void depthwise_weight_columns(const struct cpu_depthwise_weights *d, struct depthwise_kernels kernels,
                                     size_t column, size_t columns, const float *in, const float *gradient,
                                     float *weights) {
  const struct cpu_window *w = &d->window;
  struct depthwise_lanes lanes = depthwise_geometry(w);
  lanes.columns = columns;
  lanes.pixel = d->pixel;
  lanes.line = d->line;
  lanes.ldw = d->ldw;
  lanes.ahead = d->ahead;
  CPU_FOR_LANES(c, w->ld,
                kernels.weights(LANES, &lanes, in + column * w->stride * w->ld + c, gradient + column * d->pixel + c,
                                weights + c));
}

static void depthwise_weights_in_pairs(const struct cpu_depthwise_weights *d, const float *in, const float *gradient,
                                       float *weights) {
  const struct cpu_window *w = &d->window;
  struct depthwise_lanes lanes = depthwise_geometry(w);
  float both[25][16] = {{0}};
  lanes.columns = w->out_width / 2;
  lanes.pixel = 16;
  lanes.line = d->line;
  lanes.ldw = 16;
  lanes.ahead = d->ahead;
  depthwise_kernels(w, 2).weights(CPU_LANES, &lanes, in, gradient, both[0]);
  for (size_t t = 0; t < w->kernel_height * w->kernel_width; t++)
    for (size_t c = 0; c < 8; c++)
      weights[t * d->ldw + c] += both[t][c] + both[t][8 + c];
  if (w->out_width % 2)
    depthwise_weight_columns(d, depthwise_kernels(w, 1), w->out_width - 1, 1, in, gradient, weights);
}

static void depthwise_weights(const struct cpu_depthwise_weights *d, const float *in, const float *gradient,
                              float *weights) {
  struct depthwise_kernels kernels = depthwise_kernels(&d->window, d->window.stride);
  if (!kernels.weights)
    depthwise_weights_any(d, in, gradient, weights);
  else if (depthwise_pairs(&d->window) && d->pixel == 8)
    depthwise_weights_in_pairs(d, in, gradient, weights);
  else
    depthwise_weight_columns(d, kernels, 0, d->window.out_width, in, gradient, weights);
}

#endif
