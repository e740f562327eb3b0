/* agebo.c - AgEBO: aging evolution over architectures, Bayesian optimisation over hyperparameters. Egele, Maulik,
   Raghavan, Lusch, Guyon, Balaprakash, "AutoDEUQ: Automated Deep Ensemble with Uncertainty Quantification", ICPR 2022,
   Algorithm 1; evolution from Real, Aggarwal, Huang, Le, "Regularized evolution for image classifier architecture
   search", AAAI 2019.

   Architecture: random until `population` trials have finished. After that, the best of `sample` members of the
   population is mutated, and each finished trial pushes the oldest out. Hyperparameters: a model predicts the loss from
   the hyperparameters alone (it does not see the architecture) and proposes those of each trial.

   Both halves can be swapped, which gives the paper's variants: `hyperparameters = evolution` mutates one variable of
   both together (AgE-Mixed); `random` draws them (RS-Mixed with `architecture = random`); a recipe that fixes the
   hyperparameters leaves aging evolution (AgE). Bayesian optimisation of the joint vector (BO-Mixed) or of the
   hyperparameters of one architecture (BO) is builder bo.

   Deviations:
   - every outstanding trial has its lie. The authors' code lies only for what is asked for at once, which is as many
     trials as have finished together, and forgets these lies with the next result: pending = liar-batch, with
     run.batch results told before as many trials are asked for;
   - if the hyperparameters have only finitely many values and all have been tried, they are drawn at random, since the
     model has nothing left to propose. */
#include "plugins/shared/json.h"

#include <stdio.h>
#include <tutti/kit.h>

enum { ARCHITECTURE_EVOLUTION, ARCHITECTURE_RANDOM };
enum { HYPERPARAMETERS_BAYESIAN, HYPERPARAMETERS_EVOLUTION, HYPERPARAMETERS_RANDOM };

struct agebo_config {
  int64_t population, sample, initial;
  int architecture, hyperparameters;
  bool warm_start;
  struct tutti_proposer_config model;
};

static const char *const agebo_architectures[] = {"evolution", "random", NULL};
static const char *const agebo_hyperparameters[] = {"bayesian", "evolution", "random", NULL};

static const struct tutti_param agebo_params[] = {
    TUTTI_INTEGER(
        struct agebo_config, population, "0", 0, 1000000,
        "Finished trials that may be parents, the latest ones; architectures are random until there are so many. 0: a "
        "fifth of the budget, which gives 100 for the paper's 500 networks, as in its code; 100 without a budget.",
        .unit = "trials"),
    TUTTI_INTEGER(
        struct agebo_config, sample, "0", 0, 1000000,
        "Of them so many are drawn, without replacement; the best is the parent. 0: the root of the population, which "
        "gives 10, as in the paper's code.",
        .unit = "trials"),
    TUTTI_CHOICE(struct agebo_config, architecture, "evolution", agebo_architectures,
                 "Where architectures come from: aging evolution, or random draws."),
    TUTTI_CHOICE(struct agebo_config, hyperparameters, "bayesian", agebo_hyperparameters,
                 "Where hyperparameters come from: the model; evolution, which gives one variable of architecture and "
                 "hyperparameters together another value; or random draws."),
    TUTTI_INTEGER(
        struct agebo_config, initial, "0", 0, 1000000,
        "Trials whose hyperparameters are drawn before the model proposes any; 0: as many as may be outstanding at "
        "once (run.window), as in the paper.",
        .unit = "trials"),
    TUTTI_BOOL(struct agebo_config, warm_start, "no",
               "Let the training of a child start from its parent's weights, in all layers that both have in the same "
               "place and shape. Members that descend from each other then differ less."),
    TUTTI_PROPOSER_PARAMS(struct agebo_config, model, "liar", "worst", "random-forest", "lcb", "sample"),
};

struct agebo {
  const struct agebo_config *config;
  const tutti_scope *scope;
  const tutti_domain *hyperparameters; /* NULL, or without dimensions, if the recipe fixes all */
  uint64_t seed, initial;
  size_t capacity, sample; /* of the population, and of a draw from it */
  tutti_population *population;
  tutti_scope *marginal;    /* the hyperparameters without the architecture; NULL without a model */
  tutti_proposer *proposer; /* over it */
};

