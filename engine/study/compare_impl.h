/* compare_impl.h - the compared runs and their groups; for engine/study/ alone. */
#ifndef TUTTI_COMPARE_IMPL_H
#define TUTTI_COMPARE_IMPL_H

#include "engine/run/run_impl.h"

#include <jansson.h>
#include <math.h>
#include <tutti/compare.h>

/* A key of a run's effective recipe, as "section.key". */
struct compare_item {
  char *key, *value;
};

/* An extra key beside the recipe's own, for runs whose recipe has a name. */
#define COMPARE_RECIPE_KEY "recipe"

/* The metric that every run has: its best trial's loss on the validation rows. */
#define COMPARE_BEST_TRIAL "best-trial"
/* Before the name of a metric of predictions after the calibrator, and the key of the metric without it. */
#define COMPARE_CALIBRATED "calibrated-"
#define COMPARE_CALIBRATED_OF "calibrated_of"

struct compare_run {
  char *directory, *real; /* as it was given; without links */
  char *recipe;           /* name of the recipe in the ablation; NULL outside ablations */
  int64_t seed;
  struct compare_item *items; /* without circumstances and the seed */
  size_t count, room;
  json_t *summary; /* NULL when there is none */
  json_t *metrics; /* metrics of the split, each followed by itself after the calibrator; then the best trial's loss */
  char *rows;      /* checksums of the split's row numbers and targets */
  char *reason;    /* why the run is left out; NULL if it is not */
  char *no_rows;   /* why its predictions cannot be compared row by row; NULL if they can, or if there are none */
  json_t *splits;  /* names of the splits that it has metrics of */
  size_t data_set, variant, block;
};

struct compare_block {
  size_t data_set;
  int64_t seed;
  size_t first; /* its first run */
};

/* What rows say about pairs of variants, one < other, on each data set. Both [data_sets][variants][variants]. */
struct compare_evidence {
  double *better; /* the probability that `one` is better; NaN where nothing is known */
  size_t *pairs;  /* the number of pairs of runs that it is the mean of */
};

struct compare {
  const char *split;
  struct compare_run *runs; /* the ones that are left out come last */
  size_t compared, count, room;
  const char **keys; /* [key_count], what variants differ in */
  size_t key_count;
  struct compare_block *blocks; /* by data set, then by seed */
  size_t block_count, data_sets, variants;
  const char **data_keys; /* [data_key_count]: keys that say where rows come from */
  size_t data_key_count;
  size_t *data_set_runs, *variant_runs; /* [data_sets], [variants]: the first run of each */
  char **data_set_names;
  struct compare_evidence evidence; /* of the kept ensembles */
};

/* --- reading (compare_runs.c) ------------------------------------------------------------------------------------ */

/* Read the runs in these directories. */
TUTTI_NODISCARD enum tutti_status tutti_compare_read(tutti_context *context, struct compare *compare, size_t count,
                                                     const char *const *directories);
void tutti_compare_release(struct compare *compare);
/* The run directories that these stand for, each once: (*runs)[*found] (free each, and the array, with tutti_free). */
TUTTI_NODISCARD enum tutti_status tutti_compare_find(tutti_context *context, size_t count,
                                                     const char *const *directories, size_t *found, char ***runs);
/* The value of a key in a run's recipe, or NULL. */
const char *tutti_compare_value(const struct compare_run *run, const char *key);

/* --- metrics by name (compare_metrics.c) ------------------------------------------------------------------------- */

/* The place of the metric with this name, or the number of metrics. */
size_t tutti_compare_metric_place(const json_t *metrics, const char *name);
/* The metric with this name, or NULL. */
const json_t *tutti_compare_metric(const json_t *metrics, const char *name);
/* Which values of a metric (an object with "better") are better. */
enum tutti_better tutti_compare_better(const json_t *metric);

/* --- after the calibrator (compare_calibrated.c) ----------------------------------------------------------------- */

/* Put the split's metrics after the calibrator (an array as in summary.json; NULL: none) into run->metrics. */
TUTTI_NODISCARD enum tutti_status tutti_compare_take_calibrated(tutti_context *context, struct compare_run *run,
                                                                const json_t *calibrated);
/* Where some runs have such metrics, give them to the others, too: with the values that they have without a
   calibrator. */
