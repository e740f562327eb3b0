/* rule.c - what a trial must reach on its way: the answers of pruners. */
#include <tutti/sized.h>

#include <math.h>
#include <tutti/pruner.h>

struct tutti_rule {
  size_t count, room;
  struct tutti_rung *rungs;
};

enum tutti_status tutti_rule_create(tutti_context *context, tutti_rule **rule) {
  return tutti_alloc(context, 1, sizeof **rule, rule);
}

void tutti_rule_destroy(tutti_rule *rule) {
  if (rule)
    tutti_free(rule->rungs);
  tutti_free(rule);
}

enum tutti_status tutti_rule_add(tutti_context *context, tutti_rule *rule, const struct tutti_rung *rung) {
  struct tutti_rung own;
  TUTTI_TAKE(&own, rung);
  uint32_t before = rule->count ? rule->rungs[rule->count - 1].epoch : 0;
  if (own.epoch <= before || isnan(own.threshold) || (unsigned)own.measure > TUTTI_MEASURE_MEAN)
    return TUTTI_FAIL(
        context, TUTTI_ERROR_INTERNAL,
        "a rung at epoch %u with threshold %g and measure %d: expected an epoch after %u, a number, and one of "
        "the measures",
        (unsigned)own.epoch, own.threshold, (int)own.measure, (unsigned)before);
  if (rule->count == rule->room) {
    size_t room = rule->room * 2 + 8;
    TUTTI_TRY(context, tutti_realloc(context, rule->count, room, sizeof *rule->rungs, &rule->rungs));
    rule->room = room;
  }
  rule->rungs[rule->count++] = own;
  return TUTTI_OK;
}

size_t tutti_rule_rungs(const tutti_rule *rule) { return rule->count; }

void tutti_rule_rung(const tutti_rule *rule, size_t index, struct tutti_rung *rung) {
  TUTTI_GIVE(rung, &rule->rungs[index]);
}

double tutti_measure_of(enum tutti_measure measure, size_t epochs, const double *losses) {
  double best = NAN, sum = 0;
  size_t counted = 0;
  if (measure == TUTTI_MEASURE_LAST)
    return losses[epochs - 1];
  for (size_t i = 0; i < epochs; i++)
    if (!isnan(losses[i])) {
      best = fmin(best, losses[i]);
      sum += losses[i];
      counted++;
    }
  return measure == TUTTI_MEASURE_BEST || counted == 0 ? best : sum / (double)counted;
}

static bool is_reached(const struct tutti_rung *rung, const struct tutti_curve *curve) {
  const double *losses = rung->training ? curve->training : curve->losses;
  return !losses || !(tutti_measure_of(rung->measure, curve->epochs, losses) > rung->threshold);
}

bool tutti_rule_allows_curve(const tutti_rule *rule, const struct tutti_curve *curve) {
  struct tutti_curve own;
  TUTTI_TAKE(&own, curve);
  for (size_t i = 0; i < rule->count; i++)
    if (rule->rungs[i].epoch == own.epochs)
      return is_reached(&rule->rungs[i], &own);
  return true;
}

bool tutti_rule_allows(const tutti_rule *rule, size_t epochs, const double *losses) {
  const struct tutti_curve curve = {.size = sizeof curve, .epochs = epochs, .losses = losses};
  return tutti_rule_allows_curve(rule, &curve);
}
