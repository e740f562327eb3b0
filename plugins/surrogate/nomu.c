/* nomu.c - NOMU: one network for the mean f and one for its raw uncertainty r, which reads the last hidden layer of the
   first, trained together by a loss that pulls r to 0 at the observations and up at artificial points (Heiss,
   Weissteiner, Wutte, Seuken, Teichmann, "NOMU: Neural Optimization-based Model Uncertainty", ICML 2022). The
   uncertainty is l_max (1 - exp(-(max(r, 0) + l_min) / l_max)).

   The defaults are those of its Bayesian optimisation (Appendix B.3.1). Values are scaled by the range observed unless
   `values` says otherwise, because the paper's functions have the range [-1, 1], which a search does not know.
   Predictions are a function of the observations alone: each fit trains from scratch (`start`), when the first
   prediction asks for it. */
#include <tutti/kit.h>

static const char *const nomu_noises[] = {"none", "learnt", "known", NULL};
static const char *const nomu_bounds[] = {"symmetric", "lower", "upper", "both", NULL};
static const char *const nomu_readouts[] = {"exponential", "linear", NULL};
static const char *const nomu_points[] = {"random", "grid", NULL};
enum { STOP_CONNECTION, STOP_NONE, STOP_F_FIRST };
static const char *const nomu_stops[] = {
    [STOP_CONNECTION] = "connection", [STOP_NONE] = "none", [STOP_F_FIRST] = "f-first", NULL};

struct nomu_config {
  const char *trainer;
  int stop_gradient, values, start;
  struct tutti_integers units, uncertainty_units;
  double pi_sqr, pi_exp, c_exp, l_min, l_max, margin, l2, uncertainty_l2, known_noise, noise_floor;
  bool stable;
  int noise, bounds, readout, points;
  int64_t artificial, retries;
};

