/* predictions.c - what a model's predictions are made of, and what cannot be among them. */
#include <float.h>
#include <math.h>
#include <tutti/predictions.h>

size_t tutti_predictions_width(enum tutti_task_kind kind, size_t outputs) {
  return kind == TUTTI_TASK_REGRESSION ? 2 * outputs : outputs;
}

size_t tutti_epistemic_width(enum tutti_task_kind kind, size_t outputs) {
  return kind == TUTTI_TASK_REGRESSION ? outputs : 1;
}

/* Probabilities of a row sum to one, and a part is at most the whole, but for rounding. */
static const double most_rounding = 1e-3;

static const char *fault_of_classes(size_t classes, const float *row) {
  double sum = 0;
  for (size_t k = 0; k < classes; k++) {
    if (!isfinite(row[k]))
      return "are not finite";
    if (row[k] < 0)
      return "have a negative probability";
    sum += row[k];
  }
  return fabs(sum - 1) > most_rounding ? "have probabilities that do not sum to one" : NULL;
}

/* The mean and variance of a target; a variance may be absent (NaN). */
static const char *fault_of_target(const float *moments) {
  if (!isfinite(moments[0]) || isinf(moments[1]))
    return "are not finite";
  return moments[1] < 0 ? "have a negative variance" : NULL;
}

const char *tutti_predictions_fault(enum tutti_task_kind kind, size_t rows, size_t outputs, const float *values) {
  size_t width = tutti_predictions_width(kind, outputs);
  const char *fault = NULL;
  for (size_t r = 0; r < rows && !fault; r++) {
    if (kind == TUTTI_TASK_CLASSIFICATION)
      fault = fault_of_classes(outputs, values + r * width);
    for (size_t o = 0; o < outputs && kind == TUTTI_TASK_REGRESSION && !fault; o++)
      fault = fault_of_target(values + r * width + 2 * o);
  }
  return fault;
}

/* What there is of uncertainty, of which parts[i] is one: a variance, or the entropy of a row. Without a variance, what
   of it is noise is unknown, and the part may have any size. */
static double whole_of(enum tutti_task_kind kind, size_t outputs, const float *values, size_t i) {
  double entropy = 0;
  if (kind == TUTTI_TASK_REGRESSION)
    return isnan(values[2 * i + 1]) ? FLT_MAX : (double)values[2 * i + 1];
  for (size_t c = 0; c < outputs; c++) {
    double p = (double)values[i * outputs + c];
    entropy -= p > 0 ? p * log(p) : 0;
  }
  return entropy;
}

const char *tutti_parts_fault(enum tutti_task_kind kind, size_t rows, size_t outputs, const float *values,
                              const float *parts) {
  size_t count = rows * tutti_epistemic_width(kind, outputs);
  double more = kind == TUTTI_TASK_REGRESSION ? 0 : most_rounding;
  for (size_t i = 0; i < count; i++) {
    double part = (double)parts[i], whole = whole_of(kind, outputs, values, i);
    if (!(part >= 0 && part <= whole * (1 + most_rounding) + more))
      return "have a part of their uncertainty, the model's own, that is not between 0 and the whole";
  }
  return NULL;
}
