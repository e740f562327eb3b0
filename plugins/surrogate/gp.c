/* gp.c - Gaussian process regression: Matern 5/2 or squared exponential kernel, one length scale per dimension or one
   for all, constant mean, and a fitted noise on top of the known noise of each observation. Lacoste, Larochelle,
   Laviolette, Marchand, "Sequential Model-Based Ensemble Optimization", UAI 2014, sections 2 and 6; Rasmussen &
   Williams, "Gaussian Processes for Machine Learning", MIT Press 2006, chapters 2 and 5.

   Differences from spearmint, which that paper's experiments use: the likelihood is climbed from several starts for a
   few steps, and from the best of these to the end, not from one; values are standardised, so that the ranges of
   amplitude and noise mean the same for every problem; jitter is added only when needed, and is bounded. Parameters:
   `growth` = 0 fits again after every observation, as the paper does.

   Hyperparameters are fitted to the observations of the last `fit`, and again on the schedule of `refit` and `growth`;
   the work is done when a prediction is asked for. Predictions are a function of the sequence of observations alone,
   bit for bit. They depend neither on how the observations were grouped into calls nor on when predictions were made in
   between. */
#include <float.h>
#include <jansson.h>
#include <stdio.h>

#include "plugins/shared/gp/gp_impl.h"
#include "plugins/shared/json.h"

struct gp_config {
  int kernel, mean, inference;
  bool ard;
  struct tutti_reals amplitude, length_scale, noise;
  int64_t looks, starts, evaluations, fit_rows, samples, burn_in, refit;
  double growth;
};

static const char *const gp_kernels[] = {"matern52", "rbf", NULL};
static const char *const gp_means[] = {"sample", "fitted", NULL};
static const char *const gp_inferences[] = {"likelihood", "sampling", NULL};
enum { GP_INFERENCE_LIKELIHOOD, GP_INFERENCE_SAMPLING };

static const struct tutti_param gp_params[] = {
    TUTTI_CHOICE(struct gp_config, kernel, "matern52", gp_kernels,
                 "Correlation of values by distance: Matern with nu = 5/2, or the squared exponential."),
    TUTTI_BOOL(struct gp_config, ard, "yes", "One length scale for each dimension; no: one for all."),
    TUTTI_CHOICE(struct gp_config, mean, "sample", gp_means,
                 "The constant mean: of the observed values, or the most likely one."),
    TUTTI_REALS(
        struct gp_config, amplitude, "1e-4 1e4", 0, TUTTI_NO_LIMIT,
        "Range of the fitted variance of the function, in variances of the observed values; one number fixes it.",
        .min_open = true),
    TUTTI_REALS(struct gp_config, length_scale, "0.01 100", 0, TUTTI_NO_LIMIT,
                "Range of the fitted length scales, where a dimension's whole range is 1; one number fixes them.",
                .min_open = true),
    TUTTI_REALS(struct gp_config, noise, "1e-8 1", 0, TUTTI_NO_LIMIT,
                "Range of the fitted noise variance, in variances of the observed values; one number, which may be 0, "
                "fixes it."),
    TUTTI_CHOICE(
        struct gp_config, inference, "likelihood", gp_inferences,
        "Hyperparameters: the most likely ones, or draws from their posterior, over which acquisitions are averaged; "
        "length scales are then 2 at most."),
    TUTTI_INTEGER(
        struct gp_config, looks, "128", 1, 1000000,
        "Points of which the likelihood is looked at before it is ascended: amplitude 1, length scales 1, noise "
        "1e-3, then Sobol points of the logarithms over all ranges."),
    TUTTI_INTEGER(
        struct gp_config, starts, "4", 1, 1000,
        "The likeliest of them, from which the likelihood is ascended; with many observations on a part of them, "
        "and from the best of what is found on all."),
    TUTTI_INTEGER(struct gp_config, evaluations, "200", 1, 1000000, "Likelihoods that an ascent may cost."),
    TUTTI_INTEGER(
        struct gp_config, fit_rows, "2000", 0, TUTTI_NO_LIMIT,
        "Observations whose likelihood the ascents see at most, a random part of more; 0: all. Predictions have all."),
    TUTTI_INTEGER(struct gp_config, samples, "10", 1, 10000, "Hyperparameters that are drawn (inference = sampling)."),
    TUTTI_INTEGER(struct gp_config, burn_in, "100", 0, 1000000, "Draws before them that are thrown away."),
    TUTTI_INTEGER(
        struct gp_config, refit, "1", 1, TUTTI_NO_LIMIT,
        "Fit the hyperparameters again after so many observations more; in between the Cholesky factor grows by "
        "rows."),
    TUTTI_REAL(struct gp_config, growth, "0.02", 0, 1e6,
               "And not before the observations have grown by this share: 0.1 fits again at 10 of 100, 100 of 1000."),
};

