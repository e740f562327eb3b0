/* hyper-deep-ensemble.c - networks that differ in seed, dropout and L2 weight: a random search over the last two, a
   greedy choice on observations that were held out, the chosen settings again from several seeds, and a greedy choice
   among these (Wenzel, Snoek, Tran, Jenatton, "Hyperparameter ensembles for robustness and uncertainty quantification",
   NeurIPS 2020), as Heiss et al., ICML 2022, Appendices B.1.4 (Algorithms 1 and 2), B.2.2 and B.3.1, compare NOMU with
   it. The networks of the random search share their initial weights, as B.1.4 says of Wenzel et al. Mean
   and standard deviation are those of the chosen networks' predictions; one that is chosen twice counts twice.

   The score is a Gaussian log-likelihood, and without noise a single network has no deviation: to the variance of the
   ensemble is added the square of `floor`. Of fewer than three observations none is held out. Predictions are a
   function of the observations alone: each fit trains from scratch, when the first prediction asks for it. */
#include <string.h>
#include <tutti/kit.h>

struct hde_config {
  const char *trainer;
  int values;
  struct tutti_integers units;
  double dropout_least, dropout_most, l2_least, l2_most, held_out, floor;
  bool retrain;
  int64_t members, draws, retries;
};

static const struct tutti_param hde_params[] = {
    TUTTI_SUBPLUGIN(struct hde_config, trainer, "cpu", TUTTI_KIND_BACKEND, "Trains the networks.",
                    .with = "epochs = 1024; batch_size = 0; optimiser = adam; learning_rate = 0.001; l2_biases = yes; "
                            "initialiser = uniform; initialiser_range = 0.05"),
    TUTTI_INTEGER(struct hde_config, members, "5", 1, 1000, "Different networks of the ensemble at most, and seeds."),
    TUTTI_INTEGER(struct hde_config, draws, "20", 1, 10000, "Settings that the random search tries."),
    TUTTI_INTEGERS(struct hde_config, units, "256 1024 512", 1, 65536, "Hidden layers of each network."),
    TUTTI_REAL(struct hde_config, dropout_least, "0.001", 0, 1, "Dropout is drawn log-uniformly from here ...",
               .min_open = true, .max_open = true),
    TUTTI_REAL(struct hde_config, dropout_most, "0.9", 0, 1, "... to here.", .min_open = true, .max_open = true),
    TUTTI_REAL(struct hde_config, l2_least, "1e-11", 0, TUTTI_NO_LIMIT,
               "The L2 weight is drawn log-uniformly from here ...", .min_open = true),
    TUTTI_REAL(struct hde_config, l2_most, "1e-5", 0, TUTTI_NO_LIMIT,
               "... to here, and is multiplied by 1 - dropout and divided by the number of observations trained on.",
               .min_open = true),
    TUTTI_REAL(struct hde_config, held_out, "0.2", 0, 1, "Share of the observations that the choice is made on.",
               .min_open = true, .max_open = true),
    TUTTI_REAL(struct hde_config, floor, "0.001", 0, TUTTI_NO_LIMIT,
               "Deviation that the score adds to the ensemble's, in units of the scaled values.", .min_open = true),
    TUTTI_BOOL(struct hde_config, retrain, "no", "The chosen are trained again on all observations."),
    TUTTI_MEMBERS_PARAMS(struct hde_config),
};

/* A setting that the search drew. */
struct hde_setting {
  double dropout, l2;
  tutti_network *network;
  tutti_config *trainer;
};

/* Networks to choose from. */
struct hde_pool {
  size_t count;
  struct tutti_member *specs; /* [count] */
  tutti_tensors **weights;    /* [count] */
  double *predictions;        /* [count][observations] */
  size_t *picks, *times;      /* [count]: the different ones in the order of their choice, and how often of each */
  size_t picked;
};

struct hyper_deep_ensemble {
  const struct hde_config *config;
  uint64_t seed;
  tutti_members *members;
  struct hde_setting *settings; /* [draws] */
  uint32_t *rows;               /* [observations]: those trained on, then those held out */
  size_t trained_on;
  bool trained;
};

