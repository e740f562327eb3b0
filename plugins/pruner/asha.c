/* pruner asha: asynchronous successive halving over epochs (Li et al., "A System for Massively Parallel Hyperparameter
   Tuning", MLSys 2020, algorithm 2), as a rule that stops. At the rungs r, r eta, r eta^2, ... a trial goes on if it is
   among the best 1/eta of those that came there; at most 1/eta of its epochs are trained at the last one.

   The paper's workers promote: a trial waits at its rung, with its weights, until it is among the best. Here it is
   trained in one go and decides at once, by the trials that were told before it was asked for: its rule is known then,
   so that results do not depend on what runs beside it, and no weights have to be kept (docs/fidelity.md). */
#include "ladder.h"

#include <math.h>

enum { MOST_RUNGS = 32 };

struct pruner_asha_config {
  int64_t reduction, min_epochs, early_stopping_rate, warmup;
  struct tutti_integers rungs;
  int measure, losses;
};

static const char *const pruner_asha_measures[] = {
    [TUTTI_MEASURE_LAST] = "last", [TUTTI_MEASURE_BEST] = "best", [TUTTI_MEASURE_MEAN] = "mean", NULL};

static const struct tutti_param pruner_asha_params[] = {
    TUTTI_INTEGER(struct pruner_asha_config, reduction, "4", 2, 1000,
                  "The best 1/reduction of the trials at a rung go on; each rung is so many times as high as the one "
                  "before (the paper's eta)."),
    TUTTI_INTEGER(
        struct pruner_asha_config, min_epochs, "0", 0, 1e6,
        "No trial is pruned before (the paper's r). 0: the most epochs of a trial / reduction^2, "
        "rounded down, but at least 1, so that trials of reduction^2 epochs and more have two rungs; 1 where no "
        "trial's epochs are known.",
        .unit = "epochs"),
    TUTTI_INTEGER(struct pruner_asha_config, early_stopping_rate, "0", 0, 30,
                  "So many rungs are left out at the bottom (the paper's s): the first is at min_epochs x "
                  "reduction^early_stopping_rate."),
    TUTTI_INTEGERS(struct pruner_asha_config, rungs, "", 1, 1e6,
                   "The rungs' epochs, ascending, in place of those that follow from min_epochs and reduction."),
    TUTTI_INTEGER(struct pruner_asha_config, warmup, "0", 0, TUTTI_NO_LIMIT,
                  "A rung prunes nothing before so many trials came to it.", .unit = "trials"),
    TUTTI_CHOICE(
        struct pruner_asha_config, measure, "best", pruner_asha_measures,
        "What of a trial's losses is compared: that of the rung's epoch, the best one up to it, or their mean."),
    LADDER_LOSSES_PARAM(struct pruner_asha_config),
};

struct pruner_asha {
  const struct pruner_asha_config *config;
  size_t count;
  struct ladder_rung rungs[MOST_RUNGS];
};

static void pruner_destroy_asha(void *instance) {
  struct pruner_asha *self = instance;
  for (size_t i = 0; i < self->count; i++)
    ladder_release(&self->rungs[i]);
  tutti_free(self);
}

/* Where is the message about the ends of rungs to be looked for? */
static enum tutti_status refuse_asha(tutti_context *context, const char *key, long long epoch, uint32_t epochs) {
  if (epochs < 2)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "trials have %u epoch, so that none could be pruned before its end; give them more, or leave the "
                      "pruner out",
                      (unsigned)epochs);
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "pruner.%s: the rung at epoch %lld is never looked at: trials have at most %u epochs, and the last "
                    "one ends them anyway; expected rungs below %u",
                    key, epoch, (unsigned)epochs, (unsigned)epochs);
}

static enum tutti_status take_rungs_asha(tutti_context *context, struct pruner_asha *self, uint32_t epochs) {
  const struct tutti_integers *rungs = &self->config->rungs;
  if (rungs->count > MOST_RUNGS)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "pruner.rungs: expected at most %d, found %zu", (int)MOST_RUNGS,
                      rungs->count);
  for (size_t i = 0; i < rungs->count; i++) {
    if (i > 0 && rungs->values[i] <= rungs->values[i - 1])
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "pruner.rungs: expected ascending epochs, found %lld after %lld",
                        (long long)rungs->values[i], (long long)rungs->values[i - 1]);
    if (epochs > 0 && rungs->values[i] >= (int64_t)epochs)
      return refuse_asha(context, "rungs", (long long)rungs->values[i], epochs);
    self->rungs[self->count++].epoch = (uint32_t)rungs->values[i];
  }
  return TUTTI_OK;
}

