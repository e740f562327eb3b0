/* mc-dropout.c - one network, trained with dropout and asked with dropout: each draw of a mask is one function, and
   mean and standard deviation are those over the draws (Gal, Ghahramani, "Dropout as a Bayesian approximation:
   Representing model uncertainty in deep learning", ICML 2016). The defaults are those of Heiss et al., ICML 2022,
   Appendices B.2.2 and B.3.1, which compare NOMU with it: squared error, an L2 weight that falls with the observations,
   ten draws. Predictions are a function of the observations alone: each fit trains from scratch, when the first
   prediction asks for it, and the masks of the draws stay the same. */
#include <tutti/kit.h>

struct mc_config {
  const char *trainer;
  int values, start;
  struct tutti_integers units;
  double rate, l2;
  int64_t draws, retries;
};

static const struct tutti_param mc_params[] = {
    TUTTI_SUBPLUGIN(struct mc_config, trainer, "cpu", TUTTI_KIND_BACKEND, "Trains the network.",
                    .with = "epochs = 1024; batch_size = 0; optimiser = adam; learning_rate = 0.001; l2_biases = yes; "
                            "initialiser = uniform; initialiser_range = 0.05"),
    TUTTI_INTEGERS(struct mc_config, units, "1024 2048 1024", 1, 65536, "Hidden layers."),
    TUTTI_REAL(struct mc_config, rate, "0.2", 0, 1, "Share of the units of each hidden layer that a mask drops.",
               .min_open = true, .max_open = true),
    TUTTI_INTEGER(struct mc_config, draws, "10", 1, 100000, "Masks that each prediction averages over."),
    TUTTI_REAL(struct mc_config, l2, "1e-8", 0, TUTTI_NO_LIMIT,
               "Times 1 - rate and divided by the number of observations, the L2 weight of the network."),
    TUTTI_MEMBERS_PARAMS(struct mc_config),
    TUTTI_MEMBERS_START_PARAM(struct mc_config),
};

struct mc_dropout {
  const struct mc_config *config;
  uint64_t seed;
  tutti_members *members;
  tutti_network *network;
  tutti_config *trainer; /* with the L2 weight of the last fit */
  bool trained;
};

static enum tutti_status make_network_mc_dropout(tutti_context *context, struct mc_dropout *self) {
  const struct tutti_task *task = tutti_members_task(self->members);
  uint32_t layer = 0;
  TUTTI_TRY(context, tutti_network_create(context, task->input, &self->network));
  TUTTI_TRY(context, tutti_members_add_hidden(context, self->network, "hidden", &self->config->units, (double)NAN,
                                              self->config->rate, &layer));
  TUTTI_TRY(context, tutti_network_add_head(context, self->network, layer, task));
  return tutti_network_check(context, self->network);
}

static void surrogate_destroy_mc_dropout(void *instance) {
  struct mc_dropout *self = instance;
  tutti_members_destroy(self->members);
  tutti_network_destroy(self->network);
  tutti_config_destroy(self->trainer);
  tutti_free(self);
}

static enum tutti_status surrogate_create_mc_dropout(tutti_context *context, const void *config_, const void *setup_,
                                                     void **instance) {
  const struct mc_config *config = config_;
  const struct tutti_surrogate_setup *setup = setup_;
  struct tutti_members_setup members = {.size = sizeof members,
                                        .surrogate = setup,
                                        .name = "mc-dropout",
                                        .head = TUTTI_OP_HEAD_LINEAR,
                                        .predictor = true,
                                        .values = (enum tutti_member_values)config->values,
                                        .retries = (size_t)config->retries,
                                        .start = (enum tutti_member_start)config->start};
  struct mc_dropout *self;
  enum tutti_status status;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *self, &self));
  self->config = config;
  self->seed = setup->seed;
  TUTTI_TRY_OUT(context, tutti_members_create(context, &members, &self->members));
  TUTTI_TRY_OUT(context,
                tutti_backend_configure(context, tutti_members_trainer(self->members), NULL, NULL, &self->trainer));
  TUTTI_TRY_OUT(context, make_network_mc_dropout(context, self));
  *instance = self;
  return TUTTI_OK;
