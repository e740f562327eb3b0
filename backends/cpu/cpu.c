/* cpu.c - backend `cpu`: trains dense and convolutional networks on one core.

   Pools are made of many small networks, so that one network a core is the right unit of parallelism, and a step of a
   small network is mostly overhead elsewhere. Here a step is a walk over a fixed plan: products of matrices by kernels
   of our own that read the operands where they lie, bias, activation and its derivative around them, the optimiser in
   one pass over all weights, nothing allocated. See docs/backend-cpu.md.

   The same job gives the same bits on the same processor, whatever ran before. Processors of other instruction sets add
   in another order, and may give other last bits. */
#include "cpu_impl.h"

#include <string.h>

#define FIELD(member) offsetof(struct cpu_config, member)

#define OPTIMISER_NAME(id, name) #name,
static const char *const cpu_optimiser_names[] = {CPU_OPTIMISER_LIST(OPTIMISER_NAME) "lbfgs", NULL};
static const char *const cpu_epsilon_names[] = {"keras", "paper", NULL};
static const char *const cpu_clip_names[] = {"global", "variable", NULL};
static const char *const cpu_schedule_names[] = {"constant", "cosine", "step", "plateau", NULL};
static const char *const cpu_keep_names[] = {"best", "last", NULL};
static const char *const cpu_initialiser_names[] = {"glorot-uniform", "glorot-normal", "he-uniform", "he-normal",
                                                    "lecun-uniform",  "lecun-normal",  "uniform",    NULL};
static const char *const cpu_shuffle_names[] = {"trial", "run", NULL};

