/* test_cpu_windows.c - the kernels that move windows over images, of every instruction set that this machine has,
   against plain loops in double precision, on random shapes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backends/cpu/kernels_impl.h"
#include "cpu_levels.h"
#include "golden.h"

#include <tutti/context.h>
#include <tutti/random.h>

enum { SHAPES = 60 };

static struct tutti_random draws;

static size_t below(size_t n) { return (size_t)tutti_random_below(&draws, (uint32_t)n); }

/* `count` normal numbers, with a line to spare. */
static float *draw(size_t count) {
  float *x = aligned_alloc(64, (count + 31) / 16 * 64);
  assert_non_null(x);
  tutti_random_fill_normal(&draws, (count + 31) / 16 * 16, 0, 1, x);
  return x;
}

static float *zeros(size_t count) {
  float *x = draw(count);
  memset(x, 0, count * sizeof *x);
  return x;
}

/* A window that fits; mostly of the kernels that have code of their own, and wide enough for all of it. */
static struct cpu_window draw_window(void) {
  struct cpu_window w = {.stride = 1 + below(3), .dilation = 1 + below(2), .ld = 8 * (1 + below(5))};
  size_t square = below(4);
  w.kernel_height = square == 0 ? 3 : square == 1 ? 5 : 1 + below(4);
  w.kernel_width = square <= 1 ? w.kernel_height : 1 + below(5);
  w.stride = below(2) ? 1 : w.stride;
  w.out_height = 1 + below(5);
  w.out_width = 1 + below(21);
  size_t reach_y = (w.out_height - 1) * w.stride + (w.kernel_height - 1) * w.dilation + 1;
  size_t reach_x = (w.out_width - 1) * w.stride + (w.kernel_width - 1) * w.dilation + 1;
  w.top = below(w.kernel_height);
  w.left = below(w.kernel_width);
  w.top = w.top < reach_y ? w.top : reach_y - 1;
  w.left = w.left < reach_x ? w.left : reach_x - 1;
  w.padded_height = reach_y;
  w.padded_width = reach_x;
  w.in_height = reach_y - w.top;
  w.in_width = reach_x - w.left;
  return w;
}

static size_t in_size(const struct cpu_window *w) { return w->padded_height * w->padded_width * w->ld; }
static size_t out_size(const struct cpu_window *w) { return w->out_height * w->out_width * w->ld; }

/* Floats of the padded input from its beginning to tap (ky, kx) of output (y, x). */
static size_t under(const struct cpu_window *w, size_t y, size_t x, size_t ky, size_t kx) {
  return ((y * w->stride + ky * w->dilation) * w->padded_width + x * w->stride + kx * w->dilation) * w->ld;
}

#define FOR_EACH_TAP(w, y, x, ky, kx)                                                                                  \
  for (size_t y = 0; y < (w).out_height; y++)                                                                          \
    for (size_t x = 0; x < (w).out_width; x++)                                                                         \
      for (size_t ky = 0; ky < (w).kernel_height; ky++)                                                                \
        for (size_t kx = 0; kx < (w).kernel_width; kx++)

static void check_depthwise(const struct cpu_kernels *k) {
  struct cpu_window w = draw_window();
  size_t taps = w.kernel_height * w.kernel_width, ldw = w.ld + 16, mode = below(8);
  struct cpu_depthwise d = {.window = w, .ldw = ldw, .accumulate = mode & 1, .mask_line = w.out_width * w.ld + 8};
  float *in = draw(in_size(&w)), *weights = draw(taps * ldw), *bias = draw(w.ld), *out = draw(out_size(&w));
  float *before = draw(out_size(&w)), *mask = draw(w.out_height * d.mask_line);
  struct cpu_ahead ahead = {.streams = {{(const char *)in, 3}, {(const char *)in, 20}}, .count = 2, .lines = 9};
  double *want = calloc(out_size(&w), sizeof *want);
  memcpy(before, out, out_size(&w) * sizeof *out);
  d.weights = weights;
  d.bias = mode & 2 ? bias : NULL;
  d.mask = mode & 4 ? mask : NULL;
  d.ahead = &ahead;
  k->depthwise(&d, in, out);
  FOR_EACH_TAP(w, y, x, ky, kx)
  for (size_t c = 0; c < w.ld; c++)
    want[(y * w.out_width + x) * w.ld + c] +=
        (double)in[under(&w, y, x, ky, kx) + c] * (double)weights[(ky * w.kernel_width + kx) * ldw + c];
  for (size_t i = 0; i < out_size(&w); i++) {
    size_t line = w.out_width * w.ld;
    double sum = want[i] + (d.bias ? (double)bias[i % w.ld] : 0);
    sum = d.mask && mask[i / line * d.mask_line + i % line] <= 0 ? 0 : sum;
    assert_close((double)out[i], sum + (d.accumulate ? (double)before[i] : 0), 1e-5, 1e-5);
  }
  free(in), free(weights), free(bias), free(out), free(before), free(mask), free(want);
}

