/* run_calibration.c - the calibrator of a run's ensemble. It is fitted on the rows that data.calibration keeps apart
   or, without such rows, on the validation rows. What came of it is a part of ensemble.json, so that an ensemble and
   its calibrator are replaced, copied and checked together. */
#include "run_impl.h"

#include "core/base/json_impl.h"
#include "engine/data/folds_impl.h"
#include "engine/evaluation/calibrate_impl.h"
#include "engine/data/split_names.h"

#include <math.h>
#include <string.h>

static const char own[] = TUTTI_SPLIT_CALIBRATION, key[] = "calibration";

static size_t rows_of(const tutti_dataset *dataset, const char *split) {
  const tutti_split *found = tutti_dataset_find(dataset, split);
  return found ? tutti_split_rows(found) : 0;
}

/* Validation rows have chosen the ensemble, which fits them better than others. */
static const char note_of_validation[] =
    "fitted on the validation rows, which also chose the ensemble: its gain on other rows may be smaller; "
    "data.calibration = 0.1 keeps rows apart for it";

/* The intervals without a calibrator. */
static enum tutti_status plain_intervals(tutti_context *context, const struct tutti_pool *pool,
                                         const tutti_ensemble *ensemble, double **plain) {
  const struct tutti_evaluation_options none = TUTTI_EVALUATION_DEFAULTS;
  enum tutti_status status;
  size_t cells = pool->rows * pool->outputs;
  double *quantiles = NULL, p[2 * TUTTI_FIXED_LEVELS];
  *plain = NULL;
  if (pool->kind != TUTTI_TASK_REGRESSION)
    return TUTTI_OK;
  for (size_t l = 0; l < TUTTI_FIXED_LEVELS; l++) {
    p[2 * l] = 0.5 - tutti_level_at(&none, l) / 2;
    p[2 * l + 1] = 0.5 + tutti_level_at(&none, l) / 2;
  }
  TUTTI_TRY_OUT(context, tutti_alloc(context, cells, sizeof p, &quantiles));
  TUTTI_TRY_OUT(context, tutti_alloc(context, cells, sizeof p, plain));
  TUTTI_TRY_OUT(context, tutti_combined_quantiles(context, pool, ensemble, 2 * TUTTI_FIXED_LEVELS, p, quantiles));
  for (size_t i = 0; i < cells; i++)
    for (size_t k = 0; k < 2 * TUTTI_FIXED_LEVELS; k++)
      (*plain)[2 * (k / 2 * cells + i) + k % 2] = quantiles[i * 2 * TUTTI_FIXED_LEVELS + k];
out:
  tutti_free(quantiles);
  return status;
}

/* The least level that is evaluated at which an interval of the rows has no end; infinite: all of them end. */
static enum tutti_status find_endless(tutti_context *context, tutti_calibrator *calibrator,
                                      const struct tutti_evaluation_options *options,
                                      const struct tutti_combined *combined, double *least) {
  size_t cells = combined->rows * combined->outputs;
  double *ends;
  *least = INFINITY;
  if (!calibrator || !(tutti_calibrator_gives(calibrator) & TUTTI_GIVES_INTERVALS))
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_alloc(context, cells, 2 * sizeof *ends, &ends));
  enum tutti_status status = TUTTI_OK;
  for (size_t l = 0; l < TUTTI_LEVELS && status == TUTTI_OK; l++) {
    const double level = tutti_level_at(options, l);
    status = tutti_calibrator_intervals(context, calibrator, combined, level, ends);
    for (size_t i = 0; i < 2 * cells && status == TUTTI_OK; i++)
      *least = isinf(ends[i]) ? fmin(*least, level) : *least;
  }
  tutti_free(ends);
  return status;
}

/* What a fit says: how it was judged, and from which level on its intervals have no end. */
struct outcome {
  struct tutti_verdict verdict;
  double endless;
};

