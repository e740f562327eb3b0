/* kernels_impl.h - the table of kernels that each instruction set fills.

   Arrays begin on 64 bytes and `count` is a multiple of 16 unless said otherwise: matrices are [rows][ld] with ld a
   multiple of 16, and whole padded rows are worked on. Invariant: columns of weights and of gradients past a layer's
   width are 0; past the width of values they are finite and never reach a column within it. */
#ifndef BACKEND_CPU_KERNELS_IMPL_H
#define BACKEND_CPU_KERNELS_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tutti/cpu.h>
#include <tutti/network.h>

/* Depth of the blocks in which long sums are taken. */
enum { CPU_GEMM_DEPTH = 256 };

/* C[m][n] = sum_k A(m, k) B[k][n], and what is fused around it. */
struct cpu_gemm {
  size_t m, n, k; /* n: a multiple of 16 */
  const float *a; /* A(i, j) = a[i * a_row + j * a_column]; one of the two is 1 */
  size_t a_row, a_column;
  const float *b; /* [k][ldb] */
  size_t ldb;
  float *c; /* [m][ldc] */
  size_t ldc;
  const float *bias;     /* [n], the sum's first term; or NULL */
  const float *mask;     /* [m][ldc]: C is zeroed where this is not positive; or NULL */
  bool accumulate, relu; /* add to C; C = max(0, C) */
};

enum cpu_optimiser { CPU_SGD, CPU_RMSPROP, CPU_ADAGRAD, CPU_ADAM, CPU_ADADELTA, CPU_ADAMAX, CPU_NADAM, CPU_OPTIMISERS };

/* Coefficients of one optimiser step; optimiser.c says which rule uses which. The gradient is scale * g + decay * w. */
struct cpu_update {
  float scale, decay;
  float rate, momentum, beta1, beta2, epsilon;
  float gradient_weight, momentum_weight, root_scale; /* Nadam */
  bool nesterov;
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

struct cpu_kernels {
  void (*gemm)(const struct cpu_gemm *product);
  /* out[columns][ldo] = in[rows][ldi]'; columns of `out` up to the next multiple of 16 are zeroed. */
  void (*transpose)(size_t rows, size_t columns, const float *in, size_t ldi, float *out, size_t ldo);
  /* out[n] = sum over the rows of in[rows][ld]. */
  void (*column_sums)(size_t rows, size_t n, const float *in, size_t ld, float *out);
  /* out[i][ldo] = in[rows[i]][features], any `features`; the padding of `out` is left alone. */
  void (*gather)(size_t count, size_t features, const float *in, const uint32_t *rows, float *out, size_t ldo);

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

  /* One step over weights w[count], gradients g and the rule's state m, v (optimiser.c). */
  void (*update[CPU_OPTIMISERS])(const struct cpu_update *update, size_t count, float *w, const float *g, float *m,
                                 float *v);

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
