/* selector within-cost: another selector's choice, among ensembles whose members cost at most so much together where
   they predict: tutti_selector_select_within (selector.h) says how. What that leaves out is a heuristic, not the
   optimum: an ensemble of the same cost may be better. */
#include <tutti/plugin.h>

struct within_cost_config {
  const char *chosen_by;
  int cost;
  double max_cost;
};

static const struct tutti_param within_cost_params[] = {
    TUTTI_SUBPLUGIN(struct within_cost_config, chosen_by, "greedy", TUTTI_KIND_SELECTOR,
                    "The selector that chooses, any but this one; its parameters stand in [chosen_by]."),
    TUTTI_CHOICE(struct within_cost_config, cost, "flops", tutti_cost_names,
                 "What counts: floating-point operations for a row, bytes of weights on disk, or microseconds of a "
                 "processor for a row, which are measured once, after training."),
    TUTTI_REAL(struct within_cost_config, max_cost, "0", 0, TUTTI_NO_LIMIT,
               "What the members may cost together, each with the models of all its folds; 0: anything."),
};

struct within_cost {
  const struct within_cost_config *config;
  tutti_selector *selector;
  bool told; /* that the cost of some models is not known */
};

static void selector_destroy_within_cost(void *instance) {
  struct within_cost *self = instance;
  tutti_selector_destroy(self->selector);
  tutti_free(self);
}

static enum tutti_status selector_create_within_cost(tutti_context *context, const void *config, const void *setup_,
                                                     void **instance) {
  const struct tutti_selector_setup *setup = setup_;
  struct within_cost *self;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *self, &self));
  self->config = config;
  enum tutti_status status = tutti_selector_create(context, setup->host, "chosen_by", setup, &self->selector);
  if (status == TUTTI_OK)
    *instance = self;
  else
    tutti_free(self);
  return status;
}

static enum tutti_status selector_select_within_cost(void *instance, tutti_context *context,
                                                     const struct tutti_pool *pool, size_t count,
                                                     tutti_ensemble *ensemble) {
  struct within_cost *self = instance;
  const struct tutti_cost_limit limit = {
      .size = sizeof limit, .cost = (enum tutti_cost)self->config->cost, .most = self->config->max_cost};
  self->told = self->told || (limit.most > 0 && tutti_pool_tell_unknown(context, pool, limit.cost));
  return tutti_selector_select_within(context, self->selector, pool, count, &limit, ensemble);
}

static bool selector_needs_predictions_within_cost(void *instance) {
  return tutti_selector_needs_predictions(((const struct within_cost *)instance)->selector);
}

static bool selector_needs_cost_within_cost(void *instance, enum tutti_cost cost) {
  const struct within_cost *self = instance;
  return (self->config->max_cost > 0 && (int)cost == self->config->cost) ||
         tutti_selector_needs_cost(self->selector, cost);
}

static const struct tutti_selector_ops selector_within_cost_ops = {
    .size = sizeof selector_within_cost_ops,
    .select = selector_select_within_cost,
    .needs_predictions = selector_needs_predictions_within_cost,
    .needs_cost = selector_needs_cost_within_cost,
};

static const struct tutti_descriptor selector_within_cost_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SELECTOR, "within-cost"),
    .version = "1.0",
    .summary = "what another selector chooses, at a limited cost of predicting",
    .source = "Tutti",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(within_cost_params, struct within_cost_config),
    .create = selector_create_within_cost,
    .destroy = selector_destroy_within_cost,
    .ops = &selector_within_cost_ops,
};

TUTTI_PLUGIN(selector_within_cost_descriptor)
