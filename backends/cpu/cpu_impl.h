/* cpu_impl.h - the parts of the cpu backend and what they share.

   params.c   the parameters of trainings
   check.c    checks of jobs, and what is said of those that diverge
   attributes.c  attributes of layers
   plan.c     a network's nodes
   lives.c    when their values and gradients are needed
   memory.c   one block of memory for all that a step needs
   geometry.c how numbers lie in memory, and how many are worked on at once
   storage.c  values that lie in 16 bits
   view.c     what ops on images read
   kernels.c, table.c  the kernels for a processor, and those of one instruction set
   float_mode.c  numbers too small for a float's full precision count as 0
   product.c  products of a backward pass, and large ones
   bfloat.c, dots.c, tiles.c  products in bfloat16, and the processor's instructions and units for them
   team.c     threads that share a step
   step.c     forward and backward through the plan
   conv.c     convolutions, each by its form
   pointwise.c, depthwise.c  convolutions of one pixel, and of one channel
   patches.c, groups.c  convolutions as products, and those in groups of several channels
   reduce.c   factorised reductions
   pool.c     pools, and changes of layout
   norm.c     batch normalisation
   drop.c     dropout
   head.c     losses and predictions
   nomu.c     those of head-nomu
   box.c      where its artificial points are drawn
   weights.c  initial weights; weights to and from named tensors
   optimiser.c  steps of an optimiser, L2, clipping; the rules are in optimiser/
   training.c what trains a job: rows, gradients, early stopping
   average.c  weights averaged over the last epochs
   many.c     jobs side by side
   train.c    epochs of mini-batches
   predict.c  predictors that stay open
   slope.c    gradients of their answers in the inputs
   draws.c    predictions of a split, by draws of dropout too, and what of their uncertainty is the model's own
   lbfgs.c    L-BFGS on all rows
   cpu.c      the backend's descriptor and ops */
#ifndef BACKEND_CPU_IMPL_H
#define BACKEND_CPU_IMPL_H

#include "kernels_impl.h"

#include <tutti/plugin.h>

enum cpu_clip { CPU_CLIP_GLOBAL, CPU_CLIP_VARIABLE };
enum cpu_schedule { CPU_SCHEDULE_CONSTANT, CPU_SCHEDULE_COSINE, CPU_SCHEDULE_STEP, CPU_SCHEDULE_PLATEAU };
enum cpu_keep { CPU_KEEP_BEST, CPU_KEEP_LAST, CPU_KEEP_MEASURED };
enum cpu_storage { CPU_STORAGE_FLOAT, CPU_STORAGE_HALF };
enum cpu_shuffle { CPU_SHUFFLE_TRIAL, CPU_SHUFFLE_RUN };
/* Backend cpu has the first two. */
enum cpu_precision { CPU_FLOAT32, CPU_BFLOAT16, CPU_TF32 };
enum cpu_epsilon { CPU_EPSILON_KERAS, CPU_EPSILON_PAPER };
enum cpu_initialiser {
  CPU_GLOROT_UNIFORM,
  CPU_GLOROT_NORMAL,
  CPU_HE_UNIFORM,
  CPU_HE_NORMAL,
  CPU_LECUN_UNIFORM,
  CPU_LECUN_NORMAL,
  CPU_UNIFORM,
  CPU_PYTORCH
};

/* The parameters; params_impl.h has their table. */
struct cpu_config {
  int64_t epochs, batch_size;
  int optimiser;
  double learning_rate, momentum;
  bool nesterov;
  double beta1, beta2, epsilon, rho, accumulator;
  int epsilon_placement;
  double l2;
  bool l2_biases;
  double gradient_clip;
  int gradient_clip_by;
  int schedule;
  double schedule_factor, schedule_minimum, plateau_min_delta;
  int64_t schedule_epochs;
  int64_t early_stopping;
  int keep, initialiser;
  double average;
  double label_smoothing;
  double initialiser_range;
  int shuffle;
  int64_t augment_padding;
  bool augment_flip;
  double augment_crop, augment_brightness, augment_contrast, augment_saturation, augment_hue;
  int64_t lbfgs_history;
  double lbfgs_tolerance;
  int64_t prediction_draws;
  int storage;
  int precision;
  bool encodings;
};

/* The attributes of a layer that ops use. Attributes that an op does not have change nothing. */
struct cpu_attributes {
  int32_t units, kernel_height, kernel_width, stride, dilation, groups;
  enum tutti_padding padding;
  enum tutti_activation activation;
  bool bias, affine, spatial, scheduled, variance, stable, through_noise;
  double rate, momentum, epsilon;
  double l2; /* NaN: the value of the configuration */
  double scale, floor, pi_sqr, pi_exp, c_exp, margin, l_min, l_max, known_noise;
  int32_t artificial, noise, bounds, readout, points; /* of head-nomu */
};
struct cpu_attributes backend_cpu_attributes(const struct tutti_layer *layer);
/* Does this backend know all attributes of the layer, and their values? */
bool backend_cpu_knows(const struct tutti_layer *layer);

