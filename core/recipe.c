/* recipe.c - a recipe's entries, checked against the tables of the core and of the plugins that they name. */
#include "recipe_impl.h"

#include <libgen.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/data.h>
#include <tutti/registry.h>

/* The sections that every run has, and the plugins that stand there unless the recipe says otherwise. */
static const struct {
  const char *section;
  enum tutti_kind kind;
  const char *plugin;
} standard[] = {
    {"space", TUTTI_KIND_SPACE, "mlp"},           {"backend", TUTTI_KIND_BACKEND, "cpu"},
    {"builder", TUTTI_KIND_BUILDER, "nes-rs"},    {"selector", TUTTI_KIND_SELECTOR, "forward"},
    {"executor", TUTTI_KIND_EXECUTOR, "local"},
};
enum { STANDARD = sizeof standard / sizeof standard[0] };

static bool is_standard(const char *section) {
  for (size_t i = 0; i < STANDARD; i++)
    if (strcmp(standard[i].section, section) == 0)
      return true;
  return false;
}

/* --- values --- */

/* Paths are relative to the file in which they stand. */
static enum tutti_status absolute(tutti_context *context, const struct tutti_entry *entry, char **out) {
  char folder[PATH_MAX], *copy;
  if (!*entry->value || *entry->value == '/')
    return tutti_strdup(context, entry->value, out);
  TUTTI_TRY(context, tutti_strdup(context, entry->line ? entry->file : "./x", &copy));
  bool found = realpath(dirname(copy), folder) != NULL;
  tutti_free(copy);
  return found ? tutti_format(context, out, "%s/%s", folder, entry->value) : tutti_strdup(context, entry->value, out);
}

static enum tutti_status unknown_key(tutti_context *context, const struct tutti_entry *entry,
                                     const struct tutti_params *params, const char *owner) {
  const char *names[256];
  char list[1024] = "";
  size_t count = 0, used = 0;
  for (size_t i = 0; i < params->count && count < 256; i++) {
    names[count++] = tutti_params_at(params, i)->name;
    if (used < sizeof list)
      used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[count - 1]);
  }
  const char *closest = tutti_closest_name(entry->key, count, names);
  enum tutti_status status =
      closest ? TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "unknown key; did you mean '%s'? (%s has: %s)", closest, owner, list)
              : TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "unknown key (%s has: %s)", owner, count ? list : "no parameters");
  return tutti_entry_blame(context, entry, status);
}

/* Set an entry in a config of the core's own. */
static enum tutti_status set_own(tutti_context *context, tutti_config *config, struct tutti_entry *entry) {
  char owner[64], *value;
  const struct tutti_param *param = tutti_params_find(tutti_config_params(config), entry->key);
  (void)snprintf(owner, sizeof owner, "section [%s]", entry->section);
  entry->used = true;
  if (!param)
    return unknown_key(context, entry, tutti_config_params(config), owner);
  if (param->type != TUTTI_PARAM_PATH)
    TUTTI_TRY(context, tutti_strdup(context, entry->value, &value));
  else
    TUTTI_TRY(context, absolute(context, entry, &value));
  enum tutti_status status = tutti_config_set(context, config, entry->key, value);
  tutti_free(value);
  return status == TUTTI_OK ? TUTTI_OK : tutti_entry_blame(context, entry, status);
}

static enum tutti_status set_section(tutti_context *context, struct tutti_recipe *recipe, const char *section,
                                     const struct tutti_params *params, tutti_config **config) {
  TUTTI_TRY(context, tutti_config_create(context, params, config));
  for (size_t i = 0; i < recipe->entries.count; i++) {
    struct tutti_entry *entry = &recipe->entries.items[i];
    bool extends = strcmp(section, "run") == 0 && strcmp(entry->key, "extends") == 0;
    if (strcmp(entry->section, section) == 0 && !extends)
      TUTTI_TRY(context, set_own(context, *config, entry));
    entry->used = entry->used || (extends && strcmp(entry->section, "run") == 0);
  }
  const char *missing = tutti_config_missing(*config);
  if (missing)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: [%s] %s: a value is needed", recipe->name, section, missing);
  return TUTTI_OK;
}

