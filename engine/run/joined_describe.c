/* joined_describe.c - what a summary and an ensemble say of the runs that they are made of. */
#include "run_view_impl.h"

#include "core/base/json_impl.h"

#include <string.h>

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
  json_t *said = json_pack("{s:s, s:I, s:I, s:I, s:I}", "run", part->name, "first", (json_int_t)part->first, "trials",
                           (json_int_t)history_of(part)->asked, "repeated", (json_int_t)part->repeated, "members",
                           (json_int_t)members_of(ensemble, part));
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
    const struct tutti_part *part = tutti_history_part(&view->history, trial);
    (void)json_object_set_new(member, "pool", json_integer(part - view->parts + 1));
    (void)json_object_set_new(member, "pool_trial", json_integer((json_int_t)(trial - part->first)));
  }
  tutti_free(*ensemble);
  *ensemble = NULL;
  return tutti_json_document(context, root, ensemble);
}
