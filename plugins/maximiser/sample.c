/* sample.c - the best of candidates drawn at random: works with every space and every acquisition (Egele et al.,
   "AutoDEUQ", ICPR 2022, whose code draws 1,000). Neighbours of the best candidates known may be mixed in (Hutter,
   Hoos, Leyton-Brown, "Sequential model-based optimization for general algorithm configuration", LION 2011, section
   4.3). */
#include "pool.h"

struct sample_config {
  int64_t samples, incumbents;
};

static const struct tutti_param sample_params[] = {
    TUTTI_INTEGER(struct sample_config, samples, "1000", 1, 10000000, "Candidates drawn for each proposal."),
    TUTTI_INTEGER(struct sample_config, incumbents, "0", 0, 10000,
                  "Best candidates known whose neighbours are tried, too."),
};

static const double sample_step = 0.05; /* step to a neighbour in a real dimension, in its range */
enum { SAMPLE_MUTANTS = 16 };           /* mutants of an incumbent in a space without neighbours */

struct sample {
  const struct sample_config *config;
  const tutti_scope *scope;
  uint64_t seed;
};

static enum tutti_status maximiser_create_sample(tutti_context *context, const void *config, const void *setup_,
                                                 void **instance) {
  const struct tutti_maximiser_setup *setup = setup_;
  struct sample *self = NULL;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof(*self), &self));
  self->config = config;
  self->scope = setup->scope;
  self->seed = setup->seed;
  *instance = self;
  return TUTTI_OK;
}

static void maximiser_destroy_sample(void *instance) { tutti_free(instance); }

struct sample_visit {
  tutti_context *context;
  struct maximiser_pool *pool;
  enum tutti_status status;
};

static bool visit_sample(void *argument, const double *point) {
  struct sample_visit *visit = argument;
  visit->status = maximiser_pool_add_point(visit->context, visit->pool, point);
  return visit->status == TUTTI_OK;
}

static enum tutti_status neighbours_sample(tutti_context *context, struct maximiser_pool *pool,
                                           const tutti_candidate *centre) {
  struct sample_visit visit = {.context = context, .pool = pool, .status = TUTTI_OK};
  double *point = NULL;
  TUTTI_TRY(context, tutti_alloc(context, tutti_domain_count(pool->joint) + 1, sizeof(double), &point));
  tutti_scope_to_point(pool->scope, centre, point);
  enum tutti_status status = tutti_domain_neighbours(context, pool->joint, point, sample_step, visit_sample, &visit);
  tutti_free(point);
  return status == TUTTI_OK ? visit.status : status;
}

/* In spaces of graphs: mutants of the architecture with the same hyperparameters. */
static enum tutti_status mutants_sample(tutti_context *context, struct maximiser_pool *pool,
                                        const tutti_candidate *centre, struct tutti_random *random) {
  for (int i = 0; i < SAMPLE_MUTANTS; i++) {
    tutti_genotype *mutant = NULL;
    tutti_candidate *candidate = NULL;
    TUTTI_TRY(context, tutti_space_mutate(context, tutti_scope_space(pool->scope), random,
                                          tutti_candidate_genotype(centre), &mutant));
    enum tutti_status status = tutti_scope_candidate(
        context, pool->scope, mutant, tutti_candidate_hyperparameters(centre), pool->objective->trial_seed, &candidate);
    tutti_genotype_unref(mutant);
    TUTTI_TRY(context, status);
    TUTTI_TRY(context, maximiser_pool_take(context, pool, candidate));
  }
  return TUTTI_OK;
}

static enum tutti_status near_incumbents_sample(const struct sample *self, tutti_context *context,
                                                struct maximiser_pool *pool, struct tutti_random *random) {
  enum tutti_status status;
  size_t *best = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, (size_t)self->config->incumbents, sizeof(size_t), &best));
  size_t count = maximiser_pool_incumbents(pool->objective, (size_t)self->config->incumbents, best);
  for (size_t i = 0; i < count; i++) {
    const tutti_candidate *centre = pool->objective->known[best[i]];
    TUTTI_TRY_OUT(context, pool->joint ? neighbours_sample(context, pool, centre)
                                       : mutants_sample(context, pool, centre, random));
  }
out:
  tutti_free(best);
  return status;
}

static enum tutti_status maximiser_maximise_sample(void *instance, tutti_context *context,
                                                   const struct tutti_objective *objective, tutti_candidate **candidate,
                                                   double *worth) {
  const struct sample *self = instance;
  enum tutti_status status;
  struct maximiser_pool pool = {0};
  struct tutti_random random;
  tutti_random_init(&random, self->seed, "maximiser sample", objective->step);
  TUTTI_TRY_OUT(context, maximiser_pool_init(context, self->scope, objective, &pool));
  if (self->config->incumbents > 0)
    TUTTI_TRY_OUT(context, near_incumbents_sample(self, context, &pool, &random));
  for (int64_t i = 0; i < self->config->samples; i++)
    TUTTI_TRY_OUT(context, maximiser_pool_sample(context, &pool, &random));
  TUTTI_TRY_OUT(context, maximiser_pool_find_one(context, &pool, &random));
  TUTTI_TRY_OUT(context, maximiser_pool_evaluate_best(context, &pool, 1));
  maximiser_pool_answer(&pool, candidate, worth);
out:
  maximiser_pool_clear(&pool);
  return status;
}

static const struct tutti_maximiser_ops sample_ops = {
    .size = sizeof(struct tutti_maximiser_ops),
    .maximise = maximiser_maximise_sample,
};

static const struct tutti_descriptor sample_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_MAXIMISER, "sample"),
    .version = "1.0",
    .summary = "the best of random candidates and of neighbours of the best known",
    .source = "Egele et al., AutoDEUQ, ICPR 2022; Hutter, Hoos, Leyton-Brown, Sequential model-based optimization for "
              "general "
              "algorithm configuration, LION 2011",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(sample_params, struct sample_config),
    .create = maximiser_create_sample,
    .destroy = maximiser_destroy_sample,
    .ops = &sample_ops,
};

TUTTI_PLUGIN(sample_descriptor)