/* --- settings ----------------------------------------------------------------------------------------------------- */

static void forget_settings_hyper_deep_ensemble(struct hyper_deep_ensemble *self) {
  for (size_t i = 0; self->settings && i < (size_t)self->config->draws; i++) {
    tutti_network_destroy(self->settings[i].network);
    tutti_config_destroy(self->settings[i].trainer);
    self->settings[i] = (struct hde_setting){0};
  }
}

static double log_uniform_hyper_deep_ensemble(struct tutti_random *random, double least, double most) {
  return exp(log(least) + tutti_random_uniform(random) * (log(most) - log(least)));
}

static enum tutti_status scale_l2_hyper_deep_ensemble(tutti_context *context, const struct hde_setting *setting,
                                                      size_t count) {
  return tutti_config_set_number(context, setting->trainer, "l2", (1 - setting->dropout) * setting->l2 / (double)count);
}

static enum tutti_status draw_setting_hyper_deep_ensemble(struct hyper_deep_ensemble *self, tutti_context *context,
                                                          struct tutti_random *random, struct hde_setting *setting) {
  const struct hde_config *c = self->config;
  const struct tutti_task *task = tutti_members_task(self->members);
  uint32_t layer = 0;
  setting->dropout = log_uniform_hyper_deep_ensemble(random, c->dropout_least, c->dropout_most);
  setting->l2 = log_uniform_hyper_deep_ensemble(random, c->l2_least, c->l2_most);
  TUTTI_TRY(context, tutti_network_create(context, task->input, &setting->network));
  TUTTI_TRY(context, tutti_members_add_hidden(context, setting->network, "hidden", &c->units, (double)NAN,
                                              setting->dropout, &layer));
  TUTTI_TRY(context, tutti_network_add_head(context, setting->network, layer, task));
  TUTTI_TRY(context,
            tutti_backend_configure(context, tutti_members_trainer(self->members), NULL, NULL, &setting->trainer));
  return scale_l2_hyper_deep_ensemble(context, setting, self->trained_on);
}

/* --- life --------------------------------------------------------------------------------------------------------- */

static void surrogate_destroy_hyper_deep_ensemble(void *instance) {
  struct hyper_deep_ensemble *self = instance;
  tutti_members_destroy(self->members);
  forget_settings_hyper_deep_ensemble(self);
  tutti_free(self->settings);
  tutti_free(self->rows);
  tutti_free(self);
}

static enum tutti_status surrogate_create_hyper_deep_ensemble(tutti_context *context, const void *config_,
                                                              const void *setup_, void **instance) {
  const struct hde_config *config = config_;
  const struct tutti_surrogate_setup *setup = setup_;
  struct tutti_members_setup members = {.size = sizeof members,
                                        .surrogate = setup,
                                        .name = "hyper-deep-ensemble",
                                        .head = TUTTI_OP_HEAD_LINEAR,
                                        .values = (enum tutti_member_values)config->values,
                                        .retries = (size_t)config->retries};
  struct hyper_deep_ensemble *self;
  enum tutti_status status;
  if (config->dropout_least > config->dropout_most || config->l2_least > config->l2_most)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "surrogate hyper-deep-ensemble: dropout_least and l2_least must not be above dropout_most and "
                      "l2_most; dropout goes from %g to %g, l2 from %g to %g",
                      config->dropout_least, config->dropout_most, config->l2_least, config->l2_most);
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *self, &self));
  self->config = config;
  self->seed = setup->seed;
  TUTTI_TRY_OUT(context, tutti_alloc(context, (size_t)config->draws, sizeof *self->settings, &self->settings));
  TUTTI_TRY_OUT(context, tutti_members_create(context, &members, &self->members));
  *instance = self;
  return TUTTI_OK;
out:
  surrogate_destroy_hyper_deep_ensemble(self);
  return status;
}

/* --- pools -------------------------------------------------------------------------------------------------------- */

static void end_pool_hyper_deep_ensemble(struct hde_pool *pool) {
  for (size_t i = 0; pool->weights && i < pool->count; i++)
    tutti_tensors_destroy(pool->weights[i]);
  tutti_free(pool->specs);
  tutti_free(pool->weights);
  tutti_free(pool->predictions);
  tutti_free(pool->picks);
  tutti_free(pool->times);
  *pool = (struct hde_pool){0};
}

