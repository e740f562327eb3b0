/* engine_impl.h - what the host tells the block engine, and what that answers. A network is a program: its nodes in the
   order of backend cpu's plan, with the places of their arrays in the memory of the block that trains it. C and CUDA
   read this file. */
#ifndef BACKEND_CUDA_ENGINE_IMPL_H
#define BACKEND_CUDA_ENGINE_IMPL_H

#include "backends/cpu/cpu_impl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A block has so many threads that compute, a multiple of a warp, and a warp that draws the order of the next epoch. */
enum { CUDA_WARP = 32, CUDA_MOST_WORKERS = 256 };
/* Sums over rows and weights go by so many partial sums, whatever the number of threads: so the bits are the same. */
enum { CUDA_PARTIAL_SUMS = 128 };
#define CUDA_NOWHERE UINT32_MAX

/* Products bring so much of two matrices to shared memory at once: values of k of 64 rows, or columns. There is room
   for some such parts. */
enum { CUDA_STAGE_DEPTH = 32, CUDA_STAGE_COLUMNS = 64 };
enum { CUDA_STAGE_FLOATS = 2 * CUDA_STAGE_COLUMNS * (CUDA_STAGE_DEPTH + 4), CUDA_STAGE_PARTS = 3 };

/* Floats from the beginning of the block's shared memory, or of the job's part of the device's memory. */
struct cuda_place {
  uint32_t at; /* CUDA_NOWHERE: there is no such array */
  uint32_t shared;
};

struct cuda_edge {
  uint32_t source;
  uint32_t gradient, first, mask; /* as in struct cpu_edge */
};

struct cuda_node {
  uint32_t op, activation;
  uint32_t width, ld;         /* numbers of a row, and the floats that they take */
  uint32_t inputs;            /* of a dense layer: those of a row that it reads */
  uint32_t edge, edge_count;  /* in the program's edges */
  uint32_t weight, bias, ldw; /* offsets in the weights, or CUDA_NOWHERE; floats of a row of the weights */
  uint32_t mean, variance;    /* batch norm's running statistics */
  uint32_t needs_gradient, masked, frozen, artificial, scheduled; /* as in struct cpu_node, cpu_attributes */
  uint32_t head_variance;                                         /* a Gaussian head's spread is a variance */
  float head_scale, head_floor;
  double rate, momentum, epsilon;
  struct cuda_place value, gradient, slope, mask, statistics; /* [rows][ld]; statistics [CUDA_STATISTICS][ld] */
};
/* Batch norm's: mean, 1 / deviation, scale, shift, tilt, offset. */
enum { CUDA_STATISTICS = 6 };

/* Weights that are trained with one L2 factor. */
struct cuda_segment {
  uint32_t offset, size;
  float decay;
};

/* Rows in the device's memory. */
struct cuda_rows {
  const float *inputs;   /* [rows][features] */
  const float *targets;  /* [rows][outputs], or NULL */
  const int32_t *labels; /* [rows], or NULL */
  uint32_t rows, features;
};

enum cuda_end {
  CUDA_GOES_ON,
  CUDA_FINISHED,
  CUDA_STOPPED, /* by the answer */
  CUDA_CANCELLED,
  CUDA_LOSS_DIVERGED,  /* of a mini-batch */
  CUDA_EPOCH_DIVERGED, /* the loss that is watched */
  CUDA_WEIGHTS_DIVERGED
};

/* Written by the device, in the host's memory: an epoch, or the end. */
struct cuda_report {
  uint32_t number; /* of reports so far; written last */
  uint32_t begun;  /* a block is at it */
  uint32_t end;    /* enum cuda_end */
  uint32_t epoch, best_epoch;
  uint64_t steps;
  double learning_rate, train_loss, validation_loss;
  double value; /* what is not finite */
};

enum cuda_command { CUDA_GO_ON, CUDA_STOP, CUDA_CANCEL };
/* Written by the host, in its memory. */
struct cuda_answer {
  uint32_t number; /* of the report that is answered; written last */
  uint32_t command;
  uint32_t cancel; /* looked at within epochs */
};

