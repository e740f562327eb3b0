/* nes-re.c - regularised evolution whose parents are chosen as an ensemble: Zaidi, Zela, Elsken, Holmes, Hutter, Teh,
   "Neural Ensemble Search for Uncertainty Estimation and Dataset Shift", NeurIPS 2021, algorithm NES-RE. The first
   `population` trials are random. Each later one draws a severity and takes the validation rows shifted by it;
   ForwardSelect chooses the `parents` members of the population that form the best ensemble there; one of them, drawn
   uniformly, is mutated. A finished trial enters the population and the oldest leaves; failed trials do not enter. With
   `severities = 0` it sees only clean data (NES-RE-0 of the paper).

   Where results are looked up (backend table) there are losses and no predictions. Parents are then chosen by a
   selector that goes by losses (`parent_selector = top-m`: the best members of the population); the paper looks up
   trained networks, whose predictions it has.

   Deviations: searched hyperparameters evolve, too (the paper fixes them); if the selection fails because no member has
   a finite loss on the shifted rows, all members are parents. As in the published program, it does not wait for trials:
   parents are chosen among those that have finished, and if none has, the trial is random. */
#include <stdio.h>
#include <stdlib.h>
#include <tutti/kit.h>

enum { HYPERPARAMETERS_MUTATE, HYPERPARAMETERS_INHERIT, HYPERPARAMETERS_DRAW };

struct nes_re_config {
  int64_t population, parents;
  struct tutti_integers severities;
  double identity;
  int hyperparameters;
  const char *parent_selector;
  bool warm_start;
};

static const char *const nes_re_hyperparameters[] = {"mutate", "inherit", "draw", NULL};

static const struct tutti_param nes_re_params[] = {
    TUTTI_INTEGER(
        struct nes_re_config, population, "50", 1, 1000000,
        "Finished trials that may be parents, the latest ones; as many trials at the beginning are random. The "
        "paper's "
        "50 suits its budget of 400: take an eighth of the budget.",
        .unit = "trials"),
    TUTTI_INTEGER(struct nes_re_config, parents, "10", 1, 1000000,
                  "Members of the population that are selected for each trial; one of them is its parent.",
                  .unit = "trials"),
    TUTTI_INTEGERS(
        struct nes_re_config, severities, "0", 0, 5,
        "Shifts of the validation rows (data.shift) of which one is drawn for each selection; 0: the rows as they "
        "are. The paper has 0 5, and 0 alone in NES-RE-0."),
    TUTTI_REAL(
        struct nes_re_config, identity, "0.3333333333333333", 0, 1,
        "Probability that a child has its parent's architecture, trained from another seed; else it is a mutant. The "
        "paper has 1/3 with cells of DARTS, 0 with NAS-Bench-201."),
    TUTTI_CHOICE(
        struct nes_re_config, hyperparameters, "mutate", nes_re_hyperparameters,
        "Where a child's searched hyperparameters come from: its parent, one of them changed; its parent; or a new "
        "draw."),
    TUTTI_SUBPLUGIN(struct nes_re_config, parent_selector, "forward", TUTTI_KIND_SELECTOR, "What chooses the parents."),
    TUTTI_BOOL(struct nes_re_config, warm_start, "no",
               "Let the training of a child start from its parent's weights, in all layers that both have in the same "
               "place and shape. Members that descend from each other then differ less."),
};

struct nes_re {
  const struct nes_re_config *config;
  const tutti_host *host;
  const tutti_scope *scope;
  const tutti_domain *hyperparameters; /* NULL, or without dimensions, if the recipe fixes all */
  uint64_t seed;
  tutti_population *population;
  tutti_selector *selector;
  bool losses_alone; /* trials have no predictions */
  uint64_t *trials;  /* [population]: of its members, ascending */
  double *losses;    /* [population]: theirs, in the same order */
};

static size_t searched_nes_re(const struct nes_re *self) {
  return self->hyperparameters ? tutti_domain_count(self->hyperparameters) : 0;
}

/* --- life --------------------------------------------------------------------------------------------------------- */

enum { SPLIT_SIZE = 32 };

