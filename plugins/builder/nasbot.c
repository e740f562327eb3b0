/* nasbot.c - Bayesian optimisation over layer graphs: Kandasamy, Neiswanger, Schneider, Poczos, Xing, "Neural Architecture
   Search with Bayesian Optimisation and Optimal Transport", NeurIPS 2018 (NASBOT): the space's initial pool; then, whenever a
   worker is free, the candidate of the largest expected improvement under a Gaussian process over the distances between
   architectures, found by evolution. Outstanding candidates are hallucinated: they lower the deviation and leave the mean.
   Failed trials teach nothing. It is builder bo with other presets. On spaces of chains alone it is the paper's TreeBO; its
   EA and RAND are builder ea.

   Deviation: hyperparameters that a recipe searches are modelled and evolve beside the architecture, as the paper suggests and
   leaves to others. */
#include "bayesian.h"

static const struct tutti_param nasbot_params[] = {
    DESIGN_PARAMS(struct bayesian_config, "known"),
    MODEL_PARAMS(struct bayesian_config, "hallucinate", "ignore", "gp-otmann", "ei", "ea"),
};

static const struct tutti_descriptor nasbot_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_BUILDER, "nasbot"),
    .version = "1.0",
    .summary = "Bayesian optimisation of architectures by distances between them",
    .source =
        "Kandasamy et al., Neural Architecture Search with Bayesian Optimisation and Optimal Transport, NeurIPS 2018",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(nasbot_params, struct bayesian_config),
    .create = bayesian_create,
    .destroy = bayesian_destroy,
    .ops = &bayesian_ops,
};

TUTTI_PLUGIN(nasbot_descriptor)