/* --- plugins --- */

/* Put a section's plugin, if the recipe names one; the error is the entry's. */
static enum tutti_status put_standard(tutti_context *context, struct tutti_recipe *recipe, size_t index) {
  struct tutti_entry *entry = tutti_entries_find(&recipe->entries, standard[index].section, "plugin");
  enum tutti_status status = tutti_host_put(context, recipe->host, standard[index].section, standard[index].kind,
                                            entry ? entry->value : standard[index].plugin);
  if (entry)
    entry->used = true;
  return status == TUTTI_OK || !entry ? status : tutti_entry_blame(context, entry, status);
}

/* The entry that decided which plugin stands in a section; NULL: a default did. */
static const struct tutti_entry *decided_by(const struct tutti_recipe *recipe, const char *section) {
  if (is_standard(section))
    return tutti_entries_find(&recipe->entries, section, "plugin");
  const struct tutti_entry *highest = NULL;
  for (size_t i = 0; i < recipe->entries.count; i++) {
    const struct tutti_entry *entry = &recipe->entries.items[i];
    if (strcmp(entry->key, section) == 0 && (!highest || entry->level > highest->level))
      highest = entry;
  }
  return highest;
}

static enum tutti_status set_plugin_key(tutti_context *context, struct tutti_recipe *recipe,
                                        const struct tutti_descriptor *descriptor, struct tutti_entry *entry) {
  char owner[128], *value;
  const struct tutti_param *param = tutti_params_find(&descriptor->params, entry->key);
  entry->used = true;
  if (!param) {
    /* What a base says of the plugin that an extending recipe has swapped for another is no slip. */
    const struct tutti_entry *decision = decided_by(recipe, entry->section);
    if (decision && decision->level > entry->level)
      return TUTTI_OK;
    (void)snprintf(owner, sizeof owner, "%s %s", tutti_kind_name(descriptor->kind), descriptor->name);
    return unknown_key(context, entry, &descriptor->params, owner);
  }
  if (param->type == TUTTI_PARAM_PATH)
    TUTTI_TRY(context, absolute(context, entry, &value));
  else
    TUTTI_TRY(context, tutti_strdup(context, entry->value, &value));
  enum tutti_status status = tutti_host_set(context, recipe->host, entry->section, entry->key, value);
  tutti_free(value);
  return status == TUTTI_OK ? TUTTI_OK : tutti_entry_blame(context, entry, status);
}

/* "plugin = x" in a section that a parameter names may only say the same again. */
static enum tutti_status check_named(tutti_context *context, const struct tutti_descriptor *descriptor,
                                     struct tutti_entry *entry) {
  entry->used = true;
  if (strcmp(entry->value, descriptor->name) == 0)
    return TUTTI_OK;
  return tutti_entry_blame(context, entry,
                           TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                                      "the plugin of this section is '%s'; it is chosen by the parameter '%s' of the plugin "
                                      "that uses it",
                                      descriptor->name, entry->section));
}

static enum tutti_status set_plugins(tutti_context *context, struct tutti_recipe *recipe) {
  for (size_t i = 0; i < STANDARD; i++)
    TUTTI_TRY(context, put_standard(context, recipe, i));
  /* Setting a parameter of type plugin puts further sections behind. */
  for (size_t i = 0; i < tutti_host_sections(recipe->host); i++) {
    for (size_t k = 0; k < recipe->entries.count; k++) {
      const struct tutti_descriptor *descriptor;
      const tutti_config *config;
      const char *section = tutti_host_section(recipe->host, i, &descriptor, &config);
      struct tutti_entry *entry = &recipe->entries.items[k];
      if (strcmp(entry->section, section) != 0 || (is_standard(section) && strcmp(entry->key, "plugin") == 0))
        continue;
      TUTTI_TRY(context, strcmp(entry->key, "plugin") == 0 ? check_named(context, descriptor, entry)
                                                           : set_plugin_key(context, recipe, descriptor, entry));
    }
  }
  return tutti_host_check(context, recipe->host);
}

/* --- hyperparameters --- */

