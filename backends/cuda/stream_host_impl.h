/* stream_host_impl.h - the host's part of the stream engine.

   stream_plan.c      a network's plan with the places of its arrays on the device
   stream_library.c   convolutions by cuDNN, products by cuBLAS
   stream_forward.c, stream_backward.c  a pass through the network, as launches
   stream_trials_impl.h trainings, many at once
   stream_predict.c   predictions of a split, and the gradient of all rows */
#ifndef BACKEND_CUDA_STREAM_HOST_IMPL_H
#define BACKEND_CUDA_STREAM_HOST_IMPL_H

#include "cuda_impl.h"
#include "stream_impl.h"

#define STREAM_NONE SIZE_MAX

/* --- stream_library.c --- */

/* A convolution as cuDNN does it: packed images of in_ld and out_ld channels, and as much padding at the end as at the
   start. */
struct stream_conv {
  uint32_t rows, in_height, in_width, in_ld, out_height, out_width, out_ld;
  uint32_t kernel_height, kernel_width, stride, dilation, top, left;
  enum cpu_precision precision; /* of images and filters, and of the products */
};
/* An algorithm of cuDNN's, and the arithmetic that it has in mind. */
struct stream_algorithm {
  int number, math;
};
/* The algorithms for a convolution of so many rows: all of them deterministic. */
struct stream_algorithms {
  struct stream_algorithm forward, inputs, weights;
  size_t workspace; /* bytes that the most demanding needs */
};
/* The handles of one stream. */
struct stream_library;
enum tutti_status backend_cuda_library_open(tutti_context *context, cudaStream_t stream,
                                            struct stream_library **library);
void backend_cuda_library_close(struct stream_library *library);
/* The memory that they work in, until the next call. */
enum tutti_status backend_cuda_library_lend(tutti_context *context, struct stream_library *library, void *products,
                                            size_t product_bytes, void *convolutions, size_t convolution_bytes);
/* *found: cuDNN has deterministic algorithms for all passes that are wanted. */
enum tutti_status backend_cuda_library_choose(tutti_context *context, struct stream_library *library,
                                              const struct stream_conv *conv, bool gradients,
                                              struct stream_algorithms *algorithms, bool *found);
enum tutti_status backend_cuda_conv_forward(tutti_context *context, struct stream_library *library,
                                            const struct stream_conv *conv, const struct stream_algorithms *algorithms,
                                            const void *x, const void *filter, void *y);
enum tutti_status backend_cuda_conv_inputs(tutti_context *context, struct stream_library *library,
                                           const struct stream_conv *conv, const struct stream_algorithms *algorithms,
                                           const void *filter, const void *gradient, bool accumulate, void *to);
enum tutti_status backend_cuda_conv_weights(tutti_context *context, struct stream_library *library,
                                            const struct stream_conv *conv, const struct stream_algorithms *algorithms,
                                            const void *x, const void *gradient, void *filter);
/* C[m][n] = A B (+ C). A is [m][k], B [k][n], as they lie or transposed: A as [k][lda], B as [n][ldb]. Sums are
   float32. A and B are both narrow, or neither is. */
struct stream_product {
  uint32_t m, n, k, lda, ldb, ldc;
  bool a_transposed, b_transposed, accumulate;
  enum cpu_precision precision;
  struct stream_array a, b, c;
};
enum tutti_status backend_cuda_multiply(tutti_context *context, struct stream_library *library,
                                        const struct stream_product *product);

/* --- stream_plan.c --- */

/* Numbers of rows that passes have: a mini-batch, the last one of an epoch, and the same of evaluations. */
enum { STREAM_ROW_COUNTS = 4 };

struct stream_node {
  size_t value, gradient, slope, statistics; /* floats from the beginning of the memory, or STREAM_NONE */
  bool narrow;                               /* value, gradient and slope are bfloat16 */
  bool by_library;                           /* a convolution by cuDNN */
  bool by_patches;                           /* a convolution as a product of patches */
  bool padded;                               /* its input is copied with a border that cuDNN cannot add */
  struct stream_conv conv;                   /* of a convolution by cuDNN, but for its rows */
  struct stream_algorithms algorithms[STREAM_ROW_COUNTS];
};

/* A network with the places of its arrays, in one block of the device's memory. */
struct stream_program {
  struct cpu_plan *plan; /* its weights are in plan->weights */
  struct stream_node *nodes;
  bool training;
  enum cpu_precision precision; /* of trainings; predictions are float32 */
  bool narrow;                  /* what nodes share is bfloat16, as the arrays of most nodes are */
  uint32_t row_counts[STREAM_ROW_COUNTS], row_count_count;
  struct stream_piece *pieces; /* of the weights that are trained */
  uint32_t *starts;            /* [segments + 1] */
  uint32_t piece_count, segment_count;
  /* places, in floats */
  size_t weights, gradients, first, second, kept;
  size_t average, own; /* of the weights over the last epochs, and they themselves meanwhile; STREAM_NONE: no average */
  size_t narrow_weights; /* what products read, where that is bfloat16 */
  size_t view, across, gradient, input_gradient, filter, filter_gradient; /* shared by all nodes */
  size_t largest;                                                         /* taps of a max pool's backward pass */
  size_t partial, products, convolutions;
  size_t state, config, class_weights, pieces_at, starts_at, squares, scales, order, staging, out;
  size_t convolution_bytes;
  size_t bytes; /* of the whole block */
};
enum { STREAM_PRODUCT_BYTES = 8 << 20 };

/* What a block of memory is for. */
struct stream_purpose {
  bool training;
  bool averages;              /* backend.average */
  const uint32_t *row_counts; /* [row_count_count], the largest first */
  uint32_t row_count_count;
  size_t order;   /* rows whose order is kept */
  size_t staging; /* floats of rows that the host hands over */
  size_t out;     /* floats of predictions */
};
enum tutti_status backend_cuda_stream_lower(tutti_context *context, struct stream_library *library,
                                            const struct tutti_job *job, const struct stream_purpose *purpose,
                                            struct stream_program *program);
