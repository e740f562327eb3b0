/* run_ensemble.c - makes an ensemble from a pool of trials, its JSON, and its metrics on every split. */
#include "run_impl.h"

#include "core/base/json_impl.h"
#include "engine/evaluation/calibrate_impl.h"
#include "engine/evaluation/evaluate_impl.h"
#include "engine/data/split_names.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/diversity.h>

static const char *const combinations[] = {"mixture", "vote"};

enum tutti_status tutti_run_choose(tutti_context *context, const struct tutti_choice *choice,
                                   tutti_ensemble *ensemble) {
  enum tutti_status status = TUTTI_OK;
  tutti_selector *selector = NULL;
  struct tutti_selector_setup setup = {.size = sizeof setup, .host = choice->host, .seed = choice->seed};
  struct tutti_pool pool = {.size = sizeof pool};
  TUTTI_TRY_OUT(context,
                tutti_run_pool_open(choice->source, context, choice->split, choice->count, choice->trials, &pool));
  TUTTI_TRY_OUT(context, tutti_selector_create(context, choice->host, "selector", &setup, &selector));
  TUTTI_TRY_OUT(context, tutti_selector_select(context, selector, &pool, choice->members, ensemble));
out:
  tutti_selector_destroy(selector);
  tutti_run_pool_release(choice->source, &pool);
  return status;
}

/* --- JSON --- */

enum tutti_status tutti_ensemble_print(tutti_context *context, const tutti_ensemble *ensemble, const char *selector,
                                       enum tutti_loss loss, const json_t *calibration, char **json) {
  json_t *members = json_array(), *trace = json_array();
  uint64_t picks = tutti_ensemble_picks(ensemble);
  for (size_t i = 0; i < tutti_ensemble_size(ensemble); i++) {
    uint64_t trial = tutti_ensemble_trial(ensemble, i);
    double weight = tutti_ensemble_weight(ensemble, i);
    json_t *member = json_pack("{s:I, s:f}", "trial", (json_int_t)trial, "weight", weight);
    if (picks > 0)
      json_object_set_new(member, "picks", json_integer((json_int_t)llround(weight * (double)picks)));
    json_array_append_new(members, member);
  }
  for (size_t i = 0; i < tutti_ensemble_steps(ensemble); i++) {
    const struct tutti_step *step = tutti_ensemble_step(ensemble, i);
    json_array_append_new(trace, json_pack("{s:I, s:o, s:s}", "trial", (json_int_t)step->trial, "loss",
                                           tutti_json_number(step->loss), "note", step->note));
  }
  return tutti_json_document(context,
                             json_pack("{s:s, s:s, s:s, s:o, s:o, s:O*}", "selector", selector, "loss",
                                       tutti_loss_names()[loss], "combination",
                                       combinations[tutti_ensemble_combination(ensemble)], "members", members, "trace",
                                       trace, "calibration", (json_t *)calibration),
                             json);
}

static enum tutti_status parse_members(tutti_context *context, const json_t *members, tutti_ensemble *ensemble) {
  for (size_t i = 0; i < json_array_size(members); i++) {
    json_int_t trial, picks = 0;
    double weight;
    json_error_t error;
    if (json_unpack_ex(json_array_get(members, i), &error, 0, "{s:I, s:F, s?I}", "trial", &trial, "weight", &weight,
                       "picks", &picks) != 0)
      return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "ensemble: member %zu: %s", i, error.text);
    TUTTI_TRY(context, tutti_ensemble_add(context, ensemble, (uint64_t)trial, picks > 0 ? (double)picks : weight));
  }
  return TUTTI_OK;
}

static enum tutti_status parse_combination(tutti_context *context, const char *name, tutti_ensemble *ensemble) {
  for (size_t i = 0; i < sizeof combinations / sizeof *combinations; i++)
    if (strcmp(name, combinations[i]) == 0) {
      tutti_ensemble_combine(ensemble, (enum tutti_combination)i);
      return TUTTI_OK;
    }
  return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "ensemble: expected the combination mixture or vote, found '%s'",
                    name);
}