struct gp {
  const struct gp_config *config;
  struct gp_bounds bounds;
  uint64_t seed;
  size_t base;      /* observations of the last `fit` */
  size_t based;     /* observations that the hyperparameters were fitted to */
  bool given_start; /* whether the search also starts where spearmint's does; tests say no */
  struct gp_mixture mixture;
  struct gp_function function; /* the one that is realised */
};

/* --- life -------------------------------------------------------------------------------------------------------- */

static enum tutti_status bounds_gp(tutti_context *context, const struct gp_config *config, struct gp_bounds *bounds) {
  TUTTI_TRY(context, gp_bounds_read(context, "surrogate gp: ", &config->amplitude, &config->length_scale,
                                    &config->noise, bounds));
  if (config->inference == GP_INFERENCE_SAMPLING && bounds->length[0] > GP_LONGEST)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "surrogate gp: length_scale: with inference = sampling length scales are %d at most, and %g at "
                      "least was found; lower it, or take inference = likelihood",
                      GP_LONGEST, bounds->length[0]);
  if (config->inference == GP_INFERENCE_SAMPLING)
    bounds->length[1] = fmin(bounds->length[1], GP_LONGEST);
  return TUTTI_OK;
}

static void surrogate_destroy_gp(void *instance) {
  struct gp *self = instance;
  gp_function_clear(&self->function);
  gp_mixture_clear(&self->mixture);
  tutti_free(self);
}

static enum tutti_status surrogate_create_gp(tutti_context *context, const void *config_, const void *setup_,
                                             void **instance) {
  const struct gp_config *config = config_;
  const struct tutti_surrogate_setup *setup = setup_;
  size_t models = config->inference == GP_INFERENCE_SAMPLING ? (size_t)config->samples : 1;
  enum tutti_status status;
  struct gp *self = NULL;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof(*self), &self));
  self->config = config;
  self->seed = setup->seed;
  self->given_start = true;
  TUTTI_TRY_OUT(context, bounds_gp(context, config, &self->bounds));
  TUTTI_TRY_OUT(context,
                gp_mixture_init(context, models, (enum gp_kernel)config->kernel, setup->dimension, &self->mixture));
  *instance = self;
  return TUTTI_OK;
out:
  surrogate_destroy_gp(self);
  return status;
}

/* --- fit ---------------------------------------------------------------------------------------------------------- */

/* Mean and standard deviation of the first `count` values, relative to the largest of them, since squares could
   overflow. Constant values keep their own scale. */
static void standardise_gp(struct gp_posterior *posterior, size_t count) {
  const double *values = posterior->values;
  double unit = 0, mean = 0, squares = 0;
  for (size_t i = 0; i < count; i++)
    unit = fmax(unit, fabs(values[i]));
  if (!(unit > DBL_MIN))
    unit = 1;
  for (size_t i = 0; i < count; i++)
    mean += values[i] / unit / (double)count;
  for (size_t i = 0; i < count; i++)
    squares += (values[i] / unit - mean) * (values[i] / unit - mean) / (double)count;
  posterior->shift = mean * unit;
  posterior->scale = squares > 1e-24 * mean * mean ? unit * sqrt(squares) : 1;
}

