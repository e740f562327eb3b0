/* metrics.h - losses and metrics of predictions against targets. Definitions and clipping are those of
   docs/metrics.md. */
#ifndef TUTTI_METRICS_H
#define TUTTI_METRICS_H

#include <tutti/context.h>
#include <tutti/predictions.h>

TUTTI_BEGIN_DECLS

/* --- losses of one model ----------------------------------------------------------------------------------------- */

/* Losses that a selection or an objective may minimise: constant, number (part of the ABI: a new one takes the next),
   name. The table of core/score/losses.c says what each is. These are the losses that ensembles minimise:
   - NLL: mean negative log-likelihood; for regression Gaussian, with the constant, in the target's units;
   - BRIER: classification; MSE: regression; ERROR: 1 - accuracy, classification.
   Their order is part of the ABI, too, since a choice of TUTTI_LOSS_CHOICES crosses as its place: a new one comes
   last. */
#define TUTTI_ENSEMBLE_LOSSES(LOSS)                                                                                    \
  LOSS(NLL, 0, "nll") LOSS(BRIER, 2, "brier") LOSS(MSE, 3, "mse") LOSS(ERROR, 1, "error")
/* RMSE: the root of MSE. VALUE: what a backend without data gives. */
#define TUTTI_OTHER_LOSSES(LOSS) LOSS(RMSE, 4, "rmse") LOSS(VALUE, 5, "value")

#define TUTTI_LOSS_CONSTANT(constant, number, name) TUTTI_LOSS_##constant = number,
#define TUTTI_LOSS_ONE(constant, number, name) +1
#define TUTTI_LOSS_CHOICE(constant, number, name) name,
enum tutti_loss {
  TUTTI_ENSEMBLE_LOSSES(TUTTI_LOSS_CONSTANT) TUTTI_OTHER_LOSSES(TUTTI_LOSS_CONSTANT)
  /* The number of losses; not a loss itself. */
  TUTTI_LOSS_COUNT = 0 TUTTI_ENSEMBLE_LOSSES(TUTTI_LOSS_ONE) TUTTI_OTHER_LOSSES(TUTTI_LOSS_ONE)
};
/* The choices of a parameter, static const char *const losses[] = {TUTTI_LOSS_CHOICES}: auto, and the losses that
   ensembles minimise. tutti_loss_parse gives the loss of a choice. */
#define TUTTI_LOSS_CHOICES "auto", TUTTI_ENSEMBLE_LOSSES(TUTTI_LOSS_CHOICE) NULL

/* "nll", "error", ... by number, NULL-terminated. Static. */
TUTTI_API const char *const *tutti_loss_names(void);
/* Set *loss to the loss of that name. False, with *loss unchanged, if there is none ("auto"). */
TUTTI_API bool tutti_loss_parse(const char *name, enum tutti_loss *loss);
/* Is the loss defined for this kind of task? */
TUTTI_API bool tutti_loss_applies(enum tutti_loss loss, enum tutti_task_kind kind);
/* Is it defined for this very task, whose head may give no variance? */
TUTTI_API bool tutti_loss_fits(enum tutti_loss loss, const struct tutti_task *task);
/* The loss that "auto" stands for: NLL; MSE for heads without a variance; VALUE without data. */
TUTTI_API enum tutti_loss tutti_loss_natural(const struct tutti_task *task);
/* Compute the loss of each row, losses[rows]; their mean is the loss (for RMSE, its square). False if the loss is not
   defined for the predictions, or the targets do not match them. */
TUTTI_API bool tutti_row_losses(enum tutti_loss loss, const struct tutti_predictions *predictions,
                                const struct tutti_targets *targets, double *losses);
/* The loss of one model's predictions, or of an ensemble's combined ones; NaN if it is not defined for them. */
TUTTI_API double tutti_loss_of(enum tutti_loss loss, const struct tutti_predictions *predictions,
                               const struct tutti_targets *targets);

/* --- parts, of one row ------------------------------------------------------------------------------------------- */

/* -log p, in nats. A p below the smallest normal float32 (1.2e-38) counts as that, so that no row costs more than
   87.4. */
TUTTI_API double tutti_probability_nll(double p);
/* The entropy of probabilities[classes] in nats, with 0 log 0 = 0. */
TUTTI_API double tutti_entropy(size_t classes, const double *probabilities);
/* The most probable class, the lowest on ties; `classes` if any probability is NaN. */
TUTTI_API size_t tutti_label_of(size_t classes, const double *probabilities);

/* Sort numbers, the least first. None may be NaN. */
TUTTI_API void tutti_sort_numbers(size_t count, double *numbers);
/* The distribution function of the standard normal at z. */
TUTTI_API double tutti_normal_cdf(double z);
/* The z with tutti_normal_cdf(z) = p; -inf and inf for p = 0 and 1, NaN outside [0, 1]. */
TUTTI_API double tutti_normal_quantile(double p);
/* A mixture of Gaussians, for one row and output: [members] each; weights are > 0 and sum to 1. Never grows. */
struct tutti_mixture {
  size_t members;
  const double *weights, *means, *variances;
  uint64_t picks; /* that the weights count; 0: they count nothing */
};

/* -log of the density of N(mean, variance) at `value`, in nats. Variances below the smallest normal float32 count as
   that. */
TUTTI_API double tutti_gaussian_nll(double mean, double variance, double value);

/* How the spread of the members' means m, with weights w, becomes a variance. */
enum tutti_epistemic {
  /* sum w (m - mean)^2 / (1 - sum w^2): for K equal members, divided by K - 1; 0 for a single one */
  TUTTI_EPISTEMIC_UNBIASED,
  TUTTI_EPISTEMIC_POPULATION, /* sum w (m - mean)^2, the mixture's own: for K equal members, divided by K */
  /* The sample variance of the means of all picks: sum w (m - mean)^2 N / (N - 1), where weights count N picks. A model
     picked twice counts as two. As TUTTI_EPISTEMIC_UNBIASED where weights count nothing. */
  TUTTI_EPISTEMIC_PICKS
};
/* The choices of a parameter of this type: static const char *const names[] = {TUTTI_EPISTEMIC_CHOICES}. */
#define TUTTI_EPISTEMIC_CHOICES "unbiased", "population", "picks", NULL

TUTTI_END_DECLS
#endif
