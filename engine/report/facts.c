/* facts.c - what is known of a run: its own texts, and what is computed from its files. */
#include "compute.h"
#include "report_impl.h"

#include "core/base/json_impl.h"

#include <math.h>
#include <string.h>

static enum tutti_status parse(tutti_context *context, const char *text, json_t **root) {
  return tutti_json_parse(context, text, 0, TUTTI_ERROR_INTERNAL, "what this library made", root);
}

static enum tutti_status gather_status(struct report_facts *facts) {
  char *text;
  TUTTI_TRY(facts->context, tutti_view_status(facts->context, facts->view, &text));
  enum tutti_status status = parse(facts->context, text, &facts->status);
  tutti_free(text);
  TUTTI_TRY(facts->context, status);
  return tutti_run_read_summary(facts->context, facts->directory, &facts->summary);
}

static enum tutti_status gather_data(struct report_facts *facts) {
  tutti_context *context = facts->context;
  const tutti_config *data = tutti_recipe_data(facts->experiment->recipe);
  char *text = NULL;
  if (!facts->experiment->dataset)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_run_file_read(context, tutti_view_source(facts->view), TUTTI_RUN_FILE_DATA, &text));
  facts->data = text ? json_loads(text, 0, NULL) : NULL;
  tutti_free(text);
  return data ? tutti_config_get(context, data, "path", &facts->path) : TUTTI_OK;
}

/* "Tutti 0.2.0" of the first line of recipe.ini, "; Effective recipe, ..., by Tutti 0.2.0, plugin ABI 2.0. ...". */
static enum tutti_status gather_program(struct report_facts *facts) {
  static const char by[] = ", by ";
  enum tutti_status status = TUTTI_OK;
  char *text = NULL;
  TUTTI_TRY(facts->context,
            tutti_run_file_read(facts->context, tutti_view_source(facts->view), TUTTI_RUN_FILE_RECIPE, &text));
  const char *begin = text ? strstr(text, by) : NULL, *end = begin ? strstr(begin, ", plugin ABI ") : NULL;
  if (end && !memchr(text, '\n', (size_t)(end - text)))
    status = tutti_format(facts->context, &facts->made_by, "%.*s", (int)(end - begin - (ptrdiff_t)(sizeof by - 1)),
                          begin + sizeof by - 1);
  tutti_free(text);
  return status;
}

static enum tutti_status gather_trials(struct report_facts *facts) {
  tutti_context *context = facts->context;
  const uint64_t asked = facts->history->asked;
  TUTTI_TRY(context, tutti_alloc(context, asked, sizeof(json_t *), &facts->reports));
  TUTTI_TRY(context, tutti_alloc(context, asked, sizeof *facts->losses, &facts->losses));
  for (uint64_t i = 0; i < asked; i++) {
    const struct tutti_record *record = &facts->history->records[i];
    const bool known = record->done && record->state == TUTTI_STATE_FINISHED && isfinite(record->loss);
    facts->losses[i] = known ? record->loss : (double)NAN;
    if (record->report)
      facts->reports[i] = json_loads(record->report, 0, NULL);
  }
  return TUTTI_OK;
}

/* What a run cannot have is no failure of its report: the reason is kept. */
static enum tutti_status keep_reason(struct report_facts *facts, enum tutti_status status, char **reason) {
  if (status != TUTTI_ERROR_USAGE && status != TUTTI_ERROR_UNSUPPORTED && status != TUTTI_ERROR_NUMERIC)
    return status;
  if (reason && !*reason)
    TUTTI_TRY(facts->context, tutti_strdup(facts->context, tutti_error_message(facts->context), reason));
  tutti_error_clear(facts->context);
  return TUTTI_OK;
}

