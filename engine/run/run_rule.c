/* run_rule.c - between a run and its pruner: rules and curves as texts, and the checks before anything is trained. */
#include "run_rule.h"

#include "core/base/json_impl.h"
#include "engine/recipe/recipe_impl.h"
#include "run_learners.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* --- rules --- */

/* A threshold may be infinite, which JSON has no number for. */
static json_t *print_rung(const struct tutti_rung *rung) {
  char threshold[40];
  (void)snprintf(threshold, sizeof threshold, "%.17g", rung->threshold);
  return json_pack("[i, i, s, b]", (int)rung->epoch, (int)rung->measure, threshold, (int)rung->training);
}

enum tutti_status tutti_run_rule_print(tutti_context *context, tutti_pruner *pruner, uint64_t trial, char **text) {
  tutti_rule *rule;
  *text = NULL;
  TUTTI_TRY(context, tutti_pruner_rule(context, pruner, trial, &rule));
  json_t *array = json_array();
  for (size_t i = 0; i < tutti_rule_rungs(rule); i++) {
    struct tutti_rung rung = {.size = sizeof rung};
    tutti_rule_rung(rule, i, &rung);
    (void)json_array_append_new(array, print_rung(&rung));
  }
  tutti_rule_destroy(rule);
  return tutti_json_line(context, array, text);
}

static enum tutti_status parse_rung(tutti_context *context, json_t *item, tutti_rule *rule) {
  int epoch, measure, training;
  const char *threshold;
  char *end;
  if (json_unpack(item, "[i, i, s, b]", &epoch, &measure, &threshold, &training) != 0 || epoch < 1 || measure < 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT,
                      "a request's rule has a rung without epoch, measure, threshold and whose losses they are of");
  struct tutti_rung rung = {.size = sizeof rung,
                            .epoch = (uint32_t)epoch,
                            .measure = (enum tutti_measure)measure,
                            .threshold = strtod(threshold, &end),
                            .training = training != 0};
  if (end == threshold || *end)
    return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "a request's rule has the threshold '%.40s'", threshold);
  return tutti_rule_add(context, rule, &rung);
}

enum tutti_status tutti_run_rule_parse(tutti_context *context, const json_t *array, tutti_rule **rule) {
  size_t index;
  json_t *item;
  TUTTI_TRY(context, tutti_rule_create(context, rule));
  json_array_foreach((json_t *)array, index, item) {
    enum tutti_status status = parse_rung(context, item, *rule);
    if (status == TUTTI_OK)
      continue;
    tutti_rule_destroy(*rule);
    *rule = NULL;
    return tutti_error_trace(context, status, __FILE__, __LINE__, __func__);
  }
  return TUTTI_OK;
}

/* --- curves --- */

json_t *tutti_run_curve_print(size_t epochs, const double *losses) {
  json_t *array = json_array();
  for (size_t i = 0; i < epochs; i++)
    (void)json_array_append_new(array, tutti_json_number(losses[i]));
  return array;
}

/* The losses that a report has under this name; NULL: none. Free *losses with tutti_free. */
static enum tutti_status read_curve(tutti_context *context, const json_t *report, const char *name, double **losses,
                                    size_t *epochs) {
  const json_t *array = json_object_get(report, name);
  *losses = NULL;
  *epochs = json_array_size(array);
  if (!array)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_alloc(context, *epochs, sizeof **losses, losses));
  for (size_t i = 0; i < *epochs; i++) {
    const json_t *loss = json_array_get(array, i);
    (*losses)[i] = json_is_number(loss) ? json_number_value(loss) : NAN;
  }
  return TUTTI_OK;
}

enum tutti_status tutti_run_tell_pruner(tutti_context *context, tutti_pruner *pruner, uint64_t trial,
                                        const struct tutti_record *record) {
  enum tutti_status status = TUTTI_OK;
  json_t *report = json_loads(record->report ? record->report : "{}", 0, NULL);
  double *losses = NULL, *training = NULL;
  size_t epochs = 0, trained = 0;
  TUTTI_TRY_OUT(context, read_curve(context, report, TUTTI_REPORT_CURVE, &losses, &epochs));
  TUTTI_TRY_OUT(context, read_curve(context, report, TUTTI_REPORT_TRAINING, &training, &trained));
  const struct tutti_curve curve = {.size = sizeof curve,
                                    .trial = trial,
                                    .state = record->state,
                                    .epochs = epochs,
                                    .losses = losses,
                                    .training = trained == epochs ? training : NULL};
  TUTTI_TRY_OUT(context, tutti_pruner_tell(context, pruner, &curve));
out:
  json_decref(report);
  tutti_free(losses);
  tutti_free(training);
  return status;
}

/* --- the pruner --- */

static enum tutti_status note_epochs(void *visitor, tutti_context *context, const tutti_backend *learner,
                                     const tutti_config *config) {
  uint32_t *most = visitor, epochs = tutti_backend_epochs(learner, config);
  (void)context;
  *most = epochs > *most ? epochs : *most;
  return TUTTI_OK;
}

enum tutti_status tutti_run_make_pruner(tutti_context *context, const struct tutti_experiment *experiment,
                                        uint64_t known, tutti_pruner **pruner) {
  struct tutti_pruner_setup setup = {
      .size = sizeof setup, .host = experiment->host, .seed = experiment->facts.seed, .known = known};
  *pruner = NULL;
  if (tutti_experiment_is_fit(experiment))
    return TUTTI_OK;
  /* The most epochs that a candidate can ask for, of whatever learner. */
  TUTTI_TRY(context, tutti_run_visit_learners(context, experiment, note_epochs, &setup.epochs));
  enum tutti_status status = tutti_pruner_create(context, experiment->host, "pruner", &setup, pruner);
  if (status != TUTTI_OK)
    return tutti_recipe_place(context, experiment->recipe, status);
  if (tutti_pruner_idle(*pruner)) {
    tutti_pruner_destroy(*pruner);
    *pruner = NULL;
  } else if (setup.epochs == 0) {
    status =
        TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                   "pruner.plugin: %s judges trials by their losses after each epoch, and backend %s reports none; "
                   "take the pruner none, or another backend",
                   tutti_pruner_descriptor(*pruner)->name, tutti_backend_descriptor(experiment->backend)->name);
    tutti_pruner_destroy(*pruner);
    *pruner = NULL;
    return tutti_recipe_place(context, experiment->recipe, status);
  }
  return TUTTI_OK;
}
