/* compare_rows.c - compares ensembles row by row: the rows that only one of two gets wrong, or on which one is worse,
   and the Poisson-binomial test over data sets (Lacoste et al., 2014). On a data set, two variants have one
   probability: the mean over its pairs of runs, one pair per seed. Adding up the rows of several seeds instead would
   count a row as often as splits share it. */
#include "compare_impl.h"

#include "engine/evaluation/evaluate_impl.h"
#include "core/base/file_impl.h"
#include "engine/run/trial_impl.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* The data from which rows' losses are computed. */
struct sources {
  struct tutti_npy truth; /* labels or values of the rows */
  double *values;         /* the latter from their origins, as predictions are */
  tutti_ensemble *ensemble;
  uint64_t *trials;
  struct tutti_reports reports;
  struct tutti_targets targets;
  struct tutti_pool pool;
};

static void release_sources(struct sources *sources) {
  tutti_run_pool_release(NULL, &sources->pool);
  tutti_npy_unmap(&sources->truth);
  tutti_free(sources->values);
  tutti_reports_release(&sources->reports);
  tutti_ensemble_destroy(sources->ensemble);
  tutti_free(sources->trials);
}

/* Parse the given ensemble, or else the run's own. */
static enum tutti_status read_ensemble(tutti_context *context, const struct compare_run *run, const char *given,
                                       struct sources *sources, bool *there) {
  enum tutti_status status = TUTTI_OK;
  char *text = NULL;
  if (!given)
    TUTTI_TRY_OUT(context, tutti_run_read_ensemble(context, run->directory, &text));
  *there = given || text;
  if (!*there)
    goto out;
  TUTTI_TRY_OUT(context, tutti_ensemble_parse(context, given ? given : text, &sources->ensemble));
  TUTTI_TRY_OUT(context, tutti_run_members(context, sources->ensemble, &sources->trials));
out:
  tutti_free(text);
  return status;
}

/* Map a split's labels, or else the values of its targets. */
static enum tutti_status read_truth(tutti_context *context, const struct compare_run *run, const char *split,
                                    struct sources *sources, bool *there) {
  static const struct {
    enum tutti_split_file file;
    enum tutti_element element;
    enum tutti_task_kind kind;
  } forms[] = {{TUTTI_SPLIT_FILE_LABELS, TUTTI_I32, TUTTI_TASK_CLASSIFICATION},
               {TUTTI_SPLIT_FILE_TARGETS, TUTTI_F64, TUTTI_TASK_REGRESSION}};
  *there = false;
  for (size_t i = 0; i < 2 && !*there; i++) {
    char *path = NULL;
    enum tutti_status status = tutti_run_split_path(context, run->directory, split, forms[i].file, &path);
    *there = status == TUTTI_OK && access(path, F_OK) == 0;
    if (*there)
      status = tutti_run_check_file(context, path);
    if (*there && status == TUTTI_OK)
      status = tutti_npy_map(context, path, &sources->truth);
    if (status == TUTTI_OK && *there && (sources->truth.element != forms[i].element || sources->truth.rank == 0))
      status = TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "%s: expected the targets of split %s", path, split);
    tutti_free(path);
    TUTTI_TRY(context, status);
    sources->targets.kind = forms[i].kind;
  }
  return TUTTI_OK;
}

/* The number of classes is that of the predictions. */
static enum tutti_status count_classes(tutti_context *context, const struct compare_run *run, const char *split,
                                       uint64_t trial, size_t *classes) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_npy map = {0};
  char *path = NULL;
  TUTTI_TRY_OUT(context, tutti_trial_predictions_path(context, run->directory, trial, split, &path));
  TUTTI_TRY_OUT(context, tutti_run_check_trial(context, run->directory, trial, path));
  TUTTI_TRY_OUT(context, tutti_npy_map(context, path, &map));
  if (map.rank != 2 || map.shape[1] == 0)
    status = TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "%s: expected the probabilities of classes", path);
  *classes = map.shape[1];
out:
  tutti_npy_unmap(&map);
  tutti_free(path);
  return status;
}

/* What the catalogue says of the trials' files. */
static enum tutti_status read_reports(tutti_context *context, const struct compare_run *run, struct sources *sources) {
  enum tutti_status status = TUTTI_OK;
  tutti_catalogue *catalogue = NULL;
  char *path = NULL;
  TUTTI_TRY_OUT(context, tutti_run_file_path(context, run->directory, TUTTI_RUN_FILE_CATALOGUE, &path));
  TUTTI_TRY_OUT(context, tutti_catalogue_open(context, path, false, &catalogue));
  TUTTI_TRY_OUT(context, tutti_reports_load(context, catalogue, &sources->reports));
out:
  tutti_catalogue_close(catalogue);
  tutti_free(path);
  return status;
}