static const struct tutti_param cpu_params[] = {
    {.name = "epochs",
     .type = TUTTI_PARAM_INTEGER,
     .offset = FIELD(epochs),
     .preset = "100",
     .min = 1,
     .max = 1e6,
     .flags = TUTTI_PARAM_SEARCHABLE,
     .doc = "Passes over the training rows; 100 is what AutoDEUQ trains its tables for."},
    {.name = "batch_size",
     .type = TUTTI_PARAM_INTEGER,
     .offset = FIELD(batch_size),
     .preset = "32",
     .min = 0,
     .max = 1e9,
     .unit = "rows",
     .flags = TUTTI_PARAM_SEARCHABLE,
     .doc = "Rows of a mini-batch, at most all; 0 takes all at once. Small batches suit small tables; 32 is the usual "
            "choice."},
    {.name = "optimiser",
     .type = TUTTI_PARAM_CHOICE,
     .offset = FIELD(optimiser),
     .preset = "adam",
     .choices = cpu_optimiser_names,
     .flags = TUTTI_PARAM_SEARCHABLE,
     .doc =
         "The rule by which weights follow gradients; adam works untuned more often than the others. lbfgs minimises "
         "the loss of all rows, an iteration being an epoch: batch_size, learning_rate, its schedule and "
         "gradient_clip mean nothing to it."},
    {.name = "learning_rate",
     .type = TUTTI_PARAM_REAL,
     .offset = FIELD(learning_rate),
     .preset = "0.001",
     .min = 0,
     .max = TUTTI_NO_LIMIT,
     .min_open = true,
     .flags = TUTTI_PARAM_SEARCHABLE,
     .doc = "Length of a step at the start; 0.001 is adam's usual rate, sgd wants about ten times more."},
    {.name = "momentum",
     .type = TUTTI_PARAM_REAL,
     .offset = FIELD(momentum),
     .preset = "0",
     .min = 0,
     .max = 1,
     .max_open = true,
     .flags = TUTTI_PARAM_SEARCHABLE,
     .doc = "Of sgd and rmsprop; 0 as in Keras, 0.9 for image networks."},
    {.name = "nesterov",
     .type = TUTTI_PARAM_BOOL,
     .offset = FIELD(nesterov),
     .preset = "false",
     .flags = TUTTI_PARAM_SEARCHABLE,
     .doc = "Nesterov's form of sgd's momentum."},
    {.name = "beta1",
     .type = TUTTI_PARAM_REAL,
     .offset = FIELD(beta1),
     .preset = "0.9",
     .min = 0,
     .max = 1,
     .max_open = true,
     .flags = TUTTI_PARAM_SEARCHABLE,
     .doc = "Memory of the mean gradient of adam, adamax and nadam, as in their papers."},
    {.name = "beta2",
     .type = TUTTI_PARAM_REAL,
     .offset = FIELD(beta2),
     .preset = "0.999",
     .min = 0,
     .max = 1,
     .max_open = true,
     .flags = TUTTI_PARAM_SEARCHABLE,
     .doc = "Memory of the squared gradient of adam, adamax and nadam, as in their papers."},
    {.name = "epsilon",
     .type = TUTTI_PARAM_REAL,
     .offset = FIELD(epsilon),
     .preset = "1e-7",
     .min = 0,
     .max = 1,
     .min_open = true,
     .flags = TUTTI_PARAM_SEARCHABLE,
     .doc = "Keeps divisions by small gradients in bounds; 1e-7 as in Keras, 1e-8 in the paper of adam."},
    {.name = "epsilon_placement",
     .type = TUTTI_PARAM_CHOICE,
     .offset = FIELD(epsilon_placement),
     .preset = "keras",
     .choices = cpu_epsilon_names,
     .flags = TUTTI_PARAM_SEARCHABLE,
     .doc = "Adam's epsilon is added to the root of the squared gradient before (keras) or after (paper) its bias is "
            "corrected."},
    {.name = "rho",
     .type = TUTTI_PARAM_REAL,
     .offset = FIELD(rho),
     .preset = "0",
     .min = 0,
     .max = 1,
     .max_open = true,
     .flags = TUTTI_PARAM_SEARCHABLE,
     .doc = "Memory of the squared gradient of rmsprop and adadelta; 0 takes Keras's own, 0.9 and 0.95."},
    {.name = "accumulator",
     .type = TUTTI_PARAM_REAL,
     .offset = FIELD(accumulator),
     .preset = "0.1",
     .min = 0,
     .max = TUTTI_NO_LIMIT,
     .flags = TUTTI_PARAM_SEARCHABLE,
     .doc = "Where adagrad's sum of squared gradients starts, as in Keras: it tames the first steps."},
    {.name = "l2",
     .type = TUTTI_PARAM_REAL,
     .offset = FIELD(l2),
     .preset = "0",
     .min = 0,
     .max = TUTTI_NO_LIMIT,
     .flags = TUTTI_PARAM_SEARCHABLE,
     .doc = "Added to the loss: l2 times the sum of squared weights (half of what others call weight decay). A layer's "
            "own "
            "l2 goes before it. Off, because early stopping regularises already."},
    {.name = "l2_biases",
     .type = TUTTI_PARAM_BOOL,
     .offset = FIELD(l2_biases),
     .preset = "false",
     .flags = TUTTI_PARAM_SEARCHABLE,
     .doc = "Biases count in l2 too; not in Keras, but in NOMU."},
    {.name = "gradient_clip",
     .type = TUTTI_PARAM_REAL,
     .offset = FIELD(gradient_clip),
     .preset = "0",
     .min = 0,
     .max = TUTTI_NO_LIMIT,
     .flags = TUTTI_PARAM_SEARCHABLE,
     .doc = "Gradients of a larger L2 norm are shortened to it; 0 leaves them alone."},
    {.name = "gradient_clip_by",
     .type = TUTTI_PARAM_CHOICE,
     .offset = FIELD(gradient_clip_by),
     .preset = "global",
     .choices = cpu_clip_names,
     .flags = TUTTI_PARAM_SEARCHABLE,
     .doc = "The norm is that of the whole gradient, which keeps its direction, or of each weight array by itself."},
    {.name = "schedule",
     .type = TUTTI_PARAM_CHOICE,
     .offset = FIELD(schedule),
     .preset = "constant",
     .choices = cpu_schedule_names,
     .flags = TUTTI_PARAM_SEARCHABLE,
     .doc =
         "How the learning rate changes from epoch to epoch: not at all, along a half cosine to schedule_minimum, by "
         "schedule_factor every schedule_epochs, or by it when the loss stands still for so long."},
    {.name = "schedule_factor",
     .type = TUTTI_PARAM_REAL,
     .offset = FIELD(schedule_factor),
     .preset = "0.1",
     .min = 0,
     .max = 1,
     .min_open = true,
     .flags = TUTTI_PARAM_SEARCHABLE,
     .doc = "What the learning rate is multiplied with by step and plateau; 0.1 as in Keras's ReduceLROnPlateau."},
    {.name = "schedule_epochs",
     .type = TUTTI_PARAM_INTEGER,
     .offset = FIELD(schedule_epochs),
     .preset = "10",
     .min = 1,
     .max = 1e6,
     .unit = "epochs",
     .flags = TUTTI_PARAM_SEARCHABLE,
     .doc = "Length of a step; patience of plateau, 10 as in Keras."},
    {.name = "schedule_minimum",
     .type = TUTTI_PARAM_REAL,
     .offset = FIELD(schedule_minimum),
     .preset = "0",
     .min = 0,
     .max = TUTTI_NO_LIMIT,
     .flags = TUTTI_PARAM_SEARCHABLE,
     .doc = "The learning rate falls no lower."},
    {.name = "plateau_min_delta",
     .type = TUTTI_PARAM_REAL,
     .offset = FIELD(plateau_min_delta),
     .preset = "1e-4",
     .min = 0,
     .max = TUTTI_NO_LIMIT,
     .flags = TUTTI_PARAM_SEARCHABLE,
     .doc = "A loss that falls by no more stands still, for plateau; 1e-4 as in Keras."},
    {.name = "early_stopping",
     .type = TUTTI_PARAM_INTEGER,
     .offset = FIELD(early_stopping),
     .preset = "0",
     .min = 0,
     .max = 1e6,
     .unit = "epochs",
     .flags = TUTTI_PARAM_SEARCHABLE,
     .doc = "Stop after so many epochs without a better loss on the validation rows (without these, on the training "
            "rows); 0 "
            "never does, so that all trials of a run cost alike."},
    {.name = "keep",
     .type = TUTTI_PARAM_CHOICE,
     .offset = FIELD(keep),
     .preset = "best",
     .choices = cpu_keep_names,
     .flags = TUTTI_PARAM_SEARCHABLE,
     .doc = "Keep the weights of the epoch of the best validation loss (without validation rows, training loss), or "
            "the last."},
    {.name = "initialiser",
     .type = TUTTI_PARAM_CHOICE,
     .offset = FIELD(initialiser),
     .preset = "glorot-uniform",
     .choices = cpu_initialiser_names,
     .flags = TUTTI_PARAM_SEARCHABLE,
     .doc =
         "How weights are drawn; glorot-uniform with biases 0 as in Keras. selu is made for lecun-normal, relu for he; "
         "uniform draws weights and biases from +-initialiser_range."},
    {.name = "initialiser_range",
     .type = TUTTI_PARAM_REAL,
     .offset = FIELD(initialiser_range),
     .preset = "0.05",
     .min = 0,
     .max = TUTTI_NO_LIMIT,
     .min_open = true,
     .flags = TUTTI_PARAM_SEARCHABLE,
     .doc = "Range of the initialiser uniform; 0.05 as in NOMU."},
    {.name = "shuffle",
     .type = TUTTI_PARAM_CHOICE,
     .offset = FIELD(shuffle),
     .preset = "trial",
     .choices = cpu_shuffle_names,
     .doc = "Mini-batches are drawn anew for each trial, or are the same in all trials of a run, as in NES."},
    {.name = "augment_padding",
     .type = TUTTI_PARAM_INTEGER,
     .offset = FIELD(augment_padding),
     .preset = "0",
     .min = 0,
     .max = 1024,
     .unit = "pixels",
     .flags = TUTTI_PARAM_SEARCHABLE,
     .doc =
         "Training images are random crops: moved by up to so many pixels, with black coming in; 4 is the custom for "
         "CIFAR."},
    {.name = "augment_flip",
     .type = TUTTI_PARAM_BOOL,
     .offset = FIELD(augment_flip),
     .preset = "false",
     .flags = TUTTI_PARAM_SEARCHABLE,
     .doc = "Training images are mirrored, left and right, every other time."},
    {.name = "lbfgs_history",
     .type = TUTTI_PARAM_INTEGER,
     .offset = FIELD(lbfgs_history),
     .preset = "10",
     .min = 1,
     .max = 1000,
     .unit = "iterations",
     .flags = TUTTI_PARAM_SEARCHABLE,
     .doc = "Iterations from which lbfgs knows the curvature; 10 as in SciPy."},
    {.name = "lbfgs_tolerance",
     .type = TUTTI_PARAM_REAL,
     .offset = FIELD(lbfgs_tolerance),
     .preset = "1e-5",
     .min = 0,
     .max = 1,
     .flags = TUTTI_PARAM_SEARCHABLE,
     .doc = "lbfgs stops when the gradient's norm falls below so many times that of the weights, or 1 where these are "
            "less."},
};