static void check_depthwise_weights(const struct cpu_kernels *k) {
  struct cpu_window w = draw_window();
  size_t taps = w.kernel_height * w.kernel_width, ldw = w.ld + 16;
  size_t pixel = w.ld + (below(2) ? 8 * below(3) : 0), line = w.out_width * pixel + 8 * below(2);
  struct cpu_depthwise_weights d = {.window = w, .ldw = ldw, .pixel = pixel, .line = line};
  float *in = draw(in_size(&w)), *gradient = draw(w.out_height * line), *to = draw(taps * ldw);
  double *want = calloc(taps * ldw, sizeof *want);
  for (size_t i = 0; i < taps * ldw; i++)
    want[i] = (double)to[i];
  k->depthwise_weights(&d, in, gradient, to);
  FOR_EACH_TAP(w, y, x, ky, kx)
  for (size_t c = 0; c < w.ld; c++)
    want[(ky * w.kernel_width + kx) * ldw + c] +=
        (double)in[under(&w, y, x, ky, kx) + c] * (double)gradient[y * line + x * pixel + c];
  for (size_t i = 0; i < taps * ldw; i++)
    assert_close((double)to[i], want[i], 1e-5, 2e-5);
  free(in), free(gradient), free(to), free(want);
}

static void check_pools(const struct cpu_kernels *k) {
  struct cpu_window w = draw_window();
  w.dilation = 1;
  float *in = draw(in_size(&w)), *most = draw(out_size(&w));
  float *gradient = draw(out_size(&w)), *to_most = zeros(in_size(&w));
  double *want_most = calloc(in_size(&w), sizeof *want_most);
  k->max_pool(&w, in, most);
  k->max_pool_gradient(&w, in, most, gradient, to_most);
  size_t pixel = w.ld + 8 * below(2), line = w.out_width * pixel + 8 * below(2);
  float *apart = zeros(w.out_height * line);
  k->average(&w, gradient, pixel, line, apart);
  for (size_t i = 0; i < out_size(&w); i++) {
    size_t y = i / w.ld / w.out_width, x = i / w.ld % w.out_width, c = i % w.ld, best = SIZE_MAX, count = 0;
    for (size_t ky = 0; ky < w.kernel_height; ky++)
      for (size_t kx = 0; kx < w.kernel_width; kx++) {
        size_t at = under(&w, y, x, ky, kx) + c;
        best = best == SIZE_MAX || in[at] > in[best] ? at : best;
        size_t row = y * w.stride + ky, column = x * w.stride + kx;
        count += row >= w.top && row < w.top + w.in_height && column >= w.left && column < w.left + w.in_width;
      }
    assert_true(most[i] == in[best]);
    assert_close((double)apart[y * line + x * pixel + c], (double)gradient[i] / (double)count, 1e-6, 1e-6);
    want_most[best] += (double)gradient[i];
  }
  for (size_t i = 0; i < in_size(&w); i++)
    assert_close((double)to_most[i], want_most[i], 1e-5, 1e-5);
  free(in), free(most), free(apart), free(gradient), free(to_most), free(want_most);
}