enum tutti_status tutti_ensemble_parse(tutti_context *context, const char *json, tutti_ensemble **ensemble) {
  enum tutti_status status = TUTTI_OK;
  json_error_t error = {.text = ""};
  json_t *root = json_loads(json, 0, &error), *members;
  const char *combination = combinations[TUTTI_COMBINATION_MIXTURE];
  *ensemble = NULL;
  if (!root || json_unpack_ex(root, &error, 0, "{s?s, s:o}", "combination", &combination, "members", &members) != 0 ||
      json_array_size(members) == 0) {
    status = TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "expected an ensemble with members, as in %s: %s",
                        tutti_run_file_name(TUTTI_RUN_FILE_ENSEMBLE), error.text);
    goto out;
  }
  TUTTI_TRY_OUT(context, tutti_ensemble_create(context, ensemble));
  TUTTI_TRY_OUT(context, parse_combination(context, combination, *ensemble));
  TUTTI_TRY_OUT(context, parse_members(context, members, *ensemble));
out:
  json_decref(root);
  if (status != TUTTI_OK) {
    tutti_ensemble_destroy(*ensemble);
    *ensemble = NULL;
  }
  return status;
}

/* --- evaluation --- */

static int by_number(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

enum tutti_status tutti_run_members(tutti_context *context, const tutti_ensemble *ensemble, uint64_t **trials) {
  size_t count = tutti_ensemble_size(ensemble);
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof **trials, trials));
  for (size_t i = 0; i < count; i++)
    (*trials)[i] = tutti_ensemble_trial(ensemble, i);
  qsort(*trials, count, sizeof **trials, by_number);
  return TUTTI_OK;
}

static void add_metrics(json_t *metrics, const tutti_evaluation *evaluation) {
  for (size_t i = 0; i < tutti_evaluation_count(evaluation); i++) {
    const struct tutti_metric *metric = tutti_evaluation_metric(evaluation, i);
    json_array_append_new(metrics, json_pack("{s:s, s:o, s:s, s:s}", "name", metric->name, "value",
                                             tutti_json_number(metric->value), "unit", metric->unit, "better",
                                             tutti_better_name(metric->better)));
  }
}

/* {"reliability": [{"lower": ...}, ...], "classes": [...]}; classes have their names. */
static json_t *tables_of(const struct tutti_experiment *experiment, const tutti_evaluation *evaluation) {
  json_t *tables = json_object();
  for (size_t t = 0; t < tutti_evaluation_tables(evaluation); t++) {
    const struct tutti_evaluation_table *table = tutti_evaluation_table(evaluation, t);
    json_t *rows = json_array();
    for (size_t i = 0; i < table->rows * table->columns; i++) {
      const char *column = table->column[i % table->columns];
      bool class = strcmp(column, "class") == 0;
      if (i % table->columns == 0)
        json_array_append_new(rows, json_object());
      json_object_set_new(json_array_get(rows, i / table->columns), column,
                          class ? json_string(tutti_dataset_class(experiment->dataset, (size_t)table->values[i]))
                                : tutti_json_number(table->values[i]));
    }
    json_object_set_new(tables, table->name, rows);
  }
  return tables;
}

/* How often a trial was picked; once, if the weights count no picks. */
static uint64_t picks_of(const tutti_ensemble *ensemble, uint64_t trial) {
  double weight = 0, picks = (double)tutti_ensemble_picks(ensemble);
  for (size_t k = 0; k < tutti_ensemble_size(ensemble); k++)
    if (tutti_ensemble_trial(ensemble, k) == trial)
      weight = tutti_ensemble_weight(ensemble, k);
  return picks > 0 ? (uint64_t)llround(weight * picks) : 1;
}