static enum tutti_status begin_pool_hyper_deep_ensemble(const struct hyper_deep_ensemble *self, tutti_context *context,
                                                        size_t count, struct hde_pool *pool) {
  size_t observed = tutti_members_observed(self->members);
  pool->count = count;
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof *pool->specs, &pool->specs));
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof(tutti_tensors *), &pool->weights));
  TUTTI_TRY(context, tutti_alloc(context, count, observed * sizeof *pool->predictions, &pool->predictions));
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof *pool->picks, &pool->picks));
  return tutti_alloc(context, count, sizeof *pool->times, &pool->times);
}

static struct tutti_member spec_hyper_deep_ensemble(const struct hyper_deep_ensemble *self,
                                                    const struct hde_setting *setting, uint64_t number) {
  struct tutti_random random;
  tutti_random_init(&random, self->seed, "hyper-deep-ensemble seeds", number);
  return (struct tutti_member){.size = sizeof(struct tutti_member),
                               .network = setting->network,
                               .config = setting->trainer,
                               .seed = tutti_random_u64(&random),
                               .rows = self->trained_on,
                               .indices = self->rows};
}

static enum tutti_status train_pool_hyper_deep_ensemble(struct hyper_deep_ensemble *self, tutti_context *context,
                                                        struct hde_pool *pool) {
  size_t observed = tutti_members_observed(self->members);
  TUTTI_TRY(context, tutti_members_train(context, self->members, pool->count, pool->specs, pool->weights));
  for (size_t i = 0; i < pool->count; i++)
    TUTTI_TRY(context, tutti_members_fitted(context, self->members, &pool->specs[i], pool->weights[i],
                                            pool->predictions + i * observed));
  return TUTTI_OK;
}

/* The score of what is chosen and one more: the mean negative log-likelihood of the observations held out, less a
   constant. */
static double score_hyper_deep_ensemble(const struct hyper_deep_ensemble *self, const struct hde_pool *pool,
                                        size_t more) {
  size_t observed = tutti_members_observed(self->members);
  size_t first = self->trained_on < observed ? self->trained_on : 0;
  const float *targets = tutti_members_targets(self->members);
  double total = 0, floor = self->config->floor;
  for (size_t r = first; r < observed; r++) {
    uint32_t row = self->rows[r];
    double count = 1, mean = pool->predictions[more * observed + row], scatter = 0;
    for (size_t i = 0; i < pool->count; i++)
      for (size_t k = 0; k < pool->times[i]; k++) {
        double value = pool->predictions[i * observed + row], from = value - mean;
        mean += from / ++count;
        scatter += from * (value - mean);
      }
    double variance = scatter / count + floor * floor, error = (double)targets[row] - mean;
    total += 0.5 * (log(variance) + error * error / variance);
  }
  return total / (double)(observed - first);
}

/* Choose with replacement, always the one that lowers the score most, until none does or there are enough different
   ones. Where weights between those of whole numbers are best, the score would fall for ever, by ever less. */
enum { TIMES_A_MEMBER = 10 };
static void choose_hyper_deep_ensemble(const struct hyper_deep_ensemble *self, struct hde_pool *pool) {
  double score = INFINITY;
  size_t members = (size_t)self->config->members, most = TIMES_A_MEMBER * members;
  for (size_t times = 0; times < most && pool->picked < members; times++) {
    size_t best = pool->count;
    for (size_t i = 0; i < pool->count; i++) {
      double with = score_hyper_deep_ensemble(self, pool, i);
      if (with < score) {
        score = with;
        best = i;
      }
    }
    if (best == pool->count)
      return;
    if (pool->times[best]++ == 0)
      pool->picks[pool->picked++] = best;
  }
}

/* --- fit ---------------------------------------------------------------------------------------------------------- */

