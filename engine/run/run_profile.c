/* run_profile.c - what the data of a recipe hold, whether or not the recipe can be run. */
#include "engine/data/profile_impl.h"
#include "experiment_impl.h"
#include "engine/recipe/recipe_impl.h"

#include <tutti/run.h>

enum tutti_status tutti_run_profile(tutti_context *context, const tutti_recipe *recipe, char **json) {
  enum tutti_status status = TUTTI_OK;
  tutti_host *host = NULL;
  tutti_source *source = NULL;
  *json = NULL;
  if (!tutti_recipe_data(recipe))
    return TUTTI_OK;
  TUTTI_TRY_OUT(context, tutti_experiment_check_files(context, recipe));
  TUTTI_TRY_OUT(context, tutti_recipe_assemble(context, recipe, &host));
  struct tutti_source_setup setup = {.size = sizeof setup, .host = host};
  TUTTI_TRY_OUT(context, tutti_source_create(context, host, "data", &setup, &source));
  status = tutti_profile_print(context, tutti_recipe_data(recipe), source, tutti_recipe_folder(recipe),
                               (uint64_t)tutti_recipe_run(recipe)->seed, json);
  if (status != TUTTI_OK)
    status = tutti_recipe_place(context, recipe, status);
out:
  tutti_source_destroy(source);
  tutti_host_destroy(host);
  return status;
}
