/* smbo-ensemble.c - sequential model-based ensemble optimisation (ESMBO): Bayesian optimisation of many objectives at
   once, namely the risks on bootstraps of the validation rows. Lacoste, Larochelle, Laviolette, Marchand, "Sequential
   Model-Based Ensemble Optimization", UAI 2014, Algorithm 2. Each bootstrap has its own history and model, and they
   take turns: the model of bootstrap i mod N chooses trial i. Every trained network enters all histories, with its risk
   on each bootstrap. Selector agnostic-bayes makes the ensemble of the models that are best on a bootstrap.

   The paper does not say how many bootstraps, nor of how many rows; 25 and the choice of half of the rows, `share =
   0.5`, are the authors' code's; the default draws as many rows as there are, as is usual. All bootstraps share one
   Sobol design before the first turn (`initial`); pending candidates are treated as in builder bo (none with
   `run.window = 1`). */
#include "plugins/shared/json.h"

#include <stdio.h>
#include <tutti/kit.h>

struct smbo_ensemble_config {
  int64_t bootstraps;
  double share;
  int loss;
  struct tutti_design_config design;
  struct tutti_proposer_config model;
};

static const char *const smbo_ensemble_losses[] = {TUTTI_LOSS_CHOICES};

static const struct tutti_param smbo_ensemble_params[] = {
    TUTTI_INTEGER(struct smbo_ensemble_config, bootstraps, "25", 1, 10000,
                  "Bootstraps of the validation rows, each with a model of its own."),
    TUTTI_REAL(struct smbo_ensemble_config, share, "1", 0, 100,
               "Rows of a bootstrap, as a share of the validation rows; less makes the objectives differ more.",
               .min_open = true),
    TUTTI_CHOICE(struct smbo_ensemble_config, loss, "auto", smbo_ensemble_losses,
                 "What is averaged over a bootstrap's rows; auto: nll, or mse for heads without a variance. The paper "
                 "minimises the error of classes, and names no loss of values."),
    TUTTI_DESIGN_PARAMS(struct smbo_ensemble_config, design, "sobol"),
    TUTTI_PROPOSER_PARAMS(struct smbo_ensemble_config, model, "auto", "worst", "gp", "ei", "sobol-lbfgs"),
};

struct smbo_ensemble {
  const struct smbo_ensemble_config *config;
  const tutti_host *host;
  struct tutti_design design;
  enum tutti_loss loss;
  tutti_proposer **proposers;   /* [bootstraps] */
  tutti_bootstraps *bootstraps; /* NULL until the first result says how many rows there are */
  double *losses;               /* [rows] */
  double *risks;                /* [bootstraps] */
  bool exhausted;
};

static size_t count_smbo_ensemble(const struct smbo_ensemble *self) { return (size_t)self->config->bootstraps; }

/* --- life --------------------------------------------------------------------------------------------------------- */

static enum tutti_status choose_loss_smbo_ensemble(tutti_context *context, struct smbo_ensemble *self) {
  const struct tutti_task *task = tutti_host_task(self->host);
  if (task && task->kind == TUTTI_TASK_VALUE)
    return TUTTI_FAIL(
        context, TUTTI_ERROR_UNSUPPORTED,
        "builder smbo-ensemble needs predictions to bootstrap, and this recipe has no data: take builder bo");
  if (!tutti_loss_parse(smbo_ensemble_losses[self->config->loss], &self->loss))
    self->loss = task ? tutti_loss_natural(task) : TUTTI_LOSS_NLL;
  if (task && !tutti_loss_applies(self->loss, task->kind))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "[builder] loss: %s is not defined for this task",
                      smbo_ensemble_losses[self->config->loss]);
  return TUTTI_OK;
}

