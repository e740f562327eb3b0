/* kernels_impl.h - the table of kernels that each instruction set fills. Arrays begin at a multiple of 64 bytes and
   have 16 floats to spare; `count` is a multiple of 16 unless stated otherwise. Matrices are [rows][ld] with ld a
   multiple of 16, images [pixels][ld] with ld a multiple of 8; kernels work on whole padded rows. Invariant: columns of
   weights and of gradients beyond a layer's width are 0; those of values are finite and never reach a column within the
   width. */
#ifndef BACKEND_CPU_KERNELS_IMPL_H
#define BACKEND_CPU_KERNELS_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tutti/cpu.h>
#include <tutti/network.h>

#include "optimiser_id_impl.h"

/* Depth of the blocks in which long sums are taken. */
enum { CPU_GEMM_DEPTH = 256 };
/* Large products (gemm_large_impl.h): the most columns of a part, and the floats that it packs A and all into. */
enum {
  CPU_LARGE_COLUMNS = 256,
  CPU_LARGE_PACK_A = CPU_GEMM_DEPTH * 16,
  CPU_LARGE_PACK = CPU_LARGE_PACK_A + CPU_GEMM_DEPTH * CPU_LARGE_COLUMNS + 16
};

struct cpu_ahead;
struct cpu_rule;

/* C[m][n] = sum_k A(m, k) B[k][n] and the operations fused around it; several products may share one B. */
struct cpu_gemm {
  size_t m, n, k; /* n: a multiple of 8 */
  /* Columns of B from here on are 0, and between k and the next multiple of 16 A is finite; 0: not known. */
  size_t units;
  const float *a; /* A(i, j) = a[i * a_row + j * a_column]; one of the two is 1 */
  size_t a_row, a_column;
  size_t run, jump; /* after `run` terms A goes on `jump` floats from where these began; gemm; 0: never */
  const float *b;   /* [k][ldb] */
  size_t ldb;
  bool b_transposed; /* gemm_large, gemm_few, gemm_bfloat: B lies as [n][ldb] */
  float *c;          /* [m][ldc] */
  size_t ldc;
  const float *bias; /* [n], the sum's first term; or NULL */
  const float *mask; /* [m][ldm]: C is zeroed where this is not positive; or NULL */
  size_t ldm;
  bool accumulate, relu; /* add to C; C = max(0, C) */
  bool mask_sum;         /* the mask applies only to the sum, not to what it is added to */
  size_t more;           /* products after the first; their A, C and masks lie these floats behind the one before */
  size_t a_next, c_next, mask_next;
  struct cpu_ahead *ahead;
};

/* Products in bfloat16 (bfloat_impl.h): 16 rows of 16 pairs, in floats; values of k and columns that are packed at
   once, and the floats that all of that takes. */
enum {
  CPU_TILE = 16,
  CPU_TILE_FLOATS = CPU_TILE * CPU_TILE,
  CPU_BFLOAT_DEPTH = 512,
  CPU_BFLOAT_COLUMNS = 256,
  CPU_BFLOAT_PACK_A = CPU_BFLOAT_DEPTH * CPU_TILE,
  CPU_BFLOAT_PACK = CPU_BFLOAT_PACK_A + CPU_BFLOAT_DEPTH / 2 * CPU_BFLOAT_COLUMNS
};

/* sums[down][across][16][16] (+)= A B for one or two tiles down, and at most four in all; tiles along k lie side by
   side, and those of the next row of A, or column of B, `next` floats on. */
struct cpu_tiles {
  bool starts; /* from what is in the sums */
  size_t down, across, depth;
  size_t rows, k; /* that are there; beyond k tiles have zeros, and in other rows of A anything */
  const float *a, *b;
  size_t a_next, b_next;
};
struct cpu_bfloat {
  const struct cpu_gemm *product; /* as of gemm(); under `mask_sum` it has no bias nor ReLU */
  size_t columns;                 /* of B that lie in memory, if it is transposed; the others are 0 */
  float *a, *b;                   /* [CPU_BFLOAT_PACK_A], and what is left of CPU_BFLOAT_PACK */
};
typedef void cpu_bfloat_function(const struct cpu_bfloat *work);

