/* gp-otmann.c - Gaussian process regression over architectures that have distances: Kandasamy, Neiswanger, Schneider,
   Poczos, Xing, "Neural Architecture Search with Bayesian Optimisation and Optimal Transport", NeurIPS 2018, section 4.
   The covariance is alpha exp(-sum_k beta_k d_k) + alpha' exp(-sum_k beta'_k d'_k) of the space's distance measures,
   times a Matern 5/2 or squared exponential correlation of the searched hyperparameters. Distances by optimal transport
   need not give positive semi-definite matrices. Negative eigenvalues are therefore clipped to zero before noise is
   added, and the cross-covariances of candidates are projected on the rest (dgp_posterior.c); with `projection =
   matrix` they are not, as in the published program.

   Deviations:
   - the hyperparameters are the most likely ones within the published program's log-uniform ranges, found by Sobol
     draws and ascent along the likelihood's exact gradient. The program weights thousands of draws and takes turns
     among seven of them; `inference = sampling` averages the acquisition over seven such draws instead;
   - the program's ladder of jitter, which can go on for ever, has no counterpart here: a matrix that is not positive
     definite even with its noise is an error that shows its eigenvalues.
   Hyperparameters are fitted to the observations of the last `fit`, and again after every `refit` further observations.
   Predictions are a function of the sequence of observations alone, bit for bit. */
#include <jansson.h>
#include <string.h>

#include "dgp/dgp_impl.h"
#include "plugins/shared/json.h"

struct gp_otmann_config {
  struct tutti_reals powers, scales, alpha, noise, length_scale;
  struct tutti_integers terms;
  int kernel, projection, inference;
  int64_t draws, evaluations, samples, refit, fit_rows;
};

static const char *const gp_otmann_kernels[] = {"matern52", "rbf", NULL};

/* In the order of enum dgp_inference. */
static const char *const gp_otmann_inferences[] = {"optimum", "optima", "sampling", NULL};
/* In the order of enum dgp_projection. */
static const char *const gp_otmann_projections[] = {"no", "yes", "matrix", NULL};

static const struct tutti_param gp_otmann_params[] = {
    TUTTI_REALS(
        struct gp_otmann_config, powers, "1 1", 0, 2,
        "Terms of the covariance: the space's measures fall into so many groups of equal size, one after another, "
        "and a group's distances are raised to its power. NASBOT's published program squares the second group's: 1 2.",
        .min_open = true),
    TUTTI_INTEGERS(
        struct gp_otmann_config, terms, "", 1, DGP_GROUPS,
        "The groups that have a term, by number from 1 on; empty: all. Of NASBOT's, 1 has the distances and 2 those "
        "divided by mass."),
    TUTTI_REALS(struct gp_otmann_config, scales, "1e-9 1e-3 0.1 100", 0, TUTTI_NO_LIMIT,
                "Ranges of the fitted factors of the distances (beta), least and greatest for each group.",
                .min_open = true),
    TUTTI_REALS(struct gp_otmann_config, alpha, "0.01 100", 0, TUTTI_NO_LIMIT,
                "Range of each term's fitted variance, in variances of the observed values; one number fixes it.",
                .min_open = true),
    TUTTI_REALS(
        struct gp_otmann_config, noise, "0.005 0.2", 0, TUTTI_NO_LIMIT,
        "Range of the fitted noise variance, in variances of the observed values; one number, which may be 0, fixes "
        "it."),
    TUTTI_REALS(
        struct gp_otmann_config, length_scale, "0.05 20", 0, TUTTI_NO_LIMIT,
        "Range of the fitted length scales of searched hyperparameters, where a dimension's whole range is 1; one "
        "number "
        "fixes them.",
        .min_open = true),
    TUTTI_CHOICE(struct gp_otmann_config, kernel, "matern52", gp_otmann_kernels,
                 "Correlation over the searched hyperparameters: Matern with nu = 5/2, or the squared exponential."),
    TUTTI_CHOICE(
        struct gp_otmann_config, projection, "yes", gp_otmann_projections,
        "Clip negative eigenvalues of the observations' covariance, and project candidates on the others; matrix: "
        "clip alone, as the published program does; no: a matrix that its noise does not make positive definite is "
        "an error."),
    TUTTI_CHOICE(
        struct gp_otmann_config, inference, "optimum", gp_otmann_inferences,
        "The most likely hyperparameters; or an even mixture of several: those that the likeliest draws climb to, or "
        "draws taken by their likelihood, over which the acquisition is averaged."),
    TUTTI_INTEGER(struct gp_otmann_config, samples, "7", 1, 1000, "Models of the mixture (inference)."),
    TUTTI_INTEGER(struct gp_otmann_config, draws, "100", 1, 1000000,
                  "Hyperparameters drawn from the ranges; the most likely ones are where the ascent begins."),
    TUTTI_INTEGER(struct gp_otmann_config, evaluations, "50", 0, 1000000,
                  "Likelihoods that the ascent may cost; 0: the best draw is taken as it is."),
    TUTTI_INTEGER(struct gp_otmann_config, refit, "1", 1, TUTTI_NO_LIMIT,
                  "Fit the hyperparameters again after so many observations more."),
    TUTTI_INTEGER(struct gp_otmann_config, fit_rows, "400", 0, TUTTI_NO_LIMIT,
                  "Observations that a fit of the hyperparameters sees at most, a random part of more; 0: all."),
};

