/* recipe_check.c - checks a recipe's entries against the tables of the engine and of the plugins that they name. A file
   must be correct as a whole, together with everything that it extends. There is one exception: a file, or the command
   line, may swap a plugin. Keys that a lower file gave to the old plugin are then ignored if the new plugin does not
   have them or does not accept their value. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/data.h>
#include <tutti/registry.h>

#include "recipe_impl.h"
#include "core/base/running_impl.h"
#include "core/base/text_impl.h"

/* Without data, a backend cannot use the networks of a space. */
#define SPACE_WITHOUT_DATA "fixed"

static const char *const own_sections[] = {"run", "data", "head", "hyperparameters", "evaluation", RECIPE_FIT_SECTION};
enum { OWN_SECTIONS = sizeof own_sections / sizeof own_sections[0] };

bool tutti_recipe_is_own(const char *section) {
  for (size_t i = 0; i < OWN_SECTIONS; i++)
    if (strcmp(own_sections[i], section) == 0)
      return true;
  return false;
}

/* --- messages ---------------------------------------------------------------------------------------------------- */

/* A section that is called as a kind of plugin is, and that no plugin here has a use for. */
static enum tutti_status unused_kind(tutti_context *context, const struct recipe_entry *entry) {
  const char *kind = entry->section;
  return tutti_recipe_blame_line(
      context, entry,
      TUTTI_FAIL(
          context, TUTTI_ERROR_USAGE,
          "unknown section [%s], or no plugin in use names it: it would have the parameters of the %s that a key "
          "'%s' of another plugin chooses, and in this recipe none does",
          kind, kind, kind));
}

/* The section that was probably meant, or NULL. */
static const char *closest_section(const tutti_recipe *recipe, const char *section) {
  const char *closest = tutti_closest_name(section, OWN_SECTIONS, own_sections);
  for (size_t i = 0; !closest && i < tutti_host_sections(recipe->host); i++) {
    const struct tutti_descriptor *descriptor;
    const tutti_config *config;
    const char *name = tutti_host_section(recipe->host, i, &descriptor, &config);
    closest = tutti_closest_name(section, 1, &name);
  }
  return closest;
}

static enum tutti_status unknown_section(tutti_context *context, const tutti_recipe *recipe,
                                         const struct recipe_entry *entry) {
  if (tutti_recipe_is_kind(context, entry->section))
    return unused_kind(context, entry);
  const char *closest = closest_section(recipe, entry->section);
  return tutti_recipe_blame_line(
      context, entry,
      TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "unknown section [%s], or no plugin in use names it%s%s%s", entry->section,
                 closest ? "; did you mean [" : "", closest ? closest : "", closest ? "]?" : ""));
}

static enum tutti_status needs_value(tutti_context *context, const tutti_recipe *recipe, const char *section,
                                     const struct tutti_param *param) {
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: [%s] %s: needs a value: %s", tutti_recipe_path(recipe), section,
                    param->name, param->doc);
}

/* --- values ------------------------------------------------------------------------------------------------------ */

/* The entry's value; a relative path is made relative to the folder of its file. */
static enum tutti_status value_of(tutti_context *context, const struct recipe_entry *entry,
                                  const struct tutti_param *param, char **value) {
  if (param->type != TUTTI_PARAM_PATH || *entry->value == '/' || !*entry->value)
    return tutti_strdup(context, entry->value, value);
  TUTTI_TRY(context, tutti_format(context, value, "%s/%s", entry->file->folder, entry->value));
  if (!strstr(*value, " ;"))
    return TUTTI_OK;
  tutti_free(*value);
  return tutti_recipe_blame(context, entry,
                            TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                                       "' ;' begins a comment, and the folder %s has it in its name",
                                       entry->file->folder));
}