/* Predictions of rows by one network; a block takes `most` rows after the other. */
struct cuda_prediction {
  uint32_t node_count, outputs, most, width, parts; /* numbers of a row, and of what of them is the network's own */
  uint32_t classes;                                 /* a classification */
  struct cpu_attributes head;
  uint32_t blocks, block_floats; /* floats of a block's part of the memory */
  const struct cuda_node *nodes;
  const struct cuda_edge *edges;
  struct cuda_place stage; /* as in struct cuda_job */
  float *memory;
  float *weights; /* [floats] */
  struct cuda_rows rows;
  float *out;       /* [rows][width] */
  float *epistemic; /* [rows][parts] */
  /* With draws of dropout the prediction is their mixture. */
  uint32_t draws;
  const uint64_t *keys;    /* [draws]: of their masks */
  struct cpu_mixed *mixed; /* [rows][outputs] */
  float *one, *part;       /* [rows][width], [rows][parts]: of a draw */
};

enum cuda_task { CUDA_TRAIN, CUDA_GRADIENT, CUDA_PREDICT };

struct cuda_job {
  struct cpu_config config;
  uint32_t task;
  uint32_t node_count, edge_count, segment_count;
  uint32_t floats, trained;      /* of the weights, as in struct cpu_plan */
  uint32_t outputs, batch, most; /* most: rows at once when validating */
  uint32_t asks;                 /* the host answers each epoch's report */
  uint32_t artificial;           /* points that head-nomu adds to the rows of a step */
  struct cpu_attributes head;    /* the head's */
  const float *box;              /* [2][features]: where they are drawn */
  const double *class_weights;   /* [outputs]; NULL: all are 1 */
  const struct cuda_node *nodes;
  const struct cuda_edge *edges;
  const struct cuda_segment *segments;
  float *memory;             /* of this job: where places that are not shared lie */
  struct cuda_place program; /* shared memory for all up to `program_bytes`, or CUDA_NOWHERE */
  uint32_t program_bytes;    /* of what was copied: this job, its nodes, edges and segments */
  struct cuda_place stage;   /* shared memory for products, or CUDA_NOWHERE */
  struct cuda_place weights, gradients, first, second; /* [floats] */
  float *kept;                                         /* [floats]: the weights to begin with, and then those to keep */
  float *average;                                      /* [floats]: weights averaged over the last epochs; or NULL */
  uint32_t measures;                                   /* with these, batch norms are measured anew */
  float *result;   /* [floats]: at last those that were kept, or the gradient; in the host's memory */
  uint32_t *order; /* [2][rows of train] */
  struct cuda_rows train, validation;
  uint32_t order_key[2]; /* of the stream of mini-batches */
  uint32_t box_key[2];   /* of artificial points */
  uint64_t drop_key;
  struct cuda_report *report;
  struct cuda_answer *answer;
  struct cuda_prediction prediction; /* of CUDA_PREDICT */
};

/* What the host gives a block, in its memory: a job, which the block copies into the device's memory first, or its
   end. */
struct cuda_mail {
  uint32_t number;    /* of what it was given so far; written last */
  uint32_t bytes;     /* that are copied, whole vectors of 16; 0: the block ends */
  const void *staged; /* struct cuda_job, and what it points to */
  void *memory;       /* its place on the device */
};

/* Floats at the beginning of the shared memory, for what the threads of a block tell each other. */
enum { CUDA_STATE_FLOATS = 512 };

/* The launchers. `shared`: bytes; mail[blocks]. Errors are found by cudaGetLastError and when the stream is waited
   for. */
void backend_cuda_launch_train(void *stream, uint32_t blocks, uint32_t workers, uint32_t shared,
                               struct cuda_mail *mail);
void backend_cuda_launch_predict(void *stream, uint32_t blocks, uint32_t workers, uint32_t shared,
                                 const struct cuda_prediction *prediction);
/* Let the kernels have so much shared memory; the runtime's error code. */
int backend_cuda_allow_shared(uint32_t bytes);
/* Blocks of the training kernel that a multiprocessor holds; the runtime's error code. */
int backend_cuda_blocks(uint32_t workers, uint32_t shared, int *blocks);

#ifdef __cplusplus
}
#endif
#endif