/* A Gaussian head's constants. */
struct cpu_gaussian {
  float scale, floor;
  bool variance;
  float weight; /* gradients are multiplied by it: 1 / number of values in the batch */
};

/* Decides which numbers of a layer's output a training step drops. Depends only on these fields, so it is the same on
   every processor. */
struct cpu_mask {
  uint64_t key, step;
  uint32_t layer;
  uint32_t threshold; /* rate * 2^32 */
  float keep;         /* 1 / (1 - rate) */
};

/* How a window moves over a padded image. Images are [height][width][ld]. */
struct cpu_window {
  size_t in_height, in_width, out_height, out_width;
  size_t kernel_height, kernel_width, stride, dilation;
  size_t top, left;                   /* padding at the start; the padding at the end follows from the next line */
  size_t padded_height, padded_width; /* of the input with its padding */
  size_t ld; /* floats per pixel of the input; for pools and depthwise convolutions also of the output */
};

/* y = x scale + shift, cut off below 0 if wanted; over a period of channel_impl.h. */
struct cpu_affine {
  size_t period;
  const float *scale, *shift; /* NULL: y = x */
  bool relu;
  bool half; /* x lies in 16 bits (half_impl.h) */
};

/* Data that will be read soon. Kernels prefetch it into the second-level cache, a few lines at a time, while they
   compute. */
enum { CPU_STREAMS = 24 };
struct cpu_ahead {
  struct {
    const char *at;
    size_t lines; /* of 64 bytes */
  } streams[CPU_STREAMS];
  size_t count;
  size_t lines, calls; /* lines at a time; how often kernels have asked so far */
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

/* An image of [height][width][image_ld] inside a larger one, [padded_height][padded_width][ld]: at (top, left), its
   pixels `step` apart. Where ld is less, the floats behind it are padding, which the larger image does without. */
struct cpu_pad {
  size_t height, width, image_ld, ld, top, left, padded_height, padded_width, step;
  float fill;                    /* the value that the reader wants everywhere else */
  const struct cpu_affine *view; /* how the image's numbers are transformed; NULL: not at all. Only for steps
                                    of 1, and where no floats are left out */
};

/* The pixels under the taps of a window, side by side: [rows][width][taps][channels]; output pixels are `ldo` floats
   apart. */
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
  bool half; /* x lies in 16 bits */
};

struct cpu_kernels {
  void (*gemm)(const struct cpu_gemm *product);
  /* A part of a large product, n a multiple of 16 and at most CPU_LARGE_COLUMNS; pack[CPU_LARGE_PACK]. The same bits as
     gemm. */
  void (*gemm_large)(const struct cpu_gemm *product, float *pack);
  /* A product of few rows with a transposed B, which nobody need transpose for it: sums and mask alone. B has
     `inputs` rows, at least 16; sums of further columns are 0. Between k and the next multiple of 16, A is 0 and B
     finite. */
  void (*gemm_few)(const struct cpu_gemm *product, size_t inputs);
  /* A product of A and B rounded to bfloat16. */
  cpu_bfloat_function *gemm_bfloat;
  /* out[columns][ldo] = in[rows][ldi]'; columns of `out` up to the next multiple of 16 are zeroed. */
  void (*transpose)(size_t rows, size_t columns, const float *in, size_t ldi, float *out, size_t ldo);
  /* out[n] = sum over the rows of in[rows][ld], n a multiple of 8. */
  void (*column_sums)(size_t rows, size_t n, const float *in, size_t ld, float *out);
  /* out[i][ldo] = in[rows[i]][features], any number of features; ldo is that number, or a multiple of 16 above it: what
     is behind the features is 0. */
  void (*gather)(size_t count, size_t features, const float *in, const uint32_t *rows, float *out, size_t ldo);