/* Take the origins from the values of the targets. */
static enum tutti_status centre(tutti_context *context, const struct compare_run *run, struct sources *sources) {
  enum tutti_status status;
  struct tutti_targets *targets = &sources->targets;
  const double *values = sources->truth.data;
  double *origins = NULL;
  targets->outputs = targets->rows > 0 ? sources->truth.count / targets->rows : 0;
  TUTTI_TRY_OUT(context, tutti_alloc(context, targets->outputs, sizeof *origins, &origins));
  TUTTI_TRY_OUT(context, tutti_run_origins(context, run->directory, targets->outputs, origins));
  TUTTI_TRY_OUT(context, tutti_alloc(context, sources->truth.count, sizeof *sources->values, &sources->values));
  for (size_t i = 0; i < targets->rows * targets->outputs; i++)
    sources->values[i] = values[i] - origins[i % targets->outputs];
  targets->values = sources->values;
out:
  tutti_free(origins);
  return status;
}

static enum tutti_status open_sources(tutti_context *context, const struct compare_run *run, const char *split,
                                      const char *ensemble, struct sources *sources, bool *there) {
  TUTTI_TRY(context, read_ensemble(context, run, ensemble, sources, there));
  if (*there)
    TUTTI_TRY(context, read_truth(context, run, split, sources, there));
  if (!*there)
    return TUTTI_OK;
  TUTTI_TRY(context, read_reports(context, run, sources));
  struct tutti_targets *targets = &sources->targets;
  targets->size = sizeof *targets;
  bool classes = targets->kind == TUTTI_TASK_CLASSIFICATION;
  targets->rows = sources->truth.shape[0];
  if (classes) {
    targets->labels = sources->truth.data;
    TUTTI_TRY(context, count_classes(context, run, split, sources->trials[0], &targets->outputs));
  } else {
    TUTTI_TRY(context, centre(context, run, sources));
  }
  const struct tutti_run_pool source = {run->directory, NULL, NULL, &sources->reports};
  return tutti_run_pool_map(context, &source, split, targets, classes ? TUTTI_LOSS_ERROR : TUTTI_LOSS_MSE,
                            tutti_ensemble_size(sources->ensemble), sources->trials, &sources->pool);
}

/* 0 or 1 for a class; for regression the squared error, summed over outputs. */
static double loss_of_row(struct tutti_combiner *combiner, size_t row) {
  const struct tutti_pool *pool = combiner->pool;
  double sum = 0;
  if (pool->kind == TUTTI_TASK_CLASSIFICATION) {
    (void)tutti_combiner_probabilities(combiner, row);
    return tutti_label_of(pool->outputs, tutti_combiner_classes(combiner)) != (size_t)pool->labels[row];
  }
  for (size_t o = 0; o < pool->outputs; o++) {
    struct tutti_mixture mixture = tutti_combiner_mixture(combiner, row, o);
    double mean = tutti_mixture_moments(&mixture, TUTTI_EPISTEMIC_POPULATION).mean;
    double error = mean - pool->values[row * pool->outputs + o];
    sum += error * error;
  }
  return sum;
}

enum tutti_status tutti_compare_row_losses(tutti_context *context, const struct compare_run *run, const char *split,
                                           const char *ensemble, double **losses, size_t *rows) {
  enum tutti_status status = TUTTI_OK;
  struct sources sources = {.pool = {.size = sizeof sources.pool}};
  struct tutti_combiner combiner = {0};
  bool there;
  *losses = NULL;
  TUTTI_TRY_OUT(context, open_sources(context, run, split, ensemble, &sources, &there));
  if (!there)
    goto out;
  *rows = sources.pool.rows;
  TUTTI_TRY_OUT(context, tutti_combiner_init(context, &sources.pool, sources.ensemble, &combiner));
  TUTTI_TRY_OUT(context, tutti_alloc(context, *rows, sizeof **losses, losses));
  for (size_t i = 0; i < *rows; i++)
    (*losses)[i] = loss_of_row(&combiner, i);
out:
  tutti_combiner_release(&combiner);
  release_sources(&sources);
  return status;
}

/* --- evidence ---------------------------------------------------------------------------------------------------- */

static size_t places_of(const struct compare *compare) {
  return compare->data_sets * compare->variants * compare->variants;
}

static size_t place_of(const struct compare *compare, size_t data_set, size_t one, size_t other) {
  return (data_set * compare->variants + one) * compare->variants + other;
}

enum tutti_status tutti_compare_evidence_open(tutti_context *context, const struct compare *compare,
                                              struct compare_evidence *evidence) {
  TUTTI_TRY(context, tutti_alloc(context, places_of(compare), sizeof *evidence->better, &evidence->better));
  return tutti_alloc(context, places_of(compare), sizeof *evidence->pairs, &evidence->pairs);
}

void tutti_compare_evidence_release(struct compare_evidence *evidence) {
  tutti_free(evidence->better);
  tutti_free(evidence->pairs);
}

