/* calibrator temperature: one number divides the logarithms of all probabilities, p' = softmax(log p / T); the most
   probable class stays. T minimises the NLL of the rows that it is fitted to, and of `unseen_errors` errors.

   Source: Guo et al., "On calibration of modern neural networks" (ICML 2017), section 4.2. Deviations: the logarithm of
   the ensemble's mean probability stands for a network's logit, since an ensemble is calibrated after averaging
   (Rahaman & Thiery, 2021); T is bounded, and an error counts beside those that the rows hold (0: none, as in the
   paper). */
#include <math.h>

#include "plugins/shared/ascent/ascent.h"
#include "scaling/scaling.h"
#include "text.h"

struct temperature_config {
  double most, unseen_errors;
  int64_t least_rows;
};

static const struct tutti_param temperature_params[] = {
    TUTTI_REAL(struct temperature_config, most, "10", 1, 1000,
               "The temperature stays between 1 / most and most, so that few rows cannot make it absurd."),
    UNSEEN_ERRORS(struct temperature_config, unseen_errors),
    TUTTI_INTEGER(struct temperature_config, least_rows, "50", 2, TUTTI_NO_LIMIT,
                  "With fewer rows to fit to, nothing is fitted."),
};

struct temperature {
  const struct temperature_config *config;
  size_t classes;
  double inverse; /* 1 / T */
};

static enum tutti_status calibrator_create_temperature(tutti_context *context, const void *config, const void *setup,
                                                       void **self) {
  struct temperature *temperature;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *temperature, &temperature));
  temperature->config = config;
  temperature->classes = ((const struct tutti_calibrator_setup *)setup)->task->outputs;
  *self = temperature;
  return TUTTI_OK;
}

static void calibrator_destroy_temperature(void *self) { tutti_free(self); }

static size_t calibrator_least_rows_temperature(void *self, size_t outputs) {
  (void)outputs;
  return (size_t)((struct temperature *)self)->config->least_rows;
}

/* What the ascent sees: minus the NLL as a function of log 1/T, in which it has one minimum. */
struct search {
  const struct tutti_combined *combined;
  const int32_t *labels;
  double doubts; /* what they count */
  struct scaling scaling;
  double *room; /* [3][classes] */
};

static enum tutti_status likelihood_of_temperature(void *argument, tutti_context *context, const double *theta,
                                                   double *value, double *gradient) {
  struct search *search = argument;
  size_t classes = search->scaling.classes;
  double inverse = exp(theta[0]), slope = 0, *by_scale = search->room + classes;
  (void)context;
  for (size_t c = 0; c < classes; c++)
    search->scaling.scales[c] = inverse;
  *value = -scaling_loss(&search->scaling, search->combined, search->labels, search->doubts, search->room, by_scale,
                         by_scale + classes);
  for (size_t c = 0; c < classes; c++)
    slope += by_scale[c];
  if (gradient)
    gradient[0] = -slope * inverse;
  return TUTTI_OK;
}

static enum tutti_status calibrator_fit_temperature(void *self, tutti_context *context,
                                                    const struct tutti_combined *combined,
                                                    const struct tutti_targets *targets) {
  enum { EVALUATIONS = 200 };
  enum tutti_status status;
  struct temperature *temperature = self;
  const double most = log(temperature->config->most), bounds[1][2] = {{-most, most}}, start = 0;
  struct search search = {.combined = combined, .labels = targets->labels, .scaling.classes = combined->outputs};
  struct ascent ascent = {
      .context = context, .function = likelihood_of_temperature, .argument = &search, .count = 1, .bounds = bounds};
  TUTTI_TRY(context, scaling_check_labels(context, targets));
  search.doubts = scaling_weight_of_doubts(&search.scaling, combined, temperature->config->unseen_errors);
  TUTTI_TRY_OUT(context, tutti_alloc(context, combined->outputs, sizeof(double), &search.scaling.scales));
  TUTTI_TRY_OUT(context, tutti_alloc(context, combined->outputs, 3 * sizeof(double), &search.room));
  TUTTI_TRY_OUT(context, ascent_init(&ascent));
  TUTTI_TRY_OUT(context, ascent_climb(&ascent, &start, EVALUATIONS));
  temperature->inverse = exp(ascent.best[0]);
out:
  ascent_clear(&ascent);
  tutti_free(search.scaling.scales);
  tutti_free(search.room);
  return status;
}

/* exp(log p / T), relative to the most probable class; no table of scales is needed. */
static enum tutti_status calibrator_apply_temperature(void *self, tutti_context *context,
                                                      const struct tutti_combined *combined, double *out) {
  const struct temperature *temperature = self;
  struct scaling scaling = {.classes = combined->outputs};
  TUTTI_TRY(context, tutti_alloc(context, combined->outputs, sizeof(double), &scaling.scales));
  for (size_t c = 0; c < combined->outputs; c++)
    scaling.scales[c] = temperature->inverse;
  scaling_apply(&scaling, combined, out);
  tutti_free(scaling.scales);
  return TUTTI_OK;
}

static enum tutti_status calibrator_formula_temperature(void *self, tutti_context *context, tutti_formula *formula,
                                                        struct tutti_combined_terms *terms) {
  const struct temperature *temperature = self;
  struct scaling scaling = {.classes = temperature->classes};
  TUTTI_TRY(context, tutti_alloc(context, temperature->classes, sizeof(double), &scaling.scales));
  for (size_t c = 0; c < temperature->classes; c++)
    scaling.scales[c] = temperature->inverse;
  terms->mean = scaling_formula(&scaling, formula, terms->mean);
  tutti_free(scaling.scales);
  return TUTTI_OK;
}

static enum tutti_status calibrator_print_temperature(void *self, tutti_context *context, char **json) {
  return text_print(context, json_pack("{s:f}", "inverse_temperature", ((const struct temperature *)self)->inverse),
                    json);
}

static enum tutti_status calibrator_parse_temperature(void *self, tutti_context *context, const char *json) {
  struct temperature *temperature = self;
  json_t *root;
  TUTTI_TRY(context, text_parse(context, json, &root));
  const json_t *value = json_object_get(root, "inverse_temperature");
  double inverse = json_number_value(value);
  bool right = json_is_number(value) && inverse > 0 && isfinite(inverse);
  json_decref(root);
  if (!right)
    return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "the fit's \"inverse_temperature\": expected a positive number");
  temperature->inverse = inverse;
  return TUTTI_OK;
}

static const struct tutti_calibrator_ops temperature_ops = {
    .size = sizeof temperature_ops,
    .gives = TUTTI_GIVES_PROBABILITIES,
    .fit = calibrator_fit_temperature,
    .print = calibrator_print_temperature,
    .parse = calibrator_parse_temperature,
    .apply = calibrator_apply_temperature,
    .least_rows = calibrator_least_rows_temperature,
    .formula = calibrator_formula_temperature,
};

static const struct tutti_descriptor temperature_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_CALIBRATOR, "temperature"),
    .version = "1.0",
    .summary = "one temperature for all classes",
    .source = "Guo et al., On calibration of modern neural networks, ICML 2017",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(temperature_params, struct temperature_config),
    .create = calibrator_create_temperature,
    .destroy = calibrator_destroy_temperature,
    .ops = &temperature_ops,
};

TUTTI_PLUGIN(temperature_descriptor)
