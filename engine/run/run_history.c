/* run_history.c - the trials of a run as the manager remembers them. */
#include "core/base/json_impl.h"
#include "core/base/utf8_impl.h"
#include "engine/data/split_names.h"
#include "record_impl.h"
#include "run_impl.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/names.h>

enum { ROOM = 64, MOST_RESERVED = 1 << 18 };

static enum tutti_status make_room(tutti_context *context, struct tutti_history *history, uint64_t room) {
  TUTTI_TRY(context, tutti_realloc(context, history->asked, room, sizeof *history->records, &history->records));
  history->room = room;
  return TUTTI_OK;
}

static enum tutti_status grow_history(tutti_context *context, struct tutti_history *history) {
  return history->asked < history->room ? TUTTI_OK : make_room(context, history, history->room * 2 + ROOM);
}

enum tutti_status tutti_history_reserve(tutti_context *context, struct tutti_history *history, uint64_t trials) {
  uint64_t room = trials < MOST_RESERVED ? trials : MOST_RESERVED;
  return room <= history->room ? TUTTI_OK : make_room(context, history, room);
}

enum tutti_status tutti_history_add(tutti_context *context, struct tutti_history *history,
                                    const struct tutti_proposal *proposal) {
  TUTTI_TRY(context, grow_history(context, history));
  struct tutti_record *record = &history->records[history->asked++];
  *record = (struct tutti_record){.candidate = tutti_candidate_ref(proposal->candidate),
                                  .parent = proposal->parent,
                                  .asked_after = history->told,
                                  .told = TUTTI_NO_TRIAL,
                                  .loss = NAN,
                                  .at = NAN};
  memcpy(record->origin, proposal->origin, sizeof record->origin);
  record->origin[sizeof record->origin - 1] = '\0';
  tutti_text_mend(record->origin);
  return TUTTI_OK;
}

struct loading {
  tutti_context *context;
  const tutti_scope *scope;
  struct tutti_history *history;
};

static enum tutti_status load_trial(void *argument, const struct tutti_trial *trial) {
  struct loading *loading = argument;
  tutti_context *context = loading->context;
  struct tutti_history *history = loading->history;
  if (trial->number != history->asked)
    return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "catalogue: expected trial %" PRIu64 " next, found trial %" PRIu64,
                      history->asked, trial->number);
  TUTTI_TRY(context, grow_history(context, history));
  struct tutti_record *record = &history->records[history->asked];
  *record = (struct tutti_record){.parent = trial->parent,
                                  .asked_after = trial->asked_after,
                                  .told = trial->told,
                                  .done = trial->done,
                                  .state = trial->state,
                                  .loss = trial->loss,
                                  .seconds = trial->seconds,
                                  .worker = trial->worker,
                                  .at = trial->at};
  enum tutti_status status = tutti_scope_parse(context, loading->scope, trial->candidate, &record->candidate);
  if (status != TUTTI_OK)
    return tutti_error_prefix(context, status, "catalogue: trial %" PRIu64 ": ", trial->number);
  history->asked++;
  (void)snprintf(record->origin, sizeof record->origin, "%s", trial->origin);
  if (!trial->done)
    return TUTTI_OK;
  history->done++;
  history->told += trial->told != TUTTI_NO_TRIAL;
  history->failed += trial->state == TUTTI_STATE_FAILED;
  history->pruned += trial->state == TUTTI_STATE_PRUNED;
  if (trial->failure[0])
    TUTTI_TRY(context, tutti_strdup(context, trial->failure, &record->failure));
  return tutti_strdup(context, trial->report, &record->report);
}

/* Could a run have come to this? Results are told once each, in an order without gaps, none before its trial was asked
   for, and trials are asked for one after the other. */
