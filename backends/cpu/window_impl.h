/* window_impl.h - what moves a window over an image: depthwise convolution, pools, patches for products.

   An image lies with its channels innermost, [height][width][ld], ld a multiple of 8. A kernel reads a copy with its
   padding around it, so that none has borders to think of. Channels are worked on in vectors, the last 8 of a pixel in
   half a vector where vectors have 16 lanes; pixels of just 8 channels go two to a vector where they can. */
#ifndef BACKEND_CPU_WINDOW_IMPL_H
#define BACKEND_CPU_WINDOW_IMPL_H

#include "kernels_impl.h"
#include "vector_impl.h"

/* All lanes, or the first 8 of 16. `lanes` is a constant where this is inlined. */
CPU_INLINE vec v_load_lanes(const float *p, const size_t lanes) {
  return lanes >= CPU_LANES ? v_load(p) : v_load_first(p, lanes);
}
CPU_INLINE void v_store_lanes(float *p, vec x, const size_t lanes) {
  if (lanes >= CPU_LANES)
    v_store(p, x);
  else
    v_store_first(p, x, lanes);
}

/* Calls body(at, lanes) for `count` floats, a multiple of 8, from the first on. */
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

static void copy_floats(size_t count, const float *in, float *out) {
  CPU_FOR_LANES(i, count, v_store_lanes(out + i, v_load_lanes(in + i, LANES), LANES));
}

CPU_INLINE void fetch_ahead(struct cpu_ahead *ahead) {
  enum { LINES = 16 };
  if (!ahead || ahead->count == 0)
    return;
  const char *at = ahead->streams[ahead->count - 1].at;
  size_t *left = &ahead->streams[ahead->count - 1].lines, lines = *left < LINES ? *left : LINES;
  for (size_t i = 0; i < lines; i++)
    __builtin_prefetch(at + 64 * i, 0, 2);
  ahead->streams[ahead->count - 1].at = at + 64 * lines;
  *left -= lines;
  if (*left == 0)
    ahead->count--;
}

/* --- padding --- */

static void affine(const struct cpu_affine *a, size_t size, const float *x, bool accumulate, float *y);

static void pad(const struct cpu_pad *p, const float *in, float *out) {
  const size_t line = p->padded_width * p->ld, inner = p->width * p->ld;
  out += p->top * line + p->left * p->ld;
  for (size_t y = 0; y < p->height; y++, in += inner, out += p->step * line)
    if (p->step > 1)
      for (size_t x = 0; x < p->width; x++)
        copy_floats(p->ld, in + x * p->ld, out + x * p->step * p->ld);
    else if (p->view)
      affine(p->view, inner, in, false, out);
    else
      copy_floats(inner, in, out);
}

static void crop(const struct cpu_pad *p, const float *in, const float *mask, bool accumulate, float *out) {
  const size_t line = p->padded_width * p->ld, inner = p->width * p->ld;
  for (size_t y = 0; y < p->height; y++, out += inner) {
    const size_t at = (p->top + y) * line + p->left * p->ld;
    const float *row = in + at, *over = mask ? mask + at : NULL;
    CPU_FOR_LANES(i, inner, {
      vec x = v_load_lanes(row + i, LANES);
      if (over)
        x = v_masked(v_greater(v_load_lanes(over + i, LANES), v_zero()), x);
      if (accumulate)
        x = x + v_load_lanes(out + i, LANES);
      v_store_lanes(out + i, x, LANES);
    });
  }
}

/* --- depthwise convolution --- */

/* What becomes of a sum. */
CPU_INLINE void depthwise_store(bool accumulate, const float *mask, float *out, vec sum, const size_t lanes) {
  if (mask)
    sum = v_masked(v_greater(v_load_lanes(mask, lanes), v_zero()), sum);
  if (accumulate)
    sum = sum + v_load_lanes(out, lanes);
  v_store_lanes(out, sum, lanes);
}

