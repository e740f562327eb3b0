/* calibrate_impl.h - ensembles and their calibrators: what an ensemble says of rows, how a calibrator is fitted to it
   and judged, and the ensemble as it is after that; for engine/ alone. */
#ifndef TUTTI_CALIBRATE_IMPL_H
#define TUTTI_CALIBRATE_IMPL_H

#include <tutti/calibrator.h>
#include <tutti/evaluate.h>
#include <tutti/mixture.h>

/* The levels of the central intervals that are evaluated: these, and that of the options. */
enum { TUTTI_FIXED_LEVELS = 4, TUTTI_LEVELS = TUTTI_FIXED_LEVELS + 1 };
/* Level number `index`. */
double tutti_level_at(const struct tutti_evaluation_options *options, size_t index);
/* The quantiles that are evaluated, 0.05, 0.1, ..., 0.95: how many rows are below them. */
enum { TUTTI_QUANTILES = 19 };
double tutti_quantile_at(size_t index);

/* The quantile of a mixture of Gaussians at p, in (0, 1): Newton's steps, kept in a bracket that is halved where they
   would leave it. NaN if a mean or a variance is (quantile.c). */
double tutti_mixture_quantile(const struct tutti_mixture *mixture, double p);
/* -log of the density of a mixture whose members have the densities exp(-nll[members]), which are taken relative to the
   largest, so that they neither overflow nor all vanish. Infinite where all are 0 (mixture.c). */
double tutti_joint_nll(size_t members, const double *weights, const double *nll);
/* The score of the interval [ends[0], ends[1]] of probability `level` for a value: its width, and 2 / (1 -
   level) times the distance of a value outside it (Gneiting & Raftery, 2007, equation 43). */
double tutti_interval_score(const double *ends, double level, double value);

/* --- what an ensemble says (combined.c) --- */

/* The combined predictions of a pool's rows, as calibrators take them; release with tutti_free(combined->values).
   Errors as for tutti_evaluate; TUTTI_ERROR_USAGE, too: the ensemble votes, and so has no probabilities. */
TUTTI_NODISCARD enum tutti_status tutti_combine(tutti_context *context, const struct tutti_pool *pool,
                                                const tutti_ensemble *ensemble,
                                                const struct tutti_evaluation_options *options,
                                                struct tutti_combined *combined);
/* Regression: the mixtures behind them, [rows][outputs]; release even after a failure. */
struct tutti_mixtures {
  struct tutti_mixture *all;
  double *numbers;
  bool parts; /* do members tell their own epistemic variance? Then [members] of it stand behind the variances */
};
TUTTI_NODISCARD enum tutti_status tutti_combine_mixtures(tutti_context *context, const struct tutti_pool *pool,
                                                         const tutti_ensemble *ensemble,
                                                         struct tutti_mixtures *mixtures);
void tutti_mixtures_release(struct tutti_mixtures *mixtures);
/* Regression: the quantiles of the mixtures at p[count] into out[rows][outputs][count]. */
TUTTI_NODISCARD enum tutti_status tutti_combined_quantiles(tutti_context *context, const struct tutti_pool *pool,
                                                           const tutti_ensemble *ensemble, size_t count,
                                                           const double *p, double *out);

/* --- fitting and judging (calibrate.c) --- */

struct tutti_calibrating {
  const tutti_host *host; /* its section "calibrator" */
  uint64_t seed;
  int64_t folds; /* by which the fit is judged; 0 or 1: it is not */
  const struct tutti_combined *combined;
  const struct tutti_targets *targets;
  const double *plain;   /* regression: [TUTTI_FIXED_LEVELS][rows][outputs][2], the intervals without a calibrator */
  const uint32_t *group; /* [rows]: the first row of each one's group, for groups that no fold tears; NULL without */
  bool parts;            /* of combined->mixtures; see struct tutti_mixtures */
  bool own_rows; /* have these rows chosen nothing? Then intervals hold what they promise, and are taken for that */
};

