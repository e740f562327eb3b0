/* calibrator.c - kind calibrator: checks and defaults around its ops. */
#include "instance_impl.h"

#include "core/base/sized_impl.h"
#include "core/network/formula_impl.h"

#include <math.h>
#include <string.h>
#include <tutti/calibrator.h>

struct tutti_calibrator {
  struct tutti_instance instance;
  struct tutti_calibrator_ops ops;
  bool fitted;
};

static const char *missing_ops(const void *of) {
  const struct tutti_calibrator_ops *ops = of;
  enum { ALL = TUTTI_GIVES_PROBABILITIES | TUTTI_GIVES_MOMENTS | TUTTI_GIVES_INTERVALS };
  bool moments = ops->gives & TUTTI_GIVES_MOMENTS, intervals = ops->gives & TUTTI_GIVES_INTERVALS;
  if (!(ops->gives & ALL) || (moments && intervals))
    return "gives";
  if ((ops->gives & (TUTTI_GIVES_PROBABILITIES | TUTTI_GIVES_MOMENTS)) && !ops->apply)
    return "apply";
  return intervals && !ops->intervals ? "intervals" : NULL;
}

static enum tutti_status check_task(tutti_context *context, const void *object, const void *setup) {
  enum { OF_CLASSES = TUTTI_GIVES_PROBABILITIES, OF_VALUES = TUTTI_GIVES_MOMENTS | TUTTI_GIVES_INTERVALS };
  const tutti_calibrator *calibrator = object;
  const struct tutti_task *task = ((const struct tutti_calibrator_setup *)setup)->task;
  const char *name = calibrator->instance.descriptor->name;
  if (!task || task->kind == TUTTI_TASK_VALUE)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "calibrator %s: there are no predictions to calibrate", name);
  bool classes = task->kind == TUTTI_TASK_CLASSIFICATION;
  if (!(calibrator->ops.gives & (unsigned)(classes ? OF_CLASSES : OF_VALUES)))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "calibrator %s does not serve %s; choose another calibrator", name,
                      tutti_task_name(task->kind));
  return TUTTI_OK;
}

TUTTI_DEFINE_KIND(CALIBRATOR, calibrator, .has_none = true,
                  .required = {TUTTI_REQUIRED_OP(calibrator, fit), TUTTI_REQUIRED_OP(calibrator, print),
                               TUTTI_REQUIRED_OP(calibrator, parse)},
                  .missing = missing_ops, .check = check_task)

size_t tutti_combined_width(enum tutti_task_kind kind, size_t outputs) {
  return kind == TUTTI_TASK_REGRESSION ? TUTTI_COMBINED_PARTS * outputs : outputs;
}

unsigned tutti_calibrator_gives(const tutti_calibrator *calibrator) { return calibrator->ops.gives; }

size_t tutti_calibrator_least_rows(const tutti_calibrator *calibrator, size_t outputs) {
  size_t answer = 1;
  if (calibrator->ops.least_rows)
    TUTTI_ASK(TUTTI_CONTEXT_OF(calibrator), calibrator,
              answer = calibrator->ops.least_rows(calibrator->instance.self, outputs));
  return answer;
}

/* --- fit --- */

/* May this number be among the predictions that a calibrator is fitted to? */
static bool is_fit_for(const struct tutti_combined *combined, size_t index) {
  bool noise = combined->kind == TUTTI_TASK_REGRESSION && index % TUTTI_COMBINED_PARTS == TUTTI_COMBINED_ALEATORIC;
  return isfinite(combined->values[index]) || (noise && isnan(combined->values[index]));
}

/* The error of a fit. That the rows allow none is an answer, told as the plugin says it; other errors name it. */
static enum tutti_status blame_fit(tutti_context *context, const tutti_calibrator *calibrator,
                                   enum tutti_status status) {
  const bool refuses = status == TUTTI_ERROR_NUMERIC || status == TUTTI_ERROR_USAGE;
  if (refuses && tutti_error_status(context) == status)
    return status;
  return tutti_instance_blame(context, &calibrator->instance, status);
}

