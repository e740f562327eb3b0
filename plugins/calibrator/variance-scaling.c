/* calibrator variance-scaling: multiplies variances by a factor; means stay. One factor for the whole variance of a
   target, or one for its aleatoric and one for its epistemic part, of the least NLL on the rows that they are fitted
   to.

   Source: Laves et al., "Well-calibrated regression uncertainty in medical imaging with deep learning" (MIDL 2020): the
   one factor is c^2 = mean z^2, in closed form, of Gaussians with the ensemble's moments (`likelihood = moments`).
   Deviations:
   by default the likelihood is that of the mixture of the members' Gaussians, which is what an ensemble predicts, and
   the factor is found by L-BFGS in its logarithm; the factor is bounded; apart, the two are those of the moments, by
   L-BFGS in their logarithms. */
#include <float.h>
#include <math.h>
#include <tutti/metrics.h>

#include "plugins/shared/ascent/ascent.h"
#include "text.h"

enum { LIKELIHOOD_MIXTURE, LIKELIHOOD_MOMENTS };
static const char *const likelihoods[] = {"mixture", "moments", NULL};

struct variance_config {
  bool apart;
  int likelihood;
  double most;
  int64_t least_rows;
};

static const struct tutti_param variance_params[] = {
    TUTTI_BOOL(struct variance_config, apart, "no",
               "A factor for the aleatoric and one for the epistemic variance; no: the same for both."),
    TUTTI_CHOICE(
        struct variance_config, likelihood, "mixture", likelihoods,
        "Whose likelihood the one factor makes largest: that of the mixture of the members' Gaussians, which "
        "is what an ensemble predicts, or that of one Gaussian with its moments (Laves et al., 2020), to which a "
        "member of little weight and large variance may add most. With apart = yes: of moments."),
    TUTTI_REAL(struct variance_config, most, "10", 1, 1000,
               "Standard deviations are multiplied by 1 / most at least, and by most at most."),
    TUTTI_INTEGER(struct variance_config, least_rows, "20", 1, TUTTI_NO_LIMIT,
                  "With fewer rows to fit to, nothing is fitted."),
};

struct variance {
  const struct variance_config *config;
  size_t outputs;
  double *aleatoric, *epistemic; /* [outputs]: factors of the variances */
};

static enum tutti_status calibrator_create_variance_scaling(tutti_context *context, const void *config,
                                                            const void *setup, void **self) {
  struct variance *variance;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *variance, &variance));
  variance->config = config;
  variance->outputs = ((const struct tutti_calibrator_setup *)setup)->task->outputs;
  *self = variance;
  return TUTTI_OK;
}

static void release_variance(struct variance *variance) {
  tutti_free(variance->aleatoric);
  tutti_free(variance->epistemic);
  variance->aleatoric = variance->epistemic = NULL;
}

static void calibrator_destroy_variance_scaling(void *self) {
  release_variance(self);
  tutti_free(self);
}

static size_t calibrator_least_rows_variance_scaling(void *self, size_t outputs) {
  (void)outputs;
  return (size_t)((struct variance *)self)->config->least_rows;
}

/* One output of the rows that are fitted to. */
struct fitted_rows {
  const struct tutti_combined *combined;
  const double *targets;
  size_t output;
};

static const double *moments_at(const struct fitted_rows *rows, size_t row) {
  return rows->combined->values + (row * rows->combined->outputs + rows->output) * TUTTI_COMBINED_PARTS;
}

static double error_at(const struct fitted_rows *rows, size_t row) {
  return rows->targets[row * rows->combined->outputs + rows->output] - moments_at(rows, row)[TUTTI_COMBINED_MEAN];
}

/* The factor with the least NLL: the mean of squared errors in units of the variance. */
static double one_factor(const struct fitted_rows *rows, double most) {
  double sum = 0;
  for (size_t r = 0; r < rows->combined->rows; r++) {
    const double *moments = moments_at(rows, r);
    double error = error_at(rows, r), total = moments[TUTTI_COMBINED_ALEATORIC] + moments[TUTTI_COMBINED_EPISTEMIC];
    sum += error * error / total;
  }
  return fmin(fmax(sum / (double)rows->combined->rows, 1 / (most * most)), most * most);
}

/* The logarithm of a member's share of the mixture's density at a value. */
static double log_share(const struct tutti_mixture *mixture, size_t member, double at) {
  return log(mixture->weights[member]) - tutti_gaussian_nll(mixture->means[member], mixture->variances[member], at);
}

/* -log density of a mixture that is drawn apart and widened by the deviation's factor c, for a value: that of the
   plain mixture at mean + error / c, plus log c; *slope by the logarithm of c^2. */
static double scaled_nll(const struct tutti_mixture *mixture, double mean, double error, double factor, double *slope) {
  const double at = mean + error / sqrt(factor);
  double largest = -INFINITY, sum = 0, pull = 0; /* pull: slope of the log-density at that point, times the sum */
  for (size_t k = 0; k < mixture->members; k++)
    largest = fmax(largest, log_share(mixture, k, at));
  for (size_t k = 0; k < mixture->members; k++) {
    const double share = exp(log_share(mixture, k, at) - largest);
    sum += share;
    pull += share * (mixture->means[k] - at) / fmax(mixture->variances[k], (double)FLT_MIN);
  }
  *slope = 0.5 * (1 + pull / sum * (at - mean));
  return 0.5 * log(factor) - largest - log(sum);
}