static void builder_destroy_smbo_ensemble(void *instance) {
  struct smbo_ensemble *self = instance;
  for (size_t k = 0; self->proposers && k < count_smbo_ensemble(self); k++)
    tutti_proposer_destroy(self->proposers[k]);
  tutti_free(self->proposers);
  tutti_bootstraps_destroy(self->bootstraps);
  tutti_free(self->losses);
  tutti_free(self->risks);
  tutti_free(self);
}

static enum tutti_status builder_create_smbo_ensemble(tutti_context *context, const void *config_, const void *setup_,
                                                      void **instance) {
  const struct tutti_builder_setup *setup = setup_;
  const struct smbo_ensemble_config *config = config_;
  enum tutti_status status;
  struct smbo_ensemble *self = NULL;
  const struct tutti_design design = tutti_design_of(&config->design, setup->host);
  struct tutti_proposer_setup proposer =
      tutti_proposer_setup_of(&config->model, setup->host, NULL, 2 * (size_t)design.initial);
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof(*self), &self));
  self->config = config;
  self->host = setup->host;
  self->design = design;
  TUTTI_TRY_OUT(context, tutti_design_check(context, &self->design));
  TUTTI_TRY_OUT(context, choose_loss_smbo_ensemble(context, self));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count_smbo_ensemble(self), sizeof(*self->risks), &self->risks));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count_smbo_ensemble(self), sizeof(*self->proposers), &self->proposers));
  for (size_t k = 0; k < count_smbo_ensemble(self); k++)
    TUTTI_TRY_OUT(context, tutti_proposer_create(context, &proposer, &self->proposers[k]));
  *instance = self;
  return TUTTI_OK;
out:
  builder_destroy_smbo_ensemble(self);
  return status;
}

/* --- ask ---------------------------------------------------------------------------------------------------------- */

static enum tutti_status builder_adopt_smbo_ensemble(void *instance, tutti_context *context, uint64_t trial,
                                                     const struct tutti_proposal *proposal) {
  struct smbo_ensemble *self = instance;
  for (size_t k = 0; k < count_smbo_ensemble(self); k++)
    TUTTI_TRY(context, tutti_proposer_asked(context, self->proposers[k], trial, proposal->candidate));
  return TUTTI_OK;
}

static enum tutti_status builder_ask_smbo_ensemble(void *instance, tutti_context *context, uint64_t trial,
                                                   struct tutti_proposal *proposal) {
  struct smbo_ensemble *self = instance;
  size_t turn = (size_t)(trial % count_smbo_ensemble(self));
  double worth;
  proposal->parent = TUTTI_NO_TRIAL;
  if (trial < self->design.initial) {
    snprintf(proposal->origin, sizeof(proposal->origin), "design");
    TUTTI_TRY(context, tutti_design_candidate(context, &self->design, trial, tutti_proposer_known(self->proposers[0]),
                                              &proposal->candidate));
    if (!proposal->candidate)
      TUTTI_TRY(context, tutti_proposer_draw(context, self->proposers[0], trial, &proposal->candidate));
  } else {
    TUTTI_TRY(context, tutti_proposer_propose(context, self->proposers[turn], trial, &proposal->candidate, &worth));
    snprintf(proposal->origin, sizeof(proposal->origin), "bootstrap %zu, %s %.4g", turn,
             self->config->model.acquisition, worth);
  }
  self->exhausted = !proposal->candidate;
  return proposal->candidate ? builder_adopt_smbo_ensemble(self, context, trial, proposal) : TUTTI_OK;
}

/* --- tell --------------------------------------------------------------------------------------------------------- */

/* Draw the bootstraps as soon as the number of rows is known. */
static enum tutti_status draw_bootstraps_smbo_ensemble(struct smbo_ensemble *self, tutti_context *context,
                                                       size_t rows) {
  double draws = fmax(1, round(self->config->share * (double)rows));
  if (self->bootstraps)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_alloc(context, rows, sizeof(double), &self->losses));
  return tutti_bootstraps_create(context, count_smbo_ensemble(self), rows, (size_t)draws, tutti_host_seed(self->host),
                                 &self->bootstraps);
}

