/* selector top-m: the `size` models with the lowest losses of their own, with equal weights, in that order. Source: the
   baseline TopM of Zaidi et al., "Neural ensemble search for uncertainty estimation and dataset shift" (NeurIPS 2021).
   Deviation: the loss that ranks the models is a parameter; by default it is the run's own loss. */
#include <stdio.h>
#include <tutti/kit.h>

struct top_m_config {
  int64_t size;
  int loss;
};

static const struct tutti_param top_m_params[] = {
    TUTTI_INTEGER(struct top_m_config, size, "5", 1, TUTTI_NO_LIMIT,
                  "Members of the ensemble; fewer where the pool has fewer models.", .unit = "members"),
    TUTTI_CHOICE(struct top_m_config, loss, "auto", tutti_growth_losses,
                 "What ranks the models, each alone, on the validation rows; auto: the loss that the run minimises."),
};

/* Each model's own loss. */
static enum tutti_status measure_top_m(tutti_context *context, const struct tutti_pool *pool, int choice,
                                       double *losses) {
  struct tutti_predictions predictions = {.size = sizeof predictions};
  struct tutti_targets targets = {.size = sizeof targets};
  enum tutti_loss loss;
  bool given = tutti_growth_loss_of(choice, &loss);
  TUTTI_TRY(context, tutti_growth_check(context, choice, pool->kind));
  tutti_pool_targets(pool, &targets);
  for (size_t k = 0; k < pool->models; k++) {
    losses[k] = pool->losses[k];
    if (!given)
      continue;
    tutti_pool_predictions(pool, k, &predictions);
    losses[k] = tutti_loss_of(loss, &predictions, &targets);
  }
  return TUTTI_OK;
}

static enum tutti_status selector_select_top_m(void *self, tutti_context *context, const struct tutti_pool *pool,
                                               size_t count, tutti_ensemble *ensemble) {
  enum tutti_status status;
  const struct top_m_config *config = self;
  size_t size = count ? count : (size_t)config->size, *order = NULL;
  double *losses = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, pool->models, sizeof *losses, &losses));
  TUTTI_TRY_OUT(context, measure_top_m(context, pool, config->loss, losses));
  TUTTI_TRY_OUT(context, tutti_rank_models(context, pool->models, losses, &order));
  for (size_t m = 0; m < size && m < pool->models && !isnan(losses[order[m]]); m++) {
    uint64_t trial = pool->trials[order[m]];
    char note[96];
    (void)snprintf(note, sizeof note, "rank %zu of %zu; the loss is its own", m + 1, pool->models);
    TUTTI_TRY_OUT(context, tutti_ensemble_add(context, ensemble, trial, 1));
    TUTTI_TRY_OUT(context, tutti_ensemble_trace(context, ensemble, trial, losses[order[m]], note));
  }
  if (tutti_ensemble_size(ensemble) == 0)
    TUTTI_TRY_OUT(context,
                  TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC,
                             "the loss of each of the %zu models is NaN: nothing to choose from", pool->models));
  TUTTI_TRY_OUT(context, tutti_trace_passed_over(context, pool, "loss", losses, ensemble));
out:
  tutti_free(order);
  tutti_free(losses);
  return status;
}

/* A pool without predictions is one of TUTTI_TASK_VALUE, for which no loss but auto is allowed. */
static bool selector_needs_predictions_top_m(void *self) {
  (void)self;
  return false;
}

/* `self` is the config; a loss that the task does not have is refused before anything trains. */
static enum tutti_status selector_create_top_m(tutti_context *context, const void *config, const void *setup,
                                               void **self) {
  const struct tutti_task *task = ((const struct tutti_selector_setup *)setup)->task;
  *self = (void *)(uintptr_t)config;
  return task ? tutti_growth_check(context, ((const struct top_m_config *)config)->loss, task->kind) : TUTTI_OK;
}

static const struct tutti_selector_ops selector_top_m_ops = {
    .size = sizeof selector_top_m_ops,
    .select = selector_select_top_m,
    .needs_predictions = selector_needs_predictions_top_m,
};

static const struct tutti_descriptor selector_top_m_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SELECTOR, "top-m"),
    .version = "1.0",
    .summary = "the models with the lowest losses of their own",
    .source = "Zaidi et al., Neural ensemble search for uncertainty estimation and dataset shift, NeurIPS 2021",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(top_m_params, struct top_m_config),
    .create = selector_create_top_m,
    .ops = &selector_top_m_ops,
};

TUTTI_PLUGIN(selector_top_m_descriptor)
