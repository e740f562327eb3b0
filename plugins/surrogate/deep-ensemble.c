/* deep-ensemble.c - networks that differ in their seed alone; mean and standard deviation are those of their
   predictions (Lakshminarayanan, Pritzel, Blundell, "Simple and scalable predictive uncertainty estimation using deep
   ensembles", NeurIPS 2017), in the form for values without noise that Heiss et al., ICML 2022, Appendix B.2.2,
   compare NOMU with: one output, squared error, an L2 weight that falls with the observations, no adversarial
   training. The defaults are theirs. Predictions are a function of the observations alone: each fit trains from
   scratch (`start`), when the first prediction asks for it. */
#include <tutti/kit.h>

struct de_config {
  const char *trainer;
  int values, start;
  struct tutti_integers units;
  double l2;
  int64_t members, retries;
};

static const struct tutti_param de_params[] = {
    TUTTI_SUBPLUGIN(struct de_config, trainer, "cpu", TUTTI_KIND_BACKEND, "Trains the networks.",
                    .with = "epochs = 1024; batch_size = 0; optimiser = adam; learning_rate = 0.001; l2_biases = yes; "
                            "initialiser = uniform; initialiser_range = 0.05"),
    TUTTI_INTEGER(struct de_config, members, "5", 1, 10000, "Networks of the ensemble."),
    TUTTI_INTEGERS(struct de_config, units, "256 1024 512", 1, 65536, "Hidden layers of each."),
    TUTTI_REAL(struct de_config, l2, "1e-8", 0, TUTTI_NO_LIMIT,
               "Divided by the number of observations, the L2 weight of the networks."),
    TUTTI_MEMBERS_PARAMS(struct de_config),
    TUTTI_MEMBERS_START_PARAM(struct de_config),
};

struct deep_ensemble {
  const struct de_config *config;
  uint64_t seed;
  tutti_members *members;
  tutti_network *network;
  tutti_config *trainer;      /* with the L2 weight of the last fit */
  struct tutti_member *specs; /* [members] */
  tutti_tensors **weights;    /* [members] */
  bool trained;
};

static enum tutti_status make_network_deep_ensemble(tutti_context *context, struct deep_ensemble *self) {
  const struct tutti_task *task = tutti_members_task(self->members);
  uint32_t layer = 0;
  TUTTI_TRY(context, tutti_network_create(context, task->input, &self->network));
  TUTTI_TRY(context,
            tutti_members_add_hidden(context, self->network, "hidden", &self->config->units, (double)NAN, 0, &layer));
  TUTTI_TRY(context, tutti_network_add_head(context, self->network, layer, task));
  return tutti_network_check(context, self->network);
}

static void surrogate_destroy_deep_ensemble(void *instance) {
  struct deep_ensemble *self = instance;
  tutti_members_destroy(self->members);
  tutti_network_destroy(self->network);
  tutti_config_destroy(self->trainer);
  tutti_free(self->specs);
  tutti_free(self->weights);
  tutti_free(self);
}

static enum tutti_status surrogate_create_deep_ensemble(tutti_context *context, const void *config_, const void *setup_,
                                                        void **instance) {
  const struct de_config *config = config_;
  const struct tutti_surrogate_setup *setup = setup_;
  struct tutti_members_setup members = {.size = sizeof members,
                                        .surrogate = setup,
                                        .name = "deep-ensemble",
                                        .head = TUTTI_OP_HEAD_LINEAR,
                                        .values = (enum tutti_member_values)config->values,
                                        .retries = (size_t)config->retries,
                                        .start = (enum tutti_member_start)config->start};
  struct deep_ensemble *self;
  enum tutti_status status;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *self, &self));
  self->config = config;
  self->seed = setup->seed;
  TUTTI_TRY_OUT(context, tutti_alloc(context, (size_t)config->members, sizeof *self->specs, &self->specs));
  TUTTI_TRY_OUT(context, tutti_alloc(context, (size_t)config->members, sizeof(tutti_tensors *), &self->weights));
  TUTTI_TRY_OUT(context, tutti_members_create(context, &members, &self->members));
  TUTTI_TRY_OUT(context,
                tutti_backend_configure(context, tutti_members_trainer(self->members), NULL, NULL, &self->trainer));
  TUTTI_TRY_OUT(context, make_network_deep_ensemble(context, self));
  *instance = self;
  return TUTTI_OK;
