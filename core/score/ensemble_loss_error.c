/* ensemble_loss_error.c - running error of ensembles of classifiers: the share of rows whose largest summed probability
   is not the label's (the lowest class on ties). */
#include <math.h>

#include "ensemble_loss_impl.h"

/* Does another class win row n once `added` is added? */
static bool row_is_wrong(const tutti_ensemble_loss *loss, size_t n, const float *added) {
  const double *sums = loss->sums + n * loss->pool.outputs;
  size_t label = (size_t)loss->pool.labels[n];
  double own = sums[label] + (double)added[label];
  int wrong = 0;
  for (size_t c = 0; c < label; c++)
    wrong |= sums[c] + (double)added[c] >= own;
  for (size_t c = label + 1; c < loss->pool.outputs; c++)
    wrong |= sums[c] + (double)added[c] > own;
  return wrong;
}

/* How far the label's sum is above the largest of the others. */
static double row_margin(const tutti_ensemble_loss *loss, size_t n) {
  const double *sums = loss->sums + n * loss->pool.outputs;
  size_t label = (size_t)loss->pool.labels[n];
  double other = -INFINITY;
  for (size_t c = 0; c < loss->pool.outputs; c++)
    other = c != label && sums[c] > other ? sums[c] : other;
  return sums[label] - other;
}

/* Find the open rows, which one more member can turn, and count those that are wrong among the others. No model moves a
   margin by more than the reach; a row this close, rounding included, is open. */
static void sort_rows(tutti_ensemble_loss *loss) {
  loss->open_count = loss->wrong = 0;
  for (size_t n = 0; n < loss->pool.rows; n++) {
    double margin = row_margin(loss, n);
    if (fabs(margin) > 1.000001 * loss->reach)
      loss->wrong += margin < 0;
    else
      loss->open[loss->open_count++] = n;
  }
}

static double error_with_one(const tutti_ensemble_loss *loss, size_t model) {
  size_t outputs = loss->pool.outputs, wrong = loss->wrong;
  for (size_t i = 0; i < loss->open_count; i++)
    wrong += row_is_wrong(loss, loss->open[i], loss->pool.predictions[model] + loss->open[i] * outputs);
  return loss->broken[model] ? (double)NAN : (double)wrong / (double)loss->pool.rows;
}

static void error_with(const tutti_ensemble_loss *loss, size_t count, const size_t *models, double *losses) {
  for (size_t j = 0; j < count; j++)
    losses[j] = loss->picks > 0 ? error_with_one(loss, models[j]) : loss->own[models[j]];
}

static void error_add(tutti_ensemble_loss *loss, size_t model) {
  for (size_t i = 0; i < loss->pool.rows * loss->pool.outputs; i++)
    loss->sums[i] += (double)loss->pool.predictions[model][i];
  sort_rows(loss);
}

static enum tutti_status error_begin(tutti_context *context, tutti_ensemble_loss *loss) {
  size_t models = loss->pool.models, rows = loss->pool.rows, values = rows * loss->pool.outputs;
  TUTTI_TRY(context, tutti_alloc(context, rows, loss->pool.outputs * sizeof *loss->sums, &loss->sums));
  TUTTI_TRY(context, tutti_alloc(context, rows, sizeof *loss->open, &loss->open));
  TUTTI_TRY(context, tutti_alloc(context, models, sizeof *loss->own, &loss->own));
  TUTTI_TRY(context, tutti_alloc(context, models, sizeof *loss->broken, &loss->broken));
  sort_rows(loss); /* all are open, for all margins are 0 */
  for (size_t k = 0; k < models; k++) {
    float least = 0, most = 0;
    for (size_t i = 0; i < values; i++) {
      float p = loss->pool.predictions[k][i];
      least = p < least ? p : least;
      most = p > most ? p : most;
      loss->broken[k] |= isnan(p);
    }
    loss->reach = fmax(loss->reach, (double)most - (double)least);
    loss->own[k] = error_with_one(loss, k);
  }
  return TUTTI_OK;
}

const struct ensemble_loss_kind ensemble_loss_error = {error_begin, error_with, error_add, NULL};
