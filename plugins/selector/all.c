/* selector all: every model that has a loss, with equal weights, in the order of trials. With a pool of one
   architecture trained from different seeds this is a deep ensemble. */
#include <tutti/plugin.h>

/* `count` has no effect here: this selector has no size to override. */
static enum tutti_status selector_select_all(void *self, tutti_context *context, const struct tutti_pool *pool,
                                             size_t count, tutti_ensemble *ensemble) {
  (void)self;
  (void)count;
  for (size_t k = 0; k < pool->models; k++) {
    if (isnan(pool->losses[k]))
      continue;
    TUTTI_TRY(context, tutti_ensemble_add(context, ensemble, pool->trials[k], 1));
    TUTTI_TRY(context,
              tutti_ensemble_trace(context, ensemble, pool->trials[k], pool->losses[k], "all; the loss is its own"));
  }
  if (tutti_ensemble_size(ensemble) == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC, "the loss of each of the %zu models is NaN: nothing to choose from",
                      pool->models);
  return TUTTI_OK;
}

static const struct tutti_selector_ops selector_all_ops = {
    .size = sizeof selector_all_ops,
    .select = selector_select_all,
};

static const struct tutti_descriptor selector_all_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SELECTOR, "all"),
    .version = "1.0",
    .summary = "every finished model, with equal weights",
    .source = "",
    .licence = "Apache-2.0",
    .params = TUTTI_NO_PARAMS,
    .ops = &selector_all_ops,
};

TUTTI_PLUGIN(selector_all_descriptor)
