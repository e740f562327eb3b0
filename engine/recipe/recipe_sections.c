/* recipe_sections.c - which plugin a section has, who decided that, and what to say of a key that nobody has. */
#include <string.h>

#include "recipe_impl.h"
#include "core/base/text_impl.h"

const struct recipe_root tutti_recipe_roots[RECIPE_ROOTS] = {
    {"space", TUTTI_KIND_SPACE, "mlp", .of_run = true, .of_training = true},
    {"backend", TUTTI_KIND_BACKEND, "cpu", .of_run = true, .of_training = true},
    {"builder", TUTTI_KIND_BUILDER, "nes-rs", .of_run = true},
    {"pruner", TUTTI_KIND_PRUNER, "none", .of_run = true},
    {"selector", TUTTI_KIND_SELECTOR, "forward", .of_run = true, .part = TUTTI_RECIPE_SELECTION},
    {"calibrator", TUTTI_KIND_CALIBRATOR, "none", .of_run = true, .of_data = true, .part = TUTTI_RECIPE_SELECTION},
    {"surrogate", TUTTI_KIND_SURROGATE, "nomu", .of_fit = true, .of_training = true},
    {"executor", TUTTI_KIND_EXECUTOR, "local", .of_run = true, .of_fit = true, .part = TUTTI_RECIPE_CIRCUMSTANCES},
};

bool tutti_recipe_has_root(const tutti_recipe *recipe, const struct recipe_root *root) {
  return (recipe->fit ? root->of_fit : root->of_run) && (recipe->data || !root->of_data);
}

bool tutti_recipe_is_root(const tutti_recipe *recipe, const char *section) {
  for (size_t i = 0; i < RECIPE_ROOTS; i++)
    if (strcmp(tutti_recipe_roots[i].section, section) == 0 && tutti_recipe_has_root(recipe, &tutti_recipe_roots[i]))
      return true;
  return strcmp(section, RECIPE_SOURCE_SECTION) == 0;
}

const struct tutti_descriptor *tutti_recipe_plugin(const tutti_recipe *recipe, const char *section,
                                                   const tutti_config **config) {
  for (size_t i = 0; i < tutti_host_sections(recipe->host); i++) {
    const struct tutti_descriptor *descriptor;
    if (strcmp(tutti_host_section(recipe->host, i, &descriptor, config), section) == 0)
      return descriptor;
  }
  *config = NULL;
  return NULL;
}

/* Does the entry choose a plugin, of those that are in use? */
static bool chooses_plugin(const tutti_recipe *recipe, const struct recipe_entry *entry) {
  const tutti_config *config;
  const struct tutti_descriptor *owner = tutti_recipe_plugin(recipe, entry->section, &config);
  const struct tutti_param *param = owner ? tutti_params_find(&owner->params, entry->key) : NULL;
  return param && param->type == TUTTI_PARAM_PLUGIN;
}

unsigned tutti_recipe_decided(const tutti_recipe *recipe, const char *section) {
  const tutti_config *config;
  bool in_use = tutti_recipe_plugin(recipe, section, &config) != NULL;
  unsigned layer = 0;
  if (strcmp(section, RECIPE_SOURCE_SECTION) == 0 && !tutti_recipe_find(recipe, section, "plugin")) {
    const struct recipe_entry *path = tutti_recipe_find(recipe, section, "path");
    return path ? path->layer : 0;
  }
  for (size_t i = 0; i < recipe->count; i++) {
    const struct recipe_entry *entry = &recipe->entries[i];
    bool decides = tutti_recipe_is_root(recipe, section)
                       ? strcmp(entry->section, section) == 0 && strcmp(entry->key, "plugin") == 0
                       : strcmp(entry->key, section) == 0 || strcmp(entry->key, "plugin") == 0 ||
                             tutti_recipe_names_learners(recipe, entry) || (!in_use && chooses_plugin(recipe, entry));
    if (decides && entry->layer > layer)
      layer = entry->layer;
  }
  return layer;
}

/* Append the names of a table to names[]; returns their new number. */
static size_t add_names(const struct tutti_params *params, unsigned flags, size_t count, const char **names) {
  for (size_t i = 0; params && i < params->count; i++)
    if ((tutti_params_at(params, i)->flags & flags) == flags)
      names[count++] = tutti_params_at(params, i)->name;
  return count;
}

enum tutti_status tutti_recipe_unknown_key(tutti_context *context, const struct recipe_entry *entry, const char *owner,
                                           const struct tutti_params *params, const struct tutti_params *more,
                                           unsigned flags) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_text text = tutti_text_begin(context);
  const char **names = NULL;
  char *message = NULL;
  size_t count = params->count + (more ? more->count : 0);
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *names, &names));
  count = add_names(more, flags, add_names(params, flags, 0, names), names);
  const char *dot = strrchr(entry->key, '.');
  const char *closest = tutti_closest_name(dot ? dot + 1 : entry->key, count, names);
  tutti_text_add(&text, "unknown key");
  if (tutti_recipe_is_kind(context, entry->key))
    tutti_text_add(&text, "; did you mean 'plugin' in the section [%s]?", entry->key);
  else if (closest)
    tutti_text_add(&text, "; did you mean '%s'?", closest);
  tutti_text_add(&text, " (%s %s", owner, count ? "has: " : "has no parameters");
  for (size_t i = 0; i < count; i++)
    tutti_text_add(&text, "%s%s", i ? ", " : "", names[i]);
  tutti_text_add(&text, ")");
  TUTTI_TRY_OUT(context, tutti_text_take(&text, &message));
  status = tutti_recipe_blame(context, entry, TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s", message));
out:
  tutti_free(message);
  tutti_free(names);
  return status;
}
