/* metrics.h - losses and metrics of predictions against targets. Definitions and clipping are those of docs/metrics.md. */
#ifndef TUTTI_METRICS_H
#define TUTTI_METRICS_H

#include <tutti/context.h>
#include <tutti/predictions.h>

TUTTI_BEGIN_DECLS

/* Losses that a selection or an objective may minimise. */
enum tutti_loss {
  TUTTI_LOSS_NLL,   /* mean negative log-likelihood; regression: Gaussian, with the constant, in the target's units */
  TUTTI_LOSS_ERROR, /* 1 - accuracy; classification */
  TUTTI_LOSS_BRIER, /* classification */
  TUTTI_LOSS_MSE,   /* regression */
  TUTTI_LOSS_RMSE,  /* regression */
  TUTTI_LOSS_VALUE, /* the value of a backend without data */
  TUTTI_LOSS_COUNT
};
/* "nll", "error", ... NULL-terminated, in the order of the enum: for parameter tables. */
TUTTI_API const char *const *tutti_loss_names(void);
/* The loss of one model's predictions (or of an ensemble's combined ones); NaN where it is not defined. */
TUTTI_API double tutti_loss_of(enum tutti_loss loss, const struct tutti_predictions *predictions,
                               const struct tutti_targets *targets);

TUTTI_END_DECLS
#endif