static enum tutti_status gather_ensemble(struct report_facts *facts) {
  tutti_context *context = facts->context;
  enum tutti_status status = TUTTI_OK;
  tutti_ensemble *ensemble = NULL;
  char *text = NULL;
  TUTTI_TRY_OUT(context, tutti_run_read_ensemble(context, facts->directory, &text));
  if (!text)
    goto out;
  TUTTI_TRY_OUT(context, parse(context, text, &facts->ensemble));
  TUTTI_TRY_OUT(context, tutti_ensemble_parse(context, text, &ensemble));
  TUTTI_TRY_OUT(context, tutti_run_members(context, ensemble, &facts->trials));
  facts->members = tutti_ensemble_size(ensemble);
  for (size_t i = 0; i < facts->members; i++)
    if (facts->trials[i] >= facts->history->asked)
      TUTTI_TRY_OUT(context, TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "%s: a member of its ensemble is no trial of it",
                                        facts->directory));
out:
  tutti_ensemble_destroy(ensemble);
  tutti_free(text);
  return status;
}

static enum tutti_status gather_evaluation(struct report_facts *facts) {
  tutti_context *context = facts->context;
  char *text = NULL;
  enum tutti_status status = tutti_view_evaluate(context, facts->view, NULL, 0, NULL, &text);
  if (status != TUTTI_OK)
    return keep_reason(facts, status, &facts->no_ensemble);
  status = parse(context, text, &facts->evaluation);
  tutti_free(text);
  return status;
}

/* Ensembles of up to twice as many members as were chosen. */
static enum tutti_status gather_sizes(struct report_facts *facts) {
  static const uint64_t steps[] = {1, 2, 3, 5, 7, 10, 15, 20, 30, 50};
  tutti_context *context = facts->context;
  size_t finished, count = 0, most = 2 * facts->members > 10 ? 2 * facts->members : 10;
  uint64_t *trials, budget = facts->history->asked;
  char *text = NULL;
  if (!facts->evaluation)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_history_finished(context, facts->history, &trials, &finished));
  tutti_free(trials);
  while (count < sizeof steps / sizeof *steps && steps[count] <= most && steps[count] <= finished)
    count++;
  const struct tutti_curve_options options = {sizeof options, 1, &budget, count, steps, NULL};
  enum tutti_status status = tutti_view_curve(context, facts->view, NULL, 0, NULL, &options, &text);
  if (status != TUTTI_OK)
    return keep_reason(facts, status, NULL);
  status = parse(context, text, &facts->sizes);
  tutti_free(text);
  return status;
}

