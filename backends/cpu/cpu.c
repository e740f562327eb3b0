/* cpu.c - backend `cpu`: trains dense and convolutional networks on one core.

   Pools consist of many small networks, so the right unit of parallelism is one network per core. Elsewhere, a step of
   a small network is mostly overhead. Here a step walks over a fixed plan: our own kernels multiply matrices where they
   lie, with bias, activation and derivative fused around the products; the optimiser takes one pass over all weights;
   nothing is allocated. See docs/backend-cpu.md.

   The same job gives the same bits on the same processor, whatever ran before. Processors with other instruction sets
   add in another order, so last bits may differ. */
#include "cpu_impl.h"
#include "many_impl.h"

#include <math.h>
#include <string.h>
#include <tutti/sized.h>

#define OPTIMISER_NAME(id, name) #name,
static const char *const cpu_optimiser_names[] = {CPU_OPTIMISER_LIST(OPTIMISER_NAME) "lbfgs", NULL};
static const char *const cpu_epsilon_names[] = {"keras", "paper", NULL};
static const char *const cpu_clip_names[] = {"global", "variable", NULL};
static const char *const cpu_schedule_names[] = {"constant", "cosine", "step", "plateau", NULL};
static const char *const cpu_keep_names[] = {"best", "last", NULL};
static const char *const cpu_initialiser_names[] = {"glorot-uniform", "glorot-normal", "he-uniform",
                                                    "he-normal",      "lecun-uniform", "lecun-normal",
                                                    "uniform",        "pytorch",       NULL};
static const char *const cpu_shuffle_names[] = {"trial", "run", NULL};