static bool is_range(const char *value) {
  static const char *const words[] = {"uniform", "log-uniform", "integer", "log-integer", "choice"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    size_t length = strlen(words[i]);
    if (strncmp(value, words[i], length) == 0 && (value[length] == ' ' || value[length] == '\t'))
      return true;
  }
  return false;
}

/* Every value of a range has to be one that the parameter takes. */
static enum tutti_status check_range(tutti_context *context, const struct tutti_recipe *recipe,
                                     const struct tutti_param *param, const struct tutti_dimension *dimension) {
  const struct tutti_descriptor *descriptor;
  const tutti_config *config = NULL;
  tutti_config *probe;
  enum tutti_status status = TUTTI_OK;
  for (size_t i = 0; i < tutti_host_sections(recipe->host); i++)
    if (strcmp(tutti_host_section(recipe->host, i, &descriptor, &config), "backend") == 0)
      break;
  if (dimension->type == TUTTI_DIMENSION_REAL && param->type == TUTTI_PARAM_INTEGER)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "this is an integer; use 'integer %g %g' or 'log-integer %g %g'",
                      dimension->low, dimension->high, dimension->low, dimension->high);
  if (dimension->type != TUTTI_DIMENSION_CATEGORICAL && param->type != TUTTI_PARAM_INTEGER &&
      param->type != TUTTI_PARAM_REAL)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "this is not a number; use 'choice A B ...'");
  TUTTI_TRY(context, tutti_config_copy(context, config, &probe));
  if (dimension->type == TUTTI_DIMENSION_CATEGORICAL) {
    for (size_t i = 0; i < dimension->choice_count && status == TUTTI_OK; i++)
      status = tutti_config_set(context, probe, param->name, dimension->choices[i]);
  } else {
    status = tutti_config_set_number(context, probe, param->name, dimension->low);
    if (status == TUTTI_OK)
      status = tutti_config_set_number(context, probe, param->name, dimension->high);
  }
  tutti_config_destroy(probe);
  return status;
}

static enum tutti_status set_hyperparameter(tutti_context *context, struct tutti_recipe *recipe,
                                            const struct tutti_descriptor *backend, struct tutti_entry *entry) {
  const struct tutti_param *param = tutti_params_find(&backend->params, entry->key);
  char owner[128];
  entry->used = true;
  (void)snprintf(owner, sizeof owner, "backend %s", backend->name);
  if (!param)
    return unknown_key(context, entry, &backend->params, owner);
  const struct tutti_entry *fixed = tutti_entries_find(&recipe->entries, "backend", entry->key);
  if (fixed)
    return tutti_entry_blame(context, entry,
                             TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                                        "it stands in [backend], too (%s:%d); keep one of the two", fixed->file, fixed->line));
  if (!is_range(entry->value)) {
    enum tutti_status status = tutti_host_set(context, recipe->host, "backend", entry->key, entry->value);
    return status == TUTTI_OK ? TUTTI_OK : tutti_entry_blame(context, entry, status);
  }
  if (!(param->flags & TUTTI_PARAM_SEARCHABLE))
    return tutti_entry_blame(context, entry,
                             TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s does not let it be searched; give one value", owner));
  enum tutti_status status = tutti_domain_add_text(context, recipe->hyperparameters, entry->key, entry->value);
  if (status == TUTTI_OK)
    status = check_range(context, recipe, param,
                         tutti_domain_at(recipe->hyperparameters, tutti_domain_count(recipe->hyperparameters) - 1));
  return status == TUTTI_OK ? TUTTI_OK : tutti_entry_blame(context, entry, status);
}

static enum tutti_status set_hyperparameters(tutti_context *context, struct tutti_recipe *recipe) {
  const struct tutti_descriptor *backend = NULL;
  const tutti_config *config;
  TUTTI_TRY(context, tutti_domain_create(context, &recipe->hyperparameters));
  for (size_t i = 0; i < tutti_host_sections(recipe->host); i++)
    if (strcmp(tutti_host_section(recipe->host, i, &backend, &config), "backend") == 0)
      break;
  for (size_t i = 0; i < recipe->entries.count; i++)
    if (strcmp(recipe->entries.items[i].section, "hyperparameters") == 0)
      TUTTI_TRY(context, set_hyperparameter(context, recipe, backend, &recipe->entries.items[i]));
  return TUTTI_OK;
}

