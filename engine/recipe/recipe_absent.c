/* recipe_absent.c - a run that is looked at may have a backend that this machine does not have. Another stands in for
   it, with the parameters that the recipe names, as texts: nothing can be trained or predicted, but all that is
   recorded can be read. */
#include <string.h>

#include "engine/plugins/assembly_impl.h"
#include "recipe_impl.h"

struct recipe_absent {
  struct tutti_descriptor descriptor;
  struct tutti_param *params;
  char *why;
};

static bool is_parameter(const struct recipe_entry *entry) {
  return *entry->key && strcmp(entry->key, "plugin") != 0 &&
         (strcmp(entry->section, "backend") == 0 || strcmp(entry->section, "hyperparameters") == 0);
}

static void add_parameter(const char *name, struct recipe_absent *absent) {
  struct tutti_params *params = &absent->descriptor.params;
  for (size_t i = 0; i < params->count; i++)
    if (strcmp(absent->params[i].name, name) == 0)
      return;
  absent->params[params->count] = (struct tutti_param){.name = name,
                                                       .type = TUTTI_PARAM_STRING,
                                                       .offset = params->count * sizeof(char *),
                                                       .preset = "",
                                                       .doc = "",
                                                       .flags = TUTTI_PARAM_SEARCHABLE};
  params->config_size = ++params->count * sizeof(char *);
}

enum tutti_status tutti_recipe_put_absent(tutti_context *context, tutti_recipe *recipe, const char *name,
                                          enum tutti_status status) {
  static const size_t no_ops = sizeof no_ops;
  struct recipe_absent *absent;
  (void)tutti_recipe_say_untrusted(context, recipe, status);
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *absent, &absent));
  recipe->absent = absent; /* from here on the recipe frees it */
  TUTTI_TRY(context, tutti_strdup(context, tutti_error_message(context), &absent->why));
  tutti_error_clear(context);
  TUTTI_TRY(context, tutti_alloc(context, recipe->count, sizeof *absent->params, &absent->params));
  absent->descriptor = (struct tutti_descriptor){TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_BACKEND, name),
                                                 .version = "",
                                                 .summary = "not available here",
                                                 .source = "",
                                                 .licence = "",
                                                 .params = {absent->params, 0, sizeof *absent->params, 0},
                                                 .ops = &no_ops};
  for (size_t i = 0; i < recipe->count; i++)
    if (is_parameter(&recipe->entries[i]))
      add_parameter(recipe->entries[i].key, absent);
  return tutti_host_put_descriptor(context, recipe->host, "backend", &absent->descriptor);
}

const char *tutti_recipe_absent(const tutti_recipe *recipe) { return recipe->absent ? recipe->absent->why : NULL; }

const struct tutti_descriptor *tutti_recipe_stand_in(const tutti_recipe *recipe) {
  return recipe->absent ? &recipe->absent->descriptor : NULL;
}

void tutti_recipe_release_absent(tutti_recipe *recipe) {
  if (!recipe->absent)
    return;
  tutti_free(recipe->absent->params);
  tutti_free(recipe->absent->why);
  tutti_free(recipe->absent);
}
