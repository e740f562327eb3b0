/* joined_repeats.c - models that several runs of one pool hold, as the cells of an ablation that share a search: each
   counts once, in the first of these runs. */
#include "run_view_impl.h"

#include "record_impl.h"

#include "core/base/text_impl.h"

#include <string.h>

static bool is_array(const char *name) {
  static const char end[] = ".npy";
  size_t length = name ? strlen(name) : 0, tail = sizeof end - 1;
  return length > tail && strcmp(name + length - tail, end) == 0;
}

/* What tells a model from others: its candidate with the seed, and sizes and checksums of all that it predicted; its
   weights may have been removed since. NULL: it has predicted nothing. */
static enum tutti_status identify(tutti_context *context, const tutti_view *view, const struct tutti_record *record,
                                  char **identity) {
  json_t *report = json_loads(record->report, 0, NULL);
  struct tutti_text text = tutti_text_begin(context);
  enum tutti_status status = TUTTI_OK;
  const json_t *file;
  size_t index;
  char *candidate = NULL;
  *identity = NULL;
  json_array_foreach(json_object_get(report, "files"), index, file) {
    const char *name = json_string_value(json_object_get(file, "name"));
    if (is_array(name))
      tutti_text_add(&text, "%s %lld %lld\n", name, (long long)json_integer_value(json_object_get(file, "bytes")),
                     (long long)json_integer_value(json_object_get(file, "crc32")));
  }
  if (text.length == 0)
    goto out;
  TUTTI_TRY_OUT(context, tutti_scope_print(context, view->experiment->scope, record->candidate, &candidate));
  tutti_text_add(&text, "%s", candidate);
  TUTTI_TRY_OUT(context, tutti_text_take(&text, identity));
out:
  tutti_text_discard(&text);
  tutti_free(candidate);
  json_decref(report);
  return status;
}

/* Mark the models of a run that runs before it have, and add all of its own to what was seen. */
static enum tutti_status mark_part(tutti_context *context, struct tutti_history *all, struct tutti_part *part,
                                   json_t *seen) {
  json_t *own = json_object();
  enum tutti_status status = TUTTI_OK;
  bool room = true;
  for (uint64_t t = 0; t < part->view->history.asked && status == TUTTI_OK; t++) {
    struct tutti_record *record = &all->records[part->first + t];
    char *identity = NULL;
    if (!record->done || !record->report)
      continue;
    status = identify(context, part->view, record, &identity);
    record->repeated = identity && json_object_get(seen, identity);
    part->repeated += record->repeated;
    room = (!identity || json_object_set_new(own, identity, json_true()) == 0) && room;
    tutti_free(identity);
  }
  room = json_object_update(seen, own) == 0 && room;
  json_decref(own);
  if (status == TUTTI_OK && !room)
    status = TUTTI_FAIL(context, TUTTI_ERROR_MEMORY, "no memory to compare the models of several runs");
  return status;
}

enum tutti_status tutti_joined_mark_repeats(tutti_context *context, tutti_view *view) {
  json_t *seen = json_object();
  enum tutti_status status = TUTTI_OK;
  for (size_t i = 0; i < view->part_count && status == TUTTI_OK; i++)
    status = mark_part(context, &view->history, &view->parts[i], seen);
  json_decref(seen);
  return status;
}