const char *tutti_report_cost(const struct report_facts *facts) {
  static const char *const names[] = {"microseconds", "flops", "parameters"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    for (uint64_t i = 0; i < facts->history->asked; i++)
      if (tutti_report_number(facts->reports[i], names[k]) > 0)
        return names[k];
  return NULL;
}

/* Can ensembles be limited by this cost? */
static bool is_limit(const char *cost) {
  for (size_t c = 0; c < TUTTI_COSTS; c++)
    if (strcmp(tutti_cost_names[c], cost) == 0)
      return true;
  return false;
}

/* Ensembles that cost less. Runs of which no cost is known have none. */
static enum tutti_status gather_costs(struct report_facts *facts) {
  const struct tutti_curve_options options = {.size = sizeof options, .costs = tutti_report_cost(facts)};
  char *text = NULL;
  if (!facts->evaluation || !options.costs || !is_limit(options.costs))
    return TUTTI_OK;
  enum tutti_status status = tutti_view_curve(facts->context, facts->view, NULL, 0, NULL, &options, &text);
  if (status != TUTTI_OK)
    return keep_reason(facts, status, NULL);
  status = parse(facts->context, text, &facts->costs);
  tutti_free(text);
  return status;
}

enum tutti_status tutti_report_gather(tutti_context *context, const char *directory, const char *name,
                                      struct report_facts *facts) {
  *facts = (struct report_facts){.context = context, .directory = directory, .name = name};
  TUTTI_TRY(context, tutti_view_open(context, directory, &facts->view));
  facts->experiment = facts->view->experiment;
  facts->history = &facts->view->history;
  facts->classes = facts->experiment->task.kind == TUTTI_TASK_CLASSIFICATION;
  TUTTI_TRY(context, gather_status(facts));
  TUTTI_TRY(context, gather_trials(facts));
  TUTTI_TRY(context, gather_data(facts));
  TUTTI_TRY(context, gather_program(facts));
  TUTTI_TRY(context, gather_ensemble(facts));
  TUTTI_TRY(context, gather_evaluation(facts));
  TUTTI_TRY(context, gather_sizes(facts));
  TUTTI_TRY(context, gather_costs(facts));
  return tutti_report_gather_rows(facts);
}

void tutti_report_release(struct report_facts *facts) {
  for (uint64_t i = 0; facts->reports && i < facts->history->asked; i++)
    json_decref(facts->reports[i]);
  tutti_free(facts->reports);
  tutti_free(facts->losses);
  tutti_report_release_rows(&facts->rows);
  json_decref(facts->status);
  json_decref(facts->summary);
  json_decref(facts->evaluation);
  json_decref(facts->ensemble);
  json_decref(facts->sizes);
  json_decref(facts->costs);
  json_decref(facts->data);
  tutti_free(facts->path);
  tutti_free(facts->made_by);
  tutti_free(facts->no_ensemble);
  tutti_free(facts->trials);
  tutti_view_close(facts->view);
  *facts = (struct report_facts){.context = NULL};
}

/* --- looking things up -------------------------------------------------------------------------------------------- */

bool tutti_report_is_behind(const struct report_facts *facts, long long *trials) {
  const json_t *done = json_object_get(json_object_get(facts->summary, "trials"), "done");
  *trials = (long long)json_integer_value(done);
  return json_is_integer(done) && (uint64_t)*trials < facts->history->done;
}

double tutti_report_number(const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

const json_t *tutti_report_split(const struct report_facts *facts, const char *split) {
  const json_t *entry;
  size_t index;
  json_array_foreach(facts->evaluation, index, entry) {
    const char *name = json_string_value(json_object_get(entry, "split"));
    if (name && strcmp(name, split) == 0)
      return entry;
  }
  return NULL;
}

const json_t *tutti_report_anew(const struct report_facts *facts, const char *split, const json_t **shift) {
  const json_t *at, *entry;
  size_t index, i;
  json_array_foreach(json_object_get(facts->summary, "shifts"), index, at) {
    json_array_foreach(json_object_get(at, "evaluation"), i, entry) {
      const char *name = json_string_value(json_object_get(entry, "split"));
      if (!name || strcmp(name, split) != 0)
        continue;
      if (shift)
        *shift = at;
      return json_object_get(entry, "metrics");
    }
  }
  return NULL;
}

double tutti_report_metric(const json_t *metrics, const char *name) {
  const json_t *metric;
  size_t index;
  json_array_foreach(metrics, index, metric) {
    const char *found = json_string_value(json_object_get(metric, "name"));
    if (found && strcmp(found, name) == 0)
      return tutti_report_number(metric, "value");
  }
  return (double)NAN;
}

/* Of trials, the better ones are what a picture is for. */
double tutti_report_shown_most(const struct report_facts *facts) {
  return tutti_report_frame(facts->history->asked, facts->losses, 9);
}

double tutti_report_loss(const struct report_facts *facts, uint64_t trial, const char *split, const char *loss) {
  const json_t *losses = json_object_get(json_object_get(facts->reports[trial], "losses"), split);
  return tutti_report_number(losses, loss);
}

const char *tutti_report_endless(const struct report_facts *facts, double level) {
  const json_t *endless = json_object_get(json_object_get(facts->ensemble, "calibration"), "endless");
  return tutti_report_number(endless, "level") <= level ? json_string_value(json_object_get(endless, "note")) : NULL;
}

bool tutti_report_is_member(const struct report_facts *facts, uint64_t trial) {
  for (size_t i = 0; i < facts->members; i++)
    if (facts->trials[i] == trial)
      return true;
  return false;
}
