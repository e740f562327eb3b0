/* recipe_hyperparameters.c - section [hyperparameters]: parameters of the backend and the head, each fixed or
   searched. */
#include <stdio.h>
#include <string.h>

#include "recipe_impl.h"

/* A range, or several words where one is expected, which is a range whose first word is misspelt. */
static bool is_searched(const struct recipe_entry *entry, const struct tutti_param *param) {
  bool one_word = param->type == TUTTI_PARAM_BOOL || param->type == TUTTI_PARAM_INTEGER ||
                  param->type == TUTTI_PARAM_REAL || param->type == TUTTI_PARAM_CHOICE;
  return tutti_domain_is_range(entry->value) || (one_word && strpbrk(entry->value, " \t"));
}

bool tutti_recipe_is_superseded(const tutti_recipe *recipe, const struct recipe_entry *entry) {
  char key[256];
  if (strcmp(entry->section, "backend") == 0)
    (void)snprintf(key, sizeof key, "%s", entry->key);
  else if (strcmp(entry->section, RECIPE_HEAD_SECTION) == 0 || tutti_recipe_is_learner(recipe, entry->section, NULL))
    (void)snprintf(key, sizeof key, "%s.%s", entry->section, entry->key);
  else
    return false;
  const struct recipe_entry *other = tutti_recipe_find(recipe, "hyperparameters", key);
  return other && other->layer > entry->layer;
}

/* --- ranges against parameters ----------------------------------------------------------------------------------- */

static enum tutti_status check_type(tutti_context *context, const struct tutti_param *param,
                                    const struct tutti_dimension *dimension) {
  bool number = param->type == TUTTI_PARAM_INTEGER || param->type == TUTTI_PARAM_REAL;
  if (dimension->type == TUTTI_DIMENSION_CATEGORICAL)
    return TUTTI_OK;
  if (!number)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "expected 'choice A B ...', for it is no number");
  if (dimension->type == TUTTI_DIMENSION_REAL && param->type == TUTTI_PARAM_INTEGER)
    return TUTTI_FAIL(
        context, TUTTI_ERROR_USAGE,
        "expected 'integer A B', 'log-integer A B' or 'choice A B ...' of whole numbers, found '%suniform'",
        dimension->log ? "log-" : "");
  return TUTTI_OK;
}

/* Check that the parameter accepts every value of the range: its ends, or its choices. */
static enum tutti_status check_values(tutti_context *context, const struct tutti_param *param,
                                      const struct tutti_dimension *dimension, tutti_config *scratch) {
  if (dimension->type != TUTTI_DIMENSION_CATEGORICAL) {
    TUTTI_TRY(context, tutti_config_set_number(context, scratch, param->name, dimension->low));
    return tutti_config_set_number(context, scratch, param->name, dimension->high);
  }
  for (size_t i = 0; i < dimension->choice_count; i++)
    TUTTI_TRY(context, tutti_config_set(context, scratch, param->name, dimension->choices[i]));
  return TUTTI_OK;
}

/* The range of a learner's parameter without a condition of its own counts where that learner is chosen. */
static enum tutti_status range_text(tutti_context *context, const tutti_recipe *recipe,
                                    const struct recipe_entry *entry, const char *section, char **text) {
  const char *parameter;
  char *range;
  TUTTI_TRY(context, tutti_recipe_condition(context, recipe, entry, &range));
  if (!*range || strstr(range, " if ") || !tutti_recipe_is_learner(recipe, section, &parameter) ||
      tutti_domain_find(recipe->hyperparameters, parameter) == SIZE_MAX) {
    *text = range;
    return TUTTI_OK;
  }
  enum tutti_status status = tutti_format(context, text, "%s if %s = %s", range, parameter, section);
  tutti_free(range);
  return status;
}

static enum tutti_status add_range(tutti_context *context, tutti_recipe *recipe, const struct recipe_entry *entry,
                                   const char *section, const struct tutti_param *param, const tutti_config *config) {
  tutti_config *scratch;
  char *text;
  TUTTI_TRY(context, range_text(context, recipe, entry, section, &text));
  if (!*text) {
    tutti_free(text);
    return TUTTI_OK; /* nothing that it depends on can be chosen any more */
  }
  enum tutti_status status = tutti_domain_add_text(context, recipe->hyperparameters, entry->key, text);
  tutti_free(text);
  if (status != TUTTI_OK) {
    /* The domain's message begins with the name. */
    (void)tutti_error_prefix(context, status, "[hyperparameters] ");
    return tutti_recipe_blame_line(context, entry, status);
  }
  if (tutti_recipe_absent(recipe))
    return TUTTI_OK; /* its table was checked when the run began */
  const struct tutti_dimension *dimension =
      tutti_domain_at(recipe->hyperparameters, tutti_domain_count(recipe->hyperparameters) - 1);
  TUTTI_TRY(context, tutti_config_copy(context, config, &scratch));
  status = check_type(context, param, dimension);
  if (status == TUTTI_OK)
    status = check_values(context, param, dimension, scratch);
  tutti_config_destroy(scratch);
  return status == TUTTI_OK ? TUTTI_OK : tutti_recipe_blame(context, entry, status);
}

