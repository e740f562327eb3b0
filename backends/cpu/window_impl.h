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
  return lanes >= CPU_LANES ? v_load(p) : v_load_half(p);
}
CPU_INLINE void v_store_lanes(float *p, vec x, const size_t lanes) {
  if (lanes >= CPU_LANES)
    v_store(p, x);
  else
    v_store_half(p, x);
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