static const struct tutti_param nomu_params[] = {
    TUTTI_SUBPLUGIN(struct nomu_config, trainer, "cpu", TUTTI_KIND_BACKEND, "Trains the networks.",
                    .with = "epochs = 1024; batch_size = 0; optimiser = adam; learning_rate = 0.001; l2_biases = yes; "
                            "keep = best; initialiser = uniform; initialiser_range = 0.05"),
    TUTTI_CHOICE(struct nomu_config, stop_gradient, "connection", nomu_stops,
                 "Whether training the uncertainty changes the mean: connection lets no gradient through from one "
                 "network to the other; none lets it through; f-first trains the mean, freezes it, then trains the "
                 "uncertainty."),
    TUTTI_INTEGERS(struct nomu_config, units, "1024 1024 1024", 1, 65536, "Hidden layers of the mean's network."),
    TUTTI_INTEGERS(struct nomu_config, uncertainty_units, "1024 1024 1024", 1, 65536,
                   "Hidden layers of the uncertainty's network."),
    TUTTI_REAL(struct nomu_config, pi_sqr, "1", 0, TUTTI_NO_LIMIT,
               "Weight of the squared uncertainty at observations; more narrows it there.", .min_open = true),
    TUTTI_REAL(struct nomu_config, pi_exp, "0.01", 0, TUTTI_NO_LIMIT,
               "Weight of the push upward at artificial points; more widens the uncertainty.", .min_open = true),
    TUTTI_REAL(struct nomu_config, c_exp, "30", 0, TUTTI_NO_LIMIT,
               "Exponent of that push; more narrows large uncertainties and widens small ones.", .min_open = true),
    TUTTI_INTEGER(struct nomu_config, artificial, "500", 1, 1000000, "Artificial points of a step.", .unit = "points"),
    TUTTI_CHOICE(
        struct nomu_config, points, "random", nomu_points,
        "Artificial points are drawn at random, anew at each step; or, with one variable, lie on a grid from one "
        "end of their box to the other."),
    TUTTI_REAL(struct nomu_config, margin, "0", 0, 100,
               "By this share of its width the box of the artificial points is wider than what is searched, on each "
               "side."),
    TUTTI_REAL(struct nomu_config, l_min, "1e-6", 0, TUTTI_NO_LIMIT,
               "Least uncertainty, nearly, in units of the scaled values."),
    TUTTI_REAL(struct nomu_config, l_max, "2", 0, TUTTI_NO_LIMIT, "Greatest uncertainty, in the same units.",
               .min_open = true),
    TUTTI_BOOL(struct nomu_config, stable, "no",
               "Huber's loss and a straight line where the uncertainty's terms grow fast."),
    TUTTI_REAL(struct nomu_config, l2, "1e-8", 0, TUTTI_NO_LIMIT,
               "L2 weight of the mean's network: l2 times the sum of squares is added to the loss, a sum."),
    TUTTI_REAL(struct nomu_config, uncertainty_l2, "1e-8", 0, TUTTI_NO_LIMIT,
               "L2 weight of the uncertainty's network."),
    TUTTI_CHOICE(struct nomu_config, readout, "exponential", nomu_readouts,
                 "How the uncertainty goes from l_min to l_max: smoothly (Eq. 2), or linear (Remark 3.2), for searches "
                 "in discrete spaces."),
    TUTTI_CHOICE(
        struct nomu_config, noise, "none", nomu_noises,
        "Noise in the observations: none; learnt, a third output that is trained by likelihood (Eq. 57), for "
        "which pi_exp and the L2 weights need to be larger; or known. Predictions are of the function, without "
        "it."),
    TUTTI_REAL(struct nomu_config, known_noise, "0.01", 0, TUTTI_NO_LIMIT,
               "Standard deviation of known noise, in units of the scaled values.", .min_open = true),
    TUTTI_REAL(struct nomu_config, noise_floor, "0.001", 0, TUTTI_NO_LIMIT,
               "Least standard deviation of learnt noise, in the same units."),
    TUTTI_CHOICE(
        struct nomu_config, bounds, "symmetric", nomu_bounds,
        "What is learnt beside the mean: one uncertainty both ways; or, for hypotheses of which any two have one "
        "below (above) both, a lower bound, an upper one, or both, each by a network of its own (Definition "
        "C.1). The deviation is then the distance of the bound, or half of that between two."),
    TUTTI_MEMBERS_PARAMS(struct nomu_config),
    TUTTI_MEMBERS_START_PARAM(struct nomu_config),
};

struct nomu {
  const struct nomu_config *config;
  uint64_t seed;
  tutti_members *members;
  tutti_network *alone, *whole; /* alone: the same network, of which only f is trained; NULL unless f-first */
  tutti_config *trainer;
  const char **of_f, **of_r; /* labels of the layers, for freezing */
  float *box;
  bool trained;
};

/* --- the networks ------------------------------------------------------------------------------------------------- */

static enum tutti_status add_output_nomu(tutti_context *context, tutti_network *network, const char *label, double l2,
                                         uint32_t *layer) {
  return tutti_network_add(context, network, TUTTI_OP_DENSE, label, 1, layer,
                           TUTTI_ATTRIBUTES({"units", 1}, {"l2", l2}), layer);
}

static enum tutti_status add_head_nomu(tutti_context *context, tutti_network *network, const struct nomu_config *c,
                                       bool alone, size_t count, const uint32_t *outputs) {
  return tutti_network_add(
      context, network, TUTTI_OP_HEAD_NOMU, NULL, count, outputs,
      TUTTI_ATTRIBUTES({"pi_sqr", alone ? 0 : c->pi_sqr}, {"pi_exp", alone ? 0 : c->pi_exp}, {"c_exp", c->c_exp},
                       {"artificial", alone ? 0 : (double)c->artificial}, {"stable", c->stable}, {"l_min", c->l_min},
                       {"l_max", c->l_max}, {"noise", c->noise}, {"floor", c->noise_floor},
                       {"known_noise", c->known_noise}, {"through_noise", c->stop_gradient == STOP_NONE},
                       {"bounds", c->bounds}, {"readout", c->readout}, {"points", c->points}),
      NULL);
}