/* --- entries ----------------------------------------------------------------------------------------------------- */

/* The entry for the same parameter in the plugin's own section. In a higher layer it wins; in the same layer, two
   entries are a mistake. */
static enum tutti_status check_own_entry(tutti_context *context, const tutti_recipe *recipe,
                                         const struct recipe_entry *entry, const char *section, const char *name,
                                         bool *wins) {
  const struct recipe_entry *other = tutti_recipe_find(recipe, section, name);
  *wins = other && other->layer > entry->layer;
  if (!other || other->layer != entry->layer)
    return TUTTI_OK;
  return tutti_recipe_blame(context, entry,
                            TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                                       "it stands in [%s], too (line %d); keep one of the two", section, other->line));
}

/* A key that the plugin does not have, or does not let be searched. One that was meant for another plugin, which a
   higher layer has taken away, is left out. */
static enum tutti_status refuse_key(tutti_context *context, const tutti_recipe *recipe,
                                    const struct recipe_entry *entry, const char *section,
                                    const struct tutti_params *params, const struct tutti_param *param) {
  char owner[128];
  if (strcmp(section, RECIPE_HEAD_SECTION) == 0)
    return tutti_recipe_unknown_key(context, entry, "hyperparameters: the head", params, NULL, 0);
  const tutti_config *config;
  const struct tutti_descriptor *plugin = tutti_recipe_plugin(recipe, section, &config);
  if (param)
    return tutti_recipe_blame(context, entry,
                              TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                                         "backend %s does not let it be searched; give it a value in [%s]",
                                         plugin->name, section));
  for (size_t i = 0; i < recipe->count; i++)
    if (tutti_recipe_names_learners(recipe, &recipe->entries[i]) && entry->layer < recipe->entries[i].layer)
      return TUTTI_OK;
  if (entry->layer < tutti_recipe_decided(recipe, "backend"))
    return TUTTI_OK;
  (void)snprintf(owner, sizeof owner, "hyperparameters: backend %s", plugin->name);
  return tutti_recipe_unknown_key(context, entry, owner, params, NULL, TUTTI_PARAM_SEARCHABLE);
}

static enum tutti_status set_value(tutti_context *context, tutti_recipe *recipe, const char *section, const char *name,
                                   const char *value) {
  return strcmp(section, RECIPE_HEAD_SECTION) == 0 ? tutti_config_set(context, recipe->head, name, value)
                                                   : tutti_host_set(context, recipe->host, section, name, value);
}

static enum tutti_status set_entry(tutti_context *context, tutti_recipe *recipe, const struct recipe_entry *entry) {
  const tutti_config *config;
  const char *name, *section = tutti_recipe_owner(recipe, entry->key, &name);
  const struct tutti_params *params = tutti_recipe_owner_params(recipe, section, &config);
  const struct tutti_param *param = tutti_params_find(params, name);
  bool wins;
  if (!param || !(param->flags & TUTTI_PARAM_SEARCHABLE))
    return refuse_key(context, recipe, entry, section, params, param);
  TUTTI_TRY(context, check_own_entry(context, recipe, entry, section, name, &wins));
  if (wins)
    return TUTTI_OK;
  if (is_searched(entry, param))
    return add_range(context, recipe, entry, section, param, config);
  enum tutti_status status = set_value(context, recipe, section, name, entry->value);
  return status == TUTTI_OK ? TUTTI_OK : tutti_recipe_blame(context, entry, status);
}

/* First the entries that say which learners there are: conditions of others name them. */
static enum tutti_status set_entries(tutti_context *context, tutti_recipe *recipe, bool learners) {
  for (size_t i = 0; i < recipe->count; i++) {
    const struct recipe_entry *entry = &recipe->entries[i];
    if (strcmp(entry->section, "hyperparameters") == 0 && *entry->key &&
        tutti_recipe_names_learners(recipe, entry) == learners)
      TUTTI_TRY(context, set_entry(context, recipe, entry));
  }
  return TUTTI_OK;
}

enum tutti_status tutti_recipe_set_hyperparameters(tutti_context *context, tutti_recipe *recipe) {
  TUTTI_TRY(context, tutti_domain_create(context, &recipe->hyperparameters));
  TUTTI_TRY(context, set_entries(context, recipe, true));
  return set_entries(context, recipe, false);
}
