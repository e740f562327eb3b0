/* selector.c - kind selector: checks around its op. */
#include "instance_impl.h"

#include <inttypes.h>
#include <math.h>
#include <tutti/selector.h>

struct tutti_selector {
  struct tutti_instance instance;
  struct tutti_selector_ops ops;
};

TUTTI_DEFINE_KIND(SELECTOR, selector, .required = {TUTTI_REQUIRED_OP(selector, select)})

bool tutti_selector_needs_predictions(const tutti_selector *selector) {
  bool answer = true;
  if (selector->ops.needs_predictions)
    TUTTI_ASK(TUTTI_CONTEXT_OF(selector), selector, answer = selector->ops.needs_predictions(selector->instance.self));
  return answer;
}

bool tutti_selector_needs_cost(const tutti_selector *selector, enum tutti_cost cost) {
  bool answer = false;
  if (selector->ops.needs_cost)
    TUTTI_ASK(TUTTI_CONTEXT_OF(selector), selector, answer = selector->ops.needs_cost(selector->instance.self, cost));
  return answer;
}

enum tutti_status tutti_selector_select(tutti_context *context, tutti_selector *selector, const struct tutti_pool *pool,
                                        size_t count, tutti_ensemble *ensemble) {
  if (pool->models == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "there is nothing to select from: 0 models");
  if (pool->rows == 0 && tutti_selector_needs_predictions(selector))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "selector %s chooses by predictions, and there are none: %zu models, 0 rows; selectors such as "
                      "top-m go by losses",
                      selector->instance.descriptor->name, pool->models);
  TUTTI_CALL(context, selector, selector->ops.select(selector->instance.self, context, pool, count, ensemble));
  if (tutti_ensemble_size(ensemble) == 0)
    return TUTTI_BREACH(context, &selector->instance, "select chose no member of %zu models", pool->models);
  for (size_t i = 0; i < tutti_ensemble_size(ensemble); i++) {
    uint64_t trial = tutti_ensemble_trial(ensemble, i);
    double weight = tutti_ensemble_weight(ensemble, i);
    if (tutti_pool_find(pool, trial) == pool->models)
      return TUTTI_BREACH(context, &selector->instance, "select chose trial %" PRIu64 ", which is not in the pool",
                          trial);
    if (!isfinite(weight))
      return TUTTI_BREACH(context, &selector->instance, "the weight of trial %" PRIu64 " is %g", trial, weight);
  }
  return TUTTI_OK;
}
