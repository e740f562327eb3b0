/* trial_folds.c - cross-validation of a trial: a model for each fold, trained on the rows of the others. Of the pool's
   rows, it predicts those of its fold; all other rows get the mixture of all. What the models do not agree
   on is the trial's own epistemic uncertainty. The tensors of fold 3 are called fold3/NAME. */
#include "trial_folds_impl.h"

#include "engine/data/folds_impl.h"
#include "engine/data/split_names.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- weights of all folds in one set --- */

static bool is_of_fold(const char *name, size_t fold, const char **rest) {
  char prefix[32];
  int length = snprintf(prefix, sizeof prefix, "fold%zu/", fold);
  *rest = name + length;
  return strncmp(name, prefix, (size_t)length) == 0;
}

size_t tutti_folds_count(const tutti_tensors *weights) {
  size_t folds = 0;
  const char *rest;
  for (size_t i = 0; i < tutti_tensors_count(weights); i++)
    if (is_of_fold(tutti_tensors_at(weights, i)->name, folds, &rest))
      folds++;
  return folds;
}

static enum tutti_status add_copy(tutti_context *context, tutti_tensors *to, const char *name,
                                  const struct tutti_tensor *from) {
  void *data;
  TUTTI_TRY(context, tutti_tensors_add(context, to, name, from->element, from->rank, from->shape, &data));
  if (from->bytes)
    memcpy(data, from->data, from->bytes);
  return TUTTI_OK;
}

static enum tutti_status add_fold(tutti_context *context, tutti_tensors *all, size_t fold, const tutti_tensors *one) {
  for (size_t i = 0; i < tutti_tensors_count(one); i++) {
    const struct tutti_tensor *tensor = tutti_tensors_at(one, i);
    char *name;
    TUTTI_TRY(context, tutti_format(context, &name, "fold%zu/%s", fold, tensor->name));
    enum tutti_status status = add_copy(context, all, name, tensor);
    tutti_free(name);
    TUTTI_TRY(context, status);
  }
  return TUTTI_OK;
}

enum tutti_status tutti_folds_take(tutti_context *context, const tutti_tensors *all, size_t fold, tutti_tensors **one) {
  enum tutti_status status = TUTTI_OK;
  const char *name;
  TUTTI_TRY(context, tutti_tensors_create(context, one));
  for (size_t i = 0; i < tutti_tensors_count(all); i++)
    if (is_of_fold(tutti_tensors_at(all, i)->name, fold, &name))
      TUTTI_TRY_OUT(context, add_copy(context, *one, name, tutti_tensors_at(all, i)));
  return TUTTI_OK;
out:
  tutti_tensors_destroy(*one);
  *one = NULL;
  return status;
}

/* --- training --- */

bool tutti_folds_pointless(const struct tutti_training *training, size_t number) {
  for (size_t f = 0; f < number; f++)
    if (training->folds[f].done && training->folds[f].outcome.state != TUTTI_STATE_FINISHED)
      return true;
  return false;
}

/* The curve, and so the pruner's rule, is of the first fold. The others only look whether they are still wanted. */
static bool on_epoch(void *argument, const struct tutti_epoch *epoch) {
  const struct tutti_fold_training *one = argument;
  (void)epoch;
  return !tutti_folds_pointless(one->training, one->number);
}

enum tutti_status tutti_folds_prepare(tutti_context *context, const struct tutti_experiment *experiment,
                                      struct tutti_training *training) {
  training->fold_count = tutti_dataset_folds(experiment->dataset);
  return tutti_alloc(context, training->fold_count, sizeof *training->folds, &training->folds);
}

