/* recipe_source.c - the source of a recipe's data: which one it is, and which keys it has. */
#include <stdio.h>
#include <string.h>
#include <tutti/data.h>
#include <tutti/registry.h>
#include <tutti/scan.h>

#include "recipe_impl.h"

static const char section[] = "data";

enum tutti_status tutti_recipe_unknown_data_key(tutti_context *context, const struct recipe_entry *entry,
                                                const struct tutti_descriptor *source) {
  char owner[128];
  (void)snprintf(owner, sizeof owner, "the section, with source %s,", source->name);
  return tutti_recipe_unknown_key(context, entry, owner, tutti_data_params(), &source->params, 0);
}

/* --- data.format, the key's old name --- */

static bool find_source(tutti_context *context, const char *name, const struct tutti_descriptor **source) {
  if (tutti_plugin_find(context, TUTTI_KIND_SOURCE, name, source) == TUTTI_OK)
    return true;
  tutti_error_clear(context);
  return false;
}

/* A parameter of the source that has this choice, or NULL. */
static const char *key_with_choice(const struct tutti_descriptor *source, const char *choice) {
  for (size_t i = 0; i < source->params.count; i++) {
    const struct tutti_param *param = tutti_params_at(&source->params, i);
    for (const char *const *one = param->choices; one && *one; one++)
      if (strcmp(*one, choice) == 0)
        return param->name;
  }
  return NULL;
}

/* The replacement for `format = VALUE`: a source of that name, or the source named by the first half of it if one of
   its parameters has the second half as a choice. */
static void say_new_key(tutti_context *context, const char *value, char *text, size_t size) {
  const struct tutti_descriptor *source;
  char name[64];
  if (strcmp(value, "auto") == 0) {
    (void)snprintf(text, size, "leave it out; the ending of path says it");
    return;
  }
  (void)snprintf(text, size, "write plugin = %s", value);
  if (find_source(context, value, &source))
    return;
  (void)snprintf(name, sizeof name, "%s", value);
  char *dash = strchr(name, '-');
  if (!dash)
    return;
  *dash = '\0';
  const char *key = find_source(context, name, &source) ? key_with_choice(source, dash + 1) : NULL;
  if (key)
    (void)snprintf(text, size, "write plugin = %s and %s = %s", name, key, dash + 1);
}

static enum tutti_status refuse_format(tutti_context *context, const struct recipe_entry *entry) {
  char now[160];
  say_new_key(context, entry->value, now, sizeof now);
  return tutti_recipe_blame_line(context, entry,
                                 TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "data.format is now data.plugin: %s", now));
}

/* --- which source --- */

/* A source shares its section with the keys of the data set, so its parameters must not have their names. */
static enum tutti_status check_names(tutti_context *context, const struct tutti_descriptor *source) {
  for (size_t i = 0; i < source->params.count; i++) {
    const char *name = tutti_params_at(&source->params, i)->name;
    if (strcmp(name, "plugin") == 0 || tutti_params_find(tutti_data_params(), name))
      return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN,
                        "source %s broke its contract: its parameter '%s' has the name of a key of [data]; it has to "
                        "be called otherwise",
                        source->name, name);
  }
  return TUTTI_OK;
}

/* The source that the recipe names or, if it names none, the one for the ending of the path. */
static enum tutti_status choose(tutti_context *context, const tutti_recipe *recipe, const struct recipe_entry **entry,
                                const char **name) {
  const struct recipe_entry *plugin = tutti_recipe_find(recipe, section, "plugin");
  const struct recipe_entry *path = tutti_recipe_find(recipe, section, "path");
  *entry = plugin ? plugin : path;
  if (plugin && *plugin->value && strcmp(plugin->value, "none") != 0) {
    *name = plugin->value;
    return TUTTI_OK;
  }
  if (plugin)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "expected the name of a source, found '%s'", plugin->value);
  if (path && *path->value)
    return tutti_source_find(context, path->value, NULL, name);
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "[data] plugin: expected a source, or a path whose ending says which; found neither");
}

enum tutti_status tutti_recipe_put_source(tutti_context *context, tutti_recipe *recipe) {
  const struct recipe_entry *format = tutti_recipe_find(recipe, section, "format"), *entry;
  const struct tutti_descriptor *source;
  const tutti_config *config;
  const char *name;
  if (format && !tutti_recipe_find(recipe, section, "plugin"))
    return refuse_format(context, format);
  enum tutti_status status = choose(context, recipe, &entry, &name);
  if (status == TUTTI_OK)
    status = tutti_host_put(context, recipe->host, section, TUTTI_KIND_SOURCE, name);
  if (status != TUTTI_OK)
    return entry ? tutti_recipe_blame(context, entry, status)
                 : tutti_error_prefix(context, status, "%s: ", tutti_recipe_path(recipe));
  source = tutti_recipe_plugin(recipe, section, &config);
  if (format && !tutti_params_find(&source->params, format->key))
    return refuse_format(context, format);
  return check_names(context, source);
}
