/* boosting.c - boosted trees by XGBoost: of classes by its own objectives, of values by a loss between squared and
   absolute error. One thread, exact splits, its own messages off. */
#include "grove.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <xgboost/c_api.h>

enum tutti_status grove_check_boosting(tutti_context *context) {
  (void)context;
  return TUTTI_OK;
}

static enum tutti_status check(tutti_context *context, int result) {
  return result == 0 ? TUTTI_OK : TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC, "XGBoost: %s", XGBGetLastError());
}

/* --- training ---------------------------------------------------------------------------------------------------- */

/* Some rows and their labels or values. */
struct sample {
  size_t count, features;
  float *inputs, *targets; /* [count][features], [count]; classes are whole numbers */
  float *weights;          /* [count]; NULL: all count the same */
};

struct booster {
  DMatrixHandle matrix;
  BoosterHandle handle;
  float *gradient, *hessian; /* [count], of values */
};

static void close_booster(struct booster *booster) {
  if (booster->handle)
    (void)XGBoosterFree(booster->handle);
  if (booster->matrix)
    (void)XGDMatrixFree(booster->matrix);
  tutti_free(booster->gradient);
  tutti_free(booster->hessian);
  *booster = (struct booster){0};
}

static enum tutti_status set(tutti_context *context, struct booster *booster, const char *name, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static enum tutti_status set(tutti_context *context, struct booster *booster, const char *name, const char *format,
                             ...) {
  char text[64];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return check(context, XGBoosterSetParam(booster->handle, name, text));
}

static enum tutti_status configure(tutti_context *context, const struct grove_config *config,
                                   const struct tutti_task *task, uint64_t seed, struct booster *booster) {
  bool classes = task->kind == TUTTI_TASK_CLASSIFICATION;
  TUTTI_TRY(context, set(context, booster, "verbosity", "0"));
  TUTTI_TRY(context, set(context, booster, "nthread", "1"));
  TUTTI_TRY(context, set(context, booster, "tree_method", "exact"));
  TUTTI_TRY(context, set(context, booster, "seed", "%u", (unsigned)(seed & 0x7fffffff)));
  TUTTI_TRY(context,
            set(context, booster, "max_depth", "%lld", (long long)(config->max_depth ? config->max_depth : 6)));
  TUTTI_TRY(context, set(context, booster, "eta", "%.9g", config->learning_rate));
  TUTTI_TRY(context, set(context, booster, "colsample_bynode", "%.9g", config->features));
  TUTTI_TRY(context, set(context, booster, "lambda", "%.9g", config->l2));
  TUTTI_TRY(context, set(context, booster, "min_child_weight", "%.9g", config->min_child));
  if (!classes) {
    TUTTI_TRY(context,
              set(context, booster, "objective", "reg:squarederror")); /* for its predictions: values as they are */
    return set(context, booster, "base_score", "0");
  }
  if (task->outputs == 2)
    return set(context, booster, "objective", "binary:logistic");
  TUTTI_TRY(context, set(context, booster, "num_class", "%zu", task->outputs));
  return set(context, booster, "objective", "multi:softprob");
}

/* The gradient of (1 - a) (f - y)^2 / 2 + a |f - y|. The absolute error has no curvature, so that of the squared error,
   1, is used for both. */
static enum tutti_status boost_values(tutti_context *context, const struct sample *sample, double absolute,
                                      struct booster *booster) {
  bst_ulong count;
  const float *values;
  TUTTI_TRY(context, check(context, XGBoosterPredict(booster->handle, booster->matrix, 1, 0, 1, &count, &values)));
  if (count != sample->count)
    return TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC, "XGBoost: expected %zu values, found %llu", sample->count,
                      (unsigned long long)count);
  for (size_t i = 0; i < sample->count; i++) {
    double error = (double)values[i] - (double)sample->targets[i];
    booster->gradient[i] = (float)((1 - absolute) * error + absolute * ((error > 0) - (error < 0)));
    booster->hessian[i] = 1;
  }
  return check(context, XGBoosterBoostOneIter(booster->handle, booster->matrix, booster->gradient, booster->hessian,
                                              (bst_ulong)sample->count));
}