/* Fit on the pool of some rows; what cannot be fitted is refused in the verdict. */
static enum tutti_status fit(tutti_context *context, const struct tutti_choice *choice,
                             const struct tutti_evaluation_options *options, const struct tutti_pool *pool,
                             const tutti_ensemble *ensemble, const tutti_split *rows,
                             struct tutti_run_calibration *calibration, struct outcome *outcome) {
  enum tutti_status status;
  struct tutti_combined combined = {.values = NULL};
  struct tutti_targets targets = {.size = sizeof targets};
  struct tutti_mixtures mixtures = {.all = NULL};
  double *plain = NULL;
  tutti_pool_targets(pool, &targets);
  status = tutti_combine(context, pool, ensemble, options, &combined);
  if (status == TUTTI_ERROR_USAGE) {
    *outcome = (struct outcome){.endless = INFINITY};
    (void)snprintf(outcome->verdict.refused, sizeof outcome->verdict.refused, "%s", tutti_error_message(context));
    tutti_error_clear(context);
    return TUTTI_OK;
  }
  TUTTI_TRY_OUT(context, status);
  TUTTI_TRY_OUT(context, plain_intervals(context, pool, ensemble, &plain));
  if (pool->kind == TUTTI_TASK_REGRESSION)
    TUTTI_TRY_OUT(context, tutti_combine_mixtures(context, pool, ensemble, &mixtures));
  combined.mixtures = mixtures.all;
  const struct tutti_calibrating calibrating = {.host = choice->host,
                                                .seed = choice->seed,
                                                .folds = options->folds,
                                                .combined = &combined,
                                                .targets = &targets,
                                                .plain = plain,
                                                .group = tutti_split_groups(rows),
                                                .parts = mixtures.parts,
                                                .own_rows = strcmp(tutti_split_name(rows), own) == 0};
  TUTTI_TRY_OUT(context, tutti_calibrate(context, &calibrating, &calibration->calibrator, &outcome->verdict));
  TUTTI_TRY_OUT(context, find_endless(context, calibration->calibrator, options, &combined, &outcome->endless));
out:
  tutti_free((double *)(uintptr_t)combined.values);
  tutti_mixtures_release(&mixtures);
  tutti_free(plain);
  return status;
}

/* The calibrators that this one's parameters name, {"of_values": "variance-scaling", ...}, or NULL: all other
   parameters are in its fit. */
static json_t *parts_of(const tutti_host *host) {
  json_t *parts = NULL;
  for (size_t i = 0; i < tutti_host_sections(host); i++) {
    const struct tutti_descriptor *descriptor;
    const tutti_config *config;
    if (strcmp(tutti_host_section(host, i, &descriptor, &config), "calibrator") != 0)
      continue;
    for (size_t p = 0; p < descriptor->params.count; p++) {
      const struct tutti_param *param = tutti_params_at(&descriptor->params, p);
      const char *plugin = param->type == TUTTI_PARAM_PLUGIN ? tutti_host_plugin(host, param->name) : NULL;
      if (plugin && !parts)
        parts = json_object();
      if (plugin)
        (void)json_object_set_new(parts, param->name, json_string(plugin));
    }
  }
  return parts;
}

/* Few rows to fit to cannot say how far the ends of a high level are. */
static enum tutti_status tell_endless(tutti_context *context, const char *name, size_t rows, double endless,
                                      json_t *said) {
  char *note;
  if (isinf(endless))
    return TUTTI_OK;
  TUTTI_TRY(context,
            tutti_format(context, &note,
                         "at the level %.15g and above, intervals have no end: %zu %s to fit to %s too few to "
                         "say more; ask for a lower level, or give it more rows (data.calibration, data.folds)",
                         endless, rows, tutti_plural(rows, "row", "rows"), tutti_plural(rows, "is", "are")));
  (void)json_object_set_new(said, "endless", json_pack("{s:f, s:s}", "level", endless, "note", note));
  tutti_log(context, TUTTI_LOG_WARNING, "calibrator %s: %s", name, note);
  tutti_free(note);
  return TUTTI_OK;
}

/* What is said of it in ensemble.json. */
static enum tutti_status describe(tutti_context *context, const tutti_host *host, const char *name, const char *split,
                                  size_t rows, int64_t folds, const struct outcome *outcome,
                                  struct tutti_run_calibration *calibration) {
  const struct tutti_verdict *verdict = &outcome->verdict;
  char *text;
  json_t *said = json_pack("{s:s, s:s, s:I}", "calibrator", name, "split", split, "rows", (json_int_t)rows);
  json_t *parts = parts_of(host);
  calibration->said = said;
  if (parts)
    (void)json_object_set_new(said, "parts", parts);
  if (verdict->measure)
    (void)json_object_update_new(said, json_pack("{s:I, s:s, s:o, s:o}", "folds", (json_int_t)folds, "measure",
                                                 verdict->measure, "before", tutti_json_number(verdict->before),
                                                 "after", tutti_json_number(verdict->after)));
  if (*verdict->refused) {
    (void)json_object_set_new(said, "refused", json_string(verdict->refused));
    tutti_log(context, TUTTI_LOG_WARNING, "calibrator %s: the ensemble stays as it is: %s", name, verdict->refused);
    return TUTTI_OK;
  }
  if (*verdict->taken)
    (void)json_object_set_new(said, "taken", json_string(verdict->taken));
  if (strcmp(split, own) != 0) {
    (void)json_object_set_new(said, "note", json_string(note_of_validation));
    tutti_log(context, TUTTI_LOG_WARNING, "calibrator %s: %s", name, note_of_validation);
  }
  TUTTI_TRY(context, tell_endless(context, name, rows, outcome->endless, said));
  TUTTI_TRY(context, tutti_calibrator_print(context, calibration->calibrator, &text));
  json_t *fitted = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
  tutti_free(text);
  if (!json_is_object(fitted)) {
    json_decref(fitted);
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN, "calibrator %s: expected the fit as a JSON object", name);
  }
  return json_object_set_new(said, "fit", fitted) == 0 ? TUTTI_OK
                                                       : TUTTI_FAIL(context, TUTTI_ERROR_MEMORY, "no memory");
}

