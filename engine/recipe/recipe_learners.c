/* recipe_learners.c - whose parameters the hyperparameters are: the backend's, the head's, or a learner's. Learners are
   backends that a searchable parameter of the run's backend may name; each has a section of its own name. Those of the
   head and of learners are called SECTION.NAME in [hyperparameters]. */
#include <string.h>
#include <tutti/data.h>

#include "recipe_impl.h"

static bool names_plugins(const struct tutti_param *param) {
  return param->type == TUTTI_PARAM_PLUGIN && (param->flags & TUTTI_PARAM_SEARCHABLE);
}

static const struct tutti_params *backend_params(const tutti_recipe *recipe) {
  static const struct tutti_params none = TUTTI_NO_PARAMS;
  const tutti_config *config;
  const struct tutti_descriptor *backend = tutti_recipe_plugin(recipe, "backend", &config);
  return backend ? &backend->params : &none;
}

bool tutti_recipe_names_learners(const tutti_recipe *recipe, const struct recipe_entry *entry) {
  const struct tutti_param *param = tutti_params_find(backend_params(recipe), entry->key);
  return param && names_plugins(param) &&
         (strcmp(entry->section, "backend") == 0 || strcmp(entry->section, "hyperparameters") == 0);
}

bool tutti_recipe_is_learner(const tutti_recipe *recipe, const char *section, const char **parameter) {
  const struct tutti_params *params = backend_params(recipe);
  const tutti_config *config;
  const struct tutti_descriptor *plugin = tutti_recipe_plugin(recipe, section, &config);
  for (size_t i = 0; plugin && i < params->count; i++) {
    const struct tutti_param *param = tutti_params_at(params, i);
    if (!names_plugins(param) || plugin->kind != param->kind || strcmp(plugin->name, section) != 0)
      continue;
    if (parameter)
      *parameter = param->name;
    return true;
  }
  return false;
}

const char *tutti_recipe_owner(const tutti_recipe *recipe, const char *key, const char **name) {
  const char *dot = strchr(key, '.');
  if (recipe->head && strncmp(key, RECIPE_HEAD_PREFIX, strlen(RECIPE_HEAD_PREFIX)) == 0) {
    *name = dot + 1;
    return RECIPE_HEAD_SECTION;
  }
  *name = key;
  for (size_t i = 0; dot && i < tutti_host_sections(recipe->host); i++) {
    const struct tutti_descriptor *descriptor;
    const tutti_config *config;
    const char *section = tutti_host_section(recipe->host, i, &descriptor, &config);
    if (strlen(section) != (size_t)(dot - key) || strncmp(section, key, (size_t)(dot - key)) != 0 ||
        !tutti_recipe_is_learner(recipe, section, NULL))
      continue;
    *name = dot + 1;
    return section;
  }
  return "backend";
}

const struct tutti_params *tutti_recipe_owner_params(const tutti_recipe *recipe, const char *section,
                                                     const tutti_config **config) {
  if (strcmp(section, RECIPE_HEAD_SECTION) != 0)
    return &tutti_recipe_plugin(recipe, section, config)->params;
  *config = recipe->head;
  return tutti_head_params();
}

/* Put every choice of a range. The first is the one that stands in the backend's own config. */
static enum tutti_status put_choices(tutti_context *context, tutti_recipe *recipe, const struct tutti_param *param,
                                     const struct recipe_entry *entry) {
  enum tutti_status status = TUTTI_OK;
  tutti_domain *domain;
  TUTTI_TRY(context, tutti_domain_create(context, &domain));
  TUTTI_TRY_OUT(context, tutti_domain_add_text(context, domain, entry->key, entry->value));
  const struct tutti_dimension *dimension = tutti_domain_at(domain, 0);
  for (size_t i = 0; i < dimension->choice_count; i++) {
    TUTTI_TRY_OUT(context, i == 0 ? tutti_host_set(context, recipe->host, "backend", param->name, dimension->choices[0])
                                  : tutti_host_put_named(context, recipe->host, param->kind, dimension->choices[i]));
  }
out:
  tutti_domain_destroy(domain);
  return status;
}

/* The plugin of the preset leaves its section, unless something names it. */
static enum tutti_status put_entry(tutti_context *context, tutti_recipe *recipe, const struct tutti_param *param,
                                   const struct recipe_entry *entry) {
  if (strcmp(entry->value, param->preset) == 0)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_host_put(context, recipe->host, param->preset, param->kind, "none"));
  return tutti_domain_is_range(entry->value)
             ? put_choices(context, recipe, param, entry)
             : tutti_host_set(context, recipe->host, "backend", param->name, entry->value);
}

/* What says which learners there are: the entry of [hyperparameters] or of [backend], whichever is of the higher layer.
   NULL: none, and the preset counts. */
static const struct recipe_entry *choosing_entry(const tutti_recipe *recipe, const struct tutti_param *param) {
  const struct recipe_entry *searched = tutti_recipe_find(recipe, "hyperparameters", param->name);
  const struct recipe_entry *own = tutti_recipe_find(recipe, "backend", param->name);
  return own && (!searched || own->layer > searched->layer) ? own : searched;
}

enum tutti_status tutti_recipe_put_learners(tutti_context *context, tutti_recipe *recipe) {
  const struct tutti_params *params = backend_params(recipe);
  for (size_t i = 0; i < params->count; i++) {
    const struct tutti_param *param = tutti_params_at(params, i);
    const struct recipe_entry *entry = names_plugins(param) ? choosing_entry(recipe, param) : NULL;
    if (!entry)
      continue;
    enum tutti_status status = put_entry(context, recipe, param, entry);
    if (status != TUTTI_OK && recipe->recorded)
      return tutti_recipe_put_absent(context, recipe, tutti_host_plugin(recipe->host, "backend"), status);
    if (status != TUTTI_OK)
      return tutti_recipe_blame(context, entry, status);
  }
  return TUTTI_OK;
}