/* The split of validation rows at a severity. */
static void split_of_severity(int64_t severity, char name[SPLIT_SIZE]) {
  if (severity == 0)
    (void)snprintf(name, SPLIT_SIZE, "validation");
  else
    (void)snprintf(name, SPLIT_SIZE, "validation-%lld", (long long)severity);
}

/* The predictions of no trials: this reports a missing split before anything is trained, and finds out whether there
   are predictions at all. */
static enum tutti_status check_severities_nes_re(tutti_context *context, struct nes_re *self) {
  const struct tutti_integers *severities = &self->config->severities;
  for (size_t i = 0; i < severities->count; i++) {
    struct tutti_pool pool = {.size = sizeof pool};
    char split[SPLIT_SIZE];
    split_of_severity(severities->values[i], split);
    enum tutti_status status = tutti_host_pool(context, self->host, split, 0, NULL, &pool);
    self->losses_alone = status == TUTTI_ERROR_UNSUPPORTED && severities->values[i] == 0;
    if (self->losses_alone) {
      tutti_error_clear(context);
      continue;
    }
    if (status != TUTTI_OK)
      return tutti_error_prefix(context, status, "[builder] severities: %lld (data.shift makes shifted rows): ",
                                (long long)severities->values[i]);
    tutti_host_pool_release(self->host, &pool);
  }
  return TUTTI_OK;
}

static enum tutti_status check_nes_re(tutti_context *context, struct nes_re *self) {
  const struct nes_re_config *config = self->config;
  uint64_t budget = tutti_host_budget(self->host);
  if (config->parents > config->population)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "[builder] parents: %lld is more than population, %lld: there would be nothing to select",
                      (long long)config->parents, (long long)config->population);
  if (budget > 0 && (uint64_t)config->population >= budget)
    tutti_log(
        context, TUTTI_LOG_WARNING,
        "[builder] population = %lld random trials spend the budget that the run begins with, %llu networks: within it "
        "nothing evolves; an eighth of the budget is usual",
        (long long)config->population, (unsigned long long)budget);
  return check_severities_nes_re(context, self);
}

static void builder_destroy_nes_re(void *instance) {
  struct nes_re *self = instance;
  tutti_selector_destroy(self->selector);
  tutti_population_destroy(self->population);
  tutti_free(self->trials);
  tutti_free(self->losses);
  tutti_free(self);
}

static enum tutti_status create_selector_nes_re(tutti_context *context, struct nes_re *self) {
  struct tutti_selector_setup setup = {.size = sizeof setup, .host = self->host, .seed = tutti_host_seed(self->host)};
  TUTTI_TRY(context, tutti_selector_create(context, self->host, "parent_selector", &setup, &self->selector));
  if (!self->losses_alone || !tutti_selector_needs_predictions(self->selector))
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "[builder] parent_selector: selector %s chooses by predictions, and the trials of this recipe have "
                    "only losses; take one that goes by losses: top-m",
                    tutti_selector_descriptor(self->selector)->name);
}

static enum tutti_status builder_create_nes_re(tutti_context *context, const void *config, const void *setup_,
                                               void **instance) {
  const struct tutti_builder_setup *setup = setup_;
  enum tutti_status status;
  struct nes_re *self = NULL;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof(*self), &self));
  self->config = config;
  self->host = setup->host;
  self->scope = tutti_host_scope(setup->host);
  self->hyperparameters = tutti_scope_hyperparameters(self->scope);
  self->seed = tutti_host_seed(setup->host);
  size_t capacity = (size_t)self->config->population;
  TUTTI_TRY_OUT(context, check_nes_re(context, self));
  TUTTI_TRY_OUT(context, tutti_population_create(context, capacity, &self->population));
  TUTTI_TRY_OUT(context, tutti_alloc(context, capacity, sizeof(*self->trials), &self->trials));
  TUTTI_TRY_OUT(context, tutti_alloc(context, capacity, sizeof(*self->losses), &self->losses));
  TUTTI_TRY_OUT(context, create_selector_nes_re(context, self));
  *instance = self;
  return TUTTI_OK;
out:
  builder_destroy_nes_re(self);
  return status;
}

/* --- parents ------------------------------------------------------------------------------------------------------ */

static int ascending(const void *a_, const void *b_) {
  const uint64_t *a = a_, *b = b_;
  return (*a > *b) - (*a < *b);
}

