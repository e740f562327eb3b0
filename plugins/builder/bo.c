/* bo.c - Bayesian optimisation of hyperparameters, architecture or both: an initial design, then the candidate of the
   largest acquisition under a surrogate of the losses told (Snoek, Larochelle, Adams, "Practical Bayesian optimization of
   machine learning algorithms", NeurIPS 2012; Lacoste, Larochelle, Laviolette, Marchand, "Sequential Model-Based Ensemble
   Optimization", UAI 2014, section 4).

   Deviations: a Sobol design instead of a random one by default; candidates that are being trained are hallucinated
   (Desautels, Krause, Burdick, "Parallelizing exploration-exploitation tradeoffs in Gaussian process bandit optimization",
   JMLR 2014) instead of integrated over, since that costs one row of a Cholesky factor each. */
#include "bayesian.h"

static const struct tutti_param bo_params[] = {
    DESIGN_PARAMS(struct bayesian_config, "sobol"),
    MODEL_PARAMS(struct bayesian_config, "auto", "worst", "gp", "ei", "sobol-lbfgs"),
};

static const struct tutti_descriptor bo_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_BUILDER, "bo"),
    .version = "1.0",
    .summary = "Bayesian optimisation of hyperparameters, architecture or both",
    .source = "Snoek, Larochelle, Adams, Practical Bayesian optimization of machine learning algorithms, NeurIPS 2012; "
              "Lacoste "
              "et al., Sequential Model-Based Ensemble Optimization, UAI 2014, section 4",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(bo_params, struct bayesian_config),
    .create = bayesian_create,
    .destroy = bayesian_destroy,
    .ops = &bayesian_ops,
};

TUTTI_PLUGIN(bo_descriptor)