static enum tutti_status train(tutti_context *context, const struct grove_config *config, const struct tutti_task *task,
                               uint64_t seed, const struct sample *sample, struct booster *booster) {
  bool classes = task->kind == TUTTI_TASK_CLASSIFICATION;
  TUTTI_TRY(context, check(context, XGDMatrixCreateFromMat_omp(sample->inputs, (bst_ulong)sample->count,
                                                               (bst_ulong)sample->features, NAN, &booster->matrix, 1)));
  TUTTI_TRY(context,
            check(context, XGDMatrixSetFloatInfo(booster->matrix, "label", sample->targets, (bst_ulong)sample->count)));
  if (sample->weights)
    TUTTI_TRY(context, check(context, XGDMatrixSetFloatInfo(booster->matrix, "weight", sample->weights,
                                                            (bst_ulong)sample->count)));
  TUTTI_TRY(context, check(context, XGBoosterCreate(&booster->matrix, 1, &booster->handle)));
  TUTTI_TRY(context, configure(context, config, task, seed, booster));
  TUTTI_TRY(context, tutti_alloc(context, sample->count, sizeof(float), &booster->gradient));
  TUTTI_TRY(context, tutti_alloc(context, sample->count, sizeof(float), &booster->hessian));
  for (int64_t round = 0; round < config->trees; round++) {
    if (tutti_cancelled(context))
      return TUTTI_FAIL(context, TUTTI_ERROR_CANCELLED, "cancelled at tree %lld of %lld", (long long)round,
                        (long long)config->trees);
    TUTTI_TRY(context, classes ? check(context, XGBoosterUpdateOneIter(booster->handle, (int)round, booster->matrix))
                               : boost_values(context, sample, config->absolute, booster));
  }
  return TUTTI_OK;
}

/* --- rows -------------------------------------------------------------------------------------------------------- */

static void release_sample(struct sample *sample) {
  tutti_free(sample->inputs);
  tutti_free(sample->targets);
  tutti_free(sample->weights);
}

/* The rows of a fold, or all rows except those; all rows if there are no folds. */
static enum tutti_status take_sample(tutti_context *context, const struct tutti_task *task,
                                     const struct learner_rows *rows, size_t output, const uint32_t *fold,
                                     uint32_t which, bool inside, struct sample *sample) {
  *sample = (struct sample){.features = rows->features};
  TUTTI_TRY(context, tutti_alloc(context, rows->count, rows->features * sizeof(float), &sample->inputs));
  TUTTI_TRY(context, tutti_alloc(context, rows->count, sizeof(float), &sample->targets));
  if (rows->class_weights)
    TUTTI_TRY(context, tutti_alloc(context, rows->count, sizeof(float), &sample->weights));
  for (size_t i = 0; i < rows->count; i++) {
    if (fold && (fold[i] == which) != inside)
      continue;
    if (sample->weights && rows->class_weights && rows->labels)
      sample->weights[sample->count] = (float)rows->class_weights[rows->labels[i]];
    memcpy(sample->inputs + sample->count * rows->features, rows->inputs + i * rows->features,
           rows->features * sizeof(float));
    sample->targets[sample->count++] =
        rows->labels ? (float)rows->labels[i] : rows->targets[i * task->outputs + output];
  }
  return TUTTI_OK;
}

/* Add the squared errors on the rows of a fold, which the booster has not seen. */
static enum tutti_status add_errors(tutti_context *context, struct booster *booster, const struct sample *held,
                                    double *sum) {
  DMatrixHandle matrix = NULL;
  bst_ulong count;
  const float *values;
  enum tutti_status status = check(context, XGDMatrixCreateFromMat_omp(held->inputs, (bst_ulong)held->count,
                                                                       (bst_ulong)held->features, NAN, &matrix, 1));
  if (status == TUTTI_OK)
    status = check(context, XGBoosterPredict(booster->handle, matrix, 0, 0, 0, &count, &values));
  for (size_t i = 0; status == TUTTI_OK && i < held->count; i++)
    *sum += ((double)values[i] - (double)held->targets[i]) * ((double)values[i] - (double)held->targets[i]);
  if (matrix)
    (void)XGDMatrixFree(matrix);
  return status;
}

/* The mean squared error on rows that were left out. */
static enum tutti_status residual_variance(tutti_context *context, const struct grove_config *config,
                                           const struct tutti_task *task, uint64_t seed,
                                           const struct learner_rows *rows, size_t output, double *variance) {
  enum tutti_status status = TUTTI_OK;
  uint32_t *fold = NULL;
  struct sample rest = {0}, held = {0};
  struct booster booster = {0};
  double sum = 0;
  TUTTI_TRY_OUT(context, tutti_alloc(context, rows->count, sizeof *fold, &fold));
  TUTTI_TRY_OUT(context, learner_folds(context, seed, rows, (size_t)config->folds, fold));
  for (uint32_t k = 0; k < config->folds && k < rows->count; k++) {
    TUTTI_TRY_OUT(context, take_sample(context, task, rows, output, fold, k, false, &rest));
    TUTTI_TRY_OUT(context, take_sample(context, task, rows, output, fold, k, true, &held));
    if (held.count > 0 && rest.count > 0) {
      TUTTI_TRY_OUT(context, train(context, config, task, seed, &rest, &booster));
      TUTTI_TRY_OUT(context, add_errors(context, &booster, &held, &sum));
    }
    close_booster(&booster);
    release_sample(&rest);
    release_sample(&held);
    rest = held = (struct sample){0};
  }
  *variance = sum / (double)rows->count;
out:
  close_booster(&booster);
  release_sample(&rest);
  release_sample(&held);
  tutti_free(fold);
  return status;
}