/* --- the whole --- */

/* An entry that nobody took stands in a section that there is not. */
static enum tutti_status check_unused(tutti_context *context, const struct tutti_recipe *recipe) {
  const char *names[64] = {"run", "data", "head", "hyperparameters"};
  size_t count = 4;
  for (size_t i = 0; i < tutti_host_sections(recipe->host) && count < 64; i++) {
    const struct tutti_descriptor *descriptor;
    const tutti_config *config;
    names[count++] = tutti_host_section(recipe->host, i, &descriptor, &config);
  }
  for (size_t i = 0; i < recipe->entries.count; i++) {
    const struct tutti_entry *entry = &recipe->entries.items[i];
    if (entry->used || (!*entry->section && strcmp(entry->key, "extends") == 0))
      continue;
    const char *closest = tutti_closest_name(entry->section, count, names);
    return tutti_entry_blame(
        context, entry,
        *entry->section ? TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                                     "there is no section [%s], or no plugin in use has a parameter of that name%s%s%s",
                                     entry->section, closest ? "; did you mean [" : "", closest ? closest : "",
                                     closest ? "]?" : "")
                        : TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "only 'extends' may stand in front of the first section"));
  }
  return TUTTI_OK;
}

static enum tutti_status add_plugin_path(tutti_context *context, const struct tutti_recipe *recipe) {
  char *copy, *cursor, *folder;
  enum tutti_status status = TUTTI_OK;
  TUTTI_TRY(context, tutti_strdup(context, tutti_recipe_run(recipe)->plugin_path, &copy));
  cursor = copy;
  while (status == TUTTI_OK && (folder = strsep(&cursor, ":"))) {
    char *path = NULL;
    if (!*folder)
      continue;
    status = *folder == '/' ? tutti_strdup(context, folder, &path)
                            : tutti_format(context, &path, "%s/%s", recipe->folder, folder);
    if (status == TUTTI_OK)
      status = tutti_plugin_path_add(context, path);
    tutti_free(path);
  }
  tutti_free(copy);
  return status;
}

/* Folder (absolute) and name (without .ini) of the recipe's file. */
static enum tutti_status set_folder_and_name(tutti_context *context, struct tutti_recipe *recipe, const char *path) {
  char *copy, folder[PATH_MAX];
  TUTTI_TRY(context, tutti_strdup(context, path, &copy));
  enum tutti_status status =
      tutti_strdup(context, realpath(dirname(copy), folder) ? folder : ".", &recipe->folder);
  tutti_free(copy);
  TUTTI_TRY(context, status);
  const char *base = strrchr(path, '/');
  TUTTI_TRY(context, tutti_strdup(context, base ? base + 1 : path, &recipe->name));
  size_t length = strlen(recipe->name);
  if (length > 4 && strcmp(recipe->name + length - 4, ".ini") == 0)
    recipe->name[length - 4] = '\0';
  return TUTTI_OK;
}

static enum tutti_status check_name(tutti_context *context, const struct tutti_recipe *recipe) {
  const char *name = tutti_recipe_run(recipe)->name;
  if (strchr(name, '/') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "[run] name: '%s' cannot be the name of a folder", name);
  return TUTTI_OK;
}