static enum tutti_status check_order(tutti_context *context, const struct tutti_history *history) {
  enum tutti_status status = TUTTI_OK;
  bool *seen = NULL;
  uint64_t before = 0;
  TUTTI_TRY_OUT(context, tutti_alloc(context, history->told, sizeof *seen, &seen));
  for (uint64_t i = 0; i < history->asked; i++) {
    const struct tutti_record *record = &history->records[i];
    bool told = record->told != TUTTI_NO_TRIAL;
    if ((record->parent != TUTTI_NO_TRIAL && record->parent >= i) || record->asked_after < before ||
        record->asked_after > history->told ||
        (told && (!record->done || record->told >= history->told || record->told < record->asked_after ||
                  seen[record->told]))) {
      status = TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT,
                          "catalogue: trial %" PRIu64 ": its parent, asked_after and told do not fit the other trials; "
                          "they are not as a run wrote them",
                          i);
      break;
    }
    if (told)
      seen[record->told] = true;
    before = record->asked_after;
  }
out:
  tutti_free(seen);
  return status;
}

enum tutti_status tutti_history_load(tutti_context *context, tutti_catalogue *catalogue, const tutti_scope *scope,
                                     struct tutti_history *history) {
  struct loading loading = {context, scope, history};
  char *members_from;
  memset(history, 0, sizeof *history);
  TUTTI_TRY(context, tutti_catalogue_get(context, catalogue, "members_from", &members_from));
  history->members_from = members_from ? strtoull(members_from, NULL, 10) : 0;
  tutti_free(members_from);
  TUTTI_TRY(context, tutti_catalogue_visit(context, catalogue, load_trial, &loading));
  return check_order(context, history);
}

struct reading {
  tutti_context *context;
  struct tutti_reports *reports;
};

static enum tutti_status load_report(void *argument, const struct tutti_trial *trial) {
  struct reading *reading = argument;
  struct tutti_reports *reports = reading->reports;
  if (trial->number != reports->count)
    return TUTTI_FAIL(reading->context, TUTTI_ERROR_CORRUPT,
                      "catalogue: expected trial %" PRIu64 " next, found trial %" PRIu64, reports->count,
                      trial->number);
  if (reports->count == reports->room) {
    uint64_t room = reports->room * 2 + ROOM;
    TUTTI_TRY(reading->context,
              tutti_realloc(reading->context, reports->count, room, sizeof *reports->texts, &reports->texts));
    reports->room = room;
  }
  reports->texts[reports->count++] = NULL;
  return trial->done ? tutti_strdup(reading->context, trial->report, &reports->texts[reports->count - 1]) : TUTTI_OK;
}

enum tutti_status tutti_reports_load(tutti_context *context, tutti_catalogue *catalogue,
                                     struct tutti_reports *reports) {
  struct reading reading = {context, reports};
  memset(reports, 0, sizeof *reports);
  return tutti_catalogue_visit(context, catalogue, load_report, &reading);
}

void tutti_reports_release(struct tutti_reports *reports) {
  for (uint64_t i = 0; i < reports->count; i++)
    tutti_free(reports->texts[i]);
  tutti_free(reports->texts);
  memset(reports, 0, sizeof *reports);
}

void tutti_history_release(struct tutti_history *history) {
  for (uint64_t i = 0; i < history->asked; i++) {
    tutti_candidate_unref(history->records[i].candidate);
    tutti_free(history->records[i].failure);
    tutti_free(history->records[i].report);
    tutti_free(history->records[i].rule);
  }
  tutti_free(history->records);
  memset(history, 0, sizeof *history);
}

static bool is_finished(const struct tutti_record *record) {
  return record->done && record->state == TUTTI_STATE_FINISHED;
}

/* A pruned trial that was let predict. */
static bool is_kept(const struct tutti_record *record, const char *predictions) {
  return record->done && record->state == TUTTI_STATE_PRUNED && tutti_record_has(record->report, predictions);
}

