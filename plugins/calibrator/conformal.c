/* calibrator conformal: split conformal intervals. The scores of n rows that no member was trained on are their
   absolute errors, or these in units of the predicted deviation. An interval reaches as far as the score of rank
   ceil((n + 1) level): if these rows and a new one are exchangeable, it holds the new target with that probability at
   least, whatever the ensemble is. Where that rank is beyond n, it is infinite: nothing smaller would be sure.

   Source: Lei et al., "Distribution-free predictive inference for regression" (JASA 2018), algorithm 2 and
   section 5.2. */
#include <float.h>
#include <math.h>

#include "text.h"

struct conformal_config {
  bool normalise;
  int64_t least_rows;
};

static const struct tutti_param conformal_params[] = {
    TUTTI_BOOL(struct conformal_config, normalise, "yes",
               "Errors count in units of the row's predicted standard deviation, so that intervals are wide where the "
               "ensemble is unsure; no: all rows of a target have intervals of one width."),
    TUTTI_INTEGER(struct conformal_config, least_rows, "10", 1, TUTTI_NO_LIMIT,
                  "With fewer rows to fit to, nothing is fitted. n rows give finite intervals up to the level n / (n + "
                  "1): 19 up to 0.95."),
};

struct conformal {
  const struct conformal_config *config;
  size_t outputs, rows;
  double *scores; /* [outputs][rows], ascending */
  bool normalise; /* as the fit is */
};

static enum tutti_status calibrator_create_conformal(tutti_context *context, const void *config, const void *setup,
                                                     void **self) {
  struct conformal *conformal;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *conformal, &conformal));
  conformal->config = config;
  conformal->outputs = ((const struct tutti_calibrator_setup *)setup)->task->outputs;
  *self = conformal;
  return TUTTI_OK;
}

static void calibrator_destroy_conformal(void *self) {
  tutti_free(((struct conformal *)self)->scores);
  tutti_free(self);
}

static size_t calibrator_least_rows_conformal(void *self, size_t outputs) {
  (void)outputs;
  return (size_t)((struct conformal *)self)->config->least_rows;
}

/* What an error of 1 counts as at these moments. */
static double unit_of(const double *moments, bool normalise) {
  double total = moments[TUTTI_COMBINED_ALEATORIC] + moments[TUTTI_COMBINED_EPISTEMIC];
  return normalise ? sqrt(total < (double)FLT_MIN ? (double)FLT_MIN : total) : 1;
}

static enum tutti_status calibrator_fit_conformal(void *self, tutti_context *context,
                                                  const struct tutti_combined *combined,
                                                  const struct tutti_targets *targets) {
  struct conformal *conformal = self;
  size_t rows = combined->rows, outputs = combined->outputs;
  tutti_free(conformal->scores);
  conformal->scores = NULL;
  conformal->normalise = conformal->config->normalise;
  conformal->rows = rows;
  TUTTI_TRY(context, tutti_alloc(context, outputs, rows * sizeof *conformal->scores, &conformal->scores));
  for (size_t o = 0; o < outputs; o++) {
    double *scores = conformal->scores + o * rows;
    for (size_t r = 0; r < rows; r++) {
      const double *moments = combined->values + (r * outputs + o) * TUTTI_COMBINED_PARTS;
      double error = fabs(targets->values[r * outputs + o] - moments[TUTTI_COMBINED_MEAN]);
      scores[r] = error / unit_of(moments, conformal->normalise);
      if (isnan(scores[r]))
        return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                          "the members give no variance (head.kind = linear) to measure errors by; set "
                          "calibrator.normalise = no");
    }
    tutti_sort_numbers(rows, scores);
  }
  return TUTTI_OK;
}

/* The score that an interval of this level reaches to. A level such as 0.95 is no binary fraction: without the slack,
   its product with n + 1 could be a rounding above a whole number, and the rank one too high. */
static double reach(const double *scores, size_t rows, double level) {
  const double slack = 1e-9;
  double rank = ceil((double)(rows + 1) * level - slack);
  if (rank > (double)rows)
    return HUGE_VAL;
  return scores[rank < 1 ? 0 : (size_t)rank - 1];
}

static enum tutti_status calibrator_intervals_conformal(void *self, tutti_context *context,
                                                        const struct tutti_combined *combined, double level,
                                                        double *out) {
  const struct conformal *conformal = self;
  (void)context;
  for (size_t o = 0; o < combined->outputs; o++) {
    double score = reach(conformal->scores + o * conformal->rows, conformal->rows, level);
    for (size_t r = 0; r < combined->rows; r++) {
      size_t cell = r * combined->outputs + o;
      const double *moments = combined->values + cell * TUTTI_COMBINED_PARTS;
      double half = score * unit_of(moments, conformal->normalise);
      out[2 * cell] = moments[TUTTI_COMBINED_MEAN] - half;
      out[2 * cell + 1] = moments[TUTTI_COMBINED_MEAN] + half;
    }
  }
  return TUTTI_OK;
}