enum tutti_status tutti_calibrator_fit(tutti_context *context, tutti_calibrator *calibrator,
                                       const struct tutti_combined *combined, const struct tutti_targets *targets) {
  const char *name = calibrator->instance.descriptor->name;
  size_t width = tutti_combined_width(combined->kind, combined->outputs);
  calibrator->fitted = false;
  if (combined->rows == 0 || combined->rows != targets->rows || combined->outputs != targets->outputs)
    return TUTTI_FAIL(context, TUTTI_ERROR_INTERNAL,
                      "calibrator %s: predictions of %zu rows with %zu outputs beside targets of %zu with %zu", name,
                      combined->rows, combined->outputs, targets->rows, targets->outputs);
  for (size_t i = 0; i < combined->rows * width; i++)
    if (!is_fit_for(combined, i))
      return TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC, "the ensemble's prediction for row %zu is not finite", i / width);
  enum tutti_status status;
  TUTTI_ASK(context, calibrator, status = calibrator->ops.fit(calibrator->instance.self, context, combined, targets));
  if (status != TUTTI_OK)
    return tutti_error_trace(context, blame_fit(context, calibrator, status), __FILE__, __LINE__, __func__);
  calibrator->fitted = true;
  return TUTTI_OK;
}

static enum tutti_status check_fitted(tutti_context *context, const tutti_calibrator *calibrator) {
  if (calibrator->fitted)
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_INTERNAL, "calibrator %s was not fitted",
                    calibrator->instance.descriptor->name);
}

/* --- probabilities and moments --- */

static bool has_nan(size_t count, const double *values) {
  for (size_t i = 0; i < count; i++)
    if (isnan(values[i]))
      return true;
  return false;
}

/* What is wrong with a calibrated number; NULL: nothing. A variance of 0 stays 0. */
static const char *wrong_with(enum tutti_task_kind kind, size_t index, double before, double after) {
  if (kind == TUTTI_TASK_CLASSIFICATION)
    return after >= 0 && after <= 1 ? NULL : "probability";
  if (index % TUTTI_COMBINED_PARTS == TUTTI_COMBINED_MEAN)
    return isfinite(after) ? NULL : "mean";
  return after >= 0 && (before > 0 || after <= 0) ? NULL : "variance";
}

/* Of a sum of probabilities. */
static const double most_rounding = 1e-6;

/* Take over what was applied, row by row; a row with a NaN stays as it was. */
static enum tutti_status take_rows(tutti_context *context, const tutti_calibrator *calibrator,
                                   const struct tutti_combined *combined, size_t width, double *applied) {
  for (size_t row = 0; row < combined->rows; row++) {
    const double *before = combined->values + row * width;
    double *after = applied + row * width;
    double sum = 0;
    if (has_nan(width, before))
      memcpy(after, before, width * sizeof *after);
    for (size_t i = 0; i < width && !isnan(before[i]); i++) {
      const char *wrong = wrong_with(combined->kind, i, before[i], after[i]);
      sum += after[i];
      if (wrong)
        return TUTTI_BREACH(context, &calibrator->instance, "apply gave a %s of %g instead of %g", wrong, after[i],
                            before[i]);
    }
    if (combined->kind == TUTTI_TASK_CLASSIFICATION && !has_nan(width, before) && fabs(sum - 1) > most_rounding)
      return TUTTI_BREACH(context, &calibrator->instance, "apply gave probabilities whose sum is %g instead of 1", sum);
  }
  return TUTTI_OK;
}

static enum tutti_status call_apply(tutti_context *context, tutti_calibrator *calibrator,
                                    const struct tutti_combined *combined, double *out) {
  TUTTI_CALL(context, calibrator, calibrator->ops.apply(calibrator->instance.self, context, combined, out));
  return TUTTI_OK;
}

enum tutti_status tutti_calibrator_apply(tutti_context *context, tutti_calibrator *calibrator,
                                         const struct tutti_combined *combined, double *out) {
  enum tutti_status status;
  size_t width = tutti_combined_width(combined->kind, combined->outputs), bytes = width * sizeof(double);
  double *applied = NULL;
  TUTTI_TRY(context, check_fitted(context, calibrator));
  if (combined->rows == 0)
    return TUTTI_OK;
  if (!(calibrator->ops.gives & (TUTTI_GIVES_PROBABILITIES | TUTTI_GIVES_MOMENTS))) {
    memmove(out, combined->values, combined->rows * bytes);
    return TUTTI_OK;
  }
  TUTTI_TRY_OUT(context, tutti_alloc(context, combined->rows, bytes, &applied));
  TUTTI_TRY_OUT(context, call_apply(context, calibrator, combined, applied));
  TUTTI_TRY_OUT(context, take_rows(context, calibrator, combined, width, applied));
  memcpy(out, applied, combined->rows * bytes);
out:
  tutti_free(applied);
  return status;
}