enum tutti_status tutti_folds_begin(tutti_context *context, const struct tutti_experiment *experiment,
                                    struct tutti_training *training, size_t number, const struct tutti_fold *fold) {
  struct tutti_fold_training *one = &training->folds[number];
  *one = (struct tutti_fold_training){
      .training = training, .number = number, .job = training->job, .outcome = {.size = sizeof one->outcome}};
  one->job.train = fold->train;
  one->job.validation = fold->validation;
  if (number > 0) {
    one->job.seed = tutti_trial_seed(training->job.seed, number);
    one->job.progress = on_epoch;
    one->job.progress_argument = one;
    one->job.measure = NULL;
  }
  TUTTI_TRY(context, tutti_experiment_class_weights(context, experiment, fold->train, &one->class_weights));
  one->job.class_weights = one->class_weights;
  /* The parent's model of the same fold, which has not seen its rows either. */
  if (training->job.warm)
    TUTTI_TRY(context, tutti_folds_take(context, training->job.initial, number, &one->initial));
  one->job.initial = one->initial;
  return TUTTI_OK;
}

/* What it takes beside its outcome is given back. */
static void end_fold(struct tutti_fold_training *one) {
  tutti_free(one->class_weights);
  tutti_tensors_destroy(one->initial);
  one->class_weights = NULL;
  one->initial = NULL;
}

void tutti_folds_release(struct tutti_training *training) {
  for (size_t f = 0; training->folds && f < training->fold_count; f++) {
    end_fold(&training->folds[f]);
    tutti_tensors_destroy(training->folds[f].outcome.weights);
  }
  tutti_free(training->folds);
  training->folds = NULL;
}

static enum tutti_status train_fold(tutti_context *context, const struct tutti_experiment *experiment,
                                    struct tutti_training *training, size_t number) {
  struct tutti_fold fold;
  TUTTI_TRY(context, tutti_dataset_fold(context, experiment->dataset, number, &fold));
  enum tutti_status status = tutti_folds_begin(context, experiment, training, number, &fold);
  if (status == TUTTI_OK)
    status =
        tutti_backend_train(context, training->learner, &training->folds[number].job, &training->folds[number].outcome);
  tutti_fold_release(&fold);
  if (status == TUTTI_OK)
    tutti_folds_done(training, number);
  return status == TUTTI_OK ? TUTTI_OK : tutti_error_trace(context, status, __FILE__, __LINE__, __func__);
}

void tutti_folds_done(struct tutti_training *training, size_t number) {
  end_fold(&training->folds[number]);
  training->folds[number].done = true;
}

/* Predict with one model; `epistemic` is zeroed where it does not tell its own part. */
static enum tutti_status predict_one(tutti_context *context, const tutti_backend *learner, const struct tutti_job *job,
                                     const tutti_tensors *weights, const tutti_split *split, float *out,
                                     float *epistemic) {
  size_t count = tutti_split_rows(split) * tutti_epistemic_width(job->task->kind, job->task->outputs);
  if (tutti_backend_tells_epistemic(learner, job))
    return tutti_backend_predict_parts(context, learner, job, weights, split, out, epistemic);
  memset(epistemic, 0, count * sizeof *epistemic);
  return tutti_backend_predict(context, learner, job, weights, split, out);
}

/* The loss of a model on the rows of its fold. */
static enum tutti_status measure_fold(tutti_context *context, const struct tutti_experiment *experiment,
                                      const struct tutti_training *training, size_t number,
                                      const tutti_tensors *weights, double *loss) {
  enum tutti_status status = TUTTI_OK;
  const struct tutti_task *task = &experiment->task;
  struct tutti_fold fold;
  struct tutti_targets targets = {.size = sizeof targets};
  float *values = NULL, *epistemic = NULL;
  TUTTI_TRY(context, tutti_dataset_fold(context, experiment->dataset, number, &fold));
  TUTTI_TRY_OUT(context, tutti_alloc(context, fold.count,
                                     tutti_predictions_width(task->kind, task->outputs) * sizeof *values, &values));
  TUTTI_TRY_OUT(context, tutti_alloc(context, fold.count,
                                     tutti_epistemic_width(task->kind, task->outputs) * sizeof *epistemic, &epistemic));
  TUTTI_TRY_OUT(context,
                predict_one(context, training->learner, &training->job, weights, fold.validation, values, epistemic));
  tutti_split_unscale(fold.validation, task->kind, values);
  const struct tutti_predictions predictions = {sizeof predictions, task->kind, fold.count, task->outputs, values};
  tutti_split_all_targets(fold.validation, &targets);
  *loss = tutti_loss_of(experiment->loss, &predictions, &targets);
out:
  tutti_free(values);
  tutti_free(epistemic);
  tutti_fold_release(&fold);
  return status;
}

