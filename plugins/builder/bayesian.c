/* bo.c - Bayesian optimisation of hyperparameters, architecture or both: an initial design, then the candidate of the
   largest acquisition under a surrogate of the losses told (Snoek, Larochelle, Adams, "Practical Bayesian optimization of
   machine learning algorithms", NeurIPS 2012; Lacoste, Larochelle, Laviolette, Marchand, "Sequential Model-Based Ensemble
   Optimization", UAI 2014, section 4).

   Deviations: a Sobol design instead of a random one by default; candidates that are being trained are hallucinated
   (Desautels, Krause, Burdick, "Parallelizing exploration-exploitation tradeoffs in Gaussian process bandit optimization",
   JMLR 2014) instead of integrated over, since that costs one row of a Cholesky factor each. */
#include "design.h"
#include "model_impl.h"

#include <stdio.h>

struct bo_config {
  struct design_config design;
  struct model_config model;
};

static const struct tutti_param bo_params[] = {
    DESIGN_PARAMS(struct bo_config),
    MODEL_PARAMS(struct bo_config, "auto", "gp", "ei", "sobol-lbfgs"),
};

struct bo {
  const struct bo_config *config;
  struct design design;
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
  struct tutti_proposer_setup proposer =
      model_setup(&config->model, setup->host, NULL, 2 * (size_t)config->design.initial);
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof(*self), &self));
  self->config = config;
  self->design = design_of(&config->design, setup->host);
  TUTTI_TRY_OUT(context, design_check(context, &self->design));
  TUTTI_TRY_OUT(context, tutti_proposer_create(context, &proposer, &self->proposer));
  *instance = self;
  return TUTTI_OK;
out:
  if (self)
    builder_destroy_bo(self);
  return status;
}

/* --- ask and tell -------------------------------------------------------------------------------------------------- */

static bool known_bo(const void *self, const tutti_candidate *candidate) {
  return tutti_proposer_knows(((const struct bo *)self)->proposer, candidate);
}

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
  if (trial < (uint64_t)self->config->design.initial)
    TUTTI_TRY(context, design_candidate(context, &self->design, trial, known_bo, self, &proposal->candidate));
  if (proposal->candidate) {
    snprintf(proposal->origin, sizeof(proposal->origin), "design");
  } else {
    bool design = trial < (uint64_t)self->config->design.initial;
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
  return model_describe(context, object, self->proposer, json);
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
