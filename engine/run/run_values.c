/* run_values.c - ensembles of trials that have losses and no predictions, as where results are looked up: the members
   can be chosen and listed with what is known of each, but they cannot be combined. */
#include "run_impl.h"

#include "core/base/json_impl.h"

/* The finished trials that count, ascending. */
struct candidates {
  size_t count;
  uint64_t *trials, *hashes; /* [count] */
  double *losses;            /* [count] */
};

static void release_candidates(struct candidates *candidates) {
  tutti_free(candidates->trials);
  tutti_free(candidates->hashes);
  tutti_free(candidates->losses);
}

json_t *tutti_run_measures(const struct tutti_record *record) {
  json_t *report = record->report ? json_loads(record->report, 0, NULL) : NULL;
  json_t *measures = json_incref(json_object_get(report, "measures"));
  json_decref(report);
  return measures;
}

static bool is_same(const struct tutti_record *a, const struct tutti_record *b) {
  if (a->loss != b->loss || !tutti_candidate_equal(a->candidate, b->candidate))
    return false;
  json_t *one = tutti_run_measures(a), *other = tutti_run_measures(b);
  bool same = (!one && !other) || json_equal(one, other);
  json_decref(one);
  json_decref(other);
  return same;
}

/* Is trial number `trial` the same as one of the candidates? */
static bool is_repeated(const struct candidates *candidates, const struct tutti_history *history, uint64_t trial,
                        uint64_t hash) {
  for (size_t i = 0; i < candidates->count; i++)
    if (candidates->hashes[i] == hash && is_same(&history->records[candidates->trials[i]], &history->records[trial]))
      return true;
  return false;
}

static enum tutti_status gather(tutti_context *context, const struct tutti_history *history,
                                struct candidates *candidates) {
  size_t finished;
  TUTTI_TRY(context, tutti_history_finished(context, history, &candidates->trials, &finished));
  TUTTI_TRY(context, tutti_alloc(context, finished, sizeof *candidates->hashes, &candidates->hashes));
  TUTTI_TRY(context, tutti_alloc(context, finished, sizeof *candidates->losses, &candidates->losses));
  for (size_t i = 0; i < finished; i++) {
    uint64_t trial = candidates->trials[i], hash = tutti_candidate_hash(history->records[trial].candidate);
    if (is_repeated(candidates, history, trial, hash))
      continue;
    candidates->trials[candidates->count] = trial;
    candidates->hashes[candidates->count] = hash;
    candidates->losses[candidates->count++] = history->records[trial].loss;
  }
  return TUTTI_OK;
}

static enum tutti_status choose(tutti_context *context, const struct tutti_experiment *experiment,
                                tutti_selector *selector, const struct tutti_history *history, char **json) {
  enum tutti_status status = TUTTI_OK;
  struct candidates candidates = {0};
  tutti_ensemble *ensemble = NULL;
  TUTTI_TRY_OUT(context, gather(context, history, &candidates));
  TUTTI_TRY_OUT(context, tutti_ensemble_create(context, &ensemble));
  const struct tutti_pool pool = {.size = sizeof pool,
                                  .kind = TUTTI_TASK_VALUE,
                                  .models = candidates.count,
                                  .trials = candidates.trials,
                                  .losses = candidates.losses};
  TUTTI_TRY_OUT(context, tutti_selector_select(context, selector, &pool, 0, ensemble));
  TUTTI_TRY_OUT(context, tutti_ensemble_print(context, ensemble, tutti_selector_descriptor(selector)->name,
                                              experiment->loss, NULL, json));
out:
  tutti_ensemble_destroy(ensemble);
  release_candidates(&candidates);
  return status;
}

enum tutti_status tutti_run_choose_by_loss(tutti_context *context, const struct tutti_experiment *experiment,
                                           const tutti_host *host, const struct tutti_history *history, char **json) {
  struct tutti_selector_setup setup = {.size = sizeof setup, .host = host, .seed = experiment->facts.seed};
  enum tutti_status status = TUTTI_OK;
  tutti_selector *selector = NULL;
  *json = NULL;
  TUTTI_TRY_OUT(context, tutti_selector_create(context, host, "selector", &setup, &selector));
  if (!tutti_selector_needs_predictions(selector))
    TUTTI_TRY_OUT(context, choose(context, experiment, selector, history, json));
out:
  tutti_selector_destroy(selector);
  return status;
}