/* Put the most likely hyperparameters into the only posterior. */
static enum tutti_status maximise_likelihood_gp(struct gp *self, tutti_context *context,
                                                const struct gp_problem *problem) {
  struct tutti_random random;
  struct gp_search search = {.bounds = self->bounds,
                             .usual = self->given_start,
                             .looks = (size_t)self->config->looks,
                             .starts = (size_t)self->config->starts,
                             .evaluations = (size_t)self->config->evaluations,
                             .rows = (size_t)self->config->fit_rows,
                             .random = &random};
  tutti_random_init(&random, self->seed, "gp starts", problem->count);
  return gp_fit(context, problem, &search, &self->mixture.posteriors->hyper);
}

static enum tutti_status draw_hyperparameters_gp(struct gp *self, tutti_context *context,
                                                 const struct gp_problem *problem) {
  struct tutti_random random;
  struct gp_chain chain = {.bounds = self->bounds,
                           .samples = self->mixture.models,
                           .burn_in = (size_t)self->config->burn_in,
                           .random = &random};
  struct gp_hyper **hyper = NULL;
  tutti_random_init(&random, self->seed, "gp chain", problem->count);
  TUTTI_TRY(context, tutti_alloc(context, chain.samples, sizeof(*hyper), &hyper));
  for (size_t i = 0; i < chain.samples; i++)
    hyper[i] = &self->mixture.posteriors[i].hyper;
  enum tutti_status status = gp_sample(context, problem, &chain, hyper);
  tutti_free(hyper);
  return status;
}

/* Fit the hyperparameters to the first `count` observations. */
static enum tutti_status refit_gp(struct gp *self, tutti_context *context, size_t count) {
  struct gp_posterior *first = self->mixture.posteriors;
  bool sampling = self->config->inference == GP_INFERENCE_SAMPLING;
  enum tutti_status status;
  double *standardised = NULL; /* values, then noise */
  struct gp_problem problem = {.kernel = first->matrix.kernel,
                               .mean = (enum gp_mean)self->config->mean,
                               .ard = self->config->ard,
                               .column = first->matrix.column,
                               .count = count,
                               .dimension = first->dimension,
                               .points = first->points};
  standardise_gp(first, count);
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, 2 * sizeof(double), &standardised));
  for (size_t i = 0; i < count; i++) {
    standardised[i] = (first->values[i] - first->shift) / first->scale;
    standardised[count + i] = first->noise[i] / (first->scale * first->scale);
  }
  problem.values = standardised;
  problem.noise = standardised + count;
  first->hyper.mean = 0;
  TUTTI_TRY_OUT(context, sampling ? draw_hyperparameters_gp(self, context, &problem)
                                  : maximise_likelihood_gp(self, context, &problem));
  for (size_t i = 0; i < self->mixture.models; i++) {
    self->mixture.posteriors[i].shift = first->shift;
    self->mixture.posteriors[i].scale = first->scale;
    gp_posterior_refitted(&self->mixture.posteriors[i], count);
  }
  self->based = count;
out:
  tutti_free(standardised);
  return status;
}

/* The number of observations at the latest fit that is due. It depends only on the number at the first fit and on the
   present number. */
static size_t due_gp(const struct gp *self) {
  size_t due = self->base, next = due;
  while (next <= self->mixture.posteriors->count) {
    double growth = ceil(self->config->growth * (double)next);
    due = next;
    next += growth > (double)self->config->refit ? (size_t)growth : (size_t)self->config->refit;
  }
  return due;
}

/* Do the work that the observations since the last prediction require. */
static enum tutti_status settle_gp(struct gp *self, tutti_context *context) {
  if (self->base == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN, "surrogate gp: fit was expected before a prediction");
  size_t due = due_gp(self);
  if (self->based != due)
    TUTTI_TRY(context, refit_gp(self, context, due));
  for (size_t i = 0; i < self->mixture.models; i++)
    TUTTI_TRY(context, gp_posterior_settle(context, &self->mixture.posteriors[i]));
  return TUTTI_OK;
}

