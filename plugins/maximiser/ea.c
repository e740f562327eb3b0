/* ea.c - evolution on the acquisition: Kandasamy, Neiswanger, Schneider, Poczos, Xing, "Neural Architecture Search with
   Bayesian Optimisation and Optimal Transport", NeurIPS 2018, section 4. It begins with the space's initial pool
   and what was tried before (`incumbents`; the paper begins with the pool alone). In each epoch, parents are drawn from
   everything seen so far, better ones with higher probability (evolution.h), and each has one mutant. The answer is the
   best candidate that was not tried before. Deviations: of the candidates tried before, only the `incumbents` with the
   least loss are parents, so that long runs do not make a choice dearer; searched hyperparameters evolve, too. */
#include <float.h>
#include <stdlib.h>

#include "pool.h"

struct ea_config {
  struct tutti_reals evaluations, epoch;
  double spread;
  int64_t incumbents;
};

static const struct tutti_param ea_params[] = {
    TUTTI_REALS(struct ea_config, evaluations, "25 50 500", 0, 1e7,
                "Candidates tried for proposal t: the first number times the root of t, from the second to the third.",
                .min_open = true),
    TUTTI_REALS(struct ea_config, epoch, "3 5 100", 0, 1e7,
                "Mutants of an epoch: the first number times the root of `evaluations`, from the second to the third.",
                .min_open = true),
    TUTTI_REAL(struct ea_config, spread, "2", 0, TUTTI_NO_LIMIT,
               "Standard deviations of the acquisition in which the chance to be a parent falls by a factor of e.",
               .min_open = true),
    TUTTI_INTEGER(struct ea_config, incumbents, "100", 0, 1000000,
                  "Best candidates tried that may be parents from the beginning, beside the space's initial pool."),
};

struct ea {
  const struct ea_config *config;
  const tutti_scope *scope;
  uint64_t seed;
};

static enum tutti_status check_rule_ea(tutti_context *context, const char *name, const struct tutti_reals *rule) {
  if (rule->count != 3 || rule->values[1] > rule->values[2] || rule->values[1] < 1)
    return TUTTI_FAIL(
        context, TUTTI_ERROR_USAGE,
        "maximiser ea: %s: three numbers were expected, a factor, the least and the greatest count from 1 "
        "on; %zu were found%s",
        name, rule->count, rule->count == 3 ? " with limits below 1 or in the wrong order" : "");
  return TUTTI_OK;
}

static enum tutti_status maximiser_create_ea(tutti_context *context, const void *config_, const void *setup_,
                                             void **instance) {
  const struct tutti_maximiser_setup *setup = setup_;
  const struct ea_config *config = config_;
  struct ea *self = NULL;
  TUTTI_TRY(context, check_rule_ea(context, "evaluations", &config->evaluations));
  TUTTI_TRY(context, check_rule_ea(context, "epoch", &config->epoch));
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof(*self), &self));
  self->config = config;
  self->scope = setup->scope;
  self->seed = setup->seed;
  *instance = self;
  return TUTTI_OK;
}

static void maximiser_destroy_ea(void *instance) { tutti_free(instance); }

static size_t count_by(const struct tutti_reals *rule, double of) {
  return (size_t)fmin(fmax(rule->values[0] * sqrt(of), rule->values[1]), rule->values[2]);
}

static int compare_indices(const void *a, const void *b) {
  size_t first = *(const size_t *)a, second = *(const size_t *)b;
  return (first > second) - (first < second);
}

/* The best candidates tried, in the order in which they were: the losses say no more than which ones. */
static enum tutti_status begin_with_incumbents(const struct ea *self, tutti_context *context,
                                               struct maximiser_pool *pool) {
  const struct tutti_objective *objective = pool->objective;
  size_t *best = NULL, wanted = (size_t)self->config->incumbents;
  TUTTI_TRY(context, tutti_alloc(context, wanted, sizeof(size_t), &best));
  enum tutti_status status = TUTTI_OK;
  size_t count = maximiser_pool_incumbents(objective, wanted, best);
  qsort(best, count, sizeof(size_t), compare_indices);
  for (size_t i = 0; i < count && status == TUTTI_OK; i++)
    status = maximiser_pool_seed(context, pool, objective->known[best[i]]);
  tutti_free(best);
  return status;
}

static bool is_in(const struct maximiser_pool *pool, const tutti_candidate *candidate) {
  for (size_t i = 0; i < pool->count; i++)
    if (tutti_candidate_equal(pool->candidates[i], candidate))
      return true;
  return false;
}

/* Those of the space's initial pool that were tried (`tried`), which cannot be answers, or the others. */
static enum tutti_status begin_with_known(const struct ea *self, tutti_context *context, struct maximiser_pool *pool,
                                          struct tutti_random random, bool tried) {
  for (size_t i = 0;; i++) {
    tutti_candidate *candidate;
    TUTTI_TRY(context, tutti_scope_known(context, self->scope, i, &random, pool->objective->trial_seed, &candidate));
    if (!candidate)
      return TUTTI_OK;
    if (!tried) {
      TUTTI_TRY(context, maximiser_pool_take(context, pool, candidate));
      continue;
    }
    bool wanted = tutti_candidate_set_has(pool->seen, candidate) && !is_in(pool, candidate);
    enum tutti_status status = wanted ? maximiser_pool_seed(context, pool, candidate) : TUTTI_OK;
    tutti_candidate_unref(candidate);
    TUTTI_TRY(context, status);
  }
}