void backend_cuda_stream_release(struct stream_program *program);
/* Chunks of column sums over so many cells, by so many columns. */
struct stream_chunks {
  uint32_t size, count;
};
struct stream_chunks backend_cuda_stream_chunks(size_t cells, size_t columns);

/* --- stream_forward.c, stream_backward.c --- */

/* A network on the device. */
struct stream_run {
  tutti_context *context;
  const struct stream_program *program;
  struct stream_library *library;
  struct stream_place place;
  cudaStream_t stream;
  float *memory;
  uint64_t drop_key;
};
/* A pass over some rows. */
struct stream_pass {
  uint32_t rows;
  bool training; /* batch norm by the rows of the batch */
  bool drop;
  double share; /* of this batch in batch norm's running statistics; 0: as the layer has it */
};
enum tutti_status backend_cuda_stream_forward(const struct stream_run *run, const struct stream_pass *pass);
/* From the gradient that the loss has left in the head's input. */
enum tutti_status backend_cuda_stream_backward(const struct stream_run *run, const struct stream_pass *pass);

/* Both share the rest. */
static inline float *stream_at(const struct stream_run *run, size_t place) {
  return place == STREAM_NONE ? NULL : run->memory + place;
}
static inline struct stream_array stream_array_at(const struct stream_run *run, size_t place, bool narrow) {
  return (struct stream_array){stream_at(run, place), narrow};
}
/* What nodes share. */
static inline struct stream_array stream_scratch(const struct stream_run *run, size_t place) {
  return stream_array_at(run, place, run->program->narrow);
}
/* The array from its number `count` on. */
static inline struct stream_array stream_beyond(struct stream_array array, size_t count) {
  size_t size = array.narrow ? sizeof(uint16_t) : sizeof(float);
  return (struct stream_array){(char *)array.at + count * size, array.narrow};
}
/* The weights from `place` on, as products read them. */
struct stream_array backend_cuda_stream_weights(const struct stream_run *run, size_t place);
struct stream_array backend_cuda_stream_value(const struct stream_run *run, size_t node);
/* Where a node's gradient lies, which may be that of a sum; .at is NULL: nowhere. */
struct stream_array backend_cuda_stream_gradient(const struct stream_run *run, size_t node);
struct stream_view backend_cuda_stream_view(const struct stream_run *run, const struct cpu_edge *edge);
/* An image that stays where it is, of `rows` rows of a node. */
struct stream_geometry backend_cuda_stream_geometry(const struct cpu_node *node, uint32_t rows);
struct stream_window backend_cuda_stream_window(const struct stream_run *run, const struct cpu_node *node,
                                                uint32_t rows);
/* What a product, a convolution, or half of a reduction reads: where it lies, or in the scratch, where it is put
   now. */
struct stream_input {
  struct stream_array x;
  uint32_t ld;
};
struct stream_input backend_cuda_stream_read(const struct stream_run *run, size_t index, uint32_t rows, int half);
/* Floats of a row of patches. */
size_t backend_cuda_stream_patch_ld(const struct cpu_plan *plan, const struct cpu_node *node);
/* The algorithms for so many rows, and the convolution's shape. */
const struct stream_algorithms *backend_cuda_stream_algorithms(const struct stream_run *run, size_t index,
                                                               uint32_t rows, struct stream_conv *conv);
void backend_cuda_stream_turn(const struct stream_run *run, const struct cpu_node *node, bool back);
/* Set the first numbers of an array to 0. */
enum tutti_status backend_cuda_stream_clear(const struct stream_run *run, struct stream_array array, size_t count);
/* The columns of the weights of half of a factorised reduction. */
struct stream_half {
  uint32_t column, units;
};
struct stream_half backend_cuda_stream_half(const struct cpu_node *node, int half);
/* Has the gradient of the node the numbers of what nodes share? */
bool backend_cuda_stream_shares_precision(const struct stream_program *program, size_t index);
/* Is the node one product: a dense layer, a pointwise convolution, one by patches? */
bool backend_cuda_stream_is_product(const struct stream_program *program, size_t index);
/* Does the node read its input where it lies? */
bool backend_cuda_stream_reads_directly(const struct stream_program *program, size_t index);
/* And may its product or convolution write the input's gradient where it belongs? */
bool backend_cuda_stream_writes_directly(const struct stream_program *program, size_t index);

/* A gather, and a head's loss, of rows of a split. */
struct stream_batch {
  struct cuda_rows rows;
  const uint32_t *order;       /* on the device, or NULL */
  struct stream_state *state;  /* on the device, or NULL: from the first row on */
  bool gathered;               /* inputs are in program->staging */
  const double *class_weights; /* on the device, or NULL */
  float label_smoothing;
};
void backend_cuda_stream_load(const struct stream_run *run, const struct stream_batch *batch, uint32_t count);
void backend_cuda_stream_judge(const struct stream_run *run, const struct stream_batch *batch, uint32_t count,
                               bool gradients, bool watched);

/* --- stream_trial.c --- */

/* Memory that networks share: of the device, of the host as the device sees it, and rows of splits in the former. */
struct stream_memory {
  struct cuda_arena device, host;
  struct cuda_shelf data;
};
/* The device's memory of a run: its block, with weights, configuration and pieces in it. */
enum tutti_status backend_cuda_stream_load_program(struct stream_run *run, const struct tutti_job *job);
/* Where launches go on this device. */
struct stream_place backend_cuda_stream_place(const struct cuda_device *device, cudaStream_t stream);

#endif