enum tutti_status tutti_history_finished(tutti_context *context, const struct tutti_history *history, uint64_t **trials,
                                         size_t *count) {
  enum tutti_status status;
  char *predictions = NULL;
  *count = 0;
  TUTTI_TRY_OUT(context, tutti_trial_predictions_name(context, TUTTI_SPLIT_VALIDATION, &predictions));
  TUTTI_TRY_OUT(context, tutti_alloc(context, history->asked, sizeof **trials, trials));
  for (uint64_t i = history->members_from; i < history->asked; i++)
    if (!history->records[i].repeated &&
        (is_finished(&history->records[i]) || is_kept(&history->records[i], predictions)))
      (*trials)[(*count)++] = i;
out:
  tutti_free(predictions);
  return status;
}

bool tutti_history_without_network(const struct tutti_history *history, uint64_t trial) {
  const char *report = history->records[trial].report;
  return report && tutti_record_has(report, tutti_trial_file_name(TUTTI_TRIAL_FILE_WEIGHTS)) &&
         !tutti_record_has(report, tutti_trial_file_name(TUTTI_TRIAL_FILE_NETWORK));
}

enum tutti_status tutti_history_say_candidate(tutti_context *context, const struct tutti_history *history,
                                              uint64_t trial, const tutti_scope *scope, char **text) {
  scope = tutti_history_scope(history, trial, scope);
  TUTTI_TRY(context, tutti_scope_print(context, scope, history->records[trial].candidate, text));
  if (!tutti_history_without_network(history, trial))
    return TUTTI_OK;
  json_t *candidate = json_loads(*text, 0, NULL);
  tutti_free(*text);
  (void)json_object_del(candidate, "architecture");
  return tutti_json_line(context, candidate, text);
}

uint64_t tutti_history_best(const struct tutti_history *history) {
  uint64_t best = TUTTI_NO_TRIAL;
  for (uint64_t i = 0; i < history->asked; i++)
    if (is_finished(&history->records[i]) &&
        (best == TUTTI_NO_TRIAL || history->records[i].loss < history->records[best].loss))
      best = i;
  return best;
}

/* A failure, how often it came, and how often with other numbers in its text, such as an epoch. */
struct reason {
  const char *text;
  size_t count, others;
};

static const char *behind_number(const char *text) { return text + strspn(text, "0123456789.e+-"); }

static bool are_alike(const char *one, const char *other) {
  while (*one && *other) {
    bool numbers = isdigit((unsigned char)*one) && isdigit((unsigned char)*other);
    if (!numbers && *one != *other)
      return false;
    one = numbers ? behind_number(one) : one + 1;
    other = numbers ? behind_number(other) : other + 1;
  }
  return *one == *other;
}

static int by_count(const void *a, const void *b) {
  const struct reason *x = a, *y = b;
  if (x->count != y->count)
    return x->count < y->count ? 1 : -1;
  return strcmp(x->text, y->text);
}

/* The reasons of all failures, most frequent first; those that differ by numbers alone are one. Free with
   tutti_free. */
static enum tutti_status find_reasons(tutti_context *context, const struct tutti_history *history,
                                      struct reason **reasons, size_t *kinds) {
  *kinds = 0;
  TUTTI_TRY(context, tutti_alloc(context, history->failed, sizeof **reasons, reasons));
  for (uint64_t i = 0; i < history->asked; i++) {
    const char *failure = history->records[i].failure;
    size_t k = 0;
    if (!failure)
      continue;
    while (k < *kinds && !are_alike((*reasons)[k].text, failure))
      k++;
    if (k == *kinds)
      (*reasons)[(*kinds)++].text = failure;
    (*reasons)[k].count++;
    (*reasons)[k].others += strcmp((*reasons)[k].text, failure) != 0;
  }
  if (*kinds > 1)
    qsort(*reasons, *kinds, sizeof **reasons, by_count);
  return TUTTI_OK;
}

