/* recipe_trust.c - do the folders of plugins that a recipe names count? Loading a plugin runs its code
   (docs/trust.md). */
#include <tutti/registry.h>

#include "recipe_impl.h"

bool tutti_recipe_path_counts(const tutti_context *context, const tutti_recipe *recipe) {
  const struct recipe_entry *entry = tutti_recipe_find(recipe, "run", "plugin_path");
  return !recipe->recorded || !entry || entry->file->command_line || tutti_trusts_runs(context);
}

enum tutti_status tutti_recipe_say_untrusted(tutti_context *context, const tutti_recipe *recipe,
                                             enum tutti_status status) {
  const struct recipe_entry *entry = tutti_recipe_find(recipe, "run", "plugin_path");
  if (!entry || !*entry->value || tutti_recipe_path_counts(context, recipe))
    return status;
  return TUTTI_FAIL(
      context, status,
      "%s; no plugins were loaded from the run's plugin_path (%s): a run that is only looked at cannot "
      "name code to run. Add --trust if you trust whoever made it, or put the folder in TUTTI_PLUGIN_PATH",
      tutti_error_message(context), entry->value);
}
