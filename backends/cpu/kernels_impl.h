/* kernels_impl.h - the table of kernels that each instruction set fills.

   Arrays begin on 64 bytes and have 16 floats to spare; `count` is a multiple of 16 unless said otherwise. Matrices are
   [rows][ld] with ld a multiple of 16, images [pixels][ld] with ld a multiple of 8; whole padded rows are worked on. Invariant: columns of weights and of gradients past a layer's
   width are 0; past the width of values they are finite and never reach a column within it. */
#ifndef BACKEND_CPU_KERNELS_IMPL_H
#define BACKEND_CPU_KERNELS_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tutti/cpu.h>
#include <tutti/network.h>

#include "optimiser_list_impl.h"

/* Depth of the blocks in which long sums are taken. */
enum { CPU_GEMM_DEPTH = 256 };

struct cpu_ahead;
struct cpu_rule;

/* C[m][n] = sum_k A(m, k) B[k][n], and what is fused around it; some times over with one B. */
struct cpu_gemm {
  size_t m, n, k; /* n: a multiple of 8 */
  const float *a; /* A(i, j) = a[i * a_row + j * a_column]; one of the two is 1 */
  size_t a_row, a_column;
  const float *b; /* [k][ldb] */
  size_t ldb;
  float *c; /* [m][ldc] */
  size_t ldc;
  const float *bias; /* [n], the sum's first term; or NULL */
  const float *mask; /* [m][ldm]: C is zeroed where this is not positive; or NULL */
  size_t ldm;
  bool accumulate, relu; /* add to C; C = max(0, C) */
  bool mask_sum;         /* the mask is for the sum alone, not for what it is added to */
  size_t more;           /* products after the first; their A, C and masks lie these floats behind the one before */
  size_t a_next, c_next, mask_next;
  struct cpu_ahead *ahead;
};

/* A Gaussian head's constants. */
struct cpu_gaussian {
  float scale, floor;
  bool variance;
  float weight; /* gradients are multiplied by it: 1 / values of the batch */
};

/* Which numbers of a layer's output a step of training drops: a function of these alone, the same on every processor.
 */
struct cpu_mask {
  uint64_t key, step;
  uint32_t layer;
  uint32_t threshold; /* rate * 2^32 */
  float keep;         /* 1 / (1 - rate) */
};

/* How a window moves over an image that has its padding around it. Images are [height][width][ld]. */
struct cpu_window {
  size_t in_height, in_width, out_height, out_width;
  size_t kernel_height, kernel_width, stride, dilation;
  size_t top, left;                   /* padding in front; what is behind follows from the next line */
  size_t padded_height, padded_width; /* of the input with its padding */
  size_t ld; /* floats of a pixel of the input; of pools and depthwise convolutions also of the output */
};

/* y = x scale + shift, not below 0 if wanted; over a period of channel_impl.h. */
struct cpu_affine {
  size_t period;
  const float *scale, *shift; /* NULL: y = x */
  bool relu;
};

/* What will be read soon, and is fetched into the second-level cache a few lines at a time while kernels compute. */
enum { CPU_STREAMS = 24 };
struct cpu_ahead {
  struct {
    const char *at;
    size_t lines; /* of 64 bytes */
  } streams[CPU_STREAMS];
  size_t count;
  size_t lines, calls; /* at a time; how often kernels have asked so far */
};

struct cpu_depthwise {
  struct cpu_window window;
  const float *weights; /* [taps][ldw] */
  size_t ldw;
  const float *bias; /* [ld], the sum's first term; or NULL */
  const float *mask; /* [out_height][mask_line]: the sum is 0 where this is not positive; or NULL */
  size_t mask_line;
  bool accumulate; /* added to what is there */
  struct cpu_ahead *ahead;
};

struct cpu_depthwise_weights {
  struct cpu_window window;
  size_t ldw;
  size_t pixel, line; /* floats of the gradient from one output pixel, and from one row, to the next */
  struct cpu_ahead *ahead;
};

/* An image of [height][width][ld] in a larger one: at (top, left), its pixels `step` apart. */
struct cpu_pad {
  size_t height, width, ld, top, left, padded_height, padded_width, step;
  float fill;                    /* what the reader wants everywhere else */
  const struct cpu_affine *view; /* what becomes of the image's numbers; NULL: nothing. For steps of 1 */
};

/* The pixels under the taps of a window, side by side: [rows][width][taps][channels], an output pixel `ldo` floats. */
struct cpu_patches {
  size_t rows, width, channels, ldo;
  size_t row_step, pixel_step; /* floats of the padded input from one output row, and pixel, to the next */
  const size_t *taps;          /* [tap_count]: floats from the window's first pixel */
  size_t tap_count;
};

/* The gradient of batch norm's input, gain g + tilt (x - mean) + offset, each over a period of channel_impl.h. */
struct cpu_norm {
  size_t period;
  const float *mean, *gain, *tilt, *offset;
};