TUTTI_NODISCARD enum tutti_status tutti_compare_fill_calibrated(tutti_context *context, struct compare *compare);
/* A calibrator that leaves a mean where it is stores it in floats: that is no change of a metric. */
static inline bool tutti_compare_is_rounding(double before, double after) {
  return fabs(after - before) <= 1e-6 * fabs(before);
}
/* Does a calibrator change the metric `of` of some run? `name` is the metric after it. */
bool tutti_compare_is_changed(const struct compare *compare, const char *name, const char *of);

/* --- grouping (compare_groups.c) --------------------------------------------------------------------------------- */

/* Find data sets, blocks and variants. If `count` > 0, variants differ only in these keys. */
TUTTI_NODISCARD enum tutti_status tutti_compare_group(tutti_context *context, struct compare *compare, size_t count,
                                                      const char *const *by);

/* --- what is no pair (compare_pairs.c) --------------------------------------------------------------------------- */

/* Why two runs of a block are no pair: they have other rows. Free *text with tutti_free. */
TUTTI_NODISCARD enum tutti_status tutti_compare_other_rows(tutti_context *context, const struct compare *compare,
                                                           const struct compare_run *one,
                                                           const struct compare_run *other, char **text);
/* Why no two runs are a pair, and what to do; NULL if some are, if there is one run, or if the variants were chosen so
   that there is one. Free *text with tutti_free. */
TUTTI_NODISCARD enum tutti_status tutti_compare_unpaired(tutti_context *context, const struct compare *compare,
                                                         char **text);

/* --- standings (compare.c) --------------------------------------------------------------------------------------- */

/* Standings and duels of the variants as JSON arrays. value_of() gives the value of the run with that number (NaN:
   none). */
TUTTI_NODISCARD enum tutti_status
tutti_compare_standings(tutti_context *context, const struct compare *compare, enum tutti_better better,
                        double (*value_of)(const void *argument, const struct compare *compare, size_t run),
                        const void *argument, json_t **placings, json_t **duels);

/* --- row by row (compare_rows.c) --------------------------------------------------------------------------------- */

/* Compare the kept ensembles' predictions for the rows of the split: fill compare->evidence. */
TUTTI_NODISCARD enum tutti_status tutti_compare_rows(tutti_context *context, struct compare *compare);
/* Add the Poisson-binomial test for each pair of variants to an array. */
TUTTI_NODISCARD enum tutti_status tutti_compare_rows_json(tutti_context *context, const struct compare *compare,
                                                          const struct compare_evidence *evidence, json_t *duels);

/* The same by hand. Open, add the pairs among some runs, several times if need be, then close; release it in any
   case. losses [compared][rows of the run]; NULL for a run that takes no part. */
TUTTI_NODISCARD enum tutti_status tutti_compare_evidence_open(tutti_context *context, const struct compare *compare,
                                                              struct compare_evidence *evidence);
void tutti_compare_evidence_add(const struct compare *compare, struct compare_evidence *evidence, double *const *losses,
                                const size_t *rows);
void tutti_compare_evidence_close(const struct compare *compare, struct compare_evidence *evidence);
void tutti_compare_evidence_release(struct compare_evidence *evidence);
/* losses[rows] on the split's rows of an ensemble of the run's trials: the text of an ensemble.json, or NULL for the
   kept one. NULL where there is no ensemble, or the split has no targets. Free it with tutti_free. */
TUTTI_NODISCARD enum tutti_status tutti_compare_row_losses(tutti_context *context, const struct compare_run *run,
                                                           const char *split, const char *ensemble, double **losses,
                                                           size_t *rows);

/* --- over time (compare_time.c) ---------------------------------------------------------------------------------- */

/* Standings after `step`, 2 `step`, ... trials, as "over_time" of docs/ablation.md. */
TUTTI_NODISCARD enum tutti_status tutti_compare_time(tutti_context *context, const struct compare *compare,
                                                     uint64_t step, bool reselect, json_t **json);
/* Means of the standings after each of the last `last` numbers of trials, as "last" of docs/ablation.md. */
TUTTI_NODISCARD enum tutti_status tutti_compare_last(tutti_context *context, const struct compare *compare,
                                                     uint64_t last, json_t **json);
/* Their means over the steps of a course: an object like it, with one standing, duel and test instead of those at every
   step (compare_last.c). */
json_t *tutti_compare_mean_of(const json_t *course);

#endif