/* --- the summary -------------------------------------------------------------------------------------------------- */

/* Add a member's measures to the sums; a measure that some member lacks has no mean. */
static void add_up(json_t *sums, json_t *measures, bool first) {
  const char *name;
  json_t *value;
  void *next;
  if (first)
    (void)json_object_update(sums, measures);
  else
    json_object_foreach_safe(sums, next, name, value) {
      const json_t *more = json_object_get(measures, name);
      if (more)
        (void)json_object_set_new(sums, name, json_real(json_number_value(value) + json_number_value(more)));
      else
        (void)json_object_del(sums, name);
    }
}

static json_t *mean_of(const json_t *sums, double losses, double count) {
  json_t *means = json_object();
  const char *name;
  json_t *value;
  json_object_foreach((json_t *)sums, name, value) {
    (void)json_object_set_new(means, name, tutti_json_number(json_number_value(value) / count));
  }
  return json_pack("{s:o, s:o}", "loss", tutti_json_number(losses / count), "measures", means);
}

/* The architecture of a trial by its name. */
static enum tutti_status name_of(tutti_context *context, const struct tutti_record *record, json_t **name) {
  const tutti_genotype *genotype = tutti_candidate_genotype(record->candidate);
  char *text;
  *name = NULL;
  if (!genotype)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_space_name(context, genotype, &text));
  *name = json_string(text);
  tutti_free(text);
  return TUTTI_OK;
}

static enum tutti_status describe_members(tutti_context *context, const struct tutti_history *history,
                                          const tutti_ensemble *ensemble, json_t *members, json_t **mean) {
  size_t count = tutti_ensemble_size(ensemble);
  json_t *sums = json_object();
  enum tutti_status status = TUTTI_OK;
  double losses = 0;
  for (size_t i = 0; i < count; i++) {
    uint64_t trial = tutti_ensemble_trial(ensemble, i);
    json_t *name;
    if (trial >= history->asked) {
      status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "the ensemble's member %llu is no trial of this run",
                          (unsigned long long)trial);
      goto out;
    }
    const struct tutti_record *record = &history->records[trial];
    TUTTI_TRY_OUT(context, name_of(context, record, &name));
    json_t *measures = tutti_run_measures(record);
    add_up(sums, measures, i == 0);
    losses += record->loss;
    json_array_append_new(members,
                          json_pack("{s:I, s:o, s:o?, s:o*}", "trial", (json_int_t)trial, "loss",
                                    tutti_json_number(record->loss), "measures", measures, "architecture", name));
  }
  *mean = mean_of(sums, losses, (double)count);
out:
  json_decref(sums);
  return status;
}

enum tutti_status tutti_run_describe_values(tutti_context *context, const struct tutti_experiment *experiment,
                                            const struct tutti_history *history, const char *chosen,
                                            json_t **described) {
  enum tutti_status status = TUTTI_OK;
  tutti_ensemble *ensemble = NULL;
  json_t *members = json_array(), *mean = NULL;
  char *note = NULL;
  *described = NULL;
  TUTTI_TRY_OUT(context, tutti_ensemble_parse(context, chosen, &ensemble));
  TUTTI_TRY_OUT(context, describe_members(context, history, ensemble, members, &mean));
  TUTTI_TRY_OUT(context,
                tutti_format(context, &note,
                             "backend %s gives no predictions: members are chosen by their own losses, and the "
                             "ensemble's own metrics are unknown; to know them, train the members",
                             tutti_host_plugin(experiment->host, "backend")));
  *described = json_pack("{s:O, s:o, s:s}", "members", members, "mean", mean, "note", note);
  mean = NULL;
out:
  tutti_free(note);
  tutti_ensemble_destroy(ensemble);
  json_decref(members);
  json_decref(mean);
  return status;
}