static enum tutti_status surrogate_add_gp(void *instance, tutti_context *context, const struct tutti_points *points,
                                          const double *values, const double *noise) {
  struct gp *self = instance;
  gp_function_clear(&self->function);
  for (size_t i = 0; i < self->mixture.models; i++)
    TUTTI_TRY(context,
              gp_posterior_add(context, &self->mixture.posteriors[i], points->count, points->vectors, values, noise));
  return TUTTI_OK;
}

static void surrogate_release_gp(void *instance) {
  struct gp *self = instance;
  gp_function_clear(&self->function);
  for (size_t i = 0; i < self->mixture.models; i++)
    gp_posterior_release(&self->mixture.posteriors[i], 0);
}

static enum tutti_status surrogate_fit_gp(void *instance, tutti_context *context, const struct tutti_points *points,
                                          const double *values, const double *noise) {
  struct gp *self = instance;
  surrogate_release_gp(self);
  for (size_t i = 0; i < self->mixture.models; i++)
    gp_posterior_forget(&self->mixture.posteriors[i]);
  self->base = self->based = 0;
  TUTTI_TRY(context, surrogate_add_gp(self, context, points, values, noise));
  self->base = points->count;
  return settle_gp(self, context);
}

/* --- predictions -------------------------------------------------------------------------------------------------- */

static enum tutti_status surrogate_predict_gp(void *instance, tutti_context *context, const struct tutti_points *points,
                                              double *mean, double *deviation) {
  struct gp *self = instance;
  TUTTI_TRY(context, settle_gp(self, context));
  for (size_t i = 0; self->function.posterior && i < points->count; i++) {
    mean[i] = gp_function_value(&self->function, points->vectors + i * points->dimension, NULL);
    deviation[i] = 0;
  }
  if (!self->function.posterior)
    TUTTI_TRY(context, gp_mixture_predict(context, &self->mixture, points->count, points->vectors, mean, deviation));
  return TUTTI_OK;
}

static enum tutti_status surrogate_gradient_gp(void *instance, tutti_context *context, const double *vector,
                                               double *mean, double *deviation, double *mean_gradient,
                                               double *deviation_gradient) {
  struct gp *self = instance;
  TUTTI_TRY(context, settle_gp(self, context));
  if (!self->function.posterior)
    return gp_mixture_gradient(context, &self->mixture, vector, mean, deviation, mean_gradient, deviation_gradient);
  *mean = gp_function_value(&self->function, vector, mean_gradient);
  *deviation = 0;
  for (size_t k = 0; k < self->mixture.posteriors->dimension; k++)
    deviation_gradient[k] = 0;
  return TUTTI_OK;
}

static size_t surrogate_components_gp(void *instance) {
  const struct gp *self = instance;
  return self->function.posterior ? 1 : gp_mixture_components(&self->mixture);
}

static enum tutti_status surrogate_predict_components_gp(void *instance, tutti_context *context,
                                                         const struct tutti_points *points, double *mean,
                                                         double *deviation) {
  struct gp *self = instance;
  if (surrogate_components_gp(self) == 1)
    return surrogate_predict_gp(self, context, points, mean, deviation);
  TUTTI_TRY(context, settle_gp(self, context));
  gp_mixture_components_at(&self->mixture, points->count, points->vectors, mean, deviation);
  return TUTTI_OK;
}

static enum tutti_status surrogate_gradient_components_gp(void *instance, tutti_context *context, const double *vector,
                                                          double *mean, double *deviation, double *mean_gradient,
                                                          double *deviation_gradient) {
  struct gp *self = instance;
  if (surrogate_components_gp(self) == 1)
    return surrogate_gradient_gp(self, context, vector, mean, deviation, mean_gradient, deviation_gradient);
  TUTTI_TRY(context, settle_gp(self, context));
  gp_mixture_component_gradients(&self->mixture, vector, mean, deviation, mean_gradient, deviation_gradient);
  return TUTTI_OK;
}

/* Rows of the factor at a stage: 64, 128, 256, ... */
static size_t rows_gp(size_t stage) { return (size_t)64 << stage; }