/* How different the members are; it belongs to the ensemble and does not depend on rows. Candidates of different runs
   are of different spaces, between which there is no distance. */
static enum tutti_status add_diversity(tutti_context *context, const tutti_scope *scope,
                                       const struct tutti_history *history, size_t count, const uint64_t *trials,
                                       const tutti_ensemble *ensemble, json_t *metrics) {
  enum tutti_status status;
  const tutti_candidate **members = NULL;
  uint64_t *picks = NULL;
  bool *networks = NULL;
  tutti_evaluation *diversity = NULL;
  for (size_t i = 0; i < count && trials[i] < history->asked; i++)
    if (tutti_history_scope(history, trials[i], scope) != tutti_history_scope(history, trials[0], scope))
      return TUTTI_OK;
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *members, &members));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *picks, &picks));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *networks, &networks));
  for (size_t i = 0; i < count; i++) {
    if (trials[i] >= history->asked)
      TUTTI_TRY_OUT(context, TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                                        "the ensemble's member %" PRIu64 " is no trial of this run", trials[i]));
    members[i] = history->records[trials[i]].candidate;
    picks[i] = picks_of(ensemble, trials[i]);
    networks[i] = !tutti_history_without_network(history, trials[i]);
  }
  TUTTI_TRY_OUT(context, tutti_evaluate_diversity_of(context, tutti_history_scope(history, trials[0], scope), count,
                                                     members, networks, picks, &diversity));
  add_metrics(metrics, diversity);
out:
  tutti_evaluation_destroy(diversity);
  tutti_free(networks);
  tutti_free(picks);
  tutti_free(members);
  return status;
}

/* The in-distribution rows: test rows, or validation rows if there are none. */
static const char *inside_of(const tutti_dataset *dataset) {
  return tutti_split_rows(tutti_dataset_find(dataset, TUTTI_SPLIT_TEST)) > 0 ? TUTTI_SPLIT_TEST
                                                                             : TUTTI_SPLIT_VALIDATION;
}

/* Out-of-distribution rows, compared with in-distribution ones. */
static enum tutti_status evaluate_outside(tutti_context *context, struct tutti_run_pool *source,
                                          const struct tutti_pool *outside, const tutti_ensemble *ensemble,
                                          const uint64_t *trials, tutti_evaluation **evaluation) {
  struct tutti_pool inside = {.size = sizeof inside};
  enum tutti_status status = tutti_run_pool_open(source, context, inside_of(source->experiment->dataset),
                                                 tutti_ensemble_size(ensemble), trials, &inside);
  if (status == TUTTI_OK)
    status = tutti_evaluate_ood(context, &inside, outside, ensemble, evaluation);
  tutti_run_pool_release(source, &inside);
  return status;
}

/* Of several targets, what is of each alone: [{"target": its column, "metrics", "tables"}, ...]; NULL of one target. */
static enum tutti_status targets_of(tutti_context *context, const struct tutti_experiment *experiment,
                                    const struct tutti_pool *pool, const tutti_ensemble *ensemble,
                                    const struct tutti_evaluation_options *options, json_t **targets) {
  *targets = NULL;
  if (pool->kind != TUTTI_TASK_REGRESSION || pool->outputs < 2)
    return TUTTI_OK;
  *targets = json_array();
  for (size_t o = 0; o < pool->outputs; o++) {
    tutti_evaluation *evaluation;
    json_t *metrics = json_array();
    json_t *target =
        json_pack("{s:s, s:o}", "target", tutti_dataset_target(experiment->dataset, o), "metrics", metrics);
    json_array_append_new(*targets, target);
    TUTTI_TRY(context, tutti_evaluate_target(context, pool, ensemble, options, o, &evaluation));
    add_metrics(metrics, evaluation);
    json_object_set_new(target, "tables", tables_of(experiment, evaluation));
    tutti_evaluation_destroy(evaluation);
  }
  return TUTTI_OK;
}

