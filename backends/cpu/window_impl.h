/* window_impl.h - everything that moves a window over an image: depthwise convolution, pools, patches for products. An
   image has its channels innermost, [height][width][ld], ld a multiple of 8. A kernel reads a padded copy, so it needs
   no code for borders. Channels are worked on in vectors; where vectors have 16 lanes, the last 8 channels of a pixel
   take half a vector, and pixels of exactly 8 channels go two to a vector where they can. */
#ifndef BACKEND_CPU_WINDOW_IMPL_H
#define BACKEND_CPU_WINDOW_IMPL_H

#include "channel_impl.h"
#include "kernels_impl.h"
#include "lanes_impl.h"

/* --- padding --- */

static void copy_floats(size_t count, const float *in, float *out) {
  CPU_FOR_LANES(i, count, v_store_lanes(out + i, v_load_lanes(in + i, LANES), LANES));
}

/* Pixels without the floats behind the first p->ld ones of each, which may be any number. */
static void pad_compact(const struct cpu_pad *p, const float *in, float *out) {
  const size_t ld = p->ld;
  for (size_t y = 0; y < p->height; y++, out += p->padded_width * ld)
    for (size_t x = 0; x < p->width; x++, in += p->image_ld)
      for (size_t c = 0; c < ld; c += CPU_LANES) {
        const size_t count = ld - c < CPU_LANES ? ld - c : CPU_LANES;
        v_store_first(out + x * ld + c, v_load_first(in + c, count), count);
      }
}

static void pad(const struct cpu_pad *p, const void *image, float *out) {
  const size_t line = p->padded_width * p->ld, inner = p->width * p->ld;
  const size_t number = p->view && p->view->half ? sizeof(uint16_t) : sizeof(float);
  out += p->top * line + p->left * p->ld;
  if (p->ld < p->image_ld) {
    pad_compact(p, image, out);
    return;
  }
  for (size_t y = 0; y < p->height; y++, out += p->step * line) {
    const void *in = (const char *)image + y * inner * number;
    if (p->step > 1)
      for (size_t x = 0; x < p->width; x++)
        copy_floats(p->ld, (const float *)in + x * p->ld, out + x * p->step * p->ld);
    else if (p->view)
      affine(p->view, inner, in, false, out);
    else
      copy_floats(inner, in, out);
  }
}

/* Back from where pad_compact writes to: the floats behind those of a pixel are 0. */
static void crop_compact(const struct cpu_pad *p, const float *in, const float *mask, bool accumulate, float *out) {
  const size_t ld = p->ld, line = p->padded_width * ld;
  for (size_t y = 0; y < p->height; y++)
    for (size_t x = 0; x < p->width; x++, out += p->image_ld) {
      const size_t at = (p->top + y) * line + (p->left + x) * ld;
      CPU_FOR_LANES(c, p->image_ld, {
        const size_t left = ld > c ? ld - c : 0, count = left < LANES ? left : LANES;
        vec g = v_load_first(in + at + c, count);
        if (mask)
          g = v_masked(v_greater(v_load_first(mask + at + c, count), v_zero()), g);
        if (accumulate)
          g = g + v_load_lanes(out + c, LANES);
        v_store_lanes(out + c, g, LANES);
      });
    }
}