/* r eta^s, r eta^(s + 1), ..., of which the last leaves eta times as many epochs to be trained, as in the paper, whose
   trials end at r eta^K: one that comes later would throw away what is nearly trained. But there is a first one. */
static enum tutti_status make_rungs_asha(tutti_context *context, struct pruner_asha *self, uint32_t epochs) {
  const struct pruner_asha_config *config = self->config;
  double reduction = (double)config->reduction, end = epochs > 0 ? (double)epochs : 1e6;
  double first = config->min_epochs > 0 ? (double)config->min_epochs : fmax(1, floor(epochs / (reduction * reduction)));
  double at = first * pow(reduction, (double)config->early_stopping_rate);
  if (epochs > 0 && at >= end)
    return refuse_asha(context, config->early_stopping_rate > 0 ? "early_stopping_rate" : "min_epochs",
                       (long long)fmin(at, 1e18), epochs);
  do
    self->rungs[self->count++].epoch = (uint32_t)at;
  while ((at *= reduction) * reduction <= end && self->count < MOST_RUNGS);
  return TUTTI_OK;
}

static enum tutti_status pruner_create_asha(tutti_context *context, const void *config, const void *setup_,
                                            void **instance) {
  const struct tutti_pruner_setup *setup = setup_;
  struct pruner_asha *self;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *self, &self));
  self->config = config;
  ladder_warn_of_warmup(context, setup, self->config->warmup);
  enum tutti_status status = self->config->rungs.count > 0 ? take_rungs_asha(context, self, setup->epochs)
                                                           : make_rungs_asha(context, self, setup->epochs);
  if (status != TUTTI_OK) {
    pruner_destroy_asha(self);
    return status;
  }
  *instance = self;
  return TUTTI_OK;
}

/* A trial that comes to a rung as one of n is among the best n / eta, rounded down, but the best of all goes on even
   where these are none: it cannot wait until more have come. */
static size_t places_asha(const struct pruner_asha *self, size_t n) {
  size_t best = n / (size_t)self->config->reduction;
  return best > 0 ? best : 1;
}

static enum tutti_status pruner_tell_asha(void *instance, tutti_context *context, const struct tutti_curve *curve) {
  struct pruner_asha *self = instance;
  const double *losses = ladder_losses_of(self->config->losses, curve);
  for (size_t i = 0; losses && i < self->count && self->rungs[i].epoch <= curve->epochs; i++) {
    enum tutti_measure measure = (enum tutti_measure)self->config->measure;
    double loss = tutti_measure_of(measure, self->rungs[i].epoch, losses);
    TUTTI_TRY(context, ladder_insert(context, &self->rungs[i], loss, places_asha(self, self->rungs[i].count + 2)));
  }
  return TUTTI_OK;
}

static enum tutti_status pruner_rule_asha(void *instance, tutti_context *context, uint64_t trial, tutti_rule *rule) {
  struct pruner_asha *self = instance;
  (void)trial;
  for (size_t i = 0; i < self->count; i++) {
    const struct ladder_rung *rung = &self->rungs[i];
    if (rung->count == 0 || rung->count < (size_t)self->config->warmup)
      continue;
    struct tutti_rung own = {.size = sizeof own,
                             .epoch = rung->epoch,
                             .measure = (enum tutti_measure)self->config->measure,
                             .threshold = ladder_cut(rung),
                             .training = self->config->losses == LADDER_TRAINING};
    TUTTI_TRY(context, tutti_rule_add(context, rule, &own));
  }
  return TUTTI_OK;
}

static const struct tutti_pruner_ops asha_ops = {
    .size = sizeof asha_ops,
    .tell = pruner_tell_asha,
    .rule = pruner_rule_asha,
};

static const struct tutti_descriptor asha_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_PRUNER, "asha"),
    .version = "1.0",
    .summary = "asynchronous successive halving: at each rung only the best part of the trials goes on",
    .source = "Li et al., A System for Massively Parallel Hyperparameter Tuning, MLSys 2020",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(pruner_asha_params, struct pruner_asha_config),
    .create = pruner_create_asha,
    .destroy = pruner_destroy_asha,
    .ops = &asha_ops,
};

TUTTI_PLUGIN(asha_descriptor)