/* Choose the observations to train on. */
static enum tutti_status divide_hyper_deep_ensemble(struct hyper_deep_ensemble *self, tutti_context *context) {
  struct tutti_random random;
  size_t count = tutti_members_observed(self->members);
  tutti_free(self->rows);
  self->rows = NULL;
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof *self->rows, &self->rows));
  for (size_t i = 0; i < count; i++)
    self->rows[i] = (uint32_t)i;
  tutti_random_init(&random, self->seed, "hyper-deep-ensemble rows", count);
  tutti_random_shuffle(&random, count, self->rows);
  self->trained_on = count < 3 ? count : (size_t)floor((1 - self->config->held_out) * (double)count);
  if (self->trained_on == 0)
    self->trained_on = 1;
  return TUTTI_OK;
}

/* Everything that was chosen becomes a member, as often as it was chosen. */
static enum tutti_status take_hyper_deep_ensemble(struct hyper_deep_ensemble *self, tutti_context *context,
                                                  const struct hde_pool *pool) {
  struct tutti_member *specs = NULL;
  tutti_tensors **weights = NULL;
  enum tutti_status status;
  size_t total = 0, at = 0;
  for (size_t i = 0; i < pool->count; i++)
    total += pool->times[i];
  TUTTI_TRY_OUT(context, tutti_alloc(context, total, sizeof *specs, &specs));
  TUTTI_TRY_OUT(context, tutti_alloc(context, total, sizeof(tutti_tensors *), &weights));
  for (size_t i = 0; i < pool->count; i++)
    for (size_t k = 0; k < pool->times[i]; k++, at++) {
      specs[at] = pool->specs[i];
      TUTTI_TRY_OUT(context, tutti_tensors_copy(context, pool->weights[i], &weights[at]));
    }
  TUTTI_TRY_OUT(context, tutti_members_take(context, self->members, total, specs, weights));
out:
  for (size_t i = 0; weights && i < total; i++)
    tutti_tensors_destroy(weights[i]);
  tutti_free(weights);
  tutti_free(specs);
  return status;
}

/* Train the chosen again, on all observations. */
static enum tutti_status retrain_hyper_deep_ensemble(struct hyper_deep_ensemble *self, tutti_context *context,
                                                     struct hde_pool *pool) {
  for (size_t i = 0; i < (size_t)self->config->draws; i++)
    TUTTI_TRY(context,
              scale_l2_hyper_deep_ensemble(context, &self->settings[i], tutti_members_observed(self->members)));
  for (size_t i = 0; i < pool->picked; i++) {
    struct tutti_member spec = pool->specs[pool->picks[i]];
    tutti_tensors *weights;
    spec.rows = 0;
    spec.initial = pool->weights[pool->picks[i]];
    TUTTI_TRY(context, tutti_members_train(context, self->members, 1, &spec, &weights));
    tutti_tensors_destroy(pool->weights[pool->picks[i]]);
    pool->weights[pool->picks[i]] = weights;
  }
  return TUTTI_OK;
}

/* Random search, the choice, the chosen settings from several seeds, the choice among them. */
static enum tutti_status build_hyper_deep_ensemble(struct hyper_deep_ensemble *self, tutti_context *context) {
  struct hde_pool searched = {0}, stratified = {0};
  struct tutti_random random;
  enum tutti_status status;
  size_t draws = (size_t)self->config->draws, seeds = (size_t)self->config->members;
  TUTTI_TRY_OUT(context, divide_hyper_deep_ensemble(self, context));
  tutti_random_init(&random, self->seed, "hyper-deep-ensemble search", tutti_members_observed(self->members));
  forget_settings_hyper_deep_ensemble(self);
  TUTTI_TRY_OUT(context, begin_pool_hyper_deep_ensemble(self, context, draws, &searched));
  for (size_t i = 0; i < draws; i++) {
    TUTTI_TRY_OUT(context, draw_setting_hyper_deep_ensemble(self, context, &random, &self->settings[i]));
    searched.specs[i] = spec_hyper_deep_ensemble(self, &self->settings[i], 0);
  }
  TUTTI_TRY_OUT(context, train_pool_hyper_deep_ensemble(self, context, &searched));
  choose_hyper_deep_ensemble(self, &searched);
  TUTTI_TRY_OUT(context, begin_pool_hyper_deep_ensemble(self, context, searched.picked * seeds, &stratified));
  for (size_t i = 0; i < stratified.count; i++)
    stratified.specs[i] = spec_hyper_deep_ensemble(self, &self->settings[searched.picks[i / seeds]], 1 + i % seeds);
  TUTTI_TRY_OUT(context, train_pool_hyper_deep_ensemble(self, context, &stratified));
  choose_hyper_deep_ensemble(self, &stratified);
  if (self->config->retrain)
    TUTTI_TRY_OUT(context, retrain_hyper_deep_ensemble(self, context, &stratified));
  TUTTI_TRY_OUT(context, take_hyper_deep_ensemble(self, context, &stratified));
out:
  end_pool_hyper_deep_ensemble(&searched);
  end_pool_hyper_deep_ensemble(&stratified);
  return status;
}

