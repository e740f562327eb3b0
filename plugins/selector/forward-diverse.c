/* selector forward-diverse: forward selection without replacement that also wants members to differ. It starts from the
   model with the lowest validation loss. Each step adds the model that makes loss - lambda * diversity lowest, until
   there are `size` members. Diversity is the mean, over members and rows, of the squared distance between a member's
   prediction and the members' mean: of probabilities for classes; of means, in the target's units, in regression. Equal
   weights, in the order of the picks; lambda = 0 is selector forward.

   Source: an alternative to ForwardSelect in the program of Zaidi et al., "Neural ensemble search for uncertainty
   estimation and dataset shift" (NeurIPS 2021; automl/nes, commit c35be5a: beam_search_with_div), lambda = 1.
   Deviations: other losses, and regression; `keep = best` goes by the loss alone.

   With R the sum of m members' predictions P, the diversity after adding P_k is (S + |P_k|^2) / (m + 1) - |R + P_k|^2 /
   (m + 1)^2 per row, S being the sum of the members' squares. R.P_k is a running sum: trying a model costs nothing
   beyond its loss, and a pick one pass over all predictions. */
#include <inttypes.h>
#include <stdio.h>
#include <tutti/kit.h>

struct forward_diverse_config {
  struct tutti_growth_config growth;
  double lambda;
};

static const struct tutti_param forward_diverse_params[] = {
    TUTTI_GROWTH_PARAMS(struct forward_diverse_config, growth),
    TUTTI_REAL(struct forward_diverse_config, lambda, "1", 0, TUTTI_NO_LIMIT,
               "What a unit of diversity is worth in units of the loss; 0: selector forward."),
};

/* Products of predictions, summed over rows. */
struct spread {
  const struct tutti_pool *pool;
  size_t members;
  double squares, total; /* of the members: the sum of |P|^2, and |R|^2 */
  double *own, *cross;   /* [models]: |P_k|^2, R.P_k */
};

/* Regression: errors stand in for predictions, which changes no distance and loses no digits if targets are large. */
static double product(const struct spread *spread, size_t a, size_t b) {
  const struct tutti_pool *pool = spread->pool;
  bool classes = pool->kind == TUTTI_TASK_CLASSIFICATION;
  const float *x = pool->predictions[a], *y = pool->predictions[b];
  size_t stride = classes ? 1 : 2;
  double sum = 0;
  for (size_t i = 0; i < pool->rows * pool->outputs; i++) {
    double origin = classes ? 0 : pool->values[i];
    sum += ((double)x[i * stride] - origin) * ((double)y[i * stride] - origin);
  }
  return sum;
}

static void close_spread(struct spread *spread) {
  tutti_free(spread->own);
  tutti_free(spread->cross);
}

static enum tutti_status open_spread(tutti_context *context, const struct tutti_pool *pool, struct spread *spread) {
  *spread = (struct spread){.pool = pool};
  TUTTI_TRY(context, tutti_alloc(context, pool->models, sizeof *spread->cross, &spread->cross));
  TUTTI_TRY(context, tutti_alloc(context, pool->models, sizeof *spread->own, &spread->own));
  for (size_t k = 0; k < pool->models; k++)
    spread->own[k] = product(spread, k, k);
  return TUTTI_OK;
}

/* The diversity after adding a model. */
static double diversity_with(const struct spread *spread, size_t model) {
  double members = (double)spread->members + 1;
  double total = spread->total + 2 * spread->cross[model] + spread->own[model];
  double diversity = (spread->squares + spread->own[model]) / members - total / (members * members);
  return spread->members == 0 || diversity < 0 ? 0 : diversity / (double)spread->pool->rows;
}

static void add_to_spread(struct spread *spread, size_t model) {
  spread->squares += spread->own[model];
  spread->total += 2 * spread->cross[model] + spread->own[model];
  spread->members++;
  for (size_t k = 0; k < spread->pool->models; k++)
    spread->cross[k] += product(spread, model, k);
}

