/* evaluate.h - an ensemble's predictions, made from its members', and how good and how sure they are. Definitions are
   those of docs/metrics.md. Members' predictions are read row by row: nothing of size [members][rows] is allocated. */
#ifndef TUTTI_EVALUATE_H
#define TUTTI_EVALUATE_H

#include <tutti/host.h>
#include <tutti/metrics.h>
#include <tutti/selector.h>

TUTTI_BEGIN_DECLS

/* Section [evaluation]. NULL means TUTTI_EVALUATION_DEFAULTS wherever these options are asked for. */
struct tutti_evaluation_options {
  size_t size;   /* sizeof(struct tutti_evaluation_options) */
  int epistemic; /* enum tutti_epistemic */
  int64_t bins;  /* of the expected calibration error, >= 1 */
  double level;  /* of central intervals (coverage, width), inside (0, 1) */
  int64_t folds; /* by which a calibrator is judged; 0 or 1: it is not */
};
#define TUTTI_EVALUATION_DEFAULTS                                                                                      \
  { sizeof(struct tutti_evaluation_options), TUTTI_EPISTEMIC_PICKS, 15, 0.95, 5 }
/* The parameter table of section [evaluation]. Static. */
TUTTI_API const struct tutti_params *tutti_evaluation_params(void);

enum tutti_better {
  TUTTI_BETTER_LOWER,
  TUTTI_BETTER_HIGHER,
  TUTTI_BETTER_NEITHER /* it only describes, like disagreement, or has a goal of its own, like coverage */
};
/* "lower", "higher" or "neither"; `better` must be one of the three. Static. */
TUTTI_API const char *tutti_better_name(enum tutti_better better);
/* The direction of that name; TUTTI_BETTER_NEITHER for any other text, and for NULL. */
TUTTI_API enum tutti_better tutti_better_parse(const char *name);

/* Where a metric is shown to people. */
enum tutti_metric_shown {
  TUTTI_METRIC_IN_FULL,   /* where all metrics are */
  TUTTI_METRIC_IN_CURVES, /* also in tutti curve, which has a column for each */
  TUTTI_METRIC_IN_BRIEF   /* also in tutti compare, unless others are asked for */
};

/* A metric with its value. Texts are static. */
struct tutti_metric {
  size_t size;      /* sizeof(struct tutti_metric) of the library */
  const char *name; /* "nll", "oracle-error", ... */
  const char *unit; /* "nats", "fraction", "target" (the unit of the targets), "" */
  enum tutti_better better;
  const char *text; /* its definition, one line for people, in the notation of docs/metrics.md */
  double value;     /* NaN: not known, like the NLL if members give no variance */
  enum tutti_metric_shown shown;
};

/* The tables of metrics, and the function that computes each. */
enum tutti_metric_table {
  TUTTI_METRICS_CLASSIFICATION, /* tutti_evaluate */
  TUTTI_METRICS_OOD,            /* tutti_evaluate_ood */
  TUTTI_METRICS_REGRESSION,     /* tutti_evaluate */
  TUTTI_METRICS_DIVERSITY,      /* tutti_evaluate_diversity, diversity.h */
  TUTTI_METRICS_FIT, /* a run of `tutti fit`. L in a name stands for a level of fit.levels, as in "coverage-0.9" */
  TUTTI_METRICS_COUNT
};
/* Metric number `index` of a table, with value NaN; static. NULL past the last, and for a number that is no table. */
TUTTI_API const struct tutti_metric *tutti_metric_at(enum tutti_metric_table table, size_t index);
/* Where the metric of that name is shown; TUTTI_METRIC_IN_FULL for a name that no table has. */
TUTTI_API enum tutti_metric_shown tutti_metric_shown_in(const char *name);

/* The metrics of an ensemble, in the order of their table, without those that are not defined for its combination or
   size. The caller of the function that makes one destroys it. */
typedef struct tutti_evaluation tutti_evaluation;
/* Destroy it; NULL is allowed. */
TUTTI_API void tutti_evaluation_destroy(tutti_evaluation *evaluation);
/* The number of metrics. */
TUTTI_API size_t tutti_evaluation_count(const tutti_evaluation *evaluation);
/* Metric number `index`, and tutti_evaluation_find: the metric of that name. NULL if there is none; borrowed until the
   evaluation is destroyed. */