struct gp_otmann {
  const struct gp_otmann_config *config;
  uint64_t seed;
  double (*ranges)[2]; /* [dgp_count] */
  size_t base;         /* observations of the last `fit` */
  size_t based;        /* observations that the hyperparameters were fitted to */
  double likelihood;
  struct dgp_data data;
  size_t models;
  struct dgp_posterior *posteriors; /* [models] */
  double *room;                     /* [room_count]: scratch */
  size_t room_count;
};

/* --- life -------------------------------------------------------------------------------------------------------- */

static enum tutti_status range_gp_otmann(tutti_context *context, const char *name, size_t count, const double *values,
                                         double *range) {
  if (count < 1 || count > 2 || values[0] > values[count - 1])
    return TUTTI_FAIL(
        context, TUTTI_ERROR_USAGE,
        "surrogate gp-otmann: %s: a range \"low high\" or one number was expected, %zu numbers%s were found", name,
        count, count == 2 ? " with the greater first" : "");
  range[0] = values[0];
  range[1] = values[count - 1];
  return TUTTI_OK;
}

static enum tutti_status shape_gp_otmann(tutti_context *context, const struct gp_otmann_config *config,
                                         const struct tutti_surrogate_setup *setup, struct dgp_shape *shape) {
  const tutti_space *space = setup->scope ? tutti_scope_space(setup->scope) : NULL;
  const tutti_domain *domain = setup->scope ? tutti_scope_hyperparameters(setup->scope) : NULL;
  *shape = (struct dgp_shape){.groups = config->powers.count,
                              .measures = space ? tutti_space_measures(space) : 0,
                              .width = domain ? tutti_domain_width(domain) : 0,
                              .powers = config->powers.values,
                              .kernel = (enum gp_kernel)config->kernel,
                              .column = gp_column_choose(),
                              .projection = (enum dgp_projection)config->projection};
  if (shape->groups < 1 || shape->groups > DGP_GROUPS)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "surrogate gp-otmann: powers: 1 to %d numbers were expected, %zu found", DGP_GROUPS,
                      shape->groups);
  if (shape->measures % shape->groups != 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "surrogate gp-otmann: powers: %zu groups of equal size were asked for, and space %s gives %zu "
                      "measures",
                      shape->groups, tutti_space_descriptor(space)->name, shape->measures);
  shape->each = shape->measures / shape->groups;
  if (config->scales.count != 2 * shape->groups)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "surrogate gp-otmann: scales: least and greatest factor of each of the %zu groups of powers were "
                      "expected, %zu numbers found",
                      shape->groups, config->scales.count);
  return TUTTI_OK;
}

