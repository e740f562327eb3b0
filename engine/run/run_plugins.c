/* run_plugins.c - plugins are compared by what is in their files: a version says little of what somebody has built. */
#include "run_plugins.h"

#include "core/base/file_impl.h"
#include "core/base/json_impl.h"
#include "engine/recipe/recipe_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <tutti/registry.h>

static enum tutti_status add_plugin(void *visitor, tutti_context *context, const struct tutti_descriptor *descriptor) {
  json_t *plugins = visitor;
  const char *file = tutti_plugin_file(context, descriptor);
  char name[128], what[64];
  uint64_t bytes;
  uint32_t checksum;
  (void)snprintf(name, sizeof name, "%s/%s", tutti_kind_name(descriptor->kind), descriptor->name);
  if (!file || json_object_get(plugins, name))
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_file_checksum(context, file, &bytes, &checksum));
  (void)snprintf(what, sizeof what, "%" PRIu64 " bytes, CRC-32 %08" PRIx32, bytes, checksum);
  (void)json_object_set_new(plugins, name, json_string(what));
  return TUTTI_OK;
}

enum tutti_status tutti_run_plugins_print(tutti_context *context, const tutti_recipe *recipe, char **text) {
  json_t *plugins = json_object();
  enum tutti_status status = tutti_recipe_visit_training(context, recipe, add_plugin, plugins);
  if (status == TUTTI_OK)
    return tutti_json_line(context, plugins, text);
  json_decref(plugins);
  return tutti_error_trace(context, status, __FILE__, __LINE__, __func__);
}

enum tutti_status tutti_run_plugins_check(tutti_context *context, const json_t *managers, const char *own) {
  json_t *mine = json_loads(own, 0, NULL), *managers_file;
  enum tutti_status status = TUTTI_OK;
  const char *name;
  json_object_foreach((json_t *)managers, name, managers_file) {
    const char *there = json_string_value(managers_file), *here = json_string_value(json_object_get(mine, name));
    if (status == TUTTI_OK && there && here && strcmp(there, here) != 0)
      status = TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT,
                          "plugin %s is another build here (%s) than the manager's (%s), so results would depend on "
                          "where a trial is trained; install the same plugins on all nodes, and go on with the run "
                          "(--resume)",
                          name, here, there);
  }
  json_decref(mine);
  return status;
}
