/* stream_without.c - replaces the stream engine if the backend was built without cuDNN and cuBLAS. */
#include "backend_impl.h"

static enum tutti_status absent(tutti_context *context) {
  return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED,
                    "networks of images need cuDNN, and backend cuda was built without it: install it, then configure "
                    "and build again, or take backend cpu");
}

bool backend_cuda_stream_is_built(void) { return false; }

bool backend_cuda_stream_has_op(enum tutti_op op) {
  (void)op;
  return false;
}

size_t backend_cuda_stream_capacity(void) { return 1; }

enum tutti_status backend_cuda_images_train(tutti_context *context, struct cuda_device *device,
                                            const struct tutti_job_queue *queue, const struct cuda_training *how) {
  (void)device, (void)queue, (void)how;
  return absent(context);
}

enum tutti_status backend_cuda_images_gradient(tutti_context *context, const struct cuda_device *device,
                                               const struct tutti_job *job, const tutti_tensors *weights, double *loss,
                                               tutti_tensors **gradient) {
  (void)device, (void)job, (void)weights, (void)loss, (void)gradient;
  return absent(context);
}

enum tutti_status backend_cuda_images_need(tutti_context *context, const struct cuda_device *device,
                                           const struct tutti_job *job, size_t *bytes) {
  (void)device, (void)job, (void)bytes;
  return absent(context);
}

enum tutti_status backend_cuda_images_prediction_need(tutti_context *context, const struct tutti_job *job,
                                                      const tutti_split *split, struct cuda_span span, size_t *bytes) {
  (void)job, (void)split, (void)span, (void)bytes;
  return absent(context);
}

enum tutti_status backend_cuda_images_predict(tutti_context *context, const struct cuda_device *device,
                                              const struct tutti_job *job, const tutti_tensors *weights,
                                              const tutti_split *split, struct cuda_span span, float *out,
                                              float *epistemic) {
  (void)device, (void)job, (void)weights, (void)split, (void)span, (void)out, (void)epistemic;
  return absent(context);
}

enum tutti_status backend_cuda_images_wait_for_memory(struct stream_trials *trials, bool *some) {
  (void)trials;
  *some = false;
  return TUTTI_OK;
}
