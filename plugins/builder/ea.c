/* ea.c - evolution on the losses themselves: the baseline EA of Kandasamy, Neiswanger, Schneider, Poczos, Xing, "Neural
   Architecture Search with Bayesian Optimisation and Optimal Transport", NeurIPS 2018, sections 4 and 5. The space's
   initial pool comes first. Then parents are drawn from all finished trials, better ones with higher probability
   (evolution.h), and mutated. Deviations: each mutant's parent is drawn from what has finished by then, where the paper
   makes a set of mutants at a time (`mutants`); nothing is tried twice; searched hyperparameters evolve, too. Failed
   trials are never parents. */
#include <stdio.h>
#include <tutti/kit.h>

struct ea_config {
  struct tutti_design_config design;
  double spread;
  int64_t mutants;
  bool warm_start;
};

static const struct tutti_param ea_params[] = {
    TUTTI_DESIGN_PARAMS_OF(struct ea_config, design, "12", "known"),
    TUTTI_REAL(struct ea_config, spread, "2", 0, TUTTI_NO_LIMIT,
               "Standard deviations of the losses in which the chance to be a parent falls by a factor of e.",
               .min_open = true),
    TUTTI_INTEGER(
        struct ea_config, mutants, "1", 1, 1000000,
        "Mutants whose parents are drawn from the same trials: those that had finished when the first of them was "
        "asked for."),
    TUTTI_BOOL(struct ea_config, warm_start, "no",
               "Let the training of a child start from its parent's weights, in all layers that both have in the same "
               "place and shape. Members that descend from each other then differ less."),
};

struct parent_ea {
  uint64_t trial;
  tutti_candidate *candidate;
};

struct ea {
  const struct ea_config *config;
  const tutti_scope *scope;
  struct tutti_design design;
  uint64_t seed;
  tutti_candidate_set *asked;
  size_t count, room;        /* finished trials */
  size_t eligible;           /* the first of these, which may be parents now */
  struct parent_ea *parents; /* [room] */
  double *fitness;           /* [room] */
  double *cumulative;        /* [room]: scratch */
  bool exhausted;
};

/* --- life --------------------------------------------------------------------------------------------------------- */

static void builder_destroy_ea(void *instance) {
  struct ea *self = instance;
  for (size_t i = 0; i < self->count; i++)
    tutti_candidate_unref(self->parents[i].candidate);
  tutti_candidate_set_destroy(self->asked);
  tutti_free(self->parents);
  tutti_free(self->fitness);
  tutti_free(self->cumulative);
  tutti_free(self);
}

static enum tutti_status builder_create_ea(tutti_context *context, const void *config, const void *setup_,
                                           void **instance) {
  const struct tutti_builder_setup *setup = setup_;
  enum tutti_status status;
  struct ea *self = NULL;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof(*self), &self));
  self->config = config;
  self->scope = tutti_host_scope(setup->host);
  self->seed = tutti_host_seed(setup->host);
  self->design = tutti_design_of(&self->config->design, setup->host);
  TUTTI_TRY_OUT(context, tutti_design_check(context, &self->design));
  TUTTI_TRY_OUT(context, tutti_candidate_set_create(context, &self->asked));
  *instance = self;
  return TUTTI_OK;
out:
  builder_destroy_ea(self);
  return status;
}

/* --- ask ---------------------------------------------------------------------------------------------------------- */

/* At the first of a set of mutants, all that has finished becomes eligible; before anything is, too. */
static void begin_set_ea(struct ea *self, uint64_t trial) {
  uint64_t initial = self->design.initial;
  bool first = trial >= initial && (trial - initial) % (uint64_t)self->config->mutants == 0;
  if (first || self->eligible == 0)
    self->eligible = self->count;
}

/* A mutant that has not been tried yet; each attempt draws a new parent. None if every mutant has been tried before. */
static enum tutti_status evolve_ea(struct ea *self, tutti_context *context, struct tutti_random *random, uint64_t trial,
                                   struct tutti_proposal *proposal) {
  enum { TRIES = 100 };
  tutti_evolution_shares(self->eligible, self->fitness, self->config->spread, self->cumulative);
  for (int i = 0; i < TRIES; i++) {
    const struct parent_ea *parent = &self->parents[tutti_evolution_draw(random, self->eligible, self->cumulative)];
    tutti_candidate *mutant;
    TUTTI_TRY(context, tutti_scope_mutate(context, self->scope, random, parent->candidate,
                                          tutti_trial_seed(self->seed, trial), &mutant));
    if (!tutti_candidate_set_has(self->asked, mutant)) {
      proposal->candidate = mutant;
      proposal->parent = parent->trial;
      (void)snprintf(proposal->origin, sizeof(proposal->origin), "mutation");
      return TUTTI_OK;
    }
    tutti_candidate_unref(mutant);
  }
  return TUTTI_OK;
}

