/* run_shifts.c - chooses ensembles again from a finished pool: for each shift of the data, and for fewer trials and
   other sizes. Nothing is trained. */
#include "run_impl.h"

#include "core/base/json_impl.h"
#include "engine/data/split_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <tutti/names.h>

static const char clean[] = TUTTI_SPLIT_VALIDATION;

enum tutti_status tutti_run_shift_of(tutti_context *context, const struct tutti_experiment *experiment,
                                     const char *split, const char **shift) {
  const char *rest = strncmp(split, clean, strlen(clean)) == 0 ? split + strlen(clean) : NULL;
  const tutti_split *found =
      rest && (*rest == '\0' || *rest == '-') ? tutti_dataset_find(experiment->dataset, split) : NULL;
  *shift = rest;
  if (found && tutti_split_rows(found) > 0)
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "expected a validation split to choose on, 'validation' or one of data.shift, as 'validation-5'; "
                    "found '%s'",
                    split);
}

/* Choose an ensemble; return it and its metrics on the two splits of the shift as JSON texts. */
static enum tutti_status choose_and_evaluate(tutti_context *context, const struct tutti_choice *choice,
                                             const struct tutti_history *history, char **chosen, char **evaluation) {
  enum tutti_status status = TUTTI_OK;
  tutti_ensemble *ensemble = NULL;
  const char *shift;
  *chosen = *evaluation = NULL;
  TUTTI_TRY_OUT(context, tutti_run_shift_of(context, choice->source->experiment, choice->split, &shift));
  TUTTI_TRY_OUT(context, tutti_ensemble_create(context, &ensemble));
  TUTTI_TRY_OUT(context, tutti_run_choose(context, choice, ensemble));
  TUTTI_TRY_OUT(context, tutti_ensemble_print(context, ensemble, tutti_host_plugin(choice->host, "selector"),
                                              choice->source->experiment->loss, NULL, chosen));
  TUTTI_TRY_OUT(context, tutti_run_evaluate(context, choice->source, history, ensemble, NULL, choice->evaluation, shift,
                                            evaluation));
out:
  tutti_ensemble_destroy(ensemble);
  return status;
}

enum tutti_status tutti_run_shifts(tutti_context *context, const struct tutti_choice *choice,
                                   const struct tutti_history *history, char **json) {
  enum tutti_status status = TUTTI_OK;
  const tutti_dataset *dataset = choice->source->experiment->dataset;
  struct tutti_choice here = *choice;
  json_t *array = json_array();
  char *chosen = NULL, *evaluation = NULL;
  *json = NULL;
  for (size_t i = 0; i < tutti_dataset_splits(dataset); i++) {
    here.split = tutti_split_name(tutti_dataset_split(dataset, i));
    if (strncmp(here.split, "validation-", strlen("validation-")) != 0)
      continue;
    TUTTI_TRY_OUT(context, choose_and_evaluate(context, &here, history, &chosen, &evaluation));
    json_array_append_new(array, json_pack("{s:s, s:o, s:o}", "split", here.split, "ensemble",
                                           json_loads(chosen, 0, NULL), "evaluation", json_loads(evaluation, 0, NULL)));
    tutti_free(chosen);
    tutti_free(evaluation);
    chosen = evaluation = NULL;
  }
  if (json_array_size(array) > 0)
    TUTTI_TRY_OUT(context, tutti_json_document(context, json_incref(array), json));
out:
  tutti_free(chosen);
  tutti_free(evaluation);
  json_decref(array);
  return status;
}

/* --- curves --- */

enum { STEPS = 8 };

/* The n-th budget: one of the given ones, or an even step towards all trials. */
static uint64_t budget_at(const struct tutti_curve_options *options, uint64_t asked, size_t n) {
  return options->budgets_count ? options->budgets[n] : asked * (n + 1) / STEPS;
}

static enum tutti_status add_point(tutti_context *context, const struct tutti_choice *choice,
                                   const struct tutti_history *history, uint64_t budget, json_t *array) {
  char *chosen, *evaluation;
  enum tutti_status status = choose_and_evaluate(context, choice, history, &chosen, &evaluation);
  if (status == TUTTI_OK) {
    json_t *ensemble = json_loads(chosen, 0, NULL);
    json_array_append_new(array, json_pack("{s:I, s:I, s:O, s:O, s:o}", "budget", (json_int_t)budget, "members",
                                           (json_int_t)json_array_size(json_object_get(ensemble, "members")),
                                           "ensemble", json_object_get(ensemble, "members"), "combination",
                                           json_object_get(ensemble, "combination"), "evaluation",
                                           json_loads(evaluation, 0, NULL)));
    json_decref(ensemble);
  }
  tutti_free(chosen);
  tutti_free(evaluation);
  return status;
}