/* Trials enter the population as they finish, but a pool lists them in ascending order. */
static size_t list_trials_nes_re(struct nes_re *self) {
  size_t count = tutti_population_count(self->population);
  for (size_t i = 0; i < count; i++)
    self->trials[i] = tutti_population_at(self->population, i)->trial;
  qsort(self->trials, count, sizeof(*self->trials), ascending);
  return count;
}

static const struct tutti_individual *member_of_trial(const struct nes_re *self, uint64_t trial) {
  size_t i = 0;
  while (tutti_population_at(self->population, i)->trial != trial)
    i++;
  return tutti_population_at(self->population, i);
}

/* The listed trials with their losses alone. */
static struct tutti_pool pool_of_losses_nes_re(struct nes_re *self, size_t count) {
  for (size_t i = 0; i < count; i++)
    self->losses[i] = member_of_trial(self, self->trials[i])->loss;
  return (struct tutti_pool){.size = sizeof(struct tutti_pool),
                             .kind = TUTTI_TASK_VALUE,
                             .models = count,
                             .trials = self->trials,
                             .losses = self->losses};
}

/* Select among the listed trials at a severity. *selected = false: no member has a finite loss there. */
static enum tutti_status select_parents_nes_re(struct nes_re *self, tutti_context *context, int64_t severity,
                                               size_t count, tutti_ensemble *parents, bool *selected) {
  struct tutti_pool pool = {.size = sizeof pool};
  char split[SPLIT_SIZE];
  split_of_severity(severity, split);
  if (self->losses_alone)
    pool = pool_of_losses_nes_re(self, count);
  else
    TUTTI_TRY(context, tutti_host_pool(context, self->host, split, count, self->trials, &pool));
  enum tutti_status status =
      tutti_selector_select(context, self->selector, &pool, (size_t)self->config->parents, parents);
  if (!self->losses_alone)
    tutti_host_pool_release(self->host, &pool);
  *selected = status == TUTTI_OK;
  if (status != TUTTI_ERROR_NUMERIC)
    return status;
  tutti_error_clear(context);
  return TUTTI_OK;
}

/* Draw a parent among the members that form the best ensemble at a severity; among all if there are no more than
   that. */
static enum tutti_status draw_parent_nes_re(struct nes_re *self, tutti_context *context, struct tutti_random *random,
                                            int64_t severity, uint64_t *parent) {
  size_t count = list_trials_nes_re(self);
  enum tutti_status status = TUTTI_OK;
  tutti_ensemble *parents = NULL;
  bool selected = false;
  TUTTI_TRY_OUT(context, tutti_ensemble_create(context, &parents));
  if (count > (size_t)self->config->parents)
    TUTTI_TRY_OUT(context, select_parents_nes_re(self, context, severity, count, parents, &selected));
  *parent = selected ? tutti_ensemble_trial(parents, tutti_random_below(random, tutti_ensemble_size(parents)))
                     : self->trials[tutti_random_below(random, count)];
out:
  tutti_ensemble_destroy(parents);
  return status;
}

/* --- children ----------------------------------------------------------------------------------------------------- */

/* Put the hyperparameters of a child into point[searched]. */
static void make_hyperparameters_nes_re(const struct nes_re *self, struct tutti_random *random,
                                        const tutti_candidate *parent, double *point) {
  size_t count = searched_nes_re(self);
  if (count == 0)
    return;
  if (self->config->hyperparameters == HYPERPARAMETERS_DRAW) {
    tutti_domain_sample(self->hyperparameters, random, point);
    return;
  }
  for (size_t i = 0; i < count; i++)
    point[i] = tutti_candidate_hyperparameters(parent)[i];
  if (self->config->hyperparameters == HYPERPARAMETERS_MUTATE)
    (void)tutti_domain_mutate(self->hyperparameters, random, point);
}

static enum tutti_status make_child_nes_re(const struct nes_re *self, tutti_context *context,
                                           struct tutti_random *random, uint64_t trial, const tutti_candidate *parent,
                                           bool identity, tutti_candidate **child) {
  const tutti_genotype *old = tutti_candidate_genotype(parent);
  enum tutti_status status = TUTTI_OK;
  tutti_genotype *genotype = NULL;
  double *point = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, searched_nes_re(self), sizeof(*point), &point));
  if (identity)
    genotype = tutti_genotype_ref(old);
  else
    TUTTI_TRY_OUT(context, tutti_space_mutate(context, tutti_scope_space(self->scope), random, old, &genotype));
  make_hyperparameters_nes_re(self, random, parent, point);
  status = tutti_scope_candidate(context, self->scope, genotype, point, tutti_trial_seed(self->seed, trial), child);
