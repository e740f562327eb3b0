/* pools.c - pools of models for tests of evaluation and selection. */
#include "pools.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <tutti/metrics.h>

void pools_make(struct pools_models *models, enum tutti_task_kind kind, size_t count, size_t rows, size_t outputs) {
  size_t width = tutti_predictions_width(kind, outputs);
  models->pool = (struct tutti_pool){.size = sizeof models->pool,
                                     .kind = kind,
                                     .models = count,
                                     .rows = rows,
                                     .outputs = outputs,
                                     .predictions = models->predictions};
  for (size_t k = 0; k < count; k++) {
    models->predictions[k] = models->values + k * rows * width;
    models->trials[k] = 10 * (k + 1);
  }
  models->pool.trials = models->trials;
  models->pool.losses = models->losses;
  models->pool.values = models->y;
  models->pool.labels = models->labels;
  for (size_t k = 0; k < count; k++) {
    struct tutti_predictions predictions = {.size = sizeof predictions};
    struct tutti_targets targets = {.size = sizeof targets};
    tutti_pool_predictions(&models->pool, k, &predictions);
    tutti_pool_targets(&models->pool, &targets);
    models->losses[k] = tutti_loss_of(TUTTI_LOSS_NLL, &predictions, &targets);
  }
}

void pools_free(struct pools_models *models) {
  free(models->values);
  free(models->y);
  free(models->labels);
}

void pools_random_classes(struct pools_models *models, struct tutti_random *random, size_t count, size_t rows,
                          size_t classes, double sharpness) {
  *models = (struct pools_models){0};
  models->values = calloc(count * rows * classes, sizeof(float));
  models->labels = calloc(rows, sizeof(int32_t));
  for (size_t n = 0; n < rows; n++)
    models->labels[n] = (int32_t)tutti_random_below(random, classes);
  for (size_t i = 0; i < count * rows; i++) {
    double sum = 0, p[8];
    for (size_t c = 0; c < classes; c++)
      sum += p[c] = exp(sharpness * tutti_random_normal(random));
    for (size_t c = 0; c < classes; c++)
      models->values[i * classes + c] = (float)(p[c] / sum);
  }
  pools_make(models, TUTTI_TASK_CLASSIFICATION, count, rows, classes);
}

void pools_random_values(struct pools_models *models, struct tutti_random *random, size_t count, size_t rows,
                         size_t outputs) {
  *models = (struct pools_models){0};
  models->values = calloc(count * rows * outputs * 2, sizeof(float));
  models->y = calloc(rows * outputs, sizeof(double));
  for (size_t i = 0; i < rows * outputs; i++)
    models->y[i] = tutti_random_normal(random);
  for (size_t i = 0; i < count * rows * outputs; i++) {
    models->values[2 * i] = (float)tutti_random_normal(random);
    models->values[2 * i + 1] = (float)exp(tutti_random_normal(random));
  }
  pools_make(models, TUTTI_TASK_REGRESSION, count, rows, outputs);
}

tutti_ensemble *pools_equal_members(tutti_context *context, const struct pools_models *models) {
  tutti_ensemble *ensemble;
  assert_int_equal(tutti_ensemble_create(context, &ensemble), TUTTI_OK);
  for (size_t k = 0; k < models->pool.models; k++)
    assert_int_equal(tutti_ensemble_add(context, ensemble, models->trials[k], 1), TUTTI_OK);
  return ensemble;
}

double pools_value(const tutti_evaluation *evaluation, const char *name) {
  const struct tutti_metric *metric = tutti_evaluation_find(evaluation, name);
  if (!metric)
    fail_msg("no metric \"%s\"", name);
  return metric->value;
}