static const struct tutti_param cpu_params[] = {
    TUTTI_INTEGER(struct cpu_config, epochs, "100", 1, 1e6,
                  "Passes over the training rows; 100 is what AutoDEUQ trains its tables for.",
                  .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_INTEGER(
        struct cpu_config, batch_size, "32", 0, 1e9,
        "Rows of a mini-batch, at most all; 0 takes all at once. Small batches suit small tables; 32 is the usual "
        "choice.",
        .unit = "rows", .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_CHOICE(
        struct cpu_config, optimiser, "adam", cpu_optimiser_names,
        "The rule by which weights follow gradients; adam works untuned more often than the others. lbfgs minimises "
        "the loss of all rows, an iteration being an epoch: batch_size, learning_rate, its schedule and "
        "gradient_clip mean nothing to it.",
        .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct cpu_config, learning_rate, "0.001", 0, TUTTI_NO_LIMIT,
               "Length of a step at the start; 0.001 is adam's usual rate, sgd wants about ten times more.",
               .flags = TUTTI_PARAM_SEARCHABLE, .min_open = true),
    TUTTI_REAL(struct cpu_config, momentum, "0", 0, 1, "Of sgd and rmsprop; 0 as in Keras, 0.9 for image networks.",
               .flags = TUTTI_PARAM_SEARCHABLE, .max_open = true),
    TUTTI_BOOL(struct cpu_config, nesterov, "false", "Nesterov's form of sgd's momentum.",
               .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct cpu_config, beta1, "0.9", 0, 1,
               "Memory of the mean gradient of adam, adamax and nadam, as in their papers.",
               .flags = TUTTI_PARAM_SEARCHABLE, .max_open = true),
    TUTTI_REAL(struct cpu_config, beta2, "0.999", 0, 1,
               "Memory of the squared gradient of adam, adamax and nadam, as in their papers.",
               .flags = TUTTI_PARAM_SEARCHABLE, .max_open = true),
    TUTTI_REAL(struct cpu_config, epsilon, "1e-7", 0, 1,
               "Keeps divisions by small gradients in bounds; 1e-7 as in Keras, 1e-8 in the paper of adam.",
               .flags = TUTTI_PARAM_SEARCHABLE, .min_open = true),
    TUTTI_CHOICE(
        struct cpu_config, epsilon_placement, "keras", cpu_epsilon_names,
        "Adam's epsilon is added to the root of the squared gradient before (keras) or after (paper) its bias is "
        "corrected.",
        .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct cpu_config, rho, "0", 0, 1,
               "Memory of the squared gradient of rmsprop and adadelta; 0 takes Keras's own, 0.9 and 0.95.",
               .flags = TUTTI_PARAM_SEARCHABLE, .max_open = true),
    TUTTI_REAL(struct cpu_config, accumulator, "0.1", 0, TUTTI_NO_LIMIT,
               "Where adagrad's sum of squared gradients starts, as in Keras: it tames the first steps.",
               .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(
        struct cpu_config, l2, "0", 0, TUTTI_NO_LIMIT,
        "Added to the loss: l2 times the sum of squared weights (half of what others call weight decay). A layer's "
        "own "
        "l2 goes before it. Off, because early stopping regularises already.",
        .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_BOOL(struct cpu_config, l2_biases, "false",
               "Biases and batch norm's gamma and beta count in l2 too; not in Keras, but in NOMU and in PyTorch's "
               "weight_decay.",
               .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct cpu_config, gradient_clip, "0", 0, TUTTI_NO_LIMIT,
               "Gradients of a larger L2 norm are shortened to it; 0 leaves them alone.",
               .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_CHOICE(
        struct cpu_config, gradient_clip_by, "global", cpu_clip_names,
        "The norm is that of the whole gradient, which keeps its direction, or of each weight array by itself.",
        .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_CHOICE(
        struct cpu_config, schedule, "constant", cpu_schedule_names,
        "How the learning rate changes from epoch to epoch: not at all, along a half cosine to schedule_minimum, by "
        "schedule_factor every schedule_epochs, or by it when the loss stands still for so long.",
        .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct cpu_config, schedule_factor, "0.1", 0, 1,
               "What the learning rate is multiplied with by step and plateau; 0.1 as in Keras's ReduceLROnPlateau.",
               .flags = TUTTI_PARAM_SEARCHABLE, .min_open = true),
    TUTTI_INTEGER(struct cpu_config, schedule_epochs, "10", 1, 1e6,
                  "Length of a step; patience of plateau, 10 as in Keras.", .unit = "epochs",
                  .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct cpu_config, schedule_minimum, "0", 0, TUTTI_NO_LIMIT, "The learning rate falls no lower.",
               .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct cpu_config, plateau_min_delta, "1e-4", 0, TUTTI_NO_LIMIT,
               "A loss that falls by no more stands still, for plateau; 1e-4 as in Keras.",
               .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_INTEGER(
        struct cpu_config, early_stopping, "0", 0, 1e6,
        "Stop after so many epochs without a better loss on the validation rows (without these, on the training "
        "rows); 0 "
        "never does, so that all trials of a run cost alike.",
        .unit = "epochs", .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_CHOICE(
        struct cpu_config, keep, "best", cpu_keep_names,
        "Keep the weights of the epoch of the best validation loss (without validation rows, training loss), or "
        "the last.",
        .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_CHOICE(
        struct cpu_config, initialiser, "glorot-uniform", cpu_initialiser_names,
        "How weights are drawn; glorot-uniform with biases 0 as in Keras. selu is made for lecun-normal, relu for he; "
        "uniform draws weights and biases from +-initialiser_range, pytorch, as PyTorch does if nobody says otherwise, "
        "from +-1 / sqrt(fan_in).",
        .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct cpu_config, initialiser_range, "0.05", 0, TUTTI_NO_LIMIT,
               "Range of the initialiser uniform; 0.05 as in NOMU.", .flags = TUTTI_PARAM_SEARCHABLE, .min_open = true),
    TUTTI_CHOICE(struct cpu_config, shuffle, "trial", cpu_shuffle_names,
                 "Mini-batches are drawn anew for each trial, or are the same in all trials of a run, as in "
                 "the program of NES."),
    TUTTI_INTEGER(
        struct cpu_config, augment_padding, "0", 0, 1024,
        "Training images are random crops: moved by up to so many pixels, with black coming in; 4 is the custom for "
        "CIFAR.",
        .unit = "pixels", .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_BOOL(struct cpu_config, augment_flip, "false",
               "Training images are mirrored, left and right, every other time.", .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct cpu_config, augment_crop, "1", 0, 1,
               "Training images are random crops of at least this share of the area, with sides in a ratio of 3/4 to "
               "4/3, scaled back to the image's size; 0.08 is the custom for ImageNet, 1: no such crops.",
               .flags = TUTTI_PARAM_SEARCHABLE, .min_open = true),
    TUTTI_REAL(struct cpu_config, augment_brightness, "0", 0, 10,
               "The brightness of training images changes by a factor from 1 - x to 1 + x, drawn for each; 0: not. For "
               "images of bytes, or of floats from 0 to 1; so for the next three, which come in random order.",
               .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct cpu_config, augment_contrast, "0", 0, 10, "Likewise, their contrast.",
               .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct cpu_config, augment_saturation, "0", 0, 10,
               "Likewise, their saturation; of images of 3 channels.", .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct cpu_config, augment_hue, "0", 0, 0.5,
               "The hue of training images turns by so much of the colour wheel, at most, either way; of images of 3 "
               "channels.",
               .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_INTEGER(struct cpu_config, lbfgs_history, "10", 1, 1000,
                  "Iterations from which lbfgs knows the curvature; 10 as in SciPy.", .unit = "iterations",
                  .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(
        struct cpu_config, lbfgs_tolerance, "1e-5", 0, 1,
        "lbfgs stops when the gradient's norm falls below so many times that of the weights, or 1 where these are "
        "less.",
        .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_INTEGER(
        struct cpu_config, prediction_draws, "0", 0, 100000,
        "MC dropout (Gal & Ghahramani, 2016): dropout stays on in predictions, which mix so many draws of its "
        "masks; what the draws do not agree on is the network's own epistemic uncertainty. 0: dropout is for "
        "training alone.",
        .unit = "draws", .flags = TUTTI_PARAM_SEARCHABLE),
};

struct cpu_backend {
  const struct cpu_kernels *kernels;
};

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
                      "backend.%s: the inputs are %d features, and only images can be varied; leave it out", varied,
                      input.channels);
  if ((config->augment_saturation > 0 || config->augment_hue > 0) && input.channels != 3)
    return TUTTI_FAIL(
        context, TUTTI_ERROR_USAGE,
        "backend.%s: the images have %d channels, and only red, green and blue have colours; leave it out",
        config->augment_hue > 0 ? "augment_hue" : "augment_saturation", input.channels);
  if (config->augment_crop < 1 && config->augment_padding > 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "backend.augment_padding and augment_crop are two kinds of crops; leave one out");
  if (config->augment_padding >= input.height || config->augment_padding >= input.width)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "backend.augment_padding: images of %d x %d pixels cannot be moved by %lld of them", input.height,
                      input.width, (long long)config->augment_padding);
  return TUTTI_OK;
}

/* Check what a hand-made job could get wrong and the kernels could not survive. */
static enum tutti_status backend_check_cpu(void *self, tutti_context *context, const struct tutti_job *job) {
  if (!job->network)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "backend cpu trains networks, and this job has none");
  TUTTI_TRY(context, check_augmentation(context, job));
  TUTTI_TRY(context, backend_cpu_lbfgs_check(context, job));
  TUTTI_TRY(context, backend_cpu_draws_check(context, job));
  size_t layers = tutti_network_layers(job->network);
  for (size_t i = 0; i < layers; i++) {
    const struct tutti_layer *layer = tutti_network_layer(job->network, i);
    if (!supports_layer_cpu(self, layer))
      return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "layer %s: backend cpu has no op %s%s", layer->label,
                        layer->op_name, backend_supports_cpu(self, layer->op) ? " with these attributes" : "");
  }
  const struct tutti_layer *head = tutti_network_layer(job->network, layers - 1);
  if (head->op != job->task->head)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "the network ends in %s, but the task asks for %s", head->op_name,
                      tutti_op_name(job->task->head));
  size_t have = (size_t)tutti_network_layer(job->network, head->inputs[0])->shape.channels;
  size_t want = tutti_task_head_width(job->task);
  if (have != want)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "the network's head takes %zu numbers, but for its %zu outputs the task asks "
                      "for %zu",
                      have, job->task->outputs, want);
  return TUTTI_OK;
}

static enum tutti_status check_split(tutti_context *context, const struct tutti_job *job, const tutti_split *split) {
  struct tutti_shape want = tutti_network_layer(job->network, 0)->shape, have = tutti_split_input(split);
  if (want.height != have.height || want.width != have.width || want.channels != have.channels)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "split %s has inputs %d x %d x %d, but the network takes %d x %d x %d", tutti_split_name(split),
                      have.height, have.width, have.channels, want.height, want.width, want.channels);
  return TUTTI_OK;
}

/* Rows that have a target or label to train on. */
static enum tutti_status check_targets(tutti_context *context, const struct tutti_job *job, const tutti_split *split) {
  TUTTI_TRY(context, check_split(context, job, split));
  bool classes = job->task->kind == TUTTI_TASK_CLASSIFICATION;
  bool has = classes ? tutti_split_labels(split) != NULL : tutti_split_targets(split) != NULL;
  if (tutti_split_rows(split) > 0 && (!has || tutti_split_outputs(split) != job->task->outputs))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "split %s has no %s for the task's %zu outputs",
                      tutti_split_name(split), classes ? "labels" : "targets", job->task->outputs);
  return TUTTI_OK;
}

/* A batch norm that stays as it is would still normalise by its batch. */
static enum tutti_status check_frozen(tutti_context *context, const struct tutti_job *job) {
  for (size_t i = 0; i < tutti_network_layers(job->network); i++) {
    const struct tutti_layer *layer = tutti_network_layer(job->network, i);
    for (size_t k = 0; layer->op == TUTTI_OP_BATCH_NORM && job->frozen[k]; k++)
      if (strcmp(job->frozen[k], layer->label) == 0)
        return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "layer %s: a batch norm cannot be frozen here",
                          layer->label);
  }
  return TUTTI_OK;
}

/* Does the box of the artificial points hold row `r`, whose inputs are x[features]? */
static enum tutti_status check_in_box(tutti_context *context, const float *box, size_t features, size_t r,
                                      const float *x) {
  for (size_t f = 0; f < features; f++)
    if (!(box[f] <= x[f] && x[f] <= box[features + f]))
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                        "the box for artificial points must hold all training rows: feature %zu of row %zu is %g, and "
                        "the box goes from %g to %g; widen it",
                        f, r, (double)x[f], (double)box[f], (double)box[features + f]);
  return TUTTI_OK;
}

static enum tutti_status check_box(tutti_context *context, const struct tutti_job *job) {
  struct tutti_shape shape = tutti_split_input(job->train);
  size_t features = (size_t)shape.height * (size_t)shape.width * (size_t)shape.channels;
  enum tutti_status status = TUTTI_OK;
  float *row;
  for (size_t f = 0; f < features; f++)
    if (!isfinite(job->box[f]) || !isfinite(job->box[features + f]) || !(job->box[f] < job->box[features + f]))
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                        "the box for artificial points must have low < high in each feature: feature %zu goes from %g "
                        "to %g",
                        f, (double)job->box[f], (double)job->box[features + f]);
  TUTTI_TRY(context, tutti_alloc(context, features, sizeof *row, &row));
  for (uint32_t r = 0; status == TUTTI_OK && r < tutti_split_rows(job->train); r++) {
    tutti_split_gather(job->train, 1, &r, row);
    status = check_in_box(context, job->box, features, r, row);
  }
  tutti_free(row);
  return status;
}

static enum tutti_status check_data(void *self, tutti_context *context, const struct tutti_job *job) {
  TUTTI_TRY(context, backend_check_cpu(self, context, job));
  if (!job->train || tutti_split_rows(job->train) == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "there are no rows to train on");
  TUTTI_TRY(context, check_targets(context, job, job->train));
  if (job->frozen)
    TUTTI_TRY(context, check_frozen(context, job));
  if (job->box)
    TUTTI_TRY(context, check_box(context, job));
  return job->validation ? check_targets(context, job, job->validation) : TUTTI_OK;
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
  TUTTI_TRY(context, check_split(context, job, split));
  return backend_cpu_predict_split(context, backend->kernels, job, weights, split, out, NULL);
}

static bool backend_tells_epistemic_cpu(void *self, const struct tutti_job *job) {
  (void)self;
  return job->network && backend_cpu_tells_epistemic(job);
}

static enum tutti_status backend_predict_parts_cpu(void *self, tutti_context *context, const struct tutti_job *job,
                                                   const tutti_tensors *weights, const tutti_split *split, float *out,
                                                   float *epistemic) {
  struct cpu_backend *backend = self;
  TUTTI_TRY(context, backend_check_cpu(self, context, job));
  TUTTI_TRY(context, check_split(context, job, split));
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

static enum tutti_status backend_ask_cpu(void *self, tutti_context *context, void *predictor,
                                         const struct tutti_query *query, float *out) {
  (void)self, (void)context;
  backend_cpu_ask(predictor, query, out);
  return TUTTI_OK;
}

static enum tutti_status backend_ask_slope_cpu(void *self, tutti_context *context, void *predictor,
                                               const struct tutti_query *theirs, const struct tutti_slope *wanted,
                                               float *out) {
  struct tutti_query query;
  struct tutti_slope slope;
  (void)self;
  TUTTI_TAKE(&query, theirs);
  TUTTI_TAKE(&slope, wanted);
  return backend_cpu_ask_slope(context, predictor, &query, &slope, out);
}

static void backend_close_cpu(void *self, void *predictor) {
  (void)self;
  backend_cpu_close(predictor);
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
    .honours = TUTTI_JOB_FROZEN | TUTTI_JOB_BOX,
    .open = backend_open_cpu,
    .ask = backend_ask_cpu,
    .close = backend_close_cpu,
    .tells_epistemic = backend_tells_epistemic_cpu,
    .predict_parts = backend_predict_parts_cpu,
    .ask_slope = backend_ask_slope_cpu,
    .epochs = backend_epochs_cpu,
};

static const struct tutti_descriptor cpu_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_BACKEND, "cpu"),
    .version = "1.0",
    .summary = "Trains dense and convolutional networks on one core.",
    .source = "",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(cpu_params, struct cpu_config),
    .create = backend_create_cpu,
    .destroy = backend_destroy_cpu,
    .ops = &cpu_ops,
};

TUTTI_PLUGIN(cpu_descriptor)