/* Fill the config of one of the engine's own sections. Unknown keys of [data] belong to its source. */
static enum tutti_status fill_own(tutti_context *context, const tutti_recipe *recipe, const char *section,
                                  const struct tutti_params *params, tutti_config **config) {
  bool shared = strcmp(section, RECIPE_SOURCE_SECTION) == 0, head = strcmp(section, RECIPE_HEAD_SECTION) == 0;
  TUTTI_TRY(context, tutti_config_create(context, params, config));
  for (size_t i = 0; i < recipe->count; i++) {
    const struct recipe_entry *entry = &recipe->entries[i];
    if (strcmp(entry->section, section) != 0 || !*entry->key || (head && tutti_recipe_is_superseded(recipe, entry)))
      continue;
    const struct tutti_param *param = tutti_params_find(params, entry->key);
    if (!param && shared)
      continue;
    if (!param)
      return tutti_recipe_unknown_key(context, entry, "the section", params, NULL, 0);
    char *value;
    TUTTI_TRY(context, value_of(context, entry, param, &value));
    enum tutti_status status = tutti_config_set(context, *config, entry->key, value);
    tutti_free(value);
    if (status != TUTTI_OK)
      return tutti_recipe_blame(context, entry, status);
  }
  const char *missing = tutti_config_missing(*config);
  return missing ? needs_value(context, recipe, section, tutti_params_find(params, missing)) : TUTTI_OK;
}

/* --- [run] ------------------------------------------------------------------------------------------------------- */

static enum tutti_status set_text(tutti_context *context, tutti_config *config, const char *name, char *text) {
  enum tutti_status status = tutti_config_set(context, config, name, text);
  tutti_free(text);
  return status;
}

/* The name of the recipe's file without .ini, unless the recipe names the run. */
static enum tutti_status set_name(tutti_context *context, tutti_recipe *recipe, const char *path) {
  const struct recipe_entry *entry = tutti_recipe_find(recipe, "run", "name");
  const char *name = ((const struct tutti_run_config *)tutti_config_values(recipe->run))->name;
  if (!*name) {
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    char *text;
    TUTTI_TRY(context, tutti_strdup(context, base, &text));
    size_t length = strlen(text);
    if (length > 4 && strcmp(text + length - 4, ".ini") == 0)
      text[length - 4] = '\0';
    return set_text(context, recipe->run, "name", text);
  }
  if (!strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
    return TUTTI_OK;
  return tutti_recipe_blame(context, entry,
                            TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "expected the name of a folder, found '%s'", name));
}

/* Make the folders of plugin_path absolute, and put them on the context's search path. */
static enum tutti_status set_plugin_path(tutti_context *context, tutti_recipe *recipe) {
  const struct recipe_entry *entry = tutti_recipe_find(recipe, "run", "plugin_path");
  enum tutti_status status = TUTTI_OK;
  struct tutti_text absolute = tutti_text_begin(context);
  char *copy = NULL, *cursor, *folder;
  if (!entry || !*entry->value)
    return TUTTI_OK;
  TUTTI_TRY_OUT(context, tutti_strdup(context, entry->value, &copy));
  cursor = copy;
  while ((folder = strsep(&cursor, ":")))
    if (*folder)
      tutti_text_add(&absolute, "%s%s%s%s", absolute.length ? ":" : "", *folder == '/' ? "" : entry->file->folder,
                     *folder == '/' ? "" : "/", folder);
  tutti_free(copy);
  TUTTI_TRY_OUT(context, tutti_text_take(&absolute, &copy));
  TUTTI_TRY_OUT(context, tutti_config_set(context, recipe->run, "plugin_path", copy));
  if (tutti_recipe_path_counts(context, recipe))
    TUTTI_TRY_OUT(context, tutti_plugin_path_add_list(context, copy));
out:
  tutti_text_discard(&absolute);
  tutti_free(copy);
  return status;
}

static bool has_section(const tutti_recipe *recipe, const char *section) {
  for (size_t i = 0; i < recipe->count; i++)
    if (strcmp(recipe->entries[i].section, section) == 0)
      return true;
  return false;
}

/* With a time and no budget, the time alone ends the run; with neither, it would have no end. */
static enum tutti_status set_extent(tutti_context *context, tutti_recipe *recipe) {
  const struct tutti_run_config *run = tutti_config_values(recipe->run);
  const struct recipe_entry *budget = tutti_recipe_find(recipe, "run", "budget");
  if (!budget && isfinite(run->time) && !has_section(recipe, RECIPE_FIT_SECTION))
    TUTTI_TRY(context, tutti_config_set_number(context, recipe->run, "budget", 0));
  run = tutti_config_values(recipe->run);
  if (run->budget > 0 || isfinite(run->time))
    return TUTTI_OK;
  return tutti_recipe_blame(context, budget,
                            TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                                       "a run without an end: expected a budget, the number of networks to train, or "
                                       "[run] time, such as time = 2h; found neither"));
}

/* In MiB, measured: with less, a worker of a table of a few rows does not get ready. One without data may or may not,
   which is chance, since the limit comes when it has started. */
static const double least_memory = 10;

