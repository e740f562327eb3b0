/* bo.c - Bayesian optimisation of hyperparameters, architecture or both: an initial design, then the candidate with the
   largest acquisition under a surrogate of the losses told (Snoek, Larochelle, Adams, "Practical Bayesian optimization
   of machine learning algorithms", NeurIPS 2012; Lacoste, Larochelle, Laviolette, Marchand, "Sequential Model-Based
   Ensemble Optimization", UAI 2014, section 2, Algorithm 1). Deviations: there is an initial design, of Sobol points by
   default, where that algorithm begins with an empty history; candidates in training are hallucinated (Desautels,
   Krause, Burdick, "Parallelizing exploration-exploitation tradeoffs in Gaussian process bandit optimization", JMLR
   2014) instead of integrated over, because that costs only one row of a Cholesky factor each. */
#include <tutti/kit.h>

static const struct tutti_param bo_params[] = {
    TUTTI_DESIGN_PARAMS(struct tutti_bayesian_config, design, "sobol"),
    TUTTI_PROPOSER_PARAMS(struct tutti_bayesian_config, model, "auto", "worst", "gp", "ei", "sobol-lbfgs"),
};

static const struct tutti_builder_ops bo_ops = {
    .size = sizeof bo_ops,
    .ask = tutti_bayesian_ask,
    .tell = tutti_bayesian_tell,
    .adopt = tutti_bayesian_adopt,
    .exhausted = tutti_bayesian_exhausted,
    .describe = tutti_bayesian_describe,
};

static const struct tutti_descriptor bo_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_BUILDER, "bo"),
    .version = "1.0",
    .summary = "Bayesian optimisation of hyperparameters, architecture or both",
    .source = "Snoek, Larochelle, Adams, Practical Bayesian optimization of machine learning algorithms, NeurIPS 2012; "
              "Lacoste et al., Sequential Model-Based Ensemble Optimization, UAI 2014, section 2",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(bo_params, struct tutti_bayesian_config),
    .create = tutti_bayesian_builder_create,
    .destroy = tutti_bayesian_destroy,
    .ops = &bo_ops,
};

TUTTI_PLUGIN(bo_descriptor)
