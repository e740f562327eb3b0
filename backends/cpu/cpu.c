/* cpu.c - backend `cpu`: trains dense and convolutional networks on one core.

   Pools consist of many small networks, so the right unit of parallelism is one network per core. Elsewhere, a step of
   a small network is mostly overhead. Here a step walks over a fixed plan: our own kernels multiply matrices where they
   lie, with bias, activation and derivative fused around the products; the optimiser takes one pass over all weights;
   nothing is allocated. See docs/backend-cpu.md.

   The same job gives the same bits on the same processor, whatever ran before. Processors with other instruction sets
   add in another order, so last bits may differ. */
#include "cpu_impl.h"
#include "many_impl.h"
#include "plan_impl.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <tutti/sized.h>

struct cpu_backend {
  const struct cpu_kernels *kernels;
  atomic_bool told_of_precision; /* the warning of check_precision was given */
};

/* The processor's units for products in bfloat16; NULL: it has none, and rounding makes them slower than float32. */
static const char *bfloat_units(const struct cpu_kernels *kernels) {
  struct cpu_bfloat_way ways[CPU_BFLOAT_WAYS];
  (void)backend_cpu_bfloat_ways(kernels, ways);
  return ways[0].units;
}

static void backend_uses_cpu(char *text, size_t size) {
  const enum tutti_cpu cpu = tutti_cpu_detect();
  const char *units = bfloat_units(backend_cpu_kernels(cpu));
  (void)snprintf(text, size, "products in float32 by %s; with precision = bfloat16 by %s", tutti_cpu_name(cpu),
                 units ? units : "the same, which is slower than float32");
}

static enum tutti_status backend_create_cpu(tutti_context *context, const void *config, const void *setup,
                                            void **self) {
  (void)config, (void)setup;
  struct cpu_backend *backend;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *backend, &backend));
  backend->kernels = backend_cpu_kernels(tutti_cpu_detect());
  *self = backend;
  return TUTTI_OK;
}

static void backend_destroy_cpu(void *self) { tutti_free(self); }

static bool backend_supports_cpu(void *self, enum tutti_op op) {
  (void)self;
  return op < TUTTI_OP_COUNT;
}

static bool supports_layer_cpu(void *self, const struct tutti_layer *layer) {
  return backend_supports_cpu(self, layer->op) && backend_cpu_knows(layer);
}

/* Only images can be varied, and only colours have a saturation and a hue. */
static enum tutti_status check_augmentation(tutti_context *context, const struct tutti_job *job) {
  const struct cpu_config *config = job->config;
  struct tutti_shape input = tutti_network_layer(job->network, 0)->shape;
  const char *varied = backend_cpu_augments(config);
  if (varied && input.height == 1 && input.width == 1)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "backend.%s: inputs of %d %s are no images, and only images can be varied; leave it out", varied,
                      input.channels, tutti_plural((size_t)input.channels, "feature", "features"));
  if ((config->augment_saturation > 0 || config->augment_hue > 0) && input.channels != 3)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "backend.%s: images of %d %s, and only red, green and blue have colours; leave it out",
                      config->augment_hue > 0 ? "augment_hue" : "augment_saturation", input.channels,
                      tutti_plural((size_t)input.channels, "channel", "channels"));
  if (config->augment_crop < 1 && config->augment_padding > 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "backend.augment_padding and augment_crop are two kinds of crops; leave one out");
  if (config->augment_padding >= input.height || config->augment_padding >= input.width)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "backend.augment_padding: images of %d x %d pixels cannot be moved by %lld of them", input.height,
                      input.width, (long long)config->augment_padding);
  return TUTTI_OK;
}

/* Does a layer behind the inputs make images? */
static bool makes_images(const tutti_network *network) {
  for (size_t i = 1; i < tutti_network_layers(network); i++) {
    struct tutti_shape shape = tutti_network_layer(network, i)->shape;
    if (shape.height > 1 || shape.width > 1)
      return true;
  }
  return false;
}

