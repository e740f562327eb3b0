/* evaluate.h - an ensemble's predictions made of its members', and how good and how sure they are. Definitions are those of
   docs/metrics.md. Members' predictions are read row by row: nothing of size [members][rows] is made. */
#ifndef TUTTI_EVALUATE_H
#define TUTTI_EVALUATE_H

#include <tutti/host.h>
#include <tutti/metrics.h>
#include <tutti/selector.h>

TUTTI_BEGIN_DECLS

/* Section [evaluation]. NULL, wherever these are asked for, means TUTTI_EVALUATION_DEFAULTS. */
struct tutti_evaluation_options {
  int epistemic; /* enum tutti_epistemic */
  int64_t bins;  /* of the expected calibration error, >= 1 */
  double level;  /* of central intervals (coverage, width), inside (0, 1) */
};
#define TUTTI_EVALUATION_DEFAULTS                                                                                      \
  { TUTTI_EPISTEMIC_UNBIASED, 15, 0.95 }
/* Its parameter table. */
TUTTI_API const struct tutti_params *tutti_evaluation_params(void);

enum tutti_better {
  TUTTI_BETTER_LOWER,
  TUTTI_BETTER_HIGHER,
  TUTTI_BETTER_NEITHER /* it describes, as disagreement does, or has a goal of its own, as coverage has */
};
struct tutti_metric {
  const char *name; /* "nll", "oracle-error", ...: docs/metrics.md; static */
  const char *unit; /* "nats", "fraction", "target" (the targets' own), "" */
  enum tutti_better better;
  double value; /* NaN: not known, as the NLL where members give no variance */
};

enum { TUTTI_METRICS_MAX = 32 };
/* Metrics of an ensemble on the rows of one split, in a fixed order; those that its task, its combination or its size do
   not define are left out. */
struct tutti_evaluation {
  size_t size; /* sizeof(struct tutti_evaluation) of the library */
  size_t members, rows;
  size_t count;
  struct tutti_metric metrics[TUTTI_METRICS_MAX];
};

/* Evaluate an ensemble on a pool, in which each member's trial must be, with targets. TUTTI_ERROR_USAGE: a member is not in
   the pool, no rows, no targets, a label that is no class, options out of range. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_evaluate(tutti_context *context, const struct tutti_pool *pool,
                                                           const tutti_ensemble *ensemble,
                                                           const struct tutti_evaluation_options *options,
                                                           struct tutti_evaluation *evaluation);
/* The metric of that name, or NULL. */
TUTTI_API const struct tutti_metric *tutti_evaluation_find(const struct tutti_evaluation *evaluation, const char *name);

/* How an ensemble of classifiers meets inputs out of distribution, the pool `outside`: its mean entropy, mutual information
   and confidence there, and how well each of them tells these rows from those of `inside` (AUROC). Targets are not looked
   at. Errors as of tutti_evaluate. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_evaluate_ood(tutti_context *context, const struct tutti_pool *inside,
                                                               const struct tutti_pool *outside,
                                                               const tutti_ensemble *ensemble,
                                                               struct tutti_evaluation *evaluation);

/* What an ensemble says of one output of a row. */
struct tutti_uncertainty {
  double mean; /* regression: in the target's unit; classification: probability (of a vote: share) of the class */
  /* Regression: standard deviations in the target's unit, total^2 = aleatoric^2 + epistemic^2. Classification, the same
     for each class of a row, in nats: total is the entropy of the mean probabilities, aleatoric the members' mean entropy,
     epistemic their difference, the mutual information. */
  double aleatoric, epistemic, total;
};
/* Predict the pool's rows (targets are not looked at) into predicted[rows][outputs]. Errors as of tutti_evaluate. */
TUTTI_API TUTTI_NODISCARD enum tutti_status
tutti_ensemble_predict(tutti_context *context, const struct tutti_pool *pool, const tutti_ensemble *ensemble,
                       const struct tutti_evaluation_options *options, struct tutti_uncertainty *predicted);

TUTTI_END_DECLS
#endif
