/* pruner median: the median stopping rule (Golovin et al., "Google Vizier: A Service for Black-Box Optimization", KDD
   2017, section 3.2.2). After an epoch a trial ends if its best loss so far is worse than the median of the mean losses
   that the completed trials had up to that epoch.

   Completed are those that were told, as finished, before the trial was asked for: its rule is known then. */
#include "ladder.h"

#include <math.h>

struct pruner_median_config {
  int64_t min_epochs, every, warmup;
  bool count_pruned;
  int losses;
};

static const struct tutti_param pruner_median_params[] = {
    TUTTI_INTEGER(struct pruner_median_config, min_epochs, "1", 1, 1e6, "No trial is pruned before.", .unit = "epochs"),
    TUTTI_INTEGER(struct pruner_median_config, every, "1", 1, 1e6,
                  "A trial is looked at after min_epochs, and then every so many epochs.", .unit = "epochs"),
    TUTTI_INTEGER(struct pruner_median_config, warmup, "5", 1, TUTTI_NO_LIMIT,
                  "Nothing is pruned before so many trials are complete.", .unit = "trials"),
    TUTTI_BOOL(struct pruner_median_config, count_pruned, "no",
               "Pruned trials count, too, at the epochs that they came to."),
    LADDER_LOSSES_PARAM(struct pruner_median_config),
};

struct pruner_median {
  const struct pruner_median_config *config;
  uint32_t epochs; /* of a trial, at most; 0: not known */
  size_t count, room;
  struct ladder_rung *rungs;
  struct ladder_rung ends; /* the mean losses of the completed trials over all their epochs */
};

static void pruner_destroy_median(void *instance) {
  struct pruner_median *self = instance;
  for (size_t i = 0; i < self->count; i++)
    ladder_release(&self->rungs[i]);
  ladder_release(&self->ends);
  tutti_free(self->rungs);
  tutti_free(self);
}

static enum tutti_status pruner_create_median(tutti_context *context, const void *config, const void *setup_,
                                              void **instance) {
  const struct tutti_pruner_setup *setup = setup_;
  const struct pruner_median_config *own = config;
  struct pruner_median *self;
  if (setup->epochs > 0 && own->min_epochs >= (int64_t)setup->epochs)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "pruner.min_epochs: trials have at most %u epochs, and the last one ends them anyway; expected "
                      "less than that, found %lld",
                      (unsigned)setup->epochs, (long long)own->min_epochs);
  ladder_warn_of_warmup(context, setup, own->warmup);
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *self, &self));
  self->config = own;
  self->epochs = setup->epochs;
  *instance = self;
  return TUTTI_OK;
}

/* Add rungs up to an epoch that a trial came to. Those who ended before stand there with the mean of all their losses:
   that is what they had reported by then. */
static enum tutti_status extend_median(tutti_context *context, struct pruner_median *self, size_t epochs) {
  size_t end = self->epochs > 0 && epochs >= self->epochs ? self->epochs - 1 : epochs;
  for (;;) {
    int64_t epoch = self->config->min_epochs + (int64_t)self->count * self->config->every;
    if (epoch > (int64_t)end)
      return TUTTI_OK;
    if (self->count == self->room) {
      size_t room = self->room * 2 + 16;
      TUTTI_TRY(context, tutti_realloc(context, self->count, room, sizeof *self->rungs, &self->rungs));
      self->room = room;
    }
    struct ladder_rung rung = {.epoch = (uint32_t)epoch};
    TUTTI_TRY(context, ladder_copy(context, &self->ends, &rung));
    self->rungs[self->count++] = rung;
  }
}

static enum tutti_status add_mean(tutti_context *context, struct ladder_rung *rung, double mean) {
  return ladder_insert(context, rung, mean, ladder_half(rung));
}

static enum tutti_status pruner_tell_median(void *instance, tutti_context *context, const struct tutti_curve *curve) {
  struct pruner_median *self = instance;
  bool pruned = curve->state == TUTTI_STATE_PRUNED && self->config->count_pruned;
  double sum = 0;
  size_t counted = 0, next = 0;
  const double *losses = ladder_losses_of(self->config->losses, curve);
  if ((curve->state != TUTTI_STATE_FINISHED && !pruned) || curve->epochs == 0 || !losses)
    return TUTTI_OK;
  TUTTI_TRY(context, extend_median(context, self, curve->epochs));
  for (size_t e = 1; e <= curve->epochs; e++) {
    if (!isnan(losses[e - 1])) {
      sum += losses[e - 1];
      counted++;
    }
    if (next < self->count && self->rungs[next].epoch == e)
      TUTTI_TRY(context, add_mean(context, &self->rungs[next++], counted ? sum / (double)counted : NAN));
  }
  if (pruned || counted == 0)
    return TUTTI_OK;
  double mean = sum / (double)counted;
  for (; next < self->count; next++)
    TUTTI_TRY(context, add_mean(context, &self->rungs[next], mean));
  return add_mean(context, &self->ends, mean);
}

static enum tutti_status pruner_rule_median(void *instance, tutti_context *context, uint64_t trial, tutti_rule *rule) {
  struct pruner_median *self = instance;
  (void)trial;
  for (size_t i = 0; i < self->count; i++) {
    const struct ladder_rung *rung = &self->rungs[i];
    if (rung->count < (size_t)self->config->warmup)
      continue;
    struct tutti_rung own = {.size = sizeof own,
                             .epoch = rung->epoch,
                             .measure = TUTTI_MEASURE_BEST,
                             .threshold = ladder_median(rung),
                             .training = self->config->losses == LADDER_TRAINING};
    TUTTI_TRY(context, tutti_rule_add(context, rule, &own));
  }
  return TUTTI_OK;
}

static const struct tutti_pruner_ops median_ops = {
    .size = sizeof median_ops,
    .tell = pruner_tell_median,
    .rule = pruner_rule_median,
};

static const struct tutti_descriptor median_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_PRUNER, "median"),
    .version = "1.0",
    .summary = "the median stopping rule: a trial's best loss against the median of the others' mean losses",
    .source = "Golovin et al., Google Vizier: A Service for Black-Box Optimization, KDD 2017",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(pruner_median_params, struct pruner_median_config),
    .create = pruner_create_median,
    .destroy = pruner_destroy_median,
    .ops = &median_ops,
};

TUTTI_PLUGIN(median_descriptor)
