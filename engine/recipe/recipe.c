/* recipe.c - recipes: loaded, and split into the parts that others use. */
#include <string.h>
#include <tutti/recipe.h>

#include "engine/plugins/assembly_impl.h"
#include "recipe_impl.h"

static enum tutti_status load(tutti_context *context, const char *path, size_t count, const char *const *overrides,
                              bool recorded, tutti_recipe **out) {
  enum tutti_status status = TUTTI_OK;
  tutti_recipe *recipe = NULL;
  *out = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *recipe, &recipe));
  recipe->recorded = recorded;
  TUTTI_TRY_OUT(context, tutti_recipe_read(context, recipe, path, count, overrides));
  TUTTI_TRY_OUT(context, tutti_recipe_check(context, recipe));
  *out = recipe;
  recipe = NULL;
out:
  if (status == TUTTI_ERROR_USAGE && recipe)
    status = tutti_recipe_say_untrusted(context, recipe, status);
  tutti_recipe_destroy(recipe);
  return status;
}

enum tutti_status tutti_recipe_load(tutti_context *context, const char *path, size_t count,
                                    const char *const *overrides, tutti_recipe **recipe) {
  return load(context, path, count, overrides, false, recipe);
}

enum tutti_status tutti_recipe_load_recorded(tutti_context *context, const char *path, size_t count,
                                             const char *const *overrides, tutti_recipe **recipe) {
  return load(context, path, count, overrides, true, recipe);
}

void tutti_recipe_destroy(tutti_recipe *recipe) {
  if (!recipe)
    return;
  tutti_recipe_release_entries(recipe);
  tutti_host_destroy(recipe->host);
  tutti_recipe_release_absent(recipe);
  tutti_domain_destroy(recipe->hyperparameters);
  tutti_config_destroy(recipe->run);
  tutti_config_destroy(recipe->data);
  tutti_config_destroy(recipe->head);
  tutti_config_destroy(recipe->evaluation);
  tutti_config_destroy(recipe->fit);
  tutti_free(recipe->folder);
  tutti_free(recipe);
}

/* Put the plugin of a section into another host, with the value of each parameter. */
static enum tutti_status copy_section(tutti_context *context, const tutti_recipe *recipe, const char *section,
                                      const struct tutti_descriptor *descriptor, const tutti_config *config,
                                      tutti_host *host) {
  TUTTI_TRY(context, descriptor == tutti_recipe_stand_in(recipe)
                         ? tutti_host_put_descriptor(context, host, section, descriptor)
                         : tutti_host_put(context, host, section, descriptor->kind, descriptor->name));
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
  enum tutti_status status = TUTTI_OK;
  struct tutti_host_facts facts = {.size = sizeof facts};
  tutti_host *host = NULL;
  *out = NULL;
  TUTTI_TRY_OUT(context, tutti_host_create(context, &facts, &host));
  for (size_t i = 0; i < tutti_host_sections(recipe->host); i++) {
    const struct tutti_descriptor *descriptor;
    const tutti_config *config;
    const char *section = tutti_host_section(recipe->host, i, &descriptor, &config);
    TUTTI_TRY_OUT(context, copy_section(context, recipe, section, descriptor, config, host));
  }
  *out = host;
  host = NULL;
out:
  tutti_host_destroy(host);
  return status;
}
