/* scaling.c - probabilities scaled in their logarithms. */
#include "scaling.h"

#include <float.h>
#include <math.h>
#include <tutti/metrics.h>

static double logit_of(double probability) {
  return log(probability < (double)FLT_MIN ? (double)FLT_MIN : probability);
}

/* One row: out[classes], the scaled probabilities. */
static void scale_row(const struct scaling *scaling, const double *row, double *out) {
  double most = -HUGE_VAL, sum = 0;
  for (size_t c = 0; c < scaling->classes; c++) {
    out[c] = scaling->scales[c] * logit_of(row[c]) + (scaling->biases ? scaling->biases[c] : 0);
    most = fmax(most, out[c]);
  }
  for (size_t c = 0; c < scaling->classes; c++)
    sum += out[c] = exp(out[c] - most);
  for (size_t c = 0; c < scaling->classes; c++)
    out[c] /= sum;
}

void scaling_apply(const struct scaling *scaling, const struct tutti_combined *combined, double *out) {
  for (size_t r = 0; r < combined->rows; r++)
    scale_row(scaling, combined->values + r * scaling->classes, out + r * scaling->classes);
}

tutti_term scaling_formula(const struct scaling *scaling, tutti_formula *formula, tutti_term probabilities) {
  tutti_term least = tutti_formula_number(formula, (double)FLT_MIN);
  tutti_term x = TUTTI_FORMULA(formula, TUTTI_FORMULA_MOST, probabilities, least);
  x = TUTTI_FORMULA(formula, TUTTI_FORMULA_LOG, x);
  tutti_term scales = tutti_formula_constant(formula, 1, scaling->classes, scaling->scales);
  x = TUTTI_FORMULA(formula, TUTTI_FORMULA_MULTIPLY, x, scales);
  if (scaling->biases) {
    tutti_term biases = tutti_formula_constant(formula, 1, scaling->classes, scaling->biases);
    x = TUTTI_FORMULA(formula, TUTTI_FORMULA_ADD, x, biases);
  }
  tutti_term most = TUTTI_FORMULA(formula, TUTTI_FORMULA_LARGEST, x);
  x = TUTTI_FORMULA(formula, TUTTI_FORMULA_EXP, TUTTI_FORMULA(formula, TUTTI_FORMULA_SUBTRACT, x, most));
  return TUTTI_FORMULA(formula, TUTTI_FORMULA_DIVIDE, x, TUTTI_FORMULA(formula, TUTTI_FORMULA_SUM, x));
}

/* What the most probable class leaves to the others. */
static double doubt_of(const struct scaling *scaling, const double *row) {
  double sum = 0;
  size_t top = tutti_label_of(scaling->classes, row);
  for (size_t c = 0; c < scaling->classes; c++)
    sum += c == top ? 0 : row[c];
  return sum;
}

double scaling_weight_of_doubts(const struct scaling *scaling, const struct tutti_combined *combined, double errors) {
  double sum = 0;
  for (size_t r = 0; r < combined->rows; r++)
    sum += doubt_of(scaling, combined->values + r * scaling->classes);
  return sum > 0 ? fmin(errors / sum, 1) : 0;
}

/* How much a class counts as the right one in a row: 1 if it is the label, and, unless it is the most probable one, its
   share of the errors that were not seen. */
static double weight_of(const double *row, size_t class, size_t label, size_t top, double doubts) {
  return (class == label) + (class == top ? 0 : doubts * row[class]);
}

double scaling_loss(const struct scaling *scaling, const struct tutti_combined *combined, const int32_t *labels,
                    double doubts, double *room, double *by_scale, double *by_bias) {
  size_t classes = scaling->classes;
  double *scaled = room, loss = 0, rows = 0;
  for (size_t c = 0; c < classes; c++)
    by_scale[c] = by_bias[c] = 0;
  for (size_t r = 0; r < combined->rows; r++) {
    const double *row = combined->values + r * classes;
    const size_t label = (size_t)labels[r], top = tutti_label_of(classes, row);
    const double weight = 1 + doubts * doubt_of(scaling, row);
    scale_row(scaling, row, scaled);
    for (size_t c = 0; c < classes; c++) {
      double share = weight_of(row, c, label, top, doubts), slope = weight * scaled[c] - share;
      loss += share > 0 ? share * tutti_probability_nll(scaled[c]) : 0;
      by_scale[c] += slope * logit_of(row[c]);
      by_bias[c] += slope;
    }
    rows += weight;
  }
  for (size_t c = 0; c < classes; c++)
    by_scale[c] /= rows, by_bias[c] /= rows;
  return loss / rows;
}

enum tutti_status scaling_check_labels(tutti_context *context, const struct tutti_targets *targets) {
  for (size_t r = 1; r < targets->rows; r++)
    if (targets->labels[r] != targets->labels[0])
      return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC, "all %zu rows to calibrate on are of one class", targets->rows);
}
