/* growth.h - for selectors that grow an ensemble model by model: parameters, the loss that is minimised, the picks, and
   the trace that says why each was made.

   Such a selector has a field struct tutti_growth_config in its config, and TUTTI_GROWTH_PARAMS in its table. Its
   `select` makes options from the config, changes the rule, and calls tutti_growth_select. A selector with an order of
   its own creates a growth, takes models, and finishes it (plugins/selector/quick-greedy.c). */
#ifndef TUTTI_GROWTH_H
#define TUTTI_GROWTH_H

#include <tutti/ensemble_loss.h>
#include <tutti/selector.h>

TUTTI_BEGIN_DECLS

/* --- parameters --------------------------------------------------------------------------------------------------- */

/* A field (`growth`) of a selector's config struct. Made only by the host, from the plugin's own table. The library
   never sees it: tutti_growth_options_of makes options of it. */
struct tutti_growth_config {
  int64_t size;
  int loss, density, epistemic, keep;
};

/* The choices of these parameters, NULL-terminated. */
static const char *const tutti_growth_losses[] = {TUTTI_LOSS_CHOICES};
static const char *const tutti_growth_densities[] = {"mixture", "moments", NULL};
static const char *const tutti_growth_epistemic[] = {TUTTI_EPISTEMIC_CHOICES};
static const char *const tutti_growth_keeps[] = {"last", "best", NULL};

/* clang-format off */
/* The parameters size, loss, density, epistemic and keep, for a table: TUTTI_GROWTH_PARAMS(struct my_config,
   growth). */
#define TUTTI_GROWTH_PARAMS(config_type, field) \
  TUTTI_PARAM("size", INTEGER, config_type, field.size, "5", 1, TUTTI_NO_LIMIT, NULL, TUTTI_KIND_SPACE, \
              "Members of the ensemble; fewer where the pool has fewer models.", TUTTI_PARAM_MEMBER(unit) "members"), \
  TUTTI_PARAM("loss", CHOICE, config_type, field.loss, "auto", 0, 0, tutti_growth_losses, TUTTI_KIND_SPACE, \
              "What the ensemble minimises on the validation rows; auto: nll, or mse where no model predicts a variance."), \
  TUTTI_PARAM("density", CHOICE, config_type, field.density, "mixture", 0, 0, tutti_growth_densities, TUTTI_KIND_SPACE, \
              "Regression's nll is that of the mixture of Gaussians, or of one Gaussian with the mixture's moments."), \
  TUTTI_PARAM("epistemic", CHOICE, config_type, field.epistemic, "picks", 0, 0, tutti_growth_epistemic, \
              TUTTI_KIND_SPACE, \
              "With density = moments, the variance of the means of N picks is divided by N - 1 (picks), by N (population), " \
              "or by what makes it unbiased for members of unequal weights (unbiased)."), \
  TUTTI_PARAM("keep", CHOICE, config_type, field.keep, "last", 0, 0, tutti_growth_keeps, TUTTI_KIND_SPACE, \
              "What is kept of the picks: all up to the last, or as many of the first as have the best (lowest) loss.")
/* clang-format on */

/* Set *loss to what a choice of tutti_growth_losses stands for. False for auto; *loss is then TUTTI_LOSS_NLL. */
TUTTI_API bool tutti_growth_loss_of(int choice, enum tutti_loss *loss);
/* TUTTI_ERROR_USAGE if the loss of that choice is not defined for the kind of task. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_growth_check(tutti_context *context, int choice,
                                                               enum tutti_task_kind task);

/* --- options ------------------------------------------------------------------------------------------------------ */

/* Which additions tutti_growth_select makes. */
enum tutti_growth_accept {
  TUTTI_GROWTH_ACCEPT_ANY,      /* the best one, even if the loss rises */
  TUTTI_GROWTH_ACCEPT_BETTER,   /* only one that lowers the loss */
  TUTTI_GROWTH_ACCEPT_NOT_WORSE /* one that does not raise it */
};

struct tutti_growth_options {
  size_t size; /* sizeof(struct tutti_growth_options) */
  int loss;    /* choice of tutti_growth_losses */
  enum tutti_density density;
  enum tutti_epistemic epistemic;
  bool keep_best; /* keep the first picks only, up to the lowest loss */

  /* The rule of tutti_growth_select. It starts with the model whose own loss is lowest, and always takes the best
     addition. */
  bool replace; /* a model can be taken again */
  enum tutti_growth_accept accept;
  size_t members; /* different models, at most */
  size_t least;   /* take so many different models even if no addition is accepted */
  size_t picks;   /* picks, at most */
};

