/* metrics.c - losses of one model's predictions, and their parts for classification. */
#include "metrics_impl.h"

#include "core/base/sized_impl.h"

#include <math.h>

size_t tutti_predictions_width(enum tutti_task_kind kind, size_t outputs) {
  return kind == TUTTI_TASK_REGRESSION ? 2 * outputs : outputs;
}

const char *const *tutti_loss_names(void) {
  static const char *const names[TUTTI_LOSS_COUNT + 1] = {
      [TUTTI_LOSS_NLL] = "nll", [TUTTI_LOSS_ERROR] = "error", [TUTTI_LOSS_BRIER] = "brier",
      [TUTTI_LOSS_MSE] = "mse", [TUTTI_LOSS_RMSE] = "rmse",   [TUTTI_LOSS_VALUE] = "value",
  };
  return names;
}

bool tutti_loss_applies(enum tutti_loss loss, enum tutti_task_kind kind) {
  switch (loss) {
  case TUTTI_LOSS_NLL:
    return kind != TUTTI_TASK_VALUE;
  case TUTTI_LOSS_ERROR:
  case TUTTI_LOSS_BRIER:
    return kind == TUTTI_TASK_CLASSIFICATION;
  case TUTTI_LOSS_MSE:
  case TUTTI_LOSS_RMSE:
    return kind == TUTTI_TASK_REGRESSION;
  case TUTTI_LOSS_VALUE:
    return kind == TUTTI_TASK_VALUE;
  case TUTTI_LOSS_COUNT:
    break;
  }
  return false;
}

size_t tutti_label_of(size_t classes, const double *probabilities) {
  return metrics_label_double(classes, probabilities);
}

double tutti_probability_nll(double p) { return -log(metrics_floor(p)); }

double tutti_entropy(size_t classes, const double *probabilities) {
  double sum = 0;
  for (size_t c = 0; c < classes; c++)
    if (probabilities[c] != 0)
      sum -= probabilities[c] * log(probabilities[c]);
  return sum;
}

static double class_loss(enum tutti_loss loss, size_t classes, const float *row, int32_t label) {
  if (loss == TUTTI_LOSS_NLL)
    return tutti_probability_nll((double)row[label]);
  if (loss == TUTTI_LOSS_BRIER)
    return metrics_brier_float(classes, row, (size_t)label);
  size_t chosen = metrics_label_float(classes, row);
  return chosen == classes ? NAN : chosen != (size_t)label;
}

/* The likelihood of a row is that of all its outputs together, so their NLLs are added; squared errors are averaged. */
static double value_loss(enum tutti_loss loss, size_t outputs, const float *row, const double *values) {
  double sum = 0;
  for (size_t o = 0; o < outputs; o++) {
    double mean = (double)row[2 * o], variance = (double)row[2 * o + 1];
    double error = values[o] - mean;
    sum += loss == TUTTI_LOSS_NLL ? tutti_gaussian_nll(mean, variance, values[o]) : error * error / (double)outputs;
  }
  return sum;
}

bool tutti_row_losses(enum tutti_loss loss, const struct tutti_predictions *predictions,
                      const struct tutti_targets *targets, double *losses) {
  size_t rows = predictions->rows, outputs = predictions->outputs;
  size_t width = tutti_predictions_width(predictions->kind, outputs);
  bool classes = predictions->kind == TUTTI_TASK_CLASSIFICATION;
  if (!tutti_loss_applies(loss, predictions->kind) || loss == TUTTI_LOSS_VALUE || targets->kind != predictions->kind ||
      targets->rows != rows || targets->outputs != outputs ||
      !(classes ? (const void *)targets->labels : (const void *)targets->values))
    return false;
  for (size_t n = 0; n < rows; n++) {
    const float *row = predictions->values + n * width;
    losses[n] = classes ? class_loss(loss, outputs, row, targets->labels[n])
                        : value_loss(loss, outputs, row, targets->values + n * outputs);
  }
  return true;
}

double tutti_loss_of(enum tutti_loss loss, const struct tutti_predictions *predictions,
                     const struct tutti_targets *targets) {
  enum { BLOCK = 256 };
  size_t rows = predictions->rows, outputs = predictions->outputs;
  size_t width = tutti_predictions_width(predictions->kind, outputs);
  double losses[BLOCK], sum = 0;
  if (targets->rows != rows)
    return NAN;
  for (size_t first = 0; first < rows; first += BLOCK) {
    size_t count = rows - first < BLOCK ? rows - first : BLOCK;
    struct tutti_predictions some;
    struct tutti_targets theirs;
    TUTTI_TAKE(&some, predictions);
    TUTTI_TAKE(&theirs, targets);
    some.rows = theirs.rows = count;
    some.values += first * width;
    if (theirs.values)
      theirs.values += first * outputs;
    if (theirs.labels)
      theirs.labels += first;
    if (!tutti_row_losses(loss, &some, &theirs, losses))
      return NAN;
    for (size_t n = 0; n < count; n++)
      sum += losses[n];
  }
  double mean = sum / (double)rows; /* NaN without rows */
  return loss == TUTTI_LOSS_RMSE ? sqrt(mean) : mean;
}
