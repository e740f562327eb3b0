/* selector quick-greedy: one pass over the models by their own validation losses, lowest first; each is added if the ensemble's
   loss falls by it, until there are `size` members. Equal weights, in the order of the pass.

   Source: a baseline of ForwardSelect in Zaidi et al., "Neural ensemble search for uncertainty estimation and dataset shift"
   (NeurIPS 2021). Deviations: other losses, and regression; losses that differ by a relative 1e-13 are equal. */
#include "growth.h"

struct quick_greedy_config {
  struct growth_config growth;
};

static const struct tutti_param quick_greedy_params[] = {GROWTH_PARAMS(struct quick_greedy_config)};

/* One pass over models in this order. */
static enum tutti_status pass_quick_greedy(tutti_context *context, struct growth *growth, const size_t *order,
                                           size_t size) {
  for (size_t rank = 0; rank < growth->pool->models && growth->members < size; rank++) {
    struct growth_pick pick = {.model = order[rank], .rank = rank + 1};
    if (growth->barred[pick.model])
      return TUTTI_OK; /* from here on their losses are NaN */
    pick.loss = tutti_ensemble_loss_with(growth->loss, pick.model);
    if (rank == 0 || growth_accepts(growth, GROWTH_ACCEPT_BETTER, pick.loss))
      TUTTI_TRY(context, growth_take(context, growth, pick));
  }
  return TUTTI_OK;
}

static enum tutti_status selector_quick_greedy_select(void *self, tutti_context *context, const struct tutti_pool *pool,
                                                      size_t count, tutti_ensemble *ensemble) {
  enum tutti_status status;
  size_t size = growth_size(self, count), *order = NULL;
  struct growth growth;
  TUTTI_TRY_OUT(context, growth_open(context, growth_config_of(self), pool, &growth));
  TUTTI_TRY_OUT(context, growth_rank(context, pool->models, growth.own, &order));
  TUTTI_TRY_OUT(context, pass_quick_greedy(context, &growth, order, size));
  TUTTI_TRY_OUT(context,
                growth_finish(context, &growth,
                              growth.members < size ? "; the end: none of the others improves it" : "", ensemble));
out:
  tutti_free(order);
  growth_close(&growth);
  return status;
}

static const struct tutti_selector_ops selector_quick_greedy_ops = {
    .size = sizeof selector_quick_greedy_ops,
    .select = selector_quick_greedy_select,
};

static const struct tutti_descriptor selector_quick_greedy_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SELECTOR, "quick-greedy"),
    .version = "1.0",
    .summary = "one pass over the models from the best down: each is added if the ensemble's loss falls",
    .source = "Zaidi et al., Neural ensemble search for uncertainty estimation and dataset shift, NeurIPS 2021",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(quick_greedy_params, struct quick_greedy_config),
    .create = growth_create,
    .destroy = growth_destroy,
    .ops = &selector_quick_greedy_ops,
};

TUTTI_PLUGIN(selector_quick_greedy_descriptor)
