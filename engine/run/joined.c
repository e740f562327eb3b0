/* joined.c - opens several runs over the same rows as one pool: their trials are numbered one run after the other, and
   everything that belongs to a trial is looked for in its own run. Kept in a directory, they are runs/1, runs/2, ...
   there. */
#include "run_view_impl.h"

#include "core/base/file_impl.h"
#include "core/base/text_impl.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

enum { MOST_RUNS = 1000 };

/* --- do they go together? --- */

/* The fingerprint of all rows that a run predicts, as its catalogue records it. */
static enum tutti_status fingerprint_of(tutti_context *context, const tutti_view *view, char **fingerprint) {
  TUTTI_TRY(context, tutti_catalogue_get(context, view->catalogue, "fingerprint", fingerprint));
  return *fingerprint ? TUTTI_OK
                      : TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s has no fingerprint of its data", view->directory);
}

/* The keys of [data], as one recipe has them, and what another one has differently. */
struct data_keys {
  json_t *of;
  struct tutti_text differ;
};

static enum tutti_status note_data_key(void *argument, tutti_context *context, const struct tutti_recipe_item *item) {
  struct data_keys *keys = argument;
  (void)context;
  if (strcmp(item->section, "data") == 0)
    (void)json_object_set_new(keys->of, item->key, json_string(item->value));
  return TUTTI_OK;
}

static enum tutti_status compare_data_key(void *argument, tutti_context *context,
                                          const struct tutti_recipe_item *item) {
  struct data_keys *keys = argument;
  const char *other = json_string_value(json_object_get(keys->of, item->key));
  (void)context;
  if (strcmp(item->section, "data") == 0 && strcmp(item->key, "split_seed") != 0 &&
      (!other || strcmp(other, item->value) != 0))
    tutti_text_add(&keys->differ, "%sdata.%s (%s, and %s)", keys->differ.length > 0 ? ", " : "", item->key,
                   other ? other : "nothing", *item->value ? item->value : "nothing");
  return TUTTI_OK;
}

/* "data.bins (32, and 0)"; "" where no key differs, but for the seed of the splits. The caller frees *text. */
static enum tutti_status find_differences(tutti_context *context, const tutti_view *first, const tutti_view *other,
                                          char **text) {
  struct data_keys keys = {.of = json_object(), .differ = tutti_text_begin(context)};
  enum tutti_status status = tutti_recipe_visit(context, first->experiment->recipe, note_data_key, &keys);
  if (status == TUTTI_OK)
    status = tutti_recipe_visit(context, other->experiment->recipe, compare_data_key, &keys);
  json_decref(keys.of);
  enum tutti_status taken = tutti_text_take(&keys.differ, text);
  return status == TUTTI_OK ? taken : status;
}

static enum tutti_status check_rows(tutti_context *context, const tutti_view *first, const tutti_view *other) {
  enum tutti_status status = TUTTI_OK;
  char *one = NULL, *two = NULL, *differ = NULL;
  TUTTI_TRY_OUT(context, fingerprint_of(context, first, &one));
  TUTTI_TRY_OUT(context, fingerprint_of(context, other, &two));
  if (strcmp(one, two) == 0)
    goto out;
  TUTTI_TRY_OUT(context, find_differences(context, first, other, &differ));
  if (*differ)
    status =
        TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                   "%s and %s have other data: their fingerprints are %s and %s, and these keys differ: %s; models "
                   "can be put together if they read the same numbers and are tested on the same rows: give both "
                   "runs the same [data], with the same data.split_seed (if that is not set, it is run.seed)",
                   first->directory, other->directory, one, two, differ);
  else
    status =
        TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                   "%s and %s have other data or splits: their fingerprints are %s and %s, so one may have trained "
                   "on rows that the other is tested on; give both runs the same files, and the same "
                   "data.split_seed (if that is not set, it is run.seed)",
                   first->directory, other->directory, one, two);
out:
  tutti_free(one);
  tutti_free(two);
  tutti_free(differ);
  return status;
}

