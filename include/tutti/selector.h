/* selector.h - kind `selector`: chooses the members of an ensemble and their weights. It sees predictions and targets,
   nothing else. */
#ifndef TUTTI_SELECTOR_H
#define TUTTI_SELECTOR_H

#include <tutti/descriptor.h>
#include <tutti/host.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_selector tutti_selector;
typedef struct tutti_ensemble tutti_ensemble;

/* --- ensembles ------------------------------------------------------------------------------------------------- */

/* How members' predictions become those of the ensemble. */
enum tutti_combination {
  TUTTI_COMBINATION_MIXTURE, /* weighted mean of probabilities; mixture of Gaussians */
  TUTTI_COMBINATION_VOTE     /* weighted majority of labels, lowest label on ties; regression: weighted mean */
};

/* One step of a choice: a trial, the loss after it, and why it was chosen. */
struct tutti_step {
  size_t size; /* sizeof(struct tutti_step) of the library */
  uint64_t trial;
  double loss;
  char note[96];
};

/* Make an empty ensemble, a mixture; the caller destroys *ensemble. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_ensemble_create(tutti_context *context, tutti_ensemble **ensemble);
/* Destroy it; NULL is allowed. */
TUTTI_API void tutti_ensemble_destroy(tutti_ensemble *ensemble);
/* Add weight to a trial: a new member, or more weight for an old one. A selector that picks models one by one adds 1
   for each pick. TUTTI_ERROR_USAGE: the weight is not positive and finite. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_ensemble_add(tutti_context *context, tutti_ensemble *ensemble,
                                                               uint64_t trial, double weight);
/* Add a step to the trace: trial, the loss after it, and why. A note is cut off beyond 95 characters.
   TUTTI_ERROR_MEMORY. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_ensemble_trace(tutti_context *context, tutti_ensemble *ensemble,
                                                                 uint64_t trial, double loss, const char *note);
/* Set how members are combined; tutti_ensemble_combination: how they are. */
TUTTI_API void tutti_ensemble_combine(tutti_ensemble *ensemble, enum tutti_combination combination);
TUTTI_API enum tutti_combination tutti_ensemble_combination(const tutti_ensemble *ensemble);
/* The number of members, which stand in the order in which they were added; tutti_ensemble_trial: the trial of member
   number `index` (< size); tutti_ensemble_weight: its weight, > 0. The weights sum to 1. */
TUTTI_API size_t tutti_ensemble_size(const tutti_ensemble *ensemble);
TUTTI_API uint64_t tutti_ensemble_trial(const tutti_ensemble *ensemble, size_t index);
TUTTI_API double tutti_ensemble_weight(const tutti_ensemble *ensemble, size_t index);
/* How many picks the weights count: the sum of what was added, if each member's part is a whole number; else 0. */
TUTTI_API uint64_t tutti_ensemble_picks(const tutti_ensemble *ensemble);
/* The number of steps in the trace; tutti_ensemble_step: step number `index` (< steps), borrowed until the next one is
   added. */
TUTTI_API size_t tutti_ensemble_steps(const tutti_ensemble *ensemble);
TUTTI_API const struct tutti_step *tutti_ensemble_step(const tutti_ensemble *ensemble, size_t index);

/* --- the plugin's side ------------------------------------------------------------------------------------------ */

struct tutti_selector_setup {
  size_t size; /* these four: see struct tutti_setup (host.h) */
  const tutti_host *host;
  const struct tutti_task *task;
  uint64_t seed;
};

struct tutti_selector_ops {
  size_t size; /* sizeof(struct tutti_selector_ops) */

  /* REQUIRED. Choose at least one member from a pool (models >= 1) into an empty ensemble. Ties go to the lowest trial.
     `count` > 0 overrides the parameter `size` of selectors that have one (an evolution may choose parents so). MUST
     depend on the pool's content alone: the choice is the same in whatever order the trials finished. */
  enum tutti_status (*select)(void *self, tutti_context *context, const struct tutti_pool *pool, size_t count,
                              tutti_ensemble *ensemble);

  /* OPTIONAL; default: yes. Does it look at predictions? A selector that goes by pool->losses alone says no. It then
     gets pools without predictions, too: of TUTTI_TASK_VALUE, with models and losses, without rows (predictions is
     NULL). */
  bool (*needs_predictions)(void *self);

  /* OPTIONAL; default: no. Does it choose by this cost of the models (pool->costs)? A cost that takes time to find out
     is measured only if somebody asks for it. MUST answer false to costs that it does not know, those of later versions
     too. */
  bool (*needs_cost)(void *self, enum tutti_cost cost);
};

/* --- the host's side --- */

/* Make an instance of the selector plugin in `section` of the host; the caller destroys *selector. What is copied or
   borrowed, and the errors of every kind: struct tutti_setup (host.h). */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_selector_create(tutti_context *context, const tutti_host *host,
                                                                  const char *section,
                                                                  const struct tutti_selector_setup *setup,
                                                                  tutti_selector **selector);
/* Destroy it; NULL is allowed. */
TUTTI_API void tutti_selector_destroy(tutti_selector *selector);
/* The plugin's descriptor, valid for the life of the process. */
TUTTI_API const struct tutti_descriptor *tutti_selector_descriptor(const tutti_selector *selector);
/* Does it look at predictions? Otherwise it goes by the losses of the models alone. */
TUTTI_API bool tutti_selector_needs_predictions(const tutti_selector *selector);
/* Does it choose by this cost of the models? */
TUTTI_API bool tutti_selector_needs_cost(const tutti_selector *selector, enum tutti_cost cost);
/* Choose from a pool, borrowed until return, into an empty ensemble. `count` > 0 overrides the parameter `size`.
   TUTTI_ERROR_USAGE: the pool has no models, or no rows where the selector needs predictions; TUTTI_ERROR_PLUGIN: no
   member, one that is not in the pool, or a weight that is not finite. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_selector_select(tutti_context *context, tutti_selector *selector,
                                                                  const struct tutti_pool *pool, size_t count,
                                                                  tutti_ensemble *ensemble);

/* What the members of an ensemble cost together; NaN: that of one is not known. */
TUTTI_API double tutti_ensemble_cost(const tutti_ensemble *ensemble, const struct tutti_pool *pool,
                                     enum tutti_cost cost);
/* Warn of models that a limit leaves out since their cost is not known, which may surprise, and say what can be done.
   Where that of none is known there is no warning: choosing fails with the same advice. Was there a warning? */
TUTTI_API bool tutti_pool_tell_unknown(tutti_context *context, const struct tutti_pool *pool, enum tutti_cost cost);
/* How much an ensemble may cost. */
struct tutti_cost_limit {
  size_t size; /* sizeof(struct tutti_cost_limit) */
  enum tutti_cost cost;
  double most; /* all members together; 0: anything */
};
/* Choose as tutti_selector_select does, whatever the selector, but members that cost at most so much together. Models
   that cost more alone are left out, as are those whose cost is not known. Where the choice among the others costs
   more, the member that weighs least for what it costs is left out, too, and the selector chooses again. The steps of
   the trace say what was left out. TUTTI_ERROR_USAGE, too: no model is so cheap. */
TUTTI_API TUTTI_NODISCARD enum tutti_status
tutti_selector_select_within(tutti_context *context, tutti_selector *selector, const struct tutti_pool *pool,
                             size_t count, const struct tutti_cost_limit *limit, tutti_ensemble *ensemble);

TUTTI_END_DECLS
#endif
