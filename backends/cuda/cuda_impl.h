/* cuda_impl.h - the host's part of backend cuda.

   lower.c    a network's plan as a program of the block engine, with the places of its arrays
   device.c   which device there is, and its limits
   arena.c    memory that is used again while kernels run
   memory.c   the device's memory of jobs and of rows
   grids.c    kernels that run, and what their blocks are given
   pool.c     many trainings at once
   predict.c  predictions of a split

   The device's part is engine.cu. */
#ifndef BACKEND_CUDA_IMPL_H
#define BACKEND_CUDA_IMPL_H

#include "backend_impl.h"
#include "engine_impl.h"

#include <cuda_runtime.h>
#include <tutti/plugin.h>

/* --- device.c --- */

/* Say that the device has no memory for something that needs so many bytes, with what is free of it. `unused`: bytes
   that are taken from the runtime, and that nobody uses; `advice`: what may help. */
void backend_cuda_say_full(char *text, size_t size, const char *something, size_t need, size_t unused,
                           const char *advice);
/* The same as an error of a prediction; its status is TUTTI_ERROR_MEMORY. */
enum tutti_status backend_cuda_prediction_full(tutti_context *context, size_t rows, size_t need, size_t unused);
/* What the runtime says, as an error of `doing`: TUTTI_OK for cudaSuccess. */
enum tutti_status backend_cuda_status(tutti_context *context, cudaError_t error, const char *doing);
#define CUDA_TRY(context, call) TUTTI_TRY(context, backend_cuda_status(context, call, #call))
#define CUDA_TRY_OUT(context, call) TUTTI_TRY_OUT(context, backend_cuda_status(context, call, #call))

/* --- lower.c --- */

/* The blocks that a program fits: threads that compute, and bytes of shared memory. */
struct cuda_fit {
  uint32_t workers, shared;
};
/* Everything that a block needs to know of a network. Networks with equal fits can run in one grid. */
struct cuda_program {
  struct cpu_plan *plan; /* its weights are in plan->weights */
  struct cuda_node *nodes;
  struct cuda_edge *edges;
  struct cuda_segment *segments; /* those that are trained */
  uint32_t node_count, edge_count, segment_count;
  struct cuda_fit fit;
  size_t far;    /* floats in the device's memory for arrays that are not shared */
  bool averages; /* backend.average */
  struct cuda_place program, stage, weights, gradients, first, second;
  struct cpu_attributes head;
  uint32_t artificial;         /* as in struct cuda_job, when training */
  float *box;                  /* [2][features], or NULL */
  const double *class_weights; /* the job's */
  size_t features;
  uint64_t *keys; /* [draws], of predictions with dropout */
  uint32_t draws;
};
/* Make it, for at most `rows` rows at once; for blocks like these, or (NULL) for those that suit it.
   TUTTI_ERROR_UNSUPPORTED names a layer that the engine lacks. */
enum tutti_status backend_cuda_lower(tutti_context *context, const struct cuda_device *device,
                                     const struct tutti_job *job, size_t rows, bool training,
                                     const struct cuda_fit *like, struct cuda_program *program);
void backend_cuda_program_release(struct cuda_program *program);

/* --- arena.c --- */

struct cuda_region {
  struct cuda_region *next; /* the memory behind it, but where that begins */
  char *at, *device;        /* as the host sees it, which sees the device's own memory not; as the device does */
  size_t bytes;
  bool used, begins; /* begins: a piece that the runtime gave */
};
enum { CUDA_ARENA_PIECE = 4 << 20 };
struct cuda_arena {
  size_t piece;    /* bytes that it asks the runtime for, at least, where there is plenty; 0: CUDA_ARENA_PIECE */
  bool mapped;     /* the host's memory, as the device sees it */
  bool gives_back; /* what nobody uses, to the runtime, when that has no more; kernels that run come to their ends */
  struct cuda_region *regions;
};
/* Ask the runtime for a first piece, if it has one. Tools that check a kernel's accesses know only the memory that was
   there when it began. */
enum tutti_status backend_cuda_arena_prepare(tutti_context *context, struct cuda_arena *arena);
/* Take memory, at a multiple of 256 bytes. TUTTI_ERROR_MEMORY if there is not so much. */
enum tutti_status backend_cuda_arena_take(tutti_context *context, struct cuda_arena *arena, size_t bytes,
                                          struct cuda_region **region);