/* Append {"split", "rows", "metrics", "tables"}, and of several targets "targets". With an ensemble: how different its
   members are belongs to the metrics. */
static enum tutti_status add_split(tutti_context *context, const struct tutti_experiment *experiment,
                                   const struct tutti_history *history, const char *split,
                                   const struct tutti_pool *pool, const tutti_evaluation *evaluation,
                                   const tutti_ensemble *ensemble, const struct tutti_evaluation_options *options,
                                   json_t *out) {
  json_t *metrics = json_array(), *targets = NULL, *added;
  add_metrics(metrics, evaluation);
  added = json_pack("{s:s, s:I, s:o, s:o}", "split", split, "rows", (json_int_t)pool->rows, "metrics", metrics,
                    "tables", tables_of(experiment, evaluation));
  json_array_append_new(out, added);
  if (!ensemble)
    return TUTTI_OK;
  enum tutti_status status = targets_of(context, experiment, pool, ensemble, options, &targets);
  if (targets)
    json_object_set_new(added, "targets", targets);
  TUTTI_TRY(context, status);
  return add_diversity(context, experiment->scope, history, pool->models, pool->trials, ensemble, metrics);
}

/* Rows that had no part in the making of the ensemble and of its calibrator. */
static bool is_new(const char *split) {
  return strncmp(split, TUTTI_SPLIT_VALIDATION, sizeof TUTTI_SPLIT_VALIDATION - 1) != 0 &&
         strcmp(split, TUTTI_SPLIT_CALIBRATION) != 0;
}

static enum tutti_status add_calibrated_targets(tutti_context *context, const struct tutti_experiment *experiment,
                                                const struct tutti_calibrated *calibrated,
                                                const struct tutti_evaluation_options *options, json_t *targets) {
  for (size_t o = 0; o < json_array_size(targets); o++) {
    tutti_evaluation *evaluation;
    json_t *target = json_array_get(targets, o), *metrics = json_array();
    json_object_set_new(target, "calibrated", metrics);
    TUTTI_TRY(context, tutti_evaluate_calibrated_target(context, calibrated, options, o, &evaluation));
    add_metrics(metrics, evaluation);
    json_object_set_new(target, "calibrated_tables", tables_of(experiment, evaluation));
    tutti_evaluation_destroy(evaluation);
  }
  return TUTTI_OK;
}

/* Add to the split that was added last what its metrics are after the calibrator. */
static enum tutti_status add_calibrated(tutti_context *context, const struct tutti_experiment *experiment,
                                        tutti_calibrator *calibrator, const struct tutti_pool *pool,
                                        const tutti_ensemble *ensemble, const struct tutti_evaluation_options *options,
                                        json_t *out) {
  enum tutti_status status;
  struct tutti_calibrated calibrated = {.trials = NULL};
  tutti_evaluation *evaluation = NULL;
  json_t *metrics = json_array(), *last = json_array_get(out, json_array_size(out) - 1);
  TUTTI_TRY_OUT(context, tutti_calibrated_make(context, calibrator, pool, ensemble, options, &calibrated));
  TUTTI_TRY_OUT(context, tutti_evaluate_calibrated(context, &calibrated, options, &evaluation));
  add_metrics(metrics, evaluation);
  (void)json_object_set(last, "calibrated", metrics);
  (void)json_object_set_new(last, "calibrated_tables", tables_of(experiment, evaluation));
  TUTTI_TRY_OUT(context,
                add_calibrated_targets(context, experiment, &calibrated, options, json_object_get(last, "targets")));
out:
  json_decref(metrics);
  tutti_evaluation_destroy(evaluation);
  tutti_calibrated_release(&calibrated);
  return status;
}