/* A group without a term has a variance of 0, and no factors to search. */
static enum tutti_status drop_terms_gp_otmann(tutti_context *context, struct gp_otmann *self) {
  const struct tutti_integers *terms = &self->config->terms;
  const struct dgp_shape *shape = &self->data.shape;
  for (size_t i = 0; i < terms->count; i++)
    if ((size_t)terms->values[i] > shape->groups)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                        "surrogate gp-otmann: terms: numbers of the %zu groups of powers were expected, %lld was found",
                        shape->groups, (long long)terms->values[i]);
  for (size_t g = 0; g < shape->groups && terms->count > 0; g++) {
    bool wanted = false;
    for (size_t i = 0; i < terms->count; i++)
      wanted = wanted || (size_t)terms->values[i] == g + 1;
    if (wanted)
      continue;
    self->ranges[g][0] = self->ranges[g][1] = 0;
    for (size_t k = g * shape->each; k < (g + 1) * shape->each; k++)
      self->ranges[dgp_beta(shape) + k][1] = self->ranges[dgp_beta(shape) + k][0];
  }
  return TUTTI_OK;
}

static enum tutti_status ranges_gp_otmann(tutti_context *context, struct gp_otmann *self) {
  const struct gp_otmann_config *config = self->config;
  const struct dgp_shape *shape = &self->data.shape;
  double *noise;
  TUTTI_TRY(context, tutti_alloc(context, dgp_count(shape), sizeof(*self->ranges), &self->ranges));
  for (size_t g = 0; g < shape->groups; g++)
    TUTTI_TRY(context, range_gp_otmann(context, "alpha", config->alpha.count, config->alpha.values, self->ranges[g]));
  for (size_t k = 0; k < shape->measures; k++)
    TUTTI_TRY(context, range_gp_otmann(context, "scales", 2, config->scales.values + 2 * (k / shape->each),
                                       self->ranges[dgp_beta(shape) + k]));
  for (size_t k = 0; k < shape->width; k++)
    TUTTI_TRY(context, range_gp_otmann(context, "length_scale", config->length_scale.count, config->length_scale.values,
                                       self->ranges[dgp_length(shape) + k]));
  TUTTI_TRY(context, drop_terms_gp_otmann(context, self));
  noise = self->ranges[dgp_noise(shape)];
  TUTTI_TRY(context, range_gp_otmann(context, "noise", config->noise.count, config->noise.values, noise));
  if (noise[0] == 0 && noise[1] > 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "surrogate gp-otmann: noise: a range from above 0 was expected, since it is searched in its "
                      "logarithm, and 0 %g was found; give 1e-12 %g, or 0 alone",
                      noise[1], noise[1]);
  return TUTTI_OK;
}

static void surrogate_destroy_gp_otmann(void *instance) {
  struct gp_otmann *self = instance;
  for (size_t m = 0; m < self->models; m++)
    dgp_posterior_clear(&self->posteriors[m]);
  tutti_free(self->posteriors);
  tutti_free(self->room);
  dgp_data_clear(&self->data);
  tutti_free(self->ranges);
  tutti_free(self);
}

static enum tutti_status models_gp_otmann(tutti_context *context, struct gp_otmann *self) {
  size_t models = self->config->inference == DGP_OPTIMUM ? 1 : (size_t)self->config->samples;
  TUTTI_TRY(context, tutti_alloc(context, models, sizeof(*self->posteriors), &self->posteriors));
  for (; self->models < models; self->models++)
    TUTTI_TRY(context, dgp_posterior_init(context, &self->data.shape, &self->posteriors[self->models]));
  return TUTTI_OK;
}

static enum tutti_status surrogate_create_gp_otmann(tutti_context *context, const void *config, const void *setup_,
                                                    void **instance) {
  const struct tutti_surrogate_setup *setup = setup_;
  enum tutti_status status;
  struct gp_otmann *self = NULL;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof(*self), &self));
  self->config = config;
  self->seed = setup->seed;
  self->data.domain = setup->scope ? tutti_scope_hyperparameters(setup->scope) : NULL;
  TUTTI_TRY_OUT(context, shape_gp_otmann(context, config, setup, &self->data.shape));
  TUTTI_TRY_OUT(context, ranges_gp_otmann(context, self));
  TUTTI_TRY_OUT(context, models_gp_otmann(context, self));
  *instance = self;
  return TUTTI_OK;
out:
  surrogate_destroy_gp_otmann(self);
  return status;
}

/* --- fit ---------------------------------------------------------------------------------------------------------- */

static enum tutti_status make_room_gp_otmann(tutti_context *context, struct gp_otmann *self, size_t wanted) {
  if (wanted <= self->room_count)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_realloc(context, 0, wanted, sizeof(double), &self->room));
  self->room_count = wanted;
  return TUTTI_OK;
}

