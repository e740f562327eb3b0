/* builder hill-climb: some random candidates, then mutants of the best one so far.

   A builder says what is trained next (ask) and learns from results (tell). To write one:
     1. copy this file to src/builder-NAME.c, and put its two lines into Makefile.am;
     2. write `ask` and `tell`. The state is a function of what was asked, adopted and told, never of time; draw from
     streams keyed
        by the trial's number, so that a resumed run goes on exactly as an uninterrupted one would have;
     3. write `adopt`, which leaves the state that the ask of that trial left;
     4. builders with a model, or with a population, find most of it in <tutti/kit.h>: see builder-restless.c. */
#include <stdio.h>
#include <tutti/plugin.h>

struct hill_climb_config {
  int64_t start;
};

static const struct tutti_param hill_climb_params[] = {
    TUTTI_INTEGER(struct hill_climb_config, start, "10", 1, TUTTI_NO_LIMIT,
                  "Random candidates before the climb begins."),
};

struct hill_climb {
  const struct hill_climb_config *config;
  const tutti_host *host;
  tutti_candidate *best; /* NULL until a trial finishes */
  uint64_t best_trial;
  double best_loss;
};

static enum tutti_status builder_create_hill_climb(tutti_context *context, const void *config, const void *setup,
                                                   void **self) {
  struct hill_climb *builder;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *builder, &builder));
  builder->config = config;
  builder->host = ((const struct tutti_builder_setup *)setup)->host;
  builder->best_loss = INFINITY;
  *self = builder;
  return TUTTI_OK;
}

static void builder_destroy_hill_climb(void *self) {
  struct hill_climb *builder = self;
  tutti_candidate_unref(builder->best);
  tutti_free(builder);
}

/* A neighbour of the best: one dimension of the architecture is changed, the hyperparameters stay. */
static enum tutti_status mutate_hill_climb(struct hill_climb *builder, tutti_context *context,
                                           struct tutti_random *random, uint64_t seed, tutti_candidate **candidate) {
  const tutti_scope *scope = tutti_host_scope(builder->host);
  tutti_genotype *mutant = NULL;
  TUTTI_TRY(context, tutti_space_mutate(context, tutti_scope_space(scope), random,
                                        tutti_candidate_genotype(builder->best), &mutant));
  enum tutti_status status =
      tutti_scope_candidate(context, scope, mutant, tutti_candidate_hyperparameters(builder->best), seed, candidate);
  tutti_genotype_unref(mutant);
  return status;
}

static enum tutti_status builder_ask_hill_climb(void *self, tutti_context *context, uint64_t trial,
                                                struct tutti_proposal *proposal) {
  struct hill_climb *builder = self;
  uint64_t seed = tutti_trial_seed(tutti_host_seed(builder->host), trial);
  struct tutti_random random;
  tutti_random_init(&random, tutti_host_seed(builder->host), "hill-climb", trial);
  if (trial < (uint64_t)builder->config->start || !builder->best) {
    (void)snprintf(proposal->origin, sizeof proposal->origin, "random");
    return tutti_scope_sample(context, tutti_host_scope(builder->host), &random, seed, &proposal->candidate);
  }
  (void)snprintf(proposal->origin, sizeof proposal->origin, "mutation");
  proposal->parent = builder->best_trial;
  return mutate_hill_climb(builder, context, &random, seed, &proposal->candidate);
}

static enum tutti_status builder_tell_hill_climb(void *self, tutti_context *context,
                                                 const struct tutti_result *result) {
  struct hill_climb *builder = self;
  (void)context;
  if (result->state != TUTTI_STATE_FINISHED || !(result->loss < builder->best_loss))
    return TUTTI_OK;
  tutti_candidate_unref(builder->best);
  builder->best = tutti_candidate_ref(result->candidate);
  builder->best_trial = result->trial;
  builder->best_loss = result->loss;
  return TUTTI_OK;
}

/* Asking changes nothing in this builder, so there is nothing to take over either. */
static enum tutti_status builder_adopt_hill_climb(void *self, tutti_context *context, uint64_t trial,
                                                  const struct tutti_proposal *proposal) {
  (void)self;
  (void)context;
  (void)trial;
  (void)proposal;
  return TUTTI_OK;
}

static const struct tutti_builder_ops hill_climb_ops = {
    .size = sizeof hill_climb_ops,
    .ask = builder_ask_hill_climb,
    .tell = builder_tell_hill_climb,
    .adopt = builder_adopt_hill_climb,
};

static const struct tutti_descriptor hill_climb_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_BUILDER, "hill-climb"),
    .version = "1.0",
    .summary = "random candidates, then mutants of the best so far",
    .source = "",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(hill_climb_params, struct hill_climb_config),
    .create = builder_create_hill_climb,
    .destroy = builder_destroy_hill_climb,
    .ops = &hill_climb_ops,
};

TUTTI_PLUGIN(hill_climb_descriptor)
