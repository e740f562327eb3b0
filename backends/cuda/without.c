/* without.c - replaces the engine if Tutti was built without the CUDA Toolkit. */
#include "backend_impl.h"

#include <stdio.h>

static const char absent[] =
    "built without the CUDA Toolkit: install it, then configure (--with-cuda=DIR) and build again";

bool backend_cuda_available(char *why, size_t why_size) {
  (void)snprintf(why, why_size, "%s", absent);
  return false;
}

enum tutti_status backend_cuda_device_describe(tutti_context *context, struct cuda_device *device) {
  (void)device;
  return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "%s", absent);
}

enum tutti_status backend_cuda_device_total(tutti_context *context, size_t *bytes) {
  (void)bytes;
  return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "%s", absent);
}

enum tutti_status backend_cuda_device_open(tutti_context *context, struct cuda_device *device) {
  (void)device;
  return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "%s", absent);
}

enum tutti_status backend_cuda_train(tutti_context *context, struct cuda_device *device,
                                     const struct tutti_job_queue *queue, const struct cuda_training *how) {
  (void)device, (void)queue, (void)how;
  return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "%s", absent);
}

enum tutti_status backend_cuda_gradient(tutti_context *context, struct cuda_device *device, const struct tutti_job *job,
                                        const tutti_tensors *weights, double *loss, tutti_tensors **gradient) {
  (void)device, (void)job, (void)weights, (void)loss, (void)gradient;
  return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "%s", absent);
}

enum tutti_status backend_cuda_need(tutti_context *context, const struct cuda_device *device,
                                    const struct tutti_job *job, size_t *bytes) {
  (void)device, (void)job, (void)bytes;
  return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "%s", absent);
}

enum tutti_status backend_cuda_prediction_need(tutti_context *context, const struct cuda_device *device,
                                               const struct tutti_job *job, const tutti_split *split,
                                               struct cuda_span span, size_t *bytes) {
  (void)device, (void)job, (void)split, (void)span, (void)bytes;
  return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "%s", absent);
}

enum tutti_status backend_cuda_predict(tutti_context *context, struct cuda_device *device, const struct tutti_job *job,
                                       const tutti_tensors *weights, const tutti_split *split, struct cuda_span span,
                                       float *out, float *epistemic) {
  (void)device, (void)job, (void)weights, (void)split, (void)span, (void)out, (void)epistemic;
  return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "%s", absent);
}

enum tutti_status backend_cuda_wait_for_memory(struct cuda_pool *pool, bool *some) {
  (void)pool;
  *some = false;
  return TUTTI_OK;
}
