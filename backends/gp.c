/* backend gp: Gaussian process regression: kernel rbf or matern52 with a length scale for each input, a constant
   mean, and noise, all at the maximum of the marginal likelihood (Rasmussen & Williams, "Gaussian Processes for
   Machine Learning", MIT Press 2006, chapters 2 and 5). It takes no networks: the space may be `fixed`.

   The variance of a prediction is that of the function, which is the model's own and falls where rows are near,
   plus the noise. They are told apart: aleatoric is the noise, epistemic the function's. Each of several targets
   has its own process.

   A member is its rows and hyperparameters; they are conditioned on the rows again where it predicts, in time n³/3.
   Time and memory of a training grow with the third and the second power of the rows, so there are at most
   `most_rows`, drawn from the candidate's seed, and hyperparameters are fitted to at most `fit_rows` of these.

   It refuses classes. Regression on labels says which class is likely, but no probability; a process with a
   likelihood of classes needs an approximate posterior, which is not here. */
#include "gp/process.h"

#include <tutti/plugin.h>

static const char *const gp_kernels[] = {"matern52", "rbf", NULL};

static const struct tutti_param gp_params[] = {
    TUTTI_CHOICE(struct process_config, kernel, "matern52", gp_kernels,
                 "Correlation of values by distance: Matern with nu = 5/2, or the squared exponential.",
                 .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_BOOL(struct process_config, ard, "yes", "One length scale for each input; no: one for all.",
               .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REALS(struct process_config, amplitude, "1e-3 1e3", 0, TUTTI_NO_LIMIT,
                "Range of the fitted variance of the function, in variances of the target; one number fixes it.",
                .min_open = true),
    TUTTI_REALS(struct process_config, length_scale, "0.02 200", 0, TUTTI_NO_LIMIT,
                "Range of the fitted length scales, in standard deviations of the inputs times the root of their "
                "number; one number fixes them.",
                .min_open = true),
    TUTTI_REALS(
        struct process_config, noise, "1e-6 1", 0, TUTTI_NO_LIMIT,
        "Range of the fitted noise variance, in variances of the target; one number, which may be 0, fixes it."),
    TUTTI_INTEGER(struct process_config, most_rows, "2000", 2, 20000,
                  "Train on so many rows at most, drawn from the candidate's seed: memory grows with the square of "
                  "their number, time with its third power.",
                  .unit = "rows", .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_INTEGER(struct process_config, fit_rows, "1000", 2, 20000,
                  "Fit the hyperparameters to so many of these at most, which costs a hundred times as much for each.",
                  .unit = "rows", .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_INTEGER(
        struct process_config, looks, "64", 1, 1000000,
        "Points of which the likelihood is looked at before it is ascended: amplitude 1, length scales 1, noise "
        "1e-3, then Sobol points of the logarithms over all ranges."),
    TUTTI_INTEGER(struct process_config, starts, "3", 1, 1000,
                  "The likeliest of them, from which the likelihood is ascended."),
    TUTTI_INTEGER(struct process_config, evaluations, "100", 1, 1000000, "Likelihoods that an ascent may cost."),
};

static bool backend_supports_gp(void *instance, enum tutti_op op) {
  (void)instance, (void)op;
  return false;
}

static enum tutti_status backend_check_gp(void *instance, tutti_context *context, const struct tutti_job *job) {
  struct gp_bounds bounds;
  (void)instance;
  if (job->task->kind == TUTTI_TASK_CLASSIFICATION)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "it learns values, and the target is a class; take svm, trees or a network, or leave gp "
                      "out of the learners that are tried");
  TUTTI_TRY(context, learner_check(context, job));
  return process_bounds(context, job->config, &bounds);
}

static enum tutti_status backend_train_gp(void *instance, tutti_context *context, const struct tutti_job *job,
                                          struct tutti_outcome *outcome) {
  enum tutti_status status = TUTTI_OK;
  const struct process_config *config = job->config;
  struct learner_rows rows = {0};
  tutti_tensors *weights = NULL;
  TUTTI_TRY_OUT(context, backend_check_gp(instance, context, job));
  TUTTI_TRY_OUT(context, learner_begin(context, job, &rows, outcome));
  if (outcome->state == TUTTI_STATE_FAILED)
    goto out;
  TUTTI_TRY_OUT(context, learner_rows_thin(context, job->seed, (size_t)config->most_rows, job->task->outputs, &rows));
  TUTTI_TRY_OUT(context, tutti_tensors_create(context, &weights));
  for (size_t output = 0; output < job->task->outputs; output++)
    TUTTI_TRY_OUT(context, process_fit(context, config, job->task, job->seed, &rows, output, weights));
  learner_finish(outcome, weights);
  weights = NULL;
out:
  tutti_tensors_destroy(weights);
  learner_rows_close(&rows);
  return status;
}

static enum tutti_status backend_predict_parts_gp(void *instance, tutti_context *context, const struct tutti_job *job,
                                                  const tutti_tensors *weights, const tutti_split *split, float *out,
                                                  float *epistemic) {
  enum tutti_status status = TUTTI_OK;
  struct learner_rows rows = {0};
  (void)instance;
  TUTTI_TRY_OUT(context, learner_rows_open(context, job->task, split, &rows));
  for (size_t output = 0; output < job->task->outputs; output++)
    TUTTI_TRY_OUT(context, process_predict(context, job->task, weights, &rows, output, out, epistemic));
out:
  learner_rows_close(&rows);
  return status;
}

static enum tutti_status backend_predict_gp(void *instance, tutti_context *context, const struct tutti_job *job,
                                            const tutti_tensors *weights, const tutti_split *split, float *out) {
  return backend_predict_parts_gp(instance, context, job, weights, split, out, NULL);
}

static bool backend_tells_epistemic_gp(void *instance, const struct tutti_job *job) {
  (void)instance;
  return job->task->head == TUTTI_OP_HEAD_GAUSSIAN;
}

static enum tutti_status formula_of_process(tutti_context *context, const struct tutti_job *job,
                                            const tutti_tensors *tensors, size_t output, tutti_formula *formula,
                                            struct tutti_predicted_terms *terms) {
  return process_formula(context, job->task, tensors, output, formula, terms);
}

static enum tutti_status backend_formula_gp(void *instance, tutti_context *context, const struct tutti_job *job,
                                            const tutti_tensors *weights, tutti_formula *formula,
                                            struct tutti_predicted_terms *terms) {
  (void)instance;
  return learner_formulas(context, job, weights, formula_of_process, formula, terms);
}

static const struct tutti_backend_ops gp_ops = {
    .size = sizeof(struct tutti_backend_ops),
    .supports = backend_supports_gp,
    .train = backend_train_gp,
    .predict = backend_predict_gp,
    .check = backend_check_gp,
    .tells_epistemic = backend_tells_epistemic_gp,
    .predict_parts = backend_predict_parts_gp,
    .formula = backend_formula_gp,
    .keeps_rows = true,
};

static const struct tutti_descriptor gp_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_BACKEND, "gp"),
    .version = "1.0",
    .summary = "Gaussian processes: values, with what is noise and what is not known told apart",
    .source = "Rasmussen & Williams, Gaussian Processes for Machine Learning, MIT Press 2006",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(gp_params, struct process_config),
    .ops = &gp_ops,
};

TUTTI_PLUGIN(gp_descriptor)
