/* losses.c - the losses: how each is computed for a row, and the running sums for an ensemble's. */
#include <math.h>
#include <string.h>

#include <tutti/sized.h>
#include "ensemble_loss_impl.h"
#include "metrics_impl.h"

static double nll_of_class(size_t classes, const float *row, size_t label) {
  (void)classes;
  return tutti_probability_nll((double)row[label]);
}

static double error_of_class(size_t classes, const float *row, size_t label) {
  size_t chosen = metrics_label_float(classes, row);
  return chosen == classes ? (double)NAN : chosen != label;
}

static double brier_of_class(size_t classes, const float *row, size_t label) {
  return metrics_brier_float(classes, row, label);
}

/* The likelihood of a row is that of all its outputs together, so their NLLs are added; squared errors are averaged. */
static double nll_of_values(size_t outputs, const float *row, const double *values) {
  double sum = 0;
  for (size_t o = 0; o < outputs; o++)
    sum += tutti_gaussian_nll((double)row[2 * o], (double)row[2 * o + 1], values[o]);
  return sum;
}

static double square_of_values(size_t outputs, const float *row, const double *values) {
  double sum = 0;
  for (size_t o = 0; o < outputs; o++) {
    double error = values[o] - (double)row[2 * o];
    sum += error * error / (double)outputs;
  }
  return sum;
}

/* All about a loss except its number and its name (metrics.h). */
static const struct loss {
  /* The loss of a row, from probabilities [classes] and label, or from moments [outputs][2] and values [outputs]. NULL:
     not defined. */
  double (*of_class)(size_t classes, const float *row, size_t label);
  double (*of_values)(size_t outputs, const float *row, const double *values);
  bool without_data; /* the backend gives it */
  bool variance;     /* for regression: not defined for heads that give none */
  bool root;         /* it is the root of the mean over rows */
  /* Running sums for ensembles of classifiers, and for ensembles of regressors by enum tutti_density. */
  const struct ensemble_loss_kind *class_sums, *sums[2];
} table[TUTTI_LOSS_COUNT] = {
    [TUTTI_LOSS_NLL] = {.of_class = nll_of_class,
                        .of_values = nll_of_values,
                        .variance = true,
                        .class_sums = &ensemble_loss_class_nll,
                        .sums = {&ensemble_loss_mixture, &ensemble_loss_moments}},
    [TUTTI_LOSS_ERROR] = {.of_class = error_of_class, .class_sums = &ensemble_loss_error},
    [TUTTI_LOSS_BRIER] = {.of_class = brier_of_class, .class_sums = &ensemble_loss_brier},
    [TUTTI_LOSS_MSE] = {.of_values = square_of_values, .sums = {&ensemble_loss_squares, &ensemble_loss_squares}},
    [TUTTI_LOSS_RMSE] = {.of_values = square_of_values,
                         .root = true,
                         .sums = {&ensemble_loss_squares, &ensemble_loss_squares}},
    [TUTTI_LOSS_VALUE] = {.without_data = true},
};

const char *const *tutti_loss_names(void) {
#define NAME(constant, number, name) [number] = name,
  static const char *const names[TUTTI_LOSS_COUNT + 1] = {TUTTI_ENSEMBLE_LOSSES(NAME) TUTTI_OTHER_LOSSES(NAME)};
  return names;
}

bool tutti_loss_parse(const char *name, enum tutti_loss *loss) {
  for (int i = 0; i < TUTTI_LOSS_COUNT; i++)
    if (strcmp(tutti_loss_names()[i], name) == 0) {
      *loss = (enum tutti_loss)i;
      return true;
    }
  return false;
}

bool tutti_loss_applies(enum tutti_loss loss, enum tutti_task_kind kind) {
  if ((unsigned)loss >= TUTTI_LOSS_COUNT)
    return false;
  return kind == TUTTI_TASK_VALUE            ? table[loss].without_data
         : kind == TUTTI_TASK_CLASSIFICATION ? table[loss].of_class != NULL
                                             : table[loss].of_values != NULL;
}

bool tutti_loss_fits(enum tutti_loss loss, const struct tutti_task *task) {
  return tutti_loss_applies(loss, task->kind) && !(table[loss].variance && task->head == TUTTI_OP_HEAD_LINEAR);
}

enum tutti_loss tutti_loss_natural(const struct tutti_task *task) {
  if (task->kind == TUTTI_TASK_VALUE)
    return TUTTI_LOSS_VALUE;
  return tutti_loss_fits(TUTTI_LOSS_NLL, task) ? TUTTI_LOSS_NLL : TUTTI_LOSS_MSE;
}

const struct ensemble_loss_kind *loss_sums(const struct tutti_ensemble_loss_options *options,
                                           enum tutti_task_kind kind) {
  const struct loss *loss = &table[options->loss];
  return kind == TUTTI_TASK_CLASSIFICATION ? loss->class_sums : loss->sums[options->density != TUTTI_DENSITY_MIXTURE];
}

double loss_of_mean(enum tutti_loss loss, double mean) { return table[loss].root ? sqrt(mean) : mean; }

bool tutti_row_losses(enum tutti_loss loss, const struct tutti_predictions *predictions,
                      const struct tutti_targets *targets, double *losses) {
  size_t rows = predictions->rows, outputs = predictions->outputs;
  size_t width = tutti_predictions_width(predictions->kind, outputs);
  bool classes = predictions->kind == TUTTI_TASK_CLASSIFICATION;
  if (!tutti_loss_applies(loss, predictions->kind) || predictions->kind == TUTTI_TASK_VALUE ||
      targets->kind != predictions->kind || targets->rows != rows || targets->outputs != outputs ||
      !(classes ? (const void *)targets->labels : (const void *)targets->values))
    return false;
  for (size_t n = 0; n < rows; n++) {
    const float *row = predictions->values + n * width;
    losses[n] = classes ? table[loss].of_class(outputs, row, (size_t)targets->labels[n])
                        : table[loss].of_values(outputs, row, targets->values + n * outputs);
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
  return loss_of_mean(loss, sum / (double)rows); /* NaN without rows */
}