static enum tutti_status calibrator_formula_conformal(void *self, tutti_context *context, tutti_formula *formula,
                                                      struct tutti_combined_terms *terms) {
  const struct conformal *conformal = self;
  double *scores;
  TUTTI_TRY(context, tutti_alloc(context, conformal->outputs, sizeof *scores, &scores));
  for (size_t o = 0; o < conformal->outputs; o++)
    scores[o] = reach(conformal->scores + o * conformal->rows, conformal->rows, terms->level);
  tutti_term half = tutti_formula_constant(formula, 1, conformal->outputs, scores);
  tutti_free(scores);
  if (conformal->normalise) { /* as unit_of */
    tutti_term total = TUTTI_FORMULA(formula, TUTTI_FORMULA_ADD, terms->aleatoric, terms->epistemic);
    tutti_term least = tutti_formula_number(formula, (double)FLT_MIN);
    tutti_term unit =
        TUTTI_FORMULA(formula, TUTTI_FORMULA_SQRT, TUTTI_FORMULA(formula, TUTTI_FORMULA_MOST, total, least));
    half = TUTTI_FORMULA(formula, TUTTI_FORMULA_MULTIPLY, half, unit);
  }
  terms->lower = TUTTI_FORMULA(formula, TUTTI_FORMULA_SUBTRACT, terms->mean, half);
  terms->upper = TUTTI_FORMULA(formula, TUTTI_FORMULA_ADD, terms->mean, half);
  return TUTTI_OK;
}

static enum tutti_status calibrator_print_conformal(void *self, tutti_context *context, char **json) {
  const struct conformal *conformal = self;
  json_t *scores = json_array();
  for (size_t o = 0; o < conformal->outputs; o++)
    json_array_append_new(scores, text_of_numbers(conformal->rows, conformal->scores + o * conformal->rows));
  return text_print(context, json_pack("{s:b, s:o}", "normalised", conformal->normalise, "scores", scores), json);
}

/* One output's scores from {"scores": [...]} of the fit. */
static enum tutti_status parse_scores(tutti_context *context, const json_t *lists, size_t output, size_t *rows,
                                      double **scores) {
  json_t *list = json_pack("{s:O}", "scores", json_array_get(lists, output));
  enum tutti_status status = text_numbers(context, list, "scores", 0, DBL_MAX, rows, scores);
  json_decref(list);
  for (size_t i = 1; status == TUTTI_OK && i < *rows; i++)
    if ((*scores)[i] < (*scores)[i - 1])
      return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "the fit's \"scores\": expected ascending numbers");
  return status;
}

static enum tutti_status calibrator_parse_conformal(void *self, tutti_context *context, const char *json) {
  enum tutti_status status;
  struct conformal *conformal = self;
  size_t rows = 0;
  double *scores = NULL, *all = NULL;
  json_t *root;
  TUTTI_TRY(context, text_parse(context, json, &root));
  const json_t *lists = json_object_get(root, "scores"), *normalised = json_object_get(root, "normalised");
  if (!json_is_boolean(normalised) || json_array_size(lists) != conformal->outputs)
    TUTTI_TRY_OUT(context, TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT,
                                      "expected \"normalised\", and \"scores\" of %zu targets", conformal->outputs));
  for (size_t o = 0; o < conformal->outputs; o++) {
    TUTTI_TRY_OUT(context, parse_scores(context, lists, o, &rows, &scores));
    if (!all)
      TUTTI_TRY_OUT(context, tutti_alloc(context, conformal->outputs, rows * sizeof *all, &all));
    for (size_t r = 0; r < rows; r++)
      all[o * rows + r] = scores[r];
    tutti_free(scores);
    scores = NULL;
  }
  tutti_free(conformal->scores);
  conformal->scores = all;
  all = NULL;
  conformal->rows = rows;
  conformal->normalise = json_is_true(normalised);
out:
  tutti_free(scores);
  tutti_free(all);
  json_decref(root);
  return status;
}

static const struct tutti_calibrator_ops conformal_ops = {
    .size = sizeof conformal_ops,
    .gives = TUTTI_GIVES_INTERVALS,
    .fit = calibrator_fit_conformal,
    .print = calibrator_print_conformal,
    .parse = calibrator_parse_conformal,
    .intervals = calibrator_intervals_conformal,
    .least_rows = calibrator_least_rows_conformal,
    .formula = calibrator_formula_conformal,
};

static const struct tutti_descriptor conformal_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_CALIBRATOR, "conformal"),
    .version = "1.0",
    .summary = "intervals that cover what they say, by the errors on rows kept apart",
    .source = "Lei et al., Distribution-free predictive inference for regression, JASA 2018",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(conformal_params, struct conformal_config),
    .create = calibrator_create_conformal,
    .destroy = calibrator_destroy_conformal,
    .ops = &conformal_ops,
};

TUTTI_PLUGIN(conformal_descriptor)