void tutti_compare_evidence_close(const struct compare *compare, struct compare_evidence *evidence) {
  for (size_t i = 0; i < places_of(compare); i++)
    evidence->better[i] /= (double)evidence->pairs[i]; /* NaN where there is none */
}

/* Are these a pair: two variants on the same rows? */
static bool is_pair(const struct compare_run *one, const struct compare_run *other) {
  return one->block == other->block && one->variant < other->variant && strcmp(one->rows, other->rows) == 0;
}

static void add_pair(double *better, const double *one, const double *other, size_t rows) {
  uint64_t only_one = 0, only_other = 0;
  for (size_t i = 0; i < rows; i++) {
    only_one += one[i] > other[i];
    only_other += other[i] > one[i];
  }
  *better += tutti_better_probability(only_one, only_other);
}

void tutti_compare_evidence_add(const struct compare *compare, struct compare_evidence *evidence, double *const *losses,
                                const size_t *rows) {
  for (size_t i = 0; i < compare->compared; i++)
    for (size_t j = 0; losses[i] && j < compare->compared; j++) {
      const struct compare_run *one = &compare->runs[i], *other = &compare->runs[j];
      if (!losses[j] || rows[i] != rows[j] || !is_pair(one, other))
        continue;
      size_t place = place_of(compare, one->data_set, one->variant, other->variant);
      add_pair(&evidence->better[place], losses[i], losses[j], rows[i]);
      evidence->pairs[place]++;
    }
}

/* All pairs of a block; losses[compared] and rows[compared] are scratch. A run whose predictions cannot be read takes
   no part. */
static enum tutti_status add_block(tutti_context *context, struct compare *compare, size_t block, double **losses,
                                   size_t *rows) {
  enum tutti_status status = TUTTI_OK;
  for (size_t i = 0; i < compare->compared; i++) {
    struct compare_run *run = &compare->runs[i];
    losses[i] = NULL;
    if (run->block != block ||
        tutti_compare_row_losses(context, run, compare->split, NULL, &losses[i], &rows[i]) == TUTTI_OK)
      continue;
    tutti_free(losses[i]);
    losses[i] = NULL;
    TUTTI_TRY_OUT(context, tutti_strdup(context, tutti_error_message(context), &run->no_rows));
    tutti_error_clear(context);
  }
  tutti_compare_evidence_add(compare, &compare->evidence, losses, rows);
out:
  for (size_t i = 0; i < compare->compared; i++) {
    tutti_free(losses[i]);
    losses[i] = NULL;
  }
  return status;
}

enum tutti_status tutti_compare_rows(tutti_context *context, struct compare *compare) {
  enum tutti_status status = TUTTI_OK;
  double **losses = NULL;
  size_t *rows = NULL;
  TUTTI_TRY_OUT(context, tutti_compare_evidence_open(context, compare, &compare->evidence));
  TUTTI_TRY_OUT(context, tutti_alloc(context, compare->compared, sizeof *losses, &losses));
  TUTTI_TRY_OUT(context, tutti_alloc(context, compare->compared, sizeof *rows, &rows));
  for (size_t b = 0; b < compare->block_count && compare->variants > 1; b++)
    TUTTI_TRY_OUT(context, add_block(context, compare, b, losses, rows));
  tutti_compare_evidence_close(compare, &compare->evidence);
out:
  tutti_free(losses);
  tutti_free(rows);
  return status;
}

/* --- the test ---------------------------------------------------------------------------------------------------- */

static enum tutti_status row_duel_json(tutti_context *context, const struct compare *compare,
                                       const struct compare_evidence *evidence, size_t one, size_t other,
                                       json_t **json) {
  enum tutti_status status = TUTTI_OK;
  json_t *sets = json_array();
  double *better = NULL, probability = NAN;
  size_t count = 0;
  *json = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, compare->data_sets, sizeof *better, &better));
  for (size_t d = 0; d < compare->data_sets; d++) {
    double value = evidence->better[place_of(compare, d, one, other)];
    json_array_append_new(sets, isnan(value) ? json_null() : json_real(value));
    if (!isnan(value))
      better[count++] = value;
  }
  if (count > 0) {
    TUTTI_TRY_OUT(context, tutti_poisson_binomial_test(context, count, better, &probability));
    *json = json_pack("{s:I, s:I, s:O, s:f}", "one", (json_int_t)one, "other", (json_int_t)other, "data_sets", sets,
                      "better", probability);
  }
out:
  json_decref(sets);
  tutti_free(better);
  return status;
}

enum tutti_status tutti_compare_rows_json(tutti_context *context, const struct compare *compare,
                                          const struct compare_evidence *evidence, json_t *duels) {
  for (size_t a = 0; a < compare->variants; a++)
    for (size_t b = a + 1; b < compare->variants; b++) {
      json_t *duel;
      TUTTI_TRY(context, row_duel_json(context, compare, evidence, a, b, &duel));
      if (duel)
        json_array_append_new(duels, duel);
    }
  return TUTTI_OK;
}
