/* backend_impl.h - what the backend's ops (cuda.c) stand on. Nothing here needs the CUDA Toolkit; without.c stands in
   for what does where Tutti was built without it. */
#ifndef BACKEND_CUDA_BACKEND_IMPL_H
#define BACKEND_CUDA_BACKEND_IMPL_H

#include "backends/cpu/plan_impl.h"

#include <tutti/plugin.h>

/* --- params.c --- */

/* Those of backend cpu, with precisions of its own. */
extern const struct tutti_param backend_cuda_params[CPU_PARAMS];

/* --- ops.c --- */

/* Has the block engine this op? */
bool backend_cuda_has_op(enum tutti_op op);
/* The first layer that works on pixels, which makes the network one for the stream engine; NULL: there is none. */
const struct tutti_layer *backend_cuda_first_image(const tutti_network *network);

/* --- device.c --- */

struct cuda_pool;
struct stream_trials;
struct cuda_device {
  uint32_t multiprocessors;
  uint32_t most_workers;                                       /* threads of a block that compute */
  size_t shared_block, shared_multiprocessor, shared_reserved; /* bytes */
  uint32_t stream_blocks;                                      /* of a grid of the stream engine */
  bool open;
  struct cuda_pool *pool;       /* what trains there by the block engine; NULL: nothing does */
  struct stream_trials *images; /* and by the stream engine */
};
/* Is there a driver and a device that this build runs on? If not, say why. */
bool backend_cuda_available(char *why, size_t why_size);
/* What the device is like. Nothing is begun on it: the manager of a run, which trains nothing, needs no more. */
enum tutti_status backend_cuda_device_describe(tutti_context *context, struct cuda_device *device);
/* All memory of the device, in bytes. */
enum tutti_status backend_cuda_device_total(tutti_context *context, size_t *bytes);
/* Begin with it, unless that was done. */
enum tutti_status backend_cuda_device_open(tutti_context *context, struct cuda_device *device);

/* --- both engines --- */

/* Some rows of a split. */
struct cuda_span {
  size_t first, count;
};
/* Both engines predict so many rows at once. Parts of a split that begin at multiples of these have the bits that all
   its rows together have. */
enum { CUDA_PREDICTED_ROWS = 64 };

/* How a queue is trained. */
struct cuda_training {
  /* Of each job; a job that it refuses fails by itself. NULL: they were checked. */
  enum tutti_status (*check)(void *self, tutti_context *context, const struct tutti_job *job);
  void *self;
  bool ends_process; /* once the device is lost, leave the jobs that wait, and return why; else they fail, too */
};

/* --- the stream engine, for networks of images (stream_*.c); without cuDNN, stream_without.c --- */

/* Is it in this build? */
bool backend_cuda_stream_is_built(void);
bool backend_cuda_stream_has_op(enum tutti_op op);
/* Networks that train at once, if the device's memory has room for them. */
size_t backend_cuda_stream_capacity(void);
/* Train the jobs of a queue until it has none, as backend_cuda_train does. */
enum tutti_status backend_cuda_images_train(tutti_context *context, struct cuda_device *device,
                                            const struct tutti_job_queue *queue, const struct cuda_training *how);
enum tutti_status backend_cuda_images_gradient(tutti_context *context, const struct cuda_device *device,
                                               const struct tutti_job *job, const tutti_tensors *weights, double *loss,
                                               tutti_tensors **gradient);
enum tutti_status backend_cuda_images_need(tutti_context *context, const struct cuda_device *device,
                                           const struct tutti_job *job, size_t *bytes);
enum tutti_status backend_cuda_images_prediction_need(tutti_context *context, const struct tutti_job *job,
                                                      const tutti_split *split, struct cuda_span span, size_t *bytes);
/* As backend_cuda_predict, and backend_cuda_wait_for_memory. */
enum tutti_status backend_cuda_images_predict(tutti_context *context, const struct cuda_device *device,
                                              const struct tutti_job *job, const tutti_tensors *weights,
                                              const tutti_split *split, struct cuda_span span, float *out,
                                              float *epistemic);
enum tutti_status backend_cuda_images_wait_for_memory(struct stream_trials *trials, bool *some);

/* --- pool.c, predict.c --- */

/* Train the jobs of a queue until it has none (backend.h, train_queue). */
enum tutti_status backend_cuda_train(tutti_context *context, struct cuda_device *device,
                                     const struct tutti_job_queue *queue, const struct cuda_training *how);
enum tutti_status backend_cuda_gradient(tutti_context *context, struct cuda_device *device, const struct tutti_job *job,
                                        const tutti_tensors *weights, double *loss, tutti_tensors **gradient);
/* Bytes of the device's memory that a job takes, with its rows; and predictions of some rows by themselves. */
enum tutti_status backend_cuda_need(tutti_context *context, const struct cuda_device *device,
                                    const struct tutti_job *job, size_t *bytes);
enum tutti_status backend_cuda_prediction_need(tutti_context *context, const struct cuda_device *device,
                                               const struct tutti_job *job, const tutti_split *split,
                                               struct cuda_span span, size_t *bytes);
/* Predict some rows: out[rows][width], and, unless it is NULL, epistemic[rows][tutti_epistemic_width]. Also while a
   pool trains, from its callbacks. TUTTI_ERROR_MEMORY: the device has no memory for so many rows, which the error says
   with need and limit. */
enum tutti_status backend_cuda_predict(tutti_context *context, struct cuda_device *device, const struct tutti_job *job,
                                       const tutti_tensors *weights, const tutti_split *split, struct cuda_span span,
                                       float *out, float *epistemic);
/* From a callback of a pool: wait until a training of it has ended, and give back what it had of the device's memory.
   *some: false if none is left. */
enum tutti_status backend_cuda_wait_for_memory(struct cuda_pool *pool, bool *some);

#endif
