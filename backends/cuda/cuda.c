/* cuda.c - backend `cuda`: trains a pool of networks at once on a GPU. A small dense network is one thread block's,
   from its first epoch to its last (the block engine); a network of images runs layer by layer on a stream of its own
   (the stream engine). Single questions are answered on the processor. Parameters, initial weights, mini-batches and
   dropout masks are those of backend cpu, so that losses can be compared step by step. See docs/backend-cuda.md. */
#include "backend_impl.h"

#include <string.h>
#include <tutti/sized.h>

struct cuda_backend {
  struct cuda_device device;
  const struct cpu_kernels *kernels; /* for questions */
  bool pixels;                       /* the task is of images, as most of its networks will be */
};

static bool backend_available_cuda(char *why, size_t why_size) { return backend_cuda_available(why, why_size); }

static bool is_of_images(const struct tutti_backend_setup *setup) {
  return setup && setup->task && setup->task->input.height > 1 && setup->task->input.width > 1;
}

static enum tutti_status backend_create_cuda(tutti_context *context, const void *config, const void *setup,
                                             void **self) {
  const struct tutti_backend_setup *of = setup;
  struct cuda_backend *backend;
  (void)config;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *backend, &backend));
  backend->kernels = backend_cpu_kernels(tutti_cpu_detect());
  backend->pixels = is_of_images(of) && backend_cuda_stream_is_built();
  enum tutti_status status = backend_cuda_device_describe(context, &backend->device);
  if (status == TUTTI_OK)
    *self = backend;
  else
    tutti_free(backend);
  return status;
}

static void backend_destroy_cuda(void *self) { tutti_free(self); }

static bool backend_supports_cuda(void *self, enum tutti_op op) {
  (void)self;
  return backend_cuda_has_op(op) || backend_cuda_stream_has_op(op);
}

/* Networks of images are the stream engine's. */
static bool is_image(const struct tutti_job *job) { return backend_cuda_first_image(job->network) != NULL; }

static bool supports_layer_cuda(void *self, const struct tutti_layer *layer) {
  return backend_supports_cuda(self, layer->op) && backend_cpu_knows(layer);
}

/* Parameters of backend cpu that this one does not have. */
static enum tutti_status check_config(tutti_context *context, const struct tutti_job *job) {
  const struct cpu_config *config = job->config;
  const char *lacks = config->optimiser == CPU_LBFGS                       ? "optimiser = lbfgs"
                      : config->storage > 0                                ? "storage = half"
                      : is_image(job) && config->keep == CPU_KEEP_MEASURED ? "keep = measured"
                      : !is_image(job)                                     ? backend_cpu_augments(config)
                      : config->prediction_draws > 0                       ? "prediction_draws"
                                                                           : NULL;
  if (lacks)
    return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED,
                      "backend.%s: backend cuda does not have it; leave it out, or take backend cpu", lacks);
  return TUTTI_OK;
}

/* Numbers of 16 bits are the stream engine's. */
static enum tutti_status check_precision(tutti_context *context, const struct tutti_job *job) {
  const struct cpu_config *config = job->config;
  if (config->precision == CPU_BFLOAT16 && !is_image(job))
    return TUTTI_FAIL(
        context, TUTTI_ERROR_UNSUPPORTED,
        "backend.precision = bfloat16: backend cuda has it for networks of images alone, and this network "
        "works on tables; take tf32 or float32");
  return TUTTI_OK;
}

/* Memory for a training with its rows, and for the fewest rows of a split that are predicted at once, by themselves. */
static enum tutti_status check_memory(struct cuda_backend *backend, tutti_context *context,
                                      const struct tutti_job *job) {
  const tutti_split *split = job->validation ? job->validation : job->train;
  struct cuda_span few = {.count = tutti_split_rows(split)};
  size_t need, total;
  TUTTI_TRY(context, is_image(job) ? backend_cuda_images_need(context, &backend->device, job, &need)
                                   : backend_cuda_need(context, &backend->device, job, &need));
  TUTTI_TRY(context, backend_cuda_device_total(context, &total));
  if (need > total)
    return TUTTI_FAIL(context, TUTTI_ERROR_MEMORY,
                      "the network and its rows need %zu MiB, and the device has %zu MiB: lower batch_size, or take "
                      "backend cpu",
                      (need >> 20) + 1, total >> 20);
  if (few.count > CUDA_PREDICTED_ROWS)
    few.count = CUDA_PREDICTED_ROWS;
  TUTTI_TRY(context, is_image(job) ? backend_cuda_images_prediction_need(context, job, split, few, &need)
                                   : backend_cuda_prediction_need(context, &backend->device, job, split, few, &need));
  if (need > total)
    return TUTTI_FAIL(context, TUTTI_ERROR_MEMORY,
                      "predictions of %zu rows at once need %zu MiB, and the device has %zu MiB: take backend cpu",
                      few.count, (need >> 20) + 1, total >> 20);
  return TUTTI_OK;
}