/* What came of it. */
struct tutti_verdict {
  const char *measure;  /* by which it was judged: "nll", "interval-score"; NULL: it was not */
  double before, after; /* over all folds */
  char refused[512];    /* why the ensemble stays as it is; "": it is calibrated */
  char taken[256];      /* why it is calibrated where these figures do not say so; "": they do, or there are none */
};
/* Fit the calibrator, and see by cross-validation whether that helps. If it does not, or the rows do not allow a fit,
   *calibrator is NULL and the verdict says why. Other errors are those of a plugin that failed. */
TUTTI_NODISCARD enum tutti_status tutti_calibrate(tutti_context *context, const struct tutti_calibrating *calibrating,
                                                  tutti_calibrator **calibrator, struct tutti_verdict *verdict);

/* --- the ensemble after that (calibrated.c) --- */

/* A Gaussian of one member: its mean moves with the spread of the members, its variance in its two parts, of which
   *within, at most the variance, is its own epistemic one. before, after: [TUTTI_COMBINED_PARTS] of the ensemble. */
struct tutti_scaled {
  double mean, variance, within;
};
struct tutti_scaled tutti_calibrated_member(const double *before, const double *after, double mean, double variance,
                                            double within);

/* A pool as the calibrator makes it. Classification: one model that predicts the calibrated probabilities. Regression:
   the members, their spread and their variances scaled so that the mixture has the calibrated moments. */
struct tutti_calibrated {
  struct tutti_pool pool;
  tutti_ensemble *ensemble; /* of it */
  double *intervals;        /* [TUTTI_LEVELS][rows][outputs][2] of a calibrator that gives intervals; else NULL */
  double *quantiles;        /* likewise [rows][outputs][TUTTI_QUANTILES] */
  struct tutti_combined before, after;
  uint64_t *trials;
  float **predictions, **epistemic;
};
/* Release it even after a failure. The targets of the pool are borrowed. */
TUTTI_NODISCARD enum tutti_status tutti_calibrated_make(tutti_context *context, tutti_calibrator *calibrator,
                                                        const struct tutti_pool *pool, const tutti_ensemble *ensemble,
                                                        const struct tutti_evaluation_options *options,
                                                        struct tutti_calibrated *calibrated);
void tutti_calibrated_release(struct tutti_calibrated *calibrated);
/* Make predicted[rows][outputs], which the ensemble says without the calibrator (tutti_ensemble_predict), and of what
   its epistemic part is made, parts[rows][outputs] or NULL, what it says with it. Classification: the total is the
   entropy of the calibrated probabilities, of which aleatoric and epistemic keep their shares. */
TUTTI_NODISCARD enum tutti_status tutti_calibrated_predict(tutti_context *context,
                                                           const struct tutti_calibrated *calibrated,
                                                           const struct tutti_evaluation_options *options,
                                                           struct tutti_uncertainty *predicted,
                                                           struct tutti_epistemic_parts *parts);
/* Quantiles at p[count], out[rows][outputs][count]. */
TUTTI_NODISCARD enum tutti_status tutti_calibrated_quantiles(tutti_context *context, tutti_calibrator *calibrator,
                                                             const struct tutti_calibrated *calibrated, size_t count,
                                                             const double *p, double *out);
/* Its metrics, without those of members. */
TUTTI_NODISCARD enum tutti_status tutti_evaluate_calibrated(tutti_context *context,
                                                            const struct tutti_calibrated *calibrated,
                                                            const struct tutti_evaluation_options *options,
                                                            tutti_evaluation **evaluation);
/* The same of one of several targets alone (tutti_evaluate_target). */
TUTTI_NODISCARD enum tutti_status tutti_evaluate_calibrated_target(tutti_context *context,
                                                                   const struct tutti_calibrated *calibrated,
                                                                   const struct tutti_evaluation_options *options,
                                                                   size_t target, tutti_evaluation **evaluation);

#endif
