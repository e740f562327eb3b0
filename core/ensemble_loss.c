/* ensemble_loss.c - the loss of an ensemble that grows by one model at a time. */
#include "ensemble_loss_impl.h"

#include <math.h>

static const struct ensemble_loss_kind *kind_of(const struct tutti_ensemble_loss_options *options,
                                                enum tutti_task_kind task) {
  switch (options->loss) {
  case TUTTI_LOSS_ERROR:
  case TUTTI_LOSS_BRIER:
    return &ensemble_loss_classes;
  case TUTTI_LOSS_MSE:
  case TUTTI_LOSS_RMSE:
    return &ensemble_loss_squares;
  default:
    break;
  }
  if (task == TUTTI_TASK_CLASSIFICATION)
    return &ensemble_loss_class_nll;
  return options->density == TUTTI_DENSITY_MIXTURE ? &ensemble_loss_mixture : &ensemble_loss_moments;
}

static enum tutti_status check(tutti_context *context, const struct tutti_pool *pool, enum tutti_loss loss) {
  static const char *const tasks[] = {"regression", "classification", "a task without data"};
  bool classes = pool->kind == TUTTI_TASK_CLASSIFICATION;
  if (loss == TUTTI_LOSS_VALUE || !tutti_loss_applies(loss, pool->kind))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "the loss \"%s\" of ensembles is not defined for %s",
                      loss < TUTTI_LOSS_COUNT ? tutti_loss_names()[loss] : "?", tasks[pool->kind]);
  if (pool->models == 0 || pool->rows == 0)
    return TUTTI_FAIL(
        context, TUTTI_ERROR_USAGE,
        "an ensemble is chosen from models by their predictions: expected some of both, found %zu models and "
        "%zu rows",
        pool->models, pool->rows);
  if (!(classes ? (const void *)pool->targets.labels : (const void *)pool->targets.values))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "an ensemble cannot be chosen on rows without targets");
  return TUTTI_OK;
}

enum tutti_status tutti_ensemble_loss_create(tutti_context *context, const struct tutti_pool *pool,
                                             const struct tutti_ensemble_loss_options *options,
                                             tutti_ensemble_loss **created) {
  enum tutti_status status;
  tutti_ensemble_loss *loss = NULL;
  *created = NULL;
  TUTTI_TRY(context, check(context, pool, options->loss));
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *loss, &loss));
  loss->kind = kind_of(options, pool->kind);
  loss->pool = *pool;
  loss->options = *options;
  loss->cpu = tutti_cpu_detect();
  TUTTI_TRY_OUT(context, tutti_alloc(context, pool->models, sizeof *loss->counts, &loss->counts));
  TUTTI_TRY_OUT(context, loss->kind->begin(context, loss));
  *created = loss;
out:
  if (status != TUTTI_OK)
    tutti_ensemble_loss_destroy(loss);
  return status;
}

void tutti_ensemble_loss_destroy(tutti_ensemble_loss *loss) {
  if (!loss)
    return;
  tutti_free(loss->counts);
  tutti_free(loss->columns);
  tutti_free(loss->broken);
  tutti_free(loss->sums);
  tutti_free(loss->spreads);
  tutti_free(loss->variances);
  tutti_free(loss->densities);
  tutti_free(loss);
}

size_t tutti_ensemble_loss_picks(const tutti_ensemble_loss *loss) { return loss->picks; }

double tutti_ensemble_loss_with(const tutti_ensemble_loss *loss, size_t model) {
  double value;
  loss->kind->with(loss, 1, &model, &value);
  return value;
}

void tutti_ensemble_loss_each(const tutti_ensemble_loss *loss, double *losses) {
  size_t models = loss->pool.models, batch[ENSEMBLE_LOSS_BATCH];
  for (size_t k = 0; k < models; k += ENSEMBLE_LOSS_BATCH) {
    size_t count = models - k < ENSEMBLE_LOSS_BATCH ? models - k : ENSEMBLE_LOSS_BATCH;
    for (size_t j = 0; j < count; j++)
      batch[j] = k + j;
    loss->kind->with(loss, count, batch, losses + k);
  }
}

void tutti_ensemble_loss_add(tutti_ensemble_loss *loss, size_t model) {
  loss->kind->add(loss, model);
  loss->picks++;
  loss->count_squares += 2 * (double)loss->counts[model]++ + 1;
}

/* Models come in ascending order, so that a strict comparison gives ties to the lowest. */
static void consider(struct tutti_addition *best, size_t model, double value) {
  if (isnan(value))
    return;
  if (!(value >= best->loss)) {
    best->runner_up = best->model;
    best->runner_up_loss = best->loss;
    best->model = model;
    best->loss = value;
  } else if (!(value >= best->runner_up_loss)) {
    best->runner_up = model;
    best->runner_up_loss = value;
  }
}

struct tutti_addition tutti_ensemble_loss_best(const tutti_ensemble_loss *loss, const bool *barred) {
  size_t models = loss->pool.models, batch[ENSEMBLE_LOSS_BATCH], count = 0;
  double losses[ENSEMBLE_LOSS_BATCH];
  struct tutti_addition best = {models, models, NAN, NAN};
  for (size_t k = 0; k < models; k++) {
    if (!barred || !barred[k])
      batch[count++] = k;
    if (count == 0 || (count < ENSEMBLE_LOSS_BATCH && k + 1 < models))
      continue;
    loss->kind->with(loss, count, batch, losses);
    for (size_t j = 0; j < count; j++)
      consider(&best, batch[j], losses[j]);
    count = 0;
  }
  return best;
}
