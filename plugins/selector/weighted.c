/* selector weighted: the members that forward selection chooses, each with a weight that says how good it is alone:
   exp(-NLL), the geometric mean of the likelihoods of the validation rows, or the accuracy on them.

   Source: an alternative to equal weights in the program of Zaidi et al., "Neural ensemble search for uncertainty
   estimation and dataset shift" (NeurIPS 2021; automl/nes, commit c35be5a: beam_search_bma_loss, beam_search_bma_acc).
   Deviations: other losses to select by; exp(-NLL) also for regression, where a likelihood is a density. */
#include <stdio.h>
#include <string.h>
#include <tutti/kit.h>

enum { BY_LIKELIHOOD, BY_ACCURACY };
static const char *const weighted_by[] = {"likelihood", "accuracy", NULL};

struct weighted_config {
  struct tutti_growth_config growth;
  int by;
};

static const struct tutti_param weighted_params[] = {
    TUTTI_GROWTH_PARAMS(struct weighted_config, growth),
    TUTTI_CHOICE(struct weighted_config, by, "likelihood", weighted_by,
                 "A member's weight: exp(-nll), or for classes 1 - error, of its own on the validation rows."),
};

/* `self` is the config. */
static enum tutti_status selector_create_weighted(tutti_context *context, const void *config, const void *setup,
                                                  void **self) {
  const struct tutti_task *task = ((const struct tutti_selector_setup *)setup)->task;
  if (task && task->kind == TUTTI_TASK_REGRESSION && ((const struct weighted_config *)config)->by == BY_ACCURACY)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "by = accuracy is not defined for regression: expected likelihood");
  return tutti_growth_selector_create(context, config, setup, self);
}

/* The loss of a member alone, from which its weight is made. */
static double own_loss_weighted(const struct tutti_pool *pool, int by, uint64_t trial) {
  struct tutti_predictions predictions = {.size = sizeof predictions};
  struct tutti_targets targets = {.size = sizeof targets};
  tutti_pool_targets(pool, &targets);
  tutti_pool_predictions(pool, tutti_pool_find(pool, trial), &predictions);
  return tutti_loss_of(by == BY_ACCURACY ? TUTTI_LOSS_ERROR : TUTTI_LOSS_NLL, &predictions, &targets);
}

/* Add the chosen members with weights. Only the ratios of these count: likelihoods are divided by the best one, which
   keeps them in range. */
static enum tutti_status add_weighted(tutti_context *context, int by, const tutti_ensemble *chosen,
                                      const double *losses, tutti_ensemble *ensemble) {
  double best = INFINITY;
  for (size_t m = 0; m < tutti_ensemble_size(chosen); m++)
    best = fmin(best, losses[m]);
  for (size_t m = 0; m < tutti_ensemble_size(chosen); m++) {
    double weight = by == BY_ACCURACY ? 1 - losses[m] : exp(best - losses[m]);
    if (weight > 0)
      TUTTI_TRY(context, tutti_ensemble_add(context, ensemble, tutti_ensemble_trial(chosen, m), weight));
  }
  if (tutti_ensemble_size(ensemble) == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC, "none of the %zu members has a weight: the %s of each is %s",
                      tutti_ensemble_size(chosen), by == BY_ACCURACY ? "accuracy" : "nll",
                      by == BY_ACCURACY ? "0" : "NaN or infinite");
  return TUTTI_OK;
}

/* The trace of the choice; what made a member's weight stands before its step's note. */
static enum tutti_status trace_weighted(tutti_context *context, int by, const tutti_ensemble *chosen,
                                        const double *losses, tutti_ensemble *ensemble) {
  for (size_t i = 0; i < tutti_ensemble_steps(chosen); i++) {
    const struct tutti_step *step = tutti_ensemble_step(chosen, i);
    char note[sizeof step->note + 32] = "";
    for (size_t m = 0; m < tutti_ensemble_size(chosen); m++)
      if (tutti_ensemble_trial(chosen, m) == step->trial)
        (void)snprintf(note, sizeof note, by == BY_ACCURACY ? "accuracy %.4g; " : "exp(-nll) %.4g; ",
                       by == BY_ACCURACY ? 1 - losses[m] : exp(-losses[m]));
    size_t used = strlen(note);
    (void)snprintf(note + used, sizeof note - used, "%s", step->note);
    TUTTI_TRY(context, tutti_ensemble_trace(context, ensemble, step->trial, step->loss, note));
  }
  return TUTTI_OK;
}

static enum tutti_status selector_select_weighted(void *self, tutti_context *context, const struct tutti_pool *pool,
                                                  size_t count, tutti_ensemble *ensemble) {
  enum tutti_status status;
  const struct weighted_config *config = self;
  const struct tutti_growth_options options = tutti_growth_options_of(&config->growth, count);
  tutti_ensemble *chosen = NULL;
  double *losses = NULL;
  TUTTI_TRY_OUT(context, tutti_ensemble_create(context, &chosen));
  TUTTI_TRY_OUT(context, tutti_growth_select(context, &options, pool, chosen));
  TUTTI_TRY_OUT(context, tutti_alloc(context, tutti_ensemble_size(chosen), sizeof *losses, &losses));
  for (size_t m = 0; m < tutti_ensemble_size(chosen); m++)
    losses[m] = own_loss_weighted(pool, config->by, tutti_ensemble_trial(chosen, m));
  TUTTI_TRY_OUT(context, add_weighted(context, config->by, chosen, losses, ensemble));
  TUTTI_TRY_OUT(context, trace_weighted(context, config->by, chosen, losses, ensemble));
out:
  tutti_free(losses);
  tutti_ensemble_destroy(chosen);
  return status;
}

static const struct tutti_selector_ops selector_weighted_ops = {
    .size = sizeof selector_weighted_ops,
    .select = selector_select_weighted,
};

static const struct tutti_descriptor selector_weighted_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SELECTOR, "weighted"),
    .version = "1.0",
    .summary = "forward selection, with weights by exp(-NLL) or by accuracy",
    .source = "Zaidi et al., Neural ensemble search for uncertainty estimation and dataset shift, NeurIPS 2021: its "
              "program",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(weighted_params, struct weighted_config),
    .create = selector_create_weighted,
    .ops = &selector_weighted_ops,
};

TUTTI_PLUGIN(selector_weighted_descriptor)