/* From one node to one of its inputs. */
struct cpu_edge {
  uint32_t source;
  bool gradient; /* a gradient goes backward along it */
  bool first;    /* backward: the first to write the source's gradient, so it stores instead of adding */
  bool last;     /* backward: the last to write it */
  bool relu;     /* reads negative numbers as 0 */
  bool mask;     /* backward: the last to write, and a product, so it applies the derivative of the source's ReLU */
};

/* One array of the weights, as it lies in the flat vector: [rows][ld], of which `columns` count. */
struct cpu_segment {
  const struct tutti_layer *layer;
  const struct cpu_attributes *attributes;           /* the layer's */
  const char *part;                                  /* "weight", "bias", ... */
  size_t offset, rows, columns, ld, fan_in, fan_out; /* a bias has the fans of its weights */
  size_t unread;                                     /* rows of its tensor behind these, for inputs that are left out */
  bool matrix, trained, frozen;                      /* frozen: trained in other jobs, but not in this one */
  float decay;                                       /* the gradient of its L2 term is decay * w */
};

/* How a convolution is computed. */
enum cpu_form {
  CPU_POINTWISE, /* as a dense layer with one row per pixel */
  CPU_DEPTHWISE, /* channel by channel */
  CPU_PATCHES,   /* as a product of the patches under the taps */
  CPU_GROUPED    /* in groups of several channels: as products for some of them */
};

enum { CPU_STATISTICS = 8 };

struct cpu_node {
  const struct tutti_layer *layer;
  const struct cpu_attributes *attributes; /* the layer's */
  enum tutti_op op;                        /* the op as it is computed: dense for a pointwise convolution */
  enum tutti_activation activation;        /* after the op, in place */
  size_t pixels;           /* pixels of an image, which is a table of rows [rows * pixels][ld]; 1 for tables */
  size_t width, ld;        /* channels of a pixel or features of a row, and the number of floats that they take */
  size_t inputs, input_ld; /* the same of what it reads: of all parts of a concatenation, of the widest input else */
  size_t unread;           /* the last numbers of what it reads, which it leaves out; not among `inputs` */
  size_t edge_count;
  struct cpu_edge *edges;
  bool needs_gradient, masked; /* masked: the last edge that writes the gradient applies the ReLU's derivative */
  bool frozen;                 /* its weights stay as they are */
  bool artificial;             /* its gradient may differ from 0 at artificial points */
  size_t weight, bias;         /* offsets in the flat vector; CPU_NONE */
  size_t segment;              /* that of the weight */
  size_t mean, variance;       /* batch norm's running statistics */
  enum cpu_form form;          /* of a convolution */
  struct cpu_window window;    /* of convolutions and pools */
  size_t *taps;                /* [tap_count], for CPU_PATCHES and CPU_GROUPED: floats from a window's first pixel */
  size_t tap_count;
  size_t reader, reader_count; /* the last node that reads it, and the number of readers */
  bool lazy;                   /* a batch norm that its readers apply: its stored values are those of its source */
  bool half;                   /* its values lie in 16 bits, while training */
  bool through;                /* depthwise, and made anew by its reader, a pointwise convolution; not stored */
  size_t norm;             /* the lazy batch norm that alone reads it, from whose gradient its own follows; CPU_NONE */
  size_t shares;           /* the sum whose gradient it shares; CPU_NONE */
  size_t norms, next_norm; /* first of the lazy batch norms whose gradient lies in this one's, and the next; CPU_NONE */
  float *value;            /* [rows * pixels][ld]; backend_cpu_values says where half ones are */
  float *gradient;         /* [rows * pixels][ld] */
  float *slope;            /* [rows * pixels][ld], for activations that keep their derivative */
  float *mask;             /* dropout's: [rows * pixels][ld], of whole channels [rows][ld to 16], of paths [rows] */
  float *statistics;       /* [CPU_STATISTICS][period], batch norm's (norm.c) */
  double *totals;          /* [2][ld], its sums over the batch */
  size_t gathered;         /* number of pixels that they sum */
};
#define CPU_NONE SIZE_MAX

/* Data that a head needs besides the arrays of its input. */
struct cpu_head_arrays {
  float *mean, *raw, *mean_gradient, *raw_gradient; /* [rows * outputs] */
  float *targets;                                   /* [rows][outputs], gathered */
  int32_t *labels;                                  /* [rows], gathered */
  const double *class_weights;                      /* [outputs]: of what is trained; NULL: all are 1 */
  float label_smoothing;                            /* of what is trained */
};