static enum tutti_status check_memory(tutti_context *context, const tutti_recipe *recipe) {
  const double limit = ((const struct tutti_run_config *)tutti_config_values(recipe->run))->memory_limit;
  if (recipe->recorded || limit == 0 || limit >= least_memory)
    return TUTTI_OK;
  return tutti_recipe_blame(
      context, tutti_recipe_find(recipe, "run", "memory_limit"),
      TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                 "expected at least %g MiB, which a worker takes to get ready, or 0, which is no limit; found %g",
                 least_memory, limit));
}

static enum tutti_status fill_own_sections(tutti_context *context, tutti_recipe *recipe, const char *path) {
  const struct recipe_entry *extends = tutti_recipe_find(recipe, "run", "extends");
  if (extends)
    return tutti_recipe_blame(context, extends,
                              TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "it stands at the top, before the first section"));
  TUTTI_TRY(context, fill_own(context, recipe, "run", tutti_run_params(), &recipe->run));
  const struct tutti_run_config *run = tutti_config_values(recipe->run);
  if (!recipe->recorded) /* who looks at a run cannot change its recipe, but can interrupt */
    tutti_running_set_limit(context, run->plugin_timeout);
  TUTTI_TRY(context, set_name(context, recipe, path));
  TUTTI_TRY(context, set_plugin_path(context, recipe));
  TUTTI_TRY(context, set_extent(context, recipe));
  TUTTI_TRY(context, check_memory(context, recipe));
  if (has_section(recipe, RECIPE_FIT_SECTION)) {
    TUTTI_TRY(context, fill_own(context, recipe, RECIPE_FIT_SECTION, tutti_fit_params(), &recipe->fit));
    TUTTI_TRY(context, tutti_recipe_check_fit(context, recipe));
  }
  if (has_section(recipe, "data")) {
    TUTTI_TRY(context, fill_own(context, recipe, "data", tutti_data_params(), &recipe->data));
    TUTTI_TRY(context, fill_own(context, recipe, RECIPE_HEAD_SECTION, tutti_head_params(), &recipe->head));
    TUTTI_TRY(context, fill_own(context, recipe, "evaluation", tutti_evaluation_params(), &recipe->evaluation));
    return TUTTI_OK;
  }
  if (has_section(recipe, "head"))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: [head] says how data are predicted, and there is no [data]",
                      tutti_recipe_path(recipe));
  if (has_section(recipe, "evaluation"))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: [evaluation] is of predictions for data, and there is no [data]",
                      tutti_recipe_path(recipe));
  return TUTTI_OK;
}

/* --- plugins ----------------------------------------------------------------------------------------------------- */

static enum tutti_status put_root(tutti_context *context, tutti_recipe *recipe, size_t index) {
  const char *section = tutti_recipe_roots[index].section, *plugin = tutti_recipe_roots[index].plugin;
  const struct recipe_entry *entry = tutti_recipe_find(recipe, section, "plugin");
  if (tutti_recipe_roots[index].kind == TUTTI_KIND_SPACE && !recipe->data)
    plugin = SPACE_WITHOUT_DATA;
  bool none = entry && strcmp(entry->value, "none") == 0 && strcmp(plugin, "none") != 0;
  if (entry && (!*entry->value || none))
    return tutti_recipe_blame(context, entry,
                              TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "expected the name of a %s, found '%s'",
                                         tutti_kind_name(tutti_recipe_roots[index].kind), entry->value));
  enum tutti_status status =
      tutti_host_put(context, recipe->host, section, tutti_recipe_roots[index].kind, entry ? entry->value : plugin);
  if (status == TUTTI_OK)
    return TUTTI_OK;
  if (recipe->recorded && entry && !entry->file->command_line && tutti_recipe_roots[index].kind == TUTTI_KIND_BACKEND)
    return tutti_recipe_put_absent(context, recipe, entry->value, status);
  return entry ? tutti_recipe_blame(context, entry, status)
               : tutti_error_prefix(context, status, "%s: [%s] plugin: ", tutti_recipe_path(recipe), section);
}

/* If another plugin's parameter names a plugin, its own section must not. */
static enum tutti_status refuse_plugin_key(tutti_context *context, const tutti_recipe *recipe,
                                           const struct recipe_entry *entry) {
  const char *user = "a plugin that uses it";
  for (size_t i = 0; i < tutti_host_sections(recipe->host); i++) {
    const struct tutti_descriptor *descriptor;
    const tutti_config *config;
    const char *section = tutti_host_section(recipe->host, i, &descriptor, &config);
    if (tutti_params_find(&descriptor->params, entry->section))
      user = section;
  }
  return tutti_recipe_blame(context, entry,
                            TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                                       "this section's plugin is chosen by '%s = %s' in [%s]", entry->section,
                                       entry->value, user));
}

