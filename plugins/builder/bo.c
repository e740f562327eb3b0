/* bo.c - Bayesian optimisation of hyperparameters, architecture or both: an initial design, then the candidate of the
   largest acquisition under a surrogate of the losses told (Snoek, Larochelle, Adams, "Practical Bayesian optimization of
   machine learning algorithms", NeurIPS 2012; Lacoste, Larochelle, Laviolette, Marchand, "Sequential Model-Based Ensemble
   Optimization", UAI 2014, section 4).

   Deviations: a Sobol design instead of a random one by default; candidates that are being trained are hallucinated
   (Desautels, Krause, Burdick, "Parallelizing exploration-exploitation tradeoffs in Gaussian process bandit optimization",
   JMLR 2014) instead of integrated over, since that costs one row of a Cholesky factor each. */
#include "model_impl.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

enum { BO_SOBOL, BO_RANDOM };

struct bo_config {
  int64_t initial;
  int design;
  struct model_config model;
};

static const char *const bo_designs[] = {"sobol", "random", NULL};

static const struct tutti_param bo_params[] = {
    {.name = "initial",
     .type = TUTTI_PARAM_INTEGER,
     .offset = offsetof(struct bo_config, initial),
     .preset = "10",
     .min = 1,
     .max = 1000000,
     .doc = "Candidates of the initial design."},
    {.name = "design",
     .type = TUTTI_PARAM_CHOICE,
     .offset = offsetof(struct bo_config, design),
     .preset = "sobol",
     .choices = bo_designs,
     .doc =
         "Where they come from: Sobol points of the joint domain (random ones for spaces without), or random draws."},
    MODEL_PARAMS(struct bo_config, "auto", "gp", "ei", "sobol-lbfgs"),
};

struct bo {
  const struct bo_config *config;
  const tutti_scope *scope;
  uint64_t seed;
  tutti_proposer *proposer;
  bool exhausted;
};

/* --- life ---------------------------------------------------------------------------------------------------------- */

static void builder_destroy_bo(void *instance) {
  struct bo *self = instance;
  tutti_proposer_destroy(self->proposer);
  tutti_free(self);
}

static enum tutti_status builder_create_bo(tutti_context *context, const void *config_, const void *setup_,
                                           void **instance) {
  const struct tutti_builder_setup *setup = setup_;
  const struct bo_config *config = config_;
  enum tutti_status status;
  struct bo *self = NULL;
  /* Up to twice the design, hyperparameters of a model move with each observation: fit anew. */
  struct tutti_proposer_setup proposer = model_setup(&config->model, setup->host, NULL, 2 * (size_t)config->initial);
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof(*self), &self));
  self->config = config;
  self->scope = tutti_host_scope(setup->host);
  self->seed = proposer.seed;
  TUTTI_TRY_OUT(context, tutti_proposer_create(context, &proposer, &self->proposer));
  *instance = self;
  return TUTTI_OK;
out:
  if (self)
    builder_destroy_bo(self);
  return status;
}

/* --- initial design ------------------------------------------------------------------------------------------------ */

/* Point number `index` of the run's Sobol sequence. */
static enum tutti_status sobol_point_bo(const struct bo *self, tutti_context *context, uint64_t index, double *unit) {
  struct tutti_random shift;
  tutti_sobol *sobol = NULL;
  tutti_random_init(&shift, self->seed, "bo design", 0);
  TUTTI_TRY(context, tutti_sobol_create(context, tutti_domain_count(tutti_scope_joint(self->scope)), &shift, &sobol));
  for (uint64_t i = 0; i <= index; i++)
    tutti_sobol_next(sobol, unit);
  tutti_sobol_destroy(sobol);
  return TUTTI_OK;
}

/* A point of the design that was not asked for; where Sobol points repeat a candidate (small scopes) or break a rule of
   the space, those after the design take their place, and after a few, *candidate = NULL. */
static enum tutti_status design_bo(const struct bo *self, tutti_context *context, uint64_t trial,
                                   tutti_candidate **candidate) {
  enum { TRIES = 10 };
  const tutti_domain *joint = tutti_scope_joint(self->scope);
  enum tutti_status status = TUTTI_OK;
  double *unit = NULL, *point = NULL;
  size_t count = joint ? tutti_domain_count(joint) : 0;
  if (self->config->design == BO_RANDOM || count == 0)
    return TUTTI_OK;
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof(double), &unit));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof(double), &point));
  for (uint64_t i = 0; i < TRIES && !*candidate; i++) {
    TUTTI_TRY_OUT(context, sobol_point_bo(self, context, trial + i * (uint64_t)self->config->initial, unit));
    tutti_domain_from_unit(joint, unit, point);
    status = tutti_scope_from_point(context, self->scope, point, tutti_trial_seed(self->seed, trial), candidate);
    if (status == TUTTI_ERROR_USAGE) {
      tutti_error_clear(context);
      status = TUTTI_OK;
    }
    TUTTI_TRY_OUT(context, status);
    if (*candidate && tutti_proposer_knows(self->proposer, *candidate)) {
      tutti_candidate_unref(*candidate);
      *candidate = NULL;
    }
  }