/* `count` outputs of one row, `step` floats apart, from inputs `in_step` apart; four at once. */
CPU_INLINE void depthwise_row(const size_t kh, const size_t kw, const size_t lanes, const struct cpu_depthwise *d,
                              const float *in, size_t in_step, const vec *weights, vec bias, size_t count,
                              const float *mask, float *out, size_t step) {
  const size_t line = d->window.dilation * d->window.padded_width * d->window.ld;
  const size_t tap = d->window.dilation * d->window.ld;
  const bool accumulate = d->accumulate;
  size_t i = 0;
  for (; i + 4 <= count; i += 4, in += 4 * in_step) {
    vec sum[4] = {bias, bias, bias, bias};
    CPU_UNROLL for (size_t ky = 0; ky < kh; ky++) {
      CPU_UNROLL for (size_t kx = 0; kx < kw; kx++) {
        const float *from = in + ky * line + kx * tap;
        CPU_UNROLL for (size_t u = 0; u < 4; u++) sum[u] =
            v_fma(v_load_lanes(from + u * in_step, lanes), weights[ky * kw + kx], sum[u]);
      }
    }
    CPU_UNROLL for (size_t u = 0; u < 4; u++)
        depthwise_store(accumulate, mask ? mask + (i + u) * step : NULL, out + (i + u) * step, sum[u], lanes);
  }
  for (; i < count; i++, in += in_step) {
    vec sum = bias;
    CPU_UNROLL for (size_t ky = 0; ky < kh; ky++) {
      CPU_UNROLL for (size_t kx = 0; kx < kw; kx++) sum =
          v_fma(v_load_lanes(in + ky * line + kx * tap, lanes), weights[ky * kw + kx], sum);
    }
    depthwise_store(accumulate, mask ? mask + i * step : NULL, out + i * step, sum, lanes);
  }
}

/* A vector of channels, or two pixels of 8, of all rows. weights[taps][ldw] and bias are those of the vector. */
CPU_INLINE void depthwise_lanes(const size_t kh, const size_t kw, const size_t lanes, const size_t pixels,
                                const struct cpu_depthwise *d, const float *weights, size_t ldw, const float *bias,
                                const float *in, const float *mask, float *out) {
  const struct cpu_window *w = &d->window;
  const size_t in_line = w->stride * w->padded_width * w->ld, line = w->out_width * w->ld;
  vec held[25], first = bias ? v_load_lanes(bias, lanes) : v_zero();
  CPU_UNROLL for (size_t t = 0; t < kh * kw; t++) held[t] = v_load_lanes(weights + t * ldw, lanes);
  for (size_t y = 0; y < w->out_height; y++) {
    fetch_ahead(d->ahead);
    depthwise_row(kh, kw, lanes, d, in + y * in_line, w->stride * w->ld * pixels, held, first, w->out_width / pixels,
                  mask ? mask + y * d->mask_line : NULL, out + y * line, w->ld * pixels);
  }
}

/* Pixels of 8 channels, two to a vector: the weights twice side by side. A last column alone. */
CPU_INLINE void depthwise_pairs(const size_t k, const struct cpu_depthwise *d, const float *in, float *out) {
  const struct cpu_window *w = &d->window;
  float twice[26][16];
  for (size_t t = 0; t <= k * k; t++)
    for (size_t c = 0; c < 8; c++)
      twice[t][c] = twice[t][8 + c] = t < k * k ? d->weights[t * d->ldw + c] : d->bias ? d->bias[c] : 0;
  depthwise_lanes(k, k, 16, 2, d, twice[0], 16, twice[k * k], in, d->mask, out);
  if (w->out_width % 2 == 0)
    return;
  vec held[25];
  for (size_t t = 0; t < k * k; t++)
    held[t] = v_load_lanes(twice[t], 8);
  for (size_t y = 0; y < w->out_height; y++)
    depthwise_row(k, k, 8, d, in + (y * w->padded_width + w->out_width - 1) * 8, 8, held, v_load_lanes(twice[k * k], 8),
                  1, d->mask ? d->mask + y * d->mask_line + (w->out_width - 1) * 8 : NULL,
                  out + ((y + 1) * w->out_width - 1) * 8, 8);
}

