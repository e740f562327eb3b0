/* selector forward-replace: greedy forward selection with replacement. It starts from the model with the lowest
   validation loss. Each of `size` picks adds the model that makes the ensemble's loss lowest, even if that model is
   already in. It never stops early, even if the loss rises. A model picked c times has weight c / size, so there can be
   fewer members than picks.

   Source: Caruana et al., "Ensemble selection from libraries of models" (ICML 2004); as a baseline of ForwardSelect in
   Zaidi et al., "Neural ensemble search for uncertainty estimation and dataset shift" (NeurIPS 2021). Deviations: other
   losses, and regression; `keep = best` can drop the last picks if the loss rose again. */
#include <tutti/kit.h>

struct forward_replace_config {
  struct tutti_growth_config growth;
};

static const struct tutti_param forward_replace_params[] = {TUTTI_GROWTH_PARAMS(struct forward_replace_config, growth)};

static enum tutti_status selector_select_forward_replace(void *self, tutti_context *context,
                                                         const struct tutti_pool *pool, size_t count,
                                                         tutti_ensemble *ensemble) {
  const struct forward_replace_config *config = self;
  struct tutti_growth_options options = tutti_growth_options_of(&config->growth, count);
  options.replace = true;
  return tutti_growth_select(context, &options, pool, ensemble);
}

static const struct tutti_selector_ops selector_forward_replace_ops = {
    .size = sizeof selector_forward_replace_ops,
    .select = selector_select_forward_replace,
};

static const struct tutti_descriptor selector_forward_replace_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SELECTOR, "forward-replace"),
    .version = "1.0",
    .summary = "greedy forward selection with replacement: exactly `size` picks, weights are multiplicities",
    .source = "Caruana et al., Ensemble selection from libraries of models, ICML 2004; Zaidi et al., Neural ensemble "
              "search for uncertainty estimation and dataset shift, NeurIPS 2021",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(forward_replace_params, struct forward_replace_config),
    .create = tutti_growth_selector_create,
    .ops = &selector_forward_replace_ops,
};

TUTTI_PLUGIN(selector_forward_replace_descriptor)
