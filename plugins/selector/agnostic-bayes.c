/* selector agnostic-bayes: asks on many bootstraps of the validation rows which model is best. A model's weight is the
   share of bootstraps that it wins; ties are shared equally. The weight estimates the probability that the model is the
   best one on new data. Models that never win are not members.

   Source: Lacoste, Larochelle, Laviolette, Marchand, "Sequential model-based ensemble optimization" (UAI 2014),
   Equation 6 and section 3; Lacoste, Marchand, Laviolette, Larochelle, "Agnostic Bayesian learning of ensembles" (ICML
   2014), section 4.3. Algorithm 2 of the former, read literally, returns all models; its Equation 6 is followed here.

   Combination: weighted majority vote of labels (the lowest wins ties) if the loss is the error; averaged probabilities
   for the other losses of a classification; weighted mean (the mixture) in regression.

   Besides the paper's error of classes there are the losses nll (the default, as in the other selectors), brier and,
   for values, of which the paper does not say what is minimised, the squared error, which the recipes of ini/smbo
   choose. `bootstraps = 25` is the authors' code's, the paper does not say. Nor does it say how many rows a bootstrap
   has: that code draws half as many as there are (share = 0.5), the default here as many, as is usual. */
#include <tutti/kit.h>

#include <inttypes.h>
#include <stdio.h>
#include <tutti/bootstraps.h>

struct agnostic_bayes_config {
  int64_t bootstraps;
  double share;
  int loss, combination;
};

static const char *const agnostic_bayes_combinations[] = {"auto", "mixture", "vote", NULL};
enum { COMBINATION_AUTO, COMBINATION_MIXTURE, COMBINATION_VOTE };

static const struct tutti_param agnostic_bayes_params[] = {
    TUTTI_INTEGER(struct agnostic_bayes_config, bootstraps, "25", 1, 1000000,
                  "Bootstraps of the validation rows; more give finer weights and more members."),
    TUTTI_REAL(struct agnostic_bayes_config, share, "1", 0, 100,
               "Rows of a bootstrap, as a share of the validation rows; less spreads the weights.", .min_open = true),
    TUTTI_CHOICE(struct agnostic_bayes_config, loss, "auto", tutti_growth_losses,
                 "What makes a model the best of a bootstrap; auto: nll, or mse where no model predicts a variance."),
    TUTTI_CHOICE(
        struct agnostic_bayes_config, combination, "auto", agnostic_bayes_combinations,
        "How members' predictions become one; auto: a vote of labels where the loss is the error, else the mixture."),
};

struct selector_agnostic_bayes {
  const struct agnostic_bayes_config *config;
  uint64_t seed;
};

static enum tutti_status selector_create_agnostic_bayes(tutti_context *context, const void *config_, const void *setup_,
                                                        void **instance) {
  const struct tutti_selector_setup *setup = setup_;
  const struct agnostic_bayes_config *config = config_;
  const struct tutti_task *task = setup->host ? tutti_host_task(setup->host) : NULL;
  struct selector_agnostic_bayes *self;
  if (task)
    TUTTI_TRY(context, tutti_growth_check(context, config->loss, task->kind));
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *self, &self));
  self->config = config;
  self->seed = setup->seed;
  *instance = self;
  return TUTTI_OK;
}

static void selector_destroy_agnostic_bayes(void *instance) { tutti_free(instance); }

/* A tournament of models on bootstraps. */
struct tournament {
  const struct tutti_pool *pool;
  tutti_bootstraps *bootstraps;
  enum tutti_loss loss;
  double *losses;  /* [rows] of one model */
  double *own;     /* [models]: on all rows */
  double *risks;   /* [models][bootstraps] */
  double *weights; /* [models]: bootstraps won */
};

static void close_agnostic_bayes(struct tournament *tournament) {
  tutti_bootstraps_destroy(tournament->bootstraps);
  tutti_free(tournament->losses);
  tutti_free(tournament->own);
  tutti_free(tournament->risks);
  tutti_free(tournament->weights);
}

static enum tutti_status open_agnostic_bayes(const struct selector_agnostic_bayes *self, tutti_context *context,
                                             struct tournament *tournament) {
  const struct tutti_pool *pool = tournament->pool;
  size_t count = (size_t)self->config->bootstraps;
  double draws = fmax(1, round(self->config->share * (double)pool->rows));
  TUTTI_TRY(context,
            tutti_bootstraps_create(context, count, pool->rows, (size_t)draws, self->seed, &tournament->bootstraps));
  TUTTI_TRY(context, tutti_alloc(context, pool->rows, sizeof(double), &tournament->losses));
  TUTTI_TRY(context, tutti_alloc(context, pool->models, sizeof(double), &tournament->own));
  TUTTI_TRY(context, tutti_alloc(context, pool->models, count * sizeof(double), &tournament->risks));
  TUTTI_TRY(context, tutti_alloc(context, pool->models, sizeof(double), &tournament->weights));
  return TUTTI_OK;
}