/* With the runs before it. */
static enum tutti_status check_part(tutti_context *context, const struct tutti_part *parts, size_t index) {
  const tutti_view *first = parts[0].view, *other = parts[index].view;
  enum tutti_loss loss = first->experiment->loss, its = other->experiment->loss;
  TUTTI_TRY(context, tutti_view_check_data(context, other));
  if (other == first)
    return TUTTI_OK;
  for (size_t i = 0; i < index; i++)
    if (tutti_file_is_same(parts[i].view->directory, other->directory))
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

/* Make the view of parts[count], which are taken (also on failure), called `directory` in messages. */
static enum tutti_status make(tutti_context *context, const char *directory, size_t count, struct tutti_part *parts,
                              tutti_view **out) {
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
  TUTTI_TRY_OUT(context, tutti_joined_mark_repeats(context, view));
  view->experiment = parts[0].view->experiment;
  view->pool = (struct tutti_run_pool){view->directory, view->experiment, &view->history, NULL};
out:
  if (status != TUTTI_OK) {
    tutti_view_close(view);
    *out = NULL;
  }
  return status;
}

/* --- opening --- */

static enum tutti_status open_part(tutti_context *context, const char *directory, const char *name,
                                   struct tutti_part *part) {
  if (tutti_run_directory_has_pools(directory))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s is made of several runs itself; name those, which are in its folder runs", directory);
  TUTTI_TRY(context, tutti_strdup(context, name, &part->name));
  return tutti_view_open(context, directory, &part->view);
}

/* The runs under one name for messages, as in "runs/a and runs/b". */
static enum tutti_status name_all(tutti_context *context, size_t count, const char *const *directories, char **name) {
  struct tutti_text text = tutti_text_begin(context);
  for (size_t i = 0; i < count; i++)
    tutti_text_add(&text, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : " and ", directories[i]);
  return tutti_text_take(&text, name);
}

enum tutti_status tutti_view_open_all(tutti_context *context, size_t count, const char *const *directories,
                                      tutti_view **view) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_part *parts = NULL;
  char *name = NULL;
  *view = NULL;
  if (count == 0 || count > MOST_RUNS)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "expected 1 to %d runs, found %zu", MOST_RUNS, count);
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *parts, &parts));
  for (size_t i = 0; i < count; i++)
    TUTTI_TRY_OUT(context, open_part(context, directories[i], directories[i], &parts[i]));
  TUTTI_TRY_OUT(context, name_all(context, count, directories, &name));
  status = make(context, name, count, parts, view);
  parts = NULL; /* taken */
  if (*view)
    (*view)->unnamed = true;
out:
  tutti_joined_close(count, parts);
  tutti_free(name);
  return status;
}

/* pools.json; the caller ends *runs with json_decref. */
static enum tutti_status read_pools(tutti_context *context, const char *directory, json_t **runs) {
  enum tutti_status status = TUTTI_OK;
  char *text = NULL;
  json_error_t error = {.text = ""};
  TUTTI_TRY(context, tutti_run_file_read(context, directory, TUTTI_RUN_FILE_POOLS, &text));
  json_t *root = json_loads(text ? text : "", 0, &error);
  *runs = json_incref(json_object_get(root, "runs"));
  size_t count = json_array_size(*runs);
  if (count == 0 || count > MOST_RUNS)
    status = TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT,
                        "%s/%s: expected {\"runs\": [{\"from\": ..., \"trials\": ...}, ...]}%s%s", directory,
                        tutti_run_file_name(TUTTI_RUN_FILE_POOLS), root ? "" : ": ", error.text);
  json_decref(root);
  tutti_free(text);
  return status;
}

static enum tutti_status open_numbered(tutti_context *context, const char *directory, size_t index, const json_t *said,
                                       struct tutti_part *part) {
  enum tutti_status status = TUTTI_OK;
  const char *from = json_string_value(json_object_get(said, "from"));
  uint64_t trials = (uint64_t)json_integer_value(json_object_get(said, "trials"));
  char *path = NULL;
  TUTTI_TRY_OUT(context, tutti_run_part_path(context, directory, index, &path));
  TUTTI_TRY_OUT(context, tutti_run_check_folder(context, path));
  TUTTI_TRY_OUT(context, open_part(context, path, from ? from : path, part));
  if (part->view->history.asked != trials)
    status = TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "%s: expected the %" PRIu64 " trials that it had, found %" PRIu64,
                        path, trials, part->view->history.asked);
out:
  tutti_free(path);
  return status;
}

enum tutti_status tutti_joined_open(tutti_context *context, const char *directory, tutti_view **view) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_part *parts = NULL;
  json_t *runs = NULL;
  TUTTI_TRY_OUT(context, tutti_run_check_layout(context, directory));
  TUTTI_TRY_OUT(context, read_pools(context, directory, &runs));
  TUTTI_TRY_OUT(context, tutti_alloc(context, json_array_size(runs), sizeof *parts, &parts));
  for (size_t i = 0; i < json_array_size(runs); i++)
    TUTTI_TRY_OUT(context, open_numbered(context, directory, i, json_array_get(runs, i), &parts[i]));
  status = make(context, directory, json_array_size(runs), parts, view);
  parts = NULL; /* taken */
out:
  tutti_joined_close(json_array_size(runs), parts);
  json_decref(runs);
  return status;
}
