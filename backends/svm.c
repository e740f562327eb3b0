/* backend svm: support vector machines by libsvm, with a Gaussian kernel exp(-gamma |x - y|^2) on the standardised
   inputs: C-SVC with probabilities for classes, epsilon-SVR for values. It takes no networks: the space may be `fixed`,
   and the search is over the parameters here. (Chang & Lin, 2011; Lacoste et al., 2014, use them as learners: see
   ini/smbo.)

   Each pair of classes has one machine. Platt's sigmoids turn the pairs' decision values into probabilities (fitted
   after Lin, Lin & Weng, 2007), which are coupled as in Wu, Lin & Weng (2004). The sigmoids are fitted on decision
   values for rows that their machine has not seen, from `folds` folds. libsvm would draw these folds by rand(), so the
   result would depend on what else runs in the process. Here they are drawn from the candidate's seed, with an equal
   share of each class. The variance of a Gaussian head is the mean squared error on such folds, the same for all rows.
   A class without training rows gets a probability of 1e-7, the least that libsvm gives. Each of several targets has
   its own machine.

   libsvm cannot be stopped: cancelling waits for the present machine, and trainings that take too long (large C on many
   rows) end by run.trial_timeout. If libsvm lacks memory, it ends its process, and the trial is lost. */
#include "svm/machine.h"

#include <tutti/plugin.h>

static const struct tutti_param svm_params[] = {
    TUTTI_REAL(struct machine_config, c, "1", 0, TUTTI_NO_LIMIT,
               "Cost C of an error, against the width of the margin: the larger, the closer the fit.",
               .flags = TUTTI_PARAM_SEARCHABLE, .min_open = true),
    TUTTI_REAL(struct machine_config, gamma, "0.1", 0, TUTTI_NO_LIMIT,
               "How fast the kernel exp(-gamma d^2) falls with the distance d of standardised inputs.",
               .flags = TUTTI_PARAM_SEARCHABLE, .min_open = true),
    TUTTI_REAL(struct machine_config, epsilon, "0.1", 0, TUTTI_NO_LIMIT,
               "Regression: errors below it cost nothing, in standard deviations of the target.",
               .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_INTEGER(struct machine_config, folds, "5", 0, 100,
                  "Folds of the training rows on which probabilities, or a Gaussian head's variance, are fitted; each "
                  "costs a training. 0: none, and probabilities are shares of the pairs' votes."),
    TUTTI_REAL(struct machine_config, tolerance, "1e-3", 0, TUTTI_NO_LIMIT,
               "Training stops where the conditions of optimality are violated by less.", .min_open = true),
    TUTTI_INTEGER(
        struct machine_config, most_rows, "0", 0, TUTTI_NO_LIMIT,
        "Train on so many rows at most, drawn from the candidate's seed: the time of a training grows with the "
        "square of their number or faster. 0: all.",
        .unit = "rows", .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_INTEGER(struct machine_config, cache, "100", 1, 1e6, "Memory for columns of the kernel matrix.",
                  .unit = "MB"),
};

static bool backend_supports_svm(void *instance, enum tutti_op op) {
  (void)instance, (void)op;
  return false;
}

static enum tutti_status backend_check_svm(void *instance, tutti_context *context, const struct tutti_job *job) {
  const struct machine_config *config = job->config;
  (void)instance;
  TUTTI_TRY(context, learner_check(context, job));
  if (config->folds == 1)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "backend.folds: expected 0, or 2 and more, found 1: nothing would be "
                      "left to train on");
  if (job->task->head == TUTTI_OP_HEAD_GAUSSIAN && config->folds == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "backend.folds: a Gaussian head's variance needs at least 2 folds; "
                      "without any, choose head.kind = linear");
  return TUTTI_OK;
}

static enum tutti_status backend_train_svm(void *instance, tutti_context *context, const struct tutti_job *job,
                                           struct tutti_outcome *outcome) {
  enum tutti_status status = TUTTI_OK;
  struct learner_rows rows = {0};
  tutti_tensors *weights = NULL;
  TUTTI_TRY_OUT(context, backend_check_svm(instance, context, job));
  TUTTI_TRY_OUT(context, learner_begin(context, job, &rows, outcome));
  if (outcome->state == TUTTI_STATE_FAILED)
    goto out;
  TUTTI_TRY_OUT(context,
                learner_rows_thin(context, job->seed, (size_t)((const struct machine_config *)job->config)->most_rows,
                                  job->task->outputs, &rows));
  TUTTI_TRY_OUT(context, tutti_tensors_create(context, &weights));
  for (size_t output = 0; output < learner_models(job->task); output++)
    TUTTI_TRY_OUT(context, machine_fit(context, job->config, job->task, job->seed, &rows, output, weights));
  learner_finish(outcome, weights);
  weights = NULL;
out:
  tutti_tensors_destroy(weights);
  learner_rows_close(&rows);
  return status;
}

static enum tutti_status backend_predict_svm(void *instance, tutti_context *context, const struct tutti_job *job,
                                             const tutti_tensors *weights, const tutti_split *split, float *out) {
  enum tutti_status status = TUTTI_OK;
  struct learner_rows rows = {0};
  (void)instance;
  TUTTI_TRY_OUT(context, learner_rows_open(context, job->task, split, &rows));
  for (size_t output = 0; output < learner_models(job->task); output++)
    TUTTI_TRY_OUT(context, machine_predict(context, job->task, weights, &rows, output, out));
out:
  learner_rows_close(&rows);
  return status;
}

static enum tutti_status formula_of_machine(tutti_context *context, const struct tutti_job *job,
                                            const tutti_tensors *tensors, size_t output, tutti_formula *formula,
                                            struct tutti_predicted_terms *terms) {
  return machine_formula(context, job->task, tensors, output, formula, terms);
}

static enum tutti_status backend_formula_svm(void *instance, tutti_context *context, const struct tutti_job *job,
                                             const tutti_tensors *weights, tutti_formula *formula,
                                             struct tutti_predicted_terms *terms) {
  (void)instance;
  return learner_formulas(context, job, weights, formula_of_machine, formula, terms);
}

static const struct tutti_backend_ops svm_ops = {
    .size = sizeof(struct tutti_backend_ops),
    .supports = backend_supports_svm,
    .train = backend_train_svm,
    .predict = backend_predict_svm,
    .check = backend_check_svm,
    .honours = TUTTI_JOB_CLASS_WEIGHTS,
    .formula = backend_formula_svm,
    .keeps_rows = true,
};

static const struct tutti_descriptor svm_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_BACKEND, "svm"),
    .version = "1.0",
    .summary = "support vector machines (libsvm): classes with probabilities, and values",
    .source = "Chang & Lin, LIBSVM: a library for support vector machines, 2011; Lin, Lin & Weng, A note on Platt's "
              "probabilistic outputs for support vector machines, 2007",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(svm_params, struct machine_config),
    .available = backend_available_svm,
    .ops = &svm_ops,
};

TUTTI_PLUGIN(svm_descriptor)