/* Ignore an entry that was meant for the plugin that was there before. */
static enum tutti_status leave_out(tutti_context *context, const struct tutti_descriptor *descriptor,
                                   const struct recipe_entry *entry, const char *why) {
  tutti_error_clear(context);
  tutti_log(context, TUTTI_LOG_INFO, "%s:%d: [%s] %s = %s is left out: %s %s %s", entry->file->path, entry->line,
            entry->section, entry->key, entry->value, tutti_kind_name(descriptor->kind), descriptor->name, why);
  return TUTTI_OK;
}

static enum tutti_status set_plugin_value(tutti_context *context, tutti_recipe *recipe,
                                          const struct tutti_descriptor *descriptor, const struct recipe_entry *entry) {
  const struct tutti_param *param = tutti_params_find(&descriptor->params, entry->key);
  char owner[128], *value;
  bool swapped = entry->layer < tutti_recipe_decided(recipe, entry->section);
  if (!param && swapped)
    return leave_out(context, descriptor, entry, "does not have it");
  if (!param && descriptor->kind == TUTTI_KIND_SOURCE)
    return tutti_recipe_unknown_data_key(context, entry, descriptor);
  if (!param) {
    (void)snprintf(owner, sizeof owner, "%s %s", tutti_kind_name(descriptor->kind), descriptor->name);
    return tutti_recipe_unknown_key(context, entry, owner, &descriptor->params, NULL, 0);
  }
  TUTTI_TRY(context, value_of(context, entry, param, &value));
  enum tutti_status status = tutti_host_set(context, recipe->host, entry->section, entry->key, value);
  tutti_free(value);
  if (status == TUTTI_ERROR_USAGE && swapped && param->type != TUTTI_PARAM_PLUGIN)
    return leave_out(context, descriptor, entry, "does not take that value");
  return status == TUTTI_OK ? TUTTI_OK : tutti_recipe_blame(context, entry, status);
}

/* Set all that the recipe says about the plugin in a section, in the recipe's order. */
static enum tutti_status set_section(tutti_context *context, tutti_recipe *recipe, const char *section) {
  const tutti_config *config;
  const struct tutti_descriptor *descriptor = tutti_recipe_plugin(recipe, section, &config);
  for (size_t i = 0; i < recipe->count; i++) {
    const struct recipe_entry *entry = &recipe->entries[i];
    if (strcmp(entry->section, section) != 0 || !*entry->key || tutti_recipe_is_superseded(recipe, entry))
      continue;
    if (strcmp(section, RECIPE_SOURCE_SECTION) == 0 && tutti_params_find(tutti_data_params(), entry->key))
      continue;
    if (strcmp(entry->key, "plugin") != 0)
      TUTTI_TRY(context, set_plugin_value(context, recipe, descriptor, entry));
    else if (!tutti_recipe_is_root(recipe, section))
      return refuse_plugin_key(context, recipe, entry);
  }
  return TUTTI_OK;
}

/* A parameter that names a plugin appends a section, or changes the plugin of one. If that section was already
   processed, it must be processed again. */
static enum tutti_status set_plugins(tutti_context *context, tutti_recipe *recipe) {
  for (size_t i = 0; i < RECIPE_ROOTS; i++)
    if (tutti_recipe_has_root(recipe, &tutti_recipe_roots[i]))
      TUTTI_TRY(context, put_root(context, recipe, i));
  TUTTI_TRY(context, tutti_recipe_put_learners(context, recipe));
  if (recipe->data)
    TUTTI_TRY(context, tutti_recipe_put_source(context, recipe));
  for (size_t i = 0; i < tutti_host_sections(recipe->host); i++) {
    const struct tutti_descriptor *descriptor;
    const tutti_config *config;
    char section[128];
    (void)snprintf(section, sizeof section, "%s", tutti_host_section(recipe->host, i, &descriptor, &config));
    TUTTI_TRY(context, set_section(context, recipe, section));
    if (i >= tutti_host_sections(recipe->host) ||
        strcmp(tutti_host_section(recipe->host, i, &descriptor, &config), section) != 0)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                        "%s: [%s] takes a plugin out of a section that an earlier one fills", tutti_recipe_path(recipe),
                        section);
  }
  return TUTTI_OK;
}

