/* hyperens.c - hyper ensembles and hyper deep ensembles. Wenzel, Snoek, Tran, Jenatton, "Hyperparameter ensembles for
   robustness and uncertainty quantification", NeurIPS 2020, section 3.

   Hyper ensemble (`configurations = 0`): candidates are drawn at random; with space fixed, they differ only in their
   hyperparameters and initialisations. The recipe's selector (greedy) then selects among them. Hyper deep ensemble
   (`configurations` = K): the last K x `initialisations` networks of the budget are stratified. A greedy selection
   picks K members from the networks drawn at random before; each of these configurations is trained again from further
   initialisations, and the recipe's selector chooses among these networks, or among all (`members`).

   Deviations: if the selection has fewer than K members, each gets more initialisations, so that the budget is always
   spent. Every network has initial weights of its own, also the random ones, which Wenzel et al. begin alike, so that a
   hyper ensemble differs in both. */
#include <stdio.h>
#include <tutti/plugin.h>

enum { MEMBERS_STRATA, MEMBERS_ALL };

struct hyperens_config {
  int64_t configurations, initialisations;
  int members;
  const char *stratum_selector;
};

static const char *const members_names[] = {"strata", "all", NULL};

static const struct tutti_param hyperens_params[] = {
    TUTTI_INTEGER(
        struct hyperens_config, configurations, "0", 0, 100000,
        "Configurations that are trained again from other initialisations (hyper deep ensemble); 0: none (hyper "
        "ensemble). The paper takes the ensemble's size."),
    TUTTI_INTEGER(struct hyperens_config, initialisations, "5", 1, 100000,
                  "Further initialisations of each. The paper takes the ensemble's size."),
    TUTTI_CHOICE(
        struct hyperens_config, members, "strata", members_names,
        "What may be a member of a hyper deep ensemble: networks of these initialisations, as in the paper, or "
        "those of the random phase, too, which cost nothing more."),
    TUTTI_SUBPLUGIN(struct hyperens_config, stratum_selector, "greedy", TUTTI_KIND_SELECTOR,
                    "Chooses these configurations."),
};

struct hyperens {
  const struct hyperens_config *config;
  const tutti_host *host;
  const tutti_scope *scope;
  uint64_t seed;
  uint64_t random_trials;       /* the rest of the budget is stratified */
  tutti_candidate **candidates; /* [random_trials]: NULL where a trial did not finish */
  uint64_t told;                /* results of the random trials so far */
  uint64_t *strata;             /* trials that are trained again; NULL until they are chosen */
  size_t strata_count;
  tutti_selector *selector; /* NULL without strata */
};

/* --- life --------------------------------------------------------------------------------------------------------- */

static enum tutti_status check_hyperens(tutti_context *context, const struct hyperens *self, uint64_t stratified) {
  uint64_t budget = tutti_host_budget(self->host);
  if (stratified >= budget)
    return TUTTI_FAIL(
        context, TUTTI_ERROR_USAGE,
        "[builder] configurations x initialisations: %llu networks leave none of the budget of %llu to the "
        "random phase",
        (unsigned long long)stratified, (unsigned long long)budget);
  const struct tutti_task *task = tutti_host_task(self->host);
  if (task && task->kind == TUTTI_TASK_VALUE)
    return TUTTI_FAIL(
        context, TUTTI_ERROR_UNSUPPORTED,
        "[builder] configurations: strata are selected by predictions, and this recipe has no data: take 0");
  return TUTTI_OK;
}

static void builder_destroy_hyperens(void *instance) {
  struct hyperens *self = instance;
  for (uint64_t i = 0; self->candidates && i < self->random_trials; i++)
    tutti_candidate_unref(self->candidates[i]);
  tutti_free(self->candidates);
  tutti_free(self->strata);
  tutti_selector_destroy(self->selector);
  tutti_free(self);
}

static enum tutti_status create_strata_hyperens(tutti_context *context, struct hyperens *self) {
  struct tutti_selector_setup setup = {.size = sizeof(setup), .host = self->host, .seed = self->seed};
  uint64_t stratified = (uint64_t)self->config->configurations * (uint64_t)self->config->initialisations;
  if (stratified == 0)
    return TUTTI_OK;
  TUTTI_TRY(context, check_hyperens(context, self, stratified));
  self->random_trials = tutti_host_budget(self->host) - stratified;
  TUTTI_TRY(context, tutti_alloc(context, self->random_trials, sizeof(*self->candidates), &self->candidates));
  return tutti_selector_create(context, self->host, "stratum_selector", &setup, &self->selector);
}

static enum tutti_status builder_create_hyperens(tutti_context *context, const void *config, const void *setup_,
                                                 void **instance) {
  const struct tutti_builder_setup *setup = setup_;
  enum tutti_status status;
  struct hyperens *self = NULL;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof(*self), &self));
  self->config = config;
  self->host = setup->host;
  self->scope = tutti_host_scope(setup->host);
  self->seed = tutti_host_seed(setup->host);
  self->random_trials = UINT64_MAX;
  TUTTI_TRY_OUT(context, create_strata_hyperens(context, self));
  *instance = self;
  return TUTTI_OK;
out:
  builder_destroy_hyperens(self);
  return status;
}

/* --- strata ------------------------------------------------------------------------------------------------------- */

