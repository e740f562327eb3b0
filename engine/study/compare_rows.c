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
  tutti_ensemble *ensemble;
  uint64_t *trials;
  struct tutti_targets targets;
  struct tutti_pool pool;
};

static void release_sources(struct sources *sources) {
  tutti_run_pool_release(NULL, &sources->pool);
  tutti_npy_unmap(&sources->truth);
  tutti_ensemble_destroy(sources->ensemble);
  tutti_free(sources->trials);
}

static enum tutti_status read_ensemble(tutti_context *context, const struct compare_run *run, struct sources *sources,
                                       bool *there) {
  enum tutti_status status = TUTTI_OK;
  char *text = NULL;
  TUTTI_TRY_OUT(context, tutti_run_file_read(context, run->directory, TUTTI_RUN_FILE_ENSEMBLE, &text));
  *there = text != NULL;
  if (!*there)
    goto out;
  TUTTI_TRY_OUT(context, tutti_ensemble_parse(context, text, &sources->ensemble));
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
  TUTTI_TRY_OUT(context, tutti_npy_map(context, path, &map));
  if (map.rank != 2 || map.shape[1] == 0)
    status = TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "%s: expected the probabilities of classes", path);
  *classes = map.shape[1];
out:
  tutti_npy_unmap(&map);
  tutti_free(path);
  return status;
}

static enum tutti_status open_sources(tutti_context *context, const struct compare_run *run, const char *split,
                                      struct sources *sources, bool *there) {
  TUTTI_TRY(context, read_ensemble(context, run, sources, there));
  if (*there)
    TUTTI_TRY(context, read_truth(context, run, split, sources, there));
  if (!*there)
    return TUTTI_OK;
  struct tutti_targets *targets = &sources->targets;
  targets->size = sizeof *targets;
  bool classes = targets->kind == TUTTI_TASK_CLASSIFICATION;
  targets->rows = sources->truth.shape[0];
  if (classes) {
    targets->labels = sources->truth.data;
    TUTTI_TRY(context, count_classes(context, run, split, sources->trials[0], &targets->outputs));
  } else {
    targets->values = sources->truth.data;
    targets->outputs = targets->rows > 0 ? sources->truth.count / targets->rows : 0;
  }
  return tutti_run_pool_map(context, run->directory, split, targets, classes ? TUTTI_LOSS_ERROR : TUTTI_LOSS_MSE,
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

/* losses[rows] of a run's ensemble; NULL if it has no ensemble, or the split has no targets. */
static enum tutti_status row_losses(tutti_context *context, const struct compare_run *run, const char *split,
                                    double **losses, size_t *rows) {
  enum tutti_status status = TUTTI_OK;
  struct sources sources = {.pool = {.size = sizeof sources.pool}};
  struct tutti_combiner combiner = {0};
  bool there;
  TUTTI_TRY_OUT(context, open_sources(context, run, split, &sources, &there));
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

/* --- duels ------------------------------------------------------------------------------------------------------- */

/* Add the evidence from a pair of runs about their variants. */
static void add_pair(struct compare *compare, const struct compare_run *one, const double *one_losses,
                     const struct compare_run *other, const double *other_losses, size_t rows) {
  uint64_t only_one = 0, only_other = 0;
  size_t place = (one->data_set * compare->variants + one->variant) * compare->variants + other->variant;
  for (size_t i = 0; i < rows; i++) {
    only_one += one_losses[i] > other_losses[i];
    only_other += other_losses[i] > one_losses[i];
  }
  compare->row_better[place] += tutti_better_probability(only_one, only_other);
  compare->row_pairs[place]++;
}

/* All pairs of a block; losses[compared] and rows[compared] are scratch. */
static enum tutti_status add_block(tutti_context *context, struct compare *compare, size_t block, double **losses,
                                   size_t *rows) {
  enum tutti_status status = TUTTI_OK;
  for (size_t i = 0; i < compare->compared; i++) {
    struct compare_run *run = &compare->runs[i];
    losses[i] = NULL;
    if (run->block != block || row_losses(context, run, compare->split, &losses[i], &rows[i]) == TUTTI_OK)
      continue;
    tutti_free(losses[i]);
    losses[i] = NULL;
    TUTTI_TRY_OUT(context, tutti_strdup(context, tutti_error_message(context), &run->no_rows));
    tutti_error_clear(context);
  }
  for (size_t i = 0; i < compare->compared; i++)
    for (size_t j = 0; losses[i] && j < compare->compared; j++)
      if (losses[j] && compare->runs[i].variant < compare->runs[j].variant && rows[i] == rows[j] &&
          strcmp(compare->runs[i].rows, compare->runs[j].rows) == 0)
        add_pair(compare, &compare->runs[i], losses[i], &compare->runs[j], losses[j], rows[i]);
out:
  for (size_t i = 0; i < compare->compared; i++) {
    tutti_free(losses[i]);
    losses[i] = NULL;
  }
  return status;
}

enum tutti_status tutti_compare_rows(tutti_context *context, struct compare *compare) {
  enum tutti_status status = TUTTI_OK;
  size_t places = compare->variants * compare->variants;
  double **losses = NULL;
  size_t *rows = NULL;
  TUTTI_TRY_OUT(context,
                tutti_alloc(context, compare->data_sets, places * sizeof *compare->row_better, &compare->row_better));
  TUTTI_TRY_OUT(context,
                tutti_alloc(context, compare->data_sets, places * sizeof *compare->row_pairs, &compare->row_pairs));
  TUTTI_TRY_OUT(context, tutti_alloc(context, compare->compared, sizeof *losses, &losses));
  TUTTI_TRY_OUT(context, tutti_alloc(context, compare->compared, sizeof *rows, &rows));
  for (size_t b = 0; b < compare->block_count && compare->variants > 1; b++)
    TUTTI_TRY_OUT(context, add_block(context, compare, b, losses, rows));
  for (size_t i = 0; i < compare->data_sets * places; i++)
    compare->row_better[i] /= (double)compare->row_pairs[i]; /* NaN where there is none */
out:
  tutti_free(losses);
  tutti_free(rows);
  return status;
}

static enum tutti_status row_duel_json(tutti_context *context, const struct compare *compare, size_t one, size_t other,
                                       json_t **json) {
  enum tutti_status status = TUTTI_OK;
  json_t *sets = json_array();
  double *better = NULL, probability = NAN;
  size_t count = 0;
  *json = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, compare->data_sets, sizeof *better, &better));
  for (size_t d = 0; d < compare->data_sets; d++) {
    double value = compare->row_better[(d * compare->variants + one) * compare->variants + other];
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

enum tutti_status tutti_compare_rows_json(tutti_context *context, const struct compare *compare, json_t *duels) {
  for (size_t a = 0; a < compare->variants; a++)
    for (size_t b = a + 1; b < compare->variants; b++) {
      json_t *duel;
      TUTTI_TRY(context, row_duel_json(context, compare, a, b, &duel));
      if (duel)
        json_array_append_new(duels, duel);
    }
  return TUTTI_OK;
}