static enum tutti_status builder_adopt_ea(void *instance, tutti_context *context, uint64_t trial,
                                          const struct tutti_proposal *proposal) {
  struct ea *self = instance;
  begin_set_ea(self, trial);
  return tutti_candidate_set_add(context, self->asked, proposal->candidate, NULL);
}

/* The design comes first. It also continues as long as nothing has finished. */
static enum tutti_status builder_ask_ea(void *instance, tutti_context *context, uint64_t trial,
                                        struct tutti_proposal *proposal) {
  struct ea *self = instance;
  struct tutti_random random;
  tutti_random_init(&random, self->seed, "ea candidate", trial);
  proposal->parent = TUTTI_NO_TRIAL;
  begin_set_ea(self, trial);
  if (trial < self->design.initial || self->count == 0) {
    TUTTI_TRY(context, tutti_design_candidate(context, &self->design, trial, self->asked, &proposal->candidate));
    (void)snprintf(proposal->origin, sizeof(proposal->origin), "design");
  } else {
    TUTTI_TRY(context, evolve_ea(self, context, &random, trial, proposal));
  }
  if (!proposal->candidate) {
    TUTTI_TRY(context, tutti_candidate_set_draw(context, self->asked, self->scope, &random,
                                                tutti_trial_seed(self->seed, trial), &proposal->candidate));
    (void)snprintf(proposal->origin, sizeof(proposal->origin), "random");
  }
  self->exhausted = !proposal->candidate;
  return proposal->candidate ? builder_adopt_ea(self, context, trial, proposal) : TUTTI_OK;
}

/* --- tell --------------------------------------------------------------------------------------------------------- */

static enum tutti_status builder_tell_ea(void *instance, tutti_context *context, const struct tutti_result *result) {
  struct ea *self = instance;
  if (result->state != TUTTI_STATE_FINISHED || !isfinite(result->loss))
    return TUTTI_OK;
  if (self->count == self->room) {
    size_t room = self->count ? 2 * self->count : 64;
    TUTTI_TRY(context, tutti_realloc(context, self->count, room, sizeof(*self->parents), &self->parents));
    TUTTI_TRY(context, tutti_realloc(context, self->count, room, sizeof(double), &self->fitness));
    TUTTI_TRY(context, tutti_realloc(context, self->count, room, sizeof(double), &self->cumulative));
    self->room = room;
  }
  self->fitness[self->count] = -result->loss;
  self->parents[self->count++] = (struct parent_ea){result->trial, tutti_candidate_ref(result->candidate)};
  return TUTTI_OK;
}

static bool builder_exhausted_ea(void *instance) { return ((const struct ea *)instance)->exhausted; }

static enum tutti_status builder_describe_ea(void *instance, tutti_context *context, char **json) {
  const struct ea *self = instance;
  return tutti_format(context, json, "{\"asked\": %zu, \"parents\": %zu}", tutti_candidate_set_count(self->asked),
                      self->count);
}

static bool builder_warm_ea(void *instance) { return ((const struct ea *)instance)->config->warm_start; }

static const struct tutti_builder_ops ea_ops = {
    .size = sizeof(struct tutti_builder_ops),
    .ask = builder_ask_ea,
    .tell = builder_tell_ea,
    .adopt = builder_adopt_ea,
    .exhausted = builder_exhausted_ea,
    .describe = builder_describe_ea,
    .warm = builder_warm_ea,
};

static const struct tutti_descriptor ea_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_BUILDER, "ea"),
    .version = "1.0",
    .summary = "evolution on the losses, from the space's initial pool",
    .source =
        "Kandasamy et al., Neural Architecture Search with Bayesian Optimisation and Optimal Transport, NeurIPS 2018",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(ea_params, struct ea_config),
    .create = builder_create_ea,
    .destroy = builder_destroy_ea,
    .ops = &ea_ops,
};

TUTTI_PLUGIN(ea_descriptor)