/* r1, r2, ..., r, the last of which also reads f's last hidden layer. */
static enum tutti_status add_uncertainty_nomu(tutti_context *context, tutti_network *network,
                                              const struct nomu_config *c, uint32_t f, uint32_t *output) {
  uint32_t last[2] = {f, 0};
  TUTTI_TRY(context,
            tutti_members_add_hidden(context, network, "r", &c->uncertainty_units, c->uncertainty_l2, 0, &last[1]));
  if (c->stop_gradient == STOP_CONNECTION)
    TUTTI_TRY(context, tutti_network_add(context, network, TUTTI_OP_DETACH, NULL, 1, &f, NULL, &last[0]));
  TUTTI_TRY(context, tutti_network_add(context, network, TUTTI_OP_CONCAT, NULL, 2, last, NULL, output));
  return add_output_nomu(context, network, "r", c->uncertainty_l2, output);
}

/* A bound is a network of its own, without the connection (Figure 17). */
static enum tutti_status add_bound_nomu(tutti_context *context, tutti_network *network, const struct nomu_config *c,
                                        const char *label, uint32_t *output) {
  *output = 0;
  TUTTI_TRY(context,
            tutti_members_add_hidden(context, network, label, &c->uncertainty_units, c->uncertainty_l2, 0, output));
  return add_output_nomu(context, network, label, c->uncertainty_l2, output);
}

/* f1, f2, ..., f, then what says how uncertain it is; `alone`: the terms of that do not count. */
static enum tutti_status make_network_nomu(tutti_context *context, const struct nomu *self, bool alone,
                                           tutti_network **network) {
  const struct nomu_config *c = self->config;
  uint32_t f = 0, outputs[4];
  size_t count = 1;
  TUTTI_TRY(context, tutti_network_create(context, tutti_members_task(self->members)->input, network));
  TUTTI_TRY(context, tutti_members_add_hidden(context, *network, "f", &c->units, c->l2, 0, &f));
  outputs[0] = f;
  TUTTI_TRY(context, add_output_nomu(context, *network, "f", c->l2, &outputs[0]));
  if (c->bounds == TUTTI_NOMU_BOUNDS_SYMMETRIC)
    TUTTI_TRY(context, add_uncertainty_nomu(context, *network, c, f, &outputs[count++]));
  if (c->bounds == TUTTI_NOMU_BOUNDS_LOWER || c->bounds == TUTTI_NOMU_BOUNDS_BOTH)
    TUTTI_TRY(context, add_bound_nomu(context, *network, c, "r-lower", &outputs[count++]));
  if (c->bounds == TUTTI_NOMU_BOUNDS_UPPER || c->bounds == TUTTI_NOMU_BOUNDS_BOTH)
    TUTTI_TRY(context, add_bound_nomu(context, *network, c, "r-upper", &outputs[count++]));
  if (c->noise == TUTTI_NOMU_NOISE_LEARNT) {
    outputs[count] = f;
    TUTTI_TRY(context, add_output_nomu(context, *network, "f-noise", c->l2, &outputs[count++]));
  }
  TUTTI_TRY(context, add_head_nomu(context, *network, c, alone, count, outputs));
  return tutti_network_check(context, *network);
}

/* The labels of the layers that have weights and belong to the network of that letter, ended by NULL. */
static enum tutti_status label_nomu(tutti_context *context, const tutti_network *network, char letter,
                                    const char ***labels) {
  size_t layers = tutti_network_layers(network), count = 0;
  TUTTI_TRY(context, tutti_alloc(context, layers + 1, sizeof **labels, labels));
  for (size_t i = 0; i < layers; i++) {
    const struct tutti_layer *layer = tutti_network_layer(network, i);
    if (layer->parameters > 0 && layer->label[0] == letter)
      (*labels)[count++] = layer->label;
  }
  return TUTTI_OK;
}