struct cpu_backend {
  const struct cpu_kernels *kernels;
};

static enum tutti_status create_cpu(tutti_context *context, const void *config, const void *setup, void **self) {
  (void)config, (void)setup;
  struct cpu_backend *backend;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *backend, &backend));
  backend->kernels = backend_cpu_kernels(tutti_cpu_detect());
  *self = backend;
  return TUTTI_OK;
}

static void destroy_cpu(void *self) { tutti_free(self); }

static bool supports_cpu(void *self, enum tutti_op op) {
  (void)self;
  return op < TUTTI_OP_COUNT;
}

static bool supports_layer_cpu(void *self, const struct tutti_layer *layer) {
  return supports_cpu(self, layer->op) && backend_cpu_knows(layer);
}

/* Only images can be cropped and mirrored. */
static enum tutti_status check_augmentation(tutti_context *context, const struct tutti_job *job) {
  const struct cpu_config *config = job->config;
  struct tutti_shape input = tutti_network_layer(job->network, 0)->shape;
  bool wanted = config->augment_padding > 0 || config->augment_flip;
  if (wanted && input.height == 1 && input.width == 1)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "backend.%s: the inputs are %d features, and only images can be varied; leave it out",
                      config->augment_flip ? "augment_flip" : "augment_padding", input.channels);
  if (config->augment_padding >= input.height || config->augment_padding >= input.width)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "backend.augment_padding: images of %d x %d pixels cannot be moved by %lld of them", input.height,
                      input.width, (long long)config->augment_padding);
  return TUTTI_OK;
}