/* Fit the hyperparameters to the first `count` observations. */
static enum tutti_status refit_gp_otmann(struct gp_otmann *self, tutti_context *context, size_t count) {
  struct tutti_random random;
  struct dgp_search search = {.ranges = (const double(*)[2])self->ranges,
                              .draws = (size_t)self->config->draws,
                              .evaluations = (size_t)self->config->evaluations,
                              .rows = (size_t)self->config->fit_rows,
                              .inference = (enum dgp_inference)self->config->inference,
                              .random = &random};
  struct dgp_units units;
  size_t length = dgp_count(&self->data.shape);
  tutti_random_init(&random, self->seed, "gp-otmann draws", count);
  for (size_t m = 0; m < self->models; m++)
    self->posteriors[m].settled = false;
  TUTTI_TRY(context, make_room_gp_otmann(context, self, self->models * length));
  TUTTI_TRY(context, dgp_units_of(context, &self->data, count, &units));
  TUTTI_TRY(context,
            dgp_fit(context, &self->data, &units, count, &search, self->models, self->room, &self->likelihood));
  for (size_t m = 0; m < self->models; m++) {
    self->posteriors[m].units = units;
    memcpy(self->posteriors[m].hyper, self->room + m * length, length * sizeof(double));
  }
  self->based = count;
  return TUTTI_OK;
}

/* Do the work that the observations since the last prediction require. */
static enum tutti_status settle_gp_otmann(struct gp_otmann *self, tutti_context *context) {
  size_t refit = (size_t)self->config->refit, due = self->base + (self->data.count - self->base) / refit * refit;
  if (self->base == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN, "surrogate gp-otmann: fit was expected before a prediction");
  if (self->based != due)
    TUTTI_TRY(context, refit_gp_otmann(self, context, due));
  for (size_t m = 0; m < self->models; m++)
    TUTTI_TRY(context, dgp_posterior_settle(context, &self->data, &self->posteriors[m]));
  return TUTTI_OK;
}

static void surrogate_release_gp_otmann(void *instance) {
  struct gp_otmann *self = instance;
  for (size_t m = 0; m < self->models; m++)
    dgp_posterior_release(&self->posteriors[m]);
  dgp_data_release(&self->data);
}

static enum tutti_status surrogate_add_gp_otmann(void *instance, tutti_context *context,
                                                 const struct tutti_points *points, const double *values,
                                                 const double *noise) {
  struct gp_otmann *self = instance;
  surrogate_release_gp_otmann(self);
  return dgp_data_add(context, &self->data, points, values, noise);
}

static enum tutti_status surrogate_fit_gp_otmann(void *instance, tutti_context *context,
                                                 const struct tutti_points *points, const double *values,
                                                 const double *noise) {
  struct gp_otmann *self = instance;
  surrogate_release_gp_otmann(self);
  dgp_data_forget(&self->data);
  self->base = self->based = 0;
  TUTTI_TRY(context, dgp_data_add(context, &self->data, points, values, noise));
  self->base = points->count;
  return settle_gp_otmann(self, context);
}

/* --- predictions -------------------------------------------------------------------------------------------------- */

static size_t surrogate_components_gp_otmann(void *instance) { return ((const struct gp_otmann *)instance)->models; }

static enum tutti_status surrogate_predict_components_gp_otmann(void *instance, tutti_context *context,
                                                                const struct tutti_points *points, double *mean,
                                                                double *deviation) {
  struct gp_otmann *self = instance;
  TUTTI_TRY(context, settle_gp_otmann(self, context));
  return dgp_posterior_predict(context, &self->data, self->models, self->posteriors, points, mean, deviation);
}

/* The mixture's moments: E = average of means, variance = average of deviations² + (means - E)². */
static enum tutti_status surrogate_predict_gp_otmann(void *instance, tutti_context *context,
                                                     const struct tutti_points *points, double *mean,
                                                     double *deviation) {
  struct gp_otmann *self = instance;
  size_t count = points->count, models = self->models;
  if (models == 1)
    return surrogate_predict_components_gp_otmann(instance, context, points, mean, deviation);
  TUTTI_TRY(context, settle_gp_otmann(self, context)); /* before there is room: fits need some, too */
  TUTTI_TRY(context, make_room_gp_otmann(context, self, 2 * models * count));
  double *means = self->room, *deviations = means + models * count;
  TUTTI_TRY(context, surrogate_predict_components_gp_otmann(instance, context, points, means, deviations));
  for (size_t i = 0; i < count; i++) {
    double sum = 0, squares = 0;
    for (size_t m = 0; m < models; m++)
      sum += means[m * count + i] / (double)models;
    for (size_t m = 0; m < models; m++) {
      double off = means[m * count + i] - sum, s = deviations[m * count + i];
      squares += (s * s + off * off) / (double)models;
    }
    mean[i] = sum;
    deviation[i] = sqrt(squares);
  }
  return TUTTI_OK;
}