enum tutti_status tutti_folds_gather(tutti_context *context, const struct tutti_experiment *experiment,
                                     struct tutti_training *training) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_outcome *whole = &training->outcome;
  tutti_tensors *weights = NULL;
  TUTTI_TRY_OUT(context, tutti_tensors_create(context, &weights));
  for (size_t f = 0; f < training->fold_count; f++) {
    struct tutti_outcome *one = &training->folds[f].outcome;
    uint64_t steps = whole->steps + one->steps;
    if (f == 0 || one->state != TUTTI_STATE_FINISHED) {
      *whole = *one;
      whole->weights = NULL;
    }
    whole->steps = steps;
    if (one->state == TUTTI_STATE_PRUNED && one->weights)
      TUTTI_TRY_OUT(context, measure_fold(context, experiment, training, f, one->weights, &whole->value));
    if (one->state != TUTTI_STATE_FINISHED)
      goto out; /* pruned, or failed: there is no whole */
    TUTTI_TRY_OUT(context, add_fold(context, weights, f, one->weights));
    tutti_tensors_destroy(one->weights);
    one->weights = NULL;
  }
  whole->weights = weights;
  weights = NULL;
out:
  tutti_tensors_destroy(weights);
  return status;
}

enum tutti_status tutti_folds_train(tutti_context *context, const struct tutti_experiment *experiment,
                                    struct tutti_training *training) {
  TUTTI_TRY(context, tutti_folds_prepare(context, experiment, training));
  for (size_t f = 0; f < training->fold_count && !tutti_folds_pointless(training, f); f++)
    TUTTI_TRY(context, train_fold(context, experiment, training, f));
  return tutti_folds_gather(context, experiment, training);
}

/* --- predictions --- */

/* What is predicted for all rows: sums over the folds, then means. */
struct mixing {
  const struct tutti_task *task;
  size_t rows, width, parts;
  double *sum;    /* [rows][width]: of means and variances, or of probabilities */
  double *second; /* [rows][parts]: of squared means, or of entropies */
  double *own;    /* [rows][parts] */
};

static double entropy_of(size_t classes, const float *p) {
  double entropy = 0;
  for (size_t c = 0; c < classes; c++)
    entropy -= p[c] > 0 ? (double)p[c] * log((double)p[c]) : 0;
  return entropy;
}

static void mix_in(const struct mixing *mixing, const float *out, const float *epistemic) {
  bool moments = mixing->task->kind == TUTTI_TASK_REGRESSION;
  for (size_t i = 0; i < mixing->rows * mixing->width; i++)
    mixing->sum[i] += (double)out[i];
  for (size_t i = 0; i < mixing->rows * mixing->parts; i++) {
    double mean = moments ? (double)out[2 * i] : 0;
    mixing->second[i] += moments ? mean * mean : entropy_of(mixing->task->outputs, out + i * mixing->width);
    mixing->own[i] += (double)epistemic[i];
  }
}

/* The mixture's moments or probabilities, and the part of its uncertainty that the models do not share. */
static void finish_mixture(const struct mixing *mixing, size_t folds, float *out, float *epistemic) {
  double n = (double)folds;
  for (size_t i = 0; i < mixing->rows * mixing->width; i++)
    out[i] = (float)(mixing->sum[i] / n);
  for (size_t i = 0; i < mixing->rows * mixing->parts; i++) {
    double between;
    if (mixing->task->kind == TUTTI_TASK_REGRESSION) {
      double mean = mixing->sum[2 * i] / n;
      between = fmax(mixing->second[i] / n - mean * mean, 0);
      out[2 * i + 1] = (float)(mixing->sum[2 * i + 1] / n + between);
    } else {
      between = fmax(entropy_of(mixing->task->outputs, out + i * mixing->width) - mixing->second[i] / n, 0);
    }
    epistemic[i] = (float)(between + mixing->own[i] / n);
  }
}

