/* run_weights.c - weights that are removed at the end of a run, and those that are needed again. At no instant has a
   member no weights: what an ensemble lacks is trained and recorded before it becomes the run's, and only then are
   others removed, which the catalogue tells before the files are gone. */
#include "run_weights.h"

#include "catalogue_write.h"
#include "core/base/json_impl.h"
#include "record_impl.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <tutti/names.h>
#include <unistd.h>

static const char *weights_name(void) { return tutti_trial_file_name(TUTTI_TRIAL_FILE_WEIGHTS); }

bool tutti_weights_removed(const char *report) {
  json_t *root = report ? json_loads(report, 0, NULL) : NULL;
  bool removed = json_object_get(root, TUTTI_REPORT_REMOVED) != NULL;
  json_decref(root);
  return removed;
}

/* The members of an ensemble, ascending; NULL, with *count = 0, without one. */
static enum tutti_status members_of(tutti_context *context, const char *text, uint64_t **members, size_t *count) {
  tutti_ensemble *ensemble;
  *members = NULL;
  *count = 0;
  if (!text)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_ensemble_parse(context, text, &ensemble));
  *count = tutti_ensemble_size(ensemble);
  enum tutti_status status = tutti_run_members(context, ensemble, members);
  tutti_ensemble_destroy(ensemble);
  return status;
}

enum tutti_status tutti_weights_check(tutti_context *context, const struct tutti_run_pool *source,
                                      const char *ensemble) {
  enum tutti_status status;
  uint64_t *members;
  size_t count;
  TUTTI_TRY_OUT(context, members_of(context, ensemble, &members, &count));
  for (size_t i = 0; i < count; i++) {
    uint64_t trial = members[i];
    const struct tutti_run_pool *own = tutti_run_pool_of(source, &trial);
    const char *report;
    TUTTI_TRY_OUT(context, tutti_run_report(context, own, trial, &report));
    if (!tutti_weights_removed(report))
      continue;
    status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                        "trial %" PRIu64 " of %s would be a member, and its weights were removed when that run ended "
                        "(run.weights_of = members), so nothing could be predicted; make a new run with run.weights_of "
                        "= all, or choose among models that have their weights",
                        trial, own->directory);
    goto out;
  }
out:
  tutti_free(members);
  return status;
}

/* --- needed again --- */

/* Make what has changed in the catalogue durable. */
static enum tutti_status commit(struct tutti_manager *manager) {
  if (!manager->changed)
    return TUTTI_OK;
  manager->changed = false;
  return tutti_catalogue_commit(manager->context, manager->catalogue);
}

/* Mark members without weights as torn, which they are: then they are trained again as any other. */
static uint64_t mark(struct tutti_manager *manager, const uint64_t *members, size_t count) {
  uint64_t marked = 0;
  for (size_t i = 0; i < count; i++) {
    struct tutti_record *record = &manager->history.records[members[i]];
    record->torn = tutti_weights_removed(record->report);
    marked += record->torn;
  }
  return marked;
}

enum tutti_status tutti_weights_restore(struct tutti_manager *manager, const char *ensemble) {
  tutti_context *context = manager->context;
  enum tutti_status status;
  uint64_t *members;
  size_t count;
  TUTTI_TRY_OUT(context, members_of(context, ensemble, &members, &count));
  uint64_t wanted = mark(manager, members, count);
  if (wanted == 0)
    goto out;
  tutti_log(context, TUTTI_LOG_WARNING,
            "run.weights_of: of %zu %s, %" PRIu64 " %s no weights any more; %s trained again", count,
            tutti_plural(count, "member", "members"), wanted, tutti_plural((size_t)wanted, "has", "have"),
            tutti_plural((size_t)wanted, "it is", "they are"));
  manager->deadline.time = INFINITY; /* it takes as long as it takes */
  if (!manager->executor)            /* whose workers have ended, since the time was over */
    TUTTI_TRY_OUT(context, tutti_manager_make_executor(manager));
  TUTTI_TRY_OUT(context, tutti_manager_train_again(manager, wanted));
  TUTTI_TRY_OUT(context, commit(manager));
  status = tutti_weights_check(context, &manager->pool, ensemble);
out:
  tutti_free(members);
  return status;
}