/* The members that the selector takes from the finished trials of the random phase. */
static enum tutti_status select_hyperens(struct hyperens *self, tutti_context *context, const struct tutti_pool *pool) {
  tutti_ensemble *ensemble = NULL;
  enum tutti_status status;
  TUTTI_TRY_OUT(context, tutti_ensemble_create(context, &ensemble));
  TUTTI_TRY_OUT(context,
                tutti_selector_select(context, self->selector, pool, (size_t)self->config->configurations, ensemble));
  TUTTI_TRY_OUT(context, tutti_alloc(context, tutti_ensemble_size(ensemble), sizeof(*self->strata), &self->strata));
  self->strata_count = tutti_ensemble_size(ensemble);
  for (size_t i = 0; i < self->strata_count; i++)
    self->strata[i] = tutti_ensemble_trial(ensemble, i);
out:
  tutti_ensemble_destroy(ensemble);
  return status;
}

/* Choose the strata when the random phase is over; none if none of its trials finished. */
static enum tutti_status choose_strata_hyperens(struct hyperens *self, tutti_context *context) {
  struct tutti_pool pool = {.size = sizeof pool};
  uint64_t *finished = NULL;
  size_t count = 0;
  enum tutti_status status;
  TUTTI_TRY_OUT(context, tutti_alloc(context, self->random_trials, sizeof(*finished), &finished));
  for (uint64_t i = 0; i < self->random_trials; i++)
    if (self->candidates[i])
      finished[count++] = i;
  if (count == 0)
    goto out;
  TUTTI_TRY_OUT(context, tutti_host_pool(context, self->host, "validation", count, finished, &pool));
  status = select_hyperens(self, context, &pool);
  tutti_host_pool_release(self->host, &pool);
out:
  tutti_free(finished);
  return status;
}

/* --- ask and tell ------------------------------------------------------------------------------------------------- */

static enum tutti_status draw_hyperens(const struct hyperens *self, tutti_context *context, uint64_t trial,
                                       struct tutti_proposal *proposal) {
  struct tutti_random random;
  tutti_random_init(&random, self->seed, "hyperens candidate", trial);
  snprintf(proposal->origin, sizeof(proposal->origin), "random");
  return tutti_scope_sample(context, self->scope, &random, tutti_trial_seed(self->seed, trial), &proposal->candidate);
}

static enum tutti_status stratify_hyperens(const struct hyperens *self, tutti_context *context, uint64_t trial,
                                           struct tutti_proposal *proposal) {
  uint64_t place = trial - self->random_trials;
  const tutti_candidate *configuration = self->candidates[self->strata[place % self->strata_count]];
  proposal->parent = self->strata[place % self->strata_count];
  snprintf(proposal->origin, sizeof(proposal->origin), "stratum %llu, initialisation %llu",
           (unsigned long long)(place % self->strata_count), (unsigned long long)(place / self->strata_count));
  return tutti_scope_candidate(context, self->scope, tutti_candidate_genotype(configuration),
                               tutti_candidate_hyperparameters(configuration), tutti_trial_seed(self->seed, trial),
                               &proposal->candidate);
}

static enum tutti_status builder_ask_hyperens(void *instance, tutti_context *context, uint64_t trial,
                                              struct tutti_proposal *proposal) {
  struct hyperens *self = instance;
  proposal->parent = TUTTI_NO_TRIAL;
  if (trial < self->random_trials)
    return draw_hyperens(self, context, trial, proposal);
  if (self->told < self->random_trials)
    return TUTTI_OK; /* the selection wants all of them */
  if (!self->strata)
    TUTTI_TRY(context, choose_strata_hyperens(self, context));
  return self->strata ? stratify_hyperens(self, context, trial, proposal)
                      : draw_hyperens(self, context, trial, proposal);
}

static enum tutti_status builder_adopt_hyperens(void *instance, tutti_context *context, uint64_t trial,
                                                const struct tutti_proposal *proposal) {
  (void)instance, (void)context, (void)trial, (void)proposal;
  return TUTTI_OK;
}

static enum tutti_status builder_tell_hyperens(void *instance, tutti_context *context,
                                               const struct tutti_result *result) {
  struct hyperens *self = instance;
  (void)context;
  if (!self->candidates || result->trial >= self->random_trials)
    return TUTTI_OK;
  self->told++;
  if (result->state == TUTTI_STATE_FINISHED && isfinite(result->loss))
    self->candidates[result->trial] = tutti_candidate_ref(result->candidate);
  return TUTTI_OK;
}

static uint64_t builder_members_from_hyperens(void *instance) {
  const struct hyperens *self = instance;
  return self->selector && self->config->members == MEMBERS_STRATA ? self->random_trials : 0;
}

static const struct tutti_builder_ops hyperens_ops = {
    .size = sizeof(struct tutti_builder_ops),
    .ask = builder_ask_hyperens,
    .tell = builder_tell_hyperens,
    .adopt = builder_adopt_hyperens,
    .members_from = builder_members_from_hyperens,
};

static const struct tutti_descriptor hyperens_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_BUILDER, "hyperens"),
    .version = "1.0",
    .summary = "hyper ensembles, and hyper deep ensembles that train the best again from other initialisations",
    .source = "Wenzel et al., Hyperparameter ensembles for robustness and uncertainty quantification, NeurIPS 2020",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(hyperens_params, struct hyperens_config),
    .create = builder_create_hyperens,
    .destroy = builder_destroy_hyperens,
    .ops = &hyperens_ops,
};

TUTTI_PLUGIN(hyperens_descriptor)