/* --- life --------------------------------------------------------------------------------------------------------- */

static void surrogate_destroy_nomu(void *instance) {
  struct nomu *self = instance;
  tutti_members_destroy(self->members);
  tutti_network_destroy(self->alone);
  tutti_network_destroy(self->whole);
  tutti_config_destroy(self->trainer);
  tutti_free(self->of_f);
  tutti_free(self->of_r);
  tutti_free(self->box);
  tutti_free(self);
}

/* What the artificial points are drawn in: what is searched is [-1, 1] in each feature. */
static enum tutti_status make_box_nomu(tutti_context *context, struct nomu *self, size_t dimension) {
  float side = 1 + 2 * (float)self->config->margin;
  TUTTI_TRY(context, tutti_alloc(context, 2 * dimension, sizeof *self->box, &self->box));
  for (size_t k = 0; k < dimension; k++) {
    self->box[k] = -side;
    self->box[dimension + k] = side;
  }
  return TUTTI_OK;
}

static enum tutti_status check_nomu(tutti_context *context, const struct nomu_config *config, size_t dimension) {
  if (config->l_min > config->l_max)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "surrogate.l_min, the least uncertainty: expected at most surrogate.l_max = %g, found %g",
                      config->l_max, config->l_min);
  if (config->noise != TUTTI_NOMU_NOISE_NONE && config->bounds != TUTTI_NOMU_BOUNDS_SYMMETRIC)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "surrogate.noise = %s: expected surrogate.bounds = symmetric with it, found %s; leave one of the "
                      "two out",
                      nomu_noises[config->noise], nomu_bounds[config->bounds]);
  if (config->points == TUTTI_NOMU_POINTS_GRID && dimension != 1)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "surrogate.points = grid: expected one variable, found %zu; take surrogate.points = random",
                      dimension);
  return TUTTI_OK;
}

static enum tutti_status surrogate_create_nomu(tutti_context *context, const void *config_, const void *setup_,
                                               void **instance) {
  const struct nomu_config *config = config_;
  const struct tutti_surrogate_setup *setup = setup_;
  bool first = config->stop_gradient == STOP_F_FIRST;
  struct tutti_members_setup members = {.size = sizeof members,
                                        .surrogate = setup,
                                        .name = "nomu",
                                        .head = TUTTI_OP_HEAD_NOMU,
                                        .honours = TUTTI_JOB_BOX | (first ? TUTTI_JOB_FROZEN : 0),
                                        .values = (enum tutti_member_values)config->values,
                                        .retries = (size_t)config->retries,
                                        .start = (enum tutti_member_start)config->start};
  struct nomu *self;
  enum tutti_status status;
  TUTTI_TRY(context, check_nomu(context, config, setup->dimension));
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *self, &self));
  self->config = config;
  self->seed = setup->seed;
  TUTTI_TRY_OUT(context, tutti_members_create(context, &members, &self->members));
  TUTTI_TRY_OUT(context,
                tutti_backend_configure(context, tutti_members_trainer(self->members), NULL, NULL, &self->trainer));
  TUTTI_TRY_OUT(context, make_box_nomu(context, self, setup->dimension));
  TUTTI_TRY_OUT(context, make_network_nomu(context, self, false, &self->whole));
  if (first) {
    TUTTI_TRY_OUT(context, make_network_nomu(context, self, true, &self->alone));
    TUTTI_TRY_OUT(context, label_nomu(context, self->whole, 'f', &self->of_f));
    TUTTI_TRY_OUT(context, label_nomu(context, self->whole, 'r', &self->of_r));
  }
  *instance = self;
  return TUTTI_OK;
out:
  surrogate_destroy_nomu(self);
  return status;
}

/* --- fit and predictions ------------------------------------------------------------------------------------------ */