enum tutti_status tutti_history_failures(tutti_context *context, const struct tutti_history *history,
                                         json_t **failures) {
  struct reason *reasons;
  size_t kinds;
  TUTTI_TRY(context, find_reasons(context, history, &reasons, &kinds));
  *failures = json_array();
  for (size_t k = 0; k < kinds; k++)
    (void)json_array_append_new(*failures, json_pack("{s:I, s:I, s:s}", "count", (json_int_t)reasons[k].count, "others",
                                                     (json_int_t)reasons[k].others, "text", reasons[k].text));
  tutti_free(reasons);
  return TUTTI_OK;
}

/* --- repeats --- */

struct hashed {
  uint64_t hash, trial;
};

static int by_hash(const void *a, const void *b) {
  const struct hashed *x = a, *y = b;
  if (x->hash != y->hash)
    return x->hash < y->hash ? -1 : 1;
  return (x->trial > y->trial) - (x->trial < y->trial);
}

enum tutti_status tutti_history_repeats(tutti_context *context, const struct tutti_history *history,
                                        uint64_t *repeats) {
  struct hashed *trials;
  *repeats = 0;
  TUTTI_TRY(context, tutti_alloc(context, history->asked, sizeof *trials, &trials));
  for (uint64_t i = 0; i < history->asked; i++)
    trials[i] = (struct hashed){tutti_candidate_hash(history->records[i].candidate), i};
  if (history->asked > 1)
    qsort(trials, history->asked, sizeof *trials, by_hash);
  for (uint64_t i = 1; i < history->asked; i++)
    *repeats +=
        trials[i].hash == trials[i - 1].hash && tutti_candidate_equal(history->records[trials[i].trial].candidate,
                                                                      history->records[trials[i - 1].trial].candidate);
  tutti_free(trials);
  return TUTTI_OK;
}

/* "3 trials: took longer ...; 1 trial: diverged ...", most frequent first; free with tutti_free. */
static enum tutti_status list_failures(tutti_context *context, const struct tutti_history *history, char **text) {
  enum { SHOWN = 5, SIZE = 2048 };
  struct reason *reasons;
  size_t kinds, used = 0;
  TUTTI_TRY(context, find_reasons(context, history, &reasons, &kinds));
  enum tutti_status status = tutti_alloc(context, SIZE, 1, text);
  for (size_t k = 0; status == TUTTI_OK && k < kinds && k < SHOWN && used < SIZE; k++) {
    const struct reason *reason = &reasons[k];
    used += (size_t)snprintf(*text + used, SIZE - used, "%s%zu %s: %s", k ? "; " : "", reason->count,
                             tutti_plural(reason->count, "trial", "trials"), reason->text);
    if (reason->others > 0 && used < SIZE)
      used += (size_t)snprintf(*text + used, SIZE - used, " (%zu of them with other numbers)", reason->others);
  }
  if (status == TUTTI_OK && kinds > SHOWN && used < SIZE)
    (void)snprintf(*text + used, SIZE - used, "; and %zu other %s", kinds - SHOWN,
                   tutti_plural(kinds - SHOWN, "reason", "reasons"));
  tutti_free(reasons);
  return status;
}

enum tutti_status tutti_history_nothing(tutti_context *context, const struct tutti_history *history) {
  char *reasons, search[96] = "";
  const char *other = history->pruned > 0
                          ? "all that ended were pruned or stopped, and kept no predictions (run.keep_pruned; "
                            "with data.folds there are none to keep)"
                          : "nothing was trained";
  TUTTI_TRY(context, list_failures(context, history, &reasons));
  if (history->members_from > 0)
    (void)snprintf(search, sizeof search, " of those from number %" PRIu64 " on, which alone may be members",
                   history->members_from);
  enum tutti_status status = TUTTI_FAIL(
      context, TUTTI_ERROR_NUMERIC, "none of %" PRIu64 " %s finished%s, so there is no result: %s", history->done,
      tutti_plural((size_t)history->done, "trial", "trials"), search, reasons[0] ? reasons : other);
  tutti_free(reasons);
  return status;
}