  /* Copy into the padded image, whose padding stays. Copy out of it: 0 where the mask (shaped like `in`; NULL: none) is
     not positive; stored or added. */
  void (*pad)(const struct cpu_pad *pad, const void *in, float *out);
  void (*crop)(const struct cpu_pad *pad, const float *in, const float *mask, bool accumulate, float *out);
  /* Convolution of each channel of a padded image with weights [taps][ldw]. */
  void (*depthwise)(const struct cpu_depthwise *depthwise, const float *in, float *out);
  /* Adds the gradient of its weights. */
  void (*depthwise_weights)(const struct cpu_depthwise_weights *work, const float *in, const float *gradient,
                            float *weights);
  /* Patches of a padded image (`out` has 16 floats to spare); and the reverse, each patch added back to where it came
     from. */
  void (*patches)(const struct cpu_patches *patches, const float *in, float *out);
  void (*unpatch)(const struct cpu_patches *patches, const float *in, float *out);
  /* Maxima of a padded image (padded with -infinity), and their gradients added to a padded one. */
  void (*max_pool)(const struct cpu_window *window, const float *in, float *out);
  void (*max_pool_gradient)(const struct cpu_window *window, const float *in, const float *value, const float *gradient,
                            float *to);
  /* Divide each pixel of [out_height][out_width][ld] by the number of image pixels that its window sees. The distances
     of pixels and of rows of the output are given. */
  void (*average)(const struct cpu_window *window, const float *in, size_t pixel, size_t line, float *out);

  /* By channel (channel_impl.h), `size` a multiple of 8: y (+)= f(x); sums of x - shift and their squares; sums of g
     and g (x - mean); the gradient of batch norm's input. NaN stays NaN. */
  void (*affine)(const struct cpu_affine *f, size_t size, const void *x, bool accumulate, float *y);
  /* y[pixels][ldy] = f(x[pixels][ldx]), `width` channels of each, a multiple of 8. */
  void (*place)(const struct cpu_affine *f, size_t pixels, size_t width, const void *x, size_t ldx, float *y,
                size_t ldy);
  void (*moments)(size_t size, size_t period, const float *x, const float *shift, float *sums, float *squares);
  void (*norm_moments)(const struct cpu_norm *norm, size_t size, const float *g, const void *x, float *sums,
                       float *products);
  void (*norm_gradient)(const struct cpu_norm *norm, size_t size, const float *g, const void *x, bool accumulate,
                        float *to);
  /* Round `count` numbers, a multiple of 8, to 16 bits: out = x, x = out. */
  void (*narrow)(size_t count, float *x, uint16_t *out);

  /* y = f(x) in place. For activations whose derivative does not follow from y, slope = f'(x) (NULL: not wanted). */
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
  /* Turn the raw second half into variances, out[count]. */
  void (*variance)(const struct cpu_gaussian *head, size_t count, const float *raw, float *out);
  /* Turn `classes` logits x[rows][ld] into probabilities, in place, with 0 in the padding; log_sum[rows] = the
     logarithm of the sum of exponentials (NULL: not wanted). */
  void (*softmax)(size_t rows, size_t classes, float *x, size_t ld, float *log_sum);
  /* y = exp(x), for NOMU. */
  void (*exponential)(size_t count, const float *x, float *y);
};

extern const struct cpu_kernels backend_cpu_kernels_baseline;
#if defined(__x86_64__) && defined(__GNUC__)
extern const struct cpu_kernels backend_cpu_kernels_avx2, backend_cpu_kernels_avx512;
#endif

/* The kernels of an instruction set, or of the next lower one if this build does not have it. */
const struct cpu_kernels *backend_cpu_kernels(enum tutti_cpu cpu);

#endif