out:
  surrogate_destroy_deep_ensemble(self);
  return status;
}

static enum tutti_status surrogate_fit_deep_ensemble(void *instance, tutti_context *context,
                                                     const struct tutti_points *points, const double *values,
                                                     const double *noise) {
  struct deep_ensemble *self = instance;
  (void)noise;
  self->trained = false;
  return tutti_members_observe(context, self->members, points, values);
}

/* Train on the observations that there are. */
static enum tutti_status train_deep_ensemble(void *instance, tutti_context *context) {
  struct deep_ensemble *self = instance;
  struct tutti_random random;
  size_t count = tutti_members_observed(self->members), members = (size_t)self->config->members;
  TUTTI_TRY(context, tutti_config_set_number(context, self->trainer, "l2", self->config->l2 / (double)count));
  tutti_random_init(&random, self->seed, "surrogate deep-ensemble", count);
  for (size_t i = 0; i < members; i++)
    self->specs[i] = (struct tutti_member){.size = sizeof self->specs[i],
                                           .network = self->network,
                                           .config = self->trainer,
                                           .seed = tutti_random_u64(&random),
                                           .initial = tutti_members_last(self->members, i)};
  TUTTI_TRY(context, tutti_members_train(context, self->members, members, self->specs, self->weights));
  return tutti_members_take(context, self->members, members, self->specs, self->weights);
}

/* Train if there are observations that the networks have not seen. */
static enum tutti_status settle_deep_ensemble(struct deep_ensemble *self, tutti_context *context) {
  if (self->trained)
    return TUTTI_OK;
  if (tutti_members_observed(self->members) == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN, "surrogate deep-ensemble: fit was expected before a prediction");
  TUTTI_TRY(context, tutti_members_settle(context, self->members, train_deep_ensemble, self));
  self->trained = true;
  return TUTTI_OK;
}

static enum tutti_status surrogate_predict_deep_ensemble(void *instance, tutti_context *context,
                                                         const struct tutti_points *points, double *mean,
                                                         double *deviation) {
  struct deep_ensemble *self = instance;
  TUTTI_TRY(context, settle_deep_ensemble(self, context));
  return tutti_members_predict(context, self->members, points, TUTTI_MEMBER_BETWEEN, 0, 0, mean, deviation);
}

static bool surrogate_has_gradient_deep_ensemble(void *instance) {
  return tutti_members_has_gradient(((const struct deep_ensemble *)instance)->members);
}

static enum tutti_status surrogate_gradient_deep_ensemble(void *instance, tutti_context *context, const double *vector,
                                                          double *mean, double *deviation, double *mean_gradient,
                                                          double *deviation_gradient) {
  struct deep_ensemble *self = instance;
  TUTTI_TRY(context, settle_deep_ensemble(self, context));
  return tutti_members_gradient(context, self->members, vector, TUTTI_MEMBER_BETWEEN, 0, 0, mean, deviation,
                                mean_gradient, deviation_gradient);
}

static const struct tutti_surrogate_ops de_ops = {
    .size = sizeof(struct tutti_surrogate_ops),
    .needs = TUTTI_NEEDS_VECTORS,
    .fit = surrogate_fit_deep_ensemble,
    .predict = surrogate_predict_deep_ensemble,
    .gradient = surrogate_gradient_deep_ensemble,
    .has_gradient = surrogate_has_gradient_deep_ensemble,
};

static const struct tutti_descriptor de_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SURROGATE, "deep-ensemble"),
    .version = "1.0",
    .summary = "Networks from several seeds; their scatter is the deviation",
    .source = "Lakshminarayanan, Pritzel, Blundell, Simple and scalable predictive uncertainty estimation using deep "
              "ensembles, NeurIPS 2017; Heiss et al., NOMU, ICML 2022, Appendix B.2.2",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(de_params, struct de_config),
    .create = surrogate_create_deep_ensemble,
    .destroy = surrogate_destroy_deep_ensemble,
    .ops = &de_ops,
};

TUTTI_PLUGIN(de_descriptor)