/* A point that was asked for is not in the curve. */
static void say_too_few(tutti_context *context, const struct tutti_choice *choice, const struct tutti_history *history,
                        uint64_t budget, size_t members) {
  char eligible[64] = "";
  if (history->members_from > 0)
    (void)snprintf(eligible, sizeof eligible, " from number %" PRIu64 " on", history->members_from);
  tutti_log(context, TUTTI_LOG_WARNING,
            "%s: no ensemble of %zu from the first %" PRIu64 " %s: of these, %zu%s may be members",
            choice->source->directory, members, budget, tutti_plural((size_t)budget, "trial", "trials"), choice->count,
            eligible);
}

/* The points of one budget: one for each size that has enough trials. */
static enum tutti_status add_points(tutti_context *context, struct tutti_choice *choice,
                                    const struct tutti_history *history, const struct tutti_curve_options *options,
                                    uint64_t budget, json_t *array) {
  if (options->members_count == 0)
    return add_point(context, choice, history, budget, array);
  for (size_t m = 0; m < options->members_count; m++) {
    choice->members = (size_t)options->members[m];
    if (choice->members <= choice->count)
      TUTTI_TRY(context, add_point(context, choice, history, budget, array));
    else if (options->budgets_count)
      say_too_few(context, choice, history, budget, choice->members);
  }
  return TUTTI_OK;
}

/* Refuse points that the run does not have: more trials than it has asked for, more members than trials finished. */
static enum tutti_status check_points(tutti_context *context, const struct tutti_choice *choice,
                                      const struct tutti_history *history, const struct tutti_curve_options *options) {
  for (size_t b = 0; b < options->budgets_count; b++)
    if (options->budgets[b] > history->asked)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                        "expected budgets of at most %" PRIu64 ", the trials of %s; found %" PRIu64, history->asked,
                        choice->source->directory, options->budgets[b]);
  char eligible[96] = "";
  if (history->members_from > 0)
    (void)snprintf(eligible, sizeof eligible, " from number %" PRIu64 " on, which alone may be members",
                   history->members_from);
  for (size_t m = 0; m < options->members_count; m++)
    if (options->members[m] > choice->count)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                        "expected ensembles of at most %zu %s, the finished trials of %s%s; found %" PRIu64,
                        choice->count, tutti_plural(choice->count, "member", "members"), choice->source->directory,
                        eligible, options->members[m]);
  return TUTTI_OK;
}

enum tutti_status tutti_run_curve(tutti_context *context, const struct tutti_choice *choice,
                                  const struct tutti_history *history, const struct tutti_curve_options *options,
                                  char **json) {
  enum tutti_status status = TUTTI_OK;
  json_t *array = json_array();
  uint64_t before = 0;
  const char *shift;
  enum tutti_cost cost;
  *json = NULL;
  TUTTI_TRY_OUT(context, tutti_run_shift_of(context, choice->source->experiment, choice->split, &shift));
  TUTTI_TRY_OUT(context, check_points(context, choice, history, options));
  if (options->costs && options->budgets_count + options->members_count > 0) {
    status =
        TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                   "expected a curve of costs, or of budgets and members; found both: ensembles of a curve of costs "
                   "are chosen from all trials, in the selector's own size");
    goto out;
  }
  if (options->costs) {
    TUTTI_TRY_OUT(context, tutti_run_cost_parse(context, options->costs, &cost));
    TUTTI_TRY_OUT(context, tutti_run_costs(context, choice, history, cost, array));
    TUTTI_TRY_OUT(context, tutti_json_document(context, json_incref(array), json));
    goto out;
  }
  for (size_t b = 0; b < (options->budgets_count ? options->budgets_count : STEPS); b++) {
    struct tutti_choice here = *choice;
    uint64_t budget = budget_at(options, history->asked, b);
    here.count = 0;
    while (here.count < choice->count && choice->trials[here.count] < budget)
      here.count++;
    if (here.count > 0 && budget != before)
      TUTTI_TRY_OUT(context, add_points(context, &here, history, options, budget, array));
    else if (here.count == 0 && options->budgets_count)
      say_too_few(context, &here, history, budget, 1);
    before = budget;
  }
  TUTTI_TRY_OUT(context, tutti_json_document(context, json_incref(array), json));
out:
  json_decref(array);
  return status;
}
