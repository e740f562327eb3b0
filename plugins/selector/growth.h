/* greedy_impl.h - what selectors that grow an ensemble model by model share: which loss they minimise, and how it begins. */
#ifndef GREEDY_IMPL_H
#define GREEDY_IMPL_H

#include <tutti/ensemble_loss.h>
#include <tutti/plugin.h>

/* Parameters; a selector's config struct has this as its field `greedy`. */
struct greedy_config {
  int64_t size;
  int loss, density, epistemic;
};

static const char *const greedy_losses[] = {"auto", "nll", "error", "brier", "mse", NULL};
static const char *const greedy_densities[] = {"mixture", "moments", NULL};
static const char *const greedy_epistemic[] = {"unbiased", "population", NULL};

/* clang-format off */
#define GREEDY_PARAMS(config_type) \
  {.name = "size", .type = TUTTI_PARAM_INTEGER, .offset = offsetof(config_type, greedy.size), .preset = "5", .min = 1, \
   .max = TUTTI_NO_LIMIT, .unit = "members", .doc = "Members of the ensemble; fewer where the pool has fewer models."}, \
  {.name = "loss", .type = TUTTI_PARAM_CHOICE, .offset = offsetof(config_type, greedy.loss), .preset = "auto", \
   .choices = greedy_losses, \
   .doc = "What the ensemble minimises on the validation rows; auto: nll, or mse where no model predicts a variance."}, \
  {.name = "density", .type = TUTTI_PARAM_CHOICE, .offset = offsetof(config_type, greedy.density), \
   .preset = "mixture", .choices = greedy_densities, \
   .doc = "Regression's nll is that of the mixture of Gaussians, or of one Gaussian with the mixture's moments."}, \
  {.name = "epistemic", .type = TUTTI_PARAM_CHOICE, .offset = offsetof(config_type, greedy.epistemic), \
   .preset = "unbiased", .choices = greedy_epistemic, \
   .doc = "With density = moments, the variance of the means is divided by K - 1 (unbiased) or K (population)."}
/* clang-format on */

/* What `loss` names; TUTTI_LOSS_COUNT for auto. */
static inline enum tutti_loss greedy_loss(const struct greedy_config *config) {
  static const enum tutti_loss losses[] = {TUTTI_LOSS_COUNT, TUTTI_LOSS_NLL, TUTTI_LOSS_ERROR, TUTTI_LOSS_BRIER,
                                           TUTTI_LOSS_MSE};
  return losses[config->loss];
}

/* For create: a loss that the task does not have is refused before anything trains. */
static inline enum tutti_status greedy_check(tutti_context *context, const struct greedy_config *config,
                                             const struct tutti_selector_setup *setup) {
  const struct tutti_task *task = setup && setup->host ? tutti_host_task(setup->host) : NULL;
  enum tutti_loss loss = greedy_loss(config);
  if (task && loss != TUTTI_LOSS_COUNT && !tutti_loss_applies(loss, task->kind))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "loss = %s is not defined for %s: expected %s",
                      greedy_losses[config->loss],
                      task->kind == TUTTI_TASK_REGRESSION       ? "regression"
                      : task->kind == TUTTI_TASK_CLASSIFICATION ? "classification"
                                                                : "a task without data",
                      task->kind == TUTTI_TASK_REGRESSION       ? "nll or mse"
                      : task->kind == TUTTI_TASK_CLASSIFICATION ? "nll, error or brier"
                                                                : "auto");
  return TUTTI_OK;
}

/* Begin an empty ensemble under one loss; what the best first model is. */
static inline enum tutti_status greedy_try(tutti_context *context, const struct tutti_pool *pool,
                                           const struct tutti_ensemble_loss_options *options,
                                           tutti_ensemble_loss **loss, struct tutti_addition *first) {
  TUTTI_TRY(context, tutti_ensemble_loss_create(context, pool, options, loss));
  *first = tutti_ensemble_loss_best(*loss, NULL);
  return TUTTI_OK;
}

/* Begin an empty ensemble under the loss that is asked for, and find the best first model. TUTTI_ERROR_NUMERIC if no model
   has such a loss. */
static inline enum tutti_status greedy_begin(tutti_context *context, const struct greedy_config *config,
                                             const struct tutti_pool *pool, tutti_ensemble_loss **loss,
                                             struct tutti_addition *first) {
  struct tutti_ensemble_loss_options options = {
      .size = sizeof options,
      .loss = greedy_loss(config),
      .density = config->density ? TUTTI_DENSITY_MOMENTS : TUTTI_DENSITY_MIXTURE,
      .epistemic = config->epistemic ? TUTTI_EPISTEMIC_POPULATION : TUTTI_EPISTEMIC_UNBIASED,
  };
  bool automatic = options.loss == TUTTI_LOSS_COUNT;
  if (automatic)
    options.loss = TUTTI_LOSS_NLL;
  TUTTI_TRY(context, greedy_try(context, pool, &options, loss, first));
  if (first->model == pool->models && automatic && pool->kind == TUTTI_TASK_REGRESSION) {
    tutti_ensemble_loss_destroy(*loss);
    options.loss = TUTTI_LOSS_MSE;
    TUTTI_TRY(context, greedy_try(context, pool, &options, loss, first));
  }
  if (first->model < pool->models)
    return TUTTI_OK;
  tutti_ensemble_loss_destroy(*loss);
  *loss = NULL;
  return TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC,
                    "none of the %zu models has a %s that is a number: nothing to choose from", pool->models,
                    tutti_loss_names()[options.loss]);
}

#endif