/* --- intervals --- */

enum tutti_status tutti_calibrator_intervals(tutti_context *context, tutti_calibrator *calibrator,
                                             const struct tutti_combined *combined, double level, double *out) {
  TUTTI_TRY(context, check_fitted(context, calibrator));
  if (combined->kind != TUTTI_TASK_REGRESSION || !(calibrator->ops.gives & TUTTI_GIVES_INTERVALS))
    return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "calibrator %s gives no intervals",
                      calibrator->instance.descriptor->name);
  if (!(level > 0 && level < 1))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "the level of an interval is to be inside (0, 1), found %g", level);
  TUTTI_CALL(context, calibrator, calibrator->ops.intervals(calibrator->instance.self, context, combined, level, out));
  for (size_t i = 0; i < combined->rows * combined->outputs; i++) {
    const double *given = combined->values + i * TUTTI_COMBINED_PARTS, mean = given[TUTTI_COMBINED_MEAN];
    if (has_nan(TUTTI_COMBINED_PARTS, given) && (isnan(mean) || isnan(out[2 * i]) || isnan(out[2 * i + 1])))
      out[2 * i] = out[2 * i + 1] = (double)NAN;
    else if (!(out[2 * i] <= mean && mean <= out[2 * i + 1]))
      return TUTTI_BREACH(context, &calibrator->instance, "intervals gave %g to %g, which does not hold the mean %g",
                          out[2 * i], out[2 * i + 1], mean);
  }
  return TUTTI_OK;
}

/* --- as a formula --- */

/* Are the terms there that the calibrator has to give, and is each as wide as the predictions? */
static bool are_answers(const tutti_formula *formula, const struct tutti_combined_terms *terms, size_t outputs,
                        bool intervals) {
  const tutti_term given[] = {terms->mean, terms->aleatoric, terms->epistemic, terms->lower, terms->upper};
  const bool required[] = {true, false, false, intervals, intervals};
  bool right = true;
  for (size_t i = 0; i < sizeof given / sizeof *given; i++)
    right = right && (tutti_formula_answers(formula, given[i], outputs) || (given[i] == TUTTI_NO_TERM && !required[i]));
  return right;
}

enum tutti_status tutti_calibrator_formula(tutti_context *context, tutti_calibrator *calibrator, tutti_formula *formula,
                                           struct tutti_combined_terms *terms) {
  bool intervals = calibrator->ops.gives & TUTTI_GIVES_INTERVALS;
  TUTTI_TRY(context, check_fitted(context, calibrator));
  TUTTI_TRY(context, TUTTI_CHECK_SIZE(context, struct tutti_combined_terms, terms, upper));
  const struct tutti_formula_term *mean = tutti_formula_at(formula, terms->mean);
  size_t outputs = mean ? mean->columns : 0;
  if (!calibrator->ops.formula)
    return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "calibrator %s cannot write down what it computes",
                      calibrator->instance.descriptor->name);
  terms->lower = terms->upper = TUTTI_NO_TERM;
  TUTTI_CALL(context, calibrator, calibrator->ops.formula(calibrator->instance.self, context, formula, terms));
  if (tutti_formula_status(formula) != TUTTI_OK)
    return tutti_error_trace(context,
                             tutti_instance_blame(context, &calibrator->instance, tutti_formula_status(formula)),
                             __FILE__, __LINE__, __func__);
  if (!are_answers(formula, terms, outputs, intervals))
    return TUTTI_BREACH(context, &calibrator->instance,
                        "formula left out terms that it has to give, or gave some that have not %zu columns", outputs);
  return TUTTI_OK;
}

/* --- text --- */

enum tutti_status tutti_calibrator_print(tutti_context *context, tutti_calibrator *calibrator, char **json) {
  *json = NULL;
  TUTTI_TRY(context, check_fitted(context, calibrator));
  TUTTI_CALL(context, calibrator, calibrator->ops.print(calibrator->instance.self, context, json));
  return *json ? TUTTI_OK : TUTTI_BREACH(context, &calibrator->instance, "print gave nothing");
}

enum tutti_status tutti_calibrator_parse(tutti_context *context, tutti_calibrator *calibrator, const char *json) {
  calibrator->fitted = false;
  TUTTI_CALL(context, calibrator, calibrator->ops.parse(calibrator->instance.self, context, json));
  calibrator->fitted = true;
  return TUTTI_OK;
}
