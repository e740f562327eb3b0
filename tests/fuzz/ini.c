/* ini.c - fuzz target: recipes. What is loaded is printed, loaded again as the recipe of a run, and is the same. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

const char fuzz_name[] = "ini";

static void load_again(tutti_context *context, const tutti_recipe *recipe) {
  char *first = NULL, *second = NULL;
  tutti_recipe *again = NULL;
  FUZZ_REQUIRE(tutti_recipe_print(context, recipe, &first) == TUTTI_OK);
  const char *path = fuzz_file("again.ini", (const uint8_t *)first, strlen(first));
  FUZZ_REQUIRE(tutti_recipe_load_recorded(context, path, 0, NULL, &again) == TUTTI_OK);
  FUZZ_REQUIRE(tutti_recipe_print(context, again, &second) == TUTTI_OK);
  FUZZ_REQUIRE(strcmp(first, second) == 0);
  FUZZ_REQUIRE(tutti_recipe_same_run(context, recipe, again) == TUTTI_OK);
  tutti_recipe_destroy(again);
  tutti_free(first);
  tutti_free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tutti_context *context = fuzz_context();
  tutti_recipe *recipe = NULL;
  const char *path = fuzz_file("recipe.ini", data, size);
  if (tutti_recipe_load_recorded(context, path, 0, NULL, &recipe) == TUTTI_OK)
    load_again(context, recipe);
  else
    fuzz_refused(recipe);
  tutti_recipe_destroy(recipe);
  /* A user's recipe may name folders of plugins, and other recipes: not those of this machine. */
  char *text = fuzz_text(data, size);
  if (!strstr(text, "plugin_path") && !strstr(text, "..") && !strchr(text, '/') &&
      tutti_recipe_load(context, path, 0, NULL, &recipe) == TUTTI_OK)
    tutti_recipe_destroy(recipe);
  free(text);
  return 0;
}