CPU_INLINE void depthwise_square(const size_t k, const struct cpu_depthwise *d, const float *in, float *out) {
  if (CPU_LANES == 16 && d->window.ld == 8 && d->window.stride == 1)
    depthwise_pairs(k, d, in, out);
  else
    CPU_FOR_LANES(c, d->window.ld,
                  depthwise_lanes(k, k, LANES, 1, d, d->weights + c, d->ldw, d->bias ? d->bias + c : NULL, in + c,
                                  d->mask ? d->mask + c : NULL, out + c));
}

static void depthwise_3(const struct cpu_depthwise *d, const float *in, float *out) { depthwise_square(3, d, in, out); }

static void depthwise_5(const struct cpu_depthwise *d, const float *in, float *out) { depthwise_square(5, d, in, out); }

/* Any kernel. */
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
        depthwise_store(d->accumulate, mask ? mask + c : NULL, out + c, sum, LANES);
      });
    }
}

static void depthwise(const struct cpu_depthwise *d, const float *in, float *out) {
  if (d->window.kernel_height == 3 && d->window.kernel_width == 3)
    depthwise_3(d, in, out);
  else if (d->window.kernel_height == 5 && d->window.kernel_width == 5)
    depthwise_5(d, in, out);
  else
    depthwise_any(d, in, out);
}

/* The weights' gradient of one row of the kernel: `taps` sums at once, each in two halves. */
CPU_INLINE void depthwise_weights_row(const size_t taps, const size_t lanes, const size_t pixels,
                                      const struct cpu_depthwise_weights *d, const float *in, const float *gradient,
                                      vec *total) {
  const struct cpu_window *w = &d->window;
  const size_t line = w->stride * w->padded_width * w->ld, tap = w->dilation * w->ld;
  const size_t step = d->pixel * pixels, in_step = w->stride * w->ld * pixels;
  vec even[5], odd[5];
  CPU_UNROLL for (size_t t = 0; t < taps; t++) even[t] = odd[t] = v_zero();
  for (size_t y = 0; y < w->out_height; y++) {
    const float *x = in + y * line, *g = gradient + y * d->line;
    fetch_ahead(d->ahead);
    size_t i = 0, count = w->out_width / pixels;
    for (; i + 2 <= count; i += 2, x += 2 * in_step, g += 2 * step) {
      vec one = v_load_lanes(g, lanes), two = v_load_lanes(g + step, lanes);
      CPU_UNROLL for (size_t t = 0; t < taps; t++) {
        even[t] = v_fma(v_load_lanes(x + t * tap, lanes), one, even[t]);
        odd[t] = v_fma(v_load_lanes(x + t * tap + in_step, lanes), two, odd[t]);
      }
    }
    if (i < count) {
      vec one = v_load_lanes(g, lanes);
      CPU_UNROLL for (size_t t = 0; t < taps; t++) even[t] = v_fma(v_load_lanes(x + t * tap, lanes), one, even[t]);
    }
    if (pixels == 2 && w->out_width % 2) {
      const float *end = in + y * line + (w->out_width - 1) * w->ld;
      vec one = v_load_lanes(gradient + y * d->line + (w->out_width - 1) * w->ld, 8);
      CPU_UNROLL for (size_t t = 0; t < taps; t++) odd[t] = v_fma(v_load_lanes(end + t * tap, 8), one, odd[t]);
    }
  }
  CPU_UNROLL for (size_t t = 0; t < taps; t++) total[t] = even[t] + odd[t];
}