/* What a hand-made job could get wrong and the kernels could not survive. */
static enum tutti_status check_cpu(void *self, tutti_context *context, const struct tutti_job *job) {
  if (!job->network)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "backend cpu trains networks, and this job has none");
  TUTTI_TRY(context, check_augmentation(context, job));
  TUTTI_TRY(context, backend_cpu_lbfgs_check(context, job));
  size_t layers = tutti_network_layers(job->network);
  for (size_t i = 0; i < layers; i++) {
    const struct tutti_layer *layer = tutti_network_layer(job->network, i);
    if (!supports_layer_cpu(self, layer))
      return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "layer %s: backend cpu has no op %s%s", layer->label,
                        layer->op_name, supports_cpu(self, layer->op) ? " with these attributes" : "");
  }
  const struct tutti_layer *head = tutti_network_layer(job->network, layers - 1);
  if (head->op != job->task->head)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "the network ends in %s, but the task asks for %s", head->op_name,
                      tutti_op_name(job->task->head));
  size_t have = (size_t)tutti_network_layer(job->network, head->inputs[0])->shape.channels;
  size_t want = head->op == TUTTI_OP_HEAD_NOMU ? 1 : tutti_task_head_width(job->task); /* NOMU: mean and raw apart */
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

/* Rows that have what they are to be trained on. */
static enum tutti_status check_targets(tutti_context *context, const struct tutti_job *job, const tutti_split *split) {
  TUTTI_TRY(context, check_split(context, job, split));
  bool classes = job->task->kind == TUTTI_TASK_CLASSIFICATION;
  bool has = classes ? tutti_split_labels(split) != NULL : tutti_split_targets(split) != NULL;
  if (tutti_split_rows(split) > 0 && (!has || tutti_split_outputs(split) != job->task->outputs))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "split %s has no %s for the task's %zu outputs",
                      tutti_split_name(split), classes ? "labels" : "targets", job->task->outputs);
  return TUTTI_OK;
}

static enum tutti_status check_data(void *self, tutti_context *context, const struct tutti_job *job) {
  TUTTI_TRY(context, check_cpu(self, context, job));
  if (!job->train || tutti_split_rows(job->train) == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "there are no rows to train on");
  TUTTI_TRY(context, check_targets(context, job, job->train));
  return job->validation ? check_targets(context, job, job->validation) : TUTTI_OK;
}

static enum tutti_status train_cpu(void *self, tutti_context *context, const struct tutti_job *job,
                                   struct tutti_outcome *outcome) {
  struct cpu_backend *backend = self;
  TUTTI_TRY(context, check_data(self, context, job));
  return backend_cpu_train(context, backend->kernels, job, outcome);
}

static enum tutti_status predict_cpu(void *self, tutti_context *context, const struct tutti_job *job,
                                     const tutti_tensors *weights, const tutti_split *split, float *out) {
  struct cpu_backend *backend = self;
  TUTTI_TRY(context, check_cpu(self, context, job));
  TUTTI_TRY(context, check_split(context, job, split));
  return backend_cpu_predict_split(context, backend->kernels, job, weights, split, out);
}

static enum tutti_status gradient_cpu(void *self, tutti_context *context, const struct tutti_job *job,
                                      const tutti_tensors *weights, double *loss, tutti_tensors **gradient) {
  struct cpu_backend *backend = self;
  TUTTI_TRY(context, check_data(self, context, job));
  return backend_cpu_gradient(context, backend->kernels, job, weights, loss, gradient);
}

static const struct tutti_backend_ops cpu_ops = {
    .size = sizeof cpu_ops,
    .supports = supports_cpu,
    .train = train_cpu,
    .predict = predict_cpu,
    .check = check_cpu,
    .gradient = gradient_cpu,
    .supports_layer = supports_layer_cpu,
};

static const struct tutti_descriptor cpu_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_BACKEND, "cpu"),
    .version = "1.0",
    .summary = "Trains dense and convolutional networks on one core.",
    .source = "",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(cpu_params, struct cpu_config),
    .create = create_cpu,
    .destroy = destroy_cpu,
    .ops = &cpu_ops,
};

TUTTI_PLUGIN(cpu_descriptor)
