/* recipe_hyperparameters.c - section [hyperparameters]: parameters of the backend, each fixed or searched. */
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
  const struct recipe_entry *other = tutti_recipe_find(recipe, "hyperparameters", entry->key);
  return strcmp(entry->section, "backend") == 0 && other && other->layer > entry->layer;
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

static enum tutti_status add_range(tutti_context *context, tutti_recipe *recipe, const struct recipe_entry *entry,
                                   const struct tutti_param *param, const tutti_config *backend) {
  tutti_config *scratch;
  enum tutti_status status = tutti_domain_add_text(context, recipe->hyperparameters, entry->key, entry->value);
  if (status != TUTTI_OK) {
    /* The domain's message begins with the name. */
    (void)tutti_error_prefix(context, status, "[hyperparameters] ");
    return tutti_recipe_blame_line(context, entry, status);
  }
  if (tutti_recipe_absent(recipe))
    return TUTTI_OK; /* its table was checked when the run began */
  const struct tutti_dimension *dimension =
      tutti_domain_at(recipe->hyperparameters, tutti_domain_count(recipe->hyperparameters) - 1);
  TUTTI_TRY(context, tutti_config_copy(context, backend, &scratch));
  status = check_type(context, param, dimension);
  if (status == TUTTI_OK)
    status = check_values(context, param, dimension, scratch);
  tutti_config_destroy(scratch);
  return status == TUTTI_OK ? TUTTI_OK : tutti_recipe_blame(context, entry, status);
}

/* --- entries ----------------------------------------------------------------------------------------------------- */

/* The entry of [backend] with the same key. In a higher layer it wins; in the same layer, two entries are a mistake. */
static enum tutti_status check_backend_entry(tutti_context *context, const tutti_recipe *recipe,
                                             const struct recipe_entry *entry, bool *wins) {
  const struct recipe_entry *other = tutti_recipe_find(recipe, "backend", entry->key);
  *wins = other && other->layer > entry->layer;
  if (!other || other->layer != entry->layer)
    return TUTTI_OK;
  return tutti_recipe_blame(context, entry,
                            TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                                       "it stands in [backend], too (line %d); keep one of the two", other->line));
}

static enum tutti_status set_entry(tutti_context *context, tutti_recipe *recipe, const struct recipe_entry *entry) {
  const tutti_config *config;
  const struct tutti_descriptor *backend = tutti_recipe_plugin(recipe, "backend", &config);
  const struct tutti_param *param = tutti_params_find(&backend->params, entry->key);
  bool wins;
  if (!param || !(param->flags & TUTTI_PARAM_SEARCHABLE)) {
    char owner[128];
    if (param)
      return tutti_recipe_blame(context, entry,
                                TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                                           "backend %s does not let it be searched; give it a value in [backend]",
                                           backend->name));
    if (entry->layer < tutti_recipe_decided(recipe, "backend"))
      return TUTTI_OK;
    (void)snprintf(owner, sizeof owner, "hyperparameters: backend %s", backend->name);
    return tutti_recipe_unknown_key(context, entry, owner, &backend->params, NULL, TUTTI_PARAM_SEARCHABLE);
  }
  TUTTI_TRY(context, check_backend_entry(context, recipe, entry, &wins));
  if (wins)
    return TUTTI_OK;
  if (is_searched(entry, param))
    return add_range(context, recipe, entry, param, config);
  enum tutti_status status = tutti_host_set(context, recipe->host, "backend", entry->key, entry->value);
  return status == TUTTI_OK ? TUTTI_OK : tutti_recipe_blame(context, entry, status);
}

enum tutti_status tutti_recipe_set_hyperparameters(tutti_context *context, tutti_recipe *recipe) {
  TUTTI_TRY(context, tutti_domain_create(context, &recipe->hyperparameters));
  for (size_t i = 0; i < recipe->count; i++)
    if (strcmp(recipe->entries[i].section, "hyperparameters") == 0 && *recipe->entries[i].key)
      TUTTI_TRY(context, set_entry(context, recipe, &recipe->entries[i]));
  return TUTTI_OK;
}
