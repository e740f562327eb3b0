/* selector weighted: the `size` best models, each with a weight that says how good it is alone: exp(-NLL), the geometric
   mean of the likelihoods of the validation rows, or the accuracy on them.

   Source: two of the weightings that the program of Zaidi et al., "Neural ensemble search for uncertainty estimation and
   dataset shift" (NeurIPS 2021), offers beside ForwardSelect; the paper does not have them. Deviations: the models are ranked by
   the same number that makes their weights; exp(-NLL) also for regression, where a likelihood is a density. */
#include <stdio.h>
#include <tutti/kit.h>

enum { BY_LIKELIHOOD, BY_ACCURACY };
static const char *const weighted_by[] = {"likelihood", "accuracy", NULL};

struct weighted_config {
  int64_t size;
  int by;
};

static const struct tutti_param weighted_params[] = {
    TUTTI_INTEGER(struct weighted_config, size, "5", 1, TUTTI_NO_LIMIT,
                  "Members of the ensemble; fewer where the pool has fewer models.", .unit = "members"),
    TUTTI_CHOICE(struct weighted_config, by, "likelihood", weighted_by,
                 "What a model is ranked by, and its weight: exp(-nll), or for classes 1 - error, on the validation "
                 "rows."),
};

/* `self` is the config. */
static enum tutti_status selector_create_weighted(tutti_context *context, const void *config, const void *setup,
                                                  void **self) {
  const struct tutti_task *task = ((const struct tutti_selector_setup *)setup)->task;
  *self = (void *)(uintptr_t)config;
  if (task && task->kind == TUTTI_TASK_REGRESSION && ((const struct weighted_config *)config)->by == BY_ACCURACY)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "by = accuracy is not defined for regression: expected likelihood");
  return TUTTI_OK;
}

/* Each model's own loss, from which its weight is made. */
static void measure_weighted(const struct tutti_pool *pool, enum tutti_loss loss, double *losses) {
  struct tutti_predictions predictions = {.size = sizeof predictions};
  struct tutti_targets targets = {.size = sizeof targets};
  tutti_pool_targets(pool, &targets);
  for (size_t k = 0; k < pool->models; k++) {
    tutti_pool_predictions(pool, k, &predictions);
    losses[k] = tutti_loss_of(loss, &predictions, &targets);
  }
}

/* Only the ratios of weights count. Likelihoods are divided by the best one, which keeps them in range. */
static double weight_of(int by, double loss, double best) { return by == BY_ACCURACY ? 1 - loss : exp(best - loss); }

static enum tutti_status add_weighted(tutti_context *context, const struct weighted_config *config,
                                      const struct tutti_pool *pool, size_t size, const double *losses,
                                      const size_t *order, tutti_ensemble *ensemble) {
  char note[96];
  for (size_t m = 0; m < size && m < pool->models; m++) {
    size_t k = order[m];
    double weight = weight_of(config->by, losses[k], losses[order[0]]);
    if (!(weight > 0)) /* and so for those that follow */
      break;
    (void)snprintf(note, sizeof note, "rank %zu of %zu, %s %.4g; the loss is its own", m + 1, pool->models,
                   config->by == BY_ACCURACY ? "accuracy" : "exp(-nll)",
                   config->by == BY_ACCURACY ? weight : exp(-losses[k]));
    TUTTI_TRY(context, tutti_ensemble_add(context, ensemble, pool->trials[k], weight));
    TUTTI_TRY(context, tutti_ensemble_trace(context, ensemble, pool->trials[k], losses[k], note));
  }
  if (tutti_ensemble_size(ensemble) == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC, "none of the %zu models has a weight: the %s of each is %s",
                      pool->models, config->by == BY_ACCURACY ? "accuracy" : "nll",
                      config->by == BY_ACCURACY ? "0 or NaN" : "NaN or infinite");
  return TUTTI_OK;
}

static enum tutti_status selector_select_weighted(void *self, tutti_context *context, const struct tutti_pool *pool,
                                                  size_t count, tutti_ensemble *ensemble) {
  enum tutti_status status;
  const struct weighted_config *config = self;
  const enum tutti_loss loss = config->by == BY_ACCURACY ? TUTTI_LOSS_ERROR : TUTTI_LOSS_NLL;
  size_t *order = NULL;
  double *losses = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, pool->models, sizeof *losses, &losses));
  measure_weighted(pool, loss, losses);
  TUTTI_TRY_OUT(context, tutti_rank_models(context, pool->models, losses, &order));
  TUTTI_TRY_OUT(context,
                add_weighted(context, config, pool, count ? count : (size_t)config->size, losses, order, ensemble));
  TUTTI_TRY_OUT(context, tutti_trace_passed_over(context, pool, tutti_loss_names()[loss], losses, ensemble));
out:
  tutti_free(order);
  tutti_free(losses);
  return status;
}

static const struct tutti_selector_ops selector_weighted_ops = {
    .size = sizeof selector_weighted_ops,
    .select = selector_select_weighted,
};

static const struct tutti_descriptor selector_weighted_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SELECTOR, "weighted"),
    .version = "1.0",
    .summary = "the best models, weighted by exp(-NLL) or by accuracy",
    .source = "Zaidi et al., Neural ensemble search for uncertainty estimation and dataset shift, NeurIPS 2021: its "
              "program",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(weighted_params, struct weighted_config),
    .create = selector_create_weighted,
    .ops = &selector_weighted_ops,
};

TUTTI_PLUGIN(selector_weighted_descriptor)
