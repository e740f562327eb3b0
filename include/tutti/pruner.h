/* pruner.h - kind `pruner`: ends trials that are not worth finishing. It learns from the loss curves of trials that
   have ended, and says what a new trial must reach on its way. That rule goes with the trial's request, and whoever
   trains the trial decides by it alone: what is pruned does not depend on how fast trials run beside each other. */
#ifndef TUTTI_PRUNER_H
#define TUTTI_PRUNER_H

#include <tutti/backend.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_pruner tutti_pruner;
typedef struct tutti_rule tutti_rule;

/* --- rules ------------------------------------------------------------------------------------------------------ */

/* The measure of a curve that is compared at a rung. */
enum tutti_measure {
  TUTTI_MEASURE_LAST, /* the loss of the rung's epoch */
  TUTTI_MEASURE_BEST, /* the least loss up to it */
  TUTTI_MEASURE_MEAN  /* the mean loss up to it */
};

/* After `epoch` epochs the measure must be at most `threshold`, or the trial ends there. */
struct tutti_rung {
  size_t size;
  uint32_t epoch; /* >= 1 */
  enum tutti_measure measure;
  double threshold;
  bool training; /* the measure is of the training losses, not of the validation losses */
};

/* Make an empty rule, which allows everything; the caller destroys *rule. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_rule_create(tutti_context *context, tutti_rule **rule);
/* Destroy it; NULL is allowed. */
TUTTI_API void tutti_rule_destroy(tutti_rule *rule);
/* Add a rung, which is copied. TUTTI_ERROR_INTERNAL: its epoch is not after those of earlier rungs, the threshold is
   NaN, or the measure is none of the three. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_rule_add(tutti_context *context, tutti_rule *rule,
                                                           const struct tutti_rung *rung);
/* The number of rungs. */
TUTTI_API size_t tutti_rule_rungs(const tutti_rule *rule);
/* Fill *rung with rung number `index` (< tutti_rule_rungs), by ascending epoch. The caller has set rung->size. */
TUTTI_API void tutti_rule_rung(const tutti_rule *rule, size_t index, struct tutti_rung *rung);
/* A measure of losses[epochs], those after epochs 1, 2, ..., `epochs` (>= 1); NaN losses do not count, and the measure
   is NaN if none counts. */
TUTTI_API double tutti_measure_of(enum tutti_measure measure, size_t epochs, const double *losses);
/* May a trial go on whose validation losses after epochs 1, 2, ..., `epochs` are losses[epochs]? Only a rung at this
   very epoch can say no. NaN losses (not evaluated) do not count; if none counts, the trial goes on. Rungs of training
   losses let it go on. */
TUTTI_API bool tutti_rule_allows(const tutti_rule *rule, size_t epochs, const double *losses);
struct tutti_curve;
/* May a trial go on whose curve so far is this? As tutti_rule_allows, with rungs of training losses. */
TUTTI_API bool tutti_rule_allows_curve(const tutti_rule *rule, const struct tutti_curve *curve);

/* --- the plugin's side ------------------------------------------------------------------------------------------ */

struct tutti_pruner_setup {
  size_t size; /* these four: see struct tutti_setup (host.h) */
  const tutti_host *host;
  const struct tutti_task *task;
  uint64_t seed;
  uint32_t epochs; /* for so many a trial trains at most; 0: not known. Rungs from there on are never looked at */
  uint64_t known;  /* so many trials are told, at most, before the last one is asked for; 0: not known */
};

/* How a trial went; borrowed until return. */
struct tutti_curve {
  size_t size;
  uint64_t trial;
  enum tutti_state state;
  size_t epochs;        /* trained; 0 if it failed before the first one ended */
  const double *losses; /* [epochs]: validation loss after each, in standardised units; NaN where not evaluated */
  /* [epochs]: mean loss over each epoch's mini-batches, NaN where not known; NULL: none is known */
  const double *training;
};

struct tutti_pruner_ops {
  size_t size; /* sizeof(struct tutti_pruner_ops) */

  /* REQUIRED. Learn from a trial that ended, whether finished, failed or pruned. Trials come in the order in which the
     builder is told of them. */
  enum tutti_status (*tell)(void *self, tutti_context *context, const struct tutti_curve *curve);
  /* REQUIRED. Add to an empty rule what trial number `trial` must reach. Asked for right after the builder has proposed
     the trial. MUST be a function of what was told before, the trial's number and the seed, never of time. */
  enum tutti_status (*rule)(void *self, tutti_context *context, uint64_t trial, tutti_rule *rule);

  /* OPTIONAL; default: false. True: every rule is empty, whatever is told. Then the pruner need not be told anything,
     and any backend will do. */
  bool (*idle)(void *self);
};

TUTTI_END_DECLS
#endif
