/* calibrator none: predictions stay as they are. */
#include <string.h>
#include <tutti/plugin.h>

static const char nothing[] = "{}"; /* the fit */

static enum tutti_status calibrator_fit_none(void *self, tutti_context *context, const struct tutti_combined *combined,
                                             const struct tutti_targets *targets) {
  (void)self, (void)context, (void)combined, (void)targets;
  return TUTTI_OK;
}

static enum tutti_status calibrator_apply_none(void *self, tutti_context *context,
                                               const struct tutti_combined *combined, double *out) {
  (void)self, (void)context;
  size_t count = combined->rows * tutti_combined_width(combined->kind, combined->outputs);
  if (count)
    memmove(out, combined->values, count * sizeof *out);
  return TUTTI_OK;
}

static enum tutti_status calibrator_print_none(void *self, tutti_context *context, char **json) {
  (void)self;
  return tutti_strdup(context, nothing, json);
}

static enum tutti_status calibrator_parse_none(void *self, tutti_context *context, const char *json) {
  (void)self;
  if (strcmp(json, nothing) != 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "expected %s, found '%.40s'", nothing, json);
  return TUTTI_OK;
}

static const struct tutti_calibrator_ops none_ops = {
    .size = sizeof none_ops,
    .gives = TUTTI_GIVES_PROBABILITIES | TUTTI_GIVES_MOMENTS,
    .fit = calibrator_fit_none,
    .print = calibrator_print_none,
    .parse = calibrator_parse_none,
    .apply = calibrator_apply_none,
};

static const struct tutti_descriptor none_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_CALIBRATOR, "none"),
    .version = "2.0",
    .summary = "predictions stay as they are",
    .source = "",
    .licence = "Apache-2.0",
    .params = TUTTI_NO_PARAMS,
    .ops = &none_ops,
};

TUTTI_PLUGIN(none_descriptor)
