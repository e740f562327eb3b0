/* stream_impl.h - what the host tells the kernels of the stream engine (stream.cu). Arrays of a node are [rows *
   pixels][ld], channels innermost; what lies beyond a pixel's channels is 0. C and CUDA read this file. */
#ifndef BACKEND_CUDA_STREAM_IMPL_H
#define BACKEND_CUDA_STREAM_IMPL_H

#include "engine_impl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where a kernel runs, and how large its grid may be. No result depends on the grid. */
struct stream_place {
  void *stream;
  uint32_t blocks, threads; /* threads: a power of 2 */
};

/* What changes from step to step, in the device's memory, so that a step is the same launches each time. */
struct stream_state {
  double rate, progress;    /* learning rate and progress of the training in this epoch */
  double loss;              /* of the last mini-batch */
  double total;             /* sum of losses times rows since the pass over the rows began */
  double value;             /* what is not finite */
  uint64_t steps;           /* steps of the optimiser so far */
  uint32_t begin;           /* the next row of this pass */
  uint32_t diverged;        /* a loss was not finite: nothing counts or changes any more */
  double own[CPU_OWN];      /* the optimiser's */
  struct cpu_update update; /* of this step */
};

/* An array of float32, or of the upper halves of such numbers, which is bfloat16. */
struct stream_array {
  void *at; /* NULL: there is none */
  uint32_t narrow;
};

/* An array as a reader sees it: after a batch norm that is not stored, and with negative numbers cut off. */
struct stream_view {
  struct stream_array value;
  const float *scale, *shift; /* [ld], or NULL */
  uint32_t relu;
};

/* --- images moved --- */

/* Pixel (y, x) of the moved image is pixel (y * step - top, x * step - left) of the image, and 0 beyond it. */
struct stream_geometry {
  uint32_t rows, channels;    /* channels that are moved */
  uint32_t height, width, ld; /* the image */
  uint32_t moved_height, moved_width, moved_ld;
  int32_t step, top, left;
};
/* The moved image from the image. Moved pixels are written whole, or only a `part` of several side by side. */
struct stream_copy {
  struct stream_geometry geometry;
  struct stream_view from;
  struct stream_array to;
  uint32_t part;
};
/* The gradient of the image from that of the moved one: written, or added to what is there. */
struct stream_push {
  struct stream_geometry geometry;
  struct stream_array from, to;
  struct stream_view mask; /* of the image, [ld]: where this view cuts off, nothing passes */
  float factor;
  uint32_t accumulate;
};
/* to = (to +) factor * the sum of some arrays of the same shape. */
enum { STREAM_TERMS = 8 };
struct stream_sum {
  struct stream_view terms[STREAM_TERMS];
  uint32_t count, accumulate;
  uint32_t cells, ld; /* pixels of all rows */
  float factor;
  struct stream_array to;
};
/* Images as rows of features, and back: from [rows][pixels][ld] to [rows][to_ld]. */
struct stream_flatten {
  struct stream_view from;
  struct stream_array to; /* backward: the gradient that is read */
  struct stream_array gradient;
  uint32_t rows, pixels, width, ld, to_ld, accumulate;
};

/* --- single numbers --- */

/* value = activation(value + bias), 0 beyond the width. */
struct stream_finish {
  struct stream_array value, slope; /* slope: none where the derivative follows from the value */
  const float *bias;                /* [ld], or NULL */
  uint32_t cells, width, ld, activation;
};
/* gradient *= the activation's derivative. */
struct stream_derive {
  struct stream_array value, slope, gradient;
  uint32_t cells, width, ld, activation;
};
/* Both halves of a concatenated ReLU, and its gradient. */
struct stream_crelu {
  struct stream_view from;
  struct stream_array to;       /* forward: the value; backward: the gradient that is read */
  struct stream_array gradient; /* backward: of the source */
  uint32_t cells, width, from_ld, ld, accumulate;
};
enum stream_grain { STREAM_NUMBERS, STREAM_CHANNELS, STREAM_PATHS };
/* to (+)= mask * from. */
struct stream_drop {
  struct stream_view from;
  struct stream_array to;
  const struct stream_state *state;
  uint64_t key;
  double rate;
  uint32_t rows, pixels, width, ld, layer, grain, scheduled, accumulate;
};

/* --- windows --- */