/* The first generation: the best candidates known and the space's initial pool; if both are empty, a few draws. */
static enum tutti_status begin_ea(const struct ea *self, tutti_context *context, struct maximiser_pool *pool,
                                  struct tutti_random *random) {
  size_t draws = (size_t)self->config->epoch.values[1];
  struct tutti_random pools;
  tutti_random_init(&pools, self->seed, "maximiser ea pool", pool->objective->step);
  TUTTI_TRY(context, begin_with_incumbents(self, context, pool));
  TUTTI_TRY(context, begin_with_known(self, context, pool, pools, true));
  TUTTI_TRY(context, begin_with_known(self, context, pool, pools, false));
  for (size_t i = 0; pool->count == 0 && i < draws; i++)
    TUTTI_TRY(context, maximiser_pool_sample(context, pool, random));
  return TUTTI_OK;
}

/* Minus infinity (such as log EI where there is certainly nothing to gain) counts as the smallest finite worth.
   Otherwise it would make all other candidates look alike. */
static double floor_of(size_t count, const double *worth) {
  double least = DBL_MAX;
  for (size_t i = 0; i < count; i++)
    if (worth[i] > -DBL_MAX && worth[i] < least)
      least = worth[i];
  return least < DBL_MAX ? least : 0;
}

/* Chances of all candidates to be a parent, added up, with room that stays. */
struct chances {
  double *cumulative; /* [room] */
  size_t room;
};

static enum tutti_status weigh_parents(const struct ea *self, tutti_context *context, const struct maximiser_pool *pool,
                                       struct chances *chances) {
  double least = floor_of(pool->count, pool->worth);
  if (pool->count > chances->room) {
    TUTTI_TRY(context, tutti_realloc(context, 0, pool->capacity, sizeof(double), &chances->cumulative));
    chances->room = pool->capacity;
  }
  for (size_t i = 0; i < pool->count; i++)
    chances->cumulative[i] = fmax(pool->worth[i], least);
  tutti_evolution_shares(pool->count, chances->cumulative, self->config->spread, chances->cumulative);
  return TUTTI_OK;
}

/* Up to `wanted` mutants of parents drawn from all evaluated candidates. */
static enum tutti_status evolve_ea(const struct ea *self, tutti_context *context, struct maximiser_pool *pool,
                                   struct tutti_random *random, size_t wanted, struct chances *chances) {
  size_t count = pool->count;
  TUTTI_TRY(context, weigh_parents(self, context, pool, chances));
  for (size_t i = 0; i < wanted; i++) {
    const tutti_candidate *parent = pool->candidates[tutti_evolution_draw(random, count, chances->cumulative)];
    tutti_candidate *mutant;
    TUTTI_TRY(context, tutti_scope_mutate(context, self->scope, random, parent, pool->objective->trial_seed, &mutant));
    TUTTI_TRY(context, maximiser_pool_take(context, pool, mutant));
  }
  return TUTTI_OK;
}

static enum tutti_status maximiser_maximise_ea(void *instance, tutti_context *context,
                                               const struct tutti_objective *objective, tutti_candidate **candidate,
                                               double *worth) {
  enum { TRIES = 4 }; /* attempts per new mutant: small scopes run out of new ones */
  const struct ea *self = instance;
  enum tutti_status status;
  struct maximiser_pool pool = {0};
  struct chances chances = {0};
  struct tutti_random random;
  size_t evaluations = count_by(&self->config->evaluations, fmax((double)objective->step, 1));
  size_t epoch = count_by(&self->config->epoch, (double)evaluations), tries = TRIES * evaluations;
  tutti_random_init(&random, self->seed, "maximiser ea", objective->step);
  TUTTI_TRY_OUT(context, maximiser_pool_init(context, self->scope, objective, &pool));
  TUTTI_TRY_OUT(context, begin_ea(self, context, &pool, &random));
  TUTTI_TRY_OUT(context, maximiser_pool_evaluate(context, &pool));
  for (size_t made = pool.count; pool.count > 0 && pool.count - made < evaluations && tries > 0;) {
    size_t left = evaluations - (pool.count - made), wanted = epoch < left ? epoch : left;
    wanted = wanted < tries ? wanted : tries;
    tries -= wanted;
    TUTTI_TRY_OUT(context, evolve_ea(self, context, &pool, &random, wanted, &chances));
    TUTTI_TRY_OUT(context, maximiser_pool_evaluate(context, &pool));
  }
  TUTTI_TRY_OUT(context, maximiser_pool_find_one(context, &pool, &random));
  TUTTI_TRY_OUT(context, maximiser_pool_evaluate(context, &pool));
  maximiser_pool_answer(&pool, candidate, worth);
out:
  tutti_free(chances.cumulative);
  maximiser_pool_clear(&pool);
  return status;
}

static const struct tutti_maximiser_ops ea_ops = {
    .size = sizeof(struct tutti_maximiser_ops),
    .maximise = maximiser_maximise_ea,
};

static const struct tutti_descriptor ea_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_MAXIMISER, "ea"),
    .version = "1.0",
    .summary = "evolution from the best known and the space's initial pool",
    .source =
        "Kandasamy et al., Neural Architecture Search with Bayesian Optimisation and Optimal Transport, NeurIPS 2018",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(ea_params, struct ea_config),
    .create = maximiser_create_ea,
    .destroy = maximiser_destroy_ea,
    .ops = &ea_ops,
};

TUTTI_PLUGIN(ea_descriptor)