/* Give it back; NULL is allowed. */
void backend_cuda_arena_give(struct cuda_arena *arena, struct cuda_region *region);
/* Bytes that nobody uses. */
size_t backend_cuda_arena_unused(const struct cuda_arena *arena);
/* No kernel uses any of it any more. */
void backend_cuda_arena_release(struct cuda_arena *arena);

/* --- memory.c --- */

/* Rows of a split, with or without their targets. */
struct cuda_selection {
  const tutti_split *split;
  struct cuda_span span;
  bool targets;
};
/* All rows, with their targets: what trainings have. NULL: none. */
struct cuda_selection backend_cuda_whole(const tutti_split *split);
/* Bytes that they take. */
size_t backend_cuda_rows_bytes(const struct cuda_selection *selection);
/* Copy them to the device's memory. */
enum tutti_status backend_cuda_copy_rows(tutti_context *context, const struct cuda_selection *selection, void *memory,
                                         cudaStream_t stream, struct cuda_rows *rows);
/* Rows that are there, each once for all that use them. */
struct cuda_shelf {
  struct cuda_held {
    struct cuda_held *next;
    struct cuda_selection selection;
    struct cuda_rows rows;
    size_t users;
    struct cuda_region *memory;
  } * rows;
};
/* Use rows, which are copied there unless they are there, perhaps among others; and use them no more (NULL is
   allowed). */
enum tutti_status backend_cuda_rows_use(tutti_context *context, struct cuda_shelf *data, struct cuda_arena *arena,
                                        const struct cuda_selection *selection, cudaStream_t stream,
                                        struct cuda_held **out);
void backend_cuda_rows_leave(struct cuda_shelf *data, struct cuda_arena *arena, struct cuda_held *held);
/* The inputs of those of the rows that a prediction wants. */
struct cuda_rows backend_cuda_rows_of(const struct cuda_held *held, struct cuda_span span);
/* Bytes that they would take besides what is there. */
size_t backend_cuda_rows_missing(const struct cuda_shelf *data, const struct cuda_selection *selection);

/* A job's part of the device's memory: what is copied there at once, and what the engine fills. */
struct cuda_layout {
  size_t nodes, edges, segments, program, box, classes, keys, kept, copied; /* bytes from its beginning */
  size_t far, order, average, bytes;
};
struct cuda_layout backend_cuda_layout(const struct cuda_program *program, size_t rows);
/* Fill in what a job knows from its program, and where its parts lie in the device's memory. */
void backend_cuda_place(const struct cuda_program *program, const struct cuda_layout *layout, struct cuda_job *job,
                        char *memory);
/* Write down what is copied there: staged[layout->copied]. */
void backend_cuda_stage(const struct cuda_program *program, const struct cuda_layout *layout,
                        const struct cuda_job *job, char *staged);

/* --- predict.c, answer.c --- */

/* By a kernel of its own. */
enum tutti_status backend_cuda_predict_alone(tutti_context *context, const struct cuda_device *device,
                                             const struct tutti_job *job, const tutti_tensors *weights,
                                             const tutti_split *split, struct cuda_span span, float *out,
                                             float *epistemic);

/* The program of predictions for chunks of rows, and what it asks for but for places. `like`: with as many threads and
   as much shared memory as this one; NULL: with what suits it. */
enum tutti_status backend_cuda_prediction(tutti_context *context, const struct cuda_device *device,
                                          const struct tutti_job *job, const tutti_tensors *weights, size_t rows,
                                          const struct cuda_fit *like, struct cuda_program *program,
                                          struct cuda_prediction *what);
/* Bytes that it needs besides the program: on the device, for the rows' draws and what is not shared; and of its
   answers. */
size_t backend_cuda_prediction_bytes(const struct cuda_program *program, const struct cuda_prediction *what);
size_t backend_cuda_prediction_answers(const struct cuda_prediction *what);
/* Give it places: a copy of the program, and so much memory for the rest and for its answers. */
void backend_cuda_prediction_place(const struct cuda_program *program, const struct cuda_layout *layout,
                                   const struct cuda_job *job, char *memory, char *answers,
                                   struct cuda_prediction *what);

/* Add the L2 terms of the loss at plan->weights, to it and to its gradient, which lies as the weights do (pool.c). */
void backend_cuda_add_penalty(const struct cpu_plan *plan, float *gradient, double *loss);

#endif