/* Memory that ops on images need while they work on some of them; all nodes share it, and it stays in cache. */
struct cpu_scratch {
  float *view, *gradient;          /* the images that are read (view.c) */
  float *values;                   /* images on their way from or to 16 bits (storage.c) */
  float *across;                   /* outputs of a depthwise convolution that is not stored */
  float *padded, *padded_gradient; /* images with their padding */
  float *panel;                    /* the channels of some groups, of a padded image */
  float *patches, *patch_gradients;
  float *weights, *weight_gradients; /* contents depend on the form of the convolution */
  float *transposed; /* [units][ld of the inputs]: weights, all or CPU_GEMM_DEPTH units of them; or as groups.c says */
  float *row;        /* [ld] */
  float *pack;       /* [CPU_LARGE_PACK], if there are large products */
  float *bfloat;     /* [CPU_BFLOAT_PACK], if products are in bfloat16 */
  struct cpu_ahead ahead;
};

/* Number of floats of each. */
struct cpu_scratch_sizes {
  size_t view, gradient, values, across, padded, padded_gradient, panel, patches, weights, transposed, row, pack;
};

struct cpu_team;

struct cpu_plan {
  const struct cpu_kernels *kernels;
  const tutti_network *network;
  struct cpu_attributes *attributes; /* [layers] */
  struct cpu_node *nodes;
  size_t node_count;
  struct cpu_edge *edges;
  size_t *taps; /* of all nodes */
  size_t tap_count;
  struct cpu_segment *segments; /* trained ones first */
  size_t segment_count;
  size_t trained, floats; /* of the flat vector: numbers trained, and all (running statistics too), padding included */
  size_t rows;            /* most rows in one pass */
  size_t batch;           /* most rows in one step of training; no pass of validation counts */
  size_t bytes;           /* bytes of memory that a step works on */
  size_t outputs;         /* targets, or classes */
  size_t artificial;      /* NOMU: artificial points after the rows of a step */
  double norm_share;      /* of a batch in batch norm's running statistics; 0: each layer's momentum */
  bool trains;            /* this pass is one of training, to which `storage` and `precision` apply */
  /* Products of training passes, of numbers rounded to bfloat16: any of the ways of bfloat.c; NULL: they are in
     float32. */
  cpu_bfloat_function *gemm_bfloat;
  bool slopes; /* for gradients in the inputs alone; the weights are another plan's */
  float *arena, *weights, *gradients;
  float *other;          /* [floats]: a second place for weights, when training */
  struct cpu_team *team; /* shares the work of a step; NULL: nobody does */
  struct cpu_scratch scratch;
  struct cpu_head_arrays head;
};

/* --- geometry.c --- */

bool backend_cpu_is_head(enum tutti_op op);
/* Floats of a row of `width` numbers. */
size_t backend_cpu_ld(size_t width);
/* Floats of one period of a node's channels (channel_impl.h). */
size_t backend_cpu_period(const struct cpu_node *node);
/* The columns of a node's rows that count, rounded up to whole vectors (tables: 16, images: 8). */
size_t backend_cpu_columns(const struct cpu_node *node);
/* A node's bias or NULL; the number of floats in a row of its weights. */
const float *backend_cpu_bias(const struct cpu_plan *plan, const struct cpu_node *node);
size_t backend_cpu_weights_ld(const struct cpu_plan *plan, const struct cpu_node *node);
/* Floats per image. */
size_t backend_cpu_image(const struct cpu_node *node);
/* Zero the floats behind the channels, or features, of some rows of a node's values. Kernels compute with them, too,
   and a place in memory begins with what another array left there: who writes values without them clears them. */
void backend_cpu_clear_padding(const struct cpu_node *node, size_t rows, float *values);
/* Rows of the matrix that the patches of one output pixel are multiplied by, and the number of floats that they
   take. */
size_t backend_cpu_patch(const struct cpu_node *node);
size_t backend_cpu_patch_ld(const struct cpu_node *node);
/* Rows of an output image whose patches are made at once. */
size_t backend_cpu_patch_rows(const struct cpu_node *node);
/* Images that an op works on at once. */
size_t backend_cpu_block(const struct cpu_plan *plan, const struct cpu_node *node);
/* Rows that are predicted at once: enough to fill the tiles, few enough to stay in cache. */
enum { CPU_EVALUATION_ROWS = 256, CPU_EVALUATION_IMAGES = 16 };
size_t backend_cpu_evaluation_rows(const tutti_network *network);

/* --- bfloat.c --- */