/* Minus the mean NLL of the mixtures; theta is the logarithm of the factor. */
static enum tutti_status likelihood_of_factor(void *argument, tutti_context *context, const double *theta,
                                              double *value, double *gradient) {
  const struct fitted_rows *rows = argument;
  const double count = (double)rows->combined->rows, factor = exp(*theta);
  double sum = 0, slopes = 0, slope;
  (void)context;
  for (size_t r = 0; r < rows->combined->rows; r++) {
    const struct tutti_mixture *mixture = &rows->combined->mixtures[r * rows->combined->outputs + rows->output];
    sum += scaled_nll(mixture, moments_at(rows, r)[TUTTI_COMBINED_MEAN], error_at(rows, r), factor, &slope);
    slopes += slope;
  }
  *value = -sum / count;
  if (gradient)
    *gradient = -slopes / count;
  return TUTTI_OK;
}

/* Minus the mean NLL; theta is the logarithms of both factors. */
static enum tutti_status likelihood_of_factors(void *argument, tutti_context *context, const double *theta,
                                               double *value, double *gradient) {
  const struct fitted_rows *rows = argument;
  double count = (double)rows->combined->rows, factors[2] = {exp(theta[0]), exp(theta[1])}, slopes[2] = {0, 0};
  (void)context;
  *value = 0;
  for (size_t r = 0; r < rows->combined->rows; r++) {
    const double *moments = moments_at(rows, r);
    double mean = moments[TUTTI_COMBINED_MEAN], error = error_at(rows, r);
    double parts[2] = {factors[0] * moments[TUTTI_COMBINED_ALEATORIC], factors[1] * moments[TUTTI_COMBINED_EPISTEMIC]};
    double total = parts[0] + parts[1], slope = 0.5 / total * (1 - error * error / total);
    *value -= tutti_gaussian_nll(mean, total, mean + error) / count;
    for (size_t k = 0; k < 2; k++)
      slopes[k] -= slope * parts[k] / count;
  }
  for (size_t k = 0; gradient && k < 2; k++)
    gradient[k] = slopes[k];
  return TUTTI_OK;
}

/* The factor of the largest likelihood of mixtures. It may have several maxima: one is looked for near the plain
   mixture, one near the factor of the moments. */
static enum tutti_status mixture_factor(tutti_context *context, struct fitted_rows *rows, double most, double *factor) {
  enum { EVALUATIONS = 200 };
  enum tutti_status status;
  const double bound = 2 * log(most), bounds[1][2] = {{-bound, bound}};
  const double starts[2] = {0, log(one_factor(rows, most))};
  struct ascent ascent = {
      .context = context, .function = likelihood_of_factor, .argument = rows, .count = 1, .bounds = bounds};
  TUTTI_TRY_OUT(context, ascent_init(&ascent));
  for (size_t i = 0; i < 2; i++)
    TUTTI_TRY_OUT(context, ascent_climb(&ascent, &starts[i], EVALUATIONS));
  *factor = exp(ascent.best[0]);
out:
  ascent_clear(&ascent);
  return status;
}

static enum tutti_status two_factors(tutti_context *context, struct fitted_rows *rows, double most, double *aleatoric,
                                     double *epistemic) {
  enum { EVALUATIONS = 500 };
  enum tutti_status status;
  const double bound = 2 * log(most), bounds[2][2] = {{-bound, bound}, {-bound, bound}};
  const double begin = log(one_factor(rows, most)), start[2] = {begin, begin};
  struct ascent ascent = {
      .context = context, .function = likelihood_of_factors, .argument = rows, .count = 2, .bounds = bounds};
  TUTTI_TRY_OUT(context, ascent_init(&ascent));
  TUTTI_TRY_OUT(context, ascent_climb(&ascent, start, EVALUATIONS));
  *aleatoric = exp(ascent.best[0]);
  *epistemic = exp(ascent.best[1]);
out:
  ascent_clear(&ascent);
  return status;
}

static enum tutti_status check_variances(tutti_context *context, const struct tutti_combined *combined) {
  for (size_t i = 0; i < combined->rows * combined->outputs; i++) {
    const double *moments = combined->values + i * TUTTI_COMBINED_PARTS;
    double total = moments[TUTTI_COMBINED_ALEATORIC] + moments[TUTTI_COMBINED_EPISTEMIC];
    if (isnan(total))
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                        "the members give no variance (head.kind = linear), so that there is none to scale");
    if (!(total > 0))
      return TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC, "the variance of row %zu is %g, which no factor widens",
                        i / combined->outputs, total);
  }
  return TUTTI_OK;
}

