/* selector_within.c - ensembles that may cost only so much, chosen by any selector. */
#include <tutti/names.h>
#include <tutti/selector.h>

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tutti/sized.h>

double tutti_ensemble_cost(const tutti_ensemble *ensemble, const struct tutti_pool *pool, enum tutti_cost cost) {
  double sum = 0;
  for (size_t i = 0; i < tutti_ensemble_size(ensemble); i++) {
    size_t model = tutti_pool_find(pool, tutti_ensemble_trial(ensemble, i));
    sum += model < pool->models ? tutti_pool_cost(pool, cost, model) : (double)NAN;
  }
  return sum;
}

/* Why the cost of a model may not be known, and what can be done about that. */
static const char *advice_on(enum tutti_cost cost) {
  return cost == TUTTI_COST_MICROSECONDS
             ? "times are measured where run.time_predictions = yes; go on with the run to measure those of the models "
               "whose weights are kept (--resume --set run.time_predictions=yes), or limit flops or bytes"
             : "their backend does not say what they compute, or their weights were not kept, or an older version "
               "trained them";
}

bool tutti_pool_tell_unknown(tutti_context *context, const struct tutti_pool *pool, enum tutti_cost cost) {
  size_t unknown = 0;
  for (size_t k = 0; k < pool->models; k++)
    unknown += isnan(tutti_pool_cost(pool, cost, k));
  if (unknown == 0 || unknown == pool->models)
    return false;
  tutti_log(context, TUTTI_LOG_WARNING, "%zu of %zu models %s left out, since %s cost is not known in %s: %s", unknown,
            pool->models, tutti_plural(unknown, "is", "are"), tutti_plural(unknown, "its", "their"),
            tutti_cost_names[cost], advice_on(cost));
  return true;
}

/* The models of a pool that may still be chosen, as a pool of their own. */
struct cheaper {
  const struct tutti_pool *of;
  struct tutti_cost_limit limit;
  bool *dropped; /* [models]: for what the ensemble would cost together */
  struct tutti_pool pool;
  const float **predictions, **epistemic;
  uint64_t *trials;
  double *losses, *costs;
  const double *kinds[TUTTI_COSTS];
};

static void release(struct cheaper *cheaper) {
  tutti_free(cheaper->dropped);
  tutti_free(cheaper->predictions);
  tutti_free(cheaper->epistemic);
  tutti_free(cheaper->trials);
  tutti_free(cheaper->losses);
  tutti_free(cheaper->costs);
}

static enum tutti_status reserve(tutti_context *context, const struct tutti_pool *pool, struct cheaper *cheaper) {
  size_t models = pool->models;
  TUTTI_TRY(context, tutti_alloc(context, models, sizeof *cheaper->dropped, &cheaper->dropped));
  TUTTI_TRY(context, tutti_alloc(context, models, sizeof *cheaper->trials, &cheaper->trials));
  TUTTI_TRY(context, tutti_alloc(context, models, sizeof *cheaper->losses, &cheaper->losses));
  TUTTI_TRY(context, tutti_alloc(context, models, TUTTI_COSTS * sizeof *cheaper->costs, &cheaper->costs));
  TUTTI_TRY(context, tutti_alloc(context, models, sizeof *cheaper->epistemic, &cheaper->epistemic));
  return tutti_alloc(context, models, sizeof *cheaper->predictions, &cheaper->predictions);
}

static bool is_cheap(const struct cheaper *cheaper, size_t model) {
  return tutti_pool_cost(cheaper->of, cheaper->limit.cost, model) <= cheaper->limit.most;
}

/* The pool of what is left. */
static void gather(struct cheaper *cheaper) {
  const struct tutti_pool *of = cheaper->of;
  size_t count = 0;
  for (size_t k = 0; k < of->models; k++) {
    if (cheaper->dropped[k] || !is_cheap(cheaper, k))
      continue;
    cheaper->trials[count] = of->trials[k];
    cheaper->losses[count] = of->losses[k];
    cheaper->predictions[count] = of->predictions ? of->predictions[k] : NULL;
    cheaper->epistemic[count] = of->epistemic ? of->epistemic[k] : NULL;
    for (size_t c = 0; c < TUTTI_COSTS; c++)
      cheaper->costs[c * of->models + count] = tutti_pool_cost(of, (enum tutti_cost)c, k);
    count++;
  }
  for (size_t c = 0; c < TUTTI_COSTS; c++)
    cheaper->kinds[c] = cheaper->costs + c * of->models;
  TUTTI_TAKE(&cheaper->pool, of);
  cheaper->pool.models = count;
  cheaper->pool.trials = cheaper->trials;
  cheaper->pool.losses = cheaper->losses;
  cheaper->pool.predictions = of->predictions ? cheaper->predictions : NULL;
  cheaper->pool.epistemic = of->epistemic ? cheaper->epistemic : NULL;
  cheaper->pool.cost_kinds = TUTTI_COSTS;
  cheaper->pool.costs = cheaper->kinds;
}

