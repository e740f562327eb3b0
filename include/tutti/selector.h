/* selector.h - kind `selector`: which members, with which weights. It sees predictions and targets, nothing else. */
#ifndef TUTTI_SELECTOR_H
#define TUTTI_SELECTOR_H

#include <tutti/descriptor.h>
#include <tutti/host.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_selector tutti_selector;
typedef struct tutti_ensemble tutti_ensemble;

/* --- ensembles ------------------------------------------------------------------------------------------------- */

/* How members' predictions become one. */
enum tutti_combination {
  TUTTI_COMBINATION_MIXTURE, /* weighted mean of probabilities; mixture of Gaussians */
  TUTTI_COMBINATION_VOTE     /* weighted majority of labels, lowest label on ties; regression: weighted mean */
};

/* Why a member was chosen: after `step` picks the loss was `loss`. */
struct tutti_step {
  size_t size; /* sizeof(struct tutti_step) of the library */
  uint64_t trial;
  double loss;
  char note[96];
};

TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_ensemble_create(tutti_context *context, tutti_ensemble **ensemble);
TUTTI_API void tutti_ensemble_destroy(tutti_ensemble *ensemble);
/* Add weight (> 0) to a trial: a new member, or more weight of an old one. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_ensemble_add(tutti_context *context, tutti_ensemble *ensemble,
                                                               uint64_t trial, double weight);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_ensemble_trace(tutti_context *context, tutti_ensemble *ensemble,
                                                                 uint64_t trial, double loss, const char *note);
TUTTI_API void tutti_ensemble_combine(tutti_ensemble *ensemble, enum tutti_combination combination);
TUTTI_API enum tutti_combination tutti_ensemble_combination(const tutti_ensemble *ensemble);
/* How many members there are, in the order in which they were added; the trial of each, and its weight, > 0: the weights sum
   to 1. index < size. */
TUTTI_API size_t tutti_ensemble_size(const tutti_ensemble *ensemble);
TUTTI_API uint64_t tutti_ensemble_trial(const tutti_ensemble *ensemble, size_t index);
TUTTI_API double tutti_ensemble_weight(const tutti_ensemble *ensemble, size_t index);
/* The steps of the choice, in order; borrowed until the next one is added. */
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

  /* REQUIRED. Choose from a pool (models >= 1) into an empty ensemble: at least one member. Ties go to the lowest trial.
     `count` > 0 overrides the parameter `size` of selectors that have one (parents of an evolution, say). MUST depend on
     the pool's content alone, so that it is the same in whatever order trials finished. */
  enum tutti_status (*select)(void *self, tutti_context *context, const struct tutti_pool *pool, size_t count,
                              tutti_ensemble *ensemble);
};

/* --- the host's side --- */

TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_selector_create(tutti_context *context, const tutti_host *host,
                                                                  const char *section,
                                                                  const struct tutti_selector_setup *setup,
                                                                  tutti_selector **selector);
TUTTI_API void tutti_selector_destroy(tutti_selector *selector);
TUTTI_API const struct tutti_descriptor *tutti_selector_descriptor(const tutti_selector *selector);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_selector_select(tutti_context *context, tutti_selector *selector,
                                                                  const struct tutti_pool *pool, size_t count,
                                                                  tutti_ensemble *ensemble);

TUTTI_END_DECLS
#endif
