/* joined.c - several runs over the same rows as one pool: their trials are numbered one run after the other, and
   everything that belongs to a trial is looked for in its own run. */
#include "joined_impl.h"

#include "core/base/json_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --- looking up --- */

static const struct tutti_part *part_of(const struct tutti_history *history, uint64_t trial) {
  size_t i = history->part_count - 1;
  while (i > 0 && trial < history->parts[i].first)
    i--;
  return &history->parts[i];
}

const struct tutti_run_pool *tutti_run_pool_of(const struct tutti_run_pool *source, uint64_t *trial) {
  if (!source->history || !source->history->parts)
    return source;
  const struct tutti_part *part = part_of(source->history, *trial);
  *trial -= part->first;
  return &part->view->pool;
}

const tutti_scope *tutti_history_scope(const struct tutti_history *history, uint64_t trial, const tutti_scope *own) {
  return history->parts ? part_of(history, trial)->view->experiment->scope : own;
}

const char *tutti_view_source(const tutti_view *view) {
  return view->parts ? view->parts[0].view->directory : view->directory;
}

enum tutti_status tutti_view_need_backends(tutti_context *context, tutti_view *view) {
  for (size_t i = 0; i < view->part_count; i++)
    TUTTI_TRY(context, tutti_experiment_need_backend(context, view->parts[i].view->experiment));
  return view->parts ? TUTTI_OK : tutti_experiment_need_backend(context, view->experiment);
}

/* --- do they go together? --- */

/* The fingerprint of all rows that a run predicts, as its catalogue records it. */
static enum tutti_status fingerprint_of(tutti_context *context, const tutti_view *view, char **fingerprint) {
  TUTTI_TRY(context, tutti_catalogue_get(context, view->catalogue, "fingerprint", fingerprint));
  return *fingerprint ? TUTTI_OK
                      : TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s has no fingerprint of its data", view->directory);
}

static enum tutti_status check_rows(tutti_context *context, const tutti_view *first, const tutti_view *other) {
  enum tutti_status status = TUTTI_OK;
  char *one = NULL, *two = NULL;
  TUTTI_TRY_OUT(context, fingerprint_of(context, first, &one));
  TUTTI_TRY_OUT(context, fingerprint_of(context, other, &two));
  if (strcmp(one, two) != 0)
    status = TUTTI_FAIL(
        context, TUTTI_ERROR_USAGE,
        "%s and %s have other data or splits: their fingerprints are %s and %s, so one may have trained on "
        "rows that the other is tested on; give both runs the same [data], with the same data.split_seed (if "
        "that is not set, it is run.seed)",
        first->directory, other->directory, one, two);
out:
  tutti_free(one);
  tutti_free(two);
  return status;
}

