/* calibrator vector-scaling: each class has a factor and a shift of its logarithm, p' = softmax(w_c log p_c + b_c),
   which minimise the NLL of the rows that they are fitted to, and of `unseen_errors` errors.

   Source: Guo et al., "On calibration of modern neural networks" (ICML 2017), section 4.2. Deviations: logarithms of
   the ensemble's mean probabilities stand for logits; factors and shifts are bounded, and a small penalty draws them to
   1 and 0, without which the shifts are known but for a constant; an error counts beside those that the rows hold (0:
   none, as in the paper). */
#include <math.h>
#include <string.h>

#include "plugins/shared/ascent/ascent.h"
#include "scaling/scaling.h"
#include "text.h"

struct vector_config {
  double most, l2, unseen_errors;
  int64_t rows_per_class;
};

static const struct tutti_param vector_params[] = {
    TUTTI_REAL(struct vector_config, most, "10", 1, 1000,
               "Factors stay between 0 and most, shifts between -most and most."),
    TUTTI_REAL(struct vector_config, l2, "1e-3", 0, TUTTI_NO_LIMIT,
               "Weight of the penalty l2 (sum (w - 1)^2 + sum b^2), beside the mean NLL of a row.", .min_open = true),
    UNSEEN_ERRORS(struct vector_config, unseen_errors),
    TUTTI_INTEGER(struct vector_config, rows_per_class, "20", 2, TUTTI_NO_LIMIT,
                  "With fewer rows to fit to than that times the classes, nothing is fitted."),
};

struct vector {
  const struct vector_config *config;
  struct scaling scaling;
};

static enum tutti_status calibrator_create_vector_scaling(tutti_context *context, const void *config, const void *setup,
                                                          void **self) {
  struct vector *vector;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *vector, &vector));
  vector->config = config;
  vector->scaling.classes = ((const struct tutti_calibrator_setup *)setup)->task->outputs;
  *self = vector;
  return TUTTI_OK;
}

static void release_vector(struct vector *vector) {
  tutti_free(vector->scaling.scales);
  tutti_free(vector->scaling.biases);
  vector->scaling.scales = vector->scaling.biases = NULL;
}

static void calibrator_destroy_vector_scaling(void *self) {
  release_vector(self);
  tutti_free(self);
}

static size_t calibrator_least_rows_vector_scaling(void *self, size_t outputs) {
  return outputs * (size_t)((struct vector *)self)->config->rows_per_class;
}

/* theta is the factors, then the shifts. */
struct search {
  const struct tutti_combined *combined;
  const int32_t *labels;
  double l2, doubts;      /* what these count */
  struct scaling scaling; /* room */
  double *room;           /* [3][classes] */
};

static enum tutti_status likelihood_of_vectors(void *argument, tutti_context *context, const double *theta,
                                               double *value, double *gradient) {
  struct search *search = argument;
  size_t classes = search->scaling.classes;
  double penalty = 0, *slopes = gradient ? gradient : search->room + classes;
  (void)context;
  memcpy(search->scaling.scales, theta, classes * sizeof *theta);
  memcpy(search->scaling.biases, theta + classes, classes * sizeof *theta);
  *value = -scaling_loss(&search->scaling, search->combined, search->labels, search->doubts, search->room, slopes,
                         slopes + classes);
  for (size_t i = 0; i < 2 * classes; i++) {
    double off = theta[i] - (i < classes);
    penalty += off * off;
    slopes[i] = -slopes[i] - 2 * search->l2 * off;
  }
  *value -= search->l2 * penalty;
  return TUTTI_OK;
}