static enum tutti_status check_needed(tutti_context *context, const tutti_recipe *recipe) {
  for (size_t i = 0; i < tutti_host_sections(recipe->host); i++) {
    const struct tutti_descriptor *descriptor;
    const tutti_config *config;
    const char *section = tutti_host_section(recipe->host, i, &descriptor, &config);
    const char *missing = tutti_config_missing(config);
    if (missing)
      return needs_value(context, recipe, section, tutti_params_find(&descriptor->params, missing));
  }
  return TUTTI_OK;
}

/* May a section that no plugin in use names be left over from a plugin that a higher layer has swapped? Not if it is
   nearly the name of one that is in use: then it is misspelt. */
static bool is_left_over(tutti_context *context, const tutti_recipe *recipe, const struct recipe_entry *entry) {
  enum tutti_kind kind;
  bool known = tutti_kind_parse(context, entry->section, &kind) == TUTTI_OK;
  tutti_error_clear(context);
  if (entry->layer >= tutti_recipe_decided(recipe, entry->section) ||
      (!known && closest_section(recipe, entry->section)))
    return false;
  bool head = !entry->key[0]; /* the line that begins the section */
  tutti_log(context, TUTTI_LOG_INFO, "%s:%d: [%s]%s%s%s%s is left out: no plugin in use names this section",
            entry->file->path, entry->line, entry->section, head ? "" : " ", entry->key, head ? "" : " = ",
            entry->value);
  return true;
}

/* A backend that is not there may name any section. What a run recorded was checked when it began: if nothing has a use
   for a section any more, it changes nothing. */
static enum tutti_status check_sections(tutti_context *context, const tutti_recipe *recipe) {
  for (size_t i = 0; i < recipe->count; i++) {
    const struct recipe_entry *entry = &recipe->entries[i];
    const tutti_config *config;
    if (recipe->absent || (recipe->recorded && !entry->file->command_line) || tutti_recipe_is_own(entry->section) ||
        tutti_recipe_plugin(recipe, entry->section, &config) || is_left_over(context, recipe, entry))
      continue;
    return unknown_section(context, recipe, entry);
  }
  return TUTTI_OK;
}

/* An ensemble cannot have more members than networks are trained. If the recipe sets a larger size, one of the two
   numbers is a mistake. The default size is not checked: it is in every effective recipe. */
static enum tutti_status check_size(tutti_context *context, const tutti_recipe *recipe) {
  const struct recipe_entry *entry = tutti_recipe_find(recipe, "selector", "size");
  const tutti_config *config;
  const struct tutti_descriptor *selector = tutti_recipe_plugin(recipe, "selector", &config);
  const struct tutti_param *param = selector ? tutti_params_find(&selector->params, "size") : NULL;
  long long budget = (long long)tutti_recipe_run(recipe)->budget;
  long long size = entry ? strtoll(entry->value, NULL, 10) : 0;
  /* A selector without a size ignores a size that was meant for another selector, in a layer below. */
  if (!entry || !param || budget == 0 || size <= budget || (param->preset && strcmp(entry->value, param->preset) == 0))
    return TUTTI_OK;
  enum tutti_status status =
      TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                 "expected at most run.budget, the networks that are trained (%lld); found %lld members", budget, size);
  return tutti_recipe_blame(context, entry, status);
}

enum tutti_status tutti_recipe_check(tutti_context *context, tutti_recipe *recipe) {
  struct tutti_host_facts facts = {.size = sizeof facts};
  /* The recipe itself is the file that was read first; the files that it extends follow. */
  TUTTI_TRY(context, fill_own_sections(context, recipe, tutti_recipe_path(recipe)));
  TUTTI_TRY(context, tutti_host_create(context, &facts, &recipe->host));
  TUTTI_TRY(context, set_plugins(context, recipe));
  TUTTI_TRY(context, check_sections(context, recipe));
  TUTTI_TRY(context, tutti_recipe_set_hyperparameters(context, recipe));
  TUTTI_TRY(context, check_needed(context, recipe));
  TUTTI_TRY(context, check_size(context, recipe));
  enum tutti_status status = tutti_host_check(context, recipe->host);
  return status == TUTTI_OK ? TUTTI_OK : tutti_error_prefix(context, status, "%s: ", tutti_recipe_path(recipe));
}