static size_t searched_agebo(const struct agebo *self) {
  return self->hyperparameters ? tutti_domain_count(self->hyperparameters) : 0;
}

/* --- life --------------------------------------------------------------------------------------------------------- */

/* Take the sizes from the recipe; otherwise a fifth of the budget, 100 of 500 networks, which is also what a run has
   whose time alone says how many networks it trains. The paper does not say its own. */
static void size_population_agebo(struct agebo *self, uint64_t budget) {
  const struct agebo_config *config = self->config;
  self->capacity = (size_t)config->population;
  if (self->capacity == 0)
    self->capacity = budget == 0 ? 100 : budget / 5 > 2 ? (size_t)(budget / 5) : 2;
  self->sample = (size_t)config->sample;
  if (self->sample == 0)
    self->sample = (size_t)lround(sqrt((double)self->capacity));
}

static enum tutti_status check_agebo(tutti_context *context, const struct agebo *self, uint64_t budget) {
  const tutti_domain *architectures = tutti_space_domain(tutti_scope_space(self->scope));
  if (self->sample > self->capacity)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "[builder] sample: %zu is more than population, %zu: no parents could be drawn", self->sample,
                      self->capacity);
  if (architectures && tutti_domain_cardinality(architectures) <= 1)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "[space] has a single architecture, and builder agebo evolves architectures: give the space "
                      "choices, or search hyperparameters alone with builder bo or nes-rs");
  if (self->config->architecture == ARCHITECTURE_EVOLUTION && budget > 0 && self->capacity >= budget)
    tutti_log(
        context, TUTTI_LOG_WARNING,
        "[builder] population = %zu is not full before the budget of %llu networks is spent: every architecture will "
        "be random; a fifth of the budget is usual",
        self->capacity, (unsigned long long)budget);
  return TUTTI_OK;
}

static void builder_destroy_agebo(void *instance) {
  struct agebo *self = instance;
  tutti_proposer_destroy(self->proposer);
  tutti_scope_destroy(self->marginal);
  tutti_population_destroy(self->population);
  tutti_free(self);
}

static enum tutti_status create_model_agebo(tutti_context *context, struct agebo *self, const tutti_host *host) {
  TUTTI_TRY(context, tutti_scope_create(context, NULL, self->hyperparameters, &self->marginal));
  /* A forest has no hyperparameters worth keeping: it is fitted anew for each proposal. */
  struct tutti_proposer_setup setup = tutti_proposer_setup_of(&self->config->model, host, self->marginal, SIZE_MAX);
  return tutti_proposer_create(context, &setup, &self->proposer);
}

static enum tutti_status builder_create_agebo(tutti_context *context, const void *config, const void *setup_,
                                              void **instance) {
  const struct tutti_builder_setup *setup = setup_;
  enum tutti_status status;
  struct agebo *self = NULL;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof(*self), &self));
  self->config = config;
  self->scope = tutti_host_scope(setup->host);
  self->hyperparameters = tutti_scope_hyperparameters(self->scope);
  self->seed = tutti_host_seed(setup->host);
  self->initial = self->config->initial ? (uint64_t)self->config->initial : tutti_host_window(setup->host);
  size_population_agebo(self, tutti_host_budget(setup->host));
  TUTTI_TRY_OUT(context, check_agebo(context, self, tutti_host_budget(setup->host)));
  TUTTI_TRY_OUT(context, tutti_population_create(context, self->capacity, &self->population));
  if (self->config->hyperparameters == HYPERPARAMETERS_BAYESIAN && searched_agebo(self) > 0)
    TUTTI_TRY_OUT(context, create_model_agebo(context, self, setup->host));
  *instance = self;
  return TUTTI_OK;
out:
  builder_destroy_agebo(self);
  return status;
}

/* --- ask ---------------------------------------------------------------------------------------------------------- */

/* The parts of a trial, on the way to a candidate. */
struct parts {
  tutti_genotype *genotype;
  double *point; /* of the hyperparameters */
  const char *origin;
  double worth; /* of the hyperparameters under the model; NaN without */
  uint64_t parent;
};