/* The best addition and the next best; the number of models if there is none. */
struct addition {
  size_t model, runner_up;
  double loss, worth, runner_up_worth;
};

static struct addition best_addition(const tutti_growth *growth, const struct spread *spread, double lambda,
                                     const bool *taken) {
  size_t models = spread->pool->models;
  struct addition best = {.model = models, .runner_up = models, .worth = INFINITY, .runner_up_worth = INFINITY};
  for (size_t k = 0; k < models; k++) {
    if (taken[k] || isnan(tutti_growth_own_losses(growth)[k]))
      continue;
    double loss = tutti_growth_loss_with(growth, k), worth = loss - lambda * diversity_with(spread, k);
    if (isnan(worth))
      continue;
    if (best.model == models || worth < best.worth) {
      best.runner_up = best.model;
      best.runner_up_worth = best.worth;
      best.model = k;
      best.loss = loss;
      best.worth = worth;
    } else if (best.runner_up == models || worth < best.runner_up_worth) {
      best.runner_up = k;
      best.runner_up_worth = worth;
    }
  }
  return best;
}

static enum tutti_status grow_forward_diverse(tutti_context *context, tutti_growth *growth, struct spread *spread,
                                              double lambda, size_t size, bool *taken) {
  const struct tutti_pool *pool = spread->pool;
  while (tutti_growth_members(growth) < size) {
    struct addition best = best_addition(growth, spread, lambda, taken);
    char note[96];
    if (best.model == pool->models)
      return TUTTI_OK;
    int used = snprintf(note, sizeof note, "diversity %.3g", diversity_with(spread, best.model));
    if (best.runner_up < pool->models)
      (void)snprintf(note + used, sizeof note - (size_t)used, "; next best: trial %" PRIu64 ", %.3g worse",
                     pool->trials[best.runner_up], best.runner_up_worth - best.worth);
    TUTTI_TRY(context, tutti_growth_take(context, growth, best.model, best.loss, note));
    taken[best.model] = true;
    add_to_spread(spread, best.model);
  }
  return TUTTI_OK;
}

static enum tutti_status selector_select_forward_diverse(void *self, tutti_context *context,
                                                         const struct tutti_pool *pool, size_t count,
                                                         tutti_ensemble *ensemble) {
  const struct forward_diverse_config *config = self;
  const struct tutti_growth_options options = tutti_growth_options_of(&config->growth, count);
  enum tutti_status status;
  tutti_growth *growth = NULL;
  struct spread spread = {0};
  bool *taken = NULL;
  TUTTI_TRY_OUT(context, tutti_growth_create(context, &options, pool, &growth));
  TUTTI_TRY_OUT(context, tutti_alloc(context, pool->models, sizeof *taken, &taken));
  TUTTI_TRY_OUT(context, open_spread(context, pool, &spread));
  TUTTI_TRY_OUT(context, grow_forward_diverse(context, growth, &spread, config->lambda, options.members, taken));
  TUTTI_TRY_OUT(context, tutti_growth_finish(context, growth, "", ensemble));
out:
  close_spread(&spread);
  tutti_free(taken);
  tutti_growth_destroy(growth);
  return status;
}

static const struct tutti_selector_ops selector_forward_diverse_ops = {
    .size = sizeof selector_forward_diverse_ops,
    .select = selector_select_forward_diverse,
};

static const struct tutti_descriptor selector_forward_diverse_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SELECTOR, "forward-diverse"),
    .version = "1.0",
    .summary = "greedy forward selection that also wants members to differ: loss - lambda x diversity",
    .source = "Zaidi et al., Neural ensemble search for uncertainty estimation and dataset shift, NeurIPS 2021: its "
              "program",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(forward_diverse_params, struct forward_diverse_config),
    .create = tutti_growth_selector_create,
    .ops = &selector_forward_diverse_ops,
};

TUTTI_PLUGIN(selector_forward_diverse_descriptor)