/* Stages of at most half of all rows; none for a mixture, since bounds of its components do not bound it. */
static size_t surrogate_stages_gp(void *instance) {
  const struct gp *self = instance;
  const struct gp_posterior *first = self->mixture.posteriors;
  size_t stages = 0, rows = first->count + first->pending;
  if (self->mixture.models > 1 || first->fantasies > 0 || self->function.posterior)
    return 0;
  while (2 * rows_gp(stages) <= rows)
    stages++;
  return stages;
}

static enum tutti_status surrogate_bound_gp(void *instance, tutti_context *context, const struct tutti_points *points,
                                            size_t stage, double *mean, double *deviation) {
  struct gp *self = instance;
  TUTTI_TRY(context, settle_gp(self, context));
  gp_posterior_bound(self->mixture.posteriors, rows_gp(stage), points->count, points->vectors, mean, deviation);
  return TUTTI_OK;
}

/* --- what is pending, and draws ----------------------------------------------------------------------------------- */

static enum tutti_status surrogate_hallucinate_gp(void *instance, tutti_context *context,
                                                  const struct tutti_points *points) {
  struct gp *self = instance;
  TUTTI_TRY(context, settle_gp(self, context));
  for (size_t i = 0; i < self->mixture.models; i++) {
    struct gp_posterior *posterior = &self->mixture.posteriors[i];
    TUTTI_TRY(context,
              gp_posterior_suppose(context, posterior, points->count, points->vectors, posterior->hyper.noise));
  }
  return TUTTI_OK;
}

static enum tutti_status surrogate_fantasise_gp(void *instance, tutti_context *context,
                                                const struct tutti_points *points, struct tutti_random *random,
                                                size_t draws) {
  struct gp *self = instance;
  TUTTI_TRY(context, settle_gp(self, context));
  for (size_t i = 0; i < self->mixture.models; i++)
    TUTTI_TRY(context, gp_posterior_fantasise(context, &self->mixture.posteriors[i], points->count, points->vectors,
                                              random, draws));
  return TUTTI_OK;
}

static void surrogate_least_gp(void *instance, double *least) {
  const struct gp *self = instance;
  size_t fantasies = self->mixture.posteriors->fantasies;
  for (size_t i = 0; !self->function.posterior && i < self->mixture.models; i++)
    for (size_t f = 0; f < fantasies; f++)
      least[i * fantasies + f] = self->mixture.posteriors[i].fantasy_least[f];
}

/* One of the components, drawn at random, for a realisation. */
static struct gp_posterior *choose_gp(struct gp *self, struct tutti_random *random, size_t *fantasy) {
  size_t means = gp_posterior_means(self->mixture.posteriors), components = gp_mixture_components(&self->mixture);
  size_t which = components > 1 ? (size_t)tutti_random_below(random, components) : 0;
  *fantasy = which % means;
  return &self->mixture.posteriors[which / means];
}

static enum tutti_status surrogate_realise_gp(void *instance, tutti_context *context, struct tutti_random *random) {
  struct gp *self = instance;
  size_t fantasy;
  TUTTI_TRY(context, settle_gp(self, context));
  struct gp_posterior *posterior = choose_gp(self, random, &fantasy);
  return gp_function_draw(context, posterior, fantasy, random, &self->function);
}

/* Add the points as if they were pending and almost free of noise: their rows of the factor are then the factor of
   their joint covariance given the observations. */
static enum tutti_status surrogate_draw_gp(void *instance, tutti_context *context, const struct tutti_points *points,
                                           struct tutti_random *random, double *values) {
  static const double least_noise = 1e-10; /* of the amplitude: without it, close points would leave no pivot */
  struct gp *self = instance;
  enum tutti_status status;
  size_t count = points->count, fantasy;
  double *room = NULL; /* means, then deviations or normals */
  TUTTI_TRY(context, settle_gp(self, context));
  struct gp_posterior *posterior = choose_gp(self, random, &fantasy);
  size_t pending = posterior->pending, means = gp_posterior_means(posterior);
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, (means + 1) * sizeof(double), &room));
  double *normals = room + means * count;
  gp_posterior_predict(posterior, count, points->vectors, room, normals);
  TUTTI_TRY_OUT(context, gp_posterior_suppose(context, posterior, count, points->vectors,
                                              least_noise * posterior->hyper.amplitude));
  for (size_t i = 0; i < count; i++)
    normals[i] = tutti_random_normal(random);
  for (size_t i = 0, first = posterior->count + pending; i < count; i++) {
    const double *row = posterior->matrix.factor + (first + i) * posterior->stride + first;
    values[i] = room[fantasy * count + i];
    for (size_t j = 0; j <= i; j++)
      values[i] += posterior->scale * row[j] * normals[j];
  }