CPU_INLINE void depthwise_weights_block(const size_t taps, const size_t lanes, const struct cpu_depthwise_weights *d,
                                        const float *in, const float *gradient, float *to) {
  vec total[5];
  if (CPU_LANES == 16 && d->window.ld == 8 && d->window.stride == 1 && d->pixel == 8) {
    float both[16];
    depthwise_weights_row(taps, 16, 2, d, in, gradient, total);
    for (size_t t = 0; t < taps; t++) {
      v_store_lanes(both, total[t], 16);
      for (size_t c = 0; c < 8; c++)
        to[t * d->ldw + c] += both[c] + both[8 + c];
    }
    return;
  }
  depthwise_weights_row(taps, lanes, 1, d, in, gradient, total);
  for (size_t t = 0; t < taps; t++)
    v_store_lanes(to + t * d->ldw, v_load_lanes(to + t * d->ldw, lanes) + total[t], lanes);
}

static void depthwise_weights_3(const struct cpu_depthwise_weights *d, const float *in, const float *gradient,
                                float *to) {
  CPU_FOR_LANES(c, d->window.ld, depthwise_weights_block(3, LANES, d, in + c, gradient + c, to + c));
}

static void depthwise_weights_5(const struct cpu_depthwise_weights *d, const float *in, const float *gradient,
                                float *to) {
  CPU_FOR_LANES(c, d->window.ld, depthwise_weights_block(5, LANES, d, in + c, gradient + c, to + c));
}

static void depthwise_weights_1(const struct cpu_depthwise_weights *d, const float *in, const float *gradient,
                                float *to) {
  CPU_FOR_LANES(c, d->window.ld, depthwise_weights_block(1, LANES, d, in + c, gradient + c, to + c));
}

static void depthwise_weights(const struct cpu_depthwise_weights *d, const float *in, const float *gradient,
                              float *weights) {
  const struct cpu_window *w = &d->window;
  for (size_t ky = 0; ky < w->kernel_height; ky++) {
    const float *row = in + ky * w->dilation * w->padded_width * w->ld;
    float *to = weights + ky * w->kernel_width * d->ldw;
    if (w->kernel_width == 3)
      depthwise_weights_3(d, row, gradient, to);
    else if (w->kernel_width == 5)
      depthwise_weights_5(d, row, gradient, to);
    else
      for (size_t kx = 0; kx < w->kernel_width; kx++)
        depthwise_weights_1(d, row + kx * w->dilation * w->ld, gradient, to + kx * d->ldw);
  }
}

/* --- patches --- */

static void patches(const struct cpu_patches *p, const float *in, float *out) {
  for (size_t y = 0; y < p->rows; y++)
    for (size_t x = 0; x < p->width; x++, out += p->ldo) {
      const float *from = in + y * p->row_step + x * p->pixel_step;
      for (size_t t = 0; t < p->tap_count; t++)
        copy_floats((p->channels + 7) / 8 * 8, from + p->taps[t], out + t * p->channels);
    }
}

static void unpatch(const struct cpu_patches *p, const float *in, float *out) {
  const size_t whole = p->channels / 8 * 8, rest = p->channels - whole;
  for (size_t y = 0; y < p->rows; y++)
    for (size_t x = 0; x < p->width; x++, in += p->ldo) {
      float *to = out + y * p->row_step + x * p->pixel_step;
      for (size_t t = 0; t < p->tap_count; t++) {
        const float *from = in + t * p->channels;
        float *at = to + p->taps[t];
        CPU_FOR_LANES(c, whole,
                      v_store_lanes(at + c, v_load_lanes(at + c, LANES) + v_load_lanes(from + c, LANES), LANES));
        for (size_t c = whole; c < whole + rest; c++)
          at[c] += from[c];
      }
    }
}

/* --- pools --- */

