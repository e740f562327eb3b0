/* selector stacking: convex weights of all models that minimise the validation loss of the mixture. The weights are
   sparse: a model that the mixture does not need has weight zero and is not a member. For the mixture's NLL, Brier
   score and squared error the problem is convex, and the weights solve it to within `tolerance` from any start. For the
   NLL of one Gaussian with the mixture's moments (density = moments) they are a local solution, found from the best
   single model.

   Source: Wolpert, "Stacked generalization", Neural Networks 5 (1992); Breiman, "Stacked regressions", Machine Learning
   24 (1996); as an alternative to ForwardSelect in the program of Zaidi et al., "Neural ensemble search for uncertainty
   estimation and dataset shift" (NeurIPS 2021). Method: column generation with pairwise Frank-Wolfe steps
   (Lacoste-Julien and Jaggi, NeurIPS 2015). Deviations:
   - NES takes the softmax of free parameters and follows gradients. That reaches the same minimum but never an exact
     weight of zero. Here the weights themselves stay on the simplex, and the distance from the minimum is known;
   - `size` limits the number of members: the first ones let in stay, which need not be the best subset of that size;
     `least` drops members with little weight. Both fit the weights again;
   - density = moments uses the mixture's own variance (epistemic = population). The unbiased variance jumps when a
     second member's weight leaves zero, so slopes cannot find its minimum. */
#include "stacking/stacking_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <tutti/kit.h>

struct stacking_config {
  struct tutti_growth_config growth;
  double tolerance, least;
  int64_t steps;
};

/* The first of growth_losses: the error follows, and it has no slope. */
static const char *const stacking_losses[] = {"auto", "nll", "brier", "mse", NULL};

static const struct tutti_param stacking_params[] = {
    TUTTI_PARAM("size", INTEGER, struct stacking_config, growth.size, "0", 0, TUTTI_NO_LIMIT, NULL, TUTTI_KIND_SPACE,
                "Members of the ensemble, at most; 0: as many as the weights need.", .unit = "members"),
    TUTTI_PARAM(
        "loss", CHOICE, struct stacking_config, growth.loss, "auto", 0, 0, stacking_losses, TUTTI_KIND_SPACE,
        "What the ensemble minimises on the validation rows; auto: nll, or mse where no model predicts a variance."),
    TUTTI_PARAM("density", CHOICE, struct stacking_config, growth.density, "mixture", 0, 0, tutti_growth_densities,
                TUTTI_KIND_SPACE,
                "Regression's nll is that of the mixture of Gaussians, or of one Gaussian with the mixture's moments."),
    TUTTI_REAL(
        struct stacking_config, tolerance, "1e-6", 0, 1,
        "How far the loss may be above its minimum: nats, or for brier and mse a share of the best model's loss."),
    TUTTI_REAL(struct stacking_config, least, "0.001", 0, 1,
               "A member with a smaller weight is dropped; the others are fitted again."),
    TUTTI_INTEGER(struct stacking_config, steps, "10000", 1, TUTTI_NO_LIMIT,
                  "Shifts of weight from one model to another, at most.", .unit = "steps"),
};

static double weight_stacking(const struct stacking_fit *fit, size_t model) {
  for (size_t m = 0; m < fit->members; m++)
    if (fit->member[m].model == model)
      return fit->member[m].weight;
  return 0;
}

/* Where some row has next to no density under the members so far, the slope is beyond telling. */
static const double STEEP = 1e6;

