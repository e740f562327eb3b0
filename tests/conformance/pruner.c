/* pruner.c - the contract of kind pruner. */
#include "conform.h"

#include <math.h>
#include <string.h>

enum { TRIALS = 30, EPOCHS = 20 };

struct subject {
  struct world world;
  tutti_pruner *pruner;
};

static void open_subject(struct conform *conform, struct subject *subject) {
  world_make(conform, WORLD_POINTS, 4, &subject->world);
  struct tutti_pruner_setup setup = {.size = sizeof setup, .seed = WORLD_SEED};
  TRY(conform, tutti_pruner_create(conform->context, subject->world.host, "pruner", &setup, &subject->pruner));
}

static void close_subject(struct subject *subject) {
  tutti_pruner_destroy(subject->pruner);
  world_end(&subject->world);
}

/* How the trial goes whose curve is told: most finish, some fail at once or on their way, some are pruned; a loss here
   and there is not evaluated. */
static void tell(struct conform *conform, tutti_pruner *pruner, uint64_t trial) {
  struct tutti_random random;
  double losses[EPOCHS];
  tutti_random_init(&random, WORLD_SEED, "conform curve", trial);
  double level = tutti_random_uniform(&random);
  struct tutti_curve curve = {.size = sizeof curve, .trial = trial, .epochs = EPOCHS};
  for (size_t i = 0; i < EPOCHS; i++)
    losses[i] = trial % 5 == 3 && i % 4 == 1 ? NAN : level + 1 / (double)(i + 1);
  if (trial % 7 == 4) {
    curve.state = TUTTI_STATE_FAILED;
    curve.epochs = trial % 2 ? 0 : EPOCHS / 2;
  } else if (trial % 6 == 5) {
    curve.state = TUTTI_STATE_PRUNED;
    curve.epochs = EPOCHS / 4;
  }
  curve.losses = conform_given(conform, "losses of the curve", losses, sizeof losses);
  const struct tutti_curve *given = conform_given(conform, "the curve", &curve, sizeof curve);
  TRY(conform, tutti_pruner_tell(conform->context, pruner, given));
}

static tutti_rule *rule_of(struct conform *conform, tutti_pruner *pruner, uint64_t trial) {
  tutti_rule *rule;
  TRY(conform, tutti_pruner_rule(conform->context, pruner, trial, &rule));
  return rule;
}

static void require_same(struct conform *conform, const tutti_rule *a, const tutti_rule *b, uint64_t trial) {
  REQUIRE(conform, tutti_rule_rungs(a) == tutti_rule_rungs(b), "trial %llu has %zu rungs, and then %zu",
          (unsigned long long)trial, tutti_rule_rungs(a), tutti_rule_rungs(b));
  for (size_t i = 0; i < tutti_rule_rungs(a); i++) {
    struct tutti_rung first = {.size = sizeof first}, second = {.size = sizeof second};
    tutti_rule_rung(a, i, &first);
    tutti_rule_rung(b, i, &second);
    REQUIRE(conform,
            first.epoch == second.epoch && first.measure == second.measure &&
                memcmp(&first.threshold, &second.threshold, sizeof first.threshold) == 0,
            "trial %llu, rung %zu: at most %.17g after %u epochs, and then %.17g after %u", (unsigned long long)trial,
            i, first.threshold, (unsigned)first.epoch, second.threshold, (unsigned)second.epoch);
  }
}

/* Before anything is known there is nothing to compare with. */
static void check_first(struct conform *conform) {
  struct subject subject;
  double losses[EPOCHS];
  open_subject(conform, &subject);
  tutti_rule *rule = rule_of(conform, subject.pruner, 0);
  for (size_t i = 0; i < EPOCHS; i++)
    losses[i] = 1e6;
  for (size_t epochs = 1; epochs <= EPOCHS; epochs++)
    REQUIRE(conform, tutti_rule_allows(rule, epochs, losses), "the first trial is pruned after %zu epochs", epochs);
  tutti_rule_destroy(rule);
  close_subject(&subject);
}

/* Two instances that are told the same give the same rules, also where one was asked in between for rules that the
   other was not. */
static void check_determinism(struct conform *conform) {
  struct subject a, b;
  open_subject(conform, &a);
  open_subject(conform, &b);
  for (uint64_t trial = 0; trial < TRIALS; trial++) {
    tutti_rule *first = rule_of(conform, a.pruner, trial), *again = rule_of(conform, a.pruner, trial),
               *twin = rule_of(conform, b.pruner, trial);
    require_same(conform, first, again, trial);
    require_same(conform, first, twin, trial);
    tutti_rule_destroy(first), tutti_rule_destroy(again), tutti_rule_destroy(twin);
    tell(conform, a.pruner, trial);
    tell(conform, b.pruner, trial);
  }
  close_subject(&a);
  close_subject(&b);
}

/* A trial at the head of all at every epoch goes on to its end. */
static void check_best(struct conform *conform) {
  struct subject subject;
  double losses[EPOCHS];
  open_subject(conform, &subject);
  for (size_t i = 0; i < EPOCHS; i++)
    losses[i] = -1;
  for (uint64_t trial = 0; trial < TRIALS; trial++) {
    tell(conform, subject.pruner, trial);
    tutti_rule *rule = rule_of(conform, subject.pruner, trial + 1);
    for (size_t epochs = 1; epochs <= EPOCHS; epochs++)
      REQUIRE(conform, tutti_rule_allows(rule, epochs, losses),
              "after %llu trials one that is better than all is pruned after %zu epochs", (unsigned long long)trial + 1,
              epochs);
    tutti_rule_destroy(rule);
  }
  close_subject(&subject);
}

const struct conform_check conform_pruner[] = {
    {"prunes nothing before it was told anything", check_first},
    {"rules are a function of what was told", check_determinism},
    {"the best of all trials goes on", check_best},
    {NULL, NULL},
};