static enum tutti_status surrogate_fit_hyper_deep_ensemble(void *instance, tutti_context *context,
                                                           const struct tutti_points *points, const double *values,
                                                           const double *noise) {
  struct hyper_deep_ensemble *self = instance;
  (void)noise;
  self->trained = false;
  return tutti_members_observe(context, self->members, points, values);
}

/* Train if there are observations that the networks have not seen. */
static enum tutti_status settle_hyper_deep_ensemble(struct hyper_deep_ensemble *self, tutti_context *context) {
  if (self->trained)
    return TUTTI_OK;
  if (tutti_members_observed(self->members) == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN,
                      "surrogate hyper-deep-ensemble: fit was expected before a prediction");
  TUTTI_TRY(context, build_hyper_deep_ensemble(self, context));
  self->trained = true;
  return TUTTI_OK;
}

static enum tutti_status surrogate_predict_hyper_deep_ensemble(void *instance, tutti_context *context,
                                                               const struct tutti_points *points, double *mean,
                                                               double *deviation) {
  struct hyper_deep_ensemble *self = instance;
  TUTTI_TRY(context, settle_hyper_deep_ensemble(self, context));
  return tutti_members_predict(context, self->members, points, TUTTI_MEMBER_BETWEEN, 0, 0, mean, deviation);
}

static bool surrogate_has_gradient_hyper_deep_ensemble(void *instance) {
  return tutti_members_has_gradient(((const struct hyper_deep_ensemble *)instance)->members);
}

static enum tutti_status surrogate_gradient_hyper_deep_ensemble(void *instance, tutti_context *context,
                                                                const double *vector, double *mean, double *deviation,
                                                                double *mean_gradient, double *deviation_gradient) {
  struct hyper_deep_ensemble *self = instance;
  TUTTI_TRY(context, settle_hyper_deep_ensemble(self, context));
  return tutti_members_gradient(context, self->members, vector, TUTTI_MEMBER_BETWEEN, 0, 0, mean, deviation,
                                mean_gradient, deviation_gradient);
}

/* --- the plugin --------------------------------------------------------------------------------------------------- */

static const struct tutti_surrogate_ops hde_ops = {
    .size = sizeof(struct tutti_surrogate_ops),
    .needs = TUTTI_NEEDS_VECTORS,
    .fit = surrogate_fit_hyper_deep_ensemble,
    .predict = surrogate_predict_hyper_deep_ensemble,
    .gradient = surrogate_gradient_hyper_deep_ensemble,
    .has_gradient = surrogate_has_gradient_hyper_deep_ensemble,
};

static const struct tutti_descriptor hde_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SURROGATE, "hyper-deep-ensemble"),
    .version = "1.0",
    .summary = "Networks of several seeds and settings, chosen greedily; their scatter is the deviation",
    .source = "Wenzel, Snoek, Tran, Jenatton, Hyperparameter ensembles for robustness and uncertainty quantification, "
              "NeurIPS 2020; Heiss et al., NOMU, ICML 2022, Appendices B.1.4 and B.2.2",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(hde_params, struct hde_config),
    .create = surrogate_create_hyper_deep_ensemble,
    .destroy = surrogate_destroy_hyper_deep_ensemble,
    .ops = &hde_ops,
};

TUTTI_PLUGIN(hde_descriptor)
