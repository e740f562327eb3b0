/* calibrator by-task: hands everything to another calibrator, one for classes and one for values, so that a recipe need
   not know which its table has. */
#include <tutti/plugin.h>

struct by_task_config {
  const char *of_classes, *of_values;
};

static const struct tutti_param by_task_params[] = {
    TUTTI_SUBPLUGIN(struct by_task_config, of_classes, "temperature", TUTTI_KIND_CALIBRATOR,
                    "Calibrator of classes; it has to give probabilities."),
    TUTTI_SUBPLUGIN(struct by_task_config, of_values, "variance-scaling", TUTTI_KIND_CALIBRATOR,
                    "Calibrator of values; it has to give means and variances."),
};

static void calibrator_destroy_by_task(void *self) { tutti_calibrator_destroy(self); }

static enum tutti_status calibrator_create_by_task(tutti_context *context, const void *config_, const void *setup_,
                                                   void **self) {
  const struct tutti_calibrator_setup *setup = setup_;
  bool classes = setup->task->kind == TUTTI_TASK_CLASSIFICATION;
  const char *section = classes ? "of_classes" : "of_values";
  tutti_calibrator *calibrator;
  (void)config_;
  TUTTI_TRY(context, tutti_calibrator_create(context, setup->host, section, setup, &calibrator));
  if (!(tutti_calibrator_gives(calibrator) & (classes ? TUTTI_GIVES_PROBABILITIES : TUTTI_GIVES_MOMENTS))) {
    enum tutti_status status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                                          "[calibrator] %s: calibrator %s gives no %s; choose another, or name it in "
                                          "[calibrator] plugin alone",
                                          section, tutti_calibrator_descriptor(calibrator)->name,
                                          classes ? "probabilities" : "means and variances");
    tutti_calibrator_destroy(calibrator);
    return status;
  }
  *self = calibrator;
  return TUTTI_OK;
}

static enum tutti_status calibrator_fit_by_task(void *self, tutti_context *context,
                                                const struct tutti_combined *combined,
                                                const struct tutti_targets *targets) {
  return tutti_calibrator_fit(context, self, combined, targets);
}

static enum tutti_status calibrator_apply_by_task(void *self, tutti_context *context,
                                                  const struct tutti_combined *combined, double *out) {
  return tutti_calibrator_apply(context, self, combined, out);
}

static enum tutti_status calibrator_print_by_task(void *self, tutti_context *context, char **json) {
  return tutti_calibrator_print(context, self, json);
}

static enum tutti_status calibrator_parse_by_task(void *self, tutti_context *context, const char *json) {
  return tutti_calibrator_parse(context, self, json);
}

static size_t calibrator_least_rows_by_task(void *self, size_t outputs) {
  return tutti_calibrator_least_rows(self, outputs);
}

static enum tutti_status calibrator_formula_by_task(void *self, tutti_context *context, tutti_formula *formula,
                                                    struct tutti_combined_terms *terms) {
  return tutti_calibrator_formula(context, self, formula, terms);
}

static const struct tutti_calibrator_ops by_task_ops = {
    .size = sizeof by_task_ops,
    .gives = TUTTI_GIVES_PROBABILITIES | TUTTI_GIVES_MOMENTS,
    .fit = calibrator_fit_by_task,
    .print = calibrator_print_by_task,
    .parse = calibrator_parse_by_task,
    .apply = calibrator_apply_by_task,
    .least_rows = calibrator_least_rows_by_task,
    .formula = calibrator_formula_by_task,
};

static const struct tutti_descriptor by_task_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_CALIBRATOR, "by-task"),
    .version = "1.0",
    .summary = "one calibrator for classes, another for values, as the task is",
    .source = "Tutti",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(by_task_params, struct by_task_config),
    .create = calibrator_create_by_task,
    .destroy = calibrator_destroy_by_task,
    .ops = &by_task_ops,
};

TUTTI_PLUGIN(by_task_descriptor)