out:
  tutti_free(unit);
  tutti_free(point);
  return status;
}

/* --- ask and tell -------------------------------------------------------------------------------------------------- */

static enum tutti_status builder_adopt_bo(void *instance, tutti_context *context, uint64_t trial,
                                          const struct tutti_proposal *proposal) {
  struct bo *self = instance;
  TUTTI_TRY(context, tutti_proposer_asked(context, self->proposer, trial, proposal->candidate));
  return TUTTI_OK;
}

static void origin_bo(const struct bo *self, double worth, struct tutti_proposal *proposal) {
  if (isnan(worth))
    snprintf(proposal->origin, sizeof(proposal->origin), "random");
  else
    snprintf(proposal->origin, sizeof(proposal->origin), "%s %.4g", self->config->model.acquisition, worth);
}

static enum tutti_status builder_ask_bo(void *instance, tutti_context *context, uint64_t trial,
                                        struct tutti_proposal *proposal) {
  struct bo *self = instance;
  double worth;
  proposal->parent = TUTTI_NO_TRIAL;
  if (trial < (uint64_t)self->config->initial)
    TUTTI_TRY(context, design_bo(self, context, trial, &proposal->candidate));
  if (proposal->candidate) {
    snprintf(proposal->origin, sizeof(proposal->origin), "design");
  } else {
    bool design = trial < (uint64_t)self->config->initial;
    TUTTI_TRY(context, design ? tutti_proposer_draw(context, self->proposer, trial, &proposal->candidate)
                              : tutti_proposer_propose(context, self->proposer, trial, &proposal->candidate, &worth));
    origin_bo(self, design ? NAN : worth, proposal);
  }
  self->exhausted = !proposal->candidate;
  return proposal->candidate ? builder_adopt_bo(self, context, trial, proposal) : TUTTI_OK;
}

static enum tutti_status builder_tell_bo(void *instance, tutti_context *context, const struct tutti_result *result) {
  struct bo *self = instance;
  double loss = result->state == TUTTI_STATE_FINISHED ? result->loss : NAN;
  TUTTI_TRY(context, tutti_proposer_told(context, self->proposer, result->trial, result->candidate, loss));
  return TUTTI_OK;
}

static bool builder_exhausted_bo(void *instance) { return ((const struct bo *)instance)->exhausted; }

static enum tutti_status builder_describe_bo(void *instance, tutti_context *context, char **json) {
  const struct bo *self = instance;
  double best = tutti_proposer_best(self->proposer);
  json_t *object = json_pack("{s:I, s:I, s:I, s:o}", "asked", (json_int_t)tutti_proposer_asked_count(self->proposer),
                             "observed", (json_int_t)tutti_proposer_observed_count(self->proposer), "pending",
                             (json_int_t)tutti_proposer_pending_count(self->proposer), "best",
                             isfinite(best) ? json_real(best) : json_null());
  char *text = object ? json_dumps(object, JSON_REAL_PRECISION(17)) : NULL;
  enum tutti_status status = text
                                 ? tutti_strdup(context, text, json)
                                 : TUTTI_FAIL(context, TUTTI_ERROR_MEMORY, "builder bo: no memory for its description");
  free(text);
  json_decref(object);
  return status;
}

static const struct tutti_builder_ops bo_ops = {
    .size = sizeof(struct tutti_builder_ops),
    .ask = builder_ask_bo,
    .tell = builder_tell_bo,
    .adopt = builder_adopt_bo,
    .exhausted = builder_exhausted_bo,
    .describe = builder_describe_bo,
};

static const struct tutti_descriptor bo_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_BUILDER, "bo"),
    .version = "1.0",
    .summary = "Bayesian optimisation of hyperparameters, architecture or both",
    .source = "Snoek, Larochelle, Adams, Practical Bayesian optimization of machine learning algorithms, NeurIPS 2012; "
              "Lacoste "
              "et al., Sequential Model-Based Ensemble Optimization, UAI 2014, section 4",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(bo_params, struct bo_config),
    .create = builder_create_bo,
    .destroy = builder_destroy_bo,
    .ops = &bo_ops,
};

TUTTI_PLUGIN(bo_descriptor)
