/* rows.c - what the ensemble says of each row of a split. */
#include "report_impl.h"

#include "engine/data/split_names.h"
#include "engine/evaluation/calibrate_impl.h"

#include <math.h>
#include <string.h>

/* The split's targets, in their own units. */
static enum tutti_status gather_targets(tutti_context *context, const tutti_split *split,
                                        const struct tutti_targets *targets, struct report_rows *rows) {
  if (targets->labels) {
    TUTTI_TRY(context, tutti_alloc(context, rows->rows, sizeof *rows->labels, &rows->labels));
    memcpy(rows->labels, targets->labels, rows->rows * sizeof *rows->labels);
  }
  if (targets->values) {
    TUTTI_TRY(context, tutti_alloc(context, rows->rows, rows->outputs * sizeof(double), &rows->values));
    for (size_t i = 0; i < rows->rows * rows->outputs; i++)
      rows->values[i] = targets->values[i] + tutti_split_target_origin(split, i % rows->outputs);
  }
  if (tutti_split_source_rows(split)) {
    TUTTI_TRY(context, tutti_alloc(context, rows->rows, sizeof(uint32_t), &rows->source_rows));
    memcpy(rows->source_rows, tutti_split_source_rows(split), rows->rows * sizeof(uint32_t));
  }
  return TUTTI_OK;
}

static enum tutti_status make_said(tutti_context *context, const struct tutti_pool *pool, struct report_said *said) {
  TUTTI_TRY(context, tutti_alloc(context, pool->rows, pool->outputs * sizeof *said->predicted, &said->predicted));
  if (pool->kind != TUTTI_TASK_REGRESSION)
    return TUTTI_OK;
  return tutti_alloc(context, pool->rows * pool->outputs, 2 * sizeof(double), &said->intervals);
}

/* Means and intervals are counted from the targets' origins. */
static void move(const tutti_split *split, const struct report_rows *rows, struct report_said *said) {
  for (size_t i = 0; said->intervals && i < rows->rows * rows->outputs; i++) {
    double origin = tutti_split_target_origin(split, i % rows->outputs);
    said->predicted[i].mean += origin;
    said->intervals[2 * i] += origin;
    said->intervals[2 * i + 1] += origin;
  }
}

static enum tutti_status gather_said(struct report_facts *facts, const tutti_split *split,
                                     const struct tutti_pool *pool, const tutti_ensemble *ensemble,
                                     tutti_calibrator *calibrator) {
  tutti_context *context = facts->context;
  enum tutti_status status = TUTTI_OK;
  const struct tutti_evaluation_options *options = tutti_recipe_evaluation(facts->experiment->recipe);
  struct report_rows *rows = &facts->rows;
  struct tutti_calibrated calibrated = {.trials = NULL};
  const double ends[] = {(1 - options->level) / 2, (1 + options->level) / 2};
  TUTTI_TRY_OUT(context, make_said(context, pool, &rows->before));
  TUTTI_TRY_OUT(context, tutti_ensemble_predict(context, pool, ensemble, options, rows->before.predicted));
  if (rows->before.intervals)
    TUTTI_TRY_OUT(context, tutti_combined_quantiles(context, pool, ensemble, 2, ends, rows->before.intervals));
  if (calibrator) {
    TUTTI_TRY_OUT(context, tutti_calibrated_make(context, calibrator, pool, ensemble, options, &calibrated));
    TUTTI_TRY_OUT(context, make_said(context, pool, &rows->after));
    memcpy(rows->after.predicted, rows->before.predicted, rows->rows * rows->outputs * sizeof *rows->after.predicted);
    TUTTI_TRY_OUT(context, tutti_calibrated_predict(context, &calibrated, options, rows->after.predicted, NULL));
    if (rows->after.intervals)
      TUTTI_TRY_OUT(context,
                    tutti_calibrated_quantiles(context, calibrator, &calibrated, 2, ends, rows->after.intervals));
  }
  move(split, rows, &rows->before);
  move(split, rows, &rows->after);
out:
  tutti_calibrated_release(&calibrated);
  return status;
}

enum tutti_status tutti_report_gather_rows(struct report_facts *facts) {
  tutti_context *context = facts->context;
  enum tutti_status status = TUTTI_OK;
  struct report_rows *rows = &facts->rows;
  struct tutti_pool pool = {.size = sizeof pool};
  struct tutti_run_calibration calibration = {.said = NULL};
  tutti_ensemble *ensemble = NULL;
  char *text = NULL;
  if (!facts->evaluation)
    return TUTTI_OK;
  const char *name = tutti_report_split(facts, TUTTI_SPLIT_TEST) ? TUTTI_SPLIT_TEST : TUTTI_SPLIT_VALIDATION;
  const tutti_split *split = tutti_dataset_find(facts->experiment->dataset, name);
  if (!split || tutti_split_rows(split) == 0)
    return TUTTI_OK;
  TUTTI_TRY_OUT(context, tutti_run_read_ensemble(context, facts->directory, &text));
  TUTTI_TRY_OUT(context, tutti_ensemble_parse(context, text, &ensemble));
  TUTTI_TRY_OUT(context, tutti_run_restore_calibration(context, facts->experiment, text, &calibration));
  TUTTI_TRY_OUT(context, tutti_run_pool_open(&facts->view->pool, context, name, facts->members, facts->trials, &pool));
  struct tutti_targets targets = {.size = sizeof targets};
  tutti_pool_targets(&pool, &targets);
  *rows = (struct report_rows){.split = name,
                               .rows = pool.rows,
                               .outputs = pool.outputs,
                               .level = tutti_recipe_evaluation(facts->experiment->recipe)->level};
  TUTTI_TRY_OUT(context, gather_targets(context, split, &targets, rows));
  /* On validation rows, which chose the ensemble, a calibrator has nothing to show. */
  TUTTI_TRY_OUT(context, gather_said(facts, split, &pool, ensemble,
                                     strcmp(name, TUTTI_SPLIT_TEST) == 0 ? calibration.calibrator : NULL));
out:
  tutti_run_pool_release(&facts->view->pool, &pool);
  tutti_run_calibration_release(&calibration);
  tutti_ensemble_destroy(ensemble);
  tutti_free(text);
  return status;
}

static void release_said(struct report_said *said) {
  tutti_free(said->predicted);
  tutti_free(said->intervals);
}

void tutti_report_release_rows(struct report_rows *rows) {
  tutti_free(rows->values);
  tutti_free(rows->labels);
  tutti_free(rows->source_rows);
  release_said(&rows->before);
  release_said(&rows->after);
  *rows = (struct report_rows){.split = NULL};
}
