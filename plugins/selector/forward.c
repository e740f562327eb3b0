/* selector forward: greedy forward selection without replacement. From the model with the lowest validation loss, each step
   adds the model that makes the ensemble's loss lowest, until there are `size` members; it never stops early, even where
   the loss rises. Equal weights, in the order of the picks.

   Source: ForwardSelect of Zaidi et al., "Neural ensemble search for uncertainty estimation and dataset shift" (NeurIPS
   2021), after Caruana et al. (2004). Deviations: besides the paper's NLL of the averaged probabilities it takes other
   losses, and regression.

   Cost: a pick reads one number a row and model where the loss is the NLL of classes, for which only the probability of the
   true class counts. */
#include "greedy_impl.h"

#include <inttypes.h>
#include <stdio.h>

struct forward_config {
  struct greedy_config greedy;
};

static const struct tutti_param forward_params[] = {GREEDY_PARAMS(struct forward_config)};

struct selector_forward {
  const struct forward_config *config;
};

static enum tutti_status selector_forward_create(tutti_context *context, const void *config, const void *setup,
                                                 void **self) {
  const struct forward_config *given = config;
  struct selector_forward *forward;
  TUTTI_TRY(context, greedy_check(context, &given->greedy, setup));
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *forward, &forward));
  forward->config = given;
  *self = forward;
  return TUTTI_OK;
}

static void selector_forward_destroy(void *self) { tutti_free(self); }

static enum tutti_status trace_forward(tutti_context *context, const struct tutti_pool *pool,
                                       const struct tutti_addition *pick, tutti_ensemble *ensemble) {
  char note[96] = "the last one left";
  if (pick->runner_up < pool->models)
    (void)snprintf(note, sizeof note, "next best: trial %" PRIu64 ", %.3g worse", pool->trials[pick->runner_up],
                   pick->runner_up_loss - pick->loss);
  return tutti_ensemble_trace(context, ensemble, pool->trials[pick->model], pick->loss, note);
}

static enum tutti_status selector_forward_select(void *self, tutti_context *context, const struct tutti_pool *pool,
                                                 size_t count, tutti_ensemble *ensemble) {
  enum tutti_status status;
  const struct selector_forward *forward = self;
  size_t size = count ? count : (size_t)forward->config->greedy.size;
  tutti_ensemble_loss *loss = NULL;
  bool *taken = NULL;
  struct tutti_addition pick = {0};
  TUTTI_TRY_OUT(context, greedy_begin(context, &forward->config->greedy, pool, &loss, &pick));
  TUTTI_TRY_OUT(context, tutti_alloc(context, pool->models, sizeof *taken, &taken));
  while (pick.model < pool->models) {
    TUTTI_TRY_OUT(context, tutti_ensemble_add(context, ensemble, pool->trials[pick.model], 1));
    TUTTI_TRY_OUT(context, trace_forward(context, pool, &pick, ensemble));
    if (tutti_ensemble_size(ensemble) >= size)
      break;
    if (tutti_cancelled(context))
      TUTTI_TRY_OUT(context, TUTTI_FAIL(context, TUTTI_ERROR_CANCELLED, "cancelled after %zu of %zu picks",
                                        tutti_ensemble_size(ensemble), size));
    taken[pick.model] = true;
    tutti_ensemble_loss_add(loss, pick.model);
    pick = tutti_ensemble_loss_best(loss, taken);
  }
out:
  tutti_ensemble_loss_destroy(loss);
  tutti_free(taken);
  return status;
}

static const struct tutti_selector_ops selector_forward_ops = {
    .size = sizeof selector_forward_ops,
    .select = selector_forward_select,
};

static const struct tutti_descriptor selector_forward_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SELECTOR, "forward"),
    .version = "1.0",
    .summary = "greedy forward selection without replacement: each step adds the model that helps the ensemble most",
    .source = "Zaidi et al., Neural ensemble search for uncertainty estimation and dataset shift, NeurIPS 2021, "
              "ForwardSelect",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(forward_params, struct forward_config),
    .create = selector_forward_create,
    .destroy = selector_forward_destroy,
    .ops = &selector_forward_ops,
};

TUTTI_PLUGIN(selector_forward_descriptor)