/* Only images have values between layers that are worth it, and L-BFGS needs a loss without steps. */
static enum tutti_status check_storage(tutti_context *context, const struct tutti_job *job) {
  const struct cpu_config *config = job->config;
  if (config->storage == CPU_STORAGE_FLOAT)
    return TUTTI_OK;
  if (config->optimiser == CPU_LBFGS)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "backend.storage: optimiser = lbfgs needs a loss that is as smooth as floats can be, and half "
                      "storage rounds it; leave one of the two out");
  if (!makes_images(job->network))
    return TUTTI_FAIL(
        context, TUTTI_ERROR_USAGE,
        "backend.storage: no layer of this network makes images, and only these are kept in 16 bits; leave it out");
  return TUTTI_OK;
}

static enum tutti_status check_precision(struct cpu_backend *backend, tutti_context *context,
                                         const struct tutti_job *job) {
  const struct cpu_config *config = job->config;
  if (config->precision == CPU_FLOAT32)
    return TUTTI_OK;
  if (config->optimiser == CPU_LBFGS)
    return TUTTI_FAIL(
        context, TUTTI_ERROR_USAGE,
        "backend.precision = bfloat16: optimiser = lbfgs needs a loss that is as smooth as floats can be, "
        "and this rounds it; leave one of the two out");
  if (!atomic_exchange(&backend->told_of_precision, true) && !bfloat_units(backend->kernels))
    tutti_log(context, TUTTI_LOG_WARNING,
              "backend.precision = bfloat16: this processor has no units for it (vectors: %s), so that training is "
              "slower than with float32, which is the default",
              tutti_cpu_name(tutti_cpu_detect()));
  return TUTTI_OK;
}

/* Check what a hand-made job could get wrong and the kernels could not survive. */
static enum tutti_status backend_check_cpu(void *self, tutti_context *context, const struct tutti_job *job) {
  if (!job->network)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "backend cpu trains networks, and this job has none");
  TUTTI_TRY(context, check_augmentation(context, job));
  TUTTI_TRY(context, check_storage(context, job));
  TUTTI_TRY(context, check_precision(self, context, job));
  TUTTI_TRY(context, backend_cpu_check_encodings(context, job));
  TUTTI_TRY(context, backend_cpu_lbfgs_check(context, job));
  TUTTI_TRY(context, backend_cpu_draws_check(context, job));
  size_t layers = tutti_network_layers(job->network);
  for (size_t i = 0; i < layers; i++) {
    const struct tutti_layer *layer = tutti_network_layer(job->network, i);
    if (!supports_layer_cpu(self, layer))
      return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "layer %s: backend cpu has no op %s%s", layer->label,
                        layer->op_name, backend_supports_cpu(self, layer->op) ? " with these attributes" : "");
  }
  return backend_cpu_check_head(context, job);
}

static enum tutti_status check_data(void *self, tutti_context *context, const struct tutti_job *job) {
  TUTTI_TRY(context, backend_check_cpu(self, context, job));
  return backend_cpu_check_data(context, job);
}

static enum tutti_status backend_train_cpu(void *self, tutti_context *context, const struct tutti_job *theirs,
                                           struct tutti_outcome *outcome) {
  struct cpu_backend *backend = self;
  struct tutti_job job;
  TUTTI_TAKE(&job, theirs);
  TUTTI_TRY(context, check_data(self, context, &job));
  return backend_cpu_train(context, backend->kernels, &job, outcome);
}

/* A worker has one thread, so a job at a time is best there; whoever has more threads and jobs uses them. */
static size_t backend_capacity_cpu(void *self) {
  (void)self;
  return 1;
}

static enum tutti_status backend_train_many_cpu(void *self, tutti_context *context, size_t count,
                                                const struct tutti_job *const *jobs,
                                                struct tutti_outcome *const *outcomes,
                                                void (*done)(void *argument, size_t index), void *argument) {
  struct cpu_many work = {self, backend_train_cpu, count, jobs, outcomes, done, argument};
  return backend_cpu_many(context, &work);
}