enum tutti_status tutti_run_calibrate(tutti_context *context, const struct tutti_choice *choice,
                                      const tutti_ensemble *ensemble, struct tutti_run_calibration *calibration) {
  static const struct tutti_evaluation_options defaults = TUTTI_EVALUATION_DEFAULTS;
  enum tutti_status status;
  const struct tutti_evaluation_options *options = choice->evaluation ? choice->evaluation : &defaults;
  const tutti_dataset *dataset = choice->source->experiment->dataset;
  const char *name = tutti_host_plugin(choice->host, "calibrator"),
             *split = rows_of(dataset, own) ? own : TUTTI_SPLIT_VALIDATION;
  struct tutti_pool pool = {.size = sizeof pool};
  struct outcome outcome;
  uint64_t *trials = NULL;
  *calibration = (struct tutti_run_calibration){.said = NULL};
  if (!name || strcmp(name, "none") == 0)
    return TUTTI_OK;
  TUTTI_TRY_OUT(context, tutti_run_members(context, ensemble, &trials));
  TUTTI_TRY_OUT(context,
                tutti_run_pool_open(choice->source, context, split, tutti_ensemble_size(ensemble), trials, &pool));
  TUTTI_TRY_OUT(context, fit(context, choice, options, &pool, ensemble, tutti_dataset_find(dataset, split), calibration,
                             &outcome));
  TUTTI_TRY_OUT(context,
                describe(context, choice->host, name, split, pool.rows, options->folds, &outcome, calibration));
out:
  tutti_run_pool_release(choice->source, &pool);
  tutti_free(trials);
  return status;
}

void tutti_run_calibration_release(struct tutti_run_calibration *calibration) {
  tutti_calibrator_destroy(calibration->calibrator);
  tutti_host_destroy(calibration->host);
  json_decref(calibration->said);
  *calibration = (struct tutti_run_calibration){.said = NULL};
}

/* Make the calibrator that fitted, and have it read its fit. */
static enum tutti_status restore(tutti_context *context, const struct tutti_experiment *experiment, const char *name,
                                 const json_t *parts, const json_t *fitted, struct tutti_run_calibration *calibration) {
  const char *section;
  json_t *part;
  struct tutti_calibrator_setup setup = {.size = sizeof setup, .seed = experiment->facts.seed};
  char *text;
  TUTTI_TRY(context, tutti_host_create(context, &experiment->facts, &calibration->host));
  TUTTI_TRY(context, tutti_host_put(context, calibration->host, "calibrator", TUTTI_KIND_CALIBRATOR, name));
  json_object_foreach((json_t *)parts, section, part) {
    if (json_is_string(part))
      TUTTI_TRY(context, tutti_host_set(context, calibration->host, "calibrator", section, json_string_value(part)));
  }
  TUTTI_TRY(context,
            tutti_calibrator_create(context, calibration->host, "calibrator", &setup, &calibration->calibrator));
  TUTTI_TRY(context, tutti_json_line(context, json_incref((json_t *)fitted), &text));
  enum tutti_status status = tutti_calibrator_parse(context, calibration->calibrator, text);
  tutti_free(text);
  return status;
}

enum tutti_status tutti_run_restore_calibration(tutti_context *context, const struct tutti_experiment *experiment,
                                                const char *ensemble, struct tutti_run_calibration *calibration) {
  enum tutti_status status = TUTTI_OK;
  json_t *root = json_loads(ensemble, 0, NULL), *said = json_object_get(root, key);
  const char *name = json_string_value(json_object_get(said, "calibrator"));
  const json_t *fitted = json_object_get(said, "fit");
  *calibration = (struct tutti_run_calibration){.said = json_incref(said)};
  if (said && !name)
    status = TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "expected the name of the calibrator");
  else if (fitted)
    status = restore(context, experiment, name, json_object_get(said, "parts"), fitted, calibration);
  json_decref(root);
  if (status == TUTTI_OK)
    return TUTTI_OK;
  tutti_run_calibration_release(calibration);
  return tutti_error_prefix(context, status, "the ensemble's \"%s\": ", key);
}