/* Mutate the best of a sample: its architecture, or, if both evolve, one variable of the two. */
static enum tutti_status evolve_agebo(struct agebo *self, tutti_context *context, struct tutti_random *random,
                                      struct parts *parts) {
  const struct tutti_individual *parent = tutti_population_tournament(self->population, random, self->sample);
  tutti_candidate *mutant = NULL;
  parts->origin = "mutation";
  parts->parent = parent->trial;
  if (self->config->hyperparameters != HYPERPARAMETERS_EVOLUTION)
    return tutti_space_mutate(context, tutti_scope_space(self->scope), random,
                              tutti_candidate_genotype(parent->candidate), &parts->genotype);
  TUTTI_TRY(context, tutti_scope_mutate(context, self->scope, random, parent->candidate, 0, &mutant));
  parts->genotype = tutti_genotype_ref(tutti_candidate_genotype(mutant));
  for (size_t i = 0; i < searched_agebo(self); i++)
    parts->point[i] = tutti_candidate_hyperparameters(mutant)[i];
  tutti_candidate_unref(mutant);
  return TUTTI_OK;
}

static enum tutti_status draw_architecture_agebo(struct agebo *self, tutti_context *context,
                                                 struct tutti_random *random, struct parts *parts) {
  parts->origin = "random";
  return tutti_space_sample(context, tutti_scope_space(self->scope), random, &parts->genotype);
}

/* Let the model replace the hyperparameters. If it has none left to propose, the present ones stay. */
static enum tutti_status model_hyperparameters_agebo(struct agebo *self, tutti_context *context, uint64_t trial,
                                                     struct parts *parts) {
  tutti_candidate *candidate = NULL;
  if (trial < self->initial)
    TUTTI_TRY(context, tutti_proposer_draw(context, self->proposer, trial, &candidate));
  else
    TUTTI_TRY(context, tutti_proposer_propose(context, self->proposer, trial, &candidate, &parts->worth));
  for (size_t i = 0; candidate && i < searched_agebo(self); i++)
    parts->point[i] = tutti_candidate_hyperparameters(candidate)[i];
  tutti_candidate_unref(candidate);
  return TUTTI_OK;
}

static enum tutti_status make_parts_agebo(struct agebo *self, tutti_context *context, uint64_t trial,
                                          struct parts *parts) {
  struct tutti_random random;
  bool evolves = self->config->architecture == ARCHITECTURE_EVOLUTION && tutti_population_full(self->population);
  tutti_random_init(&random, self->seed, "agebo candidate", trial);
  if (searched_agebo(self) > 0)
    tutti_domain_sample(self->hyperparameters, &random, parts->point);
  if (evolves)
    TUTTI_TRY(context, evolve_agebo(self, context, &random, parts));
  else
    TUTTI_TRY(context, draw_architecture_agebo(self, context, &random, parts));
  return self->proposer ? model_hyperparameters_agebo(self, context, trial, parts) : TUTTI_OK;
}

/* The candidate as the model sees it: its hyperparameters without the architecture. */
static enum tutti_status marginal_agebo(const struct agebo *self, tutti_context *context,
                                        const tutti_candidate *candidate, tutti_candidate **marginal) {
  return tutti_scope_candidate(context, self->marginal, NULL, tutti_candidate_hyperparameters(candidate),
                               tutti_candidate_seed(candidate), marginal);
}

static enum tutti_status builder_adopt_agebo(void *instance, tutti_context *context, uint64_t trial,
                                             const struct tutti_proposal *proposal) {
  struct agebo *self = instance;
  tutti_candidate *marginal;
  if (!self->proposer)
    return TUTTI_OK;
  TUTTI_TRY(context, marginal_agebo(self, context, proposal->candidate, &marginal));
  enum tutti_status status = tutti_proposer_asked(context, self->proposer, trial, marginal);
  tutti_candidate_unref(marginal);
  return status;
}