/* Into a larger image and out again, spread or viewed. */
static void check_padding(const struct cpu_kernels *k) {
  struct cpu_pad p = {.height = 1 + below(4), .width = 1 + below(9), .ld = 8 * (1 + below(4)), .step = 1 + below(3)};
  p.image_ld = p.ld;
  p.top = below(3);
  p.left = below(3);
  p.padded_height = p.top + (p.height - 1) * p.step + 1 + below(3);
  p.padded_width = p.left + (p.width - 1) * p.step + 1 + below(3);
  p.fill = below(2) ? 0 : -INFINITY;
  size_t period = p.ld % 16 ? 2 * p.ld : p.ld, size = p.height * p.width * p.ld;
  size_t padded = p.padded_height * p.padded_width * p.ld;
  float *in = draw(size), *out = draw(padded), *scale = draw(period), *shift = draw(period), *back = draw(size);
  float *before = draw(size), *mask = draw(padded);
  memcpy(scale + p.ld, scale, (period - p.ld) * sizeof *scale);
  memcpy(shift + p.ld, shift, (period - p.ld) * sizeof *shift);
  struct cpu_affine view = {.period = period, .scale = scale, .shift = shift, .relu = below(2)};
  p.view = p.step == 1 && below(2) ? &view : NULL;
  memcpy(before, back, size * sizeof *back);
  for (size_t i = 0; i < padded; i++)
    out[i] = p.fill;
  k->pad(&p, in, out);
  k->crop(&p, out, mask, true, back);
  for (size_t y = 0; y < p.padded_height; y++)
    for (size_t x = 0; x < p.padded_width; x++)
      for (size_t c = 0; c < p.ld; c++) {
        size_t at = (y * p.padded_width + x) * p.ld + c;
        bool inside = y >= p.top && x >= p.left && (y - p.top) % p.step == 0 && (x - p.left) % p.step == 0 &&
                      (y - p.top) / p.step < p.height && (x - p.left) / p.step < p.width;
        if (!inside) {
          assert_true(out[at] == p.fill);
          continue;
        }
        size_t from = ((y - p.top) / p.step * p.width + (x - p.left) / p.step) * p.ld + c;
        double want = (double)in[from];
        if (p.view)
          want = want * (double)scale[c] + (double)shift[c];
        want = p.view && view.relu && want < 0 ? 0 : want;
        assert_close((double)out[at], want, 1e-6, 1e-6);
        if (p.step == 1)
          assert_true(back[from] == before[from] + (mask[at] > 0 ? out[at] : 0));
      }
  free(in), free(out), free(scale), free(shift), free(back), free(before), free(mask);
}

/* Into a larger image whose pixels are their channels alone, and out again. */
static void check_compact(const struct cpu_kernels *k) {
  struct cpu_pad p = {.height = 1 + below(4), .width = 1 + below(9), .image_ld = 8 * (1 + below(4)), .step = 1};
  p.ld = p.image_ld - 1 - below(7);
  p.top = below(3);
  p.left = below(3);
  p.padded_height = p.top + p.height + below(3);
  p.padded_width = p.left + p.width + below(3);
  size_t size = p.height * p.width * p.image_ld, padded = p.padded_height * p.padded_width * p.ld;
  bool masked = below(2), adds = below(2);
  float *in = draw(size), *out = draw(padded), *was = draw(padded), *back = draw(size), *before = draw(size);
  float *mask = draw(padded);
  memcpy(was, out, padded * sizeof *out);
  memcpy(before, back, size * sizeof *back);
  k->pad(&p, in, out);
  k->crop(&p, out, masked ? mask : NULL, adds, back);
  for (size_t y = 0; y < p.padded_height; y++)
    for (size_t x = 0; x < p.padded_width; x++)
      for (size_t c = 0; c < p.image_ld; c++) {
        bool inside = y >= p.top && x >= p.left && y - p.top < p.height && x - p.left < p.width;
        size_t at = (y * p.padded_width + x) * p.ld + c;
        size_t from = inside ? ((y - p.top) * p.width + x - p.left) * p.image_ld + c : 0;
        if (c < p.ld)
          assert_true(out[at] == (inside ? in[from] : was[at]));
        if (!inside)
          continue;
        float gradient = c < p.ld && (!masked || mask[at] > 0) ? in[from] : 0;
        assert_true(back[from] == (adds ? before[from] : 0) + gradient);
      }
  free(in), free(out), free(was), free(back), free(before), free(mask);
}

static void check_patches(const struct cpu_kernels *k) {
  struct cpu_window w = draw_window();
  size_t taps[25], count = 0, channels = w.ld - below(8);
  for (size_t ky = 0; ky < w.kernel_height; ky++)
    for (size_t kx = 0; kx < w.kernel_width; kx++)
      taps[count++] = under(&w, 0, 0, ky, kx);
  struct cpu_patches p = {.rows = w.out_height,
                          .width = w.out_width,
                          .channels = channels,
                          .ldo = (count * channels + 15) / 16 * 16,
                          .row_step = w.stride * w.padded_width * w.ld,
                          .pixel_step = w.stride * w.ld,
                          .taps = taps,
                          .tap_count = count};
  size_t size = p.rows * p.width * p.ldo;
  float *in = draw(in_size(&w)), *out = draw(size + 16), *back = zeros(in_size(&w));
  double *want = calloc(in_size(&w), sizeof *want);
  k->patches(&p, in, out);
  k->unpatch(&p, out, back);
  FOR_EACH_TAP(w, y, x, ky, kx)
  for (size_t c = 0; c < channels; c++) {
    size_t from = under(&w, y, x, ky, kx) + c;
    assert_true(out[(y * p.width + x) * p.ldo + (ky * w.kernel_width + kx) * channels + c] == in[from]);
    want[from] += (double)in[from];
  }
  for (size_t i = 0; i < in_size(&w); i++)
    assert_close((double)back[i], want[i], 1e-5, 1e-6);
  free(in), free(out), free(back), free(want);
}