/* Has the engine whose network it is all of its ops? */
static enum tutti_status check_engine(tutti_context *context, const tutti_network *network) {
  const struct tutti_layer *image = backend_cuda_first_image(network);
  if (image && !backend_cuda_stream_is_built())
    return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED,
                      "layer %s: backend cuda has no op %s for images, because it was built without cuDNN; backend cpu "
                      "has it",
                      image->label, image->op_name);
  for (size_t i = 0; i < tutti_network_layers(network); i++) {
    const struct tutti_layer *layer = tutti_network_layer(network, i);
    if (!(image ? backend_cuda_stream_has_op(layer->op) : backend_cuda_has_op(layer->op)))
      return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED,
                        "layer %s: backend cuda has no op %s in networks of %s; backend cpu has it", layer->label,
                        layer->op_name, image ? "images" : "tables");
  }
  return TUTTI_OK;
}

static enum tutti_status backend_check_cuda(void *self, tutti_context *context, const struct tutti_job *job) {
  if (!job->network)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "backend cuda trains networks, and this job has none");
  TUTTI_TRY(context, check_config(context, job));
  TUTTI_TRY(context, check_precision(context, job));
  TUTTI_TRY(context, backend_cpu_draws_check(context, job));
  TUTTI_TRY(context, backend_cpu_check_encodings(context, job));
  for (size_t i = 0; i < tutti_network_layers(job->network); i++) {
    const struct tutti_layer *layer = tutti_network_layer(job->network, i);
    if (!supports_layer_cuda(self, layer))
      return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "layer %s: backend cuda has no op %s%s", layer->label,
                        layer->op_name, backend_supports_cuda(self, layer->op) ? " with these attributes" : "");
  }
  TUTTI_TRY(context, check_engine(context, job->network));
  TUTTI_TRY(context, backend_cpu_check_head(context, job));
  return job->train ? check_memory(self, context, job) : TUTTI_OK;
}

static enum tutti_status check_data(void *self, tutti_context *context, const struct tutti_job *job) {
  TUTTI_TRY(context, backend_cpu_check_data(context, job));
  return backend_check_cuda(self, context, job);
}

/* How many blocks of the kernel a device holds is known for each network alone: two to a multiprocessor is what all
   have room for. Of images, the stream engine trains fewer. */
static size_t backend_capacity_cuda(void *self) {
  const struct cuda_backend *backend = self;
  return backend->pixels ? backend_cuda_stream_capacity() : 2 * (size_t)backend->device.multiprocessors;
}

/* Jobs that are all there at once, as a queue. */
struct given {
  size_t count, next;
  const struct tutti_job *const *jobs;
  struct tutti_outcome *const *outcomes;
  void (*done)(void *argument, size_t index);
  void *argument;
};

static bool next_given(void *argument, const struct tutti_job **job, struct tutti_outcome **outcome, size_t *number) {
  struct given *given = argument;
  if (given->next == given->count)
    return false;
  *number = given->next++;
  *job = given->jobs[*number];
  *outcome = given->outcomes[*number];
  return true;
}

static void given_done(void *argument, size_t number) {
  struct given *given = argument;
  if (given->done)
    given->done(given->argument, number);
}

/* --- jobs of both engines --- */

struct shelved {
  const struct tutti_job *job;
  struct tutti_outcome *outcome;
  size_t number;
};

/* A queue of which one engine takes its own; those of the other are laid aside until it has none. */
struct sorted {
  struct tutti_job_queue from;
  tutti_context *context;
  struct shelved *shelf; /* [count], the first to come first */
  size_t count, room;
  bool images; /* whose turn it is */
  enum tutti_status status;
};

static bool is_its(const struct sorted *sorted, const struct tutti_job *job) {
  return (job->network && is_image(job)) == sorted->images;
}

static enum tutti_status lay_aside(struct sorted *sorted, struct shelved job) {
  if (sorted->count == sorted->room) {
    size_t room = 2 * sorted->room + 16;
    TUTTI_TRY(sorted->context,
              tutti_realloc(sorted->context, sorted->count, room, sizeof *sorted->shelf, &sorted->shelf));
    sorted->room = room;
  }
  sorted->shelf[sorted->count++] = job;
  return TUTTI_OK;
}