static enum tutti_status surrogate_hallucinate_gp_otmann(void *instance, tutti_context *context,
                                                         const struct tutti_points *points) {
  struct gp_otmann *self = instance;
  TUTTI_TRY(context, settle_gp_otmann(self, context));
  enum tutti_status status = dgp_data_suppose(context, &self->data, points);
  for (size_t m = 0; m < self->models && status == TUTTI_OK; m++)
    status = dgp_posterior_suppose(context, &self->data, &self->posteriors[m]);
  if (status != TUTTI_OK)
    surrogate_release_gp_otmann(self);
  return status;
}

static json_t *reals_gp_otmann(size_t count, const double *values) {
  json_t *array = json_array();
  for (size_t i = 0; i < count; i++)
    json_array_append_new(array, json_real(values[i]));
  return array;
}

/* Of the first model; variances in the values' own units. */
static enum tutti_status surrogate_describe_gp_otmann(void *instance, tutti_context *context, char **json) {
  struct gp_otmann *self = instance;
  const struct dgp_shape *shape = &self->data.shape;
  TUTTI_TRY(context, settle_gp_otmann(self, context));
  const struct dgp_posterior *posterior = self->posteriors;
  double unit = posterior->units.scale * posterior->units.scale, alpha[DGP_GROUPS];
  for (size_t g = 0; g < shape->groups; g++)
    alpha[g] = posterior->hyper[g] * unit;
  json_t *object = json_pack("{s:f, s:o, s:o, s:f, s:o, s:f, s:I, s:I, s:I, s:I, s:I}", "median",
                             posterior->units.shift, "alpha", reals_gp_otmann(shape->groups, alpha), "beta",
                             reals_gp_otmann(shape->measures, posterior->hyper + dgp_beta(shape)), "noise",
                             posterior->hyper[dgp_noise(shape)] * unit, "length_scales",
                             reals_gp_otmann(shape->width, posterior->hyper + dgp_length(shape)), "log_likelihood",
                             self->likelihood, "negative_eigenvalues", (json_int_t)posterior->negative, "architectures",
                             (json_int_t)self->data.settled, "observations", (json_int_t)self->data.count, "fitted_to",
                             (json_int_t)self->based, "models", (json_int_t)self->models);
  return shared_json_print(context, object, JSON_REAL_PRECISION(17), "the hyperparameters of surrogate gp-otmann",
                           json);
}

/* --- the plugin --------------------------------------------------------------------------------------------------- */

static const struct tutti_surrogate_ops gp_otmann_ops = {
    .size = sizeof(struct tutti_surrogate_ops),
    .needs = TUTTI_NEEDS_DISTANCES,
    .fit = surrogate_fit_gp_otmann,
    .predict = surrogate_predict_gp_otmann,
    .add = surrogate_add_gp_otmann,
    .hallucinate = surrogate_hallucinate_gp_otmann,
    .release = surrogate_release_gp_otmann,
    .describe = surrogate_describe_gp_otmann,
    .components = surrogate_components_gp_otmann,
    .predict_components = surrogate_predict_components_gp_otmann,
};

static const struct tutti_descriptor gp_otmann_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SURROGATE, "gp-otmann"),
    .version = "1.0",
    .summary = "Gaussian process over distances between architectures",
    .source =
        "Kandasamy et al., Neural Architecture Search with Bayesian Optimisation and Optimal Transport, NeurIPS 2018",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(gp_otmann_params, struct gp_otmann_config),
    .create = surrogate_create_gp_otmann,
    .destroy = surrogate_destroy_gp_otmann,
    .ops = &gp_otmann_ops,
};

TUTTI_PLUGIN(gp_otmann_descriptor)