/* A way to multiply in bfloat16. All ways have the same bits. */
struct cpu_bfloat_way {
  const char *units; /* what of the processor it takes, static; NULL: the vectors of the kernels */
  cpu_bfloat_function *multiply;
};
enum { CPU_BFLOAT_WAYS = 3 };
/* The ways that this processor has, the fastest first, which plans take. Returns how many: at least one. */
size_t backend_cpu_bfloat_ways(const struct cpu_kernels *kernels, struct cpu_bfloat_way ways[CPU_BFLOAT_WAYS]);
/* A product in bfloat16 (struct cpu_bfloat). */
void backend_cpu_multiply_bfloat(const struct cpu_plan *plan, const struct cpu_gemm *product, size_t columns);

/* --- dots.c, tiles.c --- */

/* gemm_bfloat by the processor's instruction for sums of two products; NULL: it has none. */
cpu_bfloat_function *backend_cpu_dots(void);

/* gemm_bfloat on the processor's units for tiles; NULL: it has none, or the system does not give them to this
   process. */
cpu_bfloat_function *backend_cpu_tiles(void);

/* --- storage.c --- */

/* Do a node's values lie in 16 bits in this pass? */
bool backend_cpu_is_half(const struct cpu_plan *plan, const struct cpu_node *node);
/* Where image number `image` of a node's values lies, in floats or in 16 bits. */
const void *backend_cpu_values(const struct cpu_plan *plan, const struct cpu_node *node, size_t image);
/* Room to compute the values of images [first, ...): their place, or one in cache if they will lie in 16 bits. Then
   the place of these, done: in 16 bits, every number at `values` becomes the one that was stored. */
float *backend_cpu_values_begin(struct cpu_plan *plan, const struct cpu_node *node, size_t first);
void backend_cpu_values_end(struct cpu_plan *plan, const struct cpu_node *node, size_t first, size_t count,
                            float *values);
/* The values of images [first, first + count) in floats: where they lie, or in plan->scratch.values. */
const float *backend_cpu_values_read(struct cpu_plan *plan, const struct cpu_node *node, size_t first, size_t count);

/* --- the plan --- */

/* Make a plan for at most `rows` rows at once; with `training` it has gradients. The plan borrows the network. */
enum tutti_status backend_cpu_plan_create(tutti_context *context, const struct cpu_kernels *kernels,
                                          const tutti_network *network, const struct tutti_task *task, size_t rows,
                                          bool training, struct cpu_plan **plan);
/* A plan with gradients for the network of a job, but for the layers that the job freezes. */
enum tutti_status backend_cpu_plan_create_job(tutti_context *context, const struct cpu_kernels *kernels,
                                              const struct tutti_job *job, size_t rows, struct cpu_plan **plan);
/* Rows of a plan for slopes: most questions are of one or two, and so many do without transposed weights
   (product.c). */
enum { CPU_SLOPE_ROWS = 16 };
/* A plan with gradients in the inputs of the network of another, which outlives it and whose weights it uses. All rows
   share the masks of dropout, and batch norms use running statistics: it is for forward passes with draws->one. */
enum tutti_status backend_cpu_plan_create_slopes(tutti_context *context, const struct cpu_plan *of,
                                                 const struct tutti_task *task, size_t rows, struct cpu_plan **plan);
void backend_cpu_plan_destroy(struct cpu_plan *plan);
/* Place the arrays of a plan in memory. TUTTI_ERROR_MEMORY if there is not enough; the message has both sizes in
   MiB, and what sets the limit. */
enum tutti_status backend_cpu_plan_place(tutti_context *context, struct cpu_plan *plan, bool training);

/* How an edge transforms its source's numbers as it reads them; false: not at all. */
bool backend_cpu_view_of(const struct cpu_plan *plan, const struct cpu_edge *edge, struct cpu_affine *f);
/* Write an image as its reader sees it into the input of a window's op, with a border of zeros; also fills `view`. */
struct cpu_pad backend_cpu_pad_of(const struct cpu_plan *plan, const struct cpu_node *node, struct cpu_affine *view);
/* Fill the borders of some padded images. Their insides will be written later. */
void backend_cpu_frame(const struct cpu_pad *pad, size_t images, float *out);
/* Write images [first, first + count), as an edge reads them, into `out`, or add them to it. */
void backend_cpu_view(const struct cpu_plan *plan, const struct cpu_edge *edge, size_t first, size_t count,
                      bool accumulate, float *out);
/* The same images: where they lie if the edge changes nothing, otherwise in plan->scratch.view. */
const float *backend_cpu_read(const struct cpu_plan *plan, const struct cpu_edge *edge, size_t first, size_t count);
/* All parts that a node reads, side by side, [count * pixels][input_ld]. A single part is used where it lies. */
const float *backend_cpu_read_parts(const struct cpu_plan *plan, const struct cpu_node *node, size_t first,
                                    size_t count);
/* The gradient of a node's images: where it lies, or in plan->scratch.gradient. */
const float *backend_cpu_read_gradient(const struct cpu_plan *plan, const struct cpu_node *node, size_t first,
                                       size_t count);