static enum tutti_status predict_mixture(tutti_context *context, const tutti_backend *learner,
                                         const struct tutti_job *job, const tutti_tensors *weights,
                                         const tutti_split *split, float *out, float *epistemic) {
  enum tutti_status status = TUTTI_OK;
  const struct tutti_task *task = job->task;
  struct mixing mixing = {.task = task,
                          .rows = tutti_split_rows(split),
                          .width = tutti_predictions_width(task->kind, task->outputs),
                          .parts = tutti_epistemic_width(task->kind, task->outputs)};
  size_t folds = tutti_folds_count(weights);
  tutti_tensors *one = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, mixing.rows, mixing.width * sizeof(double), &mixing.sum));
  TUTTI_TRY_OUT(context, tutti_alloc(context, mixing.rows, mixing.parts * sizeof(double), &mixing.second));
  TUTTI_TRY_OUT(context, tutti_alloc(context, mixing.rows, mixing.parts * sizeof(double), &mixing.own));
  for (size_t f = 0; f < folds; f++) {
    TUTTI_TRY_OUT(context, tutti_folds_take(context, weights, f, &one));
    TUTTI_TRY_OUT(context, predict_one(context, learner, job, one, split, out, epistemic));
    mix_in(&mixing, out, epistemic);
    tutti_tensors_destroy(one);
    one = NULL;
  }
  finish_mixture(&mixing, folds, out, epistemic);
out:
  tutti_tensors_destroy(one);
  tutti_free(mixing.sum);
  tutti_free(mixing.second);
  tutti_free(mixing.own);
  return status;
}

/* Each row of the pool by the model that was trained without its fold. */
static enum tutti_status predict_pool(tutti_context *context, const tutti_dataset *dataset,
                                      const tutti_backend *learner, const struct tutti_job *job,
                                      const tutti_tensors *weights, float *out, float *epistemic) {
  enum tutti_status status = TUTTI_OK;
  const struct tutti_task *task = job->task;
  size_t width = tutti_predictions_width(task->kind, task->outputs);
  size_t parts = tutti_epistemic_width(task->kind, task->outputs);
  struct tutti_fold fold = {0};
  tutti_tensors *one = NULL;
  float *values = NULL, *own = NULL;
  for (size_t f = 0; f < tutti_dataset_folds(dataset); f++) {
    TUTTI_TRY_OUT(context, tutti_dataset_fold(context, dataset, f, &fold));
    TUTTI_TRY_OUT(context, tutti_folds_take(context, weights, f, &one));
    TUTTI_TRY_OUT(context, tutti_alloc(context, fold.count, width * sizeof *values, &values));
    TUTTI_TRY_OUT(context, tutti_alloc(context, fold.count, parts * sizeof *own, &own));
    TUTTI_TRY_OUT(context, predict_one(context, learner, job, one, fold.validation, values, own));
    for (size_t i = 0; i < fold.count; i++) {
      memcpy(out + fold.rows[i] * width, values + i * width, width * sizeof *values);
      memcpy(epistemic + fold.rows[i] * parts, own + i * parts, parts * sizeof *own);
    }
    tutti_fold_release(&fold);
    tutti_tensors_destroy(one);
    tutti_free(values);
    tutti_free(own);
    one = NULL, values = NULL, own = NULL;
  }
out:
  tutti_fold_release(&fold);
  tutti_tensors_destroy(one);
  tutti_free(values);
  tutti_free(own);
  return status;
}

enum tutti_status tutti_folds_predict(tutti_context *context, const tutti_dataset *dataset,
                                      const tutti_backend *learner, const struct tutti_job *job,
                                      const tutti_tensors *weights, const tutti_split *split, float *out,
                                      float *epistemic) {
  bool pool = tutti_dataset_folds(dataset) && split == tutti_dataset_find(dataset, TUTTI_SPLIT_VALIDATION);
  return pool ? predict_pool(context, dataset, learner, job, weights, out, epistemic)
              : predict_mixture(context, learner, job, weights, split, out, epistemic);
}