static bool take_aside(struct sorted *sorted, struct shelved *job) {
  for (size_t i = 0; i < sorted->count; i++)
    if (is_its(sorted, sorted->shelf[i].job)) {
      *job = sorted->shelf[i];
      memmove(sorted->shelf + i, sorted->shelf + i + 1, (--sorted->count - i) * sizeof *sorted->shelf);
      return true;
    }
  return false;
}

static bool next_sorted(void *argument, const struct tutti_job **job, struct tutti_outcome **outcome, size_t *number) {
  struct sorted *sorted = argument;
  struct shelved one;
  bool found = take_aside(sorted, &one);
  while (!found && sorted->status == TUTTI_OK &&
         sorted->from.next(sorted->from.argument, &one.job, &one.outcome, &one.number)) {
    found = is_its(sorted, one.job);
    if (!found)
      sorted->status = lay_aside(sorted, one);
  }
  if (!found)
    return false;
  *job = one.job;
  *outcome = one.outcome;
  *number = one.number;
  return true;
}

static void sorted_done(void *argument, size_t number) {
  struct sorted *sorted = argument;
  sorted->from.done(sorted->from.argument, number);
}

/* One engine after the other, until both have none. */
static enum tutti_status train_both(struct cuda_backend *backend, tutti_context *context,
                                    const struct tutti_job_queue *theirs, bool ends_process) {
  struct sorted sorted = {.context = context, .images = backend->pixels};
  const struct tutti_job_queue queue = {sizeof queue, &sorted, next_sorted, sorted_done};
  const struct cuda_training how = {.check = check_data, .self = backend, .ends_process = ends_process};
  enum tutti_status status;
  TUTTI_TAKE(&sorted.from, theirs);
  do {
    TUTTI_TRY_OUT(context, sorted.images ? backend_cuda_images_train(context, &backend->device, &queue, &how)
                                         : backend_cuda_train(context, &backend->device, &queue, &how));
    TUTTI_TRY_OUT(context, sorted.status);
    sorted.images = !sorted.images;
  } while (sorted.count > 0);
out:
  tutti_free(sorted.shelf);
  return status;
}

static enum tutti_status backend_train_many_cuda(void *self, tutti_context *context, size_t count,
                                                 const struct tutti_job *const *jobs,
                                                 struct tutti_outcome *const *outcomes,
                                                 void (*done)(void *argument, size_t index), void *argument) {
  struct cuda_backend *backend = self;
  struct given given = {.count = count, .jobs = jobs, .outcomes = outcomes, .done = done, .argument = argument};
  const struct tutti_job_queue queue = {sizeof queue, &given, next_given, given_done};
  return train_both(backend, context, &queue, false);
}

static enum tutti_status backend_train_queue_cuda(void *self, tutti_context *context,
                                                  const struct tutti_job_queue *theirs) {
  return train_both(self, context, theirs, true);
}

static enum tutti_status backend_train_cuda(void *self, tutti_context *context, const struct tutti_job *theirs,
                                            struct tutti_outcome *outcome) {
  struct tutti_job job;
  TUTTI_TAKE(&job, theirs);
  TUTTI_TRY(context, check_data(self, context, &job));
  return backend_train_many_cuda(self, context, 1, &theirs, &outcome, NULL, NULL);
}

static bool backend_tells_epistemic_cuda(void *self, const struct tutti_job *job) {
  (void)self;
  return job->network && backend_cpu_tells_epistemic(job);
}

static size_t backend_unread_cuda(void *self, const struct tutti_job *job) {
  (void)self;
  return backend_cpu_unread(job);
}

/* --- predictions --- */

/* A training that ends while its pool's callback asks makes room. */
static enum tutti_status wait_for_memory(struct cuda_device *device, bool *some) {
  *some = false;
  return device->pool     ? backend_cuda_wait_for_memory(device->pool, some)
         : device->images ? backend_cuda_images_wait_for_memory(device->images, some)
                          : TUTTI_OK;
}

/* All rows; as many at once as the device has memory for. Where it has none for the fewest, those wait for trainings
   to end. */
static enum tutti_status predict_in_parts(struct cuda_device *device, tutti_context *context,
                                          const struct tutti_job *job, const tutti_tensors *weights,
                                          const tutti_split *split, float *out, float *epistemic) {
  const struct tutti_task *task = job->task;
  const size_t rows = tutti_split_rows(split), width = tutti_predictions_width(task->kind, task->outputs);
  const size_t parts = tutti_epistemic_width(task->kind, task->outputs);
  for (size_t first = 0, most = rows; first < rows;) {
    const struct cuda_span span = {first, rows - first < most ? rows - first : most};
    float *to = out + first * width, *own = epistemic ? epistemic + first * parts : NULL;
    bool again = span.count > CUDA_PREDICTED_ROWS;
    enum tutti_status status = is_image(job)
                                   ? backend_cuda_images_predict(context, device, job, weights, split, span, to, own)
                                   : backend_cuda_predict(context, device, job, weights, split, span, to, own);
    if (status == TUTTI_OK) {
      first += span.count;
      continue;
    }
    most = (span.count / 2 + CUDA_PREDICTED_ROWS - 1) / CUDA_PREDICTED_ROWS * CUDA_PREDICTED_ROWS;
    if (status == TUTTI_ERROR_MEMORY && !again) {
      TUTTI_TRY(context, wait_for_memory(device, &again));
      most = rows;
    }
    if (status != TUTTI_ERROR_MEMORY || !again)
      return status;
    tutti_error_clear(context);
  }
  return TUTTI_OK;
}