/* Sums and products by channel, of any number of pixels. */
static void check_channels(const struct cpu_kernels *k) {
  size_t ld = 8 * (1 + below(5)), period = ld % 16 ? 2 * ld : ld, pixels = 1 + below(40), size = pixels * ld;
  float *x = draw(size), *g = draw(size), *to = draw(size), *before = draw(size), *arrays[6];
  for (size_t a = 0; a < 6; a++) {
    arrays[a] = draw(period);
    memcpy(arrays[a] + ld, arrays[a], (period - ld) * sizeof **arrays);
  }
  float *mean = arrays[0], *gain = arrays[1], *tilt = arrays[2], *offset = arrays[3], *sums = arrays[4];
  float *squares = arrays[5];
  memcpy(before, to, size * sizeof *to);
  struct cpu_norm norm = {.period = period, .mean = mean, .gain = gain, .tilt = tilt, .offset = offset};
  k->norm_gradient(&norm, size, g, x, true, to);
  for (size_t i = 0; i < size; i++) {
    size_t c = i % ld;
    double apart = (double)x[i] - (double)mean[c];
    assert_close((double)to[i],
                 (double)before[i] + (double)gain[c] * (double)g[i] + (double)tilt[c] * apart + (double)offset[c], 1e-5,
                 1e-5);
  }
  struct cpu_affine view = {.period = period, .scale = below(2) ? gain : NULL, .shift = offset, .relu = below(2)};
  size_t apart_in = ld + 8 * below(3), apart_out = ld + 8 * below(3), most = pixels * (ld + 16);
  float *wide = draw(most), *placed = draw(most), *kept = draw(most);
  memcpy(kept, placed, most * sizeof *kept);
  k->place(&view, pixels, ld, wide, apart_in, placed, apart_out);
  for (size_t i = 0; i < most; i++) {
    size_t p = i / apart_out, c = i % apart_out;
    bool inside = p < pixels && c < ld;
    double want = inside ? (double)wide[p * apart_in + c] : (double)kept[i];
    want = inside && view.scale ? want * (double)gain[c] + (double)offset[c] : want;
    assert_close((double)placed[i], inside && view.relu && want < 0 ? 0 : want, 1e-6, 1e-6);
  }
  free(wide), free(placed), free(kept);
  for (int gradients = 0; gradients < 2; gradients++) {
    if (gradients)
      k->norm_moments(&norm, size, g, x, sums, squares);
    else
      k->moments(size, period, x, mean, sums, squares);
    for (size_t c = 0; c < ld; c++) {
      double sum = 0, square = 0, got = 0, got_square = 0;
      for (size_t i = c; i < size; i += ld) {
        double apart = (double)x[i] - (double)mean[c], one = gradients ? (double)g[i] : apart;
        sum += one;
        square += one * apart;
      }
      for (size_t at = c; at < period; at += ld) {
        got += (double)sums[at];
        got_square += (double)squares[at];
      }
      assert_close(got, sum, 1e-5, 1e-5);
      assert_close(got_square, square, 1e-5, 1e-5);
    }
  }
  free(x), free(g), free(to), free(before);
  for (size_t a = 0; a < 6; a++)
    free(arrays[a]);
}

static void on_random_shapes(void **state, void (*check)(const struct cpu_kernels *k)) {
  tutti_random_init(&draws, 4, "shapes", 0);
  for (int i = 0; i < SHAPES; i++)
    check(kernels_of(state));
}

static void test_depthwise(void **state) {
  on_random_shapes(state, check_depthwise);
  on_random_shapes(state, check_depthwise_weights);
}

static void test_pools(void **state) { on_random_shapes(state, check_pools); }

static void test_padding_and_patches(void **state) {
  on_random_shapes(state, check_padding);
  on_random_shapes(state, check_compact);
  on_random_shapes(state, check_patches);
}

static void test_channels(void **state) { on_random_shapes(state, check_channels); }

int main(void) {
  struct level_tests all = {.count = 0};
  add_on_levels(&all, "test_depthwise", 0, test_depthwise);
  add_on_levels(&all, "test_pools", 0, test_pools);
  add_on_levels(&all, "test_padding_and_patches", 0, test_padding_and_patches);
  add_on_levels(&all, "test_channels", 0, test_channels);
  return run_on_levels(&all, "tests", NULL, NULL);
}