static enum tutti_status backend_predict_cpu(void *self, tutti_context *context, const struct tutti_job *job,
                                             const tutti_tensors *weights, const tutti_split *split, float *out) {
  struct cpu_backend *backend = self;
  TUTTI_TRY(context, backend_check_cpu(self, context, job));
  TUTTI_TRY(context, backend_cpu_check_split(context, job, split));
  return backend_cpu_predict_split(context, backend->kernels, job, weights, split, out, NULL);
}

static bool backend_tells_epistemic_cpu(void *self, const struct tutti_job *job) {
  (void)self;
  return job->network && backend_cpu_tells_epistemic(job);
}

static size_t backend_unread_cpu(void *self, const struct tutti_job *job) {
  (void)self;
  return backend_cpu_unread(job);
}

static enum tutti_status backend_predict_parts_cpu(void *self, tutti_context *context, const struct tutti_job *job,
                                                   const tutti_tensors *weights, const tutti_split *split, float *out,
                                                   float *epistemic) {
  struct cpu_backend *backend = self;
  TUTTI_TRY(context, backend_check_cpu(self, context, job));
  TUTTI_TRY(context, backend_cpu_check_split(context, job, split));
  return backend_cpu_predict_split(context, backend->kernels, job, weights, split, out, epistemic);
}

static enum tutti_status backend_open_cpu(void *self, tutti_context *context, const struct tutti_job *job,
                                          const tutti_tensors *weights, size_t rows, void **predictor) {
  struct cpu_backend *backend = self;
  struct cpu_predictor *made = NULL;
  TUTTI_TRY(context, backend_check_cpu(self, context, job));
  enum tutti_status status = backend_cpu_open(context, backend->kernels, job, weights, rows, &made);
  *predictor = made;
  return status;
}

static enum tutti_status backend_gradient_cpu(void *self, tutti_context *context, const struct tutti_job *theirs,
                                              const tutti_tensors *weights, double *loss, tutti_tensors **gradient) {
  struct cpu_backend *backend = self;
  struct tutti_job job;
  TUTTI_TAKE(&job, theirs);
  TUTTI_TRY(context, check_data(self, context, &job));
  return backend_cpu_gradient(context, backend->kernels, &job, weights, loss, gradient);
}

static uint32_t backend_epochs_cpu(void *self, const void *config) {
  (void)self;
  return (uint32_t)((const struct cpu_config *)config)->epochs;
}

static const struct tutti_backend_ops cpu_ops = {
    .size = sizeof cpu_ops,
    .supports = backend_supports_cpu,
    .train = backend_train_cpu,
    .predict = backend_predict_cpu,
    .check = backend_check_cpu,
    .gradient = backend_gradient_cpu,
    .capacity = backend_capacity_cpu,
    .train_many = backend_train_many_cpu,
    .supports_layer = supports_layer_cpu,
    .honours = TUTTI_JOB_FROZEN | TUTTI_JOB_BOX | TUTTI_JOB_CLASS_WEIGHTS | TUTTI_JOB_WARM,
    .open = backend_open_cpu,
    .ask = backend_cpu_ask,
    .close = backend_cpu_close,
    .tells_epistemic = backend_tells_epistemic_cpu,
    .predict_parts = backend_predict_parts_cpu,
    .ask_slope = backend_cpu_ask_slope,
    .epochs = backend_epochs_cpu,
    .unread = backend_unread_cpu,
};

static const struct tutti_descriptor cpu_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_BACKEND, "cpu"),
    .version = "1.0",
    .summary = "Trains dense and convolutional networks on one core.",
    .source = "",
    .licence = "Apache-2.0",
    .params = {backend_cpu_params, CPU_PARAMS, sizeof(struct tutti_param), sizeof(struct cpu_config)},
    .create = backend_create_cpu,
    .destroy = backend_destroy_cpu,
    .ops = &cpu_ops,
    .uses = backend_uses_cpu,
};

TUTTI_PLUGIN(cpu_descriptor)