out:
  surrogate_destroy_mc_dropout(self);
  return status;
}

static enum tutti_status surrogate_fit_mc_dropout(void *instance, tutti_context *context,
                                                  const struct tutti_points *points, const double *values,
                                                  const double *noise) {
  struct mc_dropout *self = instance;
  (void)noise;
  self->trained = false;
  return tutti_members_observe(context, self->members, points, values);
}

/* Train on the observations that there are. */
static enum tutti_status train_mc_dropout(void *instance, tutti_context *context) {
  struct mc_dropout *self = instance;
  struct tutti_random random;
  tutti_tensors *weights;
  size_t count = tutti_members_observed(self->members);
  double l2 = (1 - self->config->rate) * self->config->l2 / (double)count;
  TUTTI_TRY(context, tutti_config_set_number(context, self->trainer, "l2", l2));
  tutti_random_init(&random, self->seed, "surrogate mc-dropout", count);
  struct tutti_member spec = {.size = sizeof spec,
                              .network = self->network,
                              .config = self->trainer,
                              .seed = tutti_random_u64(&random),
                              .initial = tutti_members_last(self->members, 0)};
  TUTTI_TRY(context, tutti_members_train(context, self->members, 1, &spec, &weights));
  return tutti_members_take(context, self->members, 1, &spec, &weights);
}

/* Train if there are observations that the network has not seen. */
static enum tutti_status settle_mc_dropout(struct mc_dropout *self, tutti_context *context) {
  if (self->trained)
    return TUTTI_OK;
  if (tutti_members_observed(self->members) == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN, "surrogate mc-dropout: fit was expected before a prediction");
  TUTTI_TRY(context, tutti_members_settle(context, self->members, train_mc_dropout, self));
  self->trained = true;
  return TUTTI_OK;
}

static enum tutti_status surrogate_predict_mc_dropout(void *instance, tutti_context *context,
                                                      const struct tutti_points *points, double *mean,
                                                      double *deviation) {
  struct mc_dropout *self = instance;
  TUTTI_TRY(context, settle_mc_dropout(self, context));
  return tutti_members_predict(context, self->members, points, TUTTI_MEMBER_DRAWS, (size_t)self->config->draws,
                               self->seed, mean, deviation);
}

static bool surrogate_has_gradient_mc_dropout(void *instance) {
  return tutti_members_has_gradient(((const struct mc_dropout *)instance)->members);
}

static enum tutti_status surrogate_gradient_mc_dropout(void *instance, tutti_context *context, const double *vector,
                                                       double *mean, double *deviation, double *mean_gradient,
                                                       double *deviation_gradient) {
  struct mc_dropout *self = instance;
  TUTTI_TRY(context, settle_mc_dropout(self, context));
  return tutti_members_gradient(context, self->members, vector, TUTTI_MEMBER_DRAWS, (size_t)self->config->draws,
                                self->seed, mean, deviation, mean_gradient, deviation_gradient);
}

static const struct tutti_surrogate_ops mc_ops = {
    .size = sizeof(struct tutti_surrogate_ops),
    .needs = TUTTI_NEEDS_VECTORS,
    .fit = surrogate_fit_mc_dropout,
    .predict = surrogate_predict_mc_dropout,
    .gradient = surrogate_gradient_mc_dropout,
    .has_gradient = surrogate_has_gradient_mc_dropout,
};

static const struct tutti_descriptor mc_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SURROGATE, "mc-dropout"),
    .version = "1.0",
    .summary = "A network with dropout; the scatter of its draws is the deviation",
    .source = "Gal, Ghahramani, Dropout as a Bayesian approximation, ICML 2016; Heiss et al., NOMU, ICML 2022, "
              "Appendices B.2.2 and B.3.1",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(mc_params, struct mc_config),
    .create = surrogate_create_mc_dropout,
    .destroy = surrogate_destroy_mc_dropout,
    .ops = &mc_ops,
};

TUTTI_PLUGIN(mc_descriptor)