/* The options of a config. Members: `count` (of tutti_selector_ops.select), or the parameter `size` if `count` is 0.
   Each is picked once, and the growth never stops early. */
static inline struct tutti_growth_options tutti_growth_options_of(const struct tutti_growth_config *config,
                                                                  size_t count) {
  struct tutti_growth_options options;
  options.size = sizeof options;
  options.loss = config->loss;
  options.density = config->density ? TUTTI_DENSITY_MOMENTS : TUTTI_DENSITY_MIXTURE;
  options.epistemic = (enum tutti_epistemic)config->epistemic;
  options.keep_best = config->keep != 0;
  options.replace = false;
  options.accept = TUTTI_GROWTH_ACCEPT_ANY;
  options.members = options.picks = count ? count : (size_t)config->size;
  options.least = 0;
  return options;
}

/* --- growing ------------------------------------------------------------------------------------------------------ */

/* Grow by the rule, and fill an empty ensemble with members, weights by copies, and the trace. TUTTI_ERROR_NUMERIC if
   the loss of every model is NaN; TUTTI_ERROR_CANCELLED; TUTTI_ERROR_USAGE as for tutti_ensemble_loss_create. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_growth_select(tutti_context *context,
                                                                const struct tutti_growth_options *options,
                                                                const struct tutti_pool *pool,
                                                                tutti_ensemble *ensemble);

typedef struct tutti_growth tutti_growth;

/* Begin an empty ensemble with the loss of the options (auto: nll, or mse where no model has an nll). The pool is
   borrowed until destroy; the caller destroys *growth. TUTTI_ERROR_NUMERIC if the loss of every model is NaN;
   TUTTI_ERROR_USAGE as for tutti_ensemble_loss_create. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_growth_create(tutti_context *context,
                                                                const struct tutti_growth_options *options,
                                                                const struct tutti_pool *pool, tutti_growth **growth);
/* Destroy it; NULL is allowed. */
TUTTI_API void tutti_growth_destroy(tutti_growth *growth);
/* The loss that is minimised. */
TUTTI_API enum tutti_loss tutti_growth_loss(const tutti_growth *growth);
/* Each model's own loss [models], borrowed; NaN for a model that must not be taken. */
TUTTI_API const double *tutti_growth_own_losses(const tutti_growth *growth);
/* The loss that the ensemble would have after adding model number `model` of the pool. */
TUTTI_API double tutti_growth_loss_with(const tutti_growth *growth, size_t model);
/* Does the rule accept an addition after which the loss is `loss`? At least one model has been taken. A difference
   within rounding counts as equal. */
TUTTI_API bool tutti_growth_accepts(const tutti_growth *growth, enum tutti_growth_accept accept, double loss);
/* Take model number `model` of the pool, after which the loss is `loss`. `note` says why, for the trace; beyond 95
   characters it is cut off. TUTTI_ERROR_CANCELLED; TUTTI_ERROR_MEMORY. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_growth_take(tutti_context *context, tutti_growth *growth,
                                                              size_t model, double loss, const char *note);
/* The number of different models taken so far. */
TUTTI_API size_t tutti_growth_members(const tutti_growth *growth);
/* Fill an empty ensemble: members with weights by copies, and the trace, which has each pick and then the models that
   were passed over. `end` (may be "") says why the growth ended; it is added to the last pick's note. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_growth_finish(tutti_context *context, const tutti_growth *growth,
                                                                const char *end, tutti_ensemble *ensemble);

/* --- ranking and passing over ------------------------------------------------------------------------------------- */

/* Rank models by losses[models]: (*order)[models] has their numbers by ascending loss, the lower number first on ties,
   NaN last; free it with tutti_free. TUTTI_ERROR_MEMORY. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_rank_models(tutti_context *context, size_t models,
                                                              const double *losses, size_t **order);
/* Add a step to the trace for each model of the pool whose losses[models] is NaN; `loss` is the loss's name. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_trace_passed_over(tutti_context *context,
                                                                    const struct tutti_pool *pool, const char *loss,
                                                                    const double *losses, tutti_ensemble *ensemble);

/* --- create of a selector that has no state ----------------------------------------------------------------------- */

/* `create` for it: `self` is the config. A loss that the task does not have is refused before anything trains. The
   config struct must begin with its struct tutti_growth_config. */
static inline enum tutti_status tutti_growth_selector_create(tutti_context *context, const void *config,
                                                             const void *setup, void **self) {
  const struct tutti_task *task = ((const struct tutti_selector_setup *)setup)->task;
  *self = (void *)(uintptr_t)config;
  return task ? tutti_growth_check(context, ((const struct tutti_growth_config *)config)->loss, task->kind) : TUTTI_OK;
}

TUTTI_END_DECLS
#endif