/* Prefetch the images after [first, first + count) that a convolution will read next, while it works on these. */
void backend_cpu_fetch_next(struct cpu_plan *plan, const struct cpu_node *node, size_t first, size_t count, size_t rows,
                            bool backward);

/* The head, and the node whose values are its first input. */
const struct cpu_node *backend_cpu_plan_head(const struct cpu_plan *plan);
bool backend_cpu_has_norm(const struct cpu_plan *plan);

/* State of the random draws of a step, and the progress of the training. */
struct cpu_draws {
  bool drop;       /* false: no dropout, as for the gradient of the whole data */
  bool one;        /* for predictions with dropout: all rows share a mask, and nothing else is as in training */
  uint64_t key;    /* of dropout's stream */
  uint64_t step;   /* from 0 */
  double progress; /* epoch / epochs, for scheduled drop-path */
};

/* Compute the values of all nodes for the first `rows` rows of the input node. `draws` NULL: as in predictions, without
   dropout and with batch norm's running statistics. */
void backend_cpu_forward(struct cpu_plan *plan, size_t rows, const struct cpu_draws *draws);
/* Compute the gradients of all weights from the gradients that the head has left. */
void backend_cpu_backward(struct cpu_plan *plan, size_t rows);
/* One node of either pass, for callers that measure or inspect. */
void backend_cpu_forward_node(struct cpu_plan *plan, size_t index, size_t rows, const struct cpu_draws *draws);
void backend_cpu_backward_node(struct cpu_plan *plan, size_t index, size_t rows);

/* The gradient of a product's weights, [inputs][ldw]. */
struct cpu_weight_product {
  size_t rows, inputs, ldx, ldg, ldw;
  size_t columns;            /* the units, in whole vectors of the gradient */
  size_t units;              /* of a dense layer, whose rows are padded to 16 on both sides; else 0 */
  const float *x, *gradient; /* [rows][ldx], [rows][ldg] */
  float *to;
  bool accumulate, rounds; /* add to `to`; numbers are rounded to bfloat16 (backend_cpu_rounds) */
  struct cpu_ahead *ahead; /* or NULL */
};
void backend_cpu_product_weights(struct cpu_plan *plan, const struct cpu_weight_product *product);
/* The gradient of its inputs. */
struct cpu_input_product {
  size_t rows, inputs, units, ldg, ldw, ldt;
  const float *gradient, *weights; /* [rows][ldg], [inputs][ldw] */
  float *to;                       /* [rows][ldt] */
  const float *mask;               /* [rows][ldt], or NULL */
  size_t columns;                  /* columns of `to` that are written: the inputs, rounded up to a multiple of 8 */
  bool accumulate, rounds;         /* add to `to`; numbers are rounded to bfloat16 (backend_cpu_rounds) */
};
void backend_cpu_product_inputs(struct cpu_plan *plan, const struct cpu_input_product *product);
/* Are the products of a layer of numbers rounded to bfloat16 in this pass? */
bool backend_cpu_rounds(const struct cpu_plan *plan, const struct cpu_node *node);
/* A product; in parts for the plan's team, if it is large. */
void backend_cpu_multiply(const struct cpu_plan *plan, const struct cpu_gemm *product, bool rounds);
/* Is a product of these sizes large? */
bool backend_cpu_is_large(size_t m, size_t n, size_t k);
/* All weights of a convolution's products, transposed in plan->scratch.transposed, [units][backend_cpu_ld(inputs)]. */
void backend_cpu_transpose_weights(struct cpu_plan *plan, const struct cpu_node *node);

/* Pointwise convolutions. First the work done once for all images, with at most `images` of them at a time; then values
   y and gradients of images [first, first + count). */
void backend_cpu_pointwise_begin(struct cpu_plan *plan, const struct cpu_node *node, size_t images, bool backward);
void backend_cpu_pointwise_forward(struct cpu_plan *plan, const struct cpu_node *node, size_t first, size_t count,
                                   float *y);
void backend_cpu_pointwise_backward(struct cpu_plan *plan, const struct cpu_node *node, size_t first, size_t count,
                                    const float *gradient);
/* Convolutions as products of patches, one image: its values y; then, from their gradient g, the gradients of the
   weights, which are added, and of the input, unless nobody wants them (to: NULL). */
void backend_cpu_patches_forward(struct cpu_plan *plan, const struct cpu_node *node, size_t image, float *y);
void backend_cpu_patches_backward(struct cpu_plan *plan, const struct cpu_node *node, size_t image, const float *g,
                                  float *to);
/* Convolutions in groups of several channels: what all images need; the same of one image; the gradients of the weights
   of all images. `sizes` has the scratch that they take. */
void backend_cpu_groups_sizes(const struct cpu_plan *plan, const struct cpu_node *node,
                              struct cpu_scratch_sizes *sizes);