TUTTI_API const struct tutti_metric *tutti_evaluation_metric(const tutti_evaluation *evaluation, size_t index);
TUTTI_API const struct tutti_metric *tutti_evaluation_find(const tutti_evaluation *evaluation, const char *name);

/* A table beside the metrics, for diagrams and pages. Texts are static. */
struct tutti_evaluation_table {
  size_t size;      /* sizeof(struct tutti_evaluation_table) of the library */
  const char *name; /* "reliability", "classes" */
  size_t rows, columns;
  const char *const *column; /* [columns]: "lower", "accuracy", ...; a column "class" holds numbers of classes */
  const double *values;      /* [rows][columns]; NaN: not defined, like the accuracy of no rows */
};
/* The number of tables; tutti_evaluation_table: table number `index`, NULL past the last, borrowed like a metric. */
TUTTI_API size_t tutti_evaluation_tables(const tutti_evaluation *evaluation);
TUTTI_API const struct tutti_evaluation_table *tutti_evaluation_table(const tutti_evaluation *evaluation, size_t index);

/* Evaluate an ensemble on a pool with targets that has each member's trial. The caller destroys *evaluation; NULL on
   failure. TUTTI_ERROR_USAGE: a member is not in the pool, there are no rows or no targets, a label is no class, or an
   option is out of range. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_evaluate(tutti_context *context, const struct tutti_pool *pool,
                                                           const tutti_ensemble *ensemble,
                                                           const struct tutti_evaluation_options *options,
                                                           tutti_evaluation **evaluation);

/* How an ensemble of classifiers takes inputs out of distribution, the pool `outside`: its mean entropy, mutual
   information and confidence there, and how well each of them tells these rows from those of `inside` (AUROC). Targets
   are not used. Ownership and errors as for tutti_evaluate. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_evaluate_ood(tutti_context *context, const struct tutti_pool *inside,
                                                               const struct tutti_pool *outside,
                                                               const tutti_ensemble *ensemble,
                                                               tutti_evaluation **evaluation);

/* What an ensemble says about one output of a row: the four quantities of the law of total variance. Never grows. */
struct tutti_uncertainty {
  double mean; /* regression: in the target's unit; classification: probability (with a vote: share) of the class */
  /* Regression: standard deviations in the target's unit, total^2 = aleatoric^2 + epistemic^2. Classification, the same
     for each class of a row, in nats: total is the entropy of the means, aleatoric the members' mean entropy (with a
     vote 0: each votes for one label), epistemic their difference, the mutual information. What members tell of
     themselves (predictions.h) counts as epistemic, and not as aleatoric. */
  double aleatoric, epistemic, total;
};
/* Predict the pool's rows, without using targets, into predicted[rows][outputs]. Errors as for tutti_evaluate. */
TUTTI_API TUTTI_NODISCARD enum tutti_status
tutti_ensemble_predict(tutti_context *context, const struct tutti_pool *pool, const tutti_ensemble *ensemble,
                       const struct tutti_evaluation_options *options, struct tutti_uncertainty *predicted);

/* What the epistemic part of an output is made of. Never grows. */
struct tutti_epistemic_parts {
  /* Between the members, and within them: what the members themselves do not know, where they tell it (predictions.h).
     Regression: standard deviations, epistemic^2 = between^2 + within^2. Classification: nats, the same for each class
     of a row, epistemic = between + within. */
  double between, within;
};
/* The parts of what tutti_ensemble_predict gives as epistemic, into parts[rows][outputs]. *told: does any member tell
   its own part? If not, everything is between. Errors as for tutti_evaluate. */
TUTTI_API TUTTI_NODISCARD enum tutti_status
tutti_ensemble_epistemic_parts(tutti_context *context, const struct tutti_pool *pool, const tutti_ensemble *ensemble,
                               const struct tutti_evaluation_options *options, struct tutti_epistemic_parts *parts,
                               bool *told);

TUTTI_END_DECLS
#endif
