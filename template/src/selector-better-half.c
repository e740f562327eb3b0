/* selector better-half: the models that are at least as good as the median, with equal weights.

   A selector sees predictions, targets and each model's loss; it never sees networks. To write one:
     1. copy this file to src/selector-NAME.c, and put its two lines into Makefile.am;
     2. write `select`: add members to the ensemble, and a line of the trace for each;
     3. parameters: a config struct and a table of TUTTI_INTEGER and the like (see builder-hill-climb.c); `self` is the
     config;
     4. selectors that grow an ensemble model by model find most of it in <tutti/growth.h>. */
#include <tutti/kit.h>

static enum tutti_status selector_select_better_half(void *self, tutti_context *context, const struct tutti_pool *pool,
                                                     size_t count, tutti_ensemble *ensemble) {
  size_t *order, known = 0;
  enum tutti_status status = TUTTI_OK;
  (void)self;
  for (size_t k = 0; k < pool->models; k++)
    known += !isnan(pool->losses[k]);
  if (known == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC, "the loss of each of the %zu models is NaN: nothing to choose from",
                      pool->models);
  /* Best first; losses that are NaN come last, and are never chosen. */
  TUTTI_TRY(context, tutti_rank_models(context, pool->models, pool->losses, &order));
  for (size_t i = 0; i < known && i < (count ? count : (known + 1) / 2); i++) {
    uint64_t trial = pool->trials[order[i]];
    TUTTI_TRY_OUT(context, tutti_ensemble_add(context, ensemble, trial, 1));
    TUTTI_TRY_OUT(context,
                  tutti_ensemble_trace(context, ensemble, trial, pool->losses[order[i]], "among the better half"));
  }
out:
  tutti_free(order);
  return status;
}

static const struct tutti_selector_ops better_half_ops = {
    .size = sizeof better_half_ops,
    .select = selector_select_better_half,
};

static const struct tutti_descriptor better_half_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SELECTOR, "better-half"),
    .version = "1.0",
    .summary = "the models at least as good as the median, with equal weights",
    .source = "",
    .licence = "Apache-2.0",
    .params = TUTTI_NO_PARAMS,
    .ops = &better_half_ops,
};

TUTTI_PLUGIN(better_half_descriptor)
