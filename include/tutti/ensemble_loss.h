/* ensemble_loss.h - the loss of an ensemble that grows by one model at a time, for greedy selection. Running sums over
   the models added so far are kept, so that trying a model costs one pass over its predictions. Definitions are those
   of docs/metrics.md: after any sequence of additions the loss is that of tutti_evaluate. */
#ifndef TUTTI_ENSEMBLE_LOSS_H
#define TUTTI_ENSEMBLE_LOSS_H

#include <tutti/host.h>
#include <tutti/metrics.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_ensemble_loss tutti_ensemble_loss;

/* The density whose NLL is taken for an ensemble of regressors. */
enum tutti_density {
  TUTTI_DENSITY_MIXTURE, /* the mixture of the members' Gaussians */
  TUTTI_DENSITY_MOMENTS  /* one Gaussian per output with the mixture's mean and variance */
};

struct tutti_ensemble_loss_options {
  size_t size; /* sizeof(struct tutti_ensemble_loss_options) */
  enum tutti_loss loss;
  enum tutti_density density;     /* regression, NLL */
  enum tutti_epistemic epistemic; /* regression, NLL, TUTTI_DENSITY_MOMENTS */
};

/* Begin with an empty ensemble. The pool's arrays are borrowed until destroy; the caller destroys *loss.
   TUTTI_ERROR_USAGE: the loss is not defined for the pool's kind of task, or the pool has no rows, targets or
   models. */
TUTTI_API TUTTI_NODISCARD enum tutti_status
tutti_ensemble_loss_create(tutti_context *context, const struct tutti_pool *pool,
                           const struct tutti_ensemble_loss_options *options, tutti_ensemble_loss **loss);
/* Destroy it; NULL is allowed. */
TUTTI_API void tutti_ensemble_loss_destroy(tutti_ensemble_loss *loss);
/* The loss that the ensemble would have after adding model number `model` of the pool; NaN if its predictions are
   NaN. */
TUTTI_API double tutti_ensemble_loss_with(const tutti_ensemble_loss *loss, size_t model);
/* That loss for every model of the pool: losses[models]. */
TUTTI_API void tutti_ensemble_loss_each(const tutti_ensemble_loss *loss, double *losses);
/* Add model number `model` of the pool; adding it again raises its weight. */
TUTTI_API void tutti_ensemble_loss_add(tutti_ensemble_loss *loss, size_t model);

/* The best addition and the next best, as numbers in the pool; the pool's number of models if there is none. */
struct tutti_addition {
  size_t size; /* sizeof(struct tutti_addition), set by the caller */
  size_t model, runner_up;
  double loss, runner_up_loss; /* NaN if there is none */
};
/* Find the best addition among all models but those with barred[model] (NULL: none is barred) and those whose loss is
   NaN. On equal losses the lower number, that is the lower trial, is better. The caller has set best->size. */
TUTTI_API void tutti_ensemble_loss_best(const tutti_ensemble_loss *loss, const bool *barred,
                                        struct tutti_addition *best);

TUTTI_END_DECLS
#endif
