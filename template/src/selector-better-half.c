/* selector better-half: the models that are at least as good as the median, with equal weights.

   A selector sees predictions, targets and each model's loss; it never sees networks. */
#include <stdlib.h>
#include <tutti/plugin.h>

/* Places of models, sorted by loss; ties go to the lower trial, as everywhere in Tutti. */
struct selector_better_half_place {
  double loss;
  size_t model;
};

static int selector_better_half_compare(const void *a_, const void *b_) {
  const struct selector_better_half_place *a = a_, *b = b_;
  if (a->loss != b->loss)
    return a->loss < b->loss ? -1 : 1;
  return a->model < b->model ? -1 : 1;
}

static enum tutti_status selector_better_half_select(void *self, tutti_context *context, const struct tutti_pool *pool,
                                                     size_t count, tutti_ensemble *ensemble) {
  enum tutti_status status = TUTTI_OK;
  struct selector_better_half_place *places;
  (void)self;
  TUTTI_TRY(context, tutti_alloc(context, pool->models, sizeof *places, &places));
  for (size_t i = 0; i < pool->models; i++)
    places[i] = (struct selector_better_half_place){isnan(pool->losses[i]) ? INFINITY : pool->losses[i], i};
  qsort(places, pool->models, sizeof *places, selector_better_half_compare);
  size_t taken = count ? count : (pool->models + 1) / 2;
  for (size_t i = 0; i < taken && i < pool->models; i++) {
    uint64_t trial = pool->trials[places[i].model];
    TUTTI_TRY_OUT(context, tutti_ensemble_add(context, ensemble, trial, 1));
    TUTTI_TRY_OUT(context, tutti_ensemble_trace(context, ensemble, trial, places[i].loss, "among the better half"));
  }
out:
  tutti_free(places);
  return status;
}

static const struct tutti_selector_ops selector_better_half_ops = {
    .size = sizeof selector_better_half_ops,
    .select = selector_better_half_select,
};

static const struct tutti_descriptor selector_better_half_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SELECTOR, "better-half"),
    .version = "1.0",
    .summary = "the models at least as good as the median, with equal weights",
    .source = "",
    .licence = "Apache-2.0",
    .params = TUTTI_NO_PARAMS,
    .ops = &selector_better_half_ops,
};

TUTTI_PLUGIN(selector_better_half_descriptor)