static void max_pool(const struct cpu_window *w, const float *in, float *out) {
  const size_t line = w->padded_width * w->ld;
  for (size_t y = 0; y < w->out_height; y++)
    for (size_t x = 0; x < w->out_width; x++, out += w->ld) {
      const float *from = in + (y * line + x * w->ld) * w->stride;
      CPU_FOR_LANES(c, w->ld, {
        vec most = v_load_lanes(from + c, LANES);
        for (size_t ky = 0; ky < w->kernel_height; ky++)
          for (size_t kx = 0; kx < w->kernel_width; kx++)
            most = v_max(v_load_lanes(from + ky * line + kx * w->ld + c, LANES), most);
        v_store_lanes(out + c, most, LANES);
      });
    }
}

/* To the first that is the largest. */
static void max_pool_gradient(const struct cpu_window *w, const float *in, const float *value, const float *gradient,
                              float *to) {
  const size_t line = w->padded_width * w->ld;
  for (size_t y = 0; y < w->out_height; y++)
    for (size_t x = 0; x < w->out_width; x++, value += w->ld, gradient += w->ld) {
      const size_t at = (y * line + x * w->ld) * w->stride;
      CPU_FOR_LANES(c, w->ld, {
        vec most = v_load_lanes(value + c, LANES), rest = v_load_lanes(gradient + c, LANES);
        for (size_t ky = 0; ky < w->kernel_height; ky++)
          for (size_t kx = 0; kx < w->kernel_width; kx++) {
            const size_t here = at + ky * line + kx * w->ld + c;
            vmask less = v_greater(most, v_load_lanes(in + here, LANES));
            v_store_lanes(to + here, v_load_lanes(to + here, LANES) + v_select(less, v_zero(), rest), LANES);
            rest = v_masked(less, rest);
          }
      });
    }
}

/* Pixels of the window at `at` (in strides, along one side) that are not padding. */
CPU_INLINE size_t window_inside(size_t at, size_t stride, size_t kernel, size_t before, size_t length) {
  const size_t begin = at * stride, end = begin + kernel, last = before + length;
  return (end < last ? end : last) - (begin > before ? begin : before);
}

CPU_INLINE vec window_share(const struct cpu_window *w, size_t y, size_t x) {
  return v_set(1 / (float)(window_inside(y, w->stride, w->kernel_height, w->top, w->in_height) *
                           window_inside(x, w->stride, w->kernel_width, w->left, w->in_width)));
}

static void average_pool(const struct cpu_window *w, const float *in, float *out) {
  const size_t line = w->padded_width * w->ld;
  for (size_t y = 0; y < w->out_height; y++)
    for (size_t x = 0; x < w->out_width; x++, out += w->ld) {
      const float *from = in + (y * line + x * w->ld) * w->stride;
      const vec share = window_share(w, y, x);
      CPU_FOR_LANES(c, w->ld, {
        vec sum = v_zero();
        for (size_t ky = 0; ky < w->kernel_height; ky++)
          for (size_t kx = 0; kx < w->kernel_width; kx++)
            sum = sum + v_load_lanes(from + ky * line + kx * w->ld + c, LANES);
        v_store_lanes(out + c, sum * share, LANES);
      });
    }
}

static void average_pool_gradient(const struct cpu_window *w, const float *gradient, float *to) {
  const size_t line = w->padded_width * w->ld;
  for (size_t y = 0; y < w->out_height; y++)
    for (size_t x = 0; x < w->out_width; x++, gradient += w->ld) {
      float *at = to + (y * line + x * w->ld) * w->stride;
      const vec share = window_share(w, y, x);
      CPU_FOR_LANES(c, w->ld, {
        const vec part = v_load_lanes(gradient + c, LANES) * share;
        for (size_t ky = 0; ky < w->kernel_height; ky++)
          for (size_t kx = 0; kx < w->kernel_width; kx++) {
            float *here = at + ky * line + kx * w->ld + c;
            v_store_lanes(here, v_load_lanes(here, LANES) + part, LANES);
          }
      });
    }
}

#endif
