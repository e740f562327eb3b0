/* evaluate_impl.h - finds an ensemble's members in a pool and combines them row by row; for engine/ alone. */
#ifndef TUTTI_EVALUATE_IMPL_H
#define TUTTI_EVALUATE_IMPL_H

#include <math.h>
#include <tutti/diversity.h>
#include <tutti/mixture.h>

/* What a parameter of [evaluation] needs in order to act, where it is not there: "a regression"; NULL: it acts, or
   there is no such parameter. calibrates: a calibrator is fitted. */
const char *tutti_evaluation_needs(const char *key, enum tutti_task_kind kind, bool calibrates);

struct tutti_combiner {
  const struct tutti_pool *pool;
  size_t first, targets; /* regression: the outputs that metrics are of, all of the pool's unless one is looked at */
  size_t members;
  uint64_t picks; /* that the weights count, or 0 */
  enum tutti_combination combination;
  const float **predictions;                 /* [members] -> [rows][width], borrowed from the pool */
  const float **epistemic;                   /* [members] -> their own part (predictions.h), or NULL; likewise */
  bool parts;                                /* some member tells its own part */
  const struct tutti_calibrated *calibrated; /* calibrate_impl.h; NULL: members are what was trained */
  double *weights;                           /* [members], sum 1 */
  double *means, *variances;                 /* [members] for the current row and output */
  double *probabilities;                     /* [outputs] of the current row: the weighted mean */
  double *shares;                            /* [outputs] of the current row: the weight that votes for each class */
  double *row;                               /* [outputs], a member's */
};

/* Find the members. Call release even after a failure. */
TUTTI_NODISCARD enum tutti_status tutti_combiner_init(tutti_context *context, const struct tutti_pool *pool,
                                                      const tutti_ensemble *ensemble, struct tutti_combiner *combiner);
void tutti_combiner_release(struct tutti_combiner *combiner);
/* To be called before each row: once in a while, look whether the work was cancelled (TUTTI_ERROR_CANCELLED). */
static inline enum tutti_status tutti_combiner_go_on(tutti_context *context, size_t row) {
  return row % 1024 == 0 && tutti_cancelled(context) ? TUTTI_FAIL(context, TUTTI_ERROR_CANCELLED, "interrupted")
                                                     : TUTTI_OK;
}
/* The probabilities that a member gives the classes of a row: [outputs]. */
const float *tutti_combiner_member_row(const struct tutti_combiner *combiner, size_t member, size_t row);
/* Regression: the mixture at a row and output; valid until the next call. */
struct tutti_mixture tutti_combiner_mixture(struct tutti_combiner *combiner, size_t row, size_t output);
/* Regression: the moments of that mixture. Of its epistemic variance, *within (may be NULL) is what is the members'
   own; the rest is between them. */
struct tutti_moments tutti_combiner_moments(const struct tutti_combiner *combiner, const struct tutti_mixture *mixture,
                                            size_t row, size_t output, enum tutti_epistemic epistemic, double *within);
/* Classification: the members' mean mutual information of label and draw at a row; 0 for a vote, which is of labels. */
double tutti_combiner_within(const struct tutti_combiner *combiner, size_t row);
/* Classification: compute probabilities and shares of a row; returns the members' mean entropy. */
double tutti_combiner_probabilities(struct tutti_combiner *combiner, size_t row);
/* The ensemble's probabilities for the row, according to its combination. */
const double *tutti_combiner_classes(const struct tutti_combiner *combiner);

/* As tutti_evaluate, of one of the targets of a regression alone: the metrics that it would have if there were no
   others. */
TUTTI_NODISCARD enum tutti_status tutti_evaluate_target(tutti_context *context, const struct tutti_pool *pool,
                                                        const tutti_ensemble *ensemble,
                                                        const struct tutti_evaluation_options *options, size_t target,
                                                        tutti_evaluation **evaluation);

/* As tutti_evaluate_diversity, where not every candidate has an architecture that was looked at: of architectures, only
   pairs count in which both are networks[count]. */
TUTTI_NODISCARD enum tutti_status tutti_evaluate_diversity_of(tutti_context *context, const tutti_scope *scope,
                                                              size_t count, const tutti_candidate *const *candidates,
                                                              const bool *networks, const uint64_t *picks,
                                                              tutti_evaluation **evaluation);

/* --- metrics --- */

/* A metric is defined once, in the table of the file that computes it. Nothing else needs to know a new one; `make
   reference` writes it into docs/metrics.md. */
struct metric_entry {
  struct tutti_metric said;
  double (*value)(const void *of, size_t which); /* `of`: the sums of that file */
  size_t which;                                  /* distinguishes metrics that share a function; else 0 */
  bool (*defined)(const void *of, size_t which); /* NULL: always */
};
/* The field after `which` is `defined`, as in .defined = of_pairs. */
#define METRIC(...) METRIC_SHOWN(IN_FULL, __VA_ARGS__)
/* METRIC_SHOWN(IN_CURVES, ...) and METRIC_SHOWN(IN_BRIEF, ...): shown where only a few are (enum
   tutti_metric_shown). */
#define METRIC_SHOWN(where, name, unit, better, text, value_, ...)                                                     \
  {                                                                                                                    \
    .said = {sizeof(struct tutti_metric), name, unit, TUTTI_BETTER_##better, text, (double)NAN, TUTTI_METRIC_##where}, \
    .value = value_, .which = __VA_ARGS__                                                                              \
  }
/* The double at an offset of a struct. */
#define METRIC_FIELD(pointer, offset) (*(const double *)(const void *)((const char *)(pointer) + (offset)))

struct metric_table {
  size_t count;
  const struct metric_entry *entries;
};
#define METRIC_TABLE(entries)                                                                                          \
  { sizeof(entries) / sizeof *(entries), entries }
extern const struct metric_table metrics_of_classification, metrics_of_ood, metrics_of_regression, metrics_of_diversity;

/* The metrics of a table that are defined. */
TUTTI_NODISCARD enum tutti_status tutti_evaluation_create(tutti_context *context, const struct metric_table *table,
                                                          const void *of, tutti_evaluation **evaluation);
/* Add a table, whose values[rows][columns] are copied. */
TUTTI_NODISCARD enum tutti_status tutti_evaluation_add_table(tutti_context *context, tutti_evaluation *evaluation,
                                                             const char *name, size_t rows, size_t columns,
                                                             const char *const *column, const double *values);
TUTTI_NODISCARD enum tutti_status tutti_evaluate_classification(tutti_context *context, struct tutti_combiner *combiner,
                                                                const struct tutti_evaluation_options *options,
                                                                tutti_evaluation **evaluation);
TUTTI_NODISCARD enum tutti_status tutti_evaluate_regression(tutti_context *context, struct tutti_combiner *combiner,
                                                            const struct tutti_evaluation_options *options,
                                                            tutti_evaluation **evaluation);

#endif