static void crop(const struct cpu_pad *p, const float *in, const float *mask, bool accumulate, float *out) {
  const size_t line = p->padded_width * p->ld, inner = p->width * p->ld;
  if (p->ld < p->image_ld) {
    crop_compact(p, in, mask, accumulate, out);
    return;
  }
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

/* --- patches --- */

/* Taps whose channels lie side by side, in the image as in the patch: those of a row of the window, if it is not
   dilated and its channels fill their pixels. */
static size_t taps_together(const struct cpu_patches *p) {
  size_t taps = 1;
  while (taps < p->tap_count && p->taps[taps] == p->taps[0] + taps * p->channels)
    taps++;
  return taps;
}

static void patches(const struct cpu_patches *p, const float *in, float *out) {
  const size_t together = taps_together(p), floats = (together * p->channels + 7) / 8 * 8;
  for (size_t y = 0; y < p->rows; y++)
    for (size_t x = 0; x < p->width; x++, out += p->ldo) {
      const float *from = in + y * p->row_step + x * p->pixel_step;
      for (size_t t = 0; t < p->tap_count; t += together)
        copy_floats(floats, from + p->taps[t], out + t * p->channels);
    }
}

static void unpatch(const struct cpu_patches *p, const float *in, float *out) {
  const size_t together = taps_together(p), floats = together * p->channels, whole = floats / 8 * 8;
  for (size_t y = 0; y < p->rows; y++)
    for (size_t x = 0; x < p->width; x++, in += p->ldo) {
      float *to = out + y * p->row_step + x * p->pixel_step;
      for (size_t t = 0; t < p->tap_count; t += together) {
        const float *from = in + t * p->channels;
        float *at = to + p->taps[t];
        CPU_FOR_LANES(c, whole,
                      v_store_lanes(at + c, v_load_lanes(at + c, LANES) + v_load_lanes(from + c, LANES), LANES));
        for (size_t c = whole; c < floats; c++)
          at[c] += from[c];
      }
    }
}

/* --- pools --- */

/* `count` vectors of one row, `step` floats apart, from inputs `in_step` apart. */
CPU_INLINE void max_pool_row(const size_t kh, const size_t kw, const size_t lanes, size_t ld, size_t line,
                             const float *in, size_t in_step, size_t count, float *out, size_t step) {
  for (size_t i = 0; i < count; i++, in += in_step) {
    vec most = v_load_lanes(in, lanes);
    CPU_UNROLL for (size_t ky = 0; ky < kh; ky++) {
      CPU_UNROLL for (size_t kx = 0; kx < kw; kx++) most = v_max(v_load_lanes(in + ky * line + kx * ld, lanes), most);
    }
    v_store_lanes(out + i * step, most, lanes);
  }
}

/* Two pixels of 8 channels go to a vector of 16. */
CPU_INLINE void max_pool_window(const size_t kh, const size_t kw, const struct cpu_window *w, const float *in,
                                float *out) {
  const size_t line = w->padded_width * w->ld;
  const size_t pairs = CPU_LANES == 16 && w->ld == 8 && w->stride == 1 ? w->out_width / 2 : 0;
  for (size_t y = 0; y < w->out_height; y++, in += w->stride * line, out += w->out_width * w->ld) {
    max_pool_row(kh, kw, CPU_LANES, w->ld, line, in, 16, pairs, out, 16);
    CPU_FOR_LANES(c, w->ld,
                  max_pool_row(kh, kw, LANES, w->ld, line, in + pairs * 16 + c, w->stride * w->ld,
                               w->out_width - 2 * pairs, out + pairs * 16 + c, w->ld));
  }
}

static void max_pool(const struct cpu_window *w, const float *in, float *out) {
  if (w->kernel_height == 3 && w->kernel_width == 3)
    max_pool_window(3, 3, w, in, out);
  else
    max_pool_window(w->kernel_height, w->kernel_width, w, in, out);
}

/* The gradient goes to the first of the largest values. */
CPU_INLINE void max_pool_gradient_window(const size_t kh, const size_t kw, const struct cpu_window *w, const float *in,
                                         const float *value, const float *gradient, float *to) {
  const size_t line = w->padded_width * w->ld;
  for (size_t y = 0; y < w->out_height; y++)
    for (size_t x = 0; x < w->out_width; x++, value += w->ld, gradient += w->ld) {
      const size_t at = (y * line + x * w->ld) * w->stride;
      CPU_FOR_LANES(c, w->ld, {
        vec most = v_load_lanes(value + c, LANES), rest = v_load_lanes(gradient + c, LANES);
        CPU_UNROLL for (size_t ky = 0; ky < kh; ky++) {
          CPU_UNROLL for (size_t kx = 0; kx < kw; kx++) {
            const size_t here = at + ky * line + kx * w->ld + c;
            vmask less = v_greater(most, v_load_lanes(in + here, LANES));
            v_store_lanes(to + here, v_load_lanes(to + here, LANES) + v_select(less, v_zero(), rest), LANES);
            rest = v_masked(less, rest);
          }
        }
      });
    }
}

static void max_pool_gradient(const struct cpu_window *w, const float *in, const float *value, const float *gradient,
                              float *to) {
  if (w->kernel_height == 3 && w->kernel_width == 3)
    max_pool_gradient_window(3, 3, w, in, value, gradient, to);
  else
    max_pool_gradient_window(w->kernel_height, w->kernel_width, w, in, value, gradient, to);
}

/* The number of pixels of the window at `at` (in strides, along one side) that are not padding. */
CPU_INLINE size_t window_inside(size_t at, size_t stride, size_t kernel, size_t before, size_t length) {
  const size_t begin = at * stride, end = begin + kernel, last = before + length;
  return (end < last ? end : last) - (begin > before ? begin : before);
}

static void average(const struct cpu_window *w, const float *in, size_t pixel, size_t line, float *out) {
  for (size_t y = 0; y < w->out_height; y++) {
    const size_t rows = window_inside(y, w->stride, w->kernel_height, w->top, w->in_height);
    for (size_t x = 0; x < w->out_width; x++, in += w->ld) {
      const size_t columns = window_inside(x, w->stride, w->kernel_width, w->left, w->in_width);
      const vec share = v_set(1 / (float)(rows * columns));
      CPU_FOR_LANES(c, w->ld,
                    v_store_lanes(out + y * line + x * pixel + c, v_load_lanes(in + c, LANES) * share, LANES));
    }
  }
}

#endif
