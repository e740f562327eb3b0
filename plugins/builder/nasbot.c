/* nasbot.c - Bayesian optimisation over layer graphs: Kandasamy, Neiswanger, Schneider, Poczos, Xing, "Neural
   Architecture Search with Bayesian Optimisation and Optimal Transport", NeurIPS 2018 (NASBOT). The space's initial
   pool comes first. Then, whenever a worker is free, evolution looks for the candidate with the largest expected
   improvement under a Gaussian process over the distances between architectures. Outstanding candidates are
   hallucinated: they lower the deviation and leave the mean. Failed trials teach nothing. It is builder bo with other
   presets, of its sub-plugins, too. With acquisition random it is the paper's RAND; the paper's EA is builder ea; on
   spaces of chains it stands in the place of the paper's TreeBO, whose covariance is another. Deviation: searched
   hyperparameters are modelled and evolve beside the architecture. The paper suggests this and leaves it to others. */
#include <tutti/kit.h>

static const struct tutti_param nasbot_params[] = {
    TUTTI_DESIGN_PARAMS_OF(struct tutti_bayesian_config, design, "12", "known"),
    TUTTI_PROPOSER_PARAMS_WITH(struct tutti_bayesian_config, model, "hallucinate", "ignore", "gp-otmann", "refit = 20",
                               "ei", "log = no", "ea", NULL),
};

static const struct tutti_builder_ops nasbot_ops = {
    .size = sizeof nasbot_ops,
    .ask = tutti_bayesian_ask,
    .tell = tutti_bayesian_tell,
    .adopt = tutti_bayesian_adopt,
    .exhausted = tutti_bayesian_exhausted,
    .describe = tutti_bayesian_describe,
};

static const struct tutti_descriptor nasbot_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_BUILDER, "nasbot"),
    .version = "1.0",
    .summary = "Bayesian optimisation of architectures by distances between them",
    .source =
        "Kandasamy et al., Neural Architecture Search with Bayesian Optimisation and Optimal Transport, NeurIPS 2018",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(nasbot_params, struct tutti_bayesian_config),
    .create = tutti_bayesian_builder_create,
    .destroy = tutti_bayesian_destroy,
    .ops = &nasbot_ops,
};

TUTTI_PLUGIN(nasbot_descriptor)