static enum tutti_status calibrator_fit_variance_scaling(void *self, tutti_context *context,
                                                         const struct tutti_combined *combined,
                                                         const struct tutti_targets *targets) {
  struct variance *variance = self;
  double most = variance->config->most;
  TUTTI_TRY(context, check_variances(context, combined));
  release_variance(variance);
  TUTTI_TRY(context, tutti_alloc(context, combined->outputs, sizeof(double), &variance->aleatoric));
  TUTTI_TRY(context, tutti_alloc(context, combined->outputs, sizeof(double), &variance->epistemic));
  for (size_t o = 0; o < combined->outputs; o++) {
    struct fitted_rows rows = {combined, targets->values, o};
    double *aleatoric = &variance->aleatoric[o], *epistemic = &variance->epistemic[o];
    *aleatoric = one_factor(&rows, most);
    if (variance->config->apart)
      TUTTI_TRY(context, two_factors(context, &rows, most, aleatoric, epistemic));
    else if (combined->mixtures && variance->config->likelihood == LIKELIHOOD_MIXTURE)
      TUTTI_TRY(context, mixture_factor(context, &rows, most, aleatoric));
    if (!variance->config->apart)
      *epistemic = *aleatoric;
  }
  return TUTTI_OK;
}

static enum tutti_status calibrator_apply_variance_scaling(void *self, tutti_context *context,
                                                           const struct tutti_combined *combined, double *out) {
  const struct variance *variance = self;
  (void)context;
  for (size_t i = 0; i < combined->rows * combined->outputs; i++) {
    const double *moments = combined->values + i * TUTTI_COMBINED_PARTS;
    double *scaled = out + i * TUTTI_COMBINED_PARTS;
    scaled[TUTTI_COMBINED_MEAN] = moments[TUTTI_COMBINED_MEAN];
    scaled[TUTTI_COMBINED_ALEATORIC] = variance->aleatoric[i % combined->outputs] * moments[TUTTI_COMBINED_ALEATORIC];
    scaled[TUTTI_COMBINED_EPISTEMIC] = variance->epistemic[i % combined->outputs] * moments[TUTTI_COMBINED_EPISTEMIC];
  }
  return TUTTI_OK;
}

static enum tutti_status calibrator_formula_variance_scaling(void *self, tutti_context *context, tutti_formula *formula,
                                                             struct tutti_combined_terms *terms) {
  const struct variance *variance = self;
  (void)context;
  tutti_term aleatoric = tutti_formula_constant(formula, 1, variance->outputs, variance->aleatoric);
  tutti_term epistemic = tutti_formula_constant(formula, 1, variance->outputs, variance->epistemic);
  terms->aleatoric = TUTTI_FORMULA(formula, TUTTI_FORMULA_MULTIPLY, terms->aleatoric, aleatoric);
  terms->epistemic = TUTTI_FORMULA(formula, TUTTI_FORMULA_MULTIPLY, terms->epistemic, epistemic);
  return TUTTI_OK;
}

static enum tutti_status calibrator_print_variance_scaling(void *self, tutti_context *context, char **json) {
  const struct variance *variance = self;
  return text_print(context,
                    json_pack("{s:o, s:o}", "aleatoric_factors",
                              text_of_numbers(variance->outputs, variance->aleatoric), "epistemic_factors",
                              text_of_numbers(variance->outputs, variance->epistemic)),
                    json);
}

static enum tutti_status calibrator_parse_variance_scaling(void *self, tutti_context *context, const char *json) {
  enum { MOST = 1000000 }; /* of the parameter, squared */
  enum tutti_status status;
  struct variance *variance = self;
  json_t *root;
  TUTTI_TRY(context, text_parse(context, json, &root));
  release_variance(variance);
  TUTTI_TRY_OUT(context,
                text_numbers(context, root, "aleatoric_factors", 0, MOST, &variance->outputs, &variance->aleatoric));
  TUTTI_TRY_OUT(context,
                text_numbers(context, root, "epistemic_factors", 0, MOST, &variance->outputs, &variance->epistemic));
out:
  json_decref(root);
  return status;
}

static const struct tutti_calibrator_ops variance_scaling_ops = {
    .size = sizeof variance_scaling_ops,
    .gives = TUTTI_GIVES_MOMENTS,
    .fit = calibrator_fit_variance_scaling,
    .print = calibrator_print_variance_scaling,
    .parse = calibrator_parse_variance_scaling,
    .apply = calibrator_apply_variance_scaling,
    .least_rows = calibrator_least_rows_variance_scaling,
    .formula = calibrator_formula_variance_scaling,
};

static const struct tutti_descriptor variance_scaling_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_CALIBRATOR, "variance-scaling"),
    .version = "1.0",
    .summary = "a factor for the variances of each target",
    .source = "Laves et al., Well-calibrated regression uncertainty in medical imaging with deep learning, MIDL 2020",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(variance_params, struct variance_config),
    .create = calibrator_create_variance_scaling,
    .destroy = calibrator_destroy_variance_scaling,
    .ops = &variance_scaling_ops,
};

TUTTI_PLUGIN(variance_scaling_descriptor)
