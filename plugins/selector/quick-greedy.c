/* selector quick-greedy: one pass over the models in the order of their own validation losses, lowest first. A model is
   added if it lowers the ensemble's loss, until there are `size` members. Equal weights, in the order of the pass.

   Source: a baseline of ForwardSelect in Zaidi et al., "Neural ensemble search for uncertainty estimation and dataset
   shift" (NeurIPS 2021). Deviations: other losses, and regression; losses that differ by a relative 1e-13 are equal. */
#include <stdio.h>
#include <tutti/kit.h>

struct quick_greedy_config {
  struct tutti_growth_config growth;
};

static const struct tutti_param quick_greedy_params[] = {TUTTI_GROWTH_PARAMS(struct quick_greedy_config, growth)};

/* One pass over models in this order. */
static enum tutti_status pass_quick_greedy(tutti_context *context, tutti_growth *growth, size_t models,
                                           const size_t *order, size_t size) {
  for (size_t rank = 0; rank < models && tutti_growth_members(growth) < size; rank++) {
    char note[64];
    if (isnan(tutti_growth_own_losses(growth)[order[rank]]))
      return TUTTI_OK; /* and so are those that follow */
    double loss = tutti_growth_loss_with(growth, order[rank]);
    if (rank > 0 && !tutti_growth_accepts(growth, TUTTI_GROWTH_ACCEPT_BETTER, loss))
      continue;
    (void)snprintf(note, sizeof note, "rank %zu of %zu", rank + 1, models);
    TUTTI_TRY(context, tutti_growth_take(context, growth, order[rank], loss, note));
  }
  return TUTTI_OK;
}

static enum tutti_status selector_select_quick_greedy(void *self, tutti_context *context, const struct tutti_pool *pool,
                                                      size_t count, tutti_ensemble *ensemble) {
  const struct quick_greedy_config *config = self;
  const struct tutti_growth_options options = tutti_growth_options_of(&config->growth, count);
  enum tutti_status status;
  tutti_growth *growth = NULL;
  size_t *order = NULL;
  TUTTI_TRY_OUT(context, tutti_growth_create(context, &options, pool, &growth));
  TUTTI_TRY_OUT(context, tutti_rank_models(context, pool->models, tutti_growth_own_losses(growth), &order));
  TUTTI_TRY_OUT(context, pass_quick_greedy(context, growth, pool->models, order, options.members));
  const char *end = tutti_growth_members(growth) < options.members ? "; the end: none of the others improves it" : "";
  TUTTI_TRY_OUT(context, tutti_growth_finish(context, growth, end, ensemble));
out:
  tutti_free(order);
  tutti_growth_destroy(growth);
  return status;
}

static const struct tutti_selector_ops selector_quick_greedy_ops = {
    .size = sizeof selector_quick_greedy_ops,
    .select = selector_select_quick_greedy,
};

static const struct tutti_descriptor selector_quick_greedy_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SELECTOR, "quick-greedy"),
    .version = "1.0",
    .summary = "one pass over the models from the best down: each is added if the ensemble's loss falls",
    .source = "Zaidi et al., Neural ensemble search for uncertainty estimation and dataset shift, NeurIPS 2021",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(quick_greedy_params, struct quick_greedy_config),
    .create = tutti_growth_selector_create,
    .ops = &selector_quick_greedy_ops,
};

TUTTI_PLUGIN(selector_quick_greedy_descriptor)