static enum tutti_status evaluate_split(tutti_context *context, struct tutti_run_pool *source,
                                        const struct tutti_history *history, const char *split,
                                        const tutti_ensemble *ensemble, tutti_calibrator *calibrator,
                                        const struct tutti_evaluation_options *options, const uint64_t *trials,
                                        json_t *out) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_pool pool = {.size = sizeof pool};
  tutti_evaluation *evaluation = NULL;
  TUTTI_TRY_OUT(context, tutti_run_pool_open(source, context, split, tutti_ensemble_size(ensemble), trials, &pool));
  bool outside = !pool.labels && !pool.values;
  TUTTI_TRY_OUT(context, outside ? evaluate_outside(context, source, &pool, ensemble, trials, &evaluation)
                                 : tutti_evaluate(context, &pool, ensemble, options, &evaluation));
  TUTTI_TRY_OUT(context, add_split(context, source->experiment, history, split, &pool, evaluation,
                                   outside ? NULL : ensemble, options, out));
  if (calibrator && !outside && is_new(split))
    TUTTI_TRY_OUT(context, add_calibrated(context, source->experiment, calibrator, &pool, ensemble, options, out));
out:
  tutti_evaluation_destroy(evaluation);
  tutti_run_pool_release(source, &pool);
  return status;
}

enum tutti_status tutti_run_evaluate_pool(tutti_context *context, const struct tutti_experiment *experiment,
                                          const struct tutti_history *history, const char *name,
                                          const struct tutti_pool *pool, const tutti_ensemble *ensemble,
                                          tutti_calibrator *calibrator, char **json) {
  const struct tutti_evaluation_options *options = tutti_recipe_evaluation(experiment->recipe);
  enum tutti_status status = TUTTI_OK;
  tutti_evaluation *evaluation = NULL;
  json_t *splits = json_array();
  TUTTI_TRY_OUT(context, tutti_evaluate(context, pool, ensemble, options, &evaluation));
  TUTTI_TRY_OUT(context, add_split(context, experiment, history, name, pool, evaluation, ensemble, options, splits));
  if (calibrator)
    TUTTI_TRY_OUT(context, add_calibrated(context, experiment, calibrator, pool, ensemble, options, splits));
  TUTTI_TRY_OUT(context, tutti_json_document(context, json_incref(splits), json));
out:
  tutti_evaluation_destroy(evaluation);
  json_decref(splits);
  return status;
}

/* For a shift, only its two splits; otherwise all splits. */
static bool is_wanted(const char *split, const char *shift) {
  static const char *const clean[] = {TUTTI_SPLIT_VALIDATION, TUTTI_SPLIT_TEST};
  for (size_t i = 0; shift && i < 2; i++)
    if (strncmp(split, clean[i], strlen(clean[i])) == 0 && strcmp(split + strlen(clean[i]), shift) == 0)
      return true;
  return !shift && strcmp(split, TUTTI_SPLIT_TRAIN) != 0;
}

enum tutti_status tutti_run_evaluate(tutti_context *context, struct tutti_run_pool *source,
                                     const struct tutti_history *history, const tutti_ensemble *ensemble,
                                     tutti_calibrator *calibrator, const struct tutti_evaluation_options *options,
                                     const char *shift, char **json) {
  enum tutti_status status = TUTTI_OK;
  const tutti_dataset *dataset = source->experiment->dataset;
  uint64_t *trials = NULL;
  json_t *splits = json_array();
  *json = NULL;
  TUTTI_TRY_OUT(context, tutti_run_members(context, ensemble, &trials));
  for (size_t i = 0; i < tutti_dataset_splits(dataset); i++) {
    const tutti_split *split = tutti_dataset_split(dataset, i);
    if (tutti_split_rows(split) > 0 && is_wanted(tutti_split_name(split), shift))
      TUTTI_TRY_OUT(context, evaluate_split(context, source, history, tutti_split_name(split), ensemble, calibrator,
                                            options, trials, splits));
  }
  TUTTI_TRY_OUT(context, tutti_json_document(context, json_incref(splits), json));
out:
  json_decref(splits);
  tutti_free(trials);
  return status;
}