static enum tutti_status fill(tutti_context *context, struct tutti_recipe *recipe, const char *path, size_t count,
                              const char *const *overrides) {
  struct tutti_host_facts facts = {.size = sizeof facts};
  TUTTI_TRY(context, set_folder_and_name(context, recipe, path));
  TUTTI_TRY(context, tutti_entries_read(context, path, &recipe->entries));
  for (size_t i = 0; i < count; i++)
    TUTTI_TRY(context, tutti_entries_override(context, overrides[i], &recipe->entries));
  TUTTI_TRY(context, set_section(context, recipe, "run", tutti_run_params(), &recipe->run));
  if (!*tutti_recipe_run(recipe)->name)
    TUTTI_TRY(context, tutti_config_set(context, recipe->run, "name", recipe->name));
  TUTTI_TRY(context, check_name(context, recipe));
  if (tutti_entries_has_section(&recipe->entries, "data") || tutti_entries_has_section(&recipe->entries, "head")) {
    TUTTI_TRY(context, set_section(context, recipe, "data", tutti_data_params(), &recipe->data));
    TUTTI_TRY(context, set_section(context, recipe, "head", tutti_head_params(), &recipe->head));
  }
  TUTTI_TRY(context, add_plugin_path(context, recipe));
  TUTTI_TRY(context, tutti_host_create(context, &facts, &recipe->host));
  TUTTI_TRY(context, set_plugins(context, recipe));
  TUTTI_TRY(context, set_hyperparameters(context, recipe));
  return check_unused(context, recipe);
}

enum tutti_status tutti_recipe_load(tutti_context *context, const char *path, size_t count,
                                    const char *const *overrides, tutti_recipe **out) {
  tutti_recipe *recipe;
  *out = NULL;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *recipe, &recipe));
  enum tutti_status status = fill(context, recipe, path, count, overrides);
  if (status != TUTTI_OK) {
    tutti_recipe_destroy(recipe);
    return tutti_error_trace(context, status, __FILE__, __LINE__, __func__);
  }
  *out = recipe;
  return TUTTI_OK;
}

void tutti_recipe_destroy(tutti_recipe *recipe) {
  if (!recipe)
    return;
  tutti_entries_release(&recipe->entries);
  tutti_host_destroy(recipe->host);
  tutti_domain_destroy(recipe->hyperparameters);
  tutti_config_destroy(recipe->run);
  tutti_config_destroy(recipe->data);
  tutti_config_destroy(recipe->head);
  tutti_free(recipe->folder);
  tutti_free(recipe->name);
  tutti_free(recipe);
}

const struct tutti_run_config *tutti_recipe_run(const tutti_recipe *recipe) { return tutti_config_values(recipe->run); }

const tutti_config *tutti_recipe_data(const tutti_recipe *recipe) { return recipe->data; }

const tutti_config *tutti_recipe_head(const tutti_recipe *recipe) { return recipe->head; }

const char *tutti_recipe_folder(const tutti_recipe *recipe) { return recipe->folder; }

const tutti_domain *tutti_recipe_hyperparameters(const tutti_recipe *recipe) { return recipe->hyperparameters; }

/* Copy a section with the value of each parameter. */
static enum tutti_status copy_section(tutti_context *context, const char *section,
                                      const struct tutti_descriptor *descriptor, const tutti_config *config,
                                      tutti_host *host) {
  TUTTI_TRY(context, tutti_host_put(context, host, section, descriptor->kind, descriptor->name));
  for (size_t i = 0; i < descriptor->params.count; i++) {
    const struct tutti_param *param = tutti_params_at(&descriptor->params, i);
    char *text;
    TUTTI_TRY(context, tutti_config_get(context, config, param->name, &text));
    enum tutti_status status = tutti_host_set(context, host, section, param->name, text);
    tutti_free(text);
    TUTTI_TRY(context, status);
  }
  return TUTTI_OK;
}

enum tutti_status tutti_recipe_assemble(tutti_context *context, const tutti_recipe *recipe, tutti_host **out) {
  struct tutti_host_facts facts = {.size = sizeof facts};
  enum tutti_status status;
  tutti_host *host;
  *out = NULL;
  TUTTI_TRY(context, tutti_host_create(context, &facts, &host));
  for (size_t i = 0; i < tutti_host_sections(recipe->host); i++) {
    const struct tutti_descriptor *descriptor;
    const tutti_config *config;
    const char *section = tutti_host_section(recipe->host, i, &descriptor, &config);
    status = copy_section(context, section, descriptor, config, host);
    if (status != TUTTI_OK) {
      tutti_host_destroy(host);
      return tutti_error_trace(context, status, __FILE__, __LINE__, __func__);
    }
  }
  *out = host;
  return TUTTI_OK;
}
