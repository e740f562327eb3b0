/* calibrator.c - kind calibrator: checks and defaults around its ops. */
#include "instance_impl.h"

#include <math.h>
#include <tutti/calibrator.h>

struct tutti_calibrator {
  struct tutti_instance instance;
  struct tutti_calibrator_ops ops;
  bool fitted;
};

static enum tutti_status check_task(tutti_context *context, const void *object, const void *setup) {
  const tutti_calibrator *calibrator = object;
  const struct tutti_task *task = ((const struct tutti_calibrator_setup *)setup)->task;
  const char *name = calibrator->instance.descriptor->name;
  if (!task || task->kind == TUTTI_TASK_VALUE)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "calibrator %s: there are no predictions to calibrate", name);
  bool classes = task->kind == TUTTI_TASK_CLASSIFICATION;
  if (!(calibrator->ops.tasks & (classes ? TUTTI_CALIBRATES_CLASSIFICATION : TUTTI_CALIBRATES_REGRESSION)))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "calibrator %s does not serve %s; choose another calibrator", name,
                      classes ? "classification" : "regression");
  return TUTTI_OK;
}

TUTTI_DEFINE_KIND(CALIBRATOR, calibrator, .has_none = true,
                  .required = {TUTTI_REQUIRED_OP(calibrator, fit), TUTTI_REQUIRED_OP(calibrator, apply),
                               TUTTI_REQUIRED_OP(calibrator, print), TUTTI_REQUIRED_OP(calibrator, parse)},
                  .check = check_task)

enum tutti_status tutti_calibrator_fit(tutti_context *context, tutti_calibrator *calibrator,
                                       const struct tutti_predictions *predictions,
                                       const struct tutti_targets *targets) {
  if (predictions->rows == 0 || predictions->rows != targets->rows || predictions->outputs != targets->outputs)
    return TUTTI_FAIL(context, TUTTI_ERROR_INTERNAL,
                      "calibrator %s: predictions of %zu rows with %zu outputs beside targets of %zu with %zu",
                      calibrator->instance.descriptor->name, predictions->rows, predictions->outputs, targets->rows,
                      targets->outputs);
  calibrator->fitted = false;
  TUTTI_CALL(context, calibrator, calibrator->ops.fit(calibrator->instance.self, context, predictions, targets));
  calibrator->fitted = true;
  return TUTTI_OK;
}

static enum tutti_status check_fitted(tutti_context *context, const tutti_calibrator *calibrator) {
  if (calibrator->fitted)
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_INTERNAL, "calibrator %s was not fitted",
                    calibrator->instance.descriptor->name);
}

enum tutti_status tutti_calibrator_apply(tutti_context *context, tutti_calibrator *calibrator,
                                         const struct tutti_predictions *predictions, float *out) {
  bool classes = predictions->kind == TUTTI_TASK_CLASSIFICATION;
  size_t count = predictions->rows * tutti_predictions_width(predictions->kind, predictions->outputs);
  TUTTI_TRY(context, check_fitted(context, calibrator));
  TUTTI_CALL(context, calibrator, calibrator->ops.apply(calibrator->instance.self, context, predictions, out));
  for (size_t i = 0; i < count; i++) {
    if (classes && !(out[i] >= 0 && out[i] <= 1))
      return TUTTI_BREACH(context, &calibrator->instance, "apply gave a probability of %g", (double)out[i]);
    if (!classes && (i % 2 ? out[i] < 0 : !isfinite(out[i])))
      return TUTTI_BREACH(context, &calibrator->instance, "apply gave a %s of %g", i % 2 ? "variance" : "mean",
                          (double)out[i]);
  }
  return TUTTI_OK;
}

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

/* --- quantiles --- */

/* The quantile of the standard normal, by bisection of its distribution function down to the last bit. */
static double normal_quantile(double level) {
  double low = -40, high = 40;
  for (int i = 0; i < 64; i++) {
    double middle = (low + high) / 2;
    if (0.5 * erfc(-middle * M_SQRT1_2) < level)
      low = middle;
    else
      high = middle;
  }
  return (low + high) / 2;
}

static enum tutti_status normal_quantiles(tutti_context *context, tutti_calibrator *calibrator,
                                          const struct tutti_predictions *predictions, size_t count,
                                          const double *levels, double *out) {
  float *moments;
  size_t cells = predictions->rows * predictions->outputs;
  TUTTI_TRY(context, tutti_alloc(context, cells, 2 * sizeof *moments, &moments));
  enum tutti_status status = tutti_calibrator_apply(context, calibrator, predictions, moments);
  for (size_t k = 0; k < count && status == TUTTI_OK; k++) {
    double score = normal_quantile(levels[k]);
    for (size_t i = 0; i < cells; i++)
      out[i * count + k] = (double)moments[2 * i] + score * sqrt((double)moments[2 * i + 1]);
  }
  tutti_free(moments);
  return status;
}

enum tutti_status tutti_calibrator_quantiles(tutti_context *context, tutti_calibrator *calibrator,
                                             const struct tutti_predictions *predictions, size_t count,
                                             const double *levels, double *out) {
  TUTTI_TRY(context, check_fitted(context, calibrator));
  if (predictions->kind != TUTTI_TASK_REGRESSION)
    return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "classes have no quantiles");
  for (size_t k = 0; k < count; k++)
    if (!(levels[k] > (k ? levels[k - 1] : 0) && levels[k] < 1))
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "level %zu is %g, expected an ascending number in (0, 1)", k,
                        levels[k]);
  if (!calibrator->ops.quantiles)
    return normal_quantiles(context, calibrator, predictions, count, levels, out);
  TUTTI_CALL(context, calibrator,
             calibrator->ops.quantiles(calibrator->instance.self, context, predictions, count, levels, out));
  for (size_t i = 0; i < predictions->rows * predictions->outputs * count; i++)
    if (isnan(out[i]) || (i % count > 0 && out[i] < out[i - 1]))
      return TUTTI_BREACH(context, &calibrator->instance, "quantiles gave %g, which does not ascend", out[i]);
  return TUTTI_OK;
}