/* How the fit came about: one step for each model let in or dropped. */
static enum tutti_status trace_stacking(tutti_context *context, const struct stacking_fit *fit, size_t size,
                                        tutti_ensemble *ensemble) {
  for (size_t i = 0; i < fit->events; i++) {
    const struct stacking_event *event = &fit->event[i];
    char note[96], end[48] = "";
    if (i + 1 == fit->events && fit->members >= size)
      (void)snprintf(end, sizeof end, "; the end: %zu members", fit->members);
    else if (i + 1 == fit->events && fit->gap > 0)
      (void)snprintf(end, sizeof end, "; the end: within %.1g of the minimum", fit->gap);
    else if (i + 1 == fit->events)
      (void)snprintf(end, sizeof end, "; the end: the minimum");
    if (event->dropped)
      (void)snprintf(note, sizeof note, "dropped: weight %.2g%s", event->amount, end);
    else if (i == 0)
      (void)snprintf(note, sizeof note, "the best alone; final weight %.3g%s", weight_stacking(fit, event->model), end);
    else
      (void)snprintf(note, sizeof note, "let in: slope %s-%.2g; final weight %.3g%s",
                     event->amount > STEEP ? "below " : "", fmin(event->amount, STEEP),
                     weight_stacking(fit, event->model), end);
    TUTTI_TRY(context,
              tutti_ensemble_trace(context, ensemble, fit->mixture.pool->trials[event->model], event->loss, note));
  }
  return TUTTI_OK;
}

static enum tutti_status fit_stacking(tutti_context *context, const struct stacking_config *config,
                                      const tutti_growth *growth, const struct tutti_pool *pool, size_t size,
                                      struct stacking_fit *fit) {
  const double *own = tutti_growth_own_losses(growth);
  enum tutti_loss loss = tutti_growth_loss(growth);
  size_t *order = NULL;
  TUTTI_TRY(context, tutti_rank_models(context, pool->models, own, &order));
  size_t first = order[0];
  tutti_free(order);
  fit->options = (struct stacking_options){
      .tolerance = config->tolerance * (loss == TUTTI_LOSS_NLL ? 1 : own[first]),
      .least = config->least,
      .members = size,
      .steps = (size_t)config->steps,
  };
  fit->own = own;
  TUTTI_TRY(context, stacking_mixture_init(context, pool, loss, config->growth.density != 0, own, &fit->mixture));
  TUTTI_TRY(context, stacking_fit_run(context, fit, first));
  return TUTTI_OK;
}

static enum tutti_status selector_select_stacking(void *self, tutti_context *context, const struct tutti_pool *pool,
                                                  size_t count, tutti_ensemble *ensemble) {
  const struct stacking_config *config = self;
  const struct tutti_growth_options options = tutti_growth_options_of(&config->growth, count);
  size_t size = options.members ? options.members : SIZE_MAX;
  enum tutti_status status;
  tutti_growth *growth = NULL;
  struct stacking_fit fit = {0};
  TUTTI_TRY_OUT(context, tutti_growth_create(context, &options, pool, &growth));
  TUTTI_TRY_OUT(context, fit_stacking(context, config, growth, pool, size, &fit));
  for (size_t m = 0; m < fit.members; m++)
    TUTTI_TRY_OUT(context,
                  tutti_ensemble_add(context, ensemble, pool->trials[fit.member[m].model], fit.member[m].weight));
  TUTTI_TRY_OUT(context, trace_stacking(context, &fit, size, ensemble));
  TUTTI_TRY_OUT(context, tutti_trace_passed_over(context, pool, tutti_loss_names()[tutti_growth_loss(growth)],
                                                 tutti_growth_own_losses(growth), ensemble));
out:
  stacking_fit_clear(&fit);
  tutti_growth_destroy(growth);
  return status;
}

static const struct tutti_selector_ops selector_stacking_ops = {
    .size = sizeof selector_stacking_ops,
    .select = selector_select_stacking,
};

static const struct tutti_descriptor selector_stacking_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SELECTOR, "stacking"),
    .version = "1.0",
    .summary = "convex weights that minimise the loss of the mixture; what needs no weight is no member",
    .source =
        "Wolpert, Stacked generalization, Neural Networks 5, 1992; Breiman, Stacked regressions, Machine Learning "
        "24, 1996; Lacoste-Julien and Jaggi, NeurIPS 2015",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(stacking_params, struct stacking_config),
    .create = tutti_growth_selector_create,
    .ops = &selector_stacking_ops,
};

TUTTI_PLUGIN(selector_stacking_descriptor)