void backend_cpu_groups_begin(struct cpu_plan *plan, const struct cpu_node *node, bool backward);
void backend_cpu_groups_forward(struct cpu_plan *plan, const struct cpu_node *node, size_t image, float *y);
void backend_cpu_groups_backward(struct cpu_plan *plan, const struct cpu_node *node, size_t image, const float *g,
                                 float *to);
void backend_cpu_groups_end(struct cpu_plan *plan, const struct cpu_node *node);
/* The layout of the gradients of a window's outputs, spread by the stride, and the window that moves over them
   backward. */
struct cpu_pad backend_cpu_spread_of(const struct cpu_window *window);
struct cpu_window backend_cpu_turned(const struct cpu_window *window);
/* Depthwise convolutions, in the same two parts. Backward, they find their inputs where backend_cpu_depthwise_read, or
   the forward pass, last put them, and the outputs' gradients of each image where backend_cpu_depthwise_gradient
   says. */
struct cpu_spread {
  float *at;          /* the first pixel */
  size_t pixel, line; /* floats from one pixel, and from one row, to the next */
};
void backend_cpu_depthwise_begin(struct cpu_plan *plan, const struct cpu_node *node, size_t images, bool backward);
void backend_cpu_depthwise_forward(struct cpu_plan *plan, const struct cpu_node *node, size_t first, size_t count,
                                   float *y);
void backend_cpu_depthwise_read(struct cpu_plan *plan, const struct cpu_node *node, size_t first, size_t count);
struct cpu_spread backend_cpu_depthwise_gradient(const struct cpu_plan *plan, const struct cpu_node *node,
                                                 size_t image);
/* Copy the gradients there, from [count * pixels][ld]. */
void backend_cpu_depthwise_spread(struct cpu_plan *plan, const struct cpu_node *node, size_t count,
                                  const float *gradient);
void backend_cpu_depthwise_backward(struct cpu_plan *plan, const struct cpu_node *node, size_t first, size_t count);

/* Forward and backward pass of convolutions (conv.c), factorised reductions (reduce.c), pools (pool.c) and dropout
   (drop.c). */
void backend_cpu_conv_forward(struct cpu_plan *plan, struct cpu_node *node, size_t rows, bool training);
void backend_cpu_conv_backward(struct cpu_plan *plan, struct cpu_node *node, size_t rows);
void backend_cpu_reduce_forward(struct cpu_plan *plan, struct cpu_node *node, size_t rows, bool training);
void backend_cpu_reduce_backward(struct cpu_plan *plan, struct cpu_node *node, size_t rows);
void backend_cpu_pool_forward(struct cpu_plan *plan, struct cpu_node *node, size_t rows);
void backend_cpu_pool_backward(struct cpu_plan *plan, struct cpu_node *node, size_t rows);
void backend_cpu_flatten(const struct cpu_plan *plan, const struct cpu_node *node, size_t rows);
void backend_cpu_unflatten(const struct cpu_edge *edge, const struct cpu_node *source, const struct cpu_node *node,
                           size_t rows);
void backend_cpu_drop_forward(struct cpu_plan *plan, struct cpu_node *node, size_t rows, const struct cpu_draws *draws);
void backend_cpu_drop_backward(struct cpu_plan *plan, struct cpu_node *node, size_t rows);

/* Forward and backward pass of batch norm (norm.c). */
void backend_cpu_norm_forward(struct cpu_plan *plan, struct cpu_node *node, size_t rows, bool training);
void backend_cpu_norm_backward(struct cpu_plan *plan, struct cpu_node *node, size_t rows);
/* Gather the statistics of `pixels` pixels of a batch as they are written. The node's forward pass uses them. */
void backend_cpu_norm_gather(const struct cpu_plan *plan, struct cpu_node *node, const float *x, size_t pixels);
/* The same for the gradients of images [first, first + count), which no later edge will change. */
void backend_cpu_norm_gather_gradient(struct cpu_plan *plan, const struct cpu_edge *edge, size_t first, size_t count);
/* y = scale x + shift as in the last forward pass; the gradient of x as in the last backward pass. */
struct cpu_affine backend_cpu_norm_affine(const struct cpu_node *node);
struct cpu_norm backend_cpu_norm_slopes(const struct cpu_plan *plan, const struct cpu_node *node);

/* The first parameter that varies training images, or NULL. */
const char *backend_cpu_augments(const struct cpu_config *config);
/* The key for draws that may be the same for all trials of a run: the order of rows, and augmentation. */
uint64_t backend_cpu_shared_seed(const struct cpu_config *config, const struct tutti_job *job);
/* How training images are varied. */
struct tutti_augmentation backend_cpu_augmentation(const struct cpu_config *config, const struct tutti_job *job);
/* Gather rows of a split: inputs into the input node, augmented unless `augmentation` is NULL; targets or labels for
   the head. */
