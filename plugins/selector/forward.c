/* selector forward: greedy forward selection without replacement. It starts from the model with the lowest validation
   loss. Each step adds the model that makes the ensemble's loss lowest, until there are `size` members. It never stops
   early, even if the loss rises. Equal weights, in the order of the picks.

   Source: ForwardSelect of Zaidi et al., "Neural ensemble search for uncertainty estimation and dataset shift" (NeurIPS
   2021), after Caruana et al. (2004). Deviations: besides the paper's NLL of the averaged probabilities it takes other
   losses, and regression; `keep = best` can drop the last picks if the loss rose again.

   Cost: for the NLL of classes, only the probability of the true class counts, so a pick reads one number per row and
   model. */
#include <tutti/kit.h>

struct forward_config {
  struct tutti_growth_config growth;
};

static const struct tutti_param forward_params[] = {TUTTI_GROWTH_PARAMS(struct forward_config, growth)};

static enum tutti_status selector_select_forward(void *self, tutti_context *context, const struct tutti_pool *pool,
                                                 size_t count, tutti_ensemble *ensemble) {
  const struct forward_config *config = self;
  const struct tutti_growth_options options = tutti_growth_options_of(&config->growth, count);
  return tutti_growth_select(context, &options, pool, ensemble);
}

static const struct tutti_selector_ops selector_forward_ops = {
    .size = sizeof selector_forward_ops,
    .select = selector_select_forward,
};

static const struct tutti_descriptor selector_forward_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SELECTOR, "forward"),
    .version = "1.1",
    .summary = "greedy forward selection without replacement: each step adds the model that helps the ensemble most",
    .source = "Zaidi et al., Neural ensemble search for uncertainty estimation and dataset shift, NeurIPS 2021, "
              "ForwardSelect",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(forward_params, struct forward_config),
    .create = tutti_growth_selector_create,
    .ops = &selector_forward_ops,
};

TUTTI_PLUGIN(selector_forward_descriptor)
