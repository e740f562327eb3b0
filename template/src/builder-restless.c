/* builder restless: Bayesian optimisation that now and then tries something at random, which keeps a model that is
   wrong from narrowing the search for good ("epsilon-greedy").

   What ask, tell, resuming, pending trials and descriptions take is in <tutti/bayesian.h>; here is only what differs.
   To write such a builder:
     1. copy this file to src/builder-NAME.c, and put its two lines into Makefile.am;
     2. keep the tables TUTTI_DESIGN_PARAMS and TUTTI_PROPOSER_PARAMS, with defaults of your own, add your parameters;
     3. change `ask`; what you propose yourself must be adopted, so that the model knows of it;
     4. without a change of ask there is nothing to write but the tables: see bo.c of Tutti, 40 lines. */
#include <stdio.h>
#include <tutti/kit.h>

struct restless_config {
  struct tutti_bayesian_config bayesian;
  double epsilon;
};

static const struct tutti_param restless_params[] = {
    TUTTI_DESIGN_PARAMS(struct restless_config, bayesian.design, "sobol"),
    TUTTI_PROPOSER_PARAMS(struct restless_config, bayesian.model, "auto", "worst", "gp", "ei", "sobol-lbfgs"),
    TUTTI_REAL(struct restless_config, epsilon, "0.1", 0, 1, "How likely a candidate is drawn at random."),
};

struct restless {
  const struct restless_config *config;
  const tutti_host *host;
  tutti_bayesian *bayesian;
};

static enum tutti_status builder_create_restless(tutti_context *context, const void *config, const void *setup,
                                                 void **self) {
  struct restless *made;
  void *bayesian = NULL;
  TUTTI_TRY(context, tutti_bayesian_builder_create(context, config, setup, &bayesian));
  enum tutti_status status = tutti_alloc(context, 1, sizeof *made, &made);
  if (status != TUTTI_OK) {
    tutti_bayesian_destroy(bayesian);
    return status;
  }
  made->config = config;
  made->host = ((const struct tutti_builder_setup *)setup)->host;
  made->bayesian = bayesian;
  *self = made;
  return TUTTI_OK;
}

static void builder_destroy_restless(void *self) {
  tutti_bayesian_destroy(((struct restless *)self)->bayesian);
  tutti_free(self);
}

/* The draw is keyed by the trial, so that a resumed run draws the same. */
static enum tutti_status builder_ask_restless(void *self, tutti_context *context, uint64_t trial,
                                              struct tutti_proposal *proposal) {
  const struct restless *restless = self;
  struct tutti_random random;
  tutti_random_init(&random, tutti_host_seed(restless->host), "restless", trial);
  if (tutti_random_uniform(&random) >= restless->config->epsilon)
    return tutti_bayesian_ask(restless->bayesian, context, trial, proposal);
  TUTTI_TRY(context,
            tutti_proposer_draw(context, tutti_bayesian_proposer(restless->bayesian), trial, &proposal->candidate));
  if (!proposal->candidate) /* everything was tried */
    return tutti_bayesian_ask(restless->bayesian, context, trial, proposal);
  (void)snprintf(proposal->origin, sizeof proposal->origin, "restless");
  return tutti_bayesian_adopt(restless->bayesian, context, trial, proposal);
}

static enum tutti_status builder_tell_restless(void *self, tutti_context *context, const struct tutti_result *result) {
  return tutti_bayesian_tell(((struct restless *)self)->bayesian, context, result);
}

static enum tutti_status builder_adopt_restless(void *self, tutti_context *context, uint64_t trial,
                                                const struct tutti_proposal *proposal) {
  return tutti_bayesian_adopt(((struct restless *)self)->bayesian, context, trial, proposal);
}

static bool builder_exhausted_restless(void *self) {
  return tutti_bayesian_exhausted(((struct restless *)self)->bayesian);
}

static enum tutti_status builder_describe_restless(void *self, tutti_context *context, char **json) {
  return tutti_bayesian_describe(((struct restless *)self)->bayesian, context, json);
}

static const struct tutti_builder_ops restless_ops = {
    .size = sizeof restless_ops,
    .ask = builder_ask_restless,
    .tell = builder_tell_restless,
    .adopt = builder_adopt_restless,
    .exhausted = builder_exhausted_restless,
    .describe = builder_describe_restless,
};

static const struct tutti_descriptor restless_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_BUILDER, "restless"),
    .version = "1.0",
    .summary = "Bayesian optimisation that now and then tries something at random",
    .source = "",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(restless_params, struct restless_config),
    .create = builder_create_restless,
    .destroy = builder_destroy_restless,
    .ops = &restless_ops,
};

TUTTI_PLUGIN(restless_descriptor)