struct cpu_kernels {
  void (*gemm)(const struct cpu_gemm *product);
  /* out[columns][ldo] = in[rows][ldi]'; columns of `out` up to the next multiple of 16 are zeroed. */
  void (*transpose)(size_t rows, size_t columns, const float *in, size_t ldi, float *out, size_t ldo);
  /* out[n] = sum over the rows of in[rows][ld], n a multiple of 8. */
  void (*column_sums)(size_t rows, size_t n, const float *in, size_t ld, float *out);
  /* out[i][ldo] = in[rows[i]][features], any `features`; the padding of `out` is left alone. */
  void (*gather)(size_t count, size_t features, const float *in, const uint32_t *rows, float *out, size_t ldo);

  /* Into the padded image, whose padding stays as it is; out of it, 0 where the mask (as `in`; NULL: none) is not positive, added to what is there or
     not. */
  void (*pad)(const struct cpu_pad *pad, const float *in, float *out);
  void (*crop)(const struct cpu_pad *pad, const float *in, const float *mask, bool accumulate, float *out);
  /* Convolution channel by channel of a padded image with weights [taps][ldw]. */
  void (*depthwise)(const struct cpu_depthwise *depthwise, const float *in, float *out);
  /* Adds the gradient of its weights. */
  void (*depthwise_weights)(const struct cpu_depthwise_weights *work, const float *in, const float *gradient,
                            float *weights);
  /* Patches of a padded image; `out` has 16 floats to spare. And each added back to where it came from. */
  void (*patches)(const struct cpu_patches *patches, const float *in, float *out);
  void (*unpatch)(const struct cpu_patches *patches, const float *in, float *out);
  /* Maxima of a padded image (-infinity around), and their gradients added to a padded one. */
  void (*max_pool)(const struct cpu_window *window, const float *in, float *out);
  void (*max_pool_gradient)(const struct cpu_window *window, const float *in, const float *value, const float *gradient,
                            float *to);
  /* Each pixel [out_height][out_width][ld] divided by how many pixels of the image its window sees; out of it, distances
     of pixels and of rows are given. */
  void (*average)(const struct cpu_window *window, const float *in, size_t pixel, size_t line, float *out);

  /* By channel (channel_impl.h), `size` a multiple of 8: y (+)= f(x); sums of x - shift and their squares; sums of g and
     g (x - mean); the gradient of batch norm's input. NaN stays NaN. */
  void (*affine)(const struct cpu_affine *f, size_t size, const float *x, bool accumulate, float *y);
  /* y[pixels][ldy] = f(x[pixels][ldx]), `width` channels of each, a multiple of 8. */
  void (*place)(const struct cpu_affine *f, size_t pixels, size_t width, const float *x, size_t ldx, float *y,
                size_t ldy);
  void (*moments)(size_t size, size_t period, const float *x, const float *shift, float *sums, float *squares);
  void (*norm_moments)(size_t size, size_t period, const float *g, const float *x, const float *mean, float *sums,
                       float *products);
  void (*norm_gradient)(const struct cpu_norm *norm, size_t size, const float *g, const float *x, bool accumulate,
                        float *to);

  /* y = f(x) in place; slope = f'(x) for those activations that cannot tell it from y (NULL: not wanted). */
  void (*activate[TUTTI_ACTIVATION_COUNT])(size_t count, float *y, float *slope);
  /* gradient *= f'(x), from y or from the slope. */
  void (*derive[TUTTI_ACTIVATION_COUNT])(size_t count, const float *y, const float *slope, float *gradient);

  void (*add)(size_t count, const float *x, float *y);                                        /* y += x */
  void (*scale)(size_t count, float factor, float *y);                                        /* y *= factor */
  void (*multiply)(size_t count, const float *x, const float *by, float *y, bool accumulate); /* y (+)= x by */
  void (*mask)(const struct cpu_mask *mask, size_t count, float *y);                          /* y = 0 or mask->keep */
  double (*sum_squares)(size_t count, const float *x);
  void (*axpy)(size_t count, float a, const float *x, float *y); /* y += a x */

  const struct cpu_rule *rules[CPU_OPTIMISERS]; /* optimiser_impl.h */

  /* Gaussian negative log-likelihood of `count` values; gradients in mean and raw, NULL when not wanted. */
  double (*gaussian)(const struct cpu_gaussian *head, size_t count, const float *mean, const float *raw,
                     const float *target, float *mean_gradient, float *raw_gradient);
  /* What the raw second half means: out[count] = variances. */
  void (*variance)(const struct cpu_gaussian *head, size_t count, const float *raw, float *out);
  /* x[rows][ld] of `classes` logits in place to probabilities, 0 in the padding; log_sum[rows] = the logarithm of the
     sum of exponentials (NULL: not wanted). */
  void (*softmax)(size_t rows, size_t classes, float *x, size_t ld, float *log_sum);
  /* y = exp(x), for NOMU. */
  void (*exponential)(size_t count, const float *x, float *y);
};

extern const struct cpu_kernels backend_cpu_kernels_baseline;
#if defined(__x86_64__) && defined(__GNUC__)
extern const struct cpu_kernels backend_cpu_kernels_avx2, backend_cpu_kernels_avx512;
#endif

/* The kernels of an instruction set; those below it where this build has none for it. */
const struct cpu_kernels *backend_cpu_kernels(enum tutti_cpu cpu);

#endif