/* Drop the member with the least weight for its cost; of equals the later one. */
static void drop(const tutti_ensemble *ensemble, struct cheaper *cheaper) {
  size_t worst = cheaper->of->models;
  double least = INFINITY;
  for (size_t i = 0; i < tutti_ensemble_size(ensemble); i++) {
    size_t model = tutti_pool_find(cheaper->of, tutti_ensemble_trial(ensemble, i));
    double worth = tutti_ensemble_weight(ensemble, i) / tutti_pool_cost(cheaper->of, cheaper->limit.cost, model);
    if (worth <= least) {
      least = worth;
      worst = model;
    }
  }
  cheaper->dropped[worst] = true;
}

static enum tutti_status nothing_cheap(tutti_context *context, const struct cheaper *cheaper) {
  double least = INFINITY;
  for (size_t k = 0; k < cheaper->of->models; k++)
    least = fmin(least, tutti_pool_cost(cheaper->of, cheaper->limit.cost, k));
  const size_t models = cheaper->of->models;
  const char *name = tutti_cost_names[cheaper->limit.cost];
  if (isinf(least))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "the cost of none of the %zu %s is known in %s: %s", models,
                      tutti_plural(models, "model", "models"), name, advice_on(cheaper->limit.cost));
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "expected a limit of at least %.17g %s, the cost of the cheapest of %zu %s; found %.17g", least,
                    name, models, tutti_plural(models, "model", "models"), cheaper->limit.most);
}

/* Add what was chosen to the caller's ensemble, and why others were not. */
static enum tutti_status hand_over(tutti_context *context, const tutti_ensemble *chosen, const struct cheaper *cheaper,
                                   tutti_ensemble *ensemble) {
  double picks = (double)tutti_ensemble_picks(chosen);
  char note[96];
  for (size_t i = 0; i < tutti_ensemble_size(chosen); i++)
    TUTTI_TRY(context, tutti_ensemble_add(context, ensemble, tutti_ensemble_trial(chosen, i),
                                          tutti_ensemble_weight(chosen, i) * (picks > 0 ? picks : 1)));
  for (size_t i = 0; i < tutti_ensemble_steps(chosen); i++) {
    const struct tutti_step *step = tutti_ensemble_step(chosen, i);
    TUTTI_TRY(context, tutti_ensemble_trace(context, ensemble, step->trial, step->loss, step->note));
  }
  for (size_t k = 0; k < cheaper->of->models; k++) {
    double cost = tutti_pool_cost(cheaper->of, cheaper->limit.cost, k);
    const char *name = tutti_cost_names[cheaper->limit.cost];
    if (is_cheap(cheaper, k) && !cheaper->dropped[k])
      continue;
    (void)snprintf(note, sizeof note, "left out: %.17g %s%s", cost, name,
                   is_cheap(cheaper, k) ? ", with the others" : "");
    TUTTI_TRY(context, tutti_ensemble_trace(context, ensemble, cheaper->of->trials[k], cheaper->of->losses[k],
                                            isnan(cost) ? "left out: its cost is not known" : note));
  }
  tutti_ensemble_combine(ensemble, tutti_ensemble_combination(chosen));
  return TUTTI_OK;
}

enum tutti_status tutti_selector_select_within(tutti_context *context, tutti_selector *selector,
                                               const struct tutti_pool *pool, size_t count,
                                               const struct tutti_cost_limit *limit, tutti_ensemble *ensemble) {
  enum tutti_status status = TUTTI_OK;
  struct cheaper cheaper = {.of = pool};
  tutti_ensemble *chosen = NULL;
  double cost;
  TUTTI_TAKE(&cheaper.limit, limit);
  if (!(cheaper.limit.most > 0) || (size_t)cheaper.limit.cost >= TUTTI_COSTS)
    return tutti_selector_select(context, selector, pool, count, ensemble);
  TUTTI_TRY_OUT(context, reserve(context, pool, &cheaper));
  do {
    if (chosen)
      drop(chosen, &cheaper);
    tutti_ensemble_destroy(chosen);
    chosen = NULL;
    gather(&cheaper);
    if (cheaper.pool.models == 0) {
      status = nothing_cheap(context, &cheaper);
      goto out;
    }
    TUTTI_TRY_OUT(context, tutti_ensemble_create(context, &chosen));
    TUTTI_TRY_OUT(context, tutti_selector_select(context, selector, &cheaper.pool, count, chosen));
    cost = tutti_ensemble_cost(chosen, pool, cheaper.limit.cost);
  } while (cost > cheaper.limit.most);
  TUTTI_TRY_OUT(context, hand_over(context, chosen, &cheaper, ensemble));
out:
  tutti_ensemble_destroy(chosen);
  release(&cheaper);
  return status;
}