static enum tutti_status calibrator_fit_vector_scaling(void *self, tutti_context *context,
                                                       const struct tutti_combined *combined,
                                                       const struct tutti_targets *targets) {
  enum { EVALUATIONS = 2000 };
  enum tutti_status status;
  struct vector *vector = self;
  size_t classes = combined->outputs;
  struct search search = {
      .combined = combined, .labels = targets->labels, .l2 = vector->config->l2, .scaling.classes = classes};
  struct ascent ascent = {
      .context = context, .function = likelihood_of_vectors, .argument = &search, .count = 2 * classes};
  double(*bounds)[2] = NULL, *start = NULL;
  TUTTI_TRY(context, scaling_check_labels(context, targets));
  search.doubts = scaling_weight_of_doubts(&search.scaling, combined, vector->config->unseen_errors);
  release_vector(vector);
  TUTTI_TRY_OUT(context, tutti_alloc(context, classes, sizeof(double), &search.scaling.scales));
  TUTTI_TRY_OUT(context, tutti_alloc(context, classes, sizeof(double), &search.scaling.biases));
  TUTTI_TRY_OUT(context, tutti_alloc(context, classes, 3 * sizeof(double), &search.room));
  TUTTI_TRY_OUT(context, tutti_alloc(context, 2 * classes, sizeof *bounds, &bounds));
  TUTTI_TRY_OUT(context, tutti_alloc(context, 2 * classes, sizeof *start, &start));
  for (size_t i = 0; i < 2 * classes; i++) {
    start[i] = i < classes;
    bounds[i][0] = i < classes ? 0 : -vector->config->most;
    bounds[i][1] = vector->config->most;
  }
  ascent.bounds = (const double(*)[2])bounds;
  TUTTI_TRY_OUT(context, ascent_init(&ascent));
  TUTTI_TRY_OUT(context, ascent_climb(&ascent, start, EVALUATIONS));
  memcpy(search.scaling.scales, ascent.best, classes * sizeof(double));
  memcpy(search.scaling.biases, ascent.best + classes, classes * sizeof(double));
  vector->scaling = search.scaling;
  search.scaling.scales = search.scaling.biases = NULL;
out:
  ascent_clear(&ascent);
  tutti_free(search.scaling.scales);
  tutti_free(search.scaling.biases);
  tutti_free(search.room);
  tutti_free(bounds);
  tutti_free(start);
  return status;
}

static enum tutti_status calibrator_apply_vector_scaling(void *self, tutti_context *context,
                                                         const struct tutti_combined *combined, double *out) {
  (void)context;
  scaling_apply(&((const struct vector *)self)->scaling, combined, out);
  return TUTTI_OK;
}

static enum tutti_status calibrator_formula_vector_scaling(void *self, tutti_context *context, tutti_formula *formula,
                                                           struct tutti_combined_terms *terms) {
  (void)context;
  terms->mean = scaling_formula(&((const struct vector *)self)->scaling, formula, terms->mean);
  return TUTTI_OK;
}

static enum tutti_status calibrator_print_vector_scaling(void *self, tutti_context *context, char **json) {
  const struct scaling *scaling = &((const struct vector *)self)->scaling;
  return text_print(context,
                    json_pack("{s:o, s:o}", "factors", text_of_numbers(scaling->classes, scaling->scales), "shifts",
                              text_of_numbers(scaling->classes, scaling->biases)),
                    json);
}

static enum tutti_status calibrator_parse_vector_scaling(void *self, tutti_context *context, const char *json) {
  enum { MOST = 1000 }; /* of the parameter */
  enum tutti_status status;
  struct vector *vector = self;
  json_t *root;
  TUTTI_TRY(context, text_parse(context, json, &root));
  release_vector(vector);
  TUTTI_TRY_OUT(context,
                text_numbers(context, root, "factors", 0, MOST, &vector->scaling.classes, &vector->scaling.scales));
  TUTTI_TRY_OUT(context,
                text_numbers(context, root, "shifts", -MOST, MOST, &vector->scaling.classes, &vector->scaling.biases));
out:
  json_decref(root);
  return status;
}

static const struct tutti_calibrator_ops vector_scaling_ops = {
    .size = sizeof vector_scaling_ops,
    .gives = TUTTI_GIVES_PROBABILITIES,
    .fit = calibrator_fit_vector_scaling,
    .print = calibrator_print_vector_scaling,
    .parse = calibrator_parse_vector_scaling,
    .apply = calibrator_apply_vector_scaling,
    .least_rows = calibrator_least_rows_vector_scaling,
    .formula = calibrator_formula_vector_scaling,
};

static const struct tutti_descriptor vector_scaling_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_CALIBRATOR, "vector-scaling"),
    .version = "1.0",
    .summary = "a factor and a shift for each class",
    .source = "Guo et al., On calibration of modern neural networks, ICML 2017",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(vector_params, struct vector_config),
    .create = calibrator_create_vector_scaling,
    .destroy = calibrator_destroy_vector_scaling,
    .ops = &vector_scaling_ops,
};

TUTTI_PLUGIN(vector_scaling_descriptor)