void backend_cpu_gather(struct cpu_plan *plan, const tutti_split *split, size_t count, const uint32_t *rows,
                        const struct tutti_augmentation *augmentation, bool targets);
/* Mean loss over `rows` rows and, if wanted, its gradients with respect to the head's inputs. */
double backend_cpu_loss(struct cpu_plan *plan, size_t rows, bool gradients);
/* The same for head-nomu (nomu.c): a sum, in which the plan->artificial rows behind `rows` are artificial points. */
double backend_cpu_loss_nomu(struct cpu_plan *plan, size_t rows, bool gradients);
/* NOMU's standard deviation for a raw uncertainty (Heiss et al., Eq. 2). */
double backend_cpu_readout(const struct cpu_attributes *attributes, double raw);
/* The gradients of the head's inputs, of the sum of its predictions and of what is its own of the variances, times
   these weights [rows][2 outputs] and [rows][outputs]. */
void backend_cpu_pull_nomu(struct cpu_plan *plan, size_t rows, const float *by_out, const float *by_epistemic);
/* The variance of the noise that a head reads out of a raw value, and its derivative. */
double backend_cpu_noise(const struct cpu_attributes *attributes, double raw, double *slope);
/* Is the noise the last of the head's inputs? */
bool backend_cpu_nomu_has_noise(const struct cpu_attributes *attributes);
/* What head-nomu says of an output: the variance is the uncertainty's and the noise's. */
struct cpu_nomu_moments {
  double mean, variance, epistemic;
};
void backend_cpu_moments_nomu(struct cpu_plan *plan, size_t row, size_t output, struct cpu_nomu_moments *moments);
/* Mean over rows and outputs of the Gaussian NLL of these moments. On validation rows it stands for the loss, which
   would punish every uncertainty there. */
double backend_cpu_likelihood_nomu(struct cpu_plan *plan, size_t rows);
/* Write predictions out[rows][width] from the head's inputs, and into epistemic[rows][tutti_epistemic_width], unless it
   is NULL, what of their uncertainty is the network's own: NOMU's, or 0. */
void backend_cpu_predict(struct cpu_plan *plan, size_t rows, float *out, float *epistemic);

/* Initial weights; array number i of the plan draws from the stream (seed, "weights", i). */
void backend_cpu_weights_draw(struct cpu_plan *plan, const struct cpu_config *config, uint64_t seed);
enum tutti_status backend_cpu_weights_read(tutti_context *context, const struct cpu_plan *plan,
                                           const tutti_tensors *tensors);
/* The weights that a job starts with: those of job->initial, or drawn ones, or some of each (a warm start, whose layers
   that came from there are a measure of the job). */
enum tutti_status backend_cpu_weights_begin(tutti_context *context, struct cpu_plan *plan, const struct tutti_job *job);
/* The named tensors of a flat vector: the weights, the best weights so far, or (trained_only) a gradient. */
enum tutti_status backend_cpu_weights_write(tutti_context *context, const struct cpu_plan *plan, const float *flat,
                                            bool trained_only, tutti_tensors **tensors);

/* --- optimisers --- */

/* State of a rule besides its parameters: numbers that are 0 at the start and kept from step to step. */
enum { CPU_OWN = 4 };

/* Coefficients of one step: as configured, and as the rule changes them. */
struct cpu_coefficients {
  uint64_t step; /* from 1 */
  double rate, momentum, beta1, beta2, epsilon;
  double *own; /* [CPU_OWN] */
};

/* The same for the update function. The gradient is scale * g + decay * w. */
struct cpu_update {
  float scale, decay;
  float rate, momentum, beta1, beta2, epsilon;
  float own[CPU_OWN];
  bool nesterov;
};

/* An optimiser for one instruction set, from a file of optimiser/. */
struct cpu_rule {
  /* One step from weights from[count] to w (the same, or another place), with gradients g and the rule's state m, v. */
  void (*update)(const struct cpu_update *update, size_t count, const float *from, float *w, const float *g, float *m,
                 float *v);
  bool first, second; /* whether it keeps m, and v; both start at 0 */
  /* The value that v starts at instead of 0; or NULL. */
  double (*start)(const struct cpu_config *config);
  /* Adapts the coefficients to the rule; or NULL. */
  void (*fit)(const struct cpu_config *config, struct cpu_coefficients *c);
};

struct cpu_stepper {
  const struct cpu_config *config;
  const struct cpu_rule *rule;
  struct cpu_plan *plan;
  float *first, *second; /* [trained]; NULL where the rule has none */
  uint64_t steps;
  double own[CPU_OWN];
};
/* Does the optimiser change it? */
bool backend_cpu_steps(const struct cpu_segment *segment);
/* Set the segments' decay from the configuration and the layers. */
void backend_cpu_decays(struct cpu_plan *plan, const struct cpu_config *config);
enum tutti_status backend_cpu_stepper_create(tutti_context *context, struct cpu_plan *plan,
                                             const struct cpu_config *config, struct cpu_stepper **stepper);