static enum tutti_status surrogate_fit_nomu(void *instance, tutti_context *context, const struct tutti_points *points,
                                            const double *values, const double *noise) {
  struct nomu *self = instance;
  (void)noise;
  self->trained = false;
  return tutti_members_observe(context, self->members, points, values);
}

/* Train on the observations that there are. */
static enum tutti_status train_nomu(void *instance, tutti_context *context) {
  struct nomu *self = instance;
  struct tutti_random random;
  tutti_tensors *mean = NULL, *weights = NULL;
  enum tutti_status status;
  size_t count = tutti_members_observed(self->members);
  tutti_random_init(&random, self->seed, "surrogate nomu", count);
  struct tutti_member spec = {.size = sizeof spec,
                              .network = self->whole,
                              .config = self->trainer,
                              .seed = tutti_random_u64(&random),
                              .box = self->box,
                              .initial = tutti_members_last(self->members, 0)};
  if (self->alone) {
    struct tutti_member first = spec;
    first.network = self->alone;
    first.frozen = self->of_r;
    TUTTI_TRY_OUT(context, tutti_members_train(context, self->members, 1, &first, &mean));
    spec.initial = mean;
    spec.frozen = self->of_f;
  }
  TUTTI_TRY_OUT(context, tutti_members_train(context, self->members, 1, &spec, &weights));
  spec.initial = NULL;
  TUTTI_TRY_OUT(context, tutti_members_take(context, self->members, 1, &spec, &weights));
out:
  tutti_tensors_destroy(mean);
  return status;
}

/* Train if there are observations that the network has not seen. */
static enum tutti_status settle_nomu(struct nomu *self, tutti_context *context) {
  if (self->trained)
    return TUTTI_OK;
  if (tutti_members_observed(self->members) == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN, "surrogate nomu: fit was expected before a prediction");
  TUTTI_TRY(context, tutti_members_settle(context, self->members, train_nomu, self));
  self->trained = true;
  return TUTTI_OK;
}

static enum tutti_status surrogate_predict_nomu(void *instance, tutti_context *context,
                                                const struct tutti_points *points, double *mean, double *deviation) {
  struct nomu *self = instance;
  TUTTI_TRY(context, settle_nomu(self, context));
  return tutti_members_predict(context, self->members, points, TUTTI_MEMBER_OWN, 0, 0, mean, deviation);
}

static bool surrogate_has_gradient_nomu(void *instance) {
  return tutti_members_has_gradient(((const struct nomu *)instance)->members);
}

static enum tutti_status surrogate_gradient_nomu(void *instance, tutti_context *context, const double *vector,
                                                 double *mean, double *deviation, double *mean_gradient,
                                                 double *deviation_gradient) {
  struct nomu *self = instance;
  TUTTI_TRY(context, settle_nomu(self, context));
  return tutti_members_gradient(context, self->members, vector, TUTTI_MEMBER_OWN, 0, 0, mean, deviation, mean_gradient,
                                deviation_gradient);
}

/* --- the plugin --------------------------------------------------------------------------------------------------- */

static const struct tutti_surrogate_ops nomu_ops = {
    .size = sizeof(struct tutti_surrogate_ops),
    .needs = TUTTI_NEEDS_VECTORS,
    .fit = surrogate_fit_nomu,
    .predict = surrogate_predict_nomu,
    .gradient = surrogate_gradient_nomu,
    .has_gradient = surrogate_has_gradient_nomu,
};

static const struct tutti_descriptor nomu_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SURROGATE, "nomu"),
    .version = "1.0",
    .summary = "Two connected networks, for the mean and for its uncertainty",
    .source =
        "Heiss, Weissteiner, Wutte, Seuken, Teichmann, NOMU: Neural Optimization-based Model Uncertainty, ICML 2022",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(nomu_params, struct nomu_config),
    .create = surrogate_create_nomu,
    .destroy = surrogate_destroy_nomu,
    .ops = &nomu_ops,
};

TUTTI_PLUGIN(nomu_descriptor)
