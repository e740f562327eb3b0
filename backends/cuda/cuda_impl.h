/* cuda_impl.h - the host's part of backend cuda.

   lower.c    a network's plan as a program of the block engine, with the places of its arrays
   device.c   which device there is, and its limits
   memory.c   the device's memory of jobs and of rows
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

/* What the runtime says, as an error of `doing`: TUTTI_OK for cudaSuccess. */
enum tutti_status backend_cuda_status(tutti_context *context, cudaError_t error, const char *doing);
#define CUDA_TRY(context, call) TUTTI_TRY(context, backend_cuda_status(context, call, #call))
#define CUDA_TRY_OUT(context, call) TUTTI_TRY_OUT(context, backend_cuda_status(context, call, #call))

/* --- lower.c --- */

/* Everything that a block needs to know of a network. Networks with equal workers and shared can run in one grid. */
struct cuda_program {
  struct cpu_plan *plan; /* its weights are in plan->weights */
  struct cuda_node *nodes;
  struct cuda_edge *edges;
  struct cuda_segment *segments; /* those that are trained */
  uint32_t node_count, edge_count, segment_count;
  uint32_t workers, shared; /* threads that compute; bytes of shared memory */
  size_t far;               /* floats in the device's memory for arrays that are not shared */
  struct cuda_place weights, gradients, first, second;
  struct cpu_attributes head;
  uint32_t artificial;         /* as in struct cuda_job, when training */
  float *box;                  /* [2][features], or NULL */
  const double *class_weights; /* the job's */
  size_t features;
};
/* Make it, for at most `rows` rows at once. TUTTI_ERROR_UNSUPPORTED names a layer that the engine lacks. */
enum tutti_status backend_cuda_lower(tutti_context *context, const struct cuda_device *device,
                                     const struct tutti_job *job, size_t rows, bool training,
                                     struct cuda_program *program);
void backend_cuda_program_release(struct cuda_program *program);
/* --- memory.c --- */

/* Rows of splits in the device's memory, each split once. */
struct cuda_data {
  struct cuda_split {
    const tutti_split *split;
    struct cuda_rows rows;
    bool targets;
    void *memory;
  } * splits;
  size_t count, room;
};
/* Bytes that a split takes. */
size_t backend_cuda_split_bytes(const tutti_split *split, bool targets);
/* Put a split there, unless it is; data->splits has room for it. */
enum tutti_status backend_cuda_data_add(tutti_context *context, struct cuda_data *data, const tutti_split *split,
                                        bool targets, cudaStream_t stream, struct cuda_rows *rows);
void backend_cuda_data_release(struct cuda_data *data);

/* A job's part of the device's memory: what is copied there at once, and what the engine fills. */
struct cuda_layout {
  size_t nodes, edges, segments, box, classes, kept, copied; /* bytes from its beginning */
  size_t far, order, bytes;
};
struct cuda_layout backend_cuda_layout(const struct cuda_program *program, size_t rows);
/* Copy job and program there: what the host knows of `job` is set, and its pointers are filled in. */
enum tutti_status backend_cuda_upload(tutti_context *context, const struct cuda_program *program,
                                      const struct cuda_layout *layout, struct cuda_job *job, char *memory,
                                      cudaStream_t stream);

#endif