/* --- the model --------------------------------------------------------------------------------------------------- */

static enum tutti_status keep(tutti_context *context, const struct booster *booster, size_t output,
                              tutti_tensors *tensors) {
  bst_ulong bytes;
  const char *model;
  uint8_t *place;
  TUTTI_TRY(context,
            check(context, XGBoosterSaveModelToBuffer(booster->handle, "{\"format\": \"ubj\"}", &bytes, &model)));
  size_t size = (size_t)bytes;
  TUTTI_TRY(context, learner_add(context, tensors, output, "model", TUTTI_U8, 1, &size, &place));
  memcpy(place, model, size);
  return TUTTI_OK;
}

enum tutti_status grove_fit_boosting(tutti_context *context, const struct grove_config *config,
                                     const struct tutti_task *task, uint64_t seed, const struct learner_rows *rows,
                                     size_t output, tutti_tensors *tensors) {
  enum tutti_status status = TUTTI_OK;
  struct sample all = {0};
  struct booster booster = {0};
  double variance = NAN;
  TUTTI_TRY_OUT(context, take_sample(context, task, rows, output, NULL, 0, true, &all));
  TUTTI_TRY_OUT(context, train(context, config, task, seed, &all, &booster));
  TUTTI_TRY_OUT(context, keep(context, &booster, output, tensors));
  if (task->head == TUTTI_OP_HEAD_GAUSSIAN) {
    TUTTI_TRY_OUT(context, residual_variance(context, config, task, seed, rows, output, &variance));
    TUTTI_TRY_OUT(context, learner_keep_variance(context, tensors, output, variance));
  }
out:
  close_booster(&booster);
  release_sample(&all);
  return status;
}

/* --- predicting -------------------------------------------------------------------------------------------------- */

static enum tutti_status open_model(tutti_context *context, const tutti_tensors *tensors, size_t output,
                                    const struct learner_rows *rows, struct booster *booster) {
  const struct tutti_tensor *model;
  bst_ulong features;
  TUTTI_TRY(context, learner_find(context, tensors, output, "model", TUTTI_U8, 1, (size_t[]){LEARNER_ANY}, &model));
  TUTTI_TRY(context, check(context, XGBoosterCreate(NULL, 0, &booster->handle)));
  TUTTI_TRY(context, set(context, booster, "verbosity", "0"));
  TUTTI_TRY(context, set(context, booster, "nthread", "1"));
  if (XGBoosterLoadModelFromBuffer(booster->handle, model->data, (bst_ulong)model->bytes) != 0 ||
      XGBoosterGetNumFeature(booster->handle, &features) != 0 || features != rows->features)
    return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "weights: the model of boosted trees is none of this task's");
  return check(context, XGDMatrixCreateFromMat_omp(rows->inputs, (bst_ulong)rows->count, (bst_ulong)rows->features, NAN,
                                                   &booster->matrix, 1));
}

/* A row's probabilities. With two classes, XGBoost gives only the second's. */
static void put_classes(const struct tutti_task *task, const float *told, size_t row, double *shares, float *out) {
  size_t classes = task->outputs;
  for (size_t c = 0; c < classes; c++)
    shares[c] = classes == 2 ? fabs((double)told[row] - (c == 0)) : (double)told[row * classes + c];
  learner_put_classes(task, row, shares, out);
}

enum tutti_status grove_predict_boosting(tutti_context *context, const struct grove_config *config,
                                         const struct tutti_task *task, const tutti_tensors *tensors,
                                         const struct learner_rows *rows, size_t output, float *out) {
  enum tutti_status status = TUTTI_OK;
  struct booster booster = {0};
  bst_ulong count;
  const float *told;
  double variance, *shares = NULL;
  bool classes = task->kind == TUTTI_TASK_CLASSIFICATION;
  (void)config; /* nothing of it acts on a model that is trained */
  size_t width = classes && task->outputs > 2 ? task->outputs : 1;
  TUTTI_TRY_OUT(context, tutti_alloc(context, task->outputs, sizeof *shares, &shares));
  TUTTI_TRY_OUT(context, open_model(context, tensors, output, rows, &booster));
  TUTTI_TRY_OUT(context, learner_find_variance(context, tensors, task, output, &variance));
  TUTTI_TRY_OUT(context, check(context, XGBoosterPredict(booster.handle, booster.matrix, 0, 0, 0, &count, &told)));
  if (count != rows->count * width)
    TUTTI_TRY_OUT(context, TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT,
                                      "weights: the model of boosted trees has not the outputs of this task"));
  for (size_t i = 0; i < rows->count; i++)
    if (classes)
      put_classes(task, told, i, shares, out);
    else
      learner_put_value(task, i, output, (double)told[i], variance, out);
out:
  close_booster(&booster);
  tutti_free(shares);
  return status;
}