/* A trial's risk on each bootstrap, from its predictions on the validation rows. */
static enum tutti_status measure_smbo_ensemble(struct smbo_ensemble *self, tutti_context *context, uint64_t trial) {
  struct tutti_pool pool = {.size = sizeof pool};
  struct tutti_predictions predictions = {.size = sizeof predictions};
  struct tutti_targets targets = {.size = sizeof targets};
  TUTTI_TRY(context, tutti_host_pool(context, self->host, "validation", 1, &trial, &pool));
  tutti_pool_predictions(&pool, 0, &predictions);
  tutti_pool_targets(&pool, &targets);
  enum tutti_status status = draw_bootstraps_smbo_ensemble(self, context, pool.rows);
  if (status == TUTTI_OK && tutti_row_losses(self->loss, &predictions, &targets, self->losses))
    tutti_bootstraps_risks(self->bootstraps, self->losses, self->risks);
  tutti_host_pool_release(self->host, &pool);
  return status;
}

static enum tutti_status builder_tell_smbo_ensemble(void *instance, tutti_context *context,
                                                    const struct tutti_result *result) {
  struct smbo_ensemble *self = instance;
  for (size_t k = 0; k < count_smbo_ensemble(self); k++)
    self->risks[k] = NAN;
  if (result->state == TUTTI_STATE_FINISHED && isfinite(result->loss))
    TUTTI_TRY(context, measure_smbo_ensemble(self, context, result->trial));
  for (size_t k = 0; k < count_smbo_ensemble(self); k++)
    TUTTI_TRY(context,
              tutti_proposer_told(context, self->proposers[k], result->trial, result->candidate, self->risks[k]));
  return TUTTI_OK;
}

static bool builder_exhausted_smbo_ensemble(void *instance) {
  return ((const struct smbo_ensemble *)instance)->exhausted;
}

static enum tutti_status builder_describe_smbo_ensemble(void *instance, tutti_context *context, char **json) {
  const struct smbo_ensemble *self = instance;
  json_t *best = json_array();
  for (size_t k = 0; k < count_smbo_ensemble(self); k++) {
    double risk = tutti_proposer_best(self->proposers[k]);
    json_array_append_new(best, isfinite(risk) ? json_real(risk) : json_null());
  }
  json_t *object =
      json_pack("{s:I, s:I, s:o}", "asked", (json_int_t)tutti_proposer_asked_count(self->proposers[0]), "observed",
                (json_int_t)tutti_proposer_observed_count(self->proposers[0]), "best_of_bootstraps", best);
  char *state;
  TUTTI_TRY(context, shared_json_print(context, object, JSON_REAL_PRECISION(17), "the builder's state", &state));
  enum tutti_status status = tutti_proposer_describe_in(context, self->proposers[0], state, json);
  tutti_free(state);
  return status;
}

static const struct tutti_builder_ops smbo_ensemble_ops = {
    .size = sizeof(struct tutti_builder_ops),
    .ask = builder_ask_smbo_ensemble,
    .tell = builder_tell_smbo_ensemble,
    .adopt = builder_adopt_smbo_ensemble,
    .exhausted = builder_exhausted_smbo_ensemble,
    .describe = builder_describe_smbo_ensemble,
};

static const struct tutti_descriptor smbo_ensemble_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_BUILDER, "smbo-ensemble"),
    .version = "1.0",
    .summary = "Bayesian optimisation in turn on bootstraps of the validation rows, for ensembles by agnostic Bayes",
    .source = "Lacoste et al., Sequential Model-Based Ensemble Optimization, UAI 2014, Algorithm 2",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(smbo_ensemble_params, struct smbo_ensemble_config),
    .create = builder_create_smbo_ensemble,
    .destroy = builder_destroy_smbo_ensemble,
    .ops = &smbo_ensemble_ops,
};

TUTTI_PLUGIN(smbo_ensemble_descriptor)