out:
  tutti_genotype_unref(genotype);
  tutti_free(point);
  return status;
}

static enum tutti_status evolve_nes_re(struct nes_re *self, tutti_context *context, struct tutti_random *random,
                                       uint64_t trial, struct tutti_proposal *proposal) {
  const struct tutti_integers *severities = &self->config->severities;
  int64_t severity = severities->values[tutti_random_below(random, severities->count)];
  TUTTI_TRY(context, draw_parent_nes_re(self, context, random, severity, &proposal->parent));
  bool identity = tutti_random_uniform(random) < self->config->identity;
  TUTTI_TRY(context, make_child_nes_re(self, context, random, trial, member_of_trial(self, proposal->parent)->candidate,
                                       identity, &proposal->candidate));
  (void)snprintf(proposal->origin, sizeof(proposal->origin), "%s, severity %lld", identity ? "identity" : "mutation",
                 (long long)severity);
  return TUTTI_OK;
}

/* --- ask and tell ------------------------------------------------------------------------------------------------- */

static enum tutti_status builder_ask_nes_re(void *instance, tutti_context *context, uint64_t trial,
                                            struct tutti_proposal *proposal) {
  struct nes_re *self = instance;
  struct tutti_random random;
  tutti_random_init(&random, self->seed, "nes-re candidate", trial);
  if (trial >= (uint64_t)self->config->population && tutti_population_count(self->population) > 0)
    return evolve_nes_re(self, context, &random, trial, proposal);
  proposal->parent = TUTTI_NO_TRIAL;
  (void)snprintf(proposal->origin, sizeof(proposal->origin), "random");
  return tutti_scope_sample(context, self->scope, &random, tutti_trial_seed(self->seed, trial), &proposal->candidate);
}

/* Asking does not change the builder's state, so there is nothing to do. */
static enum tutti_status builder_adopt_nes_re(void *instance, tutti_context *context, uint64_t trial,
                                              const struct tutti_proposal *proposal) {
  (void)instance, (void)context, (void)trial, (void)proposal;
  return TUTTI_OK;
}

static enum tutti_status builder_tell_nes_re(void *instance, tutti_context *context,
                                             const struct tutti_result *result) {
  struct nes_re *self = instance;
  if (result->state != TUTTI_STATE_FINISHED || !isfinite(result->loss))
    return TUTTI_OK;
  return tutti_population_add(context, self->population, result->trial, result->candidate, result->loss);
}

static enum tutti_status builder_describe_nes_re(void *instance, tutti_context *context, char **json) {
  const struct nes_re *self = instance;
  size_t members = tutti_population_count(self->population);
  return tutti_format(context, json, "{\"population\": %zu, \"oldest\": %lld}", members,
                      members ? (long long)tutti_population_at(self->population, 0)->trial : -1);
}

static bool builder_warm_nes_re(void *instance) { return ((const struct nes_re *)instance)->config->warm_start; }

static const struct tutti_builder_ops nes_re_ops = {
    .size = sizeof(struct tutti_builder_ops),
    .ask = builder_ask_nes_re,
    .tell = builder_tell_nes_re,
    .adopt = builder_adopt_nes_re,
    .describe = builder_describe_nes_re,
    .warm = builder_warm_nes_re,
};

static const struct tutti_descriptor nes_re_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_BUILDER, "nes-re"),
    .version = "1.0",
    .summary = "regularised evolution with parents that make a good ensemble, on clean and shifted data",
    .source = "Zaidi et al., Neural Ensemble Search for Uncertainty Estimation and Dataset Shift, NeurIPS 2021, NES-RE",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(nes_re_params, struct nes_re_config),
    .create = builder_create_nes_re,
    .destroy = builder_destroy_nes_re,
    .ops = &nes_re_ops,
};

TUTTI_PLUGIN(nes_re_descriptor)