void backend_cpu_stepper_destroy(struct cpu_stepper *stepper);
/* One step of the optimiser with plan->gradients, from the weights at `from` to plan->weights. */
void backend_cpu_step(struct cpu_stepper *stepper, double rate, const float *from);

enum tutti_status backend_cpu_train(tutti_context *context, const struct cpu_kernels *kernels,
                                    const struct tutti_job *job, struct tutti_outcome *outcome);
/* Refuse what L-BFGS cannot minimise: a loss that is drawn anew at each step, or depends on which rows come
   together. */
enum tutti_status backend_cpu_lbfgs_check(tutti_context *context, const struct tutti_job *job);
/* Loss of all rows of job->train at once, without dropout, with L2, and its gradient. */
enum tutti_status backend_cpu_gradient(tutti_context *context, const struct cpu_kernels *kernels,
                                       const struct tutti_job *job, const tutti_tensors *weights, double *loss,
                                       tutti_tensors **gradient);
enum tutti_status backend_cpu_predict_split(tutti_context *context, const struct cpu_kernels *kernels,
                                            const struct tutti_job *job, const tutti_tensors *weights,
                                            const tutti_split *split, float *out, float *epistemic);

/* --- draws.c --- */

/* What draws of an output come to: of a class, `mean` alone, and for the first `noise`. */
struct cpu_mixed {
  double mean, scatter, noise, inner;
};
/* The draws of dropout of which a prediction is the mixture, and room to add them up. Without draws it has no room. */
struct cpu_drawing {
  size_t draws;
  uint64_t seed;
  enum tutti_task_kind kind;
  size_t outputs;
  float *inputs;           /* those of the input node */
  float *one, *part;       /* [rows][width], [rows][outputs]: of a draw */
  struct cpu_mixed *mixed; /* [rows][outputs] */
};
enum tutti_status backend_cpu_drawing_create(tutti_context *context, const struct tutti_job *job,
                                             const struct cpu_plan *plan, struct cpu_drawing *drawing);
void backend_cpu_drawing_release(struct cpu_drawing *drawing);
/* A draw of dropout's masks, and the key of its stream. */
uint64_t backend_cpu_draw_key(uint64_t seed, uint64_t draw);
struct cpu_draws backend_cpu_draw_of(uint64_t seed, uint64_t draw);
/* Predict the rows that the input node holds; as backend_cpu_predict, which see for `epistemic`. */
void backend_cpu_answer(struct cpu_plan *plan, struct cpu_drawing *drawing, size_t rows, float *out, float *epistemic);
/* Refuse draws of a network without dropout. */
enum tutti_status backend_cpu_draws_check(tutti_context *context, const struct tutti_job *job);
/* Do predictions tell which part of their uncertainty is the network's own? */
bool backend_cpu_tells_epistemic(const struct tutti_job *job);
/* What gives gradients of predictions in the inputs (slope.c), for the predictor with the plan `of`, which outlives
   it. */
struct cpu_slopes;
enum tutti_status backend_cpu_slopes_create(tutti_context *context, const struct cpu_plan *of,
                                            const struct tutti_task *task, struct cpu_slopes **slopes);
void backend_cpu_slopes_destroy(struct cpu_slopes *slopes);
/* Answer a question, and write slope->gradient. `plan` and `drawing` are the predictor's. */
void backend_cpu_slopes(struct cpu_slopes *slopes, struct cpu_plan *plan, struct cpu_drawing *drawing,
                        const struct tutti_query *query, const struct tutti_slope *slope, float *out);
/* An open predictor (predict.c). */
struct cpu_predictor;
enum tutti_status backend_cpu_open(tutti_context *context, const struct cpu_kernels *kernels,
                                   const struct tutti_job *job, const tutti_tensors *weights, size_t rows,
                                   struct cpu_predictor **predictor);
/* Operations of a backend that has such predictors; `self` is not looked at. */
enum tutti_status backend_cpu_ask(void *self, tutti_context *context, void *predictor, const struct tutti_query *query,
                                  float *out);
enum tutti_status backend_cpu_ask_slope(void *self, tutti_context *context, void *predictor,
                                        const struct tutti_query *query, const struct tutti_slope *slope, float *out);
void backend_cpu_close(void *self, void *predictor);
/* Loss over all rows of a split, in order. */
double backend_cpu_evaluate(struct cpu_plan *plan, const tutti_split *split);

/* From here to the matching leave, denormal numbers count as 0. Otherwise the momenta of dead units decay into them and
   slow every step down a hundredfold. */
unsigned backend_cpu_enter(void);
void backend_cpu_leave(unsigned kept);

#endif
