/* bayesian.c - ask and tell of builders with one model over the whole scope. */
#include "bayesian.h"

#include <stdio.h>
#include <tutti/propose.h>

struct bayesian {
  const struct bayesian_config *config;
  struct design design;
  tutti_proposer *proposer;
  bool exhausted;
};

/* --- life ---------------------------------------------------------------------------------------------------------- */

void bayesian_destroy(void *instance) {
  struct bayesian *self = instance;
  tutti_proposer_destroy(self->proposer);
  tutti_free(self);
}

enum tutti_status bayesian_create(tutti_context *context, const void *config_, const void *setup_, void **instance) {
  const struct tutti_builder_setup *setup = setup_;
  const struct bayesian_config *config = config_;
  enum tutti_status status;
  struct bayesian *self = NULL;
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
    bayesian_destroy(self);
  return status;
}

/* --- ask and tell -------------------------------------------------------------------------------------------------- */

static bool is_known(const void *self, const tutti_candidate *candidate) {
  return tutti_proposer_knows(((const struct bayesian *)self)->proposer, candidate);
}

static enum tutti_status bayesian_adopt(void *instance, tutti_context *context, uint64_t trial,
                                        const struct tutti_proposal *proposal) {
  struct bayesian *self = instance;
  TUTTI_TRY(context, tutti_proposer_asked(context, self->proposer, trial, proposal->candidate));
  return TUTTI_OK;
}

static void describe_origin(const struct bayesian *self, double worth, struct tutti_proposal *proposal) {
  if (isnan(worth))
    snprintf(proposal->origin, sizeof(proposal->origin), "random");
  else
    snprintf(proposal->origin, sizeof(proposal->origin), "%s %.4g", self->config->model.acquisition, worth);
}

static enum tutti_status bayesian_ask(void *instance, tutti_context *context, uint64_t trial,
                                      struct tutti_proposal *proposal) {
  struct bayesian *self = instance;
  double worth;
  proposal->parent = TUTTI_NO_TRIAL;
  if (trial < (uint64_t)self->config->design.initial)
    TUTTI_TRY(context, design_candidate(context, &self->design, trial, is_known, self, &proposal->candidate));
  if (proposal->candidate) {
    snprintf(proposal->origin, sizeof(proposal->origin), "design");
  } else {
    bool design = trial < (uint64_t)self->config->design.initial;
    TUTTI_TRY(context, design ? tutti_proposer_draw(context, self->proposer, trial, &proposal->candidate)
                              : tutti_proposer_propose(context, self->proposer, trial, &proposal->candidate, &worth));
    describe_origin(self, design ? NAN : worth, proposal);
  }
  self->exhausted = !proposal->candidate;
  return proposal->candidate ? bayesian_adopt(self, context, trial, proposal) : TUTTI_OK;
}

static enum tutti_status bayesian_tell(void *instance, tutti_context *context, const struct tutti_result *result) {
  struct bayesian *self = instance;
  double loss = result->state == TUTTI_STATE_FINISHED ? result->loss : NAN;
  TUTTI_TRY(context, tutti_proposer_told(context, self->proposer, result->trial, result->candidate, loss));
  return TUTTI_OK;
}

static bool bayesian_exhausted(void *instance) { return ((const struct bayesian *)instance)->exhausted; }

static enum tutti_status bayesian_describe(void *instance, tutti_context *context, char **json) {
  const struct bayesian *self = instance;
  double best = tutti_proposer_best(self->proposer);
  json_t *object = json_pack("{s:I, s:I, s:I, s:o}", "asked", (json_int_t)tutti_proposer_asked_count(self->proposer),
                             "observed", (json_int_t)tutti_proposer_observed_count(self->proposer), "pending",
                             (json_int_t)tutti_proposer_pending_count(self->proposer), "best",
                             isfinite(best) ? json_real(best) : json_null());
  return model_describe(context, object, self->proposer, json);
}

const struct tutti_builder_ops bayesian_ops = {
    .size = sizeof(struct tutti_builder_ops),
    .ask = bayesian_ask,
    .tell = bayesian_tell,
    .adopt = bayesian_adopt,
    .exhausted = bayesian_exhausted,
    .describe = bayesian_describe,
};