struct stream_window {
  uint32_t rows;
  uint32_t in_height, in_width, in_ld, out_height, out_width, out_ld;
  uint32_t kernel_height, kernel_width, stride, dilation;
  int32_t top, left;
  uint32_t in_group, out_group, units,
      ldw; /* of convolutions: channels and units of a group; floats of a row of weights */
};
/* A convolution in groups. */
struct stream_grouped {
  struct stream_window window;
  struct stream_view in;
  const float *weights;         /* [taps][in_group][ldw] */
  struct stream_array out;      /* forward: the value */
  struct stream_array gradient; /* backward: of the output */
  struct stream_array to;       /* backward: the gradient of the input */
  double *partial;              /* backward: [chunks][taps * in_group][units], summed up by backend_cuda_stream_add */
  uint32_t chunk, chunks;       /* output pixels of a chunk */
  uint32_t accumulate;
};
struct stream_pool {
  struct stream_window window;
  struct stream_view in;
  struct stream_array out;
  struct stream_array value, gradient; /* backward: of the output */
  struct stream_array to;              /* backward: the gradient of the input */
  uint16_t *largest;                   /* backward of a max pool: room for a tap for each number of the output */
  uint32_t accumulate;
};
/* What lies under the window at each output pixel, as a row of [taps][channels], and 0 up to ld. */
struct stream_patches {
  struct stream_window window;
  struct stream_view in;
  struct stream_array to;
  uint32_t channels, ld;
};
/* Means over the pixels of each row, or back. */
struct stream_global {
  struct stream_view in;
  struct stream_array out;      /* forward: [rows][out_ld], from the part's first channel on */
  struct stream_array gradient; /* backward: the same */
  struct stream_array to;
  uint32_t rows, pixels, width, ld, out_ld, accumulate;
};
/* Weights [taps][inputs][ldw] as a filter [units_ld][taps][inputs_ld], or (back) a filter's gradient as theirs. */
struct stream_filter {
  float *weights;
  struct stream_array filter;
  uint32_t taps, inputs, units, inputs_ld, units_ld, ldw, back;
};
/* Numbers from one array into another, as that has them. */
struct stream_convert {
  struct stream_array from, to;
  uint32_t count;
};

/* --- sums over columns --- */

/* Columns of [cells][ld] are summed in chunks of cells, then over the chunks by a fixed tree: the bits depend on the
   sizes alone. partial[2][chunks][width]. */
struct stream_columns {
  struct stream_array x, g; /* moments: x alone; gradients of batch norm: both; of a bias: g alone */
  const float *mean;
  double *partial;
  uint32_t cells, ld, width, chunk, chunks;
};
/* Sums of partial[chunks][count] into to[column / width * ld + column % width]. */
struct stream_add {
  const double *partial;
  float *to;
  uint32_t chunks, count, width, ld;
};
/* Of a batch norm. statistics: [CUDA_STATISTICS][ld]: mean, 1 / deviation, scale, shift, tilt, offset. */
struct stream_norm {
  const double *partial; /* NULL: by the running statistics */
  uint32_t chunks, width, ld;
  double cells;
  float *statistics;
  const float *gamma, *beta; /* or NULL */
  float *running_mean, *running_variance;
  float *gamma_gradient, *beta_gradient; /* or NULL */
  float momentum;
  double epsilon;
};
/* to (+)= gradient of a batch norm's input. */
struct stream_norm_gradient {
  struct stream_array x, gradient, to;
  const float *statistics;
  uint32_t cells, width, ld, accumulate;
};

/* --- rows, heads, steps --- */

