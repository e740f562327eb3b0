/* nes-rs.c - random search: every trial draws an architecture, and hyperparameters if the recipe searches them. Zaidi,
   Zela, Elsken, Holmes, Hutter, Teh, "Neural Ensemble Search for Uncertainty Estimation and Dataset Shift", NeurIPS
   2021, algorithm NES-RS: this builder makes the pool, a selector makes the ensemble. Deviations: hyperparameters
   may be drawn, too (the paper fixes them); `distinct` draws without replacement (the default is the paper's:
   independent draws). */
#include <stdio.h>
#include <tutti/candidate_set.h>
#include <tutti/plugin.h>

struct nes_rs_config {
  bool distinct;
};

static const struct tutti_param nes_rs_params[] = {
    TUTTI_BOOL(struct nes_rs_config, distinct, "no",
               "Never propose the same candidate twice; the search ends when a finite scope has been tried wholly."),
};

struct nes_rs {
  const struct nes_rs_config *config;
  const tutti_scope *scope;
  uint64_t seed;
  double cardinality;        /* of the scope; infinity for graph spaces and real dimensions */
  tutti_candidate_set *seen; /* NULL unless distinct */
  bool dry;                  /* no new candidate was found */
};

/* How many repeats in a row it takes to call a scope exhausted. After 40 draws for each of n equally likely candidates,
   the chance of having missed the last one is (1 - 1/n)^(40 n) < 1e-17. The 1000 is for small scopes. */
static uint64_t attempts_nes_rs(const struct nes_rs *self) {
  return 1000 + 40 * (uint64_t)tutti_candidate_set_count(self->seen);
}

static void builder_destroy_nes_rs(void *instance) {
  struct nes_rs *self = instance;
  tutti_candidate_set_destroy(self->seen);
  tutti_free(self);
}

static enum tutti_status builder_create_nes_rs(tutti_context *context, const void *config, const void *setup_,
                                               void **instance) {
  const struct tutti_builder_setup *setup = setup_;
  const tutti_scope *scope = tutti_host_scope(setup->host);
  const tutti_domain *joint = tutti_scope_joint(scope);
  enum tutti_status status;
  struct nes_rs *self = NULL;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof(*self), &self));
  self->config = config;
  self->scope = scope;
  self->seed = tutti_host_seed(setup->host);
  self->cardinality = joint ? tutti_domain_cardinality(joint) : INFINITY;
  if (self->config->distinct)
    TUTTI_TRY_OUT(context, tutti_candidate_set_create(context, &self->seen));
  *instance = self;
  return TUTTI_OK;
out:
  builder_destroy_nes_rs(self);
  return status;
}

static bool builder_exhausted_nes_rs(void *instance) {
  const struct nes_rs *self = instance;
  return self->dry || (self->seen && (double)tutti_candidate_set_count(self->seen) >= self->cardinality);
}

static enum tutti_status builder_ask_nes_rs(void *instance, tutti_context *context, uint64_t trial,
                                            struct tutti_proposal *proposal) {
  struct nes_rs *self = instance;
  struct tutti_random random;
  tutti_random_init(&random, self->seed, "nes-rs candidate", trial);
  uint64_t seed = tutti_trial_seed(self->seed, trial), attempts = self->seen ? attempts_nes_rs(self) : 1;
  if (builder_exhausted_nes_rs(self))
    attempts = 0;
  while (attempts-- > 0) {
    enum tutti_status status = TUTTI_OK;
    tutti_candidate *candidate = NULL;
    bool fresh = true;
    TUTTI_TRY(context, tutti_scope_sample(context, self->scope, &random, seed, &candidate));
    if (self->seen)
      status = tutti_candidate_set_add(context, self->seen, candidate, &fresh);
    if (status == TUTTI_OK && fresh) {
      proposal->candidate = candidate;
      proposal->parent = TUTTI_NO_TRIAL;
      snprintf(proposal->origin, sizeof(proposal->origin), "random");
      return TUTTI_OK;
    }
    tutti_candidate_unref(candidate);
    TUTTI_TRY(context, status);
  }
  self->dry = true;
  return TUTTI_OK;
}

/* Nothing is learnt from results. */
static enum tutti_status builder_tell_nes_rs(void *instance, tutti_context *context,
                                             const struct tutti_result *result) {
  (void)instance, (void)context, (void)result;
  return TUTTI_OK;
}

static enum tutti_status builder_adopt_nes_rs(void *instance, tutti_context *context, uint64_t trial,
                                              const struct tutti_proposal *proposal) {
  struct nes_rs *self = instance;
  (void)trial;
  if (self->seen)
    TUTTI_TRY(context, tutti_candidate_set_add(context, self->seen, proposal->candidate, NULL));
  return TUTTI_OK;
}

static const struct tutti_builder_ops nes_rs_ops = {
    .size = sizeof(struct tutti_builder_ops),
    .ask = builder_ask_nes_rs,
    .tell = builder_tell_nes_rs,
    .adopt = builder_adopt_nes_rs,
    .exhausted = builder_exhausted_nes_rs,
};

static const struct tutti_descriptor nes_rs_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_BUILDER, "nes-rs"),
    .version = "1.0",
    .summary = "random search over architectures and hyperparameters",
    .source = "Zaidi et al., Neural Ensemble Search for Uncertainty Estimation and Dataset Shift, NeurIPS 2021, NES-RS",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(nes_rs_params, struct nes_rs_config),
    .create = builder_create_nes_rs,
    .destroy = builder_destroy_nes_rs,
    .ops = &nes_rs_ops,
};

TUTTI_PLUGIN(nes_rs_descriptor)