static enum tutti_status backend_predict_parts_cuda(void *self, tutti_context *context, const struct tutti_job *theirs,
                                                    const tutti_tensors *weights, const tutti_split *split, float *out,
                                                    float *epistemic) {
  struct cuda_backend *backend = self;
  struct tutti_job job;
  TUTTI_TAKE(&job, theirs);
  job.train = job.validation = NULL;
  TUTTI_TRY(context, backend_check_cuda(self, context, &job));
  TUTTI_TRY(context, backend_cpu_check_split(context, &job, split));
  TUTTI_TRY(context, backend_cuda_device_open(context, &backend->device));
  return predict_in_parts(&backend->device, context, &job, weights, split, out, epistemic);
}

static enum tutti_status backend_predict_cuda(void *self, tutti_context *context, const struct tutti_job *job,
                                              const tutti_tensors *weights, const tutti_split *split, float *out) {
  return backend_predict_parts_cuda(self, context, job, weights, split, out, NULL);
}

/* Questions of a few rows are answered by the processor, with the code of backend cpu: a launch would cost more. */
static enum tutti_status backend_open_cuda(void *self, tutti_context *context, const struct tutti_job *job,
                                           const tutti_tensors *weights, size_t rows, void **predictor) {
  struct cuda_backend *backend = self;
  struct cpu_predictor *made = NULL;
  TUTTI_TRY(context, backend_check_cuda(self, context, job));
  enum tutti_status status = backend_cpu_open(context, backend->kernels, job, weights, rows, &made);
  *predictor = made;
  return status;
}

static enum tutti_status backend_gradient_cuda(void *self, tutti_context *context, const struct tutti_job *theirs,
                                               const tutti_tensors *weights, double *loss, tutti_tensors **gradient) {
  struct cuda_backend *backend = self;
  struct tutti_job job;
  TUTTI_TAKE(&job, theirs);
  TUTTI_TRY(context, check_data(self, context, &job));
  if (!is_image(&job))
    return backend_cuda_gradient(context, &backend->device, &job, weights, loss, gradient);
  TUTTI_TRY(context, backend_cuda_device_open(context, &backend->device));
  return backend_cuda_images_gradient(context, &backend->device, &job, weights, loss, gradient);
}

static uint32_t backend_epochs_cuda(void *self, const void *config) {
  (void)self;
  return (uint32_t)((const struct cpu_config *)config)->epochs;
}

static const struct tutti_backend_ops cuda_ops = {
    .size = sizeof cuda_ops,
    .supports = backend_supports_cuda,
    .train = backend_train_cuda,
    .predict = backend_predict_cuda,
    .check = backend_check_cuda,
    .gradient = backend_gradient_cuda,
    .capacity = backend_capacity_cuda,
    .train_many = backend_train_many_cuda,
    .supports_layer = supports_layer_cuda,
    .honours = TUTTI_JOB_FROZEN | TUTTI_JOB_BOX | TUTTI_JOB_CLASS_WEIGHTS | TUTTI_JOB_WARM,
    .open = backend_open_cuda,
    .ask = backend_cpu_ask,
    .close = backend_cpu_close,
    .tells_epistemic = backend_tells_epistemic_cuda,
    .predict_parts = backend_predict_parts_cuda,
    .ask_slope = backend_cpu_ask_slope,
    .epochs = backend_epochs_cuda,
    .train_queue = backend_train_queue_cuda,
    .unread = backend_unread_cuda,
};

static const struct tutti_descriptor cuda_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_BACKEND, "cuda"),
    .version = "1.0",
    .summary = "Trains many networks at once on a GPU.",
    .source = "",
    .licence = "Apache-2.0",
    .params = {backend_cuda_params, CPU_PARAMS, sizeof(struct tutti_param), sizeof(struct cpu_config)},
    .available = backend_available_cuda,
    .create = backend_create_cuda,
    .destroy = backend_destroy_cuda,
    .ops = &cuda_ops,
};

TUTTI_PLUGIN(cuda_descriptor)