/* Rows of a split into the input node. `order` NULL: as they are. */
struct stream_gather {
  struct cuda_rows rows;
  const uint32_t *order;
  const struct stream_state *state; /* NULL: from the first row on */
  struct stream_array to;
  uint32_t count, pixels, width, ld;
};
struct stream_head {
  struct cuda_rows rows;
  const uint32_t *order;
  struct stream_state *state;
  const float *value;          /* [rows][ld] */
  float *gradient;             /* or NULL */
  double *partial;             /* [count] or [count * outputs] */
  const double *class_weights; /* [outputs]; NULL: all are 1 */
  uint32_t op, count, outputs, ld;
  uint32_t variance, watched; /* watched: a loss that is not finite ends the training */
  float scale, floor, label_smoothing;
};
struct stream_predict {
  const float *value;
  float *out; /* [count][width] */
  uint32_t op, count, outputs, ld, width, variance;
  float scale, floor;
};
/* Weights into their average, of which a new one has this share, and that in their place; own: what they were. */
struct stream_average {
  float *weights, *average, *own; /* [floats], of which the first `trained` are averaged */
  uint32_t floats, trained;
  float share;
};
/* A part of a segment of the weights. */
struct stream_piece {
  uint32_t offset, size, segment;
  float decay;
};
enum { STREAM_PIECE = 4096 };
struct stream_update {
  struct stream_state *state;
  const struct cpu_config *config; /* on the device */
  const struct stream_piece *pieces;
  const uint32_t *starts; /* [segments + 1]: the first piece of each */
  float *weights, *gradients, *first, *second;
  double *squares; /* [pieces], when gradients are clipped; else NULL */
  float *scales;   /* [segments], likewise */
  uint32_t count, segments, each;
};

/* The launchers. Errors are found by cudaGetLastError and when the stream is waited for. */
void backend_cuda_stream_copy(const struct stream_place *place, const struct stream_copy *what);
void backend_cuda_stream_push(const struct stream_place *place, const struct stream_push *what);
void backend_cuda_stream_sum(const struct stream_place *place, const struct stream_sum *what);
void backend_cuda_stream_flatten(const struct stream_place *place, const struct stream_flatten *what, bool backward);
void backend_cuda_stream_finish(const struct stream_place *place, const struct stream_finish *what);
void backend_cuda_stream_derive(const struct stream_place *place, const struct stream_derive *what);
void backend_cuda_stream_crelu(const struct stream_place *place, const struct stream_crelu *what, bool backward);
void backend_cuda_stream_drop(const struct stream_place *place, const struct stream_drop *what);
void backend_cuda_stream_grouped_forward(const struct stream_place *place, const struct stream_grouped *what);
void backend_cuda_stream_grouped_inputs(const struct stream_place *place, const struct stream_grouped *what);
void backend_cuda_stream_grouped_weights(const struct stream_place *place, const struct stream_grouped *what);
void backend_cuda_stream_max_pool(const struct stream_place *place, const struct stream_pool *what, bool backward);
void backend_cuda_stream_average_pool(const struct stream_place *place, const struct stream_pool *what, bool backward);
void backend_cuda_stream_global(const struct stream_place *place, const struct stream_global *what, bool backward);
void backend_cuda_stream_convert(const struct stream_place *place, const struct stream_convert *what);
void backend_cuda_stream_patches(const struct stream_place *place, const struct stream_patches *what);
void backend_cuda_stream_filter(const struct stream_place *place, const struct stream_filter *what);
enum stream_kind { STREAM_MOMENTS, STREAM_NORM_GRADIENTS, STREAM_BIAS };
void backend_cuda_stream_columns(const struct stream_place *place, const struct stream_columns *what,
                                 enum stream_kind kind);
void backend_cuda_stream_add(const struct stream_place *place, const struct stream_add *what);
void backend_cuda_stream_norm_forward(const struct stream_place *place, const struct stream_norm *what);
void backend_cuda_stream_norm_backward(const struct stream_place *place, const struct stream_norm *what);
void backend_cuda_stream_norm_gradient(const struct stream_place *place, const struct stream_norm_gradient *what);
void backend_cuda_stream_gather(const struct stream_place *place, const struct stream_gather *what);
/* The mean loss of some rows, and, where wanted, its gradient; and their part of the pass's total. */
void backend_cuda_stream_loss(const struct stream_place *place, const struct stream_head *what);
void backend_cuda_stream_predict(const struct stream_place *place, const struct stream_predict *what);
/* A pass over rows begins, with this learning rate and progress. */
void backend_cuda_stream_begin(const struct stream_place *place, struct stream_state *state, double rate,
                               double progress);
/* The second state of an optimiser before the first step. */
void backend_cuda_stream_start(const struct stream_place *place, const struct cpu_config *config, float *second,
                               uint32_t count);
void backend_cuda_stream_average(const struct stream_place *place, const struct stream_average *what);
/* One step of the optimiser. */
void backend_cuda_stream_update(const struct stream_place *place, const struct stream_update *what);

#ifdef __cplusplus
}
#endif
#endif
