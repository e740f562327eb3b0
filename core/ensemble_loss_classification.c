/* ensemble_loss_classification.c - running losses of ensembles of classifiers that count all classes: error, Brier score.
   NLL: ensemble_loss_class_nll.c. */
#include <math.h>

#include "ensemble_loss_impl.h"
#include "metrics_impl.h"

static enum tutti_status classes_begin(tutti_context *context, tutti_ensemble_loss *loss) {
  return tutti_alloc(context, loss->pool.rows, loss->pool.outputs * sizeof *loss->sums, &loss->sums);
}

static void classes_add(tutti_ensemble_loss *loss, size_t model) {
  for (size_t i = 0; i < loss->pool.rows * loss->pool.outputs; i++)
    loss->sums[i] += (double)loss->pool.predictions[model][i];
}

/* 1 if the summed probabilities are not largest at the label (lowest class on ties), NaN if one is NaN. */
static double row_error(size_t classes, const double *sums, const float *added, size_t label) {
  size_t best = 0;
  double largest = -INFINITY;
  for (size_t c = 0; c < classes; c++) {
    double sum = sums[c] + (double)added[c];
    if (isnan(sum))
      return NAN;
    if (sum > largest) {
      largest = sum;
      best = c;
    }
  }
  return best != label;
}

static double row_brier(size_t classes, const double *sums, const float *added, size_t label, double scale) {
  double brier = 0;
  for (size_t c = 0; c < classes; c++) {
    double difference = (sums[c] + (double)added[c]) * scale - (c == label);
    brier += difference * difference;
  }
  return brier;
}

static double classes_loss(const tutti_ensemble_loss *loss, size_t model) {
  size_t classes = loss->pool.outputs;
  bool brier = loss->options.loss == TUTTI_LOSS_BRIER;
  double scale = 1 / (double)(loss->picks + 1), sum = 0;
  for (size_t n = 0; n < loss->pool.rows; n++) {
    const double *sums = loss->sums + n * classes;
    const float *added = loss->pool.predictions[model] + n * classes;
    size_t label = (size_t)loss->pool.targets.labels[n];
    sum += brier ? row_brier(classes, sums, added, label, scale) : row_error(classes, sums, added, label);
  }
  return sum / (double)loss->pool.rows;
}

static void classes_with(const tutti_ensemble_loss *loss, size_t count, const size_t *models, double *losses) {
  for (size_t j = 0; j < count; j++)
    losses[j] = classes_loss(loss, models[j]);
}

const struct ensemble_loss_kind ensemble_loss_classes = {classes_begin, classes_with, classes_add, NULL};