static bool is_same(const char *one, const char *two) {
  struct stat a, b;
  return stat(one, &a) == 0 && stat(two, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* With the runs before it. */
static enum tutti_status check_part(tutti_context *context, const struct tutti_part *parts, size_t index) {
  const tutti_view *first = parts[0].view, *other = parts[index].view;
  enum tutti_loss loss = first->experiment->loss, its = other->experiment->loss;
  TUTTI_TRY(context, tutti_view_check_data(context, other));
  if (other == first)
    return TUTTI_OK;
  for (size_t i = 0; i < index; i++)
    if (is_same(parts[i].view->directory, other->directory))
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s and %s are the same run", parts[i].name, parts[index].name);
  TUTTI_TRY(context, check_rows(context, first, other));
  if (loss != its)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s minimises %s, and %s %s: their models cannot be compared; set run.loss", first->directory,
                      tutti_loss_names()[loss], other->directory, tutti_loss_names()[its]);
  return TUTTI_OK;
}

/* --- one history --- */

/* The records of all runs, borrowed; of each, those that only informed its search are no members. */
static enum tutti_status join_histories(tutti_context *context, tutti_view *view) {
  struct tutti_history *all = &view->history;
  for (size_t i = 0; i < view->part_count; i++) {
    const struct tutti_history *of = &view->parts[i].view->history;
    view->parts[i].first = all->asked;
    all->asked += of->asked;
    all->told += of->told;
    all->done += of->done;
    all->failed += of->failed;
    all->pruned += of->pruned;
  }
  TUTTI_TRY(context, tutti_alloc(context, all->asked, sizeof *all->records, &all->records));
  for (size_t i = 0; i < view->part_count; i++) {
    const struct tutti_history *of = &view->parts[i].view->history;
    for (uint64_t t = 0; t < of->asked; t++) {
      struct tutti_record *record = &all->records[view->parts[i].first + t];
      *record = of->records[t];
      record->done = record->done && t >= of->members_from;
    }
  }
  all->part_count = view->part_count;
  all->parts = view->parts;
  return TUTTI_OK;
}

void tutti_joined_close(size_t count, struct tutti_part *parts) {
  for (size_t i = 0; i < count && parts; i++) {
    tutti_view_close(parts[i].view);
    tutti_free(parts[i].name);
  }
  tutti_free(parts);
}

enum tutti_status tutti_joined_make(tutti_context *context, const char *directory, size_t count,
                                    struct tutti_part *parts, tutti_view **out) {
  enum tutti_status status = tutti_alloc(context, 1, sizeof **out, out);
  tutti_view *view = *out;
  if (status != TUTTI_OK) {
    tutti_joined_close(count, parts);
    return status;
  }
  view->part_count = count;
  view->parts = parts;
  TUTTI_TRY_OUT(context, tutti_strdup(context, directory, &view->directory));
  for (size_t i = 0; i < count; i++)
    TUTTI_TRY_OUT(context, check_part(context, parts, i));
  TUTTI_TRY_OUT(context, join_histories(context, view));
  view->experiment = parts[0].view->experiment;
  view->pool = (struct tutti_run_pool){view->directory, view->experiment, &view->history, NULL};
out:
  if (status != TUTTI_OK) {
    tutti_view_close(view);
    *out = NULL;
  }
  return status;
}

/* --- what is said of them --- */

static const struct tutti_history *history_of(const struct tutti_part *part) { return &part->view->history; }

static size_t members_of(const json_t *ensemble, const struct tutti_part *part) {
  const json_t *member;
  size_t index, count = 0;
  json_array_foreach(json_object_get(ensemble, "members"), index, member) {
    uint64_t trial = (uint64_t)json_integer_value(json_object_get(member, "trial"));
    count += trial >= part->first && trial - part->first < history_of(part)->asked;
  }
  return count;
}

static const char *const said_sections[] = {"space", "backend", "builder"};
enum { SAID_SECTIONS = sizeof said_sections / sizeof said_sections[0] };

static json_t *say_part(const struct tutti_part *part, const json_t *ensemble) {
  const struct tutti_experiment *experiment = part->view->experiment;
  json_t *said = json_pack("{s:s, s:I, s:I, s:I}", "run", part->name, "first", (json_int_t)part->first, "trials",
                           (json_int_t)history_of(part)->asked, "members", (json_int_t)members_of(ensemble, part));
  for (size_t i = 0; i < SAID_SECTIONS; i++) {
    const char *plugin = tutti_host_plugin(experiment->host, said_sections[i]);
    (void)json_object_set_new(said, said_sections[i], json_string(plugin ? plugin : "none"));
  }
  return said;
}

/* The plugins of a section, each once, as in "nes-rs, agebo". */
static json_t *plugins_of(const json_t *pools, const char *section) {
  json_t *all = json_string("");
  const json_t *pool;
  size_t index, before;
  json_array_foreach(pools, index, pool) {
    const char *name = json_string_value(json_object_get(pool, section));
    for (before = 0; before < index; before++)
      if (strcmp(json_string_value(json_object_get(json_array_get(pools, before), section)), name) == 0)
        break;
    if (before < index)
      continue;
    json_t *longer = json_sprintf("%s%s%s", json_string_value(all), index ? ", " : "", name);
    json_decref(all);
    all = longer;
  }
  return all;
}

json_t *tutti_joined_pools(const tutti_view *view, const json_t *ensemble) {
  json_t *pools = view->parts ? json_array() : NULL;
  for (size_t i = 0; i < view->part_count; i++)
    (void)json_array_append_new(pools, say_part(&view->parts[i], ensemble));
  return pools;
}

enum tutti_status tutti_joined_describe(tutti_context *context, const tutti_view *view, char **summary) {
  if (!view->parts)
    return TUTTI_OK;
  json_t *root = json_loads(*summary, 0, NULL), *pools = tutti_joined_pools(view, json_object_get(root, "ensemble"));
  int64_t budget = (int64_t)view->history.asked;
  for (size_t i = 0; i < SAID_SECTIONS; i++)
    (void)json_object_set_new(json_object_get(root, "plugins"), said_sections[i], plugins_of(pools, said_sections[i]));
  (void)json_object_set_new(json_object_get(root, "trials"), "budget", json_integer(budget));
  (void)json_object_set_new(root, "run", json_string(view->directory));
  (void)json_object_set_new(root, "pools", pools);
  tutti_free(*summary);
  *summary = NULL;
  return tutti_json_document(context, root, summary);
}

enum tutti_status tutti_joined_locate(tutti_context *context, const tutti_view *view, char **ensemble) {
  json_t *member, *root = view->parts ? json_loads(*ensemble, 0, NULL) : NULL;
  size_t index;
  if (!root)
    return TUTTI_OK;
  json_array_foreach(json_object_get(root, "members"), index, member) {
    uint64_t trial = (uint64_t)json_integer_value(json_object_get(member, "trial"));
    const struct tutti_part *part = part_of(&view->history, trial);
    (void)json_object_set_new(member, "pool", json_integer(part - view->parts + 1));
    (void)json_object_set_new(member, "pool_trial", json_integer((json_int_t)(trial - part->first)));
  }
  tutti_free(*ensemble);
  *ensemble = NULL;
  return tutti_json_document(context, root, ensemble);
}