out:
  gp_posterior_release(posterior, pending);
  tutti_free(room);
  return status;
}

/* Convert to the values' own units; with drawn hyperparameters, give their averages. */
static enum tutti_status surrogate_describe_gp(void *instance, tutti_context *context, char **json) {
  struct gp *self = instance;
  const struct gp_posterior *first = self->mixture.posteriors;
  TUTTI_TRY(context, settle_gp(self, context));
  double unit = first->scale * first->scale, share = 1 / (double)self->mixture.models;
  double mean = 0, amplitude = 0, noise = 0, likelihood = 0, jitter = 0;
  json_t *lengths = json_array();
  for (size_t i = 0; i < self->mixture.models; i++) {
    const struct gp_posterior *posterior = &first[i];
    mean += share * posterior->hyper.mean;
    amplitude += share * posterior->hyper.amplitude;
    noise += share * posterior->hyper.noise;
    likelihood += share * posterior->hyper.likelihood;
    jitter = fmax(jitter, posterior->matrix.jitter * posterior->hyper.amplitude);
  }
  for (size_t k = 0; k < first->dimension; k++) {
    double length = 0;
    for (size_t i = 0; i < self->mixture.models; i++)
      length += share * first[i].hyper.lengths[k];
    json_array_append_new(lengths, json_real(length));
  }
  json_t *object = json_pack(
      "{s:s, s:s, s:f, s:f, s:f, s:o, s:f, s:f, s:I, s:I}", "kernel", gp_kernels[first->matrix.kernel], "inference",
      gp_inferences[self->config->inference], "mean", first->shift + first->scale * mean, "amplitude", amplitude * unit,
      "noise", noise * unit, "length_scales", lengths, "log_likelihood", likelihood, "jitter", jitter * unit,
      "observations", (json_int_t)first->count, "fitted_to", (json_int_t)self->based);
  return shared_json_print(context, object, JSON_REAL_PRECISION(17), "the hyperparameters of surrogate gp", json);
}

/* --- the plugin --------------------------------------------------------------------------------------------------- */

static const struct tutti_surrogate_ops gp_ops = {
    .size = sizeof(struct tutti_surrogate_ops),
    .needs = TUTTI_NEEDS_VECTORS,
    .fit = surrogate_fit_gp,
    .predict = surrogate_predict_gp,
    .add = surrogate_add_gp,
    .hallucinate = surrogate_hallucinate_gp,
    .release = surrogate_release_gp,
    .gradient = surrogate_gradient_gp,
    .draw = surrogate_draw_gp,
    .describe = surrogate_describe_gp,
    .components = surrogate_components_gp,
    .predict_components = surrogate_predict_components_gp,
    .gradient_components = surrogate_gradient_components_gp,
    .fantasise = surrogate_fantasise_gp,
    .least = surrogate_least_gp,
    .realise = surrogate_realise_gp,
    .stages = surrogate_stages_gp,
    .bound = surrogate_bound_gp,
};

static const struct tutti_descriptor gp_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SURROGATE, "gp"),
    .version = "1.0",
    .summary = "Gaussian process with a Matern 5/2 or squared exponential kernel",
    .source = "Lacoste et al., Sequential Model-Based Ensemble Optimization, UAI 2014, sections 2 and 6; Rasmussen & "
              "Williams, "
              "Gaussian Processes for Machine Learning, MIT Press 2006",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(gp_params, struct gp_config),
    .create = surrogate_create_gp,
    .destroy = surrogate_destroy_gp,
    .ops = &gp_ops,
};

TUTTI_PLUGIN(gp_descriptor)