static enum tutti_status builder_ask_agebo(void *instance, tutti_context *context, uint64_t trial,
                                           struct tutti_proposal *proposal) {
  struct agebo *self = instance;
  struct parts parts = {.worth = NAN, .parent = TUTTI_NO_TRIAL};
  enum tutti_status status;
  TUTTI_TRY_OUT(context, tutti_alloc(context, searched_agebo(self), sizeof(double), &parts.point));
  TUTTI_TRY_OUT(context, make_parts_agebo(self, context, trial, &parts));
  TUTTI_TRY_OUT(context, tutti_scope_candidate(context, self->scope, parts.genotype, parts.point,
                                               tutti_trial_seed(self->seed, trial), &proposal->candidate));
  proposal->parent = parts.parent;
  if (isnan(parts.worth))
    snprintf(proposal->origin, sizeof(proposal->origin), "%s", parts.origin);
  else
    snprintf(proposal->origin, sizeof(proposal->origin), "%s, %s %.4g", parts.origin, self->config->model.acquisition,
             parts.worth);
  TUTTI_TRY_OUT(context, builder_adopt_agebo(self, context, trial, proposal));
out:
  tutti_genotype_unref(parts.genotype);
  tutti_free(parts.point);
  return status;
}

/* --- tell --------------------------------------------------------------------------------------------------------- */

/* A failed trial never becomes a parent; parameter `failed` says how the model counts it. */
static enum tutti_status builder_tell_agebo(void *instance, tutti_context *context, const struct tutti_result *result) {
  struct agebo *self = instance;
  double loss = result->state == TUTTI_STATE_FINISHED ? result->loss : NAN;
  tutti_candidate *marginal;
  if (isfinite(loss))
    TUTTI_TRY(context, tutti_population_add(context, self->population, result->trial, result->candidate, loss));
  if (!self->proposer)
    return TUTTI_OK;
  TUTTI_TRY(context, marginal_agebo(self, context, result->candidate, &marginal));
  enum tutti_status status = tutti_proposer_told(context, self->proposer, result->trial, marginal, loss);
  tutti_candidate_unref(marginal);
  return status;
}

static enum tutti_status builder_describe_agebo(void *instance, tutti_context *context, char **json) {
  const struct agebo *self = instance;
  size_t members = tutti_population_count(self->population);
  double best = INFINITY;
  for (size_t i = 0; i < members; i++)
    best = fmin(best, tutti_population_at(self->population, i)->loss);
  json_t *object =
      json_pack("{s:I, s:I, s:o, s:I}", "population", (json_int_t)members, "oldest",
                members ? (json_int_t)tutti_population_at(self->population, 0)->trial : (json_int_t)-1,
                "best_of_population", members ? json_real(best) : json_null(), "observed",
                self->proposer ? (json_int_t)tutti_proposer_observed_count(self->proposer) : (json_int_t)0);
  char *state;
  TUTTI_TRY(context, shared_json_print(context, object, JSON_REAL_PRECISION(17), "the builder's state", &state));
  enum tutti_status status = tutti_proposer_describe_in(context, self->proposer, state, json);
  tutti_free(state);
  return status;
}

static bool builder_warm_agebo(void *instance) { return ((const struct agebo *)instance)->config->warm_start; }

static const struct tutti_builder_ops agebo_ops = {
    .size = sizeof(struct tutti_builder_ops),
    .ask = builder_ask_agebo,
    .tell = builder_tell_agebo,
    .adopt = builder_adopt_agebo,
    .describe = builder_describe_agebo,
    .warm = builder_warm_agebo,
};

static const struct tutti_descriptor agebo_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_BUILDER, "agebo"),
    .version = "1.0",
    .summary = "aging evolution of architectures with Bayesian optimisation of hyperparameters",
    .source =
        "Egele et al., AutoDEUQ: Automated Deep Ensemble with Uncertainty Quantification, ICPR 2022, Algorithm 1; "
        "Real et al., Regularized evolution for image classifier architecture search, AAAI 2019",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(agebo_params, struct agebo_config),
    .create = builder_create_agebo,
    .destroy = builder_destroy_agebo,
    .ops = &agebo_ops,
};

TUTTI_PLUGIN(agebo_descriptor)