/* All models' risks under a loss; false if none of them is a number. */
static bool measure_agnostic_bayes(struct tournament *tournament, enum tutti_loss loss) {
  const struct tutti_pool *pool = tournament->pool;
  size_t count = tutti_bootstraps_count(tournament->bootstraps);
  struct tutti_predictions predictions = {.size = sizeof predictions};
  struct tutti_targets targets = {.size = sizeof targets};
  bool some = false;
  tutti_pool_targets(pool, &targets);
  tournament->loss = loss;
  for (size_t m = 0; m < pool->models; m++) {
    tutti_pool_predictions(pool, m, &predictions);
    tournament->own[m] = tutti_loss_of(loss, &predictions, &targets);
    if (!tutti_row_losses(loss, &predictions, &targets, tournament->losses))
      return false;
    tutti_bootstraps_risks(tournament->bootstraps, tournament->losses, tournament->risks + m * count);
    some |= !isnan(tournament->own[m]);
  }
  return some;
}

/* Give one bootstrap's weight to the models with the least risk. A model without a loss of its own takes no part. */
static void judge_agnostic_bayes(struct tournament *tournament, size_t bootstrap) {
  size_t count = tutti_bootstraps_count(tournament->bootstraps), models = tournament->pool->models, ties = 0;
  double least = INFINITY;
  for (size_t m = 0; m < models; m++) {
    double risk = tournament->risks[m * count + bootstrap];
    if (isnan(tournament->own[m]) || risk > least)
      continue;
    ties = risk < least ? 1 : ties + 1;
    least = risk;
  }
  for (size_t m = 0; m < models; m++)
    if (!isnan(tournament->own[m]) && tournament->risks[m * count + bootstrap] == least)
      tournament->weights[m] += 1 / (double)ties;
}

static enum tutti_status crown_agnostic_bayes(tutti_context *context, const struct tournament *tournament,
                                              tutti_ensemble *ensemble) {
  const struct tutti_pool *pool = tournament->pool;
  for (size_t m = 0; m < pool->models; m++) {
    char note[96];
    if (!(tournament->weights[m] > 0))
      continue;
    (void)snprintf(note, sizeof note, "best on %.4g of %zu bootstraps; the loss is its own", tournament->weights[m],
                   tutti_bootstraps_count(tournament->bootstraps));
    TUTTI_TRY(context, tutti_ensemble_add(context, ensemble, pool->trials[m], tournament->weights[m]));
    TUTTI_TRY(context, tutti_ensemble_trace(context, ensemble, pool->trials[m], tournament->own[m], note));
  }
  return tutti_trace_passed_over(context, pool, tutti_loss_names()[tournament->loss], tournament->own, ensemble);
}

static enum tutti_status selector_select_agnostic_bayes(void *instance, tutti_context *context,
                                                        const struct tutti_pool *pool, size_t size,
                                                        tutti_ensemble *ensemble) {
  const struct selector_agnostic_bayes *self = instance;
  enum tutti_loss loss;
  bool given = tutti_growth_loss_of(self->config->loss, &loss);
  struct tournament tournament = {.pool = pool};
  enum tutti_status status;
  (void)size; /* the bootstraps say how many members there are */
  TUTTI_TRY_OUT(context, tutti_growth_check(context, self->config->loss, pool->kind));
  TUTTI_TRY_OUT(context, open_agnostic_bayes(self, context, &tournament));
  bool some = measure_agnostic_bayes(&tournament, loss);
  if (!some && !given && pool->kind == TUTTI_TASK_REGRESSION)
    some = measure_agnostic_bayes(&tournament, TUTTI_LOSS_MSE);
  if (!some)
    TUTTI_TRY_OUT(context, TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC,
                                      "none of the %zu models has a %s that is a number: nothing to choose from",
                                      pool->models, tutti_loss_names()[tournament.loss]));
  for (size_t k = 0; k < tutti_bootstraps_count(tournament.bootstraps); k++)
    judge_agnostic_bayes(&tournament, k);
  bool vote = self->config->combination == COMBINATION_VOTE ||
              (self->config->combination == COMBINATION_AUTO && tournament.loss == TUTTI_LOSS_ERROR);
  tutti_ensemble_combine(ensemble, vote ? TUTTI_COMBINATION_VOTE : TUTTI_COMBINATION_MIXTURE);
  status = crown_agnostic_bayes(context, &tournament, ensemble);
out:
  close_agnostic_bayes(&tournament);
  return status;
}

static const struct tutti_selector_ops selector_agnostic_bayes_ops = {
    .size = sizeof selector_agnostic_bayes_ops,
    .select = selector_select_agnostic_bayes,
};

static const struct tutti_descriptor selector_agnostic_bayes_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SELECTOR, "agnostic-bayes"),
    .version = "1.0",
    .summary = "weights by how often a model is the best on bootstraps of the validation rows",
    .source =
        "Lacoste et al., Sequential model-based ensemble optimization, UAI 2014, Equation 6; Lacoste et al., Agnostic "
        "Bayesian learning of ensembles, ICML 2014",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(agnostic_bayes_params, struct agnostic_bayes_config),
    .create = selector_create_agnostic_bayes,
    .destroy = selector_destroy_agnostic_bayes,
    .ops = &selector_agnostic_bayes_ops,
};

TUTTI_PLUGIN(selector_agnostic_bayes_descriptor)
