/* recipe_print.c - the effective recipe as text, and whether two recipes are of one run. */
#include "recipe_impl.h"
#include "text_impl.h"

#include <stdlib.h>
#include <string.h>

static enum tutti_status add_config(tutti_context *context, struct tutti_text *text, const tutti_config *config) {
  const struct tutti_params *params = tutti_config_params(config);
  for (size_t i = 0; i < params->count; i++) {
    const struct tutti_param *param = tutti_params_at(params, i);
    char *value;
    TUTTI_TRY(context, tutti_config_get(context, config, param->name, &value));
    tutti_text_add(text, "%s = %s\n", param->name, value);
    tutti_free(value);
  }
  return TUTTI_OK;
}

static bool is_searched(const tutti_recipe *recipe, const char *section, const char *key) {
  return strcmp(section, "backend") == 0 && tutti_domain_find(recipe->hyperparameters, key) != SIZE_MAX;
}

static enum tutti_status add_plugin(tutti_context *context, struct tutti_text *text, const tutti_recipe *recipe,
                                    const char *section, const struct tutti_descriptor *descriptor,
                                    const tutti_config *config) {
  tutti_text_add(text, "\n[%s]\n; %s\nplugin = %s\n", section, descriptor->summary, descriptor->name);
  for (size_t i = 0; i < descriptor->params.count; i++) {
    const struct tutti_param *param = tutti_params_at(&descriptor->params, i);
    char *value;
    if (is_searched(recipe, section, param->name))
      continue;
    TUTTI_TRY(context, tutti_config_get(context, config, param->name, &value));
    tutti_text_add(text, "%s = %s\n", param->name, value);
    tutti_free(value);
  }
  return TUTTI_OK;
}

static void add_range(struct tutti_text *text, const struct tutti_dimension *dimension) {
  static const char *const words[] = {
      [TUTTI_DIMENSION_REAL] = "uniform", [TUTTI_DIMENSION_INTEGER] = "integer", [TUTTI_DIMENSION_CATEGORICAL] = "choice"};
  tutti_text_add(text, "%s = %s%s", dimension->name, dimension->log ? "log-" : "", words[dimension->type]);
  if (dimension->type == TUTTI_DIMENSION_CATEGORICAL) {
    for (size_t i = 0; i < dimension->choice_count; i++)
      tutti_text_add(text, " %s", dimension->choices[i]);
  } else {
    tutti_text_add(text, " ");
    tutti_text_add_number(text, dimension->low);
    tutti_text_add(text, " ");
    tutti_text_add_number(text, dimension->high);
  }
}

static void add_hyperparameter(struct tutti_text *text, const tutti_domain *domain, size_t index) {
  const struct tutti_dimension *dimension = tutti_domain_at(domain, index);
  add_range(text, dimension);
  if (dimension->parent) {
    const struct tutti_dimension *parent = tutti_domain_at(domain, tutti_domain_find(domain, dimension->parent));
    tutti_text_add(text, " if %s =", dimension->parent);
    for (size_t i = 0; i < dimension->parent_value_count; i++) {
      double value = dimension->parent_values[i];
      tutti_text_add(text, " ");
      if (parent->type == TUTTI_DIMENSION_CATEGORICAL)
        tutti_text_add(text, "%s", parent->choices[(size_t)value]);
      else
        tutti_text_add_number(text, value);
    }
  }
  tutti_text_add(text, "\n");
}

static enum tutti_status add_all(tutti_context *context, struct tutti_text *text, const tutti_recipe *recipe) {
  tutti_text_add(text, "; the effective recipe: every key with its value\n\n[run]\n");
  TUTTI_TRY(context, add_config(context, text, recipe->run));
  if (recipe->data) {
    tutti_text_add(text, "\n[data]\n");
    TUTTI_TRY(context, add_config(context, text, recipe->data));
    tutti_text_add(text, "\n[head]\n");
    TUTTI_TRY(context, add_config(context, text, recipe->head));
  }
  for (size_t i = 0; i < tutti_host_sections(recipe->host); i++) {
    const struct tutti_descriptor *descriptor;
    const tutti_config *config;
    const char *section = tutti_host_section(recipe->host, i, &descriptor, &config);
    TUTTI_TRY(context, add_plugin(context, text, recipe, section, descriptor, config));
  }
  if (tutti_domain_count(recipe->hyperparameters))
    tutti_text_add(text, "\n[hyperparameters]\n");
  for (size_t i = 0; i < tutti_domain_count(recipe->hyperparameters); i++)
    add_hyperparameter(text, recipe->hyperparameters, i);
  return TUTTI_OK;
}

enum tutti_status tutti_recipe_print(tutti_context *context, const tutti_recipe *recipe, char **out) {
  struct tutti_text text = tutti_text_begin(context);
  *out = NULL;
  enum tutti_status status = add_all(context, &text, recipe);
  if (status != TUTTI_OK) {
    tutti_text_discard(&text);
    return status;
  }
  return tutti_text_take(&text, out);
}

/* --- the same run? --- */

/* Keys that change where and how fast a run is made, and not what comes of it. */
static bool may_differ(const char *section, const char *line) {
  static const char *const keys[] = {"name = ", "workers = ", "trial_timeout = ", "memory_limit = ", "plugin_path = "};
  if (strcmp(section, "executor") == 0)
    return true;
  for (size_t i = 0; i < sizeof keys / sizeof keys[0] && strcmp(section, "run") == 0; i++)
    if (strncmp(line, keys[i], strlen(keys[i])) == 0)
      return true;
  return false;
}

/* The next line that counts, or NULL; keeps track of the section. */
static char *next_line(char **cursor, char section[64]) {
  char *line;
  while ((line = strsep(cursor, "\n"))) {
    char *end = strchr(line, ']');
    if (*line == '[' && end && end - line < 64) {
      memcpy(section, line + 1, (size_t)(end - line - 1));
      section[end - line - 1] = '\0';
    }
    if (*line && *line != ';' && !may_differ(section, line) && strcmp(line, "[executor]") != 0)
      return line;
  }
  return NULL;
}

static enum tutti_status compare(tutti_context *context, char *a, char *b) {
  char section_a[64] = "", section_b[64] = "", *line_a, *line_b;
  do {
    line_a = next_line(&a, section_a);
    line_b = next_line(&b, section_b);
    if ((!line_a != !line_b) || (line_a && strcmp(line_a, line_b) != 0))
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                        "there [%s] has '%s', and this recipe has '%s' in [%s]; use the same recipe, or choose another "
                        "directory with --out",
                        section_a, line_a ? line_a : "(nothing more)", line_b ? line_b : "(nothing more)", section_b);
  } while (line_a);
  return TUTTI_OK;
}

enum tutti_status tutti_recipe_same_run(tutti_context *context, const tutti_recipe *a, const tutti_recipe *b) {
  enum tutti_status status = TUTTI_OK;
  char *text_a = NULL, *text_b = NULL;
  TUTTI_TRY_OUT(context, tutti_recipe_print(context, a, &text_a));
  TUTTI_TRY_OUT(context, tutti_recipe_print(context, b, &text_b));
  status = compare(context, text_a, text_b);
out:
  tutti_free(text_a);
  tutti_free(text_b);
  return status;
}
