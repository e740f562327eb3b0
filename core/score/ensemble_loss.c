/* ensemble_loss.c - the loss of an ensemble that grows by one model at a time. */
#include "core/network/task_impl.h"
#include "ensemble_loss_impl.h"

#include <tutti/sized.h>

#include <math.h>

static enum tutti_status check(tutti_context *context, const struct tutti_pool *pool, enum tutti_loss loss) {
  bool classes = pool->kind == TUTTI_TASK_CLASSIFICATION;
  if (pool->kind == TUTTI_TASK_VALUE || !tutti_loss_applies(loss, pool->kind))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "the loss \"%s\" of ensembles is not defined for %s",
                      loss < TUTTI_LOSS_COUNT ? tutti_loss_names()[loss] : "?", tutti_task_in_words(pool->kind));
  if (pool->models == 0 || pool->rows == 0)
    return TUTTI_FAIL(
        context, TUTTI_ERROR_USAGE,
        "an ensemble is chosen from models by their predictions: expected some of both, found %zu models and "
        "%zu rows",
        pool->models, pool->rows);
  if (!(classes ? (const void *)pool->labels : (const void *)pool->values))
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
  TUTTI_TAKE(&loss->pool, pool);
  TUTTI_TAKE(&loss->options, options);
  loss->kind = loss_sums(&loss->options, pool->kind);
  loss->cpu = tutti_cpu_detect();
  TUTTI_TRY_OUT(context, tutti_alloc(context, pool->models, sizeof *loss->counts, &loss->counts));
  TUTTI_TRY_OUT(context, tutti_alloc(context, pool->models, sizeof *loss->bounds, &loss->bounds));
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
  tutti_free(loss->bounds);
  tutti_free(loss->columns);
  tutti_free(loss->scaled);
  tutti_free(loss->codes);
  tutti_free(loss->own);
  tutti_free(loss->open);
  tutti_free(loss->cross);
  tutti_free(loss->excess);
  tutti_free(loss->broken);
  tutti_free(loss->sums);
  tutti_free(loss->spreads);
  tutti_free(loss->variances);
  tutti_free(loss->densities);
  tutti_free(loss);
}

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

/* --- the best addition -------------------------------------------------------------------------------------------- */

/* Does a model come before another? It does if the other's value is NaN (none); the lower number on ties. */
static bool precedes(size_t model, double value, size_t other, double other_value) {
  return isnan(other_value) || value < other_value || (value == other_value && model < other);
}

static void consider(struct tutti_addition *best, size_t model, double value) {
  if (isnan(value))
    return;
  if (precedes(model, value, best->model, best->loss)) {
    best->runner_up = best->model;
    best->runner_up_loss = best->loss;
    best->model = model;
    best->loss = value;
  } else if (precedes(model, value, best->runner_up, best->runner_up_loss)) {
    best->runner_up = model;
    best->runner_up_loss = value;
  }
}

/* Try a batch. Their bounds become INFINITY: they need not be tried again. */
static void try_batch(const tutti_ensemble_loss *loss, size_t count, const size_t *batch, struct tutti_addition *best) {
  double losses[ENSEMBLE_LOSS_BATCH];
  loss->kind->with(loss, count, batch, losses);
  for (size_t j = 0; j < count; j++) {
    consider(best, batch[j], losses[j]);
    loss->bounds[batch[j]] = INFINITY;
  }
}

/* Fill batch[] with the models whose bounds are lowest; returns how many. */
static size_t most_promising(const tutti_ensemble_loss *loss, size_t *batch) {
  size_t count = 0;
  for (size_t k = 0; k < loss->pool.models; k++) {
    size_t place = count;
    while (place > 0 && loss->bounds[k] < loss->bounds[batch[place - 1]])
      place--;
    if (place == ENSEMBLE_LOSS_BATCH || loss->bounds[k] == INFINITY)
      continue;
    count += count < ENSEMBLE_LOSS_BATCH;
    for (size_t j = count - 1; j > place; j--)
      batch[j] = batch[j - 1];
    batch[place] = k;
  }
  return count;
}

/* Try the most promising models first: then the bounds of most others show that they need not be tried. */
void tutti_ensemble_loss_best(const tutti_ensemble_loss *loss, const bool *barred, struct tutti_addition *addition) {
  size_t models = loss->pool.models, batch[ENSEMBLE_LOSS_BATCH], count;
  struct tutti_addition best = {sizeof best, models, models, NAN, NAN};
  bool bounded = loss->kind->bounds && loss->picks > 0;
  if (bounded)
    loss->kind->bounds(loss, loss->bounds);
  for (size_t k = 0; k < models; k++)
    loss->bounds[k] = barred && barred[k] ? INFINITY : bounded ? loss->bounds[k] : -INFINITY;
  count = most_promising(loss, batch);
  if (count > 0)
    try_batch(loss, count, batch, &best);
  count = 0;
  for (size_t k = 0; k < models; k++) {
    if (loss->bounds[k] < INFINITY && !(loss->bounds[k] > best.runner_up_loss))
      batch[count++] = k;
    if (count == ENSEMBLE_LOSS_BATCH || (count > 0 && k + 1 == models)) {
      try_batch(loss, count, batch, &best);
      count = 0;
    }
  }
  TUTTI_GIVE(addition, &best);
}
