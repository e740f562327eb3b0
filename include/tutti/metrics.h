/* metrics.h - losses and metrics of predictions against targets. Definitions and clipping are those of docs/metrics.md. */
#ifndef TUTTI_METRICS_H
#define TUTTI_METRICS_H

#include <tutti/context.h>
#include <tutti/predictions.h>

TUTTI_BEGIN_DECLS

/* --- losses of one model ----------------------------------------------------------------------------------------- */

/* Losses that a selection or an objective may minimise: constant, number (part of the ABI: a new one takes the next), name.
   What a loss is stands in one more place, the table of core/score/losses.c. First those that ensembles minimise:
   - NLL: mean negative log-likelihood; regression: Gaussian, with the constant, in the target's units;
   - BRIER: classification; MSE: regression; ERROR: 1 - accuracy, classification. */
#define TUTTI_ENSEMBLE_LOSSES(LOSS)                                                                                    \
  LOSS(NLL, 0, "nll") LOSS(BRIER, 2, "brier") LOSS(MSE, 3, "mse") LOSS(ERROR, 1, "error")
/* The root of MSE; the value of a backend without data. */
#define TUTTI_OTHER_LOSSES(LOSS) LOSS(RMSE, 4, "rmse") LOSS(VALUE, 5, "value")

#define TUTTI_LOSS_CONSTANT(constant, number, name) TUTTI_LOSS_##constant = number,
#define TUTTI_LOSS_ONE(constant, number, name) +1
#define TUTTI_LOSS_CHOICE(constant, number, name) name,
enum tutti_loss {
  TUTTI_ENSEMBLE_LOSSES(TUTTI_LOSS_CONSTANT) TUTTI_OTHER_LOSSES(TUTTI_LOSS_CONSTANT)
  /* How many there are; no loss. */
  TUTTI_LOSS_COUNT = 0 TUTTI_ENSEMBLE_LOSSES(TUTTI_LOSS_ONE) TUTTI_OTHER_LOSSES(TUTTI_LOSS_ONE)
};
/* Choices of a parameter, static const char *const losses[] = {TUTTI_LOSS_CHOICES}: auto, and what ensembles minimise;
   tutti_loss_parse says which a choice is. */
#define TUTTI_LOSS_CHOICES "auto", TUTTI_ENSEMBLE_LOSSES(TUTTI_LOSS_CHOICE) NULL

/* "nll", "error", ... NULL-terminated, by number. */
TUTTI_API const char *const *tutti_loss_names(void);
/* The loss of that name into *loss; false, and *loss as it was, if there is none ("auto"). */
TUTTI_API bool tutti_loss_parse(const char *name, enum tutti_loss *loss);
/* Is the loss defined for this kind of task? */
TUTTI_API bool tutti_loss_applies(enum tutti_loss loss, enum tutti_task_kind kind);
/* Is it for this task, whose head may give no variance? */
TUTTI_API bool tutti_loss_fits(enum tutti_loss loss, const struct tutti_task *task);
/* What "auto" stands for: NLL, MSE for heads without a variance, VALUE without data. */
TUTTI_API enum tutti_loss tutti_loss_natural(const struct tutti_task *task);
/* The loss of each row, whose mean is the loss (of RMSE: whose mean's root): losses[rows]. false: it is not defined for them. */
TUTTI_API bool tutti_row_losses(enum tutti_loss loss, const struct tutti_predictions *predictions,
                                const struct tutti_targets *targets, double *losses);
/* The loss of one model's predictions (or of an ensemble's combined ones); NaN where it is not defined. */
TUTTI_API double tutti_loss_of(enum tutti_loss loss, const struct tutti_predictions *predictions,
                               const struct tutti_targets *targets);

/* --- parts, of one row ------------------------------------------------------------------------------------------- */

/* -log p, in nats. p below the smallest normal float32 (1.2e-38) counts as that, so that no row costs more than 87.4. */
TUTTI_API double tutti_probability_nll(double p);
/* Entropy of probabilities[classes] in nats; 0 log 0 = 0. */
TUTTI_API double tutti_entropy(size_t classes, const double *probabilities);
/* The most probable class, the lowest on ties; `classes` if any probability is NaN. */
TUTTI_API size_t tutti_label_of(size_t classes, const double *probabilities);

TUTTI_API double tutti_normal_cdf(double z);
/* The z with tutti_normal_cdf(z) = p; -inf and inf at 0 and 1, NaN outside. */
TUTTI_API double tutti_normal_quantile(double p);
/* Variances below the smallest normal float32 count as that, here and in mixtures. */
TUTTI_API double tutti_gaussian_nll(double mean, double variance, double value);
/* Continuous ranked probability score, in the target's unit. */
TUTTI_API double tutti_gaussian_crps(double mean, double variance, double value);

/* How the spread of members' means becomes a variance. */
enum tutti_epistemic {
  TUTTI_EPISTEMIC_UNBIASED,  /* divided by 1 - sum w^2: by K - 1 over K equal members; 0 for a single one */
  TUTTI_EPISTEMIC_POPULATION /* sum w (m - mean)^2: the mixture's own, divided by K over K equal members */
};
/* A mixture of Gaussians, one row and output: [members] each; weights are > 0 and sum to 1. Weights, means and variances are
   all that a mixture of Gaussians has: it never grows, and needs no size. */
struct tutti_mixture {
  size_t members;
  const double *weights, *means, *variances;
};
/* Law of total variance. variance = aleatoric + epistemic. These four are all of it: it never grows, and is returned. */
struct tutti_moments {
  double mean, aleatoric, epistemic, variance;
};
TUTTI_API struct tutti_moments tutti_mixture_moments(const struct tutti_mixture *mixture,
                                                     enum tutti_epistemic epistemic);
TUTTI_API double tutti_mixture_nll(const struct tutti_mixture *mixture, double value);
/* Closed form (Grimit et al. 2006); O(members^2). */
TUTTI_API double tutti_mixture_crps(const struct tutti_mixture *mixture, double value);

TUTTI_END_DECLS
#endif