/* --- removed --- */

/* Does a trial keep its weights? */
static bool is_among(uint64_t trial, const uint64_t *members, size_t count) {
  size_t i = 0;
  while (i < count && members[i] != trial)
    i++;
  return i < count;
}

/* Let a report tell that the weights are removed, and no more that they are among the files. */
static enum tutti_status note_removal(tutti_context *context, char **report) {
  json_t *root = json_loads(*report, 0, NULL), *files = json_object_get(root, "files"), *file;
  char *text;
  size_t index;
  json_array_foreach(files, index, file) {
    if (strcmp(json_string_value(json_object_get(file, "name")), weights_name()) != 0)
      continue;
    (void)json_object_set(root, TUTTI_REPORT_REMOVED, file);
    (void)json_array_remove(files, index);
    break;
  }
  TUTTI_TRY(context, tutti_json_line(context, root, &text));
  tutti_free(*report);
  *report = text;
  return TUTTI_OK;
}

static enum tutti_status note_removals(struct tutti_manager *manager, const uint64_t *members, size_t count) {
  const struct tutti_history *history = &manager->history;
  for (uint64_t i = 0; i < history->asked; i++) {
    struct tutti_record *record = &history->records[i];
    if (!record->done || !tutti_record_has(record->report, weights_name()) || is_among(i, members, count))
      continue;
    TUTTI_TRY(manager->context, note_removal(manager->context, &record->report));
    TUTTI_TRY(manager->context, tutti_manager_record(manager, i));
  }
  return commit(manager);
}

static enum tutti_status remove_file(tutti_context *context, const char *directory, uint64_t trial) {
  char *path;
  TUTTI_TRY(context, tutti_trial_file_path(context, directory, trial, TUTTI_TRIAL_FILE_WEIGHTS, &path));
  enum tutti_status status = tutti_run_check_trial(context, directory, trial, path);
  if (status == TUTTI_OK && unlink(path) != 0 && errno != ENOENT)
    tutti_log(context, TUTTI_LOG_WARNING, "%s: cannot be removed: %s", path, strerror(errno));
  tutti_free(path);
  return status;
}

/* Has a trial no model? What its training may have left nobody reads: it failed, or has no result, since the time was
   over, and a longer run trains it from the beginning. */
static bool has_no_model(const struct tutti_record *record) { return !record->done || record->failure; }

/* Of all trials whose report tells so: a manager that was killed may have left some. If `useless`, also of those that
   have no model. */
static enum tutti_status remove_files(struct tutti_manager *manager, bool useless) {
  for (uint64_t i = 0; i < manager->history.asked; i++) {
    const struct tutti_record *record = &manager->history.records[i];
    if (tutti_weights_removed(record->report) || (useless && has_no_model(record)))
      TUTTI_TRY(manager->context, remove_file(manager->context, manager->options->directory, i));
  }
  return TUTTI_OK;
}

enum tutti_status tutti_weights_remove(struct tutti_manager *manager, const char *ensemble) {
  tutti_context *context = manager->context;
  const char *directory = manager->options->directory;
  bool wanted = ensemble && manager->experiment->dataset && manager->run->weights_of == TUTTI_WEIGHTS_OF_MEMBERS;
  enum tutti_status status;
  uint64_t *members;
  size_t count;
  if (wanted && tutti_run_has_sharers(directory)) {
    tutti_log(context, TUTTI_LOG_WARNING,
              "run.weights_of = members: %s shares its trials with other runs, so all weights stay", directory);
    wanted = false;
  }
  TUTTI_TRY_OUT(context, members_of(context, ensemble, &members, &count));
  if (wanted)
    TUTTI_TRY_OUT(context, note_removals(manager, members, count));
  TUTTI_TRY_OUT(context, remove_files(manager, wanted));
out:
  tutti_free(members);
  return status;
}
